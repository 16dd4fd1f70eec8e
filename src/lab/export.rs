//! Logged decisions as an HTML page with charts, the figures of each hook, and the newest decisions.
//!
//! The page is a template with a script; this file writes its data. It needs no network, its
//! content security policy allows only its script and style, and no text of a hook is markup.
//! Nothing here reads files or the clock, so equal decisions give equal bytes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::engine::harmless::plain;
use crate::lab::report::style::column;
use crate::log::record::DecisionLine;
use crate::log::report::{HookReport, RunReport, TraceReport};

const PAGE: &str = include_str!("export/page.html");

/// The most decisions in the list, and their most bytes, so that the page opens fast.
const MOST_LISTED: usize = 10_000;
const MOST_LISTED_BYTES: usize = 1_500_000;

/// The most distinct blocks in the list, the most frequent first.
const MOST_BLOCKS: usize = 500;

const MOST_BARS: u64 = 96;

const MINUTE_MS: u64 = 60_000;

const LONGEST_SUBJECT: usize = 100;
const LONGEST_REASON: usize = 200;

const CLASSES: [&str; 4] = ["allow", "ask", "block", "failed"];

type ClassCounts = [u64; 4];

#[derive(Debug, Default)]
pub struct HtmlReport {
    sums: DecisionSums,
    /// The figures of each hook, and the time of each of its runs in milliseconds.
    hooks: BTreeMap<String, (HookSums, Vec<f64>)>,
    minutes: BTreeMap<u64, ClassCounts>,
    blocks: HashMap<[String; 2], BlockGroup>,
    newest: VecDeque<ListedDecision>,
}

#[derive(Debug, Default, Serialize)]
struct DecisionSums {
    decisions: u64,
    allowed: u64,
    blocked: u64,
    asked: u64,
    /// Decisions in which a hook or hookrun failed.
    failed: u64,
    /// The times of the first and the last decision (RFC 3339).
    from: String,
    to: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSums {
    name: String,
    calls: u64,
    blocked: u64,
    asked: u64,
    failed: u64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    total_ms: f64,
    /// Its last timeout, if any.
    timeout_ms: Option<f64>,
}

#[derive(Debug, Default, Serialize)]
struct BlockGroup {
    count: u64,
    last: String,
    about: String,
}

#[derive(Debug, Serialize)]
struct ListedDecision {
    ended: u64,
    event: String,
    host: String,
    class: &'static str,
    took: f64,
    by: String,
    reason: String,
    about: String,
}

impl HtmlReport {
    /// Adds a decision; call it in log order.
    pub fn add(&mut self, line: &DecisionLine<'_>, run: &RunReport) {
        let Some(ended) = line.time_ms() else { return };
        self.sums.add(&line.time, run);
        for (hook, trace) in run.traces() {
            let (sums, times) = self.hooks.entry(hook.name.clone()).or_default();
            sums.add(hook, trace);
            times.push(trace.took_ms);
        }
        let class = match run.decision.as_ref() {
            _ if run.has_failed() => 3,
            "allow" => 0,
            "ask" => 1,
            _ => 2,
        };
        self.minutes.entry(ended / MINUTE_MS).or_default()[class] += 1;
        let subject = line.subject().words(LONGEST_SUBJECT).unwrap_or_default();
        let listed = ListedDecision {
            ended,
            event: plain(&line.event),
            host: plain(&line.host),
            class: CLASSES[class],
            took: run.took_ms,
            by: plain(run.decided_by.as_deref().unwrap_or_default()),
            reason: column(run.reason.as_deref().unwrap_or_default(), LONGEST_REASON),
            about: plain(&subject),
        };
        if run.decision == "block" {
            let key = [listed.by.clone(), listed.reason.clone()];
            let group = self.blocks.entry(key).or_default();
            group.count += 1;
            group.last.clone_from(&line.time);
            group.about.clone_from(&listed.about);
        }
        if self.newest.len() == MOST_LISTED {
            self.newest.pop_front();
        }
        self.newest.push_back(listed);
    }

    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let mut rows = Vec::new();
        let mut bytes = 0;
        for listed in self.newest.iter().rev() {
            let row = serde_json::to_value(listed)?;
            bytes += row.to_string().len();
            if bytes > MOST_LISTED_BYTES {
                break;
            }
            rows.push(row);
        }
        let mut hooks = Vec::new();
        for (name, (mut sums, mut times)) in self.hooks {
            times.sort_by(f64::total_cmp);
            sums.name = name;
            sums.p50_ms = times[(times.len() - 1) / 2];
            sums.p99_ms = times[(times.len() - 1) * 99 / 100];
            sums.max_ms = times[times.len() - 1];
            sums.total_ms = times.iter().sum();
            hooks.push(sums);
        }
        hooks.sort_by(|one, other| other.total_ms.total_cmp(&one.total_ms));
        let mut blocks: Vec<([String; 2], BlockGroup)> = self.blocks.into_iter().collect();
        blocks.sort_by(|(key, group), (other_key, other)| {
            (Reverse(group.count), key).cmp(&(Reverse(other.count), other_key))
        });
        blocks.truncate(MOST_BLOCKS);
        let (start, width, bars) = bars(&self.minutes);
        let data = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "summary": self.sums,
            "hooks": hooks,
            "classes": CLASSES,
            "over": { "start": start * MINUTE_MS, "width": width * MINUTE_MS, "bars": bars },
            "blocks": blocks,
            "rows": rows,
        });
        // No text can close its element.
        let data = data.to_string().replace('<', "\\u003c");
        let nonce: String = Sha256::digest(data.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let (head, foot) = PAGE.split_once("{{data}}").unwrap_or((PAGE, ""));
        let head = head.replace("{{nonce}}", &nonce);
        let foot = foot.replace("{{nonce}}", &nonce);
        write!(out, "{head}{data}{foot}")
    }
}

impl DecisionSums {
    fn add(&mut self, time: &str, run: &RunReport) {
        self.decisions += 1;
        match run.decision.as_ref() {
            "allow" => self.allowed += 1,
            "ask" => self.asked += 1,
            _ => self.blocked += 1,
        }
        self.failed += u64::from(run.has_failed());
        if self.from.is_empty() || *time < *self.from {
            self.from = time.to_string();
        }
        if *time > *self.to {
            self.to = time.to_string();
        }
    }
}

impl HookSums {
    fn add(&mut self, hook: &HookReport, trace: &TraceReport) {
        self.calls += 1;
        self.failed += u64::from(trace.failure.is_some());
        if let Some(verdict) = &trace.verdict {
            self.blocked += u64::from(verdict.decision == "block");
            self.asked += u64::from(verdict.decision == "ask");
        }
        self.timeout_ms = hook.timeout_ms;
    }
}

/// The bars of the chart over time: the first minute, the minutes per bar, and the counts.
fn bars(minutes: &BTreeMap<u64, ClassCounts>) -> (u64, u64, Vec<ClassCounts>) {
    let (Some((first, _)), Some((last, _))) = (minutes.first_key_value(), minutes.last_key_value())
    else {
        return (0, 1, Vec::new());
    };
    let width = (last - first) / MOST_BARS + 1;
    let mut bars: Vec<ClassCounts> = Vec::new();
    for (minute, counts) in minutes {
        let bar = usize::try_from((minute - first) / width).unwrap_or_default();
        if bars.len() <= bar {
            bars.resize(bar + 1, [0; 4]);
        }
        for (sum, count) in bars[bar].iter_mut().zip(counts) {
            *sum += count;
        }
    }
    (*first, width, bars)
}
