//! The person and the sessions of a client that speaks JSON-RPC.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::engine::session::{Message, Session};
use crate::engine::session_hooks::{SESSION_IS_OVER, SessionSink};
use crate::engine::ui::{Asker, MessageKind, Ui};

use crate::cli::serve::rpc::RpcPeer;

/// Shows the dialogs of hooks in the client, and passes their messages on.
pub(crate) struct RpcClient {
    peer: Arc<RpcPeer>,
    /// The dialogs that the client can show, by their names in the protocol.
    dialogs: Vec<String>,
}

impl RpcClient {
    pub(crate) fn new(peer: Arc<RpcPeer>, dialogs: Vec<String>) -> RpcClient {
        RpcClient { peer, dialogs }
    }

    fn ask(&self, asker: &Asker<'_>, kind: &str, more: Value) -> Option<Value> {
        if !self.shows(kind) {
            return None;
        }
        let until = json!({ "kind": kind, "untilMs": moment_ms(asker.until()) });
        let params = placed(asker, [until, more]);
        let withdrawn = |id| placed(asker, [json!({ "id": id })]);
        let answer = self.peer.ask("hookrun/dialog", &params, asker, withdrawn)?;
        answer.get("value").cloned()
    }

    fn shows(&self, kind: &str) -> bool {
        self.dialogs.iter().any(|dialog| dialog == kind)
    }

    fn ask_text(&self, asker: &Asker<'_>, kind: &str, more: Value) -> Option<String> {
        self.ask(asker, kind, more)?.as_str().map(str::to_string)
    }
}

/// What comes from a hook, with the hook, its session, and the client's `id` of the request that
/// the hook runs for.
fn placed<const N: usize>(asker: &Asker<'_>, parts: [Value; N]) -> Value {
    let mut all = Map::new();
    all.insert("session".to_string(), asker.session().into());
    all.extend(
        asker
            .request()
            .map(|request| ("request".to_string(), request_id(request))),
    );
    all.insert("hook".to_string(), asker.hook().into());
    for part in parts {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    Value::Object(all)
}

/// The `id` of a request as the client wrote it.
fn request_id(request: &str) -> Value {
    serde_json::from_str(request).unwrap_or(Value::Null)
}

/// A moment as milliseconds since 1970, for a clock that the client has too.
fn moment_ms(until: Instant) -> u64 {
    let left = until.saturating_duration_since(Instant::now());
    let moment = SystemTime::now().checked_add(left).unwrap_or(UNIX_EPOCH);
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Ui for RpcClient {
    fn select(&self, asker: &Asker<'_>, title: &str, options: &[String]) -> Option<String> {
        let chosen = self.ask_text(
            asker,
            "select",
            json!({ "title": title, "options": options }),
        );
        // What was not offered is no choice.
        chosen.filter(|chosen| options.contains(chosen))
    }

    fn confirm(&self, asker: &Asker<'_>, title: &str, message: &str) -> bool {
        let answer = self.ask(
            asker,
            "confirm",
            json!({ "title": title, "message": message }),
        );
        answer == Some(Value::Bool(true))
    }

    fn input(&self, asker: &Asker<'_>, title: &str, placeholder: &str) -> Option<String> {
        self.ask_text(
            asker,
            "input",
            json!({ "title": title, "placeholder": placeholder }),
        )
    }

    fn editor(&self, asker: &Asker<'_>, title: &str, text: &str) -> Option<String> {
        self.ask_text(asker, "editor", json!({ "title": title, "text": text }))
    }

    fn notify(&self, asker: &Asker<'_>, message: &str, kind: MessageKind) {
        if self.shows("notify") {
            let shown = placed(asker, [json!({ "message": message, "kind": kind })]);
            self.peer.notify("hookrun/notify", &shown);
        }
    }

    fn status(&self, asker: &Asker<'_>, key: &str, text: Option<&str>) {
        if self.shows("status") {
            let shown = placed(asker, [json!({ "key": key, "text": text })]);
            self.peer.notify("hookrun/status", &shown);
        }
    }
}

impl Session for RpcClient {
    fn send(&self, id: &str, message: &Message) -> Result<(), String> {
        let Ok(Value::Object(mut told)) = serde_json::to_value(message) else {
            return Err("the message cannot be written as JSON".to_string());
        };
        told.insert("session".to_string(), id.into());
        if let Some(request) = &message.request {
            told.insert("request".to_string(), request_id(request));
        }
        self.peer.notify("hookrun/message", &Value::Object(told));
        Ok(())
    }
}

impl SessionSink for RpcClient {
    fn context(&self, session: &str, hook: &str, text: &str) {
        let told = json!({ "session": session, "hook": hook, "text": text });
        self.peer.notify("hookrun/context", &told);
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
            let message = format!("{hook} has ended: {how}{}", again.unwrap_or_default());
            let shown = json!({
                "session": session, "hook": hook, "message": message, "kind": "warning",
            });
            self.peer.notify("hookrun/notify", &shown);
        }
    }
}
