//! What happened in the host, in our own words.
//!
//! Hosts name the same moment differently; `dialect` translates. Everything after decoding
//! speaks only the names in [`catalog`]. No I/O here, and no host's JSON.

pub mod action;
mod builder;
pub mod catalog;
pub mod context;
pub mod framing;
mod links;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

pub use action::{Action, ActionKind};
pub use builder::{BuildError, EventBuilder};
pub use context::{Context, ContextError};
pub use links::Links;

use crate::engine::spelling;

/// The rules of one event: a row of the catalog, or an event that a team declared itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSpec {
    /// Canonical name, dotted: `tool.pre`.
    pub name: Cow<'static, str>,
    /// One line that completes "asked when …".
    pub summary: Cow<'static, str>,
    /// What hosts call it; accepted wherever a name is, without regard to case.
    pub aliases: &'static [&'static str],
    /// The keys that a context of this event carries, in the order of the sample.
    pub context: Cow<'static, [ContextKey]>,
    /// Those without which no guard could tell what is about to happen.
    pub required: Cow<'static, [Cow<'static, str>]>,
    /// Whether a hook may refuse it.
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
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
            || self.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }

    /// The rewrite rule of `field`, if hooks may rewrite it.
    pub fn rewrite(&self, field: &str) -> Option<&Rewrite> {
        self.rewrites.iter().find(|rewrite| rewrite.field == field)
    }

    /// Whether contexts of this event carry `key`.
    pub fn carries(&self, key: &str) -> bool {
        self.context.iter().any(|known| known.name == key)
    }

    /// Whether a context in hookrun's own words is as it has to be.
    ///
    /// # Errors
    /// The first key that is required and missing, or of another type than it is declared with.
    fn check(&self, host: &str, context: &Context) -> Result<(), ContextError> {
        // Hosts are asked for their own keys where their words are read.
        if host != NATIVE {
            return Ok(());
        }
        // The catalog's other keys are as hosts have them.
        let is_own = matches!(self.context, Cow::Owned(_));
        let is_required = |key: &ContextKey| self.required.contains(&key.name);
        for key in self.context.iter().filter(|key| is_own || is_required(key)) {
            match context.raw(&key.name).filter(|raw| *raw != "null") {
                Some(raw) if !key.kind.fits_text(raw) => {
                    let (field, kind) = (key.name.to_string(), key.kind.name());
                    let problem = format!("it must be a JSON {kind}");
                    return Err(ContextError::Field { field, problem });
                }
                Some("\"\"") | None if is_required(key) => {
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

    /// Whether such an event has an [`Action`]: it is of a tool, or changes paths.
    pub fn has_action(&self) -> bool {
        self.carries("toolName") || self.carries("changes")
    }

    /// An example context, as one compact JSON document: what `hookrun test` feeds a hook
    /// when there is nothing on stdin.
    pub fn sample(&self) -> String {
        self.sample_of(|_| true)
    }

    /// An example context with the keys that are required.
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
    /// The key, in camel case.
    pub name: Cow<'static, str>,
    /// The JSON type of its value.
    pub kind: JsonType,
    /// What the value says.
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

impl JsonType {
    /// Every kind with its name in `hookrun.toml`, `hookrun events` and JSON Schema.
    pub const NAMES: &[(JsonType, &str)] = &[
        (JsonType::String, "string"),
        (JsonType::Integer, "integer"),
        (JsonType::Number, "number"),
        (JsonType::Boolean, "boolean"),
        (JsonType::Object, "object"),
        (JsonType::Array, "array"),
        (JsonType::Any, "any"),
    ];

    /// Whether `value` is of this kind.
    pub fn fits(self, value: &serde_json::Value) -> bool {
        match self {
            JsonType::String => value.is_string(),
            JsonType::Integer => value.is_i64() || value.is_u64(),
            JsonType::Number => value.is_number(),
            JsonType::Boolean => value.is_boolean(),
            JsonType::Object => value.is_object(),
            JsonType::Array => value.is_array(),
            JsonType::Any => true,
        }
    }

    /// Whether the JSON text `raw` is a value of this kind.
    fn fits_text(self, raw: &str) -> bool {
        let is_number = || raw.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        match self {
            JsonType::String => raw.starts_with('"'),
            JsonType::Integer => is_number() && !raw.contains(['.', 'e', 'E']),
            JsonType::Number => is_number(),
            JsonType::Boolean => matches!(raw, "true" | "false"),
            JsonType::Object => raw.starts_with('{'),
            JsonType::Array => raw.starts_with('['),
            JsonType::Any => true,
        }
    }

    /// The name of this kind.
    pub fn name(self) -> &'static str {
        named(Self::NAMES, self)
    }
}

/// A context field that hooks may rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The context key.
    pub field: Cow<'static, str>,
    /// How the rewrites of several hooks come together.
    pub merge: Merge,
}

/// How the rewrites of several hooks come together, in plan order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The last value replaces every earlier one.
    Last,
    /// Each hook sees the value as the earlier ones left it; the last one stands.
    Chain,
    /// Values are lists; each is added at the end.
    Append,
    /// Values are objects; the entries of each are added, and of one name the last stands.
    Entries,
    /// The first value stands; later ones are reported and dropped.
    First,
    /// As `Chain`, but the value's `role` must stay; a change of role is rejected.
    SameRole,
    /// The first `true` takes the event: no later hook is asked.
    Claim,
}

impl Merge {
    /// Every rule with its name in `hookrun.toml` and `hookrun events`.
    pub const NAMES: &[(Merge, &str)] = &[
        (Merge::Last, "last"),
        (Merge::Chain, "chain"),
        (Merge::Append, "append"),
        (Merge::Entries, "entries"),
        (Merge::First, "first"),
        (Merge::SameRole, "same-role"),
        (Merge::Claim, "claim"),
    ];

    /// The name of this rule.
    pub fn name(self) -> &'static str {
        named(Self::NAMES, self)
    }
}

