//! Runs programs that are not hooks: git, checks, a test's setup.
//!
//! Hooks start in `engine/exec/child.rs`. An errand gets a process group and a time limit, and only
//! [`wait`] waits for it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use wait_timeout::ChildExt;

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Time for streams to close after the program's exit.
const STREAMS_CLOSE_WITHIN: Duration = Duration::from_secs(10);

const KEPT_BYTES: u64 = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Errand {
    /// Inherits our environment and working directory by default.
    pub(crate) command: Command,
    pub(crate) stdin: Vec<u8>,
    /// Bytes kept of each stream; the rest is dropped.
    pub(crate) kept_bytes: u64,
    pub(crate) limit: Duration,
}

#[derive(Debug)]
pub(crate) enum ErrandEnd {
    Exited(Output),
    /// Exited, but another process held its stdout or stderr for 10 s.
    Held,
    /// Killed at its limit or by the caller.
    Killed,
}

impl Errand {
    pub(crate) fn new<I: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = I>,
        limit: Duration,
    ) -> Errand {
        let mut command = Command::new(program);
        command.args(arguments);
        Errand {
            command,
            stdin: Vec::new(),
            kept_bytes: KEPT_BYTES,
            limit,
        }
    }

    /// Runs it in a new process group until it exits, reaches its limit or `is_over` returns true.
    /// Does not kill processes that outlive a normal exit.
    pub(crate) fn run(mut self, is_over: impl FnMut() -> bool) -> io::Result<ErrandEnd> {
        if self.stdin.is_empty() {
            self.command.stdin(Stdio::null());
        } else {
            self.command.stdin(Stdio::piped());
        }
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.process_group(0).spawn()?;
        feed(child.stdin.take(), self.stdin);
        let stdout = keep(child.stdout.take(), self.kept_bytes);
        let stderr = keep(child.stderr.take(), self.kept_bytes);
        let Some(status) = wait(&mut child, self.limit, is_over)? else {
            return Ok(ErrandEnd::Killed);
        };
        let stdout = stdout.recv_timeout(STREAMS_CLOSE_WITHIN);
        let stderr = stderr.recv_timeout(STREAMS_CLOSE_WITHIN);
        Ok(match (stdout, stderr) {
            (Ok(stdout), Ok(stderr)) => ErrandEnd::Exited(Output {
                status,
                stdout,
                stderr,
            }),
            _ => ErrandEnd::Held,
        })
    }

    /// Returns the output if it exited within its limit.
    pub(crate) fn output(self) -> io::Result<Option<Output>> {
        Ok(match self.run(|| false)? {
            ErrandEnd::Exited(output) => Some(output),
            ErrandEnd::Held | ErrandEnd::Killed => None,
        })
    }
}

/// Runs `lines` with `sh -e` and only these variables, writes output to `output`, then kills the
/// process group. Returns `None` if it reached the limit or `is_over` returned true.
pub(crate) fn set_up(
    lines: &str,
    cwd: &Path,
    variables: &[(OsString, OsString)],
    output: &File,
    limit: Duration,
    is_over: impl FnMut() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let mut command = Command::new("/bin/sh");
    command.args(["-e", "-c", lines]).current_dir(cwd);
    command.env_clear().envs(variables.iter().cloned());
    command.stdin(Stdio::null()).stdout(output.try_clone()?);
    command.stderr(output.try_clone()?).process_group(0);
    let mut child = command.spawn()?;
    let status = wait(&mut child, limit, is_over)?;
    // Process ids are allocated in turn: no other group has this one yet.
    kill_group(&child);
    Ok(status)
}

/// Starts a program that outlives us, with `payload` on stdin, without waiting. A small payload
/// fits into the pipe's buffer.
pub(crate) fn hand_over(program: &Path, arguments: &[OsString], payload: &[u8]) -> io::Result<()> {
    let mut command = Command::new(program);
    command.arg0("hookrun").args(arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // The host may kill our group right after the reply.
    let mut child = command.process_group(0).spawn()?;
    let stdin = child.stdin.take();
    let mut stdin = stdin.ok_or_else(|| io::Error::other("it has no stdin"))?;
    stdin.write_all(payload)
}

/// Waits for the exit. Kills the process group and returns `None` at the limit or if `is_over`
/// returns true.
fn wait(
    child: &mut Child,
    limit: Duration,
    mut is_over: impl FnMut() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        let left = limit.saturating_sub(started.elapsed());
        if let Some(status) = child.wait_timeout(left.min(LOOK_AGAIN))? {
            return Ok(Some(status));
        }
        if left.is_zero() || is_over() {
            kill_group(child);
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
    }
}

fn kill_group(child: &Child) {
    let _ = rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// Writes `bytes` in a thread. Ignores programs that do not read them.
fn feed(pipe: Option<ChildStdin>, bytes: Vec<u8>) {
    thread::spawn(move || pipe.map(|mut pipe| pipe.write_all(&bytes)));
}

fn keep(stream: Option<impl Read + Send + 'static>, most_bytes: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.by_ref().take(most_bytes).read_to_end(&mut kept);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = sender.send(kept);
    });
    receiver
}
