//! The plugin for a host that runs no commands: a program that asks hookrun, in hookrun's own
//! words; and the scripts of a host with a file for each event. Pure text.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::command::Launch;
use crate::hosts::install::HostForm;
use crate::hosts::{Host, HostEvent};

/// How the file begins; any other file is not ours.
const MARKS: [&str; 2] = [
    "// Written by `hookrun install`",
    "#!/bin/sh\n# Written by `hookrun install`",
];

/// What a script says in place of a hookrun that has failed, before what can be blocked.
const FAILED: &str = r#"{"cancel":true,"errorMessage":"hookrun ended without a decision"}"#;

/// What every plugin has.
const ASK: &str = include_str!("plugin/ask.js");

#[derive(Debug, PartialEq)]
pub(crate) struct InstalledPlugin {
    pub(crate) launch: Launch,
    /// The host's events, and how long each may take.
    pub(crate) events: Vec<(String, Duration)>,
}

pub(crate) fn write(host: &Host, rows: &[&HostEvent], launch: &Launch) -> String {
    let template = match host.install.form {
        HostForm::Plugin(plugin) => format!("{ASK}{}", plugin.text),
        HostForm::Scripts(text) => text.to_string(),
        HostForm::Settings | HostForm::Nothing => return String::new(),
    };
    let mut events = Map::new();
    for row in rows {
        let wait = u64::try_from(row.timeout().as_millis()).unwrap_or(u64::MAX);
        events.insert(row.name.to_string(), json!([row.event, wait]));
    }
    let is_closed = rows.iter().any(|row| row.fails_closed());
    let line = launch.line(&format!("run --host {}", host.name), false);
    template
        .replace("@COMMAND@", &line)
        .replace("@FAILED@", if is_closed { FAILED } else { "{}" })
        .replace("\"@HOST@\"", &json!(host.name).to_string())
        .replace("\"@LAUNCH@\"", &json!(launch.words()).to_string())
        .replace("\"@EVENTS@\"", &Value::Object(events).to_string())
}

/// Reads a plugin of ours back; `None` for any other text.
pub(crate) fn read(text: &str) -> Option<InstalledPlugin> {
    if !MARKS.iter().any(|mark| text.starts_with(mark)) {
        return None;
    }
    let mut events = Vec::new();
    for (name, event) in value(text, "EVENTS")?.as_object()? {
        let wait = event.get(1).and_then(Value::as_u64)?;
        events.push((name.clone(), Duration::from_millis(wait)));
    }
    let words: Vec<String> = serde_json::from_value(value(text, "LAUNCH")?).ok()?;
    Some(InstalledPlugin {
        launch: Launch::of_words(&words)?,
        events,
    })
}

/// The value of a constant: in a script it is a comment.
fn value(text: &str, name: &str) -> Option<Value> {
    let script = format!("# {name} = ");
    let plugin = format!("const {name} = ");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&script).or(line.strip_prefix(&plugin)))?;
    serde_json::from_str(line.trim_end_matches(';')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::find_installable;

    #[test]
    fn a_plugin_says_what_was_written_into_it() {
        for launch in [
            Launch::Path("/opt/a \"b\"/hookrun".to_string()),
            Launch::Search,
        ] {
            let host = find_installable("omp").unwrap();
            let rows = host.rows();
            let plugin = read(&write(host, &rows, &launch)).unwrap();
            assert_eq!(plugin.launch, launch);
            let wanted: Vec<_> = rows
                .iter()
                .map(|row| (row.name.to_string(), row.timeout()))
                .collect();
            assert_eq!(plugin.events, wanted);
        }
        assert_eq!(read("export const Mine = 1;\n"), None);
    }
}
