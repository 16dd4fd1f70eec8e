//! Which interpreter would run a program, and with which script.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::engine::exec::command::Program;
use crate::engine::run::ColdReason;

/// The letters of Python's options that a forked process has from the interpreter it comes from.
const OPTION_LETTERS: &[u8] = b"BEIOPSbqsu";

/// How much of a file says who runs it: as much as Linux reads (`BINPRM_BUF_SIZE`).
const FIRST_BYTES: u64 = 256;

/// A script, and the interpreter that the system would start for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScriptCommand {
    /// The interpreter's file. Not canonical: a virtual environment is found beside the link.
    pub(super) interpreter: PathBuf,
    /// Its `argv[0]`.
    pub(super) name: OsString,
    pub(super) options: Vec<OsString>,
    /// As the command names it.
    pub(super) script: OsString,
    /// What the system calls the process: the program that it was told to start, or what `env`
    /// has started in its place.
    pub(super) process_name: OsString,
}

impl ScriptCommand {
    /// What `program` runs. `search` is the `PATH` of the hook.
    ///
    /// # Errors
    /// Why no interpreter can be kept for it.
    pub(super) fn of(
        program: &Program,
        search: Option<&[u8]>,
    ) -> Result<ScriptCommand, ColdReason> {
        let start = first_bytes(&program.path).ok_or(ColdReason::NoScript)?;
        let command = match start.strip_prefix(b"#!") {
            Some(_) if is_called_python(&program.path) => return Err(ColdReason::Shim),
            Some(rest) => by_first_line(rest, program, search)?,
            None => by_arguments(program)?,
        };
        let name = command
            .interpreter
            .file_name()
            .unwrap_or_default()
            .as_bytes();
        // By a relative name an interpreter finds its library from the folder of the event.
        let is_relative =
            command.name.as_bytes().contains(&b'/') && !Path::new(&command.name).is_absolute();
        if !name.starts_with(b"python") || is_relative {
            return Err(ColdReason::NoScript);
        }
        if !first_bytes(&command.interpreter).is_some_and(|start| start.starts_with(b"\x7fELF")) {
            return Err(ColdReason::Shim);
        }
        let is_usual = |option: &OsString| {
            let letters = option.as_bytes().strip_prefix(b"-").unwrap_or_default();
            !letters.is_empty() && letters.iter().all(|letter| OPTION_LETTERS.contains(letter))
        };
        match command.options.iter().all(is_usual) {
            true => Ok(command),
            false => Err(ColdReason::Options),
        }
    }
}

/// The command of a script whose first line names its interpreter, by the rules of Linux: one
/// argument at the most.
fn by_first_line(
    line: &[u8],
    program: &Program,
    search: Option<&[u8]>,
) -> Result<ScriptCommand, ColdReason> {
    let line = line
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let end = line
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\t'))
        .unwrap_or(line.len());
    let (interpreter, rest) = line.split_at(end);
    let rest = rest.trim_ascii();
    let script = program.path.clone().into_os_string();
    let interpreter = PathBuf::from(OsString::from_vec(interpreter.to_vec()));
    if interpreter.file_name().is_some_and(|name| name == "env") {
        let words = rest.strip_prefix(b"-S").unwrap_or(rest);
        let mut words = words
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|w| !w.is_empty());
        let name = words.next().ok_or(ColdReason::NoScript)?;
        let options: Vec<OsString> = words
            .map(|word| OsString::from_vec(word.to_vec()))
            .collect();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/".contains(byte);
        if !rest
            .iter()
            .all(|byte| is_plain(byte) || byte.is_ascii_whitespace())
        {
            return Err(ColdReason::Options);
        }
        if !options.is_empty() && !rest.starts_with(b"-S") {
            return Err(ColdReason::NoScript);
        }
        let name = OsString::from_vec(name.to_vec());
        let interpreter = find(&name, search).ok_or(ColdReason::NoScript)?;
        let process_name = file_name(&interpreter);
        return Ok(ScriptCommand {
            interpreter,
            name,
            options,
            script,
            process_name,
        });
    }
    let options = if rest.is_empty() {
        Vec::new()
    } else {
        vec![OsString::from_vec(rest.to_vec())]
    };
    let name = interpreter.clone().into_os_string();
    let process_name = file_name(&program.path);
    Ok(ScriptCommand {
        interpreter,
        name,
        options,
        script,
        process_name,
    })
}

