//! `replay --against`: two sets of hooks decide the same events.

use super::{GUARD, OTHER_GUARD, lines, recorded, replay};
use crate::sandbox::Sandbox;

fn two_sets() -> Sandbox {
    let sandbox = recorded(GUARD, &["ls", "rm x", "cat y"]);
    sandbox
        .script(
            "other/hooks.d/tool.pre/10-guard.sh",
            &format!("#!/bin/sh\n{OTHER_GUARD}\n"),
        )
        // What was recorded does not matter.
        .hook("20-more.sh", r#"[ "$HOOKRUN_ACTION_COMMAND" != ls ]"#)
}

#[test]
fn two_sets_of_hooks_are_compared_with_each_other() {
    let sandbox = two_sets();

    let ran = replay(&sandbox, &["events.jsonl", "--against", "other"]);

    ran.exits(1)
        .prints("was blocked by 20-more.sh, is allowed\n  events.jsonl:1")
        .prints("was blocked by 10-guard.sh, is allowed\n  events.jsonl:2")
        .prints("was allowed, is blocked by 10-guard.sh\n  events.jsonl:3")
        .prints("3 events: 0 the same, 3 changed")
        .prints("hook in other");
    let lines = lines(&sandbox, &["events.jsonl", "--against", "other"]);
    assert_eq!(lines[0]["against"], "other");
    let totals = &lines.last().unwrap()["totals"];
    assert_eq!(totals["hooks"]["20-more.sh"]["calls"], 2);
    assert_eq!(totals["against"]["10-guard.sh"]["calls"], 3);
}

#[test]
fn a_set_is_as_itself() {
    let sandbox = two_sets();
    replay(&sandbox, &["events.jsonl", "--against", "."])
        .exits(0)
        .prints("the same: 3 events");
    replay(
        &sandbox,
        &[
            "events.jsonl",
            "--hooks",
            "other",
            "--against",
            "other",
            "--strict",
        ],
    )
    .exits(0);
}

#[test]
fn mistakes_in_either_set_are_told_before_anything_is_decided() {
    let sandbox = two_sets().file("other/hookrun.toml", "[[hook]]\nname = 1\n");
    replay(&sandbox, &["events.jsonl", "--against", "other"])
        .exits(2)
        .says("error: the hooks have errors: ")
        .says("other/hookrun.toml");
    let sandbox = sandbox.file("hookrun.toml", "nonsense");
    let ran = replay(&sandbox, &["events.jsonl"]);
    ran.exits(2).says("hookrun.toml");
    assert_eq!(ran.stdout, "");
}
