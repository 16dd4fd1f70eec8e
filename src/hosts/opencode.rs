//! OpenCode: it runs no commands; its plugin starts hookrun and carries out the decision.
//!
//! Measured with 1.18.33, and its types.

use super::prelude::*;

const PLUGIN_EVENTS: &[HostEvent] = &[
    reports("session.created", "session.start"),
    asks(
        "chat.message",
        "prompt.submit",
        &[Refusal, New("prompt"), Context],
    ),
    asks(
        "tool.execute.before",
        "tool.pre",
        &[Refusal, New("toolInput")],
    ),
    asks("tool.execute.after", "tool.post", &[New("result"), Context]),
    reports("session.idle", "agent.end"),
    reports("session.compacted", "compact.post"),
    reports("session.error", "error"),
];

const TOOLS: HostTools = HostTools {
    rows: &[
        tool("bash", ToolSort::Shell),
        tool("read", ToolSort::Read),
        tool("write", ToolSort::Write),
        tool("edit", ToolSort::Edit),
        tool("apply_patch", ToolSort::Patch),
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("list", ToolSort::List),
        tool("webfetch", ToolSort::Fetch),
        tool("websearch", ToolSort::WebSearch),
        tool("task", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
};

/// Kilo Code, a fork, loads the same.
pub(super) const PLUGIN: Plugin = Plugin {
    events: PLUGIN_EVENTS,
    tools: &TOOLS,
    text: include_str!("plugin/opencode.js"),
};

pub(super) static OPENCODE: Host = Host {
    name: "opencode",
    title: "OpenCode",
    fails_closed: FailsClosed::Always,
    measured: measured("1.18.33", "2026-11-23"),
    unseen: &["tools of subagents"],
    install: Install {
        project: ".opencode/plugins/hookrun.js",
        user: UserFile::Config("opencode/plugins/hookrun.js"),
        form: HostForm::Plugin(PLUGIN),
        must: &["start it again: plugins are read when it starts"],
        ..Install::NONE
    },
    ..Host::PLAIN
};
