//! A client that asks by lines of JSON-RPC on stdin: what its protocols have in common.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::engine::exec::Abort;
use crate::engine::lock::locked;

use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::question::{ClientAnswer, ClientQuestion};
use crate::cli::serve::rpc::{self, Line, LineReader, RpcError, RpcMessage, RpcPeer};

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
        let open = locked(&self.open);
        let is_meant = |request: &&OpenRequest| {
            request
                .id
                .as_ref()
                .is_some_and(|known| known.get() == id.get())
        };
        let meant = open.requests.values().filter(is_meant);
        meant
            .filter_map(|request| request.cancel.as_ref())
            .for_each(Abort::raise);
    }

    /// Ends all, and waits for that.
    fn end_all(&self) {
        let mut open = locked(&self.open);
        let aborts = open
            .requests
            .values()
            .filter_map(|request| request.cancel.as_ref());
        aborts.for_each(Abort::raise);
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
                    let most = rpc::LONGEST_LINE_BYTES >> 20;
                    let message = format!("a line is longer than {most} MiB, and was left out");
                    self.fail(None, RpcError::new(rpc::INVALID_REQUEST, message));
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
                let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
                let code = if is_json {
                    rpc::INVALID_REQUEST
                } else {
                    rpc::PARSE_ERROR
                };
                let message = match is_json && line.trim_ascii_start().starts_with(b"[") {
                    true => "a batch is not taken: write each message on its own line".to_string(),
                    false => format!("it is no message of JSON-RPC 2.0: {error}"),
                };
                return self.fail(None, RpcError::new(code, message));
            }
        };
        if message.jsonrpc.as_deref() != Some("2.0") {
            let wrong = RpcError::new(rpc::INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
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
        let decide = move || {
            door.tell(of_thread.as_deref(), told(&ready.decide(cancel)));
            drop(slot);
            door.requests.end(number);
        };
        let thread = std::thread::Builder::new().name("hookrun-decide".to_string());
        if let Err(error) = thread.spawn(decide) {
            self.requests.end(number);
            let why = format!("there is no thread to decide in: {error}");
            self.fail(id.as_deref(), RpcError::new(UNAVAILABLE, why));
        }
    }

    fn tell(&self, id: Option<&RawValue>, result: Result<Value, RpcError>) {
        if id.is_some() {
            self.peer.answer(id, result);
        }
    }
}
