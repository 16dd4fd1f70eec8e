//! Whatever such a hook does, it is bounded, and ends with its session and all that it started.

use std::collections::HashSet;
use std::fs;
use std::process::{Command, Stdio};

use hookrun::internals::exec::Subreaper;
use hookrun::{Event, Hook, Limits};
use serde_json::json;

use super::{ECHO, Heard, Held, lasting, runner, tool, watcher, watchers};
use crate::nasty::running::{Cookie, end, skipped, wait_until};
use crate::sandbox::Sandbox;

/// Leaves a process in its group, and two that have left it, one below the other. With the
/// variable `COOKIE` all of them are found.
const FAMILY: &str = r#"sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & setsid sleep 1000 &
    echo '{"additionalContext": "all there"}'; "#;

#[test]
fn it_ends_with_its_tree_when_the_session_does_and_reads_to_the_end_first() {
    let sandbox = Sandbox::new();
    let line = format!("{FAMILY}{ECHO}; echo '{{\"additionalContext\": \"good-bye\"}}'");
    let end = lasting(Hook::shell("watcher", "session.end", &line));
    let held = Held::new(&sandbox, [watcher(&line), end]);
    held.starts("s");
    assert_eq!(held.context(), "all there");
    held.event("session.end", "s", &json!({}));
    assert!(held.context().contains("session.start"));
    assert!(held.context().contains("session.end"));
    assert_eq!(held.context(), "good-bye");
    assert_eq!(held.ended(), ("its session is over".to_string(), None));
    assert_eq!(held.cookie.holders(), Vec::<i32>::new());
}

#[test]
fn it_is_ended_at_its_timeout_if_it_does_not_end_by_itself() {
    let sandbox = Sandbox::new();
    let line = format!("trap '' TERM; {FAMILY}while :; do sleep 1000; done");
    let mut hook = watcher(&line);
    hook.limits.timeout = Some(std::time::Duration::from_millis(50));
    let held = Held::new(&sandbox, [hook]);
    held.starts("s");
    assert_eq!(held.context(), "all there");
    held.hooks().end("s");
    assert_eq!(held.ended(), ("its session is over".to_string(), None));
    assert_eq!(held.cookie.holders(), Vec::<i32>::new());
}

#[test]
fn all_of_them_end_when_their_holder_does() {
    let sandbox = Sandbox::new();
    let stubborn = format!("trap '' TERM; {FAMILY}while :; do sleep 1000; done");
    let mut held = Held::new(&sandbox, [watcher(&stubborn)]);
    for session in ["a", "b", "c"] {
        held.starts(session);
    }
    for _ in 0..3 {
        assert_eq!(held.context(), "all there");
    }
    // One of them is ending already, and would have 5 s for that.
    held.hooks().end("c");
    held.drop_all();
}

#[test]
fn a_hook_that_never_reads_loses_the_oldest_lines_and_is_told_how_many() {
    let sandbox = Sandbox::new();
    let [start, post] = watchers(
        r#"echo '{"additionalContext": "born"}'
        until test -e go; do sleep 0.01; done; sed -n 's/.*dropped.:\([0-9]*\).*/{"additionalContext": "\1"}/p; $q'"#,
    );
    let held = Held::new(&sandbox, [start, post]);
    held.starts("s");
    assert_eq!(held.context(), "born");
    // Some fit into the pipe, and others are too long for it.
    for _ in 0..100 {
        held.event(
            "tool.post",
            "s",
            &json!({ "toolName": "bash", "result": "x".repeat(10_000) }),
        );
    }
    for _ in 0..2_000 {
        held.event("tool.post", "s", &tool("bash"));
    }
    fs::write(sandbox.at("go"), "").unwrap();
    held.hooks().end("s");
    let dropped: u64 = held.context().parse().unwrap();
    assert!((1_000..2_100).contains(&dropped), "{dropped}");
    assert_eq!(held.ended(), ("its session is over".to_string(), None));
}

#[test]
fn one_that_closes_its_input_lives_on() {
    let sandbox = Sandbox::new();
    let line = r#"exec <&-; until test -e go; do sleep 0.01; done; echo '{"additionalContext": "here"}'; exec sleep 1000"#;
    let held = Held::new(&sandbox, watchers(line));
    held.starts("s");
    for _ in 0..3_000 {
        held.event("tool.post", "s", &tool("bash"));
    }
    fs::write(sandbox.at("go"), "").unwrap();
    assert_eq!(held.context(), "here");
}

