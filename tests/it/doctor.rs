//! `hookrun doctor`: what keeps a host from reaching hookrun, and a hook from its event.

mod accepted;
mod dropped;
mod evidence;
mod switches;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hookrun::hosts::installable;
use serde_json::{Value, json};

use crate::install::{HOSTS, Host, project};
use crate::sandbox::{GUARD, Sandbox, with_program};

/// The problems that `doctor` finds, as `severity file: cause [cure]`, and its exit status; without
/// when a host last asked.
#[track_caller]
fn problems(sandbox: &Sandbox, host: &str) -> (i32, Vec<String>) {
    let (status, mut found) = everything(sandbox, host);
    found.retain(|one| {
        !one.starts_with("note ") && !one.contains("has not run it in this project yet")
    });
    (status, found)
}

#[track_caller]
fn everything(sandbox: &Sandbox, host: &str) -> (i32, Vec<String>) {
    let ran = sandbox.hookrun(&["doctor", host, "--format", "json"], b"");
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let mut found = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for problem in file["problems"].as_array().unwrap() {
            let text = |key: &str| problem[key].as_str().unwrap_or_default().to_string();
            let mut place = file["file"].as_str().unwrap().to_string();
            if problem["line"].is_u64() {
                place = format!("{place}:{}:{}", problem["line"], problem["column"]);
            }
            let severity = text("severity");
            found.push(format!(
                "{severity} {place}: {} [{}]",
                text("cause"),
                text("cure")
            ));
        }
    }
    (ran.status, found)
}

/// A project in which hookrun is installed into `host`.
fn installed(host: &str) -> Sandbox {
    let sandbox = project();
    sandbox.hookrun(&["install", host], b"").exits(0);
    accepted::by_a_person(sandbox)
}

#[test]
fn what_was_just_installed_is_in_order() {
    for host in HOSTS {
        let sandbox = installed(host.name);
        let (status, mut found) = problems(&sandbox, host.name);
        found.retain(|problem| {
            !problem.contains("does not send session.start, so `hello` cannot run")
        });
        assert_eq!((status, found), (0, Vec::new()), "{}", host.name);
        let ran = sandbox.hookrun(&["doctor"], b"");
        let events = match host.name {
            // Its Tab reads files without a tool.
            "cursor" => 3,
            // It has an event for each sort of tool.
            "windsurf" => 4,
            "kimi" => {
                ran.exits(0).prints("for 14 events in user scope");
                continue;
            }
            "crush" | "agy" | "cline" => {
                ran.exits(0).prints("for 1 event in project scope");
                continue;
            }
            _ => 2,
        };
        ran.exits(0)
            .prints(&format!("for {events} events in project scope"));
    }
}

#[test]
fn a_host_that_does_not_ask_is_a_problem_only_if_it_was_named() {
    let sandbox = project();
    let said = sandbox.hookrun(&["doctor"], b"").exits(0).stdout.clone();
    assert!(said.contains("no agent was found here\n"), "{said}");
    let sandbox = sandbox.file(".codex/hooks.json", "{}");
    let said = sandbox.hookrun(&["doctor"], b"").exits(0).stdout.clone();
    let wanted =
        "agents without hookrun: Codex (`hookrun install` lists the commands to install it)\n";
    assert!(said.contains(wanted), "{said}");
    let (status, found) = problems(&sandbox, "codex");
    let wanted = "error .codex/hooks.json: Codex does not call hookrun [`hookrun install codex`]";
    assert_eq!((status, found), (1, vec![wanted.to_string()]));
}

#[test]
fn a_program_that_is_gone_is_named() {
    for host in HOSTS {
        let sandbox = installed(host.name);
        let gone = with_program(&sandbox.read(host.project), "/gone/hookrun");
        let sandbox = sandbox.file(host.project, &gone);
        let (status, found) = problems(&sandbox, host.name);
        assert_eq!(status, 1);
        let said = "cannot start hookrun: `/gone/hookrun`";
        let all = found.iter().filter(|one| one.contains(said)).count();
        let files = if host.name == "cline" { 1 } else { all };
        assert_eq!((all, files), (1, 1), "{found:?}");
    }
}

