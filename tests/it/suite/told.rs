//! How it is told: every format, and what differs.

use serde_json::Value;

use super::{GUARD, HEAD, case, report, suite};
use crate::sandbox::Sandbox;

/// One case of each end.
fn of_each() -> Sandbox {
    let cases = case("refused", "bad", "decision = 'block'")
        + &case("100% #1 wrong", "bad", "decision = 'allow'")
        + &format!(
            "[[case]]\nname = 'later'\nskip = 'not yet'\n{HEAD}expect = {{ decision = 'allow' }}\n"
        )
        + &format!(
            "[[case]]\nname = 'no setup'\nsetup = 'exit 3'\n{HEAD}expect = {{ decision = 'allow' }}\n"
        );
    Sandbox::new()
        .hook("10-guard.sh", GUARD)
        .file("hooks.d/tests/a,b.toml", &cases)
}

/// A text without the times in it.
fn timeless(text: &str) -> String {
    let times = regex::Regex::new(r#"(\d+(\.\d+)? m?s\b)|(time="[0-9.]+")"#).unwrap();
    times.replace_all(text, "TIME").into_owned()
}

#[test]
fn a_hook_that_cannot_start_fails_though_no_case_asks_it() {
    let good = "hook = 'guard.sh'\n";
    let cases =
        case("refused", "bad", "decision = 'block'").replace(HEAD, &format!("{HEAD}{good}"));
    let sandbox = Sandbox::new()
        .hook("guard.sh", GUARD)
        .file("hooks.d/tests/guard.toml", &cases);
    let whole = suite(&sandbox, &[]);
    whole.exits(0);
    assert_eq!(whole.stderr, "");
    // No case: nothing fails, and it is said.
    let sandbox = sandbox.hook_for("tool.post", "b.sh", "").hook("c.sh", "");
    let lonely = suite(&sandbox, &[]);
    lonely.exits(0);
    assert_eq!(lonely.stderr, "note: no case runs 2 hooks: b.sh, c.sh\n");
    // A name that no tool has: the hook is never asked.
    let typo = "# hookrun: tool=wriet\nexit 1";
    let sandbox = sandbox.hook("d.sh", typo);
    let doubtful = suite(&sandbox, &[]);
    doubtful
        .exits(0)
        .says("warning: hooks.d/tool.pre/d.sh:2")
        .says("did you mean `write`?");
    doubtful.says("note: no case runs 3 hooks: b.sh, c.sh, d.sh\n");

    let sandbox = sandbox.file("hooks.d/tool.pre/e.sh", "#!/bin/sh\nexit 1\n");
    let broken = suite(&sandbox, &[]);
    broken
        .exits(1)
        .says("error: hooks.d/tool.pre/e.sh: `e.sh` cannot start: `");
    assert!(timeless(&broken.stdout).ends_with("FAILED (a hook cannot run): 1 case in TIME\n"));
    assert_eq!(report(&sandbox, &[])["ok"], false);
    for (format, said) in [
        ("junit", "failures=\"1\""),
        ("github", "::error file=hooks.d/tool.pre/e.sh"),
    ] {
        let ran = suite(&sandbox, &["--format", format]);
        ran.exits(1);
        assert!(ran.stdout.contains(said), "{format}: {ran:?}");
    }
    // Where only some cases are played, nothing is said of other hooks.
    for part in [
        &["--hook", "guard.sh"][..],
        &["--hook", "guard.sh", "--filter", "refused"],
        &["--filter", "refused"],
    ] {
        let ran = suite(&sandbox, part);
        assert!(!ran.stderr.contains("e.sh"), "{part:?}: {ran:?}");
    }
    sandbox
        .hookrun(&["test", "--suite", "hooks.d/tests/guard.toml"], b"")
        .exits(0);
}

#[test]
fn people_see_what_differs_and_what_each_hook_said() {
    let ran = suite(&of_each(), &[]);
    ran.exits(2);
    assert_eq!(
        timeless(&ran.stdout),
        "ERROR  hooks.d/tests/a,b.toml: 4 cases, 1 failed, 1 could not run, 1 skipped

FAILED 100% #1 wrong
        case     hooks.d/tests/a,b.toml:7
        differs  decision, line 11 (- expected, + got)
                 - allow
                 + block
        hooks    BLOCK  10-guard.sh: no bad commands

ERROR  no setup
        case     hooks.d/tests/a,b.toml:18
        why      its `setup` failed (exit status: 3)

skip   later: not yet

ERROR: 4 cases, 1 failed, 1 could not run, 1 skipped in TIME
"
    );
}

#[test]
fn github_gets_annotations_at_the_line_of_the_expectation() {
    assert_eq!(
        suite(&of_each(), &["--format", "github"]).stdout,
        "::error file=hooks.d/tests/a%2Cb.toml,line=11,col=23,title=100%25 #1 wrong::decision should be allow, but is block%0Astderr of 10-guard.sh:%0Ano bad commands
::error file=hooks.d/tests/a%2Cb.toml,line=18,col=1,title=no setup::its `setup` failed (exit status: 3)
4 cases, 1 failed, 1 could not run, 1 skipped
"
    );
}

#[test]
fn junit_is_for_ci_systems() {
    let text = timeless(&suite(&of_each(), &["--format", "junit"]).stdout);
    let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="hookrun test --suite" tests="4" skipped="1" failures="1" errors="1" TIME>
    <testsuite name="hooks.d/tests/a,b.toml" tests="4" skipped="1" failures="1" errors="1" TIME>
        <testcase name="refused" classname="hooks.d/tests/a,b.toml" TIME file="hooks.d/tests/a,b.toml" line="1"/>
        <testcase name="100% #1 wrong" classname="hooks.d/tests/a,b.toml" TIME file="hooks.d/tests/a,b.toml" line="7">
            <failure message="decision should be allow, but is block">decision should be allow, but is block</failure>
            <system-err>stderr of 10-guard.sh:
no bad commands</system-err>
        </testcase>
        <testcase name="later" classname="hooks.d/tests/a,b.toml" TIME file="hooks.d/tests/a,b.toml" line="13">
            <skipped message="not yet"/>
        </testcase>
        <testcase name="no setup" classname="hooks.d/tests/a,b.toml" TIME file="hooks.d/tests/a,b.toml" line="18">
            <error message="its `setup` failed (exit status: 3)">its `setup` failed (exit status: 3)</error>
        </testcase>
    </testsuite>
</testsuites>
"#;
    assert_eq!(text, wanted);
}

#[test]
fn programs_get_everything() {
    let report = report(&of_each(), &[]);
    let of = |key: &str| report[key].clone();
    assert_eq!(
        (of("version"), of("ok"), of("total")),
        (1.into(), false.into(), 4.into())
    );
    assert_eq!(
        (
            of("expected"),
            of("unexpected"),
            of("couldNot"),
            of("skipped"),
            of("notRun")
        ),
        (1.into(), 1.into(), 1.into(), 1.into(), 0.into())
    );
    let wrong = &report["cases"][1];
    let miss = serde_json::json!([{ "key": "decision", "line": 11, "column": 23, "wanted": "allow", "found": "block" }]);
    assert_eq!(wrong["misses"], miss);
    assert_eq!(
        wrong["steps"][0]["hooks"][0]["verdict"]["reason"],
        "no bad commands"
    );
    assert_eq!(
        report["cases"][3]["why"],
        "its `setup` failed (exit status: 3)"
    );
}

#[test]
fn json_that_differs_is_shown_as_a_diff() {
    let cases = format!(
        "[[case]]\nname = 'x'\n{HEAD}context = {{ toolName = 'bash', toolInput = {{ command = 'a', cwd = '/' }} }}\nexpect = {{ decision = 'allow', rewrites = {{ toolInput = {{ command = 'b', cwd = '/' }} }} }}\n"
    );
    let hook =
        "# hookrun: rewrite\necho '{\"update\":{\"toolInput\":{\"command\":\"c\",\"cwd\":\"/\"}}}'";
    let sandbox = Sandbox::new()
        .hook("hook", hook)
        .file("hooks.d/tests/x.toml", &cases);
    let ran = suite(&sandbox, &[]);
    ran.exits(1);
    let wanted = "                   {
                     \"toolInput\": {
                 -     \"command\": \"b\",
                 +     \"command\": \"c\",
                       \"cwd\": \"/\"
                     }
";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
}

