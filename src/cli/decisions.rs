//! Selects logged decisions by filters, for several commands; and `hookrun report`, which writes
//! them as a page.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::cli::args::FilterArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::hosts;
use crate::lab::export::HtmlReport;
use crate::lab::report::Paths;
use crate::lab::report::style::counted;
use crate::log::DecisionLog;
use crate::log::read::{FileLines, ReadError};
use crate::log::record::{DecisionLine, RecordError};
use crate::log::redact::Redactor;
use crate::log::report::RunReport;

const MOST_PROBLEMS: u64 = 10;

type ShowDecision<'s> = dyn FnMut(&str, &DecisionLine<'_>, &RunReport) -> Result<()> + 's;

pub(super) struct ChosenDecisions<'a> {
    args: &'a FilterArgs,
    /// Oldest first.
    pub(super) files: Vec<PathBuf>,
    /// `None` if files are named instead.
    pub(super) log: Option<DecisionLog>,
    /// Only decisions in this folder or below count.
    project: Option<PathBuf>,
    skipped: u64,
    read: u64,
    pub(super) found: u64,
}

impl<'a> ChosenDecisions<'a> {
    /// # Errors
    /// If no file is named and there is no log.
    pub(super) fn of(args: &'a FilterArgs, env: &Environment) -> Result<ChosenDecisions<'a>> {
        let mut chosen = ChosenDecisions {
            args,
            files: args.file.clone(),
            log: None,
            project: None,
            skipped: 0,
            read: 0,
            found: 0,
        };
        if args.file.is_empty() {
            let folder = env.decision_log().ok_or_else(|| no_log(env))?;
            chosen.log = Some(DecisionLog::in_folder(folder));
            chosen.find_files();
        }
        if !chosen.is_everywhere() {
            chosen.project = Some(project(env));
        }
        Ok(chosen)
    }

    pub(super) fn find_files(&mut self) {
        if let Some(log) = &self.log {
            self.files = log.files();
            self.files.reverse();
        }
    }

    /// Whether decisions may be from several projects, as in a named recording.
    pub(super) fn is_everywhere(&self) -> bool {
        self.args.everywhere || !self.args.file.is_empty()
    }

    /// Calls `show` with each selected decision, oldest first and redacted, while stdout is open.
    pub(super) fn each(
        &mut self,
        redactor: Option<&Redactor>,
        paths: &Paths,
        show: &mut ShowDecision<'_>,
    ) -> Result<()> {
        let files = self.files.clone();
        let mut opened = files.iter().map(|file| FileLines::open(file));
        // Open all files of the log before reading one, because it may rotate meanwhile.
        let of_log = if self.log.is_some() { files.len() } else { 0 };
        let ahead: Vec<_> = opened.by_ref().take(of_log).collect();
        let mut raw = Vec::new();
        for (file, lines) in files.iter().zip(ahead.into_iter().chain(opened)) {
            let mut lines = lines.map_err(cannot_read)?;
            while !streams::has_reader_left() {
                let number = match lines.next_line(&mut raw) {
                    Ok(None) => break,
                    Ok(Some(number)) => number,
                    Err(error) if error.line.is_none() => return Err(cannot_read(error)),
                    Err(error) => {
                        self.skip(&error, paths);
                        continue;
                    }
                };
                let mut text = String::from_utf8_lossy(&raw);
                if let Some(redactor) = redactor {
                    let mut clean = String::new();
                    redactor.json(&text, &mut clean);
                    text = clean.into();
                }
                match self.show_line(&text, show) {
                    Ok(shown) => shown?,
                    Err(problem) => self.skip(&ReadError::of_line(file, number, &problem), paths),
                }
            }
        }
        if self.skipped > MOST_PROBLEMS {
            let more = self.skipped - MOST_PROBLEMS;
            streams::remark(&format!("skipped {more} similar lines\n"));
        }
        Ok(())
    }

    /// Calls `show` with a line's decision if it passes the filters.
    pub(super) fn show_line(
        &mut self,
        text: &str,
        show: &mut ShowDecision<'_>,
    ) -> std::result::Result<Result<()>, RecordError> {
        let line = DecisionLine::parse(text.as_bytes())?;
        self.read += 1;
        let Some(run) = self.taken(&line)? else {
            return Ok(Ok(()));
        };
        self.found += 1;
        Ok(show(text, &line, &run))
    }

    /// The decision, if it passes the filters; compares the line's head first.
    fn taken(
        &self,
        line: &DecisionLine<'_>,
    ) -> std::result::Result<Option<RunReport>, RecordError> {
        let args = self.args;
        let is_in_head = (args.session.is_none() || args.session == line.session)
            && args.host.as_ref().is_none_or(|host| is_of_host(line, host))
            && args.since.as_ref().is_none_or(|since| line.time >= *since)
            && args.until.as_ref().is_none_or(|until| line.time <= *until)
            && args
                .event
                .as_ref()
                .is_none_or(|event| is_called(line, event))
            && self
                .project
                .as_ref()
                .is_none_or(|project| is_of_project(line, project));
        if !is_in_head {
            return Ok(None);
        }
        let run = line.report()?;
        let is_taken = args
            .decision
            .as_ref()
            .is_none_or(|decision| *decision == run.decision)
            && args.hook.as_ref().is_none_or(|hook| run.has_run(hook))
            && (!args.failed || run.has_failed());
        Ok(is_taken.then_some(run))
    }

    fn skip(&mut self, error: &ReadError, paths: &Paths) {
        self.skipped += 1;
        if self.skipped <= MOST_PROBLEMS {
            let place = paths.show_line(&error.file, error.line);
            streams::remark(&format!("skipped {place}: {}\n", error.problem));
        }
    }

    pub(super) fn nothing(&self, paths: &Paths) -> String {
        if self.read > 0 {
            let read = counted(self.read, "decision");
            let mut text = format!("none of {read} in the log matches\n");
            if let Some(project) = &self.project {
                let project = paths.show(project);
                text.push_str(&format!(
                    "  help: only decisions in `{project}` were searched; --everywhere searches all\n"
                ));
            }
            return text;
        }
        let Some(log) = &self.log else {
            let files: Vec<String> = self.files.iter().map(|file| paths.show(file)).collect();
            return format!("no decisions in `{}`\n", files.join("`, `"));
        };
        let folder = paths.show(log.folder());
        match log.check() {
            Ok(()) => format!("no decisions in `{folder}` yet; `hookrun run` logs them there\n"),
            Err(error) => format!("decisions are not logged: {error}\n"),
        }
    }
}

/// Writes the report: 0 written, 1 no such decision, 2 error.
pub(crate) fn report(args: &FilterArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
    if let Some(cause) = config.complaint() {
        // Reports are shared, and unreadable configuration may define secrets.
        let cure = "correct them first: the report might lack a rule for secrets";
        return Err(Complaint::with_cure(cause, cure));
    }
    let redact = config.log.redact.iter().map(String::as_str);
    let redactor = Redactor::new(redact).map_err(Complaint::new)?;
    if io::stdout().is_terminal() {
        return Err(Complaint::with_cure(
            "the report is an HTML page, and stdout is a terminal",
            "write it to a file: `hookrun report >report.html`",
        ));
    }
    let paths = Paths::from(&env.cwd);
    let mut chosen = ChosenDecisions::of(args, env)?;
    let mut page = HtmlReport::default();
    chosen.each(Some(&redactor), &paths, &mut |_, line, run| {
        page.add(line, run);
        Ok(())
    })?;
    if chosen.found == 0 {
        streams::remark(&chosen.nothing(&paths));
        return Ok(ExitStatus::No);
    }
    page.write(out)?;
    Ok(ExitStatus::Yes)
}

fn is_of_host(line: &DecisionLine<'_>, name: &str) -> bool {
    line.host == name || hosts::find(name).is_some_and(|host| host.name == line.host)
}

fn is_called(line: &DecisionLine<'_>, name: &str) -> bool {
    line.event == name || hosts::events_called(name).contains(&line.event.as_str())
}

/// Whether the decision was made in a project's folder or below.
pub(crate) fn is_of_project(line: &DecisionLine<'_>, project: &Path) -> bool {
    let cwd = line.cwd.as_ref();
    cwd.is_some_and(|cwd| Path::new(cwd).starts_with(project))
}

pub(crate) fn project(env: &Environment) -> PathBuf {
    Config::load(&Choice::default(), env, ConfigScope::Event("")).project
}

fn cannot_read(error: ReadError) -> Complaint {
    Complaint::with_cure(format!("cannot read {error}"), "name a file of decisions")
}

fn no_log(env: &Environment) -> Complaint {
    let (why, help) = match env.decisions {
        Some(_) => (
            "HOOKRUN_DECISIONS is `off`",
            "unset it, or name a recording: `--file FILE`",
        ),
        None => (
            "neither HOME nor XDG_STATE_HOME is set",
            "set one of them, or HOOKRUN_DECISIONS to a folder",
        ),
    };
    Complaint::with_cure(format!("decisions are not logged: {why}"), help)
}
