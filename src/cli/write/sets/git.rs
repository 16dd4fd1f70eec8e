//! The files of a commit, by the system's git: fetched and read, never checked out.
//!
//! A checkout would follow links, run filters and hooks, and fetch submodules. Here git copies
//! branches and tags into a bare repository, and prints the files of one commit.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use tempfile::TempDir;

use crate::cli::errand::Errand;
use crate::cli::exit::{Result, failed};
use crate::config::Environment;
use crate::config::set_store::{MOST_BYTES, MOST_FILES, check_path, check_size};
use crate::config::sets::declared::{PROTOCOLS, is_path};
use crate::config::trust::{ContentFile, HookFiles};
use crate::engine::complaint::Complaint;
use crate::lab::report::plain;

/// How long one command of git may take: a slow network, and a large history.
const LIMIT: Duration = Duration::from_secs(300);

/// Settings of the user that would run something, or write more than is asked for.
#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
];

/// A key must be one that the user trusts, whichever kind it is.
const TRUSTED_KEY: &str = "gpg.minTrustLevel=fully";

/// A copy of a repository's branches and tags, which is removed in the end.
#[derive(Debug)]
pub(super) struct FetchedRepository {
    folder: TempDir,
    /// The variables of git that are not passed on: they would lead it elsewhere.
    scrubbed: Vec<String>,
}

/// What a `rev` means.
#[derive(Debug)]
pub(super) struct NamedCommit {
    pub(super) commit: String,
    pub(super) is_tag: bool,
}

impl FetchedRepository {
    /// Copies the repository at `url`; a relative path means `base`.
    pub(super) fn copy(url: &str, base: &Path, env: &Environment) -> Result<FetchedRepository> {
        let cannot = failed(format!(
            "cannot make a folder in `{}`",
            env.temporary.display()
        ));
        let folder = tempfile::Builder::new()
            .prefix("hookrun-sets-")
            .tempdir_in(&env.temporary);
        let scrubbed = Environment::beginning_with("GIT_")
            .into_iter()
            .map(|(name, _)| name);
        let repository = FetchedRepository {
            folder: folder.map_err(cannot)?,
            scrubbed: scrubbed.collect(),
        };
        let place = if is_path(url) {
            base.join(url).display().to_string()
        } else {
            url.to_string()
        };
        // A local copy would take objects along that no branch or tag reaches.
        let words = [
            "clone",
            "--bare",
            "--no-local",
            "--quiet",
            "--template=",
            "--",
            &place,
            ".",
        ];
        let output = repository.git(&words, Vec::new())?;
        if output.status.success() {
            return Ok(repository);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<String> = said.lines().map(plain).collect();
        Err(Complaint::with_cure(
            format!("git cannot copy `{url}`: {}", said.join("; ")),
            "`git ls-remote` with this URL shows whether you may read it",
        ))
    }

    /// The commit that a tag, a branch or a whole commit names.
    pub(super) fn resolve(&self, rev: &str) -> Result<NamedCommit> {
        for (kind, is_tag) in [("refs/tags/", true), ("refs/heads/", false)] {
            if let Some(commit) = self.commit(&format!("{kind}{rev}"))? {
                return Ok(NamedCommit { commit, is_tag });
            }
        }
        let is_whole = matches!(rev.len(), 40 | 64) && rev.bytes().all(|b| b.is_ascii_hexdigit());
        if is_whole && self.is_reachable(rev)? {
            return Ok(NamedCommit {
                commit: rev.to_lowercase(),
                is_tag: false,
            });
        }
        if is_whole {
            return Err(unreachable(rev));
        }
        Err(Complaint::with_cure(
            format!("the repository has no tag and no branch `{rev}`"),
            "name one, or a whole commit",
        ))
    }

    fn commit(&self, name: &str) -> Result<Option<String>> {
        let name = format!("{name}^{{commit}}");
        let output = self.git(&["rev-parse", "--verify", "--quiet", &name], Vec::new())?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
        Ok(Some(text).filter(|text| output.status.success() && !text.is_empty()))
    }

    /// Whether a branch or a tag leads to `commit`. A forge also hands out commits of forks, which
    /// anybody may have written.
    pub(super) fn is_reachable(&self, commit: &str) -> Result<bool> {
        let words = [
            "for-each-ref",
            "--count=1",
            "--format=%(refname)",
            "--contains",
            commit,
        ];
        let output = self.git(&words, Vec::new())?;
        Ok(output.status.success() && !output.stdout.is_empty())
    }

    /// All files of `commit`.
    ///
    /// # Errors
    /// When it has links, submodules, names that lead elsewhere, or too much.
    pub(super) fn files(&self, commit: &str) -> Result<HookFiles> {
        let listed = self.read(
            &["ls-tree", "-r", "-z", "-l", "--full-tree", commit],
            Vec::new(),
        )?;
        let refuse = |cause: String| {
            let cause = format!("commit {commit} is no hook set: {cause}");
            Complaint::with_cure(cause, "a set is a small repository of plain files")
        };
        let mut files = Vec::new();
        let mut wanted = String::new();
        let mut bytes = 0;
        for line in listed
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            let entry = TreeLine::parse(line).map_err(refuse)?;
            bytes += entry.size as u64;
            check_size(files.len() + 1, bytes).map_err(refuse)?;
            wanted.push_str(&format!("{}\n", entry.object));
            files.push(entry);
        }
        let content = self.read(&["cat-file", "--batch"], wanted.into_bytes())?;
        let mut rest = content.as_slice();
        let mut take = |entry: TreeLine| {
            let head = rest.iter().position(|byte| *byte == b'\n')? + 1;
            let file = rest.get(head..head + entry.size)?.to_vec();
            rest = rest.get(head + entry.size + 1..)?;
            Some(ContentFile::plain(
                entry.path.into(),
                entry.is_executable,
                file,
            ))
        };
        let files: Option<Vec<_>> = files.into_iter().map(&mut take).collect();
        files
            .map(HookFiles::of)
            .ok_or_else(|| Complaint::new(format!("git did not print all files of {commit}")))
    }

