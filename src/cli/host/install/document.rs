//! A host's settings as a document: what is in it, and what keeps the host from reading it. Pure.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstRootNode};
use jsonc_parser::errors::ParseError;
use serde_json::{Map, Value};

use super::host::HOOKS;
use super::list;
use crate::config::Position;
use crate::engine::complaint::Complaint;
use crate::hosts::settings::{Comments, HostFile};

pub(super) const MARK: &str = "\u{feff}";

/// JSON with comments and trailing commas, and nothing else that is not JSON.
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

/// Why a text cannot be edited, or its host does not read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditError {
    pub(crate) at: Option<Position>,
    pub(crate) complaint: Complaint,
}

impl EditError {
    fn new(cause: impl Into<String>, cure: &str) -> EditError {
        EditError::of(Complaint::with_cure(cause, cure))
    }

    fn of(complaint: Complaint) -> EditError {
        let cure = complaint
            .cure
            .map(|cure| format!("{cure}; it was not touched"));
        EditError {
            at: None,
            complaint: Complaint { cure, ..complaint },
        }
    }

    fn at(self, line: usize, column: usize) -> EditError {
        EditError {
            at: Some(Position { line, column }),
            ..self
        }
    }
}

/// One hook in the settings of a host, hookrun's or another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettingsEntry {
    /// The host's name for the event.
    pub(crate) event: String,
    pub(crate) keys: Map<String, Value>,
    pub(crate) command: Option<String>,
    /// Its own matcher, or that of its group.
    pub(crate) matcher: Option<String>,
}

/// A key by which a host runs a hook for fewer calls, or does not wait for it: the values that do
/// no harm, and what the others do.
type Narrowing = (&'static str, fn(&Value) -> bool, &'static str);

const NARROWING: &[Narrowing] = &[
    ("if", |_| false, "it runs for some calls only"),
    ("async", is_false, "the host does not wait for its answer"),
    (
        "asyncRewake",
        is_false,
        "the host does not wait for its answer",
    ),
    ("once", is_false, "it runs once and then no more"),
    (
        "args",
        |_| false,
        "it is started without the shell that its command needs",
    ),
    (
        "shell",
        |shell| shell == "bash",
        "it is started by a shell that cannot read its command",
    ),
];

fn is_false(value: &Value) -> bool {
    value == false
}

impl SettingsEntry {
    /// Why a hook of hookrun's, which was changed, does not run for every call, or is ignored.
    pub(crate) fn narrowed(&self) -> Vec<String> {
        let matcher = self
            .matcher
            .as_deref()
            .filter(|it| !matches!(*it, "" | "*" | ".*"));
        let matcher = matcher.map(|it| format!("the matcher `{it}` leaves out other calls"));
        let keys = NARROWING.iter().filter_map(|(key, is_harmless, what)| {
            let value = self.keys.get(*key).filter(|value| !is_harmless(value))?;
            Some(format!("`{key}` is `{value}`: {what}"))
        });
        matcher.into_iter().chain(keys).collect()
    }
}

#[derive(Debug)]
pub(crate) struct Document {
    pub(super) root: CstRootNode,
    pub(super) source: String,
    pub(super) shape: &'static HostFile,
}

struct ListedEntry {
    event: String,
    place: String,
    /// `None` for a group without a list of hooks.
    node: Option<CstNode>,
}

impl Document {
    /// Reads a text; an empty one is a file without anything in it.
    pub(crate) fn read(text: &str, shape: &'static HostFile) -> Result<Document, EditError> {
        let bare = unmarked(text);
        let body = match shape.is_toml {
            true => list::as_json(bare).map_err(EditError::of)?,
            false if bare.trim().is_empty() => "{}\n".to_string(),
            false => bare.to_string(),
        };
        let root = CstRootNode::parse(&body, &RELAXED).map_err(unreadable)?;
        let document = Document {
            root,
            source: text.to_string(),
            shape,
        };
        match document.misshaped() {
            Some(cause) => Err(EditError::new(cause, "correct it by hand")),
            None => Ok(document),
        }
    }

