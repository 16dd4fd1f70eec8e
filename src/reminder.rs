//! Outcomes become text for the model, so that a refused model knows why and changes course.
//!
//! The three forms and their exact words are loom's (`HookRuntime` and its reminder injector,
//! version 0.3.0), which models have been instructed with.

use crate::outcome::{NoticeKind, Outcome};

/// A text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// Which of the three forms it is.
    pub kind: ReminderKind,
    /// The hook that it comes from.
    pub hook: String,
    /// The text, inside `<system-reminder>` tags.
    pub text: String,
}

/// The three forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReminderKind {
    /// A hook said something to show.
    Output,
    /// A hook refused.
    Blocked,
    /// A hook gave context.
    Context,
}

impl ReminderKind {
    /// Its name in `--format json`.
    pub fn name(self) -> &'static str {
        match self {
            ReminderKind::Output => "output",
            ReminderKind::Blocked => "blocked",
            ReminderKind::Context => "context",
        }
    }
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
    use crate::outcome::{Cause, Refusal, Said, Settled};

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
        let said = |hook: &str, output: Option<&str>, context: Option<&str>| Said {
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
}
