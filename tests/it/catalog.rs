//! The rules that every row of the event catalog keeps.

use std::collections::{HashMap, HashSet};

use hookrun::internals::event::catalog::{EVENTS, find};
use hookrun::internals::event::{EventSpec, JsonType, Merge, OnFailure, Schedule};
use serde_json::Value;

#[test]
fn every_row_keeps_the_rules_of_the_table() {
    for spec in EVENTS {
        assert_names(spec);
        assert_rules(spec);
        assert_sample(spec);
    }
}

fn assert_names(spec: &EventSpec) {
    let name = spec.name.as_ref();
    let is_dotted_lower_case = name
        .split('.')
        .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    assert!(is_dotted_lower_case, "{name}");

    let summary = spec.summary.as_ref();
    assert!(
        !summary.is_empty() && summary.len() <= 60,
        "{name}: {summary}"
    );
    assert!(!summary.ends_with('.'), "{name}: {summary}");
    assert!(summary.starts_with(char::is_lowercase), "{name}: {summary}");
}

fn assert_rules(spec: &EventSpec) {
    let name = &spec.name;
    let changes_something = spec.blocks || !spec.rewrites.is_empty();
    let is_in_order = matches!(spec.schedule, Schedule::Sequential | Schedule::Grouped);
    assert_eq!(changes_something, is_in_order, "{name}");
    assert!(
        spec.blocks || spec.on_failure == OnFailure::Allow,
        "{name} fails closed and cannot be blocked"
    );
    for rewrite in spec.rewrites.iter() {
        let field = &rewrite.field;
        assert!(
            spec.carries(field),
            "{name} rewrites `{field}` and lacks it"
        );
    }
}

fn assert_sample(spec: &EventSpec) {
    let name = &spec.name;
    let sample: Value = serde_json::from_str(&spec.sample()).unwrap();
    assert_eq!(sample.to_string(), spec.sample(), "{name} is not compact");
    let sample = sample.as_object().unwrap();
    let keys: HashSet<&str> = spec.context.iter().map(|key| key.name.as_ref()).collect();
    assert_eq!(
        keys.len(),
        spec.context.len(),
        "{name}: a key appears twice"
    );
    assert_eq!(sample["event"], name.as_ref());

    for key in spec.context.iter() {
        let label = format!("{name}: {}", key.name);
        assert!(
            !["event", "action", "raw"].contains(&key.name.as_ref()),
            "{label} is reserved"
        );
        assert!(!key.about.is_empty(), "{label}");
        assert!(key.kind.fits(&sample[key.name.as_ref()]), "{label}");
    }
    for rewrite in spec.rewrites.iter() {
        let kind = spec
            .context
            .iter()
            .find(|key| key.name == rewrite.field)
            .unwrap()
            .kind;
        match rewrite.merge {
            Merge::Append => assert_eq!(kind, JsonType::Array, "{name}: {}", rewrite.field),
            Merge::SameRole => {
                assert_eq!(kind, JsonType::Object, "{name}: {}", rewrite.field);
            }
            Merge::Claim => assert_eq!(kind, JsonType::Boolean, "{name}: {}", rewrite.field),
            Merge::Last | Merge::Chain | Merge::First => {}
        }
    }
}

#[test]
fn a_name_names_one_row() {
    let mut rows: HashMap<String, &str> = HashMap::new();
    for spec in EVENTS {
        for name in spec.aliases.iter().chain([&spec.name.as_ref()]) {
            if let Some(other) = rows.insert(name.to_ascii_lowercase(), &spec.name) {
                panic!("`{name}` is in `{other}` and in `{}`", spec.name);
            }
        }
    }
}

#[test]
fn a_name_is_found_in_any_case() {
    for spec in EVENTS {
        for name in spec.aliases.iter().chain([&spec.name.as_ref()]) {
            assert_eq!(
                find(&name.to_uppercase()).unwrap().name,
                spec.name,
                "{name}"
            );
        }
    }
}

#[test]
fn loom_s_contexts_come_in_loom_s_order() {
    let cases = [
        ("session.start", "turnIndex sessionId model"),
        ("prompt.submit", "turnIndex prompt"),
        ("tool.pre", "turnIndex toolName toolInput"),
        ("tool.post", "turnIndex toolName toolInput result isError"),
        ("model.pre", "turnIndex model messageCount"),
        (
            "model.post",
            "turnIndex model stopReason inputTokens outputTokens costUsd toolCallCount",
        ),
        ("session.end", "turnIndex sessionId reason"),
        ("error", "turnIndex code message"),
    ];
    for (event, keys) in cases {
        let keys: Vec<&str> = keys.split(' ').collect();
        let context = &find(event).unwrap().context;
        let begins: Vec<&str> = context.iter().map(|key| key.name.as_ref()).collect();
        assert_eq!(begins[..keys.len()], keys, "{event}");
    }
}
