//! `hookrun why`: what was decided, read from the decision log and explained.

pub(crate) mod filter;
mod table;

use std::io::Write;
use std::path::PathBuf;

use crate::cli::terminal::status::cut;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::lab::audit::DecisionLog;
use crate::lab::audit::read::{Backwards, ReadError};
use crate::lab::audit::record::{Brief, DecisionLine};
use crate::lab::audit::stats::Stats;
use crate::lab::report::human::{self, About, EventOrigin};
use crate::lab::report::style::{counted, decision_style};
use crate::lab::report::{Paths, plain};

use crate::cli::args::{TextFormat, WhyArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;
use filter::Filter;

/// How many lines that are not records are named.
const MOST_PROBLEMS: usize = 10;

/// Explains decisions: 0 there are some, 1 there are none, 2 they cannot be read.
pub(crate) fn why(args: &WhyArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let paths = Paths::from(&env.cwd);
    let log = env.decision_log().map(DecisionLog::in_folder);
    let files = match &log {
        _ if !args.file.is_empty() => args.file.clone(),
        Some(log) => log.files(),
        None => return Err(no_log(env)),
    };
    // A recording that is named may come from anywhere.
    let is_everywhere = args.filter.everywhere || !args.file.is_empty();
    let project = (!is_everywhere).then(|| project(env));
    let mut search = DecisionSearch {
        filter: Filter::of(&args.filter, project),
        most: match args.number {
            Some(number) => number,
            None if args.all || args.stats => usize::MAX,
            None => 1,
        },
        found: 0,
        read: 0,
        problems: Vec::new(),
        unnamed: 0,
    };
    let mut stats = Stats::default();
    let columns = streams::columns();
    let mut show = |found: &FoundDecision<'_>, out: &mut dyn Write| -> Result<()> {
        match args.format {
            _ if args.stats => stats.add(&found.record.time, &found.brief),
            TextFormat::Json => {
                out.write_all(found.line)?;
                writeln!(out)?;
            }
            TextFormat::Human if args.brief => {
                one_line(found, is_everywhere, columns, out)?;
            }
            TextFormat::Human => page(found, &paths, out)?,
        }
        Ok(())
    };
    let ended = search.through(&files, &mut |found| show(found, out));
    search.tell(&paths);
    ended?;
    // Else what is shown as the last decision would not be it.
    let log_shown = log.as_ref().filter(|_| args.file.is_empty() && search.found > 0);
    if let Some(Err(error)) = log_shown.map(DecisionLog::check) {
        streams::remark(&format!("newer decisions are not kept: {error}\n"));
    }
    if search.found == 0 {
        streams::remark(&nothing(&search, &files, log.as_ref(), args, &paths));
        return Ok(ExitStatus::No);
    }
    if args.stats {
        match args.format {
            TextFormat::Human => table::human(&stats, env.is_utf8, columns, out)?,
            TextFormat::Json => table::json(&stats, out)?,
        }
    }
    Ok(ExitStatus::Yes)
}

pub(crate) fn project(env: &Environment) -> PathBuf {
    Config::load(&Choice::default(), env, ConfigScope::Event("")).project
}

fn no_log(env: &Environment) -> Complaint {
    let (why, help) = match env.decisions {
        Some(_) => (
            "HOOKRUN_DECISIONS is `off`",
            "unset it, or name a recording: `hookrun why --file FILE`",
        ),
        None => (
            "neither HOME nor XDG_STATE_HOME is set",
            "set one of them, or HOOKRUN_DECISIONS to a folder",
        ),
    };
    Complaint::with_cure(format!("decisions are not kept: {why}"), help)
}

fn nothing(
    search: &DecisionSearch,
    files: &[PathBuf],
    log: Option<&DecisionLog>,
    args: &WhyArgs,
    paths: &Paths,
) -> String {
    if search.read > 0 {
        let unknown = filter::unknown(&args.filter).map(|what| format!("; {what}"));
        let help = search.filter.project.as_ref().map(|project| {
            let project = paths.show(project);
            format!("  help: only those in `{project}` were looked at; --everywhere looks at all\n")
        });
        return format!(
            "no decision is like that, of {}{}\n{}",
            counted(search.read, "decision"),
            unknown.unwrap_or_default(),
            help.unwrap_or_default()
        );
    }
    if let Some(file) = args.file.first().filter(|_| !files.is_empty()) {
        return format!("there is no decision in `{}`\n", paths.show(file));
    }
    let Some(log) = log else { return String::new() };
    let folder = paths.show(log.folder());
    match log.check() {
        Ok(()) => format!(
            "no decision is kept yet in `{folder}`: `hookrun run` writes there what hooks decide\n"
        ),
        Err(error) => format!("no decision is kept: {error}\n"),
    }
}

struct FoundDecision<'l> {
    line: &'l [u8],
    record: DecisionLine<'l>,
    brief: Brief<'l>,
}

struct DecisionSearch {
    filter: Filter,
    most: usize,
    found: usize,
    read: u64,
    problems: Vec<ReadError>,
    unnamed: u64,
}

