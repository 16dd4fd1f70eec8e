//! One thing that was checked: the model under TAP, JUnit XML, SARIF and annotations.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;

use crate::engine::session::checksum;
use crate::log::report::Paths;

/// What a command has checked, in its own words for people and programs, and as checks for the
/// formats that CI systems read.
pub trait CheckReport {
    /// Writes it for people.
    fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()>;

    /// The document for programs.
    fn json(&self, paths: &Paths) -> Value;

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
    pub line: usize,
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
#[derive(Debug, Clone)]
pub struct Annotation {
    /// `error`, `warning` or `notice`.
    pub level: &'static str,
    /// `file`, `line`, `col` and `title`, as far as they are known.
    pub properties: Vec<(&'static str, String)>,
    pub message: String,
}

impl Annotation {
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        let found = self.properties.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The same wherever its line moves to.
    pub(super) fn fingerprint(&self, check: &Check) -> String {
        let place = self.property("file").unwrap_or_default();
        let title = self.property("title").unwrap_or_default();
        let parts = [
            &check.suite,
            &check.name,
            place,
            title,
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
