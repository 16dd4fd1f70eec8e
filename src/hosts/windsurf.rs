//! Windsurf, now Devin Desktop, and Devin CLI.
//!
//! Windsurf has Cascade's hooks, an event for each kind of tool, with the facts in `tool_info`.
//! Source: its page "Cascade Hooks". Devin CLI has Claude Code's events, and also runs the hooks in
//! Claude Code's settings. Source: its pages about hooks and their lifecycle. In both, exit status
//! 2 with the reason on stderr blocks; neither asks or rewrites.

use super::claude;
use super::prelude::*;

static GATES: ReplyForm = form(&[BLOCK_RULE], &[], &[]);

const FACTS: &[(&str, &[&str])] = &[(
    "tool_info",
    words!(
        "command_line" "cwd" "file_path" "edits" "user_prompt" "response" "mcp_server_name"
        "mcp_tool_name" "mcp_tool_arguments" "mcp_result"
    ),
)];

const COMMAND: &[&str] = &["command_line", "cwd"];
const FILE: &[&str] = &["file_path"];
const EDITS: &[&str] = &["file_path", "edits"];

const SESSION: (&str, &str) = ("trajectory_id", "sessionId");
const TOOL: (&str, &str) = ("mcp_tool_name", "toolName");
const INPUT: (&str, &str) = ("mcp_tool_arguments", "toolInput");

/// The timeout is undocumented and not configurable.
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
    tools: &[
        tool("run_command", ToolSort::Shell).keys(&[("command", "command_line")]),
        tool("read_code", ToolSort::Read),
        tool("write_code", ToolSort::Edit),
    ],
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
            .is_of_servers(true),
        ROW.observed("post_run_command", "tool.post", &SILENT)
            .of_tool("run_command", COMMAND),
        ROW.observed("post_write_code", "tool.post", &SILENT)
            .of_tool("write_code", EDITS),
        ROW.observed("post_read_code", "tool.post", &SILENT)
            .of_tool("read_code", FILE),
        ROW.observed("post_mcp_tool_use", "tool.post", &SILENT)
            .keys(&[SESSION, TOOL, INPUT, ("mcp_result", "result")])
            .is_of_servers(true),
        // Its text stays under `raw`: our `message` is an object.
        ROW.observed("post_cascade_response", "message.end", &SILENT),
    ],
    unseen: &["other tools than command, file and MCP tools, such as search, web and browser"],
    signs: &[sign(
        SignedEvents::KnownOrNew,
        &["agent_action_name", "trajectory_id"],
        &["event"],
    )],
    settings: Some(HostFile {
        shell: Some("bash"),
        places: &[".windsurf", "windsurf"],
        hook: &[
            ("command", Command),
            ("powershell", Idle),
            ("working_directory", Folder),
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

const DEVIN_ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::guessed(30));

pub(super) static DEVIN: Host = Host {
    name: "devin",
    aliases: &["devin-cli"],
    title: "Devin CLI",
    tools: &[
        tool("exec", ToolSort::Shell),
        tool("read", ToolSort::Read),
        tool("write", ToolSort::Write),
        tool("edit", ToolSort::Edit),
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("webfetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
    ],
    variables: &[("DEVIN_PROJECT_DIR", VariableValue::Project)],
    events: &[
        DEVIN_ROW.observed("SessionStart", "session.start", &claude::TEACHES),
        DEVIN_ROW.observed("SessionEnd", "session.end", &claude::OBSERVED),
        DEVIN_ROW.gate(
            "UserPromptSubmit",
            "prompt.submit",
            &claude::GATES_AND_TEACHES,
        ),
        DEVIN_ROW.gate("PreToolUse", "tool.pre", &claude::GATES),
        DEVIN_ROW.gate("PermissionRequest", "permission.request", &claude::GATES),
        claude::post_tool_use(DEVIN_ROW, &claude::TEACHES),
        DEVIN_ROW.open_gate("Stop", "agent.stop", &claude::GATES),
    ],
    reads: &["claude"],
    settings: Some(HostFile {
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
    ..claude::FAMILY
};
