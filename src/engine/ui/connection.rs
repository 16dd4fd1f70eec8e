//! A hook's connection to the server, from its start to its end.

use std::collections::HashMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::clock::Clock;
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
    pub(super) clock: Arc<Clock>,
    open: Mutex<Open>,
    closed: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    streams: Vec<(u64, UnixStream)>,
    /// The hook has ended; only messages are still accepted.
    is_over: bool,
}

impl Connection {
    /// The clock that measures how long it waits for a person.
    pub(crate) fn clock(&self) -> Arc<Clock> {
        Arc::clone(&self.guest.clock)
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
            clock: Arc::new(Clock::new(tenure == Tenure::Session)),
            open: Mutex::default(),
            closed: Condvar::new(),
        }
    }

    /// Registers an open connection; `None` if the hook has ended.
    pub(super) fn open(&self, stream: &UnixStream) -> Option<OpenQuestion<'_>> {
        let stream = stream.try_clone().ok()?;
        let mut open = locked(&self.open);
        if open.is_over {
            return None;
        }
        open.next += 1;
        let number = open.next;
        open.streams.push((number, stream));
        self.clock.begin(Instant::now());
        Some(OpenQuestion {
            guest: self,
            number,
        })
    }

    /// Cuts its connections, and waits until their dialogs have left the screen.
    pub(super) fn withdraw(&self) {
        let mut open = locked(&self.open);
        open.is_over = true;
        for (_, stream) in &open.streams {
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
    number: u64,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.guest.clock.end(Instant::now());
        locked(&self.guest.open)
            .streams
            .retain(|(number, _)| *number != self.number);
        self.guest.closed.notify_all();
    }
}
