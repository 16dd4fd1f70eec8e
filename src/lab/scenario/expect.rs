//! The keys of `expect`: how to read each, and how to compare it with the result.

use std::path::Path;

use regex::Regex;
use serde_json::Value;

use super::case::{Expect, ExpectValue, FileExpectation, Miss, StepResult, own_failure};
use super::placeholders::{CaseFolders, unknown_tokens, without_tokens};
use crate::config::reader::{DocumentReader, KeyRow, SetKey, Setting, read_file, specs};
use crate::config::tree::{Tree, TreeEntry};
use crate::config::value::KeyValue;
use crate::config::{PlacedValue, Position};
use crate::engine::complaint::Complaint;
use crate::engine::outcome::{NoticeKind, Outcome, Settled};
use crate::engine::run::Fate;

/// A key of `expect`. A missing key accepts anything or, with the default `none`, nothing.
#[derive(Debug)]
pub struct ExpectRow {
    pub key: KeyRow<Expect>,
    found: fn(&StepResult) -> StepValue,
}

enum StepValue {
    Text(Option<String>),
    Hooks {
        names: Vec<String>,
        /// The names with details, for messages.
        lines: Vec<String>,
    },
}

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
    found: fn(&StepResult) -> StepValue,
) -> ExpectRow {
    ExpectRow {
        key: KeyRow::key(name, takes, default, about, set),
        found,
    }
}

#[rustfmt::skip]
pub const EXPECT_KEYS: &[ExpectRow] = &[
    row("decision", KeyValue::OneOf(|| vec!["allow", "block", "ask"]), "required", "the decision",
        set_word, |step| StepValue::Text(Some(step.outcome.settled.word().to_string()))),
    row("reason", KeyValue::Pattern, "any", "the reason for the block, or the question",
        set_pattern, |step| StepValue::Text(step.outcome.reason())),
    row("by", KeyValue::Texts, "any", "the hook that blocked, or the hooks that asked",
        set_hooks, |step| hooks(deciders(&step.outcome))),
    row("asked", KeyValue::Texts, "any", "the hooks that ran, in order",
        set_hooks, |step| hooks(step.asked().map(|hook| hook.hook.clone()).collect())),
    row("failed", KeyValue::Texts, "none", "the hooks that failed: timed out, crashed, did not start; `hookrun` if hookrun itself failed",
        set_hooks, failures),
    row("output", KeyValue::Pattern, "none", "the text to show",
        set_pattern, |step| StepValue::Text(step.outcome.output())),
    row("context", KeyValue::Pattern, "none", "the text for the model",
        set_pattern, |step| StepValue::Text(step.outcome.additional_context())),
    row("notice", KeyValue::Pattern, "none", "blocks and questions that had no effect, because the event cannot be blocked",
        set_pattern, |step| StepValue::Text(notice(&step.outcome))),
    row("findings", KeyValue::Pattern, "any", "findings in files, one per line: `error src/main.tf:7 it is open`",
        set_pattern, |step| StepValue::Text(findings(&step.outcome))),
    row("rewrites", KeyValue::Json, "none", "the rewritten fields with their new values",
        set_rewrites, |step| StepValue::Text(rewrites(&step.outcome))),
    row("reply", KeyValue::Table(|| specs(REPLY_KEYS)), "any", "the reply to the host",
        |expect, key| { filled(key)?; key.take(REPLY_KEYS, "", expect) }, |_| StepValue::Text(None)),
    row("files", KeyValue::Map(&KeyValue::Either(&[KeyValue::Pattern, KeyValue::Flag])), "any", "files in the case's folder afterwards: each path with a regular expression for its content, or true or false for whether it exists",
        set_files, |_| StepValue::Text(None)),
];

#[rustfmt::skip]
pub const REPLY_KEYS: &[ExpectRow] = &[
    row("status", KeyValue::Number, "any", "the exit status",
        set_status, |step| StepValue::Text(Some(step.reply.status.to_string()))),
    row("stdout", KeyValue::Either(&[KeyValue::Table(Vec::new), KeyValue::Pattern]), "any", "stdout: a table for the JSON, or a regular expression",
        set_stdout, |step| StepValue::Text(Some(step.reply.stdout.clone()))),
    row("stderr", KeyValue::Pattern, "any", "stderr",
        set_pattern, |step| StepValue::Text(Some(step.reply.stderr.clone()))),
];

