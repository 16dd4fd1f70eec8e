//! The engine that runs hooks: its settings, and the state that its clones share: the keeper, marks
//! and sweeps.

use std::ffi::OsString;
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::Duration;

use rustix::process::Pid;

use super::call::Workers;
use super::heartbeat::Heartbeat;
use super::job::Job;
use super::keeper::{Keeper, OwnProgram};
use super::signals::Abort;
use super::spawn::{Inherited, Variables};
use super::tree::{self, SparedHooks, Subreaper};
use super::warm::WarmPool;
use crate::engine::hook::{Hook, StagedText};
use crate::engine::lock::locked;
use crate::engine::run::{Ending, Trace};
use crate::engine::ui::Server;

/// Runs hooks, from several threads at once if needed. Clones share one keeper and one set of
/// threads.
#[derive(Debug, Clone, Default)]
pub struct Engine {
    /// How many hooks run at once. The others wait, and their timeouts do not run yet. `None` for
    /// twice the number of processors, at most 16.
    pub jobs: Option<usize>,
    pub abort: Option<Abort>,
    /// Ends this clone early, in addition to `abort`.
    pub cancel: Option<Abort>,
    /// Finds processes that left their group, whenever no hook runs.
    pub subreaper: Option<Arc<Subreaper>>,
    /// The mark that only this clone's hooks carry. It lets us sweep what they leave behind while
    /// hooks of other clones run.
    pub mark: Option<String>,
    /// hookrun's own program. It is the keeper, which ends the hooks if this process is killed with
    /// SIGKILL, and it sets bounds that cannot be set from outside.
    pub program: Option<OwnProgram>,
    /// Tells a watchdog that the engine is alive.
    pub heartbeat: Option<Heartbeat>,
    pub watcher: Option<Watcher>,
    /// This program ends soon, so it keeps no interpreters for hooks that start warm.
    pub is_one_shot: bool,
    /// The server through which hooks ask a person or send messages.
    pub server: Option<Server>,
    /// Where hooks see the staged text, if git is about to make a commit.
    pub(crate) staged: Option<Arc<dyn StagedText>>,
    /// Where async functions run.
    #[cfg(feature = "tokio")]
    pub(crate) tasks: super::call::Tasks,
    pub(super) shared: Arc<EngineShared>,
}

#[derive(Debug, Default)]
pub(super) struct EngineShared {
    /// Every step holds it shared while it runs. A sweep holds it alone, since it would end running
    /// hooks.
    pub(super) steps: RwLock<()>,
    /// Whose processes no sweep ends.
    pub(super) spared: Arc<Mutex<SparedHooks>>,
    /// The interpreters that are kept for hooks that start warm.
    pub(super) warm: WarmPool,
    /// The keeper, once some hook has run long enough to need it.
    pub(super) kept: Mutex<Option<Keeper>>,
    /// The keeper could not start; we do not try again.
    pub(super) has_no_keeper: AtomicBool,
    /// What hooks inherit, read when the first hook needs it.
    inherited: Mutex<Option<Inherited>>,
    /// The number of marks given to holders of sessions, and to programs that stay up.
    pub(super) marks_made: AtomicU64,
    pub(super) workers: Workers,
}

impl Engine {
    pub fn new(abort: Option<Abort>, subreaper: Option<Subreaper>) -> Engine {
        Engine {
            abort,
            subreaper: subreaper.map(Arc::new),
            ..Engine::default()
        }
    }

    /// An engine for hooks that run unattended. It shares the threads of this one, and leaves out
    /// the guards that depend on the end of a decision.
    #[must_use]
    pub fn detached(&self) -> Engine {
        Engine {
            subreaper: None,
            program: None,
            heartbeat: None,
            watcher: None,
            ..self.clone()
        }
    }

    /// An engine that `cancel` ends too.
    pub fn cancelled_by(&self, cancel: Abort) -> Engine {
        Engine {
            cancel: Some(cancel),
            ..self.clone()
        }
    }

    pub fn is_aborted(&self) -> bool {
        self.times_aborted() > 0
    }

    pub(super) fn times_aborted(&self) -> u64 {
        [&self.abort, &self.cancel]
            .into_iter()
            .flatten()
            .map(Abort::times_raised)
            .sum()
    }

    pub(super) fn aborted(&self) -> Ending {
        Ending::Aborted {
            signal: self.stopped_by(),
        }
    }

    /// The signal that interrupted it, if it was one.
    pub fn stopped_by(&self) -> Option<i32> {
        self.abort.as_ref().and_then(Abort::signal)
    }

    /// What a hook inherits. With `given`, these are its only variables.
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

