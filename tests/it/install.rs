//! `hookrun install` and `uninstall`: what they do to the files of hosts, and what they leave.

mod amp;
mod disk;
mod extension;
mod found;
mod guard;
mod lists;
mod openclaw;
mod plugin;
mod portable;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// A host as the tests see it.
pub(crate) struct Host {
    pub(crate) name: &'static str,
    pub(crate) project: &'static str,
    pub(crate) user: &'static str,
    /// The host's name of `tool.pre`.
    pub(crate) gate: &'static str,
    /// A settings file of somebody who was here before; "" for hosts with plugins.
    existing: &'static str,
}

pub(crate) const HOSTS: &[Host] = &[
    Host {
        name: "claude",
        project: ".claude/settings.json",
        user: "home/.claude/settings.json",
        gate: "PreToolUse",
        existing: "{\n\t\"model\" : \"opus\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [ {\"matcher\": \"Bash\", \"hooks\": [{\"type\":\"command\",\"command\":\"mine.sh\"}]} ],\n\t\t\"Stop\": []\n\t},\n\n\t\"env\": {}\n}",
    },
    Host {
        name: "codex",
        project: ".codex/hooks.json",
        user: "home/.codex/hooks.json",
        gate: "PreToolUse",
        existing: "{\r\n    \"hooks\": {\r\n        \"PreToolUse\": [\r\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}\r\n        ]\r\n    }\r\n}\r\n",
    },
    Host {
        name: "gemini",
        project: ".gemini/settings.json",
        user: "home/.gemini/settings.json",
        gate: "BeforeTool",
        existing: "// of the team\n{\n  /* colours */ \"theme\": \"dark\", // dark\n  \"hooks\": { // ours\n    \"BeforeTool\": [\n      // mine\n      {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}\n    ]\n  }\n}\n// end\n",
    },
    Host {
        name: "cursor",
        project: ".cursor/hooks.json",
        user: "home/.cursor/hooks.json",
        gate: "preToolUse",
        existing: "{\"version\":1,\"hooks\":{\"preToolUse\":[{\"command\":\"./mine.sh\"}]}}",
    },
    Host {
        name: "copilot",
        project: ".github/hooks/hookrun.json",
        user: "home/.copilot/hooks/hookrun.json",
        gate: "preToolUse",
        existing: "\u{feff}{ \"hooks\": { \"preToolUse\": [\n\n   {\"type\": \"command\", \"bash\": \"mine.sh\"} ] } }\n\n",
    },
    Host {
        name: "qwen",
        project: ".qwen/settings.json",
        user: "home/.qwen/settings.json",
        gate: "PreToolUse",
        existing: "// of the team\n{\n  \"theme\": \"dark\", // dark\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}\n    ]\n  }\n}\n",
    },
    Host {
        name: "vscode",
        project: ".github/hooks/hookrun-vscode.json",
        user: "home/.copilot/hooks/hookrun-vscode.json",
        gate: "PreToolUse",
        existing: "{ \"hooks\": { \"PreToolUse\": [\n   {\"type\": \"command\", \"command\": \"mine.sh\"} ] } }\n",
    },
    Host {
        name: "factory",
        project: ".factory/settings.json",
        user: "home/.factory/settings.json",
        gate: "PreToolUse",
        existing: "{\"model\":\"x\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Execute\",\"hooks\":[{\"type\":\"command\",\"command\":\"mine.sh\"}]}]}}",
    },
    Host {
        name: "windsurf",
        project: ".windsurf/hooks.json",
        user: "home/.codeium/windsurf/hooks.json",
        gate: "pre_run_command",
        existing: "{\n  \"hooks\": {\n    \"pre_run_command\": [\n      { \"command\": \"mine.sh\", \"show_output\": true }\n    ]\n  }\n}\n",
    },
    Host {
        name: "devin",
        project: ".devin/config.json",
        user: "home/.config/devin/config.json",
        gate: "PreToolUse",
        existing: "{\n  // allowed\n  \"permissions\": {\"allow\": [\"Exec(git)\"]},\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}\n    ]\n  }\n}\n",
    },
    Host {
        name: "crush",
        project: "crush.json",
        user: "home/.config/crush/crush.json",
        gate: "PreToolUse",
        existing: "{\n  \"$schema\": \"https://charm.land/crush.json\",\n  \"hooks\": {\n    \"PreToolUse\": [{\"matcher\": \"^bash$\", \"command\": \"mine.sh\"}]\n  }\n}\n",
    },
    Host {
        name: "goose",
        project: ".agents/plugins/hookrun/hooks/hooks.json",
        user: "home/.agents/plugins/hookrun/hooks/hooks.json",
        gate: "PreToolUse",
        existing: "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}]}}\n",
    },
    Host {
        name: "agy",
        project: ".agents/hooks.json",
        user: "home/.gemini/config/hooks.json",
        gate: "PreToolUse",
        existing: "{\n  \"mine\": {\n    \"PreToolUse\": [{\"matcher\": \"*\", \"hooks\": [{\"command\": \"mine.sh\"}]}]\n  }\n}\n",
    },
    Host {
        name: "grok",
        project: ".grok/hooks/hookrun.json",
        user: "home/.grok/hooks/hookrun.json",
        gate: "PreToolUse",
        existing: "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine.sh\"}]}]}}\n",
    },
    Host {
        name: "kiro",
        project: ".kiro/hooks/hookrun.json",
        user: "home/.kiro/hooks/hookrun.json",
        gate: "PreToolUse",
        existing: "{\n  \"version\": \"v1\",\n  \"hooks\": [\n    {\"name\": \"mine\", \"trigger\": \"PreToolUse\", \"action\": {\"type\": \"command\", \"command\": \"mine.sh\"}}\n  ]\n}\n",
    },
    // It reads the user's file alone.
    Host {
        name: "kimi",
        project: "home/.kimi-code/config.toml",
        user: "home/.kimi-code/config.toml",
        gate: "PreToolUse",
        existing: "",
    },
    Host {
        name: "cline",
        project: ".clinerules/hooks/PreToolUse",
        user: "home/Documents/Cline/Hooks/PreToolUse",
        gate: "PreToolUse",
        existing: "",
    },
    Host {
        name: "opencode",
        project: ".opencode/plugins/hookrun.js",
        user: "home/.config/opencode/plugins/hookrun.js",
        gate: "tool.execute.before",
        existing: "",
    },
    Host {
        name: "kilo",
        project: ".kilo/plugin/hookrun.js",
        user: "home/.config/kilo/plugin/hookrun.js",
        gate: "tool.execute.before",
        existing: "",
    },
    Host {
        name: "amp",
        project: ".amp/plugins/hookrun.ts",
        user: "home/.config/amp/plugins/hookrun.ts",
        gate: "tool.call",
        existing: "",
    },
    Host {
        name: "pi",
        project: ".pi/extensions/hookrun.js",
        user: "home/.pi/agent/extensions/hookrun.js",
        gate: "tool_call",
        existing: "",
    },
    Host {
        name: "omp",
        project: ".omp/extensions/hookrun.js",
        user: "home/.omp/agent/extensions/hookrun.js",
        gate: "tool_call",
        existing: "",
    },
    Host {
        name: "openclaw",
        project: ".openclaw/hookrun.js",
        user: "home/.openclaw/hookrun.js",
        gate: "before_tool_call",
        existing: "",
    },
];

