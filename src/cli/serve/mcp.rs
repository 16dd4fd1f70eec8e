//! `serve --mcp`: an MCP server (specification of 2025-11-25), for hosts whose hooks call an MCP
//! tool. The tools are `decide` and one for each event with a hook; they return what a command hook
//! would print.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::engine::event::{Context, catalog};
use crate::hosts::native;

use crate::cli::schema::context_properties;
use crate::cli::serve::lines::{LineDoor, LineProtocol, RpcError, RpcMessage, params};
use crate::cli::serve::question::{ClientPlace, ClientQuestion};

/// Protocol versions with these messages, newest first.
const VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The tool for every event, named in its arguments.
const DECIDE: &str = "decide";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams {
    #[serde(default)]
    protocol_version: String,
}

#[derive(Debug, Deserialize)]
struct CallParams<'l> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'l RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams<'l> {
    #[serde(borrow)]
    request_id: &'l RawValue,
}

#[derive(Debug)]
pub(crate) struct McpProtocol;

impl LineProtocol for McpProtocol {
    fn take(
        &self,
        door: &LineDoor,
        method: &str,
        message: &RpcMessage<'_>,
    ) -> Result<(), RpcError> {
        let result = match method {
            "initialize" => initialized(&params::<InitializeParams>(message.params)?),
            "ping" => json!({}),
            "tools/list" => json!({ "tools": tools(&door.decider.bound_events()) }),
            "tools/call" => return call(door, message),
            "notifications/cancelled" => {
                door.cancel(params::<CancelledParams<'_>>(message.params)?.request_id);
                return Ok(());
            }
            method if method.starts_with("notifications/") => return Ok(()),
            unknown => return Err(RpcError::unknown(unknown)),
        };
        door.peer.answer(message.id, Ok(result));
        Ok(())
    }
}

fn initialized(params: &InitializeParams) -> Value {
    let known = VERSIONS
        .iter()
        .find(|version| **version == params.protocol_version);
    json!({
        "protocolVersion": known.unwrap_or(&VERSIONS[0]),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "hookrun", "version": env!("CARGO_PKG_VERSION") },
        "instructions": "These tools are called by the hooks of the host, not by the model.",
    })
}

fn tools(events: &[String]) -> Vec<Value> {
    let about = "Decides the event in the arguments, in the format that a command hook reads";
    let mut tools = vec![tool(DECIDE, about, &Map::new())];
    for event in events {
        let mut about = format!("Decides `{event}`");
        let mut keys = Map::new();
        if let Some(spec) = catalog::find(event) {
            about.push_str(&format!(": {}", spec.summary));
            keys = context_properties(spec);
        }
        tools.push(tool(&event.replace('.', "_"), &about, &keys));
    }
    tools
}

fn tool(name: &str, about: &str, keys: &Map<String, Value>) -> Value {
    let schema = json!({ "type": "object", "properties": keys, "additionalProperties": true });
    json!({ "name": name, "description": about, "inputSchema": schema })
}

/// The event of a tool; `None` for [`DECIDE`].
fn event_of(tool: &str, door: &LineDoor) -> Result<Option<String>, RpcError> {
    if tool == DECIDE {
        return Ok(None);
    }
    let mut bound = door.decider.bound_events().into_iter();
    if let Some(event) = bound.find(|event| event.replace('.', "_") == tool) {
        return Ok(Some(event));
    }
    match catalog::find(&tool.replace('_', ".")) {
        Some(spec) => Ok(Some(spec.name.to_string())),
        None => Err(RpcError::invalid(format!("unknown tool `{tool}`"))),
    }
}

fn call(door: &LineDoor, message: &RpcMessage<'_>) -> Result<(), RpcError> {
    let CallParams { name, arguments } = params(message.params)?;
    let text = arguments.map_or("{}", RawValue::get);
    let context = Context::parse(text).map_err(|error| RpcError::invalid(error.to_string()))?;
    let event = event_of(&name, door)?;
    let place = ClientPlace::of_context(&context, None).map_err(RpcError::invalid)?;
    let question = ClientQuestion {
        host: event.as_ref().map(|_| native::NAME.to_string()),
        event,
        context,
        place,
        budget: None,
    };
    door.decide(question, message.id, |answer| {
        json!({ "content": [{ "type": "text", "text": answer.document() }], "isError": false })
    });
    Ok(())
}
