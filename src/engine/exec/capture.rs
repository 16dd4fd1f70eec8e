//! Keeps a bounded part of what a hook writes, and counts the rest.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::engine::run::CapturedStream;

/// How much of stdout is kept. A longer answer is malformed.
pub(super) const STDOUT_KEPT_BYTES: usize = 1024 * 1024;

pub(super) const STDERR_HEAD_BYTES: usize = 64 * 1024;

pub(super) const STDERR_TAIL_BYTES: usize = 64 * 1024;

/// How many buffers one stream may deliver before the others get a turn.
const BUFFERS_A_TURN: usize = 16;

/// Our end of a hook's stdout or stderr.
#[derive(Debug)]
pub(super) struct Capture {
    fd: Option<OwnedFd>,
    /// The same after the end of the stream.
    pub(super) spent: Option<OwnedFd>,
    pub(super) kept: CapturedStream,
    head_limit: usize,
    tail_limit: usize,
}

impl Capture {
    /// Keeps the first `head_limit` and the last `tail_limit` bytes.
    pub(super) fn new(fd: OwnedFd, head_limit: usize, tail_limit: usize) -> Capture {
        Capture {
            fd: Some(fd),
            spent: None,
            kept: CapturedStream::default(),
            head_limit,
            tail_limit,
        }
    }

    pub(super) fn fd(&self) -> Option<&OwnedFd> {
        self.fd.as_ref()
    }

    /// Whether the hook and all its children have closed the stream.
    pub(super) fn is_closed(&self) -> bool {
        self.fd.is_none()
    }

    pub(super) fn close(&mut self) {
        self.fd = None;
    }

    /// Reads what is available without blocking, for one turn. With `keep` false it only counts the
    /// bytes, because they came after the deadline.
    ///
    /// `buffer` is a vector with spare capacity. It is never cleared, so only the pages that a hook
    /// fills cost anything.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, keep: bool) {
        for _ in 0..BUFFERS_A_TURN {
            let Some(fd) = &self.fd else { return };
            buffer.clear();
            match rustix::io::read(fd, rustix::buffer::spare_capacity(buffer)) {
                Ok(0) => self.spent = self.fd.take(),
                Ok(count) => {
                    self.kept.total_bytes += count as u64;
                    if keep {
                        self.keep(buffer);
                    }
                    if count < buffer.capacity() {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.close(),
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.head_limit - self.kept.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.kept.head.extend_from_slice(head);
        if rest.is_empty() || self.tail_limit == 0 {
            return;
        }
        self.kept.tail.extend_from_slice(rest);
        // Cut only at twice the limit, so that a flood is copied once.
        if self.kept.tail.len() > 2 * self.tail_limit {
            self.cut_tail();
        }
    }

    fn cut_tail(&mut self) {
        let surplus = self.kept.tail.len().saturating_sub(self.tail_limit);
        self.kept.tail.drain(..surplus);
    }

    /// Closes the stream and returns what was kept.
    pub(super) fn take(&mut self) -> CapturedStream {
        self.close();
        self.cut_tail();
        std::mem::take(&mut self.kept)
    }
}
