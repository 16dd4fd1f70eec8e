//! `containment = "pidns"`: a PID namespace, in which everything that a hook starts ends with it.
//!
//! Only children of the process that creates a namespace are in it, so `hookrun confine` starts the
//! hook and waits. The first process of a namespace ignores signals, which a hook must not, so it
//! only holds the namespace open and the hook is the second. The kernel kills all others when the
//! first one exits.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Resource, Rlimit};

use super::child::{GIVE_UP, reap_within};
use super::command::Program;
use super::signals;
use crate::engine::hook::OWN_IMAGE;

/// The argument of `hookrun confine`, instead of bounds, for the first process.
pub(super) const FIRST: &str = "first";

#[derive(Debug)]
pub(super) struct Namespace {
    first: Child,
}

impl Namespace {
    /// Creates a namespace that ends with this process, which ends with `hookrun`, its parent.
    pub(super) fn make(hookrun: i32) -> io::Result<Namespace> {
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
    pub(super) fn run(self, program: &Program) -> io::Result<ExitStatus> {
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
pub(super) fn hold_open() -> u8 {
    // It adopts orphans.
    signals::leave_children_to_the_system();
    let _ = io::stdin().lock().read_to_end(&mut Vec::new());
    0
}

/// Exits like the hook: by the same signal, or with the returned status.
pub(super) fn end_like(status: ExitStatus) -> u8 {
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
    Err(io::Error::other("they are only available on Linux"))
}
