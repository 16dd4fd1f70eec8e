//! The hook contract: turns a hook's exit status and output into a verdict, or into a failure.
//!
//! Pure; `man hookrun-hook` describes what this file does. `read` splits stdout by these rules:
//!
//! 1. An answer is a JSON object at the start of a line with a key of the contract. It may span
//!    lines, and blanks before it do not matter. An object in a list is not an answer.
//! 2. In an object at the start of a line, a key of [`DECISION_KEYS`] whose value blocks or asks
//!    elsewhere is malformed, unless it is of the contract.
//! 3. What begins with `{` at the start of a line and is not JSON is malformed if it has a key of
//!    the contract or of that table. All else is text.
//!
//! An answer that blocks counts, whatever else is on stdout or happens to the hook later. Two
//! answers are malformed. A hook that was written for another system is judged by its
//! [`Convention`].

mod crash;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::engine::ending::{CapturedStream, Ending, Exit};
use crate::engine::event::JsonType::{self, Array, Boolean, Object, String as Text};
use crate::engine::event::json::{raw_entries, string_text};
use crate::engine::hook::{Contract, Convention, NO_REASON, Permit, Printed};
use crate::engine::outcome::{ContractRule, Decision, Finding, Verdict};
use crate::engine::spelling::plain;
pub(crate) use crash::crash;

/// A key of hookrun's own contract.
#[derive(Debug)]
pub struct ResultKey {
    pub name: &'static str,
    pub kind: JsonType,
    /// What it says, in words.
    pub about: &'static str,
}

const fn key(name: &'static str, kind: JsonType, about: &'static str) -> ResultKey {
    ResultKey { name, kind, about }
}

/// The keys of an answer.
pub const RESULT_KEYS: &[ResultKey] = &[
    key("continue", Boolean, "false blocks the event"),
    key("reason", Text, "why, for the person and the model"),
    key("ask", Text, "a question for a person to decide"),
    key("output", Text, "text to show"),
    key("additionalContext", Text, "text for the model"),
    key("update", Object, "new values for context fields"),
    key("findings", Array, "places in files, each with a message"),
];

/// Keys with which a known host or policy engine blocks or asks, and the values that do, as text in
/// lower case; after `!` the values that do not.
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

/// The values in the row of a key. `continue` and the keys of the contract itself also count with one
/// slip.
fn values_of(key: &str, contract: &dyn Contract) -> Option<&'static [&'static str]> {
    let key = plain(key);
    for (names, values) in DECISION_KEYS {
        for name in *names {
            let may_slip = *name == "continue" || name.len() >= 5 && contract.knows(name);
            if name.eq_ignore_ascii_case(&key)
                || may_slip
                    && key.len().abs_diff(name.len()) <= 1
                    && strsim::osa_distance(&key, &plain(name)) <= 1
            {
                return Some(values);
            }
        }
    }
    None
}

