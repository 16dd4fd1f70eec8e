//! Hooks in settings run by the rules of their host: matchers, environment, time, order.

use std::fs;

use serde_json::{Value, json};

use super::everywhere::run;
use crate::nasty::running::wait_until;
use crate::sandbox::{Ran, Sandbox};

const CLAUDE: &str = ".claude/settings.json";

/// Claude's settings with these groups before a tool.
fn gate(groups: &Value) -> Sandbox {
    let text = json!({ "hooks": { "PreToolUse": groups } }).to_string();
    Sandbox::new().file(CLAUDE, &text)
}

fn hook(command: &str) -> Value {
    json!({"type": "command", "command": command})
}

fn one(hook: &Value) -> Sandbox {
    gate(&json!([{ "hooks": [hook] }]))
}

/// A native host asks about a tool.
fn ask(sandbox: &Sandbox, settings: &str, tool: &str, input: &Value) -> Ran {
    let context = json!({"sessionId": "s-1", "toolName": tool, "toolInput": input}).to_string();
    sandbox.hookrun(
        &["run", "tool.pre", "--settings", settings],
        context.as_bytes(),
    )
}

fn shell(sandbox: &Sandbox, settings: &str) -> Ran {
    ask(sandbox, settings, "bash", &json!({"command": "git push"}))
}

#[test]
fn a_matcher_is_held_against_the_name_in_the_hooks_own_host() {
    for (matcher, runs) in [
        ("Bash", true),
        ("bash", false),
        ("Write|Bash", true),
        ("^Ba", true),
        ("Read", false),
    ] {
        let sandbox = gate(&json!([{ "matcher": matcher, "hooks": [hook("exit 2")] }]));
        let status = if runs { 2 } else { 0 };
        assert_eq!(shell(&sandbox, CLAUDE).status, status, "{matcher}");
    }
}

#[test]
fn a_condition_filters_by_command_and_by_path() {
    let cases = [
        ("Bash(git *)", "bash", json!({"command": "git push"}), true),
        (
            "Bash(git *)",
            "bash",
            json!({"command": "cd x && git push"}),
            true,
        ),
        ("Bash(git *)", "bash", json!({"command": "ls"}), false),
        (
            "Edit(*.ts)",
            "edit",
            json!({"path": "src/a.ts", "old_str": "", "new_str": ""}),
            true,
        ),
        (
            "Edit(*.ts)",
            "edit",
            json!({"path": "src/a.rs", "old_str": "", "new_str": ""}),
            false,
        ),
        ("Read", "bash", json!({"command": "ls"}), false),
    ];
    for (rule, tool, input, runs) in cases {
        let sandbox = one(&json!({"type": "command", "command": "exit 2", "if": rule}));
        let ran = ask(&sandbox, CLAUDE, tool, &input);
        assert_eq!(ran.status, if runs { 2 } else { 0 }, "{rule}: {ran:?}");
    }
}

#[test]
fn a_matcher_of_cursor_is_held_against_the_command_where_its_event_is_about_one() {
    let hooks = json!({"version": 1, "hooks": {"beforeShellExecution": [
        {"command": "exit 2", "matcher": "curl|wget"}
    ]}});
    let settings = ".cursor/hooks.json";
    let sandbox = Sandbox::new().file(settings, &hooks.to_string());
    ask(&sandbox, settings, "bash", &json!({"command": "ls"})).allows();
    assert_eq!(
        ask(&sandbox, settings, "bash", &json!({"command": "curl x"})).status,
        2
    );
    // It is not told of other tools at all.
    ask(&sandbox, settings, "write", &json!({"path": "curl"})).allows();
}

#[test]
fn of_several_events_for_one_moment_a_hook_hears_its_own() {
    let hooks = json!({"version": 1, "hooks": {
        "beforeShellExecution": [{"command": "echo before >> seen"}],
        "preToolUse": [{"command": "echo any >> seen"}],
    }});
    let settings = ".cursor/hooks.json";
    let sandbox = Sandbox::new().file(settings, &hooks.to_string());
    let payload = json!({"hook_event_name": "beforeShellExecution", "command": "ls"});
    run(&sandbox, "cursor", settings, &payload).allows();
    assert_eq!(sandbox.read("seen"), "before\n");
}

