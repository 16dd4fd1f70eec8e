//! One line decided again: from the record to a finding, or to nothing worth telling.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use super::compare::{self, ComparedOutcome};
use super::finding::{
    LinePlace, OutcomeChange, ReplayError, ReplayFinding, UndecidedEvent, Unreadable,
};
use super::hooks::{self, Hooks, HostHooks};
use super::partition::Partition;
use super::totals::{Totals, count_hooks};
use crate::engine::event::{Context, Event};
use crate::hosts::native;
use crate::log::record::RecordError;
use crate::log::record::subject_words;
use crate::log::redact::is_marked;
use crate::log::report::{Paths, RunReport, refusal_report, run_report};
use crate::log::stats::HookStats;
use crate::log::{DecisionLine, Keeps, LogEntry, Redactor};

const LONGEST_ABOUT: usize = 120;

/// What is decided and compared, and how.
#[derive(Debug)]
pub struct Decider {
    pub hooks: Hooks,
    /// Another set to compare with, instead of what was recorded.
    pub against: Option<Hooks>,
    /// Other words count as changes too.
    pub is_strict: bool,
    /// The part that is decided.
    pub partition: Partition,
    pub may_change: Vec<String>,
    /// Finds secrets in what hooks say.
    pub redactor: Redactor,
    /// Whether a new recording is made of what is decided.
    pub writes: bool,
}

#[derive(Debug, Default)]
pub struct ReplayedLines {
    /// In the order of the lines.
    pub findings: Vec<ReplayFinding>,
    /// Lines of the new recording.
    pub written: Vec<u8>,
}

struct DecidedEvent {
    /// What hooks said, without secrets.
    said: ComparedOutcome,
    /// `None` if it was refused before any hook ran.
    event: Option<Event>,
    /// For the new recording.
    report: Option<RunReport>,
}

impl Decider {
    pub(super) fn line(
        &self,
        line: &[u8],
        place: &dyn Fn() -> LinePlace,
        totals: &mut Totals,
        done: &mut ReplayedLines,
    ) -> Result<(), ReplayError> {
        let record = match DecisionLine::parse(line) {
            Ok(record) => record,
            Err(problem) => {
                if self.partition.takes(line) {
                    self.tell(unreadable(place(), &problem), totals, done);
                    self.copy(line, done);
                }
                return Ok(());
            }
        };
        let key = record.session.as_deref().or(record.context());
        if !self.partition.takes(key.map_or(line, str::as_bytes)) {
            return Ok(());
        }
        if let Some(finding) = self.record(&record, place, totals, done)? {
            if !matches!(finding, ReplayFinding::Changed(_)) {
                self.copy(line, done);
            }
            self.tell(finding, totals, done);
        }
        Ok(())
    }

    /// A file or line that could not be read.
    pub(super) fn unreadable(
        &self,
        unreadable: Unreadable,
        totals: &mut Totals,
        done: &mut ReplayedLines,
    ) {
        // What is wrong with a whole file is wrong in every part.
        if unreadable.place.line.is_none() || self.partition.takes_nameless() {
            self.tell(ReplayFinding::Unreadable(unreadable), totals, done);
        }
    }

    fn tell(&self, finding: ReplayFinding, totals: &mut Totals, done: &mut ReplayedLines) {
        totals.count(&finding);
        done.findings.push(finding);
    }

    /// A line that cannot be decided goes into the new recording as it is.
    fn copy(&self, line: &[u8], done: &mut ReplayedLines) {
        if self.writes {
            done.written.extend_from_slice(line);
            done.written.push(b'\n');
        }
    }

    fn record(
        &self,
        record: &DecisionLine<'_>,
        place: &dyn Fn() -> LinePlace,
        totals: &mut Totals,
        done: &mut ReplayedLines,
    ) -> Result<Option<ReplayFinding>, ReplayError> {
        let event = || record.event.clone();
        let undecided = |why: String| {
            let event = UndecidedEvent {
                place: place(),
                event: event(),
                why,
            };
            Ok(Some(ReplayFinding::Undecided(event)))
        };
        let Some(context) = record.context() else {
            return undecided("its context was not kept: it was blocked before it was read".into());
        };
        if !hooks::is_known(&record.host) {
            let host = &record.host;
            return undecided(format!(
                "this hookrun does not know the host `{host}`; update hookrun"
            ));
        }
        let today = self.hooks.of(record)?;
        let other = self
            .against
            .as_ref()
            .map(|hooks| hooks.of(record))
            .transpose()?;
        if let Some(why) = self.incomplete(record, context, &today, other.as_deref()) {
            return undecided(why);
        }
        let now = self.decide(&today, record, context, &mut totals.hooks);
        let (was, is) = match other {
            Some(other) => {
                let then = self.decide(&other, record, context, &mut totals.against);
                (now.said.clone(), then.said)
            }
            None => {
                let conduct = now.event.as_ref().map(|event| event.spec().conduct);
                let has_limit = conduct.is_some_and(|conduct| conduct.most_refusals.is_some());
                match compare::recorded(record.brief(), has_limit) {
                    Ok(was) => (was, now.said.clone()),
                    Err(problem) => return Ok(Some(unreadable(place(), &problem))),
                }
            }
        };
        if self.writes {
            self.write(record, context, &now, done);
        }
        let mut differs = compare::differences(&was, &is);
        if self.against.is_none() && is_cut(record, "run") {
            // The recorded words were cut, so they differ from the same words today.
            differs.retain(|name| compare::is_change(&[*name], false));
        }
        if !compare::is_change(&differs, self.is_strict) {
            totals.count_same(!differs.is_empty());
            return Ok(None);
        }
        let mut change = OutcomeChange {
            place: place(),
            event: event(),
            host: record.host.clone(),
            time: record.time.clone(),
            session: record.session.clone(),
            about: now.event.as_ref().and_then(about),
            was: was.shortened(),
            is: is.shortened(),
            differs: differs.into_iter().map(str::to_string).collect(),
            expected: false,
        };
        change.expected = change
            .hook()
            .is_some_and(|hook| self.may_change.iter().any(|one| one == hook));
        Ok(Some(ReplayFinding::Changed(Box::new(change))))
    }

