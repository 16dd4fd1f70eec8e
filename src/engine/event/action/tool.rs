//! Kinds of tools, and access to a tool's input: its entries and all nested texts with their keys.

use std::borrow::Cow;
use std::ptr;

use serde::Serialize;

use super::effects::Access;
use crate::engine::complaint::Complaint;
use crate::engine::event::context::duplicate;
use crate::engine::event::json::{distinct_entries, each_text, is_json, string_text};
use crate::engine::names::words;

/// What a tool does. A call of several tools has the first of their kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    Shell,
    Write,
    Edit,
    Mcp,
    Other,
    Agent,
    Fetch,
    Read,
    Search,
}

#[derive(Debug)]
pub struct ToolClass {
    pub kind: ActionKind,
    /// Name in `action.kind` and in `tool` matchers.
    pub word: &'static str,
    /// Names of such tools in all hosts; equivalent in `tool` matchers.
    pub names: &'static [&'static str],
}

macro_rules! tools {
    ($($kind:ident $word:literal $($name:literal)*;)+) => {
        &[$(ToolClass { kind: ActionKind::$kind, word: $word, names: &[$($name),*] }),+]
    };
}

/// Kinds of tools with their names in the hosts (Claude, Codex, Gemini, Cursor, Copilot, pi,
/// oh-my-pi, OpenCode; documentation of 2026). Other tools are `mcp` if named like one, else
/// `other`.
pub const TOOLS: &[ToolClass] = tools! {
    // `write_bash` and `write_powershell` (Copilot CLI) and `write_stdin` (Codex) send text to a
    // running shell.
    Shell "shell"
        "bash" "run_shell_command" "exec_command" "local_shell" "powershell" "sh" "run_terminal_cmd"
        "execute_command" "exec" "write_bash" "write_powershell" "write_stdin" "shell_command"
        "run_command" "run_in_terminal" "run_terminal_command" "execute" "developer__shell"
        "run_commands" "execute_bash";
    Read "read" "read_file" "read_many_files" "view" "notebookread" "view_image" "view_file" "read_code"
        "developer__read_image" "read_image" "fs_read" "read_files";
    Write "write" "write_file" "create" "create_file" "write_to_file" "developer__write" "fs_write";
    Edit "edit"
        "multiedit" "notebookedit" "replace" "str_replace_editor" "str_replace" "apply_patch"
        "edit_file" "applypatch" "editnotebook" "patch" "insert" "delete" "delete_file"
        "replace_string_in_file" "multi_replace_string_in_file" "insert_edit_into_file"
        "replace_file_content" "multi_replace_file_content" "write_code" "search_replace"
        "developer__edit" "editor" "replace_in_file";
    Search "search"
        "grep" "glob" "ls" "find" "list" "list_directory" "search_file_content" "grep_search"
        "codebase_search" "file_search" "list_dir" "rg" "find_by_name" "developer__tree" "tree"
        "search_codebase" "search_files" "list_files";
    Fetch "fetch"
        "webfetch" "web_fetch" "websearch" "web_search" "google_web_search" "fetch_url" "fetchurl" "fetch_webpage"
        "read_url_content" "search_web" "fetch_web_content";
    Mcp "mcp";
    Agent "agent" "task" "spawn_agent" "delegate_to_agent" "subagent" "runsubagent" "spawn_subagent"
        "invoke_subagent" "use_subagent";
    Other "other";
};

