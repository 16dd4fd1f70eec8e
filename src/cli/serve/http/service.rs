//! The HTTP service: routes a request, checks access, reads the body, and decides.

use std::collections::HashSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::cli::input::{DecideParams, no_event};
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::question::{ClientAnswer, ClientPlace, ClientQuestion, check_host};
use crate::cli::serve::stdio::reply_json;
use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::engine::event::json::{FrameState, Scanner};
use crate::engine::exec::Abort;
use crate::engine::runner::RaiseOnDrop;
use crate::hosts;

const LONGEST_BODY_BYTES: usize = 64 * 1024 * 1024;

/// How much of a longer body is read and dropped, so that its client reads the error.
const DROPPED_BODY_BYTES: usize = 256 * 1024 * 1024;

/// The opened project, if the context does not name it.
const PROJECT: &str = "x-hookrun-project";

pub(super) type HttpAnswer = Response<Full<Bytes>>;

pub(super) struct HttpService {
    pub(super) decider: Arc<DecisionServer>,
    /// The required token; `None` if only the same user can connect.
    pub(super) token: Option<String>,
    pub(super) room: Arc<Semaphore>,
    /// The timeout for a request's head, and for its body.
    pub(super) patience: Duration,
}

#[derive(Debug)]
struct HttpFault {
    status: StatusCode,
    reason: String,
}

impl HttpFault {
    fn new(status: StatusCode, reason: impl Into<String>) -> HttpFault {
        let reason = reason.into();
        HttpFault { status, reason }
    }

    fn malformed(reason: impl Into<String>) -> HttpFault {
        HttpFault::new(StatusCode::BAD_REQUEST, reason)
    }
}

