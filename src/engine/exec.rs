//! Runs one step of a plan: one hook, or several at once.
//!
//! One thread and one readiness loop over what the hooks write, read and do. Whatever a hook
//! does, it ends: by itself, at its timeout, when the budget is used up, or on abort; and its
//! process tree ends with it. Measurements and reasons for this form: `docs/executor.md`.

pub mod call;
mod capture;
mod cgroup;
mod child;
pub mod command;
pub mod confine;
mod entry;
pub mod heartbeat;
pub mod keeper;
mod live;
mod progress;
pub mod sandbox;
pub mod signals;
mod spawn;
mod step;
#[cfg(feature = "tokio")]
mod tasks;
pub mod tree;
mod usage;
mod workers;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::engine::event::payload::Payload;
use crate::engine::hook::{Background, Containment, Hook};
use crate::engine::run::{Ending, StartError, Trace};
use crate::engine::ui::Desk;
use crate::engine::ui::clock::Clock;
use rustix::process::Pid;

use crate::engine::hook::convention::Permit;
pub use call::FunctionCall;
use command::Program;
pub use entry::OwnProgram;
pub use heartbeat::Heartbeat;
use keeper::Keeper;
pub use progress::{HookProgress, Watcher};
use sandbox::SandboxRules;
pub use signals::{Abort, hold_out};
use spawn::{Inherited, Variables};
use step::RunningStep;
pub use tree::Subreaper;
pub use workers::MOST_FUNCTIONS;
use workers::Workers;

/// Between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_millis(200);

/// How long output is waited for after a hook has exited: a process that it started may hold
/// the pipe for hours (nextest's rule and number).
pub const DRAIN: Duration = Duration::from_millis(100);

/// How long the end of an answer is waited for at a gate while a process still holds stdout: what
/// it says last may refuse.
pub const HELD: Duration = Duration::from_secs(1);

/// How long a killed process is waited for: one in an uninterruptible sleep never ends.
pub const GIVE_UP: Duration = Duration::from_secs(1);

/// The first pause before a start is tried again; it doubles each time.
const RETRY_FIRST: Duration = Duration::from_millis(10);

/// How often a start is tried again when the file is busy or the system short of processes.
const RETRIES: u32 = 6;

/// How long reading the longest answer may take before a watchdog steps in.
const JUDGING: Duration = Duration::from_secs(10);

/// How often a hook is looked at that is past its deadline while a person is being asked.
const ASKING: Duration = Duration::from_millis(50);

/// How often a hook is looked at where the system has no pidfd, and how often a second
/// request to stop is looked for.
const TICK: Duration = Duration::from_millis(5);

/// One hook that is to be run.
#[derive(Debug)]
pub struct Job<'a> {
    /// The hook.
    pub hook: &'a Hook,
    /// What is run, or why nothing can be.
    pub runs: Result<Runs, StartError>,
    /// Its stdin: the context and a final newline.
    pub payload: Arc<Payload>,
    /// The environment that it starts from; `None` for hookrun's own, as it was when the engine
    /// started its first hook.
    pub environment: Option<&'a [(OsString, OsString)]>,
    /// Variables beside that environment.
    pub variables: Vec<(String, String)>,
    /// Variables of hookrun's own environment that it does not get.
    pub without: &'a [&'a str],
    /// Its working directory; `None` for hookrun's own.
    pub cwd: Option<PathBuf>,
    /// How long it may run.
    pub timeout: Duration,
    /// What it may answer.
    pub permit: Permit<'a>,
    /// Its sandbox.
    pub rules: Option<SandboxRules>,
    /// What the person who wrote it should know before it has run.
    pub notes: Vec<String>,
    /// How long it asks a person, which its timeout does not count; `None` if it cannot ask.
    pub clock: Option<Arc<Clock>>,
}

/// What is run.
#[derive(Debug)]
pub enum Runs {
    /// A process.
    Program(Program),
    /// A function; of the rest of its [`Job`] only the hook and the permit matter.
    Call(FunctionCall),
}

