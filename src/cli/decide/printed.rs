//! The decision on its way out: the reply for a host, or a report; in a job of GitHub Actions
//! annotations, a status that stops the job, and a summary on its page.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{Error, Write};
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::engine::exec::Abort;
use crate::engine::harmless;
use crate::engine::run::{Run, told_to_stop};
use crate::engine::runner::Runner;
use crate::hosts::{Reply, native};
use crate::lab::report::{CheckFormat, github};
use crate::log::report::{Paths, RunReport, refusal_report, run_report};

use crate::cli::args::{RunArgs, RunFormat};
use crate::cli::decide::keep::DecisionRecord;
use crate::cli::decide::watchdog::{TimeLimit, Watchdog};
use crate::cli::deliver;
use crate::cli::streams;

/// How long the log may hold up a host that waits for our exit. It takes microseconds.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a host may take to read the reply.
const READING: Duration = Duration::from_secs(10);

/// The same after the end of the budget, and for one that sent a signal.
const AFTER_BUDGET: Duration = Duration::from_millis(500);

/// Whether a person or the log of a CI job reads stderr.
pub(crate) fn is_for_people(format: RunFormat) -> bool {
    format.of_job().is_some() || format == RunFormat::Reply && streams::is_stderr_a_terminal()
}

pub(crate) fn report(
    format: RunFormat,
    run: &Run,
    reply: &Reply,
    runner: &Runner,
    env: &Environment,
) -> Option<RunReport> {
    if format == RunFormat::Reply {
        return None;
    }
    let mut report = run_report(run, reply, &Paths::from(&env.cwd));
    if let (RunFormat::Github, Some(workspace)) = (format, &env.workspace) {
        let place = runner.place(&run.event);
        github::place(&mut report, workspace, &place.project, &place.cwd);
    }
    Some(report)
}

/// Paths as readers of a format expect them: GitHub begins at its workspace.
pub(crate) fn paths(format: &str, env: &Environment) -> Paths {
    let workspace = env.workspace.as_ref().filter(|_| format == "github");
    let workspace = workspace.and_then(|folder| folder.canonicalize().ok());
    let around = workspace.filter(|folder| env.cwd.starts_with(folder));
    Paths::from(around.as_deref().unwrap_or(&env.cwd))
}

/// What the watchdog says, in the words of the format.
pub(crate) fn last_word(format: RunFormat, event: &str, refusal: Reply) -> Reply {
    let Some(job) = format.of_job() else {
        return refusal;
    };
    let reason = refusal.stderr.trim_end();
    let report = refusal_report(event, native::NAME, reason, &refusal);
    Reply {
        stdout: annotations(job, &report),
        status: refusal.status.max(1),
        ..refusal
    }
}

fn annotations(format: CheckFormat, report: &RunReport) -> String {
    let mut stdout = Vec::new();
    // Writing to a vector cannot fail.
    let _ = format.write_list(&github::run(report), &mut stdout);
    let text = String::from_utf8_lossy(&stdout);
    let is_json = matches!(format, CheckFormat::Sarif | CheckFormat::Gitlab);
    if is_json {
        harmless::json(&text).into_owned()
    } else {
        text.into_owned()
    }
}

pub(crate) struct RunDecision {
    pub(crate) reply: Reply,
    /// For the formats that are reports.
    pub(crate) report: Option<RunReport>,
    pub(crate) kept: Option<DecisionRecord>,
    /// Whether only stdout has the decision.
    pub(crate) is_needed: bool,
}

impl RunDecision {
    /// hookrun itself failed before there was a decision.
    pub(crate) fn refused(reply: Reply, report: RunReport) -> RunDecision {
        let kept = Some(DecisionRecord::refused(report.clone()));
        RunDecision {
            reply,
            report: Some(report),
            kept,
            is_needed: true,
        }
    }

    /// Gives it to the host and keeps it. Whether the host goes on.
    pub(crate) fn give(
        self,
        args: &RunArgs,
        env: &Environment,
        time: &TimeLimit,
        abort: Option<&Abort>,
    ) -> bool {
        if !time.heartbeat.claim() {
            Watchdog::leave_it_to_it();
        }
        let printed = PrintedReply::of(args.format, &self, abort);
        let status = printed.write(time, env);
        printed.summarise(env);
        if let Some(kept) = self.kept {
            let _ = kept.keep(&self.reply, env, args.record.as_deref());
        }
        status == native::ALLOWED
    }
}

