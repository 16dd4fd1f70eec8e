//! What a hook found, and where: a line of a file, a level, a message. Findings decide nothing;
//! they stand beside a decision, so that a gate can point at what it means.

use serde::{Deserialize, Serialize};

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

/// Every level with its word, the usual one first. The words are those of GitHub's annotations.
pub const LEVELS: &[(FindingLevel, &str)] = &[
    (FindingLevel::Error, "error"),
    (FindingLevel::Warning, "warning"),
    (FindingLevel::Notice, "notice"),
];

impl FindingLevel {
    /// Its word.
    pub fn word(self) -> &'static str {
        let row = LEVELS.iter().find(|(level, _)| *level == self);
        row.map(|(_, word)| *word).expect("every level has a row: tested below")
    }
}

/// The keys of a finding.
pub const KEYS: &[&str] = &["path", "line", "level", "message"];

/// Whether a note for the author of a hook is about what its findings say.
pub fn is_about(note: &str) -> bool {
    note.contains("`findings.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_level_has_one_row() {
        for level in [FindingLevel::Error, FindingLevel::Warning, FindingLevel::Notice] {
            assert_eq!(LEVELS.iter().filter(|(row, _)| *row == level).count(), 1, "{level:?}");
            assert_eq!(json!(level), level.word());
        }
    }
}
