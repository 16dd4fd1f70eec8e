//! The files of a hook set, and the digest of their relevant content. Test cases, and comments in
//! TOML that hookrun itself reads, decide nothing, so changing them needs no approval.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::de::DeTable;

use super::parts::has_relative_interpreter;
use crate::config::layer::{DROP_INS, HIDDEN, LOCAL, MANIFEST, RESERVED, SUITES};
use crate::config::reader::open_plain;
use crate::config::tree::Tree;
use crate::engine::exec::command::{FileStamp, MOST_LINKS, stamp_of};
use crate::engine::names::hex;

/// Larger sets are rejected, because each file is checked for every event.
const MOST_FILES: usize = 10_000;
pub(super) const MOST_BYTES: u64 = 256 << 20;
const DEEPEST: usize = 32;

/// Hidden files of editors and desktops, which no shell glob matches.
const OF_EDITORS: &[&str] = &[
    ".swp",
    ".swo",
    ".swx",
    ".kate-swp",
    ".DS_Store",
    ".directory",
    ".localized",
];

fn is_of_editor(name: &[u8]) -> bool {
    name.starts_with(b".#")
        || name.starts_with(b".") && OF_EDITORS.iter().any(|end| name.ends_with(end.as_bytes()))
}

fn is_of_suites(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == SUITES)
        && path
            .parent()
            .is_some_and(|folder| folder.ends_with(DROP_INS) || folder.ends_with(HIDDEN))
}

/// Whether a file of a set counts for trust.
pub(super) fn counts_for_trust(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    !is_of_editor(name.as_bytes()) && !path.ancestors().any(is_of_suites)
}

/// The SHA-256 of the part of a file's content that counts for trust.
pub(super) fn counted_content(path: &Path, bytes: &[u8]) -> String {
    if is_read_as_toml(path)
        && let Some(text) = without_comments(bytes)
    {
        return hex(&Sha256::digest(text));
    }
    hex(&Sha256::digest(bytes))
}

/// Whether hookrun itself reads a file: a `hookrun.toml`, or rules in an event folder.
fn is_read_as_toml(path: &Path) -> bool {
    let mut names = path.iter().rev();
    let name = names.next().unwrap_or_default();
    let folder = names.next().unwrap_or_default();
    let is_of_event = names.next().is_some_and(|above| above == DROP_INS)
        && !RESERVED.iter().any(|reserved| folder == *reserved)
        && path.extension().is_some_and(|ending| ending == "toml");
    name == MANIFEST || name == LOCAL || is_of_event
}

/// A document's values without comments and whitespace; `None` if it is not TOML.
fn without_comments(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (document, errors) = DeTable::parse_recoverable(text);
    if text.starts_with("#!") || !errors.is_empty() {
        return None;
    }
    Some(format!("toml {}", Tree::of_toml(&document).to_json()))
}

