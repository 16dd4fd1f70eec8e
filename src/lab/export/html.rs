//! One page with everything a person wants to see of many decisions: figures, and a list of the
//! newest. The page is a template with a script that draws; here is only its data.
//!
//! It needs no network. Its policy allows this one script and style and nothing else, and no text
//! of a hook is ever markup.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::decision::{HookCall, LoggedDecision, ms, us};
use crate::engine::harmless::plain;
use crate::log::stats::{HookStats, Stats};

const PAGE: &str = include_str!("html/page.html");

/// How many decisions the list has at most, and how many bytes: the page must open at once.
const MOST_LISTED: usize = 10_000;
const MOST_LISTED_BYTES: usize = 1_200_000;

const MOST_SLOWEST: usize = 20;

const LONGEST_SUBJECT: usize = 100;
const LONGEST_REASON: usize = 200;

/// What decisions count as in charts.
const CLASSES: [&str; 4] = ["allow", "ask", "block", "failed"];

#[derive(Debug, Default)]
pub struct HtmlReport {
    stats: Stats,
    failed: u64,
    buckets: Buckets,
    events: BTreeMap<String, ClassCounts>,
    hosts: BTreeMap<String, ClassCounts>,
    /// The deadline that each hook had last, in microseconds.
    timeouts: BTreeMap<String, u64>,
    blocks: Groups,
    failures: Groups,
    /// The slowest first; of equals the older one.
    slowest: Vec<SlowDecision>,
    newest: VecDeque<ListedDecision>,
}

#[derive(Debug)]
struct SlowDecision {
    took_us: u64,
    shown: Value,
}

#[derive(Debug)]
struct ListedDecision {
    ended_ms: u64,
    event: String,
    host: String,
    class: usize,
    took_us: u64,
    by: Option<String>,
    reason: Option<String>,
    subject: String,
}

impl HtmlReport {
    /// The next decision, in the order of the log.
    pub fn add(&mut self, decision: &LoggedDecision<'_>) {
        let (line, brief) = (decision.line, decision.brief);
        self.stats.add(&line.time, brief);
        self.failed += u64::from(decision.has_failed());
        let class = class_of(decision);
        self.buckets.add(decision.ended_us, class);
        for (counts, name) in [
            (&mut self.events, &line.event),
            (&mut self.hosts, &line.host),
        ] {
            counts.entry(plain(name)).or_default()[class] += 1;
        }
        let subject = decision.subject.words(LONGEST_SUBJECT);
        let subject = plain(&subject.unwrap_or_default());
        let by = brief.decided_by.as_deref().map(plain);
        let reason = brief
            .reason
            .as_deref()
            .map(|reason| cut(&plain(reason), LONGEST_REASON));
        if brief.decision == "block" {
            let who = by.as_deref().unwrap_or("hookrun");
            let why = reason.as_deref().unwrap_or_default();
            self.blocks.add([who, why], &line.time, &subject);
        }
        for call in decision.calls() {
            if let Some(timeout) = call.timeout_us {
                self.timeouts.insert(call.name.to_string(), timeout);
            }
            if let Some(failure) = call.failure {
                let failure = cut(&plain(failure), LONGEST_REASON);
                self.failures
                    .add([&plain(call.name), &failure], &line.time, &subject);
            }
        }
        let took_us = us(brief.took_ms);
        self.note_slow(decision, took_us, &subject);
        if self.newest.len() == MOST_LISTED {
            self.newest.pop_front();
        }
        let (event, host) = (plain(&line.event), plain(&line.host));
        let ended_ms = decision.ended_us / 1000;
        self.newest.push_back(ListedDecision {
            ended_ms,
            event,
            host,
            class,
            took_us,
            by,
            reason,
            subject,
        });
    }

