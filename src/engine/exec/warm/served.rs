//! Programs that stay up: each answers one event at a time, and waits here for the next one.
//!
//! One that has written anything that nobody asked for, has ended, or whose files have changed gets
//! no event.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::engine::exec::child::{Child, GIVE_UP, Status, reap_within};
use crate::engine::exec::command::Program;
use crate::engine::exec::job::Job;
use crate::engine::exec::spawn::Spawn;
use crate::engine::exec::tree::{self, SparedHooks};
use crate::engine::lock::locked;

/// The variable whose value each of its processes has.
pub(crate) const MARK: &str = "HOOKRUN_RUN_ID";

/// After this many events a program is started anew: what it leaks at each event stays small, and
/// its start costs microseconds an event.
const MOST_EVENTS: u32 = 1_000;

/// After this time it is started anew: it knows its environment, the time zone and its libraries as
/// they were at its start.
const LONGEST_LIFE: Duration = Duration::from_secs(3600);

/// After this time without an event it makes way for others.
const LONGEST_IDLE: Duration = Duration::from_secs(600);

/// How many of one hook wait at most: more than these are only started while events overlap.
const MOST_ALIKE: usize = 4;

/// How many wait at most, of all hooks.
const MOST_WAITING: usize = 16;

/// How long one may take to end after the end of its input.
const GRACE: Duration = Duration::from_millis(500);

/// For how long a look at its files counts: the same as for hooks that `serve` has read.
const FRESH: Duration = Duration::from_millis(20);

/// A folder with more files than this is none of scripts: of it only the file itself counts.
const MOST_FILES: usize = 256;

/// What is known of a program that stays up, besides its process.
#[derive(Debug)]
pub(crate) struct ServedLife {
    hook: String,
    /// See [`ServedPool::key`].
    key: u64,
    /// What its processes carry.
    mark: String,
    spared: Arc<Mutex<SparedHooks>>,
    files: WatchedFiles,
    born: Instant,
    answered: u32,
}

/// The programs of an engine that wait for events.
#[derive(Debug, Default)]
pub(crate) struct ServedPool {
    hasher: RandomState,
    waiting: Mutex<Vec<WaitingProgram>>,
    /// Threads that wait for the ends of others.
    ending: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct WaitingProgram {
    child: Child,
    life: ServedLife,
    since: Instant,
}

impl Drop for ServedLife {
    /// Ends what is left of its processes. Its own one has ended.
    fn drop(&mut self) {
        locked(&self.spared)
            .marks
            .retain(|known| *known != self.mark);
        tree::end_marked(&self.mark);
    }
}

impl WaitingProgram {
    /// Ends it at once.
    fn end(mut self) {
        self.child.close_stdin();
        self.child.kill();
        reap_within(self.child.pid, GIVE_UP);
    }

    /// Gives it the end of its input and a moment to end, and then ends it.
    fn end_gently(mut self) {
        self.child.close_stdin();
        let until = Instant::now() + GRACE;
        while self.child.status() == Status::Running && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        self.end();
    }

    /// Whether it waits as it should.
    fn is_good(&mut self) -> bool {
        self.child.is_quiet()
            && self.child.status() == Status::Running
            && !self.life.files.have_changed()
    }
}

impl ServedPool {
    /// A program that is about to start, with this mark. No sweep ends what carries it.
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

    /// What two events must have in common for one process.
    fn key(&self, job: &Job<'_>, spawn: &Spawn<'_>) -> u64 {
        let variables = job.variables.iter().filter(|(name, _)| *name != MARK);
        let variables: Vec<_> = variables.collect();
        let hook = (&job.hook.name, &job.hook.source.file);
        let inherited = &spawn.inherited.variables;
        let around = (&job.cwd, inherited, variables, &job.without);
        self.hasher.hash_one((hook, spawn.program, around))
    }

    /// A program that waits for such an event.
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

