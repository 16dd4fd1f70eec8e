//! What keeps a host from asking a hookrun that is installed: switches in any of its files, and
//! what a person has not accepted.

use std::path::{Path, PathBuf};

use crate::config::{Config, Environment};
use serde_json::Value;

use super::look::Installed;
use super::{Findings, error};
use crate::cli::args::SettingsScope;
use crate::cli::host::install::hosts::{Asking, InstallHost};
use crate::cli::host::install::path_of;
use crate::cli::host::install::program::is_own;
use crate::cli::host::install::value;

/// Looks for it where hookrun is installed into `host`.
pub(super) fn look(
    host: &'static InstallHost,
    installed: &[Installed],
    config: &Config,
    env: &Environment,
    findings: &mut Findings,
) {
    if installed.is_empty() {
        return;
    }
    let files = files(host, config, env);
    let values: Vec<(&PathBuf, Value)> =
        files.iter().filter_map(|file| Some((file, value::read(file)?))).collect();
    for switch in host.switches {
        for (file, value) in &values {
            let Some(value) = value::at(value, switch.at) else { continue };
            if (switch.is_off)(value) {
                let cause = format!("`{}` is {value}: hookrun does not run", switch.at);
                findings.add(file, error(cause, "remove it"));
            }
            if switch.first_decides {
                break;
            }
        }
    }
    let user = path_of(host, SettingsScope::User, &config.project, env);
    let Some((user, trust)) = user.as_deref().and_then(Path::parent).zip(host.trust) else {
        return;
    };
    for one in installed {
        let own = |text: &str| is_own(text, host, env);
        let asking = Asking {
            file: &one.path,
            settings: &value::read(&one.path).unwrap_or_default(),
            project: (!one.path.starts_with(user)).then_some(config.project.as_path()),
            user,
            is_own: &own,
        };
        for distrust in trust(&asking) {
            findings.add(&distrust.file, error(distrust.cause, distrust.cure));
        }
    }
}

/// The files that may have a switch, those that decide first in front.
fn files(host: &InstallHost, config: &Config, env: &Environment) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for scope in SettingsScope::ALL {
        let Some(path) = path_of(host, scope, &config.project, env) else { continue };
        let is_read = |is_of_user: bool| is_of_user || scope == SettingsScope::Project;
        let beside = host.beside.iter().filter(|one| is_read(one.is_of_user));
        files.extend(beside.map(|one| path.with_file_name(one.file)));
        files.push(path);
    }
    files
}
