//! Finds command lines in a tool's input, and nested calls of other tools, such as OpenCode's
//! `batch` and Codex's `multi_tool_use`.

use serde_json::value::RawValue;

use super::tool::{
    ActionKind, COMMAND_KEYS, FOLDER_KEYS, Key, MORE_COMMAND_KEYS, ToolInput, each_keyed_text,
    inner_json,
};
use crate::engine::complaint::Complaint;
use crate::engine::event::context::duplicate;
use crate::engine::event::json::{
    distinct_entries, elements, key_text, raw_entries, scalar_text, string_text,
};
use crate::engine::names::words;

/// Command keys of shell tools (Copilot CLI `write_bash`, Codex `write_stdin`).
const SHELL_KEYS: &[&str] = &["input", "chars"];

/// Possible command keys of unknown tools; a single word is not a command.
const PROGRAM_KEYS: &[&str] = &["code", "chars", "stdin"];

/// Operations that file tools of Copilot CLI and Kiro pass as `command`.
const EDITOR_COMMANDS: &[&str] =
    words!("view" "create" "str_replace" "insert" "append" "undo_edit");

const ARGUMENT_KEYS: &[&str] = &["args", "arguments", "argv"];

const LIST_KEY: &str = "commands";

/// Keys of a shell's input that are for people.
const PEOPLE_KEYS: &[&str] =
    words!("description" "explanation" "justification" "reason" "title" "toolsummary");

/// Returns all command lines in a tool's input: the tool may run any of them.
pub(super) fn find_commands(input: &ToolInput<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    of_object(input.kind, &input.entries, true, &mut lines);
    lines
}

/// Adds the command lines of an object: first its own with their arguments, then those nested in it
/// and texts that may be programs. At the top, a list under a command's key is one command.
fn of_object(kind: ActionKind, entries: &[(Key, &str)], is_top: bool, lines: &mut Vec<String>) {
    let is_shell = kind == ActionKind::Shell;
    let runs = is_shell || kind.is_unknown();
    let more = if runs { MORE_COMMAND_KEYS } else { &[] };
    let of_shell = if is_shell { SHELL_KEYS } else { &[] };
    let mut own: Vec<(&Key, String)> = Vec::new();
    for wanted in COMMAND_KEYS.iter().chain(more).chain(of_shell) {
        for (key, raw) in entries.iter().filter(|(key, _)| key.is(wanted)) {
            let found = command_lines(raw, key.is(LIST_KEY));
            own.extend(found.into_iter().map(|line| (key, line)));
        }
    }
    let is_editor = matches!(
        kind,
        ActionKind::Read | ActionKind::Write | ActionKind::Edit
    );
    own.retain(|(_, line)| {
        let is_of_editor = is_editor && EDITOR_COMMANDS.contains(&line.as_str());
        !line.trim().is_empty() && !is_of_editor
    });
    if runs {
        add_arguments(&mut own, entries);
    }
    lines.extend(own.into_iter().map(|(_, line)| line));
    if !runs {
        return;
    }
    for (key, raw) in entries {
        if !is_shell && key.is_in(PROGRAM_KEYS) {
            lines.extend(string_text(raw).filter(|text| is_program(text)));
        }
        let inner = if key.is_in(INPUT_KEYS) {
            inner_json(raw)
        } else {
            None
        };
        let raw = inner.as_deref().unwrap_or(raw).trim_start();
        let is_taken = is_top
            && (key.is_of_command() || key.is_in(ARGUMENT_KEYS))
            && elements(raw).is_some_and(|list| is_plain(&list));
        if !is_taken {
            below(raw, key, lines);
        }
    }
}

fn below(raw: &str, key: &Key, lines: &mut Vec<String>) {
    for one in elements(raw).into_iter().flatten() {
        if key.is_of_command() {
            lines.extend(command_lines(one.get(), false));
        }
        below(one.get(), key, lines);
    }
    let entries = raw_entries(raw).into_iter();
    let entries = entries.map(|(key, value)| (Key::new(&key_text(key)), value.get()));
    let entries: Vec<(Key, &str)> = entries.collect();
    of_object(ActionKind::Other, &entries, false, lines);
}

fn add_arguments(lines: &mut [(&Key, String)], entries: &[(Key, &str)]) {
    for (key, raw) in entries.iter().filter(|(key, _)| key.is_in(ARGUMENT_KEYS)) {
        let words = command_lines(raw, false).into_iter().next();
        let is_text = raw.starts_with(['"', '[']);
        let Some(words) = words.filter(|text| is_text && !text.is_empty()) else {
            continue;
        };
        for (_, line) in lines.iter_mut().filter(|(own, _)| *own != key) {
            line.push(' ');
            line.push_str(&words);
        }
    }
}

/// Returns command lines as text. Joins a list of words, and unwraps `bash -lc TEXT`. With
/// `is_list`, each element is a command.
fn command_lines(raw: &str, is_list: bool) -> Vec<String> {
    // Cline's extension encodes the list as text.
    let inner = if is_list { inner_json(raw) } else { None };
    let raw = inner.as_deref().unwrap_or(raw);
    if raw.starts_with('{') {
        return Vec::new();
    }
    let Some(list) = elements(raw) else {
        return scalar_text(raw).into_iter().collect();
    };
    if !is_plain(&list) {
        return Vec::new();
    }
    let words = list.iter().filter_map(|word| scalar_text(word.get()));
    let words: Vec<String> = words.collect();
    if is_list { words } else { vec![joined(words)] }
}

