//! Fetches a set: clones branches and tags into a bare repository, and stores the files of one
//! commit.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::cli::exit::{Result, failed};
use crate::cli::files::temporary_folder;
use crate::config::git::GitRepository;
use crate::config::layer::{DROP_INS, HIDDEN, MANIFEST};
use crate::config::set_layers::{digest_in, digest_of};
use crate::config::sets::{DeclaredSet, LockedSet, is_object, is_path};
use crate::config::trust::{ContentFile, HookFiles};
use crate::config::{Environment, UsedSet};
use crate::engine::complaint::Complaint;
use crate::engine::session;
use crate::lab::report::plain;

/// Requires a key that the user trusts, of any kind.
const TRUSTED_KEY: &str = "gpg.minTrustLevel=fully";

/// Fetches the declared revision. With `old`, a tag must still name its commit.
pub(super) fn newest(
    declared: &DeclaredSet,
    file: &Path,
    old: Option<&LockedSet>,
    env: &Environment,
) -> Result<LockedSet> {
    let repository = FetchedRepository::copy(declared, file, env)?;
    let named = repository.newest(declared, old)?;
    let (set, files) = repository.set(declared, named)?;
    let has_hooks = files.files.iter().any(|file| {
        [MANIFEST, DROP_INS, HIDDEN]
            .iter()
            .any(|place| file.path.starts_with(place))
    });
    if !has_hooks {
        let cause = format!("the set `{}` has no {MANIFEST} and no {DROP_INS}", set.name);
        return Err(Complaint::with_cure(
            cause,
            "choose another repository or revision",
        ));
    }
    keep(&files, &set.tree, env)?;
    Ok(set)
}

/// Fetches the locked commit; without a signature it must be on a branch or a tag.
pub(super) fn locked(set: &UsedSet, locked: &LockedSet, env: &Environment) -> Result<()> {
    let repository = FetchedRepository::copy(&set.declared, &set.file, env)?;
    let tag = Some(locked.tag.clone()).filter(|tag| !tag.is_empty());
    let mut objects = std::iter::once(&locked.commit).chain(&tag);
    if let Err(missing) = objects.try_for_each(|object| repository.bring(object)) {
        // A moved tag explains more.
        repository.newest(&set.declared, Some(locked))?;
        return Err(missing);
    }
    let named = NamedCommit {
        commit: locked.commit.clone(),
        tag,
        is_tag: false,
    };
    let (fetched, files) = repository.set(&set.declared, named)?;
    let name = &locked.name;
    if fetched.tree != locked.tree {
        return Err(Complaint::with_cure(
            format!("the files of the set `{name}` differ from the lock"),
            format!("review the changes, then run `hookrun sets update {name}`"),
        ));
    }
    if !set.declared.is_signed && !repository.is_reachable(&locked.commit)? {
        repository.newest(&set.declared, Some(locked))?;
        return Err(unreachable(&locked.commit));
    }
    keep(&files, &fetched.tree, env)
}

/// The highest version or branch, with its commit; `None` if no ref resembles the declared one.
pub(super) fn newest_reference(
    declared: &DeclaredSet,
    file: &Path,
    env: &Environment,
) -> Result<Option<(String, String)>> {
    let git = GitRepository::at(&env.temporary);
    let place = place_of(declared, file);
    let words = ["ls-remote", "--quiet", "--heads", "--tags", "--", &place];
    let output = git.git(&words, Vec::new())?;
    if !output.status.success() {
        return Err(Complaint::new(on_one_line(&output.stderr)));
    }
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut newest: Option<(Vec<u64>, String, String)> = None;
    for line in listed.lines() {
        let (commit, reference) = line.split_once('\t').unwrap_or_default();
        if reference.strip_prefix("refs/heads/") == Some(&*declared.rev) {
            return Ok(Some((declared.rev.clone(), commit.to_string())));
        }
        let Some(tag) = reference.strip_prefix("refs/tags/") else {
            continue;
        };
        // The commit of an annotated tag is on the line after the tag.
        let tag = tag.strip_suffix("^{}").unwrap_or(tag);
        let is_declared = tag == declared.rev;
        let version = version_like(tag, &declared.rev).or(is_declared.then(Vec::new));
        if let Some(version) = version
            && newest.as_ref().is_none_or(|(best, ..)| version >= *best)
        {
            newest = Some((version, tag.to_string(), commit.to_string()));
        }
    }
    Ok(newest.map(|(_, tag, commit)| (tag, commit)))
}

