//! Hooks in Python that start warm: `cargo bench --profile release --bench warm [-- PAIRS]`.
//!
//! First inside `hookrun serve`, then as whole processes of `hookrun run` with its helper. Two sides
//! take turns, and each pair of events gives one ratio; the table shows the median of the ratios and
//! of the times. Then it prints what a kept interpreter and a process that waits need of memory. The
//! interpreter is the one that `python3` starts.

#![expect(clippy::print_stdout, reason = "numbers for a person")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tempfile::TempDir;

const DEFAULT_PAIRS: usize = 200;

/// Events that nobody counts: the first of them start interpreters.
const BEFORE: usize = 20;

/// A gate as people write them.
const GATE: &str = r#"import json, re, sys
event = json.load(sys.stdin)
if re.search(r"rm\s+-rf\s+/", event["toolInput"]["command"]):
    sys.exit("no")
"#;

const SH_GATE: &str = "case $HOOKRUN_ACTION_COMMAND in *'rm -rf /'*) echo no >&2; exit 1 ;; esac\n";

const CONTEXT: &str = r#"{"toolName":"bash","toolInput":{"command":"cargo test"}}"#;

const EVENT: &str = r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/decide","params":{"event":"tool.pre","context":{"toolName":"bash","toolInput":{"command":"cargo test"}}}}"#;

