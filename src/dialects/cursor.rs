//! Cursor: twenty-one events, of which some tell of one tool each.
//!
//! Sources: its "Hooks" and "Third party hooks" documents. Exit status 2 refuses wherever a hook
//! may; the JSON says it as well, to the user and to the agent. `ask` is enforced for shell
//! commands and MCP tools only. It was not measured.

use std::time::Duration;

use super::form::parts;
use super::results::{Hear, HeardValue, On, Put, Refuses, ReplyForm, Say};
use super::row::{
    Dialect, DialectEvent, Discovery, Gather, HostTools, KeySpelling, Mcp, Tells, ToolSort, Wait,
    rewrite, tool, variable,
};
use crate::engine::event::{Conduct, Merge};

const DENY: Say = Say {
    on: On::Refusal,
    put: &[
        ("permission", Put::Word("deny")),
        ("user_message", Put::Text),
        ("agent_message", Put::Text),
    ],
    status: 2,
};

const ASK: Say = Say {
    on: On::Question,
    put: &[("permission", Put::Word("ask")), ("user_message", Put::Text)],
    status: 0,
};

const PERMISSION: Hear = Hear {
    path: "permission",
    says: HeardValue::Words { refuse: &["deny"], ask: &["ask"], pass: &["allow"] },
};
const AGENT_MESSAGE: Hear = Hear { path: "agent_message", says: HeardValue::Reason };
const USER_MESSAGE: Hear = Hear { path: "user_message", says: HeardValue::Reason };

static TOLD: ReplyForm = ReplyForm { writes: &[], reads: &[], refuses: Refuses::Two };

static SESSION_START: ReplyForm = ReplyForm {
    writes: &[Say { on: On::Context, put: &[("additional_context", Put::Text)], status: 0 }],
    reads: &[Hear { path: "additional_context", says: HeardValue::Context }],
    refuses: Refuses::Two,
};

/// Any tool: a question is not enforced, so it refuses.
static PRE_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        DENY,
        Say { on: On::New("toolInput"), put: &[("updated_input", Put::Value)], status: 0 },
    ],
    reads: &[
        PERMISSION,
        AGENT_MESSAGE,
        USER_MESSAGE,
        Hear { path: "updated_input", says: HeardValue::New("toolInput") },
    ],
    refuses: Refuses::Two,
};

/// A shell command or an MCP tool.
static BEFORE_RUNNING: ReplyForm = ReplyForm {
    writes: &[DENY, ASK],
    reads: &[PERMISSION, AGENT_MESSAGE, USER_MESSAGE],
    refuses: Refuses::Two,
};

/// A file is read, or a subagent starts: yes or no.
static GATES: ReplyForm = ReplyForm {
    writes: &[DENY],
    reads: &[PERMISSION, AGENT_MESSAGE, USER_MESSAGE],
    refuses: Refuses::Two,
};

/// The tool has run; an objection is text for the model.
static POST_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        Say { on: On::Objection, put: &[("additional_context", Put::Text)], status: 0 },
        Say { on: On::Context, put: &[("additional_context", Put::Text)], status: 0 },
    ],
    reads: &[Hear { path: "additional_context", says: HeardValue::Context }],
    refuses: Refuses::Two,
};

static BEFORE_SUBMIT_PROMPT: ReplyForm = ReplyForm {
    writes: &[Say {
        on: On::Refusal,
        put: &[("continue", Put::Flag(false)), ("user_message", Put::Text)],
        status: 2,
    }],
    reads: &[Hear { path: "continue", says: HeardValue::Flag(false) }, USER_MESSAGE],
    refuses: Refuses::Two,
};

/// To go on is to be told what to do.
static STOP: ReplyForm = ReplyForm {
    writes: &[Say { on: On::Refusal, put: &[("followup_message", Put::Text)], status: 0 }],
    reads: &[Hear { path: "followup_message", says: HeardValue::Objection }],
    refuses: Refuses::Two,
};

static PRE_COMPACT: ReplyForm = ReplyForm {
    writes: &[Say { on: On::Output, put: &[("user_message", Put::Text)], status: 0 }],
    reads: &[Hear { path: "user_message", says: HeardValue::Output }],
    refuses: Refuses::Two,
};

const SESSION: (&str, &str) = ("conversation_id", "sessionId");

/// What it waits is nowhere stated ("the platform's default"). Its documents show hooks with 30 s,
/// so no less is meant, and half a minute is what the shortest of the others wait for a tool.
const WAIT: Option<Wait> =
    Some(Wait { usual: Duration::from_secs(30), longest: None, is_known: false });

const fn told(name: &'static str, event: &'static str, form: &'static ReplyForm) -> DialectEvent {
    DialectEvent { keys: &[SESSION], wait: WAIT, ..parts::told(name, event, form) }
}

const fn gate(name: &'static str, event: &'static str, form: &'static ReplyForm) -> DialectEvent {
    DialectEvent { keys: &[SESSION], wait: WAIT, ..parts::gate(name, event, form) }
}

