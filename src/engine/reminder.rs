//! Reminders for the model, so that it knows why an action is blocked and changes course.
//!
//! The three forms and their text are loom's (`HookRuntime` and its reminder injector, version
//! 0.3.0), which models were instructed with.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::engine::lock::locked;
use crate::engine::names::{names, reported};
use crate::engine::outcome::{NoticeKind, Outcome, Settled};

reported! {
    /// Text for the model.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Reminder {
        pub kind: ReminderKind,
        pub hook: String,
        /// With `<system-reminder>` tags.
        pub text: String,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub enum ReminderKind {
        /// Output to show.
        Output,
        Blocked,
        /// Context for the model.
        Context,
    }
}

names! { ReminderKind: Output "output", Blocked "blocked", Context "context" }

/// Reminders of several runs, collected until the next request to the model. Clones share them.
///
/// ```
/// use hookrun::{HookText, Outcome, Reminders};
///
/// let reminders = Reminders::default();
/// let text = HookText {
///     hook: "branch".into(),
///     output: None,
///     additional_context: Some("on main".into()),
/// };
/// reminders.collect(&Outcome { texts: vec![text], ..Outcome::default() });
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
    waiting: Arc<Mutex<Vec<Reminder>>>,
}

impl Reminders {
    /// Adds an outcome's reminders. An open question has none: collect [`Outcome::answered`].
    pub fn collect(&self, outcome: &Outcome) {
        if !matches!(outcome.settled, Settled::Asked { .. }) {
            locked(&self.waiting).extend(reminders(outcome));
        }
    }

    /// Returns and removes the collected reminders, in order.
    pub fn drain(&self) -> Vec<Reminder> {
        std::mem::take(&mut locked(&self.waiting))
    }
}

/// Returns loom's text for the model in place of a blocked tool's result.
pub fn blocked_result(reason: &str) -> String {
    format!(
        "Permission denied by hook: {reason}. Do not retry; the host environment has rejected \
         this action. Surface the block to the user with the hook's reason verbatim."
    )
}

/// Returns an outcome's reminders: outputs and contexts in plan order, then objections, then the
/// block.
pub fn reminders(outcome: &Outcome) -> Vec<Reminder> {
    let mut reminders = Vec::new();
    for from_hook in &outcome.texts {
        if let Some(output) = &from_hook.output {
            let output = output.trim();
            let gap = if output.is_empty() { "" } else { "\n\n" };
            let body = format!("Hook \"{}\" completed.{gap}{output}", from_hook.hook);
            reminders.push(reminder(ReminderKind::Output, &from_hook.hook, &body));
        }
        let context = from_hook.additional_context.as_deref().map(str::trim);
        if let Some(context) = context.filter(|text| !text.is_empty()) {
            let body = format!(
                "Additional context from hook \"{}\":\n\n{context}",
                from_hook.hook
            );
            reminders.push(reminder(ReminderKind::Context, &from_hook.hook, &body));
        }
    }
    for notice in &outcome.notices {
        if notice.kind == NoticeKind::Block {
            reminders.push(blocked(&notice.hook, &notice.text));
        }
    }
    if let Some(block) = outcome.block() {
        let hooks: Vec<&str> = block.hooks().map(String::as_str).collect();
        let hooks = if hooks.is_empty() {
            "hookrun".to_string()
        } else {
            hooks.join(", ")
        };
        reminders.push(blocked(&hooks, &block.reason));
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
    Reminder {
        kind,
        hook: hook.to_string(),
        text,
    }
}
