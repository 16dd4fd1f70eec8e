//! Finds and checks the program of a hook, and explains start errors.

use std::cmp::Reverse;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::iter;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Access;
use rustix::io::Errno;

use crate::engine::complaint::Complaint;
use crate::engine::hook::{Handler, duration_text};

const SET_ID: u32 = 0o6000;
const ANY_RUN_BIT: u32 = 0o111;
const WRITE_BY_OTHERS: u32 = 0o002;
const SEARCH_BY_OTHERS: u32 = 0o001;
const STICKY: u32 = 0o1000;

/// The flag `O_PATH` of Linux, which opens a file only to name it.
const LINUX_O_PATH: i32 = 0o10_000_000;

const LARGEST: usize = 3;
/// Linux follows no more links than this in a path (path_resolution(7)).
pub(crate) const MOST_LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Program {
    /// Canonical absolute path, resolved once: the checked file is the one that starts.
    pub path: PathBuf,
    /// `argv[0]`: the path as written.
    pub name: OsString,
    pub arguments: Vec<OsString>,
}

/// Hook files, which must stay as loaded.
pub(crate) trait SealedFiles: Send + Sync {
    /// Returns the stamps at load time, for comparison.
    fn loaded(&self) -> Vec<u8>;

    /// Returns the current stamps, or the reason to block if the content changed.
    fn check(&self) -> Result<Vec<u8>, String>;

    /// Returns the reason to block if a file or folder was touched or replaced since `stamps`.
    /// Equal content does not help: the executed content may have been swapped in and out.
    fn changed_since(&self, stamps: &[u8]) -> Option<String>;

    /// Returns a copy of a script as it was checked. `None` if it must be started by its path.
    fn copy_of_script(&self, script: &Path) -> Option<ScriptCopy>;
}

/// A script as it was checked: the file at its path may be replaced before its interpreter opens it.
#[derive(Debug)]
pub(crate) struct ScriptCopy {
    /// Its interpreter, with the argument in its first line.
    pub(crate) interpreter: Vec<OsString>,
    /// Error messages name the script instead.
    pub(crate) path: PathBuf,
}

impl ScriptCopy {
    /// Returns the program that runs it with the arguments of `program`.
    pub(super) fn program(&self, program: &Program) -> Program {
        let interpreter = self.interpreter.iter().cloned();
        let script = iter::once(self.path.clone().into());
        let mut words = interpreter.chain(script).chain(program.arguments.clone());
        let name = words.next().unwrap_or_default();
        Program {
            path: PathBuf::from(&name),
            name,
            arguments: words.collect(),
        }
    }
}

/// Finds and checks the program of `handler`. `search` is the `PATH` for bare names.
///
/// Rejects files without an executable bit, world-writable files and folders, and drop-ins that are
/// setuid or setgid.
pub fn resolve(handler: &Handler, search: Option<&OsStr>) -> Result<Program, Complaint> {
    match handler {
        Handler::File(file) => Ok(Program {
            path: check(file, true)?,
            name: file.into(),
            arguments: Vec::new(),
        }),
        Handler::Words { words, base } => {
            let (program, arguments) = words.split_first().ok_or_else(|| {
                Complaint::with_cure("its command is empty", "write the program to run")
            })?;
            let file = find(program, base, search)?;
            Ok(Program {
                path: check(&file, false)?,
                name: program.into(),
                arguments: arguments.iter().map(OsString::from).collect(),
            })
        }
        Handler::Shell(line) => Ok(Program {
            path: PathBuf::from("/bin/sh"),
            name: "/bin/sh".into(),
            arguments: vec!["-c".into(), line.into()],
        }),
        Handler::Rule(_) | Handler::Function(_) => Err(Complaint::new("it is not a program")),
    }
}

/// Finds the file of `program`: relative to `base` if it has a slash, else in `search`.
fn find(program: &str, base: &Path, search: Option<&OsStr>) -> Result<PathBuf, Complaint> {
    if program.contains('/') {
        return Ok(base.join(program));
    }
    find_in_path(program, search).ok_or_else(|| {
        Complaint::with_cure(
            format!("no program `{program}` in PATH"),
            format!(
                "install it, or write its path: `./{program}` for a script next to hookrun.toml"
            ),
        )
    })
}

pub(crate) fn find_in_path(program: &str, search: Option<&OsStr>) -> Option<PathBuf> {
    // execvp's default.
    let search = search.unwrap_or_else(|| OsStr::new("/bin:/usr/bin"));
    let folders = env::split_paths(search).filter(|folder| folder.is_absolute());
    let mut candidates = folders.map(|folder| folder.join(program));
    candidates.find(|file| is_runnable(file))
}

