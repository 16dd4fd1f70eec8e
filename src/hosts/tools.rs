//! Translates tool calls between hosts.
//!
//! A hook written for one host decides about the tools of all: `Bash` with a `command` is
//! `run_shell_command` elsewhere, and `path` is `file_path`. Unknown tools stay as they came.
//! 1. A hook gets its own host's calls unchanged.
//! 2. A patch over several files, and on a gate several edits, become a call each.
//! 3. A hook's new input is translated back, or is an error.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::dialects;
use super::row::Host;
use super::tool::{Mcp, Tool, ToolSort, read_patch, write_patch};
use crate::engine::event::{ActionKind, Event};
use crate::engine::hook::HostCall;

/// Alternative spellings of the usual keys: the key, its spellings, the sorts that have it.
const SPELLINGS: &[(&str, &[&str], &[ToolSort])] = &[
    ("command", &["cmd", "script"], &[ToolSort::Shell]),
    (
        "command",
        &["patch", "input", "patchText"],
        &[ToolSort::Patch],
    ),
    (
        "file_path",
        &["path", "filePath", "absolute_path", "target_file"],
        &[ToolSort::Read, ToolSort::Write, ToolSort::Edit],
    ),
    ("content", &["file_text", "contents"], &[ToolSort::Write]),
    ("old_string", &["old_str", "oldText"], &[ToolSort::Edit]),
    ("new_string", &["new_str", "newText"], &[ToolSort::Edit]),
    (
        "path",
        &["dir_path", "directory"],
        &[ToolSort::Grep, ToolSort::Glob, ToolSort::List],
    ),
];

/// Patch tools that are in no table: Cursor's and OpenCode's.
const PATCHES: &[&str] = &["ApplyPatch", "patch"];

struct UnderstoodCall {
    /// The candidates; the first is preferred.
    sorts: Vec<ToolSort>,
    input: Map<String, Value>,
}

