//! What came back against what must come back.

use regex::Regex;
use serde_json::Value;

use super::vector::{TextPattern, VectorExpectation, pattern};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Got {
    /// The exit status, or the negative number of the signal.
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

const LONGEST_SHOWN_CHARS: usize = 400;

/// Everything in which an answer is not as expected, a line for each.
pub fn misses(expect: &VectorExpectation, got: &Got) -> Vec<String> {
    let mut misses = Vec::new();
    if expect.status != got.status {
        misses.push(format!(
            "status: expected {}, got {}",
            expect.status, got.status
        ));
    }
    let stdout = String::from_utf8_lossy(&got.stdout);
    match &expect.stdout {
        None if stdout.is_empty() => {}
        None => misses.push(format!(
            "stdout: expected nothing at all, got {}",
            shown(&stdout)
        )),
        Some(wanted) => match serde_json::from_slice::<Value>(&got.stdout) {
            Ok(found) => differences("stdout", wanted, Some(&found), &mut misses),
            Err(_) => misses.push(format!(
                "stdout: expected {wanted}, got what is not one JSON document: {}",
                shown(&stdout)
            )),
        },
    }
    let stderr = String::from_utf8_lossy(&got.stderr);
    misses.extend(wording(&expect.stderr, &stderr).map(|miss| format!("stderr: {miss}")));
    misses
}

/// Where two JSON documents differ. An expected object with the one key `$contains` or `$matches`
/// is about the text in its place.
fn differences(place: &str, wanted: &Value, found: Option<&Value>, misses: &mut Vec<String>) {
    let Some(found) = found else {
        misses.push(format!("{place}: expected {wanted}, got nothing"));
        return;
    };
    match (wanted, found) {
        (Value::Object(object), Value::String(text)) if pattern(object, "$").is_some() => {
            let words = pattern(object, "$").unwrap_or_default();
            misses.extend(wording(&words, text).map(|miss| format!("{place}: {miss}")));
        }
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                differences(&format!("{place}.{key}"), value, found.get(key), misses);
            }
            for (key, value) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                let value = shown(&value.to_string());
                misses.push(format!("{place}.{key}: expected nothing, got {value}"));
            }
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            for (index, (wanted, found)) in wanted.iter().zip(found).enumerate() {
                differences(&format!("{place}[{index}]"), wanted, Some(found), misses);
            }
        }
        (wanted, found) if wanted == found => {}
        (wanted, found) => {
            let found = shown(&found.to_string());
            misses.push(format!("{place}: expected {wanted}, got {found}"));
        }
    }
}

fn wording(words: &TextPattern, text: &str) -> Option<String> {
    let wanted = match words {
        TextPattern::Exactly(wanted) if wanted == text => return None,
        TextPattern::Exactly(wanted) if wanted.is_empty() => "nothing at all".to_string(),
        TextPattern::Exactly(wanted) => format!("{wanted:?}"),
        TextPattern::Contain(all) => {
            let missing = all.iter().find(|part| !text.contains(part.as_str()))?;
            format!("{missing:?} in it")
        }
        TextPattern::Match(regex) => {
            if Regex::new(regex).is_ok_and(|regex| regex.is_match(text)) {
                return None;
            }
            format!("what matches /{regex}/")
        }
    };
    Some(format!("expected {wanted}, got {}", shown_text(text)))
}

fn shown_text(text: &str) -> String {
    if text.is_empty() {
        "nothing".to_string()
    } else {
        shown(&format!("{text:?}"))
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN_CHARS) {
        None => text.to_string(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
    }
}
