//! What a tool is given: where a command line and paths stand in it.

use std::borrow::Cow;

use super::commands::{find_commands, other_texts};
use super::paths::{Guesses, NamedPaths};
use super::{Action, ActionKind, calls, patch};
use crate::engine::event::context::ContextError;
use crate::engine::event::json::{distinct_entries, elements, is_json, string_text};

/// Keys of a tool input that can hold the text of a patch: Codex CLI's, OpenCode's `patchText`,
/// and those of tools that take a unified diff.
const PATCH_KEYS: &[&str] = &["patch", "input", "command", "patchtext", "diff"];

/// What a call of several tools is taken for: the first of these that is among them.
const GRAVEST: &[ActionKind] = &[
    ActionKind::Shell,
    ActionKind::Write,
    ActionKind::Edit,
    ActionKind::Mcp,
    ActionKind::Other,
    ActionKind::Agent,
    ActionKind::Fetch,
    ActionKind::Read,
    ActionKind::Search,
];

/// What a tool is given: keys, and values as text.
pub(super) type InputEntries<'a> = [(Cow<'a, str>, &'a str)];

/// The action of a call of the tool `name`.
///
/// # Errors
/// When a key of the input appears twice.
pub(super) fn read(name: &str, input: Option<&str>) -> Result<Action, ContextError> {
    let kind = ActionKind::of_tool(name);
    let input = input.map(opened);
    let whole = read_one(kind, input.as_deref(), "toolInput")?;
    match (kind, input) {
        (ActionKind::Other, Some(input)) => with_calls(whole, &input),
        _ => Ok(whole),
    }
}

/// The action with the calls of other tools that its input holds.
fn with_calls(whole: Action, input: &str) -> Result<Action, ContextError> {
    let calls = calls::find(input)?;
    if calls.is_empty() {
        return Ok(whole);
    }
    let (mut commands, mut paths, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    for call in &calls {
        let input = call.input.map(opened);
        let one = read_one(ActionKind::of_tool(&call.tool), input.as_deref(), &call.place)?;
        commands.extend(one.command);
        add_new(&mut paths, one.paths);
        kinds.push(one.kind);
    }
    // What is outside of the calls is still what a tool that nobody knows is given.
    let is_told = |line: &str| commands.iter().any(|told: &String| told.contains(line));
    let own = whole.command.filter(|text| !text.lines().all(is_told));
    if own.is_some() {
        kinds.push(ActionKind::Shell);
        commands.extend(own);
    }
    add_new(&mut paths, whole.paths);
    let kind = GRAVEST.iter().copied().find(|kind| kinds.contains(kind));
    let command = (!commands.is_empty()).then(|| commands.join("\n"));
    Ok(Action { kind: kind.unwrap_or(ActionKind::Other), command, paths, resolved: Vec::new() })
}

fn add_new(known: &mut Vec<String>, more: Vec<String>) {
    for one in more {
        if !known.contains(&one) {
            known.push(one);
        }
    }
}

fn read_one(kind: ActionKind, input: Option<&str>, place: &str) -> Result<Action, ContextError> {
    let Some(input) = input else {
        return Ok(Action { kind, command: None, paths: Vec::new(), resolved: Vec::new() });
    };
    let entries =
        distinct_entries(input).map_err(|key| ContextError::Duplicate(format!("{place}.{key}")))?;
    let mut command = find_commands(kind, input, &entries);
    let named = NamedPaths::read(kind, input);
    let patched = match (kind, &command) {
        (ActionKind::Shell, Some(line)) => {
            patch::in_folders(patch::in_command(line), &named.folders)
        }
        (ActionKind::Shell, None) => Vec::new(),
        _ => patch::in_texts(&patch_texts(input, &entries)),
    };
    if kind == ActionKind::Edit && !patched.is_empty() {
        command = None;
    }
    let mut paths = named.paths;
    if paths.is_empty() && patched.is_empty() {
        paths = Guesses::read(kind, "", input).likely();
    }
    paths.extend(patched);
    Ok(Action { kind, command, paths, resolved: Vec::new() })
}

/// The texts of a tool input that may each be a path, though no key says so.
pub(super) fn guesses(kind: ActionKind, name: &str, input: &str) -> Guesses {
    Guesses::read(kind, name, &opened(input))
}

/// The texts of a shell's input that may each be run, though no key says so.
pub(super) fn guessed_commands(input: &str) -> Vec<String> {
    other_texts(&opened(input))
}

/// An input that is the text of a JSON object or list, as that.
fn opened(input: &str) -> Cow<'_, str> {
    let text = string_text(input).filter(|text| text.trim_start().starts_with(['{', '[']));
    match text {
        Some(text) if is_json(&text) => Cow::Owned(text.trim().to_string()),
        Some(_) | None => Cow::Borrowed(input),
    }
}

/// Whether a key is one of these, without regard to case, `_` and `-`.
pub(super) fn is_one_of(key: &str, keys: &[&str]) -> bool {
    keys.iter().any(|known| plain(key).eq(known.chars()))
}

/// Whether a key ends in one of these, without regard to case, `_` and `-`.
pub(super) fn ends_in(key: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| {
        plain(key).count() >= ending.len()
            && plain(key).skip(plain(key).count() - ending.len()).eq(ending.chars())
    })
}

fn plain(key: &str) -> impl Iterator<Item = char> + '_ {
    let letters = key.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase)
}

/// A text, or the texts of a list.
fn texts_of(raw: &str) -> Vec<String> {
    match elements(raw) {
        Some(list) => list.iter().filter_map(|text| string_text(text.get())).collect(),
        None => string_text(raw).into_iter().collect(),
    }
}

/// The texts in a tool input that may be patches.
fn patch_texts(input: &str, entries: &InputEntries<'_>) -> Vec<String> {
    let mut texts: Vec<String> = string_text(input).into_iter().collect();
    let own = entries.iter().filter(|(key, _)| is_one_of(key, PATCH_KEYS));
    texts.extend(own.flat_map(|(_, raw)| texts_of(raw)));
    texts
}
