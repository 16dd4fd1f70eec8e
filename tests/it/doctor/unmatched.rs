//! Tools that change something and that no hook looks at.

use hookrun::hosts::facts::FACTS;

use super::everything;
use crate::install::HOSTS;
use crate::sandbox::Sandbox;

/// What `doctor` says of the tools of a host with hookrun in it.
#[track_caller]
fn unmatched(sandbox: Sandbox, host: &str) -> Option<String> {
    sandbox
        .hookrun(&["install", host, "--all-events"], b"")
        .exits(0);
    let (_, found) = everything(&sandbox, host);
    let said = |one: &String| {
        let (_, tools) = one.split_once("no hook of tool.pre looks at ")?;
        assert!(one.starts_with("note "), "{one}");
        Some(tools.strip_suffix(" []").unwrap().to_string())
    };
    let mut said = found.iter().filter_map(said);
    let first = said.next();
    assert_eq!(said.next(), None);
    first
}

fn with(directives: &str) -> Sandbox {
    Sandbox::new().script(
        "hooks.d/tool.pre/a",
        &format!("#!/bin/sh\n# hookrun: {directives}\nexit 0\n"),
    )
}

#[test]
fn tools_that_change_something_are_named_where_no_hook_matches_them() {
    let mcp = "MCP tools";
    for (directives, host, said) in [
        (
            "tool=bash",
            "claude",
            format!("`Write`, `Edit`, `MultiEdit`, {mcp}"),
        ),
        ("tool=bash|write|edit", "claude", mcp.to_string()),
        ("tool=bash", "codex", format!("`apply_patch`, {mcp}")),
        ("tool=bash", "cursor", format!("`Write`, `Edit`, {mcp}")),
        (
            "tool=write|mcp",
            "gemini",
            "`run_shell_command`, `replace`".to_string(),
        ),
        (
            "dialect=claude tool=Bash",
            "gemini",
            format!("`write_file`, `replace`, {mcp}"),
        ),
    ] {
        assert_eq!(
            unmatched(with(directives), host),
            Some(said),
            "{directives} {host}"
        );
    }
    let rule = "[[rule]]\nname = \"push\"\nruns = \"git push --force\"\ndeny = \"no\"\n";
    let by_rule = unmatched(
        Sandbox::new().file("hooks.d/tool.pre/a.toml", rule),
        "claude",
    );
    assert_eq!(
        by_rule,
        Some(format!("`Write`, `Edit`, `MultiEdit`, {mcp}"))
    );
}

#[test]
fn nothing_is_said_where_all_are_matched_or_nothing_guards_tools() {
    for host in HOSTS {
        assert_eq!(
            unmatched(with("description=\"all\""), host.name),
            None,
            "{}",
            host.name
        );
        let other = Sandbox::new().hook_for("session.start", "hello", "exit 0");
        assert_eq!(unmatched(other, host.name), None, "{}", host.name);
    }
    assert_eq!(
        unmatched(with("tool=bash|write|edit|mcp__github__*"), "claude"),
        None
    );
    let sandbox = with("tool=bash");
    let (_, found) = everything(&sandbox, "claude");
    assert!(
        !found.iter().any(|one| one.contains("looks at")),
        "not installed: {found:?}"
    );
}

/// What `doctor` notes of a host, after `title`.
fn noted(sandbox: &Sandbox, host: &str, begin: &str) -> Vec<String> {
    let (_, found) = everything(sandbox, host);
    let after = |one: &String| {
        let (_, rest) = one.split_once(begin)?;
        assert!(one.starts_with("note "), "{one}");
        Some(rest.strip_suffix(" []").unwrap().to_string())
    };
    found.iter().filter_map(after).collect()
}

#[test]
fn what_a_host_never_shows_and_when_it_lets_a_tool_run_is_noted_as_the_table_has_it() {
    for facts in FACTS {
        let sandbox = with("description=\"all\"");
        let scope: &[&str] = if facts.host == "kimi" {
            &["--scope", "user"]
        } else {
            &[]
        };
        sandbox
            .hookrun(&[&["install", facts.host], scope].concat(), b"")
            .exits(0);
        let unseen: Vec<String> = facts.unseen.iter().map(ToString::to_string).collect();
        assert_eq!(
            noted(&sandbox, facts.host, "no hook sees "),
            unseen,
            "{}",
            facts.host
        );
        let open = facts.open_when_installed();
        let open = (!open.is_empty()).then(|| open.join(" or "));
        let told = noted(&sandbox, facts.host, " lets a tool run if hookrun ");
        assert_eq!(told, Vec::from_iter(open), "{}", facts.host);
    }
    let sandbox = with("tool=bash");
    sandbox.hookrun(&["install", "codex"], b"").exits(0);
    let told = noted(&sandbox, "codex", "no hook sees ");
    assert_eq!(
        told[0],
        "`write_stdin`: text for a shell or interpreter that already runs"
    );
    let sandbox = Sandbox::new().hook_for("session.start", "hello", "exit 0");
    sandbox.hookrun(&["install", "codex"], b"").exits(0);
    assert_eq!(
        noted(&sandbox, "codex", "no hook sees "),
        [""; 0],
        "nothing guards tools"
    );
}
