//! The agent of VS Code. It uses Claude Code's names for events and keys, other names for tools, and
//! ignores matchers.
//!
//! Source: its hooks reference. Older versions sent `hookEventName` and `sessionId`; hookrun reads
//! the names of the reference. It also runs the hooks of Claude Code's settings.

use super::claude::{
    FAMILY, GATES, GATES_AND_TEACHES, OBJECTS, PRE_TOOL_USE, RESPONSE, TEACHES, TOLD,
};
use super::row::{Host, HostEvent, HostTools, Mcp, Tool, ToolSort, Wait, tool};
use crate::engine::event::Schedule;

const PATH: (&str, &str) = ("file_path", "filePath");
const EDIT: &[(&str, &str)] = &[
    PATH,
    ("old_string", "oldString"),
    ("new_string", "newString"),
];

const TOOLS: HostTools = HostTools {
    rows: &[
        tool("run_in_terminal", ToolSort::Shell),
        Tool {
            keys: &[PATH],
            ..tool("read_file", ToolSort::Read)
        },
        Tool {
            keys: &[PATH],
            ..tool("create_file", ToolSort::Write)
        },
        Tool {
            keys: EDIT,
            ..tool("replace_string_in_file", ToolSort::Edit)
        },
        Tool {
            keys: EDIT,
            ..tool("multi_replace_string_in_file", ToolSort::Edit)
        },
        Tool {
            keys: EDIT,
            ..tool("insert_edit_into_file", ToolSort::Edit)
        },
        Tool {
            keys: &[("command", "input")],
            ..tool("apply_patch", ToolSort::Patch)
        },
        Tool {
            keys: &[("pattern", "query")],
            ..tool("grep_search", ToolSort::Grep)
        },
        Tool {
            keys: &[("pattern", "query")],
            ..tool("file_search", ToolSort::Glob)
        },
        tool("list_dir", ToolSort::List),
        Tool {
            keys: &[("url", "urls")],
            ..tool("fetch_webpage", ToolSort::Fetch)
        },
        tool("runSubagent", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
};

const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(30));

pub(super) static VSCODE: Host = Host {
    name: "vscode",
    aliases: &["vs-code"],
    tools: &TOOLS,
    events: &[
        ROW.told("SessionStart", "session.start", &TEACHES),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE),
        ROW.told("PostToolUse", "tool.post", &OBJECTS)
            .keys(RESPONSE)
            .schedule(Schedule::Sequential),
        ROW.told("PreCompact", "compact.pre", &TOLD),
        ROW.told("SubagentStart", "subagent.start", &TEACHES),
        ROW.open_gate("SubagentStop", "subagent.stop", &GATES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
    ],
    ..FAMILY
};
