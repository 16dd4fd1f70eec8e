//! The entry point: takes an event, and returns what happened.

#[cfg(feature = "tokio")]
pub(crate) mod awaited;
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
/// You can use it from several threads at once. Clones share their hooks, so each task of a program
/// may have its own clone.
#[derive(Debug, Clone)]
pub struct Runner {
    pub(crate) registry: Registry,
    pub(crate) engine: Engine,
    pub(crate) surroundings: Arc<Surroundings>,
    /// Why gates block: a hook that would block may be one that could not be read.
    pub(crate) broken: Option<Broken>,
    /// Checked before each event that has hooks, unless they were just loaded: if the content of a
    /// file has changed, no hook runs. Compared again if a program was started: if a file was
    /// touched or replaced meanwhile, no verdict counts.
    pub(crate) seal: Option<Seal>,
    reminders: Option<Reminders>,
    is_rehearsal: bool,
    /// Called with every decided event and its run: after the decision, in the thread that decided.
    /// Nothing that goes wrong there changes the decision.
    pub(crate) observer: Option<Observer>,
}

type Observer = Callback<dyn Fn(&Event, &Run) + Send + Sync>;

impl Runner {
    /// A runner for the hooks in `registry`.
    pub fn new(registry: Registry, surroundings: Surroundings) -> Runner {
        Runner {
            registry,
            engine: Engine::new(None, None),
            surroundings: Arc::new(surroundings),
            broken: None,
            seal: None,
            reminders: None,
            is_rehearsal: false,
            observer: None,
        }
    }

