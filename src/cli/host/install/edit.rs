//! Edits of a host's settings as text: hookrun's hooks come and go, and everything else, comments
//! and blanks included, stays as it is. Pure: a text in, a text out.

use crate::config::Position;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::errors::ParseError;
use std::time::Duration;

use serde_json::Value;

use super::hosts::{Comments, HostEventRow, SettingsShape};
use super::narrowing::narrowed;
use super::program::GUARD;

/// The key below which hooks stand, in every host.
pub(crate) const HOOKS: &str = "hooks";

/// A byte order mark.
const MARK: &str = "\u{feff}";

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

/// JSON with comments.
const COMMENTED: ParseOptions = ParseOptions { allow_trailing_commas: false, ..RELAXED };

/// Why a text cannot be edited, or its host does not read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditError {
    pub(crate) at: Option<Position>,
    pub(crate) cause: String,
    pub(crate) cure: String,
}

/// One hook of a settings file, hookrun's own or anybody's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettingsEntry {
    /// The host's name for the event.
    pub(crate) event: String,
    /// Its keys and values.
    pub(crate) keys: serde_json::Map<String, Value>,
    /// Its command, if it is one.
    pub(crate) command: Option<String>,
    /// What it is about, where that is said: by itself or by its group.
    pub(crate) matcher: Option<String>,
}

/// A settings file that parses.
#[derive(Debug)]
pub(crate) struct Document {
    root: CstRootNode,
    /// The text that was read.
    source: String,
    settings: SettingsShape,
}

impl Document {
    /// Reads a text; an empty one is a file without anything in it.
    ///
    /// # Errors
    /// When the host could not read it, or its hooks have another shape.
    pub(crate) fn read(text: &str, settings: SettingsShape) -> Result<Document, EditError> {
        let bare = unmarked(text);
        let body = if bare.trim().is_empty() { "{}\n" } else { bare };
        let root = CstRootNode::parse(body, &RELAXED).map_err(unreadable)?;
        let document = Document { root, source: text.to_string(), settings };
        document.check()?;
        Ok(document)
    }

    /// Everything for which the host drops the file as a whole, hookrun's hooks with it.
    pub(crate) fn dropped(&self) -> Vec<EditError> {
        if self.source.trim().is_empty() {
            return Vec::new();
        }
        let body = unmarked(&self.source);
        let plain = match self.settings.comments {
            Comments::Refused => plain_json(body).err(),
            Comments::Read => {
                CstRootNode::parse(body, &COMMENTED).map(drop).map_err(unreadable).err()
            }
            Comments::Unknown => None,
        };
        let wrong = |cause: String| EditError {
            at: None,
            cause,
            cure: "correct it; it was not touched".to_string(),
        };
        let has_mark = body.len() < self.source.len() && !self.settings.takes_mark;
        let mark = has_mark.then(|| wrong("begins with a byte order mark".to_string()));
        let value = self.root.to_serde_value().unwrap_or_default();
        let mistakes = self.settings.schema.map(|schema| schema.mistakes(&value));
        let mistakes = mistakes.into_iter().flatten().map(wrong);
        plain.into_iter().chain(mark).chain(mistakes).collect()
    }

    /// What stands in the text that strict JSON has not, if the host may not take that.
    pub(crate) fn doubt(&self) -> Option<EditError> {
        if self.settings.comments != Comments::Unknown || self.source.trim().is_empty() {
            return None;
        }
        plain_json(unmarked(&self.source)).err()
    }

    /// What stands among the hooks and is none, each by its place and what it lacks, where it is not
    /// known what the host makes of it.
    pub(crate) fn strays(&self) -> Vec<String> {
        let mut strays = Vec::new();
        if self.settings.schema.is_some() {
            return strays;
        }
        for property in self.hook_table().iter().flat_map(CstObject::properties) {
            let (Some(event), Some(list)) = (property.decoded_name(), property.array_value())
            else {
                continue;
            };
            for (at, entry) in list.elements().iter().enumerate() {
                let place = format!("`{HOOKS}.{event}[{at}]`");
                if !self.settings.nested {
                    strays.extend(stray(&place, entry));
                    continue;
                }
                let inner = entry.as_object().and_then(|group| group.array_value(HOOKS));
                let Some(inner) = inner else {
                    strays.push(format!("{place} is no group of hooks: it has no list `{HOOKS}`"));
                    continue;
                };
                for (below, entry) in inner.elements().iter().enumerate() {
                    let place = format!("`{HOOKS}.{event}[{at}].{HOOKS}[{below}]`");
                    strays.extend(stray(&place, entry));
                }
            }
        }
        strays
    }

