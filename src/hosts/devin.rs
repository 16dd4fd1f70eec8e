//! Devin CLI: Claude Code's events; exit status 2 blocks, and nothing asks or rewrites.
//!
//! Source: its pages about hooks and their lifecycle. It also runs the hooks of Claude Code's
//! settings.

use super::claude::{FAMILY, GATES, GATES_AND_TEACHES, TEACHES, TOLD, post_tool_use};
use super::prelude::*;

const TOOLS: HostTools = HostTools {
    rows: &[
        tool("exec", ToolSort::Shell),
        tool("read", ToolSort::Read),
        tool("write", ToolSort::Write),
        tool("edit", ToolSort::Edit),
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("webfetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
    ],
    mcp: Mcp::Double,
};

const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::guessed(30));

pub(super) static DEVIN: Host = Host {
    name: "devin",
    aliases: &["devin-cli"],
    title: "Devin CLI",
    tools: &TOOLS,
    variables: &[variable("DEVIN_PROJECT_DIR", Tells::Project)],
    events: &[
        ROW.told("SessionStart", "session.start", &TEACHES),
        ROW.told("SessionEnd", "session.end", &TOLD),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES),
        ROW.gate("PreToolUse", "tool.pre", &GATES),
        ROW.gate("PermissionRequest", "permission.request", &GATES),
        post_tool_use(ROW, &TEACHES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
    ],
    reads: &["claude"],
    settings: Some(HostFile {
        dialect: "devin",
        places: &[".devin", "devin", "hooks.v1.json"],
        comments: Comments::Read,
        ..HostFile::FAMILY
    }),
    install: Install {
        project: ".devin/config.json",
        user: UserFile::Config("devin/config.json"),
        local: Some("config.local.json"),
        ..Install::SETTINGS
    },
    ..FAMILY
};