const fn open_gate(
    name: &'static str,
    event: &'static str,
    form: &'static ReplyForm,
) -> DialectEvent {
    DialectEvent { keys: &[SESSION], wait: WAIT, ..parts::open_gate(name, event, form) }
}

/// It starts the agent again at most five times.
const fn stop_gate(name: &'static str, event: &'static str) -> DialectEvent {
    let row = open_gate(name, event, &STOP);
    DialectEvent { conduct: Conduct { most_refusals: Some(5), ..row.conduct }, ..row }
}

const fn of_tool(
    row: DialectEvent,
    tool: &'static str,
    keys: &'static [&'static str],
) -> DialectEvent {
    DialectEvent { gather: Some(Gather { tool, keys }), ..row }
}

/// Its tools. What changes a file is `Write`, whether it writes or edits; `Edit` is what its own
/// event of edited files is read as.
const TOOLS: HostTools = HostTools {
    rows: &[
        tool("Shell", ToolSort::Shell),
        tool("Read", ToolSort::Read),
        tool("Write", ToolSort::Write),
        tool("Write", ToolSort::Edit),
        tool("Edit", ToolSort::Edit),
        tool("Grep", ToolSort::Grep),
        tool("Task", ToolSort::Agent),
    ],
    mcp: Mcp::Bare,
};

/// Cursor.
pub(super) static CURSOR: Dialect = Dialect {
    name: "cursor",
    aliases: &[],
    summary: "Cursor: exit status 2 blocks, and JSON says why to the user and the agent",
    names_event_by: "hook_event_name",
    discovery: Discovery::All,
    spelling: KeySpelling::Snake,
    runs_once: false,
    tools: &TOOLS,
    variables: &[
        variable("CURSOR_PROJECT_DIR", Tells::Project),
        variable("CURSOR_VERSION", Tells::Fact("raw.cursor_version")),
        variable("CURSOR_USER_EMAIL", Tells::Fact("raw.user_email")),
        variable("CURSOR_TRANSCRIPT_PATH", Tells::Fact("transcriptPath")),
        variable("CLAUDE_PROJECT_DIR", Tells::Project),
    ],
    events: &[
        told("sessionStart", "session.start", &SESSION_START),
        told("sessionEnd", "session.end", &TOLD),
        DialectEvent {
            rewrites: &[rewrite("toolInput", Merge::Chain)],
            ..gate("preToolUse", "tool.pre", &PRE_TOOL_USE)
        },
        // Its `tool_output` is JSON in a string, and stays one.
        DialectEvent {
            keys: &[SESSION, ("tool_output", "result"), ("duration", "durationMs")],
            as_text: &["tool_output"],
            ..told("postToolUse", "tool.post", &POST_TOOL_USE)
        },
        DialectEvent {
            keys: &[SESSION, ("error_message", "error"), ("duration", "durationMs")],
            ..told("postToolUseFailure", "tool.error", &POST_TOOL_USE)
        },
        DialectEvent {
            keys: &[
                SESSION,
                ("subagent_id", "agentId"),
                ("subagent_type", "agentType"),
                ("task", "prompt"),
            ],
            ..gate("subagentStart", "subagent.start", &GATES)
        },
        DialectEvent {
            keys: &[SESSION, ("subagent_id", "agentId"), ("subagent_type", "agentType")],
            ..stop_gate("subagentStop", "subagent.stop")
        },
        of_tool(
            gate("beforeShellExecution", "tool.pre", &BEFORE_RUNNING),
            "Shell",
            &["command", "sandbox"],
        ),
        DialectEvent {
            keys: &[SESSION, ("output", "result"), ("duration", "durationMs")],
            ..of_tool(
                told("afterShellExecution", "tool.post", &TOLD),
                "Shell",
                &["command", "sandbox"],
            )
        },
        DialectEvent {
            is_of_servers: true,
            as_text: &["tool_input"],
            ..gate("beforeMCPExecution", "tool.pre", &BEFORE_RUNNING)
        },
        DialectEvent {
            keys: &[SESSION, ("result_json", "result"), ("duration", "durationMs")],
            is_of_servers: true,
            as_text: &["tool_input", "result_json"],
            ..told("afterMCPExecution", "tool.post", &TOLD)
        },
        of_tool(gate("beforeReadFile", "tool.pre", &GATES), "Read", &["file_path"]),
        of_tool(told("afterFileEdit", "tool.post", &TOLD), "Edit", &["file_path", "edits"]),
        of_tool(gate("beforeTabFileRead", "tool.pre", &GATES), "Read", &["file_path"]),
        of_tool(told("afterTabFileEdit", "tool.post", &TOLD), "Edit", &["file_path", "edits"]),
        gate("beforeSubmitPrompt", "prompt.submit", &BEFORE_SUBMIT_PROMPT),
        told("preCompact", "compact.pre", &PRE_COMPACT),
        stop_gate("stop", "agent.stop"),
        told("afterAgentResponse", "message.end", &TOLD),
        DialectEvent {
            keys: &[SESSION, ("text", "thought")],
            ..told("afterAgentThought", "message.thought", &TOLD)
        },
        told("workspaceOpen", "resources.discover", &TOLD),
    ],
};
