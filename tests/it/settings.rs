//! Settings files of agents, by `--settings`.

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

const FILE: &[&str] = &["--settings", ".claude/settings.json"];

/// Claude's settings with these hooks before a tool.
fn with_commands(commands: &[&str]) -> Sandbox {
    let hooks: Vec<Value> = commands
        .iter()
        .map(|command| json!({ "type": "command", "command": command }))
        .collect();
    written(&json!({ "hooks": { "PreToolUse": [{ "hooks": hooks }] } }).to_string())
}

fn written(text: &str) -> Sandbox {
    Sandbox::new().file(FILE[1], text)
}

fn run(sandbox: &Sandbox) -> Ran {
    let arguments = ["run", "tool.pre", FILE[0], FILE[1]];
    sandbox.hookrun(&arguments, br#"{"toolName": "read"}"#)
}

#[test]
fn half_a_file_is_an_error_wherever_it_ends() {
    let text = json!({ "name": "shop", "hooks": {
        "PreToolUse": [{ "hooks": [{ "command": "echo \u{fc}\n" }, { "command": "true" }] }],
        "Stop": [{ "hooks": [{ "command": "true" }] }],
    } })
    .to_string();
    let sandbox = Sandbox::new();
    let file = sandbox.at(".claude/settings.json");
    fs::create_dir(sandbox.at(".claude")).unwrap();
    let choice = Choice {
        settings: vec![file.clone()],
        ..Choice::default()
    };
    let env = Environment {
        cwd: sandbox.path().to_path_buf(),
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
fn a_file_of_no_shape_that_is_known_is_an_error() {
    for (text, wanted) in [
        (
            "{",
            "error 1:1: not valid JSON: EOF while parsing an object",
        ),
        (
            "{ // x\n}",
            "error 1:3: not valid JSON: key must be a string",
        ),
        ("[]", "error 1:1: the file must be an object, not a list"),
        (
            "{\"hooks\": 1}",
            "error 1:11: `hooks` takes an object, not 1",
        ),
        ("{\"hook\": {}}", "error 1:2: unknown key `hook`"),
        (
            "{}",
            "warning 1:1: this file has no `hooks`, so nothing in it runs",
        ),
    ] {
        let problems = written(text).problems(FILE).join("\n");
        let found = problems.replace(&format!("{}:", FILE[1]), "");
        assert!(
            found.lines().any(|line| line.starts_with(wanted)),
            "{text}: {found}"
        );
        let closed = wanted.starts_with("error");
        let ran = run(&written(text));
        assert_eq!(ran.status, if closed { 2 } else { 0 }, "{text}: {ran:?}");
    }
    run(&Sandbox::new()).blocks_saying("settings.json: cannot be read");
    let latin = Sandbox::new();
    fs::create_dir(latin.at(".claude")).unwrap();
    fs::write(latin.at(FILE[1]), b"{\"a\": \"\xff\"}").unwrap();
    run(&latin).blocks_saying("settings.json:1:8: is not UTF-8");
}

#[test]
fn settings_stand_alone_unless_others_are_named_too() {
    let sandbox = with_commands(&["true"])
        .hook("10-project.sh", "")
        .hook("20-more.sh", "");
    let own = "hooks.PreToolUse[0].hooks[0]";
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
fn two_files_may_be_read_together() {
    let text = with_commands(&["echo own >> log"]).read(FILE[1]);
    let other = text.replace("own", "other");
    let sandbox = written(&text).file("b.json", &other);
    let settings = ["--settings", "claude:b.json", FILE[0], FILE[1]];
    let arguments = [&["run", "tool.pre"], settings.as_slice()].concat();
    sandbox
        .hookrun(&arguments, br#"{"toolName": "read"}"#)
        .allows();
    assert_eq!(sandbox.read("log"), "other\nown\n");
}

#[test]
fn a_file_that_everyone_may_write_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = with_commands(&["true"]);
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(sandbox.at(FILE[1]), mode).unwrap();
    run(&sandbox).blocks_saying("it is world-writable");
}

#[test]
fn a_detached_event_takes_its_settings_along() {
    let detached = "[event.\"later\"]\nsummary = \"x\"\nblocks = false\nschedule = \"detached\"\n\n\
                    [[hook]]\nname = \"mark\"\nevent = \"later\"\ncommand = \"touch marker\"\n";
    let sandbox = with_commands(&["true"]).file("own/hookrun.toml", detached);
    let state = sandbox.at("state").to_str().unwrap().to_string();
    let sandbox = sandbox.variable("XDG_STATE_HOME", &state);
    let arguments = ["run", "later", "--hooks", "own", FILE[0], FILE[1]];
    sandbox.hookrun(&arguments, b"{}").exits(0).allows();
    wait_until("the hook has run", || sandbox.at("marker").exists());
}
