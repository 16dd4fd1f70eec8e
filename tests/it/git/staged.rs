//! Hooks see the staged content, and their fixes are staged: the person's files stay as they are.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Git;
use crate::sandbox::{Ran, Sandbox};

/// Removes blanks at the ends of lines.
const FORMAT: &str = r#"#!/bin/sh
for file; do
    sed 's/ *\(\r\?\)$/\1/' "$file" > "$HOOKRUN_HOOK_DIR/formatted"
    cmp -s "$HOOKRUN_HOOK_DIR/formatted" "$file" || cat "$HOOKRUN_HOOK_DIR/formatted" > "$file"
done
"#;

/// Blocks files that contain `BAD`.
const LINT: &str = r#"#!/bin/sh
grep -n BAD -- "$@" && exit 1
pwd > "$HOOKRUN_HOOK_DIR/lint.pwd"
"#;

fn hook(name: &str, keys: &str) -> String {
    let event = "event = [\"commit.pre\", \"merge.pre\"]";
    let command = format!("command = \"./{name}.sh {{files}}\"");
    format!("[[hook]]\nname = \"{name}\"\n{event}\n{command}\n{keys}\n")
}

/// A repository `w` with these hooks, which are not part of it.
fn repository(hooks: &[(&str, &str, &str)]) -> Git {
    let mut table = String::new();
    let mut sandbox = Sandbox::new();
    for (name, script, keys) in hooks {
        write!(table, "{}", hook(name, keys)).unwrap();
        sandbox = sandbox.script(&format!("{name}.sh"), script);
    }
    let git = Git::new(sandbox.file("hookrun.toml", &table));
    git.hookrun("w", &["install", "git", "--all-events"])
        .exits(0);
    for cheap in ["reference-transaction", "post-index-change"] {
        let _ = fs::remove_file(git.sandbox.at(&format!("w/.git/hooks/{cheap}")));
    }
    git
}

fn formatting() -> Git {
    repository(&[
        ("format", FORMAT, "fixes = \"stage\"\npriority = 50"),
        ("lint", LINT, ""),
    ])
}

/// A text in which a change of the second line and one of the last do not meet.
fn lines(second: &str, last: &str) -> String {
    format!("1\n{second}\n3\n4\n5\n6\n7\n{last}\n")
}

