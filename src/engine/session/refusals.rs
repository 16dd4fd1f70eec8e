//! Counts, by event, how many times in a row a session was blocked.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::file_name;
use super::store::{FileLock, Store, StoreError};

/// How long to wait for the lock. It is held for two file operations, and a host is waiting.
const PATIENCE: Duration = Duration::from_secs(1);

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
        let locked: FileLock = self.store.lock_within(PATIENCE)?;
        let mut counts = self.decode(&locked.read()?)?;
        let before = counts.get(&counted.0).copied().unwrap_or(0);
        match next(before) {
            0 => drop(counts.remove(&counted.0)),
            count => drop(counts.insert(counted.0.clone(), count)),
        }
        let bytes = serde_json::to_vec(&counts).map_err(|error| self.store.fails(&error))?;
        locked.replace(&bytes)
    }

    /// Resets a count. If there is none, it touches no file.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub fn reset(&self, counted: &CountedEvent) -> Result<(), StoreError> {
        let has_count = self.decode(&self.store.read()?)?.contains_key(&counted.0);
        if has_count { self.change(counted, |_| 0) } else { Ok(()) }
    }

    fn decode(&self, bytes: &[u8]) -> Result<BTreeMap<String, u32>, StoreError> {
        if bytes.is_empty() {
            return Ok(BTreeMap::new());
        }
        let read = serde_json::from_slice(bytes);
        read.map_err(|error| self.store.fails(&format!("it does not hold counts ({error})")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_and_agent_is_counted_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let refusals = Refusals::in_folder(folder.path());
        let (main, one) = (CountedEvent::of("stop", None), CountedEvent::of("stop", Some("a/b")));
        assert_eq!(main, CountedEvent::of("stop", Some("")));
        let count = |counted: &CountedEvent| {
            let mut before = 0;
            refusals.change(counted, |count| {
                before = count;
                count + 1
            })?;
            Ok::<u32, StoreError>(before)
        };
        assert_eq!((count(&main).unwrap(), count(&main).unwrap()), (0, 1));
        assert_eq!(count(&one).unwrap(), 0);
        refusals.reset(&main).unwrap();
        assert_eq!((count(&main).unwrap(), count(&one).unwrap()), (0, 1));
    }

    #[test]
    fn where_nothing_was_counted_no_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        Refusals::in_folder(folder.path()).reset(&CountedEvent::of("stop", None)).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_holds_no_counts_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("refusals.json"), "[1]").unwrap();
        let refusals = Refusals::in_folder(folder.path());
        assert!(refusals.change(&CountedEvent::of("stop", None), |_| 1).is_err());
        assert_eq!(std::fs::read(folder.path().join("refusals.json")).unwrap(), b"[1]");
    }
}
