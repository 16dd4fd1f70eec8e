//! Kiro, CLI and IDE: Claude Code's events in one list of hooks; exit status 2 blocks a tool or a prompt.
//!
//! Sources: its pages about hooks of version 3 and about migration, and what others saw IDE 1.0.165
//! send. A stop can only be watched. Its triggers for files and tasks are not here: no page shows what
//! their hooks get.

use super::claude::FAMILY;
use super::parts::REFUSE;
use super::results::{ReplyForm, form};
use super::row::{Host, HostEvent, HostTools, Mcp, Tool, ToolSort, Wait, tool};

static TOLD: ReplyForm = form(&[], &[], &[]);
static GATES: ReplyForm = form(&[REFUSE], &[], &[]);

const EDIT: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("old_string", "old_str"),
    ("new_string", "new_str"),
];

const PATH: &[(&str, &str)] = &[("file_path", "path")];

const TOOLS: HostTools = HostTools {
    rows: &[
        Tool {
            also: &["shell"],
            ..tool("execute_bash", ToolSort::Shell)
        },
        Tool {
            also: &["read"],
            keys: PATH,
            ..tool("fs_read", ToolSort::Read)
        },
        Tool {
            also: &["write"],
            keys: &[("file_path", "path"), ("content", "file_text")],
            ..tool("fs_write", ToolSort::Write)
        },
        Tool {
            also: &["write"],
            keys: EDIT,
            ..tool("str_replace", ToolSort::Edit)
        },
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("web_fetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
        tool("use_subagent", ToolSort::Agent),
    ],
    mcp: Mcp::At,
};

/// Its settings count seconds, 60 where they say nothing.
const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(60));

pub(super) static KIRO: Host = Host {
    name: "kiro",
    tools: &TOOLS,
    events: &[
        ROW.told("SessionStart", "session.start", &TOLD)
            .aliases(&["agentSpawn"]),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES),
        ROW.gate("PreToolUse", "tool.pre", &GATES),
        ROW.told("PostToolUse", "tool.post", &TOLD)
            .keys(&[("tool_response", "result")]),
        ROW.told("Stop", "agent.stop", &TOLD),
    ],
    ..FAMILY
};