    /// How many of `wanted` hooks may run at once. It reads the number of processors only when it
    /// matters, because the system reads three files for that.
    pub(super) fn at_once(&self, wanted: usize) -> usize {
        match self.jobs {
            Some(jobs) => jobs.max(1),
            None if wanted <= 2 => 2,
            // Spawning is the main cost, so two spawners per processor are enough. The limit keeps
            // the descriptors of this many hooks within the usual 1,024.
            None => std::thread::available_parallelism().map_or(2, |n| (2 * n.get()).min(16)),
        }
    }

    /// Runs `work` in a thread of this engine.
    pub fn beside(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.shared.workers.give(Box::new(work))
    }

    /// Whether a keeper runs or can still start.
    pub(super) fn may_have_keeper(&self) -> bool {
        self.program.is_some() && !self.shared.has_no_keeper.load(Ordering::Relaxed)
    }

    /// The keeper, which starts for the first that needs it; `None` if it cannot.
    pub(super) fn keeper(&self) -> MutexGuard<'_, Option<Keeper>> {
        let mut kept = locked(&self.shared.kept);
        if kept.is_none() && self.may_have_keeper() {
            // Without one, hooks rely on hookrun to end them.
            *kept = self.program.as_ref().and_then(|own| {
                let started = Keeper::start(own);
                started
                    .inspect_err(|error| tracing::warn!(%error, "no keeper"))
                    .ok()
            });
            self.shared
                .has_no_keeper
                .store(kept.is_none(), Ordering::Relaxed);
        }
        kept
    }

    /// Lets the keeper forget a process that is about to be reaped, while the number still belongs
    /// to it.
    pub(super) fn keeper_forgets(&self, pid: Pid) {
        if let Some(keeper) = locked(&self.shared.kept).as_ref() {
            keeper.forget(pid);
        }
    }

    fn keeper_pid(&self) -> Option<Pid> {
        locked(&self.shared.kept).as_ref().map(|keeper| keeper.pid)
    }

    /// Ends what the hooks of a step have left running. `groups` are those that were killed.
    pub(super) fn sweep(&self, jobs: &[Job<'_>], traces: &mut [Trace], groups: &[Pid]) {
        let Some(subreaper) = &self.subreaper else {
            return;
        };
        // While other threads run hooks, a sweep ends only what surely belongs to none of them. The
        // last of them does a full sweep.
        let alone = self.shared.steps.try_write();
        let mark = self.mark.as_deref().filter(|_| alone.is_err());
        if alone.is_err() && mark.is_none() {
            return;
        }
        let spared = locked(&self.shared.spared);
        let swept = subreaper.sweep(&spared, mark, self.keeper_pid(), groups);
        for left in swept.left {
            let by = left.hook.as_deref();
            let place = jobs
                .iter()
                .position(|job| by == Some(job.hook.name.as_str()));
            if let Some(trace) = traces.get_mut(place.unwrap_or(0)) {
                let note = format!("it left {} running; killed", left.words);
                trace.notes.push(note);
            }
        }
        if let (false, Some(trace)) = (swept.is_clean, traces.first_mut()) {
            let note = "some processes outside its process group could not be killed";
            trace.notes.push(note.to_string());
        }
    }

    /// Ends what hooks with this mark, or with one that begins with it and a dot, have left running.
    /// Call it while none of them runs.
    pub(crate) fn end_strays(&self, mark: &str) {
        let Some(subreaper) = &self.subreaper else {
            return tree::end_marked(mark);
        };
        subreaper.sweep(&SparedHooks::default(), Some(mark), self.keeper_pid(), &[]);
    }

    /// A mark that begins with `base`, for a holder of sessions.
    pub(crate) fn new_mark(&self, base: &str) -> String {
        let number = self.shared.marks_made.fetch_add(1, Ordering::Relaxed);
        format!("{base}.s{number}")
    }

    /// Lets sweeps spare hooks whose marks begin with this one and a dot, or no longer.
    pub(crate) fn spare_sessions(&self, mark: &str, is_spared: bool) {
        let marks = &mut locked(&self.shared.spared).marks;
        if is_spared {
            marks.push(mark.to_string());
        } else {
            marks.retain(|known| known != mark);
        }
    }
}

/// Something that has just happened.
#[derive(Debug)]
pub enum HookProgress<'a> {
    /// The hook wrote to stderr: everything so far, up to 64 KiB.
    Wrote(&'a [u8]),
    Ended(&'a Trace),
}

/// Watches hooks run: takes the hook, its place among those that run together, and what happened.
/// The loop that keeps their deadlines calls it, so it must not block.
pub type Watcher = Callback<dyn Fn(&Hook, usize, &HookProgress<'_>) + Send + Sync>;

/// A function of the surrounding program.
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
