//! Turns a hook's exit status and output into a verdict or a failure, as `man hookrun-hook`
//! describes.
//!
//! 1. An answer is a JSON object at the start of a line with a contract key. It may span lines.
//! 2. In such an object, a key of `DECISION_KEYS` whose value blocks or asks elsewhere is
//!    malformed, unless it is a contract key.
//! 3. A line that begins with `{` and is not JSON is malformed if it has one of these keys.
//!    Everything else is text.
//!
//! A complete block always counts. Otherwise, two answers are malformed.

mod crash;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::engine::ending::{CapturedStream, Ending, Exit};
use crate::engine::event::json::{raw_entries, string_text};
use crate::engine::hook::contract::{Contract, Native, decision_values, foreign_decision};
use crate::engine::hook::{Permit, Printed};
use crate::engine::outcome::merge::failed_words;
use crate::engine::outcome::{ContractRule, Decision, Finding, Verdict};
pub(crate) use crash::crash;

#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) answers: Vec<Answer>,
    pub(crate) text: String,
    problem: Option<String>,
}

/// JSON object with a contract key. A repeated key has two entries.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) line: usize,
    pub(crate) entries: Vec<(String, Value)>,
}

/// Limit on bytes of invalid JSON: each nesting level is parsed again.
const READ_BYTES: usize = 4 * 1024 * 1024;

/// Splits stdout into answers and text. `cut_bytes` is the full size of truncated output.
pub(crate) fn read(stdout: &str, cut_bytes: Option<u64>, contract: &dyn Contract) -> Reading {
    let mut reading = Reading {
        problem: cut_bytes.map(|bytes| format!("stdout has {bytes} bytes; print at most 1 MiB")),
        ..Reading::default()
    };
    let mut left_bytes = READ_BYTES;
    let mut line = 1;
    let mut rest = stdout;
    while !rest.is_empty() {
        let text = rest.trim_start_matches(is_blank);
        let blanks = &rest[..rest.len() - text.len()];
        line += breaks(blanks);
        let mut is_answer = false;
        let mut end = 0;
        if text.starts_with(['{', '[']) && left_bytes > 0 {
            match <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(text)) {
                Ok(value) => {
                    end = value.get().len();
                    is_answer = reading.take(value.get(), line, contract);
                }
                Err(error) => {
                    if text.starts_with('{') {
                        end = object_end(text);
                        let problem = broken(&text[..end], line, &error, contract);
                        reading.problem = reading.problem.or(problem);
                    }
                    let lines = text.split_inclusive('\n').take(error.line());
                    left_bytes = left_bytes.saturating_sub(lines.map(str::len).sum());
                    if left_bytes == 0 {
                        let problem = "too many lines on stdout begin with `{` or `[`, but are not valid JSON; log to stderr";
                        reading.problem.get_or_insert(problem.to_string());
                    }
                }
            }
        }
        let after = text[end..]
            .trim_start_matches(|c: char| !"\n\r".contains(c) && (is_blank(c) || c == ','));
        let next = if end > 0 && after.starts_with(['{', '[']) {
            text.len() - after.len()
        } else {
            let line_end = text[end..].find(['\n', '\r']);
            line_end.map_or(text.len(), |at| end + at + 1)
        };
        reading.text.push_str(blanks);
        reading.text.push_str(if is_answer {
            text[end..next].trim_start()
        } else {
            &text[..next]
        });
        line += breaks(&text[..next]);
        rest = &text[next..];
    }
    reading.text = reading.text.trim().to_string();
    reading
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || "\0\u{feff}".contains(c)
}

impl Reading {
    fn take(&mut self, json: &str, line: usize, contract: &dyn Contract) -> bool {
        let mut entries = Vec::new();
        for (key, value) in raw_entries(json) {
            let key = string_text(key.get()).unwrap_or_default();
            // Numbers out of range and values nested too deeply become text.
            let value = serde_json::from_str(value.get()).unwrap_or_else(|_| {
                let text = string_text(value.get());
                text.unwrap_or_else(|| value.to_string()).into()
            });
            if let Some(path) = foreign_decision(&key, &key, &value, contract) {
                let cure = contract.cure();
                let problem = format!("line {line}: unknown key `{path}`; write {cure}");
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

    /// Returns the answer that counts: the first block, else the only answer. The error describes
    /// the malformed part.
    pub(crate) fn answer(&self, contract: &dyn Contract) -> Result<Option<&Answer>, String> {
        let mut answers = self.answers.iter();
        if let Some(block) = answers.find(|answer| contract.block(&answer.entries).is_some()) {
            return Ok(Some(block));
        }
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if let [first, second, ..] = self.answers.as_slice() {
            return Err(format!(
                "line {}: this is the second answer; the first is on line {}; print only one",
                second.line, first.line
            ));
        }
        Ok(self.answers.first())
    }

    /// Returns true if the text is one JSON object, which is a result in other systems.
    pub(crate) fn is_object(&self) -> bool {
        serde_json::from_str::<Map<String, Value>>(&self.text).is_ok()
    }
}

/// Describes an object that is not JSON, if it has a contract key (also unquoted, as in `{
/// continue: …`) or a decision key.
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
        let unquoted = head.strip_suffix(QUOTES);
        // After a colon it is a value: `{"status":"ok"`.
        let is_quoted = unquoted.is_some_and(|it| !it.trim_end().ends_with([':', '=', '[']));
        let is_own = contract.knows(key) && (is_quoted || head.trim_end().ends_with(['{', ',']));
        if is_own || is_quoted && decision_values(key, contract).is_some() {
            let line = line + breaks(head);
            let error = error.to_string();
            let words = error.split(" at line").next().unwrap_or_default();
            let cure = contract.cure();
            return Some(format!(
                "line {line}: an object with `{key}` is not valid JSON ({words}); write {cure}"
            ));
        }
    }
    None
}

/// Returns the end of an object that is not JSON: the line of its closing brace, or the last line
/// before another object.
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
        cut_bytes: stdout.is_cut().then_some(stdout.total_bytes),
        stderr,
    };
    match &permit.hook.convention {
        Some(convention) => convention.judge(&printed, permit),
        None => judge_native(&printed, permit),
    }
}