#[test]
fn a_hook_cannot_write_to_the_terminal_and_folders_have_names() {
    let hook = "printf '\\033[31m%s' \"$PWD\"";
    let cases = format!("[[case]]\nname = 'x'\n{HEAD}expect = {{ decision = 'allow' }}\n");
    let sandbox = Sandbox::new()
        .hook("hook", hook)
        .file("hooks.d/tests/x.toml", &cases);
    for format in ["human", "github", "junit"] {
        let ran = suite(&sandbox, &["--format", format]);
        ran.exits(1).prints("{case.folder}");
        assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    }
}

#[test]
fn mistakes_are_told_in_every_format() {
    let sandbox = Sandbox::new()
        .hook("hook", "true")
        .file("hooks.d/tests/x.toml", "[[case]]\nname = 'x'\n");
    for format in ["human", "json", "junit", "github"] {
        let ran = suite(&sandbox, &["--format", format]);
        ran.exits(2).prints("the case has no `event`");
        if format == "json" {
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(report["ok"], false);
        }
    }
}

/// What a test runner is opened for: what the program said that did not do as it should.
#[test]
fn a_case_that_fails_shows_what_its_hooks_wrote_in_every_format() {
    let noisy = "seq 1 30; printf 'jqq: not found\\n::error::x \\033[2J' >&2";
    let cases = case("it blocks", "bad", "decision = 'block', output = '30'")
        + &case("it allows", "good", "decision = 'allow', output = '30'");
    let sandbox = Sandbox::new()
        .hook("a.sh", noisy)
        .file("hooks.d/tests/a.toml", &cases);
    let of = |format: &str| suite(&sandbox, &["--format", format]).stdout;
    for (format, wanted) in [
        (
            "human",
            &[
                "stdout   … 10 earlier lines",
                "                 30\n        stderr   jqq: not found\n                 : :error::x \\u{1b}[2J\n",
            ][..],
        ),
        (
            "junit",
            &[
                "<system-out>stdout of a.sh:\n… 10 earlier lines",
                "<system-err>stderr of a.sh:\njqq: not found\n: :error::x \\u{1b}[2J</system-err>",
            ],
        ),
        (
            "github",
            &[
                "but is allow%0Astdout of a.sh:%0A… 10 earlier lines",
                "stderr of a.sh:%0Ajqq: not found%0A::error::x \\u{1b}[2J\n",
            ],
        ),
        ("json", &["jqq: not found\\n::error::x \\u001b[2J"]),
    ] {
        let told = of(format);
        for wanted in wanted {
            assert!(told.contains(wanted), "{format}: no {wanted:?} in {told}");
        }
        // Of the case that passes nothing is shown, except to programs.
        let shown = told.matches("jqq").count();
        assert_eq!(
            shown,
            if format == "json" { 2 } else { 1 },
            "{format}: {told}"
        );
    }
}

#[test]
fn every_suite_of_junit_says_how_long_it_took() {
    let told = suite(&of_each(), &["--format", "junit"]).stdout;
    let suites = told
        .lines()
        .filter(|line| line.trim_start().starts_with("<testsuite "));
    assert!(suites.clone().count() > 0, "{told}");
    for suite in suites {
        assert!(suite.contains(" time=\""), "{suite}");
    }
}
