//! What an attacker may write into a lock, a store, a repository or a command line.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::{ABOUT, GUARD, STRICTER, Sets};
use crate::sandbox::Sandbox;

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
        (digest.as_str(), "../../../../r", "`tree` is no SHA-256"),
        ("git+r", "git+other", "another source"),
        ("rev = \"v1\"", "rev = \"v2\"", "another source or `rev`"),
        (
            "name = \"base\"",
            "name = \"other\"",
            "is not in hookrun.lock",
        ),
        ("version = 1", "version = 2", "`version` cannot be 2"),
        ("files = 2", "files = 2\nrun = 'x'", "unknown key `run`"),
        ("version", "versio", "hookrun.lock:2:1"),
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
    sets.sets(&["verify"])
        .exits(1)
        .says("are not those that were locked");
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
            .blocks_saying("outside of its set");
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
    sets.sets(&["add", "base", "--path", "r"])
        .exits(2)
        .says("`link` is a link");
    fs::remove_file(sets.sandbox.at("r/link")).unwrap();

    let commit = sets.commit_of("r", "main");
    let module = format!("160000,{commit},module");
    sets.git("r", &["rm", "-q", "--cached", "link"]).exits(0);
    sets.git("r", &["update-index", "--add", "--cacheinfo", &module])
        .exits(0);
    sets.git("r", &["commit", "-q", "-m", "x"]).exits(0);
    sets.add("base", "r", "main")
        .exits(2)
        .says("`module` is a submodule");

    let sets = Sets::new().file("r", "a\\b", "");
    sets.commit("r");
    sets.add("base", "r", "main")
        .exits(2)
        .says("is no plain name");
    sets.sandbox.has_no_file("hookrun.toml");
    assert!(sets.store().is_empty());
}

#[test]
fn a_tree_that_leads_out_of_the_set_is_refused() {
    let sets = Sets::new();
    let blob = sets
        .git("r", &["hash-object", "-w", "hookrun.toml"])
        .stdout
        .trim()
        .to_string();
    // git itself writes no such tree from files.
    for name in ["..", ".git", "."] {
        let line = format!("100644 blob {blob}\t{name}\n");
        let script = format!("printf '%s' '{line}' | git mktree");
        let sets_git = |line: &str| {
            let mut command = Command::new("sh");
            command
                .args(["-c", line])
                .current_dir(sets.sandbox.at("r"))
                .output()
                .unwrap()
        };
        let tree = sets_git(&script);
        let tree = String::from_utf8_lossy(&tree.stdout).trim().to_string();
        let made = sets.git("r", &["commit-tree", "-m", "x", &tree]);
        let commit = made.stdout.trim().to_string();
        sets.git("r", &["update-ref", "refs/heads/evil", &commit])
            .exits(0);
        let ran = sets.add("base", "r", "evil");
        assert_eq!(ran.status, 2, "{name}: {ran:?}");
        sets.sandbox.has_no_file("hookrun.lock");
    }
}

#[test]
fn urls_and_revs_that_git_would_run_are_refused() {
    let sandbox = Sandbox::new();
    let declare = |url: &str, rev: &str| {
        let (url, rev) = (format!("{url:?}"), format!("{rev:?}"));
        let text = format!("[sets.a]\ngit = {url}\nrev = {rev}\n");
        fs::write(sandbox.at("hookrun.toml"), text).unwrap();
        sandbox.problems(&[]).join("\n")
    };
    for good in [
        "https://git.example/acme/hooks",
        "ssh://git@git.example:22/hooks.git",
        "ssh://git@[::1]/hooks",
        "git@git.example:acme/hooks.git",
        "file:///srv/hooks.git",
        "../hooks",
        "/srv/hooks",
    ] {
        for rev in ["v1.4.0", "main", "release/2", "3f1c0d9e"] {
            let problems = declare(good, rev);
            assert!(
                problems.contains("is not in hookrun.lock"),
                "{good} {rev}: {problems}"
            );
        }
    }
    for bad in [
        "",
        "ext::sh -c id",
        "ext::id",
        "fd::17",
        "ext::x://y",
        "http://git.example/x",
        "--upload-pack=id",
        "-x",
        "ssh://-oProxyCommand=id/x",
        "ssh://a@-oProxyCommand=id/x",
        "a@-oProxyCommand=id:x",
        "a\nb",
    ] {
        let problems = declare(bad, "v1");
        assert!(problems.contains("is no repository"), "{bad}: {problems}");
    }
    assert!(declare("https://me:secret@git.example/x", "v1").contains("a password is in the URL"));
    for bad in [
        "",
        "--upload-pack=id",
        "-h",
        "a..b",
        "HEAD^",
        "v1:x",
        "@{u}",
        "a b",
        "../x",
    ] {
        let problems = declare("r", bad);
        assert!(
            problems.contains("is no name of a tag"),
            "{bad}: {problems}"
        );
    }
    let sets = Sets::new();
    for url in ["ext::touch ran", "--upload-pack=touch ran"] {
        sets.add("base", url, "v1")
            .exits(2)
            .says("is no repository");
    }
    sets.add("base", "r", "--upload-pack=touch ran")
        .exits(2)
        .says("is no name of a tag");
    sets.sandbox.has_no_file("ran");
    sets.sandbox.has_no_file("hookrun.toml");
}

