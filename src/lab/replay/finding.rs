//! What a replay finds: one event that is decided otherwise now, or cannot be decided again.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compare::ComparedOutcome;

/// What deciding one line again has shown.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplayOutcome {
    /// With the recorded outcome, perhaps in other words.
    Same {
        is_reworded: bool,
    },
    Finding(ReplayFinding),
}

/// Something that a person must know about a line or a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "finding", rename_all = "camelCase")]
pub enum ReplayFinding {
    Changed(Box<OutcomeChange>),
    /// The event was not kept whole, so that deciding it again would decide something else.
    Undecided(UndecidedEvent),
    /// A file that cannot be read, or a line that is not a record.
    Unreadable(Unreadable),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinePlace {
    pub file: String,
    /// From 1; `None` for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeChange {
    #[serde(flatten)]
    pub place: LinePlace,
    /// The canonical name.
    pub event: String,
    pub host: String,
    /// When it was recorded (RFC 3339).
    pub time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool and its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    pub was: ComparedOutcome,
    pub is: ComparedOutcome,
    /// See [`super::compare::ASPECTS`].
    pub differs: Vec<&'static str>,
    /// `--allow-change` names its hook.
    pub expected: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndecidedEvent {
    #[serde(flatten)]
    pub place: LinePlace,
    /// The canonical name.
    pub event: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    #[serde(flatten)]
    pub place: LinePlace,
    /// The problem, and what to do.
    pub problem: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Recorded events.
    pub events: u64,
    /// With the recorded outcome.
    pub same: u64,
    /// Of these, those that were decided the same in other words: another hook, reason, rewrite,
    /// output or context.
    pub reworded: u64,
    pub changed: u64,
    /// Of the changed, those that `--allow-change` expects.
    pub expected: u64,
    /// Not kept whole, so not decided.
    pub undecided: u64,
    /// Lines and files.
    pub unreadable: u64,
    /// `allow → block`, and how often.
    pub turns: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplayEnd {
    /// As recorded, or as expected.
    Same,
    /// Something changed that was not expected.
    Changed,
    /// Not everything could be decided.
    Incomplete,
}

impl Totals {
    pub fn count(&mut self, replayed: &ReplayOutcome) {
        match replayed {
            ReplayOutcome::Same { is_reworded } => {
                self.events += 1;
                self.same += 1;
                self.reworded += u64::from(*is_reworded);
            }
            ReplayOutcome::Finding(ReplayFinding::Changed(change)) => {
                self.events += 1;
                self.changed += 1;
                self.expected += u64::from(change.expected);
                let turn = format!("{} → {}", change.was.decision, change.is.decision);
                *self.turns.entry(turn).or_default() += 1;
            }
            ReplayOutcome::Finding(ReplayFinding::Undecided(_)) => {
                self.events += 1;
                self.undecided += 1;
            }
            ReplayOutcome::Finding(ReplayFinding::Unreadable(_)) => self.unreadable += 1,
        }
    }

    /// Events that were not kept whole count as decided if `allows_undecided`.
    pub fn end(&self, allows_undecided: bool) -> ReplayEnd {
        if self.unreadable > 0 || (self.undecided > 0 && !allows_undecided) || self.events == 0 {
            return ReplayEnd::Incomplete;
        }
        if self.changed > self.expected {
            ReplayEnd::Changed
        } else {
            ReplayEnd::Same
        }
    }
}

impl ReplayFinding {
    pub fn place(&self) -> &LinePlace {
        match self {
            ReplayFinding::Changed(change) => &change.place,
            ReplayFinding::Undecided(undecided) => &undecided.place,
            ReplayFinding::Unreadable(unreadable) => &unreadable.place,
        }
    }
}

impl OutcomeChange {
    /// The hook that decides now, or that decided before if the event is allowed now.
    pub fn hook(&self) -> Option<&str> {
        self.is.hook.as_deref().or(self.was.hook.as_deref())
    }
}

impl LinePlace {
    pub fn text(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }
}
