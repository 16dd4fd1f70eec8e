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

use serde_json::Value;

use crate::engine::complaint::Complaint;
use crate::engine::spelling::{self, near_misses, plain};
use action::{Effect, GuessedCommand, PathChange};
use catalog::{Catalog, UnknownEvent};
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
                format!("did you mean `{meant}`? `hookrun events` lists the keys"),
            ));
        }
        spec.check(&host, &context)?;
        match context
            .raw("event")
            .map(|raw| scalar_text(raw).unwrap_or_default())
        {
            Some(name) if spec.name == name.as_str() => {}
            Some(name) if spec.is_called(&name) => {
                context.set("event", &Value::from(spec.name.as_ref()));
            }
            Some(name) => {
                let expected = &spec.name;
                return Err(Complaint::new(format!(
                    "the command names `{expected}`, but the context says `\"event\": \"{name}\"`"
                )));
            }
            None => context.set_first("event", &Value::from(spec.name.as_ref())),
        }
        let read = OnceLock::new();
        if context.raw("action").is_none() && context.raw("toolName").is_some() {
            Action::check(&context)?;
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
        named
            .iter()
            .map(|path| cwd.join(path))
            .filter(|path| seen.is_some_and(|seen| seen.contains_key(path)))
            .collect()
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
        let facts = Arc::make_mut(&mut self.facts);
        facts.links = Some(links);
        let action = facts.read_mut().action.as_mut();
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

    fn read_mut(&mut self) -> &mut ReadFacts {
        self.read();
        self.read.get_mut().expect("it was just read")
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

/// Builds an [`Event`]; see [`Event::builder`].
#[derive(Debug, Clone)]
pub struct EventBuilder {
    spec: Result<Arc<EventSpec>, UnknownEvent>,
    host: Cow<'static, str>,
    fields: Vec<(String, Value)>,
}

impl Event {
    /// Returns a builder for an event of the built-in catalog. [`EventBuilder::build`] reports an
    /// unknown name or an invalid part.
    ///
    /// ```
    /// use hookrun::Event;
    /// use serde_json::json;
    ///
    /// let event = Event::tool_pre("bash", json!({ "command": "ls" }))
    ///     .session("s-1")
    ///     .turn(3)
    ///     .cwd("/srv/app")
    ///     .with("toolUseId", "call-7")
    ///     .build()?;
    /// assert_eq!(event.action().and_then(|action| action.command.as_deref()), Some("ls"));
    ///
    /// let problem = Event::builder("model.pre").with("modl", "m-1").build().unwrap_err();
    /// assert_eq!(problem.to_string(), "`model.pre` has no key `modl`; did you mean `model`?");
    /// # Ok::<(), hookrun::Complaint>(())
    /// ```
    pub fn builder(name: &str) -> EventBuilder {
        EventBuilder {
            spec: Catalog::default().find(name),
            host: NATIVE.into(),
            fields: Vec::new(),
        }
    }

    /// Parses the context of an event of the built-in catalog. Keeps unknown keys: hosts may add
    /// facts.
    ///
    /// # Errors
    /// If the event is unknown or the text is not a valid context; see [`Event::new`].
    pub fn from_json(name: &str, context: &str) -> Result<Event, Complaint> {
        let spec = Catalog::default().find(name).map_err(Complaint::of)?;
        Event::new(spec, NATIVE, Context::parse(context)?)
    }

    /// Builds `tool.pre`: a tool is about to run.
    pub fn tool_pre(tool: &str, input: Value) -> EventBuilder {
        Event::builder("tool.pre")
            .with("toolName", tool)
            .with("toolInput", input)
    }

    /// Builds `tool.post`: a tool has run, with this result.
    pub fn tool_post(tool: &str, input: Value, result: impl Into<Value>) -> EventBuilder {
        let builder = Event::builder("tool.post")
            .with("toolName", tool)
            .with("toolInput", input);
        builder.with("result", result).with("isError", false)
    }
}

impl EventBuilder {
    /// Sets any key of the event, replacing an earlier value.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> EventBuilder {
        let value = value.into();
        match self.fields.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.fields.push((key.to_string(), value)),
        }
        self
    }

    /// Sets `sessionId`.
    #[must_use]
    pub fn session(self, id: &str) -> EventBuilder {
        self.with("sessionId", id)
    }

    /// Sets `turnIndex`, counted from 0.
    #[must_use]
    pub fn turn(self, index: u64) -> EventBuilder {
        self.with("turnIndex", index)
    }

    /// Sets `cwd`: the working directory of the session and its hooks.
    #[must_use]
    pub fn cwd(self, folder: &str) -> EventBuilder {
        self.with("cwd", folder)
    }

    /// Sets the host; the default is `native`.
    #[must_use]
    pub fn host(mut self, host: impl Into<Cow<'static, str>>) -> EventBuilder {
        self.host = host.into();
        self
    }

    /// Builds the event, with its context in catalog order.
    ///
    /// # Errors
    /// If the event is unknown, has no such key, or a value has another type, and as
    /// [`Event::new`].
    pub fn build(mut self) -> Result<Event, Complaint> {
        let spec = self.spec.map_err(Complaint::of)?;
        for (key, value) in &self.fields {
            check(&spec, key, value)?;
        }
        self.fields.sort_by_key(|(key, _)| {
            let place = spec.context.iter().position(|known| known.name == *key);
            place.unwrap_or(usize::MAX)
        });
        let mut context = Context::empty();
        for (key, value) in &self.fields {
            context.set(key, value);
        }
        Event::new(spec, self.host, context)
    }
}

