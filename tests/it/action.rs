//! `action`: what hooks are told about a command line.

mod tools;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What a hook is told about this context.
fn action_of(event: &str, context: &Value) -> Value {
    let sandbox = Sandbox::new().hook_for(event, "see", "cat > seen");
    sandbox
        .hookrun(&["run", event], context.to_string().as_bytes())
        .exits(0);
    let mut seen: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    let action = seen["action"].take();
    // Where links lead differs in every test.
    action.as_object().map_or(Value::Null, |action| {
        let kept = action.iter().filter(|(key, _)| *key != "resolved");
        kept.map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    })
}

fn shell(command: &str) -> Value {
    json!({ "toolName": "bash", "toolInput": { "command": command } })
}

#[test]
fn a_hook_is_told_every_command_that_a_line_runs() {
    let command = "cd build && X=1 sudo rm -rf \"$OUT\" *.o > log";
    let expected = json!({
        "kind": "shell",
        "command": command,
        "commands": [
            { "program": "cd", "args": ["build"] },
            {
                "program": "rm", "args": ["-rf", null, "*.o"], "through": ["sudo"],
                "assigns": { "X": "1" },
                "redirects": [{ "operator": ">", "target": "log" }],
                "unknown": ["args"],
                "written": "rm -rf \"$OUT\" *.o",
            },
        ],
        "paths": ["build/log", "build/*.o"],
    });
    assert_eq!(action_of("tool.pre", &shell(command)), expected);
    let unknown = action_of("tool.pre", &shell("$X y"));
    assert_eq!(
        unknown["commands"],
        json!([{ "program": null, "args": ["y"], "unknown": ["program"], "written": "$X y" }])
    );
}

#[test]
fn a_line_that_cannot_be_read_is_uncertain() {
    let action = action_of("tool.pre", &shell("echo 'x"));
    assert_eq!(action["commands"], Value::Null);
    assert!(
        action["uncertain"]
            .as_str()
            .is_some_and(|why| why.contains("cannot be parsed")),
        "{action}"
    );
    // The other texts of an input are read all the same, and none hides in another.
    let texts = json!({ "toolName": "bash", "toolInput": { "command": "cat <<E", "cmd": "rm x\nE", "script": "ls 'x" } });
    let action = action_of("tool.pre", &texts);
    assert_eq!(action["commands"][0]["program"], "rm", "{action}");
    assert!(action["uncertain"].is_string());
}

#[test]
fn where_nothing_is_run_there_are_no_commands() {
    for (event, context) in [
        (
            "tool.pre",
            json!({ "toolName": "write", "toolInput": { "path": "a" } }),
        ),
        (
            "tool.pre",
            json!({ "toolName": "bash", "toolInput": { "command": "" } }),
        ),
        (
            "commit.pre",
            json!({ "changes": [{ "path": "a", "status": "M" }] }),
        ),
        (
            "tool.pre",
            json!({ "action": { "kind": "read", "paths": ["a"] } }),
        ),
    ] {
        let action = action_of(event, &context);
        assert!(action["kind"].is_string(), "{action}");
        assert!(
            action.get("commands").is_none() && action.get("uncertain").is_none(),
            "{action}"
        );
    }
    assert_eq!(
        action_of("prompt.submit", &json!({ "prompt": "rm x" })),
        Value::Null
    );
}

#[test]
fn what_a_host_says_of_commands_is_not_believed() {
    let lie = json!([{ "program": "true", "args": [] }]);
    let given = json!({ "action": {
        "kind": "shell", "command": "rm a", "commands": lie, "uncertain": "no", "paths": ["b"], "own": 1,
    } });
    let expected = json!({
        "kind": "shell", "command": "rm a", "own": 1,
        "commands": [{ "program": "rm", "args": ["a"] }],
        "paths": ["b", "a"],
    });
    assert_eq!(action_of("tool.pre", &given), expected);
    let none = json!({ "action": { "kind": "read", "commands": lie, "\u{75}ncertain": 7 } });
    assert_eq!(action_of("tool.pre", &none), json!({ "kind": "read" }));
    // A given action and a derived one look alike.
    let derived = action_of("tool.pre", &shell("sudo rm a > b"));
    let given = json!({ "action": { "kind": "shell", "command": "sudo rm a > b" } });
    assert_eq!(action_of("tool.pre", &given), derived);
}

#[test]
fn a_tool_of_a_server_has_commands_as_well() {
    let sandbox = Sandbox::new().hook("see", "cat > seen");
    let payload = json!({
        "hook_event_name": "beforeMCPExecution", "tool_name": "run",
        "tool_input": "{\"command\":\"cat <<E\",\"cmd\":\"rm x\\nE\"}",
    });
    sandbox.hookrun(&["run", "--host", "cursor"], payload.to_string().as_bytes());
    let seen: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    assert_eq!(seen["action"]["kind"], "mcp", "{seen}");
    let programs = seen["action"]["commands"].as_array().unwrap();
    assert!(
        programs.iter().any(|command| command["program"] == "rm"),
        "{seen}"
    );
}

#[test]
fn after_a_rewrite_the_commands_are_those_that_will_run() {
    let rewrite = r#"# hookrun: rewrite=true
        echo '{"update":{"toolInput":{"command":"ls | wc"}}}'"#;
    let sandbox = Sandbox::new()
        .hook("10-rewrite", rewrite)
        .hook("20-see", "cat > seen");
    sandbox.run_shell("rm x").exits(0);
    let seen: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    let programs = seen["action"]["commands"].as_array().unwrap();
    let programs: Vec<&Value> = programs.iter().map(|command| &command["program"]).collect();
    assert_eq!(programs, ["ls", "wc"]);
    assert_eq!(seen["action"].get("paths"), None);
}

