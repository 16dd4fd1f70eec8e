//! `hookrun why`: what was decided, explained afterwards, and what hooks cost.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

const LOG: &str = "home/.local/state/hookrun/log/decisions.jsonl";

/// A guard that refuses, asks, fails or allows, by the command.
fn guarded() -> Sandbox {
    Sandbox::new().hook(
        "10-guard.sh",
        r#"case "$HOOKRUN_ACTION_COMMAND" in
            *push*) echo "no force push" >&2; exit 1 ;;
            *ask*) echo '{"ask":"really?"}' ;;
            *crash*) kill -SEGV $$ ;;
        esac"#,
    )
}

fn decide(sandbox: &Sandbox, session: &str, command: &str) {
    let context = json!({
        "sessionId": session, "toolName": "bash", "toolInput": { "command": command },
    });
    sandbox.hookrun(&["run", "tool.pre"], context.to_string().as_bytes());
}

fn why(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["why"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    sandbox.hookrun(&all, b"")
}

/// The commands of the decisions that are found, the oldest first.
#[track_caller]
fn found(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let all = [arguments, &["--format", "json"]].concat();
    let ran = why(sandbox, &all);
    let command = |line: &str| -> String {
        let line: Value = serde_json::from_str(line).unwrap();
        line["context"]["toolInput"]["command"]
            .as_str()
            .unwrap_or("none")
            .to_string()
    };
    ran.stdout.lines().map(command).collect()
}

#[test]
fn the_last_decision_is_explained_in_the_words_of_test() {
    let sandbox = guarded();
    decide(&sandbox, "s-1", "ls");
    decide(&sandbox, "s-1", "git push --force");
    let context = json!({
        "sessionId": "s-1", "toolName": "bash", "toolInput": { "command": "git push --force" },
    });
    let tested = sandbox.hookrun(&["test", "tool.pre"], context.to_string().as_bytes());

    let ran = why(&sandbox, &[]);

    ran.exits(0)
        .prints("tool.pre  a tool is about to run")
        .prints("session  s-1");
    assert_eq!(ran.stderr, "");
    // But for how long it took it is what `test` says of the same event.
    let told = |ran: &Ran| -> Vec<String> {
        let lines = ran
            .stdout
            .trim_end()
            .lines()
            .skip_while(|line| !line.contains("tool     bash"));
        let is_told =
            |line: &&str| !line.contains("took") && !line.contains("exit     status 1 after");
        lines.filter(is_told).map(str::to_string).collect()
    };
    assert_eq!(told(&ran), told(&tested));
}

#[test]
fn a_rewrite_and_hooks_that_did_not_run_are_explained_too() {
    let sandbox = Sandbox::new()
        .script(
            "hooks.d/tool.pre/10-rewrite.sh",
            "#!/bin/sh\n# hookrun: rewrite\necho '{\"update\":{\"toolInput\":{\"command\":\"ls -a\"}}}'\n",
        )
        .script("hooks.d/tool.pre/20-other.sh", "#!/bin/sh\n# hookrun: tool=write\n")
        .hook("30-no.sh", "exit 3")
        .hook("40-late.sh", "");
    decide(&sandbox, "s", "ls");
    why(&sandbox, &[])
        .exits(0)
        .prints("rewrite of toolInput by 10-rewrite.sh (not applied: the event was blocked)\n")
        .prints("  - toolInput.command: \"ls\"\n")
        .prints("skip    20-other.sh")
        .prints("exit     status 3 after")
        .prints("why      `30-no.sh` settled the event before this hook's turn");
}

#[test]
fn decisions_are_found_by_what_is_known_of_them() {
    let sandbox = guarded().hook_for("prompt.submit", "10-ok.sh", "");
    for (session, command) in [
        ("s-1", "ls"),
        ("s-1", "git push"),
        ("s-2", "ask me"),
        ("s-2", "crash"),
        ("s-2", "pwd"),
    ] {
        decide(&sandbox, session, command);
    }
    sandbox.run("prompt.submit").allows();
    let all = |arguments: &[&str]| found(&sandbox, &[&["--all"], arguments].concat());
    assert_eq!(
        all(&[]),
        ["ls", "git push", "ask me", "crash", "pwd", "none"]
    );
    assert_eq!(found(&sandbox, &[]), ["none"]);
    assert_eq!(found(&sandbox, &["-n", "2"]), ["pwd", "none"]);
    assert_eq!(all(&["--session", "s-1"]), ["ls", "git push"]);
    assert_eq!(found(&sandbox, &["--session", "s-1"]), ["git push"]);
    assert_eq!(all(&["--event", "PreToolUse"]).len(), 5);
    assert_eq!(all(&["--event", "prompt.submit"]), ["none"]);
    assert_eq!(all(&["--hook", "10-ok.sh"]), ["none"]);
    assert_eq!(
        all(&["--decision", "allow", "--hook", "10-guard.sh"]),
        ["ls", "pwd"]
    );
    assert_eq!(
        all(&["--decision", "block", "--session", "s-1"]),
        ["git push"]
    );
    assert_eq!(all(&["--failed"]), ["crash"]);
    assert_eq!(all(&["--host", "native", "--since", "1h"]).len(), 6);
    assert_eq!(all(&["--until", "2020-01-01"]), Vec::<String>::new());
    why(&sandbox, &["--host", "claude"])
        .exits(1)
        .says("no decision matches (6 decisions searched)");
    why(&sandbox, &["--host", "cluade"])
        .exits(2)
        .says("'claude'");
    why(&sandbox, &["--since", "60y"])
        .exits(2)
        .says("the time is before 1970");
}

#[test]
fn a_moment_is_a_date_a_time_or_so_long_ago() {
    let sandbox = guarded();
    decide(&sandbox, "s", "ls");
    let mut line = sandbox.read_json(LOG);
    line["time"] = "2026-01-31T09:30:00.000Z".into();
    fs::write(sandbox.at("kept.jsonl"), format!("{line}\n")).unwrap();
    for (since, status) in [
        ("2026-01-31", 0),
        ("2026-02-01", 1),
        ("2026-01-31T09:30:00", 0),
        ("2026-01-31 09:30:00", 0),
        ("2026-01-31 09:30:01", 1),
        ("2026-01-31T09:30:00Z", 0),
        ("2026-01-31T09:30:00.5Z", 1),
        ("2h", 1),
        ("500000h", 2),
        ("99999999999999h", 2),
    ] {
        let ran = why(&sandbox, &["--file", "kept.jsonl", "--since", since]);
        assert_eq!(ran.status, status, "{since}: {ran:?}");
    }
}

#[test]
fn several_decisions_stand_on_a_line_each() {
    let sandbox = guarded();
    decide(&sandbox, "s", "ls");
    decide(&sandbox, "s", &format!("git push {}", "x".repeat(200)));
    sandbox.hookrun(&["run", "tool.pre"], b"").exits(2);
    let ran = why(&sandbox, &["--all", "--brief"]);
    let lines: Vec<&str> = ran.stdout.lines().map(|line| &line[21..]).collect();
    assert!(lines[2].starts_with("BLOCK  tool.pre  hookrun itself: no event on stdin; pipe i"));
    assert!(
        lines[2].chars().count() > 70 && !lines[2].contains('…'),
        "{lines:?}"
    );
    let long = format!(
        "bash: git push {}…",
        "x".repeat(200 - "bash: git push ".len())
    );
    let blocked = format!("BLOCK  tool.pre  {long}  10-guard.sh: no force push");
    assert_eq!(
        lines[..2],
        ["allow  tool.pre  bash: ls  10-guard.sh", blocked.as_str()]
    );
    let ask = json!({ "tool_name": "Bash", "tool_input": { "command": "ask me" } });
    sandbox.ask("claude", "PreToolUse", &ask);
    why(&sandbox, &["--brief"]).prints("ASK    tool.pre  Bash: ask me  10-guard.sh: really?\n");
    let read = br#"{"toolName":"read","toolInput":{"path":"a.txt"}}"#;
    let sandbox = Sandbox::new().hook("10-guard.sh", "# hookrun: tool=bash");
    sandbox.hookrun(&["run", "tool.pre"], read).exits(0);
    why(&sandbox, &["--brief"]).prints("allow  tool.pre  read: a.txt  no hook ran\n");
}

#[test]
fn where_nothing_is_kept_it_says_why() {
    let sandbox = Sandbox::new();
    why(&sandbox, &[])
        .exits(1)
        .says("no decisions in `home/.local/state/hookrun/log` yet");
    let off = Sandbox::new().variable("HOOKRUN_DECISIONS", "off");
    why(&off, &[]).exits(2).says("HOOKRUN_DECISIONS is `off`");
    let homeless = sandbox.hookrun_as(|run| _ = run.env_remove("HOME"), &["why"], b"");
    homeless
        .exits(2)
        .says("the home folder is unknown: HOME is not set");
    let blocked = Sandbox::new().file("home/.local/state/hookrun/log", "in the way");
    why(&blocked, &[])
        .exits(1)
        .says("decisions are not logged: cannot write `");
    why(&sandbox, &["--file", "none.jsonl"])
        .exits(2)
        .says("none.jsonl: No such file");
    why(&sandbox, &["--since", "yesterday"])
        .exits(2)
        .says("2026-01-31T09:30:00Z");
}

#[test]
fn what_is_no_record_is_named_and_passed_over() {
    let sandbox = guarded();
    decide(&sandbox, "s", "ls");
    decide(&sandbox, "s", "pwd");
    let text = sandbox.read(LOG);
    let (first, second) = text.split_once('\n').unwrap();
    let newer = r#"{"hookrun":9,"decided":true}"#;
    let broken = format!("{first}\n\nnonsense\n{newer}\n{second}{}", &first[..100]);
    fs::write(sandbox.at("events.jsonl"), broken).unwrap();
    let ran = why(&sandbox, &["--all", "--brief", "--file", "events.jsonl"]);
    assert_eq!((ran.status, ran.stdout.lines().count()), (0, 2));
    for wanted in [
        "skipped events.jsonl:3: not a line of hookrun's decision log",
        "skipped events.jsonl:4: the line was written by a newer version of hookrun, in format 9",
        "skipped events.jsonl:6: the line is cut off",
    ] {
        ran.says(wanted);
    }
    let many = format!("{}{first}\n", "nonsense\n".repeat(30));
    fs::write(sandbox.at("events.jsonl"), many).unwrap();
    why(&sandbox, &["--all", "--file", "events.jsonl"])
        .exits(0)
        .says("skipped events.jsonl:10: ")
        .says("skipped 20 more lines\n");
}

#[test]
fn the_whole_log_is_read_across_its_files() {
    let sandbox = guarded();
    decide(&sandbox, "s", "first");
    for number in [2, 1] {
        let older = format!("home/.local/state/hookrun/log/decisions.{number}.jsonl");
        fs::rename(sandbox.at(LOG), sandbox.at(&older)).unwrap();
        decide(&sandbox, "s", &format!("after {number}"));
    }
    assert_eq!(found(&sandbox, &["--all"]), ["first", "after 2", "after 1"]);
    assert_eq!(found(&sandbox, &["-n", "2"]), ["after 2", "after 1"]);
}

#[test]
fn large_values_are_cut_in_the_log_and_whole_in_a_recording() {
    let sandbox = guarded();
    let input = json!({ "command": "ls", "content": "x".repeat(200_000) });
    let context = json!({ "toolName": "write", "toolInput": input }).to_string();
    let arguments = ["run", "tool.pre", "--record", "events.jsonl"];
    sandbox.hookrun(&arguments, context.as_bytes()).exits(0);
    why(&sandbox, &[])
        .exits(0)
        .prints("Truncated in the log: context.toolInput.content.");
    assert!(sandbox.read(LOG).len() < 20_000);
    let whole = why(&sandbox, &["--file", "events.jsonl", "--format", "json"]);
    assert!(whole.stdout.contains(&"x".repeat(200_000)));
}

#[test]
fn a_log_cannot_move_the_cursor() {
    let sandbox = Sandbox::new().hook("10-no.sh", r"printf 'a\033[31mb' >&2; exit 1");
    decide(&sandbox, "s\u{1b}[2J", "ls");
    for arguments in [&[][..], &["--brief"]] {
        let ran = why(&sandbox, arguments);
        assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    }
}

#[test]
fn statistics_count_what_each_hook_decided_and_cost() {
    let sandbox = guarded().hook("20-second-with-a-rather-long-name.sh", "sleep 0.05");
    for command in ["ls", "ls", "git push", "ask me", "crash"] {
        decide(&sandbox, "s", command);
    }
    let stats = sandbox.json(&["why", "--stats", "--format", "json"]);
    assert_eq!(
        (&stats["decisions"], &stats["allowed"]),
        (&json!(5), &json!(2))
    );
    // The one that took the most time is the first.
    let hooks = stats["hooks"].as_array().unwrap();
    assert!(
        hooks[0]["totalMs"].as_f64() >= hooks[1]["totalMs"].as_f64(),
        "{stats}"
    );
    let of = |name: &str| hooks.iter().find(|hook| hook["name"] == name).unwrap();
    let (guard, slow) = (
        of("10-guard.sh"),
        of("20-second-with-a-rather-long-name.sh"),
    );
    for (key, wanted) in [("calls", 5), ("blocked", 1), ("asked", 1), ("failed", 1)] {
        assert_eq!(guard[key], wanted, "{key}");
    }
    let ms = |key: &str| slow[key].as_f64().unwrap();
    assert!(ms("p50Ms") >= 50.0 && ms("p50Ms") <= ms("p99Ms") && ms("p99Ms") <= ms("maxMs"));
    assert!(ms("totalMs") >= 100.0);
}

#[test]
fn statistics_count_a_crash_as_a_failure_and_as_no_block() {
    let crashes = [
        "#!/bin/sh\nno-such-program-anywhere\n",
        "#!/bin/sh\nset -u; echo \"$no_such_variable\"\n",
        "#!/usr/bin/env python3\nraise SystemError(1)\n",
        "#!/bin/sh\nkill -SEGV $$\n",
        "#!/bin/sh\n# hookrun: on_failure=allow\nno-such-program-anywhere\n",
    ];
    for crash in crashes {
        let sandbox = Sandbox::new().script("hooks.d/tool.pre/10-crash", crash);
        decide(&sandbox, "s", "ls");
        decide(&sandbox, "s", "ls");
        let stats = sandbox.json(&["why", "--stats", "--format", "json"]);
        let hooks = stats["hooks"].as_array().unwrap();
        let counted = hooks
            .iter()
            .find(|hook| hook["name"] == "10-crash")
            .unwrap();
        let said = (&counted["failed"], &counted["blocked"], &counted["calls"]);
        assert_eq!(said, (&json!(2), &json!(0), &json!(2)), "{crash}: {stats}");
        assert_eq!(
            why(&sandbox, &["--failed", "--all", "--brief"])
                .stdout
                .lines()
                .count(),
            2
        );
    }
}

#[test]
fn statistics_are_a_table_in_80_columns() {
    let sandbox = guarded().hook("20-second-with-a-rather-long-name.sh", "sleep 0.05");
    for command in ["ls", "ls", "git push"] {
        decide(&sandbox, "s", command);
    }
    let ran = why(&sandbox, &["--stats"]);
    ran.exits(0)
        .prints("3 decisions: 2 allowed, 1 blocked, 0 asked, 0 failed\n")
        .prints(
            "hook                      calls blocked asked failed      p50      p99     total\n",
        )
        .prints("\n20-second-with-a-rathe…       2       0     0      0 ");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80));
    why(&sandbox, &["--stats", "--session", "none"]).exits(1);
}

