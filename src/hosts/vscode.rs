//! VS Code's agent: Claude Code's events and keys, its own tool names; it ignores matchers.
//!
//! Source: its hooks reference. Older versions sent `hookEventName` and `sessionId`; hookrun reads
//! the names of the reference. It also runs the hooks in Claude Code's settings.

use super::claude::{
    FAMILY, GATES, GATES_AND_TEACHES, OBJECTS, OBSERVED, PRE_TOOL_USE, TEACHES, post_tool_use,
};
use super::prelude::*;

const PATH: (&str, &str) = ("file_path", "filePath");
const EDIT: &[(&str, &str)] = &[
    PATH,
    ("old_string", "oldString"),
    ("new_string", "newString"),
];

const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(30));

pub(super) static VSCODE: Host = Host {
    name: "vscode",
    aliases: &["vs-code"],
    title: "VS Code",
    program: Some("code"),
    tools: &[
        tool("run_in_terminal", ToolSort::Shell),
        tool("read_file", ToolSort::Read).keys(&[PATH]),
        tool("create_file", ToolSort::Write).keys(&[PATH]),
        tool("replace_string_in_file", ToolSort::Edit).keys(EDIT),
        tool("multi_replace_string_in_file", ToolSort::Edit).keys(EDIT),
        tool("insert_edit_into_file", ToolSort::Edit).keys(EDIT),
        tool("apply_patch", ToolSort::Patch).keys(&[("command", "input")]),
        tool("grep_search", ToolSort::Grep).keys(&[("pattern", "query")]),
        tool("file_search", ToolSort::Glob).keys(&[("pattern", "query")]),
        tool("list_dir", ToolSort::List),
        tool("fetch_webpage", ToolSort::Fetch).keys(&[("url", "urls")]),
        tool("runSubagent", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
    events: &[
        ROW.observed("SessionStart", "session.start", &TEACHES),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE),
        post_tool_use(ROW, &OBJECTS),
        ROW.observed("PreCompact", "compact.pre", &OBSERVED),
        ROW.observed("SubagentStart", "subagent.start", &TEACHES),
        ROW.open_gate("SubagentStop", "subagent.stop", &GATES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
    ],
    trust: Some("trust the workspace"),
    reads: &["claude", "copilot"],
    settings: Some(HostFile {
        places: &[".github", ".copilot"],
        hook: &[
            ("type", Kind),
            ("command", Command),
            (
                "linux",
                if cfg!(target_os = "linux") {
                    OwnCommand
                } else {
                    Idle
                },
            ),
            (
                "osx",
                if cfg!(target_os = "macos") {
                    OwnCommand
                } else {
                    Idle
                },
            ),
            ("windows", Idle),
            ("cwd", Folder),
            ("env", Variables),
            ("timeout", Time),
        ],
        ..HostFile::PLAIN
    }),
    install: Install {
        project: ".github/hooks/hookrun-vscode.json",
        user: UserFile::Home(".copilot/hooks/hookrun-vscode.json"),
        must: &["keep the setting `chat.useHooks` on; an organization can disable it"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
