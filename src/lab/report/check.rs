//! One thing that was checked: the model of all formats that CI systems read.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::engine::harmless::plain;
use crate::engine::session::checksum;
use crate::log::report::Paths;

/// Writes a report for programs.
pub fn write_json(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// What a command has checked, in its own words for people and programs, and as checks for the
/// formats that CI systems read.
pub trait CheckReport {
    /// Writes it for people.
    fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()>;

    /// The document for programs.
    fn json(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()>;

    /// The same as checks.
    fn checks(&self, paths: &Paths) -> CheckList;
}

/// All checks of one report. Every text in it is harmless.
#[derive(Debug, Default)]
pub struct CheckList {
    pub name: String,
    pub checks: Vec<Check>,
    /// How long all took together, if it was measured.
    pub took: Option<Duration>,
    /// Lines that follow the checks.
    pub totals: Vec<String>,
    /// hookrun was interrupted before all were made.
    pub is_stopped: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Check {
    pub suite: String,
    pub name: String,
    pub place: Option<CheckPlace>,
    pub state: CheckState,
    /// The first words about a failure.
    pub message: String,
    /// All that is wrong or worth knowing, in lines.
    pub details: String,
    pub written: Vec<Written>,
    pub took: Option<Duration>,
    pub annotations: Vec<Annotation>,
}

/// A place as annotations and JUnit show it.
#[derive(Debug, Clone)]
pub struct CheckPlace {
    pub file: String,
    pub line: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CheckState {
    #[default]
    Passed,
    Failed,
    /// It could not be made.
    Error,
    /// It was not made, for this reason.
    Skipped(String),
}

/// What a hook wrote to one of its streams.
#[derive(Debug, Clone)]
pub struct Written {
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    pub text: String,
}

/// A remark on a line of a file, as CI systems show it.
#[derive(Debug, Clone, Default)]
pub struct Annotation {
    /// `error`, `warning` or `notice`.
    pub level: &'static str,
    pub file: Option<String>,
    pub line: Option<u64>,
    pub col: Option<u64>,
    pub title: Option<String>,
    pub message: String,
}

impl CheckPlace {
    pub(super) fn new(file: &Path, line: usize, paths: &Paths) -> CheckPlace {
        CheckPlace {
            file: plain(&paths.show(file)),
            line: line as u64,
        }
    }
}

impl CheckList {
    /// Each annotation, with its check.
    pub(super) fn annotations(&self) -> impl Iterator<Item = (&Check, &Annotation)> {
        let checks = self.checks.iter();
        checks.flat_map(|check| check.annotations.iter().map(move |one| (check, one)))
    }
}

impl Check {
    /// What hooks wrote to this stream.
    pub(super) fn written(&self, stream: &str) -> String {
        let of_stream = self.written.iter().filter(|one| one.stream == stream);
        let texts: Vec<&str> = of_stream.map(|one| one.text.as_str()).collect();
        texts.join("\n")
    }
}

impl Annotation {
    /// What is known besides level and message.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&'static str, String)> {
        let all = [
            ("file", self.file.clone()),
            ("line", self.line.map(|line| line.to_string())),
            ("col", self.col.map(|column| column.to_string())),
            ("title", self.title.clone()),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }

    /// The message behind its title.
    pub(super) fn titled(&self) -> String {
        match &self.title {
            Some(title) => format!("{}: {}", plain(title), self.message),
            None => self.message.clone(),
        }
    }

    /// The same wherever its line moves to.
    pub(super) fn fingerprint(&self, check: &Check) -> String {
        let parts = [
            &check.suite,
            &check.name,
            self.file.as_deref().unwrap_or_default(),
            self.title.as_deref().unwrap_or_default(),
            self.level,
            &self.message,
        ];
        format!("{:016x}", checksum(parts.join("\0").as_bytes()))
    }
}

impl CheckState {
    pub fn failed_if(is_failed: bool) -> CheckState {
        if is_failed {
            CheckState::Failed
        } else {
            CheckState::Passed
        }
    }

    /// Whether it counts against the whole.
    pub fn is_bad(&self) -> bool {
        matches!(self, CheckState::Failed | CheckState::Error)
    }
}
