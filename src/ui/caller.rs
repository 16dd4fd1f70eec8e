//! The hook's end: one request to hookrun, one answer. A hookrun that a hook has started asks the
//! same way what its own hooks ask it.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Answer, Asker, Kind, PATIENCE, Request, Ui, Waited};

/// The longest request and answer.
pub(super) const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// A request with the token of the hook that makes it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) token: String,
    pub(super) request: Request,
}

/// Makes a request at `address`, as hookrun put it into the hook's environment, and waits for
/// the answer. Where nobody listens it is [`Answer::Nobody`].
pub fn ask(address: &str, request: Request) -> Answer {
    match try_ask(address, request) {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(%error, "hookrun was not reached");
            Answer::Nobody
        }
    }
}

fn try_ask(address: &str, request: Request) -> io::Result<Answer> {
    let stream = send(address, request)?;
    // hookrun answers in time; this is for one that was stopped.
    stream.set_read_timeout(Some(PATIENCE + Duration::from_secs(10)))?;
    receive(&stream)
}

fn send(address: &str, request: Request) -> io::Result<UnixStream> {
    let (token, path) = address.split_once('@').ok_or(io::ErrorKind::InvalidInput)?;
    let stream = UnixStream::connect(path)?;
    let mut line = serde_json::to_vec(&Call { token: token.to_string(), request })?;
    line.push(b'\n');
    (&stream).write_all(&line)?;
    Ok(stream)
}

fn receive(stream: &UnixStream) -> io::Result<Answer> {
    let mut answer = Vec::new();
    BufReader::new(stream).read_until(b'\n', &mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}

/// The person whom the hookrun around us can ask: we run in one of its hooks.
#[derive(Debug, Clone)]
pub struct Outer {
    address: String,
}

impl Outer {
    /// That of the hookrun at `address`; `None` if it does not listen.
    pub fn at(address: &str) -> Option<Outer> {
        let (_, path) = address.split_once('@')?;
        UnixStream::connect(path).ok()?;
        Some(Outer { address: address.to_string() })
    }

    /// Passes a request on. It is withdrawn there when it is over here.
    pub fn pass(&self, asker: &Asker<'_>, request: Request) -> Answer {
        let Ok(stream) = send(&self.address, request) else { return Answer::Nobody };
        match asker.wait(Some(stream.as_fd()), Duration::MAX) {
            Waited::Ready => receive(&stream).unwrap_or(Answer::Nobody),
            Waited::Quiet | Waited::Over => Answer::Cancelled,
        }
    }

    fn text(&self, asker: &Asker<'_>, request: Request) -> Option<String> {
        match self.pass(asker, request) {
            Answer::Text(text) => Some(text),
            Answer::Nobody | Answer::Cancelled | Answer::Yes(_) => None,
            Answer::Done | Answer::Refused(_) => None,
        }
    }
}

/// What is passed on says which of our hooks it comes from.
impl Ui for Outer {
    fn select(&self, asker: &Asker<'_>, title: &str, options: &[String]) -> Option<String> {
        let (title, options) = (named(asker, title), options.to_vec());
        self.text(asker, Request::Select { title, options })
    }

    fn confirm(&self, asker: &Asker<'_>, title: &str, message: &str) -> bool {
        let (title, message) = (named(asker, title), message.to_string());
        self.pass(asker, Request::Confirm { title, message }) == Answer::Yes(true)
    }

    fn input(&self, asker: &Asker<'_>, title: &str, placeholder: &str) -> Option<String> {
        let (title, placeholder) = (named(asker, title), placeholder.to_string());
        self.text(asker, Request::Input { title, placeholder })
    }

    fn editor(&self, asker: &Asker<'_>, title: &str, text: &str) -> Option<String> {
        let (title, text) = (named(asker, title), text.to_string());
        self.text(asker, Request::Editor { title, text })
    }

    fn notify(&self, asker: &Asker<'_>, message: &str, kind: Kind) {
        let message = named(asker, message);
        self.pass(asker, Request::Notify { message, kind });
    }

    fn status(&self, asker: &Asker<'_>, key: &str, text: Option<&str>) {
        let (key, text) = (key.to_string(), text.map(str::to_string));
        self.pass(asker, Request::Status { key, text });
    }
}

/// A text with the hook that it comes from.
pub fn named(asker: &Asker<'_>, text: &str) -> String {
    format!("{}: {text}", asker.hook())
}
