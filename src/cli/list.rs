//! `hookrun list`: the configured hooks in order, with their files and problems, or one hook with
//! all its settings.
//!
//! A dialect may bind several of its events, with different rules, to one canonical event, so the
//! output names the host's event.

use std::io::Write;
use std::ops::Not;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::{Complaint, did_you_mean};
use crate::engine::event::catalog::Catalog;
use crate::engine::event::{EventSpec, OnFailure, Schedule};
use crate::engine::exec::command;
use crate::engine::hook::{
    Containment, DEFAULT_PRIORITY, Fixes, Handler, Hook, Reads, Sandbox, Sees, Warm,
};
use crate::engine::plan::Plan;
use crate::engine::registry::Registry;
use crate::hosts::{self, Binding, Host};
use crate::lab::report::style::{BOLD, DIM, members};
use crate::lab::report::{Paths, plain, write_json};
use crate::log::report::VERSION;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::{ListArgs, TextFormat};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::host::installed::missing_events;
use crate::cli::problems::{not_loaded, searched_places, tool_problems};
use crate::cli::streams;
use crate::decide::EventRequest;
use crate::decide::hooks::nearest_hook;

pub(crate) fn list(args: &ListArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = Choice {
        trust: Some(TrustChoice::Reported),
        ..args.hooks.source.choice(env, &args.hooks.dialect)
    };
    let dialect = hosts::find(&args.hooks.dialect);
    let config = match &args.event {
        Some(event) => {
            let request = EventRequest::new(event, &args.hooks.dialect);
            let config = request.load(&choice, env);
            request.check(&config)?;
            config
        }
        None => Config::load(&choice, env, ConfigScope::All),
    };
    let paths = Paths::from(&env.cwd);
    streams::problems(&config.problems, &paths);
    let registry = Registry::loaded(config.hooks.clone(), config.catalog.clone());
    let mut hooks = registry.hooks();
    if let Some(name) = &args.name {
        hooks = hooks_called(name, args.event.as_deref(), hooks, &config)?;
    } else {
        streams::problems(config.hooks.iter().flat_map(tool_problems), &paths);
        if args.format == TextFormat::Human {
            if hooks.is_empty() {
                writeln!(out, "No hooks found.")?;
                for place in searched_places(&choice, env) {
                    writeln!(out, "  looked in {}", plain(&paths.show(&place)))?;
                }
                let how = "An executable file in hooks.d/EVENT/ is a hook; see hookrun-hook(5).";
                writeln!(out, "{how}")?;
            }
            let specs = config.catalog.iter();
            for spec in specs.filter(|spec| registry.has(&spec.name)) {
                bound_to(spec, dialect, &config.catalog, &registry, &paths, out)?;
            }
            for line in missing_events(&config, env) {
                writeln!(out, "note: {line}")?;
            }
        }
    }
    let hooks: Vec<ListedHook> = hooks
        .iter()
        .map(|hook| ListedHook::of(hook, &config, dialect, env, &paths))
        .collect();
    if args.format == TextFormat::Json {
        let version = VERSION;
        write_json(&ListReport { version, hooks }, out)?;
    } else if args.name.is_some() {
        for hook in hooks {
            hook.human(out)?;
        }
    }
    let is_clean = !config.has_errors() || args.name.is_some();
    Ok(ExitStatus::yes_if(is_clean))
}

/// The hooks with this name among `hooks`, which are those of `event`, if it is given.
fn hooks_called(
    name: &str,
    event: Option<&str>,
    hooks: Vec<Arc<Hook>>,
    config: &Config,
) -> Result<Vec<Arc<Hook>>> {
    let mut called = hooks.clone();
    called.retain(|hook| hook.has_name(name));
    if !called.is_empty() {
        return Ok(called);
    }
    if let Some(complaint) = not_loaded(name, config) {
        return Err(complaint);
    }
    let names = hooks.iter().map(|hook| hook.name.as_str());
    let help = did_you_mean(nearest_hook(name, names), || {
        "`hookrun list` shows all hooks".to_string()
    });
    let cause = match event {
        Some(event) => format!("no hook for `{event}` is named `{name}`"),
        None => format!("no hook is named `{name}`"),
    };
    Err(Complaint::with_cure(cause, help))
}

