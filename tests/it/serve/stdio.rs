//! `--stdio`, and the methods of our own.

use serde_json::{Value, json};

use super::{CASES, Client, by_run, cases, wait_for, wait_for_bytes};
use crate::sandbox::Sandbox;

fn shell(command: &str) -> Value {
    json!({ "event": "tool.pre", "context": { "toolName": "bash", "sessionId": "s",
        "toolInput": { "command": command } } })
}

#[test]
fn every_case_is_answered_as_run_answers_it() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    for case in CASES {
        let context: Value = serde_json::from_str(case.context).unwrap();
        let asked = json!({ "host": case.host, "event": case.event, "context": context });
        assert_eq!(
            client.decide(asked),
            by_run(&sandbox, case),
            "{}",
            case.name
        );
    }
    assert!(client.end().success());
}

#[test]
fn a_host_that_names_its_event_in_the_context_is_understood() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio", "--host", "claude"]);
    let context = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
        "tool_name": "Bash", "tool_input": { "command": "rm x" } });
    let ran = sandbox.hookrun(&["run", "--host", "claude"], context.to_string().as_bytes());
    let reply = client.decide(json!({ "context": context }));
    assert_eq!(reply["status"], ran.status);
    assert_eq!(reply["stderr"], ran.stderr.as_str());
    assert_eq!(reply["status"], 2);
    assert!(client.end().success());
}

#[test]
fn hooks_start_in_the_folder_that_the_client_names() {
    let sandbox = Sandbox::new()
        .hook("10-where.sh", "pwd >where")
        .file("sub/file", "");
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let mut asked = shell("ls");
    asked["cwd"] = json!("sub");
    assert_eq!(client.decide(asked)["status"], 0);
    assert_eq!(
        sandbox.read("sub/where").trim_end(),
        sandbox.at("sub").display().to_string()
    );
    assert!(client.end().success());
}

#[test]
fn mistakes_in_the_configuration_close_gates_here_too() {
    let sandbox = cases().file("hookrun.toml", "[hook.x]\nevnt = \"tool.pre\"\n");
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let reply = client.decide(shell("ls"));
    assert_eq!(reply["status"], 2, "{reply}");
    assert!(
        reply["stderr"].as_str().unwrap().contains("hookrun.toml"),
        "{reply}"
    );
    let sandbox = sandbox.file("hookrun.toml", "");
    client.decides_in_the_end(&shell("ls"), 0);
    drop(sandbox);
}

#[test]
fn hooks_that_are_not_trusted_do_not_run_here_either() {
    let sandbox = cases().without_trust();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let reply = client.decide(shell("ls"));
    assert_eq!(reply["status"], 2, "{reply}");
    assert!(
        reply["stderr"].as_str().unwrap().contains("hookrun trust"),
        "{reply}"
    );
}

#[test]
fn changed_hooks_count_without_a_restart() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    assert_eq!(client.decide(shell("mv x"))["status"], 0);
    let sandbox = sandbox.hook("20-more.sh", "echo no >&2\nexit 1");
    assert_eq!(
        client.decides_in_the_end(&shell("mv x"), 2)["stderr"],
        "no\n"
    );
    drop(sandbox);
}

#[test]
fn answers_come_as_they_are_ready_and_a_cancelled_event_ends_its_hooks() {
    let body = "case $(cat) in *slow*) echo $$ >pid; exec sleep 600 ;; *) exit 1 ;; esac";
    let sandbox = Sandbox::new().script(
        "hooks.d/tool.pre/slow.sh",
        &format!("#!/bin/sh\n# hookrun: timeout=10m\n{body}\n"),
    );
    let mut client = Client::start(&sandbox, &["--stdio"]);
    client.request("slow", "hookrun/decide", shell("slow"));
    client.request("quick", "hookrun/decide", shell("quick"));
    let first = client.next();
    assert_eq!(
        (&first["id"], &first["result"]["status"]),
        (&json!("quick"), &json!(2))
    );
    wait_for(&sandbox, "pid");
    client.notify("hookrun/cancel", json!({ "id": "slow" }));
    let second = client.next();
    assert_eq!(
        (&second["id"], &second["result"]["status"]),
        (&json!("slow"), &json!(2))
    );
    assert!(
        second["result"]["stderr"]
            .as_str()
            .unwrap()
            .contains("interrupted"),
        "{second}"
    );
    assert!(client.end().success());
}

