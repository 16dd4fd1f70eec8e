//! Logged decisions for people with a browser and for other programs: a page and JSON lines. No file
//! and no clock is read, so the same decisions make the same bytes.

mod html;

use std::io::{self, Write};

use serde::Serialize;

use crate::engine::harmless::json;
use crate::log::record::{Brief, DecisionLine, Subject};

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
    trace_id: Option<&'d str>,
    span_id: Option<&'d str>,
}

impl<'d> FlatRow<'d> {
    fn of(line: &'d DecisionLine<'_>, brief: &'d Brief<'_>, subject: &'d Subject) -> FlatRow<'d> {
        let calls = brief.hooks.iter().filter(|hook| hook.took_ms.is_some());
        let slowest = calls.clone().max_by(|one, other| {
            let (one, other) = (one.took_ms.unwrap_or(0.0), other.took_ms.unwrap_or(0.0));
            one.total_cmp(&other)
        });
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
            failed: brief.has_failed(),
            took_ms: brief.took_ms,
            hooks: calls.count(),
            slowest_hook: slowest.map(|hook| hook.name.as_ref()),
            slowest_ms: slowest.and_then(|hook| hook.took_ms),
            trace_id: line.trace.as_ref().map(|trace| trace.id.as_str()),
            span_id: line.trace.as_ref().map(|trace| trace.span.as_str()),
        }
    }
}

/// Writes a decision as a flat line of JSON that is harmless where somebody prints it.
pub fn json_line(
    line: &DecisionLine<'_>,
    brief: &Brief<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let subject = line.subject();
    let text = serde_json::to_string(&FlatRow::of(line, brief, &subject))?;
    writeln!(out, "{}", json(&text))
}
