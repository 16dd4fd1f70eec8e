//! Answers one request: finds its route, reads its body, and has its questions decided.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::{Method, Request, StatusCode};

use super::access::AccessRule;
use super::message::{HttpAnswer, HttpFault, HttpRequest};
use super::metrics::UnservedReason;
use super::route::{
    AskedWhat, DecidedWhat, HostOf, HttpDecision, HttpQuestion, Route, RouteAction, ServerState,
    overload,
};
use super::{authzen, ext_authz, hosts, opa, pages};
use crate::cli::serve::decider::{DecisionServer, ReadyEvent};
use crate::cli::serve::question::ClientAnswer;
use crate::engine::exec::Abort;

/// The longest body.
const LONGEST_BODY_BYTES: usize = 64 * 1024 * 1024;

/// How much of a longer one is taken and dropped, so that its client comes to read why.
const DROPPED_BODY_BYTES: usize = 256 * 1024 * 1024;

/// A header by which a client knows its answer again.
const REQUEST_ID: &str = "x-request-id";

/// What this server answers.
const ROUTES: &[Route] = &[
    Route {
        method: Some(Method::POST),
        path: "/hooks/",
        host_of: HostOf::Server,
        action: RouteAction::Decision {
            read: hosts::read,
            write: hosts::write,
            fail: hosts::fail,
        },
    },
    Route {
        method: Some(Method::POST),
        path: "/access/v1/evaluation",
        host_of: HostOf::Server,
        action: RouteAction::Decision {
            read: authzen::read_one,
            write: authzen::write_one,
            fail: authzen::fail,
        },
    },
    Route {
        method: Some(Method::POST),
        path: "/access/v1/evaluations",
        host_of: HostOf::Server,
        action: RouteAction::Decision {
            read: authzen::read_several,
            write: authzen::write_several,
            fail: authzen::fail,
        },
    },
    Route {
        method: Some(Method::GET),
        path: "/.well-known/authzen-configuration",
        host_of: HostOf::Server,
        action: RouteAction::Page(authzen::configuration),
    },
    Route {
        method: Some(Method::POST),
        path: "/v1/data/hookrun/",
        host_of: HostOf::Server,
        action: RouteAction::Decision {
            read: opa::read,
            write: opa::write,
            fail: opa::fail,
        },
    },
    Route {
        method: None,
        path: "/ext-authz/",
        host_of: HostOf::ProxiedRequest,
        action: RouteAction::Decision {
            read: ext_authz::read,
            write: ext_authz::write,
            fail: ext_authz::fail,
        },
    },
    Route {
        method: Some(Method::GET),
        path: "/health",
        host_of: HostOf::Server,
        action: RouteAction::Page(pages::health),
    },
    Route {
        method: Some(Method::GET),
        path: "/metrics",
        host_of: HostOf::Server,
        action: RouteAction::Page(pages::metrics),
    },
];

/// Whether there is room for the connection of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionRoom {
    Enough,
    /// It is one too many, and is only told so.
    None,
}

/// Answers a request.
pub(super) async fn answer(
    state: &Arc<ServerState>,
    rule: &AccessRule,
    room: ConnectionRoom,
    request: Request<Incoming>,
) -> HttpAnswer {
    let (head, body) = request.into_parts();
    let id = head
        .headers
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok())
        .map(str::to_string);
    let route = ROUTES
        .iter()
        .find(|route| route.tail(head.uri.path()).is_some());
    let host_of = route.map_or(HostOf::Server, |route| route.host_of);
    let answer = match rule.check(&head.headers, host_of) {
        Ok(()) => {
            let request = HttpRequest {
                method: head.method,
                path: head.uri.path().to_string(),
                tail: String::new(),
                query: head.uri.query().unwrap_or_default().to_string(),
                headers: head.headers,
                body: Vec::new(),
            };
            routed(state, room, route, request, body).await
        }
        Err(fault) => {
            state.metrics.unserved(UnservedReason::Access);
            fault.answer()
        }
    };
    match id {
        Some(id) => answer.with(REQUEST_ID, &id),
        None => answer,
    }
}

async fn routed(
    state: &Arc<ServerState>,
    room: ConnectionRoom,
    route: Option<&Route>,
    mut request: HttpRequest,
    body: Incoming,
) -> HttpAnswer {
    let found = route.and_then(|route| Some((route, route.tail(&request.path)?)));
    let Some((route, tail)) = found else {
        let reason = format!("there is nothing at `{}`", request.path);
        return HttpFault::new(StatusCode::NOT_FOUND, reason).answer();
    };
    request.tail = tail.to_string();
    if !route.takes(&request.method) {
        let reason = format!("`{}` takes no {}", request.path, request.method);
        return HttpFault::new(StatusCode::METHOD_NOT_ALLOWED, reason).answer();
    }
    if room == ConnectionRoom::None {
        state.metrics.unserved(UnservedReason::Overload);
        return route.fail(
            &request,
            &overload("too many clients are connected; ask again later"),
        );
    }
    match read_body(body, state.patience.body).await {
        Ok(bytes) => request.body = bytes,
        Err(fault) => {
            state.metrics.unserved(UnservedReason::Malformed);
            return route.fail(&request, &fault);
        }
    }
    match route.action {
        RouteAction::Page(page) => page(state, &request),
        RouteAction::Decision { .. } => decide(state, route, &request).await,
    }
}