#[test]
fn no_variable_and_no_setting_leads_git_elsewhere() {
    let sets = Sets::new().repository("evil", &[("hookset.toml", ABOUT), ("hookrun.toml", "")]);
    let at = |path: &str| sets.sandbox.at(path);
    let rewrite = format!("url.{}.insteadOf", at("evil").display());
    let change = |command: &mut Command| {
        command
            .env("GIT_DIR", at("evil/.git"))
            .env("GIT_OBJECT_DIRECTORY", at("evil/.git/objects"));
        command
            .env("GIT_CONFIG_COUNT", "2")
            .env("GIT_CONFIG_KEY_0", &rewrite);
        command
            .env("GIT_CONFIG_VALUE_0", at("r"))
            .env("GIT_CONFIG_KEY_1", "core.hooksPath");
        command
            .env("GIT_CONFIG_VALUE_1", at("hooks"))
            .env("GIT_ALLOW_PROTOCOL", "ext");
        command
            .env("GIT_TEMPLATE_DIR", at("evil"))
            .env("GIT_SSH_COMMAND", "touch ran");
        command
            .env("GIT_TRACE", at("trace"))
            .env("GIT_EXEC_PATH", at("evil"));
    };
    let all = ["sets", "add", "base", "--git", "r", "--rev", "v1"];
    sets.sandbox.hookrun_as(change, &all, b"").exits(0);
    assert!(
        sets.sandbox
            .read("hookrun.lock")
            .contains(&sets.commit_of("r", "v1"))
    );
    sets.sandbox.has_no_file("trace");
    sets.force_push().blocks_saying("no force");
}

#[test]
fn a_protocol_that_the_user_allows_in_git_is_still_not_used() {
    let text =
        "[protocol \"ext\"]\nallow = always\n[url \"ext::touch ran \"]\ninsteadOf = ssh://x\n";
    let sets = Sets::new().file("home", ".gitconfig", text);
    sets.add("base", "ssh://x/y", "v1")
        .exits(2)
        .says("git cannot copy");
    sets.sandbox.has_no_file("ran");
}

#[test]
fn a_moved_tag_is_an_error_that_names_both_commits() {
    let sets = Sets::added();
    let lock = sets.sandbox.read("hookrun.lock");
    let was = sets.commit_of("r", "v1");
    let sets = sets.file("r", "hookrun.toml", "");
    sets.git("r", &["commit", "-q", "-a", "--amend", "-m", "y"])
        .exits(0);
    sets.git("r", &["tag", "-f", "v1"]).exits(0);
    let is = sets.commit_of("r", "v1");
    let ran = sets.sets(&["update"]);
    ran.exits(2)
        .says("the tag `v1` of the set `base` was moved")
        .says(&was)
        .says(&is);
    assert_eq!(sets.sandbox.read("hookrun.lock"), lock);
    sets.force_push().blocks_saying("no force");
    // A machine that has not seen the old one says the same.
    fs::remove_dir_all(&sets.store()[0]).unwrap();
    sets.sets(&["verify"]).exits(1).says(&was).says(&is);
    sets.sets(&["update", "base", "--moved"])
        .exits(0)
        .prints("updated base v1");
    assert!(sets.sandbox.read("hookrun.lock").contains(&is));
    sets.force_push().allows();
}

