//! An agent that hooks never let stop: after some refusals in a row it stops.

use std::fs;
use std::path::Path;

use hookrun::internals::config::Environment;
use hookrun::internals::event::{Context, Event, catalog};
use hookrun::internals::hook::Hook;
use hookrun::internals::outcome::Verdict;
use hookrun::internals::registry::Registry;
use hookrun::internals::runner::Runner;
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

const LET_STOP: &str = "times in a row; the agent may stop now, so that the session does not loop";

/// Where `HOME` of a sandbox keeps what hookrun keeps of a session.
const STATE: &str = "home/.local/state/hookrun";

fn never_done() -> Sandbox {
    let refuse = "echo 'run the tests first' >&2; exit 1";
    Sandbox::new()
        .hook_for("agent.stop", "never", refuse)
        .hook_for("subagent.stop", "never", refuse)
}

impl Sandbox {
    fn stop(&self, context: &Value) -> Ran {
        self.hookrun(&["run", "agent.stop"], context.to_string().as_bytes())
    }

    /// Whether a stop was refused, so many times in a row.
    #[track_caller]
    fn is_blocked_then_let_go(&self, host: &str, payload: &Value, cap: usize) {
        for number in 1..=cap {
            let ran = self.host(host, payload);
            assert!(is_block(&ran), "{host} {number}: {ran:?}");
        }
        let ran = self.host(host, payload);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (0, ""),
            "{host}: {ran:?}"
        );
        ran.says(&format!(
            "hookrun: blocked {cap} {LET_STOP}; the last reason: run the tests"
        ));
    }
}

fn is_block(ran: &Ran) -> bool {
    ran.stderr.contains("run the tests first") && !ran.stderr.contains(LET_STOP)
}

#[test]
fn every_host_lets_an_agent_stop_after_its_number_of_blocks() {
    for (host, event, cap) in [
        ("claude", "Stop", 8),
        ("claude", "SubagentStop", 8),
        ("codex", "Stop", 8),
        ("gemini", "AfterAgent", 8),
        ("cursor", "stop", 5),
        ("cursor", "subagentStop", 5),
        ("copilot", "agentStop", 8),
    ] {
        let session = match host {
            "cursor" => "conversation_id",
            "copilot" => "sessionId",
            _ => "session_id",
        };
        let payload = json!({"hook_event_name": event, session: "s"});
        never_done().is_blocked_then_let_go(host, &payload, cap);
    }
}

#[test]
fn a_host_that_tells_of_one_block_is_believed() {
    let payload = json!({"hook_event_name": "Stop", "session_id": "s", "stop_hook_active": true});
    let sandbox = never_done();
    for _ in 0..7 {
        assert!(is_block(&sandbox.host("claude", &payload)));
    }
    sandbox
        .host("claude", &payload)
        .allows()
        .says("blocked 8")
        .says(LET_STOP);
}

#[test]
fn after_it_was_let_stop_the_count_begins_anew() {
    let sandbox = never_done();
    let payload = json!({"hook_event_name": "stop", "conversation_id": "s"});
    sandbox.is_blocked_then_let_go("cursor", &payload, 5);
    sandbox.is_blocked_then_let_go("cursor", &payload, 5);
}

#[test]
fn a_native_stop_is_blocked_eight_times_in_a_row() {
    let sandbox = never_done();
    let context = json!({"sessionId": "s"});
    for _ in 0..8 {
        sandbox.stop(&context).blocks("run the tests first");
    }
    sandbox
        .stop(&json!({"sessionId": "another"}))
        .blocks("run the tests first");
    let ran = sandbox.hookrun(
        &["run", "agent.stop", "--format", "json"],
        context.to_string().as_bytes(),
    );
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.status, &report["decision"]), (0, &json!("allow")));
    let notice = &report["notices"][0];
    assert_eq!(
        (&notice["hook"], &notice["kind"]),
        (&json!("hookrun"), &json!("own"))
    );
    assert!(
        notice["text"].as_str().unwrap().contains(LET_STOP),
        "{notice}"
    );
}

#[test]
fn an_allowed_stop_begins_a_new_row() {
    let sandbox = Sandbox::new().hook_for("agent.stop", "maybe", "test -e done");
    let context = json!({"sessionId": "s"});
    for _ in 0..7 {
        sandbox.stop(&context).exits(2);
    }
    fs::write(sandbox.at("done"), "").unwrap();
    sandbox.stop(&context).allows();
    fs::remove_file(sandbox.at("done")).unwrap();
    for _ in 0..8 {
        sandbox.stop(&context).exits(2);
    }
    sandbox.stop(&context).allows().says(LET_STOP);
}

#[test]
fn a_host_that_says_that_no_hook_keeps_it_going_begins_a_new_row() {
    let sandbox = never_done();
    let stop = |active: bool| json!({"sessionId": "s", "stopHookActive": active});
    for _ in 0..10 {
        sandbox.stop(&stop(false)).exits(2);
    }
    for _ in 0..7 {
        sandbox.stop(&stop(true)).exits(2);
    }
    sandbox.stop(&stop(true)).allows().says(LET_STOP);
}

#[test]
fn without_a_session_what_the_host_tells_counts_alone() {
    let sandbox = never_done();
    for _ in 0..10 {
        sandbox.stop(&json!({})).exits(2);
        sandbox.stop(&json!({"stopHookActive": true})).exits(2);
    }
    let cursor = |loops: u32| {
        let payload =
            json!({"hook_event_name": "stop", "status": "completed", "loop_count": loops});
        sandbox.host("cursor", &payload)
    };
    assert!(is_block(&cursor(4)));
    cursor(5).allows().says("blocked 5").says(LET_STOP);
    cursor(u32::MAX).allows().says(LET_STOP);
    // With one, whoever has counted more is right.
    let context = |loops: u32| json!({"sessionId": "s", "loopCount": loops});
    sandbox.stop(&context(6)).exits(2);
    sandbox
        .stop(&context(8))
        .allows()
        .says("blocked 8")
        .says(LET_STOP);
    sandbox.has_no_file(&format!("{STATE}/sessions/no-session/.hookrun"));
}

