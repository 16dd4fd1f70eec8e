//! What hooks start, and how it ends: no process is left, and nobody waits for it.

use serde_json::json;

use crate::nasty::running::{Running, decide, decide_with_report, end, wait_until};
use crate::sandbox::Sandbox;

/// Starts two more of itself, each of which does the same, so many times; in sessions of their
/// own if the second word is `setsid`. 127 processes at the most.
const BOMB: &str = "#!/bin/sh\n\
    [ $1 -gt 0 ] || exec sleep 600\n\
    $2 \"$0\" $(($1 - 1)) $2 & $2 \"$0\" $(($1 - 1)) $2 & wait\n";

/// Every link of this chain leaves its session, starts the next one and dies.
const CHAIN: &str = "#!/bin/sh\n\
    [ $1 -lt 60 ] || exec sleep 600\n\
    setsid \"$0\" $(($1 + 1)) &\n";

/// Watches the process in its second word. When that has died, starts another one, which watches
/// it in turn; fifty times at the most.
const GUARDIAN: &str = "#!/bin/sh\n\
    trap '' TERM HUP INT\n\
    peer=$2\n\
    while [ $1 -lt 50 ]; do\n\
      while kill -0 $peer 2>/dev/null; do sleep 0.01; done\n\
      set -- $(($1 + 1))\n\
      setsid \"$0\" $1 $$ & peer=$!\n\
    done\n";

/// Tries to join the process group of hookrun, in which a signal to its own would reach us, notes
/// what came of it, and stays.
const JOIN_OURS: &str = "exec perl -e '\
    my $joined = setpgrp(0, getpgrp($ENV{HOOKRUN_PID})); $SIG{TERM} = \"IGNORE\"; \
    open(F, \">\", $joined ? \"joined\" : \"tried\"); close(F); sleep 600 while 1'";

fn with(body: &str) -> Sandbox {
    let scripts = [("bomb", BOMB), ("chain", CHAIN), ("guardian", GUARDIAN)];
    let hook = Sandbox::new().hook("hook", body);
    scripts
        .iter()
        .fold(hook, |sandbox, (name, text)| sandbox.script(name, text))
}

/// A hook that would go on for an hour is ended at its timeout, with all that it has started.
#[track_caller]
fn times_out(body: &str) -> Sandbox {
    let sandbox = with(&format!("# hookrun: timeout=300ms\n{body}"));
    decide(&sandbox).blocks("hook `hook` failed: timed out after 300ms (fail closed)");
    sandbox
}

/// A hook answers and leaves something behind, which holds its stderr but not its stdout. The
/// timeout is far beyond what the test waits for.
#[track_caller]
fn answers(body: &str) {
    let sandbox = with(&format!(
        "# hookrun: timeout=1h\n{{\n{body}\n}} >/dev/null\necho hi"
    ));
    decide(&sandbox.variable("JOIN", JOIN_OURS)).allows_with(json!({ "output": "hi" }));
}

/// The same, and it holds stdout: what it may still say could refuse.
#[track_caller]
fn holds(body: &str) {
    let sandbox = with(&format!("# hookrun: timeout=1h\n{body}\necho hi"));
    decide(&sandbox.variable("JOIN", JOIN_OURS))
        .blocks_saying("failed: malformed answer: it may be incomplete: `")
        .blocks_saying(" still holds stdout open");
}

/// One test for each hook: what it does, and that it `times_out`, `answers` or `holds`.
macro_rules! hooks {
    ($($name:ident: $body:expr => $becomes:ident;)*) => {$(
        #[test]
        fn $name() {
            $becomes($body);
        }
    )*};
}

