//! Compares the result of a case with its expectations, key by key.

use std::time::Duration;

use regex::Regex;
use serde_json::{Map, Value};

use super::case::{FileExpectation, Stdout};
use super::fill::CaseFolders;
use super::played::{Miss, StepResult};
use crate::config::{PlacedValue, Position};
use crate::engine::hook::duration_text;
use crate::engine::outcome::{Finding, HookFinding, NoticeKind, Outcome, Settled};
use crate::engine::run::{Fate, HookRun};

#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it only passes things on")]
pub struct StepOutcome<'s> {
    pub decided: &'s StepResult,
    pub folders: &'s CaseFolders,
    /// The text of a file in the case's folder: an error if it is not text, and `None` if it is
    /// missing.
    pub look: &'s dyn Fn(&str) -> Option<Result<String, String>>,
}

const NOTHING: &str = "nothing";

pub(super) struct Judge<'s> {
    pub(super) seen: StepOutcome<'s>,
    pub(super) misses: Vec<Miss>,
}

impl<'s> Judge<'s> {
    pub(super) fn outcome(&self) -> &'s Outcome {
        self.seen.decided.outcome()
    }

    fn miss(&mut self, key: &str, at: Position, wanted: String, found: String) {
        let folders = self.seen.folders;
        let (wanted, found) = (folders.unfill(&wanted), folders.unfill(&found));
        self.misses.push(Miss {
            step: None,
            key: key.to_string(),
            at,
            wanted,
            found,
        });
    }

    pub(super) fn same(&mut self, key: &str, wanted: &PlacedValue<String>, found: &str) {
        if wanted.value != found {
            self.miss(key, wanted.at, wanted.value.clone(), found.to_string());
        }
    }

    pub(super) fn hooks_if(
        &mut self,
        key: &str,
        wanted: &Option<PlacedValue<Vec<String>>>,
        found: Vec<String>,
    ) {
        if let Some(PlacedValue { value, at }) = wanted {
            self.same(
                key,
                &PlacedValue {
                    value: listed(value),
                    at: *at,
                },
                &listed(&found),
            );
        }
    }

    fn fits(&self, pattern: &str, found: &str) -> bool {
        // The reader has checked this regular expression, and the folders in it are escaped.
        let pattern = Regex::new(&self.seen.folders.fill_pattern(pattern));
        pattern.is_ok_and(|pattern| pattern.is_match(found))
    }

    /// Checks that there is a text and the pattern matches it. `^$` also matches a missing text.
    pub(super) fn matches(&mut self, key: &str, wanted: &PlacedValue<String>, found: Option<&str>) {
        if !self.fits(&wanted.value, found.unwrap_or_default()) {
            let found = found.map_or(NOTHING.to_string(), with_end);
            self.miss(
                key,
                wanted.at,
                format!("a match of /{}/", wanted.value),
                found,
            );
        }
    }

    pub(super) fn matches_if(
        &mut self,
        key: &str,
        wanted: &Option<PlacedValue<String>>,
        found: fn(&Outcome) -> Option<String>,
    ) {
        if let Some(wanted) = wanted {
            self.matches(key, wanted, found(self.outcome()).as_deref());
        }
    }

    /// Like [`Judge::matches`]. Without an expectation, which would be at `at`, there must be no
    /// text.
    pub(super) fn said(
        &mut self,
        key: &str,
        at: Position,
        wanted: &Option<PlacedValue<String>>,
        found: fn(&Outcome) -> Option<String>,
    ) {
        match (wanted, found(self.outcome())) {
            (Some(wanted), found) => self.matches(key, wanted, found.as_deref()),
            (None, Some(found)) => self.miss(key, at, NOTHING.to_string(), found),
            (None, None) => {}
        }
    }

    /// A block because a hook failed does not prove the policy, so a case must name the failures
    /// that it expects.
    pub(super) fn failures(&mut self, wanted: &PlacedValue<Vec<String>>) {
        let failure = |hook: &HookRun| match &hook.fate {
            Fate::Ran(trace) => Some((hook.hook.clone(), trace.ending.failure()?)),
            Fate::Disabled
            | Fate::Idle(_)
            | Fate::Unwanted(_)
            | Fate::Unreached
            | Fate::Detached => None,
        };
        let mut found: Vec<(String, String)> = self
            .seen
            .decided
            .hooks()
            .iter()
            .filter_map(failure)
            .collect();
        if let Some(reason) = self.seen.decided.own_failure() {
            found.push(("hookrun".to_string(), reason.to_string()));
        }
        let names: Vec<&String> = found.iter().map(|(name, _)| name).collect();
        if names != wanted.value.iter().collect::<Vec<_>>() {
            let lines: Vec<String> = found
                .iter()
                .map(|(name, why)| format!("{name}: {why}"))
                .collect();
            let found = if lines.is_empty() {
                NOTHING.to_string()
            } else {
                lines.join("\n")
            };
            self.miss("failed", wanted.at, listed(&wanted.value), found);
        }
    }

    pub(super) fn stdout(&mut self, wanted: &PlacedValue<Stdout>) {
        let (key, at) = ("reply.stdout", wanted.at);
        let found = &self.seen.decided.reply().stdout;
        match &wanted.value {
            Stdout::Json(value) => {
                let wanted = PlacedValue {
                    value: value.clone(),
                    at,
                };
                match serde_json::from_str(found) {
                    Ok(document) => self.same_json(key, &wanted, &document),
                    Err(_) => {
                        let value = self.seen.folders.fill_value(value);
                        self.miss(key, at, pretty(&value), found.clone());
                    }
                }
            }
            Stdout::Pattern(text) => {
                self.matches(
                    key,
                    &PlacedValue {
                        value: text.clone(),
                        at,
                    },
                    Some(found),
                );
            }
        }
    }

    pub(super) fn rewrites(&mut self, wanted: &PlacedValue<Map<String, Value>>) {
        let found = Value::Object(self.outcome().update());
        let wanted = PlacedValue {
            value: Value::Object(wanted.value.clone()),
            at: wanted.at,
        };
        self.same_json("rewrites", &wanted, &found);
    }

    fn same_json(&mut self, key: &str, wanted: &PlacedValue<Value>, found: &Value) {
        let value = self.seen.folders.fill_value(&wanted.value);
        if value != *found {
            self.miss(key, wanted.at, pretty(&value), pretty(found));
        }
    }

    pub(super) fn time(&mut self, within: &PlacedValue<Duration>) {
        let took = self.seen.decided.took();
        if took > within.value {
            let found = rounded_up(took);
            let wanted = format!("at most {}", duration_text(within.value));
            self.miss("within", within.at, wanted, found);
        }
    }

    pub(super) fn file(&mut self, path: &PlacedValue<String>, left: &FileExpectation) {
        let key = format!("files.{}", path.value);
        let found = (self.seen.look)(&self.seen.folders.fill(&path.value));
        match (left, found) {
            (FileExpectation::Gone, None) | (FileExpectation::There, Some(_)) => {}
            (FileExpectation::Gone, Some(_)) => {
                self.miss(
                    &key,
                    path.at,
                    "no such file".to_string(),
                    "it is there".to_string(),
                );
            }
            (FileExpectation::There | FileExpectation::Pattern(_), None) => {
                self.miss(
                    &key,
                    path.at,
                    "it is there".to_string(),
                    "no such file".to_string(),
                );
            }
            (FileExpectation::Pattern(pattern), Some(Ok(text))) => {
                if !self.fits(pattern, &text) {
                    self.miss(
                        &key,
                        path.at,
                        format!("a match of /{pattern}/"),
                        with_end(&text),
                    );
                }
            }
            (FileExpectation::Pattern(pattern), Some(Err(what))) => {
                self.miss(&key, path.at, format!("a match of /{pattern}/"), what);
            }
        }
    }
}

