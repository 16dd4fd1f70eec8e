//! Long-running programs, which answer one event at a time and wait here for the next one.
//!
//! Programs with unexpected output, changed files or an exit get no event.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::engine::exec::child::{Child, GIVE_UP, Status, reap_within, status_of};
use crate::engine::exec::command::{FileStamp, Program, stamp_of};
use crate::engine::exec::job::Job;
use crate::engine::exec::spawn::Spawn;
use crate::engine::exec::tree::{self, SparedHooks};
use crate::engine::lock::locked;

pub(crate) const MARK: &str = "HOOKRUN_RUN_ID";

/// Events before a restart, to limit leaks. A start then costs microseconds per event.
const MOST_EVENTS: u32 = 1_000;

/// Lifetime before a restart, to refresh environment, time zone and libraries.
const LONGEST_LIFE: Duration = Duration::from_secs(3600);

const LONGEST_IDLE: Duration = Duration::from_secs(600);

/// Waiting programs per hook. More are only started for overlapping events.
const MOST_ALIKE: usize = 4;

const MOST_WAITING: usize = 16;

const GRACE: Duration = Duration::from_millis(500);

/// Time between file checks, as for the hooks of `serve`.
const FRESH: Duration = Duration::from_millis(20);

/// Larger folders are not script folders: only the file itself is watched.
const MOST_FILES: usize = 256;

#[derive(Debug)]
pub(crate) struct ServedLife {
    hook: String,
    key: u64,
    mark: String,
    spared: Arc<Mutex<SparedHooks>>,
    files: WatchedFiles,
    born: Instant,
    answered: u32,
}

#[derive(Debug, Default)]
pub(crate) struct ServedPool {
    hasher: RandomState,
    waiting: Mutex<Vec<WaitingProgram>>,
    ending: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct WaitingProgram {
    child: Child,
    life: ServedLife,
    since: Instant,
}

impl Drop for ServedLife {
    /// Kills remaining processes; the program itself has exited.
    fn drop(&mut self) {
        locked(&self.spared).forget(&self.mark);
        tree::end_marked(&self.mark);
    }
}

impl WaitingProgram {
    fn end(mut self) {
        self.child.stdin = None;
        self.child.kill();
        reap_within(self.child.pid, GIVE_UP);
    }

    /// Closes stdin, waits briefly, then kills it.
    fn end_gently(mut self) {
        self.child.stdin = None;
        let until = Instant::now() + GRACE;
        while status_of(self.child.pid) == Status::Running && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        self.end();
    }

    fn is_good(&mut self) -> bool {
        self.child.is_quiet()
            && status_of(self.child.pid) == Status::Running
            && !self.life.files.have_changed()
    }
}

impl ServedPool {
    /// Registers a program that is about to start. Sweeps spare its mark.
    pub(crate) fn begin(
        &self,
        job: &Job<'_>,
        spawn: &Spawn<'_>,
        mark: String,
        spared: &Arc<Mutex<SparedHooks>>,
    ) -> ServedLife {
        locked(spared).marks.push(mark.clone());
        ServedLife {
            hook: job.hook.name.clone(),
            key: self.key(job, spawn),
            mark,
            spared: Arc::clone(spared),
            files: WatchedFiles::of(spawn.program, job.cwd.as_deref()),
            born: Instant::now(),
            answered: 0,
        }
    }

    /// Returns the key that events for one process share.
    fn key(&self, job: &Job<'_>, spawn: &Spawn<'_>) -> u64 {
        let variables = job.variables.iter().filter(|(name, _)| *name != MARK);
        let variables: Vec<_> = variables.collect();
        let hook = (&job.hook.name, &job.hook.source.file);
        let inherited = &spawn.inherited.variables;
        let around = (&job.cwd, inherited, variables, &job.without);
        self.hasher.hash_one((hook, spawn.program, around))
    }

    /// Takes a program that waits for such an event.
    pub(crate) fn take(&self, job: &Job<'_>, spawn: &Spawn<'_>) -> Option<(Child, ServedLife)> {
        let key = self.key(job, spawn);
        loop {
            let mut waiting = locked(&self.waiting);
            let place = waiting.iter().rposition(|one| one.life.key == key)?;
            let mut program = waiting.remove(place);
            drop(waiting);
            if program.is_good() {
                return Some((program.child, program.life));
            }
            program.end();
        }
    }

