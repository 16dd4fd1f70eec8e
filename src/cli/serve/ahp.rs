//! The Agent Hooks Protocol on stdin and stdout: its messages as events of the catalog, and outcomes
//! as its effects.
//!
//! By its draft of September 2026 (`spec/draft`). There is no permission in it: no effect means no
//! objection. An effect that the harness does not offer to carry out becomes a denial, and where it
//! does not offer that either, an error, for which the harness has a policy of its own.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::engine::outcome::{Cause, Outcome};
use crate::hosts::ahp::{AhpEvent, AhpKey, AhpValue, CODE, EVENTS, VERSION, key};
use crate::hosts::native;

use crate::cli::serve::question::{ClientAnswer, ClientPlace, ClientQuestion, read_distinct};
use crate::cli::serve::rpc::{INVALID_PARAMS, INVALID_REQUEST, RpcError, RpcMessage, params};

/// Numbers of errors that the protocol reserves.
const UNSUPPORTED_VERSION: i64 = -32001;
const UNSUPPORTED_EVENT: i64 = -32002;
const INTERNAL_ERROR: i64 = -32004;

/// What a harness offers to carry out.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct OfferedEffects {
    #[serde(default)]
    effects: Vec<String>,
    #[serde(default)]
    modify: Map<String, Value>,
    #[serde(default)]
    inject: Map<String, Value>,
}

impl OfferedEffects {
    fn has(&self, effect: &str) -> bool {
        self.effects.iter().any(|known| known == effect)
    }

    fn replaces(&self, target: &str) -> bool {
        let replaces = |target: &Value| target.get("replace") == Some(&Value::Bool(true));
        self.has("modify") && self.modify.get(target).is_some_and(replaces)
    }

    /// When it takes additional context, if it does.
    fn delivery(&self) -> Option<&str> {
        let context = self.inject.get("context").filter(|_| self.has("inject"))?;
        let times = context.get("deliverAt")?.as_array()?;
        ["now", "next_turn"]
            .into_iter()
            .find(|time| times.iter().any(|known| known == time))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AhpParams<'l> {
    protocol_version: Option<String>,
    #[serde(borrow)]
    event: Option<&'l RawValue>,
    capabilities: Option<OfferedEffects>,
}

/// What a message asks, and what its sender can carry out.
#[derive(Debug)]
pub(crate) struct AhpQuestion {
    pub(crate) question: ClientQuestion,
    pub(crate) offered: OfferedEffects,
}

/// Reads `hooks/intercept`, or `hooks/observe`, which is only told.
///
/// # Errors
/// When it is of another version, about an event that is not ours, or without what it needs.
pub(crate) fn read(message: &RpcMessage<'_>) -> Result<AhpQuestion, RpcError> {
    let is_asked = message.method.as_deref() == Some("hooks/intercept");
    let given: AhpParams<'_> = params(message.params)?;
    check_version(given.protocol_version.as_deref())?;
    let wrong = |why: &str| RpcError::new(INVALID_PARAMS, why);
    let event = given
        .event
        .ok_or_else(|| wrong("`params.event` is missing"))?;
    let event: Value = read_distinct(event.get().as_bytes())
        .map_err(|error| wrong(&format!("`params.event`: {error}")))?;
    let id = event.get("id").and_then(Value::as_str);
    let id = id.ok_or_else(|| wrong("`params.event.id` must be a string"))?;
    let own: Option<String> = message
        .id
        .and_then(|own| serde_json::from_str(own.get()).ok());
    if is_asked && own.as_deref() != Some(id) {
        let why = "the `id` of the request must be that of its event";
        return Err(RpcError::new(INVALID_REQUEST, why));
    }
    let name = event.get("type").and_then(Value::as_str);
    let name = name.ok_or_else(|| wrong("`params.event.type` must be a string"))?;
    let row = EVENTS
        .iter()
        .find(|row| row.name == name && (row.is_asked || !is_asked));
    let row = row.ok_or_else(|| {
        let how = if is_asked { "asked about" } else { "known" };
        RpcError::new(UNSUPPORTED_EVENT, format!("`{name}` cannot be {how} here"))
    })?;
    let offered = match (is_asked, given.capabilities) {
        (true, None) => return Err(wrong("`params.capabilities.effects` is missing")),
        (_, offered) => offered.unwrap_or_default(),
    };
    let text = Value::Object(context(row, &event)).to_string();
    let context = Context::parse(text).map_err(|error| wrong(&Complaint::of(error).to_string()))?;
    let place = match event.pointer("/session/cwd") {
        None | Some(Value::Null) => ClientPlace::OfServer,
        Some(_) => {
            let project = event
                .pointer("/session/workspaceRoots/0")
                .and_then(Value::as_str);
            // A root may also be the address of something elsewhere.
            let project = project.map(PathBuf::from).filter(|root| root.is_dir());
            ClientPlace::of_context(&context, project).map_err(|problem| wrong(&problem))?
        }
    };
    let canonical = canonical(row, &event).to_string();
    let question = ClientQuestion {
        host: Some(native::NAME.to_string()),
        event: Some(canonical),
        context,
        place,
        budget: None,
    };
    Ok(AhpQuestion { question, offered })
}

fn check_version(version: Option<&str>) -> Result<(), RpcError> {
    if version == Some(VERSION) {
        return Ok(());
    }
    let message = match version {
        Some(version) => format!("version `{version}` of the protocol is not supported"),
        None => "`params.protocolVersion` is missing".to_string(),
    };
    let data = Some(json!({ "supported": [VERSION] }));
    Err(RpcError {
        code: UNSUPPORTED_VERSION,
        message,
        data,
    })
}

/// The event in the catalog; a tool that failed or was denied has others than one that ran.
fn canonical(row: &AhpEvent, event: &Value) -> &'static str {
    match event.get("outcome").and_then(Value::as_str) {
        Some("denied") if row.event == "tool.post" => "permission.denied",
        Some("error") if row.event == "tool.post" => "tool.error",
        Some(_) | None => row.event,
    }
}

