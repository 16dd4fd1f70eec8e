//! `hookrun doctor`: checks that hosts and git reach hookrun, and hooks their events.

mod checks;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use crate::config::layer::LOCAL;
use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, ConfigScope, Environment, Problem};
use crate::engine::event::Context;
use crate::engine::hook::Warm;
use crate::engine::run::{ColdReason, WARM_NOTE};
use crate::hosts::{Host, HostFolders, find, git, installable};
use crate::lab::report::CheckFormat;
use crate::lab::report::style::counted;
use crate::log::report::RunReport;
use crate::log::{DecisionLine, DecisionLog};

use crate::cli::args::DoctorArgs;
use crate::cli::decisions::is_of_project;
use crate::cli::exit::Result;
use crate::cli::host::command::Launch;
use crate::cli::host::git::{HookScript, Repository, ask, is_executable};
use crate::cli::host::installed::{HooksByEvent, HostSite, Installation, is_here};
use crate::cli::validate::{Findings, error, note, warning};

const AGAIN: &str = "`hookrun install git` repairs it";

/// Checks hosts and hooks: 0 no errors, 1 errors, 2 could not check.
pub(crate) fn doctor(args: &DoctorArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = Choice {
        trust: Some(TrustChoice::Reported),
        ..Choice::default()
    };
    let config = Config::load(&choice, env, ConfigScope::All);
    let mut findings = Findings::default();
    findings.add_hooks(&config, &choice, env);
    findings.add_idle(&config);
    about_log(env, &mut findings);
    let wanted = HooksByEvent::of(&config.hooks);
    let mut seen = Seen::of(&config, env);
    let mut lines = std::mem::take(&mut seen.cold);
    let mut without = Vec::new();
    for host in installable() {
        if args.host.as_deref().is_some_and(|name| name != host.name) {
            continue;
        }
        let site = HostSite {
            host,
            config: &config,
            env,
        };
        let installed = checks::read_all(site, &mut findings);
        let Some(first) = installed.first() else {
            if args.host.is_some() {
                lines.push(format!("{}: does not call hookrun", host.title));
                if !findings.has_error() {
                    let scope = host.usual_scope();
                    let file = host.path(scope, config.nearest_folder(), env);
                    let cause = format!("{} does not call hookrun", host.title);
                    let cure = format!("`hookrun install {}`", host.name);
                    findings.add(error(&file.unwrap_or_default(), cause, cure));
                }
            } else if is_here(host, &config, env) {
                without.push(host.title);
            }
            continue;
        };
        lines.push(summary(host, &installed));
        checks::about_host(site, &installed, &wanted, &mut findings);
        findings.add(seen.about(host, &first.file.path));
    }
    if !without.is_empty() {
        let titles = without.join(", ");
        lines.push(format!(
            "agents without hookrun: {titles} (`hookrun install` lists the commands to install it)"
        ));
    } else if args.host.is_none() && lines.is_empty() {
        lines.push("no agent was found here".to_string());
    }
    let is_git_named = args.host.as_deref() == Some(git::NAME);
    if is_git_named || args.host.is_none() {
        let line = look_at_git(&config, env, is_git_named, &seen, &mut findings)?;
        lines.extend(line);
    }
    if args.format == CheckFormat::Human {
        for line in lines {
            writeln!(out, "{line}")?;
        }
    }
    findings.report(args.format, env, out)
}

/// Reports a decision log that cannot be written, which no decision reports.
fn about_log(env: &Environment, findings: &mut Findings) {
    let Some(folder) = env.decision_log() else {
        return;
    };
    if let Err(error) = DecisionLog::in_folder(folder).check() {
        let cause = format!("decisions are not logged: {}", error.problem);
        let cure = "free some space, make the log's folder private (`chmod 700`), or set \
                    HOOKRUN_DECISIONS to another folder or to `off`";
        findings.add(warning(&error.file, cause, cure));
    }
}

fn summary(host: &Host, installed: &[Installation]) -> String {
    let mut places = Vec::new();
    for one in installed {
        let place = one.file.place();
        places.push(match one.hooks.len() {
            0 => {
                let known: BTreeSet<&String> = one.others.iter().map(|(event, _)| event).collect();
                let known = counted(known.len(), "event");
                format!("{known} in {place}, through a custom command")
            }
            events => format!("{} in {place}", counted(events, "event")),
        });
    }
    let places = places.join(", ");
    format!("hookrun is installed in {} for {places}", host.title)
}