impl Host {
    /// The scope that it has, where a test wants this one.
    fn scope<'s>(&self, wanted: &'s str) -> &'s str {
        if self.project == self.user && wanted == "project" {
            "user"
        } else {
            wanted
        }
    }
}

fn named(name: &str) -> &'static Host {
    HOSTS.iter().find(|host| host.name == name).unwrap()
}

/// Hosts whose file is JSON.
fn with_settings() -> impl Iterator<Item = &'static Host> {
    HOSTS.iter().filter(|host| !host.existing.is_empty())
}

/// Every host with each of its scopes and the file of that.
fn places() -> impl Iterator<Item = (&'static Host, &'static str, &'static str)> {
    HOSTS
        .iter()
        .flat_map(|host| [(host, "project", host.project), (host, "user", host.user)])
}

/// A project with a hook for tools, and one for the end of the session.
pub(crate) fn project() -> Sandbox {
    Sandbox::new()
        .hook("guard", "exit 0")
        .hook_for("session.start", "hello", "exit 0")
}

fn install(sandbox: &Sandbox, host: &Host, scope: &str) -> Ran {
    let scope = host.scope(scope);
    sandbox.hookrun(&["install", host.name, "--scope", scope], b"")
}

fn uninstall(sandbox: &Sandbox, host: &Host, scope: &str) -> Ran {
    let scope = host.scope(scope);
    sandbox.hookrun(&["uninstall", host.name, "--scope", scope], b"")
}