fn is_plain(list: &[&RawValue]) -> bool {
    !list.iter().any(|one| one.get().starts_with(['{', '[']))
}

fn joined(words: Vec<String>) -> String {
    match words.as_slice() {
        [shell, flag, text] if is_shell(shell) && (flag == "-c" || flag == "-lc") => text.clone(),
        [one] => one.clone(),
        words => shell_words::join(words),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    ["sh", "bash", "dash", "zsh", "ksh", "fish"].contains(&name)
}

fn is_program(text: &str) -> bool {
    text.trim() != text || text.contains(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
}

/// Returns all text of an input, which counts as a command if none is found.
pub(super) fn all_text(input: &ToolInput<'_>) -> Option<String> {
    let entries = input.entries.iter();
    let texts: Vec<String> = entries.filter_map(|(_, raw)| line_or_text(raw)).collect();
    if texts.is_empty() {
        return line_or_text(input.raw);
    }
    Some(texts.join("\n"))
}

fn line_or_text(raw: &str) -> Option<String> {
    let line = command_lines(raw, false).pop();
    line.or_else(|| scalar_text(raw))
}

/// Returns true if a shell's input has a command, under any key, or the id of a running one. An
/// empty command runs nothing; a text for people, or a number in place of a command, is none.
pub(super) fn has_command(input: &ToolInput<'_>) -> bool {
    let entries = input.entries.iter();
    let mut given = entries.filter(|(key, _)| key.is_of_command()).peekable();
    if given.peek().is_some() {
        return given.any(|(_, raw)| raw.starts_with(['"', '[', '{']));
    }
    let mut is_found = input.entries.iter().any(|(key, _)| key.ends_in(&["id"]));
    each_keyed_text(input.raw, &mut |key, raw| {
        is_found |= !key.is_in(PEOPLE_KEYS) && string_text(raw).is_some();
    });
    is_found
}

/// Returns texts of a shell's input other than commands, folders and texts for people.
pub(super) fn other_texts(input: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_keyed_text(input, &mut |key, raw| {
        let mut others = [PEOPLE_KEYS, FOLDER_KEYS, COMMAND_KEYS].iter();
        if !others.any(|keys| key.is_in(keys)) {
            found.extend(string_text(raw));
        }
    });
    found
}

const TOOL_KEYS: &[&str] = words!("tool" "toolname" "recipientname" "recipient" "functionname");

/// Keys that hold a tool's name if its input is present.
const NAME_KEYS: &[&str] = &["name", "function", "method", "action"];

const INPUT_KEYS: &[&str] = words!("parameters" "params" "input" "toolinput" "arguments" "args");

const MOST_LEVELS: usize = 8;

pub(super) struct Call<'i> {
    pub(super) kind: ActionKind,
    pub(super) input: &'i str,
    /// Path of its input, for messages.
    pub(super) place: String,
}

/// Finds calls of known tools in the input at this place: objects with a tool's name and input.
/// Fails if a key of an object appears twice.
pub(super) fn find_calls<'i>(
    raw: &'i str,
    place: &str,
    level: usize,
    found: &mut Vec<Call<'i>>,
) -> Result<(), Complaint> {
    if level > MOST_LEVELS {
        return Ok(());
    }
    for (number, one) in elements(raw).into_iter().flatten().enumerate() {
        find_calls(one.get(), &format!("{place}.{number}"), level + 1, found)?;
    }
    let entries = distinct_entries(raw).map_err(|key| duplicate(&format!("{place}.{key}")))?;
    let keyed = entries.iter();
    let keyed = keyed.map(|(key, inner)| (Key::new(key), key.as_ref(), *inner));
    found.extend(call(raw, &keyed.collect::<Vec<_>>(), place));
    for (key, inner) in &entries {
        find_calls(inner, &format!("{place}.{key}"), level + 1, found)?;
    }
    Ok(())
}

fn call<'i>(raw: &'i str, entries: &[(Key, &str, &'i str)], place: &str) -> Option<Call<'i>> {
    let input = first_of(INPUT_KEYS, entries);
    let mut named = first_of(TOOL_KEYS, entries);
    if named.is_none() && input.is_some() {
        named = first_of(NAME_KEYS, entries);
    }
    let name = string_text(named?.2)?;
    // Codex writes `functions.exec_command`.
    let last = name.rsplit('.').next().unwrap_or_default();
    let kinds = [name.as_str(), last].map(ActionKind::of_tool);
    let kind = kinds.into_iter().find(|kind| *kind != ActionKind::Other)?;
    Some(Call {
        kind,
        input: input.map_or(raw, |(.., input)| input),
        place: input.map_or_else(|| place.to_string(), |(_, key, _)| format!("{place}.{key}")),
    })
}

fn first_of<'e, 'i>(
    keys: &[&str],
    entries: &'e [(Key, &'e str, &'i str)],
) -> Option<&'e (Key, &'e str, &'i str)> {
    let mut keys = keys.iter();
    keys.find_map(|known| entries.iter().find(|(key, ..)| key.is(known)))
}