pub(super) fn deciders(outcome: &Outcome) -> Vec<String> {
    match &outcome.settled {
        Settled::Allowed => Vec::new(),
        Settled::Asked { questions } => questions.iter().map(|one| one.hook.clone()).collect(),
        Settled::Refused(refusal) => refusal.hook.iter().cloned().collect(),
    }
}

/// The texts of blocks and questions that did not decide. [`Judge::failures`] compares failures.
pub(super) fn notice(outcome: &Outcome) -> Option<String> {
    let is_said = |kind: NoticeKind| matches!(kind, NoticeKind::Refusal | NoticeKind::Question);
    let said = outcome.notices.iter().filter(|notice| is_said(notice.kind));
    let lines: Vec<String> = said.map(|notice| notice.text.clone()).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

pub(super) fn findings(outcome: &Outcome) -> Option<String> {
    let line = |found: &HookFinding| {
        let Finding {
            path,
            line,
            level,
            message,
        } = &found.finding;
        let number = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{} {path}{number} {message}", level.name())
    };
    let lines: Vec<String> = outcome.findings.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Makes a final line break visible, because a `$` does not match before it.
fn with_end(text: &str) -> String {
    match text.strip_suffix('\n') {
        Some(lines) => format!("{lines}\\n"),
        None => text.to_string(),
    }
}

/// A time in whole microseconds, rounded up, so that a time over a limit never looks like one
/// within it.
fn rounded_up(took: Duration) -> String {
    let micros = took.as_nanos().div_ceil(1000);
    duration_text(Duration::from_micros(
        u64::try_from(micros).unwrap_or(u64::MAX),
    ))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        NOTHING.to_string()
    } else {
        names.join(", ")
    }
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
