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
pub enum Mismatch {
    /// The event carries no tool, or another one.
    Tool {
        wanted: String,
        found: Option<String>,
    },
    /// None of the paths match.
    Path { wanted: String, found: Vec<String> },
    /// The action has no command, or another one.
    Command {
        wanted: String,
        found: Option<String>,
    },
    /// None of the commands match.
    Runs {
        wanted: String,
        found: Option<String>,
    },
    /// All that matches is lifted by its exception.
    Excepted { by: String },
    /// The field is missing, or says something else.
    Field {
        field: String,
        wanted: String,
        found: Option<String>,
    },
    /// A matcher of a host's own: what it is compared with says something else.
    Matcher {
        what: String,
        wanted: String,
        found: Vec<String>,
    },
}

impl Mismatch {
    /// The key of `match` that did not match: `where.FIELD` for a field, and `matcher` for one of
    /// a host's own.
    pub fn key(&self) -> String {
        match self {
            Mismatch::Tool { .. } => "tool".to_string(),
            Mismatch::Path { .. } => "path".to_string(),
            Mismatch::Command { .. } => "command".to_string(),
            Mismatch::Runs { .. } => "runs".to_string(),
            Mismatch::Excepted { .. } => "except".to_string(),
            Mismatch::Field { field, .. } => of_field(field),
            Mismatch::Matcher { .. } => OF_HOST.to_string(),
        }
    }
}

/// The key of a host's own matcher.
pub(super) const OF_HOST: &str = "matcher";

pub(super) fn of_field(field: &str) -> String {
    format!("where.{field}")
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none = |what: &str, found: &Option<String>| match found {
            Some(text) => format!("the event's {what} is `{text}`"),
            None => format!("the event has no {what}"),
        };
        match self {
            Mismatch::Tool { wanted, found } => {
                write!(f, "it matches tool `{wanted}`; {}", or_none("tool", found))
            }
            Mismatch::Path { wanted, found } if found.is_empty() => {
                write!(f, "it matches path `{wanted}`; the event names no path")
            }
            Mismatch::Path { wanted, found } => {
                write!(
                    f,
                    "it matches path `{wanted}`; the event names `{}`",
                    found.join("`, `")
                )
            }
            Mismatch::Command { wanted, found } => {
                write!(
                    f,
                    "it matches command /{wanted}/; {}",
                    or_none("command", found)
                )
            }
            Mismatch::Excepted { by } => write!(f, "its exception matches the event: {by}"),
            Mismatch::Runs { wanted, found } => {
                write!(
                    f,
                    "it matches runs of `{wanted}`; {}",
                    or_none("command", found)
                )
            }
            Mismatch::Field {
                field,
                wanted,
                found,
            } => {
                write!(
                    f,
                    "it matches `{field}` /{wanted}/; {}",
                    or_none("value there", found)
                )
            }
            Mismatch::Matcher {
                what,
                wanted,
                found,
            } => {
                let found = match found.is_empty() {
                    true => "none".to_string(),
                    false => format!("`{}`", found.join("`, `")),
                };
                write!(f, "it matches {what} {wanted}; this event has {found}")
            }
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
