//! What came of cases, for a person: the files, then what is not as expected, with what differs
//! and what each hook said.

use std::io::{self, Write};

use similar::{ChangeTag, TextDiff};

use super::written::streams;
use super::{Further, SLOW, Whole, plain_lines, totals};
use crate::lab::report::human::{
    ADDED, BAD, BOLD, DIM, DOUBT, GOOD, REMOVED, hook_word, label, short, text,
};
use crate::lab::report::json::{HookReport, hook_report, milliseconds};
use crate::lab::report::problems::counted;
use crate::lab::report::{Paths, plain};
use crate::lab::scenario::{End, Miss, Played, StepResult};

/// How many slow cases are told.
const MOST_SLOW: usize = 5;

/// How many lines around a difference are shown.
const AROUND: usize = 2;

/// The report for people.
pub(super) fn suite(whole: &Whole<'_>, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    for (file, cases) in whole.files() {
        let of_file: Vec<Played> = cases.into_iter().cloned().collect();
        let own = Whole {
            played: &of_file,
            took: whole.took,
            further: Further::default(),
            is_stopped: whole.is_stopped,
        };
        let (style, word) = word(&own);
        let file = plain(&paths.show(file));
        writeln!(out, "{style}{word:<6}{style:#} {file}: {}", totals(&own))?;
    }
    for played in whole.played.iter().filter(|played| played.end.is_bad()) {
        writeln!(out)?;
        bad(played, paths, out)?;
    }
    skipped(whole, out)?;
    slow(whole, out)?;
    whole.further.human(paths, out)?;
    let (style, words) = match word(whole) {
        (style, "ok") => whole.further.complaint().map_or((style, "ok"), |why| (BAD, why)),
        (style, "ERROR") => (style, "ERROR"),
        (style, _) => (style, "FAILED"),
    };
    writeln!(
        out,
        "\n{style}{words}{style:#}: {} in {}",
        totals(whole),
        short(milliseconds(whole.took))
    )
}

/// How a number of cases ended, by the worst of them.
fn word(whole: &Whole<'_>) -> (anstyle::Style, &'static str) {
    match () {
        () if whole.count(|end| matches!(end, End::CouldNot(_))) > 0 => (BAD, "ERROR"),
        () if whole.count(|end| matches!(end, End::Unexpected(_))) > 0 => (BAD, "FAILED"),
        () if whole.count(|end| matches!(end, End::NotRun)) > 0 => (DOUBT, "part"),
        () => (GOOD, "ok"),
    }
}

/// A case that is not as expected.
fn bad(played: &Played, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let place = format!("{}:{}", plain(&paths.show(&played.file)), played.at.line);
    let word = if matches!(played.end, End::CouldNot(_)) { "ERROR" } else { "FAILED" };
    writeln!(out, "{BAD}{word:<6}{BAD:#} {BOLD}{}{BOLD:#}", plain(&played.name))?;
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
        asked(decided, (played.steps.len() > 1).then_some(number), paths, out)?;
    }
    Ok(())
}

fn miss(miss: &Miss, out: &mut dyn Write) -> io::Result<()> {
    let step = miss.step.map(|step| format!(" of step {step}")).unwrap_or_default();
    label(out, "differs", &format!("{}{step}, line {}", plain(&miss.key), miss.at.line))?;
    let is_long = |text: &str| text.trim_end().contains('\n');
    if miss.wanted.starts_with("a match of /") || !(is_long(&miss.wanted) || is_long(&miss.found)) {
        side(out, "-", REMOVED, &miss.wanted)?;
        return side(out, "+", ADDED, &miss.found);
    }
    let (wanted, found) = (plain_lines(&miss.wanted) + "\n", plain_lines(&miss.found) + "\n");
    let diff = TextDiff::from_lines(&wanted, &found);
    for group in diff.grouped_ops(AROUND) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ("-", REMOVED),
                ChangeTag::Insert => ("+", ADDED),
                ChangeTag::Equal => (" ", DIM),
            };
            side(out, sign, style, change.value())?;
        }
    }
    Ok(())
}

/// Lines of what should be, or of what is.
fn side(out: &mut dyn Write, sign: &str, style: anstyle::Style, what: &str) -> io::Result<()> {
    for line in plain_lines(what).lines() {
        label(out, "", &format!("{style}{sign} {line}{style:#}"))?;
    }
    Ok(())
}

/// What became of each hook.
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
        let line = format!("{style}{word:<6}{style:#} {}{colon}{said}", plain(&hook.name));
        label(out, &name, &line)?;
        name.clear();
        for written in streams(run).iter().filter(|written| written.text != said) {
            text(out, written.stream, &written.text)?;
        }
    }
    Ok(())
}

/// What a hook said, or why it was not asked, on one line.
fn said(hook: &HookReport) -> String {
    let trace = hook.trace.as_ref();
    let reason = trace.and_then(|trace| trace.verdict.as_ref()?.reason.as_deref());
    let failure = trace.and_then(|trace| trace.failure.as_deref());
    let said = reason.or(failure).or(hook.why.as_deref()).unwrap_or_default();
    plain(said.trim_end().lines().next().unwrap_or_default())
}

fn skipped(whole: &Whole<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    for played in whole.played {
        let End::Skipped(why) = &played.end else { continue };
        if std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        writeln!(out, "{DOUBT}skip{DOUBT:#}   {}: {}", plain(&played.name), plain(why))?;
    }
    Ok(())
}

/// The slowest cases, if there are slow ones.
fn slow(whole: &Whole<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut slow: Vec<&Played> = whole.played.iter().filter(|one| one.took >= SLOW).collect();
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