    fn note_slow(&mut self, decision: &LoggedDecision<'_>, took_us: u64, subject: &str) {
        let at = self.slowest.partition_point(|slow| slow.took_us >= took_us);
        if at >= MOST_SLOWEST {
            return;
        }
        let call = |call: HookCall<'_>| {
            json!({
                "name": plain(call.name), "after": ms(call.after_us), "took": ms(call.took_us),
                "timeout": call.timeout_us.map(ms), "verdict": call.verdict,
            })
        };
        let shown = json!({
            "time": decision.line.time, "event": plain(&decision.line.event),
            "host": plain(&decision.line.host), "took": ms(took_us), "about": subject,
            "class": CLASSES[class_of(decision)],
            "hooks": decision.calls().into_iter().map(call).collect::<Vec<_>>(),
        });
        self.slowest.insert(at, SlowDecision { took_us, shown });
        self.slowest.truncate(MOST_SLOWEST);
    }

    /// Whether a page is one of ours, and may be replaced.
    pub fn is_one(page: &str) -> bool {
        page.contains("\"hookrunReport\":1")
    }

    /// Writes the page.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let (from, to) = self.stats.span.clone().unzip();
        let mut names = NameIndex::default();
        let (rows, listed) = self.rows(&mut names);
        let data = json!({
            "hookrunReport": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "from": from,
            "to": to,
            "summary": self.summary(),
            "classes": CLASSES,
            "over": self.buckets.shown(),
            "events": self.events,
            "hosts": self.hosts,
            "blocks": self.blocks.shown(),
            "failures": self.failures.shown(),
            "slowest": self.slowest.iter().map(|slow| &slow.shown).collect::<Vec<_>>(),
            "left": self.stats.decisions - listed,
            "names": names.all(),
            "rows": rows,
        });
        // No text can end the element that it is in.
        let data = data.to_string().replace('<', "\\u003c");
        let nonce: String = Sha256::digest(data.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let (head, foot) = PAGE.split_once("{{data}}").unwrap_or((PAGE, ""));
        let ours = |part: &str| part.replace("{{nonce}}", &nonce);
        write!(out, "{}{data}{}", ours(head), ours(foot))
    }

    fn summary(&self) -> Value {
        let hook = |(name, hook): (&String, &HookStats)| {
            let times = &hook.latencies;
            let p99 = times.percentile_ms(0.99);
            let timeout = self.timeouts.get(name).map(|us| ms(*us));
            let shown = json!({
                "calls": hook.calls, "blocked": hook.refusals, "asked": hook.questions,
                "failed": hook.failures, "p50": times.percentile_ms(0.5), "p99": p99,
                "max": times.max_ms(), "total": times.total_ms(), "timeout": timeout,
            });
            (plain(name), shown)
        };
        json!({
            "to": self.stats.span.as_ref().map(|(_, to)| to),
            "decisions": self.stats.decisions,
            "allowed": self.stats.allowed,
            "asked": self.stats.asked,
            "blocked": self.stats.refused,
            "failed": self.failed,
            "hooks": self.stats.hooks.iter().map(hook).collect::<serde_json::Map<_, _>>(),
        })
    }

    /// The newest decisions, the newest first, as far as there is room; and how many they are.
    fn rows(&self, names: &mut NameIndex) -> (Vec<Value>, u64) {
        let mut rows = Vec::new();
        let mut bytes = 0;
        for one in self.newest.iter().rev() {
            let mut index = |name: Option<&String>| name.map(|name| names.of(name));
            let row = json!([
                one.ended_ms,
                index(Some(&one.event)),
                index(Some(&one.host)),
                one.class,
                ms(one.took_us),
                index(one.by.as_ref()),
                index(one.reason.as_ref()),
                one.subject,
            ]);
            bytes += row.to_string().len() + one.reason.as_ref().map_or(0, String::len);
            if bytes > MOST_LISTED_BYTES {
                break;
            }
            rows.push(row);
        }
        let listed = rows.len() as u64;
        (rows, listed)
    }
}

