//! Is it the right decision, for the right reason? What a run says against what was expected.

use hookrun::internals::outcome::{Cause, Settled};
use hookrun::internals::run::{Ending, Fate, Run, Trace};

use crate::scenarios::{Expected, Scenario};

/// What an injected fault may make of an event, beside what the scenario expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excuse {
    /// Nothing: the fault must not be noticed.
    Nothing,
    /// A hook that could not be started refuses; the reason has one of these words.
    NotStarted(&'static [&'static str]),
    /// A hook that was killed from outside refuses.
    Killed,
    /// It refuses because it was interrupted.
    Told,
    /// It refuses because the budget was used up.
    OutOfBudget,
}

/// What a way of running an event makes of its decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) excuse: Excuse,
    /// The fault was certain: what the scenario expects would be wrong.
    pub(crate) is_certain: bool,
}

impl Terms {
    /// The scenario as it is.
    pub(crate) const NONE: Terms = Terms {
        excuse: Excuse::Nothing,
        is_certain: false,
    };

    pub(crate) const fn maybe(excuse: Excuse) -> Terms {
        Terms {
            excuse,
            is_certain: false,
        }
    }

    pub(crate) const fn certain(excuse: Excuse) -> Terms {
        Terms {
            excuse,
            is_certain: true,
        }
    }
}

/// Judges a run.
///
/// 1. Only hooks of the scenario may have run.
/// 2. Where a fault was certain, only its own refusal is right.
/// 3. Else what the scenario expects is right, and so is the refusal of a possible fault.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn judge(scenario: &Scenario, run: &Run, terms: Terms) -> Result<(), String> {
    for hook in &run.hooks {
        let is_own = place_of(scenario, &hook.hook).is_some();
        if !is_own && !matches!(hook.fate, Fate::Unwanted(_)) {
            return Err(format!("`{}` ran, which is another scenario's", hook.hook));
        }
    }
    let excused = match has_refused_first(scenario, run) {
        true => Ok(()),
        false => excused(run, terms.excuse),
    };
    if terms.is_certain {
        return excused;
    }
    let fitting = scenario
        .expected
        .iter()
        .map(|expected| fits(scenario, run, expected));
    match (fitting.reduce(Result::or).unwrap_or(Ok(())), terms.excuse) {
        (Ok(()), Excuse::Nothing) => noted(scenario, run),
        (Err(wrong), Excuse::Nothing) => Err(wrong),
        (Ok(()), _) => Ok(()),
        (Err(wrong), _) => excused.map_err(|why| format!("{wrong}; {why}")),
    }
}

/// A run in words, for a finding.
pub(crate) fn described(run: &Run) -> String {
    let settled = match &run.outcome.settled {
        Settled::Allowed => "allowed".to_string(),
        Settled::Asked { .. } => "asked".to_string(),
        Settled::Blocked(block) => {
            let reason: String = block.reason.chars().take(200).collect();
            format!(
                "refused by {:?} ({:?}): {reason:?}",
                block.hook, block.cause
            )
        }
    };
    let endings = run.hooks.iter().filter_map(|hook| {
        let trace = trace_of(&hook.fate)?;
        Some(format!(
            "{}: {} in {:?} {:?}",
            hook.hook,
            class(trace),
            trace.took,
            trace.notes
        ))
    });
    format!("{settled}; {}", endings.collect::<Vec<_>>().join("; "))
}

