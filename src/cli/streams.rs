//! The standard streams. No other file knows stdout, which has the reply.
//!
//! No control character, invisible character or CI command of a hook, an event or a file name is
//! printed. Reports escape each text, so that it stays on its line; [`Sink`] guards the rest.

use std::borrow::{Borrow, Cow};
use std::fmt::{Debug, Write as _};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::config::{Environment, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::harmless;
use crate::lab::report::problems::problem_text;
use crate::lab::report::{CheckFormat, Paths};
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::SendFlags;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span;

/// The time that writes to stderr have waited after [`bound_stderr`], in milliseconds.
static WAITED: AtomicU64 = AtomicU64::new(UNBOUNDED);

const UNBOUNDED: u64 = u64::MAX;

/// The total time that writes to stderr may wait after [`bound_stderr`].
const STDERR_PATIENCE: Duration = Duration::from_millis(250);

/// The bytes that a ready pipe or socket takes without blocking.
const PIECE_BYTES: usize = 4096;

/// How often a wait checks its end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

pub(crate) fn text(color: Color) -> AutoStream<io::StdoutLock<'static>> {
    let choice = match color {
        Color::Always => ColorChoice::Always,
        Color::Auto if io::stdout().is_terminal() => AutoStream::choice(&io::stdout()),
        Color::Auto | Color::Never => ColorChoice::Never,
    };
    AutoStream::new(io::stdout().lock(), choice)
}

/// The width of a stream, if it is a terminal.
pub(crate) fn columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// stdout for programs, unfiltered, because values may contain control characters.
pub(crate) fn data() -> io::StdoutLock<'static> {
    io::stdout().lock()
}

/// Waits until the reader of stdout is gone, at most for `pause`; returns whether it is.
pub(crate) fn reader_left_within(pause: Duration) -> bool {
    let stdout = io::stdout();
    let mut streams = [PollFd::new(&stdout, PollFlags::empty())];
    let pause = Timespec::try_from(pause).ok();
    let has_left = PollFlags::ERR | PollFlags::HUP;
    poll(&mut streams, pause.as_ref()).is_ok() && streams[0].revents().intersects(has_left)
}

/// Whether the reader of stdout is gone, so that output is useless.
pub(crate) fn has_reader_left() -> bool {
    reader_left_within(Duration::ZERO)
}

/// Escapes values if stdout is a terminal.
pub(crate) fn seen(shape: OutputShape) -> OutputShape {
    if shape == OutputShape::Values && io::stdout().is_terminal() {
        return OutputShape::Visible;
    }
    shape
}

/// Prints a message on stderr, escaped because it may quote any text.
pub(crate) fn remark(text: &str) {
    stderr(&harmless::lines(text));
}

pub(crate) fn problems(problems: impl IntoIterator<Item = impl Borrow<Problem>>, paths: &Paths) {
    for problem in problems {
        remark(&format!("{}\n", problem_text(problem.borrow(), paths)));
    }
}

/// Prints progress; drops what stderr does not take immediately.
pub(crate) fn glimpse(text: &str) {
    write_to_stderr(&harmless::lines(text), Instant::now());
}

fn write_to_stderr(text: &str, until: Instant) {
    let stderr = rustix::stdio::stderr();
    let _ = write_until(stderr, text.as_bytes(), until, &|| false);
}

pub(crate) fn complaint(text: &str) {
    let _ = anstream::stderr().lock().write_all(styled(text).as_bytes());
}

/// Prints a reply's stderr: unchanged for programs, escaped on a terminal and in a CI log.
pub(crate) fn words(text: &str, env: &Environment) {
    if !text.is_empty() && (env.is_ci || io::stderr().is_terminal()) {
        return remark(text);
    }
    stderr(text);
}

pub(crate) fn document<'t>(text: &'t str, env: &Environment) -> Cow<'t, str> {
    if !text.is_empty() && (env.is_ci || io::stdout().is_terminal()) {
        return harmless::json(text);
    }
    Cow::Borrowed(text)
}

pub(crate) fn subscribe(level: Option<&str>) -> Result<(), Complaint> {
    let Some(level) = level else { return Ok(()) };
    let Some(most) = level.parse().ok().filter(|_| !level.is_empty()) else {
        return Err(Complaint::with_cure(
            format!("`{level}` is not a log level"),
            "use error, warn, info, debug or trace",
        ));
    };
    tracing::subscriber::set_global_default(StderrLog(most))
        .map_err(|error| Complaint::new(format!("cannot log: {error}")))
}

struct StderrLog(LevelFilter);