impl<'a> Job<'a> {
    /// The job of a hook that is a function.
    pub fn of_function(
        hook: &'a Hook,
        timeout: Duration,
        call: FunctionCall,
        permit: Permit<'a>,
    ) -> Job<'a> {
        Job {
            hook,
            runs: Ok(Runs::Call(call)),
            payload: Arc::default(),
            environment: None,
            variables: Vec::new(),
            without: &[],
            cwd: None,
            timeout,
            permit,
            rules: None,
            notes: Vec::new(),
            clock: None,
        }
    }

    /// Whether processes of it may live on when it has exited, those in its group or those that
    /// have left it.
    fn may_leave_processes(&self) -> bool {
        let by_spec = self.hook.background == Background::Detach
            || self.hook.containment == Containment::Group;
        by_spec && !self.hook.handler.is_function()
    }
}

/// The time that is left for everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// When it is used up.
    pub until: Instant,
    /// How long it was, for the reason.
    pub whole: Duration,
}

impl Budget {
    /// A budget of `whole`, from `started` on. One beyond what the clock can express never ends.
    pub fn from(started: Instant, whole: Duration) -> Budget {
        let far = Duration::from_secs(u32::MAX.into());
        Budget { until: started.checked_add(whole).unwrap_or(started + far), whole }
    }
}

/// What runs hooks, from several threads at once if need be. Clones share their keeper and their
/// threads.
#[derive(Debug, Clone)]
pub struct Engine {
    /// How many hooks run at once; the others wait, and their time does not run. `None` for
    /// twice the number of processors, at most 16.
    pub jobs: Option<usize>,
    /// What ends it early.
    pub abort: Option<Abort>,
    /// What ends this clone early, beside `abort`.
    pub cancel: Option<Abort>,
    /// The ground on which to sweep for processes that left their group. It is swept when no
    /// hook runs.
    pub subreaper: Option<Arc<Subreaper>>,
    /// The mark that only the hooks of this clone carry: what they have left behind is swept while
    /// those of other clones run.
    pub mark: Option<String>,
    /// hookrun's own program: the keeper, which ends the hooks if this process is killed with
    /// SIGKILL, and what sets bounds that cannot be set from outside.
    pub program: Option<OwnProgram>,
    /// What tells a watchdog that the engine is alive.
    pub heartbeat: Option<Heartbeat>,
    /// Who watches the hooks run.
    pub watcher: Option<Watcher>,
    /// Where hooks come to ask a person, or to send messages.
    pub desk: Option<Desk>,
    /// Where async functions run; `None` for a runtime of its own, made for the first one.
    #[cfg(feature = "tokio")]
    pub runtime: Option<tokio::runtime::Handle>,
    shared: Arc<EngineShared>,
}

/// What the clones of an engine share.
#[derive(Debug, Default)]
struct EngineShared {
    /// Held by every step while it runs, and alone by a sweep: it would end hooks that run.
    steps: RwLock<()>,
    /// Hooks so far that may leave processes behind.
    spared: Mutex<HashSet<String>>,
    /// The keeper, once a hook has run long enough.
    kept: Mutex<Option<Keeper>>,
    /// The keeper could not be started; it is not tried again.
    has_no_keeper: AtomicBool,
    /// What hooks inherit, once one has needed it.
    inherited: Mutex<Option<Inherited>>,
    /// How many control groups were made, for their names.
    cgroups_made: AtomicU64,
    /// The threads in which functions run.
    workers: Workers,
    #[cfg(feature = "tokio")]
    runtime: tasks::OwnRuntime,
}

