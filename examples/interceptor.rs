//! Code around tool calls: `cargo run --example interceptor`.
//!
//! Interceptors change what a tool does without a word to the model, so they come first, and the
//! hooks decide about the call that will run.

use std::io::{self, Write};

use hookrun::interceptor::{
    After, CallChange, InterceptedCall, Interceptors, ToolCall, ToolResult,
};
use hookrun::{Environment, Event, Hook, Registry, Runner, Verdict};
use serde_json::{Value, json};

fn interceptors() -> Interceptors {
    let mut all = Interceptors::default();
    // Every path is one of this tenant's.
    all.before("tenant", |call| {
        let path = call.input["path"].as_str();
        match (call.tool.as_str(), path) {
            ("read", Some(path)) => {
                CallChange::Rewrite(json!({ "path": format!("/tenants/acme/{path}") }))
            }
            ("read", None) => CallChange::Veto("no path".to_string()),
            _ => CallChange::Pass,
        }
    });
    all.before("no-network", |call| match call.tool.as_str() {
        "fetch" => CallChange::Veto("there is no network here".to_string()),
        _ => CallChange::Pass,
    });
    // No tool gives a password away.
    all.after("no-secrets", |_, result| match result.value.as_str() {
        Some(text) if text.contains("hunter2") => {
            let value = Value::from(text.replace("hunter2", "[removed]"));
            After::Rewrite(ToolResult {
                value,
                ..result.clone()
            })
        }
        _ => After::Pass,
    });
    all
}

/// Runs one tool as a host does: interceptors, hooks, the tool, interceptors.
fn call(
    (interceptors, runner): (&Interceptors, &Runner),
    tool: &str,
    input: Value,
    out: &mut dyn Write,
) -> Result<(), Box<dyn std::error::Error>> {
    write!(out, "{tool} {input}: ")?;
    let call = ToolCall {
        tool: tool.to_string(),
        input,
    };
    let call = match interceptors.run_before(call) {
        InterceptedCall::Runs { call, .. } => call,
        InterceptedCall::Vetoed { by, reason } => {
            writeln!(out, "vetoed by {by}: {reason}")?;
            return Ok(());
        }
    };
    let run = runner.handle(&Event::tool_pre(&call.tool, call.input.clone())?);
    if let Err(blocked) = run.permit() {
        writeln!(out, "blocked: {}", blocked.reason)?;
        return Ok(());
    }
    let path = call.input["path"].as_str().unwrap_or_default();
    let value = Value::from(format!("{path} says hunter2"));
    let finished = interceptors.run_after(
        &call,
        ToolResult {
            value,
            is_error: false,
        },
    );
    writeln!(out, "{}", finished.result.value)?;
    Ok(())
}

/// Four calls.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    let guard = Hook::function("inside", "tool.pre", |event| {
        let paths = event
            .action()
            .map(|action| action.paths.as_slice())
            .unwrap_or_default();
        match paths.iter().find(|path| path.contains("..")) {
            Some(path) => Verdict::block(format!("{path} leads outside")),
            None => Verdict::allow(),
        }
    });
    let runner = Runner::embedded(Registry::new([guard])?, &Environment::capture());
    let host = (&interceptors(), &runner);
    call(host, "read", json!({ "path": "notes.txt" }), out)?;
    call(host, "read", json!({ "path": "../else/notes.txt" }), out)?;
    call(host, "read", json!({}), out)?;
    call(host, "fetch", json!({ "url": "https://example.org" }), out)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(&mut io::stdout())
}
