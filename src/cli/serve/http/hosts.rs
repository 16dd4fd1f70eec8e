//! The hooks of hosts that ask by HTTP: the body is what a command gets on stdin, the answer what it
//! prints.
//!
//! Hosts let an action pass where the status is not 200, so whatever fails here is a block in their
//! words.

use std::path::PathBuf;

use hyper::StatusCode;

use super::message::{HttpAnswer, HttpFault, HttpRequest, decoded};
use super::route::{AskedWhat, DecidedWhat, HttpDecision, HttpQuestions};
use crate::cli::decide::input::no_event;
use crate::cli::serve::question::{ClientPlace, ClientQuestion, check_host};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, ContextError};
use crate::hosts;

/// The project that the user has opened, where the context does not say it.
const PROJECT: &str = "x-hookrun-project";

const EMPTY: &str = "no event in the body of the request";

pub(super) fn read(request: &HttpRequest) -> Result<HttpQuestions, HttpFault> {
    let host = host_of(request)?;
    let event = request.parameter("event");
    let context = Context::from_bytes(request.body.clone()).map_err(|error| {
        let is_empty = matches!(error, ContextError::Empty);
        let problem = if is_empty {
            EMPTY.to_string()
        } else {
            error.to_string()
        };
        no_event(&problem)
    });
    let placed = context.and_then(|context| {
        let place =
            project_of(request).and_then(|project| ClientPlace::of_context(&context, project));
        Ok((place.map_err(Complaint::new)?, context))
    });
    Ok(HttpQuestions::one(match placed {
        Err(failure) => AskedWhat::Unreadable {
            host,
            event,
            failure,
        },
        Ok((place, context)) => AskedWhat::Event(Box::new(ClientQuestion {
            host: Some(host),
            event,
            context,
            place,
            budget: None,
        })),
    }))
}

fn project_of(request: &HttpRequest) -> Result<Option<PathBuf>, String> {
    match request.headers.get_all(PROJECT).iter().count() {
        0 | 1 => Ok(request.header(PROJECT).map(PathBuf::from)),
        _ => Err(format!("`{PROJECT}` is there twice")),
    }
}

fn host_of(request: &HttpRequest) -> Result<String, HttpFault> {
    let name = decoded(&request.tail);
    check_host(&name).map_err(HttpFault::malformed)?;
    Ok(name)
}

pub(super) fn write(_: &HttpRequest, decisions: &[HttpDecision]) -> HttpAnswer {
    let Some(DecidedWhat::Answer(answer)) = decisions.first().map(|one| &one.what) else {
        return HttpFault::malformed("there is no question").answer();
    };
    let document = HttpAnswer::new(StatusCode::OK, "application/json", answer.document());
    let word = answer.outcome.settled.word();
    document
        .with("x-hookrun-decision", word)
        .with("x-hookrun-decision-id", &answer.id)
}

/// A block in the words of the host, whatever its event is.
pub(super) fn fail(request: &HttpRequest, fault: &HttpFault) -> HttpAnswer {
    let dialect = hosts::find(&decoded(&request.tail));
    let document = hosts::refusal_of_any(dialect, &fault.reason);
    let answer = HttpAnswer::new(StatusCode::OK, "application/json", document);
    answer.with("x-hookrun-decision", "block")
}
