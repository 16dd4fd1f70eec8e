//! Trust costs nothing on ordinary days: what decides nothing needs nobody, and neither does what
//! was merged into a branch that a person follows.

use std::fs;
use std::path::Path;

use super::{GUARD, git, project};
use crate::sandbox::{Sandbox, TOOL};
use crate::ui::screen::{at, at_terminal};

#[test]
fn cases_and_comments_in_toml_need_no_trust() {
    let rule = "[[rule]]\nruns = \"rm\"\ndeny = \"no\"\n";
    let sandbox = project()
        .file("hookrun.toml", rule)
        .file("hooks.d/tool.pre/20-more.toml", rule)
        .trusted();
    let noted = format!("# why\n\n{rule}# more\n");
    let sandbox = sandbox
        .file("hooks.d/tests/a.toml", "# a case\n")
        .file("hookrun.toml", &noted)
        .file("hooks.d/tool.pre/20-more.toml", &noted);
    sandbox.runs();
    // In a script, what looks like a comment may be anything.
    sandbox
        .file("hooks.d/lib/x.toml", "# shared\n")
        .trusted()
        .file("hooks.d/lib/x.toml", "# other\n")
        .holds();
}

#[test]
fn a_value_in_toml_counts_wherever_it_is() {
    let rule = "[[rule]]\nruns = \"rm\"\ndeny = \"no\"\n";
    for changed in [
        "[[rule]]\nruns = \"rmdir\"\ndeny = \"no\"\n",
        "[[rule]]\nruns = \"rm\"\nenabled = false\ndeny = \"no\"\n",
        "[[rule]]\nruns = \"rm\"\ndeny = \"\"\"no\n# such\"\"\"\n",
        "#[[rule]]\n#runs = \"rm\"\n#deny = \"no\"\n",
        "[[rule]]\nruns = \"rm\"\ndeny = \"no\"\n[[\n",
        "#!/bin/sh\n[[rule]]\nruns = \"rm\"\ndeny = \"no\"\n",
    ] {
        let sandbox = project()
            .file("hooks.d/tool.pre/20-more.toml", rule)
            .trusted();
        sandbox.runs();
        sandbox
            .file("hooks.d/tool.pre/20-more.toml", changed)
            .holds();
    }
}

#[test]
fn an_empty_folder_of_hooks_below_a_trusted_root_needs_nothing() {
    let sandbox = project();
    git(sandbox.path(), &["init", "-q"]);
    let sandbox = sandbox.trusted();
    let inner = sandbox.at("vendor/lib");
    fs::create_dir_all(inner.join("hooks.d")).unwrap();
    for _ in 0..2 {
        sandbox.gate_in(&inner).allows();
        sandbox.has_file("ran");
    }
    let sandbox = sandbox.script("vendor/lib/hooks.d/tool.pre/20-more.sh", GUARD);
    sandbox
        .gate_in(&inner)
        .blocks_saying("hooks changed: run `hookrun trust`")
        .says("vendor/lib: hooks.d/tool.pre/20-more.sh");
}

/// A clone of a project whose hooks were merged into `main`, whose user follows that branch.
fn following() -> Sandbox {
    let sandbox = Sandbox::new().without_trust().file("event", TOOL);
    let origin = sandbox.at("home/origin");
    fs::create_dir_all(&origin).unwrap();
    git(&origin, &["init", "-q", "-b", "main"]);
    merge(&origin, "10-guard.sh", GUARD);
    let here = sandbox.path();
    git(here, &["init", "-q", "-b", "main"]);
    git(here, &["remote", "add", "origin", "home/origin"]);
    pull(here);
    sandbox.holds();
    let words = ["trust", "--follow", "origin/main"];
    at_terminal(&sandbox, &words, &[at("[y/N] ", "y\r")]).exits(0);
    sandbox.runs();
    sandbox
}

/// Writes a hook into `main` of the origin.
fn merge(origin: &Path, name: &str, text: &str) {
    let folder = origin.join("hooks.d/tool.pre");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
    let file = format!("hooks.d/tool.pre/{name}");
    git(origin, &["add", "."]);
    git(origin, &["update-index", "--chmod=+x", &file]);
    git(origin, &["commit", "-qm", "x"]);
    git(origin, &["reset", "-q", "--hard"]);
}

fn pull(folder: &Path) {
    git(folder, &["fetch", "-q", "origin"]);
    git(folder, &["reset", "-q", "--hard", "origin/main"]);
}

#[test]
fn what_was_merged_into_the_followed_branch_runs_after_a_pull() {
    let sandbox = following();
    let origin = sandbox.at("home/origin");
    merge(&origin, "20-more.sh", GUARD);
    pull(sandbox.path());
    sandbox.runs();
    // What is fetched and not checked out does not matter, and the content before stays trusted.
    merge(&origin, "30-more.sh", GUARD);
    git(sandbox.path(), &["fetch", "-q"]);
    sandbox.runs();
    sandbox
        .hookrun(&["trust", "--show"], b"")
        .exits(0)
        .prints("follows origin/main at ");
    sandbox.hookrun(&["trust", "--revoke"], b"").exits(0);
    pull(sandbox.path());
    sandbox.holds();
}

#[test]
fn what_is_only_in_the_work_tree_or_in_another_branch_needs_a_person() {
    let sandbox = following();
    let sandbox = sandbox.script("hooks.d/tool.pre/20-own.sh", GUARD);
    let held = sandbox.holds();
    assert!(
        held.stdout.contains("hooks.d/tool.pre/20-own.sh")
            && held.stdout.contains("`origin/main` has different hooks"),
        "{held:?}"
    );
    git(sandbox.path(), &["add", "hooks.d"]);
    git(sandbox.path(), &["commit", "-qm", "mine"]);
    sandbox.holds();
    // A guard that is gone is a change, too.
    pull(sandbox.path());
    sandbox.runs();
    merge(&sandbox.at("home/origin"), "20-more.sh", GUARD);
    pull(sandbox.path());
    fs::remove_file(sandbox.at("hooks.d/tool.pre/20-more.sh")).unwrap();
    let sandbox = sandbox.script("hooks.d/tool.pre/10-guard.sh", &format!("{GUARD}# x\n"));
    sandbox.holds();
    fs::remove_dir_all(sandbox.at("hooks.d")).unwrap();
    sandbox.holds();
}

#[test]
fn a_branch_that_was_rewritten_needs_a_person() {
    let sandbox = following();
    let origin = sandbox.at("home/origin");
    let evil = "#!/bin/sh\necho evil\n";
    fs::write(origin.join("hooks.d/tool.pre/10-guard.sh"), evil).unwrap();
    git(&origin, &["commit", "-qa", "--amend", "-m", "y"]);
    pull(sandbox.path());
    let held = sandbox.holds();
    assert!(
        held.stdout.contains("`origin/main` was rewritten"),
        "{held:?}"
    );
    let words = ["trust", "--follow", "origin/main"];
    at_terminal(&sandbox, &words, &[at("[y/N] ", "y\r")]).exits(0);
    sandbox.gate().exits(0).prints("evil");
}

#[test]
fn only_a_person_follows_a_branch_that_is_there() {
    let sandbox = project();
    git(sandbox.path(), &["init", "-q"]);
    sandbox
        .hookrun(&["trust", "--follow", "origin/main"], b"")
        .exits(2)
        .says("`origin/main` is not a remote branch of this repository");
    let sandbox = following();
    sandbox
        .hookrun(&["trust", "--follow", "origin/main"], b"y\n")
        .exits(2)
        .says("needs an interactive terminal");
}
