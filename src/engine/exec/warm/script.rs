//! Finds the interpreter and script of a program, and the properties that a kept interpreter and a
//! hook must share so that a forked process equals a fresh start.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::served::identity;
use crate::engine::exec::command::{
    FileStamp, Program, find_in_path, first_bytes, without_version, words_of_first_line,
};
use crate::engine::names::words;
use crate::engine::run::ColdReason;

/// Python options that a forked process shares with its interpreter.
const OPTION_LETTERS: &[u8] = b"BEIOPSbqsu";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScriptCommand {
    /// The interpreter's file. Not canonical: a virtual environment is found beside the link.
    pub(super) interpreter: PathBuf,
    pub(super) name: OsString,
    pub(super) options: Vec<OsString>,
    pub(super) script: OsString,
    /// The process name: the program, or what `env` started instead.
    pub(super) process_name: OsString,
    /// Modules of other packages than the standard library that the interpreter imports in advance.
    pub(super) imports: Vec<String>,
}

impl ScriptCommand {
    /// Returns the command of `program`, or why no interpreter can be kept for it. `search` is the
    /// hook's `PATH`.
    pub(super) fn of(
        program: &Program,
        search: Option<&[u8]>,
        imports: &[String],
    ) -> Result<ScriptCommand, ColdReason> {
        let start = first_bytes(&program.path).ok_or(ColdReason::NoScript)?;
        let mut command = match start.strip_prefix(b"#!") {
            // A shim, such as pyenv's.
            Some(_) if without_version(&file_name(&program.path).to_string_lossy()) == "python" => {
                return Err(ColdReason::Shim);
            }
            Some(rest) => by_first_line(rest, program, search)?,
            None => by_arguments(program)?,
        };
        // An interpreter with a relative name finds its library from the event's folder.
        let is_relative =
            command.name.as_bytes().contains(&b'/') && !Path::new(&command.name).is_absolute();
        let interpreter = file_name(&command.interpreter);
        if !interpreter.as_bytes().starts_with(b"python") || is_relative {
            return Err(ColdReason::NoScript);
        }
        if !first_bytes(&command.interpreter).is_some_and(|start| start.starts_with(b"\x7fELF")) {
            return Err(ColdReason::Shim);
        }
        for option in &command.options {
            let letters = option.as_bytes().strip_prefix(b"-").unwrap_or_default();
            if letters.is_empty() || letters.iter().any(|one| !OPTION_LETTERS.contains(one)) {
                return Err(ColdReason::Options);
            }
        }
        command.imports = imports.to_vec();
        Ok(command)
    }
}

/// Parses a `#!` line as Linux does, with at most one argument.
fn by_first_line(
    line: &[u8],
    program: &Program,
    search: Option<&[u8]>,
) -> Result<ScriptCommand, ColdReason> {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = str::from_utf8(line).map_err(|_| ColdReason::NoScript)?;
    let (interpreter, argument) = words_of_first_line(line);
    let rest = argument.unwrap_or_default();
    let mut command = ScriptCommand {
        interpreter: interpreter.into(),
        name: interpreter.into(),
        options: Vec::new(),
        script: program.path.clone().into_os_string(),
        process_name: file_name(&program.path),
        imports: Vec::new(),
    };
    if file_name(&command.interpreter) != "env" {
        if !rest.is_empty() {
            command.options.push(rest.into());
        }
        return Ok(command);
    }
    if rest.contains(|c: char| {
        !c.is_ascii_alphanumeric() && !c.is_ascii_whitespace() && !"._-/".contains(c)
    }) {
        return Err(ColdReason::Options);
    }
    let several = rest.strip_prefix("-S");
    let mut words = several.unwrap_or(rest).split_ascii_whitespace();
    let name = words.next().ok_or(ColdReason::NoScript)?;
    command.name = name.into();
    command.options = words.map(OsString::from).collect();
    if several.is_none() && !command.options.is_empty() {
        return Err(ColdReason::NoScript);
    }
    command.interpreter = if name.contains('/') {
        name.into()
    } else {
        let search = search.map(OsStr::from_bytes);
        find_in_path(name, search).ok_or(ColdReason::NoScript)?
    };
    command.process_name = file_name(&command.interpreter);
    Ok(command)
}

fn by_arguments(program: &Program) -> Result<ScriptCommand, ColdReason> {
    let mut words = program.arguments.iter();
    let mut options = Vec::new();
    let script = loop {
        let word = words.next().ok_or(ColdReason::NoScript)?;
        if !word.as_bytes().starts_with(b"-") {
            break word.clone();
        }
        options.push(word.clone());
    };
    // Its path may be a link beside its virtual environment.
    let name = Path::new(&program.name);
    let interpreter = if name.is_absolute() {
        name.to_path_buf()
    } else {
        program.path.clone()
    };
    Ok(ScriptCommand {
        interpreter,
        name: program.name.clone(),
        options,
        script,
        process_name: file_name(&program.path),
        imports: Vec::new(),
    })
}

fn file_name(file: &Path) -> OsString {
    file.file_name().unwrap_or_default().to_owned()
}

/// Variables that the interpreter and system libraries read at their start.
const START_UP: &[&str] = &["HOME", "LANG", "LANGUAGE", "LOCPATH", "TZ", "VIRTUAL_ENV"];

