//! Stages and writes the fixes of an allowed event, which hooks made in the private folder.
//!
//! 1. Fixes are staged in the index that git commits, all or none, and then in the user's index if
//!    it is another one.
//! 2. A file on disk with the staged content is replaced. Unstaged changes are merged; after a
//!    conflict the file stays unchanged.
//!
//! Files are replaced atomically, after staging, so an interruption loses nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::git::EventGit;
use super::tree::{
    self, FileChange, IndexEntry, PrivateTree, failed, lines, names, read_line, shown, with_nul,
};
use crate::engine::complaint::Complaint;
use crate::engine::exec::command::FileStamp;

/// Number of attempts while the index is locked, and the pause between them.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

pub(super) type FixList = BTreeMap<PathBuf, Fix>;

#[derive(Debug, Clone)]
pub(super) struct Fix {
    blobs: [String; 2],
    hooks: BTreeSet<String>,
    stamp: Option<FileStamp>,
}

/// Adds the changes of `hook` in `tree`, and drops fixes that it has undone.
pub(super) fn add(fixes: &mut FixList, change: FileChange, tree: &PrivateTree, hook: &str) {
    let known = fixes.remove(&change.path);
    let mut fix = Fix {
        stamp: tree::stamp(&tree.top().join(&change.path)),
        blobs: change.blobs,
        hooks: BTreeSet::from([hook.to_string()]),
    };
    if let Some(known) = known {
        fix.hooks.extend(known.hooks);
        let [first, _] = known.blobs;
        fix.blobs[0] = first;
    }
    if fix.blobs[0] != fix.blobs[1] {
        fixes.insert(change.path, fix);
    }
}

/// Stages fixes and writes them to disk. Returns a one-line report. If staging fails, the disk is
/// unchanged.
pub(super) fn stage(
    git: &EventGit,
    tree: &mut PrivateTree,
    entries: &HashMap<PathBuf, IndexEntry>,
    fixes: &FixList,
) -> Result<String, Complaint> {
    // A later hook may have changed the files.
    let is_spoilt = fixes.iter().any(|(path, fix)| {
        let stamp = tree::stamp(&tree.top().join(path));
        stamp.is_none() || fix.stamp != stamp
    });
    if is_spoilt {
        tree.update(git)?;
    }
    let staging = Staging { git, tree, fixes };
    staging.stage_in(&tree.index)?;
    if let Some(own) = tree.index_of_person() {
        staging.stage_in(&own)?;
    }
    let mut merged = Vec::new();
    let mut left = Vec::new();
    for (path, fix) in fixes {
        match staging.write(path, fix, entries.get(path)) {
            Ok(OnDisk::Fixed) => {}
            Ok(OnDisk::Merged) => merged.push(path),
            Ok(OnDisk::Left(why)) => left.push(format!("{} ({why})", shown(path))),
            Err(complaint) => left.push(format!("{} ({complaint})", shown(path))),
        }
    }
    let hooks: BTreeSet<&String> = fixes.values().flat_map(|fix| &fix.hooks).collect();
    let hooks: Vec<&str> = hooks.into_iter().map(String::as_str).collect();
    let fixed = names(fixes.keys());
    let mut text = format!("{} fixed and staged {fixed}", hooks.join(", "));
    if !merged.is_empty() {
        let merged = names(merged.into_iter());
        text.push_str(&format!("; merged with unstaged changes: {merged}"));
    }
    if !left.is_empty() {
        text.push_str(&format!("; not changed on disk: {}", left.join(", ")));
    }
    Ok(text)
}

enum OnDisk {
    Fixed,
    Merged,
    Left(&'static str),
}

struct Staging<'s> {
    git: &'s EventGit,
    tree: &'s PrivateTree,
    fixes: &'s FixList,
}

