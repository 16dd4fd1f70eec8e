//! Keeps what a hook writes, within bounds, and counts the rest.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::engine::run::Captured;

/// How much of stdout is kept: the answer, which is malformed when it is longer.
pub(super) const STDOUT_KEPT_BYTES: usize = 1024 * 1024;

/// How much of the beginning of stderr is kept.
pub(super) const STDERR_HEAD_BYTES: usize = 64 * 1024;

/// How much of the end of stderr is kept.
pub(super) const STDERR_TAIL_BYTES: usize = 64 * 1024;

/// How many buffers one stream may deliver before the others have their turn.
const BUFFERS_A_TURN: usize = 16;

/// Our end of a hook's stdout or stderr.
#[derive(Debug)]
pub(super) struct Capture {
    fd: Option<OwnedFd>,
    kept: Captured,
    head_limit: usize,
    tail_limit: usize,
}

impl Capture {
    /// A capture that keeps the first `head_limit` and the last `tail_limit` bytes.
    pub(super) fn new(fd: OwnedFd, head_limit: usize, tail_limit: usize) -> Capture {
        Capture { fd: Some(fd), kept: Captured::default(), head_limit, tail_limit }
    }

    /// The descriptor to wait for, while the stream is open.
    pub(super) fn fd(&self) -> Option<&OwnedFd> {
        self.fd.as_ref()
    }

    /// How much was written so far.
    pub(super) fn total_bytes(&self) -> u64 {
        self.kept.total_bytes
    }

    /// The beginning of what was written.
    pub(super) fn head(&self) -> &[u8] {
        &self.kept.head
    }

    /// Whether the hook and all its children have closed the stream.
    pub(super) fn is_closed(&self) -> bool {
        self.fd.is_none()
    }

    /// The stream has ended: every writer has closed it.
    pub(super) fn close(&mut self) {
        self.fd = None;
    }

    /// Takes what is there without waiting, for one turn. With `keep` false the bytes are only
    /// counted: they came after the deadline.
    ///
    /// `buffer` is a vector with room: it is never cleared, so that only the pages that a hook
    /// fills cost anything.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, keep: bool) {
        for _ in 0..BUFFERS_A_TURN {
            let Some(fd) = &self.fd else { return };
            buffer.clear();
            match rustix::io::read(fd, rustix::buffer::spare_capacity(buffer)) {
                Ok(0) => self.close(),
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
        // Cut only when twice the limit has gathered, so that a flood is copied once.
        if self.kept.tail.len() > 2 * self.tail_limit {
            self.cut_tail();
        }
    }

    fn cut_tail(&mut self) {
        let surplus = self.kept.tail.len().saturating_sub(self.tail_limit);
        self.kept.tail.drain(..surplus);
    }

    /// Closes the stream and gives what was kept.
    pub(super) fn take(&mut self) -> Captured {
        self.close();
        self.cut_tail();
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_head_and_the_tail_of_a_flood_are_kept_and_the_rest_is_counted() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let feeder = std::thread::spawn(move || {
            for number in 0..100_000 {
                writeln!(writer, "{number}").unwrap();
            }
        });
        let mut capture = Capture::new(reader.into(), 10, 12);
        let mut buffer = Vec::with_capacity(4096);
        while !capture.is_closed() {
            capture.read(&mut buffer, true);
        }
        feeder.join().unwrap();
        let kept = capture.take();
        assert_eq!(kept.head, b"0\n1\n2\n3\n4\n");
        assert_eq!(kept.tail, b"99998\n99999\n");
        assert_eq!(kept.total_bytes, 588_890);
    }
}