    /// Everything for which the host drops the file as a whole, hookrun's hooks with it.
    pub(crate) fn dropped(&self) -> Vec<EditError> {
        if self.source.trim().is_empty() || self.shape.is_toml {
            return Vec::new();
        }
        let body = unmarked(&self.source);
        let plain = match self.shape.comments {
            Comments::Refused => plain_json(body),
            Comments::Read => CstRootNode::parse(body, &COMMENTED).err().map(unreadable),
            Comments::Unknown => None,
        };
        let has_mark = body.len() < self.source.len() && !self.shape.takes_mark;
        let mark = has_mark.then(|| "begins with a byte order mark".to_string());
        plain
            .into_iter()
            .chain(mark.map(|cause| EditError::new(cause, "correct it")))
            .collect()
    }

    /// What strict JSON does not allow in the text, if the host may not take that.
    pub(crate) fn doubt(&self) -> Option<EditError> {
        let is_toml = self.shape.is_toml;
        if self.shape.comments != Comments::Unknown || self.source.trim().is_empty() || is_toml {
            return None;
        }
        plain_json(unmarked(&self.source))
    }

    /// Entries among the hooks that are no hooks, each by its place and what it lacks, where it is
    /// not known what the host makes of them.
    pub(crate) fn strays(&self) -> Vec<String> {
        let stray = |ListedEntry { place, node, .. }: ListedEntry| match node {
            Some(node) => Some(format!("{place} is no hook{}", lack(&node)?)),
            None => Some(format!(
                "{place} is no group of hooks: it has no list `{HOOKS}`"
            )),
        };
        self.listed().into_iter().filter_map(stray).collect()
    }

    pub(crate) fn search(&self) -> Option<String> {
        let env = self.root.object_value()?.object_value("env")?;
        env.get("PATH")?
            .value()?
            .as_string_lit()?
            .decoded_value()
            .ok()
    }

    pub(crate) fn hooks(&self) -> Vec<SettingsEntry> {
        self.handlers()
            .iter()
            .map(|(event, handler)| self.settings_entry(event, handler))
            .collect()
    }

    pub(super) fn settings_entry(&self, event: &str, handler: &CstObject) -> SettingsEntry {
        SettingsEntry {
            event: event.to_string(),
            command: self.command(handler),
            matcher: self.matcher(event, handler),
            keys: self.keys(handler),
        }
    }

    /// All keys of a hook, with those of what it runs.
    fn keys(&self, handler: &CstObject) -> Map<String, Value> {
        let Some(Value::Object(mut keys)) = handler.to_serde_value() else {
            return Map::new();
        };
        let action = self.shape.action_key().and_then(|key| keys.remove(key));
        if let Some(Value::Object(action)) = action {
            keys.extend(action);
        }
        keys
    }

    pub(super) fn command(&self, handler: &CstObject) -> Option<String> {
        let action = self
            .shape
            .action_key()
            .and_then(|key| handler.object_value(key));
        let holder = action.as_ref().unwrap_or(handler);
        holder
            .get(self.shape.command())?
            .value()?
            .as_string_lit()?
            .decoded_value()
            .ok()
    }

    fn matcher(&self, event: &str, handler: &CstObject) -> Option<String> {
        let owner = match self.shape.groups(event) {
            true => handler.ancestors().find_map(|outer| outer.as_object())?,
            false => handler.clone(),
        };
        owner
            .get("matcher")?
            .value()?
            .as_string_lit()?
            .decoded_value()
            .ok()
    }

    pub(super) fn handlers(&self) -> Vec<(String, CstObject)> {
        let listed = self.listed().into_iter();
        listed
            .filter_map(|one| Some((one.event, one.node?.as_object()?)))
            .collect()
    }

