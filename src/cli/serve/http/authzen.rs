//! AuthZEN Authorization API 1.0: a gateway asks whether a subject may do an action to a resource.
//!
//! A denial is an answer of status 200. "Could not decide" is a denial too, because many clients let
//! an action pass after a status of 500.

use std::path::PathBuf;

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::message::{HttpAnswer, HttpFault, HttpRequest};
use super::permit::{DecisionWords, GOES_ON, permitted};
use super::route::{
    AskedWhat, DecidedWhat, HttpDecision, HttpQuestion, HttpQuestions, ServerState,
};
use crate::cli::serve::question::{ClientPlace, ClientQuestion, read_distinct};
use crate::engine::event::Context;
use crate::hosts::native;

const EVALUATION: &str = "/access/v1/evaluation";
const EVALUATIONS: &str = "/access/v1/evaluations";

/// How many evaluations one request may ask.
const MOST_EVALUATIONS: usize = 1000;

/// What a gateway for MCP calls a tool call, in its profile (COAZ-MCP).
const TOOL_CALL: &str = "tools/call";

/// The key of our context that holds the whole evaluation.
const WHOLE: &str = "authzen";

/// The keys that an evaluation takes over from the request around it.
const PARTS: &[&str] = &["subject", "action", "resource", "context"];

/// Keys of its context that are facts of ours, with our names.
const FACTS: &[(&str, &str)] = &[
    ("session", "sessionId"),
    ("sessionId", "sessionId"),
    ("cwd", "cwd"),
    ("toolUseId", "toolUseId"),
    ("model", "model"),
];

/// When no more evaluations are asked, by the words of the request.
const SEMANTICS: &[(&str, Option<bool>)] = &[
    ("execute_all", None),
    ("deny_on_first_deny", Some(false)),
    ("permit_on_first_permit", Some(true)),
];

pub(super) fn read_one(request: &HttpRequest) -> Result<HttpQuestions, HttpFault> {
    let question = question(&object(request)?).map_err(HttpFault::malformed)?;
    Ok(HttpQuestions {
        each: vec![question],
        until: None,
    })
}

pub(super) fn read_several(request: &HttpRequest) -> Result<HttpQuestions, HttpFault> {
    let whole = object(request)?;
    let each = match whole.get("evaluations") {
        None => return read_one(request),
        Some(Value::Array(each)) if each.is_empty() => return read_one(request),
        Some(Value::Array(each)) if each.len() <= MOST_EVALUATIONS => each,
        Some(Value::Array(_)) => {
            let reason = format!("`evaluations` has more than {MOST_EVALUATIONS} elements");
            return Err(HttpFault::malformed(reason));
        }
        Some(_) => return Err(HttpFault::malformed("`evaluations` is no list")),
    };
    let semantic = whole
        .get("options")
        .and_then(|options| options.get("evaluations_semantic"));
    let semantic = match semantic {
        None => "execute_all",
        Some(word) => word.as_str().unwrap_or_default(),
    };
    let known = SEMANTICS.iter().find(|(word, _)| *word == semantic);
    let (_, until) = known.ok_or_else(|| {
        let words: Vec<&str> = SEMANTICS.iter().map(|(word, _)| *word).collect();
        let words = words.join(", ");
        HttpFault::malformed(format!("`options.evaluations_semantic` is none of {words}"))
    })?;
    let each = each
        .iter()
        .map(|one| with_defaults(one, &whole))
        .map(|one| {
            one.and_then(|one| question(&one))
                .unwrap_or_else(|problem| HttpQuestion {
                    what: AskedWhat::Malformed(problem),
                    takes_changes: false,
                })
        });
    Ok(HttpQuestions {
        each: each.collect(),
        until: *until,
    })
}

fn object(request: &HttpRequest) -> Result<Map<String, Value>, HttpFault> {
    read_distinct(&request.body)
        .map_err(|error| HttpFault::malformed(format!("the body is no JSON object: {error}")))
}

/// An evaluation with what the request around it says for all.
fn with_defaults(one: &Value, whole: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let own = one.as_object().ok_or("it is no object")?;
    let part = |name: &&str| {
        let value = own.get(*name).or_else(|| whole.get(*name))?;
        Some(((*name).to_string(), value.clone()))
    };
    Ok(PARTS.iter().filter_map(part).collect())
}

