//! Splits what a hook printed into answers and text: the whole grammar of answers.
//!
//! 1. An answer is a JSON object at the start of a line with a key of the [`Contract`]. It may span
//!    lines, and blanks before it do not matter. An object in a list is not an answer.
//! 2. In an object at the start of a line, a key of [`DECISION_KEYS`] whose value blocks or asks
//!    elsewhere is malformed, unless it is of the contract.
//! 3. What begins with `{` at the start of a line and is not JSON is malformed if it has a key of
//!    the contract or of that table. All else is text.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::engine::event::json::{raw_entries, string_text};
use crate::engine::hook::Contract;
use crate::engine::spelling::plain;

/// Keys with which a known host or policy engine blocks or asks, and the values that do, as text in
/// lower case; after `!` the values that do not. A long key, and one of the contract, also counts
/// with one slip, as `contine`.
pub const DECISION_KEYS: &[(&[&str], &[&str])] = &[
    (&["continue"], &["!", "true"]),
    (&["ask", "deny", "denied", "reject", "refuse"], ANYTHING),
    (&["ok", "allow", "allowed", "accept", "approve"], NO),
    (&["approved", "permit", "proceed", "result"], NO),
    (&["block", "blocked", "cancel", "halt", "stop"], YES),
    (&["decision", "permission", "permissionDecision"], WORDS),
    (&["action", "behavior", "effect", "verdict"], WORDS),
    (&["hookSpecificOutput"], &[]),
];

const ANYTHING: &[&str] = &["!", "", "false", "no", "none", "[]", "{}"];
const NO: &[&str] = &["false", "no"];
const YES: &[&str] = &["true", "yes"];
const WORDS: &[&str] = &[
    "ask", "deny", "denied", "block", "blocked", "reject", "refuse", "forbid", "false",
];

/// Whether the last key of a path is one of the table.
pub(crate) fn is_decision_key(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or_default();
    DECISION_KEYS.iter().any(|(names, _)| names.contains(&key))
}

/// The values in the row of a key.
fn values_of(key: &str, contract: &dyn Contract) -> Option<&'static [&'static str]> {
    let is_meant = |name: &&str| {
        let is_own = name.len() >= 5 && contract.knows(name);
        let may_slip = (is_own || name.len() >= 8) && key.len().abs_diff(name.len()) <= 2;
        key == *name || may_slip && strsim::osa_distance(&plain(key), &plain(name)) <= 1
    };
    let row = DECISION_KEYS
        .iter()
        .find(|(names, _)| names.iter().any(is_meant));
    row.map(|(_, values)| *values)
}

/// The path of a key of the table that blocks or asks, and is not of this contract.
fn foreign(above: &str, key: &str, value: &Value, contract: &dyn Contract) -> Option<String> {
    let values = values_of(key, contract).filter(|_| !value.is_null() && !value.is_number())?;
    let path = format!("{above}{key}");
    if let Value::Object(inner) = value {
        let above = format!("{path}.");
        for (key, value) in inner {
            if let Some(path) = foreign(&above, key, value, contract) {
                return Some(path);
            }
        }
    }
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_string);
    let is_listed = values.contains(&text.trim().to_lowercase().as_str());
    let objects = is_listed != values.starts_with(&["!"]);
    (objects && !contract.knows(&path)).then_some(path)
}

/// What a hook printed.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) answers: Vec<Answer>,
    /// Everything else.
    pub(crate) text: String,
    /// The first thing that is malformed.
    problem: Option<String>,
}

/// A JSON object with a key of the contract. A key that is there twice has two entries.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) line: usize,
    pub(crate) entries: Vec<(String, Value)>,
}

impl Reading {
    /// The answer that counts: one that blocks, else the only one.
    ///
    /// # Errors
    /// What is malformed.
    pub(crate) fn answer(&self, contract: &dyn Contract) -> Result<Option<&Answer>, String> {
        let mut answers = self.answers.iter();
        if let Some(block) = answers.find(|answer| contract.block(&answer.entries).is_some()) {
            return Ok(Some(block));
        }
        if let Some(problem) = &self.problem {
            return Err(format!("{problem}; write {}", contract.cure()));
        }
        if let [first, second, ..] = self.answers.as_slice() {
            let (first, second) = (first.line, second.line);
            return Err(format!(
                "line {second}: a second answer after that of line {first}; print one"
            ));
        }
        Ok(self.answers.first())
    }

    /// Whether the text is one JSON object, which is a result in other systems.
    pub(crate) fn is_object(&self) -> bool {
        serde_json::from_str::<Map<String, Value>>(&self.text).is_ok()
    }
}

