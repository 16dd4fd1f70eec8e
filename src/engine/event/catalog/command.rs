//! Commands: events that exist because a hook answers them, `command.NAME`.
//!
//! A user gives a command by its name; the hook's output is the answer. The idea is oh-my-pi's
//! (`registerCommand`), where the first that is loaded wins.

use super::keys::{ARGS, CWD, SESSION_ID};
use super::rows::GATE;
use crate::engine::event::spec::{Conduct, ContextKey, EventSpec};

/// How the names of these events begin.
pub const PREFIX: &str = "command.";

const CONTEXT: &[ContextKey] = &[ARGS, SESSION_ID, CWD];

/// The event of the command `name`, which does what `description` says.
pub fn event(name: &str, description: Option<&str>) -> EventSpec {
    let about = description
        .map(|text| format!(": {text}"))
        .unwrap_or_default();
    EventSpec {
        name: format!("{PREFIX}{name}").into(),
        summary: format!("the user gives the command `{name}`{about}").into(),
        aliases: &[],
        context: CONTEXT.into(),
        required: [].as_slice().into(),
        blocks: GATE.blocks,
        rewrites: [].as_slice().into(),
        on_failure: GATE.on_failure,
        schedule: GATE.schedule,
        conduct: Conduct::USUAL,
    }
}

/// The name of the command of the event `event`; in any case; `None` for an event of another kind.
/// It need not be a valid name.
pub fn name_of(event: &str) -> Option<&str> {
    // An alias of the catalog begins so too, and has a second dot.
    if super::find(event).is_some() {
        return None;
    }
    let (start, name) = event.split_at_checked(PREFIX.len())?;
    start.eq_ignore_ascii_case(PREFIX).then_some(name)
}

/// Whether a command can be called `name`: letters, digits, `-`, `_` and `:`.
pub fn is_name(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    !name.is_empty() && name.chars().all(is_good)
}
