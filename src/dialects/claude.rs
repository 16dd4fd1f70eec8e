//! Claude Code: thirty-three events, PascalCase names, snake_case keys.
//!
//! Sources: its "Hooks reference" of 22 August 2026, and what version 2.1.329 did when measured.
//! Exit status 2 with the reason on stderr refuses in every event that can be refused and cannot
//! be undone by anything on stdout, so it is the way to refuse wherever it works; JSON stands
//! alone, with status 0.

use super::form::parts::{
    ADDED, DECISION, HALT, MESSAGE, NAMED, PERMISSION, PERMISSION_REASON, REASON, REFUSE, SHOW,
    STOP_REASON, TEACH, gate, open_gate, told,
};
use super::results::{Hear, HeardValue, On, Put, Refuses, ReplyForm, Say};
use super::row::{
    Dialect, DialectEvent, Discovery, HostTools, KeySpelling, Mcp, Tells, Tool, ToolSort, Wait,
    rewrite, tool, variable,
};
use crate::engine::event::{Merge, Schedule};

/// Is told, and its context reaches nobody.
pub(super) static TOLD: ReplyForm = ReplyForm {
    writes: &[SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, MESSAGE],
    refuses: Refuses::Two,
};

/// Is told, and its context reaches the model.
pub(super) static TEACHES: ReplyForm = ReplyForm {
    writes: &[TEACH, SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, ADDED, MESSAGE],
    refuses: Refuses::Two,
};

/// May refuse by exit status 2.
pub(super) static GATES: ReplyForm = ReplyForm {
    writes: &[REFUSE, SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, MESSAGE],
    refuses: Refuses::Two,
};

/// May refuse, and its context reaches the model.
pub(super) static GATES_AND_TEACHES: ReplyForm = ReplyForm {
    writes: &[REFUSE, TEACH, SHOW],
    reads: &[HALT, STOP_REASON, DECISION, REASON, ADDED, MESSAGE],
    refuses: Refuses::Two,
};

/// What a hook before a tool says; Codex reads the same.
pub(super) const TOOL_READS: &[Hear] = &[
    PERMISSION,
    PERMISSION_REASON,
    Hear { path: "hookSpecificOutput.updatedInput", says: HeardValue::New("toolInput") },
    HALT,
    STOP_REASON,
    DECISION,
    REASON,
    ADDED,
    MESSAGE,
];

static PRE_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        REFUSE,
        Say {
            on: On::Question,
            put: &[
                NAMED,
                ("hookSpecificOutput.permissionDecision", Put::Word("ask")),
                ("hookSpecificOutput.permissionDecisionReason", Put::Text),
            ],
            status: 0,
        },
        Say {
            on: On::New("toolInput"),
            put: &[NAMED, ("hookSpecificOutput.updatedInput", Put::Value)],
            status: 0,
        },
        TEACH,
        SHOW,
    ],
    reads: TOOL_READS,
    refuses: Refuses::Two,
};

/// It ignores the exit status.
pub(super) static PERMISSION_REQUEST: ReplyForm = ReplyForm {
    writes: &[
        Say {
            on: On::Refusal,
            put: &[
                NAMED,
                ("hookSpecificOutput.decision.behavior", Put::Word("deny")),
                ("hookSpecificOutput.decision.message", Put::Text),
            ],
            status: 0,
        },
        SHOW,
    ],
    reads: &[
        Hear {
            path: "hookSpecificOutput.decision.behavior",
            says: HeardValue::Words { refuse: &["deny"], ask: &[], pass: &["allow"] },
        },
        Hear { path: "hookSpecificOutput.decision.message", says: HeardValue::Reason },
        HALT,
        STOP_REASON,
        DECISION,
        REASON,
        MESSAGE,
    ],
    refuses: Refuses::Two,
};

/// The tool has run; an objection is put beside its result.
static POST_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        Say {
            on: On::Objection,
            put: &[("decision", Put::Word("block")), ("reason", Put::Text)],
            status: 0,
        },
        Say {
            on: On::New("result"),
            put: &[NAMED, ("hookSpecificOutput.updatedToolOutput", Put::Value)],
            status: 0,
        },
        TEACH,
        SHOW,
    ],
    reads: &[
        Hear { path: "hookSpecificOutput.updatedToolOutput", says: HeardValue::New("result") },
        Hear { path: "hookSpecificOutput.updatedMCPToolOutput", says: HeardValue::New("result") },
        HALT,
        STOP_REASON,
        DECISION,
        REASON,
        ADDED,
        MESSAGE,
    ],
    refuses: Refuses::Two,
};

static MESSAGE_DISPLAY: ReplyForm = ReplyForm {
    writes: &[
        Say {
            on: On::New("delta"),
            put: &[NAMED, ("hookSpecificOutput.displayContent", Put::Value)],
            status: 0,
        },
        SHOW,
    ],
    reads: &[
        Hear { path: "hookSpecificOutput.displayContent", says: HeardValue::New("delta") },
        MESSAGE,
    ],
    refuses: Refuses::Two,
};

