//! `--watch`: plays again what a change of a file touches.
//!
//! Files are polled: that works on every system and file system, and costs little for the few files
//! of hooks and cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::Environment;
use crate::config::discover::{MANIFEST, SUITES};
use crate::engine::complaint::Complaint;
use crate::engine::exec::{Abort, command as program};
use crate::engine::hook::Hook;
use crate::lab::report::{Paths, plain};
use crate::lab::scenario::{CaseResult, End};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::round::{SuiteCommand, round};
use super::selection::chosen;
use super::trial::{self, Bench, CaseFile, CaseTrial, LoadedSuite};
use super::{found, load};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

const LOOK_EVERY: Duration = Duration::from_millis(200);

const MOST_FILES: usize = 10_000;

/// What differs between two versions of a file.
type Stamp = (i64, i64, u64, u64, u32);

/// Every file that matters, as it was when it was looked at.
type Snapshot = BTreeMap<PathBuf, Option<Stamp>>;

#[derive(Debug, Default)]
struct OwedRounds {
    /// What has changed since cases were last played; `None` if they never were, and all are owed.
    changed: Option<BTreeSet<PathBuf>>,
    /// The cases that were not as expected, or were not reached: a round without them would look as
    /// if they were.
    cases: BTreeSet<(PathBuf, String)>,
}

impl OwedRounds {
    /// Adds what has changed to what has not been played yet.
    fn add(&mut self, news: impl IntoIterator<Item = PathBuf>) {
        if let Some(changed) = &mut self.changed {
            changed.extend(news);
        }
    }

    fn has(&self, trial: &CaseTrial, loaded: &LoadedSuite) -> bool {
        let Some(changed) = &self.changed else {
            return true;
        };
        self.cases
            .contains(&(trial.file.clone(), trial.case.name.clone()))
            || changed.iter().any(|path| touches(path, trial, loaded))
    }

    /// All that was owed was played.
    fn settle(&mut self, played: Vec<CaseResult>) {
        let is_good = |end: &End| matches!(end, End::Expected | End::Skipped(_));
        let bad = played.into_iter().filter(|one| !is_good(&one.end));
        self.cases = bad.map(|one| (one.file, one.name)).collect();
        self.changed = Some(BTreeSet::new());
    }
}

/// Plays the cases, and again what a change touches, until hookrun is interrupted or its reader
/// leaves.
pub(super) fn watch(command: &SuiteCommand<'_>, out: &mut dyn Write) -> Result {
    let SuiteCommand {
        args, env, abort, ..
    } = command;
    let paths = args.suite.suite.as_deref().unwrap_or_default();
    let mut files = found::find(paths, &args.source, env)?;
    let mut owed = OwedRounds::default();
    loop {
        // Before they are read: a change while they are is then seen as one.
        let own: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        let early = snapshot(own.iter().cloned());
        let loaded = load::load(&files, &args.source, env);
        let watched = watched(&loaded, own);
        let mut seen = snapshot(watched.iter().cloned());
        seen.extend(early);
        let mut trials = chosen(&loaded.trials, args);
        trials.retain(|trial| owed.has(trial, &loaded));
        let is_worth = owed.changed.is_none() || !trials.is_empty() || !loaded.checks.is_empty();
        if is_worth {
            match round(command, &loaded, &trials, out) {
                Ok((_, played)) => owed.settle(played),
                Err(failure) => say(&failure),
            }
        }
        out.flush()?;
        streams::remark(&format!("watching {} files\n", seen.len()));
        let Some(news) = wait_for_change(&seen, &loaded, &files, abort) else {
            return Ok(abort.signal().map_or(ExitStatus::Yes, ExitStatus::Signal));
        };
        tell(&news, env);
        owed.add(news);
        match found::find(paths, &args.source, env) {
            Ok(found) => {
                let is_new = |file: &&CaseFile| !files.contains(file);
                owed.add(found.iter().filter(is_new).map(|file| file.path.clone()));
                files = found;
            }
            Err(failure) => say(&failure),
        }
    }
}

fn say(failure: &Complaint) {
    streams::remark(&format!("error: {}\n", failure));
}

fn tell(changed: &BTreeSet<PathBuf>, env: &Environment) {
    let paths = Paths::from(&env.cwd);
    for path in changed {
        streams::remark(&format!("changed: {}\n", plain(&paths.show(path))));
    }
}

