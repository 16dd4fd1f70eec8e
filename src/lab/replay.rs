//! Decides recorded events again with today's hooks: a line in, a line out, independent of others.

mod hooks;

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

pub use self::hooks::{BrokenHooks, Hooks};
use crate::engine::event::Event;
use crate::engine::harmless::plain;
use crate::engine::outcome::{NoticeKind, joined};
use crate::hosts::native;
use crate::lab::report::style::{BAD, BOLD, DIM, DOUBT, GOOD, counted, text};
use crate::log::record::RecordError;
use crate::log::redact::is_marked;
use crate::log::report::{Paths, RunReport, run_report};
use crate::log::{DecisionLine, Redactor};

const LONGEST_ABOUT: usize = 120;

/// The result of replaying one line.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedLine {
    pub file: String,
    /// From 1; missing for an unreadable file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub result: ReplayResult,
    /// Why the event was not decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// When it was recorded (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool and its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The recorded outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<ComparedOutcome>,
    /// Today's outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<ComparedOutcome>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReplayResult {
    Same,
    /// Another decision, or a failure where a policy blocked.
    Changed,
    /// The event was not recorded completely, so a replay would decide something else.
    Undecided,
    /// An unreadable file, or a line that is not a record.
    #[default]
    Unreadable,
}

/// The merged outcome of all hooks.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ComparedOutcome {
    /// `allow`, `ask` or `block`.
    pub decision: String,
    /// `policy` or `failure`, for a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The hook that blocked or asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// Its reason or question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug)]
pub struct Decider {
    pub hooks: Hooks,
    /// Redacts secrets in hooks' answers, as in the record.
    pub redactor: Redactor,
}

impl Decider {
    /// Decides a line's event again and compares the outcomes.
    ///
    /// # Errors
    /// If the hooks cannot be loaded: every gate would be blocked.
    pub fn line(
        &mut self,
        line: &[u8],
        file: String,
        number: u64,
    ) -> Result<ReplayedLine, BrokenHooks> {
        let mut replayed = ReplayedLine {
            file,
            line: Some(number),
            ..ReplayedLine::default()
        };
        let read = DecisionLine::parse(line).and_then(|record| Ok((recorded(&record)?, record)));
        let (was, record) = match read {
            Ok(read) => read,
            Err(problem) => {
                replayed.why = Some(problem.to_string());
                return Ok(replayed);
            }
        };
        replayed.event = Some(record.event.clone());
        replayed.host = Some(record.host.clone());
        replayed.time = Some(record.time.clone());
        replayed.session.clone_from(&record.session);
        replayed.about = record.subject().words(LONGEST_ABOUT);
        replayed.was = Some(was.clone());
        match self.decide(&record)? {
            Ok(is) => {
                let is_same = was.decision == is.decision && was.cause == is.cause;
                replayed.result = if is_same {
                    ReplayResult::Same
                } else {
                    ReplayResult::Changed
                };
                replayed.is = Some(is);
            }
            Err(why) => {
                replayed.result = ReplayResult::Undecided;
                replayed.why = Some(why);
            }
        }
        Ok(replayed)
    }

    /// Today's outcome, or why the event cannot be decided again.
    fn decide(
        &mut self,
        record: &DecisionLine<'_>,
    ) -> Result<Result<ComparedOutcome, String>, BrokenHooks> {
        let Some(context) = record.context() else {
            let why = "its context was not recorded: it was blocked before it was read";
            return Ok(Err(why.to_string()));
        };
        if !hooks::is_known(&record.host) {
            let host = &record.host;
            let why = format!("this hookrun does not know the host `{host}`; update hookrun");
            return Ok(Err(why));
        }
        let today = self.hooks.of(record)?;
        if today.has_hooks_for(&record.event) {
            let mut truncated = record.truncated.iter();
            if let Some(name) = truncated.find(|name| !name.starts_with("run")) {
                return Ok(Err(format!("`{name}` was truncated in the decision log")));
            }
            if is_marked(context) {
                let why = "a secret in it was redacted when it was recorded";
                return Ok(Err(why.to_string()));
            }
        }
        let event: Event = match today.event(record, context) {
            Ok(event) => event,
            Err(why) => {
                return Ok(Ok(ComparedOutcome {
                    decision: "block".to_string(),
                    cause: Some("failure".to_string()),
                    hook: None,
                    reason: Some(why),
                }));
            }
        };
        let run = today.decide(&event);
        let reply = native::encode(&run.outcome);
        let mut is = said_by_hooks(&run_report(&run, &reply, &Paths::from("".as_ref())));
        is.reason = is
            .reason
            .map(|reason| self.redactor.text(&reason).into_owned());
        Ok(Ok(is))
    }
}

fn recorded(record: &DecisionLine<'_>) -> Result<ComparedOutcome, RecordError> {
    let report = record.report()?;
    let decision = &report.decision;
    if !["allow", "ask", "block"].contains(&decision.as_ref()) {
        let problem = format!("its decision is `{decision}`, which this hookrun does not know");
        return Err(RecordError::Other { problem });
    }
    Ok(said_by_hooks(&report))
}

