//! The plugin for a host that runs no commands: a program that runs hookrun, in hookrun's own
//! words. Pure text.

use serde_json::Value;

use super::row::HostEventRow;

/// How the file begins; any other file is not ours.
const MARK: &str = "// Written by `hookrun install`";

#[derive(Debug, PartialEq)]
pub(crate) struct Plugin {
    pub(crate) program: String,
    pub(crate) events: Vec<String>,
}

pub(crate) fn write(rows: &[HostEventRow], program: &str) -> String {
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    include_str!("plugin.js")
        .replace("\"@PROGRAM@\"", &Value::from(program).to_string())
        .replace("\"@EVENTS@\"", &Value::from(names).to_string())
}

/// Reads a plugin of ours back; `None` for any other text.
pub(crate) fn read(text: &str) -> Option<Plugin> {
    if !text.starts_with(MARK) {
        return None;
    }
    let value = |name: &str| -> Option<Value> {
        let start = format!("const {name} = ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start))?;
        serde_json::from_str(line.trim_end_matches(';')).ok()
    };
    let events = value("EVENTS")?;
    let name = |event: &Value| event.as_str().map(str::to_string);
    Some(Plugin {
        program: value("PROGRAM")?.as_str()?.to_string(),
        events: events.as_array()?.iter().filter_map(name).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::host::install::hosts;

    #[test]
    fn a_plugin_says_what_was_written_into_it() {
        let rows = hosts::find("opencode").unwrap().rows();
        let plugin = read(&write(&rows, "/opt/a \"b\"/hookrun")).unwrap();
        assert_eq!(plugin.program, "/opt/a \"b\"/hookrun");
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(plugin.events, names);
        assert_eq!(read("export const Mine = 1;\n"), None);
    }
}
