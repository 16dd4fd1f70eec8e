//! Envoy's external authorization over HTTP: the proxy sends on what a client asked of it, and lets
//! it pass after a status of 200.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::message::{HttpAnswer, HttpFault, HttpRequest};
use super::permit::{DecisionWords, permitted};
use super::route::{AskedWhat, DecidedWhat, HttpDecision, HttpQuestion, HttpQuestions};
use crate::cli::serve::question::{ClientPlace, ClientQuestion};
use crate::engine::event::Context;
use crate::hosts::native;

/// The event, which a user declares: hookrun itself has none about requests.
const EVENT: &str = "http.request";

/// Headers of the proxy's request to us, which are not its client's.
const OURS: &[&str] = &["authorization"];

pub(super) fn read(request: &HttpRequest) -> Result<HttpQuestions, HttpFault> {
    let mut headers: Map<String, Value> = Map::new();
    for name in request
        .headers
        .keys()
        .filter(|name| !OURS.contains(&name.as_str()))
    {
        let values = request.headers.get_all(name).iter();
        let values: Vec<String> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect();
        headers.insert(name.to_string(), values.join(", ").into());
    }
    let told = json!({
        "method": request.method.as_str(),
        "path": format!("/{}", request.tail),
        "query": request.query,
        "headers": headers,
        "body": String::from_utf8_lossy(&request.body),
    });
    let context = Context::parse(told.to_string());
    let question = ClientQuestion {
        host: Some(native::NAME.to_string()),
        event: Some(EVENT.to_string()),
        context: context.map_err(|error| HttpFault::malformed(error.to_string()))?,
        place: ClientPlace::OfServer,
        budget: None,
    };
    let what = AskedWhat::Event(Box::new(question));
    Ok(HttpQuestions {
        each: vec![HttpQuestion {
            what,
            takes_changes: false,
        }],
        until: None,
    })
}

pub(super) fn write(request: &HttpRequest, decisions: &[HttpDecision]) -> HttpAnswer {
    let decision = decisions.first();
    let Some((decision, DecidedWhat::Answer(answer))) = decision.map(|one| (one, &one.what)) else {
        return fail(request, &HttpFault::malformed("there is no question"));
    };
    let words = permitted(decision, answer, "a proxy sends on what its client wrote");
    let told = match words {
        DecisionWords::Allowed => HttpAnswer::new(StatusCode::OK, "text/plain", String::new()),
        DecisionWords::Denied { reason, .. } => {
            fail(request, &HttpFault::new(StatusCode::FORBIDDEN, reason))
        }
    };
    told.with("x-hookrun-decision-id", &answer.id)
}

/// Some proxies let a request pass after a status of 500 and more.
pub(super) fn fail(_: &HttpRequest, fault: &HttpFault) -> HttpAnswer {
    let kind = "text/plain; charset=utf-8";
    HttpAnswer::new(StatusCode::FORBIDDEN, kind, format!("{}\n", fault.reason))
}
