//! When a host last asked here: nothing is in order that was not seen.

use super::{everything, installed};
use crate::sandbox::Sandbox;

fn ask(sandbox: &Sandbox, folder: &str) {
    let event = br#"{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
    let change = |command: &mut std::process::Command| {
        command.current_dir(sandbox.at(folder));
    };
    sandbox
        .hookrun_as(change, &["run", "--host", "claude"], event)
        .exits(0);
}

/// What `doctor` says of when the host asked, in JSON and to people.
#[track_caller]
fn said(sandbox: &Sandbox, host: &str) -> String {
    let (_, found) = everything(sandbox, host);
    let about = [
        "last ran",
        "has not run it",
        "own events",
        "cannot determine whether",
    ];
    let mut all: Vec<&String> = found
        .iter()
        .filter(|one| about.iter().any(|part| one.contains(part)))
        .collect();
    assert_eq!(all.len(), 1, "{found:?}");
    let (_, cause) = all.remove(0).split_once(": ").unwrap();
    let (cause, _) = cause.rsplit_once(" [").unwrap();
    sandbox.hookrun(&["doctor", host], b"").prints(cause);
    cause.to_string()
}

#[test]
fn a_host_that_never_asked_here_is_not_seen_yet() {
    let sandbox = installed("claude")
        .file("sub/x", "")
        .file("home/elsewhere/x", "");
    let never = "hookrun is installed, but Claude Code has not run it in this project yet";
    assert_eq!(said(&sandbox, "claude"), never);
    ask(&sandbox, "..");
    assert_eq!(said(&sandbox, "claude"), never);
    ask(&sandbox, "sub");
    assert_eq!(
        said(&sandbox, "claude"),
        "Claude Code last ran hookrun here just now"
    );
}

#[test]
fn the_time_is_that_of_the_last_decision_in_the_log() {
    let sandbox = installed("claude");
    ask(&sandbox, ".");
    let log = "home/.local/state/hookrun/log/decisions.jsonl";
    let line = sandbox.read(log);
    let start = line.find("\"time\":\"").unwrap() + "\"time\":\"".len();
    let old = format!(
        "{}2001-02-03T04:05:06.789Z{}",
        &line[..start],
        &line[start + 24..]
    );
    std::fs::write(sandbox.at(log), old).unwrap();
    let all = said(&sandbox, "claude");
    assert!(
        all.ends_with(" days ago, before this file was changed"),
        "{all}"
    );
}

#[test]
fn what_cannot_be_known_is_said() {
    let sandbox = installed("claude").variable("HOOKRUN_DECISIONS", "off");
    let said_of_claude = said(&sandbox, "claude");
    assert_eq!(
        said_of_claude,
        "cannot determine whether Claude Code runs hookrun: decisions are not logged"
    );
    assert!(said(&installed("opencode"), "opencode").contains("hookrun's own events"));
}
