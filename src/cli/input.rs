//! Reads the event on stdin: one JSON document, until it is complete, not until end of file.

use std::io::{self, IsTerminal, Read, Stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::engine::event::json::{FrameState, Scanner};
use crate::engine::exec::{Abort, Budget};
use crate::engine::hook::duration_text;
use crate::engine::lock::wait_readable;
use crate::engine::run::interruption;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::cli::exit::{Result, failed};

/// Limits memory for an endless event.
const LONGEST_EVENT_BYTES: usize = 256 * 1024 * 1024;

/// Covers most events without a separate allocation. Further reads grow.
const FIRST_READ_BYTES: usize = 16 * 1024;

/// The time for the event of a command whose caller writes it immediately.
pub(crate) fn soon() -> Budget {
    Budget::from(Instant::now(), Duration::from_secs(5))
}

pub(crate) fn needed(
    deadline: Budget,
    abort: Option<&Abort>,
    cause: &str,
    cure: &str,
) -> Result<Context> {
    read(deadline, abort)?.ok_or_else(|| Complaint::with_cure(cause, cure))
}

/// Reads the event; `None` for a terminal or an empty file.
pub(crate) fn read(deadline: Budget, abort: Option<&Abort>) -> Result<Option<Context>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(FIRST_READ_BYTES);
    let mut scanner = Scanner::default();
    let framed = loop {
        let is_end = match read_some(&stdin, &mut bytes, deadline, abort)? {
            Ok(count) => count == 0,
            Err(Errno::BADF) => return Err(no_event("stdin is closed")),
            Err(error) => return Err(unreadable(&error)),
        };
        let framed = scanner.scan(&bytes);
        if is_end || !matches!(framed, FrameState::Empty | FrameState::Open) {
            break framed;
        }
    };
    if matches!(framed, FrameState::Empty) {
        return Ok(None);
    }
    let context = Context::from_scanned(bytes, framed);
    context
        .map(Some)
        .map_err(|error| no_event(&error.to_string()))
}

/// Whether stdin should have an event: it is a file, a pipe or a socket, not a terminal or
/// `/dev/null`, which callers use for none. The standard library opens `/dev/null` in place of a
/// closed stdin.
pub(crate) fn promises_event() -> bool {
    let stat = rustix::fs::fstat(std::io::stdin());
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice)
}

/// Whether data arrives before `deadline`; not from a terminal, or a silent or closed pipe.
pub(crate) fn is_coming(deadline: Budget) -> bool {
    let stdin = std::io::stdin();
    if stdin.is_terminal() || wait(&stdin, deadline, None).is_err() {
        return false;
    }
    // The bytes in a pipe, or the rest of a file.
    rustix::io::ioctl_fionread(&stdin).is_ok_and(|bytes| bytes > 0)
}

pub(crate) fn read_lines(deadline: Budget, abort: Option<&Abort>) -> Result<Vec<u8>> {
    let stdin = std::io::stdin();
    let mut bytes = Vec::with_capacity(FIRST_READ_BYTES);
    if stdin.is_terminal() {
        return Ok(bytes);
    }
    loop {
        match read_some(&stdin, &mut bytes, deadline, abort)? {
            Ok(0) | Err(Errno::BADF) => return Ok(bytes),
            Ok(_) => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
}

/// Reads available bytes, or waits for some; 0 at the end.
fn read_some(
    stdin: &Stdin,
    bytes: &mut Vec<u8>,
    deadline: Budget,
    abort: Option<&Abort>,
) -> Result<rustix::io::Result<usize>> {
    loop {
        wait(stdin, deadline, abort)?;
        let room = bytes.try_reserve((bytes.len() / 2).max(FIRST_READ_BYTES));
        room.map_err(|_| Complaint::new("out of memory while reading stdin"))?;
        let read = rustix::io::read(stdin, rustix::buffer::spare_capacity(bytes));
        // Check even a complete event, which may arrive in one large piece.
        if bytes.len() > LONGEST_EVENT_BYTES {
            let cause = "the input on stdin is longer than 256 MiB";
            return Err(Complaint::with_cure(cause, "shorten it"));
        }
        if !matches!(read, Err(Errno::INTR | Errno::AGAIN)) {
            return Ok(read);
        }
    }
}

fn unreadable(error: &Errno) -> Complaint {
    let cause = format!("cannot read stdin: {error}");
    Complaint::with_cure(cause, "connect stdin to a file or a pipe")
}

pub(crate) fn no_event(problem: &str) -> Complaint {
    Complaint::with_cure(
        problem.to_string(),
        "pipe in the event's context as one JSON object; `hookrun events NAME` shows a sample",
    )
}

/// An event from another process: a client of a server, or a run that asks its helper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DecideParams<'l> {
    pub(crate) host: Option<String>,
    pub(crate) event: Option<String>,
    #[serde(borrow)]
    pub(crate) context: &'l RawValue,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) budget_ms: Option<u64>,
}

/// Input that fails after a signal, or once the reader of stdout is gone.
pub(crate) struct WatchedInput<F> {
    pub(crate) from: F,
    pub(crate) abort: Abort,
}

impl<F: AsFd> Read for WatchedInput<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let stdout = io::stdout();
            let mut streams = [
                PollFd::new(&self.from, PollFlags::IN),
                PollFd::new(&self.abort, PollFlags::IN),
                PollFd::new(&stdout, PollFlags::empty()),
            ];
            match poll(&mut streams, None) {
                Err(Errno::INTR) => continue,
                // With a limit of no descriptors poll fails.
                Err(_) => {}
                Ok(_) if streams[1..].iter().all(|one| one.revents().is_empty()) => {}
                Ok(_) => return Err(io::Error::other("interrupted")),
            }
            match rustix::io::read(&self.from, &mut *buffer) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                read => return Ok(read?),
            }
        }
    }
}

fn wait(stdin: &Stdin, deadline: Budget, abort: Option<&Abort>) -> Result<()> {
    loop {
        if abort.is_some_and(|abort| abort.times_raised() > 0) {
            let by = interruption(abort.and_then(Abort::signal));
            return Err(Complaint::new(format!("{by} before stdin was read")));
        }
        let fds: Vec<BorrowedFd<'_>> = std::iter::once(stdin.as_fd())
            .chain(abort.map(AsFd::as_fd))
            .collect();
        match wait_readable(&fds, Some(deadline.until)) {
            Ok(Some(0)) => return Ok(()),
            Ok(Some(_)) => {}
            Ok(None) => {
                let after = duration_text(deadline.whole);
                return Err(Complaint::with_cure(
                    format!("no complete input arrived on stdin within {after}"),
                    "check the program that writes it, and whether it closes its end of the pipe",
                ));
            }
            Err(error) => return Err(failed("cannot wait for stdin")(error)),
        }
    }
}