/// The numbers of a version tag with the prefix of `like`, or any if `like` is a commit.
fn version_like(tag: &str, like: &str) -> Option<Vec<u64>> {
    let prefix = tag.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let other = like.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if prefix != other && !is_object(like) {
        return None;
    }
    let numbers = tag[prefix.len()..].split('.');
    numbers.map(|number| number.parse().ok()).collect()
}

/// A temporary copy of a repository's branches and tags.
struct FetchedRepository {
    git: GitRepository,
    _folder: TempDir,
}

struct NamedCommit {
    commit: String,
    /// The object of its annotated tag, which may be signed.
    tag: Option<String>,
    is_tag: bool,
}

impl FetchedRepository {
    /// Clones the repository of a set declared in `file`.
    fn copy(declared: &DeclaredSet, file: &Path, env: &Environment) -> Result<FetchedRepository> {
        let folder = temporary_folder("hookrun-sets-", env)?;
        let git = GitRepository::at(folder.path());
        let url = &declared.git;
        let place = place_of(declared, file);
        // A local clone would include unreachable objects.
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
            format!("git cannot clone `{url}`: {}", on_one_line(&output.stderr)),
            format!(
                "run `git ls-remote {}` to check your access",
                shell_words::quote(&place)
            ),
        ))
    }

    /// The commit that `rev` names now. A tag must still name the commit of `old`.
    fn newest(&self, declared: &DeclaredSet, old: Option<&LockedSet>) -> Result<NamedCommit> {
        let DeclaredSet { name, rev, .. } = declared;
        let now = self.resolve(rev)?;
        if let Some(LockedSet { commit: was, .. }) = old
            && now.is_tag
            && now.commit != *was
        {
            let now = now.commit;
            let cause = format!(
                "the tag `{rev}` of the set `{name}` has moved: the lock has {was}, the repository has {now}"
            );
            let cure = format!(
                "ask its authors why; `hookrun sets update {name} --moved` accepts the new commit"
            );
            return Err(Complaint::with_cure(cause, cure));
        }
        Ok(now)
    }

    fn resolve(&self, rev: &str) -> Result<NamedCommit> {
        for (kind, is_tag) in [("refs/tags/", true), ("refs/heads/", false)] {
            let reference = format!("{kind}{rev}");
            let Some(commit) = self.git.commit(&reference)? else {
                continue;
            };
            let object = self.git.read(&["rev-parse", &reference], Vec::new())?;
            let object = String::from_utf8_lossy(&object).trim().to_string();
            let tag = Some(object).filter(|object| *object != commit);
            return Ok(NamedCommit {
                commit,
                tag,
                is_tag,
            });
        }
        if !is_object(rev) {
            let cause = format!("the repository has no tag or branch `{rev}`");
            let cure = "name a tag, a branch or a full commit id";
            return Err(Complaint::with_cure(cause, cure));
        }
        if !self.is_reachable(rev)? {
            return Err(unreachable(rev));
        }
        Ok(NamedCommit {
            commit: rev.to_lowercase(),
            tag: None,
            is_tag: false,
        })
    }

    /// Fetches an unreachable object, if the server still has it.
    fn bring(&self, object: &str) -> Result<()> {
        let exists = self.git.git(&["cat-file", "-e", object], Vec::new())?;
        if exists.status.success() {
            return Ok(());
        }
        let words = ["fetch", "--quiet", "--no-tags", "origin", object];
        let output = self.git.git(&words, Vec::new())?;
        if output.status.success() {
            return Ok(());
        }
        let why = on_one_line(&output.stderr);
        Err(Complaint::with_cure(
            format!("git cannot fetch {object}, which the lock names: {why}"),
            "ask the set's authors to push it again; or review the set, then run `hookrun sets update`",
        ))
    }

    /// Whether a branch or a tag contains `commit`; forges also serve commits of forks.
    fn is_reachable(&self, commit: &str) -> Result<bool> {
        let words = ["for-each-ref", "--count=1", "--contains", commit];
        let output = self.git.git(&words, Vec::new())?;
        Ok(output.status.success() && !output.stdout.is_empty())
    }

    /// A commit's files, and their lock entry.
    fn set(&self, declared: &DeclaredSet, named: NamedCommit) -> Result<(LockedSet, HookFiles)> {
        let NamedCommit { commit, tag, .. } = named;
        let files = self.git.files(&commit, &[]).map_err(|complaint| {
            let cause = format!("the set `{}`: {}", declared.name, complaint.cause);
            Complaint::with_cure(cause, "a set must be a small repository of plain files")
        })?;
        let files = files
            .into_iter()
            .map(|file| ContentFile::plain(file.path, file.is_executable, file.bytes));
        let files = HookFiles::of(files.collect());
        let mut set = LockedSet {
            name: declared.name.clone(),
            git: declared.git.clone(),
            rev: declared.rev.clone(),
            commit,
            tree: digest_of(&files),
            files: files.files.len(),
            is_signed: declared.is_signed,
            tag: tag.unwrap_or_default(),
            ..LockedSet::default()
        };
        if declared.is_signed {
            set.signer = self.signature(&set)?;
        }
        Ok((set, files))
    }

    /// Verifies the signature of a set's commit or tag. Returns the signer, if git prints one.
    fn signature(&self, set: &LockedSet) -> Result<String> {
        let LockedSet { commit, tag, .. } = set;
        let mut signed = vec![("verify-commit", commit)];
        // A tag vouches only for the commit it names.
        if !tag.is_empty() && self.git.commit(tag)?.as_ref() == Some(commit) {
            signed.push(("verify-tag", tag));
        }
        let mut why = String::new();
        for (command, object) in signed {
            let words = ["-c", TRUSTED_KEY, command, object];
            let output = self.git.git(&words, Vec::new())?;
            if output.status.success() {
                return Ok(signer_in(&String::from_utf8_lossy(&output.stderr)));
            }
            if why.is_empty() {
                why = on_one_line(&output.stderr);
            }
        }
        let cause = if why.is_empty() {
            format!("commit {commit} has no signature")
        } else {
            format!("git does not accept the signature of commit {commit}: {why}")
        };
        Err(Complaint::with_cure(
            cause,
            "its authors must sign with `git commit -S` or `git tag -s`; your git must know and trust \
             their key (for SSH keys, through `gpg.ssh.allowedSignersFile`)",
        ))
    }
}

