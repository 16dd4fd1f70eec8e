//! `hookrun confine`: a process that applies a hook's limits, namespace and sandbox to itself, and then becomes the hook.
//!
//! It is a separate process between hookrun and the hook, because setting these bounds from outside
//! leaves a moment in which they do not hold. Only hooks that use them pay for it. It reports an
//! error as one marked line on stderr.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::process::{Resource, Rlimit};
use serde::{Deserialize, Serialize};

use super::sandbox::{self, SandboxRules};
use super::{child, command::Program};
use crate::engine::hook::OWN_IMAGE;
use crate::engine::hook::limits::ProcessLimits;
use crate::engine::run::{CapturedStream, Exit, StartError};

/// The exit status of a process that did not become the hook. A shell uses the same for a program
/// that it found and could not start.
pub const NEVER_BECAME: u8 = 126;

/// How its line on stderr begins. No ordinary text begins like this.
const MARK: &str = "\0hookrun confine: ";

/// The argument, in place of bounds, that starts the innermost process of a namespace.
pub const INIT: &str = "init";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProcessBounds {
    /// The expected parent, so that the process notices when that parent has died.
    pub(super) parent: i32,
    pub(super) limits: ProcessLimits,
    /// Whether it runs in a new process namespace.
    pub(super) has_namespace: bool,
    pub(super) rules: Option<SandboxRules>,
}

#[derive(Debug)]
enum ConfineFailure {
    /// The hook ran in a namespace and ended with this status.
    With(ExitStatus),
    /// The hook never ran.
    Never(StartError),
}

impl ProcessBounds {
    pub(super) fn around(&self, own: &Path, hook: &Program) -> Result<Program, StartError> {
        let bounds = serde_json::to_string(self).map_err(|error| {
            StartError::new(
                format!("a path of its bounds is no text ({error})"),
                "give the folder a name in UTF-8",
            )
        })?;
        let mut arguments: Vec<OsString> = vec!["confine".into(), bounds.into()];
        arguments.push(hook.path.clone().into());
        arguments.push(hook.name.clone());
        arguments.extend(hook.arguments.iter().cloned());
        Ok(Program {
            path: own.to_path_buf(),
            name: "hookrun".into(),
            arguments,
        })
    }
}

/// The main function of `hookrun confine BOUNDS PROGRAM NAME ARGUMENT…`, and of `hookrun confine
/// init`, the first process of a namespace. On success it does not return if the hook takes over
/// this process; otherwise it returns the exit status.
pub fn enter(arguments: &[OsString]) -> u8 {
    if arguments.first().is_some_and(|first| first == INIT) {
        // The namespace lives as long as its first process, which lives as long as the pipe.
        if child::adopt_until_end(io::stdin().as_fd()).is_err() {
            let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        }
        return 0;
    }
    match become_hook(arguments) {
        ConfineFailure::With(status) => leave_with(status),
        ConfineFailure::Never(error) => {
            let line = serde_json::to_string(&error).unwrap_or_default();
            let _ = writeln!(io::stderr(), "{MARK}{line}");
            NEVER_BECAME
        }
    }
}

/// Why a process did not become its hook; `None` if it did, or did not have to.
pub(super) fn failed(exit: Exit, stderr: &CapturedStream) -> Option<StartError> {
    if exit != Exit::Status(i32::from(NEVER_BECAME)) {
        return None;
    }
    let text = String::from_utf8_lossy(&stderr.head);
    // The system's loader may have complained first.
    let (_, line) = text.split_once(MARK)?;
    serde_json::from_str(line).ok()
}

fn become_hook(arguments: &[OsString]) -> ConfineFailure {
    let (bounds, program) = match read(arguments) {
        Ok(read) => read,
        Err(problem) => return ConfineFailure::Never(own_fault(problem)),
    };
    match set(&bounds) {
        Ok(()) if bounds.has_namespace => run_inside(&program, bounds.limits),
        Ok(()) => {
            let error = set_limits(bounds.limits).err();
            let error = error.unwrap_or_else(|| child::become_program(&program));
            ConfineFailure::Never(super::command::explain(&program, None, &error))
        }
        Err(problem) => ConfineFailure::Never(StartError::new(
            problem,
            "run it where that is allowed, or change its `containment` or `sandbox`",
        )),
    }
}

