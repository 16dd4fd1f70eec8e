//! What came of cases, for a person: the files, then what is not as expected, with what differs
//! and what each hook said.

use std::io::{self, Write};

use anstyle::Style;
use similar::{ChangeTag, TextDiff};

use super::model::{CoverageReport, Whole, plain_lines, streams, totals};
use crate::engine::harmless::plain;
use crate::lab::report::Paths;
use crate::lab::report::human::hook_word;
use crate::lab::report::style::{
    ADDED, BAD, BOLD, DIM, DOUBT, GOOD, REMOVED, column, label, short, text,
};
use crate::lab::scenario::{CaseResult, End, Miss, StepResult};
use crate::log::report::{HookReport, hook_report, milliseconds};

const AROUND: usize = 2;

pub(super) fn suite(whole: &Whole<'_>, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    for cases in whole.played.chunk_by(|one, next| one.file == next.file) {
        let (style, word) = word(cases);
        let file = plain(&paths.show(&cases[0].file));
        writeln!(out, "{style}{word:<6}{style:#} {file}: {}", totals(cases))?;
    }
    for played in whole.played.iter().filter(|played| played.end.is_bad()) {
        writeln!(out)?;
        bad(played, paths, out)?;
    }
    skipped(whole, out)?;
    if let Some(covered) = whole.coverage {
        writeln!(out)?;
        coverage(covered, paths, out)?;
    }
    let (style, words) = match word(whole.played) {
        (style, "ok") => complaint(whole).map_or((style, "ok"), |why| (BAD, why)),
        (style, "ERROR") => (style, "ERROR"),
        (style, _) => (style, "FAILED"),
    };
    let took = short(milliseconds(whole.took));
    writeln!(
        out,
        "\n{style}{words}{style:#}: {} in {took}",
        totals(whole.played)
    )
}

/// How cases ended, by the worst of them.
fn word(played: &[CaseResult]) -> (Style, &'static str) {
    let worst = [
        ("could-not", BAD, "ERROR"),
        ("unexpected", BAD, "FAILED"),
        ("not-run", DOUBT, "part"),
    ];
    for (end, style, word) in worst {
        if played.iter().any(|one| one.end.name() == end) {
            return (style, word);
        }
    }
    (GOOD, "ok")
}

