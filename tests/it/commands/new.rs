//! `hookrun new NAME --event EVENT`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hookrun::internals::event::catalog::EVENTS;
use serde_json::json;

use crate::sandbox::{Ran, Sandbox};

const LANGUAGES: &[(&str, &str, &str)] = &[
    ("sh", "sh", "#!/bin/sh\n"),
    ("bash", "sh", "#!/usr/bin/env bash\n"),
    ("python", "py", "#!/usr/bin/env python3\n"),
];

/// Events of one's own, of every form that matters to a template.
const OWN: &str = r#"
[event."gate.bare"]
summary = "nothing is known of it"
[event."gate.text"]
summary = "something is deployed"
context = { service = "string", environment = "string" }
[event."gate.list"]
summary = "much is done at once"
context = { is_many = "boolean", parts = "array" }
[event."gate.object"]
summary = "something with parts is made"
context = { thing = "object" }
[event."told.now"]
summary = "something has happened"
blocks = false
[event."told.later"]
summary = "something has happened, and nobody waits"
blocks = false
schedule = "detached"
"#;

const OWN_NAMES: &[&str] = &[
    "gate.bare",
    "gate.text",
    "gate.list",
    "gate.object",
    "told.now",
    "told.later",
];

fn new(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut all = vec!["new"];
    all.extend(arguments);
    sandbox.hookrun(&all, b"")
}