impl Host {
    pub(crate) fn tool_of(&self, sort: ToolSort) -> Option<&'static Tool> {
        self.tools.iter().find(|row| row.sort == sort)
    }

    pub(super) fn tools_named(&self, name: &str) -> impl Iterator<Item = &'static Tool> {
        self.tools.iter().filter(move |row| row.name == name)
    }

    /// The calls that a hook of this dialect gets for `event`; empty if it gets the original,
    /// several if it gets the parts one by one.
    pub fn calls(&self, event: &Event) -> Vec<HostCall> {
        let context = event.context();
        if event.host() == self.name || self.tools.is_empty() {
            return Vec::new();
        }
        let Some(name) = context.string("toolName") else {
            return Vec::new();
        };
        let input = input_of(event);
        if let Some((server, tool)) = servers(&name, event).into_iter().next() {
            return vec![HostCall {
                name: self.mcp.write(&server, &tool),
                input,
            }];
        }
        let Some(call) = understand(&name, input, event) else {
            return Vec::new();
        };
        let mut calls = self.encode_call(call, event.spec().blocks);
        calls.extend(self.patch_calls(event));
        calls
    }

    /// The calls of a patch inside a shell command, which Codex extracts and applies.
    pub fn patch_calls(&self, event: &Event) -> Vec<HostCall> {
        let Some(action) = event.action() else {
            return Vec::new();
        };
        let patched = action.patched();
        let command = action.command.as_deref().filter(|_| !patched.is_empty());
        let Some(command) = command else {
            return Vec::new();
        };
        if self.tool_of(ToolSort::Patch).is_some() {
            return self.changes(vec![(ToolSort::Patch, entry("command", command))]);
        }
        let mut changes = read_patch(command);
        for path in patched {
            let file = Value::from(path.as_str());
            let mut known = changes.iter().map(|(_, input)| input.get("file_path"));
            if !known.any(|known| known == Some(&file)) {
                changes.push((ToolSort::Edit, entry("file_path", &path)));
            }
        }
        self.changes(changes)
    }

    fn changes(&self, changes: Vec<(ToolSort, Map<String, Value>)>) -> Vec<HostCall> {
        let calls = changes.into_iter();
        calls
            .filter_map(|(sort, input)| self.call(sort, input))
            .collect()
    }

    pub fn names_of<'c>(&self, call: &'c HostCall) -> Vec<&'c str> {
        let rows = self.tools_named(&call.name);
        let also = rows.flat_map(|row| row.also.iter().copied());
        std::iter::once(call.name.as_str()).chain(also).collect()
    }

    /// The names of the event's tool for matchers of this dialect.
    pub fn tool_names(&self, event: &Event) -> Vec<String> {
        let Some(name) = event.context().string("toolName") else {
            return Vec::new();
        };
        let mut names: Vec<String> = Vec::new();
        let servers = servers(&name, event);
        if event.host() == self.name || self.tools.is_empty() {
            names.push(name.clone());
            let rows = self.tools_named(&name);
            names.extend(rows.flat_map(Tool::names).map(str::to_string));
            for call in self.patch_calls(event) {
                names.extend(self.names_of(&call).into_iter().map(str::to_string));
            }
        } else if servers.is_empty() {
            names.extend(self.calls(event).into_iter().map(|call| call.name));
            let sorts = understand(&name, Value::Null, event).map(|call| call.sorts);
            for sort in sorts.unwrap_or_default() {
                let rows = self.rows_for(sort).into_iter();
                names.extend(rows.flat_map(Tool::names).map(str::to_string));
            }
        } else {
            for (server, tool) in &servers {
                names.push(self.mcp.write(server, tool));
            }
        }
        if names.is_empty() {
            names.push(name);
        }
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// The rows for a tool of this sort. A patch is both a write and an edit.
    fn rows_for(&self, sort: ToolSort) -> Vec<&'static Tool> {
        let others: &[ToolSort] = match self.tool_of(sort) {
            Some(own) => return vec![own],
            None if sort == ToolSort::Patch => &[ToolSort::Edit, ToolSort::Write],
            None if matches!(sort, ToolSort::Write | ToolSort::Edit) => &[ToolSort::Patch],
            None => &[],
        };
        let rows = others.iter().filter_map(|sort| self.tool_of(*sort));
        rows.collect()
    }

    fn encode_call(&self, call: UnderstoodCall, is_gate: bool) -> Vec<HostCall> {
        let Some(sort) = call.sorts.first().copied() else {
            return Vec::new();
        };
        let is_missing = self.tool_of(sort).is_none();
        if sort == ToolSort::Patch && is_missing {
            let patch = call.input.get("command").and_then(Value::as_str);
            return self.changes(read_patch(patch.unwrap_or_default()));
        }
        let is_change = matches!(sort, ToolSort::Write | ToolSort::Edit);
        if is_change && is_missing && self.tool_of(ToolSort::Patch).is_some() {
            let input = entry("command", &write_patch(sort, &call.input));
            return self.changes(vec![(ToolSort::Patch, input)]);
        }
        let mut inputs = vec![call.input];
        if sort == ToolSort::Edit && is_gate {
            inputs = inputs.into_iter().flat_map(one_by_one).collect();
        }
        self.changes(inputs.into_iter().map(|input| (sort, input)).collect())
    }

    /// Whether the tool may belong to an unnamed MCP server; on a gate, any server may be meant.
    pub fn is_of_unknown_server(&self, event: &Event) -> bool {
        let Some(name) = event.context().string("toolName") else {
            return false;
        };
        let is_bare = host_of(event).is_some_and(|host| host.mcp == Mcp::Bare);
        let is_unnamed = is_bare && !name.starts_with("mcp_");
        let is_elsewhere = event.host() != self.name && event.spec().blocks;
        is_unnamed && is_elsewhere && !servers(&name, event).is_empty()
    }

    fn call(&self, sort: ToolSort, input: Map<String, Value>) -> Option<HostCall> {
        let row = self.tool_of(sort)?;
        let input = input.into_iter();
        let input = input.map(|(key, value)| (row.own_key(key), value));
        Some(HostCall {
            name: row.name.to_string(),
            input: Value::Object(input.collect()),
        })
    }

    /// Translates the new input of call number `which` back for the asking host.
    ///
    /// # Errors
    /// Why it cannot be translated.
    pub fn taken_back(&self, event: &Event, which: usize, new: Value) -> Result<Value, String> {
        let calls = self.calls(event);
        let Some(sent_call) = calls.get(which) else {
            // A part of a call of the hook's own host.
            if which > 0 {
                return no_way("it is for only a part of the host's call");
            }
            return Ok(new);
        };
        let old = input_of(event);
        // Some hosts write JSON in a string.
        let text = new.as_str();
        let parsed = text.and_then(|text| serde_json::from_str(text).ok());
        let new = parsed.unwrap_or(new);
        if new == sent_call.input {
            return Ok(old);
        }
        let is_whole = which == 0 && !self.patch_calls(event).is_empty();
        if calls.len() > 1 && !is_whole {
            return no_way("one call of the host stands for several tool calls");
        }
        let name = event.context().string("toolName").unwrap_or_default();
        if !new.is_object() {
            return no_way("it is not a JSON object");
        }
        let (Value::Object(new), Value::Object(old)) = (new, old.clone()) else {
            return no_way("the host's input is not a JSON object");
        };
        if !servers(&name, event).is_empty() {
            return Ok(Value::Object(new));
        }
        let Some(sort) = understand(&name, Value::Object(old.clone()), event)
            .and_then(|call| call.sorts.first().copied())
        else {
            return Ok(Value::Object(new));
        };
        if self.tool_of(sort).is_none() {
            return no_way(&format!("{} has no tool of this kind", self.name));
        }
        if sort == ToolSort::Shell && old.values().any(Value::is_array) {
            return no_way("the host gave its command as a list of words");
        }
        let new = usual(sort, new);
        let translated = in_the_words_of(&old, sort, &name, event, new);
        Ok(Value::Object(translated))
    }
}

