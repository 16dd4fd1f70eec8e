//! Starts a program with posix_spawn and a prepared environment.
//!
//! `std::process::Command` sorts and copies all variables at every start: 30 µs for 50 variables, a
//! twentieth of a `/bin/sh` hook. No library has safe code for a spawned program's working
//! directory, so this file needs unsafe code.
#![expect(
    unsafe_code,
    reason = "the folder of a program, and what it must know of signals"
)]

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use rustix::process::Pid;

use super::command::Program;
use super::signals::{HELD_OUT, LAST_CLASSIC, handler_of};

const FIRST_FREE: RawFd = 3;

/// State of this process that hooks inherit, read once.
#[derive(Debug, Clone)]
pub(super) struct Inherited {
    pub(super) variables: Variables,
    /// Signals reset to their default action.
    signals: SigSet,
}

impl Inherited {
    pub(super) fn of_this_process() -> Inherited {
        Inherited {
            variables: Variables::own(),
            signals: reset_signals(),
        }
    }
}

/// Returns the signals to reset in a started program.
///
/// The C library queries signal actions in each new process before resetting them, except for
/// signals in this set: glibc all signals, musl those with a handler. Listing them saves half of
/// its 128 system calls, about 10 µs per hook. Elsewhere the set needs only the signals that we
/// ignore, such as SIGPIPE, which Rust ignores.
fn reset_signals() -> SigSet {
    let mut set = *SigSet::empty().as_ref();
    for signal in 1..=LAST_SIGNAL {
        let is_queried = match signal {
            // Hardly any program ignores a real-time signal.
            real_time if real_time > LAST_CLASSIC => OF_GLIBC,
            classic => match handler_of(classic) {
                None | Some(libc::SIG_IGN) => false,
                Some(libc::SIG_DFL) => OF_GLIBC,
                Some(_) => cfg!(target_os = "linux"),
            },
        };
        if is_queried || signal == libc::SIGPIPE || HELD_OUT.contains(&signal) {
            // SAFETY: the set is initialised. An invalid signal is an error.
            unsafe { libc::sigaddset(&raw mut set, signal) };
        }
    }
    // SAFETY: it is initialised.
    unsafe { SigSet::from_sigset_t_unchecked(set) }
}

const OF_GLIBC: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

/// Starts a program in a new session. `libc` lacks it for macOS; the value is from `spawn.h`.
#[cfg(target_os = "linux")]
const SETSID: libc::c_int = libc::POSIX_SPAWN_SETSID as libc::c_int;
#[cfg(not(target_os = "linux"))]
const SETSID: libc::c_int = 0x0400;

/// The last signal on Linux; other systems have fewer.
const LAST_SIGNAL: libc::c_int = 64;

/// Unique variables in the system's format.
#[derive(Debug, Clone, Default, Hash)]
pub(super) struct Variables(Arc<Vec<Variable>>);

#[derive(Debug, Hash)]
pub(super) struct Variable {
    line: CString,
    name_bytes: usize,
}

impl Variable {
    fn new(name: &OsStr, value: &OsStr) -> io::Result<Variable> {
        let mut line = Vec::with_capacity(name.len() + value.len() + 2);
        line.extend_from_slice(name.as_bytes());
        line.push(b'=');
        line.extend_from_slice(value.as_bytes());
        Ok(Variable {
            line: CString::new(line)?,
            name_bytes: name.len(),
        })
    }

    fn name(&self) -> &[u8] {
        &self.line.as_bytes()[..self.name_bytes]
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.line.as_bytes()
    }
}

impl Variables {
    #[expect(clippy::disallowed_methods, reason = "it is passed on, and not read")]
    fn own() -> Variables {
        let all: Vec<_> = std::env::vars_os().collect();
        // The system's strings contain no NUL.
        Variables::of(&all).unwrap_or_default()
    }

    /// Creates a list of these variables. The last of repeated names counts. Fails on NUL.
    pub(super) fn of<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        variables: &[(N, V)],
    ) -> io::Result<Variables> {
        let mut names = HashSet::with_capacity(variables.len());
        let mut lines = Vec::with_capacity(variables.len());
        for (name, value) in variables.iter().rev() {
            if names.insert(name.as_ref()) {
                lines.push(Variable::new(name.as_ref(), value.as_ref())?);
            }
        }
        lines.reverse();
        Ok(Variables(Arc::new(lines)))
    }
}

