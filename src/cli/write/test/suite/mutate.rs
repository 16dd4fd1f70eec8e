//! `--mutate`: plays the cases against hooks that are wrong on purpose.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::engine::hook::Hook;
use crate::engine::run::{Fate, Trace};
use crate::lab::report::suite::MutationReport;
use crate::lab::scenario::coverage::{Who, can_run};
use crate::lab::scenario::mutation::{MutantRow, MutantTrial, mutants};
use crate::lab::scenario::{CaseResult, End, StepResult};

use super::play::SuiteRunner;
use super::progress::SuiteProgress;
use super::selection::is_chosen;
use super::trial::{Asks, CaseTrial};
use crate::cli::args::TestArgs;

/// Tries every mutant, if that is wanted, with the cases that ran its hook in `played`. `None` also
/// if hookrun was interrupted: nothing is known then.
pub(super) fn mutate(
    suite: &SuiteRunner<'_>,
    trials: &[&CaseTrial],
    played: &[CaseResult],
    args: &TestArgs,
) -> Option<MutationReport> {
    if !args.suite.mutate {
        return None;
    }
    let started = Instant::now();
    let victims = victims(trials, args);
    // One case that notices is enough.
    let suite = SuiteRunner {
        fail_fast: true,
        ..*suite
    };
    let progress = SuiteProgress::of(victims.values().map(Vec::len).sum());
    let mut mutated = MutationReport::default();
    for (who, rows) in &victims {
        for row in rows {
            let asking = asking(who, row, played);
            let changed: Vec<CaseTrial> = asking
                .iter()
                .map(|place| changed(trials[*place], who, row))
                .collect();
            let round = suite.play_all(&changed.iter().collect::<Vec<_>>(), &mut |_| ());
            if suite.abort.times_raised() > 0 {
                progress.bar.finish_and_clear();
                return None;
            }
            progress.bar.inc(1);
            let is_notice = |one: &&CaseResult| one.end.is_bad() && trouble(one).is_none();
            let noticed = round.iter().find(is_notice).map(|one| one.name.clone());
            if noticed.is_none() {
                mutated.trouble = mutated.trouble.or_else(|| round.iter().find_map(trouble));
            }
            mutated.tried.push(MutantTrial {
                who: who.clone(),
                row,
                cases: asking.len(),
                noticed,
            });
        }
    }
    progress.bar.finish_and_clear();
    mutated.took = started.elapsed();
    Some(mutated)
}

/// The hooks that are looked at, by their events and names, each with its mutants.
fn victims(trials: &[&CaseTrial], args: &TestArgs) -> BTreeMap<Who, Vec<&'static MutantRow>> {
    let mut victims = BTreeMap::new();
    for asks in trials.iter().flat_map(|trial| &trial.asks) {
        let config = &asks.bench.config;
        for hook in config.hooks.iter().filter(|hook| can_run(hook)) {
            let is_chosen = is_chosen(&Who::of(hook), false, args);
            let spec = config.catalog.iter().find(|spec| spec.name == hook.event);
            if let Some(spec) = spec.filter(|_| is_chosen) {
                victims
                    .entry(Who::of(hook))
                    .or_insert_with(|| mutants(hook, spec).collect());
            }
        }
    }
    victims
}

/// The cases that ran a hook; first those that may well notice the mutant, and of these the
/// quickest.
fn asking(who: &Who, row: &MutantRow, played: &[CaseResult]) -> Vec<usize> {
    let mut asking: Vec<(bool, usize)> = Vec::new();
    for (place, one) in played.iter().enumerate() {
        let traces: Vec<&Trace> = one
            .steps
            .iter()
            .flat_map(|decided| traces(decided, who))
            .collect();
        let is_telling = traces.iter().any(|trace| row.is_telling(trace));
        if row.drops_matcher && one.steps.iter().any(|decided| passes(decided, who)) {
            asking.push((true, place));
        } else if !traces.is_empty() {
            asking.push((is_telling, place));
        }
    }
    asking.sort_by_key(|(is_telling, place)| (!is_telling, played[*place].took));
    asking.into_iter().map(|(_, place)| place).collect()
}

fn traces<'d>(decided: &'d StepResult, who: &Who) -> Vec<&'d Trace> {
    let StepResult::Run { run, .. } = decided else {
        return Vec::new();
    };
    let of_hook = run
        .hooks
        .iter()
        .filter(|hook| Who::in_run(run, hook) == *who);
    let trace = |hook: &'d crate::engine::run::HookRun| match &hook.fate {
        Fate::Ran(trace) => Some(trace.as_ref()),
        Fate::Disabled | Fate::Idle(_) | Fate::Unwanted(_) | Fate::Unreached | Fate::Detached => {
            None
        }
    };
    of_hook.filter_map(trace).collect()
}

/// Whether the hook let a case pass because it does not want its event.
fn passes(decided: &StepResult, who: &Who) -> bool {
    let StepResult::Run { run, .. } = decided else {
        return false;
    };
    let mut of_hook = run
        .hooks
        .iter()
        .filter(|hook| Who::in_run(run, hook) == *who);
    of_hook.any(|hook| matches!(hook.fate, Fate::Unwanted(_)))
}

fn changed(trial: &CaseTrial, who: &Who, row: &'static MutantRow) -> CaseTrial {
    let replace = |hook: &Hook| {
        if Who::of(hook) == *who {
            row.in_place_of(hook)
        } else {
            hook.clone()
        }
    };
    let change = |asks: &Asks| Asks {
        registry: asks.registry.map(replace),
        ..asks.clone()
    };
    CaseTrial {
        asks: trial.asks.iter().map(change).collect(),
        ..trial.clone()
    }
}

/// Why a case says nothing about a mutant: it failed before the first hook ran, or was not played.
fn trouble(played: &CaseResult) -> Option<String> {
    let why = match &played.end {
        End::CouldNot(why) if played.steps.is_empty() => why.as_str(),
        End::NotRun => "it was not reached",
        End::CouldNot(_) | End::Expected | End::Unexpected(_) | End::Skipped(_) => return None,
    };
    Some(format!("{}: {why}", played.name))
}
