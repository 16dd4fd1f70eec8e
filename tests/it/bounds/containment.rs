//! `containment = "pidns"`: nothing that a hook starts outlives it.

use std::time::Duration;

use serde_json::json;

use super::limits::{hold, struck};
use super::{
    NOBODY, asked, gate, has_namespaces, is_root, output, ran_without_privileges, skip,
    without_privileges, works,
};
use crate::nasty::running::{Running, end, wait_until};
use crate::sandbox::Sandbox;

/// A daemon that keeps nothing of the hook but a word by which the test finds it.
const DAEMON: &str = "env -i PATH=\"$PATH\" setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' \
                      $IT_COOKIE </dev/null >/dev/null 2>&1 &";

/// The containment, where it can be had.
fn namespaces() -> Option<&'static str> {
    let is_possible = has_namespaces();
    if !is_possible {
        skip("no process namespace can be made here");
    }
    is_possible.then_some("pidns")
}

#[test]
fn nothing_is_left_however_the_hook_ends() {
    if let Some(containment) = namespaces() {
        let with = |body: &str| {
            asked(
                &format!("containment={containment} timeout=300ms"),
                &format!("{DAEMON}\n{body}"),
            )
        };
        with("exit 0").allows();
        with("echo no >&2; exit 1").blocks("no");
        with("kill -9 $$").blocks("hook `hook` failed: killed by SIGKILL (fail closed)");
        let late = "hook `hook` failed: timed out after 300ms (fail closed)";
        with("sleep 600").blocks(late);
        with("trap '' TERM; while :; do sleep 600; done").blocks(late);
        with("(setsid setsid sleep 600 &); kill -STOP $$").blocks(late);
    }
}

#[test]
fn a_hook_has_a_moment_to_clean_up_at_its_timeout() {
    if let Some(containment) = namespaces() {
        let body = "trap 'touch cleaned; exit 0' TERM; sleep 600 & wait";
        let sandbox = gate(&format!("containment={containment} timeout=300ms"), body);
        sandbox.run("tool.pre").blocks_saying("timed out");
        sandbox.has_file("cleaned");
    }
}

#[test]
fn a_chain_of_forks_cannot_outrun_it() {
    let body = "n=${1:-0}; [ $n -lt 60 ] || exec sleep 600\n\
                setsid \"$0\" $((n + 1)) >/dev/null & exit 0";
    if let Some(containment) = namespaces() {
        asked(&format!("containment={containment}"), body).allows();
    }
}

#[test]
fn a_namespace_can_be_had_without_privileges() {
    let Some(words) = without_privileges() else {
        return skip("this build cannot be run without privileges");
    };
    if !works(&[&words[..], &["unshare"]].concat(), &["-Upf", "true"]) {
        return skip("users may make no user namespaces here");
    }
    for settings in [
        "containment=pidns",
        "containment=pidns sandbox limits.files=32",
    ] {
        let body = format!("echo $$ $(id -u) $(id -g); {DAEMON}");
        let ran = ran_without_privileges(&gate(settings, &body), &words);
        let (user, group) = if is_root() {
            (NOBODY.to_string(), NOBODY.to_string())
        } else {
            let ids = (rustix::process::getuid(), rustix::process::getgid());
            (ids.0.to_string(), ids.1.to_string())
        };
        ran.allows_with(json!({ "output": format!("2 {user} {group}") }));
        let ran = ran_without_privileges(&gate(settings, "echo no >&2; exit 255"), &words);
        ran.blocks("no");
    }
}

#[test]
fn in_a_namespace_limits_are_the_same() {
    if !has_namespaces() {
        return skip("no process namespace can be made here");
    }
    let with = |limit: &str| format!("containment=pidns {limit} timeout=1h");
    let ran = asked(&with("limits.cpu=1s"), "while :; do :; done");
    assert_eq!(struck(&ran, "cpu"), "used all of its 1s of processor time");
    asked(&with("limits.memory=64M"), &hold(100)).exits(2);
    // What hookrun puts around the hook is not the hook's.
    asked(
        &with("limits.memory=8M limits.cpu=1s"),
        "echo hi; read line",
    )
    .allows_with(json!({ "output": "hi" }));
    let all = with("limits.files=19 sandbox limits.memory=64M limits.output=1K");
    let body = "ulimit -n; touch x 2>/dev/null || echo denied";
    assert_eq!(output(&all, body), "19\ndenied");
}

