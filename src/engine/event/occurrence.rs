//! One occurrence of an event: its rules, its host, and the facts.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::action::{Action, GuessedCommand};
use super::context::{Context, ContextError};
use super::json::scalar_text;
use super::spec::{EventSpec, NATIVE};
use crate::engine::spelling::near_misses;

/// Keys that hookrun keeps for itself; no row of the catalog has them, and any event may carry them.
pub(super) const OWN_KEYS: &[&str] = &["event", "action", "raw"];

/// A key of the context that was meant as one of the event's that is missing: in another spelling,
/// as `tool_name` for `toolName`; or misspelled, if no host adds keys.
fn slip(spec: &EventSpec, host: &str, context: &Context) -> Option<(String, String)> {
    if host == NATIVE {
        let known = spec.context.iter().map(|key| key.name.as_ref());
        let found = context.keys().filter(|key| !OWN_KEYS.contains(key));
        let (found, meant) = near_misses(found, known).into_iter().next()?;
        return Some((found.to_string(), meant.to_string()));
    }
    let plain = |key: &str| key.replace(['_', '-'], "").to_lowercase();
    let missing = spec.context.iter().map(|key| key.name.as_ref());
    let missing = missing.filter(|name| context.raw(name).is_none());
    let missing: Vec<(&str, String)> = missing.map(|name| (name, plain(name))).collect();
    context.keys().find_map(|found| {
        let found_plain = plain(found);
        let (meant, _) = missing.iter().find(|(_, wanted)| *wanted == found_plain)?;
        Some((found.to_string(), meant.to_string()))
    })
}

/// One occurrence: the rules of its name, its host, and the facts. Clones share them until one of
/// them is rewritten.
#[derive(Debug, Clone)]
pub struct Event {
    facts: Arc<EventFacts>,
}

#[derive(Debug, Clone)]
struct EventFacts {
    spec: Arc<EventSpec>,
    host: Cow<'static, str>,
    context: Context,
    action: Option<Action>,
    links: Option<Links>,
    guesses: Vec<GuessedCommand>,
}

impl Event {
    /// An event as `host` reports it. For a tool event the [`Action`] is taken from the
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
        match context.raw("event").map(|raw| scalar_text(raw).unwrap_or_default()) {
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
        let mut facts =
            EventFacts { spec, host, context, action: None, links: None, guesses: Vec::new() };
        facts.normalise_action()?;
        Ok(Event { facts: Arc::new(facts) })
    }

    /// The rules of this event.
    pub fn spec(&self) -> &EventSpec {
        &self.facts.spec
    }

    /// `native`, or the name of a dialect.
    pub fn host(&self) -> &str {
        &self.facts.host
    }

    /// The facts.
    pub fn context(&self) -> &Context {
        &self.facts.context
    }

    /// What a tool, a commit or a push is about to do, the same in every host. Only such events
    /// have one.
    pub fn action(&self) -> Option<&Action> {
        self.facts.action.as_ref()
    }

    /// On a gate, the texts of a shell's input that it may run, though no key says so.
    pub(crate) fn guessed_commands(&self) -> &[GuessedCommand] {
        &self.facts.guesses
    }

    /// Where the links in its paths lead; `None` until they were followed.
    pub fn links(&self) -> Option<&Links> {
        self.facts.links.as_ref()
    }

    /// The event with what was found about its paths: `resolved` goes into its action, unless its
    /// host has said so itself.
    #[must_use]
    pub(crate) fn with_links(mut self, resolved: Vec<String>, links: Links) -> Event {
        let facts = Arc::make_mut(&mut self.facts);
        facts.links = Some(links);
        if let Some(action) = facts.action.as_mut().filter(|action| action.resolved.is_empty()) {
            action.resolved = resolved;
            if let Some(raw) = facts.context.raw("action").filter(|_| !action.resolved.is_empty()) {
                facts.context.set_raw("action", action.completed(raw));
            }
        }
        self
    }

    /// Replaces one field of the context; a rewritten tool input gives a new [`Action`].
    ///
    /// # Errors
    /// When the tool input that results cannot be read.
    pub fn rewrite(&mut self, field: &str, value: &serde_json::Value) -> Result<(), ContextError> {
        let mut changed = EventFacts::clone(&self.facts);
        changed.context.set(field, value);
        if field == "toolInput" || field == "toolName" {
            changed.context.remove("action");
            changed.normalise_action()?;
        }
        self.facts = Arc::new(changed);
        Ok(())
    }
}

impl EventFacts {
    fn normalise_action(&mut self) -> Result<(), ContextError> {
        self.links = None;
        self.find_action()?;
        let action = self.action.as_ref().filter(|_| self.spec.blocks);
        self.guesses = action.map_or_else(Vec::new, |one| one.guessed_commands(&self.context));
        Ok(())
    }

    fn find_action(&mut self) -> Result<(), ContextError> {
        if let Some(given) = self.context.raw("action") {
            let mut action = Action::read(given)?;
            // Several texts in one are read one by one, where they are at hand.
            if let Ok(Some(derived)) = Action::derive(&self.context)
                && derived.command == action.command
            {
                action.line = derived.line;
            }
            self.context.set_raw("action", action.completed(given));
            self.action = Some(action);
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

/// What was found on the disk about the paths of an event: matching reads no disk.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Folders that relative globs mean: as they are named, and with links followed.
    pub(crate) bases: Vec<(PathBuf, PathBuf)>,
    /// Where the texts lead that may each be a path, though no key says so.
    pub(crate) guesses: Vec<PathBuf>,
    /// Whether every path was followed: of very many none is.
    pub(crate) is_whole: bool,
    /// Whether every text that may be a path is among the guesses.
    pub(crate) has_all_guesses: bool,
}

impl Links {
    /// The folder that is called `named`, with links followed.
    pub(crate) fn base<'a>(&'a self, named: &'a Path) -> &'a Path {
        let known = self.bases.iter().find(|(name, _)| name == named);
        known.map_or(named, |(_, real)| real)
    }
}
