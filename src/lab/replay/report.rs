//! What a replay has found, for people and as JSON lines. Findings are written as they come.

use std::io::{self, Write};

use serde_json::json;

use super::compare::ComparedOutcome;
use super::finding::{OutcomeChange, ReplayEnd, ReplayFinding, Totals};
use crate::engine::harmless::plain;
use crate::lab::report::style::{BAD, BOLD, DIM, DOUBT, GOOD, counted};

const REASON_LINES: usize = 5;

pub fn json_finding(finding: &ReplayFinding, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, finding)?;
    writeln!(out)
}

pub fn json_end(totals: &Totals, end: ReplayEnd, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", json!({ "totals": totals, "ended": end }))
}

pub fn human_finding(finding: &ReplayFinding, out: &mut dyn Write) -> io::Result<()> {
    let place = plain(&finding.place().text());
    match finding {
        ReplayFinding::Changed(one) => change(one, &place, out),
        ReplayFinding::Undecided(one) => writeln!(
            out,
            "{DOUBT}not decided{DOUBT:#}  {place}  {} cannot be decided again: {}\n",
            plain(&one.event),
            plain(&one.why)
        ),
        ReplayFinding::Unreadable(one) => writeln!(
            out,
            "{BAD}not readable{BAD:#}  {place}  {}\n",
            plain(&one.problem)
        ),
    }
}

pub fn human_end(totals: &Totals, end: ReplayEnd, out: &mut dyn Write) -> io::Result<()> {
    let (style, word) = match end {
        ReplayEnd::Same if totals.expected > 0 => (GOOD, "ok"),
        ReplayEnd::Same => (GOOD, "as recorded"),
        ReplayEnd::Changed => (BAD, "changed"),
        ReplayEnd::Incomplete => (BAD, "incomplete"),
    };
    writeln!(out, "{style}{word}{style:#}: {}", summary(totals))?;
    for (turn, count) in &totals.turns {
        writeln!(out, "  {turn}: {count}")?;
    }
    if totals.reworded > 0 {
        let words = "decided the same in other words; --strict shows which";
        writeln!(out, "  {DIM}{} {words}{DIM:#}", totals.reworded)?;
    }
    Ok(())
}

fn summary(totals: &Totals) -> String {
    let mut text = format!(
        "{}: {} as recorded, {} changed",
        counted(totals.events, "event"),
        totals.same,
        totals.changed
    );
    if totals.expected > 0 {
        text.push_str(&format!(" ({} of them expected)", totals.expected));
    }
    if totals.undecided > 0 {
        text.push_str(&format!(", {} not decided", totals.undecided));
    }
    if totals.unreadable > 0 {
        text.push_str(&format!(", {} not readable", totals.unreadable));
    }
    text
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
    let (was, is) = (&change.was, &change.is);
    if was.reason != is.reason {
        text("was", was.reason.as_deref(), out)?;
    }
    text("is", is.reason.as_deref(), out)?;
    for (name, was, is) in [
        ("output", &was.output, &is.output),
        ("context", &was.additional_context, &is.additional_context),
    ] {
        if was != is {
            let nothing = Some("nothing");
            text(&format!("{name} was"), was.as_deref().or(nothing), out)?;
            text(&format!("{name} is"), is.as_deref().or(nothing), out)?;
        }
    }
    if was.rewrites != is.rewrites {
        for (when, outcome) in [("was", was), ("is", is)] {
            for rewrite in &outcome.rewrites {
                let label = format!("{} {when}", rewrite.field);
                text(&label, Some(&rewrite.new.to_string()), out)?;
            }
        }
    }
    writeln!(out)
}

/// `was allowed, is blocked by guard.sh`.
fn turn(change: &OutcomeChange) -> String {
    let (was, is) = (outcome(&change.was), outcome(&change.is));
    if change.was.decision == change.is.decision && change.was.cause == change.is.cause {
        let what = change.differs.join(", ");
        return format!("{is} as before; what differs: {what}");
    }
    format!("was {was}, is {is}")
}

fn outcome(outcome: &ComparedOutcome) -> String {
    let word = match outcome.decision.as_ref() {
        "allow" => "allowed",
        "ask" => "asked",
        _ => "blocked",
    };
    let how = if outcome.cause.as_deref() == Some("failure") {
        " for a failure"
    } else {
        ""
    };
    match &outcome.hook {
        Some(hook) => format!("{word}{how} by {}", plain(hook)),
        None => format!("{word}{how}"),
    }
}

fn text(label: &str, text: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let text = text.unwrap_or_default();
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
