//! `--mutate`: hooks that are wrong on purpose, and whether a case notices.

use serde_json::Value;

use super::{GUARD, case, guarded, report, suite};
use crate::sandbox::Sandbox;

fn both() -> String {
    case("refused", "bad", "decision = 'block'") + &case("allowed", "good", "decision = 'allow'")
}

/// The mutants that no case has noticed: event, hook and mutant.
#[track_caller]
fn survivors(sandbox: &Sandbox) -> Vec<String> {
    let report = report(sandbox, &["--mutate"]);
    let mutants = report["mutation"]["mutants"]
        .as_array()
        .unwrap_or_else(|| panic!("{report:#}"));
    let survivors = mutants
        .iter()
        .filter(|mutant| mutant["noticedBy"].is_null());
    let words = |mutant: &Value| {
        ["event", "hook", "mutant"]
            .map(|key| mutant[key].as_str().unwrap().to_string())
            .join(" ")
    };
    survivors.map(words).collect()
}

#[test]
fn every_mutant_of_a_guard_with_both_cases_is_noticed() {
    let sandbox = guarded(&both());
    suite(&sandbox, &["--mutate"])
        .exits(0)
        .prints("killed 3 of 3 mutants in ");
    let report = report(&sandbox, &["--mutate"]);
    let by = |place: usize| {
        report["mutation"]["mutants"][place]["noticedBy"]
            .as_str()
            .unwrap()
    };
    assert_eq!((by(0), by(1)), ("refused", "allowed"));
}

#[test]
fn a_mutant_that_no_case_notices_is_named_with_what_would_notice_it() {
    let sandbox = guarded(&case("it", "good", "decision = 'allow'"));
    let ran = suite(&sandbox, &["--mutate"]);
    ran.exits(1).prints("killed 2 of 3 mutants in ");
    ran.prints("SURVIVED 10-guard.sh always allows and prints nothing (tool.pre): the one case that runs it still passes\n        hook     hooks.d/tool.pre/10-guard.sh\n        write    a case in which 10-guard.sh blocks or prints something\n");
    ran.prints("\nFAILED (mutants survived): 1 case");
    assert_eq!(survivors(&sandbox), ["tool.pre 10-guard.sh allows"]);
    let only_bad = guarded(&case("it", "bad", "decision = 'block'"));
    assert_eq!(survivors(&only_bad), ["tool.pre 10-guard.sh refuses"]);
    for (format, part) in [
        (
            "tap",
            "not ok 2 - hooks.d/tool.pre/10-guard.sh: 10-guard.sh always allows",
        ),
        (
            "junit",
            "<testsuite name=\"mutation\" tests=\"3\" skipped=\"0\" errors=\"0\" failures=\"1\">",
        ),
        (
            "github",
            "::error file=hooks.d/tool.pre/10-guard.sh,line=1,title=mutation::",
        ),
    ] {
        suite(&sandbox, &["--mutate", "--format", format])
            .exits(1)
            .prints(part);
    }
}

#[test]
fn a_hook_that_no_case_asks_keeps_all_its_mutants() {
    let sandbox = guarded(&both()).hook_for("error", "note.sh", "echo x");
    let ran = suite(&sandbox, &["--mutate"]);
    ran.exits(1)
        .prints("note.sh prints nothing and does nothing (error): no case runs it");
    ran.prints("write    a case that runs note.sh\n");
    assert_eq!(
        survivors(&sandbox),
        ["error note.sh silent", "error note.sh times-out"]
    );
    suite(&sandbox, &["--mutate", "--hook", "10-guard.sh"])
        .exits(0)
        .prints("3 of 3");
    suite(&sandbox, &["--mutate", "--event", "tool.pre"])
        .exits(0)
        .prints("3 of 3");
}

#[test]
fn an_observer_is_noticed_by_what_it_says_or_leaves_behind() {
    let cases = |expect: &str| {
        format!(
            "[[case]]\nname = 'told'\nevent = 'error'\nexpect = {{ decision = 'allow', {expect} }}\n"
        )
    };
    let sandbox = |hook: &str, expect: &str| {
        Sandbox::new()
            .hook_for("error", "note.sh", hook)
            .file("hooks.d/tests/it.toml", &cases(expect))
    };
    assert_eq!(survivors(&sandbox("echo x", "output = 'x'")), [""; 0]);
    assert_eq!(
        survivors(&sandbox("echo x >log", "files = { log = 'x' }")),
        [""; 0]
    );
    assert_eq!(
        survivors(&sandbox("echo x >log", "files = { other = false }")),
        ["error note.sh silent"]
    );
}

#[test]
fn a_mutant_that_times_out_is_not_waited_for() {
    // Its own answer is there at once, and its timeout is longer than any test.
    let hook = format!("# hookrun: timeout=1h\n{GUARD}");
    let sandbox = Sandbox::new()
        .hook("10-guard.sh", &hook)
        .file("hooks.d/tests/it.toml", &both());
    suite(&sandbox, &["--mutate"])
        .exits(0)
        .prints("killed 3 of 3 mutants");
    // A case that expects the failure does not send the mutant from the hook.
    let stuck = Sandbox::new()
        .hook("10-guard.sh", "# hookrun: timeout=200ms\nsleep 60")
        .file(
            "hooks.d/tests/it.toml",
            &case(
                "it",
                "x",
                "decision = 'block', failed = '10-guard.sh', reason = 'timed out after 200ms'",
            ),
        );
    assert_eq!(survivors(&stuck), ["tool.pre 10-guard.sh times-out"]);
}

#[test]
fn a_mutant_keeps_the_place_and_the_matcher_of_its_hook() {
    let first = "# hookrun: command=bad\necho no >&2; exit 1";
    let cases = case(
        "refused",
        "bad",
        "decision = 'block', by = '10-first', asked = '10-first'",
    ) + &case("unwanted", "good", "decision = 'allow', asked = '20-last'");
    let sandbox = Sandbox::new()
        .hook("10-first", first)
        .hook("20-last", "")
        .file("hooks.d/tests/it.toml", &cases);
    // That it always refuses can be seen nowhere: it is only asked where it refuses.
    let left = ["tool.pre 10-first refuses", "tool.pre 20-last allows"];
    assert_eq!(survivors(&sandbox), left);
}

#[test]
fn a_step_that_builds_on_what_a_hook_has_done_notices_that_it_has_not() {
    let cases = "[[case]]\nname = 'it'\nevent = 'error'\n\n[[case.step]]\nexpect = { decision = 'allow' }\n\n[[case.step]]\nsetup = 'rm log'\nexpect = { decision = 'allow' }\n";
    let sandbox = Sandbox::new()
        .hook_for("error", "note.sh", "echo >log")
        .file("hooks.d/tests/it.toml", cases);
    suite(&sandbox, &["--mutate"])
        .exits(0)
        .prints("killed 2 of 2 mutants");
}

#[test]
fn it_cannot_be_watched() {
    for option in ["--coverage", "--mutate", "--coverage-min=1"] {
        let ran = suite(&guarded(&both()), &["--watch", option]);
        ran.exits(2).says("cannot be used with");
    }
}
