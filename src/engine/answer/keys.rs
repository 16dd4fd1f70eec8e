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

/// The keys of a structured result.
pub const RESULT_KEYS: &[ResultKey] = &[
    ResultKey {
        name: "continue",
        kind: JsonType::Boolean,
        about: "false blocks the event",
        set: |result, value| result.goes_on = value.as_bool(),
    },
    ResultKey {
        name: "reason",
        kind: JsonType::String,
        about: "why, for the person and the model",
        set: |result, value| result.reason = text(value),
    },
    ResultKey {
        name: "ask",
        kind: JsonType::String,
        about: "a question for a person to decide",
        set: |result, value| result.ask = text(value),
    },
    ResultKey {
        name: "output",
        kind: JsonType::String,
        about: "text to show",
        set: |result, value| result.verdict.output = text(value),
    },
    ResultKey {
        name: "additionalContext",
        kind: JsonType::String,
        about: "text for the model",
        set: |result, value| result.verdict.additional_context = text(value),
    },
    ResultKey {
        name: "update",
        kind: JsonType::Object,
        about: "new values for context fields",
        set: |result, value| {
            if let Value::Object(fields) = value {
                result.verdict.update = fields.into_iter().collect();
            }
        },
    },
    ResultKey {
        name: "findings",
        kind: JsonType::Array,
        about: "places in files: `path`, `line`, `level` (error, warning, notice), `message`",
        // Read separately in their written form, so that duplicate keys are noticed.
        set: |_, _| {},
    },
];

fn text(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
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
        StructuredResult { goes_on: None, reason: None, ask: None, verdict }
    }
}
