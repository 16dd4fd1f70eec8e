//! Kiro, CLI and IDE: Claude Code's events in one list of hooks; exit status 2 blocks a tool or a prompt.
//!
//! Sources: its pages about hooks of version 3 and about migration, and what others saw IDE 1.0.165
//! send. A stop can only be watched. Its triggers for files and tasks are not here: no page shows what
//! their hooks get.

use super::claude::FAMILY;
use super::prelude::*;

static GATES: ReplyForm = form(&[REFUSE], &[], &[]);

/// Its settings count seconds, 60 where they say nothing.
const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(60));

pub(super) static KIRO: Host = Host {
    name: "kiro",
    title: "Kiro",
    program: Some("kiro-cli"),
    tools: &HostTools {
        rows: &[
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
    },
    events: &[
        ROW.told("SessionStart", "session.start", &SILENT)
            .aliases(&["agentSpawn"]),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES),
        ROW.gate("PreToolUse", "tool.pre", &GATES),
        ROW.told("PostToolUse", "tool.post", &SILENT)
            .keys(&[("tool_response", "result")]),
        ROW.told("Stop", "agent.stop", &SILENT),
    ],
    unseen: &["the input of a tool in Kiro's IDE: it was seen to send `{}` (1.0.165)"],
    // All hooks are in one list, each with its event and an action.
    settings: Some(HostFile {
        places: &[".kiro"],
        hook: &[
            setting("name", Name),
            setting("trigger", Event),
            setting("matcher", Matcher),
            setting("action", Action),
            setting("type", Kind),
            setting("command", Command),
            setting("timeout", Time),
            setting("enabled", Enabled),
            setting("description", About),
        ],
        version: Some("\"v1\""),
        ..HostFile::PLAIN
    }),
    install: Install {
        project: ".kiro/hooks/hookrun.json",
        user: UserFile::Home(".kiro/hooks/hookrun.json"),
        cannot: &["elsewhere too nothing reaches the model but the reason of a block"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
