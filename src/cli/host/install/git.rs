//! Shims in git's folder of hooks: written, and taken away so that all is as it was before.

mod change;
pub(crate) mod look;
mod managers;
mod shim;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::discover::{DROP_INS, MANIFEST};
use crate::config::{Config, ConfigScope, Environment};
use crate::dialects::git::{self, GIT_HOOKS, Presence};
use crate::engine::hook::Hook;
use crate::engine::registry::Registry;

use super::program;
use crate::cli::args::{InstallArgs, SettingsScope, SourceArgs, UninstallArgs};
use crate::cli::decide::startup::choice;
use crate::cli::errand::Errand;
use crate::cli::exit::{CommandFailure, ExitStatus, Result};
use change::{FileChange, ShimChange, carry_out, plan_removal, plan_write, say};
use managers::{husky_folder, husky_line};
use shim::{FirstHook, Shim};

/// How long git may take for one question about its configuration.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder of the user layer, below that of the user's configuration.
const OWN_FOLDER: &str = "hookrun";

/// Where shims belong.
#[derive(Debug)]
struct ShimFolder {
    /// The folder of hooks.
    hooks: PathBuf,
    /// The folder in which git runs them: the worktree, or a bare repository.
    base: PathBuf,
    /// Whether it is a folder of our own for all repositories, whose own hooks git then passes
    /// over.
    is_ours: bool,
    /// Whether git has to be told of the folder.
    is_new: bool,
    /// The repository's own folder, where git passes over it: what was installed there before
    /// `core.hooksPath` was set is of no use.
    passed_over: Option<PathBuf>,
}

/// `hookrun install git`.
pub(super) fn install(args: &InstallArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let place = find_place(args.place.scope.settings(), env, true)?;
    let source = find_source(args, env)?;
    let registry = find_hooks(&source, env, &place)?;
    let (program, options) =
        (shell_words::quote(&program::path(env)?).into_owned(), words(&source, args.git.budget)?);
    let mut changes = passed_over(&place)?;
    for hook in GIT_HOOKS {
        let is_plain = hook.presence == Presence::Plain;
        let asks = registry.has(hook.event) || (is_plain && args.all_events);
        let is_gate =
            crate::engine::event::catalog::find(hook.event).is_none_or(|spec| spec.blocks);
        let before = if place.is_ours { FirstHook::OfRepository } else { FirstHook::Kept };
        let shim = Shim { hook, is_gate, program: &program, options: &options, asks, before };
        // A folder for all repositories must pass on what it has taken the place of.
        let is_needed = asks || (place.is_ours && hook.presence != Presence::Replaces);
        changes.extend(if is_needed {
            plan_write(&place, shim)?
        } else {
            plan_removal(&place.hooks, hook)?
        });
    }
    if !GIT_HOOKS.iter().any(|hook| registry.has(hook.event))
        && !args.all_events
        && !changes.iter().any(|change| matches!(change.act, FileChange::Remove { .. }))
    {
        return Err(CommandFailure::with_help(
            "no hook is configured for an event of git",
            "put one into hooks.d/commit.pre/, or give --all-events to ask for every event",
        ));
    }
    carry_out(&changes, args.place.dry_run, out)?;
    about_husky(&place, &changes, out)?;
    if place.is_new {
        let what = format!("core.hooksPath to {} for all repositories", place.hooks.display());
        say(out, args.place.dry_run, "set", "set", &what)?;
        if !args.place.dry_run {
            configure(&["config", "--global", "core.hooksPath"], Some(&place.hooks))?;
        }
    }
    Ok(ExitStatus::Yes)
}

/// `hookrun uninstall git`.
pub(super) fn uninstall(args: &UninstallArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let place = find_place(args.place.scope.settings(), env, false)?;
    let mut changes = passed_over(&place)?;
    for hook in GIT_HOOKS {
        changes.extend(plan_removal(&place.hooks, hook)?);
    }
    carry_out(&changes, args.place.dry_run, out)?;
    if place.is_ours && !place.is_new {
        say(out, args.place.dry_run, "unset", "unset", "core.hooksPath for all repositories")?;
        if !args.place.dry_run {
            configure(&["config", "--global", "--unset", "core.hooksPath"], None)?;
            // Somebody may have put files of their own into it.
            let _ = fs::remove_dir(&place.hooks);
        }
    } else if changes.is_empty() {
        writeln!(out, "nothing of hookrun is in {}", place.hooks.display())?;
    }
    Ok(ExitStatus::Yes)
}

