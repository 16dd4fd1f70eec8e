//! The examples of pi's and openclaw's documents, as programs: `fixtures/systems/…/hooks.d`.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::nasty::running::{Running, wait_for_text, wait_until};
use crate::sandbox::{Ran, Sandbox, takes_posts};
use crate::ui::screen::{Step, at, at_terminal};

/// The name of a session file, which is how pi knows a session.
const SESSION: &str = "/tmp/s-1.jsonl";

fn fixtures(system: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/systems")
        .join(system)
}

/// A sandbox in which `hookrun` is the program that is tested, with these files of a system.
fn with(system: &str, files: &[&str]) -> Sandbox {
    let bin = Path::new(env!("CARGO_BIN_EXE_hookrun")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let sandbox = Sandbox::new().variable("PATH", &path);
    let state = sandbox.at("state").to_str().unwrap().to_string();
    files.iter().fold(
        sandbox.variable("XDG_STATE_HOME", &state),
        |sandbox, file| {
            let text = fs::read_to_string(fixtures(system).join(file)).unwrap();
            sandbox.script(file, &text)
        },
    )
}

fn pi(files: &[&str]) -> Sandbox {
    with(
        "pi",
        &files
            .iter()
            .map(|file| format!("hooks.d/{file}"))
            .collect::<Vec<_>>()
            .each(),
    )
}

/// The borrowed texts of a list.
trait Each {
    fn each(&self) -> Vec<&str>;
}

impl Each for Vec<String> {
    fn each(&self) -> Vec<&str> {
        self.iter().map(String::as_str).collect()
    }
}

/// An event of pi's, with what a host adds of the hook's context.
fn event(name: &str, facts: &Value) -> Value {
    let mut event = json!({ "type": name, "sessionFile": SESSION });
    event
        .as_object_mut()
        .unwrap()
        .extend(facts.as_object().unwrap().clone());
    event
}

fn session(reason: &str) -> Value {
    event(
        "session",
        &json!({ "entries": [1, 2, 3], "reason": reason }),
    )
}

fn tool_call(tool: &str, input: &Value) -> Value {
    event(
        "tool_call",
        &json!({ "toolName": tool, "toolCallId": "c", "input": input }),
    )
}

/// `hookrun run` for an event of pi's, without a terminal.
fn ask(sandbox: &Sandbox, event: &Value) -> Ran {
    let name = event["type"].as_str().unwrap();
    let arguments = ["run", name, "--host", "pi"];
    Running::start(sandbox, &arguments)
        .feed(event.to_string().as_bytes())
        .ended_alone()
        .ran
}

/// The same on a terminal.
fn ask_person(sandbox: &Sandbox, event: &Value, steps: &[Step]) -> Ran {
    fs::write(sandbox.at("event"), event.to_string()).unwrap();
    fs::write(sandbox.at("stdout"), "").unwrap();
    at_terminal(
        sandbox,
        &["run", event["type"].as_str().unwrap(), "--host", "pi"],
        steps,
    )
}

#[track_caller]
fn result(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The messages that wait for the session.
fn sent(sandbox: &Sandbox) -> Vec<String> {
    let ran = sandbox.hookrun(&["hook", "send", "--take", "--session", SESSION], b"");
    let text = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap();
        message["text"].as_str().unwrap().to_string()
    };
    ran.exits(0).stdout.lines().map(text).collect()
}

/// Waits for the first message.
fn wait_for_message(sandbox: &Sandbox) -> String {
    let mut messages = Vec::new();
    wait_until("a message", || {
        messages.extend(sent(sandbox));
        !messages.is_empty()
    });
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages.remove(0)
}

#[test]
fn the_examples_are_in_order() {
    for system in ["pi", "openclaw"] {
        let folder = fixtures(system);
        let arguments = ["validate", "--hooks", folder.to_str().unwrap()];
        Sandbox::new()
            .hookrun(&arguments, b"")
            .exits(0)
            .prints("ok: ");
    }
}

// pi: Writing a Hook, session

#[test]
fn a_person_is_told_what_happens_to_the_session() {
    let sandbox = pi(&["session/notify.sh"]);
    let ran = ask_person(&sandbox, &session("start"), &[]);
    ran.exits(0)
        .says("hook notify.sh: Session start: /tmp/s-1.jsonl");
    let mut event = session("switch");
    event["sessionFile"] = Value::Null;
    ask_person(&sandbox, &event, &[])
        .exits(0)
        .says("Session switch: ephemeral");
    ask(&sandbox, &session("start")).allows();
}

#[test]
fn a_session_is_kept_from_being_cleared_and_branched_without_its_conversation() {
    let sandbox = pi(&["session/keep-session.sh"]);
    let ran = ask(&sandbox, &session("before_clear"));
    assert_eq!(result(ran.exits(2)), json!({ "cancel": true }));
    let ran = ask(&sandbox, &session("before_branch"));
    assert_eq!(
        result(ran.exits(0)),
        json!({ "skipConversationRestore": true })
    );
    ask(&sandbox, &session("clear")).allows();
    // The same file in a native host.
    sandbox.run("session.clear.pre").exits(2);
}

// pi: Custom Compaction

fn before_compact() -> Value {
    let mut event = session("before_compact");
    event["cutPoint"] = json!({ "firstKeptEntryIndex": 2, "isSplitTurn": false });
    event["messagesToSummarize"] = json!([
        { "role": "user", "content": "one" },
        { "role": "assistant", "content": "two" },
        { "role": "user", "content": [{ "type": "text", "text": "three" }] },
    ]);
    event["messagesToKeep"] = json!([{ "role": "user", "content": "four" }]);
    event["tokensBefore"] = json!(100_000);
    event
}

#[test]
fn compaction_is_done_in_the_three_ways_of_the_document() {
    for (hook, first_kept, summary) in [
        (
            "session/default-compaction.py",
            2,
            "Your custom summary of 4 messages...",
        ),
        (
            "session/full-compaction.py",
            3,
            "Complete summary of all work...",
        ),
        (
            "session/custom-compaction.py",
            2,
            "User requests:\n- one\n- [complex]",
        ),
    ] {
        let sandbox = pi(&[hook]);
        let ran = ask(&sandbox, &before_compact());
        let entry = result(ran.exits(0))["compactionEntry"].clone();
        assert_eq!(entry["type"], "compaction", "{hook}");
        assert_eq!(entry["summary"], summary, "{hook}");
        assert_eq!(entry["firstKeptEntryIndex"], first_kept, "{hook}");
        assert_eq!(entry["tokensBefore"], 100_000, "{hook}");
        assert!(
            entry["timestamp"].as_str().unwrap().contains('T'),
            "{hook}: {entry}"
        );
        ask(&sandbox, &session("before_switch")).allows();
    }
}

// pi: Sending Messages

#[test]
fn what_is_written_into_the_trigger_file_is_sent_until_the_session_is_over() {
    let sandbox = pi(&["session/file-watcher.sh"]);
    let file = sandbox.at("trigger.txt");
    let sandbox = sandbox.variable("PI_TRIGGER_FILE", file.to_str().unwrap());
    ask(&sandbox, &session("start")).allows();
    fs::write(&file, "Run the tests\n").unwrap();
    assert_eq!(
        wait_for_message(&sandbox),
        "External trigger: Run the tests"
    );
    wait_until("an empty file", || {
        fs::read_to_string(&file).unwrap().is_empty()
    });
    fs::write(&file, "Once more\n").unwrap();
    assert_eq!(wait_for_message(&sandbox), "External trigger: Once more");

    ask(&sandbox, &session("shutdown")).allows();
    fs::write(&file, "Too late\n").unwrap();
    // Nobody is left who could send it.
    nobody_left_of(&sandbox);
    assert_eq!(sent(&sandbox), Vec::<String>::new());
}

/// Waits until no process works in the sandbox.
fn nobody_left_of(sandbox: &Sandbox) {
    let folder = sandbox.path().canonicalize().unwrap();
    let works_there = |entry: fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
    };
    wait_until("the end of what was left behind", || {
        !fs::read_dir("/proc").unwrap().flatten().any(works_there)
    });
}

