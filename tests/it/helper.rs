//! `hookrun helper`: decides for runs, and keeps interpreters for hooks that start warm.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::sandbox::{Ran, Sandbox};

/// How long something may take before the test gives up: only a fault takes so long.
const FAR: Duration = Duration::from_secs(60);

/// An interpreter, as its own program file: on some machines `python3` is a script.
fn python() -> Option<PathBuf> {
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
    if !path.is_file() {
        crate::bounds::skip("there is no python3 here");
        return None;
    }
    Some(path)
}

/// A user with a hook in Python that starts warm, and counts how often it runs.
struct WarmUser {
    sandbox: Sandbox,
}

impl WarmUser {
    fn new(python: &Path, directive: &str) -> WarmUser {
        let own = python.display();
        let body = format!(
            "#!{own}\n# hookrun: timeout=60s\n{directive}\nimport json, os, sys, time\n\
             event = json.load(sys.stdin)\n\
             open(os.environ['HOME'] + '/ran', 'a').write('x')\n\
             command = event['toolInput']['command']\n\
             if 'rm' in command:\n    sys.exit('no rm')\n\
             if 'show' in command:\n    sys.exit(os.getcwd() + ' ' + os.environ.get('GIVEN', 'nothing'))\n\
             if 'wait' in command:\n    time.sleep(3600)\n"
        );
        WarmUser::with(&body)
    }

    /// With a hook that stays up, and does and counts the same.
    fn serving(python: &Path) -> WarmUser {
        let own = python.display();
        WarmUser::with(&format!(
            "#!{own}\n# hookrun: timeout=60s\n# hookrun: warm=serve\nimport json, os, sys\n\
             for line in sys.stdin:\n\
             \x20   request = json.loads(line)\n\
             \x20   open(os.environ['HOME'] + '/ran', 'a').write('x')\n\
             \x20   event = request['context']\n\
             \x20   command = event['toolInput']['command']\n\
             \x20   reason = None\n\
             \x20   if 'rm' in command: reason = 'no rm'\n\
             \x20   if 'show' in command: reason = '%s in %s with %s' % (os.getpid(), os.getcwd(), os.environ.get('GIVEN'))\n\
             \x20   if 'die' in command: os.kill(os.getpid(), 9)\n\
             \x20   keys = {{'continue': False, 'reason': reason}} if reason else {{}}\n\
             \x20   print(json.dumps({{'id': request['id'], **keys}}), flush=True)\n"
        ))
    }

    fn with(hook: &str) -> WarmUser {
        let sandbox = Sandbox::new();
        WarmUser {
            sandbox: sandbox.script("home/.config/hookrun/hooks.d/tool.pre/10-guard.py", hook),
        }
    }

