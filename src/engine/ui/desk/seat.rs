//! A hook's place at the desk, from its start to its end.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::server::ServerState;
use crate::engine::ui::clock::Clock;

/// How long an open dialog may take to leave the screen.
pub(super) const LEAVING: Duration = Duration::from_secs(1);

/// A hook's place, until it is dropped: then its dialogs are withdrawn, and it is known no more.
#[derive(Debug)]
pub struct Seat {
    pub(super) shared: Arc<ServerState>,
    pub(super) address: PathBuf,
    pub(super) token: String,
    pub(super) guest: Arc<Guest>,
}

/// Who sits there.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) hook: String,
    pub(super) session: String,
    /// Processes that it leaves running may still send messages.
    pub(super) stays: bool,
    pub(super) clock: Arc<Clock>,
    open: Mutex<Open>,
    closed: Condvar,
}

/// Its connections.
#[derive(Debug, Default)]
struct Open {
    next: u64,
    streams: Vec<(u64, UnixStream)>,
    /// It has ended; only messages are still taken.
    is_over: bool,
}

impl Seat {
    /// How long it has asked.
    pub(crate) fn clock(&self) -> Arc<Clock> {
        Arc::clone(&self.guest.clock)
    }

    /// What the hook finds in its environment, beside whether there is a person.
    pub(crate) fn address(&self) -> String {
        format!("{}@{}", self.token, self.address.display())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if !self.guest.stays {
            self.shared.forget(&self.token);
        }
        self.guest.withdraw();
    }
}

impl Guest {
    pub(super) fn new(hook: &str, session: &str, stays: bool) -> Guest {
        Guest {
            hook: hook.to_string(),
            session: session.to_string(),
            stays,
            clock: Arc::default(),
            open: Mutex::default(),
            closed: Condvar::new(),
        }
    }

    /// Notes a connection that is served; `None` if the hook has ended.
    pub(super) fn open(&self, stream: &UnixStream) -> Option<Opened<'_>> {
        let stream = stream.try_clone().ok()?;
        let mut open = self.lock();
        if open.is_over {
            return None;
        }
        open.next += 1;
        let number = open.next;
        open.streams.push((number, stream));
        self.clock.begin(Instant::now());
        Some(Opened { guest: self, number })
    }

    /// Cuts its connections, and waits for what is open on them to leave the screen.
    pub(super) fn withdraw(&self) {
        let mut open = self.lock();
        open.is_over = true;
        for (_, stream) in &open.streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _left = self.closed.wait_timeout_while(open, LEAVING, |open| !open.streams.is_empty());
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection on which something is asked: meanwhile the hook's clock stands still.
#[derive(Debug)]
pub(super) struct Opened<'g> {
    guest: &'g Guest,
    number: u64,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.guest.clock.end(Instant::now());
        self.guest.lock().streams.retain(|(number, _)| *number != self.number);
        self.guest.closed.notify_all();
    }
}
