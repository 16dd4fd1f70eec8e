//! `hookrun list`.

use serde_json::json;

use crate::sandbox::Sandbox;

fn three() -> Sandbox {
    Sandbox::new()
        .hook("10-guard.sh", "# hookrun: tool=bash command='rm .*-rf'")
        .hook("20-off.sh", "# hookrun: enabled=false")
        .hook_for("turn.start", "mark.sh", "")
        .file(
            "hookrun.toml",
            "# Ours.\n[[hook]]\nname = \"early\"\nevent = \"PreToolUse\"\n\
             command = \"true\"\npriority = -5\n",
        )
}

#[test]
fn hooks_are_listed_in_the_order_in_which_they_run() {
    let ran = three().hookrun(&["list"], b"");
    ran.exits(0);
    assert_eq!(
        ran.stdout,
        "\
turn.start  a turn begins (cannot be blocked; parallel)
   1  mark.sh  every event
      hooks.d/turn.start/mark.sh (project layer)

tool.pre  a tool is about to run (can be blocked; a failing hook blocks it; sequential)
   1  early        every event  (priority -5)
      hookrun.toml:2 (project layer)
   2  10-guard.sh  tool bash, command /rm .*-rf/
      hooks.d/tool.pre/10-guard.sh (project layer)
   3  20-off.sh    every event  (disabled: enabled = false)
      hooks.d/tool.pre/20-off.sh (project layer)

"
    );
}

#[test]
fn one_event_can_be_asked_for_by_any_of_its_names() {
    let sandbox = three();
    for name in ["tool.pre", "PreToolUse", "before_tool_call", "TOOL.PRE"] {
        let ran = sandbox.hookrun(&["list", "--event", name], b"");
        ran.exits(0).prints("10-guard.sh");
        assert!(!ran.stdout.contains("mark.sh"), "{ran:?}");
    }
    let ran = sandbox.hookrun(&["list", "--event", "tool.per"], b"");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "error: unknown event `tool.per`\n  help: did you mean `tool.pre`?\n"
    );
}

#[test]
fn programs_get_json() {
    let sandbox = three();
    let list = sandbox.json(&["list", "--event", "turn.start", "--format", "json"]);
    let program = sandbox.path().canonicalize().unwrap();
    let program = program.join("hooks.d/turn.start/mark.sh");
    assert_eq!(
        list,
        json!({ "version": 1, "hooks": [{
            "name": "mark.sh", "event": "turn.start", "layer": "project",
            "file": "hooks.d/turn.start/mark.sh", "runs": "hooks.d/turn.start/mark.sh", "program": program, "wants": "every event",
            "priority": 100, "parallel": false,
            "rules": [{
                "event": "turn.start", "blocks": false, "onFailure": "allow", "onFailureFrom": "event",
                "timeoutMs": 5000, "schedule": "parallel", "stop": "first",
            }],
            "background": "kill", "lives": "event", "warm": "off", "limits": {},
            "rewrite": false, "dialect": "native", "enabled": true,
        }] })
    );
}

#[test]
fn hooks_that_share_a_step_share_its_number() {
    let sandbox = Sandbox::new()
        .hook("a", "# hookrun: parallel")
        .hook("b", "# hookrun: parallel")
        .hook("c", "");
    let ran = sandbox.hookrun(&["list"], b"");
    ran.prints("   1  a ").prints("   1  b ").prints("   2  c ");
}

#[test]
fn an_empty_list_says_how_to_begin() {
    let sandbox = Sandbox::new();
    let ran = sandbox.hookrun(&["list"], b"");
    ran.exits(0)
        .prints("No hooks found.\n")
        .prints("hooks.d/EVENT/");
    assert_eq!(
        sandbox.json(&["list", "--format", "json"]),
        json!({ "version": 1, "hooks": [] })
    );
}

#[test]
fn problems_are_told_beside_the_list() {
    let sandbox = three().file("hooks.d/stray", "");
    let ran = sandbox.hookrun(&["list"], b"");
    ran.exits(1)
        .prints("10-guard.sh")
        .says("error: hooks.d/stray: is directly in hooks.d");
    sandbox.json(&["list", "--format", "json"]);
}

#[test]
fn a_name_cannot_move_the_cursor() {
    let sandbox = Sandbox::new().hook("a\u{1b}[2Jb\nc", "# hookrun: tool='x\u{7}'");
    for command in [&["list"][..], &["list", "a\u{1b}[2Jb\nc"], &["validate"]] {
        let mut all = command.to_vec();
        all.extend(["--color", "always"]);
        let ran = sandbox.hookrun(&all, b"");
        let shown = ran.stdout.replace("\u{1b}[0m", "").replace("\u{1b}[1m", "");
        for bad in ["\u{1b}[2J", "b\nc", "\u{7}"] {
            assert!(!shown.contains(bad), "{bad:?} in {shown:?}");
        }
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let sandbox = three();
    let hookrun = env!("CARGO_BIN_EXE_hookrun");
    for command in ["list", "events", "test tool.pre", "schema tool.pre"] {
        let line = format!("{{ {hookrun} {command} </dev/null; echo $? >status; }} | true");
        let mut shell = std::process::Command::new("/bin/sh");
        shell
            .args(["-c", &line])
            .current_dir(sandbox.path())
            .env_clear();
        shell
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", sandbox.at("home"));
        let output = shell.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
        assert_eq!(sandbox.read("status"), "0\n", "{command}");
    }
}
