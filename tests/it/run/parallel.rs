//! Hooks that run at once, and hooks that nobody waits for. Order is observed by files.

use serde_json::json;

use crate::nasty::running::{Running, wait_until};
use crate::sandbox::Sandbox;

/// Waits in a hook for a file.
fn waits_for(file: &str) -> String {
    format!("while [ ! -e {file} ]; do sleep 0.02; done")
}

fn beside(body: &str) -> String {
    format!("# hookrun: timeout=50s parallel\n{body}")
}

#[test]
fn parallel_neighbours_of_a_gate_run_at_once() {
    let sandbox = Sandbox::new()
        .hook(
            "10-a",
            &beside(&format!("touch a; {}; echo a", waits_for("b"))),
        )
        .hook(
            "20-b",
            &beside(&format!("touch b; {}; echo b", waits_for("a"))),
        );
    sandbox
        .run("tool.pre")
        .allows_with(json!({ "output": "a\nb" }));
}

#[test]
fn observers_run_at_once_without_being_told_to() {
    let slow = |body: &str| format!("# hookrun: timeout=50s\n{body}");
    let sandbox = Sandbox::new()
        .hook_for(
            "session.start",
            "a",
            &slow(&format!("touch a; {}; echo a", waits_for("b"))),
        )
        .hook_for(
            "session.start",
            "b",
            &slow(&format!("touch b; {}; echo b", waits_for("a"))),
        );
    sandbox
        .run("session.start")
        .allows_with(json!({ "additionalContext": "a\n\nb" }));
}

#[test]
fn hooks_of_a_gate_run_one_after_another_unless_told_otherwise() {
    let alone = "mkdir alone || touch overlapped; sleep 0.05; rmdir alone";
    let sandbox = Sandbox::new()
        .hook("10", alone)
        .hook("20", &format!("# hookrun: parallel\n{alone}"))
        .hook("30", alone);
    sandbox.run("tool.pre").allows();
    sandbox.has_no_file("overlapped");
}

#[test]
fn with_one_job_parallel_hooks_run_one_after_another() {
    let alone = "mkdir alone || touch overlapped; sleep 0.05; rmdir alone; echo $HOOKRUN_HOOK";
    let mut sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d"] {
        sandbox = sandbox.hook(name, &beside(alone));
    }
    let ran = sandbox.hookrun(&["run", "tool.pre", "--jobs", "1"], b"{}");
    ran.allows_with(json!({ "output": "a\nb\nc\nd" }));
    sandbox.has_no_file("overlapped");
}

#[test]
fn the_time_of_a_hook_that_waits_for_a_free_job_does_not_run() {
    let slow = "# hookrun: timeout=3s parallel\nsleep 1";
    let mut sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d", "e"] {
        sandbox = sandbox.hook(name, slow);
    }
    sandbox
        .hookrun(&["run", "tool.pre", "--jobs", "1"], b"{}")
        .allows();
}

#[test]
fn the_outcome_is_as_in_plan_order_whoever_ends_first() {
    let sandbox = Sandbox::new()
        .hook(
            "10-slow",
            &beside(&format!(
                "{}; sleep 0.1; echo slow >&2; exit 1",
                waits_for("b")
            )),
        )
        .hook("20-fast", &beside("touch b; echo fast >&2; exit 1"));
    sandbox.run("tool.pre").blocks("slow");
}

#[test]
fn a_later_block_does_not_end_an_earlier_neighbour() {
    let sandbox = Sandbox::new()
        .hook(
            "10-slow",
            &beside(&format!("{}; sleep 0.2; touch finished", waits_for("b"))),
        )
        .hook("20-fast", &beside("touch b; echo fast >&2; exit 1"));
    sandbox.run("tool.pre").blocks("fast");
    sandbox.has_file("finished");
}

#[test]
fn an_earlier_block_ends_the_neighbours_after_it() {
    let sandbox = Sandbox::new()
        .hook(
            "10-deny",
            &beside(&format!("{}; echo no >&2; exit 1", waits_for("b"))),
        )
        .hook(
            "20-hangs",
            "# hookrun: timeout=1h parallel\ntouch b; sleep 3600",
        )
        .hook("30-later", "touch later");
    let ran = Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    ran.blocks("no");
    sandbox.has_no_file("later");
}

#[test]
fn an_earlier_failure_that_opens_lets_a_later_neighbour_block() {
    let sandbox = Sandbox::new()
        .hook(
            "10-dies",
            "# hookrun: parallel on_failure=allow\nkill -9 $$",
        )
        .hook("20-deny", &beside("sleep 0.2; echo no >&2; exit 1"));
    sandbox.run("tool.pre").blocks("no");
}

#[test]
fn more_hooks_than_jobs_all_run() {
    let mut sandbox = Sandbox::new();
    let names: Vec<String> = (10..40).map(|number| format!("{number}-hook")).collect();
    for name in &names {
        sandbox = sandbox.hook(name, &beside("echo $HOOKRUN_HOOK"));
    }
    sandbox
        .run("tool.pre")
        .allows_with(json!({ "output": names.join("\n") }));
}

#[test]
fn a_detached_event_returns_while_its_hook_still_works() {
    let body = format!(
        "# hookrun: timeout=50s\ncat > context; {}; touch done",
        waits_for("go")
    );
    let sandbox = Sandbox::new().hook_for("message.sent", "hook", &body);
    let running = Running::start(&sandbox, &["run", "message.sent"]).feed(br#"{"text":"hi"}"#);
    let cookie = running.cookie.clone();
    running.ended_alone().ran.allows();
    sandbox.has_no_file("done");
    std::fs::write(sandbox.at("go"), "").unwrap();
    wait_until("the hook ends", || sandbox.at("done").exists());
    assert!(sandbox.read("context").contains(r#""text":"hi""#));
    cookie.has_nobody_within(crate::nasty::running::NOT_HUNG);
}

#[test]
fn a_detached_hook_is_ended_at_its_timeout() {
    let body = "# hookrun: timeout=300ms\ntouch started; trap '' TERM; sleep 600 & wait; sleep 600";
    let sandbox = Sandbox::new().hook_for("message.sent", "hook", body);
    let running = Running::start(&sandbox, &["run", "message.sent"]).feed(b"{}");
    let cookie = running.cookie.clone();
    running.ended_alone().ran.allows();
    cookie.has_nobody_within(crate::nasty::running::NOT_HUNG);
    sandbox.has_file("started");
}

#[test]
fn the_job_limit_holds_for_hooks_that_nobody_waits_for() {
    let sandbox = Sandbox::new()
        .hook_for(
            "message.sent",
            "1",
            "while [ ! -e go ]; do sleep 0.01; done; touch first",
        )
        .hook_for(
            "message.sent",
            "2",
            "if [ -e first ]; then echo after; fi > second.tmp; mv second.tmp second",
        );
    sandbox
        .hookrun(&["run", "message.sent", "--jobs", "1"], b"{}")
        .allows();
    std::fs::write(sandbox.at("go"), "").unwrap();
    wait_until("the second hook has ended", || {
        sandbox.at("second").exists()
    });
    assert_eq!(sandbox.read("second"), "after\n");
}