impl Git {
    fn put(&self, path: &str, text: &str) {
        let file = self.sandbox.at("w").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn stage(&self, path: &str, text: &str) {
        self.put(path, text);
        self.git(&["--literal-pathspecs", "add", "--", path])
            .exits(0);
    }

    fn command_for(&self, arguments: &[&str]) -> Command {
        let mut command = self.git_command(arguments);
        self.at(&mut command, "w");
        command
    }

    fn git(&self, arguments: &[&str]) -> Ran {
        self.run("w", arguments)
    }

    #[track_caller]
    fn commits(&self, options: &[&str]) -> Ran {
        let ran = self.git(&[&["commit", "-q", "-m", "a commit"], options].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        ran
    }

    /// Asserts the text of a file in the last commit, in the index and on the disk.
    #[track_caller]
    fn has(&self, path: &str, committed: &str, staged: &str, disk: &str) {
        let shown = |name: String| self.git(&["show", &name]).stdout;
        let found = [
            shown(format!("HEAD:{path}")),
            shown(format!(":{path}")),
            fs::read_to_string(self.sandbox.at("w").join(path)).unwrap_or_default(),
        ];
        assert_eq!(found, [committed, staged, disk], "{path}");
    }

    #[track_caller]
    fn is_clean(&self) {
        assert_eq!(self.git(&["status", "--porcelain"]).stdout, "");
    }
}

#[test]
fn hooks_see_what_is_staged_and_the_disk_stays() {
    let git = repository(&[("lint", LINT, "")]);
    git.stage("a.txt", "BAD\n");
    git.put("a.txt", "good\n");
    let commit = ["commit", "-q", "-m", "a"];
    git.git(&commit).exits(1).says("1:BAD");
    assert_eq!(git.sandbox.read("w/a.txt"), "good\n");

    git.stage("a.txt", "good\n");
    git.put("a.txt", "BAD\n");
    git.commits(&[]);
    git.has("a.txt", "good\n", "good\n", "BAD\n");
    assert!(
        git.sandbox
            .read("lint.pwd")
            .ends_with("/w/.git/hookrun/tree\n")
    );

    // The disk is the staged content: nothing is copied.
    git.stage("a.txt", "better\n");
    git.commits(&[]);
    assert!(git.sandbox.read("lint.pwd").ends_with("/w\n"));
}

#[test]
fn a_hook_that_is_handed_no_files_sees_the_staged_text_of_the_commit() {
    let table = "[[hook]]\nname = \"lint\"\nevent = \"commit.pre\"\nshell = true\n\
                 command = \"git diff --cached --name-only -z | xargs -0 grep -n BAD && exit 1; exit 0\"\n";
    let git = Git::new(Sandbox::new().file("hookrun.toml", table));
    git.hookrun("w", &["install", "git"]).exits(0);
    git.stage("a.txt", "BAD\n");
    git.put("a.txt", "good\n");
    git.git(&["commit", "-q", "-m", "a"]).exits(1).says("1:BAD");
    git.stage("a.txt", "good\n");
    git.put("a.txt", "BAD\n");
    git.commits(&[]);
}

#[test]
fn a_hook_says_which_text_it_sees() {
    let git = repository(&[("lint", LINT, "sees = \"staged\"")]);
    git.stage("a.txt", "good\n");
    git.commits(&[]);
    assert!(git.sandbox.read("lint.pwd").ends_with("/tree\n"));
    let git = repository(&[("lint", LINT, "sees = \"disk\"")]);
    git.stage("a.txt", "BAD\n");
    git.put("a.txt", "good\n");
    git.commits(&[]);
    assert!(git.sandbox.read("lint.pwd").ends_with("/w\n"));
}

#[test]
fn a_hook_in_a_folder_with_gits_name_runs_as_git_runs_it() {
    let body = "pwd > \"$HOOKRUN_HOOK_DIR/../../pwd\"";
    let git = Git::new(Sandbox::new().hook_for("pre-commit", "10-pwd", body));
    git.hookrun("w", &["install", "git"]).exits(0);
    git.stage("a.txt", "1\n");
    git.put("a.txt", "2\n");
    git.commits(&[]);
    let told = "# hookrun: sees=staged\npwd > \"$HOOKRUN_HOOK_DIR/../../pwd\"";
    assert!(git.sandbox.read("pwd").ends_with("/w\n"));
    fs::remove_file(git.sandbox.at("pwd")).unwrap();
    let sandbox = git.sandbox.hook_for("pre-commit", "10-pwd", told);
    let git = Git { sandbox };
    git.stage("b.txt", "1\n");
    git.commits(&[]);
    assert!(git.sandbox.read("pwd").ends_with("/tree\n"));
}

#[test]
fn a_file_that_git_is_told_to_skip_is_read_from_the_index() {
    for bit in ["--assume-unchanged", "--skip-worktree"] {
        let git = repository(&[("lint", LINT, "")]);
        git.stage("a.txt", "BAD\n");
        git.put("a.txt", "good\n");
        git.git(&["update-index", bit, "a.txt"]).exits(0);
        git.git(&["commit", "-q", "-m", "a"]).exits(1).says("BAD");
    }
}

#[test]
fn the_folder_holds_exactly_what_is_staged() {
    let script = "#!/bin/sh\nls -A > \"$HOOKRUN_HOOK_DIR/seen\"; echo x > stray; echo y > kept.o\n";
    let git = repository(&[(
        "look",
        script,
        "sees = \"staged\"\nlink = [\"deps\", \"none\"]",
    )]);
    git.stage(".gitignore", "*.o\n/deps/\n");
    git.put("untracked.txt", "");
    git.put("deps/library", "");
    git.stage("gone.txt", "text\n");
    git.stage("new.txt", "text\n");
    git.git(&["add", "-N", "untracked.txt"]).exits(0);
    git.commits(&[]);
    assert_eq!(
        git.sandbox.read("seen"),
        ".gitignore\ndeps\ngone.txt\nnew.txt\n"
    );
    git.git(&["mv", "new.txt", "moved.txt"]).exits(0);
    git.git(&["rm", "-q", "gone.txt"]).exits(0);
    git.commits(&[]);
    assert_eq!(
        git.sandbox.read("seen"),
        ".gitignore\ndeps\nkept.o\nmoved.txt\n"
    );
    assert_eq!(git.sandbox.read("w/.git/hookrun/tree/deps/library"), "");
}

#[test]
fn fixes_are_staged_and_merged_into_what_is_not_staged() {
    let git = formatting();
    git.stage("a.txt", "one  \n");
    git.commits(&[])
        .says("hookrun: format fixed and staged a.txt\n");
    git.has("a.txt", "one\n", "one\n", "one\n");
    git.is_clean();

    git.stage("b.txt", &lines("2  ", "8"));
    git.put("b.txt", &lines("2  ", "mine  "));
    git.commits(&[])
        .says("format fixed and staged b.txt; merged with unstaged changes: b.txt\n");
    git.has(
        "b.txt",
        &lines("2", "8"),
        &lines("2", "8"),
        &lines("2", "mine  "),
    );
    git.git(&["checkout", "-q", "b.txt"]).exits(0);

    // A conflict leaves the disk alone.
    git.stage("c.txt", "one  \n");
    git.put("c.txt", "mine  \n");
    git.commits(&[])
        .says("not changed on disk: c.txt (other changes in the same lines)\n");
    git.has("c.txt", "one\n", "one\n", "mine  \n");
}

#[test]
fn every_way_to_commit_gets_the_fixes() {
    let git = formatting();
    git.stage("a.txt", "1\n");
    git.stage("b.txt", "1\n");
    git.commits(&[]);

    git.put("a.txt", "1\n2  \n");
    git.commits(&["-a"]);
    git.has("a.txt", "1\n2\n", "1\n2\n", "1\n2\n");
    git.is_clean();

    // git's own index has more than the commit.
    git.put("a.txt", "1\n2\n3  \n");
    git.stage("b.txt", "1\n2  \n");
    git.commits(&["--", "a.txt"]);
    git.has("a.txt", "1\n2\n3\n", "1\n2\n3\n", "1\n2\n3\n");
    git.has("b.txt", "1\n", "1\n2  \n", "1\n2  \n");
    git.commits(&["--amend"]);
    git.has("b.txt", "1\n2\n", "1\n2\n", "1\n2\n");
    git.is_clean();

    git.put("a.txt", "0\n1\n2\n3\n4  \n");
    let mut patch = git.command_for(&["commit", "-q", "-m", "p", "-p"]);
    let mut child = patch
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"s\nn\ny\n").unwrap();
    assert!(child.wait().unwrap().success());
    git.has("a.txt", "1\n2\n3\n4\n", "1\n2\n3\n4\n", "0\n1\n2\n3\n4\n");
}

#[test]
fn a_merge_that_git_commits_itself_takes_no_fixes_and_git_commit_completes_it() {
    let git = formatting();
    git.stage("a.txt", "1\n");
    git.commits(&[]);
    git.git(&["switch", "-q", "-c", "topic"]).exits(0);
    git.stage("b.txt", "1  \n");
    git.commits(&["--no-verify"]);
    git.git(&["switch", "-q", "main"]).exits(0);
    git.stage("c.txt", "1\n");
    git.commits(&[]);
    git.git(&["merge", "-q", "--no-edit", "topic"])
        .exits(1)
        .says("`format` would change b.txt, and git does not include fixes here");
    git.git(&["commit", "-q", "--no-edit"]).exits(0);
    git.has("b.txt", "1\n", "1\n", "1\n");
    git.is_clean();
}

#[test]
fn a_patch_is_checked_as_it_is_staged_and_takes_no_fixes() {
    let table = hook("format", "fixes = \"stage\"") + &hook("lint", "");
    let table = table.replace("\"merge.pre\"", "\"patch.pre\"");
    let sandbox = Sandbox::new().file("hookrun.toml", &table);
    let sandbox = sandbox.script("format.sh", FORMAT).script("lint.sh", LINT);
    let git = Git::new(sandbox);
    git.stage("a.txt", &lines("2", "8"));
    git.stage("b.txt", "b\n");
    git.commits(&[]);
    for (name, second) in [
        ("clean", "clean"),
        ("blanks", "blanks  "),
        ("other", "other"),
    ] {
        git.git(&["checkout", "-q", "-b", name, "main"]).exits(0);
        git.stage("a.txt", &lines(second, "8"));
        git.commits(&[]);
        let patch = git.git(&["format-patch", "-1", "--stdout"]).stdout;
        fs::write(git.sandbox.at(name), patch).unwrap();
    }
    git.git(&["checkout", "-q", "main"]).exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    git.put("b.txt", "mine  \n");

    git.git(&["am", "-q", "../blanks"])
        .exits(1)
        .says("`format` would change a.txt, and git does not include fixes here");
    let blanks = lines("blanks  ", "8");
    git.has("a.txt", &lines("2", "8"), &blanks, &blanks);
    git.git(&["am", "--abort"]).exits(0);
    git.git(&["am", "-q", "../clean"]).exits(0);

    // The person settles a conflict, and changes the file once more.
    assert_ne!(git.git(&["am", "-q", "-3", "../other"]).status, 0);
    git.stage("a.txt", "BAD\n");
    git.put("a.txt", "good\n");
    git.git(&["am", "--continue"]).exits(1).says("1:BAD");
    git.stage("a.txt", "good\n");
    git.put("a.txt", "BAD\n");
    git.git(&["am", "--continue"]).exits(0);
    git.has("a.txt", "good\n", "good\n", "BAD\n");
    git.has("b.txt", "b\n", "b\n", "mine  \n");
}

#[test]
fn a_rebase_and_a_cherry_pick_commit_what_is_fixed() {
    let git = formatting();
    git.stage("a.txt", "1\n");
    git.commits(&[]);
    git.git(&["switch", "-q", "-c", "topic"]).exits(0);
    git.stage("a.txt", "topic  \n");
    git.commits(&["--no-verify"]);
    git.git(&["switch", "-q", "main"]).exits(0);
    git.stage("a.txt", "main\n");
    git.commits(&[]);
    for start in [["cherry-pick", "topic"], ["rebase", "topic"]] {
        let before = git.head("w");
        git.git(&start).exits(1);
        git.stage("a.txt", "both  \n");
        git.git(&["commit", "-q", "--no-edit"])
            .exits(0)
            .says("format fixed and staged a.txt");
        git.has("a.txt", "both\n", "both\n", "both\n");
        git.is_clean();
        if start[0] == "rebase" {
            git.git(&["rebase", "--continue"]).exits(0);
        }
        git.git(&["reset", "-q", "--hard", &before]).exits(0);
    }
}

#[test]
fn modes_links_and_submodules_stay_as_they_are() {
    let git = formatting();
    git.run(".", &["init", "-q", "sub"]).exits(0);
    git.run("sub", &["commit", "-q", "--allow-empty", "-m", "x"])
        .exits(0);
    git.stage("run.txt", "#!/bin/sh  \n");
    let file = git.sandbox.at("w/run.txt");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.txt", git.sandbox.at("w/link.txt")).unwrap();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        "../sub",
    ];
    git.git(&add).exits(0);
    git.stage("old.txt", "text  \n");
    git.stage("gone.txt", "text\n");
    git.git(&["add", "-A"]).exits(0);
    git.git(&["config", "submodule.recurse", "true"]).exits(0);
    git.commits(&["--no-verify"]);
    git.git(&["mv", "old.txt", "new.txt"]).exits(0);
    git.git(&["rm", "-q", "gone.txt"]).exits(0);
    git.stage("run.txt", &lines("2  ", "8"));
    git.put("run.txt", &lines("2  ", "mine  "));
    git.commits(&[]);
    git.has(
        "run.txt",
        &lines("2", "8"),
        &lines("2", "8"),
        &lines("2", "mine  "),
    );
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    let tree = git.git(&["ls-tree", "-r", "HEAD"]).stdout;
    for mode in ["100755 blob", "120000 blob", "160000 commit"] {
        assert!(tree.contains(mode), "{tree}");
    }
    assert!(
        tree.contains("\tnew.txt") && !tree.contains("\told.txt"),
        "{tree}"
    );
    assert_eq!(
        fs::read_link(git.sandbox.at("w/link.txt")).unwrap(),
        Path::new("run.txt")
    );
}

