//! `hookrun list`: what is configured, from which file, in what order, and what will not run.

use std::io::Write;

use anstyle::Style;
use hookrun::config::{Config, Environment, Scope};
use hookrun::dialect;
use hookrun::event::EventSpec;
use hookrun::hook::{Hook, Limits, Sandbox};
use hookrun::plan::Plan;
use hookrun::registry::Registry;
use hookrun::report::{Paths, plain, problems};
use serde_json::{Value, json};

use crate::args::{ListArgs, TextFormat};
use crate::asked::Asked;
use crate::exit::{Exit, Result};
use crate::run::choice;
use crate::streams;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Lists hooks in the order in which they run.
pub(crate) fn list(args: &ListArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = choice(&args.source, env, &args.dialect);
    let asked = args.event.as_deref().map(|name| Asked::new(name, &args.dialect));
    let config = match &asked {
        Some(asked) => asked.load(&choice, env),
        None => Config::load(&choice, env, Scope::All).for_host(dialect::find(&args.dialect)),
    };
    if let Some(asked) = &asked {
        asked.check(&config)?;
    }
    let paths = Paths::from(&env.cwd);
    for problem in &config.problems {
        streams::stderr(&format!("{}\n", problems::problem_text(problem, &paths)));
    }
    let registry = Registry::loaded(config.hooks.clone(), config.catalog.clone());
    match args.format {
        TextFormat::Human => human(&config, &registry, &paths, out)?,
        TextFormat::Json => {
            let hooks: Vec<Value> =
                registry.hooks().iter().map(|hook| hook_json(hook, &paths)).collect();
            writeln!(out, "{:#}", json!({ "version": 1, "hooks": hooks }))?;
        }
    }
    Ok(if config.has_errors() { Exit::No } else { Exit::Yes })
}

fn human(config: &Config, registry: &Registry, paths: &Paths, out: &mut dyn Write) -> Result<()> {
    if registry.hooks().is_empty() {
        writeln!(out, "No hooks found.")?;
        for layer in &config.layers {
            writeln!(
                out,
                "  looked into {} ({} layer)",
                paths.show(&layer.folder),
                layer.kind.name()
            )?;
        }
        writeln!(
            out,
            "An executable file in hooks.d/EVENT/ is a hook; `hookrun man hookrun-hook` tells more."
        )?;
    }
    for spec in config.catalog.iter().filter(|spec| registry.has(&spec.name)) {
        event(spec, registry, paths, out)?;
    }
    Ok(())
}

fn event(spec: &EventSpec, registry: &Registry, paths: &Paths, out: &mut dyn Write) -> Result<()> {
    let may = if spec.blocks { "can be refused" } else { "cannot be refused" };
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}  {} {DIM}({may}, {}){DIM:#}",
        spec.name,
        spec.summary,
        spec.schedule.name()
    )?;
    let plan = Plan::in_order(&registry.bound(&spec.name), spec);
    let widest =
        plan.hooks().map(|planned| plain(&planned.hook.name).chars().count()).max().unwrap_or(0);
    for (number, step) in (1..).zip(&plan.steps) {
        for planned in &step.hooks {
            let hook = &planned.hook;
            let line = hook.source.line.map(|line| format!(":{line}")).unwrap_or_default();
            let file = plain(&paths.show(&hook.source.file));
            let width = widest.min(40);
            write!(
                out,
                "  {number:>2}  {:<width$}  {DIM}{:>4}{DIM:#}  {}",
                plain(&hook.name),
                hook.priority,
                plain(&hook.matcher.to_string())
            )?;
            let idle = hook.idle.as_ref().map(|why| format!("  (idle: {})", plain(why)));
            let why =
                if hook.enabled { idle } else { Some("  (disabled: enabled = false)".into()) };
            writeln!(out, "{}", why.unwrap_or_default())?;
            writeln!(out, "      {DIM}{file}{line} ({} layer){DIM:#}", hook.source.layer.name())?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// A hook with all its settings, for programs.
pub(crate) fn hook_json(hook: &Hook, paths: &Paths) -> Value {
    json!({
        "name": hook.name,
        "event": hook.event,
        "layer": hook.source.layer.name(),
        "file": paths.show(&hook.source.file),
        "line": hook.source.line,
        "wants": hook.matcher.to_string(),
        "priority": hook.priority,
        "timeoutMs": u64::try_from(hook.usual_timeout().as_millis()).unwrap_or(u64::MAX),
        "parallel": hook.parallel,
        "onFailure": hook.on_failure.map(hookrun::event::OnFailure::name),
        "background": hook.background.name(),
        "limits": limits_json(&hook.limits),
        "sandbox": hook.sandbox.as_ref().map(sandbox_json),
        "containment": hook.containment.name(),
        "rewrite": hook.rewrite,
        "dialect": hook.dialect_name(),
        "enabled": hook.enabled,
        "idle": hook.idle,
        "description": hook.description,
    })
}

/// The limits that are set.
fn limits_json(limits: &Limits) -> Value {
    let all = [
        ("memoryBytes", limits.memory_bytes),
        ("cpuMs", limits.cpu.map(|cpu| u64::try_from(cpu.as_millis()).unwrap_or(u64::MAX))),
        ("files", limits.files),
        ("processes", limits.processes),
        ("outputBytes", limits.output_bytes),
    ];
    let set = all.into_iter().filter_map(|(name, value)| Some((name.to_string(), json!(value?))));
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
