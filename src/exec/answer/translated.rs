//! What a hook said that was written for another system: its exit status and its result.
//!
//! Such hooks are functions there, which return a result or throw. As a program:
//!
//! 1. A refusal on stdout counts, whatever the exit status and whatever stands around it.
//! 2. Exit status 2 refuses, as in every known host; the reason is stderr.
//! 3. Any other status than 0 is a thrown error: a failure, and nothing else that it said counts.
//! 4. Nothing on stdout, or text, is no result; text is only logged there, so it is a note.
//! 5. What begins with `{` must be one JSON object that keeps to the dialect's table.
//! 6. A new value that the host's event cannot take refuses a gate: what the hook meant to be
//!    changed must not go on unchanged.

use super::object::{every_object, read_object};
use super::{Permit, malformed, refused_by_status, syntax};
use crate::dialect::Binding;
use crate::outcome::{Decision, Rule, Verdict};
use crate::run::{Captured, Ending};

/// How the run of such a hook has ended, with notes for its author.
pub(super) fn judge(
    status: i32,
    (text, is_cut): (&str, bool),
    stderr: &Captured,
    (binding, permit): (Binding, Permit<'_>),
) -> (Ending, Vec<String>) {
    if is_cut && status != 2 {
        return (malformed("stdout has more than 1 MiB".to_string()), Vec::new());
    }
    let refusal = every_object(text).iter().find_map(|object| binding.refusal(object));
    if let Some(reason) = refusal.filter(|_| status != 2) {
        return answered(Verdict::new(Decision::Block { reason }, Rule::Translated), Vec::new());
    }
    match status {
        0 => result(text, binding, permit),
        2 => refused_by_status(status, text, &stderr.text(), is_cut),
        _ => (Ending::Threw { problem: thrown(status, &stderr.text(), text) }, Vec::new()),
    }
}

fn answered(verdict: Verdict, notes: Vec<String>) -> (Ending, Vec<String>) {
    (Ending::Answered(verdict), notes)
}

/// The words for an error that was thrown.
fn thrown(status: i32, stderr: &str, stdout: &str) -> String {
    let said = [stderr.trim(), stdout.trim()].into_iter().find(|text| !text.is_empty());
    match said {
        Some(said) => format!("exited with status {status}: {said}"),
        None => format!("exited with status {status}"),
    }
}

fn result(text: &str, binding: Binding, permit: Permit<'_>) -> (Ending, Vec<String>) {
    if text.is_empty() {
        return answered(Verdict::new(Decision::Allow, Rule::Silence), Vec::new());
    }
    if !text.starts_with('{') {
        let note = format!("text on stdout means nothing to {}", binding.dialect.name);
        return answered(Verdict::new(Decision::Allow, Rule::Silence), vec![note]);
    }
    let object = read_object(text).map_err(|error| syntax(&error));
    let (mut verdict, mut notes) = match object.and_then(|object| binding.verdict(&object)) {
        Ok(read) => read,
        Err(problem) => return (malformed(problem), Vec::new()),
    };
    let spec = permit.spec;
    let (kept, strange): (Vec<_>, Vec<_>) =
        verdict.update.drain(..).partition(|(field, _)| spec.rewrite(field).is_some());
    verdict.update = kept;
    if let Some((field, _)) = strange.first() {
        let words = format!("its new `{field}` cannot be given to `{}` here", spec.name);
        match spec.blocks {
            true => verdict.decision = Decision::Block { reason: words },
            false => notes.push(words),
        }
    }
    let wrong = verdict.update.iter().find_map(|(field, value)| {
        let key = spec.context.iter().find(|key| key.name == *field)?;
        (!key.kind.fits(value))
            .then(|| format!("the new `{field}` must be a JSON {}", key.kind.name()))
    });
    match wrong {
        Some(problem) => (malformed(problem), notes),
        None => answered(verdict, notes),
    }
}
