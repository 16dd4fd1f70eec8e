//! An update shows what it would change, and a set can be copied into the project.

use std::fs;

use super::{ABOUT, GUARD, STRICTER, Sets};

/// With a set that follows a branch, and decisions that were recorded with it.
fn with_decisions() -> Sets {
    let sets = Sets::new();
    sets.add("base", "r", "main").exits(0);
    for command in ["ls", "git push", "git push --force", "git push origin"] {
        sets.sandbox.run_shell(command);
    }
    let sets = sets.file("r", "hookrun.toml", STRICTER);
    sets.commit("r");
    sets
}

#[test]
fn an_update_shows_which_recorded_decisions_would_change() {
    let sets = with_decisions();
    let lock = sets.sandbox.read("hookrun.lock");
    let ran = sets.sets(&["update", "--dry-run"]);
    ran.exits(0)
        .prints("updated base main")
        .prints("2 of 4 recorded decisions would change");
    ran.prints("  allow → block  tool.pre  bash: git push\n");
    ran.prints("  allow → block  tool.pre  bash: git push origin\n");
    assert_eq!(sets.sandbox.read("hookrun.lock"), lock);
    sets.sandbox.run_shell("git push").allows();
    // The fifth decision is that of the line above.
    let ran = sets.sets(&["update"]);
    ran.exits(0)
        .prints("3 of 5 recorded decisions would change")
        .prints("changed hookrun.lock");
    sets.sandbox.run_shell("git push").blocks("never");
    let ran = sets.sets(&["update"]);
    assert!(!ran.exits(0).stdout.contains("recorded"), "{ran:?}");
}

#[test]
fn no_replay_compares_nothing_and_a_project_without_decisions_says_so() {
    let sets = with_decisions();
    let ran = sets.sets(&["update", "--no-replay"]);
    assert!(!ran.exits(0).stdout.contains("recorded"), "{ran:?}");
    sets.sandbox.run_shell("git push").blocks("never");

    let sets = Sets::new();
    sets.add("base", "r", "main").exits(0);
    let sets = sets.file("r", "hookrun.toml", STRICTER);
    sets.commit("r");
    let nothing = "no decision of this project is in the decision log";
    sets.sets(&["update"]).exits(0).prints(nothing);
    let sandbox = sets.sandbox.variable("HOOKRUN_DECISIONS", "off");
    let sets = Sets { sandbox }.file("r", "hookrun.toml", GUARD);
    sets.commit("r");
    sets.sets(&["update"]).exits(0).prints(nothing);
}

#[test]
fn decisions_of_other_projects_do_not_count() {
    let sets = with_decisions();
    let other = |command: &mut std::process::Command| {
        command.current_dir("/");
    };
    sets.sandbox.hookrun_as(other, &["run", "tool.pre"], b"{}");
    sets.sets(&["update", "--dry-run"])
        .prints("2 of 4 recorded decisions");
}

#[test]
fn an_update_from_a_set_that_cannot_be_used_is_compared_with_what_was_recorded() {
    let sets = with_decisions();
    fs::remove_file(sets.sandbox.at("hookrun.lock")).unwrap();
    sets.sets(&["update"])
        .exits(0)
        .prints("2 of 4 recorded decisions would change");
}

#[test]
fn a_set_whose_hooks_have_errors_is_a_warning_of_the_update() {
    let sets = with_decisions();
    let sets = sets.file("r", "hooks.d/tool.pree/x.sh", "#!/bin/sh\n");
    sets.commit("r");
    let ran = sets.sets(&["update", "--dry-run"]);
    ran.exits(0)
        .prints("warning: with the new sets")
        .prints("unknown event");
}

#[test]
fn a_lock_keeps_other_sets_and_forgets_those_that_are_gone() {
    let sets = Sets::added();
    sets.add("more", "r", "main").exits(0);
    assert_eq!(
        sets.sandbox.read("hookrun.lock").matches("[[set]]").count(),
        2
    );
    sets.sets(&["update", "more"]).exits(0);
    assert_eq!(
        sets.sandbox.read("hookrun.lock").matches("[[set]]").count(),
        2
    );
    sets.edit(
        "hookrun.toml",
        "[sets.more]\ngit = \"r\"\nrev = \"main\"\n",
        "",
    );
    sets.sets(&["update"])
        .exits(0)
        .prints("changed hookrun.lock");
    assert_eq!(
        sets.sandbox.read("hookrun.lock").matches("[[set]]").count(),
        1
    );
}

#[test]
fn vendor_copies_a_set_says_where_from_and_writes_over_nothing() {
    let sets = Sets::added();
    sets.sets(&["vendor", "base", "team/base"])
        .exits(0)
        .prints("`path = \"team/base\"`");
    assert_eq!(sets.sandbox.read("team/base/hookset.toml"), ABOUT);
    assert_eq!(sets.sandbox.read("team/base/hookrun.toml"), GUARD);
    let page = sets.sandbox.read("team/base/VENDORED.md");
    assert!(
        page.contains("git+r") && page.contains(&sets.commit_of("r", "v1")[..12]),
        "{page}"
    );
    sets.sets(&["vendor", "base", "team/base"])
        .exits(2)
        .says("is there already");

    // As the hint says.
    sets.edit(
        "hookrun.toml",
        "git = \"r\"\nrev = \"v1\"\n",
        "path = \"team/base\"\n",
    );
    fs::remove_dir_all(sets.sandbox.at("r")).unwrap();
    sets.sets(&["update", "base"]).exits(0);
    sets.force_push().blocks_saying("no force");
    // A clone has all that it needs.
    fs::remove_dir_all(sets.sandbox.at("home/.local")).unwrap();
    sets.sets(&["verify"]).exits(0).prints("fetched base");
    sets.force_push().blocks_saying("no force");
    // A copy that was changed is not what was locked.
    fs::remove_dir_all(sets.sandbox.at("home/.local")).unwrap();
    fs::write(sets.sandbox.at("team/base/hookrun.toml"), "").unwrap();
    sets.sets(&["verify"])
        .exits(1)
        .says("are not those that were locked");
}