/// Every file and folder below the sandbox but hookrun's state, with what is in it.
fn everything(sandbox: &Sandbox) -> Vec<(PathBuf, Option<String>)> {
    let mut all = Vec::new();
    let mut folders = vec![sandbox.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path == sandbox.at("home/.local") {
                continue;
            }
            if path.is_dir() {
                folders.push(path.clone());
                all.push((path, None));
            } else {
                let text = fs::read_to_string(&path).unwrap();
                all.push((path, Some(text)));
            }
        }
    }
    all.sort();
    all
}

/// The hooks of a host's event, flat, from its file.
fn hooks(sandbox: &Sandbox, file: &str, event: &str) -> Vec<Value> {
    let settings: Value = serde_json::from_str(&sandbox.read(file)).unwrap();
    let mut all = Vec::new();
    let table = if settings["hookrun"].is_null() {
        "hooks"
    } else {
        "hookrun"
    };
    if let Some(list) = settings[table].as_array() {
        return list
            .iter()
            .filter(|one| one["trigger"] == event)
            .cloned()
            .collect();
    }
    for entry in settings[table][event].as_array().unwrap() {
        match entry["hooks"].as_array() {
            Some(inner) => all.extend(inner.clone()),
            None => all.push(entry.clone()),
        }
    }
    all
}

#[test]
fn a_host_without_settings_gets_a_file_and_loses_it_again() {
    for (host, scope, file) in places() {
        let sandbox = project();
        let before = everything(&sandbox);
        install(&sandbox, host, scope)
            .exits(0)
            .prints("new file")
            .prints(host.gate);
        let text = sandbox.read(file);
        assert!(text.contains(host.gate) && text.ends_with('\n'), "{text}");
        uninstall(&sandbox, host, scope)
            .exits(0)
            .prints("was removed");
        assert_eq!(everything(&sandbox), before, "{} {scope}", host.name);
    }
}

#[test]
fn a_second_install_changes_nothing() {
    for (host, scope, _) in places() {
        let sandbox = project();
        install(&sandbox, host, scope).exits(0);
        let after = everything(&sandbox);
        install(&sandbox, host, scope)
            .exits(0)
            .prints("nothing was changed");
        assert_eq!(everything(&sandbox), after, "{} {scope}", host.name);
    }
}

#[test]
fn what_was_there_stays_and_is_there_after_an_uninstall() {
    for host in with_settings() {
        for (scope, file) in [("project", host.project), ("user", host.user)] {
            let sandbox = project().file(file, host.existing);
            let before = everything(&sandbox);
            install(&sandbox, host, scope).exits(0).prints("changed");
            let text = sandbox.read(file);
            assert!(text.contains("mine.sh"), "{text}");
            install(&sandbox, host, scope)
                .exits(0)
                .prints("nothing was changed");
            uninstall(&sandbox, host, scope)
                .exits(0)
                .prints("no longer has hookrun's hooks");
            // Blanks may differ, a version that the host needs stays, and an empty list goes.
            let text = sandbox.read(file);
            let bare = |text: &str| {
                let text = text.replace(char::is_whitespace, "");
                text.replace("\"version\":1,", "")
                    .replace(",\"Stop\":[]", "")
            };
            assert_eq!(bare(&text), bare(host.existing), "{} {scope}", host.name);
            let sandbox = sandbox.file(file, host.existing);
            assert_eq!(everything(&sandbox), before, "{} {scope}", host.name);
        }
    }
}

#[test]
fn every_line_that_was_there_is_there_after_an_install() {
    let has_lines = |host: &&Host| host.name != "copilot" && host.existing.lines().count() > 4;
    for host in with_settings().filter(has_lines) {
        let sandbox = project().file(host.project, host.existing);
        install(&sandbox, host, "project").exits(0);
        let text = sandbox.read(host.project);
        for line in host.existing.lines() {
            // Another hook comes before the end of a list, and a comma after what was the last.
            let bare = line.trim_end_matches([',', ']', ' ']);
            assert!(
                text.contains(bare),
                "{}: {line:?} is not in {text}",
                host.name
            );
        }
        let ends = |text: &str| text.matches("\r\n").count() == text.matches('\n').count();
        assert_eq!(ends(&text), ends(host.existing), "{text:?}");
        assert_eq!(text.ends_with('\n'), host.existing.ends_with('\n'));
    }
}

