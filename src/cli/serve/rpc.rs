//! JSON-RPC 2.0 over lines: one object a line, in both directions.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::exec::Abort;
use crate::engine::lock::locked;
use crate::engine::ui::Asker;

/// The longest line: an event of `run` may be longer, but comes alone.
pub(crate) const LONGEST_LINE_BYTES: usize = 64 * 1024 * 1024;

const READ_BYTES: usize = 64 * 1024;

/// POSIX: what a pipe takes without waiting if it is ready.
const PIECE_BYTES: usize = 512;

/// How long a client has to read what is left to say.
const LAST_WORDS: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// How often somebody who waits for an answer looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Numbers of errors, by JSON-RPC 2.0.
pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const UNKNOWN_METHOD: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// A request, a notification (without `id`) or a response (without `method`).
#[derive(Debug, Deserialize)]
pub(crate) struct RpcMessage<'l> {
    pub(crate) jsonrpc: Option<String>,
    /// `null` is an id too: only a message without any is a notification.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) id: Option<&'l RawValue>,
    pub(crate) method: Option<String>,
    #[serde(borrow)]
    pub(crate) params: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'l RawValue>,
    #[serde(default)]
    pub(crate) error: Option<IgnoredAny>,
}

fn present<'l, D: Deserializer<'l>>(from: D) -> Result<Option<&'l RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Why a request gets no result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError {
            code,
            message: message.into(),
        }
    }

    pub(crate) fn unknown(method: &str) -> RpcError {
        RpcError::new(UNKNOWN_METHOD, format!("there is no method `{method}`"))
    }
}

/// The parameters of a method.
///
/// # Errors
/// When they are not what it takes.
pub(crate) fn params<'l, P: Deserialize<'l>>(params: Option<&'l RawValue>) -> Result<P, RpcError> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text)
        .map_err(|error| RpcError::new(INVALID_PARAMS, format!("`params`: {error}")))
}

/// What comes in.
#[derive(Debug)]
pub(crate) enum Line {
    Text(Vec<u8>),
    /// It was longer than [`LONGEST_LINE_BYTES`], and is left out.
    TooLong,
    /// The other end is closed, or a signal stops hookrun.
    End,
}

/// What one read gave.
#[derive(Debug)]
enum Read {
    Some,
    Closed,
    /// A signal stops hookrun.
    Stopped,
}

/// Reads lines until the other end is closed or `abort` is raised.
#[derive(Debug)]
pub(crate) struct LineReader<F> {
    from: F,
    bytes: Vec<u8>,
    /// How many of them have no line end.
    searched: usize,
    is_skipping: bool,
}

impl<F: AsFd> LineReader<F> {
    pub(crate) fn new(from: F) -> LineReader<F> {
        LineReader {
            from,
            bytes: Vec::new(),
            searched: 0,
            is_skipping: false,
        }
    }