    /// Keeps a program for more events, if it is fit, and stops idle ones.
    pub(crate) fn keep(&self, child: Child, mut life: ServedLife) {
        life.answered += 1;
        let now = Instant::now();
        let is_worn = life.answered >= MOST_EVENTS || life.born.elapsed() >= LONGEST_LIFE;
        // Otherwise the rest of its last event would precede the next one.
        let is_fed = child.stdin.as_ref().is_some_and(|feed| feed.is_done);
        let program = WaitingProgram {
            child,
            life,
            since: now,
        };
        let mut waiting = locked(&self.waiting);
        let idle = waiting.extract_if(.., |one| now - one.since >= LONGEST_IDLE);
        let mut useless: Vec<WaitingProgram> = idle.collect();
        let hook = &program.life.hook;
        let alike = waiting.iter().filter(|one| one.life.hook == *hook);
        if !is_worn && is_fed && alike.count() < MOST_ALIKE {
            waiting.push(program);
        } else {
            useless.push(program);
        }
        if waiting.len() > MOST_WAITING {
            useless.push(waiting.remove(0));
        }
        drop(waiting);
        useless.into_iter().for_each(|one| self.dismiss(one));
    }

    /// Stops a program in the background.
    fn dismiss(&self, program: WaitingProgram) {
        let mut ending = locked(&self.ending);
        ending.retain(|thread| !thread.is_finished());
        let builder = thread::Builder::new().name("hookrun-served".to_string());
        // Without a thread, dropping the closure stops it here.
        if let Ok(thread) = builder.spawn(move || program.end_gently()) {
            ending.push(thread);
        }
    }
}

impl Drop for ServedPool {
    fn drop(&mut self) {
        let waiting = std::mem::take(&mut *locked(&self.waiting));
        waiting.into_iter().for_each(|one| self.dismiss(one));
        let ending = std::mem::take(&mut *locked(&self.ending));
        for thread in ending {
            let _ = thread.join();
        }
    }
}

pub(super) fn identity(file: &Path) -> Option<FileStamp> {
    Some(stamp_of(&file.metadata().ok()?))
}

/// Files of a program: its executable, the files in its arguments, and their folders.
#[derive(Debug)]
struct WatchedFiles {
    named: Vec<PathBuf>,
    folders: BTreeSet<PathBuf>,
    seen: Vec<(PathBuf, Option<FileStamp>)>,
    seen_at: Instant,
}

impl WatchedFiles {
    fn of(program: &Program, cwd: Option<&Path>) -> WatchedFiles {
        let cwd = cwd.unwrap_or(Path::new("."));
        let words = program.arguments.iter().map(|word| cwd.join(word));
        let mut named: Vec<PathBuf> = words.filter(|file| file.is_file()).collect();
        if Path::new(&program.name).components().count() > 1 {
            named.push(program.path.clone());
        }
        let folders = named.iter().filter_map(|file| file.parent());
        let folders = folders.map(Path::to_path_buf).collect();
        named.push(program.path.clone());
        let mut files = WatchedFiles {
            named,
            folders,
            seen: Vec::new(),
            seen_at: Instant::now(),
        };
        files.seen = files.look();
        files
    }

    fn have_changed(&mut self) -> bool {
        if self.seen_at.elapsed() < FRESH {
            return false;
        }
        self.seen_at = Instant::now();
        self.look() != self.seen
    }

    fn look(&self) -> Vec<(PathBuf, Option<FileStamp>)> {
        let mut files = self.named.clone();
        for folder in &self.folders {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let inside = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
            let inside = inside.take(MOST_FILES + 1).map(|entry| entry.path());
            let mut inside: Vec<PathBuf> = inside.collect();
            if inside.len() <= MOST_FILES {
                inside.sort();
                files.append(&mut inside);
            }
        }
        let identities: Vec<_> = files.iter().map(|file| identity(file)).collect();
        files.into_iter().zip(identities).collect()
    }
}