#[test]
fn after_another_edit_only_hookruns_own_hooks_go() {
    for host in with_settings() {
        let sandbox = project().file(host.project, host.existing);
        install(&sandbox, host, "project").exits(0);
        let edited = sandbox.read(host.project).replace("mine.sh", "yours.sh");
        let sandbox = sandbox.file(host.project, &edited);
        uninstall(&sandbox, host, "project")
            .exits(0)
            .prints("no longer has hookrun's hooks");
        let text = sandbox.read(host.project);
        assert!(
            text.contains("yours.sh") && !text.contains("hookrun"),
            "{text}"
        );
        assert!(!text.contains("session"), "{text}");
    }
}

#[test]
fn hooks_that_somebody_added_to_a_file_of_hookruns_stay() {
    let sandbox = project();
    install(&sandbox, &HOSTS[3], "project").exits(0);
    let file = HOSTS[3].project;
    let more = sandbox.read(file).replace(
        "\"preToolUse\": [",
        "\"stop\": [{\"command\": \"mine.sh\"}],\n    \"preToolUse\": [",
    );
    let sandbox = sandbox.file(file, &more);
    uninstall(&sandbox, &HOSTS[3], "project").exits(0);
    let left: Value = serde_json::from_str(&sandbox.read(file)).unwrap();
    assert_eq!(left["hooks"], json!({ "stop": [{ "command": "mine.sh" }] }));
}

#[test]
fn an_event_of_one_tool_is_installed_only_for_hooks_that_want_that_tool() {
    for (tool, wants) in [("bash", false), ("read", true), ("*", true)] {
        let script = format!("#!/bin/sh\n# hookrun: tool={tool}\nexit 0\n");
        let sandbox = Sandbox::new().script("hooks.d/tool.pre/h", &script);
        let ran = sandbox.hookrun(&["install", "cursor"], b"");
        ran.exits(0).prints("preToolUse");
        assert_eq!(
            ran.stdout.contains("beforeTabFileRead"),
            wants,
            "{tool}: {ran:?}"
        );
    }
}

#[test]
fn a_file_that_hookrun_made_and_repaired_is_removed_again() {
    for host in with_settings() {
        let sandbox = project();
        install(&sandbox, host, "project").exits(0);
        let changed = sandbox
            .read(host.project)
            .replace(" run --host", " run  --host");
        let sandbox = sandbox.file(host.project, &format!("{changed}\n"));
        install(&sandbox, host, "project").exits(0);
        uninstall(&sandbox, host, "project")
            .exits(0)
            .prints("was removed");
        sandbox.has_no_file(host.project);
    }
}

#[test]
fn each_host_gets_its_own_switch_and_unit() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let guard = " || { s=$?; [ $s = 2 ] || echo \"hookrun ended with status $s and no decision\" >&2; exit 2; }";
    let wanted = [
        json!({ "type": "command", "command": format!("{own} run --host claude{guard}"), "timeout": 600, "onFailure": "block" }),
        json!({ "type": "command", "command": format!("{own} run --host codex{guard}"), "timeout": 600 }),
        json!({ "type": "command", "command": format!("{own} run --host gemini --budget 595s{guard}"), "timeout": 600_000, "name": "hookrun" }),
        json!({ "type": "command", "command": format!("{own} run --host cursor --budget 595s{guard}"), "timeout": 600, "failClosed": true }),
        json!({ "type": "command", "bash": format!("{own} run --host copilot preToolUse --budget 595s{guard}"), "timeoutSec": 600 }),
        json!({ "type": "command", "command": format!("{own} run --host qwen --budget 595s{guard}"), "timeout": 600_000, "name": "hookrun" }),
        json!({ "type": "command", "command": format!("{own} run --host vscode --budget 595s{guard}"), "timeout": 600 }),
        json!({ "type": "command", "command": format!("{own} run --host factory --budget 595s{guard}"), "timeout": 600 }),
        json!({ "command": format!("{own} run --host windsurf{guard}") }),
        json!({ "type": "command", "command": format!("{own} run --host devin --budget 595s{guard}"), "timeout": 600 }),
        json!({ "command": format!("{own} run --host crush --budget 595s{guard}"), "timeout": 600, "name": "hookrun" }),
        json!({ "type": "command", "command": format!("{own} run --host goose --budget 595s{guard}"), "timeout": 600, "on_failure": "block" }),
        json!({ "type": "command", "command": format!("{own} run --host agy PreToolUse --budget 595s"), "timeout": 600 }),
        json!({ "type": "command", "command": format!("{own} run --host grok --budget 595s{guard}"), "timeout": 600 }),
        json!({ "trigger": "PreToolUse", "action": { "type": "command", "command": format!("{own} run --host kiro --budget 595s{guard}") }, "timeout": 600, "name": "hookrun" }),
    ];
    for (host, wanted) in with_settings().zip(wanted) {
        let sandbox = project();
        install(&sandbox, host, "user").exits(0);
        assert_eq!(hooks(&sandbox, host.user, host.gate), [wanted]);
    }
}

