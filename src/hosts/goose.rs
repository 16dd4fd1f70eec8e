//! goose: hooks of Open Plugins, of which two can block.
//!
//! Source: `hooks.md` of its documentation; measured with 1.52.0. Version 1.34.0 ignores a block. Tools
//! of its own have plain names (`shell`), which were `developer__shell` in 1.34.0. On a gate exit status 0 with anything on stdout but a
//! decision is a failure of the hook, so hookrun says nothing there: what hooks say goes to stderr.
//! `on_failure` blocks where a hook fails before a tool; everywhere else a failure passes.

use super::claude::FAMILY;
use super::parts::{DECISION, REASON, REFUSE};
use super::results::{ReplyForm, form};
use super::row::{Host, HostEvent, HostTools, Mcp, Tool, ToolSort, Wait, tool};

static TOLD: ReplyForm = form(&[], &[], &[]);
static GATES: ReplyForm = form(&[REFUSE], &[DECISION, REASON], &[]);

const EDIT: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("old_string", "before"),
    ("new_string", "after"),
];

const TOOLS: HostTools = HostTools {
    rows: &[
        tool("shell", ToolSort::Shell),
        Tool {
            keys: &[("file_path", "source")],
            ..tool("read_image", ToolSort::Read)
        },
        Tool {
            keys: &[("file_path", "path")],
            ..tool("write", ToolSort::Write)
        },
        Tool {
            keys: EDIT,
            ..tool("edit", ToolSort::Edit)
        },
        tool("tree", ToolSort::List),
        tool("developer__shell", ToolSort::Shell),
        Tool {
            keys: &[("file_path", "source")],
            ..tool("developer__read_image", ToolSort::Read)
        },
        Tool {
            keys: &[("file_path", "path")],
            ..tool("developer__write", ToolSort::Write)
        },
        Tool {
            keys: EDIT,
            ..tool("developer__edit", ToolSort::Edit)
        },
        tool("developer__tree", ToolSort::List),
    ],
    mcp: Mcp::Plain,
};

const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(30));
const OF_TOOLS: &[(&str, &str)] = &[("working_dir", "cwd"), ("tool_call_id", "toolUseId")];

pub(super) static GOOSE: Host = Host {
    name: "goose",
    names_event_by: "event",
    tools: &TOOLS,
    events: &[
        ROW.told("SessionStart", "session.start", &TOLD),
        ROW.told("SessionEnd", "session.end", &TOLD),
        // It cannot be blocked.
        ROW.told("UserPromptSubmit", "prompt.submit", &TOLD)
            .keys(&[("message", "prompt")]),
        ROW.gate("PreToolUse", "tool.pre", &GATES).keys(OF_TOOLS),
        ROW.told("PostToolUse", "tool.post", &TOLD).keys(OF_TOOLS),
        ROW.told("PostToolUseFailure", "tool.error", &TOLD)
            .keys(OF_TOOLS),
        ROW.open_gate("Stop", "agent.stop", &GATES),
    ],
    ..FAMILY
};
