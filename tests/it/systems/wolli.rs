//! wolli's "Hooks" document, sentence by sentence: hooks of wolli and hookrun's own in a host that
//! speaks wolli, and wolli's hooks in other hosts. What differs on purpose stands in
//! `docs/systems.md`.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// The eight events, each as wolli tells it, and with a new value in a result.
fn events() -> [(&'static str, Value, Value); 8] {
    [
        (
            "tool_call",
            json!({ "toolName": "bash", "toolCallId": "c-1", "input": { "command": "ls" } }),
            json!({ "input": { "command": "ls -l" } }),
        ),
        (
            "tool_result",
            json!({
                "toolName": "bash", "toolCallId": "c-1", "input": { "command": "ls" },
                "content": [{ "type": "text", "text": "a" }], "details": { "n": 1 },
                "isError": false,
            }),
            json!({ "content": [], "details": null, "isError": true }),
        ),
        (
            "input",
            json!({ "text": "hello", "images": [{ "type": "image" }], "source": "interactive" }),
            json!({ "action": "transform", "text": "goodbye" }),
        ),
        (
            "context",
            json!({ "messages": [{ "role": "user", "content": "hello" }] }),
            json!({ "messages": [] }),
        ),
        (
            "provider_request",
            json!({ "payload": { "model": "m", "temperature": 1 } }),
            json!({ "model": "m", "temperature": 0 }),
        ),
        (
            "agent_start",
            json!({ "prompt": "hello", "systemPrompt": "Be brief.", "systemPromptOptions": {} }),
            json!({ "systemPrompt": "Be long." }),
        ),
        (
            "compact",
            json!({ "preparation": { "tokensBefore": 9 }, "branchEntries": [{ "id": "e-1" }] }),
            json!({ "cancel": true }),
        ),
        (
            "message_end",
            json!({ "message": { "role": "assistant", "content": "hello" } }),
            json!({ "message": { "role": "assistant", "content": "goodbye" } }),
        ),
    ]
}

fn tool_call(command: &str) -> Value {
    json!({ "toolName": "bash", "toolCallId": "c-1", "input": { "command": command } })
}

/// A line of shell that answers with this result.
fn says(result: Value) -> String {
    format!("printf '%s\\n' '{result}'")
}

/// The same, after the event was written to a file.
fn sees_and_says(file: &str, result: Value) -> String {
    format!("cat > {file}; {}", says(result))
}

/// A sandbox with hooks of wolli: event, name, body.
fn hooks(all: &[(&str, &str, &str)]) -> Sandbox {
    all.iter()
        .fold(Sandbox::new(), |sandbox, (event, name, body)| {
            sandbox.hook_of("wolli", event, name, body)
        })
}

/// The report of a host that speaks wolli.
fn report(sandbox: &Sandbox, event: &str, context: &Value) -> Value {
    let arguments = ["run", event, "--host", "wolli", "--format", "json"];
    let ran = sandbox.hookrun(&arguments, context.to_string().as_bytes());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

// Events.

#[test]
fn each_event_hands_the_handler_the_value_about_to_take_effect() {
    for (event, context, _) in events() {
        let sandbox = hooks(&[(event, "see", "cat > seen.json")]);
        sandbox.ask("wolli", event, &context).allows();
        let mut wanted = context.clone();
        wanted["type"] = event.into();
        assert_eq!(sandbox.read_json("seen.json"), wanted, "{event}");
    }
}

#[test]
fn each_event_takes_a_typed_decision_back() {
    for (event, context, result) in events() {
        let sandbox = hooks(&[(event, "decide", &says(result.clone()))]);
        let ran = sandbox.ask("wolli", event, &context);
        match event {
            "compact" => ran.blocks_with(result),
            // `null` is as good as nothing.
            "tool_result" => ran.allows_with(json!({ "content": [], "isError": true })),
            _ => ran.allows_with(result),
        };
    }
}

#[test]
fn returning_nothing_lets_the_event_through_untouched() {
    for (event, context, _) in events() {
        let sandbox = hooks(&[(event, "a", "exit 0"), (event, "b", "true")]);
        let ran = sandbox.ask("wolli", event, &context);
        assert_eq!(
            (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", "")
        );
    }
}

#[test]
fn an_event_may_come_under_the_name_that_wolli_gives_it_inside() {
    for (event, name) in [
        ("provider_request", "before_provider_request"),
        ("agent_start", "before_agent_start"),
        ("compact", "session_before_compact"),
    ] {
        let sandbox = hooks(&[(event, "see", "cat > seen.json")]);
        sandbox
            .ask("wolli", event, &json!({ "type": name }))
            .allows();
        assert_eq!(sandbox.read_json("seen.json"), json!({ "type": event }));
    }
}

#[test]
fn a_hook_cannot_bind_on() {
    let manifest = "[[hook]]\nname = \"watch\"\nevent = \"tool_execution_end\"\n\
         command = \"true\"\ndialect = \"wolli\"\n";
    let sandbox = Sandbox::new().file("hookrun.toml", manifest);
    let found = sandbox.problems(&[]).join("\n");
    assert!(
        found.contains("`tool_execution_end` is not an event of wolli"),
        "{found}"
    );
}

#[test]
fn a_misspelt_event_is_rejected_at_load() {
    let manifest = "[[hook]]\nname = \"guard\"\nevent = \"tool_cal\"\n\
         command = \"true\"\ndialect = \"wolli\"\n";
    let in_table = Sandbox::new().file("hookrun.toml", manifest);
    let found = in_table.problems(&[]).join("\n");
    assert!(found.contains("`tool_cal` is not an event of wolli [did you mean `tool_call`?]"));
    let in_folder = hooks(&[("tool_cal", "guard", "exit 2")]);
    let found = in_folder.problems(&[]).join("\n");
    assert!(found.contains("unknown event `tool_cal`"), "{found}");
    // Whether it would have refused nobody knows, so the gates are closed until it is mended.
    for sandbox in [in_table, in_folder] {
        sandbox
            .ask("wolli", "tool_call", &tool_call("ls"))
            .exits(2)
            .says("everything is blocked");
    }
}

// tool_call.

#[test]
fn a_tool_call_is_stopped_with_a_reason() {
    let result = json!({ "block": true, "reason": "destructive command blocked" });
    let sandbox = hooks(&[("tool_call", "guard", &says(result.clone()))]);
    let ran = sandbox.ask("wolli", "tool_call", &tool_call("rm -rf /"));
    ran.blocks_with(result).says("destructive command blocked");
}

#[test]
fn a_block_needs_no_reason_and_false_is_none() {
    let sandbox = hooks(&[("tool_call", "guard", &says(json!({ "block": true })))]);
    let reason = "blocked without a reason";
    let ran = sandbox.ask("wolli", "tool_call", &tool_call("ls"));
    ran.blocks_with(json!({ "block": true, "reason": reason }));
    let sandbox = hooks(&[("tool_call", "guard", &says(json!({ "block": false })))]);
    sandbox.ask("wolli", "tool_call", &tool_call("ls")).allows();
}

#[test]
fn later_hooks_and_the_executor_see_a_change_of_the_input() {
    let patched = json!({ "command": "ls", "timeout": 10 });
    let sandbox = hooks(&[
        (
            "tool_call",
            "10-patch",
            &says(json!({ "input": patched.clone() })),
        ),
        ("tool_call", "20-see", "cat > seen.json"),
    ]);
    let ran = sandbox.ask("wolli", "tool_call", &tool_call("ls"));
    ran.allows_with(json!({ "input": patched.clone() }));
    assert_eq!(sandbox.read_json("seen.json")["input"], patched);
}

#[test]
fn a_guard_judges_the_command_as_an_earlier_hook_left_it() {
    let sandbox = hooks(&[(
        "tool_call",
        "10-patch",
        &says(json!({ "input": { "command": "rm -rf /" } })),
    )])
    .hook(
        "20-guard",
        "case \"$HOOKRUN_ACTION_COMMAND\" in *rm*) echo no >&2; exit 1;; esac",
    );
    let ran = sandbox.ask("wolli", "tool_call", &tool_call("ls"));
    ran.blocks_with(json!({ "block": true, "reason": "no" }));
}

// Chains and short-circuits.

#[test]
fn hooks_of_one_event_run_in_the_order_of_their_file_names() {
    let names = ["20-b", "10-c", "a", "30-a", "Z"];
    let all: Vec<_> = names
        .map(|name| ("context", name, "echo \"$HOOKRUN_HOOK\" >> order"))
        .into();
    let sandbox = hooks(&all);
    sandbox
        .ask("wolli", "context", &json!({ "messages": [] }))
        .allows();
    assert_eq!(sandbox.read("order"), "10-c\n20-b\n30-a\nZ\na\n");
}

#[test]
fn patches_accumulate_down_the_chain() {
    let sandbox = hooks(&[
        (
            "tool_result",
            "10-content",
            &says(json!({ "content": [{ "type": "text" }] })),
        ),
        (
            "tool_result",
            "20-details",
            &sees_and_says("seen.json", json!({ "details": { "n": 2 } })),
        ),
        ("tool_result", "30-error", &says(json!({ "isError": true }))),
    ]);
    let (_, context, _) = events()[1].clone();
    sandbox.ask("wolli", "tool_result", &context).allows_with(
        json!({ "content": [{ "type": "text" }], "details": { "n": 2 }, "isError": true }),
    );
    assert_eq!(
        sandbox.read_json("seen.json")["content"],
        json!([{ "type": "text" }])
    );
    assert_eq!(sandbox.read_json("seen.json")["details"], json!({ "n": 1 }));
}

#[test]
fn an_input_hook_that_rewrites_text_hands_the_next_hook_the_rewritten_text() {
    let sandbox = hooks(&[
        (
            "input",
            "10-a",
            &says(json!({ "action": "transform", "text": "one" })),
        ),
        (
            "input",
            "20-b",
            &sees_and_says("seen", json!({ "action": "transform", "text": "two" })),
        ),
    ]);
    let ran = sandbox.ask(
        "wolli",
        "input",
        &json!({ "text": "zero", "source": "rpc" }),
    );
    ran.allows_with(json!({ "action": "transform", "text": "two" }));
    let seen = json!({ "type": "input", "text": "one", "source": "rpc" });
    assert_eq!(sandbox.read_json("seen"), seen);
}

#[test]
fn an_input_hook_may_rewrite_the_images_too() {
    let result = json!({ "action": "transform", "text": "hello", "images": [] });
    let sandbox = hooks(&[("input", "strip", &says(result.clone()))]);
    let context = json!({ "text": "hello", "images": [{ "type": "image", "data": "" }] });
    sandbox.ask("wolli", "input", &context).allows_with(result);
}

#[test]
fn a_message_array_and_a_payload_are_handed_down_the_chain() {
    let message = json!({ "role": "user", "content": "new" });
    let sandbox = hooks(&[
        (
            "context",
            "10-a",
            &says(json!({ "messages": [message.clone()] })),
        ),
        ("context", "20-b", "cat > context.json"),
        (
            "provider_request",
            "10-a",
            &says(json!({ "model": "other" })),
        ),
        ("provider_request", "20-b", "cat > request.json"),
    ]);
    let ran = sandbox.ask("wolli", "context", &json!({ "messages": [] }));
    ran.allows_with(json!({ "messages": [message.clone()] }));
    assert_eq!(
        sandbox.read_json("context.json")["messages"],
        json!([message])
    );
    let ran = sandbox.ask(
        "wolli",
        "provider_request",
        &json!({ "payload": { "model": "m" } }),
    );
    ran.allows_with(json!({ "model": "other" }));
    assert_eq!(
        sandbox.read_json("request.json")["payload"],
        json!({ "model": "other" })
    );
}

#[test]
fn a_terminal_decision_short_circuits_the_rest_of_the_chain() {
    for (event, result) in [
        ("tool_call", json!({ "block": true, "reason": "no" })),
        ("compact", json!({ "cancel": true })),
        ("input", json!({ "action": "handled" })),
    ] {
        let terminal = says(result.clone());
        let sandbox = hooks(&[
            (event, "10-end", &terminal),
            (event, "20-later", "touch later"),
        ]);
        let ran = sandbox.ask("wolli", event, &json!({}));
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(said, result, "{ran:?}");
        sandbox.has_no_file("later");
    }
}

#[test]
fn an_input_that_is_handled_is_no_block_and_continue_is_no_opinion() {
    let handled = json!({ "action": "handled" });
    let sandbox = hooks(&[("input", "take", &says(handled.clone()))]);
    sandbox
        .ask("wolli", "input", &json!({ "text": "!ls" }))
        .allows_with(handled);
    let sandbox = hooks(&[(
        "input",
        "pass",
        &says(json!({ "action": "continue", "text": "x" })),
    )]);
    sandbox
        .ask("wolli", "input", &json!({ "text": "hello" }))
        .allows();
}

#[test]
fn agent_start_accumulates_every_message_and_the_last_system_prompt_wins() {
    let message = |text: &str| json!({ "customType": "note", "content": text });
    let result = |text: &str| json!({ "message": message(text), "systemPrompt": text });
    let sandbox = hooks(&[
        ("agent_start", "10-a", &says(result("a"))),
        (
            "agent_start",
            "20-b",
            &sees_and_says("seen.json", json!({ "message": message("b") })),
        ),
        ("agent_start", "30-c", &says(json!({ "systemPrompt": "c" }))),
    ]);
    let ran = sandbox.ask(
        "wolli",
        "agent_start",
        &json!({ "prompt": "hi", "systemPrompt": "0" }),
    );
    ran.allows_with(json!({ "messages": [message("a"), message("b")], "systemPrompt": "c" }));
    assert_eq!(sandbox.read_json("seen.json")["systemPrompt"], "a");
}

#[test]
fn a_single_message_of_agent_start_is_given_as_one() {
    let result = json!({ "message": { "customType": "note", "content": "a" } });
    let sandbox = hooks(&[("agent_start", "a", &says(result.clone()))]);
    sandbox
        .ask("wolli", "agent_start", &json!({ "prompt": "hi" }))
        .allows_with(result);
}

#[test]
fn a_change_of_role_is_rejected_and_the_chain_moves_on() {
    let said = |role: &str, text: &str| json!({ "message": { "role": role, "content": text } });
    let sandbox = hooks(&[
        ("message_end", "10-role", &says(said("user", "wrong"))),
        (
            "message_end",
            "20-text",
            &sees_and_says("seen.json", said("assistant", "right")),
        ),
    ]);
    let context = said("assistant", "first");
    sandbox
        .ask("wolli", "message_end", &context)
        .says("cannot change `message`: its role must stay \"assistant\"")
        .allows_with(said("assistant", "right"));
    assert_eq!(
        sandbox.read_json("seen.json")["message"],
        context["message"]
    );
    let report = report(&sandbox, "message_end", &context);
    assert_eq!(
        report["rewrites"][0]["rejected"],
        "its role must stay \"assistant\""
    );
}

// Failure.

/// Hooks of which the first one fails, and what the host gets.
fn after_a_failure(failing: &str) -> (Sandbox, Ran) {
    let sandbox = hooks(&[
        ("tool_call", "10-fail", failing),
        ("tool_call", "20-next", "cat > seen"),
    ]);
    let ran = sandbox.ask("wolli", "tool_call", &tool_call("ls"));
    (sandbox, ran)
}

#[test]
fn a_hook_that_throws_fails_open_and_the_error_is_reported() {
    let (sandbox, ran) = after_a_failure("echo 'no policy file' >&2; exit 1");
    let words = "hook `10-fail` failed: exited with status 1: no policy file (fail open)\n";
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", words)
    );
    sandbox.has_file("seen");
}

#[test]
fn the_chain_goes_on_with_the_event_as_the_throwing_hook_left_it() {
    let patch = json!({ "input": { "command": "ls -l" } });
    let (sandbox, ran) = after_a_failure(&format!("{}; exit 1", says(patch.clone())));
    ran.allows_with(patch.clone()).says("(fail open)");
    assert_eq!(sandbox.read_json("seen")["input"], patch["input"]);
}

#[test]
fn what_a_throwing_hook_left_half_written_or_of_another_type_is_left_alone() {
    for left in [
        r#"{"input":{"command":"#,
        r#"{"input":"ls -l"}"#,
        r#"{"input":{}}{"input":{}}"#,
    ] {
        let (sandbox, ran) = after_a_failure(&format!("printf '%s' '{left}'; exit 1"));
        ran.allows().says("(fail open)");
        assert_eq!(
            sandbox.read_json("seen")["input"],
            json!({ "command": "ls" })
        );
    }
}

#[test]
fn a_broken_hook_cannot_break_the_turn() {
    for (broken, words) in [
        ("kill -SEGV $$", "killed by SIGSEGV"),
        (
            "# hookrun: timeout=100ms\nsleep 30",
            "timed out after 100ms",
        ),
        ("echo '{\"blok\":true}'", "unknown key `blok`"),
        ("echo '{\"block\":'", "malformed answer"),
    ] {
        let (sandbox, ran) = after_a_failure(broken);
        ran.allows().says(words).says("(fail open)");
        sandbox.has_file("seen");
    }
    let missing = Sandbox::new()
        .hook_of("wolli", "tool_call", "10-fail", "exit 0")
        .script(
            "hooks.d/tool_call/20-fail",
            "#!/no/such/program\n# hookrun: dialect=wolli\n",
        );
    let ran = missing.ask("wolli", "tool_call", &tool_call("ls"));
    ran.allows().says("never ran").says("(fail open)");
}

#[test]
fn a_block_counts_whatever_happens_to_the_hook_that_says_it() {
    let block = says(json!({ "block": true, "reason": "no" }));
    for refusing in [
        format!("{block}; exit 1"),
        format!("{block}; exit 2"),
        format!("echo starting; {block}; echo done"),
        "echo no >&2; exit 2".to_string(),
    ] {
        let (sandbox, ran) = after_a_failure(&refusing);
        ran.blocks_with(json!({ "block": true, "reason": "no" }));
        sandbox.has_no_file("seen");
    }
}

// hookrun's own hooks in wolli.

#[test]
fn our_hooks_decide_in_a_host_of_wolli() {
    let result = |update: Value| says(json!({ "update": update }));
    let sandbox = Sandbox::new()
        .hook(
            "10-rewrite",
            &format!("# hookrun: rewrite\n{}", result(json!({ "toolInput": {} }))),
        )
        .hook_for("prompt.submit", "refuse", "echo 'not now' >&2; exit 1")
        .hook_for("compact.pre", "refuse", "echo 'not now' >&2; exit 1")
        .hook_for("tool.post", "refuse", "echo 'I object' >&2; exit 1");
    let ask = |event: &str, context: Value| sandbox.ask("wolli", event, &context);
    ask("tool_call", tool_call("ls")).allows_with(json!({ "input": {} }));
    // wolli cannot refuse an input; to take it keeps it from the model.
    ask("input", json!({ "text": "hi" })).blocks_with(json!({ "action": "handled" }));
    ask("compact", json!({}))
        .blocks_with(json!({ "cancel": true }))
        .says("not now");
    ask("tool_result", json!({})).allows().says("I object");
}

#[test]
fn a_failure_of_our_hook_fails_open_in_wolli_unless_it_says_block() {
    let sandbox = Sandbox::new().hook("guard", "kill -SEGV $$");
    sandbox
        .ask("wolli", "tool_call", &tool_call("ls"))
        .allows()
        .says("(fail open)");
    let sandbox = Sandbox::new().hook("guard", "# hookrun: on_failure=block\nkill -SEGV $$");
    sandbox
        .ask("wolli", "tool_call", &tool_call("ls"))
        .exits(2)
        .says("(fail closed)");
}

#[test]
fn a_question_is_blocked_where_nobody_can_be_asked() {
    let sandbox = Sandbox::new().hook("ask", &says(json!({ "ask": "really?" })));
    let ran = sandbox.ask("wolli", "tool_call", &tool_call("ls"));
    ran.exits(2).says("really?").prints("\"block\":true");
}

// wolli's hooks elsewhere.

#[test]
fn hooks_of_wolli_decide_in_other_hosts() {
    let sandbox = hooks(&[
        (
            "tool_call",
            "10-patch",
            &says(json!({ "input": { "command": "ls -l" } })),
        ),
        ("input", "take", &says(json!({ "action": "handled" }))),
        ("compact", "cancel", &says(json!({ "cancel": true }))),
        (
            "message_end",
            "keep",
            &says(json!({ "message": { "role": "user" } })),
        ),
        (
            "agent_start",
            "add",
            &says(json!({ "message": { "content": "a" } })),
        ),
    ]);
    let ask = |event: &str, context: Value| {
        sandbox.hookrun(&["run", event], context.to_string().as_bytes())
    };
    let shell = json!({ "toolName": "bash", "toolInput": { "command": "ls" } });
    ask("tool.pre", shell)
        .allows_with(json!({ "update": { "toolInput": { "command": "ls -l" } } }));
    ask("prompt.submit", json!({ "prompt": "hi" }))
        .allows_with(json!({ "update": { "handled": true } }));
    ask("compact.pre", json!({})).blocks("blocked without a reason");
    ask("message.end", json!({ "message": { "role": "assistant" } })).allows();
    ask("agent.start", json!({ "messages": [{ "content": "0" }] }))
        .allows_with(json!({ "update": { "messages": [{ "content": "0" }, { "content": "a" }] } }));
}

#[test]
fn a_hook_of_wolli_blocks_and_fails_open_in_a_native_host_as_at_home() {
    let sandbox = hooks(&[
        ("tool_call", "10-throw", "exit 1"),
        (
            "tool_call",
            "20-block",
            &says(json!({ "block": true, "reason": "no" })),
        ),
    ]);
    sandbox.run_shell("ls").blocks("no");
    let sandbox = hooks(&[("tool_call", "10-throw", "exit 1")]);
    sandbox.run_shell("ls").allows().says("(fail open)");
}
