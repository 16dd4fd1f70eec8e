//! Messages that wait until the host of a session collects them.

use std::io;
use std::path::Path;

use super::Message;
use super::store::{Store, StoreError};

/// The waiting messages of a session: JSON, one per line.
#[derive(Debug, Clone)]
pub struct Outbox {
    store: Store,
}

impl Outbox {
    /// The outbox of a session, in the private folder that its hooks share. Creates nothing yet.
    pub fn in_folder(folder: &Path) -> Outbox {
        Outbox {
            store: Store::new(folder, ".messages.jsonl"),
        }
    }

    /// Adds a message.
    ///
    /// # Errors
    /// When it cannot be stored, or too many messages already wait.
    pub fn put(&self, message: &Message) -> Result<(), StoreError> {
        let line = serde_json::to_vec(message).map_err(|error| self.store.fails(&error))?;
        let locked = self.store.lock()?;
        let mut all = locked.read()?;
        all.extend(line);
        all.push(b'\n');
        locked.replace(&all)
    }

    /// Passes all waiting messages to `deliver`, oldest first, then removes them. Lines that are
    /// not messages are removed too.
    ///
    /// # Errors
    /// When they cannot be read, or one cannot be delivered: then all of them stay.
    pub fn take(
        &self,
        mut deliver: impl FnMut(&Message) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        let locked = self.store.lock()?;
        let all = locked.read()?;
        if all.is_empty() {
            return Ok(());
        }
        for line in all
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            match serde_json::from_slice(line) {
                Ok(message) => deliver(&message).map_err(|error| self.store.fails(&error))?,
                Err(error) => tracing::warn!(%error, "a line of the outbox is no message"),
            }
        }
        locked.replace(b"")
    }
}
