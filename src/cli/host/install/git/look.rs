//! What stands in the folder of hooks that git looks into, for `doctor`: nothing is changed here.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::dialects::git::{GIT_HOOKS, GitHook};

use super::change::{is_executable, read};
use super::managers::{asks_by_husky, put_aside};
use super::shim::{self, KEPT_ENDING};
use super::{OWN_FOLDER, ask, find_base};
use crate::cli::exit::Result;

/// The folder of hooks of the repository around the working directory.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Where git looks for hooks.
    pub(crate) path: PathBuf,
    /// Whether it is hookrun's own, for all repositories.
    pub(crate) is_ours: bool,
    /// Where `core.hooksPath` is set, in git's word for it; `None` where it is not.
    pub(crate) set_in: Option<String>,
    /// The repository's own folder, which git passes over where another one is set.
    pub(crate) usual: PathBuf,
    pub(crate) hooks: Vec<Standing>,
}

/// A hook of git with what stands in its place.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) hook: &'static GitHook,
    pub(crate) file: PathBuf,
    pub(crate) what: FoundHookFile,
    /// The hook that was there before, if there is one beside it, and whether git would run it.
    pub(crate) kept: Option<(PathBuf, bool)>,
    /// Shims that a manager of hooks has put aside, and whether it runs them.
    pub(crate) aside: Vec<(PathBuf, bool)>,
    /// Whether a hook of husky that a person wrote asks hookrun.
    pub(crate) asks_by_husky: bool,
}

/// What stands in a hook's place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FoundHookFile {
    Nothing,
    /// A hook of somebody else.
    Foreign,
    Shim {
        is_executable: bool,
        /// What it calls; `None` for one that only passes on to what was there before.
        program: Option<PathBuf>,
        /// Whether it says where the hooks are.
        names_hooks: bool,
    },
}

impl Folder {
    /// Looks at it; `None` outside of a repository.
    ///
    /// # Errors
    /// When git does not answer, or a hook cannot be read.
    pub(crate) fn find(env: &Environment) -> Result<Option<Folder>> {
        let Ok(base) = find_base(env) else { return Ok(None) };
        let path = |words: &[&str]| -> Result<Option<PathBuf>> {
            Ok(ask(&base, words)?.map(|path| base.join(path)))
        };
        let hooks = path(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"])?;
        let common = path(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
        let (Some(hooks), Some(common)) = (hooks, common) else { return Ok(None) };
        let set = ask(&base, &["config", "--show-scope", "--get", "core.hooksPath"])?;
        let set = set.map(|set| set.to_string_lossy().into_owned());
        let set_in = set.and_then(|set| Some(set.split_whitespace().next()?.to_string()));
        let own = env.config_home.as_ref().map(|home| home.join(OWN_FOLDER).join("git-hooks"));
        Ok(Some(Folder {
            is_ours: own.as_deref() == Some(hooks.as_path()),
            hooks: standing_in(&hooks)?,
            path: hooks,
            set_in,
            usual: common.join("hooks"),
        }))
    }

    /// Whether the repository's own folder has shims that git passes over.
    ///
    /// # Errors
    /// When a hook cannot be read.
    pub(crate) fn hides_shims(&self) -> Result<bool> {
        if self.path == self.usual || self.is_ours {
            return Ok(false);
        }
        Ok(standing_in(&self.usual)?
            .iter()
            .any(|one| matches!(one.what, FoundHookFile::Shim { .. })))
    }
}

/// Every hook of git in a folder.
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
                    names_hooks: [" --hooks ", " --settings "].iter().any(|it| text.contains(it)),
                }
            }
        };
        let kept = folder.join(format!("{}{KEPT_ENDING}", hook.name));
        let would_run = kept.metadata().ok().map(|meta| meta.permissions().mode() & 0o111 != 0);
        let kept = would_run.map(|would_run| (kept, would_run));
        let aside = put_aside(folder, hook)?;
        let asks_by_husky = asks_by_husky(folder, hook.name);
        Ok(Standing { hook, file, what, kept, aside, asks_by_husky })
    };
    GIT_HOOKS.iter().map(standing).collect()
}
