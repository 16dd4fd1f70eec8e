//! `install git` and `uninstall git`: shims, and the hooks that were there before.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::Git;
use crate::sandbox::Sandbox;

/// A hook for every commit that does nothing.
fn wanting(event: &str) -> Sandbox {
    Sandbox::new().hook_for(event, "10-quiet", "exit 0")
}

fn mode(git: &Git, path: &str) -> u32 {
    git.sandbox
        .at(path)
        .metadata()
        .unwrap()
        .permissions()
        .mode()
        & 0o7777
}

/// The names in the folder of hooks, without git's samples.
fn names(git: &Git, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(git.sandbox.at(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".sample")).collect();
    names.sort();
    names
}

#[test]
fn only_what_some_hook_wants_is_installed_and_twice_is_once() {
    let git = Git::new(wanting("pre-commit"));
    let would = git.hookrun("w", &["install", "git", "--dry-run"]);
    would
        .exits(0)
        .prints("would write ")
        .prints("/w/.git/hooks/pre-commit\n");
    assert!(names(&git, "w/.git/hooks").is_empty());
    git.hookrun("w", &["install", "git"]).exits(0);
    assert_eq!(names(&git, "w/.git/hooks"), ["pre-commit"]);
    let shim = git.sandbox.read("w/.git/hooks/pre-commit");
    git.hookrun("w", &["install", "git"])
        .exits(0)
        .prints("pre-commit is up to date\n");
    assert_eq!(git.sandbox.read("w/.git/hooks/pre-commit"), shim);
    git.hookrun("w", &["install", "git", "--all-events"])
        .exits(0);
    let all = names(&git, "w/.git/hooks");
    assert!(
        all.len() == 19 && all.contains(&"post-update".to_string()),
        "{all:?}"
    );
    // Their mere presence slows git down, or takes something off it.
    for name in [
        "push-to-checkout",
        "reference-transaction",
        "post-index-change",
    ] {
        assert!(!all.contains(&name.to_string()), "{name}");
    }
    git.hookrun("w", &["uninstall", "git"]).exits(0);
    assert!(names(&git, "w/.git/hooks").is_empty());
    git.hookrun("w", &["uninstall", "git"])
        .exits(0)
        .prints("hookrun is not installed in ");
}

#[test]
fn what_only_git_can_be_told_is_no_option_of_another_host() {
    let ran = wanting("tool.pre").hookrun(&["install", "claude", "--budget", "1s"], b"");
    ran.exits(2).says("--budget is only for git");
}

#[test]
fn without_a_hook_nothing_is_installed() {
    let git = Git::new(wanting("tool.pre"));
    git.hookrun("w", &["install", "git"])
        .exits(2)
        .says("no hook is configured for a git event");
    git.hookrun("home", &["install", "git"])
        .exits(2)
        .says("is not in a git repository");
    assert!(names(&git, "w/.git/hooks").is_empty());
}

#[test]
fn a_hook_that_was_there_runs_first_and_comes_back_as_it_was() {
    let sandbox = wanting("pre-push").hook_for("pre-commit", "10-mark", "touch \"$PWD/marker\"");
    let git = Git::new(sandbox);
    let old = "#!/bin/sh\n[ ! -e stop ] || { echo old says no >&2; exit 3; }\n";
    let push = "#!/bin/sh\ncat > ../lines\necho \"$@\" > ../arguments\n";
    let sandbox = git.sandbox.script("w/.git/hooks/pre-commit", old);
    let git = Git {
        sandbox: sandbox.script("w/.git/hooks/pre-push", push),
    };
    fs::set_permissions(
        git.sandbox.at("w/.git/hooks/pre-commit"),
        fs::Permissions::from_mode(0o750),
    )
    .unwrap();
    let report = git.hookrun("w", &["install", "git"]);
    report
        .exits(0)
        .prints("the existing hook is kept as pre-commit.before-hookrun and runs first");

    git.write("w/stop");
    git.commit(&[]).exits(1).says("old says no");
    git.sandbox.has_no_file("w/marker");
    fs::remove_file(git.sandbox.at("w/stop")).unwrap();
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.sandbox.has_file("w/marker");

    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    assert_eq!(git.sandbox.read("arguments"), "origin ../s.git\n");
    let line = format!(
        "refs/heads/main {} refs/heads/main {}\n",
        git.head("w"),
        "0".repeat(40)
    );
    assert_eq!(git.sandbox.read("lines"), line);

    git.hookrun("w", &["install", "git"]).exits(0);
    git.hookrun("w", &["uninstall", "git"])
        .exits(0)
        .prints("the original hook takes its place");
    assert_eq!(git.sandbox.read("w/.git/hooks/pre-commit"), old);
    assert_eq!(mode(&git, "w/.git/hooks/pre-commit"), 0o750);
    assert_eq!(names(&git, "w/.git/hooks"), ["pre-commit", "pre-push"]);
}

