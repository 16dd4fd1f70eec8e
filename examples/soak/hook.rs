//! What the hooks of the soak do: this program, started again as `soak --hook NAME`.
//!
//! A native program starts in a fraction of the time of a shell, and so 100,000 events take
//! minutes instead of hours.

use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::SigSet;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use serde_json::{Value, json};

/// How long what hangs or stays behind lives, if nobody ends it: longer than it takes to find
/// it, and not for ever.
const LIFE: Duration = Duration::from_secs(60);

/// A flood: more than hookrun keeps of either stream.
pub(crate) const FLOOD_BYTES: usize = 2 * 1024 * 1024;

/// How many processes the burst leaves behind.
const BURST: usize = 50;

/// The timeout of the hook that ends at the same moment.
pub(crate) const PHOTO_FINISH: Duration = Duration::from_millis(20);

/// What a hook does, and the status that it exits with.
type Act = fn(&[String]) -> io::Result<u8>;

/// Every hook by its name.
const ACTS: &[(&str, Act)] = &[
    ("silent", |_| Ok(0)),
    ("text", |_| say("12 files checked", 0)),
    ("context", |_| {
        say(r#"{"additionalContext":"3 commits behind"}"#, 0)
    }),
    ("refuse", |_| {
        whole_input().and_then(|_| say(r#"{"continue":false,"reason":"no"}"#, 0))
    }),
    ("fail", |words| {
        complain(words.first().map_or("not like this", String::as_str), 1)
    }),
    ("exit-2", |_| Ok(2)),
    ("signal", |_| signal_myself(Signal::USR1)),
    ("malformed", |_| say(r#"{"continue":tru"#, 0)),
    ("noise", |_| {
        say(
            "checking\n{\"continue\":false,\"reason\":\"found\"}\ndone",
            0,
        )
    }),
    ("flood-stdout", |_| flood(&mut io::stdout(), 0)),
    ("flood-stderr", |_| flood(&mut io::stderr(), 1)),
    ("babble", |_| flood(&mut io::stderr(), 0)),
    ("count", |_| {
        whole_input().and_then(|input| say(&input.len().to_string(), 0))
    }),
    ("hang", |_| hang()),
    ("photo-finish", photo_finish),
    ("close-and-stay", close_and_stay),
    ("ignore-sigterm", ignore_sigterm),
    ("stop", |_| signal_myself(Signal::STOP).and_then(|_| hang())),
    ("daemon", daemon),
    ("double-fork", double_fork),
    ("middle", middle),
    ("burst", burst),
    ("leave", leave),
    ("rewrite", rewrite),
    ("guard", guard),
    ("mark", mark),
];

/// Acts as the hook that `words` name.
pub(crate) fn act(words: &[String]) -> ExitCode {
    // Limits that were lowered to starve hookrun are not meant for the hook.
    for resource in [Resource::Nofile, Resource::Nproc] {
        let most = rustix::process::getrlimit(resource).maximum;
        let _ = rustix::process::setrlimit(
            resource,
            Rlimit {
                current: most,
                maximum: most,
            },
        );
    }
    let known = words.split_first().and_then(|(name, more)| {
        ACTS.iter()
            .find(|(known, _)| known == name)
            .map(|(_, act)| (act, more))
    });
    let Some((act, more)) = known else {
        return complain("no such hook", 99).map_or(ExitCode::FAILURE, ExitCode::from);
    };
    match act(more) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let words = format!("the hook itself failed: {error}");
            complain(&words, 98).map_or(ExitCode::FAILURE, ExitCode::from)
        }
    }
}

fn say(text: &str, status: u8) -> io::Result<u8> {
    writeln!(io::stdout(), "{text}").map(|()| status)
}

fn complain(text: &str, status: u8) -> io::Result<u8> {
    writeln!(io::stderr(), "{text}").map(|()| status)
}

fn whole_input() -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input).map(|_| input)
}

fn hang() -> io::Result<u8> {
    std::thread::sleep(LIFE);
    Ok(0)
}

fn signal_myself(signal: Signal) -> io::Result<u8> {
    rustix::process::kill_process(rustix::process::getpid(), signal)?;
    Ok(0)
}

fn flood(stream: &mut dyn Write, status: u8) -> io::Result<u8> {
    let line = [b"a line of a flood that nobody wants to read in full, ever".as_slice(); 1024];
    let block = line.join(&b'\n');
    for _ in 0..FLOOD_BYTES.div_ceil(block.len()) {
        // Whoever reads it may have had enough.
        if stream.write_all(&block).is_err() {
            break;
        }
    }
    Ok(status)
}

/// Ends at the very moment at which its time is up, or a little before or after it.
fn photo_finish(_: &[String]) -> io::Result<u8> {
    let blink = Duration::from_micros(u64::from(std::process::id() % 8) * 250);
    std::thread::sleep(PHOTO_FINISH - Duration::from_millis(1) - blink);
    Ok(0)
}

/// The end of output is not the end of a hook.
fn close_and_stay(_: &[String]) -> io::Result<u8> {
    let nothing = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    hang()
}

/// Gets SIGTERM and stays.
fn ignore_sigterm(_: &[String]) -> io::Result<u8> {
    SigSet::from(nix::sys::signal::SIGTERM).thread_block()?;
    let started = Instant::now();
    while started.elapsed() < LIFE {
        std::thread::sleep(LIFE);
    }
    Ok(0)
}

/// This program once more, as another hook, with nothing to read.
fn another(name: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--hook", name]).stdin(Stdio::null());
    Ok(command)
}

/// Leaves a process in a session of its own, which holds stdout and stderr open.
fn daemon(_: &[String]) -> io::Result<u8> {
    let left = another("leave")?.spawn()?;
    wait_for_session(Pid::from_child(&left))
}

/// Leaves a process that keeps nothing of the hook: no group, no streams, no environment, and
/// no parent.
fn double_fork(_: &[String]) -> io::Result<u8> {
    let mut middle = another("middle")?;
    middle.stdout(Stdio::null()).stderr(Stdio::null());
    let status = middle.status()?;
    Ok(if status.success() { 0 } else { 97 })
}

fn middle(_: &[String]) -> io::Result<u8> {
    let left = another("leave")?.env_clear().spawn()?;
    wait_for_session(Pid::from_child(&left))
}

/// Leaves many processes; half of them are just leaving the group when the hook ends.
fn burst(_: &[String]) -> io::Result<u8> {
    for number in 0..BURST {
        let mut command = another(if number % 2 == 0 { "leave" } else { "hang" })?;
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
    }
    Ok(0)
}

fn leave(_: &[String]) -> io::Result<u8> {
    rustix::process::setsid()?;
    hang()
}

fn wait_for_session(pid: Pid) -> io::Result<u8> {
    // Until then it is in our session, which has no number in a container that it began outside.
    let pid = nix::unistd::Pid::from_raw(pid.as_raw_nonzero().get());
    while nix::unistd::getsid(Some(pid))? != pid {
        std::thread::sleep(Duration::from_micros(50));
    }
    Ok(0)
}

/// Has another command run than the one that was asked for.
fn rewrite(_: &[String]) -> io::Result<u8> {
    let mut event: Value = serde_json::from_slice(&whole_input()?)?;
    event["toolInput"]["command"] = Value::from("make safe");
    say(
        &json!({ "update": { "toolInput": event["toolInput"] } }).to_string(),
        0,
    )
}

/// BlockStatus, and says which command it saw.
fn guard(_: &[String]) -> io::Result<u8> {
    let event: Value = serde_json::from_slice(&whole_input()?)?;
    let command = event["toolInput"]["command"].as_str().unwrap_or_default();
    complain(&format!("saw `{command}`"), 1)
}

/// Makes a file: nobody hears what a hook of a detached event says.
fn mark(words: &[String]) -> io::Result<u8> {
    let file = words
        .first()
        .ok_or_else(|| io::Error::other("no file to make"))?;
    std::fs::write(file, b"ran").map(|()| 0)
}
