//! Hooks in folders with git's own names: arguments, lines on stdin, and an exit status, as git's
//! own hooks have them.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use hookrun::hosts::git::find;
use serde_json::json;

use super::{Git, keeper, seen};
use crate::sandbox::Sandbox;

/// A repository in which these scripts are hooks: folder, name, text.
fn with_hooks(scripts: &[(&str, &str, &str)]) -> Git {
    let mut sandbox = Sandbox::new();
    for (folder, name, text) in scripts {
        sandbox = sandbox.script(&format!("hooks.d/{folder}/{name}"), text);
    }
    installed(sandbox)
}

fn installed(sandbox: Sandbox) -> Git {
    let git = Git::new(sandbox);
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.run("w", &["add", "-A"]).exits(0);
    git
}

fn commit(git: &Git, message: &str) -> crate::sandbox::Ran {
    git.run("w", &["commit", "-q", "--allow-empty", "-m", message])
}

fn last_message(git: &Git) -> String {
    git.run("w", &["log", "-1", "--format=%B"]).stdout
}

const TICKET: &str = "#!/bin/sh\n\
    grep -q '^JIRA-' \"$1\" || { echo \"no ticket in $1\" >&2; echo 'see CONTRIBUTING'; exit 1; }\n";

#[test]
fn a_script_of_git_reads_its_file_and_its_exit_status_decides() {
    let git = with_hooks(&[("commit-msg", "10-ticket.sh", TICKET)]);
    let why = "hookrun: commit-msg blocked by hook `10-ticket.sh`: no ticket in .git/COMMIT_EDITMSG\nsee CONTRIBUTING\n";
    commit(&git, "one").exits(1).says(why);
    commit(&git, "JIRA-1 one").exits(0);
    assert_eq!(git.sandbox.problems(&[]), Vec::<String>::new());
}

#[test]
fn stdout_is_text_and_no_answer() {
    let hook = "#!/bin/sh\necho '{\"continue\": false, \"reason\": \"no\"}'\n";
    let git = with_hooks(&[("pre-commit", "10-json.sh", hook)]);
    commit(&git, "one").exits(0).says("{\"continue\": false");
    let silent = with_hooks(&[("pre-commit", "10-false.sh", "#!/bin/sh\nfalse\n")]);
    commit(&silent, "one")
        .exits(1)
        .says("`10-false.sh` exited with status 1 and gave no reason");
}

#[test]
fn what_a_hook_writes_into_the_message_is_what_later_hooks_and_the_commit_have() {
    let prefix = "#!/bin/sh\n[ \"$2\" = message ] && [ $# = 2 ] && sed -i '1s/^/JIRA-7 /' \"$1\"\n";
    let trailer = "#!/bin/sh\nprintf '\\nReviewed: yes' >> \"$1\"\n";
    let sandbox = Sandbox::new()
        .script("hooks.d/prepare-commit-msg/10-prefix.sh", prefix)
        .script("hooks.d/commit-msg/10-ticket.sh", TICKET)
        .script("hooks.d/commit-msg/20-trailer.sh", trailer);
    let git = installed(keeper(sandbox, "commit.msg"));
    fs::rename(
        git.sandbox.at("hooks.d/commit.msg/10-keep"),
        git.sandbox.at("hooks.d/commit.msg/30-keep"),
    )
    .unwrap();
    let git = Git {
        sandbox: git.sandbox.trusted(),
    };
    commit(&git, "one").exits(0);
    assert_eq!(seen(&git)["message"], "JIRA-7 one\n\nReviewed: yes");
    assert_eq!(last_message(&git), "JIRA-7 one\n\nReviewed: yes\n\n");
}

#[test]
fn a_hook_of_git_sees_what_a_hook_of_ours_has_rewritten_and_edits_the_message_once() {
    let append = "#!/bin/sh\necho more >> \"$1\"\n";
    let rewrite = "#!/bin/sh\n# hookrun: rewrite\n\
        printf '%s\\n' '{\"update\":{\"message\":\"better\\n\"}}'\n";
    let look = "#!/bin/sh\ngrep -q '^better$' \"$1\" || exit 1\necho last >> \"$1\"\n";
    let git = with_hooks(&[
        ("commit-msg", "10-append.sh", append),
        ("commit.msg", "20-rewrite.sh", rewrite),
        ("commit-msg", "30-look.sh", look),
    ]);
    commit(&git, "one").exits(0);
    assert_eq!(last_message(&git), "better\nlast\n\n");
}

#[test]
fn a_message_that_is_not_utf8_stays_as_it_is() {
    let git = with_hooks(&[("commit-msg", "10-ticket.sh", TICKET)]);
    fs::write(git.sandbox.at("message"), b"JIRA-1 caf\xe9\n").unwrap();
    let quiet = ["-c", "i18n.commitEncoding=ISO-8859-1"];
    let commit = ["commit", "-q", "-F", "../message"];
    git.run("w", &[&quiet[..], &commit].concat()).exits(0);
    let stored = git.run("w", &["cat-file", "-p", "HEAD"]);
    assert!(stored.stdout.contains("caf\u{fffd}"), "{stored:?}");
}

