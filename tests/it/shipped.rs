//! The hooks that we ship decide the cases in `fixtures/hooks` as each case says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::{Value, json};

use crate::nasty::running::Running;
use crate::sandbox::Sandbox;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The entries of a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut found: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The event of a file in `hooks.d`: its folder's, or the command that it is itself.
fn event(folder: &Path, file: &Path) -> String {
    if name(folder) != "command" {
        return name(folder);
    }
    format!("command.{}", file.file_stem().unwrap().to_string_lossy())
}

fn cases(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"))
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value[key].as_str()
}

/// A case with its tokens replaced: `@TMP@` is its folder, `@REPEAT:N:x@` is N times x.
pub(crate) fn filled(value: &Value, folder: &Path) -> Value {
    match value {
        Value::String(text) => Value::from(filled_text(text, folder)),
        Value::Array(list) => list.iter().map(|one| filled(one, folder)).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (filled_text(key, folder), filled(value, folder)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn filled_text(text: &str, folder: &Path) -> String {
    let text = text.replace("@TMP@", folder.to_str().unwrap());
    let repeat = Regex::new(r"@REPEAT:([0-9]+):([^@]*)@").unwrap();
    let times = |found: &regex::Captures<'_>| found[2].repeat(found[1].parse().unwrap());
    repeat.replace_all(&text, times).into_owned()
}

/// Runs one case, and returns what is not as it says.
fn misses(case: &Value) -> Vec<String> {
    let sandbox = Sandbox::new();
    let folder = fs::canonicalize(sandbox.path()).unwrap();
    let case = filled(case, &folder);
    let mut sandbox = sandbox.variable("XDG_STATE_HOME", folder.join("state").to_str().unwrap());
    // git looks neither at the user's settings nor above the folder of the case.
    sandbox =
        sandbox.variable("GIT_CEILING_DIRECTORIES", folder.parent().unwrap().to_str().unwrap());
    sandbox = sandbox.variable("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        sandbox = sandbox.variable(name, value.as_str().unwrap());
    }
    for (path, content) in case["files"].as_object().into_iter().flatten() {
        sandbox = sandbox.file(path, content.as_str().unwrap());
    }
    set_up(&sandbox, &case);
    let hook = text(&case, "hook").unwrap();
    let one = [case.clone()];
    let steps = case["steps"].as_array().map_or(&one[..], Vec::as_slice);
    let mut misses = Vec::new();
    for (number, step) in (1..).zip(steps) {
        if case["steps"].is_array() {
            set_up(&sandbox, step);
        }
        let found = step_misses(&sandbox, hook, step);
        misses.extend(found.into_iter().map(|miss| format!("step {number}: {miss}")));
    }
    misses
}

fn set_up(sandbox: &Sandbox, step: &Value) {
    let Some(line) = text(step, "setup") else { return };
    let hookrun = sandbox.command(&[]);
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-e", "-c", line]).current_dir(sandbox.path()).env_clear();
    shell.envs(hookrun.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}

fn step_misses(sandbox: &Sandbox, hook: &str, step: &Value) -> Vec<String> {
    let hooks = repository().join("hooks.d");
    let event = text(step, "event").unwrap();
    let arguments =
        ["test", event, "--hooks", hooks.to_str().unwrap(), "--hook", hook, "--format", "json"];
    let context = step["context"].to_string();
    let ran = Running::start(sandbox, &arguments).feed(context.as_bytes()).ended().ran;
    let Ok(report) = serde_json::from_str::<Value>(&ran.stdout) else {
        return vec![format!("no report: {ran:?}")];
    };
    let expect = &step["expect"];
    let mut misses = Vec::new();
    if report["decision"] != expect["decision"] {
        let why = &report["reason"];
        misses.push(format!("decision {} because {why}", report["decision"]));
    }
    for key in ["reason", "output", "additionalContext"] {
        check_text(key, &expect[key], &report[key], &mut misses);
    }
    let none = json!({});
    let update = if report["update"].is_null() { &none } else { &report["update"] };
    let wanted = if expect["update"].is_null() { &none } else { &expect["update"] };
    if update != wanted {
        misses.push(format!("update {update}, not {wanted}"));
    }
    check_files(sandbox, expect, &mut misses);
    misses
}

/// A text must match where the case says how, and be absent where it does not.
fn check_text(key: &str, wanted: &Value, found: &Value, misses: &mut Vec<String>) {
    let is_met = match (wanted.as_str(), found.as_str()) {
        // `^$` is a way to say that there is none.
        (Some(wanted), found) => Regex::new(wanted).unwrap().is_match(found.unwrap_or_default()),
        (None, None) => true,
        // A refusal has a reason, whether or not the case is about it.
        (None, Some(_)) => key == "reason",
    };
    if !is_met {
        misses.push(format!("{key} {found}, not {wanted}"));
    }
}

fn check_files(sandbox: &Sandbox, expect: &Value, misses: &mut Vec<String>) {
    for (path, wanted) in expect["files"].as_object().into_iter().flatten() {
        let wanted = Regex::new(wanted.as_str().unwrap()).unwrap();
        match fs::read_to_string(place(sandbox, path)) {
            Ok(found) if wanted.is_match(&found) => {}
            Ok(found) => misses.push(format!("{path} is {found:?}, not /{wanted}/")),
            Err(error) => misses.push(format!("{path}: {error}")),
        }
    }
    for path in expect["no_files"].as_array().into_iter().flatten() {
        let path = path.as_str().unwrap();
        if place(sandbox, path).exists() {
            misses.push(format!("{path} should not be there"));
        }
    }
}

/// Where a file of a case lies: `.state/` stands for the hook's state folder of its session.
fn place(sandbox: &Sandbox, path: &str) -> PathBuf {
    let Some(rest) = path.strip_prefix(".state/") else {
        return sandbox.at(path);
    };
    let sessions = sandbox.at("state/hookrun/sessions");
    let below = |folder: PathBuf| entries(&folder);
    let sessions = if sessions.exists() { below(sessions) } else { Vec::new() };
    let folders: Vec<PathBuf> = sessions.into_iter().flat_map(below).collect();
    let holder = folders.iter().find(|folder| folder.join(rest).exists());
    holder.unwrap_or(&sessions_of(sandbox)).join(rest)
}

fn sessions_of(sandbox: &Sandbox) -> PathBuf {
    sandbox.at("state/hookrun/sessions")
}

fn decides_as_its_cases_say(file: &str) {
    let file = repository().join("fixtures/hooks").join(file);
    let cases = cases(&file);
    assert!(!cases.is_empty(), "{file:?} has no cases");
    let mut failed = Vec::new();
    for case in &cases {
        let title = text(case, "name").unwrap();
        failed.extend(misses(case).into_iter().map(|miss| format!("{title}: {miss}")));
    }
    assert!(failed.is_empty(), "{} of {file:?}:\n{}", failed.len(), failed.join("\n"));
}

/// One test for each file, so that they run at the same time and fail by name.
macro_rules! shipped {
    ($($test:ident $file:literal)*) => {
        const FILES: &[&str] = &[$($file),*];
        $(#[test]
        fn $test() {
            decides_as_its_cases_say($file);
        })*
    };
}

shipped! {
    archive_transcript_decides_as_its_cases_say "archive-transcript.json"
    audit_decides_as_its_cases_say "audit.json"
    drop_debug_messages_decides_as_its_cases_say "drop-debug-messages.json"
    fresh_context_decides_as_its_cases_say "fresh-context.json"
    git_checkpoint_decides_as_its_cases_say "git-checkpoint.json"
    guard_destructive_decides_as_its_cases_say "guard-destructive.json"
    handoff_decides_as_its_cases_say "handoff.json"
    production_paths_decides_as_its_cases_say "production-paths.json"
    protect_paths_decides_as_its_cases_say "protect-paths.json"
    redact_secrets_decides_as_its_cases_say "redact-secrets.json"
    refuse_secrets_decides_as_its_cases_say "refuse-secrets.json"
    summarize_requests_decides_as_its_cases_say "summarize-requests.json"
    trigger_file_decides_as_its_cases_say "trigger-file.json"
}

#[test]
fn every_file_of_cases_is_run() {
    let there: Vec<String> =
        entries(&repository().join("fixtures/hooks")).iter().map(|file| name(file)).collect();
    assert_eq!(there, FILES);
}

#[test]
fn every_shipped_hook_has_cases() {
    let mut with_cases = BTreeSet::new();
    for file in FILES {
        for case in cases(&repository().join("fixtures/hooks").join(file)) {
            let hook = text(&case, "hook").unwrap().to_string();
            let one = [case.clone()];
            for step in case["steps"].as_array().map_or(&one[..], Vec::as_slice) {
                with_cases.insert((text(step, "event").unwrap().to_string(), hook.clone()));
            }
        }
    }
    let mut shipped = BTreeSet::new();
    let folders = entries(&repository().join("hooks.d")).into_iter().filter(|path| path.is_dir());
    for folder in folders {
        let files = entries(&folder).into_iter().filter(|path| !name(path).starts_with('.'));
        shipped.extend(files.map(|file| (event(&folder, &file), name(&file))));
    }
    let without: Vec<_> = shipped.difference(&with_cases).collect();
    assert!(without.is_empty(), "no cases for {without:?}");
    let gone: Vec<_> = with_cases.difference(&shipped).collect();
    assert!(gone.is_empty(), "cases for hooks that are not there: {gone:?}");
}

#[test]
fn the_shipped_hooks_are_in_order() {
    let hooks = repository().join("hooks.d");
    let ran = Sandbox::new().hookrun(&["validate", "--hooks", hooks.to_str().unwrap()], b"");
    assert_eq!(ran.status, 0, "{ran:?}");
}
