//! Compares what came back with what a case expects.

use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use super::{CaseFolders, Expect, Left, Placed, Stdout, StepResult};
use crate::config::Position;
use crate::engine::hook::duration_text;
use crate::engine::outcome::{Finding, HookFinding, NoticeKind, Outcome, Settled, joined};
use crate::engine::run::{Fate, HookRun};

/// One thing that is not as a case says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The step, where the case has several.
    pub step: Option<usize>,
    /// The key of `expect`: `decision`, `reply.stdout`.
    pub key: String,
    /// Where the expectation stands.
    pub at: Position,
    /// What it says.
    pub wanted: String,
    /// What there was.
    pub found: String,
}

/// What came back of one step.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it only passes things on")]
pub struct StepOutcome<'s> {
    /// The decision.
    pub decided: &'s StepResult,
    /// The folders of the case.
    pub folders: &'s CaseFolders,
    /// The text of a file in the case's folder: an error for one that is there and is no text, and
    /// `None` for one that is not there.
    pub look: &'s dyn Fn(&str) -> Option<Result<String, String>>,
}

/// What there is where there is nothing.
const NOTHING: &str = "nothing";

/// What is not as `expect` says, in the order of its keys.
pub fn misses(expect: &Expect, seen: StepOutcome<'_>) -> Vec<Miss> {
    let mut judge = Judge { seen, misses: Vec::new() };
    let outcome = seen.decided.outcome();
    judge.same("decision", expect.decision.at, &expect.decision.value, &decision(outcome));
    let reason = reason(outcome);
    if let Some(wanted) = &expect.reason {
        judge.matches("reason", wanted, reason.as_deref());
    }
    if let Some(by) = &expect.by {
        judge.same("by", by.at, &listed(&by.value), &listed(&deciders(outcome)));
    }
    if let Some(asked) = &expect.asked {
        let ran: Vec<String> = seen.decided.asked().map(|hook| hook.hook.clone()).collect();
        judge.same("asked", asked.at, &listed(&asked.value), &listed(&ran));
    }
    judge.failures(&expect.failed);
    judge.said("output", expect.at, expect.output.as_ref(), outcome.output());
    judge.said("context", expect.at, expect.context.as_ref(), outcome.additional_context());
    judge.said("notice", expect.at, expect.notice.as_ref(), notice(outcome));
    if let Some(wanted) = &expect.findings {
        judge.matches("findings", wanted, findings(outcome).as_deref());
    }
    let wanted = seen.folders.fill_value(&expect.rewrites.value);
    let found = Value::Object(outcome.update());
    if wanted != found {
        judge.miss("rewrites", expect.rewrites.at, pretty(&wanted), pretty(&found));
    }
    judge.reply(expect);
    if let Some(within) = &expect.within {
        judge.time(within, seen.decided.took());
    }
    for (path, left) in &expect.files {
        judge.file(path, left);
    }
    judge.misses
}

struct Judge<'s> {
    seen: StepOutcome<'s>,
    misses: Vec<Miss>,
}

