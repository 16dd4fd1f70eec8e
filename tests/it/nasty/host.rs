//! A host that interrupts: a signal to hookrun ends the hooks, refuses, and leaves nothing.

use std::os::unix::process::CommandExt;

use crate::nasty::running::{Running, end, hanging, wait_until};
use crate::sandbox::{Sandbox, TOOL};

/// A hook that has started and hangs.
const HANGS: &str = "touch started; sleep 3600";

/// The reason after a signal.
pub(super) fn interruption(signal: &str) -> String {
    format!("hook `hook` failed: hookrun was interrupted by SIG{signal} (fail closed)")
}

#[test]
fn a_signal_blocks_although_the_hook_fails_open() {
    let (_sandbox, running) = hanging("# hookrun: on_failure=allow\ntouch started; sleep 3600");
    end(running.pid(), "TERM");
    running.ended().ran.blocks(&interruption("TERM"));
}

#[test]
fn a_hook_has_a_moment_to_clean_up_when_hookrun_is_told_to_stop() {
    // No process is started for it: on a busy machine that can take longer than the moment.
    let body = "trap ': >cleaned; exit 0' TERM; touch started; sleep 3600 & wait";
    let (sandbox, running) = hanging(body);
    end(running.pid(), "TERM");
    running.ended().ran.blocks(&interruption("TERM"));
    sandbox.has_file("cleaned");
}

#[test]
fn a_stubborn_hook_is_ended_when_hookrun_is_told_to_stop() {
    let body = "trap '' TERM INT; touch started; while :; do sleep 3600; done";
    let (_sandbox, running) = hanging(body);
    end(running.pid(), "TERM");
    running.ended().ran.blocks(&interruption("TERM"));
}

#[test]
fn signals_of_faults_block_if_another_process_sends_them() {
    for signal in ["ILL", "FPE"] {
        let (_sandbox, running) = hanging(HANGS);
        end(running.pid(), signal);
        running.ended().ran.blocks(&interruption(signal));
    }
}

#[test]
fn a_second_signal_ends_a_stubborn_hook_at_once() {
    let body = "trap '' TERM INT; touch started; while :; do sleep 3600; done";
    let (_sandbox, running) = hanging(body);
    end(running.pid(), "INT");
    end(running.pid(), "INT");
    running.ended().ran.blocks(&interruption("INT"));
}

#[test]
fn signals_without_end_block_like_one() {
    let body = "trap '' TERM INT; touch started; while :; do sleep 3600; done";
    let (_sandbox, running) = hanging(body);
    for signal in ["INT", "TERM", "HUP", "QUIT"].repeat(5) {
        end(running.pid(), signal);
    }
    running
        .ended()
        .ran
        .blocks_saying("hook `hook` failed: hookrun was interrupted by SIG");
}

#[test]
fn a_signal_to_the_whole_group_of_hookrun_blocks() {
    let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: timeout=1h\n{HANGS}"));
    let mut command = sandbox.command(&["run", "tool.pre"]);
    command.process_group(0);
    let running = Running::start_as(command).feed(b"{}");
    wait_until("the hook has started", || sandbox.at("started").exists());
    end(-running.pid(), "TERM");
    running.ended().ran.blocks(&interruption("TERM"));
}

#[test]
fn a_hook_that_tells_hookrun_to_stop_is_ended_with_a_block() {
    let body = "trap '' TERM; kill -TERM $PPID; while :; do sleep 600; done";
    let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: timeout=1h\n{body}"));
    Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran
        .blocks(&interruption("TERM"));
}

#[test]
fn parallel_hooks_are_all_ended_by_a_signal() {
    let body = "# hookrun: timeout=1h parallel\ntouch started-$HOOKRUN_HOOK; sleep 3600";
    let sandbox = Sandbox::new()
        .hook("a", body)
        .hook("b", body)
        .hook("c", body);
    let arguments = ["run", "tool.pre", "--jobs", "3"];
    let running = Running::start(&sandbox, &arguments).feed(b"{}");
    wait_until("all have started", || {
        ["a", "b", "c"]
            .iter()
            .all(|name| sandbox.at(&format!("started-{name}")).exists())
    });
    end(running.pid(), "TERM");
    running.ended().ran.blocks_saying("interrupted");
}

#[test]
fn a_signal_is_obeyed_although_the_host_ignored_it() {
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: timeout=1h\n{HANGS}"));
        let line = "trap '' TERM INT HUP QUIT; exec \"$@\"";
        let running = Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{}");
        wait_until("the hook has started", || sandbox.at("started").exists());
        end(running.pid(), signal);
        running.ended().ran.blocks(&interruption(signal));
    }
}

#[test]
fn a_host_that_never_closes_stdin_gets_its_decision() {
    use std::io::Write;
    let sandbox = Sandbox::new().hook("hook", "cat > context; echo no >&2; exit 1");
    let mut running = Running::start(&sandbox, &["run", "tool.pre"]);
    let mut stdin = running.stdin();
    stdin.write_all(TOOL.as_bytes()).unwrap();
    running.ended().ran.blocks("no");
    // The hook's own stdin has ended all the same.
    assert_eq!(
        sandbox.read("context"),
        "{\"event\":\"tool.pre\",\"toolName\":\"note\",\"action\":{\"kind\":\"other\"}}\n"
    );
    drop(stdin);
}
