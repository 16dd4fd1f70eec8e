//! The files of a commit or a push, handed to hooks as arguments.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use super::Git;
use crate::sandbox::{Ran, Sandbox};

/// Writes each argument to `FILE`, with a NUL after it, and an empty one after each call.
const LISTER: &str = "printf '%s\\0' \"$@\" '' >> \"$0.seen\"";

/// A repository with a hook at `event` that is handed files and has these other settings.
fn lister(event: &str, settings: &str) -> Git {
    let body = format!("# hookrun: files {settings}\n{LISTER}");
    Git::new(Sandbox::new().hook_for(event, "list", &body))
}

/// What the hook of `event` was handed in all of its calls since this was asked last.
fn calls(git: &Git, event: &str) -> Vec<Vec<String>> {
    let file = git.sandbox.at(&format!("hooks.d/{event}/list.seen"));
    let seen = fs::read(&file).unwrap_or_default();
    let _ = fs::remove_file(file);
    let mut calls = vec![Vec::new()];
    let words = seen.split(|byte| *byte == 0);
    for word in words.map(|word| word.escape_ascii().to_string()) {
        if word.is_empty() {
            calls.push(Vec::new());
        } else {
            calls.last_mut().unwrap().push(word);
        }
    }
    calls.retain(|call| !call.is_empty());
    calls
}

