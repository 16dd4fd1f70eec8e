//! What is in the folder of hooks that git looks into, for `doctor`. Nothing is changed here.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::hosts::git::{GIT_HOOKS, GitHook};

use super::files::{asks_by_husky, is_executable, kept_beside, put_aside, read};
use super::repository::{Repository, find_base, own_hooks};
use super::shim;
use crate::cli::exit::Result;

#[derive(Debug)]
pub(crate) struct HookFolder {
    pub(crate) repository: Repository,
    /// Whether it is hookrun's own, for all repositories.
    pub(crate) is_ours: bool,
    pub(crate) hooks: Vec<Standing>,
}

#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) hook: &'static GitHook,
    pub(crate) file: PathBuf,
    pub(crate) what: FoundHookFile,
    /// The hook that was there before, if it is kept, and whether git would run it.
    pub(crate) kept: Option<(PathBuf, bool)>,
    /// Shims that a manager of hooks has put aside, and whether it runs them.
    pub(crate) aside: Vec<(PathBuf, bool)>,
    /// Whether a hook of husky that a person wrote runs hookrun.
    pub(crate) asks_by_husky: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FoundHookFile {
    Nothing,
    Foreign,
    Shim {
        is_executable: bool,
        /// What it calls; `None` for one that only passes on to what was there before.
        program: Option<PathBuf>,
        names_hooks: bool,
    },
}

impl HookFolder {
    pub(crate) fn find(env: &Environment) -> Result<Option<HookFolder>> {
        let Ok(base) = find_base(env) else {
            return Ok(None);
        };
        let repository = Repository::at(base)?;
        let hooks = standing_in(&repository.hooks)?;
        let is_ours = own_hooks(env).as_ref() == Some(&repository.hooks);
        Ok(Some(HookFolder {
            repository,
            is_ours,
            hooks,
        }))
    }

    /// Whether the repository's own folder has shims that git ignores.
    pub(crate) fn hides_shims(&self) -> Result<bool> {
        let usual = &self.repository.usual;
        if self.repository.hooks == *usual || self.is_ours {
            return Ok(false);
        }
        let is_shim = |one: &Standing| matches!(one.what, FoundHookFile::Shim { .. });
        Ok(standing_in(usual)?.iter().any(is_shim))
    }
}

fn standing_in(folder: &Path) -> Result<Vec<Standing>> {
    let standing = |hook: &'static GitHook| {
        let file = folder.join(hook.name);
        let what = match read(&file)? {
            None => FoundHookFile::Nothing,
            Some(bytes) if !shim::is_shim(&bytes) => FoundHookFile::Foreign,
            Some(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                FoundHookFile::Shim {
                    is_executable: is_executable(&file),
                    program: shim::program_in(&text).map(PathBuf::from),
                    names_hooks: [" --hooks ", " --settings "]
                        .iter()
                        .any(|it| text.contains(it)),
                }
            }
        };
        let kept = kept_beside(&file);
        let would_run = kept
            .metadata()
            .ok()
            .map(|meta| meta.permissions().mode() & 0o111 != 0);
        let kept = would_run.map(|would_run| (kept, would_run));
        let aside = put_aside(folder, hook)?;
        let asks_by_husky = asks_by_husky(folder, hook.name);
        Ok(Standing {
            hook,
            file,
            what,
            kept,
            aside,
            asks_by_husky,
        })
    };
    GIT_HOOKS.iter().map(standing).collect()
}
