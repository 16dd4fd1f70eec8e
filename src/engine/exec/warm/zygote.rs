//! A kept interpreter and the processes that it forked in advance.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::process::Pid;

use super::script::ScriptCommand;
use crate::engine::exec::child::{self, Status};
use crate::engine::exec::command::Program;
use crate::engine::exec::spawn::Spawn;
use crate::engine::exec::tree::SparedHooks;
use crate::engine::lock::{locked, wait_readable};
use crate::engine::run::Exit;

const SOURCE: &str = include_str!("zygote.py");

/// Reads the source from stdin, to keep process lists short.
const LOADER: &str = "import os; exec(compile(os.read(0, 99999), 'hookrun', 'exec'))";

/// Space in its first variable for `HOOKRUN_RUN_ID` and `HOOKRUN_HOOK` of a hook.
const PADDING_BYTES: usize = 1024;

/// Maximum number of waiting processes, of 1.3 MB each.
const MOST_SPARES: usize = 4;

const FORKING: Duration = Duration::from_millis(5);

/// Hooks before it is replaced, since they share hash seed and addresses.
const MOST_HOOKS: u32 = 1_000;

/// The first supported minor version of CPython 3.
const FIRST_MINOR: u32 = 8;

/// Keeps our sockets from started programs. Only Linux has subreapers, which warm starts need.
#[cfg(target_os = "linux")]
const PRIVATE: (SocketFlags, RecvFlags) = (SocketFlags::CLOEXEC, RecvFlags::CMSG_CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PRIVATE: (SocketFlags, RecvFlags) = (SocketFlags::empty(), RecvFlags::empty());

/// An embedding program may not ignore SIGPIPE.
#[cfg(target_os = "linux")]
const WITHOUT_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const WITHOUT_SIGNAL: SendFlags = SendFlags::empty();

#[derive(Debug)]
pub(super) struct Zygote {
    pid: Pid,
    /// Its mark, shared by forked processes until they run a hook.
    mark: String,
    /// Hooks that sweeps spare, including this interpreter's processes.
    spared: Arc<Mutex<SparedHooks>>,
    /// Number of the last request that used it.
    pub(super) used: u64,
    channel: OwnedFd,
    pub(super) state: ZygoteState,
    spares: Vec<Spare>,
    /// Requested processes that have not arrived.
    requested: usize,
    wanted: usize,
    hooks_run: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ZygoteState {
    /// It has not reported its version yet.
    Starting,
    Usable,
    Unusable,
    Gone,
}

/// Request for a process that a hook waits for.
const NOW: &[u8] = b"!";

/// Request for a process after the current hook, to avoid competing for the processor.
pub(super) const SOON: &[u8] = b"~";

#[derive(Debug)]
pub(super) struct Spare {
    socket: OwnedFd,
    pid: Option<Pid>,
}

impl Zygote {
    /// Starts an interpreter in a hook's environment and requests a first process.
    pub(super) fn start(
        command: &ScriptCommand,
        hook: &Spawn<'_>,
        spared: &Arc<Mutex<SparedHooks>>,
        used: u64,
        file: &Path,
    ) -> io::Result<Zygote> {
        let kind = SocketType::SEQPACKET;
        let (channel, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, kind, PRIVATE.0, None)?;
        let imports = serde_json::to_string(&command.imports)?;
        let source = format!("{SOURCE}_main({imports})");
        rustix::net::send(&channel, source.as_bytes(), WITHOUT_SIGNAL)?;
        let mut arguments = command.options.clone();
        arguments.extend(["-c", LOADER].map(OsString::from));
        let program = Program {
            path: command.interpreter.clone(),
            name: command.name.clone(),
            arguments,
        };
        let mark = format!("warm.{}.{used}", std::process::id());
        let mut variables = vec![
            ("HOOKRUN_PADDING", "0".repeat(PADDING_BYTES)),
            ("HOOKRUN_RUN_ID", mark.clone()),
        ];
        // Variables for the start; the hook's other ones follow later.
        for (name, value) in hook.variables {
            if !name.starts_with("HOOKRUN_") {
                variables.push((*name, value.clone()));
            }
        }
        let mut without = hook.without.to_vec();
        without.push("HOOKRUN_HOOK");
        let spawn = Spawn {
            program: &program,
            inherited: hook.inherited.clone(),
            without: &without,
            variables: &variables,
            cwd: Some(Path::new("/")),
        };
        locked(spared).marks.push(mark.clone());
        let pid = spawn
            .start_alone(theirs)
            .inspect_err(|_| locked(spared).forget(&mark))?;
        let mut zygote = Zygote {
            pid,
            mark,
            spared: Arc::clone(spared),
            used,
            channel,
            state: ZygoteState::Starting,
            spares: Vec::new(),
            requested: 0,
            wanted: 1,
            hooks_run: 0,
        };
        zygote.request(NOW, file);
        Ok(zygote)
    }

    /// Takes a process that is ready to run a script. The next one may prepare for the script
    /// `file`.
    pub(super) fn take(&mut self, file: &Path) -> Option<Spare> {
        self.receive();
        let mut spare = self.ready();
        if spare.is_none() && self.state == ZygoteState::Usable {
            self.wanted = (self.wanted + 1).min(MOST_SPARES);
            let before = self.requested;
            self.request(NOW, file);
            if self.requested == before {
                // The maximum was requested already: they are needed now.
                let _ = self.send(NOW);
            }
            spare = self.wait(Instant::now() + FORKING);
        }
        if spare.is_some() {
            self.hooks_run += 1;
        }
        spare
    }

    pub(super) fn is_worn(&self) -> bool {
        self.hooks_run >= MOST_HOOKS
    }

    /// Requests the missing processes, [`NOW`] or [`SOON`].
    pub(super) fn request(&mut self, when: &[u8], file: &Path) {
        let request = [when, file.as_os_str().as_encoded_bytes()].concat();
        while self.state != ZygoteState::Gone && self.spares.len() + self.requested < self.wanted {
            match self.send(&request) {
                Ok(_) => self.requested += 1,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.state = ZygoteState::Gone,
            }
        }
    }

    fn send(&self, packet: &[u8]) -> Result<usize, Errno> {
        let flags = WITHOUT_SIGNAL | SendFlags::DONTWAIT;
        rustix::net::send(&self.channel, packet, flags)
    }

    fn receive(&mut self) {
        while !matches!(self.state, ZygoteState::Gone | ZygoteState::Unusable) {
            let mut text = [0; 64];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::DONTWAIT | PRIVATE.1;
            let parts = &mut [IoSliceMut::new(&mut text)];
            let length = match rustix::net::recvmsg(&self.channel, parts, &mut control, flags) {
                Ok(received) if received.bytes > 0 => received.bytes,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return,
                Ok(_) | Err(_) => return self.state = self.state_at_end(),
            };
            let before = self.spares.len();
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(sockets) = message {
                    self.spares
                        .extend(sockets.map(|socket| Spare { socket, pid: None }));
                }
            }
            self.requested = self.requested.saturating_sub(self.spares.len() - before);
            if self.state == ZygoteState::Starting {
                let is_known = is_known(&String::from_utf8_lossy(&text[..length]));
                self.state = if is_known {
                    ZygoteState::Usable
                } else {
                    ZygoteState::Unusable
                };
            }
        }
    }

    /// An interpreter that exits before it reports its version would do so again.
    fn state_at_end(&self) -> ZygoteState {
        match (self.state, child::status_of(self.pid)) {
            (ZygoteState::Starting, Status::Exited(Exit::Status(_))) => ZygoteState::Unusable,
            _ => ZygoteState::Gone,
        }
    }

    fn ready(&mut self) -> Option<Spare> {
        let mut place = 0;
        while place < self.spares.len() {
            match self.spares[place].is_ready() {
                Ok(true) => return Some(self.spares.remove(place)),
                Ok(false) => place += 1,
                Err(_) => self.spares.remove(place).end(),
            }
        }
        None
    }

    fn wait(&mut self, until: Instant) -> Option<Spare> {
        loop {
            let sockets = self.spares.iter().map(|spare| spare.socket.as_fd());
            let channel = std::iter::once(self.channel.as_fd());
            let all: Vec<_> = channel.chain(sockets).collect();
            wait_readable(&all, Some(until)).ok()??;
            self.receive();
            match self.ready() {
                None if self.state == ZygoteState::Usable => {}
                found => return found,
            }
        }
    }
}

impl Drop for Zygote {
    /// Kills it and its waiting processes. Sweeps must spare them until they are reaped.
    fn drop(&mut self) {
        self.spares.iter().for_each(Spare::end);
        child::end(self.pid);
        locked(&self.spared).forget(&self.mark);
    }
}

impl Spare {
    /// Returns true if it waits for a script as our child. Fails if it has exited.
    fn is_ready(&mut self) -> io::Result<bool> {
        let mut text = [0; 32];
        match rustix::net::recv(&self.socket, &mut text, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((_, length)) => {
                let number = str::from_utf8(&text[..length]).unwrap_or_default();
                self.pid = number.parse().ok().and_then(Pid::from_raw);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let Some(pid) = self.pid else {
            return Ok(false);
        };
        match child::status_of(pid) {
            Status::Running => Ok(true),
            Status::Exited(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            // The intermediate process has not exited yet.
            Status::Lost => Ok(false),
        }
    }

    /// Sends it a script and a hook's streams. Returns the process and the socket on which it
    /// reports that the script begins, or the streams if it got nothing.
    pub(super) fn hand_over(
        self,
        packet: &[u8],
        streams: [OwnedFd; 3],
    ) -> Result<(Pid, OwnedFd), [OwnedFd; 3]> {
        let Some(pid) = self.pid else {
            return Err(streams);
        };
        let sent = {
            let rights = [streams[0].as_fd(), streams[1].as_fd(), streams[2].as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            control.push(SendAncillaryMessage::ScmRights(&rights))
                && loop {
                    let flags = WITHOUT_SIGNAL | SendFlags::DONTWAIT;
                    let parts = [IoSlice::new(packet)];
                    match rustix::net::sendmsg(&self.socket, &parts, &mut control, flags) {
                        Err(Errno::INTR) => {}
                        sent => break sent.is_ok(),
                    }
                }
        };
        if !sent {
            self.end();
            return Err(streams);
        }
        Ok((pid, self.socket))
    }

    fn end(&self) {
        if let Some(pid) = self.pid {
            child::end(pid);
        }
    }
}

/// Parses the version message, `cpython 3.11`.
fn is_known(hello: &str) -> bool {
    let minor = hello.strip_prefix("cpython 3.").unwrap_or_default();
    minor.parse().is_ok_and(|minor: u32| minor >= FIRST_MINOR)
}
