//! OTLP in JSON, a line for each decision, as the file exporter of OpenTelemetry writes it and the
//! collector's `otlpjsonfile` receiver reads it: ids in hex, 64-bit numbers as text, no nulls.

use std::io::{self, Write};

use serde::Serialize;

use super::decision::{DecisionWriter, HookCall, LoggedDecision, json_line};
use crate::log::record::TraceLine;

/// Severities of log records, by OpenTelemetry's numbers.
const INFO: (u8, &str) = (9, "INFO");
const WARN: (u8, &str) = (13, "WARN");
const ERROR: (u8, &str) = (17, "ERROR");

/// `SPAN_KIND_INTERNAL`, and `STATUS_CODE_ERROR`.
const INTERNAL: u8 = 1;
const STATUS_ERROR: u8 = 2;

#[derive(Debug)]
pub(super) struct OtlpLogs;

#[derive(Debug)]
pub(super) struct OtlpTraces;

impl DecisionWriter for OtlpLogs {
    fn add(&mut self, decision: &LoggedDecision<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (line, brief) = (decision.line, decision.brief);
        let (severity_number, severity_text) = match brief.decision.as_ref() {
            _ if decision.has_failed() => ERROR,
            "allow" => INFO,
            _ => WARN,
        };
        let trace = decision.trace();
        let record = LogRecord {
            time_unix_nano: nanos(decision.ended_us),
            severity_number,
            severity_text,
            event_name: "hookrun.decision",
            trace_id: &trace.id,
            span_id: &trace.span,
            body: OtlpValue::Text(&format!("{} {}", line.event, brief.decision)),
            attributes: of_decision(decision, &decision.calls()),
        };
        let scope_logs = [ScopeLogs {
            scope: SCOPE,
            log_records: [record],
        }];
        json_line(
            &LogsLine {
                resource_logs: [ResourceLogs {
                    resource: RESOURCE,
                    scope_logs,
                }],
            },
            out,
        )
    }
}

impl DecisionWriter for OtlpTraces {
    fn add(&mut self, decision: &LoggedDecision<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (trace, calls) = (decision.trace(), decision.calls());
        let start = decision.started_us();
        let name = format!("hookrun {}", decision.line.event);
        let mut spans = Vec::with_capacity(calls.len() + 1);
        spans.push(Span {
            trace_id: &trace.id,
            span_id: trace.span.clone(),
            parent_span_id: trace.parent.as_deref(),
            kind: INTERNAL,
            name: &name,
            start_time_unix_nano: nanos(start),
            end_time_unix_nano: nanos(decision.ended_us),
            attributes: of_decision(decision, &calls),
            status: decision.has_failed().then_some(SpanStatus {
                code: STATUS_ERROR,
                message: None,
            }),
        });
        for (number, call) in (1..).zip(&calls) {
            spans.push(of_call(call, &trace, SpanPlace { number, start }));
        }
        let scope_spans = [ScopeSpans {
            scope: SCOPE,
            spans,
        }];
        let resource_spans = [ResourceSpans {
            resource: RESOURCE,
            scope_spans,
        }];
        json_line(&TracesLine { resource_spans }, out)
    }
}

/// Where a hook's span lies in that of its decision.
struct SpanPlace {
    number: u64,
    /// When the decision began, in microseconds since 1970.
    start: u64,
}

fn of_call<'c>(call: &HookCall<'c>, trace: &'c TraceLine, place: SpanPlace) -> Span<'c> {
    let id = u64::from_str_radix(&trace.span, 16)
        .unwrap_or_default()
        .wrapping_add(place.number);
    let start = place.start + call.after_us;
    let mut attributes = OtlpAttributes::default();
    attributes.text("hookrun.hook", Some(call.name));
    attributes.text("hookrun.verdict", Some(call.verdict));
    attributes.text(
        "hookrun.ending",
        Some(call.ending).filter(|name| !name.is_empty()),
    );
    attributes.number("hookrun.exit_status", call.status.map(i64::from));
    attributes.number("hookrun.signal", call.signal.map(i64::from));
    attributes.text("error.type", call.failure.map(|_| error_type(call)));
    let failed = |message| SpanStatus {
        code: STATUS_ERROR,
        message: Some(message),
    };
    Span {
        trace_id: &trace.id,
        span_id: format!("{id:016x}"),
        parent_span_id: Some(&trace.span),
        kind: INTERNAL,
        name: call.name,
        start_time_unix_nano: nanos(start),
        end_time_unix_nano: nanos(start + call.took_us),
        attributes,
        status: call.failure.map(failed),
    }
}

