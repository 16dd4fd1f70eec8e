//! `hookrun doctor`: whether hosts really reach hookrun, and hooks really their events.

mod evidence;
mod git;
mod look;
mod never;
mod own;
mod programs;
mod switches;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::{Choice, Config, ConfigScope, Environment, Position, Problem, Severity};
use crate::dialects;
use crate::lab::audit::DecisionLog;
use crate::lab::report::CheckFormat;
use crate::lab::report::problems::CheckedFile;

use crate::cli::args::{DoctorArgs, SettingsScope};
use crate::cli::decide::printed::paths;
use crate::cli::decide::unbound::SearchedPlaces;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::host::install::hosts::{self, HOSTS, HostEventRow, InstallHost};
use crate::cli::host::install::path_of;
use crate::cli::host::install::wanted::{HooksByEvent, quoted};
use crate::cli::look::validate::problems_of;
use evidence::Evidence;
use look::Installed;

/// Checks hosts and hooks: 0 in order, 1 not, 2 could not.
pub(crate) fn doctor(args: &DoctorArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&Choice::default(), env, ConfigScope::All);
    let mut findings = Findings::default();
    about_hooks(&config, env, &mut findings);
    for problem in (SearchedPlaces { choice: &Choice::default(), env }).problems(&config) {
        findings.put(problem);
    }
    about_log(env, &mut findings);
    let wanted = HooksByEvent::by(&config);
    let evidence = Evidence::of(&config.project, env);
    let mut lines = Vec::new();
    for host in HOSTS.iter().filter(|host| args.host.as_deref().is_none_or(|one| one == host.name))
    {
        let installed = look_into(host, &config, env, &mut findings);
        lines.push(summary(host, &installed));
        if installed.is_empty() {
            if args.host.is_some() && !findings.has_error() {
                let file = config.nearest_folder().join(host.project);
                let cause = format!("{} does not ask hookrun", host.title);
                findings.add(&file, error(cause, format!("`hookrun install {}`", host.name)));
            }
            continue;
        }
        about_events(host, &installed, &wanted, &mut findings);
        switches::look(host, &installed, &config, env, &mut findings);
        let (file, recorded) = (&installed[0].path, dialects::find(host.name).map(|it| it.name));
        findings.add(file, evidence.about(recorded, host.title, file));
        about_doubles(host, &installed, &config, env, &mut findings);
    }
    let is_git_named = args.host.as_deref() == Some(dialects::git::NAME);
    if is_git_named || args.host.is_none() {
        lines.extend(git::look(&config, env, is_git_named, &evidence, &mut findings)?);
    }
    let paths = paths(args.format.name(), env);
    if args.format == CheckFormat::Human {
        for line in lines {
            writeln!(out, "{line}")?;
        }
    }
    let checks: Vec<CheckedFile> = findings.checks.into_values().collect();
    args.format.write(checks.as_slice(), &paths, out)?;
    Ok(if checks.iter().all(CheckedFile::passes) { ExitStatus::Yes } else { ExitStatus::No })
}

/// What was found, file by file.
#[derive(Debug, Default)]
struct Findings {
    checks: BTreeMap<PathBuf, CheckedFile>,
}

/// A problem without its file.
#[derive(Debug)]
struct DoctorFinding {
    severity: Severity,
    cause: String,
    cure: Option<String>,
}

impl DoctorFinding {
    fn in_file(self, file: &Path, at: Option<Position>) -> Problem {
        let DoctorFinding { severity, cause, cure } = self;
        let file = file.to_path_buf();
        Problem { severity, file, at, cause, cure, events: Vec::new() }
    }
}

fn error(cause: impl Into<String>, cure: impl Into<String>) -> DoctorFinding {
    DoctorFinding { severity: Severity::Error, cause: cause.into(), cure: Some(cure.into()) }
}

fn warning(cause: impl Into<String>, cure: impl Into<String>) -> DoctorFinding {
    DoctorFinding { severity: Severity::Warning, cause: cause.into(), cure: Some(cure.into()) }
}

