//! Shims in git's folder of hooks: written, and taken out again without a trace.

mod change;
mod files;
pub(crate) mod look;
mod repository;
mod shim;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::config::discover::{DROP_INS, MANIFEST};
use crate::config::{Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::hook::Hook;
use crate::engine::registry::Registry;
use crate::hosts::git::{self, GIT_HOOKS, Presence};

use super::program;
use crate::cli::args::{InstallArgs, PlaceArgs, SettingsScope, SourceArgs};
use crate::cli::exit::{ExitStatus, Result};
use change::{FileChange, ShimChange, ShimFolder, carry_out, plan_removal, plan_write, say};
use files::{husky_folder, husky_line};
use repository::{Repository, ask, configure, find_base, own_folder, own_hooks};
use shim::{FirstHook, Shim};

pub(super) fn install(args: &InstallArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let place = find_place(args.place.scope().settings(), env, true)?;
    let source = find_source(args, env)?;
    let registry = find_hooks(&source, env, &place)?;
    let (program, options) = (
        shell_words::quote(&program::path(env)?).into_owned(),
        words(&source, args.git.budget)?,
    );
    let mut changes = passed_over(&place)?;
    for hook in GIT_HOOKS {
        let is_plain = hook.presence == Presence::Plain;
        let asks = registry.has(hook.event) || (is_plain && args.all_events);
        let before = if place.is_ours {
            FirstHook::OfRepository
        } else {
            FirstHook::Kept
        };
        let shim = Shim {
            hook,
            program: &program,
            options: &options,
            asks,
            before,
        };
        // A folder for all repositories must still run the hooks of each repository.
        let is_needed = asks || (place.is_ours && hook.presence != Presence::Replaces);
        changes.extend(if is_needed {
            plan_write(&place, shim)?
        } else {
            plan_removal(&place.hooks, hook)?
        });
    }
    if !GIT_HOOKS.iter().any(|hook| registry.has(hook.event))
        && !args.all_events
        && !changes
            .iter()
            .any(|change| matches!(change.act, FileChange::Remove { .. }))
    {
        return Err(Complaint::with_cure(
            "no hook is configured for an event of git",
            "`hookrun new NAME --event commit.pre` writes one; those of tool.pre are for agents",
        ));
    }
    carry_out(&changes, args.place.dry_run, out)?;
    about_husky(&place, &changes, out)?;
    if registry.has("tool.pre") && !registry.has("push.pre") {
        let what = "hooks of tool.pre see what an agent does; git runs those of commit.pre, push.pre \
                    and its other events";
        writeln!(out, "  note: {what}")?;
    }
    if place.is_new {
        let what = format!(
            "core.hooksPath to {} for all repositories",
            place.hooks.display()
        );
        say(out, args.place.dry_run, "set", &what)?;
        if !args.place.dry_run {
            configure(
                &["config", "--global", "core.hooksPath"],
                Some(&place.hooks),
            )?;
        }
    }
    Ok(ExitStatus::Yes)
}

pub(super) fn uninstall(args: &PlaceArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let place = find_place(args.scope().settings(), env, false)?;
    let mut changes = passed_over(&place)?;
    for hook in GIT_HOOKS {
        changes.extend(plan_removal(&place.hooks, hook)?);
    }
    carry_out(&changes, args.dry_run, out)?;
    if place.is_ours && !place.is_new {
        let what = "core.hooksPath for all repositories";
        say(out, args.dry_run, "unset", what)?;
        if !args.dry_run {
            configure(&["config", "--global", "--unset", "core.hooksPath"], None)?;
            // It stays if other files are in it.
            let _ = fs::remove_dir(&place.hooks);
        }
    } else if changes.is_empty() {
        writeln!(out, "nothing of hookrun is in {}", place.hooks.display())?;
    }
    Ok(ExitStatus::Yes)
}

fn find_place(scope: SettingsScope, env: &Environment, is_to_write: bool) -> Result<ShimFolder> {
    if scope == SettingsScope::Project {
        return of_repository(env, is_to_write);
    }
    let set = ask(
        &env.cwd,
        &[
            "config",
            "--global",
            "--type=path",
            "--get",
            "core.hooksPath",
        ],
    )?;
    let own =
        own_hooks(env).ok_or_else(|| Complaint::with_cure(env.why_no_home(), "set HOME to it"))?;
    let is_new = set.is_none();
    let hooks = set.map_or_else(|| own.clone(), |set| env.cwd.join(set));
    let is_ours = hooks == own;
    Ok(ShimFolder {
        hooks,
        base: env.cwd.clone(),
        is_ours,
        is_new,
        passed_over: None,
    })
}

fn of_repository(env: &Environment, is_to_write: bool) -> Result<ShimFolder> {
    let repository = Repository::at(find_base(env)?)?;
    let is_shared = repository.is_shared();
    if is_shared && is_to_write {
        return Err(Complaint::with_cure(
            "core.hooksPath is set for all repositories, so this one cannot have its own hooks",
            "give --scope global; or set core.hooksPath for this repository first",
        ));
    }
    let Repository {
        base, hooks, usual, ..
    } = repository;
    // Leave the folder of all repositories alone.
    let hooks = if is_shared { usual.clone() } else { hooks };
    let passed_over = (usual != hooks).then_some(usual);
    Ok(ShimFolder {
        hooks,
        base,
        is_ours: false,
        is_new: false,
        passed_over,
    })
}

/// The shims that are taken out of a folder that git ignores.
fn passed_over(place: &ShimFolder) -> Result<Vec<ShimChange>> {
    let mut changes = Vec::new();
    for (folder, hook) in place
        .passed_over
        .iter()
        .flat_map(|it| GIT_HOOKS.iter().map(move |hook| (it, hook)))
    {
        // Without a shim, a hook that was put aside there is not ours to restore.
        let removal = plan_removal(folder, hook)?;
        changes.extend(
            removal
                .into_iter()
                .filter(|it| matches!(it.act, FileChange::Remove { .. })),
        );
    }
    Ok(changes)
}

/// Says that husky rewrites its folder, and which line survives.
fn about_husky(place: &ShimFolder, changes: &[ShimChange], out: &mut dyn Write) -> Result<()> {
    let is_written =
        |one: &&ShimChange| matches!(one.act, FileChange::Write { .. } | FileChange::Stay);
    let Some(folder) = husky_folder(&place.hooks) else {
        return Ok(());
    };
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

/// Where the shims look for hooks. Those for all repositories run hooks of the system and of the
/// user, and none that a repository brings: git runs no code because it was cloned.
fn find_source(args: &InstallArgs, env: &Environment) -> Result<SourceArgs> {
    let mut source = args.git.source.clone();
    for path in source.hooks.iter_mut().chain(&mut source.settings) {
        *path = env.cwd.join(&path);
    }
    let is_named = !source.hooks.is_empty() || !source.settings.is_empty();
    if args.place.scope().settings() == SettingsScope::Project || is_named {
        return Ok(source);
    }
    let own = own_folder(env);
    let folders = [Some(env.system.clone()), own.clone()]
        .into_iter()
        .flatten();
    source.hooks = folders.filter(|folder| has_hooks(folder)).collect();
    if source.hooks.is_empty() {
        let own = own.unwrap_or_default();
        return Err(Complaint::with_cure(
            "no hook is configured for all repositories",
            format!(
                "put hooks into {}/hooks.d/, or name a folder: --hooks DIR",
                own.display()
            ),
        ));
    }
    Ok(source)
}

fn has_hooks(folder: &Path) -> bool {
    [MANIFEST, DROP_INS]
        .iter()
        .any(|name| folder.join(name).symlink_metadata().is_ok())
}

fn find_hooks(source: &SourceArgs, env: &Environment, place: &ShimFolder) -> Result<Registry> {
    let there = Environment {
        cwd: place.base.clone(),
        cwd_problem: None,
        ..env.clone()
    };
    let config = Config::load(&source.choice(env, git::NAME), &there, ConfigScope::All);
    if let Some(complaint) = config.complaint() {
        return Err(Complaint::new(complaint));
    }
    let runs = |hook: &Hook| hook.enabled && hook.idle.is_none();
    Ok(Registry::loaded(
        config.hooks.into_iter().filter(runs),
        config.catalog,
    ))
}

/// Where hooks come from and how long they have, as words of a shell; with a space before each.
fn words(source: &SourceArgs, budget: Option<Duration>) -> Result<String> {
    let mut words = String::new();
    let named = source.hooks.iter().map(|path| ("--hooks", path));
    for (option, path) in named.chain(source.settings.iter().map(|path| ("--settings", path))) {
        let text = path.to_str().ok_or_else(|| {
            Complaint::new(format!(
                "`{}` is not UTF-8, which a shim must be",
                path.display()
            ))
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
