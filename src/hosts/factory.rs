//! Factory Droid: Claude Code's events and words; its shell is `Execute`, its writer `Create`.
//!
//! Source: its hooks reference; measured with 0.225.2, which drops context before a tool. Versions
//! 0.186.0 (Factory-AI/factory#3) and 0.225.2 do not read `.factory/hooks.json`, so hookrun is
//! installed into `settings.json`.

use super::claude::{
    ASK, FAMILY, GATES, GATES_AND_TEACHES, NEW_INPUT, OBJECTS, OBSERVED, TEACHES, TOOL_READS,
    post_tool_use,
};
use super::prelude::*;

const EDIT: &[(&str, &str)] = &[("old_string", "old_str"), ("new_string", "new_str")];

static PRE_TOOL_USE: ReplyForm = form(
    &[
        BLOCK_RULE,
        ASK,
        say(New("toolInput"), &[NAMED, (NEW_INPUT, Value)]),
        SHOW,
    ],
    TOOL_READS,
    READS_ADDED,
);

const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(60));

pub(super) static FACTORY: Host = Host {
    name: "factory",
    aliases: &["droid", "factory-droid"],
    title: "Factory Droid",
    program: Some("droid"),
    tools: &[
        tool("Execute", ToolSort::Shell),
        tool("Read", ToolSort::Read),
        tool("Create", ToolSort::Write),
        tool("Edit", ToolSort::Edit).keys(EDIT),
        tool("MultiEdit", ToolSort::Edit),
        tool("ApplyPatch", ToolSort::Patch).keys(&[("command", "input")]),
        tool("Grep", ToolSort::Grep),
        tool("Glob", ToolSort::Glob),
        tool("LS", ToolSort::List),
        tool("FetchUrl", ToolSort::Fetch),
        tool("WebSearch", ToolSort::WebSearch),
        tool("Task", ToolSort::Agent),
    ],
    variables: &[("FACTORY_PROJECT_DIR", VariableValue::Project)],
    events: &[
        ROW.observed("SessionStart", "session.start", &TEACHES),
        ROW.observed("SessionEnd", "session.end", &OBSERVED),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE),
        post_tool_use(ROW, &OBJECTS),
        ROW.observed("Notification", "notification", &OBSERVED),
        ROW.open_gate("SubagentStop", "subagent.stop", &GATES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
        ROW.observed("PreCompact", "compact.pre", &OBSERVED),
    ],
    unseen: &["prompts of `droid exec`, which does not send `UserPromptSubmit` (0.225.2)"],
    settings: Some(HostFile {
        places: &[".factory"],
        ..HostFile::FAMILY
    }),
    install: Install {
        project: ".factory/settings.json",
        user: UserFile::Home(".factory/settings.json"),
        cannot: &["in auto-approve mode, Factory Droid never asks: a question allows the tool"],
        must: &[
            "remove any `hooks.json` next to `settings.json`: according to the documentation it takes precedence, but version 0.225.2 reads only `settings.json`",
        ],
        beside: &["hooks.json"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
