//! Every signal that can be caught, before, during and after the hook: those that would end
//! hookrun make it block, and the reason names them; the others change nothing.

use std::io::{PipeReader, Read, Write};
use std::process::{Child, Stdio};
use std::thread;

use super::running::{Cookie, Running, end, hanging, wait_until};
use crate::sandbox::{Ran, Sandbox};

/// Signals that would end hookrun, by number and name.
const STOPS: &[(&str, &str)] = &[
    ("1", "SIGHUP"),
    ("2", "SIGINT"),
    ("3", "SIGQUIT"),
    ("5", "SIGTRAP"),
    ("6", "SIGABRT"),
    ("10", "SIGUSR1"),
    ("12", "SIGUSR2"),
    ("14", "SIGALRM"),
    ("15", "SIGTERM"),
    ("16", "signal 16"),
    ("24", "SIGXCPU"),
    ("26", "SIGVTALRM"),
    ("27", "SIGPROF"),
    ("29", "SIGIO"),
    ("30", "signal 30"),
    ("31", "SIGSYS"),
];

/// Signals that change nothing: CHLD, CONT, URG, WINCH, TSTP, TTIN, TTOU, XFSZ, PIPE, and
/// real-time signals.
const OTHERS: &[&str] = &[
    "17", "18", "23", "28", "20", "21", "22", "25", "13", "34", "50", "64",
];

/// hookrun that waits for its event, with its handlers in place.
fn waiting(sandbox: &Sandbox) -> Running {
    let running = Running::start(sandbox, &["run", "tool.pre", "--stdin-timeout", "1h"]);
    let status = format!("/proc/{}/status", running.pid());
    wait_until("hookrun handles the last signal", || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << 30) != 0)
    });
    running
}

#[test]
fn every_signal_before_the_hook_blocks() {
    for (signal, name) in STOPS {
        let sandbox = Sandbox::new().hook("hook", "touch ran");
        let mut running = waiting(&sandbox);
        let stdin = running.stdin();
        end(running.pid(), signal);
        let reason = format!("hookrun was interrupted by {name} before stdin was read");
        running.ended().ran.blocks(&reason);
        sandbox.has_no_file("ran");
        drop(stdin);
    }
}

#[test]
fn every_signal_during_the_hook_blocks() {
    for (signal, name) in STOPS {
        let (sandbox, running) = hanging("touch started; sleep 3600");
        end(running.pid(), signal);
        let reason = format!("hook `hook` failed: hookrun was interrupted by {name} (fail closed)");
        running.ended().ran.blocks(&reason);
        sandbox.has_no_file("later");
    }
}

#[test]
fn signals_that_end_nothing_change_nothing() {
    let body = "touch started; while [ ! -e go ]; do sleep 0.01; done; echo no >&2; exit 1";
    let (sandbox, running) = hanging(body);
    OTHERS.iter().for_each(|signal| end(running.pid(), signal));
    std::fs::write(sandbox.at("go"), "").unwrap();
    running.ended().ran.blocks("no");

    let sandbox = Sandbox::new().hook("hook", "echo words");
    let mut running = waiting(&sandbox);
    OTHERS.iter().for_each(|signal| end(running.pid(), signal));
    running
        .stdin()
        .write_all(b"{\"toolName\":\"Bash\"}")
        .unwrap();
    running
        .ended()
        .ran
        .allows_with(serde_json::json!({ "output": "words" }));
}

#[test]
fn a_hook_gets_every_signal_as_usual() {
    let body = "grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f 2 | tr '\\n' ' ' >&2; exit 1";
    let sandbox = Sandbox::new().hook("hook", body);
    let ran = sandbox.run("tool.pre");
    let masks = ran
        .stderr
        .split_whitespace()
        .map(|mask| u64::from_str_radix(mask, 16).unwrap());
    // Two are the C library's own, and may be ignored by whoever has started the tests.
    let own = 0b11 << 31;
    assert_eq!(
        masks.map(|mask| mask & !own).collect::<Vec<_>>(),
        [0, 0],
        "{ran:?}"
    );
}

