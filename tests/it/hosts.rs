//! `hookrun run --host`: the five agent hosts, as they ask and as they are answered.

mod budgets;
mod calls;
mod gates;
mod made_up;
mod nonsense;
mod patches;
mod replies;
mod signs;
mod stop_loop;
mod tables;
mod twice;
mod written;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// A host and its event before a tool.
struct Host {
    name: &'static str,
    gate: &'static str,
    /// The keys of the tool and its input.
    keys: (&'static str, &'static str),
    /// What is on stdout beside the exit status 2.
    block: fn(&str) -> Value,
}

const HOSTS: &[Host] = &[
    Host {
        name: "claude",
        gate: "PreToolUse",
        keys: SNAKE,
        block: |_| Value::Null,
    },
    Host {
        name: "codex",
        gate: "PreToolUse",
        keys: SNAKE,
        block: |_| Value::Null,
    },
    Host {
        name: "gemini",
        gate: "BeforeTool",
        keys: SNAKE,
        block: |_| Value::Null,
    },
    Host {
        name: "cursor",
        gate: "preToolUse",
        keys: SNAKE,
        block: |reason| json!({"permission": "deny", "user_message": reason, "agent_message": reason}),
    },
    Host {
        name: "copilot",
        gate: "preToolUse",
        keys: ("toolName", "toolArgs"),
        block: |reason| json!({"permissionDecision": "deny", "permissionDecisionReason": reason}),
    },
];

const SNAKE: (&str, &str) = ("tool_name", "tool_input");

impl Host {
    /// What it sends before a shell command.
    fn before(&self, command: &str) -> Value {
        let (tool, input) = self.keys;
        json!({"hook_event_name": self.gate, tool: "Bash", input: {"command": command}})
    }

    /// Its refusal: status 2, the reason on stderr, and on stdout what its table says.
    #[track_caller]
    fn is_blocked(&self, ran: &Ran, reason: &str) {
        let name = self.name;
        assert_eq!(
            (ran.status, ran.stderr.as_str()),
            (2, format!("{reason}\n").as_str()),
            "{name}"
        );
        let said = match ran.stdout.as_str() {
            "" => Value::Null,
            stdout => serde_json::from_str(stdout).unwrap(),
        };
        assert_eq!(said, (self.block)(reason), "{name}: {ran:?}");
    }
}

impl Sandbox {
    /// `hookrun run --host HOST`: the event is named by what is on stdin. A busy machine has all
    /// the time that it needs.
    fn host(&self, host: &str, payload: &Value) -> Ran {
        let arguments = ["run", "--host", host, "--budget=1h", "--stdin-timeout=1h"];
        self.hookrun(&arguments, payload.to_string().as_bytes())
    }
}

/// The events that were captured from a real client, by name.
fn payloads(host: &str) -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/payloads")
        .join(host);
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let read = |file: &Path| serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let name = |file: &Path| file.file_stem().unwrap().to_string_lossy().into_owned();
    files.map(|file| (name(&file), read(&file))).collect()
}

#[test]
fn what_real_clients_sent_reaches_hooks_of_theirs_unchanged() {
    for (host, count) in [("claude", 17), ("codex", 10), ("gemini", 9)] {
        let all = payloads(host);
        assert_eq!(all.len(), count, "{host}");
        for (name, payload) in all {
            let sandbox = Sandbox::new().hook_of(host, &name, "keep", "cat > seen");
            let sent = payload.to_string();
            let sent = sent.replace("/home/user/project", sandbox.path().to_str().unwrap());
            let sent: Value = serde_json::from_str(&sent).unwrap();
            let ran = sandbox.host(host, &sent);
            assert_eq!(
                (ran.status, ran.stdout.as_str()),
                (0, ""),
                "{host} {name}: {ran:?}"
            );
            assert_eq!(ran.stderr, "", "{host} {name}");
            assert_eq!(sandbox.read_json("seen"), sent, "{host} {name}");
        }
    }
}

#[test]
fn what_real_clients_sent_is_the_same_tool_to_every_hook() {
    for (host, name) in [
        ("claude", "PreToolUse"),
        ("codex", "PreToolUse"),
        ("gemini", "BeforeTool"),
    ] {
        let (_, payload) = payloads(host)
            .into_iter()
            .find(|(known, _)| known == name)
            .unwrap();
        let sandbox = Sandbox::new().hook("keep", "cat > seen");
        sandbox.host(host, &payload).exits(0);
        let seen = sandbox.read_json("seen");
        assert_eq!(seen["event"], "tool.pre", "{host}");
        assert_eq!(seen["toolInput"], payload["tool_input"], "{host}");
        assert_eq!(seen["action"]["kind"], "shell", "{host}");
        assert_eq!(seen["action"]["command"], "echo hello", "{host}");
        assert_eq!(seen["raw"], payload, "{host}");
    }
}

#[test]
fn an_input_that_comes_as_json_in_a_string_is_an_object_for_our_hooks_alone() {
    let input = r#"{"query": "drop table users"}"#;
    let of_cursor =
        json!({"hook_event_name": "beforeMCPExecution", "tool_name": "sql", "tool_input": input});
    let of_copilot = json!({"hook_event_name": "preToolUse", "toolName": "sql", "toolArgs": input});
    for (host, payload) in [("cursor", of_cursor), ("copilot", of_copilot)] {
        let sandbox = Sandbox::new().hook("ours", "cat > ours");
        sandbox.host(host, &payload).allows();
        assert_eq!(
            sandbox.read_json("ours")["toolInput"]["query"],
            "drop table users",
            "{host}"
        );
    }
    let sandbox = Sandbox::new().hook_of("cursor", "beforeMCPExecution", "theirs", "cat > theirs");
    let payload =
        json!({"hook_event_name": "beforeMCPExecution", "tool_name": "sql", "tool_input": input});
    sandbox.host("cursor", &payload).allows();
    assert_eq!(sandbox.read_json("theirs"), payload);
}

