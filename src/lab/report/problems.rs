//! The problems of a configuration, by file.

use std::io::{self, Write};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{Annotation, Check, CheckList, CheckReport, CheckState, write_json};
use super::style::{BAD, DIM, DOUBT, GOOD, counted};
use crate::config::{Problem, Severity};
use crate::engine::harmless::plain;
use crate::log::report::{Paths, VERSION};

const NAME: &str = "hookrun validate";

#[derive(Debug, Clone, Default)]
pub struct CheckedFile {
    pub file: PathBuf,
    /// A file of hooks or configuration, not a folder or a test case file.
    pub is_counted: bool,
    pub hooks: usize,
    pub problems: Vec<Problem>,
}

impl CheckedFile {
    pub fn new(file: PathBuf) -> CheckedFile {
        CheckedFile {
            file,
            ..CheckedFile::default()
        }
    }

    pub fn passes(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.severity != Severity::Error)
    }

    fn check(&self, paths: &Paths) -> Check {
        let texts = self
            .problems
            .iter()
            .map(|problem| problem_text(problem, paths));
        Check {
            suite: NAME.to_string(),
            name: plain(&paths.show(&self.file)),
            state: CheckState::failed_if(!self.passes()),
            message: self
                .problems
                .first()
                .map(|first| plain(&first.cause))
                .unwrap_or_default(),
            details: texts.collect::<Vec<_>>().join("\n"),
            annotations: self
                .problems
                .iter()
                .map(|problem| annotation(problem, paths))
                .collect(),
            ..Check::default()
        }
    }
}

impl CheckReport for [CheckedFile] {
    fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
        let problems = || self.iter().flat_map(|file| &file.problems);
        for problem in problems() {
            let style = match problem.severity {
                Severity::Error => BAD,
                Severity::Warning => DOUBT,
                Severity::Note => DIM,
            };
            let whole = problem_text(problem, paths);
            let rest = whole
                .strip_prefix(problem.severity.name())
                .unwrap_or(&whole);
            writeln!(out, "{style}{}{style:#}{rest}", problem.severity.name())?;
        }
        let count = |severity| problems().filter(|one| one.severity == severity).count();
        let errors = count(Severity::Error);
        let (style, verdict) = if errors == 0 {
            (GOOD, "ok".to_string())
        } else {
            (BAD, counted(errors, "error"))
        };
        let doubts = match count(Severity::Warning) {
            0 => String::new(),
            warnings => format!(", {}", counted(warnings, "warning")),
        };
        let hooks = self.iter().map(|file| file.hooks).sum::<usize>();
        let files = self.iter().filter(|file| file.is_counted).count();
        let checked = if files == 0 && errors > 0 {
            String::new()
        } else {
            format!(": {}, {}", counted(files, "file"), counted(hooks, "hook"))
        };
        writeln!(out, "{style}{verdict}{style:#}{doubts}{checked}")
    }

    fn json(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
        let files = self.iter().map(|file| FileReport {
            file: paths.show(&file.file),
            hooks: file.hooks,
            ok: file.passes(),
            problems: file.problems.clone(),
        });
        let files = files.collect();
        let ok = self.iter().all(CheckedFile::passes);
        let version = VERSION;
        write_json(&FilesReport { version, ok, files }, out)
    }

    fn checks(&self, paths: &Paths) -> CheckList {
        let checks = self.iter().map(|file| file.check(paths)).collect();
        CheckList {
            name: NAME.to_string(),
            checks,
            ..CheckList::default()
        }
    }
}

/// A problem as text, with its file as `paths` shows it.
pub fn problem_text(problem: &Problem, paths: &Paths) -> String {
    let shown = Problem {
        file: PathBuf::from(plain(&paths.show(&problem.file))),
        cause: plain(&problem.cause),
        cure: problem.cure.as_deref().map(plain),
        ..problem.clone()
    };
    shown.to_string()
}

fn annotation(problem: &Problem, paths: &Paths) -> Annotation {
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
        file: Some(paths.show(&problem.file)),
        line: problem.at.map(|at| at.line as u64),
        col: problem.at.map(|at| at.column as u64),
        message,
        ..Annotation::default()
    }
}

/// The JSON output of `validate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FilesReport {
    version: u32,
    /// True without errors.
    ok: bool,
    files: Vec<FileReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileReport {
    file: String,
    /// The number of hooks.
    hooks: usize,
    /// True without errors.
    ok: bool,
    problems: Vec<Problem>,
}
