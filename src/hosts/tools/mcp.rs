//! The names that hosts give the tools of MCP servers.

use crate::engine::event::Event;
use crate::hosts::dialects;
use crate::hosts::row::Host;
use crate::hosts::tool::Mcp;

impl Host {
    /// What is before and after the server in the name of the tool of `event`, where the asking
    /// host does not name the server. If the event can be blocked, any server may be meant.
    pub fn around_unknown_server(&self, event: &Event) -> Option<(String, String)> {
        let tool =
            tool_of_unknown(event).filter(|_| event.host() != self.name && event.spec().blocks)?;
        let name = self.tools.mcp.write("\0", &tool);
        name.split_once('\0')
            .map(|(before, after)| (before.to_string(), after.to_string()))
    }
}

/// The tool of `event`, if it is one of an MCP server that the host does not name.
fn tool_of_unknown(event: &Event) -> Option<String> {
    let name = event.context().string("toolName")?;
    let is_bare = style(event)? == Mcp::Bare && !name.starts_with("mcp_");
    let mut found = if is_bare {
        read(&name, event)
    } else {
        Vec::new()
    };
    found.pop().map(|(_, tool)| tool)
}

/// The server and the tool that a name stands for; several where it can be divided in several
/// ways, none where it is no such name. A server that the host does not name is called as the host.
pub(super) fn read(name: &str, event: &Event) -> Vec<(String, String)> {
    let context = event.context();
    let style = style(event);
    let server = context
        .text("raw.mcp_context.server_name")
        .or_else(|| context.text("mcpServer"));
    if let Some(server) = context.text("raw.tool_info.mcp_server_name") {
        return vec![owned(&server, name)];
    }
    if let Some(rest) = name.strip_prefix("mcp__") {
        return rest
            .split_once("__")
            .map(|(server, tool)| owned(server, tool))
            .into_iter()
            .collect();
    }
    if let Some(rest) = name.strip_prefix("mcp_") {
        let told = server.filter(|server| rest.starts_with(&format!("{server}_")));
        return match told {
            Some(server) => vec![owned(&server, &rest[server.len() + 1..])],
            None => every_division(rest, '_'),
        };
    }
    if let Some((server, tool)) = name.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        return vec![owned(server, tool)];
    }
    if style == Some(Mcp::Plain) && !is_own(name, event) {
        return name
            .split_once("__")
            .map(|(server, tool)| owned(server, tool))
            .into_iter()
            .collect();
    }
    if style == Some(Mcp::Hyphen) && !name.contains(char::is_whitespace) {
        return every_division(name, '-');
    }
    let is_bare = style == Some(Mcp::Bare)
        && context
            .text("raw.hook_event_name")
            .is_some_and(|event| event.contains("MCP"));
    match name.strip_prefix("MCP:") {
        Some(tool) => vec![owned(event.host(), tool)],
        None if is_bare => vec![owned(event.host(), name)],
        None => Vec::new(),
    }
}

/// How the host of `event` writes such names.
fn style(event: &Event) -> Option<Mcp> {
    let host = dialects().find(|dialect| dialect.name == event.host());
    host.map(|host| host.tools.mcp)
}

/// Whether the host of `event` has a tool of its own with this name.
fn is_own(name: &str, event: &Event) -> bool {
    let host = dialects().find(|dialect| dialect.name == event.host());
    host.is_some_and(|host| host.tools.named(name).next().is_some())
}

fn owned(server: &str, tool: &str) -> (String, String) {
    (server.to_string(), tool.to_string())
}

fn every_division(text: &str, at: char) -> Vec<(String, String)> {
    let divided = text
        .match_indices(at)
        .map(|(place, _)| (&text[..place], &text[place + 1..]));
    divided
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
        .map(|(server, tool)| owned(server, tool))
        .collect()
}