#[test]
fn copilots_other_spelling_is_read_too_and_its_hooks_are_told_the_first() {
    let sandbox = Sandbox::new().hook_of("copilot", "preToolUse", "hook", "cat > seen; exit 1");
    let payload = json!({
        "hook_event_name": "PreToolUse",
        "session_id": "s-1",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    });
    sandbox.host("copilot", &payload).exits(2);
    let seen = json!({
        "hook_event_name": "preToolUse",
        "sessionId": "s-1",
        "toolName": "Bash",
        "toolArgs": {"command": "ls"},
    });
    let told = sandbox.read_json("seen");
    for (key, value) in seen.as_object().unwrap() {
        assert_eq!(told[key], *value, "{told}");
    }
    assert!(told.get("tool_name").is_none(), "{told}");
}

#[test]
fn an_event_that_is_not_known_passes_and_is_named() {
    for host in HOSTS {
        let sandbox = Sandbox::new().hook("deny", "exit 1");
        let ran = sandbox.host(host.name, &json!({"hook_event_name": "BrandNew"}));
        ran.allows().says("BrandNew").says(host.name);
    }
}

#[test]
fn a_gate_of_another_host_is_blocked_with_the_host_to_name() {
    for (host, gate, of) in [
        ("gemini", "PreToolUse", "claude"),
        ("claude", "BeforeTool", "gemini"),
        ("codex", "beforeShellExecution", "cursor"),
    ] {
        let ran = Sandbox::new().host(host, &json!({"hook_event_name": gate}));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{host} {gate}");
        ran.says(&format!("`{gate}` is an event of {of}, not of {host}"));
        ran.says(&format!("use `--host {of}`"));
    }
    // What is only told, or fails open, goes on.
    Sandbox::new()
        .host("claude", &json!({"hook_event_name": "BeforeToolSelection"}))
        .allows();
    Sandbox::new()
        .host("gemini", &json!({"hook_event_name": "Stop"}))
        .allows();
}

#[test]
fn a_payload_that_names_no_event_is_blocked_with_nothing_on_stdout() {
    for host in HOSTS {
        let sandbox = Sandbox::new();
        for payload in [
            json!({}),
            json!({"hook_event_name": ""}),
            json!({"hook_event_name": 7}),
        ] {
            let ran = sandbox.host(host.name, &payload);
            assert_eq!(
                (ran.status, ran.stdout.as_str()),
                (2, ""),
                "{} {payload}",
                host.name
            );
            ran.says("no event was given");
        }
        let ran = sandbox.hookrun(&["run", "--host", host.name], b"{\"hook_event_name\":");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{}", host.name);
        assert!(!ran.stderr.trim().is_empty(), "{}", host.name);
    }
}

#[test]
fn the_project_is_found_from_what_the_host_tells() {
    for host in HOSTS {
        let sandbox = Sandbox::new()
            .script(
                "project/hooks.d/tool.pre/deny",
                "#!/bin/sh\necho no >&2; exit 1\n",
            )
            .file("project/deep/er/file", "")
            .file("elsewhere/file", "");
        let mut payload = host.before("ls");
        payload["cwd"] = sandbox.at("project/deep/er").to_str().unwrap().into();
        let from = |payload: &Value, arguments: &[&str]| {
            let elsewhere = sandbox.at("elsewhere");
            let change = |command: &mut Command| {
                command.current_dir(elsewhere);
            };
            sandbox.hookrun_as(change, arguments, payload.to_string().as_bytes())
        };
        host.is_blocked(&from(&payload, &["run", "--host", host.name]), "no");
        host.is_blocked(
            &from(&payload, &["run", host.gate, "--host", host.name]),
            "no",
        );
        payload["cwd"] = sandbox.at("elsewhere").to_str().unwrap().into();
        from(&payload, &["run", "--host", host.name]).allows();
        payload["workspace_roots"] = json!([sandbox.at("elsewhere"), sandbox.at("project")]);
        let ran = from(&payload, &["run", "--host", host.name]);
        match host.name {
            "cursor" => host.is_blocked(&ran, "no"),
            _ => drop(ran.allows()),
        }
    }
}

#[test]
fn a_host_that_works_elsewhere_does_not_leave_the_project_it_asks_from() {
    for host in HOSTS {
        let sandbox = Sandbox::new().hook("deny", "echo no >&2; exit 1").script(
            "home/other/hooks.d/tool.pre/mark",
            "#!/bin/sh\ntouch \"$HOME/marker\"\n",
        );
        let mut payload = host.before("ls");
        payload["cwd"] = sandbox.at("home/other").to_str().unwrap().into();
        payload["workspace_roots"] = json!([sandbox.at("home/other")]);
        host.is_blocked(&sandbox.host(host.name, &payload), "no");
        // What its user has opened is the host's project too; where a command runs is not.
        if host.name != "cursor" {
            sandbox.has_no_file("home/marker");
        }
    }
}
