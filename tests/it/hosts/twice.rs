//! A call that comes in the forms of two hosts is decided once, and no refusal is lost by that.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use hookrun::hosts::facts::FACTS;
use hookrun::internals::runner::{CallClaim, FormOfCall};
use hookrun::{Budget, Environment, Event, Hook, Registry, Runner};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

const COUNTS: &str = "echo asked >> asked";
const KEPT: &str = "home/.local/state/hookrun/sessions/s/.hookrun";

/// What Cursor sends its own hooks before a shell command.
fn cursor(id: &str) -> Value {
    json!({
        "hook_event_name": "preToolUse", "conversation_id": "s", "tool_use_id": id,
        "tool_name": "Shell", "tool_input": {"command": "ls"},
    })
}

/// What hooks of Claude's settings get of that.
fn claude(id: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": id,
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    })
}

fn with(mut payload: Value, key: &str, value: &Value) -> Value {
    payload[key] = value.clone();
    payload
}

impl Sandbox {
    /// How often a hook was asked.
    fn asked(&self) -> usize {
        fs::read_to_string(self.at("asked"))
            .unwrap_or_default()
            .lines()
            .count()
    }

    /// Asks about both payloads, one after the other: how often a hook was asked.
    fn asked_about(&self, one: (&str, &Value), two: (&str, &Value)) -> usize {
        let before = self.asked();
        self.host(one.0, one.1);
        self.host(two.0, two.1);
        self.asked() - before
    }

    /// Moves the time at which what is kept was decided.
    fn decided_later(&self, seconds: i64) {
        for file in fs::read_dir(self.at(KEPT))
            .unwrap()
            .map(|file| file.unwrap().path())
        {
            let text = fs::read_to_string(&file).unwrap();
            // Beside it lies its lock.
            let Ok(mut kept) = serde_json::from_str::<Value>(&text) else {
                continue;
            };
            let at = kept["at"]["secs_since_epoch"].as_i64().unwrap();
            kept["at"]["secs_since_epoch"] = (at + seconds).into();
            fs::write(&file, kept.to_string()).unwrap();
        }
    }

    fn start(&self, host: &str, payload: &Value) -> Child {
        use std::io::Write;
        let mut child = self
            .command(&["run", "--host", host, "--budget=1h"])
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(payload.to_string().as_bytes()).unwrap();
        child
    }
}

/// Returns when `is_so`.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

/// Whether a process has come to what is kept of a call.
fn is_at_the_lock(child: &Child) -> bool {
    let files = fs::read_dir(format!("/proc/{}/fd", child.id()))
        .into_iter()
        .flatten()
        .flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links
        .into_iter()
        .any(|link| link.to_string_lossy().contains("/.hookrun/decided-"))
}

#[test]
fn a_refusal_is_said_in_both_forms_and_decided_once() {
    for (first, second) in [("cursor", "claude"), ("claude", "cursor")] {
        let sandbox = Sandbox::new().hook("deny", &format!("{COUNTS}; echo no >&2; exit 1"));
        let payload = |host: &str| {
            if host == "cursor" {
                cursor("1")
            } else {
                claude("1")
            }
        };
        for name in [first, second] {
            let host = super::HOSTS.iter().find(|host| host.name == name).unwrap();
            host.is_refused(&sandbox.host(name, &payload(name)), "no");
        }
        assert_eq!(sandbox.asked(), 1);
    }
}

/// What a host of this name sends its own hooks before a tool.
fn own_words(host: &str, file: &str) -> Value {
    let at = 1_763_753_543_123_u64;
    match host {
        "cursor" => cursor("1"),
        "copilot" => json!({
            "hook_event_name": "preToolUse", "sessionId": "s", "timestamp": at,
            "toolName": "bash", "toolArgs": "{\"command\": \"ls\"}",
        }),
        _ => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documented");
            let text = fs::read_to_string(folder.join(host).join(file)).unwrap();
            serde_json::from_str(&text).unwrap()
        }
    }
}

/// What it sends hooks that it finds in Claude's settings or another host's: most send the same.
fn words_for_others(host: &str, file: &str) -> Value {
    match host {
        "cursor" => claude("1"),
        "copilot" => json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "timestamp": "2025-11-21T19:32:23.123Z", "tool_input": {"command": "ls"},
        }),
        _ => own_words(host, file),
    }
}

