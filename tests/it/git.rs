//! hookrun as git's hooks: real repositories, and what git is told.

mod check;
mod contract;
mod doctor;
mod files;
mod install;
mod members;
mod results;
mod staged;
mod templates;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// BlockStatus `.env` and whatever is in `secrets/`, whoever asks.
const POLICY: &str = r#"
[[hook]]
name = "no-secrets"
event = ["tool.pre", "commit.pre", "push.pre", "receive.pre"]
command = "./refuse.sh"
match = { path = [".env", "secrets/**"] }
"#;

/// A sandbox with a repository `w`, whose remote `origin` is the bare repository `s.git`.
struct Git {
    sandbox: Sandbox,
}

impl Git {
    fn new(sandbox: Sandbox) -> Git {
        let git = Git { sandbox };
        git.run(".", &["init", "-q", "--bare", "s.git"]).exits(0);
        git.run(".", &["init", "-q", "-b", "main", "w"]).exits(0);
        git.run("w", &["remote", "add", "origin", "../s.git"])
            .exits(0);
        git
    }

    /// With [`POLICY`], in force in `w` and `s.git`.
    fn with_policy() -> Git {
        let sandbox = Sandbox::new().file("hookrun.toml", POLICY);
        let git = Git::new(sandbox.script("refuse.sh", "#!/bin/sh\necho never >&2; exit 1\n"));
        git.hookrun("w", &["install", "git"]).exits(0);
        git.hookrun("s.git", &["install", "git"]).exits(0);
        git
    }

    fn command(&self, mut command: Command, folder: &str) -> Ran {
        self.at(&mut command, folder);
        command.stdin(Stdio::null()).output().unwrap().into()
    }

    fn at(&self, command: &mut Command, folder: &str) {
        command
            .current_dir(self.sandbox.at(folder))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "a");
            command.env(format!("GIT_{role}_EMAIL"), "a@example.com");
        }
    }

    fn run(&self, folder: &str, arguments: &[&str]) -> Ran {
        self.command(self.git_command(arguments), folder)
    }

    /// git with a scrubbed environment.
    fn git_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C");
        command.env("HOME", self.sandbox.at("home"));
        command
    }

    fn hookrun(&self, folder: &str, arguments: &[&str]) -> Ran {
        self.command(self.sandbox.command(arguments), folder)
    }

    fn write(&self, path: impl AsRef<Path>) {
        let file = self.sandbox.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "text\n").unwrap();
    }

    /// Commits everything in `w`, hooks or not.
    fn commit(&self, options: &[&str]) -> Ran {
        self.run("w", &["add", "-A"]).exits(0);
        self.run(
            "w",
            &[&["commit", "-q", "-m", "a commit"], options].concat(),
        )
    }

    fn head(&self, folder: &str) -> String {
        self.run(folder, &["rev-parse", "HEAD"])
            .stdout
            .trim()
            .to_string()
    }
}

/// A hook that copies its context to `FILE` in the sandbox.
fn keeper(sandbox: Sandbox, event: &str) -> Sandbox {
    let file = sandbox.at("seen.json");
    let body = format!("# hookrun: reads=stdin\ncat > '{}'", file.display());
    sandbox.hook_for(event, "10-keep", &body)
}

fn seen(git: &Git) -> Value {
    serde_json::from_str(&git.sandbox.read("seen.json")).unwrap()
}

#[test]
fn one_policy_blocks_a_tool_call_a_commit_and_a_push() {
    let git = Git::with_policy();
    let call = br#"{"toolName":"write","toolInput":{"path":".env"}}"#;
    git.sandbox
        .hookrun(&["run", "tool.pre"], call)
        .blocks("never");

    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);

    git.write("w/secrets/key");
    let why = "blocked by hook `no-secrets`: never";
    git.commit(&[])
        .exits(1)
        .says(&format!("hookrun: pre-commit {why}"));
    git.commit(&["--no-verify"]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"])
        .exits(1)
        .says(&format!("pre-push {why}"));
    let past = git.run("w", &["push", "-q", "--no-verify", "origin", "main"]);
    past.exits(1)
        .says(&format!("remote: hookrun: pre-receive {why}"));
    assert_ne!(
        git.run("s.git", &["rev-parse", "main"]).stdout.trim(),
        git.head("w")
    );
}

