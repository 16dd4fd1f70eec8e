//! `hookrun init`: adds starter guards with tests, and installs hookrun into the hosts found.

use std::io::Write;
use std::path::Path;

use crate::config::discover::{DROP_INS, SUITES};
use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::names::words;
use crate::lab::report::style::{BOLD, DIM};
use crate::lab::report::{Paths, plain};
use clap::Args;
use serde_json::json;

use super::add::{ShippedHook, find, is_here, plan_of, subject};
use super::files::{Becomes, WritePlan, project_folder};
use super::test::test;
use crate::cli::args::{InitArgs, SettingsScope};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::host::command::own_path;
use crate::cli::host::install;
use crate::cli::terminal::Terminal;
use crate::cli::validate::validate;
use crate::hosts::{Host, find_installable, installable};

/// The starter guards: against destruction, leaks, and changes of protected files and hooks.
const GUARDS: &[&str] = words!(
    "guard-destructive" "ask-first" "no-deletion-outside" "protect-paths" "no-secret-files"
    "redact-secrets" "guard-hookrun"
);

/// Cases of each guard to run: all of them take long, because many start Python.
const FIRST_CASES: usize = 8;

const NONE: &str = "none";

/// A command to demonstrate the guards, and the guards that block it.
const BLOCKED: &str = "git push --force";
const BLOCKING: &[&str] = &["guard-destructive", "no-force-push"];

struct InitPlan {
    scope: SettingsScope,
    hosts: Vec<&'static Host>,
    guards: Vec<ShippedHook>,
    files: WritePlan,
}

/// Lists the files, asks, writes, checks: 0 done, 1 a check failed or declined, 2 error.
pub(crate) fn init(args: &InitArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let paths = Paths::from(&env.cwd);
    let plan = InitPlan::of(args, env)?;
    plan.tell(env, &paths, out)?;
    out.flush()?;
    if args.dry_run {
        return Ok(ExitStatus::Yes);
    }
    if !args.yes {
        let Some(person) = Terminal::open() else {
            let cure = "add `--yes` to write all files without asking";
            let cause = "no terminal, so nothing was written";
            return Err(Complaint::with_cure(cause, cure));
        };
        if !person.agrees("write all files?") {
            return Ok(ExitStatus::No);
        }
    }
    plan.files.write(env, out)?;
    for host in &plan.hosts {
        let words = [host.name, "--scope", plan.scope.name()];
        install(&arguments(&words)?, env, crate::cli::sets::verify, out)?;
    }
    let exit = plan.check(env, out)?;
    let mut guards = plan.guards.iter();
    if guards.any(|guard| BLOCKING.contains(&guard.name.as_str())) {
        let context = json!({ "toolName": "bash", "toolInput": { "command": BLOCKED } });
        let context = context.to_string();
        let context = shell_words::quote(&context);
        let program = own_path(env)?;
        let program = shell_words::quote(&program);
        let line = format!("echo {context} | {program} run tool.pre");
        writeln!(out, "{BOLD}try it{BOLD:#}\n  {line}")?;
    }
    Ok(exit)
}

