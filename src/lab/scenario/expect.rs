//! The keys of `expect`: how each is read, and how it is compared with the result.

use std::path::Path;

use regex::Regex;
use serde_json::{Map, Value};

use super::case::{Expect, FileExpectation, Miss, Stdout, StepResult};
use super::placeholders::{CaseFolders, unknown_tokens, without_tokens};
use crate::config::reader::{DocumentReader, KeyRow, SetKey, Setting, read_file, specs};
use crate::config::tree::{Tree, TreeEntry};
use crate::config::value::KeyValue;
use crate::config::{PlacedValue, Position};
use crate::engine::complaint::Complaint;
use crate::engine::outcome::{Finding, NoticeKind, Outcome, Settled};
use crate::engine::run::Fate;

#[derive(Debug)]
pub struct ExpectRow {
    pub key: KeyRow<Expect>,
    compare: Compare,
}

type Compare = fn(&Expect, &mut Judge<'_>);

impl AsRef<KeyRow<Expect>> for ExpectRow {
    fn as_ref(&self) -> &KeyRow<Expect> {
        &self.key
    }
}

const fn row(
    name: &'static str,
    takes: KeyValue,
    default: &'static str,
    about: &'static str,
    set: SetKey<Expect>,
    compare: Compare,
) -> ExpectRow {
    ExpectRow {
        key: KeyRow::key(name, takes, default, about, set),
        compare,
    }
}

#[rustfmt::skip]
pub const EXPECT_KEYS: &[ExpectRow] = &[
    row("decision", KeyValue::OneOf(|| vec!["allow", "block", "ask"]), "required", "the decision",
        |expect, key| key.word().map(|word| expect.decision = word),
        |expect, judge| judge.same("decision", expect.decision.at, &expect.decision.value, judge.outcome().settled.word())),
    row("reason", KeyValue::Pattern, "any", "the reason of the block, or the question",
        |expect, key| pattern(key).map(|reason| expect.reason = reason),
        |expect, judge| judge.matches_if("reason", &expect.reason, judge.outcome().reason())),
    row("by", KeyValue::Texts, "any", "the hook that blocked, or the hooks that asked",
        |expect, key| hooks(key).map(|by| expect.by = Some(by)),
        |expect, judge| judge.hooks_if("by", &expect.by, deciders(judge.outcome()))),
    row("asked", KeyValue::Texts, "any", "the hooks that ran, in order",
        |expect, key| hooks(key).map(|asked| expect.asked = Some(asked)),
        |expect, judge| {
            let ran = judge.seen.decided.asked().map(|hook| hook.hook.clone()).collect();
            judge.hooks_if("asked", &expect.asked, ran);
        }),
    row("failed", KeyValue::Texts, "none", "the hooks that failed: timed out, crashed, did not start; `hookrun` for its own failure",
        |expect, key| hooks(key).map(|failed| expect.failed = failed),
        |expect, judge| judge.failures(&expect.failed)),
    row("output", KeyValue::Pattern, "none", "the text to show",
        |expect, key| pattern(key).map(|output| expect.output = output),
        |expect, judge| judge.text("output", expect.at, &expect.output, judge.outcome().output())),
    row("context", KeyValue::Pattern, "none", "the text for the model",
        |expect, key| pattern(key).map(|context| expect.context = context),
        |expect, judge| judge.text("context", expect.at, &expect.context, judge.outcome().additional_context())),
    row("notice", KeyValue::Pattern, "none", "blocks and questions without effect, because the event cannot be blocked",
        |expect, key| pattern(key).map(|notice| expect.notice = notice),
        |expect, judge| judge.text("notice", expect.at, &expect.notice, notice(judge.outcome()))),
    row("findings", KeyValue::Pattern, "any", "findings in files, one per line: `error src/main.tf:7 it is open`",
        |expect, key| pattern(key).map(|findings| expect.findings = findings),
        |expect, judge| judge.matches_if("findings", &expect.findings, findings(judge.outcome()))),
    row("rewrites", KeyValue::Json, "none", "the rewritten fields with their new values",
        |expect, key| document(key).map(|rewrites| expect.rewrites = rewrites),
        |expect, judge| {
            let expected = Value::Object(expect.rewrites.value.clone());
            judge.same_json("rewrites", expect.rewrites.at, &expected, &Value::Object(judge.outcome().update()));
        }),
    row("reply", KeyValue::Table(|| specs(REPLY_KEYS)), "any", "the reply to the host",
        |expect, key| { filled(key)?; key.take(REPLY_KEYS, "", expect) },
        |expect, judge| REPLY_KEYS.iter().for_each(|row| (row.compare)(expect, judge))),
    row("files", KeyValue::Map(&KeyValue::Either(&[KeyValue::Pattern, KeyValue::Flag])), "any", "files in the case's folder afterwards: a path with a regular expression for its text, or with true or false for its existence",
        set_files,
        |expect, judge| expect.files.iter().for_each(|(path, left)| judge.file(path, left))),
];

#[rustfmt::skip]
pub const REPLY_KEYS: &[ExpectRow] = &[
    row("status", KeyValue::Number, "any", "the exit status",
        |expect, key| key.number_in(0..=255).map(|status| expect.status = Some(key.placed(status))),
        |expect, judge| if let Some(PlacedValue { value, at }) = &expect.status {
            let status = judge.seen.decided.reply().status;
            judge.same("reply.status", *at, &value.to_string(), &status.to_string());
        }),
    row("stdout", KeyValue::Json, "any", "stdout: a table for the JSON, or a regular expression", set_stdout,
        |expect, judge| if let Some(stdout) = &expect.stdout { judge.stdout(stdout) }),
    row("stderr", KeyValue::Pattern, "any", "stderr",
        |expect, key| pattern(key).map(|stderr| expect.stderr = stderr),
        |expect, judge| judge.matches_if("reply.stderr", &expect.stderr, Some(judge.seen.decided.reply().stderr.clone()))),
];

/// Reads the table `expect`, which begins at `offset`; `None` if it has a mistake.
pub(super) fn read(
    reader: &mut DocumentReader<'_>,
    table: &[TreeEntry],
    offset: usize,
) -> Option<Expect> {
    let before = reader.problems.len();
    let mut expect = Expect::new(reader.at(offset));
    reader.take(table, EXPECT_KEYS, "", &mut expect);
    let is_given = table.iter().any(|entry| entry.key == "decision");
    if !is_given && !reader.meant.contains(&"decision") {
        let cure = "name the decision: `decision = \"allow\"`";
        reader.fault(offset, "`expect` has no `decision`", cure);
    }
    if expect.decision.value == "allow" {
        for entry in table {
            if entry.key == "reason" || entry.key == "by" {
                let cause = format!("an allowed event has no `{}`", entry.key);
                let cure = "remove it, or correct the `decision`";
                reader.fault(entry.tree.offset, cause, cure);
            }
        }
    }
    (reader.problems.len() == before).then_some(expect)
}

/// A regular expression; `None` if it contains an unknown token, which is reported elsewhere.
fn pattern(key: &Setting<'_, '_>) -> Result<Option<PlacedValue<String>>, Complaint> {
    let text = key.text()?;
    let is_pattern = is_pattern(text, key.name)?;
    Ok(is_pattern.then(|| key.placed(text.to_string())))
}

/// Whether a text is a regular expression once its folder tokens are replaced.
fn is_pattern(text: &str, name: &str) -> Result<bool, Complaint> {
    if !unknown_tokens(text).is_empty() {
        return Ok(false);
    }
    let Err(error) = Regex::new(&without_tokens(text)) else {
        return Ok(true);
    };
    let error = error.to_string();
    let last = error.lines().last().unwrap_or_default();
    let cause = format!(
        "`{name}` is not a regular expression: {}",
        last.trim_start_matches("error: ")
    );
    let cure = "correct it; `\\` makes a character literal";
    Err(Complaint::with_cure(cause, cure))
}

fn hooks(key: &Setting<'_, '_>) -> Result<PlacedValue<Vec<String>>, Complaint> {
    let names = key.texts()?.into_iter().map(|name| name.value);
    Ok(key.placed(names.collect()))
}

/// A JSON object, written as a table or as text.
fn document(key: &Setting<'_, '_>) -> Result<PlacedValue<Map<String, Value>>, Complaint> {
    let parsed = match key.tree.text() {
        Some(text) => serde_json::from_str(text).ok(),
        None => Some(key.tree.to_json()),
    };
    if let Some(Value::Object(fields)) = parsed {
        return Ok(key.placed(fields));
    }
    let cause = format!("`{}` is not a JSON object", key.name);
    let cure = "write a table: `{ toolInput = { command = \"ls\" } }`";
    Err(Complaint::with_cure(cause, cure))
}

/// A non-empty table. An empty one looks like an expectation but checks nothing.
fn filled<'s>(key: &mut Setting<'s, '_>) -> Result<&'s [TreeEntry], Complaint> {
    let table = key.table()?;
    if table.is_empty() {
        let cause = format!("`{}` is empty, so it expects nothing", key.name);
        return Err(Complaint::with_cure(cause, "give its value, or remove it"));
    }
    Ok(table)
}

fn set_stdout(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let stdout = match (key.tree.text(), key.tree.entries()) {
        (Some(_), _) => pattern(key)?.map(|text| Stdout::Pattern(text.value)),
        (None, Some(_)) => Some(Stdout::Json(key.tree.to_json())),
        (None, None) => return Err(key.wrong()),
    };
    expect.stdout = stdout.map(|stdout| key.placed(stdout));
    Ok(())
}

fn set_files(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for entry in filled(key)? {
        if entry.key.is_empty() {
            // An empty name means the folder itself, which always exists.
            key.reader
                .fault(entry.at, "the file has no name", "write its path");
            continue;
        }
        match file_expectation(&entry.tree, &entry.key) {
            Ok(expectation) => {
                let path = PlacedValue {
                    value: entry.key.clone(),
                    at: key.reader.at(entry.at),
                };
                expect.files.extend(expectation.map(|left| (path, left)));
            }
            Err(complaint) => key.reader.complain(entry.tree.offset, complaint),
        }
    }
    Ok(())
}

fn file_expectation(tree: &Tree, path: &str) -> Result<Option<FileExpectation>, Complaint> {
    match (tree.text(), tree.flag()) {
        (_, Some(true)) => Ok(Some(FileExpectation::There)),
        (_, Some(false)) => Ok(Some(FileExpectation::Gone)),
        (Some(text), None) => {
            Ok(is_pattern(text, path)?.then(|| FileExpectation::Pattern(text.to_string())))
        }
        (None, None) => {
            let cause = format!("`{path}` takes a regular expression, true or false");
            let cure = "write an expression for its text, or true or false for its existence";
            Err(Complaint::with_cure(cause, cure))
        }
    }
}

/// What came out of a step, and where its case ran.
#[derive(Debug, Clone, Copy)]
pub struct StepOutcome<'s> {
    pub decided: &'s StepResult,
    pub folders: &'s CaseFolders,
}

