//! The plugin for openclaw, run by node with a host that only pretends, and whether openclaw would
//! load it.

use serde_json::{Value, json};

use super::plugin::drive;
use crate::sandbox::Sandbox;
use crate::ui::with_hookrun;

const FILE: &str = ".openclaw/hookrun.js";

/// Registers the plugin, sends it events, and prints the results and what was injected.
const DRIVER: &str = r#"
import { pathToFileURL } from "node:url";
const [file, ...events] = process.argv.slice(2);
const { default: plugin } = await import(pathToFileURL(file));
const handlers = {};
const injected = [];
plugin.register({
  config: {},
  on: (name, handle, { timeoutMs } = {}) => (handlers[name] = handle),
  runtime: { agent: { resolveAgentWorkspaceDir: () => process.cwd() } },
  session: { workflow: { enqueueNextTurnInjection: (one) => void injected.push(one) } },
});
const ctx = { agentId: "a", sessionKey: "k" };
const results = [];
for (const text of events) {
  const { on, wait = 0, ...event } = JSON.parse(text);
  results.push((await handlers[on](event, ctx)) ?? null);
  while (injected.length < wait) await new Promise((done) => setTimeout(done, 5));
}
handlers.gateway_stop();
console.log(JSON.stringify({ results, injected }));
"#;

#[test]
fn a_decision_is_in_the_words_of_each_event() {
    let refuse = "grep -q bad && { echo no >&2; exit 1; }; true";
    let rewrite = |field: &str, value: &str| {
        format!("# hookrun: rewrite\n{refuse}\necho '{{\"update\": {{\"{field}\": {value}}}}}'")
    };
    let sandbox = Sandbox::new()
        .hook("guard", &rewrite("toolInput", r#"{"command": "ls"}"#))
        .hook_for("prompt.submit", "censor", refuse)
        .hook_for(
            "agent.start",
            "tell",
            r#"echo '{"additionalContext": "be brief"}'"#,
        )
        .hook_for("agent.stop", "more", refuse)
        .hook_for("message.out", "mend", &rewrite("content", "\"***\""))
        .hook_for(
            "session.start",
            "send",
            &with_hookrun("hookrun hook send hello"),
        );
    sandbox
        .hookrun(&["install", "openclaw", "--all-events"], b"")
        .exits(0);
    let patient = sandbox
        .read(FILE)
        .replace("START_MS = 5;", "START_MS = 60000;");
    let sandbox = sandbox.file(FILE, &patient);
    let tool = |command: &str| json!({ "on": "before_tool_call", "toolName": "exec", "params": { "command": command } });
    let stop = |text: &str| json!({ "on": "before_agent_finalize", "lastAssistantMessage": text });
    let events = [
        (
            json!({ "on": "session_start", "sessionId": "s", "wait": 1 }),
            Value::Null,
        ),
        (tool("bad"), json!({ "block": true, "blockReason": "no" })),
        (tool("good"), json!({ "params": { "command": "ls" } })),
        (
            json!({ "on": "before_agent_run", "prompt": "bad" }),
            json!({ "outcome": "block", "reason": "no", "message": "no" }),
        ),
        (
            json!({ "on": "before_agent_run", "prompt": "good" }),
            Value::Null,
        ),
        (
            json!({ "on": "before_prompt_build", "prompt": "x" }),
            json!({ "appendContext": "be brief" }),
        ),
        (stop("bad"), json!({ "action": "revise", "reason": "no" })),
        (stop("good"), Value::Null),
        (
            json!({ "on": "message_sending", "to": "t", "content": "bad" }),
            json!({ "cancel": true, "cancelReason": "no" }),
        ),
        (
            json!({ "on": "message_sending", "to": "t", "content": "x" }),
            json!({ "content": "***" }),
        ),
    ];
    let sent: Vec<String> = events.iter().map(|(event, _)| event.to_string()).collect();
    let words: Vec<&str> = std::iter::once(FILE)
        .chain(sent.iter().map(String::as_str))
        .collect();
    let Some(said) = drive(&sandbox, DRIVER, &words) else {
        return;
    };
    let said: Value = serde_json::from_str(&said).unwrap();
    for (at, (event, result)) in events.iter().enumerate() {
        assert_eq!(&said["results"][at], result, "{event}: {said}");
    }
    assert_eq!(
        said["injected"],
        json!([{ "sessionKey": "k", "text": "hello" }])
    );
}
