//! A set that must be signed is used only if one of the named keys has signed it.

use std::fs;
use std::process::Command;

use super::{STRICTER, Sets};
use crate::sandbox::{Ran, Sandbox};

/// With two keys, of ana and of eve. The first may sign.
fn with_keys() -> Sets {
    let sets = Sets::new();
    for name in ["ana", "eve"] {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]);
        let ran: Ran = command.arg(sets.sandbox.at(name)).output().unwrap().into();
        ran.exits(0);
    }
    let key = sets.sandbox.read("ana.pub");
    fs::write(sets.sandbox.at("signers"), format!("ana@acme {key}")).unwrap();
    sets
}

/// Runs git with a key of `who` to sign with.
fn signed(sets: &Sets, who: &str, arguments: &[&str]) {
    let key = format!(
        "user.signingKey={}",
        sets.sandbox.at(&format!("{who}.pub")).display()
    );
    let all: Vec<&str> = ["-c", "gpg.format=ssh", "-c", &key].into_iter().collect();
    sets.git("r", &[&all, arguments].concat()).exits(0);
}

fn add(sets: &Sets, rev: &str) -> Ran {
    sets.sets(&[
        "add",
        "base",
        "--git",
        "r",
        "--rev",
        rev,
        "--allowed-signers",
        "signers",
    ])
}

#[test]
fn a_signed_tag_or_commit_is_taken_and_the_lock_says_who_signed() {
    for arguments in [
        &["tag", "-s", "v2", "-m", "x"][..],
        &["commit", "-qS", "--allow-empty", "-m", "x"],
    ] {
        let sets = with_keys();
        signed(&sets, "ana", arguments);
        let rev = if arguments[0] == "tag" { "v2" } else { "main" };
        add(&sets, rev).exits(0);
        let lock = sets.sandbox.read("hookrun.lock");
        assert!(lock.contains("signed-by = \"ssh:SHA256:"), "{lock}");
        assert!(lock.contains(" ana@acme\""), "{lock}");
        assert!(
            sets.sandbox
                .read("hookrun.toml")
                .contains("allowed_signers = \"signers\"")
        );
        sets.force_push().blocks_saying("no force");
        sets.sets(&["why", "base"]).prints("ana@acme");
        // A lock without the signer is not enough, and another one is found when it is fetched.
        let start = lock.find("signed-by").unwrap();
        let at = sets.sandbox.at("hookrun.lock");
        fs::write(&at, &lock[..start]).unwrap();
        sets.force_push()
            .blocks_saying("does not say that the set `base` is signed so");
        fs::write(&at, lock.replace("ana@acme", "eve@acme")).unwrap();
        fs::remove_dir_all(&sets.store()[0]).unwrap();
        sets.sets(&["verify"])
            .exits(1)
            .says("another key signed `base`");
        fs::write(&at, lock).unwrap();
        sets.sets(&["verify"]).exits(0).prints("fetched base");
    }
}

#[test]
fn what_is_not_signed_by_a_named_key_is_not_taken() {
    let not_signed = "is signed by one of the keys in";
    let sets = with_keys();
    add(&sets, "v1").exits(2).says(not_signed);
    sets.git("r", &["tag", "-a", "plain", "-m", "x"]).exits(0);
    add(&sets, "plain").exits(2).says(not_signed);
    signed(&sets, "eve", &["tag", "-s", "v2", "-m", "x"]);
    add(&sets, "v2").exits(2).says(not_signed);
    signed(&sets, "ana", &["tag", "-s", "v3", "-m", "x"]);
    fs::remove_file(sets.sandbox.at("signers")).unwrap();
    add(&sets, "v3").exits(2).says(not_signed);
    sets.sandbox.has_no_file("hookrun.lock");
    sets.sandbox.has_no_file("hookrun.toml");
}

#[test]
fn a_signed_tag_under_another_name_counts_for_nothing() {
    let sets = with_keys();
    signed(&sets, "ana", &["tag", "-s", "old", "-m", "x"]);
    sets.git("r", &["update-ref", "refs/tags/v9", "refs/tags/old"])
        .exits(0);
    add(&sets, "v9")
        .exits(2)
        .says("is signed by one of the keys in");
    add(&sets, "old").exits(0);
}

#[test]
fn an_update_to_something_unsigned_keeps_what_is_locked() {
    let sets = with_keys();
    signed(&sets, "ana", &["commit", "-qS", "--allow-empty", "-m", "x"]);
    add(&sets, "main").exits(0);
    let lock = sets.sandbox.read("hookrun.lock");
    let sets = sets.file("r", "hookrun.toml", STRICTER);
    sets.commit("r");
    sets.sets(&["update"])
        .exits(2)
        .says("is signed by one of the keys in");
    assert_eq!(sets.sandbox.read("hookrun.lock"), lock);
    sets.force_push().blocks_saying("no force");
}