impl Staging<'_> {
    /// Stages the fixed files, if the index still has the text that the hooks saw.
    fn stage_in(&self, index: &Path) -> Result<(), Complaint> {
        let call = |words: &[&str]| {
            let call = self.git.call(words).in_folder(&self.tree.work_tree);
            let call = call.variable("GIT_DIR", &self.tree.git_dir);
            call.variable("GIT_INDEX_FILE", index)
        };
        let listing = call(&["ls-files", "-z", "-v", "-s", "--full-name"]);
        let printed = listing.read("list the staged files")?;
        let mut input = Vec::new();
        let mut waiting: HashMap<&PathBuf, &Fix> = self.fixes.iter().collect();
        for line in lines(&printed) {
            let (_, mode, blob, path) = read_line(line)?;
            let Some(fix) = waiting.get(&path).copied() else {
                continue;
            };
            let [staged, fixed] = &fix.blobs;
            if blob == *staged {
                input.extend(format!("{mode} {fixed} 0\t").bytes());
                input.extend(with_nul(&path));
            } else if blob != *fixed {
                continue;
            }
            waiting.remove(&path);
        }
        if !waiting.is_empty() && index == self.tree.index {
            let names = names(waiting.into_keys());
            let cause = format!(
                "the index changed while hooks fixed {names}, so the fixes were not staged"
            );
            return Err(Complaint::with_cure(cause, "commit again"));
        }
        let mut lock = index.as_os_str().to_owned();
        lock.push(".lock");
        for _ in (1..TRIES).take_while(|_| Path::new(&lock).exists()) {
            thread::sleep(PAUSE);
        }
        let update = call(&["update-index", "-z", "--index-info"]).stdin(input);
        update.finished().read("stage the fixes")?;
        Ok(())
    }

    /// Writes a fixed file to disk. `entry` is its state before the hooks.
    fn write(
        &self,
        path: &Path,
        fix: &Fix,
        entry: Option<&IndexEntry>,
    ) -> Result<OnDisk, Complaint> {
        let file = self.tree.work_tree.join(path);
        let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
        let stamp = tree::stamp(&file).filter(|_| folder.as_deref() == file.parent());
        let Some(stamp) = stamp else {
            return Ok(OnDisk::Left("missing, below a link, or not a regular file"));
        };
        let fixed = self.tree.top().join(path);
        let fixed = fs::read(&fixed).map_err(failed("read", &fixed))?;
        let mut new = Some(fixed.as_slice());
        let mut done = OnDisk::Fixed;
        let merged;
        if !entry.is_some_and(|entry| entry.is_on_disk && entry.stamp == Some(stamp)) {
            let disk = fs::read(&file).map_err(failed("read", &file))?;
            let staged = self.staged_text(path, fix)?;
            if disk != staged && disk != fixed {
                merged = self.merge(&disk, &staged, &fixed)?;
                new = merged.as_deref();
                done = OnDisk::Merged;
            }
        }
        let Some(new) = new else {
            return Ok(OnDisk::Left("other changes in the same lines"));
        };
        replace(self.tree, &file, stamp, new)?;
        Ok(done)
    }

    /// Returns the staged content as git would write it to disk.
    fn staged_text(&self, path: &Path, fix: &Fix) -> Result<Vec<u8>, Complaint> {
        let mut of_path = OsString::from("--path=");
        of_path.push(path);
        let words = [OsStr::new("cat-file"), OsStr::new("--filters"), &of_path];
        let words = words.into_iter().chain([OsStr::new(&fix.blobs[0])]);
        let call = self.git.call(words).in_folder(&self.tree.work_tree);
        call.read("read the staged content")
    }

    /// Merges the disk's changes with the fix; `None` after a conflict.
    fn merge(
        &self,
        disk: &[u8],
        staged: &[u8],
        fixed: &[u8],
    ) -> Result<Option<Vec<u8>>, Complaint> {
        let names = ["disk", "base", "fixed"];
        for (name, text) in names.iter().zip([disk, staged, fixed]) {
            let file = self.tree.folder().join(name);
            fs::write(&file, text).map_err(failed("write", &file))?;
        }
        let words = ["merge-file", "-p", "-q"].iter().chain(&names);
        let call = self.git.call(words).in_folder(&self.tree.folder());
        let output = call.run("merge the fixed text")?;
        for name in names {
            let _ = fs::remove_file(self.tree.folder().join(name));
        }
        Ok(output.status.success().then_some(output.stdout))
    }
}

/// Replaces a file atomically if it still has this stamp. Keeps permissions and owner.
fn replace(
    tree: &PrivateTree,
    path: &Path,
    stamp: FileStamp,
    text: &[u8],
) -> Result<(), Complaint> {
    let new = tree.folder().join("new");
    write_like(path, &new, text).map_err(failed("write", &new))?;
    if tree::stamp(path) != Some(stamp) {
        return Err(Complaint::new("changed while the hooks ran"));
    }
    match fs::rename(&new, path) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let mut beside = path.as_os_str().to_owned();
            beside.push(".hookrun-new");
            let beside = PathBuf::from(beside);
            let moved = write_like(path, &beside, text).and_then(|()| fs::rename(&beside, path));
            moved.map_err(failed("write", path))
        }
        renamed => renamed.map_err(failed("write", path)),
    }
}

fn write_like(model: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::write(path, text)?;
    let meta = model.metadata()?;
    let own = path.metadata()?;
    if (meta.uid(), meta.gid()) != (own.uid(), own.gid()) {
        let _ = chown(path, Some(meta.uid()), Some(meta.gid()));
    }
    fs::set_permissions(path, meta.permissions())
}
