//! A replay for a person: what has changed, how much, and what hooks cost.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::header::Header;
use super::text::{line, summary, turn};
use crate::engine::harmless::plain;
use crate::lab::replay::finding::{OutcomeChange, ReplayFinding};
use crate::lab::replay::totals::{ReplayEnd, Totals};
use crate::lab::report::style::{BAD, BOLD, DIM, DOUBT, GOOD, column};
use crate::log::stats::{HookStats, by_cost};

const REASON_LINES: usize = 5;

const NAME: usize = 30;

pub(super) fn finding(finding: &ReplayFinding, place: &str, out: &mut dyn Write) -> io::Result<()> {
    match finding {
        ReplayFinding::Changed(one) => change(one, place, out),
        ReplayFinding::Undecided(_) => {
            writeln!(
                out,
                "{DOUBT}not decided{DOUBT:#}  {place}  {}\n",
                line(finding)
            )
        }
        ReplayFinding::Unreadable(_) => {
            writeln!(
                out,
                "{BAD}not readable{BAD:#}  {place}  {}\n",
                line(finding)
            )
        }
    }
}

pub(super) fn end(
    totals: &Totals,
    ended: ReplayEnd,
    header: &Header,
    rest: Option<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(rest) = rest {
        writeln!(out, "{rest}\n")?;
    }
    let against = header.against.as_deref();
    let same = if against.is_some() {
        "the same"
    } else {
        "as recorded"
    };
    let (style, word) = match ended {
        ReplayEnd::Same if totals.expected > 0 => (GOOD, "ok"),
        ReplayEnd::Same => (GOOD, same),
        ReplayEnd::Changed => (BAD, "changed"),
        ReplayEnd::Incomplete => (BAD, "incomplete"),
    };
    let summary = summary(totals).replace("as recorded", same);
    writeln!(out, "{style}{word}{style:#}: {summary}")?;
    for (turn, count) in &totals.turns {
        writeln!(out, "  {turn}: {count}")?;
    }
    if totals.reworded > 0 {
        let words = "decided the same in other words; --strict shows which";
        writeln!(out, "  {DIM}{} {words}{DIM:#}", totals.reworded)?;
    }
    table(&totals.hooks, "hook", out)?;
    against.map_or(Ok(()), |against| {
        table(&totals.against, &format!("hook in {against}"), out)
    })
}

fn change(change: &OutcomeChange, place: &str, out: &mut dyn Write) -> io::Result<()> {
    let style = if change.expected { DIM } else { BAD };
    let expected = if change.expected { " (expected)" } else { "" };
    writeln!(out, "{style}{}{style:#}{expected}", turn(change))?;
    let host = match change.host.as_str() {
        "native" => String::new(),
        host => format!(" of {}", plain(host)),
    };
    writeln!(
        out,
        "  {BOLD}{place}{BOLD:#}  {}{host}  {DIM}{}{DIM:#}",
        plain(&change.event),
        plain(&change.time)
    )?;
    if let Some(about) = &change.about {
        writeln!(out, "  {}", plain(about))?;
    }
    let is_same = change.was.reason == change.is.reason;
    text(
        "was",
        change.was.reason.as_deref().filter(|_| !is_same),
        out,
    )?;
    text("is", change.is.reason.as_deref(), out)?;
    for (name, was, is) in [
        ("output", &change.was.output, &change.is.output),
        (
            "context",
            &change.was.additional_context,
            &change.is.additional_context,
        ),
    ] {
        if was != is {
            text(
                &format!("{name} was"),
                Some(was.as_deref().unwrap_or("nothing")),
                out,
            )?;
            text(
                &format!("{name} is"),
                Some(is.as_deref().unwrap_or("nothing")),
                out,
            )?;
        }
    }
    if change.was.rewrites != change.is.rewrites {
        for (when, said) in [("was", &change.was), ("is", &change.is)] {
            for rewrite in &said.rewrites {
                let label = format!("{} {when}", rewrite.field);
                text(&label, Some(&rewrite.new.to_string()), out)?;
            }
        }
    }
    writeln!(out)
}

fn text(label: &str, text: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(());
    };
    for (number, line) in text.lines().take(REASON_LINES).enumerate() {
        let label = if number == 0 {
            format!("{}:", plain(label))
        } else {
            " ".to_string()
        };
        writeln!(out, "  {DIM}{label}{DIM:#} {}", plain(line))?;
    }
    if text.lines().count() > REASON_LINES {
        writeln!(out, "  …")?;
    }
    Ok(())
}

/// Every hook that ran, the most expensive first.
fn table(hooks: &BTreeMap<String, HookStats>, title: &str, out: &mut dyn Write) -> io::Result<()> {
    if hooks.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{BOLD}{:<NAME$}{:>9}{:>9}{:>7}{:>8}{:>8}{:>8}{:>8}{BOLD:#}",
        column(title, NAME - 1),
        "calls",
        "blocked",
        "asked",
        "failed",
        "p50",
        "p90",
        "p99"
    )?;
    for (name, stats) in by_cost(hooks) {
        let time = |share: f64| time(stats.latencies.percentile_ms(share));
        writeln!(
            out,
            "{:<NAME$}{:>9}{:>9}{:>7}{:>8}{:>8}{:>8}{:>8}",
            column(name, NAME - 1),
            stats.calls,
            stats.refusals,
            stats.questions,
            stats.failures,
            time(0.5),
            time(0.9),
            time(0.99)
        )?;
    }
    Ok(())
}

fn time(ms: f64) -> String {
    match ms {
        ms if ms < 9.95 => format!("{ms:.1}ms"),
        ms if ms < 9_999.5 => format!("{ms:.0}ms"),
        ms => format!("{:.0}s", ms / 1e3),
    }
}
