//! A host that asks by HTTP and by a command: one decision, whichever comes first, and none is lost
//! where the server is away.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use super::super::KEPT;
use super::HttpServer;
use crate::sandbox::{Ran, Sandbox};
use crate::serve::Client;

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
    fs::read_to_string(sandbox.at("asked"))
        .unwrap_or_default()
        .lines()
        .count()
}

#[track_caller]
fn refuses(ran: &Ran) {
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (2, "", "no\n")
    );
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
    assert!(
        log(&sandbox).contains(r#""door":"http""#),
        "{}",
        log(&sandbox)
    );
    let doctor = || sandbox.hookrun(&["doctor", "claude"], b"").stdout;
    assert!(doctor().contains("just now, over HTTP"), "{}", doctor());
    backstop(&sandbox, &here("1"));
    assert!(
        log(&sandbox).contains(r#""door":"backstop""#),
        "{}",
        log(&sandbox)
    );
    assert!(doctor().contains("just now, over HTTP"), "{}", doctor());
    backstop(&sandbox, &here("2"));
    assert!(doctor().contains("by its command"), "{}", doctor());
}

#[test]
fn install_writes_both_ways_and_uninstall_removes_both() {
    let before = "{\n  \"model\": \"opus\" \n}\n";
    let sandbox = Sandbox::new()
        .hook("fine", "true")
        .file(".claude/settings.json", before);
    let install = ["install", "claude", "--http", "http://127.0.0.1:8123/"];
    let ran = sandbox.hookrun(&install, b"");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("HOOKRUN_TOKEN") && ran.stdout.contains("serve.token"),
        "{ran:?}"
    );
    let written = sandbox.read(".claude/settings.json");
    let groups = sandbox.read_json(".claude/settings.json")["hooks"]["PreToolUse"].clone();
    let handlers: Vec<&Value> = (0..2).map(|at| &groups[at]["hooks"][0]).collect();
    assert_eq!(handlers[0]["type"], "http");
    assert_eq!(handlers[0]["url"], "http://127.0.0.1:8123/hooks/claude");
    assert_eq!(
        handlers[0]["headers"]["Authorization"],
        "Bearer $HOOKRUN_TOKEN"
    );
    assert_eq!(handlers[0]["allowedEnvVars"], json!(["HOOKRUN_TOKEN"]));
    let command = handlers[1]["command"].as_str().unwrap();
    assert!(
        command.contains(" run --host claude --if-not-decided"),
        "{command}"
    );
    assert!(
        sandbox
            .hookrun(&install, b"")
            .stdout
            .contains("nothing was changed")
    );
    assert_eq!(sandbox.read(".claude/settings.json"), written);
    // Without --http the command is alone again.
    assert_eq!(sandbox.hookrun(&["install", "claude"], b"").status, 0);
    let alone = sandbox.read(".claude/settings.json");
    assert!(
        !alone.contains("\"http\"") && !alone.contains("--if-not-decided"),
        "{alone}"
    );
    assert_eq!(sandbox.hookrun(&install, b"").status, 0);
    assert_eq!(sandbox.hookrun(&["uninstall", "claude"], b"").status, 0);
    assert_eq!(sandbox.read(".claude/settings.json"), before);
    for address in [
        "http://10.0.0.1:1",
        "http://127.0.0.1:0",
        "http://127.0.0.1",
    ] {
        let ran = sandbox.hookrun(&["install", "claude", "--http", address], b"");
        assert!(
            ran.status == 2 && ran.stderr.contains("127.0.0.1:PORT"),
            "{ran:?}"
        );
    }
    let ran = sandbox.hookrun(&["install", "gemini", "--http", "http://127.0.0.1:1"], b"");
    assert!(
        ran.status == 2 && ran.stderr.contains("only for Claude Code"),
        "{ran:?}"
    );
}

#[test]
fn hosts_that_cannot_ask_a_server_say_why_and_what_to_do() {
    let sandbox = Sandbox::new().hook("fine", "true");
    for (host, why) in [
        ("copilot", "https before a tool"),
        ("codex", "`mcp_tool` was seen to call no tool"),
        ("gemini", "only start a command"),
        ("pi", "starts `hookrun serve` by itself"),
    ] {
        let ran = sandbox.hookrun(&["install", host, "--mcp"], b"");
        ran.exits(2)
            .says("--mcp is only for Claude Code")
            .says(why)
            .says("hookrun install ");
        let ran = sandbox.hookrun(&["install", host, "--http", "http://127.0.0.1:1"], b"");
        ran.exits(2)
            .says("--http is only for Claude Code")
            .says(why);
    }
}

