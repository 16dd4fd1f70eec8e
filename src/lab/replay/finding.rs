//! What a replay finds: one event that is decided otherwise now, or cannot be decided again.

use serde::{Deserialize, Serialize};

use super::compare::ComparedOutcome;

/// Something that a person must know of one line, or of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "camelCase")]
pub enum ReplayFinding {
    /// Another outcome.
    Changed(Box<OutcomeChange>),
    /// The event was not kept whole, so that deciding it again would decide something else.
    Undecided(Undecided),
    /// A file that cannot be read, or a line that is no record.
    Unreadable(Unreadable),
}

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinePlace {
    /// Which one of the files it is in, counted from 0 in the order in which they were named.
    pub input: usize,
    /// The line, counted from 1; `None` for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The file.
    pub file: String,
}

/// An event with another outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeChange {
    #[serde(flatten)]
    pub place: LinePlace,
    /// The event's canonical name.
    pub event: String,
    pub host: String,
    /// When it was recorded (RFC 3339).
    pub time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A few words about what was to happen: the tool and its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The outcome before: as recorded, or of today's hooks where two sets are compared.
    pub was: ComparedOutcome,
    /// The outcome now: of today's hooks, or of the other set.
    pub is: ComparedOutcome,
    /// What is different: see [`super::compare::ASPECTS`].
    pub differs: Vec<String>,
    /// Whether it was said that this may change.
    pub expected: bool,
}

/// An event that was not decided again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undecided {
    #[serde(flatten)]
    pub place: LinePlace,
    /// The event's canonical name.
    pub event: String,
    /// Why not.
    pub why: String,
}

/// What could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    #[serde(flatten)]
    pub place: LinePlace,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl ReplayFinding {
    /// Where it stands.
    pub fn place(&self) -> &LinePlace {
        match self {
            ReplayFinding::Changed(change) => &change.place,
            ReplayFinding::Undecided(undecided) => &undecided.place,
            ReplayFinding::Unreadable(unreadable) => &unreadable.place,
        }
    }
}

impl OutcomeChange {
    /// The hook that decided: now, or where it is allowed now, before.
    pub fn hook(&self) -> Option<&str> {
        self.is.hook.as_deref().or(self.was.hook.as_deref())
    }
}

impl LinePlace {
    /// The file and the line as people write them.
    pub fn text(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }
}
