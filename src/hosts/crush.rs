//! Crush: one event, `PreToolUse`, and its own answer format. Exit status 49 ends the agent's turn.
//!
//! Source: `docs/hooks/README.md` of its repository. A new input is merged into the old one by key.
//! `allow` would skip Crush's own question to its user, so hookrun never sends it.

use super::claude::FAMILY;
use super::prelude::*;

static PRE_TOOL_USE: ReplyForm = ReplyForm {
    blocks: BlockStatus::TwoOr(49),
    ..form(
        &[
            BLOCK_RULE,
            say(New("toolInput"), &[("updated_input", Value)]),
            say(Context, &[("context", Text)]),
        ],
        &[
            key("decision", YES_OR_NO),
            key("halt", KeyMeaning::Block(true)),
            REASON,
            key("context", KeyMeaning::Context),
            key("updated_input", TOOL_INPUT),
        ],
        &[],
    )
};

pub(super) static CRUSH: Host = Host {
    name: "crush",
    title: "Crush",
    names_event_by: "event",
    tools: &[
        tool("bash", ToolSort::Shell),
        tool("view", ToolSort::Read),
        tool("write", ToolSort::Write),
        tool("edit", ToolSort::Edit),
        tool("multiedit", ToolSort::Edit),
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("ls", ToolSort::List),
        tool("fetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
        tool("agent", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
    variables: &[
        ("CRUSH_PROJECT_DIR", VariableValue::Project),
        ("CRUSH_CWD", VariableValue::Folder),
        ("CRUSH_SESSION_ID", VariableValue::Fact("sessionId")),
        ("CRUSH_TOOL_NAME", VariableValue::Fact("toolName")),
        (
            "CRUSH_TOOL_INPUT_COMMAND",
            VariableValue::Fact("toolInput.command"),
        ),
        (
            "CRUSH_TOOL_INPUT_FILE_PATH",
            VariableValue::Fact("toolInput.file_path"),
        ),
        ("CRUSH", VariableValue::Word("1")),
    ],
    events: &[HostEvent::OBSERVER.waits(Wait::seconds(30)).gate(
        "PreToolUse",
        "tool.pre",
        &PRE_TOOL_USE,
    )],
    unseen: &["tool calls of subagents"],
    settings: Some(HostFile {
        places: &["crush", "crush.json", ".crush.json"],
        hook: &[
            ("name", Name),
            ("matcher", Matcher),
            ("command", Command),
            ("timeout", Time),
        ],
        runs_at_once: true,
        ..HostFile::PLAIN
    }),
    install: Install {
        project: "crush.json",
        user: UserFile::Config("crush/crush.json"),
        cannot: &["Crush merges new tool input into the old, so a key that a hook removes stays"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
