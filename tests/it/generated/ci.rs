//! The page about CI, and the files of other runners that start hookrun: they name what there is.
//!
//! `action.yml` and `.pre-commit-hooks.yaml` are read line by line, in the plain form that they
//! have; a test fails if they get another.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use regex::Regex;

use super::{code, read, root, table, walk};
use crate::sandbox::{Ran, Sandbox};

/// An input of the action: its name, what it is, what it is if it is not given.
fn inputs() -> Vec<[String; 3]> {
    let text = read("action.yml");
    let (_, after) = text.split_once("\ninputs:\n").unwrap();
    let (inputs, _) = after.split_once("\n\n").unwrap();
    let form = r#"(?m)^  ([a-z-]+):\n    description: (.+)\n    required: (?:true|false)(?:\n    default: (.+))?$"#;
    let form = Regex::new(form).unwrap();
    let found = form.captures_iter(inputs).map(|found| {
        let default = found.get(3).map_or("required", |default| default.as_str());
        [1, 2].map(|at| found[at].to_string()).into_iter().chain([default.replace("\"\"", "")])
    });
    let rows: Vec<[String; 3]> =
        found.map(|row| row.collect::<Vec<_>>().try_into().unwrap()).collect();
    assert_eq!(rows.len(), inputs.lines().filter(|line| !line.starts_with("   ")).count());
    rows
}

pub(super) fn action_inputs() -> String {
    let rows = inputs().into_iter().map(|[name, about, default]| {
        let default = if default == "." { code(&default) } else { default };
        [code(&name), about, default]
    });
    table(["input", "what it is", "default"], rows)
}

/// An entry for pre-commit: its keys and values.
fn entries() -> Vec<Vec<(String, String)>> {
    let text = read(".pre-commit-hooks.yaml");
    let line = Regex::new(r"^(?:- |  )([a-z_]+): (.+)$").unwrap();
    let mut entries: Vec<Vec<(String, String)>> = Vec::new();
    for text in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let found = line.captures(text).unwrap_or_else(|| panic!("not read: {text}"));
        if text.starts_with('-') {
            entries.push(Vec::new());
        }
        entries.last_mut().unwrap().push((found[1].to_string(), found[2].to_string()));
    }
    entries
}

fn value<'e>(entry: &'e [(String, String)], key: &str) -> &'e str {
    entry.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value)
}

pub(super) fn pre_commit_hooks() -> String {
    let rows = entries().into_iter().map(|entry| {
        let what = value(&entry, "name").trim_start_matches("hookrun ").to_string();
        [code(value(&entry, "id")), code(value(&entry, "entry")), what]
    });
    table(["id", "runs", "which"], rows)
}

#[test]
fn the_page_about_ci_shows_what_happens() {
    let place = tempfile::Builder::new().prefix("ci").tempdir().unwrap();
    let shop = place.path().canonicalize().unwrap().join("shop");
    fs::create_dir(&shop).unwrap();
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("home/hookrun")).unwrap();
    let mut copy = Command::new("/bin/cp");
    copy.arg("-a").arg(root().join("gates")).arg(sandbox.at("home/hookrun"));
    assert!(copy.status().unwrap().success());
    walk("docs/ci.md", &sandbox, &shop, "/home/you/shop");
}

#[test]
fn what_the_action_hands_over_is_what_its_script_takes() {
    let action = read("action.yml");
    let set = Regex::new(r"(?m)^        (ACTION_[A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$").unwrap();
    let handed: Vec<(String, String)> =
        set.captures_iter(&action).map(|set| (set[1].to_string(), set[2].to_string())).collect();
    for (variable, input) in &handed {
        assert_eq!(*variable, format!("ACTION_{}", input.to_uppercase().replace('-', "_")));
    }
    let mut used: BTreeSet<String> = handed.iter().map(|(_, input)| input.clone()).collect();
    used.insert("working-directory".to_string());
    assert_eq!(used, inputs().into_iter().map(|[name, ..]| name).collect());

    let script = read("ci/action.sh");
    let taken = Regex::new(r"ACTION_[A-Z_]+").unwrap();
    let taken: BTreeSet<&str> = taken
        .find_iter(&script)
        .map(|found| found.as_str())
        .filter(|name| *name != "ACTION_PATH")
        .collect();
    assert_eq!(taken, handed.iter().map(|(variable, _)| variable.as_str()).collect());
    // Inputs are never text of a script: they would be code.
    let run = action.split_once("      run: ").unwrap().1;
    assert!(!run.contains("${{"), "{run}");
}

