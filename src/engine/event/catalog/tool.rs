//! Tools: before, while and after they run, and who may run them.

use super::keys::*;
use super::{
    Borrowed, EventRow, GATE, OBSERVER, OF_A_TOOL, OPEN_GATE, TRANSFORM, chain, first, same_role,
};

pub(super) const ROWS: &[EventRow] = &[
    EventRow {
        name: "tool.pre",
        summary: "a tool is about to run",
        aliases: &[
            "PreToolUse",
            "BeforeTool",
            "tool_call",
            "before_tool_call",
            "before-tool-call",
            "before_tool_execute",
            "tool.execute.before",
            "beforeShellExecution",
            "beforeMCPExecution",
            "beforeReadFile",
            "beforeTabFileRead",
            "onToolCall",
        ],
        context: &[
            TURN_INDEX,
            TOOL_NAME,
            TOOL_INPUT,
            SESSION_ID,
            CWD,
            TOOL_USE_ID,
            TRANSCRIPT_PATH,
            PERMISSION_MODE,
        ],
        required: OF_A_TOOL,
        rewrites: &[chain("toolInput")],
        ..GATE
    },
    EventRow {
        name: "permission.request",
        summary: "a tool is about to need the user's permission",
        aliases: &["PermissionRequest", "permission_request", "permission.ask"],
        context: &[TOOL_NAME, TOOL_INPUT, SESSION_ID, CWD, TRANSCRIPT_PATH, PERMISSION_MODE],
        required: OF_A_TOOL,
        rewrites: &[chain("toolInput")],
        ..GATE
    },
    EventRow {
        name: "permission.denied",
        summary: "a tool was not permitted",
        aliases: &["PermissionDenied", "permission_denied"],
        context: &[TOOL_NAME, TOOL_INPUT, DENIAL, SESSION_ID, CWD, TOOL_USE_ID],
        ..OBSERVER
    },
    EventRow {
        name: "tool.start",
        summary: "a tool has started",
        aliases: &["tool_execution_start"],
        context: &[TOOL_NAME, TOOL_INPUT, SESSION_ID, CWD, TOOL_USE_ID],
        ..OBSERVER
    },
    EventRow {
        name: "tool.update",
        summary: "a running tool has more to show",
        aliases: &["tool_execution_update"],
        context: &[TOOL_NAME, TOOL_INPUT, PARTIAL_RESULT, SESSION_ID, CWD, TOOL_USE_ID],
        ..OBSERVER
    },
    EventRow {
        name: "tool.end",
        summary: "a tool has ended",
        aliases: &["tool_execution_end"],
        context: &[TOOL_NAME, RESULT, IS_ERROR, SESSION_ID, CWD, TOOL_USE_ID],
        ..OBSERVER
    },
    EventRow {
        name: "tool.post",
        summary: "a tool has run",
        aliases: &[
            "PostToolUse",
            "AfterTool",
            "tool_result",
            "after_tool_call",
            "after-tool-call",
            "after_tool_execute",
            "tool.execute.after",
            "afterShellExecution",
            "afterMCPExecution",
            "afterFileEdit",
            "afterTabFileEdit",
            "onToolEnd",
        ],
        context: &[
            TURN_INDEX,
            TOOL_NAME,
            TOOL_INPUT,
            RESULT,
            IS_ERROR,
            DETAILS,
            SESSION_ID,
            CWD,
            TOOL_USE_ID,
            DURATION_MS,
            TRANSCRIPT_PATH,
            PERMISSION_MODE,
        ],
        rewrites: &[chain("result"), chain("details"), chain("isError")],
        ..TRANSFORM
    },
    // Only hosts that keep failures apart; the others tell `tool.post` with `isError`.
    EventRow {
        name: "tool.error",
        summary: "a tool has failed",
        aliases: &["PostToolUseFailure", "tool_use_failure"],
        context: &[
            TURN_INDEX,
            TOOL_NAME,
            TOOL_INPUT,
            ERROR,
            SESSION_ID,
            CWD,
            TOOL_USE_ID,
            DURATION_MS,
        ],
        ..OBSERVER
    },
    EventRow {
        name: "tool.batch",
        summary: "all tools of one answer have run",
        aliases: &["PostToolBatch"],
        context: &[TURN_INDEX, TOOL_CALLS, SESSION_ID, CWD],
        ..OPEN_GATE
    },
    EventRow {
        name: "tool.persist",
        summary: "a tool's result is about to be stored",
        aliases: &["tool_result_persist", "tool-result-persist"],
        context: &[TOOL_NAME, MESSAGE, SESSION_ID, CWD, TOOL_USE_ID],
        rewrites: &[same_role("message")],
        ..TRANSFORM
    },
    // Hosts cannot refuse here, so it fails open; what must not run is for `tool.pre` to say.
    EventRow {
        name: "exec.env",
        summary: "a command is about to get its environment",
        aliases: &["resolve_exec_env", "shell.env"],
        context: &[COMMAND, ENV, SESSION_ID, CWD],
        rewrites: &[chain("env")],
        ..TRANSFORM
    },
    EventRow {
        name: "user.bash",
        summary: "the user is about to run a command",
        aliases: &["user_bash"],
        context: &[COMMAND, EXCLUDE_FROM_CONTEXT, OWN_RESULT, SESSION_ID, CWD],
        required: &[Borrowed("command")],
        rewrites: &[first("result")],
        ..GATE
    },
    EventRow {
        name: "elicitation",
        summary: "an MCP server asks the user for input",
        aliases: &[],
        context: &[MCP_SERVER, MESSAGE_TEXT, REQUESTED_SCHEMA, OWN_ANSWER, SESSION_ID, CWD],
        rewrites: &[first("answer")],
        ..GATE
    },
    EventRow {
        name: "elicitation.result",
        summary: "the user's answer is about to go to an MCP server",
        aliases: &["ElicitationResult"],
        context: &[MCP_SERVER, ANSWER, SESSION_ID, CWD],
        rewrites: &[first("answer")],
        ..GATE
    },
];