#[test]
fn a_session_end_is_waited_for_as_long_as_the_host_allows() {
    for (host, seconds) in [(&HOSTS[0], 60), (&HOSTS[1], 3)] {
        let sandbox = Sandbox::new().hook_for("session.end", "bye", "exit 0");
        install(&sandbox, host, "project").exits(0);
        let found = hooks(&sandbox, host.project, "SessionEnd");
        assert_eq!(found[0]["timeout"], seconds);
        assert_eq!(found[0]["onFailure"], Value::Null);
    }
}

#[test]
fn only_what_a_hook_wants_is_installed_unless_all_is_asked_for() {
    let events = |sandbox: &Sandbox| -> Vec<String> {
        let settings: Value = serde_json::from_str(&sandbox.read(HOSTS[2].project)).unwrap();
        settings["hooks"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let sandbox = Sandbox::new().hook("guard", "exit 0");
    install(&sandbox, &HOSTS[2], "project").exits(0);
    assert_eq!(events(&sandbox), ["BeforeTool"]);
    sandbox
        .hookrun(&["install", "gemini", "--all-events"], b"")
        .exits(0);
    assert_eq!(events(&sandbox).len(), 11);
    install(&sandbox, &HOSTS[2], "project").exits(0);
    assert_eq!(events(&sandbox), ["BeforeTool"]);
}

#[test]
fn without_a_hook_there_is_nothing_to_install() {
    let sandbox = Sandbox::new();
    install(&sandbox, &HOSTS[0], "project")
        .exits(2)
        .says("no hook uses an event of Claude Code");
    sandbox.has_no_file(".claude");
}

#[test]
fn a_dry_run_shows_the_change_and_touches_nothing() {
    for host in with_settings() {
        let sandbox = project().file(host.project, host.existing);
        let before = everything(&sandbox);
        let ran = sandbox.hookrun(&["install", host.name, "--dry-run"], b"");
        let header = format!("--- {0}\n+++ {0}\n@@ ", host.project);
        ran.exits(0)
            .prints(&header)
            .prints(&format!("run --host {}", host.name));
        assert_eq!(everything(&sandbox), before);
        sandbox.has_no_file("home/.local");
        install(&sandbox, host, "project").exits(0);
        let before = everything(&sandbox);
        sandbox
            .hookrun(&["uninstall", host.name, "--dry-run"], b"")
            .exits(0)
            .prints("\n-");
        assert_eq!(everything(&sandbox), before);
    }
}

#[test]
fn a_file_that_does_not_parse_is_named_with_its_place_and_left_alone() {
    for host in with_settings() {
        let broken = "{\n  \"hooks\": {\n    \"x\" []\n  }\n}\n";
        let sandbox = project().file(host.project, broken);
        for command in ["install", "uninstall"] {
            let ran = sandbox.hookrun(&[command, host.name], b"");
            ran.exits(2)
                .says(&format!("error: {}:3:", host.project))
                .says("the file was not changed");
            assert_eq!(sandbox.read(host.project), broken);
        }
    }
}

#[test]
fn hooks_of_another_shape_are_left_alone() {
    for (text, problem) in [
        ("[]", "the file is not a JSON object"),
        ("{\"hooks\": []}", "`hooks` is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not a list"),
        ("{\"hooks\": {}, \"hooks\": {}}", "`hooks` appears twice"),
    ] {
        let sandbox = project().file(".claude/settings.json", text);
        install(&sandbox, &HOSTS[0], "project")
            .exits(2)
            .says(problem);
        assert_eq!(sandbox.read(".claude/settings.json"), text);
    }
}

#[test]
fn what_a_host_would_not_read_is_not_installed_into_but_hookrun_goes_from_it() {
    for (host, text, said) in [
        (
            0,
            "{\n  // mine\n  \"hooks\": {}\n}\n",
            "settings.json:2:3: the file is not plain JSON",
        ),
        (
            1,
            "{\n  // mine\n  \"hooks\": {}\n}\n",
            "hooks.json:2:3: the file is not plain JSON",
        ),
        (
            2,
            "{\"a\": [1,]}",
            "settings.json:1:9: the file does not parse",
        ),
    ] {
        let host = &HOSTS[host];
        let sandbox = project().file(host.project, text);
        let ran = install(&sandbox, host, "project");
        ran.exits(2)
            .says(said)
            .says("ignores the whole file")
            .says("the file was not changed");
        assert_eq!(sandbox.read(host.project), text);
        let own = "{ // mine\n \"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"hookrun run --host H\"}]}]}}";
        let own = own.replace("--host H", &format!("--host {}", host.name));
        let sandbox = sandbox.file(host.project, &own);
        uninstall(&sandbox, host, "project").exits(0);
        assert!(
            !sandbox.read(host.project).contains("hookrun"),
            "{}",
            host.name
        );
    }
}

#[test]
fn a_hook_of_hookruns_that_was_narrowed_is_written_anew() {
    for (was, is) in [
        (
            "\"hooks\": [\n          {",
            "\"matcher\": \"Edit\", \"hooks\": [\n          {",
        ),
        ("\"timeout\"", "\"if\": \"Bash(git *)\", \"timeout\""),
        ("\"timeout\"", "\"async\": true, \"timeout\""),
    ] {
        let sandbox = project();
        install(&sandbox, &HOSTS[0], "project").exits(0);
        let whole = sandbox.read_json(HOSTS[0].project);
        let text = sandbox.read(HOSTS[0].project);
        assert!(text.contains(was), "{text}");
        let sandbox = sandbox.file(HOSTS[0].project, &text.replace(was, is));
        install(&sandbox, &HOSTS[0], "project").exits(0);
        assert_eq!(sandbox.read_json(HOSTS[0].project), whole, "{is}");
    }
}

#[test]
fn hooks_of_an_older_hookrun_are_put_right_and_others_stay() {
    let old = r#"{"hooks": {"PreToolUse": [
  {"hooks": [{"type": "command", "command": "/old/hookrun run --host claude", "timeout": 5, "statusMessage": "asking"}]},
  {"hooks": [{"type": "command", "command": "/older/hookrun run --host claude"}, {"type": "command", "command": "mine.sh"}]},
  {"hooks": [{"type": "command", "command": "hookrun run tool.pre"}]}
], "PreCompact": [{"hooks": [{"type": "command", "command": "/old/hookrun run --host claude"}]}]}}"#;
    let sandbox = project().file(HOSTS[0].project, old);
    install(&sandbox, &HOSTS[0], "project").exits(0);
    let found = hooks(&sandbox, HOSTS[0].project, "PreToolUse");
    let commands: Vec<&str> = found
        .iter()
        .map(|hook| hook["command"].as_str().unwrap())
        .collect();
    assert_eq!(commands[..2], ["mine.sh", "hookrun run tool.pre"]);
    assert!(commands[2].ends_with("' hookrun run --host claude"));
    assert_eq!((commands.len(), &found[2]["timeout"]), (3, &json!(600)));
    assert!(!sandbox.read(HOSTS[0].project).contains("PreCompact"));
    uninstall(&sandbox, &HOSTS[0], "project").exits(0);
    assert!(!sandbox.read(HOSTS[0].project).contains("--host"));
}