/// What a failing hook (timed out, not started, killed, malformed) means for the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Fail closed: the failure refuses the event.
    Block,
    /// Fail open: the failure is reported and the event goes on.
    Allow,
}

impl OnFailure {
    /// Both with their names in `hookrun.toml` and in directives.
    pub const NAMES: &[(OnFailure, &str)] =
        &[(OnFailure::Block, "block"), (OnFailure::Allow, "allow")];

    /// The name of this choice.
    pub fn name(self) -> &'static str {
        named(Self::NAMES, self)
    }
}

/// How the hooks of one event are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// In plan order; each sees the context as the earlier ones left it; the first block ends it.
    Sequential,
    /// At once; the outcome is as if in plan order.
    Parallel,
    /// Started and not waited for; supervised to their timeouts.
    Detached,
}

impl Schedule {
    /// Every schedule with its name in `hookrun.toml` and `hookrun events`.
    pub const NAMES: &[(Schedule, &str)] = &[
        (Schedule::Sequential, "sequential"),
        (Schedule::Parallel, "parallel"),
        (Schedule::Detached, "detached"),
    ];

    /// The name of this schedule.
    pub fn name(self) -> &'static str {
        named(Self::NAMES, self)
    }
}

/// Rules for the hooks of one event that some systems have and the catalog has not: what a
/// dialect's row may add. The default is the catalog's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conduct {
    /// How long a hook may run that does not say so itself; `None` for the usual 5 s,
    /// [`Duration::MAX`] for as long as it likes.
    pub timeout: Option<Duration>,
    /// A refusal ends the chain even where it cannot refuse the event.
    pub refusal_ends: bool,
    /// What earlier hooks said stays said when a later one refuses.
    pub keeps_said: bool,
    /// Of several results only the last one counts, as a whole.
    pub last_result: bool,
    /// Every hook sees the event as it came, not as earlier hooks left it.
    pub isolated: bool,
    /// Only the first question is asked, and nothing can be rewritten after it.
    pub first_question: bool,
    /// A mistake in the configuration is told, and the hooks that can be read are asked: it
    /// refuses the event only where failures do.
    pub reads_on: bool,
    /// After so many refusals in a row it goes on, so that a session does not loop for ever;
    /// `None` for no limit, and in a dialect's row for the catalog's.
    pub most_refusals: Option<u32>,
    /// Text that a hook prints is for the model: `additionalContext`, and not `output`. In a
    /// dialect's row the catalog's counts.
    pub text_teaches: bool,
}