    /// The PATH that it sets for what the host starts.
    pub(crate) fn search(&self) -> Option<String> {
        let env = self.root.object_value()?.object_value("env")?;
        env.get("PATH")?.value()?.as_string_lit()?.decoded_value().ok()
    }

    /// Every hook in the order of the text.
    pub(crate) fn hooks(&self) -> Vec<SettingsEntry> {
        self.handlers().into_iter().map(|(event, handler)| self.found(&event, &handler)).collect()
    }

    fn found(&self, event: &str, handler: &CstObject) -> SettingsEntry {
        SettingsEntry {
            event: event.to_string(),
            command: self.command(handler),
            matcher: self.matcher(handler),
            keys: match handler.to_serde_value() {
                Some(Value::Object(keys)) => keys,
                Some(_) | None => serde_json::Map::new(),
            },
        }
    }

    /// The text with one hook for each of `rows`, that runs `command`, and no other hook of
    /// hookrun's, which `is_own` tells by the command. What is right already stays.
    pub(crate) fn with(
        &self,
        rows: &[HostEventRow],
        command: &str,
        is_own: &dyn Fn(&str) -> bool,
    ) -> String {
        let mut settled: Vec<&str> = Vec::new();
        for (event, handler) in self.own(is_own) {
            let row = rows.iter().find(|row| row.name == event && !settled.contains(&row.name));
            // One that is asked about some calls only is written anew, in a group of its own.
            match row.filter(|_| narrowed(&self.found(&event, &handler)).is_empty()) {
                Some(row) => {
                    settled.push(row.name);
                    correct(&handler, &self.entry(row, command));
                }
                None => self.remove(&event, handler, false),
            }
        }
        let object = self.root.object_value_or_set();
        if self.settings.versioned && object.get("version").is_none() {
            object.insert(0, "version", CstInputValue::Number("1".to_string()));
        }
        for row in rows.iter().filter(|row| !settled.contains(&row.name)) {
            let handler = CstInputValue::Object(self.entry(row, command));
            let list = object.object_value_or_set(HOOKS).array_value_or_set(row.name);
            list.append(if self.settings.nested {
                let group = vec![(HOOKS.to_string(), CstInputValue::Array(vec![handler]))];
                CstInputValue::Object(group)
            } else {
                handler
            });
        }
        self.text()
    }

    /// The text without any hook of hookrun's. What is empty then goes too, unless it stood in
    /// `original`, the text before hookrun came.
    pub(crate) fn without(&self, original: Option<&str>, is_own: &dyn Fn(&str) -> bool) -> String {
        let own = self.own(is_own);
        if own.is_empty() {
            return self.source.clone();
        }
        let before = original.and_then(|text| Document::read(text, self.settings).ok());
        let lists = before.as_ref().and_then(Document::hook_table);
        for (event, handler) in own {
            let stays = lists.as_ref().is_some_and(|lists| lists.get(&event).is_some());
            self.remove(&event, handler, stays);
        }
        let had = |key: &str| {
            let object = before.as_ref().and_then(|before| before.root.object_value());
            object.is_some_and(|object| object.get(key).is_some())
        };
        if let Some(object) = self.root.object_value() {
            let is_empty = |object: &CstObject| object.properties().is_empty();
            if let Some(hooks) = object.get(HOOKS)
                && hooks.object_value().is_some_and(|hooks| is_empty(&hooks))
                && !had(HOOKS)
            {
                hooks.remove();
            }
            if let Some(version) = object.get("version")
                && self.settings.versioned
                && before.is_some()
                && !had("version")
            {
                version.remove();
            }
        }
        self.text()
    }

    /// Whether there is nothing in it but what hookrun itself would put there.
    pub(crate) fn is_bare(&self) -> bool {
        let Some(object) = self.root.object_value() else { return false };
        let is_trifle = |name: Option<String>| match name.as_deref() {
            Some("version") => self.settings.versioned,
            Some(HOOKS) => self.handlers().is_empty(),
            Some(_) | None => false,
        };
        // Nothing of what is left has a slash in it but a comment.
        let has_comments = self.root.to_string().contains('/');
        !has_comments && object.properties().iter().all(|one| is_trifle(one.decoded_name()))
    }