/// A set's repository; a relative path starts from the declaring file's folder.
fn place_of(declared: &DeclaredSet, file: &Path) -> String {
    let url = &declared.git;
    if !is_path(url) {
        return url.clone();
    }
    let base = file.parent().unwrap_or(file);
    base.join(url).display().to_string()
}

/// The signer in git's message about a good SSH or OpenPGP signature; empty without one.
fn signer_in(printed: &str) -> String {
    for (before, after) in [
        ("signature for ", " with "),
        ("Good signature from \"", "\""),
    ] {
        if let Some((_, rest)) = printed.split_once(before)
            && let Some((name, _)) = rest.split_once(after)
        {
            return plain(name);
        }
    }
    String::new()
}

fn on_one_line(stderr: &[u8]) -> String {
    let printed = String::from_utf8_lossy(stderr);
    let lines: Vec<String> = printed.lines().map(plain).collect();
    lines.join("; ")
}

fn unreachable(commit: &str) -> Complaint {
    let cause = format!("no branch or tag of the repository contains commit {commit}");
    let cure = "the commit may come from a fork; name a tag or commit of the repository";
    Complaint::with_cure(cause, cure)
}

/// Stores files under their digest: writes them elsewhere, checks and renames atomically.
fn keep(files: &HookFiles, digest: &str, env: &Environment) -> Result<()> {
    let Some(root) = &env.set_store else {
        return Err(Complaint::with_cure(env.why_no_home(), "set HOME"));
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
        let cause = "some files of the set have names that this file system does not distinguish, or that hookrun skips as editor backups";
        let cure = "the set's authors must rename or remove these files";
        return Err(Complaint::with_cure(cause, cure));
    }
    // Move manually changed files away.
    let _ = fs::rename(&target, apart.path().join("old"));
    match fs::rename(&new, &target) {
        Err(_) if is_whole(&target, digest) => Ok(()),
        renamed => renamed.map_err(cannot()),
    }
}

fn is_whole(folder: &Path, digest: &str) -> bool {
    digest_in(folder).is_ok_and(|actual| actual == digest)
}
