//! Decides clients' events as `run` would: same hooks, replies and log.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::config::{Config, ConfigScope, Environment};
use crate::decide::hooks::check_depth;
use crate::decide::request::reply_to;
use crate::decide::{
    DetachedRun, Door, EventDecision, EventRequest, HostedEvent, LoadedHooks, Terms, decide,
};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, Event};
use crate::engine::exec::{Abort, Budget, Subreaper};
use crate::engine::lock::locked;
use crate::engine::outcome::Outcome;
use crate::engine::registry::Registry;
use crate::engine::runner::Runner;
use crate::engine::session::Session;
use crate::engine::session_hooks::{SessionHooks, SessionSink};
use crate::engine::ui::Ui;
use crate::hosts::{HostFolders, native};

use crate::cli::args::ServeArgs;
use crate::cli::exit::Result;
use crate::cli::serve::question::{
    ClientAnswer, ClientPlace, ClientQuestion, HooksCache, HooksKey, ReadHooks,
};
use crate::cli::streams;

/// The most events that one server decides in parallel; each may need a thread.
pub(crate) const MOST_AT_ONCE: usize = 2_048;

struct ServedClient {
    runner: Runner,
    /// Dialogs, if the client shows them.
    ui: Option<Arc<dyn Ui>>,
}

pub(crate) struct DecisionServer {
    door: Door,
    args: ServeArgs,
    /// The most events in progress; further ones are blocked.
    pub(crate) most_at_once: usize,
    env: Environment,
    pub(crate) abort: Abort,
    /// Owns the engine of all runners of this server.
    client: Mutex<ServedClient>,
    /// Session hooks, if the client holds sessions.
    sessions: Mutex<Option<Arc<SessionHooks>>>,
    /// `None` for runs, which load their hooks for every event.
    hooks: Option<HooksCache>,
    /// Cloned for each event in progress.
    deciding: DecisionSlot,
    /// Whether the last decision was not logged, which is reported once.
    is_log_lost: AtomicBool,
}

/// An event's connection to the client's sessions.
struct SessionShare {
    held: Arc<SessionHooks>,
    /// The hooks of all events, because a session's first event starts its hooks.
    hooks: Arc<ReadHooks>,
}

impl SessionShare {
    fn pass_on(&self, event: &Event) {
        // Hooks changed since they were trusted do not start.
        let hooks = &self.hooks.hooks;
        let mut seals = hooks.config.trust.seals.iter();
        if !seals.any(|seal| seal.stamps_now().is_none()) {
            self.held.event_with(&hooks.runner, event);
        }
    }
}

/// An event with its hooks loaded.
pub(crate) struct ReadyEvent {
    decider: Arc<DecisionServer>,
    hooks: Arc<ReadHooks>,
    sessions: Option<SessionShare>,
    hosted: HostedEvent,
    budget: Option<Budget>,
    pub(super) request: Option<String>,
}

/// Counts an event in progress until dropped.
pub(crate) type DecisionSlot = Arc<()>;

impl DecisionServer {
    pub(crate) fn new(
        door: Door,
        args: ServeArgs,
        env: &Environment,
        abort: Abort,
        subreaper: Option<Subreaper>,
    ) -> Result<DecisionServer> {
        check_depth(env)?;
        let mut runner = Runner::embedded(Registry::default(), env)
            .with_program(env)
            .abort(abort.clone())
            .subreaper(subreaper);
        if let Some(jobs) = args.deciding.jobs {
            runner = runner.jobs(jobs);
        }
        let hooks = Some(HooksCache::default());
        let env = env.clone();
        Ok(DecisionServer::of(door, args, env, abort, runner, hooks))
    }

    fn of(
        door: Door,
        args: ServeArgs,
        env: Environment,
        abort: Abort,
        runner: Runner,
        hooks: Option<HooksCache>,
    ) -> DecisionServer {
        DecisionServer {
            door,
            args,
            most_at_once: MOST_AT_ONCE,
            env,
            abort,
            client: Mutex::new(ServedClient { runner, ui: None }),
            sessions: Mutex::default(),
            hooks,
            deciding: Arc::default(),
            is_log_lost: AtomicBool::new(false),
        }
    }

    /// A server for unrelated clients. A shared engine keeps it from killing the other's hooks.
    pub(crate) fn beside(&self, door: Door) -> DecisionServer {
        let env = self.env.clone().without_hosts();
        self.sibling(door, env, Some(HooksCache::default()))
    }

    pub(crate) fn in_environment(&self, variables: Vec<(OsString, OsString)>) -> DecisionServer {
        let env = Environment {
            run_id: self.env.run_id.clone(),
            ..Environment::of_client(variables, self.env.cwd.clone())
        };
        self.sibling(self.door, env, None)
    }

    fn sibling(&self, door: Door, env: Environment, hooks: Option<HooksCache>) -> DecisionServer {
        let runner = Runner::embedded(Registry::default(), &env).beside(&self.runner());
        let abort = self.abort.clone();
        DecisionServer::of(door, self.args.clone(), env, abort, runner, hooks)
    }

