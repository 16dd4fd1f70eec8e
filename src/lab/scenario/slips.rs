//! Finds probable typos in the keys of a context. The hook would read the intended key, and the
//! case would test an event without it.
//!
//! Pure. A user's own keys are fine; only a near miss of an event's key counts.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::engine::event::EventSpec;
use crate::engine::spelling::near_misses;
use crate::hosts::{Binding, native};

/// The keys of an event in its sender's words.
#[derive(Debug, Default)]
pub struct Keys {
    /// The preferred spellings.
    best: BTreeSet<String>,
    /// Other accepted spellings.
    also: BTreeSet<String>,
}

impl Keys {
    /// The keys of these events, in the forms of `bindings`, or the native form if there are none.
    pub fn of<'s>(specs: impl IntoIterator<Item = &'s EventSpec>, bindings: &[Binding]) -> Keys {
        let mut keys = Keys::default();
        for spec in specs {
            let names: Vec<&str> = spec.context.iter().map(|key| key.name.as_ref()).collect();
            if bindings.is_empty() {
                keys.best.extend(names.iter().map(|name| name.to_string()));
            }
            for binding in bindings {
                keys.best
                    .extend(names.iter().map(|name| binding.theirs(name)));
            }
            keys.also.extend(names.into_iter().map(str::to_string));
        }
        for binding in bindings {
            let row = binding.row;
            let pairs = row.keys.iter().chain(row.also).map(|(theirs, _)| *theirs);
            let others = row.stand_ins.iter().map(|one| one.theirs);
            let gathered = row
                .gather
                .iter()
                .flat_map(|gather| gather.keys.iter().copied());
            let when = row.when.iter().map(|(key, _)| *key);
            let all = pairs
                .chain(others)
                .chain(gathered)
                .chain(when)
                .chain(row.as_text.iter().copied());
            keys.also.extend(all.map(str::to_string));
            keys.also.insert(binding.dialect.names_event_by.to_string());
        }
        keys.also
            .extend([native::NAMES_EVENT_BY, "action", "raw"].map(str::to_string));
        keys
    }

    /// The keys of `context` that nearly match a missing key of the event, each with that key.
    pub fn slips(&self, context: &Map<String, Value>) -> Vec<(String, String)> {
        let is_read = |key: &&str| self.also.contains(*key) && !self.best.contains(*key);
        let found = context
            .keys()
            .map(String::as_str)
            .filter(|key| !is_read(key));
        let slips = near_misses(found, self.best.iter().map(String::as_str));
        slips
            .into_iter()
            .map(|(key, meant)| (key.to_string(), meant.to_string()))
            .collect()
    }
}
