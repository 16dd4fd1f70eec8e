//! What a tool is given: where a command line and paths stand in it.

use std::borrow::Cow;

use super::{Action, ActionKind};
use crate::event::context::{
    ContextError, child, distinct_entries, elements, scalar_text, string_text,
};

/// Keys of a tool input that hold a command line, in order of trust.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// Keys that hold a command line in the input of a shell alone (Copilot CLI `write_bash`).
const SHELL_KEYS: &[&str] = &["input"];

/// Keys of a tool input that hold a path or a list of paths.
const PATH_KEYS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "paths",
    "file_paths",
    "notebook_path",
    "absolute_path",
    "dir_path",
    "directory",
    "target_file",
    // Cursor `EditNotebook` and `Glob`.
    "target_notebook",
    "target_directory",
    "old_path",
    "new_path",
    "source",
    "destination",
];

/// Keys that hold paths where a tool reads; where it searches they hold a filter (Gemini CLI
/// `read_many_files`).
const READ_KEYS: &[&str] = &["include"];

/// Keys that hold a list of objects with paths (`multiedit`).
const LIST_KEYS: &[&str] = &["edits"];

/// Keys of a tool input that can hold the text of a patch: Codex CLI's, and OpenCode's
/// `patchText`.
const PATCH_KEYS: &[&str] = &["patch", "input", "command", "patchText"];

/// The lines of a patch that name a file (Codex CLI `apply_patch`).
const PATCH_FILE_LINES: &[&str] =
    &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The key of a tool input that holds other calls, and the keys of each: its tool, its input
/// (OpenCode `batch`).
const CALLS: (&str, &str, &str) = ("tool_calls", "tool", "parameters");

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

/// The action of a call of the tool `name`.
///
/// # Errors
/// When a key of the input stands twice.
pub(super) fn read(name: &str, input: Option<&str>) -> Result<Action, ContextError> {
    let (list, _, _) = CALLS;
    match input.and_then(|input| child(input, list)).and_then(elements) {
        Some(calls) if ActionKind::of_tool(name) == ActionKind::Other => {
            let entries = distinct(input.unwrap_or_default(), "toolInput")?;
            let calls: Vec<&str> = calls.into_iter().map(|call| call.get()).collect();
            read_calls(find_command(&entries, COMMAND_KEYS), &calls)
        }
        Some(_) | None => read_one(name, input, "toolInput"),
    }
}

/// The action of several calls. Calls within them are not looked into: no host takes them.
fn read_calls(own: Option<String>, calls: &[&str]) -> Result<Action, ContextError> {
    let (list, tool, parameters) = CALLS;
    let mut commands: Vec<String> = own.into_iter().collect();
    let mut paths = Vec::new();
    let mut kinds = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let place = format!("toolInput.{list}.{number}");
        distinct(call, &place)?;
        let name = child(call, tool).and_then(string_text).unwrap_or_default();
        let one = read_one(&name, child(call, parameters), &format!("{place}.{parameters}"))?;
        commands.extend(one.command);
        paths.extend(one.paths);
        kinds.push(one.kind);
    }
    let kind = GRAVEST.iter().copied().find(|kind| kinds.contains(kind));
    let command = if commands.is_empty() { None } else { Some(commands.join("\n")) };
    Ok(Action { kind: kind.unwrap_or(ActionKind::Other), command, paths })
}

fn read_one(name: &str, input: Option<&str>, place: &str) -> Result<Action, ContextError> {
    let kind = ActionKind::of_tool(name);
    let Some(input) = input else {
        return Ok(Action { kind, command: None, paths: Vec::new() });
    };
    let entries = distinct(input, place)?;
    let patched =
        if kind == ActionKind::Edit { patched_paths(input, &entries) } else { Vec::new() };
    let more = if kind == ActionKind::Shell { SHELL_KEYS } else { &[] };
    let keys = [COMMAND_KEYS, more].concat();
    let command = match find_command(&entries, &keys).filter(|_| patched.is_empty()) {
        // A command that cannot be found must not be one that no policy sees.
        None if kind == ActionKind::Shell => all_text(input, &entries),
        found => found,
    };
    let mut paths = find_paths(kind, &entries);
    for list in values(&entries, LIST_KEYS).filter_map(elements) {
        for (number, one) in list.iter().enumerate() {
            paths.extend(find_paths(kind, &distinct(one.get(), &format!("{place}.{number}"))?));
        }
    }
    paths.extend(patched);
    Ok(Action { kind, command, paths })
}

fn distinct<'a>(raw: &'a str, place: &str) -> Result<Vec<(Cow<'a, str>, &'a str)>, ContextError> {
    distinct_entries(raw).map_err(|key| ContextError::Duplicate(format!("{place}.{key}")))
}

/// What a tool is given: keys, and values as text.
type Entries<'a> = [(Cow<'a, str>, &'a str)];

/// The values of those keys of a tool input that are there.
fn values<'a>(entries: &'a Entries<'a>, keys: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let value = |key: &&str| entries.iter().find(|(name, _)| name == key).map(|(_, raw)| *raw);
    keys.iter().filter_map(value)
}

/// The command lines in a tool input, one a line where there are several: which of them a tool
/// reads is its own business, and a policy must see it.
fn find_command(entries: &Entries<'_>, keys: &[&str]) -> Option<String> {
    let given = values(entries, keys).filter_map(command_text);
    let lines: Vec<String> = given.filter(|text| !text.trim().is_empty()).collect();
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}

/// A command as text: a list of words is joined, and of `bash -lc TEXT` the text is taken.
fn command_text(raw: &str) -> Option<String> {
    let Some(words) = elements(raw) else { return scalar_text(raw) };
    let words: Vec<String> = words.iter().filter_map(|word| scalar_text(word.get())).collect();
    match words.as_slice() {
        [shell, flag, text] if is_shell(shell) && (flag == "-c" || flag == "-lc") => {
            Some(text.clone())
        }
        words => Some(shell_words::join(words)),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    ["sh", "bash", "dash", "zsh", "ksh", "fish"].contains(&name)
}

/// All that a tool is given, as text: what stands for a command that cannot be found.
fn all_text(input: &str, entries: &Entries<'_>) -> Option<String> {
    let texts: Vec<String> = entries.iter().filter_map(|(_, raw)| command_text(raw)).collect();
    if texts.is_empty() { scalar_text(input) } else { Some(texts.join("\n")) }
}

fn find_paths(kind: ActionKind, entries: &Entries<'_>) -> Vec<String> {
    let more = if kind == ActionKind::Read { READ_KEYS } else { &[] };
    values(entries, PATH_KEYS).chain(values(entries, more)).flat_map(texts_of).collect()
}

/// A text, or the texts of a list.
fn texts_of(raw: &str) -> Vec<String> {
    match elements(raw) {
        Some(list) => list.iter().filter_map(|text| string_text(text.get())).collect(),
        None => string_text(raw).into_iter().collect(),
    }
}

/// The files that a patch in the tool input touches.
fn patched_paths(input: &str, entries: &Entries<'_>) -> Vec<String> {
    let mut texts: Vec<String> = string_text(input).into_iter().collect();
    texts.extend(values(entries, PATCH_KEYS).flat_map(texts_of));
    let lines = texts.iter().flat_map(|text| text.lines());
    lines
        .filter_map(|line| {
            PATCH_FILE_LINES.iter().find_map(|start| line.trim().strip_prefix(start))
        })
        .map(|path| path.trim().to_string())
        .collect()
}
