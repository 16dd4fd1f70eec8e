//! One `hooks.d` and one file of rules block the same three actions in every host, from each host's own
//! payload and in its own form.

use hookrun::hosts;
use serde_json::Value;

use super::vectors;
use crate::sandbox::Sandbox;

const RULES: &str = r#"[[rule]]
runs = "git push --force|-f"
deny = "push to a branch that is yours"

[[rule]]
tool = "write|edit"
path = [".env", "**/.env"]
deny = "secrets stay as they are"
"#;

const NO_KEYS: &str = "case $(cat) in *sk-live-*) echo 'that is a key' >&2; exit 1 ;; esac";

/// The payload with other texts.
fn with(payload: &Value, from: &str, to: &str) -> Value {
    let text = payload.to_string();
    assert!(text.contains(from), "{text}");
    serde_json::from_str(&text.replace(from, to)).unwrap()
}

/// The payload of a prompt with a key in it.
fn prompt(payload: &Value) -> Value {
    let mut payload = payload.clone();
    let outer = ["", "/tool_info", "/userPromptSubmit"];
    let inner = ["prompt", "user_prompt", "message"];
    for place in outer
        .iter()
        .flat_map(|outer| inner.map(|key| format!("{outer}/{key}")))
    {
        if let Some(text) = payload.pointer_mut(&place) {
            *text = "use sk-live-0123".into();
        }
    }
    payload
}

#[test]
fn one_guard_blocks_three_actions_in_every_host() {
    for host in super::hosts() {
        let sandbox = Sandbox::new()
            .file("hooks.d/tool.pre/10-rules.toml", RULES)
            .hook_for("prompt.submit", "10-keys", NO_KEYS);
        let known = vectors(host);
        let gate = &known["refuse-by-exit-1"];
        let ask = |event: &str, payload: &Value| {
            sandbox.hookrun(
                &["run", event, "--host", host],
                payload.to_string().as_bytes(),
            )
        };
        for (name, from, to, reason) in [
            (
                "action-shell",
                "echo hello",
                "git push --force",
                "push to a branch that is yours",
            ),
            ("action-write", "a.txt", ".env", "secrets stay as they are"),
        ] {
            // Windsurf has one tool for both, Codex its patch.
            let others = [name, "action-edit", "action-edit-of-two-files"];
            let vector = others.iter().find_map(|name| known.get(*name)).unwrap();
            let from = if vector.host == "codex" && to == ".env" {
                "src/a.rs"
            } else {
                from
            };
            let payload = with(vector.steps[0].stdin.as_ref().unwrap(), from, to);
            let ran = ask(&vector.event, &payload);
            let expect = &gate.steps[0].expect;
            assert_eq!(ran.status, expect.status, "{host} {name}: {ran:?}");
            let stdout = expect
                .stdout
                .as_ref()
                .map(|out| with(out, "not here", reason));
            let said: Option<Value> = serde_json::from_str(&ran.stdout).ok();
            assert_eq!(said, stdout, "{host} {name}: {ran:?}");
            assert_eq!(ran.stderr, format!("{reason}\n"), "{host} {name}");
        }
        let mut rows = hosts::find(host).unwrap().events.iter();
        let Some(row) = rows.rfind(|row| row.event == "prompt.submit") else {
            continue;
        };
        let of_row = |begin: &str| {
            let mut all = known.iter().filter(|(name, _)| name.starts_with(begin));
            all.find(|(_, vector)| vector.event == row.name).unwrap().1
        };
        let payload = prompt(of_row("payload-").steps[0].stdin.as_ref().unwrap());
        let ran = ask(row.name, &payload);
        if row.blocks {
            let mut all = known.iter().filter(|(name, _)| name.ends_with("refused"));
            let vector = all.find(|(_, vector)| vector.event == row.name).unwrap().1;
            assert_eq!(ran.status, vector.steps[0].expect.status, "{host}: {ran:?}");
            assert!(ran.stderr.starts_with("that is a key"), "{host}: {ran:?}");
        } else {
            ran.exits(0).says("that is a key");
        }
    }
}

#[test]
fn a_hook_of_claude_code_finds_the_path_of_every_host_under_its_own_key() {
    let guard = "#!/bin/sh\n# hookrun: dialect=claude tool=Write|Edit\n\
                 case $(cat) in *'\"file_path\":\"/home/user/project/.env\"'*) exit 2 ;; esac\n";
    for host in super::made::hosts() {
        let sandbox = Sandbox::new().script("hooks.d/PreToolUse/guard", guard);
        let known = vectors(host);
        let vector = ["action-write", "action-edit"]
            .iter()
            .find_map(|name| known.get(*name));
        let vector = vector.unwrap();
        let payload = with(vector.steps[0].stdin.as_ref().unwrap(), "a.txt", ".env");
        let arguments = ["run", vector.event.as_str(), "--host", host];
        let ran = sandbox.hookrun(&arguments, payload.to_string().as_bytes());
        let expect = &known["refuse-by-exit-1"].steps[0].expect;
        assert_eq!(ran.status, expect.status, "{host}: {ran:?}");
        assert_eq!(
            ran.stdout.is_empty(),
            expect.stdout.is_none(),
            "{host}: {ran:?}"
        );
    }
}
