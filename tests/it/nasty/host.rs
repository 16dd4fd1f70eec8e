//! Hosts that interrupt, hang up or are short of everything: a stated refusal, nothing left.

use crate::nasty::running::{Running, end, wait_until};
use crate::sandbox::Sandbox;

const HANGS: &str = "# hookrun: timeout=1h\ntouch started; sleep 3600";

/// hookrun whose one hook has started and hangs.
fn hanging(body: &str) -> (Sandbox, Running) {
    let sandbox = Sandbox::new().hook("hook", body).hook("later", "touch later");
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    wait_until("the hook has started", || sandbox.at("started").exists());
    (sandbox, running)
}

#[test]
fn a_signal_to_hookrun_ends_the_hooks_and_refuses() {
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let (sandbox, running) = hanging(HANGS);
        end(running.pid(), signal);
        let ran = running.ended().ran;
        ran.blocks("hook `hook` failed: hookrun was told to stop (fail closed)");
        sandbox.has_no_file("later");
    }
}

#[test]
fn a_signal_refuses_although_the_hook_fails_open() {
    let (_sandbox, running) =
        hanging("# hookrun: timeout=1h on_failure=allow\ntouch started; sleep 3600");
    end(running.pid(), "TERM");
    running.ended().ran.blocks("hook `hook` failed: hookrun was told to stop (fail closed)");
}

#[test]
fn a_host_that_reads_stdout_first_gets_its_answer() {
    let sandbox = Sandbox::new().hook("hook", "head -c 120000 /dev/zero | tr '\\0' x >&2; exit 1");
    let mut child = sandbox.command(&["run", "tool.pre"]).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{}").unwrap();
    let stdout = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(stdout.contains("\"continue\":false") && stdout.contains("bytes left out"));
    assert!(stderr.len() < 64 * 1024 && stderr.starts_with("xxx"));
}

#[test]
fn a_hook_has_a_moment_to_clean_up_when_hookrun_is_told_to_stop() {
    let body = "# hookrun: timeout=1h\n\
                trap 'touch cleaned; exit 0' TERM; touch started; sleep 3600 & wait";
    let (sandbox, running) = hanging(body);
    end(running.pid(), "TERM");
    running.ended().ran.blocks_saying("hookrun was told to stop");
    sandbox.has_file("cleaned");
}

#[test]
fn a_second_signal_ends_a_stubborn_hook_at_once() {
    let body = "# hookrun: timeout=1h\n\
                trap '' TERM INT; touch started; while :; do sleep 3600; done";
    let (_sandbox, running) = hanging(body);
    end(running.pid(), "INT");
    end(running.pid(), "INT");
    running.ended().ran.blocks_saying("hookrun was told to stop");
}

#[test]
fn a_hookrun_that_is_killed_leaves_no_process_behind() {
    for daemon in ["sleep 3600 &", "setsid sleep 3600 &", "(setsid sleep 3600 >/dev/null 2>&1 &)"] {
        // Those that end at once need no keeper; this one has it by then.
        let body = format!("# hookrun: timeout=1h\nsleep 0.5; {daemon}\ntouch started; sleep 3600");
        let (_sandbox, running) = hanging(&body);
        end(running.pid(), "KILL");
        assert_eq!(running.ended().ran.status, -1);
    }
}

#[test]
fn all_parallel_hooks_of_a_hookrun_that_is_killed_are_ended() {
    let body = "# hookrun: timeout=1h parallel\n\
                sleep 0.5; trap '' TERM HUP; setsid sleep 3600 & touch started-$HOOKRUN_HOOK; wait";
    let sandbox = Sandbox::new().hook("a", body).hook("b", body);
    let running = Running::start(&sandbox, &["run", "tool.pre", "--jobs", "2"]).feed(b"{}");
    wait_until("all have started", || {
        ["a", "b"].iter().all(|name| sandbox.at(&format!("started-{name}")).exists())
    });
    end(running.pid(), "KILL");
    assert_eq!(running.ended().ran.status, -1);
}

#[test]
fn a_signal_while_the_event_is_awaited_refuses() {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    let mut running = Running::start(&sandbox, &["run", "tool.pre", "--stdin-timeout", "1h"]);
    let stdin = running.stdin();
    // Its handlers are installed before it waits: then SIGTERM is caught and not fatal.
    let status = format!("/proc/{}/status", running.pid());
    wait_until("hookrun handles SIGTERM", || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() >> 14 & 1 == 1)
    });
    end(running.pid(), "TERM");
    running.ended().ran.blocks_saying("told to stop");
    sandbox.has_no_file("ran");
    drop(stdin);
}