impl Judge<'_> {
    fn miss(&mut self, key: &str, at: Position, wanted: String, found: String) {
        let folders = self.seen.folders;
        let (wanted, found) = (folders.unfill(&wanted), folders.unfill(&found));
        self.misses.push(Miss { step: None, key: key.to_string(), at, wanted, found });
    }

    fn same(&mut self, key: &str, at: Position, wanted: &str, found: &str) {
        if wanted != found {
            self.miss(key, at, wanted.to_string(), found.to_string());
        }
    }

    fn fits(&self, pattern: &str, found: &str) -> bool {
        // It was read as a regular expression, and the folders in it are escaped.
        let pattern = Regex::new(&self.seen.folders.fill_pattern(pattern));
        pattern.is_ok_and(|pattern| pattern.is_match(found))
    }

    /// Holds that there is a text that a pattern matches; `^$` also matches none.
    fn matches(&mut self, key: &str, wanted: &Placed<String>, found: Option<&str>) {
        if !self.fits(&wanted.value, found.unwrap_or_default()) {
            let found = found.map_or(NOTHING.to_string(), with_end);
            self.miss(key, wanted.at, format!("a match of /{}/", wanted.value), found);
        }
    }

    /// As [`Judge::matches`]; where nothing is said there must be nothing.
    fn said(
        &mut self,
        key: &str,
        at: Position,
        wanted: Option<&Placed<String>>,
        found: Option<String>,
    ) {
        match (wanted, found) {
            (Some(wanted), found) => self.matches(key, wanted, found.as_deref()),
            (None, Some(found)) => self.miss(key, at, NOTHING.to_string(), found),
            (None, None) => {}
        }
    }

    /// A refusal because a hook failed is no proof of its policy, so failures are to be expected
    /// by name.
    fn failures(&mut self, wanted: &Placed<Vec<String>>) {
        let failure = |hook: &HookRun| match &hook.fate {
            Fate::Ran(trace) => Some((hook.hook.clone(), trace.ending.failure()?)),
            Fate::Disabled
            | Fate::Idle(_)
            | Fate::Unwanted(_)
            | Fate::Unreached
            | Fate::Detached => None,
        };
        let mut found: Vec<(String, String)> =
            self.seen.decided.hooks().iter().filter_map(failure).collect();
        if let Some(reason) = self.seen.decided.own_failure() {
            found.push(("hookrun".to_string(), reason.to_string()));
        }
        let names: Vec<&String> = found.iter().map(|(name, _)| name).collect();
        if names != wanted.value.iter().collect::<Vec<_>>() {
            let lines: Vec<String> =
                found.iter().map(|(name, why)| format!("{name}: {why}")).collect();
            let found = if lines.is_empty() { NOTHING.to_string() } else { lines.join("\n") };
            self.miss("failed", wanted.at, listed(&wanted.value), found);
        }
    }

    fn reply(&mut self, expect: &Expect) {
        let reply = self.seen.decided.reply();
        if let Some(status) = &expect.status {
            let found = reply.status.to_string();
            self.same("reply.status", status.at, &status.value.to_string(), &found);
        }
        if let Some(stdout) = &expect.stdout {
            self.stdout(stdout, &reply.stdout);
        }
        if let Some(stderr) = &expect.stderr {
            self.matches("reply.stderr", stderr, Some(&reply.stderr));
        }
    }

    fn stdout(&mut self, wanted: &Placed<Stdout>, found: &str) {
        match &wanted.value {
            Stdout::Json(value) => {
                let value = self.seen.folders.fill_value(value);
                let document = serde_json::from_str::<Value>(found).ok();
                if document.as_ref() != Some(&value) {
                    let found = document.map_or_else(|| found.to_string(), |found| pretty(&found));
                    self.miss("reply.stdout", wanted.at, pretty(&value), found);
                }
            }
            Stdout::Pattern(text) => {
                let pattern = Placed { value: text.clone(), at: wanted.at };
                self.matches("reply.stdout", &pattern, Some(found));
            }
        }
    }

    fn time(&mut self, within: &Placed<Duration>, took: Duration) {
        if took > within.value {
            let found = rounded_up(took);
            let wanted = format!("at most {}", duration_text(within.value));
            self.miss("within", within.at, wanted, found);
        }
    }

    fn file(&mut self, path: &Placed<String>, left: &Left) {
        let key = format!("files.{}", path.value);
        let found = (self.seen.look)(&self.seen.folders.fill(&path.value));
        match (left, found) {
            (Left::Gone, None) | (Left::There, Some(_)) => {}
            (Left::Gone, Some(_)) => {
                self.miss(&key, path.at, "no such file".to_string(), "it is there".to_string());
            }
            (Left::There | Left::Pattern(_), None) => {
                self.miss(&key, path.at, "it is there".to_string(), "no such file".to_string());
            }
            (Left::Pattern(pattern), Some(Ok(text))) => {
                if !self.fits(pattern, &text) {
                    self.miss(&key, path.at, format!("a match of /{pattern}/"), with_end(&text));
                }
            }
            (Left::Pattern(pattern), Some(Err(what))) => {
                self.miss(&key, path.at, format!("a match of /{pattern}/"), what);
            }
        }
    }
}

fn decision(outcome: &Outcome) -> String {
    match outcome.settled {
        Settled::Allowed => "allow",
        Settled::Asked { .. } => "ask",
        Settled::Refused(_) => "block",
    }
    .to_string()
}

/// The reason of a refusal, or the question.
fn reason(outcome: &Outcome) -> Option<String> {
    match &outcome.settled {
        Settled::Allowed => None,
        Settled::Asked { questions } => Some(joined(questions)),
        Settled::Refused(refusal) => Some(refusal.reason.clone()),
    }
}

/// The hooks that decided.
fn deciders(outcome: &Outcome) -> Vec<String> {
    match &outcome.settled {
        Settled::Allowed => Vec::new(),
        Settled::Asked { questions } => questions.iter().map(|one| one.hook.clone()).collect(),
        Settled::Refused(refusal) => refusal.hook.iter().cloned().collect(),
    }
}

/// What was said and decided nothing. Failures are told by [`Judge::failures`].
fn notice(outcome: &Outcome) -> Option<String> {
    let is_said = |kind: NoticeKind| matches!(kind, NoticeKind::Refusal | NoticeKind::Question);
    let said = outcome.notices.iter().filter(|notice| is_said(notice.kind));
    let lines: Vec<String> = said.map(|notice| notice.text.clone()).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What was found in files, a line each.
fn findings(outcome: &Outcome) -> Option<String> {
    let line = |found: &HookFinding| {
        let Finding { path, line, level, message } = &found.finding;
        let number = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{} {path}{number} {message}", level.name())
    };
    let lines: Vec<String> = outcome.findings.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A text whose last line break can be seen: a `$` does not match before it.
fn with_end(text: &str) -> String {
    match text.strip_suffix('\n') {
        Some(lines) => format!("{lines}\\n"),
        None => text.to_string(),
    }
}

/// A time in whole microseconds, rounded up, as one that is longer than a limit must not look as if it
/// were not.
fn rounded_up(took: Duration) -> String {
    let micros = took.as_nanos().div_ceil(1000);
    duration_text(Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { NOTHING.to_string() } else { names.join(", ") }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_over_the_limit_looks_longer() {
        assert_eq!(rounded_up(Duration::from_nanos(1_304_567)), "1ms 305us");
        assert_eq!(rounded_up(Duration::from_nanos(1_000_001)), "1ms 1us");
        assert_eq!(rounded_up(Duration::from_secs(61)), "1m 1s");
    }
}
