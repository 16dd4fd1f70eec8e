//! hookrun says its decision before the host gives up, in every host.

use std::process::Stdio;
use std::time::Duration;

use hookrun::hosts::{self, Binding, Wait};
use hookrun::internals::hook::parse_duration;
use serde_json::{Value, json};

use crate::install::{HOSTS, Host};
use crate::sandbox::{Ran, Sandbox};

const HANGS: &str = "exec sleep 1000";

fn shown(event: &str) -> Value {
    json!({"hook_event_name": event, "session_id": "s", "delta": "x"})
}

#[test]
fn a_hook_that_takes_longer_than_the_host_waits_is_ended_before() {
    let sandbox = Sandbox::new().hook_for("message.display", "hangs", HANGS);
    let payload = shown("MessageDisplay").to_string();
    for command in [["run", "MessageDisplay"], ["test", "MessageDisplay"]] {
        let arguments = [&command[..], &["--host", "claude", "--format", "json"]].concat();
        let ran = sandbox.hookrun(&arguments, payload.as_bytes());
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            report["hooks"][0]["failure"], "the budget of 5s was used up",
            "{ran:?}"
        );
    }
}

#[test]
fn the_end_of_a_session_is_over_within_the_second_that_hosts_give_it() {
    let sandbox = Sandbox::new().hook_for(
        "session.end",
        "hangs",
        &format!("trap '' TERM; echo $$ > pid\n{HANGS}"),
    );
    for (host, budget) in [("claude", "750ms"), ("codex", "500ms")] {
        let payload = shown("SessionEnd").to_string();
        let ran = sandbox.hookrun(&["run", "--host", host], payload.as_bytes());
        // The second is what is said where a busy machine took the time for something else.
        let in_time = [
            format!("the budget of {budget} was used up"),
            "in time".to_string(),
        ];
        let on_stdin = format!("arrived on stdin within {budget}");
        let is_said = in_time
            .iter()
            .chain([&on_stdin])
            .any(|text| ran.stderr.contains(text));
        assert!(is_said, "{host}: {ran:?}");
    }
}

#[test]
fn a_budget_that_is_given_counts_instead_of_the_hosts() {
    for host in super::HOSTS {
        let body = format!("# hookrun: timeout=1h\n{HANGS}");
        let sandbox = Sandbox::new().hook("hangs", &body);
        let payload = host.before("ls").to_string();
        let arguments = ["run", "--host", host.name, "--budget", "2s"];
        let ran = sandbox.hookrun(&arguments, payload.as_bytes());
        let reason = "hook `hangs` failed: the budget of 2s was used up (fail closed)";
        host.is_blocked(&ran, reason);
    }
}

#[test]
fn an_event_that_never_comes_is_awaited_for_the_budget_only() {
    let sandbox = Sandbox::new();
    let arguments = [
        "run",
        "MessageDisplay",
        "--host",
        "claude",
        "--stdin-timeout",
        "1h",
    ];
    let mut child = sandbox
        .command(&arguments)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = child.stdin.take();
    let ran = Ran::from(child.wait_with_output().unwrap());
    drop(pipe);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    ran.says("no complete input arrived on stdin within 5s");
}

#[test]
fn what_is_installed_ends_before_the_host_gives_up() {
    for host in HOSTS
        .iter()
        .filter(|host| host.project.ends_with(".json") && host.name != "kiro")
    {
        let sandbox = Sandbox::new().hook("hook", "exit 0");
        sandbox
            .hookrun(&["install", host.name, "--all-events"], b"")
            .exits(0);
        let settings: Value = sandbox.read_json(host.project);
        let table = if settings["hookrun"].is_null() {
            "hooks"
        } else {
            "hookrun"
        };
        let events = settings[table].as_object().unwrap();
        let count = hosts::find(host.name).unwrap().events.len();
        assert!(events.len() > count / 2, "{}", host.name);
        for (event, hooks) in events {
            let hook = if hooks[0]["hooks"].is_array() {
                &hooks[0]["hooks"][0]
            } else {
                &hooks[0]
            };
            if host.name == "windsurf" {
                // It has no setting for that.
                assert!(hook.get("timeout").is_none() && !hook.to_string().contains("--budget"));
                continue;
            }
            let (waits, budget) = times(host, event, hook);
            assert!(
                Wait::last_word(budget) < waits,
                "{} {event}: {hook}",
                host.name
            );
            assert!(
                waits - budget <= hosts::MARGIN,
                "{} {event}: {hook}",
                host.name
            );
        }
    }
}

