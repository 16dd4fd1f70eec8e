//! The pipes of a hook's standard streams.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::OwnedFd;

/// Both ends of them. Ours do not block.
#[derive(Debug)]
pub(super) struct HookPipes {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) theirs: [OwnedFd; 3],
}

impl HookPipes {
    pub(super) fn new() -> io::Result<HookPipes> {
        let (stdin_reader, stdin_writer) = io::pipe()?;
        let (stdout_reader, stdout_writer) = io::pipe()?;
        let (stderr_reader, stderr_writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&stdin_writer, true)?;
        rustix::io::ioctl_fionbio(&stdout_reader, true)?;
        rustix::io::ioctl_fionbio(&stderr_reader, true)?;
        Ok(HookPipes {
            stdin: stdin_writer.into(),
            stdout: stdout_reader.into(),
            stderr: stderr_reader.into(),
            theirs: [stdin_reader.into(), stdout_writer.into(), stderr_writer.into()],
        })
    }
}

/// The pipes of the next hook of an event. They are made while the hook before it runs: between two
/// hooks nobody else works, and there they would take a fiftieth of a small hook's time.
#[derive(Debug, Default)]
pub struct PipeStore {
    next: RefCell<Option<HookPipes>>,
    more_follow: Cell<bool>,
}

impl PipeStore {
    /// Says whether another program starts after those that start now.
    pub fn expect_more(&self, more_follow: bool) {
        self.more_follow.set(more_follow);
    }

    pub(super) fn take(&self) -> io::Result<HookPipes> {
        self.next.take().map_or_else(HookPipes::new, Ok)
    }

    /// Without descriptors for it there is none, and the next hook says so.
    pub(super) fn make_next(&self) {
        if self.more_follow.get() {
            self.next.replace(HookPipes::new().ok());
        }
    }
}
