//! `--mcp`: a server whose tools hosts' hooks call.

use serde_json::{Value, json};

use super::{CASES, Client, by_run, cases};
use crate::sandbox::Sandbox;

fn start(sandbox: &Sandbox, more: &[&str]) -> Client {
    let arguments: Vec<&str> = ["--mcp"].iter().chain(more).copied().collect();
    let mut client = Client::start(sandbox, &arguments);
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } });
    let answer = client.call("initialize", hello);
    assert_eq!(
        answer["result"]["protocolVersion"], "2025-06-18",
        "{answer}"
    );
    client.notify("notifications/initialized", json!({}));
    client
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_tool_says_what_a_command_hook_prints() {
    let sandbox = cases();
    let mut client = start(&sandbox, &[]);
    for case in CASES.iter().filter(|case| case.host == "native") {
        let tool = case.event.replace('.', "_");
        let context: Value = serde_json::from_str(case.context).unwrap();
        let answer = client.call("tools/call", json!({ "name": tool, "arguments": context }));
        if case.event == "tool.prae" {
            assert_eq!(answer["error"]["code"], -32602);
            continue;
        }
        let run = by_run(&sandbox, case);
        // A block of which `run` says only the status and stderr has a document here.
        if run["status"] == 0 || run["stdout"] != "" {
            assert_eq!(text(&answer), run["stdout"], "{}", case.name);
        }
        let is_blocked = text(&answer).contains("\"continue\":false");
        assert_eq!(is_blocked, run["status"] != 0, "{}: {answer}", case.name);
    }
    assert!(client.end().success());
}

#[test]
fn a_block_in_the_words_of_a_host_is_a_document_that_it_reads() {
    let sandbox = cases();
    let mut client = start(&sandbox, &["--host", "claude"]);
    let payload = |event: &str| {
        json!({ "hook_event_name": event, "session_id": "s", "tool_name": "Bash",
            "tool_input": { "command": "rm x" }, "prompt": "rm x" })
    };
    let reason = "no rm, \"never\"";
    let before = client.call(
        "tools/call",
        json!({ "name": "decide", "arguments": payload("PreToolUse") }),
    );
    let said: Value = serde_json::from_str(text(&before)).unwrap();
    let expected = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": reason } });
    assert_eq!(said, expected);
    let sandbox = Sandbox::new().hook_for("prompt.submit", "no.sh", "echo no >&2; exit 1");
    let mut client = start(&sandbox, &["--host", "claude"]);
    let prompt = client.call(
        "tools/call",
        json!({ "name": "decide", "arguments": payload("UserPromptSubmit") }),
    );
    let said: Value = serde_json::from_str(text(&prompt)).unwrap();
    assert_eq!(
        (&said["decision"], &said["reason"]),
        (&json!("block"), &json!("no")),
        "{said}"
    );
}

#[test]
fn its_tools_are_those_of_the_bound_events() {
    let sandbox = cases();
    let mut client = start(&sandbox, &[]);
    let answer = client.call("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["decide", "prompt_submit", "session_start", "tool_pre"]
    );
    assert!(
        tools
            .iter()
            .all(|tool| tool["inputSchema"]["type"] == "object"),
        "{answer}"
    );
    let keys = &tools[3]["inputSchema"]["properties"];
    assert_eq!(keys["toolName"]["type"], "string", "{answer}");
    assert_eq!(client.call("ping", json!({}))["result"], json!({}));
    assert_eq!(
        client.call("resources/list", json!({}))["error"]["code"],
        -32601
    );
    let wrong = client.call("tools/call", json!({ "name": "decide", "arguments": [] }));
    assert_eq!(wrong["error"]["code"], -32602);
    assert!(client.end().success());
}

#[test]
fn an_unknown_version_is_answered_with_the_newest() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--mcp"]);
    let answer = client.call("initialize", json!({ "protocolVersion": "1999-01-01" }));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert!(client.end().success());
}
