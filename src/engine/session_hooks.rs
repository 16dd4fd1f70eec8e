//! Session-lived hooks, for programs that hold sessions.
//!
//! They are prepared by `chain` and run by `exec` like other hooks. One thread per hook reads its
//! output lines and restarts it if it exits too early.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::{Map, Value};

use crate::engine::chain::{HookTurn, Preparation, event_variables};
use crate::engine::event::Event;
use crate::engine::event::catalog::END_OF_SESSION;
use crate::engine::exec::{Engine, HookLines, LineLife, PipeStore};
use crate::engine::hook::{Hook, Lives};
use crate::engine::lock::locked;
use crate::engine::run::{Ending, Exit, Trace};
use crate::engine::runner::Runner;
use crate::engine::session::{Message, Session};

// The pause before a restart doubles each time, and begins anew after a long life.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const LIVED_LONG: Duration = Duration::from_secs(60);

/// Runs the hooks with `lives = "session"` of all sessions of a program.
///
/// A hook starts with the first event of its session passed here. It reads its events as JSON lines
/// on stdin and may write JSON lines at any time. It ends with its process tree after
/// `session.end`, at [`SessionHooks::end`], and when this value is dropped. Environment, folder,
/// limits and sandbox are as for other hooks.
///
/// If it exits with a status other than 0, it restarts after 100 ms, then after twice as long each
/// time, at most 60 s; after a life of 60 s the pause is 100 ms again. Events wait meanwhile. After
/// status 0 it does not restart.
///
/// Each hook of a session needs a thread and six descriptors, and three more while it starts: a
/// thousand sessions that start together need a limit (`ulimit -n`) of 9,000. If one is
/// unavailable, [`SessionSink::ended`] is called, and the start is retried.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::{Sender, channel};
/// use std::time::Duration;
///
/// use hookrun::{Event, Hook, Lives, Message, Runner, Session, SessionHooks, SessionSink};
/// use serde_json::json;
///
/// struct Messages(Sender<String>);
///
/// impl Session for Messages {
///     fn send(&self, _session: &str, message: &Message) -> Result<(), String> {
///         self.0.send(message.text.clone()).map_err(|error| error.to_string())
///     }
/// }
///
/// impl SessionSink for Messages {
///     fn context(&self, _session: &str, _hook: &str, _text: &str) {}
///     fn status(&self, _session: &str, _hook: &str, _key: &str, _text: Option<&str>) {}
///     fn ended(&self, _session: &str, _hook: &str, _how: &str, _restarts: Option<Duration>) {}
/// }
///
/// let watcher = r#"while read -r event; do echo '{"message": "it begins"}'; done"#;
/// let runner = Runner::builder().build()?;
/// let watcher = Hook::shell("watcher", "session.start", watcher);
/// runner.register(Hook { lives: Lives::Session, ..watcher })?;
///
/// let (sender, messages) = channel();
/// let hooks = SessionHooks::new(&runner, Arc::new(Messages(sender)));
/// hooks.event(&Event::of("session.start", json!({ "sessionId": "s-1" }))?);
/// assert_eq!(messages.recv()?, "it begins");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SessionHooks {
    shared: Arc<SharedState>,
}

/// Receives the output of session-lived hooks, at any time and from several threads. Messages
/// arrive through [`Session::send`].
///
/// A hook waits while a call for it runs, and so does its end.
pub trait SessionSink: Session {
    /// Adds context for the model: `{"additionalContext": "…"}`.
    fn context(&self, session: &str, hook: &str, text: &str);

    /// Shows `text` under `key`, by default the hook's name; `None` removes the key: `{"status":
    /// "…"}` or `{"status": {"key": "…", "text": "…"}}`.
    fn status(&self, session: &str, hook: &str, key: &str, text: Option<&str>);

    /// Reports that a hook's process ended or could not start, for the reason `how` (lower case, no
    /// full stop). It restarts after `restarts_in`, unless its session ends first; `None` means
    /// never.
    fn ended(&self, session: &str, hook: &str, how: &str, restarts_in: Option<Duration>);
}

struct SharedState {
    runner: Runner,
    /// The runner's engine, with another server.
    engine: Engine,
    sink: Arc<dyn SessionSink>,
    mark: String,
    sessions: Arc<SessionTable>,
}

