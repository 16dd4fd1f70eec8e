//! `hookrun doctor`: what keeps a host from reaching hookrun, and a hook from its event.

mod accepted;
mod dropped;
mod evidence;
mod overlap;
mod switches;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use hookrun::hosts::installable;
use serde_json::{Value, json};

use crate::install::{HOSTS, Host, project};
use crate::sandbox::Sandbox;

/// The problems that `doctor` finds, as `severity file: cause [cure]`, and its exit status; without
/// when a host last asked.
#[track_caller]
fn problems(sandbox: &Sandbox, host: &str) -> (i32, Vec<String>) {
    let (status, mut found) = everything(sandbox, host);
    found.retain(|one| !one.starts_with("note ") && !one.contains("installed, not seen yet"));
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
        found.retain(|problem| !problem.contains("has no session.start: `hello` will not run"));
        assert_eq!((status, found), (0, Vec::new()), "{}", host.name);
        let ran = sandbox.hookrun(&["doctor"], b"");
        let events = match host.name {
            // Its Tab reads files without a tool.
            "cursor" => 3,
            // It has an event for each sort of tool.
            "windsurf" => 4,
            "kimi" => {
                ran.exits(0).prints("installed for 14 events in user scope");
                continue;
            }
            "crush" | "agy" | "cline" => {
                ran.exits(0)
                    .prints("installed for 1 event in project scope");
                continue;
            }
            _ => 2,
        };
        ran.exits(0)
            .prints(&format!("installed for {events} events in project scope"));
    }
}

#[test]
fn a_host_that_does_not_ask_is_a_problem_only_if_it_was_named() {
    let sandbox = project();
    let said = sandbox.hookrun(&["doctor"], b"").exits(0).stdout.clone();
    assert!(
        said.contains("no agent is found here, and none asks hookrun\n"),
        "{said}"
    );
    let sandbox = sandbox.file(".codex/hooks.json", "{}");
    let said = sandbox.hookrun(&["doctor"], b"").exits(0).stdout.clone();
    let wanted = "here, but do not ask hookrun: Codex (`hookrun install HOST`)\n";
    assert!(said.contains(wanted), "{said}");
    let (status, found) = problems(&sandbox, "codex");
    let wanted = "error .codex/hooks.json: Codex does not ask hookrun [`hookrun install codex`]";
    assert_eq!((status, found), (1, vec![wanted.to_string()]));
}

#[test]
fn a_program_that_is_gone_is_named() {
    for host in HOSTS {
        let sandbox = installed(host.name);
        let own = env!("CARGO_BIN_EXE_hookrun");
        let gone = sandbox.read(host.project).replace(own, "/gone/hookrun");
        let sandbox = sandbox.file(host.project, &gone);
        let (status, found) = problems(&sandbox, host.name);
        assert_eq!(status, 1);
        assert!(found[0].contains("does not reach hookrun"), "{found:?}");
        assert!(found[0].contains("/gone/hookrun"), "{found:?}");
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
        let said =
            format!("`{command}` of PreToolUse runs hookrun, and not as `install` writes it");
        for is_installed in [false, true] {
            if is_installed {
                sandbox.hookrun(&["install", "claude"], b"").exits(0);
            }
            let (status, found) = problems(&sandbox, "claude");
            let has_it = found
                .iter()
                .any(|one| one.contains(&said) && one.starts_with("error"));
            assert_eq!(has_it, is_other, "{command} {found:?}");
            assert_eq!(
                status,
                i32::from(is_other || !is_installed),
                "{command} {found:?}"
            );
            let does_not_ask = found.iter().any(|one| one.contains("does not ask hookrun"));
            assert_eq!(
                does_not_ask,
                !is_other && !is_installed,
                "{command} {found:?}"
            );
        }
        let ran = sandbox.hookrun(&["uninstall", "claude"], b"");
        let is_named = ran
            .exits(0)
            .stdout
            .contains("runs hookrun in its own way and stays");
        assert_eq!(is_named, is_other, "{command} {ran:?}");
    }
}