/// What Claude Code 2.1.330 makes of an `input`: it fills in each `${field}` as text.
fn filled(input: &Value, event: &Value) -> Value {
    if let Some(fields) = input.as_object() {
        return fields
            .iter()
            .map(|(key, value)| (key.clone(), filled(value, event)))
            .collect();
    }
    let field = input
        .as_str()
        .unwrap()
        .trim_start_matches("${")
        .trim_end_matches('}');
    match event.get(field) {
        Some(value) => json!(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_string)
        ),
        None => json!(""),
    }
}

#[test]
fn install_writes_a_tool_of_an_mcp_server_that_decides_as_the_command_does() {
    let servers = "{\n  \"mcpServers\": { \"db\": { \"command\": \"db\" } }\n}\n";
    let guard = format!("{COUNTS}; case $(cat) in *'rm x'*) echo no >&2; exit 1 ;; esac");
    let sandbox = Sandbox::new()
        .hook("guard", &guard)
        .hook_for("session.start", "hi", "true");
    let sandbox = sandbox.file(".mcp.json", servers);
    let install = ["install", "claude", "--mcp"];
    let ran = sandbox.hookrun(&install, b"");
    ran.exits(0)
        .prints("has the MCP server `hookrun`")
        .prints("accept the MCP server");
    let server = sandbox.read_json(".mcp.json")["mcpServers"]["hookrun"].clone();
    assert_eq!(
        server["args"],
        json!(["serve", "--mcp", "--host", "claude"])
    );
    let hooks = sandbox.read_json(".claude/settings.json")["hooks"].clone();
    let handlers: Vec<&Value> = (0..2)
        .map(|at| &hooks["PreToolUse"][at]["hooks"][0])
        .collect();
    assert_eq!(
        (&handlers[0]["type"], &handlers[0]["server"]),
        (&json!("mcp_tool"), &json!("hookrun"))
    );
    assert!(
        handlers[1]["command"]
            .as_str()
            .unwrap()
            .contains("--if-not-decided"),
        "{hooks}"
    );
    // It is skipped there, so the command is alone.
    assert_eq!(hooks["SessionStart"].as_array().unwrap().len(), 1);
    assert!(
        !hooks["SessionStart"]
            .to_string()
            .contains("--if-not-decided"),
        "{hooks}"
    );
    assert!(
        sandbox
            .hookrun(&install, b"")
            .stdout
            .contains("nothing was changed")
    );

    let mut client = Client::start(&sandbox, &["--mcp", "--host", "claude"]);
    for (id, command, is_blocked_) in [("1", "rm x", true), ("2", "ls ${HOME} \"q\"", false)] {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": id, "effort": { "level": "low" },
            "cwd": sandbox.path(), "tool_name": "Bash", "tool_input": { "command": command },
        });
        let arguments = filled(&handlers[0]["input"], &event);
        let answer = client.call(
            "tools/call",
            json!({ "name": "decide_fields", "arguments": arguments }),
        );
        let text = answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        assert_eq!(is_blocked(&document), is_blocked_, "{answer}");
        let ran = backstop(&sandbox, &event.to_string());
        assert_eq!(ran.status == 2, is_blocked_, "{ran:?}");
    }
    assert!(client.end().success());
    // Each call was decided once, by the tool.
    assert_eq!(asked(&sandbox), 2);
    let doctor = || sandbox.hookrun(&["doctor", "claude"], b"").stdout;
    assert!(doctor().contains("by an MCP tool"), "{}", doctor());

    // Without the server the command decides, and `doctor` says so.
    sandbox
        .hookrun(&["uninstall", "claude"], b"")
        .exits(0)
        .prints("has lost the MCP server");
    assert_eq!(sandbox.read(".mcp.json"), servers);
    sandbox.has_no_file(".claude/settings.json");
    sandbox.hookrun(&install, b"").exits(0);
    fs::write(sandbox.at(".mcp.json"), servers).unwrap();
    assert!(
        doctor().contains("which is not in .mcp.json"),
        "{}",
        doctor()
    );
    sandbox.hookrun(&["install", "claude"], b"").exits(0);
    let alone = sandbox.read(".claude/settings.json");
    assert!(
        !alone.contains("mcp_tool") && !alone.contains("--if-not-decided"),
        "{alone}"
    );
}
