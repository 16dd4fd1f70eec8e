//! Hooks with limits, a sandbox or a process namespace start through `hookrun confine`, which
//! applies these to itself and then executes the hook.
//!
//! Setting them from outside would leave a gap before they apply. Errors are reported as one marked
//! line on stderr.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Resource, Rlimit};
use serde::{Deserialize, Serialize};

use super::child::{GIVE_UP, become_program, reap_within};
use super::command::{Program, explain};
use super::engine::Engine;
use super::job::Job;
#[cfg(target_os = "linux")]
use super::landlock::{apply, lacking};
use super::sandbox::SandboxRules;
use super::signals;
use crate::engine::complaint::Complaint;
use crate::engine::hook::limits::ProcessLimits;
use crate::engine::hook::{Containment, OWN_IMAGE};
use crate::engine::run::{CapturedStream, Exit};

/// Exit status if the hook could not be executed, as in shells.
pub const NEVER_BECAME: u8 = 126;

/// Prefix of an error on stderr, which no ordinary text has.
const MARK: &str = "\0hookrun confine: ";

#[derive(Debug, Serialize, Deserialize)]
struct ProcessBounds {
    limits: ProcessLimits,
    rules: Option<SandboxRules>,
    namespace_of: Option<i32>,
}

impl Engine {
    /// Returns the program that confines itself and then executes `hook`. `None` if the hook needs
    /// no bounds, or its optional sandbox is unavailable, which adds a note.
    pub(super) fn confined(
        &self,
        job: &Job<'_>,
        hook: &Program,
        notes: &mut Vec<String>,
    ) -> Result<Option<Program>, Complaint> {
        let limits = job.hook.limits.of_process();
        let has_namespace = job.hook.containment == Containment::Pidns;
        let needs_process = limits.is_some() || has_namespace;
        if !needs_process && job.sandbox.is_none() {
            return Ok(None);
        }
        if job.hook.limits.memory_bytes.is_some() && !cfg!(target_os = "linux") {
            return Err(Complaint::with_cure(
                "this system cannot limit the hook's memory",
                "run it on Linux, or remove `limits.memory`",
            ));
        }
        if let Some(rules) = &job.sandbox {
            if !needs_process && self.program.is_none() && !rules.required {
                let note = "sandbox: not enforced, because the embedding program does not set the path of \
                            the hookrun binary (`Runner::program`)";
                notes.push(note.to_string());
                return Ok(None);
            }
            if let Some(lacking) = lacking(rules) {
                if rules.required {
                    return Err(Complaint::with_cure(
                        format!("its sandbox is not available: {lacking}"),
                        "run it on Linux 6.7 or later with Landlock, or set `sandbox.required = false`",
                    ));
                }
                notes.push(format!("sandbox: only partly enforced: {lacking}"));
            }
        }
        let Some(own) = &self.program else {
            return Err(Complaint::with_cure(
                "`sandbox`, `containment`, `limits.memory`, `limits.cpu` and `limits.files` need the hookrun binary, but the embedding program does not set its path",
                "give the path to the runner (`Runner::program`)",
            ));
        };
        let bounds = ProcessBounds {
            limits: limits.unwrap_or_default(),
            rules: job.sandbox.clone(),
            namespace_of: has_namespace.then(|| std::process::id().cast_signed()),
        };
        let bounds = serde_json::to_string(&bounds).map_err(|error| {
            Complaint::with_cure(
                format!("its sandbox names a path that is not UTF-8 ({error})"),
                "give the folder a name in UTF-8",
            )
        })?;
        let mut arguments: Vec<OsString> = vec!["confine".into(), bounds.into()];
        arguments.push(hook.path.clone().into());
        arguments.push(hook.name.clone());
        arguments.extend(hook.arguments.iter().cloned());
        Ok(Some(Program {
            path: own.path.clone(),
            name: "hookrun".into(),
            arguments,
        }))
    }
}

/// Main function of `hookrun confine BOUNDS PROGRAM NAME ARGUMENT…`, and of `hookrun confine
/// first`, the first process of a namespace. Without a namespace, the hook replaces this process;
/// otherwise returns the exit status.
pub fn enter(arguments: &[OsString]) -> u8 {
    if arguments == [FIRST] {
        return hold_open();
    }
    match become_hook(arguments) {
        Ok(status) => end_like(status),
        Err(error) => {
            let line = serde_json::to_string(&error).unwrap_or_default();
            let _ = writeln!(io::stderr(), "{MARK}{line}");
            NEVER_BECAME
        }
    }
}

pub(super) fn failed(exit: Exit, stderr: &CapturedStream) -> Option<Complaint> {
    if exit != Exit::Status(i32::from(NEVER_BECAME)) {
        return None;
    }
    let text = String::from_utf8_lossy(&stderr.head);
    // The dynamic loader may have printed something first.
    let (_, line) = text.split_once(MARK)?;
    serde_json::from_str(line).ok()
}

