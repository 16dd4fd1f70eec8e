//! Reads a repository's objects with the system's git. Nothing is checked out, so filters, links,
//! hooks and submodules have no effect.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use super::env::Environment;
use super::sets::PROTOCOLS;
use crate::engine::complaint::Complaint;
use crate::engine::errand::Errand;
use crate::engine::harmless::plain;

/// The most files in a shared set, or in the hooks of a commit.
const MOST_FILES: usize = 2000;

const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The timeout of one git command, enough for a slow network and a large history.
const LIMIT: Duration = Duration::from_secs(300);

/// Overrides of user settings that would run programs or write more than necessary.
#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
];

#[derive(Debug)]
pub(crate) struct GitRepository {
    folder: PathBuf,
    /// Variables of git to remove, because they would point it elsewhere.
    scrubbed: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct CommittedFile {
    /// Relative to the top of the repository.
    pub(crate) path: PathBuf,
    pub(crate) is_executable: bool,
    pub(crate) bytes: Vec<u8>,
}

impl GitRepository {
    pub(crate) fn at(folder: &Path) -> GitRepository {
        let variables = Environment::beginning_with("GIT_").into_iter();
        GitRepository {
            folder: folder.to_path_buf(),
            scrubbed: variables.map(|(name, _)| name).collect(),
        }
    }

    /// Resolves a revision to a commit.
    pub(crate) fn commit(&self, name: &str) -> Result<Option<String>, Complaint> {
        let name = format!("{name}^{{commit}}");
        let output = self.git(&["rev-parse", "--verify", "--quiet", &name], Vec::new())?;
        let commit = String::from_utf8_lossy(&output.stdout).trim().to_string();
        let is_known = output.status.success() && !commit.is_empty();
        Ok(is_known.then_some(commit))
    }

    /// The files of `commit` below these paths; a missing path has none.
    ///
    /// # Errors
    /// If there are links, submodules, misleading names, or too many files or bytes.
    pub(crate) fn files(
        &self,
        commit: &str,
        paths: &[String],
    ) -> Result<Vec<CommittedFile>, Complaint> {
        let mut words = vec!["ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--"];
        words.extend(paths.iter().map(String::as_str));
        let listed = self.read(&words, Vec::new())?;
        let mut entries = Vec::new();
        let mut objects = String::new();
        let mut bytes = 0;
        let lines = listed.split(|byte| *byte == 0);
        for line in lines.filter(|line| !line.is_empty()) {
            let entry = TreeLine::parse(line)
                .map_err(|cause| Complaint::new(format!("commit {commit}: {cause}")))?;
            bytes += entry.size as u64;
            objects.push_str(&format!("{}\n", entry.object));
            entries.push(entry);
            if entries.len() > MOST_FILES {
                let cause = format!("commit {commit} has more than {MOST_FILES} hook files");
                return Err(Complaint::new(cause));
            }
            if bytes > MOST_BYTES {
                let most = MOST_BYTES >> 20;
                let cause = format!(
                    "the hook files of commit {commit} are larger than {most} MiB in total"
                );
                return Err(Complaint::new(cause));
            }
        }
        let printed = self.read(&["cat-file", "--batch"], objects.into_bytes())?;
        let mut rest = printed.as_slice();
        let mut files = Vec::new();
        for entry in entries {
            let Some(bytes) = next_object(&mut rest, entry.size) else {
                let cause = format!("git did not print all files of commit {commit}");
                return Err(Complaint::new(cause));
            };
            files.push(CommittedFile {
                path: PathBuf::from(entry.path),
                is_executable: entry.is_executable,
                bytes,
            });
        }
        Ok(files)
    }

    /// Returns the output of a git command that must succeed.
    pub(crate) fn read(&self, words: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, Complaint> {
        let output = self.git(words, stdin)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let printed = plain(String::from_utf8_lossy(&output.stderr).trim());
        let cause = format!("`git {}` failed: {printed}", words[0]);
        Err(Complaint::new(cause))
    }

    pub(crate) fn git(&self, words: &[&str], stdin: Vec<u8>) -> Result<Output, Complaint> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let mut errand = Errand::new("git", settings.chain(words.iter().copied()), LIMIT);
        errand.stdin = stdin;
        errand.kept_bytes = MOST_BYTES + 256 * MOST_FILES as u64;
        for name in &self.scrubbed {
            errand.command.env_remove(name);
        }
        errand.command.current_dir(&self.folder);
        // The repository could name another one to fetch missing objects from, and no object may
        // replace another.
        let switches = ["GIT_NO_LAZY_FETCH", "GIT_NO_REPLACE_OBJECTS"];
        errand.command.envs(switches.map(|name| (name, "1")));
        errand.command.env("LC_ALL", "C");
        errand.command.env("GIT_TERMINAL_PROMPT", "0");
        let protocols = PROTOCOLS.join(":");
        errand.command.env("GIT_ALLOW_PROTOCOL", protocols);
        // Do not search for an enclosing repository.
        errand.command.env("GIT_DIR", &self.folder);
        let ended = errand.output().map_err(|error| {
            let cause = format!("cannot start git: {error}");
            let is_missing = error.kind() == io::ErrorKind::NotFound && self.folder.is_dir();
            let cure = is_missing.then(|| "install git".to_string());
            Complaint { cause, cure }
        })?;
        ended.ok_or_else(|| {
            let cause = format!("`git {}` did not finish within 5 minutes", words[0]);
            let cure = "if it needs a password, use an SSH agent or a credential helper";
            Complaint::with_cure(cause, cure)
        })
    }
}

/// Takes an object from the output of `git cat-file --batch`: header line, content, newline.
fn next_object(rest: &mut &[u8], size: usize) -> Option<Vec<u8>> {
    let start = rest.iter().position(|byte| *byte == b'\n')? + 1;
    let content = rest.get(start..start + size)?.to_vec();
    *rest = rest.get(start + size + 1..)?;
    Some(content)
}

/// A line of `git ls-tree -l`: mode, kind, object, size, a tab and the path.
struct TreeLine {
    path: String,
    object: String,
    size: usize,
    is_executable: bool,
}

impl TreeLine {
    fn parse(line: &[u8]) -> Result<TreeLine, String> {
        let line = String::from_utf8_lossy(line);
        let (head, path) = line.split_once('\t').unwrap_or_default();
        let shown = plain(path);
        let words: Vec<&str> = head.split_whitespace().collect();
        let &[mode, _, object, size] = words.as_slice() else {
            let line = plain(&line);
            return Err(format!("cannot parse this line of `git ls-tree`: `{line}`"));
        };
        let is_executable = match mode {
            "100644" | "100664" => false,
            "100755" => true,
            "120000" => return Err(format!("`{shown}` is a link, not a regular file")),
            "160000" => return Err(format!("`{shown}` is a submodule, not a file")),
            _ => return Err(format!("`{shown}` has the unsupported mode {mode}")),
        };
        if is_misleading(path) {
            return Err(format!(
                "the path `{shown}` contains `..`, `.git` or invalid characters"
            ));
        }
        Ok(TreeLine {
            path: path.to_string(),
            object: object.to_string(),
            size: size.parse().map_err(|_| format!("`{shown}` has no size"))?,
            is_executable,
        })
    }
}

/// Whether a path leaves the folder, or could be read as another one by a file system or a person.
fn is_misleading(path: &str) -> bool {
    path.contains(|c: char| c.is_control() || matches!(c, '\\' | '\u{fffd}'))
        || path
            .split('/')
            .any(|part| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git"))
}
