//! The one table: every canonical event and its rules.
//!
//! Help, schema, man page, README and tests loop over it; the engine reads rows and never
//! matches on a name.

use std::borrow::Cow::{self, Borrowed};
use std::sync::Arc;

use super::{ContextKey, EventSpec, Kind, Merge, OnFailure, Rewrite, Schedule};
use crate::spelling;

/// A key of many events.
const fn key(
    name: &'static str,
    kind: Kind,
    about: &'static str,
    sample: &'static str,
) -> ContextKey {
    ContextKey {
        name: Borrowed(name),
        kind,
        about: Borrowed(about),
        sample: Borrowed(sample),
    }
}

const fn rewrite(field: &'static str, merge: Merge) -> Rewrite {
    Rewrite {
        field: Borrowed(field),
        merge,
    }
}

const SESSION_ID: ContextKey = key("sessionId", Kind::String, "the host's session", "\"s-1\"");
const TURN_INDEX: ContextKey = key("turnIndex", Kind::Integer, "the turn, counted from 0", "0");
const CWD: ContextKey = key(
    "cwd",
    Kind::String,
    "the session's working directory",
    "\"/tmp\"",
);
const TOOL_NAME: ContextKey = key(
    "toolName",
    Kind::String,
    "the tool, as the host calls it",
    "\"bash\"",
);
const TOOL_INPUT: ContextKey = key(
    "toolInput",
    Kind::Object,
    "what the tool is given",
    "{\"command\":\"echo hello\"}",
);

/// Every canonical event.
pub static EVENTS: &[EventSpec] = &[EventSpec {
    name: Borrowed("tool.pre"),
    summary: Borrowed("a tool is about to run"),
    aliases: &[
        "PreToolUse",
        "BeforeTool",
        "tool_call",
        "before_tool_call",
        "before-tool-call",
    ],
    context: Borrowed(&[TURN_INDEX, SESSION_ID, CWD, TOOL_NAME, TOOL_INPUT]),
    blocks: true,
    rewrites: Borrowed(&[rewrite("toolInput", Merge::Chain)]),
    on_failure: OnFailure::Block,
    schedule: Schedule::Sequential,
}];

/// The row that `name` names: a canonical name, or what a host calls it, in any case.
pub fn find(name: &str) -> Option<&'static EventSpec> {
    EVENTS
        .iter()
        .find(|spec| spec.name.eq_ignore_ascii_case(name))
        .or_else(|| EVENTS.iter().find(|spec| spec.is_called(name)))
}

/// The catalog together with the events that a team declared in `hookrun.toml`.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    own: Vec<Arc<EventSpec>>,
}

/// Nothing is known by this name.
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
        Catalog {
            own: own.into_iter().map(Arc::new).collect(),
        }
    }

    /// Every event, the built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = &EventSpec> {
        EVENTS.iter().chain(self.own.iter().map(Arc::as_ref))
    }

    /// The event that `name` names.
    ///
    /// # Errors
    /// With the nearest known name.
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
        let names = self.iter().flat_map(|spec| {
            std::iter::once(spec.name.as_ref()).chain(spec.aliases.iter().copied())
        });
        let nearest = spelling::nearest(name, names).map(str::to_string);
        Err(UnknownEvent {
            name: name.to_string(),
            nearest,
        })
    }
}

/// An example value for a key of `kind`, for events that a team declares itself.
pub fn sample_of(kind: Kind) -> Cow<'static, str> {
    Borrowed(match kind {
        Kind::String => "\"text\"",
        Kind::Integer | Kind::Number => "1",
        Kind::Boolean => "true",
        Kind::Object => "{}",
        Kind::Array => "[]",
        Kind::Any => "null",
    })
}
