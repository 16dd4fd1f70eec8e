//! `hookrun check`: runs the hooks of `commit.pre` by hand and in CI, on staged or other files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::args::CheckArgs;
use crate::cli::exit::Result;
use crate::decide::git::EventGit;
use crate::decide::hooks::nearest_hook;
use crate::engine::complaint::{Complaint, did_you_mean};
use crate::engine::hook::{Hook, Sees};
use crate::hosts::git;

/// Appended to the reason of a hook that fixes files.
const ONLY_REPORTS: &str =
    "and `hookrun check` only reports this; with --fix it applies the change";

/// The files and hooks that a person chooses, instead of those of a commit.
pub(super) struct CheckedFiles<'a> {
    pub(super) args: &'a CheckArgs,
    /// The caller's working directory, the base of relative paths.
    pub(super) cwd: &'a Path,
    /// The working tree's root, where git runs hooks.
    pub(super) top: PathBuf,
}

impl CheckedFiles<'_> {
    fn below_top(&self, path: &Path) -> Result<PathBuf> {
        let whole = match (path.parent(), path.file_name()) {
            // Check a link itself, not its target.
            (Some(folder), Some(name)) => folder.canonicalize().map(|folder| folder.join(name)),
            _ => path.canonicalize(),
        };
        let whole = whole.unwrap_or_else(|_| path.to_path_buf());
        let from_top = whole.strip_prefix(&self.top).map(Path::to_path_buf);
        from_top.map_err(|_| {
            let cause = format!("`{}` is outside the repository", path.display());
            Complaint::with_cure(cause, format!("pass files inside `{}`", self.top.display()))
        })
    }

    /// Whether staged content is checked, as by `git commit`.
    fn is_of_index(&self, paths: &[PathBuf]) -> bool {
        !self.args.all && self.args.from.is_none() && paths.is_empty()
    }

    /// Leaves the hooks that are to run, and returns the files and folders that are named, from the
    /// top of the working tree. Any other word is an error.
    pub(super) fn choose(&self, hooks: &mut Vec<Hook>) -> Result<Vec<PathBuf>> {
        if hooks.is_empty() {
            let cure = "`hookrun new NAME --event commit.pre` writes one";
            return Err(Complaint::with_cure("commit.pre has no hooks", cure));
        }
        let mut named: Vec<&str> = Vec::new();
        let mut paths = Vec::new();
        for word in &self.args.names {
            let text = word.to_str().unwrap_or_default();
            if hooks.iter().any(|hook| hook.is_called(text)) {
                named.push(text);
                continue;
            }
            let path = self.cwd.join(word);
            if path.symlink_metadata().is_err() {
                return Err(unknown(text, hooks, "neither a commit.pre hook nor a file"));
            }
            paths.push(self.below_top(&path)?);
        }
        for skipped in &self.args.skip {
            if !hooks.iter().any(|hook| hook.is_called(skipped)) {
                return Err(unknown(skipped, hooks, "not a commit.pre hook"));
            }
        }
        hooks.retain(|hook| {
            let is_named = named.is_empty() || named.iter().any(|name| hook.is_called(name));
            is_named && !self.args.skip.iter().any(|name| hook.is_called(name))
        });
        if !self.is_of_index(&paths) {
            // Fix the files on the disk; without --fix, hooks that fix run in the private tree.
            for hook in hooks {
                if hook.sees.is_none() && (hook.fixes.is_none() || self.args.fix) {
                    hook.sees = Some(Sees::Disk);
                }
            }
        }
        Ok(paths)
    }

    /// Why hooks stage no fixes; `None` if they do.
    pub(super) fn no_fixes(&self) -> Option<&'static str> {
        (!self.args.fix).then_some(ONLY_REPORTS)
    }

    /// The files to check, as changes.
    pub(super) fn changes(&self, git: &EventGit, paths: &[PathBuf]) -> Result<Vec<Value>> {
        let listing = if let Some(from) = &self.args.from {
            let to = self.args.to.as_deref().unwrap_or("HEAD");
            for commit in [from, to] {
                let name = format!("{commit}^{{commit}}");
                let words = [
                    "rev-parse",
                    "--verify",
                    "--quiet",
                    "--end-of-options",
                    &name,
                ];
                if !git.call(words).run("find the commit")?.status.success() {
                    let cause = format!("no such commit: `{commit}`");
                    return Err(Complaint::with_cure(
                        cause,
                        "check its name; if only the remote has it, run `git fetch`",
                    ));
                }
            }
            git::listing_between(from, to)
        } else if self.is_of_index(paths) {
            git::listing_of_index(None, &[])
        } else {
            let empty = git.call(["hash-object", "-t", "tree", "/dev/null"]);
            let empty = empty.read("compute the id of the empty tree")?;
            let empty = String::from_utf8_lossy(&empty).trim().to_string();
            git::listing_of_index(Some(&empty), paths)
        };
        let output = git.call(listing).read("list the files")?;
        let mut changes = git::read_changes(&[output]).map_err(Complaint::new)?;
        if self.is_of_index(paths) {
            return Ok(changes);
        }
        // Named files are checked even if git does not track them; missing files cannot be.
        let known: HashSet<String> = changes.iter().map(path_of).collect();
        for text in paths.iter().map(|path| path.to_string_lossy()) {
            if self.top.join(&*text).is_file() && !known.contains(text.as_ref()) {
                changes.push(json!({ "path": text, "status": "A" }));
            }
        }
        changes.retain(|change| {
            let path = self.top.join(path_of(change));
            change.get("pathHex").is_some() || fs::symlink_metadata(path).is_ok()
        });
        Ok(changes)
    }
}

fn path_of(change: &Value) -> String {
    change["path"].as_str().unwrap_or_default().to_string()
}

fn unknown(word: &str, hooks: &[Hook], why: &str) -> Complaint {
    let names = hooks.iter().map(|hook| hook.name.as_str());
    let cure = did_you_mean(nearest_hook(word, names), || {
        "`hookrun list --event commit.pre` shows the hooks".to_string()
    });
    Complaint::with_cure(format!("`{word}` is {why}"), cure)
}
