//! oh-my-pi: hooks on the session, the agent, its context and its tools.
//!
//! Source: its "Hooks" document and the hook runner that it describes. Handlers run in the order
//! in which they are registered and each gets the event as it came; of several results the last
//! one counts, a refusal ends the chain. An error is reported and passed over, but blocks a tool
//! call; so does a mistake in what is loaded. It sets no time limit, so that a person may be asked
//! before a tool call; hookrun keeps its usual one for every other event.

use std::time::Duration;

use super::results::{Act, KeyMeaning, ReplyKey, Results, key};
use super::row::{Dialect, DialectEvent, Discovery, HostTools, KeySpelling, rewrite};
use super::wolli::INPUT;
use crate::engine::event::{Conduct, Merge, OnFailure};

/// The last result counts, and every hook sees the event as it came.
const LATEST: Conduct = Conduct { last_result: true, isolated: true, ..TOLD.conduct };

/// A person may be asked for as long as they like.
const LATEST_UNTIMED: Conduct = Conduct { timeout: Some(Duration::MAX), ..LATEST };

const CANCEL: ReplyKey = key("cancel", KeyMeaning::Refusal);

const TOLD: DialectEvent = DialectEvent {
    conduct: Conduct { reads_on: true, ..Conduct::USUAL },
    ..DialectEvent::OBSERVER
};