/// How long the host waits for a hook in its settings, and the budget of hookrun.
fn times(host: &Host, event: &str, hook: &Value) -> (Duration, Duration) {
    let (key, command) = match host.name {
        "copilot" => ("timeoutSec", "bash"),
        _ => ("timeout", "command"),
    };
    let waits = hook[key].as_u64().unwrap();
    let waits = if matches!(host.name, "gemini" | "qwen") {
        Duration::from_millis(waits)
    } else {
        Duration::from_secs(waits)
    };
    let (_, given) = hook[command]
        .as_str()
        .unwrap()
        .split_once(" --budget ")
        .unzip();
    let budget = given.map_or_else(
        || binding(host.name, event).budget().unwrap(),
        |given| parse_duration(given.split(' ').next().unwrap()).unwrap(),
    );
    (waits, budget)
}

fn binding(host: &str, event: &str) -> Binding {
    hosts::find(host).unwrap().called(event)[0]
}

#[test]
fn doctor_names_a_time_after_which_the_host_does_not_wait_for_the_block() {
    for (host, old, new, said) in [
        (
            "claude",
            "600",
            "595",
            "waits only 9m 55s, but hookrun may take up to 9m 55s",
        ),
        (
            "gemini",
            "600000",
            "60000",
            "waits only 1m, but hookrun may take up to 9m 55s",
        ),
        (
            "copilot",
            "595s",
            "601s",
            "waits only 10m, but hookrun may take up to 10m 1s",
        ),
    ] {
        let host = HOSTS.iter().find(|one| one.name == host).unwrap();
        let sandbox = Sandbox::new().hook("hook", "exit 0");
        sandbox.hookrun(&["install", host.name], b"").exits(0);
        let trusted = format!("{{\"{}\": \"TRUST_FOLDER\"}}", sandbox.path().display());
        let sandbox = sandbox.file("home/.gemini/trustedFolders.json", &trusted);
        let doctor = ["doctor", host.name];
        sandbox.hookrun(&doctor, b"").exits(0);
        let text = sandbox.read(host.project).replace(old, new);
        let sandbox = sandbox.file(host.project, &text);
        sandbox
            .hookrun(&doctor, b"")
            .exits(1)
            .prints(said)
            .prints("a block after that is lost");
        sandbox.hookrun(&["install", host.name], b"").exits(0);
        sandbox.hookrun(&doctor, b"").exits(0);
    }
}

#[test]
fn the_times_of_a_host_are_shown() {
    let shown = |event: &str, host: &str| {
        Sandbox::new()
            .hookrun(&["events", event, "--host", host], b"")
            .stdout
    };
    let end = shown("SessionEnd", "claude");
    assert!(
        end.contains("1s 500ms, or up to 1m if the host's settings allow it"),
        "{end}"
    );
    assert!(end.contains("750ms"), "{end}");
    let cursor = shown("stop", "cursor");
    assert!(
        cursor.contains("undocumented; 30s is assumed to be safe"),
        "{cursor}"
    );
    let all = ["events", "--host", "codex", "--format", "json"];
    let all = Sandbox::new().json(&all);
    let wait = |event: &str| {
        let events = all["events"].as_array().unwrap().iter();
        events.into_iter().find(|one| one["name"] == event).unwrap()["wait"].clone()
    };
    let known = |usual: u64, longest: Value, budget: u64| {
        json!({
            "usualMs": usual, "longestMs": longest, "known": true, "budgetMs": budget,
        })
    };
    assert_eq!(wait("PreToolUse"), known(600_000, Value::Null, 595_000));
    assert_eq!(wait("Interrupt"), known(1000, json!(3000), 500));
}
