//! What was decided, counted for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use crate::engine::lock::locked;

/// The bounds of the histogram, in microseconds, and as they are written.
const BOUNDS: &[(u64, &str)] = &[
    (500, "0.0005"),
    (1_000, "0.001"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (5_000_000, "5"),
    (30_000_000, "30"),
];

/// How many events are counted by name; clients can name any.
const MOST_EVENTS: usize = 256;

/// Why a request was not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UnservedReason {
    Overload,
    Access,
    Malformed,
}

impl UnservedReason {
    fn word(self) -> &'static str {
        match self {
            UnservedReason::Overload => "overload",
            UnservedReason::Access => "access",
            UnservedReason::Malformed => "malformed",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct HttpMetrics {
    counts: Mutex<HttpCounts>,
}

#[derive(Debug, Default)]
struct HttpCounts {
    /// By event, then allow, ask and block.
    decisions: BTreeMap<String, BTreeMap<&'static str, u64>>,
    unserved: BTreeMap<UnservedReason, u64>,
    /// As many as there are bounds, and one for what took longer.
    buckets: [u64; BOUNDS.len() + 1],
    micros: u64,
}

impl HttpMetrics {
    pub(super) fn decided(&self, event: &str, decision: &'static str, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.iter().position(|(bound, _)| micros <= *bound);
        let mut counts = locked(&self.counts);
        let is_known = counts.decisions.contains_key(event);
        let event = if is_known || counts.decisions.len() < MOST_EVENTS {
            event
        } else {
            "other"
        };
        let by_decision = counts.decisions.entry(event.to_string()).or_default();
        *by_decision.entry(decision).or_default() += 1;
        counts.buckets[bucket.unwrap_or(BOUNDS.len())] += 1;
        counts.micros = counts.micros.saturating_add(micros);
    }

    pub(super) fn unserved(&self, why: UnservedReason) {
        *locked(&self.counts).unserved.entry(why).or_default() += 1;
    }

    /// All of them in Prometheus' text format.
    pub(super) fn text(&self, in_progress: usize) -> String {
        let counts = locked(&self.counts);
        let mut text = String::new();
        begin(
            &mut text,
            "decisions_total",
            "counter",
            "Events that were decided.",
        );
        for (event, by_decision) in &counts.decisions {
            let event = event
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            for (word, count) in by_decision {
                let labels = format!("event=\"{event}\",decision=\"{word}\"");
                line(&mut text, "decisions_total", &labels, count);
            }
        }
        begin(
            &mut text,
            "unserved_total",
            "counter",
            "Requests that were not decided.",
        );
        for (why, count) in &counts.unserved {
            let labels = format!("reason=\"{}\"", why.word());
            line(&mut text, "unserved_total", &labels, count);
        }
        begin(
            &mut text,
            "in_progress",
            "gauge",
            "Events that are being decided.",
        );
        let _ = writeln!(text, "hookrun_in_progress {in_progress}");
        begin(
            &mut text,
            "decision_seconds",
            "histogram",
            "How long decisions took.",
        );
        let mut so_far = 0;
        let bounds = BOUNDS.iter().map(|(_, bound)| *bound).chain(["+Inf"]);
        for (bound, count) in bounds.zip(counts.buckets) {
            so_far += count;
            let labels = format!("le=\"{bound}\"");
            line(&mut text, "decision_seconds_bucket", &labels, &so_far);
        }
        let seconds = Duration::from_micros(counts.micros).as_secs_f64();
        let _ = writeln!(text, "hookrun_decision_seconds_sum {seconds}");
        let _ = writeln!(text, "hookrun_decision_seconds_count {so_far}");
        text
    }
}

fn begin(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "# HELP hookrun_{name} {help}\n# TYPE hookrun_{name} {kind}"
    );
}

fn line(text: &mut String, name: &str, labels: &str, count: &u64) {
    let _ = writeln!(text, "hookrun_{name}{{{labels}}} {count}");
}