#[test]
fn a_hook_finds_the_variables_of_its_host() {
    let wanted = "CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_PROJECT_DIR";
    let sandbox = one(&hook(
        "for name in CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_PROJECT_DIR; do \
         eval \"echo $name=\\$$name\"; done > seen",
    ));
    shell(&sandbox, CLAUDE).allows();
    let root = sandbox.path().canonicalize().unwrap();
    let values = ["1", "s-1", root.to_str().unwrap()];
    let lines = wanted
        .split(' ')
        .zip(values)
        .map(|(name, value)| format!("{name}={value}\n"));
    assert_eq!(sandbox.read("seen"), lines.collect::<String>());
}

#[test]
fn what_the_host_that_asks_has_set_itself_stays() {
    let sandbox = one(&hook("echo \"$CLAUDE_PROJECT_DIR\" > seen"));
    let sandbox = sandbox.variable("CLAUDE_PROJECT_DIR", "/somewhere");
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    run(&sandbox, "claude", CLAUDE, &payload).allows();
    assert_eq!(sandbox.read("seen"), "/somewhere\n");
}

#[test]
fn drop_ins_of_a_host_find_its_variables_too() {
    let sandbox = Sandbox::new().hook_of("gemini", "BeforeTool", "h", "echo $GEMINI_CWD > seen");
    sandbox.run_shell("ls").allows();
    assert_eq!(
        sandbox.read("seen").trim_end(),
        sandbox.path().canonicalize().unwrap().to_str().unwrap()
    );
}

#[test]
fn a_plugin_finds_its_folder() {
    let hooks =
        json!({"hooks": {"PreToolUse": [{"hooks": [hook("${CLAUDE_PLUGIN_ROOT}/guard")]}]}});
    let sandbox = Sandbox::new()
        .file("plugin/hooks/hooks.json", &hooks.to_string())
        .script("plugin/guard", "#!/bin/sh\necho no >&2; exit 2\n");
    shell(&sandbox, "claude:plugin/hooks/hooks.json").blocks("no");
}

#[test]
fn variables_and_folder_of_a_hook_are_its_own() {
    let hooks = json!({"version": 1, "hooks": {"preToolUse": [
        {"bash": "echo $LEVEL > seen", "env": {"LEVEL": "high"}, "cwd": "sub"}
    ]}});
    let settings = ".github/hooks/h.json";
    let sandbox = Sandbox::new()
        .file(settings, &hooks.to_string())
        .file("sub/x", "");
    shell(&sandbox, settings).allows();
    assert_eq!(sandbox.read("sub/seen"), "high\n");
}

#[test]
fn with_arguments_no_shell_is_between() {
    let sandbox = one(&json!({"type": "command", "command": "touch", "args": ["a b", "$HOME"]}));
    shell(&sandbox, CLAUDE).allows();
    sandbox.has_file("a b");
    sandbox.has_file("$HOME");
}

#[test]
fn a_time_is_in_the_unit_of_its_host() {
    let times = [
        (
            CLAUDE,
            json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "timeout": 7}]}]}),
            7_000,
        ),
        (
            CLAUDE,
            json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "timeout": 0.5}]}]}),
            500,
        ),
        (
            CLAUDE,
            json!({"PreToolUse": [{"hooks": [hook("true")]}]}),
            600_000,
        ),
        (
            CLAUDE,
            json!({"SessionEnd": [{"hooks": [hook("true")]}]}),
            1_500,
        ),
        (
            ".codex/hooks.json",
            json!({"SessionEnd": [{"hooks": [hook("true")]}]}),
            1_000,
        ),
        (
            ".gemini/settings.json",
            json!({"BeforeTool": [{"hooks": [{"command": "true", "timeout": 7000}]}]}),
            7_000,
        ),
        (
            ".gemini/settings.json",
            json!({"BeforeTool": [{"hooks": [hook("true")]}]}),
            60_000,
        ),
        (
            ".cursor/hooks.json",
            json!({"preToolUse": [{"command": "true", "timeout": 7}]}),
            7_000,
        ),
        (
            ".github/hooks/h.json",
            json!({"preToolUse": [{"bash": "true", "timeoutSec": 7}]}),
            7_000,
        ),
        (
            ".github/hooks/h.json",
            json!({"preToolUse": [{"bash": "true"}]}),
            30_000,
        ),
    ];
    for (settings, hooks, millis) in times {
        let sandbox = Sandbox::new().file(settings, &json!({ "hooks": hooks }).to_string());
        let list = sandbox.json(&["list", "--format", "json", "--settings", settings]);
        assert_eq!(
            list["hooks"][0]["rules"][0]["timeoutMs"], millis,
            "{settings}: {hooks}"
        );
    }
}