#[test]
fn a_command_that_runs_hookrun_in_a_way_of_its_own_is_reported() {
    let program = env!("CARGO_BIN_EXE_hookrun");
    for (command, is_other) in [
        (format!("{program} run --host gemini"), true),
        (format!("{program} run --host claude || true"), true),
        (format!("{program} run --host claude | tee log"), true),
        (format!("'{program}' run tool.pre"), true),
        (
            "cd sub && hookrun run --host claude; exit 0".to_string(),
            true,
        ),
        ("cd /repos/hookrun && cargo run".to_string(), false),
        (
            "\"$HOME/bin/hookrun\" run --host claude; true".to_string(),
            true,
        ),
        ("sh -c 'exec hookrun run tool.pre'".to_string(), true),
        (
            "echo hookrun; echo 'hookrun run' # hookrun run".to_string(),
            false,
        ),
    ] {
        let hook = json!({"hooks": {"PreToolUse": [{
            "matcher": "*", "hooks": [{"type": "command", "command": command}],
        }]}});
        let sandbox = project().file(".claude/settings.json", &hook.to_string());
        let said = format!("`{command}` for PreToolUse runs hookrun in a custom way");
        for is_installed in [false, true] {
            if is_installed {
                sandbox.hookrun(&["install", "claude"], b"").exits(0);
            }
            let (_, found) = problems(&sandbox, "claude");
            let has_it = found
                .iter()
                .any(|one| one.contains(&said) && one.starts_with("warning"));
            assert_eq!(has_it, is_other, "{command} {found:?}");
            let does_not_ask = found
                .iter()
                .any(|one| one.contains("does not call hookrun"));
            assert_eq!(
                does_not_ask,
                !is_other && !is_installed,
                "{command} {found:?}"
            );
        }
    }
}

#[test]
fn a_script_of_cline_that_is_not_executable_is_an_error() {
    for name in ["PreToolUse", "TaskStart"] {
        let sandbox = installed("cline");
        let file = sandbox.at(&format!(".clinerules/hooks/{name}"));
        let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        let (status, found) = problems(&sandbox, "cline");
        assert_eq!(status, 1, "{found:?}");
        let cause = format!(
            "error .clinerules/hooks/{name}: this file is not executable, so Cline does not run it [`chmod +x {}`]",
            file.display()
        );
        assert_eq!(found, [cause]);
        mode(0o755);
        assert_eq!(problems(&sandbox, "cline"), (0, Vec::new()));
    }
}

#[test]
fn what_has_to_be_trusted_is_in_the_cure_of_a_host_that_was_never_seen() {
    for known in installable() {
        let sandbox = project();
        let scope: &[&str] = if known.name == "kimi" {
            &["--scope", "user"]
        } else {
            &[]
        };
        sandbox
            .hookrun(&[&["install", known.name], scope].concat(), b"")
            .exits(0);
        let (_, found) = everything(&sandbox, known.name);
        let unseen = found
            .iter()
            .find(|one| one.contains("has not run it in this project yet"));
        let Some(unseen) = unseen else {
            // A plugin asks in hookrun's own words, and the log does not say for which host.
            assert!(
                known.settings.is_none() && known.name != "cline",
                "{}: {found:?}",
                known.name
            );
            continue;
        };
        let cure = known.trust.map_or(format!("use {}", known.title), |step| {
            format!("{step}; then use")
        });
        assert!(
            unseen.contains(&format!("[{cure}")),
            "{}: {unseen}",
            known.name
        );
    }
}

#[test]
fn a_hook_that_cannot_start_is_an_error_here_too() {
    let sandbox = installed("claude").file("hooks.d/tool.pre/20-flat.sh", "#!/bin/sh\nexit 1\n");
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!(status, 1);
    assert!(found[0].contains("is not executable"), "{found:?}");
    let ran = sandbox.hookrun(&["validate"], b"");
    ran.exits(1).prints("is not executable");
}

#[test]
fn another_version_is_named_unless_it_lies_in_the_project() {
    let elsewhere = Sandbox::new().script("bin/hookrun", "#!/bin/sh\necho hookrun 0.0.1\n");
    let other = elsewhere.at("bin/hookrun");
    let sandbox = installed("claude");
    let text = sandbox.read(".claude/settings.json");
    let sandbox = sandbox.file(
        ".claude/settings.json",
        &with_program(&text, other.to_str().unwrap()),
    );
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!((status, found.len()), (0, 1), "{found:?}");
    assert!(
        found[0].contains("runs hookrun 0.0.1, but you run hookrun "),
        "{found:?}"
    );

    let sandbox = sandbox
        .script("bin/hookrun", "#!/bin/sh\ntouch started\n")
        .file(".claude/settings.json", &with_program(&text, "bin/hookrun"));
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!(status, 0, "{found:?}");
    assert!(found[0].contains("is in the project"), "{found:?}");
    sandbox.has_no_file("started");
}

#[test]
fn a_program_that_never_answers_is_not_waited_for() {
    let elsewhere = Sandbox::new().script("hookrun", "#!/bin/sh\nsleep 1000\n");
    let sandbox = installed("claude");
    let other = elsewhere.at("hookrun");
    let text = sandbox.read(".claude/settings.json");
    let text = with_program(&text, other.to_str().unwrap());
    let sandbox = sandbox.file(".claude/settings.json", &text);
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!(status, 1);
    assert!(
        found[0].contains("hookrun --version` did not end within 5s"),
        "{found:?}"
    );
}

