//! `hookrun doctor`: whether hosts really reach hookrun, and hooks really their events.

mod entries;
mod evidence;
mod git;
mod look;
mod overlap;
mod reach;

use std::collections::BTreeSet;
use std::io::Write;

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, ConfigScope, Environment, Problem};
use crate::engine::hook::Warm;
use crate::engine::run::ColdReason;
use crate::hosts;
use crate::lab::report::CheckFormat;
use crate::log::DecisionLog;
use crate::log::read::newest_first;
use crate::log::record::DecisionLine;

use crate::cli::args::{DoctorArgs, SettingsScope};
use crate::cli::exit::Result;
use crate::cli::host::install::found::is_here;
use crate::cli::host::install::wanted::{HooksByEvent, quoted};
use crate::cli::look::unbound::SearchedPlaces;
use crate::cli::look::validate::{Findings, error, warning};
use crate::cli::problems::problems_of;
use crate::hosts::{Host, installable};
use evidence::Evidence;
use look::{HostLook, InstalledEntries};

/// How many of the last decisions are searched for cold starts.
const MOST_DECISIONS: usize = 1_000;

/// Checks hosts and hooks: 0 in order, 1 not, 2 could not.
pub(crate) fn doctor(args: &DoctorArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = Choice {
        trust: Some(TrustChoice::Told),
        ..Choice::default()
    };
    let config = Config::load(&choice, env, ConfigScope::All);
    let mut findings = Findings::default();
    about_hooks(&config, env, &mut findings);
    findings.extend(
        SearchedPlaces {
            choice: &Choice::default(),
            env,
        }
        .problems(&config),
    );
    about_log(env, &mut findings);
    let wanted = HooksByEvent::of(&config.hooks);
    let evidence = Evidence::of(&config.project, env);
    let mut lines = Vec::new();
    // Hosts that are here and do not ask hookrun.
    let mut without = Vec::new();
    for host in installable().filter(|host| args.host.as_deref().is_none_or(|one| one == host.name))
    {
        let look = HostLook {
            host,
            config: &config,
            env,
        };
        let installed = look_into(look, &mut findings);
        match (installed.as_slice(), &args.host) {
            ([], None) if is_here(host, &config, env) => without.push(host.title),
            ([], None) => {}
            ([], Some(_)) => lines.push(format!("{}: does not ask hookrun", host.title)),
            (installed, _) => lines.push(summary(host, installed)),
        }
        let Some(first) = installed.first() else {
            if args.host.is_some() && !findings.has_error() {
                findings.add(not_installed(host, &config, env));
            }
            continue;
        };
        about_events(host, &installed, &wanted, &mut findings);
        reach::about_switches(look, &installed, &mut findings);
        let recorded = host.asking_dialect().map(|dialect| dialect.name);
        findings.add(evidence.about(recorded, host.title, host.trust, first.path()));
        overlap::look(look, &installed, &mut findings);
    }
    let no_agent_asks = args.host.is_none() && lines.is_empty();
    lines.extend(about_others(&without, no_agent_asks));
    let is_git_named = args.host.as_deref() == Some(hosts::git::NAME);
    if is_git_named || args.host.is_none() {
        lines.extend(git::look(
            &config,
            env,
            is_git_named,
            &evidence,
            &mut findings,
        )?);
    }
    lines.extend(cold_starts(&config, env));
    if args.format == CheckFormat::Human {
        for line in lines {
            writeln!(out, "{line}")?;
        }
    }
    findings.report(args.format, env, out)
}

/// The agents that are here and do not ask hookrun, by their titles.
fn about_others(without: &[&str], no_agent_asks: bool) -> Option<String> {
    if !without.is_empty() {
        let titles = without.join(", ");
        return Some(format!(
            "here, but do not ask hookrun: {titles} (`hookrun install HOST`)"
        ));
    }
    no_agent_asks.then(|| "no agent is found here, and none asks hookrun".to_string())
}

fn not_installed(host: &Host, config: &Config, env: &Environment) -> Problem {
    let path = |scope| host.path(scope, config.nearest_folder(), env);
    let file = SettingsScope::ALL
        .into_iter()
        .find_map(path)
        .unwrap_or_default();
    let cause = format!("{} does not ask hookrun", host.title);
    error(&file, cause, format!("`hookrun install {}`", host.name))
}

/// Hooks that cannot be read or started, that never run, and that match nothing.
fn about_hooks(config: &Config, env: &Environment, findings: &mut Findings) {
    for hook in &config.hooks {
        let file = &hook.source.file;
        findings.check(file).hooks += 1;
        if let Some(why) = hook.idle.as_ref().filter(|_| hook.enabled) {
            let cause = format!("`{}` never runs: {why}", hook.name);
            findings.add(warning(file, cause, "rename or remove one of them"));
        }
        findings.extend(problems_of(hook, env));
    }
    findings.extend(config.problems.iter().cloned());
}

/// A decision log that cannot be written. No decision waits for it, so only `doctor` reports it.
fn about_log(env: &Environment, findings: &mut Findings) {
    let Some(folder) = env.decision_log() else {
        return;
    };
    if let Err(error) = DecisionLog::in_folder(folder).check() {
        let cause = format!("decisions are not kept: {}", error.problem);
        let cure = "make room there, or make it a folder that is yours alone (`chmod 700`), or set \
                    HOOKRUN_DECISIONS to another, or to `off`";
        findings.add(warning(&error.file, cause, cure));
    }
}

