//! The ordered steps for one event. Pure data: it can be printed before anything runs.

use std::sync::Arc;

use crate::engine::event::{Event, EventSpec, Schedule};
use crate::engine::hook::{Hook, Mismatch, PathBase};

/// Reason to skip a hook that takes files, for an event without any.
const NO_FILES: &str = "the event has no files for this hook";
/// Reason to skip a hook with a scope in which nothing changes.
const NO_CHANGES: &str = "nothing changes in the hook's folder";

#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Hooks that run in parallel, step by step; usually one.
    pub steps: Vec<Vec<PlannedHook>>,
}

#[derive(Debug, Clone)]
pub struct PlannedHook {
    pub hook: Arc<Hook>,
    /// Whether it runs, as far as known before the first hook runs.
    pub selection: Selection,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    Wanted,
    /// Its matcher does not match the event.
    Unwanted(Mismatch),
    Disabled,
    /// Enabled, but skipped for this reason.
    Idle(String),
}

impl PlannedHook {
    /// Returns true if it starts a program, as far as known before the first hook runs.
    pub(crate) fn starts_program(&self) -> bool {
        self.selection == Selection::Wanted && self.hook.handler.is_program()
    }
}

impl Plan {
    /// Builds the plan for `event` from its hooks in order.
    ///
    /// A parallel or detached schedule has one step. A sequential schedule has a step per hook, but
    /// adjacent hooks with `parallel = true` share one. In a grouped schedule adjacent hooks of a
    /// group share one, unless they say `parallel = false`.
    pub fn build(bound: &[Arc<Hook>], event: &Event, place: &PathBase) -> Plan {
        let mut plan = Plan::in_order(bound, event.spec());
        for planned in plan.steps.iter_mut().flatten() {
            planned.selection = Selection::of(&planned.hook, event, place);
        }
        plan.drop_repeated();
        plan
    }

    /// Skips repeated hooks in dialects that run identical hooks once.
    fn drop_repeated(&mut self) {
        let mut wanted: Vec<Arc<Hook>> = Vec::new();
        for planned in self.steps.iter_mut().flatten() {
            let convention = planned.hook.convention.as_ref();
            if planned.selection != Selection::Wanted
                || !convention.is_some_and(|convention| convention.runs_once())
            {
                continue;
            }
            let mut wanted_before = wanted.iter();
            match wanted_before.find(|first| first.runs_the_same(&planned.hook)) {
                Some(first) => {
                    let why = format!("`{}` already runs the same command", first.name);
                    planned.selection = Selection::Idle(why);
                }
                None => wanted.push(Arc::clone(&planned.hook)),
            }
        }
    }

    /// Builds the plan without an event: every enabled hook is in it.
    pub fn in_order(bound: &[Arc<Hook>], spec: &EventSpec) -> Plan {
        let mut steps: Vec<Vec<PlannedHook>> = Vec::new();
        for hook in bound {
            let selection = Selection::of_settings(hook).unwrap_or(Selection::Wanted);
            let planned = PlannedHook {
                hook: Arc::clone(hook),
                selection,
            };
            match steps.last_mut() {
                Some(step) if shares_step(step, hook, spec) => step.push(planned),
                _ => steps.push(vec![planned]),
            }
        }
        Plan { steps }
    }

    pub fn is_idle(&self) -> bool {
        let mut hooks = self.hooks();
        hooks.all(|planned| planned.selection != Selection::Wanted)
    }

    pub fn hooks(&self) -> impl Iterator<Item = &PlannedHook> {
        self.steps.iter().flatten()
    }
}

impl Selection {
    fn of_settings(hook: &Hook) -> Option<Selection> {
        if !hook.enabled {
            return Some(Selection::Disabled);
        }
        let why = hook.idle_reason()?;
        Some(Selection::Idle(why.to_string()))
    }

    pub fn of(hook: &Hook, event: &Event, place: &PathBase) -> Selection {
        if let Some(selection) = Selection::of_settings(hook) {
            return selection;
        }
        let Some(event) = hook.seen(event) else {
            return Selection::Idle(NO_CHANGES.to_string());
        };
        if let Err(mismatch) = hook.wants(event, place) {
            return Selection::Unwanted(mismatch);
        }
        if hook.takes_files() && hook.files_of(event, place).is_empty() {
            return Selection::Idle(NO_FILES.to_string());
        }
        Selection::Wanted
    }
}

fn shares_step(step: &[PlannedHook], hook: &Hook, spec: &EventSpec) -> bool {
    // Rules take no time, and fixes must be visible to the next hook.
    let mut all = step.iter().map(|planned| planned.hook.as_ref());
    if all.any(Hook::runs_alone) || hook.runs_alone() {
        return false;
    }
    match spec.schedule {
        Schedule::Parallel | Schedule::Detached => true,
        Schedule::Sequential | Schedule::Grouped => {
            let is_grouped = spec.schedule == Schedule::Grouped;
            let mut others = step.iter().map(|planned| planned.hook.as_ref());
            may_share(hook, is_grouped)
                && others.all(|other| {
                    let is_explicit = hook.parallel.is_some() && other.parallel.is_some();
                    may_share(other, is_grouped) && (is_explicit || other.group() == hook.group())
                })
        }
    }
}

/// Returns true if a hook may run in parallel. Hooks that rewrite run alone: the next hook must see
/// the rewrite.
fn may_share(hook: &Hook, is_grouped: bool) -> bool {
    hook.parallel.unwrap_or(is_grouped) && !hook.rewrite
}
