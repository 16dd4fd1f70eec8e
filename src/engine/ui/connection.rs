//! A hook's connection to the server, from its start to its end.

use std::collections::HashMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::engine::lock::locked;

/// How long an open dialog may take to leave the screen.
pub(super) const LEAVING: Duration = Duration::from_secs(1);

/// The hooks with a connection, by token.
pub(super) type Guests = Mutex<HashMap<String, Arc<Guest>>>;

/// A hook's connection. Dropping it withdraws the hook's dialogs, and its token becomes invalid.
#[derive(Debug)]
pub struct Connection {
    pub(super) guests: Arc<Guests>,
    pub(super) address: PathBuf,
    pub(super) token: String,
    pub(super) guest: Arc<Guest>,
}

/// How long a hook may use its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenure {
    /// While it runs for an event.
    Event,
    /// The same, and processes that it leaves behind may still send messages.
    Detached,
    /// As long as its session.
    Session,
}

#[derive(Debug)]
pub(super) struct Guest {
    pub(super) hook: String,
    pub(super) session: String,
    pub(super) request: Option<Arc<str>>,
    pub(super) tenure: Tenure,
    pub(super) clock: Clock,
    open: Mutex<Open>,
    closed: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    streams: Vec<Arc<UnixStream>>,
    /// The hook has ended; only messages are still accepted.
    is_over: bool,
}

impl Connection {
    /// The clock that measures how long it waits for a person.
    pub(crate) fn clock(&self) -> &Clock {
        &self.guest.clock
    }

    /// The value for its environment that says where to connect.
    pub(crate) fn address(&self) -> String {
        format!("{}@{}", self.token, self.address.display())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.guest.tenure != Tenure::Detached {
            locked(&self.guests).remove(&self.token);
        }
        self.guest.withdraw();
    }
}

impl Guest {
    pub(super) fn new(
        hook: &str,
        session: &str,
        request: Option<Arc<str>>,
        tenure: Tenure,
    ) -> Guest {
        Guest {
            hook: hook.to_string(),
            session: session.to_string(),
            request,
            tenure,
            clock: Clock::new(tenure == Tenure::Session),
            open: Mutex::default(),
            closed: Condvar::new(),
        }
    }

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
            guest: self,
            stream,
        })
    }

    /// Cuts its connections, and waits until their dialogs have left the screen.
    pub(super) fn withdraw(&self) {
        let mut open = locked(&self.open);
        open.is_over = true;
        for stream in &open.streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _left = self
            .closed
            .wait_timeout_while(open, LEAVING, |open| !open.streams.is_empty());
    }
}

/// A connection with an open question: the hook's clock is paused meanwhile.
#[derive(Debug)]
pub(super) struct OpenQuestion<'g> {
    guest: &'g Guest,
    stream: Arc<UnixStream>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.guest.clock.end(Instant::now());
        locked(&self.guest.open)
            .streams
            .retain(|stream| !Arc::ptr_eq(stream, &self.stream));
        self.guest.closed.notify_all();
    }
}

/// How long to wait for a person: for one answer to hookrun, or for all questions of one hook. A
/// person who has left must not block a host for ever, and a hook cannot gain more time than this
/// by asking.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// How long a hook has waited for a person.
#[derive(Debug, Default)]
pub struct Clock {
    asked: Mutex<ClockReading>,
    /// Every question has the whole limit: the hook lives as long as its session.
    is_renewed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ClockReading {
    /// The total of closed questions.
    before: Duration,
    /// When the open questions began, and how many there are.
    open: Option<(Instant, usize)>,
}

impl Clock {
    /// A clock whose limit is for all questions together, or renewed by each.
    pub(super) fn new(is_renewed: bool) -> Clock {
        Clock {
            asked: Mutex::default(),
            is_renewed,
        }
    }

    /// A question opens at `now`. Overlapping questions count once.
    pub fn begin(&self, now: Instant) {
        let mut asked = locked(&self.asked);
        let (since, count) = asked.open.unwrap_or((now, 0));
        asked.open = Some((since, count + 1));
    }

    /// A question was answered or withdrawn.
    pub fn end(&self, now: Instant) {
        let mut asked = locked(&self.asked);
        match asked.open {
            Some((_, 1)) if self.is_renewed => asked.open = None,
            Some((since, 1)) => {
                asked.before = asked
                    .before
                    .saturating_add(now.saturating_duration_since(since));
                asked.open = None;
            }
            Some((since, count)) => asked.open = Some((since, count - 1)),
            None => {}
        }
    }

    /// How long it has paused: the time of all questions, up to the limit.
    pub fn stood_still(&self, now: Instant) -> Duration {
        let asked = locked(&self.asked);
        let open = asked.open.map_or(Duration::ZERO, |(since, _)| {
            now.saturating_duration_since(since)
        });
        asked.before.saturating_add(open).min(PATIENCE)
    }

    /// Whether it is paused: a question is open, and the limit is not reached.
    pub fn stands_still(&self, now: Instant) -> bool {
        let is_open = locked(&self.asked).open.is_some();
        is_open && self.stood_still(now) < PATIENCE
    }

    /// How much of the limit is left.
    pub fn patience(&self, now: Instant) -> Duration {
        PATIENCE - self.stood_still(now)
    }
}