impl DecisionSearch {
    fn through(
        &mut self,
        files: &[PathBuf],
        show: &mut dyn FnMut(&FoundDecision<'_>) -> Result<()>,
    ) -> Result<()> {
        // All are opened before one is read: meanwhile they may get other names.
        let mut opened: Vec<Backwards> = Vec::with_capacity(files.len());
        for file in files {
            let lines = Backwards::open(file).map_err(|error| {
                Complaint::with_cure(format!("cannot read {error}"), "name a file of decisions")
            })?;
            if opened.iter().all(|other| other.identity() != lines.identity()) {
                opened.push(lines);
            }
        }
        for lines in &mut opened {
            while self.found < self.most {
                match lines.line_before() {
                    Ok(None) => break,
                    Ok(Some((offset, line))) => self.look(&line, offset, lines, show)?,
                    Err(error) => self.skip(|| error),
                }
            }
        }
        Ok(())
    }

    fn look(
        &mut self,
        line: &[u8],
        offset: u64,
        lines: &Backwards,
        show: &mut dyn FnMut(&FoundDecision<'_>) -> Result<()>,
    ) -> Result<()> {
        let looked = DecisionLine::parse(line).and_then(|record| {
            self.read += 1;
            self.filter.takes(&record).map(|brief| brief.map(|brief| (record, brief)))
        });
        match looked {
            Ok(None) => {}
            Ok(Some((record, brief))) => {
                self.found += 1;
                show(&FoundDecision { line, record, brief })?;
            }
            Err(problem) => self.skip(|| {
                let number = lines.number_at(offset);
                let of_line = |number| ReadError::of_line(lines.file(), number, &problem);
                number.map_or_else(|error| error, of_line)
            }),
        }
        Ok(())
    }

    /// `error` is only called for lines that are named: counting lines reads the file once more.
    fn skip(&mut self, error: impl FnOnce() -> ReadError) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(error());
        } else {
            self.unnamed += 1;
        }
    }

    /// Names the lines that were skipped.
    fn tell(&self, paths: &Paths) {
        for ReadError { file, line, problem } in &self.problems {
            let place = paths.show_line(file, *line);
            streams::remark(&format!("skipped {place}: {problem}\n"));
        }
        if self.unnamed > 0 {
            streams::remark(&format!("skipped {} more lines like these\n", self.unnamed));
        }
    }
}

fn page(found: &FoundDecision<'_>, paths: &Paths, out: &mut dyn Write) -> Result<()> {
    let record = &found.record;
    let mut report = record.report().map_err(|problem| Complaint::new(problem.to_string()))?;
    let context = record.context().and_then(|context| Context::parse(context).ok());
    let known = catalog::find(&record.event);
    let own =
        if record.event.is_empty() { "no event was named" } else { "an event that you declare" };
    report.event = event_name(&record.event).into();
    let about = About {
        summary: known.map_or(own, |spec| spec.summary.as_ref()),
        context: context.as_ref(),
        origin: EventOrigin::Kept {
            time: &record.time,
            session: record.session.as_deref(),
            cwd: record.cwd.as_deref(),
        },
    };
    human::run(&report, about, paths, out)?;
    if !record.truncated.is_empty() {
        let cut: Vec<String> = record.truncated.iter().map(|name| plain(name)).collect();
        writeln!(out, "\nCut for the log: {}.", cut.join(", "))?;
    }
    writeln!(out)?;
    Ok(())
}

fn event_name(name: &str) -> &str {
    if name.is_empty() { "(no event)" } else { name }
}

/// A decision on one line, with its folder if there may be several projects.
fn one_line(
    found: &FoundDecision<'_>,
    is_everywhere: bool,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> Result<()> {
    let FoundDecision { record, brief, .. } = found;
    let (style, word) = decision_style(&brief.decision);
    let seconds = record.time.get(..19).unwrap_or(&record.time).replace('T', " ");
    let itself = brief.cause.as_ref().map(|_| "hookrun itself");
    let who = brief.decided_by.as_deref().or(itself).unwrap_or_default();
    let reason = brief.reason.as_deref().and_then(|reason| reason.lines().next());
    let said = match (who, reason) {
        ("", None) => String::new(),
        (who, reason) => format!("  {who}: {}", reason.unwrap_or_default()),
    };
    let folder = record.cwd.as_deref().filter(|_| is_everywhere);
    let folder = folder.map(|folder| format!("{folder}  ")).unwrap_or_default();
    let rest = plain(&format!("{folder}{}{said}", event_name(&record.event)));
    let shown = in_columns(&rest, columns);
    writeln!(out, "{}  {style}{word:<5}{style:#}  {shown}", plain(&seconds))?;
    Ok(())
}

/// What fits on a line of a terminal after time and decision; another program gets the whole line.
fn in_columns(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_string() };
    cut(text, columns.saturating_sub("2026-01-31 09:30:00  BLOCK  ".len()).max(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_fits_one_line_of_the_terminal() {
        let text = "x".repeat(200);
        for (columns, shown) in [(None, 200), (Some(80), 52), (Some(5), 10)] {
            assert_eq!(in_columns(&text, columns).chars().count(), shown);
        }
    }
}
