//! Hooks that were written for a host decide in every host, by the rules of their own.

use serde_json::{Value, json};

use super::HOSTS;
use crate::sandbox::{Ran, Sandbox};

/// What hookrun natively makes of a hook that was written for `host`.
fn native(host: &str, body: &str) -> Ran {
    let sandbox = Sandbox::new().hook_of(host, "tool.pre", "hook", body);
    let context = json!({"toolName": "bash", "toolInput": {"command": "ls"}});
    sandbox.hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
}

/// What a hook of this host prints to refuse, to ask and to rewrite.
fn words(host: &str) -> [Value; 3] {
    let new = json!({"command": "ls -l"});
    match host {
        "claude" | "codex" => [
            json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}),
            json!({"permissionDecision": "ask", "permissionDecisionReason": "sure?"}),
            json!({"permissionDecision": "allow", "updatedInput": new}),
        ]
        .map(|mut what| {
            what["hookEventName"] = "PreToolUse".into();
            json!({ "hookSpecificOutput": what })
        }),
        "gemini" => [
            json!({"decision": "deny", "reason": "no"}),
            json!({"decision": "ask", "reason": "sure?"}),
            json!({"hookSpecificOutput": {"tool_input": new}}),
        ],
        "cursor" => [
            json!({"permission": "deny", "user_message": "no"}),
            json!({"permission": "ask", "user_message": "sure?"}),
            json!({"permission": "allow", "updated_input": new}),
        ],
        "copilot" => [
            json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}),
            json!({"permissionDecision": "ask", "permissionDecisionReason": "sure?"}),
            json!({"permissionDecision": "allow", "modifiedArgs": new}),
        ],
        _ => panic!("{host}"),
    }
}

#[test]
fn their_json_blocks_asks_and_rewrites() {
    for host in HOSTS {
        let [deny, ask, rewrite] = words(host.name);
        native(host.name, &format!("echo '{deny}'")).blocks("no");
        native(host.name, &format!("echo '{ask}'")).blocks_saying("sure?");
        let update = json!({"update": {"toolInput": {"command": "ls -l"}}});
        native(host.name, &format!("echo '{rewrite}'")).allows_with(update);
    }
}

#[test]
fn exit_status_2_blocks_with_the_words_on_stderr() {
    for host in HOSTS {
        native(host.name, "echo no >&2; exit 2").blocks("no");
    }
}

#[test]
fn other_statuses_decide_as_in_their_host() {
    // Which of them refuse: 1, 3.
    for (host, refuses) in [
        ("claude", [false, false]),
        ("codex", [false, false]),
        ("gemini", [false, true]),
        ("cursor", [false, false]),
        ("copilot", [true, true]),
    ] {
        for (status, refuses) in [1, 3].into_iter().zip(refuses) {
            let ran = native(host, &format!("echo 'a warning' >&2; exit {status}"));
            match refuses {
                true => ran.blocks("a warning"),
                false => ran.allows(),
            };
        }
    }
}

#[test]
fn a_block_in_json_counts_with_any_status() {
    for host in HOSTS {
        let [deny, ..] = words(host.name);
        native(host.name, &format!("echo '{deny}'; exit 1")).blocks("no");
    }
}

#[test]
fn a_hook_that_never_ran_or_never_ended_blocks_whatever_its_host_does() {
    for host in HOSTS {
        native(host.name, "exit 127").blocks_saying("127");
        native(host.name, "kill -KILL $$").blocks_saying("SIGKILL");
        native(host.name, "# hookrun: timeout=300ms\nsleep 600").blocks_saying("timed out");
        native(host.name, "echo '{\"decision\":'").blocks_saying("JSON");
    }
}

#[test]
fn a_hook_gets_the_event_in_the_words_of_its_host() {
    for host in HOSTS {
        let sandbox = Sandbox::new().hook_of(host.name, host.gate, "hook", "cat > seen");
        sandbox.run_shell("ls -l").allows();
        let seen = sandbox.read_json("seen");
        let (tool, input) = host.keys;
        assert_eq!(seen["hook_event_name"], host.gate, "{}", host.name);
        // Copilot's documents show it as JSON in a string.
        let text = seen[input].as_str().map(str::to_string);
        let input: Value = serde_json::from_str(&text.unwrap_or(seen[input].to_string())).unwrap();
        assert_eq!(input, json!({"command": "ls -l"}), "{}", host.name);
        let shell = ["Bash", "run_shell_command", "Shell", "bash"];
        assert!(
            shell.contains(&seen[tool].as_str().unwrap()),
            "{}: {seen}",
            host.name
        );
    }
}

#[test]
fn a_hook_of_one_host_decides_in_all_the_others() {
    for of in HOSTS {
        let [deny, ..] = words(of.name);
        let body = format!("echo '{deny}'");
        let sandbox = Sandbox::new().hook_of(of.name, of.gate, "hook", &body);
        for host in HOSTS {
            host.is_blocked(&sandbox.host(host.name, &host.before("ls")), "no");
        }
    }
}
