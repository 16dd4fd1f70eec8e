//! pi: one `session` event with ten reasons, the agent's turns, and its tools.
//!
//! Source: its "Hooks" document of 24 December 2025. `tool_call` has no time limit, because a
//! person may be asked, and blocks when a hook throws; everything else has 30 s, and errors are
//! logged and passed on. The rows after those of the document are those of its later extensions
//! (0.73), which real clients send.

use std::time::Duration;

use super::results::{KeyMeaning, ReplyKey, Results, key};
use super::row::{Dialect, DialectEvent, Discovery, HostTools, KeySpelling, StandIn, rewrite};
use super::wolli::INPUT;
use crate::engine::event::{Conduct, Merge, OnFailure};

/// Its `hookTimeout`.
const TIMED: Conduct = Conduct { timeout: Some(Duration::from_secs(30)), ..Conduct::USUAL };

/// The last result counts, and every hook sees the event as it came.
const LATEST: Conduct = Conduct { last_result: true, isolated: true, ..TIMED };

/// The session, which every event may name: it stands in the context of a hook there.
const FILE: (&str, &str) = ("sessionFile", "transcriptPath");

/// The sessions that an event about sessions names.
const SESSION_KEYS: &[(&str, &str)] = &[FILE, ("previousSessionFile", "previousSession")];

/// The same, and the session that is wanted.
const SWITCH_KEYS: &[(&str, &str)] =
    &[FILE, SESSION_KEYS[1], ("targetSessionFile", "targetSession")];

/// A session is known by its file.
const SESSION: &[StandIn] = &[StandIn { theirs: "sessionFile", ours: "sessionId", is_made: false }];

const TOLD: DialectEvent =
    DialectEvent { keys: &[FILE], stand_ins: SESSION, conduct: TIMED, ..DialectEvent::OBSERVER };

const fn told(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent { name, event, ..TOLD }
}

const CANCEL: ReplyKey = key("cancel", KeyMeaning::Refusal);

const fn session(reason: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent { when: Some(("reason", reason)), keys: SESSION_KEYS, ..told("session", event) }
}

const fn session_before(reason: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent { when: Some(("reason", reason)), keys: SESSION_KEYS, ..before("session", event) }
}

/// May be cancelled.
const fn before(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent {
        results: Results::Keys(&[CANCEL]),
        blocks: true,
        conduct: LATEST,
        ..told(name, event)
    }
}

const TOOL_KEYS: &[(&str, &str)] =
    &[FILE, ("input", "toolInput"), ("toolCallId", "toolUseId"), ("content", "result")];

/// The tool as later extensions tell of it while it runs.
const EXECUTION_KEYS: &[(&str, &str)] = &[FILE, ("args", "toolInput"), ("toolCallId", "toolUseId")];

