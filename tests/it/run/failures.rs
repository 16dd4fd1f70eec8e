//! What a failure means for the event. The many ways to fail: `nasty`.

use serde_json::json;

use crate::nasty::running::{NOT_HUNG, Running};
use crate::sandbox::Sandbox;

const TIMES_OUT: &str = "# hookrun: timeout=200ms\nsleep 600";

#[test]
fn a_hook_that_is_still_running_at_its_timeout_blocks() {
    let sandbox = Sandbox::new().hook("hook", TIMES_OUT);
    let ran = Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    ran.blocks("hook `hook` failed: timed out after 200ms (fail closed)");
}

#[test]
fn the_timeout_is_five_seconds_unless_the_hook_says_otherwise() {
    let sandbox = Sandbox::new().hook("hook", "sleep 600");
    let started = std::time::Instant::now();
    sandbox.run("tool.pre").blocks("hook `hook` failed: timed out after 5s; to allow more, set its `timeout`, for example to `60s` (fail closed)");
    assert!(started.elapsed().as_secs() >= 5 && started.elapsed() < NOT_HUNG);
}

#[test]
fn a_failure_lets_the_event_go_on_where_the_hook_says_so() {
    for (body, problem) in [
        (
            "# hookrun: timeout=200ms on_failure=allow\nsleep 600",
            "timed out after 200ms",
        ),
        (
            "# hookrun: on_failure=allow\nkill -KILL $$",
            "killed by SIGKILL",
        ),
        (
            "# hookrun: on_failure=allow\necho '{\"continue\":'",
            "malformed answer: ",
        ),
    ] {
        let sandbox = Sandbox::new()
            .hook("10-fails", body)
            .hook("20-later", "echo later");
        let ran = sandbox.run("tool.pre");
        ran.allows_with(json!({ "output": "later" }));
        ran.says(&format!("hook `10-fails` failed: {problem}"))
            .says("(fail open)");
    }
}

#[test]
fn a_hook_that_fails_open_can_still_block() {
    let sandbox = Sandbox::new().hook("hook", "# hookrun: on_failure=allow\necho no >&2; exit 1");
    sandbox.run("tool.pre").blocks("no");
}

#[test]
fn on_failure_block_closes_a_gate_that_is_open_by_itself() {
    let open = Sandbox::new().hook_for("compact.pre", "hook", TIMES_OUT);
    open.run("compact.pre").allows();
    let body = TIMES_OUT.replace("timeout", "on_failure=block timeout");
    let closed = Sandbox::new().hook_for("compact.pre", "hook", &body);
    closed
        .run("compact.pre")
        .blocks("hook `hook` failed: timed out after 200ms (fail closed)");
}

#[test]
fn what_cannot_be_blocked_goes_on_and_the_objection_is_reported() {
    for body in [
        "echo no >&2; exit 1",
        r#"echo '{"continue":false,"reason":"no"}'"#,
        "echo no; exit 255",
    ] {
        let sandbox = Sandbox::new()
            .hook_for("session.start", "10-objects", body)
            .hook_for("session.start", "20-speaks", "echo hello");
        let ran = sandbox.run("session.start");
        ran.allows_with(json!({ "additionalContext": "hello" }));
        assert_eq!(
            ran.stderr, "hook `10-objects` objects (this event cannot be blocked): no\n",
            "{ran:?}"
        );
    }
}

#[test]
fn a_failure_at_an_event_that_cannot_be_blocked_is_reported() {
    let sandbox = Sandbox::new().hook_for("session.start", "hook", TIMES_OUT);
    let ran = sandbox.run("session.start");
    ran.allows();
    assert_eq!(
        ran.stderr, "hook `hook` failed: timed out after 200ms\n",
        "{ran:?}"
    );
}

#[test]
fn the_report_tells_a_failure_from_a_decision() {
    let policy = Sandbox::new()
        .hook("hook", "exit 1")
        .report("tool.pre", "{}");
    assert_eq!(
        (&policy["decision"], &policy["cause"]),
        (&json!("block"), &json!("policy"))
    );
    let failure = Sandbox::new()
        .hook("hook", "kill -9 $$")
        .report("tool.pre", "{}");
    assert_eq!(
        (&failure["decision"], &failure["cause"]),
        (&json!("block"), &json!("failure"))
    );
    assert_eq!(failure["hooks"][0]["signal"], 9);
}