#[test]
fn a_shell_hook_asks_for_commands_with_field() {
    let body = r#"cat > seen
        "$HOOKRUN" hook field action.commands < seen > commands
        "$HOOKRUN" hook field action.commands.1.program < seen > program
        "$HOOKRUN" hook field action.commands.0.args < seen > args"#;
    let sandbox = Sandbox::new()
        .variable("HOOKRUN", env!("CARGO_BIN_EXE_hookrun"))
        .hook("see", body);
    sandbox.run_shell("ls \"$x\"; rm a").allows();
    let list = r#"[{"program":"ls","args":[null],"unknown":["args"],"written":"ls \"$x\""},{"program":"rm","args":["a"]}]"#;
    assert_eq!(sandbox.read("commands"), format!("{list}\n"));
    assert_eq!(
        (sandbox.read("program"), sandbox.read("args")),
        ("rm\n".into(), "[null]\n".into())
    );
}

#[test]
fn a_path_of_a_command_is_matched_as_that_of_any_tool() {
    let sandbox = Sandbox::new().hook(
        "guard",
        "# hookrun: path=.env access=write\necho no >&2; exit 1",
    );
    for blocked in [
        "echo x > .env",
        "cd sub; rm -f ../.env",
        "sudo tee .env",
        "rm 'x",
    ] {
        sandbox.run_shell(blocked).blocks("no");
    }
    for allowed in ["cat .env", "cp .env x", "rm \"$f\"", "ls 2> /dev/null"] {
        sandbox.run_shell(allowed).allows();
    }
    // Where nothing can be blocked, what cannot be read names no path.
    let noted = Sandbox::new().hook_for("tool.post", "note", "# hookrun: path=.env\ntouch ran");
    noted
        .hookrun(&["run", "tool.post"], shell("rm 'x").to_string().as_bytes())
        .exits(0);
    noted.has_no_file("ran");
}

#[test]
fn what_is_recorded_has_no_commands_and_is_decided_with_them_again() {
    let sandbox = Sandbox::new()
        .file(
            "hookrun.toml",
            "[[rule]]\nruns = \"rm -r\"\ndeny = \"no\"\n",
        )
        .hook("see", "true");
    // In the line a rule finds the secret after its option, in a list of words none would.
    let context = shell("mysql --password topsecret1; sudo rm -rf x").to_string();
    sandbox
        .hookrun(
            &["run", "tool.pre", "--record", "record"],
            context.as_bytes(),
        )
        .blocks("no");
    let record = sandbox.read("record");
    let line: Value = serde_json::from_str(&record).unwrap();
    assert!(!record.contains("topsecret1"), "{record}");
    assert_eq!(line["context"]["action"]["kind"], "shell");
    assert_eq!(line["context"]["action"].get("commands"), None);
    sandbox
        .hookrun(&["replay", "record", "--allow-undecided"], b"")
        .exits(0);
}

#[test]
fn a_shell_without_an_input_is_in_doubt() {
    for input in ["{}", "null"] {
        for key in ["toolInput", "other"] {
            let context = format!(r#"{{"toolName": "bash", "{key}": {input}}}"#);
            let sandbox = Sandbox::new().file(
                "hookrun.toml",
                "[[rule]]\nruns = \"git push --force\"\ndeny = \"no\"\n",
            );
            let ran = sandbox.hookrun(&["run", "tool.pre"], context.as_bytes());
            assert_eq!(ran.status, 2, "{context}: {ran:?}");
            assert!(ran.stdout.contains("has no command"), "{context}: {ran:?}");
        }
    }
}

#[test]
fn a_shell_with_something_else_in_place_of_a_command_is_malformed() {
    for input in [
        r#"{"command": null}"#,
        r#"{"command": null, "description": "list files"}"#,
        r#"{"command": 5}"#,
        r#"{"command": true, "cwd": "/"}"#,
        r#"{"description": "list files", "timeout": 5000}"#,
    ] {
        let native = format!(r#"{{"toolName": "bash", "toolInput": {input}}}"#);
        let claude = format!(
            r#"{{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {input}}}"#
        );
        for (event, host, context) in [
            ("tool.pre", "native", native),
            ("PreToolUse", "claude", claude),
        ] {
            let sandbox = Sandbox::new().hook("hook", "exit 0");
            let ran = sandbox.hookrun(&["run", event, "--host", host], context.as_bytes());
            assert_eq!(ran.status, 2, "{context}: {ran:?}");
            assert!(ran.stderr.contains("has no command"), "{context}: {ran:?}");
        }
    }
    // An id means a shell that runs already.
    let running = r#"{"toolName": "bash", "toolInput": {"session_id": 5}}"#;
    let sandbox = Sandbox::new().hook("hook", "exit 0");
    sandbox
        .hookrun(&["run", "tool.pre"], running.as_bytes())
        .allows();
    // Any text may be the command, whatever its key, and an empty one runs nothing.
    let sandbox = Sandbox::new().file(
        "hookrun.toml",
        "[[rule]]\nruns = \"git push --force\"\ndeny = \"no\"\n",
    );
    for input in [r#"{"line": "ls"}"#, r#"{"command": ""}"#] {
        let context = format!(r#"{{"toolName": "bash", "toolInput": {input}}}"#);
        sandbox
            .hookrun(&["run", "tool.pre"], context.as_bytes())
            .allows();
    }
}