/// Drops links in event folders that none of these hosts has, and test cases only for them.
fn drop_unused_links(files: &mut WritePlan, hosts: &[&'static Host]) {
    let mut unused = Vec::new();
    files.changes.retain(|change| {
        let folder = change.path.parent().and_then(Path::file_name);
        let is_used = hosts
            .iter()
            .flat_map(|host| host.rows())
            .any(|row| folder.is_some_and(|folder| folder == row.event));
        let is_kept = is_used || !matches!(change.becomes, Becomes::Link(_));
        if !is_kept {
            unused.push(subject(&change.path));
        }
        is_kept
    });
    for name in unused {
        let cases = files.hooks.join(SUITES).join(format!("{name}.toml"));
        let has_hook = files
            .changes
            .iter()
            .any(|change| change.path != cases && subject(&change.path) == name);
        if !has_hook {
            files.changes.retain(|change| change.path != cases);
        }
    }
}

fn arguments<A: Args>(words: &[&str]) -> Result<A> {
    let line = A::augment_args(clap::Command::default()).no_binary_name(true);
    let matches = line.try_get_matches_from(words).map_err(Complaint::of)?;
    A::from_arg_matches(&matches).map_err(Complaint::of)
}

impl InitPlan {
    fn of(args: &InitArgs, env: &Environment) -> Result<InitPlan> {
        let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
        let (scope, hooks) = if args.user {
            let Some(home) = &env.config_home else {
                return Err(Complaint::with_cure(env.why_no_home(), "set HOME"));
            };
            (SettingsScope::User, home.join("hookrun").join(DROP_INS))
        } else {
            (SettingsScope::Project, project_folder(&config))
        };
        let mut hosts: Vec<&'static Host> = if args.host.is_empty() {
            installable()
                .filter(|host| host.is_installed(env))
                .collect()
        } else {
            args.host
                .iter()
                .filter_map(|name| find_installable(name))
                .collect()
        };
        let of_user = hosts.iter().find(|host| host.install.project.is_empty());
        if let Some(host) = of_user
            && !args.user
            && !args.host.is_empty()
        {
            let cause = format!("{} has no project settings", host.title);
            let cure = format!("run `hookrun init --user --host {}`", host.name);
            return Err(Complaint::with_cure(cause, cure));
        }
        hosts.retain(|host| args.user || !host.install.project.is_empty());
        let names: Vec<&str> = match args.guard.as_slice() {
            [] => GUARDS.to_vec(),
            [none] if none == NONE => Vec::new(),
            names => names.iter().map(String::as_str).collect(),
        };
        let mut guards = Vec::new();
        let mut new = Vec::new();
        for name in names {
            let guard = find(name)?;
            if !is_here(&guard, &hooks) {
                new.push(guard.name.clone());
            }
            guards.push(guard);
        }
        let mut files = plan_of(&new, &config, &hooks)?;
        if !hosts.is_empty() {
            drop_unused_links(&mut files, &hosts);
        }
        Ok(InitPlan {
            scope,
            hosts,
            guards,
            files,
        })
    }

    /// Lists every file to write, and existing ones.
    fn tell(&self, env: &Environment, paths: &Paths, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{BOLD}guards{BOLD:#}")?;
        for guard in &self.guards {
            let here = if is_here(guard, &self.files.hooks) {
                "already exists: "
            } else {
                ""
            };
            let ShippedHook { name, about, .. } = guard;
            writeln!(out, "  {name:<18} {DIM}{here}{about}{DIM:#}")?;
        }
        writeln!(out, "{BOLD}will be written{BOLD:#}")?;
        for change in &self.files.changes {
            writeln!(out, "  {}", plain(&paths.show(&change.path)))?;
        }
        let config = Config::load(&Choice::default(), env, ConfigScope::Event(""));
        for host in &self.hosts {
            if let Some(path) = host.path(self.scope, config.nearest_folder(), env) {
                let shown = plain(&paths.show(&path));
                writeln!(out, "  {shown}  {DIM}{}{DIM:#}", host.title)?;
            }
        }
        if self.hosts.is_empty() {
            let later = "to install into one later, run `hookrun install HOST`";
            writeln!(out, "no agent to install into; {later}")?;
        }
        Ok(())
    }

    fn check(&self, env: &Environment, out: &mut dyn Write) -> Result {
        let validated = validate(&arguments(&[])?, env, out)?;
        let mut words = vec![format!("--first={FIRST_CASES}"), "--suite".to_string()];
        for file in self.guards.iter().flat_map(|guard| &guard.files) {
            let path = self.files.hooks.join(&file.path);
            let is_suite = file.path.starts_with(SUITES)
                && file.path.extension().is_some_and(|it| it == "toml");
            if is_suite && path.exists() {
                words.push(path.display().to_string());
            }
        }
        if words.len() > 2 {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let tested = test(&arguments(&words)?, env, out)?;
            if validated == ExitStatus::Yes {
                return Ok(tested);
            }
        }
        Ok(validated)
    }
}
