//! A file of cases after parsing: each case has inputs and expectations.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::coverage::Never;
use crate::config::{Placed, Position};

#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The folders with the hooks under test, as written; if empty, those around the file.
    pub hooks: Vec<Placed<PathBuf>>,
    /// Settings files of hosts, as written.
    pub settings: Vec<Placed<PathBuf>>,
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
    pub files: Vec<Laid>,
    pub setup: Vec<Placed<String>>,
    pub steps: Vec<CaseStep>,
}

#[derive(Debug, Clone)]
pub struct CaseStep {
    pub number: Option<usize>,
    pub event: Placed<String>,
    /// `native` or a dialect.
    pub host: Placed<String>,
    /// The only hooks that run; empty for all.
    pub hooks: Vec<Placed<String>>,
    pub input: StepInput,
    pub files: Vec<Laid>,
    pub setup: Vec<Placed<String>>,
    pub expect: Expect,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepInput {
    Nothing,
    Context(Placed<Value>),
    /// A context that is passed on byte for byte.
    Json(Placed<String>),
    Text(String),
    /// The content of this file; its path is relative to the file of cases.
    File(Placed<PathBuf>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Laid {
    pub path: Placed<String>,
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
    pub decision: Placed<String>,
    /// A pattern for the reason or the question; `None` for any.
    pub reason: Option<Placed<String>>,
    /// The hooks that decided; `None` for any.
    pub by: Option<Placed<Vec<String>>>,
    /// The hooks that ran; `None` for any.
    pub asked: Option<Placed<Vec<String>>>,
    pub failed: Placed<Vec<String>>,
    pub output: Option<Placed<String>>,
    pub context: Option<Placed<String>>,
    pub notice: Option<Placed<String>>,
    /// A pattern for the findings, one per line; `None` for any.
    pub findings: Option<Placed<String>>,
    pub rewrites: Placed<Map<String, Value>>,
    /// The exit status of the reply; `None` for any.
    pub status: Option<Placed<i64>>,
    pub stdout: Option<Placed<Stdout>>,
    /// A pattern for the reply's stderr; `None` for any.
    pub stderr: Option<Placed<String>>,
    /// How long the decision may take; `None` for no limit.
    pub within: Option<Placed<Duration>>,
    pub files: Vec<(Placed<String>, Left)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Stdout {
    Json(Value),
    Pattern(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    Pattern(String),
    There,
    Gone,
}

impl Expect {
    pub(super) fn new(at: Position) -> Expect {
        let mut expect = Expect { at, ..Expect::default() };
        (expect.decision.at, expect.failed.at, expect.rewrites.at) = (at, at, at);
        expect
    }
}
