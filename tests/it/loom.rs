//! hookrun against loom's hook contract: the cases in `fixtures/systems/loom/cases`, each through
//! the real binary, and every deliberate difference listed in `docs/systems.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use crate::generated;
use crate::sandbox::Sandbox;

/// The files of cases, each walked by a test of its own.
const GROUPS: &[&str] = &[
    "chain",
    "contexts",
    "exit-codes",
    "informational",
    "json-answers",
    "reminders",
    "start",
    "streams",
    "text",
    "timeouts",
    "wrong-types",
];

#[test]
fn hooks_run_in_order_until_one_blocks() {
    walk("chain");
}

#[test]
fn a_hook_gets_the_context_that_loom_gives() {
    walk("contexts");
}

#[test]
fn exit_statuses_decide_as_in_loom() {
    walk("exit-codes");
}

#[test]
fn events_that_cannot_be_blocked_go_on() {
    walk("informational");
}

#[test]
fn json_answers_mean_what_they_mean_in_loom() {
    walk("json-answers");
}

#[test]
fn reminders_are_in_loom_s_words() {
    walk("reminders");
}

#[test]
fn what_cannot_be_started_blocks() {
    walk("start");
}

#[test]
fn streams_are_read_as_in_loom() {
    walk("streams");
}

#[test]
fn text_is_output() {
    walk("text");
}

#[test]
fn a_hook_that_takes_too_long_blocks() {
    walk("timeouts");
}

#[test]
fn keys_that_are_wrong_never_turn_a_block_into_consent() {
    walk("wrong-types");
}

