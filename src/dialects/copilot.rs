//! GitHub Copilot CLI: camelCase names, and payloads in two spellings.
//!
//! Source: `hooks-reference.md` of its documentation. Before a tool any status but 0 refuses, and
//! JSON that allows cannot undo it; a time-out always lets the tool run, so hookrun's own budget is
//! the only guard. A hook that is registered under a PascalCase name gets Claude's spelling of the
//! keys; both are read. It was not measured.

use super::form::parts;
use super::results::{Hear, HeardValue, On, Put, Refuses, ReplyForm, Say};
use super::row::{
    Dialect, DialectEvent, Discovery, HostTools, KeySpelling, Mcp, Tool, ToolSort, Wait, rewrite,
    tool,
};
use crate::engine::event::{Merge, Schedule};

const CONTEXT: Say = Say { on: On::Context, put: &[("additionalContext", Put::Text)], status: 0 };
const ADDED: Hear = Hear { path: "additionalContext", says: HeardValue::Context };
static TOLD: ReplyForm = ReplyForm { writes: &[], reads: &[], refuses: Refuses::Two };

static TEACHES: ReplyForm =
    ReplyForm { writes: &[CONTEXT], reads: &[ADDED], refuses: Refuses::Two };

static PRE_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        Say {
            on: On::Refusal,
            put: &[
                ("permissionDecision", Put::Word("deny")),
                ("permissionDecisionReason", Put::Text),
            ],
            status: 2,
        },
        Say {
            on: On::Question,
            put: &[
                ("permissionDecision", Put::Word("ask")),
                ("permissionDecisionReason", Put::Text),
            ],
            status: 0,
        },
        Say { on: On::New("toolInput"), put: &[("modifiedArgs", Put::Value)], status: 0 },
    ],
    reads: &[
        Hear {
            path: "permissionDecision",
            says: HeardValue::Words { refuse: &["deny"], ask: &["ask"], pass: &["allow"] },
        },
        Hear { path: "permissionDecisionReason", says: HeardValue::Reason },
        Hear { path: "modifiedArgs", says: HeardValue::New("toolInput") },
    ],
    refuses: Refuses::NonZero,
};

static PERMISSION_REQUEST: ReplyForm = ReplyForm {
    writes: &[Say {
        on: On::Refusal,
        put: &[("behavior", Put::Word("deny")), ("message", Put::Text)],
        status: 2,
    }],
    reads: &[
        Hear {
            path: "behavior",
            says: HeardValue::Words { refuse: &["deny"], ask: &[], pass: &["allow"] },
        },
        Hear { path: "message", says: HeardValue::Reason },
    ],
    refuses: Refuses::Two,
};

/// The tool has run; an objection is text for the model.
static POST_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        Say { on: On::Objection, put: &[("additionalContext", Put::Text)], status: 0 },
        Say { on: On::New("result"), put: &[("modifiedResult", Put::Value)], status: 0 },
        CONTEXT,
    ],
    reads: &[Hear { path: "modifiedResult", says: HeardValue::New("result") }, ADDED],
    refuses: Refuses::Two,
};

/// The exit status is a warning there; the word refuses.
static STOP: ReplyForm = ReplyForm {
    writes: &[Say {
        on: On::Refusal,
        put: &[("decision", Put::Word("block")), ("reason", Put::Text)],
        status: 0,
    }],
    reads: &[
        Hear {
            path: "decision",
            says: HeardValue::Words { refuse: &["block"], ask: &[], pass: &["allow"] },
        },
        parts::REASON,
    ],
    refuses: Refuses::Two,
};

static TRANSFORMED: ReplyForm = ReplyForm {
    writes: &[Say {
        on: On::New("prompt"),
        put: &[("modifiedTransformedPrompt", Put::Plain)],
        status: 0,
    }],
    reads: &[Hear { path: "modifiedTransformedPrompt", says: HeardValue::New("prompt") }],
    refuses: Refuses::Two,
};

const KEYS: &[(&str, &str)] = &[("toolArgs", "toolInput"), ("toolResult", "result")];

/// What its documents show as JSON in a string.
const TEXTS: &[&str] = &["toolArgs"];

