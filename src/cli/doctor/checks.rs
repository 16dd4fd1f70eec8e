//! Checks for problems that keep a host from running hookrun, or lose a block.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::cli::args::SettingsScope;
use crate::cli::host::command::{InstalledCommand, Launch, write_plugin};
use crate::cli::host::files::read_value;
use crate::cli::host::installed::{
    HooksByEvent, HostSite, Installation, InstalledHook, install_again,
};
use crate::cli::validate::{Findings, error, note, warning};
use crate::config::Problem;
use crate::engine::hook::duration_text;
use crate::hosts::settings::{HostHookKey, TrustQuestion};
use crate::hosts::{Host, HostEvent, Wait};

/// Reads all files of a host and adds their problems. Returns the files that run hookrun.
pub(super) fn read_all(site: HostSite<'_>, findings: &mut Findings) -> Vec<Installation> {
    let mut all = Vec::new();
    for file in site.files() {
        match site.read(file) {
            Err(problem) => findings.add(*problem),
            Ok(None) => {}
            Ok(Some(installed)) => {
                findings.check(&installed.file.path);
                about_file(site, &installed, findings);
                all.push(installed);
            }
        }
    }
    all
}

fn about_file(site: HostSite<'_>, one: &Installation, findings: &mut Findings) {
    let host = site.host;
    let path = one.file.path.as_path();
    let again = install_again(host, one.file.scope);
    if let Some(wrong) = &one.dropped {
        let mut problem = (**wrong).clone();
        let what = format!(", so {} ignores the whole file", host.title);
        problem.cause.push_str(&what);
        findings.add(problem);
    }
    let settings = read_value(path).unwrap_or_default();
    for key in host.install.typed {
        let Some(value) = settings.pointer(key.pointer) else {
            continue;
        };
        if !(key.is_valid)(value) {
            let name = key.pointer[1..].replace('/', ".");
            let what = key.what;
            let title = host.title;
            let cause = format!(
                "`{name}` must be {what}, but is {value}, so {title} runs none of the hooks in this file"
            );
            findings.add(error(path, cause, "fix the value"));
        }
    }
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (event, command) in &one.others {
        others.entry(command).or_default().push(event);
    }
    for (command, events) in others {
        let cause = format!(
            "`{command}` for {} runs hookrun in a custom way, which doctor does not check",
            events.join(", ")
        );
        let cure = format!("to have it checked, remove this command and run {again}");
        findings.add(warning(path, cause, cure));
    }
    if host.settings_file().is_none() {
        findings.extend(about_plugin(one, host, &again));
    }
    let launches: BTreeSet<&Launch> = one.hooks.iter().map(|hook| &hook.command.launch).collect();
    for launch in launches {
        findings.extend(about_launch(launch, site, path, &again));
    }
    let mut faults: BTreeMap<(bool, String), Vec<&str>> = BTreeMap::new();
    for hook in &one.hooks {
        let Some(row) = host.row(&hook.event) else {
            continue;
        };
        for fault in faults_of(hook, row, host) {
            let events = faults.entry((row.fails_closed(), fault)).or_default();
            events.push(row.name);
        }
    }
    for ((is_gate, fault), events) in faults {
        let problem = if is_gate { error } else { warning };
        let cause = format!("hookrun's hook for {}: {fault}", events.join(", "));
        findings.add(problem(path, cause, format!("{again} repairs it")));
    }
}

fn about_plugin(one: &Installation, host: &Host, again: &str) -> Option<Problem> {
    let path = one.file.path.as_path();
    let mode = path.metadata().map_or(0, |meta| meta.permissions().mode());
    if one.text.starts_with("#!") && mode & 0o111 == 0 {
        let cause = format!(
            "this file is not executable, so {} does not run it",
            host.title
        );
        return Some(error(path, cause, format!("`chmod +x {}`", path.display())));
    }
    let launch = &one.hooks.first()?.command.launch;
    let rows: Vec<&HostEvent> = one
        .hooks
        .iter()
        .filter_map(|hook| host.row(&hook.event))
        .collect();
    if write_plugin(host, &rows, launch) == one.text {
        return None;
    }
    let cause = "this file differs from the one that `hookrun install` writes, so blocks may not reach the agent";
    Some(error(path, cause, format!("{again} rewrites it")))
}