hooks! {
    // Hooks that do not want to end.
    a_hook_that_ignores_sigterm_is_killed:
        "trap '' TERM HUP INT; while :; do sleep 600; done" => times_out;
    a_hook_that_ignores_every_signal_it_can_is_killed:
        "trap '' 1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 17 18 20 21 22 23 24 25 26 27 28 29 30 31\n\
         while :; do sleep 600; done" => times_out;
    a_hook_that_stops_itself_is_killed: "kill -STOP $$; sleep 600" => times_out;
    a_hook_that_stops_its_whole_group_is_killed: "sleep 600 & kill -STOP 0; wait" => times_out;
    children_of_a_hook_that_hangs_are_killed_with_it:
        "sleep 600 & sh -c 'trap \"\" TERM; sleep 600; sleep 600' & sleep 600" => times_out;
    a_hook_that_leaves_its_session_is_killed:
        "exec setsid -w sh -c 'trap \"\" TERM; sleep 600; sleep 600'" => times_out;
    a_hook_whose_child_leaves_its_session_is_killed_with_it:
        "setsid sh -c 'trap \"\" TERM; sleep 600; sleep 600' & wait" => times_out;
    a_bomb_is_ended_at_the_timeout: "./bomb 6 & wait" => times_out;
    a_bomb_of_sessions_is_ended_at_the_timeout: "./bomb 5 setsid & wait" => times_out;
    fifty_sessions_are_ended_at_the_timeout:
        "n=0; while [ $n -lt 50 ]; do setsid sleep 600 & n=$((n + 1)); done; wait" => times_out;
    guardians_that_restart_each_other_are_ended_at_the_timeout:
        "setsid ./guardian 0 $$ & ./guardian 0 $! & wait" => times_out;
    a_chain_of_forks_is_ended_at_the_timeout: "setsid ./chain 0 & sleep 600" => times_out;

    // Processes that are left behind and hold stderr open.
    a_child_does_not_delay_the_answer: "sleep 600 &" => answers;
    many_children_do_not_delay_the_answer:
        "for n in 1 2 3 4 5 6 7 8; do sleep 600 & done" => answers;
    a_session_does_not_delay_the_answer: "setsid sleep 600 &" => answers;
    a_double_fork_does_not_delay_the_answer: "(setsid sleep 600 &) &" => answers;
    nohup_does_not_delay_the_answer: "nohup sleep 600 &" => answers;
    a_child_that_ignores_signals_does_not_delay_the_answer:
        "setsid sh -c 'trap \"\" TERM HUP; setsid sleep 600; sleep 600' &" => answers;
    a_stopped_child_does_not_delay_the_answer: "sh -c 'kill -STOP $$' &" => answers;
    a_child_in_hookruns_own_group_does_not_delay_the_answer:
        "(HOOKRUN_PID=$PPID; export HOOKRUN_PID\n sh -c \"$JOIN\") &\n\
         while [ ! -e tried ]; do sleep 0.01; done" => answers;
    fifty_sessions_do_not_delay_the_answer:
        "n=0; while [ $n -lt 50 ]; do setsid sleep 600 & n=$((n + 1)); done" => answers;
    a_bomb_does_not_delay_the_answer: "./bomb 6 &" => answers;
    a_bomb_of_sessions_does_not_delay_the_answer: "./bomb 5 setsid &" => answers;
    guardians_that_restart_each_other_do_not_delay_the_answer:
        "setsid ./guardian 0 $$ & setsid ./guardian 0 $! &" => answers;
    a_chain_of_forks_does_not_delay_the_answer: "setsid ./chain 0 &" => answers;

    // Processes that are left behind and hold stdout open: the answer may go on.
    a_child_may_go_on_with_the_answer: "sleep 600 &" => holds;
    many_children_may_go_on_with_the_answer:
        "for n in 1 2 3 4 5 6 7 8; do sleep 600 & done" => holds;
    a_session_may_go_on_with_the_answer: "setsid sleep 600 &" => holds;
    a_copy_of_stdout_may_go_on_with_the_answer:
        "setsid sleep 600 5>&1 </dev/null >/dev/null 2>&1 &" => holds;
    a_double_fork_may_go_on_with_the_answer: "(setsid sleep 600 &) &" => holds;
    nohup_may_go_on_with_the_answer: "nohup sleep 600 &" => holds;
    a_child_that_ignores_signals_may_go_on_with_the_answer:
        "setsid sh -c 'trap \"\" TERM HUP; setsid sleep 600; sleep 600' &" => holds;
    a_stopped_child_may_go_on_with_the_answer: "sh -c 'kill -STOP $$' &" => holds;
    a_child_in_hookruns_own_group_may_go_on_with_the_answer:
        "(HOOKRUN_PID=$PPID; export HOOKRUN_PID\n sh -c \"$JOIN\") &\n\
         while [ ! -e tried ]; do sleep 0.01; done" => holds;
    fifty_sessions_may_go_on_with_the_answer:
        "n=0; while [ $n -lt 50 ]; do setsid sleep 600 & n=$((n + 1)); done" => holds;
    a_bomb_may_go_on_with_the_answer: "./bomb 6 &" => holds;
    a_bomb_of_sessions_may_go_on_with_the_answer: "./bomb 5 setsid &" => holds;
    guardians_that_restart_each_other_may_go_on_with_the_answer:
        "setsid ./guardian 0 $$ & setsid ./guardian 0 $! &" => holds;
    a_chain_of_forks_may_go_on_with_the_answer: "setsid ./chain 0 &" => holds;
}

#[test]
fn a_hook_cannot_join_hookruns_own_group() {
    let sandbox = times_out(&format!(
        "HOOKRUN_PID=$PPID; export HOOKRUN_PID\n{JOIN_OURS}"
    ));
    sandbox.has_file("tried");
}

/// What holds the stdout of a hook that has exited with 0.
const HOLDER: &str = "sh -c 'exec sleep 600' &";

