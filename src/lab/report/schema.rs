//! JSON Schema (draft 2020-12): of an event's context and of what its hooks may answer, of the files
//! that people write, and of what commands print for programs.

mod documents;
mod keys;
mod reports;

use serde_json::{Map, Value, json};

use crate::engine::answer::RESULT_KEYS;
use crate::engine::event::{ActionKind, EventSpec, JsonType, Merge, action::TOOLS};
use crate::engine::outcome::FindingLevel;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema that has a name.
pub trait NamedSchema {
    fn name(&self) -> &'static str;

    /// What it describes, for lists.
    fn about(&self) -> String;

    fn schema(&self) -> Value;
}

/// Every schema but those of events.
pub fn named() -> impl Iterator<Item = &'static dyn NamedSchema> {
    let documents = documents::DOCUMENTS
        .iter()
        .map(|row| row as &dyn NamedSchema);
    documents.chain(reports::REPORTS.iter().map(|row| row as &dyn NamedSchema))
}

/// One document: the schema of the context, and under `$defs/result` the one of the result.
pub fn schema_of(spec: &EventSpec) -> Value {
    let own = spec.required.iter().map(AsRef::as_ref);
    let required: Vec<&str> = std::iter::once("event").chain(own).collect();
    json!({
        "$schema": DRAFT,
        "$id": format!("hookrun:{}", spec.name),
        "title": spec.name,
        "description": format!("Runs when {}.", spec.summary),
        "type": "object",
        "properties": context(spec),
        "required": required,
        "$defs": { "result": result(spec) },
    })
}

fn context(spec: &EventSpec) -> Map<String, Value> {
    let mut properties = Map::new();
    properties.insert("event".to_string(), json!({ "const": spec.name }));
    for key in spec.context.iter() {
        let mut property = typed(key.kind);
        property.insert("description".to_string(), key.about.as_ref().into());
        properties.insert(key.name.to_string(), Value::Object(property));
    }
    if spec.has_action() {
        properties.insert("action".to_string(), action());
    }
    properties
}

fn action() -> Value {
    let kinds: Vec<&str> = TOOLS
        .iter()
        .map(|class| class.kind)
        .map(ActionKind::word)
        .collect();
    let texts = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "description": about });
    let target =
        json!({ "operator": { "type": "string" }, "target": { "type": ["string", "null"] } });
    let command = json!({
        "program": { "type": ["string", "null"], "description": "null where only a run can tell" },
        "args": {
            "type": "array", "items": { "type": ["string", "null"] },
            "description": "the words after it, without quotes",
        },
        "through": texts("the programs that run it: sudo, env"),
        "assigns": { "type": "object", "description": "the variables that are set for it" },
        "redirects": {
            "type": "array", "items": { "type": "object", "properties": target },
            "description": "its redirections: operator, target",
        },
        "unknown": texts("the keys with a word not known yet"),
    });
    json!({
        "type": "object",
        "description": "what is about to be done, the same in every host",
        "properties": {
            "kind": { "type": "string", "enum": kinds, "description": "the sort of tool" },
            "command": { "type": "string", "description": "the command line" },
            "commands": {
                "type": "array", "items": { "type": "object", "properties": command },
                "description": "every command that it runs",
            },
            "uncertain": { "type": "string", "description": "why it may run something else too" },
            "paths": texts("what it names, writes or removes"),
            "resolved": texts("the same, absolute and with links followed"),
        },
    })
}

/// A key of `action`.
#[derive(Debug)]
pub struct ActionKey {
    /// From `action` on; `N` is the number of a command.
    pub path: String,
    pub kind: String,
    pub about: String,
}

/// The keys of `action`, as its schema has them.
pub fn action_keys() -> Vec<ActionKey> {
    let mut found = Vec::new();
    add_keys("action", &action(), &mut found);
    found
}

fn add_keys(place: &str, schema: &Value, found: &mut Vec<ActionKey>) {
    for (name, key) in schema["properties"].as_object().into_iter().flatten() {
        let Some(about) = key["description"].as_str() else {
            continue;
        };
        let path = format!("{place}.{name}");
        let kind = key["type"]
            .as_str()
            .or_else(|| key["type"][0].as_str())
            .unwrap_or_default();
        let items = format!("{path}.N");
        found.push(ActionKey {
            path,
            kind: kind.to_string(),
            about: about.to_string(),
        });
        add_keys(&items, &key["items"], found);
    }
}

fn result(spec: &EventSpec) -> Value {
    let mut properties = Map::new();
    for key in RESULT_KEYS {
        let value = if key.name == "update" {
            json!({
                "type": "object",
                "description": key.about,
                "properties": updates(spec),
                "additionalProperties": false,
            })
        } else if key.name == "findings" {
            let levels: Vec<&str> = FindingLevel::NAMES.iter().map(|(_, word)| *word).collect();
            json!({
                "type": "array",
                "description": key.about,
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string" },
                        "line": { "type": "integer", "minimum": 1 },
                        "level": { "enum": levels },
                        "message": { "type": "string" },
                    },
                    "required": ["path", "message"],
                },
            })
        } else {
            json!({ "type": key.kind.name(), "description": key.about })
        };
        properties.insert(key.name.to_string(), value);
    }
    json!({ "title": "result", "type": "object", "properties": properties })
}

fn updates(spec: &EventSpec) -> Map<String, Value> {
    let mut properties = Map::new();
    for rewrite in spec.rewrites.iter() {
        let key = spec.context.iter().find(|key| key.name == rewrite.field);
        // One element may be appended as it is.
        let kind = key
            .filter(|_| rewrite.merge != Merge::Append)
            .map_or(JsonType::Any, |key| key.kind);
        properties.insert(rewrite.field.to_string(), Value::Object(typed(kind)));
    }
    properties
}

fn typed(kind: JsonType) -> Map<String, Value> {
    let mut property = Map::new();
    if kind != JsonType::Any {
        property.insert("type".to_string(), kind.name().into());
    }
    property
}
