//! `serve --stdio`: the methods of JSON-RPC that a client calls. `POST /decide` takes the same question
//! over HTTP.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::engine::lock::locked;
use crate::engine::session::Session;
use crate::engine::ui::Ui;

use crate::cli::serve::client::RpcClient;
use crate::cli::serve::door::{LineDoor, LineProtocol};
use crate::cli::serve::question::{ClientAnswer, ClientPlace, ClientQuestion, check_host};
use crate::cli::serve::rpc::{self, RpcError, RpcMessage};

/// What the client can call.
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
pub(crate) struct DecideParams<'l> {
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

impl DecideParams<'_> {
    /// The question of a client in the folder that it names, or of the server.
    ///
    /// # Errors
    /// When there is no such host, or the context is not one.
    pub(crate) fn question(self) -> Result<ClientQuestion, String> {
        if let Some(host) = &self.host {
            check_host(host)?;
        }
        let context =
            Context::parse(self.context.get()).map_err(|error| Complaint::of(error).to_string())?;
        Ok(ClientQuestion {
            host: self.host,
            event: self.event,
            context,
            place: match self.cwd {
                Some(folder) => ClientPlace::Folder(folder),
                None => ClientPlace::OfServer,
            },
            budget: self.budget_ms.map(Duration::from_millis),
        })
    }
}

/// What `hookrun run` would print, and its exit status.
pub(crate) fn reply_json(answer: &ClientAnswer) -> Value {
    let reply = &answer.reply;
    json!({ "status": reply.status, "stdout": reply.stdout, "stderr": reply.stderr })
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

#[derive(Debug, Default)]
pub(crate) struct StdioProtocol {
    defaults: Mutex<ClientDefaults>,
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
            "hookrun/cancel" => door.cancel(rpc::params::<CancelParams<'_>>(message.params)?.id),
            unknown => return Err(RpcError::unknown(unknown)),
        }
        Ok(())
    }
}

fn invalid(problem: String) -> RpcError {
    RpcError::new(rpc::INVALID_PARAMS, problem)
}

impl StdioProtocol {
    fn greet(&self, door: &LineDoor, message: &RpcMessage<'_>) -> Result<(), RpcError> {
        let HelloParams {
            cwd,
            host,
            dialogs,
            messages,
            client,
        } = rpc::params(message.params)?;
        if let Some(dialog) = dialogs
            .iter()
            .find(|dialog| !DIALOGS.contains(&dialog.as_str()))
        {
            let known = DIALOGS.join(", ");
            let problem = format!("there is no dialog `{dialog}`; there are {known}");
            return Err(invalid(problem));
        }
        if let Some(host) = &host {
            check_host(host).map_err(invalid)?;
        }
        tracing::info!(client = ?client, "a client says hello");
        *locked(&self.defaults) = ClientDefaults { host, cwd };
        let shows = !dialogs.is_empty();
        let client = Arc::new(RpcClient::new(Arc::clone(&door.peer), dialogs));
        let ui = shows.then(|| Arc::clone(&client) as Arc<dyn Ui>);
        let session = messages.then(|| Arc::clone(&client) as Arc<dyn Session>);
        door.decider.introduce(ui, session);
        door.decider.hold_sessions(client);
        let told = json!({ "version": env!("CARGO_PKG_VERSION"), "methods": METHODS });
        door.peer.answer(message.id, Ok(told));
        Ok(())
    }

    fn ask(&self, door: &LineDoor, message: &RpcMessage<'_>) -> Result<(), RpcError> {
        let mut params: DecideParams<'_> = rpc::params(message.params)?;
        let defaults = locked(&self.defaults).clone();
        params.host = params.host.or(defaults.host);
        params.cwd = params.cwd.or(defaults.cwd);
        let question = params.question().map_err(invalid)?;
        door.decide(question, message.id, |answer| Ok(reply_json(answer)));
        Ok(())
    }
}
