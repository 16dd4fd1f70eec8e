//! Edits a host's settings as text: adds and removes hookrun's hooks, and keeps everything else,
//! including comments and whitespace. Pure.

use std::time::Duration;

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp};
use serde_json::{Map, Value};
use toml::de::DeTable;

use super::command::Launch;
use super::document::{Document, HOOKS, MARK, unmarked};
use crate::config::tree::Tree;
use crate::hosts::HostEvent;
use crate::hosts::settings::{HostFile, HostHookKey};

impl Document {
    /// The text with a hook for each of `rows`, and no other hook that `is_own`.
    pub(crate) fn with(
        &self,
        rows: &[&HostEvent],
        launch: &Launch,
        is_own: &dyn Fn(&str) -> bool,
    ) -> String {
        let mut wanted: Vec<(&str, Map<String, Value>)> = rows
            .iter()
            .map(|row| (row.name, hook_of(self.shape, row, launch)))
            .collect();
        if self.shape.is_toml {
            return with_tables(&self.source, &wanted, is_own);
        }
        for (event, handler) in self.own(is_own) {
            let keys = handler.to_serde_value();
            let is_whole = self.matcher(&event, &handler).is_none();
            let at = wanted.iter().position(|(name, hook)| {
                *name == event && keys.as_ref().and_then(Value::as_object) == Some(hook)
            });
            match at.filter(|_| is_whole) {
                Some(at) => drop(wanted.remove(at)),
                None => self.remove(&event, handler),
            }
        }
        let object = self.root.object_value_or_set();
        if let Some(version) = self.shape.version
            && object.get("version").is_none()
        {
            let version: Value = serde_json::from_str(version).unwrap_or_default();
            object.insert(0, "version", input(&version));
        }
        for (event, hook) in wanted {
            let handler = input(&Value::Object(hook));
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

    /// The text without hookrun's hooks, and without the containers that become empty.
    pub(crate) fn without(&self, is_own: &dyn Fn(&str) -> bool) -> String {
        let own = self.own(is_own);
        if own.is_empty() {
            return self.source.clone();
        }
        if self.shape.is_toml {
            return with_tables(&self.source, &[], is_own);
        }
        for (event, handler) in own {
            self.remove(&event, handler);
        }
        if let Some(object) = self.root.object_value()
            && let Some(hooks) = object.get(self.shape.table())
            && is_empty(&hooks)
        {
            hooks.remove();
        }
        self.text()
    }

    /// Whether it contains only what hookrun creates.
    pub(crate) fn is_bare(&self) -> bool {
        let Some(object) = self.root.object_value() else {
            return false;
        };
        if self.shape.is_toml {
            return self.source.trim().is_empty();
        }
        // Any slash left is in a comment.
        if self.root.to_string().contains('/') {
            return false;
        }
        object
            .properties()
            .iter()
            .all(|one| match one.decoded_name().as_deref() {
                Some("version") => self.shape.version.is_some(),
                Some(name) if name == self.shape.table() => is_empty(one),
                Some(_) | None => false,
            })
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

    /// Removes a hook, with its group and its event's list if they become empty.
    fn remove(&self, event: &str, handler: CstObject) {
        let group = handler.ancestors().find_map(|outer| outer.as_object());
        handler.remove();
        if self.shape.event_key().is_some() {
            return;
        }
        if let Some(group) = group
            && self.shape.groups(event)
            && group.get(HOOKS).is_some_and(|hooks| is_empty(&hooks))
        {
            group.remove();
        }
        let property = self.hook_table().and_then(|hooks| hooks.get(event));
        if let Some(property) = property
            && is_empty(&property)
        {
            property.remove();
        }
    }
}

fn is_empty(property: &CstObjectProp) -> bool {
    match (property.object_value(), property.array_value()) {
        (Some(object), _) => object.properties().is_empty(),
        (None, list) => list.is_some_and(|list| list.elements().is_empty()),
    }
}

pub(super) fn hook_of(
    shape: &'static HostFile,
    row: &HostEvent,
    launch: &Launch,
) -> Map<String, Value> {
    let mut arguments = format!("run --host {}", shape.host().name);
    if shape.names_event {
        arguments.push_str(&format!(" {}", row.name));
    }
    // Without a configurable timeout, the host's default and the usual budget apply.
    if let Some(budget) = row.budget()
        && shape.key(HostHookKey::Time).is_some()
    {
        arguments.push_str(&format!(" --budget {}", plain_time(budget)));
    }
    let mut action = Map::new();
    if let Some(key) = shape.key(HostHookKey::Kind) {
        action.insert(key.to_string(), Value::from("command"));
    }
    let line = launch.line(&arguments, row.is_guarded());
    action.insert(shape.command().to_string(), Value::from(line));
    let mut hook = Map::new();
    if let Some(key) = shape.event_key() {
        hook.insert(key.to_string(), Value::from(row.name));
    }
    match shape.action_key() {
        Some(key) => drop(hook.insert(key.to_string(), Value::Object(action))),
        None => hook.extend(action),
    }
    if let Some(key) = shape.key(HostHookKey::Time) {
        let wait = row.timeout().as_millis() * u128::from(shape.per_second) / 1000;
        let wait = u64::try_from(wait).unwrap_or(u64::MAX);
        hook.insert(key.to_string(), wait.into());
    }
    if let Some(key) = shape.key(HostHookKey::Name) {
        hook.insert(key.to_string(), Value::from("hookrun"));
    }
    if let Some((key, value)) = shape.closed()
        && row.fails_closed()
    {
        hook.insert(key.to_string(), value);
    }
    hook
}

fn plain_time(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        return format!("{}s", time.as_secs());
    }
    format!("{}ms", time.as_millis())
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

/// The text with these hooks at its end, and no other hook of hookrun (recognised by `is_own`).
fn with_tables(
    text: &str,
    hooks: &[(&str, Map<String, Value>)],
    is_own: &dyn Fn(&str) -> bool,
) -> String {
    let written: Vec<String> = hooks.iter().map(|(_, hook)| table(hook)).collect();
    let mut own = tables(text).filter(|table| is_hookruns(table, is_own));
    let count = own.clone().count();
    if count == written.len()
        && own.all(|table| written.iter().any(|one| one.trim() == table.trim()))
    {
        return text.to_string();
    }
    let mut left = String::new();
    let mut is_last = false;
    for table in tables(text) {
        is_last = is_hookruns(table, is_own);
        left.push_str(if is_last {
            comments_after(table)
        } else {
            table
        });
    }
    if is_last && left.ends_with("\n\n") {
        left.pop();
    }
    for table in written {
        if !left.is_empty() {
            left.push_str(if left.ends_with('\n') { "" } else { "\n" });
            left.push_str(if left.ends_with("\n\n") { "" } else { "\n" });
        }
        left.push_str(&table);
    }
    left
}

/// Splits the text before each table header.
fn tables(text: &str) -> impl Iterator<Item = &str> + Clone {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut places = vec![0];
    for at in starts {
        // Text before a header parses as TOML; text before a line inside a string or list does not.
        if text[at..].trim_start_matches([' ', '\t']).starts_with('[')
            && DeTable::parse(&text[..at]).is_ok()
        {
            places.push(at);
        }
    }
    places.push(text.len());
    (1..places.len()).map(move |at| &text[places[at - 1]..places[at]])
}

/// The comments at the end of a table, which belong to what follows.
fn comments_after(table: &str) -> &str {
    let lines = table.split_inclusive('\n').rev();
    let aside = lines.take_while(|line| line.trim().is_empty() || line.trim().starts_with('#'));
    let end = &table[table.len() - aside.map(str::len).sum::<usize>()..];
    end.find('#').map_or("", |at| &end[at..])
}

fn is_hookruns(table: &str, is_own: &dyn Fn(&str) -> bool) -> bool {
    let table = unmarked(table).trim_start();
    let Ok(hook) = DeTable::parse(table) else {
        return false;
    };
    let hook = Tree::of_toml(&hook).to_json();
    table.starts_with("[[") && hook["hooks"][0]["command"].as_str().is_some_and(is_own)
}

fn table(hook: &Map<String, Value>) -> String {
    let keys = hook.iter().map(|(key, value)| format!("{key} = {value}\n"));
    format!("[[hooks]]\n{}", keys.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::hosts::installable;

    fn is_own(text: &str) -> bool {
        text.starts_with("hookrun run --host")
    }

    fn any_settings() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[ -~\u{e9}\u{1f600}]{0,8}".prop_map(Value::from),
        ];
        let value = leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z/*\"]{1,5}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        let others = prop::collection::vec("[a-z]{1,6}\\.sh", 1..4);
        let events =
            prop::collection::btree_map("[A-Z][a-z]{1,8}|Stop|stop|PreToolUse", others, 1..4);
        (value, any::<bool>(), events).prop_map(|(value, has_hooks, events)| {
            let mut all = json!({ "x": value });
            if has_hooks {
                all["hooks"] = json!({});
                for (name, commands) in events {
                    let commands = commands.into_iter();
                    all["hooks"][name] = commands.map(|it| json!({ "command": it })).collect();
                }
            }
            all
        })
    }

    /// The same settings for a host whose hooks name their events under `key`.
    fn in_one_list(settings: &Value, key: &str) -> Value {
        let mut settings = settings.clone();
        if let Some(Value::Object(events)) = settings.get("hooks").cloned() {
            let entries = events.into_iter().flat_map(|(event, entries)| {
                let entries = entries.as_array().cloned().unwrap_or_default();
                entries.into_iter().map(move |mut entry| {
                    entry[key] = Value::from(event.clone());
                    entry
                })
            });
            settings["hooks"] = entries.collect();
        }
        settings
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_text_gets_the_hooks_keeps_the_rest_and_loses_them_again(
            value in any_settings(),
            is_pretty in any::<bool>(),
        ) {
            for host in installable() {
                // TOML edits are text edits, tested in `it install::`.
                let json = host.settings_file().filter(|shape| !shape.is_toml);
                let Some(shape) = json else { continue };
                let value = match shape.event_key() {
                    Some(key) => in_one_list(&value, key),
                    None => value.clone(),
                };
                let text = if is_pretty { format!("{value:#}\n") } else { value.to_string() };
                let launch = Launch::Path("hookrun".to_string());
                let rows = host.rows();
                let added = Document::read(&text, shape, Path::new("f")).unwrap().with(&rows, &launch, &is_own);
                let read = Document::read(&added, shape, Path::new("f")).unwrap();
                for row in &rows {
                    let hook = Value::Object(hook_of(shape, row, &launch));
                    let handlers = read.handlers();
                    let mut handlers = handlers.iter().filter(|(event, _)| event == row.name);
                    prop_assert!(handlers.any(|(_, it)| it.to_serde_value().as_ref() == Some(&hook)));
                }
                prop_assert_eq!(read.own(&is_own).len(), rows.len());
                prop_assert_eq!(&read.with(&rows, &launch, &is_own), &added);
                let again = Document::read(&added, shape, Path::new("f")).unwrap().without(&is_own);
                let mut again: Value = serde_json::from_str(&again).unwrap();
                // A version that the host needs stays.
                again.as_object_mut().unwrap().remove("version");
                prop_assert_eq!(again, value);
            }
        }
    }
}