    /// Runs up to `jobs` hooks at once; by default twice the number of processors, at most 16.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Runner {
        self.engine.jobs = Some(jobs.max(1));
        self
    }

    /// Collects the reminders for the model from every run that this runner decides. If an outcome
    /// asks a person, collect those of the answered outcome yourself; see [`Reminders::collect`].
    #[must_use]
    pub fn reminders(mut self, reminders: Reminders) -> Runner {
        self.reminders = Some(reminders);
        self
    }

    /// Decides every event as if it were the first, and stores nothing for the session. Blocks of a
    /// stop are neither counted nor limited. For a program that tries hooks out.
    #[must_use]
    pub fn rehearsal(mut self) -> Runner {
        self.is_rehearsal = true;
        self
    }

    /// Stops everything when `abort` is raised, from any thread. This is final: the runner blocks
    /// every later event that can be blocked. It installs no signal handler.
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
    /// let run = runner.handle(&Event::tool_pre("bash", json!({ "command": "ls" })).build()?);
    /// assert!(run.permit().is_err_and(|refusal| refusal.reason.contains("interrupted")));
    /// # user.join().ok();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn abort(mut self, abort: Abort) -> Runner {
        self.engine.abort = Some(abort);
        self
    }

    /// Also ends processes that leave a hook's process group. Only for a program that exists to run
    /// hooks; see [`Subreaper::take`]. The runner looks for them whenever no hook runs, so a
    /// program that decides several events at once finds them later.
    #[must_use]
    pub fn subreaper(mut self, subreaper: Option<Subreaper>) -> Runner {
        self.engine.subreaper = subreaper.map(Arc::new);
        self
    }

    /// Shares the engine of `other`: when it ends or sweeps processes, it spares the running hooks
    /// of both runners. For programs with several sets of hooks. The settings of `other` from
    /// [`Runner::abort`], [`Runner::subreaper`] and the like apply here too.
    #[must_use]
    pub fn beside(mut self, other: &Runner) -> Runner {
        self.engine = other.engine.clone();
        self
    }

    /// Sets hookrun's own program. It serves as the keeper, which ends the hooks if this process is
    /// killed with SIGKILL. Without it, some hooks do not start: those with a required sandbox
    /// or with limits other than `limits.output`.
    #[doc(hidden)]
    #[must_use]
    pub fn program(mut self, program: Option<OwnProgram>) -> Runner {
        self.engine.program = program;
        self
    }

    /// Tells a watchdog that this runner is alive. Only for a program that decides one event at a
    /// time: the deadlines of several would overwrite each other.
    #[doc(hidden)]
    #[must_use]
    pub fn heartbeat(mut self, heartbeat: Heartbeat) -> Runner {
        self.engine.heartbeat = Some(heartbeat);
        self
    }

    /// Shows the dialogs of hooks (`hookrun hook ui`). Without it hooks cannot ask a person. The hook's
    /// timeout pauses while a dialog is open, for at most [`PATIENCE`] a hook.
    ///
    /// [`PATIENCE`]: crate::engine::ui::PATIENCE
    #[must_use]
    pub fn ui(mut self, ui: Arc<dyn Ui>) -> Runner {
        self.engine.server = Some(self.server().with_ui(ui));
        self
    }

    /// Receives the messages of hooks (`hookrun hook send`). Without it they wait in the session's
    /// [`Outbox`](crate::engine::session::Outbox).
    #[must_use]
    pub fn session(mut self, session: Arc<dyn Session>) -> Runner {
        self.engine.server = Some(self.server().with_session(session));
        self
    }

    pub(crate) fn server(&self) -> Server {
        self.engine
            .server
            .clone()
            .unwrap_or_else(|| Server::new(&self.surroundings.state))
    }

    /// The reason to block if the files of the hooks changed since they were loaded.
    pub(super) fn broken_seal(&self) -> Option<String> {
        self.stamps().err()
    }

    /// The current stamps of the sealed files, or the reason to block if their content changed.
    fn stamps(&self) -> Result<Vec<u8>, String> {
        match &self.seal {
            None => Ok(Vec::new()),
            Some(seal) if seal.made.elapsed() < FRESH => Ok(seal.files.0.loaded()),
            Some(seal) => seal.files.0.check(),
        }
    }

    /// Adds a hook; see [`Registry::register`].
    ///
    /// # Errors
    /// When it names an event that does not exist: it would never run.
    pub fn register(&self, hook: Hook) -> Result<(), UnknownEvent> {
        self.registry.register(hook)
    }

    /// Its hooks. You can change them at any time.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The folder that relative paths in this event start from.
    #[doc(hidden)]
    pub fn place(&self, event: &Event) -> PathBase {
        self.surroundings.place(event)
    }

    /// Returns `event` with the links in its paths followed: in `action.resolved` and for `path`
    /// matchers. It looks nothing up if no hook is bound to the event.
    ///
    /// Every way to decide does this by itself. Call it only if your program keeps the event.
    #[must_use]
    pub(crate) fn follow_links(&self, event: Event) -> Event {
        let bound = self.registry.bound(&event.spec().name);
        chain::follow(event, &bound, &self.surroundings)
    }

    /// What would run for `event`.
    pub(crate) fn plan(&self, event: &Event) -> Plan {
        let bound = self.registry.bound(&event.spec().name);
        if bound.is_empty() {
            return Plan::default();
        }
        let event = chain::follow(event.clone(), &bound, &self.surroundings);
        Plan::build(&bound, &event, &self.surroundings.place(&event))
    }

    /// Whether no hook is bound to `event` and nothing else blocks it. Allocates nothing and does
    /// not read the clock.
    pub(crate) fn is_idle(&self, event: &Event) -> bool {
        !self.registry.has(&event.spec().name)
            && (!event.spec().blocks || (self.broken.is_none() && !self.engine.is_aborted()))
    }

    /// Decides `event`. Hooks of a detached event are started, and this does not wait for them: a
    /// thread supervises them until their timeouts, as long as this process lives. An event without
    /// hooks costs one look-up and no allocation.
    pub fn handle(&self, event: &Event) -> Run {
        self.collected(self.decide(event, DetachedHooks::LeftRunning, None))
    }

    /// Decides `event` within `budget`, and also waits for hooks of detached events.
    pub fn handle_within(&self, event: &Event, budget: Option<Budget>) -> Run {
        self.collected(self.decide(event, DetachedHooks::Awaited, budget))
    }

    /// Every decision goes through here, so that the observer sees it.
    fn decide(&self, event: &Event, detached: DetachedHooks, budget: Option<Budget>) -> Run {
        let event = &self.follow_links(event.clone());
        let run = if self.is_idle(event) {
            run_without(event, Outcome::default())
        } else {
            let ready = match self.closed(event.spec()) {
                Some(reason) => Err(reason),
                None => self.stamps(),
            };
            let mut run = match ready {
                Err(reason) => own_failure(event, reason),
                Ok(stamps) => {
                    let mut run = self.run(event, detached, budget);
                    if let Some(reason) = self.changed_meanwhile(&run, &stamps) {
                        run.outcome = own_failure(event, reason).outcome;
                    }
                    run
                }
            };
            self.keep_from_looping(&mut run);
            run
        };
        if let Some(Callback(observe)) = &self.observer {
            observe(event, &run);
        }
        run
    }

    /// Why the verdicts of a run do not count. Where nothing was started, nothing that has changed
    /// meanwhile can have run.
    fn changed_meanwhile(&self, run: &Run, stamps: &[u8]) -> Option<String> {
        let seal = self.seal.as_ref()?;
        if !run.hooks.iter().any(HookRun::has_started) {
            return None;
        }
        seal.files.0.changed_since(stamps)
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

    /// Starts the hooks of a detached event in a thread that supervises them. Returns whether there
    /// is such a thread.
    fn leave_running(&self, plan: Plan, event: &Event) -> bool {
        let event = event.clone();
        let surroundings = Arc::clone(&self.surroundings);
        let engine = self.engine.detached();
        let observer = self.observer.clone();
        let thread = std::thread::Builder::new().name("hookrun-detached".to_string());
        let started = thread.spawn(move || {
            let run = chain::run(plan, &event, &engine, &surroundings, None);
            if let Some(Callback(observe)) = observer {
                observe(&event, &run);
            }
        });
        if let Err(error) = &started {
            tracing::warn!(%error, "cannot start a thread for detached hooks; waiting for them");
        }
        started.is_ok()
    }

    /// A run, with its reminders collected for the model.
    fn collected(&self, run: Run) -> Run {
        if let Some(reminders) = &self.reminders {
            reminders.collect(&run.outcome);
        }
        run
    }

    /// Lets a stop through once hooks have blocked it
    /// [`most_refusals`](crate::engine::event::Conduct::most_refusals) times in a row, so that the
    /// agent does not run for ever. The block of `run` counts for its session; at the limit it
    /// becomes an allow with a notice. The count restarts after an allowed stop, or when the host
    /// reports a fresh one (`stopHookActive`, `loopCount`).
    ///
    /// Every run that this runner decides has already been through this. Call it only if your
    /// program turns a question into a block or an allow itself.
    pub(crate) fn keep_from_looping(&self, run: &mut Run) {
        if !self.is_rehearsal {
            stops::keep_from_looping(run, &self.surroundings);
        }
    }

    /// Why an event is blocked before any hook runs: an error in the configuration, where failures
    /// block the event. If readable hooks still run, only an error that may concern a hook of this
    /// event counts.
    fn closed(&self, spec: &EventSpec) -> Option<String> {
        let broken = self.broken.as_ref().filter(|_| spec.blocks)?;
        // In a system whose hooks fail open, a typo must still not disable a guard.
        if spec.on_failure == OnFailure::Allow
            && (spec.conduct.reads_on
                || catalog::find(&spec.name).is_none_or(|spec| spec.on_failure == OnFailure::Allow))
        {
            return None;
        }
        if spec.conduct.reads_on {
            (broken.for_event.0)(spec)
        } else {
            Some(broken.reason.clone())
        }
    }

    /// The run of a detached event whose hooks another supervisor runs.
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

/// What to do with the hooks of a detached event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DetachedHooks {
    LeftRunning,
    Awaited,
}

