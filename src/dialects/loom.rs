//! loom (`@ownware/loom` 0.3): eight events, one contract for shell hooks, which is ours
//! without its holes.
//!
//! Source: its "Hooks" document and the runtime of version 0.3.0. Hooks run in the order in
//! which they are registered; the first refusal ends the chain for every event, but only
//! `tool.pre` is refused by it. What earlier hooks said has reached the model by then.

use std::time::Duration;

use super::results::Results;
use super::row::{Dialect, DialectEvent, Discovery, HostTools, KeySpelling};
use crate::engine::event::{Conduct, OnFailure};

/// Is told, and a refusal is only recorded: time-outs and errors are refusals too.
const TOLD: DialectEvent = DialectEvent {
    results: Results::Native,
    on_failure: OnFailure::Block,
    conduct: Conduct {
        timeout: Some(Duration::from_secs(5)),
        refusal_ends: true,
        keeps_said: true,
        ..Conduct::USUAL
    },
    ..DialectEvent::OBSERVER
};

const fn told(name: &'static str) -> DialectEvent {
    DialectEvent { name, event: name, ..TOLD }
}

/// loom.
pub(super) static LOOM: Dialect = Dialect {
    name: "loom",
    aliases: &["ownware"],
    summary: "loom's lifecycle hooks: only tool.pre gates",
    names_event_by: "event",
    discovery: Discovery::All,
    spelling: KeySpelling::Camel,
    runs_once: false,
    tools: &HostTools::NONE,
    variables: &[],
    events: &[
        told("session.start"),
        // loom declares it and never asks it. A host that does is one that can refuse a prompt.
        DialectEvent { name: "user.prompt.submit", event: "prompt.submit", blocks: true, ..TOLD },
        DialectEvent { blocks: true, ..told("tool.pre") },
        told("tool.post"),
        told("model.pre"),
        told("model.post"),
        told("session.end"),
        told("error"),
    ],
};
