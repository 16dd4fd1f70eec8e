//! The rules of an event: a row of the catalog, a team's event, or a dialect's variant.

use std::borrow::Cow;
use std::iter;
use std::time::Duration;

use super::context::{Context, unreadable};
use crate::engine::complaint::Complaint;
use crate::engine::names::names;

/// Host name of events in hookrun's native format.
pub const NATIVE: &str = "native";

/// The rules of one event: a row of the catalog, or an event that a team declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSpec {
    /// Canonical name, dotted: `tool.pre`.
    pub name: Cow<'static, str>,
    /// One line that completes "runs when …".
    pub summary: Cow<'static, str>,
    /// Host names, accepted in any case.
    pub aliases: &'static [&'static str],
    /// Context keys, in the order of the sample.
    pub context: Cow<'static, [ContextKey]>,
    /// Keys that guards of this event need.
    pub required: Cow<'static, [Cow<'static, str>]>,
    /// Whether a hook may block it.
    pub blocks: bool,
    /// Fields that a hook may rewrite, and how several rewrites merge.
    pub rewrites: Cow<'static, [Rewrite]>,
    /// Default meaning of a failing hook.
    pub on_failure: OnFailure,
    pub schedule: Schedule,
    /// A dialect's additional rules.
    pub conduct: Conduct,
}

