//! The rules of an event: the row that the catalog, a team or a dialect writes for it.

use std::borrow::Cow;
use std::time::Duration;

use super::context::{Context, ContextError};
use crate::engine::names::names;

/// The host of events in hookrun's own words.
pub const NATIVE: &str = "native";

/// The rules of one event: a row of the catalog, or an event that a team declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSpec {
    /// Canonical name, dotted: `tool.pre`.
    pub name: Cow<'static, str>,
    /// One line that completes "runs when …".
    pub summary: Cow<'static, str>,
    /// What hosts call it; accepted wherever a name is, in any case.
    pub aliases: &'static [&'static str],
    /// The keys that a context of this event carries, in the order of the sample.
    pub context: Cow<'static, [ContextKey]>,
    /// The keys without which no guard could tell what is about to happen.
    pub required: Cow<'static, [Cow<'static, str>]>,
    /// Whether a hook may block it.
    pub blocks: bool,
    /// The context fields that a hook may rewrite, and how several rewrites merge.
    pub rewrites: Cow<'static, [Rewrite]>,
    /// What a failing hook means, unless its own spec says otherwise.
    pub on_failure: OnFailure,
    /// How its hooks are run.
    pub schedule: Schedule,
    /// Rules of a dialect that go beyond the catalog's.
    pub conduct: Conduct,
}

impl EventSpec {
    /// Whether `name` is this event's name or one of its aliases, in any case.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
            || self
                .aliases
                .iter()
                .any(|alias| alias.eq_ignore_ascii_case(name))
    }

    /// The rewrite rule of `field`, if hooks may rewrite it.
    pub fn rewrite(&self, field: &str) -> Option<&Rewrite> {
        self.rewrites.iter().find(|rewrite| rewrite.field == field)
    }

    /// The row of a context key of this event.
    pub fn key(&self, name: &str) -> Option<&ContextKey> {
        self.context.iter().find(|known| known.name == name)
    }

    /// Whether contexts of this event carry `key`.
    pub fn carries(&self, key: &str) -> bool {
        self.key(key).is_some()
    }

    /// Whether a context in hookrun's own words has what this event requires.
    ///
    /// # Errors
    /// The first key that is required and missing, or of another type than declared.
    pub(super) fn check(&self, host: &str, context: &Context) -> Result<(), ContextError> {
        // The keys of other hosts are checked where their words are read.
        if host != NATIVE {
            return Ok(());
        }
        // The catalog's other keys are as hosts have them.
        let is_declared_by_team = matches!(self.context, Cow::Owned(_));
        for key in self.context.iter() {
            let is_required = self.required.contains(&key.name);
            if !is_declared_by_team && !is_required {
                continue;
            }
            match context.raw(&key.name).filter(|raw| *raw != "null") {
                Some(raw) if !key.kind.fits_text(raw) => {
                    return Err(ContextError::Field {
                        field: key.name.to_string(),
                        problem: format!("it must be a JSON {}", key.kind.name()),
                    });
                }
                Some("\"\"") | None if is_required => {
                    let found = context.keys().filter(|found| *found != "event");
                    return Err(ContextError::Missing {
                        event: self.name.to_string(),
                        key: key.name.to_string(),
                        found: found.map(str::to_string).collect(),
                    });
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// Whether such an event has an [`Action`](super::Action): it is of a tool, or changes paths.
    pub fn has_action(&self) -> bool {
        self.carries("toolName") || self.carries("changes")
    }

    /// An example context as one compact JSON document: what `hookrun test` feeds a hook when
    /// there is nothing on stdin.
    pub fn sample(&self) -> String {
        self.sample_of(|_| true)
    }

    /// An example context with the required keys only.
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

/// One key of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextKey {
    /// In camel case.
    pub name: Cow<'static, str>,
    pub kind: JsonType,
    pub about: Cow<'static, str>,
    /// An example value, as JSON text.
    pub sample: Cow<'static, str>,
}

/// A JSON type, as the catalog and the schemas name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    /// Any JSON value; its shape is the host's own.
    Any,
}

names! { JsonType:
    String "string", Integer "integer", Number "number", Boolean "boolean",
    Object "object", Array "array", Any "any",
}

impl JsonType {
    /// Whether `value` is of this type.
    pub fn fits(self, value: &serde_json::Value) -> bool {
        self.fits_text(&value.to_string())
    }

    /// Whether the JSON text `raw` is a value of this type; a large value is not parsed for that.
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

    /// An example value as JSON text, for events that a team declares.
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

/// A context field that hooks may rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The context key.
    pub field: Cow<'static, str>,
    pub merge: Merge,
}

/// How the rewrites of several hooks come together, in plan order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The last value replaces every earlier one.
    Last,
    /// Each hook sees the value as the earlier ones left it; the last one counts.
    Chain,
    /// Values are lists; each is added at the end.
    Append,
    /// Values are objects; the entries of each are added, and the last of one name counts.
    Entries,
    /// The first value counts; later ones are reported and dropped.
    First,
    /// As `Chain`, but the value's `role` must stay; a change of role is rejected.
    SameRole,
    /// The first `true` claims the event: no later hook runs.
    Claim,
}

names! { Merge:
    Last "last", Chain "chain", Append "append", Entries "entries", First "first",
    SameRole "same-role", Claim "claim",
}

/// What a failing hook (timed out, not started, killed, malformed) means for the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Fail closed: the failure blocks the event.
    Block,
    /// Fail open: the failure is reported and the event goes on.
    Allow,
}

