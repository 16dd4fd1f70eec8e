//! A full disk: decisions come, and it is stated.

use std::process::Stdio;

use serde_json::json;

use super::{CASES, Client, by_run, cases};
use crate::bounds::{is_root, skip};
use crate::sandbox::Sandbox;

/// What precedes a shell to give it mounts of its own, where permitted.
fn with_mounts() -> Option<&'static str> {
    let words = if is_root() {
        "unshare -m"
    } else {
        "unshare -Urm"
    };
    let line = format!("exec {words} mount -t tmpfs none /tmp");
    let mut probe = Sandbox::new().shell_command(&line);
    let probe = probe
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if probe.is_ok_and(|status| status.success()) {
        return Some(words);
    }
    skip("this user may not mount a small disk");
    None
}

#[test]
fn on_a_full_disk_the_decisions_are_the_same_and_the_log_is_missed_once() {
    let Some(words) = with_mounts() else { return };
    let sandbox = cases();
    let expected: Vec<_> = CASES.iter().map(|case| by_run(&sandbox, case)).collect();
    // All that hookrun keeps is on a disk of 1 MiB, on which nothing is left.
    let full = r#"set -e; cd "$HOME/.local/state"; cp -a hookrun kept
        mount -t tmpfs -o size=1m none hookrun; cp -a kept/. hookrun
        cat /dev/zero > hookrun/fill 2> /dev/null || cd "$OLDPWD"; exec "$0" serve --stdio"#;
    let line = format!("exec {words} /bin/sh -c '{full}' \"$0\"");
    let mut client = Client::start_by(sandbox.shell_command(&line));
    for (case, expected) in CASES.iter().zip(expected) {
        let context: serde_json::Value = serde_json::from_str(case.context).unwrap();
        let params = json!({ "host": case.host, "event": case.event, "context": context });
        assert_eq!(client.decide(params), expected, "{}", case.name);
    }
    let said = client.end_saying();
    let missed = "decisions continue, but are not logged: cannot write ";
    assert!(
        said.contains(missed) && said.contains("No space left on device"),
        "{said}"
    );
    assert_eq!(said.matches(missed).count(), 1, "{said}");
}
