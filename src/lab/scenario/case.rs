//! A file of cases after parsing: each case has inputs and expectations.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::coverage::Never;
use crate::config::{PlacedValue, Position};

#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The folders with the hooks under test, as written; if empty, those around the file.
    pub hooks: Vec<PlacedValue<PathBuf>>,
    /// Settings files of hosts, as written.
    pub settings: Vec<PlacedValue<PathBuf>>,
    pub never: Vec<Never>,
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
    pub setup: Vec<PlacedValue<String>>,
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
    pub setup: Vec<PlacedValue<String>>,
    pub expect: Expect,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepInput {
    Nothing,
    Context(PlacedValue<Value>),
    /// A context that is passed on byte for byte.
    Json(PlacedValue<String>),
    Text(String),
    /// The content of this file; its path is relative to the file of cases.
    File(PlacedValue<PathBuf>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuppliedFile {
    pub path: PlacedValue<String>,
    pub content: Content,
    pub mode: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// A copy of another file; its path is relative to the file of cases.
    Copy(PathBuf),
}

/// The expected result. Where `None` or empty does not mean *any* here, the result must have none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    pub at: Position,
    /// `allow`, `block` or `ask`.
    pub decision: PlacedValue<String>,
    /// A pattern for the reason or the question; `None` for any.
    pub reason: Option<PlacedValue<String>>,
    /// The hooks that decided; `None` for any.
    pub by: Option<PlacedValue<Vec<String>>>,
    /// The hooks that ran; `None` for any.
    pub asked: Option<PlacedValue<Vec<String>>>,
    pub failed: PlacedValue<Vec<String>>,
    pub output: Option<PlacedValue<String>>,
    pub context: Option<PlacedValue<String>>,
    pub notice: Option<PlacedValue<String>>,
    /// A pattern for the findings, one per line; `None` for any.
    pub findings: Option<PlacedValue<String>>,
    pub rewrites: PlacedValue<Map<String, Value>>,
    /// The exit status of the reply; `None` for any.
    pub status: Option<PlacedValue<i64>>,
    pub stdout: Option<PlacedValue<Stdout>>,
    /// A pattern for the reply's stderr; `None` for any.
    pub stderr: Option<PlacedValue<String>>,
    /// How long the decision may take; `None` for no limit.
    pub within: Option<PlacedValue<Duration>>,
    pub files: Vec<(PlacedValue<String>, FileExpectation)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Stdout {
    Json(Value),
    Pattern(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileExpectation {
    Pattern(String),
    There,
    Gone,
}

impl Expect {
    pub(super) fn new(at: Position) -> Expect {
        let mut expect = Expect {
            at,
            ..Expect::default()
        };
        (expect.decision.at, expect.failed.at, expect.rewrites.at) = (at, at, at);
        expect
    }
}
