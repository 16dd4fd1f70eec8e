//! Calls that reach hookrun twice: some hosts run the hooks of other hosts' settings as well, each in
//! that host's form. Which events that may be, and how two of them are known to be of one call.

use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::row::Binding;
use crate::engine::event::{Context, Event};
use crate::engine::runner::{FormOfCall, digest};

/// A dialect in which a call may come that comes in another one too.
#[derive(Debug)]
pub struct SharingDialect {
    /// Its name.
    pub dialect: &'static str,
    /// The variable in which its own host gives hooks the session. Where it is the session of the
    /// event, that host asks, and it asks once.
    pub told_by: Option<&'static str>,
}

/// Every such dialect. Cursor and Copilot CLI also run the hooks of Claude's settings, and Copilot CLI
/// sends those what it sends its own in another spelling (their documents). Claude Code was seen
/// to set the variable.
pub const SHARED: &[SharingDialect] = &[
    SharingDialect { dialect: "claude", told_by: Some("CLAUDE_CODE_SESSION_ID") },
    SharingDialect { dialect: "cursor", told_by: None },
    SharingDialect { dialect: "copilot", told_by: None },
];

/// The longest input that distinguishes calls of one millisecond.
const LONGEST_INPUT_BYTES: usize = 64 * 1024;

impl Binding {
    /// The call of an event that may come in another form too, if it is certain which one it is:
    /// by the session, the canonical event and what the host calls the call, or else the
    /// millisecond of it and the tool's input. `sessions` are the variables of [`SHARED`] that
    /// are set.
    pub fn call(self, event: &Event, sessions: &[(&'static str, String)]) -> Option<FormOfCall> {
        let shared = SHARED.iter().find(|shared| shared.dialect == self.dialect.name)?;
        let context = event.context();
        let text = |key: &str| context.string(key).filter(|text| !text.is_empty());
        let session = text("sessionId")?;
        let is_told =
            |(name, told): &(&str, String)| Some(*name) == shared.told_by && *told == session;
        if sessions.iter().any(is_told) {
            return None;
        }
        let name = &event.spec().name;
        let id = match text("toolUseId") {
            Some(id) => format!("{name} {id}"),
            None => {
                let input = context.raw("toolInput")?;
                if input.len() > LONGEST_INPUT_BYTES {
                    return None;
                }
                let input = context.value("toolInput").ok().flatten()?;
                format!("{name} at {} of {}", moment(context)?, digest(&input.to_string()))
            }
        };
        let form = format!("{} {}", self.dialect.name, self.row.name);
        Some(FormOfCall { session, id, form })
    }

    /// Whether a context that comes from the host is in the other one of its two spellings, where
    /// it has two.
    pub fn is_other_spelling(self, context: &Context) -> bool {
        self.row.also.iter().any(|(theirs, _)| context.raw(theirs).is_some())
    }
}

/// The millisecond that a host gives: a number of them, or RFC 3339 with three digits at least.
fn moment(context: &Context) -> Option<u128> {
    let of = |context: &Context| match context.value("timestamp").ok().flatten()? {
        Value::Number(number) => number.as_u64().map(u128::from),
        Value::String(text) => {
            let (_, fraction) = text.split_once('.')?;
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let time = humantime::parse_rfc3339(&text).ok().filter(|_| digits >= 3)?;
            Some(time.duration_since(UNIX_EPOCH).ok()?.as_millis())
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    of(context).or_else(|| of(&Context::parse(context.raw("raw")?).ok()?))
}