/// What `mutex` guards. That a thread panicked while it held the lock does not matter: every
/// change under one of ours is a single step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// An engine that is ended by `abort` and sweeps `subreaper`.
    pub fn new(abort: Option<Abort>, subreaper: Option<Subreaper>) -> Engine {
        Engine {
            jobs: None,
            abort,
            cancel: None,
            subreaper: subreaper.map(Arc::new),
            mark: None,
            program: None,
            heartbeat: None,
            watcher: None,
            desk: None,
            #[cfg(feature = "tokio")]
            runtime: None,
            shared: Arc::default(),
        }
    }

    /// One for hooks that nobody waits for: it shares the threads of this one, and does without
    /// the guards that depend on the end of a decision.
    #[must_use]
    pub fn detached(&self) -> Engine {
        Engine { subreaper: None, program: None, heartbeat: None, watcher: None, ..self.clone() }
    }

    /// Whether it was interrupted.
    pub fn is_aborted(&self) -> bool {
        self.times_aborted() > 0
    }

    /// How often it was interrupted.
    pub fn times_aborted(&self) -> u64 {
        [&self.abort, &self.cancel].into_iter().flatten().map(Abort::times_raised).sum()
    }

    /// What becomes of a hook when it was interrupted.
    fn aborted(&self) -> Ending {
        Ending::Aborted { signal: self.stopped_by() }
    }

    /// The signal that told it to stop, if it was one.
    pub fn stopped_by(&self) -> Option<i32> {
        self.abort.as_ref().and_then(Abort::signal)
    }

    /// Runs all `jobs` and returns what became of each, in their order. When `settles` says that
    /// one of them decided, those after it are ended: what they would say no longer counts.
    pub fn step(
        &self,
        jobs: &[Job<'_>],
        budget: Option<Budget>,
        settles: &dyn Fn(&Trace) -> bool,
    ) -> Vec<Trace> {
        for job in jobs.iter().filter(|job| job.may_leave_processes()) {
            locked(&self.shared.spared).insert(job.hook.name.clone());
        }
        let running = self.shared.steps.read().unwrap_or_else(PoisonError::into_inner);
        let (mut traces, groups) = RunningStep::new(self, jobs, budget, settles).run();
        drop(running);
        self.sweep(jobs, &mut traces, &groups);
        traces
    }

    /// What a hook inherits; with `given`, of variables only these.
    fn inherited(&self, given: Option<&[(OsString, OsString)]>) -> io::Result<Inherited> {
        let mut inherited =
            locked(&self.shared.inherited).get_or_insert_with(Inherited::of_this_process).clone();
        if let Some(given) = given {
            inherited.variables = Variables::of(given)?;
        }
        Ok(inherited)
    }

    /// Tells the watchdog when we shall be heard of again.
    fn expect_within(&self, within: Duration) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.expect_within(within);
        }
    }

    /// How many of `wanted` hooks may run at once. The number of processors is asked for only
    /// where it matters: the system reads three files for it.
    fn at_once(&self, wanted: usize) -> usize {
        match self.jobs {
            Some(jobs) => jobs.max(1),
            None if wanted <= 2 => 2,
            // Spawning is what costs, so a second spawner per processor is all that helps; the
            // limit keeps the descriptors of as many hooks within the usual 1,024.
            None => std::thread::available_parallelism().map_or(2, |n| (2 * n.get()).min(16)),
        }
    }

    fn sweep(&self, jobs: &[Job<'_>], traces: &mut [Trace], groups: &[Pid]) {
        let Some(subreaper) = &self.subreaper else { return };
        // Where hooks still run in other threads, only what is surely of no other one is ended;
        // the last of them is followed by a whole sweep.
        let alone = self.shared.steps.try_write();
        let mark = if alone.is_ok() { None } else { self.mark.as_deref() };
        if alone.is_err() && mark.is_none() {
            return;
        }
        let keeper = locked(&self.shared.kept).as_ref().map(Keeper::pid);
        let swept = subreaper.sweep(&locked(&self.shared.spared), mark, keeper, groups);
        for left in swept.left {
            let named = |job: &Job<'_>| left.hook.as_deref() == Some(job.hook.name.as_str());
            let place = jobs.iter().position(named).unwrap_or(0);
            if let Some(trace) = traces.get_mut(place) {
                trace.notes.push(format!("it left {} running; killed", left.words));
            }
        }
        if let (false, Some(trace)) = (swept.is_clean, traces.first_mut()) {
            trace.notes.push("not all that left its process group could be ended".to_string());
        }
    }
}
