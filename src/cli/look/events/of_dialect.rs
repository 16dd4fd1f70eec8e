//! `hookrun events --dialect NAME`: the table of a hook system or a host, or one of its events in full.

use std::io::Write;
use std::time::Duration;

use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::engine::hook::duration_text;
use crate::engine::spelling;
use crate::hosts::capability::{self, Capabilities, ServedEvent};
use crate::hosts::facts::HostShell;
use crate::hosts::settings::files;
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
            let host = capability::of(dialect.name).map(|can| host_json(&can));
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
    match capability::of(name) {
        Some(can) => about_host(&can, out),
        None => Ok(()),
    }
}

/// The events of a host that has a plugin and no dialect: hookrun's own words.
pub(super) fn of_plugin(host: &str, args: &EventsArgs, out: &mut dyn Write) -> Result {
    let Some(can) = capability::of(host) else {
        return Ok(ExitStatus::No);
    };
    let is_shown = |it: &&ServedEvent| {
        args.name
            .as_deref()
            .is_none_or(|name| [it.name, it.event].contains(&name))
    };
    let events: Vec<&ServedEvent> = can.events.iter().filter(is_shown).collect();
    if let Some(name) = args.name.as_ref().filter(|_| events.is_empty()) {
        let names: Vec<&str> = can.events.iter().map(|it| it.name).collect();
        let cure = spelling::did_you_mean(spelling::nearest(name, names.iter().copied()), || {
            format!("its events are {}", names.join(", "))
        });
        return Err(Complaint::with_cure(
            format!("`{name}` is no event of {host}"),
            cure,
        ));
    }
    if args.format == TextFormat::Json {
        let events: Vec<Value> = events.into_iter().map(plugin_event_json).collect();
        let host = host_json(&can);
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
        about_host(&can, out)?;
    }
    Ok(ExitStatus::Yes)
}

/// What the host can do, and what it does without hookrun.
fn about_host(can: &Capabilities, out: &mut dyn Write) -> Result<()> {
    let facts = can.facts;
    writeln!(out, "\n{BOLD}{}{BOLD:#}", facts.host)?;
    line(out, "known", &facts.known())?;
    let gates = ["tool.pre", "prompt.submit", "agent.stop"].into_iter();
    let gates: Vec<&str> = gates.filter(|event| can.blocks(event)).collect();
    line(out, "can block", &gates.join(", "))?;
    line(
        out,
        "a question",
        if can.asks() {
            "goes to its user"
        } else {
            "blocks"
        },
    )?;
    line(
        out,
        "new input",
        if can.rewrites() {
            "reaches the tool"
        } else {
            "blocks the tool"
        },
    )?;
    let taught = if can.teaches() {
        "reaches the model"
    } else {
        "does not reach the model"
    };
    line(
        out,
        "context",
        &format!("what a hook says before a tool {taught}"),
    )?;
    let words = |words: Vec<&str>| match words.is_empty() {
        true => "never".to_string(),
        false => format!("if hookrun {}", words.join(" or ")),
    };
    if let Some(wait) = can.called("tool.pre").and_then(|gate| gate.wait) {
        let unit = files::of(facts.host).map(|file| file.time.unit());
        let unit = unit
            .map(|unit| format!("; its settings count {unit}"))
            .unwrap_or_default();
        line(out, "waits", &format!("{}{unit}", waits(wait)))?;
    }
    line(
        out,
        "lets a tool",
        &format!("run: {}", words(facts.open_on())),
    )?;
    if facts.open_on() != facts.open_when_installed() {
        let installed = words(facts.open_when_installed());
        line(
            out,
            "",
            &format!("with the command that `install` writes: {installed}"),
        )?;
    }
    let shell = facts.shell.map(HostShell::about);
    line(
        out,
        "commands",
        shell
            .as_deref()
            .unwrap_or("it runs none: a plugin or script asks"),
    )?;
    line(out, "trust", facts.trust.unwrap_or("no step is known"))?;
    for one in facts.reads {
        let switch = one
            .switch
            .map(|it| format!(" (`{}` in ~/{})", it.key.join("."), it.file));
        let switch = switch.unwrap_or_default();
        line(
            out,
            "also runs",
            &format!("the hooks in the settings of {}{switch}", one.host),
        )?;
    }
    let converts = facts.converts.join(", ");
    if !converts.is_empty() {
        line(
            out,
            "also runs",
            &format!("the hooks of plugins for {converts}"),
        )?;
    }
    let tools = can
        .tools
        .rows
        .iter()
        .map(|tool| format!("{} ({})", tool.name, tool.sort.about()));
    let tools: Vec<String> = tools.collect();
    if !tools.is_empty() {
        line(out, "tools", &tools.join(", "))?;
    }
    for what in facts.unseen {
        line(out, "unseen", &format!("no event shows {what}"))?;
    }
    Ok(())
}

fn one(binding: Binding, out: &mut dyn Write) -> Result<()> {
    let row = binding.row;
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}  {}'s {}",
        row.full_name(),
        binding.dialect.name,
        row.event
    )?;
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
        line(
            out,
            "key",
            &format!(
                "{} says {} too, where that is missing",
                one.theirs, one.ours
            ),
        )?;
    }
    match row.results {
        Results::Native => line(out, "result", "hookrun's own (`man hookrun-hook`)")?,
        Results::Whole(field, _) => line(out, "result", &format!("as a whole the new `{field}`"))?,
        Results::Form(form) => {
            for say in form.writes {
                let places = say
                    .put
                    .iter()
                    .map(|(path, _)| *path)
                    .collect::<Vec<_>>()
                    .join(", ");
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
                line(
                    out,
                    "result",
                    &format!("{}: {}", key.name, key.says.about()),
                )?;
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
            format!(
                "{usual}, at most {} where its settings say so",
                duration_text(longest)
            )
        }
    }
}

fn host_json(can: &Capabilities) -> Value {
    let facts = can.facts;
    let measured = facts
        .measured
        .map(|it| json!({ "version": it.version, "date": it.date }));
    let blocks: Vec<&str> = can
        .events
        .iter()
        .filter(|it| it.blocks)
        .map(|it| it.event)
        .collect();
    let tools = can.tools.rows.iter();
    let tools = tools.map(|tool| json!({ "name": tool.name, "sort": tool.sort.about() }));
    let unseen = facts.unseen.iter();
    let unseen = unseen.map(|one| present(json!({ "tool": one.tool, "about": one.about })));
    present(json!({
        "name": facts.host,
        "documented": facts.documented,
        "measured": measured,
        "blocks": blocks,
        "asks": can.asks(),
        "rewrites": can.rewrites(),
        "teaches": can.teaches(),
        "openOn": facts.open_on(),
        "openWhenInstalled": facts.open_when_installed(),
        "shell": facts.shell.map(HostShell::about),
        "trust": facts.trust,
        "reads": facts.reads.iter().map(|one| one.host).collect::<Vec<_>>(),
        "converts": facts.converts,
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
