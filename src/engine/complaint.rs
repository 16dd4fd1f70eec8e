//! Problems with their cures, and the texts of panics.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A problem and its cure, without a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// Problem: lower case, no full stop.
    pub cause: String,
    pub cure: Option<String>,
}

impl Complaint {
    pub fn new(cause: impl Into<String>) -> Complaint {
        Complaint {
            cause: cause.into(),
            cure: None,
        }
    }

    pub fn of(error: impl fmt::Display) -> Complaint {
        Complaint::new(error.to_string())
    }

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

/// Returns the message of a caught panic: `panicked: …`.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // Dropping it may panic too.
    std::mem::forget(panic);
    match text {
        Some(text) => format!("panicked: {text}"),
        None => "panicked".to_string(),
    }
}
