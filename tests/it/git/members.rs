//! Folders of a repository with their own hooks.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::Git;
use crate::sandbox::{Ran, Sandbox};

const ROOT: &str = r#"
[project]
members = ["web", "services/*"]

[[hook]]
name = "lint"
event = "commit.pre"
command = "sh -c 'echo root: \"$@\" >&2' sh {files}"
"#;

const WEB: &str = r#"
[[hook]]
name = "lint"
event = ["commit.pre", "push.pre"]
command = "sh -c 'echo web: \"$@\" >&2; if grep -n BAD \"$@\" >&2; then exit 1; fi' sh {files}"
match = { path = "src/**" }

[[hook]]
name = "trim"
event = "commit.pre"
command = "sed -i 's, *$,,' {files}"
match = { path = "src/**" }
fixes = "stage"
"#;

/// Keeps what it gets, and what its environment says.
const KEEP: &str = r#"#!/bin/sh
# hookrun: reads=stdin
{ cat; printf '%s\n' "$HOOKRUN_CHANGES" "$HOOKRUN_PROJECT_DIR"; pwd; } > "$HOOKRUN_HOOK_DIR/../../../../../seen"
"#;

/// A repository with hooks in its root, in `web` and in `services/api`.
fn repository(sandbox: Sandbox) -> Git {
    let git = Git::new(
        sandbox
            .file("w/hookrun.toml", ROOT)
            .file("w/web/hookrun.toml", WEB)
            .file("w/services/docs/a.txt", "")
            .script("w/services/api/hooks.d/commit.pre/10-keep.sh", KEEP),
    );
    git.hookrun("w", &["install", "git"]);
    git.commit(&["--no-verify"]).exits(0);
    git
}

impl Git {
    fn change(&self, path: &str, text: &str) {
        fs::create_dir_all(self.sandbox.at("w").join(path).parent().unwrap()).unwrap();
        fs::write(self.sandbox.at("w").join(path), text).unwrap();
    }
}

fn check(git: &Git, words: &[&str]) -> Ran {
    git.hookrun("w", &[&["check"], words].concat())
}

#[test]
fn a_member_brings_its_hooks_where_its_files_change() {
    let git = repository(Sandbox::new());
    git.change("a.ts", "BAD\n");
    git.change("src/a.ts", "BAD\n");
    let ran = git.commit(&[]);
    ran.exits(0).says("root: a.ts src/a.ts");
    assert!(!ran.stderr.contains("web:"), "{ran:?}");

    git.change("web/src/a.ts", "BAD\n");
    git.change("web/a.ts", "BAD\n");
    git.commit(&[])
        .exits(1)
        .says("pre-commit blocked by hook `web:lint`: web: src/a.ts\n1:BAD");

    git.change("web/src/a.ts", "good\n");
    git.commit(&[]).exits(0).says("web:lint: web: src/a.ts");
    git.run("w", &["push", "-q", "origin", "main"])
        .exits(0)
        .says("web:lint: web: src/a.ts");
}

#[test]
fn members_see_and_fix_the_staged_text() {
    let git = repository(Sandbox::new());
    git.change("web/src/a.ts", "good  \n\n\n\n1\n");
    git.run("w", &["add", "-A"]).exits(0);
    git.change("web/src/a.ts", "good  \n\n\n\nBAD\n");
    git.run("w", &["commit", "-q", "-m", "a"])
        .exits(0)
        .says("web:trim fixed and staged web/src/a.ts");
    let committed = git.run("w", &["show", "HEAD:web/src/a.ts"]).stdout;
    assert_eq!(committed, "good\n\n\n\n1\n");
    assert_eq!(git.sandbox.read("w/web/src/a.ts"), "good\n\n\n\nBAD\n");
}

#[test]
fn a_member_gets_the_event_of_its_folder() {
    let git = repository(Sandbox::new());
    git.change("services/api/old.py", "1\n2\n3\n4\n");
    git.change("services/api/gone.py", "5\n6\n7\n8\n");
    git.commit(&["--no-verify"]).exits(0);
    git.change("services/api/new.py", "");
    let moves = [
        ["services/api/old.py", "services/api/sub.py"],
        ["services/api/gone.py", "web/gone.py"],
    ];
    for [from, to] in moves {
        git.run("w", &["mv", from, to]).exits(0);
    }
    git.commit(&[]).exits(0);
    let seen = git.sandbox.read("seen");
    let (event, rest) = seen.split_once('\n').unwrap();
    let event: Value = serde_json::from_str(event).unwrap();
    let folder = git.sandbox.at("w/services/api");
    let folder = folder.to_str().unwrap();
    assert_eq!(event["cwd"], folder);
    let changes = json!([
        { "path": "gone.py", "status": "R", "to": "../../web/gone.py" },
        { "path": "new.py", "status": "A" },
        { "path": "old.py", "status": "R", "to": "sub.py" },
        { "path": "sub.py", "status": "A" },
    ]);
    let mut found = event["changes"].clone();
    let list = found.as_array_mut().unwrap();
    list.sort_by_key(|change| change["path"].as_str().unwrap().to_string());
    for change in list {
        change.as_object_mut().unwrap().remove("mode");
    }
    assert_eq!(found, changes);
    assert_eq!(event["action"]["paths"][0], event["changes"][0]["path"]);
    let mut lines: Vec<&str> = rest.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            folder,
            folder,
            "A\tnew.py",
            "A\tsub.py",
            "R\tgone.py",
            "R\told.py"
        ]
    );
}

