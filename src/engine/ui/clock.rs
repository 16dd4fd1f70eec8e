//! A hook's clock: it stands still while a person is being asked, but not for ever.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::engine::lock::locked;

/// How long a person is waited for: one answer to a question of hookrun's, or all that one hook
/// asks. A person who has left must not keep a host waiting for ever, and no hook can buy itself
/// more time than this by asking.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// How long a hook has asked so far.
#[derive(Debug, Default)]
pub struct Clock {
    asked: Mutex<ClockReading>,
}

/// What a clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ClockReading {
    /// What is over.
    before: Duration,
    /// Since when it asks, and how many questions are open.
    open: Option<(Instant, usize)>,
}

impl Clock {
    /// Something is asked from `now` on. The time of questions that are open together counts
    /// once.
    pub fn begin(&self, now: Instant) {
        let mut asked = locked(&self.asked);
        let (since, count) = asked.open.unwrap_or((now, 0));
        asked.open = Some((since, count + 1));
    }

    /// One of the questions was answered, or withdrawn.
    pub fn end(&self, now: Instant) {
        let mut asked = locked(&self.asked);
        match asked.open {
            Some((since, 1)) => {
                asked.before = asked.before.saturating_add(now.saturating_duration_since(since));
                asked.open = None;
            }
            Some((since, count)) => asked.open = Some((since, count - 1)),
            None => {}
        }
    }

    /// How long it has stood still: the time of all questions, as far as there was patience.
    pub fn stood_still(&self, now: Instant) -> Duration {
        let asked = locked(&self.asked);
        let open =
            asked.open.map_or(Duration::ZERO, |(since, _)| now.saturating_duration_since(since));
        asked.before.saturating_add(open).min(PATIENCE)
    }

    /// Whether it stands still: something is asked, and there is patience left.
    pub fn stands_still(&self, now: Instant) -> bool {
        let is_open = locked(&self.asked).open.is_some();
        is_open && self.stood_still(now) < PATIENCE
    }

    /// How much patience is left.
    pub fn patience(&self, now: Instant) -> Duration {
        PATIENCE - self.stood_still(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn the_time_of_questions_counts_once_and_only_while_they_are_open() {
        let (clock, start) = (Clock::default(), Instant::now());
        assert_eq!(clock.stood_still(start), Duration::ZERO);
        clock.begin(at(start, 10));
        clock.begin(at(start, 12));
        assert!(clock.stands_still(at(start, 13)));
        clock.end(at(start, 14));
        assert_eq!(clock.stood_still(at(start, 15)), Duration::from_secs(5));
        clock.end(at(start, 16));
        assert!(!clock.stands_still(at(start, 17)));
        assert_eq!(clock.stood_still(at(start, 100)), Duration::from_secs(6));
        assert_eq!(clock.patience(at(start, 100)), PATIENCE - Duration::from_secs(6));
        clock.end(at(start, 101));
        assert_eq!(clock.stood_still(at(start, 102)), Duration::from_secs(6));
    }

    #[test]
    fn no_hook_gains_more_than_the_patience_however_often_it_asks() {
        let (clock, start) = (Clock::default(), Instant::now());
        for turn in 0..10 {
            clock.begin(at(start, turn * 60));
            clock.end(at(start, turn * 60 + 50));
        }
        assert_eq!(clock.stood_still(at(start, 600)), PATIENCE);
        assert_eq!(clock.patience(at(start, 600)), Duration::ZERO);
        clock.begin(at(start, 600));
        assert!(!clock.stands_still(at(start, 601)));
        assert_eq!(clock.stood_still(at(start, 9999)), PATIENCE);

        let forever = Clock::default();
        forever.begin(start);
        assert!(forever.stands_still(at(start, 119)) && !forever.stands_still(at(start, 120)));
        assert_eq!(forever.stood_still(at(start, 9999)), PATIENCE);
    }
}
