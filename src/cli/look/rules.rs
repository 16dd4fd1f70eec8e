//! The rules of an event that apply when one host asks, for `list` and `show`.
//!
//! A dialect can bind several of its events to one of ours, each with other rules. The output names
//! the event, so that nobody takes the catalog's rules for the host's.

use crate::config::Config;
use crate::engine::event::{EventSpec, OnFailure};
use crate::engine::hook::{Hook, duration_text};
use crate::hosts::{Binding, Host, HostEvent};
use serde_json::{Value, json};

/// One event as a host has it.
#[derive(Debug, Clone)]
pub(crate) struct HostRules {
    /// What the host calls it.
    pub(crate) name: String,
    pub(crate) spec: EventSpec,
}

/// The rules of `spec` in a host of `dialect`: one set for each of its events that is bound to
/// it, none where it has no such event. Without a dialect, those of the catalog.
pub(crate) fn host_rules(dialect: Option<&'static Host>, spec: &EventSpec) -> Vec<HostRules> {
    let Some(dialect) = dialect else {
        return vec![HostRules {
            name: spec.name.to_string(),
            spec: spec.clone(),
        }];
    };
    let rows = dialect.events.iter().filter(|row| row.event == spec.name);
    let rules = |row: &'static HostEvent| HostRules {
        name: row.full_name(),
        spec: Binding { dialect, row }.spec(),
    };
    rows.map(rules).collect()
}

pub(crate) fn rules_of(
    hook: &Hook,
    config: &Config,
    dialect: Option<&'static Host>,
) -> Vec<HostRules> {
    let spec = config.catalog.find(&hook.event);
    spec.map(|spec| host_rules(dialect, &spec))
        .unwrap_or_default()
}

pub(crate) fn rules_json(hook: &Hook, rules: &HostRules) -> Value {
    let failure = FailureRule::of(hook, &rules.spec);
    let timeout = hook.timeout(&rules.spec).as_millis();
    json!({
        "event": rules.name,
        "blocks": rules.spec.blocks,
        "onFailure": failure.on_failure.name(),
        "onFailureFrom": failure.from,
        "timeoutMs": u64::try_from(timeout).unwrap_or(u64::MAX),
        "schedule": rules.spec.schedule.name(),
    })
}

/// A value for each set of rules, as one line: the sets are named only where they differ.
fn joined(rules: &[HostRules], value: impl Fn(&HostRules) -> String) -> String {
    let values: Vec<String> = rules.iter().map(value).collect();
    match values.as_slice() {
        [] => "the host has no such event".to_string(),
        [first, others @ ..] if others.iter().all(|other| other == first) => first.clone(),
        _ => {
            let named = rules.iter().zip(&values);
            let named = named.map(|(rules, value)| format!("{}: {value}", rules.name));
            named.collect::<Vec<String>>().join("; ")
        }
    }
}

pub(crate) fn failure_text(hook: &Hook, rules: &[HostRules]) -> String {
    joined(rules, |rules| {
        let failure = FailureRule::of(hook, &rules.spec);
        format!("{} ({})", failure.on_failure.name(), failure.about)
    })
}

pub(crate) fn timeout_text(hook: &Hook, rules: &[HostRules]) -> String {
    joined(rules, |rules| duration_text(hook.timeout(&rules.spec)))
}

/// What a failure of a hook does, and whose rule that is.
pub(crate) struct FailureRule {
    pub(crate) on_failure: OnFailure,
    from: &'static str,
    about: String,
}

impl FailureRule {
    pub(crate) fn of(hook: &Hook, spec: &EventSpec) -> FailureRule {
        let (from, about) = match (hook.on_failure, &hook.convention) {
            _ if !spec.blocks => ("event", "nothing can block this event".to_string()),
            (Some(_), _) => ("hook", "its own setting".to_string()),
            (None, Some(system)) => (
                "dialect",
                format!("the rule of its dialect, {}", system.system()),
            ),
            (None, None) => ("event", "the event's".to_string()),
        };
        let on_failure = if spec.blocks {
            hook.on_failure(spec)
        } else {
            OnFailure::Allow
        };
        FailureRule {
            on_failure,
            from,
            about,
        }
    }
}