#[test]
fn a_check_names_hooks_with_or_without_their_member() {
    let git = repository(Sandbox::new());
    git.change("web/src/a.ts", "BAD\n");
    git.run("w", &["add", "-A"]).exits(0);
    let found = "hookrun: check blocked by hook `web:lint`: web: src/a.ts\n1:BAD";
    for words in [&["--all"][..], &["lint"], &["web:lint"], &["web/src/a.ts"]] {
        check(&git, words).exits(1).says(found);
    }
    git.hookrun("w/web", &["check", "--all", "lint"])
        .exits(1)
        .says(found);
    check(&git, &["--all", "--skip", "web:lint"]).exits(0);
    check(&git, &["docs"]).exits(1).says("`docs` is neither a");
    let mut skipping = git.sandbox.command(&["check", "--all"]);
    skipping.env("HOOKRUN_SKIP", "lint");
    git.command(skipping, "w")
        .exits(0)
        .says("skip lint (HOOKRUN_SKIP)\n")
        .says("skip web:lint (HOOKRUN_SKIP)\n");
    for (file, name) in [("w/web", "lint"), ("w", "\"web:lint\"")] {
        let local = git.sandbox.at(file).join("hookrun.local.toml");
        fs::write(&local, format!("[hook.{name}]\nenabled = false\n")).unwrap();
        let ran = check(&git, &["web/src/a.ts"]);
        ran.exits(0).says("skip web:lint (hookrun.local.toml)");
        assert!(ran.stderr.contains("root:"), "{ran:?}");
        fs::remove_file(local).unwrap();
    }
}

#[test]
fn findings_of_a_member_name_files_of_the_repository() {
    let git = repository(Sandbox::new().script(
        "w/web/hooks.d/commit.pre/50-find.sh",
        "#!/bin/sh\necho '{\"findings\":[{\"path\":\"src/a.ts\",\"line\":2,\"message\":\"long\"}]}'\n",
    ));
    git.change("web/src/a.ts", "good\n");
    check(&git, &["50-find.sh", "web/src/a.ts", "--format", "github"])
        .exits(0)
        .prints("::error file=web/src/a.ts,line=2,title=web%3A50-find.sh::long\n");
}

#[test]
fn a_hook_with_a_working_directory_sees_only_that_folder() {
    let keys = "cwd = \"web\"\nmatch = { path = \"src/**\" }\nsees = \"staged\"\n";
    let table = "[[hook]]\nname = \"in-web\"\nevent = \"commit.pre\"\nfiles = true\n\
        command = \"sh -c 'echo $(basename $PWD): $HOOKRUN_EVENT $* >&2' sh\"\n";
    let table = format!("{table}{keys}");
    let git = Git::new(Sandbox::new().file("w/hookrun.toml", &table));
    git.hookrun("w", &["install", "git"]).exits(0);
    git.hookrun("w", &["list"])
        .says("warning: hookrun.toml:1:1: the `cwd` of `in-web` is not a folder in the project");
    git.change("src/a.ts", "");
    let ran = git.commit(&[]);
    assert_eq!(ran.exits(0).stderr, "");
    git.change("web/src/a.ts", "");
    git.change("web/b.ts", "");
    git.commit(&[])
        .exits(0)
        .says("in-web: web: commit.pre src/a.ts\n");
    git.hookrun("w", &["list", "in-web"])
        .prints("cwd         web\n");
    let outside = table.replace("\"web\"", "\"../web\"");
    let sandbox = Sandbox::new().file("hookrun.toml", &outside);
    sandbox
        .hookrun(&["list"], b"")
        .says("`cwd` cannot be `../web`");
}

