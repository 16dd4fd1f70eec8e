//! The command that `install` writes, run as its host runs it: a hookrun that is missing, may not be
//! executed or is killed blocks, and its decisions come through unchanged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::{HOSTS, Host, hooks, install, with_settings};
use crate::sandbox::Sandbox;

const OWN: &str = env!("CARGO_BIN_EXE_hookrun");

/// The command of a host's gate, and what starts it there.
fn command(sandbox: &Sandbox, host: &Host) -> (&'static str, String) {
    let hook = &hooks(sandbox, host.user, host.gate)[0];
    let (shell, key) = match host.name {
        "codex" | "gemini" => ("bash", "command"),
        "copilot" => ("bash", "bash"),
        _ => ("sh", "command"),
    };
    let own = hook.get(key).or(hook.pointer("/action/command")).unwrap();
    (shell, own.as_str().unwrap().to_string())
}

/// What the host sends before it runs `line` in its shell.
fn event(host: &Host, line: &str) -> Value {
    let input = json!({ "command": line });
    let (id, tool) = match host.name {
        "copilot" => {
            let arguments = input.to_string();
            return json!({ "sessionId": "s", "timestamp": 1, "cwd": "/", "toolName": "bash", "toolArgs": arguments });
        }
        "cursor" => ("conversation_id", "Shell"),
        name if !["claude", "codex", "gemini"].contains(&name) => {
            let file = format!("fixtures/documented/{name}/{}.json", host.gate);
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let sent = fs::read_to_string(file)
                .unwrap()
                .replace("echo hello", line);
            return serde_json::from_str(&sent).unwrap();
        }
        "gemini" => ("session_id", "run_shell_command"),
        _ => ("session_id", "Bash"),
    };
    json!({ "hook_event_name": host.gate, id: "s", "tool_name": tool, "tool_input": input })
}

fn ask(sandbox: &Sandbox, (shell, line): (&str, &str), event: &Value) -> Output {
    fs::write(sandbox.at("event.json"), event.to_string()).unwrap();
    Command::new(format!("/bin/{shell}"))
        .args(["-c", line])
        .current_dir(sandbox.path())
        .env("HOME", sandbox.at("home"))
        .stdin(Stdio::from(
            fs::File::open(sandbox.at("event.json")).unwrap(),
        ))
        .output()
        .unwrap()
}

/// Hosts that block by status 2: the others block what gets no answer.
fn guarded() -> impl Iterator<Item = &'static Host> {
    with_settings().filter(|host| host.name != "agy")
}

#[test]
fn whatever_happens_to_hookrun_the_tool_does_not_run() {
    for host in guarded() {
        let body = "case $HOOKRUN_ACTION_COMMAND in *rm*) echo 'not that' >&2; exit 1;; esac";
        let sandbox = Sandbox::new().hook("guard", body);
        install(&sandbox, host, "user").exits(0);
        let (shell, line) = command(&sandbox, host);
        assert!(line.starts_with(OWN), "{line}");
        let asked = |line: &str, typed: &str| ask(&sandbox, (shell, line), &event(host, typed));

        let allowed = asked(&line, "ls");
        assert_eq!(
            (allowed.status.code(), allowed.stderr.as_slice()),
            (Some(0), &b""[..])
        );
        let blocked = asked(&line, "rm -rf /");
        assert_eq!(blocked.status.code(), Some(2), "{}: {blocked:?}", host.name);
        assert_eq!(
            String::from_utf8_lossy(&blocked.stderr),
            "not that\n",
            "{}",
            host.name
        );

        fs::create_dir(sandbox.at("other")).unwrap();
        for (name, text, mode, status) in [
            ("gone", "", 0, "127"),
            ("flat", "#!/bin/sh\nexit 0\n", 0o644, "126"),
            ("killed", "#!/bin/sh\nkill -9 $$\n", 0o755, "137"),
            ("crash", "#!/bin/sh\nexit 101\n", 0o755, "101"),
        ] {
            let other = sandbox.at("other").join(name);
            if mode != 0 {
                fs::write(&other, text).unwrap();
                fs::set_permissions(&other, fs::Permissions::from_mode(mode)).unwrap();
            }
            let ran = asked(&line.replace(OWN, other.to_str().unwrap()), "ls");
            assert_eq!(ran.status.code(), Some(2), "{} {name}: {ran:?}", host.name);
            assert_eq!(ran.stdout, b"", "{} {name}", host.name);
            let said = format!("hookrun ended with status {status} and no decision\n");
            assert!(
                String::from_utf8_lossy(&ran.stderr).ends_with(&said),
                "{} {ran:?}",
                host.name
            );
        }
    }
}

#[test]
fn the_guard_follows_every_event_that_a_failure_blocks_by_status_2_and_no_other() {
    for (host, guarded) in HOSTS.iter().zip([
        &["PreToolUse", "UserPromptSubmit"][..],
        &["PreToolUse", "UserPromptSubmit"],
        &["BeforeTool", "BeforeAgent", "BeforeModel"],
        &["preToolUse", "beforeSubmitPrompt"],
        &["preToolUse", "permissionRequest"],
    ]) {
        let sandbox = Sandbox::new();
        sandbox
            .hookrun(&["install", host.name, "--all-events"], b"")
            .exits(0);
        let settings = sandbox.read_json(host.project);
        let has_guard = |event: &str| {
            let text = settings["hooks"][event].to_string();
            assert!(text.contains("run --host"), "{} {event}", host.name);
            text.contains("exit 2; }; exit 0")
        };
        for event in guarded {
            assert!(has_guard(event), "{} {event}", host.name);
        }
        let open = match host.name {
            "gemini" => &["AfterAgent", "SessionEnd", "AfterTool"][..],
            "cursor" => &["stop", "subagentStop", "sessionStart"],
            "copilot" => &["agentStop", "sessionStart"],
            "codex" => &["Stop", "SubagentStop", "PermissionRequest", "PostToolUse"],
            _ => &["Stop", "SubagentStop", "PostToolUse"],
        };
        for event in open {
            assert!(!has_guard(event), "{} {event}", host.name);
        }
    }
}

#[test]
fn a_command_without_the_guard_is_known_again_and_put_right() {
    for host in guarded() {
        let sandbox = super::project();
        install(&sandbox, host, "user").exits(0);
        let new = sandbox.read(host.user);
        let guard = new.find(" || { s=$?").unwrap();
        let end = guard + new[guard..].find("exit 2; }").unwrap() + "exit 2; }".len();
        let old = new.replace(&new[guard..end], "").replace(OWN, "hookrun");
        let sandbox = sandbox.file(host.user, &old);
        install(&sandbox, host, "user").exits(0);
        assert_eq!(sandbox.read(host.user), new, "{}", host.name);
        let sandbox = sandbox.file(host.user, &old);
        super::uninstall(&sandbox, host, "user").exits(0);
        assert!(!sandbox.at(host.user).exists() || !sandbox.read(host.user).contains("--host"));
    }
}