#[test]
fn names_of_any_kind_are_fixed() {
    let git = formatting();
    let names = [
        "0\n.txt",
        "a b.txt",
        "-dash.txt",
        "q\"'$x.txt",
        "ä/ü.txt",
        ":(top).txt",
        "*.txt",
    ];
    for name in names {
        git.stage(name, &lines("2  ", "8"));
        git.put(name, &lines("2  ", "mine  "));
    }
    git.commits(&[]).says("staged *.txt, -dash.txt, 0\\n.txt, ");
    for name in names {
        git.has(
            name,
            &lines("2", "8"),
            &lines("2", "8"),
            &lines("2", "mine  "),
        );
    }
}

#[test]
fn line_ends_and_filters_are_those_of_git() {
    let git = formatting();
    git.git(&["config", "core.autocrlf", "true"]).exits(0);
    git.git(&["config", "filter.large.clean", "sed 's/^large: //'"])
        .exits(0);
    git.git(&["config", "filter.large.smudge", "sed 's/^/large: /'"])
        .exits(0);
    git.stage(".gitattributes", "*.large filter=large\n");
    git.stage("a.txt", "one \n");
    git.put("a.txt", "one\r\n");
    git.stage("b.large", "large: text  \n");
    git.put("b.large", "large: text  \nlarge: 2\nlarge: 3\nlarge: 4\n");
    git.stage("c.large", "large: text  \n");
    git.commits(&[]);
    git.has("a.txt", "one\n", "one\n", "one\r\n");
    git.has("c.large", "text\n", "text\n", "large: text\r\n");
    assert_eq!(git.git(&["show", "HEAD:b.large"]).stdout, "text\n");
    assert!(git.sandbox.read("w/b.large").contains("large: 4"));
}

