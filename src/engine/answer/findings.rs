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
        return Err(format!(
            "`findings.{at}` must be a JSON object with `path` and `message`"
        ));
    };
    for (index, (key, _)) in entries.iter().enumerate() {
        if !KEYS.contains(&key.as_str()) {
            if let Some(meant) = spelling::nearest(key, KEYS.iter().copied()) {
                return Err(format!(
                    "`findings.{at}.{key}` is not a key; did you mean `{meant}`?"
                ));
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
    let get = |wanted: &str| {
        entries
            .iter()
            .find(|(key, _)| key == wanted)
            .map(|(_, value)| value)
    };
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
            let row = FindingLevel::NAMES
                .iter()
                .find(|(_, known)| word.as_str() == Some(known));
            let (level, _) = row.ok_or_else(|| {
                let words: Vec<&str> = FindingLevel::NAMES.iter().map(|(_, word)| *word).collect();
                format!(".level` must be one of `{}`", words.join("`, `"))
            })?;
            *level
        }
    };
    Ok(Finding {
        path: text("path")?,
        line,
        level,
        message: text("message")?,
    })
}
