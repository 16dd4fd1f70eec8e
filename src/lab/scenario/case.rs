//! A test case and its result.

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
    /// The hook folders under test, as written; if empty, those around the file.
    pub hooks: Vec<PathBuf>,
    /// Hosts' settings files, as written.
    pub settings: Vec<PathBuf>,
    /// The cases, in file order; a case with rows appears once for each row.
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
    pub host: String,
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
    /// A JSON object, as text.
    Context(PlacedValue<String>),
    Text(String),
    /// A file's content; the path is relative to the test case file.
    File(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuppliedFile {
    pub path: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// A copy of a file; the path is relative to the test case file.
    Copy(PathBuf),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    pub at: Position,
    pub values: BTreeMap<String, PlacedValue<ExpectValue>>,
    pub files: Vec<(PlacedValue<String>, FileExpectation)>,
}

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
    pub fn decision(&self) -> &str {
        match self.values.get("decision").map(|placed| &placed.value) {
            Some(ExpectValue::Word(word)) => word,
            _ => "",
        }
    }

    /// The hooks listed under a key, and its place; `None` without the key.
    pub fn hooks(&self, key: &str) -> Option<(&[String], Position)> {
        let placed = self.values.get(key)?;
        match &placed.value {
            ExpectValue::Hooks(names) => Some((names, placed.at)),
            ExpectValue::Word(_) | ExpectValue::Pattern(_) | ExpectValue::Json(_) => None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct StepResult {
    /// As written in the case.
    pub event: String,
    pub host: String,
    /// `None` if hookrun blocked before it had an event.
    pub run: Option<Box<Run>>,
    pub outcome: Outcome,
    pub reply: Reply,
}

impl StepResult {
    pub fn hooks(&self) -> &[HookRun] {
        self.run.as_ref().map_or(&[], |run| &run.hooks)
    }

    pub fn asked(&self) -> impl Iterator<Item = &HookRun> {
        let hooks = self.hooks().iter();
        hooks.filter(|hook| matches!(hook.fate, Fate::Ran(_)))
    }
}

/// Why hookrun itself failed to decide; `None` if it decided.
pub fn own_failure(outcome: &Outcome) -> Option<&str> {
    let block = outcome.block()?;
    let is_own = block.hook.is_none() && block.cause == Cause::Failure;
    is_own.then_some(block.reason.as_str())
}

#[derive(Debug, Clone)]
pub struct CaseResult {
    pub file: PathBuf,
    pub name: String,
    pub at: Position,
    /// The event of the first step, as written.
    pub event: String,
    pub end: End,
    /// The results of the steps that ran.
    pub steps: Vec<StepResult>,
    /// The total time, including setup.
    pub took: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Expected,
    Unexpected(Vec<Miss>),
    CouldNot(String),
    Skipped(String),
    /// Not reached, because an earlier case failed or hookrun was interrupted.
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
    /// The expected value.
    pub wanted: String,
    /// The actual value.
    pub found: String,
    /// The step's number, if the case has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
}