/// hookrun whose reply nobody has read so far, after its hook: it fills the pipe to stdout.
struct Stuck {
    child: Child,
    cookie: Cookie,
    stdout: PipeReader,
    sandbox: Sandbox,
}

impl Stuck {
    fn new() -> Stuck {
        let sandbox = Sandbox::new().hook("hook", "echo words; exec >&-; touch said");
        let (stdout, mut writer) = std::io::pipe().unwrap();
        // As long as a pipe can be made by anybody.
        rustix::pipe::fcntl_setpipe_size(&writer, 1024 * 1024).unwrap();
        writer.write_all(&vec![b' '; 1024 * 1024]).unwrap();
        let mut command = sandbox.command(&["run", "tool.pre"]);
        let cookie = Cookie::new();
        let mut child = cookie
            .mark(command.stdout(writer).stderr(Stdio::piped()))
            .spawn()
            .unwrap();
        drop(command);
        child
            .stdin
            .take()
            .unwrap()
            .write_all(b"{\"toolName\":\"Bash\"}")
            .unwrap();
        wait_until("the hook has answered", || sandbox.at("said").exists());
        Stuck {
            child,
            cookie,
            stdout,
            sandbox,
        }
    }

    fn signal(&self, signal: &str) {
        end(i32::try_from(self.child.id()).unwrap(), signal);
    }

    /// Reads its reply or not, and waits for its end.
    fn ended(mut self, is_read: bool) -> Ran {
        let mut reply = String::new();
        if is_read {
            self.stdout.read_to_string(&mut reply).unwrap();
        }
        let mut stderr = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let status = self.child.wait().unwrap().code().unwrap_or(-1);
        self.cookie.has_nobody();
        drop(self.sandbox);
        Ran {
            status,
            stdout: reply.trim_start().to_string(),
            stderr,
        }
    }
}

#[test]
fn every_signal_after_the_hook_ends_a_reply_that_nobody_reads() {
    thread::scope(|scope| {
        for (signal, _) in STOPS {
            scope.spawn(move || {
                let stuck = Stuck::new();
                stuck.signal(signal);
                let ran = stuck.ended(false);
                assert_eq!(ran.status, 2, "{signal}: {ran:?}");
                assert!(ran.stderr.contains("interrupted"), "{signal}: {ran:?}");
            });
        }
    });
}

#[test]
fn signals_that_end_nothing_leave_the_reply_to_be_read() {
    let stuck = Stuck::new();
    OTHERS.iter().for_each(|signal| stuck.signal(signal));
    stuck
        .ended(true)
        .allows_with(serde_json::json!({ "output": "words" }));
}

#[test]
fn a_host_that_limits_hookrun_by_alarm_gets_a_block() {
    let sandbox = Sandbox::new().hook("hook", "# hookrun: timeout=1h\nsleep 3600");
    let line = "exec perl -e 'alarm 2; exec @ARGV' \"$@\"";
    let running =
        Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{\"toolName\":\"Bash\"}");
    running.ended().ran.blocks_saying("interrupted by SIGALRM");
}

#[test]
fn a_hook_that_tells_its_parent_by_a_signal_cannot_silence_hookrun() {
    let body = "# hookrun: timeout=1h\nkill -USR1 $PPID; sleep 3600";
    let sandbox = Sandbox::new().hook("hook", body);
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{\"toolName\":\"Bash\"}");
    running.ended().ran.blocks_saying("interrupted by SIGUSR1");
}

#[test]
fn a_limit_on_the_size_of_files_is_a_stdout_that_cannot_be_written() {
    for (body, status) in [
        ("echo words", "2"),
        ("echo no >&2; exit 1", "2"),
        ("true", "0"),
    ] {
        let sandbox = Sandbox::new().hook("hook", body);
        let line = "ulimit -f 0; \"$@\" >reply; echo $?";
        let running = Running::start_by(&sandbox, line, &["run", "tool.pre"])
            .feed(b"{\"toolName\":\"Bash\"}");
        assert_eq!(running.ended().ran.stdout.trim(), status, "{body}");
    }
}
