//! Which cases and hooks the command line asks for, and what to say if there are none.

use crate::engine::complaint::Complaint;
use crate::engine::spelling;
use crate::hosts::{dialects, events_called};

use super::trial::{CaseTrial, LoadedSuite};
use crate::cli::args::TestArgs;
use crate::decide::hooks::nearest_hook;
use crate::lab::scenario::coverage::Who;

pub(super) fn chosen<'t>(trials: &'t [CaseTrial], args: &TestArgs) -> Vec<&'t CaseTrial> {
    let is_chosen = |trial: &&CaseTrial| {
        let is_named = args
            .suite
            .filter
            .as_ref()
            .is_none_or(|filter| filter.is_match(&trial.case.name));
        is_named && is_of_event(trial, &args.suite.events) && may_ask(trial, &args.hook)
    };
    trials.iter().filter(is_chosen).collect()
}

fn is_of_event(trial: &CaseTrial, events: &[String]) -> bool {
    let is_of = |name: &String| {
        let mut steps = trial.case.steps.iter().zip(&trial.asks);
        steps.any(|(step, asks)| {
            step.event.value.eq_ignore_ascii_case(name)
                || asks.events.iter().any(|event| is_called(name, event))
        })
    };
    events.is_empty() || events.iter().any(is_of)
}

/// A name after `--event` that no event has, and so no case: with a second name given, its missing
/// cases would go unnoticed.
pub(super) fn unknown_event(loaded: &LoadedSuite, args: &TestArgs) -> Option<Complaint> {
    let own = loaded
        .benches
        .iter()
        .flat_map(|bench| bench.config.catalog.iter());
    let own: Vec<&str> = own.map(|spec| spec.name.as_ref()).collect();
    let is_known = |name: &str| {
        own.iter().any(|known| known.eq_ignore_ascii_case(name)) || !events_called(name).is_empty()
    };
    let name = args.suite.events.iter().find(|name| !is_known(name))?;
    let of_hosts = dialects().flat_map(|dialect| dialect.events.iter().map(|row| row.name));
    let help = match spelling::nearest(name, own.into_iter().chain(of_hosts)) {
        Some(nearest) => format!("did you mean `--event {nearest}`?"),
        None => "`hookrun events` lists them".to_string(),
    };
    Some(Complaint::with_cure(
        format!("unknown event `{name}`"),
        help,
    ))
}

fn may_ask(trial: &CaseTrial, names: &[String]) -> bool {
    names.is_empty()
        || trial
            .hooks()
            .iter()
            .any(|hook| names.iter().any(|name| hook.is_called(name)))
}

/// What to say if the filters leave nothing, or there is nothing.
pub(super) fn no_cases(loaded: &LoadedSuite, args: &TestArgs) -> Complaint {
    let all = loaded.trials.len();
    if all == 0 {
        let help = "write a table `[[case]]`; hookrun-suite(5) describes it";
        return Complaint::with_cure("there are no cases", help);
    }
    let hooks = loaded
        .trials
        .iter()
        .flat_map(CaseTrial::hooks)
        .map(|hook| hook.name.clone());
    let hooks: Vec<String> = hooks.collect();
    let near = args.hook.iter().find_map(|name| {
        let is_known = hooks.contains(name);
        if is_known {
            None
        } else {
            nearest_hook(name, hooks.iter().map(String::as_str))
        }
    });
    let help = match near {
        Some(nearest) => format!("did you mean `--hook {nearest}`?"),
        None => "check --filter, --hook and --event".to_string(),
    };
    Complaint::with_cure(format!("none of the {all} cases is chosen"), help)
}

/// Whether `--hook` and `--event` let a hook, or the whole of its event, be looked at.
pub(super) fn is_chosen(who: &Who, is_whole_event: bool, args: &TestArgs) -> bool {
    let events = &args.suite.events;
    let is_event = events.is_empty() || events.iter().any(|name| is_called(name, &who.event));
    let is_hook = args.hook.is_empty() || args.hook.iter().any(|name| who.is_called(name));
    is_event && (is_hook || is_whole_event && args.hook.is_empty())
}

fn is_called(name: &str, event: &str) -> bool {
    name.eq_ignore_ascii_case(event) || events_called(name).contains(&event)
}

pub(crate) fn unknown_hook(name: &str, known: &[&str], event: &str) -> Complaint {
    let help = match nearest_hook(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => format!("no hook is bound to `{event}`"),
        None => format!("bound to `{event}`: {}", known.join(", ")),
    };
    Complaint::with_cure(format!("no hook `{name}` for `{event}`"), help)
}
