//! `run --record`, and what the decision log keeps: whole lines, no secrets, and no decision that
//! depends on them.

mod cut;
mod files;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Where a user's decisions are kept.
const LOG: &str = "home/.local/state/hookrun/log/decisions.jsonl";

fn lines(sandbox: &Sandbox, file: &str) -> Vec<Value> {
    let text = sandbox.read(file);
    assert!(text.ends_with('\n'), "{text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn record(sandbox: &Sandbox, event: &str, context: &Value) {
    sandbox.hookrun(
        &["run", event, "--record", "events.jsonl"],
        context.to_string().as_bytes(),
    );
}

#[test]
fn an_event_is_recorded_as_it_was_told_with_all_that_became_of_it() {
    let sandbox = Sandbox::new()
        .script(
            "hooks.d/tool.pre/10-rewrite.sh",
            "#!/bin/sh\n# hookrun: rewrite\necho '{\"update\":{\"toolInput\":{\"command\":\"ls\"}}}'\n",
        )
        .hook("20-refuse.sh", "echo no >&2; exit 1");
    let input = json!({ "command": "rm x", "n": 1.50 });
    let context = json!({ "sessionId": "s-1", "toolName": "bash", "toolInput": input });

    record(&sandbox, "tool.pre", &context);

    let line = &lines(&sandbox, "events.jsonl")[0];
    assert_eq!(
        (&line["hookrun"], &line["event"]),
        (&json!(1), &json!("tool.pre"))
    );
    assert_eq!(
        (&line["host"], &line["session"]),
        (&json!("native"), &json!("s-1"))
    );
    assert_eq!(line["cwd"], sandbox.path().to_str().unwrap());
    assert_eq!(line["context"]["toolInput"], input, "before the rewrite");
    assert_eq!(line["run"]["decision"], "block");
    assert_eq!(line["run"]["decidedBy"], "20-refuse.sh");
    assert_eq!(line["run"]["rewrites"][0]["new"]["command"], "ls");
    assert_eq!(line["run"]["reply"]["status"], 2);
    let took = line["run"]["hooks"][0]["tookMs"].as_f64().unwrap();
    let microseconds = took * 1e3;
    assert!(
        took > 0.0 && (microseconds - microseconds.round()).abs() < 1e-6,
        "{took}"
    );
    let logged = &lines(&sandbox, LOG)[0];
    assert_eq!(logged["run"], line["run"]);
}

#[test]
fn events_that_nobody_wants_are_recorded_and_not_logged() {
    let sandbox = Sandbox::new();
    record(&sandbox, "tool.pre", &json!({ "toolName": "note" }));
    assert_eq!(
        lines(&sandbox, "events.jsonl")[0]["run"]["decision"],
        "allow"
    );
    sandbox.run("tool.pre").allows();
    sandbox.has_no_file(LOG);
}

#[test]
fn a_variable_records_as_well() {
    let sandbox = Sandbox::new().variable("HOOKRUN_RECORD", "events.jsonl");
    sandbox.run("tool.pre").allows();
    sandbox.run("session.start").allows();
    let events = lines(&sandbox, "events.jsonl");
    assert_eq!(
        (&events[0]["event"], &events[1]["event"]),
        (&json!("tool.pre"), &json!("session.start"))
    );
}

#[test]
fn a_host_is_recorded_with_its_own_words() {
    let sandbox = Sandbox::new().hook("10-no.sh", "echo no >&2; exit 1");
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "c-1", "tool_name": "Bash",
        "tool_input": { "command": "ls" },
    });
    let arguments = ["run", "--host", "claude", "--record", "events.jsonl"];
    sandbox.hookrun(&arguments, payload.to_string().as_bytes());
    let line = &lines(&sandbox, "events.jsonl")[0];
    assert_eq!(
        (&line["host"], &line["session"]),
        (&json!("claude"), &json!("c-1"))
    );
    assert_eq!(line["context"]["raw"]["tool_name"], "Bash");
    assert_eq!(line["run"]["reply"]["stderr"], "no\n");
}

#[test]
fn a_block_of_our_own_is_kept_too() {
    let sandbox = Sandbox::new();
    sandbox.hookrun(&["run", "tool.pre"], b"").exits(2);
    let line = &lines(&sandbox, LOG)[0];
    assert_eq!(
        (&line["run"]["decision"], &line["run"]["cause"]),
        (&json!("block"), &json!("failure"))
    );
    assert!(line.get("context").is_none(), "{line}");
}

