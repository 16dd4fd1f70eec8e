//! Installs and removes shims in git's hooks folder.

mod shim;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crate::cli::args::{InstallArgs, PlaceArgs, SettingsScope};
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::errand::Errand;
use crate::engine::registry::Registry;
use crate::hosts::git::{GIT_HOOKS, Presence};
use crate::lab::report::plain;

use super::command::own_path;
use shim::{Change, Shim};
pub(crate) use shim::{HookScript, is_executable};

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn install(
    args: &InstallArgs,
    env: &Environment,
    verify: VerifySets,
    out: &mut dyn Write,
) -> Result {
    check_scope(&args.place)?;
    let repository = Repository::around(env)?;
    if repository.is_for_all {
        return Err(Complaint::with_cure(
            "core.hooksPath is set outside this repository, so this repository has no separate hooks folder",
            "set core.hooksPath for this repository first: `git config core.hooksPath \"$(git rev-parse --path-format=absolute --git-common-dir)/hooks\"`",
        ));
    }
    let config = usable_config(args, env, &repository, verify, out)?;
    let complaint = config.complaint();
    let hooks = config.hooks.into_iter().filter(|hook| hook.is_on());
    let registry = Registry::loaded(hooks, config.catalog);
    let path = own_path(env)?;
    let options = match args.budget {
        Some(budget) => format!(" --budget {}ms", budget.as_millis()),
        None => String::new(),
    };
    let mut changes = Vec::new();
    for script in repository.scripts()? {
        let hook = script.hook;
        let is_plain = hook.presence == Presence::Plain;
        // The hooks of a broken configuration are unknown, and it blocks every gate.
        let is_broken = complaint.is_some() && hook.is_gate();
        let asks = registry.has(hook.event) || (is_plain && (args.all_events || is_broken));
        let change = if asks && !script.is_asked_by_husky {
            let shim = Shim {
                hook,
                path: (!repository.is_committed()).then_some(path.as_str()),
                options: &options,
            };
            Some(script.install(&shim)?)
        } else {
            script.uninstall()
        };
        changes.extend(change.map(|change| (script, change)));
    }
    let has_hooks = GIT_HOOKS.iter().any(|hook| registry.has(hook.event));
    let removes = changes
        .iter()
        .any(|(_, change)| matches!(change, Change::Remove { .. }));
    if !has_hooks && !args.all_events && complaint.is_none() && !removes {
        return Err(Complaint::with_cure(
            "no hook is configured for a git event",
            "`hookrun new NAME --event commit.pre` writes one; tool.pre hooks are for agents",
        ));
    }
    carry_out(&changes, args.place.dry_run, out)?;
    for (script, change) in &changes {
        if let (Some(husky), Change::Write { .. } | Change::Stay) = (&script.husky, change) {
            writeln!(
                out,
                "note: husky rewrites its folder on each `npm install`, which removes this hook; \
                 add this line to {} instead: hookrun run --host git {} -- \"$@\"",
                husky.display(),
                script.hook.name
            )?;
        }
    }
    if registry.has("tool.pre") && !registry.has("push.pre") {
        let what = "tool.pre hooks run only for agents; git runs hooks for commit.pre, push.pre and other git events";
        writeln!(out, "  note: {what}")?;
    }
    if let Some(complaint) = complaint {
        writeln!(
            out,
            "  to do: fix this error, which blocks git: {}",
            plain(&complaint)
        )?;
        return Ok(ExitStatus::No);
    }
    Ok(ExitStatus::Yes)
}

pub(super) fn uninstall(args: &PlaceArgs, env: &Environment, out: &mut dyn Write) -> Result {
    check_scope(args)?;
    let repository = Repository::around(env)?;
    let mut changes = Vec::new();
    for script in repository.scripts()? {
        let change = script.uninstall();
        changes.extend(change.map(|change| (script, change)));
    }
    carry_out(&changes, args.dry_run, out)?;
    if changes.is_empty() {
        let hooks = repository.hooks.display();
        writeln!(out, "hookrun is not installed in {hooks}")?;
    }
    Ok(ExitStatus::Yes)
}

fn check_scope(args: &PlaceArgs) -> Result<()> {
    let scope = match args.scope {
        None | Some(SettingsScope::Project) => return Ok(()),
        Some(scope) => scope.name(),
    };
    let cause = format!("`--scope {scope}` is not for git, whose hooks belong to one repository");
    let cure = "omit `--scope`, and run the command in each repository";
    Err(Complaint::with_cure(cause, cure))
}