#[derive(Default)]
struct SessionTable {
    held: Mutex<HeldSessions>,
    over: Condvar,
}

#[derive(Default)]
struct HeldSessions {
    /// Started hooks by session, until it ends.
    sessions: HashMap<String, Vec<Arc<SessionHook>>>,
    running: Vec<Arc<SessionHook>>,
    started: u64,
}

struct SessionHook {
    session: String,
    hook: Arc<Hook>,
    mark: String,
    lines: Arc<HookLines>,
}

impl SessionHook {
    /// Returns true if `other` is the same hook: one hook may be bound to several events, by its
    /// table or by links in several folders.
    fn is_same(&self, other: &Hook) -> bool {
        if self.hook.name != other.name || self.hook.source.line != other.source.line {
            return false;
        }
        let own = &self.hook.source.file;
        if *own == other.source.file {
            return true;
        }
        let real = own.canonicalize().ok();
        real.is_some() && real == other.source.file.canonicalize().ok()
    }
}

impl SessionHooks {
    /// Creates the session-lived hooks of `runner` for all sessions. Their dialogs go to the
    /// runner's [`Ui`](crate::Ui), their output to `sink`.
    pub fn new(runner: &Runner, sink: Arc<dyn SessionSink>) -> SessionHooks {
        let mut engine = runner.engine.clone();
        engine.server = Some(runner.server().apart(Arc::clone(&sink) as Arc<dyn Session>));
        engine.heartbeat = None;
        engine.watcher = None;
        engine.cancel = None;
        let base = engine.mark.as_ref().unwrap_or(&runner.surroundings.run_id);
        let mark = engine.new_mark(base);
        engine.spare_sessions(&mark, true);
        SessionHooks {
            shared: Arc::new(SharedState {
                runner: runner.clone(),
                engine,
                sink,
                mark,
                sessions: Arc::default(),
            }),
        }
    }

    /// Passes an event to its session's hooks. The first event of a session starts them,
    /// `session.end` ends them. Never waits for a hook. Ignores events without a `sessionId`.
    pub fn event(&self, event: &Event) {
        self.event_with(&self.shared.runner, event);
    }

    /// Like [`SessionHooks::event`], with the hooks of `runner`, for a program that reloads its
    /// hooks. Running hooks stay. `runner` shares the engine of the first one ([`Runner::beside`]).
    pub(crate) fn event_with(&self, runner: &Runner, event: &Event) {
        let shared = &self.shared;
        let session = event.context().string("sessionId").unwrap_or_default();
        let mut lasting = runner.registry().hooks();
        lasting.retain(|hook| hook.lives == Lives::Session && hook.is_on());
        if session.is_empty() || lasting.is_empty() {
            return;
        }
        let is_end = event.spec().name == END_OF_SESSION;
        let mut bound: Vec<&Arc<Hook>> = lasting.iter().collect();
        bound.retain(|hook| hook.event == event.spec().name);
        let followed = (!bound.is_empty()).then(|| runner.follow_links(event.clone()));
        let event = followed.as_ref().unwrap_or(event);
        let place = runner.place(event);
        bound.retain(|hook| hook.wants(event, &place).is_ok());
        let line = event.context().to_line();

        let mut failures = Vec::new();
        let mut held = locked(&shared.sessions.held);
        for hook in &lasting {
            let known = held.sessions.get(&session);
            let is_known = known.is_some_and(|known| known.iter().any(|one| one.is_same(hook)));
            if !is_known && !is_end {
                let started = SharedState::start(shared, &mut held, hook, event, runner);
                failures.extend(started.err().map(|error| (hook.name.clone(), error)));
            }
        }
        for hook in held.sessions.get(&session).into_iter().flatten() {
            if bound.iter().any(|bound| hook.is_same(bound)) {
                hook.lines.push(line.clone());
            }
        }
        drop(held);
        for (hook, error) in failures {
            let how = format!("cannot start: {error}; raise the thread and descriptor limits");
            shared.call_sink(|sink| sink.ended(&session, &hook, &how, None));
        }
        if is_end {
            self.end(&session);
        }
    }

