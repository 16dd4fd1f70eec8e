//! One case: an input, and what must come back.
//!
//! Cases are read from files of TOML, each mistake with its place and its cure, and what came back
//! is compared with what they expect. Nothing is run and no file is opened here.

mod compare;
pub mod coverage;
mod fill;
pub mod keys;
pub mod mutation;
mod reader;
mod rows;
mod slips;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::config::Position;
use crate::dialects::Reply;
use crate::engine::outcome::{Cause, Outcome};
use crate::engine::run::{Fate, HookRun, Run};

pub use compare::{Miss, StepOutcome, misses};
pub use coverage::Never;
pub use fill::{CaseFolders, TOKENS, TokenRow};
pub use reader::{has_cases, read};
pub use slips::Keys;

/// A file of cases.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The folders with the hooks under test, as written; none for those around the file.
    pub hooks: Vec<Placed<PathBuf>>,
    /// Settings files of hosts, as written.
    pub settings: Vec<Placed<PathBuf>>,
    /// What its hooks never do, so that no case can show it.
    pub never: Vec<Never>,
    /// The cases, in the order of the file; of a case with rows, one for each.
    pub cases: Vec<Case>,
}

/// A value, and where it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub at: Position,
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The sentence that it proves; one of a kind in its file.
    pub name: String,
    /// The case, or its row.
    pub at: Position,
    /// Why it is not run.
    pub skip: Option<String>,
    /// Variables of the environment.
    pub env: Vec<(String, String)>,
    /// What lies in its folder at first.
    pub files: Vec<Laid>,
    /// Lines for the shell before the first step.
    pub setup: Vec<Placed<String>>,
    /// What is asked, one after the other.
    pub steps: Vec<CaseStep>,
}

/// One event of a case, and what must come back.
#[derive(Debug, Clone)]
pub struct CaseStep {
    /// Its number, where the case has several.
    pub number: Option<usize>,
    /// The event, in the host's words or in ours.
    pub event: Placed<String>,
    /// Who asks: `native`, or a dialect.
    pub host: Placed<String>,
    /// The only hooks that are asked; empty for all.
    pub hooks: Vec<Placed<String>>,
    /// What comes on stdin.
    pub input: StepInput,
    /// What is laid out before it.
    pub files: Vec<Laid>,
    /// Lines for the shell before it.
    pub setup: Vec<Placed<String>>,
    /// What must come back.
    pub expect: Expect,
}

/// What comes on stdin.
#[derive(Debug, Clone, PartialEq)]
pub enum StepInput {
    /// An empty context.
    Nothing,
    /// A context.
    Context(Placed<Value>),
    /// A context whose every byte is kept.
    Json(Placed<String>),
    /// These bytes, whatever they are.
    Text(String),
    /// What is in this file, relative to the file of cases.
    File(Placed<PathBuf>),
}

/// A file that is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Laid {
    /// Its path in the case's folder.
    pub path: Placed<String>,
    /// What is in it.
    pub content: Content,
    /// Its permissions.
    pub mode: Option<u32>,
}

/// What is in a file that is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// This text.
    Text(String),
    /// What is in another file, relative to the file of cases.
    Copy(PathBuf),
}

/// What must come back. What is `None` or empty here and not said to mean *any* must not be there.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    /// Where it stands.
    pub at: Position,
    /// `allow`, `block` or `ask`.
    pub decision: Placed<String>,
    /// A pattern for the reason or the question; `None` for any.
    pub reason: Option<Placed<String>>,
    /// The hooks that decided; `None` for any.
    pub by: Option<Placed<Vec<String>>>,
    /// The hooks that ran; `None` for any.
    pub asked: Option<Placed<Vec<String>>>,
    /// The hooks that failed.
    pub failed: Placed<Vec<String>>,
    /// A pattern for the texts to show.
    pub output: Option<Placed<String>>,
    /// A pattern for the texts for the model.
    pub context: Option<Placed<String>>,
    /// A pattern for what decided nothing.
    pub notice: Option<Placed<String>>,
    /// A pattern for the findings, a line each; `None` for any.
    pub findings: Option<Placed<String>>,
    /// The fields that were rewritten, with their new values.
    pub rewrites: Placed<Value>,
    /// The exit status of the reply; `None` for any.
    pub status: Option<Placed<i64>>,
    /// The reply's stdout.
    pub stdout: Option<Placed<Stdout>>,
    /// A pattern for the reply's stderr; `None` for any.
    pub stderr: Option<Placed<String>>,
    /// How long deciding may take; `None` for as long as it likes.
    pub within: Option<Placed<Duration>>,
    /// What lies in the case's folder afterwards.
    pub files: Vec<(Placed<String>, Left)>,
}

/// What the stdout of a reply must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Stdout {
    /// This document.
    Json(Value),
    /// A match of this pattern.
    Pattern(String),
}

/// What must have become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// It is there, with a text that this pattern matches.
    Pattern(String),
    /// It is there.
    There,
    /// It is not there.
    Gone,
}

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
