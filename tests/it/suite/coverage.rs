//! `--coverage`: what no case has shown.

use hookrun::internals::scenario::coverage::{Coverage, CoveragePart, Point, Who};
use serde_json::Value;

use super::{GUARD, HEAD, case, guarded, report, suite};
use crate::sandbox::Sandbox;

/// Cases that show all of the guard.
fn both() -> String {
    case("blocked", "bad", "decision = 'block'") + &case("allowed", "good", "decision = 'allow'")
}

/// The points that are missing, each with its event and hook, and the place of each.
#[track_caller]
fn missing(sandbox: &Sandbox) -> (Vec<String>, Vec<String>) {
    let report = report(sandbox, &["--coverage"]);
    let gaps = report["coverage"]["missing"]
        .as_array()
        .unwrap_or_else(|| panic!("{report:#}"));
    let text = |gap: &Value, key: &str| gap[key].as_str().unwrap_or("-").to_string();
    let what = |gap: &Value| [text(gap, "event"), text(gap, "hook"), text(gap, "point")].join(" ");
    let place = |gap: &Value| format!("{}:{}", text(gap, "file"), gap["line"]);
    (
        gaps.iter().map(what).collect(),
        gaps.iter().map(place).collect(),
    )
}

#[test]
fn cases_that_show_everything_cover_a_hundred_percent() {
    let sandbox = guarded(&both());
    let ran = suite(&sandbox, &["--coverage=100"]);
    ran.exits(0).prints("covered 100.0%: 3 of 3 points\n");
    assert!(
        ran.stdout.lines().all(|line| line.chars().count() <= 80),
        "{ran:?}"
    );
    let report = report(&sandbox, &["--coverage"]);
    assert_eq!(
        (&report["coverage"]["percent"], &report["ok"]),
        (&100.0.into(), &true.into())
    );
}

#[test]
fn a_hook_that_never_blocked_never_allowed_or_never_ran_is_reported() {
    let never_blocked = guarded(&case("it", "good", "decision = 'allow'"));
    assert_eq!(missing(&never_blocked).0, ["tool.pre 10-guard.sh blocked"]);
    let never_allowed = guarded(&case("it", "bad", "decision = 'block'"));
    assert_eq!(missing(&never_allowed).0, ["tool.pre 10-guard.sh allowed"]);
    // The first one settles it.
    let never_ran = guarded(&case("it", "bad", "decision = 'block'")).hook("20-late.sh", "");
    let late = ["ran", "blocked", "allowed"].map(|point| format!("tool.pre 20-late.sh {point}"));
    assert_eq!(missing(&never_ran).0[1..], late);
}

#[test]
fn a_block_because_the_hook_failed_does_not_count_as_blocking() {
    let sandbox = Sandbox::new().hook("10-guard.sh", "kill -9 $$").file(
        "hooks.d/tests/it.toml",
        &case("it", "bad", "decision = 'block', failed = '10-guard.sh'"),
    );
    let points = ["blocked", "allowed"].map(|point| format!("tool.pre 10-guard.sh {point}"));
    assert_eq!(missing(&sandbox).0, points);
}

#[test]
fn a_hook_without_cases_is_told_and_an_observer_has_to_be_seen() {
    let cases =
        both() + "[[case]]\nname = 'told'\nevent = 'error'\nexpect = { decision = 'allow' }\n";
    let sandbox = guarded(&cases)
        .hook_for("error", "note.sh", "")
        .hook_for("turn.end", "end.sh", "");
    let (what, places) = missing(&sandbox);
    assert_eq!(what, ["error note.sh ran", "turn.end end.sh ran",]);
    assert_eq!(places[0], "hooks.d/error/note.sh:1");
    let looked = cases.replace("'allow' }\n", "'allow', files = { a = false } }\n");
    let sandbox = guarded(&looked).hook_for("error", "note.sh", "");
    assert_eq!(missing(&sandbox).0, [""; 0]);
}

#[test]
fn a_matcher_that_never_kept_its_hook_from_running_is_told_with_the_line_of_its_setting() {
    let hook = format!("# A guard.\n# hookrun: timeout=9s command=.\n{GUARD}");
    let sandbox = Sandbox::new()
        .hook("10-guard.sh", &hook)
        .file("hooks.d/tests/it.toml", &both());
    let (what, places) = missing(&sandbox);
    assert_eq!(what, ["tool.pre 10-guard.sh matched.command"]);
    assert_eq!(places, ["hooks.d/tool.pre/10-guard.sh:3"]);
    let read = format!(
        "[[case]]\nname = 'no command'\n{HEAD}context = {{ toolName = 'read' }}\nexpect = {{ decision = 'allow' }}\n"
    );
    let sandbox = Sandbox::new()
        .hook("10-guard.sh", &hook)
        .file("hooks.d/tests/it.toml", &(both() + &read));
    assert_eq!(missing(&sandbox).0, [""; 0]);
}

