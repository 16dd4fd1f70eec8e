//! Guards are asked again after a later hook has rewritten the event.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, USER_FILE};

const MAKE_RM: &str =
    "# hookrun: rewrite\necho '{\"update\":{\"toolInput\":{\"command\":\"rm -rf x\"}}}'";
const NO_RM: &str = "case $HOOKRUN_ACTION_COMMAND in rm*) echo 'no rm' >&2; exit 1 ;; esac";

fn ls(sandbox: &Sandbox) -> Ran {
    sandbox.run_shell("ls")
}

fn report(sandbox: &Sandbox) -> Value {
    sandbox.report(
        "tool.pre",
        r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#,
    )
}

#[test]
fn no_order_lets_a_rewrite_past_a_guard() {
    for (first, second) in [("10", "20"), ("20", "10")] {
        for settings in ["", "# hookrun: parallel\n", "# hookrun: command=^rm\n"] {
            let sandbox = Sandbox::new()
                .hook(&format!("{first}-guard"), &format!("{settings}{NO_RM}"))
                .hook(&format!("{second}-make"), MAKE_RM)
                .hook("50-other", "# hookrun: parallel\ntrue");
            ls(&sandbox).blocks("no rm");
        }
    }
}

#[test]
fn what_is_asked_again_is_told() {
    let sandbox = Sandbox::new()
        .hook("10-guard", "echo said; echo x >> count")
        .hook("15-read", "# hookrun: tool=read\nexit 1")
        .hook("20-make", MAKE_RM)
        .hook("30-after", "true");
    let report = report(&sandbox);
    let hooks = report["hooks"].as_array().unwrap();
    let names: Vec<&str> = hooks
        .iter()
        .map(|hook| hook["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["10-guard", "15-read", "20-make", "30-after", "10-guard"]
    );
    let note = "ran again, because `20-make` rewrote the event after this hook's first run";
    assert_eq!(hooks[4]["notes"], json!([note]));
    assert_eq!(report["decision"], "allow", "{report:#}");
    assert_eq!(sandbox.read("count"), "x\nx\n");
    assert_eq!(
        report["output"]
            .as_str()
            .map(|text| text.matches("said").count()),
        Some(1)
    );
}

#[test]
fn a_guard_that_fails_or_asks_the_second_time_counts() {
    let with = |body: &str| {
        let body = format!("case $HOOKRUN_ACTION_COMMAND in rm*) {body} ;; esac");
        Sandbox::new()
            .hook("10-guard", &body)
            .hook("20-make", MAKE_RM)
    };
    ls(&with("kill -9 $$")).blocks_saying("killed by SIGKILL");
    ls(&with("echo '{\"ask\":\"really?\"}'")).blocks_saying("really?");
}

#[test]
fn rewrites_come_to_an_end() {
    let adds = |what: &str| {
        format!(
            "# hookrun: rewrite\nprintf '{{\"update\":{{\"toolInput\":{{\"command\":\"%s {what}\"}}}}}}' \
             \"$HOOKRUN_ACTION_COMMAND\""
        )
    };
    let both = Sandbox::new()
        .hook("10-a", &adds("a"))
        .hook("20-b", &adds("b"));
    let said = report(&both);
    assert_eq!(said["decision"], "allow", "{said:#}");
    let rewrites = said["rewrites"].as_array().unwrap();
    assert_eq!(rewrites[1]["new"]["command"], "ls a b");
    assert!(
        rewrites[2]["rejected"]
            .as_str()
            .unwrap()
            .contains("second run"),
        "{said:#}"
    );

    let late = "# hookrun: rewrite command=^rm\necho '{\"update\":{\"toolInput\":{\"command\":\"mv x y\"}}}'";
    let late = Sandbox::new()
        .hook("10-late", late)
        .hook("20-make", MAKE_RM);
    ls(&late).blocks_saying("its second run rewrote `toolInput`, but a later hook has");
}

/// An event of one's own whose hooks run all at once, also those that rewrite.
#[test]
fn guards_that_run_beside_a_rewrite_are_asked_again() {
    let event = "[event.\"shell.pre\"]\nsummary = \"a shell\"\nschedule = \"parallel\"\n\
                 context = { toolName = \"string\", toolInput = \"object\" }\n\
                 rewrites = { toolInput = \"chain\" }\n";
    let with = |guard: &str| {
        Sandbox::new()
            .file("hookrun.toml", event)
            .hook_for("shell.pre", "10-guard", guard)
            .hook_for("shell.pre", "20-make", MAKE_RM)
            .hook_for(
                "shell.pre",
                "30-guard",
                &format!("# hookrun: command=^ls\n{NO_RM}"),
            )
    };
    let context = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let said = with(NO_RM).report("shell.pre", context);
    assert_eq!(said["decision"], "block", "{said:#}");
    assert_eq!(said["reason"], "no rm", "{said:#}");

    let counts = with("echo \"$HOOKRUN_ACTION_COMMAND\" >> seen");
    let said = counts.report("shell.pre", context);
    assert_eq!(said["decision"], "allow", "{said:#}");
    let names: Vec<&str> = said["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| hook["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["10-guard", "20-make", "30-guard", "10-guard"]);
    assert_eq!(counts.read("seen"), "ls\nrm -rf x\n");
}

/// What is asked about need not be an action: a guard sees the words that go on.
#[test]
fn guards_of_words_are_asked_again() {
    for (event, field, before) in [
        ("prompt.submit", "prompt", r#"{"prompt":"hello"}"#),
        ("commit.msg", "message", r#"{"message":"hello"}"#),
    ] {
        let make =
            format!("# hookrun: rewrite\necho '{{\"update\":{{\"{field}\":\"WIP thing\"}}}}'");
        let with = |guard: &str| {
            Sandbox::new()
                .hook_for(event, "10-guard", guard)
                .hook_for(event, "50-make", &make)
        };
        let said =
            with("grep -q WIP && { echo 'no WIP' >&2; exit 1; }; true").report(event, before);
        assert_eq!(said["decision"], "block", "{event} {said:#}");
        assert_eq!(said["reason"], "no WIP", "{event} {said:#}");
        let said = with("echo x >> count").report(event, before);
        assert_eq!(said["decision"], "allow", "{event} {said:#}");
    }
}

/// Hooks that are written for such a host see the event as it came; ours see what will run.
#[test]
fn our_guards_are_asked_again_whatever_the_host_does() {
    for (event, dialect, input) in [
        (
            "tool_call",
            "omp",
            r#"{"type":"tool_call","toolName":"bash","toolCallId":"1","input":{"command":"ls"}}"#,
        ),
        (
            "before_tool_call",
            "openclaw",
            r#"{"toolName":"exec","params":{"command":"ls"}}"#,
        ),
        (
            "tool.pre",
            "native",
            r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#,
        ),
    ] {
        let sandbox = Sandbox::new()
            .hook("10-guard", NO_RM)
            .hook("15-input", "grep -q 'rm -rf' && touch seen; true")
            .hook("50-make", MAKE_RM);
        let ran = sandbox.hookrun(&["run", event, "--host", dialect], input.as_bytes());
        ran.exits(2).says("no rm");
        let sandbox = Sandbox::new()
            .hook("15-input", "grep -q 'rm -rf' && echo x > seen; true")
            .hook("50-make", MAKE_RM);
        sandbox
            .hookrun(&["run", event, "--host", dialect], input.as_bytes())
            .exits(0);
        assert_eq!(sandbox.read("seen"), "x\n", "{dialect}");
    }
}

#[test]
fn a_rewrite_by_a_hook_with_the_name_of_a_guard_does_not_hide_the_guard() {
    let sandbox = Sandbox::new().hook("guard", MAKE_RM);
    let trust = sandbox.read(USER_FILE);
    let rule =
        "[[rule]]\nname = \"guard\"\nevent = \"tool.pre\"\nruns = \"rm -rf\"\ndeny = \"no rm\"\n";
    let sandbox = sandbox.file(USER_FILE, &format!("{rule}{trust}"));
    ls(&sandbox).blocks("no rm");
}

/// The same words may name another file, and another limit may let a failure pass.
#[test]
fn a_repeated_command_runs_again_if_anything_about_it_differs() {
    let command = "[[hook]]\nname = \"check\"\nevent = \"tool.pre\"\ndialect = \"claude\"\nshell = true\n\
                   command = '\"$HOOKRUN_HOOK_DIR\"/guard.sh'\n";
    let sandbox = Sandbox::new()
        .script("home/.config/hookrun/guard.sh", "#!/bin/sh\ntrue\n")
        .script("guard.sh", "#!/bin/sh\necho 'no rm' >&2; exit 2\n")
        .file("hookrun.toml", command);
    let trust = sandbox.read(USER_FILE);
    let sandbox = sandbox.file(USER_FILE, &format!("{command}{trust}"));
    ls(&sandbox).blocks("no rm");

    let slow = "[[hook]]\nname = \"NAME\"\nevent = \"tool.pre\"\ndialect = \"claude\"\nshell = true\n\
                command = 'exit 3'\n";
    let lenient = format!(
        "{}on_failure = \"allow\"\n",
        slow.replace("NAME", "lenient")
    );
    let strict = format!("{}on_failure = \"block\"\n", slow.replace("NAME", "strict"));
    let sandbox = Sandbox::new().file("hookrun.toml", &(lenient + &strict));
    let ran = ls(&sandbox);
    ran.exits(2).says("strict");
}
