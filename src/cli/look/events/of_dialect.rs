//! `hookrun events --dialect NAME`: the table of a hook system or a host, or one of its events in full.

use std::io::Write;
use std::time::Duration;

use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::engine::hook::duration_text;
use crate::engine::spelling;
use crate::hosts::capability::ServedEvent;
use crate::hosts::facts::HostShell;
use crate::hosts::{Binding, Host, ReplySlot, Results, Wait, native};
use crate::lab::report::style::{BOLD, DIM, row as line};
use crate::log::report::present;
use serde_json::{Value, json};

use crate::cli::args::{EventsArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};

pub(super) fn events(dialect: &'static Host, args: &EventsArgs, out: &mut dyn Write) -> Result {
    let bindings: Vec<Binding> = match &args.name {
        None => dialect
            .events
            .iter()
            .map(|row| Binding { dialect, row })
            .collect(),
        Some(name) => dialect.called(name),
    };
    if let Some(name) = args.name.as_ref().filter(|_| bindings.is_empty()) {
        return Err(dialect.unknown_event(name));
    }
    match (args.format, &args.name) {
        (TextFormat::Json, _) => {
            let events: Vec<Value> = bindings.iter().map(|one| event_json(*one)).collect();
            let host = dialect.is_installable().then(|| host_json(dialect));
            let all =
                json!({ "version": 1, "dialect": dialect.name, "host": host, "events": events });
            writeln!(out, "{:#}", present(all))?;
        }
        (TextFormat::Human, Some(_)) => {
            for binding in bindings {
                one(binding, out)?;
            }
        }
        (TextFormat::Human, None) => table(dialect, &bindings, out)?,
    }
    Ok(ExitStatus::Yes)
}

fn table(dialect: &Host, bindings: &[Binding], out: &mut dyn Write) -> Result<()> {
    let names: Vec<String> = bindings.iter().map(|one| one.row.full_name()).collect();
    let widest = names.iter().map(String::len).max().unwrap_or(0);
    for (binding, name) in bindings.iter().zip(&names) {
        let mark = if binding.row.blocks { "gate" } else { "    " };
        writeln!(
            out,
            "{BOLD}{name:<widest$}{BOLD:#}  {mark}  {}",
            binding.row.event
        )?;
    }
    let name = dialect.name;
    writeln!(
        out,
        "\n{DIM}gate: it can be blocked. `hookrun events NAME --dialect {name}` shows one in \
         full.{DIM:#}"
    )?;
    if let Some(about) = dialect.discovery.about() {
        writeln!(out, "{DIM}{about}{DIM:#}")?;
    }
    if dialect.is_installable() {
        about_host(dialect, out)?;
    }
    Ok(())
}

/// The events of a host that has a plugin and no dialect: hookrun's own words.
pub(super) fn of_plugin(host: &Host, args: &EventsArgs, out: &mut dyn Write) -> Result {
    let served = host.served_events();
    let is_shown = |it: &&ServedEvent| {
        args.name
            .as_deref()
            .is_none_or(|name| [it.name, it.event].contains(&name))
    };
    let events: Vec<&ServedEvent> = served.iter().filter(is_shown).collect();
    if let Some(name) = args.name.as_ref().filter(|_| events.is_empty()) {
        let names: Vec<&str> = served.iter().map(|it| it.name).collect();
        let cure = spelling::did_you_mean(spelling::nearest(name, names.iter().copied()), || {
            format!("its events are {}", names.join(", "))
        });
        return Err(Complaint::with_cure(
            format!("`{name}` is no event of {}", host.name),
            cure,
        ));
    }
    if args.format == TextFormat::Json {
        let events: Vec<Value> = events.into_iter().map(plugin_event_json).collect();
        let host = host_json(host);
        let all = json!({ "version": 1, "dialect": native::NAME, "host": host, "events": events });
        writeln!(out, "{all:#}")?;
        return Ok(ExitStatus::Yes);
    }
    let widest = events.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for event in events {
        let mark = if event.blocks { "gate" } else { "    " };
        let ServedEvent { name, event, .. } = event;
        writeln!(out, "{BOLD}{name:<widest$}{BOLD:#}  {mark}  {event}")?;
    }
    writeln!(
        out,
        "\n{DIM}gate: it can be blocked. The plugin passes these on in hookrun's own words: \
         `hookrun events EVENT` shows one in full.{DIM:#}"
    )?;
    if args.name.is_none() {
        about_host(host, out)?;
    }
    Ok(ExitStatus::Yes)
}

