//! A client that asks by lines of JSON-RPC 2.0: one object a line, in both directions.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cli::input::wait_readable;
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::question::{ClientAnswer, ClientQuestion};
use crate::cli::streams;
use crate::engine::exec::Abort;
use crate::engine::lock::locked;
use crate::engine::ui::Asker;

/// How long decisions may take to end once the client is gone; hooks have their grace.
const LEAVING: Duration = Duration::from_secs(10);

/// hookrun cannot decide now.
pub(crate) const UNAVAILABLE: i64 = -32003;

/// An event that is being decided.
#[derive(Debug)]
struct OpenRequest {
    /// `None` for a notification.
    id: Option<Box<RawValue>>,
    cancel: Option<Abort>,
}

#[derive(Debug, Default)]
struct OpenTable {
    /// By numbers of our own: clients may use one id for several requests.
    requests: HashMap<u64, OpenRequest>,
    begun: u64,
}

/// The events that are being decided.
#[derive(Debug, Default)]
struct OpenRequests {
    open: Mutex<OpenTable>,
    changed: Condvar,
}

impl OpenRequests {
    /// The number by which it ends.
    fn begin(&self, request: OpenRequest) -> u64 {
        let mut open = locked(&self.open);
        open.begun += 1;
        let number = open.begun;
        open.requests.insert(number, request);
        number
    }

    fn end(&self, number: u64) {
        locked(&self.open).requests.remove(&number);
        self.changed.notify_all();
    }

    /// Ends all decisions of this id.
    fn cancel(&self, id: &RawValue) {
        for request in locked(&self.open).requests.values() {
            if let (Some(known), Some(cancel)) = (&request.id, &request.cancel)
                && known.get() == id.get()
            {
                cancel.raise();
            }
        }
    }

