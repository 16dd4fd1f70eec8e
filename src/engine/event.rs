//! One occurrence of an event: rules, host and facts, from JSON or from typed parts.
//!
//! Dialects translate the hosts' names; all later code uses only the names in [`catalog`]. No I/O
//! and no host's JSON here.

pub mod action;
pub mod catalog;
pub mod context;
pub mod json;
mod spec;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::engine::complaint::{Complaint, near_misses, plain};
use action::{Effect, GuessedCommand, PathChange};
use catalog::Catalog;
use json::scalar_text;

pub use action::{Access, Action, ActionKind};
pub use context::Context;
pub use spec::{
    Conduct, ContextKey, EventSpec, JsonType, Merge, NATIVE, OnFailure, Rewrite, Schedule, Stop,
};

/// Reserved keys, outside of the catalog, that any event may have.
const OWN_KEYS: &[&str] = &["event", "action", "raw"];

/// Finds a context key that looks like a missing one: in another spelling (`tool_name` for
/// `toolName`), or misspelled if the host is native.
fn slip(spec: &EventSpec, host: &str, context: &Context) -> Option<(String, String)> {
    if host == NATIVE {
        let known = spec.context.iter().map(|key| key.name.as_ref());
        let found = context.keys().filter(|key| !OWN_KEYS.contains(key));
        let (found, meant) = near_misses(found, known).into_iter().next()?;
        return Some((found.to_string(), meant.to_string()));
    }
    let names = spec.context.iter().map(|key| key.name.as_ref());
    let missing = names.filter(|name| context.raw(name).is_none());
    let missing: Vec<(&str, String)> = missing.map(|name| (name, plain(name))).collect();
    context.keys().find_map(|found| {
        let found_plain = plain(found);
        let (meant, _) = missing.iter().find(|(_, wanted)| *wanted == found_plain)?;
        Some((found.to_string(), meant.to_string()))
    })
}

/// One occurrence of an event: its rules, host and facts. Clones share the facts until a rewrite.
#[derive(Debug, Clone)]
pub struct Event {
    facts: Arc<EventFacts>,
}

#[derive(Debug, Clone)]
struct EventFacts {
    spec: Arc<EventSpec>,
    host: Cow<'static, str>,
    /// Context from the host, checked.
    given: Context,
    /// Parsed on first use: most events have no hook.
    read: OnceLock<ReadFacts>,
    /// Includes the action; made on first use, because rules do not read it.
    shown: OnceLock<Context>,
    links: Option<Links>,
}

#[derive(Debug, Clone)]
struct ReadFacts {
    action: Option<Action>,
    guesses: Vec<GuessedCommand>,
    changes: Vec<PathChange>,
}

impl Event {
    /// Creates an event as reported by `host`. For a tool event, reads the [`Action`] from the
    /// context's `action`, or derives it from `toolName` and `toolInput` and adds it. For an event
    /// with `changes`, the action writes those paths.
    ///
    /// # Errors
    /// If the context names another event, `action` is invalid, a required key is missing, or a key
    /// is a misspelling of a missing one.
    pub fn new(
        spec: Arc<EventSpec>,
        host: impl Into<Cow<'static, str>>,
        mut context: Context,
    ) -> Result<Event, Complaint> {
        for key in ["event", "action", "toolName", "toolInput"] {
            if context.raw(key) == Some("null") {
                context.remove(key);
            }
        }
        let host = host.into();
        if let Some((found, meant)) = slip(&spec, &host, &context) {
            return Err(Complaint::with_cure(
                format!("unknown key `{found}`"),
                format!(
                    "did you mean `{meant}`? `hookrun events {}` lists the keys",
                    spec.name
                ),
            ));
        }
        spec.check(&host, &context)?;
        let named = context.raw("event");
        match named.map(|raw| scalar_text(raw).unwrap_or_default()) {
            Some(name) if spec.name == name.as_str() => {}
            Some(name) if spec.is_called(&name) => {
                context.set("event", &Value::from(spec.name.as_ref()));
            }
            Some(name) => {
                let expected = &spec.name;
                return Err(Complaint::with_cure(
                    format!(
                        "the event is `{expected}`, but the context says `\"event\": \"{name}\"`"
                    ),
                    "correct the key `event` in the context, or remove it",
                ));
            }
            None => context.set_first("event", &Value::from(spec.name.as_ref())),
        }
        let read = OnceLock::new();
        if context.raw("action").is_none() && context.raw("toolName").is_some() {
            Action::check(&context, spec.blocks)?;
        } else {
            let _ = read.set(ReadFacts::of(&spec, &context)?);
        }
        let facts = EventFacts {
            spec,
            host,
            given: context,
            read,
            shown: OnceLock::new(),
            links: None,
        };
        Ok(Event {
            facts: Arc::new(facts),
        })
    }

