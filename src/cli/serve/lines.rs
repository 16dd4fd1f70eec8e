//! A client over JSON-RPC 2.0, one object a line in both directions.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cli::input::WatchedInput;
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::question::{ClientAnswer, ClientQuestion};
use crate::cli::streams;
use crate::engine::exec::Abort;
use crate::engine::lock::locked;
use crate::engine::ui::Asker;
use crate::log::files::{Line, read_line};

/// The time for decisions to end once the client is gone; hooks have their grace.
const LEAVING: Duration = Duration::from_secs(10);

/// The error code if hookrun cannot decide now.
pub(crate) const UNAVAILABLE: i64 = -32003;

/// A request while its thread holds it.
#[derive(Debug)]
struct OpenRequest {
    /// `None` for a notification. Clients may reuse an id.
    id: Option<Box<RawValue>>,
    cancel: Option<Abort>,
}

#[derive(Clone)]
pub(crate) struct LineDoor {
    pub(crate) decider: Arc<DecisionServer>,
    pub(crate) peer: Arc<RpcPeer>,
    requests: Arc<Mutex<Vec<Weak<OpenRequest>>>>,
}

pub(crate) trait LineProtocol {
    /// Handles a request or a notification. The caller answers an error.
    fn take(&self, door: &LineDoor, method: &str, message: &RpcMessage<'_>)
    -> Result<(), RpcError>;
}

impl LineDoor {
    pub(crate) fn open(decider: Arc<DecisionServer>) -> io::Result<LineDoor> {
        // A separate descriptor, because several threads write whole lines.
        let out = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(LineDoor::of(decider, out))
    }

    pub(crate) fn of(decider: Arc<DecisionServer>, out: OwnedFd) -> LineDoor {
        let peer = Arc::new(RpcPeer::new(out, decider.abort.clone()));
        LineDoor {
            decider,
            peer,
            requests: Arc::default(),
        }
    }

    /// Serves until stdin ends or a signal arrives, then cancels what still runs.
    pub(crate) fn serve(&self, protocol: &impl LineProtocol) {
        let stdin = WatchedInput {
            from: io::stdin(),
            abort: self.decider.abort.clone(),
        };
        let mut lines = BufReader::with_capacity(READ_BYTES, stdin);
        let mut line = Vec::new();
        while let Ok(found) = read_line(&mut lines, LONGEST_LINE_BYTES, &mut line) {
            match found {
                Line::Text if line.iter().all(u8::is_ascii_whitespace) => {}
                Line::Text => self.take(protocol, &line),
                Line::TooLong => {
                    let most = LONGEST_LINE_BYTES >> 20;
                    let message = format!("a line is longer than {most} MiB, and was ignored");
                    self.fail(None, RpcError::new(INVALID_REQUEST, message));
                }
                Line::End => break,
            }
        }
        self.peer.close();
        self.cancel_each(|_| true);
        let until = Instant::now() + LEAVING;
        while self.decider.deciding() > 0 && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
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
                let message = format!("the line is not a JSON-RPC 2.0 message: {error}");
                return self.fail(None, RpcError::new(code, message));
            }
        };
        if message.jsonrpc.as_deref() != Some("2.0") {
            let wrong = RpcError::new(INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
            // A response's id is ours, and the client may have a pending request with the same id.
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
        self.peer.answer(id, Err(error));
    }

    pub(crate) fn cancel(&self, id: &RawValue) {
        self.cancel_each(|request| {
            let known = request.id.as_ref();
            known.is_some_and(|known| known.get() == id.get())
        });
    }

    /// Cancels the decisions that `is_meant` selects.
    fn cancel_each(&self, is_meant: impl Fn(&OpenRequest) -> bool) {
        let open = locked(&self.requests);
        for request in open.iter().filter_map(Weak::upgrade) {
            if let Some(cancel) = request.cancel.as_ref().filter(|_| is_meant(&request)) {
                cancel.raise();
            }
        }
    }

    /// Decides, on a separate thread if it may have to wait, and encodes the answer with `encode`.
    pub(crate) fn decide(
        &self,
        question: ClientQuestion,
        id: Option<&RawValue>,
        encode: fn(&ClientAnswer) -> Value,
    ) {
        let id = id.map(ToOwned::to_owned);
        let Some(slot) = self.decider.slot() else {
            let why = self.decider.overload();
            return self.fail(id.as_deref(), RpcError::new(UNAVAILABLE, why));
        };
        let mut ready = match self.decider.prepare(question) {
            Ok(ready) if !ready.is_idle() => ready,
            Ok(ready) => return self.send_result(id.as_deref(), encode(&ready.decide(None))),
            Err(answer) => return self.send_result(id.as_deref(), encode(&answer)),
        };
        let cancel = Abort::new().ok();
        let request = Arc::new(OpenRequest {
            id: id.clone(),
            cancel: cancel.clone(),
        });
        let mut open = locked(&self.requests);
        open.retain(|request| request.strong_count() > 0);
        open.push(Arc::downgrade(&request));
        drop(open);
        let door = self.clone();
        ready.request = id.as_ref().map(|id| id.get().to_string());
        let thread = std::thread::Builder::new().name("hookrun-decide".to_string());
        let started = thread.spawn(move || {
            door.send_result(request.id.as_deref(), encode(&ready.decide(cancel)));
            drop(slot);
        });
        if let Err(error) = started {
            let why = format!("cannot start a thread: {error}");
            self.fail(id.as_deref(), RpcError::new(UNAVAILABLE, why));
        }
    }

    fn send_result(&self, id: Option<&RawValue>, result: Value) {
        if id.is_some() {
            self.peer.answer(id, Ok(result));
        }
    }
}

/// The longest line. `run` takes longer events, because it decides only one.
pub(crate) const LONGEST_LINE_BYTES: usize = 64 * 1024 * 1024;

const READ_BYTES: usize = 64 * 1024;

/// The time for a client to read the rest after a signal.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Longer than any server runs.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// How often a pending request checks whether its answer is still needed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// A request, a notification (without `id`) or a response (without `method`).
#[derive(Debug, Deserialize)]
pub(crate) struct RpcMessage<'l> {
    pub(crate) jsonrpc: Option<String>,
    /// `null` is an id too; only a message without one is a notification.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) id: Option<&'l RawValue>,
    pub(crate) method: Option<String>,
    #[serde(borrow)]
    pub(crate) params: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'l RawValue>,
    pub(crate) error: Option<IgnoredAny>,
}

