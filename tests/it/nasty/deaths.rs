//! How hooks end when it is not by themselves and in time: signals, timeouts, and the moment
//! between the two.

use serde_json::json;

use crate::nasty::running::{decide, decide_with_report};
use crate::sandbox::Sandbox;

/// The signals whose default is to end a process, by the names that shells know.
const TERMINATING: &[&str] = &[
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "SYS",
];

#[test]
fn a_hook_that_a_signal_kills_blocks_and_names_the_signal() {
    for signal in TERMINATING {
        let body = format!("ulimit -c 0; echo '{{}}'; kill -s {signal} $$; sleep 600");
        let ran = decide(&Sandbox::new().hook("hook", &body));
        ran.blocks(&format!(
            "hook `hook` failed: killed by SIG{signal} (fail closed)"
        ));
    }
}

#[test]
fn a_hook_that_a_rare_signal_kills_blocks() {
    // Of a coprocessor, of a failing power supply, and of no fixed meaning.
    for signal in [16, 30, 34, 50, 64] {
        let ran = decide(&Sandbox::new().hook("hook", &format!("kill -{signal} $$; sleep 600")));
        ran.blocks_saying("hook `hook` failed: killed by ");
    }
}

#[test]
fn an_exit_status_above_128_is_no_signal() {
    decide(&Sandbox::new().hook("hook", "exit 137"))
        .blocks("hook `hook` exited with status 137 and gave no reason");
}

#[test]
fn a_consent_that_was_printed_before_death_is_void() {
    let sandbox = Sandbox::new().hook("hook", r#"echo '{"continue":true}'; kill -KILL $$"#);
    decide(&sandbox).blocks("hook `hook` failed: killed by SIGKILL (fail closed)");
}

#[test]
fn a_consent_without_an_exit_is_void() {
    let sandbox = Sandbox::new().hook(
        "hook",
        "# hookrun: timeout=300ms\necho '{\"continue\":true}'; exec >&-; sleep 600",
    );
    decide(&sandbox).blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

#[test]
fn what_a_hook_says_when_it_is_told_to_end_comes_too_late() {
    let body = "# hookrun: timeout=300ms\n\
                trap 'echo \"{\\\"continue\\\":true}\"; exit 0' TERM\nsleep 600 & wait";
    let ran = decide(&Sandbox::new().hook("hook", body));
    ran.blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

#[test]
fn what_a_hook_says_between_the_timeout_and_its_death_comes_too_late() {
    let body = "# hookrun: timeout=300ms\n\
                trap 'echo late; echo late >&2' TERM\nwhile :; do sleep 600 & wait; done";
    let ran = decide(&Sandbox::new().hook("hook", body));
    ran.blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

#[test]
fn a_hook_that_ends_at_the_very_moment_of_its_timeout_is_told_consistently() {
    for pause in ["0.19", "0.195", "0.198", "0.2", "0.202", "0.21"] {
        let body = format!("# hookrun: timeout=200ms\nsleep {pause}; echo done");
        let report = decide_with_report(&Sandbox::new().hook("hook", &body));
        let hook = &report["hooks"][0];
        let told = (
            report["decision"].as_str().unwrap(),
            hook["ending"].as_str().unwrap(),
        );
        match told {
            ("allow", "answered") => {
                assert_eq!(
                    (&report["output"], &hook["status"]),
                    (&json!("done"), &json!(0))
                );
            }
            ("block", "timed-out") => {
                assert!(
                    report["output"].is_null() && report["cause"] == "failure",
                    "{report}"
                );
            }
            other => panic!("{other:?}: {report}"),
        }
    }
}

#[test]
fn a_block_at_the_very_moment_of_its_timeout_is_one_or_the_other() {
    for pause in ["0.19", "0.198", "0.2", "0.202"] {
        let body = format!("# hookrun: timeout=200ms\nsleep {pause}; echo no >&2; exit 1");
        let ran = decide(&Sandbox::new().hook("hook", &body));
        let reason = ran.stderr.trim_end();
        let expected = [
            "no",
            "hook `hook` failed: timed out after 200ms (fail closed)",
        ];
        assert!(ran.status == 2 && expected.contains(&reason), "{ran:?}");
    }
}

#[test]
fn a_hook_that_rewrites_or_removes_itself_is_judged_as_it_ran() {
    let body = "rm -- \"$0\"; echo '#!/bin/sh' > \"$0\"; echo no >&2; exit 1";
    decide(&Sandbox::new().hook("hook", body)).blocks("no");
}

#[test]
fn a_hook_that_kills_its_whole_group_is_killed_and_hookrun_is_not() {
    decide(&Sandbox::new().hook("hook", "kill -9 0; sleep 600")).blocks_saying("by SIGKILL");
}
