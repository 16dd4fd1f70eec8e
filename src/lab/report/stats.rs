//! Counts decisions and the time of hooks, for `why --stats` and the page of `report`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::style::{BOLD, column, counted, short};
use crate::engine::harmless::plain;
use crate::log::report::{HookReport, RunReport, TraceReport, VERSION};

const NAME_COLUMNS: usize = 24;

/// The name for blocks without a hook.
const OWN: &str = "hookrun";

#[derive(Debug, Default)]
pub struct Stats {
    report: StatsReport,
    hooks: BTreeMap<String, (HookStats, Vec<f64>)>,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatsReport {
    pub version: u32,
    pub decisions: u64,
    pub allowed: u64,
    pub blocked: u64,
    /// Decisions with a question for a person.
    pub asked: u64,
    /// Decisions in which a hook or hookrun failed; no other count includes them.
    pub failed: u64,
    /// The time of the first decision (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The time of the last decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Results of a replay; missing for logged decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayStats>,
    /// The hook with the most total time first.
    pub hooks: Vec<HookStats>,
}

/// Counts of a replay's results.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayStats {
    pub same: u64,
    pub changed: u64,
    pub undecided: u64,
    pub unreadable: u64,
    /// Counts by change (`allow → block`).
    pub changes: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookStats {
    pub name: String,
    /// The number of runs.
    pub calls: u64,
    pub blocked: u64,
    pub asked: u64,
    pub failed: u64,
    /// The median run time in milliseconds.
    pub p50_ms: f64,
    /// The 99th percentile of the run time in milliseconds.
    pub p99_ms: f64,
    pub max_ms: f64,
    pub total_ms: f64,
    /// Its last timeout in milliseconds, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<f64>,
}

impl Stats {
    pub fn add(&mut self, time: &str, run: &RunReport) {
        self.add_decision(time, run.class());
        for (hook, trace) in run.traces() {
            self.add_run(hook, trace);
        }
        if run.decision == "block" && run.decided_by.is_none() {
            let (stats, times) = self.hooks.entry(OWN.to_string()).or_default();
            stats.calls += 1;
            stats.blocked += u64::from(!run.has_failed());
            stats.failed += u64::from(run.has_failed());
            times.push(run.took_ms);
        }
    }

    /// The counts of a replay, which this adds to the report.
    pub(crate) fn replayed(&mut self) -> &mut ReplayStats {
        self.report.replayed.get_or_insert_default()
    }

    pub(crate) fn add_decision(&mut self, time: &str, class: &str) {
        let report = &mut self.report;
        report.decisions += 1;
        match class {
            "allow" => report.allowed += 1,
            "ask" => report.asked += 1,
            "failed" => report.failed += 1,
            _ => report.blocked += 1,
        }
        if report.from.as_deref().is_none_or(|from| time < from) {
            report.from = Some(time.to_string());
        }
        if report.to.as_deref().is_none_or(|to| time > to) {
            report.to = Some(time.to_string());
        }
    }

    fn add_run(&mut self, hook: &HookReport, trace: &TraceReport) {
        let (stats, times) = self.hooks.entry(hook.name.clone()).or_default();
        stats.calls += 1;
        stats.failed += u64::from(trace.failure.is_some());
        if let Some(verdict) = &trace.verdict {
            stats.blocked += u64::from(verdict.decision == "block");
            stats.asked += u64::from(verdict.decision == "ask");
        }
        stats.timeout_ms = hook.timeout_ms;
        times.push(trace.took_ms);
    }

    pub fn report(&self) -> StatsReport {
        let mut hooks = Vec::new();
        for (name, (stats, times)) in &self.hooks {
            let mut sorted = times.clone();
            sorted.sort_by(f64::total_cmp);
            hooks.push(HookStats {
                name: name.clone(),
                p50_ms: sorted[(sorted.len() - 1) / 2],
                p99_ms: sorted[(sorted.len() - 1) * 99 / 100],
                max_ms: sorted[sorted.len() - 1],
                total_ms: sorted.iter().sum(),
                ..stats.clone()
            });
        }
        hooks.sort_by(|one, other| other.total_ms.total_cmp(&one.total_ms));
        StatsReport {
            version: VERSION,
            hooks,
            ..self.report.clone()
        }
    }
}

impl StatsReport {
    pub fn human(&self, out: &mut dyn Write) -> io::Result<()> {
        let decisions = counted(self.decisions, "decision");
        writeln!(
            out,
            "{BOLD}{decisions}{BOLD:#}: {} allowed, {} blocked, {} asked, {} failed",
            self.allowed, self.blocked, self.asked, self.failed
        )?;
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            writeln!(out, "from {} to {}", plain(from), plain(to))?;
        }
        if self.hooks.is_empty() {
            return writeln!(out, "\nNo hook ran.");
        }
        writeln!(
            out,
            "\n{BOLD}{:<NAME_COLUMNS$}{:>7}{:>8}{:>6}{:>7}{:>9}{:>9}{:>10}{BOLD:#}",
            "hook", "calls", "blocked", "asked", "failed", "p50", "p99", "total"
        )?;
        for hook in &self.hooks {
            writeln!(
                out,
                "{:<NAME_COLUMNS$}{:>7}{:>8}{:>6}{:>7}{:>9}{:>9}{:>10}",
                column(&hook.name, NAME_COLUMNS - 1),
                hook.calls,
                hook.blocked,
                hook.asked,
                hook.failed,
                short(hook.p50_ms),
                short(hook.p99_ms),
                short(hook.total_ms),
            )?;
        }
        Ok(())
    }
}
