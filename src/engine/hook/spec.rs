//! The data of a hook, and the interface to hooks of other systems.
//!
//! The engine knows other systems only through the trait [`Convention`]. Hooks without one use
//! hookrun's contract.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::function::Function;
use super::limits::{Containment, Limits, Sandbox};
use super::matcher::{Matcher, Mismatch, PathBase};
use crate::engine::ending::{CapturedStream, Ending};
use crate::engine::event::context::Payload;
use crate::engine::event::{Event, EventSpec, OnFailure};
use crate::engine::names::{DEFAULT_TIMEOUT, names};
use crate::engine::outcome::Decision;

pub const DEFAULT_PRIORITY: i64 = 100;

/// Placeholder for the event's files in a command.
pub const FILES: &str = "{files}";

const WAITS_FOR_SESSION: &str = "it runs once per session, in a program that runs for the whole session, such as `hookrun serve`";

/// One configured thing to run for one event.
#[derive(Debug, Clone)]
pub struct Hook {
    /// File name of a drop-in, or `name` in `hookrun.toml`.
    pub name: String,
    /// Canonical event name.
    pub event: String,
    pub source: HookSource,
    pub handler: Handler,
    pub matcher: Matcher,
    pub priority: i64,
    /// Whether it may run in parallel with adjacent hooks that may too. `None`: as the event's
    /// schedule.
    pub parallel: Option<bool>,
    /// Meaning of a failure. `None`: the event's.
    pub on_failure: Option<OnFailure>,
    pub limits: Limits,
    /// `None`: all of hookrun's rights.
    pub sandbox: Option<Sandbox>,
    pub containment: Containment,
    /// Handling of processes that it leaves running.
    pub background: Background,
    pub lives: Lives,
    /// `None` for [`Warm::Off`].
    pub warm: Option<Warm>,
    /// Modules that the interpreter of [`Warm::Fork`] imports in advance.
    pub warm_imports: Vec<String>,
    /// Additional environment variables.
    pub variables: Vec<(String, String)>,
    /// Working directory. `None`: the event's.
    pub folder: Option<PathBuf>,
    /// Folder whose changes it sees, with paths relative to it. `None`: all.
    pub scope: Option<PathBuf>,
    /// Project folder that relative paths in its matcher and sandbox refer to. `None`: the root.
    pub root: Option<PathBuf>,
    /// Whether it may rewrite the event's rewritable fields.
    pub rewrite: bool,
    /// How it reads the event. `None`: the environment if its text mentions one of the variables,
    /// else nothing that the environment cannot hold.
    pub reads: Option<Reads>,
    /// Whether it gets the event's files as arguments, like a command with [`FILES`].
    pub files: bool,
    /// Maximum files per call; 0 for as many as fit.
    pub batch: usize,
    /// Version of its files. `None`: staged where the disk differs, or the disk for hooks of other
    /// systems.
    pub sees: Option<Sees>,
    /// Handling of its changes to files. `None` if it makes none.
    pub fixes: Option<Fixes>,
    /// Ignored folders that it needs next to the staged files. `None` for the default ones.
    pub link: Option<Vec<PathBuf>>,
    /// Interface of its dialect. `None`: hookrun's contract.
    pub convention: Option<Arc<dyn Convention>>,
    /// A disabled hook is listed but never runs.
    pub enabled: bool,
    /// Why it never runs although it is enabled.
    pub idle: Option<String>,
    /// Its author's description.
    pub description: Option<String>,
}

impl Default for Hook {
    fn default() -> Hook {
        Hook::new("", "", Handler::Shell(String::new()))
    }
}

impl Hook {
    /// Creates a hook in code, with default settings.
    pub fn new(name: &str, event: &str, handler: Handler) -> Hook {
        let file = match &handler {
            Handler::File(file) => file.clone(),
            Handler::Words { .. } | Handler::Shell(_) | Handler::Function(_) | Handler::Rule(_) => {
                PathBuf::from(name)
            }
        };
        Hook {
            name: name.to_string(),
            event: event.to_string(),
            source: HookSource {
                layer: LayerKind::Explicit,
                file,
                line: None,
                set: None,
            },
            handler,
            matcher: Matcher::default(),
            priority: DEFAULT_PRIORITY,
            parallel: None,
            on_failure: None,
            limits: Limits::default(),
            sandbox: None,
            containment: Containment::Auto,
            background: Background::Kill,
            lives: Lives::Event,
            warm: None,
            warm_imports: Vec::new(),
            variables: Vec::new(),
            folder: None,
            scope: None,
            root: None,
            rewrite: false,
            reads: None,
            files: false,
            batch: 0,
            sees: None,
            fixes: None,
            link: None,
            convention: None,
            enabled: true,
            idle: None,
            description: None,
        }
    }