#[test]
fn floods_are_bounded() {
    let sandbox = Sandbox::new();
    let line = r#"yes | head -c 20000000 | tr -d '\n'; echo; head -c 20000000 /dev/zero >&2
        echo '{"additionalContext": "still here"}'; exec sleep 1000"#;
    let held = Held::new(&sandbox, [watcher(line)]);
    held.starts("s");
    assert_eq!(held.context(), "still here");
    let mut endless = watcher("exec yes");
    endless.limits = Limits {
        output_bytes: Some(100_000),
        ..Limits::default()
    };
    let held = Held::new(&sandbox, [endless]);
    held.starts("s");
    let (how, restarts_in) = held.ended();
    assert!(
        how.starts_with("exceeded `limits.output`: it wrote "),
        "{how}"
    );
    assert!(restarts_in.is_some());
}

#[test]
fn its_limits_and_its_sandbox_hold() {
    let sandbox = Sandbox::new();
    let mut busy = watcher("while :; do :; done");
    busy.limits = Limits {
        cpu: Some(std::time::Duration::from_secs(1)),
        ..Limits::default()
    };
    let cookie = Cookie::new();
    let held = Held::of(
        &runner(sandbox.path(), [busy], &cookie),
        sandbox.path(),
        cookie,
    );
    held.starts("s");
    let (how, _) = held.ended();
    assert_eq!(
        how,
        "exceeded `limits.cpu`: it used all of its 1s of processor time"
    );

    let cookie = Cookie::new();
    let line = r#"touch "$HOOKRUN_STATE_DIR/own" && own=1 || own=0; touch elsewhere 2>&- && other=1 || other=0
        printf '{"additionalContext": "%s %s"}\n' $own $other; exec sleep 1000"#;
    let mut bound = watcher(line);
    bound.sandbox = Some(hookrun::Sandbox::default());
    let held = Held::of(
        &runner(sandbox.path(), [bound], &cookie),
        sandbox.path(),
        cookie,
    );
    held.starts("s");
    match held.next().1 {
        Heard::Context(_, text) => assert_eq!(text, "1 0"),
        Heard::Ended(how, _) if how.contains("its sandbox is not available") => skipped(&how),
        other @ (Heard::Message(..) | Heard::Status(..) | Heard::Ended(..)) => panic!("{other:?}"),
    }
}

/// A test of this program in a process of its own, with this limit on descriptors.
fn alone(test: &str, sandbox: &Sandbox, descriptors: u32) -> Command {
    let mut command = Command::new("/bin/sh");
    let line = format!("ulimit -n {descriptors} 2>/dev/null || exit 77; exec \"$@\"");
    let test = format!("lasting::ended::{test}");
    let own = std::env::current_exe().unwrap();
    command
        .args(["-c", &line, "sh"])
        .arg(own)
        .args(["--exact", &test, "--ignored"]);
    command.current_dir(sandbox.path()).stdout(Stdio::null());
    command
}

/// What a test that runs in a process of its own marks its hooks with; `None` if it does not.
fn cookie_here() -> Option<Cookie> {
    fs::read_to_string("cookie").ok().map(Cookie)
}

#[test]
#[ignore = "runs in a process of its own"]
fn holds_until_it_is_killed() {
    let Some(cookie) = cookie_here() else { return };
    let place = std::env::current_dir().unwrap();
    let hook = watcher(&format!("{FAMILY}exec sleep 1000"));
    let held = Held::of(&runner(&place, [hook], &cookie), &place, cookie);
    held.starts("s");
    assert_eq!(held.context(), "all there");
    fs::write(place.join("started"), "").unwrap();
    // It is killed here.
    let _ = held.heard.recv();
}

#[test]
fn nothing_is_left_when_the_holder_is_killed() {
    let sandbox = Sandbox::new();
    let cookie = Cookie::new();
    fs::write(sandbox.at("cookie"), &cookie.0).unwrap();
    let mut holder = alone("holds_until_it_is_killed", &sandbox, 256)
        .spawn()
        .unwrap();
    wait_until("the hook has started", || sandbox.at("started").exists());
    let keeper = format!("keep\0lasting-{}", cookie.0);
    wait_until("the keeper has started", || {
        cookie.holders().iter().any(|pid| {
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.contains(&keeper)
        })
    });
    end(i32::try_from(holder.id()).unwrap(), "KILL");
    holder.wait().unwrap();
    cookie.has_nobody();
}

