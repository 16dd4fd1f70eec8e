//! wolli: eight `before:` events, each of which hands a hook the value that is about to take
//! effect and takes a typed decision back.
//!
//! Source: its "Hooks" document, and its hook runner for what events are called inside. Hooks run
//! as a chain, each sees the event as earlier ones left it; a decision that ends the matter ends
//! the chain; a hook that throws fails open, and what it had changed stays. It sets no time limit;
//! hookrun keeps its own.

use super::results::{Act, KeyMeaning, Results, key};
use super::row::{Dialect, DialectEvent, Discovery, HostTools, KeySpelling, rewrite};
use crate::engine::event::Merge;

const BEFORE: DialectEvent = DialectEvent { keeps_thrown: true, ..DialectEvent::OBSERVER };

/// What the user has sent, as pi and oh-my-pi have it too. It cannot be refused there; to take it is
/// the strictest that can be said: the model never sees it.
pub(super) const INPUT: DialectEvent = DialectEvent {
    name: "input",
    event: "prompt.submit",
    keys: &[("text", "prompt")],
    results: Results::Keys(&[
        key(
            "action",
            KeyMeaning::Action(&[
                ("continue", Act::Pass),
                ("transform", Act::Rewrite),
                ("handled", Act::Claim("handled")),
            ]),
        ),
        key("text", KeyMeaning::Field("prompt")),
        key("images", KeyMeaning::Field("images")),
    ]),
    blocks: true,
    rewrites: &[
        rewrite("prompt", Merge::Chain),
        rewrite("images", Merge::Chain),
        rewrite("handled", Merge::Claim),
    ],
    ..BEFORE
};

/// wolli.
pub(super) static WOLLI: Dialect = Dialect {
    name: "wolli",
    aliases: &[],
    summary: "wolli's eight `before:` hooks: chained patches, fails open",
    names_event_by: "type",
    discovery: Discovery::All,
    spelling: KeySpelling::Camel,
    runs_once: false,
    tools: &HostTools::NONE,
    variables: &[],
    events: &[
        DialectEvent {
            name: "tool_call",
            event: "tool.pre",
            keys: &[("input", "toolInput"), ("toolCallId", "toolUseId")],
            results: Results::Keys(&[
                key("block", KeyMeaning::Refusal),
                key("reason", KeyMeaning::Reason),
                // There hooks change it in place; a program says what it has become.
                key("input", KeyMeaning::Field("toolInput")),
            ]),
            blocks: true,
            rewrites: &[rewrite("toolInput", Merge::Chain)],
            ..BEFORE
        },
        DialectEvent {
            name: "tool_result",
            event: "tool.post",
            keys: &[("input", "toolInput"), ("toolCallId", "toolUseId"), ("content", "result")],
            results: Results::Keys(&[
                key("content", KeyMeaning::Field("result")),
                key("details", KeyMeaning::Field("details")),
                key("isError", KeyMeaning::Field("isError")),
            ]),
            rewrites: &[
                rewrite("result", Merge::Chain),
                rewrite("details", Merge::Chain),
                rewrite("isError", Merge::Chain),
            ],
            ..BEFORE
        },
        INPUT,
        DialectEvent {
            name: "context",
            event: "model.pre",
            results: Results::Keys(&[key("messages", KeyMeaning::Field("messages"))]),
            rewrites: &[rewrite("messages", Merge::Chain)],
            ..BEFORE
        },
        DialectEvent {
            name: "provider_request",
            aliases: &["before_provider_request"],
            event: "provider.request",
            results: Results::Whole("payload"),
            rewrites: &[rewrite("payload", Merge::Chain)],
            ..BEFORE
        },
        DialectEvent {
            name: "agent_start",
            aliases: &["before_agent_start"],
            event: "agent.start",
            results: Results::Keys(&[
                key("message", KeyMeaning::Entry { field: "messages", list: "messages" }),
                key("systemPrompt", KeyMeaning::Field("systemPrompt")),
            ]),
            rewrites: &[rewrite("messages", Merge::Append), rewrite("systemPrompt", Merge::Chain)],
            ..BEFORE
        },
        DialectEvent {
            name: "compact",
            aliases: &["session_before_compact"],
            event: "compact.pre",
            results: Results::Keys(&[key("cancel", KeyMeaning::Refusal)]),
            blocks: true,
            ..BEFORE
        },
        DialectEvent {
            name: "message_end",
            event: "message.end",
            results: Results::Keys(&[key("message", KeyMeaning::Field("message"))]),
            rewrites: &[rewrite("message", Merge::SameRole)],
            ..BEFORE
        },
    ],
};
