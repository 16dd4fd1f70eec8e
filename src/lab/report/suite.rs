//! What came of cases, in every format that people and CI systems read.

mod further;
mod human;
mod written;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::github::annotation;
use super::json::{VERSION, milliseconds, refusal_report, run_report};
use super::problems::counted;
use super::{Paths, plain};
use crate::lab::scenario::{End, Miss, Played, StepResult};

pub(super) use written::{Written, written};

pub use further::{Covered, Excuse, Further, Gap, Mutated};

/// From when on a case is told to be slow.
pub const SLOW: Duration = Duration::from_secs(1);

/// How many lines of a text are shown.
const MOST_LINES: usize = 20;

/// All cases that were asked for.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'w> {
    /// Each, in the order of the files and of the cases in them.
    pub played: &'w [Played],
    /// How long all took together.
    pub took: Duration,
    /// What they say about the hooks as a whole.
    pub further: Further<'w>,
    /// hookrun was interrupted before all were played.
    pub is_stopped: bool,
}

/// A format: its name, and the function that writes it.
pub type SuiteFormat = (&'static str, Writer);

/// What writes a format.
pub type Writer = fn(&Whole<'_>, &Paths, &mut dyn Write) -> io::Result<()>;

/// The formats of `hookrun test --suite`.
pub const FORMATS: &[SuiteFormat] = &[
    ("human", human::suite),
    ("json", json_document),
    ("junit", super::junit::suite),
    ("tap", tap),
    ("github", github),
];

/// The format of this name; the one for people if there is none.
pub fn find(name: &str) -> Writer {
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    found.map_or(human::suite, |(_, write)| *write)
}

impl<'w> Whole<'w> {
    /// The cases of each file, in their order.
    pub(super) fn files(&self) -> Vec<(&'w PathBuf, Vec<&'w Played>)> {
        let mut files: Vec<(&PathBuf, Vec<&Played>)> = Vec::new();
        for played in self.played {
            match files.iter_mut().find(|(file, _)| *file == &played.file) {
                Some((_, cases)) => cases.push(played),
                None => files.push((&played.file, vec![played])),
            }
        }
        files
    }

    /// How many cases ended so.
    pub(super) fn count(&self, is: impl Fn(&End) -> bool) -> usize {
        self.played.iter().filter(|played| is(&played.end)).count()
    }

    /// Whether all that were to be run came out as expected.
    fn is_good(&self) -> bool {
        self.count(|end| end.is_bad() || *end == End::NotRun) == 0 && self.further.is_good()
    }
}

/// How many cases ended in which way, on one line.
pub(super) fn totals(whole: &Whole<'_>) -> String {
    let mut text = counted(whole.played.len(), "case");
    type Is = fn(&End) -> bool;
    let parts: &[(Is, &str)] = &[
        (|end| matches!(end, End::Unexpected(_)), "failed"),
        (|end| matches!(end, End::CouldNot(_)), "could not run"),
        (|end| matches!(end, End::Skipped(_)), "skipped"),
        (|end| matches!(end, End::NotRun), "not run"),
    ];
    for (is, words) in parts {
        match whole.count(is) {
            0 => {}
            count => text.push_str(&format!(", {count} {words}")),
        }
    }
    text
}

/// What is not as expected, as one text.
pub(super) fn complaint(played: &Played) -> Option<String> {
    match &played.end {
        End::Unexpected(misses) => {
            Some(misses.iter().map(miss_text).collect::<Vec<_>>().join("\n"))
        }
        End::CouldNot(why) => Some(plain_lines(why)),
        End::Expected | End::Skipped(_) | End::NotRun => None,
    }
}

fn miss_text(miss: &Miss) -> String {
    let step = miss.step.map(|step| format!("step {step}: ")).unwrap_or_default();
    let (wanted, found) = (plain_lines(&miss.wanted), plain_lines(&miss.found));
    format!("{step}{} should be {wanted}, and is {found}", plain(&miss.key))
}

/// A text whose lines stay lines, as many as can be read, and that says nothing to a terminal.
pub(super) fn plain_lines(text: &str) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let line = |line: &&str| super::human::cut(&plain(line));
    let mut lines: Vec<String> = all.iter().take(MOST_LINES).map(line).collect();
    if all.len() > MOST_LINES {
        lines.push(format!("… {} more lines; --format json has them", all.len() - MOST_LINES));
    }
    lines.join("\n")
}

fn json_document(whole: &Whole<'_>, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let count = |is: fn(&End) -> bool| whole.count(is);
    let mut document = json!({
        "version": VERSION,
        "ok": whole.is_good(),
        "cases": whole.played.iter().map(|one| case_json(one, paths)).collect::<Vec<_>>(),
        "total": whole.played.len(),
        "expected": count(|end| matches!(end, End::Expected)),
        "unexpected": count(|end| matches!(end, End::Unexpected(_))),
        "couldNot": count(|end| matches!(end, End::CouldNot(_))),
        "skipped": count(|end| matches!(end, End::Skipped(_))),
        "notRun": count(|end| matches!(end, End::NotRun)),
        "tookMs": milliseconds(whole.took),
    });
    whole.further.add_to(&mut document, paths);
    writeln!(out, "{document:#}")
}

fn case_json(played: &Played, paths: &Paths) -> Value {
    let report = |decided: &StepResult| match decided {
        StepResult::Run { run, reply } => run_report(run, reply, paths),
        StepResult::Refused { event, host, outcome, reply } => {
            let reason = outcome.refusal().map_or("", |refusal| refusal.reason.as_str());
            refusal_report(event, host, reason, reply)
        }
    };
    let mut value = json!({
        "file": paths.show(&played.file),
        "line": played.at.line,
        "name": played.name,
        "event": played.event,
        "result": played.end.name(),
        "tookMs": milliseconds(played.took),
        "steps": played.steps.iter().map(report).collect::<Vec<_>>(),
    });
    match &played.end {
        End::Unexpected(misses) => {
            value["misses"] = misses.iter().map(miss_json).collect();
        }
        End::CouldNot(why) | End::Skipped(why) => value["why"] = why.as_str().into(),
        End::Expected | End::NotRun => {}
    }
    value
}

fn miss_json(miss: &Miss) -> Value {
    let mut value = json!({
        "key": miss.key,
        "line": miss.at.line,
        "column": miss.at.column,
        "wanted": miss.wanted,
        "found": miss.found,
    });
    if let Some(step) = miss.step {
        value["step"] = step.into();
    }
    value
}

/// Test Anything Protocol, version 13.
fn tap(whole: &Whole<'_>, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let hashless = |text: &str| plain(text).replace('#', "\\#");
    let checks = whole.further.checks(paths);
    writeln!(out, "TAP version 13\n1..{}", whole.played.len() + checks.len())?;
    for (number, played) in (1..).zip(whole.played) {
        let mark = if played.end.is_bad() { "not ok" } else { "ok" };
        let skip = match &played.end {
            End::Skipped(why) => format!(" # SKIP {}", plain(why)),
            End::NotRun => " # SKIP not run".to_string(),
            End::Expected | End::Unexpected(_) | End::CouldNot(_) => String::new(),
        };
        let file = hashless(&paths.show(&played.file));
        writeln!(out, "{mark} {number} - {file}: {}{skip}", hashless(&played.name))?;
        let written = written(played);
        let written = written.into_iter().map(|one| one.text);
        for text in complaint(played).into_iter().chain(written) {
            for line in text.lines() {
                writeln!(out, "  # {line}")?;
            }
        }
    }
    for (number, check) in (whole.played.len() + 1..).zip(&checks) {
        let mark = if check.problem.is_some() { "not ok" } else { "ok" };
        let name = hashless(&format!("{}: {}", check.file, check.name));
        writeln!(out, "{mark} {number} - {name}")?;
        for line in check.problem.iter().flat_map(|text| text.lines()) {
            writeln!(out, "  # {line}")?;
        }
    }
    if let Some(line) = whole.further.covered() {
        writeln!(out, "# {line}")?;
    }
    writeln!(out, "# {}", totals(whole))?;
    if whole.is_stopped {
        // Cases that were not run are no failures, and a harness would call it a success.
        writeln!(out, "Bail out! hookrun was interrupted")?;
    }
    Ok(())
}

/// Workflow commands of GitHub Actions, which become annotations on the diff, at the line of the
/// expectation.
fn github(whole: &Whole<'_>, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let mut annotate = |played: &Played, at: crate::config::Position, text: &str| {
        let properties = [
            ("file", paths.show(&played.file)),
            ("line", at.line.to_string()),
            ("col", at.column.to_string()),
            ("title", plain(&played.name)),
        ];
        annotation("error", &properties, text, out)
    };
    for played in whole.played {
        match &played.end {
            End::Unexpected(misses) => {
                let written = written(played).into_iter().map(|one| one.text);
                let mut written: Vec<String> = written.collect();
                for miss in misses {
                    // The first one has what the hooks wrote.
                    let texts = [vec![miss_text(miss)], std::mem::take(&mut written)].concat();
                    annotate(played, miss.at, &texts.join("\n"))?;
                }
            }
            End::CouldNot(why) => annotate(played, played.at, &plain_lines(why))?,
            End::Expected | End::Skipped(_) | End::NotRun => {}
        }
    }
    for check in whole.further.checks(paths) {
        let Some(problem) = &check.problem else { continue };
        let title = check.suite.to_string();
        let properties =
            [("file", check.file.clone()), ("line", check.line.to_string()), ("title", title)];
        annotation("error", &properties, problem, out)?;
    }
    if let Some(line) = whole.further.covered() {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{}", totals(whole))
}
