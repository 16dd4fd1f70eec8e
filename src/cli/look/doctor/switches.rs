//! What keeps a host from running a hookrun that is installed: switches in any of its files, and
//! what a person has not accepted.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::look::{HostLook, InstalledEntries};
use crate::cli::args::SettingsScope;
use crate::cli::host::install::files::read_value;
use crate::cli::host::install::program::is_own;
use crate::cli::host::install::row::{NAME, TrustQuestion};
use crate::cli::look::validate::{Findings, error};

pub(super) fn look(look: HostLook<'_>, installed: &[InstalledEntries], findings: &mut Findings) {
    let HostLook { host, config, env } = look;
    switches(look, findings);
    let user = host.path(SettingsScope::User, &config.project, env);
    let Some((user, trust)) = user.as_deref().and_then(Path::parent).zip(host.trust) else {
        return;
    };
    for one in installed {
        let question = TrustQuestion {
            file: one.path(),
            settings: &read_value(one.path()).unwrap_or_default(),
            project: (!one.path().starts_with(user)).then_some(config.project.as_path()),
            user,
            is_own: &|text| is_own(text, host, env),
        };
        for distrust in trust(&question) {
            findings.add(error(&distrust.file, distrust.cause, distrust.cure));
        }
    }
}

/// Keys with which the host does not run hookrun.
fn switches(look: HostLook<'_>, findings: &mut Findings) {
    let Some(shape) = look.host.settings() else {
        return;
    };
    // The first file that has a flag decides. A project's come before a user's, and the others in a
    // folder before the one that `install` writes.
    let in_order = SettingsScope::ALL.iter().flat_map(|scope| {
        let mut files = look.files(*scope, &look.config.project);
        files.sort_by_key(|file| file.scope.is_some());
        files
    });
    let values: Vec<(PathBuf, Value)> = in_order
        .filter_map(|file| read_value(&file.path).map(|value| (file.path, value)))
        .collect();
    let own = shape.file.off.map(|off| (off.path.join("."), off.value));
    let older = look
        .host
        .switches
        .iter()
        .map(|(at, value)| ((*at).to_string(), *value));
    for (at, off) in own.into_iter().chain(older) {
        let pointer = format!("/{}", at.replace('.', "/"));
        let mut all = values
            .iter()
            .filter_map(|(file, whole)| Some((file, whole.pointer(&pointer)?)));
        if let Some((file, value)) = all.next().filter(|(_, value)| *value == off) {
            findings.add(error(file, off_text(&at, value), "remove it"));
        }
    }
    for path in shape.file.disabled {
        let pointer = format!("/{}", path.join("/"));
        for (file, whole) in &values {
            if let Some(value) = whole.pointer(&pointer).filter(|value| names_hookrun(value)) {
                findings.add(error(file, off_text(&path.join("."), value), "remove it"));
            }
        }
    }
}

fn off_text(at: &str, value: &Value) -> String {
    format!("`{at}` is {value}: hookrun does not run")
}

/// Whether a list has hookrun in it: by its label, or by the command.
fn names_hookrun(value: &Value) -> bool {
    let mut names = value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    names.any(|name| name == NAME || name.contains(" run --host "))
}