/// Prints the hooks of an event, once for each of the host's events bound to it.
fn bound_to(
    spec: &EventSpec,
    dialect: Option<&'static Host>,
    catalog: &Catalog,
    registry: &Registry,
    paths: &Paths,
    out: &mut dyn Write,
) -> Result<()> {
    let bound = registry.bound(&spec.name);
    let event = &spec.name;
    let mut rules = host_rules(dialect, spec, catalog);
    rules.dedup_by_key(|(_, spec)| shown(spec));
    if let (true, Some(dialect)) = (rules.is_empty(), dialect) {
        let why = format!("({} has no such event)", dialect.name);
        writeln!(out, "{BOLD}{event}{BOLD:#}  {DIM}{why}{DIM:#}")?;
        steps(&Plan::in_order(&bound, spec), spec, paths, out)?;
    }
    for (name, spec) in rules {
        let host = dialect.map(|dialect| format!("{} {name}: ", dialect.name));
        let host = host.unwrap_or_default();
        let (gate, schedule) = shown(&spec);
        let about = format!("({host}{gate}; {})", schedule.name());
        let summary = &spec.summary;
        writeln!(out, "{BOLD}{event}{BOLD:#}  {summary} {DIM}{about}{DIM:#}")?;
        steps(&Plan::in_order(&bound, &spec), &spec, paths, out)?;
    }
    Ok(())
}

