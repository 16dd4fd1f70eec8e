//! JSON Schema of the files that people write, from the rows by which they are read.

use serde_json::{Map, Value, json};

use super::{DRAFT, NamedSchema};
use crate::config::reader::specs;
use crate::config::value::{KeySpec, KeyValue, KeysOf};
use crate::config::{HOOKSET_KEYS, TOP_KEYS};
use crate::lab::scenario::keys::TOP_KEYS as SUITE_KEYS;

/// A text that a row of a case replaces: `{name}`.
const PLACEHOLDER: &str = r"\{[a-z][a-z0-9_]*\}";

/// A file with a schema.
#[derive(Debug)]
pub(super) struct DocumentRow {
    name: &'static str,
    about: &'static str,
    keys: KeysOf,
    /// Values may be placeholders.
    has_rows: bool,
}

#[rustfmt::skip]
pub(super) const DOCUMENTS: &[DocumentRow] = &[
    DocumentRow { name: "hookrun.toml", about: "hooks, rules, events and sets", keys: || specs(TOP_KEYS), has_rows: false },
    DocumentRow { name: "hookrun-suite", about: "a file of cases", keys: || specs(SUITE_KEYS), has_rows: true },
    DocumentRow { name: "hookset.toml", about: "what a shared set says about itself", keys: || specs(HOOKSET_KEYS), has_rows: false },
];

impl NamedSchema for DocumentRow {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> String {
        self.about.to_string()
    }

    fn schema(&self) -> Value {
        let head = [
            ("$schema", json!(DRAFT)),
            ("$id", json!(format!("hookrun:{}", self.name))),
            ("title", json!(self.name)),
        ];
        let mut schema = Map::from_iter(head.map(|(key, value)| (key.to_string(), value)));
        schema.extend(table(&(self.keys)(), self.has_rows));
        Value::Object(schema)
    }
}

/// Without keys, its user chooses them.
fn table(keys: &[KeySpec], has_rows: bool) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_string(), "object".into());
    if keys.is_empty() {
        return schema;
    }
    let property = |key: &KeySpec| {
        let mut property = value(key.takes, has_rows);
        property.insert("description".to_string(), key.about.into());
        if let Some(default) = literal(key.default) {
            property.insert("default".to_string(), default);
        }
        (key.name.to_string(), Value::Object(property))
    };
    schema.insert(
        "properties".to_string(),
        Value::Object(keys.iter().map(property).collect()),
    );
    let required = keys
        .iter()
        .filter(|key| key.default == "required")
        .map(|key| key.name);
    let required: Vec<&str> = required.collect();
    if !required.is_empty() {
        schema.insert("required".to_string(), json!(required));
    }
    schema.insert("additionalProperties".to_string(), false.into());
    schema
}

/// A default that is a value, and not words about one.
fn literal(default: &str) -> Option<Value> {
    serde_json::from_str(default).ok()
}

fn value(takes: KeyValue, has_rows: bool) -> Map<String, Value> {
    let schema = match takes {
        KeyValue::Text | KeyValue::Pattern => return typed("string"),
        KeyValue::Duration => json!({ "type": "string", "examples": ["500ms", "10s", "1m 30s"] }),
        KeyValue::Size => json!({ "type": "string", "examples": ["64K", "512M", "2G"] }),
        KeyValue::Flag => json!({ "type": "boolean" }),
        KeyValue::Number => json!({ "type": "integer" }),
        KeyValue::OneOf(words) => json!({ "enum": words() }),
        KeyValue::Json => json!({ "type": ["object", "string"] }),
        KeyValue::Texts => {
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
        }
        KeyValue::Table(keys) => Value::Object(table(&keys(), has_rows)),
        KeyValue::Tables(keys) => json!({ "type": "array", "items": table(&keys(), has_rows) }),
        KeyValue::Map(each) => {
            json!({ "type": "object", "additionalProperties": value(*each, has_rows) })
        }
        KeyValue::Either(all) => {
            let all: Vec<Value> = all.iter().map(|one| value(*one, has_rows).into()).collect();
            json!({ "anyOf": all })
        }
    };
    let is_filled = has_rows
        && matches!(
            takes,
            KeyValue::Flag | KeyValue::Number | KeyValue::OneOf(_)
        );
    let placeholder = json!({ "type": "string", "pattern": PLACEHOLDER });
    let schema = if is_filled {
        json!({ "anyOf": [schema, placeholder] })
    } else {
        schema
    };
    if let Value::Object(schema) = schema {
        schema
    } else {
        Map::new()
    }
}

fn typed(kind: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_string(), kind.into())])
}