/// Reads the table `expect` at `offset`; `None` if it has a mistake.
pub(super) fn read(
    reader: &mut DocumentReader<'_>,
    table: &[TreeEntry],
    offset: usize,
) -> Option<Expect> {
    let before = reader.problems.len();
    let mut expect = Expect {
        at: reader.at(offset),
        ..Expect::default()
    };
    reader.take(table, EXPECT_KEYS, "", &mut expect);
    let is_given = table.iter().any(|entry| entry.key == "decision");
    if !is_given && !reader.meant.contains(&"decision") {
        let cure = "add `decision = \"allow\"`, `\"block\"` or `\"ask\"`";
        reader.fault(offset, "`expect` has no `decision`", cure);
    }
    if expect.decision() == "allow" {
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

fn set_word(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    keep(expect, key, ExpectValue::Word(key.word()?.value));
    Ok(())
}

fn set_status(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let status = key.number_in(0..=255)?;
    keep(expect, key, ExpectValue::Word(status.to_string()));
    Ok(())
}

fn set_hooks(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let names = key.texts()?.into_iter().map(|name| name.value);
    keep(expect, key, ExpectValue::Hooks(names.collect()));
    Ok(())
}

fn keep(expect: &mut Expect, key: &Setting<'_, '_>, value: ExpectValue) {
    expect
        .values
        .insert(key.name.to_string(), key.placed(value));
}

/// Sets a regular expression, unless it has an unknown token, which is reported elsewhere.
fn set_pattern(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let text = key.text()?;
    if is_pattern(text, key.name)? {
        keep(expect, key, ExpectValue::Pattern(text.to_string()));
    }
    Ok(())
}

/// Whether a text without its folder tokens is a regular expression.
fn is_pattern(text: &str, name: &str) -> Result<bool, Complaint> {
    if !unknown_tokens(text).is_empty() {
        return Ok(false);
    }
    let Err(error) = Regex::new(&without_tokens(text)) else {
        return Ok(true);
    };
    let error = error.to_string();
    let last = error.lines().last().unwrap_or_default();
    let why = last.trim_start_matches("error: ");
    let cause = format!("`{name}` is not a regular expression: {why}");
    let cure = "fix it; `\\` escapes a special character";
    Err(Complaint::with_cure(cause, cure))
}

/// Sets a JSON object, given as a table or a text.
fn set_rewrites(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let parsed = match key.tree.text() {
        Some(text) => serde_json::from_str(text).unwrap_or_default(),
        None => key.tree.to_json(),
    };
    if parsed.is_object() {
        keep(expect, key, ExpectValue::Json(parsed));
        return Ok(());
    }
    let cause = format!("`{}` is not a JSON object", key.name);
    let cure = "write a table: `{ toolInput = { command = \"ls\" } }`";
    Err(Complaint::with_cure(cause, cure))
}

/// A non-empty table; an empty one would check nothing.
fn filled<'s>(key: &mut Setting<'s, '_>) -> Result<&'s [TreeEntry], Complaint> {
    let table = key.table()?;
    if table.is_empty() {
        let cause = format!("`{}` is empty, so it checks nothing", key.name);
        return Err(Complaint::with_cure(cause, "add a key to it, or remove it"));
    }
    Ok(table)
}

fn set_stdout(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    if key.tree.text().is_some() {
        return set_pattern(expect, key);
    }
    if key.tree.entries().is_none() {
        return Err(key.wrong());
    }
    keep(expect, key, ExpectValue::Json(key.tree.to_json()));
    Ok(())
}

fn set_files(expect: &mut Expect, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for entry in filled(key)? {
        if entry.key.is_empty() {
            // An empty name means the folder itself, which always exists.
            key.reader.fault(
                entry.at,
                "a path in `files` is empty",
                "write the path of the file",
            );
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
            let cure =
                "write an expression for its content, or true or false for whether it exists";
            Err(Complaint::with_cure(cause, cure))
        }
    }
}

pub fn misses(expect: &Expect, step: &StepResult, folders: &CaseFolders) -> Vec<Miss> {
    let mut judge = Judge {
        folders,
        misses: Vec::new(),
    };
    for (prefix, rows) in [("", EXPECT_KEYS), ("reply.", REPLY_KEYS)] {
        for row in rows {
            let expected = expect.values.get(row.key.name);
            if expected.is_some() || row.key.default == "none" {
                let at = expected.map_or(expect.at, |expected| expected.at);
                let expected = expected.map(|expected| &expected.value);
                let key = format!("{prefix}{}", row.key.name);
                judge.compare(&key, at, expected, (row.found)(step));
            }
        }
    }
    for (path, expected) in &expect.files {
        judge.file(path, expected);
    }
    judge.misses
}

const NOTHING: &str = "nothing";
const IS_THERE: &str = "present";
const NO_FILE: &str = "missing";

struct Judge<'s> {
    folders: &'s CaseFolders,
    misses: Vec<Miss>,
}

impl Judge<'_> {
    fn miss(&mut self, key: &str, at: Position, wanted: &str, found: &str) {
        self.misses.push(Miss {
            step: None,
            key: key.to_string(),
            at,
            wanted: self.folders.unfill(wanted),
            found: self.folders.unfill(found),
        });
    }

    fn compare(
        &mut self,
        key: &str,
        at: Position,
        expected: Option<&ExpectValue>,
        found: StepValue,
    ) {
        match (expected, found) {
            (None, StepValue::Text(None)) => {}
            (None, StepValue::Text(Some(text))) => self.miss(key, at, NOTHING, &text),
            (Some(ExpectValue::Word(word)), StepValue::Text(text)) => {
                let text = text.unwrap_or_default();
                if text != *word {
                    self.miss(key, at, word, &text);
                }
            }
            (Some(ExpectValue::Pattern(pattern)), StepValue::Text(text)) => {
                self.matches(key, at, pattern, text.as_deref());
            }
            (Some(ExpectValue::Json(value)), StepValue::Text(text)) => {
                self.same_json(key, at, value, text.as_deref().unwrap_or("{}"));
            }
            (expected, StepValue::Hooks { names, lines }) => {
                let expected = match expected {
                    Some(ExpectValue::Hooks(expected)) => expected.as_slice(),
                    _ => &[],
                };
                if names != expected {
                    let found = listed(&lines, "\n");
                    self.miss(key, at, &listed(expected, ", "), &found);
                }
            }
            (Some(ExpectValue::Hooks(_)), StepValue::Text(_)) => {}
        }
    }

    fn same_json(&mut self, key: &str, at: Position, expected: &Value, found: &str) {
        let expected = self.folders.fill_value(expected);
        match serde_json::from_str::<Value>(found) {
            Ok(found) if found == expected => {}
            Ok(found) => self.miss(key, at, &format!("{expected:#}"), &format!("{found:#}")),
            Err(_) => self.miss(key, at, &format!("{expected:#}"), found),
        }
    }

    /// Checks that the pattern matches the text. `^$` also matches a missing text.
    fn matches(&mut self, key: &str, at: Position, pattern: &str, found: Option<&str>) {
        // The reader checked this expression, and folders are escaped.
        let form = Regex::new(&self.folders.fill_pattern(pattern));
        if form.is_ok_and(|form| form.is_match(found.unwrap_or_default())) {
            return;
        }
        let found = match found {
            None => NOTHING.to_string(),
            // Show a final line break, because `$` does not match before it.
            Some(text) => match text.strip_suffix('\n') {
                Some(lines) => format!("{lines}\\n"),
                None => text.to_string(),
            },
        };
        self.miss(key, at, &format!("a match for /{pattern}/"), &found);
    }

    fn file(&mut self, path: &PlacedValue<String>, wanted: &FileExpectation) {
        let key = format!("files.{}", path.value);
        let file = self.folders.work.join(self.folders.fill(&path.value));
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
                Err(why) => self.miss(&key, path.at, &format!("a match for /{pattern}/"), &why),
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
        Err(error) => Err(format!("unreadable: {error}")),
    }
}

