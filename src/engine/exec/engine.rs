//! What runs hooks: its settings, and what the clones of one engine share.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use super::heartbeat::Heartbeat;
use super::keeper::{Keeper, OwnProgram};
use super::progress::Watcher;
use super::signals::Abort;
use super::spawn::{Inherited, Variables};
use super::tree::Subreaper;
use super::workers::Workers;
use crate::engine::lock::locked;
use crate::engine::run::Ending;
use crate::engine::ui::Server;

/// Runs hooks, from several threads at once if need be. Clones share their keeper and threads.
#[derive(Debug, Clone)]
pub struct Engine {
    /// How many hooks run at once; the others wait, and their time does not run. `None` for
    /// twice the number of processors, at most 16.
    pub jobs: Option<usize>,
    /// What ends it early.
    pub abort: Option<Abort>,
    /// What ends this clone early, in addition to `abort`.
    pub cancel: Option<Abort>,
    /// Finds processes that left their group, whenever no hook runs.
    pub subreaper: Option<Arc<Subreaper>>,
    /// The mark that only the hooks of this clone carry: what they leave behind is swept while
    /// those of other clones run.
    pub mark: Option<String>,
    /// hookrun's own program: the keeper, which ends the hooks if this process is killed with
    /// SIGKILL, and what sets bounds that cannot be set from outside.
    pub program: Option<OwnProgram>,
    /// Shows a watchdog that the engine is alive.
    pub heartbeat: Option<Heartbeat>,
    pub watcher: Option<Watcher>,
    /// Where hooks ask a person, or send messages.
    pub server: Option<Server>,
    /// Where async functions run; `None` for a runtime of its own, made for the first one.
    #[cfg(feature = "tokio")]
    pub runtime: Option<tokio::runtime::Handle>,
    pub(super) shared: Arc<EngineShared>,
}

/// What the clones of an engine share.
#[derive(Debug, Default)]
pub(super) struct EngineShared {
    /// Held by every step while it runs, and alone by a sweep: it would end hooks that run.
    pub(super) steps: RwLock<()>,
    /// Hooks so far that may leave processes behind.
    pub(super) spared: Mutex<HashSet<String>>,
    /// The keeper, once a hook has run long enough.
    pub(super) kept: Mutex<Option<Keeper>>,
    /// The keeper could not be started; it is not tried again.
    pub(super) has_no_keeper: AtomicBool,
    /// What hooks inherit, once one has needed it.
    inherited: Mutex<Option<Inherited>>,
    /// How many control groups were made, for their names.
    pub(super) cgroups_made: AtomicU64,
    /// The threads in which functions run.
    pub(super) workers: Workers,
    #[cfg(feature = "tokio")]
    pub(super) runtime: super::tasks::OwnRuntime,
}

impl Engine {
    /// An engine that is ended by `abort` and sweeps with `subreaper`.
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
            server: None,
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
    pub(super) fn times_aborted(&self) -> u64 {
        [&self.abort, &self.cancel].into_iter().flatten().map(Abort::times_raised).sum()
    }

    /// How a hook ends when the engine was interrupted.
    pub(super) fn aborted(&self) -> Ending {
        Ending::Aborted { signal: self.stopped_by() }
    }

    /// The signal that interrupted it, if it was one.
    pub fn stopped_by(&self) -> Option<i32> {
        self.abort.as_ref().and_then(Abort::signal)
    }

    /// What a hook inherits; with `given`, of variables only these.
    pub(super) fn inherited(
        &self,
        given: Option<&[(OsString, OsString)]>,
    ) -> io::Result<Inherited> {
        let mut inherited =
            locked(&self.shared.inherited).get_or_insert_with(Inherited::of_this_process).clone();
        if let Some(given) = given {
            inherited.variables = Variables::of(given)?;
        }
        Ok(inherited)
    }

    /// Tells the watchdog when the next sign of life is due.
    pub(crate) fn expect_within(&self, within: Duration) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.expect_within(within);
        }
    }

    /// How many of `wanted` hooks may run at once. The number of processors is read only where it
    /// matters: the system reads three files for it.
    pub(super) fn at_once(&self, wanted: usize) -> usize {
        match self.jobs {
            Some(jobs) => jobs.max(1),
            None if wanted <= 2 => 2,
            // Spawning is what costs, so a second spawner per processor is all that helps; the
            // limit keeps the descriptors of as many hooks within the usual 1,024.
            None => std::thread::available_parallelism().map_or(2, |n| (2 * n.get()).min(16)),
        }
    }

    /// Does `work` in a thread of this engine.
    #[cfg(feature = "tokio")]
    pub(crate) fn beside(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.shared.workers.give(Box::new(work))
    }
}