    /// Ends all, and waits for that.
    fn end_all(&self) {
        let mut open = locked(&self.open);
        for request in open.requests.values() {
            if let Some(cancel) = &request.cancel {
                cancel.raise();
            }
        }
        let until = Instant::now() + LEAVING;
        while !open.requests.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            open = self
                .changed
                .wait_timeout(open, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// The client on stdin and stdout.
#[derive(Clone)]
pub(crate) struct LineDoor {
    pub(crate) decider: Arc<DecisionServer>,
    pub(crate) peer: Arc<RpcPeer>,
    requests: Arc<OpenRequests>,
}

/// What a protocol makes of its messages.
pub(crate) trait LineProtocol {
    /// Answers a request, or takes a notification. The door answers an error.
    fn take(&self, door: &LineDoor, method: &str, message: &RpcMessage<'_>)
    -> Result<(), RpcError>;
}

impl LineDoor {
    /// # Errors
    /// When stdout is closed.
    pub(crate) fn open(decider: Arc<DecisionServer>) -> io::Result<LineDoor> {
        // A descriptor of its own: several threads write to it, each a whole line.
        let out = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(LineDoor::of(decider, out))
    }

    /// Answers on `out`.
    pub(crate) fn of(decider: Arc<DecisionServer>, out: OwnedFd) -> LineDoor {
        let peer = Arc::new(RpcPeer::new(out, decider.abort().clone()));
        LineDoor {
            decider,
            peer,
            requests: Arc::default(),
        }
    }

    /// Serves until stdin ends or a signal stops hookrun; then ends everything that still runs.
    pub(crate) fn serve(&self, protocol: &impl LineProtocol) {
        let stdin = io::stdin();
        let mut lines = LineReader::new(stdin.as_fd());
        loop {
            match lines.next(self.decider.abort().as_fd()) {
                Line::Text(line) => self.take(protocol, &line),
                Line::TooLong => {
                    let most = LONGEST_LINE_BYTES >> 20;
                    let message = format!("a line is longer than {most} MiB, and was ignored");
                    self.fail(None, RpcError::new(INVALID_REQUEST, message));
                }
                Line::End => break,
            }
        }
        self.peer.close();
        self.requests.end_all();
        self.decider.end_sessions();
    }

    fn take(&self, protocol: &impl LineProtocol, line: &[u8]) {
        let message: RpcMessage<'_> = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                let is_json = serde_json::from_slice::<IgnoredAny>(line).is_ok();
                let code = if is_json {
                    INVALID_REQUEST
                } else {
                    PARSE_ERROR
                };
                let message = format!("it is not a JSON-RPC 2.0 message: {error}");
                return self.fail(None, RpcError::new(code, message));
            }
        };
        if message.jsonrpc.as_deref() != Some("2.0") {
            let wrong = RpcError::new(INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
            // The id of an answer is one of ours; the client may wait for the same one of its.
            return self.fail(message.id.filter(|_| message.method.is_some()), wrong);
        }
        let Some(method) = &message.method else {
            return self.peer.take_answer(&message);
        };
        if let (Err(error), Some(_)) = (protocol.take(self, method, &message), message.id) {
            self.fail(message.id, error);
        }
    }

    fn fail(&self, id: Option<&RawValue>, error: RpcError) {
        self.peer.answer(id, Err::<Value, _>(error));
    }

    /// Ends the decision of this request.
    pub(crate) fn cancel(&self, id: &RawValue) {
        self.requests.cancel(id);
    }

    /// Decides, in a thread of its own if anything may have to wait, and answers the request `id` in
    /// the words of `told`. Without an `id` nobody is told.
    pub(crate) fn decide(
        &self,
        question: ClientQuestion,
        id: Option<&RawValue>,
        told: impl Fn(&ClientAnswer) -> Result<Value, RpcError> + Send + 'static,
    ) {
        let id = id.map(ToOwned::to_owned);
        let Some(slot) = self.decider.slot() else {
            let why = self.decider.overload();
            return self.fail(id.as_deref(), RpcError::new(UNAVAILABLE, why));
        };
        let ready = match self.decider.prepare(question) {
            Ok(ready) if !ready.is_idle() => ready,
            Ok(ready) => return self.tell(id.as_deref(), told(&ready.decide(None))),
            Err(answer) => return self.tell(id.as_deref(), told(&answer)),
        };
        let cancel = Abort::new().ok();
        let number = self.requests.begin(OpenRequest {
            id: id.clone(),
            cancel: cancel.clone(),
        });
        let door = self.clone();
        let of_thread = id.clone();
        let ready = ready.of_request(id.as_ref().map(|id| id.get().to_string()));
        let thread = std::thread::Builder::new().name("hookrun-decide".to_string());
        let started = thread.spawn(move || {
            door.tell(of_thread.as_deref(), told(&ready.decide(cancel)));
            drop(slot);
            door.requests.end(number);
        });
        if let Err(error) = started {
            self.requests.end(number);
            let why = format!("cannot start a thread: {error}");
            self.fail(id.as_deref(), RpcError::new(UNAVAILABLE, why));
        }
    }

    fn tell(&self, id: Option<&RawValue>, result: Result<Value, RpcError>) {
        if id.is_some() {
            self.peer.answer(id, result);
        }
    }
}

/// The longest line: an event of `run` may be longer, but comes alone.
pub(crate) const LONGEST_LINE_BYTES: usize = 64 * 1024 * 1024;

const READ_BYTES: usize = 64 * 1024;

/// How long a client has to read what is left to say.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Longer than any server runs.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// How often somebody who waits for an answer looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Numbers of errors, by JSON-RPC 2.0.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

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

    /// The parameters are wrong.
    pub(crate) fn invalid(problem: String) -> RpcError {
        RpcError::new(INVALID_PARAMS, problem)
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
    serde_json::from_str(text).map_err(|error| RpcError::invalid(format!("`params`: {error}")))
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
                // The last line may have no end.
                Some(0) if self.is_skipping || !self.bytes.is_empty() => self.bytes.push(b'\n'),
                Some(0) | None => return Line::End,
                Some(_) => {}
            }
        }
    }

    /// How many bytes came, 0 at the end; `None` if a signal stops hookrun or nothing can be read.
    fn read(&mut self, abort: BorrowedFd<'_>) -> Option<usize> {
        loop {
            if wait_readable(&[abort, self.from.as_fd()], None).ok()? == Some(0) {
                return None;
            }
            self.bytes.reserve(READ_BYTES);
            let room = rustix::buffer::spare_capacity(&mut self.bytes);
            match rustix::io::read(&self.from, room) {
                Ok(count) => return Some(count),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return None,
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
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let stopped_at = Cell::new(None);
        streams::write_until(&self.to, bytes, Instant::now() + FOREVER, &|| {
            if self.abort.times_raised() == 0 {
                return false;
            }
            let since = stopped_at.get().unwrap_or_else(Instant::now);
            stopped_at.set(Some(since));
            since.elapsed() > LAST_WORDS
        })
    }
}

/// The program at the other end.
pub(crate) struct RpcPeer {
    out: Mutex<LineWriter>,
    next: AtomicU64,
    /// Pending requests of ours, by id.
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

    /// Handles a response; drops it if nobody is waiting.
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