fn hooks(names: Vec<String>) -> StepValue {
    let lines = if names.is_empty() {
        Vec::new()
    } else {
        vec![names.join(", ")]
    };
    StepValue::Hooks { names, lines }
}

/// The failed hooks, which a case must name: a failure does not prove the policy.
fn failures(step: &StepResult) -> StepValue {
    let mut names = Vec::new();
    let mut lines = Vec::new();
    for hook in step.hooks() {
        if let Fate::Ran(trace) = &hook.fate
            && let Some(failure) = trace.ending.failure()
        {
            names.push(hook.hook.clone());
            lines.push(format!("{}: {failure}", hook.hook));
        }
    }
    if let Some(reason) = own_failure(&step.outcome) {
        names.push("hookrun".to_string());
        lines.push(format!("hookrun: {reason}"));
    }
    StepValue::Hooks { names, lines }
}

fn rewrites(outcome: &Outcome) -> Option<String> {
    let update = outcome.update();
    (!update.is_empty()).then(|| Value::Object(update).to_string())
}

fn deciders(outcome: &Outcome) -> Vec<String> {
    match &outcome.settled {
        Settled::Allowed => Vec::new(),
        Settled::Asked { questions } => questions.iter().map(|one| one.hook.clone()).collect(),
        Settled::Blocked(block) => block.hooks().cloned().collect(),
    }
}

/// The texts of blocks and questions that did not decide; failures are in [`failures`].
fn notice(outcome: &Outcome) -> Option<String> {
    let mut lines = Vec::new();
    for notice in &outcome.notices {
        if matches!(notice.kind, NoticeKind::Block | NoticeKind::Question) {
            lines.push(notice.text.clone());
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn findings(outcome: &Outcome) -> Option<String> {
    let mut lines = Vec::new();
    for found in &outcome.findings {
        let finding = &found.finding;
        let level = finding.level.name();
        let mut line = format!("{level} {}", finding.path);
        if let Some(number) = finding.line {
            line.push_str(&format!(":{number}"));
        }
        line.push_str(&format!(" {}", finding.message));
        if let Some(rule) = &finding.rule {
            line.push_str(&format!(" [{rule}]"));
        }
        lines.push(line);
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn listed(lines: &[String], separator: &str) -> String {
    if lines.is_empty() {
        NOTHING.to_string()
    } else {
        lines.join(separator)
    }
}
