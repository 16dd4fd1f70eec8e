//! The result of running a plan: a [`HookRun`] for every hook, and the outcome.

mod trace_context;

use std::sync::Arc;
use std::time::Duration;

pub use crate::engine::ending::{
    CapturedStream, Ending, Exit, FAILURES, FailureRow, interruption, signal_name,
};
use crate::engine::event::{Event, OnFailure};
use crate::engine::hook::{Hook, HookSource, Mismatch};
use crate::engine::names::names;
use crate::engine::outcome::{Block, Outcome};
pub use trace_context::TraceContext;

/// The decision about one event.
#[derive(Debug, Clone)]
pub struct Run {
    /// The event with all rewrites.
    pub event: Event,
    /// All hooks of the event in plan order, including skipped ones.
    pub hooks: Vec<HookRun>,
    /// Merged verdicts.
    pub outcome: Outcome,
    /// Time to decide.
    pub took: Duration,
    /// Trace context, if hooks ran.
    pub trace: Option<TraceContext>,
}

impl Run {
    /// Returns whether the action may happen. Call this before the action.
    ///
    /// An unanswered question is a block here. A host that can ask people checks
    /// [`Outcome::settled`] first and passes the answer to [`Outcome::answered`].
    ///
    /// # Errors
    /// Returns why the action is blocked.
    #[must_use = "an action without a permit must not happen"]
    pub fn permit(self) -> Result<Allowed, Block> {
        let outcome = self.outcome.answered(false, "no answer");
        match outcome.block() {
            Some(block) => Err(block.clone()),
            None => Ok(Allowed {
                event: self.event,
                outcome,
            }),
        }
    }
}

/// A permitted action: not blocked, and without open questions.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The event with the hooks' rewrites. Perform this, not the original action.
    pub event: Event,
    /// Output, context for the model, findings.
    pub outcome: Outcome,
}

/// One hook's part in a run.
#[derive(Debug, Clone)]
pub struct HookRun {
    pub hook: String,
    pub source: HookSource,
    /// Meaning of a failure: the hook's setting, else the event's.
    pub on_failure: OnFailure,
    /// Timeout: the hook's setting, else the event's.
    pub timeout: Duration,
    /// Whether it is a function rather than a program.
    pub is_function: bool,
    pub fate: Fate,
    configured: Arc<Hook>,
}

impl HookRun {
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

    pub(crate) fn has_started(&self) -> bool {
        match &self.fate {
            Fate::Disabled | Fate::Idle(_) | Fate::Unwanted(_) | Fate::Unreached => false,
            Fate::Detached => true,
            Fate::Ran(trace) => trace.has_started,
        }
    }

    /// Describes its matcher.
    #[doc(hidden)]
    pub fn wants(&self) -> String {
        self.configured.matcher.to_string()
    }
}

/// Result for one hook.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Its spec says `enabled = false`.
    Disabled,
    /// Enabled, but skipped for this reason.
    Idle(String),
    /// Its matcher does not match the event.
    Unwanted(Mismatch),
    /// The event was settled before its turn.
    Unreached,
    /// Started without waiting for it.
    Detached,
    Ran(Box<Trace>),
}

/// Details of a hook's run.
#[derive(Debug, Clone)]
pub struct Trace {
    pub ending: Ending,
    /// Exit of its process, if known.
    pub exit: Option<Exit>,
    /// Time from the start of the run to the start of its step.
    pub after: Duration,
    /// Run time, including draining its output.
    pub took: Duration,
    pub stdout: CapturedStream,
    pub stderr: CapturedStream,
    /// Whether a process of it started.
    pub has_started: bool,
    /// How its process started, if it may start warm and a long-running program asked.
    pub start: Option<ProcessStart>,
    /// Notes for the hook's author, such as ignored keys and leftover processes.
    pub notes: Vec<String>,
}

impl Trace {
    pub(crate) fn not_run(ending: Ending) -> Trace {
        Trace {
            ending,
            exit: None,
            after: Duration::ZERO,
            took: Duration::ZERO,
            stdout: CapturedStream::default(),
            stderr: CapturedStream::default(),
            has_started: false,
            start: None,
            notes: Vec::new(),
        }
    }
}

/// How a hook that may start warm was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStart {
    /// Forked from its interpreter before the event, or still running from an earlier event.
    Warm,
    /// A new interpreter, for this reason.
    Cold(ColdReason),
}

impl ProcessStart {
    /// Returns the name in output and in the log: `warm`, or the reason.
    pub fn name(self) -> &'static str {
        match self {
            ProcessStart::Warm => "warm",
            ProcessStart::Cold(reason) => reason.name(),
        }
    }
}

/// Begins a note on a warm start that saved less time than it could.
pub(crate) const WARM_NOTE: &str = "warm start: ";

/// Why a hook that may start warm started cold.
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
    /// Describes the reason and, if there is one, the cure.
    pub fn about(self) -> &'static str {
        match self {
            ColdReason::NoScript => {
                "it is not a Python script with a first line such as `#!/usr/bin/env python3` or a command such as `python3 FILE`, or its interpreter's path is relative"
            }
            ColdReason::Shim => {
                "its interpreter is a script, such as a pyenv shim; name the real interpreter, or put its folder first in PATH"
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
            ColdReason::NotReady => "no interpreter or program was ready, as at the first event",
            ColdReason::Died => "the waiting process exited before the script began",
            ColdReason::TooMany => {
                "hookrun keeps at most eight interpreters ready, and eight others were used more recently"
            }
            ColdReason::TooLarge => "its environment and arguments are larger than 128 KiB",
            ColdReason::Unusable => {
                "its interpreter is not CPython 3.8 or later, or exited immediately"
            }
        }
    }
}