    /// Why the event cannot be decided again: it is not whole, and a hook would read it.
    fn incomplete(
        &self,
        record: &DecisionLine<'_>,
        context: &str,
        today: &HostHooks,
        other: Option<&HostHooks>,
    ) -> Option<String> {
        let is_looked_at = today.has_hooks_for(&record.event)
            || other.is_some_and(|other| other.has_hooks_for(&record.event));
        let cut = record.truncated.iter().find(|name| is_of(name, "context"));
        if let Some(cut) = cut.filter(|_| is_looked_at || self.writes) {
            return Some(format!("`{cut}` was cut for the decision log"));
        }
        let said = record.truncated.iter().find(|name| is_of(name, "run"));
        let compares_words = self.is_strict && self.against.is_none();
        if let Some(cut) = said.filter(|_| compares_words || self.writes) {
            return Some(format!("`{cut}` was cut for the decision log"));
        }
        let is_cut_unnamed = record.truncated.iter().any(|name| name.starts_with("and "));
        if is_cut_unnamed && is_looked_at {
            return Some("it was cut for the decision log".to_string());
        }
        if is_looked_at && is_marked(context) {
            return Some("a secret in it was replaced when it was recorded".to_string());
        }
        None
    }

    /// Decides an event by these hooks, and removes the secrets from what they say: the record has
    /// none either.
    fn decide(
        &self,
        hooks: &HostHooks,
        record: &DecisionLine<'_>,
        context: &str,
        counts: &mut BTreeMap<String, HookStats>,
    ) -> DecidedEvent {
        let (event, binding) = match hooks.event(record, context) {
            Ok(decidable) => decidable,
            Err(why) => return self.refused(record, why),
        };
        let run = hooks.decide(&event);
        count_hooks(&run, counts);
        let mut said = compare::decided(&run);
        said.clean(&self.redactor);
        let report = self.writes.then(|| {
            let reply = hooks::reply(binding, &run.outcome);
            run_report(&run, &reply, &Paths::from(Path::new("")))
        });
        DecidedEvent {
            said,
            event: Some(event),
            report,
        }
    }

    /// As `run` refuses what no hook can decide.
    fn refused(&self, record: &DecisionLine<'_>, why: String) -> DecidedEvent {
        let report = self.writes.then(|| {
            let (event, host) = (&record.event, &record.host);
            refusal_report(event, host, &why, &native::refuse(&why))
        });
        let said = ComparedOutcome {
            decision: "block".into(),
            cause: Some("failure".into()),
            reason: Some(why),
            ..ComparedOutcome::default()
        };
        DecidedEvent {
            said,
            event: None,
            report,
        }
    }

    fn write(
        &self,
        record: &DecisionLine<'_>,
        context: &str,
        now: &DecidedEvent,
        done: &mut ReplayedLines,
    ) {
        let Some(report) = &now.report else { return };
        let told = match &now.event {
            Some(event) => Some(event.context().clone()),
            None => Context::parse(context).ok(),
        };
        let time = humantime::parse_rfc3339_weak(&record.time).unwrap_or(SystemTime::UNIX_EPOCH);
        let entry = LogEntry {
            time,
            cwd: record.cwd.as_deref().map(Path::new),
            door: record.door.as_deref(),
            context: told.as_ref(),
            trace: None,
            run: report,
        };
        done.written
            .extend_from_slice(entry.line(&self.redactor, Keeps::All).as_bytes());
    }
}

fn unreadable(place: LinePlace, problem: &RecordError) -> ReplayFinding {
    ReplayFinding::Unreadable(Unreadable {
        place,
        problem: problem.to_string(),
    })
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
