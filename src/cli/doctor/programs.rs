//! Whether the program that installed hooks call is there, and is this hookrun.

use std::path::{Path, PathBuf};

use hookrun::config::Environment;
use hookrun::exec::{child, command};
use hookrun::hook::Handler;

use super::{Finding, error, warning};
use crate::install::hosts::Host;
use crate::install::program::{PROBE_LIMIT, found_by};

/// What is wrong with `program`, as `host` would call it.
pub(super) fn problem_of(
    program: &str,
    host: &Host,
    project: &Path,
    env: &Environment,
) -> Option<Finding> {
    let again = format!("`hookrun install {}` writes it anew", host.name);
    let found = if program.contains('/') {
        let words = vec![program.to_string()];
        let handler = Handler::Words { words, base: project.to_path_buf() };
        command::resolve(&handler, None).map(|found| found.path).map_err(|wrong| wrong.problem)
    } else {
        found_by(host.shell, program)
    };
    let path = match found {
        Ok(path) => path,
        Err(problem) => {
            // The shell of `install` may find it where the host's does not.
            let help = if program.contains('/') {
                again
            } else {
                "put the folder of hookrun into the PATH that this shell has".to_string()
            };
            return Some(error(format!("{} does not reach hookrun: {problem}", host.title), help));
        }
    };
    problem_at(path, &again, project, env)
}

/// What is wrong with the program that is called; `again` mends it.
pub(super) fn problem_at(
    path: PathBuf,
    again: &str,
    project: &Path,
    env: &Environment,
) -> Option<Finding> {
    let real = path.canonicalize().unwrap_or(path);
    if env.program.as_ref().and_then(|own| own.canonicalize().ok()).as_ref() == Some(&real) {
        return None;
    }
    let shown = real.display();
    // Nothing that comes with a project is run to check it.
    if real.starts_with(project) {
        let cause = format!("`{shown}` lies in the project; its version was not asked for");
        return Some(warning(cause, again));
    }
    let said = child::probe(&real, &["--version"], PROBE_LIMIT).ok().flatten();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let own = concat!("hookrun ", env!("CARGO_PKG_VERSION"));
    match said {
        Some(said) if said == own => None,
        Some(said) if said.starts_with("hookrun ") => {
            Some(error(format!("`{shown}` is {said}, and this is {own}"), again))
        }
        Some(_) | None => Some(error(format!("`{shown}` does not say that it is hookrun"), again)),
    }
}