/// The hooks' outcome in a record:
///
/// 1. A question that a person answered, or nobody could, is the question.
/// 2. A block that was let through after too many is the block.
/// 3. Anything else is the recorded outcome.
fn said_by_hooks(report: &RunReport) -> ComparedOutcome {
    let has_notice = |kind| report.notices.iter().any(|notice| notice.kind == kind);
    let is_allowed = report.decision == "allow";
    let is_answered = is_allowed && !has_notice(NoticeKind::Question);
    let is_let_through = is_allowed
        && has_notice(NoticeKind::Own)
        && !has_notice(NoticeKind::Refusal)
        && !has_notice(NoticeKind::Failure);
    for hook in &report.hooks {
        let Some(trace) = &hook.trace else { continue };
        let (decision, cause, reason) = match (&trace.verdict, &trace.failure) {
            (Some(verdict), _) => (verdict.decision.as_ref(), "policy", &verdict.reason),
            (None, Some(_)) => (hook.on_failure.as_ref(), "failure", &trace.failure),
            (None, None) => continue,
        };
        let asks = decision == "ask" && (is_answered || report.cause.as_deref() == Some("person"));
        let blocks = decision == "block" && is_let_through;
        if asks || blocks {
            return ComparedOutcome {
                decision: decision.to_string(),
                cause: blocks.then(|| cause.to_string()),
                hook: Some(hook.name.clone()),
                reason: reason.clone(),
            };
        }
    }
    let mut outcome = ComparedOutcome {
        decision: report.decision.to_string(),
        cause: report.cause.as_deref().map(str::to_string),
        hook: report.decided_by.clone(),
        reason: report.reason.clone(),
    };
    if let Some(first) = report.questions.first() {
        outcome.hook = Some(first.hook.clone());
        outcome.reason = Some(joined(&report.questions));
    }
    outcome
}

impl ReplayedLine {
    /// Writes differences and problems; nothing for an unchanged outcome.
    pub fn human(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut place = self.file.clone();
        if let Some(line) = self.line {
            place.push_str(&format!(":{line}"));
        }
        let place = plain(&place);
        let event = plain(self.event.as_deref().unwrap_or_default());
        let why = plain(self.why.as_deref().unwrap_or_default());
        match (self.result, &self.was, &self.is) {
            (ReplayResult::Changed, Some(was), Some(is)) => {
                let time = plain(self.time.as_deref().unwrap_or_default());
                writeln!(out, "{BAD}was {}, is {}{BAD:#}", was.words(), is.words())?;
                writeln!(out, "  {BOLD}{place}{BOLD:#}  {event}  {DIM}{time}{DIM:#}")?;
                if let Some(about) = &self.about {
                    writeln!(out, "  {}", plain(about))?;
                }
                for (label, outcome) in [("was", was), ("is", is)] {
                    text(out, label, outcome.reason.as_deref().unwrap_or_default())?;
                }
                writeln!(out)
            }
            (ReplayResult::Same | ReplayResult::Changed, ..) => Ok(()),
            (ReplayResult::Undecided, ..) => writeln!(
                out,
                "{DOUBT}not decided{DOUBT:#}  {place}  {event} cannot be decided again: {why}\n"
            ),
            (ReplayResult::Unreadable, ..) => {
                writeln!(out, "{BAD}not readable{BAD:#}  {place}  {why}\n")
            }
        }
    }
}

impl ComparedOutcome {
    fn words(&self) -> String {
        let word = match self.decision.as_str() {
            "allow" => "allowed",
            "ask" => "asked",
            _ => "blocked",
        };
        let is_failure = self.cause.as_deref() == Some("failure");
        let how = if is_failure { " for a failure" } else { "" };
        match &self.hook {
            Some(hook) => format!("{word}{how} by {}", plain(hook)),
            None => format!("{word}{how}"),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct ReplayTotals {
    pub events: u64,
    pub same: u64,
    pub changed: u64,
    pub undecided: u64,
    /// Lines and files.
    pub unreadable: u64,
    /// Counts by change (`allow → block`).
    turns: BTreeMap<String, u64>,
}

impl ReplayTotals {
    pub fn add(&mut self, replayed: &ReplayedLine) {
        match replayed.result {
            ReplayResult::Same => self.same += 1,
            ReplayResult::Changed => self.changed += 1,
            ReplayResult::Undecided => self.undecided += 1,
            ReplayResult::Unreadable => {
                self.unreadable += 1;
                return;
            }
        }
        self.events += 1;
        if let (ReplayResult::Changed, Some(was), Some(is)) =
            (replayed.result, &replayed.was, &replayed.is)
        {
            let turn = format!("{} → {}", was.decision, is.decision);
            *self.turns.entry(turn).or_default() += 1;
        }
    }

    /// Whether every event was decided, except (with `allows_undecided`) incomplete ones.
    pub fn is_complete(&self, allows_undecided: bool) -> bool {
        self.unreadable == 0 && self.events > 0 && (allows_undecided || self.undecided == 0)
    }

    pub fn human(&self, is_complete: bool, out: &mut dyn Write) -> io::Result<()> {
        let (style, word) = match self.changed {
            _ if !is_complete => (BAD, "incomplete"),
            0 => (GOOD, "as recorded"),
            _ => (BAD, "changed"),
        };
        write!(
            out,
            "{style}{word}{style:#}: {}: {} as recorded, {} changed",
            counted(self.events, "event"),
            self.same,
            self.changed
        )?;
        if self.undecided > 0 {
            write!(out, ", {} not decided", self.undecided)?;
        }
        if self.unreadable > 0 {
            write!(out, ", {} not readable", self.unreadable)?;
        }
        writeln!(out)?;
        for (turn, count) in &self.turns {
            writeln!(out, "  {turn}: {count}")?;
        }
        Ok(())
    }
}