#[test]
fn a_host_that_reads_settings_of_another_gets_one_decision_in_words_that_block_there() {
    let mut pairs = 0;
    for facts in FACTS {
        let others = facts
            .reads
            .iter()
            .map(|one| one.host)
            .chain(facts.converts.iter().copied());
        for (other, file) in
            others.flat_map(|it| ["PreToolUse.json", "PreToolUse-edit.json"].map(|file| (it, file)))
        {
            pairs += 1;
            let host = facts.host;
            let own = own_words(host, file);
            let theirs = with(words_for_others(host, file), "cwd", &own["cwd"]);
            // The command in a file of Copilot's names the event.
            let event = if other == "copilot" {
                &["preToolUse"][..]
            } else {
                &[]
            };
            let entry = [&["run"], event, &["--host", other]].concat();
            for is_own_first in [true, false] {
                let sandbox =
                    Sandbox::new().hook("deny", &format!("{COUNTS}; echo no >&2; exit 1"));
                let by_own = || sandbox.host(host, &own);
                let by_other = || sandbox.hookrun(&entry, theirs.to_string().as_bytes());
                let answers = match is_own_first {
                    true => [by_own(), by_other()],
                    false => [by_other(), by_own()],
                };
                for ran in answers {
                    assert_eq!(
                        (ran.status, ran.stderr.as_str()),
                        (2, "no\n"),
                        "{host}, {other}: {ran:?}"
                    );
                }
                assert_eq!(
                    sandbox.asked(),
                    1,
                    "{host}, {other}, {file}, own first: {is_own_first}"
                );
            }
        }
    }
    assert!(pairs >= 16, "{pairs}");
}

#[test]
fn grok_gets_its_own_words_also_where_it_asks_by_claudes_settings_or_cursors() {
    let sandbox = Sandbox::new().hook("deny", "echo no >&2; exit 1");
    for other in ["claude", "cursor"] {
        let payload = own_words("grok", "PreToolUse.json");
        let ran = sandbox.host(other, &with(payload, "toolUseId", &other.into()));
        assert_eq!(
            ran.stdout, "{\"decision\":\"deny\",\"reason\":\"no\"}\n",
            "{ran:?}"
        );
        assert_eq!(ran.status, 2);
    }
    // A host that does not read Gemini's settings has no business there.
    let ran = sandbox.host("gemini", &own_words("grok", "PreToolUse.json"));
    ran.exits(2).says("no event is named");
}

#[test]
fn what_was_said_beside_an_allow_is_said_in_both_forms() {
    let answer = r#"{"additionalContext": "mind the gap"}"#;
    let sandbox =
        Sandbox::new().hook_for("tool.post", "teach", &format!("{COUNTS}; echo '{answer}'"));
    let of_cursor = json!({
        "hook_event_name": "postToolUse", "conversation_id": "s", "tool_use_id": "1",
        "tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_output": "{}",
    });
    let of_claude = with(claude("1"), "hook_event_name", &"PostToolUse".into());
    let ran = sandbox.host("cursor", &of_cursor);
    assert_eq!(ran.stdout, "{\"additional_context\":\"mind the gap\"}\n");
    let ran = sandbox.host("claude", &of_claude);
    let specific = json!({"hookEventName": "PostToolUse", "additionalContext": "mind the gap"});
    ran.allows_with(json!({ "hookSpecificOutput": specific }));
    assert_eq!(sandbox.asked(), 1);
}

#[test]
fn an_outcome_too_long_to_keep_is_decided_in_each_form() {
    let answer =
        r#"printf '{"additionalContext": "%s"}' "$(head -c 300000 /dev/zero | tr '\0' x)""#;
    let sandbox = Sandbox::new().hook_for("tool.post", "teach", &format!("{COUNTS}; {answer}"));
    let of_cursor = json!({
        "hook_event_name": "postToolUse", "conversation_id": "s", "tool_use_id": "1",
        "tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_output": "{}",
    });
    let of_claude = with(claude("1"), "hook_event_name", &"PostToolUse".into());
    assert_eq!(
        sandbox.asked_about(("cursor", &of_cursor), ("claude", &of_claude)),
        2
    );
}

