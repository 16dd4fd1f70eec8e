//! Whose event a payload is, told from its keys alone: certain, or not at all.

use std::collections::BTreeSet;

use hookrun::hosts::signs::{Doubt, RecognisedEvent, named_after, recognise, written};
use hookrun::internals::event::Context;
use hookrun::internals::event::catalog::EVENTS;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

use super::payloads;
use crate::sandbox::Sandbox;

/// Events of hosts that were captured and that no key tells from another host's.
const IN_DOUBT: &[(&str, &[&str])] = &[
    ("claude", &["SessionStart"]),
    ("codex", &["SessionEnd"]),
    ("gemini", &["SessionStart", "SessionEnd"]),
    ("pi", SHARED),
    ("omp", SHARED),
];

/// What pi and oh-my-pi both send, or wolli as well.
const SHARED: &[&str] = &[
    "after_provider_response",
    "agent_end",
    "agent_start",
    "before_agent_start",
    "before_provider_request",
    "context",
    "input",
    "message_end",
    "message_start",
    "session_shutdown",
    "session_start",
    "tool_call",
    "tool_execution_end",
    "tool_execution_start",
    "tool_result",
    "turn_end",
    "turn_start",
];

/// Events of hosts that were not captured, as their documents have them.
fn documented() -> Vec<(&'static str, Value)> {
    let of_cursor = |event: &str| {
        json!({
            "conversation_id": "c-1", "generation_id": "g-1", "model": "m",
            "hook_event_name": event, "cursor_version": "2.0", "workspace_roots": ["/p"],
            "user_email": null, "transcript_path": null, "tool_name": "Shell", "tool_input": {},
            "tool_use_id": "t-1", "cwd": "/p", "prompt": "p", "session_id": "c-1",
        })
    };
    let events = [
        "preToolUse",
        "beforeShellExecution",
        "sessionStart",
        "stop",
        "sessionEnd",
    ];
    let mut all: Vec<(&'static str, Value)> = events
        .iter()
        .map(|event| ("cursor", of_cursor(event)))
        .collect();
    let copilots = [
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026", "cwd": "/p",
            "tool_name": "Bash", "tool_input": {}}),
        json!({"hook_event_name": "PostToolUse", "session_id": "s", "timestamp": "2026",
            "cwd": "/p", "tool_name": "Bash", "tool_input": {}, "tool_result": {}}),
        json!({"hook_event_name": "Stop", "session_id": "s", "timestamp": "2026", "cwd": "/p",
            "transcript_path": "/t", "stop_reason": "end_turn"}),
        json!({"hook_event_name": "Notification", "sessionId": "s", "timestamp": 1, "cwd": "/p",
            "message": "m", "notification_type": "n"}),
    ];
    all.extend(copilots.into_iter().map(|payload| ("copilot", payload)));
    all
}

/// Every payload that there is, with its host.
fn all() -> Vec<(&'static str, Map<String, Value>)> {
    let captured = IN_DOUBT.iter().flat_map(|(host, _)| {
        let events = payloads(host)
            .into_iter()
            .filter(|(name, _)| !name.starts_with('_'));
        events.map(|(_, payload)| (*host, payload))
    });
    let all = captured.chain(documented());
    all.map(|(host, payload)| (host, payload.as_object().unwrap().clone()))
        .collect()
}

fn whose(payload: &Map<String, Value>) -> Result<RecognisedEvent, Doubt> {
    recognise(&Context::parse(Value::from(payload.clone()).to_string().as_str()).unwrap())
}

#[test]
fn what_real_clients_sent_is_their_own_or_is_in_doubt() {
    for (host, in_doubt) in IN_DOUBT {
        for (name, payload) in payloads(host)
            .into_iter()
            .filter(|(name, _)| !name.starts_with('_'))
        {
            match whose(payload.as_object().unwrap()) {
                Ok(told) => {
                    assert_eq!((told.dialect, told.event.as_str()), (*host, name.as_str()));
                    assert!(
                        !in_doubt.contains(&name.as_str()),
                        "{host} {name} is certain"
                    );
                }
                Err(Doubt::Several { event, of }) => {
                    assert!(in_doubt.contains(&name.as_str()), "{host} {name}: {of:?}");
                    assert_eq!(event, name);
                    assert!(of.contains(host), "{host} {name}: {of:?}");
                }
                Err(doubt) => panic!("{host} {name}: {doubt}"),
            }
        }
    }
}

