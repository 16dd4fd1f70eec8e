//! Settings files of hosts, by `--settings`: here the `hooks` of a profile, below those of agent
//! hosts.

mod conditions;
mod everywhere;
mod mistakes;
mod news;
mod rules;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::thread;

use hookrun::internals::config::{Choice, Config, ConfigScope, Environment};
use serde_json::{Value, json};

use crate::nasty::running::wait_until;
use crate::sandbox::{Ran, Sandbox};

const ALLOW_COMMANDS: &str = "OWNWARE_ALLOW_COMMAND_HOOKS";
const KILL_SWITCH: &str = "OWNWARE_DISABLE_HOOKS";
const DESTINATIONS: &str = "OWNWARE_HOOK_WEBHOOK_ALLOWLIST";

const FILE: &[&str] = &["--settings", "shop/agent.json"];

/// A profile `shop` with these hooks, in a folder of its own.
fn profile(hooks: &Value) -> Sandbox {
    let text = json!({ "name": "shop", "model": "some-model", "hooks": hooks });
    written(&format!("{text:#}"))
}

fn written(text: &str) -> Sandbox {
    let sandbox = Sandbox::new().file("shop/agent.json", text);
    let state = sandbox.at("state").to_str().unwrap().to_string();
    sandbox.variable("XDG_STATE_HOME", &state)
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
    let log = json!([{ "action": "log" }]);
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
        .map(|key| (key.to_string(), log.clone()))
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
        "hooks.onStart[0]:log session.start",
        "hooks.onToolCall[0]:log tool.pre",
        "hooks.onToolEnd[0]:log tool.post",
        "hooks.onModelCall[0]:log model.pre",
        "hooks.onModelEnd[0]:log model.post",
        "hooks.onComplete[0]:log session.end",
        "hooks.onError[0]:log error",
    ];
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn show_names_the_line_of_an_entry() {
    let sandbox = written("{\n \"hooks\": {\n  \"onStart\": [\n   {\"action\": \"log\"}]}}\n");
    let shown = sandbox.hookrun(&["show", "hooks.onStart[0]:log", FILE[0], FILE[1]], b"");
    shown
        .exits(0)
        .prints("shop/agent.json:4 (explicit layer)")
        .prints("loom");
}

#[test]
fn a_log_tells_names_and_sizes_and_never_what_a_tool_was_given() {
    let hooks =
        json!({ "onToolCall": [{ "action": "log", "level": "warn" }, { "action": "log" }] });
    let sandbox = profile(&hooks);
    run(&sandbox, "tool.pre", &tool("send_mail")).allows();
    let log = sandbox.read("state/hookrun/actions.log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(
        lines[0].ends_with("Z warn [shop] tool.pre tool=send_mail turn=3"),
        "{log}"
    );
    assert!(lines[1].contains("Z info [shop] tool.pre"), "{log}");
}

#[test]
fn a_profile_without_a_name_is_called_as_its_folder() {
    let sandbox = written(r#"{ "hooks": { "onStart": [{ "action": "log" }] } }"#);
    run(
        &sandbox,
        "session.start",
        &json!({ "sessionId": "s-9", "model": "m" }),
    )
    .allows();
    let log = sandbox.read("state/hookrun/actions.log");
    assert!(
        log.contains("[shop] session.start model=m session=s-9\n"),
        "{log}"
    );
}

#[test]
fn an_event_is_saved_as_one_line_below_the_folder_of_the_profile() {
    let hooks = json!({ "onComplete": [{ "action": "save_json", "path": "runs/./log.jsonl" }] });
    let sandbox = profile(&hooks);
    for number in [1, 2] {
        let context = json!({ "sessionId": "s-1", "reason": "end_turn", "turnIndex": number });
        run(&sandbox, "session.end", &context).allows();
    }
    let saved = sandbox.read("shop/runs/log.jsonl");
    let lines: Vec<Value> = saved
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{saved}");
    assert_eq!(
        (&lines[1]["v"], &lines[1]["profile"]),
        (&json!(1), &json!("shop"))
    );
    assert_eq!(lines[1]["event"], "session.end");
    assert_eq!(lines[1]["context"]["reason"], "end_turn");
    assert_eq!(lines[1]["context"]["turnIndex"], 2);
    assert!(lines[1]["ts"].as_u64() > Some(1_600_000_000_000), "{saved}");
}

#[test]
fn nothing_is_saved_through_a_link_out_of_the_folder_of_the_profile() {
    for (link, path, wanted) in [
        ("shop/runs", "runs/deep/log.jsonl", "a link leads out of"),
        (
            "shop/log.jsonl",
            "log.jsonl",
            "shop/log.jsonl cannot be written",
        ),
    ] {
        let hooks = json!({ "onToolCall": [{ "action": "save_json", "path": path }] });
        let sandbox = profile(&hooks).file("outside/log.jsonl", "");
        let target = if path == "log.jsonl" {
            "outside/log.jsonl"
        } else {
            "outside"
        };
        symlink(sandbox.at(target), sandbox.at(link)).unwrap();
        let arguments = ["test", "tool.pre", FILE[0], FILE[1]];
        let report = sandbox.hookrun(&arguments, tool("read").to_string().as_bytes());
        report.exits(0).prints(wanted);
        assert_eq!(sandbox.read("outside/log.jsonl"), "");
        sandbox.has_no_file("outside/deep");
    }
}

#[test]
fn a_log_in_a_folder_that_others_may_write_is_not_written() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = profile(&json!({ "onToolCall": [{ "action": "log" }] }));
    fs::create_dir_all(sandbox.at("state/hookrun")).unwrap();
    let mode = fs::Permissions::from_mode(0o777);
    fs::set_permissions(sandbox.at("state/hookrun"), mode).unwrap();
    let arguments = ["test", "tool.pre", FILE[0], FILE[1]];
    let report = sandbox.hookrun(&arguments, tool("read").to_string().as_bytes());
    report
        .exits(0)
        .prints("the log of actions cannot be written: others may write");
    sandbox.has_no_file("state/hookrun/actions.log");
}

