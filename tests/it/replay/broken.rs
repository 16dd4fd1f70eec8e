//! Recordings that cannot be decided as they are: nothing is lost, and nothing skipped in
//! silence.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{GUARD, OTHER_GUARD, changes, count, recorded, replay};
use crate::sandbox::Sandbox;

#[test]
fn lines_that_cannot_be_read_are_named_and_the_others_decided() {
    let sandbox = recorded(GUARD, &["ls", "rm x"]).hook("10-guard.sh", OTHER_GUARD);
    let text = sandbox.read("events.jsonl");
    let last = text.lines().last().unwrap();
    let cut = &last[..last.len() / 2];
    let newer = text
        .lines()
        .next()
        .unwrap()
        .replacen("\"hookrun\":1", "\"hookrun\":2", 1);
    let sandbox = sandbox.file("events.jsonl", &format!("{newer}\nno json\n{text}{cut}"));

    let ran = replay(&sandbox, &["events.jsonl"]);

    ran.exits(2)
        .prints(r#""line":1,"result":"unreadable","why":"the line was written by a newer version of hookrun, in format 2"#)
        .prints(r#""line":2,"result":"unreadable","why":"not a line of hookrun's decision log"#)
        .prints(r#""line":5,"result":"unreadable","why":"the line is cut off"#)
        .prints(r#""line":4,"result":"changed""#)
        .says("2 events: 1 as recorded, 1 changed, 0 undecided; 3 unreadable");
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_decided() {
    let sandbox = recorded(GUARD, &["ls"]);
    replay(&sandbox, &["gone.jsonl", "events.jsonl", "hooks.d"])
        .exits(2)
        .prints(r#"{"file":"gone.jsonl","result":"unreadable","why":"No such file"#)
        .prints(r#"{"file":"hooks.d","result":"unreadable","why":"Is a directory"#)
        .says("1 as recorded, 0 changed, 0 undecided; 2 unreadable");
}

#[test]
fn a_recording_without_events_is_no_success() {
    let sandbox = Sandbox::new().file("events.jsonl", "\n");
    replay(&sandbox, &["events.jsonl"])
        .exits(2)
        .says("no events in events.jsonl");
}

/// One event of `recorded` with another context or other keys.
fn changed(sandbox: &Sandbox, change: impl FnOnce(&mut Value)) -> String {
    let text = sandbox.read("events.jsonl");
    let mut line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    change(&mut line);
    line.to_string()
}

#[test]
fn an_event_that_was_not_kept_whole_is_not_decided_and_told() {
    let sandbox = recorded(GUARD, &["ls"]);
    let cut = changed(&sandbox, |line| {
        line["truncated"] = json!(["context.toolInput.content"])
    });
    let redacted = changed(&sandbox, |line| {
        line["context"]["toolInput"]["command"] = json!("curl -H [redacted:authorization]");
    });
    let bare = changed(&sandbox, |line| {
        drop(line.as_object_mut().unwrap().remove("context"))
    });
    let sandbox = sandbox.file("cut.jsonl", &[cut, redacted, bare].join("\n"));

    let ran = replay(&sandbox, &["cut.jsonl"]);

    ran.exits(2)
        .prints(r#""line":1,"result":"undecided","why":"`context.toolInput.content` was truncated"#)
        .prints(r#""line":2,"result":"undecided","why":"a secret in its context was redacted"#)
        .prints(r#""line":3,"result":"undecided","why":"its context was not recorded"#)
        .says("3 events: 0 as recorded, 0 changed, 3 undecided");
    replay(&sandbox, &["cut.jsonl", "--allow-undecided"])
        .exits(0)
        .says("3 undecided");
}

#[test]
fn what_no_hook_would_look_at_need_not_be_whole() {
    let sandbox = recorded(GUARD, &["ls", "rm x"]);
    let cut = changed(&sandbox, |line| {
        line["truncated"] = json!(["context.toolInput.content"])
    });
    let rest = sandbox.read("events.jsonl");
    let sandbox = sandbox.file("events.jsonl", &format!("{cut}\n{rest}"));
    fs::remove_file(sandbox.at("hooks.d/tool.pre/10-guard.sh")).unwrap();
    assert_eq!(changes(&sandbox, &["events.jsonl"]), ["3: block → allow"]);
    assert_eq!(count(&sandbox, "undecided"), 0);
}

#[test]
fn the_decision_log_is_a_recording_too() {
    let sandbox = recorded(GUARD, &["ls", "rm x"]);
    let log = "home/.local/state/hookrun/log/decisions.jsonl";
    replay(&sandbox, &[log]).exits(0).says("2 as recorded");
    let context = json!({
        "toolName": "bash", "toolInput": { "command": "x".repeat(100_000) },
    });
    sandbox.hookrun(&["run", "tool.pre"], context.to_string().as_bytes());
    replay(&sandbox, &[log]).exits(2).says("1 undecided");
}

#[test]
fn an_event_that_nobody_knows_any_more_would_be_blocked() {
    let declared =
        "[event.\"deploy.pre\"]\nsummary = \"a deployment is about to start\"\nblocks = true\n";
    let sandbox = Sandbox::new().file("hookrun.toml", declared);
    sandbox
        .hookrun(&["run", "deploy.pre", "--record", "events.jsonl"], b"{}")
        .exits(0);
    replay(&sandbox, &["events.jsonl"]).exits(0);
    fs::remove_file(sandbox.at("hookrun.toml")).unwrap();
    replay(&sandbox, &["events.jsonl"])
        .exits(1)
        .prints(r#""was":{"decision":"allow"},"is":{"decision":"block","cause":"failure""#)
        .prints("unknown event `deploy.pre`");
}

#[test]
fn what_nobody_knows_is_not_decided_by_guessing() {
    let sandbox = recorded(GUARD, &["ls"]);
    let host = changed(&sandbox, |line| line["host"] = json!("zzz"));
    let word = changed(&sandbox, |line| line["run"]["decision"] = json!("maybe"));
    let sandbox = sandbox.file("odd.jsonl", &format!("{host}\n{word}\n"));
    replay(&sandbox, &["odd.jsonl"])
        .exits(2)
        .prints("this version of hookrun does not know the host `zzz`")
        .prints(
            r#""line":2,"result":"unreadable","why":"the decision is `maybe`, which this version of hookrun does not know"#,
        );
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let sandbox = recorded(GUARD, &["ls"]);
    if std::path::Path::new("/dev/full").exists() {
        let ran =
            sandbox.hookrun_by_shell("exec \"$0\" replay --all events.jsonl > /dev/full", b"");
        ran.exits(2).says("cannot write the result");
    }
}

#[test]
fn a_replay_that_is_interrupted_ends_its_hooks_and_says_nothing_half() {
    let sandbox = recorded("", &["ls"]).hook("10-guard.sh", ": > started; sleep 600");
    let child = sandbox
        .command(&["replay", "events.jsonl"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !sandbox.at("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(128 + 15));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        said.contains("interrupted: not all events of events.jsonl were decided"),
        "{said}"
    );
    assert!(ended.stdout.is_empty(), "{ended:?}");
}
