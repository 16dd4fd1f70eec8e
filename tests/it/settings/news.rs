//! What hosts have learned since: kinds of hooks, events, keys and answers. Each is read, and what another
//! host cannot do closes only the gates that it may concern.

use hookrun::hosts;
use hookrun::hosts::settings::HostFile;
use serde_json::{Value, json};

use crate::install::HOSTS;
use crate::sandbox::{Ran, Sandbox};

/// A file of a host with one hook for its shell, before it runs.
fn with_hook(file: &'static HostFile, hook: &Value) -> Sandbox {
    let dialect = file.host();
    let event = dialect.called("tool.pre")[0].row.name;
    let shell = dialect.tools[0].name;
    let mut one = hook.clone();
    one["matcher"] = shell.into();
    let settings = match (file.event_key(), file.action_key()) {
        (Some(key), Some(action)) => {
            json!({"hooks": [{key: event, "matcher": shell, action: hook}]})
        }
        (Some(key), None) => {
            one[key] = event.into();
            json!({ "hooks": [one] })
        }
        (None, _) if file.is_grouped => {
            json!({"hooks": {event: [{"matcher": shell, "hooks": [hook]}]}})
        }
        (None, _) => json!({"hooks": {event: [one]}}),
    };
    Sandbox::new().file("settings.json", &settings.to_string())
}

/// What native hosts ask about a tool.
fn ask(sandbox: &Sandbox, host: &str, tool: &str) -> Ran {
    let settings = format!("{host}:settings.json");
    let context = json!({"toolName": tool, "toolInput": {"command": "ls", "path": "a"}});
    let arguments = ["run", "tool.pre", "--settings", &settings];
    sandbox.hookrun(&arguments, context.to_string().as_bytes())
}

fn problems(sandbox: &Sandbox, host: &str) -> String {
    sandbox
        .problems(&["--settings", &format!("{host}:settings.json")])
        .join("\n")
}

#[test]
fn a_kind_that_only_its_host_can_run_is_a_warning_and_closes_no_gate() {
    let mut seen = 0;
    for file in hosts::settings_files() {
        if file.hook.iter().all(|(name, _)| *name != "type") {
            continue;
        }
        // One that is not known yet too.
        for kind in ["http", "prompt", "agent", "wasm"] {
            seen += 1;
            let host = file.host().name;
            let hook = json!({"type": kind, "url": "https://h.example/x"});
            let sandbox = with_hook(file, &hook);
            ask(&sandbox, host, "bash").allows();
            let found = problems(&sandbox, host);
            let cause = format!("hookrun does not run a hook of type `{kind}`");
            assert!(
                found.contains("warning settings.json:1:") && found.contains(&cause),
                "{host} {kind}: {found}"
            );
            let settings = format!("{host}:settings.json");
            let list = sandbox.hookrun(&["list", "--settings", &settings], b"");
            list.exits(0);
            assert!(
                format!("{}{}", list.stdout, list.stderr).contains(&cause),
                "{list:?}"
            );
        }
    }
    assert!(seen >= 20, "{seen}");
}

fn file(host: &str) -> &'static HostFile {
    hosts::settings_file(host).unwrap()
}

#[test]
fn an_event_that_a_host_has_new_is_a_warning_and_closes_no_gate() {
    for host in ["claude", "codex", "gemini", "cursor", "copilot", "qwen"] {
        let settings = json!({"hooks": {"BrandNewMoment": [{"hooks": [{"command": "true"}]}]}});
        let sandbox = Sandbox::new().file("settings.json", &settings.to_string());
        ask(&sandbox, host, "bash").exits(0);
        let found = problems(&sandbox, host);
        let wanted =
            format!("warning settings.json:1:11: unknown {host} event `BrandNewMoment`: its hooks");
        assert!(found.contains(&wanted), "{found}");
        assert!(!found.contains("error "), "{found}");
    }
}

#[test]
fn a_command_for_another_shell_or_system_closes_its_gate_or_does_not_run() {
    let powershell = json!({"type": "command", "command": "exit 0", "shell": "powershell"});
    let sandbox = with_hook(file("claude"), &powershell);
    ask(&sandbox, "claude", "bash").blocks_saying("no program `powershell` in PATH");
    ask(&sandbox, "claude", "read").allows();
    for (host, key) in [
        ("copilot", "powershell"),
        ("codex", "commandWindows"),
        ("vscode", "windows"),
    ] {
        let sandbox = with_hook(file(host), &json!({"type": "command", key: "exit 1"}));
        ask(&sandbox, host, "bash").allows();
        let found = problems(&sandbox, host);
        let cause = format!("hookrun does not run a hook for another system (`{key}`)");
        assert!(found.contains(&cause), "{host}: {found}");
    }
    let own = if cfg!(target_os = "macos") {
        "osx"
    } else {
        "linux"
    };
    let hook = json!({"command": "exit 0", own: "echo own >&2; exit 2", "windows": "exit 0"});
    ask(&with_hook(file("vscode"), &hook), "vscode", "bash").blocks_saying("own");
}