/// Compares a result with its expectations, key by key.
pub fn misses(expect: &Expect, seen: StepOutcome<'_>) -> Vec<Miss> {
    let mut judge = Judge {
        seen,
        misses: Vec::new(),
    };
    for row in EXPECT_KEYS {
        (row.compare)(expect, &mut judge);
    }
    judge.misses
}

const NOTHING: &str = "nothing";
const IS_THERE: &str = "it is there";
const NO_FILE: &str = "no such file";

struct Judge<'s> {
    seen: StepOutcome<'s>,
    misses: Vec<Miss>,
}

impl<'s> Judge<'s> {
    fn outcome(&self) -> &'s Outcome {
        self.seen.decided.outcome()
    }

    fn miss(&mut self, key: &str, at: Position, wanted: &str, found: &str) {
        let folders = self.seen.folders;
        self.misses.push(Miss {
            step: None,
            key: key.to_string(),
            at,
            wanted: folders.unfill(wanted),
            found: folders.unfill(found),
        });
    }

    fn same(&mut self, key: &str, at: Position, wanted: &str, found: &str) {
        if wanted != found {
            self.miss(key, at, wanted, found);
        }
    }

    fn same_json(&mut self, key: &str, at: Position, wanted: &Value, found: &Value) {
        let wanted = self.seen.folders.fill_value(wanted);
        if wanted != *found {
            self.miss(key, at, &format!("{wanted:#}"), &format!("{found:#}"));
        }
    }

    fn hooks_if(
        &mut self,
        key: &str,
        wanted: &Option<PlacedValue<Vec<String>>>,
        found: Vec<String>,
    ) {
        if let Some(PlacedValue { value, at }) = wanted {
            self.same(key, *at, &listed(value), &listed(&found));
        }
    }

    /// Checks that there is a text and the pattern matches it. `^$` also matches a missing text.
    fn matches(&mut self, key: &str, at: Position, pattern: &str, found: Option<&str>) {
        // The reader has checked this regular expression, and the folders in it are escaped.
        let form = Regex::new(&self.seen.folders.fill_pattern(pattern));
        if form.is_ok_and(|form| form.is_match(found.unwrap_or_default())) {
            return;
        }
        let found = match found {
            None => NOTHING.to_string(),
            // A final line break is made visible, because a `$` does not match before it.
            Some(text) => match text.strip_suffix('\n') {
                Some(lines) => format!("{lines}\\n"),
                None => text.to_string(),
            },
        };
        self.miss(key, at, &format!("a match of /{pattern}/"), &found);
    }

    fn matches_if(
        &mut self,
        key: &str,
        wanted: &Option<PlacedValue<String>>,
        found: Option<String>,
    ) {
        if let Some(PlacedValue { value, at }) = wanted {
            self.matches(key, *at, value, found.as_deref());
        }
    }

    /// Like [`Judge::matches_if`], but without an expectation, which would be at `at`, there must
    /// be no text.
    fn text(
        &mut self,
        key: &str,
        at: Position,
        wanted: &Option<PlacedValue<String>>,
        found: Option<String>,
    ) {
        match found {
            Some(text) if wanted.is_none() => self.miss(key, at, NOTHING, &text),
            found => self.matches_if(key, wanted, found),
        }
    }

    /// A block because a hook failed does not prove the policy, so a case must name the failures
    /// that it expects.
    fn failures(&mut self, wanted: &PlacedValue<Vec<String>>) {
        let mut names = Vec::new();
        let mut lines = Vec::new();
        for hook in self.seen.decided.hooks() {
            if let Fate::Ran(trace) = &hook.fate
                && let Some(failure) = trace.ending.failure()
            {
                names.push(hook.hook.clone());
                lines.push(format!("{}: {failure}", hook.hook));
            }
        }
        if let Some(reason) = self.seen.decided.own_failure() {
            names.push("hookrun".to_string());
            lines.push(format!("hookrun: {reason}"));
        }
        if names != wanted.value {
            let found = if lines.is_empty() {
                NOTHING.to_string()
            } else {
                lines.join("\n")
            };
            self.miss("failed", wanted.at, &listed(&wanted.value), &found);
        }
    }

    fn stdout(&mut self, wanted: &PlacedValue<Stdout>) {
        let key = "reply.stdout";
        let found = &self.seen.decided.reply().stdout;
        match &wanted.value {
            Stdout::Pattern(text) => self.matches(key, wanted.at, text, Some(found)),
            Stdout::Json(value) => match serde_json::from_str(found) {
                Ok(document) => self.same_json(key, wanted.at, value, &document),
                Err(_) => {
                    let value = self.seen.folders.fill_value(value);
                    self.miss(key, wanted.at, &format!("{value:#}"), found);
                }
            },
        }
    }

    fn file(&mut self, path: &PlacedValue<String>, wanted: &FileExpectation) {
        let folders = self.seen.folders;
        let key = format!("files.{}", path.value);
        let file = folders.work.join(folders.fill(&path.value));
        let is_there = file.symlink_metadata().is_ok();
        match wanted {
            FileExpectation::Gone if is_there => self.miss(&key, path.at, NO_FILE, IS_THERE),
            FileExpectation::Gone => {}
            FileExpectation::There | FileExpectation::Pattern(_) if !is_there => {
                self.miss(&key, path.at, IS_THERE, NO_FILE);
            }
            FileExpectation::There => {}
            FileExpectation::Pattern(pattern) => match text_of(&file) {
                Ok(text) => self.matches(&key, path.at, pattern, Some(&text)),
                Err(why) => self.miss(&key, path.at, &format!("a match of /{pattern}/"), &why),
            },
        }
    }
}

