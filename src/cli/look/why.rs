//! `hookrun why`: what was decided, read from the decision log and explained.

mod table;

use std::io::Write;

use crate::cli::terminal::status::cut;
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::lab::report::human::{self, About, EventOrigin};
use crate::lab::report::style::decision_style;
use crate::lab::report::{Paths, plain};
use crate::log::DecisionLog;
use crate::log::read::{Backwards, ReadError};
use crate::log::record::{Brief, DecisionLine};
use crate::log::stats::Stats;

use super::decisions::{ChosenDecisions, cannot_read, is_everywhere};
use crate::cli::args::{TextFormat, WhyArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::streams;

/// Explains decisions: 0 there are some, 1 there are none, 2 they cannot be read.
pub(crate) fn why(args: &WhyArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let paths = Paths::from(&env.cwd);
    let chosen = ChosenDecisions::of(&args.filter, env)?;
    let is_everywhere = is_everywhere(&args.filter);
    let most = match args.number {
        Some(number) => number,
        None if args.all || args.stats => usize::MAX,
        None => 1,
    };
    let mut search = DecisionSearch { chosen, most };
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
                one_line(&found.record, &found.brief, is_everywhere, columns, out)?;
            }
            TextFormat::Human => page(found, &paths, out)?,
        }
        Ok(())
    };
    let ended = search.through(&mut |found| show(found, out));
    let chosen = search.chosen;
    chosen.skipped.tell(&paths);
    ended?;
    if chosen.found == 0 {
        streams::remark(&chosen.nothing(&paths));
        return Ok(ExitStatus::No);
    }
    // Else what is shown as the last decision would not be it.
    if let Some(Err(error)) = chosen.log.as_ref().map(DecisionLog::check) {
        streams::remark(&format!("newer decisions are not kept: {error}\n"));
    }
    if args.stats {
        match args.format {
            TextFormat::Human => table::human(&stats, env.is_utf8, columns, out)?,
            TextFormat::Json => table::json(&stats, out)?,
        }
    }
    Ok(ExitStatus::Yes)
}

struct FoundDecision<'l> {
    line: &'l [u8],
    record: DecisionLine<'l>,
    brief: Brief<'l>,
}

struct DecisionSearch {
    chosen: ChosenDecisions,
    most: usize,
}

impl DecisionSearch {
    fn through(&mut self, show: &mut dyn FnMut(&FoundDecision<'_>) -> Result<()>) -> Result<()> {
        // All are opened before one is read: meanwhile they may get other names.
        let mut opened: Vec<Backwards> = Vec::with_capacity(self.chosen.files.len());
        for file in &self.chosen.files {
            let lines = Backwards::open(file).map_err(cannot_read)?;
            if opened
                .iter()
                .all(|other| other.identity() != lines.identity())
            {
                opened.push(lines);
            }
        }
        for lines in &mut opened {
            while self.chosen.found < self.most {
                match lines.line_before() {
                    Ok(None) => break,
                    Ok(Some((offset, line))) => self.look(&line, offset, lines, show)?,
                    Err(error) => self.chosen.skipped.add(|| error),
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
        let chosen = &mut self.chosen;
        let looked = DecisionLine::parse(line).and_then(|record| {
            chosen.read += 1;
            chosen
                .filter
                .takes(&record)
                .map(|brief| brief.map(|brief| (record, brief)))
        });
        match looked {
            Ok(None) => {}
            Ok(Some((record, brief))) => {
                chosen.found += 1;
                show(&FoundDecision {
                    line,
                    record,
                    brief,
                })?;
                if streams::has_reader_left() {
                    self.most = 0;
                }
            }
            Err(problem) => chosen.skipped.add(|| {
                let number = lines.number_at(offset);
                let of_line = |number| ReadError::of_line(lines.file(), number, &problem);
                number.map_or_else(|error| error, of_line)
            }),
        }
        Ok(())
    }
}

fn page(found: &FoundDecision<'_>, paths: &Paths, out: &mut dyn Write) -> Result<()> {
    let record = &found.record;
    let mut report = record
        .report()
        .map_err(|problem| Complaint::new(problem.to_string()))?;
    let context = record
        .context()
        .and_then(|context| Context::parse(context).ok());
    let known = catalog::find(&record.event);
    let own = if record.event.is_empty() {
        "no event was named"
    } else {
        "an event that you declare"
    };
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
pub(super) fn one_line(
    record: &DecisionLine<'_>,
    brief: &Brief<'_>,
    is_everywhere: bool,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> Result<()> {
    let (style, word) = decision_style(&brief.decision);
    let seconds = record
        .time
        .get(..19)
        .unwrap_or(&record.time)
        .replace('T', " ");
    let said = said(brief);
    let subject = record.subject().words(most_of_subject(columns));
    let folder = record.cwd.as_deref().filter(|_| is_everywhere);
    let event = event_name(&record.event);
    let parts = [folder, Some(event), subject.as_deref(), Some(&said)];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let rest = plain(&parts.collect::<Vec<_>>().join("  "));
    let shown = in_columns(&rest, columns);
    writeln!(
        out,
        "{}  {style}{word:<5}{style:#}  {shown}",
        plain(&seconds)
    )?;
    Ok(())
}

/// How many characters of a command or a path are shown: on a terminal there is room for the hook.
fn most_of_subject(columns: Option<usize>) -> usize {
    columns.map_or(200, |columns| columns / 4)
}

/// The hook that decided, with what it said; else the hooks that ran.
fn said(brief: &Brief<'_>) -> String {
    let itself = brief.cause.as_ref().map(|_| "hookrun itself");
    let asked = brief.questions.first();
    let who = brief
        .decided_by
        .as_deref()
        .or(asked.map(|one| one.hook.as_str()))
        .or(itself);
    let reason = brief
        .reason
        .as_deref()
        .or(asked.map(|one| one.question.as_str()));
    let reason = reason
        .and_then(|reason| reason.lines().next())
        .unwrap_or_default();
    let Some(who) = who else {
        let ran = brief.hooks.iter().filter(|hook| hook.fate == "ran");
        let ran: Vec<&str> = ran.map(|hook| hook.name.as_ref()).collect();
        return if ran.is_empty() {
            "no hook ran".to_string()
        } else {
            ran.join(", ")
        };
    };
    format!("{who}: {reason}")
}

/// What fits on a line of a terminal after time and decision; another program gets the whole line.
fn in_columns(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return text.to_string();
    };
    cut(
        text,
        columns
            .saturating_sub("2026-01-31 09:30:00  BLOCK  ".len())
            .max(10),
    )
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
        let subject = format!("Bash: {}", "x".repeat(200));
        let subject =
            crate::log::record::subject_words(None, Some(&subject), most_of_subject(Some(80)));
        let line = format!("tool.pre  {}  10-guard.sh: no", subject.unwrap());
        assert_eq!(in_columns(&line, Some(80)), line, "the hook is seen");
    }
}