/// A server with hooks of one sort.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Server {
    fn start(hook: &str, count: usize) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let hooks = folder.path().join("hooks.d/tool.pre");
        write_hooks(&hooks, hook, count);
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrun"));
        command
            .args(["serve", "--stdio", "--hooks"])
            .arg(folder.path().join("hooks.d"));
        command.current_dir(folder.path()).env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", folder.path());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Server {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            _folder: folder,
        }
    }

    /// How many milliseconds one event takes.
    fn decide(&mut self) -> f64 {
        let started = Instant::now();
        writeln!(self.stdin, "{EVENT}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let took = started.elapsed().as_secs_f64() * 1000.0;
        assert!(line.contains("\"status\":0"), "{line}");
        took
    }

    /// The memory of the processes that it keeps, in KiB: shared pages by their part, and its own.
    fn memory(&self) -> Vec<[u64; 2]> {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let children = fs::read_to_string(children).unwrap();
        let of = |pid: &str| {
            let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
            ["Pss:", "Private_Dirty:"].map(|key| {
                let line = text.lines().find_map(|line| line.strip_prefix(key));
                let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
                number.unwrap_or(0)
            })
        };
        children.split_whitespace().map(of).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_hooks(folder: &Path, hook: &str, count: usize) {
    fs::create_dir_all(folder).unwrap();
    for number in 0..count {
        let file = folder.join(format!("{number}-gate"));
        fs::write(&file, hook).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A user with hooks of one sort, whose events are processes of their own.
struct User {
    home: TempDir,
}

impl User {
    fn new(hook: &str, count: usize) -> User {
        let home = tempfile::tempdir().unwrap();
        write_hooks(
            &home.path().join(".config/hookrun/hooks.d/tool.pre"),
            hook,
            count,
        );
        User { home }
    }

    /// The folder of the helper's socket.
    fn helper_folder(&self) -> std::path::PathBuf {
        self.home.path().join(".local/state/hookrun/helper")
    }

    /// A user for whom no helper can start.
    fn without_helper(hook: &str) -> User {
        let user = User::new(hook, 1);
        fs::create_dir_all(user.helper_folder().parent().unwrap()).unwrap();
        fs::write(user.helper_folder(), "").unwrap();
        user
    }

    fn decide(&self) -> f64 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrun"));
        command
            .args(["run", "tool.pre"])
            .current_dir(self.home.path())
            .env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home.path());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let started = Instant::now();
        let mut run = command.spawn().unwrap();
        run.stdin
            .take()
            .unwrap()
            .write_all(CONTEXT.as_bytes())
            .unwrap();
        let status = run.wait().unwrap();
        let took = started.elapsed().as_secs_f64() * 1000.0;
        assert!(status.success(), "{status}");
        took
    }

    fn helper(&self) -> Option<Pid> {
        let sockets = fs::read_dir(self.helper_folder()).ok()?.flatten();
        let mut streams = sockets.filter_map(|entry| UnixStream::connect(entry.path()).ok());
        Some(
            rustix::net::sockopt::socket_peercred(streams.next()?)
                .ok()?
                .pid,
        )
    }

    fn signal_helper(&self, signal: Signal) {
        rustix::process::kill_process(self.helper().unwrap(), signal).unwrap();
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let Some(helper) = self.helper() {
            let _ = rustix::process::kill_process(helper, Signal::CONT);
            let _ = rustix::process::kill_process(helper, Signal::TERM);
        }
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn title(what: &str) {
    println!(
        "{what:<40} {:>7} {:>9} {:>8} {:>8}  goal",
        "ratio", "a - b, ms", "a, ms", "b, ms"
    );
}

fn compare(
    what: &str,
    goal: &str,
    pairs: usize,
    mut a: impl FnMut() -> f64,
    mut b: impl FnMut() -> f64,
) {
    for _ in 0..BEFORE {
        a();
        b();
    }
    let times: Vec<[f64; 2]> = (0..pairs).map(|_| [a(), b()]).collect();
    let ratio = median(times.iter().map(|[a, b]| a / b).collect());
    let more = median(times.iter().map(|[a, b]| a - b).collect());
    let [a_ms, b_ms] = [0, 1].map(|side| median(times.iter().map(|pair| pair[side]).collect()));
    println!("{what:<40} {ratio:>7.3} {more:>9.2} {a_ms:>8.2} {b_ms:>8.2}  {goal}");
}

fn in_serve(pairs: usize, cold: &str, warm: &str, sh: &str) {
    title("in serve");
    let start = |hook: &str| Server::start(hook, 1);
    let (mut a, mut b) = (start(warm), start(cold));
    compare(
        "a warm hook / a cold one",
        "1/12 = 0.083",
        pairs,
        || a.decide(),
        || b.decide(),
    );
    let (mut a, mut b) = (Server::start(warm, 3), Server::start(cold, 3));
    let what = "three warm hooks / three cold ones";
    compare(what, "1/8 = 0.125", pairs, || a.decide(), || b.decide());
    let (mut a, mut b) = (start(warm), start(sh));
    compare(
        "a warm hook / one in sh",
        "",
        pairs,
        || a.decide(),
        || b.decide(),
    );
    // By then the process for the next event waits.
    std::thread::sleep(Duration::from_millis(300));
    for [shared, own] in a.memory() {
        println!("kept: {shared} KiB with its part of shared pages, {own} KiB its own");
    }
}

fn whole_runs(pairs: usize, cold: &str, warm: &str, sh: &str) {
    title("a whole run");
    let of = |hook: &str| User::new(hook, 1);
    let (a, b, other) = (of(warm), of(cold), of(sh));
    compare(
        "a warm hook / a cold one",
        "1/8 = 0.125",
        pairs,
        || a.decide(),
        || b.decide(),
    );
    compare(
        "a warm hook / one in sh",
        "2.5",
        pairs,
        || a.decide(),
        || other.decide(),
    );
    let (three, others) = (User::new(warm, 3), User::new(cold, 3));
    let what = "three warm hooks / three cold ones";
    compare(
        what,
        "1/8 = 0.125",
        pairs,
        || three.decide(),
        || others.decide(),
    );
    a.signal_helper(Signal::STOP);
    compare(
        "helper stopped / a cold one",
        "+6 ms",
        pairs,
        || a.decide(),
        || b.decide(),
    );
    let absent = User::without_helper(warm);
    let what = "no helper possible / a cold one";
    compare(what, "+0.05 ms", pairs, || absent.decide(), || b.decide());
}

fn main() {
    let number = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let pairs = number.unwrap_or(DEFAULT_PAIRS);
    let asks = "import sys; print(sys.executable)";
    let python = Command::new("python3")
        .args(["-c", asks])
        .output()
        .unwrap()
        .stdout;
    let python = String::from_utf8(python).unwrap();
    let cold = format!("#!{}\n{GATE}", python.trim());
    let warm = format!("#!{}\n# hookrun: warm=fork\n{GATE}", python.trim());
    let sh = format!("#!/bin/sh\n{SH_GATE}");
    in_serve(pairs, &cold, &warm, &sh);
    whole_runs(pairs, &cold, &warm, &sh);
}