/// Why a set cannot be checked, and so is untrusted.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error("{} cannot be read: {error}", .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} is neither a file nor a folder", .0.display())]
    Special(PathBuf),
    #[error("hookrun found more than {MOST_FILES} hook files in {}", .0.display())]
    TooLarge(PathBuf),
    #[error("hookrun found folders more than {DEEPEST} levels deep in {}", .0.display())]
    TooDeep(PathBuf),
    #[error("the first line of {} names a program or script by a relative path, which every working directory resolves differently; use an absolute path, or for a program in PATH `#!/usr/bin/env NAME`", .0.display())]
    RelativeInterpreter(PathBuf),
    #[error("the files of {} are larger than {} MiB in total", .0.display(), MOST_BYTES >> 20)]
    TooLong(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedFile {
    /// The targets of the link at its path, and of the link there, and so on.
    links: Vec<(PathBuf, FileStamp)>,
    kind: FileKind,
    stamp: FileStamp,
    is_program: bool,
}

impl ListedFile {
    /// Looks at the file at `path` in `folder`. `own` is about a link, not its target.
    pub(super) fn at(
        folder: &Path,
        path: &Path,
        own: io::Result<Metadata>,
    ) -> Result<ListedFile, SetError> {
        let unreadable = |error| SetError::Unreadable {
            path: folder.join(path),
            error,
        };
        let mut meta = there(own).map_err(unreadable)?;
        let mut links = Vec::new();
        let mut at = folder.join(path);
        while let Some(own) = meta.as_ref().filter(|meta| meta.is_symlink()) {
            if links.len() == MOST_LINKS {
                return Err(unreadable(Errno::LOOP.into()));
            }
            let target = fs::read_link(&at).map_err(unreadable)?;
            links.push((target.clone(), stamp_of(own)));
            at = at.parent().unwrap_or(folder).join(target);
            meta = there(at.symlink_metadata()).map_err(unreadable)?;
        }
        let kind = match &meta {
            None => FileKind::Missing,
            Some(meta) if meta.is_file() => FileKind::File,
            Some(meta) if meta.is_dir() => FileKind::Folder,
            Some(_) => return Err(SetError::Special(folder.join(path))),
        };
        Ok(ListedFile {
            links,
            kind,
            stamp: meta.as_ref().map(stamp_of).unwrap_or_default(),
            is_program: kind == FileKind::File && meta.is_some_and(|meta| meta.mode() & 0o100 != 0),
        })
    }

    /// Reads it, with at most `left` bytes. All content of an exact file counts.
    pub(super) fn read(
        &self,
        folder: &Path,
        path: &Path,
        is_exact: bool,
        left: &mut u64,
    ) -> Result<ContentFile, SetError> {
        let mut bytes = Vec::new();
        let content = match self.kind {
            FileKind::Folder => "folder".to_string(),
            FileKind::Missing => "missing".to_string(),
            FileKind::File => {
                let whole = folder.join(path);
                bytes = open_plain(&whole)
                    .and_then(|file| read_up_to(&file, *left))
                    .map_err(|error| SetError::Unreadable { path: whole, error })?;
                *left = left
                    .checked_sub(bytes.len() as u64)
                    .ok_or_else(|| SetError::TooLong(folder.to_path_buf()))?;
                if self.is_program && has_relative_interpreter(&bytes) {
                    return Err(SetError::RelativeInterpreter(folder.join(path)));
                }
                if is_exact {
                    hex(&Sha256::digest(&bytes))
                } else {
                    counted_content(path, &bytes)
                }
            }
        };
        let mut mark = FileMark::of(path, self.is_program, content);
        mark.link = self.links.first().map(|(to, _)| escaped(to));
        Ok(ContentFile {
            path: path.to_path_buf(),
            mark,
            bytes,
        })
    }

    /// Adds its stamps: equal bytes mean an equal file.
    pub(super) fn add_stamps(&self, path: &OsStr, bytes: &mut Vec<u8>) {
        add_stamp(bytes, path, &self.stamp);
        let kind = [self.kind as i64, i64::from(self.is_program), 0, 0, 0];
        add_stamp(bytes, OsStr::new(""), &kind);
        for (to, stamp) in &self.links {
            add_stamp(bytes, to.as_os_str(), stamp);
        }
    }

    /// Whether it is a folder and no link to one: its files are listed too.
    pub(super) fn is_plain_folder(&self) -> bool {
        self.kind == FileKind::Folder && self.links.is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    File,
    Folder,
    /// Named by a command or a link, but missing.
    Missing,
}

/// The files of a set at one moment, without their content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileList {
    folder: PathBuf,
    /// Whether all content of every file counts, as in a shared set.
    is_exact: bool,
    /// By path, in byte order, which is compared faster than that of paths.
    listed: BTreeMap<OsString, ListedFile>,
}

impl FileList {
    /// Lists the files below `parts` that count for trust; a missing part is listed as missing.
    ///
    /// # Errors
    /// If one is unreadable or neither file nor folder, or there are too many.
    pub fn of(folder: &Path, parts: &[PathBuf]) -> Result<FileList, SetError> {
        FileList::new(folder, parts, false)
    }

    /// Lists all files of a folder.
    ///
    /// # Errors
    /// As for [`of`](FileList::of).
    pub fn exactly(folder: &Path) -> Result<FileList, SetError> {
        FileList::new(folder, &[PathBuf::new()], true)
    }

    fn new(folder: &Path, parts: &[PathBuf], is_exact: bool) -> Result<FileList, SetError> {
        let mut list = FileList {
            folder: folder.to_path_buf(),
            is_exact,
            listed: BTreeMap::new(),
        };
        for part in parts {
            let meta = folder.join(part).symlink_metadata();
            list.add(folder, part, meta, 0)?;
        }
        Ok(list)
    }

    fn add(
        &mut self,
        folder: &Path,
        path: &Path,
        own: io::Result<Metadata>,
        depth: usize,
    ) -> Result<(), SetError> {
        if self.listed.contains_key(path.as_os_str()) {
            return Ok(());
        }
        if self.listed.len() >= MOST_FILES {
            return Err(SetError::TooLarge(folder.to_path_buf()));
        }
        if depth > DEEPEST {
            return Err(SetError::TooDeep(folder.to_path_buf()));
        }
        let listed = ListedFile::at(folder, path, own)?;
        let kind = listed.kind;
        self.listed.insert(path.as_os_str().to_os_string(), listed);
        if kind != FileKind::Folder {
            return Ok(());
        }
        let unreadable = |error| SetError::Unreadable {
            path: folder.join(path),
            error,
        };
        for entry in fs::read_dir(folder.join(path)).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let is_folder = entry.file_type().map_err(unreadable)?.is_dir();
            let name = entry.file_name();
            if !is_folder && is_of_editor(name.as_bytes()) {
                continue;
            }
            let child = path.join(&name);
            if self.is_exact || !is_of_suites(&child) {
                self.add(folder, &child, entry.metadata(), depth + 1)?;
            }
        }
        Ok(())
    }

    #[must_use]
    pub fn has_files(&self) -> bool {
        self.listed.values().any(|listed| !listed.is_plain_folder())
    }

    /// The stamps of all files: equal bytes mean equal content.
    #[must_use]
    pub fn stamps(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.listed.len() * 128);
        for (path, file) in &self.listed {
            file.add_stamps(path, &mut bytes);
        }
        bytes
    }

    /// Whether a file changed in this time. A second change within milliseconds keeps the stamp.
    #[must_use]
    pub fn changed_within(&self, from: SystemTime, to: SystemTime) -> bool {
        let range = nanoseconds(from)..=nanoseconds(to);
        let links = self.listed.values().flat_map(|listed| &listed.links);
        let stamps = links.map(|(_, stamp)| stamp);
        let mut stamps = stamps.chain(self.listed.values().map(|listed| &listed.stamp));
        stamps.any(|[.., changed]| range.contains(changed))
    }

    /// Whether the content can be known by the stamps from now on: no file changed for a minute, and
    /// the folder's file system, which has all of them, writes changes back, so that a write through
    /// shared memory leaves a stamp.
    #[must_use]
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let device = self.folder.metadata().map_or(0, |it| it.dev());
        let mut files = self.listed.values();
        let last = now + Duration::from_secs(u64::from(u32::MAX));
        !self.changed_within(now - WRITTEN_BACK, last)
            && writes_back(&self.folder)
            && files.all(|file| {
                file.kind == FileKind::Missing || file.stamp[0].cast_unsigned() == device
            })
    }

    /// Reads every file.
    ///
    /// # Errors
    /// If one cannot be read, or the total size is too large.
    pub fn read(&self) -> Result<HookFiles, SetError> {
        let mut left = MOST_BYTES;
        let mut files = Vec::new();
        for (path, listed) in &self.listed {
            if !listed.is_plain_folder() {
                let path = Path::new(path);
                files.push(listed.read(&self.folder, path, self.is_exact, &mut left)?);
            }
        }
        Ok(HookFiles { files })
    }
}

