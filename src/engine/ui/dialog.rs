//! Dialogs: the host's interface, hooks' requests and how they are sent, and the asking hook.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::connection::PATIENCE;
use crate::engine::lock::wait_readable;
use crate::engine::session::Message;

/// Shows dialogs to a person, one at a time: parallel hooks take turns.
///
/// A dialog is over when [`Asker::is_over`] returns true. Then close it; its answer no longer
/// counts.
pub trait Ui: Send + Sync {
    /// Shows `request` and returns the answer. [`Request::Send`] goes to the
    /// [`Session`](crate::engine::session::Session) instead.
    fn show(&self, asker: &Asker<'_>, request: &Request) -> DialogAnswer;
}

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    Info,
    /// Needs attention.
    Warning,
    Error,
}

/// A hook's request, as sent over the socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Lets the person choose one of `options`.
    Select { title: String, options: Vec<String> },
    /// Asks a yes-or-no question. Anything but a yes is no.
    Confirm {
        title: String,
        /// The question; may be empty.
        message: String,
    },
    /// Asks for a line of text.
    Input {
        title: String,
        /// An example of an answer, not a default; may be empty.
        placeholder: String,
    },
    /// Lets the person edit `text`.
    Editor { title: String, text: String },
    /// Shows a message.
    Notify { message: String, kind: MessageKind },
    /// Shows a text in the status line.
    Status {
        key: String,
        /// `None` removes the key.
        text: Option<String>,
    },
    /// Sends a message to the session.
    Send(Message),
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DialogAnswer {
    /// No person can answer or see it.
    Nobody,
    /// The person declined, or did not answer in time.
    Cancelled,
    /// The chosen or written text.
    Text(String),
    /// The answer to a yes-or-no question.
    Yes(bool),
    /// It was shown or sent.
    Done,
    /// It was rejected, for this reason.
    Rejected(String),
}

impl From<Option<String>> for DialogAnswer {
    /// Converts a person's text; `None` means that they declined.
    fn from(text: Option<String>) -> DialogAnswer {
        text.map_or(DialogAnswer::Cancelled, DialogAnswer::Text)
    }
}

/// The asking hook, its event, and the time limit of the answer.
#[derive(Debug)]
pub struct Asker<'a> {
    pub hook: &'a str,
    /// The event's session; may be empty.
    pub session: &'a str,
    /// Id of the client's request that the hook runs for; only `hookrun serve` sets it. `None` for
    /// session-lived hooks.
    pub request: Option<&'a str>,
    /// Time after which an answer no longer counts.
    pub until: Instant,
    /// Ends when one of these is readable.
    pub(crate) withdrawn_by: Vec<BorrowedFd<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    /// Input is available.
    Ready,
    /// Nothing happened in the given time.
    Quiet,
    /// The dialog is over: its time is up, or it was withdrawn.
    Over,
}

impl<'a> Asker<'a> {
    /// Creates an asker for `hook` until `until`, or until one of these descriptors is readable.
    pub fn new(hook: &'a str, until: Instant, withdrawn_by: Vec<BorrowedFd<'a>>) -> Asker<'a> {
        Asker {
            hook,
            session: "",
            request: None,
            until,
            withdrawn_by,
        }
    }

    /// Returns true if the time is up, the hook has ended, or hookrun was interrupted.
    pub fn is_over(&self) -> bool {
        self.wait(None, Duration::ZERO) == WaitEnd::Over
    }

    /// Waits until `input` is readable, but at most `at_most`.
    pub fn wait(&self, input: Option<BorrowedFd<'_>>, at_most: Duration) -> WaitEnd {
        let now = Instant::now();
        if self.until <= now {
            return WaitEnd::Over;
        }
        let quiet_at = now.checked_add(at_most);
        let until = quiet_at.map_or(self.until, |quiet_at| quiet_at.min(self.until));
        let fds: Vec<BorrowedFd<'_>> = self.withdrawn_by.iter().copied().chain(input).collect();
        match wait_readable(&fds, Some(until)) {
            Ok(Some(place)) if place < self.withdrawn_by.len() => WaitEnd::Over,
            Ok(Some(_)) => WaitEnd::Ready,
            Ok(None) | Err(_) if self.until <= Instant::now() => WaitEnd::Over,
            Ok(None) | Err(_) => WaitEnd::Quiet,
        }
    }
}

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
    try_ask(address, request).unwrap_or_else(|error| {
        tracing::debug!(%error, "could not reach hookrun");
        DialogAnswer::Nobody
    })
}

fn try_ask(address: &str, request: Request) -> io::Result<DialogAnswer> {
    let (token, path) = address.split_once('@').ok_or(io::ErrorKind::InvalidInput)?;
    let mut stream = UnixStream::connect(path)?;
    let token = token.to_string();
    let mut line = serde_json::to_vec(&SignedRequest { token, request })?;
    line.push(b'\n');
    stream.write_all(&line)?;
    // In case hookrun was stopped: otherwise it answers in time.
    stream.set_read_timeout(Some(PATIENCE + Duration::from_secs(10)))?;
    let mut answer = Vec::new();
    BufReader::new(stream).read_until(b'\n', &mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}