#[test]
fn an_event_that_a_hook_wants_and_nobody_tells_is_named() {
    let has_stop = |host: &&Host| {
        let dialect = hookrun::hosts::find(host.name);
        host.project.ends_with(".json")
            && dialect.is_some_and(|it| it.events.iter().any(|row| row.event == "agent.stop"))
    };
    for host in HOSTS.iter().filter(has_stop) {
        let sandbox = installed(host.name).hook_for("agent.stop", "done", "exit 0");
        let (status, found) = problems(&sandbox, host.name);
        assert_eq!(status, 1);
        let found: Vec<String> = found
            .into_iter()
            .filter(|it| !it.contains("has no session.start"))
            .collect();
        assert!(found[0].contains("it does not run `done`"), "{found:?}");
        assert!(
            found[0].contains(&format!("hookrun install {}", host.name)),
            "{found:?}"
        );
    }
}

#[test]
fn hooks_that_take_longer_than_the_host_waits_are_named() {
    let sandbox = project();
    sandbox.hookrun(&["install", "codex"], b"").exits(0);
    let sandbox = accepted::by_a_person(sandbox);
    let sandbox = sandbox.script(
        "hooks.d/tool.pre/slow",
        "#!/bin/sh\n# hookrun: timeout=20m\nexit 0\n",
    );
    let (status, found) = problems(&sandbox, "codex");
    assert_eq!(status, 0);
    assert!(
        found[0].contains("Codex waits only 600s for PreToolUse"),
        "{found:?}"
    );
}

#[test]
fn two_installs_that_ask_twice_are_named() {
    let sandbox = installed("codex");
    sandbox
        .hookrun(&["install", "codex", "--scope", "user"], b"")
        .exits(0);
    let sandbox = accepted::by_a_person(sandbox);
    let (status, found) = problems(&sandbox, "codex");
    assert_eq!(status, 0);
    let said = "Codex runs hookrun twice for SessionStart, PreToolUse: from this file and from `";
    assert!(found[0].contains(said), "{found:?}");
}

#[test]
fn settings_that_do_not_parse_are_named_with_their_place() {
    let sandbox = project().file(".claude/settings.json", "{\n  \"a\" 1\n}\n");
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!(status, 1);
    assert!(
        found[0].starts_with("error .claude/settings.json:2:"),
        "{found:?}"
    );
}

#[test]
fn a_switch_that_would_let_failures_pass_is_named() {
    for (host, key) in [("claude", "onFailure"), ("cursor", "failClosed")] {
        let sandbox = installed(host);
        let file = HOSTS.iter().find(|one| one.name == host).unwrap().project;
        let text = sandbox.read(file).replace(key, "other");
        let sandbox = sandbox.file(file, &text);
        // The guard in the command still blocks.
        assert_eq!(problems(&sandbox, host), (0, Vec::new()));
        let own = env!("CARGO_BIN_EXE_hookrun");
        let bare = with_program(&text, own).replace(&GUARD.replace('"', "\\\""), "");
        let sandbox = sandbox.file(file, &bare);
        let (status, found) = problems(&sandbox, host);
        assert_eq!(status, 1);
        let said = "nothing blocks if hookrun is missing or killed";
        assert!(found.iter().any(|one| one.contains(said)), "{found:?}");
        sandbox.hookrun(&["install", host], b"").exits(0);
        assert_eq!(problems(&sandbox, host), (0, Vec::new()));
    }
}

#[test]
fn hooks_that_are_switched_off_as_a_whole_are_named() {
    let sandbox = installed("claude");
    let text = sandbox.read(".claude/settings.json");
    let text = text.replacen('{', "{\n  \"disableAllHooks\": true,", 1);
    let sandbox = sandbox.file(".claude/settings.json", &text);
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!(status, 1);
    assert!(found[0].contains("`disableAllHooks` is true"), "{found:?}");

    let sandbox = installed("codex").file(".codex/config.toml", "[features]\nhooks = false\n");
    let (status, found) = problems(&sandbox, "codex");
    let wanted = "error .codex/config.toml: `features.hooks` is false, so hookrun does not run [remove `features.hooks`]";
    assert_eq!((status, found), (1, vec![wanted.to_string()]));
}

