//! Being told to stop: by a signal, or by the program that embeds us.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::spawn;

/// The signals that end a run: what a terminal, a host and an init system send.
pub(super) const STOP_SIGNALS: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Stands for [`Abort::raise`] among the numbers of signals.
const BY_HAND: usize = usize::MAX;

/// A way to end a run before its time. Clones belong together: raise one and all are raised.
///
/// Raised once, hooks are ended with SIGTERM and a grace; raised again, they are killed at once.
/// It stays raised: a chain that has not begun refuses.
#[derive(Debug, Clone)]
pub struct Abort {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// A byte for each time it was raised; never read, only counted.
    reader: OwnedFd,
    writer: OwnedFd,
    /// What raised it: the number of a signal, or [`BY_HAND`]; 0 while it is not raised.
    signal: Arc<AtomicUsize>,
}

impl Abort {
    /// One that only [`Abort::raise`] raises.
    ///
    /// # Errors
    /// When there are no descriptors left for a pipe.
    pub fn new() -> io::Result<Abort> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let signal = Arc::new(AtomicUsize::new(0));
        let shared = Shared { reader: reader.into(), writer: writer.into(), signal };
        Ok(Abort { shared: Arc::new(shared) })
    }

    /// One that SIGINT, SIGTERM, SIGHUP and SIGQUIT raise as well. It also takes back an
    /// inherited "ignore" for SIGCHLD, with which no exit status could be read.
    ///
    /// # Errors
    /// When there are no descriptors left, or a handler cannot be installed.
    pub fn on_signals() -> io::Result<Abort> {
        let abort = Abort::new()?;
        for &signal in STOP_SIGNALS {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&abort.shared.signal), number)?;
            signal_hook::low_level::pipe::register(signal, abort.shared.writer.try_clone()?)?;
        }
        // Else no handler: it would interrupt us at the end of each hook.
        if spawn::is_ignored(SIGCHLD) {
            signal_hook::flag::register(SIGCHLD, Arc::default())?;
        }
        Ok(abort)
    }

    /// Raises it.
    pub fn raise(&self) {
        let _ =
            self.shared.signal.compare_exchange(0, BY_HAND, Ordering::Relaxed, Ordering::Relaxed);
        // The pipe holds 64 KiB: a write can only fail after 65,536 calls, when it is long raised.
        let _ = rustix::io::write(&self.shared.writer, b"!");
    }

    /// How often it was raised.
    pub fn times_raised(&self) -> u64 {
        // Asked before and after every hook: the flag spares a system call each time.
        if self.shared.signal.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        rustix::io::ioctl_fionread(&self.shared.reader).unwrap_or(0)
    }

    /// The signal that raised it last, if it was one.
    pub fn signal(&self) -> Option<i32> {
        match self.shared.signal.load(Ordering::Relaxed) {
            0 | BY_HAND => None,
            number => i32::try_from(number).ok(),
        }
    }
}

impl AsFd for Abort {
    /// Readable from the moment it is raised.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.reader.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abort_stays_raised_and_counts() {
        let abort = Abort::new().unwrap();
        assert_eq!(abort.times_raised(), 0);
        abort.clone().raise();
        abort.raise();
        assert_eq!(abort.times_raised(), 2);
        assert_eq!(abort.signal(), None);
    }
}
