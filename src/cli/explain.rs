//! `hookrun explain COMMAND`: the programs that a command line would run, and the hooks that match.

use std::io::Write;
use std::sync::Arc;

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Action, Event};
use crate::engine::hook::{Handler, PathBase, verdict_of_rule};
use crate::engine::outcome::Decision;
use crate::engine::plan::{PlannedHook, Selection};
use crate::engine::runner::Runner;
use crate::engine::shell::{CommandWrapper, ShellCommand, ShellWord};
use crate::hosts::{self, ToolSort};
use crate::lab::report::style::{BAD, BOLD, DIM, DOUBT, cut};
use crate::lab::report::{Paths, plain, write_json};
use crate::log::report::VERSION;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::args::{ExplainArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::input;
use crate::cli::streams;
use crate::decide::EventRequest;

pub(crate) fn explain(args: &ExplainArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let command = command_text(args)?;
    let dialect = hosts::find(&args.hooks.dialect);
    let request = EventRequest::new(&args.event, &args.hooks.dialect);
    let config = request.load(&args.hooks.source.choice(env, &args.hooks.dialect), env);
    request.check(&config)?;
    let paths = Paths::from(&env.cwd);
    streams::problems(&config.problems, &paths);
    let mut event = request.sample(&config, &env.cwd)?.event;
    if !event.spec().carries("toolInput") {
        let name = &event.spec().name;
        let cause = format!("`{name}` is not a tool event, so it has no command to explain");
        return Err(Complaint::with_cure(
            cause,
            "omit --event, or name a tool event such as `tool.post`",
        ));
    }
    let shell = dialect.and_then(|dialect| dialect.tool_of(ToolSort::Shell));
    let own = shell.map_or("bash", |tool| tool.name);
    let tool = args.tool.as_deref().unwrap_or(own);
    for (key, value) in [
        ("toolName", json!(tool)),
        ("toolInput", json!({ "command": command })),
    ] {
        event.rewrite(key, &value)?;
    }
    let runner = Runner::one_shot_of(config, env);
    let event = runner.follow_links(event);
    let plan = runner.plan(&event);
    let place = runner.place(&event);
    let hooks = plan.hooks();
    let hooks = hooks.map(|planned| ExplainedHook::new(planned, &event, &place, &paths));
    let report = ExplainReport {
        version: VERSION,
        event: event.spec().name.to_string(),
        action: event
            .action()
            .and_then(|action| serde_json::from_str(&action.to_json()).ok()),
        hooks: hooks.collect(),
    };
    if args.format == TextFormat::Json {
        write_json(&report, out)?;
        return Ok(ExitStatus::Yes);
    }
    if let Some(action) = event.action() {
        runs(action, out)?;
    }
    report.hooks(out)?;
    Ok(ExitStatus::Yes)
}

fn command_text(args: &ExplainArgs) -> Result<String> {
    let text = match args.command.as_deref() {
        Some(text) if text != "-" => text.to_string(),
        _ => {
            let bytes = input::read_lines(input::soon(), None)?;
            String::from_utf8(bytes).map_err(|_| Complaint::new("the command is not UTF-8"))?
        }
    };
    match text.trim_end() {
        "" => Err(Complaint::with_cure(
            "no command given",
            "pass one in quotes: `hookrun explain 'git push'`; `hookrun why` explains the last \
             decision",
        )),
        text => Ok(text.to_string()),
    }
}

/// Prints the commands as a tree below the programs that wrap them.
fn runs(action: &Action, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{BOLD}runs{BOLD:#}")?;
    let mut around: &[Arc<CommandWrapper>] = &[];
    for command in &action.line.commands {
        let both = around.iter().zip(&command.through);
        let shared = both
            .take_while(|(one, other)| Arc::ptr_eq(one, other))
            .count();
        for (level, wrapper) in command.through.iter().enumerate().skip(shared) {
            writeln!(out, "{}{}", indent(level), plain(&wrapper.name))?;
        }
        around = &command.through;
        one_command(command, out)?;
    }
    if let Some(doubt) = &action.line.doubt {
        writeln!(out, "  {DOUBT}uncertain{DOUBT:#}: {}", cut(&plain(doubt)))?;
    } else if action.line.commands.is_empty() {
        writeln!(out, "  nothing")?;
    }
    if !action.paths.is_empty() {
        writeln!(out, "\n{BOLD}paths{BOLD:#}")?;
        for path in &action.paths {
            writeln!(out, "  {}", cut(&plain(path)))?;
        }
    }
    Ok(())
}

fn one_command(command: &ShellCommand, out: &mut dyn Write) -> Result<()> {
    let words = std::iter::once(&command.program).chain(&command.args);
    let text = words.clone().map(written).collect::<Vec<_>>().join(" ");
    let depth = indent(command.through.len());
    writeln!(out, "{depth}{}", cut(&plain(&text)))?;
    let mut notes = Vec::new();
    for assign in &command.assigns {
        let value = assign.value.as_deref().map(shell_words::quote);
        let value = value.unwrap_or("?".into());
        notes.push(format!("sets {}={value}", assign.name));
    }
    for redirect in &command.redirects {
        let target = written(&redirect.target);
        notes.push(format!("{} {target}", redirect.operator));
    }
    for word in words.chain(command.redirects.iter().map(|redirect| &redirect.target)) {
        let written = written(word);
        match &word.text {
            None => notes.push(format!("unknown before it runs: {written}")),
            Some(_) if word.is_pattern => {
                notes.push(format!("{written} may expand to any matching words"));
            }
            Some(_) => {}
        }
    }
    for note in notes {
        let depth = indent(command.through.len() + 1);
        writeln!(out, "{depth}{DIM}{}{DIM:#}", cut(&plain(&note)))?;
    }
    Ok(())
}

fn indent(level: usize) -> String {
    "  ".repeat(level + 1)
}

/// A word quoted for a shell; as written if its value is known only at run time.
fn written(word: &ShellWord) -> String {
    match word.known() {
        Some(text) => shell_words::quote(text).into_owned(),
        None if word.written.is_empty() => "?".to_string(),
        None => word.written.clone(),
    }
}

/// The JSON output of `explain`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExplainReport {
    version: u32,
    /// The event whose hooks would run.
    event: String,
    /// The effects of the command line, as `action` in the event's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Map<String, Value>>,
    hooks: Vec<ExplainedHook>,
}

/// A hook of the event, and whether it would run.
#[derive(Serialize, JsonSchema)]
struct ExplainedHook {
    name: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// True if it would run.
    runs: bool,
    /// The reason for running or not.
    why: String,
    /// A rule's reason to block.
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<String>,
    /// A rule's question.
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<String>,
}

impl ExplainedHook {
    fn new(planned: &PlannedHook, event: &Event, place: &PathBase, paths: &Paths) -> ExplainedHook {
        let PlannedHook { hook, selection } = planned;
        let mut explained = ExplainedHook {
            name: hook.name.clone(),
            file: paths.show(&hook.source.file),
            line: hook.source.line,
            runs: *selection == Selection::Wanted,
            why: match selection {
                Selection::Wanted => format!("matches {}", hook.matcher),
                Selection::Unwanted(mismatch) => mismatch.to_string(),
                Selection::Disabled => "disabled: enabled = false".to_string(),
                Selection::Idle(why) => format!("idle: {why}"),
            },
            deny: None,
            ask: None,
        };
        if let (Handler::Rule(decision), true) = (&hook.handler, explained.runs) {
            let verdict = verdict_of_rule(decision, &hook.matcher, event, &hook.place(place));
            match verdict.decision {
                Decision::Block { reason } => explained.deny = Some(reason),
                Decision::Ask { question } => explained.ask = Some(question),
                Decision::Allow => {}
            }
        }
        explained
    }

    fn human(&self, out: &mut dyn Write) -> Result<()> {
        let line = self.line.map(|line| format!(":{line}"));
        let place = self.file.clone() + &line.unwrap_or_default();
        write!(out, "  {}", plain(&self.name))?;
        if place != self.name {
            write!(out, "  {DIM}{}{DIM:#}", plain(&place))?;
        }
        writeln!(out, "\n    {}", cut(&plain(&self.why)))?;
        for (style, word, text) in [(BAD, "deny", &self.deny), (DOUBT, "ask", &self.ask)] {
            for (number, line) in text.iter().flat_map(|text| text.lines()).enumerate() {
                let line = cut(&plain(line));
                match number {
                    0 => writeln!(out, "    {style}{word}{style:#}: {line}")?,
                    _ => writeln!(out, "      {line}")?,
                }
            }
        }
        Ok(())
    }
}

impl ExplainReport {
    /// Writes matching hooks, then the others.
    fn hooks(&self, out: &mut dyn Write) -> Result<()> {
        let event = plain(&self.event);
        writeln!(out, "\n{BOLD}hooks that run for {event}{BOLD:#}")?;
        if !self.hooks.iter().any(|hook| hook.runs) {
            writeln!(out, "  none")?;
        }
        let (running, others): (Vec<_>, Vec<_>) = self.hooks.iter().partition(|hook| hook.runs);
        running.iter().try_for_each(|hook| hook.human(out))?;
        if !others.is_empty() {
            writeln!(out, "\n{BOLD}hooks that do not run{BOLD:#}")?;
        }
        others.iter().try_for_each(|hook| hook.human(out))
    }
}
