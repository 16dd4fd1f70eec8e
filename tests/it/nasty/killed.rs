//! hookrun itself is killed, or stopped for a while, by its host or by its own hooks. Whoever gets
//! no decision must refuse; hookrun's part is that nothing lives on.

use std::fs;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::nasty::running::{Running, end, hanging, state_of, wait_until};
use crate::sandbox::{Sandbox, TOOL};

/// Waits in a hook until its keeper is there, and calls it `$keeper`.
const FIND_KEEPER: &str = "keeper=; while [ -z \"$keeper\" ]; do sleep 0.01\n\
    for pid in $(cat /proc/$PPID/task/*/children); do\n\
    case $(tr '\\0' ' ' < /proc/$pid/cmdline) in *' keep '*) keeper=$pid ;; esac; done; done";

/// A hook with a timeout of an hour.
fn patient(body: &str) -> Sandbox {
    Sandbox::new().hook("hook", &format!("# hookrun: timeout=1h\n{body}"))
}

fn started(sandbox: &Sandbox) -> Running {
    Running::start(sandbox, &["run", "tool.pre"]).feed(b"{}")
}

/// One test for each thing that a hook has started when hookrun gets SIGKILL.
macro_rules! killed {
    ($($name:ident: $daemon:expr;)*) => {$(
        #[test]
        fn $name() {
            let (sandbox, running) = hanging(&format!("{}\ntouch started; sleep 3600", $daemon));
            end(running.pid(), "KILL");
            assert_eq!(running.ended().ran.status, -1);
            sandbox.has_no_file("later");
        }
    )*};
}

killed! {
    a_hookrun_that_is_killed_leaves_no_hook_behind: "";
    a_hookrun_that_is_killed_leaves_no_child_behind: "sleep 3600 &";
    a_hookrun_that_is_killed_leaves_no_stubborn_hook_behind: "trap '' TERM HUP INT QUIT";
    a_hookrun_that_is_killed_leaves_no_session_behind: "setsid sleep 3600 &";
    a_hookrun_that_is_killed_leaves_no_daemon_behind: "(setsid sleep 3600 >/dev/null 2>&1 &)";
    a_hookrun_that_is_killed_leaves_no_stopped_process_behind: "sh -c 'kill -STOP $$' &";
    a_hookrun_that_is_killed_leaves_no_group_of_fifty_behind:
        "n=0; while [ $n -lt 50 ]; do setsid sleep 3600 & n=$((n + 1)); done";
}

#[test]
fn all_parallel_hooks_of_a_hookrun_that_is_killed_are_ended() {
    let body = "# hookrun: timeout=1h parallel\n\
                trap '' TERM HUP; setsid sleep 3600 & touch started-$HOOKRUN_HOOK; wait";
    let sandbox = Sandbox::new().hook("a", body).hook("b", body);
    let running = Running::start(&sandbox, &["run", "tool.pre", "--jobs", "2"]).feed(b"{}");
    wait_until("all have started", || {
        ["a", "b"]
            .iter()
            .all(|name| sandbox.at(&format!("started-{name}")).exists())
    });
    wait_until("the keeper has started", || running.keepers() == 1);
    end(running.pid(), "KILL");
    assert_eq!(running.ended().ran.status, -1);
}

#[test]
fn a_host_that_kills_the_whole_group_of_hookrun_leaves_nothing_behind() {
    let sandbox = patient("setsid sleep 3600 & touch started; sleep 3600");
    let mut command = sandbox.command(&["run", "tool.pre"]);
    command.process_group(0);
    let running = Running::start_as(command).feed(b"{}");
    wait_until("the hook has started", || sandbox.at("started").exists());
    wait_until("the keeper has started", || running.keepers() == 1);
    let group = running.pid();
    wait_until("the keeper is out of the group", || {
        let others = running.cookie.holders();
        !others
            .iter()
            .any(|pid| *pid != group && group_of(*pid) == Some(group))
    });
    end(-group, "KILL");
    assert_eq!(running.ended().ran.status, -1);
}

