//! Kiro, CLI and IDE: Claude Code's events in one list of hooks; status 2 blocks a tool or a
//! prompt.
//!
//! Sources: its pages about hooks (version 3) and migration, and payloads of IDE 1.0.165 that users
//! published. A stop is only observed. Triggers for files and tasks are missing here, because no
//! page shows their payload.

use super::claude::FAMILY;
use super::prelude::*;

static GATES: ReplyForm = form(&[BLOCK_RULE], &[], &[]);

/// Its settings count seconds, by default 60.
const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(60));

pub(super) static KIRO: Host = Host {
    name: "kiro",
    title: "Kiro",
    program: Some("kiro-cli"),
    tools: &[
        tool("execute_bash", ToolSort::Shell).also(&["shell"]),
        tool("fs_read", ToolSort::Read).also(&["read"]).keys(PATH),
        tool("fs_write", ToolSort::Write)
            .also(&["write"])
            .keys(&[("file_path", "path"), ("content", "file_text")]),
        tool("str_replace", ToolSort::Edit)
            .also(&["write"])
            .keys(STR_EDIT),
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("web_fetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
        tool("use_subagent", ToolSort::Agent),
    ],
    mcp: Mcp::At,
    events: &[
        ROW.observed("SessionStart", "session.start", &SILENT)
            .aliases(&["agentSpawn"]),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES),
        ROW.gate("PreToolUse", "tool.pre", &GATES),
        ROW.observed("PostToolUse", "tool.post", &SILENT)
            .keys(&[("tool_response", "result")]),
        ROW.observed("Stop", "agent.stop", &SILENT),
    ],
    unseen: &["tool input in Kiro's IDE, which sends `{}` (1.0.165)"],
    // One list of hooks, each with its event and an action.
    settings: Some(HostFile {
        places: &[".kiro"],
        hook: &[
            ("name", Name),
            ("trigger", Event),
            ("matcher", Matcher),
            ("action", Action),
            ("type", Kind),
            ("command", Command),
            ("timeout", Time),
            ("enabled", Enabled),
            ("description", About),
        ],
        version: Some("\"v1\""),
        ..HostFile::PLAIN
    }),
    install: Install {
        project: ".kiro/hooks/hookrun.json",
        user: UserFile::Home(".kiro/hooks/hookrun.json"),
        cannot: &["for all events, only the reason for a block reaches the model"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
