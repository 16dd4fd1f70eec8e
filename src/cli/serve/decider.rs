//! Decides what clients ask, as `run` would: the same events, hooks, words and log.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use crate::config::trust::TrustSeal;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, Event, Schedule};
use crate::engine::exec::{Abort, Budget, Subreaper};
use crate::engine::outcome::Outcome;
use crate::engine::registry::Registry;
use crate::engine::runner::Runner;
use crate::engine::session::Session;
use crate::engine::session_hooks::{SessionHooks, SessionSink};
use crate::engine::ui::Ui;
use crate::hosts::{Binding, Reply, folders, native};
use crate::log::report::refusal_report;

use crate::cli::args::SourceArgs;
use crate::cli::decide::ask::Person;
use crate::cli::decide::decision::{AskedEvent, EventNotes};
use crate::cli::decide::door::Door;
use crate::cli::decide::keep::DecisionRecord;
use crate::cli::decide::request::{EventRequest, HostReply, named_in};
use crate::cli::decide::startup::{check_depth, equipped, trusting_choice};
use crate::cli::decide::unbound::nobody_bound;
use crate::cli::exit::Result;
use crate::cli::serve::loaded::{HooksCache, HooksKey, LoadedHooks};
use crate::cli::serve::question::{ClientAnswer, ClientPlace, ClientQuestion};
use crate::cli::streams;

/// How many events one server decides at once: each may need a thread.
pub(crate) const MOST_AT_ONCE: usize = 2_048;

/// Which hooks decide, and how: what the command line says.
#[derive(Debug, Clone)]
pub(crate) struct ServeSource {
    /// By which clients come.
    pub(crate) door: Door,
    /// The dialect of clients that do not say theirs.
    pub(crate) host: Option<String>,
    pub(crate) source: SourceArgs,
    pub(crate) trust: Vec<String>,
    pub(crate) jobs: Option<usize>,
    pub(crate) record: Option<PathBuf>,
    /// How many events may be decided, or wait for it, at once. What comes then is refused.
    pub(crate) most_at_once: usize,
}

/// Who is at the other end, besides the program that asks.
struct ServedClient {
    runner: Runner,
    person: Option<Person>,
}

pub(crate) struct DecisionServer {
    source: ServeSource,
    env: Environment,
    abort: Abort,
    /// Has the engine that all runners of this server share.
    client: RwLock<ServedClient>,
    /// The hooks that live as long as the sessions of the client, if it holds some.
    sessions: RwLock<Option<Arc<SessionHooks>>>,
    hooks: HooksCache,
    deciding: Arc<AtomicUsize>,
    decided: AtomicU64,
    /// Whether the last decision is not in the log, and that was said.
    is_log_lost: AtomicBool,
}

/// Which hooks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HooksScope {
    /// Those of the event.
    Event,
    /// Those of all events: the first event of a session starts the hooks that live as long.
    Session,
}

/// What an event has to do with the sessions that the client holds.
struct SessionShare {
    held: Arc<SessionHooks>,
    hooks: Arc<LoadedHooks>,
}

impl SessionShare {
    /// Passes the event on to the hooks of its session.
    fn pass_on(&self, event: &Event) {
        // What was changed since it was trusted starts nothing.
        if !self
            .hooks
            .config
            .trust
            .seals
            .iter()
            .any(TrustSeal::is_broken)
        {
            self.held.event_with(&self.hooks.runner, event);
        }
    }
}

/// An event whose hooks are known.
pub(crate) struct ReadyEvent {
    decider: Arc<DecisionServer>,
    hooks: Arc<LoadedHooks>,
    sessions: Option<SessionShare>,
    event: Event,
    host: HostReply,
    budget: Option<Budget>,
    /// What the client calls it.
    request: Option<String>,
}

/// One of the events that are decided now, until it is dropped.
#[derive(Debug)]
pub(crate) struct DecisionSlot {
    deciding: Arc<AtomicUsize>,
}

impl Drop for DecisionSlot {
    fn drop(&mut self) {
        self.deciding.fetch_sub(1, Ordering::SeqCst);
    }
}

