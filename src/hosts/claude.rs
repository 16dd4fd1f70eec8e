//! Claude Code: thirty-three events, PascalCase names, snake_case keys.
//!
//! Sources: its "Hooks reference" of 22 August 2026; measured with version 2.1.329. Exit status 2
//! with the reason on stderr blocks every gate, and stdout cannot override it, so hookrun blocks by
//! status wherever that works. JSON is sent alone, with status 0.

use super::prelude::*;
use serde_json::Value as Json;

/// Observed only; context is dropped.
pub(super) static OBSERVED: ReplyForm = form(&[SHOW], &[], READS);

/// Observed only; context reaches the model.
pub(super) static TEACHES: ReplyForm = form(&[TEACH, SHOW], &[], READS_ADDED);

pub(super) static GATES: ReplyForm = form(&[BLOCK_RULE, SHOW], &[], READS);

/// Exit status 2 blocks it, and its context reaches the model.
pub(super) static GATES_AND_TEACHES: ReplyForm = form(&[BLOCK_RULE, TEACH, SHOW], &[], READS_ADDED);

pub(super) const PERMISSION: &str = "hookSpecificOutput.permissionDecision";
pub(super) const PERMISSION_REASON: &str = "hookSpecificOutput.permissionDecisionReason";
pub(super) const NEW_INPUT: &str = "hookSpecificOutput.updatedInput";
const BEHAVIOR: &str = "hookSpecificOutput.decision.behavior";
const MESSAGE: &str = "hookSpecificOutput.decision.message";

pub(super) const TOOL_READS: &[ReplyKey] = &[
    key(
        PERMISSION,
        KeyMeaning::Action(&[
            ("deny", Act::Block),
            ("ask", Act::Ask),
            ("defer", Act::Ask),
            ("allow", Act::Allow),
        ]),
    ),
    key(PERMISSION_REASON, KeyMeaning::Reason),
    key(NEW_INPUT, TOOL_INPUT),
];

pub(super) const ASK: ReplyRule = say(
    Question,
    &[NAMED, (PERMISSION, Word("ask")), (PERMISSION_REASON, Text)],
);

pub(super) static PRE_TOOL_USE: ReplyForm = form(
    &[
        BLOCK_RULE,
        ASK,
        say(New("toolInput"), &[NAMED, (NEW_INPUT, Value)]),
        TEACH,
        SHOW,
    ],
    TOOL_READS,
    READS_ADDED,
);

/// Ignores the exit status.
pub(super) static PERMITS: ReplyForm = form(
    &[
        say(Block, &[NAMED, (BEHAVIOR, Word("deny")), (MESSAGE, Text)]),
        SHOW,
    ],
    &[key(BEHAVIOR, YES_OR_NO), key(MESSAGE, KeyMeaning::Reason)],
    READS,
);

/// An objection is added to the tool's result.
static POST_TOOL_USE: ReplyForm = form(
    &[
        say(Objection, BLOCK),
        say(
            New("result"),
            &[NAMED, ("hookSpecificOutput.updatedToolOutput", Value)],
        ),
        TEACH,
        SHOW,
    ],
    &[
        key("hookSpecificOutput.updatedToolOutput", RESULT),
        key("hookSpecificOutput.updatedMCPToolOutput", RESULT),
    ],
    READS_ADDED,
);

/// The same for a host that cannot replace a result.
pub(super) static OBJECTS: ReplyForm =
    form(&[say(Objection, BLOCK), TEACH, SHOW], &[], READS_ADDED);

static MESSAGE_DISPLAY: ReplyForm = form(
    &[
        say(
            New("delta"),
            &[NAMED, ("hookSpecificOutput.displayContent", Value)],
        ),
        SHOW,
    ],
    &[
        key(
            "hookSpecificOutput.displayContent",
            KeyMeaning::Field("delta", Merge::Chain),
        ),
        key("systemMessage", KeyMeaning::Output),
    ],
    &[],
);

