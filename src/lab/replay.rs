//! Decides recorded events again with today's hooks: a line in, a line out, independent of others.

mod hooks;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use self::hooks::Hooks;
use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::engine::names::hex;
use crate::engine::outcome::{NoticeKind, Outcome, Question, Settled, joined};
use crate::hosts::{self, native};
use crate::lab::report::stats::Stats;
use crate::log::redact::is_marked;
use crate::log::{DecisionLine, Redactor};

const LONGEST_ABOUT: usize = 120;

/// The result of replaying one line.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedLine {
    /// The span of the recorded decision, or a hash of its line: the same in every replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
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
    /// Whether unchanged events get an `id` and `about` too.
    pub shows_all: bool,
}

impl Decider {
    /// Decides a line's event again and compares the outcomes. Fails if the hooks cannot be loaded:
    /// every gate would be blocked.
    pub fn line(
        &mut self,
        line: &[u8],
        file: &str,
        number: u64,
    ) -> Result<ReplayedLine, Complaint> {
        let mut replayed = ReplayedLine {
            file: file.to_string(),
            line: Some(number),
            ..ReplayedLine::default()
        };
        let read = DecisionLine::parse(line).and_then(|record| Ok((recorded(&record)?, record)));
        let (was, record) = match read {
            Ok(read) => read,
            Err(problem) => {
                replayed.why = Some(problem.to_string());
                // A replayed line stays as it is, so that a replay adds up the lines of its parts.
                return Ok(serde_json::from_slice(line).unwrap_or(replayed));
            }
        };
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
        replayed.was = Some(was);
        if self.shows_all || replayed.result != ReplayResult::Same {
            replayed.id = Some(id_of(&record, line));
            replayed.about = record.subject().words(LONGEST_ABOUT);
            if let Some(reason) = replayed.is.as_mut().and_then(|is| is.reason.as_mut()) {
                *reason = self.redactor.text(reason).into_owned();
            }
        }
        replayed.event = Some(record.event);
        replayed.host = Some(record.host);
        replayed.time = Some(record.time);
        replayed.session = record.session;
        Ok(replayed)
    }

    /// Today's outcome, or why the event cannot be decided again.
    fn decide(
        &mut self,
        record: &DecisionLine<'_>,
    ) -> Result<Result<ComparedOutcome, String>, Complaint> {
        let Some(text) = record.context() else {
            let why =
                "its context was not recorded, because hookrun blocked the event before reading it";
            return Ok(Err(why.to_string()));
        };
        let host = &record.host;
        if host != native::NAME && hosts::find(host).is_none() {
            let why =
                format!("this version of hookrun does not know the host `{host}`; update hookrun");
            return Ok(Err(why));
        }
        let context = Context::parse(text);
        // The host's own context, if it was recorded.
        let raw = context.as_ref().ok().and_then(|context| context.raw("raw"));
        let sent = raw.and_then(|raw| Context::parse(raw).ok());
        let recorded = sent.as_ref().or(context.as_ref().ok());
        let today = self.hooks.of(record, recorded)?;
        if today.runner.registry().has(&record.event) {
            let mut truncated = record.truncated.iter();
            if let Some(name) = truncated.find(|name| !name.starts_with("run")) {
                return Ok(Err(format!("`{name}` was truncated in the decision log")));
            }
            if is_marked(text) {
                let why = "a secret in its context was redacted in the decision log";
                return Ok(Err(why.to_string()));
            }
        }
        let binding = recorded.and_then(|recorded| today.binding(&record.event, recorded));
        let event = context.and_then(|context| today.event(record, context, binding));
        Ok(Ok(match event {
            // Waits for all hooks, including detached ones.
            Ok(event) => ComparedOutcome::of(&today.runner.handle_within(&event, None).outcome),
            Err(why) => ComparedOutcome {
                decision: "block".to_string(),
                cause: Some("failure".to_string()),
                hook: None,
                reason: Some(why.to_string()),
            },
        }))
    }
}

