//! A host's settings as a document: its hooks, and reasons for the host to ignore it. Pure.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};
use jsonc_parser::errors::ParseError;
use serde_json::{Map, Value};

use toml::de::DeTable;

use crate::config::tree::Tree;
use crate::config::{Position, Problem};
use crate::engine::complaint::Complaint;
use crate::hosts::settings::{Comments, HostFile, HostHookKey};

pub(super) const HOOKS: &str = "hooks";

pub(super) const MARK: &str = "\u{feff}";

const RELAXED: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

const COMMENTED: ParseOptions = ParseOptions {
    allow_trailing_commas: false,
    ..RELAXED
};

impl HostFile {
    /// The top-level key of hookrun's hooks.
    pub(crate) fn table(&self) -> &'static str {
        if self.has_sets { "hookrun" } else { HOOKS }
    }

    pub(crate) fn command(&self) -> &'static str {
        self.key(HostHookKey::Command).unwrap_or("command")
    }

    /// The key and value that make a failure block.
    pub(crate) fn closed(&self) -> Option<(&'static str, Value)> {
        let key = self.key(HostHookKey::Closed)?;
        Some((key, serde_json::from_str(self.closed).unwrap_or_default()))
    }
}

#[derive(Debug)]
pub(crate) struct Document {
    pub(super) root: CstRootNode,
    pub(super) source: String,
    pub(super) shape: &'static HostFile,
    /// The path in problems.
    pub(super) file: PathBuf,
}

impl Document {
    /// Parses the text of `file`; an empty one is an empty file.
    pub(crate) fn read(
        text: &str,
        shape: &'static HostFile,
        file: &Path,
    ) -> Result<Document, Box<Problem>> {
        let bare = unmarked(text);
        let body = if shape.is_toml {
            toml_hooks(bare).map_err(|complaint| fault(file, None, complaint))?
        } else if bare.trim().is_empty() {
            "{}\n".to_string()
        } else {
            bare.to_string()
        };
        let root = CstRootNode::parse(&body, &RELAXED).map_err(|error| unreadable(file, &error))?;
        let document = Document {
            root,
            source: text.to_string(),
            shape,
            file: file.to_path_buf(),
        };
        if let Some(cause) = document.misshaped() {
            let complaint = Complaint::with_cure(cause, "correct it in an editor");
            return Err(fault(file, None, complaint));
        }
        Ok(document)
    }

    /// Why the host ignores the whole file.
    pub(crate) fn dropped(&self) -> Option<Box<Problem>> {
        if self.source.trim().is_empty() || self.shape.is_toml {
            return None;
        }
        let body = unmarked(&self.source);
        if body.len() < self.source.len() && !self.shape.takes_mark {
            let complaint =
                Complaint::with_cure("the file begins with a byte order mark", "remove it");
            return Some(fault(&self.file, None, complaint));
        }
        match self.shape.comments {
            Comments::Forbidden => plain_json(&self.file, body),
            Comments::Read => {
                let error = CstRootNode::parse(body, &COMMENTED).err()?;
                Some(unreadable(&self.file, &error))
            }
            Comments::Unknown => None,
        }
    }

    pub(super) fn keys(&self, handler: &CstObject) -> Map<String, Value> {
        let Some(Value::Object(mut keys)) = handler.to_serde_value() else {
            return Map::new();
        };
        let action = self.shape.action_key().and_then(|key| keys.remove(key));
        if let Some(Value::Object(action)) = action {
            keys.extend(action);
        }
        keys
    }

    /// The command with the arguments that some hosts list beside it; empty for another kind of hook.
    pub(super) fn command_line(&self, handler: &CstObject) -> String {
        let command = self.command(handler).unwrap_or_default();
        let keys = self.keys(handler);
        match keys.get("args").and_then(Value::as_array) {
            Some(list) if !command.is_empty() && !list.is_empty() => {
                let arguments = list.iter().filter_map(Value::as_str);
                shell_words::join(std::iter::once(command.as_str()).chain(arguments))
            }
            _ => command,
        }
    }

    pub(super) fn command(&self, handler: &CstObject) -> Option<String> {
        let action = self
            .shape
            .action_key()
            .and_then(|key| handler.object_value(key));
        string(action.as_ref().unwrap_or(handler), self.shape.command())
    }

    pub(super) fn matcher(&self, event: &str, handler: &CstObject) -> Option<String> {
        if self.shape.groups(event) {
            let group = handler.ancestors().find_map(|outer| outer.as_object())?;
            return string(&group, "matcher");
        }
        string(handler, "matcher")
    }

