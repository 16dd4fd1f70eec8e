//! The hook's end: one request to hookrun, one answer.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Answer, PATIENCE, Request};

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
    let (token, path) = address.split_once('@').ok_or(io::ErrorKind::InvalidInput)?;
    let stream = UnixStream::connect(path)?;
    // hookrun answers in time; this is for one that was stopped.
    stream.set_read_timeout(Some(PATIENCE + Duration::from_secs(10)))?;
    let mut line = serde_json::to_vec(&Call { token: token.to_string(), request })?;
    line.push(b'\n');
    (&stream).write_all(&line)?;
    let mut answer = Vec::new();
    BufReader::new(&stream).read_until(b'\n', &mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}
