//! Outcomes become text for the model, so that a refused model knows why and changes course.
//!
//! The three forms and their exact words are loom's (`HookRuntime` and its reminder injector,
//! version 0.3.0), which models have been instructed with.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::engine::names::names;
use crate::engine::outcome::{NoticeKind, Outcome, Settled};

/// A text for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// Which of the three forms it is.
    pub kind: ReminderKind,
    /// The hook that it comes from.
    pub hook: String,
    /// The text, inside `<system-reminder>` tags.
    pub text: String,
}

/// The three forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReminderKind {
    /// A hook said something to show.
    Output,
    /// A hook refused.
    Blocked,
    /// A hook gave context.
    Context,
}

names! { ReminderKind: Output "output", Blocked "blocked", Context "context" }

impl ReminderKind {
    /// By which it can be suppressed, in loom's words; `None` for a refusal, which cannot: a
    /// model that does not know of it tries again.
    pub fn id(self) -> Option<&'static str> {
        match self {
            ReminderKind::Output => Some("reminders.hook.success"),
            ReminderKind::Context => Some("reminders.hook.context"),
            ReminderKind::Blocked => None,
        }
    }
}

/// Reminders of several runs, until the next request to the model takes them. Clones belong
/// together: what one collects another drains.
///
/// ```
/// use hookrun::{HookText, Outcome, Reminders};
///
/// let reminders = Reminders::default();
/// reminders.suppress("reminders.hook.success")?;
/// let said = HookText {
///     hook: "branch".into(),
///     output: Some("looked".into()),
///     additional_context: Some("on main".into()),
/// };
/// reminders.collect(&Outcome { said: vec![said], ..Outcome::default() });
///
/// // Once for each request.
/// let texts: Vec<String> = reminders.drain().into_iter().map(|one| one.text).collect();
/// assert_eq!(
///     texts,
///     ["<system-reminder>\nAdditional context from hook \"branch\":\n\non main\n</system-reminder>"]
/// );
/// assert!(reminders.drain().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Reminders {
    shared: Arc<Mutex<Collected>>,
}

#[derive(Debug, Default)]
struct Collected {
    waiting: Vec<Reminder>,
    suppressed: HashSet<ReminderKind>,
}

/// No reminder with this id can be suppressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no reminder `{id}` can be suppressed; write `reminders.hook.success` or \
     `reminders.hook.context`"
)]
pub struct NotSuppressible {
    /// What was asked for.
    pub id: String,
}

impl Reminders {
    /// Adds the reminders of an outcome. One that still asks a person has none yet: collect what
    /// [`Outcome::answered`] makes of it.
    pub fn collect(&self, outcome: &Outcome) {
        if matches!(outcome.settled, Settled::Asked { .. }) || outcome.is_silent() {
            return;
        }
        let new = reminders(outcome);
        let mut collected = self.lock();
        let wanted = new.into_iter().filter(|one| !collected.suppressed.contains(&one.kind));
        let wanted: Vec<Reminder> = wanted.collect();
        collected.waiting.extend(wanted);
    }

    /// Takes all that was collected since the last time, in order.
    pub fn drain(&self) -> Vec<Reminder> {
        std::mem::take(&mut self.lock().waiting)
    }

    /// Collects no more reminders with this id, which is `reminders.hook.success` or
    /// `reminders.hook.context`.
    ///
    /// # Errors
    /// For any other id: that a hook refused cannot be kept from the model.
    pub fn suppress(&self, id: &str) -> Result<(), NotSuppressible> {
        let kinds = [ReminderKind::Output, ReminderKind::Context];
        let kind = kinds.into_iter().find(|kind| kind.id() == Some(id));
        let kind = kind.ok_or_else(|| NotSuppressible { id: id.to_string() })?;
        self.lock().suppressed.insert(kind);
        Ok(())
    }

