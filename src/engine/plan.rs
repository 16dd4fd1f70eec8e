//! The ordered steps for one event. Pure data: it can be printed before anything runs.

use std::sync::Arc;

use crate::engine::event::{Event, EventSpec, Schedule};
use crate::engine::hook::{Hook, Mismatch, PathBase};

/// The ordered steps for one event.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// One after another.
    pub steps: Vec<PlanStep>,
}

/// Hooks that run at once; mostly just one.
#[derive(Debug, Clone)]
pub struct PlanStep {
    /// In plan order.
    pub hooks: Vec<Planned>,
}

/// A hook in its place, and whether it wants the event.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Whether it runs, as far as is known before the first one ran.
    pub selection: Selection,
}

/// Whether a hook is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// It is.
    Wanted,
    /// Its matcher does not want the event.
    Unwanted(Mismatch),
    /// Its spec says `enabled = false`.
    Disabled,
    /// It is enabled and does not run all the same, for this reason.
    Idle(String),
}

impl Plan {
    /// The plan for `event`, from the hooks bound to it in their order.
    ///
    /// An event whose schedule is parallel or detached has one step. In a sequential one every
    /// hook is a step, but neighbours that all say `parallel = true` share theirs.
    pub fn build(bound: &[Arc<Hook>], event: &Event, place: &PathBase) -> Plan {
        let mut plan = Plan::in_order(bound, event.spec());
        for planned in plan.steps.iter_mut().flat_map(|step| &mut step.hooks) {
            planned.selection = Selection::of(&planned.hook, event, place);
        }
        plan.drop_repeated();
        plan
    }

    /// Of hooks that run the same in the words of a host which runs such hooks once, the first
    /// runs.
    fn drop_repeated(&mut self) {
        let mut wanted: Vec<Arc<Hook>> = Vec::new();
        for planned in self.steps.iter_mut().flat_map(|step| &mut step.hooks) {
            let is_wanted = planned.selection == Selection::Wanted;
            let runs_once =
                |hook: &Hook| hook.convention.as_ref().is_some_and(|one| one.runs_once());
            if !is_wanted || !runs_once(&planned.hook) {
                continue;
            }
            match wanted.iter().find(|first| first.runs_the_same(&planned.hook)) {
                Some(first) => {
                    planned.selection = Selection::Idle(format!("`{}` runs the same", first.name));
                }
                None => wanted.push(Arc::clone(&planned.hook)),
            }
        }
    }

    /// The plan as far as it can be told without an event: every enabled hook is in it.
    pub fn in_order(bound: &[Arc<Hook>], spec: &EventSpec) -> Plan {
        let mut steps: Vec<PlanStep> = Vec::new();
        for hook in bound {
            let selection = Selection::of_settings(hook).unwrap_or(Selection::Wanted);
            let planned = Planned { hook: Arc::clone(hook), selection };
            match steps.last_mut() {
                Some(step) if shares_step(step, hook, spec) => step.hooks.push(planned),
                _ => steps.push(PlanStep { hooks: vec![planned] }),
            }
        }
        Plan { steps }
    }

    /// Whether any hook is to run.
    pub fn is_idle(&self) -> bool {
        self.hooks().all(|planned| planned.selection != Selection::Wanted)
    }

    /// Every hook in plan order.
    pub fn hooks(&self) -> impl Iterator<Item = &Planned> {
        self.steps.iter().flat_map(|step| &step.hooks)
    }
}

impl Selection {
    /// Why `hook` never runs, whatever the event; `None` where it may.
    fn of_settings(hook: &Hook) -> Option<Selection> {
        if !hook.enabled {
            return Some(Selection::Disabled);
        }
        hook.idle.clone().map(Selection::Idle)
    }

    /// Whether `hook` is to run for `event` as it now stands.
    pub fn of(hook: &Hook, event: &Event, place: &PathBase) -> Selection {
        if let Some(selection) = Selection::of_settings(hook) {
            return selection;
        }
        match hook.wants(event, place) {
            Ok(()) => Selection::Wanted,
            Err(mismatch) => Selection::Unwanted(mismatch),
        }
    }
}

fn shares_step(step: &PlanStep, hook: &Hook, spec: &EventSpec) -> bool {
    match spec.schedule {
        Schedule::Parallel | Schedule::Detached => true,
        Schedule::Sequential => {
            // What one rewrites the next must see, so hooks that rewrite run alone.
            let may_share = |hook: &Hook| hook.parallel && !hook.rewrite;
            may_share(hook) && step.hooks.iter().all(|planned| may_share(&planned.hook))
        }
    }
}
