//! `install` and `uninstall` without a host.

use super::{install, named, project};
use crate::sandbox::Sandbox;

/// A project whose user has Claude Code and Kimi Code.
fn two_hosts() -> Sandbox {
    project()
        .file("home/.claude/x", "")
        .file("home/.kimi-code/x", "")
}

#[test]
fn without_a_host_those_that_are_here_are_listed_and_nothing_is_written() {
    let sandbox = two_hosts();
    let ran = sandbox.hookrun(&["install"], b"");
    ran.exits(0)
        .prints("Claude Code: `hookrun install claude`\n");
    ran.prints("Kimi Code: `hookrun install kimi`\n");
    assert!(!ran.stdout.contains("Cursor"), "{ran:?}");
    sandbox.has_no_file(".claude");
}

#[test]
fn uninstall_without_a_host_lists_those_that_run_hookrun() {
    let sandbox = two_hosts();
    sandbox.hookrun(&["install", "claude"], b"").exits(0);
    let ran = sandbox.hookrun(&["uninstall"], b"");
    ran.exits(0)
        .prints("Claude Code: `hookrun uninstall claude`\n");
    assert!(!ran.stdout.contains("Kimi"), "{ran:?}");
}

#[test]
fn uninstall_says_so_where_it_cannot_take_hookrun_out() {
    for (host, file) in [
        ("kimi", "home/.kimi-code/config.toml"),
        ("kiro", "home/.kiro/hooks/hookrun.json"),
    ] {
        for end in ["\n= [", "\u{0}"] {
            let sandbox = project();
            install(&sandbox, named(host), "user").exits(0);
            let broken = format!("{}{end}", sandbox.read(file));
            let sandbox = sandbox.file(file, &broken);
            let ran = sandbox.hookrun(&["uninstall", host, "--scope", "user"], b"");
            ran.exits(2);
            assert_eq!(sandbox.read(file), broken);
        }
    }
}

#[test]
fn a_script_for_another_event_alone_is_found_too() {
    let sandbox = Sandbox::new().script("hooks.d/tool.post/see.sh", "#!/bin/sh\n");
    install(&sandbox, named("cline"), "project").exits(0);
    let (script, other) = (
        ".clinerules/hooks/PostToolUse",
        ".clinerules/hooks/PreToolUse",
    );
    assert!(sandbox.at(script).exists() && !sandbox.at(other).exists());
    sandbox
        .hookrun(&["uninstall"], b"")
        .exits(0)
        .prints("Cline: `hookrun uninstall cline`\n");
    sandbox.hookrun(&["uninstall", "cline"], b"").exits(0);
    sandbox.has_no_file(script);
}

#[test]
fn what_is_not_meant_is_an_error() {
    let sandbox = project();
    sandbox
        .hookrun(&["install"], b"")
        .exits(2)
        .says("no agent was found here");
    sandbox
        .hookrun(&["uninstall"], b"")
        .exits(2)
        .says("hookrun is not installed in any agent here");
}