/// Reads a file of at most `most` bytes, or one byte more.
pub(super) fn read_up_to(file: &File, most: u64) -> io::Result<Vec<u8>> {
    // A spare byte shows the end without another buffer.
    let room = file.metadata()?.len().min(most) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The time after which Linux has written a changed page to its disk: 30 s by default
/// (`vm.dirty_expire_centisecs`). Until then another write through shared memory leaves no stamp.
pub(super) const WRITTEN_BACK: Duration = Duration::from_secs(60);

/// Whether a folder's file system stamps each write after it has written the page back, which one in
/// memory never does.
#[cfg(target_os = "linux")]
fn writes_back(folder: &Path) -> bool {
    /// ext4, XFS, Btrfs and F2FS, from `linux/magic.h`.
    const ON_DISK: [i64; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010];
    rustix::fs::statfs(folder).is_ok_and(|system| ON_DISK.contains(&system.f_type))
}

#[cfg(not(target_os = "linux"))]
fn writes_back(_folder: &Path) -> bool {
    false
}

fn nanoseconds(moment: SystemTime) -> i64 {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn add_stamp(bytes: &mut Vec<u8>, path: &OsStr, stamp: &FileStamp) {
    bytes.extend(path.as_bytes());
    // No path contains it.
    bytes.push(0);
    for number in stamp {
        bytes.extend(number.to_ne_bytes());
    }
}

/// `None` if the file does not exist.
fn there(found: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    use io::ErrorKind::{NotADirectory, NotFound};

    match found {
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        found => found.map(Some),
    }
}

/// The files of a set with their content.
#[derive(Debug, Clone, Default)]
pub struct HookFiles {
    pub files: Vec<ContentFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFile {
    /// Relative to the set's folder; `..` leads to files that a command names beside it.
    pub path: PathBuf,
    pub mark: FileMark,
    /// Its content; empty unless it is a file.
    pub bytes: Vec<u8>,
}

impl ContentFile {
    pub(crate) fn plain(path: PathBuf, is_program: bool, bytes: Vec<u8>) -> ContentFile {
        let mark = FileMark::of(&path, is_program, hex(&Sha256::digest(&bytes)));
        ContentFile { path, mark, bytes }
    }

    pub(crate) fn is_program(&self) -> bool {
        self.mark.mode == PROGRAM
    }
}

const PROGRAM: &str = "755";

fn escaped(path: &Path) -> String {
    path.as_os_str().as_bytes().escape_ascii().to_string()
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileMark {
    /// Relative, with bytes other than ASCII escaped.
    pub path: String,
    /// `755` if executable by its owner, else `644`, as in git.
    pub mode: String,
    /// The SHA-256 of the relevant content; `folder` for a link to a folder, whose files have marks
    /// too; `missing` for a missing target of a command or link.
    pub content: String,
    pub link: Option<String>,
}

impl FileMark {
    fn of(path: &Path, is_program: bool, content: String) -> FileMark {
        let mode = if is_program { PROGRAM } else { "644" };
        FileMark {
            path: escaped(path),
            mode: mode.to_string(),
            content,
            link: None,
        }
    }

    pub(super) fn line(&self) -> String {
        let link: String = self.link.iter().map(|to| format!("\t{to}")).collect();
        format!("{}\t{}\t{}{link}", self.mode, self.content, self.path)
    }
}

impl HookFiles {
    pub(crate) fn of(mut files: Vec<ContentFile>) -> HookFiles {
        files.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        HookFiles { files }
    }

    /// `sha256:` and the SHA-256 of a line for each file, independent of location and owners.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for file in &self.files {
            hash.update(file.mark.line());
            hash.update("\n");
        }
        format!("sha256:{}", hex(&hash.finalize()))
    }
}