struct PrintedReply<'a> {
    format: RunFormat,
    reply: &'a Reply,
    report: Option<&'a RunReport>,
    is_needed: bool,
    abort: Option<&'a Abort>,
    /// The exit status. Some hosts read a block from stdout and want 0; a job reads nothing.
    status: u8,
}

impl<'a> PrintedReply<'a> {
    fn of(format: RunFormat, decided: &'a RunDecision, abort: Option<&'a Abort>) -> Self {
        let RunDecision {
            reply,
            report,
            is_needed,
            ..
        } = decided;
        let report = report.as_ref();
        let stops = report.is_some_and(|report| !github::goes_on(report));
        let status = match (format.of_job(), reply.status) {
            (Some(_), native::ALLOWED) if stops => native::REFUSED,
            (_, status) => status,
        };
        PrintedReply {
            format,
            reply,
            report,
            is_needed: *is_needed,
            abort,
            status,
        }
    }

    fn is_stopped(&self) -> bool {
        self.abort.is_some_and(|abort| abort.times_raised() > 0)
    }

    /// Writes text for people to stderr, where nothing waits for it, and the reply or the report to
    /// stdout. The exit status is that of a block if the decision has not arrived.
    ///
    /// From then on nothing may hold up the host: the watchdog watches what is written for later.
    fn write(&self, time: &TimeLimit, env: &Environment) -> u8 {
        let now = Instant::now();
        let is_stopped = self.is_stopped();
        let until = now + READING;
        let until = time
            .budget()
            .map_or(until, |budget| until.min(budget.until + AFTER_BUDGET));
        let until = if is_stopped {
            until.min(now + AFTER_BUDGET)
        } else {
            until
        };
        let stdout = self.stdout(env);
        let lost = if stdout.is_empty() {
            self.status
        } else {
            self.status.max(native::REFUSED)
        };
        time.watchdog
            .answers(lost, until.saturating_duration_since(now));
        match self.format == RunFormat::Reply {
            true => streams::words(&self.reply.stderr, env),
            // A program that wants a report reads that; stderr is for people.
            false => streams::remark(&self.reply.stderr),
        }
        let written = match self.status == native::ALLOWED && self.is_needed && !stdout.is_empty() {
            true if deliver::is_thrown_away() => Err(Error::other("it is closed, or /dev/null")),
            _ => deliver::reply(stdout.as_bytes(), until, &|| {
                !is_stopped && self.is_stopped()
            }),
        };
        let status = if written.is_ok() { self.status } else { lost };
        time.watchdog.answers(status, PATIENCE);
        if let Err(error) = written {
            let stopped = self
                .is_stopped()
                .then(|| self.abort.and_then(Abort::signal));
            let error = stopped.map_or_else(|| error.to_string(), told_to_stop);
            streams::remark(&format!(
                "error: cannot write the result to stdout: {error}\n"
            ));
        }
        status
    }

    fn stdout(&self, env: &Environment) -> Cow<'_, str> {
        match (self.format, self.report) {
            (RunFormat::Json, Some(report)) => {
                let text = serde_json::to_string(report).unwrap_or_default();
                Cow::Owned(format!("{}\n", harmless::json(&text)))
            }
            (format, Some(report)) if let Some(job) = format.of_job() => {
                Cow::Owned(annotations(job, report))
            }
            _ => streams::document(&self.reply.stdout, env),
        }
    }

    fn summarise(&self, env: &Environment) {
        let (RunFormat::Github, Some(report)) = (self.format, self.report) else {
            return;
        };
        let Some(file) = &env.step_summary else {
            return;
        };
        let written = OpenOptions::new().create(true).append(true).open(file);
        let written =
            written.and_then(|mut file| file.write_all(github::summary(report).as_bytes()));
        if let Err(error) = written {
            let file = file.display();
            streams::remark(&format!(
                "the summary is not written to `{file}`: {error}\n"
            ));
        }
    }
}
