//! An update shows what it would change, and a set can be copied into the project.

use std::fs;

use super::{ABOUT, GUARD, Sets};

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