    /// Returns the timeout for an event: the hook's, else its dialect's, else the event's, else 5
    /// s. [`Duration::MAX`] is no limit.
    pub fn timeout(&self, spec: &EventSpec) -> Duration {
        self.own_timeout()
            .or(spec.conduct.timeout)
            .unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Returns the timeout in a native host.
    pub fn usual_timeout(&self) -> Duration {
        self.own_timeout().unwrap_or(DEFAULT_TIMEOUT)
    }

    pub(crate) fn own_timeout(&self) -> Option<Duration> {
        let convention = self.convention.as_ref();
        let of_dialect = convention.and_then(|convention| convention.timeout());
        self.limits.timeout.or(of_dialect)
    }

    /// Returns the meaning of a failure: the hook's, else its dialect's, else the event's.
    pub fn on_failure(&self, spec: &EventSpec) -> OnFailure {
        let convention = self.convention.as_ref();
        let of_dialect = convention.and_then(|convention| convention.on_failure());
        self.on_failure.or(of_dialect).unwrap_or(spec.on_failure)
    }

    /// Returns its priority and, for a file of `hooks.d`, the number before its name
    /// (`10-format.sh`), which also orders hooks.
    pub(crate) fn group(&self) -> (i64, Option<u64>) {
        let mut number = None;
        if let Handler::File(file) = &self.handler {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let after = name.trim_start_matches(|c: char| c.is_ascii_digit());
            number = name[..name.len() - after.len()].parse().ok();
        }
        (self.priority, number)
    }

    /// Whether nothing keeps it from running, for an event or as long as a session.
    pub(crate) fn is_on(&self) -> bool {
        self.enabled && self.idle.is_none()
    }

    /// Returns why it skips events although it is enabled.
    pub(crate) fn idle_reason(&self) -> Option<&str> {
        let waits = self.lives == Lives::Session;
        self.idle.as_deref().or(waits.then_some(WAITS_FOR_SESSION))
    }

    #[doc(hidden)]
    pub fn may_run(&self) -> bool {
        self.enabled && self.idle_reason().is_none()
    }

    /// Returns true for its name with or without that of its member: `web:lint`, `lint`.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        let before = self.name.strip_suffix(name);
        before.is_some_and(|before| {
            before.is_empty() || self.scope.is_some() && before.ends_with(':')
        })
    }

    /// Returns true for its name and the name of its file, which may have several hooks.
    #[doc(hidden)]
    pub fn is_called(&self, name: &str) -> bool {
        let file = self.source.file.file_name();
        self.has_name(name) || file.is_some_and(|file| file == name)
    }

    /// Returns true if it may keep running for many events.
    pub(crate) fn stays_up(&self) -> bool {
        self.warm == Some(Warm::Serve)
    }

    /// Returns true if it gets events in another system's format.
    pub(crate) fn is_foreign(&self) -> bool {
        let convention = self.convention.as_ref();
        convention.is_some_and(|convention| convention.is_foreign())
    }

    /// Returns true if it gets files. Then it skips events without matching files.
    pub(crate) fn takes_files(&self) -> bool {
        let is_in_command = match &self.handler {
            Handler::Words { words, .. } => words.iter().any(|word| word == FILES),
            Handler::File(_) | Handler::Shell(_) | Handler::Function(_) | Handler::Rule(_) => false,
        };
        self.files || is_in_command
    }

    pub(crate) fn files_of(&self, event: &Event, place: &PathBase) -> Vec<PathBuf> {
        self.matcher.files(event, &self.place(place))
    }

    pub(crate) fn is_rule(&self) -> bool {
        self.handler.rule().is_some()
    }

    /// Returns true if no other hook may run at the same time.
    pub(crate) fn runs_alone(&self) -> bool {
        self.is_rule() || self.fixes.is_some()
    }

    /// Returns true if another hook of its dialect runs the same command in the same way. Files in
    /// other folders may have other commands under the same words.
    pub(crate) fn runs_the_same(&self, other: &Hook) -> bool {
        self.convention_names() == other.convention_names()
            && self.handler == other.handler
            && self.variables == other.variables
            && self.folder == other.folder
            && self.source.file.parent() == other.source.file.parent()
            && (&self.root, &self.scope) == (&other.root, &other.scope)
            && (&self.limits, self.on_failure) == (&other.limits, other.on_failure)
    }

