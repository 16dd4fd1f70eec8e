//! `hookrun doctor git`: what keeps git from reaching hookrun.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::Git;
use crate::sandbox::Sandbox;

/// A repository with a hook for commits, in which hookrun is installed.
fn installed() -> Git {
    let git = Git::new(Sandbox::new().hook_for("pre-commit", "10-quiet", "exit 0"));
    git.hookrun("w", &["install", "git"]).exits(0);
    git
}

/// The problems that `doctor git` finds, as `severity file: cause [cure]`, below the sandbox, and
/// its exit status.
#[track_caller]
fn problems(git: &Git) -> (i32, Vec<String>) {
    let ran = git.hookrun("w", &["doctor", "git", "--format", "json"]);
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let place = git.sandbox.path().canonicalize().unwrap();
    let mut found = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for problem in file["problems"].as_array().unwrap() {
            let text = |key: &str| problem[key].as_str().unwrap_or_default();
            let (severity, cause, cure) = (text("severity"), text("cause"), text("cure"));
            let file = file["file"].as_str().unwrap();
            let all = format!("{severity} {file}: {cause} [{cure}]");
            if cause.contains("has not run it in this project yet") {
                continue;
            }
            found.push(all.replace(&format!("{}/", place.display()), ""));
        }
    }
    (ran.status, found)
}

fn set_mode(git: &Git, path: &str, mode: u32) {
    fs::set_permissions(git.sandbox.at(path), fs::Permissions::from_mode(mode)).unwrap();
}

const HOOK: &str = "w/.git/hooks/pre-commit";

#[test]
fn what_was_just_installed_is_in_order_and_told_with_the_hosts() {
    let git = installed();
    assert_eq!(problems(&git), (0, Vec::new()));
    let ran = git.hookrun("w", &["doctor"]);
    ran.exits(0)
        .prints("git: hookrun is installed in 1 hook of this repository\n");
    let ran = git.hookrun("w", &["doctor", "git"]);
    assert!(!ran.stdout.contains("Claude"), "{ran:?}");
}

#[test]
fn outside_of_a_repository_git_is_a_problem_only_if_it_was_named() {
    let git = installed();
    let ran = git.hookrun("home", &["doctor"]);
    ran.exits(0);
    assert!(!ran.stdout.contains("git:"), "{ran:?}");
    git.hookrun("home", &["doctor", "git"])
        .exits(1)
        .prints("is not in a git repository");
}

#[test]
fn a_shim_that_is_not_there_is_named_with_the_hooks_that_are_not_asked() {
    let git = installed();
    fs::remove_file(git.sandbox.at(HOOK)).unwrap();
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(
        found[0].contains("git does not call hookrun [`hookrun install git`]"),
        "{found:?}"
    );

    let git = installed();
    let sandbox = git.sandbox.hook_for("pre-push", "20-push", "exit 0");
    let (status, found) = problems(&Git { sandbox });
    assert_eq!(status, 1);
    let wanted = "error .git/hooks/pre-push: `pre-push` does not call hookrun, so git \
                  does not run `20-push` [`hookrun install git`]";
    assert_eq!(found, [wanted]);
}

#[test]
fn a_shim_that_may_not_be_executed_is_named() {
    let git = installed();
    set_mode(&git, HOOK, 0o644);
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(
        found[0].contains("this file is not executable, so git skips it [`chmod +x "),
        "{found:?}"
    );
}

#[test]
fn a_shim_that_calls_what_is_gone_is_named() {
    let git = installed();
    let text = git
        .sandbox
        .read(HOOK)
        .replace(env!("CARGO_BIN_EXE_hookrun"), "/gone/hookrun");
    fs::write(git.sandbox.at(HOOK), text).unwrap();
    // It finds the one in PATH.
    assert_eq!(problems(&git), (0, Vec::new()));
    let sandbox = git.sandbox.variable("PATH", "/usr/bin:/bin");
    let (status, found) = problems(&Git { sandbox });
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(found[0].contains("git cannot start hookrun"), "{found:?}");
}

#[test]
fn a_hook_that_was_written_over_the_shim_is_named_with_the_one_that_is_kept() {
    let git = Git::new(Sandbox::new().hook_for("pre-commit", "10-quiet", "exit 0"));
    let git = Git {
        sandbox: git.sandbox.script(HOOK, "#!/bin/sh\nexit 0\n"),
    };
    git.hookrun("w", &["install", "git"]).exits(0);
    assert_eq!(problems(&git), (0, Vec::new()));
    set_mode(&git, "w/.git/hooks/pre-commit.before-hookrun", 0o644);
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (0, 1), "{found:?}");
    assert!(
        found[0].contains("neither git nor hookrun runs it [`chmod +x "),
        "{found:?}"
    );

    git.hookrun("w", &["install", "git", "--all-events"])
        .exits(0);
    let git = Git {
        sandbox: git.sandbox.script(HOOK, "#!/bin/sh\n# a manager\n"),
    };
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 2), "{found:?}");
    assert!(
        found[0]
            .starts_with("error .git/hooks/pre-commit: `pre-commit` does not call hookrun, so "),
        "{found:?}"
    );
    assert!(found[1].contains("so this hook does not run"), "{found:?}");
}