/// The process group of a process.
fn group_of(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    status
        .rsplit(')')
        .next()?
        .split_whitespace()
        .nth(2)?
        .parse()
        .ok()
}

#[test]
fn killing_one_hookrun_does_not_touch_the_hooks_of_another() {
    let (_first_sandbox, first) = hanging("setsid sleep 3600 & touch started; sleep 3600");
    let (_second_sandbox, second) = hanging("setsid sleep 3600 & touch started; sleep 3600");
    let before = second.cookie.holders();
    end(first.pid(), "KILL");
    assert_eq!(first.ended().ran.status, -1);
    let still = second.cookie.holders();
    assert!(
        before.iter().all(|pid| still.contains(pid)),
        "{before:?} {still:?}"
    );
    end(second.pid(), "TERM");
    second.ended().ran.blocks_saying("interrupted");
}

#[test]
fn of_many_hookruns_those_that_are_not_killed_decide() {
    let body = "setsid sleep 3600 >/dev/null 2>&1 & \
                touch started; while [ ! -e go ]; do sleep 0.02; done; echo done";
    let mut all: Vec<(Sandbox, Running)> = (0..8).map(|_| hanging(body)).collect();
    for (_, running) in all.iter().step_by(2) {
        end(running.pid(), "KILL");
    }
    for (place, (sandbox, running)) in all.drain(..).enumerate() {
        fs::write(sandbox.at("go"), "").unwrap();
        let ran = running.ended().ran;
        if place % 2 == 0 {
            assert_eq!(ran.status, -1, "{place}");
        } else {
            ran.allows_with(json!({ "output": "done" }));
            sandbox.has_file("later");
        }
    }
}

#[test]
fn a_hookrun_inside_a_hook_leaves_nothing_behind_when_the_outer_one_is_killed() {
    let inner = "#!/bin/sh\n# hookrun: timeout=1h\ntouch started; sleep 3600\n";
    let body = format!(
        "{} run tool.pre --hooks inner",
        env!("CARGO_BIN_EXE_hookrun")
    );
    let sandbox = patient(&body).script("inner/tool.pre/a", inner);
    let running = started(&sandbox);
    wait_until("the inner hook has started", || {
        sandbox.at("started").exists()
    });
    wait_until("both have their keepers", || running.keepers() == 2);
    end(running.pid(), "KILL");
    running.ended();
}

#[test]
fn a_hook_that_kills_hookrun_is_ended_all_the_same() {
    let body = format!("{FIND_KEEPER}\nsetsid sleep 600 & kill -KILL $PPID; sleep 600");
    assert_eq!(started(&patient(&body)).ended().ran.status, -1);
}

#[test]
fn a_hook_that_stops_the_keeper_leaves_no_keeper_behind() {
    let body =
        format!("{FIND_KEEPER}\nkill -STOP $keeper; echo $keeper > keeper; echo no >&2; exit 1");
    let sandbox = patient(&body);
    started(&sandbox).ended().ran.blocks("no");
    let keeper = std::fs::read_to_string(sandbox.at("keeper")).unwrap();
    assert!(
        !std::path::Path::new("/proc").join(keeper.trim()).exists(),
        "{keeper}"
    );
}

#[test]
fn a_hook_that_kills_the_keeper_changes_no_decision() {
    let body = format!("{FIND_KEEPER}\nkill -KILL $keeper; touch killed; echo no >&2; exit 1");
    let sandbox = patient(&body);
    started(&sandbox).ended().ran.blocks("no");
    sandbox.has_file("killed");
}

