//! The event on stdin: one JSON document, read until it is complete, not until end of file.

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::engine::event::framing::{Framed, Scanner};
use crate::engine::event::{Context, ContextError};
use crate::engine::exec::Abort;
use crate::engine::hook::duration_text;
use crate::engine::run::told_to_stop;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::cli::exit::CommandFailure;

/// The longest event that is read. An endless one would end us.
const LONGEST_EVENT_BYTES: usize = 256 * 1024 * 1024;

/// How much is read at once at first; a large event is read in larger pieces.
const FIRST_READ_BYTES: usize = 64 * 1024;

/// What was found on stdin.
#[derive(Debug)]
pub(crate) enum StdinInput {
    /// A context, and how many bytes it was.
    Event { context: Context, bytes: usize },
    /// Nothing: a terminal, or an empty file.
    Nothing,
}

impl StdinInput {
    /// The context, if there is one.
    pub(crate) fn context(&self) -> Option<&Context> {
        match self {
            StdinInput::Event { context, .. } => Some(context),
            StdinInput::Nothing => None,
        }
    }
}

/// When reading stdin ends without an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) until: Instant,
    pub(crate) after: Duration,
}

impl Deadline {
    pub(crate) fn after(started: Instant, after: Duration) -> Deadline {
        let far = Duration::from_secs(u32::MAX.into());
        Deadline { until: started.checked_add(after).unwrap_or(started + far), after }
    }
}

/// Reads one event.
pub(crate) fn read(
    deadline: Deadline,
    abort: Option<&Abort>,
) -> Result<StdinInput, CommandFailure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(StdinInput::Nothing);
    }
    let mut bytes: Vec<u8> = Vec::with_capacity(FIRST_READ_BYTES);
    let mut scanner = Scanner::default();
    let framed = loop {
        wait(&stdin, deadline, abort)?;
        let room = bytes.try_reserve((bytes.len() / 2).max(FIRST_READ_BYTES));
        room.map_err(|_| CommandFailure::new("there is no memory for the event on stdin"))?;
        match rustix::io::read(&stdin, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => break scanner.scan(&bytes),
            Ok(_) => {}
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(Errno::BADF) => return Err(no_event("stdin is closed")),
            Err(error) => return Err(no_event(&format!("stdin cannot be read: {error}"))),
        }
        // Also where it is complete: it may have come in one large piece.
        if bytes.len() > LONGEST_EVENT_BYTES {
            return Err(no_event("the event on stdin is longer than 256 MiB"));
        }
        match scanner.scan(&bytes) {
            Framed::Empty | Framed::Open => {}
            done @ (Framed::Complete { .. } | Framed::Hopeless(_)) => break done,
        }
    };
    let length = bytes.len();
    match Context::from_scanned(bytes, framed) {
        Ok(context) => Ok(StdinInput::Event { context, bytes: length }),
        Err(ContextError::Empty) => Ok(StdinInput::Nothing),
        Err(error) => Err(no_event(&error.to_string())),
    }
}

/// Whether there is anything on stdin before `deadline`. A terminal and an empty file have nothing,
/// nor has a pipe whose other end is closed or says nothing.
pub(crate) fn is_coming(deadline: Deadline) -> bool {
    let stdin = std::io::stdin();
    if stdin.is_terminal() || wait(&stdin, deadline, None).is_err() {
        return false;
    }
    // Of a pipe the number of bytes, of a file what is left of it.
    rustix::io::ioctl_fionread(&stdin).is_ok_and(|bytes| bytes > 0)
}

/// Reads all bytes until end of file: lines, not a document. A terminal has none.
pub(crate) fn read_lines(
    deadline: Deadline,
    abort: Option<&Abort>,
) -> Result<Vec<u8>, CommandFailure> {
    let stdin = std::io::stdin();
    let mut bytes: Vec<u8> = Vec::with_capacity(FIRST_READ_BYTES);
    if stdin.is_terminal() {
        return Ok(bytes);
    }
    loop {
        wait(&stdin, deadline, abort)?;
        let room = bytes.try_reserve((bytes.len() / 2).max(FIRST_READ_BYTES));
        room.map_err(|_| CommandFailure::new("there is no memory for what is on stdin"))?;
        match rustix::io::read(&stdin, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) | Err(Errno::BADF) => return Ok(bytes),
            Ok(_) if bytes.len() > LONGEST_EVENT_BYTES => {
                return Err(CommandFailure::new("stdin is longer than 256 MiB"));
            }
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => {
                return Err(CommandFailure::new(format!("stdin cannot be read: {error}")));
            }
        }
    }
}

fn no_event(problem: &str) -> CommandFailure {
    CommandFailure::with_help(
        problem.to_string(),
        "pipe in the event's context as one JSON object; `hookrun events NAME` shows a sample",
    )
}

/// Waits until there is something to read, we are told to stop, or time is up.
fn wait(
    stdin: &impl AsFd,
    deadline: Deadline,
    abort: Option<&Abort>,
) -> Result<(), CommandFailure> {
    loop {
        if abort.is_some_and(|abort| abort.times_raised() > 0) {
            let by = told_to_stop(abort.and_then(Abort::signal));
            return Err(CommandFailure::new(format!("{by} before the event was read")));
        }
        let left = deadline.until.saturating_duration_since(Instant::now());
        let mut fds = vec![PollFd::new(stdin, PollFlags::IN)];
        if let Some(abort) = abort {
            fds.push(PollFd::from_borrowed_fd(abort.as_fd(), PollFlags::IN));
        }
        let timeout = Timespec::try_from(left).ok();
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(0) if left.is_zero() => {
                let after = duration_text(deadline.after);
                return Err(no_event(&format!(
                    "no complete event arrived on stdin within {after}"
                )));
            }
            Ok(_) if !fds[0].revents().is_empty() => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(no_event(&format!("stdin cannot be waited for: {error}"))),
        }
    }
}
