//! The process's own streams. Only here is stdout known, and stdout is the reply.

use std::io::{self, ErrorKind, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use hookrun::report::github;

use crate::args::Color;

/// stdout for people, with colour where it is wanted.
pub(crate) fn text(color: Color) -> AutoStream<io::StdoutLock<'static>> {
    AutoStream::new(io::stdout().lock(), choice(color, io::stdout().is_terminal()))
}

/// How many columns stdout has, if it is a terminal.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// stdout for programs, byte by byte: dropping colours would also drop control characters that
/// are part of a value.
pub(crate) fn data() -> io::StdoutLock<'static> {
    io::stdout().lock()
}

/// A writer whose reader may leave: `hookrun list | head -1` is no failure.
pub(crate) struct Leavable<W>(pub(crate) W);

impl<W: Write> Write for Leavable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

fn choice(color: Color, is_terminal: bool) -> ColorChoice {
    match color {
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
        Color::Auto if is_terminal => AutoStream::choice(&io::stdout()),
        Color::Auto => ColorChoice::Never,
    }
}

/// A remark of ours on stderr. It may quote what somebody else wrote, and in a job of GitHub
/// Actions no line of it may be a command.
pub(crate) fn remark(text: &str) {
    stderr(&github::harmless(text));
}

/// stderr for a log: a line at a time, in which no command stands.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        stderr(&github::harmless(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Says something on stderr. A closed stderr is nobody to tell.
pub(crate) fn stderr(text: &str) {
    if !text.is_empty() {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}
