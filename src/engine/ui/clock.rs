//! A hook's clock: it pauses while a person answers, up to a limit.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::engine::lock::locked;

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