#[test]
fn what_the_documents_of_hosts_show_is_recognised() {
    for (host, payload) in documented() {
        let told = whose(payload.as_object().unwrap()).unwrap();
        assert_eq!(told.dialect, host, "{payload}");
    }
}

#[test]
fn every_event_of_ours_is_ours() {
    for spec in EVENTS {
        let mut context: Value = serde_json::from_str(&spec.sample()).unwrap();
        context["event"] = json!(spec.name);
        let told = whose(context.as_object().unwrap()).unwrap_or_else(|doubt| panic!("{doubt}"));
        assert_eq!(
            (told.dialect, told.event.as_str()),
            ("native", spec.name.as_ref())
        );
    }
}

#[test]
fn a_payload_that_has_lost_a_key_is_nobody_elses() {
    for (host, payload) in all() {
        for key in payload.keys() {
            let mut less = payload.clone();
            less.remove(key);
            if let Ok(told) = whose(&less) {
                assert_eq!(told.dialect, host, "{payload:?} without `{key}`");
            }
        }
    }
}

proptest! {
    #[test]
    fn a_payload_that_has_lost_many_keys_is_nobody_elses(
        (host, less) in proptest::sample::select(all()).prop_flat_map(|(host, payload)| {
            let all: Vec<(String, Value)> = payload.into_iter().collect();
            let count = 0..=all.len();
            (Just(host), subsequence(all, count))
        })
    ) {
        if let Ok(told) = whose(&less.into_iter().collect()) {
            prop_assert_eq!(told.dialect, host);
        }
    }
}

#[test]
fn keys_of_two_hosts_in_one_payload_make_it_no_third_ones() {
    let certain = || {
        all()
            .into_iter()
            .filter(|(_, payload)| whose(payload).is_ok())
    };
    for (ours, payload) in certain() {
        for (theirs, other) in certain().filter(|(theirs, _)| *theirs != ours) {
            let mut both = other;
            both.extend(payload.clone());
            if let Ok(told) = whose(&both) {
                assert!([ours, theirs].contains(&told.dialect), "{both:?}");
            }
        }
    }
}

#[test]
fn run_finds_host_and_event_by_itself_and_answers_in_the_hosts_words() {
    let hosts: BTreeSet<&str> = ["claude", "codex", "gemini"].into();
    for host in hosts {
        let gate = if host == "gemini" {
            "BeforeTool"
        } else {
            "PreToolUse"
        };
        let (_, payload) = payloads(host)
            .into_iter()
            .find(|(name, _)| name == gate)
            .unwrap();
        let sandbox = Sandbox::new().hook(
            "10-host",
            "echo \"no $HOOKRUN_HOST, no $HOOKRUN_ACTION_COMMAND\" >&2; exit 1",
        );
        let ran = sandbox.hookrun(&["run"], payload.to_string().as_bytes());
        ran.exits(2);
        assert_eq!(ran.stderr, format!("no {host}, no echo hello\n"));
        assert_eq!(ran.stdout, "", "{host}");
    }
}

