//! Chrome's trace format, which Perfetto and `chrome://tracing` show: a process for each session,
//! a slice for each decision, and one for each hook in it. What overlaps has a lane each.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::decision::{DecisionWriter, LoggedDecision, json_text, ms, us};
use crate::log::report::present;

const LONGEST_SUBJECT: usize = 120;

#[derive(Debug, Default)]
pub(super) struct ChromeTrace {
    has_begun: bool,
    /// By host and session.
    sessions: HashMap<(String, String), SessionLanes>,
}

/// The number of a session, and when the last slice of each of its lanes ends.
#[derive(Debug, Default)]
struct SessionLanes {
    number: usize,
    ends: Vec<u64>,
}

impl SessionLanes {
    /// The first lane that is free from `start` on. It is taken until `end`.
    fn take(&mut self, start: u64, end: u64) -> usize {
        let free = self.ends.iter().position(|taken| *taken <= start);
        let lane = free.unwrap_or(self.ends.len());
        self.ends.resize(self.ends.len().max(lane + 1), 0);
        self.ends[lane] = end;
        lane + 1
    }
}

impl ChromeTrace {
    fn event(&mut self, event: &Value, out: &mut dyn Write) -> io::Result<()> {
        let before: &[u8] = if self.has_begun {
            b",\n"
        } else {
            b"{\"traceEvents\":[\n"
        };
        self.has_begun = true;
        out.write_all(before)?;
        out.write_all(json_text(event)?.as_bytes())
    }
}

impl DecisionWriter for ChromeTrace {
    fn add(&mut self, decision: &LoggedDecision<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (line, brief) = (decision.line, decision.brief);
        let session = line.session.clone().unwrap_or_default();
        let name = format!("{} {session}", line.host).trim_end().to_string();
        let (start, took) = (decision.started_us(), us(brief.took_ms));
        let number = self.sessions.len() + 1;
        let lanes = self
            .sessions
            .entry((line.host.clone(), session))
            .or_default();
        let is_new = lanes.number == 0;
        if is_new {
            lanes.number = number;
        }
        let pid = lanes.number;
        let lane = lanes.take(start, start + took);
        let calls = decision.calls();
        let mut own_end = 0;
        let mut places = Vec::with_capacity(calls.len());
        for call in &calls {
            let end = call.after_us + call.took_us;
            let is_free = call.after_us >= own_end && end <= took;
            places.push(if is_free {
                lane
            } else {
                lanes.take(start + call.after_us, start + end)
            });
            if is_free {
                own_end = end;
            }
        }
        if is_new {
            let name =
                json!({ "ph": "M", "name": "process_name", "pid": pid, "args": { "name": name } });
            self.event(&name, out)?;
        }
        let subject = decision.subject.words(LONGEST_SUBJECT);
        let slice = json!({
            "ph": "X", "cat": "event", "name": line.event, "pid": pid, "tid": lane, "ts": start,
            "dur": took,
            "args": present(json!({
                "decision": brief.decision, "decided_by": brief.decided_by,
                "reason": brief.reason, "cause": brief.cause, "about": subject,
            })),
        });
        self.event(&slice, out)?;
        for (call, tid) in calls.iter().zip(places) {
            let slice = json!({
                "ph": "X", "cat": "hook", "name": call.name, "pid": pid, "tid": tid,
                "ts": start + call.after_us, "dur": call.took_us,
                "args": present(json!({
                    "verdict": call.verdict, "status": call.status, "signal": call.signal,
                    "failure": call.failure, "timeout_ms": call.timeout_us.map(ms),
                })),
            });
            self.event(&slice, out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.has_begun {
            out.write_all(b"{\"traceEvents\":[")?;
        }
        out.write_all(b"\n],\"displayTimeUnit\":\"ms\"}\n")
    }
}
