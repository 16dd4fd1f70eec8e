//! A line of JSON for each decision, one level deep, with the same columns in every line: what
//! DuckDB, Polars and SQLite make a table of.

use std::io::{self, Write};

use serde::Serialize;

use super::decision::{DecisionWriter, LoggedDecision, json_line, ms};

#[derive(Debug)]
pub(super) struct FlatLines;

#[derive(Serialize)]
struct FlatRow<'d> {
    time: &'d str,
    event: &'d str,
    host: &'d str,
    session: Option<&'d str>,
    cwd: Option<&'d str>,
    door: Option<&'d str>,
    tool: Option<&'d str>,
    action: Option<&'d str>,
    command: Option<&'d str>,
    path: Option<&'d str>,
    decision: &'d str,
    cause: Option<&'d str>,
    decided_by: Option<&'d str>,
    reason: Option<&'d str>,
    failed: bool,
    took_ms: f64,
    hooks: usize,
    slowest_hook: Option<&'d str>,
    slowest_ms: Option<f64>,
    trace_id: String,
    span_id: String,
}

impl DecisionWriter for FlatLines {
    fn add(&mut self, decision: &LoggedDecision<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (line, brief, subject) = (decision.line, decision.brief, &decision.subject);
        let calls = decision.calls();
        let slowest = calls.iter().max_by_key(|call| call.took_us);
        let trace = decision.trace();
        let row = FlatRow {
            time: &line.time,
            event: &line.event,
            host: &line.host,
            session: line.session.as_deref(),
            cwd: line.cwd.as_deref(),
            door: line.door.as_deref(),
            tool: subject.tool_name.as_deref(),
            action: subject
                .action
                .as_ref()
                .and_then(|action| action.kind.as_deref()),
            command: subject.command(),
            path: subject.path(),
            decision: &brief.decision,
            cause: brief.cause.as_deref(),
            decided_by: brief.decided_by.as_deref(),
            reason: brief.reason.as_deref(),
            failed: decision.has_failed(),
            took_ms: brief.took_ms,
            hooks: calls.len(),
            slowest_hook: slowest.map(|call| call.name),
            slowest_ms: slowest.map(|call| ms(call.took_us)),
            trace_id: trace.id,
            span_id: trace.span,
        };
        json_line(&row, out)
    }
}
