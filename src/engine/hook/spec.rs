//! The nouns of a hook: what its author configured, and how a hook of another system is spoken to.
//!
//! The engine knows other systems only by the trait [`Convention`]. The tables of hosts and systems
//! are its users; a hook without one is spoken to by hookrun's own contract.

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

/// The priority of a hook whose spec does not say; lower is earlier.
pub const DEFAULT_PRIORITY: i64 = 100;

/// The word of a command in whose place the files of the event come.
pub const FILES: &str = "{files}";

/// Why a hook that lives as long as its session does not run for an event.
const WAITS_FOR_SESSION: &str =
    "it lives as long as a session, which a program must hold, such as `hookrun serve`";

/// One configured thing to run for one event.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its name: the file name of a drop-in, or `name` in `hookrun.toml`.
    pub name: String,
    /// Canonical name of its event.
    pub event: String,
    pub source: HookSource,
    pub handler: Handler,
    /// Which events of that name it wants.
    pub matcher: Matcher,
    pub priority: i64,
    /// Whether it may run together with its neighbours that may too; `None` leaves it to the
    /// event's schedule.
    pub parallel: Option<bool>,
    /// What a failure of it means; `None` leaves it to the event.
    pub on_failure: Option<OnFailure>,
    /// What it may use up.
    pub limits: Limits,
    /// What it may touch; `None` for everything that hookrun may.
    pub sandbox: Option<Sandbox>,
    /// What surely ends with it.
    pub containment: Containment,
    /// What happens to processes that it leaves running.
    pub background: Background,
    /// How long its process lives.
    pub lives: Lives,
    /// How its process starts; `None` for [`Warm::Off`].
    pub warm: Option<Warm>,
    /// Additional variables of its environment.
    pub variables: Vec<(String, String)>,
    /// The folder that it runs in; `None` for the event's.
    pub folder: Option<PathBuf>,
    /// The folder of the project that it belongs to; `None` for its root. Relative paths in its
    /// matcher and sandbox mean this folder.
    pub root: Option<PathBuf>,
    /// It may rewrite the fields that the event lists.
    pub rewrite: bool,
    /// Where it reads the event. `None` for its environment if its text names one of the
    /// variables, else for nothing that its environment cannot hold.
    pub reads: Option<Reads>,
    /// It is handed the event's files as arguments; so is a command with the word [`FILES`].
    pub files: bool,
    /// How many files one call of it gets at most; 0 for as many as fit.
    pub batch: usize,
    /// Which text of its files it sees; `None` for the staged one where the disk has another, or for
    /// the disk if it was written for another system.
    pub sees: Option<Sees>,
    /// What happens to changes that it makes in its files; `None` if it makes none.
    pub fixes: Option<Fixes>,
    /// Ignored folders that it needs beside the staged text; `None` for the usual ones.
    pub link: Option<Vec<PathBuf>>,
    /// How it is spoken to, if it was written for another system; `None` for hookrun's own
    /// contract.
    pub convention: Option<Arc<dyn Convention>>,
    /// A disabled hook is listed and never run.
    pub enabled: bool,
    /// Why it never runs although it is enabled.
    pub idle: Option<String>,
    /// What it does, in its author's words.
    pub description: Option<String>,
}

impl Hook {
    /// A hook that a program adds, with default settings.
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
            variables: Vec::new(),
            folder: None,
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

    /// How long it may run for an event with these rules: what its spec says, else its dialect,
    /// else the event, else 5 s. [`Duration::MAX`] is no limit.
    pub fn timeout(&self, spec: &EventSpec) -> Duration {
        self.own_timeout()
            .or(spec.conduct.timeout)
            .unwrap_or(DEFAULT_TIMEOUT)
    }

