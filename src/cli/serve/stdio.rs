//! `serve --stdio`: the program that started it asks by JSON-RPC, one object a line.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::engine::exec::Abort;
use crate::engine::lock::locked;
use crate::engine::session::Session;
use crate::engine::ui::Ui;

use crate::cli::serve::client::RpcClient;
use crate::cli::serve::decider::{Decider, MOST_AT_ONCE};
use crate::cli::serve::question::{ClientAnswer, ClientPlace, ClientQuestion};
use crate::cli::serve::rpc::{self, Line, LineReader, RpcError, RpcMessage, RpcPeer};

/// How long decisions may take to end once the client is gone; hooks have their grace.
const LEAVING: Duration = Duration::from_secs(10);

/// What the client can call, besides the methods of [`ahp`](super::ahp).
const METHODS: &[&str] = &["hookrun/hello", "hookrun/decide", "hookrun/cancel"];

/// The dialogs that a client may show.
const DIALOGS: &[&str] = &["select", "confirm", "input", "editor", "notify", "status"];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HelloParams {
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    dialogs: Vec<String>,
    #[serde(default)]
    messages: bool,
    /// Who it is: for the log.
    #[serde(default)]
    client: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DecideParams<'l> {
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    event: Option<String>,
    #[serde(borrow)]
    context: &'l RawValue,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    budget_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct CancelParams<'l> {
    #[serde(borrow)]
    id: &'l RawValue,
}

/// What the client has said of itself.
#[derive(Debug, Default, Clone)]
struct ClientDefaults {
    host: Option<String>,
    cwd: Option<PathBuf>,
}

/// The events that are being decided, by the ids of their requests.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    open: Mutex<HashMap<String, Option<Abort>>>,
    changed: Condvar,
}

impl OpenRequests {
    fn begin(&self, id: &str, cancel: Option<Abort>) {
        locked(&self.open).insert(id.to_string(), cancel);
    }

    fn end(&self, id: &str) {
        locked(&self.open).remove(id);
        self.changed.notify_all();
    }

    fn cancel(&self, id: &str) {
        if let Some(Some(cancel)) = locked(&self.open).get(id) {
            cancel.raise();
        }
    }