/// Puts a hook of a manager over the shim, which goes aside.
fn put_aside(git: &Git, ending: &str) {
    let aside = format!("{HOOK}{ending}");
    fs::rename(git.sandbox.at(HOOK), git.sandbox.at(&aside)).unwrap();
    // What pre-commit does in its own words.
    let manager = "#!/bin/sh\n[ ! -x \"$0.legacy\" ] || \"$0.legacy\" \"$@\" || exit 1\n";
    fs::write(git.sandbox.at(HOOK), manager).unwrap();
    set_mode(git, HOOK, 0o755);
}

fn blocking() -> Git {
    let git = Git::new(Sandbox::new().hook_for(
        "pre-commit",
        "10-no",
        "echo asked >> \"$HOME/asked\"; exit 1",
    ));
    git.hookrun("w", &["install", "git"]).exits(0);
    git
}

/// How often the hook was asked about one commit.
fn asked(git: &Git) -> usize {
    let _ = fs::remove_file(git.sandbox.at("home/asked"));
    git.write("w/file");
    git.run("w", &["add", "-A"]).exits(0);
    git.commit(&[]);
    fs::read_to_string(git.sandbox.at("home/asked"))
        .unwrap_or_default()
        .lines()
        .count()
}

#[test]
fn a_shim_that_pre_commit_runs_is_known_by_doctor_install_and_uninstall() {
    let git = blocking();
    put_aside(&git, ".legacy");
    assert_eq!(problems(&git), (0, Vec::new()));
    git.hookrun("w", &["install", "git"])
        .exits(0)
        .prints("pre-commit.legacy is up to date");
    assert_eq!(asked(&git), 1);
    git.hookrun("w", &["uninstall", "git"])
        .exits(0)
        .prints("pre-commit.legacy\n");
    assert!(!git.sandbox.at(&format!("{HOOK}.legacy")).exists());
    assert!(git.sandbox.read(HOOK).contains("$0.legacy"));
    assert_eq!(asked(&git), 0);
}

#[test]
fn husky_has_a_line_of_its_own_because_it_writes_its_folder_anew() {
    let git = blocking();
    git.run("w", &["config", "core.hooksPath", ".husky/_"])
        .exits(0);
    let line = "hookrun run --host git pre-commit -- \"$@\"";
    let ran = git.hookrun("w", &["install", "git"]);
    ran.exits(0)
        .prints("husky rewrites its folder on each `npm install`")
        .prints(line);
    assert!(git.sandbox.at("w/.husky/_/pre-commit").exists());
    // Somebody puts the line there, and husky writes its folder anew.
    fs::write(
        git.sandbox.at("w/.husky/pre-commit"),
        format!("npm test\n{line}\n"),
    )
    .unwrap();
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (0, 1), "{found:?}");
    assert!(found[0].contains("every hook runs twice"), "{found:?}");
    git.hookrun("w", &["install", "git"]).exits(0);
    assert!(!git.sandbox.at("w/.husky/_/pre-commit").exists());
    assert_eq!(problems(&git), (0, Vec::new()));
    fs::write(git.sandbox.at("w/.husky/pre-commit"), "npm test\n").unwrap();
    assert_eq!(problems(&git).0, 1);
}

#[test]
fn hooks_are_counted_once() {
    let git = installed();
    let ran = git.hookrun("w", &["doctor", "git"]);
    assert!(ran.exits(0).stdout.contains(" 1 hook\n"), "{ran:?}");
}

#[test]
fn what_an_allowing_hook_says_on_stderr_is_seen() {
    let body = "echo 'warning: 3 lines are long' >&2; printf '\\033[31mred' >&2; exit 0";
    let git = Git::new(Sandbox::new().hook_for("pre-commit", "10-warn", body));
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/file");
    git.run("w", &["add", "-A"]).exits(0);
    let ran = git.commit(&[]);
    ran.exits(0)
        .says("10-warn: warning: 3 lines are long\n10-warn: \\u{1b}[31mred\n");
}

#[test]
fn a_new_hook_of_a_commit_reads_no_working_tree() {
    for language in ["sh", "bash", "python"] {
        let sandbox = Sandbox::new();
        let new = ["new", "no-env", "--event", "commit.pre", "--lang", language];
        sandbox.hookrun(&new, b"").exits(0);
        assert!(
            sandbox.problems(&[]).is_empty(),
            "{language}: {:?}",
            sandbox.problems(&[])
        );
    }
}

#[test]
fn a_foreign_hook_beside_one_that_was_kept_is_joined_with_it_in_two_steps() {
    let git = installed();
    fs::copy(
        git.sandbox.at(HOOK),
        git.sandbox.at(&format!("{HOOK}.before-hookrun")),
    )
    .unwrap();
    fs::write(git.sandbox.at(HOOK), "#!/bin/sh\nexit 0\n").unwrap();
    let (status, found) = problems(&git);
    assert_eq!(status, 1, "{found:?}");
    let is_it = |one: &String| one.contains("merge both into") && one.contains("and remove");
    assert!(found.iter().any(is_it), "{found:?}");
    git.hookrun("w", &["install", "git"]).exits(2);
    fs::remove_file(git.sandbox.at(&format!("{HOOK}.before-hookrun"))).unwrap();
    git.hookrun("w", &["install", "git"]).exits(0);
    assert_eq!(problems(&git).0, 0);
}
