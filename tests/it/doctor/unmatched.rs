//! Tools that change something and that no hook looks at.

use super::everything;
use crate::install::HOSTS;
use crate::sandbox::Sandbox;

/// What `doctor` says of the tools of a host with hookrun in it.
#[track_caller]
fn unmatched(sandbox: Sandbox, host: &str) -> Option<String> {
    sandbox.hookrun(&["install", host, "--all-events"], b"").exits(0);
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
    Sandbox::new()
        .script("hooks.d/tool.pre/a", &format!("#!/bin/sh\n# hookrun: {directives}\nexit 0\n"))
}

#[test]
fn tools_that_change_something_are_named_where_no_hook_matches_them() {
    let mcp = "MCP tools";
    for (directives, host, said) in [
        ("tool=bash", "claude", format!("`Write`, `Edit`, `MultiEdit`, {mcp}")),
        ("tool=bash|write|edit", "claude", mcp.to_string()),
        ("tool=bash", "codex", format!("`apply_patch`, {mcp}")),
        ("tool=bash", "cursor", format!("`Write`, `Edit`, {mcp}")),
        ("tool=write|mcp", "gemini", "`run_shell_command`, `replace`".to_string()),
        ("dialect=claude tool=Bash", "gemini", format!("`write_file`, `replace`, {mcp}")),
    ] {
        assert_eq!(unmatched(with(directives), host), Some(said), "{directives} {host}");
    }
    let rule = "[[rule]]\nname = \"push\"\nruns = \"git push --force\"\ndeny = \"no\"\n";
    let by_rule = unmatched(Sandbox::new().file("hooks.d/tool.pre/a.toml", rule), "claude");
    assert_eq!(by_rule, Some(format!("`Write`, `Edit`, `MultiEdit`, {mcp}")));
}

#[test]
fn nothing_is_said_where_all_are_matched_or_nothing_guards_tools() {
    for host in HOSTS {
        assert_eq!(unmatched(with("description=\"all\""), host.name), None, "{}", host.name);
        let other = Sandbox::new().hook_for("session.start", "hello", "exit 0");
        assert_eq!(unmatched(other, host.name), None, "{}", host.name);
    }
    assert_eq!(unmatched(with("tool=bash|write|edit|mcp__github__*"), "claude"), None);
    let sandbox = with("tool=bash");
    let (_, found) = everything(&sandbox, "claude");
    assert!(!found.iter().any(|one| one.contains("looks at")), "not installed: {found:?}");
}
