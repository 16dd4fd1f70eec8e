//! hookrun on a real terminal: keys that interrupt it, hang-ups, and hooks that reach for the
//! terminal themselves.

use std::process::Command;

use crate::nasty::host::interruption;
use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox, TOOL};

/// Runs the words after the first two arguments on a terminal of their own, with stdin from the
/// file `event` and stdout into the file `stdout`. Types the second argument, or hangs up, as soon
/// as the file in the first one is there. Prints what stood on the terminal.
const ON_TERMINAL: &str = r#"
import os, pty, select, sys
trigger, keys = sys.argv[1], sys.argv[2]
child, terminal = pty.fork()
if child == 0:
    os.dup2(os.open("event", os.O_RDONLY), 0)
    os.dup2(os.open("stdout", os.O_WRONLY | os.O_CREAT), 1)
    os.execv(sys.argv[3], sys.argv[3:])
screen, is_open, ended = b"", True, None
while ended is None or is_open:
    if ended is None:
        pid, status = os.waitpid(child, os.WNOHANG)
        ended = os.waitstatus_to_exitcode(status) if pid else None
    if keys and os.path.exists(trigger):
        if keys == "hang up":
            os.close(terminal)
            is_open = False
        else:
            os.write(terminal, keys.encode())
        keys = ""
    if not is_open:
        select.select([], [], [], 0.01)
    elif select.select([terminal], [], [], 0.01)[0]:
        try:
            screen += os.read(terminal, 4096)
        except OSError:
            is_open = False
sys.stdout.buffer.write(screen)
sys.exit(ended)
"#;

/// `hookrun run tool.pre` on a terminal at which `keys` are pressed once the hook has started.
#[track_caller]
fn typed(body: &str, keys: &str) -> (Sandbox, Ran) {
    let sandbox = Sandbox::new().hook("hook", body).file("event", TOOL);
    let hookrun = sandbox.command(&["run", "tool.pre"]);
    let mut python = Command::new("python3");
    python.args(["-c", ON_TERMINAL, "started", keys]);
    python.arg(hookrun.get_program()).args(hookrun.get_args());
    let ran = Running::start_instead(&sandbox, python)
        .feed(b"")
        .ended()
        .ran;
    assert_eq!(ran.stderr, "");
    let reply = sandbox.read("stdout");
    (
        sandbox,
        Ran {
            status: ran.status,
            stdout: reply,
            stderr: ran.stdout,
        },
    )
}

/// Keys end hookrun, with a refusal that names itself.
#[track_caller]
fn is_told_to_stop(body: &str, keys: &str, signal: &str) {
    let body = format!("# hookrun: timeout=1h\n{body}");
    let (_sandbox, ran) = typed(&body, keys);
    ran.blocks_saying(&interruption(signal));
}

#[test]
fn control_c_blocks() {
    is_told_to_stop("touch started; sleep 3600", "\u{3}", "INT");
}

#[test]
fn control_c_twice_blocks() {
    is_told_to_stop(
        "trap '' TERM INT\ntouch started; while :; do sleep 3600; done",
        "\u{3}\u{3}",
        "INT",
    );
}

#[test]
fn control_c_ends_what_the_hook_has_started() {
    is_told_to_stop(
        "setsid sleep 3600 & sleep 3600 & touch started; wait",
        "\u{3}",
        "INT",
    );
}

#[test]
fn control_backslash_blocks() {
    is_told_to_stop("touch started; sleep 3600", "\u{1c}", "QUIT");
}

#[test]
fn a_terminal_that_hangs_up_blocks() {
    let body = "# hookrun: timeout=1h\nsetsid sleep 3600 & touch started; sleep 3600";
    let (_sandbox, ran) = typed(body, "hang up");
    // Its reason has nowhere to go.
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stdout.contains("hookrun was interrupted"), "{ran:?}");
}

#[test]
fn a_hook_has_no_terminal() {
    let tries = [
        "read answer </dev/tty",
        "trap '' TTIN TTOU; read answer </dev/tty",
        "echo hello >/dev/tty",
        "stty -echo </dev/tty",
        "exec perl -e 'use POSIX; open(T, \"+</dev/tty\") or exit 7; \
         POSIX::tcsetpgrp(fileno(T), getpgrp()) or exit 7; exit 0'",
        // What `dev.tty.legacy_tiocsti` lets a process do that shares our session: type.
        "exec perl -e 'open(T, \"+</dev/tty\") or exit 7; ioctl(T, 0x5412, \"y\"); exit 0'",
    ];
    for settings in ["", "# hookrun: limits.files=64\n", "# hookrun: sandbox\n"] {
        for a_try in tries {
            let body = format!("{settings}({a_try}) 2>/dev/null && exit 3\nexit 0");
            let (_sandbox, ran) = typed(&body, "");
            ran.allows();
            // Nothing but the line that says that it ran.
            assert!(
                ran.stderr.starts_with("ok hook "),
                "{a_try}: {}",
                ran.stderr
            );
            assert_eq!(ran.stderr.lines().count(), 1, "{a_try}: {}", ran.stderr);
        }
    }
}