    // Nothing in here panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the model gets in place of the result of a tool that a hook refused, in loom's words.
pub fn refused_result(reason: &str) -> String {
    format!(
        "Permission denied by hook: {reason}. Do not retry; the host environment has rejected \
         this action. Surface the block to the user with the hook's reason verbatim."
    )
}

/// The reminders of an outcome: outputs and contexts in plan order, then what hooks objected to,
/// then the refusal.
pub fn reminders(outcome: &Outcome) -> Vec<Reminder> {
    let mut reminders = Vec::new();
    for said in &outcome.said {
        if let Some(output) = &said.output {
            let output = output.trim();
            let gap = if output.is_empty() { "" } else { "\n\n" };
            let body = format!("Hook \"{}\" completed.{gap}{output}", said.hook);
            reminders.push(reminder(ReminderKind::Output, &said.hook, &body));
        }
        let context = said.additional_context.as_deref().filter(|text| !text.trim().is_empty());
        if let Some(context) = context {
            let context = context.trim();
            let body = format!("Additional context from hook \"{}\":\n\n{context}", said.hook);
            reminders.push(reminder(ReminderKind::Context, &said.hook, &body));
        }
    }
    for notice in outcome.notices.iter().filter(|notice| notice.kind == NoticeKind::Refusal) {
        reminders.push(blocked(&notice.hook, &notice.text));
    }
    if let Some(refusal) = outcome.refusal() {
        reminders.push(blocked(refusal.hook.as_deref().unwrap_or("hookrun"), &refusal.reason));
    }
    reminders
}

fn blocked(hook: &str, reason: &str) -> Reminder {
    let body = format!(
        "Hook \"{hook}\" blocked the action: {reason}. Adjust your approach; do not retry the \
         exact same call."
    );
    reminder(ReminderKind::Blocked, hook, &body)
}

fn reminder(kind: ReminderKind, hook: &str, body: &str) -> Reminder {
    let text = format!("<system-reminder>\n{}\n</system-reminder>", body.trim());
    Reminder { kind, hook: hook.to_string(), text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::outcome::{Cause, HookText, Refusal, Settled};

    #[test]
    fn a_refusal_tells_the_model_not_to_retry() {
        let outcome = Outcome {
            settled: Settled::Refused(Refusal {
                hook: Some("no-prod".into()),
                reason: "Production paths are off-limits".into(),
                cause: Cause::Policy,
            }),
            ..Outcome::default()
        };
        assert_eq!(
            reminders(&outcome)[0].text,
            "<system-reminder>\nHook \"no-prod\" blocked the action: Production paths are \
             off-limits. Adjust your approach; do not retry the exact same call.\n</system-reminder>"
        );
    }

    #[test]
    fn output_and_context_come_in_plan_order_and_blank_context_not_at_all() {
        let said = |hook: &str, output: Option<&str>, context: Option<&str>| HookText {
            hook: hook.into(),
            output: output.map(str::to_string),
            additional_context: context.map(str::to_string),
        };
        let outcome = Outcome {
            said: vec![
                said("a", Some(" ran \n"), Some("\n  ctx ")),
                said("b", Some(""), Some("  ")),
            ],
            ..Outcome::default()
        };
        let texts: Vec<String> = reminders(&outcome).into_iter().map(|one| one.text).collect();
        assert_eq!(
            texts,
            [
                "<system-reminder>\nHook \"a\" completed.\n\nran\n</system-reminder>",
                "<system-reminder>\nAdditional context from hook \"a\":\n\nctx\n</system-reminder>",
                "<system-reminder>\nHook \"b\" completed.\n</system-reminder>",
            ]
        );
    }

    fn refused(hook: &str) -> Outcome {
        let settled = Settled::Refused(Refusal {
            hook: Some(hook.into()),
            reason: "no".into(),
            cause: Cause::Policy,
        });
        Outcome { settled, ..Outcome::default() }
    }

    fn said(hook: &str) -> Outcome {
        let (output, context) = (Some(String::new()), Some("ctx".to_string()));
        let said = HookText { hook: hook.into(), output, additional_context: context };
        Outcome { said: vec![said], ..Outcome::default() }
    }

    fn drained(reminders: &Reminders) -> Vec<(ReminderKind, String)> {
        reminders.drain().into_iter().map(|one| (one.kind, one.hook)).collect()
    }

    #[test]
    fn reminders_of_several_runs_are_drained_once_in_order() {
        let reminders = Reminders::default();
        reminders.collect(&said("a"));
        reminders.clone().collect(&refused("b"));
        reminders.collect(&Outcome::default());
        assert_eq!(
            drained(&reminders),
            [
                (ReminderKind::Output, "a".to_string()),
                (ReminderKind::Context, "a".to_string()),
                (ReminderKind::Blocked, "b".to_string()),
            ]
        );
        assert!(reminders.drain().is_empty());
    }

    #[test]
    fn what_may_be_suppressed_is_and_a_refusal_never() {
        let reminders = Reminders::default();
        reminders.suppress("reminders.hook.success").unwrap();
        reminders.collect(&said("a"));
        assert_eq!(drained(&reminders), [(ReminderKind::Context, "a".to_string())]);
        reminders.suppress("reminders.hook.context").unwrap();
        assert!(reminders.suppress("reminders.hook.blocked").is_err());
        reminders.collect(&said("a"));
        reminders.collect(&refused("b"));
        assert_eq!(drained(&reminders), [(ReminderKind::Blocked, "b".to_string())]);
    }

    #[test]
    fn an_outcome_that_still_asks_reminds_of_nothing_until_it_is_answered() {
        let reminders = Reminders::default();
        let questions =
            vec![crate::engine::outcome::Question { hook: "q".into(), question: "ok?".into() }];
        let asked = Outcome { settled: Settled::Asked { questions }, ..said("a") };
        reminders.collect(&asked);
        assert!(reminders.drain().is_empty());
        reminders.collect(&asked.clone().answered(false, ""));
        assert_eq!(drained(&reminders), [(ReminderKind::Blocked, "q".to_string())]);
        reminders.collect(&asked.answered(true, ""));
        assert_eq!(reminders.drain().len(), 2);
    }
}