/// A hook that runs for ten minutes.
fn slow() -> Sandbox {
    let slow = "#!/bin/sh\n# hookrun: timeout=10m\necho >>started\nexec sleep 600\n";
    Sandbox::new().script("hooks.d/tool.pre/slow.sh", slow)
}

/// A client that waits for a hook, which runs for ten minutes.
fn deciding() -> (Sandbox, Client) {
    let sandbox = slow();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    client.request(1, "hookrun/decide", shell("x"));
    wait_for(&sandbox, "started");
    (sandbox, client)
}

#[test]
fn when_stdin_ends_what_runs_is_ended_and_blocked() {
    let (_sandbox, mut client) = deciding();
    drop(client.stdin.take());
    assert_eq!(client.next()["result"]["status"], 2);
    assert!(client.end().success());
}

/// Two requests of this id wait for their hooks.
fn deciding_twice(id: &Value) -> (Sandbox, Client) {
    let sandbox = slow();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    for _ in 0..2 {
        let mut request = json!({ "jsonrpc": "2.0", "method": "hookrun/decide",
            "params": shell("x"), "id": id });
        if id == "none" {
            request.as_object_mut().unwrap().remove("id");
        }
        client.send(&request);
    }
    wait_for_bytes(&sandbox, "started", 2);
    (sandbox, client)
}

#[test]
fn requests_that_share_an_id_are_each_ended_and_answered() {
    for id in [json!(1), Value::Null] {
        let (_sandbox, mut client) = deciding_twice(&id);
        client.notify("hookrun/cancel", json!({ "id": id }));
        for _ in 0..2 {
            let answer = client.next();
            assert_eq!(
                (&answer["id"], &answer["result"]["status"]),
                (&id, &json!(2))
            );
        }
        assert!(client.end().success());
    }
}

#[test]
fn the_end_of_stdin_ends_the_hooks_of_all_notifications() {
    let (sandbox, client) = deciding_twice(&json!("none"));
    assert!(client.end().success());
    let log = sandbox.hookrun(&["why", "--all", "--brief"], b"").stdout;
    assert_eq!(log.lines().count(), 2, "{log}");
}

#[test]
fn a_last_line_without_an_end_is_answered() {
    let sandbox = Sandbox::new();
    let request = json!({ "jsonrpc": "2.0", "id": null, "method": "hookrun/decide",
        "params": shell("ls") });
    let ran = sandbox.hookrun(&["serve", "--stdio"], request.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    assert_eq!(
        answer["result"]["status"], 0,
        "{}{}",
        ran.stdout, ran.stderr
    );
}

#[test]
fn a_signal_ends_it_and_blocks_what_runs() {
    let (_sandbox, client) = deciding();
    let own = rustix::process::Pid::from_raw(client.id().cast_signed()).unwrap();
    rustix::process::kill_process(own, rustix::process::Signal::TERM).unwrap();
    assert_eq!(client.next()["result"]["status"], 2);
    assert!(client.wait().success());
}

#[test]
fn dialogs_go_to_the_client_and_messages_too() {
    let body = "hookrun hook ui confirm Sure? Really || exit 1\nhookrun hook send 'hello there'";
    let own = env!("CARGO_BIN_EXE_hookrun");
    let body = body.replace("hookrun", own);
    let sandbox = Sandbox::new().hook("ask.sh", &body);
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let hello = json!({ "dialogs": ["confirm"], "messages": true, "client": { "name": "t" } });
    let answer = client.call("hookrun/hello", hello);
    assert!(answer["result"]["version"].is_string(), "{answer}");
    for (value, status) in [(json!(true), 0), (json!(false), 2), (Value::Null, 2)] {
        client.request("e", "hookrun/decide", shell("x"));
        let asked = client.next();
        assert_eq!(asked["method"], "hookrun/dialog", "{asked}");
        let shown = &asked["params"];
        assert_eq!(
            (&shown["kind"], &shown["title"]),
            (&json!("confirm"), &json!("Sure?"))
        );
        assert_eq!(
            (&shown["hook"], &shown["message"]),
            (&json!("ask.sh"), &json!("Really"))
        );
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "value": value } }));
        if status == 0 {
            let message = client.next();
            assert_eq!(message["method"], "hookrun/message", "{message}");
            assert_eq!(message["params"]["text"], "hello there");
            assert_eq!(message["params"]["session"], "s");
        }
        assert_eq!(client.next()["result"]["status"], status);
    }
    assert!(client.end().success());
}

