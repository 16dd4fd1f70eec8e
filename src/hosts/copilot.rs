//! GitHub Copilot CLI: camelCase names, and payloads in two spellings.
//!
//! Source: `hooks-reference.md` of its documentation; measured with 1.0.102, which also takes
//! blocks and context for prompts, and context before a tool. There, any non-zero status blocks,
//! but a timeout lets the tool run. A hook registered under a PascalCase name gets Claude Code's
//! key spelling.

use super::prelude::*;

const CONTEXT: ReplyRule = say(Context, &[("additionalContext", Text)]);
const ADDED: ReplyKey = key("additionalContext", KeyMeaning::Context);

const BLOCK_OR_ALLOW: KeyMeaning =
    KeyMeaning::Action(&[("block", Act::Block), ("allow", Act::Allow)]);

static TEACHES: ReplyForm = form(&[CONTEXT], &[ADDED], &[]);

static PRE_TOOL_USE: ReplyForm = ReplyForm {
    blocks: BlockStatus::NonZero,
    ..form(
        &[
            block(&[
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

/// A non-zero status is only a warning; the word blocks.
static PROMPT: ReplyForm = form(
    &[say(Block, BLOCK), CONTEXT],
    &[key("decision", BLOCK_OR_ALLOW), REASON, ADDED],
    &[],
);

static PERMITS: ReplyForm = form(
    &[block(&[("behavior", Word("deny")), ("message", Text)])],
    &[
        key("behavior", YES_OR_NO),
        key("message", KeyMeaning::Reason),
    ],
    &[],
);

static POST_TOOL_USE: ReplyForm = form(
    &[
        say(Objection, &[("additionalContext", Text)]),
        say(New("result"), &[("modifiedResult", Value)]),
        CONTEXT,
    ],
    &[key("modifiedResult", RESULT), ADDED],
    &[],
);

static STOP: ReplyForm = form(
    &[say(Block, BLOCK)],
    &[key("decision", BLOCK_OR_ALLOW), REASON],
    &[],
);

/// As `STOP`, and a hook may replace the response; a block wins.
static SUBAGENT_STOP: ReplyForm = form(
    &[
        say(Block, BLOCK),
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

const TEXTS: &[&str] = &["toolArgs"];

/// The keys of hooks registered under a PascalCase name.
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

/// The documented timeout.
const ROW: HostEvent = HostEvent::OBSERVER
    .keys(KEYS)
    .also(ALSO)
    .as_text(TEXTS)
    .waits(Wait::seconds(30));

/// VS Code sends most of these keys, plus `transcript_path` and `tool_use_id`.
const NOT_COPILOTS: &[&str] = words!(
    "transcript_path" "tool_use_id" "type" "prompt_id" "turn_id" "model" "permission_mode"
    "conversation_id" "cursor_version"
);

const NOT_COPILOTS_OWN: &[&str] = &["session_id", "conversation_id", "type", "event"];

pub(super) static COPILOT: Host = Host {
    name: "copilot",
    aliases: &["copilot-cli"],
    title: "Copilot CLI",
    names_event_by: "hook_event_name",
    tools: &[
        tool("bash", ToolSort::Shell),
        tool("powershell", ToolSort::Shell),
        tool("view", ToolSort::Read).keys(PATH),
        tool("create", ToolSort::Write).keys(&[("file_path", "path"), ("content", "file_text")]),
        tool("edit", ToolSort::Edit).keys(STR_EDIT),
        tool("str_replace_editor", ToolSort::Edit).keys(STR_EDIT),
        // Its documentation counts it as an edit.
        tool("apply_patch", ToolSort::Edit),
        tool("grep", ToolSort::Grep),
        tool("rg", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("web_fetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
        tool("task", ToolSort::Agent),
    ],
    mcp: Mcp::Hyphen,
    like: Some("claude"),
    events: &[
        ROW.observed("sessionStart", "session.start", &TEACHES),
        ROW.observed("sessionEnd", "session.end", &SILENT),
        ROW.gate("userPromptSubmitted", "prompt.submit", &PROMPT)
            .aliases(&["UserPromptSubmit"]),
        ROW.observed("userPromptTransformed", "prompt.expand", &TRANSFORMED)
            .schedule(Schedule::Sequential),
        ROW.gate("preToolUse", "tool.pre", &PRE_TOOL_USE),
        ROW.observed("postToolUse", "tool.post", &POST_TOOL_USE)
            .schedule(Schedule::Sequential),
        ROW.observed("postToolUseFailure", "tool.error", &TEACHES),
        ROW.gate("permissionRequest", "permission.request", &PERMITS),
        ROW.open_gate("agentStop", "agent.stop", &STOP)
            .aliases(&["Stop"]),
        ROW.observed("subagentStart", "subagent.start", &TEACHES),
        ROW.open_gate("subagentStop", "subagent.stop", &SUBAGENT_STOP)
            .keys(&[("response", "lastAssistantMessage")]),
        ROW.observed("preCompact", "compact.pre", &SILENT),
        ROW.observed("notification", "notification", &TEACHES),
        ROW.observed("errorOccurred", "error", &SILENT),
    ],
    fails_closed: FailsClosed::OnCrash,
    trust: Some("trust the folder; with `-p`, project hooks run only in a trusted folder"),
    reads: &["claude"],
    signs: &[
        sign(
            SignedEvents::Nowhere,
            &["sessionId", "timestamp", "cwd"],
            // Grok Build also sends the others.
            &["event", "type", "hookEventName"],
        ),
        sign(
            SignedEvents::Known,
            &["sessionId", "timestamp", "cwd"],
            NOT_COPILOTS_OWN,
        ),
        // Registered under PascalCase names. Gemini CLI has the same keys, but other event names.
        sign(
            SignedEvents::KnownNotIn("gemini"),
            &["session_id", "timestamp"],
            NOT_COPILOTS,
        ),
        sign(
            SignedEvents::KnownNotIn("gemini"),
            &["session_id", "timestamp", "stop_reason"],
            words!("type" "prompt_id" "turn_id" "model" "permission_mode" "conversation_id"),
        ),
    ],
    words: &["toolArgs"],
    settings: Some(HostFile {
        shell: Some("bash"),
        places: &[".github", ".copilot"],
        hook: &[
            ("type", Kind),
            ("bash", Command),
            ("command", Command),
            ("powershell", Idle),
            ("exec", Program),
            ("args", Arguments),
            ("cwd", Folder),
            ("env", Variables),
            ("timeoutSec", Time),
            ("timeout", Time),
            ("matcher", Matcher),
            ("comment", About),
            ("description", About),
        ],
        matching: Matching {
            is_anchored: true,
            ..Matching::SEARCHED
        },
        subjects: &[
            (
                BY_TOOL,
                "preToolUse postToolUse postToolUseFailure permissionRequest",
            ),
            (BY_SOURCE, "sessionStart"),
            (BY_REASON, "sessionEnd"),
            (BY_KIND, "notification"),
            (BY_TRIGGER, "preCompact"),
            (BY_AGENT, "subagentStart subagentStop"),
        ],
        off: DISABLE_ALL,
        version: Some("1"),
        names_event: true,
        ..HostFile::PLAIN
    }),
    imports: &[".github/hooks"],
    install: Install {
        project: ".github/hooks/hookrun.json",
        user: UserFile::Home(".copilot/hooks/hookrun.json"),
        cannot: &["in the cloud, nobody can answer, so a hook that asks blocks"],
        ..Install::SETTINGS
    },
    ..Host::PLAIN
};
