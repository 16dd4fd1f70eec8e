//! Calls of other tools in the input of one: OpenCode's `batch`, Codex's `multi_tool_use`, and
//! every other tool that passes calls on.

use super::input::Key;
use super::kind::ActionKind;
use crate::engine::event::context::ContextError;
use crate::engine::event::json::{distinct_entries, elements, string_text};

/// Keys that hold the name of a tool and nothing else.
const TOOL_KEYS: &[&str] = &[
    "tool",
    "toolname",
    "recipientname",
    "recipient",
    "functionname",
];

/// Keys that hold the name of a tool if its input is there too.
const NAME_KEYS: &[&str] = &["name", "function", "method", "action"];

/// Keys that hold the input of a tool.
pub(super) const INPUT_KEYS: &[&str] = &[
    "parameters",
    "params",
    "input",
    "toolinput",
    "arguments",
    "args",
];

/// Calls in calls deeper than this are not looked for.
const MOST_LEVELS: usize = 8;

/// A call of a tool.
pub(super) struct Call<'i> {
    pub(super) kind: ActionKind,
    pub(super) input: &'i str,
    /// Where its input is, for messages.
    pub(super) place: String,
}

/// The calls of tools of a known sort in this input: objects that name a tool and its input.
///
/// # Errors
/// When a key of an object appears twice.
pub(super) fn find(input: &str) -> Result<Vec<Call<'_>>, ContextError> {
    let mut found = Vec::new();
    look(input, "toolInput", 0, &mut found)?;
    Ok(found)
}

fn look<'i>(
    raw: &'i str,
    place: &str,
    level: usize,
    found: &mut Vec<Call<'i>>,
) -> Result<(), ContextError> {
    if level > MOST_LEVELS {
        return Ok(());
    }
    for (number, one) in elements(raw).into_iter().flatten().enumerate() {
        look(one.get(), &format!("{place}.{number}"), level + 1, found)?;
    }
    let entries =
        distinct_entries(raw).map_err(|key| ContextError::Duplicate(format!("{place}.{key}")))?;
    let keyed = entries
        .iter()
        .map(|(key, inner)| (Key::new(key), key.as_ref(), *inner));
    found.extend(call(raw, &keyed.collect::<Vec<_>>(), place));
    for (key, inner) in entries
        .iter()
        .filter(|(_, inner)| inner.starts_with(['{', '[']))
    {
        look(inner, &format!("{place}.{key}"), level + 1, found)?;
    }
    Ok(())
}

fn call<'i>(raw: &'i str, entries: &[(Key, &str, &'i str)], place: &str) -> Option<Call<'i>> {
    let first = |keys: &[&str]| {
        keys.iter()
            .find_map(|known| entries.iter().find(|(key, ..)| key.is(known)))
    };
    let input = first(INPUT_KEYS);
    let named = first(TOOL_KEYS).or_else(|| first(NAME_KEYS).filter(|_| input.is_some()));
    let name = string_text(named?.2)?;
    // `functions.exec_command` is Codex's.
    let last = name.rsplit('.').next().unwrap_or_default();
    let kinds = [name.as_str(), last].map(ActionKind::of_tool);
    let kind = kinds.into_iter().find(|kind| *kind != ActionKind::Other)?;
    Some(match input {
        Some((_, key, input)) => Call {
            kind,
            input,
            place: format!("{place}.{key}"),
        },
        None => Call {
            kind,
            input: raw,
            place: place.to_string(),
        },
    })
}
