//! The action of a tool, in terms that are the same in every host.
//!
//! A policy on `action` needs no knowledge of a host's tool names or input shapes.

mod commands;
mod effects;
mod paths;
mod tool;

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::context::{Context, unreadable};
use super::json::{child, elements, key_text, raw_entries, string_text};
use crate::engine::complaint::Complaint;
use crate::engine::shell::{self, CommandLine};
pub use effects::Access;
use effects::LineEffects;
pub(crate) use effects::{Effect, Reach};
pub(crate) use paths::Guesses;
use paths::NamedPaths;
pub use tool::{ActionKind, TOOLS, ToolClass};
use tool::{ToolInput, opened};

/// The action of a tool, commit or push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Action {
    pub kind: ActionKind,
    /// Command line, for tools that run one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Commands of the command line, and `uncertain` if there may be more.
    #[serde(flatten)]
    pub line: CommandLine,
    /// Paths in the tool's input as written, and paths that its command line redirects, writes or
    /// removes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The same paths in order, absolute and with links followed, then their other possible
    /// meanings; empty until links are followed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<String>,
    #[serde(skip)]
    pub(crate) effects: Vec<Effect>,
}

/// A text that a shell may run, though no key says so.
#[derive(Debug, Clone)]
pub(crate) struct GuessedCommand {
    pub(crate) text: String,
    pub(crate) line: CommandLine,
}

