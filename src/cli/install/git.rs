//! Shims in git's folder of hooks: written, and taken away so that all is as it was before.

pub(crate) mod look;
mod shim;

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrun::config::discover::{DROP_INS, MANIFEST};
use hookrun::config::{Config, Environment, Scope};
use hookrun::dialect::git::{self, GIT_HOOKS, GitHook, Presence};
use hookrun::exec::child;
use hookrun::hook::Hook;
use hookrun::registry::Registry;

use crate::args::{InstallArgs, SettingsScope, SourceArgs, UninstallArgs};
use crate::exit::{Exit, Failure, Result};
use crate::run::choice;
use shim::{Before, KEPT_ENDING, Shim};

/// How long git may take for one question about its configuration.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder of the user layer, below that of the user's configuration.
const OWN_FOLDER: &str = "hookrun";

/// Where shims belong.
#[derive(Debug)]
struct Place {
    /// The folder of hooks.
    hooks: PathBuf,
    /// The folder in which git runs them: the worktree, or a bare repository.
    base: PathBuf,
    /// Whether it is a folder of our own for all repositories, whose own hooks git then passes
    /// over.
    is_ours: bool,
    /// Whether git has to be told of the folder.
    is_new: bool,
}

/// What is to be done with one hook of git.
#[derive(Debug)]
struct Change {
    hook: &'static GitHook,
    file: PathBuf,
    kept: PathBuf,
    act: Act,
}

#[derive(Debug)]
enum Act {
    /// Write this shim; a hook that is there is kept first.
    Write { shim: Vec<u8>, keeps: bool },
    /// Nothing: the shim is there as it should be.
    Stay,
    /// Take the shim away; a kept hook is put back.
    Remove { restores: bool },
    /// Put back a kept hook whose shim is gone.
    Restore,
    /// A hook of somebody else stands beside the one that was kept: neither is touched.
    Leave,
}

/// `hookrun install git`.
pub(super) fn install(args: &InstallArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let place = find_place(args.place.scope.settings(), env)?;
    let source = find_source(args, env)?;
    let registry = find_hooks(&source, env, &place)?;
    let (program, options) =
        (shell_words::quote(&find_program(env)).into_owned(), words(&source, args.git.budget)?);
    let mut changes = Vec::new();
    for hook in GIT_HOOKS {
        let is_plain = hook.presence == Presence::Plain;
        let asks = registry.has(hook.event) || (is_plain && args.all_events);
        let is_gate = hookrun::event::catalog::find(hook.event).is_none_or(|spec| spec.blocks);
        let before = if place.is_ours { Before::OfRepository } else { Before::Kept };
        let shim = Shim { hook, is_gate, program: &program, options: &options, asks, before };
        // A folder for all repositories must pass on what it has taken the place of.
        let is_needed = asks || (place.is_ours && hook.presence != Presence::Replaces);
        let change = if is_needed { plan_write(&place, shim) } else { plan_removal(&place, hook) };
        changes.extend(change?);
    }
    if !GIT_HOOKS.iter().any(|hook| registry.has(hook.event))
        && !args.all_events
        && !changes.iter().any(|change| matches!(change.act, Act::Remove { .. }))
    {
        return Err(Failure::with_help(
            "no hook is configured for an event of git",
            "put one into hooks.d/commit.pre/, or give --all-events to ask for every event",
        ));
    }
    carry_out(&changes, args.place.dry_run, out)?;
    if place.is_new {
        let what = format!("core.hooksPath to {} for all repositories", place.hooks.display());
        say(out, args.place.dry_run, ("set", "set"), &what)?;
        if !args.place.dry_run {
            configure(&["config", "--global", "core.hooksPath"], Some(&place.hooks))?;
        }
    }
    Ok(Exit::Yes)
}

/// `hookrun uninstall git`.
pub(super) fn uninstall(args: &UninstallArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let place = find_place(args.place.scope.settings(), env)?;
    let mut changes = Vec::new();
    for hook in GIT_HOOKS {
        changes.extend(plan_removal(&place, hook)?);
    }
    carry_out(&changes, args.place.dry_run, out)?;
    if place.is_ours && !place.is_new {
        say(out, args.place.dry_run, ("unset", "unset"), "core.hooksPath for all repositories")?;
        if !args.place.dry_run {
            configure(&["config", "--global", "--unset", "core.hooksPath"], None)?;
            // Somebody may have put files of their own into it.
            let _ = fs::remove_dir(&place.hooks);
        }
    } else if changes.is_empty() {
        writeln!(out, "nothing of hookrun is in {}", place.hooks.display())?;
    }
    Ok(Exit::Yes)
}