    fn text(&self) -> String {
        let mark = if unmarked(&self.source).len() < self.source.len() { MARK } else { "" };
        format!("{mark}{}", self.root)
    }

    fn own(&self, is_own: &dyn Fn(&str) -> bool) -> Vec<(String, CstObject)> {
        let mut all = self.handlers();
        all.retain(|(_, handler)| self.command(handler).is_some_and(|command| is_own(&command)));
        all
    }

    fn command(&self, handler: &CstObject) -> Option<String> {
        handler.get(self.settings.command)?.value()?.as_string_lit()?.decoded_value().ok()
    }

    fn matcher(&self, handler: &CstObject) -> Option<String> {
        let owner = match self.settings.nested {
            true => handler.ancestors().find_map(|outer| outer.as_object())?,
            false => handler.clone(),
        };
        owner.get("matcher")?.value()?.as_string_lit()?.decoded_value().ok()
    }

    /// Every hook with its event.
    fn handlers(&self) -> Vec<(String, CstObject)> {
        let mut found = Vec::new();
        let Some(hooks) = self.hook_table() else { return found };
        for property in hooks.properties() {
            let (Some(event), Some(list)) = (property.decoded_name(), property.array_value())
            else {
                continue;
            };
            for entry in list.elements().iter().filter_map(CstNode::as_object) {
                if !self.settings.nested {
                    found.push((event.clone(), entry));
                    continue;
                }
                let inner = entry.array_value(HOOKS).map(|inner| inner.elements());
                for handler in inner.unwrap_or_default().iter().filter_map(CstNode::as_object) {
                    found.push((event.clone(), handler));
                }
            }
        }
        found
    }

    /// Removes a hook, and what it leaves empty: its group, and the list of its event unless
    /// that `stays`.
    fn remove(&self, event: &str, handler: CstObject, stays: bool) {
        let is_empty = |list: &CstArray| list.elements().is_empty();
        let group = handler.ancestors().find_map(|outer| outer.as_object());
        handler.remove();
        let empty = |group: &CstObject| group.array_value(HOOKS).is_some_and(|it| is_empty(&it));
        if let Some(group) = group.filter(|group| self.settings.nested && empty(group)) {
            group.remove();
        }
        let property = self.hook_table().and_then(|hooks| hooks.get(event));
        if let Some(property) = property
            && !stays
            && property.array_value().is_some_and(|list| is_empty(&list))
        {
            property.remove();
        }
    }

    /// What stands below the key of hooks.
    fn hook_table(&self) -> Option<CstObject> {
        self.root.object_value()?.object_value(HOOKS)
    }

    fn entry(&self, row: &HostEventRow, command: &str) -> Vec<(String, CstInputValue)> {
        entry(self.settings, row, command)
            .into_iter()
            .map(|(key, value)| {
                let value = match value {
                    Value::Bool(flag) => CstInputValue::Bool(flag),
                    Value::Number(number) => CstInputValue::Number(number.to_string()),
                    Value::String(text) => CstInputValue::String(text),
                    Value::Null | Value::Array(_) | Value::Object(_) => CstInputValue::Null,
                };
                (key, value)
            })
            .collect()
    }

    /// Whether the hooks have the shape that the host reads.
    fn check(&self) -> Result<(), EditError> {
        let wrong = |what: String| {
            let cure = "correct it by hand; it was not touched".to_string();
            Err(EditError { at: None, cause: what, cure })
        };
        let Some(object) = self.root.object_value() else {
            return wrong("is not a JSON object".to_string());
        };
        let names = |object: &CstObject| -> Vec<String> {
            object.properties().iter().filter_map(|one| one.decoded_name()).collect()
        };
        let twice = |names: &[String], name: &str| {
            names.iter().filter(|known| known.as_str() == name).count() > 1
        };
        if twice(&names(&object), HOOKS) {
            return wrong(format!("`{HOOKS}` appears twice in it"));
        }
        let Some(property) = object.get(HOOKS) else { return Ok(()) };
        let Some(hooks) = property.object_value() else {
            return wrong(format!("`{HOOKS}` is not an object"));
        };
        let events = names(&hooks);
        for property in hooks.properties() {
            let event = property.decoded_name().unwrap_or_default();
            if twice(&events, &event) {
                return wrong(format!("`{HOOKS}.{event}` appears twice in it"));
            }
            if property.array_value().is_none() {
                return wrong(format!("`{HOOKS}.{event}` is not a list"));
            }
        }
        Ok(())
    }
}

