//! The store of approvals, outside every repository: a folder for each repository with a record for
//! each content. Only its owner may write there.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::files::{ContentFile, FileMark, HookFiles, ListedFile, MOST_BYTES, read_up_to};
use crate::config::env::Environment;
use crate::config::reader::open_plain;
use crate::engine::exec::command::{everyone_may_write, is_open_to_everyone};
use crate::engine::names::hex;

const VERSION: u32 = 1;

/// The longest text kept to show changes later, in bytes.
const LONGEST_KEPT: usize = 256 * 1024;

const FOLDERS: &str = "folders";
const SEEN: &str = "seen";
const FOLLOWED: &str = "followed";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustedBy {
    /// A person ran `hookrun trust`.
    Person,
    /// The caller of `hookrun trust --digest` knew the digest.
    Digest,
    /// A hookrun command wrote it into trusted content.
    Command,
    /// It matches the tip of the followed branch.
    Branch,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrustRecord {
    pub v: u32,
    /// The git folder that all worktrees share.
    pub repository: PathBuf,
    pub folder: PathBuf,
    pub digest: String,
    pub files: Vec<FileMark>,
    pub when: SystemTime,
    pub by: TrustedBy,
}

impl TrustRecord {
    /// The sorted paths of new, changed and removed files.
    pub fn changed<'m>(&'m self, now: &'m HookFiles) -> BTreeSet<&'m str> {
        let now: BTreeSet<&FileMark> = now.files.iter().map(|file| &file.mark).collect();
        let then: BTreeSet<&FileMark> = self.files.iter().collect();
        now.symmetric_difference(&then)
            .map(|mark| mark.path.as_str())
            .collect()
    }
}

/// A remote branch whose hooks a user trusts: merged content was reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowedBranch {
    /// `origin/main`.
    pub branch: String,
    /// Its last commit; later tips must descend from it.
    pub tip: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    folder: PathBuf,
}

impl TrustStore {
    /// The store in the state home; `None` without a home folder.
    pub fn of(env: &Environment) -> Option<TrustStore> {
        let folder = env.state_home.as_ref()?.join("hookrun").join("trust");
        Some(TrustStore { folder })
    }

    fn of_repository(&self, repository: &Path) -> PathBuf {
        self.folder
            .join(short_digest(repository.as_os_str().as_bytes()))
    }

    fn record(&self, repository: &Path, digest: &str) -> PathBuf {
        self.of_repository(repository)
            .join(format!("{}.json", digest.replace(':', "-")))
    }

    /// Whether this content of a repository is trusted. World-writable records do not count.
    pub fn is_trusted(&self, repository: &Path, digest: &str) -> bool {
        counts(&self.record(repository, digest))
    }

    pub fn followed(&self, repository: &Path) -> Option<FollowedBranch> {
        let file = self.of_repository(repository).join(FOLLOWED);
        serde_json::from_slice(&read(&file)?).ok()
    }

