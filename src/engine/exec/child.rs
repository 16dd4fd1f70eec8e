//! The only place that spawns, waits for and signals hooks.
//!
//! The thread that reaps is the thread that signals. Pid and group are not reused before the child
//! is reaped, so a signal never reaches another process.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus};

use super::command::Program;
use super::job::Job;
use super::spawn::words_of;
use super::streams::{
    Capture, Feed, HookPipes, STDERR_HEAD_BYTES, STDERR_TAIL_BYTES, STDOUT_KEPT_BYTES,
};
use crate::engine::event::context::Payload;
use crate::engine::run::{CapturedStream, Exit, ProcessStart, WARM_NOTE};

/// Time for a killed process to die. In uninterruptible sleep it never does.
pub(super) const GIVE_UP: Duration = Duration::from_secs(1);

/// Delay before waiting for the exit of a hook that keeps its streams open: another process may
/// hold them.
const WATCHED_AFTER: Duration = Duration::from_millis(2);

/// A started hook: the leader of a session and process group, and our ends of its streams.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) pid: Pid,
    watch: ExitWatch,
    pub(super) stdin: Option<Feed>,
    pub(super) stdout: Capture,
    pub(super) stderr: Capture,
    pub(super) how: Option<ProcessStart>,
    /// For a forked process: the socket on which it reports that the script begins.
    pub(super) beginning: Option<OwnedFd>,
}

/// How the leader's exit is detected.
#[derive(Debug)]
enum ExitWatch {
    /// By querying it when it closes its streams, and at this time. Most hooks exit before that and
    /// need no pidfd.
    Later(Instant),
    Pidfd(OwnedFd),
    Polled,
}

/// State of the leader, queried without reaping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    Exited(Exit),
    /// Another part of the program reaped it.
    Lost,
}

impl Child {
    /// Starts a hook in a new session. Fills the stdin pipe first, so that most hooks need no
    /// further feeding. With `stays_open`, stdin is not closed. `start` passes the streams to a
    /// process and closes our copies.
    pub(super) fn start(
        job: &Job<'_>,
        stays_open: bool,
        start: impl FnOnce([OwnedFd; 3]) -> io::Result<Pid>,
    ) -> io::Result<Child> {
        let pipes = HookPipes::take(job.pipes, job.stdin(stays_open))?;
        let pid = start(pipes.theirs)?;
        let mut child = Child {
            pid,
            watch: ExitWatch::Later(Instant::now() + WATCHED_AFTER),
            stdin: pipes.stdin,
            stdout: Capture::new(pipes.stdout, STDOUT_KEPT_BYTES, 0),
            stderr: Capture::new(pipes.stderr, STDERR_HEAD_BYTES, STDERR_TAIL_BYTES),
            how: None,
            beginning: None,
        };
        if job.lines.is_some() {
            child.feed();
        }
        job.pipes
            .iter()
            .for_each(|pipes| pipes.make_next(job.stdin(false)));
        Ok(child)
    }