#[test]
fn one_trust_covers_members_and_a_changed_hook_of_one_blocks() {
    let git = repository(Sandbox::new().without_trust());
    git.change("a.txt", "");
    git.commit(&[]).exits(1).says("hooks not trusted");
    let shown = git.hookrun("w", &["trust", "--show"]).stdout;
    assert!(
        shown.contains("  commit.pre       web:lint, web:trim\n"),
        "{shown}"
    );
    for digest in shown
        .split_whitespace()
        .filter(|word| word.starts_with("sha256:"))
    {
        git.hookrun("w", &["trust", "--digest", digest]).exits(0);
    }
    git.hookrun("w", &["trust", "--show"]).exits(0);
    git.commit(&[]).exits(0);

    git.change("web/hookrun.toml", &WEB.replace("exit 1", "exit 0"));
    git.change("b.txt", "");
    git.commit(&[])
        .exits(1)
        .says("hooks changed: run `hookrun trust`");
    fs::remove_file(git.sandbox.at("w/web/hookrun.toml")).unwrap();
    git.commit(&[])
        .exits(1)
        .says("hooks changed: run `hookrun trust`");
}

#[test]
fn members_are_listed_and_their_cases_played() {
    let git = repository(Sandbox::new().file(
        "w/web/tests/lint.toml",
        "[[case]]\nname = \"bad\"\nevent = \"commit.pre\"\nhook = \"lint\"\n\
         files = { \"src/a.ts\" = \"BAD\" }\ncontext = { changes = [{ path = \"src/a.ts\", status = \"A\" }] }\nexpect = { decision = \"block\" }\n",
    ));
    let listed = git.hookrun("w", &["list"]);
    listed
        .prints("lint                     every event")
        .prints("web:lint                 path src/**")
        .prints("services/api:10-keep.sh  every event");
    git.hookrun("w", &["list", "web:trim"])
        .exits(0)
        .prints("fixes");
    git.hookrun("w", &["test"])
        .exits(0)
        .prints("web/tests/lint.toml: 1 case\n");
}

#[test]
fn what_cannot_be_a_member_is_named_with_its_line() {
    let link = Sandbox::new().file("real/hookrun.toml", WEB);
    symlink(link.at("real"), link.at("linked")).unwrap();
    let nested = format!("[project]\nmembers = [\"x\"]\n{WEB}");
    let sandbox = link
        .file("nested/hookrun.toml", &nested)
        .file("plain/a.txt", "")
        .file("other/hookrun.toml", WEB)
        .file("other/.git", "gitdir: ../.git/modules/other\n")
        .file(
            "late/hookrun.toml",
            "[[hook]]\nname = \"x\"\nevent = \"commit.msg\"\ncommand = \"true\"\n",
        );
    for (members, problem) in [
        (
            "missing",
            "error: hookrun.toml:2:12: the member `missing` is not a folder",
        ),
        (
            "linked",
            "error: hookrun.toml:2:12: the member `linked` is behind a link",
        ),
        (
            "link*",
            "warning: hookrun.toml:2:12: the member `linked` is behind a link",
        ),
        (
            "other",
            "error: hookrun.toml:2:12: the member `other` is another repository",
        ),
        (
            "plain",
            "warning: hookrun.toml:2:12: the member `plain` has no hooks",
        ),
        (
            "no*",
            "warning: hookrun.toml:2:12: `no*` in `members` matches no folder",
        ),
        (
            "nested",
            "error: nested/hookrun.toml:2:12: only the root of a project can have members",
        ),
        (
            "late",
            "warning: late/hookrun.toml:1:1: `x` does not run, because `commit.msg` has no `changes`",
        ),
        (
            "../x",
            "error: hookrun.toml:2:12: `members` cannot contain `../x`",
        ),
        (
            "/x",
            "error: hookrun.toml:2:12: `members` cannot contain `/x`",
        ),
        (
            "a/**",
            "error: hookrun.toml:2:12: `members` cannot contain `a/**`",
        ),
        ("", "error: hookrun.toml:2:12: `members` cannot contain ``"),
        (
            "[",
            "error: hookrun.toml:2:12: `members` cannot contain `[`",
        ),
    ] {
        let manifest = format!("[project]\nmembers = [\"{members}\"]\n");
        fs::write(sandbox.at("hookrun.toml"), manifest).unwrap();
        let ran = sandbox.hookrun(&["list"], b"");
        ran.says(problem);
        let blocks = i32::from(problem.starts_with("error")) * 2;
        sandbox.run("commit.pre").exits(blocks);
    }
    fs::write(
        sandbox.at("hookrun.toml"),
        "[project]\nmember = \"plain\"\n",
    )
    .unwrap();
    sandbox
        .hookrun(&["list"], b"")
        .says("did you mean `members`?");
    let users = sandbox.file("home/.config/hookrun/hookrun.toml", &nested);
    users
        .hookrun(&["list"], b"")
        .says("only the root of a project can have members");
}