/// Prefixes of such variables.
const START_UP_PREFIXES: &[&str] = words!(
    "PYTHON" "LC_" "LD_" "GLIBC_" "MALLOC_" "OPENSSL_"
    // Of libraries that modules load.
    "MKL_" "OMP_" "OPENBLAS_"
);

/// Python variables that mean the same in a forked process. Others add search folders, print at
/// exit, or hook into the start.
const USUAL_OF_PYTHON: &[&str] = words!(
    "PYTHONCOERCECLOCALE" "PYTHONDONTWRITEBYTECODE" "PYTHONHASHSEED" "PYTHONINTMAXSTRDIGITS"
    "PYTHONIOENCODING" "PYTHONNODEBUGRANGES" "PYTHONNOUSERSITE" "PYTHONOPTIMIZE"
    "PYTHONPYCACHEPREFIX" "PYTHONSAFEPATH" "PYTHONUNBUFFERED" "PYTHONUSERBASE" "PYTHONUTF8"
);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct WarmKey {
    interpreter: PathBuf,
    /// Another file may be there by now.
    file: FileStamp,
    name: OsString,
    options: Vec<OsString>,
    imports: Vec<String>,
    /// `NAME=VALUE` of variables that count at the start.
    variables: Vec<Vec<u8>>,
}

impl WarmKey {
    /// Returns the key of `command` with the environment `lines`, or why no interpreter can be kept
    /// for it.
    pub(super) fn of(command: &ScriptCommand, lines: &[&[u8]]) -> Result<WarmKey, ColdReason> {
        let file = identity(&command.interpreter).ok_or(ColdReason::NoScript)?;
        let mut variables = Vec::new();
        for line in lines {
            let mut parts = line.splitn(2, |byte| *byte == b'=');
            let name = str::from_utf8(parts.next().unwrap_or_default()).unwrap_or_default();
            let is_set = parts.next().is_some_and(|value| !value.is_empty());
            if name.starts_with("PYTHON") && is_set && !USUAL_OF_PYTHON.contains(&name) {
                return Err(ColdReason::Variables);
            }
            // An interpreter with a bare name finds itself in `PATH`.
            let is_search = name == "PATH" && *command.interpreter.as_os_str() != command.name;
            let is_of_start = START_UP.contains(&name)
                || START_UP_PREFIXES.iter().any(|one| name.starts_with(one));
            if is_search || is_of_start {
                variables.push(line.to_vec());
            }
        }
        variables.sort();
        Ok(WarmKey {
            interpreter: command.interpreter.clone(),
            file,
            name: command.name.clone(),
            options: command.options.clone(),
            imports: command.imports.clone(),
            variables,
        })
    }
}

/// Returns the inherited properties that can be changed from outside, for comparison.
pub fn inherited_traits() -> String {
    use rustix::process::Resource::*;
    use rustix::process::{getgid, getgroups, getpriority_process, getrlimit, getuid};
    let limits = [As, Core, Cpu, Data, Fsize, Memlock, Nofile, Nproc, Stack].map(getrlimit);
    let user = (getuid(), getgid(), getgroups(), getpriority_process(None));
    let cgroup = std::fs::read_to_string("/proc/self/cgroup");
    let mut text = format!("{user:?} {limits:?} {cgroup:?}");
    for namespace in ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"] {
        let found = std::fs::read_link(format!("/proc/self/ns/{namespace}"));
        text.push_str(&found.unwrap_or_default().to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(first_line: &str) -> Result<String, ColdReason> {
        let program = Program {
            path: PathBuf::from("/hooks/guard.py"),
            name: "/hooks/guard.py".into(),
            arguments: Vec::new(),
        };
        let found = by_first_line(first_line.as_bytes(), &program, Some(b"/nowhere:/bin"))?;
        assert_eq!(found.script, "/hooks/guard.py");
        let words = [found.interpreter.into_os_string(), found.name];
        let words: Vec<OsString> = words.into_iter().chain(found.options).collect();
        Ok(words.join(OsStr::new("|")).into_string().unwrap())
    }

    #[test]
    fn the_first_line_is_read_as_the_system_reads_it() {
        for (line, words) in [
            ("/bin/sh -u\nmore", "/bin/sh|/bin/sh|-u"),
            ("/bin/sh -s -u", "/bin/sh|/bin/sh|-s -u"),
            (" /usr/bin/env sh", "/bin/sh|sh"),
            ("/usr/bin/env -S sh -s -u", "/bin/sh|sh|-s|-u"),
        ] {
            assert_eq!(of(line).as_deref(), Ok(words), "{line}");
        }
    }

    #[test]
    fn what_env_would_not_start_is_no_script() {
        for (line, why) in [
            ("/usr/bin/env", ColdReason::NoScript),
            ("/usr/bin/env sh -u", ColdReason::NoScript),
            ("/usr/bin/env no-such-program", ColdReason::NoScript),
            ("/usr/bin/env -S 'sh' -u", ColdReason::Options),
            ("/usr/bin/env -S A=1 sh", ColdReason::Options),
            ("/usr/bin/env $X", ColdReason::Options),
        ] {
            assert_eq!(of(line), Err(why), "{line}");
        }
    }
}
