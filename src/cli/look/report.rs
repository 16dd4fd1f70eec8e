//! `hookrun report`: what was decided, as a page for the browser and as files for other programs.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::lab::export::html::{EarlierReport, HtmlReport};
use crate::lab::export::{DecisionWriter, LoggedDecision};
use crate::lab::report::Paths;
use crate::lab::report::style::counted;
use crate::log::{DecisionLog, Redactor};

use super::decisions::ChosenDecisions;
use super::new_file::{NewFile, is_same};
use crate::cli::args::{ExportFile, ReportArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

const STDOUT: &str = "-";

/// Where a file goes.
enum ReportOutput {
    Stdout,
    File(Box<NewFile>),
}

struct OpenExport {
    writer: Box<dyn DecisionWriter>,
    to: ReportOutput,
}

/// Writes what is wanted: 0 written, 1 there is no such decision, 2 it could not be.
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
    check_files(args, &chosen, env)?;
    let open_page = |file: &PathBuf| -> Result<(Option<EarlierReport>, ReportOutput)> {
        Ok((earlier(file, env)?, open(file, env)?))
    };
    let page = args.html.as_ref().map(open_page).transpose()?;
    let open_export = |export: &ExportFile| {
        Ok(OpenExport {
            writer: (export.format.begin)(),
            to: open(&export.file, env)?,
        })
    };
    let mut exports: Vec<OpenExport> = args
        .exports
        .files
        .iter()
        .map(open_export)
        .collect::<Result<_>>()?;
    let mut html = HtmlReport::default();
    let mut files = args
        .exports
        .files
        .iter()
        .map(|export| &export.file)
        .chain(&args.html);
    let is_for_reader = files.all(|file| file.as_os_str() == STDOUT);
    let is_wanted = || !is_for_reader || !streams::has_reader_left();
    let ended = chosen.each(redactor, is_wanted, &mut |decision: &LoggedDecision<'_>| {
        if page.is_some() {
            html.add(decision);
        }
        exports
            .iter_mut()
            .try_for_each(|OpenExport { writer, to }| to.write(out, |to| writer.add(decision, to)))
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
    for OpenExport { mut writer, mut to } in exports {
        to.write(out, |to| writer.end(to))?;
        to.finish()?;
    }
    if let Some((earlier, mut to)) = page {
        to.write(out, |to| html.write(earlier, to))?;
        to.finish()?;
    }
    for file in args.html.iter().filter(|file| file.as_os_str() != STDOUT) {
        let decisions = counted(chosen.found as u64, "decision");
        streams::remark(&format!("{decisions}: {}\n", paths.show(file)));
    }
    Ok(ExitStatus::Yes)
}

/// # Errors
/// When a file appears twice, or has the decisions themselves.
fn check_files(args: &ReportArgs, chosen: &ChosenDecisions, env: &Environment) -> Result<()> {
    let files = args
        .exports
        .files
        .iter()
        .map(|export| &export.file)
        .chain(&args.html);
    let files: Vec<&PathBuf> = files.collect();
    let log = env
        .decision_log()
        .map(DecisionLog::in_folder)
        .map(|log| log.files());
    let kept: Vec<PathBuf> = log.iter().flatten().chain(&chosen.files).cloned().collect();
    for (at, file) in files.iter().enumerate() {
        let whole = env.cwd.join(file);
        if files[..at].contains(file) {
            let cause = format!("`{}` appears twice", file.display());
            return Err(Complaint::with_cure(
                cause,
                "stdout or a file can have one of them",
            ));
        }
        if whole.is_file() && kept.iter().any(|read| is_same(&whole, &env.cwd.join(read))) {
            let cause = format!(
                "`{}` has the decisions; it is left as it is",
                file.display()
            );
            return Err(Complaint::with_cure(cause, "name another file"));
        }
    }
    Ok(())
}

/// The report that a new one replaces.
///
/// # Errors
/// When the file is something else.
fn earlier(file: &Path, env: &Environment) -> Result<Option<EarlierReport>> {
    let whole = env.cwd.join(file);
    if file.as_os_str() == STDOUT || whole.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Ok(None);
    }
    let other = || {
        let cause = format!(
            "`{}` is no report of hookrun; it is left as it is",
            file.display()
        );
        Complaint::with_cure(cause, "name another file")
    };
    match fs::read_to_string(&whole) {
        Ok(page) if page.is_empty() => Ok(None),
        Ok(page) => EarlierReport::read(&page).map(Some).map_err(|_| other()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(other()),
        Err(error) => Err(Complaint::new(format!(
            "cannot read `{}`: {error}",
            file.display()
        ))),
    }
}

fn open(file: &Path, env: &Environment) -> Result<ReportOutput> {
    if file.as_os_str() == STDOUT {
        return Ok(ReportOutput::Stdout);
    }
    Ok(ReportOutput::File(Box::new(NewFile::begin(
        &env.cwd.join(file),
    )?)))
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
