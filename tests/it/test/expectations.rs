//! Exit statuses, and options that say nonsense.

use crate::sandbox::Sandbox;

const ALLOW: &str = "true";
const BLOCK: &str = "echo 'no force push' >&2; exit 1";
const ASK: &str = "echo '{\"ask\":\"really?\"}'";
const FAIL: &str = "kill -SEGV $$";

/// `hookrun test tool.pre` with a hook of this script, and with these further arguments.
fn test(script: &str, more: &[&str]) -> crate::sandbox::Ran {
    let mut arguments = vec!["test", "tool.pre"];
    arguments.extend(more);
    Sandbox::new()
        .hook("x.sh", script)
        .hookrun(&arguments, b"{}")
}

#[test]
fn the_exit_status_says_whether_it_was_allowed() {
    test(ALLOW, &[]).exits(0);
    test(BLOCK, &[]).exits(1);
    test(ASK, &[]).exits(1);
    test(FAIL, &[]).exits(1);
}

#[test]
fn what_cannot_be_decided_is_2() {
    let sandbox = Sandbox::new()
        .hook("a.sh", "")
        .file("hookrun.toml", "colour = 1\n");
    sandbox.hookrun(&["test", "tool.pre"], b"{}").exits(2);
    for stdin in [&b"{"[..], b"[]", b"nonsense", b"{} {}", b"\xff\xfe\x00"] {
        let ran = sandbox.hookrun(&["test", "tool.pre"], stdin);
        ran.exits(2).says("error: ");
        assert_eq!(ran.stdout, "", "{ran:?}");
    }
}

#[test]
fn only_the_named_hooks_are_asked() {
    let sandbox = Sandbox::new()
        .hook("a.sh", "touch a")
        .hook("b.sh", BLOCK)
        .hook("c.sh", "touch c");
    let here = format!("{{\"cwd\":\"{}\"}}", sandbox.path().display());
    let arguments = ["test", "tool.pre", "--hook", "c.sh", "--hook", "a.sh"];

    let ran = sandbox.hookrun(&arguments, here.as_bytes());

    ran.exits(0).prints("a.sh").prints("c.sh");
    assert!(!ran.stdout.contains("b.sh"), "{ran:?}");
    sandbox.has_file("a");
    sandbox.has_file("c");
}

#[test]
fn an_unknown_hook_is_rejected_with_the_nearest_one() {
    let sandbox = Sandbox::new()
        .hook("10-guard.sh", "")
        .hook_for("tool.post", "redact.sh", "");
    let said = |hook: &str| {
        let ran = sandbox.hookrun(&["test", "tool.pre", "--hook", hook], b"{}");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    assert_eq!(
        said("10-gaurd.sh"),
        "error: no hook `10-gaurd.sh` for `tool.pre`\n  help: did you mean `10-guard.sh`?\n"
    );
    assert_eq!(
        said("redact.sh"),
        "error: no hook `redact.sh` for `tool.pre`\n  help: hooks bound to `tool.pre`: 10-guard.sh\n"
    );
}

#[test]
fn an_unknown_event_is_rejected_with_the_nearest_one() {
    let ran = Sandbox::new().hookrun(&["test", "tool.per"], b"{}");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "error: unknown event `tool.per`\n  help: did you mean `tool.pre`?\n"
    );
}

#[test]
fn options_that_say_nonsense_are_rejected_and_say_how_it_is_meant() {
    for (arguments, part) in [
        (
            &["--budget", "10"][..],
            "`10` is not a duration; write a number and a unit",
        ),
        (&["--budget", "0s"], "`0s` is zero"),
        (&["--stdin-timeout", "soon"], "`soon` is not a duration"),
        (
            &["--format", "xml"],
            "[possible values: human, json, junit, github, sarif, gitlab]",
        ),
        (
            &["--color", "sometimes"],
            "[possible values: auto, always, never]",
        ),
        (&["--colour"], "--color"),
        (&["extra"], "cannot read `extra`: "),
        (&["a.json", "extra"], "unexpected argument 'extra'"),
    ] {
        let mut all = vec!["test", "tool.pre"];
        all.extend(arguments);
        let ran = Sandbox::new().hookrun(&all, b"{}");
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {ran:?}"
        );
        assert!(
            ran.stderr.contains(part),
            "{arguments:?}: no {part} in {}",
            ran.stderr
        );
    }
}

#[test]
fn a_budget_ends_a_hook_that_hangs() {
    let ran = test("sleep 30", &["--budget", "200ms"]);
    ran.exits(1).prints("the budget of 200ms was used up");
}
