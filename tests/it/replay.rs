//! `hookrun replay`: recorded events decided again, what has changed, and what cannot be decided.

mod broken;
mod parts;

use serde_json::{Value, json};

use crate::commands::schema;
use crate::sandbox::{Ran, Sandbox};

/// BlockStatus commands with `rm` in them.
const GUARD: &str = r#"case "$HOOKRUN_ACTION_COMMAND" in
    *rm*) echo "no rm" >&2; exit 1 ;;
    *ask*) echo '{"ask":"really?"}' ;;
esac"#;

/// BlockStatus commands with `cat` in them.
const OTHER_GUARD: &str = r#"case "$HOOKRUN_ACTION_COMMAND" in
    *cat*) echo "no cat" >&2; exit 1 ;;
    *ask*) echo '{"ask":"really?"}' ;;
esac"#;

/// Records a shell command with the hooks that there are.
fn record(sandbox: &Sandbox, command: &str) {
    let context = json!({
        "sessionId": "s-1", "toolName": "bash", "toolInput": { "command": command },
    });
    let run = ["run", "tool.pre", "--record", "events.jsonl"];
    sandbox.hookrun(&run, context.to_string().as_bytes());
}

fn recorded(guard: &str, commands: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new().hook("10-guard.sh", guard);
    for command in commands {
        record(&sandbox, command);
    }
    sandbox
}

/// Changes on stdout, the sum on stderr.
fn replay(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    sandbox.hookrun(&[&["replay"], arguments].concat(), b"")
}

/// A line for each event.
#[track_caller]
fn lines(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let ran = sandbox.hookrun(&[&["replay", "--all"], arguments].concat(), b"");
    let lines = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines
        .inspect(|line| schema::hold(&["replay"], line))
        .collect()
}

/// The changes, as `LINE: WAS → IS`.
#[track_caller]
fn changes(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let lines = lines(sandbox, arguments);
    let changed = lines.iter().filter(|line| line["result"] == "changed");
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let turn = |line: &Value| {
        let (was, is) = (
            text(&line["was"]["decision"]),
            text(&line["is"]["decision"]),
        );
        format!("{}: {was} → {is}", line["line"])
    };
    changed.map(turn).collect()
}

/// How many lines have this result.
#[track_caller]
fn count(sandbox: &Sandbox, result: &str) -> usize {
    let lines = lines(sandbox, &["events.jsonl"]);
    lines.iter().filter(|line| line["result"] == result).count()
}

#[test]
fn all_is_as_recorded_with_the_same_hooks() {
    let sandbox = recorded(GUARD, &["ls", "rm x", "cat y", "ask z"]);

    let ran = replay(&sandbox, &["events.jsonl"]);

    ran.exits(0).says("4 events: 4 as recorded, 0 changed");
    assert_eq!(ran.stdout, "");
    assert_eq!(count(&sandbox, "same"), 4);
}

