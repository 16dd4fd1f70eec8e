//! Answers for `run` when the thread that decides hangs in the system, and where a host would not
//! wait for its answer.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::dialects::{Reply, native};
use crate::engine::exec::{Heartbeat, tree};

use crate::cli::deliver;
use crate::cli::streams;

/// The thread needs next to nothing, and its stack is part of every run's start.
const STACK_BYTES: usize = 64 * 1024;

/// Between the first and the second look at a broken promise.
const SECOND_LOOK: Duration = Duration::from_millis(250);

/// The same, when the watchdog itself was late.
const AFTER_A_PAUSE: Duration = Duration::from_secs(2);

/// How long the deciding thread has to answer after what it waits for was killed.
const LAST_CHANCE: Duration = Duration::ZERO;

/// The same, where the host's time is almost up.
const VERY_LAST_CHANCE: Duration = Duration::from_millis(50);

/// How long a host that does not read holds up the watchdog.
const WRITING: Duration = Duration::from_millis(100);

/// What the watchdog says.
pub(crate) const REASON: &str = "hookrun itself failed: it was not done in time, and what it \
     waits for in the system does not answer (fail closed)";

/// A watchdog, and what it is told.
#[derive(Debug, Clone)]
pub(crate) struct Watchdog {
    pulse: Heartbeat,
    orders: Arc<Mutex<Orders>>,
    thread: Option<Thread>,
}

#[derive(Debug)]
struct Orders {
    /// What it says, in the words of the host.
    refusal: Reply,
    /// When it says it, whatever was promised.
    last_word: Option<Instant>,
}

/// Why the watchdog does not wait any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Woken {
    BrokenPromise,
    LastWord,
}

impl Watchdog {
    /// Starts a thread that watches `pulse`. If a promise is broken, or at `last_word` at the
    /// latest, it writes `refusal`. If no thread can be started, there is no watchdog.
    pub(crate) fn start(pulse: &Heartbeat, refusal: Reply, last_word: Option<Instant>) -> Watchdog {
        let orders = Arc::new(Mutex::new(Orders { refusal, last_word }));
        let mut own = Watchdog { pulse: pulse.clone(), orders, thread: None };
        let watching = own.clone();
        let thread = thread::Builder::new().name("watchdog".to_string()).stack_size(STACK_BYTES);
        match thread.spawn(move || watching.watch()) {
            Ok(handle) => own.thread = Some(handle.thread().clone()),
            Err(error) => tracing::warn!(%error, "no watchdog"),
        }
        own
    }

    /// Tells what there is to say, and when at the latest.
    pub(crate) fn order(&self, refusal: Reply, last_word: Option<Instant>) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        *orders = Orders { refusal, last_word };
        drop(orders);
        self.wake();
    }

    /// Tells that the right to answer is taken, and that the process ends within this time, or
    /// the watchdog ends it with this status. The first time wakes it; from then on it looks often.
    pub(crate) fn answers(&self, status: u8, within: Duration) {
        let is_new = self.pulse.answer().is_none();
        self.pulse.expect_within(within);
        self.pulse.answered(status);
        if is_new {
            self.wake();
        }
    }

    /// What it sleeps until may be too late now.
    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }

    /// Waits for the watchdog, which is answering, to end the process.
    pub(crate) fn leave_it_to_it() {
        loop {
            thread::park();
        }
    }

    fn watch(&self) {
        let woken = self.wait();
        self.leave_if_answered();
        // The program that could not be started may still be between fork and exec: with it gone,
        // the deciding thread goes on and refuses in its own words.
        tree::end_children();
        match woken {
            Woken::BrokenPromise => {
                self.pulse.expect_within(LAST_CHANCE);
                self.wait();
            }
            Woken::LastWord => thread::sleep(VERY_LAST_CHANCE),
        }
        if self.pulse.claim() {
            self.refuse();
        }
        // The deciding thread answers just now. What it does then is watched again.
        loop {
            thread::sleep(SECOND_LOOK);
            self.wait();
            self.leave_if_answered();
        }
    }

    /// Ends the process if its answer is given: what is kept of it hangs, and the host waits.
    #[expect(clippy::disallowed_methods, reason = "the other thread hangs in the system")]
    fn leave_if_answered(&self) {
        if let Some(status) = self.pulse.answer() {
            std::process::exit(i32::from(status));
        }
    }

    /// Sleeps until the host's time is almost up, or a promise is broken and stays broken when
    /// looked at again: after a pause of the whole machine, or of hookrun alone, the deciding
    /// thread needs some time to renew it.
    fn wait(&self) -> Woken {
        loop {
            let mut again = SECOND_LOOK;
            while let Some(left) = self.pulse.left() {
                let is_answering = self.pulse.answer().is_some();
                let left = if is_answering { left.min(SECOND_LOOK) } else { left };
                let asleep = Instant::now();
                if self.sleep(left) == Woken::LastWord {
                    return Woken::LastWord;
                }
                if asleep.elapsed() > left + SECOND_LOOK {
                    again = AFTER_A_PAUSE;
                }
            }
            if self.sleep(again) == Woken::LastWord {
                return Woken::LastWord;
            }
            if self.pulse.left().is_none() {
                return Woken::BrokenPromise;
            }
        }
    }

    /// Sleeps for so long, or until the last word is due.
    fn sleep(&self, time: Duration) -> Woken {
        let until = Instant::now() + time.min(Duration::from_secs(u32::MAX.into()));
        let was_answering = self.pulse.answer().is_some();
        loop {
            if self.pulse.answer().is_some() != was_answering {
                return Woken::BrokenPromise;
            }
            let now = Instant::now();
            let last_word = self.orders.lock().unwrap_or_else(PoisonError::into_inner).last_word;
            if last_word.is_some_and(|last_word| last_word <= now) {
                return Woken::LastWord;
            }
            let until = last_word.map_or(until, |last_word| last_word.min(until));
            if until <= now {
                return Woken::BrokenPromise;
            }
            thread::park_timeout(until - now);
        }
    }

    /// States the refusal and ends the process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the thread that would return from main hangs in the system"
    )]
    fn refuse(&self) {
        let reply = self.orders.lock().unwrap_or_else(PoisonError::into_inner).refusal.clone();
        // Not through the locks of `Stdout` and `Stderr`, which the deciding thread may hold.
        let until = Instant::now() + WRITING;
        let said = deliver::reply(reply.stdout.as_bytes(), until, &|| false);
        streams::remark(&reply.stderr);
        // What a host reads nowhere else must have arrived.
        let status = if said.is_ok() { reply.status } else { native::REFUSED };
        std::process::exit(i32::from(status));
    }
}