#[test]
fn each_subagent_is_counted_by_itself() {
    let sandbox = never_done();
    let stop = |agent: &str| {
        let context = json!({"sessionId": "s", "agentId": agent}).to_string();
        sandbox.hookrun(&["run", "subagent.stop"], context.as_bytes())
    };
    for _ in 0..8 {
        stop("a").exits(2);
        stop("b").exits(2);
    }
    stop("a").allows().says(LET_STOP);
    stop("c").exits(2);
    stop("b").allows().says(LET_STOP);
    sandbox.stop(&json!({"sessionId": "s"})).exits(2);
}

#[test]
fn a_question_that_nobody_answers_counts_as_a_block() {
    let sandbox = Sandbox::new().hook_for("agent.stop", "ask", "echo '{\"ask\": \"done?\"}'");
    let context = json!({"sessionId": "s"});
    for _ in 0..8 {
        sandbox.stop(&context).exits(2).says("done?");
    }
    sandbox.stop(&context).allows().says(LET_STOP);
}

#[test]
fn a_broken_configuration_does_not_keep_an_agent_at_work() {
    let sandbox = Sandbox::new().file("hookrun.toml", "[[hook]]\nnam = 1\n");
    sandbox
        .stop(&json!({"sessionId": "s"}))
        .allows()
        .says("hookrun.toml:1:1: the hook has no `command` (and 2 more errors)");
}

#[test]
fn where_nothing_can_be_counted_the_block_stands_and_a_notice_says_so() {
    let sandbox = never_done().file(STATE, "not a folder");
    let context = json!({"sessionId": "s"}).to_string();
    for _ in 0..9 {
        let ran = sandbox.hookrun(
            &["run", "agent.stop", "--format", "json"],
            context.as_bytes(),
        );
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (ran.status, &report["decision"]),
            (2, &json!("block")),
            "{ran:?}"
        );
        let notice = report["notices"][0]["text"].as_str().unwrap();
        assert!(
            notice.starts_with(
                "this block does not count towards the limit of 8 in a row: cannot use `"
            ),
            "{notice}"
        );
    }
}

#[test]
fn what_was_tested_is_neither_counted_nor_let_go() {
    let sandbox = never_done();
    let context = json!({"sessionId": "s"}).to_string();
    for _ in 0..10 {
        sandbox
            .hookrun(&["test", "agent.stop"], context.as_bytes())
            .exits(1);
    }
    for _ in 0..8 {
        sandbox
            .hookrun(&["run", "agent.stop"], context.as_bytes())
            .exits(2);
    }
    sandbox
        .hookrun(&["test", "agent.stop"], context.as_bytes())
        .exits(1);
    sandbox
        .hookrun(&["run", "agent.stop"], context.as_bytes())
        .allows()
        .says(LET_STOP);
}

#[test]
fn no_file_is_touched_for_what_is_allowed_or_has_no_limit() {
    let kept = format!("{STATE}/sessions/s/.hookrun");
    let sandbox = Sandbox::new()
        .hook_for("agent.stop", "fine", "exit 0")
        .hook_for("tool.pre", "deny", "exit 1");
    let context = json!({"sessionId": "s"}).to_string();
    sandbox
        .hookrun(&["run", "agent.stop"], context.as_bytes())
        .allows();
    sandbox
        .hookrun(&["run", "tool.pre"], context.as_bytes())
        .exits(2);
    sandbox.has_no_file(&kept);
}

#[test]
fn a_runner_of_a_program_counts_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let runner = in_library(folder.path());
    let event = stop_of("s");
    for _ in 0..8 {
        assert!(runner.handle(&event).outcome.block().is_some());
    }
    let run = runner.handle(&event);
    assert!(run.outcome.is_allowed() && run.outcome.notices[0].text.contains(LET_STOP));
    let rehearsal = in_library(folder.path()).rehearsal();
    for _ in 0..10 {
        assert!(rehearsal.handle(&event).outcome.block().is_some());
    }
}

#[test]
fn the_counts_of_a_session_are_not_lost_where_many_stop_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (runner, event) = (in_library(folder.path()), stop_of("s"));
    let refusals = std::thread::scope(|scope| {
        let stop = || {
            (0..6)
                .filter(|_| runner.handle(&event).outcome.block().is_some())
                .count()
        };
        let all: Vec<_> = (0..3).map(|_| scope.spawn(stop)).collect();
        all.into_iter()
            .map(|one| one.join().unwrap())
            .sum::<usize>()
    });
    assert_eq!(refusals, 16, "of 18, two are let go");
}

fn in_library(state: &Path) -> Runner {
    let never = Hook::function("never", "agent.stop", |_| Verdict::block("not yet"));
    let env = Environment {
        state_home: Some(state.to_path_buf()),
        ..Environment::capture()
    };
    Runner::embedded(Registry::new([never]).unwrap(), &env)
}

fn stop_of(session: &str) -> Event {
    let spec = std::sync::Arc::new(catalog::find("agent.stop").unwrap().clone());
    let context = json!({ "sessionId": session }).to_string();
    Event::new(spec, "native", Context::parse(context).unwrap()).unwrap()
}
