//! Replies for `run` if its main thread hangs in the system, or exceeds the host's timeout.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::engine::exec::{Budget, Heartbeat, tree};
use crate::engine::lock::locked;
use crate::hosts::{Reply, native};

use crate::cli::streams;

/// The thread needs little, and its stack is part of every start.
const STACK_BYTES: usize = 64 * 1024;

/// The time between two checks of a missed heartbeat.
const SECOND_LOOK: Duration = Duration::from_millis(250);

/// The same if the watchdog itself was late.
const AFTER_A_PAUSE: Duration = Duration::from_secs(2);

/// The main thread's time to reply after its child was killed, near the host's timeout.
const LAST_CHANCE: Duration = Duration::from_millis(50);

/// The timeout to write to a host that does not read.
const WRITING: Duration = Duration::from_millis(100);

pub(crate) const REASON: &str = "hookrun itself failed: it had not decided by its deadline, because the system did not respond (fail closed)";

#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerBy {
    pub(crate) budget: Duration,
    pub(crate) last_word: Duration,
}

/// Builds the blocking reply, which hardly any run needs.
pub(crate) type LastWord = Box<dyn Fn() -> Reply + Send>;

pub(crate) struct TimeLimit {
    pub(crate) started: Instant,
    pub(crate) stdin: Budget,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) watchdog: Watchdog,
    budget: Cell<Option<Budget>>,
}

impl TimeLimit {
    pub(crate) fn start(stdin_timeout: Duration, orders: Orders) -> TimeLimit {
        let started = Instant::now();
        let by = orders.by;
        let patience = by.map_or(stdin_timeout, |by| by.budget.min(stdin_timeout));
        let heartbeat = Heartbeat::new(patience);
        let watchdog = Watchdog::start(&heartbeat, started, orders);
        let budget = Cell::new(by.map(|by| Budget::from(started, by.budget)));
        TimeLimit {
            started,
            stdin: Budget::from(started, patience),
            heartbeat,
            watchdog,
            budget,
        }
    }

    /// Updates the watchdog's reply and deadline once the event is known.
    pub(crate) fn change(&self, orders: Orders) {
        let budget = orders.by.map(|by| Budget::from(self.started, by.budget));
        self.budget.set(budget);
        *locked(&self.watchdog.orders) = orders;
        self.watchdog.wake();
    }

    pub(crate) fn budget(&self) -> Option<Budget> {
        self.budget.get()
    }
}

#[derive(Clone)]
pub(crate) struct Watchdog {
    heartbeat: Heartbeat,
    started: Instant,
    orders: Arc<Mutex<Orders>>,
    thread: Option<Thread>,
}

pub(crate) struct Orders {
    pub(crate) block: LastWord,
    pub(crate) by: Option<AnswerBy>,
}

impl Watchdog {
    /// Starts a thread that watches `heartbeat`; without a thread there is no watchdog.
    fn start(heartbeat: &Heartbeat, started: Instant, orders: Orders) -> Watchdog {
        let mut own = Watchdog {
            heartbeat: heartbeat.clone(),
            started,
            orders: Arc::new(Mutex::new(orders)),
            thread: None,
        };
        let watching = own.clone();
        let thread = thread::Builder::new()
            .name("watchdog".to_string())
            .stack_size(STACK_BYTES);
        match thread.spawn(move || watching.watch()) {
            Ok(handle) => own.thread = Some(handle.thread().clone()),
            Err(error) => tracing::warn!(%error, "no watchdog"),
        }
        own
    }

    /// Sets when the process must end after claiming the reply, with `status`; wakes the watchdog.
    pub(crate) fn answers(&self, status: u8, within: Duration) {
        let is_new = self.heartbeat.answer().is_none();
        self.heartbeat.expect_within(within);
        self.heartbeat.answered(status);
        if is_new {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }

    fn watch(&self) {
        let is_last_word = self.wait();
        self.leave_if_answered();
        // Kill a child between fork and exec; then the main thread continues and blocks itself.
        tree::end_children();
        if is_last_word {
            thread::sleep(LAST_CHANCE);
        } else {
            // A missed heartbeat is noticed 1.5 s late.
            self.heartbeat.expect_within(Duration::ZERO);
            self.wait();
        }
        if self.heartbeat.claim() {
            self.block();
        }
        // The main thread is replying; keep watching it.
        loop {
            thread::sleep(SECOND_LOOK);
            self.wait();
            self.leave_if_answered();
        }
    }

    /// Ends the process if it has replied, because logging hangs and the host waits.
    #[expect(
        clippy::disallowed_methods,
        reason = "the other thread hangs in the system"
    )]
    fn leave_if_answered(&self) {
        if let Some(status) = self.heartbeat.answer() {
            std::process::exit(i32::from(status));
        }
    }

    /// Sleeps until the deadline is near, or a heartbeat is missed in two checks: after a pause of
    /// the machine or of hookrun, the main thread needs time to renew it. Returns whether the
    /// deadline is near.
    fn wait(&self) -> bool {
        loop {
            let mut again = SECOND_LOOK;
            while let Some(mut left) = self.heartbeat.left() {
                if self.heartbeat.answer().is_some() {
                    left = left.min(SECOND_LOOK);
                }
                let asleep = Instant::now();
                if self.sleep(left) {
                    return true;
                }
                if asleep.elapsed() > left + SECOND_LOOK {
                    again = AFTER_A_PAUSE;
                }
            }
            if self.sleep(again) {
                return true;
            }
            if self.heartbeat.left().is_none() {
                return false;
            }
        }
    }

    /// Sleeps for `time`, or until the reply is complete. Returns whether the last word is due.
    fn sleep(&self, time: Duration) -> bool {
        let until = Instant::now() + time.min(Duration::from_secs(u32::MAX.into()));
        let was_answering = self.heartbeat.answer().is_some();
        while self.heartbeat.answer().is_some() == was_answering {
            let now = Instant::now();
            let by = locked(&self.orders).by;
            let last_word = by.and_then(|by| self.started.checked_add(by.last_word));
            if last_word.is_some_and(|last_word| last_word <= now) {
                return true;
            }
            if until <= now {
                return false;
            }
            let wake = last_word.map_or(until, |last_word| last_word.min(until));
            thread::park_timeout(wake - now);
        }
        false
    }

    /// Blocks, and ends the process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the thread that would return from main hangs in the system"
    )]
    fn block(&self) {
        let reply = (locked(&self.orders).block)();
        // Bypass the locks of `Stdout` and `Stderr`, which the main thread may hold.
        let until = Instant::now() + WRITING;
        let written = streams::write_reply(reply.stdout.as_bytes(), until, &|| false);
        streams::remark(&reply.stderr);
        // If the reply was not delivered, only the status can block.
        let status = if written.is_ok() {
            reply.status
        } else {
            native::BLOCKED
        };
        std::process::exit(i32::from(status));
    }
}
