//! Which repository a folder belongs to: what is trusted in one work tree is trusted in all of them.
//!
//! Told from the files alone: git is not run, and no variable (`GIT_DIR`) has a say. A
//! `.git` file that leads elsewhere than git makes it lead is none.

use std::fs;
use std::path::{Path, PathBuf};

/// The longest `.git` file that is read, in bytes.
const LONGEST_LINK: u64 = 4096;

/// A repository, and the folder in which its work tree begins.
pub(super) struct Origin {
    /// The folder that all its work trees share; outside git the folder of the hooks itself.
    pub(super) identity: PathBuf,
    pub(super) root: PathBuf,
}

/// The repository of a folder, whose path is canonical.
pub(super) fn find(folder: &Path) -> Origin {
    let found = folder.ancestors().find_map(|root| {
        let git = root.join(".git");
        let identity = match git.symlink_metadata().ok()?.is_file() {
            true => common_folder(&git, &linked_folder(root, &git)?)?,
            false => git.canonicalize().ok()?,
        };
        Some(Origin {
            identity,
            root: root.to_path_buf(),
        })
    });
    let itself = || Origin {
        identity: folder.to_path_buf(),
        root: folder.to_path_buf(),
    };
    found.unwrap_or_else(itself)
}

/// The folder that a `.git` file names, as that of a linked work tree or a submodule does.
fn linked_folder(root: &Path, git: &Path) -> Option<PathBuf> {
    let text = short_text(git)?;
    root.join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize()
        .ok()
}

/// The folder of the repository that a `.git` file leads to: of the main work tree, if `folder` is
/// that of a linked one, which names the file in turn; else of a submodule, which is in the folder
/// of a repository around it. `None` for anything else.
fn common_folder(file: &Path, folder: &Path) -> Option<PathBuf> {
    let Some(common) = short_text(&folder.join("commondir")) else {
        let mut around = file
            .ancestors()
            .skip(2)
            .map(|up| up.join(".git").canonicalize());
        let is_in = |git: PathBuf| folder.starts_with(git.join("modules"));
        return around
            .any(|git| git.is_ok_and(is_in))
            .then(|| folder.to_path_buf());
    };
    let named = short_text(&folder.join("gitdir"))?;
    let is_named = folder.join(named.trim()).canonicalize().ok()? == file.canonicalize().ok()?;
    let common = folder.join(common.trim()).canonicalize().ok()?;
    (is_named && folder.starts_with(common.join("worktrees"))).then_some(common)
}

fn short_text(file: &Path) -> Option<String> {
    let is_short = file
        .metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_LINK);
    if is_short {
        fs::read_to_string(file).ok()
    } else {
        None
    }
}
