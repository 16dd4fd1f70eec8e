//! A service that lets tools run only if hooks allow it:
//! `cargo run --example axum_service --features tokio -- HOOKS_DIR`, then
//! `curl -d '{"command":"ls"}' -H 'content-type: application/json' localhost:3000/tools/bash`.
//!
//! A caller that goes away ends its hooks: axum drops the handler's future, and with it the one of
//! [`Runner::handle_async`].

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use hookrun::{Event, Runner};
use serde_json::{Value, json};

/// The routes of the service. Clones of a runner share their hooks.
pub(crate) fn routes(runner: Runner) -> Router {
    Router::new()
        .route("/tools/{name}", post(call))
        .with_state(runner)
}

/// What the tool may do, as the hooks rewrote it, or why it may not.
async fn call(
    State(runner): State<Runner>,
    Path(name): Path<String>,
    Json(input): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let event = match Event::tool_pre(&name, input) {
        Ok(event) => event,
        Err(problem) => {
            let problem = json!({ "problem": problem.to_string() });
            return (StatusCode::BAD_REQUEST, Json(problem));
        }
    };
    match runner.handle_async(&event).await.permit() {
        Ok(allowed) => {
            let input = allowed.event.context().value("toolInput").ok().flatten();
            (StatusCode::OK, Json(json!({ "runs": input })))
        }
        Err(blocked) => (
            StatusCode::FORBIDDEN,
            Json(json!({ "blocked": blocked.reason })),
        ),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "hooks.d".to_string());
    let runner = Runner::builder().hooks_dir(hooks).build()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
        axum::serve(listener, routes(runner)).await
    })?;
    Ok(())
}
