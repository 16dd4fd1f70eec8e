//! `hookrun show NAME`: one hook with all its settings, and whether it could be started.

use std::io::Write;
use std::sync::Arc;

use crate::config::{Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::exec::command;
use crate::engine::hook::{Handler, Hook, Warm};
use crate::engine::registry::Registry;
use crate::engine::spelling::did_you_mean;
use crate::hosts;
use crate::lab::report::style::{BOLD, row};
use crate::lab::report::{Paths, plain};
use serde_json::{Value, json};

use crate::cli::args::{ShowArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::look::list::hook_json;
use crate::cli::look::rules::{HostRules, failure_text, rules_of, timeout_text};
use crate::cli::problems::not_loaded;
use crate::cli::streams;
use crate::decide::hooks::nearest_hook;

pub(crate) fn show(args: &ShowArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(
        &args.hooks.source.choice(env, &args.hooks.dialect),
        env,
        ConfigScope::All,
    );
    let dialect = hosts::find(&args.hooks.dialect);
    let config = config.for_host(dialect);
    let paths = Paths::from(&env.cwd);
    let hooks = Registry::loaded(config.hooks.clone(), config.catalog.clone()).hooks();
    let found: Vec<&Arc<Hook>> = hooks.iter().filter(|hook| hook.name == args.name).collect();
    streams::problems(&config.problems, &paths);
    if found.is_empty() {
        if let Some(complaint) = not_loaded(&args.name, &config) {
            return Err(complaint);
        }
        let names = hooks.iter().map(|hook| hook.name.as_str());
        let help = did_you_mean(nearest_hook(&args.name, names), || {
            "`hookrun list` shows what is configured".to_string()
        });
        return Err(Complaint::with_cure(
            format!("no hook `{}`", args.name),
            help,
        ));
    }
    match args.format {
        TextFormat::Human => {
            for hook in found {
                human(hook, &rules_of(hook, &config, dialect), env, &paths, out)?;
            }
        }
        TextFormat::Json => {
            let json = |hook: &&Arc<Hook>| {
                json_of(
                    hook_json(hook, &rules_of(hook, &config, dialect), &paths),
                    hook,
                    env,
                )
            };
            let hooks: Vec<Value> = found.iter().map(json).collect();
            writeln!(out, "{:#}", json!({ "version": 1, "hooks": hooks }))?;
        }
    }
    Ok(ExitStatus::Yes)
}

fn json_of(mut value: Value, hook: &Hook, env: &Environment) -> Value {
    match command::resolve(&hook.handler, env.search.as_deref()) {
        _ if hook.is_rule() => {}
        Ok(program) => value["program"] = program.path.display().to_string().into(),
        Err(error) => value["problem"] = error.to_string().into(),
    }
    value
}

fn human(
    hook: &Hook,
    rules: &[HostRules],
    env: &Environment,
    paths: &Paths,
    out: &mut dyn Write,
) -> Result<()> {
    let place = paths.show_line(&hook.source.file, hook.source.line);
    let runs = match &hook.handler {
        Handler::File(file) => paths.show(file),
        Handler::Words { words, .. } => shell_words::join(words),
        Handler::Shell(line) => format!("sh -c {}", shell_words::quote(line)),
        Handler::Function(_) => "a function".to_string(),
        Handler::Rule(_) => "nothing: it is a rule".to_string(),
    };
    let program = match command::resolve(&hook.handler, env.search.as_deref()) {
        Ok(program) => program.path.display().to_string(),
        Err(error) => format!("it {error}"),
    };
    writeln!(out, "{BOLD}{}{BOLD:#}", plain(&hook.name))?;
    let limits = hook
        .limits
        .set()
        .into_iter()
        .map(|(name, value)| format!("{name} {value}"));
    let limits = limits.collect::<Vec<_>>().join(", ");
    let or_none = |text: String| {
        if text.is_empty() {
            "none".to_string()
        } else {
            text
        }
    };
    let sandbox = hook
        .sandbox
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    let rows: [(&str, String); 19] = [
        ("event", hook.event.clone()),
        ("from", format!("{place} ({})", hook.source.layer_text())),
        ("runs", runs),
        ("program", program),
        ("wants", hook.matcher.to_string()),
        ("timeout", timeout_text(hook, rules)),
        ("priority", hook.priority.to_string()),
        ("parallel", hook.parallel.to_string()),
        ("on_failure", failure_text(hook, rules)),
        ("background", hook.background.name().to_string()),
        ("lives", hook.lives.name().to_string()),
        ("warm", hook.warm.unwrap_or(Warm::Off).name().to_string()),
        ("limits", or_none(limits)),
        ("sandbox", or_none(sandbox)),
        ("containment", hook.containment.name().to_string()),
        ("rewrite", hook.rewrite.to_string()),
        (
            "reads",
            if hook.reads_stdin {
                "stdin only"
            } else {
                "stdin or environment"
            }
            .to_string(),
        ),
        ("dialect", hook.dialect_name().to_string()),
        ("enabled", hook.enabled.to_string()),
    ];
    let idle = hook.idle_reason().map(|why| ("idle", why.to_string()));
    let description = hook.description.clone().map(|text| ("description", text));
    let rule = hook.handler.rule();
    // What a program may do says nothing about a rule.
    let of_rules = ["event", "from", "wants", "priority", "enabled"];
    let rows = rows
        .into_iter()
        .filter(|(name, _)| rule.is_none() || of_rules.contains(name));
    let said = rule.map(|(key, text)| (key, text.to_string()));
    for (name, value) in rows.chain(said).chain(idle).chain(description) {
        row(out, name, &plain(&value))?;
    }
    writeln!(out)?;
    Ok(())
}
