//! Programs that stay up: each answers one event at a time, and waits here for the next one.
//!
//! One that has written anything that nobody asked for, has ended, or whose files have changed gets
//! no event. A thread ends those that nobody needs; it is there as long as programs wait.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::files::WatchedFiles;
use crate::engine::exec::child::{Child, GIVE_UP, Status};
use crate::engine::exec::command::Program;
use crate::engine::exec::job::Job;
use crate::engine::exec::spawn::{Spawn, Variables};
use crate::engine::exec::tree::{self, SparedHooks};
use crate::engine::lock::locked;

/// The variable whose value every process has of its own.
pub(crate) const MARK: &str = "HOOKRUN_RUN_ID";

/// After this many events a program is started anew: what it leaks at each event stays small, and
/// its start costs microseconds an event.
const MOST_EVENTS: u32 = 10_000;

/// After this time it is started anew: it knows its environment, the time zone and its libraries as
/// they were at its start.
const LONGEST_LIFE: Duration = Duration::from_secs(3600);

/// After this time without an event it ends.
const LONGEST_IDLE: Duration = Duration::from_secs(600);

/// By how much its memory may grow after its first answer.
const MOST_GROWTH_BYTES: u64 = 64 * 1024 * 1024;

/// How many events it answers between two looks at its memory, each of which costs 5 µs.
const LOOK_EVERY: u32 = 32;

/// How many of one hook wait at most: more than these are only started while events overlap.
const MOST_ALIKE: usize = 4;

/// How many wait at most, of all hooks.
const MOST_WAITING: usize = 16;

/// How long one may take to end after the end of its input.
const GRACE: Duration = Duration::from_millis(500);

/// How often the thread looks at those that are ending.
const TICK: Duration = Duration::from_millis(10);

/// What two events must have in common for one process.
#[derive(Debug)]
struct ServedKey {
    hook: String,
    file: PathBuf,
    program: Program,
    cwd: Option<PathBuf>,
    inherited: Variables,
    variables: Vec<(String, String)>,
    without: Vec<String>,
}

/// What is known of a program that stays up, besides its process.
#[derive(Debug)]
pub(crate) struct ServedLife {
    key: ServedKey,
    /// What its processes carry.
    mark: String,
    spared: Arc<Mutex<SparedHooks>>,
    pid: Option<i32>,
    files: WatchedFiles,
    born: Instant,
    answered: u32,
    first_bytes: u64,
}

/// The programs of an engine that wait for events.
#[derive(Debug, Default)]
pub(crate) struct ServedPool {
    shared: Arc<SharedPool>,
}

#[derive(Debug, Default)]
struct SharedPool {
    state: Mutex<PoolState>,
    /// There is something to do for the thread.
    news: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    waiting: Vec<WaitingProgram>,
    /// Those that have the end of their input.
    ending: Vec<WaitingProgram>,
    has_thread: bool,
    is_over: bool,
}

#[derive(Debug)]
struct WaitingProgram {
    child: Child,
    life: ServedLife,
    since: Instant,
}

impl ServedKey {
    fn of(job: &Job<'_>, spawn: &Spawn<'_>) -> ServedKey {
        ServedKey {
            hook: job.hook.name.clone(),
            file: job.hook.source.file.clone(),
            program: spawn.program.clone(),
            cwd: job.cwd.clone(),
            inherited: spawn.inherited.variables.clone(),
            variables: job
                .variables
                .iter()
                .map(|(name, value)| ((*name).to_string(), value.clone()))
                .collect(),
            without: job.without.iter().map(ToString::to_string).collect(),
        }
    }

    /// Whether it is that of an event.
    fn is_of(&self, job: &Job<'_>, program: &Program, inherited: &Variables) -> bool {
        let is_same = |(own, other): (&(String, String), &(&str, String))| {
            own.0 == *other.0 && (own.1 == other.1 || own.0 == MARK)
        };
        self.hook == job.hook.name
            && self.file == job.hook.source.file
            && self.program == *program
            && self.cwd == job.cwd
            && self.variables.len() == job.variables.len()
            && self.variables.iter().zip(&job.variables).all(is_same)
            && self.without == job.without
            && self.inherited == *inherited
    }
}

impl ServedLife {
    /// A program that is about to start, with this mark. No sweep ends what carries it.
    pub(crate) fn begin(
        job: &Job<'_>,
        spawn: &Spawn<'_>,
        mark: String,
        spared: &Arc<Mutex<SparedHooks>>,
    ) -> ServedLife {
        locked(spared).marks.push(mark.clone());
        let key = ServedKey::of(job, spawn);
        let files = WatchedFiles::of(&key.program, key.cwd.as_deref());
        ServedLife {
            key,
            mark,
            spared: Arc::clone(spared),
            pid: None,
            files,
            born: Instant::now(),
            answered: 0,
            first_bytes: 0,
        }
    }