    /// Stores the branch that a repository follows.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn follow(&self, repository: &Path, branch: &FollowedBranch) -> io::Result<()> {
        let file = self.of_repository(repository).join(FOLLOWED);
        write(&file, &serde_json::to_vec(branch)?)
    }

    /// Stores an approval, with the texts to show changes later.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn trust(
        &self,
        repository: &Path,
        folder: &Path,
        set: &HookFiles,
        by: TrustedBy,
    ) -> io::Result<()> {
        for file in &set.files {
            let kept = self.text(&file.mark.content);
            let is_text = std::str::from_utf8(&file.bytes).is_ok();
            if is_text && (1..=LONGEST_KEPT).contains(&file.bytes.len()) && !kept.exists() {
                write(&kept, &file.bytes)?;
            }
        }
        let record = TrustRecord {
            v: VERSION,
            repository: repository.to_path_buf(),
            folder: folder.to_path_buf(),
            digest: set.digest(),
            files: set.files.iter().map(|file| file.mark.clone()).collect(),
            when: SystemTime::now(),
            by,
        };
        let text = serde_json::to_vec_pretty(&record)?;
        write(&self.record(&record.repository, &record.digest), &text)?;
        self.remember(folder, repository);
        Ok(())
    }

    /// Removes a repository's approvals, this folder's mark and the followed branch. Returns the
    /// number of approvals.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn forget(&self, repository: &Path, folder: &Path) -> io::Result<usize> {
        let own = self.of_repository(repository);
        let records = files_in(&own);
        for file in &records {
            fs::remove_file(file)?;
        }
        remove(&own.join(FOLLOWED))?;
        remove(&self.mark(folder))?;
        remove(&self.note(folder))?;
        for mark in fs::read_dir(self.folder.join(FOLDERS))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = fs::read(mark.path()).unwrap_or_default();
            if name == repository.as_os_str().as_bytes() {
                remove(&mark.path())?;
            }
        }
        Ok(records.len())
    }

    pub fn has_records(&self, repository: &Path) -> bool {
        let folder = self.of_repository(repository);
        !files_in(&folder).is_empty() || may_be_there(&folder) && fs::read_dir(&folder).is_err()
    }

    fn mark(&self, folder: &Path) -> PathBuf {
        self.folder.join(FOLDERS).join(name_of(folder))
    }

    fn note(&self, folder: &Path) -> PathBuf {
        self.folder.join(SEEN).join(name_of(folder))
    }

    /// The files of a folder when they were read last. World-writable notes do not count.
    pub(super) fn seen(&self, folder: &Path) -> Option<SeenFiles> {
        SeenFiles::from_bytes(&read(&self.note(folder))?)
    }

    /// Notes the files of a folder, so that later events need not read all of them.
    pub(super) fn note_seen(&self, folder: &Path, seen: &SeenFiles) {
        let note = self.note(folder);
        if let Err(error) = write(&note, &seen.to_bytes()) {
            tracing::debug!(%error, "cannot record the files");
        }
    }

    pub fn had_hooks(&self, folder: &Path) -> bool {
        may_be_there(&self.mark(folder))
    }

    /// Remembers that a folder has trusted hooks, to notice their removal.
    pub fn remember(&self, folder: &Path, repository: &Path) {
        let mark = self.mark(folder);
        if mark.exists() {
            return;
        }
        if let Err(error) = write(&mark, repository.as_os_str().as_bytes()) {
            tracing::debug!(%error, "cannot record that there are hooks");
        }
    }

    /// The last trusted content of this folder, or of another worktree that shares a file.
    pub fn latest(&self, repository: &Path, folder: &Path, set: &HookFiles) -> Option<TrustRecord> {
        let files = files_in(&self.of_repository(repository)).into_iter();
        let texts = files.filter_map(|file| fs::read(file).ok());
        let records = texts.filter_map(|text| serde_json::from_slice::<TrustRecord>(&text).ok());
        let is_in = |mark: &FileMark| set.files.iter().any(|file| file.mark.path == mark.path);
        let is_of_set =
            |record: &TrustRecord| set.files.is_empty() || record.files.iter().any(is_in);
        let is_here = |record: &TrustRecord| record.folder == folder;
        let records = records.filter(|record| is_here(record) || is_of_set(record));
        records.max_by_key(|record| (is_here(record), is_of_set(record), record.when))
    }

    fn text(&self, sha256: &str) -> PathBuf {
        self.folder.join("texts").join(sha256)
    }

    /// The copy of a trusted script, which only its owner can change; `None` if it cannot be written.
    pub(super) fn copy_of(&self, script: &ContentFile) -> Option<PathBuf> {
        let copy = self.text(&script.mark.content);
        if read(&copy).as_ref() != Some(&script.bytes) {
            write(&copy, &script.bytes).ok()?;
            read(&copy).filter(|bytes| *bytes == script.bytes)?;
        }
        Some(copy)
    }

    pub fn trusted_text(&self, sha256: &str) -> Option<String> {
        fs::read_to_string(self.text(sha256)).ok()
    }
}

/// Whether a path exists, or cannot be looked at.
fn may_be_there(path: &Path) -> bool {
    path.try_exists()
        .unwrap_or_else(|error| error.kind() != io::ErrorKind::NotADirectory)
}

/// Whether a file exists and only its owner could write it.
fn counts(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| is_own(file, &meta))
}

fn is_own(file: &Path, meta: &Metadata) -> bool {
    meta.is_file()
        && !everyone_may_write(file, meta)
        && !file.parent().is_some_and(is_open_to_everyone)
}

/// The content of a file that only its owner could write.
fn read(file: &Path) -> Option<Vec<u8>> {
    let open = open_plain(file).ok()?;
    let is_own = is_own(file, &open.metadata().ok()?);
    read_up_to(&open, MOST_BYTES).ok().filter(|_| is_own)
}

/// The name of the files about a folder.
fn name_of(folder: &Path) -> String {
    short_digest(folder.as_os_str().as_bytes())
}

