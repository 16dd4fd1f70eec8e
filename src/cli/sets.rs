//! `hookrun sets`: declares, fetches, locks and lists shared hook sets.

mod fetch;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde_json::{Value, json};

use super::files::{Becomes, FileWrite, WritePlan, project_folder};
use crate::cli::args::{AddedSet, OutdatedSets, SetsAction, SetsArgs, TextFormat, UpdatedSets};
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::host::files::Target;
use crate::cli::streams;
use crate::config::discover::MANIFEST;
use crate::config::sets::{self, DeclaredSet, LOCK, Lock, is_path, quoted};
use crate::config::{Choice, Config, ConfigScope, Environment, Position, UsedSet};
use crate::engine::complaint::{Complaint, did_you_mean, nearest};
use crate::engine::hook::LayerKind;
use crate::lab::report::style::{BOLD, members, words_of};
use crate::lab::report::{Paths, plain};
use crate::log::report::present;

const NONE_DECLARED: &str =
    "no sets are declared: `hookrun sets add NAME --git URL --rev REV` declares one\n";

/// The steps left to the user, because nobody has reviewed the fetched files.
const LOOK: &str = "  review the files, run `hookrun trust` to allow them, and commit hookrun.lock";

/// Runs a subcommand: 0 done, 1 a set is unusable, 2 error.
pub(crate) fn sets(args: &SetsArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    match &args.action {
        SetsAction::Add(added) => add(added, &config, env, out),
        SetsAction::Update(args) => update(args, &config, env, out),
        SetsAction::Verify => verify(&config, out, env),
        SetsAction::Outdated(args) => outdated(args, env, out),
        SetsAction::List { format } => list(&config, *format, env, out),
    }
}

fn add(args: &AddedSet, config: &Config, env: &Environment, out: &mut dyn Write) -> Result {
    let file = match (args.user, &env.config_home) {
        (false, _) => project_folder(config).with_file_name(MANIFEST),
        (true, Some(home)) => home.join("hookrun").join(MANIFEST),
        (true, None) => return Err(Complaint::with_cure(env.why_no_home(), "set HOME")),
    };
    let paths = Paths::from(&env.cwd);
    let name = &args.name;
    sets::check_name(name)?;
    sets::check_url(&args.git)?;
    sets::check_rev(&args.rev)?;
    if config
        .sets
        .iter()
        .any(|set| set.file == file && set.declared.name == *name)
    {
        let cause = format!("`{}` already has a set `{name}`", paths.show(&file));
        let cure = format!("change its `rev` there, then run `hookrun sets update {name}`");
        return Err(Complaint::with_cure(cause, cure));
    }
    // A typed path starts from the working directory, one in the file from the file's folder.
    let is_elsewhere = file.parent() != Some(&env.cwd);
    let git = if is_path(&args.git) && is_elsewhere {
        env.cwd.join(&args.git).display().to_string()
    } else {
        args.git.clone()
    };
    let set = DeclaredSet {
        name: name.clone(),
        git,
        rev: args.rev.clone(),
        is_signed: args.signed,
        at: Position::default(),
    };
    let locked = fetch::newest(&set, &file, None, env)?;
    writeln!(out, "added {}", plain(&locked.to_string()))?;
    let needs_trust = !args.user;
    let place = file.with_file_name(LOCK);
    let mut lock = lock_of(&place, config);
    lock.put(locked);
    let changes = vec![
        FileWrite::added(file, &table(&set))?,
        whole(&place, lock.text())?,
    ];
    write(changes, env, out)?;
    if needs_trust {
        writeln!(out, "{LOOK}")?;
    }
    Ok(ExitStatus::Yes)
}

fn table(set: &DeclaredSet) -> String {
    let signed = if set.is_signed { "signed = true\n" } else { "" };
    format!(
        "[sets.{}]\ngit = {}\nrev = {}\n{signed}",
        set.name,
        quoted(&set.git),
        quoted(&set.rev)
    )
}

fn whole(path: &Path, text: String) -> Result<FileWrite> {
    let target = Target::read(path)?;
    Ok(FileWrite {
        path: path.to_path_buf(),
        becomes: Becomes::Changed { target, text },
    })
}

