//! What a tool is given: where a command line and paths stand in it.

use std::borrow::Cow;

use super::{Action, ActionKind, patch};
use crate::engine::event::context::{
    ContextError, child, distinct_entries, each_text, elements, scalar_text, string_text,
};

/// Keys of a tool input that hold a command line, in order of trust.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// Keys that hold a command line in the input of a shell alone (Copilot CLI `write_bash`).
const SHELL_KEYS: &[&str] = &["input"];

/// Keys of a tool input that hold a path or a list of paths, at any depth; without regard to case,
/// `_` and `-`.
const PATH_KEYS: &[&str] = &[
    "path",
    "paths",
    "filepath",
    "filepaths",
    "file",
    "files",
    "filename",
    "filenames",
    "notebookpath",
    "absolutepath",
    "relativepath",
    "pathinproject",
    "dirpath",
    "directory",
    "targetfile",
    // Cursor `EditNotebook` and `Glob`.
    "targetnotebook",
    "targetdirectory",
    "oldpath",
    "newpath",
    "source",
    "destination",
    "uri",
];

/// Keys that hold paths where a tool changes files, or does what nobody knows.
const MOVE_KEYS: &[&str] = &["target", "dest", "dst", "src", "from", "to"];

/// Keys that hold paths where a tool reads; where it searches they hold a filter (Gemini CLI
/// `read_many_files`).
const READ_KEYS: &[&str] = &["include"];

/// Keys of a tool input that can hold the text of a patch: Codex CLI's, OpenCode's `patchText`,
/// and those of tools that take a unified diff.
const PATCH_KEYS: &[&str] = &["patch", "input", "command", "patchText", "diff"];

/// Longer texts than this name no file where no key says that they do.
const LONGEST_GUESS_BYTES: usize = 1024;

/// More texts than these are not looked at there.
const MOST_GUESSES: usize = 4096;

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
    Ok(Action { kind: kind.unwrap_or(ActionKind::Other), command, paths, resolved: Vec::new() })
}

fn read_one(name: &str, input: Option<&str>, place: &str) -> Result<Action, ContextError> {
    let kind = ActionKind::of_tool(name);
    let Some(input) = input else {
        return Ok(Action { kind, command: None, paths: Vec::new(), resolved: Vec::new() });
    };
    let entries = distinct(input, place)?;
    let more = if kind == ActionKind::Shell { SHELL_KEYS } else { &[] };
    let keys = [COMMAND_KEYS, more].concat();
    let mut command = find_command(&entries, &keys);
    let patched = match (kind, &command) {
        (ActionKind::Shell, Some(line)) => patch::in_command(line),
        (ActionKind::Shell, None) => Vec::new(),
        _ => patch::in_texts(&patch_texts(input, &entries)),
    };
    if kind == ActionKind::Shell {
        // A command that cannot be found must not be one that no policy sees.
        command = command.or_else(|| all_text(input, &entries));
    } else if kind == ActionKind::Edit && !patched.is_empty() {
        command = None;
    }
    let mut paths = named_paths(kind, input);
    if paths.is_empty() && patched.is_empty() {
        paths = guessed(kind, input);
        paths.retain(|text| looks_like_path(text));
    }
    paths.extend(patched);
    Ok(Action { kind, command, paths, resolved: Vec::new() })
}

/// The texts of a tool input that may each be a path, where no key says which is.
pub(super) fn guesses(kind: ActionKind, input: &str) -> Vec<String> {
    if named_paths(kind, input).is_empty() { guessed(kind, input) } else { Vec::new() }
}

fn guessed(kind: ActionKind, input: &str) -> Vec<String> {
    let may_hide_one = match kind {
        ActionKind::Read
        | ActionKind::Write
        | ActionKind::Edit
        | ActionKind::Mcp
        | ActionKind::Other => true,
        ActionKind::Shell | ActionKind::Search | ActionKind::Fetch | ActionKind::Agent => false,
    };
    let mut found = Vec::new();
    if !may_hide_one {
        return found;
    }
    each_text(input, &mut |key, raw| {
        let is_short = raw.len() <= LONGEST_GUESS_BYTES && found.len() < MOST_GUESSES;
        if is_short && !is_one_of(key, COMMAND_KEYS) {
            found.extend(string_text(raw).filter(|text| is_line(text)).map(path_of));
        }
    });
    found
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(|c: char| c.is_control())
}

/// Whether a text is probably meant as a path: it has a slash, begins as a hidden file, or ends
/// as a file does.
fn looks_like_path(text: &str) -> bool {
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    let has_ending =
        (1..=8).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    let is_short = text.split_whitespace().count() <= 3;
    let is_like = text.contains(['/', '\\']) || text.starts_with(['.', '~']) || has_ending;
    is_short && is_like && !text.contains("://")
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
    let mut lines: Vec<String> = given.filter(|text| !text.trim().is_empty()).collect();
    // A command may be large: one is not copied.
    if lines.len() <= 1 { lines.pop() } else { Some(lines.join("\n")) }
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

/// The paths that stand under keys for them, at any depth.
fn named_paths(kind: ActionKind, input: &str) -> Vec<String> {
    let more = match kind {
        ActionKind::Read => READ_KEYS,
        ActionKind::Write | ActionKind::Edit | ActionKind::Mcp | ActionKind::Other => MOVE_KEYS,
        ActionKind::Shell | ActionKind::Search | ActionKind::Fetch | ActionKind::Agent => &[],
    };
    let mut found = Vec::new();
    each_text(input, &mut |key, raw| {
        if is_one_of(key, PATH_KEYS) || is_one_of(key, more) {
            let path = string_text(raw).map(path_of);
            found.extend(path.filter(|path| !path.is_empty() && !path.contains("://")));
        }
    });
    found
}

/// Whether the JSON text of a key is one of these, without regard to case, `_` and `-`.
fn is_one_of(key: &str, keys: &[&str]) -> bool {
    const LONGEST_KEY_BYTES: usize = 64;
    if key.len() > LONGEST_KEY_BYTES || keys.is_empty() {
        return false;
    }
    let text = string_text(key).unwrap_or_default();
    let plain = |c: &char| !matches!(c, '_' | '-');
    let text: String = text.chars().filter(plain).flat_map(char::to_lowercase).collect();
    keys.contains(&text.as_str())
}

/// A text as a path: of `file:///a%20b` it is `/a b`.
fn path_of(text: String) -> String {
    let Some(rest) = text.strip_prefix("file://") else { return text };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let Some((byte, after)) = left.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *byte == b'%') {
            Some(decoded) => {
                bytes.push(decoded);
                left = &after[2..];
            }
            None => {
                bytes.push(*byte);
                left = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text, or the texts of a list.
fn texts_of(raw: &str) -> Vec<String> {
    match elements(raw) {
        Some(list) => list.iter().filter_map(|text| string_text(text.get())).collect(),
        None => string_text(raw).into_iter().collect(),
    }
}

/// The texts in a tool input that may be patches.
fn patch_texts(input: &str, entries: &Entries<'_>) -> Vec<String> {
    let mut texts: Vec<String> = string_text(input).into_iter().collect();
    texts.extend(values(entries, PATCH_KEYS).flat_map(texts_of));
    texts
}