#[test]
fn a_linked_work_tree_and_a_sparse_one_have_folders_of_their_own() {
    let git = formatting();
    git.stage("in/a.txt", "1\n");
    git.stage("out/b.txt", "1\n");
    git.commits(&[]);
    git.git(&["worktree", "add", "-q", "../linked", "-b", "linked"])
        .exits(0);
    git.run("linked", &["sparse-checkout", "set", "in"])
        .exits(0);
    let file = git.sandbox.at("linked/in/a.txt");
    fs::write(&file, "1\n2  \n").unwrap();
    git.run("linked", &["commit", "-q", "-a", "-m", "x"])
        .exits(0)
        .says("fixed and staged in/a.txt");
    assert_eq!(fs::read_to_string(file).unwrap(), "1\n2\n");
    let folder = git.sandbox.at("w/.git/worktrees/linked/hookrun/tree");
    assert!(folder.join("in/a.txt").exists() && !folder.join("out").exists());
    assert!(
        git.sandbox
            .read("w/.git/worktrees/linked/gitdir")
            .ends_with("/linked/.git\n")
    );
    git.git(&["worktree", "remove", "../linked"]).exits(0);
    assert!(!folder.exists());
}

#[test]
fn a_blocked_commit_stages_nothing() {
    let git = formatting();
    git.stage("a.txt", "one  \nBAD  \n");
    git.put("a.txt", "one  \nBAD  \n\n\nmine\n");
    git.git(&["commit", "-q", "-m", "x"]).exits(1).says("BAD");
    assert_eq!(git.git(&["show", ":a.txt"]).stdout, "one  \nBAD  \n");
    assert_eq!(git.sandbox.read("w/a.txt"), "one  \nBAD  \n\n\nmine\n");
}

