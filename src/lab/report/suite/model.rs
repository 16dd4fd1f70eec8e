//! What came of cases: each of them, what they say about the hooks as a whole, and the words of all
//! formats about them.

use std::time::Duration;

use crate::config::Problem;
use crate::engine::harmless::plain;
use crate::engine::run::{Fate, HookRun};
use crate::lab::report::check::Written;
use crate::lab::report::style::{counted, cut};
use crate::lab::scenario::coverage::{Coverage, Point, Who};
use crate::lab::scenario::{CaseResult, End, Miss, StepResult};

/// All cases that were asked for.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'w> {
    /// Each, in the order of the files and of the cases in them.
    pub played: &'w [CaseResult],
    pub took: Duration,
    /// Why hooks that no case asks cannot run.
    pub broken: &'w [Problem],
    /// If it was requested.
    pub coverage: Option<&'w CoverageReport>,
    /// hookrun was interrupted before all were played.
    pub is_stopped: bool,
}

/// What cases have shown of the hooks.
#[derive(Debug, Clone, Default)]
pub struct CoverageReport {
    pub coverage: Coverage,
    pub gaps: Vec<Gap>,
    /// The percentage that must be covered.
    pub least: Option<u8>,
}

/// A point that no case has shown.
#[derive(Debug, Clone)]
pub struct Gap {
    pub who: Who,
    /// The line of its file that configures the point.
    pub line: usize,
    pub point: Point,
}

impl Whole<'_> {
    /// Whether all that should run came out as expected.
    pub(super) fn is_good(&self) -> bool {
        let mut ends = self.played.iter().map(|one| &one.end);
        ends.all(|end| !end.is_bad() && *end != End::NotRun) && self.is_enough()
    }

    /// How many cases have this result.
    pub(super) fn count(&self, result: &str) -> usize {
        let played = self.played.iter();
        played.filter(|one| one.end.name() == result).count()
    }

    /// Whether no hook is broken and enough is covered.
    pub fn is_enough(&self) -> bool {
        self.broken.is_empty() && !self.coverage.is_some_and(CoverageReport::is_short)
    }
}

impl CoverageReport {
    /// Whether less is covered than must be.
    pub(super) fn is_short(&self) -> bool {
        self.least
            .is_some_and(|least| !self.coverage.reaches(least))
    }

    /// How much it is, on one line.
    pub(super) fn line(&self) -> String {
        let (shown, all) = self.coverage.counts();
        let permille = self.coverage.permille();
        let percent = format!("{}.{} %", permille / 10, permille % 10);
        format!("covered {percent}: {shown} of {}", counted(all, "point"))
    }
}

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
    format!(
        "{step}{} should be {}, and is {}",
        plain(&miss.key),
        plain_lines(&miss.wanted),
        plain_lines(&miss.found)
    )
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
    let mut all = Vec::new();
    if !played.end.is_bad() {
        return all;
    }
    for run in played.steps.iter().flat_map(StepResult::hooks) {
        for Written { stream, text } in streams(run) {
            let text = format!("{stream} of {}:\n{text}", plain(&run.hook));
            all.push(Written { stream, text });
        }
    }
    all
}

pub(super) fn streams(run: &HookRun) -> Vec<Written> {
    let Fate::Ran(trace) = &run.fate else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (stream, captured) in [("stdout", &trace.stdout), ("stderr", &trace.stderr)] {
        let text = last_lines(&captured.text());
        if !text.is_empty() {
            all.push(Written { stream, text });
        }
    }
    all
}
