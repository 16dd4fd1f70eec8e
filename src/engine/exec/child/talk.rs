//! A talk with a whole program that is no hook: what it is given, and all that it says.
//!
//! It is for programs that are put to the test, so nothing here trusts that they end, read what
//! they get, or let go of their streams.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use wait_timeout::ChildExt;

use super::LOOK_AGAIN;

/// How much of each stream is kept. The rest is read and dropped.
const MOST_KEPT_BYTES: u64 = 1024 * 1024;

/// How long streams may stay open after the program's exit.
const STREAMS_CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// What a program is given.
#[derive(Debug)]
pub struct Talk<'a> {
    /// The program; searched for in the `PATH` of `variables` if it is a bare name.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [OsString],
    /// Its whole environment.
    pub variables: &'a [(String, OsString)],
    /// Its working directory.
    pub cwd: &'a Path,
    /// Its stdin.
    pub stdin: Vec<u8>,
    /// Whether stdin stays open when all of it is written.
    pub keeps_stdin_open: bool,
    /// When it is killed.
    pub limit: Duration,
}

/// How a talk ended.
#[derive(Debug)]
pub enum Talked {
    /// It exited, and its streams ended.
    Ended {
        /// How it exited.
        status: ExitStatus,
        /// Its stdout, up to 1 MiB.
        stdout: Vec<u8>,
        /// Its stderr, up to 1 MiB.
        stderr: Vec<u8>,
    },
    /// It exited, and something still held its stdout or stderr 10 s later.
    Held,
    /// It was still running at its limit, or when it was to be over.
    Killed,
}

impl Talk<'_> {
    /// Runs the program in a group of its own until it ends, its limit is over, or `is_over` says
    /// so, which is asked again and again. Then its group is killed. What it leaves behind when
    /// it exits by itself is left alone.
    ///
    /// # Errors
    /// When it cannot be started or waited for.
    pub fn run(self, is_over: &dyn Fn() -> bool) -> io::Result<Talked> {
        let started = Instant::now();
        let mut command = Command::new(self.program);
        command.args(self.arguments).current_dir(self.cwd).process_group(0).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // An open stdin is kept in the channel.
        let stdin = feed(child.stdin.take(), self.stdin, self.keeps_stdin_open);
        let (stdout, stderr) = (keep(child.stdout.take()), keep(child.stderr.take()));
        let status = loop {
            if let Some(status) = child.wait_timeout(LOOK_AGAIN)? {
                break status;
            }
            if started.elapsed() > self.limit || is_over() {
                // The group may be empty by now, but for its leader.
                let _ = rustix::process::kill_process_group(Pid::from_child(&child), Signal::KILL);
                child.wait()?;
                return Ok(Talked::Killed);
            }
        };
        let said =
            (stdout.recv_timeout(STREAMS_CLOSE_WITHIN), stderr.recv_timeout(STREAMS_CLOSE_WITHIN));
        drop(stdin);
        match said {
            (Ok(stdout), Ok(stderr)) => Ok(Talked::Ended { status, stdout, stderr }),
            _ => Ok(Talked::Held),
        }
    }
}

/// Writes all of it from a thread. A program that does not read it is no error.
fn feed(pipe: Option<ChildStdin>, bytes: Vec<u8>, keeps_open: bool) -> Receiver<ChildStdin> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let _ = pipe.write_all(&bytes);
        if keeps_open {
            // Nobody takes it when the talk is over already.
            let _ = sender.send(pipe);
        }
    });
    receiver
}

/// Reads all of it in a thread.
fn keep(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.by_ref().take(MOST_KEPT_BYTES).read_to_end(&mut kept);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = sender.send(kept);
    });
    receiver
}