fn run_without(event: &Event, outcome: Outcome) -> Run {
    let event = event.clone();
    Run {
        event,
        hooks: Vec::new(),
        outcome,
        took: Duration::ZERO,
        trace: None,
    }
}

/// A run in which hookrun itself could not decide: a block, if the event can be blocked.
fn own_failure(event: &Event, reason: String) -> Run {
    let outcome = if event.spec().blocks {
        Outcome::own_failure(reason)
    } else {
        let notice = Notice {
            hook: "hookrun".into(),
            kind: NoticeKind::Failure,
            text: reason,
        };
        Outcome {
            notices: vec![notice],
            ..Outcome::default()
        }
    };
    run_without(event, outcome)
}

/// Why gates block before any hook runs. The hooks that could be read still run.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub(crate) reason: String,
    /// The reason for one event, if an error may concern it.
    pub(crate) for_event: Callback<ReasonFor>,
}

type ReasonFor = dyn Fn(&EventSpec) -> Option<String> + Send + Sync;

/// The files of the hooks, which must stay as they were loaded.
pub(crate) trait SealedFiles: Send + Sync {
    /// Their stamps when they were loaded: bytes to compare.
    fn loaded(&self) -> Vec<u8>;

    /// Their stamps now.
    ///
    /// # Errors
    /// When their content is not what was loaded: the reason to block.
    fn check(&self) -> Result<Vec<u8>, String>;

    /// The reason to block if a file or folder was touched or replaced since it had `stamps`. Equal
    /// content does not help: what ran may have been swapped in and out again.
    fn changed_since(&self, stamps: &[u8]) -> Option<String>;
}

#[derive(Debug, Clone)]
pub(crate) struct Seal {
    pub(crate) files: Callback<dyn SealedFiles>,
    /// When they were loaded.
    pub(crate) made: Instant,
}

/// How long what was looked at when the hooks were loaded counts as just looked at.
const FRESH: Duration = Duration::from_millis(50);