/// The files that have changed, once some have; `None` when nobody waits for them any more.
fn wait_for_change(
    seen: &Snapshot,
    loaded: &LoadedSuite,
    files: &[CaseFile],
    abort: &Abort,
) -> Option<BTreeSet<PathBuf>> {
    loop {
        let mut fds = [PollFd::from_borrowed_fd(abort.as_fd(), PollFlags::IN)];
        let timeout = Timespec::try_from(LOOK_EVERY).ok();
        // An interrupted wait is looked at like one that is over.
        let _ = rustix::event::poll(&mut fds, timeout.as_ref());
        if abort.times_raised() > 0 || streams::has_reader_left() {
            return None;
        }
        let own = files.iter().map(|file| file.path.clone()).collect();
        let now = snapshot(watched(loaded, own).into_iter().chain(seen.keys().cloned()));
        let is_new = |(path, stamp): &(&PathBuf, &Option<Stamp>)| seen.get(*path) != Some(*stamp);
        let changed: BTreeSet<PathBuf> = now
            .iter()
            .filter(is_new)
            .map(|(path, _)| path.clone())
            .collect();
        if !changed.is_empty() {
            return Some(changed);
        }
    }
}

fn snapshot(paths: impl Iterator<Item = PathBuf>) -> Snapshot {
    paths.map(|path| (path.clone(), stamp(&path))).collect()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = path.metadata().ok()?;
    Some((
        meta.mtime(),
        meta.mtime_nsec(),
        meta.size(),
        meta.ino(),
        meta.mode(),
    ))
}

/// Every file that decides what comes of the cases, and the folders that may get more.
fn watched(loaded: &LoadedSuite, own: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    let mut all: BTreeSet<PathBuf> = own.into_iter().collect();
    all.extend(
        all.clone()
            .iter()
            .filter_map(|file| file.parent().map(Path::to_path_buf)),
    );
    for bench in &loaded.benches {
        all.extend(files_of(bench));
        all.extend(bench.config.hooks.iter().flat_map(program_files));
    }
    all.extend(loaded.trials.iter().flat_map(sources));
    all
}

fn files_of(bench: &Bench) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for layer in &bench.config.layers {
        all.extend(layer.manifests.iter().chain(&layer.settings).cloned());
        // One that is not there may come.
        all.insert(layer.folder.join(MANIFEST));
        all.extend(layer.loose.iter().map(|loose| loose.path.clone()));
        for folder in &layer.drop_ins {
            walk(folder, &mut all);
        }
    }
    all
}

fn walk(folder: &Path, all: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if all.len() >= MOST_FILES {
            return;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name() != SUITES {
                walk(&entry.path(), all);
            }
        } else {
            all.insert(entry.path());
        }
    }
}

fn program_files(hook: &Hook) -> Vec<PathBuf> {
    let program = program::resolve(&hook.handler, None).ok();
    let program = program
        .map(|program| program.path)
        .filter(|path| !path.starts_with("/usr"));
    [Some(hook.source.file.clone()), program]
        .into_iter()
        .flatten()
        .collect()
}

fn sources(trial: &CaseTrial) -> impl Iterator<Item = PathBuf> {
    let folder = trial.file.parent().unwrap_or(&trial.file);
    trial::sources(&trial.case)
        .into_iter()
        .map(|(path, _)| folder.join(path))
}

/// Whether what comes of a case may be another after `path` has changed. A file that
/// belongs to no single hook may matter to all hooks around it.
fn touches(path: &Path, trial: &CaseTrial, loaded: &LoadedSuite) -> bool {
    if trial.file == path || sources(trial).any(|source| source == path) {
        return true;
    }
    let is_case = loaded
        .trials
        .iter()
        .any(|other| other.file == path || sources(other).any(|source| source == path));
    // A new file changes its folder too, and is named itself.
    if is_case || path.is_dir() {
        return false;
    }
    trial.asks.iter().any(|asks| {
        let is_of = |hook: &Hook| {
            hook.source.line.is_none() && program_files(hook).iter().any(|file| file == path)
        };
        if asks.registry.hooks().iter().any(|hook| is_of(hook)) {
            return true;
        }
        let is_of_another = asks.bench.config.hooks.iter().any(is_of);
        let layers = &asks.bench.config.layers;
        let is_beside = layers.iter().any(|layer| {
            path.starts_with(&layer.folder)
                || layer.drop_ins.iter().any(|dir| path.starts_with(dir))
        });
        !is_of_another && is_beside
    })
}
