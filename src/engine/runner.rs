//! The front door: give it an event, get back what happened.

mod duplicate;
mod stops;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::chain::{self, Surroundings};
use crate::engine::event::catalog::{self, UnknownEvent};
use crate::engine::event::{Event, EventSpec, OnFailure, Schedule};
use crate::engine::exec::{Abort, Budget, Engine, Heartbeat, OwnProgram, Subreaper, Watcher};
use crate::engine::hook::{Hook, PathBase};
use crate::engine::outcome::{Notice, NoticeKind, Outcome};
use crate::engine::plan::Plan;
use crate::engine::registry::Registry;
use crate::engine::reminder::Reminders;
use crate::engine::run::{Fate, Run};
use crate::engine::session::Session;
use crate::engine::ui::{Server, Ui};
pub(crate) use duplicate::digest;
pub use duplicate::{CallClaim, Claimed, FormOfCall};

/// Decides events. [`Runner::handle`] cannot fail: whatever goes wrong is in the [`Run`].
///
/// It may be used from several threads at once. Clones share their hooks, so that a program may
/// also give one to each of its tasks.
#[derive(Debug, Clone)]
pub struct Runner {
    registry: Registry,
    engine: Engine,
    surroundings: Arc<Surroundings>,
    broken: Option<Broken>,
    reminders: Option<Reminders>,
    is_rehearsal: bool,
    observer: Option<Observer>,
}

/// What is called with every run.
#[derive(Clone)]
struct Observer(Arc<Observe>);

type Observe = dyn Fn(&Event, &Run) + Send + Sync;

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// Why gates are closed before any hook runs.
#[derive(Clone)]
struct Broken {
    reason: String,
    /// The reason for one event, where only mistakes that may be about it close it.
    for_event: Option<Arc<ReasonFor>>,
}

/// Why an event is blocked by mistakes in the configuration; `None` where none of them is about it.
pub(crate) type ReasonFor = dyn Fn(&EventSpec) -> Option<String> + Send + Sync;

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Broken").field(&self.reason).finish()
    }
}

impl Runner {
    /// A runner for `registry`.
    pub fn new(registry: Registry, surroundings: Surroundings) -> Runner {
        Runner {
            registry,
            engine: Engine::new(None, None),
            surroundings: Arc::new(surroundings),
            broken: None,
            reminders: None,
            is_rehearsal: false,
            observer: None,
        }
    }

    /// A runner for other hooks in other surroundings, with the same keeper, threads and abort.
    pub(crate) fn moved(&self, registry: Registry, surroundings: Surroundings) -> Runner {
        let mut other = Runner { registry, ..self.clone() };
        other.engine.mark = Some(surroundings.run_id.clone());
        other.surroundings = Arc::new(surroundings);
        other
    }