impl tracing::Subscriber for StderrLog {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= self.0 && metadata.target().starts_with("hookrun")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.0)
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let metadata = event.metadata();
        let mut line = LogLine(format!("{} {}:", metadata.level(), metadata.target()));
        event.record(&mut line);
        remark(&format!("{}\n", line.0));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct LogLine(String);

impl Visit for LogLine {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

pub(crate) fn progress(text: &str) {
    if io::stderr().is_terminal() {
        stderr(&format!("\r\u{1b}[K{text}"));
    }
}

/// Limits further waiting for a stderr that is not read; then text is dropped.
pub(crate) fn bound_stderr() {
    WAITED.store(0, Ordering::Relaxed);
}

/// Writes to stderr and ignores errors.
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
    write_to_stderr(text, started + left);
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(UNBOUNDED);
    WAITED.fetch_add(took.min(1000), Ordering::Relaxed);
}

/// Writes the reply until a deadline or `is_over`; [`io::stdout`] would ignore a closed stdout.
pub(crate) fn write_reply(
    bytes: &[u8],
    until: Instant,
    is_over: &dyn Fn() -> bool,
) -> io::Result<()> {
    write_until(rustix::stdio::stdout(), bytes, until, is_over)
}

/// Enlarges a full pipe if allowed, because some hosts read only after the exit.
#[cfg(target_os = "linux")]
fn widen(stream: impl AsFd, bytes: usize) {
    const WIDEST_PIPE_BYTES: usize = 1024 * 1024;
    let Ok(size) = rustix::pipe::fcntl_getpipe_size(&stream) else {
        return;
    };
    let wanted = size
        .saturating_add(bytes)
        .next_power_of_two()
        .min(WIDEST_PIPE_BYTES);
    if size < wanted {
        let _ = rustix::pipe::fcntl_setpipe_size(&stream, wanted);
    }
}

/// Other systems enlarge pipes themselves, or never.
#[cfg(not(target_os = "linux"))]
fn widen(_: impl AsFd, _: usize) {}

/// Whether stdout is /dev/null, which Rust also opens in place of a closed one.
pub(crate) fn is_stdout_thrown_away() -> bool {
    let Ok(null) = rustix::fs::stat("/dev/null") else {
        return false;
    };
    rustix::fs::fstat(rustix::stdio::stdout()).is_ok_and(|stdout| {
        FileType::from_raw_mode(stdout.st_mode).is_char_device() && stdout.st_rdev == null.st_rdev
    })
}

/// Writes to a slow stream, without making it non-blocking, because others may share it.
pub(crate) fn write_until(
    stream: impl AsFd,
    bytes: &[u8],
    until: Instant,
    is_over: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut rest = bytes;
    let mut patience = Duration::ZERO;
    let mut is_widened = false;
    while !rest.is_empty() {
        let mut fds = [PollFd::new(&stream, PollFlags::OUT)];
        let ready = match poll(&mut fds, Timespec::try_from(patience).ok().as_ref()) {
            Ok(_) => fds[0].revents(),
            Err(Errno::INTR) => PollFlags::empty(),
            // poll fails if the descriptor limit is zero. The watchdog ends a write that blocks.
            Err(Errno::INVAL) => PollFlags::OUT,
            Err(error) => return Err(error.into()),
        };
        let piece = &rest[..rest.len().min(PIECE_BYTES)];
        let written = if ready.is_empty() {
            offer(&stream, piece)
        } else {
            rustix::io::write(&stream, piece)
        };
        match written {
            Ok(count) => {
                rest = &rest[count..];
                patience = Duration::ZERO;
            }
            // A non-blocking stream may still lack space for the piece.
            Err(Errno::AGAIN | Errno::INTR) => {
                if is_over() {
                    return Err(io::Error::other("hookrun was interrupted"));
                }
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::Error::other("nothing reads it"));
                }
                if !ready.is_empty() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                if !is_widened {
                    is_widened = true;
                    widen(&stream, rest.len());
                    continue;
                }
                patience = left.min(LOOK_EVERY);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes to a stream that is not reported ready; a socket may still have space.
fn offer(stream: impl AsFd, piece: &[u8]) -> rustix::io::Result<usize> {
    match rustix::net::send(&stream, piece, SendFlags::DONTWAIT) {
        Err(Errno::NOTSOCK) => rustix::io::write(&stream, &[]).and(Err(Errno::AGAIN)),
        sent => sent,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputShape {
    /// For people, with hookrun's colours.
    People,
    /// Lines of text: XML, a diff.
    Lines,
    Json,
    /// Values for a terminal, or hookrun's workflow commands with escaped data.
    Visible,
    /// Values for programs, unchanged.
    Values,
}

impl From<CheckFormat> for OutputShape {
    fn from(format: CheckFormat) -> OutputShape {
        match format {
            CheckFormat::Human => OutputShape::People,
            CheckFormat::Json | CheckFormat::Sarif | CheckFormat::Gitlab => OutputShape::Json,
            CheckFormat::Github => OutputShape::Visible,
            CheckFormat::Junit => OutputShape::Lines,
        }
    }
}

/// A writer that escapes whole lines.
pub(crate) struct Sink<W: Write> {
    to: W,
    shape: OutputShape,
    /// Whether a closed pipe is fine: `hookrun list | head -1`.
    may_reader_leave: bool,
    line: Vec<u8>,
}

impl<W: Write> Sink<W> {
    pub(crate) fn new(to: W, shape: OutputShape) -> Sink<W> {
        Sink {
            to,
            shape,
            may_reader_leave: true,
            line: Vec::new(),
        }
    }

    /// Makes a closed pipe an error.
    pub(crate) fn strict(self) -> Sink<W> {
        Sink {
            may_reader_leave: false,
            ..self
        }
    }

    fn give_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        let made = match self.shape {
            OutputShape::People => Cow::Owned(styled(&text)),
            OutputShape::Lines => harmless::lines(&text),
            OutputShape::Json => harmless::json(&text),
            OutputShape::Visible => harmless::visible(&text),
            OutputShape::Values => {
                let written = self.to.write_all(bytes);
                return self.checked(written);
            }
        };
        let written = self.to.write_all(made.as_bytes());
        self.checked(written)
    }

    fn checked(&self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if self.may_reader_leave && error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(error) => {
                let cause = format!("cannot write the result: {error}");
                Err(io::Error::new(error.kind(), cause))
            }
            Ok(()) => Ok(()),
        }
    }
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(&bytes[..=last]);
                self.line.extend_from_slice(&bytes[last + 1..]);
                self.give_on(&whole)?;
            }
            None => self.line.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        if !rest.is_empty() {
            self.give_on(&rest)?;
        }
        let flushed = self.to.flush();
        self.checked(flushed)
    }
}