fn context(row: &AhpEvent, event: &Value) -> Map<String, Value> {
    let common = [key("/session/id", "sessionId"), key("/session/cwd", "cwd")];
    let mut context = Map::new();
    for AhpKey { from, to, kind } in common.iter().chain(row.keys) {
        let Some(value) = event.pointer(from) else {
            continue;
        };
        let value = match kind {
            AhpValue::AsIs => value.clone(),
            AhpValue::Text => Value::String(text_of(value)),
        };
        context.insert((*to).to_string(), value);
    }
    match canonical(row, event) {
        "tool.error" => {
            let error = event.pointer("/error/message").cloned().unwrap_or_default();
            context.insert("error".to_string(), error);
        }
        "permission.denied" => {
            let reason = event.pointer("/execution/detail").cloned();
            context.insert(
                "reason".to_string(),
                reason.unwrap_or_else(|| "denied".into()),
            );
        }
        _ => {}
    }
    context
}

/// The text in messages or parts, one paragraph each.
fn text_of(content: &Value) -> String {
    let mut texts: Vec<&str> = Vec::new();
    let mut left = vec![content];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => texts.push(text),
            Value::Array(all) => left.extend(all.iter().rev()),
            Value::Object(part) => left.extend(part.get("text").or_else(|| part.get("parts"))),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts.join("\n\n")
}

