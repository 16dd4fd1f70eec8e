//! The hooks that a new user of git begins with: built-in ones, templates, and scripts from git's folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::Git;
use crate::sandbox::{Ran, Sandbox};

/// As `ruff` it formats `x=1`, and finds `import os`.
const RUFF: &str = "#!/bin/sh\n\
    word=$1\nshift\nfor file; do\n    case $word-$file in\n    *--*) ;;\n    \
    format-*) sed -i 's/^x=1$/x = 1/' \"$file\" ;;\n    \
    check-*) ! grep -Hn '^import os' \"$file\" || exit 1 ;;\n    esac\ndone\n";

/// A repository with these built-in hooks, in whose `.venv` programs are found first.
fn with(names: &[&str]) -> Git {
    let git = Git::new(Sandbox::new().script("w/.venv/bin/ruff", RUFF));
    git.hookrun(".", &[&["add"], names].concat()).exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    fs::write(git.sandbox.at("w/.git/info/exclude"), ".venv\n").unwrap();
    git
}

fn write(git: &Git, path: &str, text: &str) {
    let file = git.sandbox.at("w").join(path);
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).unwrap();
    fs::write(file, text).unwrap();
}

/// Commits what is staged.
fn commit(git: &Git, message: &str) -> Ran {
    git.run("w", &["commit", "-q", "-m", message])
}

#[test]
fn lint_decides_about_the_staged_text() {
    let git = with(&["lint"]);
    write(&git, "a b.py", "import os\n");
    git.commit(&[])
        .exits(1)
        .says("pre-commit blocked by hook `20-lint.sh`: a b.py:1:import os");
    write(&git, "a b.py", "x = 1\n");
    commit(&git, "the disk is better")
        .exits(1)
        .says("a b.py:1:import os");
    git.run("w", &["add", "-A"]).exits(0);
    write(&git, "a b.py", "import os\n");
    commit(&git, "the disk is worse").exits(0);
    write(&git, "biome.json", "");
    write(&git, "a b.py", "x = 1\n");
    write(&git, "a.js", "");
    git.commit(&[])
        .exits(1)
        .says("`20-lint.sh`: biome is not installed: npm install --save-dev @biomejs/biome\n");
}

#[test]
fn format_commits_the_formatted_text_and_keeps_other_changes() {
    let git = with(&["format"]);
    write(&git, "a.py", "x=1\n\n\n\ny=2\n");
    git.run("w", &["add", "-A"]).exits(0);
    write(&git, "a.py", "x=1\n\n\n\ny=3\n");
    commit(&git, "one")
        .exits(0)
        .says("10-format.sh fixed and staged a.py");
    let committed = git.run("w", &["show", "HEAD:a.py"]).stdout;
    assert_eq!(committed, "x = 1\n\n\n\ny=2\n");
    assert_eq!(git.sandbox.read("w/a.py"), "x = 1\n\n\n\ny=3\n");
}

#[test]
fn no_large_files_reads_the_staged_size() {
    let git = with(&["no-large-files"]);
    let large = "x".repeat(1024 * 1024 + 1);
    write(&git, "data/a b", &large);
    let why = "`30-no-large-files.sh`: data/a b has 1048577 bytes, 1048576 are the most\nkeep it in Git LFS";
    git.commit(&[]).exits(1).says(why);
    write(&git, "data/a b", "small");
    commit(&git, "the disk is small").exits(1).says(why);
    git.run("w", &["add", "-A"]).exits(0);
    write(&git, "data/a b", &large);
    commit(&git, "the disk is large").exits(0);
    // What a filter stores counts, as in Git LFS.
    git.run("w", &["config", "filter.short.clean", "head -c 9"])
        .exits(0);
    write(&git, ".gitattributes", "*.bin filter=short\n");
    write(&git, "b.bin", &large);
    git.run("w", &["add", "b.bin", ".gitattributes"]).exits(0);
    commit(&git, "a pointer").exits(0);
}

#[test]
fn conventional_commits_blocks_other_subjects_but_not_git_s_own() {
    let git = with(&["conventional-commits"]);
    write(&git, "a", "");
    git.run("w", &["add", "-A"]).exits(0);
    commit(&git, "Add a file")
        .exits(1)
        .says("commit-msg blocked by hook `conventional-commits`: begin the message with a type");
    commit(&git, "feat: add a file").exits(0);
    let empty = ["commit", "-q", "--allow-empty"];
    git.run("w", &[&empty[..], &["--fixup", "HEAD"]].concat())
        .exits(0);
    git.run("w", &["revert", "--no-edit", "HEAD^"]).exits(0);
    git.run("w", &["switch", "-q", "-c", "topic", "HEAD^"])
        .exits(0);
    git.run("w", &[&empty[..], &["-m", "fix: it"]].concat())
        .exits(0);
    git.run("w", &["merge", "-q", "--no-edit", "main"]).exits(0);
}