    /// Ends all, and waits for that.
    fn end_all(&self) {
        let mut open = locked(&self.open);
        open.values().flatten().for_each(Abort::raise);
        let until = Instant::now() + LEAVING;
        while !open.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            open = self.changed.wait_timeout(open, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The door of one client on stdin and stdout.
#[derive(Clone)]
pub(crate) struct StdioDoor {
    decider: Arc<Decider>,
    peer: Arc<RpcPeer>,
    requests: Arc<OpenRequests>,
    defaults: Arc<Mutex<ClientDefaults>>,
}

impl StdioDoor {
    /// # Errors
    /// When stdout is closed.
    pub(crate) fn open(decider: Arc<Decider>) -> io::Result<StdioDoor> {
        // A descriptor of its own: several threads write to it, each a whole line.
        let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let peer = Arc::new(RpcPeer::new(Box::new(out)));
        let (requests, defaults) = Default::default();
        Ok(StdioDoor { decider, peer, requests, defaults })
    }

    /// Serves until stdin ends or hookrun is told to stop; then everything that runs is ended.
    pub(crate) fn serve(&self) {
        let stdin = io::stdin();
        let mut lines = LineReader::new(stdin.as_fd());
        loop {
            match lines.next(self.decider.abort().as_fd()) {
                Line::Text(line) => self.take(&line),
                Line::TooLong => {
                    let most = rpc::LONGEST_LINE_BYTES >> 20;
                    let message = format!("a line is longer than {most} MiB, and was left out");
                    self.peer.answer(None, refused_line(rpc::INVALID_REQUEST, message));
                }
                Line::End => break,
            }
        }
        self.peer.close();
        self.requests.end_all();
    }

    fn take(&self, line: &[u8]) {
        let message: RpcMessage<'_> = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
                let code = if is_json { rpc::INVALID_REQUEST } else { rpc::PARSE_ERROR };
                let message = format!("it is no message of JSON-RPC 2.0: {error}");
                return self.peer.answer(None, refused_line(code, message));
            }
        };
        if message.jsonrpc.as_deref() != Some("2.0") {
            let wrong = RpcError::new(rpc::INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
            return self.peer.answer(message.id, Err::<Value, _>(wrong));
        }
        let Some(method) = &message.method else { return self.peer.take_answer(&message) };
        let asked = match method.as_str() {
            "hookrun/hello" => self.greet(&message),
            "hookrun/decide" => self.ask(&message),
            "hookrun/cancel" => {
                if let Ok(CancelParams { id }) = rpc::params(message.params) {
                    self.requests.cancel(id.get());
                }
                return;
            }
            unknown => Err(RpcError::unknown(unknown)),
        };
        if let (Err(error), Some(_)) = (asked, message.id) {
            self.peer.answer(message.id, Err::<Value, _>(error));
        }
    }

    fn greet(&self, message: &RpcMessage<'_>) -> Result<(), RpcError> {
        let HelloParams { cwd, host, dialogs, messages, client } = rpc::params(message.params)?;
        if let Some(dialog) = dialogs.iter().find(|dialog| !DIALOGS.contains(&dialog.as_str())) {
            let known = DIALOGS.join(", ");
            let wrong = format!("there is no dialog `{dialog}`; there are {known}");
            return Err(RpcError::new(rpc::INVALID_PARAMS, wrong));
        }
        tracing::info!(client = ?client, "a client says hello");
        *locked(&self.defaults) = ClientDefaults { host, cwd };
        let shows = !dialogs.is_empty();
        let client = Arc::new(RpcClient::new(Arc::clone(&self.peer), dialogs));
        let ui = shows.then(|| Arc::clone(&client) as Arc<dyn Ui>);
        self.decider.introduce(ui, messages.then_some(client as Arc<dyn Session>));
        let told = json!({ "version": env!("CARGO_PKG_VERSION"), "methods": METHODS });
        self.peer.answer(message.id, Ok(told));
        Ok(())
    }

    fn ask(&self, message: &RpcMessage<'_>) -> Result<(), RpcError> {
        let params: DecideParams<'_> = rpc::params(message.params)?;
        let wrong = |error: Complaint| RpcError::new(rpc::INVALID_PARAMS, error.to_string());
        let context = Context::parse(params.context.get()).map_err(Complaint::of).map_err(wrong)?;
        let defaults = locked(&self.defaults).clone();
        let place = match params.cwd.or(defaults.cwd) {
            Some(folder) => ClientPlace::Folder(folder),
            None => ClientPlace::OfServer,
        };
        let question = ClientQuestion {
            host: params.host.or(defaults.host),
            event: params.event,
            context,
            place,
            budget: params.budget_ms.map(Duration::from_millis),
        };
        self.decide(question, message.id, |answer| {
            let reply = &answer.reply;
            json!({ "status": reply.status, "stdout": reply.stdout, "stderr": reply.stderr })
        });
        Ok(())
    }

    /// Decides, in a thread of its own if anything may have to wait, and answers the request `id` in
    /// the words of `told`. Without an `id` nobody is told.
    pub(crate) fn decide(
        &self,
        question: ClientQuestion,
        id: Option<&RawValue>,
        told: impl Fn(&ClientAnswer) -> Value + Send + 'static,
    ) {
        let id = id.map(ToOwned::to_owned);
        let Some(slot) = self.decider.slot() else {
            let why = format!("{MOST_AT_ONCE} events are being decided; ask again later");
            return self.peer.answer(id.as_deref(), Err::<Value, _>(overloaded(why)));
        };
        let ready = match self.decider.prepare(question) {
            Ok(ready) if !ready.is_idle() => ready,
            Ok(ready) => return self.tell(id.as_deref(), &told(&ready.decide(None))),
            Err(answer) => return self.tell(id.as_deref(), &told(&answer)),
        };
        let key = id.as_ref().map(|id| id.get().to_string()).unwrap_or_default();
        let cancel = Abort::new().ok();
        self.requests.begin(&key, cancel.clone());
        let door = self.clone();
        let (of_thread, own) = (id.clone(), key.clone());
        let decide = move || {
            door.tell(of_thread.as_deref(), &told(&ready.decide(cancel)));
            drop(slot);
            door.requests.end(&own);
        };
        let thread = std::thread::Builder::new().name("hookrun-decide".to_string());
        if let Err(error) = thread.spawn(decide) {
            self.requests.end(&key);
            let why = format!("there is no thread to decide in: {error}");
            self.peer.answer(id.as_deref(), Err::<Value, _>(overloaded(why)));
        }
    }

    fn tell(&self, id: Option<&RawValue>, result: &Value) {
        if id.is_some() {
            self.peer.answer(id, Ok(result));
        }
    }
}

fn refused_line(code: i64, message: String) -> Result<Value, RpcError> {
    Err(RpcError::new(code, message))
}

/// By the Agent Hooks Protocol: the backend cannot decide now.
fn overloaded(why: String) -> RpcError {
    RpcError::new(-32003, why)
}
