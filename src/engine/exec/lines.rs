//! Bounded input and output lines of a session-lived hook.
//!
//! The program that holds the session adds lines without waiting. The readiness loop passes them on
//! as the hook reads, and delivers the hook's lines.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::engine::lock::locked;

const MOST_LINES: usize = 1024;

const MOST_BYTES: usize = 1024 * 1024;

/// Maximum length of a hook's line; longer ones are dropped. One read adds no more than this, so
/// with a partial line it fits into the captured stdout.
const LONGEST_LINE_BYTES: usize = 512 * 1024;

/// The lines of one hook of one session, across restarts.
pub struct HookLines {
    state: Mutex<LineState>,
    ended: Condvar,
    /// Wakes the loop for lines or the end.
    reader: OwnedFd,
    writer: OwnedFd,
    deliver: Box<LineReceiver>,
}

/// Receives a line without its line break. It must not block for long.
type LineReceiver = dyn Fn(&[u8]) + Send + Sync;

/// How long the process may live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LineLife {
    #[default]
    Open,
    /// Gets pending lines and end of input, then has its timeout to exit.
    Closing,
    Stopped,
}

#[derive(Default)]
struct LineState {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Lines dropped since the last report to the hook.
    dropped: u64,
    is_closed: bool,
    /// Inside of a line that is too long.
    is_in_long_line: bool,
    life: LineLife,
}

impl HookLines {
    pub(crate) fn new(deliver: impl Fn(&[u8]) + Send + Sync + 'static) -> io::Result<HookLines> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        Ok(HookLines {
            state: Mutex::default(),
            ended: Condvar::new(),
            reader: reader.into(),
            writer: writer.into(),
            deliver: Box::new(deliver),
        })
    }

    /// Adds a line with its line break. When full, drops the oldest lines and reports `{"dropped":
    /// N}` in their place.
    pub(crate) fn push(&self, line: Vec<u8>) {
        let mut state = locked(&self.state);
        if state.is_closed || state.life != LineLife::Open {
            return;
        }
        state.bytes += line.len();
        state.waiting.push_back(line);
        while state.waiting.len() > MOST_LINES || state.bytes > MOST_BYTES {
            let Some(oldest) = state.waiting.pop_front() else {
                break;
            };
            state.bytes -= oldest.len();
            state.dropped += 1;
        }
        drop(state);
        self.wake();
    }

    /// Shortens the life; never extends it.
    pub(crate) fn shorten(&self, life: LineLife) {
        let mut state = locked(&self.state);
        state.life = state.life.max(life);
        drop(state);
        self.ended.notify_all();
        self.wake();
    }

    /// Waits for `time`. Returns false if the session ends meanwhile.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let state = locked(&self.state);
        let ended = &self.ended;
        let waited = ended.wait_timeout_while(state, time, |state| state.life == LineLife::Open);
        waited.is_ok_and(|(state, _)| state.life == LineLife::Open)
    }

    fn wake(&self) {
        // If the pipe is full, the loop wakes anyway.
        let _ = rustix::io::write(&self.writer, b"!");
    }

    /// Delivers the last line of a process, without a line break.
    pub(crate) fn deliver_last(&self, written: &mut Vec<u8>) {
        self.deliver(written);
        if !written.is_empty() {
            (self.deliver)(written);
        }
        written.clear();
        self.renew();
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    pub(super) fn clear_news(&self) {
        let mut buffer = [0; 1024];
        while rustix::io::read(&self.reader, &mut buffer).is_ok_and(|count| count == buffer.len()) {
        }
    }

    /// Resets the state for the next process's streams.
    pub(super) fn renew(&self) {
        let mut state = locked(&self.state);
        state.is_closed = false;
        state.is_in_long_line = false;
    }

    /// Drops pending lines after the process has closed its stdin.
    pub(super) fn stop_feeding(&self) {
        let mut state = locked(&self.state);
        let LineState { life, .. } = *state;
        *state = LineState {
            is_closed: true,
            life,
            ..LineState::default()
        };
    }

    /// Adds the next pending line to `out`. Returns true at the end of input.
    pub(super) fn take_next(&self, out: &mut Vec<u8>) -> bool {
        let mut state = locked(&self.state);
        if state.dropped > 0 {
            out.extend_from_slice(format!("{{\"dropped\":{}}}\n", state.dropped).as_bytes());
            state.dropped = 0;
        } else if let Some(line) = state.waiting.pop_front() {
            state.bytes -= line.len();
            *out = line;
        }
        out.is_empty() && state.life != LineLife::Open
    }

    /// Delivers the complete lines of `written` and keeps the rest.
    pub(super) fn deliver(&self, written: &mut Vec<u8>) {
        let mut start = 0;
        while let Some(length) = written[start..].iter().position(|byte| *byte == b'\n') {
            let line = &written[start..start + length];
            start += length + 1;
            if !std::mem::take(&mut locked(&self.state).is_in_long_line) {
                (self.deliver)(line);
            }
        }
        written.drain(..start);
        let mut state = locked(&self.state);
        if state.is_in_long_line || written.len() > LONGEST_LINE_BYTES {
            state.is_in_long_line = true;
            written.clear();
        }
    }

    pub(crate) fn life(&self) -> LineLife {
        locked(&self.state).life
    }
}

impl fmt::Debug for HookLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookLines").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_passed_on_before_the_end() {
        let lines = HookLines::new(|_| {}).unwrap();
        lines.push(b"last\n".to_vec());
        lines.shorten(LineLife::Closing);
        lines.push(b"too late\n".to_vec());
        let mut line = Vec::new();
        assert!(!lines.take_next(&mut line));
        assert_eq!(line, b"last\n");
        line.clear();
        assert!(lines.take_next(&mut line) && line.is_empty());
        lines.shorten(LineLife::Open);
        assert_eq!(lines.life(), LineLife::Closing);
        assert!(!lines.pause(Duration::MAX));
    }
}
