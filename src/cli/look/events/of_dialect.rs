//! `hookrun events --dialect NAME`: the table of a hook system, or one of its events in full.

use std::io::Write;
use std::time::Duration;

use crate::dialects::facts::{self, HostFacts};
use crate::dialects::{Binding, Dialect, Results, Wait};
use crate::engine::hook::duration_text;
use crate::lab::report::style::{BOLD, DIM, row as line};
use serde_json::{Value, json};

use crate::cli::args::{EventsArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};

pub(super) fn events(dialect: &'static Dialect, args: &EventsArgs, out: &mut dyn Write) -> Result {
    let bindings: Vec<Binding> = match &args.name {
        None => dialect.events.iter().map(|row| Binding { dialect, row }).collect(),
        Some(name) => dialect.called(name),
    };
    if let Some(name) = args.name.as_ref().filter(|_| bindings.is_empty()) {
        return Err(dialect.unknown_event(name));
    }
    match (args.format, &args.name) {
        (TextFormat::Json, _) => {
            let events: Vec<Value> = bindings.iter().map(|one| event_json(*one)).collect();
            let host = facts::of(dialect.name).map(facts_json);
            let all =
                json!({ "version": 1, "dialect": dialect.name, "host": host, "events": events });
            writeln!(out, "{all:#}")?;
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

fn table(dialect: &Dialect, bindings: &[Binding], out: &mut dyn Write) -> Result<()> {
    let names: Vec<String> = bindings.iter().map(|one| one.row.full_name()).collect();
    let widest = names.iter().map(String::len).max().unwrap_or(0);
    for (binding, name) in bindings.iter().zip(&names) {
        let mark = if binding.row.blocks { "gate" } else { "    " };
        writeln!(out, "{BOLD}{name:<widest$}{BOLD:#}  {mark}  {}", binding.row.event)?;
    }
    let name = dialect.name;
    writeln!(
        out,
        "\n{DIM}gate: it can be blocked. `hookrun events NAME --dialect {name}` shows one in \
         full.{DIM:#}"
    )?;
    if let Some(facts) = facts::of(dialect.name) {
        writeln!(out, "{DIM}{}{DIM:#}", facts.known())?;
        let open = facts.open_on().join(" or ");
        if !open.is_empty() {
            writeln!(
                out,
                "{DIM}The host lets a tool run if hookrun {open}; the command that `install` writes \
                 blocks where hookrun cannot start or is killed.{DIM:#}"
            )?;
        }
        for what in facts.unseen {
            writeln!(out, "{DIM}No hook sees {what}.{DIM:#}")?;
        }
    }
    if let Some(about) = dialect.discovery.about() {
        writeln!(out, "{DIM}{about}{DIM:#}")?;
    }
    Ok(())
}

fn one(binding: Binding, out: &mut dyn Write) -> Result<()> {
    let row = binding.row;
    writeln!(out, "{BOLD}{}{BOLD:#}  {}'s {}", row.full_name(), binding.dialect.name, row.event)?;
    if !row.aliases.is_empty() {
        line(out, "also called", &row.aliases.join(", "))?;
    }
    line(out, "gate", if row.blocks { "yes" } else { "no" })?;
    if let Some(most) = binding.spec().conduct.most_refusals.filter(|_| row.blocks) {
        line(out, "", &super::limit_of_refusals(most))?;
    }
    line(out, "on failure", row.on_failure.name())?;
    line(out, "schedule", row.schedule.name())?;
    line(out, "merging", &row.merging())?;
    if let Some(timeout) = row.conduct.timeout {
        line(out, "timeout", &duration_text(timeout))?;
    }
    if let Some((wait, budget)) = row.wait.zip(binding.budget()) {
        line(out, "waits", &waits(wait))?;
        line(out, "budget", &duration_text(budget))?;
    }
    for (theirs, ours) in row.keys.iter().chain(row.also) {
        line(out, "key", &format!("{theirs} is {ours}"))?;
    }
    for one in row.stand_ins {
        line(out, "key", &format!("{} says {} too, where that is missing", one.theirs, one.ours))?;
    }
    match row.results {
        Results::Native => line(out, "result", "hookrun's own (`man hookrun-hook`)")?,
        Results::Whole(field, _) => line(out, "result", &format!("as a whole the new `{field}`"))?,
        Results::Form(form) => {
            for say in form.writes {
                let places = say.put.iter().map(|(path, _)| *path).collect::<Vec<_>>().join(", ");
                let how = match (places.as_str(), say.status) {
                    ("", status) => format!("exit status {status}, the text on stderr"),
                    (places, _) => places.to_string(),
                };
                line(out, "says", &format!("{}: {how}", say.on.about()))?;
            }
        }
        Results::Keys([]) => line(out, "result", "none")?,
        Results::Keys(keys) => {
            for key in keys {
                line(out, "result", &format!("{}: {}", key.name, key.says.about()))?;
            }
        }
    }
    writeln!(out)?;
    Ok(())
}

fn waits(wait: Wait) -> String {
    let usual = duration_text(wait.usual);
    match (wait.is_known, wait.longest) {
        (false, _) => format!("it does not say how long; {usual} are thought safe"),
        (true, None) => usual,
        (true, Some(longest)) => {
            format!("{usual}, at most {} where its settings say so", duration_text(longest))
        }
    }
}

fn facts_json(facts: &'static HostFacts) -> Value {
    let measured = facts.measured.map(|it| json!({ "version": it.version, "date": it.date }));
    json!({
        "documented": facts.documented,
        "measured": measured,
        "openOn": facts.open_on(),
        "unseen": facts.unseen,
    })
}

fn event_json(binding: Binding) -> Value {
    let row = binding.row;
    let millis = |time: Duration| u64::try_from(time.as_millis()).ok();
    let wait = row.wait.map(|wait| {
        json!({
            "usualMs": millis(wait.usual),
            "longestMs": wait.longest.and_then(millis),
            "known": wait.is_known,
            "budgetMs": binding.budget().and_then(millis),
        })
    });
    let rewrites = row.results.rewrites();
    let rewrites =
        rewrites.iter().map(|one| json!({ "field": one.field, "merge": one.merge.name() }));
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
            let all = keys.iter().map(|key| json!({ "name": key.name, "about": key.says.about() }));
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
