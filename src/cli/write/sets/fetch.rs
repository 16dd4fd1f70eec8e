//! A set is fetched: its files go into the store, and what pins them into a lock.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::git::{FetchedRepository, NamedCommit, unreachable};
use super::{archive, minisign};
use crate::cli::exit::{Result, failed};
use crate::config::set_store::{self, SetFile};
use crate::config::sets::declared::{DeclaredSet, SetSource, Signers};
use crate::config::sets::hookset::{self, HOOKSET};
use crate::config::sets::lock::LockedSet;
use crate::config::{Environment, UsedSet};
use crate::engine::complaint::Complaint;
use crate::engine::session;

/// What was fetched: the files, and what a lock says besides.
struct FetchedSet {
    files: Vec<SetFile>,
    commit: Option<String>,
    /// The digest of the archive that they were in.
    archive: Option<String>,
    signed_by: Option<String>,
}

/// Fetches what is declared. With `may_move`, a tag may name another commit than the locked one,
/// and a URL another archive.
pub(super) fn newest(
    declared: &DeclaredSet,
    file: &Path,
    old: Option<&LockedSet>,
    may_move: bool,
    env: &Environment,
) -> Result<LockedSet> {
    let base = file.parent().unwrap_or(file);
    let fetched = match &declared.source {
        SetSource::Path(path) => of_folder(&base.join(path), declared)?,
        SetSource::Archive(url) => {
            let was = old.and_then(|old| old.archive.as_deref()).filter(|_| !may_move);
            of_archive(url, was, declared, base)?
        }
        SetSource::Git { url, rev } => {
            let repository = FetchedRepository::copy(url, base, env)?;
            let NamedCommit { commit, is_tag } = repository.resolve(rev)?;
            let was = old.and_then(|old| old.commit.as_ref()).filter(|was| **was != commit);
            if let Some(was) = was.filter(|_| is_tag && !may_move) {
                return Err(moved(declared, was, &commit));
            }
            of_commit(&repository, commit, declared, base)?
        }
    };
    let FetchedSet { files, commit, archive, signed_by } = fetched;
    check_set(&files, declared)?;
    Ok(LockedSet {
        name: declared.name.clone(),
        source: declared.source.locked(),
        rev: declared.source.rev().map(str::to_string),
        commit,
        archive,
        tree: keep(&files, env)?,
        files: files.len(),
        signed_by,
    })
}

/// Fetches what is locked, and nothing else.
pub(super) fn locked(set: &UsedSet, locked: &LockedSet, env: &Environment) -> Result<()> {
    let (base, name) = (set.file.parent().unwrap_or(&set.file), &locked.name);
    let anew = |cause: String| Complaint::with_cure(cause, "`hookrun sets update` writes it anew");
    let fetched = match (&set.declared.source, &locked.commit, &locked.archive) {
        (SetSource::Path(path), ..) => of_folder(&base.join(path), &set.declared)?,
        (SetSource::Archive(url), _, Some(was)) => of_archive(url, Some(was), &set.declared, base)?,
        (SetSource::Archive(_), _, None) => {
            return Err(anew(format!("the lock has no archive of the set `{name}`")));
        }
        (SetSource::Git { url, rev }, Some(commit), _) => {
            let repository = FetchedRepository::copy(url, base, env)?;
            if !repository.is_reachable(commit)? {
                return Err(match repository.resolve(rev) {
                    Ok(now) if now.is_tag => moved(&set.declared, commit, &now.commit),
                    Ok(_) | Err(_) => unreachable(commit),
                });
            }
            of_commit(&repository, commit.clone(), &set.declared, base)?
        }
        (SetSource::Git { .. }, None, _) => {
            return Err(anew(format!("the lock has no commit of the set `{name}`")));
        }
    };
    if set.declared.signers.is_some() && fetched.signed_by != locked.signed_by {
        return Err(anew(format!("the lock says that another key signed `{name}`")));
    }
    if set_store::digest_of(&fetched.files) != locked.tree {
        return Err(Complaint::with_cure(
            format!("the files of the set `{name}` are not those that were locked"),
            format!("look at what changed, then `hookrun sets update {name}`"),
        ));
    }
    keep(&fetched.files, env).map(drop)
}

fn of_commit(
    repository: &FetchedRepository,
    commit: String,
    declared: &DeclaredSet,
    base: &Path,
) -> Result<FetchedSet> {
    let rev = declared.source.rev().unwrap_or_default();
    let files = repository.files(&commit)?;
    let signed_by = match &declared.signers {
        Some(Signers::Ssh(file)) => Some(repository.signer(rev, &commit, &base.join(file))?),
        Some(Signers::Minisign(_)) | None => signer_of_list(&files, declared)?,
    };
    Ok(FetchedSet { files, commit: Some(commit), archive: None, signed_by })
}