    /// Runs up to `jobs` hooks at once; by default twice the number of processors, at most 16.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Runner {
        self.engine.jobs = Some(jobs.max(1));
        self
    }

    /// Collects the reminders of every run that it decides, for the model. Those of an outcome
    /// that asks a person are left to whoever puts the question; see [`Reminders::collect`].
    #[must_use]
    pub fn reminders(mut self, reminders: Reminders) -> Runner {
        self.reminders = Some(reminders);
        self
    }

    /// Decides as if for the first time, and keeps nothing of it for the session: refusals of a
    /// stop are neither counted nor limited. For a program that tries hooks out.
    #[must_use]
    pub fn rehearsal(mut self) -> Runner {
        self.is_rehearsal = true;
        self
    }

    /// Calls `observer` with every event that is decided and its run: after the decision, in the
    /// thread that has decided. Nothing that goes wrong there changes the decision.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&Event, &Run) + Send + Sync + 'static) -> Runner {
        self.observer = Some(Observer(Arc::new(observer)));
        self
    }

    /// Ends what is running when `abort` is raised, by whichever thread, once and for all: what
    /// this runner is asked afterwards is refused, if it can be. No signal handler is installed.
    ///
    /// ```
    /// use hookrun::Environment;
    /// use hookrun::Event;
    /// use hookrun::Abort;
    /// use hookrun::Hook;
    /// use hookrun::Registry;
    /// use hookrun::Runner;
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

    /// Also ends what leaves a hook's process group. Only for a program that exists to run
    /// hooks; see [`Subreaper::take`]. It is looked for whenever no hook runs, so a program that
    /// decides several events at once finds it later.
    #[must_use]
    pub fn subreaper(mut self, subreaper: Option<Subreaper>) -> Runner {
        self.engine.subreaper = subreaper.map(Arc::new);
        self
    }

    /// Runs its hooks as one with `other`: what one of them ends, sweeps and stops, it does with
    /// an eye on the hooks of both. For programs with several sets of hooks; what was said to
    /// `other` about that by [`Runner::abort`], [`Runner::subreaper`] and the like holds here too.
    #[must_use]
    pub fn beside(mut self, other: &Runner) -> Runner {
        self.engine = other.engine.clone();
        self
    }

    /// Tells a watcher what hooks do while they run.
    #[must_use]
    pub fn watch(mut self, watcher: Option<Watcher>) -> Runner {
        self.engine.watcher = watcher;
        self
    }

    /// Names hookrun's own program. With it, hooks are ended by a keeper if this process is
    /// killed with SIGKILL; and without it, hooks with `limits.files` or a required sandbox, and
    /// those in a control group or process namespace of their own, do not start.
    #[must_use]
    pub fn program(mut self, program: Option<OwnProgram>) -> Runner {
        self.engine.program = program;
        self
    }

    /// Tells a watchdog that it is alive. Only for a program that decides one event at a time:
    /// the promises of several would replace each other.
    #[must_use]
    pub fn heartbeat(mut self, heartbeat: Heartbeat) -> Runner {
        self.engine.heartbeat = Some(heartbeat);
        self
    }

    /// Shows the dialogs of hooks (`hookrun ui`); without it there is nobody for them to ask.
    /// While one is open the hook's timeout stands still, for at most [`PATIENCE`] for each hook.
    ///
    /// [`PATIENCE`]: crate::engine::ui::PATIENCE
    #[must_use]
    pub fn ui(mut self, ui: Arc<dyn Ui>) -> Runner {
        self.engine.server = Some(self.server().with_ui(ui));
        self
    }

    /// Takes the messages of hooks (`hookrun send`); without it they wait in the session's
    /// [`Outbox`](crate::engine::session::outbox::Outbox).
    #[must_use]
    pub fn session(mut self, session: Arc<dyn Session>) -> Runner {
        self.engine.server = Some(self.server().with_session(session));
        self
    }

    fn server(&self) -> Server {
        self.engine.server.clone().unwrap_or_else(|| Server::new(&self.surroundings.state))
    }

    /// Runs async functions in this runtime, where [`Runner::handle`] is called outside of one.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn runtime(mut self, runtime: tokio::runtime::Handle) -> Runner {
        self.engine.runtime = Some(runtime);
        self
    }

    /// Says that the configuration has errors: events that can be refused are, with `reason`,
    /// because the hook that would refuse may be the one that could not be read.
    #[must_use]
    pub fn broken(mut self, reason: Option<String>) -> Runner {
        self.broken = reason.map(|reason| Broken { reason, for_event: None });
        self
    }

    /// The same; where the hooks that could be read run all the same, `for_event` says which events
    /// are blocked.
    pub(crate) fn broken_for(mut self, reason: String, for_event: Arc<ReasonFor>) -> Runner {
        self.broken = Some(Broken { reason, for_event: Some(for_event) });
        self
    }

    /// Adds a hook; see [`Registry::register`].
    ///
    /// # Errors
    /// When it names an event that does not exist: it would never run.
    pub fn register(&self, hook: Hook) -> Result<(), UnknownEvent> {
        self.registry.register(hook)
    }

    /// The hooks that it has. They may be changed at any time.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What relative paths of this event are relative to.
    pub fn place(&self, event: &Event) -> PathBase {
        self.surroundings.place(event)
    }

    /// `event` with the links in its paths followed, once: its `action.resolved` and what `path`
    /// matchers look at. Where no hook is bound to it nothing is looked up.
    ///
    /// Every way to decide does this by itself. It is for a program that keeps the event.
    #[must_use]
    pub fn follow_links(&self, event: Event) -> Event {
        let bound = self.registry.bound(&event.spec().name);
        chain::follow(event, &bound, &self.surroundings)
    }

    /// What would be run for `event`.
    pub fn plan(&self, event: &Event) -> Plan {
        let bound = self.registry.bound(&event.spec().name);
        if bound.is_empty() {
            return Plan::default();
        }
        let event = chain::follow(event.clone(), &bound, &self.surroundings);
        Plan::build(&bound, &event, &self.surroundings.place(&event))
    }

    /// Whether no hook is bound to `event` and nothing else refuses it either. It allocates nothing
    /// and does not look at the clock.
    fn is_idle(&self, event: &Event) -> bool {
        !self.registry.has(&event.spec().name)
            && (!event.spec().blocks || (self.broken.is_none() && !self.engine.is_aborted()))
    }

    /// Decides `event`. Hooks of a detached event are started and not waited for: a thread
    /// supervises them to their timeouts, as long as this process lives. An event to which no
    /// hook is bound costs a look-up and no allocation.
    pub fn handle(&self, event: &Event) -> Run {
        self.collected(self.decide(event, DetachedHooks::LeftRunning, None))
    }

    /// Decides `event` before `budget` is used up, and waits for hooks of detached events too.
    pub fn handle_within(&self, event: &Event, budget: Option<Budget>) -> Run {
        self.collected(self.decide(event, DetachedHooks::Awaited, budget))
    }

    /// Decides `event` without blocking the executor: a thread of hookrun does what waits.
    /// Async functions are tasks of the runtime in which this is first polled.
    ///
    /// Dropping the future gives the decision up: as with [`Abort::raise`], nobody waits for
    /// functions any longer, and processes are ended in the background, SIGTERM first. Hooks of a
    /// detached event are not affected.
    #[cfg(feature = "tokio")]
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
        own.engine.cancel = Some(abort.clone());
        let (answer, decided) = tokio::sync::oneshot::channel();
        let asked = event.clone();
        // Nobody listens any more if the future was dropped.
        let decide = move || {
            drop(answer.send(own.decide(&asked, DetachedHooks::Awaited, None)));
        };
        let mut given_up = RaiseOnDrop { abort: Some(abort) };
        if let Err(error) = self.engine.beside(decide) {
            return own_failure(event, format!("no thread to decide in: {error}"));
        }
        let run = decided.await;
        given_up.abort = None;
        let gone = |_| own_failure(event, "the thread that decides has ended".to_string());
        self.collected(run.unwrap_or_else(gone))
    }

    /// The one way to a decision, which the observer then sees.
    fn decide(&self, event: &Event, detached: DetachedHooks, budget: Option<Budget>) -> Run {
        let event = &self.follow_links(event.clone());
        let run = if self.is_idle(event) {
            run_without(event, Outcome::default())
        } else {
            let mut run = match self.closed(event.spec()) {
                Some(reason) => own_failure(event, reason),
                None => self.run(event, detached, budget),
            };
            self.keep_from_looping(&mut run);
            run
        };
        if let Some(Observer(observe)) = &self.observer {
            observe(event, &run);
        }
        run
    }

    fn run(&self, event: &Event, detached: DetachedHooks, budget: Option<Budget>) -> Run {
        let plan = self.plan(event);
        let is_left = event.spec().schedule == Schedule::Detached
            && detached == DetachedHooks::LeftRunning
            && (plan.is_idle() || self.leave_running(plan.clone(), event));
        match is_left {
            true => self.left_to_others(event),
            false => chain::run(plan, event, &self.engine, &self.surroundings, budget),
        }
    }

    /// Starts the hooks of a detached event in a thread that supervises them. Whether there is one.
    fn leave_running(&self, plan: Plan, event: &Event) -> bool {
        let (own, surroundings) = (event.clone(), Arc::clone(&self.surroundings));
        let (engine, observer) = (self.engine.detached(), self.observer.clone());
        let supervise = move || {
            let run = chain::run(plan, &own, &engine, &surroundings, None);
            if let Some(Observer(observe)) = observer {
                observe(&own, &run);
            }
        };
        let thread = std::thread::Builder::new().name("hookrun-detached".to_string());
        let started = thread.spawn(supervise);
        if let Err(error) = &started {
            tracing::warn!(%error, "no thread for detached hooks; they are waited for");
        }
        started.is_ok()
    }

    /// A run whose reminders the model will get.
    fn collected(&self, run: Run) -> Run {
        if let Some(reminders) = &self.reminders {
            reminders.collect(&run.outcome);
        }
        run
    }

    /// Lets an agent stop that hooks have refused to let stop so often in a row that they would
    /// for ever: the refusal of `run` is counted for its session, and at the event's
    /// [`most_refusals`](crate::engine::event::Conduct::most_refusals) it becomes an allow with a notice.
    /// An allowed stop begins a new row, and so does a host that says so (`stopHookActive`,
    /// `loopCount`).
    ///
    /// Every run that this runner decides has been through it. It is for a program that settles
    /// a question by itself, as a refusal or not, once it has.
    pub fn keep_from_looping(&self, run: &mut Run) {
        if !self.is_rehearsal {
            stops::keep_from_looping(run, &self.surroundings);
        }
    }

    /// Why an event is refused before any hook is asked: a mistake in the configuration, where
    /// failures refuse it. Where the hooks that can be read are asked all the same, only one that
    /// may be about a hook of this event counts.
    fn closed(&self, spec: &EventSpec) -> Option<String> {
        let broken = self.broken.as_ref().filter(|_| spec.blocks)?;
        let is_open = |spec: &EventSpec| spec.on_failure == OnFailure::Allow;
        // A system whose hooks fail open does not mean that a guard may be lost in a slip.
        if is_open(spec) && (spec.conduct.reads_on || catalog::find(&spec.name).is_none_or(is_open))
        {
            return None;
        }
        match &broken.for_event {
            Some(for_event) if spec.conduct.reads_on => for_event(spec),
            Some(_) | None => Some(broken.reason.clone()),
        }
    }

    /// The run of a detached event whose hooks somebody else supervises.
    pub fn left_to_others(&self, event: &Event) -> Run {
        let started = Instant::now();
        let hooks = chain::runs_of(&self.plan(event), event, &Fate::Detached);
        Run { hooks, took: started.elapsed(), ..run_without(event, Outcome::default()) }
    }

    /// Claims a call that may come in another form too, or takes over what was decided for that
    /// one. What this runner then decides goes to [`Claimed::tell`].
    pub fn once(&self, event: &Event, call: &FormOfCall, budget: Option<Budget>) -> CallClaim {
        if self.is_rehearsal || self.closed(event.spec()).is_some() {
            return CallClaim::Now(None);
        }
        let plan = self.plan(event);
        match duplicate::claim(event, call, &plan, &self.engine, &self.surroundings, budget) {
            CallClaim::Earlier(run) => CallClaim::Earlier(Box::new(self.collected(*run))),
            now @ CallClaim::Now(_) => now,
        }
    }
}

/// What happens to the hooks of a detached event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DetachedHooks {
    LeftRunning,
    Awaited,
}

/// A run in which no hook ran.
fn run_without(event: &Event, outcome: Outcome) -> Run {
    let event = event.clone();
    Run { event, hooks: Vec::new(), outcome, took: Duration::ZERO, earlier: None }
}

/// A run in which hookrun itself could not decide: a refusal, where the event can be refused.
fn own_failure(event: &Event, reason: String) -> Run {
    let outcome = if event.spec().blocks {
        Outcome::own_failure(reason)
    } else {
        let notice = Notice { hook: "hookrun".into(), kind: NoticeKind::Failure, text: reason };
        Outcome { notices: vec![notice], ..Outcome::default() }
    };
    run_without(event, outcome)
}

/// Ends a decision that nobody waits for any more.
#[cfg(feature = "tokio")]
struct RaiseOnDrop {
    abort: Option<Abort>,
}

#[cfg(feature = "tokio")]
impl Drop for RaiseOnDrop {
    fn drop(&mut self) {
        if let Some(abort) = &self.abort {
            abort.raise();
        }
    }
}
