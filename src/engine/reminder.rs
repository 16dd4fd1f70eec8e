//! Outcomes become text for the model, so that a blocked model knows why and changes course.
//!
//! The three forms and their exact words are loom's (`HookRuntime` and its reminder injector,
//! version 0.3.0), which models were instructed with.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::engine::names::names;
use crate::engine::outcome::{NoticeKind, Outcome, Settled};

/// A text for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    pub kind: ReminderKind,
    pub hook: String,
    /// Inside `<system-reminder>` tags.
    pub text: String,
}

/// The three forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReminderKind {
    /// A hook said something to show.
    Output,
    /// A hook blocked.
    Blocked,
    /// A hook gave context.
    Context,
}

names! { ReminderKind: Output "output", Blocked "blocked", Context "context" }

impl ReminderKind {
    /// Loom's name, by which it can be suppressed; `None` for a block, which cannot: a model that
    /// does not know of it tries again.
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
    shared: Arc<Mutex<CollectedTexts>>,
}

#[derive(Debug, Default)]
struct CollectedTexts {
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
    pub id: String,
}

impl Reminders {
    /// Adds the reminders of an outcome. An open question has none yet: collect what
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
    /// For any other id: a block cannot be kept from the model.
    pub fn suppress(&self, id: &str) -> Result<(), NotSuppressible> {
        let kinds = [ReminderKind::Output, ReminderKind::Context];
        let kind = kinds.into_iter().find(|kind| kind.id() == Some(id));
        let kind = kind.ok_or_else(|| NotSuppressible { id: id.to_string() })?;
        self.lock().suppressed.insert(kind);
        Ok(())
    }

    // Nothing in here panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, CollectedTexts> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the model gets in place of the result of a blocked tool, in loom's words.
pub fn refused_result(reason: &str) -> String {
    format!(
        "Permission denied by hook: {reason}. Do not retry; the host environment has rejected \
         this action. Surface the block to the user with the hook's reason verbatim."
    )
}

/// The reminders of an outcome: outputs and contexts in plan order, then objections, then the block.
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
    use crate::engine::outcome::{Cause, HookText, Question, Refusal};

    fn refused(hook: &str) -> Outcome {
        let refusal =
            Refusal { hook: Some(hook.into()), reason: "no".into(), cause: Cause::Policy };
        Outcome { settled: Settled::Refused(refusal), ..Outcome::default() }
    }

    fn said(hook: &str, output: &str, context: &str) -> Outcome {
        let (output, additional_context) = (Some(output.to_string()), Some(context.to_string()));
        let said = vec![HookText { hook: hook.into(), output, additional_context }];
        Outcome { said, ..Outcome::default() }
    }

    fn drained(reminders: &Reminders) -> Vec<String> {
        let inner = |one: Reminder| {
            let text = one.text.strip_prefix("<system-reminder>\n").unwrap().to_string();
            text.strip_suffix("\n</system-reminder>").unwrap().to_string()
        };
        reminders.drain().into_iter().map(inner).collect()
    }

    #[test]
    fn reminders_of_several_runs_are_drained_once_in_order() {
        let reminders = Reminders::default();
        reminders.collect(&said("a", " ran \n", "\n  ctx "));
        reminders.collect(&said("b", "", "  "));
        reminders.clone().collect(&refused("c"));
        reminders.collect(&Outcome::default());
        assert_eq!(
            drained(&reminders),
            [
                "Hook \"a\" completed.\n\nran",
                "Additional context from hook \"a\":\n\nctx",
                "Hook \"b\" completed.",
                "Hook \"c\" blocked the action: no. Adjust your approach; do not retry the exact same \
                 call.",
            ]
        );
        assert!(reminders.drain().is_empty());
    }

    #[test]
    fn what_may_be_suppressed_is_and_a_block_never() {
        let reminders = Reminders::default();
        reminders.suppress("reminders.hook.success").unwrap();
        reminders.collect(&said("a", "", "ctx"));
        assert!(drained(&reminders)[0].starts_with("Additional context"));
        reminders.suppress("reminders.hook.context").unwrap();
        assert!(reminders.suppress("reminders.hook.blocked").is_err());
        reminders.collect(&said("a", "", "ctx"));
        reminders.collect(&refused("b"));
        assert!(drained(&reminders)[0].starts_with("Hook \"b\" blocked"));
    }

    #[test]
    fn an_outcome_that_still_asks_reminds_of_nothing_until_it_is_answered() {
        let reminders = Reminders::default();
        let questions = vec![Question { hook: "q".into(), question: "ok?".into() }];
        let asked = Outcome { settled: Settled::Asked { questions }, ..said("a", "", "ctx") };
        reminders.collect(&asked);
        assert!(reminders.drain().is_empty());
        reminders.collect(&asked.clone().answered(false, ""));
        assert!(drained(&reminders)[0].starts_with("Hook \"q\" blocked"));
        reminders.collect(&asked.answered(true, ""));
        assert_eq!(reminders.drain().len(), 2);
    }
}
