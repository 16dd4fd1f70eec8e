//! A run as a check of a CI job: what its hooks found, why it was blocked, and what was decided.

use std::path::{Path, PathBuf};

use super::check::{Annotation, Check, CheckList};
use crate::engine::harmless::{plain, without_commands};
use crate::engine::outcome;
use crate::hosts::native;
use crate::log::report::RunReport;

const NAME: &str = "hookrun run";

/// Whether the job may go on. Nobody can answer a question there.
pub fn goes_on(report: &RunReport) -> bool {
    report.decision == "allow" && report.reply.status == native::ALLOWED
}

/// The last line says what was decided.
pub fn run(report: &RunReport) -> CheckList {
    let decided = if goes_on(report) {
        "allowed"
    } else {
        "blocked"
    };
    let decided = format!("hookrun: {} is {decided}", plain(&report.event));
    let check = Check {
        suite: NAME.to_string(),
        annotations: annotations(report),
        ..Check::default()
    };
    CheckList {
        name: NAME.to_string(),
        checks: vec![check],
        totals: vec![without_commands(&decided).into_owned()],
        ..CheckList::default()
    }
}

fn annotations(report: &RunReport) -> Vec<Annotation> {
    let event = &report.event;
    let mut annotations = Vec::new();
    for found in &report.findings {
        let finding = &found.finding;
        annotations.push(Annotation {
            file: Some(finding.path.clone()),
            line: finding.line,
            ..titled(finding.level.name(), found.hook.clone(), &finding.message)
        });
    }
    for hook in &report.hooks {
        let notes = hook.trace.iter().flat_map(|trace| &trace.notes);
        for note in notes.filter(|note| outcome::is_about(note)) {
            annotations.push(titled("warning", hook.name.clone(), note));
        }
    }
    for notice in &report.notices {
        annotations.push(titled("warning", notice.hook.clone(), &notice.text));
    }
    for question in &report.questions {
        let title = format!("{} asks about {event}", question.hook);
        annotations.push(titled("error", title, &question.question));
    }
    if let Some(reason) = &report.reason {
        let by = report.decided_by.as_deref().unwrap_or("hookrun");
        annotations.push(titled("error", format!("{by} blocked {event}"), reason));
    }
    if report.hooks.is_empty() && report.reason.is_none() && report.notices.is_empty() {
        let text = match report.reply.stderr.trim_end() {
            "" => "no hook is bound to it",
            text => text,
        };
        annotations.push(titled(
            "warning",
            format!("no hook decided about {event}"),
            text,
        ));
    }
    annotations
}

fn titled(level: &'static str, title: String, message: &str) -> Annotation {
    Annotation {
        level,
        title: Some(title),
        message: message.to_string(),
        ..Annotation::default()
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
    let found = bases.iter().find_map(|base| {
        let file = base.join(path).canonicalize().ok()?;
        let below = file.strip_prefix(workspace).ok()?;
        below.to_str().map(str::to_string)
    });
    found.filter(|path| !path.is_empty())
}
