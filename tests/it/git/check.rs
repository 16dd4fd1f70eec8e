//! `hookrun check`: the hooks of a commit, by hand.

use std::fs;

use super::Git;
use crate::sandbox::{Ran, Sandbox};

const HOOKS: &str = r#"
[[hook]]
name = "lint"
event = "commit.pre"
command = "sh -c 'if grep -l BAD \"$@\" >&2; then exit 1; fi' sh {files}"
match = { path = "**/*.py" }

[[hook]]
name = "trim"
event = "commit.pre"
command = "sed -i 's, *$,,' {files}"
match = { type = "python" }
fixes = "stage"
"#;

/// A repository with a linter and a formatter, and two committed files.
fn repository() -> Git {
    let git = Git::new(Sandbox::new().file("hookrun.toml", HOOKS));
    write(&git, "a.py", "ok\n");
    write(&git, "sub/b.py", "ok\n");
    git.commit(&[]).exits(0);
    git
}

fn write(git: &Git, name: &str, text: &str) {
    let file = git.sandbox.at("w").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn read(git: &Git, name: &str) -> String {
    fs::read_to_string(git.sandbox.at("w").join(name)).unwrap()
}

fn check(git: &Git, words: &[&str]) -> Ran {
    let mut all = vec!["check"];
    all.extend(words);
    git.hookrun("w", &all)
}

#[test]
fn what_is_staged_is_checked_as_a_commit_checks_it() {
    let git = repository();
    check(&git, &[]).exits(0);
    write(&git, "a.py", "BAD\n");
    // Nothing is staged.
    check(&git, &[]).exits(0);
    git.run("w", &["add", "a.py"]).exits(0);
    write(&git, "a.py", "good on the disk\n");
    check(&git, &[]).exits(1).says("lint").says("a.py");
    check(&git, &["--skip", "lint"]).exits(0);
    check(&git, &["trim"]).exits(0);
    check(&git, &["lint"]).exits(1);
}

#[test]
fn files_that_are_named_are_checked_on_the_disk() {
    let git = repository();
    write(&git, "a.py", "BAD\n");
    write(&git, "sub/new.py", "BAD\n");
    check(&git, &["a.py"]).exits(1).says("a.py");
    check(&git, &["sub"]).exits(0);
    // git does not know it, but it is named.
    check(&git, &["sub/new.py"]).exits(1).says("sub/new.py");
    git.hookrun("w/sub", &["check", "new.py"]).exits(1);
    git.hookrun("w/sub", &["check", "../sub/b.py"]).exits(0);
    check(&git, &["--all"]).exits(1).says("a.py");
    fs::remove_file(git.sandbox.at("w/a.py")).unwrap();
    check(&git, &["--all"]).exits(0);
    check(&git, &["../s.git"])
        .exits(1)
        .says("is outside the repository");
    git.hookrun(".", &["check"])
        .exits(2)
        .says("is not in a git repository");
}

#[test]
fn a_range_has_what_a_branch_changes() {
    let git = repository();
    git.run("w", &["checkout", "-q", "-b", "topic"]).exits(0);
    write(&git, "c.py", "BAD\n");
    git.commit(&[]).exits(0);
    git.run("w", &["checkout", "-q", "main"]).exits(0);
    write(&git, "a.py", "BAD\n");
    git.commit(&[]).exits(0);
    git.run("w", &["checkout", "-q", "topic"]).exits(0);
    check(&git, &["--from", "main"]).exits(1).says("c.py");
    check(&git, &["--from", "main", "--to", "HEAD~1"]).exits(0);
    check(&git, &["--from", "HEAD"]).exits(0);
    check(&git, &["--from", "nowhere"])
        .exits(1)
        .says("no such commit: `nowhere`");
    check(&git, &["--to", "HEAD"]).exits(2);
    check(&git, &["--all", "--from", "main"]).exits(2);
}

#[test]
fn nothing_changes_without_fix() {
    let git = repository();
    write(&git, "a.py", "x  \n1\n2\n3\n");
    git.run("w", &["add", "a.py"]).exits(0);
    write(&git, "a.py", "x  \n1\n2\n3\ny  \n");
    for words in [&[][..], &["--all"], &["a.py"]] {
        check(&git, words)
            .exits(1)
            .says("would change a.py")
            .says("--fix");
        assert_eq!(read(&git, "a.py"), "x  \n1\n2\n3\ny  \n");
    }
    check(&git, &["--fix"]).exits(0);
    assert_eq!(git.run("w", &["show", ":a.py"]).stdout, "x\n1\n2\n3\n");
    assert_eq!(read(&git, "a.py"), "x\n1\n2\n3\ny  \n");
    // Files that are named are fixed on the disk, and staged by the person.
    check(&git, &["a.py", "--fix"]).exits(0);
    assert_eq!(read(&git, "a.py"), "x\n1\n2\n3\ny\n");
    assert_eq!(git.run("w", &["show", ":a.py"]).stdout, "x\n1\n2\n3\n");
}

#[test]
fn a_check_without_hooks_is_not_passed() {
    let git = Git::new(Sandbox::new());
    check(&git, &["--all"])
        .exits(1)
        .says("commit.pre has no hooks");
}

#[test]
fn a_word_that_means_nothing_is_named() {
    let git = repository();
    check(&git, &["lnt"]).exits(1).says("did you mean `lint`?");
    check(&git, &["--skip", "trin"])
        .exits(1)
        .says("did you mean `trim`?");
}

#[test]
fn each_hook_is_a_test_case_of_junit() {
    let git = repository();
    write(&git, "a.py", "BAD\n");
    let ran = check(&git, &["--all", "--format", "junit"]);
    ran.exits(1)
        .prints("tests=\"2\" skipped=\"0\" failures=\"1\"")
        .prints("<testcase name=\"trim\"")
        .prints("<failure");
    check(&git, &["a.txt", "--format", "junit"]).exits(1);
    check(&git, &["sub/b.py", "--format", "junit"])
        .exits(0)
        .prints("failures=\"0\"");
}