    fn listed(&self) -> Vec<ListedEntry> {
        let (mut all, table) = (Vec::new(), self.shape.table());
        if let Some(key) = self.shape.event_key() {
            let nodes = self
                .hook_list()
                .map(|list| list.elements())
                .unwrap_or_default();
            let event = |node: &CstNode| {
                node.to_serde_value()?
                    .get(key)?
                    .as_str()
                    .map(str::to_string)
            };
            let entry = |(at, node): (usize, CstNode)| ListedEntry {
                event: event(&node).unwrap_or_default(),
                place: format!("`{table}[{at}]`"),
                node: Some(node),
            };
            return nodes.into_iter().enumerate().map(entry).collect();
        }
        for property in self.hook_table().iter().flat_map(CstObject::properties) {
            let (Some(event), Some(list)) = (property.decoded_name(), property.array_value())
            else {
                continue;
            };
            if self.shape.beside.contains(&event.as_str()) {
                continue;
            }
            for (at, node) in list.elements().into_iter().enumerate() {
                let path = format!("{table}.{event}[{at}]");
                let mut add = |path: &str, node| {
                    let place = format!("`{path}`");
                    all.push(ListedEntry {
                        event: event.clone(),
                        place,
                        node,
                    });
                };
                if !self.shape.groups(&event) {
                    add(&path, Some(node));
                    continue;
                }
                match node.as_object().and_then(|group| group.array_value(HOOKS)) {
                    None => add(&path, None),
                    Some(inner) => {
                        for (below, node) in inner.elements().into_iter().enumerate() {
                            add(&format!("{path}.{HOOKS}[{below}]"), Some(node));
                        }
                    }
                }
            }
        }
        all
    }

    pub(super) fn hook_table(&self) -> Option<CstObject> {
        self.root.object_value()?.object_value(self.shape.table())
    }

    pub(super) fn hook_list(&self) -> Option<CstArray> {
        self.root.object_value()?.array_value(self.shape.table())
    }

    fn misshaped(&self) -> Option<String> {
        let Some(object) = self.root.object_value() else {
            return Some("is not a JSON object".to_string());
        };
        let is_twice = |object: &CstObject, name: &str| {
            let all = object.properties();
            all.iter()
                .filter(|one| one.decoded_name().as_deref() == Some(name))
                .count()
                > 1
        };
        let table = self.shape.table();
        if is_twice(&object, table) {
            return Some(format!("`{table}` appears twice in it"));
        }
        let property = object.get(table)?;
        if self.shape.event_key().is_some() {
            let is_list = property.array_value().is_some();
            return (!is_list).then(|| format!("`{table}` is not a list"));
        }
        let Some(hooks) = property.object_value() else {
            return Some(format!("`{table}` is not an object"));
        };
        hooks.properties().iter().find_map(|property| {
            let event = property.decoded_name().unwrap_or_default();
            if is_twice(&hooks, &event) {
                return Some(format!("`{table}.{event}` appears twice in it"));
            }
            let is_list =
                property.array_value().is_some() || self.shape.beside.contains(&event.as_str());
            (!is_list).then(|| format!("`{table}.{event}` is not a list"))
        })
    }
}

/// The keys that say what a hook of the type `command` runs, in one host or another.
const COMMANDS: &[&str] = &["command", "bash", "powershell", "exec"];

/// Why an entry is no hook, if it is none.
fn lack(entry: &CstNode) -> Option<String> {
    let keys = match entry.to_serde_value() {
        // Kiro says there what it runs.
        Some(Value::Object(keys)) if keys.get("action").is_some_and(Value::is_object) => {
            return None;
        }
        Some(Value::Object(keys)) => keys,
        Some(other) => {
            let shown: String = other.to_string().chars().take(40).collect();
            return Some(format!(": it is `{shown}`"));
        }
        None => return Some(String::new()),
    };
    let is_command = keys.get("type").is_none_or(|kind| kind == "command");
    let has_command = COMMANDS
        .iter()
        .any(|key| keys.get(*key).is_some_and(Value::is_string));
    (is_command && !has_command).then(|| ": it has no command".to_string())
}

pub(super) fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

fn plain_json(text: &str) -> Option<EditError> {
    let error = serde_json::from_str::<Value>(text).err()?;
    let said = error.to_string();
    let cause = format!("is not plain JSON: {}", said.split(" at line ").next()?);
    let cure = "correct it: no comments, no trailing commas";
    Some(EditError::new(cause, cure).at(error.line(), error.column()))
}

fn unreadable(error: ParseError) -> EditError {
    let kind = error.kind().to_string();
    let mut letters = kind.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    let kind: String = first.into_iter().chain(letters).collect();
    let wrong = EditError::new(format!("does not parse: {kind}"), "correct it");
    wrong.at(error.line_display(), error.column_display())
}