/// The place in [`CLASSES`].
fn class_of(decision: &LoggedDecision<'_>) -> usize {
    match decision.brief.decision.as_ref() {
        _ if decision.has_failed() => 3,
        "allow" => 0,
        "ask" => 1,
        _ => 2,
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// Counts of decisions: allowed, asked, blocked, and those with a failure.
type ClassCounts = [u64; 4];

const MINUTE_US: u64 = 60_000_000;

/// How many bars the chart over time has at most.
const MOST_BARS: u64 = 96;

/// The widths of a bar, in minutes: from one minute to thirty days. What is longer takes more bars.
const WIDTHS: &[u64] = &[1, 5, 15, 60, 180, 720, 1440, 7 * 1440, 30 * 1440];

/// Decisions by minute.
#[derive(Debug, Default)]
struct Buckets(BTreeMap<u64, ClassCounts>);

impl Buckets {
    fn add(&mut self, time_us: u64, class: usize) {
        self.0.entry(time_us / MINUTE_US).or_default()[class] += 1;
    }

    /// The bars of the chart, empty ones too.
    fn shown(&self) -> Value {
        let (Some((first, _)), Some((last, _))) =
            (self.0.first_key_value(), self.0.last_key_value())
        else {
            return json!({ "start": 0, "width": 0, "bars": [] });
        };
        let fits = |width: &&u64| last / **width - first / **width < MOST_BARS;
        let width = *WIDTHS
            .iter()
            .find(fits)
            .unwrap_or(&WIDTHS[WIDTHS.len() - 1]);
        let start = first / width;
        let count = usize::try_from(last / width - start + 1).unwrap_or_default();
        let mut bars: Vec<ClassCounts> = vec![[0; 4]; count];
        for (minute, counts) in &self.0 {
            let at = usize::try_from(minute / width - start).unwrap_or_default();
            bars[at]
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
        let ms = MINUTE_US / 1000 * width;
        json!({ "start": start * ms, "width": ms, "bars": bars })
    }
}

/// How many different blocks or failures are kept. Further ones are counted together.
const MOST_GROUPS: usize = 500;

/// What happened again and again: by hook and words.
#[derive(Debug, Default)]
struct Groups {
    all: HashMap<[String; 2], OneGroup>,
    others: u64,
}

#[derive(Debug)]
struct OneGroup {
    count: u64,
    last: String,
    subject: String,
}

impl Groups {
    fn add(&mut self, key: [&str; 2], time: &str, subject: &str) {
        let key = key.map(str::to_string);
        if self.all.len() >= MOST_GROUPS && !self.all.contains_key(&key) {
            self.others += 1;
            return;
        }
        let new = || OneGroup {
            count: 0,
            last: String::new(),
            subject: String::new(),
        };
        let group = self.all.entry(key).or_insert_with(new);
        group.count += 1;
        group.last = time.to_string();
        group.subject = subject.to_string();
    }

    /// The most frequent first.
    fn shown(&self) -> Value {
        let mut all: Vec<(&[String; 2], &OneGroup)> = self.all.iter().collect();
        all.sort_by(|(key, one), (other_key, other)| {
            other.count.cmp(&one.count).then_with(|| key.cmp(other_key))
        });
        let shown = |([hook, words], group): (&[String; 2], &OneGroup)| {
            json!({
                "hook": hook, "words": words, "count": group.count, "last": group.last,
                "about": group.subject,
            })
        };
        let all: Vec<Value> = all.into_iter().map(shown).collect();
        json!({ "all": all, "others": self.others })
    }
}

/// Names that appear often, each kept once.
#[derive(Debug, Default)]
struct NameIndex {
    places: HashMap<String, usize>,
    names: Vec<String>,
}

impl NameIndex {
    fn of(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len();
        self.places.insert(name.to_string(), place);
        self.names.push(name.to_string());
        place
    }

    fn all(&self) -> &[String] {
        &self.names
    }
}
