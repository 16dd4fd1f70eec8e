//! `[trust]` in the system's or the user's `hookrun.toml`.

use std::path::{Path, PathBuf};

use crate::config::problem::{PlacedValue, Position};
use crate::config::reader::{KeyRow, Setting};
use crate::config::value::{KeyValue, words};
use crate::engine::complaint::Complaint;

/// What happens to events that hooks without trust would decide.
const UNTRUSTED: &[(bool, &str)] = &[(false, "block"), (true, "skip")];

#[rustfmt::skip]
pub const TRUST_KEYS: &[KeyRow<TrustTable>] = &[
    KeyRow::key("paths", KeyValue::Texts, "none", "folders in which the hooks of every project run unasked; anyone who can write there decides what runs as you", set_paths),
    KeyRow::key("on_untrusted", KeyValue::OneOf(|| words(UNTRUSTED)), "\"block\"", "what happens to events that a project's hooks would decide and must not: `skip` lets them pass",
        |table, key| key.one_of(UNTRUSTED).map(|skips| table.skips = Some(skips))),
];

/// What a file says about trust.
#[derive(Debug, Default)]
pub struct TrustTable {
    /// Where it says so.
    pub(crate) at: Option<Position>,
    paths: Vec<PlacedValue<String>>,
    skips: Option<bool>,
}

/// What the system's and the user's files together say about trust. A project's may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrustPolicy {
    /// Folders whose hooks are trusted as they are.
    pub(crate) paths: Vec<PathBuf>,
    /// Events pass that hooks without trust would decide; otherwise they are blocked.
    pub(crate) skips: Option<bool>,
}

fn set_paths(table: &mut TrustTable, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for path in key.texts()? {
        if path.value.starts_with('/') || path.value.starts_with("~/") || path.value == "~" {
            table.paths.push(path);
            continue;
        }
        let cause = format!("`{}` is no whole path", path.value);
        let complaint = Complaint::with_cure(cause, "begin it with `/` or `~/`");
        key.reader
            .problems
            .push(complaint.in_file(key.reader.file, Some(path.at)));
    }
    Ok(())
}

impl TrustPolicy {
    /// Adds what the file of a further layer says. What the system says about events goes before.
    pub(crate) fn add(&mut self, table: &TrustTable, home: Option<&Path>) {
        self.skips = self.skips.or(table.skips);
        for PlacedValue { value, .. } in &table.paths {
            let below_home = value
                .strip_prefix('~')
                .map(|rest| rest.trim_start_matches('/'));
            let whole = match (below_home, home) {
                (Some(rest), Some(home)) => home.join(rest),
                (Some(_), None) => continue,
                (None, _) => PathBuf::from(value),
            };
            self.paths.push(whole.canonicalize().unwrap_or(whole));
        }
    }
}
