//! Patches that a model applies by its shell, as Codex takes them from there.

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn a_patch_by_the_shell_is_seen_by_guards_of_files_and_of_commands() {
    let command = "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: .env\n+x\n\
                   *** End Patch\nEOF";
    let context = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "turn_id": "t", "cwd": "/tmp",
        "tool_name": "Bash", "tool_input": { "command": command },
    });
    let settings = |matcher: &str| {
        let guard = "grep -q '\\.env' && { echo 'not .env' >&2; exit 2; }; exit 0";
        json!({ "hooks": { "PreToolUse": [{
            "matcher": matcher, "hooks": [{ "type": "command", "command": guard }],
        }] } })
    };
    let no = "echo 'not .env' >&2; exit 1";
    let guards = [
        Sandbox::new().hook("guard", &format!("# hookrun: path=.env\n{no}")),
        Sandbox::new().hook("guard", &format!("# hookrun: tool=write|edit\n{no}")),
        Sandbox::new().hook(
            "guard",
            &format!("# hookrun: tool=bash command=apply_patch\n{no}"),
        ),
        Sandbox::new().hook_of(
            "claude",
            "tool.pre",
            "guard",
            &format!(
                "# hookrun: tool=edit|write\n{}",
                no.replace("exit 1", "exit 2")
            ),
        ),
    ];
    for (number, sandbox) in guards.iter().enumerate() {
        let ran = sandbox.ask("codex", "PreToolUse", &context);
        assert_eq!(
            (ran.status, ran.stderr.trim()),
            (2, "not .env"),
            "{number}: {ran:?}"
        );
    }
    for file in [".claude/settings.json", ".codex/hooks.json"] {
        for matcher in ["Edit|Write", "Bash", "*"] {
            let sandbox = Sandbox::new().file(file, &settings(matcher).to_string());
            let arguments = ["run", "PreToolUse", "--host", "codex", "--settings", file];
            let ran = sandbox.hookrun(&arguments, context.to_string().as_bytes());
            assert_eq!(ran.status, 2, "{file} {matcher}: {ran:?}");
        }
    }
}