fn carry_out(changes: &[(HookScript, Change)], is_dry: bool, out: &mut dyn Write) -> Result<()> {
    for (script, change) in changes {
        let file = script.file.display();
        if !is_dry {
            script
                .carry_out(change)
                .map_err(failed(format!("cannot change `{file}`")))?;
        }
        let kept = script.kept.file_name().unwrap_or_default().display();
        let (would, did, more) = match change {
            Change::Stay => {
                writeln!(out, "{file} is up to date")?;
                continue;
            }
            Change::Leave => {
                let name = script.hook.name;
                writeln!(
                    out,
                    "{name}: unchanged, because hookrun did not write {file}; to restore the earlier \
                     hook, rename {kept} to {name}"
                )?;
                continue;
            }
            Change::Write { keeps, .. } if *keeps => {
                let more = format!("; the existing hook is kept as {kept} and runs first");
                ("would write", "wrote", more)
            }
            Change::Write { .. } => ("would write", "wrote", String::new()),
            Change::Remove { restores } if *restores => {
                let more = "; the original hook takes its place".to_string();
                ("would remove", "removed", more)
            }
            Change::Remove { .. } => ("would remove", "removed", String::new()),
            Change::Restore => ("would restore", "restored", String::new()),
        };
        let verb = if is_dry { would } else { did };
        writeln!(out, "{verb} {file}{more}")?;
    }
    Ok(())
}

/// Verifies a configuration's shared sets, and fetches missing ones.
pub(crate) type VerifySets = fn(&Config, &mut dyn Write, &Environment) -> Result;

/// The repository's configuration, after missing shared sets are fetched.
fn usable_config(
    args: &InstallArgs,
    env: &Environment,
    repository: &Repository,
    verify: VerifySets,
    out: &mut dyn Write,
) -> Result<Config> {
    let there = Environment {
        cwd: repository.base.clone(),
        cwd_problem: None,
        ..env.clone()
    };
    let config = Config::load(&Choice::default(), &there, ConfigScope::All);
    let is_ready = config.sets.iter().all(|set| set.folder.is_ok());
    if args.place.dry_run || is_ready {
        return Ok(config);
    }
    verify(&config, out, &there)?;
    Ok(Config::load(&Choice::default(), &there, ConfigScope::All))
}

#[derive(Debug)]
pub(crate) struct Repository {
    /// The folder in which git runs hooks: the worktree, or a bare repository.
    base: PathBuf,
    data: PathBuf,
    /// Git's folder of hooks: `.git/hooks`, or `core.hooksPath`.
    pub(crate) hooks: PathBuf,
    /// Whether all of the user's repositories share the hooks folder.
    is_for_all: bool,
}

impl Repository {
    pub(crate) fn around(env: &Environment) -> Result<Repository> {
        let mut base = ask(&env.cwd, &["rev-parse", "--show-toplevel"])?;
        if base.as_ref().is_none_or(|top| top.is_empty()) {
            base = ask(&env.cwd, &["rev-parse", "--absolute-git-dir"])?;
        }
        let Some(base) = base.map(PathBuf::from) else {
            let cause = format!("`{}` is not in a git repository", env.cwd.display());
            return Err(Complaint::with_cure(
                cause,
                "change to a git repository; if this is one, `git status` prints the reason",
            ));
        };
        let hooks = ask_path(&base, &["--git-path", "hooks"])?;
        let data = ask_path(&base, &["--git-common-dir"])?;
        let words = ["config", "--show-scope", "--get", "core.hooksPath"];
        let scope = ask(&base, &words)?.unwrap_or_default();
        let scope = scope.as_encoded_bytes();
        Ok(Repository {
            base,
            data,
            hooks,
            is_for_all: scope.starts_with(b"global") || scope.starts_with(b"system"),
        })
    }

    fn is_committed(&self) -> bool {
        self.hooks.starts_with(&self.base) && !self.hooks.starts_with(&self.data)
    }

    pub(crate) fn scripts(&self) -> Result<Vec<HookScript>> {
        GIT_HOOKS
            .iter()
            .map(|hook| HookScript::find(&self.hooks, hook))
            .collect()
    }
}

fn ask_path(base: &Path, words: &[&str]) -> Result<PathBuf> {
    let words = [&["rev-parse", "--path-format=absolute"], words].concat();
    let path = ask(base, &words)?.ok_or_else(|| {
        let cause = format!("git cannot find its folders for `{}`", base.display());
        Complaint::with_cure(cause, "check that `git status` works there")
    })?;
    Ok(base.join(path))
}

/// git's output without the final newline; `None` if it fails.
pub(crate) fn ask(folder: &Path, words: &[&str]) -> Result<Option<OsString>> {
    let mut arguments = vec![OsString::from("-C"), folder.into()];
    arguments.extend(words.iter().map(OsString::from));
    let Output { status, stdout, .. } = Errand::new("git", &arguments, PATIENCE)
        .output()
        .map_err(failed("cannot run git"))?
        .ok_or_else(|| Complaint::new("git did not answer within 10s"))?;
    let mut answer = stdout;
    if answer.last() == Some(&b'\n') {
        answer.pop();
    }
    Ok(status.success().then(|| OsString::from_vec(answer)))
}
