//! What hooks have cost and decided, over any number of records and in little memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::record::Brief;

#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// How many there were.
    pub decisions: u64,
    pub allowed: u64,
    pub refused: u64,
    pub asked: u64,
    /// The times of the first and the last (RFC 3339).
    pub span: Option<(String, String)>,
    /// By name.
    pub hooks: BTreeMap<String, HookStats>,
    /// Of each call of each hook.
    pub latencies: Latencies,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HookStats {
    pub calls: u64,
    pub refusals: u64,
    pub questions: u64,
    pub failures: u64,
    pub latencies: Latencies,
}

impl Stats {
    pub fn add(&mut self, time: &str, brief: &Brief<'_>) {
        self.decisions += 1;
        match brief.decision.as_ref() {
            "allow" => self.allowed += 1,
            "ask" => self.asked += 1,
            _ => self.refused += 1,
        }
        let (first, last) = self
            .span
            .get_or_insert_with(|| (time.to_string(), time.to_string()));
        if time < first.as_str() {
            *first = time.to_string();
        }
        if time > last.as_str() {
            *last = time.to_string();
        }
        for hook in &brief.hooks {
            let Some(took_ms) = hook.took_ms.filter(|_| hook.fate == "ran") else {
                continue;
            };
            let decision = hook
                .verdict
                .as_ref()
                .map(|verdict| verdict.decision.as_ref());
            count(
                &mut self.hooks,
                &hook.name,
                decision,
                hook.failure.is_some(),
                took_ms,
            );
            self.latencies.add(took_ms);
        }
    }
}

/// Hooks, the most expensive first.
pub fn by_cost(hooks: &BTreeMap<String, HookStats>) -> Vec<(&String, &HookStats)> {
    let mut hooks: Vec<(&String, &HookStats)> = hooks.iter().collect();
    hooks.sort_by(|(_, one), (_, other)| {
        other
            .latencies
            .total_ms()
            .total_cmp(&one.latencies.total_ms())
    });
    hooks
}

impl HookStats {
    pub fn merge(&mut self, other: &HookStats) {
        self.calls += other.calls;
        self.refusals += other.refusals;
        self.questions += other.questions;
        self.failures += other.failures;
        self.latencies.merge(&other.latencies);
    }
}

/// Counts a call of the hook `name`, which decided `allow`, `ask` or `block` if it answered.
pub fn count(
    hooks: &mut BTreeMap<String, HookStats>,
    name: &str,
    decision: Option<&str>,
    has_failed: bool,
    took_ms: f64,
) {
    let stats = hooks.entry(name.to_string()).or_default();
    stats.calls += 1;
    stats.failures += u64::from(has_failed);
    stats.refusals += u64::from(decision == Some("block"));
    stats.questions += u64::from(decision == Some("ask"));
    stats.latencies.add(took_ms);
}

/// Each power of two is divided into so many steps: percentiles are exact to 1.6 %.
const STEPS: u64 = 64;

/// The step of an hour and more.
const LAST_STEP: usize = 2368;

/// Times, counted in steps that grow with them: a few kilobytes for any number of them. As JSON it
/// is the counts of the steps that have any, and can be read and merged again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Steps", try_from = "Steps")]
pub struct Latencies {
    counts: Vec<u64>,
    count: u64,
    total_us: u64,
    most_us: u64,
}

impl Latencies {
    pub fn add(&mut self, ms: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it saturates"
        )]
        let us = (ms * 1e3).round() as u64;
        self.add_to(step_of(us), 1);
        self.total_us = self.total_us.saturating_add(us);
        self.most_us = self.most_us.max(us);
    }

    fn add_to(&mut self, step: usize, count: u64) {
        if self.counts.len() <= step {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += count;
        self.count += count;
    }

    pub fn merge(&mut self, other: &Latencies) {
        for (step, count) in other.counts.iter().enumerate() {
            self.add_to(step, *count);
        }
        self.total_us = self.total_us.saturating_add(other.total_us);
        self.most_us = self.most_us.max(other.most_us);
    }

    pub fn total_ms(&self) -> f64 {
        milliseconds(self.total_us)
    }

    pub fn max_ms(&self) -> f64 {
        milliseconds(self.most_us)
    }

    /// The time in milliseconds that this share of them did not exceed, to 1.6 %; 0 of none.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a rank among so many"
        )]
        let rank = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (step, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return milliseconds(last_of(step).min(self.most_us));
            }
        }
        0.0
    }

    /// How many took less than each of `bounds` (milliseconds, rising) and not less than the one
    /// before, and last how many took longer.
    pub fn histogram(&self, bounds: &[f64]) -> Vec<u64> {
        let mut found = vec![0; bounds.len() + 1];
        for (step, count) in self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let ms = milliseconds(last_of(step).min(self.most_us));
            found[bounds.partition_point(|bound| *bound <= ms)] += count;
        }
        found
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Steps {
    total_us: u64,
    most_us: u64,
    steps: Vec<(usize, u64)>,
}

impl From<Latencies> for Steps {
    fn from(latencies: Latencies) -> Steps {
        let Latencies {
            counts,
            total_us,
            most_us,
            ..
        } = latencies;
        let steps = counts
            .into_iter()
            .enumerate()
            .filter(|(_, count)| *count > 0);
        Steps {
            total_us,
            most_us,
            steps: steps.collect(),
        }
    }
}

impl TryFrom<Steps> for Latencies {
    type Error = String;

    fn try_from(steps: Steps) -> Result<Latencies, String> {
        let Steps {
            total_us,
            most_us,
            steps,
        } = steps;
        let mut latencies = Latencies {
            total_us,
            most_us,
            ..Latencies::default()
        };
        for (step, count) in steps {
            if step > LAST_STEP {
                return Err(format!("there is no step {step} among the latencies"));
            }
            latencies.add_to(step, count);
        }
        Ok(latencies)
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of 200 years fit")]
fn milliseconds(us: u64) -> f64 {
    us as f64 / 1e3
}

/// The power of two of a time, and its place in that.
fn step_of(us: u64) -> usize {
    // An hour and more is one step.
    let us = us.min(1 << 42);
    let step = if us < STEPS {
        us
    } else {
        let power = u64::from(us.ilog2() - STEPS.ilog2());
        power * STEPS + (us >> power)
    };
    usize::try_from(step).unwrap_or(usize::MAX)
}

fn last_of(step: usize) -> u64 {
    let step = step as u64;
    if step < STEPS {
        return step;
    }
    let power = step / STEPS - 1;
    ((step - power * STEPS + 1) << power) - 1
}