pub(super) fn is_of_server(event: &Event) -> bool {
    let name = event.context().string("toolName");
    name.is_some_and(|name| !servers(&name, event).is_empty())
}

/// Renames an input's keys to those the asking host used, else to those it knows.
fn in_the_words_of(
    old: &Map<String, Value>,
    sort: ToolSort,
    name: &str,
    event: &Event,
    new: Map<String, Value>,
) -> Map<String, Value> {
    let row = host_of(event).and_then(|host| host.tools_named(name).next());
    let mut input = Map::new();
    for (key, value) in new {
        let others = spellings(sort).filter(|(usual, _)| *usual == key);
        let mut others = others.flat_map(|(_, others)| others);
        let used = others.find(|other| old.contains_key(**other));
        let own = match (used, row) {
            _ if old.contains_key(&key) => key,
            (Some(used), _) => (*used).to_string(),
            (None, Some(row)) => row.own_key(key),
            (None, None) => key,
        };
        input.insert(own, value);
    }
    input
}

fn spellings(sort: ToolSort) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let of = SPELLINGS
        .iter()
        .filter(move |(_, _, sorts)| sorts.contains(&sort));
    of.map(|(usual, others, _)| (*usual, *others))
}

/// Renames an input's keys to the usual ones; if the usual key is present, other spellings stay.
fn usual(sort: ToolSort, input: Map<String, Value>) -> Map<String, Value> {
    let mut usual = Map::new();
    for (key, value) in &input {
        let known = spellings(sort).find(|(_, others)| others.contains(&key.as_str()));
        let name = match known {
            Some((name, _)) if !input.contains_key(name) && !usual.contains_key(name) => name,
            Some(_) | None => key,
        };
        usual.insert(name.to_string(), value.clone());
    }
    usual
}

/// The kind and input of a tool call; `None` if unknown.
fn understand(name: &str, input: Value, event: &Event) -> Option<UnderstoodCall> {
    let input = match input {
        Value::Object(input) => input,
        Value::String(text) => entry("command", &text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Map::new(),
    };
    // Map the asking host's own key to the usual one.
    let row = host_of(event).and_then(|host| host.tools_named(name).next());
    let mut input = input;
    if let Some(row) = row {
        let entries = input.into_iter();
        input = entries
            .map(|(key, value)| (row.usual_key(key), value))
            .collect();
    }
    let mut sorts = sorts(name, event);
    let edits = ["edits", "old_string", "old_str", "oldText"];
    if sorts.contains(&ToolSort::Edit) && edits.iter().any(|key| input.contains_key(*key)) {
        sorts.sort_by_key(|sort| *sort != ToolSort::Edit);
    }
    let sort = *sorts.first()?;
    let mut input = usual(sort, input);
    let has_command = input.get("command").is_some_and(Value::is_string);
    let command = event.action().and_then(|action| action.command.clone());
    if let Some(command) = command.filter(|_| sort == ToolSort::Shell && !has_command) {
        input.insert("command".to_string(), command.into());
    }
    Some(UnderstoodCall { sorts, input })
}

/// The sorts of a tool's name, by the host's own table, else any table, else the action.
fn sorts(name: &str, event: &Event) -> Vec<ToolSort> {
    let mut rows = dialects().flat_map(|dialect| dialect.tools);
    let host = host_of(event).into_iter();
    let own = host.flat_map(|host| host.tools_named(name));
    let found: Vec<ToolSort> = own.map(|row| row.sort).collect();
    if !found.is_empty() {
        return found;
    }
    let exact = rows.clone().find(|row| row.name == name);
    let like = rows.find(|row| row.name.eq_ignore_ascii_case(name));
    if let Some(row) = exact.or(like) {
        return vec![row.sort];
    }
    if PATCHES.iter().any(|patch| name.eq_ignore_ascii_case(patch)) {
        return vec![ToolSort::Patch];
    }
    // An unknown tool with a command line counts as a shell.
    let action = event.action();
    let has_command = action.is_some_and(|action| action.command.is_some());
    match action.map_or(ActionKind::Other, |action| action.kind) {
        ActionKind::Shell => vec![ToolSort::Shell],
        ActionKind::Read => vec![ToolSort::Read],
        ActionKind::Write => vec![ToolSort::Write],
        ActionKind::Edit => vec![ToolSort::Edit],
        ActionKind::Search => vec![ToolSort::Grep],
        ActionKind::Fetch => vec![ToolSort::Fetch],
        ActionKind::Agent => vec![ToolSort::Agent],
        ActionKind::Mcp | ActionKind::Other if has_command => vec![ToolSort::Shell],
        ActionKind::Mcp | ActionKind::Other => Vec::new(),
    }
}

/// The error for an input that cannot be translated back.
fn no_way(why: &str) -> Result<Value, String> {
    Err(format!(
        "the hook's new input cannot be returned to the host: {why}"
    ))
}

fn input_of(event: &Event) -> Value {
    let input = event.context().value("toolInput").ok().flatten();
    input.unwrap_or(Value::Null)
}

fn host_of(event: &Event) -> Option<&'static Host> {
    dialects().find(|dialect| dialect.name == event.host())
}

