//! What of a host's tools no hook decides: those that change something and that no hook looks at, those
//! that the host never shows, and all of them where hookrun fails.

use super::look::{HostLook, InstalledEntries};
use crate::cli::look::findings::{Findings, note};
use crate::engine::hook::Hook;
use crate::hosts::capability;
use crate::hosts::{DIALECTS, HostTools, Tool, ToolSort};

const GATE: &str = "tool.pre";

/// The sorts of tools that change something.
const CHANGING: &[ToolSort] = &[
    ToolSort::Shell,
    ToolSort::Write,
    ToolSort::Edit,
    ToolSort::Patch,
];

/// Notes what no hook decides, if the gate has hooks.
pub(super) fn look(look: HostLook<'_>, installed: &[InstalledEntries], findings: &mut Findings) {
    let is_bound = |hook: &&Hook| hook.event == GATE && hook.enabled && hook.idle.is_none();
    let hooks: Vec<&Hook> = look.config.hooks.iter().filter(is_bound).collect();
    let (Some(first), Some(can)) = (installed.first(), capability::of(look.host.name)) else {
        return;
    };
    if hooks.is_empty() {
        return;
    }
    let mut tell = |cause: String| findings.add(note(first.path(), cause));
    let unmatched = unmatched(&hooks, can.tools);
    if !unmatched.is_empty() {
        tell(format!(
            "no hook of {GATE} looks at {}",
            unmatched.join(", ")
        ));
    }
    let title = look.host.title;
    for what in can.facts.unseen {
        tell(format!("no hook sees {what}"));
    }
    let open = can.facts.open_when_installed();
    if !open.is_empty() {
        tell(format!(
            "{title} lets a tool run if hookrun {}",
            open.join(" or ")
        ));
    }
}

/// The tools that change something and that none of these hooks matches.
fn unmatched(hooks: &[&Hook], tools: &HostTools) -> Vec<String> {
    if tools.rows.is_empty() {
        return Vec::new();
    }
    let of_server = tools.mcp.write("server", "tool");
    let tools = tools
        .rows
        .iter()
        .filter(|tool| CHANGING.contains(&tool.sort));
    let unmatched = tools.filter(|tool| {
        let own: Vec<&str> = tool.names().collect();
        !hooks.iter().any(|hook| takes(hook, Some(tool.sort), &own))
    });
    let mut unmatched: Vec<String> = unmatched.map(|tool| format!("`{}`", tool.name)).collect();
    // One name may stand for two sorts.
    unmatched.dedup();
    if !hooks.iter().any(|hook| takes(hook, None, &[&of_server])) {
        unmatched.push("MCP tools".to_string());
    }
    unmatched
}

/// Whether a hook may look at a tool of a sort with these names; a tool of a server has none.
fn takes(hook: &Hook, sort: Option<ToolSort>, own: &[&str]) -> bool {
    let matcher = &hook.matcher;
    let Some(sort) = sort else {
        // A matcher may mean the tools of one server.
        let is_named = || matcher.to_string().to_ascii_lowercase().contains("mcp");
        return !matcher.needs_command() && (matcher.takes_tool(own) || is_named());
    };
    if matcher.needs_command() && sort != ToolSort::Shell {
        return false;
    }
    // A hook of another host means the tool by that host's names.
    let elsewhere = DIALECTS.iter().flat_map(|dialect| dialect.tools.rows);
    let elsewhere = elsewhere.filter(|tool| hook.convention.is_some() && tool.sort == sort);
    let elsewhere: Vec<&str> = elsewhere.flat_map(Tool::names).collect();
    matcher.takes_tool(own) || matcher.takes_tool(&elsewhere)
}
