//! `hookrun init`: guards with their cases, and the hosts that will ask them, in one go.

use std::io::Write;
use std::path::PathBuf;

use crate::config::discover::DROP_INS;
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::Event;
use crate::hosts::ToolSort;
use crate::lab::report::style::{BOLD, DIM};
use crate::lab::report::{Paths, plain};
use clap::Args;
use serde_json::json;

use super::add::{find, is_here, plan_of, shipped::ShippedHook};
use super::files::{WritePlan, hooks_folder};
use super::import::in_project;
use super::test::test;
use crate::cli::args::{InitArgs, SettingsScope};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::host::install::install;
use crate::cli::host::install::program;
use crate::cli::look::doctor::doctor;
use crate::cli::look::validate::validate;
use crate::cli::terminal::Terminal;
use crate::hosts::{Host, find_installable, installable};

/// What a project begins with: commands that destroy, files that are not the agent's to change, files
/// with secrets, secrets in what the model reads, and the hooks themselves.
const GUARDS: &[&str] = &[
    "guard-destructive",
    "protect-paths",
    "no-secret-files",
    "redact-secrets",
    "guard-hookrun",
];

/// The word for no guard.
const NONE: &str = "none";

/// A command that shows guards at work, and the guards that block it, in every host.
const BLOCKED: &str = "git push --force";
const BLOCKING: &[&str] = &["guard-destructive", "no-force-push"];

/// Everything that will be written, and why.
struct InitPlan {
    scope: SettingsScope,
    hosts: Vec<&'static Host>,
    guards: Vec<ShippedHook>,
    files: WritePlan,
}

/// Lists what it will write, asks, writes, and checks: 0 all is well, 1 a check failed or the
/// person said no, 2 could not.
pub(crate) fn init(args: &InitArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let paths = Paths::from(&env.cwd);
    let plan = InitPlan::of(args, env)?;
    plan.tell(env, &paths, out)?;
    out.flush()?;
    if args.dry_run {
        return Ok(ExitStatus::Yes);
    }
    if !args.yes {
        let Some(person) = Terminal::open(env) else {
            let cause = "there is no terminal to ask at, so nothing was written";
            return Err(Complaint::with_cure(
                cause,
                "`hookrun init --yes` writes all of this",
            ));
        };
        if !person.agrees("write all of this?") {
            return Ok(ExitStatus::No);
        }
    }
    plan.files.write(env, out)?;
    for host in &plan.hosts {
        let words = [host.name, "--scope", plan.scope.name()];
        install(&arguments(&words)?, env, out)?;
    }
    let exit = plan.check(env, out)?;
    if plan
        .guards
        .iter()
        .any(|guard| BLOCKING.contains(&guard.name.as_str()))
    {
        writeln!(out, "{BOLD}see it work{BOLD:#}\n  {}", plan.proof(env)?)?;
    }
    Ok(exit)
}

/// The arguments of another command, as a person would type them.
fn arguments<A: Args>(words: &[&str]) -> Result<A> {
    let line = A::augment_args(clap::Command::default()).no_binary_name(true);
    let matches = line.try_get_matches_from(words).map_err(Complaint::of)?;
    A::from_arg_matches(&matches).map_err(Complaint::of)
}

