//! Shared hook sets: `[sets.NAME]` in `hookrun.toml` declares the repository, and `hookrun.lock`
//! beside it pins the content.
//!
//! Deciding an event reads only the store. Only `hookrun sets` fetches.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::problem::{Position, Problem};
use super::reader::{self, DocumentReader, KeyRow, Setting};
use super::tree::{Tree, TreeEntry};
use super::value::KeyValue;
use crate::engine::complaint::Complaint;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredSet {
    pub(crate) name: String,
    /// The repository; a relative path starts from the declaring file.
    pub(crate) git: String,
    /// A tag, a branch or a full commit id.
    pub(crate) rev: String,
    /// Whether git must accept the signature of its commit or tag.
    pub(crate) is_signed: bool,
    pub(crate) at: Position,
}

#[rustfmt::skip]
pub const SET_KEYS: &[KeyRow<DeclaredSet>] = &[
    KeyRow::key("git", KeyValue::Text, "required", "the repository: an https, ssh, git or file URL, or a path relative to this file",
        |set, key| checked(key, check_url).map(|url| set.git = url)),
    KeyRow::key("rev", KeyValue::Text, "required", "a tag, a branch or a full commit id",
        |set, key| checked(key, check_rev).map(|rev| set.rev = rev)),
    KeyRow::key("signed", KeyValue::Flag, "false", "whether git must accept the signature of the commit, or of the tag that names it",
        |set, key| key.flag().map(|is_signed| set.is_signed = is_signed)),
];

pub(super) fn read(reader: &mut DocumentReader<'_>, entry: &TreeEntry) -> Option<DeclaredSet> {
    let before = reader.problems.len();
    let name = &entry.key;
    if let Err(complaint) = check_name(name) {
        reader.complain(entry.at, complaint);
    }
    let Some(table) = entry.tree.entries() else {
        let cause = format!("the set `{name}` is not a table");
        let cure = format!("write `[sets.{name}]`, and `git` and `rev` below it");
        reader.fault(entry.tree.offset, cause, cure);
        return None;
    };
    let mut set = DeclaredSet {
        name: name.clone(),
        at: reader.at(entry.at),
        ..DeclaredSet::default()
    };
    reader.take(table, SET_KEYS, "", &mut set);
    if reader.problems.len() == before {
        if set.git.is_empty() {
            let cause = format!("the set `{name}` has no `git`");
            reader.fault(entry.at, cause, "set its repository: `git = \"URL\"`");
        }
        if set.rev.is_empty() {
            let cause = format!("the set `{name}` has no `rev`");
            reader.fault(entry.at, cause, "name a tag: `rev = \"v1.0\"`");
        }
    }
    (reader.problems.len() == before).then_some(set)
}

fn checked(
    key: &Setting<'_, '_>,
    check: fn(&str) -> Result<(), Complaint>,
) -> Result<String, Complaint> {
    let text = key.text()?;
    check(text)?;
    Ok(text.to_string())
}

/// Checks a set's name, which is typed and written into files.
pub(crate) fn check_name(name: &str) -> Result<(), Complaint> {
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let mut letters = name.chars();
    let is_word = letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if begins_well && is_word {
        return Ok(());
    }
    let cause = format!("`{name}` cannot be the name of a set");
    let cure = "use letters, digits, `-` and `_`, beginning with a letter or digit";
    Err(Complaint::with_cure(cause, cure))
}

pub(crate) const PROTOCOLS: &[&str] = &["https", "ssh", "git", "file"];

/// Rejects URLs that git would read as an option or a program.
pub(crate) fn check_url(url: &str) -> Result<(), Complaint> {
    let Some(why) = unusable(url) else {
        return Ok(());
    };
    let cure = "write an https, ssh, git or file URL without a password, or the path of a \
                repository";
    let cause = format!("`{url}` cannot be used as a repository: {why}");
    Err(Complaint::with_cure(cause, cure))
}

fn unusable(url: &str) -> Option<&'static str> {
    if url.is_empty() {
        return Some("it is empty");
    }
    if url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Some("it contains white space or a control character");
    }
    if url.starts_with('-') {
        return Some("it looks like an option");
    }
    if url.contains("::") && !url.contains("://[") {
        return Some("it names a program that git would run");
    }
    let rest = match url.split_once("://") {
        Some((protocol, _)) if !PROTOCOLS.contains(&protocol) => {
            return Some("its protocol is not supported");
        }
        Some(("file", _)) => return None,
        Some((_, rest)) => rest,
        None if is_path(url) => return None,
        None => url,
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if host.starts_with('-') || user.starts_with('-') {
        return Some("its user or its host looks like an option");
    }
    if user.contains(':') {
        return Some("it contains a password, which would be written to `hookrun.lock`");
    }
    None
}

