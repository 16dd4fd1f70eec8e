//! A hook that may start warm, and what its process is limited to.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::command::Program;
use super::confine::ProcessBounds;
use super::spawn::Spawn;
use crate::engine::run::ColdReason;

/// The least number of files that a kept interpreter must be able to have open, with some to spare.
const LEAST_FILES: u64 = 32;

/// A hook that may start warm.
#[derive(Debug, Clone, Copy)]
pub(super) struct WarmHook<'a> {
    /// Its own program; that of `spawn` may set its bounds first.
    pub(super) program: &'a Program,
    pub(super) spawn: &'a Spawn<'a>,
    pub(super) bounds: Option<WarmBounds<'a>>,
}

/// What the process of a hook is limited to from its start, and the program that sees to that. An
/// interpreter is limited in the same way, and so are the processes that it forks.
#[derive(Debug, Clone, Copy)]
pub(super) struct WarmBounds<'a> {
    pub(super) bounds: &'a ProcessBounds,
    pub(super) own: &'a Path,
}

impl WarmBounds<'_> {
    /// What tells them apart from others: also which files their paths name just now.
    ///
    /// # Errors
    /// When no interpreter can be kept in them.
    pub(super) fn key(self) -> Result<String, ColdReason> {
        let bounds = self.bounds;
        if bounds.has_namespace || bounds.limits.files.is_some_and(|files| files < LEAST_FILES) {
            return Err(ColdReason::Bounds);
        }
        let rules = bounds.rules.iter();
        let paths = rules.flat_map(|rules| rules.read.iter().flatten().chain(&rules.write));
        let inode = |path: &PathBuf| path.metadata().ok().map(|found| (found.dev(), found.ino()));
        let inodes: Vec<_> = paths.map(inode).collect();
        Ok(format!("{bounds:?} {inodes:?}"))
    }

    /// The program that sets them and then becomes `interpreter`.
    pub(super) fn around(self, interpreter: &Program) -> io::Result<Program> {
        self.bounds
            .around(self.own, interpreter)
            .map_err(io::Error::other)
    }
}