impl InitPlan {
    fn of(args: &InitArgs, env: &Environment) -> Result<InitPlan> {
        let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
        let scope = if args.user {
            SettingsScope::User
        } else {
            SettingsScope::Project
        };
        let of_user = || {
            let own = env
                .config_home
                .as_ref()
                .map(|home| home.join("hookrun").join(DROP_INS));
            own.ok_or_else(|| Complaint::with_cure(env.why_no_home(), "set HOME to it"))
        };
        let hooks = if args.user {
            of_user()?
        } else {
            hooks_folder(None, &config, env)?
        };
        let hosts: Vec<&'static Host> = match args.host.as_slice() {
            [] => installable()
                .filter(|host| host.is_installed(env))
                .collect(),
            names => names
                .iter()
                .filter_map(|name| find_installable(name))
                .collect(),
        };
        let is_of_scope = |host: &&Host| args.user || !host.install.project.is_empty();
        let hosts: Vec<&'static Host> = Vec::into_iter(hosts).filter(is_of_scope).collect();
        let names: Vec<&str> = match args.guard.as_slice() {
            [] => GUARDS.to_vec(),
            [none] if none == NONE => Vec::new(),
            names => names.iter().map(String::as_str).collect(),
        };
        let guards = names
            .iter()
            .map(|name| find(name))
            .collect::<Result<Vec<_>>>()?;
        let new = guards.iter().filter(|guard| !is_here(guard, &hooks));
        let new: Vec<String> = new.map(|guard| guard.name.clone()).collect();
        let files = plan_of(&new, &config, &hooks)?;
        Ok(InitPlan {
            scope,
            hosts,
            guards,
            files,
        })
    }

    /// Where each host will ask hookrun.
    fn settings(&self, env: &Environment) -> Vec<(&'static Host, PathBuf)> {
        let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
        let path = |host: &&'static Host| {
            Some((*host, host.path(self.scope, config.nearest_folder(), env)?))
        };
        self.hosts.iter().filter_map(path).collect()
    }

    /// Lists every file that will be written, and what is there already.
    fn tell(&self, env: &Environment, paths: &Paths, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{BOLD}guards{BOLD:#}")?;
        for guard in &self.guards {
            let here = is_here(guard, &self.files.hooks);
            let here = if here { "is here already: " } else { "" };
            writeln!(
                out,
                "  {:<18} {DIM}{here}{}{DIM:#}",
                guard.name, guard.about
            )?;
        }
        writeln!(out, "{BOLD}will be written{BOLD:#}")?;
        for change in &self.files.changes {
            writeln!(out, "  {}", plain(&paths.show(&change.path)))?;
        }
        for (host, path) in self.settings(env) {
            let wants = |event: &str| {
                self.guards
                    .iter()
                    .any(|it| it.events.iter().any(|e| e == event))
            };
            let rows = host.rows().into_iter().filter(|row| wants(row.event));
            let names: Vec<&str> = rows.map(|row| row.name).collect();
            let names = if self.scope == SettingsScope::User {
                "all events".into()
            } else {
                names.join(", ")
            };
            writeln!(
                out,
                "  {}  {DIM}{}: {names}{DIM:#}",
                plain(&paths.show(&path)),
                host.title
            )?;
        }
        let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
        for (tool, files) in in_project(&config, env) {
            let files: Vec<String> = files.iter().map(|file| plain(&paths.show(file))).collect();
            let (name, files) = (tool.name, files.join(", "));
            writeln!(
                out,
                "{files} has hooks: `hookrun import {name}` carries them over"
            )?;
        }
        if self.hosts.is_empty() {
            writeln!(
                out,
                "no host is installed here; `hookrun install HOST` for one that comes later"
            )?;
        }
        Ok(())
    }

    /// Validates the hooks, plays the cases of the guards, and shows what `doctor` finds.
    fn check(&self, env: &Environment, out: &mut dyn Write) -> Result {
        let mut exits = vec![validate(&arguments(&[])?, env, out)?];
        let files = self.guards.iter().flat_map(|guard| &guard.files);
        let suites = files.filter(|file| file.is_suite());
        let suites = suites.map(|file| self.files.hooks.join(&file.path).display().to_string());
        let suites: Vec<String> = suites.collect();
        if !suites.is_empty() {
            let words: Vec<&str> = ["--suite"]
                .into_iter()
                .chain(suites.iter().map(String::as_str))
                .collect();
            exits.push(test(&arguments(&words)?, env, out)?);
        }
        // A host may wait for its person, who has to accept what was installed.
        doctor(&arguments(&[])?, env, out)?;
        let failed = exits.into_iter().find(|exit| *exit != ExitStatus::Yes);
        Ok(failed.unwrap_or(ExitStatus::Yes))
    }

    /// A command that is blocked, as the first host asks: by the command line that it has now.
    fn proof(&self, env: &Environment) -> Result<String> {
        let program = program::path(env)?;
        let input = json!({ "command": BLOCKED });
        for host in &self.hosts {
            let dialect = host.asking_dialect();
            let shell = dialect.and_then(|dialect| dialect.tools.of(ToolSort::Shell));
            let mut rows = dialect
                .map(|it| it.called("tool.pre"))
                .unwrap_or_default()
                .into_iter();
            let binding = rows.find(|binding| host.row(binding.row.name).is_some());
            let (Some(shell), Some(binding)) = (shell, binding) else {
                continue;
            };
            let event = Event::tool_pre(shell.name, input.clone())
                .session("s-1")
                .build();
            let payload = binding.encode(&event.map_err(Complaint::of)?).to_json();
            let payload = String::from_utf8_lossy(&payload).into_owned();
            let command = program::command_line(&program, host);
            let names_event = host
                .settings_file()
                .is_some_and(|settings| settings.names_event);
            let event = if names_event {
                format!(" {}", binding.row.name)
            } else {
                String::new()
            };
            return Ok(format!(
                "echo {} | {command}{event}",
                shell_words::quote(&payload)
            ));
        }
        let payload = json!({ "toolName": "bash", "toolInput": input }).to_string();
        let program = shell_words::quote(&program);
        Ok(format!(
            "echo {} | {program} run tool.pre",
            shell_words::quote(&payload)
        ))
    }
}