names! { OnFailure: Block "block", Allow "allow" }

/// How the hooks of one event are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// In plan order; each sees the context as the earlier ones left it.
    Sequential,
    /// In plan order, hooks of one group in parallel: of one priority, and as files of one number.
    /// Hooks that rewrite or say `parallel = false` run alone.
    Grouped,
    /// At once; the outcome is as if in plan order.
    Parallel,
    /// Started and not waited for; supervised to their timeouts.
    Detached,
}

names! {
    Schedule: Sequential "sequential", Grouped "grouped", Parallel "parallel", Detached "detached"
}

/// When hooks of a gate no longer run because one of them has blocked it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// After the first block.
    #[default]
    First,
    /// After the group of the hook that blocked: hooks of the same priority.
    Group,
    /// Never: one attempt shows everything that is wrong.
    Never,
}

names! { Stop: First "first", Group "group", Never "never" }

/// Rules for the hooks of one event that some systems have and the catalog has not. The default is
/// the catalog's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conduct {
    /// When hooks no longer run because one has blocked the event.
    pub stop: Stop,
    /// How long a hook may run whose own spec does not say; `None` for the usual 5 s,
    /// [`Duration::MAX`] for no limit.
    pub timeout: Option<Duration>,
    /// A block ends the chain even where it cannot block the event.
    pub refusal_ends: bool,
    /// What earlier hooks said is kept when a later one blocks.
    pub keeps_said: bool,
    /// Of several results only the last one counts, as a whole.
    pub last_result: bool,
    /// Every hook sees the event as it came, not as earlier hooks left it.
    pub isolated: bool,
    /// Only the first question counts, and nothing can be rewritten after it.
    pub first_question: bool,
    /// Configuration errors are reported and the hooks that parsed still run: an error blocks the
    /// event only where failures do.
    pub reads_on: bool,
    /// After so many blocks in a row the event goes on, so that a session does not loop for ever;
    /// `None` for no limit, and in a dialect's row for the catalog's.
    pub most_refusals: Option<u32>,
    /// Text that a hook prints is for the model: `additionalContext`, not `output`. In a dialect's
    /// row the catalog's value counts.
    pub text_teaches: bool,
}

impl Conduct {
    /// The catalog's way.
    pub const USUAL: Conduct = Conduct {
        stop: Stop::First,
        timeout: None,
        refusal_ends: false,
        keeps_said: false,
        last_result: false,
        isolated: false,
        first_question: false,
        reads_on: false,
        most_refusals: None,
        text_teaches: false,
    };
}