    /// Takes what the client can show. It holds sessions: session hooks start with theirs, and write
    /// to `sink`.
    pub(crate) fn introduce(
        &self,
        ui: Option<Arc<dyn Ui>>,
        session: Option<Arc<dyn Session>>,
        sink: Arc<dyn SessionSink>,
    ) {
        let mut client = locked(&self.client);
        if let Some(session) = session {
            client.runner = client.runner.clone().session(session);
        }
        if let Some(ui) = ui {
            client.runner = client.runner.clone().ui(Arc::clone(&ui));
            client.ui = Some(ui);
        }
        self.hooks.iter().for_each(HooksCache::clear);
        let held = SessionHooks::new(&client.runner, sink);
        *locked(&self.sessions) = Some(Arc::new(held));
    }

    pub(crate) fn end_sessions(&self) {
        let held = locked(&self.sessions).take();
        if let Some(held) = held {
            held.end_all();
        }
    }

    pub(crate) fn runner(&self) -> Runner {
        locked(&self.client).runner.clone()
    }

    pub(crate) fn deciding(&self) -> usize {
        Arc::strong_count(&self.deciding) - 1
    }

    /// The reason to reject an event for now.
    pub(crate) fn overload(&self) -> String {
        let most = self.most_at_once;
        format!("too many events at the same time ({most}); try again later")
    }

    /// A slot for an event in progress; `None` if all are taken.
    pub(crate) fn slot(&self) -> Option<DecisionSlot> {
        let slot = Arc::clone(&self.deciding);
        (self.deciding() <= self.most_at_once).then_some(slot)
    }

    /// Loads the event's hooks; returns an answer if there is no event to decide.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        question: ClientQuestion,
    ) -> std::result::Result<ReadyEvent, Box<ClientAnswer>> {
        let started = Instant::now();
        let ClientQuestion {
            host,
            event,
            context,
            place,
            budget,
        } = question;
        let host = host.or_else(|| self.args.host.clone());
        let dialect = host.as_deref().unwrap_or(native::NAME);
        let request = match event {
            Some(event) => EventRequest::new(event, dialect),
            None => self.request_in(&context, host.as_deref())?,
        };
        let name = Some(request.name.to_string());
        let hooks = self.hooks(name, &request, &place, &context);
        let config = &hooks.hooks.config;
        if let Err(unknown) = request.check(config) {
            return Err(self.blocked(&request, &unknown));
        }
        let held = locked(&self.sessions).clone();
        let sessions = held.map(|held| {
            let hooks = self.hooks(None, &request, &place, &context);
            SessionShare { held, hooks }
        });
        let hosted = match request.event(config, context) {
            Ok(hosted) => hosted,
            Err(failure) => return Err(self.blocked(&request, &failure)),
        };
        let budget = budget.or(request.budget());
        Ok(ReadyEvent {
            decider: Arc::clone(self),
            sessions,
            hosted,
            budget: budget.map(|whole| Budget::from(started, whole)),
            request: None,
            hooks,
        })
    }

    /// The request of a context that names its event; an answer if there is no event to decide.
    fn request_in(
        &self,
        context: &Context,
        host: Option<&str>,
    ) -> std::result::Result<EventRequest<'static>, Box<ClientAnswer>> {
        let request = match EventRequest::in_context(context, host, "run") {
            Ok(request) => request,
            Err(failure) => {
                let nameless = EventRequest::new("", host.unwrap_or(native::NAME));
                let mut answer = self.blocked(&nameless, &failure);
                if host.is_none() {
                    // Text on stderr blocks in every host.
                    answer.reply.stdout.clear();
                }
                return Err(answer);
            }
        };
        match request.reply_to_unknown() {
            Ok(None) => Ok(request),
            Ok(Some(reply)) => Err(Box::new(ClientAnswer::of(reply, Outcome::default(), None))),
            Err(failure) => Err(self.blocked(&request, &failure)),
        }
    }

    pub(crate) fn block(
        &self,
        host: &str,
        event: Option<&str>,
        failure: &Complaint,
    ) -> Box<ClientAnswer> {
        self.blocked(&EventRequest::new(event.unwrap_or_default(), host), failure)
    }

    /// The events with hooks in the server's folder.
    pub(crate) fn bound_events(&self) -> Vec<String> {
        let choice = self.args.source.trusting(&[], &self.env, native::NAME);
        let config = Config::load(&choice, &self.env, ConfigScope::All);
        let events: BTreeSet<String> = config.hooks.into_iter().map(|hook| hook.event).collect();
        events.into_iter().collect()
    }

    /// The hooks of `event`, or of all events, in the client's folder.
    fn hooks(
        &self,
        event: Option<String>,
        request: &EventRequest<'_>,
        place: &ClientPlace,
        context: &Context,
    ) -> Arc<ReadHooks> {
        let host = request.host();
        let mut folders = HostFolders::read(host, context);
        let mut cwd = self.env.cwd.clone();
        match place {
            ClientPlace::OfServer => {}
            ClientPlace::Folder(folder) => cwd.push(folder),
            ClientPlace::OfContext { project } => {
                let named = context.string("cwd").map(PathBuf::from);
                let root = folders.roots.first().cloned();
                cwd.extend(named.or(root).or(project.clone()));
                folders.roots.extend(project.clone());
            }
        }
        let is_elsewhere = matches!(place, ClientPlace::OfContext { .. });
        let key = HooksKey {
            host,
            event,
            cwd,
            folders,
        };
        match &self.hooks {
            Some(hooks) => hooks.get(key, |key| self.read_hooks(key, request, is_elsewhere)),
            None => Arc::new(self.read_hooks(&key, request, is_elsewhere)),
        }
    }

    fn read_hooks(
        &self,
        key: &HooksKey,
        request: &EventRequest<'_>,
        is_elsewhere: bool,
    ) -> ReadHooks {
        let read_at = Instant::now();
        let mut env = self.env.clone();
        if key.cwd != env.cwd && key.cwd.is_dir() {
            env = env.moved_to(key.cwd.clone());
        } else if key.cwd != env.cwd {
            // `run` does the same if its folder is gone.
            env = env.moved_to(PathBuf::from("/"));
            env.cwd_problem = Some(format!("`{}` is not a folder", key.cwd.display()));
        }
        if is_elsewhere {
            // The server's environment does not describe this client.
            env.host_projects.clear();
        }
        let args = &self.args;
        let mut choice = args.source.trusting(&args.deciding.trust, &env, key.host);
        let projects = std::mem::replace(&mut choice.host_folders, key.folders.clone()).roots;
        choice.host_folders.roots.splice(0..0, projects);
        let config = if key.event.is_some() {
            request.load(&choice, &env)
        } else {
            Config::load(&choice, &env, ConfigScope::All)
        };
        ReadHooks {
            hooks: LoadedHooks::new(config, &env, |runner| runner.beside(&self.runner())),
            env,
            read_at,
            reading_took: read_at.elapsed(),
        }
    }

    fn blocked(&self, request: &EventRequest<'_>, failure: &Complaint) -> Box<ClientAnswer> {
        let reason = failure.to_string();
        let reply = request.block(&reason);
        let decision =
            EventDecision::blocked(&request.name, request.host(), &reason, reply.clone());
        self.keep(decision, &self.env);
        let outcome = Outcome::own_failure(reason);
        Box::new(ClientAnswer {
            reply,
            outcome,
            host: request.host(),
            binding: request.block_dialect(),
        })
    }

    /// Logs a decision. Reports a failing log once on stderr.
    fn keep(&self, decision: EventDecision, env: &Environment) {
        let record = self.args.deciding.record.as_deref();
        let unwritten = decision.keep(self.door, env, record);
        if let Some(problem) = unwritten.recording {
            streams::remark(&format!("cannot record the event: {problem}\n"));
        }
        let is_lost = unwritten.log.is_some();
        let was_lost = self.is_log_lost.swap(is_lost, Ordering::Relaxed);
        if let Some(error) = unwritten.log
            && !was_lost
        {
            streams::remark(&format!(
                "decisions continue, but are not logged: {error}\n"
            ));
        }
    }
}

