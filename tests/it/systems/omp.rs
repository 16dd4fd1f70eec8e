//! oh-my-pi's "Hooks" document, sentence by sentence: its hooks and hookrun's own in a host that
//! speaks oh-my-pi, and its hooks in other hosts. What differs on purpose stands in
//! `docs/systems.md`; what is found, in `omp_discovery`.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// The events that can only be observed, each as a host tells it.
const OBSERVED: &[(&str, &str)] = &[
    ("session_start", "{}"),
    (
        "session_switch",
        r#"{"reason":"new","previousSessionFile":"/s/0.jsonl"}"#,
    ),
    ("session_branch", r#"{"previousSessionFile":"/s/0.jsonl"}"#),
    (
        "session_compact",
        r#"{"compactionEntry":{"id":"e-1"},"fromExtension":false}"#,
    ),
    ("session_tree", r#"{"newLeafId":"e-2","oldLeafId":null}"#),
    ("session_shutdown", "{}"),
    ("agent_start", "{}"),
    ("agent_end", r#"{"messages":[{"role":"user"}]}"#),
    ("turn_start", r#"{"turnIndex":1,"timestamp":7}"#),
    (
        "turn_end",
        r#"{"turnIndex":1,"message":{"role":"assistant"},"toolResults":[]}"#,
    ),
    (
        "auto_compaction_start",
        r#"{"reason":"threshold","action":"prune"}"#,
    ),
    (
        "auto_compaction_end",
        r#"{"aborted":false,"willRetry":false}"#,
    ),
    (
        "auto_retry_start",
        r#"{"attempt":1,"maxAttempts":3,"errorMessage":"overloaded"}"#,
    ),
    ("auto_retry_end", r#"{"success":true,"attempt":2}"#),
    ("ttsr_triggered", r#"{"rules":[{"name":"no-any"}]}"#),
    (
        "todo_reminder",
        r#"{"todos":[{"content":"test"}],"attempt":1}"#,
    ),
];

/// The events that can be cancelled.
const BEFORE: &[(&str, &str)] = &[
    (
        "session_before_switch",
        r#"{"reason":"resume","targetSessionFile":"/s/2.jsonl"}"#,
    ),
    ("session_before_branch", r#"{"entryId":"e-1"}"#),
    (
        "session_before_compact",
        r#"{"preparation":{},"branchEntries":[]}"#,
    ),
    (
        "session_before_tree",
        r#"{"preparation":{"targetId":"e-1"}}"#,
    ),
];

/// The events that take something back, each with a result.
const ASKED: &[(&str, &str, &str)] = &[
    (
        "session_before_branch",
        r#"{"entryId":"e"}"#,
        r#"{"skipConversationRestore":true}"#,
    ),
    (
        "session_before_compact",
        "{}",
        r#"{"compaction":{"summary":"s","tokensBefore":9}}"#,
    ),
    (
        "session_before_tree",
        "{}",
        r#"{"summary":{"summary":"s","details":[1]}}"#,
    ),
    (
        "session.compacting",
        r#"{"sessionId":"s-1","messages":[]}"#,
        r#"{"context":["keep names"],"prompt":"Sum up.","preserveData":{"n":1}}"#,
    ),
    (
        "context",
        r#"{"messages":[{"role":"user"}]}"#,
        r#"{"messages":[]}"#,
    ),
    (
        "before_agent_start",
        r#"{"prompt":"hi"}"#,
        r#"{"message":{"customType":"note","content":"n","display":true,"details":{"a":1}}}"#,
    ),
];

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn tool_call(command: &str) -> Value {
    json!({ "toolName": "bash", "toolCallId": "c-1", "input": { "command": command } })
}

fn tool_result() -> Value {
    json!({
        "toolName": "read", "toolCallId": "c-1", "input": { "path": ".env" },
        "content": [{ "type": "text", "text": "first" }], "details": { "n": 1 }, "isError": false,
    })
}

/// A line of shell that answers with this result.
fn says(result: impl std::fmt::Display) -> String {
    format!("printf '%s\\n' '{result}'")
}

/// A sandbox with hooks of oh-my-pi: event, name, body.
fn hooks(all: &[(&str, &str, &str)]) -> Sandbox {
    all.iter()
        .fold(Sandbox::new(), |sandbox, (event, name, body)| {
            sandbox.hook_of("omp", event, name, body)
        })
}

/// What a host gets from hooks of one event, in this order.
fn ask(event: &str, context: &Value, bodies: &[&str]) -> Ran {
    let names: Vec<String> = (1..=bodies.len())
        .map(|number| format!("{number}-hook"))
        .collect();
    let all: Vec<_> = names
        .iter()
        .zip(bodies)
        .map(|(name, body)| (event, &**name, *body))
        .collect();
    hooks(&all).ask("omp", event, context)
}

// Event surfaces.

#[test]
fn an_input_is_taken_or_rewritten_by_its_result_alone() {
    let (upper, takes) = (
        says(json!({ "text": "HI" })),
        says(json!({ "handled": true })),
    );
    let ran = ask(
        "input",
        &json!({ "text": "hi" }),
        &[&upper, &takes, "echo no >&2; exit 2"],
    );
    ran.allows_with(json!({ "handled": true, "text": "HI" }));

    let passes = says(json!({ "handled": false }));
    let changes = says(json!({ "text": "HI", "images": [] }));
    let prompt = json!({ "text": "hi", "images": [{ "data": "x" }] });
    let ran = ask("input", &prompt, &[&passes, &changes]);
    ran.allows_with(json!({ "handled": false, "text": "HI", "images": [] }));
}

#[test]
fn every_event_reaches_its_hooks_as_the_host_tells_it() {
    let asked = ASKED.iter().map(|(event, context, _)| (*event, *context));
    for (event, context) in OBSERVED.iter().chain(BEFORE).copied().chain(asked) {
        let sandbox = hooks(&[(event, "see", "cat > seen.json")]);
        sandbox.ask("omp", event, &value(context)).allows();
        let mut wanted = value(context);
        wanted["type"] = event.into();
        assert_eq!(sandbox.read_json("seen.json"), wanted, "{event}");
    }
}

#[test]
fn an_event_that_is_only_observed_cannot_be_blocked() {
    for (event, context) in OBSERVED {
        let ran = ask(
            event,
            &value(context),
            &["echo no >&2; exit 2", "touch \"$HOME/later\""],
        );
        ran.allows()
            .says("objects (this event cannot be blocked): no");
    }
}

#[test]
fn session_before_events_can_be_cancelled() {
    for (event, context) in BEFORE {
        let cancel = json!({ "cancel": true });
        ask(event, &value(context), &[&says(cancel.clone())]).blocks_with(cancel);
        ask(event, &value(context), &[&says(json!({ "cancel": false }))]).allows();
    }
}

#[test]
fn the_result_of_an_event_is_given_to_the_host_as_it_was_returned() {
    for (event, context, result) in ASKED {
        ask(event, &value(context), &[&says(result)]).allows_with(value(result));
    }
}

#[test]
fn an_event_of_a_real_client_is_read() {
    // Both the bridge's and its own name for it, and keys that the document does not have.
    let context = json!({
        "event": "before_agent_start", "type": "before_agent_start", "cwd": "/",
        "prompt": "please say hello", "systemPrompt": ["one", "two"],
    });
    let sandbox = hooks(&[("before_agent_start", "see", "cat > \"$HOME/seen\"")]);
    sandbox.ask("omp", "before_agent_start", &context).allows();
    assert_eq!(
        sandbox.read_json("home/seen")["systemPrompt"],
        json!(["one", "two"])
    );
}

// tool_call.

#[test]
fn if_any_handler_returns_block_execution_stops_with_its_reason() {
    let block = json!({ "block": true, "reason": "blocked by policy" });
    let ran = ask(
        "tool_call",
        &tool_call("rm -rf /"),
        &["exit 0", &says(block.clone())],
    );
    ran.blocks_with(block).says("blocked by policy");
}

#[test]
fn of_tool_call_results_the_last_one_wins_unless_one_blocks() {
    let pass = says(json!({ "block": false, "reason": "fine" }));
    ask("tool_call", &tool_call("ls"), &[&pass, &says("{}"), &pass]).allows();
    let block = json!({ "block": true, "reason": "no" });
    ask(
        "tool_call",
        &tool_call("ls"),
        &[&pass, &says(block.clone()), &pass],
    )
    .blocks_with(block);
}

#[test]
fn the_first_block_short_circuits() {
    let one = says(json!({ "block": true, "reason": "one" }));
    let two = says(json!({ "block": true, "reason": "two" }));
    let sandbox = hooks(&[("tool_call", "1", &one), ("tool_call", "2", &two)]);
    let sandbox = sandbox.hook_of("omp", "tool_call", "3", "touch later");
    let ran = sandbox.ask("omp", "tool_call", &tool_call("ls"));
    ran.blocks_with(json!({ "block": true, "reason": "one" }));
    sandbox.has_no_file("later");
}

#[test]
fn if_a_handler_throws_it_fails_closed_and_blocks_execution() {
    for (throws, words) in [
        (
            "echo 'no policy file' >&2; exit 1",
            "exited with status 1: no policy file",
        ),
        ("kill -SEGV $$", "killed by SIGSEGV"),
        ("echo '{\"blok\":true}'", "unknown key `blok`"),
        (
            "# hookrun: timeout=100ms\nsleep 30",
            "timed out after 100ms",
        ),
    ] {
        let ran = ask("tool_call", &tool_call("ls"), &[throws, "exit 0"]);
        ran.exits(2)
            .says(words)
            .says("(fail closed)")
            .prints("\"block\":true");
    }
}

#[test]
fn a_tool_call_hook_changes_the_input_by_its_result() {
    // The last result counts, and every hook sees the event as it came.
    let changed = |command: &str| says(json!({ "input": { "command": command } }));
    let sandbox = hooks(&[
        ("tool_call", "1-change", &changed("ls -l")),
        ("tool_call", "2-see", "cat > seen.json"),
        ("tool_call", "3-change", &changed("ls -a")),
    ]);
    let ran = sandbox.ask("omp", "tool_call", &tool_call("ls"));
    ran.allows_with(json!({ "input": { "command": "ls -a" } }));
    assert_eq!(
        sandbox.read_json("seen.json")["input"],
        json!({ "command": "ls" })
    );
    let update = says(json!({ "update": { "toolInput": { "command": "id" } } }));
    let sandbox = Sandbox::new().hook("change", &format!("# hookrun: rewrite\n{update}"));
    let ran = sandbox.ask("omp", "tool_call", &tool_call("ls"));
    ran.allows_with(json!({ "input": { "command": "id" } }));
}

/// What its client sends when the agent is about to stop.
fn session_stop(is_active: bool) -> Value {
    json!({
        "type": "session_stop", "messages": [], "turn_id": 1, "session_id": "s-1",
        "last_assistant_message": { "role": "assistant", "content": [{ "type": "text", "text": "done" }] },
        "stop_hook_active": is_active,
    })
}

#[test]
fn a_session_stop_passes_without_hooks_and_is_blocked_in_its_own_words() {
    let ask = |sandbox: &Sandbox| sandbox.ask("omp", "session_stop", &session_stop(false));
    ask(&Sandbox::new()).allows();
    let own = Sandbox::new().hook_for("agent.stop", "tests", "echo 'run the tests' >&2; exit 1");
    ask(&own).blocks_with(json!({ "decision": "block", "reason": "run the tests" }));
    for result in [
        json!({ "decision": "block", "reason": "run the tests" }),
        json!({ "continue": true, "reason": "run the tests" }),
    ] {
        let theirs = hooks(&[("session_stop", "tests", &says(result))]);
        ask(&theirs).blocks_with(json!({ "decision": "block", "reason": "run the tests" }));
        theirs.run("agent.stop").exits(2);
    }
    // A hook that fails lets the agent stop, as everywhere.
    ask(&hooks(&[("session_stop", "tests", "kill -9 $$")]))
        .allows()
        .says("(fail open)");
    let seen = hooks(&[("session_stop", "see", "cat > seen.json")]);
    seen.ask("omp", "session_stop", &session_stop(true));
    let seen = seen.read_json("seen.json");
    assert_eq!(
        (&seen["stop_hook_active"], &seen["turn_id"]),
        (&json!(true), &json!(1))
    );
    let ours = Sandbox::new().hook_for("agent.stop", "see", "cat > seen.json");
    ours.ask("omp", "session_stop", &session_stop(true))
        .allows();
    let seen = ours.read_json("seen.json");
    assert_eq!(
        (&seen["stopHookActive"], &seen["sessionId"]),
        (&json!(true), &json!("s-1"))
    );
}

#[test]
fn a_tool_call_may_take_as_long_as_a_person_does() {
    let sandbox = hooks(&[
        ("tool_call", "ask", "exit 0"),
        ("tool_result", "see", "exit 0"),
    ]);
    let timeouts = sandbox.json(&["list", "--format", "json"])["hooks"].clone();
    let of = |event: &str| {
        let all = timeouts.as_array().unwrap().iter();
        all.filter(|hook| hook["event"] == event)
            .map(|hook| hook["rules"][0]["timeoutMs"].as_u64())
            .next()
    };
    assert_eq!(of("tool.pre"), Some(Some(u64::MAX)));
    assert_eq!(of("tool.post"), Some(Some(5000)));
    // A budget ends it all the same, and then it is refused.
    let sandbox = hooks(&[("tool_call", "ask", "sleep 60")]);
    let arguments = ["run", "tool_call", "--host", "omp", "--budget", "300ms"];
    let ran = sandbox.hookrun(&arguments, tool_call("ls").to_string().as_bytes());
    ran.exits(2)
        .says("the budget of 300ms was used up")
        .prints("\"block\":true");
}

// tool_result.

#[test]
fn content_and_details_can_replace_those_of_the_result() {
    let content = json!({ "content": [{ "type": "text", "text": "new" }] });
    ask("tool_result", &tool_result(), &[&says(content.clone())]).allows_with(content);
    let details = json!({ "details": { "n": 2 } });
    ask("tool_result", &tool_result(), &[&says(details.clone())]).allows_with(details);
}

#[test]
fn the_last_returned_override_wins_as_a_whole_and_nothing_short_circuits() {
    let content = says(json!({ "content": [] }));
    let details = says(json!({ "details": { "n": 2 } }));
    ask("tool_result", &tool_result(), &[&content, &details])
        .allows_with(json!({ "details": { "n": 2 } }));
    ask("tool_result", &tool_result(), &[&details, &content]).allows_with(json!({ "content": [] }));
    // Nothing returned is no result; an empty one is.
    ask("tool_result", &tool_result(), &[&content, "exit 0"]).allows_with(json!({ "content": [] }));
    ask("tool_result", &tool_result(), &[&content, &says("{}")]).allows();
}

#[test]
fn every_handler_gets_the_event_as_it_came() {
    let sandbox = hooks(&[
        ("tool_result", "1", &says(json!({ "content": [] }))),
        ("tool_result", "2", "cat > seen.json"),
    ]);
    sandbox
        .ask("omp", "tool_result", &tool_result())
        .allows_with(json!({ "content": [] }));
    assert_eq!(
        sandbox.read_json("seen.json")["content"],
        tool_result()["content"]
    );
}

#[test]
fn a_hook_of_ours_that_says_nothing_new_keeps_an_override() {
    let sandbox = hooks(&[("tool_result", "1-redact", &says(json!({ "content": [] })))]).hook_for(
        "tool.post",
        "2-log",
        &says(json!({ "output": "logged" })),
    );
    let ran = sandbox.ask("omp", "tool_result", &tool_result());
    ran.allows_with(json!({ "content": [] })).says("logged");
}

#[test]
fn a_failed_tool_is_told_with_its_error_and_stays_failed() {
    let mut context = tool_result();
    context["isError"] = true.into();
    context["content"] = json!([{ "type": "text", "text": "no such file" }]);
    let sandbox = hooks(&[
        ("tool_result", "1", "cat > seen.json"),
        ("tool_result", "2", &says(json!({ "isError": false }))),
    ]);
    // `isError` is typed there and not applied.
    sandbox.ask("omp", "tool_result", &context).allows();
    assert_eq!(sandbox.read_json("seen.json")["isError"], true);
    assert_eq!(
        sandbox.read_json("seen.json")["content"],
        context["content"]
    );
}

// Ordering and conflict behaviour.

#[test]
fn context_is_chained() {
    let first = json!({ "messages": [{ "role": "user", "content": "1" }] });
    let second = json!({ "messages": [{ "role": "user", "content": "2" }] });
    let sandbox = hooks(&[
        ("context", "1", &says(first.clone())),
        (
            "context",
            "2",
            &format!("cat > seen.json; {}", says(second.clone())),
        ),
        ("context", "3", "exit 0"),
    ]);
    sandbox
        .ask("omp", "context", &json!({ "messages": [] }))
        .allows_with(second);
    assert_eq!(
        sandbox.read_json("seen.json")["messages"],
        first["messages"]
    );
}

#[test]
fn of_before_agent_start_the_first_returned_message_is_kept_and_later_ones_are_ignored() {
    let message = |text: &str| json!({ "message": { "customType": "note", "content": text } });
    let (one, two) = (says(message("one")), says(message("two")));
    let ran = ask(
        "before_agent_start",
        &json!({ "prompt": "hi" }),
        &["exit 0", &one, &two],
    );
    ran.allows_with(message("one"));
}

#[test]
fn of_session_before_results_the_latest_is_tracked() {
    let first = says(json!({ "compaction": { "summary": "1" } }));
    let second = json!({ "compaction": { "summary": "2" } });
    ask(
        "session_before_compact",
        &json!({}),
        &[&first, &says(second.clone()), "exit 0"],
    )
    .allows_with(second);
    // The latest counts as a whole.
    ask(
        "session_before_compact",
        &json!({}),
        &[&first, &says(json!({ "cancel": false }))],
    )
    .allows();
}

#[test]
fn cancel_short_circuits_immediately() {
    for (event, context) in BEFORE {
        let cancel = says(json!({ "cancel": true }));
        let sandbox = hooks(&[(event, "1", &cancel), (event, "2", "touch later")]);
        let ran = sandbox.ask("omp", event, &value(context));
        ran.blocks_with(json!({ "cancel": true }));
        sandbox.has_no_file("later");
    }
}

#[test]
fn of_session_compacting_the_latest_returned_result_wins() {
    let first = says(json!({ "context": ["one"], "prompt": "one" }));
    let second = json!({ "prompt": "two" });
    ask(
        "session.compacting",
        &json!({ "sessionId": "s-1" }),
        &[&first, &says(second.clone())],
    )
    .allows_with(second);
}

#[test]
fn handlers_run_in_a_stated_order() {
    let see = "echo \"$HOOKRUN_HOOK\" >> order";
    let sandbox = hooks(&[("turn_start", "b", see), ("turn_start", "a", see)]);
    sandbox
        .ask("omp", "turn_start", &json!({ "turnIndex": 0 }))
        .allows();
    assert_eq!(sandbox.read("order"), "a\nb\n");
}

// Error propagation.

#[test]
fn errors_of_other_events_are_reported_and_passed_on() {
    let asked = ASKED.iter().map(|(event, context, _)| (*event, *context));
    for (event, context) in OBSERVED.iter().chain(BEFORE).copied().chain(asked) {
        let throws = "echo 'it broke' >&2; exit 1";
        let sandbox = hooks(&[(event, "1-throw", throws), (event, "2-see", "touch later")]);
        let ran = sandbox.ask("omp", event, &value(context));
        ran.allows()
            .says("hook `1-throw` failed: exited with status 1: it broke");
        sandbox.has_file("later");
    }
}

#[test]
fn what_a_handler_wrote_before_it_threw_is_no_result() {
    let throws = format!("{}; exit 1", says(json!({ "content": [] })));
    ask("tool_result", &tool_result(), &[&throws])
        .allows()
        .says("exited with status 1");
}

#[test]
fn a_block_counts_even_if_the_handler_then_throws() {
    let throws = format!("{}; exit 1", says(json!({ "cancel": true })));
    let ran = ask("session_before_tree", &json!({}), &[&throws]);
    ran.blocks_with(json!({ "cancel": true }));
}

// hookrun's own hooks in oh-my-pi.

#[test]
fn our_hooks_decide_in_a_host_of_oh_my_pi() {
    let sandbox = Sandbox::new()
        .hook("guard", "echo 'not here' >&2; exit 1")
        .hook_for("session.switch.pre", "stay", "echo 'stay' >&2; exit 1")
        .hook_for(
            "tool.post",
            "redact",
            &format!(
                "# hookrun: rewrite\n{}",
                says(json!({ "update": { "result": [] } }))
            ),
        );
    let ran = sandbox.ask("omp", "tool_call", &tool_call("ls"));
    ran.blocks_with(json!({ "block": true, "reason": "not here" }));
    let ran = sandbox.ask("omp", "session_before_switch", &json!({ "reason": "new" }));
    ran.blocks_with(json!({ "cancel": true })).says("stay");
    sandbox
        .ask("omp", "tool_result", &tool_result())
        .allows_with(json!({ "content": [] }));
}

#[test]
fn our_hooks_read_the_facts_under_their_own_names() {
    let sandbox = Sandbox::new().hook_for("session.switch.pre", "see", "cat > seen.json");
    let context = json!({ "reason": "resume", "targetSessionFile": "/s/2.jsonl" });
    sandbox
        .ask("omp", "session_before_switch", &context)
        .allows();
    let seen = sandbox.read_json("seen.json");
    assert_eq!(seen["targetSession"], "/s/2.jsonl");
    assert_eq!(seen["event"], "session.switch.pre");
}

// oh-my-pi's hooks elsewhere.

#[test]
fn hooks_of_oh_my_pi_decide_in_other_hosts() {
    let sandbox = hooks(&[
        (
            "tool_call",
            "guard",
            &says(json!({ "block": true, "reason": "no" })),
        ),
        (
            "tool_result",
            "redact",
            &says(json!({ "content": "hidden", "isError": true })),
        ),
        (
            "session_before_compact",
            "own",
            &says(json!({ "compaction": { "summary": "s" } })),
        ),
        (
            "before_agent_start",
            "add",
            &says(json!({ "message": { "content": "a" } })),
        ),
        ("context", "throw", "exit 1"),
    ]);
    let run = |event: &str, context: Value| {
        sandbox.hookrun(&["run", event], context.to_string().as_bytes())
    };
    sandbox.run_shell("ls").blocks("no");
    run(
        "tool.post",
        json!({ "toolName": "read", "result": "secret", "isError": false }),
    )
    .allows_with(json!({ "update": { "result": "hidden" } }));
    run("compact.pre", json!({}))
        .allows_with(json!({ "update": { "compaction": { "summary": "s" } } }));
    run("agent.start", json!({}))
        .allows_with(json!({ "update": { "messages": [{ "content": "a" }] } }));
    run("model.pre", json!({ "messages": [] }))
        .allows()
        .says("exited with status 1");
}

#[test]
fn a_patch_of_a_hook_of_wolli_is_made_here_too() {
    let patch = says(json!({ "input": { "command": "ls -l" } }));
    let sandbox = Sandbox::new().hook_of("wolli", "tool_call", "patch", &patch);
    let ran = sandbox.ask("omp", "tool_call", &tool_call("ls"));
    ran.allows_with(json!({ "input": { "command": "ls -l" } }));
    // One that throws fails open, as at home.
    let sandbox =
        Sandbox::new().hook_of("wolli", "tool_call", "patch", &format!("{patch}; exit 1"));
    sandbox
        .ask("omp", "tool_call", &tool_call("ls"))
        .exits(0)
        .says("(fail open)");
}

#[test]
fn a_hook_of_oh_my_pi_that_throws_blocks_a_tool_call_everywhere() {
    let sandbox = hooks(&[("tool_call", "guard", "exit 1")]);
    sandbox
        .run_shell("ls")
        .blocks("hook `guard` failed: exited with status 1 (fail closed)");
    sandbox
        .ask("wolli", "tool_call", &tool_call("ls"))
        .exits(2)
        .says("(fail closed)");
}
