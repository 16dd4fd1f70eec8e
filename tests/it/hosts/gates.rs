//! Before a tool: whatever goes wrong in a hook ends in the host's own refusal.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::HOSTS;
use crate::sandbox::Sandbox;

#[test]
fn a_hook_that_blocks_or_fails_blocks_in_every_host() {
    let cases = [
        ("echo 'not this' >&2; exit 1", "not this"),
        (
            "exit 1",
            "hook `hook` exited with status 1 and gave no reason",
        ),
        (
            "kill -KILL $$",
            "hook `hook` failed: killed by SIGKILL (fail closed)",
        ),
        (
            "# hookrun: timeout=300ms\nsleep 600",
            "hook `hook` failed: timed out after 300ms (fail closed)",
        ),
        (
            "echo Welcome back\necho '{\"continue\":false,\"reason\":\"no\"}'",
            "no",
        ),
    ];
    for host in HOSTS {
        for (body, reason) in cases {
            let sandbox = Sandbox::new().hook("hook", body);
            host.is_blocked(&sandbox.host(host.name, &host.before("ls")), reason);
        }
    }
}

#[test]
fn a_hook_that_cannot_start_blocks_in_every_host() {
    for host in HOSTS {
        let sandbox = Sandbox::new().script("hooks.d/tool.pre/hook", "#!/no/such/interpreter\n");
        let ran = sandbox.host(host.name, &host.before("ls"));
        ran.says("/no/such/interpreter");
        host.is_blocked(&ran, ran.stderr.trim_end());

        let sandbox = Sandbox::new().hook("hook", "exit 0");
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(sandbox.at("hooks.d/tool.pre/hook"), mode).unwrap();
        let ran = sandbox.host(host.name, &host.before("ls"));
        ran.says("executable");
        host.is_blocked(&ran, ran.stderr.trim_end());
    }
}

#[test]
fn a_reason_that_looks_like_json_stays_a_block() {
    // Gemini CLI reads JSON on stderr where stdout is empty, and lets it beat the status.
    for said in ["{}", "{\"decision\":\"allow\"}", " [1]", "\"{}\""] {
        for host in HOSTS {
            let sandbox = Sandbox::new().hook("hook", &format!("echo '{said}' >&2; exit 1"));
            let ran = sandbox.host(host.name, &host.before("ls"));
            assert_eq!(ran.status, 2, "{}: {ran:?}", host.name);
            match ran.stdout.as_str() {
                "" => assert_eq!(ran.stderr, format!("blocked: {}\n", said.trim())),
                _ => host.is_blocked(&ran, said.trim()),
            }
        }
    }
}

#[test]
fn an_empty_reason_gets_words_because_codex_lets_pass_what_is_blocked_without_any() {
    for host in HOSTS {
        let sandbox = Sandbox::new().hook("hook", r#"echo '{"continue":false,"reason":" "}'"#);
        host.is_blocked(
            &sandbox.host(host.name, &host.before("ls")),
            "blocked without a reason",
        );
    }
}

#[test]
fn a_broken_configuration_closes_gates_and_holds_up_nothing_else() {
    for host in HOSTS {
        let sandbox = Sandbox::new()
            .hook("hook", "exit 0")
            .file("hookrun.toml", "x = [");
        let ran = sandbox.host(host.name, &host.before("ls"));
        ran.says("hookrun.toml");
        host.is_blocked(&ran, ran.stderr.trim_end());
    }
    // An agent that may never stop is a trap, and a result that is there is not to be hidden.
    for (host, event) in [
        ("claude", "Stop"),
        ("claude", "PostToolUse"),
        ("codex", "Stop"),
        ("codex", "PostToolUse"),
        ("gemini", "AfterAgent"),
        ("gemini", "AfterTool"),
        ("cursor", "stop"),
        ("cursor", "postToolUse"),
        ("copilot", "agentStop"),
        ("copilot", "Stop"),
        ("copilot", "postToolUse"),
    ] {
        let sandbox = Sandbox::new().file("hookrun.toml", "x = [");
        let ran = sandbox.host(host, &json!({"hook_event_name": event}));
        ran.allows().says("hookrun.toml");
    }
}

#[test]
fn one_guard_blocks_rm_rf_in_every_host() {
    let shipped =
        |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let [rules, script] = ["10-guard-destructive.toml", "11-guard-deletions.py"]
        .map(|name| format!("hooks.d/tool.pre/{name}"));
    let sandbox = Sandbox::new()
        .file(&rules, &shipped(&rules))
        .script(&script, &shipped(&script))
        .file("build/notes", "");
    for host in HOSTS {
        let ran = sandbox.host(host.name, &host.before("rm -rf build"));
        ran.says("`rm -rf build` permanently deletes");
        host.is_blocked(&ran, ran.stderr.trim_end());
        let ran = sandbox.host(host.name, &host.before("cd x; git push -uf"));
        ran.says("`git push -uf` overwrites or deletes other people's commits");
        host.is_blocked(&ran, ran.stderr.trim_end());
        sandbox.host(host.name, &host.before("ls build")).allows();
    }
}

#[test]
fn a_slip_in_the_name_of_a_gate_blocks_and_names_it() {
    let sandbox = Sandbox::new();
    for (dialect, context, help) in [
        (
            "claude",
            r#"{"hook_event_name":"PreToolUses"}"#,
            "did you mean `PreToolUse`?",
        ),
        (
            "cursor",
            r#"{"hook_event_name":"preTool_Use "}"#,
            "did you mean `preToolUse`?",
        ),
        (
            "wolli",
            r#"{"type":"tool_cal"}"#,
            "did you mean `tool_call`?",
        ),
        (
            "pi",
            r#"{"type":"nothing_like_it"}"#,
            "`nothing_like_it` is not an event of pi",
        ),
    ] {
        let ran = sandbox.hookrun(&["run", "--host", dialect], context.as_bytes());
        ran.exits(2).says(help);
    }
}

#[test]
fn a_broken_configuration_is_told_once() {
    for (host, gate) in [("claude", "PermissionRequest"), ("claude", "PreToolUse")] {
        let sandbox = Sandbox::new().file("hookrun.toml", "[[hook]]\nname = 5\n");
        let payload = json!({"hook_event_name": gate, "tool_name": "Read", "tool_input": {}});
        let ran = sandbox.host(host, &payload);
        assert_eq!(
            ran.stderr.matches("the hooks have an error").count(),
            1,
            "{ran:?}"
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    }
}
