//! Who else may write a file of hooks, and so decide what runs.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const WRITE_BY_OTHERS: u32 = 0o002;
const SEARCH_BY_OTHERS: u32 = 0o001;
const STICKY: u32 = 0o1000;

/// Whether every user may write a file, or put other files into a folder, and can reach it. A
/// folder above it that only its owner may enter keeps the others out.
pub fn is_open_to_everyone(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| everyone_may_write(path, &meta))
}

/// The same, for a path that was just looked at.
pub fn everyone_may_write(path: &Path, meta: &Metadata) -> bool {
    let mode = meta.permissions().mode();
    let is_open = mode & WRITE_BY_OTHERS != 0 && !(meta.is_dir() && mode & STICKY != 0);
    is_open && can_be_reached(path)
}

fn can_be_reached(path: &Path) -> bool {
    // An unknown folder counts as reachable.
    let Ok(path) = path.canonicalize() else {
        return true;
    };
    path.ancestors().skip(1).all(|folder| {
        folder.metadata().map_or(true, |meta| {
            meta.permissions().mode() & SEARCH_BY_OTHERS != 0
        })
    })
}

/// What to do about it.
pub fn cure(path: &Path) -> String {
    let path = path.to_string_lossy();
    format!(
        "run `chmod o-w {}`; a umask of 0000 makes such files: set 0022 before they are written",
        shell_words::quote(&path)
    )
}
