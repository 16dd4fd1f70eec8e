//! Whether the program that installed hooks call is there, and is this hookrun.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::config::{Environment, Problem};
use crate::engine::exec::command;
use crate::engine::hook::Handler;

use super::look::{HostLook, InstalledEntries};
use crate::cli::errand::Errand;
use crate::cli::host::install::program::{PROBE_LIMIT, found_by};
use crate::cli::look::validate::{error, warning};

/// What is wrong with `program`, as the host would call it.
pub(super) fn problem_of(
    program: &str,
    installed: &InstalledEntries,
    look: HostLook<'_>,
) -> Option<Problem> {
    let HostLook { host, config, env } = look;
    let (file, project) = (installed.path(), config.project.as_path());
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
        found_by(host.shell(), program, installed.search.as_deref())
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
    problem_at(path, &again, file, project, env).or_else(by_name)
}

/// What is wrong with the program that `file` calls; `again` corrects it.
pub(super) fn problem_at(
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
