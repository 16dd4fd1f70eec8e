//! A run as JSON: types of their own with a version, so that programs can rely on them.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Paths;
use crate::dialect::Reply;
use crate::outcome::{Cause, Decision, Finding, NoticeKind, Outcome, Settled, Verdict};
use crate::reminder;
use crate::run::{Captured, Exit, Fate, HookRun, Level, Run, Trace};

/// The version of this form. Keys may be added under the same number; none changes its meaning.
pub const VERSION: u32 = 1;

/// A run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    version: u32,
    pub(super) event: String,
    host: String,
    /// `allow`, `ask` or `block`.
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decided_by: Option<String>,
    /// `policy`, `failure` or `person`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<QuestionReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    update: Map<String, Value>,
    rewrites: Vec<RewriteReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<FoundReport>,
    pub(super) notices: Vec<NoticeReport>,
    reminders: Vec<ReminderReport>,
    hooks: Vec<HookReport>,
    reply: ReplyReport,
    took_ms: f64,
}

#[derive(Debug, Serialize)]
struct QuestionReport {
    hook: String,
    question: String,
}

#[derive(Debug, Serialize)]
struct RewriteReport {
    hook: String,
    field: String,
    old: Value,
    new: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct FoundReport {
    pub(super) hook: String,
    #[serde(flatten)]
    pub(super) finding: Finding,
}

#[derive(Debug, Serialize)]
pub(super) struct NoticeReport {
    pub(super) hook: String,
    kind: &'static str,
    pub(super) text: String,
}

#[derive(Debug, Serialize)]
struct ReminderReport {
    kind: &'static str,
    hook: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct ReplyReport {
    stdout: String,
    stderr: String,
    status: u8,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HookReport {
    name: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    layer: &'static str,
    /// It is a function of the program around us, and `file` its name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    function: bool,
    wants: String,
    on_failure: &'static str,
    /// `disabled`, `unwanted`, `unreached`, `detached` or `ran`.
    fate: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    trace: Option<TraceReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TraceReport {
    /// `answered`, or the name of a failure, or `voided`.
    ending: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    took_ms: f64,
    stdout: StreamReport,
    stderr: StreamReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// `group`, `sweep`, `cgroup` or `pidns`; none if it never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    containment: Option<&'static str>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct StreamReport {
    text: String,
    bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct VerdictReport {
    decision: &'static str,
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    update: Map<String, Value>,
}

/// The report of a run and of the reply that its host gets.
pub fn run_report(run: &Run, reply: &Reply, paths: &Paths) -> RunReport {
    let outcome = &run.outcome;
    let refusal = outcome.refusal();
    RunReport {
        version: VERSION,
        event: run.event.spec().name.to_string(),
        host: run.event.host().to_string(),
        decision: decision_word(&outcome.settled),
        reason: refusal.map(|refusal| refusal.reason.clone()),
        decided_by: refusal.and_then(|refusal| refusal.hook.clone()),
        cause: refusal.map(|refusal| cause_word(refusal.cause)),
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
    }
}

/// The report where hookrun refused before there was an event to decide.
pub fn refusal_report(event: &str, host: &str, reason: &str, reply: &Reply) -> RunReport {
    RunReport {
        version: VERSION,
        event: event.to_string(),
        host: host.to_string(),
        decision: "block",
        reason: Some(reason.to_string()),
        decided_by: None,
        cause: Some(cause_word(Cause::Failure)),
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
    let report = |question: &crate::outcome::Question| QuestionReport {
        hook: question.hook.clone(),
        question: question.question.clone(),
    };
    questions.iter().map(report).collect()
}

fn rewrite_report(rewrite: &crate::outcome::Rewritten) -> RewriteReport {
    RewriteReport {
        hook: rewrite.hook.clone(),
        field: rewrite.field.clone(),
        old: rewrite.old.clone(),
        new: rewrite.new.clone(),
        rejected: rewrite.rejected.clone(),
    }
}

fn found_report(found: &crate::outcome::Found) -> FoundReport {
    FoundReport { hook: found.hook.clone(), finding: found.finding.clone() }
}

fn notice_report(notice: &crate::outcome::Notice) -> NoticeReport {
    let kind = match notice.kind {
        NoticeKind::Refusal => "refusal",
        NoticeKind::Question => "question",
        NoticeKind::Failure => "failure",
        NoticeKind::Own => "own",
    };
    NoticeReport { hook: notice.hook.clone(), kind, text: notice.text.clone() }
}

fn reminder_report(reminder: reminder::Reminder) -> ReminderReport {
    ReminderReport { kind: reminder.kind.name(), hook: reminder.hook, text: reminder.text }
}

fn hook_report(run: &HookRun, paths: &Paths) -> HookReport {
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
        layer: run.source.layer.name(),
        function: run.is_function,
        wants: run.wants.clone(),
        on_failure: run.on_failure.name(),
        fate,
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
        ending: trace.ending.name(),
        status,
        signal,
        took_ms: milliseconds(trace.took),
        stdout: stream_report(&trace.stdout),
        stderr: stream_report(&trace.stderr),
        verdict,
        failure: trace.ending.failure(),
        containment: trace.containment.map(Level::name),
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
        decision,
        rule: verdict.rule.row().name,
        reason,
        output: verdict.output.clone(),
        additional_context: verdict.additional_context.clone(),
        update: verdict.update.iter().cloned().collect(),
    }
}

/// Milliseconds with three decimals.
fn milliseconds(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