/// A program to start as leader of a new session and process group, without a controlling terminal.
#[derive(Debug)]
pub(super) struct Spawn<'a> {
    pub(super) program: &'a Program,
    /// Base environment, and signals to reset.
    pub(super) inherited: Inherited,
    pub(super) without: &'a [&'a str],
    pub(super) variables: &'a [(&'a str, String)],
    pub(super) cwd: Option<&'a Path>,
}

impl Spawn<'_> {
    /// Starts it, and closes our copies of its streams, so that we see the end of its output. Fails
    /// if the program or its folder is missing.
    pub(super) fn start(&self, streams: [OwnedFd; 3]) -> io::Result<Pid> {
        let (program, words) = words_of(self.program)?;
        let own = Variables::of(self.variables)?;
        let lines = self.environment(&own).map(|one| one.line.as_c_str());
        let environment: Vec<&CStr> = lines.collect();
        // Duplicating onto a descriptor below 3 could overwrite another stream. All must stay open
        // until the start.
        let mut open = Vec::with_capacity(streams.len());
        for stream in streams {
            open.push(above_standard_streams(stream)?);
        }
        let actions = actions(&open, self.cwd)?;
        // The new process gets a new session, no blocked signals, and default actions for ignored
        // signals, such as SIGPIPE, which Rust ignores.
        let mut attributes = PosixSpawnAttr::init()?;
        let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK | SETSID;
        attributes.set_flags(PosixSpawnFlags::from_bits_retain(flags))?;
        attributes.set_sigmask(&SigSet::empty())?;
        attributes.set_sigdefault(&self.inherited.signals)?;
        let pid = posix_spawn(&*program, &actions, &attributes, &words, &environment)?;
        Pid::from_raw(pid.as_raw())
            .ok_or_else(|| io::Error::other("the system returned no process id"))
    }

    /// Starts it with this stdin, and output to `/dev/null`.
    pub(super) fn start_alone(&self, stdin: OwnedFd) -> io::Result<Pid> {
        let nowhere = File::options().write(true).open("/dev/null")?;
        self.start([stdin, nowhere.try_clone()?.into(), nowhere.into()])
    }

    pub(super) fn sizes(&self) -> Vec<(String, usize)> {
        let own = Variables::of(self.variables).unwrap_or_default();
        self.environment(&own)
            .map(|variable| {
                let name = String::from_utf8_lossy(variable.name()).into_owned();
                (name, variable.line.as_bytes_with_nul().len())
            })
            .collect()
    }

    /// Returns the program's variables; `own` are from [`Spawn::variables`].
    pub(super) fn environment<'v>(
        &'v self,
        own: &'v Variables,
    ) -> impl Iterator<Item = &'v Variable> {
        let inherited = self.inherited.variables.0.iter().filter(|variable| {
            let name = variable.name();
            own.0.iter().all(|own| own.name() != name)
                && self.without.iter().all(|one| one.as_bytes() != name)
        });
        inherited.chain(own.0.iter())
    }
}

pub(super) fn words_of(program: &Program) -> io::Result<(CString, Vec<CString>)> {
    let path = CString::new(program.path.as_os_str().as_bytes())?;
    let mut words = vec![CString::new(program.name.as_bytes())?];
    for word in &program.arguments {
        words.push(CString::new(word.as_bytes())?);
    }
    Ok((path, words))
}

/// Returns the actions between fork and exec: set streams and folder.
fn actions(streams: &[OwnedFd], cwd: Option<&Path>) -> io::Result<PosixSpawnFileActions> {
    let mut actions = PosixSpawnFileActions::init()?;
    // nix's functions lose errors, and it has none for the folder.
    let list = (&raw mut actions).cast::<libc::posix_spawn_file_actions_t>();
    for (stream, target) in streams.iter().zip(0..) {
        // SAFETY: the pointer is to an initialised list, the only field of this transparent type.
        checked(unsafe {
            libc::posix_spawn_file_actions_adddup2(list, stream.as_raw_fd(), target)
        })?;
    }
    if let Some(cwd) = cwd {
        let folder = CString::new(cwd.as_os_str().as_bytes())?;
        // SAFETY: as above; it copies the string.
        checked(unsafe { libc::posix_spawn_file_actions_addchdir_np(list, folder.as_ptr()) })?;
    }
    Ok(actions)
}

fn above_standard_streams(stream: OwnedFd) -> io::Result<OwnedFd> {
    if stream.as_raw_fd() >= FIRST_FREE {
        return Ok(stream);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&stream, FIRST_FREE)?)
}

fn checked(error: libc::c_int) -> io::Result<()> {
    if error == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(error))
    }
}