fn shown(spec: &EventSpec) -> (&'static str, Schedule) {
    let gate = match (spec.blocks, spec.on_failure) {
        (true, OnFailure::Block) => "can be blocked; a failing hook blocks it",
        (true, OnFailure::Allow) => "can be blocked; a failing hook does not block it",
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
        for planned in step {
            let hook = &planned.hook;
            let place = plain(&paths.show_line(&hook.source.file, hook.source.line));
            let layer = hook.source.layer_text();
            let name = plain(&hook.name);
            let matcher = plain(&hook.matcher.to_string());
            let width = widest.min(40);
            write!(out, "  {number:>2}  {name:<width$}  {matcher}")?;
            if hook.priority != DEFAULT_PRIORITY {
                write!(out, "  (priority {})", hook.priority)?;
            }
            let (failure, _) = failure_rule(hook, spec);
            if spec.blocks && failure != spec.on_failure {
                write!(out, "  (its failure {}s)", failure.name())?;
            }
            if !hook.enabled {
                write!(out, "  (disabled: enabled = false)")?;
            } else if let Some(why) = hook.idle_reason() {
                write!(out, "  (idle: {})", plain(why))?;
            }
            writeln!(out)?;
            writeln!(out, "      {DIM}{place} ({layer}){DIM:#}")?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// The name and rules of each event of a host that is bound to `spec`; without `dialect` the
/// catalog's.
fn host_rules(
    dialect: Option<&'static Host>,
    spec: &EventSpec,
    catalog: &Catalog,
) -> Vec<(String, EventSpec)> {
    let Some(dialect) = dialect else {
        return vec![(spec.name.to_string(), spec.clone())];
    };
    let rows = dialect.events.iter().filter(|row| row.event == spec.name);
    let settled = |row| catalog.settled(Binding { dialect, row }.spec());
    rows.map(|row| (row.full_name(), settled(row))).collect()
}

/// The effect of a hook's failure, and the source of that rule.
fn failure_rule(hook: &Hook, spec: &EventSpec) -> (OnFailure, &'static str) {
    if !spec.blocks {
        return (OnFailure::Allow, "event");
    }
    let from = match (hook.on_failure, &hook.convention) {
        (Some(_), _) => "hook",
        (None, Some(_)) => "dialect",
        (None, None) => "event",
    };
    (hook.on_failure(spec), from)
}

/// The JSON output of `list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListReport {
    version: u32,
    hooks: Vec<ListedHook>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedHook {
    name: String,
    event: String,
    /// `system`, `user`, `project` or `explicit`.
    layer: &'static str,
    /// The shared set that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<String>,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The command, for people.
    runs: String,
    /// The program to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// Why it cannot start.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The matcher, for people.
    wants: String,
    /// A rule's reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<String>,
    /// A rule's question.
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<String>,
    /// Lower runs earlier.
    priority: i64,
    /// Whether it may run in parallel with its neighbours.
    parallel: bool,
    rules: Vec<ListedRules>,
    /// How its leftover processes are handled: `kill` or `detach`.
    background: &'static str,
    /// The lifetime of its process: `event` or `session`.
    lives: &'static str,
    /// How its process starts: `off`, `fork` or `serve`.
    warm: &'static str,
    limits: ListedLimits,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<Sandbox>,
    /// `pidns`: it runs in a separate process namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    containment: Option<&'static str>,
    /// It may rewrite fields.
    rewrite: bool,
    /// The source of the event, if set: `environment`, `stdin` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<&'static str>,
    /// It gets the event's files as arguments.
    #[serde(skip_serializing_if = "Not::not")]
    files: bool,
    /// The most files in one call, if limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<usize>,
    /// The text of its files before a commit: `staged` or `disk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sees: Option<&'static str>,
    /// How its changes of files are handled: `stage` or `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<&'static str>,
    /// Ignored folders to link next to the staged files.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<Vec<PathBuf>>,
    /// Its working directory, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// The convention of the hook.
    dialect: String,
    enabled: bool,
    /// Why it never runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// The event's rules in a host.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedRules {
    /// The host's name for the event.
    event: String,
    /// The hook can block it.
    blocks: bool,
    /// The effect of a failure: `allow` or `block`.
    on_failure: &'static str,
    /// The source of `onFailure`: `event`, `hook` or `dialect`.
    on_failure_from: &'static str,
    timeout_ms: u64,
    /// How hooks of the event run: `sequential`, `grouped`, `parallel` or `detached`.
    schedule: &'static str,
    /// When a block stops further hooks: `first`, `group` or `never`.
    stop: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ms: Option<u64>,
    /// Open files of each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bytes: Option<u64>,
}

impl ListedHook {
    fn of(
        hook: &Hook,
        config: &Config,
        dialect: Option<&'static Host>,
        env: &Environment,
        paths: &Paths,
    ) -> ListedHook {
        let runs = match &hook.handler {
            Handler::File(file) => paths.show(file),
            Handler::Words { words, .. } => shell_words::join(words),
            Handler::Shell(line) => format!("sh -c {}", shell_words::quote(line)),
            Handler::Function(_) => "a function".to_string(),
            Handler::Rule(_) => "none: it is a rule".to_string(),
        };
        let (program, problem) = match command::resolve(&hook.handler, env.search.as_deref()) {
            _ if hook.is_rule() => (None, None),
            Ok(program) => (Some(program.path.display().to_string()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut deny = None;
        let mut ask = None;
        match hook.handler.rule() {
            Some(("deny", text)) => deny = Some(text.to_string()),
            Some((_, text)) => ask = Some(text.to_string()),
            None => {}
        }
        let mut rules = Vec::new();
        let mut is_grouped = false;
        if let Ok(spec) = config.catalog.find(&hook.event) {
            let of_host = host_rules(dialect, &spec, &config.catalog).into_iter();
            rules = of_host
                .map(|(event, spec)| ListedRules::of(hook, event, &spec))
                .collect();
            is_grouped = spec.schedule == Schedule::Grouped;
        }
        ListedHook {
            name: hook.name.clone(),
            event: hook.event.clone(),
            layer: hook.source.layer.name(),
            set: hook.source.set.clone(),
            file: paths.show(&hook.source.file),
            line: hook.source.line,
            runs,
            program,
            problem,
            wants: hook.matcher.to_string(),
            deny,
            ask,
            priority: hook.priority,
            parallel: hook.parallel.unwrap_or(is_grouped),
            rules,
            background: hook.background.name(),
            lives: hook.lives.name(),
            warm: hook.warm.unwrap_or(Warm::Off).name(),
            limits: ListedLimits {
                memory_bytes: hook.limits.memory_bytes,
                cpu_ms: hook.limits.cpu.map(milliseconds),
                files: hook.limits.files,
                output_bytes: hook.limits.output_bytes,
            },
            sandbox: hook.sandbox.clone(),
            containment: (hook.containment != Containment::Auto).then(|| hook.containment.name()),
            rewrite: hook.rewrite,
            reads: hook.reads.map(Reads::name),
            files: hook.takes_files(),
            batch: (hook.batch > 0).then_some(hook.batch),
            sees: hook.sees.map(Sees::name),
            fixes: hook.fixes.map(Fixes::name),
            link: hook.link.clone(),
            cwd: hook.folder.as_ref().map(|folder| paths.show(folder)),
            dialect: hook.dialect_name().to_string(),
            enabled: hook.enabled,
            idle: hook.idle_reason().map(str::to_string),
            description: hook.description.clone(),
        }
    }

    fn human(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{BOLD}{}{BOLD:#}", plain(&self.name))?;
        let mut report = serde_json::to_value(self).unwrap_or_default();
        report["name"].take();
        members(out, &report)?;
        writeln!(out)?;
        Ok(())
    }
}

impl ListedRules {
    fn of(hook: &Hook, event: String, spec: &EventSpec) -> ListedRules {
        let (on_failure, on_failure_from) = failure_rule(hook, spec);
        ListedRules {
            event,
            blocks: spec.blocks,
            on_failure: on_failure.name(),
            on_failure_from,
            timeout_ms: milliseconds(hook.timeout(spec)),
            schedule: spec.schedule.name(),
            stop: spec.conduct.stop.name(),
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