/// Two projects with a hook of one name, and a folder below one of them.
#[test]
fn the_decisions_are_those_of_this_project_unless_everywhere() {
    let body = "#!/bin/sh\necho no >&2; exit 1\n";
    let sandbox = Sandbox::new()
        .script("one/hooks.d/tool.pre/a.sh", body)
        .script("two/hooks.d/tool.pre/a.sh", body)
        .file("one/below/file", "");
    let in_folder = |folder: &str, arguments: &[&str]| {
        let there = |command: &mut std::process::Command| {
            command.current_dir(sandbox.at(folder));
        };
        sandbox.hookrun_as(
            there,
            arguments,
            br#"{"toolName":"bash","toolInput":{"command":"ls"}}"#,
        )
    };
    for folder in ["one", "one/below", "two"] {
        in_folder(folder, &["run", "tool.pre"]).exits(2);
    }
    let count = |folder: &str, more: &[&str]| {
        let arguments = [&["why", "--all", "--format", "json"], more].concat();
        in_folder(folder, &arguments).stdout.lines().count()
    };
    for more in [&[][..], &["--decision", "block"], &["--hook", "a.sh"]] {
        assert_eq!((count("one", more), count("two", more)), (2, 1), "{more:?}");
        let everywhere = [more, &["--everywhere"]].concat();
        assert_eq!(
            (count("one", &everywhere), count("one/below", &everywhere)),
            (3, 3)
        );
    }
    assert_eq!(
        (count("one", &["-n", "1"]), count("one/below", &[])),
        (1, 2)
    );
    let stats = |more: &[&str]| {
        let ran = in_folder(
            "two",
            &[&["why", "--stats", "--format", "json"], more].concat(),
        );
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["decisions"].as_u64()
    };
    assert_eq!((stats(&[]), stats(&["--everywhere"])), (Some(1), Some(3)));
    let brief = in_folder("two", &["why", "--brief"]).stdout;
    assert!(
        brief.ends_with("BLOCK  tool.pre  bash: ls  a.sh: no\n"),
        "{brief}"
    );
    let brief = in_folder("two", &["why", "--brief", "--everywhere", "--all"]);
    let lines: Vec<&str> = brief.stdout.lines().collect();
    assert!(
        lines[2].contains("/two  tool.pre  bash: ls  a.sh: no")
            && lines[1].contains("/one/below  ")
    );

    // Where nobody has asked, it says so, and looks nowhere else unasked.
    let elsewhere = in_folder("home", &["why"]);
    elsewhere
        .exits(1)
        .says("3 decisions searched")
        .says("--everywhere searches all");
    in_folder("home", &["why", "--everywhere"])
        .exits(0)
        .prints("/two");
    let recorded = ["run", "tool.pre", "--record", "../recording"];
    in_folder("one", &recorded).exits(2);
    in_folder("home", &["why", "--file", "../recording"]).exits(0);
}

#[test]
fn a_block_of_what_names_no_event_is_explained() {
    let sandbox = Sandbox::new();
    let ran = sandbox.hookrun(&["run"], br#"{"hook_event_name":"Stop","session_id":"s"}"#);
    ran.exits(2);
    let page = why(&sandbox, &[]);
    page.exits(0)
        .prints("(no event)  hookrun could not determine the event\n");
    assert!(!page.stdout.contains("event of your own") && !page.stdout.contains("refused :"));
    let brief = why(&sandbox, &["--brief"]).stdout;
    assert!(
        brief.contains("BLOCK  (no event)  hookrun itself: "),
        "{brief}"
    );
}
