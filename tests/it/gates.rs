//! The gates for CI in `gates/`: they are in order, and each has cases.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;
use crate::shipped::decide_as_their_suites_say;

fn gates() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("gates")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_gates_are_in_order() {
    let ran = Sandbox::new().hookrun(&["validate", "--hooks", gates().to_str().unwrap()], b"");
    ran.exits(0).prints("0 errors, 0 warnings");
}

#[test]
fn the_gates_decide_as_their_suites_say() {
    let hooks = gates().join("hooks.d");
    let files = names(&hooks.join("tests")).into_iter().filter(|name| name.ends_with(".toml"));
    // One after another: together they take too long to tell from a hang where much else runs.
    let suites: Vec<PathBuf> = files.map(|file| hooks.join("tests").join(file)).collect();
    decide_as_their_suites_say(&hooks, &suites);
}

#[test]
fn every_gate_has_a_file_of_cases_of_its_name() {
    let hooks = gates().join("hooks.d");
    let mut wanted = BTreeSet::new();
    for event in names(&hooks).into_iter().filter(|name| name != "tests") {
        for gate in names(&hooks.join(&event)) {
            let stem = Path::new(&gate).file_stem().unwrap().to_str().unwrap();
            wanted.insert(format!("{}.toml", stem.trim_start_matches("10-")));
        }
    }
    let there: BTreeSet<String> =
        names(&hooks.join("tests")).into_iter().filter(|name| name.ends_with(".toml")).collect();
    assert_eq!(there, wanted);
}

/// The folder of the repository is a project with hooks of its own; a gate among them would be
/// asked about events that nobody declared there.
#[test]
fn no_gate_is_bound_where_it_was_not_adopted() {
    let root = gates().parent().unwrap().to_path_buf();
    let ran = Sandbox::new().hookrun_as(
        |hookrun| {
            hookrun.current_dir(root);
        },
        &["list"],
        b"",
    );
    ran.exits(0);
    for event in ["plan.pre", "manifest.pre", "dependencies.pre", "commits.pre", "deploy.pre"] {
        assert!(!ran.stdout.contains(event), "{event} is bound: {}", ran.stdout);
    }
}
