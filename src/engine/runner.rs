//! The entry point: decides an event.

mod stops;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::chain::{self, Surroundings};
use crate::engine::event::catalog::{self, UnknownEvent};
use crate::engine::event::{Event, EventSpec, OnFailure, Schedule};
use crate::engine::exec::{Abort, Budget, Callback, Engine, Heartbeat, OwnProgram, Subreaper};
use crate::engine::hook::{Hook, PathBase};
use crate::engine::outcome::{Notice, NoticeKind, Outcome};
use crate::engine::plan::Plan;
use crate::engine::registry::Registry;
use crate::engine::reminder::Reminders;
use crate::engine::run::{Fate, HookRun, Run};
use crate::engine::session::Session;
use crate::engine::ui::{Server, Ui};

/// Decides events. [`Runner::handle`] cannot fail: every error is part of the [`Run`].
///
/// It is thread-safe. Clones share their hooks, so each task of a program may have a clone.
#[derive(Debug, Clone)]
pub struct Runner {
    pub(crate) registry: Registry,
    pub(crate) engine: Engine,
    pub(crate) surroundings: Arc<Surroundings>,
    /// Errors in the configuration that block gates: an unreadable hook might have blocked.
    pub(crate) broken: Option<Broken>,
    /// When its hooks were loaded.
    made: Instant,
    reminders: Option<Reminders>,
    is_rehearsal: bool,
}

impl Runner {
    pub fn new(registry: Registry, surroundings: Surroundings) -> Runner {
        Runner {
            registry,
            engine: Engine::default(),
            surroundings: Arc::new(surroundings),
            broken: None,
            made: Instant::now(),
            reminders: None,
            is_rehearsal: false,
        }
    }

