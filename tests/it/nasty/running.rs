//! hookrun while it runs: watched from outside, bounded, and looked after when it has ended.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, with_tool};

/// Longer than anything takes that has not hung, on a busy machine too.
pub(crate) const NOT_HUNG: Duration = Duration::from_secs(60);

/// The variable by which everything that a run has started is found again.
const COOKIE: &str = "IT_COOKIE";

/// A text that no other process has.
#[derive(Debug, Clone)]
pub(crate) struct Cookie(pub(crate) String);

/// hookrun, started and not waited for.
pub(crate) struct Running {
    child: Child,
    pub(crate) cookie: Cookie,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    peak_kib: u64,
}

/// What was seen of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) ran: Ran,
    pub(crate) peak_kib: u64,
}

impl Cookie {
    pub(crate) fn new() -> Cookie {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Cookie(format!("cookie-{}-{number}-end", std::process::id()))
    }

    /// Marks what a command starts.
    pub(crate) fn mark<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env(COOKIE, &self.0)
    }

    /// The pids of processes that have it in their environment or on their command line.
    pub(crate) fn holders(&self) -> Vec<i32> {
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| {
            ["environ", "cmdline"].iter().any(|file| {
                let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
                bytes
                    .windows(self.0.len())
                    .any(|window| window == self.0.as_bytes())
            })
        })
        .collect()
    }

    /// Nothing that was started is left: a killed process may take a moment to vanish.
    #[track_caller]
    pub(crate) fn has_nobody(&self) {
        self.has_nobody_within(Duration::from_secs(20));
    }

    #[track_caller]
    pub(crate) fn has_nobody_within(&self, limit: Duration) {
        let started = Instant::now();
        let mut left = self.holders();
        while !left.is_empty() && started.elapsed() < limit {
            thread::sleep(Duration::from_millis(10));
            left = self.holders();
        }
        let words: Vec<String> = left.iter().map(|pid| described(*pid)).collect();
        left.iter().for_each(|pid| end(*pid, "KILL"));
        assert!(words.is_empty(), "left behind: {words:?}");
    }
}

/// A test that fails leaves no process behind either.
impl Drop for Cookie {
    fn drop(&mut self) {
        if thread::panicking() {
            self.holders().into_iter().for_each(|pid| end(pid, "KILL"));
        }
    }
}

fn described(pid: i32) -> String {
    format!("{pid}: {}", words_of(pid).join(" "))
}

/// Sends a signal to one process that a test has started, or to its group by a negative number.
pub(crate) fn end(pid: i32, signal: &str) {
    let mut kill = Command::new("/bin/sh");
    kill.args([
        "-c",
        "kill -s \"$1\" -- \"$2\"",
        "sh",
        signal,
        &pid.to_string(),
    ]);
    let _ = kill.stderr(Stdio::null()).status();
}

/// Decides `tool.pre` with an empty context, and looks for what was left behind.
#[track_caller]
pub(crate) fn decide(sandbox: &Sandbox) -> Ran {
    let mut command = sandbox.command(&["run", "tool.pre"]);
    // Our own group may be one that began outside of a container, which no hook could join.
    command.process_group(0);
    Running::start_as(command).feed(b"{}").ended().ran
}