/// What it was handed in its only call.
fn handed(git: &Git, event: &str) -> Vec<String> {
    let mut calls = calls(git, event);
    assert!(calls.len() <= 1, "{calls:?}");
    calls.pop().unwrap_or_default()
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn a_hook_gets_the_files_of_the_commit_and_no_other_paths() {
    let git = lister("commit.pre", "");
    git.hookrun("w", &["install", "git"]).exits(0);
    for name in ["gone", "moved from", "mode", "kept"] {
        fs::write(
            git.sandbox.at("w").join(name),
            format!("{name}\n").repeat(9),
        )
        .unwrap();
    }
    git.commit(&[]).exits(0);
    assert_eq!(
        handed(&git, "commit.pre"),
        ["gone", "kept", "mode", "moved from"]
    );
    let at = |path: &str| git.sandbox.at("w").join(path);
    fs::remove_file(at("gone")).unwrap();
    fs::rename(at("moved from"), at("moved to")).unwrap();
    fs::set_permissions(at("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("kept", at("link")).unwrap();
    git.run("w", &["init", "-q", "sub"]).exits(0);
    git.run("w/sub", &["commit", "-q", "--allow-empty", "-m", "a"])
        .exits(0);
    for name in [
        "it's \"$HOME\" `x`;|&",
        "two\nlines",
        "-n",
        "--help",
        "{files}",
        "über",
    ] {
        fs::write(at(name), "text\n").unwrap();
    }
    let bytes = OsStr::from_bytes(b"caf\xe9 -x");
    fs::write(at("").join(bytes), "text\n").unwrap();
    git.commit(&[]).exits(0);
    assert_eq!(
        handed(&git, "commit.pre"),
        [
            "./--help",
            "./-n",
            "caf\\xe9 -x",
            "it\\'s \\\"$HOME\\\" `x`;|&",
            "mode",
            "moved to",
            "two\\nlines",
            "{files}",
            "\\xc3\\xbcber",
        ]
    );
}

#[test]
fn a_commit_without_files_skips_the_hook_and_says_so() {
    let git = lister("commit.pre", "path=*.py");
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/a.py");
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    assert_eq!(handed(&git, "commit.pre"), ["a.py"]);
    fs::remove_file(git.sandbox.at("w/a.py")).unwrap();
    git.commit(&[]).exits(0);
    assert!(handed(&git, "commit.pre").is_empty());
    let context = br#"{"changes": [{"path": "a.py", "status": "D"}]}"#;
    let run = ["run", "commit.pre", "--format", "json"];
    let report = report(&git.sandbox.hookrun(&run, context));
    assert_eq!(report["hooks"][0]["fate"], "idle");
    assert_eq!(
        report["hooks"][0]["why"],
        "the event has no files for this hook"
    );
}

#[test]
fn globs_and_types_choose_the_files() {
    let settings = "path=src/** not=*_pb.py not=src/vendor/** type=python|shell";
    let git = lister("commit.pre", settings);
    git.hookrun("w", &["install", "git"]).exits(0);
    for path in [
        "a.py",
        "src/a.py",
        "src/b.PY",
        "src/c.sh",
        "src/d.rs",
        "src/e_pb.py",
        "src/vendor/f.py",
    ] {
        git.write(Path::new("w").join(path));
    }
    let at = |path: &str| git.sandbox.at("w").join(path);
    fs::write(at("src/run"), "#!/usr/bin/env -S python3 -u\n").unwrap();
    fs::write(at("src/shell"), "#!/bin/bash\n").unwrap();
    fs::write(at("src/LICENSE"), "MIT\n").unwrap();
    git.commit(&[]).exits(0);
    assert_eq!(
        handed(&git, "commit.pre"),
        ["src/a.py", "src/b.PY", "src/c.sh", "src/run", "src/shell"]
    );
}

#[test]
fn a_known_ending_says_the_type_and_the_content_where_there_is_none() {
    let sandbox = Sandbox::new();
    for (name, text) in [
        ("a.py", "#!/bin/sh\n"),
        ("b.rs", "#!/usr/bin/python3\n"),
        ("run", "#!/usr/bin/env -S python3.12 -u\n"),
        ("sh", "#!/bin/sh\n"),
        ("LICENSE", "MIT License\n"),
        ("data", "\0\u{1}"),
        ("logo.png", ""),
    ] {
        fs::write(sandbox.at(name), text).unwrap();
    }
    for (wanted, files) in [
        ("python", &["a.py", "run", "gone"][..]),
        ("shell", &["sh", "gone"]),
        ("text", &["a.py", "b.rs", "run", "sh", "LICENSE", "gone"]),
        ("binary", &["data", "logo.png", "gone"]),
        ("executable", &["gone"]),
    ] {
        let table = format!("[[rule]]\nevent = 'tool.pre'\ntype = '{wanted}'\ndeny = 'it is'\n");
        fs::write(sandbox.at("hookrun.toml"), table).unwrap();
        for name in [
            "a.py", "b.rs", "run", "sh", "LICENSE", "data", "logo.png", "gone",
        ] {
            let context = format!(r#"{{"toolName": "Write", "toolInput": {{"path": "{name}"}}}}"#);
            let ran = sandbox.hookrun(&["run", "tool.pre"], context.as_bytes());
            if files.contains(&name) {
                ran.blocks("it is");
            } else {
                ran.allows();
            }
        }
    }
}

#[test]
fn executables_are_those_in_git() {
    let git = lister("commit.pre", "type=executable");
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/plain");
    git.write("w/run");
    git.run("w", &["add", "-A"]).exits(0);
    git.run("w", &["update-index", "--chmod=+x", "run"])
        .exits(0);
    git.run("w", &["commit", "-q", "-m", "modes"]).exits(0);
    assert_eq!(handed(&git, "commit.pre"), ["run"]);
}

#[test]
fn a_push_hands_over_what_is_there_after_it() {
    let git = lister("push.pre", "");
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/first");
    git.write("w/gone");
    git.commit(&[]).exits(0);
    fs::remove_file(git.sandbox.at("w/gone")).unwrap();
    git.write("w/second");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    let mut files = handed(&git, "push.pre");
    files.sort();
    assert_eq!(files, ["first", "second"]);
}

#[test]
fn a_merge_hands_over_what_differs_from_its_parents() {
    let git = lister("push.pre", "");
    git.write("w/a");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    git.run("w", &["checkout", "-q", "-b", "side"]).exits(0);
    git.write("w/side");
    git.commit(&[]).exits(0);
    git.run("w", &["checkout", "-q", "main"]).exits(0);
    git.write("w/main");
    git.commit(&[]).exits(0);
    git.run("w", &["merge", "-q", "--no-commit", "side"])
        .exits(0);
    git.write("w/merged");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    let mut files = handed(&git, "push.pre");
    files.sort();
    assert_eq!(files, ["main", "merged", "side"]);
}

#[test]
fn two_thousand_files_of_any_names_block_no_hook() {
    let table = "[[hook]]\nname = 'words'\nevent = 'commit.pre'\ncommand = 'grep -q x {files}'\n\
                 batch = 700\nreads = 'none'\n";
    let sandbox = Sandbox::new()
        .file("hookrun.toml", table)
        .hook_for("commit.pre", "10-branch", "[ main = main ]")
        .hook_for(
            "commit.pre",
            "list",
            &format!("# hookrun: files batch=400\n{LISTER}"),
        );
    let git = Git::new(sandbox);
    git.hookrun("w", &["install", "git"]).exits(0);
    let folder = git.sandbox.at("w/services/api/generated");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..2000 {
        fs::write(folder.join(format!("a client model {number}\n.py")), "x\n").unwrap();
    }
    git.commit(&[]).exits(0);
    let calls = calls(&git, "commit.pre");
    assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [400; 5]);
    let mut all = calls.concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 2000);
}

#[test]
fn the_calls_of_a_hook_are_one_verdict() {
    let body = "# hookrun: files batch=1\n\
                case $1 in ok*) echo fine $1;; crash) kill -9 $$;; *) echo \"bad $1\" >&2; exit 1;; esac";
    let git = Git::new(Sandbox::new().hook_for("commit.pre", "judge", body));
    git.hookrun("w", &["install", "git"]).exits(0);
    for name in ["ok", "one", "two"] {
        git.write(Path::new("w").join(name));
    }
    git.commit(&[])
        .exits(1)
        .says("hookrun: pre-commit blocked by hook `judge`: bad one\nbad two");
    fs::rename(git.sandbox.at("w/one"), git.sandbox.at("w/crash")).unwrap();
    // A block says more than a crash.
    git.commit(&[])
        .exits(1)
        .says("blocked by hook `judge`: bad two");
    fs::remove_file(git.sandbox.at("w/two")).unwrap();
    git.commit(&[]).exits(1).says("killed by SIGKILL");
    fs::remove_file(git.sandbox.at("w/crash")).unwrap();
    git.write("w/ok2");
    git.commit(&[]).exits(0).says("fine ok\nfine ok2");
}

#[test]
fn a_question_or_a_failure_of_one_call_is_not_lost_among_the_others() {
    let judge = |settings: &str| {
        let body = format!(
            "# hookrun: files batch=1 {settings}\n\
             case $1 in ask) echo '{{\"ask\": \"really?\"}}';; crash) kill -9 $$;; slow) sleep 9;; esac"
        );
        Sandbox::new().hook_for("commit.pre", "judge", &body)
    };
    let commit = |sandbox: &Sandbox, paths: [&str; 3], options: &[&str]| {
        let changes = paths.map(|path| serde_json::json!({"path": path, "status": "A"}));
        let context = serde_json::json!({ "changes": changes }).to_string();
        let run = [&["run", "commit.pre"], options].concat();
        sandbox.hookrun(&run, context.as_bytes())
    };
    let closed = judge("");
    commit(&closed, ["a", "ask", "b"], &[])
        .exits(2)
        .says("really?");
    commit(&closed, ["ask", "crash", "b"], &[])
        .exits(2)
        .says("killed by SIGKILL");
    let open = judge("on_failure=allow");
    commit(&open, ["a", "crash", "b"], &[]).exits(0);
    commit(&open, ["a", "crash", "ask"], &[])
        .exits(2)
        .says("really?");
    commit(&open, ["crash", "slow", "ask"], &["--budget", "500ms"])
        .exits(2)
        .says("the budget of 500ms was used up");
}

#[test]
fn more_files_than_the_system_takes_are_divided_whatever_the_batch() {
    let body = format!("# hookrun: files batch=100000\n{LISTER}");
    let git = Git::new(Sandbox::new().hook_for("commit.pre", "list", &body));
    let changes: Vec<Value> = (0..40_000)
        .map(|number| serde_json::json!({"path": format!("{number:0200}"), "status": "A"}))
        .collect();
    let context = serde_json::json!({ "changes": changes }).to_string();
    git.sandbox
        .hookrun(&["run", "commit.pre"], context.as_bytes())
        .allows();
    let calls = calls(&git, "commit.pre");
    assert!(calls.len() > 1, "{}", calls.len());
    assert_eq!(calls.concat().len(), 40_000);
}

#[test]
fn a_linter_gets_what_an_agent_has_written() {
    let table = "[[hook]]\nname = 'lint'\nevent = ['commit.pre', 'tool.post']\n\
                 command = 'grep -H TODO {files}'\nmatch = { type = 'python' }\n";
    let sandbox = Sandbox::new()
        .file("hookrun.toml", table)
        .file("a.py", "# TODO\n");
    let post = |path: &str| {
        let context = format!(
            r#"{{"toolName": "write", "toolInput": {{"path": "{path}"}}, "result": "", "isError": false}}"#
        );
        sandbox.hookrun(
            &["run", "tool.post", "--format", "json"],
            context.as_bytes(),
        )
    };
    let ran = post("a.py");
    assert_eq!(report(&ran)["hooks"][0]["fate"], "ran");
    assert!(ran.stdout.contains("a.py:# TODO"), "{ran:?}");
    assert_eq!(
        report(&post("gone.py"))["hooks"][0]["why"],
        "the event has no files for this hook"
    );
    let other = report(&post("hookrun.toml"));
    let why = "its `type` is `python`; the event's path is `hookrun.toml`";
    assert_eq!(other["hooks"][0]["why"], why);
}

#[test]
fn a_shell_line_gets_files_as_its_arguments() {
    let table = "[[hook]]\nname = 'lint'\nevent = 'commit.pre'\nshell = true\nfiles = true\n\
                 command = 'for file in \"$@\"; do echo \"<$file>\"; done'\n";
    let git = Git::new(Sandbox::new().file("hookrun.toml", table));
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/$(touch pwned) a");
    git.write("w/-b");
    git.commit(&[]).exits(0).says("<$(touch pwned) a>\n<./-b>");
}

#[test]
fn a_mistake_about_files_names_its_cure() {
    let told = |table: &str| {
        let table = format!("[[hook]]\nname = 'x'\n{table}\n");
        Sandbox::new()
            .file("hookrun.toml", &table)
            .problems(&[])
            .join("\n")
    };
    for (table, problem) in [
        (
            "event = 'commit.pre'\ncommand = 'ruff {staged_files}'",
            "hookrun.toml:4:11: `{staged_files}` is not a placeholder",
        ),
        (
            "event = 'commit.pre'\ncommand = 'ruff --only={files}'",
            "`{files}` must be a separate word",
        ),
        (
            "event = 'commit.pre'\ncommand = \"ruff '--only={files}'\"",
            "`{files}` must be a separate word",
        ),
        (
            "event = 'commit.pre'\ncommand = 'ruff {files}'\nshell = true",
            "a shell command cannot contain `{files}`",
        ),
        (
            "event = 'agent.start'\ncommand = 'ruff {files}'",
            "`agent.start` has no files",
        ),
        (
            "event = 'commit.pre'\ncommand = 'ruff'\nbatch = 2",
            "`batch` has no effect without files",
        ),
        (
            "event = 'commit.pre'\ncommand = 'ruff {files}'\nbatch = -2",
            "`batch` cannot be -2",
        ),
        (
            "event = 'tool.pre'\ncommand = 'ruff {files}'\nrewrite = true",
            "`files` cannot be used with `rewrite`",
        ),
        (
            "event = 'commit.pre'\ncommand = 'ruff {files}'\nmatch = { type = 'pyhton' }",
            "did you mean `python`?",
        ),
    ] {
        let told = told(table);
        assert!(told.contains(problem), "{table}: {told}");
    }
    for command in [
        "awk '{print}' {files}",
        "bash -n {files}",
        "find . -exec echo '{}' +",
    ] {
        assert_eq!(
            told(&format!("event = 'commit.pre'\ncommand = \"{command}\"")),
            ""
        );
    }
}

#[test]
fn not_and_type_choose_events_of_hooks_without_files_and_of_rules() {
    let tables = "[[hook]]\nname = 'x'\nevent = 'commit.pre'\ncommand = 'false'\n\
                  match = { path = 'src/**', not = '*.md' }\n\
                  [[rule]]\nevent = 'commit.pre'\ntype = 'binary'\ndeny = 'no binaries'\n";
    let sandbox = Sandbox::new().file("hookrun.toml", tables);
    let commit = |path: &str| {
        let context = format!(r#"{{"changes": [{{"path": "{path}", "status": "A"}}]}}"#);
        sandbox.hookrun(&["run", "commit.pre"], context.as_bytes())
    };
    commit("src/a.md").allows();
    commit("src/a.rs").exits(2).says("`x`");
    commit("logo.png").blocks("no binaries");
    commit("a.rs").allows();
}
