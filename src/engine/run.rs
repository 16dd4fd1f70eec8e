//! The result of running a plan: one [`HookRun`] for every hook, and the outcome.
//!
//! Plain data. An [`Ending`] says how one hook's run ended.

mod trace_context;

use std::sync::Arc;
use std::time::Duration;

pub use crate::engine::ending::{
    CapturedStream, Ending, Exit, FAILURES, FailureRow, StartError, signal_name, told_to_stop,
};
use crate::engine::event::{Event, OnFailure};
use crate::engine::hook::{Hook, HookSource, Mismatch};
use crate::engine::names::names;
use crate::engine::outcome::{Outcome, Refusal};
pub use trace_context::TraceContext;

/// Everything about one decided event.
#[derive(Debug, Clone)]
pub struct Run {
    /// The event with all rewrites.
    pub event: Event,
    /// Every hook bound to the event, in plan order, including those that did not run.
    pub hooks: Vec<HookRun>,
    /// The merged verdicts of all hooks.
    pub outcome: Outcome,
    /// How long deciding took.
    pub took: Duration,
    /// Where it belongs in a distributed trace, if its hooks had their turn in this run.
    pub trace: Option<TraceContext>,
}

impl Run {
    /// Whether the action may happen. Call this before you do it.
    ///
    /// An unanswered question to a person counts as a block here. A host that can ask people checks
    /// [`Outcome::settled`] first and passes the answer to [`Outcome::answered`].
    ///
    /// # Errors
    /// Why the action may not happen.
    #[must_use = "an action without a permit must not happen"]
    pub fn permit(self) -> Result<Allowed, Refusal> {
        let outcome = self.outcome.answered(false, "no answer");
        match outcome.refusal() {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(Allowed {
                event: self.event,
                outcome,
            }),
        }
    }
}

/// An action that may happen: no hook blocks it, and no question is open.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The event with the hooks' rewrites. Do this, not the original action.
    pub event: Event,
    /// What the hooks said: output, context for the model, findings.
    pub outcome: Outcome,
}

/// What happened to one hook.
#[derive(Debug, Clone)]
pub struct HookRun {
    /// Its name.
    pub hook: String,
    /// Where it was found.
    pub source: HookSource,
    /// What a failure of this hook means here: its own setting or the event's.
    pub on_failure: OnFailure,
    /// How long it may run here: its own setting or the event's.
    pub timeout: Duration,
    /// Whether it is a function rather than a program.
    pub is_function: bool,
    /// What happened to it.
    pub fate: Fate,
    configured: Arc<Hook>,
}

impl HookRun {
    /// The result for `hook`, which is bound to `event`.
    pub(crate) fn new(hook: &Arc<Hook>, event: &Event, fate: Fate) -> HookRun {
        HookRun {
            hook: hook.name.clone(),
            source: hook.source.clone(),
            on_failure: hook.on_failure(event.spec()),
            timeout: hook.timeout(event.spec()),
            is_function: hook.handler.is_function(),
            fate,
            configured: Arc::clone(hook),
        }
    }

    /// Whether a program was started for it.
    pub(crate) fn has_started(&self) -> bool {
        match &self.fate {
            Fate::Disabled | Fate::Idle(_) | Fate::Unwanted(_) | Fate::Unreached => false,
            Fate::Detached => true,
            Fate::Ran(trace) => trace.containment.is_some(),
        }
    }

    /// Its matcher in words.
    #[doc(hidden)]
    pub fn wants(&self) -> String {
        self.configured.matcher.to_string()
    }
}

/// What happened to one hook.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Its spec says `enabled = false`.
    Disabled,
    /// It is enabled but does not run, for this reason.
    Idle(String),
    /// Its matcher does not match the event.
    Unwanted(Mismatch),
    /// The event was settled before its turn came.
    Unreached,
    /// It was started, and hookrun does not wait for it.
    Detached,
    /// It ran.
    Ran(Box<Trace>),
}