fn write(mut changes: Vec<FileWrite>, env: &Environment, out: &mut dyn Write) -> Result<()> {
    changes.retain(|change| !change.is_done());
    let plan = WritePlan {
        hooks: env.cwd.clone(),
        changes,
        hints: Vec::new(),
    };
    plan.write_untrusted(&Paths::from(&env.cwd), out)
}

/// The lock file without undeclared sets. An invalid one pins nothing, and is rewritten.
fn lock_of(place: &Path, config: &Config) -> Lock {
    let mut lock = Lock::load(place, &mut Vec::new());
    lock.sets.retain(|locked| {
        config
            .sets
            .iter()
            .any(|set| set.declared.name == locked.name && set.file.with_file_name(LOCK) == place)
    });
    lock
}

fn update(args: &UpdatedSets, config: &Config, env: &Environment, out: &mut dyn Write) -> Result {
    let sets = named(config, args.name.as_deref())?;
    if config.sets.is_empty() {
        streams::remark(NONE_DECLARED);
    } else if sets.is_empty() {
        streams::remark(
            "no set was updated: hookrun cannot write to the folder of any hookrun.toml that declares \
             a set; check the permissions of these folders\n",
        );
    }
    let mut locks: BTreeMap<PathBuf, Lock> = BTreeMap::new();
    let mut needs_trust = false;
    for set in &sets {
        let old = set.locked.as_ref();
        let pin = if args.moved { None } else { old };
        let new = fetch::newest(&set.declared, &set.file, pin, env)?;
        let word = if old == Some(&new) {
            "unchanged"
        } else {
            "updated"
        };
        writeln!(out, "{word} {}", plain(&new.to_string()))?;
        let has_changed = old.map(|old| &old.tree) != Some(&new.tree);
        let is_of_project = set.layer == LayerKind::Project;
        needs_trust |= has_changed && is_of_project;
        let place = set.file.with_file_name(LOCK);
        let lock = locks.entry(place.clone());
        lock.or_insert_with(|| lock_of(&place, config)).put(new);
    }
    let mut changes = Vec::new();
    for (file, lock) in &locks {
        changes.push(whole(file, lock.text())?);
    }
    write(changes, env, out)?;
    if needs_trust {
        writeln!(out, "{LOOK}")?;
    }
    Ok(ExitStatus::Yes)
}

/// The declared sets with this name; without a name those with a writable lock.
fn named<'c>(config: &'c Config, name: Option<&str>) -> Result<Vec<&'c UsedSet>> {
    let Some(name) = name else {
        let all = config.sets.iter();
        return Ok(all
            .filter(|set| {
                let folder = set.file.parent().unwrap_or(&set.file);
                access(folder, Access::WRITE_OK).is_ok()
            })
            .collect());
    };
    let meant: Vec<&UsedSet> = config
        .sets
        .iter()
        .filter(|set| set.declared.name == name)
        .collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let names = config.sets.iter().map(|set| set.declared.name.as_str());
    let help = did_you_mean(nearest(name, names), || {
        format!("`hookrun sets add {name} --git URL --rev REV` declares it")
    });
    let cause = format!("no set `{name}` is declared");
    Err(Complaint::with_cure(cause, help))
}

/// Verifies and fetches all sets: 0 all usable, 1 not all.
pub(crate) fn verify(config: &Config, out: &mut dyn Write, env: &Environment) -> Result {
    if config.sets.is_empty() {
        streams::remark(NONE_DECLARED);
    }
    let mut exit = ExitStatus::Yes;
    for set in &config.sets {
        match verified(set, env) {
            Ok(line) => writeln!(out, "{}", plain(&line))?,
            Err(complaint) => {
                streams::remark(&format!("error: {}\n", plain(&complaint.to_string())));
                exit = ExitStatus::No;
            }
        }
    }
    Ok(exit)
}

/// Verifies a set's files and signature, and fetches missing files.
fn verified(set: &UsedSet, env: &Environment) -> Result<String> {
    let locked = match (&set.locked, &set.folder) {
        (Some(locked), _) => locked,
        (None, Err(cause)) => return Err(Complaint::new(cause.clone())),
        (None, Ok(_)) => {
            let name = &set.declared.name;
            let cause = format!("the set `{name}` is not locked");
            return Err(Complaint::with_cure(
                cause,
                format!("run `hookrun sets update {name}`"),
            ));
        }
    };
    if set.folder.is_ok() {
        if set.declared.is_signed {
            fetch::locked(set, locked, env)?;
        }
        return Ok(format!("ok {locked}"));
    }
    fetch::locked(set, locked, env)?;
    Ok(format!("fetched {locked}"))
}