#[test]
fn hooks_of_a_detached_event_are_kept_by_who_runs_them() {
    let sandbox = Sandbox::new().hook_for("message.sent", "10-done.sh", "echo done");
    let event = json!({ "content": "hi" }).to_string();
    sandbox
        .hookrun(
            &["run", "message.sent", "--record", "events.jsonl"],
            event.as_bytes(),
        )
        .allows();
    // The process that supervises them outlives the reply.
    while !sandbox
        .at("events.jsonl")
        .metadata()
        .is_ok_and(|meta| meta.len() > 0)
    {
        thread::sleep(std::time::Duration::from_millis(5));
    }
    let hook = &lines(&sandbox, "events.jsonl")[0]["run"]["hooks"][0];
    assert_eq!(
        (&hook["fate"], &hook["stdout"]["text"]),
        (&json!("ran"), &json!("done\n"))
    );
    assert_eq!(lines(&sandbox, LOG).len(), 1);
}

#[test]
fn secrets_are_in_no_file_that_is_kept() {
    let secret = format!("ghp_{}", "a1".repeat(18));
    let sandbox = Sandbox::new()
        .hook(
            "10-chatty.sh",
            &format!("echo 'found {secret} and TICKET-12' >&2; exit 1"),
        )
        .file("hookrun.toml", "[log]\nredact = ['TICKET-\\d+']\n");
    record(
        &sandbox,
        "tool.pre",
        &json!({ "toolName": "bash", "toolInput": { "command": format!("x {secret}") } }),
    );
    for file in ["events.jsonl", LOG] {
        let text = sandbox.read(file);
        assert!(
            !text.contains(&secret) && !text.contains("TICKET-12"),
            "{text}"
        );
        assert!(
            text.contains("[redacted:github-token]") && text.contains("[redacted:own]"),
            "{text}"
        );
    }
}

#[test]
fn what_cannot_be_read_as_a_rule_is_a_problem_and_keeps_contexts_out_of_files() {
    let sandbox = Sandbox::new().hook("10-no.sh", "exit 1").file(
        "hookrun.toml",
        "[log]\nredact = [\"fine\", '(x', '']\nenabld = true\n",
    );
    let problems = sandbox.problems(&[]).join("\n");
    for wanted in [
        "hookrun.toml:2:19: `(x` cannot be used to find secrets",
        "hookrun.toml:2:25",
        "`enabled`",
    ] {
        assert!(problems.contains(wanted), "{problems}");
    }
    record(&sandbox, "tool.pre", &json!({ "toolName": "note" }));
    let line = &lines(&sandbox, "events.jsonl")[0];
    assert_eq!(line["run"]["decision"], "block");
    assert!(line.get("context").is_none(), "{line}");
}

#[test]
fn writers_at_the_same_time_lose_no_line_and_mix_none() {
    let sandbox = Sandbox::new().hook("10-ok.sh", "exit 0");
    let long = "x".repeat(300_000);
    thread::scope(|scope| {
        for writer in 0..6 {
            let (sandbox, long) = (&sandbox, &long);
            scope.spawn(move || {
                for number in 0..5 {
                    let text = if number % 2 == 0 { long } else { "" };
                    let input = json!({ "content": text, "writer": writer });
                    record(
                        sandbox,
                        "tool.pre",
                        &json!({ "toolName": "w", "toolInput": input }),
                    );
                }
            });
        }
    });
    let events = lines(&sandbox, "events.jsonl");
    assert_eq!((events.len(), lines(&sandbox, LOG).len()), (30, 30));
    for event in events {
        let length = event["context"]["toolInput"]["content"]
            .as_str()
            .unwrap()
            .len();
        assert!(length == 0 || length == 300_000, "{length}");
    }
}

#[test]
fn a_full_disk_changes_no_decision() {
    let sandbox = Sandbox::new().hook("10-no.sh", "echo no >&2; exit 1");
    sandbox.run("tool.pre").blocks("no");
    let before = sandbox.read(LOG);
    // No file may grow beyond one block; a system that is asked to kills the writer.
    let script = "ulimit -f 1; exec \"$0\" run tool.pre --record events.jsonl";
    let ran = sandbox.hookrun_by_shell(
        script,
        format!("{{\"toolName\":\"{}\"}}", "x".repeat(5000)).as_bytes(),
    );
    ran.exits(2)
        .says("no\ncannot record the event: cannot write `");
    assert_eq!(ran.stdout, "{\"continue\":false,\"reason\":\"no\"}\n");
    assert_eq!(sandbox.read(LOG), before);
}