#[test]
#[ignore = "runs in a process of its own"]
fn holds_a_thousand() {
    let Some(cookie) = cookie_here() else { return };
    let place = std::env::current_dir().unwrap();
    let hooks = watchers(r#"read -r line; echo '{"additionalContext": ""}'; exec cat"#);
    let mut held = Held::of(&runner(&place, hooks, &cookie), &place, cookie);
    let sessions: Vec<String> = (0..1_000).map(|number| format!("s{number}")).collect();
    for session in &sessions {
        held.starts(session);
    }
    let mut heard: Vec<String> = sessions.iter().map(|_| held.next().0).collect();
    heard.sort();
    let mut expected = sessions.clone();
    expected.sort();
    assert_eq!(heard, expected);
    held.drop_all();
}

#[test]
fn a_thousand_sessions_at_once_each_have_their_hook() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.at("cookie"), &Cookie::new().0).unwrap();
    let status = alone("holds_a_thousand", &sandbox, 9_200).status().unwrap();
    if status.code() == Some(77) {
        return skipped("the limit on descriptors cannot be raised");
    }
    assert!(status.success());
}

#[test]
#[ignore = "runs in a process of its own"]
fn holds_too_many() {
    let Some(cookie) = cookie_here() else { return };
    let place = std::env::current_dir().unwrap();
    let mut held = Held::of(&runner(&place, [watcher(ECHO)], &cookie), &place, cookie);
    for number in 0..30 {
        held.starts(&format!("s{number}"));
    }
    // Of each session something is heard, and some have their hook.
    let (mut started, mut failed) = (HashSet::new(), HashSet::new());
    while started.union(&failed).count() < 30 {
        match held.next() {
            (session, Heard::Context(..)) => started.insert(session),
            (session, Heard::Ended(how, _)) => {
                assert!(how.contains("Too many open files"), "{how}");
                failed.insert(session)
            }
            (_, other @ (Heard::Message(..) | Heard::Status(..))) => panic!("{other:?}"),
        };
    }
    assert!(!started.is_empty() && !failed.is_empty());
    held.drop_all();
}

#[test]
fn a_session_whose_hook_finds_no_descriptors_is_told() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.at("cookie"), &Cookie::new().0).unwrap();
    assert!(
        alone("holds_too_many", &sandbox, 100)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
#[ignore = "runs in a process of its own"]
fn holds_and_decides() {
    let Some(cookie) = cookie_here() else { return };
    let place = std::env::current_dir().unwrap();
    // What leaves its parent and its group comes to this process, and decisions end such strays.
    let stray = "setsid sleep 1000 >/dev/null 2>&1 & exit 0";
    let guard = Hook::shell("guard", "tool.pre", stray);
    let orphans = "(setsid sleep 1000 &); (setsid sh -c 'sleep 1000 & wait' &) ";
    let hook = watcher(&format!("{orphans}; {ECHO}"));
    let runner = runner(&place, [hook, guard], &cookie).subreaper(Subreaper::take());
    let mut held = Held::of(&runner, &place, cookie);
    held.starts("s");
    assert!(held.context().contains("session.start"));
    let sleepers = || {
        let words = |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline"));
        let mut pids = held.cookie.holders();
        pids.retain(|pid| words(pid).is_ok_and(|line| line.starts_with("sleep")));
        pids
    };
    wait_until("its processes run", || sleepers().len() == 2);
    let own = sleepers();
    for _ in 0..20 {
        let event = Event::tool_pre("bash", json!({ "command": "ls" })).unwrap();
        assert!(runner.handle(&event).permit().is_ok());
        // A killed stray may take a moment to vanish.
        wait_until("only its processes run", || sleepers() == own);
    }
    held.starts("s");
    assert!(held.context().contains("session.start"));
    drop(runner);
    held.drop_all();
}

#[test]
fn decisions_meanwhile_leave_it_and_its_processes_alone() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.at("cookie"), &Cookie::new().0).unwrap();
    assert!(
        alone("holds_and_decides", &sandbox, 256)
            .status()
            .unwrap()
            .success()
    );
}
