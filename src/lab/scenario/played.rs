//! The result of a case that ran.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::Position;
use crate::engine::outcome::{Cause, Outcome};
use crate::engine::run::{Fate, HookRun, Run};
use crate::hosts::Reply;

#[derive(Debug, Clone)]
pub enum StepResult {
    Run {
        run: Box<Run>,
        reply: Reply,
    },
    /// hookrun refused before it had an event to decide.
    Refused {
        event: String,
        host: String,
        outcome: Box<Outcome>,
        reply: Reply,
    },
}

impl StepResult {
    pub fn outcome(&self) -> &Outcome {
        match self {
            StepResult::Run { run, .. } => &run.outcome,
            StepResult::Refused { outcome, .. } => outcome,
        }
    }

    /// Every hook bound to the event, with its fate.
    pub fn hooks(&self) -> &[HookRun] {
        match self {
            StepResult::Run { run, .. } => &run.hooks,
            StepResult::Refused { .. } => &[],
        }
    }

    pub fn asked(&self) -> impl Iterator<Item = &HookRun> {
        self.hooks()
            .iter()
            .filter(|hook| matches!(hook.fate, Fate::Ran(_)))
    }

    pub fn reply(&self) -> &Reply {
        match self {
            StepResult::Run { reply, .. } | StepResult::Refused { reply, .. } => reply,
        }
    }

    pub fn took(&self) -> Duration {
        match self {
            StepResult::Run { run, .. } => run.took,
            StepResult::Refused { .. } => Duration::ZERO,
        }
    }

    /// Why hookrun itself could not decide; `None` if it could.
    pub fn own_failure(&self) -> Option<&str> {
        let refusal = self.outcome().refusal()?;
        let is_own = refusal.hook.is_none() && refusal.cause == Cause::Failure;
        is_own.then_some(refusal.reason.as_str())
    }
}

#[derive(Debug, Clone)]
pub struct CaseResult {
    pub file: PathBuf,
    pub name: String,
    pub at: Position,
    /// The event of its first step, as written.
    pub event: String,
    pub end: End,
    /// The results of its steps, as far as it got.
    pub steps: Vec<StepResult>,
    /// How long it took, including the work around its hooks.
    pub took: Duration,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Expected,
    Unexpected(Vec<Miss>),
    CouldNot(String),
    Skipped(String),
    /// Not reached: an earlier case had failed, or hookrun was interrupted.
    NotRun,
}

impl End {
    pub fn name(&self) -> &'static str {
        match self {
            End::Expected => "expected",
            End::Unexpected(_) => "unexpected",
            End::CouldNot(_) => "could-not",
            End::Skipped(_) => "skipped",
            End::NotRun => "not-run",
        }
    }

    /// Whether it shows a fault in the hooks or the case.
    pub fn is_bad(&self) -> bool {
        matches!(self, End::Unexpected(_) | End::CouldNot(_))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The step, if the case has several.
    pub step: Option<usize>,
    /// The key of `expect`, such as `decision` or `reply.stdout`.
    pub key: String,
    pub at: Position,
    pub wanted: String,
    pub found: String,
}
