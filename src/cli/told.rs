//! What they get who asked `run`, beside a host: a report, and in a job of GitHub Actions
//! annotations, a status that stops the job, and a summary on its page.

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use hookrun::config::Environment;
use hookrun::dialect::{Reply, native};
use hookrun::exec::Pulse;
use hookrun::harmless;
use hookrun::report::json::RunReport;
use hookrun::report::{Paths, github, json};
use hookrun::run::Run;
use hookrun::runner::Runner;

use crate::args::RunFormat;
use crate::exit::Result;
use crate::streams;

/// How long what is kept of a decision may hold up a host that waits for our end. It takes
/// microseconds.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether a person, or the log of a CI job, reads what goes to stderr.
pub(crate) fn is_for_people(format: RunFormat) -> bool {
    match format {
        RunFormat::Github => true,
        RunFormat::Reply => std::io::stderr().is_terminal(),
        RunFormat::Json => false,
    }
}

/// The report that the format wants.
pub(crate) fn report(
    format: RunFormat,
    (run, reply): (&Run, &Reply),
    runner: &Runner,
    env: &Environment,
) -> Option<RunReport> {
    let mut report = match format {
        RunFormat::Json | RunFormat::Github => json::run_report(run, reply, &Paths::from(&env.cwd)),
        RunFormat::Reply => return None,
    };
    if let (RunFormat::Github, Some(workspace)) = (format, &env.workspace) {
        let place = runner.place(&run.event);
        github::place(&mut report, workspace, (&place.project, &place.cwd));
    }
    Some(report)
}

/// Paths as they are looked for by those who read a format: GitHub begins at its workspace.
pub(crate) fn paths(format: &str, env: &Environment) -> Paths {
    let workspace = env.workspace.as_ref().filter(|_| format == "github");
    let workspace = workspace.and_then(|folder| folder.canonicalize().ok());
    let around = workspace.filter(|folder| env.cwd.starts_with(folder));
    Paths::from(around.as_deref().unwrap_or(&env.cwd))
}

/// What the watchdog says, in the words of the format.
pub(crate) fn last_word(format: RunFormat, event: &str, refusal: Reply) -> Reply {
    if format != RunFormat::Github {
        return refusal;
    }
    let reason = refusal.stderr.trim_end();
    let report = json::refusal_report(event, native::NAME, reason, &refusal);
    let mut stdout = Vec::new();
    // A vector takes everything.
    let _ = github::run(&report, &mut stdout);
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    Reply { stdout, status: refusal.status.max(1), ..refusal }
}

/// A decision, as it is told.
pub(crate) struct Told<'a> {
    format: RunFormat,
    reply: &'a Reply,
    report: Option<&'a RunReport>,
    /// The exit status. Some hosts go on with 0 and read the refusal; a job reads nothing.
    pub(crate) status: u8,
}

impl<'a> Told<'a> {
    pub(crate) fn of(format: RunFormat, reply: &'a Reply, report: Option<&'a RunReport>) -> Self {
        let stops = report.is_some_and(|report| !github::goes_on(report));
        let status = match (format, reply.status) {
            (RunFormat::Github, native::ALLOWED) if stops => native::REFUSED,
            (_, status) => status,
        };
        Told { format, reply, report, status }
    }

    /// Says it: words for people on stderr, and on stdout the reply, or the report instead.
    pub(crate) fn say(&self, env: &Environment, out: &mut dyn Write) -> Result<()> {
        match self.format {
            RunFormat::Github => streams::remark(&self.reply.stderr),
            RunFormat::Reply | RunFormat::Json => streams::words(&self.reply.stderr, env),
        }
        match (self.format, self.report) {
            (RunFormat::Json, Some(report)) => {
                let text = serde_json::to_string(report).map_err(std::io::Error::from)?;
                writeln!(out, "{}", harmless::json(&text))?;
            }
            (RunFormat::Github, Some(report)) => github::run(report, out)?,
            (RunFormat::Reply | RunFormat::Json | RunFormat::Github, _) => {
                out.write_all(streams::document(&self.reply.stdout, env).as_bytes())?;
            }
        }
        Ok(out.flush()?)
    }

    /// From now on nothing may hold up who asked: what is written for later is watched.
    pub(crate) fn is_said(&self, pulse: &Pulse, env: &Environment) {
        pulse.answered(self.status);
        pulse.promise(PATIENCE);
        let (RunFormat::Github, Some(report)) = (self.format, self.report) else { return };
        let Some(file) = &env.step_summary else { return };
        let written = OpenOptions::new().create(true).append(true).open(file);
        let written =
            written.and_then(|mut file| file.write_all(github::summary(report).as_bytes()));
        if let Err(error) = written {
            let file = file.display();
            streams::remark(&format!("the summary is not written to `{file}`: {error}\n"));
        }
    }
}
