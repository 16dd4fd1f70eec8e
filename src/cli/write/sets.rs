//! `hookrun sets`: shared hook sets are declared, fetched, locked and shown.

mod fetch;
mod git;
mod shown;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::discover::MANIFEST;
use crate::config::sets::declared::{self, DeclaredSet, SetDraft, SetSource};
use crate::config::sets::lock::{LOCK, Lock, LockedSet, quoted};
use crate::config::{Choice, Config, ConfigScope, Environment, Position, UsedSet};
use crate::engine::complaint::Complaint;
use crate::engine::spelling::{did_you_mean, nearest};
use crate::lab::report::style::counted;
use crate::lab::report::{Paths, plain};
use rustix::fs::{Access, access};

use crate::cli::args::{AddedSet, SetsAction, SetsArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::host::install::files::Target;
use crate::cli::streams;

/// Does what is asked: 0 done, 1 a set cannot be used, 2 it could not be done.
pub(crate) fn sets(args: &SetsArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    match &args.action {
        SetsAction::Add(added) => add(added, &config, env, out),
        SetsAction::Update { name, moved } => {
            update(named(&config, name.as_deref())?, *moved, env, out)
        }
        SetsAction::Verify => verify(&config, env, out),
        SetsAction::List { format } => shown::list(&config, *format, env, out),
        SetsAction::Why { name } => {
            for set in named(&config, Some(name))? {
                shown::why(set, &config, env, out)?;
            }
            Ok(ExitStatus::Yes)
        }
    }
}

/// The declared sets of this name; without one, those whose lock may be written.
fn named<'c>(config: &'c Config, name: Option<&str>) -> Result<Vec<&'c UsedSet>> {
    let Some(name) = name else {
        let may_write = |set: &&UsedSet| {
            let folder = set.file.parent().unwrap_or(&set.file);
            access(folder, Access::WRITE_OK).is_ok()
        };
        return Ok(config.sets.iter().filter(may_write).collect());
    };
    let found: Vec<&UsedSet> = config.sets.iter().filter(|set| set.declared.name == name).collect();
    if found.is_empty() {
        let names = config.sets.iter().map(|set| set.declared.name.as_str());
        let help = did_you_mean(nearest(name, names), || {
            format!("`hookrun sets add {name}` declares one")
        });
        return Err(Complaint::with_cure(format!("no set `{name}` is declared"), help));
    }
    Ok(found)
}

fn add(args: &AddedSet, config: &Config, env: &Environment, out: &mut dyn Write) -> Result {
    let file = match (args.user, &env.config_home) {
        (false, _) => file_of_project(config),
        (true, Some(home)) => home.join("hookrun").join(MANIFEST),
        (true, None) => return Err(Complaint::new(env.why_no_home())),
    };
    let paths = Paths::from(&env.cwd);
    let name = &args.name;
    declared::check_name(name)?;
    if config.sets.iter().any(|set| set.file == file && set.declared.name == *name) {
        let cause = format!("`{}` has a set `{name}` already", paths.show(&file));
        let cure = format!("change its `rev` there, then `hookrun sets update {name}`");
        return Err(Complaint::with_cure(cause, cure));
    }
    let source = match (&args.git, &args.rev, &args.path) {
        (git, rev, None) => {
            git.as_deref().map_or(Ok(()), declared::check_url)?;
            rev.as_deref().map_or(Ok(()), declared::check_rev)?;
            SetDraft { git: git.clone(), rev: rev.clone(), path: None }
        }
        (.., Some(path)) => {
            let path = Some(path.display().to_string());
            SetDraft { path, ..SetDraft::default() }
        }
    };
    let source = from_file(source.source(name)?, &file, env);
    let set = DeclaredSet { name: name.clone(), source, at: Position::default() };
    let target = Target::read(&file)?;
    let locked = fetch::newest(&set, &file, None, false, env)?;
    let before = target.text.clone().unwrap_or_default();
    let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    target.replace(&format!("{before}{end}{gap}{}", table(&set)))?;
    write_lock(&file, vec![locked.clone()])?;
    writeln!(out, "added {}", line(&locked))?;
    writeln!(out, "  in {}; commit it with {LOCK}", paths.show(&file))?;
    writeln!(out, "  `hookrun sets why {name}` shows what it brings")?;
    Ok(ExitStatus::Yes)
}

