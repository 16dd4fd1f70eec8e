//! What managers of hooks do with the hooks that they find, and where they look for theirs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dialects::git::GitHook;

use super::change::read;
use super::shim;
use crate::cli::exit::Result;

/// What managers of hooks call a hook that they have found: the end of its name, and whether they
/// run it. Sources: pre-commit's `install` and `hook-impl`; lefthook's `install`.
const ASIDE: &[(&str, bool)] = &[(".legacy", true), (".old", false)];

/// The shims that a manager has put aside, and whether it runs them.
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
    hooks.ends_with(".husky/_").then(|| hooks.parent()).flatten()
}

/// What asks hookrun in a hook of husky.
pub(super) fn husky_line(name: &str) -> String {
    format!("hookrun run --host git {name} -- \"$@\"")
}

/// Whether a hook of husky asks hookrun.
pub(super) fn asks_by_husky(hooks: &Path, name: &str) -> bool {
    let text = husky_folder(hooks).and_then(|folder| fs::read_to_string(folder.join(name)).ok());
    let asks = format!(" run --host git {name}");
    text.is_some_and(|text| text.lines().any(|line| line.contains(&asks) && !line.starts_with('#')))
}