#[test]
fn an_answer_that_may_be_incomplete_is_none() {
    // The settings, what the hook does, and what comes of it: a part of the reason, or that it
    // allows.
    let cases = [
        ("", "exit 0", Err("it may be incomplete: `")),
        (
            "",
            "echo '{\"ask\":\"may it?\"}'",
            Err("start that process with `>/dev/null 2>&1 &`"),
        ),
        (
            "",
            "echo '{\"continue\":false,\"reason\":\"no\"}'",
            Err("no"),
        ),
        ("", "echo no >&2; exit 1", Err("no")),
        ("on_failure=allow", "exit 0", Ok(())),
        ("dialect=claude", "exit 0", Err("it may be incomplete: `")),
    ];
    for (settings, body, becomes) in cases {
        let body = format!("# hookrun: timeout=1h {settings}\n{HOLDER}\n{body}");
        let ran = decide(&Sandbox::new().hook("hook", &body));
        match becomes {
            Ok(()) => ran.says("it may be incomplete").exits(0),
            Err(reason) => ran.blocks_saying(reason),
        };
    }
}

#[test]
fn what_comes_after_the_exit_is_part_of_the_answer() {
    // Each says its last word when the hook has exited. On a busy machine that may take longer than
    // hookrun waits; then there is no answer, and the gate is closed as well.
    let has_exited = "while ! grep -q '^State:.Z' /proc/$$/status; do sleep 0.005; done";
    let refusal = "echo '{\"continue\":false,\"reason\":\"late\"}'";
    let bodies = [
        format!("({has_exited}; {refusal}) 2>/dev/null &"),
        format!("mkfifo log; (sleep 0.2; cat) <log & exec >log; {refusal}"),
        format!("({has_exited}; echo late) 2>/dev/null &"),
    ];
    for body in bodies {
        let sandbox = Sandbox::new().hook("hook", &body);
        let counted = (0..30).any(|_| {
            let ran = decide(&sandbox);
            std::fs::remove_file(sandbox.at("log")).ok();
            let is_allowed = ran.stdout == "{\"output\":\"late\"}\n";
            assert!(is_allowed || ran.status == 2, "{ran:?}");
            ran.stdout.contains("late")
        });
        assert!(counted, "it never counted: {body}");
    }
}

#[test]
fn what_cannot_be_blocked_waits_for_nobody() {
    let sandbox = Sandbox::new().hook_for("tool.post", "hook", &format!("{HOLDER}\necho hi"));
    let ran = Running::start(&sandbox, &["run", "tool.post"])
        .feed(b"{}")
        .ended()
        .ran;
    ran.allows_with(json!({ "output": "hi" }));
}

#[test]
fn a_daemon_that_keeps_nothing_of_the_hook_is_found_all_the_same() {
    decide(&with(
        "env -i PATH=\"$PATH\" setsid sh -c 'while :; do sleep 1; done' $IT_COOKIE \
         </dev/null >/dev/null 2>&1 &\nexit 0",
    ))
    .allows();
}

#[test]
fn what_has_left_the_group_and_runs_on_is_named() {
    let daemon = "setsid sh -c 'touch up; exec sleep 600' >/dev/null 2>&1 &";
    let body = format!("{daemon}\nwhile [ ! -e up ]; do sleep 0.01; done");
    let report = decide_with_report(&with(&body));
    let notes = report["hooks"][0]["notes"].to_string();
    // It may be found before it has become `sleep`.
    assert!(
        notes.contains("the hook left `s") && notes.contains(" running; hookrun killed"),
        "{notes}"
    );
}

#[test]
fn a_hook_may_leave_a_process_behind_on_purpose() {
    for start in ["sleep 600 &", "setsid sleep 600 &"] {
        let body = format!("# hookrun: background=detach\n{start} echo $! > pid; echo hi");
        let later = "sleep 600 >/dev/null &";
        let sandbox = Sandbox::new()
            .hook("10-detaches", &body)
            .hook("20-later", later);
        let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
        let cookie = running.cookie.clone();
        running
            .ended_alone()
            .ran
            .allows_with(json!({ "output": "hi" }));
        let mut left = Vec::new();
        wait_until("only the process of the first hook is left", || {
            left = cookie.holders();
            left.len() <= 1
        });
        left.iter().for_each(|pid| end(*pid, "KILL"));
        let named: i32 = sandbox.read("pid").trim().parse().unwrap();
        // `setsid` may have to fork, and then leaves the number that the shell knew.
        assert!(
            left.len() == 1 && (start.starts_with("setsid") || left == [named]),
            "{left:?}"
        );
        cookie.has_nobody();
    }
}

#[test]
fn a_hook_that_hangs_is_ended_even_if_it_may_leave_processes_behind() {
    let sandbox = Sandbox::new().hook(
        "hook",
        "# hookrun: background=detach timeout=300ms\nsleep 600 & sleep 600",
    );
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    running
        .ended()
        .ran
        .blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}
