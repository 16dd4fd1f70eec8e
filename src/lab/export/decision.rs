//! A kept decision as reports see it.

use crate::engine::run::TraceContext;
use crate::log::record::{Brief, DecisionLine, RecordError, Subject, TraceLine};

/// A decision of the log, read as far as a report needs it.
#[derive(Debug)]
pub struct LoggedDecision<'l> {
    pub line: &'l DecisionLine<'l>,
    pub brief: &'l Brief<'l>,
    pub subject: Subject,
    /// When it was decided, in microseconds since 1970; the log has milliseconds.
    pub ended_us: u64,
}

impl<'l> LoggedDecision<'l> {
    /// # Errors
    /// When its time is none.
    pub fn of(
        line: &'l DecisionLine<'l>,
        brief: &'l Brief<'l>,
    ) -> Result<LoggedDecision<'l>, RecordError> {
        let time = humantime::parse_rfc3339_weak(&line.time).ok();
        let time = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let Some(ended_us) = time.and_then(|since| u64::try_from(since.as_micros()).ok()) else {
            return Err(RecordError::Other {
                problem: "its `time` is no time".to_string(),
            });
        };
        Ok(LoggedDecision {
            line,
            brief,
            subject: line.subject(),
            ended_us,
        })
    }

    pub fn started_us(&self) -> u64 {
        self.ended_us.saturating_sub(us(self.brief.took_ms))
    }

    /// Whether a hook failed, or hookrun itself.
    pub fn has_failed(&self) -> bool {
        self.brief.cause.as_deref() == Some("failure")
            || self.brief.hooks.iter().any(|hook| hook.failure.is_some())
    }

    /// The hooks that ran, each with its time.
    pub fn calls(&self) -> Vec<HookCall<'_>> {
        let mut calls = Vec::new();
        let mut end = 0;
        for hook in &self.brief.hooks {
            let Some(took) = hook.took_ms.filter(|_| hook.fate == "ran") else {
                continue;
            };
            // Older logs do not say when a hook began: then it is the end of the one before.
            let after = hook.after_ms.map_or(end, us);
            end = end.max(after + us(took));
            let said = hook
                .verdict
                .as_ref()
                .map(|verdict| verdict.decision.as_ref());
            let verdict = if hook.failure.is_some() {
                "failed"
            } else {
                said.unwrap_or("failed")
            };
            calls.push(HookCall {
                name: &hook.name,
                after_us: after,
                took_us: us(took),
                timeout_us: hook.timeout_ms.map(us),
                verdict,
                failure: hook.failure.as_deref(),
            });
        }
        calls
    }

    /// Where it belongs in a trace. Logs that do not say it are of the trace of their session.
    pub fn trace(&self) -> TraceLine {
        self.line.trace.clone().unwrap_or_else(|| {
            let session = self.line.session.as_deref();
            let unique = format!("{} {}", self.line.time, session.unwrap_or_default());
            let TraceContext { id, span, .. } = TraceContext::of(None, session, &unique);
            TraceLine {
                id,
                span,
                parent: None,
            }
        })
    }
}

/// A hook that ran for a decision.
#[derive(Debug)]
pub struct HookCall<'c> {
    pub name: &'c str,
    /// From the beginning of the decision.
    pub after_us: u64,
    pub took_us: u64,
    /// `None` if it might run without an end, and in logs that do not say it.
    pub timeout_us: Option<u64>,
    /// `allow`, `ask`, `block` or `failed`.
    pub verdict: &'c str,
    pub failure: Option<&'c str>,
}

/// More than this nothing takes: 30 years. A log may say anything, and times are added.
const LONGEST_US: f64 = 1e15;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates"
)]
pub(super) fn us(ms: f64) -> u64 {
    (ms * 1e3).round().min(LONGEST_US) as u64
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of 200 years fit")]
pub(super) fn ms(us: u64) -> f64 {
    us as f64 / 1e3
}