fn is_runnable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & ANY_RUN_BIT != 0)
}

fn check(file: &Path, is_drop_in: bool) -> Result<PathBuf, Complaint> {
    let shown = file.display();
    let (path, meta) = resolved(file).map_err(|error| missing(file, &error))?;
    if !meta.is_file() {
        return Err(Complaint::with_cure(
            format!("`{shown}` is not a file"),
            "replace it with an executable file, or remove it",
        ));
    }
    let mode = meta.permissions().mode();
    if mode & ANY_RUN_BIT == 0 {
        return Err(Complaint::with_cure(
            format!("`{shown}` is not executable"),
            format!("run `chmod +x {}`", quoted(file)),
        ));
    }
    if is_drop_in && mode & SET_ID != 0 {
        return Err(Complaint::with_cure(
            format!("`{shown}` is setuid or setgid, but hooks run as the current user"),
            format!("run `chmod ug-s {}`", quoted(file)),
        ));
    }
    // The checked path starts, even if a link changes in the meantime.
    match open_part(file, &path, &meta) {
        Some(open) => Err(Complaint::with_cure(
            format!("`{}` is world-writable", open.display()),
            access_cure(&open),
        )),
        None => Ok(path),
    }
}

/// What lets every user replace the program `file`, which is `path` without links.
fn open_part(file: &Path, path: &Path, meta: &Metadata) -> Option<PathBuf> {
    if everyone_may_write(path, meta) {
        return Some(path.to_path_buf());
    }
    for named in [path, file] {
        if let Some(folder) = named.parent().filter(|folder| is_open_to_everyone(folder)) {
            return Some(folder.to_path_buf());
        }
        if path == file {
            return None;
        }
    }
    world_writable_part(file)
}

/// The path of a file without links, and the file's metadata. If `/proc` shows that there is no link,
/// the kernel walks the path once; `canonicalize` takes one system call for each component. Another
/// path in `/proc` may also be that of a file that was renamed after it was opened.
fn resolved(file: &Path) -> io::Result<(PathBuf, Metadata)> {
    let mut options = File::options();
    options.read(true).custom_flags(LINUX_O_PATH);
    if env::consts::OS == "linux"
        && let Ok(opened) = options.open(file)
        && let Ok(path) = fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd()))
        && path == file
    {
        return Ok((path, opened.metadata()?));
    }
    let path = file.canonicalize()?;
    let meta = path.metadata()?;
    Ok((path, meta))
}

fn missing(file: &Path, error: &io::Error) -> Complaint {
    let shown = file.display();
    if error.kind() != io::ErrorKind::NotFound {
        return Complaint::with_cure(
            format!("cannot read `{shown}`: {error}"),
            "check the path and its permissions",
        );
    }
    if file.is_symlink() {
        return Complaint::with_cure(
            format!("`{shown}` is a link to a file that does not exist"),
            "fix or remove the link",
        );
    }
    Complaint::with_cure(
        format!("no such file: `{shown}`"),
        "create it, or correct the path",
    )
}

fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// Returns what lets every user change a file or folder, or replace it if it is a link: itself, or the
/// folder of a link's target.
pub fn world_writable_part(path: &Path) -> Option<PathBuf> {
    let mut at = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(target) = at.read_link() else {
            break;
        };
        // With a slash at its end, a path is that of the folder to which a link leads.
        at = at.parent()?.join(target).components().collect();
        if let Some(folder) = at.parent().filter(|folder| is_open_to_everyone(folder)) {
            return Some(folder.to_path_buf());
        }
    }
    // The sticky bit does not keep others from adding files.
    let meta = at.metadata();
    let is_open = meta.is_ok_and(|meta| meta.permissions().mode() & WRITE_BY_OTHERS != 0);
    (is_open && can_be_reached(&at)).then_some(at)
}

/// Returns true if every user may write to a file or add files to a folder, and can reach it. A
/// private parent folder prevents that.
pub fn is_open_to_everyone(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| everyone_may_write(path, &meta))
}

/// Like [`is_open_to_everyone`], with known metadata.
pub fn everyone_may_write(path: &Path, meta: &Metadata) -> bool {
    let mode = meta.permissions().mode();
    let is_open = mode & WRITE_BY_OTHERS != 0 && !(meta.is_dir() && mode & STICKY != 0);
    is_open && can_be_reached(path)
}

