//! `hookrun events [EVENT]`: the events of the catalog or of a host, as a table or one in full. The
//! human output of one event is made from its JSON.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::args::{EventsArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::schema::{ActionKey, action_keys};
use crate::config::{Config, ConfigScope, Environment};
use crate::decide::find_event;
use crate::engine::event::EventSpec;
use crate::engine::hook::duration_text;
use crate::hosts::{self, Binding, Host, Wait};
use crate::lab::report::style::{BOLD, DIM, members, row as line, words_of};
use crate::log::report::present;

pub(crate) fn events(args: &EventsArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let host = hosts::find(&args.dialect).or_else(|| hosts::find_installable(&args.dialect));
    if let Some(host) = host {
        return of_host(host, args, out);
    }
    // Only custom events are needed, no hooks.
    let config = Config::load(
        &args.source.choice(env, "native"),
        env,
        ConfigScope::Event(""),
    );
    if let Some(name) = &args.name {
        let spec = find_event(&config, name)?;
        let event = catalog_json(spec.as_ref());
        if args.format == TextFormat::Json {
            writeln!(out, "{event:#}")?;
        } else {
            catalog_event(event, out)?;
        }
        return Ok(ExitStatus::Yes);
    }
    let specs: Vec<&EventSpec> = config.catalog.iter().collect();
    if args.format == TextFormat::Json {
        let events: Vec<Value> = specs.iter().map(|spec| catalog_json(spec)).collect();
        writeln!(out, "{:#}", json!({ "version": 1, "events": events }))?;
    } else {
        catalog_table(&specs, out)?;
    }
    Ok(ExitStatus::Yes)
}