    fn run_as(&self, set: impl FnOnce(&mut Command), command: &str) -> Ran {
        let context = format!(r#"{{"toolName":"bash","toolInput":{{"command":"{command}"}}}}"#);
        self.sandbox
            .hookrun_as(set, &["run", "tool.pre"], context.as_bytes())
    }

    fn run(&self, command: &str) -> Ran {
        self.run_as(|_| (), command)
    }

    fn times_run(&self) -> usize {
        fs::read(self.sandbox.at("home/ran")).map_or(0, |text| text.len())
    }

    /// How the hook last started, as the log has it; empty if nobody asked the helper.
    fn last_start(&self) -> String {
        let log = self
            .sandbox
            .at("home/.local/state/hookrun/log/decisions.jsonl");
        let text = fs::read_to_string(log).unwrap_or_default();
        let last: Value = text
            .lines()
            .last()
            .map_or(Value::Null, |line| serde_json::from_str(line).unwrap());
        let start = last.pointer("/run/hooks/0/start").and_then(Value::as_str);
        start.unwrap_or_default().to_string()
    }

    /// Runs until a start is warm. Returns how many runs that took.
    fn warm_up(&self) -> usize {
        let until = Instant::now() + FAR;
        let mut runs = 0;
        while self.last_start() != "warm" {
            assert!(Instant::now() < until, "no start was warm");
            assert_eq!(self.run("ls").status, 0);
            runs += 1;
        }
        runs
    }

    fn helper(&self) -> Option<Pid> {
        let folder = self.sandbox.at("home/.local/state/hookrun/helper");
        let sockets = fs::read_dir(folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path());
        let mut streams = sockets.filter_map(|socket| UnixStream::connect(socket).ok());
        Some(
            rustix::net::sockopt::socket_peercred(streams.next()?)
                .ok()?
                .pid,
        )
    }

    fn signal_helper(&self, signal: Signal) {
        rustix::process::kill_process(self.helper().expect("a helper"), signal).unwrap();
    }

    fn wait_for_no_helper(&self) {
        let until = Instant::now() + FAR;
        while self.helper().is_some() {
            assert!(Instant::now() < until, "the helper is still there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for WarmUser {
    fn drop(&mut self) {
        if let Some(helper) = self.helper() {
            let _ = rustix::process::kill_process(helper, Signal::CONT);
            let _ = rustix::process::kill_process(helper, Signal::TERM);
            self.wait_for_no_helper();
        }
    }
}

const FORK: &str = "# hookrun: warm=fork";

#[test]
fn a_run_that_is_decided_warm_is_like_one_that_is_not() {
    let Some(python) = python() else { return };
    let (warm, cold) = (WarmUser::new(&python, FORK), WarmUser::new(&python, ""));
    warm.warm_up();
    assert_eq!(cold.run("ls").status, 0);
    for command in ["ls", "rm x", "show"] {
        let given = |command: &mut Command| {
            command.env("GIVEN", "a b");
        };
        let other = cold.run_as(given, command);
        // On a busy machine the helper may not accept in time; then the run decides itself.
        let until = Instant::now() + FAR;
        let mut one = warm.run_as(given, command);
        while warm.last_start() != "warm" {
            assert!(Instant::now() < until, "{command}: no start was warm");
            one = warm.run_as(given, command);
        }
        let there = |ran: &Ran, user: &WarmUser| {
            ran.stdout
                .replace(&user.sandbox.path().display().to_string(), "HERE")
        };
        assert_eq!(one.status, other.status, "{command}: {one:?}");
        assert_eq!(there(&one, &warm), there(&other, &cold), "{command}");
    }
    assert_eq!(cold.last_start(), "", "nobody asked the helper");
    let ran = warm.sandbox.hookrun(&["why"], b"");
    assert!(!ran.exits(0).stdout.contains("cold ("), "{ran:?}");
    let ran = warm.sandbox.hookrun(&["doctor"], b"");
    assert!(!ran.stdout.contains("last started cold"), "{ran:?}");
}

#[test]
fn why_and_doctor_say_the_reason_of_a_cold_start() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, &format!("{FORK}\n# hookrun: limits.files=64"));
    let until = Instant::now() + FAR;
    while user.last_start() != "bounds" {
        assert!(Instant::now() < until, "the helper did not decide");
        user.run("ls");
    }
    user.sandbox
        .hookrun(&["why"], b"")
        .prints("start    cold (bounds): ");
    user.sandbox
        .hookrun(&["doctor"], b"")
        .prints("`10-guard.py` last started cold (bounds): ");
}

#[test]
fn a_hook_that_stays_up_answers_the_runs_of_one_folder_and_environment() {
    let Some(python) = python() else { return };
    let user = WarmUser::serving(&python);
    let mut runs = user.warm_up();
    let folder = user.sandbox.path().display().to_string();
    // On a busy machine the helper may not accept in time; then the run decides itself.
    let mut shown = |given: &str, folder: &str| {
        let until = Instant::now() + FAR;
        loop {
            assert!(Instant::now() < until, "no start was warm");
            runs += 1;
            let there = |run: &mut Command| {
                run.env("GIVEN", given).current_dir(folder);
            };
            let ran = user.run_as(there, "show");
            assert_eq!(ran.status, 2, "{ran:?}");
            let said = format!(" in {folder} with {given}");
            assert!(ran.stderr.contains(&said), "{said}: {ran:?}");
            if user.last_start() == "warm" {
                return ran.stderr;
            }
        }
    };
    let first = shown("a", &folder);
    let other = user.sandbox.at("other");
    fs::create_dir(&other).unwrap();
    assert_ne!(shown("b", &folder), first);
    shown("b", other.to_str().unwrap());
    assert_eq!(
        shown("a", &folder),
        first,
        "the process that was there before"
    );
    let ran = user.run("rm x");
    assert!(ran.status == 2 && ran.stderr.contains("no rm"), "{ran:?}");
    let ran = user.run("die");
    assert!(ran.status == 2 && ran.stderr.contains("SIGKILL"), "{ran:?}");
    assert_eq!(user.run("ls").status, 0);
    assert_eq!(user.times_run(), runs + 3, "each event was answered once");
}

#[test]
fn each_event_runs_its_hook_once_whatever_happens_to_the_helper() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    let mut runs = user.warm_up();
    for round in 0..6 {
        match round % 3 {
            0 => user.signal_helper(Signal::KILL),
            1 => runs += user.warm_up(),
            _ => {}
        }
        assert_eq!(user.run("rm x").status, 2, "a block is never lost");
        assert_eq!(user.run("ls").status, 0);
        runs += 2;
        assert_eq!(user.times_run(), runs);
    }
}

#[test]
fn a_helper_that_hangs_is_left_alone() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    user.warm_up();
    let before = user.times_run();
    user.signal_helper(Signal::STOP);
    assert_eq!(user.run("rm x").status, 2);
    assert_eq!(user.last_start(), "", "the run decided itself");
    user.signal_helper(Signal::CONT);
    assert_eq!(user.run("ls").status, 0);
    assert_eq!(user.times_run(), before + 2);
}

