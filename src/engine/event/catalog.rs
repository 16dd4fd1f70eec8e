//! The one table: every canonical event and its rules.
//!
//! Help, schema, man page, documents and tests loop over [`EVENTS`]; the engine reads rows and
//! never matches on a name. The eight names of loom stand as loom has them; the others are
//! made in their manner: `.pre` asks before something happens, the plain name or `.post` tells
//! that it has happened.
//!
//! A host's own name is an alias of exactly one row. Where one name means different things in
//! different hosts, the row that fits most has it, a comment says so, and the dialect of the
//! other host names its row itself.

mod agent;
pub mod command;
mod gateway;
mod git;
mod keys;
mod model;
mod session;
mod tool;
mod workspace;

use std::borrow::Cow::{self, Borrowed};
use std::mem;
use std::sync::Arc;

use super::{Conduct, ContextKey, EventSpec, JsonType, Merge, OnFailure, Rewrite, Schedule};
use crate::engine::spelling;

/// Every canonical event, in the order of `hookrun events`.
pub static EVENTS: &[EventSpec] = &TABLE;

/// The parts of the table, each a file of its own.
const PARTS: &[&[EventRow]] = &[
    session::ROWS,
    agent::ROWS,
    model::ROWS,
    tool::ROWS,
    workspace::ROWS,
    gateway::ROWS,
    git::ROWS,
];

/// An [`EventSpec`] as the parts write it. A row begins with one of the six sorts of event
/// below, which set the last four fields, and states what is its own.
#[derive(Clone, Copy)]
struct EventRow {
    name: &'static str,
    summary: &'static str,
    aliases: &'static [&'static str],
    context: &'static [ContextKey],
    required: &'static [Cow<'static, str>],
    rewrites: &'static [Rewrite],
    blocks: bool,
    on_failure: OnFailure,
    schedule: Schedule,
    most_refusals: Option<u32>,
    text_teaches: bool,
}

/// May refuse what is about to happen, and refuses if it fails.
const GATE: EventRow = EventRow {
    blocks: true,
    on_failure: OnFailure::Block,
    schedule: Schedule::Sequential,
    ..OBSERVER
};

/// May refuse; if it fails, the event goes on. For a refusal that a failing hook would turn
/// into a trap: "not done yet" keeps an agent working for ever, and a session that cannot be
/// compacted, or a message that never arrives, is lost.
const OPEN_GATE: EventRow = EventRow { on_failure: OnFailure::Allow, ..GATE };

/// May keep somebody at work by refusing. After eight refusals in a row it cannot: that many
/// have not helped, and hosts that set a limit have this one.
const STOP_GATE: EventRow = EventRow { most_refusals: Some(8), ..OPEN_GATE };

/// May rewrite, cannot refuse.
const TRANSFORM: EventRow = EventRow { schedule: Schedule::Sequential, ..OBSERVER };

/// Is only told, and waited for: its output and context still reach the model.
const OBSERVER: EventRow = EventRow {
    name: "",
    summary: "",
    aliases: &[],
    context: &[],
    required: &[],
    rewrites: &[],
    blocks: false,
    on_failure: OnFailure::Allow,
    schedule: Schedule::Parallel,
    most_refusals: None,
    text_teaches: false,
};

/// Is only told, and nobody waits: there is no model that could hear an answer.
const NOTICE: EventRow = EventRow { schedule: Schedule::Detached, ..OBSERVER };

