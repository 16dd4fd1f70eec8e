//! The process's own streams. Only here is stdout known, and stdout is the reply.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::engine::harmless;
use anstream::{AutoStream, ColorChoice};

use crate::cli::args::Color;
use crate::cli::deliver::write_until;
use crate::cli::sink::{self, OutputShape};

/// How long stderr has been waited for, in milliseconds, where that is bounded: see
/// [`bound_stderr`].
static WAITED: AtomicU64 = AtomicU64::new(UNBOUNDED);

const UNBOUNDED: u64 = u64::MAX;

/// The log of Buildkite shows what we write.
static IN_BUILDKITE: AtomicBool = AtomicBool::new(false);

/// How long stderr is waited for in all, where that is bounded.
const STDERR_PATIENCE: Duration = Duration::from_millis(250);

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

/// What is written there: on a terminal values are looked at, too.
pub(crate) fn seen(shape: OutputShape) -> OutputShape {
    let is_seen = shape == OutputShape::Values && io::stdout().is_terminal();
    if is_seen { OutputShape::SeenValues } else { shape }
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

/// From now on no line begins a group in the log of Buildkite, if that is where we are.
pub(crate) fn know_place(env: &Environment) {
    IN_BUILDKITE.store(env.is_buildkite, Ordering::Relaxed);
}

/// Text whose lines stay lines, harmless where we are.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    let made = harmless::lines(text);
    match IN_BUILDKITE.load(Ordering::Relaxed) {
        true => Cow::Owned(harmless::without_groups(&made).into_owned()),
        false => made,
    }
}

/// A remark of ours on stderr. It may quote what somebody else wrote.
pub(crate) fn remark(text: &str) {
    stderr(&lines(text));
}

/// What a person may see of what is going on: what stderr does not take at once is dropped.
pub(crate) fn glimpse(text: &str) {
    let text = lines(text);
    let _ = write_until(rustix::stdio::stderr(), text.as_bytes(), Instant::now(), &|| false);
}

/// The parser's complaint about the command line, in colour where that is wanted.
pub(crate) fn complaint(styled: &str) {
    let _ = anstream::stderr().lock().write_all(sink::styled(styled).as_bytes());
}

/// The words of a reply on stderr. A program that started hookrun gets them byte by byte; on a
/// terminal and in the log of a CI job people look at them.
pub(crate) fn words(text: &str, env: &Environment) {
    if !text.is_empty() && (env.is_ci || io::stderr().is_terminal()) {
        return remark(text);
    }
    stderr(text);
}

/// The document of a reply, as stdout may have it.
pub(crate) fn document<'t>(text: &'t str, env: &Environment) -> Cow<'t, str> {
    if !text.is_empty() && (env.is_ci || io::stdout().is_terminal()) {
        return harmless::json(text);
    }
    Cow::Borrowed(text)
}

/// stderr for a log: a line at a time, in which no command stands.
pub(crate) struct LogStream;

impl Write for LogStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        remark(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// From now on a stderr that nobody reads holds nothing up: what it does not take is dropped.
pub(crate) fn bound_stderr() {
    WAITED.store(0, Ordering::Relaxed);
}

/// Says something on stderr. A closed stderr is nobody to tell.
pub(crate) fn stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    let waited = WAITED.load(Ordering::Relaxed);
    if waited == UNBOUNDED {
        let _ = io::stderr().lock().write_all(text.as_bytes());
        return;
    }
    let started = Instant::now();
    let left = STDERR_PATIENCE.saturating_sub(Duration::from_millis(waited));
    let _ = write_until(rustix::stdio::stderr(), text.as_bytes(), started + left, &|| false);
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(UNBOUNDED);
    WAITED.fetch_add(took.min(1000), Ordering::Relaxed);
}
