//! What a replay has counted: in constant memory, and mergeable, so that parts make a whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::finding::ReplayFinding;
use crate::engine::names::names;
use crate::engine::run::{Fate, Run};
use crate::log::stats::{HookStats, count};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Recorded events.
    pub events: u64,
    /// With the recorded outcome.
    pub same: u64,
    /// Of these, those that were decided the same in other words: another hook, reason, rewrite,
    /// output or context.
    pub reworded: u64,
    pub changed: u64,
    /// Of the changed, those that `--allow-change` expects.
    pub expected: u64,
    /// Not kept whole, so not decided.
    pub undecided: u64,
    /// Lines and files.
    pub unreadable: u64,
    /// `allow → block`, and how often.
    pub turns: BTreeMap<String, u64>,
    /// By name.
    pub hooks: BTreeMap<String, HookStats>,
    /// The same for the other set of hooks, if two are compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub against: BTreeMap<String, HookStats>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayEnd {
    /// As recorded, or as expected.
    Same,
    /// Something changed that was not expected.
    Changed,
    /// Not everything could be decided.
    Incomplete,
}

impl Totals {
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

    pub fn count_same(&mut self, is_reworded: bool) {
        self.events += 1;
        self.same += 1;
        self.reworded += u64::from(is_reworded);
    }

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
        for (own, others) in [
            (&mut self.hooks, &other.hooks),
            (&mut self.against, &other.against),
        ] {
            for (name, stats) in others {
                own.entry(name.clone()).or_default().merge(stats);
            }
        }
    }

    /// Events that were not kept whole count as decided if `allows_undecided`.
    pub fn ended(&self, allows_undecided: bool) -> ReplayEnd {
        if self.unreadable > 0 || (self.undecided > 0 && !allows_undecided) {
            return ReplayEnd::Incomplete;
        }
        if self.changed > self.expected {
            ReplayEnd::Changed
        } else {
            ReplayEnd::Same
        }
    }
}

names! { ReplayEnd: Same "same", Changed "changed", Incomplete "incomplete" }

pub(super) fn count_hooks(run: &Run, hooks: &mut BTreeMap<String, HookStats>) {
    for hook in &run.hooks {
        let Fate::Ran(trace) = &hook.fate else {
            continue;
        };
        let decision = trace
            .ending
            .verdict()
            .map(|verdict| verdict.decision.word());
        let has_failed = trace.ending.failure().is_some();
        count(
            hooks,
            &hook.hook,
            decision,
            has_failed,
            trace.took.as_secs_f64() * 1e3,
        );
    }
}
