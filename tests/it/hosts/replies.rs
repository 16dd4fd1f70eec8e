//! What each host gets for each thing that can be said, word for word.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A host's event, what a hook of ours says, and what the host gets.
type Case = (&'static str, &'static str, Value, i32, Value);

const ALONE: &str = " (cannot ask: no terminal)";

#[track_caller]
fn holds((host, event, answer, status, reply): Case) {
    let (canonical, mut payload) = match event {
        "PreToolUse" | "BeforeTool" | "preToolUse" | "beforeMCPExecution" => ("tool.pre", tool()),
        "beforeShellExecution" => ("tool.pre", json!({"command": "ls"})),
        "beforeReadFile" => ("tool.pre", json!({"file_path": "a"})),
        "PostToolUse" | "AfterTool" | "postToolUse" => ("tool.post", tool()),
        "Stop" | "AfterAgent" | "stop" | "agentStop" => ("agent.stop", json!({})),
        "PermissionRequest" | "permissionRequest" => ("permission.request", tool()),
        "SessionStart" | "sessionStart" => ("session.start", json!({})),
        "MessageDisplay" => ("message.display", json!({"delta": "x"})),
        "preCompact" => ("compact.pre", json!({})),
        "userPromptTransformed" => ("prompt.expand", json!({"prompt": "x"})),
        "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" | "userPromptSubmitted" => {
            ("prompt.submit", json!({"prompt": "x"}))
        }
        _ => panic!("{event}"),
    };
    payload["hook_event_name"] = event.into();
    let directive = if answer["update"].is_object() {
        "# hookrun: rewrite=true\n"
    } else {
        ""
    };
    let body = format!("{directive}echo '{answer}'");
    let sandbox = Sandbox::new().hook_for(canonical, "hook", &body);
    let ran = sandbox.host(host, &payload);
    let said = match ran.stdout.as_str() {
        "" => Value::Null,
        stdout => serde_json::from_str(stdout).unwrap(),
    };
    assert_eq!(
        (ran.status, said),
        (status, reply),
        "{host} {event} {answer}: {ran:?}"
    );
}

fn tool() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "toolCallId": "1"})
}

fn new_input() -> Value {
    json!({"update": {"toolInput": {"command": "ls -l"}}})
}

fn new_result() -> Value {
    json!({"update": {"result": "clean"}})
}

fn context() -> Value {
    json!({"additionalContext": "mind the gap"})
}

fn output() -> Value {
    json!({"output": "formatted"})
}

fn no() -> Value {
    json!({"continue": false, "reason": "no"})
}

fn ask() -> Value {
    json!({"ask": "sure?"})
}

/// Claude's place for what is of one event.
fn specific(event: &str, mut what: Value) -> Value {
    what["hookEventName"] = event.into();
    json!({ "hookSpecificOutput": what })
}

#[test]
fn a_question_goes_to_the_host_that_can_ask_and_blocks_in_the_others() {
    let asks = json!({"permissionDecision": "ask", "permissionDecisionReason": "sure?"});
    let alone = format!("sure?{ALONE}");
    let deny = json!({"permission": "deny", "user_message": alone, "agent_message": alone});
    let cursor = json!({"permission": "ask", "user_message": "sure?"});
    holds((
        "claude",
        "PreToolUse",
        ask(),
        0,
        specific("PreToolUse", asks.clone()),
    ));
    holds(("codex", "PreToolUse", ask(), 2, Value::Null));
    holds((
        "gemini",
        "BeforeTool",
        ask(),
        0,
        json!({"decision": "ask", "reason": "sure?"}),
    ));
    holds(("cursor", "preToolUse", ask(), 2, deny.clone()));
    holds(("cursor", "beforeShellExecution", ask(), 0, cursor.clone()));
    holds(("cursor", "beforeMCPExecution", ask(), 0, cursor));
    holds(("cursor", "beforeReadFile", ask(), 2, deny));
    holds(("copilot", "preToolUse", ask(), 0, asks));
}

#[test]
fn a_new_input_stands_where_the_host_looks_for_it() {
    let new = json!({"command": "ls -l"});
    holds((
        "claude",
        "PreToolUse",
        new_input(),
        0,
        specific("PreToolUse", json!({"updatedInput": new})),
    ));
    let allowed = json!({"permissionDecision": "allow", "updatedInput": new});
    holds((
        "codex",
        "PreToolUse",
        new_input(),
        0,
        specific("PreToolUse", allowed),
    ));
    let gemini = json!({"hookSpecificOutput": {"tool_input": new}});
    holds(("gemini", "BeforeTool", new_input(), 0, gemini));
    holds((
        "cursor",
        "preToolUse",
        new_input(),
        0,
        json!({"updated_input": new}),
    ));
    holds((
        "copilot",
        "preToolUse",
        new_input(),
        0,
        json!({"modifiedArgs": new}),
    ));
}

#[test]
fn a_question_about_a_new_input_carries_both() {
    let both = json!({"ask": "sure?", "update": {"toolInput": {"command": "ls -l"}}});
    let claude = json!({
        "permissionDecision": "ask",
        "permissionDecisionReason": "sure?",
        "updatedInput": {"command": "ls -l"},
    });
    holds((
        "claude",
        "PreToolUse",
        both.clone(),
        0,
        specific("PreToolUse", claude),
    ));
    let gemini = json!({
        "decision": "ask",
        "reason": "sure?",
        "hookSpecificOutput": {"tool_input": {"command": "ls -l"}},
    });
    holds(("gemini", "BeforeTool", both, 0, gemini));
}