fn present<'l, D: Deserializer<'l>>(from: D) -> Result<Option<&'l RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

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

    pub(crate) fn invalid(problem: String) -> RpcError {
        RpcError::new(INVALID_PARAMS, problem)
    }

    pub(crate) fn unknown(method: &str) -> RpcError {
        RpcError::new(UNKNOWN_METHOD, format!("unknown method `{method}`"))
    }
}

pub(crate) fn params<'l, P: Deserialize<'l>>(params: Option<&'l RawValue>) -> Result<P, RpcError> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| RpcError::invalid(format!("`params`: {error}")))
}

/// The client, for writing and for pending requests.
pub(crate) struct RpcPeer {
    out: Mutex<OwnedFd>,
    abort: Abort,
    next: AtomicU64,
    /// Pending requests of ours, by id.
    waiting: Mutex<HashMap<u64, Sender<Option<Value>>>>,
}

impl RpcPeer {
    /// `abort` limits waiting for a client that does not read.
    pub(crate) fn new(to: OwnedFd, abort: Abort) -> RpcPeer {
        RpcPeer {
            out: Mutex::new(to),
            abort,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
        }
    }

    /// Writes one line, after a signal for at most [`LAST_WORDS`].
    fn write(&self, message: &impl Serialize) {
        let mut line = serde_json::to_vec(message).unwrap_or_default();
        line.push(b'\n');
        let stopped_at = Cell::new(None);
        let forever = Instant::now() + FOREVER;
        let written = streams::write_until(&*locked(&self.out), &line, forever, &|| {
            if self.abort.times_raised() == 0 {
                return false;
            }
            let since = stopped_at.get().unwrap_or_else(Instant::now);
            stopped_at.set(Some(since));
            since.elapsed() > LAST_WORDS
        });
        if let Err(error) = written {
            tracing::debug!(%error, "the client does not read");
        }
    }

    /// Answers the request `id`; `null` for an unreadable one.
    pub(crate) fn answer(&self, id: Option<&RawValue>, answer: Result<Value, RpcError>) {
        #[derive(Serialize)]
        struct RpcAnswer<'a> {
            jsonrpc: &'static str,
            id: Option<&'a RawValue>,
            #[serde(skip_serializing_if = "Option::is_none")]
            result: Option<&'a Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a RpcError>,
        }
        self.write(&RpcAnswer {
            jsonrpc: "2.0",
            id,
            result: answer.as_ref().ok(),
            error: answer.as_ref().err(),
        });
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and waits as long as the hook behind it does. Returns `None` without an
    /// answer in time; then a late one is dropped, and the client gets `hookrun/withdraw` with the
    /// parameters that `withdrawn` builds from the request's id.
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
        // A response with an error has no result.
        let result = message.result.filter(|_| message.error.is_none());
        let result = result.and_then(|result| serde_json::from_str(result.get()).ok());
        let _ = sender.send(result);
    }

    pub(crate) fn close(&self) {
        locked(&self.waiting).clear();
    }
}
