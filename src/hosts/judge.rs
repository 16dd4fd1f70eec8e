//! What a hook that was written for another system answers by its exit status and its result.
//!
//! Such hooks are functions there, which return a result or throw. As a program:
//!
//! 1. A block on stdout counts for any exit status and with any text around it; where
//!    the system reads that too, also as JSON in a string, or on stderr if stdout is empty. A
//!    question in anybody's words counts with status 0.
//! 2. Exit status 2 blocks, as in every known host; the reason is stderr.
//! 3. Any other status than 0 is a thrown error: a failure. Nothing else that it said counts,
//!    except for what it has changed of the event, where its system lets that stay.
//! 4. Nothing on stdout, or text, is no result; text is only logged there, so it is a note. Where
//!    the host gives text to the model, it is that.
//! 5. What begins with `{` must be one JSON object that keeps to the dialect's table.
//! 6. A new value that the host's event cannot take, or that has no words in the host
//!    that asks, blocks a gate: what the hook meant to be changed must not go on unchanged.

use std::ops::Range;

use serde_json::Value;

use super::row::Binding;
use crate::engine::answer::refusal::Vocabulary;
use crate::engine::answer::{
    FoundAnswers, InText, all_of, beside_nothing, crash, malformed, objects_in, read_object,
    read_text, refused_by_status, search, syntax, without_colours,
};
use crate::engine::ending::{CapturedStream, Ending};
use crate::engine::event::EventSpec;
use crate::engine::hook::{Permit, Printed};
use crate::engine::outcome::merge::CRASHED;
use crate::engine::outcome::{ContractRule, Decision, Verdict};

/// How the run of such a hook has ended, with notes for its author.
pub(super) fn judge(
    binding: Binding,
    printed: &Printed<'_>,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let Printed {
        status,
        stdout,
        is_cut,
        stderr,
    } = *printed;
    let uncoloured = without_colours(stdout);
    let text = uncoloured.as_deref().unwrap_or(stdout).trim();
    let found = heard(text, stderr, binding);
    if let Some(reason) = found.refusal.filter(|_| status != 2) {
        return translated(Decision::Block { reason });
    }
    let answer = binding.dialect.has_progress.then(|| without_progress(text));
    let text = answer.as_deref().unwrap_or(text).trim();
    if is_cut && status != 2 {
        return (
            malformed("stdout has more than 1 MiB".to_string()),
            Vec::new(),
        );
    }
    let said = stderr.text();
    let failure = ThrownStatus {
        status,
        stdout: text,
        stderr: &said,
        permit,
    };
    let unreadable = found.unreadable.filter(|_| permit.spec.blocks);
    let form = binding.row.results.form();
    let stops = status == 2 || form.is_some_and(|form| status != 0 && form.refuses.by(status));
    match (status, unreadable) {
        (0, Some(problem)) => (malformed(problem), Vec::new()),
        (0, None) if text.is_empty() => beside_nothing(&said, permit),
        (0, None) => asked(result(text, binding, permit), found.question),
        // A shell's words for a hook that never ran, and for one that a signal has ended.
        (126 | 127 | 129..=159, _) if form.is_some() => failure.ending(),
        _ if stops => match failure.crash() {
            Some(_) => failure.ending(),
            None => refused_by_status(
                &Printed {
                    stdout: text,
                    ..*printed
                },
                permit,
            ),
        },
        _ if form.is_none() => threw(failure, binding),
        _ if permit.is_strict() => failure.ending(),
        (_, Some(problem)) => (malformed(problem), Vec::new()),
        _ => {
            let host = binding.dialect.name;
            let note =
                format!("status {status} allows it in {host}: only a block in the output stops it");
            answered(
                Verdict::new(Decision::Allow, ContractRule::PassingExit),
                vec![note],
            )
        }
    }
}

/// The text without the lines that only tell people how far a hook is.
fn without_progress(text: &str) -> String {
    let is_answer = |line: &&str| {
        let object = Some(line.trim())
            .filter(|line| line.starts_with('{'))
            .and_then(all_of);
        object.is_none_or(|it| !it.contains(&("type".to_string(), Value::from("progress"))))
    };
    text.lines()
        .filter(is_answer)
        .collect::<Vec<_>>()
        .join("\n")
}

/// A hook that has exited with a status that does not block.
#[derive(Clone, Copy)]
struct ThrownStatus<'a> {
    status: i32,
    stdout: &'a str,
    stderr: &'a str,
    permit: Permit<'a>,
}

impl ThrownStatus<'_> {
    fn crash(self) -> Option<String> {
        crash(self.status, self.stderr, self.permit)
    }

    /// What went wrong, in words.
    fn words(self) -> String {
        if let Some(problem) = self.crash() {
            return format!("{CRASHED}{problem}");
        }
        let said = [self.stderr.trim(), self.stdout]
            .into_iter()
            .find(|text| !text.is_empty());
        match said {
            Some(said) => format!("exited with status {}: {}", self.status, said),
            None => format!("exited with status {}", self.status),
        }
    }

    fn ending(self) -> (Ending, Vec<String>) {
        let ending = match self.crash() {
            Some(problem) => Ending::Crashed { problem },
            None => Ending::Threw {
                problem: self.words(),
                left: Vec::new(),
            },
        };
        (ending, Vec::new())
    }
}