#[test]
fn run_takes_an_event_of_ours_by_its_name_in_the_context() {
    let sandbox = Sandbox::new().hook("no", "echo no >&2; exit 1");
    let ran = sandbox.hookrun(&["run"], br#"{"event":"tool.pre","toolName":"note"}"#);
    ran.exits(2);
    assert_eq!(ran.stdout, "{\"continue\":false,\"reason\":\"no\"}\n");
    assert_eq!(ran.stderr, "no\n");
    let ran = sandbox.hookrun(&["run"], br#"{"event":"tool.per","toolName":"note"}"#);
    ran.exits(2);
    assert!(
        ran.stderr
            .contains("unknown event `tool.per`; did you mean `tool.pre`?"),
        "{ran:?}"
    );
}

#[test]
fn in_doubt_run_blocks_and_names_the_candidates_and_the_cure() {
    let sandbox = Sandbox::new();
    let start = br#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/p","source":"x"}"#;
    let ran = sandbox.hookrun(&["run"], start);
    ran.exits(2);
    assert_eq!(
        ran.stderr,
        "`SessionStart` may be an event of claude, codex, gemini, cursor, copilot, qwen, vscode, \
         factory, devin, kiro or kimi: the context does not show which; name the host: `hookrun run \
         --host claude`\n"
    );
    assert_eq!(ran.stdout, "");
    let ran = sandbox.hookrun(&["run"], b"{\"a\":1}");
    ran.exits(2);
    assert_eq!(
        ran.stderr,
        "no event was given, and the context does not identify the event or the host; name \
         the event: `hookrun run EVENT`, or `hookrun run EVENT --host HOST`\n"
    );
    let copilots = br#"{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":{}}"#;
    let ran = sandbox.hookrun(&["run"], copilots);
    ran.exits(2);
    assert_eq!(
        ran.stderr,
        "the context is in copilot's format, which does not name the event; name the event: \
         `hookrun run EVENT --host copilot`\n"
    );
}

#[test]
fn a_new_event_of_a_host_that_is_recognised_passes_with_a_notice() {
    let payload = br#"{"hook_event_name":"Brandnew","session_id":"s","prompt_id":"p","cwd":"/p"}"#;
    let ran = Sandbox::new().hookrun(&["run"], payload);
    ran.exits(0);
    assert_eq!(
        ran.stderr,
        "hookrun does not know the claude event `Brandnew`, and allowed it\n"
    );
}

#[test]
fn a_host_that_is_named_is_believed() {
    let sandbox = Sandbox::new();
    let (_, payload) = payloads("claude")
        .into_iter()
        .find(|(name, _)| name == "PreToolUse")
        .unwrap();
    let ran = sandbox.hookrun(&["run", "--host", "native"], payload.to_string().as_bytes());
    ran.exits(2);
    assert!(
        ran.stderr
            .starts_with("no event was given, and the context has no `event`"),
        "{ran:?}"
    );
}

#[test]
fn a_name_that_is_no_text_is_said_to_be_none() {
    let sandbox = Sandbox::new();
    let payload = br#"{"hook_event_name":5,"session_id":"s"}"#;
    let ran = sandbox.hookrun(&["run", "--host", "claude"], payload);
    ran.exits(2);
    assert_eq!(
        ran.stderr,
        "no event was given: `hook_event_name` is `5`, not a string; name the event: `hookrun run \
         EVENT --host claude`\n"
    );
}

#[test]
fn test_takes_the_event_from_the_payload_and_the_host_too() {
    let (_, payload) = payloads("claude")
        .into_iter()
        .find(|(name, _)| name == "PreToolUse")
        .unwrap();
    let sandbox = Sandbox::new().hook("no", "echo no >&2; exit 1");
    for arguments in [&["test", "--host", "claude"][..], &["test"]] {
        let arguments = [arguments, &["--format", "json"]].concat();
        let ran = sandbox.hookrun(&arguments, payload.to_string().as_bytes());
        ran.exits(1);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (&report["event"], &report["host"]),
            (&json!("tool.pre"), &json!("claude"))
        );
    }
    // With nothing on stdin the suite is meant.
    sandbox
        .hookrun(&["test"], b"")
        .exits(2)
        .says("no test case files");
}

#[test]
fn a_folder_is_named_after_the_dialect_that_alone_writes_such_hooks() {
    for (folder, wanted) in [
        ("PreToolUse", &["claude"][..]),
        ("UserPromptSubmit", &["claude"]),
        ("SessionStart", &["claude"]),
        ("BeforeTool", &["gemini"]),
        ("beforeShellExecution", &["cursor"]),
        ("preToolUse", &["cursor", "copilot"]),
        ("tool.pre", &[]),
        ("TOOL.PRE", &[]),
        ("pre-commit", &[]),
        ("nobodys", &[]),
    ] {
        let found: Vec<&str> = named_after(folder).iter().map(|one| one.name).collect();
        assert_eq!(found, wanted, "{folder}");
    }
}

#[test]
fn the_words_of_a_script_tell_for_whom_it_was_written() {
    for (text, foreign, is_ours) in [
        (
            "jq -r .tool_input.command",
            Some(("tool_input", 1, "claude")),
            false,
        ),
        (
            "x\nd[\"tool_name\"]",
            Some(("tool_name", 2, "claude")),
            false,
        ),
        ("d['toolArgs']", Some(("toolArgs", 1, "copilot")), false),
        ("# tool_input\njq .toolInput", None, true),
        ("echo \"$HOOKRUN_ACTION_COMMAND\"", None, true),
        (
            "jq '.toolInput // .tool_input'",
            Some(("tool_input", 1, "claude")),
            true,
        ),
        ("my_tool_input=1; exit 1", None, false),
    ] {
        let found = written(text);
        assert_eq!((found.foreign, found.is_ours), (foreign, is_ours), "{text}");
    }
}
