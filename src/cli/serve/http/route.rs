//! What a row of the table of routes says.

use std::sync::Arc;

use hyper::{Method, StatusCode};

use super::message::{HttpAnswer, HttpFault, HttpRequest};
use super::metrics::HttpMetrics;
use super::paced::HttpPatience;
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::question::{ClientAnswer, ClientQuestion};
use crate::engine::complaint::Complaint;

/// A path, and what is done there.
pub(super) struct Route {
    /// `None` for any.
    pub(super) method: Option<Method>,
    /// The path; all below it too where it ends with `/`.
    pub(super) path: &'static str,
    pub(super) host_of: HostOf,
    pub(super) action: RouteAction,
}

/// Whom the header `Host` of a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostOf {
    /// This server.
    Server,
    /// Whom the client of a proxy asked: Envoy cannot change it.
    ProxiedRequest,
}

pub(super) enum RouteAction {
    /// Nothing is decided.
    Page(fn(&ServerState, &HttpRequest) -> HttpAnswer),
    /// The request asks.
    Decision {
        read: fn(&HttpRequest) -> Result<HttpQuestions, HttpFault>,
        write: fn(&HttpRequest, &[HttpDecision]) -> HttpAnswer,
        /// The answer where nothing can be decided.
        fail: fn(&HttpRequest, &HttpFault) -> HttpAnswer,
    },
}

/// What pages show.
pub(super) struct ServerState {
    pub(super) decider: Arc<DecisionServer>,
    pub(super) metrics: HttpMetrics,
    pub(super) patience: HttpPatience,
}

/// What one request asks, in order.
#[derive(Debug)]
pub(super) struct HttpQuestions {
    pub(super) each: Vec<HttpQuestion>,
    /// The decision after which nothing more is asked: whether it allows.
    pub(super) until: Option<bool>,
}

#[derive(Debug)]
pub(super) struct HttpQuestion {
    pub(super) what: AskedWhat,
    /// Whether the client carries out what hooks change. If not, such an event is blocked.
    pub(super) takes_changes: bool,
}

#[derive(Debug)]
pub(super) enum AskedWhat {
    Event(Box<ClientQuestion>),
    /// It cannot be read, and hookrun blocks it in the words of this host.
    Unreadable {
        host: String,
        event: Option<String>,
        failure: Complaint,
    },
    /// It is no question at all.
    Malformed(String),
}

impl HttpQuestions {
    /// One question of a client that takes what `run` prints.
    pub(super) fn one(what: AskedWhat) -> HttpQuestions {
        HttpQuestions {
            each: vec![HttpQuestion {
                what,
                takes_changes: true,
            }],
            until: None,
        }
    }
}

#[derive(Debug)]
pub(super) struct HttpDecision {
    pub(super) what: DecidedWhat,
    pub(super) takes_changes: bool,
}

#[derive(Debug)]
pub(super) enum DecidedWhat {
    Answer(Box<ClientAnswer>),
    Malformed(String),
}

impl HttpDecision {
    /// Whether the action may go on, at this client.
    pub(super) fn is_allowed(&self) -> bool {
        match &self.what {
            DecidedWhat::Answer(answer) => answer.outcome.is_allowed(),
            DecidedWhat::Malformed(_) => false,
        }
    }
}

impl Route {
    /// What follows its path in `path`; `None` if it is another one.
    pub(super) fn tail<'p>(&self, path: &'p str) -> Option<&'p str> {
        let tail = path.strip_prefix(self.path)?;
        (tail.is_empty() || self.path.ends_with('/')).then_some(tail)
    }

    pub(super) fn takes(&self, method: &Method) -> bool {
        self.method.as_ref().is_none_or(|own| own == method)
    }

    /// The answer where nothing can be decided.
    pub(super) fn fail(&self, request: &HttpRequest, fault: &HttpFault) -> HttpAnswer {
        match self.action {
            RouteAction::Page(_) => fault.answer(),
            RouteAction::Decision { fail, .. } => fail(request, fault),
        }
    }
}

/// The fault of a server that has too much to do.
pub(super) fn overload(reason: impl Into<String>) -> HttpFault {
    HttpFault::new(StatusCode::SERVICE_UNAVAILABLE, reason)
}