/// A unique id that does not depend on the file: the span, or a hash of the line.
fn id_of(record: &DecisionLine<'_>, line: &[u8]) -> String {
    match &record.trace {
        Some(trace) => trace.span.clone(),
        None => hex(&Sha256::digest(line)[..8]),
    }
}

/// The hooks' outcome in a record:
///
/// 1. A question that a person answered, or nobody could, is the question.
/// 2. A block that was let through after too many is the block.
/// 3. Anything else is the recorded outcome.
fn recorded(record: &DecisionLine<'_>) -> Result<ComparedOutcome, Complaint> {
    let report = record.report()?;
    let decision = &report.decision;
    if !["allow", "ask", "block"].contains(&decision.as_ref()) {
        let cause =
            format!("the decision is `{decision}`, which this version of hookrun does not know");
        return Err(Complaint::with_cure(cause, "update hookrun"));
    }
    let has_notice = |kind| report.notices.iter().any(|notice| notice.kind == kind);
    let is_allowed = report.decision == "allow";
    let is_answered = is_allowed && !has_notice(NoticeKind::Question);
    let is_let_through = is_allowed
        && has_notice(NoticeKind::Own)
        && !has_notice(NoticeKind::Block)
        && !has_notice(NoticeKind::Failure);
    for (hook, trace) in report.traces() {
        let (decision, cause, reason) = match (&trace.verdict, &trace.failure) {
            (Some(verdict), _) => (verdict.decision.as_ref(), "policy", &verdict.reason),
            (None, Some(_)) => (hook.on_failure.as_ref(), "failure", &trace.failure),
            (None, None) => continue,
        };
        let asks = decision == "ask" && (is_answered || report.cause.as_deref() == Some("person"));
        let blocks = decision == "block" && is_let_through;
        if asks || blocks {
            return Ok(ComparedOutcome {
                decision: decision.to_string(),
                cause: blocks.then(|| cause.to_string()),
                hook: Some(hook.name.clone()),
                reason: reason.clone(),
            });
        }
    }
    let mut outcome = ComparedOutcome {
        decision: report.decision.into_owned(),
        cause: report.cause.map(Cow::into_owned),
        hook: report.decided_by,
        reason: report.reason,
    };
    outcome.ask(&report.questions);
    Ok(outcome)
}

impl ReplayedLine {
    pub fn count(&self, stats: &mut Stats) {
        let replayed = stats.replayed();
        match self.result {
            ReplayResult::Same => replayed.same += 1,
            ReplayResult::Changed => replayed.changed += 1,
            ReplayResult::Undecided => replayed.undecided += 1,
            ReplayResult::Unreadable => replayed.unreadable += 1,
        }
        let Some(is) = &self.is else { return };
        if let (ReplayResult::Changed, Some(was)) = (self.result, &self.was) {
            let change = format!("{} → {}", was.decision, is.decision);
            *replayed.changes.entry(change).or_default() += 1;
        }
        let time = self.time.as_deref().unwrap_or_default();
        let class = match is.cause.as_deref() {
            Some("failure") => "failed",
            _ => &is.decision,
        };
        stats.add_decision(time, class);
    }
}

impl ComparedOutcome {
    /// Today's outcome. A replay asks nobody and lets no block through.
    fn of(outcome: &Outcome) -> ComparedOutcome {
        let block = outcome.block();
        let mut compared = ComparedOutcome {
            decision: outcome.settled.word().to_string(),
            cause: block.map(|block| block.cause.name().to_string()),
            hook: block.and_then(|block| block.hook.clone()),
            reason: block.map(|block| block.reason.clone()),
        };
        if let Settled::Asked { questions } = &outcome.settled {
            compared.ask(questions);
        }
        compared
    }

    fn ask(&mut self, questions: &[Question]) {
        if let Some(first) = questions.first() {
            self.hook = Some(first.hook.clone());
            self.reason = Some(joined(questions));
        }
    }
}
