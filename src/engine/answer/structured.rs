//! Structured results: the keys of a JSON object become a verdict, or the answer is malformed.

use serde_json::Value;

use super::findings;
use super::keys::{RESULT_KEYS, StructuredResult, result_key};
use super::object::findings_in;
use super::refusal::{NO_REASON, Vocabulary};
use crate::engine::event::Merge;
use crate::engine::hook::{Handler, Hook, Permit};
use crate::engine::outcome::{ContractRule, Decision, Verdict};
use crate::engine::spelling;

/// The verdict of a structured result, or why it is malformed. The entries come from `text`.
pub(crate) fn structured(
    entries: Vec<(String, Value)>,
    text: &str,
    permit: Permit<'_>,
) -> Result<(Verdict, Vec<String>), String> {
    let mut result = StructuredResult::default();
    let mut notes = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (key, value) in entries {
        if key.starts_with("x-") {
            continue;
        }
        let Some(row) = result_key(&key) else {
            let problem = unknown(&key)?;
            match permit.is_closed() {
                true => return Err(problem),
                false => notes.push(format!("the key `{key}` is not known and was ignored")),
            }
            continue;
        };
        if seen.contains(&row.name) {
            return Err(format!("the key `{key}` appears twice"));
        }
        if !row.kind.fits(&value) {
            return Err(format!("`{key}` must be a JSON {}", row.kind.name()));
        }
        if row.name == "findings" {
            let list = findings_in(text);
            notes.extend(findings::read_all(&list, &mut result.verdict.findings)?);
        }
        (row.set)(&mut result, value);
        if result
            .ask
            .as_deref()
            .is_some_and(|question| question.trim().is_empty())
        {
            return Err(EMPTY_QUESTION.to_string());
        }
        seen.push(row.name);
    }
    if result.reason.is_some() && result.goes_on.is_none() && result.ask.is_none() {
        let problem = "`reason` alone blocks nothing; add `\"continue\": false`, or exit with 1";
        match permit.is_closed() {
            true => return Err(problem.to_string()),
            false => notes.push(problem.to_string()),
        }
    }
    for (field, value) in &result.verdict.update {
        permitted(field, value, permit)?;
    }
    Ok((result.verdict(), notes))
}

const EMPTY_QUESTION: &str = "`ask` is empty; write the question";

/// Checks what a function returned, as a structured result is checked, except that an empty reason
/// counts as none.
pub(crate) fn returned(mut verdict: Verdict, permit: Permit<'_>) -> Result<Verdict, String> {
    match &mut verdict.decision {
        Decision::Ask { question } if question.trim().is_empty() => {
            return Err(EMPTY_QUESTION.to_string());
        }
        Decision::Block { reason } if reason.trim().is_empty() => *reason = NO_REASON.to_string(),
        Decision::Allow | Decision::Ask { .. } | Decision::Block { .. } => {}
    }
    for (field, value) in &verdict.update {
        permitted(field, value, permit)?;
    }
    verdict.rule = ContractRule::Returned;
    Ok(verdict)
}

/// A note on an unknown key.
///
/// # Errors
/// The same text if the key must not be ignored: a misspelling of ours, or another host's way to
/// decide.
fn unknown(key: &str) -> Result<String, String> {
    if let Some(meant) = spelling::nearest(key, RESULT_KEYS.iter().map(|known| known.name)) {
        return Err(format!("`{key}` is not a key; did you mean `{meant}`?"));
    }
    if Vocabulary::Native.decides(key) {
        return Err(format!(
            "`{key}` is how another host's hooks decide; here {{\"continue\": false, \"reason\": \
             \"…\"}} or a non-zero exit blocks"
        ));
    }
    let known: Vec<&str> = RESULT_KEYS.iter().map(|row| row.name).collect();
    Ok(format!(
        "`{key}` is not a key of an answer, which are `{}`; print logs to stderr, or call a key of \
         your own `x-{key}`",
        known.join("`, `")
    ))
}

/// Checks that the hook may rewrite `field` to `value`.
fn permitted(field: &str, value: &Value, permit: Permit<'_>) -> Result<(), String> {
    let event = &permit.spec.name;
    let Some(rule) = permit.spec.rewrite(field) else {
        let fields: Vec<&str> = permit
            .spec
            .rewrites
            .iter()
            .map(|rewrite| rewrite.field.as_ref())
            .collect();
        let may = match fields.as_slice() {
            [] => "nothing".to_string(),
            some => format!("`{}`", some.join("`, `")),
        };
        return Err(format!(
            "`update` names `{field}`; of `{event}` hooks may rewrite {may}"
        ));
    };
    if !permit.hook.rewrite {
        return Err(format!(
            "`update` names `{field}`; {}",
            leave_to_rewrite(permit.hook)
        ));
    }
    let kind = permit.spec.key(field).map(|key| key.kind);
    if let Some(kind) = kind.filter(|kind| rule.merge != Merge::Append && !kind.fits(value)) {
        return Err(format!("`update.{field}` must be a JSON {}", kind.name()));
    }
    Ok(())
}

fn leave_to_rewrite(hook: &Hook) -> String {
    let file = hook.source.file.display();
    match (&hook.handler, hook.source.line) {
        (Handler::File(_), _) => format!("add `rewrite` to its `# hookrun:` line ({file})"),
        (_, Some(line)) => format!("add `rewrite = true` to it ({file}:{line})"),
        (_, None) => "add `rewrite = true` to it".to_string(),
    }
}

impl StructuredResult {
    fn verdict(self) -> Verdict {
        let reason = self.reason.filter(|reason| !reason.trim().is_empty());
        let (decision, rule) = match (self.goes_on, self.ask) {
            (Some(false), _) => {
                let reason = reason.unwrap_or_else(|| NO_REASON.to_string());
                (Decision::Block { reason }, ContractRule::ContinueFalse)
            }
            (_, Some(question)) => (Decision::Ask { question }, ContractRule::Asked),
            (_, None) => return self.verdict,
        };
        Verdict {
            decision,
            rule,
            ..self.verdict
        }
    }
}