    /// Ends the hooks of a session: closes stdin after the pending events, waits for their timeout
    /// (5 s by default), then sends SIGTERM and, 200 ms later, SIGKILL. Does not wait for that.
    pub fn end(&self, session: &str) {
        let hooks = locked(&self.shared.sessions.held).sessions.remove(session);
        for hook in hooks.into_iter().flatten() {
            hook.lines.shorten(LineLife::Closing);
        }
    }

    /// Kills the hooks of all sessions with SIGTERM and, 200 ms later, SIGKILL, and waits until all
    /// have ended. Do not call it from the sink.
    pub fn end_all(&self) {
        let mut held = locked(&self.shared.sessions.held);
        held.sessions.clear();
        let had_some = !held.running.is_empty();
        for hook in &held.running {
            hook.lines.shorten(LineLife::Stopped);
        }
        let over = &self.shared.sessions.over;
        let waited = over.wait_while(held, |held| !held.running.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        if had_some {
            self.shared.engine.end_strays(&self.shared.mark);
        }
    }
}

impl Drop for SessionHooks {
    fn drop(&mut self) {
        self.end_all();
        self.shared.engine.spare_sessions(&self.shared.mark, false);
    }
}

impl std::fmt::Debug for SessionHooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionHooks").finish_non_exhaustive()
    }
}

impl SharedState {
    fn start(
        self: &Arc<SharedState>,
        held: &mut HeldSessions,
        hook: &Arc<Hook>,
        event: &Event,
        runner: &Runner,
    ) -> std::io::Result<()> {
        let session = event.context().string("sessionId").unwrap_or_default();
        let sink_owner = Arc::downgrade(self);
        let name = hook.name.clone();
        let id = session.clone();
        let lines = HookLines::new(move |line| {
            if let Some(shared) = sink_owner.upgrade() {
                shared.call_sink(|sink| pass_on(sink, &id, &name, line));
            }
        })?;
        held.started += 1;
        let one = Arc::new(SessionHook {
            session,
            hook: Arc::clone(hook),
            mark: format!("{}.{}", self.mark, held.started),
            lines: Arc::new(lines),
        });
        let shared = Arc::clone(self);
        let own = Arc::clone(&one);
        let event = event.clone();
        let runner = runner.clone();
        let thread = thread::Builder::new().name("hookrun-session".to_string());
        thread.spawn(move || {
            shared.supervise(&own, &event, &runner);
            // A caller of `end_all` also waits for the engine's keeper, so drop the engine first.
            let sessions = Arc::clone(&shared.sessions);
            drop((shared, runner));
            locked(&sessions.held)
                .running
                .retain(|known| !Arc::ptr_eq(known, &own));
            sessions.over.notify_all();
        })?;
        let own = held.sessions.entry(one.session.clone()).or_default();
        own.push(Arc::clone(&one));
        held.running.push(one);
        Ok(())
    }

