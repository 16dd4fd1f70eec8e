//! Gemini CLI: its own names, and a reader that lets JSON beat the exit status.
//!
//! Sources: its hooks reference and `packages/core/src/hooks` of 21 August 2026, and what version
//! 0.61.0 did when measured. JSON is read for any exit status and wins over it, so a refusal is
//! exit status 2 with words on stderr and nothing on stdout. `ask` waits for a person even where
//! there is none, but that is what asking means there.

use super::form::parts::{self, ADDED, DECISION, HALT, MESSAGE, REASON, REFUSE, SHOW, STOP_REASON};
use super::results::{Hear, HeardValue, On, Put, Refuses, ReplyForm, Say};
use super::row::{
    Dialect, DialectEvent, Discovery, HostTools, KeySpelling, Mcp, Tells, Tool, ToolSort, Wait,
    rewrite, tool, variable,
};
use crate::engine::event::{Merge, Schedule};

const CONTEXT: Say =
    Say { on: On::Context, put: &[("hookSpecificOutput.additionalContext", Put::Text)], status: 0 };

static TOLD: ReplyForm = ReplyForm {
    writes: &[SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, MESSAGE],
    refuses: Refuses::FromTwo,
};

static TEACHES: ReplyForm = ReplyForm {
    writes: &[CONTEXT, SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, ADDED, MESSAGE],
    refuses: Refuses::FromTwo,
};

static GATES: ReplyForm = ReplyForm {
    writes: &[REFUSE, SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, MESSAGE],
    refuses: Refuses::FromTwo,
};

static GATES_AND_TEACHES: ReplyForm = ReplyForm {
    writes: &[REFUSE, CONTEXT, SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, ADDED, MESSAGE],
    refuses: Refuses::FromTwo,
};

static BEFORE_TOOL: ReplyForm = ReplyForm {
    writes: &[
        REFUSE,
        Say {
            on: On::Question,
            put: &[("decision", Put::Word("ask")), ("reason", Put::Text)],
            status: 0,
        },
        // It replaces the input; that it merges is what its document says, and not what it does.
        Say {
            on: On::New("toolInput"),
            put: &[("hookSpecificOutput.tool_input", Put::Value)],
            status: 0,
        },
        // What it reads of `additionalContext` before a tool reaches nobody: measured.
        SHOW,
    ],
    reads: &[
        HALT,
        STOP_REASON,
        DECISION,
        REASON,
        Hear { path: "hookSpecificOutput.tool_input", says: HeardValue::New("toolInput") },
        ADDED,
        MESSAGE,
    ],
    refuses: Refuses::FromTwo,
};

/// The text of a result is replaced by a refusal of it.
static AFTER_TOOL: ReplyForm = ReplyForm {
    writes: &[
        Say {
            on: On::Objection,
            put: &[("decision", Put::Word("deny")), ("reason", Put::Text)],
            status: 0,
        },
        Say {
            on: On::New("result"),
            put: &[("decision", Put::Word("deny")), ("reason", Put::Plain)],
            status: 0,
        },
        CONTEXT,
        SHOW,
    ],
    reads: &[HALT, STOP_REASON, DECISION, REASON, ADDED, MESSAGE],
    refuses: Refuses::FromTwo,
};

/// Its tools.
const TOOLS: HostTools = HostTools {
    rows: &[
        tool("run_shell_command", ToolSort::Shell),
        tool("read_file", ToolSort::Read),
        tool("write_file", ToolSort::Write),
        tool("replace", ToolSort::Edit),
        Tool { also: &["grep_search"], ..tool("search_file_content", ToolSort::Grep) },
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
const WAIT: Option<Wait> = Some(Wait::seconds(60));

const fn told(name: &'static str, event: &'static str, form: &'static ReplyForm) -> DialectEvent {
    DialectEvent { wait: WAIT, ..parts::told(name, event, form) }
}

const fn gate(name: &'static str, event: &'static str, form: &'static ReplyForm) -> DialectEvent {
    DialectEvent { wait: WAIT, ..parts::gate(name, event, form) }
}

const fn open_gate(
    name: &'static str,
    event: &'static str,
    form: &'static ReplyForm,
) -> DialectEvent {
    DialectEvent { wait: WAIT, ..parts::open_gate(name, event, form) }
}

/// Gemini CLI.
pub(super) static GEMINI: Dialect = Dialect {
    name: "gemini",
    aliases: &["gemini-cli"],
    summary: "Gemini CLI: JSON beats the exit status, so a block is text on stderr alone",
    names_event_by: "hook_event_name",
    discovery: Discovery::All,
    spelling: KeySpelling::Snake,
    runs_once: false,
    tools: &TOOLS,
    variables: &[
        variable("GEMINI_PROJECT_DIR", Tells::Project),
        variable("GEMINI_CWD", Tells::Folder),
        variable("GEMINI_SESSION_ID", Tells::Fact("sessionId")),
        variable("CLAUDE_PROJECT_DIR", Tells::Project),
    ],
    events: &[
        told("SessionStart", "session.start", &TEACHES),
        told("SessionEnd", "session.end", &TOLD),
        gate("BeforeAgent", "prompt.submit", &GATES_AND_TEACHES),
        DialectEvent {
            keys: &[("prompt_response", "lastAssistantMessage")],
            ..open_gate("AfterAgent", "agent.stop", &GATES)
        },
        // A refusal of the model's request is an empty answer.
        gate("BeforeModel", "model.pre", &GATES),
        told("AfterModel", "model.post", &TOLD),
        told("BeforeToolSelection", "model.tools", &TOLD),
        DialectEvent {
            rewrites: &[rewrite("toolInput", Merge::Chain)],
            ..gate("BeforeTool", "tool.pre", &BEFORE_TOOL)
        },
        DialectEvent {
            keys: &[("tool_response", "result")],
            rewrites: &[rewrite("result", Merge::Chain)],
            schedule: Schedule::Sequential,
            ..told("AfterTool", "tool.post", &AFTER_TOOL)
        },
        DialectEvent {
            keys: &[("notification_type", "kind")],
            ..told("Notification", "notification", &TOLD)
        },
        told("PreCompress", "compact.pre", &TOLD),
    ],
};
