//! openclaw: each rule of its "Hooks Mechanism" document, and of its source where that says more.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::nasty::running::{wait_for_text, wait_until};
use crate::sandbox::{Ran, Sandbox};

/// The hooks of the document, the events that they are here, and whether a reply waits for them.
const HOOKS: &[(&str, &str, bool)] = &[
    ("gateway-start", "gateway.start", false),
    ("gateway-stop", "gateway.stop", true),
    ("session-start", "session.start", false),
    ("session-end", "session.end", false),
    ("before-agent-start", "agent.start", true),
    ("message-received", "message.in", true),
    ("message-sending", "message.out", true),
    ("message-sent", "message.sent", false),
    ("before-tool-call", "tool.pre", true),
    ("after-tool-call", "tool.post", false),
    ("before-compaction", "compact.pre", true),
    ("after-compaction", "compact.post", false),
    ("tool-result-persist", "tool.persist", true),
];

/// `hookrun run EVENT --host openclaw`.
fn openclaw(sandbox: &Sandbox, event: &str, context: &Value) -> Ran {
    sandbox.hookrun(
        &["run", event, "--host", "openclaw"],
        context.to_string().as_bytes(),
    )
}

fn tool_call() -> Value {
    json!({ "runId": "r-1", "toolName": "exec", "args": { "command": "ls" } })
}

/// A hook that was written for openclaw and prints this result.
fn prints(result: &Value) -> String {
    format!("# hookrun: dialect=openclaw\ncat >/dev/null\necho '{result}'")
}