#[test]
fn a_policy_on_paths_is_in_order_for_what_changes_paths() {
    let command = "[[hook]]\nname = 'x'\nevent = 'commit.pre'\ncommand = './refuse.sh'\n\
                   match = { command = 'rm' }\n";
    let sandbox = Sandbox::new().script("refuse.sh", "#!/bin/sh\nexit 1\n");
    let sandbox = sandbox.file("hookrun.toml", POLICY);
    assert!(sandbox.problems(&[]).is_empty());
    let problems = sandbox.file("hookrun.toml", command).problems(&[]);
    assert!(
        problems[0].contains("matches command lines, but `commit.pre` has none"),
        "{problems:?}"
    );
}

#[test]
fn a_push_is_blocked_for_what_only_an_earlier_commit_holds() {
    let git = Git::with_policy();
    git.write("w/.env");
    git.commit(&["--no-verify"]).exits(0);
    fs::remove_file(git.sandbox.at("w/.env")).unwrap();
    git.write("w/a.txt");
    git.commit(&["--no-verify"]).exits(0);
    git.run(
        "w",
        &["push", "-q", "--no-verify", "origin", "HEAD:refs/heads/x"],
    )
    .exits(1)
    .says("pre-receive blocked by hook `no-secrets`");
}

#[test]
fn a_new_guard_lets_a_committed_secret_be_taken_out() {
    for language in ["sh", "bash", "python"] {
        let git = Git::new(Sandbox::new());
        for event in ["commit.pre", "push.pre"] {
            let name = format!("no-env-{}", &event[..4]);
            let new = ["new", &name, "--event", event, "--lang", language];
            git.hookrun(".", &new).exits(0);
        }
        git.write("w/.env");
        git.commit(&[]).exits(0);
        let by_force = [
            "-c",
            "core.hooksPath=/dev/null",
            "push",
            "-q",
            "origin",
            "main",
        ];
        git.run("w", &by_force).exits(0);
        git.hookrun("w", &["install", "git"]).exits(0);
        git.run("w", &["rm", "-q", "--cached", ".env"]).exits(0);
        git.run("w", &["commit", "-q", "-m", "the cure"]).exits(0);
        git.run("w", &["push", "-q", "origin", "main"]).exits(0);

        let why = ".env must not be committed";
        git.commit(&[]).exits(1).says(why);
        git.commit(&["--no-verify"]).exits(0);
        git.run("w", &["rm", "-q", ".env"]).exits(0);
        git.run(
            "w",
            &["commit", "-q", "-m", "too late: it is in the history"],
        )
        .exits(0);
        git.run("w", &["push", "-q", "origin", "main"])
            .exits(1)
            .says(why);
    }
}

#[test]
fn a_new_guard_sees_a_secret_that_moves() {
    let lines: String = (0..20)
        .map(|number| format!("KEY_{number}={}\n", number * 7919))
        .collect();
    for language in ["sh", "bash", "python"] {
        let git = Git::new(Sandbox::new());
        for event in ["commit.pre", "push.pre"] {
            let name = format!("no-env-{}", &event[..4]);
            git.hookrun(".", &["new", &name, "--event", event, "--lang", language])
                .exits(0);
        }
        fs::write(git.sandbox.at("w/.env"), &lines).unwrap();
        git.commit(&[]).exits(0);
        let by_force = [
            "-c",
            "core.hooksPath=/dev/null",
            "push",
            "-q",
            "origin",
            "main",
        ];
        git.run("w", &by_force).exits(0);
        git.hookrun("w", &["install", "git"]).exits(0);
        // Nothing that the repository is configured with hides it.
        for (key, value) in [("diff.renames", "false"), ("diff.renameLimit", "1")] {
            git.run("w", &["config", key, value]).exits(0);
        }
        let why = "the content of .env must not be committed";
        git.run("w", &["mv", ".env", "ok.txt"]).exits(0);
        git.commit(&[]).exits(1).says(why);
        fs::write(git.sandbox.at("w/ok.txt"), format!("# changed\n{lines}")).unwrap();
        git.commit(&[]).exits(1).says(why);
        git.commit(&["--no-verify"]).exits(0);
        git.run("w", &["push", "-q", "origin", "main"])
            .exits(1)
            .says(why);
        // What goes while something else comes is deleted.
        git.run("w", &["reset", "-q", "--hard", "HEAD^"]).exits(0);
        git.run("w", &["rm", "-q", ".env"]).exits(0);
        git.write("w/a.txt");
        git.commit(&[]).exits(0);
        git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    }
}

