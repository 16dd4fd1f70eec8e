//! `hookrun init`: from nothing to a blocked command in a host.

use std::fs;

use crate::sandbox::{Ran, Sandbox};
use crate::ui::screen::{at, at_terminal};

fn init(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut all = vec!["init"];
    all.extend(arguments);
    sandbox.hookrun(&all, b"")
}

/// Somebody who has used Claude Code, and has nothing else.
fn newcomer() -> Sandbox {
    Sandbox::new()
        .without_trust()
        .file("home/.claude/settings.json", "{\"model\": \"opus\"}\n")
}

/// Runs the last line of what `init` printed, as a person who copies it.
fn proof(sandbox: &Sandbox, ran: &Ran) -> Ran {
    let line = ran.stdout.lines().last().unwrap_or_default();
    sandbox.hookrun_by_shell(line, b"")
}

#[test]
fn a_newcomer_needs_two_commands_to_see_a_force_push_blocked() {
    let sandbox = newcomer();
    let ran = init(&sandbox, &["--yes"]);
    ran.exits(0)
        .prints("  .claude/settings.json  Claude Code\n");
    // Claude Code sends no message, so no hook is written for it.
    sandbox.has_no_file("hooks.d/message.out");
    sandbox.has_no_file("hooks.d/tests/block-secrets.toml");
    ran.prints(" files, 52 hooks");
    ran.prints("PreToolUse             tool.pre: 50 hooks\n");
    ran.prints("hooks.d/tests/guard-destructive.toml: 8 cases\n");
    assert!(!ran.stdout.contains("warning"), "{ran:?}");
    proof(&sandbox, &ran)
        .exits(2)
        .says("`git push --force` overwrites or deletes other people's commits");
    assert_eq!(
        sandbox.read("home/.claude/settings.json"),
        "{\"model\": \"opus\"}\n"
    );
}

#[test]
fn nothing_is_written_before_somebody_agrees() {
    let sandbox = newcomer().file("event", "");
    let listed = init(&sandbox, &[]);
    listed
        .exits(2)
        .prints("will be written\n  hooks.d/tool.pre/10-guard-destructive.toml\n");
    listed.says("no terminal, so").says("`--yes`");
    assert_eq!(
        init(&sandbox, &["--dry-run"]).exits(0).stdout,
        listed.stdout
    );
    let few = ["init", "--guard", "no-sudo"];
    at_terminal(&sandbox, &few, &[at("write all files? [y/N] ", "n\r")]).exits(1);
    sandbox.has_no_file("hooks.d");
    sandbox.has_no_file(".claude");
    fs::remove_file(sandbox.at("stdout")).unwrap();
    at_terminal(&sandbox, &few, &[at("write all files? [y/N] ", "y\r")]).exits(0);
    for line in listed
        .stdout
        .lines()
        .filter(|line| line.starts_with("  hooks.d/"))
    {
        let is_it = line.contains("no-sudo");
        assert_eq!(sandbox.at(line.trim()).exists(), is_it, "{line}");
    }
    sandbox.has_file("hooks.d/tool.pre/50-no-sudo.toml");
    sandbox.has_file(".claude/settings.json");
}

#[test]
fn a_second_time_everything_is_there() {
    let sandbox = newcomer();
    let few = ["--guard", "no-sudo", "--yes"];
    init(&sandbox, &few).exits(0);
    let mine = "[[rule]]\nname = 'no-sudo'\nruns = 'sudo'\ndeny = 'no'\n";
    let sandbox = sandbox.file("hooks.d/tool.pre/50-no-sudo.toml", mine);
    let ran = init(&sandbox, &few);
    ran.prints("already exists: ")
        .prints("is up to date; nothing was changed");
    // `doas` is among its cases, and mine does not know it.
    ran.exits(0);
    assert_eq!(sandbox.read("hooks.d/tool.pre/50-no-sudo.toml"), mine);
    let broken = "[[rule]]\nname = 'no-sudo'\nruns = 'sudo'\nask = 'no'\n";
    let sandbox = sandbox.file("hooks.d/tool.pre/50-no-sudo.toml", broken);
    init(&sandbox, &few).exits(1).prints("FAILED");
}

#[test]
fn hosts_are_those_that_a_person_has_and_guards_those_that_are_named() {
    let sandbox = Sandbox::new()
        .script("bin/codex", "#!/bin/sh\n")
        .file("home/.cursor/x", "");
    let path = format!("{}:/usr/bin:/bin", sandbox.at("bin").display());
    let sandbox = sandbox.variable("PATH", &path);
    let ran = init(&sandbox, &["--guard", "none", "--dry-run"]);
    assert_eq!(
        ran.exits(0).stdout,
        "guards\nwill be written\n  .codex/hooks.json  Codex\n  .cursor/hooks.json  Cursor\n"
    );
    let other = init(&Sandbox::new(), &["--guard", "no-sudo", "--yes"]);
    // Nothing here blocks the command that is shown at work.
    assert!(!other.exits(0).stdout.contains("try it"), "{other:?}");
    let linked = Sandbox::new();
    linked
        .hookrun_by_shell("ln -s nowhere hooks.d", b"")
        .exits(0);
    init(&linked, &["--guard", "no-sudo", "--yes"])
        .exits(2)
        .says("cannot write `hooks.d/");
    init(&Sandbox::new(), &["--dry-run"])
        .exits(0)
        .prints("no agent to install into");
    init(&Sandbox::new(), &["--guard", "x"])
        .exits(2)
        .says("no built-in hook, gate or rule is named `x`");
    init(&Sandbox::new(), &["--host", "clod"])
        .exits(2)
        .says("claude");
}

#[test]
fn a_user_is_guarded_in_all_projects() {
    let sandbox = newcomer();
    let ran = init(&sandbox, &["--user", "--guard", "no-force-push", "--yes"]);
    ran.exits(0)
        .prints("home/.claude/settings.json  Claude Code");
    sandbox.has_file("home/.config/hookrun/hooks.d/tests/no-force-push.toml");
    sandbox.has_no_file("hooks.d");
    sandbox.has_no_file(".claude");
    proof(&sandbox, &ran).exits(2);
    let homeless = |command: &mut std::process::Command| _ = command.env_remove("HOME");
    sandbox
        .hookrun_as(homeless, &["init", "--user"], b"")
        .exits(2)
        .says("HOME");
}