    pub(super) fn exit_fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.watch {
            ExitWatch::Pidfd(pidfd) => Some(pidfd.as_fd()),
            ExitWatch::Later(_) | ExitWatch::Polled => None,
        }
    }

    /// Returns when to query the leader; `tick` is the next time without pidfds. `None` if
    /// [`exit_fd`](Child::exit_fd) reports the exit.
    pub(super) fn query_at(&self, tick: Instant) -> Option<Instant> {
        match self.watch {
            ExitWatch::Later(at) => Some(at),
            ExitWatch::Pidfd(_) => None,
            ExitWatch::Polled => Some(tick),
        }
    }

    pub(super) fn watch_exit(&mut self) {
        if let ExitWatch::Later(_) = self.watch {
            self.watch = open_pidfd(self.pid).map_or(ExitWatch::Polled, ExitWatch::Pidfd);
        }
    }

    /// Returns our ends of streams that all writers have closed.
    pub(super) fn spent(&mut self) -> impl Iterator<Item = OwnedFd> + use<> {
        let spent = [self.stdout.spent.take(), self.stderr.spent.take()];
        spent.into_iter().flatten()
    }

    pub(super) fn stdin_fd(&self) -> Option<BorrowedFd<'_>> {
        self.stdin.as_ref()?.waiting_fd()
    }

    /// Writes without blocking. A hook that stops reading is not an error.
    pub(super) fn feed(&mut self) {
        self.stdin.iter_mut().for_each(Feed::go_on);
        self.stdin.take_if(|feed| feed.is_over());
    }

    /// Returns true if an exited process ran nothing of its hook: it would have reported the start.
    pub(super) fn never_began(&self) -> bool {
        let Some(socket) = &self.beginning else {
            return false;
        };
        loop {
            match recv(socket, &mut [0; 1], RecvFlags::DONTWAIT | RecvFlags::PEEK) {
                Ok((_, length)) => return length == 0,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    /// Returns what the user should know about a warm start. Call it after the exit.
    pub(super) fn start_note(&self) -> Option<String> {
        let mut text = [0; 4096];
        let (_, length) = recv(self.beginning.as_ref()?, &mut text, RecvFlags::DONTWAIT).ok()?;
        let note = String::from_utf8_lossy(text[..length].get(1..)?);
        (!note.is_empty()).then(|| format!("{WARM_NOTE}{note}"))
    }

    pub(super) fn give(&mut self, payload: &Payload) {
        if let Some(feed) = &mut self.stdin {
            feed.take(payload);
        }
        self.feed();
    }

    /// Returns true if stdin is still open: a pipe without a reader reports an error.
    fn listens(&self) -> bool {
        let Some(feed) = &self.stdin else {
            return false;
        };
        let mut fds = [PollFd::new(&feed.fd, PollFlags::OUT)];
        let polled = rustix::event::poll(&mut fds, Some(&Timespec::default()));
        polled.is_ok() && !fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
    }

    /// Returns true if it is open but has written nothing to stdout. Discards stderr between
    /// events.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut buffer = Vec::with_capacity(4096);
        self.stdout.read(&mut buffer, false);
        self.stderr.read(&mut buffer, false);
        self.stderr.kept = CapturedStream::default();
        self.stdout.kept.total_bytes == 0 && !self.stdout.is_closed() && self.listens()
    }

    /// Sends SIGTERM to the group and wakes stopped members.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Kills the group, and the leader even if it has left the group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // Neither an empty group nor a leader outside of it is an error.
        let _ = rustix::process::kill_process_group(self.pid, signal);
        if group_of(self.pid) != Some(self.pid.as_raw_nonzero().get()) {
            let _ = rustix::process::kill_process(self.pid, signal);
        }
    }

    pub(super) fn kill_rest(&self) {
        let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
    }

    /// Reaps the leader. Call this only after its exit was seen and its group was killed: the
    /// zombie keeps the group id from being reused.
    pub(super) fn reap(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        while let Err(Errno::INTR) = rustix::process::waitid(WaitId::Pid(self.pid), options) {}
    }
}

/// Queries a child without reaping it. `Lost`: not our child.
pub(super) fn status_of(pid: Pid) -> Status {
    loop {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        return match rustix::process::waitid(WaitId::Pid(pid), options) {
            Ok(None) => Status::Running,
            Ok(Some(status)) => Status::Exited(exit_of(&status)),
            Err(Errno::INTR) => continue,
            Err(_) => Status::Lost,
        };
    }
}

#[cfg(target_os = "linux")]
fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    // Kernels before 5.3 and some sandboxes have no pidfds.
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_pidfd(_pid: Pid) -> Option<OwnedFd> {
    None
}

/// Returns a process's group. Group 0 is outside our namespace: a container without a new session
/// runs in the group that started it.
pub(super) fn group_of(pid: Pid) -> Option<i32> {
    let pid = nix::unistd::Pid::from_raw(pid.as_raw_nonzero().get());
    let group = nix::unistd::getpgid(Some(pid)).ok()?;
    Some(group.as_raw())
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(status), _) => Exit::Status(status),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Executes this program. Returns only errors.
///
/// It calls execve directly: `Command::exec` passes an invalid executable to a shell, and an empty
/// file would then exit 0, which allows.
pub(super) fn become_program(program: &Program) -> io::Result<Infallible> {
    let (path, words) = words_of(program)?;
    // Rust ignores SIGPIPE, which exec would inherit.
    super::signals::take_as_usual(libc::SIGPIPE);
    Ok(nix::unistd::execv(&path, &words)?)
}

pub(super) fn end(pid: Pid) {
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    reap_within(pid, GIVE_UP);
}

/// Waits up to `limit` for a child and reaps it. Returns false if it still runs.
pub(super) fn reap_within(pid: Pid, limit: Duration) -> bool {
    let started = Instant::now();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    while let Ok(None) = rustix::process::waitid(WaitId::Pid(pid), options) {
        if started.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    true
}
