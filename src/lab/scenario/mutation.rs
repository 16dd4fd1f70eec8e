//! Mutation: replaces hooks by wrong ones, and checks whether a case notices.
//!
//! A mutant takes a hook's place, and keeps its order, its matcher and its `on_failure`. It is a
//! function that decides at once, so that even a mutant that times out takes no time.

use super::coverage::Who;
use crate::engine::event::{Event, EventSpec};
use crate::engine::hook::{Containment, Function, Handler, Hook, Limits, Matcher, duration_text};
use crate::engine::outcome::{ContractRule, Decision, Verdict};
use crate::engine::run::Trace;

#[derive(Debug)]
pub struct MutantRow {
    pub name: &'static str,
    /// What the mutant does instead: completes "10-guard.sh …".
    pub does: &'static str,
    pub of: &'static str,
    pub why: &'static str,
    /// What would notice it; `{}` is the hook.
    kill: &'static str,
    has: fn(&Hook, &EventSpec) -> bool,
    /// It decides every event, not only those that the hook wants.
    pub drops_matcher: bool,
    answer: fn(&Hook, &EventSpec) -> Result<Verdict, String>,
    /// Whether a case in which the hook had this trace is likely to notice.
    is_telling: fn(&Trace) -> bool,
}

/// The mutants of a hook. Blocking has no effect on an event that cannot be blocked, so hooks of
/// such an event have no mutant that blocks.
#[rustfmt::skip]
pub const MUTANTS: &[MutantRow] = &[
    MutantRow { name: "allows", does: "always allows and prints nothing", of: "hooks of events that can be blocked", why: "a guard that allows everything looks like one with nothing to object to",
        kill: "a case in which {} blocks or prints something", has: |_, spec| spec.blocks, drops_matcher: false, answer: |_, _| Ok(Verdict::allow()), is_telling: |trace| !is_silent(trace) },
    MutantRow { name: "refuses", does: "always blocks", of: "hooks of events that can be blocked", why: "a guard that blocks everything stops work",
        kill: "a case in which {} allows", has: |hook, spec| spec.blocks && !hook.is_rule(), drops_matcher: false, answer: |_, _| Ok(Verdict::block("a mutant blocks everything")), is_telling: has_allowed },
    MutantRow { name: "everything", does: "decides every event", of: "rules", why: "a rule that is too wide stops work",
        kill: "a case that {} lets pass", has: |hook, _| hook.is_rule(), drops_matcher: true, answer: decides_everything, is_telling: |_| true },
    MutantRow { name: "silent", does: "prints nothing and does nothing", of: "hooks of events that cannot be blocked", why: "what it prints or leaves behind is all that it is for",
        kill: "a case in which {} prints something, or that expects `files` that it leaves", has: |_, spec| !spec.blocks, drops_matcher: false, answer: |_, _| Ok(Verdict::allow()), is_telling: |trace| !is_silent(trace) },
    MutantRow { name: "times-out", does: "fails as if it had timed out", of: "every hook", why: "a hook that never answers must not pass for one that does; the mutant fails at once",
        kill: "a case in which {} answers", has: |_, _| true, drops_matcher: false, answer: |hook, spec| Err(format!("timed out after {}", duration_text(hook.timeout(spec)))), is_telling: |trace| trace.ending.verdict().is_some() },
];

impl MutantRow {
    /// What would notice that it replaces `hook`.
    pub fn kill(&self, hook: &str) -> String {
        self.kill.replace("{}", hook)
    }

    pub fn is_telling(&self, trace: &Trace) -> bool {
        (self.is_telling)(trace)
    }

    pub fn in_place_of(&'static self, hook: &Hook) -> Hook {
        let own = hook.clone();
        let answer = self.answer;
        let call = move |event: &Event| answer(&own, event.spec());
        // The limits of a process mean nothing to a function.
        Hook {
            handler: Handler::Function(Function::new(call)),
            limits: Limits {
                timeout: hook.limits.timeout,
                ..Limits::default()
            },
            sandbox: None,
            containment: Containment::Auto,
            matcher: if self.drops_matcher {
                Matcher::default()
            } else {
                hook.matcher.clone()
            },
            variables: Vec::new(),
            folder: None,
            ..hook.clone()
        }
    }
}

pub fn mutants(hook: &Hook, spec: &EventSpec) -> impl Iterator<Item = &'static MutantRow> {
    MUTANTS.iter().filter(|row| (row.has)(hook, spec))
}

fn decides_everything(rule: &Hook, _: &EventSpec) -> Result<Verdict, String> {
    let Handler::Rule(decision) = &rule.handler else {
        return Err("it is no rule".to_string());
    };
    Ok(Verdict::new(decision.clone(), ContractRule::Ruled))
}

fn has_allowed(trace: &Trace) -> bool {
    trace
        .ending
        .verdict()
        .is_some_and(|verdict| verdict.decision == Decision::Allow)
}

fn is_silent(trace: &Trace) -> bool {
    trace.ending.verdict().is_some_and(|verdict| {
        let has_text = verdict.output.is_some() || verdict.additional_context.is_some();
        has_allowed(trace) && !has_text && verdict.update.is_empty()
    })
}

#[derive(Debug, Clone)]
pub struct MutantTrial {
    pub who: Who,
    pub row: &'static MutantRow,
    pub cases: usize,
    /// The case that noticed; `None` if no result changed.
    pub noticed: Option<String>,
}

impl MutantTrial {
    /// What no case noticed, and what would notice it; `None` if a case did.
    pub fn survived(&self) -> Option<(String, String)> {
        if self.noticed.is_some() {
            return None;
        }
        let hook = &self.who.hook;
        let asked = match self.cases {
            0 => "no case runs it".to_string(),
            1 => "the one case that runs it still passes".to_string(),
            cases => format!("all {cases} cases that run it still pass"),
        };
        let cure = match self.cases {
            0 => format!("a case that runs {hook}"),
            _ => self.row.kill(hook),
        };
        Some((
            format!("{hook} {} ({}): {asked}", self.row.does, self.who.event),
            cure,
        ))
    }
}
