//! Edits of a host's settings as text: hookrun's hooks come and go, and everything else, comments
//! and blanks included, stays as it is. Pure: a text in, a text out.

use std::time::Duration;

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp};
use serde_json::Value;

use super::document::{Document, MARK, unmarked};
use super::host::HOOKS;
use super::list::{self, HookEntry};
use super::program::GUARD;
use crate::hosts::capability::ServedEvent;
use crate::hosts::settings::{HostFile, HostHookKey};

impl Document {
    /// The text with a hook for each of `rows`, and no other hook of hookrun's, which `is_own` knows
    /// by the command. What is already right stays.
    pub(crate) fn with(
        &self,
        rows: &[ServedEvent],
        command: &str,
        is_own: &dyn Fn(&str) -> bool,
    ) -> String {
        let mut wanted: Vec<WantedHandler> = rows
            .iter()
            .map(|row| WantedHandler {
                event: row.name,
                keys: entry(self.shape, row, command.to_string()),
            })
            .collect();
        if self.shape.is_toml {
            let entries: Vec<&HookEntry> = wanted.iter().map(|one| &one.keys).collect();
            return list::with(&self.source, &entries, is_own);
        }
        for (event, handler) in self.own(is_own) {
            let kind = self
                .settings_entry(&event, &handler)
                .keys
                .get("type")
                .cloned();
            let fits = |one: &WantedHandler| {
                let wanted = one.keys.iter().find(|(key, _)| *key == "type");
                let is_listed = self.shape.event_key().is_some();
                one.event == event && (is_listed || wanted.map(|(_, kind)| kind) == kind.as_ref())
            };
            let is_whole = self.settings_entry(&event, &handler).narrowed().is_empty();
            // One that runs for some calls only is written anew, in its own group.
            match wanted.iter().position(fits).filter(|_| is_whole) {
                Some(at) => correct(&handler, &wanted.remove(at).keys),
                None => self.remove(&event, handler, false),
            }
        }
        let object = self.root.object_value_or_set();
        if let Some(version) = self
            .shape
            .version
            .filter(|_| object.get("version").is_none())
        {
            let version: Value = serde_json::from_str(version).unwrap_or_default();
            object.insert(0, "version", input(&version));
        }
        for WantedHandler { event, keys, .. } in wanted {
            let keys = keys.into_iter();
            let handler = CstInputValue::Object(
                keys.map(|(key, value)| (key.to_string(), input(&value)))
                    .collect(),
            );
            if self.shape.event_key().is_some() {
                object
                    .array_value_or_set(self.shape.table())
                    .append(handler);
                continue;
            }
            let list = object
                .object_value_or_set(self.shape.table())
                .array_value_or_set(event);
            list.append(if self.shape.groups(event) {
                let group = vec![(HOOKS.to_string(), CstInputValue::Array(vec![handler]))];
                CstInputValue::Object(group)
            } else {
                handler
            });
        }
        self.text()
    }

    /// The text without any hook of hookrun's. What is empty then goes too, unless it was in
    /// `original`, the text before hookrun came.
    pub(crate) fn without(&self, original: Option<&str>, is_own: &dyn Fn(&str) -> bool) -> String {
        let own = self.own(is_own);
        if own.is_empty() {
            return self.source.clone();
        }
        if self.shape.is_toml {
            return list::with(&self.source, &[], is_own);
        }
        let before = original.and_then(|text| Document::read(text, self.shape).ok());
        let lists = before.as_ref().and_then(Document::hook_table);
        for (event, handler) in own {
            let stays = lists
                .as_ref()
                .is_some_and(|lists| lists.get(&event).is_some());
            self.remove(&event, handler, stays);
        }
        let table = self.shape.table();
        let had = |key: &str| {
            let object = before
                .as_ref()
                .and_then(|before| before.root.object_value());
            object.is_some_and(|object| object.get(key).is_some())
        };
        if let Some(object) = self.root.object_value() {
            let is_empty = |hooks: &CstObjectProp| match (hooks.object_value(), hooks.array_value())
            {
                (Some(events), _) => events.properties().is_empty(),
                (None, list) => list.is_some_and(|list| list.elements().is_empty()),
            };
            if let Some(hooks) = object.get(table).filter(|it| is_empty(it) && !had(table)) {
                hooks.remove();
            }
            if let Some(version) = object.get("version")
                && self.shape.version.is_some()
                && before.is_some()
                && !had("version")
            {
                version.remove();
            }
        }
        self.text()
    }

