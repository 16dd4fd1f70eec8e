//! What a person learns of a commit: all that is wrong at once, on which branch, and what they skip.

use std::fs;

use serde_json::{Value, json};

use super::{Git, keeper, seen};
use crate::sandbox::{Ran, Sandbox};

/// A hook of `commit.pre` that runs a line of shell.
fn hook(name: &str, line: &str, keys: &str) -> String {
    format!(
        "[[hook]]\nname = \"{name}\"\nevent = \"commit.pre\"\nshell = true\ncommand = '{line}'\n\
         {keys}\n\n"
    )
}

/// A repository in which hookrun is installed, whose own `hookrun.toml` says this.
fn repository(manifest: &str) -> Git {
    let git = Git::new(Sandbox::new().file("w/hookrun.toml", manifest));
    git.hookrun("w", &["install", "git"]).exits(0);
    git
}

/// Commits everything with these variables.
fn commit_with(git: &Git, name: &str, value: &str) -> Ran {
    git.run("w", &["add", "-A"]).exits(0);
    let mut command = git.git_command(&["commit", "-q", "-m", "a commit"]);
    command.env(name, value);
    git.command(command, "w")
}

fn three_failures(settings: &str) -> String {
    [
        hook(
            "ruff",
            "echo a.py:1: long >&2; echo b.py:2: import >&2; exit 1",
            "priority = 10",
        ),
        hook("passes", "exit 0", "priority = 10"),
        hook("tsc", "kill -9 $$", "priority = 10"),
        hook(
            "secrets",
            "echo config.py:3 holds a key >&2; exit 1",
            "priority = 20",
        ),
        settings.to_string(),
    ]
    .concat()
}

#[test]
fn every_failure_of_a_commit_is_reported_under_its_hook() {
    let git = repository(&three_failures(""));
    let ran = git.commit(&[]);
    ran.exits(1);
    let (summary, rest) = ran.stderr.split_once('\n').unwrap();
    let (names, time) = summary.split_once("; 4 hooks, ").unwrap();
    assert_eq!(names, "hookrun: pre-commit blocked by ruff, tsc, secrets");
    assert!(time.ends_with(" s"), "{summary}");
    assert_eq!(
        rest,
        "ruff:\n  a.py:1: long\n  b.py:2: import\n\
         tsc:\n  hook `tsc` failed: killed by SIGKILL (fail closed)\n\
         secrets:\n  config.py:3 holds a key\n"
    );
}

#[test]
fn the_report_the_log_and_why_name_every_hook_that_blocked() {
    let git = repository(&three_failures(""));
    git.run("w", &["add", "-A"]).exits(0);
    let ran = git.hookrun(
        "w",
        &["run", "--host", "git", "pre-commit", "--format", "json"],
    );
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["decidedBy"], "ruff");
    assert_eq!(report["alsoBlockedBy"], json!(["tsc", "secrets"]));
    assert_eq!(report["cause"], "policy");
    let github = git.hookrun(
        "w",
        &["run", "--host", "git", "pre-commit", "--format", "github"],
    );
    github
        .prints("ruff blocked commit.pre::a.py:1: long%0Ab.py:2: import\n")
        .prints("secrets blocked commit.pre::config.py:3 holds a key\n");
    git.hookrun("w", &["why"])
        .prints("BLOCKED by ruff, tsc, secrets\n");
    git.hookrun("w", &["why", "--brief"])
        .prints("ruff, tsc, secrets");
}

#[test]
fn a_block_may_end_the_others_or_those_of_later_priorities() {
    let first = "[event.\"commit.pre\"]\nstop = \"first\"\n";
    let ran = repository(&three_failures(first)).commit(&[]);
    ran.exits(1);
    assert_eq!(
        ran.stderr,
        "hookrun: pre-commit blocked by hook `ruff`: a.py:1: long\nb.py:2: import\n"
    );

    let group = "[event.\"pre-commit\"]\nstop = \"group\"\n";
    let ran = repository(&three_failures(group)).commit(&[]);
    ran.exits(1).says("blocked by ruff, tsc; 3 hooks, ");
    assert!(!ran.stderr.contains("secrets"), "{ran:?}");
}