pub(crate) const COMMON: &[(&str, &str)] = &[
    ("tool.pre", "guard commands and files before a tool runs"),
    (
        "tool.post",
        "process a tool's result: format, check, redact",
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
    ("commit.msg", "check a commit message"),
    ("push.pre", "check what is about to be pushed"),
];

/// Prints the common events first, then the others in catalog order.
fn catalog_table(specs: &[&EventSpec], out: &mut dyn Write) -> Result<()> {
    let widest = specs.iter().map(|spec| spec.name.len()).max().unwrap_or(0);
    writeln!(out, "{BOLD}Common{BOLD:#}")?;
    for (name, _) in COMMON {
        for spec in specs.iter().filter(|spec| spec.name == *name) {
            table_line(&spec.name, widest, spec.blocks, &spec.summary, out)?;
        }
    }
    writeln!(out, "\n{BOLD}All others{BOLD:#}")?;
    for spec in specs {
        if COMMON.iter().all(|(name, _)| spec.name != *name) {
            table_line(&spec.name, widest, spec.blocks, &spec.summary, out)?;
        }
    }
    let more = "`hookrun events NAME` shows an event in full";
    writeln!(
        out,
        "\n{DIM}gate: hooks can block the event. {more}.{DIM:#}"
    )?;
    Ok(())
}

fn table_line(
    name: &str,
    widest: usize,
    blocks: bool,
    about: &str,
    out: &mut dyn Write,
) -> Result<()> {
    let mark = if blocks { "gate" } else { "    " };
    writeln!(out, "{BOLD}{name:<widest$}{BOLD:#}  {mark}  {about}")?;
    Ok(())
}

fn catalog_event(mut event: Value, out: &mut dyn Write) -> Result<()> {
    let title = words_of(&event["name"].take());
    let summary = words_of(&event["summary"].take());
    writeln!(out, "{BOLD}{title}{BOLD:#}  runs when {summary}")?;
    let context = event["context"].take();
    let action = event["action"].take();
    let sample = event["sample"].take();
    let timeout = event["timeoutMs"].take();
    members(out, &event)?;
    if let Some(timeout) = timeout.as_u64() {
        let timeout = Duration::from_millis(timeout);
        line(out, "timeout", &duration_text(timeout))?;
    }
    key_table("context", &context, out)?;
    key_table("action, added by hookrun", &action, out)?;
    writeln!(out, "\n{BOLD}sample{BOLD:#}\n  {sample}")?;
    Ok(())
}

fn key_table(title: &str, keys: &Value, out: &mut dyn Write) -> Result<()> {
    let keys = keys.as_array().map_or(&[][..], Vec::as_slice);
    if keys.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
    let widths = keys.iter().map(|key| words_of(&key["name"]).len());
    let widest = widths.max().unwrap_or(0);
    for key in keys {
        let [name, kind, about] = ["name", "type", "about"].map(|part| words_of(&key[part]));
        let required = if key["required"] == true {
            " (required)"
        } else {
            ""
        };
        writeln!(
            out,
            "  {name:<widest$}  {DIM}{kind:<7}{DIM:#}  {about}{required}"
        )?;
    }
    Ok(())
}

fn catalog_json(spec: &EventSpec) -> Value {
    let mut rewrites = Vec::new();
    for rewrite in spec.rewrites.iter() {
        rewrites.push(json!({ "field": rewrite.field, "merge": rewrite.merge.name() }));
    }
    let mut context = Vec::new();
    for key in spec.context.iter() {
        let is_required = spec.required.contains(&key.name).then_some(true);
        context.push(present(json!({
            "name": key.name,
            "type": key.kind.name(),
            "about": key.about,
            "required": is_required,
        })));
    }
    let mut action = Vec::new();
    if spec.has_action() {
        for ActionKey { path, kind, about } in action_keys() {
            action.push(json!({ "name": path, "type": kind, "about": about }));
        }
    }
    let sample: Value = serde_json::from_str(&spec.sample()).unwrap_or_default();
    present(json!({
        "name": spec.name,
        "summary": spec.summary,
        "aliases": spec.aliases,
        "blocks": spec.blocks,
        "mostBlocks": spec.conduct.most_blocks,
        "textIsContext": spec.conduct.text_is_context,
        "onFailure": spec.on_failure.name(),
        "schedule": spec.schedule.name(),
        "stop": spec.blocks.then_some(spec.conduct.stop.name()),
        "timeoutMs": spec.conduct.timeout.map(millis),
        "rewrites": rewrites,
        "context": context,
        "action": spec.has_action().then_some(action),
        "sample": sample,
    }))
}

/// Prints a host's events by its own names, or the events that hookrun's plugin sends.
fn of_host(host: &'static Host, args: &EventsArgs, out: &mut dyn Write) -> Result {
    let mut bindings: Vec<Binding> = Vec::new();
    if let Some(name) = &args.name {
        bindings.extend(host.called(name));
        if bindings.is_empty() {
            return Err(host.unknown_event(name));
        }
    } else {
        let rows = host.all_events().iter();
        bindings.extend(rows.map(|row| Binding { dialect: host, row }));
    }
    if args.format == TextFormat::Json {
        let events: Vec<Value> = bindings.iter().map(|one| event_json(*one)).collect();
        let all = json!({ "version": 1, "host": host.name, "events": events });
        writeln!(out, "{all:#}")?;
    } else if args.name.is_some() {
        for binding in bindings {
            host_event(binding, out)?;
        }
    } else {
        host_table(host, &bindings, out)?;
    }
    Ok(ExitStatus::Yes)
}

fn host_table(host: &'static Host, bindings: &[Binding], out: &mut dyn Write) -> Result<()> {
    let names: Vec<String> = bindings.iter().map(|one| one.row.full_name()).collect();
    let widest = names.iter().map(String::len).max().unwrap_or(0);
    for (binding, name) in bindings.iter().zip(&names) {
        table_line(name, widest, binding.row.blocks, binding.row.event, out)?;
    }
    let more = format!("`hookrun events NAME --host {}` shows an event", host.name);
    writeln!(
        out,
        "\n{DIM}gate: a hook can block the event. {more} in full.{DIM:#}"
    )?;
    Ok(())
}

fn host_event(binding: Binding, out: &mut dyn Write) -> Result<()> {
    let row = binding.row;
    let name = row.full_name();
    let host = binding.dialect.name;
    writeln!(out, "{BOLD}{name}{BOLD:#}  {host}'s name for {}", row.event)?;
    let mut event = event_json(binding);
    for key in ["name", "event", "when", "wait", "timeoutMs"] {
        event[key].take();
    }
    members(out, &event)?;
    if let Some(timeout) = row.conduct.timeout {
        line(out, "timeout", &duration_text(timeout))?;
    }
    if let Some((wait, budget)) = row.wait.zip(binding.budget()) {
        line(out, "waits", &waits(wait))?;
        line(out, "budget", &duration_text(budget))?;
    }
    writeln!(out)?;
    Ok(())
}

fn waits(wait: Wait) -> String {
    let usual = duration_text(wait.usual);
    if !wait.is_known {
        return format!("undocumented; {usual} is assumed to be safe");
    }
    match wait.longest {
        None => usual,
        Some(longest) => {
            let longest = duration_text(longest);
            format!("{usual}, or up to {longest} if the host's settings allow it")
        }
    }
}

fn millis(time: Duration) -> Option<u64> {
    u64::try_from(time.as_millis()).ok()
}

fn event_json(binding: Binding) -> Value {
    let row = binding.row;
    let wait = row.wait.map(|wait| {
        json!({
            "usualMs": millis(wait.usual),
            "longestMs": wait.longest.and_then(millis),
            "known": wait.is_known,
            "budgetMs": binding.budget().and_then(millis),
        })
    });
    let mut rewrites = Vec::new();
    for rewrite in row.results.rewrites() {
        rewrites.push(json!({ "field": rewrite.field, "merge": rewrite.merge.name() }));
    }
    let mut keys = Vec::new();
    for (theirs, ours) in row.keys.iter().chain(row.also) {
        keys.push(json!({ "name": theirs, "canonical": ours }));
    }
    json!({
        "name": row.name,
        "aliases": row.aliases,
        "event": row.event,
        "when": row.when.map(|(key, value)| json!({ "key": key, "value": value })),
        "blocks": row.blocks,
        "mostBlocks": binding.spec().conduct.most_blocks.filter(|_| row.blocks),
        "onFailure": row.on_failure.name(),
        "schedule": row.schedule.name(),
        "timeoutMs": row.conduct.timeout.map(millis),
        "wait": wait,
        "rewrites": rewrites,
        "keys": keys,
    })
}