#[test]
fn what_an_author_says_of_failures_counts() {
    for (word, status) in [
        (None, 2),
        (Some("block"), 2),
        (Some("continue"), 0),
        (Some("allow"), 0),
    ] {
        let mut hook = json!({"type": "command", "command": "exit 127"});
        if let Some(word) = word {
            hook["onFailure"] = word.into();
        }
        let ran = ask(&with_hook(file("claude"), &hook), "claude", "bash");
        assert_eq!(ran.status, status, "{hook}: {ran:?}");
    }
}

#[test]
fn arguments_are_given_as_they_are_and_no_shell_reads_them() {
    for (host, program, arguments) in [
        ("claude", "command", "args"),
        ("qwen", "command", "args"),
        ("copilot", "exec", "args"),
    ] {
        let hook = json!({"type": "command", program: "./say", arguments: ["$HOME; ls", ""]});
        let sandbox = with_hook(file(host), &hook);
        let sandbox = sandbox.script("say", "#!/bin/sh\nprintf '<%s>' \"$@\" >&2\nexit 2\n");
        ask(&sandbox, host, "bash").blocks_saying("<$HOME; ls><>");
    }
}

#[test]
fn keys_that_hosts_have_got_are_known() {
    for (host, hook) in [
        (
            "claude",
            json!({"type": "http", "url": "u", "headers": {}, "allowedEnvVars": ["T"]}),
        ),
        (
            "claude",
            json!({"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${b}"}}),
        ),
        (
            "claude",
            json!({"type": "prompt", "prompt": "p", "model": "m"}),
        ),
        (
            "claude",
            json!({"command": "true", "args": [], "onFailure": "block", "asyncRewake": false}),
        ),
        (
            "codex",
            json!({"type": "mcp_tool", "server": "s", "tool": "t"}),
        ),
        (
            "codex",
            json!({"command": "true", "commandWindows": "x", "statusMessage": "m"}),
        ),
        (
            "copilot",
            json!({"type": "http", "url": "u", "headers": {}, "allowedEnvVars": ["T"], "timeoutSec": 5}),
        ),
        (
            "copilot",
            json!({"exec": "true", "args": ["a"], "cwd": ".", "env": {"A": "b"}, "timeout": 5}),
        ),
        (
            "qwen",
            json!({"type": "http", "url": "u", "allowedEnvVars": ["T"], "timeout": 10}),
        ),
        ("grok", json!({"type": "http", "url": "u"})),
    ] {
        let found = problems(&with_hook(file(host), &hook), host);
        assert!(!found.contains("unknown key"), "{host}: {hook}: {found}");
    }
}

/// What Copilot CLI gets where one of its own hooks prints this.
fn copilot(event: &str, printed: &[&str]) -> Ran {
    let lines: Vec<String> = printed
        .iter()
        .map(|line| format!("echo '{line}'"))
        .collect();
    let sandbox = Sandbox::new().hook_of("copilot", event, "own", &lines.join("; "));
    let payload = json!({
        "sessionId": "s", "timestamp": 1, "cwd": sandbox.path(), "prompt": "old",
        "transformedPrompt": "old", "toolName": "bash", "toolArgs": {"command": "ls"},
    });
    sandbox.hookrun(
        &["run", event, "--host", "copilot"],
        payload.to_string().as_bytes(),
    )
}