/// The folder of hooks of a repository, or of all of them.
fn find_place(scope: SettingsScope, env: &Environment, is_to_write: bool) -> Result<ShimFolder> {
    match scope {
        SettingsScope::Project => find_repository(env, is_to_write),
        SettingsScope::User => {
            let set =
                ask(&env.cwd, &["config", "--global", "--type=path", "--get", "core.hooksPath"])?;
            let own = env.config_home.as_ref().map(|home| home.join(OWN_FOLDER).join("git-hooks"));
            let own =
                own.ok_or_else(|| CommandFailure::with_help(env.why_no_home(), "set HOME to it"))?;
            let hooks = set.clone().map_or_else(|| own.clone(), |set| env.cwd.join(set));
            let is_ours = hooks == own;
            let is_new = set.is_none();
            Ok(ShimFolder { hooks, base: env.cwd.clone(), is_ours, is_new, passed_over: None })
        }
    }
}

/// The folder in which git runs the hooks of the repository around the working directory.
fn find_base(env: &Environment) -> Result<PathBuf> {
    let top = ask(&env.cwd, &["rev-parse", "--show-toplevel"])?;
    let base = match top.filter(|top| !top.is_empty()) {
        Some(top) => Some(top),
        None => ask(&env.cwd, &["rev-parse", "--absolute-git-dir"])?,
    };
    base.map(PathBuf::from).ok_or_else(|| {
        CommandFailure::with_help(
            format!("`{}` is in no git repository", env.cwd.display()),
            "change into one, or give --scope global",
        )
    })
}

