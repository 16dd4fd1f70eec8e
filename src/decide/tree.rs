//! A private folder with the staged content, and the comparison of git's index with the disk.
//!
//! The folder is `hookrun/tree` in the working tree's git folder, with a separate index and a lock.
//! git updates it incrementally and overwrites what a killed run left there. git's own index is
//! only read.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::git::{EventGit, GitCall};
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::exec::command::{FileStamp, stamp_of};
use crate::engine::harmless::plain;
use crate::engine::hook::{Hook, StagedFolder, duration_text};

/// Time to wait for another run in the same working tree without a budget.
const WAITING: Duration = Duration::from_secs(30);

/// Maximum bytes of paths on a command line; with more, git lists all files.
const NAMED_BYTES: usize = 64 * 1024;

pub(crate) const LINKED: &[&str] = &["node_modules", ".venv"];

#[derive(Debug, Clone)]
pub(super) struct IndexEntry {
    /// Whether the disk certainly has the same text.
    pub(super) is_on_disk: bool,
    /// Whether git keeps it out of the working tree: it is skipped, or assumed unchanged.
    pub(super) is_skipped: bool,
    pub(super) stamp: Option<FileStamp>,
}

/// A file as it is now; any change of it gives another stamp. `None` if there is no file.
pub(super) fn stamp(path: &Path) -> Option<FileStamp> {
    let meta = path.symlink_metadata().ok()?;
    meta.is_file().then(|| stamp_of(&meta))
}

/// Compares the index entries of these files, relative to `top`, with the disk.
pub(super) fn compare(
    git: &EventGit,
    top: &Path,
    paths: &[PathBuf],
) -> Result<HashMap<PathBuf, IndexEntry>, Complaint> {
    let stamps = paths
        .iter()
        .map(|path| Some((path, stamp(&top.join(path))?)));
    let stamps: HashMap<&PathBuf, FileStamp> = stamps.flatten().collect();
    let listing = ["-c", "core.fsmonitor=false", "ls-files", "-z", "-v"];
    let kinds = ["-s", "-c", "-m", "-d", "--full-name", "--"];
    let mut words: Vec<&OsStr> = listing.iter().chain(&kinds).map(OsStr::new).collect();
    let named_bytes: usize = paths.iter().map(|path| path.as_os_str().len()).sum();
    if named_bytes <= NAMED_BYTES {
        words.extend(paths.iter().map(|path| path.as_os_str()));
    }
    let call = git.call(words).in_folder(top);
    let printed = call
        .variable("GIT_LITERAL_PATHSPECS", "1")
        .read("compare the staged files with the disk")?;
    let mut entries: HashMap<PathBuf, IndexEntry> = HashMap::new();
    for line in lines(&printed) {
        let (tag, _, _, path) = read_line(line)?;
        let is_known = entries.contains_key(&path);
        let entry = entries.entry(path).or_insert_with_key(|path| IndexEntry {
            is_on_disk: true,
            is_skipped: false,
            stamp: stamps.get(path).copied(),
        });
        // A second line marks a changed (`C`) or deleted (`R`) file. A lower-case tag means that
        // git assumes it unchanged.
        entry.is_skipped |= tag.eq_ignore_ascii_case(&b'S');
        entry.is_on_disk &= tag == b'H' && !is_known;
    }
    Ok(entries)
}

#[derive(Debug)]
pub(super) struct PrivateTree {
    pub(super) git_dir: PathBuf,
    /// The index of the commit, which may be temporary.
    pub(super) index: PathBuf,
    /// Top of the working tree, as git prints it.
    pub(super) work_tree: PathBuf,
    /// Tree of the commit, with the fixes so far.
    pub(super) now: String,
    /// The event's files that a sparse working tree lacks, each with a NUL.
    skipped: Vec<u8>,
    /// Hooks without fixes ran in it and may have changed files.
    pub(super) is_used: bool,
    /// A hook made changes in it that are not kept.
    pub(super) is_spoilt: bool,
    _lock: File,
}

impl PrivateTree {
    pub(super) fn open(
        git: &EventGit,
        top: &Path,
        skipped: Vec<u8>,
    ) -> Result<PrivateTree, Complaint> {
        let places = ["rev-parse", "--absolute-git-dir", "--show-toplevel"];
        let printed = git
            .call(places)
            .in_folder(top)
            .read("find the git directory")?;
        let mut places = printed.split(|byte| *byte == b'\n').map(path_of);
        let (Some(git_dir), Some(work_tree)) = (places.next(), places.next()) else {
            return Err(Complaint::new(
                "git did not report the git directory and the working tree",
            ));
        };
        let folder = git_dir.join("hookrun");
        fs::create_dir_all(folder.join("tree")).map_err(failed("create", &folder))?;
        let lock = lock(git, &folder.join("lock"))?;
        // Left by a killed run.
        for stale in ["staged.lock", "index.lock"] {
            let _ = fs::remove_file(folder.join(stale));
        }
        let variables = Environment::beginning_with("GIT_INDEX_FILE");
        let index = variables.iter().find(|(name, _)| name == "GIT_INDEX_FILE");
        let index = index.map(|(_, file)| top.join(file));
        let mut tree = PrivateTree {
            index: index.unwrap_or_else(|| git_dir.join("index")),
            git_dir,
            work_tree,
            now: String::new(),
            skipped,
            is_used: false,
            is_spoilt: false,
            _lock: lock,
        };
        tree.now = tree.staged(git)?;
        tree.update(git)?;
        Ok(tree)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.git_dir.join("hookrun")
    }

