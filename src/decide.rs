//! The pipeline of every door: request → config → event → run → reply → record.
//!
//! A door creates an [`EventRequest`], loads the event's hooks, decodes the context, calls
//! [`decide`], sends the reply, and then writes the decision log and any recording, whose errors do
//! not change the decision. Reading, printing and dialogs are the door's job.

mod fixes;
pub(crate) mod git;
pub mod hooks;
pub mod request;
pub(crate) mod staged;
mod tree;

use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Instant, SystemTime};

use crate::config::trust::is_about_trust;
use crate::config::{Environment, LogSettings};
use crate::engine::event::{Event, Schedule};
use crate::engine::exec::{Abort, Budget, Heartbeat};
use crate::engine::names::names;
use crate::engine::outcome::{Cause, Outcome, Settled};
use crate::engine::run::{Fate, Run};
use crate::engine::runner::Runner;
use crate::engine::ui::{Asker, DialogAnswer, PATIENCE, Request, Ui};
use crate::hosts::{Binding, Reply};
use crate::log::report::{Paths, RunReport, block_report, run_report};
use crate::log::{DecisionLog, KeepError, Keeps, LogEntry, Redactor, files};
use request::reply_to;

pub use hooks::{ConfigError, LoadedHooks, RunnerBuilder};
pub use request::{EventRequest, HostedEvent, find_event};

/// How to decide an event, besides its hooks.
#[expect(
    missing_debug_implementations,
    reason = "dialogs and process limits do not apply here"
)]
pub struct Terms<'a> {
    pub budget: Option<Budget>,
    pub abort: &'a Abort,
    /// `None` if no person can answer.
    pub ui: Option<&'a dyn Ui>,
    pub detached: DetachedRun<'a>,
    /// Whether a person reads stderr.
    pub is_watched: bool,
    /// Extended while a question is open, so that the watchdog waits for the answer.
    pub heartbeat: Option<&'a Heartbeat>,
}

/// Runner of a detached event.
#[expect(missing_debug_implementations, reason = "a function has none")]
pub enum DetachedRun<'a> {
    /// This thread, waiting for them.
    Awaited,
    /// Another thread of this process.
    InThread,
    /// Another process, started by this function; if it returns false, this thread waits for them.
    InProcess(&'a dyn Fn(&Event) -> bool),
}

/// The reply to the host, and the data for log and recording.
#[derive(Debug)]
pub struct EventDecision {
    pub reply: Reply,
    /// `None` if there was no event, or another process decided it.
    pub decided: Option<SettledEvent>,
    /// For report formats, and if there was no event.
    pub report: Option<RunReport>,
    /// Whether only stdout contains the decision.
    pub is_needed: bool,
    log: LogSettings,
    /// Whether redaction rules may be missing.
    is_log_broken: bool,
}

#[derive(Debug)]
pub struct SettledEvent {
    pub event: Event,
    pub run: Run,
}

/// Decides an event. `runner` is the runner of `hooks`, or its clone for this event.
pub fn decide(
    hosted: HostedEvent,
    hooks: &LoadedHooks,
    runner: &Runner,
    terms: &Terms<'_>,
) -> EventDecision {
    let binding = hosted.binding;
    let event = runner.follow_links(hosted.event);
    let mut run = run(&event, binding, hooks, runner, terms);
    run.outcome = with_complaint(run.outcome, hooks.config.complaint());
    run.outcome = with_complaint(run.outcome, hooks.config.trust.held(event.spec()));
    let mut reply = reply_to(binding, &run.outcome);
    // Without any hook, a gate allows everything.
    let is_bare = hooks.config.layers.is_empty() && event.spec().blocks;
    let is_news = is_bare && !binding.is_some_and(Binding::reads_stderr);
    if (terms.is_watched || is_news) && !hooks.config.has_errors() {
        reply.stderr.extend(hooks.hint_of_none(&event.spec().name));
    }
    EventDecision::of_event(event, run, reply, hooks)
}

