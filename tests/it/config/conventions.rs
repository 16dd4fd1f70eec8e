//! For whom a hook was written, slips in what it says of itself, and where its command means.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::sandbox::{Ran, Sandbox, TOOL};
use crate::ui::screen::at_terminal;

/// A hook of Claude Code's, as its users write them.
const CLAUDES: &str = r#"#!/bin/sh
if grep -q '"tool_input":{"command":"git push --force'; then
  echo 'no force push' >&2; exit 2
fi
"#;

fn ask_claude(sandbox: &Sandbox, command: &str) -> Ran {
    let payload = json!({
        "session_id": "x", "transcript_path": "/t", "cwd": sandbox.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
    });
    sandbox.hookrun(&["run", "--host", "claude"], payload.to_string().as_bytes())
}

#[test]
fn a_hook_in_a_folder_with_a_hosts_name_is_one_of_that_host() {
    for folder in ["PreToolUse", "PermissionRequest"] {
        let sandbox = Sandbox::new().script(&format!("hooks.d/{folder}/c.sh"), CLAUDES);
        assert_eq!(sandbox.problems(&[]), Vec::<String>::new(), "{folder}");
    }
    let sandbox = Sandbox::new().script("hooks.d/PreToolUse/c.sh", CLAUDES);
    assert_eq!(
        sandbox.json(&["list", "c.sh", "--format", "json"])["hooks"][0]["dialect"],
        "claude"
    );
    let ran = ask_claude(&sandbox, "git push --force");
    assert!(format!("{ran:?}").contains("no force push"), "{ran:?}");
    ask_claude(&sandbox, "git status").allows();
    // Everywhere else, too.
    sandbox
        .run_shell("git push --force")
        .blocks("no force push");
    sandbox.run_shell("git status").allows();
}

#[test]
fn a_hook_in_a_folder_with_a_hosts_name_blocks_by_any_exit_status() {
    for status in [1, 2, 3, 127] {
        let body = format!("#!/bin/sh\necho 'not this' >&2\nexit {status}\n");
        let sandbox = Sandbox::new().script("hooks.d/PreToolUse/guard.sh", &body);
        sandbox.run_shell("ls").blocks_saying("not this");
        assert!(format!("{:?}", ask_claude(&sandbox, "ls")).contains("not this"));
    }
}

#[test]
fn a_directive_goes_before_the_name_of_the_folder() {
    let guard = "#!/bin/sh\n# hookrun: dialect=native\njq -e .toolInput >/dev/null || exit 1\n\
                 echo 'hookrun saw it' >&2; exit 1\n";
    let sandbox = Sandbox::new().script("hooks.d/PreToolUse/guard.sh", guard);
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    sandbox.run_shell("ls").blocks_saying("hookrun saw it");
}

#[test]
fn a_hook_for_another_host_than_its_folder_says_closes_gates_and_is_told_everywhere() {
    let cases = [
        (
            "tool.pre",
            "#!/bin/sh\n\njq -r .tool_input.command\n",
            3,
            "key `tool_input`",
            "claude",
        ),
        (
            "tool.pre",
            "#!/usr/bin/env python3\nimport json\nprint({\"hookSpecificOutput\": {}})\n",
            3,
            "names the claude key `hookSpecificOutput`, but hookrun sends and reads its own keys",
            "claude",
        ),
        (
            "tool.pre",
            "#!/bin/sh\njq .toolArgs\n",
            2,
            "key `toolArgs`",
            "copilot",
        ),
        (
            "tool.post",
            "#!/bin/sh\njq .tool_response\n",
            2,
            "key `tool_response`",
            "claude",
        ),
        (
            "PreToolUse",
            "#!/bin/sh\njq .toolInput\n",
            0,
            "reads hookrun's keys",
            "native",
        ),
        (
            "preToolUse",
            "#!/bin/sh\nexit 1\n",
            0,
            "several systems have an event `preToolUse`: cursor, copilot",
            "cursor",
        ),
    ];
    for (event, text, line, cause, dialect) in cases {
        let sandbox = Sandbox::new().script(&format!("hooks.d/{event}/h"), text);
        let place = if line > 0 {
            format!("hooks.d/{event}/h:{line}:1")
        } else {
            format!("{event}/h")
        };
        let cure = format!("`# hookrun: dialect={dialect}`");
        for command in [
            &["validate"][..],
            &["list"],
            &["doctor"],
            &["list", "--event", event],
        ] {
            let ran = sandbox.hookrun(command, b"");
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.status, 1, "{command:?} {said}");
            for part in ["error", place.as_str(), cause, cure.as_str()] {
                assert!(
                    said.contains(part),
                    "{command:?}, {event}: no `{part}` in {said}"
                );
            }
        }
        if event != "tool.post" {
            sandbox.run("tool.pre").blocks_saying(cause);
        }
    }
}