/// Whether a repository is a path, neither a URL nor `host:path`.
pub(crate) fn is_path(url: &str) -> bool {
    !url.contains("://") && !url.split('/').next().unwrap_or_default().contains(':')
}

/// Rejects texts that cannot name a tag, a branch or a commit.
pub(crate) fn check_rev(rev: &str) -> Result<(), Complaint> {
    let is_plain = !rev.is_empty() && !rev.starts_with(['-', '/', '.']) && !rev.contains("..");
    let mut letters = rev.chars();
    let has_good_letters = letters.all(|c| c.is_ascii_alphanumeric() || "._/+-@#=".contains(c));
    if is_plain && has_good_letters {
        return Ok(());
    }
    let cause = format!("`{rev}` cannot be the name of a tag, a branch or a commit");
    Err(Complaint::with_cure(cause, "name a tag: `v1.0`"))
}

pub(crate) const LOCK: &str = "hookrun.lock";

const HEAD: &str = "# Written by `hookrun sets`. Commit it with hookrun.toml.\nversion = 1\n";

const TREE: &str = "sha256:";

const CURE: &str = "run `hookrun sets update`, which rewrites this file";

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    version: u32,
    #[serde(rename = "set", default)]
    pub(crate) sets: Vec<LockedSet>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedSet {
    pub(crate) name: String,
    /// The repository and revision, as declared.
    pub(crate) git: String,
    pub(crate) rev: String,
    /// The full commit id of `rev`.
    pub(crate) commit: String,
    /// The digest of all files: 64 hexadecimal digits.
    pub(crate) tree: String,
    pub(crate) files: usize,
    #[serde(rename = "signed", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_signed: bool,
    /// The object of an annotated tag, to detect a moved tag; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) tag: String,
    /// The signer as git prints it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) signer: String,
}

/// Name, revision, commit and number of files on one line.
impl fmt::Display for LockedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = short(&self.commit);
        let files = self.files;
        let plural = if files == 1 { "" } else { "s" };
        let tree = short(&self.tree);
        write!(f, "{} {} ({commit}): ", self.name, self.rev)?;
        write!(f, "{files} file{plural}, {TREE}{tree}")
    }
}

fn short(digits: &str) -> &str {
    digits.get(..12).unwrap_or(digits)
}

impl Lock {
    /// Reads a lock file; a missing one pins nothing.
    pub(crate) fn load(file: &Path, problems: &mut Vec<Problem>) -> Lock {
        if matches!(file.try_exists(), Ok(false)) {
            return Lock::default();
        }
        reader::load(file, problems, Lock::read)
    }

    fn read(text: &str, file: &Path) -> (Lock, Vec<Problem>) {
        let mut reader = DocumentReader::new(text, file);
        let document = reader.toml(text, |_| Some(CURE.to_string()));
        let lock = Lock::of(&document).unwrap_or_else(|cause| {
            reader.fault(document.offset, cause, CURE);
            Lock::default()
        });
        (lock, reader.problems)
    }

    /// Digests become names of folders and arguments of git, so only digits are valid.
    fn of(document: &Tree) -> Result<Lock, String> {
        let read: serde_json::Result<Lock> = serde_json::from_value(document.to_json());
        // serde's word for a key.
        let mut lock = read.map_err(|error| error.to_string().replace(" field ", " key "))?;
        if lock.version != 1 {
            return Err(format!("`version` cannot be {}", lock.version));
        }
        let mut names = HashSet::new();
        for set in &mut lock.sets {
            if !names.insert(set.name.clone()) {
                return Err(format!("the set `{}` is locked twice", set.name));
            }
            if !set.tag.is_empty() && !is_object(&set.tag) {
                return Err("`tag` is not an object id".to_string());
            }
            let digits = set.tree.strip_prefix(TREE).unwrap_or_default();
            let mut bytes = digits.bytes();
            if digits.len() != 64 || !bytes.all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                return Err("`tree` is not a SHA-256 digest".to_string());
            }
            set.tree = digits.to_string();
        }
        Ok(lock)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&LockedSet> {
        self.sets.iter().find(|set| set.name == name)
    }

    pub(crate) fn put(&mut self, set: LockedSet) {
        self.sets.retain(|other| other.name != set.name);
        self.sets.push(set);
        self.sets.sort_by(|a, b| a.name.cmp(&b.name));
    }

    pub(crate) fn text(&self) -> String {
        let mut text = HEAD.to_string();
        for set in &self.sets {
            let mut written = set.clone();
            written.tree.insert_str(0, TREE);
            let keys = serde_json::to_value(written).unwrap_or_default();
            text.push_str("\n[[set]]\n");
            // A JSON string or number is one of TOML too.
            for (key, value) in keys.as_object().into_iter().flatten() {
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
        text
    }
}

/// A TOML string; JSON's escapes are valid TOML.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether a text is a full object id of git.
pub(crate) fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
