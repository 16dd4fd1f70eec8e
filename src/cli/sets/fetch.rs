//! Fetches a set: git copies branches and tags into a bare repository, and prints the files of one
//! commit, which go into the store.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::cli::exit::{Result, failed};
use crate::cli::files::temporary_folder;
use crate::config::git::GitRepository;
use crate::config::layer::{DROP_INS, HIDDEN, MANIFEST};
use crate::config::set_layers::{digest_in, digest_of};
use crate::config::sets::{DeclaredSet, LockedSet, is_path};
use crate::config::trust::{ContentFile, HookFiles};
use crate::config::{Environment, UsedSet};
use crate::engine::complaint::Complaint;
use crate::engine::session;
use crate::lab::report::plain;

/// A key must be one that the user trusts, whichever kind it is.
const TRUSTED_KEY: &str = "gpg.minTrustLevel=fully";

/// Fetches what is declared. With `old`, a tag must name its commit still.
pub(super) fn newest(
    declared: &DeclaredSet,
    file: &Path,
    old: Option<&LockedSet>,
    env: &Environment,
) -> Result<LockedSet> {
    let repository = FetchedRepository::copy(declared, file, env)?;
    let commit = repository.newest(declared, old)?;
    let (set, files) = repository.set(declared, commit)?;
    let has_hooks = files.files.iter().any(|file| {
        [MANIFEST, DROP_INS, HIDDEN]
            .iter()
            .any(|place| file.path.starts_with(place))
    });
    if !has_hooks {
        let cause = format!("the set `{}` has no {MANIFEST} and no {DROP_INS}", set.name);
        return Err(Complaint::with_cure(cause, "choose another repository"));
    }
    keep(&files, &set.tree, env)?;
    Ok(set)
}

/// Fetches what is locked, and nothing else.
pub(super) fn locked(set: &UsedSet, locked: &LockedSet, env: &Environment) -> Result<()> {
    let repository = FetchedRepository::copy(&set.declared, &set.file, env)?;
    if !repository.is_reachable(&locked.commit)? {
        // The tag may have been moved, which says more.
        repository.newest(&set.declared, Some(locked))?;
        return Err(unreachable(&locked.commit));
    }
    let (fetched, files) = repository.set(&set.declared, locked.commit.clone())?;
    let name = &locked.name;
    if fetched.tree != locked.tree {
        return Err(Complaint::with_cure(
            format!("the files of the set `{name}` differ from the lock"),
            format!("review the changes, then run `hookrun sets update {name}`"),
        ));
    }
    keep(&files, &fetched.tree, env)
}

/// A copy of a repository's branches and tags, which is removed in the end.
struct FetchedRepository {
    git: GitRepository,
    _folder: TempDir,
}

/// What a `rev` means.
struct NamedCommit {
    commit: String,
    is_tag: bool,
}

impl FetchedRepository {
    /// Copies the repository of a set that `file` declares.
    fn copy(declared: &DeclaredSet, file: &Path, env: &Environment) -> Result<FetchedRepository> {
        let folder = temporary_folder("hookrun-sets-", env)?;
        let git = GitRepository::at(folder.path());
        let url = &declared.git;
        let place = if is_path(url) {
            let base = file.parent().unwrap_or(file);
            base.join(url).display().to_string()
        } else {
            url.clone()
        };
        // A local copy would take objects along that no branch or tag reaches.
        let clone = ["clone", "--bare", "--no-local", "--quiet", "--template="];
        let words = [&clone[..], &["--", &place, "."]].concat();
        let output = git.git(&words, Vec::new())?;
        if output.status.success() {
            return Ok(FetchedRepository {
                git,
                _folder: folder,
            });
        }
        Err(Complaint::with_cure(
            format!("git cannot copy `{url}`: {}", on_one_line(&output.stderr)),
            "`git ls-remote` with this URL shows whether you may read it",
        ))
    }

    /// The commit that `rev` names now. A tag must name the commit of `old` still.
    fn newest(&self, declared: &DeclaredSet, old: Option<&LockedSet>) -> Result<String> {
        let DeclaredSet { name, rev, .. } = declared;
        let now = self.resolve(rev)?;
        match old {
            Some(LockedSet { commit: was, .. }) if now.is_tag && now.commit != *was => {
                let now = now.commit;
                Err(Complaint::with_cure(
                    format!(
                        "the tag `{rev}` of the set `{name}` was moved: locked is {was}, and now it is {now}"
                    ),
                    format!("ask its authors; `hookrun sets update {name} --moved` accepts it"),
                ))
            }
            Some(_) | None => Ok(now.commit),
        }
    }