/// The `hookrun.toml` of the nearest folder of the project; it may not be there yet.
fn file_of_project(config: &Config) -> PathBuf {
    let layer = config.layers.iter().rfind(|layer| layer.is_own_of_project());
    let found = layer.and_then(|layer| layer.manifests.first().cloned());
    found.unwrap_or_else(|| config.nearest_folder().join(MANIFEST))
}

/// A path that was typed in the working directory, as the file means it.
fn from_file(source: SetSource, file: &Path, env: &Environment) -> SetSource {
    let is_here = file.parent() == Some(&env.cwd);
    let moved = |path: String| match is_here {
        true => path,
        false => env.cwd.join(path).display().to_string(),
    };
    match source {
        SetSource::Path(path) => SetSource::Path(moved(path)),
        SetSource::Git { url, rev } if url.starts_with('.') => {
            SetSource::Git { url: moved(url), rev }
        }
        SetSource::Git { url, rev } => SetSource::Git { url, rev },
    }
}

/// The table of a set in `hookrun.toml`.
fn table(set: &DeclaredSet) -> String {
    let source = match &set.source {
        SetSource::Git { url, rev } => format!("git = {}\nrev = {}", quoted(url), quoted(rev)),
        SetSource::Path(path) => format!("path = {}", quoted(path)),
    };
    format!("[sets.{}]\n{source}\n", set.name)
}

fn update(sets: Vec<&UsedSet>, may_move: bool, env: &Environment, out: &mut dyn Write) -> Result {
    let mut files: Vec<(&Path, Vec<LockedSet>)> = Vec::new();
    for set in sets {
        let old = set.locked.as_ref();
        let new = fetch::newest(&set.declared, &set.file, old, may_move, env)?;
        let word = match old {
            Some(old) if *old == new => "unchanged",
            Some(_) | None => "updated",
        };
        writeln!(out, "{word} {}", line(&new))?;
        match files.iter_mut().find(|(file, _)| *file == set.file) {
            Some((_, sets)) => sets.push(new),
            None => files.push((&set.file, vec![new])),
        }
    }
    if files.is_empty() {
        streams::remark("no sets are declared: `hookrun sets add NAME` declares one\n");
    }
    for (file, sets) in files {
        write_lock(file, sets)?;
    }
    Ok(ExitStatus::Yes)
}

/// Writes the lock next to `file`, with these sets, and without those that it no longer declares.
fn write_lock(file: &Path, sets: Vec<LockedSet>) -> Result<()> {
    let target = Target::read(&file.with_file_name(LOCK))?;
    // A lock with mistakes pins nothing, and is written anew.
    let mut lock = Lock::load(&target.path, &mut Vec::new());
    sets.into_iter().for_each(|set| lock.put(set));
    let text = lock.text();
    if target.text.as_deref() != Some(&text) {
        target.replace(&text)?;
    }
    Ok(())
}

/// A set on one line: name, rev, commit and files.
fn line(set: &LockedSet) -> String {
    let rev = set.rev.as_ref().map(|rev| format!(" {rev}")).unwrap_or_default();
    let commit = set.commit.as_ref().map(|commit| format!(" ({})", short(commit)));
    let files = counted(set.files, "file");
    plain(&format!(
        "{}{rev}{}: {files}, sha256:{}",
        set.name,
        commit.unwrap_or_default(),
        short(&set.tree)
    ))
}

/// The first digits of a commit or a digest.
fn short(digits: &str) -> &str {
    digits.get(..12).unwrap_or(digits)
}

fn verify(config: &Config, env: &Environment, out: &mut dyn Write) -> Result {
    let mut exit = ExitStatus::Yes;
    for set in &config.sets {
        let name = &set.declared.name;
        let fetched = match (&set.folder, &set.locked) {
            (Ok(_), Some(locked)) => Ok(format!("ok {}", line(locked))),
            (Err(_), Some(locked)) => {
                fetch::locked(set, locked, env).map(|()| format!("fetched {}", line(locked)))
            }
            (Err(cause), None) => Err(Complaint::new(cause.clone())),
            (Ok(_), None) => Err(Complaint::new(format!("the set `{name}` is not locked"))),
        };
        match fetched {
            Ok(line) => writeln!(out, "{line}")?,
            Err(complaint) => {
                streams::remark(&format!("error: {}\n", plain(&complaint.to_string())));
                exit = ExitStatus::No;
            }
        }
    }
    Ok(exit)
}
