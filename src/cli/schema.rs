//! `hookrun schema NAME`: JSON Schema (draft 2020-12) of configuration files and of JSON output.

use std::io::Write;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::explain::ExplainReport;
use super::list::ListReport;
use crate::cli::exit::{ExitStatus, Result};
use crate::config::TOP_KEYS;
use crate::config::reader::specs;
use crate::config::value::{KeySpec, KeyValue};
use crate::engine::complaint::Complaint;
use crate::lab::replay::ReplayedLine;
use crate::lab::report::problems::FilesReport;
use crate::lab::report::style::BOLD;
use crate::lab::report::suite::SuiteReport;
use crate::lab::scenario::keys::TOP_KEYS as SUITE_KEYS;
use crate::log::DecisionLine;
use crate::log::report::RunReport;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

const PLACEHOLDER: &str = r"\{[a-z][a-z0-9_]*\}";

#[derive(Debug)]
pub struct NamedSchema {
    pub name: &'static str,
    pub(crate) about: &'static str,
    keywords: fn() -> Map<String, Value>,
}

#[rustfmt::skip]
pub const NAMED: &[NamedSchema] = &[
    NamedSchema { name: "hookrun.toml", about: "hooks, rules, events and sets", keywords: || table(&specs(TOP_KEYS), false) },
    NamedSchema { name: "hookrun-suite", about: "a test case file", keywords: || table(&specs(SUITE_KEYS), true) },
    NamedSchema { name: "decision-report", about: "the output of hookrun test EVENT --format json", keywords: report::<RunReport> },
    NamedSchema { name: "why-report", about: "a line of hookrun why --format json, and each line of the decision log", keywords: report::<DecisionLine<'_>> },
    NamedSchema { name: "replay-report", about: "a line of hookrun replay", keywords: report::<ReplayedLine> },
    NamedSchema { name: "suite-report", about: "the output of hookrun test --format json", keywords: report::<SuiteReport> },
    NamedSchema { name: "list-report", about: "the output of hookrun list --format json", keywords: report::<ListReport> },
    NamedSchema { name: "explain-report", about: "the output of hookrun explain --format json", keywords: report::<ExplainReport> },
    NamedSchema { name: "validate-report", about: "the output of hookrun validate --format json, and of hookrun doctor", keywords: report::<FilesReport> },
];

impl NamedSchema {
    pub fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("$schema".to_string(), DRAFT.into());
        schema.insert("$id".to_string(), format!("hookrun:{}", self.name).into());
        schema.extend((self.keywords)());
        schema.insert("title".to_string(), self.name.into());
        schema.insert("description".to_string(), self.about.into());
        Value::Object(schema)
    }
}

pub(crate) fn schema(name: Option<&str>, out: &mut dyn Write) -> Result {
    let Some(name) = name else {
        for named in NAMED {
            writeln!(out, "{BOLD}{:<18}{BOLD:#}  {}", named.name, named.about)?;
        }
        return Ok(ExitStatus::Yes);
    };
    let Some(named) = NAMED.iter().find(|named| named.name == name) else {
        let cause = format!("no schema `{name}`");
        let cure = "`hookrun schema` lists them; `hookrun events NAME` shows the keys of an event";
        return Err(Complaint::with_cure(cause, cure));
    };
    writeln!(out, "{:#}", named.schema())?;
    Ok(ExitStatus::Yes)
}

fn report<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    schema.as_object().cloned().unwrap_or_default()
}

/// Without `keys` any key is valid.
fn table(keys: &[KeySpec], has_rows: bool) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_string(), "object".into());
    if keys.is_empty() {
        return schema;
    }
    let mut properties = Map::new();
    for key in keys {
        let mut property = value(key.takes, has_rows);
        property.insert("description".to_string(), key.about.into());
        if let Some(default) = literal(key.default) {
            property.insert("default".to_string(), default);
        }
        properties.insert(key.name.to_string(), Value::Object(property));
    }
    schema.insert("properties".to_string(), Value::Object(properties));
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

/// A default that is a JSON value, not a description.
fn literal(default: &str) -> Option<Value> {
    serde_json::from_str(default).ok()
}

fn value(takes: KeyValue, has_rows: bool) -> Map<String, Value> {
    let schema = match takes {
        KeyValue::Text | KeyValue::Pattern => {
            return Map::from_iter([("type".to_string(), "string".into())]);
        }
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
