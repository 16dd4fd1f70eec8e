//! Turns a hook's exit status and output into a verdict, or into a malformed answer.
//!
//! Pure. This is the whole hook contract; `man hookrun-hook` describes what this file does.
//!
//! 1. A signal is a failure, and so is a crash of the program. A complete block printed before it
//!    still counts.
//! 2. A non-zero exit status blocks; nothing on stdout can undo it.
//! 3. An answer that blocks counts, whatever else is on stdout. Otherwise what is malformed is a
//!    failure, and so are two answers, or more than 1 MiB.
//! 4. Text around the answer is `output`, unless the answer has its own.
//!
//! A hook that was written for another system is judged by its [`Convention`].

mod crash;
mod read;

use serde_json::Value;

use crate::engine::ending::{CapturedStream, Ending, Exit, signal_name};
use crate::engine::event::JsonType::{self, Array, Boolean, Object, String as Text};
use crate::engine::hook::{Contract, Convention, NO_REASON, Permit, Printed};
use crate::engine::outcome::{ContractRule, Decision, Finding, Verdict};
pub(crate) use crash::crash;
pub use read::DECISION_KEYS;
pub(crate) use read::{Answer, Reading, is_decision_key, read};

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
        Some(text(entries, "reason").unwrap_or(NO_REASON).to_string())
    }

    fn cure(&self) -> String {
        r#"{"continue": false, "reason": "…"} to block, {"ask": "…?"} to ask"#.to_string()
    }
}

/// The text of a key, unless it is blank.
pub(crate) fn text<'a>(entries: &'a [(String, Value)], key: &str) -> Option<&'a str> {
    let (_, value) = entries.iter().rfind(|(name, _)| name == key)?;
    value.as_str().filter(|text| !text.trim().is_empty())
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
    let values = values(answer, permit, notes);
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
    let line = answer.line;
    let mut verdict = Verdict::new(Decision::Allow, ContractRule::Structured);
    for (name, value) in &answer.entries {
        match RESULT_KEYS.iter().find(|key| key.name == name) {
            None => notes.push(format!("the key `{name}` is not known and was ignored")),
            Some(key) if value.is_null() || key.kind.fits(value) => {}
            Some(key) => {
                let kind = key.kind.name();
                return Err(format!("line {line}: `{name}` must be a JSON {kind}"));
            }
        }
        match (name.as_str(), value.clone()) {
            ("ask", Value::String(question)) => {
                verdict.decision = Decision::Ask { question };
                verdict.rule = ContractRule::Asked;
            }
            ("output", Value::String(text)) => verdict.output = Some(text),
            ("additionalContext", Value::String(text)) => verdict.additional_context = Some(text),
            ("update", Value::Object(fields)) => verdict.update = fields.into_iter().collect(),
            ("findings", Value::Array(list)) => {
                for (at, one) in list.into_iter().enumerate() {
                    let finding = Finding::read(at, one, notes);
                    verdict
                        .findings
                        .push(finding.map_err(|it| format!("line {line}: {it}"))?);
                }
            }
            _ => {}
        }
    }
    permit
        .check(&verdict)
        .map_err(|problem| format!("line {line}: {problem}"))?;
    Ok(verdict)
}

/// The reason of the first complete block in the text of stdout.
pub(crate) fn block_in(stdout: &str, contract: &dyn Contract) -> Option<String> {
    let answers = read(stdout.trim_start_matches('\u{feff}'), false, contract).answers;
    answers
        .iter()
        .find_map(|answer| contract.block(&answer.entries))
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

/// A note for the author of a hook that blocks without a reason.
const SAID_NOTHING: &str = "it said nothing: if it was not meant to block, end it with `exit 0`; \
    a test that is false as the last line, and `set -e`, exit with status 1";

/// The verdict of a non-zero exit. The reason is stderr, else the answer's `reason`, else text on
/// stdout, else the status.
pub(crate) fn blocked_by_status(
    printed: &Printed<'_>,
    reading: &Reading,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let (status, stderr) = (printed.status, printed.stderr.text());
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
                        Err(it) => notes.push(format!("{it}, so that finding is not used")),
                    }
                }
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
            let name = &permit.hook.name;
            format!("hook `{name}` exited with status {status} and gave no reason")
        }
    };
    verdict.decision = Decision::Block { reason };
    if (129..=159).contains(&status) {
        let signal = signal_name(status - 128);
        notes.push(format!(
            "status {status} is what a shell reports for {signal}"
        ));
    }
    (Ending::Answered(verdict), notes)
}
