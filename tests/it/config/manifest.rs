//! `hookrun.toml`: every key does what the contract says.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn manifest(text: &str) -> Sandbox {
    Sandbox::new().file("hookrun.toml", text)
}

/// A sandbox with one hook that refuses, under these further keys.
fn blocking(keys: &str) -> Sandbox {
    manifest(&format!(
        "[[hook]]\nname = \"no\"\nevent = \"tool.pre\"\nshell = true\n\
         command = \"echo no >&2; exit 1\"\n{keys}\n"
    ))
}

fn tool(name: &str, input: &Value) -> String {
    json!({ "toolName": name, "toolInput": input }).to_string()
}

#[track_caller]
fn decides(sandbox: &Sandbox, context: &str, status: i32) {
    let ran = sandbox.hookrun(&["run", "tool.pre"], context.as_bytes());
    assert_eq!(ran.status, status, "{context}: {ran:?}");
}

#[test]
fn every_key_of_a_hook_is_read() {
    let sandbox = manifest(
        r#"
[[hook]]
name = "policy-check"
event = ["tool.pre", "UserPromptSubmit"]
command = "./hooks/check.sh --strict"
timeout = "10s"
match = { where = { "toolInput.url" = '^https://\w+' } }
priority = -3
parallel = true
on_failure = "allow"
background = "detach"
limits = { memory = "64M", cpu = "2s", files = 64, output = "10K" }
sandbox = { read = ["src", "docs"], write = "/tmp", network = true, required = false }
containment = "pidns"
warm = "fork"
rewrite = true
reads = "stdin"
dialect = "native"
enabled = false
"#,
    );
    let of_event = |event: &str| {
        json!({
            "name": "policy-check", "event": event, "layer": "project",
            "file": "hookrun.toml", "line": 2,
            "wants": r"toolInput.url /^https://\w+/",
            "priority": -3, "parallel": true,
            "rules": [{
                "event": event, "blocks": true, "onFailure": "allow", "onFailureFrom": "hook",
                "timeoutMs": 10000, "schedule": "sequential", "stop": "first",
            }],
            "limits": {
                "memoryBytes": 64 << 20, "cpuMs": 2000, "files": 64,
                "outputBytes": 10 << 10,
            },
            "sandbox": {
                "read": ["src", "docs"], "write": ["/tmp"], "network": true, "required": false,
            },
            "containment": "pidns",
            "background": "detach", "lives": "event", "warm": "fork", "rewrite": true, "reads": "stdin", "dialect": "native",
            "enabled": false,
        })
    };

    let mut list = sandbox.json(&["list", "--format", "json"]);
    for hook in list["hooks"].as_array_mut().unwrap() {
        let hook = hook.as_object_mut().unwrap();
        assert_eq!(
            hook.remove("runs"),
            Some("./hooks/check.sh --strict".into())
        );
        assert!(hook.remove("problem").is_some());
    }

    assert_eq!(
        list,
        json!({ "version": 1, "hooks": [of_event("prompt.submit"), of_event("tool.pre")] })
    );
}

#[test]
fn a_command_is_relative_to_its_file_and_runs_without_a_shell() {
    let sandbox = manifest(
        "[[hook]]\nname = \"args\"\nevent = \"tool.pre\"\n\
         command = \"./bin/args 'a b' \\\"c\\\" d\\\\ e '$HOME' '*'\"\n",
    )
    .script("bin/args", "#!/bin/sh\nprintf '<%s>' \"$@\" >&2; exit 1\n")
    .file("deep/er/file", "");
    let folder = sandbox.at("deep/er");

    let ran = sandbox.hookrun_as(
        |command| {
            command.current_dir(folder);
        },
        &["run", "tool.pre"],
        b"{}",
    );

    ran.blocks("<a b><c><d e><$HOME><*>");
}

#[test]
fn a_command_without_a_slash_is_looked_up_in_path() {
    let sandbox = manifest("[[hook]]\nname = \"f\"\nevent = \"tool.pre\"\ncommand = \"false\"\n")
        .script(
            "false",
            "#!/bin/sh\necho 'beside hookrun.toml' >&2; exit 1\n",
        );
    sandbox
        .run("tool.pre")
        .blocks("hook `f` exited with status 1 and gave no reason");

    let sandbox =
        manifest("[[hook]]\nname = \"f\"\nevent = \"tool.pre\"\ncommand = \"no-such-program\"\n");
    sandbox
        .run("tool.pre")
        .blocks_saying("no program `no-such-program` in PATH")
        .blocks_saying("`./no-such-program` for a script next to hookrun.toml");
}

