//! Trusts hooks of a followed remote branch: content merged into `origin/main` was reviewed.
//!
//! The branch is read from git's objects by its remote-tracking name and compared with the work
//! tree, which has no influence on it. A rewritten branch needs approval again.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::check::TrustReport;
use super::files::{HookFiles, counted_content, counts_for_trust};
use super::parts::find_repository;
use super::store::{FollowedBranch, TrustStore, TrustedBy};
use crate::config::git::GitRepository;
use crate::config::layer::{DROP_INS, HIDDEN, LOCAL, MANIFEST};
use crate::config::sets::LOCK;
use crate::engine::complaint::Complaint;

/// Trusts the hooks of `report` if they match the tip of the followed branch.
///
/// # Errors
/// Why they do not, for a user.
pub(crate) fn accept(
    report: &TrustReport,
    followed: FollowedBranch,
    store: &TrustStore,
) -> Result<(), String> {
    let repository = &report.repository;
    let git = GitRepository::at(repository);
    let FollowedBranch { branch, tip } = followed;
    let now = tip_of(&git, &branch).map_err(|complaint| complaint.cause)?;
    if now != tip {
        let words = ["merge-base", "--is-ancestor", &tip, &now];
        let output = git.git(&words, Vec::new());
        if !output.is_ok_and(|output| output.status.success()) {
            return Err(format!(
                "`{branch}` was rewritten: review it, then run `hookrun trust --follow {branch}`"
            ));
        }
        let followed = FollowedBranch {
            branch: branch.clone(),
            tip: now.clone(),
        };
        store
            .follow(repository, &followed)
            .map_err(|error| format!("cannot record the tip of `{branch}`: {error}"))?;
    }
    let files = report.read().map_err(|error| error.to_string())?;
    let differs = format!("`{branch}` has different hooks");
    let own = own_content(report, &files).ok_or(&*differs)?;
    let committed = committed_content(report, &git, &now).map_err(|complaint| complaint.cause)?;
    let local = in_repository(report, Path::new(LOCAL));
    if own.contains_key(&local) && !committed.contains_key(&local) {
        return Err(format!("`{LOCAL}` is not on `{branch}`"));
    }
    // The files read here must be the loaded ones.
    if own != committed || files.digest() != report.digest {
        return Err(differs);
    }
    store
        .trust(repository, &report.folder, &files, TrustedBy::Branch)
        .map_err(|error| format!("cannot record the trust in `{branch}`: {error}"))
}

/// The commit of a remote branch (`origin/main`) at the last fetch.
///
/// # Errors
/// If git fails or does not know the branch.
pub(crate) fn tip_of(git: &GitRepository, branch: &str) -> Result<String, Complaint> {
    let commit = git.commit(&format!("refs/remotes/{branch}"))?;
    commit.ok_or_else(|| {
        let cause = format!("`{branch}` is not a remote branch of this repository");
        Complaint::with_cure(
            cause,
            "run `git fetch`, then name a branch such as `origin/main`",
        )
    })
}

/// Whether a file is executable, and the digest of its content.
type CountedContent = (bool, String);

/// The files by path in the repository; `None` with links, which are not compared.
fn own_content(
    report: &TrustReport,
    files: &HookFiles,
) -> Option<BTreeMap<PathBuf, CountedContent>> {
    let mut content = BTreeMap::new();
    for file in &files.files {
        if file.mark.link.is_some() {
            return None;
        }
        // A missing file that a command names must be missing in the commit too.
        if file.mark.content != "missing" {
            let path = in_repository(report, &file.path);
            content.insert(path, (file.is_program(), file.mark.content.clone()));
        }
    }
    Some(content)
}

/// The files of a commit that would count if it were checked out.
fn committed_content(
    report: &TrustReport,
    git: &GitRepository,
    commit: &str,
) -> Result<BTreeMap<PathBuf, CountedContent>, Complaint> {
    let mut parts = report.parts.clone();
    let hidden = Path::new(HIDDEN);
    let places = [
        PathBuf::from(MANIFEST),
        PathBuf::from(DROP_INS),
        hidden.join(MANIFEST),
        hidden.join(DROP_INS),
    ];
    // A host's folder is a separate set.
    if parts.is_empty() || places.iter().any(|place| parts.contains(place)) {
        // Include files that were removed from the working tree.
        parts.extend(places);
        parts.extend([LOCK, HIDDEN].map(PathBuf::from));
    }
    let paths: Vec<String> = parts
        .iter()
        .map(|part| in_repository(report, part).display().to_string())
        .collect();
    let folder = in_repository(report, Path::new(""));
    let mut content = BTreeMap::new();
    for file in git.files(commit, &paths)? {
        let below = file.path.strip_prefix(&folder).unwrap_or(&file.path);
        if counts_for_trust(below) || parts.iter().any(|part| part == below) {
            let digest = counted_content(below, &file.bytes);
            content.insert(file.path, (file.is_executable, digest));
        }
    }
    Ok(content)
}

/// The path in the repository of a path relative to the hooks' folder.
fn in_repository(report: &TrustReport, path: &Path) -> PathBuf {
    let root = find_repository(&report.folder).root;
    let folder = report.folder.strip_prefix(root).unwrap_or(Path::new(""));
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::Normal(name) => whole.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    whole
}
