//! The three streams of a hook, used in every way but the usual one. What hooks write without
//! end: `floods`.

use serde_json::json;

use crate::nasty::running::{Running, decide};
use crate::sandbox::{Ran, Sandbox};

/// Does something to its own streams for as long as it is not told to end.
const LONG: &str = "# hookrun: timeout=50s";

/// An event of so many bytes, and a few more.
fn event_of(bytes: usize) -> Vec<u8> {
    let mut event =
        br#"{"event":"tool.pre","toolName":"note","action":{"kind":"other"},"text":""#.to_vec();
    event.resize(event.len() + bytes, b'x');
    event.extend_from_slice(b"\"}");
    event
}

/// Decides an event of so many bytes.
#[track_caller]
fn decide_on(bytes: usize, body: &str) -> Ran {
    let sandbox = Sandbox::new().hook("hook", &format!("{LONG}\n{body}"));
    let arguments = ["run", "tool.pre", "--stdin-timeout", "50s"];
    Running::start(&sandbox, &arguments)
        .feed(&event_of(bytes))
        .ended()
        .ran
}

/// What a hook counts that reads all of such an event: the final newline is part of it.
fn count(bytes: usize) -> serde_json::Value {
    json!({ "output": (event_of(bytes).len() + 1).to_string() })
}

#[test]
fn a_hook_that_closes_its_streams_and_stays_is_killed() {
    let body = "# hookrun: timeout=300ms\nexec <&- >&- 2>&-; sleep 600";
    decide(&Sandbox::new().hook("hook", body))
        .blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

#[test]
fn a_hook_that_closes_its_streams_and_works_on_is_waited_for() {
    let sandbox = Sandbox::new().hook("hook", "exec <&- >&- 2>&-; sleep 0.3; touch done; exit 3");
    decide(&sandbox).blocks("hook `hook` exited with status 3 and gave no reason");
    sandbox.has_file("done");
}

#[test]
fn a_hook_that_closes_only_its_stderr_may_answer() {
    let body = "exec 2>&-; echo '{\"continue\":false,\"reason\":\"no\"}'";
    decide(&Sandbox::new().hook("hook", body)).blocks("no");
}

#[test]
fn a_hook_that_closes_only_its_stdout_may_block() {
    let body = "exec >&-; sleep 0.1; echo no >&2; exit 1";
    decide(&Sandbox::new().hook("hook", body)).blocks("no");
}

/// A question stays one beside a hook that closes its stdout, and where the hook itself does.
#[test]
fn a_stdout_that_is_closed_takes_no_question_back() {
    let asks = r#"echo '{"ask":"really?"}'"#;
    let own = format!("{asks}; exec >&-; sleep 0.1");
    let other = "exec >&-; sleep 0.1";
    let payload = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    for (first, second) in [(asks, other), (other, asks), (&own, "true"), (&own, other)] {
        for settings in ["", "# hookrun: parallel\n"] {
            let sandbox = Sandbox::new()
                .hook("10", &format!("{settings}{first}"))
                .hook("20", &format!("{settings}{second}"));
            decide(&sandbox).blocks_saying("really?");
            let ran = sandbox.hookrun(&["run", "--host", "claude"], payload);
            let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            let said = &said["hookSpecificOutput"];
            assert_eq!(
                said["permissionDecision"], "ask",
                "{first} {second}: {ran:?}"
            );
            assert_eq!(
                said["permissionDecisionReason"], "really?",
                "{first} {second}: {ran:?}"
            );
        }
    }
    // What cannot be written is no consent.
    let late = Sandbox::new().hook("hook", &format!("exec >&-; {asks}"));
    decide(&late).exits(2);
    let hidden = Sandbox::new().hook("hook", &format!("exec >&-; {asks} 2>/dev/null || exit 3"));
    decide(&hidden).blocks("hook `hook` exited with status 3 and gave no reason");
}

#[test]
fn a_hook_that_never_reads_answers_all_the_same() {
    for bytes in [10, 70_000, 10_000_000] {
        decide_on(bytes, "echo hi").allows_with(json!({ "output": "hi" }));
        decide_on(bytes, "echo no >&2; exit 1").blocks("no");
    }
}

#[test]
fn a_hook_that_closes_its_stdin_at_once_answers_all_the_same() {
    decide_on(10_000_000, "exec <&-; sleep 0.1; echo hi").allows_with(json!({ "output": "hi" }));
}

#[test]
fn a_hook_that_reads_only_the_beginning_answers_all_the_same() {
    let ran = decide_on(10_000_000, "head -c 19 >/dev/null; sleep 0.1; echo hi");
    ran.allows_with(json!({ "output": "hi" }));
}

#[test]
fn a_hook_that_reads_byte_by_byte_gets_everything() {
    let ran = decide_on(100_000, "dd bs=1 2>/dev/null | wc -c");
    ran.allows_with(count(100_000));
}

#[test]
fn a_hook_that_reads_slowly_gets_everything() {
    let body = "perl -e 'while (sysread(STDIN, $b, 65536)) { $n += length $b; \
                select(undef, undef, undef, 0.005); } print $n'";
    decide_on(5_000_000, body).allows_with(count(5_000_000));
}

#[test]
fn a_hook_whose_stdin_does_not_block_gets_everything() {
    let body = "perl -e 'use Fcntl; fcntl(STDIN, F_SETFL, O_NONBLOCK); for (;;) { \
                $r = sysread(STDIN, $b, 4096); last if defined $r && $r == 0; $n += $r // 0; } \
                print $n'";
    decide_on(1_000_000, body).allows_with(count(1_000_000));
}

#[test]
fn a_hook_that_writes_before_it_reads_gets_everything() {
    let body = "head -c 900000 /dev/zero | tr '\\0' ' '; head -c 900000 /dev/zero >&2; wc -c";
    decide_on(5_000_000, body).allows_with(count(5_000_000));
}

#[test]
fn a_hook_that_reads_after_it_has_closed_its_outputs_gets_everything() {
    let sandbox = Sandbox::new().hook("hook", &format!("{LONG}\nexec >&- 2>&-; wc -c > count"));
    let running = Running::start(&sandbox, &["run", "tool.pre", "--stdin-timeout", "50s"]);
    running.feed(&event_of(5_000_000)).ended().ran.allows();
    assert_eq!(sandbox.read("count").trim(), count(5_000_000)["output"]);
}

/// One test for each stream that a process holds which the hook leaves behind.
macro_rules! held_open {
    ($($name:ident: $daemon:expr;)*) => {$(
        #[test]
        fn $name() {
            let body = format!("# hookrun: timeout=1h\n{}\necho hi", $daemon);
            let sandbox = Sandbox::new().hook("hook", &body);
            let running = Running::start(&sandbox, &["run", "tool.pre"]);
            let ran = running.feed(&event_of(1_000_000)).ended().ran;
            ran.allows_with(json!({ "output": "hi" }));
        }
    )*};
}

held_open! {
    nobody_waits_for_a_daemon_that_holds_stdin: "setsid sleep 600 <&0 >/dev/null 2>&1 &";
    nobody_waits_for_a_daemon_that_holds_stderr: "setsid sleep 600 </dev/null >/dev/null &";
    nobody_waits_for_a_daemon_that_holds_a_copy_of_stderr:
        "setsid sleep 600 5>&2 </dev/null >/dev/null 2>&1 &";
}