#[test]
fn both_get_the_lines_that_git_gives() {
    let sandbox = super::keeper(Sandbox::new(), "receive.pre");
    let git = Git::new(sandbox);
    let old = "#!/bin/sh\ncat > ../lines\n";
    let git = Git {
        sandbox: git.sandbox.script("s.git/hooks/pre-receive", old),
    };
    git.hookrun("s.git", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    assert!(git.sandbox.read("lines").ends_with(" refs/heads/main\n"));
    assert_eq!(super::seen(&git)["refs"][0]["ref"], "refs/heads/main");
}

#[test]
fn a_script_that_asks_for_its_own_name_gets_the_one_that_it_had() {
    // husky finds by `$0` what to run, and does nothing where it finds nothing.
    let shim = "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n";
    let finder = "script=$(dirname \"$(dirname \"$0\")\")/$(basename \"$0\")\n\
                  [ ! -f \"$script\" ] && exit 0\nsh -e \"$script\" \"$@\"\nexit $?\n";
    let git = Git::new(wanting("commit.pre"));
    let sandbox = git.sandbox.script("w/.husky/_/pre-commit", shim);
    let sandbox = sandbox
        .file("w/.husky/_/h", finder)
        .file("w/.husky/pre-commit", "echo husky >&2\nexit 1\n");
    let git = Git { sandbox };
    git.run("w", &["config", "core.hooksPath", ".husky/_"])
        .exits(0);
    git.hookrun("w/.husky", &["install", "git"])
        .exits(0)
        .prints("/w/.husky/_/pre-commit");
    let folder = git.sandbox.at("home/.local/bin");
    fs::create_dir_all(&folder).unwrap();
    let own = env!("CARGO_BIN_EXE_hookrun");
    std::os::unix::fs::symlink(own, folder.join("hookrun")).unwrap();
    git.commit(&[]).exits(1).says("husky");
    git.sandbox.has_no_file("w/.git/hooks/pre-commit");
    git.hookrun("w", &["uninstall", "git"]).exits(0);
    assert_eq!(git.sandbox.read("w/.husky/_/pre-commit"), shim);
}

#[test]
fn a_new_hook_beside_a_kept_one_is_not_lost() {
    let git = Git::new(wanting("commit.pre"));
    let sandbox = git
        .sandbox
        .script("w/.git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    let git = Git { sandbox };
    git.hookrun("w", &["install", "git"]).exits(0);
    let new = "#!/bin/sh\necho new\n";
    let git = Git {
        sandbox: git.sandbox.script("w/.git/hooks/pre-commit", new),
    };
    git.hookrun("w", &["install", "git"])
        .exits(2)
        .says("an older one is kept next to it");
    git.hookrun("w", &["uninstall", "git"])
        .exits(0)
        .prints("pre-commit: unchanged");
    assert_eq!(git.sandbox.read("w/.git/hooks/pre-commit"), new);
    git.sandbox
        .has_file("w/.git/hooks/pre-commit.before-hookrun");
}

#[test]
fn what_git_did_not_run_is_not_run_now() {
    let git = Git::new(wanting("commit.pre"));
    let git = Git {
        sandbox: git
            .sandbox
            .file("w/.git/hooks/pre-commit", "#!/bin/sh\nexit 1\n"),
    };
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
}

#[test]
fn a_worktree_asks_its_own_hooks() {
    let git = Git::new(wanting("commit.pre"));
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["worktree", "add", "-q", "../v"]).exits(0);
    git.hookrun("v", &["install", "git"])
        .exits(0)
        .prints("/w/.git/hooks/pre-commit");
    let sandbox = git
        .sandbox
        .script("v/hooks.d/commit.pre/no", "#!/bin/sh\npwd >&2; exit 1\n");
    let git = Git { sandbox };
    let here = git.sandbox.at("v").canonicalize().unwrap();
    let refused = git.run("v", &["commit", "-q", "--allow-empty", "-m", "x"]);
    refused
        .exits(1)
        .says(&format!("blocked by hook `no`: {}\n", here.display()));
    git.run("w", &["commit", "-q", "--allow-empty", "-m", "x"])
        .exits(0);
}

#[test]
fn without_hookrun_what_can_be_blocked_is_blocked() {
    let sandbox = wanting("commit.pre").hook_for("post-commit", "10-quiet", "exit 0");
    let git = Git::new(sandbox);
    git.hookrun("w", &["install", "git"]).exits(0);
    for name in ["pre-commit", "post-commit"] {
        let path = format!("w/.git/hooks/{name}");
        let shim = git
            .sandbox
            .read(&path)
            .replace(env!("CARGO_BIN_EXE_hookrun"), "/nowhere/hookrun");
        fs::write(git.sandbox.at(&path), shim).unwrap();
    }
    git.write("w/a.txt");
    let why = "pre-commit blocked: the hooks here need hookrun, which was not found in PATH";
    git.commit(&[]).exits(1).says(why);
    let told = "post-commit ran no hooks: the hooks here need hookrun";
    git.commit(&["--no-verify"]).exits(0).says(told);
}

#[test]
fn a_server_has_hooks_of_its_own_and_a_budget() {
    let git = Git::new(Sandbox::new());
    let git = Git {
        sandbox: git.sandbox.script(
            "s.git/hooks.d/receive.pre/10-no",
            "#!/bin/sh\necho closed >&2; exit 1\n",
        ),
    };
    git.hookrun("s.git", &["install", "git", "--budget", "20s"])
        .exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"])
        .exits(1)
        .says("pre-receive blocked by hook `10-no`: closed");
}

#[test]
fn hooks_that_are_committed_have_no_path_of_one_machine() {
    let git = Git::new(wanting("commit.pre"));
    git.run("w", &["config", "core.hooksPath", ".githooks"])
        .exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    let shim = git.sandbox.read("w/.githooks/pre-commit");
    let own = env!("CARGO_BIN_EXE_hookrun");
    assert!(!shim.contains(own), "{shim}");
    // The shim finds no hookrun of the repository.
    let sandbox = git.sandbox.script(
        "w/bin/hookrun",
        "#!/bin/sh\ntouch /tmp/hookrun-evil\nexit 0\n",
    );
    let git = Git { sandbox };
    git.write("w/a.txt");
    git.commit(&[])
        .exits(1)
        .says("pre-commit blocked: the hooks here need hookrun");
    let home = git.sandbox.at("home/.cargo/bin");
    fs::create_dir_all(&home).unwrap();
    std::os::unix::fs::symlink(own, home.join("hookrun")).unwrap();
    git.commit(&[]).exits(0);
    git.hookrun("w", &["doctor", "git"])
        .exits(0)
        .prints("git: hookrun is installed in 1 hook of this repository");
}

#[test]
fn hooks_of_all_repositories_are_left_alone() {
    let git = Git::new(wanting("commit.pre"));
    git.run("w", &["config", "--global", "core.hooksPath", "/nowhere"])
        .exits(0);
    git.hookrun("w", &["install", "git"])
        .exits(2)
        .says("core.hooksPath is set outside this repository");
    git.hookrun("w", &["install", "git", "--scope", "user"])
        .exits(2)
        .says("is not for git, whose hooks belong to one repository");
}

#[test]
fn a_broken_configuration_gets_shims_that_block_and_say_what_to_fix() {
    let git = Git::new(Sandbox::new().file("hookrun.toml", "[[hook]]\nnam = 1\n"));
    git.hookrun("w", &["install", "git"])
        .exits(1)
        .prints("/w/.git/hooks/pre-commit\n")
        .prints("to do: fix this error, which blocks git: the hooks have an error");
    git.write("w/a.txt");
    git.commit(&[])
        .exits(1)
        .says("`hookrun validate` shows how to fix it");
}

#[test]
fn one_command_sets_up_a_clone_with_a_shared_set() {
    let git = Git::new(Sandbox::new());
    let rule = "[[rule]]\nevent = 'commit.msg'\nwhere = { message = '^wip' }\ndeny = 'no wip'\n";
    git.run(".", &["init", "-q", "-b", "main", "set"]).exits(0);
    fs::write(git.sandbox.at("set/hookrun.toml"), rule).unwrap();
    git.run("set", &["add", "-A"]).exits(0);
    git.run("set", &["commit", "-q", "-m", "x"]).exits(0);
    let add = ["sets", "add", "base", "--git", "../set", "--rev", "main"];
    git.hookrun("w", &add).exits(0);
    let git = Git {
        sandbox: git.sandbox.without_trust(),
    };
    let state = git.sandbox.at("home/.local/state/hookrun");
    fs::remove_dir_all(state).unwrap();

    // Off a terminal the question is left to do.
    git.hookrun("w", &["install", "git"])
        .exits(1)
        .prints("fetched base main")
        .prints("/w/.git/hooks/commit-msg\n")
        .prints("to do: run `hookrun trust`");
    let shown = git.hookrun("w", &["trust", "--show"]).stdout;
    let at = shown.find("sha256:").unwrap();
    let digest = &shown[at..at + 71];
    git.hookrun("w", &["trust", "--digest", digest]).exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.run("w", &["add", "-A"]).exits(0);
    git.run("w", &["commit", "-q", "-m", "wip"])
        .exits(1)
        .says("no wip");
    git.run("w", &["commit", "-q", "-m", "done"]).exits(0);

    // A set that cannot be fetched leaves shims that block.
    fs::remove_dir_all(git.sandbox.at("home/.local/state/hookrun/sets")).unwrap();
    fs::rename(git.sandbox.at("set"), git.sandbox.at("gone")).unwrap();
    git.hookrun("w", &["install", "git"]).exits(1);
    git.run("w", &["commit", "-q", "--allow-empty", "-m", "done"])
        .exits(1)
        .says("hookrun sets verify");
}