/// Runs the hooks of an event, and asks their questions.
pub fn run(
    event: &Event,
    binding: Option<Binding>,
    hooks: &LoadedHooks,
    runner: &Runner,
    terms: &Terms<'_>,
) -> Run {
    let mut run = run_hooks(event, hooks, runner, terms);
    if let Some(heartbeat) = terms.heartbeat {
        heartbeat.expect_within(PATIENCE);
    }
    let is_question = matches!(run.outcome.settled, Settled::Asked { .. });
    if is_question && !binding.is_some_and(Binding::can_ask) {
        let request = runner.engine.server.as_ref();
        let request = request.and_then(|server| server.request.as_deref());
        run.outcome = answered(run.outcome, event, request, terms);
        // The answer may be one block too many in a row.
        runner.keep_from_looping(&mut run);
    }
    run
}

fn run_hooks(event: &Event, hooks: &LoadedHooks, runner: &Runner, terms: &Terms<'_>) -> Run {
    if event.spec().schedule == Schedule::Detached {
        match terms.detached {
            DetachedRun::Awaited => {}
            DetachedRun::InThread => return runner.handle(event),
            DetachedRun::InProcess(start) => {
                let may_leave = !hooks.config.has_errors() && !runner.plan(event).is_idle();
                if may_leave && start(event) {
                    return runner.left_to_others(event);
                }
            }
        }
    }
    let mut run = runner.handle_within(event, terms.budget);
    if let Settled::Blocked(block) = &mut run.outcome.settled
        && is_about_trust(&block.reason)
    {
        // Nothing has failed.
        block.cause = Cause::Policy;
    }
    run
}

/// Asks all questions of an outcome and applies the answer. The limit is [`PATIENCE`] or the
/// budget: an absent person must not block a host forever.
fn answered(outcome: Outcome, event: &Event, request: Option<&str>, terms: &Terms<'_>) -> Outcome {
    let Settled::Asked { questions } = &outcome.settled else {
        return outcome;
    };
    let Some(ui) = terms.ui else {
        return outcome.answered(false, "cannot ask: no terminal");
    };
    let session = event.given().string("sessionId").unwrap_or_default();
    let patience = Instant::now() + PATIENCE;
    let until = terms
        .budget
        .map_or(patience, |budget| budget.until.min(patience));
    for question in questions.clone() {
        let abort = vec![terms.abort.as_fd()];
        let asker = Asker {
            session: &session,
            request,
            ..Asker::new(&question.hook, until, abort)
        };
        let request = Request::Confirm {
            title: question.question,
            message: String::new(),
        };
        let answer = ui.show(&asker, &request);
        if answer == DialogAnswer::Yes(false) {
            return outcome.answered(false, "answered no");
        }
        if answer != DialogAnswer::Yes(true) {
            return outcome.answered(false, "no answer");
        }
    }
    outcome.answered(true, "")
}

/// Adds a configuration error to the outcome unless it is the reason, so that an allowed event
/// reports it.
pub fn with_complaint(mut outcome: Outcome, complaint: Option<String>) -> Outcome {
    let block = outcome.block();
    let reason = block.map_or("", |block| block.reason.as_str());
    if let Some(complaint) = complaint.filter(|complaint| !reason.contains(complaint)) {
        outcome.add_notice(complaint);
    }
    outcome
}

/// How an event arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// `run`.
    Command,
    Stdio,
    Mcp,
    Http,
}

names! { Door: Command "command", Stdio "stdio", Mcp "mcp", Http "http" }

/// Errors of log and recording.
#[derive(Debug, Default)]
pub struct Unwritten {
    pub log: Option<KeepError>,
    pub recording: Option<String>,
}

