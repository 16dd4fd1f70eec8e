//! The table of canonical events and their rules.
//!
//! Help, schema, man page, docs and tests loop over [`EVENTS`]; the engine reads rows and never
//! matches on a name. Eight names are loom's, the others follow its pattern: `.pre` is before
//! something happens, the plain name or `.post` after it.
//!
//! A host's name is an alias of one row. Where hosts use a name differently, the best fitting row
//! has it, with a comment, and the other host's dialect names its row.

mod keys;
mod rows;

use std::sync::Arc;

use super::spec::{Conduct, ContextKey, EventSpec, OnFailure, Stop};
use crate::engine::complaint;
use keys::{ARGS, CWD, SESSION_ID};
use rows::GATE;

pub use rows::EVENTS;

pub const END_OF_SESSION: &str = "session.end";

/// Returns the row of a canonical name, else of an alias, in any case. [`Catalog::find`] also finds
/// a team's events.
pub fn find(name: &str) -> Option<&'static EventSpec> {
    EVENTS
        .iter()
        .find(|spec| spec.name.eq_ignore_ascii_case(name))
        .or_else(|| EVENTS.iter().find(|spec| spec.is_called(name)))
}

/// The built-in events and those declared in `hookrun.toml`. The default has only the built-in
/// ones.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    own: Vec<Arc<EventSpec>>,
    settled: Vec<Arc<EventSpec>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event `{name}`{}", match .nearest { Some(n) => format!("; did you mean `{n}`?"), None => String::new() })]
pub struct UnknownEvent {
    pub name: String,
    pub nearest: Option<String>,
}

impl Catalog {
    /// Creates a catalog with `own` events in addition to the built-in ones.
    pub fn with(own: Vec<EventSpec>) -> Catalog {
        Catalog {
            own: own.into_iter().map(Arc::new).collect(),
            settled: Vec::new(),
        }
    }

    /// Sets `stop` of the built-in event `name`.
    #[must_use]
    #[doc(hidden)]
    pub fn stopping(mut self, name: &str, stop: Stop) -> Catalog {
        if let Some(known) = self.settled.iter_mut().find(|spec| spec.name == name) {
            Arc::make_mut(known).conduct.stop = stop;
        } else if let Some(spec) = find(name) {
            let mut spec = spec.clone();
            spec.conduct.stop = stop;
            self.settled.push(Arc::new(spec));
        }
        self
    }

    /// Applies settings from `hookrun.toml` to a dialect's rules.
    #[doc(hidden)]
    pub fn settled(&self, mut spec: EventSpec) -> EventSpec {
        if let Some(known) = self.settled.iter().find(|known| known.name == spec.name) {
            spec.conduct.stop = known.conduct.stop;
        }
        spec
    }

    /// Turns the team's event `name` into a gate that fails closed.
    #[must_use]
    pub fn closing(mut self, name: &str) -> Catalog {
        for spec in self.own.iter_mut().filter(|spec| spec.name == name) {
            let spec = Arc::make_mut(spec);
            (spec.blocks, spec.on_failure) = (true, OnFailure::Block);
        }
        self
    }

    /// Returns all events, the built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = &EventSpec> {
        let built_in = EVENTS.iter().map(|spec| {
            let settled = self.settled.iter().find(|known| known.name == spec.name);
            settled.map_or(spec, Arc::as_ref)
        });
        built_in.chain(self.own.iter().map(Arc::as_ref))
    }

    /// Returns the event with this name, in any case: a team's event, else a canonical name, else
    /// an alias.
    ///
    /// # Errors
    /// If the name is unknown; suggests the nearest one.
    pub fn find(&self, name: &str) -> Result<Arc<EventSpec>, UnknownEvent> {
        let mut own = self.own.iter();
        if let Some(own) = own.find(|spec| spec.name.eq_ignore_ascii_case(name)) {
            return Ok(Arc::clone(own));
        }
        if let Some(spec) = find(name) {
            let settled = self.settled.iter().find(|known| known.name == spec.name);
            return Ok(settled.map_or_else(|| Arc::new(spec.clone()), Arc::clone));
        }
        // `pre-tool` means `tool.pre`, not a host's event with a similar name.
        let mut canonical_names = self.iter().map(|spec| spec.name.as_ref());
        let turned = canonical_names.find(|canonical| {
            let turned: String = canonical.rsplit('.').collect();
            complaint::plain(&turned) == complaint::plain(name)
        });
        let names = self.iter().flat_map(|spec| {
            std::iter::once(spec.name.as_ref()).chain(spec.aliases.iter().copied())
        });
        let nearest = turned.or_else(|| complaint::nearest(name, names));
        Err(UnknownEvent {
            name: name.to_string(),
            nearest: nearest.map(str::to_string),
        })
    }
}

pub const COMMAND_PREFIX: &str = "command.";

const COMMAND_CONTEXT: &[ContextKey] = &[ARGS, SESSION_ID, CWD];

pub fn command_event(name: &str, description: Option<&str>) -> EventSpec {
    let about = description.map(|text| format!(": {text}"));
    let about = about.unwrap_or_default();
    EventSpec {
        name: format!("{COMMAND_PREFIX}{name}").into(),
        summary: format!("the user enters the command `{name}`{about}").into(),
        aliases: &[],
        context: COMMAND_CONTEXT.into(),
        required: [].as_slice().into(),
        blocks: GATE.blocks,
        rewrites: [].as_slice().into(),
        on_failure: GATE.on_failure,
        schedule: GATE.schedule,
        conduct: Conduct::USUAL,
    }
}

/// Returns the command of an event, in any case; `None` for other events. The name may be invalid.
pub fn command_name(event: &str) -> Option<&str> {
    // An alias has this prefix too.
    if find(event).is_some() {
        return None;
    }
    let (start, name) = event.split_at_checked(COMMAND_PREFIX.len())?;
    start.eq_ignore_ascii_case(COMMAND_PREFIX).then_some(name)
}

/// Returns true for a valid command name: letters, digits, `-`, `_` and `:`.
pub fn is_command_name(name: &str) -> bool {
    let mut chars = name.chars();
    !name.is_empty() && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
}
