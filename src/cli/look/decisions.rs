//! The decisions that a command looks at: in which files they are, which of them it wants, and
//! which lines could not be read.

use std::path::{Path, PathBuf};

use crate::cli::args::FilterArgs;
use crate::cli::exit::Result;
use crate::cli::streams;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::lab::export::LoggedDecision;
use crate::lab::report::Paths;
use crate::lab::report::style::counted;
use crate::log::DecisionLog;
use crate::log::read::{FileLines, ReadError};
use crate::log::record::DecisionLine;
use crate::log::redact::Redactor;

use super::filter::{self, Filter};

/// How many lines that are not records are named.
const MOST_PROBLEMS: usize = 10;

pub(super) struct ChosenDecisions {
    /// The newest first.
    pub(super) files: Vec<PathBuf>,
    /// `None` if files are named instead.
    pub(super) log: Option<DecisionLog>,
    pub(super) filter: Filter,
    pub(super) skipped: SkippedLines,
    /// How many were read, and how many of them the filter takes.
    pub(super) read: u64,
    pub(super) found: usize,
    unknown: Option<String>,
}

impl ChosenDecisions {
    /// # Errors
    /// When no file is named and there is no log.
    pub(super) fn of(args: &FilterArgs, env: &Environment) -> Result<ChosenDecisions> {
        let is_log = args.file.is_empty();
        let log = env
            .decision_log()
            .filter(|_| is_log)
            .map(DecisionLog::in_folder);
        let files = match &log {
            Some(log) => log.files(),
            None if is_log => return Err(no_log(env)),
            None => args.file.clone(),
        };
        let project = (!is_everywhere(args)).then(|| project(env));
        Ok(ChosenDecisions {
            files,
            log,
            filter: Filter::of(args, project),
            skipped: SkippedLines::default(),
            read: 0,
            found: 0,
            unknown: filter::unknown(args),
        })
    }

    /// Shows each decision that the filter takes, the oldest first, without the secrets that
    /// `redactor` knows. Returns whether it has shown all: not if nothing `is_wanted` any more.
    pub(super) fn each(
        &mut self,
        redactor: Redactor,
        is_wanted: impl Fn() -> bool,
        show: &mut dyn FnMut(&LoggedDecision<'_>) -> Result<()>,
    ) -> Result<bool> {
        // All are opened before one is read: meanwhile they may get other names.
        let opened: std::result::Result<Vec<FileLines>, ReadError> = self
            .files
            .iter()
            .rev()
            .map(|file| FileLines::open(file))
            .collect();
        let opened = opened.map_err(cannot_read)?;
        let files: Vec<PathBuf> = self.files.iter().rev().cloned().collect();
        let mut raw = Vec::new();
        let mut text = String::new();
        for (file, mut lines) in files.iter().zip(opened) {
            while is_wanted() {
                let number = match lines.next_line(&mut raw) {
                    Ok(None) => break,
                    Ok(Some(number)) => number,
                    Err(error) if error.line.is_none() => return Err(cannot_read(error)),
                    Err(error) => {
                        self.skipped.add(|| error);
                        continue;
                    }
                };
                text.clear();
                redactor.json(&String::from_utf8_lossy(&raw), &mut text);
                self.show_line(file, number, &text, show)?;
            }
        }
        Ok(is_wanted())
    }

    fn show_line(
        &mut self,
        file: &Path,
        number: u64,
        text: &str,
        show: &mut dyn FnMut(&LoggedDecision<'_>) -> Result<()>,
    ) -> Result<()> {
        let seen = DecisionLine::parse(text.as_bytes()).and_then(|line| {
            self.read += 1;
            Ok(self.filter.takes(&line)?.map(|brief| (line, brief)))
        });
        let taken = seen.and_then(|taken| {
            let Some((line, brief)) = &taken else {
                return Ok(None);
            };
            LoggedDecision::of(line, brief).map(|decision| Some(show(&decision)))
        });
        match taken {
            Ok(None) => {}
            Ok(Some(shown)) => {
                shown?;
                self.found += 1;
            }
            Err(problem) => {
                self.skipped
                    .add(|| ReadError::of_line(file, number, &problem));
            }
        }
        Ok(())
    }

    /// Why there is none.
    pub(super) fn nothing(&self, paths: &Paths) -> String {
        if self.read > 0 {
            let unknown = self.unknown.as_ref().map(|what| format!("; {what}"));
            let help = self.filter.project.as_ref().map(|project| {
                let project = paths.show(project);
                format!(
                    "  help: only those in `{project}` were looked at; --everywhere looks at all\n"
                )
            });
            return format!(
                "none of {} in the log matches{}\n{}",
                counted(self.read, "decision"),
                unknown.unwrap_or_default(),
                help.unwrap_or_default()
            );
        }
        let Some(log) = &self.log else {
            let file = self
                .files
                .first()
                .map(|file| paths.show(file))
                .unwrap_or_default();
            return format!("there is no decision in `{file}`\n");
        };
        let folder = paths.show(log.folder());
        match log.check() {
            Ok(()) => format!(
                "no decision is kept yet in `{folder}`: `hookrun run` writes there what hooks decide\n"
            ),
            Err(error) => format!("no decision is kept: {error}\n"),
        }
    }
}

/// A recording that is named may come from anywhere.
pub(super) fn is_everywhere(args: &FilterArgs) -> bool {
    args.everywhere || !args.file.is_empty()
}

pub(crate) fn project(env: &Environment) -> PathBuf {
    Config::load(&Choice::default(), env, ConfigScope::Event("")).project
}

pub(super) fn cannot_read(error: ReadError) -> Complaint {
    Complaint::with_cure(format!("cannot read {error}"), "name a file of decisions")
}

pub(super) fn no_log(env: &Environment) -> Complaint {
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
    Complaint::with_cure(format!("decisions are not kept: {why}"), help)
}

/// Lines that could not be read.
#[derive(Debug, Default)]
pub(super) struct SkippedLines {
    problems: Vec<ReadError>,
    unnamed: u64,
}

impl SkippedLines {
    /// `error` is only called for lines that are named: counting lines may read the file once more.
    pub(super) fn add(&mut self, error: impl FnOnce() -> ReadError) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(error());
        } else {
            self.unnamed += 1;
        }
    }

    /// Names them.
    pub(super) fn tell(&self, paths: &Paths) {
        for ReadError {
            file,
            line,
            problem,
        } in &self.problems
        {
            let place = paths.show_line(file, *line);
            streams::remark(&format!("skipped {place}: {problem}\n"));
        }
        if self.unnamed > 0 {
            streams::remark(&format!("skipped {} more lines like these\n", self.unnamed));
        }
    }
}