/// The decision as effects.
///
/// # Errors
/// When it is one that the harness offers no effect for.
pub(crate) fn effects(answer: &ClientAnswer, offered: &OfferedEffects) -> Result<Value, RpcError> {
    let outcome = &answer.outcome;
    let mut effects = Vec::new();
    if let Some(reason) = outcome.reason() {
        effects.push(objection(answer, &reason, offered)?);
    }
    for (field, value) in if outcome.is_allowed() {
        outcome.update()
    } else {
        Map::new()
    } {
        let target = match field.as_str() {
            "toolInput" => "input",
            "compaction" | "prompt" => "instructions",
            other => other,
        };
        if !offered.replaces(target) {
            let why =
                format!("a hook rewrites `{field}`, and the harness takes no new value of it");
            effects = vec![objection(answer, &why, offered)?];
            break;
        }
        effects.push(json!({
            "type": "modify", "target": target, "operation": "replace", "value": value,
        }));
    }
    let context = outcome
        .additional_context()
        .filter(|_| outcome.is_allowed());
    match (context, offered.delivery()) {
        (Some(context), Some(time)) => effects.push(injection(answer, &context, time)),
        (Some(_), None) => tracing::warn!("the harness takes no additional context"),
        (None, _) => {}
    }
    Ok(json!({ "protocolVersion": VERSION, "effects": effects }))
}

fn objection(
    answer: &ClientAnswer,
    reason: &str,
    offered: &OfferedEffects,
) -> Result<Value, RpcError> {
    let reason = if reason.is_empty() {
        "a hook blocks it, and gave no reason"
    } else {
        reason
    };
    let goes_on = answer.event == "agent.stop" && offered.has("flow");
    if goes_on {
        return Ok(json!({ "type": "flow", "operation": "continue", "instruction": reason }));
    }
    if !offered.has("deny") {
        let why = format!("it is blocked, and the harness offers no `deny`: {reason}");
        return Err(RpcError::new(INTERNAL_ERROR, why));
    }
    Ok(json!({ "type": "deny", "reason": reason, "code": code(&answer.outcome) }))
}

/// A reverse domain name for who decided: letters, digits, `-` and `_` between dots.
fn code(outcome: &Outcome) -> String {
    let refusal = outcome.refusal();
    let hook = refusal.filter(|refusal| refusal.cause != Cause::Failure);
    let Some(hook) = hook.and_then(|refusal| refusal.hook.as_deref()) else {
        return format!("{CODE}.failure");
    };
    let stem = hook.rsplit_once('.').map_or(hook, |(stem, _)| stem);
    let name = stem.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(plain).collect();
    format!("{CODE}.{}", if name.is_empty() { "hook" } else { &name })
}

fn injection(answer: &ClientAnswer, context: &str, time: &str) -> Value {
    let id = format!("{CODE}.{}", answer.id);
    let part = json!({
        "id": format!("{id}.text"), "kind": "text", "mediaType": "text/plain", "selection": "body",
        "text": context,
    });
    json!({
        "type": "inject", "target": "context", "operation": "append", "deliverAt": time,
        "value": [{ "id": id, "role": "system", "parts": [part] }],
    })
}

/// The answer to `hooks/capabilities`.
///
/// # Errors
/// When the version is another one.
pub(crate) fn capabilities(message: &RpcMessage<'_>, methods: &[&str]) -> Result<Value, RpcError> {
    let given: AhpParams<'_> = params(message.params)?;
    check_version(given.protocol_version.as_deref())?;
    let event = |row: &AhpEvent| match row.is_asked && catalog::find(row.event).is_some() {
        true => json!({
            "event": row.name,
            "modes": ["intercept", "observe"],
            "capabilities": { "effects": ["deny"] },
        }),
        false => json!({ "event": row.name, "modes": ["observe"] }),
    };
    let events: Vec<Value> = EVENTS.iter().map(event).collect();
    Ok(json!({
        "protocolVersion": VERSION,
        "manifest": {
            "events": events,
            "gaps": [
                { "path": "limits.maxUploadBytes", "reason": "attachments are not read" },
                { "path": "limits.maxContinuations", "reason": "the harness counts them" },
            ],
            "transports": ["stdio"],
            "authentication": [],
            "toolPaths": ["native", "mcp"],
            "contentCategories": ["text"],
            "limits": { "minTimeoutMs": 100, "maxTimeoutMs": 600_000 },
            "managedPolicy": { "scopes": ["user", "project"], "disableable": true },
            "correlationIdentityFields": ["id", "source", "session.id", "call.id"],
        },
        "extensions": {
            CODE: { "version": env!("CARGO_PKG_VERSION"), "methods": methods },
        },
    }))
}
