//! The one table: every canonical event and its rules.
//!
//! Help, schema, man page, documents and tests loop over [`EVENTS`]; the engine reads rows and
//! never matches on a name. Eight names are loom's, the others follow their pattern: `.pre`
//! comes before something happens, the plain name or `.post` after it.
//!
//! A host's own name is an alias of exactly one row. Where one name means different things in
//! different hosts, the row that fits most has it, a comment says so, and the dialect of the
//! other host names its row itself.

pub mod command;
mod keys;
mod rows;

use std::sync::Arc;

use super::spec::{EventSpec, OnFailure};
use crate::engine::spelling;

pub use rows::EVENTS;

/// The event after which a session is over.
pub const END_OF_SESSION: &str = "session.end";

/// The row that `name` names: a canonical name, or what a host calls it, in any case. A
/// canonical name goes before an alias. [`Catalog::find`] also knows the events that a team declared.
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

/// Nothing has this name: a misspelt event is an error, never ignored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event `{name}`{}", match .nearest { Some(n) => format!("; did you mean `{n}`?"), None => String::new() })]
pub struct UnknownEvent {
    pub name: String,
    /// The known name nearest to it.
    pub nearest: Option<String>,
}

impl Catalog {
    /// The catalog with `own` events in addition to the built-in ones.
    pub fn with(own: Vec<EventSpec>) -> Catalog {
        Catalog {
            own: own.into_iter().map(Arc::new).collect(),
        }
    }

    /// The same with the own event `name` as a gate that a failure blocks.
    #[must_use]
    pub fn closing(mut self, name: &str) -> Catalog {
        for spec in self.own.iter_mut().filter(|spec| spec.name == name) {
            let spec = Arc::make_mut(spec);
            (spec.blocks, spec.on_failure) = (true, OnFailure::Block);
        }
        self
    }

    /// Every event, the built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = &EventSpec> {
        EVENTS.iter().chain(self.own.iter().map(Arc::as_ref))
    }

    /// The event that `name` names, in any case: a team's own event, else a canonical name,
    /// else a host's name.
    ///
    /// # Errors
    /// When nothing has this name; the error has the nearest name or alias, if one is near.
    pub fn find(&self, name: &str) -> Result<Arc<EventSpec>, UnknownEvent> {
        if let Some(own) = self
            .own
            .iter()
            .find(|spec| spec.name.eq_ignore_ascii_case(name))
        {
            return Ok(Arc::clone(own));
        }
        if let Some(spec) = find(name) {
            return Ok(Arc::new(spec.clone()));
        }
        if let Some(command) = command::name_of(name) {
            let names = self
                .own
                .iter()
                .filter_map(|spec| command::name_of(&spec.name));
            let nearest = spelling::nearest(command, names);
            let nearest = nearest.map(|near| format!("{}{near}", command::PREFIX));
            return Err(UnknownEvent {
                name: name.to_string(),
                nearest,
            });
        }
        let names = self.iter().flat_map(|spec| {
            std::iter::once(spec.name.as_ref()).chain(spec.aliases.iter().copied())
        });
        // `pre-tool` is our `tool.pre`, and not the event of a host with nearly that name.
        let turned = self
            .iter()
            .map(|spec| spec.name.as_ref())
            .find(|canonical| {
                let turned: String = canonical.rsplit('.').collect();
                spelling::plain(&turned) == spelling::plain(name)
            });
        let nearest = turned
            .or_else(|| spelling::nearest(name, names))
            .map(str::to_string);
        Err(UnknownEvent {
            name: name.to_string(),
            nearest,
        })
    }
}

#[cfg(test)]
mod tests;