    /// Returns the user's index if git commits a temporary one, as for `git commit -- FILE`. It
    /// replaces the user's index afterwards.
    pub(super) fn index_of_person(&self) -> Option<PathBuf> {
        let name = self.index.file_name()?.to_str()?;
        let own = self.git_dir.join("index.lock");
        (name.starts_with("next-index-") && own.exists()).then_some(own)
    }

    pub(super) fn top(&self) -> PathBuf {
        self.folder().join("tree")
    }

    fn call<'g, A: AsRef<OsStr>>(
        &self,
        git: &'g EventGit,
        arguments: impl IntoIterator<Item = A>,
    ) -> GitCall<'g> {
        let settings = ["-c", "core.splitIndex=false", "-c", "core.fsmonitor=false"];
        let mut words: Vec<OsString> = settings.iter().map(OsString::from).collect();
        words.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        git.call(words)
            .in_folder(&self.top())
            .variable("GIT_DIR", &self.git_dir)
            .variable("GIT_WORK_TREE", self.top())
            .variable("GIT_INDEX_FILE", self.folder().join("index"))
    }

    fn staged(&self, git: &EventGit) -> Result<String, Complaint> {
        // Writing a tree writes to the index, so use a copy.
        let copy = self.folder().join("staged");
        if let Err(error) = fs::copy(&self.index, &copy) {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(failed("copy", &self.index)(error));
            }
            let _ = fs::remove_file(&copy);
        }
        let call = self.call(git, ["write-tree"]);
        let printed = call
            .variable("GIT_INDEX_FILE", copy)
            .read("write a tree of the staged files")?;
        Ok(String::from_utf8_lossy(&printed).trim().to_string())
    }

    /// Makes the folder contain exactly [`PrivateTree::now`], besides ignored files, which speed up
    /// tools.
    pub(super) fn update(&mut self, git: &EventGit) -> Result<(), Complaint> {
        let read = ["read-tree", "-u", "--reset", self.now.as_str()];
        let index = self.folder().join("index");
        if let Err(complaint) = self.call(git, read).writing().read(WRITE) {
            if git.is_aborted() || !index.exists() {
                return Err(complaint);
            }
            // A killed run may have left a damaged folder.
            fs::remove_file(&index).map_err(failed("delete", &index))?;
            fs::remove_dir_all(self.top()).map_err(failed("delete", &self.top()))?;
            fs::create_dir(self.top()).map_err(failed("create", &self.top()))?;
            self.call(git, read).writing().read(WRITE)?;
        }
        self.call(git, ["clean", "-ffdq"]).writing().read(WRITE)?;
        if !self.skipped.is_empty() {
            let words = ["checkout-index", "-f", "-z", "--stdin"];
            let words = words.iter().chain(&["--ignore-skip-worktree-bits"]);
            let call = self.call(git, words).stdin(self.skipped.clone());
            call.writing().read(WRITE)?;
        }
        self.is_used = false;
        self.is_spoilt = false;
        Ok(())
    }

    pub(super) fn enter(
        &mut self,
        git: &EventGit,
        hook: &Hook,
        usual: &Path,
        disk: &Path,
    ) -> Result<StagedFolder, Complaint> {
        if self.is_spoilt || (self.is_used && hook.fixes.is_some()) {
            self.update(git)?;
        }
        let usual = usual.canonicalize().map_err(failed("find", usual))?;
        let Ok(below) = usual.strip_prefix(&self.work_tree) else {
            let cause = format!("`{}` is not in the working tree", usual.display());
            let cure = "set `sees = \"disk\"` to run the hook there";
            return Err(Complaint::with_cure(cause, cure));
        };
        let cwd = self.top().join(below);
        if !cwd.is_dir() {
            let cause = format!("nothing in `{}` is staged", usual.display());
            return Err(Complaint::with_cure(
                cause,
                "stage a file in it, or set `sees = \"disk\"`",
            ));
        }
        self.link(hook, below)?;
        let variables = [
            ("GIT_DIR", &self.git_dir),
            ("GIT_WORK_TREE", &self.top()),
            ("GIT_INDEX_FILE", &self.index),
        ];
        let mut texts = vec![("GIT_OPTIONAL_LOCKS", "0".to_string())];
        for (name, path) in variables {
            let text = path.to_str().ok_or_else(|| {
                let cause = format!("the path `{}` is not UTF-8", path.display());
                Complaint::with_cure(cause, "rename the folder")
            })?;
            texts.push((name, text.to_string()));
        }
        Ok(StagedFolder {
            cwd,
            top: self.top(),
            disk: disk.to_path_buf(),
            variables: texts,
        })
    }

    fn link(&self, hook: &Hook, below: &Path) -> Result<(), Complaint> {
        let named = hook.link.clone();
        let named = named.unwrap_or_else(|| LINKED.iter().map(PathBuf::from).collect());
        for folder in named {
            let real = self.work_tree.join(below).join(&folder);
            let link = self.top().join(below).join(&folder);
            // A link from another run has the same target.
            if link.symlink_metadata().is_ok() || !real.exists() {
                continue;
            }
            let parent = link.parent().unwrap_or(&link);
            fs::create_dir_all(parent).map_err(failed("create", parent))?;
            symlink(&real, &link).map_err(failed("link", &real))?;
        }
        Ok(())
    }

    pub(super) fn changes(&self, git: &EventGit) -> Result<(String, Vec<FileChange>), Complaint> {
        const LIST: &str = "list the changes of a hook";
        self.call(git, ["add", "-u"]).writing().read(LIST)?;
        let printed = self.call(git, ["write-tree"]).read(LIST)?;
        let tree = String::from_utf8_lossy(&printed).trim().to_string();
        if tree == self.now {
            return Ok((tree, Vec::new()));
        }
        let words = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
        let words = words.into_iter().chain([self.now.as_str(), &tree]);
        let printed = self.call(git, words).read(LIST)?;
        let mut changes = Vec::new();
        let mut parts = lines(&printed);
        while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
            let change = FileChange::read(head, path_of(path));
            changes.push(change.ok_or_else(|| Complaint::new(format!("git cannot {LIST}")))?);
        }
        Ok((tree, changes))
    }
}