/// The base of tables for hosts in Claude Code's family.
pub(super) const FAMILY: Host = Host {
    names_event_by: "hook_event_name",
    spelling: KeySpelling::Snake,
    like: Some("claude"),
    ..Host::PLAIN
};

pub(super) const fn post_tool_use(row: HostEvent, form: &'static ReplyForm) -> HostEvent {
    row.observed("PostToolUse", "tool.post", form)
        .keys(&[("tool_response", "result")])
        .schedule(Schedule::Sequential)
}

/// The documented timeout of events that delay the user.
const SHORTLY: Wait = Wait::seconds(30);

/// The documented timeout for text about to be displayed.
const AT_ONCE: Wait = Wait::seconds(10);

/// The timeout of `SessionEnd`, measured: shared by all hooks, up to 60 s if a hook sets more.
const AT_THE_END: Wait = Wait::millis(1500).at_most(60);

const ROW: HostEvent = WAITS_LONG;

const FROM_MODEL: &[(&str, &str)] = &[("to_model", "model"), ("from_model", "previousModel")];

/// Keys that no context of Claude Code has, except `turn_id` in one event.
const NOT_CLAUDES: &[&str] = words!("timestamp" "sessionId" "conversation_id" "cursor_version");

const MODES: &[&str] =
    words!("acceptEdits" "auto" "bypassPermissions" "default" "delegate" "dontAsk" "plan");

/// A wrong value in one of these keys makes Claude Code drop the whole file (measured for each).
const TYPED: &[TypedKey] = &[
    typed("/apiKeyHelper", "a string", Json::is_string),
    typed("/cleanupPeriodDays", "a number", Json::is_number),
    typed("/enabledPlugins", "an object", Json::is_object),
    typed("/env", "an object", Json::is_object),
    typed("/includeCoAuthoredBy", "true or false", Json::is_boolean),
    typed("/model", "a string", Json::is_string),
    typed("/outputStyle", "a string", Json::is_string),
    typed("/permissions", "an object", Json::is_object),
    typed(
        "/permissions/defaultMode",
        "one of \"acceptEdits\", \"auto\", \"bypassPermissions\", \"default\", \"delegate\", \"dontAsk\", \"plan\"",
        |mode| mode.as_str().is_some_and(|mode| MODES.contains(&mode)),
    ),
    typed("/sandbox", "an object", Json::is_object),
    typed("/statusLine", "an object", Json::is_object),
];