    /// Sets the maximum of parallel hooks; the default is twice the number of processors, at most
    /// 16.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Runner {
        self.engine.jobs = Some(jobs.max(1));
        self
    }

    /// Collects reminders for the model from every run. If an outcome asks a person, collect those
    /// of the answered outcome yourself; see [`Reminders::collect`].
    #[must_use]
    pub fn reminders(mut self, reminders: Reminders) -> Runner {
        self.reminders = Some(reminders);
        self
    }

    /// Decides every event as if it were the first of its session, and stores nothing: blocked
    /// stops are neither counted nor limited. For programs that test hooks.
    #[must_use]
    pub fn rehearsal(mut self) -> Runner {
        self.is_rehearsal = true;
        self
    }

    /// Stops all hooks when `abort` is raised, from any thread. Afterwards the runner blocks every
    /// gate. Installs no signal handler.
    ///
    /// ```
    /// use hookrun::{Abort, Environment, Event, Hook, Registry, Runner};
    /// use serde_json::json;
    ///
    /// let (started, has_started) = std::sync::mpsc::channel();
    /// let slow = Hook::function("slow", "tool.pre", move |_| {
    ///     let _ = started.send(());
    ///     std::thread::sleep(std::time::Duration::from_secs(2));
    /// });
    /// let abort = Abort::new()?;
    /// let runner = Runner::embedded(Registry::new([slow])?, &Environment::capture())
    ///     .abort(abort.clone());
    /// let user = std::thread::spawn(move || {
    ///     // The user has pressed Escape.
    ///     has_started.recv().unwrap_or_default();
    ///     abort.raise();
    /// });
    /// let run = runner.handle(&Event::tool_pre("bash", json!({ "command": "ls" }))?);
    /// assert!(run.permit().is_err_and(|block| block.reason.contains("interrupted")));
    /// # user.join().ok();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn abort(mut self, abort: Abort) -> Runner {
        self.engine.abort = Some(abort);
        self
    }

    /// Also kills processes that leave a hook's process group. Only for programs that exist to run
    /// hooks; see [`Subreaper::take`]. The runner kills them while no hook runs, so a program with
    /// parallel events kills them later.
    #[must_use]
    pub fn subreaper(mut self, subreaper: Option<Subreaper>) -> Runner {
        self.engine.subreaper = subreaper.map(Arc::new);
        self
    }

    /// Shares the engine of `other`, so that killing stray processes spares the running hooks of
    /// both runners. For programs with several sets of hooks. Settings of `other`, such as
    /// [`Runner::abort`] and [`Runner::subreaper`], apply too.
    #[must_use]
    pub fn beside(mut self, other: &Runner) -> Runner {
        let sealed = self.engine.sealed.take();
        self.engine = other.engine.clone();
        self.engine.sealed = sealed;
        self
    }

    /// Sets hookrun's program, used as the keeper that kills hooks if this process dies of SIGKILL.
    /// Without it, hooks with a required sandbox or limits other than `limits.output` do not start.
    #[doc(hidden)]
    #[must_use]
    pub fn program(mut self, program: Option<OwnProgram>) -> Runner {
        self.engine.program = program;
        self
    }

    /// Reports to a watchdog that this runner is alive. Only for programs that decide one event at
    /// a time: deadlines of several events would overwrite each other.
    #[doc(hidden)]
    #[must_use]
    pub fn heartbeat(mut self, heartbeat: Heartbeat) -> Runner {
        self.engine.heartbeat = Some(heartbeat);
        self
    }

    /// Shows the dialogs of hooks (`hookrun hook ui`). Without it, hooks cannot ask a person. An
    /// open dialog pauses the hook's timeout, for at most [`PATIENCE`] per hook.
    ///
    /// [`PATIENCE`]: crate::engine::ui::PATIENCE
    #[must_use]
    pub fn ui(mut self, ui: Arc<dyn Ui>) -> Runner {
        let mut server = self.server();
        server.ui = Some(ui);
        self.engine.server = Some(server);
        self
    }

    /// Receives messages from hooks (`hookrun hook send`). Without it, they wait in the session's
    /// [`Outbox`](crate::engine::session::Outbox).
    #[must_use]
    pub fn session(mut self, session: Arc<dyn Session>) -> Runner {
        let mut server = self.server();
        server.session = Some(session);
        self.engine.server = Some(server);
        self
    }

    pub(crate) fn server(&self) -> Server {
        let server = self.engine.server.clone();
        server.unwrap_or_else(|| Server::new(&self.surroundings.state))
    }

    /// Returns the sealed files' current stamps, or the reason to block if content changed since they
    /// were loaded, unless that was just now.
    pub(super) fn stamps(&self) -> Result<Vec<u8>, String> {
        match &self.engine.sealed {
            None => Ok(Vec::new()),
            Some(Callback(files)) if self.made.elapsed() < FRESH => Ok(files.loaded()),
            Some(Callback(files)) => files.check(),
        }
    }

    /// Adds a hook; see [`Registry::register`].
    ///
    /// # Errors
    /// If it names an unknown event: it would never run.
    pub fn register(&self, hook: Hook) -> Result<(), UnknownEvent> {
        self.registry.register(hook)
    }

    /// Returns its hooks, which you can change at any time.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the folders to which relative paths in this event refer.
    #[doc(hidden)]
    pub fn place(&self, event: &Event) -> PathBase {
        self.surroundings.place(event)
    }

    /// Follows links in the event's paths, for `action.resolved` and `path` matchers. Does nothing
    /// if the event has no hooks. Decisions do this themselves; only a program that keeps the event
    /// needs it.
    #[must_use]
    pub(crate) fn follow_links(&self, event: Event) -> Event {
        let bound = self.registry.bound(&event.spec().name);
        chain::follow(event, &bound, &self.surroundings)
    }

    pub(crate) fn plan(&self, event: &Event) -> Plan {
        let bound = self.registry.bound(&event.spec().name);
        if bound.is_empty() {
            return Plan::default();
        }
        let event = chain::follow(event.clone(), &bound, &self.surroundings);
        Plan::build(&bound, &event, &self.surroundings.place(&event))
    }

    /// Returns true if `event` has no hooks and is not blocked otherwise. Allocates nothing and
    /// does not read the clock.
    pub(crate) fn is_idle(&self, event: &Event) -> bool {
        !self.registry.has(&event.spec().name)
            && (!event.spec().blocks || (self.broken.is_none() && !self.engine.is_aborted()))
    }

    /// Decides `event`. Starts the hooks of a detached event without waiting for them: a thread
    /// supervises them until their timeouts or the end of this process. An event without hooks
    /// costs one lookup and no allocation.
    pub fn handle(&self, event: &Event) -> Run {
        self.collected(self.decide(event, DetachedHooks::LeftRunning, None))
    }

    /// Decides `event` within `budget`, and waits for hooks of detached events too.
    pub fn handle_within(&self, event: &Event, budget: Option<Budget>) -> Run {
        self.collected(self.decide(event, DetachedHooks::Awaited, budget))
    }

    fn decide(&self, event: &Event, detached: DetachedHooks, budget: Option<Budget>) -> Run {
        let event = &self.follow_links(event.clone());
        if self.is_idle(event) {
            return run_without(event, Outcome::default());
        }
        let ready = self.closed(event.spec()).map_or_else(|| self.stamps(), Err);
        let mut run = match ready {
            Err(reason) => own_failure(event, reason),
            Ok(stamps) => {
                let mut run = self.run(event, detached, budget);
                // If no program started, changed files cannot have run.
                let has_started = run.hooks.iter().any(HookRun::has_started);
                let sealed = self.engine.sealed.as_ref().filter(|_| has_started);
                if let Some(reason) = sealed.and_then(|files| files.0.changed_since(&stamps)) {
                    run.outcome = own_failure(event, reason).outcome;
                }
                run
            }
        };
        self.keep_from_looping(&mut run);
        run
    }

    fn run(&self, event: &Event, detached: DetachedHooks, budget: Option<Budget>) -> Run {
        let plan = self.plan(event);
        let is_left = event.spec().schedule == Schedule::Detached
            && detached == DetachedHooks::LeftRunning
            && (plan.is_idle() || self.leave_running(plan.clone(), event));
        if is_left {
            self.left_to_others(event)
        } else {
            chain::run(plan, event, &self.engine, &self.surroundings, budget)
        }
    }

    /// Runs the hooks of a detached event in a thread. Returns false if it cannot start one.
    fn leave_running(&self, plan: Plan, event: &Event) -> bool {
        let event = event.clone();
        let surroundings = Arc::clone(&self.surroundings);
        // Guards that depend on the end of a decision do not apply.
        let mut engine = self.engine.clone();
        engine.subreaper = None;
        engine.program = None;
        engine.heartbeat = None;
        engine.watcher = None;
        let thread = std::thread::Builder::new().name("hookrun-detached".to_string());
        let started = thread.spawn(move || {
            chain::run(plan, &event, &engine, &surroundings, None);
        });
        if let Err(error) = &started {
            tracing::warn!(%error, "cannot start a thread for detached hooks; waiting for them");
        }
        started.is_ok()
    }

    fn collected(&self, run: Run) -> Run {
        if let Some(reminders) = &self.reminders {
            reminders.collect(&run.outcome);
        }
        run
    }

    /// Allows a stop that hooks have blocked
    /// [`most_blocks`](crate::engine::event::Conduct::most_blocks) times in a row, with a
    /// notice, so that the agent does not loop. Otherwise counts the block for its session. An
    /// allowed stop restarts the count, as does a fresh stop reported by the host
    /// (`stopHookActive`, `loopCount`).
    ///
    /// Decisions do this themselves. Call it only after you turn a question into a block or an
    /// allow.
    pub(crate) fn keep_from_looping(&self, run: &mut Run) {
        if !self.is_rehearsal {
            stops::keep_from_looping(run, &self.surroundings);
        }
    }

    /// Returns why an event is blocked before any hook runs: a configuration error, where failures
    /// block. If the readable hooks still run, only an error that may affect this event counts.
    fn closed(&self, spec: &EventSpec) -> Option<String> {
        let broken = self.broken.as_ref().filter(|_| spec.blocks)?;
        // In a dialect whose hooks fail open, a typo must not disable a guard.
        if spec.on_failure == OnFailure::Allow
            && (spec.conduct.reads_on
                || catalog::find(&spec.name).is_none_or(|spec| spec.on_failure == OnFailure::Allow))
        {
            return None;
        }
        if spec.conduct.reads_on {
            return (broken.for_event.0)(spec);
        }
        Some(broken.reason.clone())
    }

    /// Returns the run of a detached event whose hooks another supervisor runs.
    pub(crate) fn left_to_others(&self, event: &Event) -> Run {
        let started = Instant::now();
        let hooks = chain::runs_of(&self.plan(event), event, &Fate::Detached);
        Run {
            hooks,
            took: started.elapsed(),
            ..run_without(event, Outcome::default())
        }
    }
}