const WRITE: &str = "write the staged files";

#[derive(Debug, Clone)]
pub(super) struct FileChange {
    pub(super) path: PathBuf,
    modes: [String; 2],
    pub(super) blobs: [String; 2],
}

impl FileChange {
    /// Parses `:MODE MODE BLOB BLOB LETTER` of `git diff-tree`.
    fn read(head: &[u8], path: PathBuf) -> Option<FileChange> {
        let head = std::str::from_utf8(head).ok()?.strip_prefix(':')?;
        let mut words = head.split(' ').map(str::to_string);
        Some(FileChange {
            path,
            modes: [words.next()?, words.next()?],
            blobs: [words.next()?, words.next()?],
        })
    }

    pub(super) fn is_of_text(&self) -> bool {
        self.modes.iter().all(|mode| mode.starts_with("100"))
    }
}

fn lock(git: &EventGit, path: &Path) -> Result<File, Complaint> {
    let file = File::create(path).map_err(failed("open", path))?;
    // The remaining time is for the error message.
    let patience = git.left(WAITING).mul_f32(0.9);
    let until = Instant::now() + patience;
    git.heartbeat.expect_within(patience);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed("lock", path)(error)),
            Err(TryLockError::WouldBlock) if Instant::now() < until && !git.is_aborted() => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let time = git.budget.map_or(WAITING, |budget| budget.whole);
                let cause = format!(
                    "another commit in this working tree was still being checked after {}",
                    duration_text(time)
                );
                let cure = format!(
                    "wait until it is done; its hookrun process holds the lock `{}`",
                    path.display()
                );
                return Err(Complaint::with_cure(cause, cure));
            }
        }
    }
}

/// Splits git's `-z` output.
pub(super) fn lines(printed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = printed.split(|byte| *byte == 0);
    parts.filter(|part| !part.is_empty())
}

/// Parses tag, mode, blob and path in a line of `git ls-files -v -s`.
pub(super) fn read_line(line: &[u8]) -> Result<(u8, String, String, PathBuf), Complaint> {
    let tab = line.iter().position(|byte| *byte == b'\t');
    let (head, path) = line.split_at(tab.unwrap_or_default());
    let head = String::from_utf8_lossy(head).into_owned();
    let mut words = head.split(' ');
    match (words.next(), words.next(), words.next(), path.get(1..)) {
        (Some(tag), Some(mode), Some(blob), Some(path)) if tag.len() == 1 => {
            let path = path_of(path);
            Ok((tag.as_bytes()[0], mode.to_string(), blob.to_string(), path))
        }
        _ => {
            let cause = format!("cannot parse this line from git: `{head}`");
            Err(Complaint::new(cause))
        }
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

pub(super) fn with_nul(path: &Path) -> Vec<u8> {
    let mut bytes = path.as_os_str().as_bytes().to_vec();
    bytes.push(0);
    bytes
}

pub(super) fn failed(what: &str, path: &Path) -> impl Fn(io::Error) -> Complaint {
    move |error| Complaint::new(format!("cannot {what} `{}`: {error}", path.display()))
}

pub(super) fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

pub(super) fn names<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> String {
    const SHOWN: usize = 5;
    let all: BTreeSet<&PathBuf> = paths.collect();
    let shown: Vec<String> = all.iter().take(SHOWN).map(|path| shown(path)).collect();
    let names = shown.join(", ");
    match all.len().saturating_sub(SHOWN) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
