//! What the soak has seen: the account of all events, and the table at the end.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use hookrun::internals::outcome::{Cause, Settled};
use hookrun::internals::run::Run;
use serde::{Deserialize, Serialize};

use crate::judge;
use crate::scenarios::Scenario;

/// How much later than the timeouts of its hooks a decision may come, on a busy machine.
const LATE: Duration = Duration::from_secs(5);

/// How much memory may be gained after the first tenth of the events: less than 100 bytes for
/// each of 100,000, and some room for what the allocator keeps for each thread.
const GROWTH_BYTES: u64 = 8 * 1024 * 1024;

/// How many findings are told in full.
const OBSERVED: usize = 20;

/// The account of all events.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    rows: Vec<Row>,
    events: u64,
    decided: u64,
    wrong: u64,
    late: u64,
    pub(crate) leaked_processes: u64,
    pub(crate) leaked_descriptors: u64,
    /// Keepers that were not reaped by the library, because they took more than 50 ms to end.
    pub(crate) late_keepers: u64,
    /// Before and after.
    pub(crate) threads: (usize, usize),
    /// Resident memory after the first tenth, and then at even distances.
    pub(crate) memory: Vec<(u64, u64)>,
    findings: Vec<String>,
    /// Ways that are closed on this system, and why.
    closed: Vec<String>,
}

/// What became of the events of one sort.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    name: String,
    allowed: u64,
    refused: u64,
    failed: u64,
    times: Times,
}

/// How an event ended: with a run and what is wrong with it, or without a decision.
pub(crate) type Ended = Result<(Run, Result<(), String>), String>;

impl Ledger {
    /// Notes one event.
    pub(crate) fn note(&mut self, row: &str, scenario: &Scenario, took: Duration, ended: Ended) {
        self.events += 1;
        let number = self.events;
        let at = self.row(row);
        self.rows[at].times.note(took);
        let (run, judged) = match ended {
            Ok(ended) => ended,
            Err(why) => return self.finds(format!("{row}, {}: {why}", scenario.name)),
        };
        self.decided += 1;
        let account = &mut self.rows[at];
        match &run.outcome.settled {
            Settled::Allowed | Settled::Asked { .. } => account.allowed += 1,
            Settled::Blocked(block) if block.cause == Cause::Failure => account.failed += 1,
            Settled::Blocked(_) => account.refused += 1,
        }
        let about = || format!("event {number}, {row}, {}", scenario.name);
        if let Err(why) = judged {
            self.wrong += 1;
            self.finds(format!("{}: {why}: {}", about(), judge::described(&run)));
        }
        let timeouts = scenario.parts.iter().map(|part| part.timeout);
        let may_take = timeouts.filter(|timeout| *timeout < LATE).sum::<Duration>() + LATE;
        if took > may_take {
            self.late += 1;
            self.finds(format!(
                "{}: took {took:?}: {}",
                about(),
                judge::described(&run)
            ));
        }
    }

    /// Notes something that should not be.
    pub(crate) fn finds(&mut self, finding: String) {
        self.findings.push(finding);
    }

    /// Notes that a way cannot be tried here.
    pub(crate) fn closes(&mut self, way: &str, why: &str) {
        if !self.closed.iter().any(|closed| closed.starts_with(way)) {
            self.closed.push(format!("{way}: {why}"));
        }
    }

    /// How many events were noted.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Adds what a child has noted.
    pub(crate) fn add(&mut self, other: Ledger) {
        self.events += other.events;
        self.decided += other.decided;
        self.wrong += other.wrong;
        self.late += other.late;
        self.leaked_processes += other.leaked_processes;
        self.leaked_descriptors += other.leaked_descriptors;
        self.late_keepers += other.late_keepers;
        if other.threads.0 != other.threads.1 {
            self.finds(format!(
                "a child had {} threads, then {}",
                other.threads.0, other.threads.1
            ));
        }
        self.findings.extend(other.findings);
        self.closed.extend(other.closed);
        self.rows.extend(other.rows);
    }

    fn row(&mut self, name: &str) -> usize {
        if let Some(at) = self.rows.iter().position(|row| row.name == name) {
            return at;
        }
        let times = Times::default();
        self.rows.push(Row {
            name: name.to_string(),
            allowed: 0,
            refused: 0,
            failed: 0,
            times,
        });
        self.rows.len() - 1
    }

    /// The memory gained since the first tenth.
    fn growth(&self) -> u64 {
        match (self.memory.first(), self.memory.last()) {
            (Some((_, first)), Some((_, last))) => last.saturating_sub(*first),
            _ => 0,
        }
    }

    /// Whether all is as it should be.
    pub(crate) fn is_good(&self, wanted: u64) -> bool {
        self.checks(wanted).iter().all(|check| check.is_good)
    }

