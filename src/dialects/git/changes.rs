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
    "-z" "--name-status" "--no-renames" "--no-relative" "--no-ext-diff" "--no-textconv"
    "--ignore-submodules=none"
);

const LOG: &[&str] = &["--format=", "-c", "--root", "--no-show-signature", "--no-notes"];

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
                let remote = context.get("remote").and_then(Value::as_str).unwrap_or_default();
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
    let mut arguments = vec![OsString::from("--no-replace-objects"), OsString::from(command)];
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
/// and once more if that deletes what another new commit brings, for it is sent as well.
/// A path that is not UTF-8 also has its bytes in hexadecimal digits.
///
/// # Errors
/// When the output is not of that form; the error names what cannot be read.
pub fn read_changes(outputs: &[Vec<u8>]) -> Result<Vec<Value>, String> {
    // Whether all commits so far delete a path.
    let mut seen: HashMap<&[u8], bool> = HashMap::new();
    let mut changes = Vec::new();
    for output in outputs {
        // Commits are divided by one more NUL.
        let mut parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        while let Some(status) = parts.next() {
            let is_status = status.iter().all(u8::is_ascii_uppercase);
            let path = parts.next().filter(|_| is_status).ok_or_else(|| {
                format!("git's list of changes breaks off at `{}`", String::from_utf8_lossy(status))
            })?;
            // A merge has a letter for each of its parents.
            let is_deleted = status.iter().all(|letter| *letter == b'D');
            let status = if is_deleted { b"D" } else { status };
            let is_new = match seen.get_mut(path) {
                Some(was_deleted) => {
                    std::mem::replace(was_deleted, *was_deleted && is_deleted) && !is_deleted
                }
                None => seen.insert(path, is_deleted).is_none(),
            };
            if is_new {
                changes.push(change(path, &String::from_utf8_lossy(status)));
            }
        }
    }
    Ok(changes)
}

fn change(path: &[u8], status: &str) -> Value {
    let mut change = Map::new();
    change.insert("path".to_string(), String::from_utf8_lossy(path).into());
    change.insert("status".to_string(), status.into());
    if std::str::from_utf8(path).is_err() {
        let hex: String = path.iter().map(|byte| format!("{byte:02x}")).collect();
        change.insert("pathHex".to_string(), hex.into());
    }
    Value::Object(change)
}
