//! hookrun on a real terminal: keys that interrupt it, hang-ups, and hooks that reach for the
//! terminal themselves.

use std::process::Command;

use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox};

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
    let sandbox = Sandbox::new().hook("hook", body).file("event", "{}");
    let hookrun = sandbox.command(&["run", "tool.pre"]);
    let mut python = Command::new("python3");
    python.args(["-c", ON_TERMINAL, "started", keys]);
    python.arg(hookrun.get_program()).args(hookrun.get_args());
    let ran = Running::start_instead(&sandbox, python).feed(b"").ended().ran;
    assert_eq!(ran.stderr, "");
    let reply = sandbox.read("stdout");
    (sandbox, Ran { status: ran.status, stdout: reply, stderr: ran.stdout })
}

/// Keys end hookrun, with a refusal that names itself.
#[track_caller]
fn is_told_to_stop(body: &str, keys: &str) {
    let body = format!("# hookrun: timeout=1h\n{body}");
    let (_sandbox, ran) = typed(&body, keys);
    ran.blocks_saying("hook `hook` failed: hookrun was told to stop (fail closed)");
}

/// A hook that times out whatever it does at the terminal.
#[track_caller]
fn times_out(body: &str) -> Sandbox {
    let (sandbox, ran) = typed(&format!("# hookrun: timeout=500ms\n{body}"), "");
    ran.blocks_saying("hook `hook` failed: timed out after 500ms (fail closed)");
    sandbox
}

#[test]
fn control_c_refuses() {
    is_told_to_stop("touch started; sleep 3600", "\u{3}");
}

#[test]
fn control_c_twice_refuses() {
    is_told_to_stop("trap '' TERM INT\ntouch started; while :; do sleep 3600; done", "\u{3}\u{3}");
}

#[test]
fn control_c_ends_what_the_hook_has_started() {
    is_told_to_stop("setsid sleep 3600 & sleep 3600 & touch started; wait", "\u{3}");
}

#[test]
fn control_backslash_refuses() {
    is_told_to_stop("touch started; sleep 3600", "\u{1c}");
}

#[test]
fn a_terminal_that_hangs_up_refuses() {
    let body = "# hookrun: timeout=1h\nsetsid sleep 3600 & touch started; sleep 3600";
    let (_sandbox, ran) = typed(body, "hang up");
    // Its reason has nowhere to go.
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stdout.contains("hookrun was told to stop"), "{ran:?}");
}

#[test]
fn a_hook_that_reads_from_the_terminal_is_refused_at_its_deadline_at_the_latest() {
    let sandbox = times_out("touch started; read answer </dev/tty; touch read; exit 0");
    sandbox.has_file("started");
    sandbox.has_no_file("read");
}

#[test]
fn a_hook_that_reads_from_the_terminal_and_ignores_signals_is_refused() {
    // The read then fails; a hook that takes that for a no is a hook like any other.
    let body = "trap '' TTIN\nread answer </dev/tty && touch read\nsleep 3600";
    times_out(body).has_no_file("read");
}

#[test]
fn a_hook_that_changes_the_terminal_is_refused_at_its_deadline_at_the_latest() {
    let sandbox = times_out("stty -echo </dev/tty; touch changed");
    sandbox.has_no_file("changed");
}

#[test]
fn a_hook_that_takes_the_terminal_for_itself_is_refused() {
    let body = "exec perl -e 'use POSIX; open(T, \"+</dev/tty\") or die; \
                POSIX::tcsetpgrp(fileno(T), getpgrp()); open(F, \">taken\"); sleep 600'";
    times_out(body).has_no_file("taken");
}

#[test]
fn a_hook_may_write_to_the_terminal() {
    let (_sandbox, ran) = typed("echo hello > /dev/tty", "");
    ran.allows();
    assert_eq!(ran.stderr, "hello\r\n");
}
