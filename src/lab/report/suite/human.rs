//! What came of cases, for a person: the files, then what is not as expected, with what differs
//! and what each hook said.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::Style;
use similar::ChangeTag;

use super::model::{CoverageReport, Whole};
use super::text::{of, plain_lines, streams, totals};
use crate::engine::harmless::plain;
use crate::lab::report::Paths;
use crate::lab::report::diff::LineDiff;
use crate::lab::report::human::hook_word;
use crate::lab::report::style::{
    ADDED, BAD, BOLD, DIM, DOUBT, GOOD, REMOVED, column, counted, label, short, text,
};
use crate::lab::scenario::coverage::PointState;
use crate::lab::scenario::{CaseResult, End, Miss, StepResult};
use crate::log::report::{HookReport, hook_report, milliseconds};

/// From when on a case is reported as slow.
const SLOW: Duration = Duration::from_secs(1);

const MOST_SLOW: usize = 5;

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
    slow(whole, out)?;
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
    let has = |is: fn(&End) -> bool| played.iter().any(|one| is(&one.end));
    match () {
        () if has(|end| matches!(end, End::CouldNot(_))) => (BAD, "ERROR"),
        () if has(|end| matches!(end, End::Unexpected(_))) => (BAD, "FAILED"),
        () if has(|end| matches!(end, End::NotRun)) => (DOUBT, "part"),
        () => (GOOD, "ok"),
    }
}

/// What is wrong besides the cases, in a few words.
fn complaint(whole: &Whole<'_>) -> Option<&'static str> {
    if !whole.broken.is_empty() {
        return Some("FAILED (a hook cannot run)");
    }
    let covered = whole.coverage?;
    if covered.is_short() {
        return Some("FAILED (coverage is too low)");
    }
    if !covered.is_enough() {
        return Some("FAILED (a `[[never]]` is untrue)");
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
    let is_long = |text: &str| text.trim_end().contains('\n');
    if miss.wanted.starts_with("a match of /") || !(is_long(&miss.wanted) || is_long(&miss.found)) {
        side(out, "-", REMOVED, &miss.wanted)?;
        return side(out, "+", ADDED, &miss.found);
    }
    let (wanted, found) = (
        plain_lines(&miss.wanted) + "\n",
        plain_lines(&miss.found) + "\n",
    );
    for line in LineDiff::of(&wanted, &found).hunks(AROUND).concat() {
        let (sign, style) = match line.tag {
            ChangeTag::Delete => ("-", REMOVED),
            ChangeTag::Insert => ("+", ADDED),
            ChangeTag::Equal => (" ", DIM),
        };
        side(out, sign, style, line.text)?;
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

fn slow(whole: &Whole<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut slow: Vec<&CaseResult> = whole.played.iter().filter(|one| one.took >= SLOW).collect();
    slow.sort_by_key(|played| std::cmp::Reverse(played.took));
    if slow.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for played in slow.iter().take(MOST_SLOW) {
        writeln!(
            out,
            "{DOUBT}slow{DOUBT:#}   {}: {}",
            plain(&played.name),
            short(milliseconds(played.took))
        )?;
    }
    match slow.len().saturating_sub(MOST_SLOW) {
        0 => Ok(()),
        more => writeln!(out, "       and {} more", counted(more, "case")),
    }
}

const EVENT_COLUMNS: usize = 18;
const HOOK_COLUMNS: usize = 28;

fn coverage(covered: &CoverageReport, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let style = match covered.is_enough() {
        true if covered.gaps.is_empty() => GOOD,
        true => DOUBT,
        false => BAD,
    };
    let least = covered.least.filter(|_| covered.is_short());
    let least = least
        .map(|least| format!("; it must be {least} %"))
        .unwrap_or_default();
    let line = covered.line();
    let line = line.strip_prefix("covered").unwrap_or(&line);
    writeln!(out, "{style}covered{style:#}{line}{least}")?;
    let row = |event: &str, hook: &str, points: &str, missing: &str| {
        let (event, hook) = (column(event, EVENT_COLUMNS), column(hook, HOOK_COLUMNS));
        format!("{event:<EVENT_COLUMNS$} {hook:<HOOK_COLUMNS$} {points:>6}  {missing}")
            .trim_end()
            .to_string()
    };
    writeln!(
        out,
        "        {DIM}{}{DIM:#}",
        row("event", "hook", "points", "missing")
    )?;
    for part in &covered.coverage.parts {
        let count =
            |is: fn(&PointState) -> bool| part.points.iter().filter(|one| is(&one.state)).count();
        let shown = count(|state| *state == PointState::Covered);
        let missing = part
            .points
            .iter()
            .filter(|one| one.state == PointState::Missing);
        let missing = missing
            .map(|one| one.name.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let points = format!(
            "{shown}/{}",
            shown + count(|state| *state == PointState::Missing)
        );
        let (event, hook) = if part.is_event {
            (part.who.event.as_str(), "")
        } else {
            ("", part.who.hook.as_str())
        };
        writeln!(
            out,
            "        {}",
            row(event, hook, &points, &plain(&missing))
        )?;
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
    excuses(covered, paths, out)
}

/// What no case can show, with the reasons, and the reasons that are untrue.
fn excuses(covered: &CoverageReport, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    for (part, point) in covered.coverage.points() {
        let PointState::Never(why) = &point.state else {
            continue;
        };
        if std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        let what = plain(&format!(
            "{} of {}",
            point.name,
            of(&part.who, part.is_event)
        ));
        writeln!(out, "{DIM}never{DIM:#}   {what}")?;
        label(out, "why", &plain(why))?;
    }
    for excuse in &covered.coverage.untrue {
        let place = format!("{}:{}", plain(&paths.show(&excuse.file)), excuse.at.line);
        writeln!(
            out,
            "\n{BAD}untrue{BAD:#}  {BOLD}`[[never]]`{BOLD:#}: {place}"
        )?;
        label(out, "why", &plain(&excuse.problem))?;
    }
    Ok(())
}