    pub(super) fn handlers(&self) -> Vec<(String, CstObject)> {
        let Some(top) = self.root.object_value() else {
            return Vec::new();
        };
        let mut all = Vec::new();
        if let Some(key) = self.shape.event_key() {
            let list = top.array_value(self.shape.table());
            for handler in list.iter().flat_map(|list| list.elements()) {
                let Some(handler) = handler.as_object() else {
                    continue;
                };
                let event = string(&handler, key).unwrap_or_default();
                all.push((event, handler));
            }
            return all;
        }
        for property in self.hook_table().iter().flat_map(CstObject::properties) {
            let (Some(event), Some(list)) = (property.decoded_name(), property.array_value())
            else {
                continue;
            };
            if self.shape.beside.contains(&event.as_str()) {
                continue;
            }
            for node in list.elements() {
                let handlers = match node.as_object().and_then(|it| it.array_value(HOOKS)) {
                    Some(group) if self.shape.groups(&event) => group.elements(),
                    _ if self.shape.groups(&event) => Vec::new(),
                    _ => vec![node],
                };
                let handlers = handlers.iter().filter_map(CstNode::as_object);
                all.extend(handlers.map(|handler| (event.clone(), handler)));
            }
        }
        all
    }

    pub(super) fn hook_table(&self) -> Option<CstObject> {
        self.root.object_value()?.object_value(self.shape.table())
    }

    fn misshaped(&self) -> Option<String> {
        let Some(object) = self.root.object_value() else {
            return Some("the file is not a JSON object".to_string());
        };
        let table = self.shape.table();
        if is_twice(&object, table) {
            return Some(format!("`{table}` appears twice"));
        }
        let property = object.get(table)?;
        if let Some(name) = property.value().and_then(|value| repeated(&value)) {
            return Some(format!("`{name}` appears twice in an entry of `{table}`"));
        }
        if self.shape.event_key().is_some() {
            let is_list = property.array_value().is_some();
            return (!is_list).then(|| format!("`{table}` is not a list"));
        }
        let Some(hooks) = property.object_value() else {
            return Some(format!("`{table}` is not an object"));
        };
        hooks.properties().iter().find_map(|property| {
            let event = property.decoded_name().unwrap_or_default();
            let is_list =
                property.array_value().is_some() || self.shape.beside.contains(&event.as_str());
            (!is_list).then(|| format!("`{table}.{event}` is not a list"))
        })
    }
}

/// A key that appears twice in one object: hosts differ in which value counts.
fn repeated(node: &CstNode) -> Option<String> {
    if let Some(list) = node.as_array() {
        return list.elements().iter().find_map(repeated);
    }
    let object = node.as_object()?;
    object.properties().iter().find_map(|property| {
        let name = property.decoded_name()?;
        if is_twice(&object, &name) {
            return Some(name);
        }
        repeated(&property.value()?)
    })
}

fn is_twice(object: &CstObject, name: &str) -> bool {
    let mut all = object.properties();
    all.retain(|one| one.decoded_name().as_deref() == Some(name));
    all.len() > 1
}

fn string(object: &CstObject, key: &str) -> Option<String> {
    object
        .get(key)?
        .value()?
        .as_string_lit()?
        .decoded_value()
        .ok()
}

pub(super) fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

fn fault(file: &Path, at: Option<Position>, complaint: Complaint) -> Box<Problem> {
    Box::new(complaint.in_file(file, at))
}

fn plain_json(file: &Path, text: &str) -> Option<Box<Problem>> {
    let error = serde_json::from_str::<Value>(text).err()?;
    let message = error.to_string();
    let cause = format!(
        "the file is not plain JSON: {}",
        message.split(" at line ").next()?
    );
    let cure = "remove comments and trailing commas";
    let at = Position {
        line: error.line(),
        column: error.column(),
    };
    Some(fault(file, Some(at), Complaint::with_cure(cause, cure)))
}

fn unreadable(file: &Path, error: &ParseError) -> Box<Problem> {
    let mut kind = error.kind().to_string();
    if let Some(first) = kind.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let at = Position {
        line: error.line_display(),
        column: error.column_display(),
    };
    let cause = format!("the file does not parse: {kind}");
    fault(
        file,
        Some(at),
        Complaint::with_cure(cause, "fix its syntax"),
    )
}

/// The `[[hooks]]` tables of a TOML file, as JSON.
fn toml_hooks(text: &str) -> Result<String, Complaint> {
    let document = DeTable::parse(text).map_err(|wrong| {
        Complaint::with_cure(
            format!("the file does not parse: {}", wrong.message()),
            "fix its syntax",
        )
    })?;
    if DeTable::parse(&format!("{text}\n[[hooks]]\n")).is_err() {
        let cure = "write each hook as a `[[hooks]]` table";
        return Err(Complaint::with_cure("cannot add a table to `hooks`", cure));
    }
    Ok(Tree::of_toml(&document).to_json().to_string())
}
