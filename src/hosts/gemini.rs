//! Gemini CLI: its own names, and a reader that lets JSON beat the exit status.
//!
//! Sources: its hooks reference and `packages/core/src/hooks` of 21 August 2026, and what version
//! 0.61.0 did when measured. It reads JSON for any exit status, and JSON wins over the status, so
//! hookrun blocks by exit status 2 with words on stderr and nothing on stdout. `ask` waits for a
//! person even where there is none, but that is what asking means there.

use super::parts::{READS, READS_ADDED, REFUSE, SHOW, TOOL_INPUT};
use super::results::ReplySlot::{Context, New, Objection, Question};
use super::results::ReplyValue::{Plain, Text, Value, Word};
use super::results::{Refuses, ReplyForm, ReplyKey, ReplyRule, key, say};
use super::row::{
    Host, HostEvent, HostTools, KeySpelling, Mcp, Tells, Tool, ToolSort, Wait, tool, variable,
};
use crate::engine::event::Schedule;

const CONTEXT: ReplyRule = say(Context, &[("hookSpecificOutput.additionalContext", Text)]);

const fn form(writes: &'static [ReplyRule], shares: &'static [ReplyKey]) -> ReplyForm {
    ReplyForm {
        writes,
        reads: &[],
        shares,
        refuses: Refuses::FromTwo,
    }
}

static TOLD: ReplyForm = form(&[SHOW], READS);
static TEACHES: ReplyForm = form(&[CONTEXT, SHOW], READS_ADDED);
static GATES: ReplyForm = form(&[REFUSE, SHOW], READS);
static GATES_AND_TEACHES: ReplyForm = form(&[REFUSE, CONTEXT, SHOW], READS_ADDED);

static BEFORE_TOOL: ReplyForm = ReplyForm {
    reads: &[key("hookSpecificOutput.tool_input", TOOL_INPUT)],
    ..form(
        &[
            REFUSE,
            say(Question, &[("decision", Word("ask")), ("reason", Text)]),
            // It replaces the input; that it merges is what its document says, and not what it does.
            say(
                New("toolInput"),
                &[("hookSpecificOutput.tool_input", Value)],
            ),
            // What it reads of `additionalContext` before a tool reaches nobody: measured.
            SHOW,
        ],
        READS_ADDED,
    )
};

/// A block of a result replaces its text.
static AFTER_TOOL: ReplyForm = form(
    &[
        say(Objection, &[("decision", Word("deny")), ("reason", Text)]),
        say(
            New("result"),
            &[("decision", Word("deny")), ("reason", Plain)],
        ),
        CONTEXT,
        SHOW,
    ],
    READS_ADDED,
);

const TOOLS: HostTools = HostTools {
    rows: &[
        tool("run_shell_command", ToolSort::Shell),
        tool("read_file", ToolSort::Read),
        tool("write_file", ToolSort::Write),
        tool("replace", ToolSort::Edit),
        Tool {
            also: &["grep_search"],
            ..tool("search_file_content", ToolSort::Grep)
        },
        tool("grep_search", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("list_directory", ToolSort::List),
        tool("web_fetch", ToolSort::Fetch),
        tool("google_web_search", ToolSort::WebSearch),
        tool("delegate_to_agent", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
};

/// What it waits: its documents, and measured. Its settings count milliseconds.
const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(60));

pub(super) static GEMINI: Host = Host {
    name: "gemini",
    aliases: &["gemini-cli"],
    names_event_by: "hook_event_name",
    spelling: KeySpelling::Snake,
    tools: &TOOLS,
    variables: &[
        variable("GEMINI_PROJECT_DIR", Tells::Project),
        variable("GEMINI_CWD", Tells::Folder),
        variable("GEMINI_SESSION_ID", Tells::Fact("sessionId")),
        variable("CLAUDE_PROJECT_DIR", Tells::Project),
    ],
    like: Some("claude"),
    events: &[
        ROW.told("SessionStart", "session.start", &TEACHES),
        ROW.told("SessionEnd", "session.end", &TOLD),
        ROW.gate("BeforeAgent", "prompt.submit", &GATES_AND_TEACHES),
        ROW.open_gate("AfterAgent", "agent.stop", &GATES)
            .keys(&[("prompt_response", "lastAssistantMessage")]),
        // A block of the model's request is an empty answer.
        ROW.gate("BeforeModel", "model.pre", &GATES),
        ROW.told("AfterModel", "model.post", &TOLD),
        ROW.told("BeforeToolSelection", "model.tools", &TOLD),
        ROW.gate("BeforeTool", "tool.pre", &BEFORE_TOOL),
        ROW.told("AfterTool", "tool.post", &AFTER_TOOL)
            .keys(&[("tool_response", "result")])
            .schedule(Schedule::Sequential),
        ROW.told("Notification", "notification", &TOLD)
            .keys(&[("notification_type", "kind")]),
        ROW.told("PreCompress", "compact.pre", &TOLD),
    ],
    ..Host::PLAIN
};
