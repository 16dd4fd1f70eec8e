//! pi: each rule of its "Hooks" document, on the host's side and on the hook's.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// The ten reasons of `session`, the events that they are here, and whether pi lets hooks cancel.
const REASONS: &[(&str, &str, bool)] = &[
    ("start", "session.start", false),
    ("before_switch", "session.switch.pre", true),
    ("switch", "session.switch", false),
    ("before_clear", "session.clear.pre", true),
    ("clear", "session.clear", false),
    ("before_branch", "session.branch.pre", true),
    ("branch", "session.branch", false),
    ("before_compact", "compact.pre", true),
    ("compact", "compact.post", false),
    ("shutdown", "session.end", false),
];

/// `hookrun run EVENT --host pi`.
fn pi(sandbox: &Sandbox, event: &str, context: &Value) -> Ran {
    sandbox.hookrun(
        &["run", event, "--host", "pi"],
        context.to_string().as_bytes(),
    )
}

fn session(reason: &str) -> Value {
    json!({
        "type": "session",
        "entries": [],
        "sessionFile": "/tmp/s-1.jsonl",
        "previousSessionFile": null,
        "reason": reason,
    })
}

fn tool_call(command: &str) -> Value {
    json!({
        "type": "tool_call",
        "toolName": "bash",
        "toolCallId": "call_01",
        "input": { "command": command },
    })
}

fn tool_result() -> Value {
    json!({
        "type": "tool_result",
        "toolName": "bash",
        "toolCallId": "call_01",
        "input": { "command": "ls" },
        "content": [{ "type": "text", "text": "a.txt" }],
        "isError": false,
    })
}

/// A hook that was written for pi and prints this result.
fn prints(result: &Value) -> String {
    format!("# hookrun: dialect=pi\ncat >/dev/null\necho '{result}'")
}

#[track_caller]
fn result(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn seen(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read("seen")).unwrap()
}

// session

#[test]
fn each_of_the_ten_reasons_is_an_event_of_its_own() {
    for (reason, event, _) in REASONS {
        let sandbox = Sandbox::new().hook_for(event, "keep", "cat > seen");
        let ran = pi(&sandbox, "session", &session(reason));
        ran.allows();
        let seen = seen(&sandbox);
        assert_eq!(seen["event"], *event);
        assert_eq!(seen["sessionId"], "/tmp/s-1.jsonl", "{reason}");
        assert_eq!(seen["transcriptPath"], "/tmp/s-1.jsonl", "{reason}");
        assert_eq!(seen["type"], Value::Null, "{reason}");
    }
}

