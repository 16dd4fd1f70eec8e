//! Bytes without end, in either direction: memory stays bounded and nothing blocks.

use crate::nasty::running::{Ended, Running, decide, decide_with_report};
use crate::sandbox::Sandbox;

/// What hookrun may use beside the event itself.
const ROOM_KIB: u64 = 64 * 1024;

/// The peak of hookrun's memory as the hook sees it, in the file `peak`.
const LOOK: &str = "grep VmHWM /proc/$PPID/status > peak";

/// A hook that floods without end.
#[track_caller]
fn floods(body: &str) -> (Sandbox, Ended) {
    floods_for("1s", body)
}

/// A hook that floods and ends, which takes as long as it takes.
#[track_caller]
fn floods_and_ends(body: &str) -> (Sandbox, Ended) {
    floods_for("50s", body)
}

#[track_caller]
fn floods_for(timeout: &str, body: &str) -> (Sandbox, Ended) {
    let settings = format!("# hookrun: on_failure=allow timeout={timeout}");
    let sandbox = Sandbox::new()
        .hook("10-floods", &format!("{settings}\n{body}"))
        .hook("20-looks", LOOK);
    let ended = Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended();
    let peak = peak_seen(&sandbox).max(ended.peak_kib);
    assert!(peak > 0 && peak < ROOM_KIB, "{peak} KiB");
    (sandbox, ended)
}

fn peak_seen(sandbox: &Sandbox) -> u64 {
    let text = sandbox.read("peak");
    text.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_flood_on_stdout_is_bounded_and_ended() {
    floods("exec yes").1.ran.allows().says("timed out after 1s");
}

#[test]
fn a_flood_on_stderr_is_bounded_and_ended() {
    floods("exec yes >&2")
        .1
        .ran
        .allows()
        .says("timed out after 1s");
}

#[test]
fn a_flood_on_both_is_bounded_and_ended() {
    floods("yes & exec yes >&2")
        .1
        .ran
        .allows()
        .says("timed out after 1s");
}

#[test]
fn a_flood_that_ends_in_time_is_malformed_on_stdout() {
    let (_, ended) = floods_and_ends("yes | head -c 30000000");
    ended
        .ran
        .says("malformed answer: stdout has 30000000 bytes; print at most 1 MiB");
}

#[test]
fn a_flood_that_ends_in_time_is_fine_on_stderr() {
    let (_, ended) = floods_and_ends("yes | head -c 30000000 >&2");
    assert_eq!(ended.ran.allows().stderr, "");
}

#[test]
fn the_head_and_the_tail_of_a_long_stderr_are_the_reason() {
    let body = "echo first >&2; yes | head -c 3000000 >&2; echo last >&2; exit 1";
    let sandbox = Sandbox::new().hook("hook", body);
    let ran = decide(&sandbox);
    ran.blocks_saying("first\n");
    assert!(ran.stderr.trim_end().ends_with("last") && ran.stderr.len() < 20_000);
    let report = decide_with_report(&sandbox);
    let reason = report["hooks"][0]["verdict"]["reason"].as_str().unwrap();
    let cut = "\n[… 2868939 bytes omitted …]\n";
    assert!(reason.contains(cut) && reason.starts_with("first\n") && reason.ends_with("\nlast"));
    assert_eq!(reason.len(), 128 * 1024 + cut.len() - "\n".len());
}

#[test]
fn a_daemon_that_floods_the_output_of_a_hook_that_has_exited_is_ended() {
    let body = "# hookrun: timeout=1h\nsetsid yes >&2 &\nexit 0";
    let sandbox = Sandbox::new().hook("hook", body);
    let ended = Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended();
    ended.ran.allows();
    assert!(ended.peak_kib < ROOM_KIB, "{} KiB", ended.peak_kib);
}

#[test]
fn a_drip_of_output_does_not_extend_the_timeout() {
    let body = "# hookrun: timeout=500ms\nwhile :; do echo x; sleep 0.05; done";
    let ran = decide(&Sandbox::new().hook("hook", body));
    ran.blocks("hook `hook` failed: timed out after 500ms (fail closed)");
}

#[test]
fn an_answer_that_is_all_brackets_stays_within_bounds() {
    let numbers = "printf '{\"x\":[0'; yes ,0 | head -n 520000 | tr -d '\\n'; printf ']}'";
    floods_and_ends(numbers).1.ran.exits(0);
    let objects = "printf 'text {\"x\":[0'; yes ,{} | head -n 340000 | tr -d '\\n'; echo ']}'";
    floods_and_ends(objects).1.ran.exits(0);
}

/// An event of 50 MB.
fn large() -> Vec<u8> {
    let mut event = br#"{"toolName":"write","toolInput":{"path":"x","content":""#.to_vec();
    event.resize(50_000_000, b'x');
    event.extend_from_slice(b"\"}}");
    event
}

#[test]
fn a_large_event_that_no_hook_reads_is_decided_within_bounds() {
    for (body, reason) in [
        (format!("{LOOK}; echo no >&2; exit 1"), "no"),
        (format!("exec <&-; {LOOK}; echo no >&2; exit 1"), "no"),
        (
            format!("# hookrun: timeout=2s\n{LOOK}; sleep 600"),
            "hook `hook` failed: timed out after 2s (fail closed)",
        ),
    ] {
        let sandbox = Sandbox::new().hook("hook", &body);
        let arguments = ["run", "tool.pre", "--stdin-timeout", "50s"];
        let event = large();
        let ended = Running::start(&sandbox, &arguments).feed(&event).ended();
        ended.ran.blocks(reason);
        let peak = peak_seen(&sandbox).max(ended.peak_kib);
        assert!(peak < event.len() as u64 / 1024 + ROOM_KIB, "{peak} KiB");
    }
}

#[test]
fn a_large_event_reaches_hooks_that_write_while_they_read() {
    let sandbox = Sandbox::new().hook("hook", "# hookrun: timeout=50s\ntee /dev/stderr | wc -c");
    let arguments = ["run", "tool.pre", "--stdin-timeout", "50s"];
    let ran = Running::start(&sandbox, &arguments)
        .feed(&large())
        .ended()
        .ran;
    ran.exits(0).prints("{\"output\":\"5000");
}

#[test]
fn a_large_event_reaches_parallel_hooks_that_read_at_their_own_pace() {
    let mut sandbox = Sandbox::new();
    for name in ["a", "b", "c"] {
        let body = "# hookrun: timeout=50s parallel\nhead -c 10 >/dev/null; sleep 0.2; cat | wc -c";
        sandbox = sandbox.hook(name, body);
    }
    let mut event = b"{\"text\":\"".to_vec();
    event.resize(5_000_000, b'x');
    event.extend_from_slice(b"\"}");
    let ended = Running::start(&sandbox, &["run", "tool.pre"])
        .feed(&event)
        .ended();
    let ran = ended.ran;
    ran.exits(0);
    assert_eq!(ran.stdout.matches("50000").count(), 3, "{ran:?}");
}
