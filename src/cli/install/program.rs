//! How a host calls this program, and how its command is known again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrun::config::Environment;
use hookrun::exec::{child, command};
use hookrun::hook::{Handler, parse_duration};

use super::hosts::{Host, Shell};
use crate::exit::{Failure, Result};

/// What this program is called where PATH finds it.
pub(crate) const NAME: &str = "hookrun";

/// How long a shell or a program may take to answer. A profile may be slow.
pub(crate) const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// How `host` is to call this program: `hookrun` where that finds it, else its whole path. Where the
/// host starts a login shell, that one must find it as well: its profile may set another PATH.
pub(super) fn of(host: &Host, env: &Environment) -> Result<String> {
    let own = env.program.as_ref();
    let own = own.ok_or_else(|| Failure::new("it is not known where this program lies"))?;
    let by_name = Handler::Words { words: vec![NAME.to_string()], base: PathBuf::new() };
    let found = command::resolve(&by_name, env.search.as_deref()).ok();
    let is_this = |path: &Path| path.canonicalize().ok() == own.canonicalize().ok();
    let is_found_by_host = || match host.shell {
        Shell::Plain(_) => true,
        Shell::Login => found_by(host.shell, NAME).is_ok_and(|path| is_this(&path)),
    };
    if found.is_some_and(|found| is_this(&found.path)) && is_found_by_host() {
        return Ok(NAME.to_string());
    }
    let path = own.to_str().filter(|path| !path.contains(char::is_control));
    path.map(str::to_string).ok_or_else(|| {
        Failure::with_help(
            format!("`{}` cannot be written into settings", own.display()),
            "put hookrun into a folder with a plain name",
        )
    })
}

/// The command of the hooks that are installed.
pub(super) fn command_line(program: &str, host: &Host) -> String {
    format!("{} run --host {}", shell_words::quote(program), host.name)
}

/// A command that `install` writes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) program: String,
    /// Its `--budget`.
    pub(crate) budget: Option<Duration>,
}

/// What a command for `host` calls; `None` for one that `install` does not write.
pub(crate) fn call_of(text: &str, host: &Host) -> Option<Call> {
    let words = shell_words::split(text).ok()?;
    let [program, run, flag, name, rest @ ..] = words.as_slice() else { return None };
    if run != "run" || flag != "--host" || name != host.name {
        return None;
    }
    let budget = match rest {
        [] => None,
        [event] if !event.starts_with('-') => None,
        [flag, budget] | [_, flag, budget] if flag == "--budget" => {
            Some(parse_duration(budget).ok()?)
        }
        _ => return None,
    };
    Some(Call { program: program.clone(), budget })
}

/// Whether a command is one that `install` writes for `host`.
pub(crate) fn is_own(text: &str, host: &Host, env: &Environment) -> bool {
    call_of(text, host).is_some_and(|call| {
        let path = Path::new(&call.program);
        path.file_name().is_some_and(|name| name == NAME) || env.program.as_deref() == Some(path)
    })
}

/// The program that a host's shell finds.
pub(crate) fn found_by(shell: Shell, program: &str) -> std::result::Result<PathBuf, String> {
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
