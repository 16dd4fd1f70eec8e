//! The paths of the Open Policy Agent's data API: `/v1/data/hookrun/tool/pre` is `tool.pre`.

use hyper::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::message::{HttpAnswer, HttpFault, HttpRequest, decoded};
use super::permit::{DecisionWords, GOES_ON, permitted};
use super::route::{AskedWhat, DecidedWhat, HttpDecision, HttpQuestion, HttpQuestions};
use crate::cli::serve::question::{ClientPlace, ClientQuestion};
use crate::engine::event::Context;
use crate::hosts::native;

/// The end of a path that gives only yes or no.
const ALLOW: &str = "allow";

/// The parameter of a client that carries out changes.
const TAKES_CHANGES: &str = "changes";

#[derive(Deserialize)]
struct OpaRequest<'b> {
    #[serde(borrow)]
    input: &'b RawValue,
}

/// The event of a path, and whether only yes or no is wanted.
fn event_of(request: &HttpRequest) -> (String, bool) {
    let tail = decoded(request.tail.trim_matches('/'));
    let bare = tail.strip_suffix(&format!("/{ALLOW}"));
    (bare.unwrap_or(&tail).replace('/', "."), bare.is_some())
}

pub(super) fn read(request: &HttpRequest) -> Result<HttpQuestions, HttpFault> {
    let (event, is_bare) = event_of(request);
    let asked: OpaRequest<'_> = serde_json::from_slice(&request.body).map_err(|error| {
        HttpFault::malformed(format!("the body is no `{{\"input\": {{…}}}}`: {error}"))
    })?;
    let context = Context::parse(asked.input.get())
        .map_err(|error| HttpFault::malformed(format!("`input`: {error}")))?;
    let place = ClientPlace::of_context(&context, None)
        .map_err(|problem| HttpFault::malformed(format!("`input`: {problem}")))?;
    let question = ClientQuestion {
        host: Some(native::NAME.to_string()),
        event: Some(event),
        context,
        place,
        budget: None,
    };
    let takes_changes = !is_bare && request.parameter(TAKES_CHANGES).as_deref() == Some("true");
    let what = AskedWhat::Event(Box::new(question));
    Ok(HttpQuestions {
        each: vec![HttpQuestion {
            what,
            takes_changes,
        }],
        until: None,
    })
}

pub(super) fn write(request: &HttpRequest, decisions: &[HttpDecision]) -> HttpAnswer {
    let Some(decision) = decisions.first() else {
        return undefined();
    };
    let DecidedWhat::Answer(answer) = &decision.what else {
        return undefined();
    };
    if answer.is_unknown {
        return undefined();
    }
    let (_, is_bare) = event_of(request);
    let words = permitted(
        decision,
        answer,
        &format!("ask with `?{TAKES_CHANGES}=true`"),
    );
    let result = match (words, is_bare) {
        (DecisionWords::Allowed, true) => json!(true),
        (DecisionWords::Denied { .. }, true) => json!(false),
        (DecisionWords::Denied { reason, cause, .. }, false) => {
            json!({ "allow": false, "deny": [reason], "cause": cause })
        }
        (DecisionWords::Allowed, false) => {
            let update = answer.outcome.update();
            let update = (!update.is_empty()).then_some(Value::Object(update));
            let context = answer.outcome.additional_context().map(Value::from);
            let more = [("update", update), (GOES_ON, context)].into_iter();
            let own = [("allow", Some(json!(true))), ("deny", Some(json!([])))];
            let whole = own.into_iter().chain(more);
            let whole: Map<String, Value> = whole
                .filter_map(|(key, value)| Some((key.to_string(), value?)))
                .collect();
            Value::Object(whole)
        }
    };
    let told = json!({ "decision_id": answer.id, "result": result });
    HttpAnswer::json(StatusCode::OK, &told)
}

/// What OPA says of a path that no policy has.
fn undefined() -> HttpAnswer {
    HttpAnswer::json(StatusCode::OK, &json!({}))
}

pub(super) fn fail(_: &HttpRequest, fault: &HttpFault) -> HttpAnswer {
    fault.answer()
}
