//! How a host calls this program, and how its command is recognised.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::errand::Errand;
use crate::engine::hook::parse_duration;
use crate::engine::shell::{self, ShellWord};

use super::host::NAME;
use crate::cli::exit::Result;
use crate::hosts::Host;

/// How long a shell or a program may take to answer. A profile may be slow.
pub(crate) const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// What follows a command where a failure blocks. A shell that cannot find or start hookrun, or
/// sees it killed, then still says status 2, which every host with such an event takes for a block.
/// Normal blocks and allows are unchanged.
pub(crate) const GUARD: &str = " || { s=$?; [ $s = 2 ] || \
     echo \"hookrun ended with status $s and no decision\" >&2; exit 2; }";

/// The whole path of this program: where PATH finds it, so a new version is found too, else
/// its own file. A bare name would be looked up in a PATH that depends on how the host was started.
pub(crate) fn path(env: &Environment) -> Result<String> {
    let own = env.program.as_ref();
    let own = own.ok_or_else(|| Complaint::new("cannot tell where this program is"))?;
    let real = own.canonicalize().ok();
    let search = env.search.clone().unwrap_or_default();
    let mut candidates = std::env::split_paths(&search).map(|folder| folder.join(NAME));
    let found = candidates
        .find(|one| one.is_absolute() && real.is_some() && one.canonicalize().ok() == real);
    let path = found.as_ref().unwrap_or(own);
    let text = path
        .to_str()
        .filter(|path| !path.contains(char::is_control));
    text.map(str::to_string).ok_or_else(|| {
        Complaint::with_cure(
            format!("`{}` cannot be written into settings", path.display()),
            "put hookrun into a folder with a plain name",
        )
    })
}

pub(crate) fn command_line(program: &str, host: &Host) -> String {
    format!("{} run --host {}", shell_words::quote(program), host.name)
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InstalledCommand {
    pub(crate) program: String,
    pub(crate) budget: Option<Duration>,
    pub(crate) is_guarded: bool,
}

/// What a command for `host` calls; `None` for one that `install` does not write.
pub(crate) fn call_of(text: &str, host: &Host) -> Option<InstalledCommand> {
    let bare = text.strip_suffix(GUARD);
    let words = shell_words::split(bare.unwrap_or(text)).ok()?;
    let [program, run, flag, name, rest @ ..] = words.as_slice() else {
        return None;
    };
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
    Some(InstalledCommand {
        program: program.clone(),
        budget,
        is_guarded: bare.is_some(),
    })
}

pub(crate) fn is_own(text: &str, host: &Host, env: &Environment) -> bool {
    call_of(text, host).is_some_and(|call| {
        let path = Path::new(&call.program);
        path.file_name().is_some_and(|name| name == NAME) || env.program.as_deref() == Some(path)
    })
}

pub(crate) fn runs_hookrun(text: &str, env: &Environment) -> bool {
    let is_program = |word: &ShellWord| {
        let program = Path::new(word.shown());
        program.ends_with(NAME) || env.program.as_deref() == Some(program)
    };
    shell::read(text).commands.iter().any(|command| {
        let first = command.args.first().and_then(ShellWord::known);
        is_program(&command.program) && first == Some("run")
    })
}

/// The program that a host's shell finds: in `search`, or in the PATH that this process has.
pub(crate) fn found_by(
    shell: &str,
    program: &str,
    search: Option<&str>,
) -> std::result::Result<PathBuf, String> {
    let file = Path::new("/bin").join(shell);
    let shown = file.display();
    let line = format!("command -v {}", shell_words::quote(program));
    let line = match search {
        Some(search) => format!("PATH={}; {line}", shell_words::quote(search)),
        None => line,
    };
    let output = Errand::new(&file, ["-c", &line], PROBE_LIMIT)
        .output()
        .map_err(|error| format!("cannot start `{shown}`: {error}"))?
        .ok_or_else(|| format!("`{shown} -c` took longer than {PROBE_LIMIT:?}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = said
        .lines()
        .rev()
        .find(|line| line.starts_with('/'))
        .map(PathBuf::from);
    path.ok_or_else(|| format!("`{shown} -c` finds no `{program}` in its PATH"))
}
