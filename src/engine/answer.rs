//! Turns a hook's exit status and output into a verdict, or into a malformed answer.
//!
//! Pure. This is the whole hook contract; `man hookrun-hook` describes what this file does.
//!
//! 1. A signal is a failure, and so is a crash of the program. A complete block printed before it
//!    still counts.
//! 2. A non-zero exit status blocks; nothing on stdout can undo it.
//! 3. A block counts anywhere in the output, in every host's words (`search`).
//! 4. More than 1 MiB of stdout is malformed; only complete blocks in its beginning count.
//! 5. Empty stdout is no opinion; text without an answer is `output`.
//! 6. An answer is one JSON object that follows the contract. Log lines around it change nothing.
//!
//! A hook that was written for another system is judged by its [`Convention`].

mod crash;
mod findings;
mod keys;
mod line;
mod object;
mod plain;
pub mod refusal;
mod search;
mod structured;
mod text;
mod written;

use serde_json::Value;

use crate::engine::ending::{CapturedStream, Ending, Exit, signal_name};
use crate::engine::hook::{Convention, Permit, Printed};
use crate::engine::outcome::{ContractRule, Decision, Verdict};
pub(crate) use crash::crash;
pub use keys::{RESULT_KEYS, ResultKey};
pub use object::objects_in;
pub(crate) use object::{all_of, read_object};
use object::{findings_in, last, own_entries_of};
use refusal::Vocabulary;
pub(crate) use search::{FoundAnswers, search};
use structured::structured;
pub(crate) use text::{InText, read_text, without_colours};

impl<'a> Permit<'a> {
    /// The convention for reading its results; `None` for hookrun's own contract.
    fn convention(self) -> Option<&'a dyn Convention> {
        self.hook
            .convention
            .as_deref()
            .filter(|one| one.has_own_results())
    }

    /// Whether unknown keys in an answer are errors: at a gate, unless the hook's own system
    /// ignores them.
    fn is_closed(self) -> bool {
        self.spec.blocks && self.hook.convention.is_none()
    }

    fn vocabulary(self) -> Vocabulary<'a> {
        self.convention().map_or(Vocabulary::Native, Vocabulary::Of)
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
    let text = text.trim_start_matches('\u{feff}').trim();
    let printed = Printed {
        status,
        stdout: text,
        is_cut: stdout.is_cut(),
        stderr,
    };
    if let Some(convention) = permit.convention() {
        return convention.judge(&printed, permit);
    }
    if status != 0 {
        let stderr = stderr.text();
        return match crash(status, &stderr, permit) {
            Some(problem) => failed(Ending::Crashed { problem }, stdout, permit),
            None => refused_by_status(&printed, permit),
        };
    }
    if stdout.is_cut() {
        let problem = format!("stdout has {} bytes, more than 1 MiB", stdout.total_bytes);
        return failed(malformed(problem), stdout, permit);
    }
    if text.is_empty() {
        return beside_nothing(&stderr.text(), permit);
    }
    // `jq -C` and similar tools colour an answer, which does not change its meaning.
    let (printed, uncoloured) = (text, without_colours(text));
    let text = uncoloured.as_deref().unwrap_or(text).trim();
    if text.starts_with('{') {
        return object(text, permit);
    }
    let as_text = |notes| {
        let verdict = Verdict::new(Decision::Allow, ContractRule::Text);
        // Hooks of another system do not follow this rule.
        let teaches = permit.spec.conduct.text_teaches && permit.hook.convention.is_none();
        let verdict = match teaches {
            true => verdict.with_context(printed),
            false => verdict.with_output(printed),
        };
        (Ending::Answered(verdict), notes)
    };
    match read_text(text, permit) {
        InText::Decision(decision) => in_text(decision, Some(printed)),
        // For hooks of another system, all of this is text.
        InText::Answer(_) if permit.hook.convention.is_some() => as_text(Vec::new()),
        InText::Answer(answer) => {
            let (ending, mut notes) = object(answer, permit);
            notes.push(SURROUNDED.to_string());
            (ending, notes)
        }
        InText::Malformed(problem) if permit.spec.blocks => (malformed(problem), Vec::new()),
        InText::Malformed(problem) => as_text(vec![problem]),
        InText::Nothing => as_text(Vec::new()),
    }
}

/// The ending of a hook that exited with 0 and printed nothing on stdout. At a gate, stderr counts
/// if it is one JSON object that blocks or asks. Among logs such an object only gives a note.
pub(crate) fn beside_nothing(stderr: &str, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let silent = Ending::Answered(Verdict::new(Decision::Allow, ContractRule::Silence));
    let stderr = stderr.trim_start_matches('\u{feff}').trim();
    if stderr.is_empty() || !permit.spec.blocks {
        return (silent, Vec::new());
    }
    let Some(decision) = search(stderr, permit.vocabulary()).decision() else {
        return (silent, Vec::new());
    };
    if all_of(stderr).is_some() {
        return in_text(decision, None);
    }
    (
        silent,
        vec!["there is an answer on stderr, which is for logs; print it to stdout".to_string()],
    )
}

/// The ending of a hook that failed. A complete block that it printed first counts, and its failure
/// becomes a note.
pub(crate) fn failed(
    failure: Ending,
    stdout: &CapturedStream,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let words = failure.failure().filter(|_| !stdout.head.is_empty());
    let Some(words) = words else {
        return (failure, Vec::new());
    };
    let text = stdout.text();
    let text = without_colours(&text).unwrap_or(text);
    let on_a_line = permit
        .convention()
        .and_then(|one| one.refusal_on_a_line(&text, permit));
    // Of a hook that answers numbered requests, only its lines for this one count.
    let found = match permit.id() {
        Some(_) => on_a_line,
        None => on_a_line.or_else(|| search(text.trim(), permit.vocabulary()).refusal),
    };
    let Some(reason) = found else {
        return (failure, Vec::new());
    };
    let (ending, _) = in_text(Decision::Block { reason }, None);
    (
        ending,
        vec![format!("it had blocked, and then failed: {words}")],
    )
}

