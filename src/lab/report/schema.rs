//! JSON Schema (draft 2020-12) of an event's context and of what its hooks may answer.

use serde_json::{Map, Value, json};

use crate::engine::answer::RESULT_KEYS;
use crate::engine::event::{ActionKind, EventSpec, JsonType, Merge, action::TOOLS};
use crate::engine::outcome::FindingLevel;

/// One document: the schema of the context, and under `$defs/result` the one of the result.
pub fn schema_of(spec: &EventSpec) -> Value {
    let own = spec.required.iter().map(AsRef::as_ref);
    let required: Vec<&str> = std::iter::once("event").chain(own).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
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
        let kinds: Vec<&str> = TOOLS.iter().map(|class| class.kind).map(ActionKind::word).collect();
        let action = json!({
            "type": "object",
            "description": "what is about to be done, the same in every host",
            "properties": {
                "kind": { "enum": kinds },
                "command": { "type": "string" },
                "paths": { "type": "array", "items": { "type": "string" } },
                "resolved": { "type": "array", "items": { "type": "string" } },
            },
        });
        properties.insert("action".to_string(), action);
    }
    properties
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
        let kind =
            key.filter(|_| rewrite.merge != Merge::Append).map_or(JsonType::Any, |key| key.kind);
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
