//! Edits of texts of every form. The files of every host are in `tests/it/install.rs`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::cli::host::install::document::SettingsEntry;
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
    let others = prop::collection::vec("[a-z]{1,6}\\.sh", 0..4);
    let events = prop::collection::btree_map("[A-Z][a-z]{1,8}|Stop|stop|PreToolUse", others, 0..4);
    (value, any::<bool>(), events).prop_map(|(value, has_hooks, events)| {
        let mut all = json!({ "x": value });
        if has_hooks {
            let list = |commands: Vec<String>| -> Value {
                commands
                    .into_iter()
                    .map(|it| json!({ "command": it }))
                    .collect()
            };
            let events = events
                .into_iter()
                .map(|(name, commands)| (name, list(commands)));
            all["hooks"] = Value::Object(events.collect());
        }
        all
    })
}

/// The same settings for a host whose hooks name their events themselves, under `key`.
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
            // Edits of TOML are by text: `it install::` has them.
            let json = host.settings_file().filter(|shape| !shape.is_toml);
            let Some(shape) = json else { continue };
            let value = match shape.event_key() {
                Some(key) => in_one_list(&value, key),
                None => value.clone(),
            };
            let text = if is_pretty { format!("{value:#}\n") } else { value.to_string() };
            let command = format!("hookrun run --host {}", host.name);
            let rows = host.rows();
            let added = Document::read(&text, shape).unwrap().with(&rows, &command, &is_own);
            let read = Document::read(&added, shape).unwrap();
            prop_assert!(read.doubt().is_none());
            let own = |found: &&SettingsEntry| {
                let row = rows.iter().find(|row| row.name == found.event);
                let keys = row.map(|row| entry(shape, row, command.clone())).unwrap_or_default();
                let wanted = keys.iter().find_map(|(key, value)| match value.as_object() {
                    Some(action) => action.get(shape.command()),
                    None => (*key == shape.command()).then_some(value),
                });
                wanted.is_some_and(|value| value.as_str() == found.command.as_deref())
            };
            prop_assert_eq!(read.hooks().iter().filter(own).count(), rows.len());
            prop_assert_eq!(&read.with(&rows, &command, &is_own), &added);
            let again = Document::read(&added, shape).unwrap().without(Some(&text), &is_own);
            let again: Value = serde_json::from_str(&again).unwrap();
            prop_assert_eq!(again, value);
        }
    }
}