/// A prefix of a SHA-256, for the name of a folder.
fn short_digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..16])
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect()
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let part = folder.join(format!(".{name}.{}", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&part)
        .and_then(|mut open| open.write_all(bytes))
        .and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// The content of a set's files and their stamps when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SeenFiles {
    pub(super) digest: String,
    /// A line for each file.
    lines: String,
    pub(super) stamps: Vec<u8>,
}

impl SeenFiles {
    pub(super) fn of(files: &HookFiles, stamps: Vec<u8>) -> SeenFiles {
        let lines = files.files.iter().map(|file| file.mark.line() + "\n");
        SeenFiles {
            digest: files.digest(),
            lines: lines.collect(),
            stamps,
        }
    }

    /// Reads the files of a set for which `is_read`; `None` unless their content and the stamps of all
    /// files are the same. Lists no folder: another name in one changes its stamp.
    pub(super) fn read_again(
        &self,
        folder: &Path,
        parts: &[PathBuf],
        is_read: impl Fn(&Path) -> bool,
    ) -> Option<HookFiles> {
        let mut files = Vec::new();
        let mut left = MOST_BYTES;
        let mut lines = self.lines.lines();
        let mut known_parts = 0;
        let mut rest = &self.stamps[..];
        let mut now = Vec::new();
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            let name = OsStr::from_bytes(&rest[..end]);
            let path = Path::new(name);
            let file = ListedFile::at(folder, path, folder.join(path).symlink_metadata()).ok()?;
            now.clear();
            file.add_stamps(name, &mut now);
            rest = rest.strip_prefix(&now[..])?;
            known_parts += usize::from(parts.iter().any(|part| part.as_os_str() == name));
            if file.is_plain_folder() {
                continue;
            }
            let line = lines.next();
            if is_read(path) {
                let file = file.read(folder, path, false, &mut left).ok()?;
                if line != Some(&file.mark.line()) {
                    return None;
                }
                files.push(file);
            }
        }
        (known_parts == parts.len()).then_some(HookFiles { files })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\n{}\0", self.digest, self.lines).into_bytes();
        bytes.extend(&self.stamps);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<SeenFiles> {
        // No line contains it: bytes other than ASCII are escaped.
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let text = str::from_utf8(&bytes[..end]).ok()?;
        let (digest, lines) = text.split_once('\n')?;
        Some(SeenFiles {
            digest: digest.to_string(),
            lines: lines.to_string(),
            stamps: bytes[end + 1..].to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::{FileList, WRITTEN_BACK};
    use super::*;

    #[test]
    fn opened_files_are_read_and_unopened_ones_known_by_their_stamps() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["hooks.d/tool.pre", "hooks.d/lib"] {
            fs::create_dir_all(folder.path().join(part)).unwrap();
        }
        let [opened, unopened] = ["hooks.d/tool.pre/guard.sh", "hooks.d/lib/common.sh"];
        fs::write(folder.path().join(opened), "exit 0\n").unwrap();
        fs::write(folder.path().join(unopened), "true\n").unwrap();
        let parts = [PathBuf::from("hooks.d")];
        let list = FileList::of(folder.path(), &parts).unwrap();
        let files = list.read().unwrap();
        let matches = |seen: &SeenFiles| {
            let again = seen.read_again(folder.path(), &parts, |path| {
                !path.starts_with("hooks.d/lib")
            });
            again.is_some()
        };

        let seen = SeenFiles::of(&files, list.stamps());
        assert!(matches(&seen));
        assert_eq!(SeenFiles::from_bytes(&seen.to_bytes()), Some(seen));
        // As after a write through shared memory.
        for (changed, is_known) in [(opened, false), (unopened, true)] {
            let mut other = files.clone();
            let at = |file: &&mut ContentFile| file.path == Path::new(changed);
            other.files.iter_mut().find(at).unwrap().mark.content = "0".repeat(64);
            let seen = SeenFiles::of(&other, list.stamps());
            assert_eq!(matches(&seen), is_known, "{changed}");
        }
        let mut stamps = list.stamps();
        *stamps.last_mut().unwrap() ^= 1;
        assert!(!matches(&SeenFiles::of(&files, stamps)));
        let now = SystemTime::now();
        assert!(!list.is_settled(now));
        // As after the clock was set back.
        assert!(!list.changed_within(now - 2 * WRITTEN_BACK, now - WRITTEN_BACK));
    }
}