    fn checks(&self, wanted: u64) -> Vec<Check> {
        let check = |what, found: String, wanted: String, is_good| Check {
            what,
            found,
            wanted,
            is_good,
        };
        let none = |what, found: u64| check(what, found.to_string(), "0".to_string(), found == 0);
        let (before, after) = self.threads;
        vec![
            check(
                "events",
                self.events.to_string(),
                wanted.to_string(),
                self.events == wanted,
            ),
            check(
                "decisions reached",
                self.decided.to_string(),
                "all".to_string(),
                self.decided == self.events,
            ),
            none("wrong decisions", self.wrong),
            none("late decisions", self.late),
            none("leaked processes", self.leaked_processes),
            none("leaked descriptors", self.leaked_descriptors),
            check(
                "threads",
                after.to_string(),
                format!("{before}, as before"),
                before == after,
            ),
            check(
                "memory gained",
                mib(self.growth()),
                format!("{} at most", mib(GROWTH_BYTES)),
                self.growth() <= GROWTH_BYTES,
            ),
            check(
                "keepers not waited for",
                self.late_keepers.to_string(),
                "any".to_string(),
                true,
            ),
            none("findings", self.findings.len() as u64),
        ]
    }

    /// Writes the report.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn tell(
        &self,
        wanted: u64,
        took: Duration,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        writeln!(
            out,
            "{:<30} {:>7} {:>8} {:>8} {:>7} {:>9} {:>9} {:>9}",
            "scenario or fault",
            "count",
            "allowed",
            "refused",
            "failed",
            "median",
            "p99",
            "longest"
        )?;
        for row in &self.rows {
            writeln!(
                out,
                "{:<30} {:>7} {:>8} {:>8} {:>7} {:>9} {:>9} {:>9}",
                row.name,
                row.times.count(),
                row.allowed,
                row.refused,
                row.failed,
                millis(row.times.quantile(0.5)),
                millis(row.times.quantile(0.99)),
                millis(row.times.longest_micros),
            )?;
        }
        writeln!(out, "\n{:<30} {:>10}   must be", "what", "found")?;
        for check in self.checks(wanted) {
            let mark = if check.is_good { "" } else { "   FAILED" };
            writeln!(
                out,
                "{:<30} {:>10}   {}{mark}",
                check.what, check.found, check.wanted
            )?;
        }
        let rate = self.events as f64 / took.as_secs_f64().max(0.001);
        writeln!(out, "{:<30} {rate:>10.0}", "events per second")?;
        writeln!(out, "{:<30} {:>9.0}s", "took", took.as_secs_f64())?;
        let mut line = String::new();
        for (events, bytes) in &self.memory {
            // Writing to a String cannot fail.
            let _ = write!(line, "  {events}: {}", mib(*bytes));
        }
        writeln!(out, "\nmemory after so many events{line}")?;
        for closed in &self.closed {
            writeln!(out, "not tried: {closed}")?;
        }
        for finding in self.findings.iter().take(OBSERVED) {
            writeln!(out, "finding: {finding}")?;
        }
        if self.findings.len() > OBSERVED {
            writeln!(
                out,
                "… and {} more findings",
                self.findings.len() - OBSERVED
            )?;
        }
        writeln!(
            out,
            "\n{}",
            if self.is_good(wanted) {
                "PASSED"
            } else {
                "FAILED"
            }
        )
    }
}

/// A line that decides whether the soak has passed.
struct Check {
    what: &'static str,
    found: String,
    wanted: String,
    is_good: bool,
}

/// Times in buckets of constant relative width, so that the account does not grow with the
/// events whose memory it watches.
#[derive(Debug, Serialize, Deserialize)]
struct Times {
    buckets: Vec<u64>,
    longest_micros: u64,
}

/// Buckets for each doubling.
const STEPS: u64 = 32;

impl Default for Times {
    fn default() -> Times {
        Times {
            buckets: vec![0; 32 * 32],
            longest_micros: 0,
        }
    }
}

impl Times {
    fn note(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
        self.longest_micros = self.longest_micros.max(micros);
        let last = self.buckets.len() - 1;
        self.buckets[bucket(micros).min(last)] += 1;
    }

    fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The time below which this share of the events lies, to 3 %.
    fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper_end(at as u64).min(self.longest_micros);
            }
        }
        self.longest_micros
    }
}

fn bucket(micros: u64) -> usize {
    let doubling = u64::from(micros.ilog2());
    let within = ((micros - (1 << doubling)) * STEPS) >> doubling;
    usize::try_from(doubling * STEPS + within).unwrap_or(usize::MAX)
}

fn upper_end(bucket: u64) -> u64 {
    let (doubling, within) = (bucket / STEPS, bucket % STEPS);
    (1 << doubling) + (((within + 1) << doubling) / STEPS)
}

fn millis(micros: u64) -> String {
    format!("{:.2} ms", micros as f64 / 1000.0)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0))
}