#[test]
fn a_report_says_for_whom_it_was_decided() {
    let sandbox = Sandbox::new().hook("fine", COUNTS);
    sandbox.host("cursor", &cursor("1")).allows();
    let arguments = ["run", "--host", "claude", "--format", "json"];
    let report = |sandbox: &Sandbox| -> Value {
        let ran = sandbox.hookrun(&arguments, claude("1").to_string().as_bytes());
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let earlier = report(&sandbox);
    assert_eq!(earlier["decidedEarlierFor"], "cursor preToolUse");
    let hook = &earlier["hooks"][0];
    assert_eq!(hook["fate"], "idle");
    assert_eq!(
        hook["why"],
        "it already ran for this call, as `cursor preToolUse`"
    );
    // Who asks for the second time asks anew.
    assert_eq!(report(&sandbox)["decidedEarlierFor"], Value::Null);
    assert_eq!(sandbox.asked(), 2);
}

#[test]
fn the_two_spellings_of_copilot_are_one_call_in_the_same_millisecond() {
    let sandbox = Sandbox::new().hook("deny", &format!("{COUNTS}; exit 1"));
    let camel = |timestamp: u64| {
        json!({
            "hook_event_name": "preToolUse", "sessionId": "s", "timestamp": timestamp,
            "toolName": "bash", "toolArgs": "{\"command\": \"ls\"}",
        })
    };
    let snake = |timestamp: Value| {
        json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": timestamp,
            "tool_name": "Bash", "tool_input": {"command": "ls"},
        })
    };
    let at = 1_763_753_543_123_u64;
    let text = json!("2025-11-21T19:32:23.123Z");
    for (other, same) in [
        ("copilot", json!(at)),
        ("claude", text.clone()),
        ("claude", json!(at)),
    ] {
        let (camel, snake) = (camel(at), snake(same));
        assert_eq!(
            sandbox.asked_about(("copilot", &camel), (other, &snake)),
            1,
            "{snake}"
        );
    }
    let coarse = json!("2025-11-21T19:32:23Z");
    for other in [json!(at + 1), coarse, Value::Null] {
        let (camel, snake) = (camel(at), snake(other));
        assert_eq!(
            sandbox.asked_about(("copilot", &camel), ("claude", &snake)),
            2,
            "{snake}"
        );
        fs::remove_dir_all(sandbox.at(KEPT)).unwrap();
    }
}

#[test]
fn what_is_not_certainly_the_same_call_is_decided_anew() {
    let sandbox = Sandbox::new().hook("deny", &format!("{COUNTS}; exit 1"));
    let asked = |host: &str, payload: &Value| {
        sandbox.asked_about(("cursor", &cursor("1")), (host, payload))
    };
    let other_command = json!({"command": "rm -rf /"});
    let other_session = with(claude("1"), "session_id", &"another".into());
    assert_eq!(asked("claude", &claude("2")), 2, "another call");
    assert_eq!(asked("claude", &other_session), 2, "another session");
    assert_eq!(
        asked("claude", &with(claude("1"), "tool_input", &other_command)),
        2,
        "another input"
    );
    assert_eq!(
        asked("claude", &with(claude("1"), "tool_use_id", &Value::Null)),
        2,
        "no id"
    );
    assert_eq!(asked("cursor", &cursor("1")), 2, "the same form");
    assert_eq!(asked("claude", &claude("1")), 1, "the same call");
}

#[test]
fn a_hook_that_has_changed_meanwhile_is_asked() {
    let sandbox = Sandbox::new().hook("guard", COUNTS);
    sandbox.host("cursor", &cursor("1")).allows();
    let sandbox = sandbox.hook("guard", &format!("{COUNTS}; exit 1"));
    sandbox.host("claude", &claude("1")).exits(2);
    assert_eq!(sandbox.asked(), 2);
    let sandbox = sandbox.hook("another", COUNTS);
    sandbox.host("cursor", &cursor("2")).exits(2);
    fs::remove_file(sandbox.at("hooks.d/tool.pre/another")).unwrap();
    sandbox.host("claude", &claude("2")).exits(2);
    assert_eq!(sandbox.asked(), 5);
}

#[test]
fn an_allow_is_not_taken_over_by_a_hook_that_is_told_something_else() {
    // A shell tool that nobody knows as one.
    let guard = format!("{COUNTS}; test \"$HOOKRUN_TOOL_NAME\" = Bash && exit 2; exit 0");
    let sandbox = Sandbox::new().hook("guard", &guard);
    sandbox
        .host("cursor", &with(cursor("1"), "tool_name", &"Mine".into()))
        .allows();
    sandbox.host("claude", &claude("1")).exits(2);
    // A hook of a host's is told that host's words.
    let sandbox = Sandbox::new().hook_of("claude", "PreToolUse", "guard", COUNTS);
    assert_eq!(
        sandbox.asked_about(("cursor", &cursor("1")), ("claude", &claude("1"))),
        2
    );
    // What it looks at comes under another key.
    let sandbox = Sandbox::new().hook("guard", "grep -q '\"file\"' && exit 2; exit 0");
    let write = |payload: Value, input: &Value| {
        with(
            with(payload, "tool_name", &"Write".into()),
            "tool_input",
            input,
        )
    };
    let one = json!({"file_path": "a", "content": "x"});
    let two = json!({"file_path": "a", "content": "x", "file": "a"});
    sandbox.host("cursor", &write(cursor("1"), &one)).allows();
    sandbox.host("claude", &write(claude("1"), &two)).exits(2);
}

