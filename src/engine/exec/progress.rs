//! What hooks do while they run, for whoever watches. The engine tells it and shows nothing.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::engine::hook::Hook;
use crate::engine::run::Trace;

/// Something that has just happened.
#[derive(Debug)]
pub enum HookProgress<'a> {
    /// The hook has written to stderr: all of its first 64 KiB so far.
    Wrote(&'a [u8]),
    /// It has ended.
    Ended(&'a Trace),
}

/// Who watches hooks run. It is called by the loop that also keeps their deadlines, so it must not
/// wait for anything.
#[derive(Clone)]
pub struct Watcher(Arc<Watch>);

/// Takes the hook, its place among those that run together, and what happened.
type Watch = dyn Fn(&Hook, usize, &HookProgress<'_>) + Send + Sync;

impl Watcher {
    /// One that calls a function.
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
