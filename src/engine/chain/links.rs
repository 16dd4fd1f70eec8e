//! Follows links in an event's paths before any hook runs: the action will open their targets.
//!
//! Paths need not exist: for a missing file the nearest existing folder counts. A path stays as
//! written if its links form a loop or a folder is unreadable, since no program can open it either.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::surroundings::Surroundings;
use crate::engine::event::action::{Effect, FileMode, Guesses, PathChange};
use crate::engine::event::{Event, FileFacts, Links};
use crate::engine::exec::command::{MOST_LINKS, first_bytes};
use crate::engine::hook::Hook;
use crate::engine::hook::matcher::{kind, named_path, tidy};

/// Maximum names in all paths of one event, below the project and behind links. Looking up this
/// many takes about 50 ms.
const MOST_NAMES: usize = 65_536;

/// Returns `event` with its links followed, also for hooks with a scope. Does nothing without hooks
/// or paths, or if links were followed before.
pub fn follow(event: Event, hooks: &[Arc<Hook>], surroundings: &Surroundings) -> Event {
    if hooks.is_empty() || event.links().is_some() {
        return event;
    }
    let mut folders: Vec<(PathBuf, Event)> = Vec::new();
    for folder in hooks.iter().filter_map(|hook| hook.scope.as_ref()) {
        if folders.iter().any(|(known, _)| known == folder) {
            continue;
        }
        let cwd = surroundings.place(&event).cwd;
        if let Some(own) = event.in_folder(folder, &cwd) {
            let own = with_links(own, hooks, surroundings, Vec::new());
            folders.push((folder.clone(), own));
        }
    }
    with_links(event, hooks, surroundings, folders)
}

fn with_links(
    event: Event,
    hooks: &[Arc<Hook>],
    surroundings: &Surroundings,
    folders: Vec<(PathBuf, Event)>,
) -> Event {
    let Some(action) = event.action() else {
        return event;
    };
    let needs_paths = hooks.iter().any(|hook| hook.matcher.needs_paths());
    let needs_types = hooks.iter().any(|hook| hook.matcher.needs_types());
    let needs_files = needs_types || hooks.iter().any(|hook| hook.takes_files());
    let is_known = action.paths.is_empty() || !action.resolved.is_empty();
    if is_known && !needs_paths && !needs_files {
        return event;
    }
    let is_guessed = needs_paths && event.spec().blocks;
    let mut guessed = Guesses::default();
    if is_guessed {
        guessed = action.guessed_paths(event.given());
    }
    if action.paths.is_empty() && action.effects.is_empty() && !is_guessed {
        return event;
    }
    let place = surroundings.place(&event);
    let mut walk = Walk {
        cwd: &place.cwd,
        home: surroundings.home.as_deref(),
        bases: Vec::new(),
        names_left: MOST_NAMES,
    };
    if !(action.paths.is_empty() && action.effects.is_empty() && guessed.texts.is_empty()) {
        if needs_paths {
            for root in hooks.iter().filter_map(|hook| hook.root.as_deref()) {
                walk.add_base(root);
            }
            walk.add_base(&place.project);
        }
        walk.add_base(&place.cwd);
    }
    // A host with files elsewhere reports the link targets itself.
    let mut paths = action.paths.as_slice();
    if !action.resolved.is_empty() {
        paths = &[];
    }
    let resolved = walk.ends(paths);
    let guesses = walk.ends(&guessed.texts);
    let mut is_whole = resolved.is_some() && guesses.is_some();
    let mut effects = Vec::new();
    for effect in action.effects.iter().filter(|_| needs_paths) {
        let named = named_path(&effect.path, &place);
        let path = match named.strip_prefix(&place.cwd) {
            Ok(below) if effect.path.starts_with('~') => below.to_string_lossy().into_owned(),
            _ => named.to_string_lossy().into_owned(),
        };
        let Some(ends) = walk.ends(&[path]) else {
            is_whole = false;
            break;
        };
        effects.extend(ends.into_iter().map(|end| Effect {
            path: end.to_string_lossy().into_owned(),
            ..effect.clone()
        }));
    }
    let resolved = resolved.unwrap_or_default();
    let links = Links {
        bases: walk.bases,
        is_whole,
        effects,
        guesses: guesses.unwrap_or_default(),
        has_all_guesses: !guessed.is_cut,
        files: if !event.changes().is_empty() && needs_types {
            // They need not be on disk.
            let files = PathChange::files(event.changes()).into_iter();
            look_at(files.map(|one| (place.cwd.join(&one.file), one.mode == FileMode::Executable)))
        } else if event.changes().is_empty() && needs_files {
            let named = action.paths.iter().map(|path| place.cwd.join(path));
            look_at(named.chain(resolved.iter().cloned()).filter_map(with_mode))
        } else {
            HashMap::new()
        },
        folders,
    };
    let texts = resolved.iter().map(|path| path.to_string_lossy().into());
    event.with_links(texts.collect(), links)
}