/// For each hook that may start warm and last started cold, the reason, from the decision log.
fn cold_starts(config: &Config, env: &Environment) -> Vec<String> {
    let hooks = config.hooks.iter();
    let mut waiting: BTreeSet<&str> = hooks
        .filter(|hook| hook.warm.is_some_and(|warm| warm != Warm::Off))
        .map(|hook| hook.name.as_str())
        .collect();
    let mut lines = Vec::new();
    let files = match env.decision_log() {
        Some(folder) => DecisionLog::in_folder(folder).files(),
        None => Vec::new(),
    };
    let mut left = MOST_DECISIONS;
    for file in files {
        for line in newest_first(&file).unwrap_or_default() {
            if waiting.is_empty() || left == 0 {
                break;
            }
            left -= 1;
            let Ok(run) = DecisionLine::parse(&line).and_then(|record| record.report()) else {
                continue;
            };
            for hook in &run.hooks {
                let start = hook.trace.as_ref().and_then(|trace| trace.start.as_ref());
                let Some(start) = start.filter(|_| waiting.remove(hook.name.as_str())) else {
                    continue;
                };
                let reason = ColdReason::NAMES.iter().find(|(_, name)| name == start);
                if let Some((reason, name)) = reason {
                    lines.push(format!(
                        "`{}` last started cold ({name}): {}",
                        hook.name,
                        reason.about()
                    ));
                }
            }
        }
    }
    lines
}

/// Where hookrun is installed into a host; what is wrong there is found on the way.
fn look_into(look: HostLook<'_>, findings: &mut Findings) -> Vec<InstalledEntries> {
    let mut all = Vec::new();
    for (installed, found) in look.read_all() {
        findings.extend(found);
        let Some(installed) = installed else { continue };
        findings.check(installed.path());
        let problem = |program: &String| reach::about_program(program, &installed, look);
        findings.extend(installed.programs.iter().filter_map(problem));
        all.push(installed);
    }
    all
}

/// Events that a hook wants and for which a host does not run hookrun, though it is installed: for
/// people who have just written such a hook.
pub(crate) fn untold(config: &Config, env: &Environment) -> Vec<String> {
    let wanted = HooksByEvent::of(&config.hooks);
    let mut lines = Vec::new();
    for host in installable() {
        let files = HostLook { host, config, env }.read_all().into_iter();
        let installed: Vec<InstalledEntries> =
            files.filter_map(|(installed, _)| installed).collect();
        let Some(first) = installed.first() else {
            continue;
        };
        let rows = wanted.rows(host, false);
        let is_told = |row| installed.iter().any(|one| one.event(row).is_some());
        let missing = rows.iter().filter(|row| !is_told(row));
        let events: BTreeSet<&str> = missing.map(|row| row.event).collect();
        if !events.is_empty() {
            let events = events.into_iter().collect::<Vec<_>>().join(", ");
            let again = again(host, first);
            lines.push(format!(
                "{} does not send {events} yet: run {again}",
                host.title
            ));
        }
    }
    lines
}

fn again(host: &Host, installed: &InstalledEntries) -> String {
    let scope = installed
        .file
        .scope
        .unwrap_or(SettingsScope::Project)
        .name();
    format!("`hookrun install {} --scope {scope}`", host.name)
}

fn summary(host: &Host, installed: &[InstalledEntries]) -> String {
    let each = installed.iter().map(|one| {
        let events = one.events.len();
        let place = &one.file.place;
        match events {
            0 => format!("nothing in {place}, where a different command runs hookrun"),
            1 => format!("1 event in {place}"),
            _ => format!("{events} events in {place}"),
        }
    });
    format!(
        "{}: installed for {}",
        host.title,
        each.collect::<Vec<_>>().join(", ")
    )
}

/// Events that a hook wants and the host does not send, and hooks that take longer than it waits.
fn about_events(
    host: &Host,
    installed: &[InstalledEntries],
    wanted: &HooksByEvent,
    findings: &mut Findings,
) {
    let Some(first) = installed.first() else {
        return;
    };
    for row in &wanted.rows(host, false) {
        let Some(bound) = wanted.bound(row.event) else {
            continue;
        };
        let names = quoted(&bound.hooks);
        if installed.iter().all(|one| one.event(row).is_none()) {
            let cause = format!("there is no hook for {}: {names} does not run", row.name);
            findings.add(error(first.path(), cause, again(host, first)));
        }
        for one in installed {
            let limit = one.event(row).and_then(|event| event.limit);
            if let Some(limit) = limit.filter(|limit| bound.longest > *limit) {
                let title = host.title;
                let name = row.name;
                let longest = bound.longest;
                let cause =
                    format!("{title} waits {limit:?} for {name}, and {names} may take {longest:?}");
                findings.add(warning(
                    one.path(),
                    cause,
                    "give the hooks shorter timeouts",
                ));
            }
        }
    }
    for lack in wanted.lacks(host) {
        findings.add(warning(first.path(), lack, "use another event of the host"));
    }
}
