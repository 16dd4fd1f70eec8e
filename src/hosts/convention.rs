//! Runs hooks of another system: their stdin, exit status and result, by the dialect's rows.
//!
//! Such hooks are functions that return a result or throw. As a program:
//! 1. A blocking answer on stdout counts for any exit status; also on stderr if stdout is empty and
//!    the host reads it.
//! 2. Exit status 2 blocks, as in every known host; the reason is stderr.
//! 3. Any other non-zero status is a thrown error: a failure. Only its changes to the event count,
//!    if the system keeps them.
//! 4. Text on stdout is a note, or context if the host gives it to the model. An object without a
//!    key of the dialect says nothing.
//! 5. On a gate, a new value that the host's event cannot take, or cannot express, blocks: the
//!    original input must not go on unchanged.

use std::time::Duration;

use serde_json::Value;

use super::results::Results;
use super::row::{Binding, VariableValue};
use super::tools::is_of_server;
use crate::engine::answer::{self, Answer, Reading, blocked_by_status, crash, malformed, read};
use crate::engine::ending::Ending;
use crate::engine::event::context::Payload;
use crate::engine::event::{Event, EventSpec, OnFailure};
use crate::engine::hook::contract::Native;
use crate::engine::hook::{Convention, EventPart, HostCall, Matcher, Permit, Printed};
use crate::engine::outcome::merge::CRASHED;
use crate::engine::outcome::{ContractRule, Decision, Verdict};

impl Convention for Binding {
    fn system(&self) -> &'static str {
        self.dialect.name
    }

    fn event_name(&self) -> &'static str {
        self.row.name
    }

    fn full_event_name(&self) -> String {
        self.row.full_name()
    }

    fn timeout(&self) -> Option<Duration> {
        self.row.conduct.timeout
    }

    fn on_failure(&self) -> Option<OnFailure> {
        Some(self.row.on_failure)
    }

    fn runs_once(&self) -> bool {
        self.dialect.runs_once
    }

    fn has(&self, event: &Event) -> bool {
        if event.host() == self.dialect.name {
            return true;
        }
        match self.row.gather {
            Some(gather) => self
                .dialect
                .tool_names(event)
                .iter()
                .any(|it| it == gather.tool),
            None => !self.row.is_of_servers || is_of_server(event),
        }
    }

    fn parts(&self, event: &Event, matcher: &Matcher) -> Vec<EventPart> {
        let mut parts = numbered(0, self.dialect.calls(event));
        if parts.is_empty() {
            parts.push(EventPart::WHOLE);
        }
        let patches = self.dialect.patch_calls(event);
        if patches.is_empty() {
            return parts;
        }
        if parts.iter().all(|part| part.call.is_none()) {
            // A host's own hook gets the original command, and the patch.
            parts.extend(numbered(1, patches));
        }
        let name = event.context().string("toolName").unwrap_or_default();
        let (meant, others): (Vec<EventPart>, Vec<EventPart>) =
            parts.into_iter().partition(|part| match &part.call {
                Some(call) => {
                    let tool = self.row.gather.map(|gather| gather.tool);
                    tool.is_none_or(|tool| tool == call.name)
                        && matcher.takes_tool(&self.dialect.names_of(call))
                }
                None => matcher.takes_tool(&[&name]),
            });
        if meant.is_empty() { others } else { meant }
    }

    fn payload(&self, event: &Event, part: &EventPart) -> Payload {
        Payload::of(&self.encode_call(event, part.call.as_ref()))
    }

    fn variables(&self, event: &Event, project: &str) -> Vec<(&'static str, String)> {
        let mut variables = Vec::new();
        for (name, value) in self.dialect.variables {
            let value = match *value {
                VariableValue::Project => Some(project.to_string()),
                VariableValue::Folder => {
                    let own = event.context().string("cwd").filter(|cwd| !cwd.is_empty());
                    Some(own.unwrap_or_else(|| project.to_string()))
                }
                VariableValue::Fact(key) => {
                    event.context().text(key).filter(|text| !text.is_empty())
                }
                VariableValue::Word(word) => Some(word.to_string()),
            };
            variables.extend(value.map(|value| (*name, value)));
        }
        variables
    }

    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>) {
        if self.row.results == Results::Native {
            return answer::judge_native(printed, permit);
        }
        judge(*self, printed, permit)
    }

    fn block_in(&self, stdout: &str, _: Permit<'_>) -> Option<String> {
        if self.row.results == Results::Native {
            return answer::block_in(stdout, &Native);
        }
        answer::block_in(stdout, self)
    }
}

fn numbered(first: usize, calls: Vec<HostCall>) -> Vec<EventPart> {
    let calls = (first..).zip(calls).map(|(number, call)| EventPart {
        number,
        call: Some(call),
        id: None,
    });
    calls.collect()
}