/// The path of a key of the table that blocks or asks, and is not of this contract.
fn foreign(path: &str, key: &str, value: &Value, contract: &dyn Contract) -> Option<String> {
    let values = values_of(key, contract)?;
    let text = match value {
        Value::Null | Value::Number(_) => return None,
        Value::String(text) => text.trim().to_lowercase(),
        Value::Object(inner) => {
            for (key, value) in inner {
                let path = foreign(&format!("{path}.{key}"), key, value, contract);
                if path.is_some() {
                    return path;
                }
            }
            value.to_string()
        }
        Value::Bool(_) | Value::Array(_) => value.to_string(),
    };
    let blocks = values.contains(&text.as_str()) != values.starts_with(&["!"]);
    (blocks && !contract.knows(path)).then(|| path.to_string())
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

/// How much text that is not JSON is read as JSON. Nested text is read once for each level.
const READ_BYTES: usize = 4 * 1024 * 1024;

/// Splits the text of stdout.
pub(crate) fn read(stdout: &str, is_cut: bool, contract: &dyn Contract) -> Reading {
    let mut reading = Reading::default();
    if is_cut {
        reading.problem = Some("stdout has more than 1 MiB".to_string());
    }
    let mut left_bytes = READ_BYTES;
    let mut line = 1;
    let mut rest = stdout;
    while !rest.is_empty() {
        let text = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\0');
        let blanks = &rest[..rest.len() - text.len()];
        line += breaks(blanks);
        reading.text.push_str(blanks);
        let mut is_answer = false;
        let mut end = 0;
        if text.starts_with(['{', '[']) && left_bytes > 0 {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
            match values.next() {
                Some(Ok(value)) => {
                    end = values.byte_offset();
                    is_answer = reading.take(value.get(), line, contract);
                }
                Some(Err(error)) => {
                    let lines = text.split_inclusive('\n').take(error.line() - 1);
                    let read_bytes = lines.map(str::len).sum::<usize>() + error.column();
                    left_bytes = left_bytes.saturating_sub(read_bytes);
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
        if !is_answer {
            reading.text.push_str(&text[..next]);
        } else if !text[end..next].trim().is_empty() {
            reading.text.push_str(&text[end..next]);
        }
        line += breaks(&text[..next]);
        rest = &text[next..];
    }
    if left_bytes == 0 && reading.problem.is_none() {
        reading.problem = Some("too much of it begins like JSON and is not".to_string());
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
            if let Some(path) = foreign(&key, &key, &value, contract) {
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
        let is_own = contract.knows(key) && (is_quoted || head.trim_end().ends_with(['{', ',']));
        if is_own || is_quoted && values_of(key, contract).is_some() {
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
    let mut end = 0;
    for line in text.split('\n') {
        if end > 0 && line.starts_with('{') {
            break;
        }
        end += line.len() + 1;
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        if depth == 0 {
            break;
        }
    }
    end - 1
}

fn breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// hookrun's own contract.
#[derive(Debug)]
pub(crate) struct Native;

impl Contract for Native {
    fn knows(&self, path: &str) -> bool {
        RESULT_KEYS.iter().any(|key| key.name == path)
    }

    fn block(&self, entries: &[(String, Value)]) -> Option<String> {
        if !entries.contains(&("continue".to_string(), Value::Bool(false))) {
            return None;
        }
        let reason = entries.iter().rfind(|(name, _)| name == "reason");
        let reason = reason.and_then(|(_, value)| value.as_str());
        let reason = reason.filter(|text| !text.trim().is_empty());
        Some(reason.unwrap_or(NO_REASON).to_string())
    }

    fn cure(&self) -> String {
        r#"{"continue": false, "reason": "…"} to block, {"ask": "…?"} to ask"#.to_string()
    }
}

impl<'a> Permit<'a> {
    /// The convention for reading its results; `None` for hookrun's own contract.
    fn convention(self) -> Option<&'a dyn Convention> {
        let convention = self.hook.convention.as_deref();
        convention.filter(|one| one.has_own_results())
    }
}

/// The ending of a hook that exited, with notes for its author.
pub fn judge(
    exit: Exit,
    stdout: &CapturedStream,
    stderr: &CapturedStream,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let status = match exit {
        Exit::Signal(signal) => return failed(Ending::Killed { signal }, stdout, permit),
        Exit::Status(status) => status,
    };
    let text = stdout.text();
    let printed = Printed {
        status,
        stdout: text.trim_start_matches('\u{feff}'),
        is_cut: stdout.is_cut(),
        stderr,
    };
    if let Some(convention) = permit.convention() {
        return convention.judge(&printed, permit);
    }
    let reading = read(printed.stdout, printed.is_cut, &Native);
    if status != 0 {
        return match crash(status, &stderr.text(), permit) {
            Some(problem) => failed(Ending::Crashed { problem }, stdout, permit),
            None => blocked_by_status(&printed, &reading, permit),
        };
    }
    let mut notes = Vec::new();
    match verdict(&reading, permit, &mut notes) {
        Ok(verdict) => (Ending::Answered(verdict), notes),
        Err(_) if stdout.is_cut() => {
            let bytes = stdout.total_bytes;
            let problem = format!("stdout has {bytes} bytes, more than 1 MiB");
            (malformed(problem), notes)
        }
        Err(problem) => (malformed(problem), notes),
    }
}

/// The verdict of a hook that exited with 0.
fn verdict(
    reading: &Reading,
    permit: Permit<'_>,
    notes: &mut Vec<String>,
) -> Result<Verdict, String> {
    let is_foreign = permit.hook.convention.is_some();
    let mut verdict = match reading.answer(&Native)? {
        Some(answer) => structured(answer, permit, notes)?,
        // An object that says nothing; in other systems, that is any other object.
        None if reading.text == "{}" || is_foreign && reading.is_object() => {
            return Ok(Verdict::new(Decision::Allow, ContractRule::Silence));
        }
        None if reading.text.is_empty() => Verdict::new(Decision::Allow, ContractRule::Silence),
        None => Verdict::new(Decision::Allow, ContractRule::Text),
    };
    if verdict.rule == ContractRule::Text && permit.spec.conduct.text_teaches && !is_foreign {
        verdict.additional_context = Some(reading.text.clone());
    } else if verdict.output.is_none() && !reading.text.is_empty() {
        verdict.output = Some(reading.text.clone());
    }
    Ok(verdict)
}

/// The verdict of an answer. One that blocks does so even if its other keys are malformed.
fn structured(
    answer: &Answer,
    permit: Permit<'_>,
    notes: &mut Vec<String>,
) -> Result<Verdict, String> {
    let values =
        values(answer, permit, notes).map_err(|problem| format!("line {}: {problem}", answer.line));
    let Some(reason) = Native.block(&answer.entries) else {
        if answer.entries.iter().all(|(key, _)| key == "reason") {
            notes.push("`reason` alone blocks nothing; add `\"continue\": false`".to_string());
        }
        return values;
    };
    let mut verdict = values.unwrap_or_else(|problem| {
        notes.push(problem);
        Verdict::new(Decision::Allow, ContractRule::ContinueFalse)
    });
    verdict.decision = Decision::Block { reason };
    verdict.rule = ContractRule::ContinueFalse;
    Ok(verdict)
}

/// What an answer says beside `continue` and `reason`. `null` is like a missing key.
fn values(answer: &Answer, permit: Permit<'_>, notes: &mut Vec<String>) -> Result<Verdict, String> {
    let mut verdict = Verdict::new(Decision::Allow, ContractRule::Structured);
    for (name, value) in &answer.entries {
        let Some(key) = RESULT_KEYS.iter().find(|key| key.name == name) else {
            notes.push(format!("the key `{name}` is not known and was ignored"));
            continue;
        };
        if !value.is_null() && !key.kind.fits(value) {
            return Err(format!("`{name}` must be a JSON {}", key.kind.name()));
        }
        match (name.as_str(), value.clone()) {
            ("ask", Value::String(question)) => {
                verdict.decision = Decision::Ask { question };
                verdict.rule = ContractRule::Asked;
            }
            ("output", Value::String(text)) => verdict.output = Some(text),
            ("additionalContext", Value::String(text)) => verdict.additional_context = Some(text),
            ("update", Value::Object(fields)) => verdict.update = fields.into_iter().collect(),
            ("findings", Value::Array(list)) => verdict.findings = findings(list, notes)?,
            _ => {}
        }
    }
    permit.check(&verdict)?;
    Ok(verdict)
}

fn findings(list: Vec<Value>, notes: &mut Vec<String>) -> Result<Vec<Finding>, String> {
    let list = list.into_iter().enumerate();
    list.map(|(at, one)| Finding::read(at, one, notes))
        .collect()
}

/// The reason of the first complete block in the text of stdout.
pub(crate) fn block_in(stdout: &str, contract: &dyn Contract) -> Option<String> {
    let reading = read(stdout.trim_start_matches('\u{feff}'), false, contract);
    let mut answers = reading.answers.iter();
    answers.find_map(|answer| contract.block(&answer.entries))
}

/// The ending of a hook that failed. A complete block that it printed first counts, and its failure
/// becomes a note.
pub(crate) fn failed(
    failure: Ending,
    stdout: &CapturedStream,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let text = stdout.text();
    let reason = match permit.convention() {
        Some(convention) => convention.block_in(&text, permit),
        None => block_in(&text, &Native),
    };
    let (Some(reason), Some(words)) = (reason, failure.failure()) else {
        return (failure, Vec::new());
    };
    let verdict = Verdict::new(Decision::Block { reason }, ContractRule::ContinueFalse);
    let note = format!("it had blocked, and then failed: {words}");
    (Ending::Answered(verdict), vec![note])
}

pub(crate) fn malformed(problem: String) -> Ending {
    Ending::Malformed { problem }
}

/// The verdict of a non-zero exit. The reason is stderr, else the answer's `reason`, else text on
/// stdout, else the status.
pub(crate) fn blocked_by_status(
    printed: &Printed<'_>,
    reading: &Reading,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let stderr = printed.stderr.text();
    let mut notes = Vec::new();
    let mut reasons = vec![stderr.trim_start_matches('\u{feff}').trim()];
    let mut verdict = Verdict::new(Decision::Allow, ContractRule::NonZeroExit);
    for (name, value) in reading.answers.iter().flat_map(|answer| &answer.entries) {
        match (name.as_str(), value) {
            ("reason", Value::String(text)) => reasons.push(text),
            ("findings", Value::Array(list)) => {
                let mut ignored = Vec::new();
                for (at, one) in list.iter().enumerate() {
                    match Finding::read(at, one.clone(), &mut ignored) {
                        Ok(finding) => verdict.findings.push(finding),
                        Err(problem) => {
                            notes.push(format!("{problem}, so that finding is not used"));
                        }
                    }
                }
                notes.append(&mut ignored);
            }
            _ => {}
        }
    }
    // An object that says nothing is no reason.
    reasons.push(reading.text.trim_start_matches("{}"));
    let reason = match reasons.iter().find(|it| !it.trim().is_empty()) {
        Some(reason) => reason.to_string(),
        None => {
            notes.push(SAID_NOTHING.to_string());
            let (name, status) = (&permit.hook.name, printed.status);
            format!("hook `{name}` exited with status {status} and gave no reason")
        }
    };
    verdict.decision = Decision::Block { reason };
    (Ending::Answered(verdict), notes)
}

/// A note for the author of a hook that blocks without a reason.
const SAID_NOTHING: &str = "it said nothing: if it was not meant to block, end it with `exit 0`; \
    a test that is false as the last line, and `set -e`, exit with status 1";
