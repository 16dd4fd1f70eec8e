//! `hookrun events [EVENT]`: the catalog as a table, or one row in full. `hookrun schema NAME`: JSON
//! Schema of events, files and reports.

mod of_dialect;

use std::io::Write;

use crate::config::{Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::hosts;
use crate::lab::report::schema::{self, ActionKey, action_keys};
use crate::lab::report::style::{BOLD, DIM, row};
use crate::log::report::present;
use serde_json::{Value, json};

use crate::cli::args::{EventsArgs, SchemaArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::decide::find_event;

pub(crate) fn events(args: &EventsArgs, env: &Environment, out: &mut dyn Write) -> Result {
    if let Some(dialect) = hosts::find(&args.dialect) {
        return of_dialect::events(dialect, args, out);
    }
    if let Some(host) = hosts::find_installable(&args.dialect) {
        return of_dialect::of_plugin(host, args, out);
    }
    // Only declared events matter here: no hooks are loaded.
    let config = Config::load(
        &args.source.choice(env, "native"),
        env,
        ConfigScope::Event(""),
    );
    let specs: Vec<EventSpec> = match &args.name {
        Some(name) => vec![find_event(&config, name)?.as_ref().clone()],
        None => config.catalog.iter().cloned().collect(),
    };
    match (args.format, &args.name) {
        (TextFormat::Json, Some(_)) => {
            for spec in &specs {
                writeln!(out, "{:#}", event_json(spec))?;
            }
        }
        (TextFormat::Json, None) => {
            let events: Vec<Value> = specs.iter().map(event_json).collect();
            writeln!(out, "{:#}", json!({ "version": 1, "events": events }))?;
        }
        (TextFormat::Human, Some(_)) => {
            for spec in &specs {
                one(spec, out)?;
            }
        }
        (TextFormat::Human, None) => table(&specs, out)?,
    }
    Ok(ExitStatus::Yes)
}

pub(crate) fn schema(args: &SchemaArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let Some(name) = &args.name else {
        return schemas(out);
    };
    let schema = match schema::named().find(|named| named.name() == *name) {
        Some(named) => named.schema(),
        None => {
            let choice = args.source.choice(env, "native");
            let config = Config::load(&choice, env, ConfigScope::Event(""));
            let is_far = config
                .catalog
                .find(name)
                .is_err_and(|unknown| unknown.nearest.is_none());
            if is_far && !config.has_errors() {
                let cause = format!("`{name}` is neither a schema nor an event");
                let cure = "`hookrun schema` lists the schemas, `hookrun events` the events";
                return Err(Complaint::with_cure(cause, cure));
            }
            let event = find_event(&config, name)?;
            schema::schema_of(event.as_ref())
        }
    };
    writeln!(out, "{schema:#}")?;
    Ok(ExitStatus::Yes)
}

fn schemas(out: &mut dyn Write) -> Result {
    for named in schema::named() {
        writeln!(out, "{BOLD}{:<18}{BOLD:#}  {}", named.name(), named.about())?;
    }
    writeln!(
        out,
        "{BOLD}{:<18}{BOLD:#}  the context and the result of an event",
        "EVENT"
    )?;
    Ok(ExitStatus::Yes)
}

/// The events that most hooks are for, and what people do there.
pub(crate) const COMMON: &[(&str, &str)] = &[
    ("tool.pre", "guard commands and files before a tool runs"),
    (
        "tool.post",
        "look at what a tool did: format, check, redact",
    ),
    (
        "prompt.submit",
        "give the model context for a prompt, or block it",
    ),
    (
        "session.start",
        "give the model context when a session begins",
    ),
    ("agent.stop", "run the tests before an agent may stop"),
    ("commit.pre", "check what is about to be committed"),
    ("commit.msg", "check the message of a commit"),
    ("push.pre", "check what is about to be pushed"),
];

/// The common ones first, the others in the order of the catalog.
fn table(specs: &[EventSpec], out: &mut dyn Write) -> Result<()> {
    let common = COMMON
        .iter()
        .filter_map(|(name, _)| specs.iter().find(|spec| spec.name == *name));
    let common: Vec<&EventSpec> = common.collect();
    writeln!(out, "{BOLD}Common{BOLD:#}")?;
    lines(&common, specs, out)?;
    let is_other = |spec: &&EventSpec| common.iter().all(|known| known.name != spec.name);
    writeln!(out, "\n{BOLD}All others{BOLD:#}")?;
    lines(
        &specs.iter().filter(is_other).collect::<Vec<_>>(),
        specs,
        out,
    )?;
    writeln!(
        out,
        "\n{DIM}gate: a hook may block it. `hookrun events NAME` shows one in full.{DIM:#}"
    )?;
    Ok(())
}

fn lines(shown: &[&EventSpec], all: &[EventSpec], out: &mut dyn Write) -> Result<()> {
    let widest = all.iter().map(|spec| spec.name.len()).max().unwrap_or(0);
    for spec in shown {
        let mark = if spec.blocks { "gate" } else { "    " };
        writeln!(
            out,
            "{BOLD}{:<widest$}{BOLD:#}  {mark}  {}",
            spec.name, spec.summary
        )?;
    }
    Ok(())
}

fn one(spec: &EventSpec, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}  runs when {}",
        spec.name, spec.summary
    )?;
    if !spec.aliases.is_empty() {
        let mut name = "also called";
        for line in lines_of(spec.aliases, 64) {
            row(out, name, &line)?;
            name = "";
        }
    }
    let gate = match spec.blocks {
        true => "yes: it can be blocked",
        false => "no: it cannot be blocked; objections are only reported",
    };
    row(out, "gate", gate)?;
    if let Some(most) = spec.conduct.most_refusals {
        row(out, "", &limit_of_refusals(most))?;
    }
    if spec.conduct.text_teaches {
        row(
            out,
            "text",
            "what a hook prints is for the model: `additionalContext`",
        )?;
    }
    row(out, "on failure", spec.on_failure.name())?;
    row(out, "schedule", spec.schedule.name())?;
    for rewrite in spec.rewrites.iter() {
        row(
            out,
            "rewritable",
            &format!("{} ({})", rewrite.field, rewrite.merge.name()),
        )?;
    }
    writeln!(out, "\n{BOLD}context{BOLD:#}")?;
    let widest = spec
        .context
        .iter()
        .map(|key| key.name.len())
        .max()
        .unwrap_or(0);
    for key in spec.context.iter() {
        let is_required = spec.required.contains(&key.name);
        let about = format!(
            "{}{}",
            key.about,
            if is_required { " (required)" } else { "" }
        );
        writeln!(
            out,
            "  {:<widest$}  {DIM}{:<7}{DIM:#}  {}",
            key.name,
            key.kind.name(),
            about
        )?;
    }
    if spec.has_action() {
        writeln!(out, "\n{BOLD}action{BOLD:#}, which hookrun adds")?;
        let keys = action_keys();
        let widest = keys.iter().map(|key| key.path.len()).max().unwrap_or(0);
        for ActionKey { path, kind, about } in keys {
            writeln!(out, "  {path:<widest$}  {DIM}{kind:<7}{DIM:#}  {about}")?;
        }
    }
    writeln!(out, "\n{BOLD}sample{BOLD:#}")?;
    writeln!(out, "  {}", spec.sample())?;
    Ok(())
}