#[test]
fn an_allow_counts_for_seconds_and_a_refusal_for_good() {
    // The clock of whoever decided may have been ahead of ours.
    for (status, seconds, asked) in [(0, -10, 2), (0, 3600, 2), (1, -100_000, 1), (1, 3600, 1)] {
        let sandbox = Sandbox::new().hook("guard", &format!("{COUNTS}; exit {status}"));
        sandbox.host("cursor", &cursor("1"));
        sandbox.decided_later(seconds);
        sandbox.host("claude", &claude("1"));
        assert_eq!(sandbox.asked(), asked, "{status} {seconds}");
    }
}

#[test]
fn a_refusal_is_taken_over_in_another_folder_and_an_allow_is_not() {
    for (status, asked) in [(0, 2), (1, 1)] {
        let sandbox = Sandbox::new();
        let body = format!("cd '{}'; {COUNTS}; exit {status}", sandbox.path().display());
        let sandbox = sandbox.hook("guard", &body);
        let elsewhere = with(claude("1"), "cwd", &json!(sandbox.at("home")));
        assert_eq!(
            sandbox.asked_about(("cursor", &cursor("1")), ("claude", &elsewhere)),
            asked
        );
    }
}

#[test]
fn what_cannot_be_refused_is_done_once_but_a_rewrite_needs_the_same_input() {
    let rewrites =
        format!("# hookrun: rewrite\n{COUNTS}; echo '{{\"update\":{{\"result\":\"x\"}}}}'");
    for (body, asked) in [(COUNTS, 1), (&rewrites, 2)] {
        let sandbox = Sandbox::new().hook_for("tool.post", "hook", body);
        let of = |payload: Value, name: &str| with(payload, "hook_event_name", &name.into());
        let longer = json!({"command": "ls", "description": "looks"});
        let of_claude = with(of(claude("1"), "PostToolUse"), "tool_input", &longer);
        let of_cursor = with(of(cursor("1"), "postToolUse"), "tool_output", &"{}".into());
        let found = sandbox.asked_about(("cursor", &of_cursor), ("claude", &of_claude));
        assert_eq!(found, asked, "{body}");
    }
}

#[test]
fn a_call_waits_for_no_other_and_few_files_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let state_home = Some(folder.path().to_path_buf());
    let env = Environment {
        state_home,
        ..Environment::capture()
    };
    let hook = Hook::shell("guard", "tool.pre", "true");
    let runner = Runner::embedded(Registry::new([hook]).unwrap(), &env);
    let event = Event::tool_pre("bash", json!({"command": "ls"}))
        .build()
        .unwrap();
    // One that waited for another would wait for this long.
    let budget = Budget::from(Instant::now(), Duration::from_secs(86_400));
    let claim = |id: usize| {
        let call = FormOfCall {
            session: "s".into(),
            id: id.to_string(),
            form: "a".into(),
        };
        runner.once(&event, &call, Some(budget))
    };
    let is_held = |claim: &CallClaim| matches!(claim, CallClaim::Now(Some(_)));
    let claims: Vec<CallClaim> = (0..512).map(claim).collect();
    let held = claims.iter().filter(|claim| is_held(claim)).count();
    assert!((2..=64).contains(&held), "{held}");
    drop(claims);
    assert!(is_held(&claim(511)), "nobody holds its place any more");
    let kept = folder.path().join("hookrun/sessions/s/.hookrun");
    assert!(fs::read_dir(kept).unwrap().count() <= 128);
}

/// A hook that is asked, and refuses when there is a file `go`.
fn slow() -> Sandbox {
    // It ends by itself if the test does not.
    let waits = "n=0; while [ ! -e go ] && [ $n -lt 12000 ]; do sleep 0.01; n=$((n+1)); done";
    let body = format!("# hookrun: timeout=1h\n{COUNTS}; {waits}; echo no >&2; exit 1");
    Sandbox::new().hook("slow", &body)
}

#[test]
fn two_forms_at_once_are_decided_once() {
    let sandbox = slow();
    let first = sandbox.start("cursor", &cursor("1"));
    until(|| sandbox.asked() == 1);
    let second = sandbox.start("claude", &claude("1"));
    until(|| is_at_the_lock(&second));
    let sandbox = sandbox.file("go", "");
    for child in [first, second] {
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.status, ran.stderr.as_str()), (2, "no\n"), "{ran:?}");
    }
    assert_eq!(sandbox.asked(), 1);
}

