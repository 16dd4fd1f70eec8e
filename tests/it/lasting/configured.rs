//! `lives = "session"` in a script and in `hookrun.toml`, and what commands say of it.

use crate::sandbox::{Sandbox, USER_FILE};

const SCRIPT: &str = "#!/bin/sh\n# hookrun: lives=session\ntouch started\n";

fn watched() -> Sandbox {
    Sandbox::new().script("hooks.d/tool.post/watch.sh", SCRIPT)
}

#[test]
fn a_script_and_a_table_may_say_it() {
    let table = "[[hook]]\nname = \"other\"\nevent = [\"session.start\", \"tool.post\"]\n\
                 command = \"cat\"\nlives = \"session\"\n";
    let sandbox = watched().file(USER_FILE, table);
    let listed = sandbox.json(&["list", "--format", "json"]);
    let hooks = listed["hooks"].as_array().unwrap();
    assert_eq!(hooks.len(), 3, "{listed:#}");
    assert!(
        hooks.iter().all(|hook| hook["lives"] == "session"),
        "{listed:#}"
    );
}

#[test]
fn nobody_holds_a_session_for_run_and_every_command_says_so() {
    let sandbox = watched();
    sandbox
        .hookrun(
            &["run", "tool.post"],
            br#"{"toolName":"bash","sessionId":"s"}"#,
        )
        .allows();
    sandbox.has_no_file("started");
    let why = "it runs once per session, in a program that runs for the whole session, such as `hookrun serve`";
    sandbox
        .hookrun(&["list"], b"")
        .exits(0)
        .prints(&format!("(idle: {why})"));
    sandbox
        .hookrun(&["list", "watch.sh"], b"")
        .exits(0)
        .prints(why);
    let report = sandbox.report("tool.post", r#"{"toolName":"bash"}"#);
    assert_eq!(report["hooks"][0]["fate"], "idle", "{report:#}");
    let validated = sandbox.hookrun(&["validate"], b"");
    validated
        .exits(0)
        .prints("hooks.d/tool.post/watch.sh:2")
        .prints("`hookrun run` does not start `watch.sh`, because the hook runs for a whole session (`lives = \"session\"`)");
}

#[test]
fn a_gate_needs_an_answer() {
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/watch.sh", SCRIPT);
    let validated = sandbox.hookrun(&["validate"], b"");
    validated
        .exits(1)
        .prints("hooks.d/tool.pre/watch.sh:2")
        .prints("a hook with `lives = \"session\"` cannot answer, but `tool.pre` needs an answer")
        .prints("so that the hook starts for each event");
    sandbox.run("tool.pre").exits(2);
    sandbox.has_no_file("started");
    let sandbox = Sandbox::new().script("hooks.d/command/watch.sh", SCRIPT);
    sandbox
        .hookrun(&["validate"], b"")
        .exits(1)
        .prints("needs an answer");
}

#[test]
fn keys_about_answers_exclude_it() {
    for setting in [
        "rewrite",
        "on_failure=allow",
        "background=detach",
        "parallel",
        "priority=5",
        "reads=stdin",
    ] {
        let script = SCRIPT.replace("lives=session", &format!("lives=session {setting}"));
        let sandbox = Sandbox::new().script("hooks.d/tool.post/watch.sh", &script);
        let key = setting.split('=').next().unwrap();
        let wrong = format!("`{key}` cannot be used with `lives = \"session\"`");
        let validated = sandbox.hookrun(&["validate"], b"");
        validated.exits(1).prints("watch.sh:2").prints(&wrong);
    }
    let sandbox = Sandbox::new().script("hooks.d/PostToolUse/watch.sh", SCRIPT);
    let wrong = "cannot be used in a folder named after another system's event";
    sandbox.hookrun(&["validate"], b"").exits(1).prints(wrong);
    let rule =
        "[[rule]]\nevent = \"tool.pre\"\nruns = \"rm\"\ndeny = \"no\"\nlives = \"session\"\n";
    let sandbox = Sandbox::new().file(USER_FILE, rule);
    sandbox
        .hookrun(&["validate"], b"")
        .exits(1)
        .prints("unknown key `lives`");
    let script = SCRIPT.replace("lives=session", "lives=forever");
    let sandbox = Sandbox::new().script("hooks.d/tool.post/watch.sh", &script);
    sandbox
        .hookrun(&["validate"], b"")
        .exits(1)
        .prints("`lives` takes one of");
}
