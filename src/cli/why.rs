//! `hookrun why`: what was decided, read from the decision log and explained.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::cli::terminal::cut;
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::lab::report::human::{self, About, EventOrigin};
use crate::lab::report::stats::Stats;
use crate::lab::report::style::decision_style;
use crate::lab::report::{Paths, plain, write_json};
use crate::log::DecisionLog;
use crate::log::record::{Brief, DecisionLine, RecordError};

use super::decisions::ChosenDecisions;
use crate::cli::args::{TextFormat, WhyArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

/// How often `--follow` looks for new lines.
const PAUSE: Duration = Duration::from_millis(100);

/// How many past decisions `--follow` shows first.
const PAST: usize = 10;

/// Explains decisions: 0 there are some, 1 there are none, 2 they cannot be read.
pub(crate) fn why(args: &WhyArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let mut chosen = ChosenDecisions::of(&args.filter, env)?;
    let view = DecisionView {
        format: args.format,
        is_brief: args.brief || args.follow,
        is_everywhere: chosen.is_everywhere(),
        columns: streams::columns(),
        paths: Paths::from(&env.cwd),
    };
    if args.follow {
        return follow(args.number.unwrap_or(PAST), &mut chosen, &view, out);
    }
    let mut stats = Stats::default();
    let mut newest = VecDeque::new();
    chosen.each(None, &view.paths, &mut |text, line, brief| {
        if args.stats {
            stats.add(&line.time, brief);
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
    // Else what is shown as the last decision would not be it.
    if let Some(Err(error)) = chosen.log.as_ref().map(DecisionLog::check) {
        streams::remark(&format!("newer decisions are not logged: {error}\n"));
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

/// Shows decisions as they are made, until a signal ends it or its reader leaves.
fn follow(
    past: usize,
    chosen: &mut ChosenDecisions<'_>,
    view: &DecisionView,
    out: &mut dyn Write,
) -> Result {
    let mut open: Vec<FollowedFile> = Vec::new();
    let mut is_first = true;
    loop {
        chosen.find_files();
        for path in &chosen.files {
            match FollowedFile::open(path) {
                Ok(file) if open.iter().all(|known| known.identity != file.identity) => {
                    open.push(file);
                }
                Ok(_) => {}
                // Another process may rename the files of the log just now.
                Err(_) if chosen.log.is_some() => {}
                Err(error) => return Err(error),
            }
        }
        let mut newest = VecDeque::new();
        for file in &mut open {
            while let Some(line) = file.next_line()? {
                // `why` names lines that cannot be read.
                let _ = chosen.show_line(&line, &mut |text, _, _| {
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
        if is_first && open.is_empty() {
            streams::remark(&chosen.nothing(&view.paths));
        }
        is_first = false;
        open.retain(FollowedFile::has_name);
        if streams::reader_left_within(PAUSE) {
            return Ok(ExitStatus::Yes);
        }
    }
}

/// A file of the log, as far as it was read. One that was renamed may still get the line of a writer
/// that had opened it before.
struct FollowedFile {
    reader: BufReader<File>,
    /// The same for every name of the file.
    identity: (u64, u64),
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

impl FollowedFile {
    fn open(path: &Path) -> Result<FollowedFile> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (meta, file) = opened.map_err(|error| {
            let cause = format!("cannot read {}: {error}", path.display());
            Complaint::with_cure(cause, "name a file of decisions")
        })?;
        Ok(FollowedFile {
            reader: BufReader::new(file),
            identity: (meta.dev(), meta.ino()),
            rest: Vec::new(),
        })
    }

    fn has_name(&self) -> bool {
        let meta = self.reader.get_ref().metadata();
        meta.is_ok_and(|meta| meta.nlink() > 0)
    }

    /// The next line, if its end is written.
    fn next_line(&mut self) -> Result<Option<String>> {
        self.reader.read_until(b'\n', &mut self.rest)?;
        if self.rest.last() != Some(&b'\n') {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.rest);
        Ok(Some(String::from_utf8_lossy(&line).trim_end().to_string()))
    }
}

/// How decisions are shown.
struct DecisionView {
    format: TextFormat,
    is_brief: bool,
    is_everywhere: bool,
    /// Of the terminal.
    columns: Option<usize>,
    paths: Paths,
}

impl DecisionView {
    /// Shows the decision of a line of the log.
    fn show(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        if self.format == TextFormat::Json {
            return Ok(writeln!(out, "{text}")?);
        }
        let line = DecisionLine::parse(text.as_bytes()).map_err(cannot_explain)?;
        if self.is_brief {
            let brief = line.brief().map_err(cannot_explain)?;
            return self.one_line(&line, &brief, out);
        }
        self.page(&line, out)
    }

    fn page(&self, line: &DecisionLine<'_>, out: &mut dyn Write) -> Result<()> {
        let mut report = line.report().map_err(cannot_explain)?;
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

    /// A decision on one line, with its folder if there may be several projects.
    fn one_line(
        &self,
        line: &DecisionLine<'_>,
        brief: &Brief<'_>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let (style, word) = decision_style(&brief.decision);
        let time = line.time.get(..19).unwrap_or(&line.time);
        let mut parts = Vec::new();
        if let Some(cwd) = line.cwd.as_ref().filter(|_| self.is_everywhere) {
            parts.push(cwd.clone());
        }
        parts.push(event_name(&line.event).to_string());
        // On a terminal there is room for the hook.
        let most = self.columns.map_or(200, |columns| columns / 4);
        parts.extend(line.subject().words(most));
        parts.push(said(brief));
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

/// The hook that decided, with what it said; else the hooks that ran.
fn said(brief: &Brief<'_>) -> String {
    let first_line = |text: &str| text.lines().next().unwrap_or_default().to_string();
    if let Some(question) = brief.questions.first() {
        return format!("{}: {}", question.hook, first_line(&question.question));
    }
    if brief.decided_by.is_some() || brief.cause.is_some() {
        let who = brief.decided_by.as_deref().unwrap_or("hookrun itself");
        let reason = brief.reason.as_deref().unwrap_or_default();
        return format!("{who}: {}", first_line(reason));
    }
    let ran = brief.hooks.iter().filter(|hook| hook.took_ms.is_some());
    let names: Vec<&str> = ran.map(|hook| hook.name.as_ref()).collect();
    if names.is_empty() {
        return "no hook ran".to_string();
    }
    names.join(", ")
}
