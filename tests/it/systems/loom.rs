//! loom's "Hooks" document, sentence by sentence, through the binary. The differences on purpose
//! stand in `docs/systems.md`; the cases behind them are walked by `tests/it/loom.rs`.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// loom's events, in its order.
const EVENTS: &[&str] = &[
    "session.start",
    "user.prompt.submit",
    "tool.pre",
    "tool.post",
    "model.pre",
    "model.post",
    "session.end",
    "error",
];

/// Those of which a block is recorded, and nothing more.
const INFORMATIONAL: &[&str] = &[
    "session.start",
    "tool.post",
    "model.pre",
    "model.post",
    "session.end",
    "error",
];

/// A command hook: its name, its event, its command, further settings.
type Registered<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The context of an event as loom gives it.
fn context(event: &str) -> Value {
    match event {
        "session.start" => {
            json!({ "event": event, "turnIndex": 0, "sessionId": "s-1", "model": "some-model" })
        }
        "user.prompt.submit" => json!({ "event": event, "turnIndex": 0, "prompt": "say hello" }),
        "tool.post" => json!({
            "event": event, "turnIndex": 1, "toolName": "shell",
            "toolInput": { "command": "ls" }, "result": "a.txt", "isError": false,
        }),
        "model.pre" => {
            json!({ "event": event, "turnIndex": 1, "model": "some-model", "messageCount": 3 })
        }
        "model.post" => json!({
            "event": event, "turnIndex": 1, "model": "some-model", "stopReason": "end_turn",
            "inputTokens": 10, "outputTokens": 5, "costUsd": 0.5, "toolCallCount": 0,
        }),
        "session.end" => ended("end_turn"),
        "error" => {
            json!({ "event": event, "turnIndex": 2, "code": "UNKNOWN", "message": "it broke" })
        }
        _ => json!({
            "event": "tool.pre", "turnIndex": 1, "toolName": "shell",
            "toolInput": { "command": "ls" },
        }),
    }
}

fn ended(reason: &str) -> Value {
    json!({ "event": "session.end", "turnIndex": 4, "sessionId": "s-1", "reason": reason })
}

/// A folder with these command hooks, registered in this order: name, event, command.
fn registered(hooks: &[(&str, &str, &str)]) -> Sandbox {
    let rows: Vec<Registered<'_>> = hooks
        .iter()
        .map(|(name, event, command)| (*name, *event, *command, ""))
        .collect();
    registered_with(&rows)
}