#[test]
fn what_is_posted_is_sent_until_the_session_is_over() {
    let sandbox = pi(&["session/webhook.py"]).variable("PI_WEBHOOK_PORT", "0");
    let sandbox = sandbox.script(
        "hooks.d/turn_start/where.sh",
        "#!/bin/sh\n# hookrun: dialect=pi\nhookrun hook state get --shared webhook > address\n",
    );
    ask(&sandbox, &session("start")).allows();
    ask(&sandbox, &event("turn_start", &json!({ "turnIndex": 0 }))).allows();
    let address = sandbox.read("address");
    let port: u16 = address.trim().rsplit(':').next().unwrap().parse().unwrap();
    for (body, message) in [
        ("CI build failed", "CI build failed"),
        ("", "Webhook triggered"),
    ] {
        takes_posts(port, body);
        assert_eq!(wait_for_message(&sandbox), message);
    }
    ask(&sandbox, &session("shutdown")).allows();
    nobody_left_of(&sandbox);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

// pi: Permission Gate

#[test]
fn a_dangerous_command_runs_only_if_a_person_says_yes() {
    let sandbox = pi(&["tool_call/permission-gate.sh"]);
    let event = tool_call("bash", &json!({ "command": "rm -rf build" }));
    let steps = |keys| [at("1. Yes", ""), at("number> ", keys)];
    let ran = ask_person(&sandbox, &event, &steps("1\r"));
    ran.allows().says("Dangerous command:").says("rm -rf build");
    for keys in ["2\r", "\u{4}"] {
        let ran = ask_person(&sandbox, &event, &steps(keys));
        let blocked = json!({ "block": true, "reason": "Blocked by user" });
        assert_eq!(result(ran.exits(2)), blocked);
    }
}

#[test]
fn the_gate_knows_what_is_dangerous_and_blocks_it_where_nobody_is() {
    let sandbox = pi(&["tool_call/permission-gate.sh"]);
    for command in [
        "rm -r x",
        "rm  --recursive x",
        "RM -RF x",
        "a; sudo b",
        "chmod -R 777 x",
    ] {
        let ran = ask(&sandbox, &tool_call("bash", &json!({ "command": command })));
        assert_eq!(
            result(ran.exits(2))["reason"],
            "Blocked by user",
            "{command}"
        );
    }
    for command in [
        "ls",
        "rm x",
        "farm -rf x",
        "pseudo x",
        "chmod 755 x",
        "echo 777",
    ] {
        ask(&sandbox, &tool_call("bash", &json!({ "command": command }))).allows();
    }
    ask(&sandbox, &tool_call("read", &json!({ "path": "sudo" }))).allows();
    // The same file in a native host.
    sandbox.run_shell("sudo ls").blocks("Blocked by user");
    sandbox.run_shell("ls").allows();
}

// pi: Git Checkpointing

fn git(sandbox: &Sandbox, words: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
        .args(words);
    let output = git
        .current_dir(sandbox.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output();
    assert!(output.unwrap().status.success(), "{words:?}");
}

/// A repository in which the code was one thing at the start of turn 1, and is another now.
fn after_a_turn() -> Sandbox {
    let script = "session/git-checkpoint.sh";
    let sandbox = pi(&[
        script,
        "turn_start/git-checkpoint.sh",
        "agent_end/git-checkpoint.sh",
    ])
    .variable("GIT_AUTHOR_NAME", "t")
    .variable("GIT_AUTHOR_EMAIL", "t@localhost")
    .variable("GIT_COMMITTER_NAME", "t")
    .variable("GIT_COMMITTER_EMAIL", "t@localhost")
    .variable("GIT_CONFIG_GLOBAL", "/dev/null")
    .file("code.txt", "committed\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "code.txt"]);
    git(&sandbox, &["commit", "-qm", "Begin"]);
    let sandbox = sandbox.file("code.txt", "at the start\n");
    ask(
        &sandbox,
        &event("turn_start", &json!({ "turnIndex": 1, "timestamp": 1 })),
    )
    .allows();
    git(&sandbox, &["checkout", "-q", "code.txt"]);
    sandbox
}

fn before_branch(turn: u32) -> Value {
    let mut event = session("before_branch");
    event["targetTurnIndex"] = json!(turn);
    event
}

#[test]
fn branching_brings_back_the_code_if_a_person_wants_it() {
    let sandbox = after_a_turn();
    let steps = |keys| [at("2. No, keep current code", ""), at("number> ", keys)];
    ask_person(&sandbox, &before_branch(1), &steps("2\r")).allows();
    assert_eq!(sandbox.read("code.txt"), "committed\n");
    let ran = ask_person(&sandbox, &before_branch(1), &steps("1\r"));
    ran.allows()
        .says("Restore code state?")
        .says("Code restored to checkpoint");
    assert_eq!(sandbox.read("code.txt"), "at the start\n");
}

#[test]
fn without_a_person_or_a_checkpoint_the_code_stays() {
    let sandbox = after_a_turn();
    ask(&sandbox, &before_branch(1)).allows();
    ask_person(&sandbox, &before_branch(2), &[]).allows();
    ask(&sandbox, &event("agent_end", &json!({ "messages": [] }))).allows();
    // Forgotten with the end of the agent: nobody is asked.
    ask_person(&sandbox, &before_branch(1), &[]).allows();
    assert_eq!(sandbox.read("code.txt"), "committed\n");
}

// pi: Block Writes to Certain Paths

#[test]
fn protected_paths_are_not_written() {
    let sandbox = pi(&["tool_call/protected-paths.py"]);
    for path in [".env", "x/.git/config", "node_modules/a.js"] {
        let event = tool_call("write", &json!({ "path": path, "content": "" }));
        let ran = ask(&sandbox, &event);
        let reason = format!("Path \"{path}\" is protected");
        assert_eq!(
            result(ran.exits(2)),
            json!({ "block": true, "reason": reason })
        );
    }
    ask(
        &sandbox,
        &tool_call("edit", &json!({ "path": "src/main.rs" })),
    )
    .allows();
    ask(&sandbox, &tool_call("read", &json!({ "path": ".env" }))).allows();
    let event = tool_call(
        "edit",
        &json!({ "path": ".env", "oldText": "", "newText": "" }),
    );
    let ran = ask_person(&sandbox, &event, &[]);
    ran.exits(2)
        .says("warning: Blocked write to protected path: .env");
}

// pi: tool_result

#[test]
fn the_model_is_told_where_the_full_output_is() {
    let sandbox = pi(&["tool_result/full-output.py"]);
    let details = json!({
        "truncation": { "truncated": true, "truncatedBy": "lines", "totalLines": 9000,
                        "totalBytes": 90_000, "outputLines": 2000, "outputBytes": 20_000 },
        "fullOutputPath": "/tmp/full.log",
    });
    let shown = json!({ "type": "text", "text": "line 1" });
    let mut event = event(
        "tool_result",
        &json!({ "toolName": "bash", "toolCallId": "c", "input": { "command": "seq 9000" },
                 "content": [shown], "details": details, "isError": false }),
    );
    let note = "[2000 of 9000 lines; full output at: /tmp/full.log]";
    let ran = ask(&sandbox, &event);
    let wanted =
        json!({ "content": [shown, { "type": "text", "text": note }], "details": details });
    assert_eq!(result(ran.exits(0)), wanted);
    event["details"] = Value::Null;
    ask(&sandbox, &event).allows();
    event["toolName"] = json!("my-custom-tool");
    event["details"] = json!({ "someField": "x" });
    ask(&sandbox, &event).allows();
}

// pi: Context API

#[test]
fn a_program_has_what_pi_gives_its_hooks_in_their_context() {
    let sandbox = pi(&["agent_start/context.sh"]);
    let folder = sandbox.path().canonicalize().unwrap();
    let said = |ran: &Ran| {
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["hooks"][0]["stderr"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_string()
    };
    let arguments = ["run", "agent_start", "--host", "pi", "--format", "json"];
    let context = event("agent_start", &json!({})).to_string();
    let ran = sandbox.hookrun(&arguments, context.as_bytes());
    let stderr = said(&ran);
    for part in [
        "git status: 128, 0 lines",
        "slow-command: killed",
        &format!("Working in: {}", folder.display()),
        "Session: /tmp/s-1.jsonl",
        "choice null, confirmed false, name null",
    ] {
        assert!(stderr.contains(part), "no `{part}` in {ran:?}");
    }
    fs::write(sandbox.at("event"), &context).unwrap();
    let steps = [
        at("2. Option B", ""),
        at("number> ", "2\r"),
        at("This cannot be undone.", "y\r"),
        at("(default value) > ", "Ada\r"),
    ];
    let ran = at_terminal(&sandbox, &arguments, &steps);
    ran.says("Operation complete")
        .says("error: Something went wrong");
    let stderr = said(&ran);
    assert!(
        stderr.contains("choice Option B, confirmed true, name Ada"),
        "{stderr}"
    );
}

// pi: the host's side

// openclaw

#[test]
fn every_message_that_was_sent_is_noted_and_nobody_waits() {
    let sandbox = with("openclaw", &["hooks.d/message-sent/audit.py"]);
    let log = sandbox.at("audit.jsonl");
    let sandbox = sandbox.variable("OPENCLAW_AUDIT_LOG", log.to_str().unwrap());
    let context = json!({ "sessionKey": "k", "channel": "telegram", "direction": "sent" });
    let arguments = ["run", "message-sent", "--host", "openclaw"];
    sandbox
        .hookrun(&arguments, context.to_string().as_bytes())
        .allows();
    let mut entry: Value = serde_json::from_str(&wait_for_text(&sandbox, "audit.jsonl")).unwrap();
    assert!(
        entry["timestamp"].as_u64().unwrap() > 1_700_000_000_000,
        "{entry}"
    );
    entry.as_object_mut().unwrap().remove("timestamp");
    assert_eq!(entry, context);
    // From a native host it learns the direction too.
    fs::remove_file(&log).unwrap();
    let context = json!({ "sessionId": "s", "channel": "web" }).to_string();
    sandbox
        .hookrun(&["run", "message.sent"], context.as_bytes())
        .allows();
    let entry: Value = serde_json::from_str(&wait_for_text(&sandbox, "audit.jsonl")).unwrap();
    assert_eq!(
        (&entry["sessionKey"], &entry["direction"], &entry["channel"]),
        (&json!("s"), &json!("sent"), &json!("web"))
    );
}

#[test]
fn a_mapping_in_a_configuration_runs_its_handler_for_each_of_its_events() {
    let manifest = fs::read_to_string(fixtures("openclaw").join("hookrun.toml")).unwrap();
    let sandbox = with("openclaw", &["handlers/session-log.sh"]).file("hookrun.toml", &manifest);
    let log = sandbox.at("log");
    let sandbox = sandbox.variable("OPENCLAW_SESSION_LOG", log.to_str().unwrap());
    for event in ["session-start", "session_end"] {
        let arguments = ["run", event, "--host", "openclaw"];
        sandbox
            .hookrun(&arguments, br#"{"sessionKey":"k"}"#)
            .allows();
        wait_for_text(&sandbox, "log");
    }
    wait_until("both lines", || sandbox.read("log").lines().count() == 2);
    let log = sandbox.read("log");
    assert!(
        log.contains("session-start k\n") && log.contains("session-end k\n"),
        "{log}"
    );
}
