//! GitHub Copilot CLI: camelCase names, and payloads in two spellings.
//!
//! Source: `hooks-reference.md` of its documentation. Before a tool any status but 0 blocks, and
//! JSON that allows cannot undo it. A timeout always lets the tool run, so hookrun's own budget is
//! the only guard. A hook that is registered under a PascalCase name gets Claude's spelling of the
//! keys; hookrun reads both. Measured with 1.0.102, which takes more than its documents say: a prompt
//! can be blocked and get text for the model, and so can a tool before it runs.

use super::parts::{BLOCK, PERMISSION, REASON, RESULT, TOOL_INPUT, YES_OR_NO};
use super::results::ReplySlot::{Context, New, Objection, Question, Refusal};
use super::results::ReplyValue::{Plain, Text, Value, Word};
use super::results::{
    Act, KeyMeaning, Refuses, ReplyForm, ReplyKey, ReplyRule, form, key, refuse, say,
};
use super::row::{Host, HostEvent, HostTools, Mcp, Tool, ToolSort, Wait, tool};
use crate::engine::event::{Merge, Schedule};

const CONTEXT: ReplyRule = say(Context, &[("additionalContext", Text)]);
const ADDED: ReplyKey = key("additionalContext", KeyMeaning::Context);

const BLOCK_OR_ALLOW: KeyMeaning =
    KeyMeaning::Action(&[("block", Act::Refuse), ("allow", Act::Allow)]);

static TOLD: ReplyForm = form(&[], &[], &[]);
static TEACHES: ReplyForm = form(&[CONTEXT], &[ADDED], &[]);

static PRE_TOOL_USE: ReplyForm = ReplyForm {
    refuses: Refuses::NonZero,
    ..form(
        &[
            refuse(&[
                ("permissionDecision", Word("deny")),
                ("permissionDecisionReason", Text),
            ]),
            say(
                Question,
                &[
                    ("permissionDecision", Word("ask")),
                    ("permissionDecisionReason", Text),
                ],
            ),
            say(New("toolInput"), &[("modifiedArgs", Value)]),
            CONTEXT,
        ],
        &[
            key("permissionDecision", PERMISSION),
            key("permissionDecisionReason", KeyMeaning::Reason),
            key("modifiedArgs", TOOL_INPUT),
            ADDED,
        ],
        &[],
    )
};

/// A status is a warning there; the word blocks.
static PROMPT: ReplyForm = form(
    &[say(Refusal, BLOCK), CONTEXT],
    &[key("decision", BLOCK_OR_ALLOW), REASON, ADDED],
    &[],
);

static PERMISSION_REQUEST: ReplyForm = form(
    &[refuse(&[("behavior", Word("deny")), ("message", Text)])],
    &[
        key("behavior", YES_OR_NO),
        key("message", KeyMeaning::Reason),
    ],
    &[],
);

/// The tool has run; an objection is text for the model.
static POST_TOOL_USE: ReplyForm = form(
    &[
        say(Objection, &[("additionalContext", Text)]),
        say(New("result"), &[("modifiedResult", Value)]),
        CONTEXT,
    ],
    &[key("modifiedResult", RESULT), ADDED],
    &[],
);

/// The exit status is a warning there; the word blocks.
static STOP: ReplyForm = form(
    &[say(Refusal, BLOCK)],
    &[key("decision", BLOCK_OR_ALLOW), REASON],
    &[],
);

/// The same, and a hook may give a new response; a block wins.
static SUBAGENT_STOP: ReplyForm = form(
    &[
        say(Refusal, BLOCK),
        say(New("lastAssistantMessage"), &[("modifiedResponse", Plain)]),
    ],
    &[
        key("decision", BLOCK_OR_ALLOW),
        REASON,
        key(
            "modifiedResponse",
            KeyMeaning::Field("lastAssistantMessage", Merge::Chain),
        ),
    ],
    &[],
);

static TRANSFORMED: ReplyForm = form(
    &[say(New("prompt"), &[("modifiedTransformedPrompt", Plain)])],
    &[key(
        "modifiedTransformedPrompt",
        KeyMeaning::Field("prompt", Merge::Chain),
    )],
    &[],
);

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
    ("last_assistant_message", "lastAssistantMessage"),
];

/// What it waits: its documents.
const ROW: HostEvent = HostEvent::OBSERVER
    .keys(KEYS)
    .also(ALSO)
    .text_keys(TEXTS)
    .waits(Wait::seconds(30));

const TOOLS: HostTools = HostTools {
    rows: &[
        tool("bash", ToolSort::Shell),
        tool("powershell", ToolSort::Shell),
        Tool {
            keys: PATH,
            ..tool("view", ToolSort::Read)
        },
        Tool {
            keys: &[("file_path", "path"), ("content", "file_text")],
            ..tool("create", ToolSort::Write)
        },
        Tool {
            keys: EDIT,
            ..tool("edit", ToolSort::Edit)
        },
        Tool {
            keys: EDIT,
            ..tool("str_replace_editor", ToolSort::Edit)
        },
        // Its documents count it among those that edit.
        tool("apply_patch", ToolSort::Edit),
        tool("grep", ToolSort::Grep),
        tool("rg", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("web_fetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
        tool("task", ToolSort::Agent),
    ],
    mcp: Mcp::Hyphen,
};

const PATH: &[(&str, &str)] = &[("file_path", "path")];
const EDIT: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("old_string", "old_str"),
    ("new_string", "new_str"),
];

/// GitHub Copilot CLI.
pub(super) static COPILOT: Host = Host {
    name: "copilot",
    aliases: &["copilot-cli"],
    names_event_by: "hook_event_name",
    tools: &TOOLS,
    like: Some("claude"),
    has_progress: true,
    events: &[
        ROW.told("sessionStart", "session.start", &TEACHES),
        ROW.told("sessionEnd", "session.end", &TOLD),
        ROW.gate("userPromptSubmitted", "prompt.submit", &PROMPT)
            .aliases(&["UserPromptSubmit"]),
        ROW.told("userPromptTransformed", "prompt.expand", &TRANSFORMED)
            .schedule(Schedule::Sequential),
        ROW.gate("preToolUse", "tool.pre", &PRE_TOOL_USE),
        ROW.told("postToolUse", "tool.post", &POST_TOOL_USE)
            .schedule(Schedule::Sequential),
        ROW.told("postToolUseFailure", "tool.error", &TEACHES),
        ROW.gate(
            "permissionRequest",
            "permission.request",
            &PERMISSION_REQUEST,
        ),
        ROW.open_gate("agentStop", "agent.stop", &STOP)
            .aliases(&["Stop"]),
        ROW.told("subagentStart", "subagent.start", &TEACHES),
        ROW.open_gate("subagentStop", "subagent.stop", &SUBAGENT_STOP)
            .keys(&[("response", "lastAssistantMessage")]),
        ROW.told("preCompact", "compact.pre", &TOLD),
        ROW.told("notification", "notification", &TEACHES),
        ROW.told("errorOccurred", "error", &TOLD),
    ],
    ..Host::PLAIN
};
