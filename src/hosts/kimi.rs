//! Kimi Code: Claude Code's events; exit status 2 blocks a tool, a prompt and a stop.
//!
//! Sources: its hooks page; measured with version 2.1.0. It reads hooks only from the user's
//! `config.toml`, and fails open. A prompt comes in parts. `message` is context after a prompt;
//! elsewhere only a block's reason is read.

use super::claude::{FAMILY, PERMISSION, PERMISSION_REASON};
use super::prelude::*;

/// Answers for every event.
const READS: &[ReplyKey] = &[
    key(PERMISSION, YES_OR_NO),
    key(PERMISSION_REASON, KeyMeaning::Reason),
];

static OBSERVED: ReplyForm = form(&[], &[], READS);
static GATES: ReplyForm = form(&[BLOCK_RULE], &[], READS);
static PROMPTS: ReplyForm = form(
    &[BLOCK_RULE, say(Context, &[("message", Text)])],
    &[key("message", KeyMeaning::Context)],
    READS,
);

/// Its settings count seconds, from 1 to 600.
const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(30).at_most(600));
const ID: (&str, &str) = ("tool_call_id", "toolUseId");

pub(super) static KIMI: Host = Host {
    name: "kimi",
    aliases: &["kimi-code"],
    title: "Kimi Code",
    runs_once: true,
    tools: &[
        tool("Bash", ToolSort::Shell),
        tool("Read", ToolSort::Read).keys(PATH),
        tool("Write", ToolSort::Write).keys(PATH),
        tool("Edit", ToolSort::Edit).keys(PATH),
        tool("Grep", ToolSort::Grep),
        tool("Glob", ToolSort::Glob),
        tool("FetchURL", ToolSort::Fetch),
        tool("WebSearch", ToolSort::WebSearch),
        tool("Agent", ToolSort::Agent),
    ],
    events: &[
        ROW.observed("SessionStart", "session.start", &OBSERVED),
        ROW.observed("SessionEnd", "session.end", &OBSERVED),
        ROW.gate("UserPromptSubmit", "prompt.submit", &PROMPTS)
            .in_parts(&["prompt"])
            .text_is_context(true),
        ROW.gate("PreToolUse", "tool.pre", &GATES).keys(&[ID]),
        ROW.observed("PostToolUse", "tool.post", &OBSERVED)
            .keys(&[ID, ("tool_output", "result")]),
        ROW.observed("PostToolUseFailure", "tool.error", &OBSERVED)
            .keys(&[ID]),
        ROW.observed("PermissionRequest", "permission.request", &OBSERVED),
        ROW.open_gate("Stop", "agent.stop", &GATES),
        ROW.observed("StopFailure", "error", &OBSERVED)
            .keys(&[("error_type", "code"), ("error_message", "message")]),
        ROW.observed("SubagentStart", "subagent.start", &OBSERVED)
            .keys(&[("agent_name", "agentType")]),
        ROW.observed("SubagentStop", "subagent.stop", &OBSERVED)
            .keys(&[
                ("agent_name", "agentType"),
                ("response", "lastAssistantMessage"),
            ]),
        ROW.observed("PreCompact", "compact.pre", &OBSERVED),
        ROW.observed("PostCompact", "compact.post", &OBSERVED),
        ROW.observed("Notification", "notification", &OBSERVED)
            .keys(&[("notification_type", "kind")]),
    ],
    signs: &[sign(
        SignedEvents::KnownOrNew,
        &["session_id", "client_type"],
        &[],
    )],
    // Any key but these four invalidates the whole file (2.1.0).
    settings: Some(HostFile {
        places: &[".kimi-code"],
        is_toml: true,
        hook: &[
            ("event", Event),
            ("matcher", Matcher),
            ("command", Command),
            ("timeout", Time),
        ],
        subjects: &[
            (
                BY_TOOL,
                "PreToolUse PostToolUse PostToolUseFailure PermissionRequest",
            ),
            (MatcherSubject::Fact("prompt"), "UserPromptSubmit"),
            (BY_SOURCE, "SessionStart"),
            (BY_REASON, "SessionEnd"),
            (BY_CODE, "StopFailure"),
            (BY_AGENT, "SubagentStart SubagentStop"),
            (BY_TRIGGER, "PreCompact PostCompact"),
            (BY_KIND, "Notification"),
        ],
        runs_at_once: true,
        ..HostFile::PLAIN
    }),
    install: Install {
        project: "",
        user: moved("KIMI_CODE_HOME", ".kimi-code", "config.toml"),
        cannot: &["hooks can block a stop only once"],
        must: &["start a new session, because only new sessions read hooks"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