#[test]
fn a_fixer_that_exits_with_an_error_runs_again_on_its_result() {
    let fails = "#!/bin/sh\necho run >> \"$HOOKRUN_HOOK_DIR/runs\"\n\
                 grep -q OPEN a.txt && { echo 'it is open' >&2; sed -i 's/WRONG/right/' a.txt; exit 1; }\n\
                 grep -q WRONG a.txt && { sed -i 's/WRONG/right/' a.txt; exit 1; }\nexit 0\n";
    let git = repository(&[("fix", fails, "fixes = \"stage\"")]);
    git.stage("a.txt", "WRONG\n");
    git.commits(&[]).says("fix fixed and staged a.txt");
    git.has("a.txt", "right\n", "right\n", "right\n");
    assert_eq!(git.sandbox.read("runs"), "run\nrun\n");
    git.stage("a.txt", "WRONG OPEN\n");
    git.git(&["commit", "-q", "-m", "x"])
        .exits(1)
        .says("it is open");
    assert_eq!(git.sandbox.read("w/a.txt"), "WRONG OPEN\n");
    assert_eq!(git.sandbox.read("runs").len(), 4 * 4);
}

#[test]
fn a_second_fixer_and_a_check_see_what_the_first_has_fixed() {
    let first = "#!/bin/sh\nsed -i 's/^1$/one/' a.txt\n";
    let second = "#!/bin/sh\ngrep -q '^one$' a.txt && sed -i 's/^2$/two/' a.txt\n";
    let check = "#!/bin/sh\ngrep -q one a.txt && grep -q two a.txt\n";
    let git = repository(&[
        (
            "first",
            first,
            "fixes = \"stage\"\npriority = 1\nparallel = true",
        ),
        (
            "second",
            second,
            "fixes = \"stage\"\npriority = 2\nparallel = true",
        ),
        ("check", check, ""),
    ]);
    git.stage("a.txt", "1\n2\n");
    git.commits(&[])
        .says("first, second fixed and staged a.txt\n");
    git.has("a.txt", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n");
}

#[test]
fn what_a_check_changes_is_in_neither_the_commit_nor_the_disk() {
    let strays = "#!/bin/sh\necho more >> a.txt\n";
    let git = repository(&[
        ("format", FORMAT, "fixes = \"stage\"\npriority = 1"),
        ("stray", strays, ""),
    ]);
    git.stage("a.txt", "text  \n");
    git.commits(&[]);
    git.has("a.txt", "text\n", "text\n", "text\n");
}

#[test]
fn what_a_hook_changes_on_the_disk_hides_nothing_from_the_next() {
    let hides = "#!/bin/sh\nsed -i 's/BAD/good/' \"$HOOKRUN_HOOK_DIR/w/a.txt\"\n";
    let git = repository(&[("hide", hides, "priority = 1"), ("lint", LINT, "")]);
    git.stage("a.txt", "BAD\n");
    git.git(&["commit", "-q", "-m", "x"]).exits(1).says("1:BAD");
}

#[test]
fn what_a_hook_may_not_change_blocks_with_its_name() {
    let strays = "#!/bin/sh\necho more >> other.txt\n";
    let git = repository(&[("stray", strays, "fixes = \"stage\"")]);
    git.stage("other.txt", "text\n");
    git.commits(&["--no-verify"]);
    git.stage("a.txt", "text\n");
    git.git(&["commit", "-q", "-m", "x"])
        .exits(1)
        .says("`stray` changed other.txt; a hook with `fixes` may change only");
    assert_eq!(git.sandbox.read("w/other.txt"), "text\n");

    let git = repository(&[("format", FORMAT, "fixes = \"block\"")]);
    git.stage("a.txt", "text  \n");
    git.git(&["commit", "-q", "-m", "x"])
        .exits(1)
        .says("`format` would change a.txt, so run it and stage the result");
    assert_eq!(git.sandbox.read("w/a.txt"), "text  \n");

    let deletes = "#!/bin/sh\nrm a.txt\n";
    let git = repository(&[("delete", deletes, "fixes = \"stage\"")]);
    git.stage("a.txt", "text\n");
    git.git(&["commit", "-q", "-m", "x"])
        .exits(1)
        .says("`delete` changed a.txt; a hook with `fixes` may change only");
    assert_eq!(git.sandbox.read("w/a.txt"), "text\n");
}

#[test]
fn a_failed_fixer_leaves_nothing_in_the_commit() {
    let crashes = "#!/bin/sh\necho half > a.txt; kill -9 $$\n";
    let git = repository(&[
        (
            "crash",
            crashes,
            "fixes = \"stage\"\non_failure = \"allow\"\npriority = 1",
        ),
        ("check", "#!/bin/sh\ngrep -q whole a.txt\n", ""),
    ]);
    git.stage("a.txt", "whole\n");
    git.put("a.txt", "whole, mine\n");
    git.commits(&[]);
    git.has("a.txt", "whole\n", "whole\n", "whole, mine\n");
}

#[test]
fn a_hook_of_the_project_runs_what_was_trusted() {
    let git = Git::new(Sandbox::new());
    let table = "[[hook]]\nname = \"check\"\nevent = \"commit.pre\"\n\
                 command = \"sh ci/check.sh\"\n";
    git.put("hookrun.toml", table);
    git.put("ci/check.sh", "grep -q BAD a.txt && exit 1; exit 0\n");
    git.hookrun("w", &["install", "git"]).exits(0);
    git.stage("ci/check.sh", "exit 0\n");
    git.put("ci/check.sh", "grep -q BAD a.txt && exit 1; exit 0\n");
    git.stage("a.txt", "BAD\n");
    git.put("a.txt", "good\n");
    git.git(&["commit", "-q", "-m", "x"])
        .exits(1)
        .says("blocked by hook `check`");
}

#[test]
fn a_folder_that_cannot_be_made_or_is_taken_blocks_with_the_reason() {
    let git = formatting();
    git.stage("a.txt", "text\n");
    let folder = git.sandbox.at("w/.git/hookrun");
    fs::write(&folder, "").unwrap();
    git.git(&["commit", "-q", "-m", "x"])
        .exits(1)
        .says("cannot create `")
        .says(".git/hookrun");
    fs::remove_file(&folder).unwrap();

    fs::create_dir(&folder).unwrap();
    let lock = fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let run = ["run", "--host", "git", "pre-commit", "--budget", "500ms"];
    git.hookrun("w", &run)
        .exits(1)
        .says("another commit in this working tree was still being checked after 500ms");
    drop(lock);

    // What a killed run has left does not matter.
    git.commits(&[]);
    git.stage("a.txt", "text  \n");
    fs::write(folder.join("index"), "broken").unwrap();
    fs::write(folder.join("index.lock"), "").unwrap();
    fs::write(folder.join("staged.lock"), "").unwrap();
    fs::write(folder.join("tree/a.txt"), "left\n").unwrap();
    git.commits(&[]);
    git.has("a.txt", "text\n", "text\n", "text\n");
}

#[test]
fn an_index_that_stays_locked_blocks_and_changes_nothing() {
    let git = formatting();
    git.stage("a.txt", "text  \n");
    fs::write(git.sandbox.at("w/.git/index.lock"), "").unwrap();
    git.hookrun("w", &["run", "--host", "git", "pre-commit"])
        .exits(1)
        .says("git cannot stage the fixes: ")
        .says("index.lock");
    assert_eq!(git.sandbox.read("w/a.txt"), "text  \n");
}

#[test]
fn keys_about_staged_text_are_checked() {
    for (keys, why) in [
        (
            "event = \"tool.pre\"\nfixes = \"stage\"",
            "`fixes` has no effect: `tool.pre` has no staged content",
        ),
        ("event = \"commit.pre\"\nfixes = \"all\"", "`fixes`"),
        (
            "event = \"commit.pre\"\nfixes = \"block\"",
            "`fixes` has no effect without files",
        ),
        (
            "event = \"commit.pre\"\nfiles = true\nfixes = \"stage\"\nsees = \"disk\"",
            "`fixes` cannot be used with",
        ),
        (
            "event = \"commit.pre\"\nlink = [\"a\"]\nsees = \"disk\"",
            "`link` cannot be used with",
        ),
        (
            "event = \"commit.pre\"\nlink = [\"../a\"]",
            "`link` cannot be `../a`",
        ),
    ] {
        let table = format!("[[hook]]\nname = \"x\"\ncommand = \"true\"\n{keys}\n");
        let problems = Sandbox::new().file("hookrun.toml", &table).problems(&[]);
        assert!(
            problems.iter().any(|one| one.contains(why)),
            "{keys}: {problems:?}"
        );
    }
}

/// SIGKILL to everything at random moments of a commit: the person's files are what they were, or
/// have the fixes that were staged. `HOOKRUN_KILLS` says how often.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    #[expect(clippy::disallowed_methods, reason = "a test that runs longer by hand")]
    let kills = std::env::var("HOOKRUN_KILLS").ok();
    let kills: u64 = kills.map_or(20, |text| text.parse().unwrap());
    let git = formatting();
    let names: Vec<String> = (0..8).map(|number| format!("f{number}.txt")).collect();
    git.stage("untracked-first.txt", "1\n");
    git.commits(&[]);
    git.put("untracked.txt", "mine  \n");
    let mut whole: Option<Duration> = None;
    for kill in 0..=kills {
        let wanted = lines(&format!("{kill}  "), "8");
        let fixed = lines(&kill.to_string(), "8");
        let mine = lines(&format!("{kill}  "), "mine  ");
        let merged = lines(&kill.to_string(), "mine  ");
        for name in &names {
            git.stage(name, &wanted);
            git.put(name, &mine);
        }
        let before = git.head("w");
        let mut command = git.command_for(&["commit", "-q", "-m", "a commit"]);
        let mut child = std::os::unix::process::CommandExt::process_group(&mut command, 0)
            .spawn()
            .unwrap();
        match whole {
            // The first one is not killed: it says how long a commit takes.
            None => {
                let started = Instant::now();
                assert!(child.wait().unwrap().success());
                whole = Some(started.elapsed());
            }
            Some(whole) => {
                let part = f64::from(u32::try_from(kill * 7919 % 1000).unwrap()) / 1000.0;
                std::thread::sleep(whole.mul_f64(part));
            }
        }
        kill_all(&git, &mut child);
        for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
            let _ = fs::remove_file(git.sandbox.at("w/.git").join(lock));
        }
        let is_committed = git.head("w") != before;
        assert_eq!(git.sandbox.read("w/untracked.txt"), "mine  \n");
        for name in &names {
            let staged = git.git(&["show", &format!(":{name}")]).stdout;
            let disk = git.sandbox.read(&format!("w/{name}"));
            assert!(
                staged == wanted || staged == fixed,
                "{kill} {name}: {staged}"
            );
            assert!(
                disk == mine || (disk == merged && staged == fixed),
                "{kill} {name}: {disk}"
            );
            assert!(!is_committed || staged == fixed, "{kill} {name}");
        }
        let listed = git
            .git(&["status", "--porcelain", "--untracked-files=all"])
            .stdout;
        let strangers = listed.lines().filter(|line| line.starts_with("??"));
        assert_eq!(strangers.collect::<Vec<_>>(), ["?? untracked.txt"]);
        git.git(&["reset", "-q"]).exits(0);
    }
    // The next commit works.
    for name in &names {
        git.stage(name, "1  \n");
    }
    git.commits(&[]);
    git.has("f0.txt", "1\n", "1\n", "1\n");
}

/// Kills every process whose environment names the sandbox, until there is none.
fn kill_all(git: &Git, child: &mut std::process::Child) {
    let here = git.sandbox.path().as_os_str().to_str().unwrap().as_bytes();
    loop {
        let mut is_done = true;
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let name = process.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let status = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            let is_dead = status.contains(") Z ");
            if !is_dead && environment.windows(here.len()).any(|part| part == here) {
                let _ = nix::sys::signal::kill(
                    nix::unistd::Pid::from_raw(pid),
                    nix::sys::signal::Signal::SIGKILL,
                );
                is_done = false;
            }
        }
        if is_done {
            break;
        }
    }
    child.wait().unwrap();
}
