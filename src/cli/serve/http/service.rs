//! Answers one request: finds its route, reads its body, and has its question decided.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::access::{AccessRule, HttpFault};
use super::metrics::{HttpMetrics, UnservedReason};
use crate::cli::input::no_event;
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::question::{ClientAnswer, ClientPlace, ClientQuestion, check_host};
use crate::cli::serve::stdio::{DecideParams, reply_json};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, ContextError};
use crate::engine::exec::Abort;
use crate::hosts;

/// The longest body.
const LONGEST_BODY_BYTES: usize = 64 * 1024 * 1024;

/// How much of a longer one is read and dropped, so that its client comes to read why.
const DROPPED_BODY_BYTES: usize = 256 * 1024 * 1024;

/// A header by which a client knows its answer again.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The project that the user has opened, where the context does not say it.
const PROJECT: &str = "x-hookrun-project";

const JSON: &str = "application/json";

pub(super) type HttpAnswer = Response<Full<Bytes>>;

pub(super) struct HttpService {
    pub(super) decider: Arc<DecisionServer>,
    pub(super) metrics: HttpMetrics,
    /// How long a client may take with a body.
    pub(super) patience: Duration,
}

impl HttpFault {
    fn malformed(reason: impl Into<String>) -> HttpFault {
        HttpFault::new(StatusCode::BAD_REQUEST, reason)
    }

    /// The server has too much to do.
    fn overload(reason: impl Into<String>) -> HttpFault {
        HttpFault::new(StatusCode::SERVICE_UNAVAILABLE, reason)
    }

    /// The answer where a client heeds the status.
    fn answer(&self) -> HttpAnswer {
        json_answer(self.status, &json!({ "error": self.reason }))
    }
}

/// What is served at a path.
#[derive(Debug)]
enum Route {
    Health,
    Metrics,
    /// A question with the parameters of `hookrun/decide`.
    Decide,
    /// The hooks of this host, which ask by HTTP: the body is what a command gets on stdin, the
    /// answer what it prints. Hosts let an action pass where the status is not 200, so whatever
    /// fails here is a block in their words.
    Hooks {
        host: String,
    },
}

impl Route {
    fn of(method: &Method, path: &str) -> Result<Route, HttpFault> {
        let (own_method, route) = match path {
            "/health" => (Method::GET, Route::Health),
            "/metrics" => (Method::GET, Route::Metrics),
            "/decide" => (Method::POST, Route::Decide),
            _ => match path.strip_prefix("/hooks/") {
                Some(host) => (
                    Method::POST,
                    Route::Hooks {
                        host: decoded(host),
                    },
                ),
                None => {
                    let reason = format!("there is nothing at `{path}`");
                    return Err(HttpFault::new(StatusCode::NOT_FOUND, reason));
                }
            },
        };
        if *method != own_method {
            let reason = format!("`{path}` takes no {method}");
            return Err(HttpFault::new(StatusCode::METHOD_NOT_ALLOWED, reason));
        }
        Ok(route)
    }

    /// The answer where nothing can be decided.
    fn fail(&self, fault: &HttpFault) -> HttpAnswer {
        match self {
            Route::Health | Route::Metrics | Route::Decide => fault.answer(),
            Route::Hooks { host } => {
                let document = hosts::refusal_of_any(hosts::find(host), &fault.reason);
                let answer = answer_of(StatusCode::OK, JSON, document);
                with_header(answer, "x-hookrun-decision", "block")
            }
        }
    }

    fn write(&self, answer: &ClientAnswer) -> HttpAnswer {
        let written = match self {
            Route::Hooks { .. } => answer_of(StatusCode::OK, JSON, answer.document()),
            Route::Health | Route::Metrics | Route::Decide => {
                json_answer(StatusCode::OK, &reply_json(answer))
            }
        };
        let word = answer.outcome.settled.word();
        let written = with_header(written, "x-hookrun-decision", word);
        with_header(written, "x-hookrun-decision-id", &answer.id)
    }
}

impl HttpService {
    pub(super) fn new(decider: Arc<DecisionServer>, patience: Duration) -> HttpService {
        HttpService {
            decider,
            metrics: HttpMetrics::default(),
            patience,
        }
    }

