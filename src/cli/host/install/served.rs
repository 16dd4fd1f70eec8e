//! How a host asks `hookrun serve`: by HTTP, or by a tool of an MCP server that the host starts. Pure.
//!
//! A hook that calls a tool names each field that the tool gets. Claude Code 2.1.330, measured: it
//! writes `${field}` as text, objects as JSON, and a field that the event does not have as nothing.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Map, Value, json};

use super::row::NAME;
use crate::cli::decide::door::FIELDS_TOOL;
use crate::engine::complaint::Complaint;

/// The variable that holds the token of `hookrun serve`, in the environment of the host.
pub(super) const TOKEN_VARIABLE: &str = "HOOKRUN_TOKEN";

/// What is started as the server.
const SERVE: [&str; 4] = ["serve", "--mcp", "--host", "claude"];

const SERVERS: &str = "mcpServers";

/// Which server a host asks before it starts the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerDoor {
    /// The one at this URL.
    Http(String),
    /// The one that the host starts with the session.
    Mcp,
}

/// The fields of an event besides the [`COMMON`] ones.
struct EventFields {
    event: &'static str,
    text: &'static [&'static str],
    json: &'static [&'static str],
}

/// The fields of every event, all of them text but `effort`.
const COMMON: &[&str] = &[
    "hook_event_name",
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
];

const AT_A_STOP: &[&str] = &[
    "effort",
    "stop_hook_active",
    "background_tasks",
    "session_crons",
];

/// The events of Claude Code whose fields were measured. It skips such hooks when a session starts,
/// and takes no decision of theirs about permissions; the rest are asked seldom.
const FIELDS: &[EventFields] = &[
    EventFields {
        event: "UserPromptSubmit",
        text: &["prompt"],
        json: &[],
    },
    EventFields {
        event: "UserPromptExpansion",
        text: &[
            "expansion_type",
            "command_name",
            "command_args",
            "command_source",
            "prompt",
        ],
        json: &[],
    },
    EventFields {
        event: "PreToolUse",
        text: &["tool_name", "tool_use_id"],
        json: &["effort", "tool_input", "mcp_server"],
    },
    EventFields {
        event: "PostToolUse",
        text: &["tool_name", "tool_use_id"],
        json: &[
            "effort",
            "tool_input",
            "tool_response",
            "mcp_server",
            "duration_ms",
        ],
    },
    EventFields {
        event: "PostToolUseFailure",
        text: &["tool_name", "tool_use_id", "error"],
        json: &[
            "effort",
            "tool_input",
            "mcp_server",
            "is_interrupt",
            "duration_ms",
        ],
    },
    EventFields {
        event: "Stop",
        text: &["last_assistant_message"],
        json: AT_A_STOP,
    },
    EventFields {
        event: "SubagentStop",
        text: &["agent_transcript_path", "last_assistant_message"],
        json: AT_A_STOP,
    },
    EventFields {
        event: "PreCompact",
        text: &["trigger", "custom_instructions"],
        json: &[],
    },
];

impl ServerDoor {
    /// What a hook for `event` says besides how long it may take; `None` where the host can only
    /// start a command.
    pub(super) fn keys(&self, event: &str) -> Option<Vec<(&'static str, Value)>> {
        match self {
            ServerDoor::Http(url) => Some(vec![
                ("type", "http".into()),
                ("url", url.as_str().into()),
                // The token comes from the host's environment: settings are read by others.
                (
                    "headers",
                    json!({ "Authorization": format!("Bearer ${TOKEN_VARIABLE}") }),
                ),
                ("allowedEnvVars", json!([TOKEN_VARIABLE])),
            ]),
            ServerDoor::Mcp => Some(vec![
                ("type", "mcp_tool".into()),
                ("server", NAME.into()),
                ("tool", FIELDS_TOOL.into()),
                (
                    "input",
                    input(FIELDS.iter().find(|row| row.event == event)?),
                ),
            ]),
        }
    }
}

fn input(row: &EventFields) -> Value {
    let filled = |names: &[&str]| -> Map<String, Value> {
        names
            .iter()
            .map(|name| ((*name).to_string(), format!("${{{name}}}").into()))
            .collect()
    };
    let text = filled(&[COMMON, row.text].concat());
    json!({ "text": text, "json": filled(row.json) })
}

/// Whether the keys of a hook call the tool of our server.
pub(crate) fn is_own_tool(keys: &Map<String, Value>) -> bool {
    keys.get("server").is_some_and(|server| server == NAME)
        && keys.get("tool").is_some_and(|tool| tool == FIELDS_TOOL)
}