/// The spelling of hooks that are registered under a PascalCase name.
const ALSO: &[(&str, &str)] = &[
    ("tool_name", "toolName"),
    ("tool_input", "toolInput"),
    ("tool_result", "result"),
    ("tool_use_id", "toolUseId"),
    ("session_id", "sessionId"),
    ("transcript_path", "transcriptPath"),
    ("stop_hook_active", "stopHookActive"),
];

/// What it waits: its documents.
const WAIT: Option<Wait> = Some(Wait::seconds(30));

const fn told(name: &'static str, event: &'static str, form: &'static ReplyForm) -> DialectEvent {
    DialectEvent {
        keys: KEYS,
        also: ALSO,
        as_text: TEXTS,
        wait: WAIT,
        ..parts::told(name, event, form)
    }
}

const fn gate(name: &'static str, event: &'static str, form: &'static ReplyForm) -> DialectEvent {
    DialectEvent {
        keys: KEYS,
        also: ALSO,
        as_text: TEXTS,
        wait: WAIT,
        ..parts::gate(name, event, form)
    }
}

const fn open_gate(
    name: &'static str,
    event: &'static str,
    form: &'static ReplyForm,
) -> DialectEvent {
    DialectEvent {
        keys: KEYS,
        also: ALSO,
        as_text: TEXTS,
        wait: WAIT,
        ..parts::open_gate(name, event, form)
    }
}

/// Its tools.
const TOOLS: HostTools = HostTools {
    rows: &[
        tool("bash", ToolSort::Shell),
        tool("powershell", ToolSort::Shell),
        Tool { keys: PATH, ..tool("view", ToolSort::Read) },
        Tool {
            keys: &[("file_path", "path"), ("content", "file_text")],
            ..tool("create", ToolSort::Write)
        },
        Tool { keys: EDIT, ..tool("edit", ToolSort::Edit) },
        Tool { keys: EDIT, ..tool("str_replace_editor", ToolSort::Edit) },
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("web_fetch", ToolSort::Fetch),
        tool("task", ToolSort::Agent),
    ],
    mcp: Mcp::Hyphen,
};

const PATH: &[(&str, &str)] = &[("file_path", "path")];
const EDIT: &[(&str, &str)] =
    &[("file_path", "path"), ("old_string", "old_str"), ("new_string", "new_str")];

/// GitHub Copilot CLI.
pub(super) static COPILOT: Dialect = Dialect {
    name: "copilot",
    aliases: &["copilot-cli"],
    summary: "GitHub Copilot CLI: any status but 0 blocks a tool, a prompt cannot be blocked",
    names_event_by: "hook_event_name",
    discovery: Discovery::All,
    spelling: KeySpelling::Camel,
    runs_once: false,
    tools: &TOOLS,
    variables: &[],
    events: &[
        told("sessionStart", "session.start", &TEACHES),
        told("sessionEnd", "session.end", &TOLD),
        // What it says is dropped there.
        DialectEvent {
            aliases: &["UserPromptSubmit"],
            ..told("userPromptSubmitted", "prompt.submit", &TOLD)
        },
        DialectEvent {
            rewrites: &[rewrite("prompt", Merge::Chain)],
            schedule: Schedule::Sequential,
            ..told("userPromptTransformed", "prompt.expand", &TRANSFORMED)
        },
        DialectEvent {
            rewrites: &[rewrite("toolInput", Merge::Chain)],
            ..gate("preToolUse", "tool.pre", &PRE_TOOL_USE)
        },
        DialectEvent {
            rewrites: &[rewrite("result", Merge::Chain)],
            schedule: Schedule::Sequential,
            ..told("postToolUse", "tool.post", &POST_TOOL_USE)
        },
        told("postToolUseFailure", "tool.error", &TEACHES),
        gate("permissionRequest", "permission.request", &PERMISSION_REQUEST),
        DialectEvent { aliases: &["Stop"], ..open_gate("agentStop", "agent.stop", &STOP) },
        told("subagentStart", "subagent.start", &TEACHES),
        open_gate("subagentStop", "subagent.stop", &STOP),
        told("preCompact", "compact.pre", &TOLD),
        told("notification", "notification", &TEACHES),
        told("errorOccurred", "error", &TOLD),
    ],
};