/// pi.
pub(super) static PI: Dialect = Dialect {
    name: "pi",
    aliases: &["pi-mono"],
    summary: "pi's hooks: one session event with ten reasons, tool calls without a time limit",
    names_event_by: "type",
    discovery: Discovery::All,
    spelling: KeySpelling::Camel,
    runs_once: false,
    tools: &HostTools::NONE,
    variables: &[],
    events: &[
        session("start", "session.start"),
        DialectEvent { keys: SWITCH_KEYS, ..session_before("before_switch", "session.switch.pre") },
        session("switch", "session.switch"),
        session_before("before_clear", "session.clear.pre"),
        session("clear", "session.clear"),
        DialectEvent {
            results: Results::Keys(&[
                CANCEL,
                key("skipConversationRestore", KeyMeaning::Field("skipConversationRestore")),
            ]),
            rewrites: &[rewrite("skipConversationRestore", Merge::Last)],
            ..session_before("before_branch", "session.branch.pre")
        },
        session("branch", "session.branch"),
        DialectEvent {
            results: Results::Keys(&[
                CANCEL,
                key("compactionEntry", KeyMeaning::Field("compaction")),
            ]),
            rewrites: &[rewrite("compaction", Merge::Last)],
            ..session_before("before_compact", "compact.pre")
        },
        session("compact", "compact.post"),
        session("shutdown", "session.end"),
        told("agent_start", "agent.begin"),
        told("agent_end", "agent.end"),
        told("turn_start", "turn.start"),
        told("turn_end", "turn.end"),
        DialectEvent {
            keys: TOOL_KEYS,
            results: Results::Keys(&[
                key("block", KeyMeaning::Refusal),
                key("reason", KeyMeaning::Reason),
            ]),
            blocks: true,
            on_failure: OnFailure::Block,
            conduct: Conduct { timeout: Some(Duration::MAX), ..LATEST },
            ..told("tool_call", "tool.pre")
        },
        DialectEvent {
            keys: TOOL_KEYS,
            results: Results::Keys(&[
                key("content", KeyMeaning::Field("result")),
                key("details", KeyMeaning::Field("details")),
                key("isError", KeyMeaning::Field("isError")),
            ]),
            rewrites: &[
                rewrite("result", Merge::Last),
                rewrite("details", Merge::Last),
                rewrite("isError", Merge::Last),
            ],
            conduct: LATEST,
            ..told("tool_result", "tool.post")
        },
        // Of its later extensions.
        DialectEvent {
            keys: &[FILE, ("text", "prompt")],
            results: INPUT.results,
            blocks: true,
            rewrites: INPUT.rewrites,
            ..told("input", "prompt.submit")
        },
        DialectEvent {
            results: Results::Keys(&[
                key("message", KeyMeaning::Entry { field: "messages", list: "messages" }),
                key("systemPrompt", KeyMeaning::Field("systemPrompt")),
            ]),
            rewrites: &[rewrite("messages", Merge::Append), rewrite("systemPrompt", Merge::Chain)],
            ..told("before_agent_start", "agent.start")
        },
        DialectEvent {
            results: Results::Keys(&[key("messages", KeyMeaning::Field("messages"))]),
            rewrites: &[rewrite("messages", Merge::Chain)],
            ..told("context", "model.pre")
        },
        DialectEvent {
            results: Results::Whole("payload"),
            rewrites: &[rewrite("payload", Merge::Chain)],
            ..told("before_provider_request", "provider.request")
        },
        told("after_provider_response", "provider.response"),
        told("resources_discover", "resources.discover"),
        DialectEvent {
            results: Results::Keys(&[key("sessionDir", KeyMeaning::Field("sessionDir"))]),
            rewrites: &[rewrite("sessionDir", Merge::First)],
            ..told("session_directory", "session.dir")
        },
        DialectEvent { keys: SESSION_KEYS, ..told("session_start", "session.start") },
        DialectEvent { keys: SWITCH_KEYS, ..before("session_before_switch", "session.switch.pre") },
        DialectEvent { keys: SESSION_KEYS, ..told("session_switch", "session.switch") },
        before("session_before_fork", "session.branch.pre"),
        DialectEvent { keys: SESSION_KEYS, ..told("session_fork", "session.branch") },
        DialectEvent {
            results: Results::Keys(&[CANCEL, key("compaction", KeyMeaning::Field("compaction"))]),
            rewrites: &[rewrite("compaction", Merge::Last)],
            ..before("session_before_compact", "compact.pre")
        },
        told("session_compact", "compact.post"),
        before("session_before_tree", "session.tree.pre"),
        told("session_tree", "session.tree"),
        told("session_shutdown", "session.end"),
        told("message_start", "message.start"),
        told("message_update", "message.update"),
        told("message_end", "message.end"),
        DialectEvent { keys: EXECUTION_KEYS, ..told("tool_execution_start", "tool.start") },
        DialectEvent { keys: EXECUTION_KEYS, ..told("tool_execution_update", "tool.update") },
        DialectEvent { keys: EXECUTION_KEYS, ..told("tool_execution_end", "tool.end") },
        told("model_select", "model.selected"),
        DialectEvent {
            results: Results::Keys(&[key("result", KeyMeaning::Field("result"))]),
            rewrites: &[rewrite("result", Merge::First)],
            ..told("user_bash", "user.bash")
        },
    ],
};
