//! A hook: one configured thing to run, and everything its author said about running it.

pub mod convention;
mod function;
pub mod limits;
pub mod matcher;
mod sandbox;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use crate::engine::duration::{DEFAULT_TIMEOUT, duration_text, parse_duration};
use crate::engine::event::{Event, EventSpec, OnFailure};
use crate::engine::names::names;
pub use convention::Convention;
pub(crate) use function::Called;
pub use function::{Function, IntoVerdict, Returned};
pub use limits::Limits;
pub use matcher::{Condition, Matcher, Mismatch, PathBase};
pub use sandbox::{Containment, Sandbox};

/// Where a hook stands in its event's order unless its spec says otherwise; lower is earlier.
pub const DEFAULT_PRIORITY: i64 = 100;

/// One configured thing to run for one event.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its name: the file name of a drop-in, or `name` in `hookrun.toml`.
    pub name: String,
    /// Canonical name of the event that it is asked about.
    pub event: String,
    /// Where it was found.
    pub source: HookSource,
    /// What is run.
    pub handler: Handler,
    /// Which events of that name it wants.
    pub matcher: Matcher,
    /// Lower runs earlier.
    pub priority: i64,
    /// It may run beside its neighbours that say the same.
    pub parallel: bool,
    /// What a failure of it means; `None` leaves it to the event.
    pub on_failure: Option<OnFailure>,
    /// What it may use up.
    pub limits: Limits,
    /// What it may touch; `None` for all that hookrun may.
    pub sandbox: Option<Sandbox>,
    /// How surely all that it starts is ended with it.
    pub containment: Containment,
    /// What happens to processes that it leaves running.
    pub background: Background,
    /// Variables of its own in its environment.
    pub variables: Vec<(String, String)>,
    /// The folder that it runs in; `None` for the event's.
    pub folder: Option<PathBuf>,
    /// The folder of the project that it belongs to; `None` for its root. Relative paths in its
    /// matcher and sandbox mean this folder.
    pub root: Option<PathBuf>,
    /// It may rewrite the fields that the event lists.
    pub rewrite: bool,
    /// It reads the event on stdin, and needs nothing that its environment cannot hold.
    pub reads_stdin: bool,
    /// How it is spoken to, if it was written for another system; `None` for hookrun's own
    /// contract.
    pub convention: Option<Arc<dyn Convention>>,
    /// A disabled hook is listed and never run.
    pub enabled: bool,
    /// Why it is listed and never run although it is enabled; `None` where it is run.
    pub idle: Option<String>,
    /// What it does, in its author's words.
    pub description: Option<String>,
}

impl Hook {
    /// A hook that a program adds by itself, with the settings of one that says nothing.
    pub fn new(name: &str, event: &str, handler: Handler) -> Hook {
        let file = match &handler {
            Handler::File(file) => file.clone(),
            Handler::Words { .. }
            | Handler::Shell(_)
            | Handler::Function(_)
            | Handler::Elsewhere { .. } => PathBuf::from(name),
        };
        Hook {
            name: name.to_string(),
            event: event.to_string(),
            source: HookSource { layer: LayerKind::Explicit, file, line: None },
            handler,
            matcher: Matcher::default(),
            priority: DEFAULT_PRIORITY,
            parallel: false,
            on_failure: None,
            limits: Limits::default(),
            sandbox: None,
            containment: Containment::Auto,
            background: Background::Kill,
            variables: Vec::new(),
            folder: None,
            root: None,
            rewrite: false,
            reads_stdin: false,
            convention: None,
            enabled: true,
            idle: None,
            description: None,
        }
    }

