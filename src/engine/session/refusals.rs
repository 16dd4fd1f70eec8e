//! Counts, by event, how many times in a row a session was blocked.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::file_name;
use super::store::{Store, StoreError};

/// How long to wait for the lock. It is held for two file operations, and a host is waiting.
const PATIENCE: Duration = Duration::from_secs(1);

/// What messages call them.
const COUNTS: &str = "counts";

#[derive(Debug, Clone)]
pub struct Refusals {
    store: Store,
}

/// What is counted: an event and its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedEvent(String);

impl CountedEvent {
    /// An event of an agent; of the main agent if there is no name.
    pub fn of(event: &str, agent: Option<&str>) -> CountedEvent {
        CountedEvent(match agent.filter(|agent| !agent.is_empty()) {
            Some(agent) => format!("{event} {}", file_name(agent)),
            None => event.to_string(),
        })
    }
}

impl Refusals {
    /// The counts in a private folder. Creates nothing yet.
    pub fn in_folder(folder: &Path) -> Refusals {
        Refusals { store: Store::new(folder, "refusals.json") }
    }

    /// Replaces a count by what `next` makes of it, under a lock. A count of 0 is not stored.
    ///
    /// # Errors
    /// When it cannot be stored: then it keeps its value.
    pub fn change(
        &self,
        counted: &CountedEvent,
        next: impl FnOnce(u32) -> u32,
    ) -> Result<(), StoreError> {
        self.store.change_table(COUNTS, PATIENCE, |counts: &mut BTreeMap<String, u32>| {
            let before = counts.get(&counted.0).copied().unwrap_or(0);
            match next(before) {
                0 => drop(counts.remove(&counted.0)),
                count => drop(counts.insert(counted.0.clone(), count)),
            }
        })
    }

    /// Resets a count. If there is none, it touches no file.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub fn reset(&self, counted: &CountedEvent) -> Result<(), StoreError> {
        let has_count = self.store.read_table::<u32>(COUNTS)?.contains_key(&counted.0);
        if has_count { self.change(counted, |_| 0) } else { Ok(()) }
    }
}
