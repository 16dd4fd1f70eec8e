//! What a host leaves hookrun in: blocked signals, open files. Hooks start clean.

use super::running::{Running, end};
use crate::sandbox::Sandbox;

/// Starts what follows with these signals blocked.
const BLOCKING: &str = "exec perl -MPOSIX -e '\
    sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD)) or die; \
    exec @ARGV or die' \"$@\"";

#[test]
fn a_hookrun_whose_host_blocks_signals_still_obeys_them() {
    let sandbox = Sandbox::new().hook("hook", "touch started; sleep 60");
    let running = Running::start_by(&sandbox, BLOCKING, &["run", "tool.pre"]).feed(b"{}");
    super::running::wait_until("the hook runs", || sandbox.at("started").exists());
    end(running.pid(), "TERM");
    running
        .ended()
        .ran
        .blocks("hook `hook` failed: hookrun was interrupted by SIGTERM (fail closed)");
}

#[test]
fn a_hook_has_no_blocked_signals() {
    let sandbox = Sandbox::new().hook("hook", "grep SigBlk /proc/self/status >&2; exit 1");
    let ran = Running::start_by(&sandbox, BLOCKING, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    ran.blocks("SigBlk:\t0000000000000000");
}

#[test]
fn a_hook_has_no_descriptors_but_its_own() {
    let sandbox = Sandbox::new().hook("hook", "ls /proc/self/fd | tr '\\n' ' ' >&2; exit 1");
    let line = "exec 3</dev/null 7>/dev/null 9</etc/passwd; exec \"$@\"";
    let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    // The fourth is the folder that `ls` reads.
    ran.blocks("0 1 2 3");
}

#[test]
fn a_hook_that_crashes_leaves_no_core_file() {
    let sandbox = Sandbox::new().hook("hook", "ulimit -c >&2; exit 1");
    let line = "ulimit -c unlimited; exec \"$@\"";
    let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    ran.blocks("0");
}