    /// Answers a request. `is_full` says that there is no room for its connection.
    pub(super) async fn answer(
        &self,
        rule: &AccessRule,
        is_full: bool,
        request: Request<Incoming>,
    ) -> HttpAnswer {
        let id = request.headers().get(REQUEST_ID).cloned();
        let mut answer = match rule.check(request.headers()) {
            Ok(()) => match Route::of(request.method(), request.uri().path()) {
                Ok(route) => self.serve(&route, is_full, request).await,
                Err(fault) => fault.answer(),
            },
            Err(fault) => {
                self.metrics.unserved(UnservedReason::Access);
                fault.answer()
            }
        };
        if let Some(id) = id {
            answer.headers_mut().insert(REQUEST_ID, id);
        }
        answer
    }

    async fn serve(&self, route: &Route, is_full: bool, request: Request<Incoming>) -> HttpAnswer {
        if is_full {
            self.metrics.unserved(UnservedReason::Overload);
            return route.fail(&HttpFault::overload(
                "too many clients are connected; ask again later",
            ));
        }
        match route {
            Route::Health => json_answer(
                StatusCode::OK,
                &json!({
                    "status": "ok",
                    "version": env!("CARGO_PKG_VERSION"),
                    "decided": self.decider.decided(),
                    "inProgress": self.decider.deciding(),
                }),
            ),
            Route::Metrics => {
                let text = self.metrics.text(self.decider.deciding());
                answer_of(StatusCode::OK, "text/plain; version=0.0.4", text)
            }
            Route::Decide | Route::Hooks { .. } => match self.decide(route, request).await {
                Ok(answer) => route.write(&answer),
                Err(fault) => {
                    let why = match fault.status {
                        StatusCode::SERVICE_UNAVAILABLE => UnservedReason::Overload,
                        _ => UnservedReason::Malformed,
                    };
                    self.metrics.unserved(why);
                    route.fail(&fault)
                }
            },
        }
    }

    async fn decide(
        &self,
        route: &Route,
        request: Request<Incoming>,
    ) -> Result<ClientAnswer, HttpFault> {
        let (head, body) = request.into_parts();
        let body = self.read_body(body).await?;
        let Some(slot) = self.decider.slot() else {
            return Err(HttpFault::overload(self.decider.overload()));
        };
        let question = match route {
            Route::Hooks { host } => {
                check_host(host).map_err(HttpFault::malformed)?;
                let event = parameter(head.uri.query().unwrap_or_default(), "event");
                match hook_question(host, event.clone(), &head.headers, body) {
                    Ok(question) => question,
                    Err(failure) => {
                        let answer = self.decider.refuse(host, event.as_deref(), &failure);
                        return Ok(self.count(*answer, Instant::now()));
                    }
                }
            }
            Route::Health | Route::Metrics | Route::Decide => {
                question_of(&body).map_err(HttpFault::malformed)?
            }
        };
        let started = Instant::now();
        let ready = match self.decider.prepare(question) {
            Ok(ready) => ready,
            Err(answer) => return Ok(self.count(*answer, started)),
        };
        if ready.is_idle() {
            return Ok(self.count(ready.decide(None), started));
        }
        let mut cancel = RaisedWhenDropped(Abort::new().ok());
        let abort = cancel.0.clone();
        let deciding = tokio::task::spawn_blocking(move || {
            let answer = ready.decide(abort);
            drop(slot);
            answer
        });
        let decided = deciding.await;
        cancel.0 = None;
        match decided {
            Ok(answer) => Ok(self.count(answer, started)),
            Err(error) => Err(HttpFault::overload(format!(
                "it cannot be decided: {error}"
            ))),
        }
    }

    fn count(&self, answer: ClientAnswer, started: Instant) -> ClientAnswer {
        let word = answer.outcome.settled.word();
        self.metrics.decided(&answer.event, word, started.elapsed());
        answer
    }