/// Checks that `spec` has `key` with this type.
fn check(spec: &EventSpec, key: &str, value: &Value) -> Result<(), Complaint> {
    Err(match spec.key(key) {
        _ if OWN_KEYS.contains(&key) => return Ok(()),
        Some(known) if known.kind.fits(value) => return Ok(()),
        Some(known) => Complaint::new(format!(
            "`{key}` of `{}` must be a JSON {}",
            spec.name,
            known.kind.name()
        )),
        None => {
            let names = spec.context.iter().map(|known| known.name.as_ref());
            let nearest = spelling::nearest(key, names);
            Complaint {
                cause: format!("`{}` has no key `{key}`", spec.name),
                cure: nearest.map(|near| format!("did you mean `{near}`?")),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_come_in_the_order_of_the_catalog() {
        let wanted = r#"{"event":"tool.pre","turnIndex":2,"toolName":"note","toolInput":{"x":1},"action":{"kind":"other"}}"#;
        let event = Event::tool_pre("note", json!({ "x": 1 }))
            .turn(2)
            .build()
            .unwrap();
        assert_eq!(event.context().to_json(), wanted.as_bytes());
    }

    fn problem(builder: EventBuilder) -> String {
        builder.build().unwrap_err().to_string()
    }

    #[test]
    fn what_the_catalog_does_not_know_is_an_error() {
        assert!(problem(Event::builder("tool.pree")).contains("did you mean `tool.pre`?"));
        let pre = Event::tool_pre("bash", json!({ "command": "ls" }));
        assert!(problem(pre.clone().with("result", 1)).contains("`tool.pre` has no key `result`"));
        assert_eq!(
            problem(pre.clone().with("turnIndex", "2")),
            "`turnIndex` of `tool.pre` must be a JSON integer"
        );
        assert!(problem(Event::tool_pre("bash", json!("ls"))).contains("must be a JSON object"));
        assert!(problem(pre.clone().with("action", json!({}))).contains("kind"));
        assert!(
            pre.with("raw", json!({ "any": 1 }))
                .host("mine")
                .build()
                .is_ok()
        );
        assert!(Event::from_json("tool.pre", r#"{"toolName":"x","own":1}"#).is_ok());
        assert!(Event::from_json("tool.pre", "[]").is_err());
        assert!(problem(Event::builder("tool.pre")).contains("`toolName` is missing"));
    }
}