#[test]
fn what_hooks_show_and_send_names_the_session_and_the_open_request() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let body = format!(
        "{own} hook ui notify hi\n{own} hook ui status tests green\n{own} hook ui confirm Sure?"
    );
    let body = format!("{body} || exit 1\n{own} hook send done");
    let ask = r#"case $(cat) in *asks*) echo '{"ask":"really?"}' ;; esac"#;
    let sandbox = Sandbox::new()
        .hook("10-show.sh", &body)
        .hook("20-ask.sh", ask);
    let mut client = Client::start(&sandbox, &["--stdio"]);
    client.call(
        "hookrun/hello",
        json!({ "dialogs": ["confirm", "notify", "status"], "messages": true }),
    );
    let event = |session: &str, command: &str| {
        let input = json!({ "command": command });
        let context = json!({ "toolName": "bash", "toolInput": input, "sessionId": session });
        json!({ "event": "tool.pre", "context": context })
    };
    // Two are open at once; the ids of a client may be numbers and texts.
    client.request(7, "hookrun/decide", event("one", "asks"));
    client.request("b", "hookrun/decide", event("two", "x"));
    let mut seen = Vec::new();
    let mut answers = 0;
    while answers < 2 {
        let message = client.next();
        let Some(method) = message["method"].as_str() else {
            assert_eq!(message["result"]["status"], 0, "{message}");
            answers += 1;
            continue;
        };
        let params = &message["params"];
        let of_first = params["session"] == "one" && params["request"] == 7;
        let of_second = params["session"] == "two" && params["request"] == "b";
        assert!(of_first || of_second, "{message}");
        seen.push(format!(
            "{} {}",
            method.trim_start_matches("hookrun/"),
            params["request"]
        ));
        if method == "hookrun/dialog" {
            client.send(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "value": true } }),
            );
        }
    }
    seen.sort();
    let of = |kind: &str, times: usize| {
        vec![format!("{kind} \"b\""); 1]
            .into_iter()
            .chain(vec![format!("{kind} 7"); times])
            .collect::<Vec<_>>()
    };
    let wanted: Vec<String> = [
        of("dialog", 2),
        of("message", 1),
        of("notify", 1),
        of("status", 1),
    ]
    .concat();
    assert_eq!(seen, wanted);

    client.request(8, "hookrun/decide", event("one", "x"));
    let asked = std::iter::repeat_with(|| client.next())
        .find(|one| one["method"] == "hookrun/dialog")
        .unwrap();
    client.notify("hookrun/cancel", json!({ "id": 8 }));
    let withdrawn = client.next();
    let wanted = json!({ "id": asked["id"], "session": "one", "request": 8, "hook": "10-show.sh" });
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]),
        (&json!("hookrun/withdraw"), &wanted)
    );
    assert_eq!(client.next()["result"]["status"], 2);
    assert!(client.end().success());
}

#[test]
fn an_answer_that_says_two_things_is_no_yes() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let sandbox = Sandbox::new().hook("ask.sh", &format!("{own} hook ui confirm Sure? || exit 1"));
    let mut client = Client::start(&sandbox, &["--stdio"]);
    client.call("hookrun/hello", json!({ "dialogs": ["confirm"] }));
    client.request(1, "hookrun/decide", shell("x"));
    let id = client.next()["id"].clone();
    let yes = json!({ "value": true });
    // It is no answer at all, and says nothing about the request with the same id.
    client.send(&json!({ "id": id, "result": yes }));
    let answer = client.next();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&Value::Null, &json!(-32600))
    );
    let error = json!({ "code": 1, "message": "?" });
    client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": yes, "error": error }));
    client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": yes }));
    let answer = client.next();
    assert_eq!(
        (&answer["id"], &answer["result"]["status"]),
        (&json!(1), &json!(2)),
        "{answer}"
    );
    assert!(client.end().success());
}

