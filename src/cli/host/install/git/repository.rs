//! A repository, as git itself describes it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crate::cli::exit::{Result, failed};
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::errand::Errand;

/// How long git may take for one question about its configuration.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder of the user layer, below that of the user's configuration.
const OWN_FOLDER: &str = "hookrun";

#[derive(Debug)]
pub(crate) struct Repository {
    /// The folder in which git runs the hooks: the worktree, or a bare repository.
    pub(super) base: PathBuf,
    pub(crate) hooks: PathBuf,
    /// The repository's own folder, which git ignores if another one is set.
    pub(crate) usual: PathBuf,
    /// Where `core.hooksPath` is set, in git's word for it; `None` where it is not.
    pub(crate) set_in: Option<String>,
}

impl Repository {
    pub(super) fn at(base: PathBuf) -> Result<Repository> {
        let path = |words: &[&str]| -> Result<PathBuf> {
            let path = ask(&base, words)?;
            path.map(|path| base.join(path))
                .ok_or_else(|| Complaint::new("git does not say where its hooks are"))
        };
        let hooks = path(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"])?;
        let common = path(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
        let set = ask(
            &base,
            &["config", "--show-scope", "--get", "core.hooksPath"],
        )?;
        let set = set.map(|set| set.to_string_lossy().into_owned());
        let set_in = set.and_then(|set| Some(set.split_whitespace().next()?.to_string()));
        Ok(Repository {
            base,
            hooks,
            usual: common.join("hooks"),
            set_in,
        })
    }

    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.set_in.as_deref(), Some("global" | "system"))
    }
}

pub(super) fn find_base(env: &Environment) -> Result<PathBuf> {
    let top = ask(&env.cwd, &["rev-parse", "--show-toplevel"])?;
    let base = match top.filter(|top| !top.is_empty()) {
        Some(top) => Some(top),
        None => ask(&env.cwd, &["rev-parse", "--absolute-git-dir"])?,
    };
    base.map(PathBuf::from).ok_or_else(|| {
        Complaint::with_cure(
            format!("`{}` is in no git repository", env.cwd.display()),
            "change into one, or give --scope global",
        )
    })
}

pub(super) fn own_folder(env: &Environment) -> Option<PathBuf> {
    env.config_home.as_ref().map(|home| home.join(OWN_FOLDER))
}

pub(super) fn own_hooks(env: &Environment) -> Option<PathBuf> {
    own_folder(env).map(|own| own.join("git-hooks"))
}

/// What git answers, without the end of the line; `None` if it says no.
pub(super) fn ask(folder: &Path, words: &[&str]) -> Result<Option<OsString>> {
    let mut arguments = vec![OsString::from("-C"), folder.into()];
    arguments.extend(words.iter().map(OsString::from));
    let output = run(&arguments)?;
    let mut answer = output.stdout;
    if answer.last() == Some(&b'\n') {
        answer.pop();
    }
    Ok(output.status.success().then(|| OsString::from_vec(answer)))
}

pub(super) fn configure(words: &[&str], value: Option<&Path>) -> Result<()> {
    let arguments = words
        .iter()
        .map(OsString::from)
        .chain(value.map(OsString::from));
    let output = run(&arguments.collect::<Vec<_>>())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Complaint::new(format!(
        "git cannot change its configuration: {}",
        said.trim_end()
    )))
}

fn run(arguments: &[OsString]) -> Result<Output> {
    let output = Errand::new("git", arguments, PATIENCE).output();
    output
        .map_err(failed("git cannot be run"))?
        .ok_or_else(|| Complaint::new("git did not answer within 10s"))
}
