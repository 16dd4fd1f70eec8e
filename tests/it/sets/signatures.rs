//! A set that must be signed is used only if git accepts the signature of its commit.

use std::fs;
use std::process::Command;

use super::{STRICTER, Sets};
use crate::sandbox::Ran;

const BLOCKED: &str = "signature";

/// With two keys, of ana and of eve. The git of the person who adds sets knows that of ana.
fn with_keys() -> Sets {
    let sets = Sets::new();
    for name in ["ana", "eve"] {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]);
        let ran: Ran = command.arg(sets.sandbox.at(name)).output().unwrap().into();
        ran.exits(0);
    }
    let key = sets.sandbox.read("ana.pub");
    let signers = sets.sandbox.at("signers");
    fs::write(&signers, format!("ana@acme {key}")).unwrap();
    let settings = format!(
        "[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tallowedSignersFile = {}\n",
        signers.display()
    );
    fs::create_dir_all(sets.sandbox.at("home")).unwrap();
    fs::write(sets.sandbox.at("home/.gitconfig"), settings).unwrap();
    sets
}

/// Commits in the repository `r`, signed with the key of `who`.
fn commit_signed(sets: &Sets, who: &str) {
    let file = sets.sandbox.at(&format!("{who}.pub"));
    let key = format!("user.signingKey={}", file.display());
    let commit = ["commit", "-qS", "--allow-empty", "-m", "x"];
    sets.git(
        "r",
        &[&["-c", "gpg.format=ssh", "-c", &key], &commit[..]].concat(),
    )
    .exits(0);
}

fn add(sets: &Sets, rev: &str) -> Ran {
    sets.sets(&["add", "base", "--git", "r", "--rev", rev, "--signed"])
}

#[test]
fn a_signed_commit_is_taken_and_the_lock_says_that_it_was_verified() {
    let sets = with_keys();
    commit_signed(&sets, "ana");
    sets.git("r", &["tag", "v2"]).exits(0);
    add(&sets, "v2").exits(0);
    let lock = sets.sandbox.read("hookrun.lock");
    assert!(lock.contains("signed = true\n"), "{lock}");
    let manifest = sets.sandbox.read("hookrun.toml");
    assert!(manifest.contains("signed = true\n"), "{manifest}");
    sets.force_push().blocks_saying("no force");
    sets.sets(&["list"]).prints("signed      yes");
    sets.sets(&["verify"]).exits(0).prints("ok base");
    sets.sets(&["update"]).exits(0).prints("unchanged base");

    // A lock that does not say so is not enough.
    let at = sets.sandbox.at("hookrun.lock");
    fs::write(&at, lock.replace("signed = true\n", "")).unwrap();
    sets.force_push()
        .blocks_saying("does not mark the set `base` as signed");
    fs::write(&at, &lock).unwrap();

    // What is fetched again is verified again, and so is what is here.
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    sets.sets(&["verify"]).exits(0).prints("fetched base");
    fs::remove_file(sets.sandbox.at("signers")).unwrap();
    sets.sets(&["verify"]).exits(1).says(BLOCKED);
    sets.sets(&["update"]).exits(2).says(BLOCKED);
    // A run verifies no signature.
    sets.force_push().blocks_saying("no force");
}

#[test]
fn what_is_not_signed_by_a_known_key_is_not_taken() {
    let sets = with_keys();
    add(&sets, "v1")
        .exits(2)
        .says(BLOCKED)
        .says("git commit -S")
        .says("allowedSignersFile");
    commit_signed(&sets, "eve");
    add(&sets, "main").exits(2).says(BLOCKED);
    commit_signed(&sets, "ana");
    fs::remove_file(sets.sandbox.at("signers")).unwrap();
    add(&sets, "main").exits(2).says(BLOCKED);
    sets.sandbox.has_no_file("hookrun.lock");
    sets.sandbox.has_no_file("hookrun.toml");
}

#[test]
fn an_update_to_something_unsigned_keeps_what_is_locked() {
    let sets = with_keys();
    commit_signed(&sets, "ana");
    add(&sets, "main").exits(0);
    let lock = sets.sandbox.read("hookrun.lock");
    let sets = sets.file("r", "hookrun.toml", STRICTER);
    sets.commit("r");
    sets.sets(&["update"]).exits(2).says(BLOCKED);
    assert_eq!(sets.sandbox.read("hookrun.lock"), lock);
    sets.force_push().blocks_saying("no force");
}

/// Tags a new commit of `r` that is not signed with an annotated tag signed by `who`.
fn tag_signed(sets: &Sets, who: &str, tag: &str) {
    sets.commit("r");
    let file = sets.sandbox.at(&format!("{who}.pub"));
    let key = format!("user.signingKey={}", file.display());
    let words = [
        "-c",
        "gpg.format=ssh",
        "-c",
        &key,
        "tag",
        "-f",
        "-s",
        "-m",
        "x",
        tag,
    ];
    sets.git("r", &words).exits(0);
}

/// Moves the tag away from its commit, which nothing leads to then.
fn move_tag(sets: &Sets, tag: &str) {
    sets.git("r", &["reset", "-q", "--hard", "HEAD^"]).exits(0);
    sets.git("r", &["tag", "-f", tag]).exits(0);
}

#[test]
fn a_signed_tag_is_as_good_as_a_signed_commit_and_a_moved_tag_breaks_no_lock() {
    let sets = with_keys();
    tag_signed(&sets, "eve", "v2");
    add(&sets, "v2").exits(2).says(BLOCKED);
    tag_signed(&sets, "ana", "v2");
    add(&sets, "v2").exits(0);
    let lock = sets.sandbox.read("hookrun.lock");
    assert!(lock.contains("signer = \"ana@acme\"\n"), "{lock}");
    assert!(lock.contains("\ntag = \""), "{lock}");
    sets.sets(&["list"]).prints("signer      ana@acme");

    move_tag(&sets, "v2");
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    sets.sets(&["verify"]).exits(0).prints("fetched base v2");
    sets.force_push().blocks_saying("no force");
    sets.sets(&["update"]).exits(2).says("has moved");
    assert_eq!(sets.sandbox.read("hookrun.lock"), lock);

    // An object that the server has no more cannot be had, and the reason says whose fault it is.
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    sets.git("r", &["reflog", "expire", "--expire=now", "--all"])
        .exits(0);
    sets.git("r", &["gc", "-q", "--prune=now"]).exits(0);
    sets.sets(&["verify"])
        .exits(1)
        .says("the tag `v2` of the set `base` has moved");
}
