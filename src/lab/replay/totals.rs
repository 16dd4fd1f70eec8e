//! What a replay has counted: in constant memory, and mergeable, so that parts make a whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::finding::ReplayFinding;
use crate::engine::names::names;
use crate::engine::outcome::Decision;
use crate::engine::run::{Fate, Run};
use crate::lab::audit::stats::{HookStats, count};

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Recorded events that were looked at.
    pub events: u64,
    /// Those with the outcome that they had.
    pub same: u64,
    /// Of these, those that were decided the same in other words: another hook, reason, rewrite,
    /// output or context.
    pub reworded: u64,
    /// Those with another outcome.
    pub changed: u64,
    /// Of these, those of which it was said that they may change.
    pub expected: u64,
    /// Those that were not kept whole, and not decided.
    pub undecided: u64,
    /// Lines and files that could not be read.
    pub unreadable: u64,
    /// How often an outcome became another one: `allow → block`.
    pub turns: BTreeMap<String, u64>,
    /// What each hook has cost and decided.
    pub hooks: BTreeMap<String, HookStats>,
    /// The same of the other set of hooks, where two are compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub against: BTreeMap<String, HookStats>,
}

/// How a replay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayEnd {
    /// All is as recorded, or as expected.
    Same,
    /// Something has changed that nobody expected.
    Changed,
    /// Not everything could be decided.
    Incomplete,
}

impl Totals {
    /// Counts a finding.
    pub fn count(&mut self, finding: &ReplayFinding) {
        match finding {
            ReplayFinding::Changed(change) => {
                self.events += 1;
                self.changed += 1;
                self.expected += u64::from(change.expected);
                let turn = format!("{} → {}", change.was.decision, change.is.decision);
                *self.turns.entry(turn).or_default() += 1;
            }
            ReplayFinding::Undecided(_) => {
                self.events += 1;
                self.undecided += 1;
            }
            ReplayFinding::Unreadable(_) => self.unreadable += 1,
        }
    }

    /// Counts an event with the outcome that it had.
    pub fn count_same(&mut self, is_reworded: bool) {
        self.events += 1;
        self.same += 1;
        self.reworded += u64::from(is_reworded);
    }

    /// Counts what another has counted.
    pub fn merge(&mut self, other: &Totals) {
        self.events += other.events;
        self.same += other.same;
        self.reworded += other.reworded;
        self.changed += other.changed;
        self.expected += other.expected;
        self.undecided += other.undecided;
        self.unreadable += other.unreadable;
        for (turn, count) in &other.turns {
            *self.turns.entry(turn.clone()).or_default() += count;
        }
        for (own, others) in [(&mut self.hooks, &other.hooks), (&mut self.against, &other.against)]
        {
            for (name, stats) in others {
                own.entry(name.clone()).or_default().merge(stats);
            }
        }
    }

    /// How it ended. Events that were not kept whole count as decided if `allows_undecided`.
    pub fn ended(&self, allows_undecided: bool) -> ReplayEnd {
        if self.unreadable > 0 || (self.undecided > 0 && !allows_undecided) {
            return ReplayEnd::Incomplete;
        }
        if self.changed > self.expected { ReplayEnd::Changed } else { ReplayEnd::Same }
    }
}

names! { ReplayEnd: Same "same", Changed "changed", Incomplete "incomplete" }

/// Counts the hooks of `run`.
pub(super) fn count_hooks(run: &Run, hooks: &mut BTreeMap<String, HookStats>) {
    for hook in &run.hooks {
        let Fate::Ran(trace) = &hook.fate else { continue };
        let decision = trace.ending.verdict().map(|verdict| match verdict.decision {
            Decision::Allow => "allow",
            Decision::Ask { .. } => "ask",
            Decision::Block { .. } => "block",
        });
        let has_failed = trace.ending.failure().is_some();
        count(hooks, &hook.hook, decision, has_failed, trace.took.as_secs_f64() * 1e3);
    }
}