#[test]
fn an_agent_may_want_all_results_too() {
    let settings = "[event.\"tool.pre\"]\nstop = \"never\"\n";
    let manifest = three_failures(settings).replace("commit.pre\"\nshell", "tool.pre\"\nshell");
    let sandbox = Sandbox::new().file("hookrun.toml", &manifest);
    let ran = sandbox.run_shell("ls");
    ran.exits(2).says("secrets:\n  config.py:3 holds a key");
    let call = json!({"session_id": "s", "cwd": sandbox.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let ran = sandbox.ask("claude", "PreToolUse", &call);
    ran.says("config.py:3 holds a key");
}

#[test]
fn what_is_rewritten_is_void_if_any_hook_blocks() {
    let manifest = "[[hook]]\nname = \"no\"\nevent = \"commit.msg\"\nshell = true\n\
        command = 'echo no >&2; exit 1'\npriority = 1\n\n\
        [[hook]]\nname = \"sign\"\nevent = \"commit.msg\"\nshell = true\nrewrite = true\n\
        command = '''echo '{\"update\":{\"message\":\"signed\"}}' '''\n\n\
        [[hook]]\nname = \"asks\"\nevent = \"commit.msg\"\nshell = true\npriority = 200\n\
        command = '''echo '{\"ask\":\"sure?\"}' '''\n";
    let git = repository(manifest);
    let ran = git.commit(&[]);
    ran.exits(1).says("commit-msg blocked by hook `no`: no\n");
    assert_eq!(git.sandbox.read("w/.git/COMMIT_EDITMSG"), "a commit\n");
}

#[test]
fn hooks_of_a_commit_run_at_once_unless_they_say_otherwise() {
    let wait = |other: &str, own: &str| {
        format!("touch {own}; while ! test -e {other}; do sleep 0.01; done")
    };
    let together = [
        hook("a", &wait("b", "a"), ""),
        hook("b", &wait("a", "b"), ""),
    ]
    .concat();
    repository(&together).commit(&[]).exits(0);

    let no = "parallel = false";
    let alone = "test ! -e busy || exit 1; touch busy; sleep 0.05; rm busy";
    let apart = [
        hook("a", alone, no),
        hook("b", alone, no),
        hook("c", alone, no),
    ]
    .concat();
    repository(&apart).commit(&[]).exits(0);
    let priorities = [
        hook("a", "sleep 0.1; touch built", "priority = 1"),
        hook("b", "test -e built", "priority = 2"),
    ];
    repository(&priorities.concat()).commit(&[]).exits(0);
}

#[test]
fn the_number_before_a_file_s_name_is_an_order() {
    let sandbox = Sandbox::new()
        .hook_for("commit.pre", "10-build", "sleep 0.1; touch built")
        .hook_for(
            "commit.pre",
            "20-a",
            "test -e built; touch a; while ! test -e b; do sleep 0.01; done",
        )
        .hook_for(
            "commit.pre",
            "20-b",
            "test -e built; touch b; while ! test -e a; do sleep 0.01; done",
        );
    let git = Git::new(sandbox);
    git.hookrun("w", &["install", "git"]).exits(0);
    git.write("w/a.txt");
    git.commit(&[]).exits(0);
}

#[test]
fn hooks_of_git_have_a_minute_or_what_their_event_says() {
    let rules = |sandbox: &Sandbox, hook: usize| {
        let list = sandbox.json(&["list", "--format", "json"]);
        let listed = list["hooks"][hook]["rules"][0].clone();
        (
            listed["timeoutMs"].clone(),
            listed["stop"].clone(),
            listed["schedule"].clone(),
        )
    };
    let hooks = [
        hook("a", "exit 0", ""),
        hook("b", "exit 0", "timeout = \"3s\""),
    ]
    .concat();
    let sandbox = Sandbox::new().file("hookrun.toml", &hooks);
    assert_eq!(
        rules(&sandbox, 0),
        (json!(60_000), json!("never"), json!("grouped"))
    );
    assert_eq!(rules(&sandbox, 1).0, 3000);

    let event = "[event.\"commit.pre\"]\ntimeout = \"2m\"\nstop = \"group\"\n";
    let sandbox = sandbox.file("hookrun.toml", &format!("{hooks}{event}"));
    assert_eq!(
        rules(&sandbox, 0),
        (json!(120_000), json!("group"), json!("grouped"))
    );
    assert_eq!(rules(&sandbox, 1).0, 3000);

    let git = repository(&format!(
        "{}[event.\"commit.pre\"]\ntimeout = \"200ms\"\n",
        hook("slow", "sleep 60", "")
    ));
    git.commit(&[])
        .exits(1)
        .says("blocked: hook `slow` failed: timed out after 200ms");
}

#[test]
fn a_project_does_not_shorten_the_time_of_the_user_s_hooks() {
    let user = "[trust]\npaths = [\"/\"]\n[[hook]]\nname = \"mine\"\nevent = \"commit.pre\"\ncommand = \"true\"\n";
    let project = "[event.\"commit.pre\"]\ntimeout = \"1ms\"\n";
    let sandbox = Sandbox::new()
        .file(crate::sandbox::USER_FILE, user)
        .file("hookrun.toml", project);
    let list = sandbox.json(&["list", "--format", "json"]);
    assert_eq!(list["hooks"][0]["rules"][0]["timeoutMs"], 60_000);
}

#[test]
fn of_a_built_in_event_only_stop_and_timeout_can_be_set() {
    for (table, problem) in [
        (
            "[event.\"commit.post\"]\nstop = \"never\"\n",
            "`stop` has no effect: `commit.post` cannot be blocked",
        ),
        (
            "[event.\"commit.pre\"]\nstop = \"last\"\n",
            "`stop` takes one of \"first\", \"group\", \"never\", not \"last\"",
        ),
        (
            "[event.\"commit.pre\"]\ntimeout = \"1\"\n",
            "`timeout`: `1` is not a duration",
        ),
        (
            "[event.\"commit.pre\"]\nblocks = false\n",
            "`commit.pre` is already a built-in event (a commit is about to be made)",
        ),
        (
            "[event.\"commit.pre\"]\n",
            "`[event.\"commit.pre\"]` sets nothing",
        ),
        (
            "[event.\"commit.pre\"]\nstops = \"never\"\n",
            "unknown key `stops`",
        ),
        (
            "[event.deploy]\nsummary = \"x\"\nblocks = false\nstop = \"never\"\n",
            "`stop` has no effect: `deploy` cannot be blocked",
        ),
    ] {
        let problems = Sandbox::new().file("hookrun.toml", table).problems(&[]);
        assert!(
            problems.len() == 1 && problems[0].contains(problem),
            "{table}: {problems:?}"
        );
    }
    let declared = "[event.\"deploy.pre\"]\nsummary = \"x\"\nstop = \"never\"\ntimeout = \"7s\"\n";
    let event = Sandbox::new().file("hookrun.toml", declared);
    let event = event.json(&["events", "deploy.pre", "--format", "json"]);
    assert_eq!(
        (&event["stop"], &event["timeoutMs"]),
        (&json!("never"), &json!(7000))
    );
}

/// A repository with a commit, whose hooks of an event keep what they see.
fn kept(event: &str) -> Git {
    let git = Git::new(keeper(Sandbox::new(), event));
    for path in ["w/a.txt", "w/b.txt"] {
        git.write(path);
    }
    git.commit(&[]).exits(0);
    git.hookrun("w", &["install", "git"]).exits(0);
    git
}

/// The keys `branch` and `state` that the hook has seen.
fn head(git: &Git) -> (Option<Value>, Option<Value>) {
    let context = seen(git);
    (
        context.get("branch").cloned(),
        context.get("state").cloned(),
    )
}

/// Makes two branches that change `a.txt` differently. `main` is checked out.
fn diverge(git: &Git) {
    let write = |text: &str| fs::write(git.sandbox.at("w/a.txt"), text).unwrap();
    let pass = "--no-verify";
    git.run("w", &["switch", "-q", "-c", "topic"]).exits(0);
    write("topic\n");
    git.commit(&[pass]).exits(0);
    git.run("w", &["switch", "-q", "main"]).exits(0);
    write("main\n");
    git.commit(&[pass]).exits(0);
}

#[test]
fn a_hook_knows_the_branch() {
    let git = kept("commit.pre");
    git.run("w", &["switch", "-q", "-c", "topic/one"]).exits(0);
    git.write("w/c.txt");
    git.commit(&[]).exits(0);
    assert_eq!(head(&git), (Some(json!("topic/one")), None));

    git.run("w", &["switch", "-q", "--detach"]).exits(0);
    git.write("w/d.txt");
    git.commit(&[]).exits(0);
    assert_eq!(head(&git), (Some(Value::Null), None));

    // A linked work tree has a file in the place of the folder.
    git.run("w", &["worktree", "add", "-q", "../other", "-b", "linked"])
        .exits(0);
    git.write("other/e.txt");
    git.run("other", &["add", "-A"]).exits(0);
    git.run("other", &["commit", "-q", "-m", "x"]).exits(0);
    assert_eq!(head(&git), (Some(json!("linked")), None));
}

#[test]
fn a_hook_of_a_repository_with_reftables_knows_the_branch_too() {
    let git = Git::new(keeper(Sandbox::new(), "commit.pre"));
    let made = git.run(
        ".",
        &["init", "-q", "-b", "main", "--ref-format=reftable", "t"],
    );
    if made.status != 0 {
        // This git is older than reftables.
        return;
    }
    git.hookrun("t", &["install", "git"]).exits(0);
    git.write("t/a.txt");
    git.run("t", &["add", "-A"]).exits(0);
    git.run("t", &["commit", "-q", "-m", "x"]).exits(0);
    assert_eq!(head(&git), (Some(json!("main")), None));
    git.run("t", &["switch", "-q", "-c", "topic"]).exits(0);
    fs::write(git.sandbox.at("t/a.txt"), "topic\n").unwrap();
    git.run("t", &["commit", "-q", "-a", "-m", "x"]).exits(0);
    git.run("t", &["switch", "-q", "--detach", "main"]).exits(0);
    fs::write(git.sandbox.at("t/a.txt"), "main\n").unwrap();
    git.run("t", &["commit", "-q", "-a", "-m", "x"]).exits(0);
    git.run("t", &["cherry-pick", "topic"]).exits(1);
    git.run("t", &["add", "-A"]).exits(0);
    git.run("t", &["commit", "-q", "-m", "x"]).exits(0);
    assert_eq!(head(&git), (Some(Value::Null), Some(json!("cherry-pick"))));
}

#[test]
fn a_hook_knows_which_operation_is_in_progress() {
    for (operation, words, branch) in [
        ("merge", ["merge", "topic"].as_slice(), json!("main")),
        ("rebase", &["rebase", "topic"], Value::Null),
        ("cherry-pick", &["cherry-pick", "topic"], json!("main")),
        ("revert", &["revert", "--no-edit", "HEAD^"], json!("main")),
    ] {
        let git = kept("commit.pre");
        diverge(&git);
        if operation == "revert" {
            // The commit before changes what the last one changed again.
            fs::write(git.sandbox.at("w/a.txt"), "again\n").unwrap();
            git.commit(&["--no-verify"]).exits(0);
        }
        git.run("w", words).exits(1);
        git.write("w/a.txt");
        git.run("w", &["add", "-A"]).exits(0);
        git.run("w", &["commit", "-q", "--allow-empty", "-m", "solved"])
            .exits(0);
        let wanted = (Some(branch), Some(json!(operation)));
        assert_eq!(head(&git), wanted, "{operation}");
    }
}

#[test]
fn the_message_a_merge_and_a_push_have_a_branch_as_well() {
    let git = kept("commit.msg");
    git.write("w/c.txt");
    git.commit(&[]).exits(0);
    assert_eq!(head(&git), (Some(json!("main")), None));

    let git = kept("push.pre");
    git.run("w", &["push", "-q", "origin", "main"]).exits(0);
    assert_eq!(head(&git), (Some(json!("main")), None));

    let git = kept("merge.pre");
    diverge(&git);
    git.run("w", &["switch", "-q", "-c", "third", "HEAD^"])
        .exits(0);
    git.write("w/c.txt");
    git.commit(&["--no-verify"]).exits(0);
    git.run("w", &["merge", "-q", "--no-edit", "topic"])
        .exits(0);
    assert_eq!(head(&git), (Some(json!("third")), Some(json!("merge"))));
}

#[test]
fn a_rule_keeps_commits_off_a_branch() {
    let rule = "[[rule]]\nevent = \"commit.pre\"\nwhere = { branch = \"^(main|release/.*)$\" }\n\
                deny = \"no commits on {branch}\"\n";
    let git = repository(rule);
    git.commit(&[]).exits(1).says("no commits on main\n");
    git.run("w", &["switch", "-q", "-c", "topic"]).exits(0);
    git.commit(&[]).exits(0);
    // Where HEAD cannot be read, it may be that branch.
    fs::remove_file(git.sandbox.at("w/.git/HEAD")).unwrap();
    git.hookrun("w", &["run", "--host", "git", "pre-commit"])
        .exits(1)
        .says("pre-commit blocked: cannot read `");
}

#[test]
fn a_message_must_match() {
    let rule = "[[rule]]\nevent = \"commit.msg\"\nexcept = { where = { message = '^(feat|fix): ' } }\n\
                deny = \"begin the message with feat or fix\"\n";
    let git = repository(rule);
    git.commit(&[])
        .exits(1)
        .says("begin the message with feat or fix");
    git.run("w", &["commit", "-q", "-m", "docs: x\n\nfeat: y"])
        .exits(1);
    git.run("w", &["commit", "-q", "-m", "feat: x"]).exits(0);
    let nothing = Sandbox::new().file(
        "hookrun.toml",
        "[[rule]]\nevent = \"commit.msg\"\ndeny = \"x\"\n",
    );
    let problems = nothing.problems(&[]);
    assert!(
        problems[0].contains("the rule would match every event"),
        "{problems:?}"
    );
}

#[test]
fn a_hook_may_leave_events_out() {
    let keys = "unless = { where = { state = '^(merge|rebase)$' } }";
    let git = repository(&hook("tsc", "echo no >&2; exit 1", keys));
    git.commit(&["--no-verify"]).exits(0);
    diverge(&git);
    git.run("w", &["merge", "topic"]).exits(1);
    git.run("w", &["add", "-A"]).exits(0);
    git.run("w", &["commit", "-q", "-m", "merged"]).exits(0);
    git.write("w/c.txt");
    git.commit(&[]).exits(1).says("blocked by hook `tsc`: no");
    let why = git.hookrun("w", &["why", "--all"]);
    why.prints("its exception matches the event: state /^(merge|rebase)$/");

    let directives =
        "# hookrun: path=*.txt unless.path=vendor/** unless.where.branch='^wip/'\nexit 1";
    let sandbox = Sandbox::new().hook_for("commit.pre", "10-no", directives);
    assert!(
        sandbox.problems(&[]).is_empty(),
        "{:?}",
        sandbox.problems(&[])
    );
    let decides = |context: Value| {
        sandbox
            .hookrun(&["run", "commit.pre"], context.to_string().as_bytes())
            .status
    };
    let changes = |path: &str| json!([{ "path": path, "status": "A" }]);
    assert_eq!(
        decides(json!({"branch": "main", "changes": changes("a.txt")})),
        2
    );
    assert_eq!(
        decides(json!({"branch": "wip/x", "changes": changes("a.txt")})),
        2,
        "both must match"
    );
    assert_eq!(
        decides(json!({"branch": "wip/x", "changes": changes("vendor/a.txt")})),
        0
    );
}

#[test]
fn what_a_hook_leaves_out_is_checked() {
    for (keys, problem) in [
        (
            "unless = { state = \"merge\" }",
            "to match a field of the context, write `where = { state = … }`",
        ),
        (
            "unless = { where = { stat = \"merge\" } }",
            "did you mean `where.state`?",
        ),
        (
            "unless = \"merge\"",
            "`unless` takes a table, not \"merge\"",
        ),
        ("unless = { path = \"[\" }", "`[` is not a valid pattern"),
    ] {
        let sandbox = Sandbox::new().file("hookrun.toml", &hook("x", "exit 0", keys));
        let problems = sandbox.problems(&[]);
        assert!(
            problems.len() == 1 && problems[0].contains(problem),
            "{keys}: {problems:?}"
        );
    }
    let sandbox = Sandbox::new().hook_for("commit.pre", "10-x", "# hookrun: unless.timeout=1s\n");
    let problems = sandbox.problems(&[]);
    assert!(
        problems[0].contains("unknown setting `unless.timeout`"),
        "{problems:?}"
    );
}

const GUARDS: &str =
    "[[rule]]\nname = \"no-env\"\nevent = \"commit.pre\"\npath = \".env\"\ndeny = \"no\"\n\n";

#[test]
fn a_person_skips_hooks_of_the_project_by_a_variable() {
    let manifest = [
        GUARDS,
        &hook("eslint", "exit 1", ""),
        &hook("ruff", "exit 1", ""),
    ]
    .concat();
    let git = repository(&manifest);
    let ran = commit_with(&git, "HOOKRUN_SKIP", "eslint, ruff");
    ran.exits(0);
    assert_eq!(
        ran.stderr,
        "skip eslint (HOOKRUN_SKIP)\nskip ruff (HOOKRUN_SKIP)\n"
    );
    git.hookrun("w", &["why"]).prints("skipped by HOOKRUN_SKIP");

    git.write("w/a.txt");
    let ran = commit_with(&git, "HOOKRUN_SKIP", "elsint,ruff");
    ran.exits(1)
        .says("warning: HOOKRUN_SKIP names `elsint`, which is not one of this project's git hooks; did you mean `eslint`?\n")
        .says("pre-commit blocked by hook `eslint`");

    git.write("w/.env");
    let ran = commit_with(&git, "HOOKRUN_SKIP", "eslint,ruff,no-env");
    ran.exits(1)
        .says("cannot skip no-env (HOOKRUN_SKIP): it is a rule\n")
        .says("pre-commit blocked by hook `no-env`: no");
}

#[test]
fn nobody_skips_hooks_of_the_user_of_agents_or_of_strangers() {
    let user = "[trust]\npaths = [\"/\"]\n[[hook]]\nname = \"mine\"\nevent = \"commit.pre\"\ncommand = \"false\"\n";
    let guard =
        "[[hook]]\nname = \"tsc\"\nevent = [\"tool.pre\", \"commit.pre\"]\ncommand = \"false\"\n";
    let sandbox = Sandbox::new().file(crate::sandbox::USER_FILE, user);
    let git = Git::new(sandbox.file("w/hookrun.toml", guard));
    git.hookrun("w", &["install", "git"]).exits(0);
    commit_with(&git, "HOOKRUN_SKIP", "mine,tsc")
        .exits(1)
        .says("cannot skip mine (HOOKRUN_SKIP): it is in the user layer\nskip tsc (HOOKRUN_SKIP)\n")
        .says("blocked by hook `mine`");
    let call = br#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let ran = git.sandbox.hookrun_as(
        |command| _ = command.env("HOOKRUN_SKIP", "tsc"),
        &["run", "tool.pre", "--hooks", "w"],
        call,
    );
    ran.exits(2).says("hook `tsc` exited with status 1");

    let git = Git::new(Sandbox::new().without_trust().file("w/hookrun.toml", guard));
    // It leaves to the person to trust the hooks.
    git.hookrun("w", &["install", "git"]).exits(1);
    commit_with(&git, "HOOKRUN_SKIP", "tsc")
        .exits(1)
        .says("hooks not trusted: run `hookrun trust`");
}

#[test]
fn one_reason_of_several_hooks_is_said_once() {
    let manifest = [hook("tsc", "exit 0", ""), hook("ruff", "exit 0", "")].concat();
    let git = Git::new(
        Sandbox::new()
            .without_trust()
            .file("w/hookrun.toml", &manifest),
    );
    git.hookrun("w", &["install", "git"]).exits(1);
    let ran = git.commit(&[]);
    ran.exits(1)
        .says("blocked by tsc, ruff;")
        .says("tsc, ruff:\n  hooks not trusted: run `hookrun trust`")
        .says("`tsc`, `ruff` did not run");
    assert_eq!(ran.stderr.matches("not trusted").count(), 1, "{ran:?}");
}

#[test]
fn a_local_file_switches_hooks_of_git_off() {
    let manifest = [
        GUARDS,
        &hook("tsc", "exit 1", ""),
        &hook("ruff", "exit 0", ""),
    ]
    .concat();
    let git = repository(&manifest);
    let local = "# too slow here\n[hook.tsc]\nenabled = false\n";
    fs::write(git.sandbox.at("w/hookrun.local.toml"), local).unwrap();
    fs::write(
        git.sandbox.at("w/.git/info/exclude"),
        "hookrun.local.toml\n",
    )
    .unwrap();
    let ran = git.commit(&[]);
    ran.exits(0);
    assert_eq!(ran.stderr, "skip tsc (hookrun.local.toml)\n");
    git.hookrun("w", &["why"]).prints("skip    tsc\n");
    let listed = git.hookrun("w", &["list"]);
    listed
        .says("note: hookrun.local.toml:2:7: `tsc` does not run for commit.pre")
        .prints("tsc     every event  (disabled: enabled = false)");
    git.hookrun("w", &["doctor"])
        .prints("`tsc` does not run for commit.pre");
    // Who tests hooks wants to see them run.
    git.hookrun("w", &["test", "commit.pre"]).exits(1);
}

#[test]
fn a_local_file_switches_nothing_else_off() {
    let manifest = [
        GUARDS,
        &hook("tsc", "exit 1", ""),
        "[[hook]]\nname = \"agent\"\nevent = \"tool.pre\"\ncommand = \"false\"\n",
    ]
    .concat();
    for (name, problem) in [
        ("no-env", "`no-env` cannot be disabled here: it is a rule"),
        (
            "agent",
            "`agent` cannot be disabled here: tool.pre is not a git event",
        ),
        ("tcs", "no hook of this project is named `tcs`"),
    ] {
        let local = format!("[hook.{name}]\nenabled = false\n");
        let sandbox = Sandbox::new().file("hookrun.toml", &manifest);
        let sandbox = sandbox.file("hookrun.local.toml", &local);
        let listed = sandbox.hookrun(&["list"], b"");
        listed.says(&format!("warning: hookrun.local.toml:1:7: {problem}"));
        assert!(!listed.stdout.contains("disabled"), "{listed:?}");
    }
    for (local, problem) in [
        ("[hook.tsc]\ntimeout = \"1s\"\n", "unknown key `timeout`"),
        (
            "[hook.10-a.sh]\nenabled = false\n",
            "the dot in `10-a.sh` makes this two nested tables",
        ),
        ("[rule.x]\n", "unknown key `rule`"),
        (
            "[hook.tsc]\nenabled = 0\n",
            "`enabled` takes true or false, not 0",
        ),
    ] {
        let sandbox = Sandbox::new().file("hookrun.toml", &manifest);
        let sandbox = sandbox.file("hookrun.local.toml", local);
        sandbox.hookrun(&["list"], b"").exits(1).says(problem);
        sandbox
            .run("commit.pre")
            .exits(2)
            .says("hookrun.local.toml");
    }
}

#[test]
fn a_local_file_counts_for_trust() {
    let git = Git::new(
        Sandbox::new()
            .without_trust()
            .file("w/hookrun.toml", &hook("tsc", "exit 1", "")),
    );
    let trust = || {
        let shown = git.hookrun("w", &["trust", "--show"]).stdout;
        let digest = shown.split_once("sha256:").unwrap().1;
        let digest = format!("sha256:{}", &digest[..64]);
        git.hookrun("w", &["trust", "--digest", &digest]).exits(0);
    };
    trust();
    git.hookrun("w", &["install", "git"]).exits(0);
    git.commit(&[]).exits(1).says("blocked by hook `tsc`");
    // An agent may write this file.
    fs::write(
        git.sandbox.at("w/hookrun.local.toml"),
        "[hook.tsc]\nenabled = false\n",
    )
    .unwrap();
    git.commit(&[])
        .exits(1)
        .says("hooks changed: run `hookrun trust` at a terminal")
        .says("hookrun.local.toml");
    trust();
    git.commit(&[])
        .exits(0)
        .says("skip tsc (hookrun.local.toml)\n");
}

#[test]
fn a_local_file_that_is_committed_is_reported() {
    let git = repository(&hook("tsc", "exit 0", ""));
    let local = "[hook.tsc]\nenabled = false\n";
    fs::write(git.sandbox.at("w/hookrun.local.toml"), local).unwrap();
    git.run("w", &["add", "-f", "hookrun.local.toml"]).exits(0);
    let ran = git.hookrun("w", &["doctor", "git"]);
    ran.prints("git tracks this file, so the hooks that it disables are disabled for everyone");
}