/// How much text that is not JSON is read as JSON. Nested text is read once for each level.
const READ_BYTES: usize = 4 * 1024 * 1024;

/// Splits the text of stdout.
pub(crate) fn read(stdout: &str, is_cut: bool, contract: &dyn Contract) -> Reading {
    let mut reading = Reading {
        problem: is_cut.then(|| "stdout has more than 1 MiB".to_string()),
        ..Reading::default()
    };
    let mut left_bytes = READ_BYTES;
    let mut line = 1;
    let mut rest = stdout;
    while !rest.is_empty() {
        let text = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\0');
        let blanks = &rest[..rest.len() - text.len()];
        line += breaks(blanks);
        reading.text.push_str(blanks);
        let mut is_text = true;
        let mut end = 0;
        if text.starts_with(['{', '[']) && left_bytes > 0 {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
            match values.next() {
                Some(Ok(value)) => {
                    end = values.byte_offset();
                    is_text = !reading.take(value.get(), line, contract);
                }
                Some(Err(error)) => {
                    left_bytes = left_bytes.saturating_sub(read_until(text, &error));
                    if text.starts_with('{') {
                        end = object_end(text);
                        let problem = broken(&text[..end], line, &error, contract);
                        reading.problem = reading.problem.or(problem);
                    }
                }
                None => {}
            }
        }
        // Another value may follow on the line.
        let after = text[end..].trim_start_matches([' ', '\t']);
        let mut next = text.len() - after.len();
        if end == 0 || !after.starts_with(['{', '[']) {
            let line_end = text[end..].find(['\n', '\r']);
            next = line_end.map_or(text.len(), |at| end + at + 1);
        }
        if is_text {
            reading.text.push_str(&text[..next]);
        } else if !text[end..next].trim().is_empty() {
            reading.text.push_str(&text[end..next]);
        }
        line += breaks(&text[..next]);
        rest = &text[next..];
    }
    if left_bytes == 0 {
        let problem = "too much of it begins like JSON and is not".to_string();
        reading.problem.get_or_insert(problem);
    }
    reading.text = reading.text.trim().to_string();
    reading
}

impl Reading {
    /// Takes a JSON value, if it is an answer.
    fn take(&mut self, json: &str, line: usize, contract: &dyn Contract) -> bool {
        let mut entries = Vec::new();
        for (key, value) in raw_entries(json) {
            let key = string_text(key.get()).unwrap_or_default();
            // What cannot be read (a number out of range, nesting that is too deep) is a text.
            let value = serde_json::from_str(value.get()).unwrap_or_else(|_| {
                let text = string_text(value.get());
                text.unwrap_or_else(|| value.to_string()).into()
            });
            if let Some(path) = foreign("", &key, &value, contract) {
                let problem = format!("line {line}: `{path}` decides nothing here");
                self.problem.get_or_insert(problem);
            }
            entries.push((key, value));
        }
        let is_answer = entries.iter().any(|(key, _)| contract.knows(key));
        if is_answer {
            self.answers.push(Answer { line, entries });
        }
        is_answer
    }
}

/// What is wrong with text that begins like an object and is not JSON, if it has a key that counts:
/// of the contract, also without quotes (`{ continue: …`), or of the table.
fn broken(
    object: &str,
    line: usize,
    error: &serde_json::Error,
    contract: &dyn Contract,
) -> Option<String> {
    const QUOTES: &[char] = &['"', '\'', '`', '“', '”', '‘', '’'];
    let object = object.replace(['\\', '\0'], "");
    let colons = object.match_indices([':', '=']).map(|(at, _)| at);
    for end in colons.chain([object.len()]) {
        let before = object[..end].trim_end().trim_end_matches(QUOTES);
        let head = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        let key = &before[head.len()..];
        let is_quoted = head.ends_with(QUOTES);
        let is_bare = head.trim_end().ends_with(['{', ',']);
        let is_of_table = is_quoted && values_of(key, contract).is_some();
        if is_of_table || (is_quoted || is_bare) && contract.knows(key) {
            let line = line + breaks(head);
            let words = error.to_string();
            let words = words.split(" at line").next().unwrap_or_default();
            return Some(format!(
                "line {line}: an object with `{key}` is not JSON ({words})"
            ));
        }
    }
    None
}

/// Where an object that is not JSON ends: with the line of its closing brace, or before a line with
/// another object.
fn object_end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut last = b' ';
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' if depth == 0 => return at,
            b'{' if last == b'\n' => return at,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        last = byte;
    }
    text.len()
}

fn breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// How much of a text the reader of JSON read.
fn read_until(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line() - 1);
    lines.map(str::len).sum::<usize>() + error.column()
}