impl ReadyEvent {
    /// Whether the decision starts nothing and waits for nothing.
    pub(crate) fn is_idle(&self) -> bool {
        self.hooks.hooks.runner.is_idle(&self.hosted.event)
    }

    /// Decides on this thread until `cancel` is raised. Any failure blocks in the client's format.
    pub(crate) fn decide(self, cancel: Option<Abort>) -> ClientAnswer {
        let binding = self.hosted.binding;
        let decided = catch_unwind(AssertUnwindSafe(|| self.try_to_decide(cancel)));
        decided.unwrap_or_else(|_| {
            let outcome = Outcome::own_failure("hookrun itself failed: a thread panicked");
            ClientAnswer::of(reply_to(binding, &outcome), outcome, binding)
        })
    }

    fn try_to_decide(self, cancel: Option<Abort>) -> ClientAnswer {
        let decider = self.decider;
        let binding = self.hosted.binding;
        let ReadHooks { hooks, env, .. } = &*self.hooks;
        let mut own = cancel.map(|cancel| hooks.runner.cancelled_by(cancel));
        if let Some(request) = self.request {
            let mut runner = own.unwrap_or_else(|| hooks.runner.clone());
            if let Some(server) = &mut runner.engine.server {
                server.request = Some(Arc::from(request));
            }
            own = Some(runner);
        }
        let ui = locked(&decider.client).ui.clone();
        let terms = Terms {
            budget: self.budget,
            abort: &decider.abort,
            ui: ui.as_deref(),
            // The server lives as long as they need.
            detached: DetachedRun::InThread,
            is_watched: false,
            heartbeat: None,
        };
        let runner = own.as_ref().unwrap_or(&hooks.runner);
        let decision = decide(self.hosted, hooks, runner, &terms);
        let mut outcome = Outcome::default();
        if let Some(decided) = &decision.decided {
            outcome = decided.run.outcome.clone();
            if let Some(sessions) = self.sessions {
                sessions.pass_on(&decided.event);
            }
        }
        let reply = decision.reply.clone();
        decider.keep(decision, env);
        ClientAnswer::of(reply, outcome, binding)
    }
}
