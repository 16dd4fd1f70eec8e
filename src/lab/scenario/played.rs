//! What came of a case that was run.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::Position;
use crate::dialects::Reply;
use crate::engine::outcome::{Cause, Outcome};
use crate::engine::run::{Fate, HookRun, Run};

/// What came of one step.
#[derive(Debug, Clone)]
pub enum StepResult {
    /// The event was decided.
    Run {
        /// What happened.
        run: Box<Run>,
        /// What the host gets.
        reply: Reply,
    },
    /// hookrun refused before there was an event to decide.
    Refused {
        /// The event, as it was asked for.
        event: String,
        /// Who asked.
        host: String,
        /// What came of it.
        outcome: Box<Outcome>,
        /// What the host gets.
        reply: Reply,
    },
}

impl StepResult {
    /// What all hooks said together.
    pub fn outcome(&self) -> &Outcome {
        match self {
            StepResult::Run { run, .. } => &run.outcome,
            StepResult::Refused { outcome, .. } => outcome,
        }
    }

    /// Every hook that is bound to the event, with what became of it.
    pub fn hooks(&self) -> &[HookRun] {
        match self {
            StepResult::Run { run, .. } => &run.hooks,
            StepResult::Refused { .. } => &[],
        }
    }

    /// The hooks that ran, in their order.
    pub fn asked(&self) -> impl Iterator<Item = &HookRun> {
        self.hooks().iter().filter(|hook| matches!(hook.fate, Fate::Ran(_)))
    }

    /// What the host gets.
    pub fn reply(&self) -> &Reply {
        match self {
            StepResult::Run { reply, .. } | StepResult::Refused { reply, .. } => reply,
        }
    }

    /// How long deciding took.
    pub fn took(&self) -> Duration {
        match self {
            StepResult::Run { run, .. } => run.took,
            StepResult::Refused { .. } => Duration::ZERO,
        }
    }

    /// Why hookrun itself could not decide, if it could not.
    pub fn own_failure(&self) -> Option<&str> {
        let refusal = self.outcome().refusal()?;
        let is_own = refusal.hook.is_none() && refusal.cause == Cause::Failure;
        is_own.then_some(refusal.reason.as_str())
    }
}

/// What came of one case.
#[derive(Debug, Clone)]
pub struct Played {
    /// Its file.
    pub file: PathBuf,
    /// Its name.
    pub name: String,
    /// Where it stands in the file.
    pub at: Position,
    /// The event of its first step, as written.
    pub event: String,
    /// How it ended.
    pub end: End,
    /// What came of each of its steps, as far as it got.
    pub steps: Vec<StepResult>,
    /// How long it took, with everything around its hooks.
    pub took: Duration,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Everything came back as it says.
    Expected,
    /// Something did not.
    Unexpected(Vec<Miss>),
    /// It could not be tried, for this reason.
    CouldNot(String),
    /// It says that it is not to be run, for this reason.
    Skipped(String),
    /// It was not reached any more: an earlier one had failed, or hookrun was interrupted.
    NotRun,
}

impl End {
    /// Its name in `--format json`.
    pub fn name(&self) -> &'static str {
        match self {
            End::Expected => "expected",
            End::Unexpected(_) => "unexpected",
            End::CouldNot(_) => "could-not",
            End::Skipped(_) => "skipped",
            End::NotRun => "not-run",
        }
    }

    /// Whether it speaks against the hooks or the case.
    pub fn is_bad(&self) -> bool {
        matches!(self, End::Unexpected(_) | End::CouldNot(_))
    }
}

/// One thing that is not as a case says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The step, where the case has several.
    pub step: Option<usize>,
    /// The key of `expect`: `decision`, `reply.stdout`.
    pub key: String,
    /// Where the expectation stands.
    pub at: Position,
    /// What it says.
    pub wanted: String,
    /// What there was.
    pub found: String,
}
