//! What a hook found, and where: a line of a file, a level, a message. Findings decide nothing;
//! they accompany a decision, so that a gate can point at what it means.

use serde::{Deserialize, Serialize};

use crate::engine::names::names;

/// Something that a hook found in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file, as the hook names it: usually from the project's root.
    pub path: String,
    /// The line, from 1; `None` for the file as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How bad it is.
    pub level: FindingLevel,
    /// What it is.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingLevel {
    /// It must be mended.
    Error,
    /// It may be wrong.
    Warning,
    /// It is worth knowing.
    Notice,
}

// The words of GitHub's annotations, the usual one first.
names! { FindingLevel: Error "error", Warning "warning", Notice "notice" }

/// The keys of a finding.
pub const KEYS: &[&str] = &["path", "line", "level", "message"];

/// Whether a note for the author of a hook is about what its findings say.
pub fn is_about(note: &str) -> bool {
    note.contains("`findings.")
}