#[test]
fn a_hook_on_session_is_told_every_reason_as_pi_tells_it() {
    for (reason, event, _) in REASONS {
        let sandbox =
            Sandbox::new().hook_for("session", "keep", "# hookrun: dialect=pi\ncat > seen");
        pi(&sandbox, "session", &session(reason)).allows();
        assert_eq!(seen(&sandbox), session(reason));

        let ran = sandbox.hookrun(&["run", event], br#"{"sessionId":"s-1"}"#);
        ran.allows();
        let told = seen(&sandbox);
        assert_eq!(
            (&told["type"], &told["reason"]),
            (&json!("session"), &json!(reason))
        );
    }
}

#[test]
fn a_native_hook_is_asked_before_the_session_is_cleared_and_may_block() {
    let sandbox = Sandbox::new().hook_for(
        "session.clear.pre",
        "keep",
        "echo 'not saved yet' >&2; exit 1",
    );
    let ran = pi(&sandbox, "session", &session("before_clear"));
    assert_eq!(result(&ran), json!({ "cancel": true }));
    ran.exits(2).says("not saved yet");
    pi(&sandbox, "session", &session("before_switch")).allows();
}

#[test]
fn the_before_reasons_can_be_cancelled_and_no_other() {
    for (reason, _, may_cancel) in REASONS {
        let body = prints(&json!({ "cancel": true }));
        let sandbox = Sandbox::new().hook_for("session", "cancel", &body);
        let ran = pi(&sandbox, "session", &session(reason));
        if *may_cancel {
            assert_eq!(result(&ran), json!({ "cancel": true }), "{reason}");
            ran.exits(2);
        } else {
            ran.exits(0).says("unknown key `cancel`");
            assert_eq!(ran.stdout, "", "{reason}");
        }
    }
}

#[test]
fn the_first_cancel_ends_the_chain() {
    let sandbox = Sandbox::new()
        .hook_for("session", "10-cancel", &prints(&json!({ "cancel": true })))
        .hook_for("session", "20-mark", "# hookrun: dialect=pi\ntouch marker");
    pi(&sandbox, "session", &session("before_switch")).exits(2);
    sandbox.has_no_file("marker");
}

#[test]
fn before_branch_can_skip_the_restoring_of_the_conversation() {
    let skip = json!({ "skipConversationRestore": true });
    let sandbox = Sandbox::new().hook_for("session", "skip", &prints(&skip));
    let ran = pi(&sandbox, "session", &session("before_branch"));
    assert_eq!(result(ran.exits(0)), skip);
    // For every other reason the key says nothing.
    pi(&sandbox, "session", &session("before_switch")).allows();
    // A native hook says it as a rewrite.
    let body = format!("# hookrun: rewrite\necho '{}'", json!({ "update": skip }));
    let sandbox = Sandbox::new().hook_for("session.branch.pre", "skip", &body);
    let ran = pi(&sandbox, "session", &session("before_branch"));
    assert_eq!(result(ran.exits(0)), skip);
}

#[test]
fn before_compact_can_be_given_a_compaction_entry() {
    let entry = json!({ "compactionEntry": {
        "type": "compaction",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "summary": "Your custom summary...",
        "firstKeptEntryIndex": 5,
        "tokensBefore": 100_000,
    } });
    let sandbox = Sandbox::new().hook_for("session", "compact", &prints(&entry));
    let ran = pi(&sandbox, "session", &session("before_compact"));
    assert_eq!(result(ran.exits(0)), entry);
    // A native host gets it in its own field.
    let ran = sandbox.hookrun(&["run", "compact.pre"], b"{}");
    assert_eq!(
        result(ran.exits(0))["update"]["compaction"],
        entry["compactionEntry"]
    );
}

#[test]
fn what_compaction_is_about_reaches_the_hook_whole() {
    let mut event = session("before_compact");
    let facts = json!({
        "cutPoint": { "firstKeptEntryIndex": 5, "isSplitTurn": false },
        "previousSummary": "Earlier.",
        "messagesToSummarize": [{ "role": "user", "content": "one" }],
        "messagesToKeep": [{ "role": "user", "content": "two" }],
        "tokensBefore": 120_000,
        "model": { "id": "some-model" },
        "customInstructions": "keep the names",
    });
    event
        .as_object_mut()
        .unwrap()
        .extend(facts.as_object().unwrap().clone());
    let sandbox = Sandbox::new()
        .hook_for("compact.pre", "native", "cat > native")
        .hook_for("session", "own", "# hookrun: dialect=pi\ncat > seen");
    pi(&sandbox, "session", &event).allows();
    assert_eq!(seen(&sandbox), event);
    let native: Value = serde_json::from_str(&sandbox.read("native")).unwrap();
    for (key, value) in facts.as_object().unwrap() {
        assert_eq!(native[key], *value, "{key}");
    }
}

#[test]
fn the_target_turn_is_told_of_branches_only() {
    let events = Sandbox::new().json(&["events", "--format", "json"]);
    for (reason, event, _) in REASONS {
        let spec = events["events"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == *event);
        let context = spec.unwrap()["context"].to_string();
        let is_branch = matches!(*reason, "before_branch" | "branch");
        assert_eq!(context.contains("targetTurnIndex"), is_branch, "{reason}");
    }
    let mut event = session("branch");
    event["targetTurnIndex"] = json!(3);
    let sandbox = Sandbox::new().hook_for("session.branch", "keep", "cat > seen");
    pi(&sandbox, "session", &event).allows();
    assert_eq!(seen(&sandbox)["targetTurnIndex"], 3);
}

#[test]
fn an_unknown_reason_is_rejected_with_the_known_ones() {
    let ran = pi(&Sandbox::new(), "session", &session("before_compct"));
    ran.exits(2)
        .says("`reason` determines which `session` event this is, but `before_compct` is unknown");
    ran.says("before_compact, compact, shutdown");
    assert_eq!(result(&ran), json!({ "cancel": true }));
    let ran = pi(&Sandbox::new(), "session", &json!({ "type": "session" }));
    ran.exits(2).says("but it is missing");
}

#[test]
fn an_unknown_event_is_rejected_with_the_nearest_one() {
    let ran = pi(&Sandbox::new(), "tool_cal", &json!({}));
    ran.exits(2)
        .says("`tool_cal` is not an event of pi")
        .says("did you mean `tool_call`?");
    let ran = pi(&Sandbox::new(), "tool_call", &tool_result());
    ran.exits(2)
        .says("the context belongs to the event `tool_result`, not to `tool_call`");
}

// The agent and its turns

#[test]
fn the_agent_and_its_turns_are_told_and_cannot_be_blocked() {
    let message = json!({ "role": "assistant", "content": [] });
    let events = [
        (json!({ "type": "agent_start" }), "agent.begin"),
        (
            json!({ "type": "agent_end", "messages": [message] }),
            "agent.end",
        ),
        (
            json!({ "type": "turn_start", "turnIndex": 2, "timestamp": 1 }),
            "turn.start",
        ),
        (
            json!({ "type": "turn_end", "turnIndex": 2, "message": message, "toolResults": [] }),
            "turn.end",
        ),
    ];
    for (event, canonical) in events {
        let name = event["type"].as_str().unwrap();
        let sandbox = Sandbox::new()
            .hook_for(canonical, "10-refuse", "cat > native; exit 1")
            .hook_for(name, "20-keep", "# hookrun: dialect=pi\ncat > seen");
        pi(&sandbox, name, &event).exits(0).says("10-refuse");
        assert_eq!(seen(&sandbox), event);
        let native: Value = serde_json::from_str(&sandbox.read("native")).unwrap();
        assert_eq!(native["event"], canonical);
    }
}

// tool_call

#[test]
fn tool_call_can_block_with_a_reason() {
    let result_of = json!({ "block": true, "reason": "Blocked by user" });
    let sandbox = Sandbox::new().hook_for("tool_call", "gate", &prints(&result_of));
    let ran = pi(&sandbox, "tool_call", &tool_call("rm -rf /"));
    assert_eq!(result(ran.exits(2)), result_of);
    // A native host hears it in its own words.
    sandbox.run_shell("rm -rf /").blocks("Blocked by user");
    // And pi hears a native hook in pi's.
    let sandbox = Sandbox::new().hook("gate", "echo 'Blocked by user' >&2; exit 1");
    let ran = pi(&sandbox, "tool_call", &tool_call("rm -rf /"));
    assert_eq!(result(ran.exits(2)), result_of);
}

#[test]
fn block_false_and_nothing_at_all_allow_the_tool() {
    for body in [
        prints(&json!({ "block": false })),
        "# hookrun: dialect=pi\ntrue".to_string(),
    ] {
        let sandbox = Sandbox::new().hook_for("tool_call", "gate", &body);
        pi(&sandbox, "tool_call", &tool_call("ls")).allows();
    }
}

#[test]
fn a_block_cannot_be_taken_back_by_a_later_hook() {
    let sandbox = Sandbox::new()
        .hook_for(
            "tool_call",
            "10-no",
            &prints(&json!({ "block": true, "reason": "no" })),
        )
        .hook_for("tool_call", "20-yes", &prints(&json!({ "block": false })));
    let ran = pi(&sandbox, "tool_call", &tool_call("ls"));
    assert_eq!(
        result(ran.exits(2)),
        json!({ "block": true, "reason": "no" })
    );
}

#[test]
fn tool_call_has_no_timeout_and_every_other_event_has_30_seconds() {
    let body = "# hookrun: dialect=pi\nprintf %s \"${HOOKRUN_TIMEOUT_MS-none}\" > timeout";
    let events = [
        ("tool_call", tool_call("ls"), "none"),
        ("tool_result", tool_result(), "30000"),
        ("session", session("before_compact"), "30000"),
        ("turn_start", json!({ "turnIndex": 0 }), "30000"),
    ];
    for (event, context, timeout) in events {
        let sandbox = Sandbox::new().hook_for(event, "own", body);
        pi(&sandbox, event, &context).allows();
        assert_eq!(sandbox.read("timeout"), timeout, "{event}");
    }
    // The hook's own word goes before pi's.
    let body = body.replace("dialect=pi", "dialect=pi timeout=7s");
    let sandbox = Sandbox::new().hook_for("tool_call", "own", &body);
    pi(&sandbox, "tool_call", &tool_call("ls")).allows();
    assert_eq!(sandbox.read("timeout"), "7000");
}

#[test]
fn a_budget_still_ends_a_hook_that_has_no_timeout() {
    let sandbox = Sandbox::new().hook_for("tool_call", "own", "# hookrun: dialect=pi\nsleep 60");
    let context = tool_call("ls").to_string();
    let arguments = ["run", "tool_call", "--host", "pi", "--budget", "300ms"];
    let ran = sandbox.hookrun(&arguments, context.as_bytes());
    assert_eq!(result(ran.exits(2))["block"], true);
}

#[test]
fn an_error_of_a_tool_call_hook_blocks_the_tool() {
    for body in [
        "echo 'cannot read policy' >&2; exit 1",
        "kill -9 $$",
        "echo '{\"reason\": 7}'",
    ] {
        let body = format!("# hookrun: dialect=pi\n{body}");
        let sandbox = Sandbox::new().hook_for("tool_call", "gate", &body);
        let ran = pi(&sandbox, "tool_call", &tool_call("ls"));
        assert_eq!(result(ran.exits(2))["block"], true, "{body}");
        ran.says("hook `gate` failed").says("(fail closed)");
    }
}

#[test]
fn built_in_tools_say_what_they_are_about_to_do() {
    let tools = [
        ("bash", json!({ "command": "ls" }), "shell"),
        ("read", json!({ "path": "a.txt" }), "read"),
        ("write", json!({ "path": "a.txt", "content": "x" }), "write"),
        (
            "edit",
            json!({ "path": "a.txt", "oldText": "x", "newText": "y" }),
            "edit",
        ),
        ("ls", json!({ "path": "src" }), "search"),
        (
            "find",
            json!({ "pattern": "*.rs", "path": "src" }),
            "search",
        ),
        ("grep", json!({ "pattern": "x", "path": "src" }), "search"),
        ("my-custom-tool", json!({ "someField": "x" }), "other"),
    ];
    for (tool, input, kind) in tools {
        let sandbox = Sandbox::new().hook("keep", "cat > seen");
        let event =
            json!({ "type": "tool_call", "toolName": tool, "toolCallId": "c", "input": input });
        pi(&sandbox, "tool_call", &event).allows();
        let seen = seen(&sandbox);
        assert_eq!(
            (&seen["toolName"], &seen["toolInput"]),
            (&json!(tool), &input)
        );
        assert_eq!(
            (&seen["toolUseId"], &seen["action"]["kind"]),
            (&json!("c"), &json!(kind)),
            "{tool}"
        );
    }
}

#[test]
fn a_new_input_that_pi_cannot_be_told_of_blocks_the_tool() {
    let update = json!({ "update": { "toolInput": { "command": "ls -l" } } });
    let body = format!("# hookrun: rewrite\necho '{update}'");
    let sandbox = Sandbox::new().hook("rewrites", &body);
    let ran = pi(&sandbox, "tool_call", &tool_call("ls"));
    assert_eq!(result(ran.exits(2))["block"], true);
    // So does a hook of a system that has such results.
    let body = "# hookrun: dialect=openclaw\necho '{\"params\": {\"command\": \"ls -l\"}}'";
    let sandbox = Sandbox::new().hook_for("before-tool-call", "rewrites", body);
    let ran = pi(&sandbox, "tool_call", &tool_call("ls"));
    assert_eq!(result(ran.exits(2))["block"], true);
}

// tool_result

#[test]
fn tool_result_can_modify_content_details_and_whether_it_is_an_error() {
    let new = json!({
        "content": [{ "type": "text", "text": "[hidden]" }],
        "details": { "truncation": { "truncated": true } },
        "isError": true,
    });
    let sandbox = Sandbox::new().hook_for("tool_result", "hide", &prints(&new));
    let ran = pi(&sandbox, "tool_result", &tool_result());
    assert_eq!(result(ran.exits(0)), new);
}

#[test]
fn the_original_is_kept_where_a_hook_returns_nothing() {
    let sandbox =
        Sandbox::new().hook_for("tool_result", "look", "# hookrun: dialect=pi\ncat > seen");
    pi(&sandbox, "tool_result", &tool_result()).allows();
    assert_eq!(seen(&sandbox), tool_result());
}

#[test]
fn of_several_results_the_last_one_stands_as_a_whole() {
    let sandbox = Sandbox::new()
        .hook_for(
            "tool_result",
            "10-one",
            &prints(&json!({ "content": [], "isError": true })),
        )
        .hook_for("tool_result", "20-see", "# hookrun: dialect=pi\ncat > seen")
        .hook_for(
            "tool_result",
            "30-two",
            &prints(&json!({ "details": { "n": 2 } })),
        );
    let ran = pi(&sandbox, "tool_result", &tool_result());
    assert_eq!(result(ran.exits(0)), json!({ "details": { "n": 2 } }));
    // Every hook sees the result of the tool, not what the hooks before made of it.
    assert_eq!(seen(&sandbox), tool_result());
}

// Errors

#[test]
fn an_error_of_any_other_hook_is_logged_and_the_next_one_runs() {
    for (event, context) in [
        ("tool_result", tool_result()),
        ("session", session("before_clear")),
    ] {
        let sandbox = Sandbox::new()
            .hook_for(
                event,
                "10-throws",
                "# hookrun: dialect=pi\necho 'oh no' >&2; exit 1",
            )
            .hook_for(event, "20-mark", "# hookrun: dialect=pi\ntouch marker");
        let ran = pi(&sandbox, event, &context);
        ran.exits(0)
            .says("10-throws")
            .says("exited with status 1: oh no");
        assert_eq!(ran.stdout, "");
        sandbox.has_file("marker");
    }
}

#[test]
fn a_timeout_is_logged_and_does_not_block() {
    let body = "# hookrun: dialect=pi timeout=100ms\nsleep 60";
    let sandbox = Sandbox::new().hook_for("session", "slow", body);
    let ran = pi(&sandbox, "session", &session("before_clear"));
    ran.exits(0).says("timed out after 100ms (fail open)");
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_block_in_any_words_counts_even_from_a_hook_that_then_throws() {
    let body = "# hookrun: dialect=pi\necho '{\"cancel\": true}'; exit 1";
    let sandbox = Sandbox::new().hook_for("session", "cancel", body);
    assert_eq!(
        result(&pi(&sandbox, "session", &session("before_clear"))),
        json!({"cancel": true})
    );
    let body = "# hookrun: dialect=pi\necho 'starting'; echo '{\"continue\": false}'";
    let sandbox = Sandbox::new().hook_for("tool_call", "gate", body);
    pi(&sandbox, "tool_call", &tool_call("ls")).exits(2);
}

#[test]
fn what_a_hook_logs_is_no_result() {
    let sandbox =
        Sandbox::new().hook_for("tool_call", "log", "# hookrun: dialect=pi\necho checked");
    pi(&sandbox, "tool_call", &tool_call("ls")).allows();
}

// Its later extensions

#[test]
fn what_later_extensions_of_pi_return_is_understood() {
    let cases = [
        (
            "input",
            json!({ "text": "hi" }),
            json!({ "action": "transform", "text": "HI" }),
        ),
        (
            "input",
            json!({ "text": "hi" }),
            json!({ "action": "handled" }),
        ),
        (
            "before_agent_start",
            json!({ "prompt": "hi" }),
            json!({ "systemPrompt": "Be brief." }),
        ),
        (
            "context",
            json!({ "messages": [] }),
            json!({ "messages": [{ "role": "user" }] }),
        ),
    ];
    for (event, context, answer) in cases {
        let sandbox = Sandbox::new().hook_for(event, "own", &prints(&answer));
        let ran = pi(&sandbox, event, &context);
        assert_eq!(result(ran.exits(0)), answer, "{event}");
    }
}
