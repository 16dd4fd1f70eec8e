//! Case results for a person: the files, then each failed case with differences and hook output.

use std::io::{self, Write};

use anstyle::Style;
use similar::{ChangeTag, TextDiff};

use super::{CaseReport, CoverageReport, SuiteReport, last_lines, streams, totals};
use crate::engine::harmless::plain;
use crate::lab::report::human::hook_word;
use crate::lab::report::style::{ADDED, BAD, BOLD, DIM, DOUBT, GOOD, REMOVED, label, short, text};
use crate::lab::scenario::{End, Miss};
use crate::log::report::{HookReport, RunReport};

const AROUND: usize = 2;

pub(super) fn suite(report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    for cases in report.cases.chunk_by(|one, next| one.file == next.file) {
        let (style, word) = word(cases);
        let file = plain(&cases[0].file);
        writeln!(out, "{style}{word:<6}{style:#} {file}: {}", totals(cases))?;
    }
    for case in report.cases.iter().filter(|case| case.end.is_bad()) {
        writeln!(out)?;
        bad(case, out)?;
    }
    skipped(&report.cases, out)?;
    if let Some(covered) = &report.coverage {
        writeln!(out)?;
        coverage(covered, out)?;
    }
    let (style, words) = match word(&report.cases) {
        (style, "ok") => complaint(report).map_or((style, "ok"), |why| (BAD, why)),
        (style, "ERROR") => (style, "ERROR"),
        (style, _) => (style, "FAILED"),
    };
    let totals = totals(&report.cases);
    let took = short(report.took_ms);
    writeln!(out, "\n{style}{words}{style:#}: {totals} in {took}")
}

/// The worst result of a file's cases, as a word.
fn word(cases: &[CaseReport]) -> (Style, &'static str) {
    let worst = [
        ("could-not", BAD, "ERROR"),
        ("unexpected", BAD, "FAILED"),
        ("not-run", DOUBT, "part"),
    ];
    for (end, style, word) in worst {
        if cases.iter().any(|one| one.end.name() == end) {
            return (style, word);
        }
    }
    (GOOD, "ok")
}

/// A failure besides the cases, in a few words.
fn complaint(report: &SuiteReport) -> Option<&'static str> {
    if !report.broken.is_empty() {
        return Some("FAILED (a hook cannot run)");
    }
    let is_short = report.coverage.as_ref().is_some_and(|covered| !covered.ok);
    is_short.then_some("FAILED (coverage is too low)")
}

fn bad(case: &CaseReport, out: &mut dyn Write) -> io::Result<()> {
    let (_, word) = word(std::slice::from_ref(case));
    let name = plain(&case.name);
    writeln!(out, "{BAD}{word:<6}{BAD:#} {BOLD}{name}{BOLD:#}")?;
    label(out, "case", &format!("{}:{}", plain(&case.file), case.line))?;
    match &case.end {
        End::Unexpected(misses) => {
            for one in misses {
                miss(one, out)?;
            }
        }
        End::CouldNot(why) => text(out, "why", why)?,
        End::Expected | End::Skipped(_) | End::NotRun => {}
    }
    for (number, step) in (1..).zip(&case.steps) {
        let name = match case.steps.len() {
            1 => "hooks".to_string(),
            _ => format!("step {number}"),
        };
        hooks(step, name, out)?;
    }
    Ok(())
}

fn miss(miss: &Miss, out: &mut dyn Write) -> io::Result<()> {
    let step = miss.step.map(|step| format!(" of step {step}"));
    let step = step.unwrap_or_default();
    let what = format!("{}{step}, line {}", plain(&miss.key), miss.at.line);
    let signs = format!("{REMOVED}- expected{REMOVED:#}, {ADDED}+ got{ADDED:#}");
    label(out, "differs", &format!("{what} ({signs})"))?;
    let is_pattern = miss.wanted.starts_with("a match for /");
    let has_lines = [&miss.wanted, &miss.found]
        .iter()
        .any(|text| text.trim_end().contains('\n'));
    if is_pattern || !has_lines {
        side(out, "-", REMOVED, &miss.wanted)?;
        return side(out, "+", ADDED, &miss.found);
    }
    let wanted = last_lines(&miss.wanted) + "\n";
    let found = last_lines(&miss.found) + "\n";
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
    for line in last_lines(what).lines() {
        label(out, "", &format!("{style}{sign} {line}{style:#}"))?;
    }
    Ok(())
}

fn hooks(step: &RunReport, mut name: String, out: &mut dyn Write) -> io::Result<()> {
    if step.hooks.is_empty() {
        let why = match step.cause.as_deref() {
            Some("failure") => "none ran: hookrun blocked the event first",
            _ => "none for this event",
        };
        return label(out, &name, why);
    }
    for hook in &step.hooks {
        let (style, word) = hook_word(hook);
        let reason_line = reason_line(hook);
        let colon = if reason_line.is_empty() { "" } else { ": " };
        let hook_name = plain(&hook.name);
        let line = format!("{style}{word:<6}{style:#} {hook_name}{colon}{reason_line}");
        label(out, &name, &line)?;
        name.clear();
        for written in streams(hook) {
            if written.text != reason_line {
                text(out, written.stream, &written.text)?;
            }
        }
    }
    Ok(())
}

/// A hook's message, or why it did not run, on one line.
fn reason_line(hook: &HookReport) -> String {
    let trace = hook.trace.as_ref();
    let reason = trace.and_then(|trace| trace.verdict.as_ref()?.reason.as_deref());
    let failure = trace.and_then(|trace| trace.failure.as_deref());
    let message = reason.or(failure).or(hook.why.as_deref());
    let message = message.unwrap_or_default().trim_end();
    plain(message.lines().next().unwrap_or_default())
}

fn skipped(cases: &[CaseReport], out: &mut dyn Write) -> io::Result<()> {
    let mut before = "\n";
    for case in cases {
        if let End::Skipped(why) = &case.end {
            let name = plain(&case.name);
            let why = plain(why);
            writeln!(out, "{before}{DOUBT}skip{DOUBT:#}   {name}: {why}")?;
            before = "";
        }
    }
    Ok(())
}

fn coverage(covered: &CoverageReport, out: &mut dyn Write) -> io::Result<()> {
    let style = if !covered.ok {
        BAD
    } else if covered.missing.is_empty() {
        GOOD
    } else {
        DOUBT
    };
    let line = covered.line();
    let line = line.strip_prefix("covered").unwrap_or(&line);
    write!(out, "{style}covered{style:#}{line}")?;
    if let Some(least) = covered.least.filter(|_| !covered.ok) {
        write!(out, "; it must be at least {least}%")?;
    }
    writeln!(out)?;
    for gap in &covered.missing {
        let place = format!("{}:{}", plain(&gap.file), gap.line);
        let what = plain(&format!("{} ({})", gap.point, gap.event));
        writeln!(
            out,
            "\n{DOUBT}missing{DOUBT:#} {BOLD}{what}{BOLD:#}: {place}"
        )?;
        label(out, "write", &plain(&gap.lacks))?;
    }
    Ok(())
}
