//! The tools of a host; and Codex patches (`apply_patch`), read and written as writes and edits.

use serde_json::{Map, Value};

#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    pub sort: ToolSort,
    pub also: &'static [&'static str],
    /// Renamed input keys: the usual name, and the tool's.
    pub keys: &'static [(&'static str, &'static str)],
}

/// The kind of a tool, with its usual input keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSort {
    /// `command`.
    Shell,
    /// `file_path`.
    Read,
    /// `file_path`, `content`.
    Write,
    /// `file_path`, `old_string`, `new_string`; or `edits`, a list of both.
    Edit,
    /// `command`: a patch over any number of files.
    Patch,
    /// `pattern`, `path`.
    Grep,
    /// `pattern`, `path`.
    Glob,
    /// `path`.
    List,
    /// `url`.
    Fetch,
    /// `query`.
    WebSearch,
    /// `prompt`.
    Agent,
}

impl Tool {
    pub const fn also(mut self, names: &'static [&'static str]) -> Tool {
        self.also = names;
        self
    }

    pub const fn keys(mut self, keys: &'static [(&'static str, &'static str)]) -> Tool {
        self.keys = keys;
        self
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }

    /// The usual key for the tool's key.
    pub(crate) fn usual_key(&self, own: String) -> String {
        let listed = self.keys.iter().find(|(_, key)| *key == own);
        listed.map_or(own, |(usual, _)| (*usual).to_string())
    }

    /// The tool's key for a usual one.
    pub(crate) fn own_key(&self, usual: String) -> String {
        let listed = self.keys.iter().find(|(key, _)| *key == usual);
        listed.map_or(usual, |(_, own)| (*own).to_string())
    }
}

/// A tool with usual names and keys; the base of rows.
pub const fn tool(name: &'static str, sort: ToolSort) -> Tool {
    Tool {
        name,
        sort,
        also: &[],
        keys: &[],
    }
}

/// How a host names a tool of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mcp {
    /// `mcp__server__tool`.
    Double,
    /// `mcp_server_tool`.
    Single,
    /// `server-tool`.
    Hyphen,
    /// `server__tool`.
    Plain,
    /// `@server/tool`.
    At,
    /// `MCP:tool`, without the server.
    Bare,
}

impl Mcp {
    pub fn write(self, server: &str, tool: &str) -> String {
        match self {
            Mcp::Double => format!("mcp__{server}__{tool}"),
            Mcp::Single => format!("mcp_{server}_{tool}"),
            Mcp::Hyphen => format!("{server}-{tool}"),
            Mcp::Plain => format!("{server}__{tool}"),
            Mcp::At => format!("@{server}/{tool}"),
            Mcp::Bare => format!("MCP:{tool}"),
        }
    }
}

/// The changes of one file while a patch is parsed.
struct FilePatch<'p> {
    sort: ToolSort,
    path: &'p str,
    moved: Option<&'p str>,
    old: Vec<&'p str>,
    new: Vec<&'p str>,
}

/// Parses a patch into a write or an edit of each file; a moved file is edited under both names.
pub(super) fn read_patch(patch: &str) -> Vec<(ToolSort, Map<String, Value>)> {
    let mut changes: Vec<FilePatch<'_>> = Vec::new();
    for line in patch.lines() {
        let begins = [
            ("*** Add File: ", ToolSort::Write),
            ("*** Update File: ", ToolSort::Edit),
            ("*** Delete File: ", ToolSort::Edit),
        ];
        let begun = begins
            .iter()
            .find_map(|(start, sort)| Some((*sort, line.trim().strip_prefix(start)?.trim())));
        if let Some((sort, path)) = begun {
            changes.push(FilePatch {
                sort,
                path,
                moved: None,
                old: Vec::new(),
                new: Vec::new(),
            });
            continue;
        }
        let Some(change) = changes.last_mut() else {
            continue;
        };
        if let Some(path) = line.trim().strip_prefix("*** Move to: ") {
            change.moved = Some(path.trim());
        } else if let Some(added) = line.strip_prefix('+') {
            change.new.push(added);
        } else if let Some(removed) = line.strip_prefix('-') {
            change.old.push(removed);
        } else if let Some(kept) = line.strip_prefix(' ') {
            change.old.push(kept);
            change.new.push(kept);
        }
    }
    changes.iter().flat_map(FilePatch::inputs).collect()
}

impl FilePatch<'_> {
    /// The change as a tool's input; for a moved file one for each name.
    fn inputs(&self) -> Vec<(ToolSort, Map<String, Value>)> {
        let mut inputs = Vec::new();
        for path in std::iter::once(self.path).chain(self.moved) {
            let mut input = Map::new();
            input.insert("file_path".to_string(), path.into());
            if self.sort == ToolSort::Write {
                input.insert("content".to_string(), self.new.join("\n").into());
            } else {
                input.insert("old_string".to_string(), self.old.join("\n").into());
                input.insert("new_string".to_string(), self.new.join("\n").into());
            }
            inputs.push((self.sort, input));
        }
        inputs
    }
}

/// Formats a write or an edit as a patch.
pub(super) fn write_patch(sort: ToolSort, input: &Map<String, Value>) -> String {
    let path = text_of(input, "file_path");
    let body = match (sort, input.get("edits")) {
        (ToolSort::Write, _) => {
            let content = marked('+', text_of(input, "content"));
            format!("*** Add File: {path}\n{content}")
        }
        (_, Some(Value::Array(edits))) => {
            let hunks = edits.iter().filter_map(Value::as_object).map(hunk);
            format!("*** Update File: {path}\n{}", hunks.collect::<String>())
        }
        _ => format!("*** Update File: {path}\n{}", hunk(input)),
    };
    format!("*** Begin Patch\n{body}*** End Patch")
}

fn hunk(edit: &Map<String, Value>) -> String {
    let old = marked('-', text_of(edit, "old_string"));
    let new = marked('+', text_of(edit, "new_string"));
    format!("@@\n{old}{new}")
}

fn text_of<'m>(input: &'m Map<String, Value>, key: &str) -> &'m str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn marked(mark: char, text: &str) -> String {
    let lines = text.lines().map(|line| format!("{mark}{line}\n"));
    lines.collect()
}
