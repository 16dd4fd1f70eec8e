//! Events as real clients sent them: read in their words, and given back in the same.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::Sandbox;

fn folder(system: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/payloads")
        .join(system)
}

/// The captured events of a system, by name. What stands in `_process.json` is how the client
/// starts a program, and no event.
fn payloads(system: &str) -> Vec<(String, Value)> {
    let files = fs::read_dir(folder(system))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, Value)> = files
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (
                name,
                serde_json::from_slice(&fs::read(file).unwrap()).unwrap(),
            )
        })
        .filter(|(name, _)| !name.starts_with('_'))
        .collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

/// A hook of the same system gets what the host sent, but for `event`: that key is the bridge's,
/// which made a program's input of the host's own `type`.
fn come_back_the_same(system: &str) {
    let all = payloads(system);
    assert!(all.len() > 10, "{system} has {} payloads", all.len());
    for (name, payload) in all {
        let body = format!("# hookrun: dialect={system}\ncat > seen");
        let sandbox = Sandbox::new().hook_for(&name, "keep", &body);
        let input = payload
            .to_string()
            .replace("/home/user/project", sandbox.path().to_str().unwrap());
        let ran = sandbox.hookrun(&["run", &name, "--host", system], input.as_bytes());
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (0, ""),
            "{system} {name}: {ran:?}"
        );
        let mut sent: Value = serde_json::from_str(&input).unwrap();
        sent.as_object_mut().unwrap().remove("event");
        let seen: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
        assert_eq!(seen, sent, "{system} {name}");
    }
}

#[test]
fn what_pi_sends_comes_back_the_same() {
    come_back_the_same("pi");
}

#[test]
fn what_oh_my_pi_sends_comes_back_the_same() {
    come_back_the_same("omp");
}
