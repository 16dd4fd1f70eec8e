//! A host that asks by HTTP and by a command: one decision, whichever comes first, and none is lost
//! where the server is away.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use super::super::KEPT;
use super::HttpServer;
use crate::sandbox::{Ran, Sandbox};

const COUNTS: &str = "echo asked >>asked";
const PATH: &str = "/hooks/claude";
const BACKSTOP: &[&str] = &["run", "--host", "claude", "--if-not-decided"];

fn call(id: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": id,
        "tool_name": "Bash", "tool_input": { "command": "ls" },
    })
    .to_string()
}

fn prompt(text: &str) -> String {
    json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": text }).to_string()
}

fn backstop(sandbox: &Sandbox, body: &str) -> Ran {
    // Claude Code gives its commands the session, and asks by HTTP without it.
    let with_session = |command: &mut std::process::Command| {
        command.env("CLAUDE_CODE_SESSION_ID", "s");
    };
    sandbox.hookrun_as(with_session, BACKSTOP, body.as_bytes())
}

fn asked(sandbox: &Sandbox) -> usize {
    fs::read_to_string(sandbox.at("asked")).unwrap_or_default().lines().count()
}

#[track_caller]
fn refuses(ran: &Ran) {
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (2, "", "no\n"));
}

fn is_blocked(document: &Value) -> bool {
    let own = &document["hookSpecificOutput"];
    own["permissionDecision"] == "deny" && own["permissionDecisionReason"] == "no"
}

#[test]
fn a_call_is_decided_once_whichever_way_comes_first() {
    let sandbox = Sandbox::new().hook("deny", &format!("{COUNTS}; echo no >&2; exit 1"));
    let server = HttpServer::start(&sandbox);
    assert!(is_blocked(&server.post(PATH, &call("1")).json()));
    refuses(&backstop(&sandbox, &call("1")));
    assert_eq!(asked(&sandbox), 1);
    refuses(&backstop(&sandbox, &call("2")));
    assert!(is_blocked(&server.post(PATH, &call("2")).json()));
    assert_eq!(asked(&sandbox), 2);
    for number in 3..8 {
        let call = call(&number.to_string());
        std::thread::scope(|both| {
            both.spawn(|| refuses(&backstop(&sandbox, &call)));
            assert!(is_blocked(&server.post(PATH, &call).json()));
        });
        assert_eq!(asked(&sandbox), number);
    }
    // A command that is no backstop decides by itself.
    server.post(PATH, &call("9"));
    let plain = |command: &mut std::process::Command| {
        command.env("CLAUDE_CODE_SESSION_ID", "s");
    };
    let ran = sandbox.hookrun_as(plain, &BACKSTOP[..3], call("9").as_bytes());
    refuses(&ran);
    assert_eq!(asked(&sandbox), 9);
}

#[test]
fn an_event_without_a_call_is_decided_once_too_and_its_texts_come_once() {
    let sandbox =
        Sandbox::new().hook_for("prompt.submit", "teach", &format!("{COUNTS}; echo mind"));
    let server = HttpServer::start(&sandbox);
    let told = server.post(PATH, &prompt("one")).json();
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], "mind");
    let ran = backstop(&sandbox, &prompt("one"));
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert_eq!(asked(&sandbox), 1);
    let ran = backstop(&sandbox, &prompt("two"));
    assert!(ran.stdout.contains("mind"), "{ran:?}");
    assert_eq!(server.post(PATH, &prompt("two")).body, "");
    assert_eq!(asked(&sandbox), 2);
    // The same words again are a new question.
    server.post(PATH, &prompt("two"));
    assert_eq!(asked(&sandbox), 3);
}

#[test]
fn without_the_server_the_command_decides() {
    let sandbox = Sandbox::new().hook("deny", &format!("{COUNTS}; echo no >&2; exit 1"));
    refuses(&backstop(&sandbox, &call("1")));
    let slow = format!("{COUNTS}; test -e go || exec sleep 600; echo no >&2; exit 1");
    let text = format!("#!/bin/sh\n# hookrun: timeout=10m\n{slow}\n");
    let sandbox = sandbox.script("hooks.d/tool.pre/deny", &text);
    let mut server = HttpServer::start(&sandbox);
    let mut stream = server.tcp();
    let (head, body) = (server.head("POST", PATH), call("2"));
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    while asked(&sandbox) < 2 {
        std::thread::yield_now();
    }
    // The keeper starts once a hook has run for a while; without it the hook would stay.
    std::thread::sleep(KEPT);
    // It dies in the middle of a decision, for which the command waits.
    std::thread::scope(|both| {
        let waiting = both.spawn(|| backstop(&sandbox, &call("2")));
        fs::write(sandbox.at("go"), "").unwrap();
        server.kill();
        refuses(&waiting.join().unwrap());
    });
    assert_eq!(asked(&sandbox), 3);
}

