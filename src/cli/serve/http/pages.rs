//! What the server says of itself.

use hyper::StatusCode;
use serde_json::json;

use super::message::{HttpAnswer, HttpRequest};
use super::route::ServerState;

pub(super) fn health(state: &ServerState, _: &HttpRequest) -> HttpAnswer {
    let told = json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "decided": state.decider.decided(),
        "inProgress": state.decider.deciding(),
    });
    HttpAnswer::json(StatusCode::OK, &told)
}

pub(super) fn metrics(state: &ServerState, _: &HttpRequest) -> HttpAnswer {
    let text = state.metrics.text(state.decider.deciding());
    HttpAnswer::new(StatusCode::OK, "text/plain; version=0.0.4", text)
}