#[test]
fn shell_runs_the_command_line_by_sh() {
    let sandbox = manifest(
        "[[hook]]\nname = \"s\"\nevent = \"tool.pre\"\nshell = true\n\
         command = \"WHO=sh; echo a b c | wc -w | tr -d ' ' >&2; exit $((2 + 1))\"\n",
    );
    sandbox.run("tool.pre").blocks("3");
}

#[test]
fn shell_syntax_without_a_shell_is_an_error_that_says_so() {
    for (command, found) in [
        ("a | b", "`|` in a command needs a shell"),
        ("echo $HOME", "`$` in a command needs a shell"),
        ("ls *.sh", "`*` in a command needs a shell"),
        ("~/guard", "`~` in a command needs a shell"),
        ("a > b", "`>` in a command needs a shell"),
        ("a; b", "`;` in a command needs a shell"),
        ("A=1 ./b", "`A=1` sets a variable, which needs a shell"),
    ] {
        let sandbox = manifest(&format!(
            "[[hook]]\nname = \"x\"\nevent = \"tool.pre\"\ncommand = \"{command}\"\n"
        ));
        let problems = sandbox.problems(&[]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].starts_with(&format!("error hookrun.toml:4:11: {found}")),
            "{problems:?}"
        );
        assert!(problems[0].contains("set `shell = true`"), "{problems:?}");
        sandbox.run("tool.pre").blocks_saying(found);
    }
}

#[test]
fn a_list_of_events_binds_one_hook_to_each() {
    let sandbox = manifest(
        "[[hook]]\nname = \"both\"\nevent = [\"tool.pre\", \"UserPromptSubmit\"]\n\
         shell = true\ncommand = \"echo $HOOKRUN_EVENT >&2; exit 1\"\n",
    );
    sandbox.run("tool.pre").blocks("tool.pre");
    sandbox.run("prompt.submit").blocks("prompt.submit");
}

#[test]
fn two_names_of_one_event_in_a_list_are_an_error() {
    let sandbox = manifest(
        "[[hook]]\nname = \"x\"\nevent = [\"tool.pre\", \"PreToolUse\"]\ncommand = \"true\"\n",
    );
    assert_eq!(
        sandbox.problems(&[]),
        [
            "error hookrun.toml:3:9: `tool.pre` and `PreToolUse` are the same event [remove one of them]"
        ]
    );
}

#[test]
fn match_tool_means_that_sort_of_tool_in_every_host() {
    let sandbox = blocking("match = { tool = \"bash|deploy|mcp__git*\" }");
    for name in [
        "bash",
        "Bash",
        "run_shell_command",
        "Deploy",
        "mcp__github__push",
    ] {
        decides(&sandbox, &tool(name, &json!({})), 2);
    }
    for name in ["Read", "mcp__slack__post", "deployer"] {
        decides(&sandbox, &tool(name, &json!({})), 0);
    }
    decides(&sandbox, "{}", 0);
}

#[test]
fn match_path_is_a_glob_that_no_spelling_escapes() {
    let sandbox = blocking("match = { path = [\"src/**\", \".env\"] }");
    let root = sandbox.path().canonicalize().unwrap().display().to_string();
    let write = |path: &str| tool("Write", &json!({ "file_path": path, "content": "x" }));
    for path in [
        "src/a.rs",
        "src/a/b.rs",
        "./src/a.rs",
        "x/../src/a.rs",
        ".env",
        "deep/.env",
    ] {
        decides(&sandbox, &write(path), 2);
    }
    decides(&sandbox, &write(&format!("{root}/src/a.rs")), 2);
    for path in [
        "lib/a.rs",
        ".env.example",
        "src/../a.rs",
        "/elsewhere/src/a.rs",
    ] {
        decides(&sandbox, &write(path), 0);
    }
}

#[test]
fn match_command_searches_the_command_line() {
    let sandbox = blocking("match = { command = 'rm\\s.*-rf' }");
    decides(
        &sandbox,
        &tool("Bash", &json!({ "command": "sudo rm  -rf /" })),
        2,
    );
    decides(&sandbox, &tool("Bash", &json!({ "command": "ls" })), 0);
    decides(&sandbox, &tool("Read", &json!({ "path": "rm -rf" })), 0);
}

