//! One occurrence of an event: its rules, its host, and the facts.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::action::{Action, GuessedCommand, PathChange};
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
    /// As it came, and checked.
    given: Context,
    /// Read once somebody looks: most events have no hook, and no one reads their command lines.
    read: OnceLock<ReadFacts>,
    links: Option<Links>,
}

/// What hooks see.
#[derive(Debug, Clone)]
struct ReadFacts {
    /// With the action.
    context: Context,
    action: Option<Action>,
    guesses: Vec<GuessedCommand>,
    changes: Vec<PathChange>,
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
        match context
            .raw("event")
            .map(|raw| scalar_text(raw).unwrap_or_default())
        {
            Some(name) if spec.name == name.as_str() => {}
            // The host's own name for it: hooks read ours.
            Some(name) if spec.is_called(&name) => {
                context.set("event", &serde_json::Value::from(spec.name.as_ref()));
            }
            Some(name) => {
                return Err(ContextError::OtherEvent {
                    asked: spec.name.to_string(),
                    found: name,
                });
            }
            None => context.set_first("event", &serde_json::Value::from(spec.name.as_ref())),
        }
        let read = OnceLock::new();
        if context.raw("action").is_none() && context.raw("toolName").is_some() {
            Action::check(&context)?;
        } else {
            let _ = read.set(ReadFacts::of(&spec, context.clone())?);
        }
        let facts = EventFacts {
            spec,
            host,
            given: context,
            read,
            links: None,
        };
        Ok(Event {
            facts: Arc::new(facts),
        })
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
        &self.facts.read().context
    }

    /// What a tool, a commit or a push is about to do, the same in every host. Only such events
    /// have one.
    pub fn action(&self) -> Option<&Action> {
        self.facts.read().action.as_ref()
    }

    /// On a gate, the texts of a shell's input that it may run, though no key says so.
    pub(crate) fn guessed_commands(&self) -> &[GuessedCommand] {
        &self.facts.read().guesses
    }

    /// The paths that a commit or a push changes, and how.
    pub(crate) fn changes(&self) -> &[PathChange] {
        &self.facts.read().changes
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
        let ReadFacts {
            context, action, ..
        } = facts.read_mut();
        if let Some(action) = action.as_mut().filter(|action| action.resolved.is_empty()) {
            action.resolved = resolved;
            if let Some(raw) = context
                .raw("action")
                .filter(|_| !action.resolved.is_empty())
            {
                context.set_raw("action", action.completed(raw));
            }
        }
        self
    }

    /// Replaces one field of the context; what the action is made of gives a new [`Action`].
    ///
    /// # Errors
    /// When the tool input or the list of changes that results cannot be read.
    pub fn rewrite(&mut self, field: &str, value: &serde_json::Value) -> Result<(), ContextError> {
        let mut changed = EventFacts::clone(&self.facts);
        let read = changed.read_mut();
        read.context.set(field, value);
        if matches!(field, "toolInput" | "toolName" | "changes") {
            read.context.remove("action");
            *read = ReadFacts::of(&self.facts.spec, read.context.clone())?;
            changed.links = None;
        }
        self.facts = Arc::new(changed);
        Ok(())
    }
}

impl EventFacts {
    fn read(&self) -> &ReadFacts {
        self.read.get_or_init(|| {
            let read = ReadFacts::of(&self.spec, self.given.clone());
            read.expect("a context that was checked can be read")
        })
    }

    fn read_mut(&mut self) -> &mut ReadFacts {
        self.read();
        self.read.get_mut().expect("it was just read")
    }
}

impl ReadFacts {
    fn of(spec: &EventSpec, mut context: Context) -> Result<ReadFacts, ContextError> {
        let changes = match spec.carries("changes") {
            true => PathChange::read_all(&context),
            false => Ok(None),
        };
        let action = find_action(changes.as_ref(), &mut context)?;
        let gated = action.as_ref().filter(|_| spec.blocks);
        let guesses = gated.map_or_else(Vec::new, |one| one.guessed_commands(&context));
        let changes = changes.ok().flatten().unwrap_or_default();
        Ok(ReadFacts {
            context,
            action,
            guesses,
            changes,
        })
    }
}

/// The action of an event, which goes into its context too. A list of changes that cannot be read
/// is an error if the action is made of it.
fn find_action(
    changes: Result<&Option<Vec<PathChange>>, &ContextError>,
    context: &mut Context,
) -> Result<Option<Action>, ContextError> {
    if let Some(given) = context.raw("action") {
        let mut action = Action::read(given)?;
        // Several texts in one are read one by one, where they are at hand.
        if let Ok(Some(derived)) = Action::derive(context)
            && derived.command == action.command
        {
            action.line = derived.line;
        }
        context.set_raw("action", action.completed(given));
        return Ok(Some(action));
    }
    let action = match Action::derive(context)? {
        None => changes
            .map_err(ContextError::clone)?
            .as_deref()
            .map(Action::writing),
        derived => derived,
    };
    if let Some(action) = &action {
        context.set_raw("action", action.to_json());
    }
    Ok(action)
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
