//! Interface to the staged content, which hooks see before a commit.
//!
//! The engine does not know git: a [`StagedText`] creates the folder and judges a hook's changes.

use std::fmt;
use std::path::{Path, PathBuf};

use super::spec::Hook;
use crate::engine::complaint::Complaint;
use crate::engine::event::Event;

impl Hook {
    /// Returns the event as it sees it; `None` if nothing changes in its scope.
    pub(crate) fn seen<'e>(&self, event: &'e Event) -> Option<&'e Event> {
        let Some(scope) = &self.scope else {
            return Some(event);
        };
        let mut folders = event.links()?.folders.iter();
        let own = folders.find(|(folder, _)| folder == scope);
        own.map(|(_, event)| event)
    }
}

pub(crate) trait StagedText: fmt::Debug + Send + Sync {
    /// Returns the folder in which `hook` finds the staged content of `files` (absolute paths on disk)
    /// instead of `usual`; `None` if that is `usual`. Fails if the folder cannot be created.
    fn enter(
        &self,
        hook: &Hook,
        files: &[PathBuf],
        usual: &Path,
    ) -> Result<Option<StagedFolder>, Complaint>;

    /// Takes the changes of `hook` in its folder. Fails if they cannot be determined.
    fn leave(
        &self,
        hook: &Hook,
        files: &[PathBuf],
        departure: Departure,
    ) -> Result<ChangeVerdict, Complaint>;
}

/// Working directory and environment of a hook that sees the staged content.
#[derive(Debug, Clone)]
pub(crate) struct StagedFolder {
    pub(crate) cwd: PathBuf,
    /// The top of the folder, which contains `cwd`, and of the working tree on disk.
    pub(crate) top: PathBuf,
    pub(crate) disk: PathBuf,
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl StagedFolder {
    pub(crate) fn find(&self, file: &Path) -> PathBuf {
        match file.strip_prefix(&self.disk) {
            Ok(below) => self.top.join(below),
            Err(_) => file.to_path_buf(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Departure {
    /// It allows the event.
    Content,
    /// It blocks after its first run.
    Blocked,
    /// It blocks its own changes.
    BlockedAgain,
    Failed,
}

/// The verdict about a hook's changes. By default they are allowed, or there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChangeVerdict {
    /// It blocked after changing its files, and must run again on the result.
    pub(crate) runs_again: bool,
    /// Reason to block a forbidden change.
    pub(crate) forbidden: Option<String>,
}
