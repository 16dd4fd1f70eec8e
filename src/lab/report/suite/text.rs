//! The words of all formats about cases.

use crate::engine::harmless::plain;
use crate::engine::run::{Fate, HookRun};
use crate::lab::report::check::Written;
use crate::lab::report::style::{counted, cut};
use crate::lab::scenario::coverage::Who;
use crate::lab::scenario::{CaseResult, Miss};

const MOST_LINES: usize = 20;

/// How many cases ended in which way, on one line.
pub(super) fn totals(played: &[CaseResult]) -> String {
    let mut text = counted(played.len(), "case");
    for (name, words) in [
        ("unexpected", "failed"),
        ("could-not", "could not run"),
        ("skipped", "skipped"),
        ("not-run", "not run"),
    ] {
        match played.iter().filter(|one| one.end.name() == name).count() {
            0 => {}
            count => text.push_str(&format!(", {count} {words}")),
        }
    }
    text
}

pub(super) fn miss_text(miss: &Miss) -> String {
    let step = miss
        .step
        .map(|step| format!("step {step}: "))
        .unwrap_or_default();
    let (wanted, found) = (plain_lines(&miss.wanted), plain_lines(&miss.found));
    format!(
        "{step}{} should be {wanted}, and is {found}",
        plain(&miss.key)
    )
}

pub(super) fn of(who: &Who, is_event: bool) -> String {
    if is_event {
        who.event.clone()
    } else {
        format!("{} ({})", who.hook, who.event)
    }
}

/// A harmless text that keeps its lines, but not more than people read.
pub(super) fn plain_lines(text: &str) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let mut lines: Vec<String> = all
        .iter()
        .take(MOST_LINES)
        .map(|one| cut(&plain(one)))
        .collect();
    if all.len() > MOST_LINES {
        lines.push(format!(
            "… {} more lines; --format json has them",
            all.len() - MOST_LINES
        ));
    }
    lines.join("\n")
}

/// The end of a text, where the cause of a failure usually is.
fn last_lines(text: &str) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let hidden = all.len().saturating_sub(MOST_LINES);
    let mut lines: Vec<String> = all[hidden..].iter().map(|line| cut(&plain(line))).collect();
    if hidden > 0 {
        lines.insert(
            0,
            format!("… {hidden} lines before; --format json has them"),
        );
    }
    lines.join("\n")
}

/// What hooks wrote in a case that is not as expected, each under the names of stream and hook.
pub(super) fn written(played: &CaseResult) -> Vec<Written> {
    let steps = played.steps.iter().filter(|_| played.end.is_bad());
    let titled = |run: &HookRun| {
        let hook = plain(&run.hook);
        let title = move |Written { stream, text }| Written {
            stream,
            text: format!("{stream} of {hook}:\n{text}"),
        };
        streams(run).into_iter().map(title)
    };
    steps
        .flat_map(|decided| decided.hooks())
        .flat_map(titled)
        .collect()
}

pub(super) fn streams(run: &HookRun) -> Vec<Written> {
    let Fate::Ran(trace) = &run.fate else {
        return Vec::new();
    };
    let both = [("stdout", &trace.stdout), ("stderr", &trace.stderr)];
    let both = both.map(|(stream, captured)| Written {
        stream,
        text: last_lines(&captured.text()),
    });
    both.into_iter()
        .filter(|written| !written.text.is_empty())
        .collect()
}