/// Its tools; `MultiEdit` and `Agent` by version.
const TOOLS: HostTools = HostTools {
    rows: &[
        tool("Bash", ToolSort::Shell),
        tool("Read", ToolSort::Read),
        tool("Write", ToolSort::Write),
        tool("Edit", ToolSort::Edit),
        tool("MultiEdit", ToolSort::Edit),
        tool("Grep", ToolSort::Grep),
        tool("Glob", ToolSort::Glob),
        tool("LS", ToolSort::List),
        tool("WebFetch", ToolSort::Fetch),
        tool("WebSearch", ToolSort::WebSearch),
        Tool { also: &["Agent"], ..tool("Task", ToolSort::Agent) },
        Tool { also: &["Task"], ..tool("Agent", ToolSort::Agent) },
    ],
    mcp: Mcp::Double,
};

/// What it waits where the user waits too: its documents.
const SHORTLY: Option<Wait> = Some(Wait::seconds(30));

/// What it waits for text that is about to be shown: its documents.
const AT_ONCE: Option<Wait> = Some(Wait::seconds(10));

/// What it waits at the end: measured. It is the time of all hooks together, and up to 60 s where
/// a hook says more.
const AT_THE_END: Option<Wait> = Some(Wait::millis(1500).at_most(60));

/// Claude Code.
pub(super) static CLAUDE: Dialect = Dialect {
    name: "claude",
    aliases: &["claude-code"],
    summary: "Claude Code: exit status 2 blocks, JSON rewrites and teaches",
    names_event_by: "hook_event_name",
    discovery: Discovery::All,
    spelling: KeySpelling::Snake,
    runs_once: true,
    tools: &TOOLS,
    variables: &[
        variable("CLAUDE_PROJECT_DIR", Tells::Project),
        variable("CLAUDE_CODE_SESSION_ID", Tells::Fact("sessionId")),
        variable("CLAUDECODE", Tells::Word("1")),
    ],
    events: &[
        DialectEvent { text_teaches: true, ..told("SessionStart", "session.start", &TEACHES) },
        told("Setup", "setup", &TEACHES),
        DialectEvent {
            keys: &[("load_reason", "reason")],
            ..told("InstructionsLoaded", "instructions.load", &TOLD)
        },
        DialectEvent {
            text_teaches: true,
            wait: SHORTLY,
            ..gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES)
        },
        DialectEvent {
            text_teaches: true,
            ..gate("UserPromptExpansion", "prompt.expand", &GATES_AND_TEACHES)
        },
        DialectEvent {
            rewrites: &[rewrite("delta", Merge::Chain)],
            schedule: Schedule::Sequential,
            wait: AT_ONCE,
            ..told("MessageDisplay", "message.display", &MESSAGE_DISPLAY)
        },
        DialectEvent {
            rewrites: &[rewrite("toolInput", Merge::Chain)],
            ..gate("PreToolUse", "tool.pre", &PRE_TOOL_USE)
        },
        gate("PermissionRequest", "permission.request", &PERMISSION_REQUEST),
        told("PermissionDenied", "permission.denied", &TOLD),
        DialectEvent {
            keys: &[("tool_response", "result")],
            rewrites: &[rewrite("result", Merge::Chain)],
            schedule: Schedule::Sequential,
            ..told("PostToolUse", "tool.post", &POST_TOOL_USE)
        },
        told("PostToolUseFailure", "tool.error", &TEACHES),
        open_gate("PostToolBatch", "tool.batch", &GATES_AND_TEACHES),
        DialectEvent {
            keys: &[("notification_type", "kind")],
            ..told("Notification", "notification", &TOLD)
        },
        told("SubagentStart", "subagent.start", &TEACHES),
        open_gate("SubagentStop", "subagent.stop", &GATES),
        gate("TaskCreated", "task.created", &GATES),
        open_gate("TaskCompleted", "task.completed", &GATES),
        open_gate("Stop", "agent.stop", &GATES),
        DialectEvent {
            keys: &[("error", "code"), ("error_details", "message")],
            ..told("StopFailure", "error", &TOLD)
        },
        open_gate("TeammateIdle", "teammate.idle", &GATES),
        gate("ConfigChange", "config.change", &GATES),
        told("CwdChanged", "cwd.change", &TOLD),
        told("DirectoryAdded", "dir.add", &TOLD),
        // Its `event` says what has become of the file.
        DialectEvent { keys: &[("event", "change")], ..told("FileChanged", "file.change", &TOLD) },
        gate("WorktreeCreate", "worktree.create", &GATES),
        told("WorktreeRemove", "worktree.remove", &TOLD),
        open_gate("PreCompact", "compact.pre", &GATES),
        told("PostCompact", "compact.post", &TOLD),
        DialectEvent {
            keys: &[("to_model", "model"), ("from_model", "previousModel")],
            wait: SHORTLY,
            ..gate("PreModelSwitch", "model.select", &GATES)
        },
        DialectEvent {
            keys: &[("to_model", "model"), ("from_model", "previousModel")],
            text_teaches: true,
            wait: SHORTLY,
            ..told("PostModelSwitch", "model.selected", &TEACHES)
        },
        DialectEvent {
            keys: &[("mcp_server_name", "mcpServer")],
            ..gate("Elicitation", "elicitation", &GATES)
        },
        DialectEvent {
            keys: &[("mcp_server_name", "mcpServer"), ("content", "answer")],
            ..gate("ElicitationResult", "elicitation.result", &GATES)
        },
        DialectEvent { wait: AT_THE_END, ..told("SessionEnd", "session.end", &TOLD) },
    ],
};
