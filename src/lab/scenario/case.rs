//! What a case is, and what came of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::config::{PlacedValue, Position};
use crate::engine::outcome::{Cause, Outcome};
use crate::engine::run::{Fate, HookRun, Run};
use crate::hosts::Reply;

#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The folders with the hooks under test, as written; if empty, those around the file.
    pub hooks: Vec<PathBuf>,
    /// Settings files of hosts, as written.
    pub settings: Vec<PathBuf>,
    /// The cases, in file order. A case with rows appears once for each row.
    pub cases: Vec<Case>,
}

#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub at: Position,
    pub skip: Option<String>,
    pub env: Vec<(String, String)>,
    pub files: Vec<SuppliedFile>,
    pub setup: Vec<String>,
    pub steps: Vec<CaseStep>,
}

#[derive(Debug, Clone)]
pub struct CaseStep {
    pub number: Option<usize>,
    pub event: PlacedValue<String>,
    /// `native` or a dialect.
    pub host: PlacedValue<String>,
    /// The only hooks that run; empty for all.
    pub hooks: Vec<PlacedValue<String>>,
    pub input: StepInput,
    pub files: Vec<SuppliedFile>,
    pub setup: Vec<String>,
    pub expect: Expect,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepInput {
    Nothing,
    Context(PlacedValue<Value>),
    /// A context that is passed on byte for byte.
    Json(PlacedValue<String>),
    Text(String),
    /// The content of this file; its path is relative to the test case file.
    File(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuppliedFile {
    pub path: String,
    pub content: Content,
    pub mode: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// A copy of another file; its path is relative to the test case file.
    Copy(PathBuf),
}

/// The expected result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    pub at: Position,
    /// What the case says, by the names of the keys.
    pub values: BTreeMap<String, PlacedValue<ExpectValue>>,
    pub files: Vec<(PlacedValue<String>, FileExpectation)>,
}

/// The value of a key of `expect`.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpectValue {
    Word(String),
    Pattern(String),
    Hooks(Vec<String>),
    Json(Value),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileExpectation {
    Pattern(String),
    There,
    Gone,
}

impl Expect {
    /// `allow`, `block` or `ask`.
    pub fn decision(&self) -> &str {
        match self.values.get("decision").map(|placed| &placed.value) {
            Some(ExpectValue::Word(word)) => word,
            _ => "",
        }
    }

    /// The hooks that a key names, and its place; `None` if the case does not have the key.
    pub fn hooks(&self, key: &str) -> Option<(&[String], Position)> {
        let placed = self.values.get(key)?;
        match &placed.value {
            ExpectValue::Hooks(names) => Some((names, placed.at)),
            ExpectValue::Word(_) | ExpectValue::Pattern(_) | ExpectValue::Json(_) => None,
        }
    }
}

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Miss {
    /// The key of `expect`, such as `decision` or `reply.stdout`.
    pub key: String,
    /// The place of the expectation.
    #[serde(flatten)]
    pub at: Position,
    /// What the case expects.
    pub wanted: String,
    /// What it got.
    pub found: String,
    /// The number of the step, if the case has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
}
