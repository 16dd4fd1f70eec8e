//! The sorts of tools, and what hosts call them.

use serde::Serialize;

/// The sort of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    Shell,
    Read,
    Write,
    Edit,
    Search,
    Fetch,
    Mcp,
    Agent,
    Other,
}

/// A row of [`TOOLS`]: one sort of tool.
#[derive(Debug)]
pub struct ToolClass {
    pub kind: ActionKind,
    /// Its name in `action.kind` and in `tool` matchers.
    pub word: &'static str,
    /// The names of such tools in every host; all of them mean the same in a `tool` matcher.
    pub names: &'static [&'static str],
}

/// Makes a row of each sort, with its word and its names.
macro_rules! tools {
    ($($kind:ident $word:literal $($name:literal)*;)+) => {
        &[$(ToolClass { kind: ActionKind::$kind, word: $word, names: &[$($name),*] }),+]
    };
}

/// Every sort of tool with its names in the hosts (Claude, Codex, Gemini, Cursor, Copilot,
/// pi, oh-my-pi, OpenCode; their documents of 2026). Tools of no row are `other`, or `mcp`
/// if they are named like one.
pub const TOOLS: &[ToolClass] = tools! {
    // `write_bash` and `write_powershell` (Copilot CLI) and `write_stdin` (Codex) are text for a shell
    // that runs already.
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
    /// The word for it: `shell`, `write`, …
    pub fn word(self) -> &'static str {
        TOOLS
            .iter()
            .find(|class| class.kind == self)
            .map_or("other", |class| class.word)
    }

    /// The sort that `word` names.
    pub fn from_word(word: &str) -> Option<ActionKind> {
        TOOLS
            .iter()
            .find(|class| class.word.eq_ignore_ascii_case(word))
            .map(|class| class.kind)
    }

    /// The sort of the tool that a host calls `name`. `mcp__server__tool` (Claude, Codex) and
    /// `mcp_server_tool` (Gemini) are `mcp`, and so is `@server/tool` (Kiro).
    pub fn of_tool(name: &str) -> ActionKind {
        let known = TOOLS.iter().find(|class| {
            class.word.eq_ignore_ascii_case(name)
                || class
                    .names
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(name))
        });
        match known {
            Some(class) => class.kind,
            None if name.to_ascii_lowercase().starts_with("mcp_") || name.starts_with('@') => {
                ActionKind::Mcp
            }
            None => ActionKind::Other,
        }
    }

    /// Whether it is not known what tools of this sort do.
    pub(crate) fn is_unknown(self) -> bool {
        matches!(self, ActionKind::Other | ActionKind::Mcp)
    }
}