#[test]
fn a_hook_that_kills_the_keeper_and_hangs_is_ended_at_its_timeout() {
    let hang = "kill -KILL $keeper; touch killed; setsid sleep 600 & sleep 600";
    let body = format!("# hookrun: timeout=2s\n{FIND_KEEPER}\n{hang}");
    let sandbox = Sandbox::new()
        .hook("hook", &body)
        .hook("later", "touch later");
    started(&sandbox)
        .ended()
        .ran
        .blocks_saying("timed out after 2s");
    sandbox.has_file("killed");
    sandbox.has_no_file("later");
}

/// A hook that waits for the file `go` and answers, and its process, in a hookrun that is stopped.
fn stopped(timeout: &str) -> (Sandbox, Running, i32) {
    let body = format!(
        "# hookrun: timeout={timeout}\n\
         echo $$ > pid.new; mv pid.new pid; while [ ! -e go ]; do sleep 0.01; done; echo done"
    );
    let sandbox = Sandbox::new().hook("hook", &body);
    let running = started(&sandbox);
    wait_until("the hook has started", || sandbox.at("pid").exists());
    // Starting it is over for hookrun as well, or the time would be that of a start that hangs.
    wait_until("the keeper has started", || running.keepers() == 1);
    end(running.pid(), "STOP");
    wait_until("hookrun is stopped", || {
        state_of(running.pid()) == Some('T')
    });
    let hook = sandbox.read("pid").trim().parse().unwrap();
    (sandbox, running, hook)
}

/// Lets time pass that a deadline needs to go by.
fn let_pass(time: Duration) {
    let started = Instant::now();
    wait_until("the deadline goes by", || started.elapsed() > time);
}

#[test]
fn a_hook_that_ends_while_hookrun_is_stopped_is_no_timeout() {
    let (sandbox, running, hook) = stopped("5s");
    fs::write(sandbox.at("go"), "").unwrap();
    wait_until("the hook has ended", || state_of(hook) == Some('Z'));
    let_pass(Duration::from_secs(5));
    end(running.pid(), "CONT");
    running.ended().ran.allows_with(json!({ "output": "done" }));
}

#[test]
fn a_hookrun_that_is_stopped_for_long_decides_when_it_goes_on() {
    // Longer than the watchdog waits for the thread that decides.
    let (sandbox, running, hook) = stopped("2s");
    fs::write(sandbox.at("go"), "").unwrap();
    wait_until("the hook has ended", || state_of(hook) == Some('Z'));
    let_pass(Duration::from_secs(6));
    end(running.pid(), "CONT");
    running.ended().ran.allows_with(json!({ "output": "done" }));
}

#[test]
fn a_hook_that_still_runs_when_a_stopped_hookrun_goes_on_has_timed_out() {
    let (_sandbox, running, _hook) = stopped("2s");
    let_pass(Duration::from_secs(3));
    end(running.pid(), "CONT");
    running
        .ended()
        .ran
        .blocks("hook `hook` failed: timed out after 2s (fail closed)");
}

#[test]
fn a_hook_that_stops_hookrun_decides_when_it_goes_on() {
    let body = "kill -STOP $PPID; touch stopped; echo no >&2; exit 1";
    let sandbox = patient(body);
    let running = started(&sandbox);
    wait_until("the hook has stopped hookrun", || {
        sandbox.at("stopped").exists() && state_of(running.pid()) == Some('T')
    });
    end(running.pid(), "CONT");
    running.ended().ran.blocks("no");
}

#[test]
fn an_event_that_came_while_hookrun_was_stopped_is_decided() {
    use std::io::Write;
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    let mut running = Running::start(&sandbox, &["run", "tool.pre", "--stdin-timeout", "5s"]);
    let mut stdin = running.stdin();
    end(running.pid(), "STOP");
    wait_until("hookrun is stopped", || {
        state_of(running.pid()) == Some('T')
    });
    stdin.write_all(TOOL.as_bytes()).unwrap();
    let_pass(Duration::from_secs(5));
    end(running.pid(), "CONT");
    running.ended().ran.blocks("no");
    drop(stdin);
}
