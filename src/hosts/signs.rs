//! Identifies the host of a context by its keys, for calls that name neither event nor host.
//!
//! A row matches by keys that are present, so a context that lost a key never matches another
//! host's. Rows of exactly one dialect must match. The environment is ignored, because nested hosts
//! inherit it. Sources: payloads of Claude Code, Codex CLI, Gemini CLI, pi and oh-my-pi; the hooks
//! references of Cursor and Copilot CLI.

use super::row::{Host, Sign, SignedEvents, sign};
use super::{dialects, find, native, systems};
use crate::engine::event::{Context, catalog};
use crate::engine::names::words;

const NATIVE: &[Sign] = &[sign(
    SignedEvents::Ours,
    &[],
    words!("hook_event_name" "type" "session_id" "conversation_id" "transcript_path"),
)];

/// Every dialect with its signs, native last. Systems without signs never send their format.
pub fn all() -> impl Iterator<Item = (&'static str, &'static [Sign])> {
    let hosts = super::dialects().map(|host| (host.name, host.signs));
    hosts.chain([(native::NAME, NATIVE)])
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecognisedEvent {
    pub dialect: &'static str,
    pub event: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// No row matches, and no event was given.
    #[error("no event was given, and the context does not identify the event or the host")]
    Nobodys,
    #[error("`{event}` may be an event of {}: the context does not show which", listed(.of))]
    Several {
        event: String,
        of: Vec<&'static str>,
    },
    #[error("no known host has an event `{event}`, and the context does not identify the host")]
    Strange { event: String },
    /// The host is certain, but the event is not named.
    #[error("the context is in {dialect}'s format, which does not name the event")]
    Unnamed { dialect: &'static str },
}

fn listed(of: &[&str]) -> String {
    match of {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        one => one.concat(),
    }
}

/// Identifies the host and event of a context.
///
/// # Errors
/// If that is uncertain.
pub fn recognise(context: &Context) -> Result<RecognisedEvent, Doubt> {
    let mut hosts: Vec<_> = all().collect();
    hosts.retain(|(dialect, signs)| signs.iter().any(|sign| sign.fits(dialect, context)));
    let fitting: Vec<&'static str> = hosts.iter().map(|(dialect, _)| *dialect).collect();
    match fitting.as_slice() {
        [one] => match name_in(context, one) {
            Some(event) => Ok(RecognisedEvent {
                dialect: one,
                event,
            }),
            None => Err(Doubt::Unnamed { dialect: one }),
        },
        several => Err(doubt(context, several)),
    }
}

/// The likeliest event, for a person who sees the guess.
pub fn guess(context: &Context) -> Option<RecognisedEvent> {
    match recognise(context) {
        Ok(certain) => Some(certain),
        Err(Doubt::Several { event, of }) => Some(RecognisedEvent {
            dialect: of.first()?,
            event,
        }),
        Err(Doubt::Nobodys) if context.raw("toolName").is_some() => Some(RecognisedEvent {
            dialect: native::NAME,
            event: "tool.pre".to_string(),
        }),
        Err(Doubt::Nobodys | Doubt::Strange { .. } | Doubt::Unnamed { .. }) => None,
    }
}

/// The candidates if no row matches, or rows of several hosts.
fn doubt(context: &Context, fitting: &[&'static str]) -> Doubt {
    let mut named = None;
    let mut of = Vec::new();
    for (dialect, _) in all() {
        let Some(event) = name_in(context, dialect) else {
            continue;
        };
        if fitting.contains(&dialect) || is_known(dialect, &event) {
            of.push(dialect);
        }
        named.get_or_insert(event);
    }
    match named {
        Some(event) if of.is_empty() => Doubt::Strange { event },
        Some(event) => Doubt::Several { event, of },
        None => Doubt::Nobodys,
    }
}

fn name_in(context: &Context, dialect: &str) -> Option<String> {
    let key = find(dialect).map_or(native::NAMES_EVENT_BY, |dialect| dialect.names_event_by);
    context.string(key).filter(|name| !name.is_empty())
}

fn is_known(dialect: &str, event: &str) -> bool {
    match find(dialect) {
        Some(dialect) => has_event(dialect, event),
        None => catalog::EVENTS.iter().any(|spec| spec.name == event),
    }
}

fn has_event(dialect: &Host, event: &str) -> bool {
    dialect.events.iter().any(|row| row.is_called(event))
}

fn is_anothers(dialect: &str, event: &str) -> bool {
    dialects().any(|other| other.name != dialect && has_event(other, event))
}

impl Sign {
    fn fits(&self, dialect: &str, context: &Context) -> bool {
        let mut has = self.has.iter();
        let mut lacks = self.lacks.iter();
        if !has.all(|key| context.raw(key).is_some()) || lacks.any(|key| context.raw(key).is_some())
        {
            return false;
        }
        let Some(event) = name_in(context, dialect) else {
            let key = find(dialect).map_or("", |dialect| dialect.names_event_by);
            return self.named == SignedEvents::Nowhere && context.raw(key).is_none();
        };
        let is_known = is_known(dialect, &event);
        match self.named {
            SignedEvents::Alone => is_known && !is_anothers(dialect, &event),
            SignedEvents::Known => is_known,
            SignedEvents::KnownNotIn(other) => {
                is_known && !find(other).is_some_and(|other| has_event(other, &event))
            }
            SignedEvents::KnownOrNew => is_known || !is_anothers(dialect, &event),
            SignedEvents::Ours => is_known || event.contains('.') && !is_anothers(dialect, &event),
            SignedEvents::Nowhere => false,
        }
    }
}

const OWN_WORDS: &[&str] = &["toolInput", "HOOKRUN_"];

/// The host a script was written for, by its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenFor {
    /// The first host-specific word, its line, and the host's dialect.
    pub foreign: Option<(&'static str, usize, &'static str)>,
    pub is_ours: bool,
}

/// Finds host-specific words in a script, ignoring comments.
pub fn written(text: &str) -> WrittenFor {
    let mut found = WrittenFor::default();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with(['#', ';']) || line.trim_start().starts_with("//") {
            continue;
        }
        for word in line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            found.is_ours |= OWN_WORDS.iter().any(|own| word.starts_with(own));
            if found.foreign.is_none() {
                found.foreign = dialects().find_map(|host| {
                    let foreign = host.words.iter().find(|foreign| **foreign == word)?;
                    Some((*foreign, number, host.name))
                });
            }
        }
    }
    found
}

/// The dialects with an event whose name equals the folder's exactly; empty for a canonical name.
/// Of hosts with the same format only the first; hook systems come before agents.
pub fn named_after(folder: &str) -> Vec<&'static Host> {
    let mut specs = catalog::EVENTS.iter();
    if specs.any(|spec| spec.name.eq_ignore_ascii_case(folder)) {
        return Vec::new();
    }
    let others = dialects().filter(|host| !host.is_system);
    let mut hosts: Vec<&'static Host> = Vec::new();
    for host in systems().chain(others) {
        let mut rows = host.events.iter();
        if rows.any(|row| row.name == folder || row.aliases.contains(&folder)) {
            hosts.push(host);
        }
    }
    let names: Vec<&str> = hosts.iter().map(|host| host.name).collect();
    hosts.retain(|host| !host.like.is_some_and(|like| names.contains(&like)));
    hosts
}