    /// How long it may run for a native host.
    pub fn usual_timeout(&self) -> Duration {
        self.own_timeout().unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The timeout of its spec, else of its dialect.
    pub(crate) fn own_timeout(&self) -> Option<Duration> {
        let of_dialect = self
            .convention
            .as_ref()
            .and_then(|convention| convention.timeout());
        self.limits.timeout.or(of_dialect)
    }

    /// What a failure of it means for an event with these rules: what its spec says, else its
    /// dialect, else the event.
    pub fn on_failure(&self, spec: &EventSpec) -> OnFailure {
        let of_dialect = self
            .convention
            .as_ref()
            .and_then(|convention| convention.on_failure());
        self.on_failure.or(of_dialect).unwrap_or(spec.on_failure)
    }

    /// Its priority, and of a file of `hooks.d` the number before its name (`10-format.sh`): with
    /// these people say that it runs earlier or later than others.
    pub(crate) fn group(&self) -> (i64, Option<u64>) {
        let mut number = None;
        if let Handler::File(_) = self.handler {
            let after = self.name.trim_start_matches(|c: char| c.is_ascii_digit());
            number = self.name[..self.name.len() - after.len()].parse().ok();
        }
        (self.priority, number)
    }

    /// Why it does not run for events although it is enabled.
    pub(crate) fn idle_reason(&self) -> Option<&str> {
        let waits = self.lives == Lives::Session;
        self.idle.as_deref().or(waits.then_some(WAITS_FOR_SESSION))
    }

    /// Whether it may run for an event.
    #[doc(hidden)]
    pub fn may_run(&self) -> bool {
        self.enabled && self.idle_reason().is_none()
    }

    /// Whether `name` is its name, or that of the file which configures it and perhaps others.
    #[doc(hidden)]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name
            || self
                .source
                .file
                .file_name()
                .is_some_and(|file| file == name)
    }

    /// Whether it is a program that may stay up, for many events.
    pub(crate) fn stays_up(&self) -> bool {
        self.warm == Some(Warm::Serve)
    }

    /// Whether it gets events in the words of another system.
    pub(crate) fn is_foreign(&self) -> bool {
        self.convention
            .as_ref()
            .is_some_and(|convention| convention.is_foreign())
    }

    /// Whether it is handed files. Then it does not run for an event without any that it wants.
    pub(crate) fn takes_files(&self) -> bool {
        let is_in_command = match &self.handler {
            Handler::Words { words, .. } => words.iter().any(|word| word == FILES),
            Handler::File(_) | Handler::Shell(_) | Handler::Function(_) | Handler::Rule(_) => false,
        };
        self.files || is_in_command
    }

    /// The absolute paths of the files of `event` that it is handed.
    pub(crate) fn files_of(&self, event: &Event, place: &PathBase) -> Vec<PathBuf> {
        self.matcher.files(event, &self.place(place))
    }

    /// Whether it is a rule, which runs nothing.
    pub(crate) fn is_rule(&self) -> bool {
        self.handler.rule().is_some()
    }

    /// Whether no other hook runs at the same time.
    pub(crate) fn runs_alone(&self) -> bool {
        self.is_rule() || self.fixes.is_some()
    }

    /// Whether another one of its convention runs the same command in the same way.
    pub(crate) fn runs_the_same(&self, other: &Hook) -> bool {
        self.convention_names() == other.convention_names()
            && self.handler == other.handler
            && self.variables == other.variables
            && self.folder == other.folder
    }

    /// Whether it should run for `event`.
    ///
    /// # Errors
    /// What it wants, and what the event is.
    pub(crate) fn wants(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        if let Some(convention) = self.convention.as_ref().filter(|one| !one.has(event)) {
            let found = event.context().string("toolName").into_iter().collect();
            return Err(Mismatch::of_host("tool", convention.event_name(), found));
        }
        self.matcher.decide(event, &self.place(place))
    }

    /// What relative paths in its matcher are relative to, where those of the project's are to
    /// `place`.
    pub(crate) fn place<'p>(&self, place: &'p PathBase) -> Cow<'p, PathBase> {
        match &self.root {
            None => Cow::Borrowed(place),
            Some(root) => Cow::Owned(PathBase {
                cwd: place.cwd.clone(),
                project: root.clone(),
            }),
        }
    }

    /// The name of the system that it was written for.
    pub fn dialect_name(&self) -> &'static str {
        self.convention
            .as_ref()
            .map_or("native", |convention| convention.system())
    }

    /// The system that it was written for, and the full name of its event there.
    pub(crate) fn convention_names(&self) -> Option<(&'static str, String)> {
        let convention = self.convention.as_ref()?;
        Some((convention.system(), convention.full_event_name()))
    }
}

