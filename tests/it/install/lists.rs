//! Kimi Code's `config.toml`, in which every hook is a table, and Cline's folder with a script for each
//! event.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{install, named, project, uninstall};
use crate::sandbox::{Sandbox, with_program};

const CONFIG: &str = "home/.kimi-code/config.toml";

/// The settings of somebody who was here before.
const EXISTING: &str = "# mine\ndefault_model = \"k\"\n\n[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\" # only\ncommand = \"mine.sh\"\n\n[models.k]\nmax_context_size = 1";

#[test]
fn the_other_tables_of_a_toml_file_stay_as_they_are() {
    let kimi = named("kimi");
    for existing in [EXISTING, "", "x = 1\n", "\n"] {
        let sandbox = project().file(CONFIG, existing);
        install(&sandbox, kimi, "user")
            .exits(0)
            .prints("PreToolUse");
        let text = sandbox.read(CONFIG);
        assert!(text.starts_with(existing), "{text}");
        assert!(
            text.contains("[[hooks]]\nevent = \"PreToolUse\"\ncommand = \""),
            "{text}"
        );
        assert!(text.contains("\ntimeout = 600\n"), "{text}");
        install(&sandbox, kimi, "user")
            .exits(0)
            .prints("nothing was changed");
        let ran = uninstall(&sandbox, kimi, "user");
        if existing.trim().is_empty() {
            ran.exits(0).prints("was removed");
            sandbox.has_no_file(CONFIG);
            continue;
        }
        ran.exits(0).prints("no longer has hookrun's hooks");
        assert_eq!(sandbox.read(CONFIG).trim_end(), existing.trim_end());
    }
}

#[test]
fn hookruns_tables_go_from_between_others_that_came_later() {
    let kimi = named("kimi");
    let sandbox = project().file(CONFIG, EXISTING);
    install(&sandbox, kimi, "user").exits(0);
    let later = format!(
        "{}\n[last]\nx = 1\n",
        sandbox.read(CONFIG).replace("mine.sh", "yours.sh")
    );
    let sandbox = sandbox.file(CONFIG, &later);
    uninstall(&sandbox, kimi, "user")
        .exits(0)
        .prints("no longer has hookrun's hooks");
    let before = EXISTING.replace("mine.sh", "yours.sh");
    assert_eq!(sandbox.read(CONFIG), format!("{before}\n\n[last]\nx = 1\n"));
}

#[test]
fn what_others_write_after_hookruns_tables_or_in_a_text_stays() {
    let kimi = named("kimi");
    let text = "\u{feff}about = \"\"\"\n[[hooks]]\nevent = \"Stop\"\ncommand = \"hookrun run --host kimi\"\n\n[x]\n\"\"\"\nlist = [\n[1],\n]\n";
    let sandbox = project().file(CONFIG, text);
    install(&sandbox, kimi, "user").exits(0);
    let later =
        "\n# tell me\n\n# when it is done\n[[hooks]]\nevent = \"Stop\"\ncommand = \"tell\"\n";
    let installed = format!("{}{later}# the end\n", sandbox.read(CONFIG));
    let sandbox = sandbox.file(CONFIG, &installed);
    for _ in 0..2 {
        install(&sandbox, kimi, "user").exits(0);
        assert!(
            sandbox.read(CONFIG).contains(later.trim()),
            "{}",
            sandbox.read(CONFIG)
        );
    }
    let sandbox = sandbox.file(CONFIG, &installed);
    uninstall(&sandbox, kimi, "user").exits(0);
    assert_eq!(sandbox.read(CONFIG), format!("{text}{later}# the end\n"));
}

#[test]
fn a_broken_toml_file_is_named_and_not_touched() {
    let sandbox = project().file(CONFIG, "hooks = [\n");
    let ran = install(&sandbox, named("kimi"), "user");
    ran.exits(2)
        .says("does not parse")
        .says("the file was not changed");
    let sandbox = project().file(CONFIG, "hooks = []\n");
    install(&sandbox, named("kimi"), "user")
        .exits(2)
        .says("`[[hooks]]`");
    assert_eq!(sandbox.read(CONFIG), "hooks = []\n");
}

#[test]
fn a_host_that_reads_no_settings_of_a_project_says_so() {
    let sandbox = project();
    let ran = sandbox.hookrun(&["install", "kimi", "--scope", "project"], b"");
    ran.exits(2)
        .says("has no project settings")
        .says("--scope user");
    sandbox
        .hookrun(&["install", "kimi"], b"")
        .exits(0)
        .prints("Kimi Code, user scope");
}

#[test]
fn hooks_in_one_list_run_and_a_switched_off_one_does_not() {
    let hook = |name: &str, enabled: bool| {
        format!(
            r#"{{"name": "{name}", "trigger": "PreToolUse", "matcher": "execute_.*", "action": {{"type": "command", "command": "echo {name} >&2; exit 2"}}, "enabled": {enabled}}}"#
        )
    };
    let text = |hook: String| format!(r#"{{"version": "v1", "hooks": [{hook}]}}"#);
    let payload = br#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "execute_bash", "tool_input": {"command": "ls"}}"#;
    for (enabled, status) in [(true, 2), (false, 0)] {
        let sandbox = Sandbox::new().file(".kiro/hooks/a.json", &text(hook("off", enabled)));
        let arguments = ["run", "--host", "kiro", "--settings", ".kiro/hooks/a.json"];
        sandbox.hookrun(&arguments, payload).exits(status);
    }
    let toml = "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"echo no >&2; exit 2\"\n";
    let sandbox = Sandbox::new().file("config.toml", toml);
    let arguments = ["run", "--host", "kiro", "--settings", "kimi:config.toml"];
    sandbox.hookrun(&arguments, payload).exits(2).says("no");
    let broken = text(hook("x", true).replace("trigger", "triger"));
    let sandbox = Sandbox::new().file(".kiro/hooks/a.json", &broken);
    let ran = sandbox.hookrun(&["validate", "--settings", ".kiro/hooks/a.json"], b"");
    ran.exits(1).prints("the hook has no `trigger`");
}

#[test]
fn a_script_for_each_event_blocks_where_hookrun_is_missing() {
    let sandbox = project();
    install(&sandbox, named("cline"), "project")
        .exits(0)
        .prints("TaskStart")
        .prints("PreToolUse");
    let file = sandbox.at(".clinerules/hooks/PreToolUse");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o755
    );
    let text = sandbox.read(".clinerules/hooks/PreToolUse");
    let away = with_program(&text, "/nowhere/hookrun");
    let sandbox = sandbox.script(".clinerules/hooks/PreToolUse", &away);
    let said = Command::new(&file).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    assert!(
        String::from_utf8_lossy(&said.stdout).contains("\"cancel\":true"),
        "{said:?}"
    );
    drop(sandbox);
}

#[test]
fn a_script_of_somebody_else_is_left_alone() {
    let sandbox = project().script(".clinerules/hooks/PreToolUse", "#!/bin/sh\nexit 0\n");
    let ran = install(&sandbox, named("cline"), "project");
    ran.exits(2).says("was not written by hookrun");
    sandbox.has_no_file(".clinerules/hooks/TaskStart");
}