pub(super) static CLAUDE: Host = Host {
    name: "claude",
    aliases: &["claude-code"],
    title: "Claude Code",
    like: None,
    runs_once: true,
    // `MultiEdit` and `Agent` depend on the version.
    tools: &[
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
        tool("Task", ToolSort::Agent).also(&["Agent"]),
        tool("Agent", ToolSort::Agent).also(&["Task"]),
    ],
    variables: &[
        ("CLAUDE_PROJECT_DIR", VariableValue::Project),
        ("CLAUDE_CODE_SESSION_ID", VariableValue::Fact("sessionId")),
        ("CLAUDECODE", VariableValue::Word("1")),
    ],
    events: &[
        ROW.observed("SessionStart", "session.start", &TEACHES)
            .text_is_context(true),
        ROW.observed("Setup", "setup", &TEACHES),
        ROW.observed("InstructionsLoaded", "instructions.load", &OBSERVED)
            .keys(&[("load_reason", "reason")]),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES)
            .text_is_context(true)
            .waits(SHORTLY),
        ROW.gate("UserPromptExpansion", "prompt.expand", &GATES_AND_TEACHES)
            .text_is_context(true),
        ROW.observed("MessageDisplay", "message.display", &MESSAGE_DISPLAY)
            .schedule(Schedule::Sequential)
            .waits(AT_ONCE),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE),
        ROW.gate("PermissionRequest", "permission.request", &PERMITS),
        ROW.observed("PermissionDenied", "permission.denied", &OBSERVED),
        post_tool_use(ROW, &POST_TOOL_USE),
        ROW.observed("PostToolUseFailure", "tool.error", &TEACHES),
        ROW.open_gate("PostToolBatch", "tool.batch", &GATES_AND_TEACHES),
        ROW.observed("Notification", "notification", &OBSERVED)
            .keys(&[("notification_type", "kind")]),
        ROW.observed("SubagentStart", "subagent.start", &TEACHES),
        ROW.open_gate("SubagentStop", "subagent.stop", &GATES),
        ROW.gate("TaskCreated", "task.created", &GATES),
        ROW.open_gate("TaskCompleted", "task.completed", &GATES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
        ROW.observed("StopFailure", "error", &OBSERVED)
            .keys(&[("error", "code"), ("error_details", "message")]),
        ROW.open_gate("TeammateIdle", "teammate.idle", &GATES),
        ROW.gate("ConfigChange", "config.change", &GATES),
        ROW.observed("CwdChanged", "cwd.change", &OBSERVED),
        ROW.observed("DirectoryAdded", "dir.add", &OBSERVED),
        ROW.observed("FileChanged", "file.change", &OBSERVED)
            .keys(&[("event", "change")]),
        ROW.gate("WorktreeCreate", "worktree.create", &GATES),
        ROW.observed("WorktreeRemove", "worktree.remove", &OBSERVED),
        ROW.open_gate("PreCompact", "compact.pre", &GATES),
        ROW.observed("PostCompact", "compact.post", &OBSERVED),
        ROW.gate("PreModelSwitch", "model.select", &GATES)
            .keys(FROM_MODEL)
            .waits(SHORTLY),
        ROW.observed("PostModelSwitch", "model.selected", &TEACHES)
            .keys(FROM_MODEL)
            .text_is_context(true)
            .waits(SHORTLY),
        ROW.gate("Elicitation", "elicitation", &GATES)
            .keys(&[("mcp_server_name", "mcpServer")]),
        ROW.gate("ElicitationResult", "elicitation.result", &GATES)
            .keys(&[("mcp_server_name", "mcpServer"), ("content", "answer")]),
        ROW.observed("SessionEnd", "session.end", &OBSERVED)
            .waits(AT_THE_END),
    ],
    fails_closed: FailsClosed::Always,
    trust: Some("accept Claude Code's trust prompt here (`claude -p` runs hooks without it)"),
    signs: &[
        sign(
            SignedEvents::KnownOrNew,
            &["session_id", "prompt_id"],
            words!("turn_id" "timestamp" "sessionId" "conversation_id" "cursor_version"),
        ),
        sign(SignedEvents::Alone, &["session_id"], NOT_CLAUDES),
    ],
    words: words!(
        "hook_event_name" "tool_input" "tool_name" "tool_response" "hookSpecificOutput"
        "permissionDecision" "stop_hook_active" "transcript_path"
    ),
    settings: Some(HostFile {
        shell: Some("sh"),
        places: &[".claude"],
        hook: &[
            ("type", Kind),
            ("command", Command),
            ("args", Arguments),
            ("timeout", Time),
            ("if", Condition),
            ("async", Async),
            ("asyncRewake", Async),
            ("shell", Shell),
            ("statusMessage", About),
            ("onFailure", Closed),
            ("description", About),
            ("name", About),
        ],
        closed: "\"block\"",
        of_plugin: &["CLAUDE_PLUGIN_ROOT"],
        matching: Matching {
            list: Some("_- ,|"),
            divides: &['|', ','],
            ..Matching::SEARCHED
        },
        subjects: SUBJECTS,
        off: DISABLE_ALL,
        comments: Comments::Forbidden,
        ..HostFile::FAMILY
    }),
    imports: &[".claude/settings.json", ".claude/settings.local.json"],
    install: Install {
        project: ".claude/settings.json",
        user: moved("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        // Its hooks create the worktree instead of Claude Code.
        but: &["WorktreeCreate"],
        must: &["start a new session, because only new sessions read hooks"],
        local: Some("settings.local.json"),
        typed: TYPED,
        ..Install::SETTINGS
    },
    ..FAMILY
};