#[test]
fn every_case_stands_on_a_rule_and_every_difference_has_a_reason() {
    let facts = facts();
    let mut names = BTreeSet::new();
    let (mut rules, mut differences) = (BTreeSet::new(), BTreeSet::new());
    for case in GROUPS.iter().flat_map(|group| cases(group)) {
        let name = text(&case, "name").to_string();
        rules.insert(text(&case, "rule").to_string());
        assert_eq!(
            case["differs"].is_string(),
            case["hookrun"].is_object(),
            "{name}"
        );
        assert_ne!(
            case["loom"], case["hookrun"],
            "{name}: that is no difference"
        );
        if let Some(why) = case["differs"].as_str() {
            differences.insert(why.to_string());
        }
        assert!(names.insert(name.clone()), "{name} appears twice");
    }
    let known = |part: &str| -> BTreeSet<String> {
        facts[part].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(rules, known("rules"));
    assert_eq!(differences, known("differences"));
    assert!(names.len() >= 150, "only {} cases", names.len());

    let files = fs::read_dir(folder().join("cases")).unwrap();
    let files: BTreeSet<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    let walked: BTreeSet<PathBuf> = GROUPS.iter().map(|group| file_of(group)).collect();
    assert_eq!(files, walked);
}

/// The list in the page is made from the cases: `UPDATE_GOLDEN=1 cargo test` rewrites it.
#[test]
fn the_page_lists_every_difference_that_a_case_shows() {
    let _alone = generated::DOCUMENT
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let differing: BTreeSet<String> = GROUPS
        .iter()
        .flat_map(|group| cases(group))
        .filter_map(|case| Some(case["differs"].as_str()?.to_string()))
        .collect();
    let mut list = String::from("\n");
    for (id, sentence) in facts()["differences"].as_object().unwrap() {
        assert!(differing.contains(id), "no case shows {id}");
        list.push_str(&format!("- **{id}**: {}\n", sentence.as_str().unwrap()));
    }
    list.push('\n');
    let page = "docs/systems.md";
    let kept = fs::read_to_string(root().join(page)).unwrap();
    let (before, rest) = kept
        .split_once("<!-- differences -->\n")
        .expect("the list begins");
    let (_, after) = rest
        .split_once("<!-- /differences -->")
        .expect("the list ends");
    let made = format!("{before}<!-- differences -->\n{list}<!-- /differences -->{after}");
    generated::settle(page, &kept, &made);
}

/// Runs every case of a group, and fails with all that are not as they should be.
fn walk(group: &str) {
    let facts = facts();
    let mut wrong = Vec::new();
    for case in cases(group) {
        let wanted = if case["hookrun"].is_null() {
            &case["loom"]
        } else {
            &case["hookrun"]
        };
        let came = decide(&case, &facts["contexts"]);
        if came != *wanted {
            wrong.push(format!(
                "{}\n  wanted {wanted}\n  came   {came}",
                text(&case, "name")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} in {group}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What hookrun makes of a case, in the form of its expectation.
fn decide(case: &Value, contexts: &Value) -> Value {
    let event = event_of(case);
    let context = match case["context"].as_str() {
        Some("@LARGE@") => {
            let input = json!({ "content": "x".repeat(300_000) });
            json!({ "event": event, "turnIndex": 1, "toolName": "write", "toolInput": input })
                .to_string()
        }
        Some(own) => own.to_string(),
        None => text(contexts, event).to_string(),
    };
    let sandbox = Sandbox::new().file("hooks/hookrun.toml", &manifest(case));
    let arguments = [
        "run", event, "--host", "loom", "--format", "json", "--hooks", "hooks",
    ];
    let ran = sandbox.hookrun(&arguments, context.as_bytes());
    let report: Value = serde_json::from_str(&without_pids(&ran.stdout))
        .unwrap_or_else(|error| panic!("{}: {error}: {ran:?}", text(case, "name")));
    let mut came = json!({ "continue": report["decision"] == "allow" });
    if report["decision"] != "allow" {
        came["blockedHook"] = report["decidedBy"].clone();
        came["blockedReason"] = report["reason"].clone();
    }
    assert_eq!(
        ran.status,
        if report["decision"] == "allow" { 0 } else { 2 },
        "{ran:?}"
    );
    let reminders = report["reminders"].as_array().unwrap().iter();
    came["reminders"] = reminders
        .map(|one| Value::from(body(text(one, "text"))))
        .collect();
    came
}

/// The same with `N` for the numbers of processes.
fn without_pids(text: &str) -> String {
    let mut parts = text.split("(pid ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        text + "(pid N" + part.trim_start_matches(char::is_numeric)
    })
}

/// A reminder without its tags, which all have.
fn body(reminder: &str) -> &str {
    let body = reminder.strip_prefix("<system-reminder>\n");
    let body = body.and_then(|text| text.strip_suffix("\n</system-reminder>"));
    body.unwrap_or_else(|| panic!("no reminder: {reminder}"))
}

/// The hooks of a case as a `hookrun.toml`.
fn manifest(case: &Value) -> String {
    let mut manifest = String::new();
    for hook in case["hooks"].as_array().unwrap() {
        let event = hook["event"].as_str().unwrap_or(event_of(case));
        // JSON's form of a string is one of TOML's.
        let (name, command) = (&hook["name"], &hook["command"]);
        manifest.push_str(&format!("[[hook]]\nname = {name}\nevent = \"{event}\"\n"));
        manifest.push_str(&format!(
            "command = {command}\nshell = true\ndialect = \"loom\"\n"
        ));
        if hook["timeout"].is_string() {
            manifest.push_str(&format!("timeout = {}\n", hook["timeout"]));
        }
    }
    manifest
}

fn event_of(case: &Value) -> &str {
    case["event"].as_str().unwrap_or("tool.pre")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder() -> PathBuf {
    root().join("fixtures/systems/loom")
}

fn file_of(group: &str) -> PathBuf {
    folder().join("cases").join(format!("{group}.toml"))
}

fn cases(group: &str) -> Vec<Value> {
    read(&file_of(group))["case"].as_array().unwrap().clone()
}

fn facts() -> Value {
    read(&folder().join("facts.toml"))
}

fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    let table = DeTable::parse(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    of_table(table.get_ref())
}

fn of_table(table: &DeTable<'_>) -> Value {
    let entry = |(key, value): (&_, &toml::Spanned<DeValue<'_>>)| {
        let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
        (key.get_ref().to_string(), of_value(value.get_ref()))
    };
    Value::Object(table.iter().map(entry).collect())
}

fn of_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Array(list) => list.iter().map(|one| of_value(one.get_ref())).collect(),
        DeValue::Table(table) => of_table(table),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => {
            panic!("cases hold texts, truths, lists and tables only")
        }
    }
}

/// The text under `key`.
#[track_caller]
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("no text `{key}` in {value}"))
}