/// What JSON anywhere in the output says. Where the system reads JSON on stderr too, that counts
/// if stdout is empty.
fn heard(text: &str, stderr: &CapturedStream, binding: Binding) -> FoundAnswers {
    let said = if binding.reads_stderr() && text.is_empty() {
        stderr.text()
    } else {
        String::new()
    };
    let text = if text.is_empty() { said.trim() } else { text };
    let mut found = search(text, Vocabulary::Of(&binding));
    if found.refusal.is_none() && all_of(text).is_none() {
        // In its own words too, at any place.
        let own = |object: Range<usize>| binding.refusal(&all_of(&text[object])?);
        found.refusal = objects_in(text).0.into_iter().find_map(own);
    }
    found
}

fn answered(verdict: Verdict, notes: Vec<String>) -> (Ending, Vec<String>) {
    (Ending::Answered(verdict), notes)
}

fn translated(decision: Decision) -> (Ending, Vec<String>) {
    answered(Verdict::new(decision, ContractRule::Translated), Vec::new())
}

/// An error that was thrown, and what was changed before it.
fn threw(failure: ThrownStatus<'_>, binding: Binding) -> (Ending, Vec<String>) {
    let (text, permit) = (failure.stdout, failure.permit);
    let object = read_object(text).ok().filter(|_| text.starts_with('{'));
    let mut left = object
        .map(|object| binding.left(&object))
        .unwrap_or_default();
    let mut notes = Vec::new();
    left.retain(|(field, value)| {
        let wrong = match permit.spec.rewrite(field) {
            Some(_) => wrong_kind(permit.spec, field, value),
            None => Some(format!(
                "its new `{field}` cannot be given to `{}`",
                permit.spec.name
            )),
        };
        let is_fine = wrong.is_none();
        notes.extend(wrong);
        is_fine
    });
    (
        Ending::Threw {
            problem: failure.words(),
            left,
        },
        notes,
    )
}

fn wrong_kind(spec: &EventSpec, field: &str, value: &Value) -> Option<String> {
    let key = spec.context.iter().find(|key| key.name == field)?;
    (!key.kind.fits(value)).then(|| format!("the new `{field}` must be a JSON {}", key.kind.name()))
}

/// The ending of a hook that lets it pass in the words of its dialect, and asks in others'.
fn asked(mut judged: (Ending, Vec<String>), question: Option<String>) -> (Ending, Vec<String>) {
    if let (Ending::Answered(verdict), Some(question)) = (&mut judged.0, question)
        && verdict.decision == Decision::Allow
    {
        verdict.decision = Decision::Ask { question };
    }
    judged
}

fn result(text: &str, binding: Binding, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let in_text = if text.starts_with('{') {
        None
    } else {
        Some(read_text(text, permit))
    };
    let text = match in_text {
        None => text,
        Some(InText::Answer(answer)) => answer,
        Some(InText::Decision(decision)) => {
            return translated(decision);
        }
        Some(InText::Malformed(problem)) if permit.spec.blocks => {
            return (malformed(problem), Vec::new());
        }
        Some(InText::Malformed(_) | InText::Nothing) if binding.row.text_teaches => {
            let verdict =
                Verdict::new(Decision::Allow, ContractRule::Translated).with_context(text);
            return answered(verdict, Vec::new());
        }
        Some(InText::Malformed(_) | InText::Nothing) => {
            let note = format!("text on stdout means nothing to {}", binding.dialect.name);
            return answered(
                Verdict::new(Decision::Allow, ContractRule::Silence),
                vec![note],
            );
        }
    };
    let object = read_object(text).map_err(|error| syntax(text, &error));
    let (mut verdict, mut notes) = match object.and_then(|object| binding.verdict(&object)) {
        Ok(read) => read,
        Err(problem) => return (malformed(problem), Vec::new()),
    };
    let spec = permit.spec;
    let mut untold = None;
    for (field, value) in std::mem::take(&mut verdict.update) {
        if spec.rewrite(&field).is_none() {
            untold.get_or_insert(format!(
                "its new `{field}` cannot be given to `{}` here",
                spec.name
            ));
            continue;
        }
        let back = match permit.given.filter(|_| field == "toolInput") {
            Some(given) => binding.dialect.taken_back(given.event, given.part, value),
            None => Ok(value),
        };
        match back {
            Ok(value) => verdict.update.push((field, value)),
            Err(why) => untold = Some(why),
        }
    }
    if let Some(words) = untold {
        match spec.blocks {
            true => verdict.decision = Decision::Block { reason: words },
            false => notes.push(words),
        }
    }
    let wrong = verdict
        .update
        .iter()
        .find_map(|(field, value)| wrong_kind(spec, field, value));
    match wrong {
        Some(problem) => (malformed(problem), notes),
        None => answered(verdict, notes),
    }
}