/// Decides as [`decide`] does, and gives the report.
#[track_caller]
pub(crate) fn decide_with_report(sandbox: &Sandbox) -> Value {
    let arguments = ["run", "tool.pre", "--format", "json"];
    let ran = Running::start(sandbox, &arguments).feed(b"{}").ended().ran;
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// hookrun whose hook `hook` has started, by its file `started`, and is being kept.
#[track_caller]
pub(crate) fn hanging(body: &str) -> (Sandbox, Running) {
    let sandbox = Sandbox::new()
        .hook("hook", &format!("# hookrun: timeout=1h\n{body}"))
        .hook("later", "touch later");
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    wait_until("the hook has started", || sandbox.at("started").exists());
    wait_until("the keeper has started", || running.keepers() == 1);
    (sandbox, running)
}

/// The words on the command line of a process.
pub(crate) fn words_of(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    words.map(|word| word.into_owned()).collect()
}

/// The state of a process as a letter: R, S, T, Z, or nothing if it is gone.
pub(crate) fn state_of(pid: i32) -> Option<char> {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    status.rsplit(')').next()?.trim_start().chars().next()
}

/// Whether the tests may do everything.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// VariableValue of a test that this system does not permit.
#[expect(
    clippy::print_stderr,
    reason = "a test that proves nothing must say so"
)]
pub(crate) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// Waits for something that another process is going to do.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < NOT_HUNG, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Running {
    /// Starts hookrun in the sandbox.
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Running {
        Running::start_as(sandbox.command(arguments))
    }

    /// Starts hookrun through a shell line, in which `"$@"` is hookrun and its arguments.
    pub(crate) fn start_by(sandbox: &Sandbox, line: &str, arguments: &[&str]) -> Running {
        let hookrun = sandbox.command(arguments);
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", line, "sh"])
            .arg(hookrun.get_program())
            .args(hookrun.get_args());
        Running::start_instead(sandbox, shell)
    }

    /// Starts a command in the folder and with the environment that hookrun would have.
    pub(crate) fn start_instead(sandbox: &Sandbox, mut command: Command) -> Running {
        let hookrun = sandbox.command(&[]);
        command.current_dir(sandbox.path()).env_clear();
        let variables = hookrun.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::start_as(command)
    }

    /// Starts a command that is, or becomes, hookrun.
    pub(crate) fn start_as(mut command: Command) -> Running {
        let cookie = Cookie::new();
        let mut child = cookie.mark(&mut command).spawn().unwrap();
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        Running {
            child,
            cookie,
            stdout,
            stderr,
            peak_kib: 0,
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// How many keepers it has: processes that end its hooks when it is killed.
    pub(crate) fn keepers(&self) -> usize {
        let is_keeper = |pid: &i32| words_of(*pid).get(1).is_some_and(|word| word == "keep");
        self.cookie
            .holders()
            .iter()
            .filter(|pid| is_keeper(pid))
            .count()
    }

    /// Its stdin, to be kept open or written to.
    pub(crate) fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().unwrap()
    }

    /// Writes to its stdin, from a thread of its own, and closes it.
    pub(crate) fn feed(mut self, bytes: &[u8]) -> Running {
        let (mut stdin, bytes) = (self.stdin(), with_tool(bytes, &["tool.pre"]));
        // hookrun may refuse before it has read everything.
        thread::spawn(move || drop(stdin.write_all(&bytes)));
        self
    }

    /// Waits for its end, and for the end of all that it started.
    #[track_caller]
    pub(crate) fn ended(self) -> Ended {
        let cookie = self.cookie.clone();
        let ended = self.ended_alone();
        cookie.has_nobody();
        ended
    }

    /// Waits for its end; what it started may live on.
    #[track_caller]
    pub(crate) fn ended_alone(mut self) -> Ended {
        let status = self.status();
        let stdout = self
            .stdout
            .recv_timeout(NOT_HUNG)
            .expect("stdout is held open");
        let stderr = self
            .stderr
            .recv_timeout(NOT_HUNG)
            .expect("stderr is held open");
        let ran = Ran {
            status: status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        };
        // With next to no memory it is the start of a thread, in std, that panics.
        let is_thread = ran
            .stderr
            .contains("failed to allocate an alternative stack");
        assert!(is_thread || !ran.stderr.contains("panicked"), "{ran:?}");
        Ended {
            ran,
            peak_kib: self.peak_kib,
        }
    }

    #[track_caller]
    fn status(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            self.note_memory();
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if started.elapsed() > NOT_HUNG {
                let _ = self.child.kill();
                let _ = self.child.wait();
                self.cookie
                    .holders()
                    .iter()
                    .for_each(|pid| end(*pid, "KILL"));
                panic!("hookrun hung");
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The peak only grows, so the last look before its end tells it.
    fn note_memory(&mut self) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        self.peak_kib = peak.unwrap_or(self.peak_kib);
    }
}

fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    let Some(mut stream) = stream else {
        return receiver;
    };
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// The text of a file, once it is there and ends a line.
#[track_caller]
pub(crate) fn wait_for_text(sandbox: &Sandbox, file: &str) -> String {
    let text = || fs::read_to_string(sandbox.at(file)).unwrap_or_default();
    wait_until(file, || text().ends_with('\n'));
    text()
}
