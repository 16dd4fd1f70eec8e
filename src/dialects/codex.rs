//! Codex CLI: Claude's names and keys, a strict reader, and fewer answers.
//!
//! Sources: `codex-rs/hooks` as of 8 August 2026, and what version 0.169.0 did when measured. A
//! result with an unknown key, a bare `allow`, a question or `continue: false` before a tool is
//! invalid there, and the tool runs; so a refusal is exit status 2 with words on stderr and
//! nothing on stdout, and a question is one too.

use super::claude::{GATES, GATES_AND_TEACHES, PERMISSION_REQUEST, TEACHES, TOLD, TOOL_READS};
use super::form::parts::{
    ADDED, DECISION, HALT, MESSAGE, NAMED, REASON, REFUSE, SHOW, STOP_REASON, TEACH, gate,
    open_gate, told,
};
use super::results::{On, Put, Refuses, ReplyForm, Say};
use super::row::{
    Dialect, DialectEvent, Discovery, HostTools, KeySpelling, Mcp, Tool, ToolSort, Wait, rewrite,
    tool,
};
use crate::engine::event::{Merge, Schedule};

static PRE_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        REFUSE,
        Say {
            on: On::New("toolInput"),
            put: &[
                NAMED,
                ("hookSpecificOutput.permissionDecision", Put::Word("allow")),
                ("hookSpecificOutput.updatedInput", Put::Value),
            ],
            status: 0,
        },
        TEACH,
        SHOW,
    ],
    reads: TOOL_READS,
    refuses: Refuses::Two,
};

/// A result cannot be rewritten; an objection stands in its place, and so does what a hook has
/// made of it.
static POST_TOOL_USE: ReplyForm = ReplyForm {
    writes: &[
        Say {
            on: On::Objection,
            put: &[("decision", Put::Word("block")), ("reason", Put::Text)],
            status: 0,
        },
        Say {
            on: On::New("result"),
            put: &[("decision", Put::Word("block")), ("reason", Put::Plain)],
            status: 0,
        },
        TEACH,
        SHOW,
    ],
    reads: &[HALT, STOP_REASON, DECISION, REASON, ADDED, MESSAGE],
    refuses: Refuses::Two,
};

/// Its tools. Files are read by the shell, and changed by patches alone.
const TOOLS: HostTools = HostTools {
    rows: &[
        tool("Bash", ToolSort::Shell),
        Tool { also: &["Edit", "Write"], ..tool("apply_patch", ToolSort::Patch) },
        Tool { also: &["Agent"], ..tool("spawn_agent", ToolSort::Agent) },
    ],
    mcp: Mcp::Double,
};

/// What it waits at the end: measured, and up to 3 s where a hook says more.
const AT_THE_END: Option<Wait> = Some(Wait::seconds(1).at_most(3));

/// Codex CLI.
pub(super) static CODEX: Dialect = Dialect {
    name: "codex",
    aliases: &["codex-cli"],
    summary: "Codex CLI: exit status 2 with text on stderr blocks, nothing asks",
    names_event_by: "hook_event_name",
    discovery: Discovery::All,
    spelling: KeySpelling::Snake,
    runs_once: false,
    tools: &TOOLS,
    // It sets none.
    variables: &[],
    events: &[
        DialectEvent { text_teaches: true, ..told("SessionStart", "session.start", &TEACHES) },
        DialectEvent {
            text_teaches: true,
            ..gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES)
        },
        DialectEvent {
            rewrites: &[rewrite("toolInput", Merge::Chain)],
            ..gate("PreToolUse", "tool.pre", &PRE_TOOL_USE)
        },
        gate("PermissionRequest", "permission.request", &PERMISSION_REQUEST),
        DialectEvent {
            keys: &[("tool_response", "result")],
            rewrites: &[rewrite("result", Merge::Chain)],
            schedule: Schedule::Sequential,
            ..told("PostToolUse", "tool.post", &POST_TOOL_USE)
        },
        // It can only be watched: exit status 2, text and context have no effect.
        told("PreModelRequest", "model.pre", &TOLD),
        DialectEvent { text_teaches: true, ..told("SubagentStart", "subagent.start", &TEACHES) },
        open_gate("SubagentStop", "subagent.stop", &GATES),
        open_gate("Stop", "agent.stop", &GATES),
        DialectEvent {
            keys: &[("error", "code"), ("error_details", "message")],
            ..told("StopFailure", "error", &TOLD)
        },
        DialectEvent { wait: AT_THE_END, ..told("Interrupt", "agent.end", &TOLD) },
        open_gate("PreCompact", "compact.pre", &GATES),
        told("PostCompact", "compact.post", &TOLD),
        DialectEvent { wait: AT_THE_END, ..told("SessionEnd", "session.end", &TOLD) },
    ],
};