fn one(binding: Binding, out: &mut dyn Write) -> Result<()> {
    let row = binding.row;
    let (name, host) = (row.full_name(), binding.dialect.name);
    writeln!(out, "{BOLD}{name}{BOLD:#}  {host}'s {}", row.event)?;
    let mut shown = event_json(binding);
    if let Some(members) = shown.as_object_mut() {
        for key in ["name", "event", "when", "wait", "timeoutMs"] {
            members.remove(key);
        }
    }
    show(&shown, out)?;
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

/// What the host can do, and what it does without hookrun.
fn about_host(host: &Host, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\n{BOLD}{}{BOLD:#}", host.name)?;
    line(out, "known", &host.known())?;
    let mut shown = host_json(host);
    if let Some(members) = shown.as_object_mut() {
        for key in ["name", "documented", "measured"] {
            members.remove(key);
        }
    }
    show(&shown, out)
}

/// A line for each member of an object that has a value, and for each object of a list.
fn show(object: &Value, out: &mut dyn Write) -> Result<()> {
    for (key, value) in object.as_object().into_iter().flatten() {
        let mut name = String::new();
        for c in key.chars() {
            name.push_str(if c.is_uppercase() { " " } else { "" });
            name.push(c.to_ascii_lowercase());
        }
        let lines = match value.as_array() {
            Some(list) if list.iter().any(Value::is_object) => list.iter().map(text).collect(),
            Some(_) | None => vec![text(value)],
        };
        for text in lines.iter().filter(|text| !text.is_empty()) {
            line(out, &name, text)?;
            name.clear();
        }
    }
    Ok(())
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_string(),
        Value::Bool(false) => "no".to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => joined(values.iter(), ", "),
        Value::Object(members) => joined(members.values(), ": "),
    }
}

fn joined<'v>(values: impl Iterator<Item = &'v Value>, separator: &str) -> String {
    let texts: Vec<String> = values.map(text).filter(|text| !text.is_empty()).collect();
    texts.join(separator)
}

fn waits(wait: Wait) -> String {
    let usual = duration_text(wait.usual);
    match (wait.is_known, wait.longest) {
        (false, _) => format!("it does not say how long; {usual} are thought safe"),
        (true, None) => usual,
        (true, Some(longest)) => {
            format!(
                "{usual}, at most {} where its settings say so",
                duration_text(longest)
            )
        }
    }
}

fn host_json(host: &Host) -> Value {
    let measured = host
        .measured
        .map(|it| json!({ "version": it.version, "date": it.date }));
    let served = host.served_events();
    let blocks: Vec<&str> = served
        .iter()
        .filter(|it| it.blocks)
        .map(|it| it.event)
        .collect();
    let tools = host.shown_tools().rows.iter();
    let tools = tools.map(|tool| json!({ "name": tool.name, "sort": tool.sort.about() }));
    let unseen = host.unseen.iter();
    let unseen = unseen.map(|one| present(json!({ "tool": one.tool, "about": one.about })));
    present(json!({
        "name": host.name,
        "documented": host.documented,
        "measured": measured,
        "blocks": blocks,
        "asks": host.asks(),
        "rewrites": host.rewrites(),
        "teaches": host.teaches(),
        "openOn": host.open_on(),
        "openWhenInstalled": host.open_when_installed(),
        "shell": host.shell().map(HostShell::about),
        "trust": host.trust,
        "reads": host.reads.iter().map(|one| one.host).collect::<Vec<_>>(),
        "converts": host.converts,
        "tools": tools.collect::<Vec<_>>(),
        "unseen": unseen.collect::<Vec<_>>(),
    }))
}

