//! The command lines in what a tool is given.

use super::ActionKind;
use super::calls::INPUT_KEYS;
use super::input::{InputEntries, is_one_of};
use super::paths::FOLDER_KEYS;
use crate::engine::event::json::{each_text, elements, is_json, scalar_text, string_text};

/// Keys that hold a command line, in order of trust; without regard to case, `_` and `-`.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// Keys that hold one where a tool runs commands, or does what nobody knows.
const MORE_KEYS: &[&str] =
    &["commandline", "shellcommand", "commands", "program", "executable", "argv"];

/// Keys that hold one in the input of a shell (Copilot CLI `write_bash`, Codex `write_stdin`).
const SHELL_KEYS: &[&str] = &["input", "chars"];

/// Keys that may hold one where nobody knows what a tool does: one word under them is none.
const PROGRAM_KEYS: &[&str] = &["code", "chars", "stdin"];

/// Keys that hold the words after a command.
const ARGUMENT_KEYS: &[&str] = &["args", "arguments", "argv"];

/// Keys of several command lines.
const LIST_KEYS: &[&str] = &["commands"];

/// Keys of a shell's input that are for people.
const PEOPLE_KEYS: &[&str] =
    &["description", "explanation", "justification", "reason", "title", "toolsummary"];

/// Whether a key holds a command line.
pub(super) fn is_command_key(key: &str) -> bool {
    is_one_of(key, COMMAND_KEYS) || is_one_of(key, MORE_KEYS)
}

/// The command lines in a tool input, one a line where there are several: which of them a tool
/// reads is its own business, and a policy must see it.
pub(super) fn find_commands(
    kind: ActionKind,
    input: &str,
    entries: &InputEntries<'_>,
) -> Option<String> {
    let runs = matches!(kind, ActionKind::Shell | ActionKind::Other | ActionKind::Mcp);
    let mut lines = Vec::new();
    let more = if kind == ActionKind::Shell { SHELL_KEYS } else { &[] };
    let keys = COMMAND_KEYS.iter().chain(if runs { MORE_KEYS } else { &[] }).chain(more);
    for wanted in keys {
        for (_, raw) in entries.iter().filter(|(key, _)| is_one_of(key, &[wanted])) {
            let is_list = LIST_KEYS.contains(wanted);
            lines.extend(
                command_lines(raw, is_list).into_iter().map(|line| Line { key: wanted, line }),
            );
        }
    }
    lines.retain(|one| !one.line.trim().is_empty());
    if runs {
        add_arguments(&mut lines, entries);
    }
    let mut lines: Vec<String> = lines.into_iter().map(|one| one.line).collect();
    if runs {
        lines.extend(deep(kind, entries));
    }
    if lines.is_empty() && kind == ActionKind::Shell {
        // A command that cannot be found must not be one that no policy sees.
        lines.extend(all_text(input, entries));
    }
    // A command may be large: one is not copied.
    if lines.len() <= 1 { lines.pop() } else { Some(lines.join("\n")) }
}

struct Line<'k> {
    key: &'k str,
    line: String,
}

