//! The text that a hook sees and may change where git is about to make a commit: the staged text.
//!
//! The engine knows no git. The program around it brings a [`StagedText`], which makes the folder
//! and judges what a hook has changed there.

use std::fmt;
use std::path::{Path, PathBuf};

use super::spec::Hook;
use crate::engine::ending::StartError;

/// The staged text of one event, for its hooks.
pub(crate) trait StagedText: fmt::Debug + Send + Sync {
    /// The folder in which `hook` finds the staged text of `files`, which are absolute paths on the
    /// disk, instead of `usual`; `None` if it is there.
    ///
    /// # Errors
    /// Why the folder cannot be made.
    fn enter(
        &self,
        hook: &Hook,
        files: &[PathBuf],
        usual: &Path,
    ) -> Result<Option<StagedFolder>, StartError>;

    /// Takes what `hook` has changed in its folder.
    ///
    /// # Errors
    /// Why that cannot be told.
    fn leave(
        &self,
        hook: &Hook,
        files: &[PathBuf],
        departure: Departure,
    ) -> Result<ChangeVerdict, StartError>;
}

/// Where a hook runs that sees the staged text.
#[derive(Debug, Clone)]
pub(crate) struct StagedFolder {
    pub(crate) cwd: PathBuf,
    /// The top of the folder, which contains `cwd`, and of the work tree on the disk.
    pub(crate) top: PathBuf,
    pub(crate) disk: PathBuf,
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl StagedFolder {
    /// The path in this folder of a file on the disk.
    pub(crate) fn find(&self, file: &Path) -> PathBuf {
        match file.strip_prefix(&self.disk) {
            Ok(below) => self.top.join(below),
            Err(_) => file.to_path_buf(),
        }
    }
}

/// How a hook has left its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Departure {
    /// It lets the event pass.
    Content,
    /// It blocks, after its first run.
    Blocked,
    /// It blocks what it left behind itself.
    BlockedAgain,
    Failed,
}

/// The verdict about a hook's changes. By default they are allowed, or there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChangeVerdict {
    /// It blocks after it has changed its files: it must run again on what it made of them.
    pub(crate) runs_again: bool,
    /// It has changed what it may not change: the reason to block.
    pub(crate) forbidden: Option<String>,
}
