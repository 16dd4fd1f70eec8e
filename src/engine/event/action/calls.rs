//! Calls of other tools in the input of one: OpenCode's `batch`, Codex's `multi_tool_use`, and
//! whatever else passes calls on.

use std::borrow::Cow;

use super::ActionKind;
use super::input::{InputEntries, is_one_of};
use crate::engine::event::context::ContextError;
use crate::engine::event::json::{distinct_entries, elements, string_text};

/// Keys that hold the name of a tool and nothing else.
const TOOL_KEYS: &[&str] = &["tool", "toolname", "recipientname", "recipient", "functionname"];

/// Keys that hold the name of a tool where its input is there too.
const NAME_KEYS: &[&str] = &["name", "function", "method", "action"];

/// Keys that hold the input of a tool.
pub(super) const INPUT_KEYS: &[&str] =
    &["parameters", "params", "input", "toolinput", "arguments", "args"];

/// Calls in calls deeper than this are not looked for.
const MOST_LEVELS: usize = 8;

/// A call of a tool.
pub(super) struct Call<'i> {
    pub(super) tool: String,
    pub(super) input: Option<&'i str>,
    /// Where its input is, for messages.
    pub(super) place: String,
}

/// The calls of tools of a known sort in this input: objects that name a tool and its input.
///
/// # Errors
/// When a key of an object stands twice.
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
    found.extend(call(raw, &entries, place));
    for (key, inner) in entries.iter().filter(|(_, inner)| inner.starts_with(['{', '['])) {
        look(inner, &format!("{place}.{key}"), level + 1, found)?;
    }
    Ok(())
}

fn call<'i>(raw: &'i str, entries: &[(Cow<'i, str>, &'i str)], place: &str) -> Option<Call<'i>> {
    let (key, input) = value(entries, INPUT_KEYS).unzip();
    let named =
        value(entries, TOOL_KEYS).or_else(|| value(entries, NAME_KEYS).filter(|_| key.is_some()));
    let name = string_text(named?.1)?;
    // `functions.exec_command` is Codex's.
    let known = |name: &str| !matches!(ActionKind::of_tool(name), ActionKind::Other);
    let tool = match name.rsplit_once('.') {
        Some((_, last)) if !known(&name) => last.to_string(),
        Some(_) | None => name,
    };
    let place = key.map_or_else(|| place.to_string(), |key| format!("{place}.{key}"));
    known(&tool).then(|| Call { tool, input: input.or(Some(raw)), place })
}

/// The first of the keys that is there, with its value.
fn value<'a, 'i>(entries: &'a InputEntries<'i>, keys: &[&str]) -> Option<(&'a str, &'i str)> {
    let find = |wanted: &&str| entries.iter().find(|(key, _)| is_one_of(key, &[*wanted]));
    keys.iter().find_map(find).map(|(key, raw)| (key.as_ref(), *raw))
}