fn limit_of_refusals(most: u32) -> String {
    format!("after {most} blocks in a row it goes on, so that a session does not loop")
}

/// Words joined with commas into lines of at most `width` characters.
fn lines_of(words: &[&str], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.join(", ").split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < width => *line += &format!(" {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn event_json(spec: &EventSpec) -> Value {
    let rewrites: Vec<Value> = spec
        .rewrites
        .iter()
        .map(|rewrite| json!({ "field": rewrite.field, "merge": rewrite.merge.name() }))
        .collect();
    let context: Vec<Value> = spec
        .context
        .iter()
        .map(|key| {
            let is_required = spec.required.contains(&key.name).then_some(true);
            let (kind, about) = (key.kind.name(), &key.about);
            present(
                json!({ "name": key.name, "type": kind, "about": about, "required": is_required }),
            )
        })
        .collect();
    let key = |key: ActionKey| json!({ "name": key.path, "type": key.kind, "about": key.about });
    let keys = || action_keys().into_iter().map(key).collect::<Vec<Value>>();
    let action = spec.has_action().then(keys);
    let sample: Value = serde_json::from_str(&spec.sample()).unwrap_or_default();
    present(json!({
        "name": spec.name,
        "summary": spec.summary,
        "aliases": spec.aliases,
        "blocks": spec.blocks,
        "mostRefusals": spec.conduct.most_refusals,
        "textTeaches": spec.conduct.text_teaches,
        "onFailure": spec.on_failure.name(),
        "schedule": spec.schedule.name(),
        "rewrites": rewrites,
        "context": context,
        "action": action,
        "sample": sample,
    }))
}
