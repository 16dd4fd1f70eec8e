//! Past decisions from the log: `hookrun why` explains them, and `hookrun report` writes a page or
//! JSON lines. Both select them by the same filters.

use std::collections::{HashMap, VecDeque};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::args::{FilterArgs, ReportArgs, ReportFormat, TextFormat, WhyArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::hosts::{self, native};
use crate::lab::export::{self, HtmlReport};
use crate::lab::report::human::{self, About};
use crate::lab::report::stats::Stats;
use crate::lab::report::style::{column, counted, decision_style};
use crate::lab::report::{Paths, plain, write_json};
use crate::log::files::{FileLines, ReadError};
use crate::log::redact::Redactor;
use crate::log::report::RunReport;
use crate::log::{DecisionLine, DecisionLog};

/// How often `--follow` checks for new lines.
const PAUSE: Duration = Duration::from_millis(100);

const PAST: usize = 10;

const MOST_PROBLEMS: u64 = 10;

/// Explains decisions: 0 found, 1 none, 2 cannot be read.
pub(crate) fn why(args: &WhyArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let mut chosen = ChosenDecisions::of(&args.filter, env)?;
    let view = DecisionView {
        format: args.format,
        is_brief: args.brief || args.follow,
        is_everywhere: chosen.is_everywhere(),
        columns: streams::columns(std::io::stdout()),
        paths: Paths::from(&env.cwd),
    };
    if args.follow {
        return follow(args.number.unwrap_or(PAST), &mut chosen, &view, out);
    }
    let mut stats = Stats::default();
    let mut newest = VecDeque::new();
    chosen.each(None, &view.paths, &mut |text, line, run| {
        if args.stats {
            stats.add(&line.time, run);
        } else if args.all && args.number.is_none() {
            view.show(text, out)?;
        } else {
            newest.push_back(text.to_string());
            if newest.len() > args.number.unwrap_or(1) {
                newest.pop_front();
            }
        }
        Ok(())
    })?;
    for text in newest {
        view.show(&text, out)?;
    }
    if chosen.found == 0 {
        streams::remark(&chosen.nothing(&view.paths));
        return Ok(ExitStatus::No);
    }
    // Otherwise an older decision would look like the last one.
    if let Some(Err(error)) = chosen.log.as_ref().map(DecisionLog::check) {
        streams::remark(&format!("decisions are no longer logged: {error}\n"));
    }
    if args.stats {
        let report = stats.report();
        match args.format {
            TextFormat::Human => report.human(out)?,
            TextFormat::Json => write_json(&report, out)?,
        }
    }
    Ok(ExitStatus::Yes)
}

/// Shows new decisions until a signal arrives or the reader is gone.
fn follow(
    past: usize,
    chosen: &mut ChosenDecisions<'_>,
    view: &DecisionView,
    out: &mut dyn Write,
) -> Result {
    let mut offsets = FileOffsets::new();
    let mut is_first = true;
    loop {
        chosen.find_files();
        let mut newest = VecDeque::new();
        for path in chosen.files.clone() {
            let lines = match new_lines(&path, &mut offsets) {
                Ok(lines) => lines,
                // Another process may be rotating the log.
                Err(_) if chosen.log.is_some() => continue,
                Err(error) => {
                    let error = format!("{}: {error}", path.display());
                    return Err(cannot_read(None, error));
                }
            };
            for line in lines.lines() {
                // `why` reports unreadable lines.
                let _ = chosen.show_line(line, &mut |text, _, _| {
                    newest.push_back(text.to_string());
                    Ok(())
                });
                if is_first && newest.len() > past {
                    newest.pop_front();
                }
            }
        }
        for text in newest {
            view.show(&text, out)?;
        }
        out.flush()?;
        if is_first && offsets.is_empty() {
            streams::remark(&chosen.nothing(&view.paths));
        }
        is_first = false;
        if streams::reader_left_within(PAUSE) {
            return Ok(ExitStatus::Yes);
        }
    }
}

/// Read offsets by device and inode, because rotation renames files.
type FileOffsets = HashMap<(u64, u64), u64>;

/// The complete new lines of a file.
fn new_lines(path: &Path, offsets: &mut FileOffsets) -> io::Result<String> {
    let mut file = File::open(path)?;
    let meta = file.metadata()?;
    let offset = offsets.entry((meta.dev(), meta.ino())).or_default();
    if *offset > meta.len() {
        // A new file may reuse an inode.
        *offset = 0;
    }
    file.seek(SeekFrom::Start(*offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(end.map_or(0, |end| end + 1));
    *offset += bytes.len() as u64;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the report: 0 written, 1 no such decision, 2 error.
pub(crate) fn report(args: &ReportArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
    if let Some(cause) = config.complaint() {
        // Reports are shared, and unreadable configuration may define secrets.
        let cure = "fix it first: a redaction expression may be missing, and the report could contain secrets";
        return Err(Complaint::with_cure(cause, cure));
    }
    let redact = config.log.redact.iter().map(String::as_str);
    let redactor = Redactor::new(redact).map_err(Complaint::new)?;
    let is_page = args.format == ReportFormat::Html;
    if is_page && io::stdout().is_terminal() {
        return Err(Complaint::with_cure(
            "the report is an HTML page, and stdout is a terminal",
            "write it to a file: `hookrun report >report.html`",
        ));
    }
    let paths = Paths::from(&env.cwd);
    let mut chosen = ChosenDecisions::of(&args.filter, env)?;
    let mut page = HtmlReport::default();
    chosen.each(Some(&redactor), &paths, &mut |_, line, run| {
        if is_page {
            page.add(line, run);
            return Ok(());
        }
        Ok(export::json_line(line, run, out)?)
    })?;
    if chosen.found == 0 {
        streams::remark(&chosen.nothing(&paths));
        return Ok(ExitStatus::No);
    }
    if is_page {
        page.write(out)?;
    }
    Ok(ExitStatus::Yes)
}

struct DecisionView {
    format: TextFormat,
    is_brief: bool,
    is_everywhere: bool,
    columns: Option<usize>,
    paths: Paths,
}

impl DecisionView {
    fn show(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        if self.format == TextFormat::Json {
            return Ok(writeln!(out, "{text}")?);
        }
        let line = DecisionLine::parse(text.as_bytes())?;
        let report = line.report()?;
        if self.is_brief {
            return self.one_line(&line, &report, out);
        }
        self.page(&line, report, out)
    }

    fn page(
        &self,
        line: &DecisionLine<'_>,
        mut report: RunReport,
        out: &mut dyn Write,
    ) -> Result<()> {
        let context = line.context().and_then(|raw| Context::parse(raw).ok());
        let summary = match catalog::find(&line.event) {
            Some(spec) => spec.summary.as_ref(),
            None if line.event.is_empty() => "hookrun could not determine the event",
            None => "a custom event",
        };
        report.event = event_name(&line.event).into();
        let mut origin = vec![("at", line.time.clone())];
        if line.host != native::NAME {
            origin.push(("host", line.host.clone()));
        }
        origin.extend(line.session.clone().map(|session| ("session", session)));
        if let Some(cwd) = &line.cwd {
            origin.push(("in", self.paths.show(Path::new(cwd))));
        }
        let about = About {
            summary,
            context: context.as_ref(),
            origin,
        };
        human::run(&report, &about, &self.paths, out)?;
        if !line.truncated.is_empty() {
            let cut: Vec<String> = line.truncated.iter().map(|name| plain(name)).collect();
            writeln!(out, "\nTruncated in the log: {}.", cut.join(", "))?;
        }
        writeln!(out)?;
        Ok(())
    }

    /// Prints a decision on one line, with its folder if there may be several projects.
    fn one_line(
        &self,
        line: &DecisionLine<'_>,
        run: &RunReport,
        out: &mut dyn Write,
    ) -> Result<()> {
        let (style, word) = decision_style(&run.decision);
        let time = line.time.get(..19).unwrap_or(&line.time);
        let mut parts = Vec::new();
        if let Some(cwd) = line.cwd.as_ref().filter(|_| self.is_everywhere) {
            parts.push(cwd.clone());
        }
        parts.push(event_name(&line.event).to_string());
        // Leave room for the hook on a terminal.
        let most = self.columns.map_or(200, |columns| columns / 4);
        parts.extend(line.subject().words(most));
        parts.push(verdict_text(run));
        let shown = match self.columns {
            Some(columns) => {
                let before = "2026-01-31 09:30:00  BLOCK  ".len();
                column(&parts.join("  "), columns.saturating_sub(before).max(10))
            }
            None => plain(&parts.join("  ")),
        };
        let time = plain(&time.replace('T', " "));
        writeln!(out, "{time}  {style}{word:<5}{style:#}  {shown}")?;
        Ok(())
    }
}

fn event_name(name: &str) -> &str {
    if name.is_empty() { "(no event)" } else { name }
}

/// The deciding hook with its message, else the hooks that ran.
fn verdict_text(run: &RunReport) -> String {
    let mut who = run.deciders("hookrun itself");
    let mut why = run.reason.as_deref();
    if let Some(question) = run.questions.first() {
        who.clone_from(&question.hook);
        why = Some(&question.question);
    }
    if let Some(why) = why {
        let first_line = why.lines().next().unwrap_or_default();
        return format!("{who}: {first_line}");
    }
    let names: Vec<&str> = run.traces().map(|(hook, _)| hook.name.as_str()).collect();
    if names.is_empty() {
        return "no hook ran".to_string();
    }
    names.join(", ")
}

type ShowDecision<'s> = dyn FnMut(&str, &DecisionLine<'_>, &RunReport) -> Result<()> + 's;

struct ChosenDecisions<'a> {
    args: &'a FilterArgs,
    /// Oldest first.
    files: Vec<PathBuf>,
    /// `None` if files are named instead.
    log: Option<DecisionLog>,
    /// Only decisions in this folder or below count.
    project: Option<PathBuf>,
    skipped: u64,
    read: u64,
    found: u64,
}

impl<'a> ChosenDecisions<'a> {
    fn of(args: &'a FilterArgs, env: &Environment) -> Result<ChosenDecisions<'a>> {
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
            let Some(folder) = env.decision_log() else {
                let why = match env.decisions {
                    Some(_) => "HOOKRUN_DECISIONS is `off`".to_string(),
                    None => env.why_no_home(),
                };
                return Err(Complaint::with_cure(
                    format!("decisions are not logged: {why}"),
                    "set HOOKRUN_DECISIONS to a folder, or name a recording: `--file FILE`",
                ));
            };
            chosen.log = Some(DecisionLog::in_folder(folder));
            chosen.find_files();
        }
        if !chosen.is_everywhere() {
            chosen.project = Some(project(env));
        }
        Ok(chosen)
    }

    fn find_files(&mut self) {
        if let Some(log) = &self.log {
            self.files = log.files();
            self.files.reverse();
        }
    }

    /// Whether decisions may be from several projects, as in a named recording.
    fn is_everywhere(&self) -> bool {
        self.args.everywhere || !self.args.file.is_empty()
    }

    /// Calls `show` with each selected decision, oldest first and redacted, while stdout is open.
    fn each(
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
            let mut lines = lines.map_err(|error| cannot_read(self.log.as_ref(), error))?;
            while !streams::has_reader_left() {
                let number = match lines.next_line(&mut raw) {
                    Ok(None) => break,
                    Ok(Some(number)) => number,
                    Err(error) if error.line.is_none() => {
                        return Err(cannot_read(self.log.as_ref(), error));
                    }
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
            let more = counted(self.skipped - MOST_PROBLEMS, "more line");
            streams::remark(&format!("skipped {more}\n"));
        }
        Ok(())
    }

    /// Calls `show` with a line's decision if it passes the filters.
    fn show_line(
        &mut self,
        text: &str,
        show: &mut ShowDecision<'_>,
    ) -> std::result::Result<Result<()>, Complaint> {
        let line = DecisionLine::parse(text.as_bytes())?;
        self.read += 1;
        let Some(run) = self.taken(&line)? else {
            return Ok(Ok(()));
        };
        self.found += 1;
        Ok(show(text, &line, &run))
    }

    /// The decision, if it passes the filters; compares the line's head first.
    fn taken(&self, line: &DecisionLine<'_>) -> std::result::Result<Option<RunReport>, Complaint> {
        let args = self.args;
        let event = args.event.as_ref();
        let project = self.project.as_ref();
        let is_in_head = (args.session.is_none() || args.session == line.session)
            && args.host.as_ref().is_none_or(|host| is_of_host(line, host))
            && args.since.as_ref().is_none_or(|since| line.time >= *since)
            && args.until.as_ref().is_none_or(|until| line.time <= *until)
            && event.is_none_or(|event| is_called(line, event))
            && project.is_none_or(|project| is_of_project(line, project));
        if !is_in_head {
            return Ok(None);
        }
        let run = line.report()?;
        let decision = args.decision.as_ref();
        let hook = args.hook.as_ref();
        let is_taken = decision.is_none_or(|decision| *decision == run.decision)
            && hook.is_none_or(|name| run.traces().any(|(hook, _)| hook.name == *name))
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

    fn nothing(&self, paths: &Paths) -> String {
        if self.read > 0 {
            let read = counted(self.read, "decision");
            let help = match &self.project {
                Some(_) => {
                    "  help: only this project is searched; --everywhere searches all projects\n"
                }
                None => "",
            };
            return format!("no decision matches ({read} searched)\n{help}");
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

/// `log` is `None` if the user named the file.
fn cannot_read(log: Option<&DecisionLog>, error: impl Display) -> Complaint {
    let cure = match log {
        Some(_) => "check the permissions of this file, or name a recording: `--file FILE`",
        None => "name a recording, or a file of the decision log",
    };
    Complaint::with_cure(format!("cannot read {error}"), cure)
}
