//! The plugin for a host that runs no commands: a program that asks hookrun, in hookrun's own
//! words; and the scripts of a host with a file for each event. Pure text.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::program;
use crate::hosts::capability::ServedEvent;

use crate::hosts::Host;
use crate::hosts::install::HostForm;

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
    pub(crate) program: String,
    /// The host's events, and how long each may take.
    pub(crate) events: Vec<(String, Duration)>,
}

pub(crate) fn write(host: &Host, rows: &[ServedEvent], program: &str) -> String {
    let (ask, text) = match host.install.form {
        HostForm::Plugin(plugin) => (ASK, plugin.text),
        HostForm::Scripts(text) => ("", text),
        HostForm::Settings | HostForm::Nothing => return String::new(),
    };
    let event = |row: &ServedEvent| {
        let wait = u64::try_from(row.timeout().as_millis()).unwrap_or(u64::MAX);
        (row.name.to_string(), json!([row.event, wait]))
    };
    let events: Map<String, Value> = rows.iter().map(event).collect();
    let values = [
        ("@HOST@", host.name.into()),
        ("@PROGRAM@", program.into()),
        ("@EVENTS@", events.into()),
    ];
    let is_closed = rows.iter().any(|row| row.fails_closed);
    let joined = format!("{ask}{text}")
        .replace("@COMMAND@", &program::command_line(program, host))
        .replace("@FAILED@", if is_closed { FAILED } else { "{}" });
    values
        .into_iter()
        .fold(joined, |text, (name, value): (&str, Value)| {
            text.replace(&format!("\"{name}\""), &value.to_string())
        })
}

/// Reads a plugin of ours back; `None` for any other text.
pub(crate) fn read(text: &str) -> Option<InstalledPlugin> {
    if !MARKS.iter().any(|mark| text.starts_with(mark)) {
        return None;
    }
    let value = |name: &str| -> Option<Value> {
        let starts = ["const ", "# "].map(|start| format!("{start}{name} = "));
        let own = |line: &'_ str| {
            starts
                .iter()
                .find_map(|start| line.strip_prefix(start.as_str()).map(str::to_string))
        };
        let line = text.lines().find_map(own)?;
        serde_json::from_str(line.trim_end_matches(';')).ok()
    };
    let events = value("EVENTS")?;
    let event = |(name, told): (&String, &Value)| {
        let wait = told.get(1).and_then(Value::as_u64)?;
        Some((name.clone(), Duration::from_millis(wait)))
    };
    Some(InstalledPlugin {
        program: value("PROGRAM")?.as_str()?.to_string(),
        events: events.as_object()?.iter().filter_map(event).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::find_installable;

    #[test]
    fn a_plugin_says_what_was_written_into_it() {
        let host = find_installable("omp").unwrap();
        let rows = host.rows();
        let plugin = read(&write(host, &rows, "/opt/a \"b\"/hookrun")).unwrap();
        assert_eq!(plugin.program, "/opt/a \"b\"/hookrun");
        let wanted: Vec<_> = rows
            .iter()
            .map(|row| (row.name.to_string(), row.timeout()))
            .collect();
        assert_eq!(plugin.events, wanted);
        assert_eq!(read("export const Mine = 1;\n"), None);
    }
}