#[cfg(feature = "tokio")]
impl Runner {
    /// Sets the runtime for async functions when [`Runner::handle`] is called.
    #[must_use]
    pub fn runtime(mut self, runtime: tokio::runtime::Handle) -> Runner {
        self.engine.runtime = Some(runtime);
        self
    }

    /// Decides `event` in a hookrun thread, without blocking the executor. Async functions are
    /// tasks of the runtime that first polls this.
    ///
    /// Dropping the future cancels the decision like [`Abort::raise`]: functions are abandoned, and
    /// processes are terminated in the background, first with SIGTERM. Hooks of detached events
    /// keep running.
    pub async fn handle_async(&self, event: &Event) -> Run {
        if self.is_idle(event) {
            return self.handle(event);
        }
        let mut own = self.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            own.engine.runtime = Some(runtime);
        }
        if event.spec().schedule == Schedule::Detached && self.closed(event.spec()).is_none() {
            return own.handle(event);
        }
        let abort = match Abort::new() {
            Ok(abort) => abort,
            Err(error) => return own_failure(event, format!("cannot open a pipe: {error}")),
        };
        let own = own.cancelled_by(abort.clone());
        let (answer, decided) = tokio::sync::oneshot::channel();
        let mut on_drop = RaiseOnDrop(Some(abort));
        let own_event = event.clone();
        let started = self.engine.beside(move || {
            // The receiver is gone if the future was dropped.
            drop(answer.send(own.decide(&own_event, DetachedHooks::Awaited, None)));
        });
        if let Err(error) = started {
            return own_failure(event, format!("cannot start a thread: {error}"));
        }
        let decided = decided.await;
        on_drop.0 = None;
        let run = decided.unwrap_or_else(|_| {
            own_failure(event, "the decision thread ended unexpectedly".to_string())
        });
        self.collected(run)
    }

    #[must_use]
    pub(crate) fn cancelled_by(&self, cancel: Abort) -> Runner {
        let mut own = self.clone();
        own.engine.cancel = Some(cancel);
        own
    }
}