#[test]
fn a_bare_name_is_looked_up_as_the_host_does_and_doubted() {
    for (host, shell) in [("claude", "sh"), ("codex", "bash"), ("gemini", "bash")] {
        let sandbox = installed(host);
        let file = HOSTS.iter().find(|one| one.name == host).unwrap().project;
        let bare = sandbox
            .read(file)
            .replace(env!("CARGO_BIN_EXE_hookrun"), "hookrun");
        let sandbox = accepted::by_a_person(sandbox.file(file, &bare));
        let (status, found) = problems(&sandbox, host);
        assert_eq!(status, 1);
        let said = format!("`/bin/{shell} -c` finds no `hookrun` in its PATH");
        assert!(found[0].contains(&said), "{found:?}");
        let folder = sandbox.at("bin");
        fs::create_dir(&folder).unwrap();
        symlink(env!("CARGO_BIN_EXE_hookrun"), folder.join("hookrun")).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let sandbox = sandbox.variable("PATH", &path);
        let (status, found) = problems(&sandbox, host);
        assert_eq!((status, found.len()), (0, 1), "{found:?}");
        assert!(found[0].contains("it calls `hookrun` by name"), "{found:?}");
    }
}

#[test]
fn a_program_that_may_not_be_executed_is_named_alike_for_every_host() {
    for host in HOSTS {
        let sandbox = installed(host.name).file("flat/hookrun", "#!/bin/sh\n");
        let flat = sandbox.at("flat/hookrun").display().to_string();
        let text = sandbox
            .read(host.project)
            .replace(env!("CARGO_BIN_EXE_hookrun"), &flat);
        let sandbox = sandbox.file(host.project, &text);
        let (status, found) = problems(&sandbox, host.name);
        assert_eq!(status, 1);
        let said =
            format!("does not reach hookrun: `{flat}` is not executable [run `chmod +x {flat}`");
        assert!(found[0].contains(&said), "{found:?}");
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
            "error .clinerules/hooks/{name}: it is not executable: Cline does not run it [`chmod +x {}`]",
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
            .find(|one| one.contains("installed, not seen yet"));
        let Some(unseen) = unseen else {
            // A plugin asks in hookrun's own words, and the log does not say for which host.
            assert!(
                known.shell().is_none() && known.name != "cline",
                "{}: {found:?}",
                known.name
            );
            continue;
        };
        let cure = known.trust.map_or("use it here".to_string(), |step| {
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
    let own = env!("CARGO_BIN_EXE_hookrun");
    let sandbox = sandbox.file(
        ".claude/settings.json",
        &text.replace(own, other.to_str().unwrap()),
    );
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!(status, 1);
    assert!(
        found[0].contains("is hookrun 0.0.1, and this is hookrun "),
        "{found:?}"
    );

    let sandbox = sandbox
        .script("bin/hookrun", "#!/bin/sh\ntouch started\n")
        .file(".claude/settings.json", &text.replace(own, "bin/hookrun"));
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
    let text = text.replace(env!("CARGO_BIN_EXE_hookrun"), other.to_str().unwrap());
    let sandbox = sandbox.file(".claude/settings.json", &text);
    let (status, found) = problems(&sandbox, "claude");
    assert_eq!(status, 1);
    assert!(
        found[0].contains("does not say that it is hookrun"),
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
        assert!(found[0].contains("`done` does not run"), "{found:?}");
        assert!(
            found[0].contains(&format!("hookrun install {}", host.name)),
            "{found:?}"
        );
    }
}

#[test]
fn times_in_the_wrong_unit_are_named() {
    let sandbox = project().file(
        ".gemini/settings.json",
        r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "mine.sh", "timeout": 60}]}]}}"#,
    );
    let (status, found) = problems(&sandbox, "gemini");
    assert_eq!(status, 1);
    assert!(
        found[0].contains("`\"timeout\": 60`, and Gemini CLI counts milliseconds"),
        "{found:?}"
    );
    assert!(found[0].contains("did you mean 60000?"), "{found:?}");

    let sandbox = installed("claude");
    let text = sandbox
        .read(".claude/settings.json")
        .replace("600", "60000");
    let sandbox = sandbox.file(".claude/settings.json", &text);
    let (_, found) = problems(&sandbox, "claude");
    assert!(found[0].contains("Claude Code counts seconds"), "{found:?}");
    assert!(found[0].contains("did you mean 60?"), "{found:?}");
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
        found[0].contains("Codex waits 600s for PreToolUse"),
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
    assert!(found[0].contains("runs hookrun twice"), "{found:?}");
    assert!(found[0].contains("`hooks.PreToolUse` of `"), "{found:?}");
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
        let (status, found) = problems(&sandbox, host);
        assert_eq!(status, 1);
        assert!(found[0].contains(&format!("`{key}` of ")), "{found:?}");
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
    let wanted =
        "error .codex/config.toml: `features.hooks` is false: hookrun does not run [remove it]";
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
        all.contains("only reports prompt.submit: `censor` cannot block there"),
        "{all}"
    );
    assert!(all.contains("no host has a tool `bahs`"), "{all}");
}