/// Returns the hook's exit status in its namespace. Without a namespace, returns only errors.
fn become_hook(arguments: &[OsString]) -> Result<ExitStatus, Complaint> {
    let [bounds, path, name, arguments @ ..] = arguments else {
        return Err(own_fault(
            "`hookrun confine` was called without limits, a program and a name",
        ));
    };
    let bounds: ProcessBounds = serde_json::from_str(&bounds.to_string_lossy())
        .map_err(|error| own_fault(&format!("they are not valid JSON: {error}")))?;
    let program = Program {
        path: path.into(),
        name: name.clone(),
        arguments: arguments.to_vec(),
    };
    if bounds.rules.is_some() {
        close_inherited();
    }
    let mut namespace = None;
    if let Some(hookrun) = bounds.namespace_of {
        let made = Namespace::make(hookrun).map_err(|error| {
            Complaint::with_cure(
                format!("cannot create a process namespace for it: {error}"),
                "run it on a Linux system that allows this, or remove its `containment`",
            )
        })?;
        namespace = Some(made);
    }
    if let Some(rules) = &bounds.rules {
        apply(rules).map_err(|problem| {
            Complaint::with_cure(
                format!("it cannot be sandboxed: {problem}"),
                "run it on a system with Landlock and seccomp, or set `required = false` in its `sandbox`",
            )
        })?;
    }
    // Last, because a sandbox opens files.
    set_limits(bounds.limits)
        .and_then(|()| match namespace {
            Some(namespace) => namespace.run(&program),
            None => become_program(&program).map(|never| match never {}),
        })
        .map_err(|error| explain(&program, None, &error))
}

/// Closes inherited descriptors other than the standard streams: a sandbox does not restrict open
/// files.
fn close_inherited() {
    let mut open = Vec::new();
    match std::fs::read_dir("/proc/self/fd") {
        Ok(entries) => {
            let names = entries.flatten().map(|entry| entry.file_name());
            open.extend(names.filter_map(|name| name.to_str()?.parse::<i32>().ok()));
        }
        Err(_) => open.extend(3..4096),
    }
    for fd in open.into_iter().filter(|fd| *fd > 2) {
        let _ = nix::unistd::close(fd);
    }
}

fn set_limits(limits: ProcessLimits) -> io::Result<()> {
    if let Some(files) = limits.files {
        lower(Resource::Nofile, files, files)?;
    }
    if let Some(bytes) = limits.memory_bytes {
        lower(Resource::Data, bytes, bytes)?;
    }
    if let Some(seconds) = limits.cpu_seconds {
        // SIGXCPU at the first limit, which identifies the cause; SIGKILL at the second.
        lower(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    }
    Ok(())
}

/// Lowers a limit of this process; never raises it.
fn lower(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let hard = rustix::process::getrlimit(resource).maximum;
    let limit = Rlimit {
        current: Some(hard.map_or(current, |hard| current.min(hard))),
        maximum: Some(hard.map_or(maximum, |hard| maximum.min(hard))),
    };
    rustix::process::setrlimit(resource, limit)?;
    Ok(())
}

fn own_fault(problem: &str) -> Complaint {
    Complaint::with_cure(
        format!("hookrun could not set the hook's limits: {problem}"),
        "this is a bug in hookrun: please report it",
    )
}

#[cfg(not(target_os = "linux"))]
fn lacking(_: &SandboxRules) -> Option<String> {
    Some("it needs Landlock, which is only available on Linux".to_string())
}

#[cfg(not(target_os = "linux"))]
fn apply(rules: &SandboxRules) -> Result<(), String> {
    lacking(rules)
        .filter(|_| rules.required)
        .map_or(Ok(()), Err)
}

/// The argument of `hookrun confine`, instead of bounds, for the first process.
const FIRST: &str = "first";

/// A PID namespace (`containment = "pidns"`), in which everything that a hook starts ends with it.
///
/// Only children of the process that creates a namespace are in it, so `hookrun confine` starts the
/// hook and waits. The first process of a namespace ignores signals, which a hook must not, so it
/// only holds the namespace open and the hook is the second. The kernel kills all others when the
/// first one exits.
#[derive(Debug)]
struct Namespace {
    first: Child,
}

impl Namespace {
    /// Creates a namespace that ends with this process, which ends with `hookrun`, its parent.
    fn make(hookrun: i32) -> io::Result<Namespace> {
        enter_new()?;
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        if parent != Some(hookrun) {
            return Err(io::Error::other("hookrun has exited"));
        }
        // Signals to the group are for the hook; this process must report its exit.
        signals::survive();
        let first = Command::new(OWN_IMAGE)
            .arg0("hookrun")
            .args(["confine", FIRST])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Namespace { first })
    }

    /// Runs a hook in it, with our streams and in our group, then ends the namespace. Fails if the
    /// hook cannot start.
    fn run(self, program: &Program) -> io::Result<ExitStatus> {
        let ran = Command::new(&program.path)
            .arg0(&program.name)
            .args(&program.arguments)
            .status();
        let first = Pid::from_child(&self.first);
        drop(self.first.stdin);
        // The first process exits last.
        reap_within(first, GIVE_UP);
        ran
    }
}

/// The first process: holds the namespace open until stdin closes.
fn hold_open() -> u8 {
    // It adopts orphans.
    signals::leave_children_to_the_system();
    let _ = io::stdin().lock().read_to_end(&mut Vec::new());
    0
}

/// Exits like the hook: by the same signal, or with the returned status.
fn end_like(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        // One core file is enough.
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _ = rustix::process::setrlimit(Resource::Core, none);
        signals::end_by(signal);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(u8::MAX)
}

#[cfg(target_os = "linux")]
fn enter_new() -> io::Result<()> {
    use nix::sched::{CloneFlags, unshare};
    use rustix::process::{Signal, getgid, getuid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let user = getuid().as_raw();
    let group = getgid().as_raw();
    if unshare(CloneFlags::CLONE_NEWPID).is_ok() {
        return Ok(());
    }
    // Without privileges this needs a user namespace, which keeps our user.
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

#[cfg(not(target_os = "linux"))]
fn enter_new() -> io::Result<()> {
    Err(io::Error::other("only Linux supports this"))
}