/// A script in git's own folder of hooks.
fn own_script(git: &Git, path: &str, text: &str) {
    let file = git.sandbox.at("w").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

const TICKET: &str = "#!/bin/sh\n\
    echo ran >>../ran\n\
    grep -q ^T- \"$1\" || { echo no ticket >&2; exit 1; }\n";

/// How often [`TICKET`] runs for a commit, which it allows.
fn runs(git: &Git) -> usize {
    let _ = fs::remove_file(git.sandbox.at("ran"));
    git.run("w", &["commit", "-q", "--allow-empty", "-m", "T-1"])
        .exits(0);
    let ran = fs::read_to_string(git.sandbox.at("ran"));
    ran.map_or(0, |text| text.lines().count())
}

#[test]
fn an_imported_script_runs_once_whether_hookrun_was_installed_before_or_not() {
    for is_installed_first in [false, true] {
        let git = Git::new(Sandbox::new());
        own_script(&git, ".git/hooks/commit-msg", TICKET);
        own_script(
            &git,
            "hookrun.toml",
            "[[rule]]\nname = \"a\"\nevent = \"commit.msg\"\nwhere = { message = \"^no\" }\ndeny = \"no\"\n",
        );
        if is_installed_first {
            git.hookrun("w", &["install", "git"]).exits(0);
        }
        assert_eq!(runs(&git), 1);
        git.hookrun("w", &["import", "git"])
            .exits(0)
            .prints("wrote hooks.d/commit-msg/00-commit-msg\n")
            .prints("`hookrun install git` makes git run these copies instead of the scripts in its hooks folder")
            .prints("1 hook imported");
        git.hookrun("w", &["install", "git"])
            .exits(0)
            .prints("commit-msg.before-hookrun stays, and does not run");
        assert_eq!(runs(&git), 1, "installed first: {is_installed_first}");
        commit_empty(&git, "add a file")
            .exits(1)
            .says("commit-msg blocked by hook `00-commit-msg`: no ticket");
        // Also once the script has changed.
        let copy = "w/hooks.d/commit-msg/00-commit-msg";
        let text = git.sandbox.read(copy);
        assert_eq!(text, TICKET);
        own_script(
            &git,
            "hooks.d/commit-msg/00-commit-msg",
            &(text + "# more\n"),
        );
        git.hookrun("w", &["install", "git"]).exits(0);
        assert_eq!(runs(&git), 1);
        git.hookrun("w", &["import", "git"])
            .exits(0)
            .prints("hooks.d/commit-msg/00-commit-msg: already exists");
        git.hookrun("w", &["doctor", "git"]).exits(0);
        git.hookrun("w", &["uninstall", "git"])
            .exits(0)
            .prints("the original hook is restored");
        assert_eq!(git.sandbox.read("w/.git/hooks/commit-msg"), TICKET);
    }
}

fn commit_empty(git: &Git, message: &str) -> Ran {
    git.run("w", &["commit", "-q", "--allow-empty", "-m", message])
}

#[test]
fn what_cannot_be_imported_from_git_s_folder_is_named() {
    let git = Git::new(Sandbox::new());
    git.run("w", &["config", "core.hooksPath", "my hooks"])
        .exits(0);
    git.hookrun("w", &["import", "git"])
        .exits(2)
        .says("`hookrun import` looks for git's hooks folder");
    for (name, text) in [
        ("pre-commit.sample", TICKET),
        ("helper.sh", "#!/bin/sh\n"),
        ("post-commit", "echo no interpreter\n"),
        (
            "post-merge",
            "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n",
        ),
        ("pre-push", "#!/usr/bin/env node\nconsole.log(1)\n"),
        (
            "commit-msg",
            "#!/bin/sh\n. \"$(dirname \"$0\")/helper.sh\"\n",
        ),
    ] {
        own_script(&git, &format!("my hooks/{name}"), text);
    }
    let at = |name: &str| git.sandbox.at("w/my hooks").join(name);
    fs::write(at("update"), TICKET).unwrap();
    fs::write(at("pre-rebase"), b"\x7fELF\xff").unwrap();
    fs::set_permissions(at("pre-rebase"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("gone", at("pre-receive")).unwrap();
    symlink("pre-push", at("post-checkout")).unwrap();
    let ran = git.hookrun("w", &["import", "git"]);
    ran.exits(0).prints("3 hooks imported\n");
    for line in [
        "my hooks/helper.sh: git runs no hook of this name",
        "my hooks/post-commit: its first line names no interpreter",
        "my hooks/post-merge: it runs pre-commit: `hookrun import pre-commit` imports its hooks",
        "my hooks/update: it is not executable",
        "my hooks/pre-rebase: it is a binary program",
        "my hooks/pre-receive: it is a link to a file that does not exist",
        "my hooks/commit-msg uses its own path",
        "my hooks/post-checkout is a link to pre-push: hooks.d has a copy",
    ] {
        ran.prints(line);
    }
    assert!(!ran.stdout.contains("sample"), "{ran:?}");
    let script = git.sandbox.read("w/hooks.d/pre-push/00-pre-push");
    assert_eq!(script, "#!/usr/bin/env node\nconsole.log(1)\n");
}
