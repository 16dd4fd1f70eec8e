//! What was decided about a call, for a process that is asked about the same call: a few slots for
//! each session, each behind a lock, so that no more is kept than fits into them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::file_name;
use super::store::{Locked, Store, StoreError};

/// How many decisions of a session are kept. Calls of one turn that run at once have slots of
/// their own, mostly; what shares one with another call is decided without it.
const SLOTS: u64 = 64;

/// How long a decision may be. What is longer is not kept.
const MOST_BYTES: usize = 256 * 1024;

/// The right to decide a call, until it is dropped: others who are asked about it wait.
#[derive(Debug)]
pub struct Claim {
    locked: Locked,
}

impl Claim {
    /// Claims a call in a private folder. While another process has it, `waits` is asked whether
    /// to wait on; `None` if not, and where the slot is taken for another call.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub fn of(
        folder: &Path,
        call: &str,
        mut waits: impl FnMut() -> bool,
    ) -> Result<Option<Claim>, StoreError> {
        let name = file_name(call);
        let store = Store::new(folder, format!("decided-{:02}.json", slot(call)));
        let mut is_for_this = |lock: &File| {
            let mut noted = vec![0; 256];
            let length = lock.read_at(&mut noted, 0).unwrap_or(0);
            let noted = noted.get(..length).unwrap_or_default();
            // Nothing is noted by who has just got it.
            (noted.is_empty() || noted == name.as_bytes()) && waits()
        };
        let Some(locked) = store.lock_while(&mut is_for_this)? else { return Ok(None) };
        locked.note(&name)?;
        Ok(Some(Claim { locked }))
    }

    /// What was decided in this slot; nothing if there is nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self) -> Result<Vec<u8>, StoreError> {
        self.locked.read()
    }

    /// Keeps what was decided in the place of what is there. What is too long is not kept.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn keep(&self, decision: &[u8]) -> Result<(), StoreError> {
        self.locked.replace(if decision.len() > MOST_BYTES { b"" } else { decision })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Err(error) = self.locked.note("") {
            tracing::warn!(%error, "a slot stays marked");
        }
    }
}

fn slot(call: &str) -> u64 {
    let sum = call.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (sum ^ (sum >> 32)) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Two calls that share a slot.
    fn neighbours() -> (String, String) {
        let calls: Vec<String> = (0..SLOTS * 2).map(|number| format!("call {number}")).collect();
        let pair = calls.iter().flat_map(|one| calls.iter().map(move |two| (one, two)));
        let (one, two) = pair.into_iter().find(|(a, b)| a != b && slot(a) == slot(b)).unwrap();
        (one.clone(), two.clone())
    }

    #[test]
    fn who_is_asked_about_the_same_call_waits_and_then_reads_what_was_decided() {
        let folder = tempfile::tempdir().unwrap();
        let first = Cell::new(Claim::of(folder.path(), "call", || true).unwrap());
        let second = Claim::of(folder.path(), "call", || {
            if let Some(claim) = first.take() {
                claim.keep(b"no").unwrap();
            }
            true
        });
        let second = second.unwrap().unwrap();
        assert_eq!(second.read().unwrap(), b"no");
        second.keep(&vec![b'x'; MOST_BYTES + 1]).unwrap();
        assert_eq!(second.read().unwrap(), b"");
        assert!(Claim::of(folder.path(), "call", || false).unwrap().is_none());
    }

    #[test]
    fn nobody_waits_for_another_call() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = neighbours();
        let first = Claim::of(folder.path(), &one, || true).unwrap().unwrap();
        assert!(Claim::of(folder.path(), &two, || panic!("it waits")).unwrap().is_none());
        drop(first);
        assert!(Claim::of(folder.path(), &two, || panic!("it waits")).unwrap().is_some());
    }

    #[test]
    fn no_more_files_are_kept_than_there_are_slots() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..SLOTS * 8 {
            let claim = Claim::of(folder.path(), &format!("call {number}"), || true);
            claim.unwrap().unwrap().keep(b"yes").unwrap();
        }
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert!(files as u64 <= 2 * SLOTS, "{files}");
    }
}
