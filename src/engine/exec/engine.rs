//! The engine that runs hooks: its settings, and the state that its clones share.

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
use super::tree::{SparedHooks, Subreaper};
use super::warm::WarmPool;
use super::workers::Workers;
use crate::engine::lock::locked;
use crate::engine::run::Ending;
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
    /// Where async functions run.
    #[cfg(feature = "tokio")]
    pub(crate) tasks: super::tasks::Tasks,
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
}
