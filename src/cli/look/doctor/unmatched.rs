//! Tools of a host that change something and that no hook looks at.

use super::look::{HostLook, InstalledEntries};
use crate::cli::look::findings::{Findings, note};
use crate::dialects::{DIALECTS, Tool, ToolSort};
use crate::engine::hook::Hook;

const GATE: &str = "tool.pre";

/// The sorts of tools that change something.
const CHANGING: &[ToolSort] = &[ToolSort::Shell, ToolSort::Write, ToolSort::Edit, ToolSort::Patch];

/// Notes the tools that no hook of the gate matches, if it has hooks.
pub(super) fn look(look: HostLook<'_>, installed: &[InstalledEntries], findings: &mut Findings) {
    let is_bound = |hook: &&Hook| hook.event == GATE && hook.enabled && hook.idle.is_none();
    let hooks: Vec<&Hook> = look.config.hooks.iter().filter(is_bound).collect();
    let (Some(first), Some(dialect)) = (installed.first(), look.host.dialect()) else {
        return;
    };
    if hooks.is_empty() || dialect.tools.rows.is_empty() {
        return;
    }
    let tools = dialect.tools.rows.iter().filter(|tool| CHANGING.contains(&tool.sort));
    let unmatched = tools.filter(|tool| {
        let own: Vec<&str> = tool.names().collect();
        !hooks.iter().any(|hook| takes(hook, Some(tool.sort), &own))
    });
    let mut unmatched: Vec<String> = unmatched.map(|tool| format!("`{}`", tool.name)).collect();
    // One name may stand for two sorts.
    unmatched.dedup();
    let of_server = dialect.tools.mcp.write("server", "tool");
    if !hooks.iter().any(|hook| takes(hook, None, &[&of_server])) {
        unmatched.push("MCP tools".to_string());
    }
    if !unmatched.is_empty() {
        let cause = format!("no hook of {GATE} looks at {}", unmatched.join(", "));
        findings.add(note(first.path(), cause));
    }
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
