//! Exports logged decisions: as JSON lines, or as an HTML page with charts and the newest
//! decisions.
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

use crate::engine::harmless::{self, plain, visible};
use crate::engine::names::hex;
use crate::engine::outcome::joined;
use crate::lab::report::stats::Stats;
use crate::lab::report::style::cut;
use crate::log::DecisionLine;
use crate::log::report::RunReport;

/// Writes a decision as a JSON line that is safe to print in a terminal: one level deep, with the same
/// keys in every line, for DuckDB, Polars and SQLite.
pub fn json_line(line: &DecisionLine<'_>, run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let subject = line.subject();
    let action = subject.action.as_ref();
    let trace = line.trace.as_ref();
    let traces = run.traces();
    let slowest = traces.max_by(|(_, one), (_, other)| one.took_ms.total_cmp(&other.took_ms));
    let row = json!({
        "time": line.time,
        "event": line.event,
        "host": line.host,
        "session": line.session,
        "cwd": line.cwd,
        "door": line.door,
        "tool": subject.tool_name,
        "action": action.and_then(|action| action.kind.as_deref()),
        "command": subject.command(),
        "path": subject.path(),
        "decision": run.decision,
        "cause": run.cause,
        "decided_by": run.decided_by,
        "reason": run.reason,
        "failed": run.has_failed(),
        "took_ms": run.took_ms,
        "hooks": run.traces().count(),
        "slowest_hook": slowest.map(|(hook, _)| &hook.name),
        "slowest_ms": slowest.map(|(_, trace)| trace.took_ms),
        "trace_id": trace.map(|trace| &trace.id),
        "span_id": trace.map(|trace| &trace.span),
    });
    writeln!(out, "{}", harmless::json(&row.to_string()))
}

const PAGE: &str = include_str!("export/page.html");

/// The most decisions in the list, and their most bytes, so that the page opens fast.
const MOST_LISTED: usize = 10_000;
const MOST_LISTED_BYTES: usize = 1_500_000;

/// The most rows of blocks, the most frequent first.
const MOST_BLOCKS: usize = 500;

const MOST_BARS: u64 = 96;

const MINUTE_MS: u64 = 60_000;

const LONGEST_SUBJECT: usize = 100;

const CLASSES: [&str; 4] = ["allow", "ask", "block", "failed"];

const BLOCK: usize = 2;

type ClassCounts = [u64; 4];

#[derive(Debug, Default)]
pub struct HtmlReport {
    stats: Stats,
    minutes: BTreeMap<u64, ClassCounts>,
    blocks: HashMap<[String; 2], BlockGroup>,
    newest: VecDeque<ListedDecision>,
}

#[derive(Debug, Default, Serialize)]
struct BlockGroup {
    count: u64,
    /// The newest.
    reason: String,
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
        self.stats.add(&line.time, run);
        let class = CLASSES.iter().position(|class| *class == run.class());
        let class = class.unwrap_or(BLOCK);
        self.minutes.entry(ended / MINUTE_MS).or_default()[class] += 1;
        let subject = line.subject().words(LONGEST_SUBJECT).unwrap_or_default();
        let mut asked_by = run.questions.iter().map(|question| question.hook.as_str());
        let by = run.decided_by.as_deref().or_else(|| asked_by.next());
        let reason = run.reason.clone().unwrap_or_else(|| joined(&run.questions));
        let listed = ListedDecision {
            ended,
            event: plain(&line.event),
            host: plain(&line.host),
            class: CLASSES[class],
            took: run.took_ms,
            by: plain(by.unwrap_or_default()),
            reason: cut(&visible(&reason)),
            about: plain(&subject),
        };
        if run.decision == "block" {
            // A hook's reason may contain the command; hookrun's own reasons are few.
            let own = run.decided_by.is_none().then(|| listed.reason.clone());
            let key = [listed.by.clone(), own.unwrap_or_default()];
            let group = self.blocks.entry(key).or_default();
            group.count += 1;
            group.reason.clone_from(&listed.reason);
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
        let mut blocks: Vec<([String; 2], BlockGroup)> = self.blocks.into_iter().collect();
        blocks.sort_by(|(key, group), (other_key, other)| {
            (Reverse(group.count), key).cmp(&(Reverse(other.count), other_key))
        });
        blocks.truncate(MOST_BLOCKS);
        let (start, width, bars) = bars(&self.minutes);
        let data = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "summary": self.stats.report(),
            "classes": CLASSES,
            "over": { "start": start * MINUTE_MS, "width": width * MINUTE_MS, "bars": bars },
            "blocks": blocks,
            "rows": rows,
        });
        // No text can close its element.
        let data = data.to_string().replace('<', "\\u003c");
        let nonce = hex(&Sha256::digest(data.as_bytes()));
        let (head, foot) = PAGE.split_once("{{data}}").unwrap_or((PAGE, ""));
        let head = head.replace("{{nonce}}", &nonce);
        let foot = foot.replace("{{nonce}}", &nonce);
        write!(out, "{head}{data}{foot}")
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