impl HttpService {
    /// Answers a request. `is_ambiguous`: its body has both a length and chunks.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        is_ambiguous: bool,
    ) -> HttpAnswer {
        let route = if is_ambiguous {
            let reason = "the request has both `Content-Length` and `Transfer-Encoding`";
            Err(HttpFault::malformed(reason))
        } else {
            self.route(request).await
        };
        route.unwrap_or_else(|fault| json_answer(fault.status, &json!({ "error": fault.reason })))
    }

    async fn route(&self, request: Request<Incoming>) -> Result<HttpAnswer, HttpFault> {
        let (head, body) = request.into_parts();
        check_unambiguous(&head).map_err(HttpFault::malformed)?;
        let path = head.uri.path();
        let own_method = if path == "/health" {
            Method::GET
        } else {
            self.check_access(&head.headers)?;
            Method::POST
        };
        let host = path.strip_prefix("/hooks/");
        if host.is_none() && path != "/health" && path != "/decide" {
            let reason = format!("no such path: `{path}`");
            return Err(HttpFault::new(StatusCode::NOT_FOUND, reason));
        }
        if head.method != own_method {
            let reason = format!("`{path}` accepts {own_method}, not {}", head.method);
            return Err(HttpFault::new(StatusCode::METHOD_NOT_ALLOWED, reason));
        }
        if let Some(host) = host {
            let mut parameters = head.uri.query().unwrap_or_default().split('&');
            let event = parameters.find_map(|one| one.strip_prefix("event="));
            let event = event.map(str::to_string);
            return Ok(self.answer_hook(host, event, &head.headers, body).await);
        }
        if path == "/health" {
            return Ok(self.health());
        }
        let body = self.read_body(body).await?;
        let answer = self.decide(question_of(&body)?).await?;
        Ok(with_decision(
            json_answer(StatusCode::OK, &reply_json(&answer)),
            &answer,
        ))
    }

    fn check_access(&self, headers: &HeaderMap) -> Result<(), HttpFault> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        // A web page can reach this address by its own domain name.
        let host = headers.get(HOST).and_then(|value| value.to_str().ok());
        let host = host.unwrap_or_default();
        if !is_loopback(host) {
            let reason = format!("`Host` is `{host}`, which is not a loopback name or address");
            return Err(HttpFault::new(StatusCode::FORBIDDEN, reason));
        }
        let authorization = headers.get(AUTHORIZATION);
        if let Some(text) = authorization.and_then(|value| value.to_str().ok())
            && let Some((scheme, given)) = text.split_once(' ')
            && scheme.eq_ignore_ascii_case("bearer")
            && are_equal(given.trim(), token)
        {
            return Ok(());
        }
        let reason = "send `Authorization: Bearer TOKEN` with the token from the token file";
        Err(HttpFault::new(StatusCode::UNAUTHORIZED, reason))
    }

    /// Needs no token, so over TCP it says nothing but that the server answers.
    fn health(&self) -> HttpAnswer {
        let mut health = json!({ "status": "ok" });
        if self.token.is_none() {
            health["version"] = env!("CARGO_PKG_VERSION").into();
            health["inProgress"] = self.decider.deciding().into();
        }
        json_answer(StatusCode::OK, &health)
    }

    /// Answers a host's hook. A failure also has status 200, else hosts let the action pass.
    async fn answer_hook(
        &self,
        host: &str,
        event: Option<String>,
        headers: &HeaderMap,
        body: Incoming,
    ) -> HttpAnswer {
        match self.decide_hook(host, event, headers, body).await {
            Ok(answer) => {
                let document = json_text(StatusCode::OK, answer.document());
                with_decision(document, &answer)
            }
            Err(fault) => {
                let document = hosts::block_of_any(hosts::find(host), &fault.reason);
                let answer = json_text(StatusCode::OK, document);
                with_header(answer, "x-hookrun-decision", "block")
            }
        }
    }

    async fn decide_hook(
        &self,
        host: &str,
        event: Option<String>,
        headers: &HeaderMap,
        body: Incoming,
    ) -> Result<ClientAnswer, HttpFault> {
        let body = self.read_body(body).await?;
        check_host(host).map_err(HttpFault::malformed)?;
        match hook_question(host, event.clone(), headers, body) {
            Ok(question) => self.decide(question).await,
            Err(failure) => Ok(*self.decider.block(host, event.as_deref(), &failure)),
        }
    }

    async fn decide(&self, question: ClientQuestion) -> Result<ClientAnswer, HttpFault> {
        let Some(slot) = self.decider.slot() else {
            let reason = self.decider.overload();
            return Err(HttpFault::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        };
        let ready = match self.decider.prepare(question) {
            Ok(ready) if ready.is_idle() => return Ok(ready.decide(None)),
            Ok(ready) => ready,
            Err(answer) => return Ok(*answer),
        };
        // Cancel if the client disconnects.
        let mut cancel = RaiseOnDrop(Abort::new().ok());
        let abort = cancel.0.clone();
        let deciding = tokio::task::spawn_blocking(move || {
            let answer = ready.decide(abort);
            drop(slot);
            answer
        });
        let decided = deciding.await;
        cancel.0 = None;
        decided.map_err(|error| {
            let reason = format!("cannot decide the event: {error}");
            HttpFault::new(StatusCode::SERVICE_UNAVAILABLE, reason)
        })
    }

    /// The body, within the limits on size and time.
    async fn read_body(&self, mut body: Incoming) -> Result<Vec<u8>, HttpFault> {
        let is_announced_too_long = body.size_hint().lower() > LONGEST_BODY_BYTES as u64;
        if !is_announced_too_long {
            let whole = Limited::new(&mut body, LONGEST_BODY_BYTES).collect();
            match tokio::time::timeout(self.patience, whole).await {
                Ok(Ok(whole)) => return Ok(whole.to_bytes().into()),
                Ok(Err(error)) if error.is::<LengthLimitError>() => {}
                Ok(Err(error)) => {
                    let reason = format!("cannot read the body: {error}");
                    return Err(HttpFault::malformed(reason));
                }
                Err(_) => {
                    let reason = format!("the body did not arrive within {:?}", self.patience);
                    return Err(HttpFault::new(StatusCode::REQUEST_TIMEOUT, reason));
                }
            }
        }
        drop_rest(body, self.patience);
        let reason = format!("the body is longer than {} MiB", LONGEST_BODY_BYTES >> 20);
        Err(HttpFault::new(StatusCode::PAYLOAD_TOO_LARGE, reason))
    }
}

