//! What hooks said about an event then and now, and the differences. Pure.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::engine::outcome::{Rewritten, Settled, joined};
use crate::engine::run::Run;
use crate::log::Redactor;
use crate::log::record::{Brief, BriefHook, RecordError};

/// The longest text in a report; the rest is compared, but not shown.
const LONGEST_TOLD: usize = 2 * 1024;

/// What is compared of two outcomes: a name, and whether it always counts as a change. The others
/// count with `--strict`.
pub const ASPECTS: &[(&str, bool)] = &[
    ("decision", true),
    // A hook that crashes refuses, and that is not what it did.
    ("cause", true),
    ("hook", false),
    ("reason", false),
    ("rewrites", false),
    ("output", false),
    ("context", false),
];

/// What can be decided.
const DECISIONS: &[&str] = &["allow", "ask", "block"];

/// What all hooks together said about an event.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedOutcome {
    /// `allow`, `ask` or `block`.
    pub decision: Cow<'static, str>,
    /// `policy` or `failure`, of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cow<'static, str>>,
    /// The hook that refused or asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<NewValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
}

/// A field that a hook has rewritten.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewValue {
    pub hook: String,
    pub field: String,
    pub new: Value,
}

/// What hooks said, by the report of a record. `has_limit` means that the event has a limit of
/// refusals in a row.
///
/// 1. If a person decided, or nobody could answer, it is the question.
/// 2. If a refusal was let through because there had been too many, it is the refusal.
/// 3. Otherwise it is the outcome.
pub fn recorded(
    kept: Result<Brief<'_>, RecordError>,
    has_limit: bool,
) -> Result<ComparedOutcome, RecordError> {
    let kept = kept?;
    if !DECISIONS.contains(&kept.decision.as_ref()) {
        let problem = format!(
            "its decision is `{}`, which is none that this hookrun knows",
            kept.decision
        );
        return Err(RecordError::Other { problem });
    }
    let settled = settled(&kept, has_limit);
    Ok(ComparedOutcome {
        rewrites: applied(&kept.rewrites),
        output: kept.output,
        additional_context: kept.additional_context,
        ..settled
    })
}

/// The decision, with its cause, hook and reason.
fn settled(kept: &Brief<'_>, has_limit: bool) -> ComparedOutcome {
    let outcome = |decision: &str, cause: Option<&str>, hook: Option<String>, reason| {
        let (decision, cause) = (word(decision), cause.map(word));
        ComparedOutcome {
            decision,
            cause,
            hook,
            reason,
            ..ComparedOutcome::default()
        }
    };
    let noticed = |kind: &str| kept.notices.iter().any(|notice| notice.kind == kind);
    let is_allowed = kept.decision == "allow";
    let is_of_person = kept.cause.as_deref() == Some("person");
    if is_of_person || (is_allowed && !noticed("question")) {
        let asks = kept.hooks.iter().filter_map(|hook| said(hook, "ask"));
        let (hooks, questions): (Vec<String>, Vec<String>) = asks.unzip();
        if let Some(first) = hooks.into_iter().next() {
            return outcome("ask", None, Some(first), Some(questions.join("\n")));
        }
    }
    if has_limit && is_allowed && noticed("own") {
        for hook in &kept.hooks {
            if let Some((name, reason)) = said(hook, "block") {
                return outcome("block", Some("policy"), Some(name), Some(reason));
            }
            if let Some(failure) = hook.failure.as_ref().filter(|_| hook.on_failure == "block") {
                let (name, words) = (hook.name.to_string(), failure.clone());
                return outcome("block", Some("failure"), Some(name), Some(words));
            }
        }
    }
    if let Some(first) = kept.questions.first().filter(|_| kept.decision == "ask") {
        return outcome(
            "ask",
            None,
            Some(first.hook.clone()),
            Some(joined(&kept.questions)),
        );
    }
    outcome(
        &kept.decision,
        kept.cause.as_deref(),
        kept.decided_by.clone(),
        kept.reason.clone(),
    )
}

