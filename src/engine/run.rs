//! What happened when a plan was run: one [`HookRun`] for every hook, and the outcome.
//!
//! Plain data. How one hook's run ended is an [`Ending`].

use std::time::Duration;

pub use crate::engine::ending::{
    Captured, Ending, Exit, FAILURES, FailureRow, StartError, signal_name, told_to_stop,
};
use crate::engine::event::{Event, OnFailure};
use crate::engine::hook::{Hook, HookSource, Mismatch};
use crate::engine::outcome::{Outcome, Refusal};

/// Everything about one decided event.
#[derive(Debug, Clone)]
pub struct Run {
    /// The event, as the rewrites left it.
    pub event: Event,
    /// Every hook bound to the event, in plan order, those that did not run included.
    pub hooks: Vec<HookRun>,
    /// What all said.
    pub outcome: Outcome,
    /// How long deciding took.
    pub took: Duration,
    /// Who has decided it before, where this is the outcome of another run of the same call: the
    /// host and its name for the event.
    pub earlier: Option<String>,
}

impl Run {
    /// Whether the action may happen: the one question to ask before doing it.
    ///
    /// A question to a person that nobody has answered is a block here; a host that can ask
    /// people looks at [`Outcome::settled`] first and gives the answer to [`Outcome::answered`].
    ///
    /// # Errors
    /// Why it may not happen.
    #[must_use = "an action without a permit must not happen"]
    pub fn permit(self) -> Result<Allowed, Refusal> {
        let outcome = self.outcome.answered(false, "no answer");
        match outcome.refusal() {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(Allowed { event: self.event, outcome }),
        }
    }
}

/// An action that may happen: no hook blocks it, and no question is open.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The event as the hooks rewrote it: do this, not what was asked for first.
    pub event: Event,
    /// What the hooks said: output, context for the model, findings.
    pub outcome: Outcome,
}

/// What became of one hook.
#[derive(Debug, Clone)]
pub struct HookRun {
    /// Its name.
    pub hook: String,
    /// Where it was found.
    pub source: HookSource,
    /// Its matcher in words.
    pub wants: String,
    /// What a failure of it means here: its own choice or the event's.
    pub on_failure: OnFailure,
    /// It is a function, and no program.
    pub is_function: bool,
    /// What became of it.
    pub fate: Fate,
}

impl HookRun {
    /// What became of `hook`, which is bound to `event`.
    pub fn new(hook: &Hook, event: &Event, fate: Fate) -> HookRun {
        HookRun {
            hook: hook.name.clone(),
            source: hook.source.clone(),
            wants: hook.matcher.to_string(),
            on_failure: hook.on_failure(event.spec()),
            is_function: hook.handler.is_function(),
            fate,
        }
    }
}

/// What became of one hook.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Its spec says `enabled = false`.
    Disabled,
    /// It is enabled and does not run all the same, for this reason.
    Idle(String),
    /// Its matcher did not want the event.
    Unwanted(Mismatch),
    /// The event was settled before its turn came.
    Unreached,
    /// It was started and is not waited for.
    Detached,
    /// It was run.
    Ran(Box<Trace>),
}

/// What is known about a hook that was run.
#[derive(Debug, Clone)]
pub struct Trace {
    /// How it ended.
    pub ending: Ending,
    /// How its process ended, if it ever ran and ended.
    pub exit: Option<Exit>,
    /// From its start to its end, the draining of its output included.
    pub took: Duration,
    /// What it wrote to stdout.
    pub stdout: Captured,
    /// What it wrote to stderr.
    pub stderr: Captured,
    /// How surely all that it started was ended with it; `None` if it never started.
    pub containment: Option<Level>,
    /// What the person who wrote the hook should know: ignored keys, processes left behind.
    pub notes: Vec<String>,
}

impl Trace {
    /// The trace of a hook that never ran.
    pub(crate) fn not_run(ending: Ending) -> Trace {
        Trace {
            ending,
            exit: None,
            took: Duration::ZERO,
            stdout: Captured::default(),
            stderr: Captured::default(),
            containment: None,
            notes: Vec::new(),
        }
    }
}

/// How surely all that a hook starts is ended with it, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Its process group.
    Group,
    /// Its process group, and what was re-parented to hookrun, the subreaper.
    Sweep,
    /// Its control group.
    Cgroup,
    /// Its process namespace.
    Namespace,
}

/// Every level.
pub const LEVELS: &[Level] = &[Level::Group, Level::Sweep, Level::Cgroup, Level::Namespace];

impl Level {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Group => "group",
            Level::Sweep => "sweep",
            Level::Cgroup => "cgroup",
            Level::Namespace => "pidns",
        }
    }

    /// What is ended with a hook, for people.
    pub fn about(self) -> &'static str {
        match self {
            Level::Group => "its process group (group)",
            Level::Sweep => "its process group and all that left it (sweep)",
            Level::Cgroup => "its control group (cgroup)",
            Level::Namespace => "its process namespace (pidns)",
        }
    }
}
