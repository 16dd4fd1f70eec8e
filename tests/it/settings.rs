//! Settings files of hosts, by `--settings`: here the `hooks` of a profile, below those of agent
//! hosts.

mod conditions;
mod everywhere;
mod mistakes;
mod news;
mod rules;

use std::fs;

use hookrun::internals::config::{Choice, Config, ConfigScope, Environment};
use serde_json::{Value, json};

use crate::nasty::running::wait_until;
use crate::sandbox::{Ran, Sandbox};

const ALLOW_COMMANDS: &str = "OWNWARE_ALLOW_COMMAND_HOOKS";
const KILL_SWITCH: &str = "OWNWARE_DISABLE_HOOKS";

const FILE: &[&str] = &["--settings", "shop/agent.json"];

/// A profile `shop` with these hooks, in a folder of its own.
fn profile(hooks: &Value) -> Sandbox {
    let text = json!({ "name": "shop", "model": "some-model", "hooks": hooks });
    written(&format!("{text:#}"))
}

fn written(text: &str) -> Sandbox {
    let sandbox = Sandbox::new().file("shop/agent.json", text);
    let state = sandbox.at("state").to_str().unwrap().to_string();
    sandbox
        .variable("XDG_STATE_HOME", &state)
        .variable(ALLOW_COMMANDS, "1")
}

fn run(sandbox: &Sandbox, event: &str, context: &Value) -> Ran {
    let arguments = ["run", event, FILE[0], FILE[1]];
    sandbox.hookrun(&arguments, context.to_string().as_bytes())
}

fn tool(name: &str) -> Value {
    json!({ "turnIndex": 3, "toolName": name, "toolInput": { "to": "a@b.c" } })
}

/// The causes that `validate` finds, with their places.
#[track_caller]
fn problems(sandbox: &Sandbox) -> Vec<String> {
    sandbox.problems(FILE)
}