/// What is wrong besides the cases, in a few words.
fn complaint(whole: &Whole<'_>) -> Option<&'static str> {
    if !whole.broken.is_empty() {
        return Some("FAILED (a hook cannot run)");
    }
    if whole.coverage.is_some_and(CoverageReport::is_short) {
        return Some("FAILED (coverage is too low)");
    }
    None
}

fn bad(played: &CaseResult, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let place = format!("{}:{}", plain(&paths.show(&played.file)), played.at.line);
    let word = if matches!(played.end, End::CouldNot(_)) {
        "ERROR"
    } else {
        "FAILED"
    };
    writeln!(
        out,
        "{BAD}{word:<6}{BAD:#} {BOLD}{}{BOLD:#}",
        plain(&played.name)
    )?;
    label(out, "case", &place)?;
    match &played.end {
        End::Unexpected(misses) => {
            for one in misses {
                miss(one, out)?;
            }
        }
        End::CouldNot(why) => text(out, "why", why)?,
        End::Expected | End::Skipped(_) | End::NotRun => {}
    }
    for (number, decided) in (1..).zip(&played.steps) {
        asked(
            decided,
            (played.steps.len() > 1).then_some(number),
            paths,
            out,
        )?;
    }
    Ok(())
}

fn miss(miss: &Miss, out: &mut dyn Write) -> io::Result<()> {
    let step = miss
        .step
        .map(|step| format!(" of step {step}"))
        .unwrap_or_default();
    let what = format!("{}{step}, line {}", plain(&miss.key), miss.at.line);
    label(
        out,
        "differs",
        &format!("{what} ({REMOVED}- expected{REMOVED:#}, {ADDED}+ got{ADDED:#})"),
    )?;
    let is_pattern = miss.wanted.starts_with("a match of /");
    let has_lines = [&miss.wanted, &miss.found]
        .iter()
        .any(|text| text.trim_end().contains('\n'));
    if is_pattern || !has_lines {
        side(out, "-", REMOVED, &miss.wanted)?;
        return side(out, "+", ADDED, &miss.found);
    }
    let wanted = plain_lines(&miss.wanted) + "\n";
    let found = plain_lines(&miss.found) + "\n";
    let diff = TextDiff::from_lines(&wanted, &found);
    for op in diff.grouped_ops(AROUND).concat() {
        for line in diff.iter_changes(&op) {
            let (sign, style) = match line.tag() {
                ChangeTag::Delete => ("-", REMOVED),
                ChangeTag::Insert => ("+", ADDED),
                ChangeTag::Equal => (" ", DIM),
            };
            side(out, sign, style, line.value())?;
        }
    }
    Ok(())
}

fn side(out: &mut dyn Write, sign: &str, style: Style, what: &str) -> io::Result<()> {
    for line in plain_lines(what).lines() {
        label(out, "", &format!("{style}{sign} {line}{style:#}"))?;
    }
    Ok(())
}

fn asked(
    decided: &StepResult,
    step: Option<usize>,
    paths: &Paths,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut name = step.map_or("hooks".to_string(), |step| format!("step {step}"));
    if decided.hooks().is_empty() {
        let why = match decided {
            StepResult::Run { .. } => "none for this event",
            StepResult::Refused { .. } => "none ran: hookrun had blocked before",
        };
        return label(out, &name, why);
    }
    for run in decided.hooks() {
        let hook = hook_report(run, paths);
        let (style, word) = hook_word(&hook);
        let said = said(&hook);
        let colon = if said.is_empty() { "" } else { ": " };
        let line = format!(
            "{style}{word:<6}{style:#} {}{colon}{said}",
            plain(&hook.name)
        );
        label(out, &name, &line)?;
        name.clear();
        for written in streams(run).iter().filter(|written| written.text != said) {
            text(out, written.stream, &written.text)?;
        }
    }
    Ok(())
}

/// What a hook said, or why it did not run, on one line.
fn said(hook: &HookReport) -> String {
    let trace = hook.trace.as_ref();
    let reason = trace.and_then(|trace| trace.verdict.as_ref()?.reason.as_deref());
    let failure = trace.and_then(|trace| trace.failure.as_deref());
    let said = reason
        .or(failure)
        .or(hook.why.as_deref())
        .unwrap_or_default();
    plain(said.trim_end().lines().next().unwrap_or_default())
}

fn skipped(whole: &Whole<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    for played in whole.played {
        let End::Skipped(why) = &played.end else {
            continue;
        };
        if std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        writeln!(
            out,
            "{DOUBT}skip{DOUBT:#}   {}: {}",
            plain(&played.name),
            plain(why)
        )?;
    }
    Ok(())
}

const EVENT_COLUMNS: usize = 18;
const HOOK_COLUMNS: usize = 28;

fn coverage(covered: &CoverageReport, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let style = if covered.is_short() {
        BAD
    } else if covered.gaps.is_empty() {
        GOOD
    } else {
        DOUBT
    };
    let least = covered.least.filter(|_| covered.is_short());
    let least = least
        .map(|least| format!("; it must be {least} %"))
        .unwrap_or_default();
    let line = covered.line();
    let line = line.strip_prefix("covered").unwrap_or(&line);
    writeln!(out, "{style}covered{style:#}{line}{least}")?;
    let head = row("event", "hook", "points", "missing");
    writeln!(out, "        {DIM}{head}{DIM:#}")?;
    let mut last_event = "";
    for part in &covered.coverage.parts {
        let mut missing = Vec::new();
        for point in &part.points {
            if !point.is_covered {
                missing.push(point.name.as_str());
            }
        }
        let shown = part.points.len() - missing.len();
        let points = format!("{shown}/{}", part.points.len());
        // An event is named once, before its first hook.
        let event = part.who.event.as_str();
        let first = if event == last_event { "" } else { event };
        last_event = event;
        let row = row(first, &part.who.hook, &points, &plain(&missing.join(" ")));
        writeln!(out, "        {row}")?;
    }
    for gap in &covered.gaps {
        let place = format!("{}:{}", plain(&paths.show(&gap.who.file)), gap.line);
        let what = plain(&format!("{} ({})", gap.point.name, gap.who.event));
        writeln!(
            out,
            "\n{DOUBT}missing{DOUBT:#} {BOLD}{what}{BOLD:#}: {place}"
        )?;
        label(out, "write", &plain(&gap.point.lacks))?;
    }
    Ok(())
}

fn row(event: &str, hook: &str, points: &str, missing: &str) -> String {
    let event = column(event, EVENT_COLUMNS);
    let hook = column(hook, HOOK_COLUMNS);
    format!("{event:<EVENT_COLUMNS$} {hook:<HOOK_COLUMNS$} {points:>6}  {missing}")
        .trim_end()
        .to_string()
}
