//! Decision logs as Open Policy Agent sends them, one event a line. A sink of OPA's takes them as
//! a list (`jq -s`), with gzip.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::decision::{DecisionWriter, LoggedDecision, json_line, us};

#[derive(Debug)]
pub(super) struct OpaLines;

#[derive(Serialize)]
struct OpaEvent<'d> {
    labels: BTreeMap<&'static str, &'d str>,
    decision_id: String,
    trace_id: &'d str,
    span_id: &'d str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'d RawValue>,
    result: OpaResult<'d>,
    requested_by: &'d str,
    timestamp: &'d str,
    metrics: BTreeMap<&'static str, u64>,
    /// Pointers to what the log has cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    erased: Vec<String>,
}

#[derive(Serialize)]
struct OpaResult<'d> {
    allow: bool,
    decision: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<&'d str>,
}

impl DecisionWriter for OpaLines {
    fn add(&mut self, decision: &LoggedDecision<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (line, brief) = (decision.line, decision.brief);
        let trace = decision.trace();
        let session = line.session.as_deref().unwrap_or_default();
        let labels = [
            ("app", "hookrun"),
            ("id", session),
            ("version", env!("CARGO_PKG_VERSION")),
        ];
        let event = OpaEvent {
            labels: labels.into_iter().collect(),
            decision_id: uuid(&trace.id, &trace.span),
            trace_id: &trace.id,
            span_id: &trace.span,
            path: format!("hookrun/{}", line.event.replace('.', "/")),
            input: line
                .context()
                .and_then(|raw| serde_json::from_str(raw).ok()),
            result: OpaResult {
                allow: brief.decision == "allow",
                decision: &brief.decision,
                reason: brief.reason.as_deref(),
                decided_by: brief.decided_by.as_deref(),
            },
            requested_by: &line.host,
            timestamp: &line.time,
            metrics: [("timer_server_handler_ns", us(brief.took_ms) * 1000)]
                .into_iter()
                .collect(),
            erased: line
                .truncated
                .iter()
                .filter_map(|name| pointer(name))
                .collect(),
        };
        json_line(&event, out)
    }
}

/// An id in the form that OPA's have, of a trace and a span.
fn uuid(trace: &str, span: &str) -> String {
    let digits = format!("{trace:0<32}{span:0<16}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    let (first, second, third) = (part(0, 8), part(8, 12), part(13, 16));
    format!(
        "{first}-{second}-4{third}-8{}-{}",
        part(33, 36),
        part(36, 48)
    )
}

/// `/input/toolInput/content` of `context.toolInput.content`.
fn pointer(name: &str) -> Option<String> {
    let below = name.strip_prefix("context.")?;
    Some(format!("/input/{}", below.replace('.', "/")))
}
