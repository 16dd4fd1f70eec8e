//! What people write who know other tools: each is reported with what to write here.

use crate::sandbox::Sandbox;

/// That one problem of a sandbox has all these parts.
fn has_problem(sandbox: &Sandbox, parts: &[&str]) {
    let problems = sandbox.problems(&[]);
    let is_it = |one: &String| parts.iter().all(|part| one.contains(part));
    assert!(problems.iter().any(is_it), "no {parts:?} in {problems:#?}");
}

fn has_none(sandbox: &Sandbox) {
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
}

#[test]
fn a_key_of_a_host_in_a_hook_of_ours_may_be_the_wrong_key_or_the_wrong_convention() {
    let ours = "#!/bin/sh\ncmd=$(hookrun hook field tool_input.command)\n\
                case $cmd in *rm*) exit 1;; esac\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/h", ours);
    let both = [
        "`hookrun events tool.pre`",
        "dialect=claude",
        "block with `exit 2`",
    ];
    has_problem(&sandbox, &both);
}

#[test]
fn directives_of_people_who_know_other_tools_say_what_to_write() {
    for (directive, cause, cure) in [
        ("tool=mcp__.*", "not regular expressions", "`mcp__*`"),
        ("tool=Bash.*", "not regular expressions", "`Bash*`"),
        ("tool='read|mcp__.+'", "not regular expressions", "`mcp__*`"),
        (
            r"command=git\s+push",
            r"the `\` in `command=git\s+push` would be removed",
            r"command='git\s+push'",
        ),
        (
            r"where.prompt=\bkey",
            "would be removed",
            r"where.prompt='\bkey'",
        ),
        ("tool = bash", "`tool` has no value", "write `tool=…`"),
        (
            "tool: bash",
            "unknown setting `tool:`",
            "did you mean `tool`?",
        ),
        ("toool=bash", "unknown setting", "did you mean `tool`?"),
        (
            "command=git push",
            "unknown setting `push`",
            "quote a value",
        ),
        ("quux=1", "unknown setting", "where.FIELD and unless.KEY"),
        (
            "enabled=no",
            "takes true or false",
            "write one of these values",
        ),
        (
            "enabled=perhaps",
            "true or false",
            "`enabled` takes true or false",
        ),
        ("on_failure=open", "not \"open\"", "`on_failure` takes"),
        (
            "on_failure=alow",
            "not \"alow\"",
            "write `on_failure=allow`",
        ),
        (
            "background=perhaps",
            "not \"perhaps\"",
            "`background` takes",
        ),
    ] {
        let text = format!("#!/bin/sh\n# hookrun: {directive}\nexit 0\n");
        let sandbox = Sandbox::new().script("hooks.d/prompt.submit/h", &text);
        has_problem(&sandbox, &["h:2:", cause, cure]);
    }
    let text = "#!/bin/sh\n# hookrun: tool=write command=rm\nexit 0\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/h", text);
    has_problem(
        &sandbox,
        &[
            "warning",
            "`h` matches command lines",
            "so it never runs",
            "match the tool `bash`",
        ],
    );
    for directive in [
        "tool='read|mcp__*' path=*.{env,pem}",
        "path='My Documents/**'",
        "path=/etc/passwd tool='bash|write' command=rm",
        "path=.env tool=bash",
        r"command='git\s+push' description=it\'s",
        r#"command="git\s+push""#,
        r"description=two\ words",
    ] {
        let text = format!("#!/bin/sh\n# hookrun: {directive}\nexit 0\n");
        has_none(&Sandbox::new().script("hooks.d/tool.pre/h", &text));
    }
}