    /// Keeps a hook alive until its session ends, with the environment of the first event.
    fn supervise(&self, one: &SessionHook, event: &Event, runner: &Runner) {
        let mut engine = self.engine.clone();
        engine.mark = Some(one.mark.clone());
        let turn = HookTurn::whole(&one.hook);
        let surroundings = &runner.surroundings;
        let trace = surroundings.trace_context(event);
        let preparation = Preparation {
            seen: event,
            engine: &engine,
            surroundings,
            variables: event_variables(event, surroundings, &trace),
            pipes: &PipeStore::default(),
        };
        let mut job = preparation.job(&turn, None, Arc::default());
        job.lines = Some(Arc::clone(&one.lines));
        let mut pause = FIRST_PAUSE;
        loop {
            let started = Instant::now();
            let changed = runner.stamps().err();
            let trace = changed.is_none().then(|| {
                let mut trace = engine.live(&job);
                one.lines.deliver_last(&mut trace.stdout.head);
                trace
            });
            let life = one.lines.life();
            // `end_all` kills strays once, after the last hook.
            if life != LineLife::Stopped {
                engine.end_strays(&one.mark);
            }
            if started.elapsed() >= LIVED_LONG {
                pause = FIRST_PAUSE;
            }
            let has_failed = |trace: &Trace| trace.exit != Some(Exit::Status(0));
            let comes_again = life == LineLife::Open
                && job.runs.is_ok()
                && !engine.is_aborted()
                && trace.as_ref().is_some_and(has_failed);
            let restarts_in = comes_again.then_some(pause);
            let how = trace.map(|trace| how(&trace, life)).or(changed);
            let how = how.unwrap_or_default();
            self.call_sink(|sink| sink.ended(&one.session, &one.hook.name, &how, restarts_in));
            if restarts_in.is_none_or(|pause| !one.lines.pause(pause)) {
                one.lines.shorten(LineLife::Closing);
                return;
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Calls the sink. A panic in it must not end the hook's supervision.
    fn call_sink(&self, call: impl FnOnce(&dyn SessionSink)) {
        if catch_unwind(AssertUnwindSafe(|| call(self.sink.as_ref()))).is_err() {
            tracing::warn!("the embedding program's session callback panicked");
        }
    }
}

/// Reason of a normal end.
pub(crate) const SESSION_IS_OVER: &str = "its session is over";

fn how(trace: &Trace, life: LineLife) -> String {
    let ending = &trace.ending;
    let of_limit = matches!(ending, Ending::OverLimit { .. } | Ending::NotStarted(_));
    if life != LineLife::Open && !of_limit {
        return SESSION_IS_OVER.to_string();
    }
    let mut how = match trace.exit {
        Some(Exit::Status(status)) if !of_limit => format!("exited with status {status}"),
        Some(Exit::Status(_) | Exit::Signal(_)) | None => ending.failure().unwrap_or_default(),
    };
    let stderr = trace.stderr.text();
    if let Some(last) = stderr.lines().map(str::trim).rfind(|line| !line.is_empty()) {
        how.push_str(": ");
        how.extend(last.chars().take(LONGEST_WORDS));
    }
    how
}

/// Maximum characters of the last stderr line in a reason.
const LONGEST_WORDS: usize = 500;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HookLine {
    additional_context: Option<String>,
    message: Option<LineMessage>,
    /// `null` differs from a missing key.
    #[serde(default, deserialize_with = "some")]
    status: Option<LineStatus>,
}

/// The text of a message, or a message in the format of `hookrun hook send --take`. Its hook and
/// time are set here.
#[derive(Deserialize)]
#[serde(untagged)]
enum LineMessage {
    Text(String),
    Whole(Map<String, Value>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LineStatus {
    Text(Option<String>),
    Keyed { key: String, text: Option<String> },
}

impl LineMessage {
    fn whole(self, hook: &str) -> serde_json::Result<Message> {
        let mut message = match self {
            LineMessage::Text(text) => Map::from_iter([("text".to_string(), Value::from(text))]),
            LineMessage::Whole(message) => message,
        };
        let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        message.insert("time".to_string(), Value::from(time));
        message.insert("hook".to_string(), Value::from(hook));
        serde_json::from_value(Value::Object(message))
    }
}

fn some<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<LineStatus>, D::Error> {
    LineStatus::deserialize(deserializer).map(Some)
}

/// Passes a line to the sink. Other lines are logged.
fn pass_on(sink: &dyn SessionSink, session: &str, hook: &str, line: &[u8]) {
    let parsed: HookLine = match serde_json::from_slice(line) {
        Ok(parsed) => parsed,
        Err(error) => {
            let line = String::from_utf8_lossy(line);
            let is_json = serde_json::from_str::<IgnoredAny>(&line).is_ok();
            let problem = is_json.then(|| error.to_string());
            tracing::info!(session, hook, problem, "{line}");
            return;
        }
    };
    if let Some(text) = parsed.additional_context {
        sink.context(session, hook, &text);
    }
    if let Some(message) = parsed.message {
        let sent = message.whole(hook).map_err(|error| error.to_string());
        if let Err(why) = sent.and_then(|message| sink.send(session, &message)) {
            tracing::warn!(session, hook, why, "the message was not accepted");
        }
    }
    match parsed.status {
        Some(LineStatus::Text(text)) => sink.status(session, hook, hook, text.as_deref()),
        Some(LineStatus::Keyed { key, text }) => sink.status(session, hook, &key, text.as_deref()),
        None => {}
    }
}
