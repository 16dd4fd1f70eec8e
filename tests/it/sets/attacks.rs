//! What an attacker may write into a lock, a store, a repository or a command line.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::{STRICTER, Sets};

#[test]
fn a_lock_that_was_edited_by_hand_blocks() {
    let sets = Sets::added();
    let lock = sets.sandbox.read("hookrun.lock");
    let commit = sets.commit_of("r", "v1");
    let at = lock.find("sha256:").unwrap() + 7;
    let digest = lock[at..at + 64].to_string();
    for (from, to, says) in [
        (
            digest.as_str(),
            "0".repeat(64).as_str(),
            "is not on this machine yet",
        ),
        (digest.as_str(), "../../../../r", "`tree` is not a SHA-256"),
        ("git = \"r\"", "git = \"other\"", "a different `git`"),
        ("rev = \"v1\"", "rev = \"v2\"", "a different `rev`"),
        (
            "name = \"base\"",
            "name = \"other\"",
            "is not in hookrun.lock",
        ),
        ("version = 1", "version = 2", "`version` cannot be 2"),
        ("files = 1", "files = 1\nrun = 'x'", "unknown key `run`"),
        ("version", "versio", "unknown key `versio`"),
    ] {
        fs::write(sets.sandbox.at("hookrun.lock"), lock.replacen(from, to, 1)).unwrap();
        sets.force_push().blocks_saying(says);
    }
    // The right files under another commit: a machine that must fetch it finds out.
    let sets = sets.file("r", "hookrun.toml", "");
    sets.commit("r");
    let other = sets.commit_of("r", "main");
    fs::write(
        sets.sandbox.at("hookrun.lock"),
        lock.replace(&commit, &other),
    )
    .unwrap();
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    sets.sets(&["verify"]).exits(1).says("differ from the lock");
    sets.force_push()
        .blocks_saying("is not on this machine yet");
    fs::remove_file(sets.sandbox.at("hookrun.lock")).unwrap();
    sets.force_push().blocks_saying("is not in hookrun.lock");
}

#[test]
fn a_file_of_the_store_that_was_changed_blocks_until_it_is_verified() {
    type Change = fn(&std::path::Path);
    let changes: &[Change] = &[
        |folder| fs::write(folder.join("more"), "x").unwrap(),
        |folder| fs::remove_file(folder.join("hookrun.toml")).unwrap(),
        |folder| {
            fs::remove_file(folder.join("hookrun.toml")).unwrap();
            fs::write(folder.join("hookrun.toml"), "").unwrap();
        },
        |folder| {
            let mode = fs::Permissions::from_mode(0o444);
            fs::set_permissions(folder.join("hookrun.toml"), mode).unwrap();
        },
        |folder| symlink("/etc/passwd", folder.join("link")).unwrap(),
    ];
    let sets = Sets::added();
    for change in changes {
        sets.sandbox.run_shell("ls").allows();
        change(&sets.store()[0]);
        sets.sandbox
            .run_shell("ls")
            .blocks_saying("in the store")
            .says("`hookrun sets verify`");
        sets.sets(&["verify"]).exits(0).prints("fetched base");
        assert_eq!(sets.store().len(), 1);
    }
    let meta = fs::metadata(sets.store()[0].join("hookrun.toml")).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o555);
}

#[test]
fn a_set_names_nothing_outside_of_itself() {
    let evil = "#!/bin/sh\ntouch ran\n";
    let own = "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = ";
    for command in [
        "'../../../../../../evil.sh'",
        "'sh ../../../../../../evil.sh'",
    ] {
        let sets = Sets::new().file(".", "evil.sh", evil);
        let sets = sets.file("r", "hookrun.toml", &format!("{own}{command}\n"));
        sets.commit("r");
        sets.add("base", "r", "main").exits(0);
        sets.sandbox
            .run_shell("ls")
            .blocks_saying("outside its set");
        sets.sandbox.has_no_file("ran");
    }
}

#[test]
fn links_submodules_and_strange_names_are_no_files_of_a_set() {
    let sets = Sets::new();
    symlink("/etc/passwd", sets.sandbox.at("r/link")).unwrap();
    sets.commit("r");
    sets.add("base", "r", "main")
        .exits(2)
        .says("`link` is a link");
    let sets = Sets::new();
    for number in 0..2001 {
        fs::write(sets.sandbox.at(&format!("r/{number}")), "").unwrap();
    }
    sets.commit("r");
    sets.add("base", "r", "main")
        .exits(2)
        .says("has more than 2000 hook files");
}

#[test]
fn a_pipe_in_the_place_of_a_file_blocks_and_holds_nothing_up() {
    let file = "hookrun.lock";
    let sets = Sets::added();
    let _ = fs::remove_file(sets.sandbox.at(file));
    let made = Command::new("mkfifo")
        .arg(sets.sandbox.at(file))
        .status()
        .unwrap();
    assert!(made.success());
    sets.sandbox
        .run_shell("ls")
        .blocks_saying(file)
        .says("it is not a regular file");
}

#[test]
fn a_set_of_a_project_runs_only_when_the_lock_is_trusted() {
    let sets = Sets::added();
    let sets = Sets {
        sandbox: sets.sandbox.without_trust(),
    };
    sets.force_push().blocks_saying("hooks not trusted");
    sets.sandbox.run_shell("ls").allows();
    sets.sandbox
        .hookrun(&["trust", "--show"], b"")
        .exits(1)
        .prints("  tool.pre         hookrun.toml:1 (set base)\n");
    let was = sets.commit_of("r", "v1");
    let sets = Sets {
        sandbox: sets.sandbox.trusted(),
    };
    sets.force_push().blocks("no force: git push --force");
    let sets = sets.file("r", "hookrun.toml", STRICTER);
    sets.commit("r");
    sets.git("r", &["tag", "-f", "v1"]).exits(0);
    sets.sets(&["update", "--moved"])
        .exits(0)
        .prints("`hookrun trust`");
    // The lock has changed, and nobody has looked at it. A person sees what from and to what.
    let is = sets.commit_of("r", "v1");
    sets.sandbox
        .hookrun(&["trust", "--show"], b"")
        .exits(1)
        .prints(&format!("-commit = \"{was}\""))
        .prints(&format!("+commit = \"{is}\""));
    sets.sandbox
        .run_shell("git push")
        .blocks_saying("hooks changed: run `hookrun trust`");
}

#[test]
fn filters_attributes_and_hooks_of_a_repository_do_nothing() {
    let attributes = "* filter=evil\nhookrun.toml export-ignore\n";
    let config =
        "[filter \"evil\"]\nsmudge = touch ran; cat\nrequired = true\n[core]\nhooksPath = hooks\n";
    let sets =
        Sets::new()
            .file("r", ".gitattributes", attributes)
            .file("home", ".gitconfig", config);
    let sets = sets.file("hooks", "reference-transaction", "#!/bin/sh\ntouch ran\n");
    sets.git("r", &["-c", "filter.evil.required=false", "add", "-A"]);
    sets.git(
        "r",
        &[
            "-c",
            "filter.evil.required=false",
            "-c",
            "filter.evil.smudge=",
            "commit",
            "-qm",
            "x",
        ],
    );
    let _ = fs::remove_file(sets.sandbox.at("r/ran"));
    for setting in [
        "core.fsmonitor",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
    ] {
        sets.git("r", &["config", setting, "touch ran; false"])
            .exits(0);
    }
    sets.add("base", "r", "main").exits(0);
    sets.force_push().blocks_saying("no force");
    for place in ["ran", "r/ran"] {
        sets.sandbox.has_no_file(place);
    }
}
