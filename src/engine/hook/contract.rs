//! Keys in hooks' answers: hookrun's contract, and other systems' keys, which must not be read as
//! consent.

use serde_json::Value;

use super::spec::Permit;
use crate::engine::complaint::plain;
use crate::engine::event::JsonType::{self, Array, Boolean, Object, String as Text};
use crate::engine::outcome::{ContractRule, Decision, Finding, Verdict};

pub(crate) const NO_REASON: &str = "blocked without a reason";

pub(crate) trait Contract {
    /// Returns true if answers have this key or keys below it, as a dotted path.
    fn knows(&self, path: &str) -> bool;

    /// Returns the reason if an answer with these entries blocks.
    fn block(&self, entries: &[(String, Value)]) -> Option<String>;

    /// Describes a valid answer, for messages about malformed ones.
    fn cure(&self) -> String;
}

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
        r#"{"continue": false, "reason": "…"} to block, or {"ask": "…?"} to ask"#.to_string()
    }
}

impl Native {
    /// Reads the verdict of an answer. A block counts even if other keys are malformed.
    pub(crate) fn verdict(
        &self,
        entries: &[(String, Value)],
        permit: Permit<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Verdict, String> {
        let verdict = values(entries, permit, notes);
        let Some(reason) = self.block(entries) else {
            if entries.iter().all(|(key, _)| key == "reason") {
                notes.push("`reason` alone does not block; add `\"continue\": false`".to_string());
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

/// Reads all keys but `continue` and `reason`. `null` counts as missing.
fn values(
    entries: &[(String, Value)],
    permit: Permit<'_>,
    notes: &mut Vec<String>,
) -> Result<Verdict, String> {
    let mut verdict = Verdict::new(Decision::Allow, ContractRule::Structured);
    for (name, value) in entries {
        let Some((_, kind, _)) = RESULT_KEYS.iter().find(|(known, ..)| known == name) else {
            notes.push(format!("ignored the unknown key `{name}`"));
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

/// Keys of an answer: name, type, meaning.
pub const RESULT_KEYS: &[(&str, JsonType, &str)] = &[
    ("continue", Boolean, "false blocks the event"),
    ("reason", Text, "why, for the person and the model"),
    ("ask", Text, "a question for a person to answer"),
    ("output", Text, "text to show"),
    ("additionalContext", Text, "text for the model"),
    ("update", Object, "new values for context fields"),
    ("findings", Array, "places in files, each with a message"),
];

/// Keys with which known hosts and policy engines block or ask, with the values that do so, in
/// lower case; after `!`, the values that do not.
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

/// Returns true if the last key of a dotted path is in [`DECISION_KEYS`].
pub fn is_decision_key(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or_default();
    DECISION_KEYS.iter().any(|(names, _)| names.contains(&key))
}

/// Returns the values in a key's row. `continue` and long contract keys match with one typo.
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

/// Returns the path of a decision key that blocks or asks elsewhere and is not in this contract.
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