#[test]
fn every_bucket_is_bound_to_its_event_and_its_hooks_have_the_names_of_loom() {
    let commands = json!([{ "action": "command", "command": "true" }]);
    let keys = [
        "onStart",
        "onToolCall",
        "onToolEnd",
        "onModelCall",
        "onModelEnd",
        "onComplete",
        "onError",
    ];
    let hooks: Value = keys
        .iter()
        .map(|key| (key.to_string(), commands.clone()))
        .collect();
    let sandbox = profile(&hooks);
    let list = sandbox.json(&["list", FILE[0], FILE[1], "--format", "json"]);
    let mut found: Vec<String> = Vec::new();
    for hook in list["hooks"].as_array().unwrap() {
        assert_eq!(
            (&hook["layer"], &hook["file"]),
            (&json!("explicit"), &json!(FILE[1]))
        );
        assert!(hook["line"].as_u64() > Some(1), "{hook}");
        found.push(format!(
            "{} {}",
            hook["name"].as_str().unwrap(),
            hook["event"].as_str().unwrap()
        ));
    }
    found.sort();
    let mut wanted = [
        "hooks.onStart[0]:command session.start",
        "hooks.onToolCall[0]:command tool.pre",
        "hooks.onToolEnd[0]:command tool.post",
        "hooks.onModelCall[0]:command model.pre",
        "hooks.onModelEnd[0]:command model.post",
        "hooks.onComplete[0]:command session.end",
        "hooks.onError[0]:command error",
    ];
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn show_names_the_line_of_an_entry() {
    let sandbox = written(
        "{\n \"hooks\": {\n  \"onStart\": [\n   {\"action\": \"command\", \"command\": \"true\"}]}}\n",
    );
    let shown = sandbox.hookrun(&["show", "hooks.onStart[0]:command", FILE[0], FILE[1]], b"");
    shown
        .exits(0)
        .prints("shop/agent.json:4 (explicit layer)")
        .prints("loom");
}

#[test]
fn an_action_that_is_no_command_is_reported_as_not_run() {
    let hooks = json!({ "onToolCall": [
        { "action": "command", "command": "true" },
        { "action": "log", "level": "warn" },
        { "action": "approve", "tools": ["send_*"] },
    ], "onComplete": [{ "action": "save_json", "path": "x" }, { "action": "webhook" }] });
    let sandbox = profile(&hooks);
    run(&sandbox, "tool.pre", &tool("send_mail")).allows();
    assert_eq!(
        sandbox.order("tool.pre", FILE),
        ["hooks.onToolCall[0]:command"]
    );
    let found = problems(&sandbox);
    assert_eq!(found.len(), 4, "{found:#?}");
    for (action, place) in [
        ("log", "hooks.onToolCall[1]"),
        ("approve", "hooks.onToolCall[2]"),
        ("save_json", "hooks.onComplete[0]"),
        ("webhook", "hooks.onComplete[1]"),
    ] {
        let cause = format!("the action `{action}` in `{place}` is not run by hookrun");
        let is_it = |one: &&String| one.starts_with("warning shop/agent.json:");
        let problem = found.iter().filter(is_it).find(|one| one.contains(&cause));
        assert!(problem.is_some(), "no {cause} in {found:#?}");
    }
}

#[test]
fn half_a_file_is_an_error_wherever_it_ends() {
    let hooks = json!({ "onToolCall": [
        { "action": "command", "command": "echo \u{fc}\n" },
        { "action": "command", "command": "true" },
    ], "onError": [{ "action": "command", "command": "true" }] });
    let text = json!({ "name": "shop", "hooks": hooks }).to_string();
    let sandbox = Sandbox::new();
    let file = sandbox.at("agent.json");
    let choice = Choice {
        settings: vec![file.clone()],
        ..Choice::default()
    };
    let env = Environment {
        cwd: sandbox.path().to_path_buf(),
        switches: vec![(ALLOW_COMMANDS, "1".to_string())],
        ..Environment::default()
    };
    for end in 0..=text.len() {
        fs::write(&file, &text.as_bytes()[..end]).unwrap();
        let config = Config::load(&choice, &env, ConfigScope::All);
        assert_eq!(
            config.has_errors(),
            end < text.len(),
            "{end}: {:?}",
            config.problems
        );
        assert_eq!(config.hooks.len(), if end < text.len() { 0 } else { 3 });
    }
}

#[test]
fn a_command_runs_by_the_shell_where_the_operator_allows_it() {
    let command = "cat > got.json; test ! -e stop || { echo 'not now' >&2; exit 3; }";
    let hooks = json!({ "onToolCall": [{ "action": "command", "command": command }] });
    let sandbox = profile(&hooks);
    run(&sandbox, "tool.pre", &tool("read")).exits(0);
    let got: Value = serde_json::from_str(&sandbox.read("got.json")).unwrap();
    assert_eq!(
        (&got["event"], &got["toolName"]),
        (&json!("tool.pre"), &json!("read"))
    );
    let sandbox = sandbox.file("stop", "");
    run(&sandbox, "tool.pre", &tool("read")).blocks("not now");
}

#[test]
fn a_command_is_an_error_until_exactly_1_allows_it() {
    let hooks = json!({ "onToolEnd": [{ "action": "command", "command": "touch marker" }] });
    let wanted = [
        "error shop/agent.json:6:7: `command` is off: a profile may come from anywhere \
         [read what it runs, then set OWNWARE_ALLOW_COMMAND_HOOKS=1; or drop it]",
    ];
    for sandbox in [
        profile(&hooks).variable(ALLOW_COMMANDS, ""),
        profile(&hooks).variable(ALLOW_COMMANDS, "true"),
    ] {
        assert_eq!(problems(&sandbox), wanted);
        run(&sandbox, "tool.post", &tool("read"))
            .exits(0)
            .says("`command` is off");
        sandbox.has_no_file("marker");
    }
}

#[test]
fn the_kill_switch_lets_nothing_run_and_says_so() {
    let hooks = json!({ "onToolCall": [
        { "action": "command", "command": "touch marker; exit 1" },
        { "action": "command", "command": "exit 1" },
        { "action": "command", "command": 7 },
    ] });
    let sandbox = profile(&hooks).variable(KILL_SWITCH, "1");
    run(&sandbox, "tool.pre", &tool("read")).allows();
    sandbox.has_no_file("marker");
    let list = sandbox.json(&["list", FILE[0], FILE[1], "--format", "json"]);
    let idle: Vec<&Value> = list["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| &hook["idle"])
        .collect();
    assert_eq!(
        idle,
        ["OWNWARE_DISABLE_HOOKS = 1", "OWNWARE_DISABLE_HOOKS = 1"]
    );
    let found = problems(&sandbox).join("\n");
    assert!(
        found.contains("OWNWARE_DISABLE_HOOKS=1: none of its hooks runs"),
        "{found}"
    );
    assert!(
        found.contains("`command` takes a string, not 7") && !found.contains("error "),
        "{found}"
    );
    let report = sandbox.hookrun(&["test", "tool.pre", FILE[0], FILE[1]], b"{}");
    report.exits(0).prints("OWNWARE_DISABLE_HOOKS = 1");
    let other = profile(&hooks).variable(KILL_SWITCH, "yes");
    assert!(problems(&other).join("\n").contains("error "));
}

#[test]
fn every_mistake_is_found_at_once_with_its_place() {
    let sandbox = written(
        r#"{
"hooks": {
"onToolcall": [],
"onStart": { "action": "log" },
"onError": [
 "log",
 { "level": "info" },
 { "action": "lgo" },
 { "action": "delete" },
 { "action": 1 },
 { "action": "command" },
 { "action": "command", "command": "true", "lvl": "x" },
 { "action": "command", "command": 1 },
 { "action": "command", "command": "true", "action": "command" }
],
"onToolCall": [
 { "action": "command", "command": " " }
],
"onError": []
}
}
"#,
    );
    let found: Vec<String> = problems(&sandbox.variable(ALLOW_COMMANDS, "1"))
        .iter()
        .map(|problem| problem.replace("shop/agent.json:", ""))
        .map(|problem| problem.split(" [").next().unwrap().to_string())
        .collect();
    let wanted = [
        "error 3:1: unknown key `onToolcall`",
        "error 4:12: `onStart` takes a list of actions, not an object",
        "error 6:2: an action is not an object but \"log\"",
        "error 7:2: the entry has no `action`",
        "error 8:14: unknown action `lgo`",
        "error 9:14: unknown action `delete`",
        "error 10:14: `action` takes a string, not 1",
        "error 11:2: `command` has no `command`",
        "error 12:44: unknown key `lvl`",
        "error 13:36: `command` takes a string, not 1",
        "error 14:44: `action` appears twice",
        "error 17:36: the command is empty, or has a NUL in it",
        "error 19:1: `onError` appears twice",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn a_file_of_no_shape_that_is_known_is_refused() {
    for (text, wanted) in [
        (
            "{",
            "error shop/agent.json:1:1: not valid JSON: EOF while parsing an object",
        ),
        (
            "{ // x\n}",
            "error shop/agent.json:1:3: not valid JSON: key must be a string",
        ),
        (
            "[]",
            "error shop/agent.json:1:1: the file is not an object but a list",
        ),
        (
            "{\"hooks\": 1}",
            "error shop/agent.json:1:11: `hooks` is not an object but 1",
        ),
        (
            "{\"hook\": {}}",
            "error shop/agent.json:1:2: unknown key `hook`",
        ),
        (
            "{\"hooks\": {\"PreToolUsage\": []}}",
            "error shop/agent.json:1:12: no known settings have a key `PreToolUsage`",
        ),
        (
            "{}",
            "warning shop/agent.json:1:1: it has no `hooks`, so nothing of it runs",
        ),
    ] {
        let found = problems(&written(text)).join("\n");
        assert!(
            found.lines().any(|line| line.starts_with(wanted)),
            "{text}: {found}"
        );
        let closed = wanted.starts_with("error");
        let ran = run(&written(text), "tool.pre", &tool("read"));
        assert_eq!(ran.status, if closed { 2 } else { 0 }, "{text}: {ran:?}");
    }
    let missing = Sandbox::new();
    run(&missing, "tool.pre", &tool("read")).blocks_saying("shop/agent.json: cannot be read");
    let latin = Sandbox::new();
    fs::create_dir(latin.at("shop")).unwrap();
    fs::write(latin.at("shop/agent.json"), b"{\"a\": \"\xff\"}").unwrap();
    run(&latin, "tool.pre", &tool("read")).blocks_saying("shop/agent.json:1:8: is not UTF-8");
}

#[test]
fn settings_stand_alone_unless_others_are_named_too() {
    let hooks = json!({ "onToolCall": [{ "action": "command", "command": "true" }] });
    let sandbox = profile(&hooks)
        .hook("10-project.sh", "")
        .hook("20-more.sh", "");
    let own = "hooks.onToolCall[0]:command";
    assert_eq!(sandbox.order("tool.pre", FILE), [own]);
    let all = [FILE, &["--discover"]].concat();
    assert_eq!(
        sandbox.order("tool.pre", &all),
        ["10-project.sh", "20-more.sh", own]
    );
    let both = [FILE, &["--hooks", "hooks.d"]].concat();
    assert_eq!(
        sandbox.order("tool.pre", &both),
        ["10-project.sh", "20-more.sh", own]
    );
    // A file that is named twice counts once.
    assert_eq!(sandbox.order("tool.pre", &[FILE, FILE].concat()), [own]);
    let alone = sandbox.hookrun(&["list", "--discover"], b"");
    alone.exits(2).says("--hooks").says("--settings");
}

#[test]
fn two_profiles_may_be_read_together() {
    let hooks = |name: &str| {
        let command = format!("echo {name} >> {{}}/log; true");
        json!({ "onToolCall": [{ "action": "command", "command": command }] }).to_string()
    };
    let sandbox = Sandbox::new().variable(ALLOW_COMMANDS, "1");
    let folder = sandbox.path().display().to_string();
    let text = |name| format!("{{\"hooks\": {}}}", hooks(name).replace("{}", &folder));
    let sandbox = sandbox
        .file("shop/agent.json", &text("shop"))
        .file("b.json", &text("b"));
    let arguments = [
        "run",
        "tool.pre",
        "--settings",
        "b.json",
        "--settings",
        "shop/agent.json",
    ];
    sandbox
        .hookrun(&arguments, tool("read").to_string().as_bytes())
        .allows();
    assert_eq!(sandbox.read("log"), "b\nshop\n");
}

#[test]
fn a_file_that_everyone_may_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = profile(&json!({ "onToolCall": [{ "action": "command", "command": "true" }] }));
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(sandbox.at("shop/agent.json"), mode).unwrap();
    run(&sandbox, "tool.pre", &tool("read")).blocks_saying("everyone may write it");
}

#[test]
fn a_detached_event_takes_its_settings_along() {
    let hooks = json!({ "onComplete": [{ "action": "command", "command": "true" }] });
    let detached = "[event.\"later\"]\nsummary = \"x\"\nblocks = false\nschedule = \"detached\"\n\n\
                    [[hook]]\nname = \"mark\"\nevent = \"later\"\ncommand = \"touch marker\"\n";
    let sandbox = profile(&hooks).file("own/hookrun.toml", detached);
    let arguments = ["run", "later", "--hooks", "own", FILE[0], FILE[1]];
    sandbox.hookrun(&arguments, b"{}").exits(0).allows();
    wait_until("the hook has run", || sandbox.at("marker").exists());
}
