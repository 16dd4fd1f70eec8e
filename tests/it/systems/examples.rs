//! The examples of wolli's and oh-my-pi's documents, as programs in `fixtures/systems/NAME/hooks.d`:
//! each decides the cases in `fixtures/systems/NAME/cases.json` as the case says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::ui::screen::{at, at_terminal};

/// The systems whose documents have examples that a program can be.
const SYSTEMS: &[&str] = &["wolli", "omp"];

fn folder(system: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/systems")
        .join(system)
}

fn cases(system: &str) -> Vec<Value> {
    let file = folder(system).join("cases.json");
    serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap()
}

/// An empty folder, in which `hookrun` is the program that is tested.
fn sandbox() -> Sandbox {
    let own = Path::new(env!("CARGO_BIN_EXE_hookrun"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    Sandbox::new().variable("PATH", &format!("{own}:/usr/local/bin:/usr/bin:/bin"))
}

/// A case with `@REPEAT:N:x@` replaced by N times x.
fn filled(value: &Value) -> Value {
    let repeat = Regex::new(r"@REPEAT:([0-9]+):([^@]*)@").unwrap();
    let times = |found: &regex::Captures<'_>| found[2].repeat(found[1].parse().unwrap());
    match value {
        Value::String(text) => Value::from(repeat.replace_all(text, times).as_ref()),
        Value::Array(list) => list.iter().map(filled).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), filled(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// What is not as a case says.
fn misses(system: &str, case: &Value) -> Vec<String> {
    let sandbox = sandbox();
    let case = filled(case);
    let text = |key: &str| case[key].as_str().unwrap();
    let hooks = folder(system);
    let arguments = [
        "test",
        text("event"),
        "--host",
        system,
        "--hooks",
        hooks.to_str().unwrap(),
        "--hook",
        text("hook"),
        "--format",
        "json",
    ];
    let ran = sandbox.hookrun(&arguments, case["context"].to_string().as_bytes());
    let Ok(report) = serde_json::from_str::<Value>(&ran.stdout) else {
        return vec![format!("no report: {ran:?}")];
    };
    let reply = &report["reply"];
    let mut misses = Vec::new();
    if reply["status"] != case["status"] {
        misses.push(format!(
            "status {}, because {}",
            reply["status"], report["reason"]
        ));
    }
    if let Some(reason) = case["reason"].as_str() {
        let wanted = Regex::new(reason).unwrap();
        let is_met = report["reason"]
            .as_str()
            .is_some_and(|reason| wanted.is_match(reason));
        misses.extend((!is_met).then(|| format!("reason {}", report["reason"])));
        return misses;
    }
    let said = reply["stdout"].as_str().unwrap();
    let said = if said.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(said).unwrap()
    };
    if said != case["reply"] {
        misses.push(format!("reply {said}, not {}", case["reply"]));
    }
    misses
}

#[test]
fn every_example_decides_as_its_cases_say() {
    let mut failed = Vec::new();
    for system in SYSTEMS {
        for case in cases(system) {
            let title = case["name"].as_str().unwrap();
            let found = misses(system, &case).into_iter();
            failed.extend(found.map(|miss| format!("{system}: {title}: {miss}")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_example_has_cases() {
    for system in SYSTEMS {
        let tested = cases(system).into_iter();
        let tested: BTreeSet<String> = tested
            .map(|case| case["hook"].as_str().unwrap().to_string())
            .collect();
        let mut there = BTreeSet::new();
        for event in fs::read_dir(folder(system).join("hooks.d")).unwrap() {
            for hook in fs::read_dir(event.unwrap().path()).unwrap() {
                there.insert(hook.unwrap().file_name().into_string().unwrap());
            }
        }
        assert_eq!(tested, there, "{system}");
    }
}

#[test]
fn the_examples_are_in_order() {
    for system in SYSTEMS {
        let hooks = folder(system);
        let arguments = [
            "validate",
            "--hooks",
            hooks.to_str().unwrap(),
            "--host",
            system,
        ];
        sandbox().hookrun(&arguments, b"").exits(0).prints("ok: ");
    }
}

/// What a host at a terminal gets from one example, after somebody has pressed `keys`.
fn answered(system: &str, event: &str, context: &Value, keys: &'static str) -> (i32, String) {
    let hooks = folder(system).join("hooks.d");
    // The other example for tool calls blocks before anybody can be asked.
    let own = sandbox().file("event", &context.to_string());
    let example = if event == "compact" {
        "confirm-compact.sh"
    } else {
        "confirm-unsafe-bash.py"
    };
    let text = fs::read_to_string(hooks.join(event).join(example)).unwrap();
    let sandbox = own.script(&format!("hooks.d/{event}/{example}"), &text);
    let ran = at_terminal(
        &sandbox,
        &["run", event, "--host", system],
        &[at("[y/N] ", keys)],
    );
    (ran.status, ran.stdout)
}

#[test]
fn a_yes_compacts_and_everything_else_does_not() {
    let context = json!({ "preparation": {}, "branchEntries": [] });
    assert_eq!(
        answered("wolli", "compact", &context, "y\r"),
        (0, String::new())
    );
    for keys in ["n\r", "\r", "\u{4}"] {
        let cancelled = (2, "{\"cancel\":true}\n".to_string());
        assert_eq!(answered("wolli", "compact", &context, keys), cancelled);
    }
}

#[test]
fn a_yes_lets_an_unsafe_command_run_and_everything_else_denies_it() {
    let context = json!({ "toolName": "bash", "input": { "command": "rm -rf build" } });
    assert_eq!(
        answered("omp", "tool_call", &context, "y\r"),
        (0, String::new())
    );
    for keys in ["n\r", "\r", "\u{4}"] {
        let (status, reply) = answered("omp", "tool_call", &context, keys);
        let denied = json!({ "block": true, "reason": "user denied command" });
        assert_eq!(status, 2);
        assert_eq!(serde_json::from_str::<Value>(&reply).unwrap(), denied);
    }
}