/// Keeps hookrun's colours and escapes the rest.
fn styled(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, length)) = style(rest) {
        made.push_str(&harmless::lines(&rest[..at]));
        made.push_str(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    made.push_str(&harmless::lines(rest));
    made
}

/// The position and length of hookrun's first colour.
fn style(text: &str) -> Option<(usize, usize)> {
    text.match_indices("\u{1b}[").find_map(|(at, _)| {
        let (number, _) = text[at + 2..].split_once('m')?;
        let is_ours = matches!(
            number,
            "0" | "1" | "2" | "4" | "31" | "32" | "33" | "34" | "36"
        );
        is_ours.then_some((at, number.len() + 3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shape: OutputShape, pieces: &[&str]) -> String {
        let mut sink = Sink::new(Vec::new(), shape);
        for piece in pieces {
            sink.write_all(piece.as_bytes()).unwrap();
        }
        sink.flush().unwrap();
        String::from_utf8(sink.to).unwrap()
    }

    #[test]
    fn only_our_own_colours_come_through() {
        let text = "\u{1b}[1m\u{1b}[31mBLOCK\u{1b}[0m a\u{1b}[8mb\u{1b}[2Jc\u{9b}5n\n";
        assert_eq!(
            written(OutputShape::People, &[text]),
            "\u{1b}[1m\u{1b}[31mBLOCK\u{1b}[0m a\\u{1b}[8mb\\u{1b}[2Jc\\u{9b}5n\n"
        );
        assert_eq!(written(OutputShape::Lines, &["\u{1b}[1ma"]), "\\u{1b}[1ma");
    }

    #[test]
    fn a_command_is_none_though_it_is_written_in_pieces() {
        for shape in [OutputShape::People, OutputShape::Lines] {
            assert_eq!(
                written(shape, &["a\n ", ":", ":error::x", "\nb"]),
                "a\n : :error::x\nb"
            );
            assert_eq!(written(shape, &["a #", "#[x]\n"]), "a ## [x]\n");
        }
        assert_eq!(
            written(OutputShape::Visible, &["::error::a\u{1b}\n"]),
            "::error::a\\u{1b}\n"
        );
        assert_eq!(
            written(OutputShape::Json, &["{\"a\":\"##", "[x]\"}\n"]),
            "{\"a\":\"#\\u0023[x]\"}\n"
        );
        assert_eq!(written(OutputShape::Values, &["::a\u{1b}"]), "::a\u{1b}");
    }
}