#[test]
fn what_is_decided_otherwise_is_told_with_hook_and_reason() {
    let sandbox = recorded(GUARD, &["ls", "rm x", "cat y"]).hook("10-guard.sh", OTHER_GUARD);

    let ran = replay(&sandbox, &["events.jsonl"]);

    ran.exits(1)
        .prints(r#""line":2,"result":"changed","event":"tool.pre""#)
        .prints(r#""about":"bash: rm x","was":{"decision":"block","cause":"policy","hook":"10-guard.sh","reason":"no rm"},"is":{"decision":"allow"}}"#)
        .prints(r#""line":3,"result":"changed","event":"tool.pre""#)
        .prints(r#""about":"bash: cat y","was":{"decision":"allow"},"is":{"decision":"block","cause":"policy","hook":"10-guard.sh","reason":"no cat"}}"#)
        .says("allow → block: 1")
        .says("block → allow: 1")
        .says("3 events: 1 as recorded, 2 changed");
    assert_eq!(
        changes(&sandbox, &["events.jsonl"]),
        ["2: block → allow", "3: allow → block"]
    );
}

#[test]
fn other_words_and_rewrites_are_no_changes() {
    let sandbox = recorded(GUARD, &["ls", "rm x"]);
    let sandbox = sandbox.hook("10-guard.sh", "echo 'still no rm' >&2; exit 1");
    assert_eq!(changes(&sandbox, &["events.jsonl"]), ["1: allow → block"]);
}

#[test]
fn a_hook_that_fails_does_not_do_what_it_did_though_both_block() {
    let sandbox = recorded(GUARD, &["rm x"]).hook("10-guard.sh", "kill -SEGV $$");
    replay(&sandbox, &["events.jsonl"])
        .exits(1)
        .prints(r#""is":{"decision":"block","cause":"failure","hook":"10-guard.sh""#)
        .says("block → block: 1");
}

#[test]
fn what_a_person_answered_is_not_decided_again() {
    // Without a terminal a question refuses.
    let sandbox = recorded(GUARD, &["ask x"]);
    replay(&sandbox, &["events.jsonl"]).exits(0);
    let sandbox = sandbox.hook("10-guard.sh", "");
    assert_eq!(changes(&sandbox, &["events.jsonl"]), ["1: ask → allow"]);
}

#[test]
fn a_hook_for_a_host_gets_what_its_host_sent() {
    let body = r#"input=$(cat); case "$input" in
        *'"hook_event_name":"PreToolUse"'*'"tool_name":"Bash"'*'"extra":[1,2]'*)
            case "$input" in *rm*) echo "no rm" >&2; exit 2 ;; esac ;;
        *) echo "not my host: $input" >&2; exit 2 ;;
    esac"#;
    let sandbox = Sandbox::new().hook_of("claude", "PreToolUse", "10-claude.sh", body);
    for command in ["ls", "rm x"] {
        let payload = json!({
            "session_id": "c-1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": command }, "extra": [1, 2],
        });
        let run = ["run", "--host", "claude", "--record", "events.jsonl"];
        sandbox
            .hookrun(&run, payload.to_string().as_bytes())
            .exits(if command == "ls" { 0 } else { 2 });
    }

    replay(&sandbox, &["events.jsonl"])
        .exits(0)
        .says("2 as recorded");
}

#[test]
fn an_agents_stop_is_blocked_again_though_it_was_let_go() {
    let sandbox = Sandbox::new().hook_for("agent.stop", "10-stay.sh", "echo stay >&2; exit 1");
    let context = json!({ "sessionId": "s-1" }).to_string();
    let run = ["run", "agent.stop", "--record", "events.jsonl"];
    let mut statuses = Vec::new();
    for _ in 0..10 {
        statuses.push(sandbox.hookrun(&run, context.as_bytes()).status);
    }
    assert!(statuses.contains(&0), "{statuses:?}");

    replay(&sandbox, &["events.jsonl"])
        .exits(0)
        .says("10 as recorded");
}

#[test]
fn nothing_of_the_user_is_touched_and_hooks_know_that_it_is_a_replay() {
    let hook = r#"echo "$HOOKRUN_REPLAY" >> "$HOOKRUN_STATE_DIR/count"
        case "$HOOKRUN_REPLAY" in
            1) pwd -P >> replayed; echo "$HOOKRUN_STATE_DIR" >> states ;;
        esac
        "$UNDER_TEST" run session.start < nothing > /dev/null; :"#;
    let sandbox = Sandbox::new()
        .hook("10-count.sh", hook)
        .file("nothing", "{}")
        .variable("UNDER_TEST", env!("CARGO_BIN_EXE_hookrun"))
        .variable("HOOKRUN_RECORD", "events.jsonl");
    sandbox.run_shell("ls").allows();
    let log = "home/.local/state/hookrun/log/decisions.jsonl";
    let (events, logged) = (sandbox.read("events.jsonl"), sandbox.read(log));

    replay(&sandbox, &["events.jsonl"]).exits(0);

    assert_eq!(sandbox.read("events.jsonl"), events, "no hook records");
    assert_eq!(sandbox.read(log), logged, "nothing is logged");
    let states = sandbox.read("states");
    assert!(
        !states.contains(sandbox.at("home").to_str().unwrap()),
        "{states}"
    );
    assert!(
        !std::path::Path::new(states.lines().next().unwrap()).exists(),
        "{states}"
    );
    assert_eq!(
        (
            sandbox.read("replayed").lines().count(),
            events.lines().count()
        ),
        (1, 2)
    );
}

#[test]
fn events_come_from_stdin_too() {
    let sandbox = recorded(GUARD, &["ls", "rm x"]).hook("10-guard.sh", OTHER_GUARD);
    let events = sandbox.read("events.jsonl");
    for arguments in [&["replay"][..], &["replay", "-"]] {
        let ran = sandbox.hookrun(arguments, events.as_bytes());
        ran.exits(1).prints(r#""file":"stdin","line":2,"#);
    }
}

#[test]
fn mistakes_in_the_hooks_are_reported_before_anything_is_decided() {
    let sandbox = recorded(GUARD, &["ls"]).file("hookrun.toml", "nonsense");
    let ran = replay(&sandbox, &["events.jsonl"]);
    ran.exits(2).says("hookrun.toml");
    assert_eq!(ran.stdout, "");
}