impl Action {
    fn new(kind: ActionKind, paths: Vec<String>) -> Action {
        Action {
            kind,
            command: None,
            line: CommandLine::default(),
            paths,
            resolved: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Reads a host's `action`. Parses its command line here, whatever the host reports about it.
    ///
    /// # Errors
    /// If it is not an object, or a part has another type than in [`Action`].
    pub fn read(raw: &str) -> Result<Action, Complaint> {
        Action::read_beside(raw, None)
    }

    /// As [`Action::read`]; a `derived` action with the same command saves reading it again.
    pub(super) fn read_beside(raw: &str, derived: Option<Action>) -> Result<Action, Complaint> {
        if !raw.starts_with('{') {
            return Err(wrong("it is not an object"));
        }
        let word = child(raw, "kind").ok_or_else(|| wrong("it has no `kind`"))?;
        let kind = string_text(word).and_then(|word| ActionKind::from_word(&word));
        let kind = kind.ok_or_else(|| {
            let words: Vec<&str> = TOOLS.iter().map(|class| class.word).collect();
            wrong(&format!("`kind` is not one of {}", words.join(", ")))
        })?;
        let command = child(raw, "command").filter(|text| *text != "null");
        let command =
            command.map(|text| string_text(text).ok_or_else(|| wrong("`command` is not a string")));
        let command = command.transpose()?;
        let mut action = Action::new(kind, strings(raw, "paths")?);
        action.resolved = strings(raw, "resolved")?;
        match derived.filter(|derived| derived.command == command) {
            Some(derived) => {
                action.line = derived.line;
                action.name_paths(derived.effects);
            }
            None => {
                action.line = command.as_deref().map(shell::read).unwrap_or_default();
                action.add_effects(Vec::new(), &[]);
            }
        }
        action.command = command;
        Ok(action)
    }

    /// Adds the file effects of the command line, whose tool may work in these folders.
    fn add_effects(&mut self, patched: Vec<String>, folders: &[String]) {
        let effects = LineEffects::read(&self.line, patched).in_folders(folders);
        self.name_paths(effects);
    }

    fn name_paths(&mut self, effects: Vec<Effect>) {
        self.effects = effects;
        let named = self.effects.iter().filter(|effect| effect.is_named);
        self.paths.extend(named.map(|effect| effect.path.clone()));
        self.paths = distinct(std::mem::take(&mut self.paths));
    }

    /// Adds later findings to the JSON of a host's action. Keeps the host's other keys.
    pub(super) fn completed(&self, raw: &str) -> String {
        let mut whole: Map<String, Value> = serde_json::from_str(raw).unwrap_or_default();
        for key in ["commands", "uncertain", "paths", "resolved"] {
            whole.shift_remove(key);
        }
        if let Ok(Value::Object(own)) = serde_json::to_value(self) {
            whole.extend(own);
        }
        Value::Object(whole).to_string()
    }

    /// Derives the action of a tool event; `None` without `toolName`. A call of several tools has
    /// the gravest of their kinds, and all commands and paths.
    ///
    /// # Errors
    /// If `toolName` is not a string or a key of `toolInput` appears twice, which would make the
    /// call ambiguous.
    pub fn derive(context: &Context) -> Result<Option<Action>, Complaint> {
        let mut calls = Vec::new();
        let kind = each_call(context, |input| calls.push(Action::of_call(&input)))?;
        let Some(kind) = kind else { return Ok(None) };
        let mut calls = calls.into_iter();
        let whole = calls.next();
        let whole = whole.unwrap_or_else(|| {
            let mut action = Action::new(kind, Vec::new());
            action.line.doubt = (kind == ActionKind::Shell).then(no_command);
            action
        });
        Ok(Some(whole.with_calls(calls)))
    }

    /// Fails like [`Action::derive`], without parsing command lines, and for a shell with something
    /// else in place of a command if a hook may block it: no hook could tell what it would run. An
    /// empty input is in doubt.
    pub(super) fn check(context: &Context, is_gate: bool) -> Result<(), Complaint> {
        let mut has_command = true;
        each_call(context, |input| {
            let is_shell = input.kind == ActionKind::Shell && !input_is_empty(&input);
            has_command &= !is_shell || commands::has_command(&input);
        })?;
        if is_gate && !has_command {
            let cause = "`toolInput` has no command for the shell";
            let cure = "write it as text: `\"command\": \"ls\"`";
            return Err(Complaint::with_cure(cause, cure));
        }
        Ok(())
    }

    fn of_call(tool_input: &ToolInput<'_>) -> Action {
        let ToolInput {
            kind, raw: input, ..
        } = *tool_input;
        let mut commands = commands::find_commands(tool_input);
        let mut doubt = None;
        if kind == ActionKind::Shell && commands.is_empty() {
            // If no command is found, treat all text as the command, so that policies see it.
            if input_is_empty(tool_input) {
                doubt = Some(no_command());
            }
            commands.extend(commands::all_text(tool_input));
        }
        let named = NamedPaths::read(kind, input);
        let mut patched = Vec::new();
        if kind != ActionKind::Shell {
            patched = paths::patched_in_input(tool_input);
        }
        if kind == ActionKind::Edit && !patched.is_empty() {
            commands.clear();
        }
        let mut paths = match named.paths.is_empty() && patched.is_empty() {
            true => Guesses::read(kind, "", input, &named).likely(),
            false => named.paths,
        };
        paths.extend(patched);
        let mut action = Action::new(kind, paths);
        if commands.is_empty() {
            action.line.doubt = doubt;
            return action;
        }
        action.line = shell::read_all(&commands);
        action.line.doubt = doubt.or(action.line.doubt);
        // A single command may be large, so it is moved.
        action.command = commands.into_iter().reduce(with_line);
        action.add_effects(action.patch(), &named.folders);
        action
    }

    fn with_calls(self, calls: impl Iterator<Item = Action>) -> Action {
        let mut whole = Action::new(ActionKind::Other, Vec::new());
        let mut kinds = Vec::new();
        for one in calls {
            kinds.push(one.kind);
            whole.add(one);
        }
        if kinds.is_empty() {
            return self;
        }
        // Text outside of the calls is still input of an unknown tool.
        let known = whole.command.as_deref().unwrap_or_default();
        let mut lines = self.command.iter().flat_map(|text| text.lines());
        if lines.all(|one| known.contains(one)) {
            whole.paths.extend(self.paths);
        } else {
            kinds.push(ActionKind::Shell);
            whole.add(self);
        }
        whole.paths = distinct(whole.paths);
        whole.kind = kinds.into_iter().min().unwrap_or(whole.kind);
        whole
    }

    fn add(&mut self, other: Action) {
        let commands = self.command.take().into_iter().chain(other.command);
        self.command = commands.reduce(with_line);
        let before = self.line.commands.len();
        self.line.commands.extend(other.line.commands);
        let effects = other.effects.into_iter().map(|effect| Effect {
            command: effect.command.map(|number| before + number),
            ..effect
        });
        self.effects.extend(effects);
        self.line.doubt = self.line.doubt.take().or(other.line.doubt);
        self.paths.extend(other.paths);
    }

    /// Returns the files of a patch in the command, which edits them.
    pub(crate) fn patched(&self) -> Vec<String> {
        let files = self.patch();
        let count = files.len();
        let mut of_line = LineEffects::read(&self.line, files);
        of_line.effects.truncate(count);
        let effects = of_line.in_folders(&[]);
        effects.into_iter().map(|effect| effect.path).collect()
    }

    fn patch(&self) -> Vec<String> {
        match (&self.command, self.kind) {
            (Some(command), ActionKind::Shell) => paths::patched_in_command(command),
            _ => Vec::new(),
        }
    }

    /// Returns texts of the tool's input that may be paths, though no key says so.
    pub(crate) fn guessed_paths(&self, context: &Context) -> Guesses {
        let name = context.string("toolName");
        let kind = name.as_deref().map_or(self.kind, ActionKind::of_tool);
        let Some(input) = context.raw("toolInput").map(opened) else {
            return Guesses::default();
        };
        let named = NamedPaths::read(kind, &input);
        Guesses::read(kind, name.as_deref().unwrap_or_default(), &input, &named)
    }

    /// Returns other texts of a shell's input that it may run.
    pub(super) fn guessed_commands(&self, context: &Context) -> Vec<GuessedCommand> {
        let input = context.raw("toolInput");
        let input = input.filter(|_| self.kind == ActionKind::Shell);
        let texts = input.map_or_else(Vec::new, |input| commands::other_texts(&opened(input)));
        let guesses = texts.into_iter().map(|text| GuessedCommand {
            line: shell::read(&text),
            text,
        });
        guesses.collect()
    }

    pub(super) fn writing(changes: &[PathChange]) -> Action {
        let paths = changes.iter().map(|change| change.path.clone()).collect();
        Action::new(ActionKind::Write, distinct(paths))
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn with_line(mut text: String, more: String) -> String {
    text.push('\n');
    text.push_str(&more);
    text
}

fn strings(raw: &str, key: &str) -> Result<Vec<String>, Complaint> {
    let Some(list) = child(raw, key).filter(|list| *list != "null") else {
        return Ok(Vec::new());
    };
    let list = elements(list).ok_or_else(|| wrong(&format!("`{key}` is not a list")))?;
    let texts: Option<Vec<String>> = list.iter().map(|one| string_text(one.get())).collect();
    texts.ok_or_else(|| wrong(&format!("`{key}` contains values that are not strings")))
}

fn wrong(problem: &str) -> Complaint {
    unreadable("action", problem)
}

#[derive(Debug, Clone)]
pub(crate) struct PathChange {
    /// Git's status letter; `?` if unknown.
    pub(crate) status: String,
    pub(crate) path: String,
    /// Raw bytes of the path.
    pub(crate) file: PathBuf,
    pub(crate) mode: FileMode,
}

/// The type of a git tree entry, by its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileMode {
    Plain,
    Executable,
    /// A link or submodule.
    NoFile,
}

impl PathChange {
    /// Reads a context's `changes`, if any. Fails unless they are a list of paths or of objects
    /// with a `path`.
    pub(crate) fn read_all(context: &Context) -> Result<Option<Vec<PathChange>>, Complaint> {
        let Some(changes) = context.raw("changes").filter(|raw| *raw != "null") else {
            return Ok(None);
        };
        let list = elements(changes).ok_or_else(|| unreadable("changes", "it is not a list"))?;
        let all: Option<Vec<_>> = list.iter().map(|one| Self::read(one.get())).collect();
        let all = all.ok_or_else(|| {
            unreadable(
                "changes",
                "an entry is neither a path nor an object with `path`",
            )
        });
        all.map(Some)
    }

    fn read(raw: &str) -> Option<PathChange> {
        let mut status = None;
        let mut path = string_text(raw);
        let mut file = None;
        let mut mode = FileMode::Plain;
        for (key, value) in raw_entries(raw) {
            let text = string_text(value.get());
            match (key_text(key).as_ref(), text) {
                ("path", text) => path = text,
                ("pathHex", Some(digits)) => file = bytes_of(&digits),
                ("mode", Some(digits)) => {
                    mode = match digits.as_str() {
                        "100755" => FileMode::Executable,
                        "120000" | "160000" => FileMode::NoFile,
                        _ => FileMode::Plain,
                    };
                }
                ("status", text) => {
                    status = text.filter(|text| text.starts_with(|c: char| c.is_ascii_uppercase()));
                }
                _ => {}
            }
        }
        let path = path?;
        Some(PathChange {
            status: status.unwrap_or_else(|| "?".to_string()),
            file: file.unwrap_or_else(|| PathBuf::from(&path)),
            path,
            mode,
        })
    }

    /// Makes the paths of a change relative to `folder`, which ends with `/` or is empty. Returns
    /// false if the change is elsewhere.
    pub(crate) fn move_into(change: &mut Value, folder: &str) -> bool {
        if change.is_string() {
            *change = json!({ "path": change.take() });
        }
        let path = change["path"].as_str();
        let Some(path) = path.and_then(|path| path.strip_prefix(folder)) else {
            return false;
        };
        change["path"] = path.into();
        if let Some(digits) = change["pathHex"].as_str() {
            change["pathHex"] = digits.get(2 * folder.len()..).into();
        }
        if let Some(to) = change["to"].as_str() {
            let up = "../".repeat(folder.matches('/').count());
            let outside = format!("{up}{to}");
            change["to"] = to.strip_prefix(folder).unwrap_or(&outside).into();
        }
        true
    }

    /// Returns the files that exist after these changes: not deleted or renamed, and neither links
    /// nor submodules.
    pub(crate) fn files(changes: &[PathChange]) -> Vec<&PathChange> {
        let mut seen = HashSet::new();
        let mut files: Vec<&PathChange> = changes.iter().collect();
        files.retain(|change| {
            seen.insert(&change.file)
                && !matches!(change.status.as_str(), "D" | "R")
                && change.mode != FileMode::NoFile
        });
        files
    }
}

fn bytes_of(digits: &str) -> Option<PathBuf> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    let bytes = bytes.filter(|_| rest.is_empty())?;
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// Calls `visit` for a tool's input, then for the calls nested in an unknown tool's input. Returns
/// the tool's kind; `None` without `toolName`.
fn each_call(
    context: &Context,
    mut visit: impl FnMut(ToolInput<'_>),
) -> Result<Option<ActionKind>, Complaint> {
    let Some(name) = context.raw("toolName") else {
        return Ok(None);
    };
    let name = string_text(name).ok_or_else(|| unreadable("toolName", "it is not a string"))?;
    let kind = ActionKind::of_tool(&name);
    let Some(input) = context.raw("toolInput").map(opened) else {
        return Ok(Some(kind));
    };
    visit(ToolInput::read(kind, &input, "toolInput")?);
    if kind == ActionKind::Other {
        let mut calls = Vec::new();
        commands::find_calls(&input, "toolInput", 0, &mut calls)?;
        for call in calls {
            let input = opened(call.input);
            visit(ToolInput::read(call.kind, &input, &call.place)?);
        }
    }
    Ok(Some(kind))
}

fn input_is_empty(input: &ToolInput<'_>) -> bool {
    input.entries.is_empty() && (input.raw.starts_with('{') || input.raw == "null")
}

fn no_command() -> String {
    "the tool input has no command".to_string()
}

fn distinct(mut paths: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}
