//! A set is fetched: its files go into the store, and what pins them into a lock.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::git::{FetchedRepository, unreachable};
use crate::cli::exit::{Result, failed};
use crate::config::set_store;
use crate::config::sets::declared::{DeclaredSet, SetSource};
use crate::config::sets::hookset::{self, HOOKSET};
use crate::config::sets::lock::LockedSet;
use crate::config::trust::HookFiles;
use crate::config::{Environment, UsedSet};
use crate::engine::complaint::Complaint;
use crate::engine::session;

/// Fetches what is declared. With `old`, a tag must name its commit still.
pub(super) fn newest(
    declared: &DeclaredSet,
    file: &Path,
    old: Option<&LockedSet>,
    env: &Environment,
) -> Result<LockedSet> {
    let (set, files) = fetch(declared, file, old, false, env)?;
    check_set(&files, declared)?;
    keep(&files, &set.tree, env)?;
    Ok(set)
}

/// Fetches what is locked, and nothing else.
pub(super) fn locked(set: &UsedSet, locked: &LockedSet, env: &Environment) -> Result<()> {
    let (found, files) = fetch(&set.declared, &set.file, Some(locked), true, env)?;
    let name = &locked.name;
    if found.tree != locked.tree {
        return Err(Complaint::with_cure(
            format!("the files of the set `{name}` are not those that were locked"),
            format!("look at what changed, then `hookrun sets update {name}`"),
        ));
    }
    keep(&files, &found.tree, env)
}

/// The files of a set that `file` declares, and what a lock says of them. Of a repository exactly
/// the commit of `old` is fetched if `is_exact`.
fn fetch(
    declared: &DeclaredSet,
    file: &Path,
    old: Option<&LockedSet>,
    is_exact: bool,
    env: &Environment,
) -> Result<(LockedSet, HookFiles)> {
    let base = file.parent().unwrap_or(file);
    let name = declared.name.clone();
    let source = declared.source.locked();
    let rev = declared.source.rev().map(str::to_string);
    let mut set = LockedSet {
        name,
        source,
        rev,
        ..LockedSet::default()
    };
    let files = match &declared.source {
        SetSource::Path(path) => {
            let folder = base.join(path);
            let no_set = format!("`{}` is no hook set", folder.display());
            set_store::files_in(&folder).map_err(failed(no_set))?
        }
        SetSource::Git { url, rev } => {
            let repository = FetchedRepository::copy(url, base, env)?;
            let was = old.and_then(|old| old.commit.as_deref());
            let commit = commit(&repository, rev, declared, was, is_exact)?;
            let files = repository.files(&commit)?;
            if declared.is_signed {
                repository.verify(&commit)?;
                set.is_signed = true;
            }
            set.commit = Some(commit);
            files
        }
    };
    (set.tree, set.files) = (set_store::digest_of(&files), files.files.len());
    Ok((set, files))
}

/// The commit to take: that of the lock if it must be exactly this, else what `rev` names now.
fn commit(
    repository: &FetchedRepository,
    rev: &str,
    declared: &DeclaredSet,
    was: Option<&str>,
    is_exact: bool,
) -> Result<String> {
    if let Some(was) = was.filter(|_| is_exact)
        && repository.is_reachable(was)?
    {
        return Ok(was.to_string());
    }
    match (repository.resolve(rev), was) {
        (Ok(now), Some(was)) if now.is_tag && now.commit != was => {
            let name = &declared.name;
            let now = now.commit;
            Err(Complaint::with_cure(
                format!(
                    "the tag `{rev}` of the set `{name}` was moved: locked is {was}, and now it is {now}"
                ),
                format!("ask its authors why; `hookrun sets update {name} --moved` takes it"),
            ))
        }
        (_, Some(was)) if is_exact => Err(unreachable(was)),
        (now, _) => now.map(|now| now.commit),
    }
}

/// Refuses files that are no set that this hookrun can use.
fn check_set(files: &HookFiles, declared: &DeclaredSet) -> Result<()> {
    let name = &declared.name;
    let Some(about) = files
        .files
        .iter()
        .find(|file| file.path == Path::new(HOOKSET))
    else {
        let cause = format!("what is declared as the set `{name}` has no {HOOKSET}");
        return Err(Complaint::with_cure(
            cause,
            "hookrun.toml(5) says what is in it",
        ));
    };
    let text = String::from_utf8_lossy(&about.bytes);
    match hookset::read(&text, Path::new(HOOKSET))
        .1
        .into_iter()
        .next()
    {
        None => Ok(()),
        Some(problem) => {
            let cause = format!("the set `{name}`: {}: {}", problem.place(), problem.cause);
            Err(Complaint {
                cause,
                cure: problem.cure,
            })
        }
    }
}

/// Puts files with this digest into the store. They are written apart, checked, and get
/// their name at once, so that nobody sees a part of them.
fn keep(files: &HookFiles, digest: &str, env: &Environment) -> Result<()> {
    let Some(root) = &env.set_store else {
        return Err(Complaint::new(env.why_no_home()));
    };
    let cannot = || failed(format!("cannot write into `{}`", root.display()));
    session::make_private(root.parent().unwrap_or(root), root).map_err(cannot())?;
    let target = set_store::folder_of(root, digest);
    let is_whole =
        |folder: &Path| set_store::digest_in(folder, None).is_ok_and(|found| found == digest);
    if is_whole(&target) {
        return Ok(());
    }
    let made = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(root)
        .map_err(cannot())?;
    let new = made.path().join("new");
    let old = made.path().join("old");
    for file in &files.files {
        let path = new.join(&file.path);
        let mode = if file.is_program() { 0o555 } else { 0o444 };
        let written = fs::create_dir_all(path.parent().unwrap_or(&new))
            .and_then(|()| fs::write(&path, &file.bytes))
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
        written.map_err(cannot())?;
    }
    if !is_whole(&new) {
        let cause = "files of the set have one name on this system, or names of editors' leftovers";
        return Err(Complaint::with_cure(
            cause,
            "its authors must rename or remove them",
        ));
    }
    // What was changed by hand makes room.
    let _ = fs::rename(&target, &old);
    match fs::rename(&new, &target) {
        // Another process was faster.
        Err(_) if is_whole(&target) => Ok(()),
        renamed => renamed.map_err(cannot()),
    }
}
