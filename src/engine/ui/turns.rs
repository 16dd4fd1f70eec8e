//! One dialog at a time.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::dialog::Asker;
use crate::engine::lock::locked;

/// How often somebody who waits looks whether the question is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    is_taken: Mutex<bool>,
    given_back: Condvar,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct DialogTurn<'t>(&'t Turns);

impl Turns {
    /// Waits for a turn; `None` if the question is over before it comes.
    pub(super) fn take(&self, asker: &Asker<'_>) -> Option<DialogTurn<'_>> {
        let mut is_taken = locked(&self.is_taken);
        loop {
            if asker.is_over() {
                return None;
            }
            if !*is_taken {
                *is_taken = true;
                return Some(DialogTurn(self));
            }
            let waited = self.given_back.wait_timeout(is_taken, LOOK_EVERY);
            is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for DialogTurn<'_> {
    fn drop(&mut self) {
        *locked(&self.0.is_taken) = false;
        self.0.given_back.notify_one();
    }
}
