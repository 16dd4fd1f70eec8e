//! The words of all formats about findings.

use crate::engine::harmless::plain;
use crate::lab::replay::compare::ComparedOutcome;
use crate::lab::replay::finding::{OutcomeChange, ReplayFinding};
use crate::lab::replay::totals::Totals;
use crate::lab::report::style::counted;

#[derive(Debug)]
pub(super) struct FindingLimit {
    most: u64,
    pub(super) shown: u64,
    left_out: u64,
}

impl FindingLimit {
    pub(super) fn at_most(most: u64) -> FindingLimit {
        FindingLimit {
            most,
            shown: 0,
            left_out: 0,
        }
    }

    pub(super) fn one_more(&mut self) -> bool {
        let has_room = self.shown < self.most;
        if has_room {
            self.shown += 1;
        } else {
            self.left_out += 1;
        }
        has_room
    }

    /// A line about those that are not shown.
    pub(super) fn rest(&self) -> Option<String> {
        let findings = if self.left_out == 1 {
            "finding"
        } else {
            "findings"
        };
        let rest = format!(
            "and {} more {findings}; --most shows more of them",
            self.left_out
        );
        (self.left_out > 0).then_some(rest)
    }
}

/// `was allowed, is blocked by guard.sh`.
pub(super) fn turn(change: &OutcomeChange) -> String {
    let (was, is) = (outcome(&change.was), outcome(&change.is));
    if change.was.decision == change.is.decision && change.was.cause == change.is.cause {
        let what = change.differs.join(", ");
        return format!("{is} as before; what differs: {what}");
    }
    format!("was {was}, is {is}")
}

fn outcome(said: &ComparedOutcome) -> String {
    let word = match said.decision.as_ref() {
        "allow" => "allowed",
        "ask" => "asked",
        _ => "blocked",
    };
    let how = if said.cause.as_deref() == Some("failure") {
        " for a failure"
    } else {
        ""
    };
    let by = said
        .hook
        .as_deref()
        .map(|hook| format!(" by {}", plain(hook)))
        .unwrap_or_default();
    format!("{word}{how}{by}")
}

/// The finding on one line, without its place.
pub(super) fn line(finding: &ReplayFinding) -> String {
    match finding {
        ReplayFinding::Changed(change) => {
            let expected = if change.expected { " (expected)" } else { "" };
            let reason = change.is.reason.as_ref().or(change.was.reason.as_ref());
            let reason = reason.and_then(|reason| reason.lines().next());
            let reason = reason
                .map(|reason| format!(": {}", plain(reason)))
                .unwrap_or_default();
            format!(
                "{} {}{expected}{reason}",
                plain(&change.event),
                turn(change)
            )
        }
        ReplayFinding::Undecided(undecided) => {
            format!(
                "{} cannot be decided again: {}",
                plain(&undecided.event),
                plain(&undecided.why)
            )
        }
        ReplayFinding::Unreadable(unreadable) => plain(&unreadable.problem),
    }
}

pub(super) fn summary(totals: &Totals) -> String {
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