fn fits(scenario: &Scenario, run: &Run, expected: &Expected) -> Result<(), String> {
    match expected {
        Expected::Allowed {
            class: wanted,
            text,
        } => {
            if run.outcome.settled != Settled::Allowed {
                return Err("it was not allowed".to_string());
            }
            let traces = run.hooks.iter().filter_map(|hook| trace_of(&hook.fate));
            let classes: Vec<&str> = traces.map(class).collect();
            if classes.is_empty() || classes.iter().any(|class| class != wanted) {
                return Err(format!(
                    "the hooks ended with {classes:?}, not with {wanted}"
                ));
            }
            let said = format!(
                "{}{}{}",
                run.outcome.output().unwrap_or_default(),
                run.outcome.additional_context().unwrap_or_default(),
                serde_json::Value::Object(run.outcome.update()),
            );
            if !said.contains(text) {
                return Err(format!("`{text}` is not in what was said: {said}"));
            }
        }
        Expected::Blocked {
            place,
            cause,
            class: wanted,
            reason,
        } => {
            let Some(block) = run.outcome.block() else {
                return Err("it was not refused".to_string());
            };
            let by = block
                .hook
                .as_deref()
                .and_then(|hook| place_of(scenario, hook));
            let found = deciding(run).map_or("nothing", class);
            if (by, block.cause, found) != (Some(*place), *cause, *wanted) {
                return Err(format!(
                    "it was refused by {by:?}, {:?}, {found}",
                    block.cause
                ));
            }
            if !block.reason.contains(reason) {
                return Err(format!("`{reason}` is not in the reason"));
            }
        }
    }
    Ok(())
}

/// Whether what was left behind is named.
fn noted(scenario: &Scenario, run: &Run) -> Result<(), String> {
    let Some(wanted) = scenario.note else {
        return Ok(());
    };
    let mut notes = run
        .hooks
        .iter()
        .filter_map(|hook| trace_of(&hook.fate))
        .flat_map(|t| &t.notes);
    if notes.any(|note| note.contains(wanted)) {
        return Ok(());
    }
    Err(format!("no note says `{wanted}…`"))
}

fn excused(run: &Run, excuse: Excuse) -> Result<(), String> {
    let Some(block) = run
        .outcome
        .block()
        .filter(|block| block.cause == Cause::Failure)
    else {
        return Err(format!("it is no refusal for a failure ({excuse:?})"));
    };
    let ending = deciding(run).map(|trace| &trace.ending);
    let is_excused = match excuse {
        Excuse::Nothing => false,
        Excuse::NotStarted(words) => {
            matches!(ending, Some(Ending::NotStarted(_)))
                && words.iter().any(|word| block.reason.contains(word))
        }
        Excuse::Killed => matches!(ending, Some(Ending::Killed { signal: 9 })),
        Excuse::Told => block.reason.contains("hookrun was interrupted"),
        Excuse::OutOfBudget => matches!(ending, Some(Ending::OutOfBudget { .. })),
    };
    if is_excused {
        Ok(())
    } else {
        Err(format!("it does not come from the fault ({excuse:?})"))
    }
}

/// Whether a hook that is to refuse had done so in full when the fault came: that counts.
fn has_refused_first(scenario: &Scenario, run: &Run) -> bool {
    let is_to_refuse = |expected: &Expected| {
        matches!(
            expected,
            Expected::Blocked {
                cause: Cause::Policy,
                ..
            }
        )
    };
    let notes = deciding(run)
        .map(|trace| trace.notes.as_slice())
        .unwrap_or_default();
    scenario.expected.iter().any(is_to_refuse)
        && run
            .outcome
            .block()
            .is_some_and(|block| block.cause == Cause::Policy)
        && notes
            .iter()
            .any(|note| note.starts_with("it blocked, then "))
}

/// The trace of the hook that refused.
fn deciding(run: &Run) -> Option<&Trace> {
    let by = run.outcome.block()?.hook.as_deref()?;
    run.hooks
        .iter()
        .find(|hook| hook.hook == by)
        .and_then(|hook| trace_of(&hook.fate))
}

fn trace_of(fate: &Fate) -> Option<&Trace> {
    match fate {
        Fate::Ran(trace) => Some(trace),
        Fate::Disabled | Fate::Idle(_) | Fate::Unwanted(_) | Fate::Unreached | Fate::Detached => {
            None
        }
    }
}

/// The rule by which a hook answered, or how it failed.
fn class(trace: &Trace) -> &'static str {
    trace
        .ending
        .verdict()
        .map_or_else(|| trace.ending.name(), |verdict| verdict.rule.row().name)
}

/// The place of a hook in its scenario, by its name.
fn place_of(scenario: &Scenario, hook: &str) -> Option<usize> {
    hook.strip_prefix(scenario.name)?
        .strip_prefix(' ')?
        .parse()
        .ok()
}