#[cfg(feature = "tokio")]
pub(crate) struct RaiseOnDrop(pub(crate) Option<Abort>);

#[cfg(feature = "tokio")]
impl Drop for RaiseOnDrop {
    fn drop(&mut self) {
        if let Some(abort) = &self.0 {
            abort.raise();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DetachedHooks {
    LeftRunning,
    Awaited,
}

fn run_without(event: &Event, outcome: Outcome) -> Run {
    Run {
        event: event.clone(),
        hooks: Vec::new(),
        outcome,
        took: Duration::ZERO,
        trace: None,
    }
}

/// Creates a run in which hookrun could not decide: a block, if the event is a gate.
fn own_failure(event: &Event, reason: String) -> Run {
    if event.spec().blocks {
        return run_without(event, Outcome::own_failure(reason));
    }
    let mut outcome = Outcome::default();
    outcome.notices.push(Notice {
        hook: "hookrun".into(),
        kind: NoticeKind::Failure,
        text: reason,
    });
    run_without(event, outcome)
}

/// Configuration errors. Readable hooks still run.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub(crate) reason: String,
    /// Returns the reason for one event, if an error may affect it.
    pub(crate) for_event: Callback<ReasonFor>,
}

type ReasonFor = dyn Fn(&EventSpec) -> Option<String> + Send + Sync;

const FRESH: Duration = Duration::from_millis(50);