#[test]
fn a_commit_that_no_branch_and_no_tag_leads_to_is_refused() {
    let sets = Sets::new().file("r", "hookrun.toml", "");
    sets.git("r", &["checkout", "-q", "--detach"]).exits(0);
    sets.commit("r");
    let impostor = sets.commit_of("r", "HEAD");
    sets.git("r", &["update-ref", "refs/pull/1/head", &impostor])
        .exits(0);
    sets.git("r", &["checkout", "-q", "main"]).exits(0);
    let ran = sets.add("base", "r", &impostor);
    ran.exits(2)
        .says("no branch and no tag of the repository leads to commit")
        .says(&impostor);
    let url = format!("file://{}", sets.sandbox.at("r").display());
    sets.add("base", &url, &impostor)
        .exits(2)
        .says("no branch and no tag");
    sets.sandbox.has_no_file("hookrun.lock");
}

#[test]
fn a_huge_set_is_refused_before_it_is_read() {
    let sets = Sets::new();
    fs::write(sets.sandbox.at("r/big"), vec![0; 17 << 20]).unwrap();
    sets.commit("r");
    sets.add("base", "r", "main")
        .exits(2)
        .says("it has more than 16 MiB");
    sets.sets(&["add", "base", "--path", "r"])
        .exits(2)
        .says("it has more than 16 MiB");
    let sandbox = Sandbox::new()
        .file("s/hookset.toml", ABOUT)
        .file("s/hookrun.toml", GUARD);
    for number in 0..2001 {
        fs::write(sandbox.at(&format!("s/{number}")), "").unwrap();
    }
    let sets = Sets { sandbox };
    sets.sets(&["add", "base", "--path", "s"])
        .exits(2)
        .says("it has more than 2000 files");
}

#[test]
fn a_pipe_in_the_place_of_a_file_blocks_and_holds_nothing_up() {
    for file in ["hookrun.lock", "hookset.toml"] {
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
            .says("it is not a file");
    }
}

#[test]
fn a_project_that_says_that_it_is_a_set_is_still_asked_about() {
    let hook = "#!/bin/sh\ntouch \"$HOOKRUN_PROJECT_DIR/ran\"\n";
    let sandbox = Sandbox::new().file("hookset.toml", ABOUT);
    let sandbox = sandbox
        .script("hooks.d/tool.pre/10-evil.sh", hook)
        .without_trust();
    sandbox.run_shell("ls").blocks_saying("are not trusted");
    sandbox.has_no_file("ran");
    // What its hooks may touch is part of what is trusted.
    let sandbox = sandbox.trusted();
    sandbox.run_shell("ls").allows();
    sandbox.has_file("ran");
    let sandbox = sandbox.file("hookset.toml", &format!("{ABOUT}needs.write = ['.']\n"));
    sandbox.run_shell("ls").blocks_saying("have changed since");
}

#[test]
fn a_set_of_a_project_runs_only_when_the_lock_is_trusted() {
    let sets = Sets::added();
    let sets = Sets {
        sandbox: sets.sandbox.without_trust(),
    };
    sets.force_push().blocks_saying("are not trusted");
    sets.sandbox.run_shell("ls").allows();
    let was = sets.commit_of("r", "v1")[..12].to_string();
    let old = sets.store()[0].file_name().unwrap().to_str().unwrap()[..12].to_string();
    let shown = format!("  set base v1 ({was}): 2 files, sha256:{old}\n");
    let screen = sets.sandbox.hookrun(&["trust", "--show"], b"");
    screen
        .exits(1)
        .prints(&shown)
        .prints("  tool.pre         hookrun.toml:1 (set base)\n");
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
    let shown = sets.sandbox.hookrun(&["trust", "--diff"], b"").stdout;
    let is = &sets.commit_of("r", "v1")[..12];
    let wanted = format!(
        "set base\n  was base v1 ({was}): 2 files, sha256:{old} from git+r\n  is  base v1 ({is}): 2"
    );
    assert!(shown.starts_with(&wanted), "{shown}");
    sets.sandbox
        .run_shell("git push")
        .blocks_saying("have changed since");
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