/// The folder of hooks of a repository, or of all of them.
fn find_place(scope: SettingsScope, env: &Environment) -> Result<Place> {
    match scope {
        SettingsScope::Project => find_repository(env),
        SettingsScope::User => {
            let set =
                ask(&env.cwd, &["config", "--global", "--type=path", "--get", "core.hooksPath"])?;
            let own = env.config_home.as_ref().map(|home| home.join(OWN_FOLDER).join("git-hooks"));
            let own = own.ok_or_else(|| Failure::with_help(env.why_no_home(), "set HOME to it"))?;
            let hooks = set.clone().map_or_else(|| own.clone(), |set| env.cwd.join(set));
            let is_ours = hooks == own;
            Ok(Place { hooks, base: env.cwd.clone(), is_ours, is_new: set.is_none() })
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
        Failure::with_help(
            format!("`{}` is in no git repository", env.cwd.display()),
            "change into one, or give --scope global",
        )
    })
}

fn find_repository(env: &Environment) -> Result<Place> {
    let base = find_base(env)?;
    let scope = ask(&base, &["config", "--show-scope", "--get", "core.hooksPath"])?;
    let scope = scope.unwrap_or_default().to_string_lossy().into_owned();
    let is_shared = ["global", "system"].iter().any(|shared| scope.starts_with(shared));
    if is_shared {
        return Err(Failure::with_help(
            "core.hooksPath is set for all repositories, so this one has no hooks of its own",
            "give --scope global; or set core.hooksPath for this repository first",
        ));
    }
    let hooks = ask(&base, &["rev-parse", "--path-format=absolute", "--git-path", "hooks"])?;
    let hooks = hooks.ok_or_else(|| Failure::new("git does not say where its hooks are"))?;
    Ok(Place { hooks: base.join(hooks), base, is_ours: false, is_new: false })
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
        return Err(Failure::with_help(
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
fn find_hooks(source: &SourceArgs, env: &Environment, place: &Place) -> Result<Registry> {
    let there = Environment { cwd: place.base.clone(), cwd_problem: None, ..env.clone() };
    let config = Config::load(&choice(source, env, git::NAME), &there, Scope::All);
    match config.complaint() {
        Some(complaint) => Err(Failure::new(complaint)),
        None => {
            let runs = |hook: &Hook| hook.enabled && hook.idle.is_none();
            Ok(Registry::loaded(config.hooks.into_iter().filter(runs), config.catalog))
        }
    }
}

/// hookrun as it is called: where it is found in PATH, so that a new version is found too, else
/// its own file.
fn find_program(env: &Environment) -> String {
    let own = env.program.as_deref().and_then(|own| own.canonicalize().ok());
    let search = env.search.clone().unwrap_or_default();
    let mut candidates = std::env::split_paths(&search).map(|folder| folder.join("hookrun"));
    let called =
        candidates.find(|one| one.is_absolute() && one.canonicalize().ok() == own && own.is_some());
    let program = called.or_else(|| env.program.clone());
    program.map_or_else(|| "hookrun".to_string(), |path| path.to_string_lossy().into_owned())
}

/// Where hooks come from and how long they have, as words of a shell; with a space before each.
fn words(source: &SourceArgs, budget: Option<Duration>) -> Result<String> {
    let mut words = String::new();
    let named = source.hooks.iter().map(|path| ("--hooks", path));
    for (option, path) in named.chain(source.settings.iter().map(|path| ("--settings", path))) {
        let text = path.to_str().ok_or_else(|| {
            Failure::new(format!("`{}` is not UTF-8, which a shim must be", path.display()))
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

fn paths(place: &Place, hook: &GitHook) -> (PathBuf, PathBuf) {
    let kept = format!("{}{KEPT_ENDING}", hook.name);
    (place.hooks.join(hook.name), place.hooks.join(kept))
}

fn plan_write(place: &Place, mut shim: Shim<'_>) -> Result<Option<Change>> {
    let (hook, (file, kept)) = (shim.hook, paths(place, shim.hook));
    let (there, before) = (read(&file)?, read(&kept)?);
    let is_foreign = there.as_ref().is_some_and(|bytes| !shim::is_shim(bytes));
    if is_foreign && before.is_some() && there != before {
        return Err(Failure::with_help(
            format!("`{}` is a new hook, and an older one is kept beside it", file.display()),
            format!("remove the one that is not wanted: it, or `{}`", kept.display()),
        ));
    }
    if is_foreign && place.is_ours {
        return Err(Failure::with_help(
            format!("`{}` stands in hookrun's own folder and is not hookrun's", file.display()),
            "move it away; it would not be run any more",
        ));
    }
    let kept_text = before.as_ref().or(there.as_ref().filter(|_| is_foreign));
    if let Some(kept) = kept_text.filter(|_| !place.is_ours) {
        shim.before = shim::how_to_run(kept);
    }
    let text = shim.text();
    let act = if there.as_deref() == Some(&text) && is_executable(&file) {
        Act::Stay
    } else {
        Act::Write { shim: text, keeps: is_foreign }
    };
    Ok(Some(Change { hook, file, kept, act }))
}

fn plan_removal(place: &Place, hook: &'static GitHook) -> Result<Option<Change>> {
    let (file, kept) = paths(place, hook);
    let (there, before) = (read(&file)?, read(&kept)?);
    let act = match (there, before.is_some()) {
        (Some(bytes), restores) if shim::is_shim(&bytes) => Act::Remove { restores },
        (Some(_), true) => Act::Leave,
        (None, true) => Act::Restore,
        (Some(_) | None, false) => return Ok(None),
    };
    Ok(Some(Change { hook, file, kept, act }))
}

/// A file's bytes; `None` if there is nothing. A link to nothing is there, and empty.
fn read(file: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(file.symlink_metadata().is_ok().then(Vec::new))
        }
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(Failure::new(format!("cannot read `{}`: {error}", file.display()))),
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0o111)
}

fn carry_out(changes: &[Change], is_dry: bool, out: &mut dyn Write) -> Result<()> {
    for change in changes {
        if !is_dry {
            let done = change.carry_out();
            done.map_err(|error| {
                Failure::new(format!("cannot change `{}`: {error}", change.file.display()))
            })?;
        }
        let file = change.file.display();
        let (name, kept) = (change.hook.name, format!("{}{KEPT_ENDING}", change.hook.name));
        match change.act {
            Act::Write { keeps: true, .. } => {
                say(
                    out,
                    is_dry,
                    ("wrote", "write"),
                    &format!("{file}; the hook that was there is {kept} and runs first"),
                )?;
            }
            Act::Write { keeps: false, .. } => {
                say(out, is_dry, ("wrote", "write"), &file.to_string())?
            }
            Act::Stay => writeln!(out, "{file} is as it should be")?,
            Act::Remove { restores: true } => {
                say(
                    out,
                    is_dry,
                    ("removed", "remove"),
                    &format!("{file}; the hook that was there is back"),
                )?;
            }
            Act::Remove { restores: false } => {
                say(out, is_dry, ("removed", "remove"), &file.to_string())?
            }
            Act::Restore => say(out, is_dry, ("put back", "put back"), &file.to_string())?,
            Act::Leave => {
                writeln!(
                    out,
                    "{name}: left alone; {file} is not hookrun's, and {kept} is kept beside it"
                )?;
            }
        }
    }
    Ok(())
}

/// What was done, or would be: the verb in both forms.
fn say(out: &mut dyn Write, is_dry: bool, (did, would): (&str, &str), what: &str) -> Result<()> {
    let verb = if is_dry { format!("would {would}") } else { did.to_string() };
    Ok(writeln!(out, "{verb} {what}")?)
}

impl Change {
    fn carry_out(&self) -> std::io::Result<()> {
        match &self.act {
            Act::Write { shim, keeps } => {
                if let Some(folder) = self.file.parent() {
                    fs::create_dir_all(folder)?;
                }
                let new = self.file.with_extension("hookrun-new");
                fs::write(&new, shim)?;
                fs::set_permissions(&new, fs::Permissions::from_mode(0o755))?;
                if *keeps {
                    fs::rename(&self.file, &self.kept)?;
                }
                fs::rename(&new, &self.file)
            }
            Act::Remove { restores: true } | Act::Restore => fs::rename(&self.kept, &self.file),
            Act::Remove { restores: false } => fs::remove_file(&self.file),
            Act::Stay | Act::Leave => Ok(()),
        }
    }
}

/// What git answers, without the end of the line; `None` if it says no.
fn ask(folder: &Path, words: &[&str]) -> Result<Option<OsString>> {
    let mut arguments = vec![OsString::from("-C"), folder.into()];
    arguments.extend(words.iter().map(OsString::from));
    let asked = child::ask((Path::new("git"), &arguments), &[], PATIENCE, 1024 * 1024, || false);
    let asked = asked.map_err(|error| Failure::new(format!("git cannot be run: {error}")))?;
    let output = asked.ok_or_else(|| Failure::new("git did not answer within 10s"))?;
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
    let asked = child::ask((Path::new("git"), &arguments), &[], PATIENCE, 1024 * 1024, || false);
    let asked = asked.map_err(|error| Failure::new(format!("git cannot be run: {error}")))?;
    match asked {
        Some(output) if output.status.success() => Ok(()),
        Some(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(Failure::new(format!("git cannot change its configuration: {}", said.trim_end())))
        }
        None => Err(Failure::new("git did not answer within 10s")),
    }
}
