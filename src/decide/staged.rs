//! Lets hooks see the staged content in a private folder ([`tree`](super::tree)), so that the user's
//! files stay unchanged.
//!
//! Hooks run there only if the disk differs for their files, if they request it, or if they fix:
//! changes stay in the folder until the event is allowed ([`fixes`](super::fixes)).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::fixes::{self, FixList};
use super::git::EventGit;
use super::tree::{self, FileChange, IndexEntry, PrivateTree, names, with_nul};
use crate::engine::complaint::Complaint;
use crate::engine::hook::{ChangeVerdict, Departure, Fixes, Hook, Sees, StagedFolder, StagedText};
use crate::engine::lock::locked;

#[derive(Debug)]
pub(crate) struct StagedFiles {
    git: EventGit,
    /// Top of the working tree, where git runs its hooks.
    top: PathBuf,
    paths: Vec<PathBuf>,
    /// Reason not to stage fixes, if any.
    no_fixes: Option<&'static str>,
    state: Mutex<StagedState>,
}

#[derive(Debug, Default)]
struct StagedState {
    entries: Option<HashMap<PathBuf, IndexEntry>>,
    tree: Option<PrivateTree>,
    fixes: FixList,
}

impl StagedFiles {
    /// `files` are the absolute paths that the commit adds or changes, `top` the working tree, and
    /// `no_fixes` the reason not to stage fixes, if any.
    pub(crate) fn new(
        git: EventGit,
        top: PathBuf,
        files: &[PathBuf],
        no_fixes: Option<&'static str>,
    ) -> StagedFiles {
        let mut staged = StagedFiles {
            git,
            top,
            paths: Vec::new(),
            no_fixes,
            state: Mutex::default(),
        };
        staged.paths = staged.below(files);
        staged
    }

    fn below(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let below = files.iter().flat_map(|file| file.strip_prefix(&self.top));
        below.map(Path::to_path_buf).collect()
    }

    fn are_current(&self, entries: &HashMap<PathBuf, IndexEntry>, files: &[PathBuf]) -> bool {
        files.iter().all(|path| {
            let stamp = entries.get(path).and_then(|entry| entry.stamp);
            stamp == tree::stamp(&self.top.join(path))
        })
    }

    fn enter_tree(
        &self,
        state: &mut StagedState,
        hook: &Hook,
        files: &[PathBuf],
        usual: &Path,
    ) -> Result<Option<StagedFolder>, Complaint> {
        let is_explicit = hook.fixes.is_some() || hook.sees == Some(Sees::Staged);
        if files.is_empty() && !is_explicit {
            return Ok(None);
        }
        // An earlier hook may have changed files on disk.
        let known = state.entries.take();
        let entries = match known.filter(|entries| self.are_current(entries, files)) {
            Some(entries) => entries,
            None => tree::compare(&self.git, &self.top, &self.paths)?,
        };
        let entries = state.entries.insert(entries);
        let is_apart = files.iter().any(|path| {
            let is_on_disk = entries.get(path).is_some_and(|entry| entry.is_on_disk);
            state.fixes.contains_key(path) || !is_on_disk
        });
        if !is_explicit && !is_apart {
            return Ok(None);
        }
        let mut tree = match state.tree.take() {
            Some(tree) => tree,
            None => {
                let skipped = entries.iter().filter(|(_, entry)| entry.is_skipped);
                let skipped = skipped.flat_map(|(path, _)| with_nul(path));
                PrivateTree::open(&self.git, &self.top, skipped.collect())?
            }
        };
        let entered = tree.enter(&self.git, hook, usual, &self.top);
        state.tree = Some(tree);
        entered.map(Some)
    }

