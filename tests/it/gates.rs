//! The gates for CI in `gates/`: they are in order, and each has cases.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

fn gates() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("gates")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_gates_are_in_order() {
    let ran = Sandbox::new().hookrun(&["validate", "--hooks", gates().to_str().unwrap()], b"");
    ran.exits(0).prints("ok: ");
}

/// One test for each suite, so that they are played at once.
macro_rules! the_gates_decide_as_their_suites_say {
    ($($test:ident: $suite:literal;)*) => {
        const SUITES: &[&str] = &[$($suite),*];

        mod the_gates_decide_as_their_suites_say {$(
            #[test]
            fn $test() {
                let suite = super::gates().join("hooks.d/tests").join($suite);
                let asked = crate::shipped::asked_by(&suite);
                assert!(asked.iter().any(|(_, gate)| super::suite_of(gate) == $suite), "{asked:?}");
            }
        )*}
    };
}

the_gates_decide_as_their_suites_say! {
    commit_range: "commit-range.toml";
    freeze: "freeze.toml";
    kubernetes_manifest: "kubernetes-manifest.toml";
    package_lock: "package-lock.toml";
    terraform_plan: "terraform-plan.toml";
}

/// The file of the cases of a gate.
fn suite_of(gate: &str) -> String {
    let stem = Path::new(gate).file_stem().unwrap().to_str().unwrap();
    format!("{}.toml", stem.trim_start_matches("10-"))
}

#[test]
fn every_gate_has_a_file_of_cases_of_its_name() {
    let hooks = gates().join("hooks.d");
    let mut wanted = BTreeSet::new();
    for event in names(&hooks).into_iter().filter(|name| name != "tests") {
        wanted.extend(names(&hooks.join(&event)).iter().map(|gate| suite_of(gate)));
    }
    let there: BTreeSet<String> = names(&hooks.join("tests"))
        .into_iter()
        .filter(|name| name.ends_with(".toml"))
        .collect();
    assert_eq!(there, wanted);
    assert_eq!(
        there,
        SUITES.iter().map(|suite| suite.to_string()).collect()
    );
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
    for event in [
        "plan.pre",
        "manifest.pre",
        "dependencies.pre",
        "commits.pre",
        "deploy.pre",
    ] {
        assert!(
            !ran.stdout.contains(event),
            "{event} is bound: {}",
            ran.stdout
        );
    }
}