fn read(arguments: &[OsString]) -> Result<(ProcessBounds, Program), String> {
    let [bounds, path, name, arguments @ ..] = arguments else {
        return Err("it needs bounds, a program and its name".to_string());
    };
    let bounds = serde_json::from_str(&bounds.to_string_lossy())
        .map_err(|error| format!("its bounds cannot be read: {error}"))?;
    let (path, name) = (PathBuf::from(path), name.clone());
    Ok((
        bounds,
        Program {
            path,
            name,
            arguments: arguments.to_vec(),
        },
    ))
}

/// Sets all bounds except the number of files, since this process still needs some.
fn set(bounds: &ProcessBounds) -> Result<(), String> {
    if bounds.rules.is_some() {
        close_inherited();
    }
    if bounds.has_namespace {
        // The hook ends at once when hookrun ends, even by SIGKILL.
        let _ = die_with_parent();
        let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        if parent != bounds.parent {
            return Err("hookrun has ended meanwhile".to_string());
        }
    }
    if bounds.has_namespace {
        let told = |error| format!("it cannot get its own process namespace: {error}");
        make_namespace().map_err(told)?;
    }
    let Some(rules) = &bounds.rules else {
        return Ok(());
    };
    sandbox::apply(rules).map_err(|error| format!("it gets no sandbox: {error}"))
}

/// Closes inherited descriptors other than the standard streams. A sandbox does not restrict files
/// that are already open.
fn close_inherited() {
    let open = std::fs::read_dir("/proc/self/fd").map(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name());
        names
            .filter_map(|name| name.to_str()?.parse().ok())
            .collect::<Vec<i32>>()
    });
    for fd in open
        .unwrap_or_else(|_| (3..4096).collect())
        .into_iter()
        .filter(|fd| *fd > 2)
    {
        let _ = nix::unistd::close(fd);
    }
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
}

#[cfg(target_os = "linux")]
fn make_namespace() -> io::Result<()> {
    use nix::sched::CloneFlags;
    let (user, group) = (
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    if nix::sched::unshare(CloneFlags::CLONE_NEWPID).is_ok() {
        return Ok(());
    }
    // Without the privilege this needs a user namespace, in which our user stays the same.
    nix::sched::unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> rustix::io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn make_namespace() -> io::Result<()> {
    Err(io::Error::other("only Linux has them"))
}

fn set_limits(limits: ProcessLimits) -> io::Result<()> {
    if let Some(files) = limits.files {
        lower(Resource::Nofile, files, files)?;
    }
    if let Some(bytes) = limits.memory_bytes {
        lower(Resource::Data, bytes, bytes)?;
    }
    if let Some(seconds) = limits.cpu_seconds {
        // SIGXCPU at the first, which says why the process ended; SIGKILL at the second.
        lower(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    }
    Ok(())
}

/// Lowers a limit of this process; one that is lower already stays.
fn lower(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let hard = rustix::process::getrlimit(resource).maximum;
    let limit = Rlimit {
        current: Some(hard.map_or(current, |hard| current.min(hard))),
        maximum: Some(hard.map_or(maximum, |hard| maximum.min(hard))),
    };
    rustix::process::setrlimit(resource, limit)?;
    Ok(())
}

/// Starts the namespace's first process, which only waits, and then the hook as a second one. The
/// first process of a namespace ignores signals, and the hook must not.
fn run_inside(program: &Program, limits: ProcessLimits) -> ConfineFailure {
    // Signals to the group are for the hook, which may send them itself. We must report its status.
    super::signals::survive();
    // Only Linux has namespaces.
    let own = Path::new(OWN_IMAGE);
    let first = child::companion(own, &["confine".to_string(), INIT.to_string()]);
    let (first, pipe) = match first {
        Ok(first) => first,
        Err(error) => {
            return ConfineFailure::Never(own_fault(format!("no first process: {error}")));
        }
    };
    let ran = set_limits(limits).and_then(|()| child::run_inside(program));
    // The whole namespace ends with its first process, which dies last.
    drop(pipe);
    let _ = child::reap_within(first, child::GIVE_UP);
    match ran {
        Ok(status) => ConfineFailure::With(status),
        Err(error) => ConfineFailure::Never(super::command::explain(program, None, &error)),
    }
}

/// Ends this process the way the hook ended.
fn leave_with(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let Some(signal) = status.signal() else {
        return status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(NEVER_BECAME);
    };
    // Avoids a second core file.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = rustix::process::setrlimit(Resource::Core, none);
    super::signals::end_by(signal);
    NEVER_BECAME
}

fn own_fault(problem: String) -> StartError {
    StartError::new(
        format!("its bounds could not be set: {problem}"),
        "this is a fault of hookrun's: report it",
    )
}
