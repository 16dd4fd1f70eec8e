//! What `doctor` and `validate` find, file by file.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::{Environment, Problem, Severity};
use crate::engine::complaint::Complaint;
use crate::lab::report::CheckFormat;
use crate::lab::report::problems::CheckedFile;

use crate::cli::decide::printed::paths;
use crate::cli::exit::{ExitStatus, Result};

#[derive(Debug, Default)]
pub(super) struct Findings {
    checks: BTreeMap<PathBuf, CheckedFile>,
}

pub(super) fn error(file: &Path, cause: impl Into<String>, cure: impl Into<String>) -> Problem {
    Complaint::with_cure(cause, cure).in_file(file, None)
}

pub(super) fn warning(file: &Path, cause: impl Into<String>, cure: impl Into<String>) -> Problem {
    Complaint::with_cure(cause, cure).warning(file, None)
}

pub(super) fn note(file: &Path, cause: impl Into<String>) -> Problem {
    Problem {
        severity: Severity::Note,
        ..Complaint::new(cause).in_file(file, None)
    }
}

impl Findings {
    pub(super) fn check(&mut self, file: &Path) -> &mut CheckedFile {
        let is_counted = !file.is_dir();
        let empty = || CheckedFile {
            is_counted,
            ..CheckedFile::new(file.to_path_buf())
        };
        self.checks.entry(file.to_path_buf()).or_insert_with(empty)
    }

    pub(super) fn add(&mut self, problem: Problem) {
        let problems = &mut self.check(&problem.file).problems;
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    pub(super) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|problem| self.add(problem));
    }

    /// Puts problems in the order of their lines, each once: a hook of two events has them twice.
    pub(super) fn tidy(&mut self) {
        for check in self.checks.values_mut() {
            check
                .problems
                .sort_by_key(|problem| problem.at.map(|at| (at.line, at.column)));
            check.problems.dedup_by(|later, first| {
                later.events.clone_from(&first.events);
                later == first
            });
        }
    }

    pub(super) fn has_error(&self) -> bool {
        self.checks.values().any(|check| !check.passes())
    }

    /// Reports on every file: 0 without errors, else 1.
    pub(super) fn report(
        &self,
        format: CheckFormat,
        env: &Environment,
        out: &mut dyn Write,
    ) -> Result {
        let checks: Vec<CheckedFile> = self.checks.values().cloned().collect();
        format.write(checks.as_slice(), &paths(format.name(), env), out)?;
        Ok(if self.has_error() {
            ExitStatus::No
        } else {
            ExitStatus::Yes
        })
    }
}
