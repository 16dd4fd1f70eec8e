//! `hookrun.lock`: exactly which content of each set runs. Written by `hookrun sets`.

use std::fmt;
use std::path::Path;

use crate::config::problem::Problem;
use crate::config::reader::{self, DocumentReader, KeyRow, Setting};
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;

/// The name of the file, next to the `hookrun.toml` that declares the sets.
pub(crate) const LOCK: &str = "hookrun.lock";

const HEAD: &str = "# Written by `hookrun sets`. Commit it with hookrun.toml.\nversion = 1\n";

/// What a lock file pins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) sets: Vec<LockedSet>,
}

/// One set, pinned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LockedSet {
    pub(crate) name: String,
    /// `git+URL` or `path+FOLDER`, as it is declared.
    pub(crate) source: String,
    pub(crate) rev: Option<String>,
    /// The whole commit that `rev` meant.
    pub(crate) commit: Option<String>,
    /// The digest of all files: 64 hexadecimal digits.
    pub(crate) tree: String,
    /// How many files it has.
    pub(crate) files: usize,
    /// Whether the signature of the commit was verified.
    pub(crate) is_signed: bool,
}

/// On one line: name, rev, what pins it, and files.
impl fmt::Display for LockedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LockedSet {
            name,
            rev,
            commit,
            tree,
            files,
            ..
        } = self;
        write!(f, "{name}")?;
        rev.iter().try_for_each(|rev| write!(f, " {rev}"))?;
        commit
            .iter()
            .try_for_each(|commit| write!(f, " ({})", short(commit)))?;
        let plural = if *files == 1 { "" } else { "s" };
        write!(f, ": {files} file{plural}, {TREE}{}", short(tree))
    }
}

/// The first digits of a commit or a digest.
fn short(digits: &str) -> &str {
    digits.get(..12).unwrap_or(digits)
}

const TREE: &str = "sha256:";

#[rustfmt::skip]
const LOCK_KEYS: &[KeyRow<Lock>] = &[
    KeyRow::key("version", KeyValue::Number, "required", "the version of the form",
        |_, key| key.number_in(1..=1).map(|_| ())),
    KeyRow::key("set", KeyValue::Table(Vec::new), "none", "a set", set_sets),
];

#[rustfmt::skip]
const LOCKED_KEYS: &[KeyRow<LockedSet>] = &[
    KeyRow::key("name", KeyValue::Text, "required", "its name in hookrun.toml",
        |set, key| key.text().map(|text| set.name = text.to_string())),
    KeyRow::key("source", KeyValue::Text, "required", "where it comes from",
        |set, key| key.text().map(|text| set.source = text.to_string())),
    KeyRow::key("rev", KeyValue::Text, "none", "the tag, branch or commit",
        |set, key| key.text().map(|text| set.rev = Some(text.to_string()))),
    KeyRow::key("commit", KeyValue::Text, "none", "what that was",
        |set, key| key.text().map(|text| set.commit = Some(text.to_string()))),
    KeyRow::key("tree", KeyValue::Text, "required", "the digest of its files", set_tree),
    KeyRow::key("files", KeyValue::Number, "required", "how many they are",
        |set, key| key.number_in(0..=i64::MAX).map(|count| set.files = usize::try_from(count).unwrap_or(0))),
    KeyRow::key("signed", KeyValue::Flag, "false", "whether the signature of the commit was verified",
        |set, key| key.flag().map(|is_signed| set.is_signed = is_signed)),
];

impl Lock {
    /// Reads a lock file; one that is not there pins nothing.
    pub(crate) fn load(file: &Path, problems: &mut Vec<Problem>) -> Lock {
        if matches!(file.try_exists(), Ok(false)) {
            return Lock::default();
        }
        reader::load(file, problems, Lock::read)
    }

    pub(crate) fn read(text: &str, file: &Path) -> (Lock, Vec<Problem>) {
        let mut reader = DocumentReader::new(text, file);
        let document = reader.toml(text, |_| Some(CURE.to_string()));
        let mut lock = Lock::default();
        reader.take(
            document.entries().unwrap_or_default(),
            LOCK_KEYS,
            "",
            &mut lock,
        );
        (lock, reader.problems)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&LockedSet> {
        self.sets.iter().find(|set| set.name == name)
    }

    /// Replaces the entry of this name, or adds it.
    pub(crate) fn put(&mut self, set: LockedSet) {
        self.sets.retain(|other| other.name != set.name);
        self.sets.push(set);
        self.sets.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let mut text = HEAD.to_string();
        for set in &self.sets {
            let tree = format!("{TREE}{}", set.tree);
            let rows = [
                ("name", Some(set.name.as_str())),
                ("source", Some(&set.source)),
                ("rev", set.rev.as_deref()),
                ("commit", set.commit.as_deref()),
                ("tree", Some(&tree)),
            ];
            text.push_str("\n[[set]]\n");
            for (key, value) in rows
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
            {
                text.push_str(&format!("{key} = {}\n", quoted(value)));
            }
            text.push_str(&format!("files = {}\n", set.files));
            if set.is_signed {
                text.push_str("signed = true\n");
            }
        }
        text
    }
}

/// A string of TOML. What JSON escapes, TOML reads.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

const CURE: &str = "`hookrun sets update` writes it anew";

fn set_sets(lock: &mut Lock, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for table in key.tree.items().ok_or_else(|| key.wrong())? {
        let mut set = LockedSet::default();
        key.reader.take(
            table.entries().unwrap_or_default(),
            LOCKED_KEYS,
            "",
            &mut set,
        );
        if set.name.is_empty() || set.source.is_empty() || set.tree.is_empty() {
            let cause = "a set has no `name`, `source` or `tree`";
            key.reader.fault(table.offset, cause, CURE);
        } else if lock.find(&set.name).is_some() {
            key.reader.fault(
                table.offset,
                format!("`{}` is locked twice", set.name),
                CURE,
            );
        } else {
            lock.sets.push(set);
        }
    }
    Ok(())
}

/// Takes a digest. It is the name of a folder, so nothing but digits may be in it.
fn set_tree(set: &mut LockedSet, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let digits = key.text()?.strip_prefix(TREE).unwrap_or_default();
    if digits.len() != 64 || !digits.chars().all(is_digit) {
        return Err(Complaint::with_cure("`tree` is no SHA-256", CURE));
    }
    set.tree = digits.to_string();
    Ok(())
}
