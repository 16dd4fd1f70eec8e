//! `serve --stdio`: hookrun's JSON-RPC methods. `POST /decide` takes the same parameters over HTTP.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::engine::lock::locked;
use crate::engine::session::{Message, Session};
use crate::engine::session_hooks::{SESSION_IS_OVER, SessionSink};
use crate::engine::ui::{Asker, DialogAnswer, Request, Ui};

use crate::cli::input::DecideParams;
use crate::cli::serve::lines::{self, LineDoor, LineProtocol, RpcError, RpcMessage, RpcPeer};
use crate::cli::serve::question::{ClientAnswer, check_host};

const METHODS: &[&str] = &["hookrun/hello", "hookrun/decide", "hookrun/cancel"];

const DIALOGS: &[&str] = &["select", "confirm", "input", "editor", "notify", "status"];

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HelloParams {
    cwd: Option<PathBuf>,
    host: Option<String>,
    #[serde(default)]
    dialogs: Vec<String>,
    #[serde(default)]
    messages: bool,
    /// The client's identification, for the log.
    client: Option<Value>,
}

/// The output and exit status of `hookrun run`.
pub(crate) fn reply_json(answer: &ClientAnswer) -> Value {
    let reply = &answer.reply;
    json!({ "status": reply.status, "stdout": reply.stdout, "stderr": reply.stderr })
}

#[derive(Debug, Deserialize)]
struct CancelParams<'l> {
    #[serde(borrow)]
    id: &'l RawValue,
}

#[derive(Debug, Default)]
pub(crate) struct StdioProtocol {
    /// What the client has said, with defaults for its questions.
    hello: Mutex<HelloParams>,
}

impl LineProtocol for StdioProtocol {
    fn take(
        &self,
        door: &LineDoor,
        method: &str,
        message: &RpcMessage<'_>,
    ) -> Result<(), RpcError> {
        match method {
            "hookrun/hello" => self.greet(door, message)?,
            "hookrun/decide" => self.ask(door, message)?,
            "hookrun/cancel" => door.cancel(lines::params::<CancelParams<'_>>(message.params)?.id),
            unknown => return Err(RpcError::unknown(unknown)),
        }
        Ok(())
    }
}

impl StdioProtocol {
    fn greet(&self, door: &LineDoor, message: &RpcMessage<'_>) -> Result<(), RpcError> {
        let hello: HelloParams = lines::params(message.params)?;
        let dialogs = hello.dialogs.clone();
        let is_known = |dialog: &&String| DIALOGS.contains(&dialog.as_str());
        if let Some(dialog) = dialogs.iter().find(|dialog| !is_known(dialog)) {
            let known = DIALOGS.join(", ");
            let problem = format!("unknown dialog `{dialog}`; the dialogs are {known}");
            return Err(RpcError::invalid(problem));
        }
        if let Some(host) = &hello.host {
            check_host(host).map_err(RpcError::invalid)?;
        }
        tracing::info!(client = ?hello.client, "a client says hello");
        let shows_messages = hello.messages;
        *locked(&self.hello) = hello;
        let shows = !dialogs.is_empty();
        let peer = Arc::clone(&door.peer);
        let client = Arc::new(RpcClient { peer, dialogs });
        let ui = shows.then(|| Arc::clone(&client) as Arc<dyn Ui>);
        let session = shows_messages.then(|| Arc::clone(&client) as Arc<dyn Session>);
        door.decider.introduce(ui, session, client);
        let hello = json!({ "version": env!("CARGO_PKG_VERSION"), "methods": METHODS });
        door.peer.answer(message.id, Ok(hello));
        Ok(())
    }

    fn ask(&self, door: &LineDoor, message: &RpcMessage<'_>) -> Result<(), RpcError> {
        let mut params: DecideParams<'_> = lines::params(message.params)?;
        let hello = locked(&self.hello).clone();
        params.host = params.host.or(hello.host);
        params.cwd = params.cwd.or(hello.cwd);
        let question = params.question().map_err(RpcError::invalid)?;
        door.decide(question, message.id, reply_json);
        Ok(())
    }
}

/// Shows hooks' dialogs in the client, and forwards their messages.
pub(crate) struct RpcClient {
    peer: Arc<RpcPeer>,
    dialogs: Vec<String>,
}

impl RpcClient {
    fn ask(&self, asker: &Asker<'_>, kind: &str, more: Value) -> Option<Value> {
        if !self.shows(kind) {
            return None;
        }
        let params = placed(asker, [json!({ "kind": kind }), more]);
        let answer = self.peer.ask("hookrun/dialog", &params, asker, |id| {
            placed(asker, [json!({ "id": id })])
        })?;
        answer.get("value").cloned()
    }