/// Returns the ending of such a hook, and notes for its author.
fn judge(binding: Binding, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let status = printed.status;
    let stderr = printed.stderr.text();
    let mut text = printed.stdout.trim().to_string();
    if text.is_empty() && binding.reads_stderr() && status != 2 {
        text = stderr.trim().to_string();
    }
    if let Some(reason) = answer::block_in(&text, &binding).filter(|_| status != 2) {
        return translated(Decision::Block { reason });
    }
    let reading = read(&text, printed.cut_bytes, &binding);
    if status == 0 {
        return result(&reading, binding, permit);
    }
    let crash = crash(status, &stderr, permit);
    let has_crashed = crash.is_some();
    let (problem, failure) = match crash {
        Some(problem) => (format!("{CRASHED}{problem}"), Ending::Crashed { problem }),
        None => {
            let problem = thrown(status, &text, &stderr);
            let left = Vec::new();
            (problem.clone(), Ending::Threw { problem, left })
        }
    };
    let form = binding.row.results.form();
    let stops = status == 2 || form.is_some_and(|form| status != 0 && form.blocks.by(status));
    match status {
        // Shell statuses for a hook that never ran, or that a signal ended.
        126 | 127 | 129..=159 if form.is_some() => (failure, Vec::new()),
        _ if stops && has_crashed => (failure, Vec::new()),
        _ if stops => blocked_by_status(printed, &reading, permit),
        _ if form.is_none() => threw(problem, permit, &reading, binding),
        _ if permit.is_strict() => (failure, Vec::new()),
        _ => match reading.answer(&binding) {
            Err(problem) if permit.spec.blocks => (malformed(problem), Vec::new()),
            Ok(_) | Err(_) => {
                let host = binding.dialect.name;
                let note = format!(
                    "status {status} does not block in {host}; to block, exit with status 2"
                );
                let verdict = Verdict::new(Decision::Allow, ContractRule::PassingExit);
                answered(verdict, vec![note])
            }
        },
    }
}

fn thrown(status: i32, stdout: &str, stderr: &str) -> String {
    let mut texts = [stderr.trim(), stdout].into_iter();
    let text = texts.find(|text| !text.is_empty());
    let text = text.map(|text| format!(": {text}")).unwrap_or_default();
    format!("exited with status {status}{text}")
}

fn answered(verdict: Verdict, notes: Vec<String>) -> (Ending, Vec<String>) {
    (Ending::Answered(verdict), notes)
}

fn translated(decision: Decision) -> (Ending, Vec<String>) {
    answered(Verdict::new(decision, ContractRule::Translated), Vec::new())
}

fn threw(
    problem: String,
    permit: Permit<'_>,
    reading: &Reading,
    binding: Binding,
) -> (Ending, Vec<String>) {
    let answer = reading.answer(&binding).ok().flatten();
    let mut left = answer.map_or_else(Vec::new, |answer| binding.left(&answer.entries));
    let mut notes = Vec::new();
    left.retain(|(field, value)| {
        let wrong = match permit.spec.rewrite(field) {
            Some(_) => wrong_kind(permit.spec, field, value),
            None => {
                let event = &permit.spec.name;
                Some(format!("`{event}` does not accept a new `{field}`"))
            }
        };
        let is_fine = wrong.is_none();
        notes.extend(wrong);
        is_fine
    });
    (Ending::Threw { problem, left }, notes)
}

fn wrong_kind(spec: &EventSpec, field: &str, value: &Value) -> Option<String> {
    let key = spec.context.iter().find(|key| key.name == field)?;
    (!key.kind.fits(value)).then(|| format!("the new `{field}` must be a JSON {}", key.kind.name()))
}

fn result(reading: &Reading, binding: Binding, permit: Permit<'_>) -> (Ending, Vec<String>) {
    match reading.answer(&binding) {
        Err(problem) => (malformed(problem), Vec::new()),
        Ok(Some(answer)) => translation(answer, binding, permit),
        Ok(None) => {
            let verdict = Verdict::new(Decision::Allow, ContractRule::Silence);
            let translated = Verdict::new(Decision::Allow, ContractRule::Translated);
            if reading.text.is_empty() {
                return answered(verdict, Vec::new());
            }
            if reading.is_object() {
                return answered(translated, Vec::new());
            }
            if binding.row.text_is_context {
                return answered(translated.with_context(&reading.text), Vec::new());
            }
            let note = format!("{} ignores text on stdout", binding.dialect.name);
            answered(verdict, vec![note])
        }
    }
}

fn translation(answer: &Answer, binding: Binding, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let (mut verdict, mut notes) = match binding.verdict(&answer.entries) {
        Ok(read) => read,
        Err(problem) => {
            let problem = format!("line {}: {problem}", answer.line);
            return (malformed(problem), Vec::new());
        }
    };
    let spec = permit.spec;
    let mut problem = None;
    for (field, value) in std::mem::take(&mut verdict.update) {
        if spec.rewrite(&field).is_none() {
            let event = &spec.name;
            problem.get_or_insert(format!("`{event}` does not accept a new `{field}`"));
            continue;
        }
        let part = permit.part.filter(|part| part.call.is_some());
        let part = part.filter(|_| field == "toolInput");
        let back = match (part, permit.about) {
            (Some(part), Some(event)) => binding.dialect.taken_back(event, part.number, value),
            _ => Ok(value),
        };
        match back {
            Ok(value) => verdict.update.push((field, value)),
            Err(why) => problem = Some(why),
        }
    }
    match problem {
        Some(reason) if spec.blocks => verdict.decision = Decision::Block { reason },
        other => notes.extend(other),
    }
    let mut update = verdict.update.iter();
    match update.find_map(|(field, value)| wrong_kind(spec, field, value)) {
        Some(problem) => (malformed(problem), notes),
        None => answered(verdict, notes),
    }
}
