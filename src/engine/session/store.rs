//! A file shared by processes: locked, replaced atomically, without following links.

use std::collections::BTreeMap;
use std::fs::{OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::lock::{HELD, careful, lock_within, release};

/// Maximum file size; files are read into memory.
pub(super) const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Time to wait for the lock. A hook that keeps it must not block others.
pub const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
#[error("cannot use `{file}`: {problem}", file = file.display())]
pub struct StoreError {
    pub file: PathBuf,
    pub problem: String,
}

#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    name: &'static str,
}

impl Store {
    pub fn new(folder: &Path, name: &'static str) -> Store {
        Store {
            folder: folder.to_path_buf(),
            name,
        }
    }

    pub(crate) fn read(&self) -> Result<Vec<u8>, StoreError> {
        let mut options = OpenOptions::new();
        let opened = careful(options.read(true)).open(self.file());
        let file = match opened {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(self.fails(&error)),
        };
        if !file.metadata().is_ok_and(|meta| meta.is_file()) {
            return Err(self.fails(&"it is not a regular file"));
        }
        let mut bytes = Vec::new();
        let read = file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.fails(&error))?;
        self.check(&bytes)?;
        Ok(bytes)
    }

    /// Changes the content under the lock, waiting at most `patience` for it. Stores nothing if
    /// `change` fails.
    pub(super) fn change(
        &self,
        patience: Duration,
        change: impl FnOnce(&mut Vec<u8>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut options = OpenOptions::new();
        let opened = careful(options.read(true).write(true).create(true)).open(self.beside("lock"));
        let lock = opened.map_err(|error| self.fails(&error))?;
        lock_within(&lock, patience).map_err(|error| match error {
            TryLockError::WouldBlock => self.fails(&HELD),
            TryLockError::Error(error) => self.fails(&error),
        })?;
        let changed = self.read().and_then(|mut bytes| {
            change(&mut bytes)?;
            self.replace(&bytes)
        });
        release(&lock);
        changed
    }

    pub(super) fn fails(&self, problem: &dyn ToString) -> StoreError {
        StoreError {
            file: self.file(),
            problem: problem.to_string(),
        }
    }

    fn check(&self, bytes: &[u8]) -> Result<(), StoreError> {
        if bytes.len() > MOST_BYTES {
            return Err(self.fails(&"it would be larger than 4 MiB"));
        }
        Ok(())
    }

    fn file(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }

    /// Reads the table; empty if the file is missing.
    pub fn read_table<T: DeserializeOwned>(&self) -> Result<BTreeMap<String, T>, StoreError> {
        self.table(&self.read()?)
    }

    /// Changes the table under the lock, waiting at most `patience` for it.
    pub fn change_table<T: DeserializeOwned + Serialize>(
        &self,
        patience: Duration,
        change: impl FnOnce(&mut BTreeMap<String, T>),
    ) -> Result<(), StoreError> {
        self.change(patience, |bytes| {
            let mut table = self.table(bytes)?;
            change(&mut table);
            *bytes = serde_json::to_vec(&table).map_err(|error| self.fails(&error))?;
            Ok(())
        })
    }

    fn table<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<BTreeMap<String, T>, StoreError> {
        if bytes.is_empty() {
            return Ok(BTreeMap::new());
        }
        serde_json::from_slice(bytes)
            .map_err(|error| self.fails(&format!("it is not a table of entries ({error})")))
    }

    /// Replaces the content atomically.
    fn replace(&self, bytes: &[u8]) -> Result<(), StoreError> {
        self.check(bytes)?;
        let new = self.beside("new");
        // Left by a killed process, or planted.
        let _ = std::fs::remove_file(&new);
        let mut options = OpenOptions::new();
        let written = careful(options.write(true).create_new(true))
            .open(&new)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| std::fs::rename(&new, self.file()));
        written.map_err(|error| {
            let _ = std::fs::remove_file(&new);
            self.fails(&error)
        })
    }
}

fn is_missing(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
