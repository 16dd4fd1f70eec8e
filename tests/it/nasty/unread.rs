//! Whatever stdout and stderr are, and whether anybody reads them: the exit status comes, and it
//! is a block where the decision has not arrived.

use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::running::{Cookie, wait_until};
use crate::sandbox::{Ran, Sandbox};

/// A stream that a host has left hookrun, and its other end.
struct Stream {
    ours: Option<OwnedFd>,
    theirs: OwnedFd,
}

fn pipe() -> Stream {
    let (reader, writer) = std::io::pipe().unwrap();
    Stream {
        ours: Some(reader.into()),
        theirs: writer.into(),
    }
}

/// What a pipe can be made to hold by anybody.
const WIDEST: usize = 1024 * 1024;

/// A pipe that holds so much, and takes nothing more as it is.
fn full_of(bytes: usize) -> Stream {
    let stream = pipe();
    rustix::pipe::fcntl_setpipe_size(&stream.theirs, bytes).unwrap();
    File::from(stream.theirs.try_clone().unwrap())
        .write_all(&vec![b' '; bytes])
        .unwrap();
    stream
}

/// A pipe that takes nothing more, whatever is done to it.
fn full() -> Stream {
    full_of(WIDEST)
}

fn not_blocking(stream: Stream) -> Stream {
    rustix::io::ioctl_fionbio(&stream.theirs, true).unwrap();
    stream
}

fn file(path: &str, writes: bool) -> Stream {
    let file = File::options()
        .read(!writes)
        .write(writes)
        .open(path)
        .unwrap();
    Stream {
        ours: None,
        theirs: file.into(),
    }
}

/// What becomes of a reply.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// It arrives, or waits to be read.
    Arrives,
    /// Nobody gets it, and hookrun learns that.
    Fails,
    /// It is thrown away.
    Vanishes,
}