impl Findings {
    fn check(&mut self, file: &Path) -> &mut CheckedFile {
        let empty = || CheckedFile::new(file.to_path_buf());
        self.checks.entry(file.to_path_buf()).or_insert_with(empty)
    }

    fn add(&mut self, file: &Path, finding: DoctorFinding) {
        self.put(finding.in_file(file, None));
    }

    fn put(&mut self, problem: Problem) {
        let problems = &mut self.check(&problem.file).problems;
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    fn has_error(&self) -> bool {
        self.checks.values().any(|check| !check.passes())
    }
}

/// Hooks that cannot be read or started, that never run, and that match nothing.
fn about_hooks(config: &Config, env: &Environment, findings: &mut Findings) {
    for hook in &config.hooks {
        findings.check(&hook.source.file).hooks += 1;
        if let Some(why) = hook.idle.as_ref().filter(|_| hook.enabled) {
            let cause = format!("`{}` never runs: {why}", hook.name);
            findings.add(&hook.source.file, warning(cause, "rename or remove one of them"));
        }
        for problem in problems_of(hook, env) {
            findings.put(problem);
        }
    }
    for problem in &config.problems {
        findings.put(problem.clone());
    }
}

/// A decision log that cannot be written: nobody else would say so, since no decision waits for it.
fn about_log(env: &Environment, findings: &mut Findings) {
    let Some(folder) = env.decision_log() else { return };
    if let Err(error) = DecisionLog::in_folder(folder).check() {
        let cause = format!("decisions are not kept: {}", error.problem);
        let cure = "make room there, or make it a folder that is yours alone (`chmod 700`), or set \
                    HOOKRUN_DECISIONS to another, or to `off`";
        findings.add(&error.file, warning(cause, cure));
    }
}

/// Where hookrun is installed into a host; what is wrong there is found on the way.
fn look_into(
    host: &'static InstallHost,
    config: &Config,
    env: &Environment,
    findings: &mut Findings,
) -> Vec<Installed> {
    let mut all = Vec::new();
    for (installed, found) in files_of(host, config, env) {
        for problem in found {
            findings.put(problem);
        }
        let Some(installed) = installed else { continue };
        findings.check(&installed.path);
        for program in &installed.programs {
            let search = installed.search.as_deref();
            let project = config.project.as_path();
            let problem = programs::problem_of(program, host, search, project, env);
            if let Some(problem) = problem {
                findings.add(&installed.path, problem);
            }
        }
        all.push(installed);
    }
    all
}

/// What each file of a host says about hookrun, and what is wrong with it.
fn files_of(
    host: &'static InstallHost,
    config: &Config,
    env: &Environment,
) -> Vec<(Option<Installed>, Vec<Problem>)> {
    let mut all = Vec::new();
    for scope in SettingsScope::ALL {
        let Some(path) = path_of(host, scope, config.nearest_folder(), env) else { continue };
        all.push(look::into(host, scope, &path, env));
        all.extend(look::beside(host, scope, &path, env));
    }
    all
}

/// Events that a hook wants and a host does not tell, though hookrun is installed into it: for
/// those who have just written such a hook.
pub(crate) fn untold(config: &Config, env: &Environment) -> Vec<String> {
    let wanted = HooksByEvent::by(config);
    let mut lines = Vec::new();
    for host in HOSTS {
        let files = files_of(host, config, env).into_iter();
        let installed: Vec<Installed> = files.filter_map(|(installed, _)| installed).collect();
        let Some(scope) = installed.first().map(|first| first.scope) else { continue };
        let missing = wanted.rows(host, false).into_iter();
        let missing = missing.filter(|row| !is_told(row, &installed)).map(|row| row.event);
        let events: BTreeSet<&str> = missing.collect();
        if !events.is_empty() {
            let events = events.into_iter().collect::<Vec<_>>().join(", ");
            let scope = scope.unwrap_or(SettingsScope::Project).name();
            let again = format!("`hookrun install {} --scope {scope}`", host.name);
            lines.push(format!("{} does not send {events} yet: run {again}", host.title));
        }
    }
    lines
}

/// Whether the host tells hookrun this event.
fn is_told(row: &HostEventRow, installed: &[Installed]) -> bool {
    installed.iter().any(|one| one.events.iter().any(|event| event.is(row)))
}

/// One line on a host, for people.
fn summary(host: &InstallHost, installed: &[Installed]) -> String {
    if installed.is_empty() {
        return format!("{}: does not ask hookrun", host.title);
    }
    let each = installed.iter().map(|one| {
        let events = one.events.len();
        if events == 0 {
            return format!("nothing in {}, where a different command runs hookrun", one.place);
        }
        let noun = if events == 1 { "event" } else { "events" };
        format!("{events} {noun} in {}", one.place)
    });
    format!("{}: installed for {}", host.title, each.collect::<Vec<_>>().join(", "))
}

/// Events that a hook wants and the host does not tell, and hooks that take longer than it waits.
fn about_events(
    host: &'static InstallHost,
    installed: &[Installed],
    wanted: &HooksByEvent,
    findings: &mut Findings,
) {
    let Some(first) = installed.first() else { return };
    for row in &wanted.rows(host, false) {
        let Some(bound) = wanted.bound(row.event) else { continue };
        let names = quoted(&bound.hooks);
        if !is_told(row, installed) {
            let cause = format!("there is no hook for {}: {names} does not run", row.name);
            let scope = first.scope.unwrap_or(SettingsScope::Project).name();
            let again = format!("`hookrun install {} --scope {scope}`", host.name);
            findings.add(&first.path, error(cause, again));
        }
        for one in installed {
            let event = one.events.iter().find(|event| event.is(row));
            let Some(limit) = event.and_then(|event| event.limit) else { continue };
            if bound.longest > limit {
                let cause = format!(
                    "{} waits {limit:?} for {}, and {names} may take {:?}",
                    host.title, row.name, bound.longest
                );
                findings.add(&one.path, warning(cause, "give the hooks shorter timeouts"));
            }
        }
    }
    for lack in wanted.lacks(host) {
        findings.add(&first.path, warning(lack, "use another event of the host"));
    }
}

/// Hooks that are asked twice about one event.
fn about_doubles(
    host: &'static InstallHost,
    installed: &[Installed],
    config: &Config,
    env: &Environment,
    findings: &mut Findings,
) {
    for (at, one) in installed.iter().enumerate() {
        let tells = |other: &Installed, name: &str| other.events.iter().any(|it| it.name == name);
        let is_double = |other: &&Installed| one.events.iter().any(|it| tells(other, &it.name));
        for other in installed[at + 1..].iter().filter(is_double) {
            let cause = format!(
                "{} runs hookrun twice for an event: here and by `{}`",
                host.title,
                other.path.display()
            );
            let cure = match (one.scope, other.scope) {
                (Some(one), Some(other)) => {
                    let (name, one) = (host.name, one.name());
                    format!("`hookrun uninstall {name} --scope {}`, or {one}", other.name())
                }
                (None, _) | (_, None) => "take one of them out".to_string(),
            };
            findings.add(&one.path, warning(cause, cure));
        }
    }
    let Some(other) = host.also_reads.and_then(hosts::find) else { return };
    for scope in SettingsScope::ALL {
        let Some(path) = path_of(other, scope, config.nearest_folder(), env) else { continue };
        if look::into(other, scope, &path, env).0.is_none() {
            continue;
        }
        for one in installed {
            let cause = format!(
                "{} also runs the hooks of {} in `{}`: hookrun runs twice",
                host.title,
                other.title,
                path.display()
            );
            let cure = match one.scope {
                Some(scope) => {
                    format!("`hookrun uninstall {} --scope {}`", host.name, scope.name())
                }
                None => "take one of them out".to_string(),
            };
            findings.add(&one.path, warning(cause, cure));
        }
    }
}
