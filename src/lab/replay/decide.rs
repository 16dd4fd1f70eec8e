//! One line decided again: from the record to a finding, or to nothing worth reporting.

use super::compare::{self, ComparedOutcome};
use super::finding::{
    LinePlace, OutcomeChange, ReplayFinding, ReplayOutcome, UndecidedEvent, Unreadable,
};
use super::hooks::{self, BrokenHooks, Hooks, HostHooks};
use crate::engine::event::Event;
use crate::log::record::RecordError;
use crate::log::record::subject_words;
use crate::log::redact::is_marked;
use crate::log::{DecisionLine, Redactor};

const LONGEST_ABOUT: usize = 120;

/// What is decided and compared, and how.
#[derive(Debug)]
pub struct Decider {
    pub hooks: Hooks,
    /// Other words count as changes too.
    pub is_strict: bool,
    pub may_change: Vec<String>,
    /// Finds secrets in the answers of hooks: the record has none either.
    pub redactor: Redactor,
}

impl Decider {
    /// Decides the event of a line, and compares.
    ///
    /// # Errors
    /// When the hooks cannot be loaded: every gate would be blocked.
    pub fn line(&mut self, line: &[u8], place: LinePlace) -> Result<ReplayOutcome, BrokenHooks> {
        let record = match DecisionLine::parse(line) {
            Ok(record) => record,
            Err(problem) => return Ok(unreadable(place, &problem)),
        };
        let undecided = |place, why| {
            let event = record.event.clone();
            let undecided = UndecidedEvent { place, event, why };
            Ok(ReplayOutcome::Finding(ReplayFinding::Undecided(undecided)))
        };
        let Some(context) = record.context() else {
            let why = "its context was not kept: it was blocked before it was read";
            return undecided(place, why.to_string());
        };
        if !hooks::is_known(&record.host) {
            let host = &record.host;
            let why = format!("this hookrun does not know the host `{host}`; update hookrun");
            return undecided(place, why);
        }
        let today = self.hooks.of(&record)?;
        if let Some(why) = incomplete(&record, context, &today, self.is_strict) {
            return undecided(place, why);
        }
        let (event, is) = self.decide(&today, &record, context);
        let conduct = event.as_ref().map(|event| event.spec().conduct);
        let has_limit = conduct.is_some_and(|conduct| conduct.most_refusals.is_some());
        let was = match compare::recorded(record.brief(), has_limit) {
            Ok(was) => was,
            Err(problem) => return Ok(unreadable(place, &problem)),
        };
        let mut differs = compare::differences(&was, &is);
        if is_cut(&record, "run") {
            // The recorded words were cut, so they differ from the same words today.
            differs.retain(|name| compare::is_change(&[*name], false));
        }
        if !compare::is_change(&differs, self.is_strict) {
            let is_reworded = !differs.is_empty();
            return Ok(ReplayOutcome::Same { is_reworded });
        }
        let mut change = OutcomeChange {
            place,
            event: record.event.clone(),
            host: record.host.clone(),
            time: record.time.clone(),
            session: record.session.clone(),
            about: event.as_ref().and_then(about),
            was: was.shortened(),
            is: is.shortened(),
            differs,
            expected: false,
        };
        change.expected = change
            .hook()
            .is_some_and(|hook| self.may_change.iter().any(|one| one == hook));
        Ok(ReplayOutcome::Finding(ReplayFinding::Changed(Box::new(
            change,
        ))))
    }

    /// The event, and what hooks answer; `None` if it is blocked before any hook runs, as `run`
    /// does.
    fn decide(
        &self,
        hooks: &HostHooks,
        record: &DecisionLine<'_>,
        context: &str,
    ) -> (Option<Event>, ComparedOutcome) {
        match hooks.event(record, context) {
            Ok(event) => {
                let mut outcome = compare::decided(&hooks.decide(&event));
                outcome.clean(&self.redactor);
                (Some(event), outcome)
            }
            Err(why) => {
                let outcome = ComparedOutcome {
                    decision: "block".into(),
                    cause: Some("failure".into()),
                    reason: Some(why),
                    ..ComparedOutcome::default()
                };
                (None, outcome)
            }
        }
    }
}

/// Why the event cannot be decided again: it is not whole, and a hook would read it.
fn incomplete(
    record: &DecisionLine<'_>,
    context: &str,
    today: &HostHooks,
    compares_words: bool,
) -> Option<String> {
    let is_read = today.has_hooks_for(&record.event);
    let part = |part: &str| record.truncated.iter().find(|name| is_of(name, part));
    let cut = part("context").filter(|_| is_read);
    if let Some(cut) = cut.or_else(|| part("run").filter(|_| compares_words)) {
        return Some(format!("`{cut}` was cut for the decision log"));
    }
    if !is_read {
        return None;
    }
    if record.truncated.iter().any(|name| name.starts_with("and ")) {
        return Some("it was cut for the decision log".to_string());
    }
    if is_marked(context) {
        return Some("a secret in it was replaced when it was recorded".to_string());
    }
    None
}

fn unreadable(place: LinePlace, problem: &RecordError) -> ReplayOutcome {
    let problem = problem.to_string();
    ReplayOutcome::Finding(ReplayFinding::Unreadable(Unreadable { place, problem }))
}

fn is_cut(record: &DecisionLine<'_>, part: &str) -> bool {
    record
        .truncated
        .iter()
        .any(|name| is_of(name, part) || name.starts_with("and "))
}

fn is_of(name: &str, part: &str) -> bool {
    name.strip_prefix(part)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A few words about the action, on one line.
fn about(event: &Event) -> Option<String> {
    let context = event.context();
    let action = event.action();
    let what = action
        .and_then(|action| {
            action
                .command
                .clone()
                .or_else(|| action.paths.first().cloned())
        })
        .or_else(|| context.string("prompt"));
    subject_words(
        context.string("toolName").as_deref(),
        what.as_deref(),
        LONGEST_ABOUT,
    )
}