    fn shows(&self, kind: &str) -> bool {
        self.dialogs.iter().any(|dialog| dialog == kind)
    }

    fn ask_text(&self, asker: &Asker<'_>, kind: &str, more: Value) -> Option<String> {
        self.ask(asker, kind, more)?.as_str().map(str::to_string)
    }
}

/// Parameters from a hook, with its name, its session and the client's request id.
fn placed<const N: usize>(asker: &Asker<'_>, parts: [Value; N]) -> Value {
    let mut all = Map::new();
    all.insert("session".to_string(), asker.session.into());
    if let Some(request) = asker.request {
        all.insert("request".to_string(), request_id(request));
    }
    all.insert("hook".to_string(), asker.hook.into());
    for part in parts {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    Value::Object(all)
}

fn request_id(request: &str) -> Value {
    serde_json::from_str(request).unwrap_or(Value::Null)
}

impl Ui for RpcClient {
    fn show(&self, asker: &Asker<'_>, request: &Request) -> DialogAnswer {
        let Ok(Value::Object(named)) = serde_json::to_value(request) else {
            return DialogAnswer::Nobody;
        };
        let Some((kind, fields)) = named.into_iter().next() else {
            return DialogAnswer::Nobody;
        };
        match request {
            Request::Notify { .. } | Request::Status { .. } => {
                if self.shows(&kind) {
                    let method = format!("hookrun/{kind}");
                    self.peer.notify(&method, &placed(asker, [fields]));
                }
                DialogAnswer::Done
            }
            Request::Confirm { .. } => {
                let answer = self.ask(asker, &kind, fields);
                DialogAnswer::Yes(answer == Some(Value::Bool(true)))
            }
            Request::Select { options, .. } => {
                let chosen = self.ask_text(asker, &kind, fields);
                DialogAnswer::from(chosen.filter(|chosen| options.contains(chosen)))
            }
            Request::Input { .. } | Request::Editor { .. } => {
                DialogAnswer::from(self.ask_text(asker, &kind, fields))
            }
            Request::Send(_) => DialogAnswer::Nobody,
        }
    }
}

impl Session for RpcClient {
    fn send(&self, id: &str, message: &Message) -> Result<(), String> {
        let Ok(Value::Object(mut params)) = serde_json::to_value(message) else {
            return Err("the message cannot be written as JSON".to_string());
        };
        params.insert("session".to_string(), id.into());
        if let Some(request) = &message.request {
            params.insert("request".to_string(), request_id(request));
        }
        self.peer.notify("hookrun/message", &Value::Object(params));
        Ok(())
    }
}

impl SessionSink for RpcClient {
    fn context(&self, session: &str, hook: &str, text: &str) {
        let params = json!({ "session": session, "hook": hook, "text": text });
        self.peer.notify("hookrun/context", &params);
    }

    fn status(&self, session: &str, hook: &str, key: &str, text: Option<&str>) {
        if self.shows("status") {
            let shown = json!({ "session": session, "hook": hook, "key": key, "text": text });
            self.peer.notify("hookrun/status", &shown);
        }
    }

    fn ended(&self, session: &str, hook: &str, how: &str, restarts_in: Option<Duration>) {
        tracing::info!(
            session,
            hook,
            how,
            ?restarts_in,
            "a hook of a session has ended"
        );
        if self.shows("notify") && how != SESSION_IS_OVER {
            let again = restarts_in.map(|pause| format!("; it starts again in {pause:.0?}"));
            let message = format!("{hook} is not running: {how}{}", again.unwrap_or_default());
            let shown = json!({
                "session": session, "hook": hook, "message": message, "kind": "warning",
            });
            self.peer.notify("hookrun/notify", &shown);
        }
    }
}
