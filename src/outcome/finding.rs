//! What a hook found, and where: a line of a file, a level, a message. Findings decide nothing;
//! they stand beside a decision, so that a gate can point at what it means.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// The findings of a list of objects: `path` and `message`, and if they are there `line` and
/// `level` (`error` where it is not).
///
/// # Errors
/// What is wrong with the first one that cannot be read.
pub fn read(list: &[Value]) -> Result<Vec<Finding>, String> {
    let read = |(at, value): (usize, &Value)| {
        one(value).map_err(|problem| format!("`findings.{at}{problem}"))
    };
    list.iter().enumerate().map(read).collect()
}

/// One finding, or what is wrong with it: a key and the end of a sentence.
fn one(value: &Value) -> Result<Finding, String> {
    let Value::Object(entries) = value else {
        return Err("` must be a JSON object with `path` and `message`".to_string());
    };
    let text = |key: &str| match entries.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        Some(_) | None => Err(format!(".{key}` must be a text that is not empty")),
    };
    let line = match entries.get("line") {
        None | Some(Value::Null) => None,
        Some(line) => {
            let line = line.as_u64().filter(|line| *line > 0);
            Some(line.ok_or_else(|| ".line` must be a whole number from 1".to_string())?)
        }
    };
    let level = match entries.get("level") {
        None | Some(Value::Null) => FindingLevel::Error,
        Some(word) => {
            let row = LEVELS.iter().find(|(_, known)| word.as_str() == Some(known));
            let (level, _) = row.ok_or_else(|| {
                let words: Vec<&str> = LEVELS.iter().map(|(_, word)| *word).collect();
                format!(".level` must be one of `{}`", words.join("`, `"))
            })?;
            *level
        }
    };
    Ok(Finding { path: text("path")?, line, level, message: text("message")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_json(list: &Value) -> Result<Vec<Finding>, String> {
        read(list.as_array().unwrap())
    }

    #[test]
    fn every_level_has_one_row() {
        for level in [FindingLevel::Error, FindingLevel::Warning, FindingLevel::Notice] {
            assert_eq!(LEVELS.iter().filter(|(row, _)| *row == level).count(), 1, "{level:?}");
            assert_eq!(json!(level), level.word());
        }
    }

    #[test]
    fn a_finding_is_a_place_and_a_message() {
        let list = json!([
            {"path": "main.tf", "line": 3, "level": "warning", "message": "wide open"},
            {"path": "a", "message": "b", "line": null, "unknown": 1},
        ]);
        let read = read_json(&list).unwrap();
        assert_eq!((read[0].line, read[0].level), (Some(3), FindingLevel::Warning));
        assert_eq!((read[1].line, read[1].level), (None, FindingLevel::Error));
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_place() {
        for (one, problem) in [
            (json!("a.rs:3: bad"), "`findings.0` must be a JSON object"),
            (json!({"path": "a"}), "`findings.0.message` must be a text"),
            (json!({"path": " ", "message": "m"}), "`findings.0.path` must be a text"),
            (json!({"path": "a", "message": "m", "line": 0}), "`findings.0.line` must be"),
            (json!({"path": "a", "message": "m", "line": "3"}), "`findings.0.line` must be"),
            (json!({"path": "a", "message": "m", "level": "bad"}), "`error`, `warning`, `notice`"),
        ] {
            let said = read_json(&json!([one])).unwrap_err();
            assert!(said.contains(problem), "{one}: {said}");
        }
    }
}
