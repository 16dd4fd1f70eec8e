//! The hook's end: sends one request to hookrun and reads the answer. A nested hookrun forwards its
//! hooks' requests the same way.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::connection::PATIENCE;
use super::dialog::{Asker, DialogAnswer, Request, Ui, WaitEnd};

/// Maximum size of a request or answer.
pub(super) const MOST_BYTES: u64 = 4 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SignedRequest {
    pub(super) token: String,
    pub(super) request: Request,
}

/// Sends a request to `address` from the hook's environment, and waits for the answer:
/// [`DialogAnswer::Nobody`] if nothing listens there.
pub fn ask(address: &str, request: Request) -> DialogAnswer {
    match try_ask(address, request) {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(%error, "could not reach hookrun");
            DialogAnswer::Nobody
        }
    }
}

fn try_ask(address: &str, request: Request) -> io::Result<DialogAnswer> {
    let stream = connect(address)?;
    send(&stream, address, request)?;
    // In case hookrun was stopped: otherwise it answers in time.
    stream.set_read_timeout(Some(PATIENCE + Duration::from_secs(10)))?;
    receive(&stream)
}

fn connect(address: &str) -> io::Result<UnixStream> {
    let (_, path) = address.split_once('@').ok_or(io::ErrorKind::InvalidInput)?;
    UnixStream::connect(path)
}

fn send(mut stream: &UnixStream, address: &str, request: Request) -> io::Result<()> {
    let token = address.split('@').next().unwrap_or_default().to_string();
    let mut line = serde_json::to_vec(&SignedRequest { token, request })?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn receive(stream: &UnixStream) -> io::Result<DialogAnswer> {
    let mut answer = Vec::new();
    BufReader::new(stream).read_until(b'\n', &mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}

/// The hookrun that runs our hook, if it can ask a person.
#[derive(Debug, Clone)]
pub struct Outer {
    address: String,
}

impl Outer {
    /// Returns the hookrun at `address`. `None` if nothing listens there, or the listener is not an
    /// ancestor of this process that runs the same program: anyone can set the variable.
    pub fn at(address: &str) -> Option<Outer> {
        let outer = Outer {
            address: address.to_string(),
        };
        outer.connect()?;
        Some(outer)
    }

    fn connect(&self) -> Option<UnixStream> {
        connect(&self.address).ok().filter(ancestor::listens_at)
    }
}

#[cfg(target_os = "linux")]
mod ancestor {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixStream;

    const MOST_ANCESTORS: usize = 1024;

    /// Returns true if the peer is an ancestor of this process with our user and our program.
    /// Processes outside our namespace cannot be identified.
    pub(super) fn listens_at(stream: &UnixStream) -> bool {
        let Ok(peer) = rustix::net::sockopt::socket_peercred(stream) else {
            return false;
        };
        let listener = peer.pid.as_raw_nonzero().get();
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let ancestors = std::iter::successors(parent_of(own), |pid| parent_of(*pid));
        peer.uid == rustix::process::getuid()
            && ancestors.take(MOST_ANCESTORS).any(|pid| pid == listener)
            && program_of(listener).is_some_and(|program| program_of(own) == Some(program))
    }

    /// The file that a process runs: its device and inode.
    fn program_of(pid: i32) -> Option<(u64, u64)> {
        let meta = std::fs::metadata(format!("/proc/{pid}/exe")).ok()?;
        Some((meta.dev(), meta.ino()))
    }

    fn parent_of(pid: i32) -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may contain spaces and brackets; the state follows it.
        let (_, behind) = stat.rsplit_once(')')?;
        behind.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

/// Other systems do not report parents.
#[cfg(not(target_os = "linux"))]
mod ancestor {
    pub(super) fn listens_at(_: &std::os::unix::net::UnixStream) -> bool {
        false
    }
}

impl Ui for Outer {
    /// Forwards a request with its hook's name, and withdraws it when it is over.
    fn show(&self, asker: &Asker<'_>, request: &Request) -> DialogAnswer {
        let Some(stream) = self.connect() else {
            return DialogAnswer::Nobody;
        };
        if send(&stream, &self.address, request.named(asker)).is_err() {
            return DialogAnswer::Nobody;
        }
        match asker.wait(Some(stream.as_fd()), Duration::MAX) {
            WaitEnd::Ready => receive(&stream).unwrap_or(DialogAnswer::Nobody),
            WaitEnd::Quiet | WaitEnd::Over => DialogAnswer::Cancelled,
        }
    }
}
