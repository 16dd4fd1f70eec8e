//! Writing to streams that perhaps nobody reads: until a deadline, and never blocking.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::SendFlags;

/// A pipe or socket that is ready takes so much without blocking.
const PIECE_BYTES: usize = 4096;

/// How often a wait checks whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Writes the reply to stdout, until a time or until it `is_over`. Not through [`io::stdout`], which
/// reports nothing if stdout is closed.
pub(crate) fn reply(bytes: &[u8], until: Instant, is_over: &dyn Fn() -> bool) -> io::Result<()> {
    write_until(rustix::stdio::stdout(), bytes, until, is_over)
}

/// Makes a full pipe longer, if that is allowed: some hosts read only after our exit.
#[cfg(target_os = "linux")]
fn widen(stream: impl AsFd, bytes: usize) {
    /// The longest pipe that a user may make.
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

/// Other systems make a pipe longer themselves, or never.
#[cfg(not(target_os = "linux"))]
fn widen(_: impl AsFd, _: usize) {}

/// Whether stdout is /dev/null, also because it was closed: then Rust opens it as that.
pub(crate) fn is_thrown_away() -> bool {
    let Ok(null) = rustix::fs::stat("/dev/null") else {
        return false;
    };
    rustix::fs::fstat(rustix::stdio::stdout()).is_ok_and(|stdout| {
        FileType::from_raw_mode(stdout.st_mode).is_char_device() && stdout.st_rdev == null.st_rdev
    })
}

/// Writes to a stream whose reader may be slow, gone or asleep. It does not make the stream
/// non-blocking: other processes may share it.
pub(crate) fn write_until(
    stream: impl AsFd,
    bytes: &[u8],
    until: Instant,
    is_over: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut rest = bytes;
    let (mut patience, mut is_widened) = (Duration::ZERO, false);
    while !rest.is_empty() {
        let mut fds = [PollFd::new(&stream, PollFlags::OUT)];
        let ready = match rustix::event::poll(&mut fds, Timespec::try_from(patience).ok().as_ref())
        {
            Ok(_) => fds[0].revents(),
            Err(Errno::INTR) => PollFlags::empty(),
            // With a limit of no descriptors poll fails. If the write blocks, the watchdog ends us.
            Err(Errno::INVAL) => PollFlags::OUT,
            Err(error) => return Err(error.into()),
        };
        let piece = &rest[..rest.len().min(PIECE_BYTES)];
        let written = match ready.is_empty() {
            true => offer(&stream, piece),
            false => rustix::io::write(&stream, piece),
        };
        match written {
            Ok(count) => {
                rest = &rest[count..];
                patience = Duration::ZERO;
            }
            // A non-blocking stream may still have no room for the piece.
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

/// Writes to a stream that does not say that it has room: a socket may have some all the same.
/// Rust ignores SIGPIPE in our program.
fn offer(stream: impl AsFd, piece: &[u8]) -> rustix::io::Result<usize> {
    match rustix::net::send(&stream, piece, SendFlags::DONTWAIT) {
        Err(Errno::NOTSOCK) => rustix::io::write(&stream, &[]).and(Err(Errno::AGAIN)),
        sent => sent,
    }
}
