//! The nouns of matchers: what relative paths are relative to, and why an event does not match.

use std::fmt;
use std::path::PathBuf;

use crate::engine::event::Event;

/// A condition of another system, read as that system reads it. Its text is what was written.
pub trait Condition: fmt::Debug + fmt::Display + Send + Sync {
    /// Whether the hook wants `event`.
    ///
    /// # Errors
    /// What it wants, and what the event is.
    fn decide(&self, event: &Event, place: &PathBase) -> Result<(), Mismatch>;

    /// Whether it would take a tool with one of these names.
    fn takes_tool(&self, names: &[&str]) -> bool;

    /// Whether it looks at an action.
    fn needs_action(&self) -> bool;

    /// Whether it looks at paths.
    fn needs_paths(&self) -> bool;
}

/// Why a matcher cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct MatcherError {
    /// What is wrong, in the words of the library that reads the pattern.
    pub problem: String,
}

/// What relative paths are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBase {
    /// The event's working directory, or hookrun's.
    pub cwd: PathBuf,
    pub project: PathBuf,
}

/// The matcher that did not match, and what it was compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The key of `match`: `tool`, `where.FIELD` for a field, `matcher` for one of a host's own.
    pub key: String,
    /// What the key looks at.
    pub subject: String,
    pub wanted: String,
    /// What the event has of that.
    pub found: Vec<String>,
}

impl Mismatch {
    pub(super) fn of(
        key: &str,
        subject: &str,
        wanted: String,
        found: impl IntoIterator<Item = String>,
    ) -> Mismatch {
        Mismatch {
            key: key.to_string(),
            subject: subject.to_string(),
            wanted,
            found: found.into_iter().collect(),
        }
    }

    /// Of a matcher that is a host's own.
    pub(crate) fn of_host(subject: &str, wanted: &str, found: Vec<String>) -> Mismatch {
        Mismatch::of(OF_HOST, subject, wanted.to_string(), found)
    }
}

/// The key of a host's own matcher.
pub(super) const OF_HOST: &str = "matcher";
/// The key of exceptions.
pub(super) const EXCEPT: &str = "except";

pub(super) fn of_field(field: &str) -> String {
    format!("where.{field}")
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch {
            key,
            subject,
            wanted,
            found,
        } = self;
        match key.as_str() {
            EXCEPT => return write!(f, "its exception matches the event: {wanted}"),
            OF_HOST => write!(f, "it matches {subject} `{wanted}`; ")?,
            _ => write!(f, "it matches {key} `{wanted}`; ")?,
        }
        if found.is_empty() {
            write!(f, "the event has no {subject}")
        } else {
            write!(f, "the event's {subject} is `{}`", found.join("`, `"))
        }
    }
}

/// The last line of the library's drawing of the mistake.
pub(crate) fn expression_error(picture: &str) -> MatcherError {
    let problem = picture
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    MatcherError {
        problem: problem.to_string(),
    }
}