fn text_of(file: &Path) -> Result<String, String> {
    if file.is_dir() {
        return Err("a folder".to_string());
    }
    match read_file(file) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

fn deciders(outcome: &Outcome) -> Vec<String> {
    match &outcome.settled {
        Settled::Allowed => Vec::new(),
        Settled::Asked { questions } => questions.iter().map(|one| one.hook.clone()).collect(),
        Settled::Refused(refusal) => refusal.hook.iter().cloned().collect(),
    }
}

/// The texts of blocks and questions that did not decide. [`Judge::failures`] compares failures.
fn notice(outcome: &Outcome) -> Option<String> {
    let mut lines = Vec::new();
    for notice in &outcome.notices {
        if matches!(notice.kind, NoticeKind::Refusal | NoticeKind::Question) {
            lines.push(notice.text.clone());
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn findings(outcome: &Outcome) -> Option<String> {
    let mut lines = Vec::new();
    for Finding {
        path,
        line,
        level,
        message,
        rule,
    } in outcome.findings.iter().map(|one| &one.finding)
    {
        let number = line.map(|line| format!(":{line}")).unwrap_or_default();
        let tag = rule
            .as_ref()
            .map_or_else(String::new, |rule| format!(" [{rule}]"));
        lines.push(format!("{} {path}{number} {message}{tag}", level.name()));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        NOTHING.to_string()
    } else {
        names.join(", ")
    }
}