fn find_repository(env: &Environment, is_to_write: bool) -> Result<ShimFolder> {
    let base = find_base(env)?;
    let scope = ask(&base, &["config", "--show-scope", "--get", "core.hooksPath"])?;
    let scope = scope.unwrap_or_default().to_string_lossy().into_owned();
    let is_shared = ["global", "system"].iter().any(|shared| scope.starts_with(shared));
    if is_shared && is_to_write {
        return Err(CommandFailure::with_help(
            "core.hooksPath is set for all repositories, so this one cannot have its own hooks",
            "give --scope global; or set core.hooksPath for this repository first",
        ));
    }
    let path = |words: &[&str]| -> Result<PathBuf> {
        let path = ask(&base, words)?;
        path.map(|path| base.join(path))
            .ok_or_else(|| CommandFailure::new("git does not say where its hooks are"))
    };
    let usual = path(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?.join("hooks");
    // The folder of all repositories is no business of this one.
    let hooks = match is_shared {
        true => usual.clone(),
        false => path(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"])?,
    };
    let passed_over = (usual != hooks).then_some(usual);
    Ok(ShimFolder { hooks, base, is_ours: false, is_new: false, passed_over })
}

/// What goes from the folder that git passes over.
fn passed_over(place: &ShimFolder) -> Result<Vec<ShimChange>> {
    let mut changes = Vec::new();
    for (folder, hook) in
        place.passed_over.iter().flat_map(|it| GIT_HOOKS.iter().map(move |hook| (it, hook)))
    {
        // A hook that somebody put aside there is not ours to bring back without a shim.
        let removal = plan_removal(folder, hook)?;
        changes
            .extend(removal.into_iter().filter(|it| matches!(it.act, FileChange::Remove { .. })));
    }
    Ok(changes)
}

/// That husky writes its folder anew, and the line that stays.
fn about_husky(place: &ShimFolder, changes: &[ShimChange], out: &mut dyn Write) -> Result<()> {
    let is_written =
        |one: &&ShimChange| matches!(one.act, FileChange::Write { .. } | FileChange::Stay);
    let Some(folder) = husky_folder(&place.hooks) else { return Ok(()) };
    for change in changes.iter().filter(is_written) {
        let (name, file) = (change.hook.name, folder.join(change.hook.name));
        let file = file.display();
        writeln!(
            out,
            "note: husky writes its folder anew at each `npm install`, without this hook; put this \
             line into {file}: {}",
            husky_line(name)
        )?;
    }
    Ok(())
}

/// Where the shims are to look for hooks. Those for all repositories ask hooks of the system and
/// of the user, and none that a repository brings: git runs no code because it was cloned.
fn find_source(args: &InstallArgs, env: &Environment) -> Result<SourceArgs> {
    let mut source = args.git.source.clone();
    for path in source.hooks.iter_mut().chain(&mut source.settings) {
        *path = env.cwd.join(&path);
    }
    let is_named = !source.hooks.is_empty() || !source.settings.is_empty();
    if args.place.scope.settings() == SettingsScope::Project || is_named {
        return Ok(source);
    }
    let own = env.config_home.as_ref().map(|home| home.join(OWN_FOLDER));
    let folders = [Some(env.system.clone()), own.clone()].into_iter().flatten();
    source.hooks = folders.filter(|folder| has_hooks(folder)).collect();
    if source.hooks.is_empty() {
        let own = own.unwrap_or_default();
        return Err(CommandFailure::with_help(
            "no hook is configured for all repositories",
            format!("put hooks into {}/hooks.d/, or name a folder: --hooks DIR", own.display()),
        ));
    }
    Ok(source)
}

fn has_hooks(folder: &Path) -> bool {
    [MANIFEST, DROP_INS].iter().any(|name| folder.join(name).symlink_metadata().is_ok())
}

/// The hooks that will be found where git runs the shims.
fn find_hooks(source: &SourceArgs, env: &Environment, place: &ShimFolder) -> Result<Registry> {
    let there = Environment { cwd: place.base.clone(), cwd_problem: None, ..env.clone() };
    let config = Config::load(&choice(source, env, git::NAME), &there, ConfigScope::All);
    match config.complaint() {
        Some(complaint) => Err(CommandFailure::new(complaint)),
        None => {
            let runs = |hook: &Hook| hook.enabled && hook.idle.is_none();
            Ok(Registry::loaded(config.hooks.into_iter().filter(runs), config.catalog))
        }
    }
}

/// Where hooks come from and how long they have, as words of a shell; with a space before each.
fn words(source: &SourceArgs, budget: Option<Duration>) -> Result<String> {
    let mut words = String::new();
    let named = source.hooks.iter().map(|path| ("--hooks", path));
    for (option, path) in named.chain(source.settings.iter().map(|path| ("--settings", path))) {
        let text = path.to_str().ok_or_else(|| {
            CommandFailure::new(format!("`{}` is not UTF-8, which a shim must be", path.display()))
        })?;
        words.push_str(&format!(" {option} {}", shell_words::quote(text)));
    }
    if source.discover {
        words.push_str(" --discover");
    }
    if let Some(budget) = budget {
        words.push_str(&format!(" --budget {}ms", budget.as_millis()));
    }
    Ok(words)
}

/// What git answers, without the end of the line; `None` if it says no.
fn ask(folder: &Path, words: &[&str]) -> Result<Option<OsString>> {
    let mut arguments = vec![OsString::from("-C"), folder.into()];
    arguments.extend(words.iter().map(OsString::from));
    let asked = Errand::new("git", &arguments, PATIENCE).output();
    let asked =
        asked.map_err(|error| CommandFailure::new(format!("git cannot be run: {error}")))?;
    let output = asked.ok_or_else(|| CommandFailure::new("git did not answer within 10s"))?;
    let mut answer = output.stdout;
    if answer.last() == Some(&b'\n') {
        answer.pop();
    }
    Ok(output.status.success().then(|| OsString::from_vec(answer)))
}

/// Changes git's configuration for all repositories.
fn configure(words: &[&str], value: Option<&Path>) -> Result<()> {
    let mut arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    arguments.extend(value.map(OsString::from));
    let asked = Errand::new("git", &arguments, PATIENCE).output();
    let asked =
        asked.map_err(|error| CommandFailure::new(format!("git cannot be run: {error}")))?;
    match asked {
        Some(output) if output.status.success() => Ok(()),
        Some(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(CommandFailure::new(format!(
                "git cannot change its configuration: {}",
                said.trim_end()
            )))
        }
        None => Err(CommandFailure::new("git did not answer within 10s")),
    }
}
