//! The pipes of a hook's standard streams.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use rustix::process::Resource;

use super::feed::{Feed, StdinContent};
use crate::engine::event::context::Payload;

/// How many descriptors hookrun needs between two hooks at most, with a margin: for `/proc` and
/// the keeper.
const ROOM: u64 = 16;

/// Both ends of them. Ours do not block, and what fits of the input is written.
#[derive(Debug)]
pub(super) struct HookPipes {
    /// The rest of the input, if there is one.
    pub(super) stdin: Option<Feed>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) theirs: [OwnedFd; 3],
    /// The input.
    payload: Arc<Payload>,
}

impl HookPipes {
    fn new(content: StdinContent<'_>) -> io::Result<HookPipes> {
        let (stdin, stdin_reader) = fed(content)?;
        let (stdout, stdout_writer) = io::pipe()?;
        let (stderr, stderr_writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&stdout, true)?;
        rustix::io::ioctl_fionbio(&stderr, true)?;
        Ok(HookPipes {
            stdin,
            stdout: stdout.into(),
            stderr: stderr.into(),
            theirs: [stdin_reader, stdout_writer.into(), stderr_writer.into()],
            payload: Arc::clone(content.payload),
        })
    }

    /// Whether this process may open enough other files while it has these pipes.
    fn leaves_room(&self) -> bool {
        // The lowest free number is used, so about as many are open.
        let open = self
            .theirs
            .iter()
            .map(|end| end.as_raw_fd())
            .max()
            .unwrap_or_default();
        let most = rustix::process::getrlimit(Resource::Nofile).current;
        most.is_none_or(|most| u64::from(open.unsigned_abs()) + ROOM < most)
    }

    /// Takes the pipes that were made for the next hook, or new ones.
    pub(super) fn take(
        store: Option<&PipeStore>,
        content: StdinContent<'_>,
    ) -> io::Result<HookPipes> {
        let Some(mut pipes) = store.and_then(|store| store.next.take()) else {
            return HookPipes::new(content);
        };
        // The event may have been rewritten, and a hook of another convention has its own words.
        let is_ready = Arc::ptr_eq(&pipes.payload, content.payload);
        if !is_ready || content.stays_open {
            (pipes.stdin, pipes.theirs[0]) = fed(content)?;
        }
        Ok(pipes)
    }
}

/// A pipe for stdin with the beginning of the input.
fn fed(content: StdinContent<'_>) -> io::Result<(Option<Feed>, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    Ok((Feed::begin(writer.into(), content), reader.into()))
}

/// What is done for the pipes of an event's hooks while a hook runs. Between two hooks nobody else
/// works, so there it would take longer: a twentieth of the time of a small hook.
#[derive(Debug, Default)]
pub struct PipeStore {
    more_follow: Cell<bool>,
    /// For the next hook.
    next: RefCell<Option<HookPipes>>,
    /// Of the last hook. Nobody else has their other ends.
    spent: RefCell<Vec<OwnedFd>>,
}

impl PipeStore {
    /// Says whether another program starts after those that start now.
    pub fn expect_more(&self, more_follow: bool) {
        self.more_follow.set(more_follow);
    }

    /// Closes `spent` descriptors when the next hook runs, if its pipes are ready.
    pub(super) fn close_later(&self, spent: impl Iterator<Item = OwnedFd>) {
        if self.next.borrow().is_some() {
            self.spent.borrow_mut().extend(spent);
        }
    }

    /// A hook runs now, and the next one probably gets this content too. Where descriptors are few
    /// its pipes are made when it starts.
    pub(super) fn make_next(&self, content: StdinContent<'_>) {
        self.spent.borrow_mut().clear();
        if self.more_follow.get() {
            self.next
                .replace(HookPipes::new(content).ok().filter(HookPipes::leaves_room));
        }
    }
}