fn can_be_reached(path: &Path) -> bool {
    // An unknown folder counts as reachable.
    let Ok(path) = path.canonicalize() else {
        return true;
    };
    path.ancestors().skip(1).all(|folder| {
        folder.metadata().map_or(true, |meta| {
            meta.permissions().mode() & SEARCH_BY_OTHERS != 0
        })
    })
}

pub fn access_cure(path: &Path) -> String {
    format!(
        "run `chmod o-w {}`; if your umask is 0000, set it to 0022, or new files are world-writable too",
        quoted(path)
    )
}

pub(super) fn hung(program: &Program, time: Duration) -> Complaint {
    Complaint::with_cure(
        format!(
            "the system took {} to start `{}`",
            duration_text(Duration::from_millis(time.as_millis() as u64)),
            program.path.display()
        ),
        "check the file system, and any process that has the file open",
    )
}

pub(super) fn too_long(mut variables: Vec<(String, usize)>) -> Complaint {
    let bytes = variables.iter().map(|(_, bytes)| bytes).sum::<usize>();
    variables.sort_by_key(|(_, bytes)| Reverse(*bytes));
    let largest = variables.iter().take(LARGEST);
    let largest = largest.map(|(name, bytes)| format!("`{name}` ({bytes} bytes)"));
    Complaint::with_cure(
        format!(
            "its environment and arguments are longer than the system allows; the {} variables have \
             {bytes} bytes in total, and the largest are {}",
            variables.len(),
            largest.collect::<Vec<String>>().join(", "),
        ),
        "shorten or unset these variables before you start hookrun, or raise the stack limit \
         (`ulimit -s`): a quarter of it is available for them",
    )
}

/// Interpreters by script extensions, the usual one first.
pub const INTERPRETERS: &[(&[&str], &[&str])] = &[
    (&["sh"], &["sh", "dash", "ksh"]),
    (&["py"], &["python3"]),
    (&["rb"], &["ruby"]),
    (
        &["js", "mjs", "cjs", "ts", "mts"],
        &["node", "deno", "bun", "tsx", "ts-node"],
    ),
    (&["pl"], &["perl"]),
    (&["php"], &["php"]),
    (&["lua"], &["lua"]),
    (&["bash"], &["bash"]),
    (&["zsh"], &["zsh"]),
    (&["fish"], &["fish"]),
    (&["ps1"], &["pwsh"]),
    (&["R", "r"], &["Rscript"]),
];

/// Whether a program with this base name runs scripts, in any version.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let mut known = INTERPRETERS.iter().flat_map(|(_, names)| *names);
    known.any(|known| without_version(known) == without_version(name))
}

pub fn first_line(interpreter: &str) -> String {
    match interpreter {
        "sh" => "#!/bin/sh".to_string(),
        other => format!("#!/usr/bin/env {other}"),
    }
}

fn first_line_for(script: &Path) -> String {
    let ending = script.extension().and_then(OsStr::to_str);
    let ending = ending.unwrap_or_default();
    let mut rows = INTERPRETERS.iter();
    let known = rows.find(|(endings, _)| endings.contains(&ending));
    first_line(known.map_or("sh", |(_, names)| names[0]))
}

/// Removes a version suffix: `python` for `python3.12`.
pub fn without_version(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Finds an installed program with a similar name: `python3` for `python`.
pub fn near_program(program: &str, is_there: impl Fn(&str) -> bool) -> Option<String> {
    let bare = without_version(program);
    let other = match bare.strip_suffix("nodejs") {
        Some(folder) => format!("{folder}node"),
        None => format!("{bare}js"),
    };
    let near = [format!("{bare}3"), bare.to_string(), other];
    near.into_iter()
        .find(|name| !bare.is_empty() && name != program && is_there(name))
}

pub fn interpreter_cure(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("`{near}` exists: use it in the first line"),
        None => "install it, or correct the first line".to_string(),
    }
}