    /// Returns the event's rules.
    pub fn spec(&self) -> &EventSpec {
        &self.facts.spec
    }

    /// Returns `native` or the name of a dialect.
    pub fn host(&self) -> &str {
        &self.facts.host
    }

    pub fn context(&self) -> &Context {
        self.facts.shown.get_or_init(|| {
            let mut context = self.facts.given.clone();
            if let Some(action) = self.action() {
                let json = match context.raw("action") {
                    Some(given) => action.completed(given),
                    None => action.to_json(),
                };
                context.set_raw("action", json);
            }
            context
        })
    }

    /// Returns the facts without the derived action.
    pub(crate) fn given(&self) -> &Context {
        &self.facts.given
    }

    /// Returns the action of a tool, commit or push, the same in every host; `None` for other
    /// events.
    pub fn action(&self) -> Option<&Action> {
        self.facts.read().action.as_ref()
    }

    /// Returns texts of a tool's input that a shell may run although no key says so. Gates only.
    pub(crate) fn guessed_commands(&self) -> &[GuessedCommand] {
        &self.facts.read().guesses
    }

    pub(crate) fn changes(&self) -> &[PathChange] {
        &self.facts.read().changes
    }

    /// Returns the absolute paths of files to pass to hooks: the files that a commit or push
    /// leaves, or a tool's existing files. Relative paths refer to `cwd`.
    pub(crate) fn files(&self, cwd: &Path) -> Vec<PathBuf> {
        if !self.changes().is_empty() {
            let files = PathChange::files(self.changes()).into_iter();
            return files.map(|change| cwd.join(&change.file)).collect();
        }
        let named = self.action().map_or(&[][..], |action| &action.paths);
        let seen = self.links().map(|links| &links.files);
        let mut files: Vec<PathBuf> = named.iter().map(|path| cwd.join(path)).collect();
        files.retain(|file| seen.is_some_and(|seen| seen.contains_key(file)));
        files
    }

    /// Returns the event of a folder below `cwd`, the event's own: with the changes there and paths
    /// relative to it. `None` if nothing changes there.
    pub(crate) fn in_folder(&self, folder: &Path, cwd: &Path) -> Option<Event> {
        let Ok(below) = folder.strip_prefix(cwd) else {
            return Some(self.clone());
        };
        let mut below = below.to_string_lossy().into_owned();
        if !below.is_empty() {
            below.push('/');
        }
        let changes = self.context().value("changes").ok().flatten()?;
        let mut changes = changes.as_array()?.clone();
        changes.retain_mut(|change| PathChange::move_into(change, &below));
        if changes.is_empty() {
            return None;
        }
        let mut own = self.clone();
        own.rewrite("cwd", &folder.to_string_lossy().into()).ok()?;
        own.rewrite("changes", &changes.into()).ok()?;
        Some(own)
    }

    /// Returns the link targets of its paths; `None` until links are followed.
    pub fn links(&self) -> Option<&Links> {
        self.facts.links.as_ref()
    }

    /// Adds facts about paths. `resolved` goes into the action, unless the host has set it.
    #[must_use]
    pub(crate) fn with_links(mut self, resolved: Vec<String>, links: Links) -> Event {
        self.facts.read();
        let facts = Arc::make_mut(&mut self.facts);
        facts.links = Some(links);
        let action = facts.read.get_mut().and_then(|read| read.action.as_mut());
        if let Some(action) = action.filter(|action| action.resolved.is_empty()) {
            action.resolved = resolved;
            facts.shown = OnceLock::new();
        }
        self
    }

    /// Replaces one field of the context, and derives the [`Action`] again if the field affects it.
    ///
    /// # Errors
    /// If the new tool input or list of changes is invalid.
    pub fn rewrite(&mut self, field: &str, value: &Value) -> Result<(), Complaint> {
        let mut changed = EventFacts::clone(&self.facts);
        changed.shown = OnceLock::new();
        changed.given.set(field, value);
        if matches!(field, "toolInput" | "toolName" | "changes") {
            changed.given.remove("action");
            changed.read = ReadFacts::of(&changed.spec, &changed.given)?.into();
            changed.links = None;
        }
        self.facts = Arc::new(changed);
        Ok(())
    }
}

