//! Reports what hooks do while they run. The engine calls a watcher and prints nothing.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::engine::hook::Hook;
use crate::engine::run::Trace;

/// Something that has just happened.
#[derive(Debug)]
pub enum HookProgress<'a> {
    /// The hook wrote to stderr: everything so far, up to 64 KiB.
    Wrote(&'a [u8]),
    Ended(&'a Trace),
}

/// Watches hooks run. The loop that keeps their deadlines calls it, so it must not block.
#[derive(Clone)]
pub struct Watcher(Arc<Watch>);

/// Takes the hook, its place among those that run together, and what happened.
type Watch = dyn Fn(&Hook, usize, &HookProgress<'_>) + Send + Sync;

impl Watcher {
    pub fn new(watch: impl Fn(&Hook, usize, &HookProgress<'_>) + Send + Sync + 'static) -> Watcher {
        Watcher(Arc::new(watch))
    }

    pub(super) fn tell(&self, hook: &Hook, place: usize, progress: &HookProgress<'_>) {
        (self.0)(hook, place, progress);
    }
}

impl Debug for Watcher {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("Watcher")
    }
}
