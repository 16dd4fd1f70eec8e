//! The engine that runs hooks: settings, and state shared by its clones.

use std::ffi::OsString;
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::call::Workers;
use super::command::SealedFiles;
use super::job::{Job, end_of};
use super::keeper::{Keeper, OwnProgram};
use super::signals::Abort;
use super::spawn::{Inherited, Variables};
use super::tree::{self, SparedHooks, Subreaper};
use super::warm::WarmPool;
use crate::engine::hook::{Hook, StagedText};
use crate::engine::lock::locked;
use crate::engine::run::{Ending, Trace};
use crate::engine::ui::Server;

/// Runs hooks. Thread-safe. Clones share a keeper and threads.
#[derive(Debug, Clone, Default)]
pub struct Engine {
    /// Maximum of parallel hooks; others wait, without their timeouts running. `None`: twice the
    /// number of processors, at most 16.
    pub jobs: Option<usize>,
    pub abort: Option<Abort>,
    /// Stops this clone, in addition to `abort`.
    pub cancel: Option<Abort>,
    /// Finds processes that left their group, while no hook runs.
    pub subreaper: Option<Arc<Subreaper>>,
    /// Mark of this clone's hooks, to kill their stray processes while hooks of other clones run.
    pub mark: Option<String>,
    /// hookrun's program: the keeper, which kills the hooks if this process dies of SIGKILL, and
    /// `confine`.
    pub program: Option<OwnProgram>,
    pub heartbeat: Option<Heartbeat>,
    pub watcher: Option<Watcher>,
    /// The program exits soon, so it keeps no warm interpreters.
    pub is_one_shot: bool,
    /// Serves dialogs and messages of hooks.
    pub server: Option<Server>,
    pub(crate) staged: Option<Arc<dyn StagedText>>,
    /// The files of trusted hooks. Before each event, no hook runs if content changed; after
    /// programs ran, no verdict counts if a file was touched or replaced meanwhile.
    pub(crate) sealed: Option<Callback<dyn SealedFiles>>,
    #[cfg(feature = "tokio")]
    pub(crate) runtime: Option<tokio::runtime::Handle>,
    pub(super) shared: Arc<EngineShared>,
}

#[derive(Debug, Default)]
pub(super) struct EngineShared {
    /// Read-locked by running steps. A sweep write-locks it, since it would kill running hooks.
    pub(super) steps: RwLock<()>,
    /// Hooks whose processes sweeps spare.
    pub(super) spared: Arc<Mutex<SparedHooks>>,
    pub(super) warm: WarmPool,
    /// Started for the first hook that runs long enough.
    pub(super) kept: Mutex<Option<Keeper>>,
    /// The keeper could not start; it is not retried.
    pub(super) has_no_keeper: AtomicBool,
    /// Read when the first hook starts.
    inherited: Mutex<Option<Inherited>>,
    /// Number of marks for sessions and long-running programs.
    pub(super) marks_made: AtomicU64,
    pub(super) workers: Workers,
}

impl Engine {
    pub fn is_aborted(&self) -> bool {
        self.times_aborted() > 0
    }

    pub(super) fn times_aborted(&self) -> u64 {
        let aborts = [&self.abort, &self.cancel].into_iter().flatten();
        aborts.map(Abort::times_raised).sum()
    }

    pub(super) fn aborted(&self) -> Ending {
        Ending::Aborted {
            signal: self.stopped_by(),
        }
    }

    pub fn stopped_by(&self) -> Option<i32> {
        self.abort.as_ref().and_then(Abort::signal)
    }

    pub(super) fn inherited(
        &self,
        given: Option<&[(OsString, OsString)]>,
    ) -> io::Result<Inherited> {
        let mut inherited = locked(&self.shared.inherited)
            .get_or_insert_with(Inherited::of_this_process)
            .clone();
        if let Some(given) = given {
            inherited.variables = Variables::of(given)?;
        }
        Ok(inherited)
    }

