//! goose: hooks of Open Plugins, of which two can block.
//!
//! Source: `hooks.md` of its documentation; measured with 1.52.0. Version 1.34.0 ignores a block.
//! Its own tools have plain names (`shell`, in 1.34.0 `developer__shell`). On a gate, any stdout
//! but a decision is a failure of the hook, so hookrun prints to stderr. With `on_failure: block` a
//! failure blocks a tool; every other failure passes.

use super::claude::FAMILY;
use super::prelude::*;

static GATES: ReplyForm = form(&[BLOCK_RULE], &[DECISION, REASON], &[]);

const EDIT: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("old_string", "before"),
    ("new_string", "after"),
];

const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(30));
const OF_TOOLS: &[(&str, &str)] = &[("working_dir", "cwd"), ("tool_call_id", "toolUseId")];

pub(super) static GOOSE: Host = Host {
    name: "goose",
    title: "goose",
    names_event_by: "event",
    tools: &[
        tool("shell", ToolSort::Shell),
        tool("read_image", ToolSort::Read).keys(&[("file_path", "source")]),
        tool("write", ToolSort::Write).keys(&[("file_path", "path")]),
        tool("edit", ToolSort::Edit).keys(EDIT),
        tool("tree", ToolSort::List),
        tool("developer__shell", ToolSort::Shell),
        tool("developer__read_image", ToolSort::Read).keys(&[("file_path", "source")]),
        tool("developer__write", ToolSort::Write).keys(&[("file_path", "path")]),
        tool("developer__edit", ToolSort::Edit).keys(EDIT),
        tool("developer__tree", ToolSort::List),
    ],
    mcp: Mcp::Plain,
    events: &[
        ROW.observed("SessionStart", "session.start", &SILENT),
        ROW.observed("SessionEnd", "session.end", &SILENT),
        ROW.observed("UserPromptSubmit", "prompt.submit", &SILENT)
            .keys(&[("message", "prompt")]),
        ROW.gate("PreToolUse", "tool.pre", &GATES).keys(OF_TOOLS),
        ROW.observed("PostToolUse", "tool.post", &SILENT)
            .keys(OF_TOOLS),
        ROW.observed("PostToolUseFailure", "tool.error", &SILENT)
            .keys(OF_TOOLS),
        ROW.open_gate("Stop", "agent.stop", &GATES),
    ],
    fails_closed: FailsClosed::Always,
    settings: Some(HostFile {
        shell: Some("sh"),
        places: &[".agents"],
        hook: &[
            ("type", Kind),
            ("command", Command),
            ("timeout", Time),
            ("on_failure", Closed),
        ],
        closed: "\"block\"",
        of_plugin: &["PLUGIN_ROOT"],
        ..HostFile::FAMILY
    }),
    install: Install {
        project: ".agents/plugins/hookrun/hooks/hooks.json",
        user: UserFile::Home(".agents/plugins/hookrun/hooks/hooks.json"),
        cannot: &["for all events, only the reason for a block reaches the model"],
        must: &["restart the agent, because it reads plugins only when it starts"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