/// Where a hook was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSource {
    pub layer: LayerKind,
    /// The script of a drop-in, or the `hookrun.toml`.
    pub file: PathBuf,
    /// The line of its table in a `hookrun.toml`; `None` for drop-ins.
    pub line: Option<usize>,
    /// The shared set that it comes with, as the layer calls it.
    pub set: Option<String>,
}

impl HookSource {
    /// The layer in words, and the set: `project layer, set baseline`.
    pub fn layer_text(&self) -> String {
        let set = self
            .set
            .as_ref()
            .map(|set| format!(", set {set}"))
            .unwrap_or_default();
        format!("{} layer{set}", self.layer.name())
    }
}

/// The layers, in the order in which equal priorities run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// `/etc/hookrun`.
    System,
    /// `$XDG_CONFIG_HOME/hookrun`.
    User,
    /// A folder of the project that configures hooks.
    Project,
    /// Named on the command line or in code.
    Explicit,
}

names! { LayerKind: System "system", User "user", Project "project", Explicit "explicit" }

/// The file that a process of Linux runs, even if its name was replaced or removed since. A process
/// that is just being started has that of its parent.
pub const OWN_IMAGE: &str = "/proc/self/exe";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// A drop-in: this file, started directly.
    File(PathBuf),
    /// A program and its arguments, started directly. A program that is written with a slash
    /// is relative to `base`; one without is looked up in `PATH`.
    Words { words: Vec<String>, base: PathBuf },
    /// A command line for `/bin/sh -c`, which costs 0.6 ms more than starting a program.
    Shell(String),
    /// A function of the embedding program; no configuration can name one.
    Function(Function),
    /// A rule: what it says of every event that the matcher takes, without a program.
    Rule(Decision),
}

impl Handler {
    pub(crate) fn is_function(&self) -> bool {
        matches!(self, Handler::Function(_))
    }

    /// Whether it starts a process.
    pub(crate) fn is_program(&self) -> bool {
        match self {
            Handler::File(_) | Handler::Words { .. } | Handler::Shell(_) => true,
            Handler::Function(_) | Handler::Rule(_) => false,
        }
    }

    /// The key and the text of what a rule says; `None` if it is no rule.
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

/// What happens to processes that a hook leaves running after it has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// They are killed and named in the trace.
    Kill,
    /// They may live on.
    Detach,
}

names! { Background: Kill "kill", Detach "detach" }

/// How long the process of a hook lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lives {
    /// It starts for each event, and answers.
    Event,
    /// It starts once for each session that somebody holds, and reads its events line by line; see
    /// [`SessionHooks`](crate::SessionHooks).
    Session,
}

names! { Lives: Event "event", Session "session" }

/// Where a hook reads its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// The variables in its environment: a gate blocks if one of them is too large.
    Environment,
    /// The JSON on stdin. Variables that are too large are left out.
    Stdin,
    /// Nothing: its stdin is empty, and no variable says what is about to happen.
    Nothing,
}

names! { Reads: Environment "environment", Stdin "stdin", Nothing "none" }

/// Which text of the files a hook sees at an event with staged text. Without it: staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sees {
    /// What the commit will hold, in its own folder, even if the disk has the same.
    Staged,
    /// What is on the disk, with changes that are not staged.
    Disk,
}

names! { Sees: Staged "staged", Disk "disk" }

/// What happens to changes that a hook makes in its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixes {
    /// They are staged, and merged into the files on the disk.
    Stage,
    /// They block.
    Refuse,
}

names! { Fixes: Stage "stage", Refuse "refuse" }

/// How the process of a hook starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warm {
    /// As any program: its interpreter begins anew.
    Off,
    /// In a process that was forked beforehand from an interpreter that is kept, where a program
    /// that stays up asks and the interpreter is CPython 3.8 or later; see `docs/warm.md`.
    Fork,
    /// It is a program that stays up: it reads each event as a line on stdin and answers it with a
    /// line on stdout, where a program that stays up asks; else it starts for one event.
    Serve,
}

names! { Warm: Off "off", Fork "fork", Serve "serve" }

