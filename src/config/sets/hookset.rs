//! `hookset.toml`: what a folder of hooks that others use says about itself.

use std::path::Path;

use super::declared::check_name;
use crate::config::problem::Problem;
use crate::config::reader::{self, DocumentReader, KeyRow, Setting, specs};
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;
use crate::engine::hook::Sandbox;

/// The file that makes a folder a set.
pub(crate) const HOOKSET: &str = "hookset.toml";

/// What a set says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookSet {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    /// What its hooks may touch at most; `None` for a set that does not say.
    pub(crate) needs: Option<Sandbox>,
    /// Programs that its hooks start.
    pub(crate) programs: Vec<String>,
}

/// The keys of `hookset.toml`.
#[rustfmt::skip]
pub const HOOKSET_KEYS: &[KeyRow<HookSet>] = &[
    KeyRow::key("name", KeyValue::Text, "required", "what the set calls itself: letters, digits, `-` and `_`", set_name),
    KeyRow::key("version", KeyValue::Text, "required", "the version of the set",
        |set, key| line(key).map(|version| set.version = version)),
    KeyRow::key("description", KeyValue::Text, "none", "what it is for",
        |set, key| line(key).map(|text| set.description = Some(text))),
    KeyRow::key("hookrun", KeyValue::Text, "any", "the oldest hookrun that it works with: `\">=0.2\"`", check_version),
    KeyRow::key("needs", KeyValue::Table(|| specs(NEEDS_KEYS)), "no sandbox", "what its hooks may touch at most: their sandbox",
        |set, key| {
            set.needs.get_or_insert_default();
            key.take(NEEDS_KEYS, "needs.", set)
        }),
];

/// The keys of `needs`.
#[rustfmt::skip]
pub const NEEDS_KEYS: &[KeyRow<HookSet>] = &[
    KeyRow::key("net", KeyValue::Texts, "none", "hosts that they talk to; the sandbox opens the network for all or for none",
        |set, key| key.texts().map(|hosts| set.needs.get_or_insert_default().network = !hosts.is_empty())),
    KeyRow::key("write", KeyValue::Texts, "nothing", "files and folders that they may change, in the project or below `~/`",
        |set, key| key.texts().map(|paths| {
            set.needs.get_or_insert_default().write = paths.into_iter().map(|path| path.value).collect();
        })),
    KeyRow::key("exec", KeyValue::Texts, "none", "programs that they start; `hookrun validate` warns if one is missing",
        |set, key| key.texts().map(|programs| {
            set.programs = programs.into_iter().map(|program| program.value).collect();
        })),
    KeyRow::key("required", KeyValue::Flag, "true", "false: they run also where the system cannot enforce this",
        |set, key| key.flag().map(|flag| set.needs.get_or_insert_default().required = flag)),
];

/// Reads the `hookset.toml` of `folder`. What is wrong with it is added to `problems`.
pub(crate) fn load(folder: &Path, problems: &mut Vec<Problem>) -> HookSet {
    reader::load(&folder.join(HOOKSET), problems, read)
}

pub(crate) fn read(text: &str, file: &Path) -> (HookSet, Vec<Problem>) {
    let mut reader = DocumentReader::new(text, file);
    let document = reader.toml(text, |_| None);
    let mut set = HookSet::default();
    reader.take(
        document.entries().unwrap_or_default(),
        HOOKSET_KEYS,
        "",
        &mut set,
    );
    for key in ["name", "version"] {
        if document.at(&[key]).is_none() && !reader.meant.contains(&key) {
            reader.fault(
                0,
                format!("the set has no `{key}`"),
                format!("add `{key} = \"…\"`"),
            );
        }
    }
    (set, reader.problems)
}

fn set_name(set: &mut HookSet, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    check_name(key.text()?)?;
    set.name = key.text()?.to_string();
    Ok(())
}

fn line(key: &Setting<'_, '_>) -> Result<String, Complaint> {
    let text = key.text()?;
    if text.trim().is_empty() || text.contains(|c: char| c.is_control()) {
        let cause = format!("`{}` must be text on one line", key.name);
        return Err(Complaint::with_cure(cause, "write a few words"));
    }
    Ok(text.to_string())
}

fn check_version(_: &mut HookSet, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let own = env!("CARGO_PKG_VERSION");
    let written = key.text()?;
    let numbers = |text: &str| -> Option<Vec<u32>> {
        text.split('.').map(|number| number.parse().ok()).collect()
    };
    let Some(wanted) = written
        .strip_prefix(">=")
        .and_then(|text| numbers(text.trim()))
    else {
        let cause = format!("`hookrun` takes the oldest version, not `{written}`");
        return Err(Complaint::with_cure(cause, "write `hookrun = \">=0.2\"`"));
    };
    if numbers(own).is_some_and(|own| own >= wanted) {
        return Ok(());
    }
    let cause = format!("the set needs hookrun {written}, and this is {own}");
    Err(Complaint::with_cure(
        cause,
        "update hookrun, or use an older version of the set",
    ))
}
