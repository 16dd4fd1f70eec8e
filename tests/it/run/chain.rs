//! Which hooks run, in which order, and when the chain ends.

use std::process::Command;

use serde_json::json;

use crate::nasty::running::Running;
use crate::sandbox::Sandbox;

/// Notes that a hook ran.
const NOTE: &str = "echo $HOOKRUN_HOOK >> \"$ROOT/order\"";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let root = sandbox.path().to_str().unwrap().to_string();
    sandbox.variable("ROOT", &root)
}

fn noted(sandbox: &Sandbox) -> Vec<String> {
    sandbox.read("order").lines().map(str::to_string).collect()
}

#[test]
fn a_denial_keeps_later_hooks_from_running() {
    let sandbox = Sandbox::new()
        .hook("10-deny.sh", r#"echo 'no force push' >&2; exit 1"#)
        .hook("20-mark.sh", "touch marker");

    sandbox.run("tool.pre").blocks("no force push");

    sandbox.has_no_file("marker");
}

#[test]
fn a_failure_keeps_later_hooks_from_running() {
    let sandbox = Sandbox::new()
        .hook("10-fails", "kill -9 $$")
        .hook("20-mark", "touch marker");
    sandbox
        .run("tool.pre")
        .blocks("hook `10-fails` failed: killed by SIGKILL (fail closed)");
    sandbox.has_no_file("marker");
}

#[test]
fn a_question_lets_later_hooks_run() {
    let sandbox = Sandbox::new()
        .hook("10-ask", r#"echo '{"ask":"one?"}'"#)
        .hook("20-mark", "touch marker");
    sandbox.run("tool.pre").blocks_saying("one?");
    sandbox.has_file("marker");
}

#[test]
fn what_was_said_before_a_block_is_not_said() {
    let sandbox = Sandbox::new()
        .hook(
            "10-says",
            r#"echo '{"output":"o","additionalContext":"c"}'"#,
        )
        .hook("20-deny", "echo no >&2; exit 1");
    sandbox.run("tool.pre").blocks("no");
}

#[test]
fn the_words_of_all_hooks_come_together_in_order() {
    let sandbox = Sandbox::new()
        .hook("10-a", r#"echo '{"output":"1","additionalContext":"x"}'"#)
        .hook("20-b", "echo 2")
        .hook("30-c", r#"echo '{"additionalContext":"y"}'"#);
    let all = json!({ "output": "1\n2", "additionalContext": "x\n\ny" });
    sandbox.run("tool.pre").allows_with(all);
}

#[test]
fn hooks_run_in_byte_order_of_their_names() {
    let mut sandbox = sandbox();
    for name in ["b", "a", "10-z", "9-a", "B", "\u{e9}"] {
        sandbox = sandbox.hook(name, NOTE);
    }
    sandbox.run("tool.pre").allows();
    assert_eq!(noted(&sandbox), ["10-z", "9-a", "B", "a", "b", "\u{e9}"]);
}

#[test]
fn a_lower_priority_number_runs_earlier() {
    let sandbox = sandbox()
        .hook("10-default", NOTE)
        .hook("20-late", &format!("# hookrun: priority=101\n{NOTE}"))
        .hook("30-early", &format!("# hookrun: priority=-1\n{NOTE}"))
        .hook("40-default", NOTE);
    sandbox.run("tool.pre").allows();
    assert_eq!(
        noted(&sandbox),
        ["30-early", "10-default", "40-default", "20-late"]
    );
}

#[test]
fn equal_priorities_run_by_layer_then_files_before_declarations() {
    let config = |name: &str| {
        format!(
            "[[hook]]\nname = '{name}'\nevent = 'tool.pre'\nshell = true\ncommand = '''{NOTE}'''\n"
        )
    };
    let script = format!("#!/bin/sh\n{NOTE}\n");
    let sandbox = sandbox()
        .hook("50-project", NOTE)
        .file(
            "hookrun.toml",
            &(config("project-2") + &config("project-1")),
        )
        .script("home/.config/hookrun/hooks.d/tool.pre/90-user", &script)
        .file("home/.config/hookrun/hookrun.toml", &config("user"))
        .script("extra/hooks.d/tool.pre/10-extra", &script)
        .trusted();
    sandbox.run("tool.pre").allows();
    let found = ["90-user", "user", "50-project", "project-2", "project-1"];
    assert_eq!(noted(&sandbox), found);

    std::fs::remove_file(sandbox.at("order")).unwrap();
    sandbox
        .hookrun(&["run", "tool.pre", "--hooks", "extra"], b"{}")
        .allows();
    assert_eq!(noted(&sandbox), ["10-extra"]);

    std::fs::remove_file(sandbox.at("order")).unwrap();
    sandbox
        .hookrun(
            &["run", "tool.pre", "--hooks", "extra", "--discover"],
            b"{}",
        )
        .allows();
    assert_eq!(noted(&sandbox), [&found[..], &["10-extra"]].concat());
}

#[test]
fn a_lower_layer_cannot_disable_a_hook_of_a_higher_one() {
    let sandbox = sandbox()
        .script(
            "home/.config/hookrun/hooks.d/tool.pre/guard",
            "#!/bin/sh\necho 'the user forbids it' >&2; exit 1\n",
        )
        .hook("guard", "# hookrun: enabled=false\ntrue");
    sandbox.run("tool.pre").blocks("the user forbids it");
}

#[test]
fn a_hook_that_is_disabled_does_not_run() {
    let sandbox = sandbox()
        .hook(
            "10-off",
            &format!("# hookrun: enabled=false\n{NOTE}; exit 1"),
        )
        .hook("20-on", NOTE);
    sandbox.run("tool.pre").allows();
    assert_eq!(noted(&sandbox), ["20-on"]);
}

#[test]
fn a_folder_may_bear_a_hosts_name_for_the_event() {
    let native = format!("# hookrun: dialect=native\n{NOTE}");
    let sandbox = sandbox()
        .hook_for("PreToolUse", "20-b", &native)
        .hook("10-a", NOTE);
    sandbox.run("tool.pre").allows();
    sandbox.run("pretooluse").allows();
    assert_eq!(noted(&sandbox), ["10-a", "20-b", "10-a", "20-b"]);
}

#[test]
fn only_hooks_that_match_run() {
    let sandbox = sandbox()
        .hook(
            "10-shell",
            &format!("# hookrun: tool=bash command='^rm '\n{NOTE}"),
        )
        .hook("20-write", &format!("# hookrun: tool=write\n{NOTE}"))
        .hook("30-all", NOTE);
    sandbox.run_shell("rm -rf /").allows();
    assert_eq!(noted(&sandbox), ["10-shell", "30-all"]);
}

#[test]
fn an_unknown_event_is_rejected_with_the_nearest_name() {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    let ran = sandbox.run("tool.per");
    ran.blocks_saying("unknown event `tool.per`")
        .says("did you mean `tool.pre`?");
    sandbox
        .run("nothing-like-it")
        .blocks_saying("unknown event `nothing-like-it`");
    sandbox.run("").blocks_saying("unknown event ``");
    sandbox.has_no_file("ran");
}

#[test]
fn an_event_of_ones_own_is_decided_by_its_rules() {
    let config =
        "[event.'deploy.pre']\nsummary = 'a deployment is about to start'\nblocks = true\n";
    let sandbox = Sandbox::new().file("hookrun.toml", config).hook_for(
        "deploy.pre",
        "freeze",
        "echo 'code freeze' >&2; exit 1",
    );
    sandbox.run("deploy.pre").blocks("code freeze");
}

#[test]
fn a_broken_configuration_blocks_gates_and_names_the_file() {
    let sandbox = Sandbox::new()
        .hook("hook", "touch ran")
        .hook_for("session.start", "observer", "touch observed")
        .file("hookrun.toml", "[[hook]]\nname = 'x'\nevnt = 'tool.pre'\n");
    let ran = sandbox.run("tool.pre");
    ran.blocks_saying("hookrun.toml:")
        .says("`hookrun validate`");
    sandbox.has_no_file("ran");

    let ran = sandbox.run("session.start");
    ran.exits(0).says("hookrun.toml:");
    sandbox.has_file("observed");
}

#[test]
fn a_configuration_that_is_a_pipe_blocks_and_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.at("hookrun.toml");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let ran = Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    ran.blocks_saying("hookrun.toml: cannot be read: it is not a regular file");
}

#[test]
fn a_misspelt_event_folder_blocks_gates() {
    let sandbox = Sandbox::new().hook_for("tool.per", "guard", "exit 1");
    sandbox
        .run("tool.pre")
        .blocks_saying("unknown event `tool.per`");
}

#[test]
fn a_misspelt_directive_blocks_the_gate() {
    let sandbox = Sandbox::new().hook("guard", "# hookrun: timout=10s\ntrue");
    sandbox
        .run("tool.pre")
        .blocks_saying("guard:2")
        .says("timout");
}

#[test]
fn a_folder_of_hooks_that_is_not_there_blocks() {
    let ran = Sandbox::new().hookrun(&["run", "tool.pre", "--hooks", "nowhere"], b"{}");
    ran.blocks_saying("nowhere").says("no such file or folder");
}

#[test]
fn wrong_usage_exits_2() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["run"][..],
        &["run", "tool.pre", "--no-such-option"],
        &["run", "tool.pre", "--budget", "soon"],
        &["run", "tool.pre", "--budget", "0s"],
        &["run", "tool.pre", "--jobs", "0"],
        &["run", "tool.pre", "--hooks", "a", "--format", "xml"],
        &["no-such-command"],
        &[],
    ] {
        let ran = sandbox.hookrun(arguments, b"{}");
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {ran:?}"
        );
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_budget_ends_the_chain_and_says_so() {
    let sandbox = Sandbox::new()
        .hook("10-slow", "# hookrun: timeout=10m\nsleep 600")
        .hook("20-mark", "touch marker");
    let arguments = ["run", "tool.pre", "--budget", "300ms"];
    let ran = Running::start(&sandbox, &arguments).feed(b"{}").ended().ran;
    let reason = "the budget of 300ms was used up";
    ran.blocks(&format!("hook `10-slow` failed: {reason} (fail closed)"));
    sandbox.has_no_file("marker");
}

#[test]
fn a_gate_whose_hooks_never_had_their_turn_is_blocked() {
    // Both fail open; that time is up is no failure of theirs.
    let sandbox = Sandbox::new()
        .hook(
            "10-slow",
            "# hookrun: timeout=10m on_failure=allow\nsleep 600",
        )
        .hook("20-guard", "# hookrun: on_failure=allow\nexit 1");
    let ran = sandbox.hookrun(&["run", "tool.pre", "--budget", "300ms"], b"{}");
    ran.blocks("hook `10-slow` failed: the budget of 300ms was used up (fail closed)");
}

#[test]
fn a_budget_that_is_not_used_up_changes_nothing() {
    let sandbox = Sandbox::new().hook("hook", "echo hi");
    let ran = sandbox.hookrun(&["run", "tool.pre", "--budget", "10m"], b"{}");
    ran.allows_with(json!({ "output": "hi" }));
}

#[test]
fn a_set_of_hooks_is_itself_a_hook() {
    let inner = "#!/bin/sh\nexec \"$HOOKRUN\" run tool.pre --hooks inner\n";
    let sandbox = Sandbox::new()
        .variable("HOOKRUN", env!("CARGO_BIN_EXE_hookrun"))
        .script(
            "outer/hooks.d/tool.pre/nested",
            &inner.replace("sh\n", "sh\n# hookrun: rewrite\n"),
        )
        .script(
            "inner/hooks.d/tool.pre/guard",
            "#!/bin/sh\n# hookrun: command='^rm '\necho 'no rm' >&2; exit 1\n",
        )
        .script(
            "inner/hooks.d/tool.pre/speaker",
            "#!/bin/sh\n# hookrun: command='^ls$' rewrite\n\
             echo '{\"output\":\"hi\",\"update\":{\"toolInput\":{\"command\":\"ls -l\"}}}'\n",
        );
    let run = |command: &str| {
        let context = json!({ "toolName": "bash", "toolInput": { "command": command } });
        let arguments = ["run", "tool.pre", "--hooks", "outer"];
        sandbox.hookrun(&arguments, context.to_string().as_bytes())
    };
    run("rm -rf x").blocks("no rm");
    run("true").allows();
    run("ls")
        .allows_with(json!({ "output": "hi", "update": { "toolInput": { "command": "ls -l" } } }));
}
