//! The keys of `expect`: how each is read, and how it is compared with the result.

use regex::Regex;
use serde_json::{Map, Value};

use super::case::{Expect, FileExpectation, Stdout};
use super::fill::{unknown_tokens, without_tokens};
use super::judge::{self, Judge, StepOutcome};
use super::played::Miss;
use crate::config::PlacedValue;
use crate::config::reader::{DocumentReader, KeyRow, SetKey, Setting, specs};
use crate::config::tree::{Tree, TreeEntry};
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;
use crate::engine::outcome::Outcome;

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
    row("decision", KeyValue::OneOf(|| vec!["allow", "block", "ask"]), "required", "what comes out",
        |expect, key| key.word().map(|word| expect.decision = word),
        |expect, judge| judge.same("decision", &expect.decision, judge.outcome().settled.word())),
    row("reason", KeyValue::Pattern, "any", "the reason of the block, or the question",
        |expect, key| pattern(key).map(|reason| expect.reason = reason),
        |expect, judge| judge.matches_if("reason", &expect.reason, Outcome::reason)),
    row("by", KeyValue::Texts, "any", "the hook that blocked, or those that asked",
        |expect, key| hooks(key).map(|by| expect.by = Some(by)),
        |expect, judge| judge.hooks_if("by", &expect.by, judge::deciders(judge.outcome()))),
    row("asked", KeyValue::Texts, "any", "the hooks that ran, in their order",
        |expect, key| hooks(key).map(|asked| expect.asked = Some(asked)),
        |expect, judge| {
            let ran = judge.seen.decided.asked().map(|hook| hook.hook.clone()).collect();
            judge.hooks_if("asked", &expect.asked, ran);
        }),
    row("failed", KeyValue::Texts, "none", "the hooks that failed: timed out, crashed, did not start; `hookrun` for its own failure",
        |expect, key| hooks(key).map(|failed| expect.failed = failed),
        |expect, judge| judge.failures(&expect.failed)),
    row("output", KeyValue::Pattern, "none", "the texts to show",
        |expect, key| pattern(key).map(|output| expect.output = output),
        |expect, judge| judge.said("output", expect.at, &expect.output, Outcome::output)),
    row("context", KeyValue::Pattern, "none", "the texts for the model",
        |expect, key| pattern(key).map(|context| expect.context = context),
        |expect, judge| judge.said("context", expect.at, &expect.context, Outcome::additional_context)),
    row("notice", KeyValue::Pattern, "none", "blocks and questions without effect, because the event cannot be blocked",
        |expect, key| pattern(key).map(|notice| expect.notice = notice),
        |expect, judge| judge.said("notice", expect.at, &expect.notice, judge::notice)),
    row("findings", KeyValue::Pattern, "any", "what was found in files, a line each: `error src/main.tf:7 it is open`",
        |expect, key| pattern(key).map(|findings| expect.findings = findings),
        |expect, judge| judge.matches_if("findings", &expect.findings, judge::findings)),
    row("rewrites", KeyValue::Json, "none", "the fields that were rewritten, each with its new value",
        |expect, key| document(key).map(|rewrites| expect.rewrites = rewrites),
        |expect, judge| judge.rewrites(&expect.rewrites)),
    row("reply", KeyValue::Table(|| specs(REPLY_KEYS)), "any", "what the host gets",
        |expect, key| { filled(key)?; key.take(REPLY_KEYS, "", expect) },
        |expect, judge| REPLY_KEYS.iter().for_each(|row| (row.compare)(expect, judge))),
    row("within", KeyValue::Duration, "any", "how long deciding may take",
        |expect, key| key.duration().map(|time| expect.within = Some(key.placed(time))),
        |expect, judge| if let Some(within) = &expect.within { judge.time(within) }),
    row("files", KeyValue::Map(&KeyValue::Either(&[KeyValue::Pattern, KeyValue::Flag])), "any", "what then lies in the case's folder: a path with a regular expression for its text, or with true or false for whether it is there",
        set_files,
        |expect, judge| expect.files.iter().for_each(|(path, left)| judge.file(path, left))),
];

#[rustfmt::skip]
pub const REPLY_KEYS: &[ExpectRow] = &[
    row("status", KeyValue::Number, "any", "the exit status",
        |expect, key| key.number_in(0..=255).map(|status| expect.status = Some(key.placed(status))),
        |expect, judge| if let Some(PlacedValue { value, at }) = &expect.status {
            let wanted = PlacedValue { value: value.to_string(), at: *at };
            judge.same("reply.status", &wanted, &judge.seen.decided.reply().status.to_string());
        }),
    row("stdout", KeyValue::Json, "any", "stdout: a table that it is as JSON, or a regular expression", set_stdout,
        |expect, judge| if let Some(stdout) = &expect.stdout { judge.stdout(stdout) }),
    row("stderr", KeyValue::Pattern, "any", "stderr",
        |expect, key| pattern(key).map(|stderr| expect.stderr = stderr),
        |expect, judge| if let Some(wanted) = &expect.stderr {
            judge.matches("reply.stderr", wanted, Some(&judge.seen.decided.reply().stderr));
        }),
];

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
        let cure = "say what comes out: `decision = \"allow\"`";
        reader.fault(offset, "`expect` has no `decision`", cure);
    }
    if expect.decision.value == "allow" {
        let reason = expect.reason.as_ref().map(|reason| ("reason", reason.at));
        let by = expect.by.as_ref().map(|by| ("by", by.at));
        for (key, at) in [reason, by].into_iter().flatten() {
            let cause = format!("what is allowed has no `{key}`");
            let complaint = Complaint::with_cure(cause, "drop it, or correct the `decision`");
            reader
                .problems
                .push(complaint.in_file(reader.file, Some(at)));
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
    let said = error.to_string();
    let said = said
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let cause = format!("`{name}` is not a regular expression: {said}");
    Err(Complaint::with_cure(
        cause,
        "correct it; `\\` makes a character mean itself",
    ))
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
        return Err(Complaint::with_cure(cause, "say what it is, or drop it"));
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
        let path = PlacedValue {
            value: entry.key.clone(),
            at: key.reader.at(entry.at),
        };
        match left(&entry.tree, &entry.key) {
            Ok(left) => expect.files.extend(left.map(|left| (path, left))),
            Err(complaint) => key.reader.complain(entry.tree.offset, complaint),
        }
    }
    Ok(())
}

fn left(tree: &Tree, path: &str) -> Result<Option<FileExpectation>, Complaint> {
    match (tree.text(), tree.flag()) {
        (_, Some(true)) => Ok(Some(FileExpectation::There)),
        (_, Some(false)) => Ok(Some(FileExpectation::Gone)),
        (Some(text), None) => {
            Ok(is_pattern(text, path)?.then(|| FileExpectation::Pattern(text.to_string())))
        }
        (None, None) => {
            let cause = format!("`{path}` takes a regular expression, true or false");
            let cure = "write an expression for its text, or whether it is there";
            Err(Complaint::with_cure(cause, cure))
        }
    }
}