#[test]
fn a_hook_that_speaks_both_conventions_is_one_of_ours() {
    for text in [
        "#!/bin/sh\njq -r '.toolInput.command // .tool_input.command'\n",
        "#!/bin/sh\n[ -n \"$HOOKRUN_EVENT\" ] || jq .tool_name\n",
        "#!/bin/sh\n# In Claude Code this is tool_input.\nexit 0\n",
    ] {
        let sandbox = Sandbox::new().script("hooks.d/tool.pre/h", text);
        assert_eq!(sandbox.problems(&[]), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_directive_that_nobody_reads_closes_gates() {
    for (text, line, cause, cure) in [
        (
            "#!/bin/sh\nset -e\n# hookrun: tool=read\n",
            3,
            "below the first line of code",
            "move it above",
        ),
        (
            "#!/usr/bin/env python3\n\"\"\"A guard.\"\"\"\n# hookrun: timeout=10s\n",
            3,
            "below the first line of code",
            "move it above",
        ),
        (
            "#!/bin/sh\n# HOOKRUN: path .env\n",
            2,
            "`path` has no value",
            "write `path=…`",
        ),
        (
            "#!/bin/sh\nset -e\n# HookRun: rewrite\n",
            3,
            "below the first line of code",
            "move it above",
        ),
        (
            "#!/bin/sh\n# hookrun: command=git .*push\n",
            2,
            "unknown setting `.*push`",
            "quote a value with spaces",
        ),
        (
            "#!/bin/sh\n# hookrun: where.prompt=no such thing timeout=1s\n",
            2,
            "unknown setting `such`",
            "quote a value with spaces",
        ),
    ] {
        let sandbox = Sandbox::new().script("hooks.d/prompt.submit/h", text);
        let problems = sandbox.problems(&[]);
        let place = format!("hooks.d/prompt.submit/h:{line}:");
        let is_it = |one: &String| [&place, cause, cure].iter().all(|part| one.contains(*part));
        assert!(problems.iter().any(is_it), "no `{cause}` in {problems:?}");
        sandbox.run("prompt.submit").blocks_saying(cause);
    }
    // What is no directive is none anywhere.
    let text = "#!/bin/sh\nset -e\n# hookrun, see the manual\n# See hookrun: it runs hooks.\n";
    let sandbox = Sandbox::new().script("hooks.d/prompt.submit/h", text);
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
}

#[test]
fn a_where_on_a_key_that_the_event_does_not_have_is_told() {
    let own = "[event.\"deploy.pre\"]\nsummary = \"x\"\ncontext = { service = \"string\" }\n";
    for (event, key, severity, cure) in [
        (
            "prompt.submit",
            "promt",
            "error",
            "did you mean `where.prompt`?",
        ),
        (
            "tool.pre",
            "toolInpt.command",
            "error",
            "did you mean `where.toolInput.command`?",
        ),
        (
            "deploy.pre",
            "servce",
            "error",
            "did you mean `where.service`?",
        ),
        ("tool.pre", "weather", "warning", "hookrun events tool.pre"),
    ] {
        let text = format!("#!/bin/sh\n# hookrun: where.{key}=secret\nexit 1\n");
        let sandbox = Sandbox::new()
            .file("hookrun.toml", own)
            .script(&format!("hooks.d/{event}/h"), &text);
        let problems = sandbox.problems(&[]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        let place = format!("{severity} hooks.d/{event}/h:2:");
        assert!(problems[0].starts_with(&place), "{problems:?}");
        assert!(problems[0].contains(cure), "{problems:?}");
        if severity == "error" {
            sandbox
                .run(event)
                .blocks_saying(&format!("has no key `{}`", key.split('.').next().unwrap()));
        }
    }
    for (event, key) in [
        ("tool.pre", "toolInput.url"),
        ("tool.pre", "cwd"),
        ("tool.pre", "action.kind"),
    ] {
        let text = format!("#!/bin/sh\n# hookrun: where.{key}=secret\n");
        let sandbox = Sandbox::new().script(&format!("hooks.d/{event}/h"), &text);
        assert_eq!(sandbox.problems(&[]), Vec::<String>::new(), "{key}");
    }
}

#[test]
fn a_near_miss_of_a_tools_name_is_told_with_its_line() {
    let sandbox = Sandbox::new().hook("h", "\n# hookrun: tool=bahs");
    let warning = "hooks.d/tool.pre/h:3:1: no known agent has a tool `bahs`";
    for command in ["validate", "doctor", "list"] {
        let ran = sandbox.hookrun(&[command], b"");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(warning), "{command}: {said}");
        assert!(said.contains("did you mean `bash`?"), "{command}: {said}");
    }
}

#[test]
fn a_hook_that_cannot_start_is_an_error_of_doctor_as_of_validate() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new().hook("h", "exit 1");
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(sandbox.at("hooks.d/tool.pre/h"), mode).unwrap();
    for command in ["validate", "doctor"] {
        sandbox
            .hookrun(&[command], b"")
            .exits(1)
            .prints("is not executable");
    }
}

const GUARD: &str = "#!/bin/sh\necho 'the guard says no' >&2; exit 1\n";

/// Decides in a folder where the agent has put scripts of the guards' names.
fn ask_among_decoys(sandbox: &Sandbox) -> Ran {
    let there = sandbox.at("agent");
    let start = |command: &mut Command| {
        command.current_dir(there);
    };
    let context = json!({"toolName": "bash", "toolInput": {"command": "ls"}}).to_string();
    let arguments = ["run", "tool.pre", "--hooks", "../policy"];
    sandbox.hookrun_as(start, &arguments, context.as_bytes())
}

/// A policy with this command, and decoys of its guard in the working directory of an agent.
fn policy(command: &str, shell: bool) -> Sandbox {
    let table = format!(
        "[[hook]]\nname = \"guard\"\nevent = \"tool.pre\"\nshell = {shell}\ncommand = '''{command}'''\n"
    );
    let mut sandbox = Sandbox::new().file("policy/hookrun.toml", &table);
    for name in ["guard.sh", "bin/guard.sh", "guard", "lost.sh"] {
        if name != "lost.sh" {
            sandbox = sandbox.script(&format!("policy/{name}"), GUARD);
        }
        sandbox = sandbox.script(&format!("agent/{name}"), "#!/bin/sh\ntouch decoy\n");
    }
    sandbox
}

#[test]
fn a_decoy_in_the_working_directory_never_replaces_a_guard() {
    for (command, shell, reason) in [
        ("./guard.sh", false, "the guard says no"),
        ("bin/guard.sh", false, "the guard says no"),
        ("sh guard.sh", false, "the guard says no"),
        ("sh guard", false, "the guard says no"),
        ("sh ./guard.sh", false, "the guard says no"),
        ("sh -e bin/guard.sh --strict", false, "the guard says no"),
        ("env LANG=C sh guard.sh", false, "the guard says no"),
        ("timeout 5 ./guard.sh", false, "the guard says no"),
        (
            "sh -c './guard.sh; exit 1'",
            false,
            "`./guard.sh` would be looked up in the event's",
        ),
        ("sh lost.sh", false, "`lost.sh` does not exist in"),
        (
            "./guard.sh",
            true,
            "`./guard.sh` would be looked up in the event's",
        ),
        (
            "sh guard.sh || exit 1",
            true,
            "`guard.sh` would be looked up in the event's",
        ),
        (
            "cat | sh guard.sh",
            true,
            "`guard.sh` would be looked up in the event's",
        ),
        (
            ". ./guard.sh",
            true,
            "`./guard.sh` would be looked up in the event's",
        ),
        (
            "\"$HOOKRUN_HOOK_DIR\"/guard.sh | cat; exit 1",
            true,
            "the guard says no",
        ),
        ("\"$HOOKRUN_HOOK_DIR\"/guard.sh", true, "the guard says no"),
        (
            "sh \"$HOOKRUN_HOOK_DIR/bin/guard.sh\"",
            true,
            "the guard says no",
        ),
    ] {
        let sandbox = policy(command, shell);
        let ran = ask_among_decoys(&sandbox);
        assert_eq!(ran.status, 2, "{command}: {ran:?}");
        assert!(ran.stderr.contains(reason), "{command}: {ran:?}");
        sandbox.has_no_file("agent/decoy");
        let is_wrong = reason.contains("would be looked up") || reason.contains("does not exist");
        let problems = sandbox.problems(&["--hooks", "policy"]);
        assert_eq!(!problems.is_empty(), is_wrong, "{command}: {problems:?}");
    }
}

#[test]
fn what_editors_and_interpreters_leave_behind_is_passed_over() {
    let mut sandbox = Sandbox::new().hook("a.sh", "exit 0");
    for name in [
        "#a.sh#",
        ".#a.sh",
        "4913",
        "a.sh~",
        ".a.sh.swp",
        "a.sh.orig",
        "a.pyc",
        "README.md",
    ] {
        sandbox = sandbox.file(&format!("hooks.d/tool.pre/{name}"), "");
    }
    let sandbox = sandbox
        .file("hooks.d/tool.pre/__pycache__/common.pyc", "")
        .file("hooks.d/__pycache__/common.pyc", "")
        .file("hooks.d/4913", "");
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    assert_eq!(sandbox.order("tool.pre", &[]), ["a.sh"]);
    sandbox.run("tool.pre").allows();
}

#[test]
fn a_named_folder_with_hooks_in_it_may_be_called_as_an_event() {
    for name in [
        "stop",
        "context",
        "input",
        "setup",
        "error",
        "notification",
        "Stop",
    ] {
        let sandbox =
            Sandbox::new().script(&format!("{name}/hooks.d/tool.pre/a.sh"), "#!/bin/sh\n");
        assert_eq!(
            sandbox.order("tool.pre", &["--hooks", name]),
            ["a.sh"],
            "{name}"
        );
    }
}

#[test]
fn the_host_of_a_settings_file_can_be_named_before_it() {
    let sandbox = Sandbox::new()
        .file("own.json", "{}")
        .file("agent.json", "{\"name\":\"x\",\"hooks\":{}}");
    for (written, file) in [
        ("codex:own.json", "own.json"),
        ("claude:agent.json", "agent.json"),
    ] {
        let ran = sandbox.hookrun(&["validate", "--settings", written], b"");
        assert!(
            !ran.stdout.contains("No such file"),
            "{written} {file}: {ran:?}"
        );
        ran.exits(0);
    }
}

#[test]
fn a_hook_that_is_required_and_not_bound_blocks() {
    let sandbox = Sandbox::new()
        .hook("guard.sh", "")
        .hook("off.sh", "# hookrun: enabled=false")
        .file("empty/file", "");
    let ask = |arguments: &[&str]| {
        let mut all = vec!["run", "tool.pre"];
        all.extend(arguments);
        sandbox.hookrun(&all, b"{}")
    };
    for required in [&["any"][..], &["guard.sh"], &["any", "guard.sh"]] {
        let arguments: Vec<&str> = required
            .iter()
            .flat_map(|name| ["--require", name])
            .collect();
        ask(&arguments).allows();
    }
    for required in [&["other.sh"][..], &["off.sh"], &["guard.sh", "other.sh"]] {
        let arguments: Vec<&str> = required
            .iter()
            .flat_map(|name| ["--require", name])
            .collect();
        ask(&arguments).blocks_saying("is required, but ");
    }
    let ran = ask(&["--hooks", "empty", "--require=any"]);
    ran.blocks_saying("no hook runs for tool.pre, but one is required");
    ran.blocks_saying("empty");
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let payload = payload.to_string();
    for event in [&payload, "{\"hook_event_name\":\"NewAndStrange\"}"] {
        let arguments = ["run", "--host", "claude", "--require", "other.sh"];
        sandbox.hookrun(&arguments, event.as_bytes()).exits(2);
    }
    sandbox
        .hookrun(
            &["run", "--host", "git", "pre-auto-gc", "--require", "any"],
            b"",
        )
        .exits(1);
}

#[test]
fn that_no_hook_was_found_is_told_with_the_places() {
    let sandbox = Sandbox::new()
        .without_trust()
        .script("hook.d/tool.pre/guard.sh", GUARD);
    let place = fs::canonicalize(sandbox.path())
        .unwrap()
        .display()
        .to_string();
    let looked = format!("looked in {place}");

    let ran = sandbox.hookrun(&["run", "tool.pre", "--format", "github"], b"{}");
    ran.exits(0)
        .prints("::warning title=no hook decided tool.pre::no hook runs for tool.pre");
    sandbox
        .hookrun(&["test", "tool.pre"], b"{}")
        .exits(0)
        .says("no hook runs for tool.pre; `hookrun doctor` shows");
    let doctor = sandbox.hookrun(&["doctor"], b"");
    assert!(doctor.stdout.contains(&looked), "{doctor:?}");
    for format in ["human", "json", "junit", "github"] {
        let ran = sandbox.hookrun(&["validate", "--format", format], b"");
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(
            ran.stdout.contains("no hooks were found; looked in"),
            "{format}: {ran:?}"
        );
    }
    sandbox
        .hookrun(&["doctor"], b"")
        .prints("no hooks were found");
    sandbox.hookrun(&["list"], b"").prints(&looked);
    let sandbox = sandbox.file("event", TOOL);
    let ran = at_terminal(&sandbox, &["run", "tool.pre"], &[]);
    ran.exits(0)
        .says("no hook runs for tool.pre; `hookrun doctor` shows");
    assert_eq!(ran.stdout, "");
    let bound = Sandbox::new().hook("hook", "true").file("event", TOOL);
    let silent = at_terminal(&bound, &["run", "tool.pre"], &[]);
    assert!(!silent.stderr.contains("no hook is bound"), "{silent:?}");
    // A host shows the stderr of a hook that allows to nobody, or in a log of its own.
    sandbox
        .run("tool.pre")
        .exits(0)
        .says("no hook runs for tool.pre; `hookrun doctor` shows");
    assert_eq!(sandbox.run("tool.post").stderr, "");
    let ask = |host: &str, event: &str| {
        let payload = json!({"hook_event_name": event, "tool_name": "x", "tool_input": {}});
        sandbox.hookrun(&["run", "--host", host], payload.to_string().as_bytes())
    };
    ask("claude", "PreToolUse")
        .exits(0)
        .says("no hook runs for tool.pre; ");
    // This one would show it to its user at every call.
    assert_eq!(ask("gemini", "BeforeTool").stderr, "");
    // Somebody has hooks, and they are about other events.
    let other = Sandbox::new().script("hooks.d/tool.post/hook", "#!/bin/sh\n");
    let ran = other.run("tool.pre");
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "", "")
    );
}

