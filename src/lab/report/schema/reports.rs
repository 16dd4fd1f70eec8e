//! JSON Schema of what commands print for programs.

use serde_json::{Map, Value, json};

use super::keys::{
    COMPARED, EVENT, EXPLAIN, FILES, HOOK, HOST, LINE, PROGRAM, REPLAY, RUN, ReportKey, SET,
    SHIPPED, STATS, SUITE, VERSION,
};
use super::{DRAFT, NamedSchema};

/// What a command prints with `--format json`.
#[derive(Debug)]
pub(super) struct ReportRow {
    name: &'static str,
    command: &'static str,
    /// Each line is a document, and has this schema.
    has_lines: bool,
    parts: &'static [ReportPart],
}

/// Keys that several reports share, and where they are.
#[derive(Debug)]
struct ReportPart {
    below: &'static str,
    keys: &'static [ReportKey],
}

const fn part(below: &'static str, keys: &'static [ReportKey]) -> ReportPart {
    ReportPart { below, keys }
}

const fn row(name: &'static str, command: &'static str, parts: &'static [ReportPart]) -> ReportRow {
    ReportRow {
        name,
        command,
        has_lines: false,
        parts,
    }
}

const fn lines(
    name: &'static str,
    command: &'static str,
    parts: &'static [ReportPart],
) -> ReportRow {
    ReportRow {
        name,
        command,
        has_lines: true,
        parts,
    }
}

#[rustfmt::skip]
pub(super) const REPORTS: &[ReportRow] = &[
    row("decision-report", "hookrun test EVENT --format json", &[part("", RUN)]),
    lines("why-report", "hookrun why --format json, and each line of the decision log", &[part("", LINE), part("run.", RUN)]),
    row("stats-report", "hookrun why --stats --format json", &[part("", STATS)]),
    lines("replay-report", "hookrun replay --format json", &[part("", REPLAY), part("was?.", COMPARED), part("is?.", COMPARED)]),
    row("suite-report", "hookrun test --format json", &[part("", SUITE), part("cases[].steps[].", RUN)]),
    row("list-report", "hookrun list --format json", &[part("", VERSION), part("hooks[].", HOOK)]),
    row("show-report", "hookrun show HOOK --format json", &[part("", VERSION), part("hooks[].", HOOK), part("hooks[].", PROGRAM)]),
    row("explain-report", "hookrun explain --format json", &[part("", VERSION), part("", EXPLAIN)]),
    row("validate-report", "hookrun validate --format json, and of hookrun doctor", &[part("", VERSION), part("", FILES)]),
    row("events-report", "hookrun events --format json", &[part("", VERSION), part("events[].", EVENT)]),
    row("event-report", "hookrun events EVENT --format json", &[part("", EVENT)]),
    row("host-report", "hookrun events --host HOST --format json", &[part("", VERSION), part("", HOST)]),
    row("add-report", "hookrun add --list --format json", &[part("", VERSION), part("shipped[].", SHIPPED)]),
    row("sets-report", "hookrun sets list --format json", &[part("", VERSION), part("sets[].", SET)]),
];

impl NamedSchema for ReportRow {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> String {
        let what = if self.has_lines {
            "a line of"
        } else {
            "the output of"
        };
        format!("{what} {}", self.command)
    }

    fn schema(&self) -> Value {
        let mut schema = json!({
            "$schema": DRAFT,
            "$id": format!("hookrun:{}", self.name),
            "title": self.name,
            "description": self.about(),
        });
        for ReportPart { below, keys } in self.parts {
            for key in *keys {
                let path = format!("{below}{}", key.path);
                let place = path.split('.').fold(&mut schema, property);
                place["description"] = key.about.into();
                add_type(place, key.kind);
            }
        }
        schema
    }
}

/// The schema of one part of a path, made where it is not there yet.
fn property<'s>(table: &'s mut Value, part: &str) -> &'s mut Value {
    let (part, is_list) = part
        .strip_suffix("[]")
        .map_or((part, false), |part| (part, true));
    let (name, is_optional) = part
        .strip_suffix('?')
        .map_or((part, false), |name| (name, true));
    table["type"] = "object".into();
    let place = if name == "*" {
        &mut table["additionalProperties"]
    } else {
        let required = table.as_object_mut().map(|table| table.entry("required"));
        let required = required.map(|entry| entry.or_insert_with(|| json!([])));
        if let Some(Value::Array(names)) = required
            && !is_optional
            && !names.iter().any(|known| known == name)
        {
            names.push(name.into());
        }
        &mut table["properties"][name]
    };
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    if is_list {
        place["type"] = "array".into();
        &mut place["items"]
    } else {
        place
    }
}

fn add_type(place: &mut Value, kind: &str) {
    let (kind, may_be_null) = kind
        .strip_suffix('?')
        .map_or((kind, false), |kind| (kind, true));
    if kind.contains('|') {
        place["enum"] = kind.split('|').collect();
    } else if may_be_null {
        place["type"] = json!([kind, "null"]);
    } else if kind != "any" {
        place["type"] = kind.into();
    }
}
