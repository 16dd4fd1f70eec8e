//! hookrun as the first process of a container: the system ignores what it has no handler for,
//! and every orphan is its own.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::nasty::host::interruption;
use crate::nasty::running::{Running, end, is_root, skipped, wait_until};
use crate::sandbox::{Ran, Sandbox};

/// The words that make a shell line's `"$@"` process 1 of a new namespace, where permitted.
fn as_first() -> Option<String> {
    let user = if is_root() { "" } else { "-Ur " };
    let words = format!("unshare {user}--pid --fork --kill-child --mount-proc");
    let mut probe = Command::new("/bin/sh");
    probe
        .args(["-c", &format!("exec {words} true")])
        .stderr(Stdio::null());
    if probe.status().is_ok_and(|status| status.success()) {
        return Some(words);
    }
    skipped("no process namespaces here");
    None
}

/// `hookrun run tool.pre` as process 1, started by the words before it.
#[track_caller]
fn start(sandbox: &Sandbox, words: &str) -> Running {
    Running::start_by(
        sandbox,
        &format!("exec {words} \"$@\""),
        &["run", "tool.pre"],
    )
    .feed(b"{}")
}

#[track_caller]
fn decide(sandbox: &Sandbox) -> Option<Ran> {
    Some(start(sandbox, &as_first()?).ended().ran)
}

/// The process that is process 1 inside, by its number outside.
fn first_of(running: &Running) -> i32 {
    let mut first = None;
    wait_until("process 1 is there", || {
        let is_first = |pid: &i32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            let numbers: Vec<&str> = numbers.unwrap_or_default().split_whitespace().collect();
            numbers.len() > 1 && numbers.last() == Some(&"1")
        };
        first = running.cookie.holders().into_iter().find(is_first);
        first.is_some()
    });
    first.unwrap()
}

#[test]
fn the_first_process_is_what_it_seems() {
    let sandbox = Sandbox::new().hook("hook", "echo $PPID");
    let Some(ran) = decide(&sandbox) else { return };
    ran.allows_with(json!({ "output": "1" }));
}

#[test]
fn the_first_process_blocks_with_a_reason() {
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    let Some(ran) = decide(&sandbox) else { return };
    ran.blocks("no");
}

#[test]
fn the_first_process_ends_a_hook_at_its_timeout() {
    let body = "# hookrun: timeout=300ms\ntrap '' TERM; setsid sleep 600 & sleep 600; sleep 600";
    let Some(ran) = decide(&Sandbox::new().hook("hook", body)) else {
        return;
    };
    ran.blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

/// One test for each signal that an init system or a terminal sends.
macro_rules! signals {
    ($($name:ident: $signal:expr;)*) => {$(
        #[test]
        fn $name() {
            let Some(words) = as_first() else { return };
            let body = "# hookrun: timeout=1h\nsetsid sleep 3600 & touch started; sleep 3600";
            let sandbox = Sandbox::new().hook("hook", body);
            let running = start(&sandbox, &words);
            wait_until("the hook has started", || sandbox.at("started").exists());
            end(first_of(&running), $signal);
            running.ended().ran.blocks(&interruption($signal));
        }
    )*};
}

signals! {
    the_first_process_obeys_sigterm: "TERM";
    the_first_process_obeys_sigint: "INT";
    the_first_process_obeys_sighup: "HUP";
}

#[test]
fn the_first_process_buries_orphans() {
    let orphans = "n=0; while [ $n -lt 100 ]; do (setsid true &); n=$((n + 1)); done";
    let count = "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l";
    let sandbox = Sandbox::new()
        .hook("10-orphans", orphans)
        .hook("20-counts", count);
    let Some(ran) = decide(&sandbox) else { return };
    ran.allows_with(json!({ "output": "0" }));
}

#[test]
fn the_first_process_ends_what_a_hook_leaves_before_the_next_one_runs() {
    let leaves = "setsid sleep 600 >/dev/null 2>&1 & (setsid sleep 600 >/dev/null &) &";
    // `ps` would be one more thing to install.
    let count = "grep -lx 'Name:.sleep' /proc/[0-9]*/status 2>/dev/null | wc -l";
    let sandbox = Sandbox::new()
        .hook("10-leaves", leaves)
        .hook("20-counts", count);
    let Some(ran) = decide(&sandbox) else { return };
    ran.allows_with(json!({ "output": "0" }));
}

#[test]
fn strangers_in_the_container_do_not_hold_the_first_process_up() {
    let Some(words) = as_first() else { return };
    // They are its children when it starts, and were not started by a hook.
    let others =
        format!("{words} sh -c 'sleep 600 & (exit 3) & setsid sleep 600 & exec \"$@\"' sh");
    let sandbox = Sandbox::new().hook("hook", "echo hi");
    start(&sandbox, &others)
        .ended()
        .ran
        .allows_with(json!({ "output": "hi" }));
}

/// The group of hookrun is then outside of the container, and has the number 0 in it.
#[test]
fn a_process_of_a_group_outside_the_container_does_not_hold_the_first_process_up() {
    let Some(words) = as_first() else { return };
    let others = format!(
        "{words} sh -c '(until [ -e started ]; do sleep 0.01; done; sleep 600 & touch gone) & \
         exec \"$@\"' sh"
    );
    let waits = "touch started; until [ -e gone ]; do sleep 0.01; done; echo hi";
    let sandbox = Sandbox::new().hook("hook", waits);
    start(&sandbox, &others)
        .ended()
        .ran
        .allows_with(json!({ "output": "hi" }));
}

#[test]
fn a_container_whose_first_process_is_killed_is_empty() {
    let Some(words) = as_first() else { return };
    let body = "# hookrun: timeout=1h\nsetsid sleep 3600 & touch started; sleep 3600";
    let sandbox = Sandbox::new().hook("hook", body);
    let running = start(&sandbox, &words);
    wait_until("the hook has started", || sandbox.at("started").exists());
    end(first_of(&running), "KILL");
    assert_ne!(running.ended().ran.status, 0);
}