#[test]
fn a_user_calls_hookrun_by_its_absolute_path_the_one_in_path_first() {
    for host in HOSTS {
        let sandbox = project();
        let folder = sandbox.at("bin");
        fs::create_dir(&folder).unwrap();
        symlink(env!("CARGO_BIN_EXE_hookrun"), folder.join("hookrun")).unwrap();
        let change = |command: &mut std::process::Command| {
            command.env("PATH", &folder);
        };
        sandbox
            .hookrun_as(change, &["install", host.name, "--scope", "user"], b"")
            .exits(0);
        let path = folder.join("hookrun").display().to_string();
        assert!(sandbox.read(host.user).contains(&path), "{}", host.name);
        install(&sandbox, host, "user").exits(0);
        let own = env!("CARGO_BIN_EXE_hookrun");
        assert!(sandbox.read(host.user).contains(own));
    }
}

#[test]
fn for_a_user_hookrun_is_installed_for_every_event() {
    for host in HOSTS {
        let sandbox = Sandbox::new();
        install(&sandbox, host, "user")
            .exits(0)
            .prints("no hook yet");
        sandbox
            .hookrun(
                &["install", host.name, "--scope", "user", "--all-events"],
                b"",
            )
            .exits(0)
            .prints("nothing was changed");
    }
}