#[test]
fn a_gate_that_a_host_only_tells_of_and_a_hook_that_matches_nothing_are_named() {
    let sandbox = Sandbox::new().hook_for("prompt.submit", "censor", "exit 0");
    let sandbox = sandbox.script("hooks.d/tool.pre/typo", "#!/bin/sh\n# hookrun: tool=bahs\n");
    sandbox.hookrun(&["install", "goose"], b"").exits(0);
    let (status, found) = problems(&sandbox, "goose");
    assert_eq!(status, 0, "{found:?}");
    let all = found.join("\n");
    assert!(
        all.contains("only reports prompt.submit, so `censor` cannot block there"),
        "{all}"
    );
    assert!(all.contains("no known agent has a tool `bahs`"), "{all}");
}

#[test]
fn every_format_of_validate_is_a_format_of_doctor() {
    let sandbox = installed("claude");
    for (format, start) in [("junit", "<?xml"), ("github", "")] {
        let ran = sandbox.hookrun(&["doctor", "--format", format], b"");
        assert!(ran.exits(0).stdout.starts_with(start), "{ran:?}");
    }
}

#[test]
fn a_log_that_cannot_be_written_is_a_warning() {
    let sandbox = Sandbox::new().file("home/.local/state/hookrun/log", "in the way");
    sandbox
        .hookrun(&["doctor"], b"")
        .exits(0)
        .prints("home/.local/state/hookrun/log")
        .prints("decisions are not logged");
    sandbox.has_no_file("home/.local/state/hookrun/log/decisions.jsonl");
}

#[test]
fn a_full_disk_is_a_warning_and_the_attempt_leaves_nothing() {
    let sandbox = Sandbox::new().hook("10-no.sh", "exit 1");
    sandbox.run("tool.pre").exits(2);
    let script = "ulimit -f 1; exec \"$0\" doctor";
    let ran = sandbox.hookrun_by_shell(script, b"");
    ran.exits(0)
        .prints("decisions are not logged")
        .prints("free some space");
    sandbox.hookrun(&["doctor"], b"").exits(0).prints("ok");
    sandbox.has_no_file("home/.local/state/hookrun/log/attempt");
    // Whoever asks for the last decision is told that there may be a newer one.
    let script = "ulimit -f 1; exec \"$0\" why";
    let ran = sandbox.hookrun_by_shell(script, b"");
    ran.exits(0).says("decisions are no longer logged");
    let ran = sandbox.hookrun(&["why"], b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_command_that_calls_hookrun_by_name_is_doubted() {
    let sandbox = installed("claude");
    let bare = with_program(&sandbox.read(".claude/settings.json"), "hookrun");
    let sandbox = sandbox.file(".claude/settings.json", &bare);
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!((status, found.len()), (0, 1), "{found:?}");
    assert!(
        found[0].contains("this file calls `hookrun` by name"),
        "{found:?}"
    );
}

/// What `doctor` says of a hook for two events.
fn problems_of(hook: &Value) -> (i32, Vec<String>) {
    let group = json!([{ "hooks": [hook] }]);
    let hooks = json!({ "hooks": { "PreToolUse": group, "PostToolUse": group } });
    let sandbox = Sandbox::new()
        .hook("guard", "exit 0")
        .file(".claude/settings.json", &hooks.to_string());
    problems(&sandbox, "claude")
}

#[test]
fn a_command_of_an_exec_form_is_checked_like_any_other() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let mut hook = json!({
        "type": "command", "command": own, "args": ["run", "--host", "claude"],
        "onFailure": "block",
    });
    let (status, found) = problems_of(&hook);
    assert_eq!((status, found.len()), (0, 0), "{found:?}");
    hook["timeout"] = 1.into();
    let (status, found) = problems_of(&hook);
    assert!(
        status == 1 && found[0].contains("a block after that is lost"),
        "{found:?}"
    );
}

#[test]
fn a_command_with_a_variable_is_one_warning_for_all_its_events() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let command = format!("HOME=/x {own} run --host claude");
    let (status, found) = problems_of(&json!({ "type": "command", "command": command }));
    assert_eq!((status, found.len()), (0, 1), "{found:?}");
    let events = "for PreToolUse, PostToolUse runs hookrun in a custom way";
    assert!(found[0].contains(events), "{found:?}");
}

#[test]
fn a_file_of_one_person_is_read_too() {
    let sandbox = installed("claude");
    sandbox
        .hookrun(&["install", "claude", "--scope", "local"], b"")
        .exits(0);
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!((status, found.len()), (0, 1), "{found:?}");
    let cure = "[remove hookrun from one of them]";
    assert!(found[0].contains("runs hookrun twice for"), "{found:?}");
    assert!(found[0].ends_with(cure), "{found:?}");
    sandbox
        .hookrun(&["doctor", "claude"], b"")
        .prints("2 events in project scope, 2 events in local scope");
}
