//! The findings of an answer, checked as strictly as the answer's own keys.

use serde_json::Value;

use crate::engine::outcome::Finding;
use crate::engine::outcome::finding::{FindingLevel, KEYS};
use crate::engine::spelling;

/// The entries of a finding in order, with duplicates; `None` for anything but a JSON object.
pub(crate) type WrittenFinding = Option<Vec<(String, Value)>>;

/// Reads the finding at this place in a list: `path` and `message`, optionally `line` and `level`
/// (`error` by default). An unknown key is ignored and added to `unknown`.
pub(crate) fn read(
    at: usize,
    written: &WrittenFinding,
    unknown: &mut Vec<String>,
) -> Result<Finding, String> {
    let Some(entries) = written else {
        return Err(format!("`findings.{at}` must be a JSON object with `path` and `message`"));
    };
    for (index, (key, _)) in entries.iter().enumerate() {
        if !KEYS.contains(&key.as_str()) {
            if let Some(meant) = spelling::nearest(key, KEYS.iter().copied()) {
                return Err(format!("`findings.{at}.{key}` is not a key; did you mean `{meant}`?"));
            }
            unknown.push(key.clone());
        } else if entries[..index].iter().any(|(earlier, _)| earlier == key) {
            return Err(format!("the key `findings.{at}.{key}` appears twice"));
        }
    }
    one(entries).map_err(|problem| format!("`findings.{at}{problem}"))
}

/// Reads a whole list into `found`, and returns the notes about it.
pub(crate) fn read_all(
    list: &[WrittenFinding],
    found: &mut Vec<Finding>,
) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    for (at, one) in list.iter().enumerate() {
        found.push(read(at, one, &mut unknown)?);
    }
    Ok(ignored(unknown))
}

/// How many unknown keys the notes name.
const MOST_KEYS: usize = 10;

/// Notes about unknown keys, one for each of the first.
pub(crate) fn ignored(mut unknown: Vec<String>) -> Vec<String> {
    unknown.sort_unstable();
    unknown.dedup();
    unknown.truncate(MOST_KEYS);
    let note = |key: &String| format!("the key `findings.*.{key}` is not known and was ignored");
    unknown.iter().map(note).collect()
}

/// Reads one finding. The error is a key and the end of a sentence about it.
fn one(entries: &[(String, Value)]) -> Result<Finding, String> {
    let get = |wanted: &str| entries.iter().find(|(key, _)| key == wanted).map(|(_, value)| value);
    let text = |key: &str| match get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        Some(_) | None => Err(format!(".{key}` must be a text that is not empty")),
    };
    let line = match get("line") {
        None | Some(Value::Null) => None,
        Some(line) => {
            let line = line.as_u64().filter(|line| *line > 0);
            Some(line.ok_or_else(|| ".line` must be a whole number from 1".to_string())?)
        }
    };
    let level = match get("level") {
        None | Some(Value::Null) => FindingLevel::Error,
        Some(word) => {
            let row = FindingLevel::NAMES.iter().find(|(_, known)| word.as_str() == Some(known));
            let (level, _) = row.ok_or_else(|| {
                let words: Vec<&str> = FindingLevel::NAMES.iter().map(|(_, word)| *word).collect();
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
    use crate::engine::outcome::finding::is_about;
    use serde_json::json;

    fn read_one(value: &Value) -> (Result<Finding, String>, Vec<String>) {
        let entries = value.as_object().map(|entries| entries.clone().into_iter().collect());
        let mut unknown = Vec::new();
        (read(0, &entries, &mut unknown), ignored(unknown))
    }

    #[test]
    fn a_finding_is_a_place_and_a_message() {
        let whole = json!({"path": "a.tf", "line": 3, "level": "warning", "message": "open"});
        let (finding, notes) = read_one(&whole);
        assert_eq!(json!(finding.unwrap()), whole);
        assert!(notes.is_empty(), "{notes:?}");
        let (finding, notes) =
            read_one(&json!({"path": "a", "message": "b", "line": null, "x": 1}));
        let finding = finding.unwrap();
        assert_eq!((finding.line, finding.level), (None, FindingLevel::Error));
        assert_eq!(notes, ["the key `findings.*.x` is not known and was ignored"]);
        assert!(is_about(&notes[0]));
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
            (json!({"path": "a", "message": "m", "lien": 3}), "did you mean `line`?"),
        ] {
            let said = read_one(&one).0.unwrap_err();
            assert!(said.contains(problem), "{one}: {said}");
            assert!(is_about(&said), "{said}");
        }
        let twice = ["path", "line", "line"].map(|key| (key.to_string(), json!(1)));
        let said = read(7, &Some(twice.to_vec()), &mut Vec::new()).unwrap_err();
        assert_eq!(said, "the key `findings.7.line` appears twice");
    }
}