/// A tool is about to run: without its name no guard knows whether it is meant.
const OF_A_TOOL: &[Cow<'static, str>] = &[Borrowed("toolName")];

const fn rewrite(field: &'static str, merge: Merge) -> Rewrite {
    Rewrite { field: Borrowed(field), merge }
}

const fn chain(field: &'static str) -> Rewrite {
    rewrite(field, Merge::Chain)
}

const fn first(field: &'static str) -> Rewrite {
    rewrite(field, Merge::First)
}

const fn claim(field: &'static str) -> Rewrite {
    rewrite(field, Merge::Claim)
}

const fn last(field: &'static str) -> Rewrite {
    rewrite(field, Merge::Last)
}

const fn append(field: &'static str) -> Rewrite {
    rewrite(field, Merge::Append)
}

const fn same_role(field: &'static str) -> Rewrite {
    rewrite(field, Merge::SameRole)
}

impl EventRow {
    const fn spec(self) -> EventSpec {
        EventSpec {
            name: Borrowed(self.name),
            summary: Borrowed(self.summary),
            aliases: self.aliases,
            context: Borrowed(self.context),
            required: Borrowed(self.required),
            blocks: self.blocks,
            rewrites: Borrowed(self.rewrites),
            on_failure: self.on_failure,
            schedule: self.schedule,
            conduct: Conduct {
                most_refusals: self.most_refusals,
                text_teaches: self.text_teaches,
                ..Conduct::USUAL
            },
        }
    }
}

// The parts are joined when hookrun is built, so that the table costs nothing at start.
static TABLE: [EventSpec; count()] = join();

const fn count() -> usize {
    let mut rows = 0;
    let mut part = 0;
    while part < PARTS.len() {
        rows += PARTS[part].len();
        part += 1;
    }
    rows
}

const fn join() -> [EventSpec; count()] {
    let mut table = [const { OBSERVER.spec() }; count()];
    let mut filled = 0;
    let mut part = 0;
    while part < PARTS.len() {
        let mut row = 0;
        while row < PARTS[part].len() {
            let empty = mem::replace(&mut table[filled], PARTS[part][row].spec());
            // A const fn cannot drop, and what only borrows needs no drop.
            mem::forget(empty);
            filled += 1;
            row += 1;
        }
        part += 1;
    }
    table
}

/// The row that `name` names: a canonical name, or what a host calls it, in any case. A
/// canonical name goes before an alias. Events that a team declared are not looked at; that
/// is [`Catalog::find`].
pub fn find(name: &str) -> Option<&'static EventSpec> {
    EVENTS
        .iter()
        .find(|spec| spec.name.eq_ignore_ascii_case(name))
        .or_else(|| EVENTS.iter().find(|spec| spec.is_called(name)))
}

/// The catalog together with the events that a team declared in `hookrun.toml`. The default is
/// the built-in table alone.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    own: Vec<Arc<EventSpec>>,
}

/// Nothing is known by this name: a misspelt event is refused, never passed over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event `{name}`{}", match .nearest { Some(n) => format!("; did you mean `{n}`?"), None => String::new() })]
pub struct UnknownEvent {
    /// What was asked for.
    pub name: String,
    /// The known name nearest to it.
    pub nearest: Option<String>,
}

impl Catalog {
    /// The catalog with `own` events beside the built-in ones.
    pub fn with(own: Vec<EventSpec>) -> Catalog {
        Catalog { own: own.into_iter().map(Arc::new).collect() }
    }

    /// Every event, the built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = &EventSpec> {
        EVENTS.iter().chain(self.own.iter().map(Arc::as_ref))
    }

    /// The event that `name` names, in any case: a team's own event, else a canonical name,
    /// else a host's name.
    ///
    /// # Errors
    /// When nothing is called so; the error names the nearest name or alias, if one is near.
    pub fn find(&self, name: &str) -> Result<Arc<EventSpec>, UnknownEvent> {
        if let Some(own) = self.own.iter().find(|spec| spec.name.eq_ignore_ascii_case(name)) {
            return Ok(Arc::clone(own));
        }
        if let Some(spec) = find(name) {
            return Ok(Arc::new(spec.clone()));
        }
        if let Some(asked) = command::name_of(name) {
            let names = self.own.iter().filter_map(|spec| command::name_of(&spec.name));
            let nearest = spelling::nearest(asked, names);
            let nearest = nearest.map(|near| format!("{}{near}", command::PREFIX));
            return Err(UnknownEvent { name: name.to_string(), nearest });
        }
        let names = self.iter().flat_map(|spec| {
            std::iter::once(spec.name.as_ref()).chain(spec.aliases.iter().copied())
        });
        // `pre-tool` is our `tool.pre`, and not the event of a host with nearly that name.
        let turned = self.iter().map(|spec| spec.name.as_ref()).find(|canonical| {
            let turned: String = canonical.rsplit('.').collect();
            spelling::plain(&turned) == spelling::plain(name)
        });
        let nearest = turned.or_else(|| spelling::nearest(name, names)).map(str::to_string);
        Err(UnknownEvent { name: name.to_string(), nearest })
    }
}

/// An example value for a key of `kind`, as JSON text, for events that a team declares itself.
pub fn sample_of(kind: JsonType) -> Cow<'static, str> {
    Borrowed(match kind {
        JsonType::String => "\"text\"",
        JsonType::Integer | JsonType::Number => "1",
        JsonType::Boolean => "true",
        JsonType::Object => "{}",
        JsonType::Array => "[]",
        JsonType::Any => "null",
    })
}

#[cfg(test)]
mod tests;