impl EventDecision {
    pub fn of_event(event: Event, run: Run, reply: Reply, hooks: &LoadedHooks) -> EventDecision {
        EventDecision {
            reply,
            is_needed: !run.outcome.is_allowed() || !run.outcome.rewrites.is_empty(),
            decided: Some(SettledEvent { event, run }),
            report: None,
            log: hooks.config.log.clone(),
            is_log_broken: hooks.config.has_errors(),
        }
    }

    /// A decision that only has a reply and is not recorded.
    pub fn of_reply(reply: Reply, is_needed: bool) -> EventDecision {
        EventDecision {
            reply,
            decided: None,
            report: None,
            is_needed,
            log: LogSettings::default(),
            is_log_broken: false,
        }
    }

    /// Creates a block by hookrun before there was an event.
    pub fn blocked(event: &str, host: &str, reason: &str, reply: Reply) -> EventDecision {
        let report = block_report(event, host, reason, &reply);
        EventDecision {
            report: Some(report),
            ..EventDecision::of_reply(reply, true)
        }
    }

    /// Writes the decision log and the recording, if any. Events without hooks are not logged.
    pub fn keep(self, door: Door, env: &Environment, recording: Option<&Path>) -> Unwritten {
        let mut unwritten = Unwritten::default();
        let log = self.log_folder(env);
        let recording = recording.or(env.record.as_deref());
        let recording = recording.map(|file| env.cwd.join(file));
        if !self.is_kept_here() || log.is_none() && recording.is_none() {
            return unwritten;
        }
        let redactor = match self.redactor() {
            Ok(redactor) => redactor,
            Err(problem) => {
                unwritten.recording = recording.map(|_| problem);
                return unwritten;
            }
        };
        let mut context = None;
        let mut trace = None;
        let mut report = self.report.unwrap_or_default();
        if let Some(SettledEvent { event, run }) = &self.decided {
            // Absolute paths, since readers may be in another folder.
            report = run_report(run, &self.reply, &Paths::from(Path::new("")));
            if !self.is_log_broken {
                context = Some(event.context());
            }
            trace = run.trace.as_ref();
        }
        let entry = LogEntry {
            time: SystemTime::now(),
            cwd: Some(&env.cwd),
            door: (door != Door::Command).then(|| door.name()),
            context,
            trace,
            run: &report,
        };
        if let Some(log) = log
            && let Err(error) = log.append(&entry.line(&redactor, Keeps::Explanation))
        {
            tracing::warn!(%error, "the decision was not logged");
            unwritten.log = Some(error);
        }
        if let Some(recording) = recording
            && let Err(error) = files::record(&recording, &entry.line(&redactor, Keeps::All))
        {
            unwritten.recording = Some(error.to_string());
        }
        unwritten
    }

    fn redactor(&self) -> Result<Redactor, String> {
        if let Some(SettledEvent { run, .. }) = &self.decided
            && self.is_log_broken
            && !run.hooks.is_empty()
        {
            return Err("a configuration file has an error, so redaction rules may be missing; `hookrun validate` shows it".into());
        }
        Redactor::new(self.log.redact.iter().map(String::as_str))
    }

    /// Returns true if there is something to record that no other process records.
    fn is_kept_here(&self) -> bool {
        let Some(decided) = &self.decided else {
            return self.report.is_some();
        };
        let mut hooks = decided.run.hooks.iter();
        !hooks.any(|hook| matches!(hook.fate, Fate::Detached))
    }

    /// Returns the log to write to, if any.
    fn log_folder(&self, env: &Environment) -> Option<DecisionLog> {
        if let Some(SettledEvent { run, .. }) = &self.decided
            && run.hooks.is_empty()
            && run.outcome.is_allowed()
        {
            return None;
        }
        if self.log.is_off {
            return None;
        }
        let folder = env.decision_log()?;
        // The log must not recreate the home folder, which a detached hook may have removed.
        if env.home.as_ref().is_some_and(|home| !home.is_dir()) {
            return None;
        }
        Some(DecisionLog::in_folder(folder))
    }
}
