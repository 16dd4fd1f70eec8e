//! How much hookrun holds of a large event: never more than three times the event.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What hookrun holds without any event to speak of may vary by this.
const SLACK_BYTES: usize = 3 << 20;

/// The most that hookrun has held, in bytes, when its hook has read its stdin.
fn peak(sandbox: &Sandbox, host: &str, context: &str) -> usize {
    let event = if host == "native" {
        "tool.pre"
    } else {
        "PreToolUse"
    };
    let arguments = ["run", event, "--host", host];
    let arguments = if host == "native" {
        &arguments[..2]
    } else {
        &arguments
    };
    sandbox.hookrun(arguments, context.as_bytes()).allows();
    let read: usize = sandbox.read("read").trim().parse().unwrap();
    // White space is left out.
    assert!(
        read >= context.len() / 2,
        "the hook has read {read} of {}",
        context.len()
    );
    let kib = sandbox
        .read("peak")
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap();
    fs::remove_file(sandbox.at("peak")).unwrap();
    kib * 1024
}

/// The event in the words of a host.
fn told(host: &str, tool: &str, input: &str) -> String {
    let (name, key) = match host {
        "native" => ("toolName", "toolInput"),
        _ => ("tool_name", "tool_input"),
    };
    let head = if host == "native" {
        ""
    } else {
        r#""hook_event_name":"PreToolUse","#
    };
    format!(r#"{{{head}"{name}":"{tool}","{key}":{input}}}"#)
}

#[test]
fn hookrun_holds_at_most_three_times_the_event() {
    let hook = "cat | wc -c > read; grep VmHWM /proc/$PPID/status > peak";
    // What is given back counts as given back: by itself glibc keeps blocks of up to 32 MiB.
    let sandbox = Sandbox::new()
        .variable("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=131072")
        .hook("10-reads", &format!("# hookrun: reads=stdin\n{hook}"))
        .hook("20-path", "# hookrun: tool=write|mcp__* path=.env\nexit 1")
        .hook("30-command", "# hookrun: command=^sudo\nexit 1")
        .hook("40-tool", "# hookrun: tool=webfetch\nexit 1");
    let flat = "x".repeat(6 << 20);
    let lines = "echo x\n".repeat(768 << 10);
    let small = r#"{"a":{"b":{"c":[1,{"d":"e"}]}}}"#;
    let many = vec![small; (2 << 20) / small.len()].join(",");
    let inputs: [(&str, Value); 4] = [
        ("Bash", json!({ "command": flat })),
        ("Bash", json!({ "command": lines })),
        ("Write", json!({ "file_path": "a", "content": flat })),
        ("Write", json!({ "file_path": "a", "content": lines })),
    ];
    let mut inputs: Vec<(&str, String)> = inputs
        .iter()
        .map(|(tool, input)| (*tool, input.to_string()))
        .collect();
    inputs.push(("mcp__x__y", format!(r#"{{"list":[{many}]}}"#)));
    inputs.push((
        "mcp__x__y",
        format!(r#"{{"list":[ {} ]}}"#, many.replace(',', " ,\n  ")),
    ));
    for host in ["native", "claude"] {
        let base = peak(&sandbox, host, &told(host, "Bash", r#"{"command":"ls"}"#));
        for (tool, input) in &inputs {
            let event = told(host, tool, input);
            let held = peak(&sandbox, host, &event) - base;
            let most = 3 * event.len() + SLACK_BYTES;
            assert!(
                held <= most,
                "{host} {tool}: {held} of an event of {}",
                event.len()
            );
        }
    }
}