fn about_launch(launch: &Launch, site: HostSite<'_>, file: &Path, again: &str) -> Option<Problem> {
    let folder = site.config.nearest_folder();
    if let Launch::Path(program) = launch {
        if !program.contains('/') {
            let cause = format!(
                "this file calls `{program}` by name, so the agent's PATH decides which program runs, possibly one in the project"
            );
            return Some(warning(file, cause, again));
        }
        let path = folder.join(program);
        let real = path.canonicalize().unwrap_or(path);
        let own = site.env.program.as_deref();
        if own.is_some_and(|own| own.canonicalize().is_ok_and(|own| own == real)) {
            return None;
        }
        // Do not run a program of the project to check it.
        if real.starts_with(&site.config.project) {
            let shown = real.display();
            let cause = format!(
                "`{shown}` is in the project, so hookrun did not run it to get its version"
            );
            return Some(warning(file, cause, again));
        }
    }
    let own = concat!("hookrun ", env!("CARGO_PKG_VERSION"));
    match launch.version(folder) {
        Ok(version) if version == own => None,
        Ok(version) => {
            let cause = format!("{} runs {version}, but you run {own}", site.host.title);
            Some(warning(file, cause, "update the older one"))
        }
        Err(why) => {
            let cause = format!("{} cannot start hookrun: {why}", site.host.title);
            let cure = match launch {
                Launch::Path(_) => again.to_string(),
                Launch::Search => "put hookrun in a folder in PATH, or in ~/.local/bin".into(),
            };
            Some(error(file, cause, cure))
        }
    }
}

/// Keys with which a hook does not run for every call or its answer is lost, but for a JSON value.
const HARMFUL_KEYS: &[(HostHookKey, &str, &str)] = &[
    (HostHookKey::Condition, "", "it runs only for some calls"),
    (
        HostHookKey::Async,
        "false",
        "the agent does not wait for its answer",
    ),
    (HostHookKey::Enabled, "true", "it does not run"),
    (
        HostHookKey::Arguments,
        "",
        "it runs without the shell that its command needs",
    ),
    (
        HostHookKey::Shell,
        "\"bash\"",
        "its shell cannot run the command",
    ),
];

/// Why a hook of hookrun does not run for every call, or may lose a block.
fn faults_of(hook: &InstalledHook, row: &HostEvent, host: &Host) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(shape) = host.settings_file() else {
        return faults;
    };
    if let Some(matcher) = &hook.matcher
        && !["", "*", ".*"].contains(&matcher.as_str())
    {
        faults.push(format!("the matcher `{matcher}` excludes other calls"));
    }
    for (key, says) in shape.hook {
        let Some(value) = hook.keys.get(*key) else {
            continue;
        };
        let value = value.to_string();
        for (harmful, harmless, what) in HARMFUL_KEYS {
            if says == harmful && value != *harmless {
                faults.push(format!("`{key}` is `{value}`, so {what}"));
            }
        }
    }
    let InstalledCommand {
        budget, is_guarded, ..
    } = hook.command;
    let may_be_open = match shape.closed() {
        Some((key, value)) => hook.keys.get(key) != Some(&value),
        None => row.is_guarded(),
    };
    if row.fails_closed() && may_be_open && !is_guarded {
        faults.push("nothing blocks if hookrun is missing or killed".to_string());
    }
    if let Some(usual) = row.wait {
        let longest = usual.longest.unwrap_or(Duration::MAX);
        let waits = hook.limit.map_or(usual.usual, |limit| limit.min(longest));
        let budget = budget.unwrap_or(Wait::budget(usual.usual));
        if budget >= waits {
            faults.push(format!(
                "{} waits only {}, but hookrun may take up to {}; a block after that is lost",
                host.title,
                duration_text(waits),
                duration_text(budget)
            ));
        }
    }
    faults
}

