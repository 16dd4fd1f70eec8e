//! Path matchers: which part of a path a glob is compared with.

use std::path::{Component, Path, PathBuf};

use super::glob::{Glob, path_glob};
use super::{MatcherError, Mismatch, Place};
use crate::engine::event::Event;

#[derive(Debug, Clone)]
pub(crate) struct PathMatch {
    pub(crate) written: String,
    glob: Glob,
    scope: PathScope,
}

/// What a path glob is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathScope {
    /// Each component of the path: the glob has no slash.
    Component,
    /// The path relative to the working directory and to the project.
    Relative,
    /// The absolute path.
    Absolute,
}

impl PathMatch {
    /// # Errors
    /// When the glob is not valid.
    pub(crate) fn read(written: &str) -> Result<PathMatch, MatcherError> {
        check_path(written)?;
        let mut pattern = written.trim_start_matches("./").to_string();
        if pattern.len() > 1 && pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let scope = match pattern.find('/') {
            None => PathScope::Component,
            Some(0) => PathScope::Absolute,
            Some(_) => PathScope::Relative,
        };
        let glob = Glob::new(&path_glob(&pattern)?)?;
        Ok(PathMatch { written: written.to_string(), glob, scope })
    }

    fn fits(&self, absolute: &Path, place: &Place) -> bool {
        match self.scope {
            PathScope::Component => {
                // What stands above the project is not the tool's choice.
                let inside = [&place.project, &place.cwd]
                    .iter()
                    .find_map(|base| absolute.strip_prefix(base).ok())
                    .unwrap_or(absolute);
                inside.components().any(|part| self.glob.is_match(part.as_os_str()))
            }
            PathScope::Absolute => self.glob.is_match(absolute),
            PathScope::Relative => [&place.cwd, &place.project]
                .iter()
                .filter_map(|base| absolute.strip_prefix(base).ok())
                .any(|relative| self.glob.is_match(relative)),
        }
    }
}

/// Whether `Matcher::path` would take `written`.
///
/// # Errors
/// As it.
pub fn check_path(written: &str) -> Result<(), MatcherError> {
    let problem = |problem: &str| Err(MatcherError { problem: problem.to_string() });
    match written {
        "" => return problem("it is empty"),
        _ if written.trim() != written => return problem("spaces stand around it"),
        _ if written.starts_with('~') => {
            return problem("`~` is not expanded; write the whole path");
        }
        _ if written.starts_with('!') => return problem("a glob cannot be turned round"),
        _ if matches!(written.trim_start_matches("./"), "" | ".") => {
            return problem("it matches nothing");
        }
        _ if written
            .trim_start_matches("./")
            .split('/')
            .any(|part| part == ".." || part == ".") =>
        {
            return problem("paths are compared without `.` and `..`");
        }
        _ if written.contains("//") => return problem("two slashes stand together"),
        _ if written.contains('|') => {
            return problem("alternatives are written {a,b}, or as a list");
        }
        _ => {}
    }
    path_glob(written).map(drop)
}

/// Whether one of the globs fits one of the paths that the tool names.
pub(crate) fn decide_paths(
    wanted: &[PathMatch],
    event: &Event,
    place: &Place,
) -> Result<(), Mismatch> {
    let found = event.action().map(|action| action.paths.clone()).unwrap_or_default();
    // Where a gate's tool names no path by a key that is known, any short text may be one.
    let guessed = match event.action() {
        Some(action) if event.spec().blocks => action.guessed_paths(event.context()),
        Some(_) | None => Vec::new(),
    };
    for path in found.iter().chain(&guessed) {
        let absolute = tidy(&place.cwd.join(path));
        if wanted.iter().any(|one| one.fits(&absolute, place)) {
            return Ok(());
        }
    }
    let written: Vec<&str> = wanted.iter().map(|one| one.written.as_str()).collect();
    Err(Mismatch::Path { wanted: written.join(", "), found })
}

/// A path without `.` and `..`, so that `src/../.env` cannot hide from a glob. Links are not
/// followed: matching does no I/O.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => tidy.push(part),
        }
    }
    tidy
}
