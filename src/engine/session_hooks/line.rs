//! What a hook that lives as long as its session says: one JSON object in a line.

use std::time::SystemTime;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::{Map, Value};

use super::SessionSink;
use crate::engine::session::Message;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HookLine {
    additional_context: Option<String>,
    message: Option<SaidMessage>,
    /// A `null` in it counts, so that it differs from a missing key.
    #[serde(default, deserialize_with = "some")]
    status: Option<SaidStatus>,
}

/// The text of a message, or a message as `hookrun send --take` prints it. Its hook and time are
/// known here.
#[derive(Deserialize)]
#[serde(untagged)]
enum SaidMessage {
    Text(String),
    Whole(Map<String, Value>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SaidStatus {
    Text(Option<String>),
    Keyed { key: String, text: Option<String> },
}

impl SaidMessage {
    fn whole(self, hook: &str) -> serde_json::Result<Message> {
        let mut message = match self {
            SaidMessage::Text(text) => Map::from_iter([("text".to_string(), Value::from(text))]),
            SaidMessage::Whole(message) => message,
        };
        let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        message.insert("time".to_string(), Value::from(time));
        message.insert("hook".to_string(), Value::from(hook));
        serde_json::from_value(Value::Object(message))
    }
}

fn some<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<SaidStatus>, D::Error> {
    SaidStatus::deserialize(deserializer).map(Some)
}

/// Passes on what a line says. Any other line is a note for the log.
pub(super) fn hear(sink: &dyn SessionSink, session: &str, hook: &str, line: &[u8]) {
    let said: HookLine = match serde_json::from_slice(line) {
        Ok(said) => said,
        Err(error) => {
            let line = String::from_utf8_lossy(line);
            let is_json = serde_json::from_str::<IgnoredAny>(&line).is_ok();
            let problem = is_json.then(|| error.to_string());
            tracing::info!(session, hook, problem, "{line}");
            return;
        }
    };
    if let Some(text) = said.additional_context {
        sink.context(session, hook, &text);
    }
    if let Some(message) = said.message {
        let sent = message.whole(hook).map_err(|error| error.to_string());
        if let Err(why) = sent.and_then(|message| sink.send(session, &message)) {
            tracing::warn!(session, hook, why, "the message was not taken");
        }
    }
    match said.status {
        Some(SaidStatus::Text(text)) => sink.status(session, hook, hook, text.as_deref()),
        Some(SaidStatus::Keyed { key, text }) => sink.status(session, hook, &key, text.as_deref()),
        None => {}
    }
}
