//! The files of shared sets, and the store: a folder for each content, called by its digest.

use std::fs;
use std::path::{Path, PathBuf};

use super::trust::{self, FileList, HookFiles, TrustStore};
use crate::engine::harmless::plain;

/// The most files that a set may have.
pub(crate) const MOST_FILES: usize = 2000;

/// The most bytes that they may have together.
pub(crate) const MOST_BYTES: u64 = 16 * 1024 * 1024;

const SHA256: &str = "sha256:";

/// Where the set with this digest is kept.
pub(crate) fn folder_of(store: &Path, digest: &str) -> PathBuf {
    store.join(digest)
}

/// The digest of files in the order of their paths: 64 hexadecimal digits.
pub(crate) fn digest_of(files: &HookFiles) -> String {
    files.digest().trim_start_matches(SHA256).to_string()
}

/// The digest of the set in a folder of the store. The files are read only if they have changed
/// since it was last found.
///
/// # Errors
/// What cannot be read.
pub(crate) fn digest_in(folder: &Path, known: Option<&TrustStore>) -> Result<String, String> {
    let list = FileList::of(folder, &[PathBuf::new()]).map_err(|error| error.to_string())?;
    let digest = trust::digest_of(&list, &list.stamps(), known);
    let (digest, _) = digest.map_err(|error| error.to_string())?;
    Ok(digest.trim_start_matches(SHA256).to_string())
}

/// All files in a folder, but for a `.git` in it and what editors leave.
///
/// # Errors
/// What cannot be read, or is no part of a set: links, and more or larger files than one may have.
pub(crate) fn files_in(folder: &Path) -> Result<HookFiles, String> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| error.to_string())?;
    let names = entries
        .into_iter()
        .map(|entry| PathBuf::from(entry.file_name()));
    let parts: Vec<PathBuf> = names.filter(|name| name != Path::new(".git")).collect();
    let read = FileList::of(folder, &parts).and_then(|list| list.read());
    let read = read.map_err(|error| error.to_string())?;
    for file in &read.files {
        let path = file.path.to_str();
        let path = path.ok_or_else(|| format!("the name `{}` is not UTF-8", file.mark.path))?;
        if file.mark.link.is_some() {
            return Err(format!(
                "`{path}` is a link, and the files of a set are plain"
            ));
        }
    }
    check_size(
        read.files.len(),
        read.files.iter().map(|file| file.bytes.len() as u64).sum(),
    )?;
    Ok(read)
}

/// Refuses a path that leads elsewhere, or that a file system or a person could read as another.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    let is_strange =
        |part: &str| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git");
    let has_strange = path.contains(|c: char| c.is_control() || matches!(c, '\\' | '\u{fffd}'));
    if has_strange || path.split('/').any(is_strange) {
        return Err(format!("`{}` is no plain name", plain(path)));
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
