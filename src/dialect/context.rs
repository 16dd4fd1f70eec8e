//! Events in and out: a dialect's names and keys become ours, and ours become theirs.

use serde_json::Value;

use super::{Binding, Dialect};
use crate::event::{Context, Event};

/// Why an event of a dialect cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It is another event than the one that was asked for.
    #[error("the context is of the event `{found}`, not of `{asked}`")]
    OtherEvent {
        /// The name that was asked for.
        asked: String,
        /// The name in the context.
        found: String,
    },
    /// The key that tells events of one name apart is missing or has no known value.
    #[error("`{key}` tells which `{name}` it is, and {}: give one of {}", .found.as_ref().map_or("is missing".to_string(), |found| format!("`{found}` is none that is known")), .known.join(", "))]
    NotTold {
        /// The name of the event.
        name: String,
        /// The key.
        key: &'static str,
        /// What is in it.
        found: Option<String>,
        /// Its values.
        known: Vec<&'static str>,
    },
    /// A fact stands in the context under both names.
    #[error("`{theirs}` and `{ours}` are the same; give one of them")]
    Twice {
        /// The dialect's key.
        theirs: &'static str,
        /// Our key.
        ours: &'static str,
    },
}

/// Keys of ours that no other system has.
const OURS: &[&str] = &["event", "action", "raw"];

impl Dialect {
    /// Which of several events of one name `context` is of.
    ///
    /// # Errors
    /// When the key that tells them apart is not there or says something unknown.
    pub fn tell_apart(candidates: &[Binding], context: &Context) -> Result<Binding, DecodeError> {
        if let [only] = candidates {
            return Ok(*only);
        }
        let is_meant = |binding: &&Binding| match binding.row.when {
            Some((key, value)) => context.string(key).as_deref() == Some(value),
            None => true,
        };
        if let Some(binding) = candidates.iter().find(is_meant) {
            return Ok(*binding);
        }
        let known: Vec<_> = candidates.iter().filter_map(|binding| binding.row.when).collect();
        let key = known.first().map_or("", |(key, _)| key);
        Err(DecodeError::NotTold {
            name: candidates.first().map_or("", |binding| binding.row.name).to_string(),
            key,
            found: context.string(key),
            known: known.iter().map(|(_, value)| *value).collect(),
        })
    }
}

impl Binding {
    /// A context of this dialect under our keys.
    ///
    /// # Errors
    /// When it names another event, or a fact stands in it under both names.
    pub fn decode(self, mut context: Context) -> Result<Context, DecodeError> {
        for key in [self.dialect.names_event_by, "event"] {
            let Some(found) = context.string(key) else { continue };
            if !self.row.is_called(&found) && found != self.row.event {
                let asked = self.row.name.to_string();
                return Err(DecodeError::OtherEvent { asked, found });
            }
            context.remove(key);
        }
        for one in self.row.stand_ins {
            let fact = context.string(one.theirs).filter(|text| !text.is_empty());
            if let Some(fact) = fact.filter(|_| context.raw(one.ours).is_none()) {
                context.set(one.ours, &Value::from(fact));
            }
        }
        for (theirs, ours) in self.row.keys {
            if context.raw(theirs).is_none() {
                continue;
            }
            if context.raw(ours).is_some() {
                return Err(DecodeError::Twice { theirs, ours });
            }
            context.rename(theirs, ours);
        }
        Ok(context)
    }

    /// The context that a hook written for this dialect gets.
    pub fn encode(self, event: &Event) -> Context {
        let mut context = event.context().clone();
        for key in OURS {
            context.remove(key);
        }
        // The other way round, because one of their keys may be another's name here.
        for (theirs, ours) in self.row.keys.iter().rev() {
            if context.raw(theirs).is_none() {
                context.rename(ours, theirs);
            }
        }
        for one in self.row.stand_ins {
            if context.raw(one.theirs).is_some() && context.raw(one.theirs) == context.raw(one.ours)
            {
                context.remove(one.ours);
            } else if one.is_made && context.raw(one.theirs).is_none() {
                context.rename(one.ours, one.theirs);
            }
        }
        if let Some((key, value)) = self.row.when {
            context.set(key, &Value::from(value));
        }
        context.remove(self.dialect.names_event_by);
        context.set_first(self.dialect.names_event_by, &Value::from(self.row.name));
        context
    }
}
