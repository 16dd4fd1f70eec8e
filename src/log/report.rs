//! A run as versioned JSON, for programs and for `hookrun why`.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::outcome::{
    Cause, Decision, Finding, HookFinding, Notice, Question, Rewritten, Settled, Verdict,
};
use crate::engine::reminder::{Reminder, reminders};
use crate::engine::run::{CapturedStream, Exit, Fate, HookRun, Run, Trace};
use crate::hosts::Reply;

/// Removes null values. All reports follow one rule: lists and tables are always present, missing
/// values are omitted, and nothing is null.
pub fn present(mut report: Value) -> Value {
    if let Value::Object(report) = &mut report {
        report.retain(|_, value| !value.is_null());
    }
    report
}

/// Version of the format. New keys may appear in the same version; existing keys keep their
/// meaning.
pub const VERSION: u32 = 1;

pub type TableWord = Cow<'static, str>;

#[derive(Debug, Clone)]
pub struct Paths {
    cwd: PathBuf,
}

impl Paths {
    pub fn from(cwd: &Path) -> Paths {
        Paths {
            cwd: cwd.to_path_buf(),
        }
    }

    /// Returns `path`, relative if below the working directory.
    pub fn show(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
            _ => path.display().to_string(),
        }
    }

    /// Returns `path` with its line, if any.
    pub fn show_line(&self, path: &Path, line: Option<impl Display>) -> String {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}", self.show(path))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    pub version: u32,
    /// Canonical name.
    pub event: String,
    pub host: String,
    /// `allow`, `ask` or `block`.
    pub decision: TableWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The other blocking hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_blocked_by: Vec<String>,
    /// `policy`, `failure` or `person`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<TableWord>,
    #[serde(default)]
    pub questions: Vec<Question>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    #[serde(default)]
    pub update: Map<String, Value>,
    pub rewrites: Vec<Rewritten>,
    #[serde(default)]
    pub findings: Vec<HookFinding>,
    pub notices: Vec<Notice>,
    pub reminders: Vec<Reminder>,
    pub hooks: Vec<HookReport>,
    pub reply: Reply,
    pub took_ms: f64,
}

impl RunReport {
    /// Returns true if a hook or hookrun failed.
    pub fn has_failed(&self) -> bool {
        self.cause.as_deref() == Some("failure")
            || self.traces().any(|(_, trace)| trace.failure.is_some())
    }

    /// Returns the decision's class in statistics: `allow`, `ask`, `block`, or `failed`.
    pub fn class(&self) -> &str {
        if self.has_failed() {
            "failed"
        } else {
            &self.decision
        }
    }

    /// Returns the hooks that ran, in plan order.
    pub fn traces(&self) -> impl Iterator<Item = (&HookReport, &TraceReport)> {
        let hooks = self.hooks.iter();
        hooks.filter_map(|hook| Some((hook, hook.trace.as_ref()?)))
    }