impl EventFacts {
    fn read(&self) -> &ReadFacts {
        self.read.get_or_init(|| {
            let read = ReadFacts::of(&self.spec, &self.given);
            read.expect("a context that was checked can be read")
        })
    }
}

impl ReadFacts {
    fn of(spec: &EventSpec, context: &Context) -> Result<ReadFacts, Complaint> {
        let changes = match spec.carries("changes") {
            true => PathChange::read_all(context),
            false => Ok(None),
        };
        let action = find_action(changes.as_ref(), context)?;
        let gated = action.as_ref().filter(|_| spec.blocks);
        let guesses = gated.map_or_else(Vec::new, |one| one.guessed_commands(context));
        let changes = changes.ok().flatten().unwrap_or_default();
        Ok(ReadFacts {
            action,
            guesses,
            changes,
        })
    }
}

/// Returns an event's action. An invalid list of changes is an error only if the action depends on
/// it.
fn find_action(
    changes: Result<&Option<Vec<PathChange>>, &Complaint>,
    context: &Context,
) -> Result<Option<Action>, Complaint> {
    if let Some(given) = context.raw("action") {
        let derived = Action::derive(context).ok().flatten();
        return Action::read_beside(given, derived).map(Some);
    }
    match Action::derive(context)? {
        None => Ok(changes
            .map_err(Complaint::clone)?
            .as_deref()
            .map(Action::writing)),
        derived => Ok(derived),
    }
}

/// Facts from the disk about an event's paths; matching does no I/O.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Folders of relative globs: as named, and with links followed.
    pub(crate) bases: Vec<(PathBuf, PathBuf)>,
    /// Targets of texts that may be paths although no key says so.
    pub(crate) guesses: Vec<PathBuf>,
    /// File effects of the command line, at absolute paths with links followed.
    pub(crate) effects: Vec<Effect>,
    /// False if there are too many paths, in which case none is followed.
    pub(crate) is_whole: bool,
    /// False if there are too many possible paths.
    pub(crate) has_all_guesses: bool,
    /// Facts about files, by absolute path: files named by a tool, and files whose name does not
    /// tell their type.
    pub(crate) files: HashMap<PathBuf, FileFacts>,
    /// The event as hooks with a scope see it, by scope.
    pub(crate) folders: Vec<(PathBuf, Event)>,
}

#[derive(Debug, Clone)]
pub(crate) struct FileFacts {
    pub(crate) is_executable: bool,
    pub(crate) start: Option<Vec<u8>>,
}

impl Links {
    /// Returns the folder `named`, with links followed.
    pub(crate) fn base<'a>(&'a self, named: &'a Path) -> &'a Path {
        let known = self.bases.iter().find(|(name, _)| name == named);
        known.map_or(named, |(_, real)| real)
    }
}

impl Event {
    /// Creates an event of the built-in catalog. Keeps unknown keys: hosts may add facts.
    ///
    /// ```
    /// use hookrun::Event;
    /// use serde_json::json;
    ///
    /// let input = json!({ "command": "ls" });
    /// let context = json!({ "toolName": "bash", "toolInput": input, "sessionId": "s-1" });
    /// let event = Event::of("tool.pre", context)?;
    /// assert_eq!(event.action().and_then(|action| action.command.as_deref()), Some("ls"));
    ///
    /// let problem = Event::of("model.pre", json!({ "modl": "m-1" })).unwrap_err();
    /// assert!(problem.to_string().contains("did you mean `model`?"));
    /// # Ok::<(), hookrun::Complaint>(())
    /// ```
    ///
    /// # Errors
    /// If the event is unknown or the context is invalid; see [`Event::new`].
    pub fn of(name: &str, context: Value) -> Result<Event, Complaint> {
        Event::from_json(name, &context.to_string())
    }

    /// Creates `tool.pre`: a tool is about to run.
    ///
    /// # Errors
    /// As [`Event::of`].
    pub fn tool_pre(tool: &str, input: Value) -> Result<Event, Complaint> {
        Event::of("tool.pre", json!({ "toolName": tool, "toolInput": input }))
    }

    /// Like [`Event::of`], with the context as JSON text.
    ///
    /// # Errors
    /// As [`Event::of`].
    pub fn from_json(name: &str, context: &str) -> Result<Event, Complaint> {
        let spec = Catalog::default().find(name).map_err(Complaint::of)?;
        Event::new(spec, NATIVE, Context::parse(context)?)
    }
}
