//! A call that comes in the forms of two hosts is decided in each, in words that this form reads.

use std::fs;
use std::path::Path;

use hookrun::hosts::installable;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What Cursor sends its own hooks before a shell command.
fn cursor(id: &str) -> Value {
    json!({
        "hook_event_name": "preToolUse", "conversation_id": "s", "tool_use_id": id,
        "tool_name": "Shell", "tool_input": {"command": "ls"},
    })
}

/// What hooks of Claude's settings get of that.
fn claude(id: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": id,
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    })
}

fn with(mut payload: Value, key: &str, value: &Value) -> Value {
    payload[key] = value.clone();
    payload
}

/// What a host of this name sends its own hooks before a tool.
fn own_words(host: &str, file: &str) -> Value {
    let at = 1_763_753_543_123_u64;
    match host {
        "cursor" => cursor("1"),
        "copilot" => json!({
            "hook_event_name": "preToolUse", "sessionId": "s", "timestamp": at,
            "toolName": "bash", "toolArgs": "{\"command\": \"ls\"}",
        }),
        _ => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documented");
            let text = fs::read_to_string(folder.join(host).join(file)).unwrap();
            serde_json::from_str(&text).unwrap()
        }
    }
}

/// What it sends hooks that it finds in Claude's settings or another host's: most send the same.
fn words_for_others(host: &str, file: &str) -> Value {
    match host {
        "cursor" => claude("1"),
        "copilot" => json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "timestamp": "2025-11-21T19:32:23.123Z", "tool_input": {"command": "ls"},
        }),
        _ => own_words(host, file),
    }
}

#[test]
fn a_host_that_reads_settings_of_another_gets_words_that_block_there_from_both() {
    let mut pairs = 0;
    for known in installable() {
        let others = known
            .reads
            .iter()
            .copied()
            .chain(known.converts.iter().copied());
        for (other, file) in
            others.flat_map(|it| ["PreToolUse.json", "PreToolUse-edit.json"].map(|file| (it, file)))
        {
            pairs += 1;
            let host = known.name;
            let own = own_words(host, file);
            let theirs = with(words_for_others(host, file), "cwd", &own["cwd"]);
            // The command in a file of Copilot's names the event.
            let event = if other == "copilot" {
                &["preToolUse"][..]
            } else {
                &[]
            };
            let entry = [&["run"], event, &["--host", other]].concat();
            let sandbox = Sandbox::new().hook("deny", "echo no >&2; exit 1");
            let by_own = sandbox.host(host, &own);
            let by_other = sandbox.hookrun(&entry, theirs.to_string().as_bytes());
            for ran in [by_own, by_other] {
                assert_eq!(
                    (ran.status, ran.stderr.as_str()),
                    (2, "no\n"),
                    "{host}, {other}: {ran:?}"
                );
            }
        }
    }
    assert!(pairs >= 16, "{pairs}");
}

#[test]
fn grok_gets_its_own_words_also_where_it_asks_by_claudes_settings_or_cursors() {
    let sandbox = Sandbox::new().hook("deny", "echo no >&2; exit 1");
    for other in ["claude", "cursor"] {
        let payload = own_words("grok", "PreToolUse.json");
        let ran = sandbox.host(other, &with(payload, "toolUseId", &other.into()));
        assert_eq!(
            ran.stdout, "{\"decision\":\"deny\",\"reason\":\"no\"}\n",
            "{ran:?}"
        );
        assert_eq!(ran.status, 2);
    }
    // A host that does not read Gemini's settings has no business there.
    let ran = sandbox.host("gemini", &own_words("grok", "PreToolUse.json"));
    ran.exits(2).says("no event was given");
}

#[test]
fn what_was_said_beside_an_allow_is_said_in_both_forms() {
    let answer = r#"{"additionalContext": "mind the gap"}"#;
    let sandbox = Sandbox::new().hook_for("tool.post", "teach", &format!("echo '{answer}'"));
    let of_cursor = json!({
        "hook_event_name": "postToolUse", "conversation_id": "s", "tool_use_id": "1",
        "tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_output": "{}",
    });
    let of_claude = with(claude("1"), "hook_event_name", &"PostToolUse".into());
    let ran = sandbox.host("cursor", &of_cursor);
    assert_eq!(ran.stdout, "{\"additional_context\":\"mind the gap\"}\n");
    let ran = sandbox.host("claude", &of_claude);
    let specific = json!({"hookEventName": "PostToolUse", "additionalContext": "mind the gap"});
    ran.allows_with(json!({ "hookSpecificOutput": specific }));
}

#[test]
fn a_hook_that_runs_hookrun_gets_its_decision() {
    let inner = format!(
        "{} run --host cursor --hooks inner",
        env!("CARGO_BIN_EXE_hookrun")
    );
    let sandbox = Sandbox::new()
        .hook_of("cursor", "preToolUse", "outer", &format!("exec {inner}"))
        .script(
            "inner/hooks.d/tool.pre/deny",
            "#!/bin/sh\necho inner >&2; exit 1\n",
        );
    sandbox.host("cursor", &cursor("1")).exits(2).says("inner");
}
