//! Why nothing is allowed before any hook runs, or after.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::event::EventSpec;
use crate::engine::run::{HookRun, Run};

/// Why gates block before any hook runs.
#[derive(Clone)]
pub(super) struct Broken {
    pub(super) reason: String,
    /// The reason for one event, if only errors that may concern that event block it.
    pub(super) for_event: Option<Arc<ReasonFor>>,
}

/// Why the hooks are no longer those that were loaded; `None` if they are.
pub type BrokenSeal = dyn Fn() -> Option<String> + Send + Sync;

#[derive(Clone)]
pub(super) struct Seal {
    pub(super) check: Arc<BrokenSeal>,
    pub(super) made: Instant,
}

/// How long what was looked at when the hooks were loaded counts as just looked at.
const FRESH: Duration = Duration::from_millis(50);

impl Seal {
    pub(super) fn broken_before(&self) -> Option<String> {
        if self.made.elapsed() < FRESH {
            None
        } else {
            (self.check)()
        }
    }

    /// Where nothing was started, nothing that has changed meanwhile can have run.
    pub(super) fn broken_after(&self, run: &Run) -> Option<String> {
        if run.hooks.iter().any(HookRun::has_started) {
            (self.check)()
        } else {
            None
        }
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

/// Why errors in the configuration block an event; `None` if none of them concerns it.
pub type ReasonFor = dyn Fn(&EventSpec) -> Option<String> + Send + Sync;

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Broken").field(&self.reason).finish()
    }
}