/// The event that an evaluation asks about.
fn question(asked: &Map<String, Value>) -> Result<HttpQuestion, String> {
    let text = |part: &str, key: &str| {
        let value = asked
            .get(part)
            .ok_or_else(|| format!("`{part}` is missing"))?;
        let text = value
            .get(key)
            .ok_or_else(|| format!("`{part}.{key}` is missing"))?;
        text.as_str()
            .map(str::to_string)
            .ok_or_else(|| format!("`{part}.{key}` is no text"))
    };
    for part in ["subject", "resource"] {
        text(part, "type")?;
        text(part, "id")?;
    }
    let action = text("action", "name")?;
    let empty = json!({});
    let context = asked.get("context").unwrap_or(&empty);
    if !context.is_object() {
        return Err("`context` is no object".to_string());
    }
    let mut told = Map::new();
    if text("resource", "type")? == "tool" {
        told.insert("toolName".to_string(), text("resource", "id")?.into());
        let properties = asked
            .get("resource")
            .and_then(|tool| tool.get("properties"));
        let input = properties.and_then(|all| all.get("input"));
        if input.is_none() && properties.is_some_and(|all| *all != empty) {
            // They may be the input, and then guards would look at nothing.
            let cure = "`{}` if the tool takes none";
            return Err(format!(
                "`resource.properties.input` is missing: give it, {cure}"
            ));
        }
        told.insert(
            "toolInput".to_string(),
            input.cloned().unwrap_or_else(|| json!({})),
        );
    }
    for (theirs, ours) in FACTS {
        match context.get(theirs) {
            Some(fact @ Value::String(_)) => drop(told.insert((*ours).to_string(), fact.clone())),
            None | Some(Value::Null) => {}
            Some(_) => return Err(format!("`context.{theirs}` is no text")),
        }
    }
    // As it was asked: `action` is a word of ours.
    told.insert(WHOLE.to_string(), asked.clone().into());
    let carried = context
        .get("supported_obligations")
        .and_then(Value::as_array);
    let carried = carried.is_some_and(|sorts| sorts.iter().any(|sort| *sort == json!("custom")));
    let event = if action == TOOL_CALL {
        "tool.pre".to_string()
    } else {
        action
    };
    let project = match context.get("project") {
        Some(Value::String(project)) => Some(PathBuf::from(project)),
        None | Some(Value::Null) => None,
        Some(_) => return Err("`context.project` is no text".to_string()),
    };
    let context =
        Context::parse(Value::Object(told).to_string()).map_err(|error| error.to_string())?;
    let question = ClientQuestion {
        host: Some(native::NAME.to_string()),
        event: Some(event),
        place: ClientPlace::of_context(&context, project)?,
        context,
        budget: None,
    };
    Ok(HttpQuestion {
        what: AskedWhat::Event(Box::new(question)),
        takes_changes: carried,
    })
}

pub(super) fn write_one(_: &HttpRequest, decisions: &[HttpDecision]) -> HttpAnswer {
    let answer = decisions
        .first()
        .map_or_else(|| denied("there is no question"), evaluation);
    HttpAnswer::json(StatusCode::OK, &answer)
}

pub(super) fn write_several(request: &HttpRequest, decisions: &[HttpDecision]) -> HttpAnswer {
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let is_list = asked["evaluations"]
        .as_array()
        .is_some_and(|each| !each.is_empty());
    if !is_list {
        return write_one(request, decisions);
    }
    let each: Vec<Value> = decisions.iter().map(evaluation).collect();
    HttpAnswer::json(StatusCode::OK, &json!({ "evaluations": each }))
}

/// A client that is told nothing but a status may let the action pass.
pub(super) fn fail(_: &HttpRequest, fault: &HttpFault) -> HttpAnswer {
    match fault.status {
        StatusCode::SERVICE_UNAVAILABLE => HttpAnswer::json(StatusCode::OK, &denied(&fault.reason)),
        _ => fault.answer(),
    }
}

fn denied(reason: &str) -> Value {
    json!({ "decision": false, "context": { "reason": reason, "cause": "failure" } })
}

fn evaluation(decision: &HttpDecision) -> Value {
    let answer = match &decision.what {
        DecidedWhat::Answer(answer) => answer,
        DecidedWhat::Malformed(problem) => {
            let mut denied = denied(problem);
            denied["context"]["error"] = json!({ "status": 400, "message": problem });
            return denied;
        }
    };
    let words = permitted(
        decision,
        answer,
        "announce `custom` in `context.supported_obligations`",
    );
    let (is_allowed, mut context) = match words {
        DecisionWords::Allowed => (true, Map::new()),
        DecisionWords::Denied {
            reason,
            cause,
            rule,
        } => {
            let rule = rule.map(|rule| ("rule".to_string(), rule.into()));
            let told = [
                ("reason".to_string(), Value::from(reason)),
                ("cause".to_string(), cause.into()),
            ];
            (false, told.into_iter().chain(rule).collect())
        }
    };
    if is_allowed {
        let update = answer.outcome.update();
        if !update.is_empty() {
            let change = json!({ "id": "hookrun-update", "type": "custom", "properties": update });
            context.insert("obligations".to_string(), json!([change]));
        }
        let more = answer.outcome.additional_context();
        context.extend(more.map(|more| (GOES_ON.to_string(), Value::from(more))));
    }
    context.insert("decision_id".to_string(), answer.id.clone().into());
    json!({ "decision": is_allowed, "context": context })
}

/// Where what is served, under the address that the client used.
pub(super) fn configuration(_: &ServerState, request: &HttpRequest) -> HttpAnswer {
    let base = format!(
        "http://{}",
        request.header("host").unwrap_or_else(|| "localhost".into())
    );
    let told = json!({
        "policy_decision_point": base,
        "access_evaluation_endpoint": format!("{base}{EVALUATION}"),
        "access_evaluations_endpoint": format!("{base}{EVALUATIONS}"),
    });
    HttpAnswer::json(StatusCode::OK, &told)
}