#[test]
fn a_folder_that_cannot_be_written_changes_no_decision_and_costs_no_word() {
    let sandbox = Sandbox::new().hook("10-no.sh", "echo no >&2; exit 1");
    fs::create_dir_all(sandbox.at("home/.local/state/hookrun")).unwrap();
    let digest = sandbox.digest();
    let blocked = sandbox.file("home/.local/state/hookrun/log", "in the way");
    blocked.run("tool.pre").blocks("no");
    blocked
        .hookrun(&["run", "tool.pre", "--record", "no/such/folder"], b"{}")
        .exits(2)
        .says("no/such");
    // Without a home there is nowhere to keep it.
    let homeless = blocked.hookrun_as(
        |run| _ = run.env_remove("HOME"),
        &["run", "tool.pre", "--trust", &digest],
        b"{}",
    );
    homeless.blocks("no");
}

#[test]
fn the_log_is_for_its_owner_only() {
    let sandbox = Sandbox::new().hook("10-ok.sh", "");
    sandbox.run("tool.pre").allows();
    let mode = |path: &str| sandbox.at(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(LOG), mode("home/.local/state/hookrun/log")),
        (0o600, 0o700)
    );
}

#[test]
fn the_log_is_switched_off_by_its_user_and_not_by_a_project() {
    let off = Sandbox::new()
        .hook("10-ok.sh", "")
        .variable("HOOKRUN_DECISIONS", "off");
    off.run("tool.pre").allows();
    off.has_no_file(LOG);
    let off = Sandbox::new()
        .hook("10-ok.sh", "")
        .file(
            "home/.config/hookrun/hookrun.toml",
            "[log]\nenabled = false\n",
        )
        .trusted();
    off.run("tool.pre").allows();
    off.has_no_file(LOG);
    let on = Sandbox::new()
        .hook("10-ok.sh", "")
        .file("hookrun.toml", "[log]\nenabled = false\n");
    on.run("tool.pre")
        .blocks_saying("a project cannot disable the decision log");
    on.has_file(LOG);
    assert!(on.problems(&[])[0].contains("a project cannot disable the decision log"));
    let elsewhere = Sandbox::new()
        .hook("10-ok.sh", "")
        .variable("HOOKRUN_DECISIONS", "kept");
    elsewhere.run("tool.pre").allows();
    elsewhere.has_file("kept/decisions.jsonl");
}

#[test]
fn a_home_that_has_gone_is_not_made_again_for_the_log() {
    let sandbox = Sandbox::new().hook("hook", "rm -r home; echo no >&2; exit 1");
    sandbox.run("tool.pre").blocks("no");
    sandbox.has_no_file("home");
}

#[test]
fn a_test_is_not_logged() {
    let sandbox = Sandbox::new().hook("10-ok.sh", "");
    sandbox.hookrun(&["test", "tool.pre"], b"{}").exits(0);
    sandbox.has_no_file(LOG);
}

#[test]
fn a_line_that_was_cut_off_does_not_swallow_the_next() {
    let sandbox = Sandbox::new().file("events.jsonl", "{\"hookrun\":1,\"time\":\"20");
    record(&sandbox, "tool.pre", &json!({}));
    let text = sandbox.read("events.jsonl");
    assert_eq!(text.lines().count(), 2);
    assert!(serde_json::from_str::<Value>(text.lines().last().unwrap()).is_ok());
}

#[test]
fn whoever_keeps_the_lock_of_a_recording_keeps_no_decision() {
    let sandbox = Sandbox::new()
        .hook("10-no.sh", "echo no >&2; exit 1")
        .file("events.jsonl", "");
    let held = fs::File::open(sandbox.at("events.jsonl")).unwrap();
    held.lock().unwrap();
    let ran = sandbox.hookrun(&["run", "tool.pre", "--record", "events.jsonl"], b"{}");
    ran.exits(2)
        .says("no\ncannot record the event: cannot write `");
    ran.says("another process holds the lock");
    assert_eq!(lines(&sandbox, LOG).len(), 1);
}