#[test]
fn a_new_result_replaces_what_the_model_sees() {
    let claude = specific("PostToolUse", json!({"updatedToolOutput": "clean"}));
    holds(("claude", "PostToolUse", new_result(), 0, claude));
    holds((
        "codex",
        "PostToolUse",
        new_result(),
        0,
        json!({"decision": "block", "reason": "clean"}),
    ));
    holds((
        "gemini",
        "AfterTool",
        new_result(),
        0,
        json!({"decision": "deny", "reason": "clean"}),
    ));
    holds((
        "copilot",
        "postToolUse",
        new_result(),
        0,
        json!({"modifiedResult": "clean"}),
    ));
}

#[test]
fn an_objection_after_the_tool_is_told_where_the_host_has_a_place_for_it() {
    let blocks = json!({"decision": "block", "reason": "no"});
    holds(("claude", "PostToolUse", no(), 0, blocks.clone()));
    holds(("codex", "PostToolUse", no(), 0, blocks));
    holds((
        "gemini",
        "AfterTool",
        no(),
        0,
        json!({"decision": "deny", "reason": "no"}),
    ));
    holds((
        "cursor",
        "postToolUse",
        no(),
        0,
        json!({"additional_context": "no"}),
    ));
    holds((
        "copilot",
        "postToolUse",
        no(),
        0,
        json!({"additionalContext": "no"}),
    ));
}

#[test]
fn a_context_reaches_the_model_where_the_host_takes_one() {
    let text = || json!({"additionalContext": "mind the gap"});
    for event in [
        "PreToolUse",
        "PostToolUse",
        "UserPromptSubmit",
        "SessionStart",
    ] {
        holds(("claude", event, context(), 0, specific(event, text())));
        holds(("codex", event, context(), 0, specific(event, text())));
    }
    for event in ["AfterTool", "BeforeAgent", "SessionStart"] {
        holds((
            "gemini",
            event,
            context(),
            0,
            json!({"hookSpecificOutput": text()}),
        ));
    }
    for event in ["sessionStart", "postToolUse"] {
        holds((
            "cursor",
            event,
            context(),
            0,
            json!({"additional_context": "mind the gap"}),
        ));
    }
    for event in [
        "sessionStart",
        "userPromptSubmitted",
        "preToolUse",
        "postToolUse",
    ] {
        holds(("copilot", event, context(), 0, text()));
    }
    holds(("cursor", "preToolUse", context(), 0, Value::Null));
    holds(("gemini", "BeforeTool", context(), 0, Value::Null));
}

#[test]
fn an_output_is_shown_where_the_host_shows_any() {
    let shown = || json!({"systemMessage": "formatted"});
    holds(("claude", "PostToolUse", output(), 0, shown()));
    holds(("codex", "PostToolUse", output(), 0, shown()));
    holds(("gemini", "AfterTool", output(), 0, shown()));
    holds((
        "cursor",
        "preCompact",
        output(),
        0,
        json!({"user_message": "formatted"}),
    ));
    holds(("cursor", "postToolUse", output(), 0, Value::Null));
    holds(("copilot", "postToolUse", output(), 0, Value::Null));
}

#[test]
fn a_blocked_stop_goes_on_with_the_reason() {
    holds(("claude", "Stop", no(), 2, Value::Null));
    holds(("codex", "Stop", no(), 2, Value::Null));
    holds(("gemini", "AfterAgent", no(), 2, Value::Null));
    holds(("cursor", "stop", no(), 0, json!({"followup_message": "no"})));
    holds((
        "copilot",
        "agentStop",
        no(),
        0,
        json!({"decision": "block", "reason": "no"}),
    ));
}

#[test]
fn a_blocked_prompt_reaches_no_model() {
    holds(("claude", "UserPromptSubmit", no(), 2, Value::Null));
    holds(("codex", "UserPromptSubmit", no(), 2, Value::Null));
    holds(("gemini", "BeforeAgent", no(), 2, Value::Null));
    let cursor = json!({"continue": false, "user_message": "no"});
    holds(("cursor", "beforeSubmitPrompt", no(), 2, cursor));
    let copilot = json!({"decision": "block", "reason": "no"});
    holds(("copilot", "userPromptSubmitted", no(), 0, copilot));
}

#[test]
fn a_permission_is_blocked_by_json_where_the_exit_status_means_nothing() {
    let deny = json!({"decision": {"behavior": "deny", "message": "no"}});
    let deny = specific("PermissionRequest", deny);
    holds(("claude", "PermissionRequest", no(), 0, deny.clone()));
    holds(("codex", "PermissionRequest", no(), 0, deny));
    let copilot = json!({"behavior": "deny", "message": "no"});
    holds(("copilot", "permissionRequest", no(), 2, copilot));
}

#[test]
fn other_texts_are_rewritten_where_the_host_shows_them() {
    let delta = json!({"update": {"delta": "y"}});
    let shown = specific("MessageDisplay", json!({"displayContent": "y"}));
    holds(("claude", "MessageDisplay", delta, 0, shown));
    let prompt = json!({"update": {"prompt": "y"}});
    let modified = json!({"modifiedTransformedPrompt": "y"});
    holds(("copilot", "userPromptTransformed", prompt, 0, modified));
}

#[test]
fn what_a_host_has_no_place_for_is_on_stderr() {
    let sandbox = Sandbox::new().hook("hook", &format!("echo '{}'", context()));
    let mut payload = tool();
    payload["hook_event_name"] = "preToolUse".into();
    sandbox
        .host("cursor", &payload)
        .allows()
        .says("mind the gap");
}