impl Conduct {
    /// The catalog's way.
    pub const USUAL: Conduct = Conduct {
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

/// The name that `table` gives `value`.
fn named<T: Copy + PartialEq>(table: &[(T, &'static str)], value: T) -> &'static str {
    table.iter().find(|(row, _)| *row == value).map_or("", |(_, name)| name)
}

/// The host of those who ask in hookrun's own words.
pub const NATIVE: &str = "native";

/// Keys that hookrun keeps for itself; they stand in no row of the catalog, and any event may
/// carry them.
const OWN_KEYS: &[&str] = &["event", "action", "raw"];

/// Those keys of `found` that are nearly one of `known` which is missing, each with that one. Of
/// very many unknown keys only the first are looked at.
pub(crate) fn near_misses<'k>(
    found: impl Iterator<Item = &'k str> + Clone,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Vec<(&'k str, &'k str)> {
    const MOST: usize = 1000;
    let strange = found.clone().filter(|key| !known.clone().any(|one| one == *key));
    let strange: Vec<&str> = strange.take(MOST).collect();
    if strange.is_empty() {
        return Vec::new();
    }
    let lacking: Vec<&str> = known.filter(|one| !found.clone().any(|key| key == *one)).collect();
    let meant = |key| Some((key, spelling::nearest(key, lacking.iter().copied())?));
    strange.into_iter().filter_map(meant).collect()
}

/// A key of the context that is one of the event's, where that one is missing: in another
/// spelling, as `tool_name` for `toolName`; or nearly, where no host adds keys of its own.
fn slip(spec: &EventSpec, host: &str, context: &Context) -> Option<(String, String)> {
    if host == NATIVE {
        let known = spec.context.iter().map(|key| key.name.as_ref());
        let found = context.keys().filter(|key| !OWN_KEYS.contains(key));
        let (found, meant) = near_misses(found, known).into_iter().next()?;
        return Some((found.to_string(), meant.to_string()));
    }
    let plain = |key: &str| key.replace(['_', '-'], "").to_lowercase();
    let missing: Vec<(&ContextKey, String)> = spec
        .context
        .iter()
        .filter(|key| context.raw(&key.name).is_none())
        .map(|key| (key, plain(&key.name)))
        .collect();
    context.keys().find_map(|found| {
        let found_plain = plain(found);
        let (meant, _) = missing.iter().find(|(_, wanted)| *wanted == found_plain)?;
        Some((found.to_string(), meant.name.to_string()))
    })
}

/// One occurrence: the rules of its name, who asks, and the facts. Clones share them until one of
/// them is rewritten.
#[derive(Debug, Clone)]
pub struct Event {
    told: Arc<EventOfHost>,
}

#[derive(Debug, Clone)]
struct EventOfHost {
    spec: Arc<EventSpec>,
    host: Cow<'static, str>,
    context: Context,
    action: Option<Action>,
    links: Option<Links>,
}

impl Event {
    /// An event as `host` tells it. For a tool event the [`Action`] is taken from the
    /// context's `action`, or derived from `toolName` and `toolInput` and added to it; for an
    /// event with `changes` it is writing those paths.
    ///
    /// # Errors
    /// When the context names another event, `action` is not what [`Action`] describes, a key
    /// is a slip of one that the event has and the context has not, or one that the event requires
    /// is missing: a policy would see nothing.
    pub fn new(
        spec: Arc<EventSpec>,
        host: impl Into<Cow<'static, str>>,
        mut context: Context,
    ) -> Result<Event, ContextError> {
        for key in ["event", "action", "toolName", "toolInput"] {
            if context.raw(key) == Some("null") {
                context.remove(key);
            }
        }
        let host = host.into();
        if let Some((found, meant)) = slip(&spec, &host, &context) {
            return Err(ContextError::Slip { found, meant });
        }
        spec.check(&host, &context)?;
        match context.raw("event").map(|raw| context::scalar_text(raw).unwrap_or_default()) {
            Some(name) if spec.name == name.as_str() => {}
            // The host's own name for it: hooks read ours.
            Some(name) if spec.is_called(&name) => {
                context.set("event", &serde_json::Value::from(spec.name.as_ref()));
            }
            Some(name) => {
                return Err(ContextError::OtherEvent { asked: spec.name.to_string(), found: name });
            }
            None => context.set_first("event", &serde_json::Value::from(spec.name.as_ref())),
        }
        let mut told = EventOfHost { spec, host, context, action: None, links: None };
        told.normalise_action()?;
        Ok(Event { told: Arc::new(told) })
    }

    /// The rules of this event.
    pub fn spec(&self) -> &EventSpec {
        &self.told.spec
    }

    /// Who asks: `native`, or the name of a dialect.
    pub fn host(&self) -> &str {
        &self.told.host
    }

    /// The facts.
    pub fn context(&self) -> &Context {
        &self.told.context
    }

    /// What a tool, a commit or a push is about to do, the same in every host. Only such events
    /// have one.
    pub fn action(&self) -> Option<&Action> {
        self.told.action.as_ref()
    }

    /// Where the links in its paths lead; `None` as long as nobody has looked.
    pub fn links(&self) -> Option<&Links> {
        self.told.links.as_ref()
    }

    /// The event with what was found about its paths: `resolved` goes into its action, unless its
    /// host has said so itself.
    #[must_use]
    pub(crate) fn with_links(mut self, resolved: Vec<String>, links: Links) -> Event {
        let told = Arc::make_mut(&mut self.told);
        told.links = Some(links);
        if let Some(action) = told.action.as_mut().filter(|action| action.resolved.is_empty()) {
            action.resolved = resolved;
            if let Some(raw) = told.context.raw("action").filter(|_| !action.resolved.is_empty()) {
                told.context.set_raw("action", action.with_resolved(raw));
            }
        }
        self
    }

    /// Replaces one field of the context; a rewritten tool input gives a new [`Action`].
    ///
    /// # Errors
    /// When the tool input that results cannot be read.
    pub fn rewrite(&mut self, field: &str, value: &serde_json::Value) -> Result<(), ContextError> {
        let mut changed = EventOfHost::clone(&self.told);
        changed.context.set(field, value);
        if field == "toolInput" || field == "toolName" {
            changed.context.remove("action");
            changed.normalise_action()?;
        }
        self.told = Arc::new(changed);
        Ok(())
    }
}

impl EventOfHost {
    fn normalise_action(&mut self) -> Result<(), ContextError> {
        self.links = None;
        if let Some(given) = self.context.raw("action") {
            self.action = Some(Action::read(given)?);
            return Ok(());
        }
        self.action = match Action::derive(&self.context)? {
            None if self.spec.carries("changes") => Action::of_changes(&self.context)?,
            derived => derived,
        };
        if let Some(action) = &self.action {
            self.context.set_raw("action", action.to_json());
        }
        Ok(())
    }
}