/// A file of MCP servers with ours in it.
///
/// # Errors
/// When it is not such a file.
pub(super) fn with_server(text: &str, program: &str) -> Result<String, Complaint> {
    let root = read(text)?;
    if server_of(text).is_some_and(|known| known == server(program)) {
        return Ok(text.to_string());
    }
    let servers = root.object_value_or_set().object_value_or_set(SERVERS);
    let list = SERVE
        .iter()
        .map(|word| CstInputValue::String((*word).to_string()))
        .collect();
    let entry = CstInputValue::Object(vec![
        (
            "command".to_string(),
            CstInputValue::String(program.to_string()),
        ),
        ("args".to_string(), CstInputValue::Array(list)),
    ]);
    match servers.get(NAME) {
        Some(property) => property.set_value(entry),
        None => {
            servers.append(NAME, entry);
        }
    }
    Ok(root.to_string())
}

/// The file without ours; `None` where nothing is left of it.
pub(super) fn without_server(text: &str) -> Result<Option<String>, Complaint> {
    let root = read(text)?;
    let Some(object) = root.object_value() else {
        return Ok(Some(text.to_string()));
    };
    let Some(servers) = object.object_value(SERVERS) else {
        return Ok(Some(text.to_string()));
    };
    let own = servers
        .get(NAME)
        .filter(|_| server_of(text).is_some_and(|known| is_own(&known)));
    let Some(own) = own else {
        return Ok(Some(text.to_string()));
    };
    own.remove();
    if servers.properties().is_empty()
        && let Some(servers) = object.get(SERVERS)
    {
        servers.remove();
    }
    Ok((!object.properties().is_empty()).then(|| root.to_string()))
}

/// The program that a file of MCP servers starts as ours.
pub(crate) fn server_program(file: &Value) -> Option<String> {
    let server = file
        .get(SERVERS)?
        .get(NAME)
        .filter(|server| is_own(server))?;
    server.get("command")?.as_str().map(str::to_string)
}

fn server(program: &str) -> Value {
    json!({ "command": program, "args": SERVE })
}

fn is_own(server: &Value) -> bool {
    server.get("args").is_some_and(|args| *args == json!(SERVE))
}

fn server_of(text: &str) -> Option<Value> {
    let file: Value = serde_json::from_str(text).ok()?;
    file.get(SERVERS)?.get(NAME).cloned()
}

fn read(text: &str) -> Result<CstRootNode, Complaint> {
    let body = if text.trim().is_empty() { "{}\n" } else { text };
    let wrong = |what: String| Complaint::with_cure(what, "correct it by hand; it was not touched");
    let root = CstRootNode::parse(body, &ParseOptions::default())
        .map_err(|error| wrong(format!("does not parse: {}", error.kind())))?;
    let value = root.to_serde_value().unwrap_or_default();
    let is_table = |value: &Value| value.is_object();
    if !is_table(&value) || value.get(SERVERS).is_some_and(|servers| !is_table(servers)) {
        return Err(wrong(format!("`{SERVERS}` is no object in it")));
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_that_was_measured_is_passed_on() {
        for row in FIELDS {
            let file = format!(
                "{}/fixtures/payloads/claude/{}.json",
                env!("CARGO_MANIFEST_DIR"),
                row.event
            );
            let text = std::fs::read_to_string(&file).unwrap();
            let payload: Map<String, Value> = serde_json::from_str(&text).unwrap();
            for (field, value) in &payload {
                let is_text = COMMON.iter().chain(row.text).any(|known| known == field);
                let is_json = row.json.iter().any(|known| known == field);
                assert!(
                    is_text || is_json,
                    "{}: {field} is not passed on",
                    row.event
                );
                assert_eq!(is_text, value.is_string(), "{}: {field}", row.event);
            }
        }
    }

    #[test]
    fn a_file_of_servers_gets_ours_and_loses_it() {
        let before = "{\n  \"mcpServers\": {\n    \"db\": { \"command\": \"db\" }\n  }\n}\n";
        let with = with_server(before, "/bin/hookrun").unwrap();
        assert_eq!(
            server_program(&serde_json::from_str(&with).unwrap()).unwrap(),
            "/bin/hookrun"
        );
        assert_eq!(with_server(&with, "/bin/hookrun").unwrap(), with);
        let kept: Value = serde_json::from_str(&without_server(&with).unwrap().unwrap()).unwrap();
        assert_eq!(kept, serde_json::from_str::<Value>(before).unwrap());
        let alone = with_server("", "/bin/hookrun").unwrap();
        assert_eq!(without_server(&alone).unwrap(), None);
        assert_eq!(without_server(before).unwrap().as_deref(), Some(before));
        assert!(with_server("[]", "x").is_err() && with_server("{", "x").is_err());
    }
}
