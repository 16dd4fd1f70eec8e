//! Where the links in an event's paths lead. Matching reads no disk, so it gets this.

use std::path::{Path, PathBuf};

/// What was found on the disk about the paths of an event.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Folders that relative globs mean: as they are named, and with links followed.
    pub(crate) bases: Vec<(PathBuf, PathBuf)>,
    /// Where the texts lead that may each be a path, though no key says so.
    pub(crate) guesses: Vec<PathBuf>,
    /// Whether every path was followed: of very many none is.
    pub(crate) is_whole: bool,
    /// Whether every text that may be a path is among the guesses.
    pub(crate) has_all_guesses: bool,
}

impl Links {
    /// The folder that is called `named`, with links followed.
    pub(crate) fn base<'a>(&'a self, named: &'a Path) -> &'a Path {
        let known = self.bases.iter().find(|(name, _)| name == named);
        known.map_or(named, |(_, real)| real)
    }
}