    /// A program and its arguments, started directly. A program that is written with a slash is
    /// relative to the working directory of this process; one without is looked up in `PATH`.
    ///
    /// ```
    /// use hookrun::Hook;
    ///
    /// let hook = Hook::command("lint", "tool.post", ["python3", "lint.py"]).priority(10);
    /// assert_eq!(hook.name, "lint");
    /// ```
    pub fn command<W: Into<String>>(
        name: &str,
        event: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Hook {
        let words = words.into_iter().map(Into::into).collect();
        // Without a working directory the path stays relative, and starting says so.
        let base = std::path::absolute(".").unwrap_or_default();
        Hook::new(name, event, Handler::Words { words, base })
    }

    /// A command line for `/bin/sh -c`.
    pub fn shell(name: &str, event: &str, line: &str) -> Hook {
        Hook::new(name, event, Handler::Shell(line.to_string()))
    }

    /// An executable file with its own first line (`#!/bin/sh`), as in `hooks.d`; its name is the
    /// file's.
    pub fn script(event: &str, file: impl Into<PathBuf>) -> Hook {
        let file = file.into();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        Hook::new(&name.unwrap_or_default(), event, Handler::File(file))
    }

    /// Only events that `matcher` takes; the default takes all.
    #[must_use]
    pub fn matcher(self, matcher: Matcher) -> Hook {
        Hook { matcher, ..self }
    }

    /// Its place in the order: lower runs earlier, [`DEFAULT_PRIORITY`] by default.
    #[must_use]
    pub fn priority(self, priority: i64) -> Hook {
        Hook { priority, ..self }
    }

    /// How long it may run; by default as long as its event says, 5 s for most.
    #[must_use]
    pub fn time_limit(mut self, timeout: Duration) -> Hook {
        self.limits.timeout = Some(timeout);
        self
    }

    /// What a failure of it means; by default what its event says.
    #[must_use]
    pub fn failing(self, on_failure: OnFailure) -> Hook {
        Hook { on_failure: Some(on_failure), ..self }
    }

    /// It may rewrite the fields that its event lists.
    #[must_use]
    pub fn rewriting(self) -> Hook {
        Hook { rewrite: true, ..self }
    }

    /// How long it may run for an event with these rules: what its spec says, else its dialect,
    /// else the event, else 5 s. [`Duration::MAX`] is as long as it likes.
    pub fn timeout(&self, spec: &EventSpec) -> Duration {
        self.own_timeout().or(spec.conduct.timeout).unwrap_or(DEFAULT_TIMEOUT)
    }

    /// How long it may run when a native host asks.
    pub fn usual_timeout(&self) -> Duration {
        self.own_timeout().unwrap_or(DEFAULT_TIMEOUT)
    }

    fn own_timeout(&self) -> Option<Duration> {
        let of_dialect = self.convention.as_ref().and_then(|convention| convention.timeout());
        self.limits.timeout.or(of_dialect)
    }

    /// What a failure of it means for an event with these rules: what its spec says, else its
    /// dialect, else the event.
    pub fn on_failure(&self, spec: &EventSpec) -> OnFailure {
        let of_dialect = self.convention.as_ref().map(|convention| convention.on_failure());
        self.on_failure.or(of_dialect).unwrap_or(spec.on_failure)
    }

    /// Whether another one of its convention runs the same in the same way.
    pub(crate) fn runs_the_same(&self, other: &Hook) -> bool {
        self.convention_names() == other.convention_names()
            && self.handler == other.handler
            && self.variables == other.variables
            && self.folder == other.folder
    }

    /// Whether it is to be asked about `event`.
    ///
    /// # Errors
    /// What it wants, and what the event is.
    pub fn wants(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch> {
        if let Some(convention) = self.convention.as_ref().filter(|one| !one.has(event)) {
            let found = event.context().string("toolName").into_iter().collect();
            let (what, wanted) = ("a tool of".to_string(), convention.event_name().to_string());
            return Err(Mismatch::Matcher { what, wanted, found });
        }
        match &self.root {
            None => self.matcher.decide(event, place),
            Some(root) => {
                let own = PathBase { cwd: place.cwd.clone(), project: root.clone() };
                self.matcher.decide(event, &own)
            }
        }
    }

    /// The name of the system that it was written for.
    pub fn dialect_name(&self) -> &'static str {
        self.convention.as_ref().map_or("native", |convention| convention.system())
    }

    /// The names of the system that it was written for and of its event there, with what tells it
    /// from others of that name.
    pub(crate) fn convention_names(&self) -> Option<(&'static str, String)> {
        let convention = self.convention.as_ref()?;
        Some((convention.system(), convention.full_event_name()))
    }
}

/// Where a hook was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSource {
    /// The layer.
    pub layer: LayerKind,
    /// The script of a drop-in, or the `hookrun.toml`.
    pub file: PathBuf,
    /// The line of its table in a `hookrun.toml`; `None` for drop-ins.
    pub line: Option<usize>,
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

/// The file that a process of Linux runs, whatever has become of its name: replaced by an upgrade,
/// by somebody else, or gone. A process that is just being started has that of its parent.
pub const OWN_IMAGE: &str = "/proc/self/exe";

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// A drop-in: this file, started directly.
    File(PathBuf),
    /// A program and its arguments, started directly. A program that is written with a slash
    /// is relative to `base`; one without is looked up in `PATH`.
    Words { words: Vec<String>, base: PathBuf },
    /// A command line for `/bin/sh -c`, which costs 0.6 ms more than starting a program.
    Shell(String),
    /// A function of the program around us; no configuration can name one.
    Function(Function),
    /// What only the host can run in whose settings it stands. It never starts.
    Elsewhere {
        /// Why.
        problem: String,
        /// What to do.
        cure: String,
    },
}

impl Handler {
    /// Whether it is a function, and no program.
    pub fn is_function(&self) -> bool {
        matches!(self, Handler::Function(_))
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