/// Few different words, as `error.type` wants them.
fn error_type<'c>(call: &HookCall<'c>) -> &'c str {
    if call.ending.is_empty() {
        "failed"
    } else {
        call.ending
    }
}

fn of_decision<'d>(decision: &'d LoggedDecision<'_>, calls: &[HookCall<'d>]) -> OtlpAttributes<'d> {
    let (line, brief, subject) = (decision.line, decision.brief, &decision.subject);
    let mut attributes = OtlpAttributes::default();
    attributes.text("hookrun.event", Some(&line.event));
    attributes.text("hookrun.host", Some(&line.host));
    attributes.text("hookrun.decision", Some(&brief.decision));
    attributes.text("hookrun.cause", brief.cause.as_deref());
    attributes.text("hookrun.hook", brief.decided_by.as_deref());
    attributes.text("hookrun.reason", brief.reason.as_deref());
    attributes.add("hookrun.duration_ms", Some(OtlpValue::Real(brief.took_ms)));
    attributes.number("hookrun.hooks", i64::try_from(calls.len()).ok());
    attributes.text("gen_ai.conversation.id", line.session.as_deref());
    attributes.text("gen_ai.tool.name", subject.tool_name.as_deref());
    attributes.text("gen_ai.tool.call.id", subject.tool_call_id.as_deref());
    let failed = calls
        .iter()
        .find(|call| call.failure.is_some())
        .map(error_type);
    let own = decision.has_failed().then_some("hookrun");
    attributes.text("error.type", failed.or(own));
    attributes
}

fn nanos(us: u64) -> String {
    format!("{us}000")
}

const RESOURCE: OtlpResource = OtlpResource {
    attributes: [OtlpAttribute {
        key: "service.name",
        value: OtlpValue::Text("hookrun"),
    }],
};

const SCOPE: OtlpScope = OtlpScope {
    name: "hookrun",
    version: env!("CARGO_PKG_VERSION"),
};

// The forms of OTLP, by the names of its specification.

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogsLine<'d> {
    resource_logs: [ResourceLogs<'d>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs<'d> {
    resource: OtlpResource,
    scope_logs: [ScopeLogs<'d>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs<'d> {
    scope: OtlpScope,
    log_records: [LogRecord<'d>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord<'d> {
    time_unix_nano: String,
    severity_number: u8,
    severity_text: &'static str,
    event_name: &'static str,
    trace_id: &'d str,
    span_id: &'d str,
    body: OtlpValue<'d>,
    attributes: OtlpAttributes<'d>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TracesLine<'d> {
    resource_spans: [ResourceSpans<'d>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'d> {
    resource: OtlpResource,
    scope_spans: [ScopeSpans<'d>; 1],
}

#[derive(Serialize)]
struct ScopeSpans<'d> {
    scope: OtlpScope,
    spans: Vec<Span<'d>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Span<'d> {
    trace_id: &'d str,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<&'d str>,
    kind: u8,
    name: &'d str,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: OtlpAttributes<'d>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<SpanStatus<'d>>,
}

#[derive(Serialize)]
struct SpanStatus<'d> {
    code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'d str>,
}

#[derive(Serialize)]
struct OtlpResource {
    attributes: [OtlpAttribute<'static>; 1],
}

#[derive(Serialize)]
struct OtlpScope {
    name: &'static str,
    version: &'static str,
}

/// Those without a value are left out.
#[derive(Default, Serialize)]
struct OtlpAttributes<'d>(Vec<OtlpAttribute<'d>>);

#[derive(Serialize)]
struct OtlpAttribute<'d> {
    key: &'static str,
    value: OtlpValue<'d>,
}

#[derive(Serialize)]
enum OtlpValue<'d> {
    #[serde(rename = "stringValue")]
    Text(&'d str),
    /// A number of 64 bits, which JSON has as text.
    #[serde(rename = "intValue")]
    Number(String),
    #[serde(rename = "doubleValue")]
    Real(f64),
}

impl<'d> OtlpAttributes<'d> {
    fn text(&mut self, key: &'static str, value: Option<&'d str>) {
        self.add(key, value.map(OtlpValue::Text));
    }

    fn number(&mut self, key: &'static str, value: Option<i64>) {
        self.add(key, value.map(|value| OtlpValue::Number(value.to_string())));
    }

    fn add(&mut self, key: &'static str, value: Option<OtlpValue<'d>>) {
        self.0
            .extend(value.map(|value| OtlpAttribute { key, value }));
    }
}