#[test]
fn the_rule_of_the_page_lets_a_secret_be_deleted_and_nothing_else() {
    let page = include_str!("../../docs/hosts/git.md");
    let rule = page
        .split("```toml\n")
        .find(|block| block.contains("where = { changes"))
        .unwrap();
    let rule: String = rule
        .lines()
        .take_while(|line| !line.contains("```"))
        .map(|line| format!("{line}\n"))
        .collect();
    let sandbox = Sandbox::new().file("hookrun.toml", &rule);
    for (path, status, is_blocked) in [
        (".env", "A", true),
        (".env", "R", true),
        ("a/b/.env", "M", true),
        ("a\"/.env", "A", true),
        (".env", "D", false),
        ("x.env", "A", false),
    ] {
        let changes = json!([{"path": "z", "status": "D"}, {"path": path, "status": status}]);
        let context = json!({ "changes": changes });
        let ran = sandbox.hookrun(&["run", "commit.pre"], context.to_string().as_bytes());
        ran.exits(if is_blocked { 2 } else { 0 });
    }
}

#[test]
fn a_rename_is_in_the_changes_with_both_paths_also_of_a_merge() {
    let git = Git::new(keeper(Sandbox::new(), "push.pre"));
    let write = |path: &str, text: &str| {
        fs::write(git.sandbox.at(path), text.repeat(20)).unwrap();
    };
    write("w/old.txt", "old\n");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    git.run("w", &["switch", "-q", "-c", "topic"]).exits(0);
    write("w/topic.txt", "topic\n");
    git.commit(&[]).exits(0);
    git.run("w", &["switch", "-q", "main"]).exits(0);
    git.run("w", &["mv", "old.txt", "new.txt"]).exits(0);
    git.commit(&[]).exits(0);
    git.run("w", &["merge", "-q", "--no-commit", "topic"])
        .exits(0);
    git.run("w", &["mv", "new.txt", "merged.txt"]).exits(0);
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    let changes = json!([
        {"path": "new.txt", "status": "R", "to": "merged.txt"},
        {"path": "old.txt", "status": "R", "to": "merged.txt"},
        {"path": "merged.txt", "status": "AA"},
        {"path": "topic.txt", "status": "A"},
    ]);
    assert_eq!(seen(&git)["changes"], changes);
}

#[test]
fn a_path_that_new_commits_bring_and_delete_has_both_changes() {
    let git = Git::new(keeper(Sandbox::new(), "push.pre"));
    git.hookrun("w", &["install", "git"]).exits(0);
    for path in ["w/kept.txt", "w/gone.txt"] {
        git.write(path);
    }
    git.commit(&[]).exits(0);
    fs::remove_file(git.sandbox.at("w/gone.txt")).unwrap();
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    let context = seen(&git);
    let changes = json!([
        {"path": "gone.txt", "status": "D"},
        {"path": "gone.txt", "status": "A"},
        {"path": "kept.txt", "status": "A"},
    ]);
    assert_eq!(context["changes"], changes);
    assert_eq!(context["action"]["paths"], json!(["gone.txt", "kept.txt"]));
}

#[test]
fn neither_a_configuration_nor_a_replaced_commit_hides_a_path() {
    let git = Git::with_policy();
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    let clean = git.head("w");
    git.write("w/.env");
    git.commit(&["--no-verify"]).exits(0);
    git.run("w", &["replace", "HEAD", &clean]).exits(0);
    for (key, value) in [
        ("diff.renames", "copies"),
        ("diff.noprefix", "true"),
        ("diff.relative", "true"),
        ("log.showSignature", "true"),
        ("log.showRoot", "false"),
        ("core.quotePath", "true"),
        ("diff.external", "true"),
    ] {
        git.run("w", &["config", key, value]).exits(0);
    }
    git.run("w", &["push", "-q", "origin", "main"])
        .exits(1)
        .says("pre-push blocked");
}

#[test]
fn a_push_is_not_blocked_for_what_the_other_side_has() {
    let git = Git::with_policy();
    git.write("w/.env");
    git.commit(&["--no-verify"]).exits(0);
    let by_force = [
        "-c",
        "core.hooksPath=/dev/null",
        "fetch",
        "-q",
        "../w",
        "main:main",
    ];
    git.run("s.git", &by_force).exits(0);
    git.run("w", &["fetch", "-q", "origin"]).exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run(
        "w",
        &["push", "-q", "origin", "main", "main:refs/heads/new"],
    )
    .exits(0);
    git.run("w", &["push", "-q", "origin", ":refs/heads/new"])
        .exits(0);
}