#[test]
fn half_a_file_is_an_error_wherever_it_ends() {
    let hooks = json!({ "onToolCall": [
        { "action": "approve", "tools": ["send_*", "\u{fc}\n"] },
        { "action": "webhook", "url": "https://a.example/x" },
    ], "onError": [{ "action": "save_json", "path": "x" }] });
    let text = json!({ "name": "shop", "hooks": hooks }).to_string();
    let sandbox = Sandbox::new();
    let file = sandbox.at("agent.json");
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
fn what_cannot_be_saved_is_told_and_stops_no_tool() {
    let hooks = json!({ "onToolCall": [{ "action": "save_json", "path": "runs" }] });
    let sandbox = profile(&hooks).file("shop/runs/x", "");
    run(&sandbox, "tool.pre", &tool("read")).allows();
    let report = sandbox.hookrun(
        &["test", "tool.pre", FILE[0], FILE[1]],
        tool("read").to_string().as_bytes(),
    );
    report.exits(0).prints("shop/runs cannot be written");
}

#[test]
fn approve_asks_about_the_tools_that_it_names_and_about_no_others() {
    let hooks =
        json!({ "onToolCall": [{ "action": "approve", "tools": [" send_* ", "fs.write", ""] }] });
    let sandbox = profile(&hooks);
    for asked in ["send_mail", "send_", "fs.write", "fs_write"] {
        let ran = run(&sandbox, "tool.pre", &tool(asked));
        ran.blocks_saying(&format!("profile `shop` asks: may `{asked}` run?"));
    }
    for free in ["resend_mail", "Send_mail", "fs-write", "fs.write2"] {
        run(&sandbox, "tool.pre", &tool(free)).allows();
    }
}

#[test]
fn approve_without_tools_asks_about_every_tool() {
    for hooks in [
        json!({ "onToolCall": [{ "action": "approve" }] }),
        json!({ "onToolCall": [{ "action": "approve", "tools": [] }] }),
    ] {
        run(&profile(&hooks), "tool.pre", &tool("read")).blocks_saying("may `read` run?");
    }
}

#[test]
fn a_command_runs_by_the_shell_where_the_operator_allows_it() {
    let command = "cat > got.json; test ! -e stop || { echo 'not now' >&2; exit 3; }";
    let hooks = json!({ "onToolCall": [{ "action": "command", "command": command }] });
    let sandbox = profile(&hooks).variable(ALLOW_COMMANDS, "1");
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
        "error shop/agent.json:7:19: `command` is off: a profile may come from anywhere \
         [read what it runs, then set OWNWARE_ALLOW_COMMAND_HOOKS=1; or drop it]",
    ];
    for sandbox in [
        profile(&hooks),
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
        { "action": "approve" },
        { "action": "webhook", "url": "nonsense" },
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
        found.contains("`nonsense` is no URL") && !found.contains("error "),
        "{found}"
    );
    let report = sandbox.hookrun(&["test", "tool.pre", FILE[0], FILE[1]], b"{}");
    report.exits(0).prints("OWNWARE_DISABLE_HOOKS = 1");
    let other = profile(&hooks).variable(KILL_SWITCH, "yes");
    assert!(problems(&other).join("\n").contains("error "));
}

