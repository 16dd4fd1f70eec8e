//! The keys of a suite: one table for the reader, its messages and the man page.

use std::path::PathBuf;

use super::case::{Content, Expect, StepInput, Suite, SuppliedFile};
use super::expect;
pub use super::expect::{EXPECT_KEYS, ExpectRow, REPLY_KEYS};
use crate::config::PlacedValue;
use crate::config::keys::dialect_names;
use crate::config::reader::{DocumentReader, KeyRow, Setting, names, specs};
use crate::config::tree::TreeEntry;
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;

#[derive(Debug, Default)]
pub struct SuiteDraft {
    pub(super) suite: Suite,
    pub(super) defaults: StepDraft,
}

/// A case or step while it is read, with values inherited from outer tables.
#[derive(Debug, Clone, Default)]
pub struct StepDraft {
    pub(super) name: Option<String>,
    pub(super) skip: Option<String>,
    pub(super) event: Option<PlacedValue<String>>,
    pub(super) host: Option<String>,
    pub(super) hooks: Vec<PlacedValue<String>>,
    pub(super) env: Vec<(String, String)>,
    pub(super) files: Vec<SuppliedFile>,
    pub(super) setup: Vec<String>,
    pub(super) inputs: Vec<(&'static str, StepInput, usize)>,
    /// `Some(None)` if it has a mistake.
    pub(super) expect: Option<Option<Expect>>,
    /// Likely corrections of unknown keys, here and in outer tables.
    pub(super) meant: Vec<&'static str>,
}

#[derive(Debug, Default)]
pub struct RepeatDraft {
    pub(super) text: Option<String>,
    pub(super) times: Option<i64>,
}

/// The keys of a test case file. Tables are read once all defaults are known.
#[rustfmt::skip]
pub const TOP_KEYS: &[KeyRow<SuiteDraft>] = &[
    KeyRow::key("hooks", KeyValue::Texts, "the folder that `tests` is in", "the folders with the hooks under test, as for `--hooks`; relative to this file",
        |draft, key| paths(key).map(|paths| draft.suite.hooks = paths)),
    KeyRow::key("settings", KeyValue::Texts, "none", "host settings files with the hooks under test, as for `--settings`",
        |draft, key| paths(key).map(|paths| draft.suite.settings = paths)),
    KeyRow::key("defaults", KeyValue::Table(|| specs(DEFAULT_KEYS)), "none", "default keys for all cases",
        |draft, key| key.take(DEFAULT_KEYS, "", &mut draft.defaults)),
    KeyRow::key("case", KeyValue::Tables(|| specs(CASE_KEYS)), "required", "a test case: `[[case]]`", |_, _| Ok(())),
];

#[rustfmt::skip]
pub const DEFAULT_KEYS: &[KeyRow<StepDraft>] = &[EVENT, HOST, HOOK, ENV, FILES, SETUP];

/// The keys of a `[[case]]`. Rows and steps are read separately.
#[rustfmt::skip]
pub const CASE_KEYS: &[KeyRow<StepDraft>] = &[
    KeyRow::key("name", KeyValue::Text, "required", "its name, unique in the file",
        |case, key| key.text().map(|name| case.name = Some(name.to_string()))),
    KeyRow::key("skip", KeyValue::Text, "not skipped", "skips the case; reports show this reason", set_skip),
    EVENT, HOST, HOOK, CONTEXT, CONTEXT_FILE, STDIN, ENV, FILES, SETUP, EXPECT,
    KeyRow::key("with", KeyValue::Tables(Vec::new), "one case", "rows of values for placeholders: `[[case.with]]`; each row is a case", |_, _| Ok(())),
    KeyRow::key("step", KeyValue::Tables(|| specs(STEP_KEYS)), "one step", "events in sequence: `[[case.step]]`", |_, _| Ok(())),
];

/// The keys of a `[[case.step]]`, which inherits `event`, `host` and `hook` from its case.
#[rustfmt::skip]
pub const STEP_KEYS: &[KeyRow<StepDraft>] = &[
    EVENT, HOST, HOOK, CONTEXT, CONTEXT_FILE, STDIN, FILES, SETUP, EXPECT,
];

#[rustfmt::skip]
pub const REPEAT_KEYS: &[KeyRow<RepeatDraft>] = &[
    KeyRow::key("text", KeyValue::Text, "required", "the text",
        |repeat, key| key.text().map(|text| repeat.text = Some(text.to_string()))),
    KeyRow::key("times", KeyValue::Number, "required", "the number of repetitions",
        |repeat, key| key.number_in(0..=i64::MAX).map(|times| repeat.times = Some(times))),
];

#[rustfmt::skip]
const EVENT: KeyRow<StepDraft> = KeyRow::key("event", KeyValue::Text, "required, or in `defaults`", "the event, by its name or the host's",
    |case, key| key.text().map(|event| case.event = Some(key.placed(event.to_string()))));
#[rustfmt::skip]
const HOST: KeyRow<StepDraft> = KeyRow::key("host", KeyValue::OneOf(dialect_names), "\"native\"", "the dialect of the event and the reply",
    |case, key| key.word().map(|host| case.host = Some(host.value)));
#[rustfmt::skip]
const HOOK: KeyRow<StepDraft> = KeyRow::key("hook", KeyValue::Texts, "all", "run only these hooks, as with `test --hook`",
    |case, key| some_names(key).map(|hooks| case.hooks = hooks));
#[rustfmt::skip]
const CONTEXT: KeyRow<StepDraft> = KeyRow::key("context", KeyValue::Json, "sample values for the event's required keys", "the event's context", set_context);
#[rustfmt::skip]
const CONTEXT_FILE: KeyRow<StepDraft> = KeyRow::key("context_file", KeyValue::Text, "none", "a file with the context, relative to this file",
    |case, key| key.text().map(|path| add_input(case, key, StepInput::File(path.into()))));
#[rustfmt::skip]
const STDIN: KeyRow<StepDraft> = KeyRow::key("stdin", KeyValue::Text, "none", "input to send instead of a context; need not be JSON",
    |case, key| key.text().map(|text| add_input(case, key, StepInput::Text(text.to_string()))));
#[rustfmt::skip]
const ENV: KeyRow<StepDraft> = KeyRow::key("env", KeyValue::Map(&KeyValue::Text), "none", "environment variables for the hooks", set_env);
#[rustfmt::skip]
const FILES: KeyRow<StepDraft> = KeyRow::key("files", KeyValue::Map(&KeyValue::Either(&[KeyValue::Text, KeyValue::Table(|| specs(FILE_KEYS))])), "none", "files to create in the case's folder: each path with its content", |case, key| {
    let files = key.table()?.iter().filter_map(|entry| read_file_entry(key.reader, entry));
    case.files.extend(files);
    Ok(())
});
#[rustfmt::skip]
const SETUP: KeyRow<StepDraft> = KeyRow::key("setup", KeyValue::Text, "none", "shell commands (`sh -e`) to run first in the case's folder",
    |case, key| key.text().map(|lines| case.setup.push(lines.to_string())));
#[rustfmt::skip]
const EXPECT: KeyRow<StepDraft> = KeyRow::key("expect", KeyValue::Table(|| specs(EXPECT_KEYS)), "required, or in each step", "the expected result", |case, key| {
    case.expect = Some(None);
    case.expect = Some(expect::read(key.reader, key.tree.entries().ok_or_else(|| key.wrong())?, key.tree.offset));
    Ok(())
});

/// A non-empty list of names; an empty one would mean all.
fn some_names(key: &Setting<'_, '_>) -> Result<Vec<PlacedValue<String>>, Complaint> {
    key.some_texts(&format!("name one; the default is {}", key.key.default))
}

fn paths(key: &Setting<'_, '_>) -> Result<Vec<PathBuf>, Complaint> {
    let names = some_names(key)?.into_iter();
    Ok(names.map(|name| name.value.into()).collect())
}

fn set_skip(case: &mut StepDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let why = key.text()?;
    if why.trim().is_empty() {
        return Err(Complaint::with_cure(
            "`skip` is empty",
            "say why the case is skipped, or remove it",
        ));
    }
    case.skip = Some(why.to_string());
    Ok(())
}

fn add_input(case: &mut StepDraft, key: &Setting<'_, '_>, input: StepInput) {
    let name = names(STEP_KEYS).into_iter().find(|name| *name == key.name);
    case.inputs
        .push((name.unwrap_or_default(), input, key.tree.offset));
}

fn set_context(case: &mut StepDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let text = match (key.tree.text(), key.tree.entries()) {
        (Some(text), _) => {
            let parsed = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
            parsed.map_err(|error| {
                let cause = format!("`context` is not a JSON object: {error}");
                Complaint::with_cure(cause, "fix it; to send other text, use `stdin`")
            })?;
            text.to_string()
        }
        (None, Some(_)) => key.tree.to_json().to_string(),
        (None, None) => return Err(key.wrong()),
    };
    add_input(case, key, StepInput::Context(key.placed(text)));
    Ok(())
}

fn set_env(case: &mut StepDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for entry in key.table()? {
        let name = &entry.key;
        if name.is_empty() || name.contains(['=', '\0']) {
            let cause = format!("`{name}` cannot be the name of a variable");
            key.reader
                .fault(entry.at, cause, "use a non-empty name without `=` or NUL");
            continue;
        }
        let Some(text) = entry.tree.text().filter(|text| !text.contains('\0')) else {
            let cause = format!("the variable `{name}` must be a string without NUL");
            key.reader.fault(
                entry.tree.offset,
                cause,
                "write its value in quotes, without a NUL",
            );
            continue;
        };
        case.env.retain(|(known, _)| known != name);
        case.env.push((name.clone(), text.to_string()));
    }
    Ok(())
}

/// The keys of a file to create, if it is not a text.
#[rustfmt::skip]
pub const FILE_KEYS: &[KeyRow<Option<PathBuf>>] = &[
    KeyRow::key("copy", KeyValue::Text, "required", "a file to copy, relative to this file",
        |copy, key| key.text().map(|path| *copy = Some(path.into()))),
];

/// Reads a file to create, from a text or a table; `None` if it has a mistake.
fn read_file_entry(reader: &mut DocumentReader<'_>, entry: &TreeEntry) -> Option<SuppliedFile> {
    let path = &entry.key;
    let tree = &entry.tree;
    if !is_file_path(path) {
        let cause = format!("`{path}` is not the path of a file in the case's folder");
        reader.fault(entry.at, cause, "write a relative path without `..`");
        return None;
    }
    let before = reader.problems.len();
    let mut copy = None;
    if let Some(table) = tree.entries() {
        reader.take(table, FILE_KEYS, "", &mut copy);
    }
    let text = tree.text().map(|text| Content::Text(text.to_string()));
    let content = text.or(copy.map(Content::Copy));
    if content.is_none() && reader.problems.len() == before {
        let cause = format!("the value of `{path}` is neither a string nor a copy");
        let cure = "write its text, or `{ copy = \"…\" }`";
        reader.fault(tree.offset, cause, cure);
    }
    Some(SuppliedFile {
        path: path.clone(),
        content: content?,
    })
}

/// Whether a case may create a file at this path, which may begin with a folder token.
fn is_file_path(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_folder = matches!(last, "" | "." | "{case.folder}" | "{case.home}");
    let leaves = path.starts_with('/')
        || path.starts_with("{suite.folder}")
        || path.split('/').any(|part| part == "..");
    !is_folder && !leaves && !path.contains('\0')
}
