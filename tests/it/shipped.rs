//! The hooks that we ship decide as the suites beside them say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::nasty::running::Cookie;
use crate::sandbox::Sandbox;

fn hooks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks.d")
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    found
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// The event of a file in `hooks.d`: its folder's, or the command that it is itself.
fn event(folder: &str, file: &str) -> String {
    if folder != "command" {
        return folder.to_string();
    }
    format!(
        "command.{}",
        Path::new(file).file_stem().unwrap().to_string_lossy()
    )
}

#[test]
fn the_shipped_hooks_decide_as_their_suites_say_and_every_one_has_cases() {
    let asked = asked_by(&hooks());
    let folders = names(&hooks())
        .into_iter()
        .filter(|name| hooks().join(name).is_dir());
    let folders = folders.filter(|name| !["lib", "tests"].contains(&name.as_str()));
    let shipped: BTreeSet<(String, String)> = folders
        .flat_map(|folder| {
            let files = names(&hooks().join(&folder)).into_iter();
            let files = files.filter(|file| !file.starts_with('.'));
            files
                .map(|file| (event(&folder, &file), file))
                .collect::<Vec<_>>()
        })
        .collect();
    let without: Vec<_> = shipped.difference(&asked).collect();
    assert!(without.is_empty(), "no cases for {without:?}");
}

/// Plays suites, which are all as expected; their cases.
#[track_caller]
fn played(suites: &Path) -> Vec<Value> {
    let arguments = [
        "test",
        "--suite",
        suites.to_str().unwrap(),
        "--format",
        "json",
    ];
    // Hundreds of interpreters are started: how long that takes says nothing of a hang, for which
    // every case has a timeout.
    let cookie = Cookie::new();
    let mark = |command: &mut Command| _ = cookie.mark(command);
    let ran = Sandbox::new().hookrun_as(mark, &arguments, b"");
    cookie.has_nobody();
    let mut report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let Value::Array(cases) = report["cases"].take() else {
        panic!("{ran:?}")
    };
    let bad: Vec<&Value> = cases
        .iter()
        .filter(|case| case["result"] != "expected")
        .collect();
    assert!(bad.is_empty(), "{} of {}: {bad:#?}", bad.len(), cases.len());
    assert_eq!(ran.status, 0, "{ran:?}");
    cases
}

/// Plays suites, which are all as expected; the events and hooks that were asked in them.
#[track_caller]
pub(crate) fn asked_by(suites: &Path) -> BTreeSet<(String, String)> {
    let cases = played(suites);
    let steps = cases
        .iter()
        .flat_map(|case| case["steps"].as_array().unwrap());
    let asked = |step: &Value| {
        let event = step["event"].as_str().unwrap().to_string();
        let ran = step["hooks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|hook| hook["fate"] == "ran");
        let names = ran.map(|hook| match hook["file"].as_str().unwrap() {
            rules if rules.ends_with(".toml") => rules.rsplit('/').next().unwrap().to_string(),
            _ => hook["name"].as_str().unwrap().to_string(),
        });
        names.map(|name| (event.clone(), name)).collect::<Vec<_>>()
    };
    steps.flat_map(asked).collect()
}

#[test]
fn the_shipped_hooks_are_in_order() {
    let hooks = hooks();
    let ran = Sandbox::new().hookrun(&["validate", "--hooks", hooks.to_str().unwrap()], b"");
    assert_eq!(ran.status, 0, "{ran:?}");
}
