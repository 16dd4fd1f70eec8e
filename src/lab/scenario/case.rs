//! A file of cases as it is read: each case has inputs, and what must come back.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::coverage::Never;
use crate::config::{Placed, Position};

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

impl Expect {
    /// An expectation at `at` that says nothing yet.
    pub(super) fn new(at: Position) -> Expect {
        Expect {
            at,
            decision: Placed { value: String::new(), at },
            reason: None,
            by: None,
            asked: None,
            failed: Placed { value: Vec::new(), at },
            output: None,
            context: None,
            notice: None,
            findings: None,
            rewrites: Placed { value: serde_json::json!({}), at },
            status: None,
            stdout: None,
            stderr: None,
            within: None,
            files: Vec::new(),
        }
    }
}
