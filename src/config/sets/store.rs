//! The files of sets: read with limits, and known by the digest of all of them.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The most files that a set may have.
pub(crate) const MOST_FILES: usize = 2000;

/// The most bytes that they may have together.
pub(crate) const MOST_BYTES: u64 = 16 * 1024 * 1024;

const DEEPEST: usize = 16;

/// A file of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetFile {
    /// Below the set's folder, divided by `/`.
    pub(crate) path: String,
    pub(crate) is_executable: bool,
    pub(crate) content: Vec<u8>,
}

/// Where the set with this digest is kept.
pub(crate) fn folder_of(store: &Path, digest: &str) -> PathBuf {
    store.join(digest)
}

/// The digest of files: SHA-256 over the path, the permission to run and the SHA-256 of each, in
/// the byte order of their paths. 64 hexadecimal digits.
pub(crate) fn digest_of(files: &[SetFile]) -> String {
    let mut sorted: Vec<&SetFile> = files.iter().collect();
    sorted.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    let mut all = Sha256::new();
    for SetFile { path, is_executable, content } in sorted {
        let mode = if *is_executable { "x" } else { "-" };
        all.update(format!("{path}\0{mode}\0{}\n", sha256(content)));
    }
    hex(&all.finalize())
}

/// The SHA-256 of a content, in hexadecimal digits.
pub(crate) fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All files in a folder, but for a `.git` in it.
///
/// # Errors
/// What cannot be read, or is no part of a set: links, and more or larger files than one may have.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<SetFile>, String> {
    let mut found = FolderFiles::default();
    walk(folder, "", 0, &mut found)?;
    Ok(found.files)
}

#[derive(Default)]
struct FolderFiles {
    files: Vec<SetFile>,
    bytes: u64,
}

fn walk(folder: &Path, above: &str, depth: usize, found: &mut FolderFiles) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot read `{}`: {error}", folder.display());
    if depth > DEEPEST {
        return Err(format!("`{above}` is deeper than {DEEPEST} folders"));
    }
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let Ok(name) = entry.file_name().into_string() else {
            return Err(format!("a name in `{}` is not UTF-8", folder.display()));
        };
        let path = format!("{above}{name}");
        let kind = entry.file_type().map_err(cannot)?;
        if kind.is_dir() {
            if path != ".git" {
                walk(&entry.path(), &format!("{path}/"), depth + 1, found)?;
            }
            continue;
        }
        if !kind.is_file() {
            return Err(format!("`{path}` is a link, and the files of a set are plain"));
        }
        let meta = entry.metadata().map_err(cannot)?;
        let mut content = Vec::new();
        let opened = fs::File::open(entry.path()).map_err(cannot)?;
        opened.take(MOST_BYTES + 1).read_to_end(&mut content).map_err(cannot)?;
        let is_executable = meta.permissions().mode() & 0o111 != 0;
        found.bytes += content.len() as u64;
        found.files.push(SetFile { path, is_executable, content });
        check_size(found.files.len(), found.bytes)?;
    }
    Ok(())
}

/// Refuses more files, or larger ones, than a set may have.
pub(crate) fn check_size(files: usize, bytes: u64) -> Result<(), String> {
    if files > MOST_FILES {
        return Err(format!("it has more than {MOST_FILES} files"));
    }
    if bytes > MOST_BYTES {
        return Err(format!("it has more than {} MiB", MOST_BYTES >> 20));
    }
    Ok(())
}
