//! Kept decisions for people with a browser and for other programs: one model, [`LoggedDecision`],
//! a page and JSON lines. Nothing is read and no clock is looked at, so the same decisions make the
//! same bytes.

mod decision;
mod html;

use std::io::{self, Write};

use serde::Serialize;

use crate::engine::harmless::json;
use decision::ms;

pub use decision::{HookCall, LoggedDecision};
pub use html::HtmlReport;

/// One level deep, with the same columns in every line: DuckDB, Polars and SQLite make a table of
/// it.
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

impl<'d> FlatRow<'d> {
    fn of(decision: &'d LoggedDecision<'d>) -> FlatRow<'d> {
        let line = decision.line;
        let brief = decision.brief;
        let subject = &decision.subject;
        let calls = decision.calls();
        let slowest = calls.iter().max_by_key(|call| call.took_us);
        let trace = decision.trace();
        FlatRow {
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
        }
    }
}

/// Writes a decision as a flat line of JSON that is harmless where somebody prints it.
pub fn json_line(decision: &LoggedDecision<'_>, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string(&FlatRow::of(decision))?;
    let mut line = json(&text).into_owned();
    line.push('\n');
    out.write_all(line.as_bytes())
}