const fn told(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent { name, event, ..TOLD }
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

/// To block a stop is to go on. Its own word for that is `continue`, which must be `true`: a block in
/// the word that other hosts read is written alone.
const STOP: &[ReplyKey] = &[
    key("decision", KeyMeaning::Action(&[("block", Act::Refuse)])),
    key("reason", KeyMeaning::Reason),
    key("additionalContext", KeyMeaning::Context),
    key("continue", KeyMeaning::Refusal),
];

const TOOL_KEYS: &[(&str, &str)] =
    &[("input", "toolInput"), ("toolCallId", "toolUseId"), ("content", "result")];

/// The tool as it is told of while it runs.
const EXECUTION_KEYS: &[(&str, &str)] = &[("args", "toolInput"), ("toolCallId", "toolUseId")];

/// The session that was left.
const LEFT_SESSION: &[(&str, &str)] = &[("previousSessionFile", "previousSession")];

/// `action` is ours, for tools.
const COMPACTION: &[(&str, &str)] = &[("action", "method")];

/// oh-my-pi.
pub(super) static OMP: Dialect = Dialect {
    name: "omp",
    aliases: &["oh-my-pi"],
    summary: "oh-my-pi's hooks: the last result counts, tool calls fail closed",
    names_event_by: "type",
    discovery: Discovery::FirstWins,
    spelling: KeySpelling::Camel,
    runs_once: false,
    tools: &HostTools::NONE,
    variables: &[],
    events: &[
        told("session_start", "session.start"),
        DialectEvent {
            keys: &[("targetSessionFile", "targetSession")],
            ..before("session_before_switch", "session.switch.pre")
        },
        DialectEvent { keys: LEFT_SESSION, ..told("session_switch", "session.switch") },
        DialectEvent {
            results: Results::Keys(&[
                CANCEL,
                key("skipConversationRestore", KeyMeaning::Field("skipConversationRestore")),
            ]),
            rewrites: &[rewrite("skipConversationRestore", Merge::Last)],
            ..before("session_before_branch", "session.branch.pre")
        },
        DialectEvent { keys: LEFT_SESSION, ..told("session_branch", "session.branch") },
        DialectEvent {
            results: Results::Keys(&[CANCEL, key("compaction", KeyMeaning::Field("compaction"))]),
            rewrites: &[rewrite("compaction", Merge::Last)],
            ..before("session_before_compact", "compact.pre")
        },
        DialectEvent {
            keys: &[("context", "additions")],
            results: Results::Keys(&[
                key("context", KeyMeaning::Field("additions")),
                key("prompt", KeyMeaning::Field("prompt")),
                key("preserveData", KeyMeaning::Field("preserveData")),
            ]),
            rewrites: &[
                rewrite("additions", Merge::Last),
                rewrite("prompt", Merge::Last),
                rewrite("preserveData", Merge::Last),
            ],
            conduct: LATEST,
            ..told("session.compacting", "compact.prompt")
        },
        told("session_compact", "compact.post"),
        DialectEvent {
            results: Results::Keys(&[CANCEL, key("summary", KeyMeaning::Field("summary"))]),
            rewrites: &[rewrite("summary", Merge::Last)],
            ..before("session_before_tree", "session.tree.pre")
        },
        told("session_tree", "session.tree"),
        told("session_shutdown", "session.end"),
        DialectEvent {
            results: Results::Keys(&[key("messages", KeyMeaning::Field("messages"))]),
            rewrites: &[rewrite("messages", Merge::Chain)],
            ..told("context", "model.pre")
        },
        DialectEvent {
            results: Results::Keys(&[key(
                "message",
                KeyMeaning::Entry { field: "messages", list: "messages" },
            )]),
            rewrites: &[rewrite("messages", Merge::First)],
            conduct: Conduct { isolated: true, ..TOLD.conduct },
            ..told("before_agent_start", "agent.start")
        },
        // Of its source, not of the document: it fires in interactive sessions.
        DialectEvent {
            keys: INPUT.keys,
            results: Results::Keys(&[
                key("handled", KeyMeaning::Field("handled")),
                key("text", KeyMeaning::Field("prompt")),
                key("images", KeyMeaning::Field("images")),
            ]),
            blocks: true,
            rewrites: INPUT.rewrites,
            ..told("input", "prompt.submit")
        },
        told("agent_start", "agent.begin"),
        told("agent_end", "agent.end"),
        // Of its extensions, not of the document. A block has no end there; hookrun's own count
        // of stops ends it.
        DialectEvent {
            keys: &[
                ("session_id", "sessionId"),
                ("stop_hook_active", "stopHookActive"),
                ("last_assistant_message", "lastAssistantMessage"),
            ],
            results: Results::Keys(STOP),
            blocks: true,
            conduct: LATEST,
            ..told("session_stop", "agent.stop")
        },
        told("turn_start", "turn.start"),
        told("turn_end", "turn.end"),
        DialectEvent { keys: COMPACTION, ..told("auto_compaction_start", "compact.start") },
        DialectEvent { keys: COMPACTION, ..told("auto_compaction_end", "compact.end") },
        DialectEvent {
            keys: &[("errorMessage", "error")],
            ..told("auto_retry_start", "retry.start")
        },
        told("auto_retry_end", "retry.end"),
        told("ttsr_triggered", "rule.trigger"),
        told("todo_reminder", "todo.reminder"),
        DialectEvent {
            keys: TOOL_KEYS,
            // `input` is of its extensions, not of the document.
            results: Results::Keys(&[
                key("block", KeyMeaning::Refusal),
                key("reason", KeyMeaning::Reason),
                key("input", KeyMeaning::Field("toolInput")),
            ]),
            rewrites: &[rewrite("toolInput", Merge::Last)],
            blocks: true,
            on_failure: OnFailure::Block,
            conduct: LATEST_UNTIMED,
            ..told("tool_call", "tool.pre")
        },
        // Its type has `isError`, and nothing applies it.
        DialectEvent {
            keys: TOOL_KEYS,
            results: Results::Keys(&[
                key("content", KeyMeaning::Field("result")),
                key("details", KeyMeaning::Field("details")),
            ]),
            rewrites: &[rewrite("result", Merge::Last), rewrite("details", Merge::Last)],
            conduct: LATEST,
            ..told("tool_result", "tool.post")
        },
        // What its clients send beyond the document.
        DialectEvent {
            results: Results::Whole("payload"),
            rewrites: &[rewrite("payload", Merge::Chain)],
            ..told("before_provider_request", "provider.request")
        },
        told("after_provider_response", "provider.response"),
        told("message_start", "message.start"),
        told("message_end", "message.end"),
        DialectEvent { keys: EXECUTION_KEYS, ..told("tool_execution_start", "tool.start") },
        DialectEvent { keys: EXECUTION_KEYS, ..told("tool_execution_end", "tool.end") },
    ],
};