pub(crate) fn judge_native(printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let reading = read(printed.stdout, printed.cut_bytes, &Native);
    if printed.status == 0 {
        let mut notes = Vec::new();
        let verdict = verdict(&reading, permit, &mut notes);
        return (verdict.map_or_else(malformed, Ending::Answered), notes);
    }
    if let Some(problem) = crash(printed.status, &printed.stderr.text(), permit) {
        let reason = block_in(printed.stdout, &Native);
        return failed_after(reason, Ending::Crashed { problem });
    }
    blocked_by_status(printed, &reading, permit)
}

fn verdict(
    reading: &Reading,
    permit: Permit<'_>,
    notes: &mut Vec<String>,
) -> Result<Verdict, String> {
    let is_foreign = permit.hook.is_foreign();
    let mut verdict = match reading.answer(&Native)? {
        Some(answer) => Native
            .verdict(&answer.entries, permit, notes)
            .map_err(|problem| format!("line {}: {problem}", answer.line))?,
        // `{}`, or an object that is not an answer in the hook's own dialect, says nothing.
        None if matches!(reading.text.as_str(), "" | "{}") || is_foreign && reading.is_object() => {
            return Ok(Verdict::new(Decision::Allow, ContractRule::Silence));
        }
        None => Verdict::new(Decision::Allow, ContractRule::Text),
    };
    if verdict.rule == ContractRule::Text && permit.spec.conduct.text_is_context && !is_foreign {
        verdict.additional_context = Some(reading.text.clone());
    } else if verdict.output.is_none() && !reading.text.is_empty() {
        verdict.output = Some(reading.text.clone());
    }
    Ok(verdict)
}

pub(crate) fn block_in(stdout: &str, contract: &dyn Contract) -> Option<String> {
    let reading = read(stdout.trim_start_matches('\u{feff}'), None, contract);
    let mut answers = reading.answers.iter();
    answers.find_map(|answer| contract.block(&answer.entries))
}

/// Returns the ending of a failed hook. A complete block printed before the failure counts.
pub(crate) fn failed(
    failure: Ending,
    stdout: &CapturedStream,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let reason = match &permit.hook.convention {
        Some(convention) => convention.block_in(&stdout.text(), permit),
        None => block_in(&stdout.text(), &Native),
    };
    failed_after(reason, failure)
}

/// Turns a failure after a block into a note. Without a block, the failure is the ending.
pub(crate) fn failed_after(reason: Option<String>, failure: Ending) -> (Ending, Vec<String>) {
    let (Some(reason), Some(words)) = (reason, failure.failure()) else {
        return (failure, Vec::new());
    };
    let verdict = Verdict::new(Decision::Block { reason }, ContractRule::ContinueFalse);
    let note = format!("the hook blocked, then {}", failed_words(&words));
    (Ending::Answered(verdict), vec![note])
}

pub(crate) fn malformed(problem: String) -> Ending {
    Ending::Malformed { problem }
}

/// Blocks because of a non-zero exit. The reason is stderr, else the answer's `reason`, else other
/// stdout text, else the status.
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
                for (at, one) in list.iter().enumerate() {
                    match Finding::read(at, one.clone(), &mut notes) {
                        Ok(finding) => verdict.findings.push(finding),
                        Err(problem) => {
                            notes.push(format!("ignored a finding: {problem}"));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    reasons.push(reading.text.trim_start_matches("{}"));
    let reason = match reasons.iter().find(|it| !it.trim().is_empty()) {
        Some(reason) => reason.to_string(),
        None => {
            let note = "the hook printed no reason; if it should have allowed, end the script with `exit 0`: a script \
                also fails if its last command is a test that is false, or because of `set -e`";
            notes.push(note.to_string());
            format!(
                "hook `{}` exited with status {} and gave no reason",
                permit.hook.name, printed.status
            )
        }
    };
    verdict.decision = Decision::Block { reason };
    (Ending::Answered(verdict), notes)
}