    /// Returns the blocking hooks with their reasons. hookrun itself is called `own`.
    pub(crate) fn blocks<'r>(&'r self, own: &'r str) -> Vec<(&'r str, &'r str)> {
        let Some(reason) = self.reason.as_deref() else {
            return Vec::new();
        };
        let first = self.decided_by.as_deref().unwrap_or(own);
        if self.also_blocked_by.is_empty() {
            return vec![(first, reason)];
        }
        let mut blocks = Vec::new();
        for hook in &self.hooks {
            let Some(trace) = &hook.trace else { continue };
            let verdict = trace.verdict.as_ref();
            let own_reason = verdict.and_then(|verdict| verdict.reason.as_deref());
            if hook.name == first || self.also_blocked_by.contains(&hook.name) {
                let words = own_reason.or(trace.failure.as_deref());
                blocks.push((hook.name.as_str(), words.unwrap_or(reason)));
            }
        }
        blocks
    }

    pub(crate) fn deciders(&self, otherwise: &str) -> String {
        let hooks = self.decided_by.iter().chain(&self.also_blocked_by);
        let hooks: Vec<&str> = hooks.map(String::as_str).collect();
        if hooks.is_empty() {
            return otherwise.to_string();
        }
        hooks.join(", ")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookReport {
    pub name: String,
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub layer: TableWord,
    /// Its shared set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Whether it is a function of the embedding program; then `file` is its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub function: bool,
    pub wants: String,
    pub on_failure: TableWord,
    /// `disabled`, `idle`, `unwanted`, `unreached`, `detached` or `ran`.
    pub fate: TableWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Timeout, if it ran with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<f64>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceReport {
    /// `answered`, `voided`, or the name of a failure.
    pub ending: TableWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// From the start of the run to the start of its step.
    #[serde(default)]
    pub after_ms: f64,
    pub took_ms: f64,
    pub stdout: StreamReport,
    pub stderr: StreamReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// For a hook that may start warm in a long-running program: `warm`, or the reason for a cold
    /// start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<TableWord>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamReport {
    pub text: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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

pub fn run_report(run: &Run, reply: &Reply, paths: &Paths) -> RunReport {
    let outcome = &run.outcome;
    let block = outcome.block();
    let hooks = run.hooks.iter();
    RunReport {
        version: VERSION,
        event: run.event.spec().name.to_string(),
        host: run.event.host().to_string(),
        decision: outcome.settled.word().into(),
        reason: block.map(|block| block.reason.clone()),
        decided_by: block.and_then(|block| block.hook.clone()),
        also_blocked_by: block.map_or_else(Vec::new, |block| block.others.clone()),
        cause: block.map(|block| block.cause.name().into()),
        questions: match &outcome.settled {
            Settled::Asked { questions } => questions.clone(),
            Settled::Allowed | Settled::Blocked(_) => Vec::new(),
        },
        output: outcome.output(),
        additional_context: outcome.additional_context(),
        update: outcome.update(),
        rewrites: outcome.rewrites.clone(),
        findings: outcome.findings.clone(),
        notices: outcome.notices.clone(),
        reminders: reminders(outcome),
        hooks: hooks.map(|hook| hook_report(hook, paths)).collect(),
        reply: reply.clone(),
        took_ms: milliseconds(run.took),
    }
}

/// Creates the report of a block by hookrun before there was an event.
pub fn block_report(event: &str, host: &str, reason: &str, reply: &Reply) -> RunReport {
    RunReport {
        version: VERSION,
        event: event.to_string(),
        host: host.to_string(),
        decision: "block".into(),
        reason: Some(reason.to_string()),
        cause: Some(Cause::Failure.name().into()),
        reply: reply.clone(),
        ..RunReport::default()
    }
}

pub(crate) fn hook_report(run: &HookRun, paths: &Paths) -> HookReport {
    let (fate, why, trace) = match &run.fate {
        Fate::Disabled => ("disabled", None, None),
        Fate::Idle(why) => ("idle", Some(why.clone()), None),
        Fate::Unwanted(mismatch) => ("unwanted", Some(mismatch.to_string()), None),
        Fate::Unreached => ("unreached", None, None),
        Fate::Detached => ("detached", None, None),
        Fate::Ran(trace) => ("ran", None, Some(trace_report(trace))),
    };
    let has_end = trace.is_some() && run.timeout < Duration::MAX;
    let timeout_ms = has_end.then(|| milliseconds(run.timeout));
    HookReport {
        name: run.hook.clone(),
        file: paths.show(&run.source.file),
        line: run.source.line,
        layer: run.source.layer.name().into(),
        set: run.source.set.clone(),
        function: run.is_function,
        wants: run.wants(),
        on_failure: run.on_failure.name().into(),
        fate: fate.into(),
        why,
        timeout_ms,
        trace,
    }
}

fn trace_report(trace: &Trace) -> TraceReport {
    let (status, signal) = match trace.exit {
        Some(Exit::Status(status)) => (Some(status), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    TraceReport {
        ending: trace.ending.name().into(),
        status,
        signal,
        after_ms: milliseconds(trace.after),
        took_ms: milliseconds(trace.took),
        stdout: stream_report(&trace.stdout),
        stderr: stream_report(&trace.stderr),
        verdict: trace.ending.verdict().map(verdict_report),
        failure: trace.ending.failure(),
        start: trace.start.map(|start| start.name().into()),
        notes: trace.notes.clone(),
    }
}

fn stream_report(stream: &CapturedStream) -> StreamReport {
    StreamReport {
        text: stream.text(),
        bytes: stream.total_bytes,
        cut: stream.is_cut(),
    }
}

fn verdict_report(verdict: &Verdict) -> VerdictReport {
    VerdictReport {
        decision: verdict.decision.word().into(),
        rule: verdict.rule.row().name.into(),
        reason: match &verdict.decision {
            Decision::Allow => None,
            Decision::Ask { question: words } | Decision::Block { reason: words } => {
                Some(words.clone())
            }
        },
        output: verdict.output.clone(),
        additional_context: verdict.additional_context.clone(),
        update: verdict.update.iter().cloned().collect(),
        findings: verdict.findings.clone(),
    }
}

/// Returns milliseconds with three decimals.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
