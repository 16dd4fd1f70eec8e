//! Shared hook sets: `[sets.NAME]` in `hookrun.toml` declares the repository, and `hookrun.lock`
//! beside it pins the content.
//!
//! Deciding an event reads only the store. Only `hookrun sets` fetches.

use std::fmt;
use std::path::Path;

use super::problem::{Position, Problem};
use super::reader::{self, DocumentReader, KeyRow, Setting};
use super::tree::TreeEntry;
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
    KeyRow::key("git", KeyValue::Text, "required", "the repository: an https, ssh, git or file URL, or a path next to the file",
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
        let cure = format!("write `[sets.{name}]`, and `git = \"…\"` below it");
        reader.fault(entry.tree.offset, "a set is not a table", cure);
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
            reader.fault(entry.at, cause, "name its repository: `git = \"URL\"`");
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
    let is_word = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if begins_well && is_word {
        return Ok(());
    }
    let cause = format!("`{name}` cannot be the name of a set");
    let cure = "use letters, digits, `-` and `_`";
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
    if url.is_empty() || url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Some("it is empty or contains a space");
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
        return Some("its host looks like an option");
    }
    if user.contains(':') {
        return Some("a password is in the URL, and it would be in `hookrun.lock`");
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
    let has_good_letters = rev
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._/+-@#=".contains(c));
    if is_plain && has_good_letters {
        return Ok(());
    }
    let cause = format!("`{rev}` cannot be the name of a tag, a branch or a commit");
    Err(Complaint::with_cure(cause, "name a tag: `v1.0`"))
}

pub(crate) const LOCK: &str = "hookrun.lock";

const HEAD: &str = "# Written by `hookrun sets`. Commit it with hookrun.toml.\nversion = 1\n";

const TREE: &str = "sha256:";

const CURE: &str = "`hookrun sets update` rewrites it";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) sets: Vec<LockedSet>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    pub(crate) is_signed: bool,
    /// The object of an annotated tag, to detect a moved tag; else empty.
    pub(crate) tag: String,
    /// The signer as git prints it; may be empty.
    pub(crate) signer: String,
}

/// Name, revision, commit and number of files on one line.
impl fmt::Display for LockedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LockedSet {
            name, rev, files, ..
        } = self;
        let commit = short(&self.commit);
        let plural = if *files == 1 { "" } else { "s" };
        let tree = short(&self.tree);
        write!(
            f,
            "{name} {rev} ({commit}): {files} file{plural}, {TREE}{tree}"
        )
    }
}

fn short(digits: &str) -> &str {
    digits.get(..12).unwrap_or(digits)
}

#[rustfmt::skip]
const LOCK_KEYS: &[KeyRow<Lock>] = &[
    KeyRow::key("version", KeyValue::Number, "required", "the format version",
        |_, key| key.number_in(1..=1).map(|_| ())),
    KeyRow::key("set", KeyValue::Table(Vec::new), "none", "a set", set_sets),
];

#[rustfmt::skip]
const LOCKED_KEYS: &[KeyRow<LockedSet>] = &[
    KeyRow::key("name", KeyValue::Text, "required", "its name in hookrun.toml",
        |set, key| key.text().map(|text| set.name = text.to_string())),
    KeyRow::key("git", KeyValue::Text, "required", "its repository",
        |set, key| key.text().map(|text| set.git = text.to_string())),
    KeyRow::key("rev", KeyValue::Text, "required", "the tag, branch or commit",
        |set, key| key.text().map(|text| set.rev = text.to_string())),
    KeyRow::key("commit", KeyValue::Text, "required", "its commit",
        |set, key| key.text().map(|text| set.commit = text.to_string())),
    KeyRow::key("tree", KeyValue::Text, "required", "the digest of its files", set_tree),
    KeyRow::key("files", KeyValue::Number, "required", "the number of files",
        |set, key| key.number_in(0..=i64::MAX).map(|count| set.files = usize::try_from(count).unwrap_or(0))),
    KeyRow::key("signed", KeyValue::Flag, "false", "whether a signature was verified",
        |set, key| key.flag().map(|is_signed| set.is_signed = is_signed)),
    KeyRow::key("tag", KeyValue::Text, "none", "the object of the annotated tag", set_tag),
    KeyRow::key("signer", KeyValue::Text, "none", "the name of its signer, as git prints it",
        |set, key| key.text().map(|text| set.signer = text.to_string())),
];

impl Lock {
    /// Reads a lock file; a missing one pins nothing.
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
        let table = document.entries().unwrap_or_default();
        reader.take(table, LOCK_KEYS, "", &mut lock);
        (lock, reader.problems)
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
            text.push_str("\n[[set]]\n");
            for (key, value) in [
                ("name", &set.name),
                ("git", &set.git),
                ("rev", &set.rev),
                ("commit", &set.commit),
                ("tree", &format!("{TREE}{}", set.tree)),
            ] {
                text.push_str(&format!("{key} = {}\n", quoted(value)));
            }
            text.push_str(&format!("files = {}\n", set.files));
            if set.is_signed {
                text.push_str("signed = true\n");
            }
            for (key, value) in [("tag", &set.tag), ("signer", &set.signer)] {
                if !value.is_empty() {
                    text.push_str(&format!("{key} = {}\n", quoted(value)));
                }
            }
        }
        text
    }
}

/// A TOML string; JSON's escapes are valid TOML.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn set_sets(lock: &mut Lock, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for table in key.tree.items().ok_or_else(|| key.wrong())? {
        let mut set = LockedSet::default();
        let entries = table.entries().unwrap_or_default();
        key.reader.take(entries, LOCKED_KEYS, "", &mut set);
        let needed = [&set.name, &set.git, &set.rev, &set.commit, &set.tree];
        if needed.into_iter().any(String::is_empty) {
            let cause = "a set has no `name`, `git`, `rev`, `commit` or `tree`";
            key.reader.fault(table.offset, cause, CURE);
        } else if lock.find(&set.name).is_some() {
            let cause = format!("`{}` is locked twice", set.name);
            key.reader.fault(table.offset, cause, CURE);
        } else {
            lock.sets.push(set);
        }
    }
    Ok(())
}

/// Sets a tag's object id. git gets it as an argument, so only digits are valid.
fn set_tag(set: &mut LockedSet, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let digits = key.text()?;
    if !is_object(digits) {
        return Err(Complaint::with_cure(
            "`tag` is not the id of an object",
            CURE,
        ));
    }
    set.tag = digits.to_string();
    Ok(())
}

/// Whether a text is a full object id of git.
pub(crate) fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Sets a digest. It names a folder, so only digits are valid.
fn set_tree(set: &mut LockedSet, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    let digits = key.text()?.strip_prefix(TREE).unwrap_or_default();
    let is_hexadecimal = digits
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if digits.len() != 64 || !is_hexadecimal {
        return Err(Complaint::with_cure("`tree` is not a SHA-256", CURE));
    }
    set.tree = digits.to_string();
    Ok(())
}