/// Takes one request on a port of its own and answers it; gives the whole request back.
fn endpoint(answer: &'static str) -> (u16, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        // The body ends with the two braces of the document and its line.
        while !bytes.ends_with(b"}\n") {
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&bytes));
            bytes.extend_from_slice(&piece[..count]);
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(bytes).unwrap()
    });
    (port, served)
}

#[test]
fn a_webhook_sends_the_event_and_changes_nothing() {
    let (port, served) = endpoint("HTTP/1.1 204 No Content\r\n\r\n");
    let url = format!("http://127.0.0.1:{port}/hook?a=$HOME&b='");
    let sandbox = profile(&json!({ "onToolCall": [{ "action": "webhook", "url": url }] }));
    run(&sandbox, "tool.pre", &tool("send_mail")).allows();
    let request = served.join().unwrap();
    assert!(
        request.starts_with("POST /hook?a=$HOME&b=' HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("content-type: application/json\r\n"),
        "{request}"
    );
    let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(
        (&body["profile"], &body["event"]),
        (&json!("shop"), &json!("tool.pre"))
    );
    assert_eq!(body["context"]["toolInput"]["to"], "a@b.c");
}

#[test]
fn an_endpoint_that_refuses_or_is_not_there_stops_no_tool_and_is_told() {
    let (port, served) = endpoint("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n");
    let url = format!("http://localhost:{port}/");
    let sandbox = profile(&json!({ "onToolCall": [{ "action": "webhook", "url": url }] }));
    let arguments = ["test", "tool.pre", FILE[0], FILE[1]];
    let context = tool("read").to_string();
    let report = sandbox.hookrun(&arguments, context.as_bytes());
    report.exits(0).prints("not delivered: status 500");
    served.join().unwrap();
    // Nobody listens there any more.
    let report = sandbox.hookrun(&arguments, context.as_bytes());
    report.exits(0).prints("not delivered: status none");
}

#[test]
fn an_endpoint_that_never_answers_is_given_up_by_its_own_time() {
    let body = "cat >/dev/null; echo \"$*\" > called; exec sleep 60";
    let hooks = json!({ "onToolCall": [{ "action": "webhook", "url": "https://a.example/x" }] });
    let sandbox = profile(&hooks).script("bin/curl", &format!("#!/bin/sh\n{body}\n"));
    let path = format!("{}:/usr/bin:/bin", sandbox.at("bin").display());
    let sandbox = sandbox.variable("PATH", &path);
    run(&sandbox, "tool.pre", &tool("read")).exits(0);
    let called = sandbox.read("called");
    assert!(called.contains("--max-time 3.5") && called.ends_with("--url https://a.example/x\n"));
}

#[test]
fn without_curl_a_webhook_cannot_start_and_stops_no_tool() {
    let hooks = json!({ "onToolCall": [{ "action": "webhook", "url": "https://a.example/x" }] });
    let sandbox = profile(&hooks);
    fs::create_dir(sandbox.at("bin")).unwrap();
    symlink("/bin/sh", sandbox.at("bin/sh")).unwrap();
    let path = sandbox.at("bin").to_str().unwrap().to_string();
    let sandbox = sandbox.variable("PATH", &path);
    run(&sandbox, "tool.pre", &tool("read")).exits(0);
    let found = problems(&sandbox).join("\n");
    assert!(
        found.contains("cannot start: no program `curl` in PATH [install it"),
        "{found}"
    );
}

#[test]
fn a_webhook_goes_only_where_the_operator_lets_it() {
    let hooks = json!({ "onStart": [{ "action": "webhook", "url": "https://b.example/x" }] });
    let listed = |list: &str| problems(&profile(&hooks).variable(DESTINATIONS, list)).join("\n");
    assert_eq!(listed(" , "), "");
    assert_eq!(listed("https://a.example/, https://b.example/"), "");
    let found = listed("https://a.example/");
    assert!(found.contains("begins with nothing that `OWNWARE_HOOK_WEBHOOK_ALLOWLIST` lists"));
}

#[test]
#[rustfmt::skip]
fn https_goes_anywhere_and_http_stays_on_this_machine() {
    let good = [
        "https://ops.example.com/audit?x=1#y", "HTTPS://u:p@ops.example.com:8443",
        "http://localhost:8080/hook", "http://127.0.0.1", "http://[::1]:9/x",
    ];
    let wrong = [
        "", "not a url", "ops.example.com/audit", "https://", "https:///path",
        "https://host:port/", "https://a b/", "https://evil\\@localhost/",
        "http://example.com/x", "http://localhost@example.com/x",
        "http://localhost.example.com/", "http://[::1]x/", "http://[::1/",
        "ftp://localhost/x", "file:///etc/passwd",
    ];
    let faults = |urls: &[&str]| {
        let actions = urls.iter().map(|url| json!({ "action": "webhook", "url": url }));
        let found = problems(&profile(&json!({ "onStart": actions.collect::<Vec<_>>() })));
        found.iter().filter(|one| one.contains("write `https://HOST/…`")).count()
    };
    assert_eq!((faults(&good), faults(&wrong)), (0, wrong.len()));
}

#[test]
fn every_mistake_is_found_at_once_with_its_place() {
    let sandbox = written(
        r#"{
"name": 7,
"hooks": {
"onToolcall": [],
"onStart": { "action": "log" },
"onError": [
 "log",
 { "level": "info" },
 { "action": "lgo" },
 { "action": "delete" },
 { "action": 1 },
 { "action": "log", "level": "debug", "lvl": "x" },
 { "action": "approve" },
 { "action": "webhook" },
 { "action": "webhook", "url": "http://a.example/" },
 { "action": "save_json" },
 { "action": "save_json", "path": "/etc/x" },
 { "action": "save_json", "path": "a/../../x" },
 { "action": "save_json", "path": 1 },
 { "action": "log", "action": "log" }
],
"onToolCall": [
 { "action": "approve", "tools": "send_*" },
 { "action": "approve", "tools": ["a", 1] },
 { "action": "approve", "tools": ["a?"] },
 { "action": "log", "url": "x" },
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
        "error 2:9: `name` takes a string, not 7",
        "error 4:1: unknown key `onToolcall`",
        "error 5:12: `onStart` takes a list of actions, not an object",
        "error 7:2: an action is not an object but \"log\"",
        "error 8:2: the entry has no `action`",
        "error 9:14: unknown action `lgo`",
        "error 10:14: unknown action `delete`",
        "error 11:14: `action` takes a string, not 1",
        "error 12:30: `level` takes one of \"info\", \"warn\", \"error\", not \"debug\"",
        "error 12:39: unknown key `lvl`",
        "error 13:14: `approve` cannot be in `onError`",
        "error 14:2: `webhook` has no `url`",
        "error 15:32: `http://a.example/` would be sent in the clear",
        "error 16:2: `save_json` has no `path`",
        "error 17:35: `/etc/x` is no file in the folder of the profile",
        "error 18:35: `a/../../x` is no file in the folder of the profile",
        "error 19:35: `path` takes a string, not 1",
        "error 20:21: `action` appears twice",
        "error 23:34: `tools` takes a list of strings, not \"send_*\"",
        "error 24:34: `tools` takes a list of strings, not a list",
        "error 25:35: `a?`: only `*` is a wildcard here",
        "warning 26:21: `url` has no effect on `log`",
        "error 27:36: the command is empty, or has a NUL in it",
        "error 29:1: `onError` appears twice",
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
    let hooks = json!({ "onToolCall": [{ "action": "log" }] });
    let sandbox = profile(&hooks)
        .hook("10-project.sh", "")
        .hook("20-more.sh", "");
    let own = "hooks.onToolCall[0]:log";
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
    let sandbox = profile(&json!({ "onToolCall": [{ "action": "log" }] }));
    let text = r#"{ "name": "b", "hooks": { "onToolCall": [{ "action": "log" }] } }"#;
    let sandbox = sandbox.file("b.json", text);
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
    let log = sandbox.read("state/hookrun/actions.log");
    let of = |line: &str| line.split(' ').nth(2).unwrap().to_string();
    assert_eq!(log.lines().map(of).collect::<Vec<_>>(), ["[b]", "[shop]"]);
}

#[test]
fn a_file_that_everyone_may_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = profile(&json!({ "onToolCall": [{ "action": "log" }] }));
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(sandbox.at("shop/agent.json"), mode).unwrap();
    run(&sandbox, "tool.pre", &tool("read")).blocks_saying("everyone may write it");
}

#[test]
fn a_detached_event_takes_its_settings_along() {
    let hooks = json!({ "onComplete": [{ "action": "log" }] });
    let detached = "[event.\"later\"]\nsummary = \"x\"\nblocks = false\nschedule = \"detached\"\n\n\
                    [[hook]]\nname = \"mark\"\nevent = \"later\"\ncommand = \"touch marker\"\n";
    let sandbox = profile(&hooks).file("own/hookrun.toml", detached);
    let arguments = ["run", "later", "--hooks", "own", FILE[0], FILE[1]];
    sandbox.hookrun(&arguments, b"{}").exits(0).allows();
    wait_until("the hook has run", || sandbox.at("marker").exists());
}