#[test]
fn a_hook_that_runs_the_same_runs_once_in_claude_alone() {
    let group = json!({ "hooks": [hook("echo ran >> seen"), hook("echo ran >> seen")] });
    let claude = gate(&json!([group, { "matcher": "Bash", "hooks": [hook("echo ran >> seen")] }]));
    shell(&claude, CLAUDE).allows();
    assert_eq!(claude.read("seen"), "ran\n");
    let text = json!({"hooks": {"PreToolUse": [group]}}).to_string();
    let codex = Sandbox::new().file(".codex/hooks.json", &text);
    shell(&codex, ".codex/hooks.json").allows();
    assert_eq!(codex.read("seen"), "ran\nran\n");
}

#[test]
fn hooks_of_claude_run_at_once_and_answer_in_their_order() {
    // Each waits for the other one.
    let wait = |own: &str, other: &str| {
        format!("touch {own}; while ! [ -e {other} ]; do sleep 0.01; done; echo {own} >&2; exit 2")
    };
    let sandbox = gate(&json!([{ "hooks": [hook(&wait("a", "b")), hook(&wait("b", "a"))] }]));
    let ran = shell(&sandbox, CLAUDE);
    assert_eq!(ran.status, 2, "{ran:?}");
}

#[test]
fn a_sequential_group_of_gemini_hands_on_what_it_rewrites() {
    let rewrite = r#"echo '{"hookSpecificOutput":{"tool_input":{"command":"safe"}}}'"#;
    let hooks = json!({"BeforeTool": [
        {"sequential": true, "hooks": [hook(rewrite), hook("cat > seen")]}
    ]});
    let settings = ".gemini/settings.json";
    let sandbox = Sandbox::new().file(settings, &json!({ "hooks": hooks }).to_string());
    shell(&sandbox, settings).exits(0);
    assert_eq!(sandbox.read_json("seen")["tool_input"]["command"], "safe");
}

#[test]
fn what_is_not_waited_for_decides_nothing_and_runs_to_its_end() {
    let hook =
        json!({"type": "command", "command": "cat > seen; touch done; exit 2", "async": true});
    let sandbox = one(&hook);
    shell(&sandbox, CLAUDE).allows();
    wait_until("the hook has run", || sandbox.at("done").exists());
    assert_eq!(
        sandbox.read_json("seen")["tool_input"]["command"],
        "git push"
    );
}

#[test]
fn what_only_its_host_can_run_is_reported_as_not_run() {
    for kind in ["prompt", "agent", "http", "mcp_tool"] {
        let sandbox = gate(&json!([{ "matcher": "Bash", "hooks": [
            {"type": kind, "prompt": "ok?"}, hook("echo no >&2; exit 2"),
        ] }]));
        shell(&sandbox, CLAUDE).blocks_saying("no");
        let cause = format!("hookrun does not run a hook of type `{kind}`");
        for command in ["list", "validate"] {
            let ran = sandbox.hookrun(&[command, "--settings", CLAUDE], b"");
            ran.exits(0);
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            let place = format!("warning: {CLAUDE}:");
            assert!(
                printed.contains(&place) && printed.contains(&cause),
                "{command}: {printed}"
            );
        }
        let list = sandbox.json(&["list", "--settings", CLAUDE, "--format", "json"]);
        assert_eq!(list["hooks"].as_array().unwrap().len(), 1, "{list}");
    }
}

#[test]
fn what_its_author_says_about_failures_counts() {
    let claude = |switch: Value| {
        let mut hook = hook("exit 1");
        hook["onFailure"] = switch;
        shell(&one(&hook), CLAUDE)
    };
    // An error there, and no refusal; with the switch it is one.
    shell(&one(&hook("exit 1")), CLAUDE).allows();
    claude(json!("block")).blocks_saying("fail closed");
    let cursor = |switch: &str| {
        let hooks = format!(
            "{{\"version\":1,\"hooks\":{{\"preToolUse\":[{{\"command\":\"exit 127\"{switch}}}]}}}}"
        );
        let sandbox = Sandbox::new().file(".cursor/hooks.json", &hooks);
        shell(&sandbox, ".cursor/hooks.json").status
    };
    assert_eq!(cursor(""), 2);
    assert_eq!(cursor(",\"failClosed\":true"), 2);
    assert_eq!(cursor(",\"failClosed\":false"), 0);
}

