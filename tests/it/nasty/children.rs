//! What hooks start, and how they end: no process is left, and nobody waits for it.

use serde_json::json;

use crate::nasty::running::{Ended, Running, end, wait_until};
use crate::sandbox::Sandbox;

/// Runs the one hook of a gate, and looks for what it left.
#[track_caller]
fn ended(body: &str) -> Ended {
    let sandbox = Sandbox::new().hook("hook", body);
    Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}").ended()
}

#[track_caller]
fn times_out(body: &str) {
    let body = format!("# hookrun: timeout=300ms\n{body}");
    let ran = ended(&body).ran;
    ran.blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

#[test]
fn a_hook_that_ignores_sigterm_is_killed() {
    times_out("trap '' TERM HUP INT; while :; do sleep 600; done");
}

#[test]
fn a_hook_that_stops_itself_is_killed() {
    times_out("kill -STOP $$; sleep 600");
}

#[test]
fn children_of_a_hook_that_hangs_are_killed_with_it() {
    times_out("sleep 600 & sh -c 'trap \"\" TERM; sleep 600; sleep 600' & sleep 600");
}

#[test]
fn a_hook_that_leaves_its_group_is_killed() {
    times_out("exec setsid -w sh -c 'trap \"\" TERM; sleep 600; sleep 600'");
    times_out("setsid sh -c 'trap \"\" TERM; sleep 600; sleep 600' & wait");
}

#[test]
fn a_hook_that_closes_its_streams_and_stays_is_killed() {
    times_out("exec <&- >&- 2>&-; sleep 600");
}

#[test]
fn a_daemon_that_holds_the_output_open_does_not_delay_the_answer() {
    for daemon in [
        "sleep 600 &",
        "setsid sleep 600 &",
        "(setsid sleep 600 &) &",
        "nohup sleep 600 &",
        "setsid sh -c 'trap \"\" TERM HUP; setsid sleep 600; sleep 600' &",
        "sh -c 'kill -STOP $$' &",
    ] {
        // The timeout is far beyond what the test waits for.
        let ran = ended(&format!("# hookrun: timeout=1h\n{daemon}\necho hi")).ran;
        ran.allows_with(json!({ "output": "hi" }));
    }
}

#[test]
fn a_daemon_that_keeps_nothing_of_the_hook_is_found_all_the_same() {
    let sandbox = Sandbox::new().hook(
        "hook",
        "env -i PATH=\"$PATH\" setsid sh -c 'while :; do sleep 1; done' $HOOKRUN_IT_COOKIE \
         </dev/null >/dev/null 2>&1 &\nexit 0",
    );
    Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}").ended().ran.allows();
}

#[test]
fn what_has_left_the_group_and_runs_on_is_named() {
    let daemon = "setsid sh -c 'touch up; exec sleep 600' >/dev/null 2>&1 &";
    let body = format!("{daemon}\nwhile [ ! -e up ]; do sleep 0.01; done");
    let report = Sandbox::new().hook("hook", &body).report("tool.pre", "{}");
    let notes = report["hooks"][0]["notes"].to_string();
    // It may be found before it has become `sleep`.
    assert!(notes.contains("it left s") && notes.contains(" running; killed"), "{notes}");
}

#[test]
fn a_chain_of_forks_is_ended() {
    // Every link leaves its group, starts the next one and dies.
    let body = "n=${1:-0}; [ $n -lt 60 ] || exec sleep 600\nsetsid \"$0\" $((n + 1)) &";
    ended(body).ran.allows();
    times_out("n=${1:-0}; [ $n -lt 60 ] || exec sleep 600\nsetsid \"$0\" $((n + 1)) &\nsleep 600");
}

#[test]
fn many_children_are_ended() {
    ended("for n in 1 2 3 4 5 6 7 8 9 10; do setsid sleep 600 & sleep 600 & done").ran.allows();
}

#[test]
fn an_answer_of_a_child_that_outlives_the_hook_by_a_moment_still_counts() {
    ended("(sleep 0.02; echo late) &").ran.allows_with(json!({ "output": "late" }));
}

#[test]
fn what_a_daemon_says_long_after_the_hook_is_not_waited_for() {
    ended("# hookrun: timeout=1h\n(sleep 600; echo '{\"continue\":false}') &").ran.allows();
}

#[test]
fn a_hook_may_leave_a_process_behind_on_purpose() {
    for start in ["sleep 600 &", "setsid sleep 600 &"] {
        let body = format!("# hookrun: background=detach\n{start} echo $! > pid; echo hi");
        let sandbox = Sandbox::new().hook("10-detaches", &body).hook("20-later", "sleep 600 &");
        let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
        let cookie = running.cookie.clone();
        running.ended_alone().ran.allows_with(json!({ "output": "hi" }));
        let mut left = Vec::new();
        wait_until("only the process of the first hook is left", || {
            left = cookie.holders();
            left.len() <= 1
        });
        left.iter().for_each(|pid| end(*pid, "KILL"));
        let named: i32 = sandbox.read("pid").trim().parse().unwrap();
        // `setsid` may have to fork, and then leaves the number that the shell knew.
        assert!(left.len() == 1 && (start.starts_with("setsid") || left == [named]), "{left:?}");
        cookie.has_nobody();
    }
}

#[test]
fn a_hook_that_hangs_is_ended_even_if_it_may_leave_processes_behind() {
    let sandbox = Sandbox::new()
        .hook("hook", "# hookrun: background=detach timeout=300ms\nsleep 600 & sleep 600");
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    running.ended().ran.blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

#[test]
fn the_names_of_hooks_may_be_anything_that_a_file_may_be_called() {
    for name in [
        "a b",
        "-rf",
        "--help",
        "it's",
        "say \"hi\"",
        "two\nlines",
        "$(touch x)",
        "*",
        "é",
        "a;b",
        "back\\slash",
        "tab\there",
    ] {
        let sandbox = Sandbox::new().hook(name, "printf %s \"$HOOKRUN_HOOK\" > name; kill -9 $$");
        let reason = format!("hook `{name}` failed: killed by SIGKILL (fail closed)");
        sandbox.run("tool.pre").blocks(&reason);
        assert_eq!(sandbox.read("name"), name);
        sandbox.has_no_file("x");
    }
}

#[test]
fn a_name_that_is_no_text_runs_too() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    let strange = sandbox.at("hooks.d/tool.pre").join(std::ffi::OsStr::from_bytes(b"a\xff"));
    std::fs::rename(sandbox.at("hooks.d/tool.pre/hook"), strange).unwrap();
    sandbox.run("tool.pre").blocks("no");
}
