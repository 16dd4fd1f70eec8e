//! What keeps a host from running a hookrun that is installed: a program that is not there or is not
//! this hookrun, switches in any of the host's files, and what a person has not accepted.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::look::{HostLook, InstalledEntries};
use crate::cli::args::SettingsScope;
use crate::cli::host::install::files::read_value;
use crate::cli::host::install::host::NAME;
use crate::cli::host::install::program::{PROBE_LIMIT, found_by, is_own};
use crate::cli::look::validate::{Findings, error, warning};
use crate::config::{Environment, Problem};
use crate::engine::errand::Errand;
use crate::engine::exec::command;
use crate::engine::hook::Handler;
use crate::hosts::install::HostShell;
use crate::hosts::install::TrustQuestion;

/// What is wrong with `program`, as the host would call it.
pub(super) fn about_program(
    program: &str,
    installed: &InstalledEntries,
    look: HostLook<'_>,
) -> Option<Problem> {
    let HostLook { host, config, env } = look;
    let file = installed.path();
    let project = config.project.as_path();
    let again = format!(
        "`hookrun install {}` writes it anew, with its whole path",
        host.name
    );
    let is_path = program.contains('/');
    let found = if is_path {
        let words = vec![program.to_string()];
        let handler = Handler::Words {
            words,
            base: project.to_path_buf(),
        };
        let found = command::resolve(&handler, None).map(|found| found.path);
        found.map_err(|wrong| (wrong.problem, format!("{}, or {again}", wrong.cure)))
    } else {
        found_by(
            host.shell().unwrap_or(HostShell::Unstated).program(),
            program,
            installed.search.as_deref(),
        )
        .map_err(|problem| (problem, again.clone()))
    };
    let unreached = |why: String, cure: String| {
        Some(error(
            file,
            format!("{} does not reach hookrun: {why}", host.title),
            cure,
        ))
    };
    let path = match found {
        Ok(path) => path,
        Err((problem, cure)) => return unreached(problem, cure),
    };
    let shown = path.display();
    if path
        .metadata()
        .is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0)
    {
        let cure = format!("run `chmod +x {shown}`, or {again}");
        return unreached(format!("`{shown}` is not executable"), cure);
    }
    let by_name = || {
        let cause = format!(
            "it calls `{program}` by name: a {} with another PATH does not find it",
            host.title
        );
        (!is_path).then(|| warning(file, cause, again.clone()))
    };
    about_called(path, &again, file, project, env).or_else(by_name)
}

/// What is wrong with the program that `file` calls; `again` corrects it.
pub(super) fn about_called(
    path: PathBuf,
    again: &str,
    file: &Path,
    project: &Path,
    env: &Environment,
) -> Option<Problem> {
    let real = path.canonicalize().unwrap_or(path);
    if env
        .program
        .as_ref()
        .and_then(|own| own.canonicalize().ok())
        .as_ref()
        == Some(&real)
    {
        return None;
    }
    let shown = real.display();
    // Nothing that comes with a project is run to check it.
    if real.starts_with(project) {
        let cause = format!("`{shown}` is in the project; hookrun did not run it for its version");
        return Some(warning(file, cause, again));
    }
    let said = Errand::new(&real, ["--version"], PROBE_LIMIT)
        .output()
        .ok()
        .flatten();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let own = concat!("hookrun ", env!("CARGO_PKG_VERSION"));
    let cause = match said {
        Some(said) if said == own => return None,
        Some(said) if said.starts_with("hookrun ") => {
            format!("`{shown}` is {said}, and this is {own}")
        }
        Some(_) | None => format!("`{shown}` does not say that it is hookrun"),
    };
    Some(error(file, cause, again))
}

/// Switches in the files of a host that is installed, and what a person has not accepted.
pub(super) fn about_switches(
    look: HostLook<'_>,
    installed: &[InstalledEntries],
    findings: &mut Findings,
) {
    let HostLook { host, config, env } = look;
    switches(look, findings);
    let user = host.path(SettingsScope::User, &config.project, env);
    let Some((user, distrust)) = user
        .as_deref()
        .and_then(Path::parent)
        .zip(host.install.distrust)
    else {
        return;
    };
    for one in installed {
        let question = TrustQuestion {
            file: one.path(),
            settings: &read_value(one.path()).unwrap_or_default(),
            project: (!one.path().starts_with(user)).then_some(config.project.as_path()),
            user,
            is_own: &|text| is_own(text, host, env),
            read: |file| read_value(file).unwrap_or_default(),
        };
        for missing in distrust(&question) {
            findings.add(error(&missing.file, missing.cause, missing.cure));
        }
    }
}

/// Keys with which the host does not run hookrun.
fn switches(look: HostLook<'_>, findings: &mut Findings) {
    let Some(shape) = look.host.settings_file() else {
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
    let own = shape.off.map(|off| (off.path.join("."), off.value));
    let older = look
        .host
        .install
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
    for path in shape.disabled {
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
