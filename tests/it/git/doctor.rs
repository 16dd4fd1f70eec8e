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
    ran.exits(0).prints("git: asks hookrun in 1 hook of this repository\n");
    let ran = git.hookrun("w", &["doctor", "git"]);
    assert!(!ran.stdout.contains("Claude"), "{ran:?}");
}

#[test]
fn outside_of_a_repository_git_is_a_problem_only_if_it_was_named() {
    let git = installed();
    let ran = git.hookrun("home", &["doctor"]);
    ran.exits(0);
    assert!(!ran.stdout.contains("git:"), "{ran:?}");
    git.hookrun("home", &["doctor", "git"]).exits(1).prints("is in no git repository");
}

#[test]
fn a_shim_that_is_not_there_is_named_with_the_hooks_that_are_not_asked() {
    let git = installed();
    fs::remove_file(git.sandbox.at(HOOK)).unwrap();
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(found[0].contains("git does not ask hookrun [`hookrun install git`]"), "{found:?}");

    let git = installed();
    let sandbox = git.sandbox.hook_for("pre-push", "20-push", "exit 0");
    let (status, found) = problems(&Git { sandbox });
    assert_eq!(status, 1);
    let wanted = "error .git/hooks/pre-push: `pre-push` does not ask hookrun: `20-push` is not \
                  asked [`hookrun install git`]";
    assert_eq!(found, [wanted]);
}

#[test]
fn a_shim_that_may_not_be_executed_is_named() {
    let git = installed();
    set_mode(&git, HOOK, 0o644);
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(found[0].contains("may not be executed: git passes over it [`chmod +x "), "{found:?}");
}

#[test]
fn a_shim_that_calls_what_is_gone_is_named() {
    let git = installed();
    let text = git.sandbox.read(HOOK).replace(env!("CARGO_BIN_EXE_hookrun"), "/gone/hookrun");
    fs::write(git.sandbox.at(HOOK), text).unwrap();
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(found[0].contains("git does not reach hookrun"), "{found:?}");
    assert!(found[0].contains("/gone/hookrun"), "{found:?}");
}

#[test]
fn a_hook_that_was_written_over_the_shim_is_named_with_the_one_that_is_kept() {
    let git = Git::new(Sandbox::new().hook_for("pre-commit", "10-quiet", "exit 0"));
    let git = Git { sandbox: git.sandbox.script(HOOK, "#!/bin/sh\nexit 0\n") };
    git.hookrun("w", &["install", "git"]).exits(0);
    assert_eq!(problems(&git), (0, Vec::new()));
    set_mode(&git, "w/.git/hooks/pre-commit.before-hookrun", 0o644);
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (0, 1), "{found:?}");
    assert!(found[0].contains("neither git nor hookrun runs it [`chmod +x "), "{found:?}");

    git.hookrun("w", &["install", "git", "--all-events"]).exits(0);
    let git = Git { sandbox: git.sandbox.script(HOOK, "#!/bin/sh\n# a manager\n") };
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 2), "{found:?}");
    assert!(
        found[0].starts_with("error .git/hooks/pre-commit: `pre-commit` is not hookrun's: "),
        "{found:?}"
    );
    assert!(found[1].contains("not hookrun's any more, and this hook is not run"), "{found:?}");
}

#[test]
fn shims_that_git_passes_over_are_named() {
    let git = installed();
    git.run("w", &["config", "core.hooksPath", "husky"]).exits(0);
    let (status, found) = problems(&git);
    assert_eq!((status, found.len()), (1, 1), "{found:?}");
    assert!(found[0].contains("git passes over the hooks here: core.hooksPath is `"), "{found:?}");
    assert!(found[0].contains("husky` (local) [`hookrun install git`]"), "{found:?}");
}

#[test]
fn the_folder_for_all_repositories_is_looked_at_where_it_serves() {
    let sandbox = Sandbox::new().hook_for("pre-commit", "10-quiet", "exit 0");
    let own = "home/.config/hookrun/hooks.d/pre-push/30-mine";
    let git = Git::new(sandbox.script(own, "#!/bin/sh\nexit 0\n"));
    git.hookrun("w", &["install", "git", "--scope", "global"]).exits(0);
    let ran = git.hookrun("w", &["doctor", "git"]);
    ran.exits(0).prints("git: asks hookrun in 1 hook of all repositories\n");
}