#[test]
fn every_format_of_validate_is_a_format_of_doctor() {
    let sandbox = installed("claude");
    for (format, start) in [
        ("tap", "TAP version 13"),
        ("junit", "<?xml"),
        ("github", ""),
    ] {
        let ran = sandbox.hookrun(&["doctor", "--format", format], b"");
        assert!(ran.exits(0).stdout.starts_with(start), "{ran:?}");
    }
}

#[test]
fn entries_that_are_no_hooks_are_told_by_install_and_doctor() {
    let sandbox = project().file(
        ".gemini/settings.json",
        r#"{"hooks": {"BeforeTool": [5, {"matcher": "write_file"}, {"hooks": ["x", {"type": "command"}]}],
            "AfterAgent": [{"hooks": [{"type": "prompt", "prompt": "ready?"}]}]}}"#,
    );
    let strays = [
        "`hooks.BeforeTool[0]` is no group of hooks: it has no list `hooks`",
        "`hooks.BeforeTool[1]` is no group of hooks: it has no list `hooks`",
        "`hooks.BeforeTool[2].hooks[0]` is no hook: it is `\"x\"`",
        "`hooks.BeforeTool[2].hooks[1]` is no hook: it has no command",
    ];
    let told = sandbox.hookrun(&["install", "gemini"], b"");
    told.exits(0);
    let sandbox = accepted::by_a_person(sandbox);
    let (status, found) = problems(&sandbox, "gemini");
    assert_eq!((status, found.len()), (0, strays.len()), "{found:?}");
    for (stray, found) in strays.iter().zip(&found) {
        told.prints(&format!("  note: {stray}; Gemini CLI may not read it\n"));
        assert!(
            found.contains(stray) && found.ends_with("[correct it, or take it out]"),
            "{found}"
        );
    }
    let sandbox = project().file(".cursor/hooks.json", r#"{"hooks": {"stop": [null, {}]}}"#);
    let told = sandbox.hookrun(&["install", "cursor"], b"");
    told.exits(0)
        .prints("`hooks.stop[0]` is no hook: it is `null`");
    told.prints("`hooks.stop[1]` is no hook: it has no command");
}

#[test]
fn files_beside_the_one_that_is_installed_into_are_read_too() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let local = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{{"type": "command",
            "command": "{own} run --host claude", "onFailure": "block"}}]}}]}}}}"#
    );
    let toml = format!(
        "model = 'm'\n[hooks.state]\nx = 1\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n\
         type = 'command'\ncommand = '{own} run --host codex'\ntimeout = 9_000\n"
    );
    for (host, file, text) in [
        ("claude", ".claude/settings.local.json", local.as_str()),
        ("codex", ".codex/config.toml", &toml),
        ("codex", "home/.codex/config.toml", &toml),
    ] {
        let sandbox = installed(host).file(file, text);
        let (_, found) = problems(&sandbox, host);
        let twice = found
            .iter()
            .find(|one| one.contains("twice for an event: here and by"));
        let twice = twice.unwrap_or_else(|| panic!("{host}: {found:?}"));
        assert!(
            twice.ends_with(&format!("{file}` [take one of them out]")),
            "{twice}"
        );
        // What else is wrong with a hook is told there too.
        let is_late = found.iter().any(|one| one.contains("counts seconds"));
        assert_eq!(is_late, host == "codex", "{found:?}");

        let alone = project().file(file, text);
        let ran = alone.hookrun(&["doctor", host], b"");
        let name = file.rsplit('/').next().unwrap();
        assert!(
            ran.stdout
                .contains(&format!("installed for 1 event in `{name}` of ")),
            "{ran:?}"
        );
    }
    let sandbox = installed("codex").file(".codex/config.toml", "[hooks\n");
    let (status, found) = problems(&sandbox, "codex");
    assert_eq!(status, 1);
    assert!(
        found[0].starts_with("error .codex/config.toml: does not parse: "),
        "{found:?}"
    );
}