/// The keys that say what a hook of the type `command` runs, in one host or another.
const COMMANDS: &[&str] = &["command", "bash", "powershell", "exec"];

/// Why an entry is no hook, if it is none.
fn stray(place: &str, entry: &CstNode) -> Option<String> {
    let keys = match entry.to_serde_value() {
        Some(Value::Object(keys)) => keys,
        Some(other) => {
            let shown: String = other.to_string().chars().take(40).collect();
            return Some(format!("{place} is no hook: it is `{shown}`"));
        }
        None => return Some(format!("{place} is no hook")),
    };
    let is_command = keys.get("type").is_none_or(|kind| kind == "command");
    let has_command = COMMANDS.iter().any(|key| keys.get(*key).is_some_and(Value::is_string));
    (is_command && !has_command).then(|| format!("{place} is no hook: it has no command"))
}

/// A hook of hookrun's for an event, key by key.
pub(crate) fn entry(
    settings: SettingsShape,
    row: &HostEventRow,
    command: &str,
) -> Vec<(String, Value)> {
    let mut command = command.to_string();
    if settings.names_event {
        command.push_str(&format!(" {}", row.name));
    }
    if let Some(budget) = row.budget() {
        command.push_str(&format!(" --budget {}", plain_time(budget)));
    }
    if row.is_guarded {
        command.push_str(GUARD);
    }
    let per_second = u128::from(settings.timeout.per_second);
    let wait = row.told().as_millis() * per_second / 1000;
    let wait = u64::try_from(wait).unwrap_or(u64::MAX);
    let mut keys = vec![
        ("type".to_string(), Value::from("command")),
        (settings.command.to_string(), Value::from(command)),
        (settings.timeout.key.to_string(), Value::from(wait)),
    ];
    if let Some(key) = settings.label {
        keys.push((key.to_string(), Value::from("hookrun")));
    }
    if let Some((key, value)) = settings.closed.filter(|_| row.is_closed) {
        keys.push((key.to_string(), value.json()));
    }
    keys
}

/// A duration as one word, which no shell divides.
fn plain_time(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        return format!("{}s", time.as_secs());
    }
    format!("{}ms", time.as_millis())
}

/// Puts right what is wrong or missing in a hook, and leaves its other keys alone.
fn correct(handler: &CstObject, wanted: &[(String, CstInputValue)]) {
    for (key, value) in wanted {
        match handler.get(key) {
            None => {
                handler.append(key, value.clone());
            }
            Some(property) => {
                let is = property.to_serde_value();
                if is != as_json(value) {
                    property.set_value(value.clone());
                }
            }
        }
    }
}

fn as_json(value: &CstInputValue) -> Option<Value> {
    match value {
        CstInputValue::Null => Some(Value::Null),
        CstInputValue::Bool(flag) => Some(Value::from(*flag)),
        CstInputValue::Number(text) => serde_json::from_str(text).ok(),
        CstInputValue::String(text) => Some(Value::from(text.as_str())),
        CstInputValue::Array(_) | CstInputValue::Object(_) => None,
    }
}

fn unmarked(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Whether a text is JSON without comments and trailing commas.
fn plain_json(text: &str) -> Result<(), EditError> {
    let Err(error) = serde_json::from_str::<Value>(text) else { return Ok(()) };
    let said = error.to_string();
    let problem = said.split(" at line ").next().unwrap_or_default();
    Err(EditError {
        at: Some(Position { line: error.line(), column: error.column() }),
        cause: format!("is not plain JSON: {problem}"),
        cure: "correct it: no comments, no trailing commas; it was not touched".to_string(),
    })
}

fn unreadable(error: ParseError) -> EditError {
    EditError {
        at: Some(Position { line: error.line_display(), column: error.column_display() }),
        cause: format!("does not parse: {}", lowered(&error.kind().to_string())),
        cure: "correct it; it was not touched".to_string(),
    }
}

/// A sentence as the middle of one.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests;