#[test]
fn answers_of_a_wrong_type_change_nothing_and_are_told() {
    for (event, key) in [
        ("userPromptTransformed", "modifiedTransformedPrompt"),
        ("sessionStart", "additionalContext"),
    ] {
        let answer = |value: Value| copilot(event, &[&json!({ key: value }).to_string()]);
        answer(json!("new")).allows_with(json!({ key: "new" }));
        answer(Value::Null).allows();
        for wrong in [json!(5), json!({"text": "new"}), json!(["new"])] {
            let ran = answer(wrong);
            assert_eq!(
                (ran.status, ran.stdout.as_str()),
                (0, ""),
                "{event}: {ran:?}"
            );
            ran.says("must be a JSON string");
        }
    }
    let ran = copilot("preToolUse", &[r#"{"permissionDecision": 5}"#]);
    ran.exits(2).says("permissionDecision");
}

#[test]
fn lines_that_tell_how_far_a_hook_of_copilot_is_are_no_part_of_its_answer() {
    let progress = r#"{"type": "progress", "message": "Looking", "temporary": true}"#;
    let deny = r#"{"permissionDecision": "deny", "permissionDecisionReason": "no"}"#;
    copilot("preToolUse", &[progress, progress]).allows();
    copilot(
        "preToolUse",
        &[progress, r#"{"permissionDecision": "allow"}"#],
    )
    .allows();
    copilot("preToolUse", &[progress, deny]).exits(2).says("no");
    copilot(
        "preToolUse",
        &[
            progress,
            r#"{"modifiedArgs": {"command": "ls -l"}}"#,
            progress,
        ],
    )
    .allows_with(json!({"modifiedArgs": {"command": "ls -l"}}));
    // A block in such a line is a block; two answers are malformed.
    let both = r#"{"type": "progress", "permissionDecision": "deny"}"#;
    copilot("preToolUse", &[both]).exits(2);
    let allow = r#"{"permissionDecision": "allow"}"#;
    copilot("preToolUse", &[allow, allow])
        .exits(2)
        .says("this is the second answer");
    // Elsewhere they are text, as JSON without a key of the contract is.
    let sandbox = Sandbox::new().hook_of(
        "cursor",
        "preToolUse",
        "own",
        &format!("echo '{progress}'; echo '{progress}'"),
    );
    let payload =
        json!({"conversation_id": "s", "tool_name": "Shell", "tool_input": {"command": "ls"}});
    let ran = sandbox.hookrun(
        &["run", "preToolUse", "--host", "cursor"],
        payload.to_string().as_bytes(),
    );
    ran.exits(0);
}

#[test]
fn a_hook_in_the_usual_file_of_each_host_decides_without_a_word_about_the_host() {
    for host in HOSTS {
        let Some(file) = hosts::settings_file(host.name) else {
            continue;
        };
        let key = if host.name == "copilot" {
            "bash"
        } else {
            "command"
        };
        let mut hook = json!({ "type": "command", key: "echo no >&2; exit 2" });
        if file.hook.iter().all(|(name, _)| *name != "type") {
            hook.as_object_mut().unwrap().remove("type");
        }
        let text = with_hook(file, &hook).read("settings.json");
        let (place, text) = match file.is_toml {
            true => {
                let text = "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\n\
                            command = \"echo no >&2; exit 2\"\n";
                (host.user, text.to_string())
            }
            false => (host.project, text),
        };
        let sandbox = Sandbox::new().file(place, &text);
        let context = json!({"toolName": "bash", "toolInput": {"command": "ls"}}).to_string();
        let ran = sandbox.hookrun(
            &["run", "tool.pre", "--settings", place],
            context.as_bytes(),
        );
        ran.blocks_saying("no");
        assert!(!ran.stderr.contains("error"), "{place}: {ran:?}");
    }
}

#[test]
fn events_at_the_top_of_a_file_are_read_as_devin_has_them() {
    let group = json!([{"matcher": "exec", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]);
    let text = json!({ "PreToolUse": group }).to_string();
    let context = json!({"toolName": "bash", "toolInput": {"command": "ls"}}).to_string();
    for (place, settings) in [
        (".devin/hooks.v1.json", ".devin/hooks.v1.json"),
        ("home/x/hooks.v1.json", "home/x/hooks.v1.json"),
        ("x.json", "devin:x.json"),
    ] {
        let sandbox = Sandbox::new().file(place, &text);
        let ran = sandbox.hookrun(
            &["run", "tool.pre", "--settings", settings],
            context.as_bytes(),
        );
        ran.blocks_saying("no");
    }
    // Settings without any hook are none, also in a host's folder.
    let sandbox = Sandbox::new().file(".devin/config.json", r#"{"model": "m"}"#);
    let found = sandbox
        .problems(&["--settings", ".devin/config.json"])
        .join("\n");
    assert!(found.contains("this file has no `hooks`"), "{found}");
}

#[test]
fn a_new_response_of_a_subagent_reaches_copilot_and_a_block_wins() {
    let payload = |key: &str| {
        json!({
            "sessionId": "s", "timestamp": 1, "cwd": "/", key: "the key is k-1",
            "agentName": "explore", "stopReason": "end_turn",
        })
    };
    let new = r#"echo '{"update": {"lastAssistantMessage": "hidden"}}'"#;
    let sandbox = Sandbox::new()
        .hook_for(
            "subagent.stop",
            "redact",
            &format!("# hookrun: rewrite\n{new}"),
        )
        .hook_of(
            "copilot",
            "subagentStop",
            "shorten",
            "echo '{\"modifiedResponse\": \"short\"}'",
        );
    for key in ["response", "last_assistant_message"] {
        let ran = sandbox.hookrun(
            &["run", "subagentStop", "--host", "copilot"],
            payload(key).to_string().as_bytes(),
        );
        ran.allows_with(json!({"modifiedResponse": "short"}));
    }
    let sandbox = sandbox.hook_of(
        "copilot",
        "subagentStop",
        "zz-more",
        "echo '{\"decision\": \"block\", \"reason\": \"go on\", \"modifiedResponse\": \"x\"}'",
    );
    let ran = sandbox.hookrun(
        &["run", "subagentStop", "--host", "copilot"],
        payload("response").to_string().as_bytes(),
    );
    ran.allows_with(json!({"decision": "block", "reason": "go on"}));
}
