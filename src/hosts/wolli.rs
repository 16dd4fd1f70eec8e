//! wolli: eight `before:` events that give a hook the pending value and take a typed decision.
//!
//! Source: its "Hooks" document, and its hook runner for internal event names. Hooks run as a
//! chain, each on the event as earlier ones left it; a final decision ends the chain. A hook that
//! throws fails open, and its changes stay. It sets no time limit; hookrun keeps its default.

use super::prelude::*;
use super::results::KeyMeaning::{Action, Block, Entry, Field, Reason};
use crate::engine::event::Merge::{Append, Chain, SameRole};

const BEFORE: HostEvent = HostEvent {
    keeps_thrown: true,
    ..HostEvent::OBSERVER
};

/// The user's input, as in pi and oh-my-pi. It cannot be blocked, only claimed.
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
                key("block", Block(true)),
                key("reason", Reason),
                // Functions change it in place; a program prints the new input.
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
            .results(&[key("cancel", Block(true))]),
        BEFORE
            .named("message_end", "message.end")
            .results(&[key("message", Field("message", SameRole))]),
    ],
    is_system: true,
    ..Host::PLAIN
};
