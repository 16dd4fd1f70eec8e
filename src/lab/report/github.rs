//! Workflow commands of GitHub Actions, which become annotations: on the lines of the diff where a
//! file and a line are named, else on the job.
//!
//! The runner looks for commands on stdout and on stderr. All text of hooks is either escaped data
//! of one of our commands, or made harmless.

mod summary;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::check::{Annotation, Check, CheckList};
use crate::engine::harmless::{plain, visible};
use crate::engine::outcome;
use crate::log::report::RunReport;
use summary::decided;
pub use summary::{goes_on, summary};

const NAME: &str = "hookrun run";

/// What was checked, and the totals in lines.
pub(super) fn document(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    for one in list.checks.iter().flat_map(|check| &check.annotations) {
        annotation(one.level, &one.properties, &one.message, out)?;
    }
    list.totals
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
}

/// A run: what its hooks found, why it was refused, and in the last line what was decided.
pub fn run(report: &RunReport) -> CheckList {
    let mut annotations = Vec::new();
    let mut annotation = |level, properties, message: &str| {
        annotations.push(Annotation {
            level,
            properties,
            message: message.to_string(),
        });
    };
    for found in &report.findings {
        let finding = &found.finding;
        let mut properties = vec![("file", finding.path.clone())];
        if let Some(line) = finding.line {
            properties.push(("line", line.to_string()));
        }
        properties.push(("title", found.hook.clone()));
        annotation(finding.level.name(), properties, &finding.message);
    }
    for hook in &report.hooks {
        let notes = hook.trace.iter().flat_map(|trace| &trace.notes);
        for note in notes.filter(|note| outcome::is_about(note)) {
            annotation("warning", vec![("title", hook.name.clone())], note);
        }
    }
    for notice in &report.notices {
        annotation(
            "warning",
            vec![("title", notice.hook.clone())],
            &notice.text,
        );
    }
    for question in &report.questions {
        let title = format!("{} asks about {}", question.hook, report.event);
        annotation("error", vec![("title", title)], &question.question);
    }
    if let Some(reason) = &report.reason {
        let by = report.decided_by.as_deref().unwrap_or("hookrun");
        let title = format!("{by} blocked {}", report.event);
        annotation("error", vec![("title", title)], reason);
    }
    if report.hooks.is_empty() && report.reason.is_none() && report.notices.is_empty() {
        let title = format!("no hook decided about {}", report.event);
        let text = report.reply.stderr.trim_end();
        let text = if text.is_empty() {
            "no hook is bound to it"
        } else {
            text
        };
        annotation("warning", vec![("title", title)], text);
    }
    let check = Check {
        suite: NAME.to_string(),
        annotations,
        ..Check::default()
    };
    let (checks, totals) = (vec![check], vec![decided(report)]);
    CheckList {
        name: NAME.to_string(),
        checks,
        totals,
        ..CheckList::default()
    }
}

/// Names the files of findings as seen from the workspace, where GitHub looks for them. Hooks name
/// them from the project or from the event's folder.
pub fn place(report: &mut RunReport, workspace: &Path, project: &Path, cwd: &Path) {
    if report.findings.is_empty() {
        return;
    }
    let Ok(workspace) = workspace.canonicalize() else {
        return;
    };
    let bases = bases(&workspace, project, cwd);
    for found in &mut report.findings {
        if let Some(path) = below(&workspace, &bases, &found.finding.path) {
            found.finding.path = path;
        }
    }
}

/// What a relative path may be relative to, the likeliest first: the project, the event's folder,
/// and what is around that (git names paths from the root of its repository).
fn bases(workspace: &Path, project: &Path, cwd: &Path) -> Vec<PathBuf> {
    let mut bases: Vec<PathBuf> = project.canonicalize().into_iter().collect();
    if let Ok(cwd) = cwd.canonicalize() {
        let around = cwd
            .ancestors()
            .take_while(|folder| folder.starts_with(workspace));
        bases.extend(around.map(Path::to_path_buf));
    }
    bases
}

/// The path from the workspace, if something is there that lies below it.
fn below(workspace: &Path, bases: &[PathBuf], path: &str) -> Option<String> {
    let there = |base: &PathBuf| {
        let file = base.join(path).canonicalize().ok()?;
        file.strip_prefix(workspace)
            .ok()?
            .to_str()
            .map(str::to_string)
    };
    bases.iter().find_map(there).filter(|path| !path.is_empty())
}

pub(crate) fn annotation(
    level: &str,
    properties: &[(&str, String)],
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let properties = properties
        .iter()
        .map(|(name, value)| format!("{name}={}", property(value)));
    let properties = properties.collect::<Vec<_>>().join(",");
    writeln!(out, "::{level} {properties}::{}", data(&visible(message)))
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&plain(text)).replace(':', "%3A").replace(',', "%2C")
}