    /// Counts an event that it has answered, and looks whether it should go on.
    fn is_worn(&mut self, child: &Child) -> bool {
        self.answered += 1;
        let mut grown_bytes = 0;
        if self.answered.is_multiple_of(LOOK_EVERY) || self.answered == 1 {
            let bytes = memory_of(child.pid.as_raw_nonzero().get());
            if self.answered == 1 {
                self.first_bytes = bytes;
            }
            grown_bytes = bytes.saturating_sub(self.first_bytes);
        }
        is_worn(self.answered, self.born.elapsed(), grown_bytes)
    }
}

/// The resident memory of a process that belongs to no file, plus swap.
fn memory_of(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mut kibibytes = 0;
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if !["RssAnon", "RssShmem", "VmSwap"].contains(&name) {
            continue;
        }
        let number = value.trim().trim_end_matches(" kB");
        kibibytes += number.parse::<u64>().unwrap_or(0);
    }
    kibibytes * 1024
}

fn is_worn(answered: u32, age: Duration, grown_bytes: u64) -> bool {
    answered >= MOST_EVENTS || age >= LONGEST_LIFE || grown_bytes > MOST_GROWTH_BYTES
}

impl Drop for ServedLife {
    /// Ends what is left of its processes. Its own one has ended.
    fn drop(&mut self) {
        let mut spared = locked(&self.spared);
        spared.marks.retain(|known| *known != self.mark);
        if let Some(pid) = self.pid {
            spared.pids.remove(&pid);
        }
        drop(spared);
        tree::end_marked(&self.mark);
    }
}

impl WaitingProgram {
    /// Ends it at once.
    fn end(mut self) {
        self.child.close_stdin();
        self.child.kill();
        self.child.reap_within(GIVE_UP);
    }

    /// Whether it waits as it should.
    fn is_good(&mut self) -> bool {
        self.child.is_quiet()
            && self.child.status() == Status::Running
            && !self.life.files.have_changed()
    }
}

impl ServedPool {
    /// A program that waits for such an event.
    pub(crate) fn take(
        &self,
        job: &Job<'_>,
        program: &Program,
        inherited: &Variables,
    ) -> Option<(Child, ServedLife)> {
        loop {
            let mut state = locked(&self.shared.state);
            let is_fit = |one: &WaitingProgram| one.life.key.is_of(job, program, inherited);
            let place = state.waiting.iter().rposition(is_fit)?;
            let mut found = state.waiting.remove(place);
            drop(state);
            if found.is_good() {
                return Some((found.child, found.life));
            }
            found.end();
        }
    }

    /// Lets a program wait that has answered, and is fit for more.
    pub(crate) fn keep(&self, child: Child, mut life: ServedLife) {
        let is_worn = life.is_worn(&child) || !child.is_fed();
        if life.pid.is_none() {
            let pid = child.pid.as_raw_nonzero().get();
            life.pid = Some(pid);
            locked(&life.spared).pids.insert(pid);
        }
        let now = Instant::now();
        let one = WaitingProgram {
            child,
            life,
            since: now,
        };
        let mut state = locked(&self.shared.state);
        let is_alike = |other: &&WaitingProgram| {
            let (own, other) = (&one.life.key, &other.life.key);
            own.hook == other.hook && own.file == other.file
        };
        let alike = state.waiting.iter().filter(is_alike).count();
        if is_worn || alike >= MOST_ALIKE {
            state.dismiss(one, now);
        } else {
            state.waiting.push(one);
        }
        if state.waiting.len() > MOST_WAITING {
            let oldest = state.waiting.remove(0);
            state.dismiss(oldest, now);
        }
        if !state.ending.is_empty() {
            self.shared.news.notify_all();
        }
        if !state.has_thread {
            let shared = Arc::clone(&self.shared);
            let builder = thread::Builder::new().name("hookrun-served".to_string());
            // Without a thread those that nobody needs stay until the end.
            state.has_thread = builder.spawn(move || shared.look_after()).is_ok();
        }
    }
}

impl Drop for ServedPool {
    /// Ends all of them: they get the end of their input, and a moment.
    fn drop(&mut self) {
        let over = PoolState {
            is_over: true,
            ..PoolState::default()
        };
        let state = mem::replace(&mut *locked(&self.shared.state), over);
        self.shared.news.notify_all();
        let mut left: Vec<WaitingProgram> = state.waiting.into_iter().chain(state.ending).collect();
        left.iter_mut().for_each(|one| one.child.close_stdin());
        let until = Instant::now() + GRACE;
        let is_running = |one: &WaitingProgram| one.child.status() == Status::Running;
        while left.iter().any(is_running) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        left.into_iter().for_each(WaitingProgram::end);
    }
}

