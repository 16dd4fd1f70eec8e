//! `hookrun list`: what is configured, from which file, in what order, and what will not run.

use std::io::Write;
use std::sync::Arc;

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::event::{EventSpec, OnFailure, Schedule};
use crate::engine::hook::{DEFAULT_PRIORITY, Hook, Limits, Sandbox, Warm};
use crate::engine::plan::Plan;
use crate::engine::registry::Registry;
use crate::hosts::{self, Host};
use crate::lab::report::style::{BOLD, DIM};
use crate::lab::report::{Paths, plain};
use crate::log::report::present;
use serde_json::{Value, json};

use crate::cli::args::{ListArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::look::doctor::untold;
use crate::cli::look::rules::{FailureRule, HostRules, host_rules, rules_json, rules_of};
use crate::cli::look::unbound::SearchedPlaces;
use crate::cli::problems::tool_problems;
use crate::cli::streams;
use crate::decide::EventRequest;

pub(crate) fn list(args: &ListArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = args.hooks.source.choice(env, &args.hooks.dialect);
    let choice = Choice {
        trust: Some(TrustChoice::Told),
        ..choice
    };
    let dialect = hosts::find(&args.hooks.dialect);
    let request = args
        .event
        .as_deref()
        .map(|name| EventRequest::new(name, &args.hooks.dialect));
    let config = match &request {
        Some(request) => request.load(&choice, env),
        None => Config::load(&choice, env, ConfigScope::All).for_host(dialect),
    };
    if let Some(request) = &request {
        request.check(&config)?;
    }
    let paths = Paths::from(&env.cwd);
    streams::problems(&config.problems, &paths);
    let searched = SearchedPlaces {
        choice: &choice,
        env,
    };
    let unbound = searched.near_misses();
    streams::problems(
        config.hooks.iter().flat_map(tool_problems).chain(unbound),
        &paths,
    );
    let registry = Registry::loaded(config.hooks.clone(), config.catalog.clone());
    match args.format {
        TextFormat::Human => {
            if registry.hooks().is_empty() {
                nothing_found(&searched, &paths, out)?;
            }
            for spec in config
                .catalog
                .iter()
                .filter(|spec| registry.has(&spec.name))
            {
                bound_to(spec, dialect, &registry, &paths, out)?;
            }
            for line in untold(&config, env) {
                writeln!(out, "note: {line}")?;
            }
        }
        TextFormat::Json => {
            let json =
                |hook: &Arc<Hook>| hook_json(hook, &rules_of(hook, &config, dialect), &paths);
            let hooks: Vec<Value> = registry.hooks().iter().map(json).collect();
            writeln!(out, "{:#}", json!({ "version": 1, "hooks": hooks }))?;
        }
    }
    Ok(if config.has_errors() {
        ExitStatus::No
    } else {
        ExitStatus::Yes
    })
}

fn nothing_found(searched: &SearchedPlaces<'_>, paths: &Paths, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "No hooks found.")?;
    for place in searched.places() {
        writeln!(out, "  looked in {}", plain(&paths.show(&place)))?;
    }
    writeln!(
        out,
        "An executable file in hooks.d/EVENT/ is a hook; see hookrun-hook(5)."
    )?;
    Ok(())
}

/// The hooks of an event, once for each event of the host that is bound to it.
fn bound_to(
    spec: &EventSpec,
    dialect: Option<&'static Host>,
    registry: &Registry,
    paths: &Paths,
    out: &mut dyn Write,
) -> Result<()> {
    let bound = registry.bound(&spec.name);
    let mut rules = host_rules(dialect, spec);
    rules.dedup_by(|one, other| shown(&one.spec) == shown(&other.spec));
    if let (true, Some(dialect)) = (rules.is_empty(), dialect) {
        let host = dialect.name;
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {DIM}({host} has no such event){DIM:#}",
            spec.name
        )?;
        steps(&Plan::in_order(&bound, spec), spec, paths, out)?;
    }
    for rules in rules {
        let host_name = match dialect {
            Some(dialect) => format!("{} {}: ", dialect.name, rules.name),
            None => String::new(),
        };
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {} {DIM}({host_name}{}, {}){DIM:#}",
            spec.name,
            spec.summary,
            shown(&rules.spec).0,
            rules.spec.schedule.name()
        )?;
        steps(
            &Plan::in_order(&bound, &rules.spec),
            &rules.spec,
            paths,
            out,
        )?;
    }
    Ok(())
}

/// What `list` shows of an event's rules.
fn shown(spec: &EventSpec) -> (&'static str, Schedule) {
    let gate = match (spec.blocks, spec.on_failure) {
        (true, OnFailure::Block) => "can be blocked, a failing hook blocks",
        (true, OnFailure::Allow) => "can be blocked, a failing hook allows",
        (false, _) => "cannot be blocked",
    };
    (gate, spec.schedule)
}

fn steps(plan: &Plan, spec: &EventSpec, paths: &Paths, out: &mut dyn Write) -> Result<()> {
    let widest = plan
        .hooks()
        .map(|planned| plain(&planned.hook.name).chars().count())
        .max()
        .unwrap_or(0);
    for (number, step) in (1..).zip(&plan.steps) {
        for planned in &step.hooks {
            let hook = &planned.hook;
            let place = plain(&paths.show_line(&hook.source.file, hook.source.line));
            let width = widest.min(40);
            write!(
                out,
                "  {number:>2}  {:<width$}  {}",
                plain(&hook.name),
                plain(&hook.matcher.to_string())
            )?;
            if hook.priority != DEFAULT_PRIORITY {
                write!(out, "  (priority {})", hook.priority)?;
            }
            let failure = FailureRule::of(hook, spec).on_failure;
            if spec.blocks && failure != spec.on_failure {
                write!(out, "  (its failure {}s)", failure.name())?;
            }
            let idle = hook
                .idle_reason()
                .map(|why| format!("  (idle: {})", plain(why)));
            let why = if hook.enabled {
                idle
            } else {
                Some("  (disabled: enabled = false)".into())
            };
            writeln!(out, "{}", why.unwrap_or_default())?;
            writeln!(
                out,
                "      {DIM}{place} ({}){DIM:#}",
                hook.source.layer_text()
            )?;
        }
    }
    writeln!(out)?;
    Ok(())
}

pub(crate) fn hook_json(hook: &Hook, rules: &[HostRules], paths: &Paths) -> Value {
    let rules: Vec<Value> = rules.iter().map(|rules| rules_json(hook, rules)).collect();
    let said = |key: &str| {
        hook.handler
            .rule()
            .filter(|(own, _)| *own == key)
            .map(|(_, text)| text)
    };
    present(json!({
        "name": hook.name,
        "event": hook.event,
        "layer": hook.source.layer.name(),
        "set": hook.source.set,
        "file": paths.show(&hook.source.file),
        "line": hook.source.line,
        "wants": hook.matcher.to_string(),
        "deny": said("deny"),
        "ask": said("ask"),
        "priority": hook.priority,
        "parallel": hook.parallel,
        "rules": rules,
        "background": hook.background.name(),
        "lives": hook.lives.name(),
        "warm": hook.warm.unwrap_or(Warm::Off).name(),
        "limits": limits_json(&hook.limits),
        "sandbox": hook.sandbox.as_ref().map(sandbox_json),
        "containment": hook.containment.name(),
        "rewrite": hook.rewrite,
        "reads": if hook.reads_stdin { "stdin" } else { "environment" },
        "dialect": hook.dialect_name(),
        "enabled": hook.enabled,
        "idle": hook.idle_reason(),
        "description": hook.description,
    }))
}

fn limits_json(limits: &Limits) -> Value {
    let all = [
        ("memoryBytes", limits.memory_bytes),
        (
            "cpuMs",
            limits
                .cpu
                .map(|cpu| u64::try_from(cpu.as_millis()).unwrap_or(u64::MAX)),
        ),
        ("files", limits.files),
        ("outputBytes", limits.output_bytes),
    ];
    let set = all
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), json!(value?))));
    Value::Object(set.collect())
}

fn sandbox_json(sandbox: &Sandbox) -> Value {
    json!({
        "read": sandbox.read,
        "write": sandbox.write,
        "network": sandbox.network,
        "required": sandbox.required,
    })
}
