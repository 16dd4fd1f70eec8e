//! Entries: texts under keys, stored for one hook or for all hooks of a session.

use std::collections::BTreeMap;
use std::path::Path;

use super::store::{PATIENCE, Store, StoreError};

/// What messages call them.
const ENTRIES: &str = "entries";

/// All entries, by key. `set` leaves one text under a key; each `append` adds another.
pub type EntryTexts = BTreeMap<String, Vec<String>>;

#[derive(Debug, Clone)]
pub struct SessionEntries {
    store: Store,
}

impl SessionEntries {
    /// The entries in a private folder. Creates nothing yet.
    pub fn in_folder(folder: &Path) -> SessionEntries {
        SessionEntries {
            store: Store::new(folder, ".entries.json"),
        }
    }

    /// The texts of a session's status line, by key. They are separate from its hooks' shared
    /// entries.
    pub fn of_status(folder: &Path) -> SessionEntries {
        SessionEntries {
            store: Store::new(folder, ".status.json"),
        }
    }

    /// All entries.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(&self) -> Result<EntryTexts, StoreError> {
        self.store.read_table(ENTRIES)
    }

    /// The texts of `key`, oldest first; empty if there are none.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn get(&self, key: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.all()?.remove(key).unwrap_or_default())
    }

    /// Replaces all texts of `key` with `text`.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn set(&self, key: &str, text: &str) -> Result<(), StoreError> {
        self.change(|kept| {
            kept.insert(key.to_string(), vec![text.to_string()]);
        })
    }

    /// Adds `text` to the texts of `key`.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn append(&self, key: &str, text: &str) -> Result<(), StoreError> {
        self.change(|kept| {
            kept.entry(key.to_string())
                .or_default()
                .push(text.to_string())
        })
    }

    /// Removes `key`. Returns whether it existed.
    ///
    /// # Errors
    /// When the remaining entries cannot be stored.
    pub fn remove(&self, key: &str) -> Result<bool, StoreError> {
        let mut was_there = false;
        self.change(|kept| was_there = kept.remove(key).is_some())?;
        Ok(was_there)
    }

    fn change(&self, change: impl FnOnce(&mut EntryTexts)) -> Result<(), StoreError> {
        self.store.change_table(ENTRIES, PATIENCE, change)
    }
}
