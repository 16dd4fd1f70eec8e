//! `hookrun schema NAME`: JSON Schema (draft 2020-12) of events with their answers, of
//! configuration files, and of JSON output.

use std::io::Write;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::explain::ExplainReport;
use super::list::ListReport;
use crate::cli::args::SchemaArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::config::reader::specs;
use crate::config::value::{KeySpec, KeyValue};
use crate::config::{Config, ConfigScope, Environment, TOP_KEYS};
use crate::decide::find_event;
use crate::engine::event::{EventSpec, JsonType, Merge, action::TOOLS};
use crate::engine::hook::contract::RESULT_KEYS;
use crate::engine::outcome::FindingLevel;
use crate::lab::replay::ReplayedLine;
use crate::lab::report::problems::FilesReport;
use crate::lab::report::stats::StatsReport;
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
    keywords: fn() -> Value,
}

#[rustfmt::skip]
pub const NAMED: &[NamedSchema] = &[
    NamedSchema { name: "hookrun.toml", about: "hooks, rules, events and sets", keywords: || table(&specs(TOP_KEYS), false) },
    NamedSchema { name: "hookrun-suite", about: "a test case file", keywords: || table(&specs(SUITE_KEYS), true) },
    NamedSchema { name: "decision-report", about: "the output of hookrun test EVENT --format json", keywords: report::<RunReport> },
    NamedSchema { name: "why-report", about: "a line of hookrun why --format json, and each line of the decision log", keywords: report::<DecisionLine<'_>> },
    NamedSchema { name: "stats-report", about: "the output of hookrun why --stats --format json", keywords: report::<StatsReport> },
    NamedSchema { name: "replay-report", about: "a line of hookrun replay", keywords: report::<ReplayedLine> },
    NamedSchema { name: "suite-report", about: "the output of hookrun test --format json", keywords: report::<SuiteReport> },
    NamedSchema { name: "list-report", about: "the output of hookrun list --format json", keywords: report::<ListReport> },
    NamedSchema { name: "explain-report", about: "the output of hookrun explain --format json", keywords: report::<ExplainReport> },
    NamedSchema { name: "validate-report", about: "the output of hookrun validate or doctor --format json", keywords: report::<FilesReport> },
];

impl NamedSchema {
    pub fn schema(&self) -> Value {
        let mut schema = json!({ "$schema": DRAFT, "$id": format!("hookrun:{}", self.name) });
        for (keyword, value) in (self.keywords)().as_object().into_iter().flatten() {
            schema[keyword] = value.clone();
        }
        schema["title"] = self.name.into();
        schema["description"] = self.about.into();
        schema
    }
}

pub(crate) fn schema(args: &SchemaArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let Some(name) = &args.name else {
        for named in NAMED {
            writeln!(out, "{BOLD}{:<18}{BOLD:#}  {}", named.name, named.about)?;
        }
        let about = "the context and the result of an event";
        writeln!(out, "{BOLD}{:<18}{BOLD:#}  {about}", "EVENT")?;
        return Ok(ExitStatus::Yes);
    };
    let schema = match NAMED.iter().find(|named| named.name == *name) {
        Some(named) => named.schema(),
        None => {
            let choice = args.source.choice(env, "native");
            let config = Config::load(&choice, env, ConfigScope::Event(""));
            schema_of(find_event(&config, name)?.as_ref())
        }
    };
    writeln!(out, "{schema:#}")?;
    Ok(ExitStatus::Yes)
}

fn report<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// The schema of the context, with the result's under `$defs/result`.
fn schema_of(spec: &EventSpec) -> Value {
    let own = spec.required.iter().map(AsRef::as_ref);
    let required: Vec<&str> = std::iter::once("event").chain(own).collect();
    json!({
        "$schema": DRAFT,
        "$id": format!("hookrun:{}", spec.name),
        "title": spec.name,
        "description": format!("Runs when {}.", spec.summary),
        "type": "object",
        "properties": context_properties(spec),
        "required": required,
        "$defs": { "result": result(spec) },
    })
}

/// The keys of an event's context, each with its type and its meaning.
pub(crate) fn context_properties(spec: &EventSpec) -> Map<String, Value> {
    let mut properties = Map::new();
    properties.insert("event".to_string(), json!({ "const": spec.name }));
    for key in spec.context.iter() {
        let mut property = typed(key.kind);
        property["description"] = key.about.as_ref().into();
        properties.insert(key.name.to_string(), property);
    }
    if spec.has_action() {
        properties.insert("action".to_string(), action());
    }
    properties
}

fn action() -> Value {
    let kinds: Vec<&str> = TOOLS.iter().map(|class| class.kind.word()).collect();
    let target =
        json!({ "operator": { "type": "string" }, "target": { "type": ["string", "null"] } });
    let command = json!({
        "program": { "type": ["string", "null"], "description": "null if unknown before the command runs" },
        "args": {
            "type": "array", "items": { "type": ["string", "null"] },
            "description": "its arguments, without quotes",
        },
        "through": texts("the programs that start the command: sudo, env"),
        "assigns": { "type": "object", "description": "the variables set for the command" },
        "redirects": {
            "type": "array", "items": { "type": "object", "properties": target },
            "description": "its redirections: operator, target",
        },
        "unknown": texts("the keys with an unknown word"),
        "written": { "type": "string", "description": "its source, if a word is unknown" },
    });
    json!({
        "type": "object",
        "description": "the action, the same in every host",
        "properties": {
            "kind": { "type": "string", "enum": kinds, "description": "the kind of tool" },
            "command": { "type": "string", "description": "the command line" },
            "commands": {
                "type": "array", "items": { "type": "object", "properties": command },
                "description": "every command in the command line",
            },
            "uncertain": { "type": "string", "description": "why the command line may run other commands" },
            "paths": texts("the paths that the action names, writes or removes"),
            "resolved": texts("the same paths, absolute and with links resolved"),
        },
    })
}

fn texts(about: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": about })
}

#[derive(Debug)]
pub(super) struct ActionKey {
    /// The path from `action` on; `N` is the number of a command.
    pub(super) path: String,
    pub(super) kind: String,
    pub(super) about: String,
}

pub(super) fn action_keys() -> Vec<ActionKey> {
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
    for (name, kind, about) in RESULT_KEYS {
        let value = if *name == "update" {
            json!({
                "type": "object",
                "description": about,
                "properties": updates(spec),
                "additionalProperties": false,
            })
        } else if *name == "findings" {
            let levels: Vec<&str> = FindingLevel::NAMES.iter().map(|(_, word)| *word).collect();
            json!({
                "type": "array",
                "description": about,
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string" },
                        "line": { "type": "integer", "minimum": 1 },
                        "level": { "enum": levels },
                        "message": { "type": "string" },
                        "rule": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" },
                    },
                    "required": ["path", "message"],
                },
            })
        } else {
            json!({ "type": kind.name(), "description": about })
        };
        properties.insert((*name).to_string(), value);
    }
    json!({ "title": "result", "type": "object", "properties": properties })
}

