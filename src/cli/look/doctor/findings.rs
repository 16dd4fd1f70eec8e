//! What `doctor` finds, file by file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::{Problem, Severity};
use crate::engine::complaint::Complaint;
use crate::lab::report::problems::CheckedFile;

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
    Problem { severity: Severity::Note, ..Complaint::new(cause).in_file(file, None) }
}

impl Findings {
    pub(super) fn check(&mut self, file: &Path) -> &mut CheckedFile {
        let empty = || CheckedFile::new(file.to_path_buf());
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

    pub(super) fn has_error(&self) -> bool {
        self.checks.values().any(|check| !check.passes())
    }

    pub(super) fn into_checks(self) -> Vec<CheckedFile> {
        self.checks.into_values().collect()
    }
}
