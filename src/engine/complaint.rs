//! What is wrong, and what to do about it.

use std::fmt;

/// A cause and a cure, without the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong: lower case, no full stop.
    pub cause: String,
    /// What to do.
    pub cure: Option<String>,
}

impl Complaint {
    /// A complaint that has no cure, or says it already.
    pub fn new(cause: impl Into<String>) -> Complaint {
        Complaint {
            cause: cause.into(),
            cure: None,
        }
    }

    /// An error that says everything.
    pub fn of(error: impl fmt::Display) -> Complaint {
        Complaint::new(error.to_string())
    }

    /// A complaint and its cure.
    pub fn with_cure(cause: impl Into<String>, cure: impl Into<String>) -> Complaint {
        Complaint {
            cause: cause.into(),
            cure: Some(cure.into()),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cure {
            Some(cure) => write!(out, "{}; {cure}", self.cause),
            None => out.write_str(&self.cause),
        }
    }
}

impl std::error::Error for Complaint {}