/// What is known about a hook's run.
#[derive(Debug, Clone)]
pub struct Trace {
    /// How it ended.
    pub ending: Ending,
    /// How its process ended, if it ever ran and ended.
    pub exit: Option<Exit>,
    /// From the beginning of the run to the start of its step.
    pub after: Duration,
    /// From its start to its end, including the time to drain its output.
    pub took: Duration,
    /// What it wrote to stdout.
    pub stdout: CapturedStream,
    /// What it wrote to stderr.
    pub stderr: CapturedStream,
    /// How reliably everything that it started ended with it; `None` if it never started.
    pub containment: Option<Level>,
    /// How its process started, if its spec lets it start warm and a program asked that stays up.
    pub start: Option<ProcessStart>,
    /// Notes for the hook's author, for example on ignored keys or processes left behind.
    pub notes: Vec<String>,
}

impl Trace {
    /// The trace of a hook that never ran.
    pub(crate) fn not_run(ending: Ending) -> Trace {
        Trace {
            ending,
            exit: None,
            after: Duration::ZERO,
            took: Duration::ZERO,
            stdout: CapturedStream::default(),
            stderr: CapturedStream::default(),
            containment: None,
            start: None,
            notes: Vec::new(),
        }
    }
}

/// How reliably everything that a hook starts ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Ends its process group.
    Group,
    /// Ends its process group, and processes re-parented to hookrun, the subreaper.
    Sweep,
    /// Ends its process namespace.
    Namespace,
}

names! { Level: Group "group", Sweep "sweep", Namespace "pidns" }

impl Level {
    /// What ends with a hook, as a text for people.
    pub fn about(self) -> &'static str {
        match self {
            Level::Group => "its process group (group)",
            Level::Sweep => "its process group and all that left it (sweep)",
            Level::Namespace => "its process namespace (pidns)",
        }
    }
}

/// How the process of a hook that may start warm has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStart {
    /// It was forked from its interpreter before the event came, or has answered events before.
    Warm,
    /// Its interpreter began anew, for this reason.
    Cold(ColdReason),
}

impl ProcessStart {
    /// The name in output and in the log: `warm`, or the reason.
    pub fn name(self) -> &'static str {
        match self {
            ProcessStart::Warm => "warm",
            ProcessStart::Cold(reason) => reason.name(),
        }
    }
}

/// Why a hook that may start warm was started as any other hook: its interpreter began anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColdReason {
    NoScript,
    Shim,
    Options,
    Variables,
    Bounds,
    OneEvent,
    NoSubreaper,
    NotReady,
    Died,
    TooMany,
    TooLarge,
    Unusable,
}

names! {
    ColdReason: NoScript "no-script", Shim "shim", Options "options", Variables "variables",
    Bounds "bounds", OneEvent "one-event", NoSubreaper "no-subreaper", NotReady "not-ready", Died "died", TooMany "too-many", TooLarge "too-large",
    Unusable "unusable"
}

impl ColdReason {
    /// The same for people: what is in the way, and what to do if there is something to do.
    pub fn about(self) -> &'static str {
        match self {
            ColdReason::NoScript => {
                "it is not a Python script with a first line such as `#!/usr/bin/env python3` or a command such as `python3 FILE`, or its interpreter's path is relative"
            }
            ColdReason::Shim => {
                "its interpreter is a script, such as a pyenv shim; name the real one, or put its folder first in PATH"
            }
            ColdReason::Options => {
                "its interpreter has options other than -b, -B, -E, -I, -O, -P, -q, -s, -S and -u"
            }
            ColdReason::Variables => {
                "a variable changes how its interpreter starts, such as PYTHONPATH"
            }
            ColdReason::Bounds => {
                "it has a `sandbox`, a `containment`, or `limits` other than `limits.output`"
            }
            ColdReason::OneEvent => "it has `background = \"detach\"`",
            ColdReason::NoSubreaper => {
                "this program is not a child subreaper (`Runner::subreaper`), or this system is not Linux"
            }
            ColdReason::NotReady => "no interpreter or program was ready, as for the first event",
            ColdReason::Died => "the waiting process exited before the script began",
            ColdReason::TooMany => "eight other interpreters are kept, and all were used recently",
            ColdReason::TooLarge => "its environment and arguments are larger than 128 KiB",
            ColdReason::Unusable => {
                "its interpreter is not CPython 3.8 or later, or exited immediately"
            }
        }
    }
}
