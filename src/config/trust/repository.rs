//! Which repository a folder belongs to: what is trusted in one work tree is trusted in all of them.
//!
//! Told from the files alone: git is not run, and no variable (`GIT_DIR`) has a say. Nothing is
//! gained by a forged `.git`: content is trusted only together with its repository.

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
            true => common_folder(&linked_folder(root, &git)?),
            false => git.canonicalize().ok()?,
        };
        Some(Origin { identity, root: root.to_path_buf() })
    });
    let itself = || Origin { identity: folder.to_path_buf(), root: folder.to_path_buf() };
    found.unwrap_or_else(itself)
}

/// The folder that a `.git` file names, as that of a linked work tree or a submodule does.
fn linked_folder(root: &Path, git: &Path) -> Option<PathBuf> {
    let text = short_text(git)?;
    root.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// The folder of the main work tree's repository, where `git` is that of a linked one.
fn common_folder(git: &Path) -> PathBuf {
    let common = short_text(&git.join("commondir"));
    let common = common.and_then(|text| git.join(text.trim()).canonicalize().ok());
    common.unwrap_or_else(|| git.to_path_buf())
}

fn short_text(file: &Path) -> Option<String> {
    let is_short = file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_LINK);
    if is_short { fs::read_to_string(file).ok() } else { None }
}
