//! The keys with which hooks answer: those of hookrun's own contract, and those of others, which
//! must not be read as consent.

use serde_json::Value;

use super::spec::Permit;
use crate::engine::event::JsonType::{self, Array, Boolean, Object, String as Text};
use crate::engine::outcome::{ContractRule, Decision, Finding, Verdict};
use crate::engine::spelling::plain;

/// The reason of a block that gives none.
pub(crate) const NO_REASON: &str = "blocked without a reason";

/// The keys with which the hooks of one system answer.
pub(crate) trait Contract {
    /// Whether answers have a key at this path of keys with dots, or below it.
    fn knows(&self, path: &str) -> bool;

    /// The reason, if an answer with these entries blocks.
    fn block(&self, entries: &[(String, Value)]) -> Option<String>;

    /// What to write instead of a malformed answer.
    fn cure(&self) -> String;
}

/// hookrun's own contract.
#[derive(Debug)]
pub(crate) struct Native;

impl Contract for Native {
    fn knows(&self, path: &str) -> bool {
        RESULT_KEYS.iter().any(|(name, ..)| *name == path)
    }

    fn block(&self, entries: &[(String, Value)]) -> Option<String> {
        if !entries.contains(&("continue".to_string(), Value::Bool(false))) {
            return None;
        }
        let reason = entries.iter().rfind(|(name, _)| name == "reason");
        let reason = reason.and_then(|(_, value)| value.as_str());
        let reason = reason.filter(|text| !text.trim().is_empty());
        Some(reason.unwrap_or(NO_REASON).to_string())
    }

    fn cure(&self) -> String {
        r#"{"continue": false, "reason": "…"} to block, {"ask": "…?"} to ask"#.to_string()
    }
}

impl Native {
    /// The verdict of an answer. One that blocks does so even if its other keys are malformed.
    pub(crate) fn verdict(
        &self,
        entries: &[(String, Value)],
        permit: Permit<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Verdict, String> {
        let verdict = values(entries, permit, notes);
        let Some(reason) = self.block(entries) else {
            if entries.iter().all(|(key, _)| key == "reason") {
                notes.push("`reason` alone blocks nothing; add `\"continue\": false`".to_string());
            }
            return verdict;
        };
        let mut verdict = verdict.unwrap_or_else(|problem| {
            notes.push(problem);
            Verdict::new(Decision::Allow, ContractRule::ContinueFalse)
        });
        verdict.decision = Decision::Block { reason };
        verdict.rule = ContractRule::ContinueFalse;
        Ok(verdict)
    }
}

/// What an answer says beside `continue` and `reason`. `null` is like a missing key.
fn values(
    entries: &[(String, Value)],
    permit: Permit<'_>,
    notes: &mut Vec<String>,
) -> Result<Verdict, String> {
    let mut verdict = Verdict::new(Decision::Allow, ContractRule::Structured);
    for (name, value) in entries {
        let Some((_, kind, _)) = RESULT_KEYS.iter().find(|(known, ..)| known == name) else {
            notes.push(format!("the key `{name}` is not known and was ignored"));
            continue;
        };
        match (name.as_str(), value.clone()) {
            (_, Value::Null) | ("continue", Value::Bool(_)) | ("reason", Value::String(_)) => {}
            ("ask", Value::String(question)) => {
                verdict.decision = Decision::Ask { question };
                verdict.rule = ContractRule::Asked;
            }
            ("output", Value::String(text)) => verdict.output = Some(text),
            ("additionalContext", Value::String(text)) => verdict.additional_context = Some(text),
            ("update", Value::Object(fields)) => verdict.update = fields.into_iter().collect(),
            ("findings", Value::Array(list)) => {
                for (at, one) in list.into_iter().enumerate() {
                    verdict.findings.push(Finding::read(at, one, notes)?);
                }
            }
            _ => return Err(format!("`{name}` must be a JSON {}", kind.name())),
        }
    }
    permit.check(&verdict)?;
    Ok(verdict)
}

/// The keys of an answer: name, type, and what it says.
pub const RESULT_KEYS: &[(&str, JsonType, &str)] = &[
    ("continue", Boolean, "false blocks the event"),
    ("reason", Text, "why, for the person and the model"),
    ("ask", Text, "a question for a person to decide"),
    ("output", Text, "text to show"),
    ("additionalContext", Text, "text for the model"),
    ("update", Object, "new values for context fields"),
    ("findings", Array, "places in files, each with a message"),
];

/// Keys with which a known host or policy engine blocks or asks, and the values that do, as text in
/// lower case; after `!` the values that do not.
pub const DECISION_KEYS: &[(&[&str], &[&str])] = &[
    (&["continue"], &["!", "true"]),
    (&["ask", "deny", "denied", "reject", "refuse"], ANYTHING),
    (&["ok", "allow", "allowed", "accept", "approve"], NO),
    (&["approved", "permit", "proceed", "result"], NO),
    (&["block", "blocked", "cancel", "halt", "stop"], YES),
    (&["decision", "permission", "permissionDecision"], WORDS),
    (&["action", "behavior", "effect", "verdict"], WORDS),
    (&["hookSpecificOutput"], &[]),
];

const ANYTHING: &[&str] = &["!", "", "false", "no", "none", "[]", "{}"];
const NO: &[&str] = &["false", "no"];
const YES: &[&str] = &["true", "yes"];
const WORDS: &[&str] = &[
    "ask", "deny", "denied", "block", "blocked", "reject", "refuse", "forbid", "false",
];

/// Whether the last key of a path is one of the table.
pub fn is_decision_key(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or_default();
    DECISION_KEYS.iter().any(|(names, _)| names.contains(&key))
}

/// The values in the row of a key. `continue` and the keys of the contract also count with one slip.
pub(crate) fn decision_values(
    key: &str,
    contract: &dyn Contract,
) -> Option<&'static [&'static str]> {
    let key = plain(key);
    for (names, values) in DECISION_KEYS {
        for name in *names {
            let may_slip = *name == "continue" || name.len() >= 5 && contract.knows(name);
            let most = usize::from(may_slip);
            if key.len().abs_diff(name.len()) <= most
                && strsim::osa_distance(&key, &plain(name)) <= most
            {
                return Some(values);
            }
        }
    }
    None
}

/// The path of a key of the table that blocks or asks, and is not of this contract.
pub(crate) fn foreign_decision(
    path: &str,
    key: &str,
    value: &Value,
    contract: &dyn Contract,
) -> Option<String> {
    let values = decision_values(key, contract)?;
    let text = match value {
        Value::Null | Value::Number(_) => return None,
        Value::String(text) => text.trim().to_lowercase(),
        Value::Object(inner) => {
            for (key, value) in inner {
                let path = foreign_decision(&format!("{path}.{key}"), key, value, contract);
                if path.is_some() {
                    return path;
                }
            }
            value.to_string()
        }
        Value::Bool(_) | Value::Array(_) => value.to_string(),
    };
    let blocks = values.contains(&text.as_str()) != values.starts_with(&["!"]);
    (blocks && !contract.knows(path)).then(|| path.to_string())
}