/// Compares projects' sets with their repositories: 0 current, 1 behind, 2 unknown.
fn outdated(args: &OutdatedSets, env: &Environment, out: &mut dyn Write) -> Result {
    let mut folders: Vec<PathBuf> = args.folders.iter().map(|one| env.cwd.join(one)).collect();
    if folders.is_empty() {
        folders.push(env.cwd.clone());
    }
    let paths = Paths::from(&env.cwd);
    let mut exit = ExitStatus::Yes;
    for folder in folders {
        let unreadable = format!("cannot read `{}`", folder.display());
        let there = Environment {
            cwd: folder.canonicalize().map_err(failed(unreadable))?,
            ..env.clone()
        };
        let project = paths.show(&there.cwd);
        let config = Config::load(&Choice::default(), &there, ConfigScope::All);
        let sets = config.sets.iter();
        for set in sets.filter(|set| set.layer == LayerKind::Project) {
            let (state, newest) = freshness(set, env);
            if state == BEHIND {
                exit = ExitStatus::No;
            } else if state == UNKNOWN && exit == ExitStatus::Yes {
                exit = ExitStatus::CouldNot;
            }
            let DeclaredSet { name, rev, .. } = &set.declared;
            let line = format!("{project}: {name} {rev}: {state}{newest}");
            writeln!(out, "{}", plain(&line))?;
        }
    }
    Ok(exit)
}

const BEHIND: &str = "behind";
const UNKNOWN: &str = "unknown";

/// A set's state against its repository, with the newest version or the reason.
fn freshness(set: &UsedSet, env: &Environment) -> (&'static str, String) {
    let rev = &set.declared.rev;
    let Some(locked) = &set.locked else {
        return (UNKNOWN, ": the set is not locked".to_string());
    };
    match fetch::newest_reference(&set.declared, &set.file, env) {
        Ok(Some((_, commit))) if commit == locked.commit => ("current", String::new()),
        Ok(Some((newest, _))) if newest == *rev => {
            (BEHIND, format!(": {rev} is now another commit"))
        }
        Ok(Some((newest, _))) => (BEHIND, format!(": {newest}")),
        Ok(None) => (UNKNOWN, format!(": the repository has no `{rev}`")),
        Err(complaint) => (UNKNOWN, format!(": {}", complaint.cause)),
    }
}

/// Lists all sets: 0 all usable, 1 not all.
fn list(config: &Config, format: TextFormat, env: &Environment, out: &mut dyn Write) -> Result {
    let paths = Paths::from(&env.cwd);
    match format {
        TextFormat::Json => {
            let sets: Vec<Value> = config.sets.iter().map(|set| json_of(set, &paths)).collect();
            writeln!(out, "{:#}", json!({ "version": 1, "sets": sets }))?;
        }
        TextFormat::Human => {
            if config.sets.is_empty() {
                out.write_all(NONE_DECLARED.as_bytes())?;
            }
            for set in &config.sets {
                let mut shown = json_of(set, &paths);
                writeln!(out, "{BOLD}{}{BOLD:#}", words_of(&shown["name"].take()))?;
                members(out, &shown)?;
            }
        }
    }
    let are_usable = config.sets.iter().all(|set| set.folder.is_ok());
    Ok(ExitStatus::yes_if(are_usable))
}

fn json_of(set: &UsedSet, paths: &Paths) -> Value {
    let locked = set.locked.as_ref();
    present(json!({
        "name": set.declared.name,
        "git": set.declared.git,
        "rev": set.declared.rev,
        "commit": locked.map(|locked| &locked.commit),
        "tree": locked.map(|locked| format!("sha256:{}", locked.tree)),
        "files": locked.map(|locked| locked.files),
        "signed": locked.is_some_and(|locked| locked.is_signed),
        "signer": locked.map(|locked| &locked.signer).filter(|signer| !signer.is_empty()),
        "layer": set.layer.name(),
        "file": paths.show(&set.file),
        "line": set.declared.at.line,
        "folder": set.folder.as_ref().ok(),
        "problem": set.folder.as_ref().err(),
    }))
}
