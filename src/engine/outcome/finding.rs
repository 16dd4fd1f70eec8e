//! What a hook found, and where: a line of a file, a level, a message. Findings decide nothing;
//! they accompany a decision, so that a gate can point at what it means.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    #[serde(default)]
    pub level: FindingLevel,
    /// What it is.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingLevel {
    /// It must be mended.
    #[default]
    Error,
    /// It may be wrong.
    Warning,
    /// It is worth knowing.
    Notice,
}

// The words of GitHub's annotations, the usual one first.
names! { FindingLevel: Error "error", Warning "warning", Notice "notice" }

impl Finding {
    /// Reads the finding at this place in a list. Unknown keys are ignored, with a note for each.
    pub(crate) fn read(
        at: usize,
        mut value: Value,
        notes: &mut Vec<String>,
    ) -> Result<Finding, String> {
        if let Value::Object(entries) = &mut value {
            entries.retain(|_, value| !value.is_null());
            for key in entries.keys() {
                let note = format!("the key `findings.*.{key}` is not known and was ignored");
                if !KEYS.contains(&key.as_str()) && !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        let finding: Result<Finding, _> = serde_json::from_value(value);
        let finding = finding.map_err(|error| format!("`findings.{at}`: {error}"))?;
        let is_blank = finding.path.trim().is_empty() || finding.message.trim().is_empty();
        if is_blank || finding.line == Some(0) {
            let problem = "`path` and `message` must not be blank, lines count from 1";
            return Err(format!("`findings.{at}`: {problem}"));
        }
        Ok(finding)
    }
}

const KEYS: &[&str] = &["path", "line", "level", "message"];

/// Whether a note for the author of a hook is about what its findings say.
pub fn is_about(note: &str) -> bool {
    note.contains("`findings.")
}