#[test]
fn where_the_first_is_killed_the_second_decides() {
    let sandbox = slow();
    let mut first = sandbox.start("cursor", &cursor("1"));
    until(|| sandbox.asked() == 1);
    let second = sandbox.start("claude", &claude("1"));
    until(|| is_at_the_lock(&second));
    // Longer than a hook runs before the keeper watches it: what is killed earlier leaves its hook.
    std::thread::sleep(Duration::from_millis(1000));
    first.kill().unwrap();
    first.wait().unwrap();
    until(|| sandbox.asked() == 2);
    let _sandbox = sandbox.file("go", "");
    let ran = Ran::from(second.wait_with_output().unwrap());
    assert_eq!((ran.status, ran.stderr.as_str()), (2, "no\n"), "{ran:?}");
}

#[test]
fn a_second_run_waits_no_longer_than_its_budget_and_then_refuses() {
    let sandbox = slow();
    let first = sandbox.start("cursor", &cursor("1"));
    until(|| sandbox.asked() == 1);
    let arguments = ["run", "--host", "claude", "--budget", "2s"];
    let ran = sandbox.hookrun(&arguments, claude("1").to_string().as_bytes());
    ran.exits(2).says("the budget of 2s was used up");
    let _sandbox = sandbox.file("go", "");
    first.wait_with_output().unwrap();
}

#[test]
fn claude_itself_is_known_and_asks_once() {
    let sandbox = Sandbox::new().hook("fine", COUNTS);
    let itself = Sandbox::new()
        .hook("fine", COUNTS)
        .variable("CLAUDE_CODE_SESSION_ID", "s");
    itself.host("claude", &claude("1")).allows();
    itself.has_no_file(KEPT);
    // A host that was started in a session of Claude's has another one.
    let sandbox = sandbox.variable("CLAUDE_CODE_SESSION_ID", "around");
    assert_eq!(
        sandbox.asked_about(("claude", &claude("1")), ("cursor", &cursor("1"))),
        1
    );
}

#[test]
fn no_file_is_touched_where_no_call_can_come_twice() {
    let quiet = |sandbox: &Sandbox| sandbox.has_no_file(KEPT);
    let sandbox = Sandbox::new().hook("fine", COUNTS);
    sandbox.host("codex", &claude("1")).allows();
    sandbox
        .host(
            "gemini",
            &with(claude("1"), "hook_event_name", &"BeforeTool".into()),
        )
        .allows();
    sandbox
        .hookrun(
            &["run", "tool.pre"],
            br#"{"toolName": "x", "sessionId": "s", "toolUseId": "1"}"#,
        )
        .allows();
    let test = ["test", "preToolUse", "--host", "cursor"];
    sandbox
        .hookrun(&test, cursor("1").to_string().as_bytes())
        .exits(0);
    quiet(&sandbox);
    let unwanted = format!("# hookrun: tool=write\n{COUNTS}");
    let sandbox = Sandbox::new().hook("unwanted", &unwanted);
    sandbox.host("cursor", &cursor("1")).allows();
    quiet(&sandbox);
}

#[test]
fn a_hook_that_runs_hookrun_does_not_wait_for_itself() {
    let inner = format!(
        "{} run --host cursor --hooks inner",
        env!("CARGO_BIN_EXE_hookrun")
    );
    let sandbox = Sandbox::new()
        .hook_of("cursor", "preToolUse", "outer", &format!("exec {inner}"))
        .script(
            "inner/hooks.d/tool.pre/deny",
            "#!/bin/sh\necho inner >&2; exit 1\n",
        );
    sandbox.host("cursor", &cursor("1")).exits(2).says("inner");
}

#[test]
fn where_nothing_can_be_kept_both_decide() {
    let sandbox = Sandbox::new()
        .hook("fine", COUNTS)
        .file("home/.local/state/hookrun", "not a folder");
    assert_eq!(
        sandbox.asked_about(("cursor", &cursor("1")), ("claude", &claude("1"))),
        2
    );
    let sandbox = Sandbox::new().hook("fine", COUNTS);
    sandbox.host("cursor", &cursor("1")).allows();
    for file in fs::read_dir(sandbox.at(KEPT)).unwrap() {
        fs::write(file.unwrap().path(), "{\"call\": 1").unwrap();
    }
    sandbox.host("claude", &claude("1")).allows();
    assert_eq!(sandbox.asked(), 2);
}
