//! A hook's connection to the server.

use std::collections::HashMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::engine::lock::locked;

/// Time for an open dialog to close.
pub(super) const LEAVING: Duration = Duration::from_secs(1);

pub(super) type ConnectedHooks = Mutex<HashMap<String, Arc<ConnectedHook>>>;

/// A hook's connection. Dropping it closes the hook's dialogs and invalidates its token.
#[derive(Debug)]
pub struct Connection {
    pub(super) hooks: Arc<ConnectedHooks>,
    pub(super) address: PathBuf,
    pub(super) token: String,
    pub(super) caller: Arc<ConnectedHook>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenure {
    Event,
    /// While it runs for an event; its leftover processes may still send messages.
    Detached,
    Session,
}

#[derive(Debug)]
pub(super) struct ConnectedHook {
    pub(super) hook: String,
    pub(super) session: String,
    pub(super) request: Option<Arc<str>>,
    pub(super) tenure: Tenure,
    pub(super) clock: Clock,
    pub(super) open: Mutex<Open>,
    pub(super) closed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct Open {
    streams: Vec<Arc<UnixStream>>,
    /// The hook has ended; only messages are accepted.
    is_over: bool,
}

impl Connection {
    pub(crate) fn clock(&self) -> &Clock {
        &self.caller.clock
    }

    /// Returns the value of `HOOKRUN_SOCKET`.
    pub(crate) fn address(&self) -> String {
        format!("{}@{}", self.token, self.address.display())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.caller.tenure != Tenure::Detached {
            locked(&self.hooks).remove(&self.token);
        }
        self.caller.withdraw();
    }
}

impl ConnectedHook {
    /// Registers an open connection; `None` if the hook has ended.
    pub(super) fn open(&self, stream: &UnixStream) -> Option<OpenQuestion<'_>> {
        let stream = Arc::new(stream.try_clone().ok()?);
        let mut open = locked(&self.open);
        if open.is_over {
            return None;
        }
        open.streams.push(Arc::clone(&stream));
        self.clock.begin(Instant::now());
        Some(OpenQuestion {
            caller: self,
            stream,
        })
    }

    /// Cuts its connections, and waits until their dialogs are closed.
    pub(super) fn withdraw(&self) {
        let mut open = locked(&self.open);
        open.is_over = true;
        for stream in &open.streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let closed = &self.closed;
        let _left = closed.wait_timeout_while(open, LEAVING, |open| !open.streams.is_empty());
    }
}

/// A connection with an open question, which pauses the hook's clock.
#[derive(Debug)]
pub(super) struct OpenQuestion<'g> {
    caller: &'g ConnectedHook,
    stream: Arc<UnixStream>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.caller.clock.end(Instant::now());
        let streams = &mut locked(&self.caller.open).streams;
        streams.retain(|stream| !Arc::ptr_eq(stream, &self.stream));
        self.caller.closed.notify_all();
    }
}

/// Maximum wait for a person: for one answer to hookrun, or for all questions of a hook. An absent
/// person must not block a host forever, and asking must not gain more time.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Measures how long a hook has waited for a person.
#[derive(Debug, Default)]
pub struct Clock {
    reading: Mutex<ClockReading>,
    /// Whether each question has the whole limit, as in a session-lived hook.
    is_renewed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ClockReading {
    /// Total of closed questions.
    before: Duration,
    /// Start and number of the open questions.
    open: Option<(Instant, usize)>,
}

impl Clock {
    /// Creates a clock whose limit covers all questions, or is renewed by each.
    pub(super) fn new(is_renewed: bool) -> Clock {
        Clock {
            reading: Mutex::default(),
            is_renewed,
        }
    }

    /// Opens a question. Overlapping questions count once.
    pub fn begin(&self, now: Instant) {
        let mut reading = locked(&self.reading);
        let (since, count) = reading.open.unwrap_or((now, 0));
        reading.open = Some((since, count + 1));
    }

    pub fn end(&self, now: Instant) {
        let mut reading = locked(&self.reading);
        match reading.open {
            Some((_, 1)) if self.is_renewed => reading.open = None,
            Some((since, 1)) => {
                let paused = now.saturating_duration_since(since);
                reading.before = reading.before.saturating_add(paused);
                reading.open = None;
            }
            Some((since, count)) => reading.open = Some((since, count - 1)),
            None => {}
        }
    }

    /// Returns the total pause, up to the limit.
    pub fn paused_for(&self, now: Instant) -> Duration {
        let reading = locked(&self.reading);
        let since = reading.open.map_or(now, |(since, _)| since);
        let open = now.saturating_duration_since(since);
        reading.before.saturating_add(open).min(PATIENCE)
    }

    /// Returns true if a question is open and the limit is not reached.
    pub fn is_paused(&self, now: Instant) -> bool {
        let is_open = locked(&self.reading).open.is_some();
        is_open && self.paused_for(now) < PATIENCE
    }

    pub fn time_left(&self, now: Instant) -> Duration {
        PATIENCE - self.paused_for(now)
    }
}