impl DecisionServer {
    /// # Errors
    /// When hookrun runs inside of itself too deep.
    pub(crate) fn new(
        source: ServeSource,
        env: &Environment,
        abort: Abort,
        subreaper: Option<Subreaper>,
    ) -> Result<DecisionServer> {
        check_depth(env)?;
        let runner = equipped(Runner::embedded(Registry::default(), env), env);
        let runner = runner.abort(abort.clone()).subreaper(subreaper);
        let runner = match source.jobs {
            Some(jobs) => runner.jobs(jobs),
            None => runner,
        };
        Ok(DecisionServer {
            source,
            env: env.clone(),
            abort,
            client: RwLock::new(ServedClient {
                runner,
                person: None,
            }),
            sessions: RwLock::default(),
            hooks: HooksCache::default(),
            deciding: Arc::default(),
            decided: AtomicU64::new(0),
            is_log_lost: AtomicBool::new(false),
        })
    }

    /// The same for clients behind another door, which have nobody to ask, and which have not started
    /// this server. Hooks of both spare each other.
    pub(crate) fn beside(&self, door: Door) -> DecisionServer {
        let env = self.env.clone().without_hosts();
        let runner = Runner::embedded(Registry::default(), &env).beside(&self.runner());
        DecisionServer {
            source: ServeSource {
                door,
                ..self.source.clone()
            },
            env,
            abort: self.abort.clone(),
            client: RwLock::new(ServedClient {
                runner,
                person: None,
            }),
            sessions: RwLock::default(),
            hooks: HooksCache::default(),
            deciding: Arc::default(),
            decided: AtomicU64::new(0),
            is_log_lost: AtomicBool::new(false),
        }
    }

    /// The same for clients with these variables, which have nobody to ask.
    pub(crate) fn in_environment(&self, variables: Vec<(OsString, OsString)>) -> DecisionServer {
        let named = Environment::of_client(variables, self.env.cwd.clone());
        let env = Environment {
            run_id: self.env.run_id.clone(),
            ..named
        };
        let runner = Runner::embedded(Registry::default(), &env).beside(&self.runner());
        DecisionServer {
            env,
            client: RwLock::new(ServedClient {
                runner,
                person: None,
            }),
            hooks: HooksCache::of_runs(),
            ..self.beside(self.source.door)
        }
    }

    /// From now on the client shows the dialogs of hooks, and takes messages for its sessions.
    pub(crate) fn introduce(&self, ui: Option<Arc<dyn Ui>>, session: Option<Arc<dyn Session>>) {
        let mut client = self.client.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = session {
            client.runner = client.runner.clone().session(session);
        }
        if let Some(ui) = ui {
            client.runner = client.runner.clone().ui(Arc::clone(&ui));
            client.person = Some(Person::Client(ui));
        }
        self.hooks.clear();
    }

    /// From now on the client holds the sessions of its events: hooks that live as long as one start
    /// with it, and what they say goes to `sink`.
    pub(crate) fn hold_sessions(&self, sink: Arc<dyn SessionSink>) {
        let hooks = Arc::new(SessionHooks::new(&self.runner(), sink));
        *self
            .sessions
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some(hooks);
    }

    /// Ends all hooks of sessions, and waits for that.
    pub(crate) fn end_sessions(&self) {
        let held = self
            .sessions
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(held) = held {
            held.end_all();
        }
    }

    fn held_sessions(&self) -> Option<Arc<SessionHooks>> {
        self.sessions
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Has the engine of this server, and no hooks.
    pub(crate) fn runner(&self) -> Runner {
        self.client
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .runner
            .clone()
    }

    pub(crate) fn abort(&self) -> &Abort {
        &self.abort
    }

    /// How many events were decided since the start.
    pub(crate) fn decided(&self) -> u64 {
        self.decided.load(Ordering::Relaxed)
    }

    /// How many events are decided now.
    pub(crate) fn deciding(&self) -> usize {
        self.deciding.load(Ordering::Relaxed)
    }

    /// Why an event is not decided now.
    pub(crate) fn overload(&self) -> String {
        format!(
            "{} events are being decided; ask again later",
            self.source.most_at_once
        )
    }

    /// A place among the events that are decided at once; `None` if all are taken.
    pub(crate) fn slot(&self) -> Option<DecisionSlot> {
        let slot = DecisionSlot {
            deciding: Arc::clone(&self.deciding),
        };
        let before = self.deciding.fetch_add(1, Ordering::SeqCst);
        (before < self.source.most_at_once).then_some(slot)
    }

    /// Finds the hooks of the event; an answer if there is no event to decide.
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
        let host = host.or_else(|| self.source.host.clone());
        let dialect = host.as_deref().unwrap_or(native::NAME);
        let is_named = event.is_some();
        let named = match event {
            Some(event) => Ok((event, dialect.to_string())),
            None => named_in(&context, host.as_deref(), "run")
                .map(|(event, host)| (event, host.to_string())),
        };
        let (name, known) = named.map_err(|failure| {
            let mut answer = self.refused(&EventRequest::new("", dialect), &failure);
            if host.is_none() {
                // The host is not known, and text on stderr blocks in every host.
                answer.reply.stdout.clear();
            }
            answer
        })?;
        let request = EventRequest::new(&name, &known);
        if !is_named {
            if let Some(failure) = request.wrong_host() {
                return Err(self.refused(&request, &failure));
            }
            if let Some(reply) = request.reply_to_new() {
                return Err(Box::new(self.answer(
                    name.clone(),
                    reply,
                    Outcome::default(),
                    None,
                )));
            }
        }
        let failed = |failure: Complaint| self.refused(&request, &failure);
        let hooks = self.hooks(HooksScope::Event, &request, &place, &context);
        request.check(&hooks.config).map_err(failed)?;
        let sessions = self.held_sessions().map(|held| {
            let hooks = self.hooks(HooksScope::Session, &request, &place, &context);
            SessionShare { held, hooks }
        });
        let (event, host) = request.event(&hooks.config, context).map_err(failed)?;
        let whole = budget.or(request.budget());
        let budget = whole.map(|whole| Budget::from(started, whole));
        let (decider, request) = (Arc::clone(self), None);
        Ok(ReadyEvent {
            decider,
            hooks,
            sessions,
            event,
            host,
            budget,
            request,
        })
    }