#[test]
fn another_program_at_the_socket_decides_nothing() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    user.warm_up();
    user.signal_helper(Signal::KILL);
    user.wait_for_no_helper();
    let folder = user.sandbox.at("home/.local/state/hookrun/helper");
    let socket = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::remove_file(&socket).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let answers = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let allowed = r#"{"Decided":{"status":0,"stdout":"","stderr":"","is_needed":false}}"#;
        let _ =
            std::io::Write::write_all(&mut stream, format!("\"Accepted\"\n{allowed}\n").as_bytes());
    });
    let ran = user.run("rm x");
    answers.join().unwrap();
    // The test itself must not be taken for a helper.
    fs::remove_file(&socket).unwrap();
    assert_eq!(ran.status, 2, "{ran:?}");
    assert_eq!(user.last_start(), "", "the run decided itself");
}

#[test]
fn the_full_queue_of_a_stopped_helper_keeps_no_run_waiting() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    user.warm_up();
    // Asked now: later nobody can connect.
    let helper = user.helper().expect("a helper");
    rustix::process::kill_process(helper, Signal::STOP).unwrap();
    let folder = user.sandbox.at("home/.local/state/hookrun/helper");
    let sockets = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let socket = sockets
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "sock"));
    let address = SocketAddrUnix::new(socket.unwrap()).unwrap();
    // A connection that is closed at once keeps its place in the queue.
    let connect = || {
        let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        rustix::io::ioctl_fionbio(&socket, true).unwrap();
        rustix::net::connect(&socket, &address)
    };
    let is_full = (0..100_000).any(|_| connect() == Err(Errno::AGAIN));
    let ran = user.run("rm x");
    rustix::process::kill_process(helper, Signal::CONT).unwrap();
    assert!(is_full);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.stdout.contains("no rm"),
        "the run decided itself: {ran:?}"
    );
}

