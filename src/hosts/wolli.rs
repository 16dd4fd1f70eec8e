//! wolli: eight `before:` events, each of which hands a hook the value that is about to take
//! effect and takes a typed decision back.
//!
//! Source: its "Hooks" document, and its hook runner for what events are called inside. Hooks run
//! as a chain, each sees the event as earlier ones left it; a decision that ends the matter ends
//! the chain; a hook that throws fails open, and what it had changed stays. It sets no time limit;
//! hookrun keeps its own.

use super::prelude::*;
use super::results::KeyMeaning::{Action, Entry, Field, Reason, Refusal};
use crate::engine::event::Merge::{Append, Chain, SameRole};

const BEFORE: HostEvent = HostEvent {
    keeps_thrown: true,
    ..HostEvent::OBSERVER
};

/// What the user has sent, as pi and oh-my-pi have it too. It cannot be blocked there; to take it
/// is the strictest answer: the model never sees it.
pub(super) const INPUT: HostEvent = BEFORE
    .named("input", "prompt.submit")
    .keys(&[("text", "prompt")])
    .blocks(true)
    .results(&[
        key(
            "action",
            Action(&[
                ("continue", Act::Pass),
                ("transform", Act::Rewrite),
                ("handled", Act::Claim("handled")),
            ]),
        ),
        key("text", Field("prompt", Chain)),
        key("images", Field("images", Chain)),
    ]);

pub(super) static WOLLI: Host = Host {
    name: "wolli",
    events: &[
        BEFORE
            .named("tool_call", "tool.pre")
            .keys(&[("input", "toolInput"), ("toolCallId", "toolUseId")])
            .blocks(true)
            .results(&[
                key("block", Refusal(true)),
                key("reason", Reason),
                // There hooks change it in place; a program says what it has become.
                key("input", Field("toolInput", Chain)),
            ]),
        BEFORE
            .named("tool_result", "tool.post")
            .keys(&[
                ("input", "toolInput"),
                ("toolCallId", "toolUseId"),
                ("content", "result"),
            ])
            .results(&[
                key("content", Field("result", Chain)),
                key("details", Field("details", Chain)),
                key("isError", Field("isError", Chain)),
            ]),
        INPUT,
        BEFORE
            .named("context", "model.pre")
            .results(&[key("messages", Field("messages", Chain))]),
        BEFORE
            .named("provider_request", "provider.request")
            .aliases(&["before_provider_request"])
            .whole("payload", Chain),
        BEFORE
            .named("agent_start", "agent.start")
            .aliases(&["before_agent_start"])
            .results(&[
                key("message", Entry("messages", Append)),
                key("systemPrompt", Field("systemPrompt", Chain)),
            ]),
        BEFORE
            .named("compact", "compact.pre")
            .aliases(&["session_before_compact"])
            .blocks(true)
            .results(&[key("cancel", Refusal(true))]),
        BEFORE
            .named("message_end", "message.end")
            .results(&[key("message", Field("message", SameRole))]),
    ],
    is_system: true,
    ..Host::PLAIN
};
