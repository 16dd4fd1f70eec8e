//! The keys of a structured result, and how each is read.

use serde_json::Value;

use crate::engine::event::JsonType;
use crate::engine::outcome::{ContractRule, Decision, Verdict};

/// A row of [`RESULT_KEYS`].
#[derive(Debug)]
pub struct ResultKey {
    pub name: &'static str,
    pub kind: JsonType,
    pub about: &'static str,
    /// Stores a value of this type.
    pub(super) set: fn(&mut StructuredResult, Value),
}

impl ResultKey {
    const fn new(
        name: &'static str,
        kind: JsonType,
        about: &'static str,
        set: fn(&mut StructuredResult, Value),
    ) -> ResultKey {
        ResultKey {
            name,
            kind,
            about,
            set,
        }
    }
}

/// The keys of a structured result.
pub const RESULT_KEYS: &[ResultKey] = &[
    ResultKey::new(
        "continue",
        JsonType::Boolean,
        "false blocks the event",
        |result, value| {
            result.goes_on = value.as_bool();
        },
    ),
    ResultKey::new(
        "reason",
        JsonType::String,
        "why, for the person and the model",
        |result, value| {
            result.reason = text(value);
        },
    ),
    ResultKey::new(
        "ask",
        JsonType::String,
        "a question for a person to decide",
        |result, value| {
            result.ask = text(value);
        },
    ),
    ResultKey::new(
        "output",
        JsonType::String,
        "text to show",
        |result, value| {
            result.verdict.output = text(value);
        },
    ),
    ResultKey::new(
        "additionalContext",
        JsonType::String,
        "text for the model",
        |result, value| {
            result.verdict.additional_context = text(value);
        },
    ),
    ResultKey::new(
        "update",
        JsonType::Object,
        "new values for context fields",
        |result, value| {
            if let Value::Object(fields) = value {
                result.verdict.update = fields.into_iter().collect();
            }
        },
    ),
    ResultKey::new(
        "findings",
        JsonType::Array,
        "places in files: `path`, `line`, `level` (error, warning, notice), `message`",
        // Read separately in their written form, so that duplicate keys are noticed.
        |_, _| {},
    ),
];

fn text(value: Value) -> Option<String> {
    if let Value::String(text) = value {
        Some(text)
    } else {
        None
    }
}

pub(super) fn result_key(name: &str) -> Option<&'static ResultKey> {
    RESULT_KEYS.iter().find(|row| row.name == name)
}

/// A structured result as read so far, with the parts of its decision.
pub(super) struct StructuredResult {
    pub(super) goes_on: Option<bool>,
    pub(super) reason: Option<String>,
    pub(super) ask: Option<String>,
    pub(super) verdict: Verdict,
}

impl Default for StructuredResult {
    fn default() -> StructuredResult {
        let verdict = Verdict::new(Decision::Allow, ContractRule::Structured);
        StructuredResult {
            goes_on: None,
            reason: None,
            ask: None,
            verdict,
        }
    }
}
