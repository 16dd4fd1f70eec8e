//! Which paths a commit or a push changes: the questions to git, and its answers.
//!
//! Of a push, every commit that is new to the other side counts, not only the last: what one
//! commit adds and the next one removes is sent all the same. Of a merge counts what is in none
//! of its parents. Nothing that a repository can be configured with hides a path.

use std::collections::HashMap;
use std::ffi::OsString;

use serde_json::{Map, Value};

use super::row::{Changes, GitError, GitHook};
use crate::engine::names::words;

/// Options of every listing, so that neither the configuration nor replaced objects matter.
const EVERY: &[&str] = words!(
    "-z" "--name-status" "--find-renames=50%" "-l1000" "--no-relative" "--no-ext-diff"
    "--no-textconv" "--ignore-submodules=none"
);

const LOG: &[&str] = words!(
    "--format=" "-c" "--combined-all-paths" "--root" "--no-show-signature" "--no-notes"
);

/// How many commits one listing names, so that a push of many references fits.
const NAMED_AT_ONCE: usize = 1000;

impl GitHook {
    /// The arguments of git by which it lists the changed paths of an event with this context, for
    /// [`read_changes`].
    ///
    /// # Errors
    /// When a commit in it is not named by a number.
    pub fn listings(&self, context: &Map<String, Value>) -> Result<Vec<Vec<OsString>>, GitError> {
        if self.changes == Changes::Unknown {
            return Ok(Vec::new());
        }
        if self.changes == Changes::Index {
            return Ok(vec![listing("diff", &["--cached"], Vec::new())]);
        }
        let mut new = self.commits(context, "newSha")?;
        new.retain(|commit| !is_nothing(commit));
        new.dedup();
        let mut known: Vec<OsString> = Vec::new();
        match self.changes {
            Changes::Sent => {
                let mut old = self.commits(context, "oldSha")?;
                old.retain(|commit| !is_nothing(commit));
                old.truncate(NAMED_AT_ONCE);
                known.extend(old.into_iter().map(OsString::from));
                let remote = context
                    .get("remote")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                known.push(format!("--remotes={remote}").into());
            }
            Changes::Received => known.push("--all".into()),
            Changes::Unknown | Changes::Index => {}
        }
        let batches = new.chunks(NAMED_AT_ONCE).map(|batch| {
            let mut revisions: Vec<OsString> = batch.iter().map(OsString::from).collect();
            // What the other side has may be unknown here; what is new may not.
            revisions.extend(["--ignore-missing", "--not"].map(OsString::from));
            revisions.extend(known.iter().cloned());
            listing("log", LOG, revisions)
        });
        Ok(batches.collect())
    }

    /// The commits under `key`, of the event itself or of each of its references.
    fn commits(&self, context: &Map<String, Value>, key: &str) -> Result<Vec<String>, GitError> {
        let refs = context.get("refs").and_then(Value::as_array);
        let found: Vec<&Value> = match refs {
            Some(refs) => refs.iter().filter_map(|one| one.get(key)).collect(),
            None => context.get(key).into_iter().collect(),
        };
        let mut commits = Vec::with_capacity(found.len());
        for commit in found {
            let text = commit.as_str().unwrap_or_default();
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.wrong(&format!("the commit `{text}`")));
            }
            commits.push(text.to_string());
        }
        Ok(commits)
    }
}

fn listing(command: &str, options: &[&str], revisions: Vec<OsString>) -> Vec<OsString> {
    let mut arguments = vec![
        OsString::from("--no-replace-objects"),
        OsString::from(command),
    ];
    arguments.extend(EVERY.iter().chain(options).map(OsString::from));
    arguments.extend(revisions);
    arguments.push("--".into());
    arguments
}

/// Whether a commit's number means that there is none.
fn is_nothing(commit: &str) -> bool {
    commit.bytes().all(|byte| byte == b'0')
}

/// The changes in the output of listings: each path once, with what the newest commit does to it,
/// and once more if that deletes what another new commit brings, for it is sent as well. Of a
/// rename the old path has `R` and what it becomes, for its content is not deleted, and the new one
/// `A`. A path that is not UTF-8 also has its bytes in hexadecimal digits.
///
/// # Errors
/// When the output is not of that form; the error names what cannot be read.
pub fn read_changes(outputs: &[Vec<u8>]) -> Result<Vec<Value>, String> {
    let mut list = ChangeList {
        seen: HashMap::new(),
        changes: Vec::new(),
    };
    for output in outputs {
        // Commits are divided by one more NUL.
        let mut parts = output
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty());
        while let Some(status) = parts.next() {
            // A merge has a letter for each of its parents, a rename a degree of likeness.
            let length = status
                .iter()
                .take_while(|byte| byte.is_ascii_uppercase())
                .count();
            let (letters, likeness) = status.split_at(length);
            let is_status = length > 0 && likeness.iter().all(u8::is_ascii_digit);
            let others = if matches!(letters, b"R" | b"C") || length > 1 {
                length
            } else {
                0
            };
            let others: Vec<&[u8]> = parts
                .by_ref()
                .take(if is_status { others } else { 0 })
                .collect();
            let path = parts.next().filter(|_| is_status).ok_or_else(|| {
                format!(
                    "git's list of changes breaks off at `{}`",
                    String::from_utf8_lossy(status)
                )
            })?;
            for (letter, old) in letters.iter().zip(others) {
                if *letter == b'R' && old != path {
                    list.add(old, "R", Some(path));
                }
            }
            let is_deleted = letters.iter().all(|letter| *letter == b'D');
            let letters = String::from_utf8_lossy(letters).replace(['R', 'C'], "A");
            list.add(path, if is_deleted { "D" } else { &letters }, None);
        }
    }
    Ok(list.changes)
}

struct ChangeList<'o> {
    /// Whether all commits so far delete a path.
    seen: HashMap<&'o [u8], bool>,
    changes: Vec<Value>,
}

impl<'o> ChangeList<'o> {
    fn add(&mut self, path: &'o [u8], status: &str, to: Option<&[u8]>) {
        let is_deleted = status == "D";
        let is_new = match self.seen.get_mut(path) {
            Some(was_deleted) => {
                std::mem::replace(was_deleted, *was_deleted && is_deleted) && !is_deleted
            }
            None => self.seen.insert(path, is_deleted).is_none(),
        };
        if is_new {
            self.changes.push(change(path, status, to));
        }
    }
}

fn change(path: &[u8], status: &str, to: Option<&[u8]>) -> Value {
    let mut change = Map::new();
    change.insert("path".to_string(), String::from_utf8_lossy(path).into());
    change.insert("status".to_string(), status.into());
    if let Some(to) = to {
        change.insert("to".to_string(), String::from_utf8_lossy(to).into());
    }
    if std::str::from_utf8(path).is_err() {
        let hex: String = path.iter().map(|byte| format!("{byte:02x}")).collect();
        change.insert("pathHex".to_string(), hex.into());
    }
    Value::Object(change)
}
