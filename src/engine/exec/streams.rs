//! A hook's standard streams: pipes, stdin data and captured output.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::Resource;

use super::lines::HookLines;
use crate::engine::event::context::{Payload, Pieces};
use crate::engine::run::CapturedStream;

/// Captured bytes of stdout. A longer answer is malformed.
pub(super) const STDOUT_KEPT_BYTES: usize = 1024 * 1024;

pub(super) const STDERR_HEAD_BYTES: usize = 64 * 1024;

pub(super) const STDERR_TAIL_BYTES: usize = 64 * 1024;

/// Buffers read from one stream before the others get a turn.
const BUFFERS_A_TURN: usize = 16;

/// Descriptors that hookrun needs between two hooks, with a margin: for `/proc` and the keeper.
const ROOM: u64 = 16;

/// Both ends of a hook's pipes. Ours do not block, and stdin is filled.
#[derive(Debug)]
pub(super) struct HookPipes {
    pub(super) stdin: Option<Feed>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) theirs: [OwnedFd; 3],
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

    fn leaves_room(&self) -> bool {
        // Descriptors are allocated from the lowest, so this is about the number in use.
        let numbers = self.theirs.iter().map(|end| end.as_raw_fd());
        let open = numbers.max().unwrap_or_default();
        let most = rustix::process::getrlimit(Resource::Nofile).current;
        most.is_none_or(|most| u64::from(open.unsigned_abs()) + ROOM < most)
    }

    pub(super) fn take(
        store: Option<&PipeStore>,
        content: StdinContent<'_>,
    ) -> io::Result<HookPipes> {
        let Some(mut pipes) = store.and_then(|store| store.next.take()) else {
            return HookPipes::new(content);
        };
        // The event may have been rewritten, and another dialect has another payload.
        let is_ready = Arc::ptr_eq(&pipes.payload, content.payload);
        if !is_ready || content.stays_open {
            (pipes.stdin, pipes.theirs[0]) = fed(content)?;
        }
        Ok(pipes)
    }
}

/// Creates a stdin pipe with the first bytes of the input.
fn fed(content: StdinContent<'_>) -> io::Result<(Option<Feed>, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    Ok((Feed::begin(writer.into(), content), reader.into()))
}

/// Pipes that are prepared and closed while a hook runs. Between two hooks nothing runs in
/// parallel, so this saves a twentieth of a small hook's time.
#[derive(Debug, Default)]
pub struct PipeStore {
    more_follow: Cell<bool>,
    next: RefCell<Option<HookPipes>>,
    /// Closed pipes of the last hook. No other process holds them.
    spent: RefCell<Vec<OwnedFd>>,
}

impl PipeStore {
    /// Sets whether another program starts after this step.
    pub fn expect_more(&self, more_follow: bool) {
        self.more_follow.set(more_follow);
    }

    /// Closes `spent` descriptors when the next hook runs, if its pipes are ready.
    pub(super) fn close_later(&self, spent: impl Iterator<Item = OwnedFd>) {
        if self.next.borrow().is_some() {
            self.spent.borrow_mut().extend(spent);
        }
    }

