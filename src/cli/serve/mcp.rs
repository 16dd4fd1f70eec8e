//! `serve --mcp`: an MCP server (specification of 2025-11-25), for hosts whose hooks call an MCP
//! tool. Its tool `decide` returns what a command hook would print.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::complaint::Complaint;
use crate::engine::event::Context;

use crate::cli::serve::lines::{LineDoor, LineProtocol, RpcError, RpcMessage, params};
use crate::cli::serve::question::{ClientAnswer, ClientPlace, ClientQuestion};

/// Protocol versions with these messages, newest first.
const VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The tool, for every event; its arguments name the event.
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
            "tools/list" => json!({ "tools": [tool()] }),
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
        "instructions": "Called by hooks of the host, not by the model.",
    })
}

fn tool() -> Value {
    let about = "Decides the event in the arguments, in the format of a command hook's stdin";
    let schema = json!({ "type": "object", "additionalProperties": true });
    json!({ "name": DECIDE, "description": about, "inputSchema": schema })
}

fn call(door: &LineDoor, message: &RpcMessage<'_>) -> Result<(), RpcError> {
    let CallParams { name, arguments } = params(message.params)?;
    if name != DECIDE {
        return Err(RpcError::invalid(format!("unknown tool `{name}`")));
    }
    let text = arguments.map_or("{}", RawValue::get);
    let context = Context::parse(text)
        .map_err(|error| RpcError::invalid(Complaint::of(error).to_string()))?;
    let place = ClientPlace::of_context(&context, None).map_err(RpcError::invalid)?;
    let question = ClientQuestion {
        host: None,
        event: None,
        context,
        place,
        budget: None,
    };
    door.decide(question, message.id, |answer: &ClientAnswer| {
        Ok(json!({ "content": [{ "type": "text", "text": answer.document() }], "isError": false }))
    });
    Ok(())
}