#[test]
fn a_file_can_switch_all_of_its_hooks_off() {
    let groups = json!([{ "hooks": [hook("exit 2")] }]);
    let switched = [
        (CLAUDE, json!({"disableAllHooks": true, "hooks": {"PreToolUse": groups}}).to_string()),
        (
            ".codex/config.toml",
            "[features]\nhooks = false\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"exit 2\"\n"
                .to_string(),
        ),
        (
            ".github/hooks/h.json",
            json!({"disableAllHooks": true, "hooks": {"preToolUse": [{"bash": "exit 2"}]}}).to_string(),
        ),
    ];
    for (settings, text) in switched {
        let sandbox = Sandbox::new().file(settings, &text);
        shell(&sandbox, settings).allows();
        let found = sandbox.problems(&["--settings", settings]).join("\n");
        assert!(
            found.contains("no hook in this file runs"),
            "{settings}: {found}"
        );
    }
}

#[test]
fn gemini_can_switch_single_hooks_off() {
    let named = json!({"name": "guard", "command": "exit 2"});
    for (list, status) in [
        (json!(["guard"]), 0),
        (json!(["exit 2"]), 0),
        (json!(["other"]), 2),
    ] {
        let hooks = json!({
            "hooksConfig": { "disabled": list }, "hooks": { "BeforeTool": [{ "hooks": [named] }] },
        });
        let sandbox = Sandbox::new().file(".gemini/settings.json", &hooks.to_string());
        assert_eq!(
            shell(&sandbox, ".gemini/settings.json").status,
            status,
            "{list}"
        );
    }
}

#[test]
fn a_patch_over_two_files_is_asked_about_file_by_file() {
    let command = "jq -e '.tool_input.file_path == \".env\"' >/dev/null && { echo secrets >&2; exit 2; }; exit 0";
    let sandbox = gate(&json!([{ "matcher": "Edit|Write", "hooks": [hook(command)] }]));
    let patch = |second: &str| {
        let patch = format!(
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: {second}\n+z\n*** End Patch"
        );
        json!({"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch}})
    };
    let ran = run(&sandbox, "codex", CLAUDE, &patch(".env"));
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (2, "secrets\n"),
        "{ran:?}"
    );
    run(&sandbox, "codex", CLAUDE, &patch("b")).allows();
}

#[test]
fn what_cannot_go_back_to_the_host_blocks() {
    let new = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "updatedInput": {"file_path": "b", "content": "y"}}});
    let sandbox = gate(&json!([{ "matcher": "Write", "hooks": [hook(&format!("echo '{new}'"))] }]));
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch}});
    run(&sandbox, "codex", CLAUDE, &payload)
        .exits(2)
        .says("cannot be returned to the host");
    let payload = json!({"hook_event_name": "BeforeTool", "tool_name": "write_file",
        "tool_input": {"file_path": "a", "content": "x"}});
    let ran = run(&sandbox, "gemini", CLAUDE, &payload);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        said["hookSpecificOutput"]["tool_input"],
        json!({"file_path": "b", "content": "y"})
    );
}

#[test]
fn test_list_and_show_read_settings_too() {
    let sandbox = gate(&json!([{ "matcher": "Bash", "hooks": [hook("echo no >&2; exit 2")] }]));
    let context = json!({"toolName": "bash", "toolInput": {"command": "ls"}}).to_string();
    let tested = sandbox.hookrun(
        &["test", "tool.pre", "--settings", CLAUDE],
        context.as_bytes(),
    );
    tested
        .exits(1)
        .prints("hooks.PreToolUse[0].hooks[0]")
        .prints("tool Bash");
    let shown = ["list", "hooks.PreToolUse[0].hooks[0]", "--settings", CLAUDE];
    sandbox
        .hookrun(&shown, b"")
        .exits(0)
        .prints("sh -c")
        .prints("claude")
        .prints("timeoutMs 600000");
    fs::metadata(sandbox.at(CLAUDE)).unwrap();
}
