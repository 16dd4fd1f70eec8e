//! Hooks that were written for a host and answer what that host does not read: a gate is closed,
//! where the host itself would let it pass without a word.

use serde_json::json;

use crate::sandbox::{Ran, Sandbox};

const SHELL: &str = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;

/// The reply to a gate with one hook of `dialect`, with this body.
fn asked(dialect: &str, body: &str) -> Ran {
    let sandbox = Sandbox::new().hook_of(dialect, "tool.pre", "hook", body);
    sandbox.hookrun(&["run", "tool.pre"], SHELL.as_bytes())
}

#[test]
fn a_word_that_decides_nothing_closes_the_gate() {
    let nested =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"W"}}"#;
    for (dialect, json) in [
        ("claude", nested.replace('W', "DENY")),
        ("claude", nested.replace('W', "reject")),
        ("codex", nested.replace('W', "block")),
        ("claude", r#"{"decision":"blocked"}"#.to_string()),
        ("gemini", r#"{"decision":"Deny","reason":"no"}"#.to_string()),
        ("cursor", r#"{"permission":"denied"}"#.to_string()),
        ("copilot", r#"{"permissionDecision":"no"}"#.to_string()),
        ("copilot", r#"{"permissionDecision":false}"#.to_string()),
        (
            "claude",
            nested
                .replace("permissionDecision", "permission_decision")
                .replace('W', "deny"),
        ),
        ("claude", r#"{"permission_decision":"deny"}"#.to_string()),
        ("claude", r#"{"hookSpecificOutput":"deny"}"#.to_string()),
    ] {
        // As malformed, or in another system's words.
        asked(dialect, &format!("echo '{json}'")).exits(2);
    }
}

#[test]
fn words_that_a_host_reads_are_no_slips() {
    for (dialect, json) in [
        ("claude", r#"{"decision":"approve"}"#),
        (
            "claude",
            r#"{"hookSpecificOutput":{"permissionDecision":"allow"},"new":"deny"}"#,
        ),
        ("gemini", r#"{"decision":"allow"}"#),
        ("cursor", r#"{"permission":"allow"}"#),
        ("copilot", r#"{"permissionDecision":"allow"}"#),
    ] {
        asked(dialect, &format!("echo '{json}'")).allows();
    }
}

#[test]
fn what_a_signal_has_ended_below_a_shell_has_not_decided() {
    for dialect in ["claude", "codex", "gemini", "cursor", "copilot"] {
        asked(dialect, "sh -c 'kill -SEGV $$'; exit $?").blocks_saying("exited with status 139");
        asked(dialect, "exit 137").blocks_saying("exited with status 137");
    }
    asked("claude", "exit 3").exits(0);
}

#[test]
fn text_is_context_where_the_host_takes_it_for_that() {
    for (dialect, event, theirs) in [
        ("claude", "prompt.submit", "UserPromptSubmit"),
        ("claude", "session.start", "SessionStart"),
        ("codex", "session.start", "SessionStart"),
    ] {
        let sandbox = Sandbox::new().hook_of(dialect, theirs, "hook", "echo plain context");
        let ran = sandbox.hookrun(&["run", event], br#"{"prompt":"hi"}"#);
        ran.allows_with(json!({ "additionalContext": "plain context" }));
    }
    let sandbox = Sandbox::new().hook_of("claude", "PreToolUse", "hook", "echo words");
    sandbox
        .hookrun(&["run", "tool.pre"], SHELL.as_bytes())
        .allows();
}

#[test]
fn a_tool_without_a_name_is_not_let_pass() {
    let sandbox = Sandbox::new().hook("hook", "true");
    for (arguments, payload, key) in [
        (
            vec!["run", "--host", "claude"],
            r#"{"hook_event_name":"PreToolUse"}"#,
            "tool_name",
        ),
        (
            vec!["run", "--host", "codex"],
            r#"{"hook_event_name":"PreToolUse","toolName":"Bash","tool_input":{"command":"rm"}}"#,
            "tool_name",
        ),
        (
            vec!["run", "--host", "cursor"],
            r#"{"hook_event_name":"preToolUse"}"#,
            "tool_name",
        ),
        (
            vec!["run", "preToolUse", "--host", "copilot"],
            "{}",
            "toolName",
        ),
    ] {
        let ran = sandbox.hookrun(&arguments, payload.as_bytes());
        ran.exits(2).says(&format!("`{key}` is missing"));
    }
    let prompt = r#"{"hook_event_name":"UserPromptSubmit","prompt":"hi"}"#;
    sandbox
        .hookrun(&["run", "--host", "claude"], prompt.as_bytes())
        .exits(0);
}
