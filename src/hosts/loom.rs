//! loom (`@ownware/loom` 0.3): eight events, one contract for shell hooks, which is ours
//! without its holes.
//!
//! Source: its "Hooks" document and the runtime of version 0.3.0. Hooks run in the order in
//! which they are registered; the first block ends the chain for every event, but it blocks only
//! `tool.pre`. What earlier hooks said has reached the model by then.

use super::prelude::*;
use super::results::Results;

/// A block is only recorded: timeouts and errors are blocks too.
const TOLD: HostEvent = HostEvent {
    results: Results::Native,
    on_failure: OnFailure::Block,
    conduct: Conduct {
        timeout: Some(Duration::from_secs(5)),
        refusal_ends: true,
        keeps_said: true,
        ..Conduct::USUAL
    },
    ..HostEvent::OBSERVER
};

const fn told(name: &'static str) -> HostEvent {
    TOLD.named(name, name)
}

pub(super) static LOOM: Host = Host {
    name: "loom",
    aliases: &["ownware"],
    names_event_by: "event",
    events: &[
        told("session.start"),
        // loom declares it and never calls it. A host that does is one that can block a prompt.
        TOLD.named("user.prompt.submit", "prompt.submit")
            .blocks(true),
        told("tool.pre").blocks(true),
        told("tool.post"),
        told("model.pre"),
        told("model.post"),
        told("session.end"),
        told("error"),
    ],
    is_system: true,
    ..Host::PLAIN
};