#[test]
fn in_a_namespace_a_hook_is_the_second_process_and_ends_as_it_ended() {
    if !has_namespaces() {
        return skip("no process namespace can be made here");
    }
    assert_eq!(output("containment=pidns", "echo $$"), "2");
    for status in [1, 2, 3, 126, 127, 128, 137, 254, 255] {
        let report = gate("containment=pidns", &format!("exit {status}")).report("tool.pre", "{}");
        assert_eq!(report["hooks"][0]["status"], status, "{report:#}");
        let ending = if [126, 127].contains(&status) {
            "crashed"
        } else {
            "answered"
        };
        assert_eq!(report["hooks"][0]["ending"], ending, "{report:#}");
    }
    // All that end a process: no core is dumped, nothing is told in place of the signal.
    let signals = (1..=31).filter(|signal| ![17, 18, 19, 20, 21, 22, 23, 28].contains(signal));
    for signal in signals.chain([34, 40, 64]) {
        let body = format!("kill -{signal} $$; sleep 600");
        let ways = ["", "containment=pidns"].map(|settings| {
            let report = gate(&format!("timeout=9s {settings}"), &body).report("tool.pre", "{}");
            assert_eq!(
                report["hooks"][0]["ending"], "killed",
                "{signal}: {report:#}"
            );
            report["reason"].to_string()
        });
        assert_eq!(ways[0], ways[1]);
    }
}

#[test]
fn a_hook_that_signals_its_group_is_alone_in_it() {
    if let Some(containment) = namespaces() {
        let with = format!("containment={containment} timeout=1h");
        for signal in [
            "USR1", "USR2", "ALRM", "TERM", "INT", "HUP", "QUIT", "PIPE", "PROF", "WINCH",
        ] {
            let body = format!("trap 'echo got' {signal}; kill -{signal} 0; exit 0");
            assert_eq!(output(&with, &body), "got", "{signal}");
        }
        asked(&with, "kill -9 0; sleep 600").blocks_saying("killed by SIGKILL");
    }
}

#[test]
fn a_namespace_ends_at_the_very_moment_at_which_hookrun_is_killed() {
    if !has_namespaces() {
        return skip("no process namespace can be made here");
    }
    let body = format!("{DAEMON}\nsetsid sleep 600 & touch up; sleep 600");
    for moment in 0..40 {
        let sandbox = gate("containment=pidns timeout=1h", &body);
        let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
        // From before its start until the hook runs: none of these moments is special.
        std::thread::sleep(Duration::from_micros(moment * 500));
        end(running.pid(), "KILL");
        assert_eq!(running.ended().ran.status, -1);
    }
    let sandbox = gate("containment=pidns timeout=1h", &body);
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    wait_until("the hook runs", || sandbox.at("up").exists());
    end(running.pid(), "KILL");
    running.ended();
}

#[test]
fn hookrun_in_a_hook_can_do_the_same() {
    let program = env!("CARGO_BIN_EXE_hookrun");
    if let Some(containment) = namespaces() {
        let body = format!(
            "[ -n \"$INNER\" ] && {{ {DAEMON}\n echo inner $$ >&2; exit 1; }}\n\
             echo '{{\"toolName\":\"note\"}}' | INNER=1 {program} run tool.pre 2>&1 | grep -c '^inner'"
        );
        let ran = asked(&format!("containment={containment}"), &body);
        ran.allows_with(json!({ "output": "1" }));
    }
}

#[test]
fn containments_that_are_none_are_mistakes() {
    let manifest =
        "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"true\"\ncontainment = ";
    for (written, directive) in [("\"cgroups\"", "cgroups"), ("true", "true"), ("[]", "''")] {
        let tables = Sandbox::new()
            .file("hookrun.toml", &format!("{manifest}{written}\n"))
            .problems(&[]);
        let directives = gate(&format!("containment={directive}"), "true").problems(&[]);
        for problems in [tables, directives] {
            assert!(
                problems.len() == 1 && problems[0].contains("`containment`"),
                "{problems:?}"
            );
        }
    }
}
