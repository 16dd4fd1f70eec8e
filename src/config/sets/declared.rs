//! `[sets.NAME]` of a `hookrun.toml`: where a shared set comes from.

use crate::config::problem::Position;
use crate::config::reader::{DocumentReader, KeyRow, Setting};
use crate::config::tree::TreeEntry;
use crate::config::value::KeyValue;
use crate::engine::complaint::Complaint;

/// A set that a file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredSet {
    pub(crate) name: String,
    pub(crate) source: SetSource,
    /// Its commit must have a signature that `git verify-commit` accepts.
    pub(crate) is_signed: bool,
    /// Where it is declared.
    pub(crate) at: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SetSource {
    /// A repository, and a tag, a branch or a whole commit of it.
    Git { url: String, rev: String },
    /// A folder; a relative one is next to the declaring file.
    Path(String),
}

impl SetSource {
    /// As `hookrun.lock` writes it.
    pub(crate) fn locked(&self) -> String {
        match self {
            SetSource::Git { url, .. } => format!("git+{url}"),
            SetSource::Path(path) => format!("path+{path}"),
        }
    }

    pub(crate) fn rev(&self) -> Option<&str> {
        match self {
            SetSource::Git { rev, .. } => Some(rev),
            SetSource::Path(_) => None,
        }
    }
}

#[derive(Debug, Default)]
pub struct SetDraft {
    pub(crate) git: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) rev: Option<String>,
    pub(crate) is_signed: bool,
}

impl SetDraft {
    /// The set that it declares under a name.
    ///
    /// # Errors
    /// What is missing, or is too much.
    pub(crate) fn declare(self, name: &str, at: Position) -> Result<DeclaredSet, Complaint> {
        let wrong = |cause: &str, cure: &str| {
            let cause = format!("the set `{name}` {cause}");
            Err(Complaint::with_cure(cause, cure))
        };
        if self.is_signed && self.git.is_none() {
            let cure = "drop `signed`, or share the set in a git repository";
            return wrong("has no `git`, and only commits are signed", cure);
        }
        let source = match (self.git, self.path, self.rev) {
            (Some(url), None, Some(rev)) => SetSource::Git { url, rev },
            (None, Some(path), None) => SetSource::Path(path),
            (Some(_), None, None) => {
                return wrong("has no `rev`", "name a tag: `rev = \"v1.0\"`");
            }
            (None, Some(_), Some(_)) => {
                return wrong("has a `rev`, and only one of `git` has it", "drop it");
            }
            (None, None, _) => {
                let cure = "add `git = \"URL\"` and `rev = \"TAG\"`";
                return wrong("does not say where it comes from", cure);
            }
            (Some(_), Some(_), _) => return wrong("has `git` and `path`", "drop one of them"),
        };
        Ok(DeclaredSet {
            name: name.to_string(),
            source,
            is_signed: self.is_signed,
            at,
        })
    }
}

/// The keys of a `[sets.NAME]` table.
#[rustfmt::skip]
pub const SET_KEYS: &[KeyRow<SetDraft>] = &[
    KeyRow::key("git", KeyValue::Text, "", "the repository: an https, ssh, git or file URL, or a path next to the file",
        |draft, key| checked(key, check_url).map(|url| draft.git = Some(url))),
    KeyRow::key("rev", KeyValue::Text, "required with `git`", "a tag, a branch or a whole commit",
        |draft, key| checked(key, check_rev).map(|rev| draft.rev = Some(rev))),
    KeyRow::key("path", KeyValue::Text, "", "instead of `git`: a folder, relative to the file",
        |draft, key| key.text().map(|path| draft.path = Some(path.to_string()))),
    KeyRow::key("signed", KeyValue::Flag, "false", "with `git`: whether `git verify-commit` must accept the signature of the commit",
        |draft, key| key.flag().map(|is_signed| draft.is_signed = is_signed)),
];

pub(crate) fn read(reader: &mut DocumentReader<'_>, entry: &TreeEntry) -> Option<DeclaredSet> {
    let before = reader.problems.len();
    let name = entry.key.clone();
    if let Err(complaint) = check_name(&name) {
        reader.complain(entry.at, complaint);
    }
    let Some(table) = entry.tree.entries() else {
        let cure = format!("write `[sets.{name}]`, and `git = \"…\"` below it");
        reader.fault(entry.tree.offset, "a set is not a table", cure);
        return None;
    };
    let mut draft = SetDraft::default();
    reader.take(table, SET_KEYS, "", &mut draft);
    if reader.problems.len() > before {
        return None;
    }
    let declared = draft.declare(&name, reader.at(entry.at));
    declared
        .map_err(|complaint| reader.complain(entry.at, complaint))
        .ok()
}

fn checked(
    key: &Setting<'_, '_>,
    check: fn(&str) -> Result<(), Complaint>,
) -> Result<String, Complaint> {
    let text = key.text()?;
    check(text).map(|()| text.to_string())
}

/// Names of sets are words: they are typed, and written into files.
pub(crate) fn check_name(name: &str) -> Result<(), Complaint> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_good) {
        return Ok(());
    }
    let cause = format!("`{name}` cannot be the name of a set");
    Err(Complaint::with_cure(
        cause,
        "use letters, digits, `-` and `_`",
    ))
}

/// The transports that git is allowed; all others are switched off.
pub(crate) const PROTOCOLS: &[&str] = &["https", "ssh", "git", "file"];

/// Refuses what git would read as an option or as a program to run.
pub(crate) fn check_url(url: &str) -> Result<(), Complaint> {
    let refused = |why: &str| {
        let cure = "write an https, ssh, git or file URL, or the path of a repository";
        Err(Complaint::with_cure(
            format!("`{url}` is no repository: {why}"),
            cure,
        ))
    };
    if let Some(why) = unusable(url) {
        return refused(why);
    }
    let (rest, is_remote) = match url.split_once("://") {
        Some((protocol, rest)) if PROTOCOLS.contains(&protocol) => (rest, protocol != "file"),
        Some((protocol, _)) if protocol.contains("::") => {
            return refused("it names a program that git would run");
        }
        Some((protocol, _)) => {
            return refused(&format!("`{protocol}` is not one of its protocols"));
        }
        None if url.contains("::") => return refused("it names a program that git would run"),
        None => (url, !is_path(url)),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if is_remote && (host.starts_with('-') || user.starts_with('-')) {
        return refused("its host begins like an option");
    }
    if is_remote && user.contains(':') {
        let cause = "a password is in the URL, and it would be in `hookrun.lock`";
        return Err(Complaint::with_cure(
            cause,
            "keep it in a credential helper of git",
        ));
    }
    Ok(())
}

/// Why a text must not be passed on to a program.
fn unusable(url: &str) -> Option<&'static str> {
    if url.is_empty() || url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Some("a blank is in it, or nothing");
    }
    url.starts_with('-')
        .then_some("it would be taken for an option")
}

/// Whether a repository is named by its path, and neither by a URL nor as `host:path`.
pub(crate) fn is_path(url: &str) -> bool {
    !url.contains("://") && !url.split('/').next().unwrap_or_default().contains(':')
}

/// Refuses what is no plain name of a tag, a branch or a commit.
pub(crate) fn check_rev(rev: &str) -> Result<(), Complaint> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "._/+-@#=".contains(c);
    let is_plain = !rev.is_empty() && !rev.starts_with(['-', '/', '.']) && !rev.contains("..");
    if is_plain && rev.chars().all(is_good) {
        return Ok(());
    }
    let cause = format!("`{rev}` is no name of a tag, a branch or a commit");
    Err(Complaint::with_cure(cause, "name a tag: `v1.0`"))
}