impl PoolState {
    /// Gives one the end of its input.
    fn dismiss(&mut self, mut one: WaitingProgram, now: Instant) {
        one.child.close_stdin();
        one.since = now;
        self.ending.push(one);
    }

    /// Moves out what is to be ended now.
    fn due(&mut self, now: Instant) -> Vec<WaitingProgram> {
        let is_idle = |one: &mut WaitingProgram| now - one.since >= LONGEST_IDLE;
        let idle: Vec<WaitingProgram> = self.waiting.extract_if(.., is_idle).collect();
        idle.into_iter().for_each(|one| self.dismiss(one, now));
        let is_due = |one: &mut WaitingProgram| {
            now.saturating_duration_since(one.since) >= GRACE
                || one.child.status() != Status::Running
        };
        self.ending.extract_if(.., is_due).collect()
    }

    fn until_next(&self, now: Instant) -> Duration {
        if !self.ending.is_empty() {
            return TICK;
        }
        let oldest = self
            .waiting
            .iter()
            .map(|one| one.since)
            .min()
            .unwrap_or(now);
        (oldest + LONGEST_IDLE).saturating_duration_since(now) + TICK
    }
}

impl SharedPool {
    /// The main loop of the thread: until nothing waits.
    fn look_after(&self) {
        let mut state = locked(&self.state);
        loop {
            let due = state.due(Instant::now());
            if !due.is_empty() {
                drop(state);
                due.into_iter().for_each(WaitingProgram::end);
                state = locked(&self.state);
                continue;
            }
            if state.is_over || (state.waiting.is_empty() && state.ending.is_empty()) {
                state.has_thread = false;
                return;
            }
            let time = state.until_next(Instant::now());
            let waited = self.news.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
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
    fn waiting() -> WaitingProgram {
        let hook = Hook::command("cat", "tool.pre", ["cat"]);
        let spec = catalog::find("tool.pre").unwrap();
        let program = Program {
            path: "/bin/cat".into(),
            name: "cat".into(),
            arguments: Vec::new(),
        };
        let job = Job {
            hook: &hook,
            runs: Ok(Runs::Program(program.clone())),
            payload: Arc::default(),
            pipes: None,
            lines: None,
            environment: None,
            variables: Vec::new(),
            without: &[],
            cwd: None,
            timeout: Duration::MAX,
            permit: Permit {
                spec,
                hook: &hook,
                given: None,
                about: None,
            },
            sandbox: None,
            notes: Vec::new(),
            clock: None,
        };
        let inherited = Inherited::of_this_process();
        let (variables, without) = (&[][..], &[][..]);
        let spawn = Spawn {
            program: &program,
            inherited,
            variables,
            without,
            cwd: None,
        };
        let life = ServedLife::begin(
            &job,
            &spawn,
            "no-mark-of-a-test".to_string(),
            &Arc::default(),
        );
        let child = Child::start(&job, true, |streams| spawn.start(streams)).unwrap();
        WaitingProgram {
            child,
            life,
            since: Instant::now(),
        }
    }

    #[test]
    fn a_program_is_worn_by_events_age_and_growth() {
        let (old, large) = (LONGEST_LIFE, MOST_GROWTH_BYTES + 1);
        assert!(!is_worn(
            MOST_EVENTS - 1,
            old - Duration::from_secs(1),
            large - 1
        ));
        assert!(is_worn(MOST_EVENTS, Duration::ZERO, 0));
        assert!(is_worn(1, old, 0) && is_worn(1, Duration::ZERO, large));
    }

    #[test]
    fn one_that_idles_gets_the_end_of_its_input_and_is_ended_when_it_has_exited() {
        let mut state = PoolState {
            waiting: vec![waiting()],
            ..PoolState::default()
        };
        assert!(state.waiting[0].is_good());
        let now = Instant::now();
        assert!(state.due(now).is_empty() && state.waiting.len() == 1);
        let late = now + LONGEST_IDLE;
        // `cat` may have exited by the first look.
        let mut ended = state.due(late);
        assert!(state.waiting.is_empty());
        while ended.is_empty() {
            assert_eq!(state.ending.len(), 1);
            thread::yield_now();
            ended = state.due(late);
        }
        ended.into_iter().for_each(WaitingProgram::end);
    }

    #[test]
    fn a_pool_keeps_a_few_and_ends_all_when_it_is_dropped() {
        let pool = ServedPool::default();
        for _ in 0..MOST_ALIKE + 2 {
            let WaitingProgram { child, life, .. } = waiting();
            pool.keep(child, life);
        }
        assert_eq!(locked(&pool.shared.state).waiting.len(), MOST_ALIKE);
        let pids: Vec<_> = locked(&pool.shared.state)
            .waiting
            .iter()
            .map(|one| one.child.pid)
            .collect();
        drop(pool);
        assert!(pids.into_iter().all(|pid| status_of(pid) == Status::Lost));
    }
}
