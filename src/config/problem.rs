//! A problem of a configuration: file, line, column, cause and cure.

use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::names::names;
use crate::hosts::events_called;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// Whether it blocks gates.
    pub severity: Severity,
    #[serde(skip)]
    pub file: PathBuf,
    /// The mistake.
    pub cause: String,
    /// The position; `None` for the whole file.
    #[serde(flatten)]
    pub at: Option<Position>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
    /// The events of the hook concerned, as written; empty if unknown, which means any.
    #[serde(skip)]
    pub events: Vec<String>,
}

/// A position in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Position {
    pub(super) fn of_line(line: usize) -> Position {
        Position { line, column: 1 }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacedValue<T> {
    pub value: T,
    pub at: Position,
}

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Blocks every gate until it is fixed.
    Error,
    /// A probable mistake; hooks run.
    Warning,
    Note,
}

names! { Severity: Error "error", Warning "warning", Note "note" }

impl Complaint {
    pub(crate) fn in_file(self, file: &Path, at: Option<Position>) -> Problem {
        self.problem(Severity::Error, file, at)
    }

    pub(crate) fn warning(self, file: &Path, at: Option<Position>) -> Problem {
        self.problem(Severity::Warning, file, at)
    }

    pub(crate) fn problem(self, severity: Severity, file: &Path, at: Option<Position>) -> Problem {
        Problem {
            severity,
            file: file.to_path_buf(),
            at,
            cause: self.cause,
            cure: self.cure,
            events: Vec::new(),
        }
    }
}

/// Converts offsets to positions, counting lines only when needed.
#[derive(Debug)]
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: OnceCell<Vec<usize>>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn of(text: &'t str) -> LineIndex<'t> {
        LineIndex {
            text,
            starts: OnceCell::new(),
        }
    }

    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts().partition_point(|start| *start <= offset)
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let next = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(next).collect()
        })
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.line(offset);
        let start = self.starts().get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        let column = before.chars().count() + 1;
        Position { line, column }
    }
}

/// Decodes UTF-8, or returns the position of the first invalid byte.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String, Position> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..good]);
        LineIndex::of(&text).position(good)
    })
}

impl Problem {
    /// Whether it may concern a hook of `spec`; an unknown event name may be any.
    pub(crate) fn may_be_of(&self, spec: &EventSpec) -> bool {
        self.events.is_empty()
            || self.events.iter().any(|name| {
                let meant = events_called(name);
                meant.is_empty() || meant.contains(&spec.name.as_ref())
            })
    }

    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The place in compilers' notation: `hookrun.toml:4:1`.
    pub fn place(&self) -> String {
        match self.at {
            Some(at) => format!("{}:{}:{}", self.file.display(), at.line, at.column),
            None => self.file.display().to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = self.severity.name();
        write!(f, "{severity}: {}: {}", self.place(), self.cause)?;
        if let Some(cure) = &self.cure {
            write!(f, "\n  help: {cure}")?;
        }
        Ok(())
    }
}