    /// The commit that a tag, a branch or a full commit id names.
    fn resolve(&self, rev: &str) -> Result<NamedCommit> {
        for (kind, is_tag) in [("refs/tags/", true), ("refs/heads/", false)] {
            if let Some(commit) = self.git.commit(&format!("{kind}{rev}"))? {
                return Ok(NamedCommit { commit, is_tag });
            }
        }
        let is_commit = matches!(rev.len(), 40 | 64) && rev.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_commit {
            let cause = format!("the repository has no tag and no branch `{rev}`");
            return Err(Complaint::with_cure(cause, "name one, or a full commit id"));
        }
        if !self.is_reachable(rev)? {
            return Err(unreachable(rev));
        }
        Ok(NamedCommit {
            commit: rev.to_lowercase(),
            is_tag: false,
        })
    }

    /// Whether a branch or a tag leads to `commit`. A forge also hands out commits of forks, which
    /// anybody may have written.
    fn is_reachable(&self, commit: &str) -> Result<bool> {
        let words = ["for-each-ref", "--count=1", "--contains", commit];
        let output = self.git.git(&words, Vec::new())?;
        Ok(output.status.success() && !output.stdout.is_empty())
    }

    /// The files of `commit`, and what a lock says of them.
    fn set(&self, declared: &DeclaredSet, commit: String) -> Result<(LockedSet, HookFiles)> {
        let files = self.git.files(&commit, &[]).map_err(|complaint| {
            let cause = format!("the set `{}`: {}", declared.name, complaint.cause);
            Complaint::with_cure(cause, "a set is a small repository of plain files")
        })?;
        let files = files.into_iter();
        let files = HookFiles::of(
            files
                .map(|file| ContentFile::plain(file.path, file.is_executable, file.bytes))
                .collect(),
        );
        if declared.is_signed {
            self.verify(&commit)?;
        }
        let set = LockedSet {
            name: declared.name.clone(),
            git: declared.git.clone(),
            rev: declared.rev.clone(),
            commit,
            tree: digest_of(&files),
            files: files.files.len(),
            is_signed: declared.is_signed,
        };
        Ok((set, files))
    }

    /// Verifies the signature of `commit` by the keys that the user's settings of git trust.
    fn verify(&self, commit: &str) -> Result<()> {
        let words = ["-c", TRUSTED_KEY, "verify-commit", commit];
        let output = self.git.git(&words, Vec::new())?;
        if output.status.success() {
            return Ok(());
        }
        let why = match on_one_line(&output.stderr) {
            nothing if nothing.is_empty() => "it has no signature".to_string(),
            printed => printed,
        };
        Err(Complaint::with_cure(
            format!("git does not accept the signature of commit {commit}: {why}"),
            "its authors sign with `git commit -S`; your git must know and trust their key (for \
             SSH keys by `gpg.ssh.allowedSignersFile`)",
        ))
    }
}

/// What git printed about a failure.
fn on_one_line(stderr: &[u8]) -> String {
    let printed = String::from_utf8_lossy(stderr);
    let lines: Vec<String> = printed.lines().map(plain).collect();
    lines.join("; ")
}

/// What is said of a commit that no branch and no tag leads to.
fn unreachable(commit: &str) -> Complaint {
    let cause = format!("no branch or tag of the repository contains commit {commit}");
    let cure = "it may come from a fork; name a tag or commit of the repository";
    Complaint::with_cure(cause, cure)
}

/// Puts files with this digest into the store. They are written apart, checked, and get their name
/// atomically, so that nobody sees a part of them.
fn keep(files: &HookFiles, digest: &str, env: &Environment) -> Result<()> {
    let Some(root) = &env.set_store else {
        return Err(Complaint::new(env.why_no_home()));
    };
    let cannot = || failed(format!("cannot write into `{}`", root.display()));
    session::make_private(root.parent().unwrap_or(root), root).map_err(cannot())?;
    let target = root.join(digest);
    if is_whole(&target, digest) {
        return Ok(());
    }
    let apart = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(root)
        .map_err(cannot())?;
    let new = apart.path().join("new");
    for file in &files.files {
        let path = new.join(&file.path);
        let mode = if file.is_program() { 0o555 } else { 0o444 };
        fs::create_dir_all(path.parent().unwrap_or(&new)).map_err(cannot())?;
        fs::write(&path, &file.bytes).map_err(cannot())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(cannot())?;
    }
    if !is_whole(&new, digest) {
        let cause =
            "files of the set have the same name on this system, or names of editor backups";
        let cure = "its authors must rename or remove them";
        return Err(Complaint::with_cure(cause, cure));
    }
    // What was changed by hand makes room.
    let _ = fs::rename(&target, apart.path().join("old"));
    match fs::rename(&new, &target) {
        // Another process was faster.
        Err(_) if is_whole(&target, digest) => Ok(()),
        renamed => renamed.map_err(cannot()),
    }
}

fn is_whole(folder: &Path, digest: &str) -> bool {
    digest_in(folder, None).is_ok_and(|actual| actual == digest)
}