#[test]
fn a_new_hook_on_an_event_that_an_installed_host_does_not_tell_is_said() {
    let sandbox = project();
    install(&sandbox, &HOSTS[0], "project").exits(0);
    let ran = sandbox.hookrun(&["list"], b"");
    assert!(!ran.exits(0).stdout.contains("does not tell"), "{ran:?}");
    let said = "Claude Code does not send agent.stop to hookrun: run `hookrun install claude`\n";
    sandbox
        .hookrun(&["new", "done", "--event", "agent.stop"], b"")
        .exits(0)
        .prints(said);
    sandbox.hookrun(&["list"], b"").exits(0).prints(said);
    install(&sandbox, &HOSTS[0], "project").exits(0);
    let ran = sandbox.hookrun(&["list"], b"");
    assert!(!ran.exits(0).stdout.contains("does not tell"), "{ran:?}");
}

#[test]
fn what_a_host_cannot_do_and_what_is_left_to_do_is_said() {
    let sandbox = Sandbox::new().hook_for("prompt.submit", "censor", "exit 0");
    let ran = sandbox.hookrun(&["install", "goose"], b"");
    ran.prints("goose only reports prompt.submit, so `censor` cannot block there");
    let sandbox = project().hook_for("tool.batch", "all", "exit 0");
    let ran = install(&sandbox, &HOSTS[1], "project");
    ran.prints("Codex does not send tool.batch, so `all` cannot run there");
    ran.prints("cannot ask the user")
        .prints("to do: trust the project, and accept the hooks in `/hooks`");
    install(&sandbox, &HOSTS[2], "project").prints("to do: trust the folder");
    install(&sandbox, &HOSTS[3], "project").prints("to do: trust the workspace");
}

#[test]
fn there_is_nothing_to_take_out_where_nothing_was_installed() {
    for host in with_settings() {
        let sandbox = project();
        uninstall(&sandbox, host, "project")
            .exits(0)
            .prints("does not exist");
        let sandbox = sandbox.file(host.project, host.existing);
        uninstall(&sandbox, host, "project")
            .exits(0)
            .prints("has no hookrun hooks");
        assert_eq!(sandbox.read(host.project), host.existing);
    }
}

#[test]
fn the_page_about_install_names_every_host_with_its_files() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/install.md");
    let page = fs::read_to_string(page).unwrap();
    for host in HOSTS {
        let user = host.user.replacen("home/", "~/", 1);
        let project = format!("`{}`", host.project);
        let project = if host.project == host.user {
            "–"
        } else {
            &project
        };
        let row = format!("| `{}` | {project} | `{user}` |", host.name);
        assert!(page.contains(&row), "{row}");
    }
    let help = Sandbox::new().hookrun(&["install", "--help"], b"").stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
    assert!(help.contains(&names.join(", ")), "{help}");
}

#[test]
fn a_home_that_is_no_folder_is_told_as_what_it_is() {
    let sandbox = project();
    for (home, said) in [
        (Some(""), "the home folder is unknown: HOME is empty"),
        (
            Some("me"),
            "the home folder is unknown: HOME is `me`, not an absolute path",
        ),
        (None, "the home folder is unknown: HOME is not set"),
    ] {
        let change = |command: &mut std::process::Command| {
            match home {
                Some(home) => command.env("HOME", home),
                None => command.env_remove("HOME"),
            };
        };
        let ran = sandbox.hookrun_as(change, &["install", "claude", "--scope", "user"], b"");
        ran.exits(2).says(said);
    }
}