/// A hook for every event, in one language: they are in order, and their cases show all that they do.
fn every_event_gets_one(language: &str) {
    let sandbox = Sandbox::new().file("hookrun.toml", OWN);
    let (_, ending, shebang) = LANGUAGES
        .iter()
        .find(|(name, ..)| *name == language)
        .unwrap();
    let names = EVENTS
        .iter()
        .map(|spec| spec.name.as_ref())
        .chain(OWN_NAMES.iter().copied());
    for name in names.clone() {
        new(&sandbox, &[name, "--event", name, "--lang", language]).exits(0);
        let file = format!("hooks.d/{name}/{name}.{ending}");
        assert!(sandbox.read(&file).starts_with(shebang), "{file}");
        let mode = fs::metadata(sandbox.at(&file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o102, 0o100, "{file} has the mode {mode:o}");
    }
    new(
        &sandbox,
        &["greet", "--event", "command.greet", "--lang", language],
    )
    .exits(0);
    let count = names.count() + 1;
    let ran = sandbox.hookrun(&["validate"], b"");
    ran.exits(0)
        .prints("ok: ")
        .prints(&format!(" {count} hooks\n"));
    sandbox
        .hookrun(&["test", "--suite", "--coverage=100"], b"")
        .exits(0)
        .prints("covered 100.0%");
}

#[test]
fn every_event_gets_a_hook_in_sh() {
    every_event_gets_one("sh");
}

#[test]
fn every_event_gets_a_hook_in_bash() {
    every_event_gets_one("bash");
}

#[test]
fn every_event_gets_a_hook_in_python() {
    every_event_gets_one("python");
}

#[test]
fn git_s_name_of_an_event_is_one() {
    let sandbox = Sandbox::new();
    new(&sandbox, &["a", "--event", "commit-msg"]).exits(0);
    sandbox.has_file("hooks.d/commit.msg/a.sh");
}

#[test]
fn what_was_written_and_made_is_told() {
    let sandbox = Sandbox::new();
    let ran = new(&sandbox, &["10-guard", "--event", "PreToolUse"]);
    assert_eq!(
        ran.stdout,
        "created hooks.d\n\
         wrote hooks.d/tool.pre/10-guard.sh\n\
         wrote hooks.d/tests/10-guard.toml\n  \
         `hookrun test tool.pre --hook 10-guard.sh` runs the hook\n  \
         `hookrun test --suite` runs the test cases\n"
    );
    sandbox
        .run_shell("git push --force")
        .blocks("force pushes are blocked; push to your own branch");
    sandbox.run_shell("git push").allows();
    let ran = new(
        &sandbox,
        &["20-guard.py", "--event", "tool.pre", "--lang", "python"],
    );
    assert!(
        ran.stdout
            .starts_with("wrote hooks.d/tool.pre/20-guard.py\n"),
        "{ran:?}"
    );
}

#[test]
fn a_value_that_the_hook_could_not_see_is_rejected() {
    for (language, ..) in LANGUAGES {
        let sandbox = Sandbox::new();
        new(
            &sandbox,
            &["guard", "--event", "tool.pre", "--lang", language],
        )
        .exits(0);
        let hidden = format!("{} git push --force", "x".repeat(40_000));
        sandbox.run_shell(&hidden).exits(2);
    }
}

#[test]
fn a_dry_run_prints_both_files_and_writes_none() {
    let sandbox = Sandbox::new();
    let ran = new(&sandbox, &["guard", "--event", "tool.pre", "--dry-run"]);
    ran.exits(0)
        .prints("# hooks.d/tool.pre/guard.sh\n#!/bin/sh\n")
        .prints("[[case]]");
    sandbox.has_no_file("hooks.d");
}

#[test]
fn nothing_is_written_over() {
    let sandbox = Sandbox::new();
    new(&sandbox, &["guard", "--event", "tool.pre"]).exits(0);
    let before = sandbox.read("hooks.d/tool.pre/guard.sh");
    new(&sandbox, &["guard", "--event", "tool.pre"])
        .exits(0)
        .prints("guard already exists; nothing was changed");
    for event in ["tool.pre", "tool.post"] {
        let ran = new(&sandbox, &["guard", "--event", event, "--lang", "bash"]);
        ran.exits(2)
            .says("already exists")
            .says("nothing was written");
    }
    assert_eq!(sandbox.read("hooks.d/tool.pre/guard.sh"), before);
    sandbox.has_no_file("hooks.d/tool.post");
}

#[test]
fn names_that_would_be_no_hook_are_rejected() {
    for name in [
        "",
        "../guard",
        "a/b",
        ".guard",
        "-x",
        "guard~",
        "a b",
        "README",
        "README.sh",
        "x.bak",
        "x.md",
    ] {
        let sandbox = Sandbox::new();
        let ran = new(&sandbox, &["--event", "tool.pre", "--", name]);
        ran.exits(2)
            .says(&format!("`{name}` cannot be the name of a hook"));
        sandbox.has_no_file("hooks.d");
    }
    new(&Sandbox::new(), &["guard.py", "--event", "tool.pre"])
        .exits(0)
        .prints("wrote hooks.d/tool.pre/guard.py");
}

#[test]
fn an_unknown_event_is_rejected_with_the_nearest() {
    let sandbox = Sandbox::new();
    new(&sandbox, &["guard", "--event", "tol.pre"])
        .exits(2)
        .says("did you mean `tool.pre`?");
    let ran = new(&sandbox, &["guard", "--event", "command.greet"]);
    ran.exits(2)
        .says("`hookrun new greet --event command.greet`");
}

#[test]
fn it_goes_where_hooks_are_already() {
    let sandbox = Sandbox::new().file(".hookrun/hookrun.toml", "");
    new(&sandbox, &["guard", "--event", "tool.pre"]).exits(0);
    sandbox.has_file(".hookrun/hooks.d/tool.pre/guard.sh");

    for (place, made, written) in [
        ("new/one", "", "new/one/hooks.d/tool.pre/guard.sh"),
        ("hooks.d", "", "hooks.d/tool.pre/guard.sh"),
        ("ci", "ci/hookrun.toml", "ci/hooks.d/tool.pre/guard.sh"),
        (
            "policies",
            "policies/tool.post/a.sh",
            "policies/tool.pre/guard.sh",
        ),
        (
            "hidden",
            "hidden/.hookrun/hooks.d/lib/a",
            "hidden/.hookrun/hooks.d/tool.pre/guard.sh",
        ),
    ] {
        let mut sandbox = Sandbox::new();
        if !made.is_empty() {
            sandbox = sandbox.script(made, "#!/bin/sh\n");
            fs::write(
                sandbox.at(made),
                if made.ends_with("toml") {
                    ""
                } else {
                    "#!/bin/sh\n"
                },
            )
            .unwrap();
        }
        new(
            &sandbox,
            &["guard", "--event", "tool.pre", "--hooks", place],
        )
        .exits(0);
        sandbox.has_file(written);
        let order = sandbox.order("tool.pre", &["--hooks", place]);
        assert_eq!(order, ["guard.sh"], "{place}");
    }
    let sandbox = Sandbox::new().file("a", "");
    new(&sandbox, &["x", "--event", "tool.pre", "--hooks", "a"])
        .exits(2)
        .says("is not a folder");
}

#[test]
fn without_an_event_the_usual_ones_are_listed() {
    let ran = new(&Sandbox::new(), &["x"]);
    ran.exits(2).says("`hookrun new x --event EVENT`");
    for event in [
        "tool.pre",
        "prompt.submit",
        "agent.stop",
        "commit.msg",
        "push.pre",
    ] {
        ran.says(&format!("\n    {event} "));
        assert!(EVENTS.iter().any(|spec| spec.name == event), "{event}");
    }
}

/// A hook for a stop runs the tests, and one for messages reads them however they are written.
#[test]
fn a_new_hook_does_what_people_want_there() {
    let sandbox = Sandbox::new()
        .file("test.sh", "echo 1 of 2 fails; exit 1")
        .file(".git/HEAD", "");
    new(&sandbox, &["tests", "--event", "agent.stop"]).exits(0);
    sandbox.run("agent.stop").blocks_saying("1 of 2 fails");
    new(&sandbox, &["wip", "--event", "commit.msg"]).exits(0);
    for message in ["WIP: x", "wip", "a Wip"] {
        let context = json!({ "message": message }).to_string();
        sandbox
            .hookrun(&["test", "commit.msg"], context.as_bytes())
            .exits(1);
    }
}
