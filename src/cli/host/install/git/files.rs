//! The files of git's hooks, and what managers of hooks do with those that they find.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::hosts::git::GitHook;

use super::shim::{self, KEPT_ENDING};
use crate::cli::exit::{Result, failed};

pub(super) fn kept_beside(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_os_string();
    path.push(KEPT_ENDING);
    PathBuf::from(path)
}

/// A file's bytes; `None` if there is nothing. A link to nothing is there, and empty.
pub(super) fn read(file: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(file.symlink_metadata().is_ok().then(Vec::new))
        }
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(failed(format!("cannot read `{}`", file.display()))(error)),
    }
}

pub(super) fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0o111)
}

/// What managers of hooks call a hook that they have found: the end of its name, and whether they
/// run it. Sources: pre-commit's `install` and `hook-impl`; lefthook's `install`.
const ASIDE: &[(&str, bool)] = &[(".legacy", true), (".old", false)];

pub(super) fn put_aside(folder: &Path, hook: &GitHook) -> Result<Vec<(PathBuf, bool)>> {
    let mut found = Vec::new();
    for (ending, runs) in ASIDE {
        let file = folder.join(format!("{}{ending}", hook.name));
        if read(&file)?.is_some_and(|bytes| shim::is_shim(&bytes)) {
            found.push((file, *runs));
        }
    }
    Ok(found)
}

/// The folder of husky's hooks that people write, where git looks into the one that husky writes.
pub(super) fn husky_folder(hooks: &Path) -> Option<&Path> {
    hooks
        .ends_with(".husky/_")
        .then(|| hooks.parent())
        .flatten()
}

pub(super) fn husky_line(name: &str) -> String {
    format!("hookrun run --host git {name} -- \"$@\"")
}

pub(super) fn asks_by_husky(hooks: &Path, name: &str) -> bool {
    let text = husky_folder(hooks).and_then(|folder| fs::read_to_string(folder.join(name)).ok());
    let asks = format!(" run --host git {name}");
    text.is_some_and(|text| {
        text.lines()
            .any(|line| line.contains(&asks) && !line.starts_with('#'))
    })
}
