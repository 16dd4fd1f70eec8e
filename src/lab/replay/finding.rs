//! What a replay finds: one event that is decided otherwise now, or cannot be decided again.

use serde::{Deserialize, Serialize};

use super::compare::ComparedOutcome;
use crate::log::KeepError;

/// Something that a person must know about a line or a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "camelCase")]
pub enum ReplayFinding {
    Changed(Box<OutcomeChange>),
    /// The event was not kept whole, so that deciding it again would decide something else.
    Undecided(UndecidedEvent),
    /// A file that cannot be read, or a line that is no record.
    Unreadable(Unreadable),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinePlace {
    /// The number of its file, from 0, in the order of the command line.
    pub input: usize,
    /// From 1; `None` for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub file: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// As recorded, or of today's hooks if two sets are compared.
    pub was: ComparedOutcome,
    /// Of today's hooks, or of the other set.
    pub is: ComparedOutcome,
    /// See [`super::compare::ASPECTS`].
    pub differs: Vec<String>,
    /// `--allow-change` names its hook.
    pub expected: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndecidedEvent {
    #[serde(flatten)]
    pub place: LinePlace,
    /// The canonical name.
    pub event: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    #[serde(flatten)]
    pub place: LinePlace,
    /// The problem, and what to do.
    pub problem: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// With such hooks every gate would be blocked.
    #[error("{0}")]
    Broken(String),
    #[error("it was interrupted")]
    Stopped,
    #[error("no thread to decide in: {0}")]
    NoThread(String),
    #[error("a thread that decides has panicked, which is a mistake in hookrun")]
    Panicked,
    #[error("cannot write {what}: {problem}")]
    Write {
        /// The report, or a file.
        what: String,
        problem: String,
    },
}

impl From<KeepError> for ReplayError {
    fn from(KeepError { file, problem }: KeepError) -> ReplayError {
        ReplayError::Write {
            what: format!("`{}`", file.display()),
            problem,
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