    /// Blocks a question that cannot be read.
    pub(crate) fn refuse(
        &self,
        host: &str,
        event: Option<&str>,
        failure: &Complaint,
    ) -> Box<ClientAnswer> {
        self.refused(&EventRequest::new(event.unwrap_or_default(), host), failure)
    }

    /// The events that a hook is bound to where this server works.
    pub(crate) fn bound_events(&self) -> Vec<String> {
        let choice = trusting_choice(&self.source.source, &self.env, native::NAME, &[]);
        let config = Config::load(&choice, &self.env, ConfigScope::All);
        let events: BTreeSet<String> = config.hooks.into_iter().map(|hook| hook.event).collect();
        events.into_iter().collect()
    }

    fn hooks(
        &self,
        scope: HooksScope,
        request: &EventRequest<'_>,
        place: &ClientPlace,
        context: &Context,
    ) -> Arc<LoadedHooks> {
        let host = request.host();
        let mut told = folders::told(host, context);
        let cwd = match place {
            ClientPlace::OfServer => self.env.cwd.clone(),
            ClientPlace::Folder(folder) => self.env.cwd.join(folder),
            ClientPlace::OfContext { project } => {
                let named = context.string("cwd").map(PathBuf::from);
                let named = named
                    .or_else(|| told.roots.first().cloned())
                    .or(project.clone());
                told.roots.extend(project.clone());
                named.map_or_else(|| self.env.cwd.clone(), |cwd| self.env.cwd.join(cwd))
            }
        };
        let is_elsewhere = matches!(place, ClientPlace::OfContext { .. });
        let event = (scope == HooksScope::Event).then(|| request.name.to_string());
        self.hooks.get(
            HooksKey {
                host,
                event,
                cwd,
                told,
            },
            |key| {
                let mut env = self.env.clone();
                if key.cwd != env.cwd {
                    let is_there = key.cwd.is_dir();
                    let problem = || format!("`{}` is no folder here", key.cwd.display());
                    // As `run` does where its folder is gone.
                    let cwd = if is_there {
                        key.cwd.clone()
                    } else {
                        PathBuf::from("/")
                    };
                    env = env.moved_to(cwd);
                    env.cwd_problem = (!is_there).then(problem);
                }
                if is_elsewhere {
                    // What the environment of the server says is not about this client.
                    env.host_projects.clear();
                }
                let choice = trusting_choice(&self.source.source, &env, host, &self.source.trust);
                let mut choice = Choice {
                    told: key.told.clone(),
                    ..choice
                };
                choice.told.roots.splice(0..0, env.projects_of(host));
                let read = |choice: &Choice, env: &Environment| match scope {
                    HooksScope::Event => request.load(choice, env),
                    HooksScope::Session => request.load_all(choice, env),
                };
                LoadedHooks::read(choice, env, read, |config, env| self.equipped(config, env))
            },
        )
    }

    fn equipped(&self, config: Config, env: &Environment) -> Runner {
        Runner::from_config(config, env).beside(&self.runner())
    }