    pub(crate) fn next(&mut self, abort: BorrowedFd<'_>) -> Line {
        loop {
            let end = self.bytes[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            if let Some(end) = end {
                let rest = self.bytes.split_off(self.searched + end + 1);
                let mut line = std::mem::replace(&mut self.bytes, rest);
                self.searched = 0;
                line.pop();
                if std::mem::take(&mut self.is_skipping) {
                    return Line::TooLong;
                }
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return Line::Text(line);
            }
            if self.is_skipping || self.bytes.len() > LONGEST_LINE_BYTES {
                self.is_skipping = true;
                self.bytes = Vec::new();
            }
            self.searched = self.bytes.len();
            match self.read(abort) {
                Ok(Read::Some) => {}
                // The last line may have no end.
                Ok(Read::Closed) if self.is_skipping || !self.bytes.is_empty() => {
                    self.bytes.push(b'\n');
                }
                Ok(Read::Closed | Read::Stopped) | Err(_) => return Line::End,
            }
        }
    }

    fn read(&mut self, abort: BorrowedFd<'_>) -> rustix::io::Result<Read> {
        loop {
            let mut fds =
                [self.from.as_fd(), abort].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            match rustix::event::poll(&mut fds, None) {
                Ok(_) if !fds[1].revents().is_empty() => return Ok(Read::Stopped),
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            }
            self.bytes.reserve(READ_BYTES);
            let read =
                rustix::io::read(&self.from, rustix::buffer::spare_capacity(&mut self.bytes));
            match read {
                Ok(0) => return Ok(Read::Closed),
                Ok(_) => return Ok(Read::Some),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Writes lines to a program that may not read them.
#[derive(Debug)]
pub(crate) struct LineWriter {
    to: OwnedFd,
    abort: Abort,
}

impl LineWriter {
    /// Writes all of it. After a signal it waits no longer than [`LAST_WORDS`].
    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut fds = [
                PollFd::new(&self.to, PollFlags::OUT),
                PollFd::from_borrowed_fd(self.abort.as_fd(), PollFlags::IN),
            ];
            match rustix::event::poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_stopped = !fds[1].revents().is_empty();
            if fds[0].revents().is_empty() {
                let mut out = [PollFd::new(&self.to, PollFlags::OUT)];
                if is_stopped && rustix::event::poll(&mut out, Some(&LAST_WORDS)) == Ok(0) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                continue;
            }
            // So much a pipe takes at once if it takes anything.
            let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
            match rustix::io::write(&self.to, piece) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The program at the other end.
pub(crate) struct RpcPeer {
    out: Mutex<LineWriter>,
    next: AtomicU64,
    /// Those who wait for an answer of its, by the number of the question.
    waiting: Mutex<HashMap<u64, Sender<Option<Value>>>>,
}

impl RpcPeer {
    /// `abort` ends waiting for a client that does not read.
    pub(crate) fn new(to: OwnedFd, abort: Abort) -> RpcPeer {
        let out = Mutex::new(LineWriter { to, abort });
        RpcPeer {
            out,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
        }
    }

    /// Writes one line. That nobody reads any more is noticed where lines are read.
    fn write(&self, message: &impl Serialize) {
        let mut line = serde_json::to_vec(message).unwrap_or_default();
        line.push(b'\n');
        if let Err(error) = locked(&self.out).write(&line) {
            tracing::debug!(%error, "the client does not read");
        }
    }

    /// Answers the request `id`, which is `null` where it could not be read.
    pub(crate) fn answer(&self, id: Option<&RawValue>, answer: Result<impl Serialize, RpcError>) {
        #[derive(Serialize)]
        struct Answer<'a, R> {
            jsonrpc: &'static str,
            id: Option<&'a RawValue>,
            #[serde(skip_serializing_if = "Option::is_none")]
            result: Option<R>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<RpcError>,
        }
        let (result, error) = match answer {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        self.write(&Answer {
            jsonrpc: "2.0",
            id,
            result,
            error,
        });
    }

    /// Tells it something.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Asks it, and waits as long as the hook behind the question does. `None` if there was no
    /// answer in time; then a late answer is dropped, and the client gets `hookrun/withdraw` with what
    /// `withdrawn` makes of the number of the question.
    pub(crate) fn ask(
        &self,
        method: &str,
        params: &Value,
        asker: &Asker<'_>,
        withdrawn: impl Fn(u64) -> Value,
    ) -> Option<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel();
        locked(&self.waiting).insert(id, sender);
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) if asker.is_over() => {
                    self.notify("hookrun/withdraw", &withdrawn(id));
                    break None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        locked(&self.waiting).remove(&id);
        answer
    }

    /// Takes an answer of its. One that nobody waits for is dropped.
    pub(crate) fn take_answer(&self, message: &RpcMessage<'_>) {
        let id = message.id.and_then(|id| id.get().parse().ok());
        let Some(sender) = id.and_then(|id: u64| locked(&self.waiting).remove(&id)) else {
            return;
        };
        // An answer that is an error too is none.
        let result = message.result.filter(|_| message.error.is_none());
        let result = result.and_then(|result| serde_json::from_str(result.get()).ok());
        let _ = sender.send(result);
    }

    /// Nobody will answer any more.
    pub(crate) fn close(&self) {
        locked(&self.waiting).clear();
    }
}
