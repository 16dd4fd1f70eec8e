//! Codex CLI: Claude's names and keys, a strict reader, and fewer answers.
//!
//! Sources: `codex-rs/hooks` as of 8 August 2026, and what version 0.169.0 did when measured. A
//! result with an unknown key, a bare `allow`, a question or `continue: false` before a tool is
//! invalid there, and the tool runs. So hookrun blocks, and asks, by exit status 2 with words on
//! stderr and nothing on stdout.

use super::claude::{
    GATES, GATES_AND_TEACHES, NEW_INPUT, PERMISSION, PERMISSION_REQUEST, TEACHES, TOLD, TOOL_READS,
};
use super::parts::{BLOCK, NAMED, READS_ADDED, REFUSE, SHOW, TEACH, WAITS_LONG};
use super::results::ReplySlot::{New, Objection};
use super::results::ReplyValue::{Plain, Value, Word};
use super::results::{ReplyForm, form, say};
use super::row::{Host, HostEvent, HostTools, KeySpelling, Mcp, Tool, ToolSort, Wait, tool};
use crate::engine::event::Schedule;

static PRE_TOOL_USE: ReplyForm = form(
    &[
        REFUSE,
        say(
            New("toolInput"),
            &[NAMED, (PERMISSION, Word("allow")), (NEW_INPUT, Value)],
        ),
        TEACH,
        SHOW,
    ],
    TOOL_READS,
    READS_ADDED,
);

/// A result cannot be rewritten; an objection takes its place, and so does what a hook has made
/// of it.
static POST_TOOL_USE: ReplyForm = form(
    &[
        say(Objection, BLOCK),
        say(
            New("result"),
            &[("decision", Word("block")), ("reason", Plain)],
        ),
        TEACH,
        SHOW,
    ],
    &[],
    READS_ADDED,
);

/// Its tools. Files are read by the shell, and changed by patches alone.
const TOOLS: HostTools = HostTools {
    rows: &[
        tool("Bash", ToolSort::Shell),
        Tool {
            also: &["Edit", "Write"],
            ..tool("apply_patch", ToolSort::Patch)
        },
        Tool {
            also: &["Agent"],
            ..tool("spawn_agent", ToolSort::Agent)
        },
    ],
    mcp: Mcp::Double,
};

/// What it waits at the end: measured, and up to 3 s where a hook says more.
const AT_THE_END: Wait = Wait::seconds(1).at_most(3);

const ROW: HostEvent = WAITS_LONG;

pub(super) static CODEX: Host = Host {
    name: "codex",
    aliases: &["codex-cli"],
    names_event_by: "hook_event_name",
    spelling: KeySpelling::Snake,
    tools: &TOOLS,
    like: Some("claude"),
    events: &[
        ROW.told("SessionStart", "session.start", &TEACHES)
            .teaches(),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES)
            .teaches(),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE),
        ROW.gate(
            "PermissionRequest",
            "permission.request",
            &PERMISSION_REQUEST,
        ),
        ROW.told("PostToolUse", "tool.post", &POST_TOOL_USE)
            .keys(&[("tool_response", "result")])
            .schedule(Schedule::Sequential),
        // It can only be watched: exit status 2, text and context have no effect.
        ROW.told("PreModelRequest", "model.pre", &TOLD),
        ROW.told("SubagentStart", "subagent.start", &TEACHES)
            .teaches(),
        ROW.open_gate("SubagentStop", "subagent.stop", &GATES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
        ROW.told("StopFailure", "error", &TOLD)
            .keys(&[("error", "code"), ("error_details", "message")]),
        ROW.told("Interrupt", "agent.end", &TOLD).waits(AT_THE_END),
        ROW.open_gate("PreCompact", "compact.pre", &GATES),
        ROW.told("PostCompact", "compact.post", &TOLD),
        ROW.told("SessionEnd", "session.end", &TOLD)
            .waits(AT_THE_END),
    ],
    ..Host::PLAIN
};
