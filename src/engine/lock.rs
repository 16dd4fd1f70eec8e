//! Waiting for locks: of mutexes, despite poisoning, and of files; and for file descriptors.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Locks `mutex`, ignoring poisoning: each change under our locks is a single step.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) const HELD: &str = "another process holds the lock";

pub(crate) fn lock_within(file: &File, patience: Duration) -> Result<(), TryLockError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(1));
            }
            done => return done,
        }
    }
}

/// Unlocks immediately. Closing is not enough: until exec, a child that another thread is spawning
/// holds the descriptor too.
pub(crate) fn release(lock: &File) {
    let _ = lock.unlock();
}

/// Opens for the owner only, without following links or blocking on a FIFO.
pub(crate) fn careful(options: &mut OpenOptions) -> &mut OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options
        .mode(0o600)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
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
