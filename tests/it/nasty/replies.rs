//! Nobody takes the reply, or hookrun's own streams are closed: no consent by accident, no panic,
//! and the hooks are looked after all the same.

use std::io::{Write, read_to_string};

use crate::nasty::running::{Cookie, Running};
use crate::sandbox::{Sandbox, TOOL};

/// The exit status of hookrun by a shell line that prints it, or writes it into `status`.
#[track_caller]
fn status_by(sandbox: &Sandbox, line: &str) -> String {
    let ran = Running::start_by(sandbox, line, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran;
    assert!(!ran.stderr.contains("panic"), "{ran:?}");
    let file = sandbox.at("status");
    let status = std::fs::read_to_string(&file).unwrap_or(ran.stdout);
    let _ = std::fs::remove_file(file);
    status.trim().to_string()
}

/// hookrun with these redirections, for a hook that refuses, one that is silent and one that says
/// something. Without stdin there is no event; without stdout nobody hears what is said.
#[track_caller]
fn decide_with(redirections: &str) {
    let line = format!("\"$@\" {redirections}; echo $?");
    let has_event = !redirections.contains("<&-");
    let is_heard = !redirections.contains(" >&-");

    let refuses = Sandbox::new().hook("hook", "cat > context; echo no >&2; exit 1");
    assert_eq!(status_by(&refuses, &line), "2");
    if has_event {
        assert_eq!(
            refuses.read("context"),
            "{\"event\":\"tool.pre\",\"toolName\":\"note\",\"action\":{\"kind\":\"other\"}}\n"
        );
    } else {
        refuses.has_no_file("context");
    }
    let is_silent = Sandbox::new().hook("hook", "cat >/dev/null");
    assert_eq!(
        status_by(&is_silent, &line),
        if has_event { "0" } else { "2" }
    );
    if has_event && is_heard {
        let says = Sandbox::new().hook("hook", "cat >/dev/null; echo words");
        // The words may stand before the status.
        assert_eq!(status_by(&says, &line).lines().last(), Some("0"));
    }
    let hangs = Sandbox::new().hook("hook", "# hookrun: timeout=300ms\nsetsid sleep 600 & wait");
    assert_eq!(status_by(&hangs, &line).lines().last(), Some("2"));
}

/// One test for each set of streams that are closed.
macro_rules! closed {
    ($($name:ident: $redirections:expr;)*) => {$(
        #[test]
        fn $name() {
            decide_with($redirections);
        }
    )*};
}

closed! {
    no_stdin: " <&- >reply 2>errors";
    no_stdout: " >&- 2>errors";
    no_stderr: " >reply 2>&-";
    no_stdin_and_no_stdout: " <&- >&- 2>errors";
    no_stdin_and_no_stderr: " <&- >reply 2>&-";
    no_stdout_and_no_stderr: " >&- 2>&-";
    no_stream_at_all: " <&- >&- 2>&-";
}

/// Waits until the reader of a pipe has gone, which it says by the file `gone`.
const WHEN_GONE: &str = "while [ ! -e gone ]; do sleep 0.01; done";

/// The reader of a pipe who goes without reading.
const GOES: &str = "sh -c 'exec <&-; touch gone'";

#[test]
fn a_pipe_without_a_reader_for_the_reply_blocks() {
    let sandbox = Sandbox::new().hook("hook", "echo words");
    let line = format!("{{ {WHEN_GONE}; \"$@\"; echo $? > status; }} | {GOES}");
    assert_eq!(status_by(&sandbox, &line), "2");
}

#[test]
fn a_reader_that_goes_before_the_reply_comes_blocks() {
    let body = format!("{WHEN_GONE}; echo words");
    let sandbox = Sandbox::new().hook("hook", &body);
    let line = format!("{{ \"$@\"; echo $? > status; }} | {GOES}");
    assert_eq!(status_by(&sandbox, &line), "2");
}

#[test]
fn a_pipe_without_a_reader_for_the_reason_still_blocks() {
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    let run = "\"$@\" 2>&1 >&3; echo $? > status";
    let line = format!("exec 3>reply; {{ {WHEN_GONE}; {run}; }} | {GOES}");
    assert_eq!(status_by(&sandbox, &line), "2");
    assert_eq!(
        sandbox.read("reply"),
        "{\"continue\":false,\"reason\":\"no\"}\n"
    );
}

#[test]
fn a_full_disk_for_the_reply_blocks() {
    let sandbox = Sandbox::new().hook("hook", "echo words");
    assert_eq!(status_by(&sandbox, "\"$@\" > /dev/full; echo $?"), "2");
}

#[test]
fn a_block_stands_on_a_full_disk() {
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    assert_eq!(
        status_by(&sandbox, "\"$@\" > /dev/full 2> /dev/full; echo $?"),
        "2"
    );
}

#[test]
fn silence_needs_no_reader() {
    let sandbox = Sandbox::new().hook("hook", "true");
    assert_eq!(
        status_by(&sandbox, "\"$@\" > /dev/full 2> /dev/full; echo $?"),
        "0"
    );
}

#[test]
fn a_host_that_reads_stdout_first_gets_its_answer() {
    let sandbox = Sandbox::new().hook("hook", "head -c 120000 /dev/zero | tr '\\0' x >&2; exit 1");
    let cookie = Cookie::new();
    let mut command = sandbox.command(&["run", "tool.pre"]);
    let mut child = cookie.mark(&mut command).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(TOOL.as_bytes())
        .unwrap();
    let stdout = read_to_string(child.stdout.take().unwrap()).unwrap();
    let stderr = read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(stdout.contains("\"continue\":false") && stdout.contains("bytes omitted"));
    assert!(stderr.len() < 64 * 1024 && stderr.starts_with("xxx"));
    cookie.has_nobody();
}