    /// Whether only what hookrun itself would put there is in it.
    pub(crate) fn is_bare(&self) -> bool {
        let Some(object) = self.root.object_value() else {
            return false;
        };
        let is_trifle = |name: Option<String>| match name.as_deref() {
            Some("version") => self.shape.version.is_some(),
            Some(name) if name == self.shape.table() => self.handlers().is_empty(),
            Some(_) | None => false,
        };
        // Nothing of what is left has a slash in it but a comment.
        let has_comments = self.root.to_string().contains('/');
        !has_comments
            && object
                .properties()
                .iter()
                .all(|one| is_trifle(one.decoded_name()))
    }

    fn text(&self) -> String {
        let mark = if unmarked(&self.source).len() < self.source.len() {
            MARK
        } else {
            ""
        };
        format!("{mark}{}", self.root)
    }

    fn own(&self, is_own: &dyn Fn(&str) -> bool) -> Vec<(String, CstObject)> {
        let mut all = self.handlers();
        all.retain(|(_, handler)| self.command(handler).is_some_and(|text| is_own(&text)));
        all
    }

    /// Removes a hook, and what it leaves empty: its group, and the list of its event unless
    /// that `stays`.
    fn remove(&self, event: &str, handler: CstObject, stays: bool) {
        let is_empty = |list: &CstArray| list.elements().is_empty();
        let group = handler.ancestors().find_map(|outer| outer.as_object());
        handler.remove();
        if self.shape.event_key().is_some() {
            return;
        }
        let empty = |group: &CstObject| group.array_value(HOOKS).is_some_and(|it| is_empty(&it));
        if let Some(group) = group.filter(|group| self.shape.groups(event) && empty(group)) {
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
}

/// A hook that is to be in the settings.
struct WantedHandler {
    event: &'static str,
    keys: HookEntry,
}

fn wait(shape: &'static HostFile, row: &ServedEvent) -> u64 {
    let wait = row.timeout().as_millis() * u128::from(shape.per_second) / 1000;
    u64::try_from(wait).unwrap_or(u64::MAX)
}

fn entry(shape: &'static HostFile, row: &ServedEvent, mut command: String) -> HookEntry {
    if shape.names_event {
        command.push_str(&format!(" {}", row.name));
    }
    // Where no time can be set, the host waits as it does, and so does the usual budget.
    if let Some(budget) = row
        .budget()
        .filter(|_| shape.key(HostHookKey::Time).is_some())
    {
        command.push_str(&format!(" --budget {}", plain_time(budget)));
    }
    if row.is_guarded() {
        command.push_str(GUARD);
    }
    let mut keys = Vec::new();
    keys.extend(shape.event_key().map(|key| (key, Value::from(row.name))));
    let kind = shape
        .key(HostHookKey::Kind)
        .map(|key| (key, Value::from("command")));
    let runs = kind
        .into_iter()
        .chain([(shape.command(), Value::from(command))]);
    match shape.action_key() {
        Some(key) => {
            let action = runs.map(|(key, value)| (key.to_string(), value)).collect();
            keys.push((key, Value::Object(action)));
        }
        None => keys.extend(runs),
    }
    keys.extend(
        shape
            .key(HostHookKey::Time)
            .map(|key| (key, wait(shape, row).into())),
    );
    keys.extend(
        shape
            .key(HostHookKey::Name)
            .map(|key| (key, Value::from("hookrun"))),
    );
    keys.extend(shape.closed().filter(|_| row.fails_closed));
    keys
}

fn plain_time(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        return format!("{}s", time.as_secs());
    }
    format!("{}ms", time.as_millis())
}

/// Corrects what is wrong or missing in a hook, and leaves its other keys alone.
fn correct(handler: &CstObject, wanted: &[(&str, Value)]) {
    for (key, value) in wanted {
        match handler.get(key) {
            None => {
                handler.append(key, input(value));
            }
            Some(property) if property.to_serde_value().as_ref() != Some(value) => {
                property.set_value(input(value));
            }
            Some(_) => {}
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(entries) => CstInputValue::Object(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), input(value)))
                .collect(),
        ),
        Value::Null => CstInputValue::Null,
    }
}

#[cfg(test)]
mod tests;