fn millis(time: Duration) -> Option<u64> {
    u64::try_from(time.as_millis()).ok()
}

fn wait_json(wait: Wait, budget: Option<Duration>) -> Value {
    json!({
        "usualMs": millis(wait.usual),
        "longestMs": wait.longest.and_then(millis),
        "known": wait.is_known,
        "budgetMs": budget.and_then(millis),
    })
}

/// An event that a plugin passes on, which has hookrun's own keys.
fn plugin_event_json(event: &ServedEvent) -> Value {
    let spec = catalog::find(event.event);
    let merge = |field: &str| {
        spec.and_then(|spec| spec.rewrite(field))
            .map(|it| it.merge.name())
    };
    let rewrites = event.says.iter().filter_map(|says| match says {
        ReplySlot::New(field) => Some(json!({ "field": field, "merge": merge(field)? })),
        ReplySlot::Refusal
        | ReplySlot::Objection
        | ReplySlot::Question
        | ReplySlot::Consent
        | ReplySlot::Context
        | ReplySlot::Output => None,
    });
    json!({
        "name": event.name,
        "aliases": [],
        "event": event.event,
        "when": null,
        "blocks": event.blocks,
        "mostRefusals": spec.and_then(|spec| spec.conduct.most_refusals),
        "onFailure": if event.fails_closed { "block" } else { "allow" },
        "schedule": spec.map(|spec| spec.schedule.name()),
        "merging": "as in hookrun",
        "timeoutMs": null,
        "wait": event.wait.map(|wait| wait_json(wait, None)),
        "rewrites": rewrites.collect::<Vec<_>>(),
        "keys": [],
        "standIns": [],
        "results": event.decides(),
    })
}

fn event_json(binding: Binding) -> Value {
    let row = binding.row;
    let wait = row.wait.map(|wait| wait_json(wait, binding.budget()));
    let rewrites = row.results.rewrites();
    let rewrites = rewrites
        .iter()
        .map(|one| json!({ "field": one.field, "merge": one.merge.name() }));
    let all = row.keys.iter().chain(row.also);
    let keys = all.map(|(theirs, ours)| json!({ "name": theirs, "canonical": ours }));
    let stand_ins = row.stand_ins.iter();
    let stand_ins = stand_ins.map(|one| json!({ "name": one.theirs, "canonical": one.ours }));
    let results = match row.results {
        Results::Native => json!("native"),
        Results::Whole(field, _) => json!({ "whole": field }),
        Results::Form(form) => {
            let says = form.writes.iter().map(|say| {
                let places: Vec<&str> = say.put.iter().map(|(path, _)| *path).collect();
                json!({ "on": say.on.about(), "places": places, "status": say.status })
            });
            Value::Array(says.collect())
        }
        Results::Keys(keys) => {
            let all = keys
                .iter()
                .map(|key| json!({ "name": key.name, "about": key.says.about() }));
            Value::Array(all.collect())
        }
    };
    let timeout = row.conduct.timeout.map(millis);
    json!({
        "name": row.name,
        "aliases": row.aliases,
        "event": row.event,
        "when": row.when.map(|(key, value)| json!({ "key": key, "value": value })),
        "blocks": row.blocks,
        "mostRefusals": binding.spec().conduct.most_refusals.filter(|_| row.blocks),
        "onFailure": row.on_failure.name(),
        "schedule": row.schedule.name(),
        "merging": row.merging(),
        "timeoutMs": timeout,
        "wait": wait,
        "rewrites": rewrites.collect::<Vec<_>>(),
        "keys": keys.collect::<Vec<_>>(),
        "standIns": stand_ins.collect::<Vec<_>>(),
        "results": results,
    })
}