    /// The whole body, if it is not too long and comes in time.
    async fn read_body(&self, mut body: Incoming) -> Result<Vec<u8>, HttpFault> {
        let is_announced_too_long = body.size_hint().lower() > LONGEST_BODY_BYTES as u64;
        if !is_announced_too_long {
            let whole = Limited::new(&mut body, LONGEST_BODY_BYTES).collect();
            match tokio::time::timeout(self.patience, whole).await {
                Ok(Ok(whole)) => return Ok(whole.to_bytes().into()),
                Ok(Err(error)) if error.is::<LengthLimitError>() => {}
                Ok(Err(error)) => {
                    let reason = format!("the body cannot be read: {error}");
                    return Err(HttpFault::malformed(reason));
                }
                Err(_) => {
                    let reason = format!("the body did not come within {:?}", self.patience);
                    return Err(HttpFault::new(StatusCode::REQUEST_TIMEOUT, reason));
                }
            }
        }
        drop_rest(body, self.patience);
        let reason = format!("the body is longer than {} MiB", LONGEST_BODY_BYTES >> 20);
        Err(HttpFault::new(StatusCode::PAYLOAD_TOO_LARGE, reason))
    }
}

/// Reads the rest of a body while its request is answered: most clients read only then.
fn drop_rest(mut body: Incoming, patience: Duration) {
    tokio::spawn(tokio::time::timeout(patience, async move {
        let mut left = DROPPED_BODY_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                return;
            }
        }
    }));
}

/// What a host's hook asks.
fn hook_question(
    host: &str,
    event: Option<String>,
    headers: &HeaderMap,
    body: Vec<u8>,
) -> Result<ClientQuestion, Complaint> {
    let context = Context::from_bytes(body).map_err(|error| {
        if matches!(error, ContextError::Empty) {
            no_event("no event in the body of the request")
        } else {
            no_event(&error.to_string())
        }
    })?;
    let mut projects = headers.get_all(PROJECT).iter();
    let project = projects.next().map(|value| PathBuf::from(text_of(value)));
    if projects.next().is_some() {
        return Err(Complaint::new(format!("`{PROJECT}` is there twice")));
    }
    Ok(ClientQuestion {
        host: Some(host.to_string()),
        event,
        place: ClientPlace::of_context(&context, project).map_err(Complaint::new)?,
        context,
        budget: None,
    })
}

/// What the body of `/decide` asks. A client that names no folder works where its context says.
fn question_of(body: &[u8]) -> Result<ClientQuestion, String> {
    let params: DecideParams<'_> =
        serde_json::from_slice(body).map_err(|error| format!("the body: {error}"))?;
    let mut question = params.question()?;
    if matches!(question.place, ClientPlace::OfServer) {
        question.place = ClientPlace::of_context(&question.context, None)?;
    }
    Ok(question)
}

/// The text of a header, in UTF-8 or else in Latin-1, which clients in JavaScript send.
fn text_of(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

/// The value of a parameter of a query, decoded.
fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    Some(decoded(&value.replace('+', " ")))
}

/// A text without its `%41`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match rest {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = [*high, *low].map(char::from);
                u8::from_str_radix(&String::from_iter(digits), 16).ok()
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn answer_of(status: StatusCode, kind: &'static str, body: String) -> HttpAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn json_answer(status: StatusCode, body: &Value) -> HttpAnswer {
    answer_of(status, JSON, format!("{body}\n"))
}

/// With this header too, if its value can be one.
fn with_header(mut answer: HttpAnswer, name: &'static str, value: &str) -> HttpAnswer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

/// Ends a decision whose client is gone.
struct RaisedWhenDropped(Option<Abort>);

impl Drop for RaisedWhenDropped {
    fn drop(&mut self) {
        if let Some(abort) = &self.0 {
            abort.raise();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_what_is_no_code_stays() {
        let query = "a=1&event=tool%2Epre+x%zz&event=2";
        assert_eq!(parameter(query, "event").as_deref(), Some("tool.pre x%zz"));
        assert_eq!(parameter(query, "none"), None);
        assert_eq!(
            (decoded("%"), decoded("%+1%1")),
            ("%".into(), "%+1%1".into())
        );
    }
}
