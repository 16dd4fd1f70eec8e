//! Hooks in Python that start warm, in `hookrun serve`: `cargo bench --bench warm [-- PAIRS]`.
//!
//! Two servers take turns, and each pair of events gives one ratio; the table shows the median of
//! the ratios and of the times. Then it prints what a kept interpreter and a process that waits
//! need of memory. The interpreter is the one that `python3` starts.

#![expect(clippy::print_stdout, reason = "numbers for a person")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

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
        fs::create_dir_all(&hooks).unwrap();
        for number in 0..count {
            let file = hooks.join(format!("{number}-gate"));
            fs::write(&file, hook).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrun"));
        command.args(["serve", "--stdio", "--hooks"]).arg(folder.path().join("hooks.d"));
        command.current_dir(folder.path()).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Server { child, stdin, stdout: BufReader::new(stdout), _folder: folder }
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

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn compare(what: &str, goal: &str, pairs: usize, mut a: Server, mut b: Server) -> Server {
    for _ in 0..BEFORE {
        a.decide();
        b.decide();
    }
    let times: Vec<[f64; 2]> = (0..pairs).map(|_| [a.decide(), b.decide()]).collect();
    let ratio = median(times.iter().map(|[a, b]| a / b).collect());
    let [a_ms, b_ms] = [0, 1].map(|side| median(times.iter().map(|pair| pair[side]).collect()));
    println!("{what:<36} {ratio:>7.3} {a_ms:>8.2} {b_ms:>8.2}  {goal}");
    a
}

fn main() {
    let number = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let pairs = number.unwrap_or(DEFAULT_PAIRS);
    let asks = "import sys; print(sys.executable)";
    let python = Command::new("python3").args(["-c", asks]).output().unwrap().stdout;
    let python = String::from_utf8(python).unwrap();
    let cold = format!("#!{}\n{GATE}", python.trim());
    let warm = format!("#!{}\n# hookrun: warm=fork\n{GATE}", python.trim());
    let sh = format!("#!/bin/sh\n{SH_GATE}");
    println!("{:<36} {:>7} {:>8} {:>8}  goal", "in serve", "ratio", "a, ms", "b, ms");
    let start = |hook: &str| Server::start(hook, 1);
    compare("a warm hook / a cold one", "1/12 = 0.083", pairs, start(&warm), start(&cold));
    let three = |hook: &str| Server::start(hook, 3);
    compare("three warm hooks / three cold ones", "1/8 = 0.125", pairs, three(&warm), three(&cold));
    let kept = compare("a warm hook / one in sh", "", pairs, start(&warm), start(&sh));
    for [shared, own] in kept.memory() {
        println!("kept: {shared} KiB with its part of shared pages, {own} KiB its own");
    }
}