#[track_caller]
fn result(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// What a hook has written, in one piece, by renaming.
fn written(sandbox: &Sandbox, file: &str) -> Value {
    serde_json::from_str(&wait_for_text(sandbox, file)).unwrap()
}

const KEEP: &str = "cat > part && mv part seen";

// The hooks

#[test]
fn thirteen_hooks_are_known_by_dashes_and_by_underscores() {
    for (name, event, _) in HOOKS {
        for name in [(*name).to_string(), name.replace('-', "_")] {
            let sandbox = Sandbox::new().hook_for(event, "keep", KEEP);
            openclaw(&sandbox, &name, &json!({})).allows();
            assert_eq!(written(&sandbox, "seen")["event"], *event, "{name}");
        }
    }
}

#[test]
fn a_hook_is_bound_by_either_name_and_runs_in_a_native_host() {
    for (name, event, _) in HOOKS {
        for name in [(*name).to_string(), name.replace('-', "_")] {
            let body = format!("# hookrun: dialect=openclaw\n{KEEP}");
            let sandbox = Sandbox::new().hook_for(&name, "keep", &body);
            sandbox.run(event).exits(0);
            let told = written(&sandbox, "seen")["event"]
                .as_str()
                .unwrap()
                .replace('_', "-");
            assert_eq!(
                told,
                HOOKS.iter().find(|(_, one, _)| one == event).unwrap().0
            );
        }
    }
}

#[test]
fn what_is_not_waited_for_is_answered_before_its_hooks_are_done() {
    for (name, event, waits) in HOOKS {
        // The hook ends only when the reply is there.
        let body = "while [ ! -e replied ]; do sleep 0.01; done\necho done > part; mv part done";
        let sandbox = Sandbox::new().hook_for(event, "slow", body);
        if *waits {
            fs::write(sandbox.at("replied"), "").unwrap();
            openclaw(&sandbox, name, &json!({})).exits(0);
            sandbox.has_file("done");
        } else {
            openclaw(&sandbox, name, &json!({})).allows();
            sandbox.has_no_file("done");
            fs::write(sandbox.at("replied"), "").unwrap();
            assert_eq!(wait_for_text(&sandbox, "done"), "done\n");
        }
    }
}

#[test]
fn a_received_message_is_filtered_or_answered_by_the_documents_name_and_only_told_by_the_sources() {
    let message = json!({ "sessionKey": "s", "content": "buy now", "channelId": "telegram" });
    let cancel = json!({ "cancel": true, "cancelReason": "spam" });
    let answer = json!({ "handled": true, "reply": "no, thank you" });
    let cases = [
        (prints(&cancel), 2, cancel),
        (
            "echo spam >&2; exit 2".to_string(),
            2,
            json!({ "cancel": true, "cancelReason": "spam" }),
        ),
        (prints(&answer), 0, answer),
    ];
    for (body, status, wanted) in cases {
        let sandbox = Sandbox::new().hook_for("message.in", "filter", &body);
        let ran = openclaw(&sandbox, "message-received", &message);
        ran.exits(status);
        assert_eq!(result(&ran), wanted, "{body}");
        openclaw(&sandbox, "message_received", &message).allows();
    }
    let sandbox = Sandbox::new().hook_for("message.in", "broken", "kill -SEGV $$");
    openclaw(&sandbox, "message-received", &message)
        .exits(0)
        .says("killed by SIGSEGV");
}

#[test]
fn a_message_that_went_the_other_way_is_another_event() {
    let sandbox = Sandbox::new();
    let ways = ["received", "sending", "sent"];
    for event in [
        "message-received",
        "message_received",
        "message-sending",
        "message-sent",
    ] {
        for way in ways {
            let ran = openclaw(&sandbox, event, &json!({ "direction": way }));
            match event.ends_with(way) {
                true => ran.allows(),
                false => ran.exits(2).says(&format!("`{way}` is unknown")),
            };
        }
        openclaw(&sandbox, event, &json!({})).allows();
    }
}

#[test]
fn a_forgotten_hook_is_still_ended_at_its_timeout() {
    let body = "# hookrun: timeout=200ms\nsh -c 'echo $$ > part; mv part pid; exec sleep 600'";
    let sandbox = Sandbox::new().hook_for("message.sent", "hangs", body);
    openclaw(&sandbox, "message-sent", &json!({})).allows();
    let pid = wait_for_text(&sandbox, "pid").trim().to_string();
    let exe = Path::new("/proc").join(&pid).join("exe");
    wait_until("its end", || exe.read_link().is_err());
}

// Registration

#[test]
fn lower_priorities_come_first() {
    let sandbox = Sandbox::new().file(
        "hookrun.toml",
        &["200 last", "5 first", "100 middle"]
            .map(|hook| {
                let (priority, name) = hook.split_once(' ').unwrap();
                format!(
                    "[[hook]]\nname = \"{name}\"\nevent = \"message-sent\"\ncommand = \"true\"\n\
                 priority = {priority}\ndialect = \"openclaw\"\n"
                )
            })
            .concat(),
    );
    assert_eq!(
        sandbox.order("message.sent", &[]),
        ["first", "middle", "last"]
    );
}

#[test]
fn hooks_that_a_configuration_maps_to_events_run() {
    let manifest = "[[hook]]\nname = \"audit\"\nevent = [\"before-tool-call\", \"message_sending\"]\n\
                    command = \"./audit.sh\"\ndialect = \"openclaw\"\n";
    let sandbox = Sandbox::new()
        .file("hookrun.toml", manifest)
        .script("audit.sh", "#!/bin/sh\necho \"$HOOKRUN_EVENT\" >> seen\n");
    openclaw(&sandbox, "before_tool_call", &tool_call()).allows();
    openclaw(&sandbox, "message-sending", &json!({ "content": "hi" })).allows();
    assert_eq!(sandbox.read("seen"), "tool.pre\nmessage.out\n");
}

#[test]
fn event_names_of_a_mapping_are_validated() {
    let manifest = "[[hook]]\nname = \"audit\"\nevent = \"before-tool-cal\"\ncommand = \"true\"\n\
                    dialect = \"openclaw\"\n";
    let sandbox = Sandbox::new().file("hookrun.toml", manifest);
    let wanted = "error hookrun.toml:3:9: `before-tool-cal` is not an event of openclaw \
                  [did you mean `before-tool-call`?]";
    assert_eq!(sandbox.problems(&[]), [wanted]);
    // And until it is mended, gates stay closed.
    assert_eq!(
        result(&openclaw(&sandbox, "before-tool-call", &tool_call()))["block"],
        true
    );
}

#[test]
fn handler_paths_of_a_mapping_are_validated() {
    let manifest = "[[hook]]\nname = \"audit\"\nevent = \"message-sent\"\n\
                    command = \"./handlers/audit.sh\"\ndialect = \"openclaw\"\n";
    let sandbox = Sandbox::new().file("hookrun.toml", manifest);
    let found = sandbox.problems(&[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("error hookrun.toml:1:1: `audit` cannot start: "),
        "{found:?}"
    );
    assert!(
        found[0].contains("handlers/audit.sh") && found[0].contains('['),
        "{found:?}"
    );
    // Once, however many events it is mapped to.
    let both = manifest.replace(
        "\"message-sent\"",
        "[\"message-sent\", \"after-tool-call\"]",
    );
    let sandbox = Sandbox::new().file("hookrun.toml", &both);
    assert_eq!(sandbox.problems(&[]).len(), 1);
}

// Contexts

#[test]
fn the_four_contexts_reach_native_hooks_under_our_keys() {
    let folder = Sandbox::new();
    let here = folder.path().to_str().unwrap();
    let contexts = [
        (
            "before-agent-start",
            "agent.start",
            json!({ "runId": "r", "config": {}, "workspaceDir": here, "agentDir": "/a" }),
            json!({ "runId": "r", "cwd": here, "agentDir": "/a" }),
        ),
        (
            "message-sending",
            "message.out",
            json!({ "sessionKey": "k", "channel": "telegram", "senderId": "u", "to": "v",
                    "direction": "sending", "content": "hi" }),
            json!({ "sessionId": "k", "channel": "telegram", "senderId": "u", "recipient": "v",
                    "direction": "sending", "content": "hi" }),
        ),
        (
            "before-tool-call",
            "tool.pre",
            tool_call(),
            json!({ "toolName": "exec", "toolInput": { "command": "ls" },
                    "action": { "kind": "shell", "command": "ls",
                                "commands": [{ "program": "ls", "args": [] }] } }),
        ),
        (
            "before_tool_call",
            "tool.pre",
            json!({ "toolName": "exec", "params": { "command": "ls" }, "toolCallId": "t" }),
            json!({ "toolInput": { "command": "ls" }, "toolUseId": "t" }),
        ),
        (
            "gateway-stop",
            "gateway.stop",
            json!({ "sessionKey": "k", "sessionId": "s", "channel": "web" }),
            json!({ "sessionKey": "k", "sessionId": "s", "channel": "web" }),
        ),
    ];
    for (name, event, context, wanted) in contexts {
        let keep = format!("cat > {here}/part && mv {here}/part {here}/seen");
        let sandbox = Sandbox::new().hook_for(event, "keep", &keep);
        openclaw(&sandbox, name, &context).allows();
        let seen: Value = serde_json::from_str(&folder.read("seen")).unwrap();
        for (key, value) in wanted.as_object().unwrap() {
            assert_eq!(seen[key], *value, "{name}: {key} in {seen}");
        }
    }
}

#[test]
fn a_hook_written_for_openclaw_gets_its_context_as_the_host_gave_it() {
    let contexts = [
        ("before-tool-call", tool_call()),
        (
            "before_tool_call",
            json!({ "toolName": "exec", "params": { "command": "ls" } }),
        ),
        (
            "before-compaction",
            json!({ "sessionKey": "k", "channel": "web", "messageCount": 3 }),
        ),
        (
            "message-sending",
            json!({ "sessionKey": "k", "channel": "web", "direction": "sending" }),
        ),
    ];
    for (name, context) in contexts {
        let body = format!("# hookrun: dialect=openclaw\n{KEEP}");
        let sandbox = Sandbox::new().hook_for(name, "keep", &body);
        openclaw(&sandbox, name, &context).allows();
        let mut seen = written(&sandbox, "seen");
        assert_eq!(seen["event"], name);
        seen.as_object_mut().unwrap().remove("event");
        assert_eq!(seen, context, "{name}");
    }
}

#[test]
fn arguments_under_both_names_are_blocked() {
    let both = json!({ "toolName": "exec", "args": { "command": "ls" },
                       "params": { "command": "rm -rf /" } });
    let ran = openclaw(&Sandbox::new(), "before-tool-call", &both);
    assert_eq!(result(ran.exits(2))["block"], true);
    ran.says("are two names of one key; keep one of them");
}

// How they run

#[test]
fn handlers_of_one_event_run_in_parallel() {
    // Each waits for the other: one after the other they would time out.
    let meet = |own: &str, other: &str| {
        format!("touch {own}; while [ ! -e {other} ]; do sleep 0.01; done")
    };
    for (name, event, waits) in HOOKS {
        // What is written to the transcript goes from hook to hook.
        if *name == "tool-result-persist" {
            continue;
        }
        let sandbox = Sandbox::new()
            .hook_for(event, "10-a", &meet("a", "b"))
            .hook_for(
                event,
                "20-b",
                &format!("{}; echo met > part; mv part met", meet("b", "a")),
            );
        openclaw(&sandbox, name, &json!({})).exits(0);
        if *waits {
            sandbox.has_file("met");
        } else {
            wait_for_text(&sandbox, "met");
        }
    }
}

#[test]
fn a_handler_that_throws_does_not_affect_the_others() {
    for (event, canonical) in [
        ("before-agent-start", "agent.start"),
        ("message-sent", "message.sent"),
    ] {
        let sandbox = Sandbox::new()
            .hook_for(
                canonical,
                "10-throws",
                "# hookrun: dialect=native\nkill -SEGV $$",
            )
            .hook_for(event, "20-throws", "# hookrun: dialect=openclaw\nexit 1")
            .hook_for(canonical, "30-works", "echo yes > part; mv part worked");
        openclaw(&sandbox, event, &json!({})).exits(0);
        assert_eq!(wait_for_text(&sandbox, "worked"), "yes\n");
    }
}

#[test]
fn every_handler_sees_the_event_as_it_came_and_the_last_params_win() {
    let sandbox = Sandbox::new()
        .hook_for(
            "before-tool-call",
            "10-a",
            &prints(&json!({ "params": { "command": "a" } })),
        )
        .hook_for(
            "before-tool-call",
            "20-b",
            &prints(&json!({ "params": { "command": "b" } })),
        )
        .hook_for(
            "before-tool-call",
            "30-keep",
            &format!("# hookrun: dialect=openclaw\n{KEEP}"),
        );
    let ran = openclaw(&sandbox, "before-tool-call", &tool_call());
    assert_eq!(
        result(ran.exits(0)),
        json!({ "params": { "command": "b" } })
    );
    assert_eq!(written(&sandbox, "seen")["args"], tool_call()["args"]);
}

#[test]
fn what_is_written_goes_from_hook_to_hook_and_keeps_its_role() {
    let message = |text: &str| json!({ "message": { "role": "toolResult", "content": text } });
    let sandbox = Sandbox::new()
        .hook_for("tool-result-persist", "10-a", &prints(&message("a")))
        .hook_for(
            "tool-result-persist",
            "20-keep",
            &format!("# hookrun: dialect=openclaw\n{KEEP}"),
        )
        .hook_for(
            "tool-result-persist",
            "30-b",
            &prints(&json!({ "message": { "role": "user" } })),
        );
    let ran = openclaw(&sandbox, "tool-result-persist", &message("came"));
    assert_eq!(result(ran.exits(0)), message("a"));
    assert_eq!(
        written(&sandbox, "seen")["message"],
        message("a")["message"]
    );
}

#[test]
fn contexts_of_several_handlers_are_put_together() {
    let sandbox = Sandbox::new()
        .hook_for(
            "before-agent-start",
            "10-a",
            &prints(&json!({ "prependContext": "one" })),
        )
        .hook_for(
            "agent.start",
            "20-b",
            "echo '{\"additionalContext\": \"two\"}'",
        )
        .hook_for(
            "before_prompt_build",
            "30-c",
            &prints(&json!({ "systemPrompt": "Be brief." })),
        );
    let ran = openclaw(&sandbox, "before-agent-start", &json!({ "prompt": "hi" }));
    let result = result(ran.exits(0));
    assert_eq!(result["prependContext"], "one\n\ntwo");
    assert_eq!(result["systemPrompt"], "Be brief.");
}

// Gates

/// The gates, whether they fail closed, and what refuses in their words.
fn gates() -> Vec<(&'static str, bool, Value)> {
    vec![
        (
            "before-tool-call",
            true,
            json!({ "block": true, "blockReason": "no" }),
        ),
        (
            "before_agent_run",
            true,
            json!({ "outcome": "block", "reason": "no" }),
        ),
        (
            "message-sending",
            false,
            json!({ "cancel": true, "cancelReason": "no" }),
        ),
        (
            "before_agent_finalize",
            false,
            json!({ "action": "revise", "reason": "no" }),
        ),
        (
            "subagent_spawning",
            false,
            json!({ "status": "error", "error": "no" }),
        ),
    ]
}

#[test]
fn every_gate_blocks_in_its_own_words() {
    for (name, _, block) in gates() {
        let sandbox = Sandbox::new().hook_for(name, "gate", &prints(&block));
        let ran = openclaw(&sandbox, name, &json!({}));
        assert_eq!(result(ran.exits(2)), block, "{name}");
        ran.says("no");
    }
}

#[test]
fn a_gate_that_fails_is_closed_or_skipped_as_openclaw_has_it() {
    for (name, is_closed, _) in gates() {
        let body = "# hookrun: dialect=openclaw timeout=100ms\nsleep 60";
        let ran = openclaw(
            &Sandbox::new().hook_for(name, "slow", body),
            name,
            &json!({}),
        );
        if is_closed {
            ran.exits(2).says("timed out after 100ms (fail closed)");
        } else {
            ran.exits(0).says("timed out after 100ms (fail open)");
            assert_eq!(ran.stdout, "", "{name}");
        }
    }
}

#[test]
fn gates_have_15_seconds() {
    for (name, _, _) in gates() {
        let body = "# hookrun: dialect=openclaw\nprintf %s \"$HOOKRUN_TIMEOUT_MS\" > timeout";
        let sandbox = Sandbox::new().hook_for(name, "own", body);
        openclaw(&sandbox, name, &json!({})).allows();
        assert_eq!(sandbox.read("timeout"), "15000", "{name}");
    }
}

#[test]
fn a_block_voids_every_other_verdict() {
    let sandbox = Sandbox::new()
        .hook_for(
            "before-tool-call",
            "10-a",
            &prints(&json!({ "params": { "command": "a" } })),
        )
        .hook_for(
            "before-tool-call",
            "20-ask",
            &prints(&json!({ "requireApproval": "sure?" })),
        )
        .hook_for(
            "before-tool-call",
            "30-no",
            &prints(&json!({ "block": true })),
        )
        .hook_for(
            "before-tool-call",
            "40-yes",
            &prints(&json!({ "block": false })),
        );
    let ran = openclaw(&sandbox, "before-tool-call", &tool_call());
    let wanted = json!({ "block": true, "blockReason": "blocked without a reason" });
    assert_eq!(result(ran.exits(2)), wanted);
}

// Approvals

fn approval(title: &str) -> Value {
    json!({ "title": title, "description": "It cannot be undone.", "severity": "critical",
            "timeoutBehavior": "allow" })
}

#[test]
fn an_approval_is_left_to_the_host_and_denied_if_nobody_gives_it() {
    let ask = json!({ "requireApproval": approval("Delete?") });
    let sandbox = Sandbox::new().hook_for("before-tool-call", "ask", &prints(&ask));
    let ran = openclaw(&sandbox, "before-tool-call", &tool_call());
    let wanted = json!({
        "title": "Delete? It cannot be undone.",
        "description": "question from `ask`",
        "timeoutBehavior": "deny",
    });
    assert_eq!(result(ran.exits(0)), json!({ "requireApproval": wanted }));
    // A host that cannot ask, and nobody at a terminal: unresolved denies.
    sandbox
        .run_shell("rm a")
        .blocks_saying("Delete? It cannot be undone.");
}

#[test]
fn the_first_approval_wins_and_freezes_the_params() {
    let first = json!({ "params": { "command": "a" }, "requireApproval": approval("first") });
    let second = json!({ "params": { "command": "b" }, "requireApproval": approval("second") });
    let sandbox = Sandbox::new()
        .hook_for("before-tool-call", "10-first", &prints(&first))
        .hook_for("before-tool-call", "20-second", &prints(&second))
        .hook_for(
            "before-tool-call",
            "30-late",
            &prints(&json!({ "params": { "command": "c" } })),
        );
    let ran = openclaw(&sandbox, "before-tool-call", &tool_call());
    let result = result(ran.exits(0));
    assert_eq!(result["params"], json!({ "command": "a" }));
    assert_eq!(
        result["requireApproval"]["title"],
        "first: It cannot be undone."
    );
    assert_eq!(
        result["requireApproval"]["description"],
        "question from `10-first`"
    );
}

#[test]
fn a_native_question_is_an_approval_too() {
    let sandbox = Sandbox::new().hook("ask", "echo '{\"ask\": \"Deploy to production?\"}'");
    let ran = openclaw(
        &sandbox,
        "before_tool_call",
        &json!({ "toolName": "exec", "params": { "command": "ls" } }),
    );
    assert_eq!(
        result(ran.exits(0))["requireApproval"]["title"],
        "Deploy to production?"
    );
}

// Claims

#[test]
fn the_first_that_handles_it_takes_it_and_the_rest_are_not_asked() {
    let name = "message-received";
    let claim = json!({ "handled": true, "reply": "Done." });
    let other = json!({ "handled": false, "reply": "Hm." });
    let sandbox = Sandbox::new()
        .hook_for(name, "10-not-me", &prints(&other))
        .hook_for(name, "20-me", &prints(&claim))
        .hook_for(name, "30-mark", "# hookrun: dialect=openclaw\ntouch marker");
    let ran = openclaw(&sandbox, name, &json!({ "content": "hi" }));
    assert_eq!(result(ran.exits(0)), claim);
    sandbox.has_no_file("marker");
}