#[test]
fn parallel_hooks_are_all_ended_by_a_signal() {
    let body = "# hookrun: timeout=1h parallel\ntouch started-$HOOKRUN_HOOK; sleep 3600";
    let sandbox = Sandbox::new().hook("a", body).hook("b", body).hook("c", body);
    let arguments = ["run", "tool.pre", "--jobs", "3"];
    let running = Running::start(&sandbox, &arguments).feed(b"{}");
    wait_until("all have started", || {
        ["a", "b", "c"].iter().all(|name| sandbox.at(&format!("started-{name}")).exists())
    });
    end(running.pid(), "TERM");
    running.ended().ran.blocks_saying("told to stop");
}

#[test]
fn hookrun_refuses_when_nobody_reads_its_reply() {
    let sandbox = Sandbox::new().hook("hook", "echo words");
    for line in [
        "{ \"$@\"; echo $? > status; } | true",
        "{ sleep 0.1; \"$@\"; echo $? > status; } | exec true",
        "\"$@\" > /dev/full; echo $? > status",
    ] {
        let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{}").ended().ran;
        assert!(!ran.stderr.contains("panic"), "{ran:?}");
    }
    assert_eq!(sandbox.read("status"), "2\n");
    let line = "{ sleep 0.3; \"$@\"; echo $? > status; } | true";
    Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{}").ended();
    assert_eq!(sandbox.read("status"), "2\n");
}

#[test]
fn silence_needs_no_reader() {
    let sandbox = Sandbox::new().hook("hook", "true");
    let line = "\"$@\" > /dev/full 2> /dev/full; echo $?";
    let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{}").ended().ran;
    assert_eq!(ran.stdout, "0\n");
}

#[test]
fn a_refusal_stands_where_no_stream_is_open() {
    let sandbox = Sandbox::new().hook("hook", "cat > context; echo no >&2; exit 1");
    for line in ["\"$@\" >&- 2>&-; echo $?", "\"$@\" > /dev/full 2> /dev/full; echo $?"] {
        let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{}").ended().ran;
        assert_eq!(ran.stdout, "2\n", "{line}");
        assert_eq!(sandbox.read("context"), "{\"event\":\"tool.pre\"}\n");
        std::fs::remove_file(sandbox.at("context")).unwrap();
    }
}

#[test]
fn an_ignored_sigchld_is_taken_back() {
    let sandbox = Sandbox::new().hook("hook", "(exit 3); echo $? >&2; exit 1");
    // Both shells and perl can ignore it; only what is really inherited tells.
    let line = "exec perl -e '$SIG{CHLD} = \"IGNORE\"; exec @ARGV or die' \"$@\"";
    let look =
        "perl -e '$SIG{CHLD} = \"IGNORE\"; exec \"grep\", \"SigIgn\", \"/proc/self/status\"'";
    let ignored = Running::start_by(&sandbox, look, &[]).ended().ran.stdout;
    let mask = u64::from_str_radix(ignored.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(mask >> 16 & 1, 1, "SIGCHLD is not inherited as ignored: {ignored}");
    let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{}").ended().ran;
    ran.blocks("3");
}

#[test]
fn signals_that_the_host_ignores_still_work_in_hooks() {
    let sandbox = Sandbox::new().hook("hook", "kill -TERM $$; sleep 5; exit 0");
    let line = "trap '' TERM INT HUP QUIT PIPE; exec \"$@\"";
    let ran = Running::start_by(&sandbox, line, &["run", "tool.pre"]).feed(b"{}").ended().ran;
    ran.blocks("hook `hook` failed: killed by SIGTERM (fail closed)");
}

#[test]
fn a_hookrun_inside_a_hook_leaves_nothing_behind_when_the_outer_one_is_killed() {
    let inner = "#!/bin/sh\n# hookrun: timeout=1h\ntouch started; sleep 3600\n";
    let outer = format!(
        "# hookrun: timeout=1h\n{} run tool.pre --hooks inner",
        env!("CARGO_BIN_EXE_hookrun")
    );
    let sandbox = Sandbox::new().hook("outer", &outer).script("inner/tool.pre/a", inner);
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    wait_until("the inner hook has started", || sandbox.at("started").exists());
    wait_until("both have their keepers", || running.keepers() == 2);
    end(running.pid(), "KILL");
    running.ended();
}