/// The files of an archive, which must have the digest `was` if there is one.
fn of_archive(
    url: &str,
    was: Option<&str>,
    declared: &DeclaredSet,
    base: &Path,
) -> Result<FetchedSet> {
    let bytes = archive::fetch(url, base)?;
    let digest = format!("sha256:{}", set_store::sha256(&bytes));
    if let Some(was) = was.filter(|was| **was != digest) {
        let name = &declared.name;
        return Err(Complaint::with_cure(
            format!(
                "the archive of the set `{name}` was changed: locked is {was}, and now it is {digest}"
            ),
            format!("ask its authors why; `hookrun sets update {name} --moved` takes it"),
        ));
    }
    let files = archive::files(url, bytes)?;
    let signed_by = signer_of_list(&files, declared)?;
    Ok(FetchedSet { files, commit: None, archive: Some(digest), signed_by })
}

fn of_folder(folder: &Path, declared: &DeclaredSet) -> Result<FetchedSet> {
    let no_set = |cause| Complaint::new(format!("`{}` is no hook set: {cause}", folder.display()));
    let files = set_store::files_in(folder).map_err(no_set)?;
    let signed_by = signer_of_list(&files, declared)?;
    Ok(FetchedSet { files, commit: None, archive: None, signed_by })
}

/// Who signed the list of files; `None` where no such signature is wanted.
fn signer_of_list(files: &[SetFile], declared: &DeclaredSet) -> Result<Option<String>> {
    match &declared.signers {
        Some(Signers::Minisign(key)) => minisign::signer(files, key).map(Some),
        Some(Signers::Ssh(_)) | None => Ok(None),
    }
}

fn moved(declared: &DeclaredSet, was: &str, is: &str) -> Complaint {
    let (name, rev) = (&declared.name, declared.source.rev().unwrap_or_default());
    Complaint::with_cure(
        format!(
            "the tag `{rev}` of the set `{name}` was moved: locked is commit {was}, and now it names {is}"
        ),
        format!("ask its authors why; `hookrun sets update {name} --moved` takes it"),
    )
}

/// Refuses files that are no set that this hookrun can use.
fn check_set(files: &[SetFile], declared: &DeclaredSet) -> Result<()> {
    let name = &declared.name;
    let Some(about) = files.iter().find(|file| file.path == HOOKSET) else {
        let cause = format!("what is declared as the set `{name}` has no {HOOKSET}");
        return Err(Complaint::with_cure(cause, "`hookrun man hookrun.toml` says what is in it"));
    };
    let text = String::from_utf8_lossy(&about.content);
    match hookset::read(&text, Path::new(HOOKSET)).1.into_iter().next() {
        None => Ok(()),
        Some(problem) => {
            let cause = format!("the set `{name}`: {}: {}", problem.place(), problem.cause);
            Err(Complaint { cause, cure: problem.cure })
        }
    }
}

/// Puts files into the store, and returns their digest. They are written apart, checked, and get
/// their name at once, so that nobody sees a part of them.
fn keep(files: &[SetFile], env: &Environment) -> Result<String> {
    let Some(root) = &env.set_store else {
        return Err(Complaint::new(env.why_no_home()));
    };
    let cannot = || failed(format!("cannot write into `{}`", root.display()));
    session::make_private(root.parent().unwrap_or(root), root).map_err(cannot())?;
    let digest = set_store::digest_of(files);
    let target = set_store::folder_of(root, &digest);
    let is_whole =
        |folder: &Path| set_store::digest_in(folder, None).is_ok_and(|found| found == digest);
    if is_whole(&target) {
        return Ok(digest);
    }
    let made = tempfile::Builder::new().prefix(".new-").tempdir_in(root).map_err(cannot())?;
    let (new, old) = (made.path().join("new"), made.path().join("old"));
    for SetFile { path, is_executable, content } in files {
        let file = new.join(path);
        let mode = if *is_executable { 0o555 } else { 0o444 };
        let written = fs::create_dir_all(file.parent().unwrap_or(&new))
            .and_then(|()| fs::write(&file, content))
            .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(mode)));
        written.map_err(cannot())?;
    }
    if !is_whole(&new) {
        let cause = "files of the set have one name on this system, or names of editors' leftovers";
        return Err(Complaint::with_cure(cause, "its authors must rename or remove them"));
    }
    // What was changed by hand makes room.
    let _ = fs::rename(&target, &old);
    match fs::rename(&new, &target) {
        // Another process was faster.
        Err(_) if is_whole(&target) => Ok(digest),
        renamed => renamed.map(|()| digest).map_err(cannot()),
    }
}