#[test]
fn a_helper_that_is_killed_while_it_decides_blocks() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    // On a busy machine a run may decide without the helper, and then waits for its hook's timeout.
    let decide = || {
        user.warm_up();
        let before = user.times_run();
        let ran = std::thread::scope(|scope| {
            let run = scope.spawn(|| user.run("wait"));
            let until = Instant::now() + FAR;
            while user.times_run() == before && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Longer than a hook runs before the keeper watches it.
            std::thread::sleep(Duration::from_millis(1000));
            user.signal_helper(Signal::KILL);
            run.join().unwrap()
        });
        assert_eq!(user.times_run(), before + 1);
        ran
    };
    let is_by_helper = |ran: &Ran| !ran.stdout.contains("timed out after 1m");
    let ran = (0..3).map(|_| decide()).find(is_by_helper).unwrap();
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.stdout.contains("did not decide the event: it exited"),
        "{ran:?}"
    );
}

#[test]
fn a_run_that_is_killed_ends_its_hook_in_the_helper() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    user.warm_up();
    let log = user
        .sandbox
        .at("home/.local/state/hookrun/log/decisions.jsonl");
    let ends_in_the_helper = || {
        let before = user.times_run();
        let mut run = user.sandbox.command(&["run", "tool.pre"]).spawn().unwrap();
        let context = br#"{"toolName":"bash","toolInput":{"command":"wait"}}"#;
        std::io::Write::write_all(&mut run.stdin.take().unwrap(), context).unwrap();
        let until = Instant::now() + FAR;
        while user.times_run() == before && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Longer than a hook runs before the keeper watches it.
        std::thread::sleep(Duration::from_millis(1000));
        run.kill().unwrap();
        run.wait().unwrap();
        let looks = 0..400;
        let is_logged = || fs::read_to_string(&log).unwrap().contains("interrupted");
        looks.into_iter().any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            is_logged()
        })
    };
    // On a busy machine a helper does not accept in time: then the run itself had the hook.
    assert!(
        (0..10).any(|_| ends_in_the_helper()),
        "the hook is still running"
    );
}

#[test]
fn what_a_hook_would_inherit_must_be_the_same() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    user.warm_up();
    let context = br#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    for line in [
        "umask 007; \"$0\" run tool.pre",
        "ulimit -n 500; \"$0\" run tool.pre",
    ] {
        assert_eq!(user.sandbox.hookrun_by_shell(line, context).status, 0);
        assert_eq!(user.last_start(), "", "{line}");
    }
    let jobs = user
        .sandbox
        .hookrun(&["run", "tool.pre", "--jobs", "1"], context);
    assert_eq!((jobs.status, user.last_start().as_str()), (0, ""));
}

#[test]
fn a_hook_that_was_just_changed_decides_as_it_is_now() {
    let Some(python) = python() else { return };
    let user = WarmUser::new(&python, FORK);
    user.warm_up();
    let hook = user
        .sandbox
        .at("home/.config/hookrun/hooks.d/tool.pre/10-guard.py");
    for round in 0..10 {
        let body = format!(
            "#!{}\n{FORK}\nimport sys\nsys.exit('{round}')\n",
            python.display()
        );
        fs::write(&hook, body).unwrap();
        let ran = user.run("ls");
        assert_eq!(ran.status, 2);
        assert!(
            ran.stdout.contains(&format!("\"{round}\"")),
            "{round}: {ran:?}"
        );
    }
    fs::remove_file(&hook).unwrap();
    assert_eq!(user.run("ls").status, 0);
}

#[test]
fn no_helper_is_started_in_ci_or_for_other_hooks() {
    let Some(python) = python() else { return };
    let (user, other) = (WarmUser::new(&python, FORK), WarmUser::new(&python, ""));
    let in_ci = |command: &mut Command| {
        command.env("CI", "true");
    };
    assert_eq!(
        (user.run_as(in_ci, "ls").status, other.run("ls").status),
        (0, 0)
    );
    for user in [&user, &other] {
        assert!(!user.sandbox.at("home/.local/state/hookrun/helper").exists());
    }
}