#[test]
fn settings_that_no_case_has_used_are_told_with_the_line_of_their_table() {
    let settings = "on_failure = 'allow'\nrewrite = true\nparallel = true\n";
    let table = |name: &str, more: &str| {
        format!("[[hook]]\nname = '{name}'\nevent = 'tool.pre'\ncommand = 'true'\n{more}\n")
    };
    let manifest = table("one", settings) + &table("two", "parallel = true\npriority = 7");
    let only =
        format!("[[case]]\nname = 'it'\nhook = 'one'\n{HEAD}expect = {{ decision = 'allow' }}\n");
    let sandbox = Sandbox::new()
        .file("hookrun.toml", &manifest)
        .file("tests/it.toml", &only);
    let (what, places) = missing(&sandbox);
    let of = |hook: &str, points: &[&str]| -> Vec<String> {
        points
            .iter()
            .map(|point| format!("tool.pre {hook} {point}"))
            .collect()
    };
    let two = of("two", &["ran", "blocked", "allowed"]);
    let one = of("one", &["blocked", "failed"]);
    assert_eq!(what, [two, one].concat());
    assert_eq!(
        (places[0].as_str(), places[3].as_str()),
        ("hookrun.toml:9", "hookrun.toml:1")
    );
}

#[test]
fn too_little_coverage_is_not_as_expected_and_says_what_to_write() {
    let sandbox = guarded(&case("it", "good", "decision = 'allow'"));
    let ran = suite(&sandbox, &["--coverage=66"]);
    ran.exits(0).prints("covered 66.6%: 2 of 3 points");
    let ran = suite(&sandbox, &["--coverage=67"]);
    ran.exits(1)
        .prints("covered 66.6%: 2 of 3 points; it must be at least 67%");
    ran.prints("missing blocked (tool.pre): hooks.d/tool.pre/10-guard.sh:1\n");
    ran.prints("        write    a case in which 10-guard.sh blocks, or changes the event\n");
    ran.prints("\nFAILED (coverage is too low): 1 case");
    suite(&sandbox, &["--coverage"]).exits(0);
    for (format, part) in [
        ("junit", "<testsuite name=\"policy coverage\" tests=\"1\""),
        (
            "github",
            "::error file=hooks.d/tool.pre/10-guard.sh,line=1,title=policy coverage::",
        ),
    ] {
        let ran = suite(&sandbox, &["--coverage=67", "--format", format]);
        ran.exits(1).prints(part);
    }
    suite(&sandbox, &["--coverage=101"]).exits(2);
}

#[test]
fn enough_coverage_is_told_in_every_format() {
    let sandbox = guarded(&case("it", "good", "decision = 'allow'"));
    let name = "covered 66.6%: 2 of 3 points; at least 60%";
    for (format, parts) in [
        (
            "junit",
            ["<testsuite name=\"policy coverage\" tests=\"1\"", name],
        ),
        ("github", ["covered 66.6%: 2 of 3 points\n", "1 case\n"]),
    ] {
        let ran = suite(&sandbox, &["--coverage=60", "--format", format]);
        parts
            .iter()
            .fold(ran.exits(0), |ran, part| ran.prints(part));
    }
    suite(&sandbox, &["--coverage", "--format", "github"])
        .exits(0)
        .prints("covered 66");
}

#[test]
fn nothing_is_said_of_coverage_while_a_case_is_not_as_expected() {
    let ran = suite(
        &guarded(&case("it", "bad", "decision = 'allow'")),
        &["--coverage"],
    );
    ran.exits(1).prints("FAILED: 1 case");
    assert!(
        !ran.stdout.contains("covered") && !ran.stdout.contains("noticed"),
        "{ran:?}"
    );
}

#[test]
fn a_hook_that_adds_context_needs_no_block_and_text_proves_nothing() {
    let context = "echo '{\"additionalContext\": \"x\"}'";
    let rows = [
        (context, "context = 'x'", None),
        ("echo x", "output = 'x'", Some("blocked")),
    ];
    for (hook, prints, missing) in rows {
        let sandbox = Sandbox::new().hook("10-guard.sh", hook).file(
            "hooks.d/tests/guard.toml",
            &case("it", "good", &format!("decision = 'allow', {prints}")),
        );
        let ran = suite(&sandbox, &["--coverage=100"]);
        assert_eq!(ran.status, i32::from(missing.is_some()), "{ran:?}");
        ran.prints(missing.unwrap_or("3 of 3 points"));
    }
}

#[test]
fn only_the_hooks_that_are_chosen_count() {
    let note =
        "[[case]]\nname = 'told'\nevent = 'error'\nexpect = { decision = 'allow', output = 'x' }\n";
    let sandbox = guarded(&(both() + note))
        .hook_for("error", "note.sh", "echo x")
        .hook("20-b", "");
    suite(&sandbox, &["--coverage=100"]).exits(1).prints("20-b");
    suite(&sandbox, &["--coverage=100", "--hook", "10-guard.sh"]).exits(0);
    suite(&sandbox, &["--coverage=100", "--hook", "note.sh"]).exits(0);
}

#[test]
fn a_hook_that_is_disabled_has_no_points() {
    let sandbox = guarded(&both()).hook("20-off.sh", "# hookrun: enabled=false\nexit 1");
    suite(&sandbox, &["--coverage=100"])
        .exits(0)
        .prints("3 of 3 points");
}

#[test]
fn only_what_is_whole_is_a_hundred_percent() {
    let mut points = Vec::new();
    for number in 0..3000 {
        points.push(Point {
            name: String::new(),
            lacks: String::new(),
            is_covered: number > 0,
        });
    }
    let who = Who {
        event: String::new(),
        hook: String::new(),
        file: "".into(),
        line: None,
    };
    let part = CoveragePart { who, points };
    let coverage = Coverage { parts: vec![part] };
    assert_eq!(
        (coverage.counts(), coverage.permille()),
        ((2999, 3000), 999)
    );
    assert_eq!((coverage.reaches(99), coverage.reaches(100)), (true, false));
    let nothing = Coverage::default();
    assert_eq!((nothing.permille(), nothing.reaches(100)), (1000, true));
}