/// Explains why the system could not start a program that passed all checks.
pub(super) fn explain(program: &Program, cwd: Option<&Path>, error: &io::Error) -> Complaint {
    if let Some(cwd) = cwd.filter(|cwd| rustix::fs::access(*cwd, Access::EXEC_OK).is_err()) {
        return Complaint::with_cure(
            format!(
                "its working directory `{}` cannot be entered",
                cwd.display()
            ),
            "the `cwd` of the event or the hook must be a folder that hookrun can enter",
        );
    }
    let shown = program.path.display();
    let interpreter = interpreter_of(&program.path);
    let raw = error.raw_os_error().map(Errno::from_raw_os_error);
    match (raw, interpreter) {
        (Some(Errno::NOENT), Some(line)) if line.ends_with('\r') => Complaint::with_cure(
            format!(
                "the first line of `{shown}` ends in CR LF, so the system cannot find its interpreter"
            ),
            format!("run `sed -i 's/\\r$//' {}`", quoted(&program.path)),
        ),
        (Some(Errno::NOENT), Some(line)) => {
            let program = line.split_whitespace().next().unwrap_or_default();
            let near = near_program(program, |other| is_runnable(Path::new(other)));
            Complaint::with_cure(
                format!(
                    "the interpreter of `{shown}` does not exist: `{}`",
                    line.trim()
                ),
                interpreter_cure(near.as_deref()),
            )
        }
        (Some(Errno::NOEXEC), _) => Complaint::with_cure(
            format!(
                "`{shown}` is neither a program for this system nor a script with a first line like `{}`",
                first_line_for(&program.path)
            ),
            "if it is a script, add that line",
        ),
        (Some(Errno::ACCESS), Some(line)) => Complaint::with_cure(
            format!(
                "permission denied for `{shown}` or its interpreter `{}`",
                line.trim()
            ),
            "check both, and whether the file system is mounted noexec",
        ),
        // EBADF means that the limit was lowered meanwhile.
        (Some(Errno::MFILE | Errno::NFILE | Errno::BADF), _) => Complaint::with_cure(
            format!("out of file descriptors ({error})"),
            "raise the limit (`ulimit -n`)",
        ),
        (Some(Errno::AGAIN | Errno::NOMEM), _) => Complaint::with_cure(
            format!("the system cannot start another process ({error})"),
            "check the process limit (`ulimit -u`) and the free memory",
        ),
        _ => Complaint::with_cure(
            format!("cannot start `{shown}`: {error}"),
            "run it manually for details",
        ),
    }
}

/// Checks by a program's first bytes whether it could start, without running it. Returns the error
/// of the start.
pub fn check_format(program: &Program) -> Result<(), Complaint> {
    let path = &program.path;
    let line = interpreter_of(path).unwrap_or_default();
    let interpreter = line.split([' ', '\t']).find(|word| !word.is_empty());
    let errno = if rustix::fs::access(path, Access::EXEC_OK).is_err() {
        Errno::ACCESS
    } else if let Some(interpreter) = interpreter {
        if Path::new(interpreter).exists() {
            return Ok(());
        }
        Errno::NOENT
    } else {
        let start = first_bytes(path);
        if start.is_none_or(|start| MACHINE_CODE.iter().any(|magic| start.starts_with(magic))) {
            return Ok(());
        }
        Errno::NOEXEC
    };
    Err(explain(program, None, &errno.into()))
}

/// Magic numbers: ELF, and Mach-O in its 64-bit and universal forms.
const MACHINE_CODE: &[&[u8]] = &[b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];

/// Returns the text after `#!` in a script's first line.
pub fn interpreter_of(path: &Path) -> Option<String> {
    let start = first_bytes(path)?;
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// Returns the interpreter and its one argument in the text after `#!`, as Linux reads them. A
/// carriage return belongs to the last word.
pub(crate) fn words_of_first_line(text: &str) -> (&str, Option<&str>) {
    let line = text.split('\n').next().unwrap_or_default();
    let line = line.trim_matches([' ', '\t']);
    match line.split_once([' ', '\t']) {
        Some((program, argument)) => (program, Some(argument.trim_start_matches([' ', '\t']))),
        None => (line, None),
    }
}

/// Returns the bytes that Linux reads to find the interpreter (`BINPRM_BUF_SIZE`).
pub(crate) fn first_bytes(file: &Path) -> Option<Vec<u8>> {
    let mut start = Vec::new();
    let opened = File::open(file).ok()?;
    opened.take(256).read_to_end(&mut start).ok()?;
    Some(start)
}

/// Device, inode, size, mtime and ctime in nanoseconds. A content change alters at least one, except
/// a write through shared memory.
pub(crate) type FileStamp = [i64; 5];

pub(crate) fn stamp_of(meta: &Metadata) -> FileStamp {
    let [modified, changed] = [
        (meta.mtime(), meta.mtime_nsec()),
        (meta.ctime(), meta.ctime_nsec()),
    ]
    .map(|(seconds, more)| seconds.saturating_mul(1_000_000_000).saturating_add(more));
    let size = meta.size().cast_signed();
    let device = meta.dev().cast_signed();
    [device, meta.ino().cast_signed(), size, modified, changed]
}
