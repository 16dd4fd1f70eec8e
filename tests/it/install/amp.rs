//! The plugin for Amp, run by node as its types say that Amp runs it.

use super::plugin::{NO_DECISION, drive, with_other};
use crate::sandbox::{Sandbox, with_program};

const PLUGIN: &str = ".amp/plugins/hookrun.ts";

/// Loads the plugin, sends it one event, and prints what it says.
const DRIVER: &str = r#"
import { copyFileSync } from "node:fs";
const [file, name, event] = process.argv.slice(2);
copyFileSync(file, "plugin.mjs");
const { default: plugin } = await import("./plugin.mjs");
const hooks = {};
plugin({ on: (name, hook) => (hooks[name] = hook) });
const said = hooks[name] && (await hooks[name]({ thread: { id: "T-1" }, ...JSON.parse(event) }));
console.log(JSON.stringify(said ?? null));
process.exit();
"#;

const CALL: &str = r#"{"tool": "Bash", "toolUseID": "toolu_1", "input": {"cmd": "ls"}}"#;

fn installed(event: &str, script: &str) -> Sandbox {
    let script = format!("#!/bin/sh\n# hookrun: rewrite\n{script}\n");
    let sandbox = Sandbox::new().script(&format!("hooks.d/{event}/a"), &script);
    sandbox
        .hookrun(&["install", "amp", "--all-events"], b"")
        .exits(0);
    sandbox
}

fn call(sandbox: &Sandbox, name: &str, event: &str) -> Option<String> {
    drive(sandbox, DRIVER, &[PLUGIN, name, event])
}

#[test]
fn a_tool_is_allowed_blocked_or_changed() {
    for (script, said) in [
        ("exit 0", r#"{"action":"allow"}"#),
        (
            "echo not that >&2; exit 1",
            r#"{"action":"reject-and-continue","message":"not that"}"#,
        ),
        (
            r#"echo '{"update": {"toolInput": {"cmd": "pwd"}}}'"#,
            r#"{"action":"modify","input":{"cmd":"pwd"}}"#,
        ),
        (
            "case $(cat) in *'\"toolName\":\"Bash\"'*'\"sessionId\":\"T-1\"'* | *'\"sessionId\":\"T-1\"'*'\"toolName\":\"Bash\"'*) exit 0 ;; esac; exit 1",
            r#"{"action":"allow"}"#,
        ),
    ] {
        let Some(found) = call(&installed("tool.pre", script), "tool.call", CALL) else {
            return;
        };
        assert_eq!(found, said, "{script}");
    }
}

#[test]
fn a_result_is_replaced_and_a_prompt_gets_context() {
    let hook = r#"echo '{"update": {"result": "redacted"}}'"#;
    let event =
        r#"{"tool": "Bash", "toolUseID": "t", "input": {}, "status": "done", "output": "secret"}"#;
    let Some(found) = call(&installed("tool.post", hook), "tool.result", event) else {
        return;
    };
    assert_eq!(found, r#"{"status":"done","output":"redacted"}"#);
    let sandbox = installed(
        "agent.start",
        r#"echo '{"additionalContext": "mind the gap"}'"#,
    );
    let found = call(&sandbox, "agent.start", r#"{"message": "hello"}"#).unwrap();
    assert_eq!(
        found,
        r#"{"message":{"content":"mind the gap","display":true}}"#
    );
}

#[test]
fn without_a_decision_a_tool_is_blocked() {
    for (body, why) in NO_DECISION {
        let sandbox = with_other(installed("tool.pre", "exit 0"), PLUGIN, body);
        let Some(found) = call(&sandbox, "tool.call", CALL) else {
            return;
        };
        assert!(
            found.contains("reject-and-continue") && found.contains(why),
            "{body}: {found}"
        );
    }
    let sandbox = installed("tool.pre", "exit 0");
    let away = with_program(&sandbox.read(PLUGIN), "/nowhere/hookrun");
    let found = call(&sandbox.file(PLUGIN, &away), "tool.call", CALL).unwrap();
    assert!(found.contains("reject-and-continue"), "{found}");
}