impl EventSpec {
    /// Returns true for this event's name and its aliases, in any case.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let mut names = iter::once(self.name.as_ref()).chain(self.aliases.iter().copied());
        names.any(|known| known.eq_ignore_ascii_case(name))
    }

    pub fn rewrite(&self, field: &str) -> Option<&Rewrite> {
        self.rewrites.iter().find(|rewrite| rewrite.field == field)
    }

    pub fn key(&self, name: &str) -> Option<&ContextKey> {
        self.context.iter().find(|known| known.name == name)
    }

    pub fn carries(&self, key: &str) -> bool {
        self.key(key).is_some()
    }

    /// Checks the required keys of a native context, and the types of a team's event.
    pub(super) fn check(&self, host: &str, context: &Context) -> Result<(), Complaint> {
        // Dialects check the keys of other hosts.
        if host != NATIVE {
            return Ok(());
        }
        // The catalog's optional keys may have any type.
        let is_declared_by_team = matches!(self.context, Cow::Owned(_));
        for key in self.context.iter() {
            let is_required = self.required.contains(&key.name);
            if !is_declared_by_team && !is_required {
                continue;
            }
            match context.raw(&key.name).filter(|raw| *raw != "null") {
                Some(raw) if !key.kind.fits_text(raw) => {
                    let problem = format!("it must be a JSON {}", key.kind.name());
                    return Err(unreadable(&key.name, problem));
                }
                Some("\"\"") | None if is_required && context.raw(&key.name).is_some() => {
                    return Err(Complaint::new(format!(
                        "`{}` has no value, but hooks of `{}` require one",
                        key.name, self.name
                    )));
                }
                None if is_required => {
                    let found = context.keys().filter(|found| *found != "event");
                    let found: Vec<&str> = found.take(8).collect();
                    let has = match found.as_slice() {
                        [] => "the context is empty".to_string(),
                        some => format!("the context has `{}`", some.join("`, `")),
                    };
                    let ContextKey { name, .. } = key;
                    let event = &self.name;
                    return Err(Complaint::new(format!(
                        "`{name}` is missing, but hooks of `{event}` require it; {has}; add `{name}`"
                    )));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// Returns true if such events have an [`Action`](super::Action): they are from a tool, or
    /// change paths.
    pub fn has_action(&self) -> bool {
        self.carries("toolName") || self.carries("changes")
    }

    /// Returns an example context as compact JSON, which `hookrun test` uses without stdin.
    pub fn sample(&self) -> String {
        self.sample_of(|_| true)
    }

    /// Returns an example context with only the required keys.
    #[doc(hidden)]
    pub fn least(&self) -> String {
        self.sample_of(|key| self.required.contains(&key.name))
    }

    fn sample_of(&self, is_in: impl Fn(&&ContextKey) -> bool) -> String {
        let mut text = format!("{{\"event\":\"{}\"", self.name);
        for key in self.context.iter().filter(is_in) {
            text.push_str(&format!(",\"{}\":{}", key.name, key.sample));
        }
        text.push('}');
        text
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextKey {
    pub name: Cow<'static, str>,
    pub kind: JsonType,
    pub about: Cow<'static, str>,
    pub sample: Cow<'static, str>,
}

/// A JSON type, as named in the catalog and schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    /// Any value, in the host's format.
    Any,
}

names! { JsonType:
    String "string", Integer "integer", Number "number", Boolean "boolean",
    Object "object", Array "array", Any "any",
}

impl JsonType {
    pub fn fits(self, value: &serde_json::Value) -> bool {
        self.fits_text(&value.to_string())
    }

    /// Checks JSON text without parsing large values.
    fn fits_text(self, raw: &str) -> bool {
        let is_number = raw.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        match self {
            JsonType::String => raw.starts_with('"'),
            JsonType::Integer => is_number && !raw.contains(['.', 'e', 'E']),
            JsonType::Number => is_number,
            JsonType::Boolean => matches!(raw, "true" | "false"),
            JsonType::Object => raw.starts_with('{'),
            JsonType::Array => raw.starts_with('['),
            JsonType::Any => true,
        }
    }

    /// Returns an example value as JSON text, for events that a team declares.
    pub fn sample(self) -> &'static str {
        match self {
            JsonType::String => "\"text\"",
            JsonType::Integer | JsonType::Number => "1",
            JsonType::Boolean => "true",
            JsonType::Object => "{}",
            JsonType::Array => "[]",
            JsonType::Any => "null",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    pub field: Cow<'static, str>,
    pub merge: Merge,
}

/// How rewrites of several hooks merge, in plan order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The last value counts.
    Last,
    /// Each hook sees earlier rewrites; the last value counts.
    Chain,
    /// Lists are concatenated.
    Append,
    /// The first value counts; later ones are rejected.
    First,
    /// Like `Chain`, but a changed `role` is rejected.
    SameRole,
    /// The first `true` claims the event: no later hook runs.
    Claim,
}

names! { Merge:
    Last "last", Chain "chain", Append "append", First "first",
    SameRole "same-role", Claim "claim",
}

/// The meaning of a failing hook (timeout, crash, malformed answer, …).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Fail closed: the failure blocks the event.
    Block,
    /// Fail open: the failure is reported and the event passes.
    Allow,
}

names! { OnFailure: Block "block", Allow "allow" }

/// How the hooks of an event are scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// In plan order; each sees earlier rewrites.
    Sequential,
    /// In plan order, with the hooks of a group in parallel: same priority and, for files, same
    /// number. Hooks that rewrite or have `parallel = false` run alone.
    Grouped,
    /// In parallel, with the outcome of plan order.
    Parallel,
    /// Started without waiting; supervised until their timeouts.
    Detached,
}

names! {
    Schedule: Sequential "sequential", Grouped "grouped", Parallel "parallel", Detached "detached"
}

/// When a block of a gate stops later hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// After the first block.
    #[default]
    First,
    /// After the group of the blocking hook: hooks of the same priority.
    Group,
    /// Never: one attempt shows all problems.
    Never,
}

names! { Stop: First "first", Group "group", Never "never" }

/// Dialect rules beyond the catalog. The default is the catalog's behavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conduct {
    pub stop: Stop,
    /// Default timeout; `None` for 5 s, [`Duration::MAX`] for no limit.
    pub timeout: Option<Duration>,
    /// A block ends the chain even if the event cannot be blocked.
    pub block_ends: bool,
    /// A block keeps earlier hooks' output.
    pub keeps_texts: bool,
    /// Only the last result counts, as a whole.
    pub last_result: bool,
    /// Every hook sees the original event.
    pub isolated: bool,
    /// Only the first question counts, and later rewrites are rejected.
    pub first_question: bool,
    /// Configuration errors are reported and the readable hooks still run; an error blocks the
    /// event only where failures do.
    pub reads_on: bool,
    /// Consecutive blocks after which the event passes, so that a session does not loop; `None` for
    /// no limit, and in a dialect's row for the catalog's.
    pub most_blocks: Option<u32>,
    /// Printed text is `additionalContext`, not `output`. A dialect's row uses the catalog's value.
    pub text_is_context: bool,
}

impl Conduct {
    pub const USUAL: Conduct = Conduct {
        stop: Stop::First,
        timeout: None,
        block_ends: false,
        keeps_texts: false,
        last_result: false,
        isolated: false,
        first_question: false,
        reads_on: false,
        most_blocks: None,
        text_is_context: false,
    };
}
