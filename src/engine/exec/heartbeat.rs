//! Tells a watchdog how long the thread that runs hooks may stay silent.
//!
//! Starting a program can block past every deadline with all signals masked, because of a file
//! lease or a hanging network file system. Then only another thread can decide.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SLACK: Duration = Duration::from_millis(1500);

/// A deadline that every step renews. Also lets exactly one thread answer.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    shared: Arc<HeartbeatState>,
}

#[derive(Debug)]
struct HeartbeatState {
    origin: Instant,
    due: AtomicU64,
    is_claimed: AtomicBool,
    /// Exit status of the answer, or [`NOT_ANSWERED`].
    answered: AtomicU16,
}

const NOT_ANSWERED: u16 = u16::MAX;

impl Heartbeat {
    pub fn new(within: Duration) -> Heartbeat {
        let heartbeat = Heartbeat {
            shared: Arc::new(HeartbeatState {
                origin: Instant::now(),
                due: AtomicU64::new(0),
                is_claimed: AtomicBool::new(false),
                answered: AtomicU16::new(NOT_ANSWERED),
            }),
        };
        heartbeat.expect_within(within);
        heartbeat
    }

    /// Promises the next heartbeat within this time, plus [`SLACK`].
    pub fn expect_within(&self, within: Duration) {
        let elapsed = self.shared.origin.elapsed();
        let due = elapsed.saturating_add(within).saturating_add(SLACK);
        let due = u64::try_from(due.as_millis()).unwrap_or(u64::MAX);
        self.shared.due.store(due, Ordering::Relaxed);
    }

    pub fn left(&self) -> Option<Duration> {
        let due = Duration::from_millis(self.shared.due.load(Ordering::Relaxed));
        due.checked_sub(self.shared.origin.elapsed())
            .filter(|left| !left.is_zero())
    }

    /// Claims the right to answer. Only the first caller gets it.
    pub fn claim(&self) -> bool {
        !self.shared.is_claimed.swap(true, Ordering::SeqCst)
    }

    /// Records the exit status of a complete answer. Later cleanup must not delay the host.
    pub fn answered(&self, status: u8) {
        self.shared
            .answered
            .store(u16::from(status), Ordering::SeqCst);
    }

    pub fn answer(&self) -> Option<u8> {
        u8::try_from(self.shared.answered.load(Ordering::SeqCst)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_renewed_and_the_answer_is_claimed_once() {
        let heartbeat = Heartbeat::new(Duration::from_secs(60));
        assert!(heartbeat.left().unwrap() > Duration::from_secs(60));
        heartbeat.clone().expect_within(Duration::MAX);
        assert!(heartbeat.left().unwrap() > Duration::from_secs(3600));
        assert!(heartbeat.claim() && !heartbeat.clone().claim());
        assert_eq!(heartbeat.answer(), None);
        heartbeat.answered(2);
        assert_eq!(heartbeat.clone().answer(), Some(2));
    }
}