fn entry(key: &str, text: &str) -> Map<String, Value> {
    Map::from_iter([(key.to_string(), text.into())])
}

fn one_by_one(mut input: Map<String, Value>) -> Vec<Map<String, Value>> {
    let edits = input.get("edits").and_then(Value::as_array);
    let edits = edits.map_or(&[][..], Vec::as_slice).iter();
    let all: Option<Vec<_>> = edits.map(|edit| edit.as_object().cloned()).collect();
    let Some(edits) = all.filter(|edits| !edits.is_empty()) else {
        return vec![input];
    };
    input.remove("edits");
    let mut inputs = Vec::new();
    for edit in edits {
        let mut one = input.clone();
        one.extend(usual(ToolSort::Edit, edit));
        inputs.push(one);
    }
    inputs
}

/// The candidates for server and tool in an MCP tool's name; empty if it is not one. An unnamed
/// server gets the host's name.
fn servers(name: &str, event: &Event) -> Vec<(String, String)> {
    let context = event.context();
    let host = host_of(event);
    let style = host.map(|host| host.mcp);
    let server = context.text("raw.mcp_context.server_name");
    let server = server.or_else(|| context.text("mcpServer"));
    if let Some(server) = context.text("raw.tool_info.mcp_server_name") {
        return vec![owned(&server, name)];
    }
    if let Some(rest) = name.strip_prefix("mcp__") {
        return first_division(rest);
    }
    if let Some(rest) = name.strip_prefix("mcp_") {
        let known_server = server.filter(|server| rest.starts_with(&format!("{server}_")));
        return match known_server {
            Some(server) => vec![owned(&server, &rest[server.len() + 1..])],
            None => every_division(rest, '_'),
        };
    }
    if let Some((server, tool)) = name.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        return vec![owned(server, tool)];
    }
    let is_own = host.is_some_and(|host| host.tools_named(name).next().is_some());
    if style == Some(Mcp::Plain) && !is_own {
        return first_division(name);
    }
    if style == Some(Mcp::Hyphen) && !name.contains(char::is_whitespace) {
        return every_division(name, '-');
    }
    let event_name = context.text("raw.hook_event_name");
    let is_of_servers = event_name.is_some_and(|event| event.contains("MCP"));
    let is_bare = style == Some(Mcp::Bare) && is_of_servers;
    match name.strip_prefix("MCP:") {
        Some(tool) => vec![owned(event.host(), tool)],
        None if is_bare => vec![owned(event.host(), name)],
        None => Vec::new(),
    }
}

fn owned(server: &str, tool: &str) -> (String, String) {
    (server.to_string(), tool.to_string())
}

fn first_division(text: &str) -> Vec<(String, String)> {
    let divided = text.split_once("__").into_iter();
    divided.map(|(server, tool)| owned(server, tool)).collect()
}

fn every_division(text: &str, at: char) -> Vec<(String, String)> {
    let places = text.match_indices(at).map(|(place, _)| place);
    let inner = places.filter(|place| *place > 0 && place + 1 < text.len());
    inner
        .map(|place| owned(&text[..place], &text[place + 1..]))
        .collect()
}
