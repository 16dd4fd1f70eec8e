//! Edits of texts of every form.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::cli::host::install::entry::SettingsEntry;
use crate::cli::host::install::hosts::{self, HOSTS};

fn settings(name: &str) -> SettingsShape {
    hosts::find(name).unwrap().settings().unwrap()
}

fn rows(name: &str, names: &[&str]) -> Vec<HostEventRow> {
    let all = hosts::find(name).unwrap().rows().into_iter();
    all.filter(|row| names.contains(&row.name)).collect()
}

fn is_own(text: &str) -> bool {
    text.starts_with("hookrun run --host")
}

fn with(host: &str, text: &str, names: &[&str]) -> String {
    let command = format!("hookrun run --host {host}");
    let document = Document::read(text, settings(host)).unwrap();
    document.with(&rows(host, names), &command, &is_own)
}

fn without(host: &str, text: &str, original: Option<&str>) -> String {
    Document::read(text, settings(host)).unwrap().without(original, &is_own)
}

#[test]
fn an_edit_keeps_indents_comments_and_line_ends() {
    let before = "{\r\n\t// mine\r\n\t\"theme\": 1, // one\r\n\t\"hooks\": {}\r\n}";
    let after = "{\r\n\t// mine\r\n\t\"theme\": 1, // one\r\n\t\"hooks\": {\r\n\t\t\"Notification\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n\t\t\t\t\t{\r\n\t\t\t\t\t\t\"type\": \"command\",\r\n\t\t\t\t\t\t\"command\": \"hookrun run --host gemini --budget 595s\",\r\n\t\t\t\t\t\t\"timeout\": 600000,\r\n\t\t\t\t\t\t\"name\": \"hookrun\"\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}";
    assert_eq!(with("gemini", before, &["Notification"]), after);
    assert_eq!(with("gemini", after, &["Notification"]), after);
}

#[test]
fn what_was_added_goes_and_what_was_empty_before_stays() {
    let text = "{\n  \"a\": 1\n}\n";
    let added = with("claude", text, &["Stop", "PreToolUse"]);
    assert_eq!(without("claude", &added, None), text);
    for hooks in
        [json!({}), json!({ "Stop": [] }), json!({ "Stop": [{ "matcher": "x", "hooks": [] }] })]
    {
        let text = json!({ "hooks": hooks }).to_string();
        let added = with("claude", &text, &["Stop"]);
        let back: Value = serde_json::from_str(&without("claude", &added, Some(&text))).unwrap();
        assert_eq!(back, json!({ "hooks": hooks }));
    }
}

#[test]
fn a_document_with_anything_else_in_it_is_not_bare() {
    let is_bare = |text: &str| Document::read(text, settings("cursor")).unwrap().is_bare();
    assert!(is_bare("{}") && is_bare("") && is_bare("{\"version\": 1, \"hooks\": {}}"));
    assert!(!is_bare("{\"x\": 1}") && !is_bare("{} // mine\n"));
    assert!(!is_bare("{\"hooks\": {\"stop\": [{\"command\": \"mine\"}]}}"));
}

/// Settings with hooks of others in them, as a value.
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
                commands.into_iter().map(|it| json!({ "command": it })).collect()
            };
            let events = events.into_iter().map(|(name, commands)| (name, list(commands)));
            all["hooks"] = Value::Object(events.collect());
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_text_gets_the_hooks_keeps_the_rest_and_loses_them_again(
        value in any_settings(),
        is_pretty in any::<bool>(),
    ) {
        let text = if is_pretty { format!("{value:#}\n") } else { value.to_string() };
        for host in HOSTS {
            let Some(shape) = host.settings() else { continue };
            let command = format!("hookrun run --host {}", host.name);
            let rows = host.rows();
            let added = Document::read(&text, shape).unwrap().with(&rows, &command, &is_own);
            let read = Document::read(&added, shape).unwrap();
            prop_assert!(read.doubt().is_none());
            let own = |found: &&SettingsEntry| {
                let row = rows.iter().find(|row| row.name == found.event);
                let keys = row.map(|row| entry(shape, row, &command)).unwrap_or_default();
                let wanted = keys.iter().find(|(key, _)| *key == shape.command());
                wanted.is_some_and(|(_, value)| value.as_str() == found.command.as_deref())
            };
            prop_assert_eq!(read.hooks().iter().filter(own).count(), rows.len());
            prop_assert_eq!(&read.with(&rows, &command, &is_own), &added);
            let again = Document::read(&added, shape).unwrap().without(Some(&text), &is_own);
            let again: Value = serde_json::from_str(&again).unwrap();
            prop_assert_eq!(again, value.clone());
        }
    }
}
