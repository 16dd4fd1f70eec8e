//! The problems of a configuration, by file.

use std::io::{self, Write};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{Annotation, Check, CheckList, CheckReport, CheckState};
use super::style::{BAD, DIM, DOUBT, GOOD, counted};
use crate::config::{Problem, Severity};
use crate::engine::harmless::plain;
use crate::log::report::{Paths, VERSION};

const NAME: &str = "hookrun validate";

/// The JSON output of `validate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FilesReport {
    version: u32,
    /// True without errors.
    ok: bool,
    files: Vec<CheckedFile>,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct CheckedFile {
    pub file: PathBuf,
    /// A file of hooks or configuration, not a folder or a test case file.
    #[serde(skip)]
    pub is_counted: bool,
    /// The number of hooks.
    pub hooks: usize,
    /// True without errors.
    pub(crate) ok: bool,
    pub problems: Vec<Problem>,
}

impl CheckedFile {
    pub fn passes(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.severity != Severity::Error)
    }

    fn check(&self) -> Check {
        let texts: Vec<String> = self.problems.iter().map(plain_problem).collect();
        let first = self.problems.first();
        Check {
            suite: NAME.to_string(),
            name: plain(&self.file.to_string_lossy()),
            state: CheckState::failed_if(!self.ok),
            message: first.map(|first| plain(&first.cause)).unwrap_or_default(),
            details: texts.join("\n"),
            annotations: self.problems.iter().map(annotation).collect(),
            ..Check::default()
        }
    }
}

impl FilesReport {
    /// The report of `files`, with their paths as `paths` shows them.
    pub fn new(files: impl IntoIterator<Item = CheckedFile>, paths: &Paths) -> FilesReport {
        let mut files: Vec<CheckedFile> = files.into_iter().collect();
        for file in &mut files {
            file.ok = file.passes();
            file.file = paths.show(&file.file).into();
            for problem in &mut file.problems {
                problem.file.clone_from(&file.file);
            }
        }
        FilesReport {
            version: VERSION,
            ok: files.iter().all(|file| file.ok),
            files,
        }
    }
}

impl CheckReport for FilesReport {
    fn human(&self, out: &mut dyn Write) -> io::Result<()> {
        let problems: Vec<&Problem> = self.files.iter().flat_map(|file| &file.problems).collect();
        for problem in &problems {
            let style = match problem.severity {
                Severity::Error => BAD,
                Severity::Warning => DOUBT,
                Severity::Note => DIM,
            };
            let severity = problem.severity.name();
            let whole = plain_problem(problem);
            let rest = whole.strip_prefix(severity).unwrap_or(&whole);
            writeln!(out, "{style}{severity}{style:#}{rest}")?;
        }
        let errors = count(&problems, Severity::Error);
        let (style, verdict) = match errors {
            0 => (GOOD, "ok".to_string()),
            errors => (BAD, counted(errors, "error")),
        };
        let doubts = match count(&problems, Severity::Warning) {
            0 => String::new(),
            warnings => format!(", {}", counted(warnings, "warning")),
        };
        let hooks = self.files.iter().map(|file| file.hooks).sum::<usize>();
        let files = self.files.iter().filter(|file| file.is_counted).count();
        let checked = if files == 0 && errors > 0 {
            String::new()
        } else {
            format!(": {}, {}", counted(files, "file"), counted(hooks, "hook"))
        };
        writeln!(out, "{style}{verdict}{style:#}{doubts}{checked}")
    }

    fn checks(&self) -> CheckList {
        CheckList {
            name: NAME.to_string(),
            checks: self.files.iter().map(CheckedFile::check).collect(),
            ..CheckList::default()
        }
    }
}

fn count(problems: &[&Problem], severity: Severity) -> usize {
    let of_it = problems.iter().filter(|one| one.severity == severity);
    of_it.count()
}

/// A problem as text, with its file as `paths` shows it.
pub fn problem_text(problem: &Problem, paths: &Paths) -> String {
    plain_problem(&Problem {
        file: paths.show(&problem.file).into(),
        ..problem.clone()
    })
}

pub(super) fn plain_problem(problem: &Problem) -> String {
    let shown = Problem {
        file: PathBuf::from(plain(&problem.file.to_string_lossy())),
        cause: plain(&problem.cause),
        cure: problem.cure.as_deref().map(plain),
        ..problem.clone()
    };
    shown.to_string()
}

fn annotation(problem: &Problem) -> Annotation {
    let mut message = problem.cause.clone();
    if let Some(cure) = &problem.cure {
        message.push_str(&format!("\nhelp: {cure}"));
    }
    Annotation {
        level: match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        },
        file: Some(problem.file.display().to_string()),
        line: problem.at.map(|at| at.line as u64),
        col: problem.at.map(|at| at.column as u64),
        message,
        ..Annotation::default()
    }
}
