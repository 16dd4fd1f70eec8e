//! Entries: texts under keys, stored for one hook or for all hooks of a session.

use std::collections::BTreeMap;
use std::path::Path;

use super::store::{FileLock, Store, StoreError};

/// All entries, by key. `set` leaves one text under a key; each `append` adds another.
pub type EntryTexts = BTreeMap<String, Vec<String>>;

#[derive(Debug, Clone)]
pub struct SessionEntries {
    store: Store,
}

impl SessionEntries {
    /// The entries in a private folder. Creates nothing yet.
    pub fn in_folder(folder: &Path) -> SessionEntries {
        SessionEntries { store: Store::new(folder, ".entries.json") }
    }

    /// The texts of a session's status line, by key. They are separate from its hooks' shared
    /// entries.
    pub fn of_status(folder: &Path) -> SessionEntries {
        SessionEntries { store: Store::new(folder, ".status.json") }
    }

    /// All entries.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(&self) -> Result<EntryTexts, StoreError> {
        self.decode(&self.store.read()?)
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
        self.change(|kept| kept.entry(key.to_string()).or_default().push(text.to_string()))
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
        let locked: FileLock = self.store.lock()?;
        let mut kept = self.decode(&locked.read()?)?;
        change(&mut kept);
        let bytes = serde_json::to_vec(&kept).map_err(|error| self.store.fails(&error))?;
        locked.replace(&bytes)
    }

    fn decode(&self, bytes: &[u8]) -> Result<EntryTexts, StoreError> {
        if bytes.is_empty() {
            return Ok(EntryTexts::new());
        }
        let read = serde_json::from_slice(bytes);
        read.map_err(|error| self.store.fails(&format!("it does not hold entries ({error})")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_set_appended_to_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let entries = SessionEntries::in_folder(folder.path());
        assert!(entries.get("a").unwrap().is_empty());
        entries.set("a", "1").unwrap();
        entries.set("a", "2\n3").unwrap();
        entries.append("a", "4").unwrap();
        entries.append("b", "").unwrap();
        assert_eq!(entries.get("a").unwrap(), ["2\n3", "4"]);
        assert_eq!(entries.get("b").unwrap(), [""]);
        assert!(entries.remove("a").unwrap() && !entries.remove("a").unwrap());
        assert_eq!(entries.all().unwrap().into_keys().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn what_is_no_list_of_entries_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".entries.json"), "[1]").unwrap();
        let entries = SessionEntries::in_folder(folder.path());
        assert!(entries.get("a").is_err() && entries.set("a", "1").is_err());
        assert_eq!(std::fs::read(folder.path().join(".entries.json")).unwrap(), b"[1]");
    }
}