    /// Decides whether it runs for `event`. Fails with the mismatch.
    pub(crate) fn wants(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        if let Some(convention) = self.convention.as_ref().filter(|one| !one.has(event)) {
            let found = event.given().string("toolName").into_iter().collect();
            return Err(Mismatch::of_host("tool", convention.event_name(), found));
        }
        self.matcher.decide(event, &self.place(place))
    }

    /// Returns the folders to which its relative paths refer; `place` are the project's.
    pub(crate) fn place<'p>(&self, place: &'p PathBase) -> Cow<'p, PathBase> {
        if self.root.is_none() && self.scope.is_none() {
            return Cow::Borrowed(place);
        }
        Cow::Owned(PathBase {
            cwd: self.scope.as_ref().unwrap_or(&place.cwd).clone(),
            project: self.root.as_ref().unwrap_or(&place.project).clone(),
        })
    }

    pub fn dialect_name(&self) -> &'static str {
        let convention = self.convention.as_ref();
        convention.map_or("native", |convention| convention.system())
    }

    /// Returns the name of its dialect, and its event's full name there.
    pub(crate) fn convention_names(&self) -> Option<(&'static str, String)> {
        let convention = self.convention.as_ref()?;
        Some((convention.system(), convention.full_event_name()))
    }
}

/// The origin of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSource {
    pub layer: LayerKind,
    /// Script of a drop-in, or the `hookrun.toml`.
    pub file: PathBuf,
    /// Line of its table in `hookrun.toml`; `None` for drop-ins.
    pub line: Option<usize>,
    /// Name of its shared set.
    pub set: Option<String>,
}

impl HookSource {
    /// Describes layer and set: `project layer, set baseline`.
    pub fn layer_text(&self) -> String {
        let layer = self.layer.name();
        match &self.set {
            Some(set) => format!("{layer} layer, set {set}"),
            None => format!("{layer} layer"),
        }
    }
}

/// Layers, in the order in which equal priorities run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// `/etc/hookrun`.
    System,
    /// `$XDG_CONFIG_HOME/hookrun`.
    User,
    /// A hook folder of the project.
    Project,
    /// Named on the command line or in code.
    Explicit,
}

names! { LayerKind: System "system", User "user", Project "project", Explicit "explicit" }

/// This process's executable on Linux, even if its path was replaced or removed since. Between fork
/// and exec, it is the parent's.
pub const OWN_IMAGE: &str = "/proc/self/exe";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// A drop-in: this file, executed directly.
    File(PathBuf),
    /// A program and its arguments, executed directly. With a slash it is relative to `base`,
    /// otherwise looked up in `PATH`.
    Words { words: Vec<String>, base: PathBuf },
    /// A `/bin/sh -c` command line, which takes 0.6 ms longer to start than a program.
    Shell(String),
    /// A function of the embedding program. Configuration files cannot name one.
    Function(Function),
    /// A rule: its decision for every matching event, without a program.
    Rule(Decision),
}

impl Handler {
    pub(crate) fn is_function(&self) -> bool {
        matches!(self, Handler::Function(_))
    }

    pub(crate) fn is_program(&self) -> bool {
        match self {
            Handler::File(_) | Handler::Words { .. } | Handler::Shell(_) => true,
            Handler::Function(_) | Handler::Rule(_) => false,
        }
    }

    pub(crate) fn rule(&self) -> Option<(&'static str, &str)> {
        let Handler::Rule(decision) = self else {
            return None;
        };
        match decision {
            Decision::Block { reason } => Some(("deny", reason)),
            Decision::Ask { question } => Some(("ask", question)),
            Decision::Allow => None,
        }
    }
}

/// Handling of processes that a hook leaves running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// They are killed and named in the trace.
    Kill,
    /// They may keep running.
    Detach,
}

names! { Background: Kill "kill", Detach "detach" }

/// The lifetime of a hook's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lives {
    /// Starts for each event and answers it.
    Event,
    /// Starts once per session and reads its events line by line; see
    /// [`SessionHooks`](crate::SessionHooks). Functions and hooks of gates still run for each event.
    Session,
}

names! { Lives: Event "event", Session "session" }

/// How a hook reads its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// From variables: a gate blocks if one is too large.
    Environment,
    /// From JSON on stdin. Variables that are too large are omitted.
    Stdin,
    /// Not at all: stdin is empty, and no variable describes the action.
    Nothing,
}

