//! Whether the program that installed hooks call is there, and is this hookrun.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrun::config::Environment;
use hookrun::exec::{child, command};
use hookrun::hook::Handler;

use super::{Finding, error, warning};
use crate::install::hosts::{Host, Shell};

/// How long a shell or a program may take to answer. A profile may be slow.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

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

/// The program that a host's shell finds.
fn found_by(shell: Shell, program: &str) -> Result<PathBuf, String> {
    let (file, flag) = match shell {
        Shell::Plain(name) => (PathBuf::from("/bin").join(name), "-c"),
        Shell::Login => (login_shell(), "-lc"),
    };
    let shown = file.display();
    let line = format!("command -v {}", shell_words::quote(program));
    let output = child::probe(&file, &[flag, &line], PROBE_LIMIT)
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?
        .ok_or_else(|| format!("`{shown} {flag}` took longer than {PROBE_LIMIT:?}"))?;
    // A profile may print too.
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = said.lines().rev().find(|line| line.starts_with('/')).map(PathBuf::from);
    path.ok_or_else(|| format!("`{shown} {flag}` finds no `{program}` in its PATH"))
}

/// The login shell of the account; `/bin/sh` where that is not known.
fn login_shell() -> PathBuf {
    let own = rustix::process::getuid().as_raw().to_string();
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let shell = accounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_own = fields.get(2) == Some(&own.as_str());
        fields.get(6).filter(|shell| is_own && shell.starts_with('/')).copied()
    });
    PathBuf::from(shell.unwrap_or("/bin/sh"))
}