/// The action's script with these variables, and what it put out.
fn action(sandbox: &Sandbox, variables: &[(&str, &str)]) -> (Ran, String) {
    let output = sandbox.at("output");
    fs::write(&output, "").unwrap();
    let mut script = Command::new(root().join("ci/action.sh"));
    script.current_dir(sandbox.path()).env_clear();
    script.envs(sandbox.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("GITHUB_OUTPUT", &output).env("ACTION_BINARY", env!("CARGO_BIN_EXE_hookrun"));
    let ran = Ran::from(script.envs(variables.iter().copied()).output().unwrap());
    (ran, fs::read_to_string(output).unwrap())
}

#[test]
fn the_action_goes_on_or_stops_the_job() {
    let look = r#"case $(hookrun field service --default '') in shop) echo 'not the shop' >&2; exit 1; esac"#;
    let sandbox = Sandbox::new()
        .hook_for("own.pre", "look", look)
        .file("hookrun.toml", "[event.\"own.pre\"]\nsummary = \"it starts\"\n")
        .file("shop.json", r#"{"service": "shop"}"#);
    let own = ("ACTION_EVENT", "own.pre");

    let (ran, output) = action(&sandbox, &[own, ("ACTION_CONTEXT", r#"{"service": "bank"}"#)]);
    assert_eq!((ran.status, ran.stdout.as_str(), output.as_str()), (0, "", "allowed=true\n"));
    let (ran, _) = action(&sandbox, &[own]);
    assert_eq!(ran.status, 0, "an empty context: {ran:?}");

    let (ran, output) = action(&sandbox, &[own, ("ACTION_CONTEXT_FILE", "shop.json")]);
    ran.exits(2).prints("::error title=look refused own.pre::not the shop\n");
    assert_eq!(output, "allowed=false\n");

    let arguments = "--budget\n10s\n--jobs=1\n";
    let more = [("ACTION_HOOKS", "hooks.d\n"), ("ACTION_ARGS", arguments)];
    let (ran, _) = action(&sandbox, &[&[own], &more[..]].concat());
    ran.exits(2).prints("unknown event `own.pre`");
}

#[test]
fn a_mistake_in_the_action_stops_the_job() {
    let sandbox = Sandbox::new().file("a.json", "{}");
    let event = ("ACTION_EVENT", "gc.pre");
    for (variables, said) in [
        (&[("ACTION_CONTEXT", "{}"), ("ACTION_CONTEXT_FILE", "a.json")][..], "exclude each other"),
        (&[("ACTION_CONTEXT_FILE", "b.json")], "context-file cannot be read: b.json"),
        (&[("ACTION_BINARY", "/nowhere/hookrun")], "the input binary is no program"),
        (&[("ACTION_CONTEXT", "no JSON")], "the event is not a JSON object"),
        (&[("ACTION_ARGS", "--no-such-option")], ""),
    ] {
        let (ran, output) = action(&sandbox, &[&[event], variables].concat());
        ran.exits(2).prints(said);
        assert_eq!(output, "allowed=false\n", "{said}");
    }
}

#[test]
fn the_entries_for_pre_commit_are_command_lines_of_hookrun() {
    let sandbox =
        Sandbox::new().hook_for("commit.msg", "look", "exit 0").file("message", "Say why\n");
    sandbox.hookrun(&["new", "first", "--event", "tool.pre"], b"").exits(0);
    let mut init = Command::new("git");
    init.args(["init", "-q"])
        .current_dir(sandbox.path())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    assert!(init.status().unwrap().success());
    let ids: Vec<String> = entries().iter().map(|entry| value(entry, "id").to_string()).collect();
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{ids:?}");
    for entry in entries() {
        assert_eq!(value(&entry, "language"), "system");
        let words: Vec<&str> = value(&entry, "entry").split(' ').collect();
        let (first, mut arguments) = words.split_first().map(|(a, b)| (*a, b.to_vec())).unwrap();
        assert_eq!(first, "hookrun");
        // The runner adds what was changed, or the file with the message.
        if value(&entry, "pass_filenames") != "false" {
            arguments.push("message");
        }
        let ran = sandbox.hookrun(&arguments, b"");
        assert_eq!(ran.status, 0, "{arguments:?}: {ran:?}");
    }
}