    /// Blocks, because hookrun itself failed.
    fn refused(&self, request: &EventRequest<'_>, failure: &Complaint) -> Box<ClientAnswer> {
        let reason = failure.to_string();
        let reply = request.refuse(&reason);
        let report = refusal_report(request.name, request.host(), &reason, &reply);
        let kept = DecisionRecord::refused(report).by(self.source.door);
        self.keep(kept, &reply, &self.env);
        let outcome = Outcome::own_failure(reason);
        let answer = self.answer(request.name.to_string(), reply, outcome, request.refusing());
        Box::new(ClientAnswer {
            host: request.host(),
            ..answer
        })
    }

    /// Keeps a decision. That the log takes none is said once on stderr, which is for diagnostics here.
    fn keep(&self, kept: DecisionRecord, reply: &Reply, env: &Environment) {
        let logged = kept.keep(reply, env, self.source.record.as_deref());
        let was_lost = self.is_log_lost.swap(logged.is_err(), Ordering::Relaxed);
        if let Err(error) = logged
            && !was_lost
        {
            streams::remark(&format!(
                "decisions go on, but are not in the log: {error}\n"
            ));
        }
    }

    fn answer(
        &self,
        event: String,
        reply: Reply,
        outcome: Outcome,
        binding: Option<Binding>,
    ) -> ClientAnswer {
        let number = self.decided.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}-{number}", self.env.run_id);
        let host = binding.map_or(native::NAME, |binding| binding.dialect.name);
        ClientAnswer {
            reply,
            event,
            outcome,
            id,
            host,
            binding,
        }
    }
}

impl ReadyEvent {
    /// Whether deciding it starts nothing and waits for nothing.
    pub(crate) fn is_idle(&self) -> bool {
        self.hooks.runner.is_idle(&self.event)
    }

    /// The same event, of which dialogs and messages say that the client calls it `request`.
    pub(crate) fn of_request(self, request: Option<String>) -> ReadyEvent {
        ReadyEvent { request, ..self }
    }

    /// Decides. It blocks the thread until then; raising `cancel` ends that. Whatever fails is a
    /// block in the words of the client.
    pub(crate) fn decide(self, cancel: Option<Abort>) -> ClientAnswer {
        let (decider, event) = (Arc::clone(&self.decider), self.event.clone());
        let host = self.host;
        let decided = catch_unwind(AssertUnwindSafe(|| self.try_to_decide(cancel)));
        decided.unwrap_or_else(|_| {
            let outcome = Outcome::own_failure("hookrun itself failed: a thread of it panicked");
            decider.answer(
                event.spec().name.to_string(),
                host.reply(&outcome),
                outcome,
                host.binding,
            )
        })
    }

    fn try_to_decide(self, cancel: Option<Abort>) -> ClientAnswer {
        let ReadyEvent {
            decider,
            hooks,
            sessions,
            event,
            host,
            budget,
            request,
        } = self;
        let mut own = cancel.map(|cancel| hooks.runner.cancelled_by(cancel));
        if let Some(request) = request {
            own = Some(
                own.unwrap_or_else(|| hooks.runner.clone())
                    .for_request(&request),
            );
        }
        let runner = own.as_ref().unwrap_or(&hooks.runner);
        let event = runner.follow_links(event);
        let notes = EventNotes::of(&hooks.config, &event);
        let client = decider
            .client
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let person = client.person.clone();
        drop(client);
        let asked = AskedEvent {
            event: &event,
            host,
            notes: &notes,
            runner,
            person: person.as_ref(),
            budget,
            abort: &decider.abort,
        };
        let handle = || match event.spec().schedule {
            // This server is there as long as they need.
            Schedule::Detached => runner.handle(&event),
            Schedule::Sequential | Schedule::Parallel => runner.handle_within(&event, budget),
        };
        let run = asked.decide(handle, || ());
        let mut reply = host.reply(&run.outcome);
        if let Some(looked_in) = hooks
            .looked_in
            .clone()
            .filter(|_| notes.says_nobody_bound(host))
        {
            let name = &event.spec().name;
            reply
                .stderr
                .extend(nobody_bound(runner.registry(), name, || looked_in));
        }
        if let Some(sessions) = sessions {
            sessions.pass_on(&event);
        }
        let name = event.spec().name.to_string();
        let outcome = run.outcome.clone();
        let kept = DecisionRecord::decided(event, run, hooks.settings.clone());
        if let Some(kept) = kept {
            let kept = kept.by(decider.source.door);
            decider.keep(kept, &reply, &hooks.env);
        }
        decider.answer(name, reply, outcome, host.binding)
    }
}