impl ActionKind {
    /// Returns its name: `shell`, `write`, …
    pub fn word(self) -> &'static str {
        let class = TOOLS.iter().find(|class| class.kind == self);
        class.map_or("other", |class| class.word)
    }

    pub(crate) fn from_word(word: &str) -> Option<ActionKind> {
        let mut classes = TOOLS.iter();
        let class = classes.find(|class| class.word.eq_ignore_ascii_case(word))?;
        Some(class.kind)
    }

    /// Returns the kind of the host's tool `name`. `mcp__server__tool` (Claude, Codex),
    /// `mcp_server_tool` (Gemini) and `@server/tool` (Kiro) are `mcp`.
    pub fn of_tool(name: &str) -> ActionKind {
        let known = TOOLS.iter().find(|class| {
            let mut words = class.names.iter().chain([&class.word]);
            words.any(|known| known.eq_ignore_ascii_case(name))
        });
        match known {
            Some(class) => class.kind,
            None if name.to_ascii_lowercase().starts_with("mcp_") || name.starts_with('@') => {
                ActionKind::Mcp
            }
            None => ActionKind::Other,
        }
    }

    /// Returns true if tools of this kind may access their files this way.
    pub(crate) fn may(self, access: Access) -> bool {
        match self {
            ActionKind::Read | ActionKind::Search | ActionKind::Fetch => access == Access::Read,
            ActionKind::Write | ActionKind::Edit => access == Access::Write,
            ActionKind::Shell | ActionKind::Mcp | ActionKind::Agent | ActionKind::Other => true,
        }
    }

    /// Returns true if the actions of such tools are unknown.
    pub(crate) fn is_unknown(self) -> bool {
        matches!(self, ActionKind::Other | ActionKind::Mcp)
    }
}

/// Keys of a command line, by precedence, ignoring case, `_` and `-`.
pub(super) const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// More such keys, in shell tools and unknown tools.
pub(super) const MORE_COMMAND_KEYS: &[&str] =
    words!("commandline" "shellcommand" "commands" "program" "executable" "argv");

/// Keys of a tool's working directory.
pub(super) const FOLDER_KEYS: &[&str] = words!(
    "workdir" "cwd" "workingdirectory" "workingdir" "dir" "directory" "dirpath" "folder" "basedir"
    "root"
);

/// A key, ignoring case, `_` and `-`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(key: &str) -> Key {
        let letters = key.chars().filter(|c| !matches!(c, '_' | '-'));
        Key(letters.flat_map(char::to_lowercase).collect())
    }

    pub(super) fn is(&self, known: &str) -> bool {
        self.0 == known
    }

    pub(super) fn is_in(&self, keys: &[&str]) -> bool {
        keys.contains(&self.0.as_str())
    }

    pub(super) fn is_of_command(&self) -> bool {
        self.is_in(COMMAND_KEYS) || self.is_in(MORE_COMMAND_KEYS)
    }

    pub(super) fn ends_in(&self, endings: &[&str]) -> bool {
        endings.iter().any(|ending| self.0.ends_with(ending))
    }
}

pub(super) struct ToolInput<'i> {
    pub(super) kind: ActionKind,
    pub(super) raw: &'i str,
    /// Entries of an object, with values as JSON text.
    pub(super) entries: Vec<(Key, &'i str)>,
}

impl<'i> ToolInput<'i> {
    /// Reads the input at this place of the event. Fails if a key appears twice.
    pub(super) fn read(
        kind: ActionKind,
        raw: &'i str,
        place: &str,
    ) -> Result<ToolInput<'i>, Complaint> {
        let entries = distinct_entries(raw).map_err(|key| duplicate(&format!("{place}.{key}")))?;
        let entries = entries.into_iter().map(|(key, raw)| (Key::new(&key), raw));
        let entries = entries.collect();
        Ok(ToolInput { kind, raw, entries })
    }
}

/// Calls `visit` for every nested text, as JSON, with its key.
pub(super) fn each_keyed_text<'i>(raw: &'i str, visit: &mut dyn FnMut(&Key, &'i str)) {
    let mut key = Key::default();
    let mut last = "";
    each_text(raw, &mut |place, text| {
        // All texts of a list have one place.
        if !ptr::eq(place, last) {
            key = string_text(place).map_or_else(Key::default, |key| Key::new(&key));
            last = place;
        }
        visit(&key, text);
    });
}

/// Decodes an input that is a JSON object or list in a string.
pub(super) fn opened(input: &str) -> Cow<'_, str> {
    match inner_json(input) {
        Some(text) => Cow::Owned(text.trim().to_string()),
        None => Cow::Borrowed(input),
    }
}

/// Returns a string's text if it is a JSON object or list.
pub(super) fn inner_json(raw: &str) -> Option<String> {
    string_text(raw).filter(|text| text.trim_start().starts_with(['{', '[']) && is_json(text))
}
