//! Waiting for locks, despite poisoning, and for file descriptors.

use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// Locks `mutex`, ignoring poisoning: each change under our locks is a single step.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until a descriptor is readable or closed, and returns the index of the first; `None` after
/// `until`.
pub(crate) fn wait_readable(
    fds: &[BorrowedFd<'_>],
    until: Option<Instant>,
) -> rustix::io::Result<Option<usize>> {
    let mut polled: Vec<PollFd<'_>> = fds
        .iter()
        .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
        .collect();
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) => return Ok(polled.iter().position(|fd| !fd.revents().is_empty())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