#[test]
fn a_push_gives_its_lines_and_arguments_byte_for_byte() {
    let hook = "#!/bin/sh\ncat > seen\necho \"$# $1 $2 $GIT_PREFIX\" >> seen\npwd >> seen\n";
    let git = with_hooks(&[("pre-push", "10-keep.sh", hook)]);
    commit(&git, "one").exits(0);
    let name = std::ffi::OsStr::from_bytes(b"refs/heads/caf\xe9");
    fs::write(
        git.sandbox.at("w/.git").join(name),
        format!("{}\n", git.head("w")),
    )
    .unwrap();
    let mut push = std::process::Command::new("git");
    push.args(["push", "-q", "origin"]).arg(name).env_clear();
    push.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    push.env("HOME", git.sandbox.at("home"));
    git.command(push, "w").exits(0);
    let head = git.head("w");
    let zeros = "0".repeat(40);
    let mut expected = name.as_bytes().to_vec();
    expected.extend(format!(" {head} ").bytes());
    expected.extend(name.as_bytes());
    let folder = git.sandbox.at("w").canonicalize().unwrap();
    let rest = format!(" {zeros}\n2 origin ../s.git \n{}\n", folder.display());
    expected.extend(rest.bytes());
    assert_eq!(fs::read(git.sandbox.at("w/seen")).unwrap(), expected);
}

#[test]
fn a_hook_of_the_server_reads_references_and_blocks_one() {
    let update =
        "#!/bin/sh\ncase $1 in refs/heads/main) exit 0;; esac\necho \"no $1\" >&2\nexit 1\n";
    let sandbox = Sandbox::new().script("hooks.d/update/10-main.sh", update);
    let git = Git::new(sandbox);
    git.hookrun("s.git", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    git.run("w", &["push", "-q", "origin", "main:x"])
        .exits(1)
        .says("no refs/heads/x");
}

#[test]
fn a_command_of_git_s_dialect_gets_the_arguments() {
    let manifest = r#"
[[hook]]
name = "words"
event = "commit.msg"
dialect = "git"
command = "grep -q ^JIRA-"

[[hook]]
name = "line"
event = "commit-msg"
dialect = "git"
shell = true
command = 'echo "$# $1" > seen; test "$0" = /bin/sh'
"#;
    let git = installed(Sandbox::new().file("hookrun.toml", manifest));
    commit(&git, "one")
        .exits(1)
        .says("`words` exited with status 1");
    commit(&git, "JIRA-1 one").exits(0);
    assert_eq!(git.sandbox.read("w/seen"), "1 .git/COMMIT_EDITMSG\n");
    let wrong = manifest.replace("commit.msg", "tool.pre");
    let problems = Sandbox::new().file("hookrun.toml", &wrong).problems(&[]);
    assert!(
        problems[0].contains("hookrun.toml:4") && problems[0].contains("is not a git event"),
        "{problems:?}"
    );
}

#[test]
fn suites_give_such_a_hook_what_git_would() {
    let push = "#!/bin/sh\nwhile read -r local sha ref old; do\n  \
        [ \"$1 $local $ref\" != 'origin refs/heads/x refs/heads/main' ] || exit 1\ndone\n";
    let append = "#!/bin/sh\necho \"Signed: me\" >> \"$1\"\n";
    let cases = r#"
[[case]]
name = "no ticket"
event = "commit.msg"
hook = "10-ticket.sh"
context = { message = "one\n", filePath = ".git/COMMIT_EDITMSG" }
expect = { decision = "block", reason = "no ticket" }

[[case]]
name = "a ticket"
event = "commit.msg"
hook = "10-ticket.sh"
context = { message = "JIRA-1 one\n" }
expect = { decision = "allow" }

[[case]]
name = "a trailer"
event = "commit.msg"
hook = "20-append.sh"
context = { message = "one\n", filePath = "m" }
files = { m = "other" }
expect = { decision = "allow", rewrites = { message = "one\nSigned: me\n" } }

[[case]]
name = "a push to main"
event = "push.pre"
context = { remote = "origin", url = "u", refs = [{ localRef = "refs/heads/x", newSha = "1", ref = "refs/heads/main", oldSha = "0" }] }
expect = { decision = "block" }

[[case]]
name = "a push elsewhere"
event = "push.pre"
context = { remote = "origin", url = "u", refs = [{ localRef = "refs/heads/x", newSha = "1", ref = "refs/heads/x", oldSha = "0" }] }
expect = { decision = "allow" }
"#;
    let sandbox = Sandbox::new()
        .script("hooks.d/commit-msg/10-ticket.sh", TICKET)
        .script("hooks.d/commit-msg/20-append.sh", append)
        .script("hooks.d/pre-push/10-main.sh", push)
        .file("hooks.d/tests/git.toml", cases);
    let ran = sandbox.hookrun(&["test", "--suite"], b"");
    ran.exits(0).prints("ok: 5 cases");
    let listed = sandbox.json(&["list", "--format", "json"]);
    assert_eq!(listed["hooks"][0]["dialect"], "git", "{listed}");
}

#[test]
fn what_is_no_commit_never_becomes_an_option_of_git() {
    let context = json!({"refs": [{"oldSha": "00", "newSha": "--output=x", "ref": "r"}]});
    assert!(
        find("pre-push")
            .unwrap()
            .listings(context.as_object().unwrap())
            .is_err()
    );
}