/// Rejects a request that a proxy in front could read differently.
fn check_unambiguous(head: &Parts) -> Result<(), String> {
    for name in [HOST, AUTHORIZATION] {
        if head.headers.get_all(&name).iter().count() > 1 {
            return Err(format!("the request has two `{name}` headers"));
        }
    }
    let host = head
        .headers
        .get(HOST)
        .map_or(&b""[..], HeaderValue::as_bytes);
    if let Some(target) = head.uri.authority()
        && !target.as_str().as_bytes().eq_ignore_ascii_case(host)
    {
        return Err(format!("the request is for `{target}`, but `Host` differs"));
    }
    let mut keys = HashSet::new();
    for parameter in head.uri.query().unwrap_or_default().split('&') {
        let key = parameter.split('=').next().unwrap_or_default();
        if !keys.insert(key) {
            return Err(format!("the query has `{key}` twice"));
        }
    }
    Ok(())
}

/// Reads the rest of a body, because most clients read only after writing.
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

fn hook_question(
    host: &str,
    event: Option<String>,
    headers: &HeaderMap,
    body: Vec<u8>,
) -> Result<ClientQuestion, Complaint> {
    let framed = Scanner::default().scan(&body);
    if matches!(framed, FrameState::Empty) {
        return Err(no_event("no event in the body of the request"));
    }
    let context = Context::from_scanned(body, framed);
    let context = context.map_err(|error| no_event(&error.to_string()))?;
    let mut projects = headers.get_all(PROJECT).iter();
    let project = projects.next().map(|value| PathBuf::from(text_of(value)));
    if projects.next().is_some() {
        return Err(Complaint::new(format!("header `{PROJECT}` appears twice")));
    }
    Ok(ClientQuestion {
        host: Some(host.to_string()),
        event,
        place: ClientPlace::of_context(&context, project).map_err(Complaint::new)?,
        context,
        budget: None,
    })
}

/// The question in the body of `/decide`. Without a folder, the context's is used.
fn question_of(body: &[u8]) -> Result<ClientQuestion, HttpFault> {
    let params: DecideParams<'_> = serde_json::from_slice(body)
        .map_err(|error| HttpFault::malformed(format!("invalid body: {error}")))?;
    let mut question = params.question().map_err(HttpFault::malformed)?;
    if matches!(question.place, ClientPlace::OfServer) {
        let place = ClientPlace::of_context(&question.context, None);
        question.place = place.map_err(HttpFault::malformed)?;
    }
    Ok(question)
}

/// The text of a header in UTF-8, else Latin-1, which JavaScript clients send.
fn text_of(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

fn json_text(status: StatusCode, body: String) -> HttpAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

fn json_answer(status: StatusCode, body: &Value) -> HttpAnswer {
    json_text(status, format!("{body}\n"))
}

fn with_decision(written: HttpAnswer, answer: &ClientAnswer) -> HttpAnswer {
    let word = answer.outcome.settled.word();
    with_header(written, "x-hookrun-decision", word)
}

fn with_header(mut answer: HttpAnswer, name: &'static str, value: &str) -> HttpAnswer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

/// Whether a `Host` header is a loopback name or address.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_address = name
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

/// Compares in constant time, except for the length.
fn are_equal(given: &str, token: &str) -> bool {
    let pairs = given.bytes().zip(token.bytes());
    let differences = pairs.fold(0, |differences, (one, two)| differences | (one ^ two));
    given.len() == token.len() && std::hint::black_box(differences) == 0
}