/// One event of another system, as its hooks know it.
pub trait Convention: fmt::Debug + Send + Sync {
    fn system(&self) -> &'static str;

    /// What the system calls the event.
    fn event_name(&self) -> &'static str;

    /// The same, with what distinguishes it from other events of that name.
    fn full_event_name(&self) -> String {
        self.event_name().to_string()
    }

    /// The system's own timeout, if it has one.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// What a failing hook means there; `None` for what it means to the event.
    fn on_failure(&self) -> Option<OnFailure> {
        None
    }

    /// Whether the event goes to the hook in the words of another system, and its answer comes in
    /// them.
    fn is_foreign(&self) -> bool {
        true
    }

    /// Of hooks of one event that run the same, the first runs.
    fn runs_once(&self) -> bool {
        false
    }

    /// Whether the system would run such a hook for `event`: some of a host's events are about one
    /// tool only.
    fn has(&self, _: &Event) -> bool {
        true
    }

    /// The parts of `event` for which such a hook runs one by one, of those that `matcher` wants. At
    /// least one.
    fn parts(&self, _: &Event, _: &Matcher) -> Vec<EventPart> {
        vec![EventPart::WHOLE]
    }

    /// What the hook reads on stdin.
    fn payload(&self, event: &Event, part: &EventPart) -> Payload;

    /// Whether that is the event.
    fn sends_event(&self) -> bool {
        true
    }

    /// The arguments after the words of the hook's command; `$1` and so on in a shell line.
    fn arguments(&self, _: &Event) -> Vec<OsString> {
        Vec::new()
    }

    /// The field of the context that the hook may rewrite in a file, if the system has it do so.
    fn edits(&self) -> Option<EditedField> {
        None
    }

    /// The variables that the system sets for its hooks.
    fn variables(&self, _: &Event, _: &str) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// How the run of a hook that exited has ended, with notes for its author.
    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>);

    /// The reason, if a complete answer in the text of stdout blocks.
    fn block_in(&self, stdout: &str, permit: Permit<'_>) -> Option<String>;
}

/// A text of the context that hooks read and rewrite in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditedField {
    /// The key of the text.
    pub field: &'static str,
    /// The key of the path, relative to the event's working directory.
    pub path: &'static str,
    /// Which argument names the file to the hook, from 0.
    pub argument: usize,
}

/// One part of an event, for which a hook runs.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPart {
    pub number: usize,
    /// The call of a tool in the system's own words; `None` for the event as it came.
    pub call: Option<HostCall>,
    /// What an answer must repeat, if the system asks by numbered requests.
    pub id: Option<String>,
}

impl EventPart {
    /// The event as it came, whole.
    pub const WHOLE: EventPart = EventPart {
        number: 0,
        call: None,
        id: None,
    };
}

/// A call of a tool, in the words of one host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    pub name: String,
    pub input: Value,
}

/// What a hook that exited has printed.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    pub status: i32,
    pub stdout: &'a str,
    /// The size of stdout, if it is too large and a part of it is missing.
    pub cut_bytes: Option<u64>,
    pub stderr: &'a CapturedStream,
}

/// What a hook may answer.
#[derive(Debug, Clone, Copy)]
pub struct Permit<'a> {
    pub spec: &'a EventSpec,
    pub hook: &'a Hook,
    /// What it was given, if that was in the words of another host than the event's.
    pub given: Option<GivenPart<'a>>,
    /// The event that it ran for, if there is one.
    pub about: Option<&'a Event>,
}

/// The input of a hook in the dialect of its host.
#[derive(Debug, Clone, Copy)]
pub struct GivenPart<'a> {
    pub event: &'a Event,
    pub part: usize,
    /// What its answer must repeat.
    pub id: Option<&'a str>,
}

impl<'a> Permit<'a> {
    /// What an answer must repeat, if the hook reads a numbered request.
    pub fn id(self) -> Option<&'a str> {
        self.given?.id
    }

    /// Whether an error in its host's words is a failure: its spec says `on_failure = "block"`.
    pub fn is_strict(self) -> bool {
        self.hook.on_failure == Some(OnFailure::Block)
    }
}