/// Reads the facts about files, of which it is known whether they are executable.
fn look_at(files: impl Iterator<Item = (PathBuf, bool)>) -> HashMap<PathBuf, FileFacts> {
    let seen = files.map(|(path, is_executable)| {
        let is_read = kind::needs_content(&path) && path.is_file();
        let start = is_read.then(|| first_bytes(&path)).flatten();
        let facts = FileFacts {
            is_executable,
            start,
        };
        (path, facts)
    });
    seen.collect()
}

/// Returns whether a file is executable; `None` if it is none.
fn with_mode(path: PathBuf) -> Option<(PathBuf, bool)> {
    let meta = path.metadata().ok().filter(Metadata::is_file)?;
    Some((path, meta.permissions().mode() & 0o111 != 0))
}

struct Walk<'s> {
    cwd: &'s Path,
    home: Option<&'s Path>,
    bases: Vec<(PathBuf, PathBuf)>,
    names_left: usize,
}

enum Stuck {
    Closed,
    TooMany,
}

impl Walk<'_> {
    fn add_base(&mut self, named: &Path) {
        if self.bases.iter().all(|(known, _)| known != named) {
            let real = self.real(named).unwrap_or_else(|_| tidy(named));
            self.bases.push((named.to_path_buf(), real));
        }
    }

    /// Returns the targets of these paths in order, then other places that some may mean. `None` if
    /// there are too many.
    fn ends(&mut self, paths: &[String]) -> Option<Vec<PathBuf>> {
        let mut found = Vec::with_capacity(paths.len());
        let mut besides = Vec::new();
        for path in paths {
            let absolute = self.cwd.join(path);
            let end = self.end(&absolute)?;
            // Programs that resolve `..` in the text reach a different file than the kernel does.
            let mut parts = absolute.components();
            if parts.any(|part| part == Component::ParentDir) {
                let other = self.end(&tidy(&absolute))?;
                besides.extend((other != end).then_some(other));
            }
            let below_home = path.strip_prefix("~/").or((path == "~").then_some(""));
            if let (Some(below), Some(home)) = (below_home, self.home) {
                besides.push(self.end(&home.join(below.trim_start_matches('/')))?);
            }
            found.push(end);
        }
        found.append(&mut besides);
        Some(found)
    }

    fn end(&mut self, absolute: &Path) -> Option<PathBuf> {
        match self.real(absolute) {
            Ok(real) => Some(real),
            Err(Stuck::Closed) => Some(tidy(absolute)),
            Err(Stuck::TooMany) => None,
        }
    }

    fn real(&mut self, absolute: &Path) -> Result<PathBuf, Stuck> {
        let known = self.bases.iter().find_map(|(named, real)| {
            let below = absolute.strip_prefix(named).ok()?;
            Some((real.clone(), below))
        });
        let (mut done, rest) = known.unwrap_or_else(|| (PathBuf::from("/"), absolute));
        let mut left = reversed(rest);
        let mut links = 0;
        let mut is_missing = false;
        while let Some(part) = left.pop() {
            self.names_left = self.names_left.checked_sub(1).ok_or(Stuck::TooMany)?;
            if part == ".." {
                done.pop();
                is_missing = false;
                continue;
            }
            done.push(part);
            if is_missing {
                continue;
            }
            match std::fs::read_link(&done) {
                Ok(_) if links == MOST_LINKS => return Err(Stuck::Closed),
                Ok(target) => {
                    links += 1;
                    done.pop();
                    if target.is_absolute() {
                        done = PathBuf::from("/");
                    }
                    left.append(&mut reversed(&target));
                }
                Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                Err(error) if is_nothing(&error) => is_missing = true,
                Err(_) => return Err(Stuck::Closed),
            }
        }
        Ok(done)
    }
}

fn is_nothing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn reversed(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<OsString> = named.collect();
    names.reverse();
    names
}