fn updates(spec: &EventSpec) -> Map<String, Value> {
    let mut properties = Map::new();
    for rewrite in spec.rewrites.iter() {
        let key = spec.context.iter().find(|key| key.name == rewrite.field);
        // A single element may also be appended.
        let kind = key
            .filter(|_| rewrite.merge != Merge::Append)
            .map_or(JsonType::Any, |key| key.kind);
        properties.insert(rewrite.field.to_string(), typed(kind));
    }
    properties
}

fn typed(kind: JsonType) -> Value {
    if kind == JsonType::Any {
        return json!({});
    }
    json!({ "type": kind.name() })
}

/// Without `keys` any key is valid.
fn table(keys: &[KeySpec], has_rows: bool) -> Value {
    if keys.is_empty() {
        return json!({ "type": "object" });
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in keys {
        let mut property = value(key.takes, has_rows);
        property["description"] = key.about.into();
        // Other defaults are descriptions.
        if let Ok(default) = serde_json::from_str(key.default) {
            property["default"] = default;
        }
        if key.default == "required" {
            required.push(key.name);
        }
        properties.insert(key.name.to_string(), property);
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = false.into();
    schema
}

fn value(takes: KeyValue, has_rows: bool) -> Value {
    let schema = match takes {
        KeyValue::Text | KeyValue::Pattern => json!({ "type": "string" }),
        KeyValue::Duration => json!({ "type": "string", "examples": ["500ms", "10s", "1m 30s"] }),
        KeyValue::Size => json!({ "type": "string", "examples": ["64K", "512M", "2G"] }),
        KeyValue::Flag => json!({ "type": "boolean" }),
        KeyValue::Number => json!({ "type": "integer" }),
        KeyValue::OneOf(words) => json!({ "enum": words() }),
        KeyValue::Json => json!({ "type": ["object", "string"] }),
        KeyValue::Texts => {
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
        }
        KeyValue::Table(keys) => table(&keys(), has_rows),
        KeyValue::Tables(keys) => json!({ "type": "array", "items": table(&keys(), has_rows) }),
        KeyValue::Map(each) => {
            json!({ "type": "object", "additionalProperties": value(*each, has_rows) })
        }
        KeyValue::Either(all) => {
            let all: Vec<Value> = all.iter().map(|one| value(*one, has_rows)).collect();
            json!({ "anyOf": all })
        }
    };
    let takes_placeholder = matches!(
        takes,
        KeyValue::Flag | KeyValue::Number | KeyValue::OneOf(_)
    );
    if has_rows && takes_placeholder {
        let placeholder = json!({ "type": "string", "pattern": PLACEHOLDER });
        return json!({ "anyOf": [schema, placeholder] });
    }
    schema
}