#[test]
fn a_name_in_other_letters_closes_gates_where_there_are_no_hooks() {
    for name in [
        "Hooks.d/tool.pre/guard.sh",
        "HOOKRUN.toml",
        ".Hookrun/hooks.d/tool.pre/guard.sh",
    ] {
        let sandbox = Sandbox::new()
            .without_trust()
            .script(name, GUARD)
            .file("sub/file", "");
        let there = sandbox.at("sub");
        let start = |command: &mut Command| {
            command.current_dir(there);
        };
        let ran = sandbox.hookrun_as(start, &["run", "tool.pre"], b"{}");
        ran.blocks_saying("so no hooks in it run");
        sandbox
            .hookrun(&["validate"], b"")
            .exits(1)
            .prints("rename it to");
    }
}

#[test]
fn a_module_of_a_hook_system_is_no_hook() {
    const OMP: &str =
        "export default function (api) {\n  omp.on('tool_call', () => ({ block: true }));\n}\n";
    const WOLLI: &str = "export default async function (context) { return { block: true }; }\n";
    for (place, text, whose) in [
        ("hooks.d/tool.pre/guard.mjs", OMP, "omp"),
        ("hooks.d/tool_call/guard.ts", WOLLI, "wolli"),
        (
            "hooks.d/tool.pre/guard.mjs",
            WOLLI,
            "an agent's plugin system",
        ),
        (
            "hooks.d/tool.pre/guard.ts",
            &format!("// hookrun: dialect=pi\n{WOLLI}"),
            "pi",
        ),
    ] {
        let sandbox = Sandbox::new().script(place, &format!("#!/usr/bin/env node\n{text}"));
        let problems = sandbox.problems(&[]);
        let wanted = format!("error {place}: is a module that only {whose} can load");
        assert!(problems[0].starts_with(&wanted), "{problems:?}");
        sandbox.run("tool.pre").exits(2).says("is a module");
    }
    // One that reads its event is a program too.
    let both = "#!/bin/sh\ncat >/dev/null <<'END'\nexport default 1\nprocess.stdin\nEND\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/both", both);
    sandbox.run("tool.pre").allows();
}

#[test]
fn a_script_that_is_named_alone_closes_the_gate() {
    let sandbox = Sandbox::new().script("gate.sh", "#!/bin/sh\n");
    let ran = sandbox.hookrun(&["run", "tool.pre", "--hooks", "gate.sh"], b"{}");
    ran.exits(2)
        .says("is neither a folder of hooks nor a TOML file");
    let sandbox = Sandbox::new().hook("gate.sh", "# hookrun: event=tool.pre");
    let wanted = "error hooks.d/tool.pre/gate.sh:2:12: unknown setting `event` \
                  [remove `event`; the hook's folder in hooks.d names the event]";
    assert_eq!(sandbox.problems(&[]), [wanted]);
}