/// As [`registered`], each with further settings.
fn registered_with(hooks: &[Registered<'_>]) -> Sandbox {
    let mut manifest = String::new();
    for (name, event, command, settings) in hooks {
        let command = Value::from(*command);
        manifest.push_str(&format!(
            "[[hook]]\nname = \"{name}\"\nevent = \"{event}\"\ncommand = {command}\nshell = true\n\
             dialect = \"loom\"\n{settings}\n"
        ));
    }
    Sandbox::new().file("hooks/hookrun.toml", &manifest)
}

/// `hookrun run` as loom would call it.
fn fire(sandbox: &Sandbox, context: &Value) -> Ran {
    let event = context["event"].as_str().unwrap();
    let arguments = ["run", event, "--host", "loom", "--hooks", "hooks"];
    sandbox.hookrun(&arguments, context.to_string().as_bytes())
}

/// The reminders of an event, without their tags.
fn reminders(sandbox: &Sandbox, event: &str) -> Vec<String> {
    let arguments = [
        "run", event, "--host", "loom", "--hooks", "hooks", "--format", "json",
    ];
    let ran = sandbox.hookrun(&arguments, context(event).to_string().as_bytes());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let body = |reminder: &Value| {
        let text = reminder["text"].as_str().unwrap();
        let text = text.strip_prefix("<system-reminder>\n").unwrap();
        text.strip_suffix("\n</system-reminder>")
            .unwrap()
            .to_string()
    };
    report["reminders"]
        .as_array()
        .unwrap()
        .iter()
        .map(body)
        .collect()
}

#[test]
fn hooks_for_an_event_run_in_registration_order() {
    let hooks: Vec<(&str, &str, &str)> = ["zoo", "bar", "foo"]
        .into_iter()
        .map(|name| (name, "tool.pre", "echo $HOOKRUN_HOOK >> order"))
        .collect();
    let sandbox = registered(&hooks);
    fire(&sandbox, &context("tool.pre")).allows();
    assert_eq!(sandbox.read("order"), "zoo\nbar\nfoo\n");
}

#[test]
fn the_first_continue_false_stops_the_chain() {
    for event in EVENTS {
        let sandbox = registered(&[
            ("first", event, "touch first"),
            (
                "guard",
                event,
                "echo '{\"continue\": false, \"reason\": \"no\"}'",
            ),
            ("third", event, "touch third"),
        ]);
        fire(&sandbox, &context(event));
        sandbox.has_file("first");
        sandbox.has_no_file("third");
    }
}

#[test]
fn the_event_context_arrives_as_json_on_stdin() {
    for event in EVENTS {
        let sandbox = registered(&[("look", event, "cat > seen")]);
        fire(&sandbox, &context(event)).allows();
        assert_eq!(sandbox.read("seen"), format!("{}\n", context(event)));
    }
}

#[test]
fn exit_0_allows_and_non_zero_blocks_with_stderr_as_the_reason() {
    let with = |command: &str| {
        let sandbox = registered(&[("check", "tool.pre", command)]);
        fire(&sandbox, &context("tool.pre"))
    };
    with("echo fine >&2; exit 0").allows();
    for status in [1, 2, 3, 99] {
        with(&format!("echo 'not here' >&2; exit {status}")).blocks("not here");
    }
}

#[test]
fn stdout_that_parses_as_json_is_a_structured_result() {
    let with = |answer: &str| {
        let sandbox = registered(&[("check", "tool.pre", &format!("echo '{answer}'"))]);
        fire(&sandbox, &context("tool.pre"))
    };
    with(r#"{"continue": false, "reason": "no"}"#).blocks("no");
    with(r#"{"output": "seen"}"#).allows_with(json!({ "output": "seen" }));
    with(r#"{"additionalContext": "now"}"#).allows_with(json!({ "additionalContext": "now" }));
    with("{}").allows();
}

#[test]
fn a_timeout_always_blocks_and_the_default_is_5_s() {
    let sandbox = registered(&[("slow", "tool.pre", "echo '{\"continue\": true}'; sleep 600")]);
    let ran = fire(&sandbox, &context("tool.pre"));
    ran.blocks("hook `slow` failed: timed out after 5s; to allow more, set its `timeout`, for example to `60s` (fail closed)");
}

#[test]
fn the_window_is_raised_per_hook() {
    let sandbox = registered_with(&[
        ("usual", "tool.pre", "echo $HOOKRUN_TIMEOUT_MS", ""),
        (
            "raised",
            "tool.pre",
            "echo $HOOKRUN_TIMEOUT_MS",
            "timeout = \"10s\"",
        ),
    ]);
    let ran = fire(&sandbox, &context("tool.pre"));
    ran.allows_with(json!({ "output": "5000\n10000" }));
}

#[test]
fn type_and_timeout_ms_of_a_spec_are_read_in_its_dialect_only() {
    let spec = "type = \"command\"\ntimeoutMs = 10_000";
    let sandbox = registered_with(&[("spec", "tool.pre", "echo $HOOKRUN_TIMEOUT_MS", spec)]);
    fire(&sandbox, &context("tool.pre")).allows_with(json!({ "output": "10000" }));

    let script = "#!/bin/sh\n# hookrun: timeoutMs=7000 dialect=loom\necho $HOOKRUN_TIMEOUT_MS\n";
    let sandbox = Sandbox::new().script("hooks/hooks.d/tool.pre/10-a", script);
    fire(&sandbox, &context("tool.pre")).allows_with(json!({ "output": "7000" }));

    for (key, cause) in [
        ("type = \"command\"", "unknown key `type`"),
        ("timeoutMs = 10_000", "unknown key `timeoutMs`"),
    ] {
        let hook = "[[hook]]\nname = \"a\"\nevent = \"tool.pre\"\ncommand = \"true\"\n";
        let sandbox = Sandbox::new().file("hooks/hookrun.toml", &format!("{hook}{key}\n"));
        fire(&sandbox, &context("tool.pre")).blocks_saying(cause);
    }
}

#[test]
fn two_hooks_of_one_name_both_run_and_reports_tell_them_apart_by_file_and_line() {
    let sandbox = registered(&[
        ("a", "tool.pre", "echo one"),
        ("a", "tool.pre", "echo two"),
        ("a", "tool.post", "echo three"),
    ]);
    fire(&sandbox, &context("tool.pre")).allows_with(json!({ "output": "one\ntwo" }));
    assert_eq!(
        reminders(&sandbox, "tool.pre"),
        [
            "Hook \"a\" completed.\n\none",
            "Hook \"a (hookrun.toml:8)\" completed.\n\ntwo",
        ]
    );
    assert_eq!(
        reminders(&sandbox, "tool.post"),
        ["Hook \"a\" completed.\n\nthree"]
    );
}

#[test]
fn tool_pre_is_the_gate_and_the_others_are_informational() {
    let refuse = "echo '{\"continue\": false, \"reason\": \"no\"}'";
    for event in INFORMATIONAL {
        let sandbox = registered(&[("guard", event, refuse)]);
        let ran = fire(&sandbox, &context(event));
        ran.exits(0)
            .says("hook `guard` objects (this event cannot be blocked): no");
        assert_eq!(
            ran.stdout, "{\"continue\":false,\"reason\":\"no\"}\n",
            "{event}"
        );
    }
    fire(
        &registered(&[("guard", "tool.pre", refuse)]),
        &context("tool.pre"),
    )
    .blocks("no");
}

#[test]
fn post_hooks_cannot_roll_back() {
    let sandbox = registered(&[
        ("note", "tool.post", "echo noted"),
        ("undo", "tool.post", "echo 'take it back' >&2; exit 1"),
    ]);
    let told = json!({ "continue": false, "reason": "take it back\n\nnoted" });
    fire(&sandbox, &context("tool.post")).allows_with(told);
    assert_eq!(
        reminders(&sandbox, "tool.post"),
        [
            "Hook \"note\" completed.\n\nnoted",
            "Hook \"undo\" blocked the action: take it back. Adjust your approach; do not retry \
             the exact same call.",
        ]
    );
}

#[test]
fn additional_context_of_model_pre_lands_on_this_request() {
    let sandbox = registered(&[(
        "fresh",
        "model.pre",
        "echo '{\"additionalContext\": \"It is Friday.\"}'",
    )]);
    // The host has it before it asks the model: it is in the reply to this very event.
    let ran = fire(&sandbox, &context("model.pre"));
    ran.allows_with(json!({ "additionalContext": "It is Friday." }));
}

#[test]
fn continue_false_of_model_pre_and_model_post_is_ignored() {
    for event in ["model.pre", "model.post"] {
        let sandbox = registered(&[("guard", event, "exit 7")]);
        assert_eq!(fire(&sandbox, &context(event)).status, 0);
    }
}

#[test]
fn model_post_is_the_metering_moment() {
    let meter = "python3 -c 'import json, sys; c = json.load(sys.stdin); print(c[\"stopReason\"], \
                 c[\"inputTokens\"], c[\"outputTokens\"], c[\"costUsd\"], c[\"toolCallCount\"])' > bill";
    let sandbox = registered(&[("meter", "model.post", meter)]);
    fire(&sandbox, &context("model.post")).allows();
    assert_eq!(sandbox.read("bill"), "end_turn 10 5 0.5 0\n");
}

#[test]
fn session_end_fires_on_every_loop_exit_with_the_terminal_reason() {
    let sandbox = Sandbox::new();
    let reasons = [
        "end_turn",
        "aborted",
        "max_turns",
        "budget_exceeded",
        "error",
    ];
    for reason in reasons {
        shipped(&sandbox, &ended(reason)).allows();
    }
    let archived: Vec<Value> = sandbox
        .read("archive.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["reason"].clone())
        .collect();
    assert_eq!(archived, reasons);
}

#[test]
fn error_fires_just_before_session_end() {
    let sandbox = registered(&[
        ("failed", "error", "echo $HOOKRUN_EVENT >> log"),
        ("archive", "session.end", "echo $HOOKRUN_EVENT >> log"),
    ]);
    // The host fires both; neither can keep the other from being told.
    fire(&sandbox, &context("error")).allows();
    fire(&sandbox, &ended("error")).allows();
    assert_eq!(sandbox.read("log"), "error\nsession.end\n");
}

#[test]
fn user_prompt_submit_is_declared_and_a_host_that_fires_it_can_be_blocked() {
    let sandbox = registered(&[("guard", "user.prompt.submit", "echo 'not this' >&2; exit 1")]);
    fire(&sandbox, &context("user.prompt.submit")).blocks("not this");
}

#[test]
fn a_hook_may_not_silently_rewrite_what_a_tool_is_about_to_do() {
    let command = "echo '{\"update\": {\"toolInput\": {\"command\": \"true\"}}}'";
    let sandbox = registered_with(&[("rewriter", "tool.pre", command, "rewrite = true")]);
    fire(&sandbox, &context("tool.pre")).blocks_saying("for `tool.pre`, hooks may rewrite nothing");
}

#[test]
fn the_runtime_never_throws() {
    // Executor errors.
    for (command, reason) in [
        (
            "exec 2>/dev/null; no-such-program",
            "hook `guard` crashed: a command was not found (status 127)",
        ),
        (
            "kill -SEGV $$",
            "hook `guard` failed: killed by SIGSEGV (fail closed)",
        ),
        (
            "echo '{\"continue\":'",
            "malformed answer: line 1: an object with `continue` is not valid JSON",
        ),
    ] {
        let sandbox = registered(&[("guard", "tool.pre", command)]);
        fire(&sandbox, &context("tool.pre")).blocks_saying(reason);
    }
    // Aborts: the host tells hookrun to stop while the hook runs.
    let sandbox = registered_with(&[(
        "guard",
        "tool.pre",
        "kill -TERM $PPID; sleep 600",
        "timeout = \"1m\"",
    )]);
    let ran = fire(&sandbox, &context("tool.pre"));
    ran.blocks("hook `guard` failed: hookrun was interrupted by SIGTERM (fail closed)");
}

#[test]
fn outcomes_reach_the_model() {
    let sandbox = registered(&[
        ("count", "tool.pre", "echo '{\"output\": \"3 rules\"}'"),
        (
            "fresh",
            "tool.pre",
            "echo '{\"additionalContext\": \"It is Friday.\"}'",
        ),
        (
            "guard",
            "tool.pre",
            "echo '{\"continue\": false, \"reason\": \"off-limits\"}'",
        ),
    ]);
    assert_eq!(
        reminders(&sandbox, "tool.pre"),
        [
            "Hook \"count\" completed.\n\n3 rules",
            "Additional context from hook \"fresh\":\n\nIt is Friday.",
            "Hook \"guard\" blocked the action: off-limits. Adjust your approach; do not retry \
             the exact same call.",
        ]
    );
}

#[test]
fn when_no_hook_is_bound_nothing_is_said() {
    let sandbox = registered(&[]);
    for event in EVENTS {
        let ran = fire(&sandbox, &context(event));
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str(), ran.status),
            ("", "", 0),
            "{event}"
        );
    }
}

#[test]
fn an_event_that_loom_does_not_have_is_blocked_with_the_one_that_was_meant() {
    let sandbox = registered(&[]);
    let ran = fire(&sandbox, &json!({ "event": "tool.per" }));
    ran.blocks("`tool.per` is not an event of loom; did you mean `tool.pre`?");
}

#[test]
fn what_loom_would_run_without_sense_blocks_and_says_where_it_stands() {
    let wrong: &[(&[Registered<'_>], &str)] = &[
        (
            &[("a", "tool.pre", "true", "timeout = \"0s\"")],
            ":7:11: `timeout`: `0s` is zero",
        ),
        (
            &[("a", "tool.pre", "true", "timeout = \"-5s\"")],
            ":7:11: `timeout`: `-5s` is not",
        ),
        (&[("a", "tool.pre", "", "")], ":4:11: the command is empty"),
        (
            &[("a", "tool.pre", "true", "type = \"fn\"")],
            ":7:8: loom's `fn` hooks are not run, only its `command` hooks",
        ),
        (
            &[("a", "tool.pre", "true", "timeoutMs = 0")],
            ":7:13: `timeoutMs` cannot be 0",
        ),
        (&[("a", "tool.pre", "true \0", "")], "hook `a` never ran: "),
    ];
    for (hooks, reason) in wrong {
        fire(&registered_with(hooks), &context("tool.pre")).blocks_saying(reason);
    }
}

/// Runs loom's own examples, which are in `fixtures/systems/loom`, in the sandbox's folder.
fn shipped(sandbox: &Sandbox, context: &Value) -> Ran {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/systems/loom");
    let event = context["event"].as_str().unwrap();
    let arguments = ["run", event, "--host", "loom", "--hooks", examples];
    sandbox.hookrun(&arguments, context.to_string().as_bytes())
}

fn tool(name: &str, input: &Value) -> Value {
    json!({ "event": "tool.pre", "turnIndex": 1, "toolName": name, "toolInput": input })
}

#[test]
fn no_prod_keeps_production_paths_off_limits() {
    let sandbox = Sandbox::new();
    let write = |path: &str| shipped(&sandbox, &tool("write", &json!({ "file_path": path })));
    for path in [
        "/srv/prod",
        "/srv/prod/app.conf",
        "/srv/test/../prod/app.conf",
        "/srv//prod/x",
    ] {
        write(path).blocks("Production paths are off-limits in this session.");
    }
    for path in ["/srv/test/app.conf", "/srv/product/app.conf", "notes.txt"] {
        assert_eq!(write(path).status, 0, "{path}");
    }
}

#[test]
fn archive_notes_runs_that_were_aborted_too() {
    let sandbox = Sandbox::new();
    shipped(&sandbox, &ended("aborted")).allows();
    assert_eq!(
        sandbox.read("archive.jsonl"),
        "{\"session\": \"s-1\", \"reason\": \"aborted\"}\n"
    );
}

#[test]
fn policy_check_speaks_by_exit_status_stderr_and_json() {
    let sandbox = Sandbox::new();
    let run = |command: &str| shipped(&sandbox, &tool("shell", &json!({ "command": command })));
    run("git push --force origin main").blocks("force pushes are against the policy");
    run("git push origin main")
        .allows_with(json!({ "additionalContext": "Commands are checked against the policy." }));
}