/// The name and the reason of a hook that said `decision`.
fn said(hook: &BriefHook<'_>, decision: &str) -> Option<(String, String)> {
    let verdict = hook
        .verdict
        .as_ref()
        .filter(|verdict| verdict.decision == decision)?;
    Some((
        hook.name.to_string(),
        verdict.reason.clone().unwrap_or_default(),
    ))
}

/// The words that every record has cost no memory.
fn word(text: &str) -> Cow<'static, str> {
    match text {
        "allow" => "allow".into(),
        "ask" => "ask".into(),
        "block" => "block".into(),
        "policy" => "policy".into(),
        "failure" => "failure".into(),
        other => other.to_string().into(),
    }
}

pub fn decided(run: &Run) -> ComparedOutcome {
    let outcome = &run.outcome;
    let (cause, hook, reason) = match &outcome.settled {
        Settled::Allowed => (None, None, None),
        Settled::Asked { questions } => (
            None,
            questions.first().map(|one| one.hook.clone()),
            Some(joined(questions)),
        ),
        Settled::Refused(refusal) => {
            let cause = refusal.cause.name();
            (
                Some(cause.into()),
                refusal.hook.clone(),
                Some(refusal.reason.clone()),
            )
        }
    };
    ComparedOutcome {
        decision: outcome.settled.word().into(),
        cause,
        hook,
        reason,
        rewrites: applied(&outcome.rewrites),
        output: outcome.output(),
        additional_context: outcome.additional_context(),
    }
}

fn applied(rewrites: &[Rewritten]) -> Vec<NewValue> {
    let applied = rewrites
        .iter()
        .filter(|rewrite| rewrite.rejected.is_none())
        .cloned();
    applied
        .map(
            |Rewritten {
                 hook, field, new, ..
             }| NewValue { hook, field, new },
        )
        .collect()
}

impl ComparedOutcome {
    /// Without secrets, as what was recorded.
    pub fn clean(&mut self, redactor: &Redactor) {
        let texts = [
            &mut self.reason,
            &mut self.output,
            &mut self.additional_context,
        ];
        for text in texts.into_iter().flatten() {
            if let Cow::Owned(clean) = redactor.text(text) {
                *text = clean;
            }
        }
        for rewrite in &mut self.rewrites {
            let (raw, mut clean) = (rewrite.new.to_string(), String::new());
            redactor.json(&raw, &mut clean);
            if clean != raw {
                rewrite.new = serde_json::from_str(&clean).unwrap_or(Value::Null);
            }
        }
    }

    /// With its long texts cut, for a report.
    #[must_use]
    pub fn shortened(mut self) -> ComparedOutcome {
        let texts = [
            &mut self.reason,
            &mut self.output,
            &mut self.additional_context,
        ];
        for text in texts.into_iter().flatten() {
            shorten(text);
        }
        for rewrite in &mut self.rewrites {
            let mut text = rewrite.new.to_string();
            if text.len() > LONGEST_TOLD {
                shorten(&mut text);
                rewrite.new = text.into();
            }
        }
        self
    }
}

fn shorten(text: &mut String) {
    if text.len() > LONGEST_TOLD {
        let end = text.floor_char_boundary(LONGEST_TOLD);
        let left_out = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("[… {left_out} bytes left out …]"));
    }
}

/// What is different between the two, of [`ASPECTS`].
pub fn differences(was: &ComparedOutcome, is: &ComparedOutcome) -> Vec<&'static str> {
    let same = [
        was.decision == is.decision,
        was.decision != is.decision || was.cause == is.cause,
        was.hook == is.hook,
        was.reason == is.reason,
        was.rewrites == is.rewrites,
        was.output == is.output,
        was.additional_context == is.additional_context,
    ];
    let aspects = ASPECTS.iter().zip(same).filter(|(_, same)| !same);
    aspects.map(|((name, _), _)| *name).collect()
}

pub fn is_change(differs: &[&str], is_strict: bool) -> bool {
    let counts = |name: &&str| {
        ASPECTS
            .iter()
            .any(|(aspect, always)| aspect == name && *always)
    };
    if is_strict {
        !differs.is_empty()
    } else {
        differs.iter().any(counts)
    }
}