#[test]
fn a_client_that_shows_no_dialogs_is_not_asked() {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let sandbox = Sandbox::new().hook("ask.sh", &format!("{own} hook ui confirm Sure? || exit 1"));
    let mut client = Client::start(&sandbox, &["--stdio"]);
    assert_eq!(client.decide(shell("x"))["status"], 2);
    client.call("hookrun/hello", json!({ "dialogs": ["notify"] }));
    assert_eq!(client.decide(shell("x"))["status"], 2);
    assert!(client.end().success());
}

#[test]
fn what_is_no_message_is_an_error_and_the_next_one_is_answered() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let deep = "[".repeat(200_000);
    let rows: &[(&str, i64)] = &[
        ("garbage", -32700),
        (&deep, -32700),
        ("[]", -32600),
        (r#"{"id":1,"method":"hookrun/decide"}"#, -32600),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"hookrun/decide"}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/nope"}"#,
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/decide"}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/decide","params":{"context":[]}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/decide","params":{"context":{},"x":1}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/decide","params":{"context":{},"host":"x"}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/hello","params":{"dialogs":["dance"]}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hookrun/hello","params":{"host":"x"}}"#,
            -32602,
        ),
    ];
    for (line, code) in rows {
        client.write(line.as_bytes());
        let answer = client.next();
        assert_eq!(answer["error"]["code"], *code, "{line:.60}: {answer}");
    }
    // Empty lines, unknown notifications and answers that nobody waits for are passed over.
    client.write(b"\n \n");
    client.notify("hookrun/nope", json!({}));
    client.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }));
    assert_eq!(client.decide(shell("rm x"))["status"], 2);
    assert!(client.end().success());
}

#[test]
fn a_line_without_end_is_left_out_and_stated() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    client.write(&vec![b'x'; 100 << 20]);
    let answer = client.next();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(client.decide(shell("rm x"))["status"], 2);
    assert!(client.end().success());
}

#[test]
fn decisions_are_in_the_log() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    client.decide(shell("rm x"));
    sandbox.hookrun(&["why"], b"").prints("never");
    assert!(client.end().success());
}

#[test]
fn a_server_that_is_killed_leaves_no_hook_behind() {
    let slow =
        "#!/bin/sh\n# hookrun: timeout=10m\nexec 9>lock; flock 9; echo >started\nsleep 600\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/slow.sh", slow);
    let mut client = Client::start(&sandbox, &["--stdio"]);
    client.request(1, "hookrun/decide", shell("x"));
    wait_for(&sandbox, "started");
    // The keeper starts once a hook has run for a while.
    std::thread::sleep(super::KEPT);
    client.kill();
    // The lock is free when the hook and all that it started are gone.
    let lock = std::process::Command::new("flock")
        .arg(sandbox.at("lock"))
        .arg("true")
        .status();
    assert!(lock.unwrap().success());
    client.wait();
}

#[test]
fn a_client_that_does_not_read_cannot_keep_it_from_ending() {
    use std::io::Write;

    let sandbox = cases();
    let mut server = sandbox.command(&["serve", "--stdio"]).spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let own = rustix::process::Pid::from_child(&server);
    // More answers than a pipe takes; the client writes until it would have to wait.
    let feeder = std::thread::spawn(move || {
        for id in 0..800 {
            let params = shell("rm x");
            let request = json!({ "jsonrpc": "2.0", "id": id, "method": "hookrun/decide",
                "params": params });
            if writeln!(stdin, "{request}").is_err() {
                return;
            }
        }
    });
    super::wait_until_full(server.stdout.as_ref().unwrap());
    rustix::process::kill_process(own, rustix::process::Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    feeder.join().unwrap();
}