    /// Lets a program wait that has answered, and is fit for more. Others that nobody needs end.
    pub(crate) fn keep(&self, child: Child, mut life: ServedLife) {
        life.answered += 1;
        let now = Instant::now();
        let is_worn = life.answered >= MOST_EVENTS || life.born.elapsed() >= LONGEST_LIFE;
        let is_fit = !is_worn && child.is_fed();
        let program = WaitingProgram {
            child,
            life,
            since: now,
        };
        let mut waiting = locked(&self.waiting);
        let mut useless: Vec<WaitingProgram> = waiting
            .extract_if(.., |one| now - one.since >= LONGEST_IDLE)
            .collect();
        let hook = &program.life.hook;
        let alike = waiting.iter().filter(|one| one.life.hook == *hook);
        if is_fit && alike.count() < MOST_ALIKE {
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

    /// Ends a program while others go on.
    fn dismiss(&self, program: WaitingProgram) {
        let mut ending = locked(&self.ending);
        ending.retain(|thread| !thread.is_finished());
        let builder = thread::Builder::new().name("hookrun-served".to_string());
        // Without a thread it ends here and now, when the closure is dropped.
        if let Ok(thread) = builder.spawn(move || program.end_gently()) {
            ending.push(thread);
        }
    }
}

impl Drop for ServedPool {
    /// Ends all of them.
    fn drop(&mut self) {
        let waiting = std::mem::take(&mut *locked(&self.waiting));
        waiting.into_iter().for_each(|one| self.dismiss(one));
        let ending = std::mem::take(&mut *locked(&self.ending));
        for thread in ending {
            // It does not panic; if it did, nothing would be left to do.
            let _ = thread.join();
        }
    }
}

/// Device, inode, size and times of a file.
pub(super) fn identity(file: &Path) -> Option<[i64; 5]> {
    let meta = file.metadata().ok()?;
    Some([
        meta.dev().cast_signed(),
        meta.ino().cast_signed(),
        meta.size().cast_signed(),
        meta.mtime(),
        meta.ctime() * 1_000_000_000 + meta.ctime_nsec(),
    ])
}

/// The files that a program was started from: itself, the files that its words name, and what is in
/// the folders of those.
#[derive(Debug)]
struct WatchedFiles {
    named: Vec<PathBuf>,
    folders: BTreeSet<PathBuf>,
    seen: Vec<(PathBuf, Option<[i64; 5]>)>,
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

    fn look(&self) -> Vec<(PathBuf, Option<[i64; 5]>)> {
        let mut files = self.named.clone();
        for folder in &self.folders {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut inside: Vec<PathBuf> = entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
                .take(MOST_FILES + 1)
                .map(|entry| entry.path())
                .collect();
            if inside.len() <= MOST_FILES {
                inside.sort();
                files.append(&mut inside);
            }
        }
        let identities: Vec<_> = files.iter().map(|file| identity(file)).collect();
        files.into_iter().zip(identities).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::catalog;
    use crate::engine::exec::child::status_of;
    use crate::engine::exec::job::Runs;
    use crate::engine::exec::spawn::Inherited;
    use crate::engine::hook::{Hook, Permit};

    /// `cat`, which waits.
    fn waiting(pool: &ServedPool) -> WaitingProgram {
        let hook = Hook::command("cat", "tool.pre", ["cat"]);
        let spec = catalog::find("tool.pre").unwrap();
        let program = Program {
            path: "/bin/cat".into(),
            name: "cat".into(),
            arguments: Vec::new(),
        };
        let permit = Permit {
            spec,
            hook: &hook,
            given: None,
            about: None,
        };
        let runs = Ok(Runs::Program(program.clone()));
        let job = Job::new(&hook, runs, Duration::MAX, permit);
        let spawn = Spawn {
            program: &program,
            inherited: Inherited::of_this_process(),
            variables: &[],
            without: &[],
            cwd: None,
        };
        let mark = "no-mark-of-a-test".to_string();
        let life = pool.begin(&job, &spawn, mark, &Arc::default());
        let child = Child::start(&job, true, |streams| spawn.start(streams)).unwrap();
        WaitingProgram {
            child,
            life,
            since: Instant::now(),
        }
    }

    #[test]
    fn a_pool_keeps_a_few_and_ends_all_when_it_is_dropped() {
        let pool = ServedPool::default();
        for _ in 0..MOST_ALIKE + 2 {
            let WaitingProgram { child, life, .. } = waiting(&pool);
            pool.keep(child, life);
        }
        assert_eq!(locked(&pool.waiting).len(), MOST_ALIKE);
        let pids: Vec<_> = locked(&pool.waiting)
            .iter()
            .map(|one| one.child.pid)
            .collect();
        drop(pool);
        assert!(pids.into_iter().all(|pid| status_of(pid) == Status::Lost));
    }
}