#[test]
fn hooks_of_anybody_that_can_never_fire_are_named() {
    for (host, file, event, matcher, said) in [
        (
            "claude",
            ".claude/settings.json",
            "PreToolUs",
            "",
            "Claude Code has no event `PreToolUs`",
        ),
        (
            "claude",
            ".claude/settings.local.json",
            "PreToolUse",
            "bash",
            "the matcher `bash` of",
        ),
        (
            "claude",
            ".claude/settings.json",
            "PreToolUse",
            "Bash(",
            "is no regular expression",
        ),
        (
            "codex",
            ".codex/hooks.json",
            "PreToolUse",
            "exec_command|shell",
            "fits no tool of Codex",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "BeforeTool",
            "Bash",
            "fits no tool of Gemini CLI",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "PreToolUse",
            "",
            "Gemini CLI has no event",
        ),
        (
            "claude",
            ".claude/settings.json",
            "preToolUse",
            "",
            "no event `preToolUse`",
        ),
    ] {
        let text = format!(
            r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}",
                "hooks": [{{"type": "command", "command": "mine.sh"}}]}}]}}}}"#
        );
        let sandbox = project().file(file, &text);
        sandbox.hookrun(&["install", host], b"").exits(0);
        let sandbox = accepted::by_a_person(sandbox);
        let (status, found) = problems(&sandbox, host);
        assert_eq!(
            (status, found.len()),
            (0, 1),
            "{host} {event} {matcher}: {found:?}"
        );
        assert!(
            found[0].contains(said) && found[0].contains("never run"),
            "{found:?}"
        );
    }
    let text = r#"{"version": 1, "hooks": {"PreToolUse": [{"bash": "mine.sh"}]}}"#;
    let sandbox = project().file(".github/hooks/hookrun.json", text);
    sandbox.hookrun(&["install", "copilot"], b"").exits(0);
    assert_eq!(problems(&sandbox, "copilot"), (0, Vec::new()));
    for (host, file, event, matcher) in [
        ("claude", ".claude/settings.json", "PreToolUse", "Bash|bash"),
        ("claude", ".claude/settings.json", "PreToolUse", "^Ba"),
        (
            "claude",
            ".claude/settings.json",
            "PreToolUse",
            "(?<!x)Bash",
        ),
        ("claude", ".claude/settings.json", "SessionStart", "startup"),
        ("codex", ".codex/hooks.json", "PreToolUse", "Bash"),
        ("gemini", ".gemini/settings.json", "BeforeTool", "shell"),
    ] {
        let text = format!(
            r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}",
                "hooks": [{{"type": "command", "command": "mine.sh"}}]}}]}}}}"#
        );
        let sandbox = project().file(file, &text);
        sandbox.hookrun(&["install", host], b"").exits(0);
        let sandbox = accepted::by_a_person(sandbox);
        assert_eq!(
            problems(&sandbox, host),
            (0, Vec::new()),
            "{host} {matcher}"
        );
    }
}

#[test]
fn a_log_that_cannot_be_written_is_a_warning() {
    let sandbox = Sandbox::new().file("home/.local/state/hookrun/log", "in the way");
    sandbox
        .hookrun(&["doctor"], b"")
        .exits(0)
        .prints("home/.local/state/hookrun/log")
        .prints("decisions are not kept");
    sandbox.has_no_file("home/.local/state/hookrun/log/decisions.jsonl");
}

#[test]
fn a_full_disk_is_a_warning_and_the_attempt_leaves_nothing() {
    let sandbox = Sandbox::new().hook("10-no.sh", "exit 1");
    sandbox.run("tool.pre").exits(2);
    let script = "ulimit -f 1; exec \"$0\" doctor";
    let ran = sandbox.hookrun_by_shell(script, b"");
    ran.exits(0)
        .prints("decisions are not kept")
        .prints("make room there");
    sandbox.hookrun(&["doctor"], b"").exits(0).prints("ok");
    sandbox.has_no_file("home/.local/state/hookrun/log/attempt");
    // Whoever asks for the last decision is told that there may be a newer one.
    let script = "ulimit -f 1; exec \"$0\" why";
    let ran = sandbox.hookrun_by_shell(script, b"");
    ran.exits(0).says("newer decisions are not kept");
    let ran = sandbox.hookrun(&["why"], b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}
