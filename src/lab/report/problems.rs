//! The state of a configuration, file by file, in every format that CI systems read.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::github::annotation;
use super::{Paths, plain};
use crate::config::{Problem, Severity};

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DOUBT: Style = AnsiColor::Yellow.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// One file that was checked.
#[derive(Debug, Clone)]
pub struct Check {
    /// The file.
    pub file: PathBuf,
    /// How many hooks it gives.
    pub hooks: usize,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl Check {
    /// Whether nothing in it keeps gates closed.
    pub fn passes(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity != Severity::Error)
    }
}

/// A format: its name, and the function that writes it.
pub type ProblemFormat = (&'static str, fn(&[Check], &Paths, &mut dyn Write) -> io::Result<()>);

/// The formats of `hookrun validate`.
pub const FORMATS: &[ProblemFormat] = &[
    ("human", human),
    ("json", json_document),
    ("junit", super::junit::problems),
    ("tap", tap),
    ("github", github),
];

/// A problem as one text, its file as `paths` shows it.
pub fn problem_text(problem: &Problem, paths: &Paths) -> String {
    let shown = Problem {
        file: PathBuf::from(plain(&paths.show(&problem.file))),
        cause: plain(&problem.cause),
        cure: problem.cure.as_deref().map(plain),
        ..problem.clone()
    };
    shown.to_string()
}

fn human(checks: &[Check], paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    for check in checks {
        for problem in &check.problems {
            let style = match problem.severity {
                Severity::Error => BAD,
                Severity::Warning => DOUBT,
                Severity::Note => DIM,
            };
            let whole = problem_text(problem, paths);
            let rest = whole.strip_prefix(problem.severity.name()).unwrap_or(&whole);
            writeln!(out, "{style}{}{style:#}{rest}", problem.severity.name())?;
        }
    }
    let hooks: usize = checks.iter().map(|check| check.hooks).sum();
    let count = |severity| {
        checks
            .iter()
            .flat_map(|check| &check.problems)
            .filter(|one| one.severity == severity)
            .count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let files = checks.len();
    let style = if errors > 0 { BAD } else { GOOD };
    let verdict = if errors > 0 { counted(errors, "error") } else { "ok".to_string() };
    let doubts =
        if warnings > 0 { format!(", {}", counted(warnings, "warning")) } else { String::new() };
    let (files, hooks) = (counted(files, "file"), counted(hooks, "hook"));
    writeln!(out, "{style}{verdict}{style:#}{doubts}: {files}, {hooks}")
}

pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn json_document(checks: &[Check], paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let files: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({
                "file": paths.show(&check.file),
                "hooks": check.hooks,
                "ok": check.passes(),
                "problems": check.problems.iter().map(problem_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let ok = checks.iter().all(Check::passes);
    writeln!(out, "{:#}", json!({ "version": super::json::VERSION, "ok": ok, "files": files }))
}

fn problem_json(problem: &Problem) -> Value {
    let mut value = json!({ "severity": problem.severity.name(), "cause": problem.cause });
    if let Some(at) = problem.at {
        value["line"] = at.line.into();
        value["column"] = at.column.into();
    }
    if let Some(cure) = &problem.cure {
        value["cure"] = cure.as_str().into();
    }
    value
}

/// Test Anything Protocol, version 13.
fn tap(checks: &[Check], paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "TAP version 13\n1..{}", checks.len())?;
    for (number, check) in (1..).zip(checks) {
        let mark = if check.passes() { "ok" } else { "not ok" };
        writeln!(out, "{mark} {number} - {}", plain(&paths.show(&check.file)).replace('#', "\\#"))?;
        for problem in &check.problems {
            for line in problem_text(problem, paths).lines() {
                writeln!(out, "  # {line}")?;
            }
        }
    }
    Ok(())
}

/// Workflow commands of GitHub Actions, which become annotations on the diff.
fn github(checks: &[Check], paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    for problem in checks.iter().flat_map(|check| &check.problems) {
        let mut properties = vec![("file", paths.show(&problem.file))];
        if let Some(at) = problem.at {
            properties.push(("line", at.line.to_string()));
            properties.push(("col", at.column.to_string()));
        }
        let mut message = problem.cause.clone();
        if let Some(cure) = &problem.cure {
            message.push_str(&format!("\nhelp: {cure}"));
        }
        let level = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        annotation(level, &properties, &message, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Position;
    use std::path::Path;

    fn checks() -> Vec<Check> {
        let problem = Problem {
            severity: Severity::Error,
            file: "/p/hookrun.toml".into(),
            at: Some(Position { line: 4, column: 1 }),
            cause: "100% wrong".to_string(),
            cure: Some("mend it".to_string()),
            events: Vec::new(),
        };
        vec![
            Check { file: "/p/a,b.sh".into(), hooks: 1, problems: Vec::new() },
            Check { file: "/p/hookrun.toml".into(), hooks: 0, problems: vec![problem] },
        ]
    }

    fn write(name: &str) -> String {
        let (_, format) = FORMATS.iter().find(|(known, _)| *known == name).unwrap();
        let mut out = Vec::new();
        format(&checks(), &Paths::from(Path::new("/p")), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tap_counts_and_comments() {
        assert_eq!(
            write("tap"),
            "TAP version 13\n1..2\nok 1 - a,b.sh\nnot ok 2 - hookrun.toml\n  # error: hookrun.toml:4:1: 100% wrong\n  #   help: mend it\n"
        );
    }

    #[test]
    fn github_gets_escaped_annotations() {
        assert_eq!(
            write("github"),
            "::error file=hookrun.toml,line=4,col=1::100%25 wrong%0Ahelp: mend it\n"
        );
    }

    #[test]
    fn json_is_json() {
        let value: Value = serde_json::from_str(&write("json")).unwrap();
        assert_eq!(value["ok"], false);
        assert_eq!(value["files"][1]["problems"][0]["line"], 4);
    }
}
