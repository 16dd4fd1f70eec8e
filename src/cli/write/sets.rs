//! `hookrun sets`: shared hook sets are declared, fetched, locked and shown.

mod archive;
mod fetch;
mod git;
mod minisign;
mod shown;
mod vendor;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::discover::MANIFEST;
use crate::config::sets::declared::{self, DeclaredSet, SetDraft, SetSource, Signers, is_path};
use crate::config::sets::lock::{LOCK, Lock, LockedSet, quoted};
use crate::config::{Choice, Config, ConfigScope, Environment, Position, UsedSet};
use crate::engine::complaint::Complaint;
use crate::engine::hook::LayerKind;
use crate::engine::spelling::{did_you_mean, nearest};
use crate::lab::report::{Paths, plain};
use rustix::fs::{Access, access};

use super::files::{Becomes, FileWrite, WritePlan};
use crate::cli::args::{AddedSet, SetsAction, SetsArgs, UpdatedSets};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::host::install::files::Target;
use crate::cli::streams;

const NONE_DECLARED: &str = "no sets are declared: `hookrun sets add NAME` declares one\n";

/// What is left to do for a person: nobody has looked at what was fetched.
const LOOK: &str = "  look at it; `hookrun trust` lets it run in this project; commit hookrun.lock";

/// Does what is asked: 0 done, 1 a set cannot be used, 2 it could not be done.
pub(crate) fn sets(args: &SetsArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    match &args.action {
        SetsAction::Add(added) => add(added, &config, env, out),
        SetsAction::Update(args) => update(args, &config, env, out),
        SetsAction::Vendor { name, folder } => {
            let sets = named(&config, Some(name))?;
            sets.first()
                .map_or(Ok(()), |set| vendor::copy(set, folder, env, out))?;
            Ok(ExitStatus::Yes)
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
    let found: Vec<&UsedSet> = config
        .sets
        .iter()
        .filter(|set| set.declared.name == name)
        .collect();
    if found.is_empty() {
        let names = config.sets.iter().map(|set| set.declared.name.as_str());
        let help = did_you_mean(nearest(name, names), || {
            format!("`hookrun sets add {name}` declares one")
        });
        return Err(Complaint::with_cure(
            format!("no set `{name}` is declared"),
            help,
        ));
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
    let is_same = |set: &&UsedSet| set.file == file && set.declared.name == *name;
    if let Some(there) = config.sets.iter().find(is_same) {
        let cause = format!("`{}` has a set `{name}` already", paths.show(&file));
        let key = match there.declared.source {
            SetSource::Git { .. } => "rev",
            SetSource::Path(_) => "path",
            SetSource::Archive(_) => "archive",
        };
        let cure = format!("change its `{key}` there, then `hookrun sets update {name}`");
        return Err(Complaint::with_cure(cause, cure));
    }
    args.git.as_deref().map_or(Ok(()), declared::check_url)?;
    args.archive
        .as_deref()
        .map_or(Ok(()), declared::check_archive)?;
    args.rev.as_deref().map_or(Ok(()), declared::check_rev)?;
    args.minisign
        .as_deref()
        .map_or(Ok(()), declared::check_key)?;
    // What was typed means the working directory, and in the file its own folder.
    let is_here = file.parent() == Some(&env.cwd);
    let moved = |path: &Path| {
        let path = if is_here {
            path.to_path_buf()
        } else {
            env.cwd.join(path)
        };
        path.display().to_string()
    };
    let url = |url: &String| {
        if is_path(url) {
            moved(Path::new(url))
        } else {
            url.clone()
        }
    };
    let draft = SetDraft {
        git: args.git.as_ref().map(url),
        path: args.path.as_deref().map(moved),
        archive: args.archive.as_ref().map(url),
        rev: args.rev.clone(),
        allowed_signers: args.allowed_signers.as_deref().map(moved),
        minisign: args.minisign.clone(),
    };
    let set = draft.declare(name, Position::default())?;
    let locked = fetch::newest(&set, &file, None, env)?;
    let place = file.with_file_name(LOCK);
    let mut lock = lock_of(&place, config);
    lock.put(locked.clone());
    writeln!(out, "added {}", line(&locked))?;
    write(
        vec![
            FileWrite::added(file, &table(&set))?,
            whole(&place, lock.text())?,
        ],
        env,
        out,
    )?;
    writeln!(out, "  `hookrun sets why {name}` shows what the set brings")?;
    if !args.user {
        writeln!(out, "{LOOK}")?;
    }
    Ok(ExitStatus::Yes)
}

/// A file with a new text.
fn whole(path: &Path, text: String) -> Result<FileWrite> {
    let becomes = Becomes::Changed {
        target: Target::read(path)?,
        text,
    };
    Ok(FileWrite {
        path: path.to_path_buf(),
        becomes,
    })
}

/// Writes what is not so already.
fn write(mut changes: Vec<FileWrite>, env: &Environment, out: &mut dyn Write) -> Result<()> {
    changes.retain(|change| !change.is_done());
    let plan = WritePlan {
        hooks: env.cwd.clone(),
        changes,
        hints: Vec::new(),
    };
    plan.write_untrusted(&Paths::from(&env.cwd), out)
}

/// The `hookrun.toml` of the nearest folder of the project; it may not be there yet.
fn file_of_project(config: &Config) -> PathBuf {
    let layer = config
        .layers
        .iter()
        .rfind(|layer| layer.is_own_of_project());
    let found = layer.and_then(|layer| layer.manifests.first().cloned());
    found.unwrap_or_else(|| config.nearest_folder().join(MANIFEST))
}

/// The table of a set in `hookrun.toml`.
fn table(set: &DeclaredSet) -> String {
    let mut rows = match &set.source {
        SetSource::Git { url, rev } => vec![("git", url), ("rev", rev)],
        SetSource::Path(path) => vec![("path", path)],
        SetSource::Archive(url) => vec![("archive", url)],
    };
    rows.extend(set.signers.as_ref().map(|signers| match signers {
        Signers::Ssh(file) => ("allowed_signers", file),
        Signers::Minisign(key) => ("minisign", key),
    }));
    let rows = rows
        .into_iter()
        .map(|(key, value)| format!("{key} = {}\n", quoted(value)));
    format!("[sets.{}]\n{}", set.name, rows.collect::<String>())
}

fn update(args: &UpdatedSets, config: &Config, env: &Environment, out: &mut dyn Write) -> Result {
    let sets = named(config, args.name.as_deref())?;
    let mut locks: Vec<(PathBuf, Lock)> = Vec::new();
    let mut has_changed = false;
    for set in &sets {
        let old = set.locked.as_ref();
        let pin = old.filter(|_| !args.moved);
        let new = fetch::newest(&set.declared, &set.file, pin, env)?;
        let word = if old == Some(&new) {
            "unchanged"
        } else {
            "updated"
        };
        writeln!(out, "{word} {}", line(&new))?;
        has_changed |= old.map(|old| &old.tree) != Some(&new.tree);
        let place = set.file.with_file_name(LOCK);
        if locks.iter().all(|(file, _)| *file != place) {
            locks.push((place.clone(), lock_of(&place, config)));
        }
        let lock = locks.iter_mut().find(|(file, _)| *file == place);
        lock.into_iter().for_each(|(_, lock)| lock.put(new.clone()));
    }
    if sets.is_empty() {
        streams::remark(NONE_DECLARED);
    }
    if !args.dry_run {
        let changes = locks.iter().map(|(file, lock)| whole(file, lock.text()));
        write(changes.collect::<Result<_>>()?, env, out)?;
        if has_changed && sets.iter().any(|set| set.layer == LayerKind::Project) {
            writeln!(out, "{LOOK}")?;
        }
    }
    Ok(ExitStatus::Yes)
}

/// The lock in `place`, without sets that are no longer declared. One with mistakes pins nothing,
/// and is written anew.
fn lock_of(place: &Path, config: &Config) -> Lock {
    let mut lock = Lock::load(place, &mut Vec::new());
    let files = config
        .sets
        .iter()
        .filter(|set| set.file.with_file_name(LOCK) == place);
    let names: Vec<&String> = files.map(|set| &set.declared.name).collect();
    lock.sets.retain(|set| names.contains(&&set.name));
    lock
}

/// A set on one line.
fn line(set: &LockedSet) -> String {
    plain(&set.to_string())
}

fn verify(config: &Config, env: &Environment, out: &mut dyn Write) -> Result {
    let mut exit = ExitStatus::Yes;
    if config.sets.is_empty() {
        streams::remark(NONE_DECLARED);
    }
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