/// Facts from the decision log; a host's files show only that it should run hookrun.
#[derive(Debug, Default)]
struct Seen {
    /// The last run of each host in the project; `None` without a log.
    last: Option<BTreeMap<String, SystemTime>>,
    /// The reason for each hook that could start warm but last started cold, or in part.
    cold: Vec<String>,
}

impl Seen {
    fn of(config: &Config, env: &Environment) -> Seen {
        let Some(folder) = env.decision_log() else {
            return Seen::default();
        };
        let mut last = BTreeMap::new();
        let mut cold = BTreeMap::new();
        let warm: BTreeSet<&str> = config
            .hooks
            .iter()
            .filter(|hook| hook.warm.is_some_and(|warm| warm != Warm::Off))
            .map(|hook| hook.name.as_str())
            .collect();
        for file in DecisionLog::in_folder(folder).files().iter().rev() {
            let text = fs::read(file).unwrap_or_default();
            for line in text.split(|byte| *byte == b'\n') {
                let Ok(record) = DecisionLine::parse(line) else {
                    continue;
                };
                if !warm.is_empty()
                    && let Ok(run) = record.report()
                {
                    note_starts(&run, &warm, &mut cold);
                }
                if was_in(&record, &config.project)
                    && let Ok(time) = humantime::parse_rfc3339(&record.time)
                {
                    last.insert(record.host, time);
                }
            }
        }
        Seen {
            last: Some(last),
            cold: cold.into_values().collect(),
        }
    }

    fn about(&self, host: &Host, file: &Path) -> Problem {
        let title = host.title;
        if host.plugin().is_none()
            && let Some(dialect) = find(host.name)
        {
            return self.about_dialect(dialect.name, title, host.trust, file);
        }
        let cause = format!(
            "{title} sends hookrun's own events: `hookrun why` shows the events that arrived, but not their host"
        );
        note(file, cause)
    }

    /// The log's facts on a connected host; `trust` is the user's step before it runs hooks.
    fn about_dialect(&self, name: &str, title: &str, trust: Option<&str>, file: &Path) -> Problem {
        let Some(last) = &self.last else {
            let cause =
                format!("cannot determine whether {title} runs hookrun: decisions are not logged");
            return note(file, cause);
        };
        let try_it = format!("use {title} here once, and run `hookrun doctor` again");
        let Some(time) = last.get(name) else {
            let cause =
                format!("hookrun is installed, but {title} has not run it in this project yet");
            let cure = match trust {
                Some(step) => format!("{step}; then {try_it}"),
                None => try_it,
            };
            return warning(file, cause, cure);
        };
        let cause = format!("{title} last ran hookrun here {}", ago(*time));
        let changed = file.metadata().and_then(|meta| meta.modified());
        if changed.is_ok_and(|changed| changed > *time) {
            let cause = format!("{cause}, before this file was changed");
            return warning(file, cause, try_it);
        }
        note(file, cause)
    }
}

/// Keeps a line for each of these hooks that started cold most recently, or did so in part.
fn note_starts(run: &RunReport, warm: &BTreeSet<&str>, cold: &mut BTreeMap<String, String>) {
    for (hook, trace) in run.traces() {
        let name = hook.name.as_str();
        let Some(start) = trace.start.as_ref().filter(|_| warm.contains(name)) else {
            continue;
        };
        let reason = ColdReason::NAMES.iter().find(|(_, it)| it == start);
        let mut notes = trace.notes.iter();
        let note = notes.find(|note| note.starts_with(WARM_NOTE));
        let line = match (reason, note) {
            (Some((reason, word)), _) => {
                let why = reason.about();
                format!("`{name}` last started cold ({word}): {why}")
            }
            (None, Some(note)) => {
                let note = note.strip_prefix(WARM_NOTE).unwrap_or(note);
                format!("last warm start of `{name}`: {note}")
            }
            (None, None) => {
                cold.remove(name);
                continue;
            }
        };
        cold.insert(name.to_string(), line);
    }
}

fn was_in(record: &DecisionLine<'_>, project: &Path) -> bool {
    if is_of_project(record, project) {
        return true;
    }
    let context = record.context().and_then(|text| Context::parse(text).ok());
    let folders = context
        .map(|context| HostFolders::read(&record.host, &context))
        .unwrap_or_default();
    folders
        .roots
        .iter()
        .chain(&folders.cwd)
        .any(|folder| folder.starts_with(project))
}