#[test]
fn mistakes_about_signatures_have_a_line() {
    for (text, wanted) in [
        (
            "path = 'r'\nallowed_signers = 'x'",
            "1:7: the set `a` has no `git`",
        ),
        (
            "path = 'r'\nminisign = 'x'",
            "3:12: `x` is no public key of minisign",
        ),
    ] {
        let sandbox = Sandbox::new().file("hookrun.toml", &format!("[sets.a]\n{text}\n"));
        let problems = sandbox.problems(&[]).join("\n");
        assert!(
            problems.contains(&format!("hookrun.toml:{wanted}")),
            "{problems}"
        );
    }
    let both = format!("[sets.a]\npath = 'r'\nallowed_signers = 'x'\nminisign = '{KEY}'\n");
    let problems = Sandbox::new()
        .file("hookrun.toml", &both)
        .problems(&[])
        .join("\n");
    assert!(
        problems.contains("has `allowed_signers` and `minisign`"),
        "{problems}"
    );
}

const KEY: &str = "RWQBAgMEBQYHCGKg2JfH/UnLsp3ZYtws3SeR0BWSvYNRtghsBDeJ0Cbq";

/// The files that every set of these tests has, as `sha256sum` lists them.
const SUMS: &str = "7861a72bc319a966d716747a74bca942398804cd43943356d1698d1b66cf9e8a  ./hookrun.toml\n\
78539fdea836883f3bc3844ffd3bd5c5ccdcc30d0efe65ef4dfd211136e1b8dd  ./hookset.toml\n";

const SIGNATURE: &str = "untrusted comment: test\n\
RUQBAgMEBQYHCM50lmwHcNZSE3A6WGNyPg1bOukQfSLNEJmXP9S0nWRcz7e2vq9drkYhfiAXp0TYxB2mg9SywZBwHS8LEIqfXgo=\n\
trusted comment: timestamp:1\tfile:SHA256SUMS\n\
yfXTgBlbij8Igc76BJ1WMW7on4iZL3MBc2m8AIu4S0IRW0afgTODH06RJDqZ5gWqvHrOcwg+Kafz/yFo2YvJAA==\n";

fn with_minisign() -> Sets {
    let sets = Sets::new().file("r", "SHA256SUMS", SUMS);
    let sets = sets.file("r", "SHA256SUMS.minisig", SIGNATURE);
    sets.commit("r");
    sets
}

#[test]
fn a_set_that_minisign_has_signed_is_taken_wherever_it_is() {
    let sources: [&[&str]; 3] = [
        &["--git", "r", "--rev", "main"],
        &["--path", "r"],
        &["--archive", "r.tar.gz"],
    ];
    for source in sources {
        let sets = with_minisign();
        sets.git("r", &["archive", "-o", "../r.tar.gz", "main"])
            .exits(0);
        sets.sets(&[&["add", "base"], source, &["--minisign", KEY]].concat())
            .exits(0);
        let lock = sets.sandbox.read("hookrun.lock");
        assert!(
            lock.contains(&format!("signed-by = \"minisign:{KEY}\"")),
            "{lock}"
        );
        sets.force_push().blocks_saying("no force");
        fs::remove_dir_all(&sets.store()[0]).unwrap();
        sets.sets(&["verify"]).exits(0).prints("fetched base");
        sets.edit("hookrun.lock", KEY, &KEY.replace("GKg", "GKh"));
        sets.force_push()
            .blocks_saying("does not say that the set `base` is signed so");
    }
}

#[test]
fn what_minisign_has_not_signed_is_not_taken() {
    let add = |sets: &Sets, key: &str| {
        let ran = sets.sets(&["add", "base", "--path", "r", "--minisign", key]);
        ran.exits(2).says("is not signed with the key");
        sets.sandbox.has_no_file("hookrun.toml");
        ran
    };
    add(&with_minisign(), &KEY.replace("GKg", "GKh"));
    add(&Sets::new(), KEY).says("it has no `SHA256SUMS`");
    let changed = |file: &str, text: &str| with_minisign().file("r", file, text);
    add(&changed("hookrun.toml", ""), KEY)
        .says("`hookrun.toml` is not in the list, or was changed");
    add(&changed("hooks.d/tool.pre/more.sh", "#!/bin/sh\n"), KEY).says("is not in the list");
    add(&changed("SHA256SUMS", &SUMS.replace("7861", "7862")), KEY);
    add(&changed("SHA256SUMS.minisig", ""), KEY);
    let sets = with_minisign();
    fs::remove_file(sets.sandbox.at("r/hookrun.toml")).unwrap();
    add(&sets, KEY).says("`hookrun.toml` is missing");
}