pub(super) fn about_host(
    site: HostSite<'_>,
    installed: &[Installation],
    wanted: &HooksByEvent,
    findings: &mut Findings,
) {
    for what in site.host.unseen {
        let cause = format!("no hook sees {what}");
        findings.add(note(&installed[0].file.path, cause));
    }
    about_events(site.host, installed, wanted, findings);
    for (file, switch) in site.switches_off() {
        findings.add(switch.in_file(&file, None));
    }
    about_trust(site, installed, findings);
    for (at, one) in installed.iter().enumerate() {
        for other in &installed[at + 1..] {
            findings.extend(runs_twice(site.host, one, other));
        }
    }
}

/// Reports events that hooks need but the host does not send, and hooks slower than its timeout.
fn about_events(
    host: &Host,
    installed: &[Installation],
    wanted: &HooksByEvent,
    findings: &mut Findings,
) {
    let first = &installed[0];
    for row in wanted.rows(host) {
        let Some(bound) = wanted.bound(row.event) else {
            continue;
        };
        let names = bound.names();
        let others = installed.iter().flat_map(|one| &one.others);
        let is_sent = installed.iter().any(|one| one.hook(row).is_some())
            || others.into_iter().any(|(event, _)| event == row.name);
        if !is_sent {
            let cause = format!(
                "hookrun is not installed for {}, so it does not run {names}",
                row.name
            );
            let again = install_again(host, first.file.scope);
            findings.add(error(&first.file.path, cause, again));
        }
        for one in installed {
            let limit = one.hook(row).and_then(|hook| hook.limit);
            let Some(limit) = limit.filter(|limit| bound.longest > *limit) else {
                continue;
            };
            let cause = format!(
                "{} waits only {limit:?} for {}, but {names} may take {:?} in total",
                host.title, row.name, bound.longest
            );
            findings.add(warning(
                &one.file.path,
                cause,
                "shorten the hooks' timeouts",
            ));
        }
    }
    for lack in wanted.lacks(host) {
        findings.add(warning(
            &first.file.path,
            lack,
            format!(
                "bind the hooks to another event; `hookrun events --host {}` lists them",
                host.name
            ),
        ));
    }
}

fn about_trust(site: HostSite<'_>, installed: &[Installation], findings: &mut Findings) {
    let HostSite { host, config, env } = site;
    let Some(distrust) = host.install.distrust else {
        return;
    };
    let user = host.path(SettingsScope::User, &config.project, env);
    let Some(user) = user.as_deref().and_then(Path::parent) else {
        return;
    };
    for one in installed {
        let question = TrustQuestion {
            file: &one.file.path,
            settings: &read_value(&one.file.path).unwrap_or_default(),
            project: (one.file.scope != SettingsScope::User).then_some(config.project.as_path()),
            user,
            is_own: &|text| InstalledCommand::read(text, host, env).is_some(),
            read: |file| read_value(file).unwrap_or_default(),
        };
        for missing in distrust(&question) {
            findings.add(error(&missing.file, missing.cause, missing.cure));
        }
    }
}

fn runs_twice(host: &Host, one: &Installation, other: &Installation) -> Option<Problem> {
    let mut events: Vec<&str> = one.hooks.iter().map(|hook| hook.event.as_str()).collect();
    events.retain(|event| other.hooks.iter().any(|hook| hook.event == *event));
    events.dedup();
    if events.is_empty() {
        return None;
    }
    let cause = format!(
        "{} runs hookrun twice for {}: from this file and from `{}`",
        host.title,
        events.join(", "),
        other.file.path.display()
    );
    Some(warning(
        &one.file.path,
        cause,
        "remove hookrun from one of them",
    ))
}