fn ago(time: SystemTime) -> String {
    let passed = SystemTime::now().duration_since(time).unwrap_or_default();
    let seconds = passed.as_secs();
    let units = [(86400, "day"), (3600, "hour"), (60, "minute")];
    let Some((size, unit)) = units.into_iter().find(|(size, _)| seconds >= *size) else {
        return "just now".to_string();
    };
    let count = usize::try_from(seconds / size).unwrap_or(usize::MAX);
    format!("{} ago", counted(count, unit))
}

/// Checks the repository around the working directory. Returns a summary line; `None` outside one.
fn look_at_git(
    config: &Config,
    env: &Environment,
    is_named: bool,
    seen: &Seen,
    findings: &mut Findings,
) -> Result<Option<String>> {
    let repository = match Repository::around(env) {
        Ok(repository) => repository,
        Err(complaint) if is_named => {
            findings.add(complaint.in_file(&env.cwd, None));
            return Ok(Some("git: not a repository".to_string()));
        }
        Err(_) => return Ok(None),
    };
    about_local_files(config, findings)?;
    let scripts = repository.scripts()?;
    let asking = scripts.iter().filter(|script| script.asks()).count();
    let wanted = HooksByEvent::of(&config.hooks);
    for script in &scripts {
        about_script(script, config, findings);
        let Some(bound) = wanted.bound(script.hook.event) else {
            continue;
        };
        if asking > 0 && !script.asks() {
            let name = script.hook.name;
            let names = bound.names();
            let cause = format!("`{name}` does not call hookrun, so git does not run {names}");
            let cure = if script.is_foreign() && script.has_kept() {
                cure_of_both(script)
            } else {
                "`hookrun install git`".to_string()
            };
            findings.add(error(&script.file, cause, cure));
        }
    }
    let path = repository.hooks.as_path();
    if asking == 0 {
        if is_named && !findings.has_error() {
            let cause = "git does not call hookrun";
            findings.add(error(path, cause, "`hookrun install git`"));
        }
        return Ok(Some("git: does not call hookrun".to_string()));
    }
    findings.check(path);
    findings.add(seen.about_dialect(git::NAME, "git", None, path));
    let asking = counted(asking, "hook");
    Ok(Some(format!(
        "git: hookrun is installed in {asking} of this repository"
    )))
}

fn about_local_files(config: &Config, findings: &mut Findings) -> Result<()> {
    for layer in config
        .layers
        .iter()
        .filter(|layer| layer.is_own_of_project())
    {
        let file = layer.folder.join(LOCAL);
        let is_tracked = file.exists()
            && ask(&layer.folder, &["ls-files", "--error-unmatch", "--", LOCAL])?.is_some();
        if is_tracked {
            let cause = "git tracks this file, so the hooks that it disables are disabled for \
                everyone";
            let shown = file.display();
            let cure = format!("run `git rm --cached {shown}`, and add the file to .gitignore");
            findings.add(warning(&file, cause, cure));
        }
    }
    Ok(())
}

/// The fix if another hook has replaced the shim and a kept one exists too.
fn cure_of_both(script: &HookScript) -> String {
    format!(
        "merge both into `{}` and remove `{}`, then run `hookrun install git`",
        script.file.display(),
        script.kept.display()
    )
}

fn chmod(path: &Path) -> String {
    format!("`chmod +x {}`", path.display())
}

fn about_script(script: &HookScript, config: &Config, findings: &mut Findings) {
    let file = script.file.as_path();
    let name = script.hook.name;
    if script.has_kept() && !script.is_shim() {
        let cause =
            format!("another program has replaced hookrun's `{name}`, so this hook does not run");
        findings.add(warning(&script.kept, cause, cure_of_both(script)));
    } else if script.has_kept() && !is_executable(&script.kept) {
        let cause = "this file is not executable, so neither git nor hookrun runs it";
        findings.add(warning(&script.kept, cause, chmod(&script.kept)));
    }
    if !script.is_shim() {
        return;
    }
    if script.is_asked_by_husky {
        let cause = format!("`.husky/{name}` runs hookrun too: every hook runs twice");
        findings.add(warning(file, cause, AGAIN));
    }
    if !is_executable(file) {
        let cause = "this file is not executable, so git skips it";
        findings.add(error(file, cause, chmod(file)));
    }
    let path = script.path().filter(|path| Path::new(path).exists());
    let launch = path.map_or(Launch::Search, Launch::Path);
    if let Err(why) = launch.version(config.nearest_folder()) {
        let cause = format!("git cannot start hookrun: {why}");
        findings.add(error(file, cause, AGAIN));
    }
}
