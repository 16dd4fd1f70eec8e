//! A terminal, with somebody who waits for what is shown and presses keys.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::with_hookrun;
use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox, TOOL};

/// Runs the words after the second argument on a terminal of their own, with stdin from the file
/// `event` and stdout into the file `stdout`. For each step of the first argument, waits until its
/// text is on the screen, behind that of the step before, then the pause, then presses the keys;
/// `touch FILE` makes a file instead.
/// Prints what stood on the terminal, and whether at the end its settings were those of the
/// beginning.
const ON_TERMINAL: &str = r#"
import json, os, pty, select, signal, struct, sys, termios, fcntl, time
signal.alarm(60)
steps, size = json.loads(sys.argv[1]), json.loads(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    before = termios.tcgetattr(2)
    tty = os.dup(2)
    inner = os.fork()
    if inner == 0:
        os.dup2(os.open("event", os.O_RDONLY), 0)
        os.dup2(os.open("stdout", os.O_WRONLY | os.O_CREAT), 1)
        os.execv(sys.argv[3], sys.argv[3:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    _, status = os.waitpid(inner, 0)
    same = termios.tcgetattr(tty) == before
    os.write(tty, b"settings kept\n" if same else b"settings CHANGED\n")
    termios.tcdrain(tty)
    os._exit(os.waitstatus_to_exitcode(status) & 0xff)
screen, seen = b"", 0
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        more = b""
    if not more:
        break
    screen += more
    while steps:
        at = screen.find(steps[0][0].encode(), seen)
        if at < 0:
            break
        seen = at + len(steps[0][0].encode())
        time.sleep(steps[0][2])
        if steps[0][1].startswith("touch "):
            open(steps[0][1][6:], "w").close()
        else:
            os.write(terminal, steps[0][1].encode())
        steps = steps[1:]
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(screen)
if steps:
    sys.stdout.write(f"\nnever seen: {steps[0][0]}\n")
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// What is waited for, and the keys that are then pressed, after a pause.
pub(crate) struct Step(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) Duration,
);

/// Keys that are pressed at once.
pub(crate) fn at(text: &'static str, keys: &'static str) -> Step {
    Step(text, keys, Duration::ZERO)
}

/// Makes the file `shown`, for a hook that runs [`UNTIL_SHOWN`].
pub(super) fn told(text: &'static str) -> Step {
    at(text, "touch shown")
}

/// Waits until the person has seen something.
pub(super) const UNTIL_SHOWN: &str = "until [ -e shown ]; do sleep 0.05; done";

/// A sandbox whose only hook has this body, in which `hookrun` is a command.
pub(super) fn asking(settings: &str, body: &str) -> Sandbox {
    let body = format!("# hookrun: {settings}\n{}", with_hookrun(body));
    Sandbox::new().hook("guard", &body).file("event", TOOL)
}

/// `hookrun ARGUMENTS` on a terminal of 24 lines and 80 columns. What stood on it is in `stderr`.
#[track_caller]
pub(crate) fn at_terminal(sandbox: &Sandbox, arguments: &[&str], steps: &[Step]) -> Ran {
    at_terminal_of((24, 80), sandbox, arguments, steps)
}

/// The same on a terminal of another size.
#[track_caller]
pub(super) fn at_terminal_of(
    size: (u16, u16),
    sandbox: &Sandbox,
    arguments: &[&str],
    steps: &[Step],
) -> Ran {
    words_at_terminal(size, sandbox, &sandbox.command(arguments), steps)
}

#[track_caller]
pub(crate) fn words_at_terminal(
    size: (u16, u16),
    sandbox: &Sandbox,
    words: &Command,
    steps: &[Step],
) -> Ran {
    let steps: Vec<_> = steps
        .iter()
        .map(|step| json!([step.0, step.1, step.2.as_secs_f64()]))
        .collect();
    let mut python = Command::new("python3");
    python.args([
        "-c",
        ON_TERMINAL,
        &json!(steps).to_string(),
        &json!(size).to_string(),
    ]);
    python.arg(words.get_program()).args(words.get_args());
    let ran = Running::start_instead(sandbox, python)
        .feed(b"")
        .ended()
        .ran;
    assert!(!ran.stdout.contains("never seen"), "{ran:?}");
    assert!(ran.stdout.contains("settings kept"), "{ran:?}");
    assert_eq!(ran.stderr, "", "{ran:?}");
    Ran {
        status: ran.status,
        stdout: sandbox.read("stdout"),
        stderr: ran.stdout,
    }
}

/// `hookrun run tool.pre` on a terminal.
#[track_caller]
pub(super) fn decided(sandbox: &Sandbox, steps: &[Step]) -> Ran {
    at_terminal(sandbox, &["run", "tool.pre"], steps)
}
