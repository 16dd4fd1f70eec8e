//! Path matchers: which part of a path a glob is compared with. Globs have bounds: on their depth
//! before they are read, on their size when they are compiled.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use regex::bytes;

use super::row::{MatcherError, Mismatch, PathBase, expression_error};
use crate::engine::event::{ActionKind, Event, action::Guesses};

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

/// What relative globs are relative to.
struct Bases<'a> {
    cwd: &'a Path,
    project: &'a Path,
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
        Ok(PathMatch {
            written: written.to_string(),
            glob,
            scope,
        })
    }

    fn fits(&self, absolute: &Path, Bases { cwd, project }: &Bases<'_>) -> bool {
        match self.scope {
            PathScope::Component => {
                // The folders above the project are not the tool's choice.
                let inside = [project, cwd]
                    .iter()
                    .find_map(|base| absolute.strip_prefix(base).ok())
                    .unwrap_or(absolute);
                inside
                    .components()
                    .any(|part| self.glob.is_match(part.as_os_str()))
            }
            PathScope::Absolute => self.glob.is_match(absolute),
            PathScope::Relative => [cwd, project]
                .iter()
                .filter_map(|base| absolute.strip_prefix(base).ok())
                .any(|relative| self.glob.is_match(relative)),
        }
    }
}

/// Whether `Matcher::path` would take `written`.
///
/// # Errors
/// As `Matcher::path`.
pub fn check_path(written: &str) -> Result<(), MatcherError> {
    let problem = |problem: &str| {
        Err(MatcherError {
            problem: problem.to_string(),
        })
    };
    match written {
        "" => return problem("it is empty"),
        _ if written.trim() != written => return problem("there are spaces around it"),
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
        _ if written.contains("//") => return problem("it has two slashes in a row"),
        _ if written.contains('|') => {
            return problem("alternatives are written {a,b}, or as a list");
        }
        _ => {}
    }
    path_glob(written).map(drop)
}

/// Whether one of the globs fits one of the paths that the tool names, or what they lead to.
pub(crate) fn decide_paths(
    wanted: &[PathMatch],
    event: &Event,
    place: &PathBase,
) -> Result<(), Mismatch> {
    if find_path(wanted, &[], event, place).is_some() {
        return Ok(());
    }
    let written: Vec<&str> = wanted.iter().map(|one| one.written.as_str()).collect();
    let found = event
        .action()
        .map_or_else(Vec::new, |action| action.paths.clone());
    Err(Mismatch::of("path", "path", written.join(", "), found))
}

/// The first path that one of the globs fits, or any where there are none, and that no glob of
/// `except` fits. At a gate any short text may be a path, and what was not looked at may be any; so
/// may the paths of a command line that cannot be read.
pub(super) fn find_path(
    wanted: &[PathMatch],
    except: &[PathMatch],
    event: &Event,
    place: &PathBase,
) -> Option<String> {
    let action = event.action()?;
    let is_gate = event.spec().blocks && !wanted.is_empty();
    let guesses = match is_gate {
        true => action.guessed_paths(event.context()),
        false => Guesses::default(),
    };
    let bases = Bases {
        cwd: &place.cwd,
        project: &place.project,
    };
    let fits = |path: &Path, bases: &Bases<'_>| {
        let fits = |globs: &[PathMatch]| globs.iter().any(|one| one.fits(path, bases));
        (wanted.is_empty() || fits(wanted)) && !fits(except)
    };
    let mut named = action.paths.iter().chain(&guesses.texts);
    if let Some(path) = named.find(|path| fits(&tidy(&place.cwd.join(path)), &bases)) {
        return Some(path.clone());
    }
    let unknown = || Some("a path that was not looked at".to_string());
    let is_unread = action.kind == ActionKind::Shell && action.line.doubt.is_some();
    if !guesses.is_whole || is_gate && is_unread {
        return unknown();
    }
    let links = event.links()?;
    if is_gate && !links.is_whole {
        return unknown();
    }
    let real = Bases {
        cwd: links.base(bases.cwd),
        project: links.base(bases.project),
    };
    let mut followed = action
        .resolved
        .iter()
        .map(Path::new)
        .chain(links.guesses.iter().map(PathBuf::as_path));
    followed
        .find(|path| fits(path, &real))
        .map(|path| path.to_string_lossy().into_owned())
}

/// A path without `.` and `..`, so that `src/../.env` cannot hide from a glob. No link is followed.
pub(crate) fn tidy(path: &Path) -> PathBuf {
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

/// How deep alternatives may be nested in a glob: reading them, and what they become, recurses.
pub(super) const MAX_GLOB_DEPTH: usize = 50;

/// A compiled glob. globset's own matcher panics if the expression that it makes is too large.
#[derive(Debug, Clone)]
pub(super) struct Glob(bytes::Regex);

impl Glob {
    /// # Errors
    /// When it is too large.
    pub(super) fn new(glob: &globset::Glob) -> Result<Glob, MatcherError> {
        let form = bytes::RegexBuilder::new(glob.regex())
            .dot_matches_new_line(true)
            .build();
        form.map(Glob)
            .map_err(|error| expression_error(&error.to_string()))
    }

    pub(super) fn is_match(&self, text: impl AsRef<OsStr>) -> bool {
        self.0.is_match(text.as_ref().as_bytes())
    }
}

/// Reads a glob for tool names.
pub(super) fn tool_glob(word: &str) -> Result<globset::Glob, MatcherError> {
    read_glob(
        word,
        GlobBuilder::new(word)
            .case_insensitive(true)
            .empty_alternates(true),
    )
}

/// Reads a glob for paths. As in a shell `{,x}` is nothing or `x`.
pub(super) fn path_glob(written: &str) -> Result<globset::Glob, MatcherError> {
    read_glob(
        written,
        GlobBuilder::new(written)
            .literal_separator(true)
            .empty_alternates(true),
    )
}

fn read_glob(written: &str, builder: &GlobBuilder<'_>) -> Result<globset::Glob, MatcherError> {
    let mut depth = 0_usize;
    for c in written.chars() {
        match c {
            '{' if depth == MAX_GLOB_DEPTH => {
                let problem = format!("it has braces deeper than {MAX_GLOB_DEPTH} levels");
                return Err(MatcherError { problem });
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    builder.build().map_err(|error| MatcherError {
        problem: error.to_string(),
    })
}