#[test]
fn a_call_whose_client_hangs_up_is_decided_by_the_command() {
    let slow = format!("{COUNTS}; test -e go || exec sleep 600; echo no >&2; exit 1");
    let text = format!("#!/bin/sh\n# hookrun: timeout=10m\n{slow}\n");
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/deny", &text);
    let server = HttpServer::start(&sandbox);
    let mut stream = server.tcp();
    let (head, body) = (server.head("POST", PATH), call("1"));
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    while asked(&sandbox) < 1 {
        std::thread::yield_now();
    }
    fs::write(sandbox.at("go"), "").unwrap();
    drop(stream);
    refuses(&backstop(&sandbox, &call("1")));
    assert_eq!(asked(&sandbox), 2);
}

#[test]
fn the_log_and_doctor_know_the_door() {
    let sandbox = Sandbox::new().hook("fine", "true");
    let log = |sandbox: &Sandbox| sandbox.read("home/.local/state/hookrun/log/decisions.jsonl");
    let ran = sandbox.hookrun(&["install", "claude", "--http", "http://127.0.0.1:8"], b"");
    assert_eq!(ran.status, 0, "{ran:?}");
    let server = HttpServer::start(&sandbox);
    let here = |id: &str| {
        let mut call: Value = serde_json::from_str(&call(id)).unwrap();
        call["cwd"] = sandbox.path().display().to_string().into();
        call.to_string()
    };
    server.post(PATH, &here("1"));
    assert!(log(&sandbox).contains(r#""door":"http""#), "{}", log(&sandbox));
    let doctor = || sandbox.hookrun(&["doctor", "claude"], b"").stdout;
    assert!(doctor().contains("just now, over HTTP"), "{}", doctor());
    backstop(&sandbox, &here("1"));
    assert!(log(&sandbox).contains(r#""door":"backstop""#), "{}", log(&sandbox));
    assert!(doctor().contains("just now, over HTTP"), "{}", doctor());
    backstop(&sandbox, &here("2"));
    assert!(doctor().contains("by its command"), "{}", doctor());
}

#[test]
fn install_writes_both_ways_and_uninstall_removes_both() {
    let before = "{\n  \"model\": \"opus\" \n}\n";
    let sandbox = Sandbox::new().hook("fine", "true").file(".claude/settings.json", before);
    let install = ["install", "claude", "--http", "http://127.0.0.1:8123/"];
    let ran = sandbox.hookrun(&install, b"");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("HOOKRUN_TOKEN") && ran.stdout.contains("serve.token"), "{ran:?}");
    let written = sandbox.read(".claude/settings.json");
    let groups = sandbox.read_json(".claude/settings.json")["hooks"]["PreToolUse"].clone();
    let handlers: Vec<&Value> = (0..2).map(|at| &groups[at]["hooks"][0]).collect();
    assert_eq!(handlers[0]["type"], "http");
    assert_eq!(handlers[0]["url"], "http://127.0.0.1:8123/hooks/claude");
    assert_eq!(handlers[0]["headers"]["Authorization"], "Bearer $HOOKRUN_TOKEN");
    assert_eq!(handlers[0]["allowedEnvVars"], json!(["HOOKRUN_TOKEN"]));
    let command = handlers[1]["command"].as_str().unwrap();
    assert!(command.contains(" run --host claude --if-not-decided"), "{command}");
    assert!(sandbox.hookrun(&install, b"").stdout.contains("nothing was changed"));
    assert_eq!(sandbox.read(".claude/settings.json"), written);
    // Without --http the command is alone again.
    assert_eq!(sandbox.hookrun(&["install", "claude"], b"").status, 0);
    let alone = sandbox.read(".claude/settings.json");
    assert!(!alone.contains("\"http\"") && !alone.contains("--if-not-decided"), "{alone}");
    assert_eq!(sandbox.hookrun(&install, b"").status, 0);
    assert_eq!(sandbox.hookrun(&["uninstall", "claude"], b"").status, 0);
    assert_eq!(sandbox.read(".claude/settings.json"), before);
    let ran = sandbox.hookrun(&["install", "claude", "--http", "http://10.0.0.1:1"], b"");
    assert!(ran.status == 2 && ran.stderr.contains("127.0.0.1:PORT"), "{ran:?}");
    let ran = sandbox.hookrun(&["install", "gemini", "--http", "http://127.0.0.1:1"], b"");
    assert!(ran.status == 2 && ran.stderr.contains("only for Claude Code"), "{ran:?}");
}
