//! `hookrun report`: what was decided, as a page for the browser or as lines for other programs.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::lab::export::{self, HtmlReport, LoggedDecision};
use crate::lab::report::Paths;
use crate::lab::report::style::counted;
use crate::log::{DecisionLog, Redactor};

use super::decisions::ChosenDecisions;
use super::new_file::{NewFile, is_same};
use crate::cli::args::{ReportArgs, ReportFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

const STDOUT: &str = "-";

/// Where the report goes.
enum ReportOutput {
    Stdout,
    File(Box<NewFile>),
}

/// Writes the report: 0 written, 1 there is no such decision, 2 it could not be.
pub(crate) fn report(args: &ReportArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let paths = Paths::from(&env.cwd);
    let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
    if let Some(cause) = config.complaint() {
        // A report is for others, and what cannot be read may name secrets.
        let cure = "correct them first: the report might lack a rule for secrets";
        return Err(Complaint::with_cure(cause, cure));
    }
    let redact = config.log.redact.iter().map(String::as_str);
    let redactor = Redactor::new(redact).map_err(Complaint::new)?;
    let mut chosen = ChosenDecisions::of(&args.filter, env)?;
    let file = args.file.as_ref().filter(|file| file.as_os_str() != STDOUT);
    let is_page = args.format == ReportFormat::Html;
    let mut to = match file {
        Some(file) => {
            check_file(file, is_page, &chosen, env)?;
            ReportOutput::File(Box::new(NewFile::begin(&env.cwd.join(file))?))
        }
        None if is_page && io::stdout().is_terminal() => {
            return Err(Complaint::with_cure(
                "the report is a page for a browser, and this is a terminal",
                "name a file: `hookrun report report.html`",
            ));
        }
        None => ReportOutput::Stdout,
    };
    let mut page = HtmlReport::default();
    let is_wanted = || file.is_some() || !streams::has_reader_left();
    let ended = chosen.each(redactor, is_wanted, &mut |decision: &LoggedDecision<'_>| {
        if is_page {
            page.add(decision);
            return Ok(());
        }
        to.write(out, |to| export::json_line(decision, to))
    });
    if matches!(ended, Ok(false)) {
        return Ok(ExitStatus::Yes);
    }
    chosen.skipped.tell(&paths);
    ended?;
    if chosen.found == 0 {
        streams::remark(&format!("{}nothing is written\n", chosen.nothing(&paths)));
        return Ok(ExitStatus::No);
    }
    if is_page {
        to.write(out, |to| page.write(to))?;
    }
    to.finish()?;
    if let Some(file) = file {
        let decisions = counted(chosen.found as u64, "decision");
        streams::remark(&format!("{decisions}: {}\n", paths.show(file)));
    }
    Ok(ExitStatus::Yes)
}

/// # Errors
/// When the file has the decisions themselves, or a page would replace something else.
fn check_file(
    file: &Path,
    is_page: bool,
    chosen: &ChosenDecisions,
    env: &Environment,
) -> Result<()> {
    let whole = env.cwd.join(file);
    if !whole.is_file() {
        return Ok(());
    }
    let log = env
        .decision_log()
        .map(DecisionLog::in_folder)
        .map(|log| log.files());
    let kept: Vec<PathBuf> = log.iter().flatten().chain(&chosen.files).cloned().collect();
    if kept.iter().any(|read| is_same(&whole, &env.cwd.join(read))) {
        let cause = format!(
            "`{}` has the decisions; it is left as it is",
            file.display()
        );
        return Err(Complaint::with_cure(cause, "name another file"));
    }
    if !is_page {
        return Ok(());
    }
    match fs::read_to_string(&whole) {
        Ok(page) if page.is_empty() || HtmlReport::is_one(&page) => Ok(()),
        Err(error) if error.kind() != ErrorKind::InvalidData => Err(Complaint::new(format!(
            "cannot read `{}`: {error}",
            file.display()
        ))),
        Ok(_) | Err(_) => {
            let cause = format!(
                "`{}` is not a report of hookrun; it is left as it is",
                file.display()
            );
            Err(Complaint::with_cure(cause, "name another file"))
        }
    }
}

impl ReportOutput {
    fn write(
        &mut self,
        stdout: &mut dyn Write,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        match self {
            ReportOutput::Stdout => Ok(write(stdout)?),
            ReportOutput::File(file) => Ok(file.write(write)?),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            ReportOutput::Stdout => Ok(()),
            ReportOutput::File(file) => Ok(file.finish()?),
        }
    }
}