#[test]
fn a_merge_counts_for_what_none_of_its_parents_has() {
    let git = Git::with_policy();
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["switch", "-q", "-c", "topic"]).exits(0);
    git.write("w/b.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["switch", "-q", "main"]).exits(0);
    git.write("w/c.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "origin", "main", "topic"])
        .exits(0);
    git.run("w", &["merge", "-q", "--no-commit", "topic"])
        .exits(0);
    git.write("w/.env");
    git.commit(&["--no-verify"]).exits(0);
    git.run("w", &["push", "-q", "origin", "main"])
        .exits(1)
        .says("pre-push blocked");
}

#[test]
fn names_of_any_bytes_are_held_against_a_policy() {
    let sandbox = keeper(Sandbox::new(), "commit.pre").file("hookrun.toml", POLICY);
    let git = Git::new(sandbox.script("refuse.sh", "#!/bin/sh\necho never >&2; exit 1\n"));
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write(Path::new("w").join(OsStr::from_bytes(b"caf\xe9")));
    git.write("w/two\nlines");
    git.commit(&[]).exits(0);
    let context = seen(&git);
    let changes = json!([
        {"path": "caf\u{fffd}", "status": "A", "pathHex": "636166e9"},
        {"path": "two\nlines", "status": "A"},
    ]);
    assert_eq!(context["changes"], changes);
    let paths = ["caf\u{fffd}", "two\nlines"];
    let folder = fs::canonicalize(git.sandbox.at("w")).unwrap();
    let resolved = paths.map(|path| folder.join(path));
    let action = json!({"kind": "write", "paths": paths, "resolved": resolved});
    assert_eq!(context["action"], action);
    git.write(Path::new("w/secrets").join(OsStr::from_bytes(b"\xff\n")));
    git.commit(&[]).exits(1).says("never");
}

#[test]
fn only_what_is_committed_counts() {
    let git = Git::with_policy();
    git.write("w/a.txt");
    git.write("w/.env");
    git.run("w", &["add", "-A"]).exits(0);
    // Of a commit of some files, git shows its hook an index of its own.
    git.run("w", &["commit", "-q", "-m", "one file", "a.txt"])
        .exits(0);
    git.run("w", &["commit", "-q", "-m", "the rest"])
        .exits(1)
        .says("never");
}

#[test]
fn a_rewritten_message_is_what_is_committed() {
    let body = r#"[ "$(hookrun hook field message)" != stop ] || { echo 'say more' >&2; exit 1; }"#;
    let program = env!("CARGO_BIN_EXE_hookrun");
    let guard = body.replace("hookrun hook field", &format!("'{program}' hook field"));
    let sandbox = Sandbox::new().hook_for("commit.msg", "10-guard", &guard).hook_for(
        "commit.msg",
        "20-sign",
        "# hookrun: rewrite\nprintf '%s\\n' '{\"update\":{\"message\":\"better\\n\\nSigned: me\"}}'",
    );
    let git = Git::new(sandbox);
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    assert_eq!(
        git.run("w", &["log", "--format=%B"]).stdout,
        "better\n\nSigned: me\n\n"
    );
    git.run("w", &["commit", "-q", "--allow-empty", "-m", "stop"])
        .exits(1)
        .says("commit-msg blocked by hook `10-guard`: say more");
}

#[test]
fn what_git_gives_is_the_context() {
    let git = Git::new(keeper(Sandbox::new(), "receive.pre"));
    git.hookrun("s.git", &["install", "git"]).exits(0);
    git.run("s.git", &["config", "receive.advertisePushOptions", "true"])
        .exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.run("w", &["push", "-q", "-o", "ci.skip", "origin", "main"])
        .exits(0);
    let (context, none) = (seen(&git), "0".repeat(40));
    let moved = json!([{"oldSha": none, "newSha": git.head("w"), "ref": "refs/heads/main"}]);
    assert_eq!(context["event"], "receive.pre");
    assert_eq!(context["refs"], moved);
    assert_eq!(context["pushOptions"], json!(["ci.skip"]));
    assert_eq!(context["action"]["paths"], json!(["a.txt"]));
    assert_eq!(context["raw"]["hook"], "pre-receive");
    assert!(
        context["raw"]["environment"]["GIT_QUARANTINE_PATH"].is_string(),
        "{context}"
    );
}

#[test]
fn each_reference_of_a_push_can_be_blocked_by_itself() {
    let body = r#"[ "$(hookrun hook field ref)" != refs/heads/no ] || { echo 'not this one' >&2; exit 1; }"#;
    let body = body.replace(
        "hookrun hook field",
        &format!("'{}' hook field", env!("CARGO_BIN_EXE_hookrun")),
    );
    let git = Git::new(Sandbox::new().hook_for("ref.update", "10-one", &body));
    git.hookrun("s.git", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    let pushed = git.run("w", &["push", "-q", "origin", "main:yes", "main:no"]);
    pushed
        .exits(1)
        .says("update blocked by hook `10-one`: not this one");
    assert_eq!(
        git.run("s.git", &["branch", "--format=%(refname:short)"])
            .stdout,
        "yes\n"
    );
}

#[test]
fn what_can_only_be_observed_never_stops_git() {
    let sandbox = Sandbox::new()
        .hook_for("post-checkout", "10-no", "echo too late >&2; exit 1")
        .hook_for(
            "post-checkout",
            "20-slow",
            "# hookrun: timeout=100ms\nsleep 60",
        )
        .hook_for("post-checkout", "30-talks", "echo hello");
    let git = Git::new(sandbox);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    let ran = git.run("w", &["switch", "-q", "-c", "topic"]);
    ran.exits(0)
        .says("hook `10-no` objects (this event cannot be blocked): too late");
    ran.says("hook `20-slow` failed: timed out after 100ms")
        .says("hello\n");
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_mistake_in_the_configuration_stops_what_can_be_stopped() {
    let git = Git::with_policy();
    let git = Git {
        sandbox: git.sandbox.file("hookrun.toml", "[[hook]]\nname = 7\n"),
    };
    git.write("w/a.txt");
    let why = "pre-commit blocked: everything is blocked, because the hooks have an error";
    git.commit(&[]).exits(1).says(why);
    let ran = git.hookrun("w", &["run", "--host", "git", "post-commit"]);
    ran.exits(0)
        .says("hookrun: post-commit failed: the hooks have an error");
}

#[test]
fn a_failure_of_git_itself_blocks() {
    let git = Git::with_policy();
    git.write("w/a.txt");
    git.run("w", &["add", "-A"]).exits(0);
    fs::write(git.sandbox.at("w/.git/index"), "broken").unwrap();
    let ran = git.hookrun("w", &["run", "--host", "git", "pre-commit"]);
    ran.exits(1)
        .says("hookrun: pre-commit blocked: git cannot list the changes: ");
    let ran = git
        .sandbox
        .hookrun(&["run", "--host", "git", "pre-commit"], b"");
    ran.exits(1)
        .says("git cannot list the changes: this is not a git repository\n");
    let ran = git
        .sandbox
        .hookrun(&["run", "--host", "git", "pre-push"], b"not four words\n");
    ran.exits(1)
        .says("hookrun: pre-push blocked: git passed unexpected input to pre-push");
}

#[test]
fn a_git_that_hangs_is_not_waited_for() {
    let git = Git::with_policy();
    let sandbox = git.sandbox.script("bin/git", "#!/bin/sh\nexec sleep 60\n");
    let path = format!("{}:/usr/bin:/bin", sandbox.at("bin").display());
    let arguments = ["run", "--host", "git", "pre-commit", "--budget", "300ms"];
    let ran = sandbox.hookrun_as(|command| _ = command.env("PATH", path), &arguments, b"");
    ran.exits(1)
        .says("pre-commit blocked: git did not list the changes within 300ms");
}

#[test]
fn arguments_are_only_for_a_host_that_gives_them() {
    let sandbox = Sandbox::new();
    sandbox
        .hookrun(&["run", "tool.pre", "more"], b"{}")
        .exits(2)
        .says("unexpected argument `more`");
    let unnamed = sandbox.hookrun(&["run", "--host", "git"], b"{}");
    unnamed
        .exits(2)
        .says("name the hook: `hookrun run --host git pre-commit`");
    let ran = sandbox.hookrun(&["run", "--host", "git", "pre-comit"], b"");
    ran.exits(2)
        .says("`pre-comit` is not a git hook that hookrun supports");
    sandbox
        .hookrun(
            &["run", "--host", "git", "update", "--", "-x", "1", "2"],
            b"",
        )
        .allows();
}