/// Adds the words that are given beside a command.
fn add_arguments(lines: &mut [Line<'_>], entries: &InputEntries<'_>) {
    for (key, raw) in entries.iter().filter(|(key, _)| is_one_of(key, ARGUMENT_KEYS)) {
        let Some(words) = words_text(raw) else { continue };
        for one in lines.iter_mut().filter(|one| !is_one_of(key, &[one.key])) {
            one.line.push(' ');
            one.line.push_str(&words);
        }
    }
}

/// The words of a text or a list, and none of an object.
fn words_text(raw: &str) -> Option<String> {
    let is_text = raw.starts_with(['"', '[']);
    command_lines(raw, false).into_iter().next().filter(|text| is_text && !text.is_empty())
}

/// A command as text: a list of words is joined, and of `bash -lc TEXT` the text is taken. Of a
/// list of commands each is one.
fn command_lines(raw: &str, is_list: bool) -> Vec<String> {
    if raw.starts_with('{') {
        return Vec::new();
    }
    let Some(list) = elements(raw) else { return scalar_text(raw).into_iter().collect() };
    if list.iter().any(|one| one.get().starts_with(['{', '['])) {
        return Vec::new();
    }
    let words: Vec<String> = list.iter().filter_map(|word| scalar_text(word.get())).collect();
    if is_list { words } else { vec![joined(words)] }
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

/// The texts that stand under one key: one, or those of a list.
struct Group<'i> {
    key: &'i str,
    texts: Vec<String>,
    is_argument: bool,
}

/// The command lines deeper in a tool input, and those texts of it that may be programs.
fn deep(kind: ActionKind, entries: &InputEntries<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (key, raw) in entries {
        if kind != ActionKind::Shell && is_one_of(key, PROGRAM_KEYS) {
            found.extend(string_text(raw).filter(|text| is_program(text)));
        }
        let inner = if is_one_of(key, INPUT_KEYS) { string_text(raw) } else { None };
        let inner = inner.filter(|text| text.trim_start().starts_with(['{', '[']) && is_json(text));
        let raw = inner.as_deref().unwrap_or(raw).trim_start();
        let is_taken = is_command_key(key) || is_one_of(key, ARGUMENT_KEYS);
        let is_plain_list = || {
            elements(raw)
                .is_some_and(|list| !list.iter().any(|one| one.get().starts_with(['{', '['])))
        };
        if raw.starts_with(['{', '[']) && !(is_taken && is_plain_list()) {
            found.extend(lines_of(groups(raw, key)));
        }
    }
    found
}

fn is_program(text: &str) -> bool {
    text.trim() != text || text.contains(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
}

fn groups<'i>(raw: &'i str, around: &'i str) -> Vec<Group<'i>> {
    let mut found: Vec<Group<'i>> = Vec::new();
    each_text(raw, &mut |quoted, text| {
        let key = string_text(quoted);
        let key = key.as_deref().unwrap_or(around);
        let is_argument = is_one_of(key, ARGUMENT_KEYS);
        let is_program_key = is_one_of(key, PROGRAM_KEYS);
        if !is_argument && !is_command_key(key) && !is_program_key {
            return;
        }
        let Some(text) = string_text(text).filter(|text| !is_program_key || is_program(text))
        else {
            return;
        };
        let is_list = is_one_of(key, LIST_KEYS);
        match found.last_mut() {
            // The same list goes on.
            Some(last) if std::ptr::eq(last.key, quoted) && !is_list => last.texts.push(text),
            _ => found.push(Group { key: quoted, texts: vec![text], is_argument }),
        }
    });
    found
}

/// Arguments may stand before their command or after it.
fn lines_of(groups: Vec<Group<'_>>) -> Vec<String> {
    let is_argv = |key: &str| string_text(key).is_some_and(|key| is_one_of(&key, &["argv"]));
    let mut arguments = vec![None; groups.len() + 2];
    let mut commands = Vec::new();
    let mut is_command = vec![false; arguments.len()];
    for (place, group) in groups.into_iter().enumerate() {
        let text = joined(group.texts);
        if group.is_argument {
            arguments[place + 1] = Some((text, is_argv(group.key)));
        } else {
            is_command[place + 1] = true;
            commands.push((place + 1, text));
        }
    }
    let mut lines = Vec::new();
    let is_told = |place: usize| is_command[place - 1] || is_command[place + 1];
    for (place, argument) in arguments.iter().enumerate() {
        let alone = argument.as_ref().filter(|(_, is_argv)| *is_argv && !is_told(place));
        lines.extend(alone.map(|(text, _)| text.clone()));
    }
    for (place, command) in commands {
        let around = [&arguments[place - 1], &arguments[place + 1]];
        let with: Vec<String> =
            around.into_iter().flatten().map(|(text, _)| format!("{command} {text}")).collect();
        if with.is_empty() { lines.push(command) } else { lines.extend(with) }
    }
    lines
}

/// All that a tool is given, as text: what stands for a command that cannot be found.
fn all_text(input: &str, entries: &InputEntries<'_>) -> Option<String> {
    let text = |raw: &str| command_lines(raw, false).pop().or_else(|| scalar_text(raw));
    let texts: Vec<String> = entries.iter().filter_map(|(_, raw)| text(raw)).collect();
    if texts.is_empty() { text(input) } else { Some(texts.join("\n")) }
}

/// The texts of a shell's input that no key calls a command, and that are not for people.
pub(super) fn other_texts(input: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_text(input, &mut |key, raw| {
        let key = string_text(key).unwrap_or_default();
        let is_for_people = is_one_of(&key, PEOPLE_KEYS) || is_one_of(&key, FOLDER_KEYS);
        if !is_for_people && !is_one_of(&key, COMMAND_KEYS) {
            found.extend(string_text(raw));
        }
    });
    found
}
