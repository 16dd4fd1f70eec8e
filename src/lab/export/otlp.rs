//! OTLP in JSON, a line for each decision, as the file exporter of OpenTelemetry writes it and the
//! collector's `otlpjsonfile` receiver reads it: ids in hex, 64-bit numbers as text, no nulls.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::decision::{DecisionWriter, HookCall, LoggedDecision, json_line};
use crate::lab::audit::record::TraceLine;

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
        let (number, word) = match brief.decision.as_ref() {
            _ if decision.has_failed() => ERROR,
            "allow" => INFO,
            _ => WARN,
        };
        let trace = decision.trace();
        let record = json!({
            "timeUnixNano": nanos(decision.ended_us),
            "severityNumber": number,
            "severityText": word,
            "eventName": "hookrun.decision",
            "traceId": trace.id,
            "spanId": trace.span,
            "body": { "stringValue": format!("{} {}", line.event, brief.decision) },
            "attributes": of_decision(decision),
        });
        let scope = json!({ "scope": scope(), "logRecords": [record] });
        json_line(
            &json!({ "resourceLogs": [{ "resource": resource(), "scopeLogs": [scope] }] }),
            out,
        )
    }
}

impl DecisionWriter for OtlpTraces {
    fn add(&mut self, decision: &LoggedDecision<'_>, out: &mut dyn Write) -> io::Result<()> {
        let trace = decision.trace();
        let mut own = span(&trace, &trace.span, trace.parent.as_deref());
        let start = decision.started_us();
        own.insert("name".into(), format!("hookrun {}", decision.line.event).into());
        own.insert("startTimeUnixNano".into(), nanos(start).into());
        own.insert("endTimeUnixNano".into(), nanos(decision.ended_us).into());
        own.insert("attributes".into(), of_decision(decision).into());
        if decision.has_failed() {
            own.insert("status".into(), json!({ "code": STATUS_ERROR }));
        }
        let mut spans = vec![Value::Object(own)];
        for (number, call) in (1..).zip(decision.calls()) {
            spans.push(of_call(&call, &trace, SpanPlace { number, start }));
        }
        let scope = json!({ "scope": scope(), "spans": spans });
        json_line(
            &json!({ "resourceSpans": [{ "resource": resource(), "scopeSpans": [scope] }] }),
            out,
        )
    }
}

/// Where a hook's span lies in that of its decision.
struct SpanPlace {
    number: u64,
    /// When the decision began, in microseconds since 1970.
    start: u64,
}

fn of_call(call: &HookCall<'_>, trace: &TraceLine, place: SpanPlace) -> Value {
    let id = u64::from_str_radix(&trace.span, 16).unwrap_or_default().wrapping_add(place.number);
    let mut made = span(trace, &format!("{id:016x}"), Some(&trace.span));
    let start = place.start + call.after_us;
    made.insert("name".into(), call.name.into());
    made.insert("startTimeUnixNano".into(), nanos(start).into());
    made.insert("endTimeUnixNano".into(), nanos(start + call.took_us).into());
    let mut attributes = OtlpAttributes::default();
    attributes.text("hookrun.hook", Some(call.name));
    attributes.text("hookrun.verdict", Some(call.verdict));
    attributes.text("hookrun.ending", Some(call.ending).filter(|name| !name.is_empty()));
    attributes.number("hookrun.exit_status", call.status.map(i64::from));
    attributes.number("hookrun.signal", call.signal.map(i64::from));
    attributes.text("error.type", call.failure.map(|_| error_type(call)));
    made.insert("attributes".into(), attributes.0.into());
    if let Some(failure) = call.failure {
        made.insert("status".into(), json!({ "code": STATUS_ERROR, "message": failure }));
    }
    Value::Object(made)
}

/// Few different words, as `error.type` wants them.
fn error_type<'c>(call: &HookCall<'c>) -> &'c str {
    if call.ending.is_empty() { "failed" } else { call.ending }
}

fn span(trace: &TraceLine, id: &str, parent: Option<&str>) -> Map<String, Value> {
    let mut made = Map::new();
    made.insert("traceId".into(), trace.id.as_str().into());
    made.insert("spanId".into(), id.into());
    if let Some(parent) = parent {
        made.insert("parentSpanId".into(), parent.into());
    }
    made.insert("kind".into(), INTERNAL.into());
    made
}

fn of_decision(decision: &LoggedDecision<'_>) -> Vec<Value> {
    let (line, brief, subject) = (decision.line, decision.brief, &decision.subject);
    let mut attributes = OtlpAttributes::default();
    attributes.text("hookrun.event", Some(&line.event));
    attributes.text("hookrun.host", Some(&line.host));
    attributes.text("hookrun.decision", Some(&brief.decision));
    attributes.text("hookrun.cause", brief.cause.as_deref());
    attributes.text("hookrun.hook", brief.decided_by.as_deref());
    attributes.text("hookrun.reason", brief.reason.as_deref());
    attributes.real("hookrun.duration_ms", brief.took_ms);
    attributes.number("hookrun.hooks", i64::try_from(decision.calls().len()).ok());
    attributes.text("gen_ai.conversation.id", line.session.as_deref());
    attributes.text("gen_ai.tool.name", subject.tool_name.as_deref());
    attributes.text("gen_ai.tool.call.id", subject.tool_call_id.as_deref());
    let calls = decision.calls();
    let failed = calls.iter().find(|call| call.failure.is_some()).map(error_type);
    let own = decision.has_failed().then_some("hookrun");
    attributes.text("error.type", failed.or(own));
    attributes.0
}

/// Attributes in OTLP's form; those without a value are left out.
#[derive(Default)]
struct OtlpAttributes(Vec<Value>);

impl OtlpAttributes {
    fn text(&mut self, key: &str, value: Option<&str>) {
        self.add(key, "stringValue", value);
    }

    fn number(&mut self, key: &str, value: Option<i64>) {
        self.add(key, "intValue", value.map(|value| value.to_string()));
    }

    fn real(&mut self, key: &str, value: f64) {
        self.add(key, "doubleValue", Some(value));
    }

    fn add(&mut self, key: &str, kind: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.0.push(json!({ "key": key, "value": { kind: value } }));
        }
    }
}

fn resource() -> Value {
    json!({ "attributes": [{ "key": "service.name", "value": { "stringValue": "hookrun" } }] })
}

fn scope() -> Value {
    json!({ "name": "hookrun", "version": env!("CARGO_PKG_VERSION") })
}

fn nanos(us: u64) -> String {
    format!("{us}000")
}