    /// Tells the watchdog to expect the next heartbeat within this time.
    pub(crate) fn expect_within(&self, within: Duration) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.expect_within(within);
        }
    }

    /// Returns how many of `wanted` hooks may run in parallel. Reads the number of processors,
    /// which takes three files, only if needed.
    pub(super) fn at_once(&self, wanted: usize) -> usize {
        match self.jobs {
            Some(jobs) => jobs.max(1),
            None if wanted <= 2 => 2,
            // Spawning is the main cost, so two spawners per processor suffice. The limit keeps
            // descriptors below the usual 1,024.
            None => std::thread::available_parallelism().map_or(2, |n| (2 * n.get()).min(16)),
        }
    }

    pub fn beside(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.shared.workers.give(Box::new(work))
    }

    pub(super) fn may_have_keeper(&self) -> bool {
        self.program.is_some() && !self.shared.has_no_keeper.load(Ordering::Relaxed)
    }

    /// Returns the keeper and starts it if needed; `None` if it cannot start.
    pub(super) fn keeper(&self) -> MutexGuard<'_, Option<Keeper>> {
        let mut kept = locked(&self.shared.kept);
        if kept.is_none() && self.may_have_keeper() {
            // Without it, hooks depend on hookrun to kill them.
            let started = self.program.as_ref().map(Keeper::start).transpose();
            *kept = started.unwrap_or_else(|error| {
                tracing::warn!(%error, "cannot start the keeper");
                None
            });
            let has_none = &self.shared.has_no_keeper;
            has_none.store(kept.is_none(), Ordering::Relaxed);
        }
        kept
    }

    fn keeper_pid(&self) -> Option<Pid> {
        locked(&self.shared.kept).as_ref().map(|keeper| keeper.pid)
    }

    /// Kills what a step's hooks left running. `groups` were killed already.
    pub(super) fn sweep(&self, jobs: &[Job<'_>], traces: &mut [Trace], groups: &[Pid]) {
        let Some(subreaper) = &self.subreaper else {
            return;
        };
        // While other threads run hooks, kill only processes with our mark. The last thread does a
        // full sweep.
        let alone = self.shared.steps.try_write();
        let mark = self.mark.as_deref().filter(|_| alone.is_err());
        if alone.is_err() && mark.is_none() {
            return;
        }
        let spared = locked(&self.shared.spared);
        let swept = subreaper.sweep(&spared, mark, self.keeper_pid(), groups);
        for left in swept.left {
            let mut hooks = jobs.iter().map(|job| Some(job.hook.name.as_str()));
            let place = hooks.position(|hook| hook == left.hook.as_deref());
            if let Some(trace) = traces.get_mut(place.unwrap_or(0)) {
                let note = format!("the hook left {} running; hookrun killed it", left.words);
                trace.notes.push(note);
            }
        }
        if let (true, Some(trace)) = (swept.is_incomplete, traces.first_mut()) {
            let note = "some processes outside the hook's process group could not be killed";
            trace.notes.push(note.to_string());
        }
    }

    /// Kills stray processes with this mark or an extension of it. Call it while no hook with this
    /// mark runs.
    pub(crate) fn end_strays(&self, mark: &str) {
        let Some(subreaper) = &self.subreaper else {
            return tree::end_marked(mark);
        };
        subreaper.sweep(&SparedHooks::default(), Some(mark), self.keeper_pid(), &[]);
    }

    pub(crate) fn new_mark(&self, base: &str) -> String {
        let number = self.shared.marks_made.fetch_add(1, Ordering::Relaxed);
        format!("{base}.s{number}")
    }

    /// Makes sweeps spare processes whose marks extend this one, or stops that.
    pub(crate) fn spare_sessions(&self, mark: &str, is_spared: bool) {
        let mut spared = locked(&self.shared.spared);
        if is_spared {
            spared.marks.push(mark.to_string());
        } else {
            spared.forget(mark);
        }
    }
}

#[derive(Debug)]
pub enum HookProgress<'a> {
    /// The hook's stderr so far, up to 64 KiB.
    Wrote(&'a [u8]),
    Ended(&'a Trace),
}

/// Watches running hooks: receives the hook, its index in the step, and the event. Called by the
/// loop that keeps deadlines, so it must not block.
pub type Watcher = Callback<dyn Fn(&Hook, usize, &HookProgress<'_>) + Send + Sync>;

pub struct Callback<F: ?Sized>(pub(crate) Arc<F>);

impl<F: ?Sized> Clone for Callback<F> {
    fn clone(&self) -> Callback<F> {
        Callback(Arc::clone(&self.0))
    }
}

impl<F: ?Sized> Debug for Callback<F> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("Callback")
    }
}

const SLACK: Duration = Duration::from_millis(1500);

/// A deadline that every step renews for a watchdog. Also lets exactly one thread answer.
///
/// Starting a program can block past every deadline with all signals masked, because of a file
/// lease or a hanging network file system. Then only another thread can decide.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    state: Arc<Mutex<HeartbeatState>>,
}

#[derive(Debug)]
struct HeartbeatState {
    due: Instant,
    is_claimed: bool,
    /// Exit status of the answer.
    answer: Option<u8>,
}

impl Heartbeat {
    pub fn new(within: Duration) -> Heartbeat {
        Heartbeat {
            state: Arc::new(Mutex::new(HeartbeatState {
                due: end_of(within.saturating_add(SLACK), Instant::now()),
                is_claimed: false,
                answer: None,
            })),
        }
    }

    /// Promises the next heartbeat within this time, plus [`SLACK`].
    pub fn expect_within(&self, within: Duration) {
        let due = end_of(within.saturating_add(SLACK), Instant::now());
        locked(&self.state).due = due;
    }

    /// Returns the time until the heartbeat is due; `None` if it is overdue.
    pub fn left(&self) -> Option<Duration> {
        let due = locked(&self.state).due;
        let left = due.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Claims the right to answer. Only the first caller gets it.
    pub fn claim(&self) -> bool {
        !std::mem::replace(&mut locked(&self.state).is_claimed, true)
    }

    /// Records the exit status of a complete answer. Later cleanup must not delay the host.
    pub fn answered(&self, status: u8) {
        locked(&self.state).answer = Some(status);
    }

    pub fn answer(&self) -> Option<u8> {
        locked(&self.state).answer
    }
}
