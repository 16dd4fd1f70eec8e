//! The hooks that a new user of git begins with: built-in ones and templates.

use std::fs;
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
        .says("`20-lint.sh`: biome is not installed; to install it: npm install --save-dev @biomejs/biome\n");
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
    let why = "`30-no-large-files.sh`: data/a b has 1048577 bytes; the limit is 1048576\nkeep large files in Git LFS";
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
