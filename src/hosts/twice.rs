//! Calls that reach hookrun twice: some hosts run the hooks of other hosts' settings as well, each in
//! that host's form. Which events that may be, and how two of them are known to be of one call.

use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::facts;
use super::row::Binding;
use crate::engine::event::{Context, Event};
use crate::engine::runner::{FormOfCall, digest};

/// The variables in which a host gives its own hooks the session, by the name of its dialect. Where it is
/// the session of the event, that host asks, and it asks once. Claude Code was seen to set it.
pub const SESSIONS: &[(&str, &str)] = &[("claude", "CLAUDE_CODE_SESSION_ID")];

/// The longest input that distinguishes calls of one millisecond.
const LONGEST_INPUT_BYTES: usize = 64 * 1024;

impl Binding {
    /// The call of an event that may come in another form too, if it is certain which one it is:
    /// by the session, the canonical event and what the host calls the call, or else the
    /// millisecond of it and the tool's input. `sessions` are the variables of [`SESSIONS`]
    /// that are set.
    pub fn call(self, event: &Event, sessions: &[(&'static str, String)]) -> Option<FormOfCall> {
        let dialect = self.dialect.name;
        facts::of(dialect).filter(|facts| facts.may_come_twice())?;
        let session = text(event, "sessionId")?;
        let is_told =
            |(name, told): &(&str, String)| SESSIONS.contains(&(dialect, name)) && *told == session;
        if sessions.iter().any(is_told) {
            return None;
        }
        let id = id(event)?;
        Some(FormOfCall {
            session,
            id,
            form: self.form(),
        })
    }

    /// The call of an event about which its host asks by a command and in another way too. Both have
    /// the same payload, which tells an event without a call.
    pub fn call_of_pair(self, event: &Event) -> Option<FormOfCall> {
        let session = text(event, "sessionId")?;
        let of_payload = || {
            let payload = digest(&String::from_utf8_lossy(&event.context().to_json()));
            format!("{} as {payload}", event.spec().name)
        };
        let id = id(event).unwrap_or_else(of_payload);
        Some(FormOfCall {
            session,
            id,
            form: self.form(),
        })
    }

    fn form(self) -> String {
        format!("{} {}", self.dialect.name, self.row.name)
    }

    /// Whether a context that comes from the host is in the other one of its two spellings, where
    /// it has two.
    pub fn is_other_spelling(self, context: &Context) -> bool {
        self.row
            .also
            .iter()
            .any(|(theirs, _)| context.raw(theirs).is_some())
    }
}

fn text(event: &Event, key: &str) -> Option<String> {
    event.context().string(key).filter(|text| !text.is_empty())
}

/// What the host calls the call, or else the millisecond of it and the tool's input.
fn id(event: &Event) -> Option<String> {
    let (context, name) = (event.context(), &event.spec().name);
    if let Some(id) = text(event, "toolUseId") {
        return Some(format!("{name} {id}"));
    }
    if context.raw("toolInput")?.len() > LONGEST_INPUT_BYTES {
        return None;
    }
    let input = context.value("toolInput").ok().flatten()?;
    Some(format!(
        "{name} at {} of {}",
        moment(context)?,
        digest(&input.to_string())
    ))
}

/// The millisecond that a host gives: a number of them, or RFC 3339 with three digits at least.
fn moment(context: &Context) -> Option<u128> {
    let of = |context: &Context| match context.value("timestamp").ok().flatten()? {
        Value::Number(number) => number.as_u64().map(u128::from),
        Value::String(text) => {
            let (_, fraction) = text.split_once('.')?;
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let time = humantime::parse_rfc3339(&text)
                .ok()
                .filter(|_| digits >= 3)?;
            Some(time.duration_since(UNIX_EPOCH).ok()?.as_millis())
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    of(context).or_else(|| of(&Context::parse(context.raw("raw")?).ok()?))
}
