//! The current branch and the git operation in progress, read from files without starting git,
//! except for reftables.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::cli::exit::{Result, failed};
use crate::cli::host::git::ask;
use crate::hosts::git::GitHook;

/// The marker file of each operation. A rebase also picks and merges, so it comes first.
const SIGNS: &[(&str, &str)] = &[
    ("rebase-merge", "rebase"),
    ("rebase-apply/rebasing", "rebase"),
    ("MERGE_HEAD", "merge"),
    (CHERRY_PICK, "cherry-pick"),
    (REVERT, "revert"),
];

const CHERRY_PICK: &str = "CHERRY_PICK_HEAD";
const REVERT: &str = "REVERT_HEAD";

/// HEAD of a repository with reftables.
const ELSEWHERE: &str = "refs/heads/.invalid";

/// Adds the keys `branch` and `state` to a context; none outside a repository.
///
/// # Errors
/// If HEAD cannot be read, because a rule may need the branch.
pub(super) fn add(
    context: &mut Map<String, Value>,
    hook: &GitHook,
    cwd: &Path,
    git_dir: Option<&str>,
) -> Result<()> {
    let Some(folder) = find_folder(cwd, git_dir) else {
        return Ok(());
    };
    let file = folder.join("HEAD");
    let what = format!("cannot read `{}`", file.display());
    let mut reference = read_head(&file).map_err(failed(what))?;
    let mut found = SIGNS.iter().find(|(sign, _)| folder.join(sign).exists());
    if reference.as_deref() == Some(ELSEWHERE) {
        let asked = ask(cwd, &["symbolic-ref", "--quiet", "HEAD"])?;
        reference = asked.map(|text| text.to_string_lossy().into_owned());
        for sign in SIGNS
            .iter()
            .filter(|(sign, _)| matches!(*sign, CHERRY_PICK | REVERT))
        {
            if found.is_none() && ask(cwd, &["rev-parse", "--verify", "--quiet", sign.0])?.is_some()
            {
                found = Some(sign);
            }
        }
    }
    let branch = reference
        .as_deref()
        .and_then(|text| text.strip_prefix("refs/heads/"));
    context.insert("branch".to_string(), branch.into());
    if let Some(operation) = found.map(|(_, operation)| *operation).or(hook.operation) {
        context.insert("state".to_string(), operation.into());
    }
    Ok(())
}

/// The git folder: `$GIT_DIR`, else that of the enclosing work tree.
fn find_folder(cwd: &Path, git_dir: Option<&str>) -> Option<PathBuf> {
    if let Some(named) = git_dir {
        return Some(cwd.join(named));
    }
    for folder in cwd.ancestors() {
        let entry = folder.join(".git");
        if entry.is_dir() {
            return Some(entry);
        }
        // In a linked work tree or a submodule, `.git` is a file that names the folder.
        if let Ok(text) = fs::read_to_string(&entry) {
            return Some(folder.join(text.strip_prefix("gitdir:")?.trim()));
        }
    }
    None
}

/// HEAD's ref; `None` for a commit.
fn read_head(file: &Path) -> io::Result<Option<String>> {
    // Old versions of git made HEAD a link.
    if let Ok(target) = fs::read_link(file) {
        return Ok(Some(target.to_string_lossy().into_owned()));
    }
    let bytes = fs::read(file)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text
        .strip_prefix("ref:")
        .map(|name| name.trim().to_string()))
}
