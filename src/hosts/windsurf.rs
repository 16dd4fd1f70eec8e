//! Windsurf, now Devin Desktop: Cascade's hooks, an event for each sort of tool.
//!
//! Source: its page "Cascade Hooks". The facts of an event are in `tool_info`. Exit status 2 with
//! words on stderr blocks what is about to happen; nothing asks, rewrites or teaches.

use super::prelude::*;

static TOLD: ReplyForm = form(&[], &[], &[]);
static GATES: ReplyForm = form(&[REFUSE], &[], &[]);

const FACTS: &[InnerFacts] = &[InnerFacts {
    object: "tool_info",
    keys: &[
        "command_line",
        "cwd",
        "file_path",
        "edits",
        "user_prompt",
        "response",
        "mcp_server_name",
        "mcp_tool_name",
        "mcp_tool_arguments",
        "mcp_result",
    ],
}];

const COMMAND: &[&str] = &["command_line", "cwd"];
const FILE: &[&str] = &["file_path"];
const EDITS: &[&str] = &["file_path", "edits"];

const SESSION: (&str, &str) = ("trajectory_id", "sessionId");
const TOOL: (&str, &str) = ("mcp_tool_name", "toolName");
const INPUT: (&str, &str) = ("mcp_tool_arguments", "toolInput");

const TOOLS: HostTools = HostTools {
    rows: &[
        tool("run_command", ToolSort::Shell).keys(&[("command", "command_line")]),
        tool("read_code", ToolSort::Read),
        tool("write_code", ToolSort::Edit),
    ],
    mcp: Mcp::Double,
};

/// What it waits is nowhere stated, and no setting says it.
const ROW: HostEvent = HostEvent::OBSERVER
    .keys(&[SESSION])
    .inside(FACTS)
    .waits(Wait::guessed(30));

pub(super) static WINDSURF: Host = Host {
    name: "windsurf",
    aliases: &["cascade", "devin-desktop"],
    title: "Windsurf",
    names_event_by: "agent_action_name",
    spelling: KeySpelling::Snake,
    tools: &TOOLS,
    events: &[
        ROW.gate("pre_user_prompt", "prompt.submit", &GATES)
            .keys(&[SESSION, ("user_prompt", "prompt")]),
        ROW.gate("pre_run_command", "tool.pre", &GATES)
            .of_tool("run_command", COMMAND),
        ROW.gate("pre_write_code", "tool.pre", &GATES)
            .of_tool("write_code", EDITS),
        ROW.gate("pre_read_code", "tool.pre", &GATES)
            .of_tool("read_code", FILE),
        ROW.gate("pre_mcp_tool_use", "tool.pre", &GATES)
            .keys(&[SESSION, TOOL, INPUT])
            .of_servers(),
        ROW.told("post_run_command", "tool.post", &TOLD)
            .of_tool("run_command", COMMAND),
        ROW.told("post_write_code", "tool.post", &TOLD)
            .of_tool("write_code", EDITS),
        ROW.told("post_read_code", "tool.post", &TOLD)
            .of_tool("read_code", FILE),
        ROW.told("post_mcp_tool_use", "tool.post", &TOLD)
            .keys(&[SESSION, TOOL, INPUT, ("mcp_result", "result")])
            .of_servers(),
        // Its text stays under `raw`: a message is an object elsewhere.
        ROW.told("post_cascade_response", "message.end", &TOLD),
    ],
    unseen: &["tools other than commands, files and MCP tools: search, web, browser"],
    signs: &[sign(
        SignedEvents::KnownOrNew,
        &["agent_action_name", "trajectory_id"],
        &["event"],
    )],
    settings: Some(HostFile {
        shell: Some("bash"),
        dialect: "windsurf",
        places: &[".windsurf", "windsurf"],
        hook: &[
            setting("command", Command),
            setting("powershell", Idle),
            setting("working_directory", Folder),
        ],
        ..HostFile::PLAIN
    }),
    install: Install {
        project: ".windsurf/hooks.json",
        user: UserFile::Home(".codeium/windsurf/hooks.json"),
        ..Install::SETTINGS
    },
    ..Host::PLAIN
};
