//! A run as JSON: types of their own with a version, so that programs can rely on them, and read
//! again what was kept of a run.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::paths::Paths;
use crate::dialects::Reply;
use crate::engine::outcome::{Cause, Decision, Finding, NoticeKind, Outcome, Settled, Verdict};
use crate::engine::reminder;
use crate::engine::run::{Captured, Exit, Fate, HookRun, Run, Trace};

/// An object of a report. All of them have one rule: lists and tables are always there, a value
/// that there is none of is left out, and nothing is null.
pub fn present(mut report: Value) -> Value {
    if let Value::Object(report) = &mut report {
        report.retain(|_, value| !value.is_null());
    }
    report
}

/// The version of this form. Keys may be added under the same number; none changes its meaning.
pub const VERSION: u32 = 1;

/// A word of a table.
pub type TableWord = Cow<'static, str>;

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// [`VERSION`].
    pub version: u32,
    /// The event's canonical name.
    pub event: String,
    pub host: String,
    /// `allow`, `ask` or `block`.
    pub decision: TableWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// `policy`, `failure` or `person`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<TableWord>,
    #[serde(default)]
    pub questions: Vec<QuestionReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    #[serde(default)]
    pub update: Map<String, Value>,
    pub rewrites: Vec<RewriteReport>,
    #[serde(default)]
    pub findings: Vec<FoundReport>,
    pub notices: Vec<NoticeReport>,
    pub reminders: Vec<ReminderReport>,
    pub hooks: Vec<HookReport>,
    pub reply: ReplyReport,
    pub took_ms: f64,
    /// The host, and its name for the event, for which it was decided before; none if it was
    /// decided now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_earlier_for: Option<String>,
}

/// A question that a hook has put.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionReport {
    pub hook: String,
    pub question: String,
}

/// What a hook has changed of the event, or wanted to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewriteReport {
    pub hook: String,
    pub field: String,
    pub old: Value,
    pub new: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

/// What a hook has found, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundReport {
    pub hook: String,
    #[serde(flatten)]
    pub finding: Finding,
}

/// Something that does not decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoticeReport {
    pub hook: String,
    pub kind: TableWord,
    pub text: String,
}

/// A text for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReminderReport {
    pub kind: TableWord,
    pub hook: String,
    pub text: String,
}

/// What the host gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplyReport {
    pub stdout: String,
    pub stderr: String,
    pub status: u8,
}

/// What became of one hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookReport {
    pub name: String,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub layer: TableWord,
    /// It is a function of the program around us, and `file` its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub function: bool,
    pub wants: String,
    pub on_failure: TableWord,
    /// `disabled`, `unwanted`, `unreached`, `detached` or `ran`.
    pub fate: TableWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceReport>,
}

/// How a hook ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceReport {
    /// `answered`, or the name of a failure, or `voided`.
    pub ending: TableWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    pub took_ms: f64,
    pub stdout: StreamReport,
    pub stderr: StreamReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// `group`, `sweep`, `cgroup` or `pidns`; none if it never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<TableWord>,
    pub notes: Vec<String>,
}

/// What a hook wrote to a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamReport {
    pub text: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// What a hook said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictReport {
    pub decision: TableWord,
    pub rule: TableWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub update: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// The report of a run and of the reply that its host gets.
pub fn run_report(run: &Run, reply: &Reply, paths: &Paths) -> RunReport {
    let outcome = &run.outcome;
    let refusal = outcome.refusal();
    RunReport {
        version: VERSION,
        event: run.event.spec().name.to_string(),
        host: run.event.host().to_string(),
        decision: decision_word(&outcome.settled).into(),
        reason: refusal.map(|refusal| refusal.reason.clone()),
        decided_by: refusal.and_then(|refusal| refusal.hook.clone()),
        cause: refusal.map(|refusal| cause_word(refusal.cause).into()),
        questions: questions(outcome),
        output: outcome.output(),
        additional_context: outcome.additional_context(),
        update: outcome.update(),
        rewrites: outcome.rewrites.iter().map(rewrite_report).collect(),
        findings: outcome.findings.iter().map(found_report).collect(),
        notices: outcome.notices.iter().map(notice_report).collect(),
        reminders: reminder::reminders(outcome).into_iter().map(reminder_report).collect(),
        hooks: run.hooks.iter().map(|hook| hook_report(hook, paths)).collect(),
        reply: reply_report(reply),
        took_ms: milliseconds(run.took),
        decided_earlier_for: run.earlier.clone(),
    }
}

/// The report where hookrun refused before there was an event to decide.
pub fn refusal_report(event: &str, host: &str, reason: &str, reply: &Reply) -> RunReport {
    RunReport {
        version: VERSION,
        event: event.to_string(),
        host: host.to_string(),
        decision: "block".into(),
        reason: Some(reason.to_string()),
        decided_by: None,
        cause: Some(cause_word(Cause::Failure).into()),
        questions: Vec::new(),
        output: None,
        additional_context: None,
        update: Map::new(),
        rewrites: Vec::new(),
        findings: Vec::new(),
        notices: Vec::new(),
        reminders: Vec::new(),
        hooks: Vec::new(),
        reply: reply_report(reply),
        took_ms: 0.0,
        decided_earlier_for: None,
    }
}

