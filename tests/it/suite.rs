//! `hookrun test --suite`: cases beside the hooks.

mod broken;
mod coverage;
mod format;
mod running;
mod told;

use serde_json::Value;

use crate::commands::schema;
use crate::sandbox::{Ran, Sandbox};

/// A hook that refuses what has `bad` in its command.
const GUARD: &str =
    r#"case $HOOKRUN_ACTION_COMMAND in *bad*) echo "no bad commands" >&2; exit 1 ;; esac"#;

/// What every case here is about.
const HEAD: &str = "event = \"tool.pre\"\n";

/// A sandbox with the guard and this file of cases.
fn guarded(cases: &str) -> Sandbox {
    Sandbox::new()
        .hook("10-guard.sh", GUARD)
        .file("hooks.d/tests/guard.toml", cases)
}

/// A case that asks about a command.
fn case(name: &str, command: &str, expect: &str) -> String {
    format!(
        "[[case]]\nname = \"{name}\"\n{HEAD}context = {{ toolName = \"bash\", toolInput = {{ command = \"{command}\" }} }}\nexpect = {{ {expect} }}\n\n"
    )
}

/// `hookrun test --suite` with these further arguments.
fn suite(sandbox: &Sandbox, more: &[&str]) -> Ran {
    let mut arguments = vec!["test", "--suite"];
    arguments.extend(more);
    sandbox.hookrun(&arguments, b"")
}

/// The report for programs.
#[track_caller]
fn report(sandbox: &Sandbox, more: &[&str]) -> Value {
    let mut arguments = more.to_vec();
    arguments.extend(["--format", "json"]);
    let ran = suite(sandbox, &arguments);
    let report =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    schema::hold(&["test"], &report);
    report
}

/// What came of one hook and one case: `expected`, or the keys that differ.
#[track_caller]
fn outcome(hook: &str, rest_of_case: &str) -> String {
    outcome_in(&Sandbox::new().hook("hook", hook), rest_of_case)
}

#[track_caller]
fn outcome_in(sandbox: &Sandbox, rest_of_case: &str) -> String {
    let text = format!("[[case]]\nname = \"it\"\n{rest_of_case}\n");
    std::fs::create_dir_all(sandbox.at("hooks.d/tests")).unwrap();
    std::fs::write(sandbox.at("hooks.d/tests/it.toml"), text).unwrap();
    let ran = suite(sandbox, &["--format", "json"]);
    let Ok(report) = serde_json::from_str::<Value>(&ran.stdout) else {
        panic!("{ran:?}")
    };
    let Some(case) = report["cases"].get(0) else {
        panic!("{ran:?}")
    };
    match case["result"].as_str().unwrap() {
        "unexpected" => {
            let keys = case["misses"].as_array().unwrap().iter();
            let keys: Vec<&str> = keys.map(|miss| miss["key"].as_str().unwrap()).collect();
            assert_eq!(ran.status, 1, "{ran:?}");
            keys.join(" ")
        }
        "could-not" => {
            assert_eq!(ran.status, 2, "{ran:?}");
            format!("could not: {}", case["why"].as_str().unwrap())
        }
        other => {
            assert_eq!(ran.status, 0, "{ran:?}");
            other.to_string()
        }
    }
}