    /// Verifies the signature of `commit` by the keys that the user's settings of git trust.
    pub(super) fn verify(&self, commit: &str) -> Result<()> {
        let output = self.git(&["-c", TRUSTED_KEY, "verify-commit", commit], Vec::new())?;
        if output.status.success() {
            return Ok(());
        }
        let printed = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<String> = printed.lines().map(plain).collect();
        let why = if lines.is_empty() {
            "it has no signature".to_string()
        } else {
            lines.join("; ")
        };
        Err(Complaint::with_cure(
            format!("git does not accept the signature of commit {commit}: {why}"),
            "its authors sign it by `git commit -S`; your git must know and trust their key (for \
             SSH keys by `gpg.ssh.allowedSignersFile`)",
        ))
    }

    /// What a command of git prints, which must succeed.
    fn read(&self, words: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>> {
        let output = self.git(words, stdin)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = plain(String::from_utf8_lossy(&output.stderr).trim());
        Err(Complaint::new(format!("`git {}` failed: {said}", words[0])))
    }

    fn git(&self, words: &[&str], stdin: Vec<u8>) -> Result<Output> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let mut errand = Errand::new("git", settings.chain(words.iter().copied()), LIMIT);
        errand.stdin = stdin;
        errand.kept_bytes = MOST_BYTES + 256 * MOST_FILES as u64;
        for name in &self.scrubbed {
            errand.command.env_remove(name);
        }
        let folder = self.folder.path();
        errand.command.current_dir(folder).env("LC_ALL", "C");
        // Whatever the settings of the user say.
        errand
            .command
            .env("GIT_ALLOW_PROTOCOL", PROTOCOLS.join(":"));
        errand.command.env("GIT_TERMINAL_PROMPT", "0");
        // A repository on this machine could name another one to fetch what it lacks.
        errand.command.env("GIT_NO_LAZY_FETCH", "1");
        // No repository around the folder is looked for.
        errand.command.env("GIT_DIR", folder);
        let ended = errand.output().map_err(|error| {
            Complaint::with_cure(format!("cannot start git: {error}"), "install it")
        })?;
        ended.ok_or_else(|| {
            let cause = format!("`git {}` did not end in 5 minutes", words[0]);
            Complaint::with_cure(
                cause,
                "it cannot ask for a password here: use an agent for keys, or a credential helper",
            )
        })
    }
}

/// What is said of a commit that no branch and no tag leads to.
pub(super) fn unreachable(commit: &str) -> Complaint {
    let cause = format!("no branch and no tag of the repository leads to commit {commit}");
    let cure = "anybody may have made it, in a fork; name a tag or a commit of the repository";
    Complaint::with_cure(cause, cure)
}

/// A line of `git ls-tree -l`: mode, kind, object, size, a tab and the path.
struct TreeLine {
    path: String,
    object: String,
    size: usize,
    is_executable: bool,
}

impl TreeLine {
    fn parse(line: &[u8]) -> std::result::Result<TreeLine, String> {
        let line = String::from_utf8_lossy(line);
        let (head, path) = line.split_once('\t').unwrap_or_default();
        let shown = plain(path);
        let words: Vec<&str> = head.split_whitespace().collect();
        let &[mode, _, object, size] = words.as_slice() else {
            return Err(format!("git lists `{}`", plain(&line)));
        };
        let is_executable = match mode {
            "100644" | "100664" => false,
            "100755" => true,
            "120000" => return Err(format!("`{shown}` is a link")),
            "160000" => return Err(format!("`{shown}` is a submodule")),
            _ => return Err(format!("`{shown}` has the mode {mode}")),
        };
        check_path(path)?;
        let size = size.parse().map_err(|_| format!("`{shown}` has no size"))?;
        Ok(TreeLine {
            path: path.to_string(),
            object: object.to_string(),
            size,
            is_executable,
        })
    }
}