/// The command of a program that is an interpreter, and is given the script.
fn by_arguments(program: &Program) -> Result<ScriptCommand, ColdReason> {
    let is_option = |word: &&OsString| word.as_bytes().starts_with(b"-");
    let options: Vec<OsString> = program
        .arguments
        .iter()
        .take_while(is_option)
        .cloned()
        .collect();
    let script = program
        .arguments
        .get(options.len())
        .ok_or(ColdReason::NoScript)?;
    // Its own path may be a link, beside which its virtual environment is.
    let interpreter = match Path::new(&program.name) {
        name if name.is_absolute() => name.to_path_buf(),
        _ => program.path.clone(),
    };
    let (name, script) = (program.name.clone(), script.clone());
    let process_name = file_name(&program.path);
    Ok(ScriptCommand {
        interpreter,
        name,
        options,
        script,
        process_name,
    })
}

/// The file that `env` would start.
fn find(name: &OsStr, search: Option<&[u8]>) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(name.into());
    }
    let folders = std::env::split_paths(OsStr::from_bytes(search?));
    let mut files = folders
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name));
    files.find(|file| rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok())
}

fn file_name(file: &Path) -> OsString {
    file.file_name().unwrap_or_default().to_owned()
}

/// Whether a file has the name of an interpreter, such as `python3.12`.
fn is_called_python(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_bytes();
    let is_version = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    name.strip_prefix(b"python")
        .is_some_and(|version| version.iter().all(is_version))
}

fn first_bytes(file: &Path) -> Option<Vec<u8>> {
    let mut start = Vec::new();
    File::open(file)
        .ok()?
        .take(FIRST_BYTES)
        .read_to_end(&mut start)
        .ok()?;
    Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(first_line: &str) -> Result<ScriptCommand, ColdReason> {
        let program = Program {
            path: PathBuf::from("/hooks/guard.py"),
            name: "/hooks/guard.py".into(),
            arguments: Vec::new(),
        };
        by_first_line(first_line.as_bytes(), &program, Some(b"/nowhere:/bin"))
    }

    #[test]
    fn the_first_line_is_read_as_the_system_reads_it() {
        let found = of("/bin/sh -u\nmore").unwrap();
        assert_eq!(
            (found.interpreter.as_path(), found.name.as_os_str()),
            (Path::new("/bin/sh"), OsStr::new("/bin/sh"))
        );
        assert_eq!(
            (found.options, found.script),
            (vec!["-u".into()], "/hooks/guard.py".into())
        );
        let found = of(" /usr/bin/env sh").unwrap();
        assert_eq!(
            (found.interpreter.as_path(), found.name.as_os_str()),
            (Path::new("/bin/sh"), OsStr::new("sh"))
        );
        assert_eq!(
            of("/usr/bin/env -S sh -s -u").unwrap().options,
            ["-s", "-u"]
        );
        assert_eq!(
            of("/bin/sh -s -u").unwrap().options,
            ["-s -u"],
            "one argument only"
        );
    }

    #[test]
    fn what_env_would_not_start_is_no_script() {
        for line in [
            "/usr/bin/env",
            "/usr/bin/env sh -u",
            "/usr/bin/env no-such-program",
        ] {
            assert_eq!(of(line), Err(ColdReason::NoScript), "{line}");
        }
        for line in [
            "/usr/bin/env -S 'sh' -u",
            "/usr/bin/env -S A=1 sh",
            "/usr/bin/env $X",
        ] {
            assert_eq!(of(line), Err(ColdReason::Options), "{line}");
        }
    }
}