    /// Prepares the next hook's pipes, probably with the same content. If descriptors are short,
    /// they are created later.
    pub(super) fn make_next(&self, content: StdinContent<'_>) {
        self.spent.borrow_mut().clear();
        if self.more_follow.get() {
            self.next
                .replace(HookPipes::new(content).ok().filter(HookPipes::leaves_room));
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StdinContent<'c> {
    pub(super) payload: &'c Arc<Payload>,
    /// Lines of a session-lived hook, instead of the payload.
    pub(super) lines: Option<&'c Arc<HookLines>>,
    pub(super) stays_open: bool,
}

#[derive(Debug)]
pub(super) struct Feed {
    pub(super) fd: OwnedFd,
    /// Current data, and its written bytes.
    piece: Vec<u8>,
    written: usize,
    next: NextPieces,
    stays_open: bool,
    pub(super) is_done: bool,
}

#[derive(Debug)]
enum NextPieces {
    Nowhere,
    Payload(Pieces),
    Lines(Arc<HookLines>),
}

impl Feed {
    /// Writes without blocking. Returns `None` and closes stdin if everything is written.
    fn begin(fd: OwnedFd, content: StdinContent<'_>) -> Option<Feed> {
        let mut feed = Feed {
            fd,
            piece: Vec::new(),
            written: 0,
            next: NextPieces::Nowhere,
            stays_open: content.stays_open,
            is_done: false,
        };
        if let Some(lines) = content.lines {
            // A line belongs to the process that reads it, so take none before it runs.
            lines.renew();
            feed.next = NextPieces::Lines(Arc::clone(lines));
            return Some(feed);
        }
        feed.take(content.payload);
        feed.go_on();
        Some(feed).filter(|feed| !feed.is_over())
    }

    pub(super) fn take(&mut self, payload: &Payload) {
        self.piece.clear();
        self.written = 0;
        self.is_done = false;
        match payload {
            Payload::Whole(bytes) => {
                self.piece.extend_from_slice(bytes);
                self.next = NextPieces::Nowhere;
            }
            Payload::Pieces(pieces) => self.next = NextPieces::Payload(pieces.clone()),
        }
    }

    /// Writes without blocking. A hook that stops reading is not an error.
    pub(super) fn go_on(&mut self) {
        self.is_done = self.write_some();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_done && !self.stays_open
    }

    pub(super) fn waiting_fd(&self) -> Option<BorrowedFd<'_>> {
        let waits_for_lines = matches!(self.next, NextPieces::Lines(_));
        let has_more = !waits_for_lines || self.written < self.piece.len();
        (has_more && !self.is_done).then(|| self.fd.as_fd())
    }

    /// Writes without blocking. Returns true if all is written or the reader is gone.
    fn write_some(&mut self) -> bool {
        loop {
            if self.written == self.piece.len() {
                self.piece.clear();
                self.written = 0;
                let is_over = match &mut self.next {
                    NextPieces::Nowhere => true,
                    NextPieces::Payload(pieces) => {
                        pieces.next(&mut self.piece);
                        self.piece.is_empty()
                    }
                    NextPieces::Lines(lines) => lines.take_next(&mut self.piece),
                };
                if is_over || self.piece.is_empty() {
                    return is_over;
                }
            }
            match rustix::io::write(&self.fd, &self.piece[self.written..]) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => {
                    if let NextPieces::Lines(lines) = &self.next {
                        lines.stop_feeding();
                    }
                    return true;
                }
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Capture {
    fd: Option<OwnedFd>,
    pub(super) spent: Option<OwnedFd>,
    pub(super) kept: CapturedStream,
    head_limit: usize,
    tail_limit: usize,
}

impl Capture {
    /// Captures the first `head_limit` and the last `tail_limit` bytes.
    pub(super) fn new(fd: OwnedFd, head_limit: usize, tail_limit: usize) -> Capture {
        Capture {
            fd: Some(fd),
            spent: None,
            kept: CapturedStream::default(),
            head_limit,
            tail_limit,
        }
    }

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.fd.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.fd.is_none()
    }

    pub(super) fn close(&mut self) {
        self.fd = None;
    }

    /// Reads available data for one turn. With `keep` false, only counts bytes, since they came
    /// after the deadline. `buffer` needs spare capacity.
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
        // Cut at twice the limit, so that a flood is copied once.
        if self.kept.tail.len() > 2 * self.tail_limit {
            self.cut_tail();
        }
    }

    fn cut_tail(&mut self) {
        let surplus = self.kept.tail.len().saturating_sub(self.tail_limit);
        self.kept.tail.drain(..surplus);
    }

    pub(super) fn take(&mut self) -> CapturedStream {
        self.close();
        self.cut_tail();
        std::mem::take(&mut self.kept)
    }
}
