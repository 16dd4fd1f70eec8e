//! `hookrun why`: what was decided, read from the decision log and explained.

use std::collections::VecDeque;
use std::io::Write;

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

/// Explains decisions: 0 there are some, 1 there are none, 2 they cannot be read.
pub(crate) fn why(args: &WhyArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let mut chosen = ChosenDecisions::of(&args.filter, env)?;
    let view = DecisionView {
        format: args.format,
        is_brief: args.brief,
        is_everywhere: chosen.is_everywhere(),
        columns: streams::columns(),
        paths: Paths::from(&env.cwd),
    };
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
        streams::remark(&format!("newer decisions are not kept: {error}\n"));
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
            writeln!(out, "\nCut for the log: {}.", cut.join(", "))?;
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
    if let Some(question) = brief.questions.first() {
        return first_line_of(&question.hook, &question.question);
    }
    if brief.decided_by.is_some() || brief.cause.is_some() {
        let who = brief.decided_by.as_deref().unwrap_or("hookrun itself");
        let reason = brief.reason.as_deref().unwrap_or_default();
        return first_line_of(who, reason);
    }
    let ran = brief.hooks.iter().filter(|hook| hook.took_ms.is_some());
    let names: Vec<&str> = ran.map(|hook| hook.name.as_ref()).collect();
    if names.is_empty() {
        return "no hook ran".to_string();
    }
    names.join(", ")
}

fn first_line_of(who: &str, text: &str) -> String {
    format!("{who}: {}", text.lines().next().unwrap_or_default())
}