#[test]
fn tables_of_people_who_know_other_tools_say_what_to_write() {
    for (line, cure) in [
        (
            "match = { tool = \"mcp__github__.*\" }",
            "write `mcp__github__*`",
        ),
        ("matcher = \"Bash\"", "the keys here are name, event"),
        ("tool = \"bash\"", "write `match = { tool = … }`"),
        ("match = { tol = \"Bash\" }", "did you mean `tool`?"),
        ("comand = \"true\"", "did you mean `command`?"),
        ("enabled = \"no\"", "`enabled` takes true or false"),
        ("enabled = 0", "`enabled` takes true or false"),
        ("on_failure = \"open\"", "`on_failure` takes"),
        ("on_failure = false", "`on_failure` takes"),
    ] {
        let text = format!(
            "[[hook]]\nname = \"h\"\nevent = \"tool.pre\"\ncommand = \"/bin/true\"\n{line}\n"
        );
        has_problem(
            &Sandbox::new().file("hookrun.toml", &text),
            &["hookrun.toml:5:", cure],
        );
    }
}

#[test]
fn a_folder_with_nearly_a_name_of_ours_is_meant_for_ours() {
    for (folder, cure) in [
        ("pre-tool", "did you mean `tool.pre`?"),
        ("pretool", "did you mean `tool.pre`?"),
        ("pre.tool", "did you mean `tool.pre`?"),
        ("post_tool", "did you mean `tool.post`?"),
        ("preToolUse", "rename the folder to `tool.pre`"),
        ("test", "did you mean `tests`?"),
    ] {
        let sandbox = Sandbox::new().script(&format!("hooks.d/{folder}/h"), "#!/bin/sh\nexit 0\n");
        has_problem(&sandbox, &[folder, cure]);
    }
}

#[test]
fn an_event_in_a_hosts_words_without_that_host_says_which_to_name() {
    let sandbox = Sandbox::new().hook("h", "exit 0");
    let payload = serde_json::json!({
        "session_id": "x", "transcript_path": "/t", "cwd": sandbox.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let cure = "the context looks like an event of claude: add `--host claude`";
    for arguments in [
        &["run", "tool.pre"][..],
        &["run", "PreToolUse"],
        &["test", "tool.pre"],
    ] {
        let ran = sandbox.hookrun(arguments, payload.to_string().as_bytes());
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.status != 0 && said.contains(cure),
            "{arguments:?} {said}"
        );
    }
    let ours = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let ran = sandbox.hookrun(&["run", "tool.pre"], ours.to_string().as_bytes());
    assert!(
        ran.status != 0 && !format!("{ran:?}").contains("looks like"),
        "{ran:?}"
    );
}

#[test]
fn a_report_tells_why_a_status_passed_or_blocked() {
    let text = "#!/bin/sh\n# hookrun: dialect=claude\necho bad >&2; exit 1\n";
    let sandbox = Sandbox::new().script("hooks.d/PreToolUse/h", text);
    let report = sandbox.report(
        "tool.pre",
        r#"{"toolName":"Bash","toolInput":{"command":"ls"}}"#,
    );
    assert_eq!(
        report["hooks"][0]["verdict"]["rule"], "passing-exit",
        "{report:#}"
    );
    let sandbox = Sandbox::new().hook("h", "set -e; false");
    let report = sandbox.report(
        "tool.pre",
        r#"{"toolName":"Bash","toolInput":{"command":"ls"}}"#,
    );
    let note = report["hooks"][0]["notes"][0].as_str().unwrap();
    assert!(note.contains("end the script with `exit 0`"), "{note}");
}

#[test]
fn an_event_of_a_folder_that_was_not_read_says_where_was_looked() {
    let sandbox = Sandbox::new().hook("h", "exit 0");
    let folder = sandbox.path().display().to_string();
    let ran = sandbox.hookrun(&["run", "plan.made"], b"{}");
    ran.exits(2)
        .says("unknown event `plan.made`")
        .says(&folder)
        .says("`--hooks DIR`");
    let empty = Sandbox::new()
        .without_trust()
        .hookrun(&["run", "plan.made"], b"{}");
    empty
        .exits(2)
        .says("no hookrun.toml was found")
        .says("`--hooks DIR`");
}