names! { Reads: Environment "environment", Stdin "stdin", Nothing "none" }

/// The version of files that a hook sees if text is staged. The default is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sees {
    /// The staged content, in a separate folder, even if the disk has the same.
    Staged,
    /// The disk, with unstaged changes.
    Disk,
}

names! { Sees: Staged "staged", Disk "disk" }

/// Handling of a hook's changes to its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixes {
    /// Staged, and merged into the files on disk.
    Stage,
    /// Block.
    Block,
}

names! { Fixes: Stage "stage", Block "block" }

/// How a hook's process starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warm {
    /// With a new interpreter.
    Off,
    /// Forked from a kept interpreter, if a long-running program asks and the interpreter is
    /// CPython 3.8 or later; see `docs/warm.md`.
    Fork,
    /// Long-running: reads each event as a line on stdin and answers with a line on stdout, if a
    /// long-running program asks. Otherwise, it starts for one event.
    Serve,
}

names! { Warm: Off "off", Fork "fork", Serve "serve" }

/// One event of another system, as its hooks see it.
pub trait Convention: fmt::Debug + Send + Sync {
    fn system(&self) -> &'static str;

    fn event_name(&self) -> &'static str;

    /// Returns the event's name, with a distinction from others of the same name.
    fn full_event_name(&self) -> String {
        self.event_name().to_string()
    }

    /// Returns the system's default timeout, if any.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Returns the meaning of a failure there; `None` for the event's.
    fn on_failure(&self) -> Option<OnFailure> {
        None
    }

    /// Returns true if event and answer are in another system's format.
    fn is_foreign(&self) -> bool {
        true
    }

    /// Returns true if of identical hooks only the first runs.
    fn runs_once(&self) -> bool {
        false
    }

    /// Returns true if the system would run such a hook for `event`: some host events are for one
    /// tool only.
    fn has(&self, _: &Event) -> bool {
        true
    }

    /// Returns the parts of `event`, at least one, for which such a hook runs separately. Only
    /// parts that match `matcher`.
    fn parts(&self, _: &Event, _: &Matcher) -> Vec<EventPart> {
        vec![EventPart::WHOLE]
    }

    /// Returns the hook's stdin.
    fn payload(&self, event: &Event, part: &EventPart) -> Payload;

    /// Returns true if stdin contains the event.
    fn sends_event(&self) -> bool {
        true
    }

    /// Returns additional arguments; `$1` and so on in a shell line.
    fn arguments(&self, _: &Event) -> Vec<OsString> {
        Vec::new()
    }

    /// Returns the context field that the hook may rewrite in a file.
    fn edits(&self) -> Option<EditedField> {
        None
    }

    fn variables(&self, _: &Event, _: &str) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns the ending of a hook that exited, with notes for its author.
    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>);

    /// Returns the reason if a complete answer in stdout blocks.
    fn block_in(&self, stdout: &str, permit: Permit<'_>) -> Option<String>;
}

/// A text of the context that hooks read and rewrite in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditedField {
    /// Key of the text.
    pub field: &'static str,
    /// Key of the path, relative to the event's working directory.
    pub path: &'static str,
    /// Index of the argument with the file, from 0.
    pub argument: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventPart {
    pub number: usize,
    /// Tool call in the system's format; `None` for the whole event.
    pub call: Option<HostCall>,
    /// Request id that an answer must repeat.
    pub id: Option<String>,
}

impl EventPart {
    pub const WHOLE: EventPart = EventPart {
        number: 0,
        call: None,
        id: None,
    };
}

#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    pub name: String,
    pub input: Value,
}

#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    pub status: i32,
    pub stdout: &'a str,
    /// Full size of truncated stdout.
    pub cut_bytes: Option<u64>,
    pub stderr: &'a CapturedStream,
}

/// The rules for a hook's answer.
#[derive(Debug, Clone, Copy)]
pub struct Permit<'a> {
    pub spec: &'a EventSpec,
    pub hook: &'a Hook,
    /// The part of the event that the hook runs for.
    pub part: Option<&'a EventPart>,
    /// The event, if there is one.
    pub about: Option<&'a Event>,
}

impl<'a> Permit<'a> {
    /// Returns the request id that the answer must repeat.
    pub fn id(self) -> Option<&'a str> {
        self.part?.id.as_deref()
    }

    /// Returns true if a dialect's error is a failure: the spec says `on_failure = "block"`.
    pub fn is_strict(self) -> bool {
        self.hook.on_failure == Some(OnFailure::Block)
    }
}