/// The whole body, if it is not too long and comes in time.
async fn read_body(mut body: Incoming, patience: Duration) -> Result<Vec<u8>, HttpFault> {
    let too_long = || {
        let reason = format!("the body is longer than {} MiB", LONGEST_BODY_BYTES >> 20);
        HttpFault::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
    };
    if body.size_hint().lower() > LONGEST_BODY_BYTES as u64 {
        drop_rest(body, patience);
        return Err(too_long());
    }
    let mut limited = Limited::new(&mut body, LONGEST_BODY_BYTES);
    let reading = async {
        let mut whole = Vec::new();
        // Its end is not waited for: that takes another turn of the connection.
        while !limited.is_end_stream()
            && let Some(frame) = limited.frame().await
        {
            whole.extend(frame?.into_data().unwrap_or_default());
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(whole)
    };
    match tokio::time::timeout(patience, reading).await {
        Ok(Ok(whole)) => Ok(whole),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            drop_rest(body, patience);
            Err(too_long())
        }
        Ok(Err(error)) => Err(HttpFault::malformed(format!(
            "the body cannot be read: {error}"
        ))),
        Err(_) => {
            let reason = format!("the body did not come within {patience:?}");
            Err(HttpFault::new(StatusCode::REQUEST_TIMEOUT, reason))
        }
    }
}

/// Takes the rest of a body while its request is answered: most clients read only then.
fn drop_rest(mut body: Incoming, patience: Duration) {
    tokio::spawn(async move {
        let mut left = DROPPED_BODY_BYTES;
        let dropping = async {
            while let Some(Ok(frame)) = body.frame().await {
                let length = frame.data_ref().map_or(0, Bytes::len);
                left = left.saturating_sub(length);
                if left == 0 {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(patience, dropping).await;
    });
}

/// A question, before it is decided.
struct PreparedQuestion {
    what: PreparedWhat,
    takes_changes: bool,
}

enum PreparedWhat {
    Ready(Box<ReadyEvent>),
    Answer(Box<ClientAnswer>),
    Malformed(String),
}

impl PreparedQuestion {
    fn of(asked: HttpQuestion, decider: &Arc<DecisionServer>) -> PreparedQuestion {
        let HttpQuestion {
            what,
            takes_changes,
        } = asked;
        let what = match what {
            AskedWhat::Event(question) => match decider.prepare(*question) {
                Ok(ready) => PreparedWhat::Ready(Box::new(ready)),
                Err(answer) => PreparedWhat::Answer(answer),
            },
            AskedWhat::Unreadable {
                host,
                event,
                failure,
            } => PreparedWhat::Answer(decider.refuse(&host, event.as_deref(), &failure)),
            AskedWhat::Malformed(problem) => PreparedWhat::Malformed(problem),
        };
        PreparedQuestion {
            what,
            takes_changes,
        }
    }

    fn is_idle(&self) -> bool {
        match &self.what {
            PreparedWhat::Ready(ready) => ready.is_idle(),
            PreparedWhat::Answer(_) | PreparedWhat::Malformed(_) => true,
        }
    }
}

async fn decide(state: &Arc<ServerState>, route: &Route, request: &HttpRequest) -> HttpAnswer {
    let RouteAction::Decision { read, write, .. } = route.action else {
        return HttpFault::new(StatusCode::NOT_FOUND, "nothing is decided there").answer();
    };
    let Some(slot) = state.decider.slot() else {
        state.metrics.unserved(UnservedReason::Overload);
        return route.fail(request, &overload(state.decider.overload()));
    };
    let questions = match read(request) {
        Ok(questions) => questions,
        Err(fault) => {
            state.metrics.unserved(UnservedReason::Malformed);
            return route.fail(request, &fault);
        }
    };
    let until = questions.until;
    let prepare = |asked| PreparedQuestion::of(asked, &state.decider);
    let prepared: Vec<PreparedQuestion> = questions.each.into_iter().map(prepare).collect();
    if prepared.iter().all(PreparedQuestion::is_idle) {
        return write(request, &decide_all(state, prepared, until, None));
    }
    let cancel = RaisedWhenDropped {
        abort: Abort::new().ok(),
    };
    let (own, abort) = (Arc::clone(state), cancel.abort.clone());
    let deciding = move || {
        let decided = decide_all(&own, prepared, until, abort);
        drop(slot);
        decided
    };
    match tokio::task::spawn_blocking(deciding).await {
        Ok(decisions) => {
            cancel.keep();
            write(request, &decisions)
        }
        Err(error) => route.fail(request, &overload(format!("it cannot be decided: {error}"))),
    }
}

fn decide_all(
    state: &ServerState,
    prepared: Vec<PreparedQuestion>,
    until: Option<bool>,
    cancel: Option<Abort>,
) -> Vec<HttpDecision> {
    let mut decisions = Vec::with_capacity(prepared.len());
    for PreparedQuestion {
        what,
        takes_changes,
    } in prepared
    {
        let started = Instant::now();
        let what = match what {
            PreparedWhat::Ready(ready) => {
                DecidedWhat::Answer(Box::new(ready.decide(cancel.clone())))
            }
            PreparedWhat::Answer(answer) => DecidedWhat::Answer(answer),
            PreparedWhat::Malformed(problem) => DecidedWhat::Malformed(problem),
        };
        if let DecidedWhat::Answer(answer) = &what {
            let word = answer.outcome.settled.word();
            state
                .metrics
                .decided(&answer.event, word, started.elapsed());
        }
        let decision = HttpDecision {
            what,
            takes_changes,
        };
        let is_last = until == Some(decision.is_allowed());
        decisions.push(decision);
        if is_last {
            break;
        }
    }
    decisions
}

/// Ends a decision whose client is gone.
struct RaisedWhenDropped {
    abort: Option<Abort>,
}

impl RaisedWhenDropped {
    fn keep(mut self) {
        self.abort = None;
    }
}

impl Drop for RaisedWhenDropped {
    fn drop(&mut self) {
        if let Some(abort) = &self.abort {
            abort.raise();
        }
    }
}