/// Reads text that is one JSON object, or begins like one.
fn object(text: &str, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let document = read_object(text).map_err(|error| syntax(text, &error));
    let read = document.and_then(|entries| structured(entries, text, permit));
    // A block may be next to an unknown key or below it.
    let found = match &read {
        Ok((_, notes)) if notes.is_empty() => FoundAnswers::default(),
        Ok(_) | Err(_) => search(text, Vocabulary::Native),
    };
    match (read, found.decision(), found.unreadable) {
        (_, Some(decision @ Decision::Block { .. }), _) => in_text(decision, None),
        (Ok(_), _, Some(problem)) if permit.spec.blocks => (malformed(problem), Vec::new()),
        (Ok((verdict, _)), Some(question), _) if verdict.decision == Decision::Allow => {
            in_text(question, None)
        }
        (Ok((verdict, notes)), _, _) => (Ending::Answered(verdict), notes),
        (Err(_), Some(decision), _) => in_text(decision, None),
        (Err(problem), None, _) => (malformed(problem), Vec::new()),
    }
}

pub(crate) fn returned(returned: Result<Verdict, String>, permit: Permit<'_>) -> Ending {
    let verdict = match returned {
        Ok(verdict) => verdict,
        Err(problem) => return Ending::Errored { problem },
    };
    structured::returned(verdict, permit).map_or_else(malformed, Ending::Answered)
}

/// What is wrong with text that begins like a JSON object. Names the usual mistakes.
pub(crate) fn syntax(text: &str, error: &serde_json::Error) -> String {
    let words = error.to_string();
    if text.trim_start_matches(['{', ' ']).starts_with('\'') {
        return "not valid JSON: its keys are in single quotes; in Python print `json.dumps(…)`, \
                not the dict"
            .to_string();
    }
    if words.starts_with("trailing characters") {
        return format!("something follows the JSON object ({words}); print one object alone");
    }
    if words.starts_with("control character") {
        return format!(
            "a JSON string contains a line break or another control character ({words}); in sh \
             print JSON with `printf '%s\\n'`, because `echo` may turn \\n into a line break"
        );
    }
    format!("not valid JSON: {words}")
}

pub(crate) fn malformed(problem: String) -> Ending {
    Ending::Malformed { problem }
}

/// A note for the author of a hook that blocks without a reason.
const SAID_NOTHING: &str = "it said nothing: if it was not meant to block, end it with `exit 0`; \
    a test that is false as the last line, and `set -e`, exit with status 1";

/// The verdict of a non-zero exit. The reason is stderr, else the JSON `reason`, else text on
/// stdout, else the status.
pub(crate) fn refused_by_status(
    printed: &Printed<'_>,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let Printed {
        status,
        stdout,
        is_cut,
        stderr,
    } = *printed;
    let stderr = stderr.text();
    let mut notes = Vec::new();
    let stderr = stderr.trim_start_matches('\u{feff}').trim();
    let object = if is_cut {
        None
    } else {
        own_entries_of(stdout).ok()
    };
    let said = object
        .as_deref()
        .and_then(|entries| match last(entries, "reason") {
            Some(Value::String(reason)) if !reason.trim().is_empty() => Some(reason.as_str()),
            _ => None,
        });
    let reason = if !stderr.is_empty() {
        stderr.to_string()
    } else if let Some(reason) = said {
        reason.to_string()
    } else if !stdout.is_empty() && !stdout.starts_with('{') && !is_cut {
        stdout.to_string()
    } else {
        if stdout.is_empty() {
            notes.push(SAID_NOTHING.to_string());
        }
        format!(
            "hook `{}` exited with status {status} and gave no reason",
            permit.hook.name
        )
    };
    if let Some(Value::Bool(true)) = object
        .as_deref()
        .and_then(|entries| last(entries, "continue"))
    {
        notes.push("`continue: true` is void: a non-zero exit status blocks".to_string());
    }
    if let Some(signal) = status
        .checked_sub(128)
        .filter(|signal| (1..=31).contains(signal))
    {
        notes.push(format!(
            "status {status} is what a shell reports for {}",
            signal_name(signal)
        ));
    }
    let mut verdict = Verdict::new(Decision::Block { reason }, ContractRule::NonZeroExit);
    if let Some(Value::Array(_)) = object.as_deref().and_then(|said| last(said, "findings")) {
        let mut unknown = Vec::new();
        for (at, one) in findings_in(stdout).iter().enumerate() {
            match findings::read(at, one, &mut unknown) {
                Ok(finding) => verdict.findings.push(finding),
                Err(problem) => notes.push(format!("{problem}, so that finding is not used")),
            }
        }
        notes.extend(findings::ignored(unknown));
    }
    (Ending::Answered(verdict), notes)
}

/// The note on an answer with text around it.
const SURROUNDED: &str = "text surrounds the JSON on stdout; print the JSON alone, logs to stderr";

/// A block or question found in text that is not an answer by itself.
fn in_text(decision: Decision, output: Option<&str>) -> (Ending, Vec<String>) {
    let mut verdict = Verdict::new(decision, ContractRule::RefusalInText);
    verdict.output = output.map(str::to_string);
    let note = match output {
        Some(_) => SURROUNDED,
        None => {
            "it is not in the words of an answer; print {\"continue\": false, \"reason\": \"…\"}"
        }
    };
    (Ending::Answered(verdict), vec![note.to_string()])
}
