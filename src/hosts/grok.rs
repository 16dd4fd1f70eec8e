//! Grok Build: Claude Code's events with camelCase keys; a tool and a stop can be blocked.
//!
//! Measured with 1.0.41; also its hooks page, and payloads that users of versions 0.2.32 to 1.0.25
//! published. Events are `pre_tool_use` in payloads and `PreToolUse` in files. A stop takes
//! `block`; `deny` would override the status. With `--always-approve` questions are skipped, so
//! hookrun blocks instead. It also runs the hooks in Claude Code's and Cursor's settings.

use super::claude::{NEW_INPUT, TOOL_READS};
use super::prelude::*;

static GATES: ReplyForm = form(&[block(BLOCK)], &[DECISION, REASON], &[]);

static PRE_TOOL_USE: ReplyForm = form(
    &[
        block(&[("decision", Word("deny")), ("reason", Text)]),
        say(New("toolInput"), &[NAMED, (NEW_INPUT, Value)]),
        TEACH,
    ],
    TOOL_READS,
    READS_ADDED,
);

static POST_TOOL_USE: ReplyForm = form(&[say(Objection, BLOCK), TEACH], &[], READS_ADDED);

/// Its settings count seconds, by default 5.
const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(5));

pub(super) static GROK: Host = Host {
    name: "grok",
    aliases: &["grok-build"],
    title: "Grok Build",
    names_event_by: "hookEventName",
    tools: &[
        tool("run_terminal_command", ToolSort::Shell).also(&["Bash"]),
        tool("read_file", ToolSort::Read)
            .also(&["Read"])
            .keys(&[("file_path", "target_file")]),
        tool("write", ToolSort::Write).also(&["Write"]),
        tool("write_file", ToolSort::Write).also(&["Write"]),
        tool("search_replace", ToolSort::Edit).also(&["Edit", "Write"]),
        tool("grep", ToolSort::Grep).also(&["Grep"]),
        tool("list_dir", ToolSort::List),
        tool("web_fetch", ToolSort::Fetch).also(&["WebFetch"]),
        tool("web_search", ToolSort::WebSearch).also(&["WebSearch"]),
        tool("spawn_subagent", ToolSort::Agent).also(&["Task"]),
    ],
    roots: &["workspaceRoot"],
    like: Some("claude"),
    events: &[
        ROW.observed("SessionStart", "session.start", &SILENT)
            .aliases(&["session_start"]),
        ROW.observed("SessionEnd", "session.end", &SILENT)
            .aliases(&["session_end"]),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES)
            .aliases(&["user_prompt_submit"]),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE)
            .aliases(&["pre_tool_use"]),
        ROW.observed("PostToolUse", "tool.post", &POST_TOOL_USE)
            .aliases(&["post_tool_use"])
            .keys(&[("toolResult", "result")]),
        ROW.observed("PostToolUseFailure", "tool.error", &SILENT)
            .aliases(&["post_tool_use_failure"]),
        ROW.observed("Notification", "notification", &SILENT)
            .aliases(&["notification"])
            .keys(&[("notificationType", "kind")]),
        ROW.open_gate("Stop", "agent.stop", &GATES)
            .aliases(&["stop"]),
    ],
    trust: Some(
        "use a git repository, because Grok reads project hooks only there; trust them with `/hooks-trust`, or start Grok with `--trust`",
    ),
    reads: &["claude", "cursor"],
    signs: &[sign(
        SignedEvents::Known,
        &["hookEventName", "sessionId"],
        NOT_OF_SYSTEMS,
    )],
    settings: Some(HostFile {
        places: &[".grok"],
        ..HostFile::FAMILY
    }),
    install: Install {
        project: ".grok/hooks/hookrun.json",
        user: UserFile::Home(".grok/hooks/hookrun.json"),
        cannot: &[
            "the model does not get text that a hook returns at session start or with a prompt",
        ],
        ..Install::SETTINGS
    },
    ..Host::PLAIN
};