#[test]
fn match_where_looks_at_any_field() {
    let sandbox =
        blocking("match = { where = { \"toolInput.url\" = '^http:', turnIndex = '^3$' } }");
    let context = |url: &str, turn: u8| {
        json!({ "toolName": "fetch", "toolInput": { "url": url }, "turnIndex": turn }).to_string()
    };
    decides(&sandbox, &context("http://x", 3), 2);
    decides(&sandbox, &context("https://x", 3), 0);
    decides(&sandbox, &context("http://x", 33), 0);
    decides(&sandbox, "{}", 0);
}

#[test]
fn everything_that_match_names_must_match() {
    let sandbox = blocking("match = { tool = \"write\", path = \"*.pem\" }");
    decides(&sandbox, &tool("Write", &json!({ "path": "a.pem" })), 2);
    decides(&sandbox, &tool("Write", &json!({ "path": "a.txt" })), 0);
    decides(&sandbox, &tool("Read", &json!({ "path": "a.pem" })), 0);
}

#[test]
fn a_disabled_hook_does_not_run() {
    blocking("enabled = false").run("tool.pre").allows();
}

#[test]
fn on_failure_decides_what_a_timeout_means() {
    let hanging = |keys: &str| {
        manifest(&format!(
            "[[hook]]\nname = \"slow\"\nevent = \"tool.pre\"\ncommand = \"sleep 30\"\n\
             timeout = \"100ms\"\n{keys}\n"
        ))
    };
    hanging("")
        .run("tool.pre")
        .blocks("hook `slow` failed: timed out after 100ms (fail closed)");
    hanging("on_failure = \"allow\"")
        .run("tool.pre")
        .exits(0)
        .says("timed out after 100ms");
}

#[test]
fn an_event_of_ones_own_is_a_gate() {
    let sandbox = manifest(
        "[event.\"deploy.pre\"]\nsummary = \"a deployment is about to start\"\nblocks = true\n\n\
         [[hook]]\nname = \"freeze\"\nevent = \"deploy.pre\"\n\
         command = \"false\"\nmatch = { where = { service = \"^prod\" } }\n",
    );
    let deploy = |context: &str| sandbox.hookrun(&["run", "deploy.pre"], context.as_bytes());

    deploy(r#"{"service":"prod-db"}"#)
        .blocks("hook `freeze` exited with status 1 and gave no reason");
    deploy(r#"{"service":"staging"}"#).allows();
    sandbox
        .hookrun(&["run", "deploy.per"], b"{}")
        .blocks_saying("did you mean `deploy.pre`?");
}

#[test]
fn an_event_of_ones_own_needs_no_words() {
    let sandbox = manifest("[event.\"deploy.pre\"]\n").script(
        "hooks.d/deploy.pre/freeze",
        "#!/bin/sh\necho frozen >&2\nexit 1\n",
    );
    sandbox
        .hookrun(&["run", "deploy.pre"], b"{}")
        .blocks("frozen");
    let listed = sandbox.hookrun(&["events", "deploy.pre"], b"");
    listed.exits(0).prints("deploy.pre");
}

#[test]
fn every_key_of_an_event_of_ones_own_is_read() {
    let sandbox = manifest(
        r#"
[event."deploy.done"]
summary = "a deployment is over"
blocks = false
on_failure = "allow"
schedule = "parallel"
context = { service = "string", seconds = "integer", steps = "array" }
rewrites = { service = "last" }
"#,
    );
    let mut event = sandbox.json(&["events", "deploy.done", "--format", "json"]);
    event.as_object_mut().unwrap().remove("context");
    assert_eq!(
        event,
        json!({
            "name": "deploy.done", "summary": "a deployment is over", "aliases": [],
            "blocks": false, "textIsContext": false, "onFailure": "allow", "schedule": "parallel",
            "rewrites": [{ "field": "service", "merge": "last" }],
            "sample": { "event": "deploy.done", "service": "text", "seconds": 1, "steps": [] },
        })
    );
}

#[test]
fn an_event_of_ones_own_that_cannot_be_blocked_goes_on() {
    let sandbox = manifest(
        "[event.done]\nsummary = \"it is done\"\nblocks = false\n\n\
         [[hook]]\nname = \"no\"\nevent = \"done\"\ncommand = \"false\"\n",
    );
    sandbox.run("done").exits(0).says("cannot be blocked");
}
