//! The protocol of hooks with `warm = "serve"`: a line for each request, and a line for its answer.
//!
//! A request is `{"id": …, "event": …, "context": {…}}` with the usual context. An answer repeats
//! the `id` beside the keys of hookrun's contract.

use std::hash::{BuildHasher, RandomState};

use serde_json::value::RawValue;

use crate::engine::answer;
use crate::engine::ending::Ending;
use crate::engine::event::context::Payload;
use crate::engine::event::json::entries;
use crate::engine::event::{Context, Event};
use crate::engine::hook::contract::Native;
use crate::engine::hook::{Convention, EventPart, Matcher, Permit, Printed};

const QUOTED: usize = 60;

/// The convention of a served hook.
#[derive(Debug)]
pub(super) struct ServedHook {
    pub(super) event: String,
}

enum LineProblem {
    NoAnswer(String),
    OtherRequest(String),
}

impl Convention for ServedHook {
    fn system(&self) -> &'static str {
        "native"
    }

    fn event_name(&self) -> &'static str {
        "warm"
    }

    fn full_event_name(&self) -> String {
        self.event.clone()
    }

    fn is_foreign(&self) -> bool {
        false
    }

    /// The whole event with an unguessable id, which nothing printed before can answer.
    fn parts(&self, _: &Event, _: &Matcher) -> Vec<EventPart> {
        let [one, other] = [0, 1].map(|seed| RandomState::new().hash_one(seed));
        vec![EventPart {
            id: Some(format!("{one:016x}{other:016x}")),
            ..EventPart::WHOLE
        }]
    }

    fn payload(&self, event: &Event, part: &EventPart) -> Payload {
        let context = String::from_utf8(event.context().to_json()).unwrap_or_default();
        let mut request = Context::default();
        request.set("id", &part.id.as_deref().unwrap_or_default().into());
        request.set("event", &self.event.as_str().into());
        request.set_raw("context", context);
        Payload::of(&request)
    }

    /// Judges the answer without its `id`. A line for another request never blocks.
    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>) {
        let words = match read_line(printed, permit) {
            Ok(words) => words,
            Err(_) if printed.status != 0 => own_lines(printed.stdout, permit),
            Err(LineProblem::OtherRequest(problem)) => {
                return (answer::malformed(problem), Vec::new());
            }
            Err(LineProblem::NoAnswer(problem)) => {
                let reason = self.block_in(printed.stdout, permit);
                return answer::failed_after(reason, answer::malformed(problem));
            }
        };
        let answered = Printed {
            stdout: &words,
            cut_bytes: None,
            ..*printed
        };
        answer::judge_native(&answered, permit)
    }

    /// A block for this request, or without an `id`, counts even if the program then failed.
    fn block_in(&self, stdout: &str, permit: Permit<'_>) -> Option<String> {
        // The contract ignores `id` as an unknown key.
        answer::block_in(&own_lines(stdout, permit), &Native)
    }
}

/// The answer without its `id`; empty if it has no other key.
fn read_line(printed: &Printed<'_>, permit: Permit<'_>) -> Result<String, LineProblem> {
    let text = printed.stdout.trim();
    let problem = if printed.cut_bytes.is_some() {
        "the line is longer than 1 MiB"
    } else if text.is_empty() {
        "stdout is empty; each line on stdin needs one line on stdout"
    } else if text.contains('\n') {
        "more than one line; stdout is for answers, stderr for logs"
    } else {
        return words_of(text, permit);
    };
    Err(LineProblem::NoAnswer(problem.to_string()))
}

fn own_lines(text: &str, permit: Permit<'_>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.retain(|line| !matches!(words_of(line, permit), Err(LineProblem::OtherRequest(_))));
    lines.join("\n")
}

fn words_of(line: &str, permit: Permit<'_>) -> Result<String, LineProblem> {
    let keys: Vec<(&RawValue, &RawValue)> = entries(line).map_err(|error| {
        let problem = format!("`{}` is not a JSON object: {error}", cut(line));
        LineProblem::NoAnswer(problem)
    })?;
    let (ids, others): (Vec<_>, Vec<_>) =
        keys.into_iter().partition(|(key, _)| key.get() == "\"id\"");
    let [(_, id)] = ids.as_slice() else {
        let line = cut(line);
        let problem = format!("`{line}` does not contain the event's `id` exactly once");
        return Err(LineProblem::NoAnswer(problem));
    };
    let id = serde_json::from_str(id.get()).unwrap_or_else(|_| id.get().to_string());
    if Some(id.as_str()) != permit.id() {
        let problem = format!("`{}` is not the `id` of the event", cut(&id));
        return Err(LineProblem::OtherRequest(problem));
    }
    if others.is_empty() {
        return Ok(String::new());
    }
    // Written key by key, so that the contract judges a repeated key.
    let own = others.iter().map(|(key, value)| format!("{key}:{value}"));
    Ok(format!("{{{}}}", own.collect::<Vec<_>>().join(",")))
}

fn cut(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}