fn reply_report(reply: &Reply) -> ReplyReport {
    let (stdout, stderr) = (reply.stdout.clone(), reply.stderr.clone());
    ReplyReport { stdout, stderr, status: reply.status }
}

/// `allow`, `ask` or `block`.
pub fn decision_word(settled: &Settled) -> &'static str {
    match settled {
        Settled::Allowed => "allow",
        Settled::Asked { .. } => "ask",
        Settled::Refused(_) => "block",
    }
}

fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Policy => "policy",
        Cause::Failure => "failure",
        Cause::Person => "person",
    }
}

fn questions(outcome: &Outcome) -> Vec<QuestionReport> {
    let Settled::Asked { questions } = &outcome.settled else { return Vec::new() };
    let report = |question: &crate::engine::outcome::Question| QuestionReport {
        hook: question.hook.clone(),
        question: question.question.clone(),
    };
    questions.iter().map(report).collect()
}

fn rewrite_report(rewrite: &crate::engine::outcome::Rewritten) -> RewriteReport {
    RewriteReport {
        hook: rewrite.hook.clone(),
        field: rewrite.field.clone(),
        old: rewrite.old.clone(),
        new: rewrite.new.clone(),
        rejected: rewrite.rejected.clone(),
    }
}

fn found_report(found: &crate::engine::outcome::HookFinding) -> FoundReport {
    FoundReport { hook: found.hook.clone(), finding: found.finding.clone() }
}

fn notice_report(notice: &crate::engine::outcome::Notice) -> NoticeReport {
    let kind = match notice.kind {
        NoticeKind::Refusal => "refusal",
        NoticeKind::Question => "question",
        NoticeKind::Failure => "failure",
        NoticeKind::Own => "own",
    };
    NoticeReport { hook: notice.hook.clone(), kind: kind.into(), text: notice.text.clone() }
}

fn reminder_report(reminder: reminder::Reminder) -> ReminderReport {
    ReminderReport { kind: reminder.kind.name().into(), hook: reminder.hook, text: reminder.text }
}

pub(super) fn hook_report(run: &HookRun, paths: &Paths) -> HookReport {
    let (fate, why) = match &run.fate {
        Fate::Disabled => ("disabled", None),
        Fate::Idle(why) => ("idle", Some(why.clone())),
        Fate::Unwanted(mismatch) => ("unwanted", Some(mismatch.to_string())),
        Fate::Unreached => ("unreached", None),
        Fate::Detached => ("detached", None),
        Fate::Ran(_) => ("ran", None),
    };
    let trace = match &run.fate {
        Fate::Ran(trace) => Some(trace_report(trace)),
        Fate::Disabled | Fate::Idle(_) | Fate::Unwanted(_) | Fate::Unreached | Fate::Detached => {
            None
        }
    };
    HookReport {
        name: run.hook.clone(),
        file: paths.show(&run.source.file),
        line: run.source.line,
        layer: run.source.layer.name().into(),
        function: run.is_function,
        wants: run.wants.clone(),
        on_failure: run.on_failure.name().into(),
        fate: fate.into(),
        why,
        trace,
    }
}

fn trace_report(trace: &Trace) -> TraceReport {
    let (status, signal) = match trace.exit {
        Some(Exit::Status(status)) => (Some(status), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let verdict = trace.ending.verdict().map(verdict_report);
    TraceReport {
        ending: trace.ending.name().into(),
        status,
        signal,
        took_ms: milliseconds(trace.took),
        stdout: stream_report(&trace.stdout),
        stderr: stream_report(&trace.stderr),
        verdict,
        failure: trace.ending.failure(),
        containment: trace.containment.map(|level| level.name().into()),
        notes: trace.notes.clone(),
    }
}

fn stream_report(stream: &Captured) -> StreamReport {
    StreamReport { text: stream.text(), bytes: stream.total_bytes, cut: stream.is_cut() }
}

fn verdict_report(verdict: &Verdict) -> VerdictReport {
    let (decision, reason) = match &verdict.decision {
        Decision::Allow => ("allow", None),
        Decision::Ask { question } => ("ask", Some(question.clone())),
        Decision::Block { reason } => ("block", Some(reason.clone())),
    };
    VerdictReport {
        decision: decision.into(),
        rule: verdict.rule.row().name.into(),
        reason,
        output: verdict.output.clone(),
        additional_context: verdict.additional_context.clone(),
        update: verdict.update.iter().cloned().collect(),
        findings: verdict.findings.clone(),
    }
}

/// Milliseconds with three decimals.
pub(super) fn milliseconds(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
