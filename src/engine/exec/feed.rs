//! What a hook gets on stdin, and what of it has been written.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::lines::LineStream;
use crate::engine::event::context::{Payload, Pieces};

/// What a hook gets on stdin.
#[derive(Debug, Clone, Copy)]
pub(super) struct StdinContent<'c> {
    pub(super) payload: &'c Arc<Payload>,
    /// What comes instead of the payload, if it lives as long as its session.
    pub(super) lines: Option<&'c Arc<dyn LineStream>>,
    /// More may follow, so the end of this is not the end of all.
    pub(super) stays_open: bool,
}

/// The rest of a payload that did not fit into the pipe.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) fd: OwnedFd,
    payload: Arc<Payload>,
    /// For a payload made in pieces: the rest of the pieces, and the one being written.
    pieces: Option<Pieces>,
    piece: Vec<u8>,
    written: usize,
    /// Where the pieces come from if there is no payload.
    lines: Option<Arc<dyn LineStream>>,
    stays_open: bool,
    pub(super) is_done: bool,
}

impl Feed {
    /// Writes what fits. Returns `None` when that was all, and closes the hook's input.
    pub(super) fn begin(fd: OwnedFd, content: StdinContent<'_>) -> Option<Feed> {
        let (lines, stays_open) = (content.lines.cloned(), content.stays_open);
        let (payload, piece) = (Arc::default(), Vec::new());
        let (pieces, written, is_done) = (None, 0, false);
        let mut feed = Feed {
            fd,
            payload,
            pieces,
            piece,
            written,
            lines,
            stays_open,
            is_done,
        };
        feed.take(content.payload);
        if let Some(lines) = &feed.lines {
            // A line belongs to the process that reads it, so none is taken before there is one.
            lines.renew();
            return Some(feed);
        }
        feed.go_on();
        Some(feed).filter(|feed| !feed.is_over())
    }

    /// Begins with another payload.
    pub(super) fn take(&mut self, payload: &Arc<Payload>) {
        self.pieces = match payload.as_ref() {
            Payload::Whole(_) => None,
            Payload::Pieces(pieces) => Some(pieces.clone()),
        };
        self.payload = Arc::clone(payload);
        self.piece.clear();
        (self.written, self.is_done) = (0, false);
    }

    /// Writes what fits without blocking. A hook that stops reading is not an error.
    pub(super) fn go_on(&mut self) {
        self.is_done = self.write_some();
    }

    /// Whether nothing more follows.
    pub(super) fn is_over(&self) -> bool {
        self.is_done && !self.stays_open
    }

    /// Writable when the hook can take more of what waits for it.
    pub(super) fn waiting_fd(&self) -> Option<BorrowedFd<'_>> {
        let waits = self.lines.is_none() || self.written < self.piece.len();
        (waits && !self.is_done).then(|| self.fd.as_fd())
    }

    /// Writes what fits. Returns true when all is written or the reader is gone.
    fn write_some(&mut self) -> bool {
        loop {
            if self.written == self.piece.len() && (self.pieces.is_some() || self.lines.is_some()) {
                self.piece.clear();
                self.written = 0;
                if let Some(pieces) = &mut self.pieces {
                    pieces.next(&mut self.piece);
                }
                if let Some(lines) = &self.lines {
                    let is_over = lines.take_next(&mut self.piece);
                    if is_over || self.piece.is_empty() {
                        return is_over;
                    }
                }
            }
            let bytes = match self.payload.as_ref() {
                Payload::Whole(bytes) if self.lines.is_none() => bytes,
                Payload::Whole(_) | Payload::Pieces(_) => &self.piece,
            };
            if self.written >= bytes.len() {
                return true;
            }
            match rustix::io::write(&self.fd, &bytes[self.written..]) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => {
                    self.lines.iter().for_each(|lines| lines.stop_feeding());
                    return true;
                }
            }
        }
    }
}
