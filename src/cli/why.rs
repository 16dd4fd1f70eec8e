//! `hookrun why`: explains past decisions from the decision log.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::cli::terminal::cut;
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::lab::report::human::{self, About, EventOrigin};
use crate::lab::report::style::decision_style;
use crate::lab::report::{Paths, plain};
use crate::log::DecisionLog;
use crate::log::record::{DecisionLine, RecordError};
use crate::log::report::RunReport;

use super::decisions::ChosenDecisions;
use crate::cli::args::{TextFormat, WhyArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

/// How often `--follow` checks for new lines.
const PAUSE: Duration = Duration::from_millis(100);

const PAST: usize = 10;

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
    let mut newest = VecDeque::new();
    chosen.each(None, &view.paths, &mut |text, _, _| {
        if args.all && args.number.is_none() {
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
        streams::remark(&format!("newer decisions are not logged: {error}\n"));
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
                    let cause = format!("cannot read {}: {error}", path.display());
                    return Err(Complaint::with_cure(cause, "name a file of decisions"));
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
        let line = DecisionLine::parse(text.as_bytes()).map_err(cannot_explain)?;
        let report = line.report().map_err(cannot_explain)?;
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
            None if line.event.is_empty() => "no event was named",
            None => "an event that you declare",
        };
        report.event = event_name(&line.event).into();
        let about = About {
            summary,
            context: context.as_ref(),
            origin: EventOrigin::Kept {
                time: &line.time,
                session: line.session.as_deref(),
                cwd: line.cwd.as_deref(),
            },
        };
        human::run(&report, about, &self.paths, out)?;
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
        parts.push(said(run));
        let mut shown = plain(&parts.join("  "));
        if let Some(columns) = self.columns {
            let before = "2026-01-31 09:30:00  BLOCK  ".len();
            shown = cut(&shown, columns.saturating_sub(before).max(10));
        }
        let time = plain(&time.replace('T', " "));
        writeln!(out, "{time}  {style}{word:<5}{style:#}  {shown}")?;
        Ok(())
    }
}

fn cannot_explain(problem: RecordError) -> Complaint {
    Complaint::new(problem.to_string())
}

fn event_name(name: &str) -> &str {
    if name.is_empty() { "(no event)" } else { name }
}

/// The deciding hook with its message, else the hooks that ran.
fn said(run: &RunReport) -> String {
    let first_line = |text: &str| text.lines().next().unwrap_or_default().to_string();
    if let Some(question) = run.questions.first() {
        return format!("{}: {}", question.hook, first_line(&question.question));
    }
    if run.decided_by.is_some() || run.cause.is_some() {
        let who = run.decided_by.as_deref().unwrap_or("hookrun itself");
        if !run.also_blocked_by.is_empty() {
            return run.deciders("");
        }
        let reason = run.reason.as_deref().unwrap_or_default();
        return format!("{who}: {}", first_line(reason));
    }
    let names: Vec<&str> = run.traces().map(|(hook, _)| hook.name.as_str()).collect();
    if names.is_empty() {
        return "no hook ran".to_string();
    }
    names.join(", ")
}