#[test]
fn an_agent_that_would_change_what_install_wrote_is_held_for_a_person() {
    let guard = include_str!("../../hooks.d/tool.pre/05-guard-hookrun.toml");
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/guard.toml", guard);
    for host in HOSTS {
        for file in [host.project, host.user] {
            let file = sandbox.at(file);
            let folder = file.parent().unwrap().display().to_string();
            let file = file.display().to_string();
            let write =
                json!({ "toolName": "write", "toolInput": { "path": file, "content": "{}" } });
            let ran = sandbox.hookrun(&["run", "tool.pre"], write.to_string().as_bytes());
            assert!(
                ran.status == 2 && ran.stdout.contains("whether hooks run"),
                "{file}: {ran:?}"
            );
            let mut lines = vec![format!("echo > {file}"), format!("mv {file} x")];
            // Crush's file is in the root of the project.
            lines.extend((host.project != "crush.json").then(|| format!("rm -rf {folder}")));
            for line in lines {
                let ran = sandbox.run_shell(&line);
                assert!(
                    ran.status == 2 && ran.stdout.contains("whether hooks run"),
                    "{line}: {ran:?}"
                );
            }
        }
    }
}

/// What others have in the same file stays, also in forms that hookrun does not write.
#[test]
fn uninstall_keeps_what_is_not_of_hookrun() {
    let own = |sandbox: &Sandbox, host: &str| {
        sandbox.hookrun(&["install", host, "--scope", "project"], b"")
    };
    let change = |sandbox: &Sandbox, file: &str, from: &str, to: &str| {
        let text = sandbox.read(file);
        assert!(text.contains(from), "{text}");
        fs::write(sandbox.at(file), text.replacen(from, to, 1)).unwrap();
    };
    let sandbox = Sandbox::new().hook("guard", "true");
    own(&sandbox, "gemini").exits(0);
    let file = ".gemini/settings.json";
    change(
        &sandbox,
        file,
        "\"hooks\": {",
        "\"hooks\": {\n    \"disabled\": [\"theirs\"],",
    );
    sandbox.hookrun(&["uninstall", "gemini"], b"").exits(0);
    assert!(sandbox.read(file).contains("\"disabled\": [\"theirs\"]"));

    let sandbox = Sandbox::new().hook("guard", "true");
    own(&sandbox, "claude").exits(0);
    let file = ".claude/settings.json";
    let other = "{ \"type\": \"command\", \"command\": \"theirs.sh\" }";
    change(
        &sandbox,
        file,
        "\"hooks\": {",
        &format!("\"hooks\": {{ \"Stop\": [{other}],"),
    );
    sandbox.hookrun(&["uninstall", "claude"], b"").exits(0);
    assert!(sandbox.read(file).contains(other));

    // Agents differ in which of two equal keys counts.
    own(&sandbox, "claude").exits(0);
    change(
        &sandbox,
        file,
        "\"command\": \"theirs.sh\"",
        "\"command\": \"a\", \"command\": \"b\"",
    );
    let ran = sandbox.hookrun(&["uninstall", "claude"], b"");
    ran.exits(2).says("`command` appears twice");

    // A link to a file that somebody keeps elsewhere.
    let sandbox = Sandbox::new()
        .hook("guard", "true")
        .file("dotfiles/claude.json", "{}\n");
    fs::create_dir(sandbox.at(".claude")).unwrap();
    symlink("../dotfiles/claude.json", sandbox.at(file)).unwrap();
    own(&sandbox, "claude").exits(0);
    sandbox.hookrun(&["uninstall", "claude"], b"").exits(0);
    assert!(sandbox.at(file).is_symlink());
    assert!(!sandbox.read("dotfiles/claude.json").contains("hookrun"));
}

#[test]
fn a_table_of_hookrun_is_found_however_its_header_is_written() {
    let file = "home/.kimi-code/config.toml";
    for header in ["[[ hooks ]]", "[[\"hooks\"]]"] {
        let sandbox = Sandbox::new().hook("guard", "true");
        sandbox
            .hookrun(&["install", "kimi", "--scope", "user"], b"")
            .exits(0);
        let text = sandbox.read(file);
        fs::write(sandbox.at(file), text.replace("[[hooks]]", header)).unwrap();
        sandbox
            .hookrun(&["uninstall", "kimi", "--scope", "user"], b"")
            .exits(0);
        let left = fs::read_to_string(sandbox.at(file)).unwrap_or_default();
        assert!(!left.contains("hookrun"), "{header}: {left}");
    }
}