    fn take_changes(
        &self,
        state: &mut StagedState,
        hook: &Hook,
        files: &[PathBuf],
        departure: Departure,
    ) -> Result<ChangeVerdict, Complaint> {
        let Some(tree) = &mut state.tree else {
            return Ok(ChangeVerdict::default());
        };
        let Some(fixes) = hook.fixes else {
            tree.is_used = true;
            return Ok(ChangeVerdict::default());
        };
        tree.is_spoilt = true;
        if departure == Departure::Failed {
            return Ok(ChangeVerdict::default());
        }
        let (changed, changes) = tree.changes(&self.git)?;
        let files: HashSet<&PathBuf> = files.iter().collect();
        let (own, other): (Vec<FileChange>, Vec<FileChange>) = changes
            .into_iter()
            .partition(|change| change.is_of_text() && files.contains(&change.path));
        let hook_name = &hook.name;
        if !other.is_empty() {
            let names = names(other.iter().map(|change| &change.path));
            let text = format!(
                "`{hook_name}` changed {names}; a hook with `fixes` may change only the content of the \
                 files that it gets"
            );
            return Ok(forbidden(text));
        }
        if own.is_empty() {
            tree.is_spoilt = false;
            return Ok(ChangeVerdict::default());
        }
        let cure = match (fixes, departure) {
            (Fixes::Stage, _) if self.no_fixes.is_some() => self.no_fixes.unwrap_or_default(),
            (Fixes::Block, _) => "so run it and stage the result",
            (Fixes::Stage, Departure::Blocked) => {
                return Ok(ChangeVerdict {
                    runs_again: true,
                    forbidden: None,
                });
            }
            (Fixes::Stage, Departure::BlockedAgain | Departure::Failed) => {
                return Ok(ChangeVerdict::default());
            }
            (Fixes::Stage, Departure::Content) => {
                tree.is_spoilt = false;
                tree.now = changed;
                for change in own {
                    fixes::add(&mut state.fixes, change, tree, hook_name);
                }
                return Ok(ChangeVerdict::default());
            }
        };
        let names = names(own.iter().map(|change| &change.path));
        let text = format!("`{hook_name}` would change {names}, {cure}");
        Ok(forbidden(text))
    }
}

impl StagedFiles {
    /// Stages the fixes and writes them to disk. Returns a one-line report, or `None` without
    /// fixes. If staging fails, the disk is unchanged.
    pub(crate) fn stage_fixes(&self) -> Result<Option<String>, Complaint> {
        let state = &mut *locked(&self.state);
        match (&mut state.tree, &state.entries) {
            (Some(tree), Some(entries)) if !state.fixes.is_empty() => {
                fixes::stage(&self.git, tree, entries, &state.fixes).map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl StagedText for StagedFiles {
    fn enter(
        &self,
        hook: &Hook,
        files: &[PathBuf],
        usual: &Path,
    ) -> Result<Option<StagedFolder>, Complaint> {
        // Hooks of other systems expect the disk.
        let is_of_other = hook.convention.is_some() && hook.sees.is_none();
        if hook.sees == Some(Sees::Disk) || (is_of_other && hook.fixes.is_none()) {
            return Ok(None);
        }
        let mut state = locked(&self.state);
        self.enter_tree(&mut state, hook, &self.below(files), usual)
            .map_err(with_usual_cure)
    }

    fn leave(
        &self,
        hook: &Hook,
        files: &[PathBuf],
        departure: Departure,
    ) -> Result<ChangeVerdict, Complaint> {
        let mut state = locked(&self.state);
        self.take_changes(&mut state, hook, &self.below(files), departure)
            .map_err(with_usual_cure)
    }
}

fn forbidden(reason: String) -> ChangeVerdict {
    ChangeVerdict {
        runs_again: false,
        forbidden: Some(reason),
    }
}

fn with_usual_cure(complaint: Complaint) -> Complaint {
    let usual = "delete the folder `hookrun` in the git directory; hookrun recreates it";
    Complaint {
        cure: complaint.cure.or_else(|| Some(usual.to_string())),
        ..complaint
    }
}