/// A state of a stream: what a host may leave, and what becomes of a reply there.
type State = (&'static str, fn() -> Stream, Fate);

const STATES: &[State] = &[
    ("a pipe that is read at the end", pipe, Fate::Arrives),
    (
        "one that does not block",
        || not_blocking(pipe()),
        Fate::Arrives,
    ),
    (
        "a socket that is read at the end",
        || {
            let (ours, theirs) = UnixStream::pair().unwrap();
            Stream {
                ours: Some(ours.into()),
                theirs: theirs.into(),
            }
        },
        Fate::Arrives,
    ),
    (
        "a full pipe that can be widened",
        || full_of(WIDEST / 16),
        Fate::Arrives,
    ),
    ("a full pipe", full, Fate::Fails),
    (
        "a full pipe that does not block",
        || not_blocking(full()),
        Fate::Fails,
    ),
    (
        "a pipe without a reader",
        || Stream {
            ours: None,
            ..pipe()
        },
        Fate::Fails,
    ),
    (
        "the wrong end of a pipe",
        || {
            let (reader, _) = std::io::pipe().unwrap();
            Stream {
                ours: None,
                theirs: reader.into(),
            }
        },
        Fate::Fails,
    ),
    ("a full disk", || file("/dev/full", true), Fate::Fails),
    (
        "a file that is not open for writing",
        || file("/dev/null", false),
        Fate::Fails,
    ),
    ("nothing at all", || file("/dev/null", true), Fate::Vanishes),
];

/// A decision: the hook, the host, and the exit status for every fate of stdout.
struct Decision {
    hook: &'static str,
    host: &'static str,
    arrives: i32,
    fails: i32,
    vanishes: i32,
}

const CLAUDE: &str = "--host=claude";
const NATIVE: &str = "--host=native";

const DECISIONS: &[Decision] = &[
    Decision {
        hook: "echo no >&2; exit 1",
        host: NATIVE,
        arrives: 2,
        fails: 2,
        vanishes: 2,
    },
    Decision {
        hook: "true",
        host: NATIVE,
        arrives: 0,
        fails: 0,
        vanishes: 0,
    },
    Decision {
        hook: "echo words",
        host: NATIVE,
        arrives: 0,
        fails: 2,
        vanishes: 0,
    },
    Decision {
        hook: "head -c 150000 /dev/zero | tr '\\0' x",
        host: NATIVE,
        arrives: 0,
        fails: 2,
        vanishes: 0,
    },
    Decision {
        hook: "echo '{\"update\":{\"toolInput\":{\"command\":\"ls\"}}}'",
        host: NATIVE,
        arrives: 0,
        fails: 2,
        vanishes: 2,
    },
    Decision {
        hook: "echo '{\"ask\":\"really?\"}'",
        host: CLAUDE,
        arrives: 0,
        fails: 2,
        vanishes: 2,
    },
];

impl Decision {
    fn sandbox(&self) -> Sandbox {
        Sandbox::new().hook(
            "hook",
            &format!("# hookrun: rewrite timeout=50s\n{}", self.hook),
        )
    }
}

const EVENT: &[u8] = b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\
    \"tool_input\":{\"command\":\"ls\"}}";
const OURS: &[u8] = b"{\"toolName\":\"Bash\",\"toolInput\":{\"command\":\"ls\"}}";

/// What came of it, when nothing was read before the end.
fn decide(sandbox: &Sandbox, host: &str, stdout: Stream, stderr: Stream) -> Ran {
    let mut command = sandbox.command(&["run", "tool.pre", host, "--budget=50s"]);
    let cookie = Cookie::new();
    command
        .stdout(Stdio::from(stdout.theirs))
        .stderr(Stdio::from(stderr.theirs));
    let mut child = cookie.mark(&mut command).spawn().unwrap();
    // Our own copies of the streams go with it.
    drop(command);
    let event = if host == CLAUDE { EVENT } else { OURS };
    child.stdin.take().unwrap().write_all(event).unwrap();
    let mut status = None;
    wait_until("hookrun ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    cookie.has_nobody();
    let text = |ours: Option<OwnedFd>| {
        let mut text = String::new();
        ours.map(|ours| File::from(ours).read_to_string(&mut text));
        text.trim_start().to_string()
    };
    let status = status.and_then(|status| status.code()).unwrap_or(-1);
    Ran {
        status,
        stdout: text(stdout.ours),
        stderr: text(stderr.ours),
    }
}

/// Every decision in every state of one stream, at once: some wait for a reader for a while.
fn everywhere(check: impl Fn(&Decision, &State) + Sync) {
    thread::scope(|scope| {
        for state in STATES {
            for decision in DECISIONS {
                scope.spawn(|| check(decision, state));
            }
        }
    });
}

#[test]
fn a_decision_that_stdout_does_not_take_is_a_block() {
    everywhere(|decision, (name, open, fate)| {
        let ran = decide(&decision.sandbox(), decision.host, open(), pipe());
        let status = match fate {
            Fate::Arrives => decision.arrives,
            Fate::Fails => decision.fails,
            Fate::Vanishes => decision.vanishes,
        };
        assert_eq!(
            ran.status, status,
            "{} into {name}: {:.300}",
            decision.hook, ran.stderr
        );
        if *fate == Fate::Arrives && decision.hook != "true" {
            let whole: Result<serde_json::Value, _> = serde_json::from_str(&ran.stdout);
            assert!(
                whole.is_ok(),
                "{} into {name}: {:.300}",
                decision.hook,
                ran.stdout
            );
        }
    });
}

#[test]
fn a_stderr_that_takes_nothing_changes_nothing() {
    everywhere(|decision, (name, open, _)| {
        for level in ["error", "debug"] {
            let sandbox = decision.sandbox().variable("HOOKRUN_LOG", level);
            let ran = decide(&sandbox, decision.host, pipe(), open());
            assert_eq!(
                ran.status, decision.arrives,
                "{} with {name}: {ran:.300?}",
                decision.hook
            );
            let is_said = ran.stdout.is_empty() == (decision.hook == "true");
            assert!(is_said, "{} with {name}: {ran:.300?}", decision.hook);
        }
    });
}

#[test]
fn both_streams_may_take_nothing() {
    for decision in DECISIONS {
        let ran = decide(
            &decision.sandbox(),
            decision.host,
            file("/dev/full", true),
            full(),
        );
        assert_eq!(ran.status, decision.fails, "{}", decision.hook);
    }
}

#[test]
fn a_reply_that_nobody_reads_ends_with_the_budget() {
    // Otherwise it would be waited for longer.
    let sandbox = Sandbox::new().hook("hook", "echo words");
    let started = Instant::now();
    let stdout = full();
    let mut command = sandbox.command(&["run", "tool.pre", "--budget=2s"]);
    command
        .stdout(Stdio::from(stdout.theirs))
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(OURS).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(
        started.elapsed() < Duration::from_secs(9),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_reader_that_comes_late_gets_all_of_a_long_reply() {
    for is_blocking in [true, false] {
        let body = "head -c 900000 /dev/zero | tr '\\0' x; exec >&-; touch said";
        let sandbox = Sandbox::new().hook("hook", body);
        let stdout = if is_blocking {
            full()
        } else {
            not_blocking(full())
        };
        let mut command = sandbox.command(&["run", "tool.pre"]);
        command
            .stdout(Stdio::from(stdout.theirs))
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        drop(command);
        child.stdin.take().unwrap().write_all(OURS).unwrap();
        wait_until("the hook has answered", || sandbox.at("said").exists());
        let mut reader = PipeReader::from(stdout.ours.unwrap());
        let mut reply = String::new();
        reader.read_to_string(&mut reply).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(reply["output"].as_str().map(str::len), Some(900_000));
    }
}
