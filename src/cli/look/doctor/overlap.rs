//! Hosts in which hookrun is installed twice: in two files of one host, or also in a file of another
//! host that this one reads too.

use std::path::PathBuf;

use super::look::{HostLook, InstalledEntries};
use crate::cli::args::SettingsScope;
use crate::cli::host::install::files::read_value;
use crate::cli::look::validate::{Findings, warning};
use crate::config::Environment;
use crate::hosts::install::ReadingSwitch;
use crate::hosts::{Host, find_installable};

pub(super) fn look(look: HostLook<'_>, installed: &[InstalledEntries], findings: &mut Findings) {
    let host = look.host;
    for (at, one) in installed.iter().enumerate() {
        for other in &installed[at + 1..] {
            let Some(entries) = entries(host, one, host, other) else {
                continue;
            };
            let (title, there) = (host.title, other.path().display());
            let cause = format!(
                "{title} runs hookrun twice for an event: here and by {entries} of `{there}`"
            );
            let cure = match (one.file.scope, other.file.scope) {
                (Some(one), Some(other)) => {
                    let (name, one) = (host.name, one.name());
                    format!(
                        "`hookrun uninstall {name} --scope {}`, or {one}",
                        other.name()
                    )
                }
                (None, _) | (_, None) => "take one of them out".to_string(),
            };
            findings.add(warning(one.path(), cause, cure));
        }
    }
    for read in host.reads {
        let Some(other) = find_installable(read.host) else {
            continue;
        };
        let is_read = read.switch.is_none_or(|switch| is_on(switch, look.env));
        let theirs = HostLook {
            host: other,
            ..look
        };
        let folder = look.config.nearest_folder();
        let scopes = SettingsScope::ALL.into_iter();
        let scopes = scopes.filter(|it| !read.is_of_project_alone || *it == SettingsScope::Project);
        let files = scopes.flat_map(|scope| theirs.files(scope, folder));
        for there in files
            .filter(|_| is_read)
            .filter_map(|file| theirs.read(file).0)
        {
            let own = installed.iter();
            let own = own.filter_map(|one| Some((one, entries(host, one, other, &there)?)));
            for (one, entries) in own {
                let (title, theirs, path) = (host.title, other.title, there.path().display());
                let cause = format!(
                    "{title} also runs the hooks of {theirs}: {entries} of `{path}` runs hookrun for \
                     the same calls: every hook runs twice"
                );
                findings.add(warning(one.path(), cause, cure(host, one, read.switch)));
            }
        }
    }
}

/// The entries of `other` for events that `one` has too, as keys of the file.
fn entries(
    host: &Host,
    one: &InstalledEntries,
    its_host: &Host,
    other: &InstalledEntries,
) -> Option<String> {
    let ours = |host: &Host, name: &str| host.row(name).map(|row| row.event);
    let is_here = |name: &str| {
        one.events
            .iter()
            .any(|it| match its_host.name == host.name {
                true => it.name == name,
                false => ours(host, &it.name).is_some_and(|own| ours(its_host, name) == Some(own)),
            })
    };
    let names = other.events.iter().map(|event| event.name.as_str());
    let mut names: Vec<String> = names
        .filter(|name| is_here(name))
        .map(|name| format!("`hooks.{name}`"))
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Whether the host reads the other settings, as its user has it.
fn is_on(switch: ReadingSwitch, env: &Environment) -> bool {
    let settings = file_of(switch, env)
        .and_then(|file| read_value(&file))
        .unwrap_or_default();
    let value = switch
        .key
        .iter()
        .try_fold(&settings, |value, key| value.get(key));
    value
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(switch.usual)
}

fn file_of(switch: ReadingSwitch, env: &Environment) -> Option<PathBuf> {
    match switch.file.strip_prefix(".config/") {
        Some(below) => Some(env.config_home.as_ref()?.join(below)),
        None => Some(env.home.as_ref()?.join(switch.file)),
    }
}

fn cure(host: &Host, one: &InstalledEntries, switch: Option<ReadingSwitch>) -> String {
    let out = match one.file.scope {
        Some(scope) => format!("`hookrun uninstall {} --scope {}`", host.name, scope.name()),
        None => "take one of them out".to_string(),
    };
    match switch {
        Some(switch) => {
            format!(
                "{out}, or set `{}` to false in ~/{}",
                switch.key.join("."),
                switch.file
            )
        }
        None => out,
    }
}
