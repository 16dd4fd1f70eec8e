//! A run as checks of a CI job: findings, blocks, and the decision.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check::{Annotation, Check, CheckList, CheckPlace, CheckRule, CheckState};
use crate::engine::harmless::{plain, visible, without_commands};
use crate::engine::outcome;
use crate::hosts::native;
use crate::log::report::RunReport;

const NAME: &str = "hookrun run";

/// The check name for hookrun itself.
const OWN: &str = "hookrun";

/// Whether the job may continue. In CI nobody can answer a question.
pub fn goes_on(report: &RunReport) -> bool {
    report.decision == "allow" && report.reply.status == native::ALLOWED
}

/// A check for each hook: passed, blocked with its reason, failed or skipped. The last line has the
/// decision.
pub fn run(report: &RunReport) -> CheckList {
    let decided = if goes_on(report) {
        "allowed"
    } else {
        "blocked"
    };
    let decided = format!("hookrun: {} is {decided}", plain(&report.event));
    let mut list = CheckList {
        name: NAME.to_string(),
        totals: vec![without_commands(&decided).into_owned()],
        ..CheckList::default()
    };
    let blocks = report.blocks(OWN);
    for hook in &report.hooks {
        let blocked = blocks.iter().find(|(by, _)| *by == hook.name);
        let (state, message) = match (&hook.trace, blocked) {
            (None, None) => {
                let why = hook.why.as_deref().unwrap_or(hook.fate.as_ref());
                (CheckState::Skipped(plain(why)), "")
            }
            (Some(trace), Some((_, reason))) if trace.failure.is_some() => {
                (CheckState::Error, *reason)
            }
            (_, Some((_, reason))) => (CheckState::Failed, *reason),
            (Some(_), None) => (CheckState::Passed, ""),
        };
        let took = hook.trace.as_ref().map(|trace| trace.took_ms / 1000.0);
        list.checks
            .push(check(report, &hook.name, state, message, took));
    }
    for (by, reason) in blocks {
        if !report.hooks.iter().any(|hook| hook.name == by) {
            list.checks
                .push(check(report, by, CheckState::Error, reason, None));
        }
    }
    add_annotations(report, &mut list);
    list
}

fn check(
    report: &RunReport,
    hook: &str,
    state: CheckState,
    message: &str,
    took: Option<f64>,
) -> Check {
    Check {
        suite: plain(&report.event),
        name: plain(hook),
        place: place_of(report, hook),
        state,
        message: plain(message.lines().next().unwrap_or_default()),
        details: visible(message).into_owned(),
        took: took.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        ..Check::default()
    }
}

fn add_annotations(report: &RunReport, list: &mut CheckList) {
    let event = &report.event;
    for found in &report.findings {
        let finding = &found.finding;
        let annotation = Annotation {
            file: Some(finding.path.clone()),
            line: finding.line,
            rule: finding
                .rule()
                .map(|tag| rule(report, &found.hook, Some(tag))),
            ..titled(finding.level.name(), found.hook.clone(), &finding.message)
        };
        add(report, list, &found.hook, annotation);
    }
    for hook in &report.hooks {
        let notes = hook.trace.iter().flat_map(|trace| &trace.notes);
        for note in notes.filter(|note| outcome::is_about(note)) {
            let note = titled("warning", hook.name.clone(), note);
            add(report, list, &hook.name, note);
        }
    }
    for notice in &report.notices {
        let annotation = titled("warning", notice.hook.clone(), &notice.text);
        add(report, list, &notice.hook, annotation);
    }
    for question in &report.questions {
        let title = format!("{} asks about {event}", question.hook);
        let annotation = titled("error", title, &question.question);
        add(report, list, &question.hook, annotation);
    }
    for (by, reason) in report.blocks(OWN) {
        let annotation = Annotation {
            is_summary: is_found(report, by, reason),
            ..titled("error", format!("{by} blocked {event}"), reason)
        };
        add(report, list, by, annotation);
    }
    if report.hooks.is_empty() && report.reason.is_none() && report.notices.is_empty() {
        let text = match report.reply.stderr.trim_end() {
            "" => "no hook is bound to this event",
            text => text,
        };
        let annotation = titled("warning", format!("no hook decided {event}"), text);
        add(report, list, OWN, annotation);
    }
}

fn add(report: &RunReport, list: &mut CheckList, hook: &str, mut annotation: Annotation) {
    annotation
        .rule
        .get_or_insert_with(|| rule(report, hook, None));
    let name = plain(hook);
    let at = list.checks.iter().position(|check| check.name == name);
    let at = at.unwrap_or_else(|| {
        list.checks
            .push(check(report, hook, CheckState::Passed, "", None));
        list.checks.len() - 1
    });
    list.checks[at].annotations.push(annotation);
}

/// A hook's script, or the line of its entry; `None` for a function or hookrun itself.
fn place_of(report: &RunReport, hook: &str) -> Option<CheckPlace> {
    let named = report.hooks.iter().find(|one| one.name == hook);
    let named = named.filter(|one| !one.function)?;
    Some(CheckPlace {
        file: named.file.clone(),
        line: named.line.unwrap_or(1) as u64,
    })
}

/// The rule for a hook, or for a tagged finding of it.
fn rule(report: &RunReport, hook: &str, tag: Option<&str>) -> CheckRule {
    let mut id = plain(hook);
    if let Some(tag) = tag {
        id.push_str(&format!("/{tag}"));
    }
    let place = match place_of(report, hook) {
        Some(place) => format!("{}:{}", plain(&place.file), place.line),
        None => format!("`hookrun list --event {}`", plain(&report.event)),
    };
    let about = format!("{id}: {place} says what the hook decides, and how to allow a finding.");
    CheckRule { id, about }
}

/// Whether a hook's findings cover its reason, except perhaps the first line.
fn is_found(report: &RunReport, hook: &str, reason: &str) -> bool {
    let findings = report.findings.iter().filter(|one| one.hook == hook);
    let messages: Vec<&str> = findings
        .filter_map(|one| one.finding.message.lines().next())
        .collect();
    let mut lines = reason.lines();
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let is_message = |line: &str| messages.iter().any(|message| line.contains(message));
    rest.iter().all(|line| is_message(line)) && (!rest.is_empty() || is_message(first))
}

fn titled(level: &'static str, title: String, message: &str) -> Annotation {
    Annotation {
        level,
        title: Some(title),
        message: message.to_string(),
        ..Annotation::default()
    }
}

/// Makes the paths of findings and hooks relative to the workspace, as CI systems expect.
pub fn place(report: &mut RunReport, workspace: &Path, project: &Path, cwd: &Path) {
    let Ok(workspace) = workspace.canonicalize() else {
        return;
    };
    let bases = bases(&workspace, project, cwd);
    for found in &mut report.findings {
        if let Some(path) = below(&workspace, &bases, &found.finding.path) {
            found.finding.path = path;
        }
    }
    let base = [workspace.clone()];
    for hook in report.hooks.iter_mut().filter(|hook| !hook.function) {
        if let Some(path) = below(&workspace, &base, &hook.file) {
            hook.file = path;
        }
    }
}

/// Candidate bases of a relative path: the project, then the working directory and above.
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

/// The path relative to the workspace, if it exists inside.
fn below(workspace: &Path, bases: &[PathBuf], path: &str) -> Option<String> {
    let found = bases.iter().find_map(|base| {
        let file = base.join(path).canonicalize().ok()?;
        let below = file.strip_prefix(workspace).ok()?;
        below.to_str().map(str::to_string)
    });
    found.filter(|path| !path.is_empty())
}
