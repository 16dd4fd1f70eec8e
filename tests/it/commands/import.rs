//! `hookrun import TOOL`: the hooks of other tools.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};
use crate::trust::QUESTION;
use crate::ui::screen::{at, at_terminal};

fn import(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut all = vec!["import"];
    all.extend(arguments);
    sandbox.hookrun(&all, b"")
}

/// What `list` says of hooks that does not depend on where they are written.
fn listed(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["list", "--format", "json"];
    all.extend(arguments);
    let list = sandbox.json(&all);
    let hooks = list["hooks"].as_array().unwrap().iter();
    let keys = [
        "event",
        "dialect",
        "hostEvent",
        "timeoutMs",
        "parallel",
        "onFailure",
        "description",
    ];
    hooks
        .map(|hook| keys.iter().map(|key| (*key, hook[*key].clone())).collect())
        .collect()
}

#[test]
fn hooks_of_hosts_keep_their_events_timeouts_and_order() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/settings");
    for (host, fixture, file) in [
        ("claude", "claude.json", ".claude/settings.json"),
        ("codex", "codex.json", ".codex/hooks.json"),
        ("codex", "codex.toml", ".codex/config.toml"),
        ("gemini", "gemini.json", ".gemini/settings.json"),
        ("cursor", "cursor.json", ".cursor/hooks.json"),
        ("copilot", "copilot.json", ".github/hooks/guard.json"),
    ] {
        let text = fs::read_to_string(fixtures.join(fixture)).unwrap();
        let text = text.replace("\"env\": { \"LEVEL\": \"high\" },", "");
        let sandbox = Sandbox::new().file(file, &text);
        let theirs = listed(&sandbox, &["--settings", file]);
        assert_eq!(theirs.len(), 2, "{fixture}");
        import(&sandbox, &[host, "--dry-run"])
            .exits(0)
            .prints("+[[hook]]")
            .prints("2 hooks imported");
        sandbox.has_no_file("hookrun.toml");
        import(&sandbox, &[host])
            .exits(0)
            .prints("wrote hookrun.toml")
            .prints("2 hooks imported");
        assert_eq!(
            listed(&sandbox, &[]),
            theirs,
            "{fixture}: {}",
            sandbox.read("hookrun.toml")
        );
        assert_eq!(sandbox.problems(&[]), Vec::<String>::new(), "{fixture}");
        let written = sandbox.read("hookrun.toml");
        assert!(
            written.starts_with(&format!("# From {file}, hooks.")),
            "{written}"
        );
        import(&sandbox, &[host])
            .exits(0)
            .prints("0 hooks imported")
            .prints("is already here");
        assert_eq!(sandbox.read("hookrun.toml"), written);
        assert_eq!(sandbox.read(file), text);
        let block = json!({ "toolName": "bash", "toolInput": { "command": "ls" } });
        let sandbox = sandbox.file("answer", "").file("context", "");
        sandbox
            .hookrun(&["run", "tool.pre"], block.to_string().as_bytes())
            .exits(0);
        sandbox.has_file("seen");
        fs::remove_file(sandbox.at("seen")).unwrap();
        let other = json!({ "toolName": "read", "toolInput": { "file_path": "a" } });
        sandbox
            .hookrun(&["run", "tool.pre"], other.to_string().as_bytes())
            .exits(0);
        sandbox.has_no_file("seen");
    }
}

#[test]
fn what_entries_cannot_say_is_named_with_the_reason() {
    let hooks = json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "mcp__git__.*", "hooks": [{ "command": "./a.sh" }] },
            { "matcher": "(?!x)", "hooks": [{ "command": "./b.sh" }] },
            { "hooks": [{ "type": "prompt", "prompt": "may it?" }] },
            { "hooks": [{ "command": "./c.sh", "async": true }] },
            { "hooks": [{ "command": "./d.sh", "if": "Bash(git *)" }] },
            { "hooks": [{ "command": "/usr/bin/hookrun run --host claude" }] },
            { "matcher": "Bash", "hooks": [{ "command": "./a.sh", "args": ["x y"], "onFailure": "block" }] },
        ],
        "SessionStart": [{ "matcher": "startup|resume", "hooks": [{ "command": "./a.sh\n[[hook]]" }] }],
        "Brandnew": [{ "hooks": [{ "command": "./a.sh" }] }],
        "PostToolUse": { "matcher": "Bash", "hooks": [{ "command": "true" }] },
        "Stop": [
            { "command": "true" },
            { "hooks": { "command": "true" } },
            { "hooks": [{ "command": "true", "timeout": -1 }] },
            { "matcher": ["Bash"], "hooks": [{ "command": "true" }] },
            { "hooks": [{ "command": "python3 'x.py'" }] },
        ],
    }});
    let sandbox = Sandbox::new().file("x/settings.json", &hooks.to_string());
    let ran = import(
        &sandbox,
        &["claude", "x/settings.json", "--hooks", "shared"],
    );
    ran.exits(0)
        .prints("3 hooks imported")
        .prints("wrote shared/hookrun.toml");
    for (place, why) in [
        (
            "PreToolUse[1].hooks[0]",
            "the matcher `(?!x)` is not a valid regular expression",
        ),
        ("PreToolUse[3].hooks[0]", "it runs in the background"),
        ("PreToolUse[4].hooks[0]", "`if: Bash(git *)` has no key"),
        ("PreToolUse[5].hooks[0]", "it runs hookrun itself"),
        (
            "Stop[4].hooks[0]",
            "its file paths are relative to the folder",
        ),
    ] {
        ran.prints(&format!("  x/settings.json, hooks.{place}: {why}"));
    }
    for problem in [
        "a hook of the kind `prompt` is not run by hookrun",
        "`Brandnew` is no event of claude that hookrun knows",
        "`PostToolUse` takes a list of hooks, not an object",
        "the group has no `hooks`",
        "`hooks` takes a list of hooks, not an object",
        "`timeout` takes seconds, more than 0, not -1",
        "`matcher` takes a string, not a list",
    ] {
        ran.says(": x/settings.json:1:").says(problem);
    }
    let text = sandbox.read("shared/hookrun.toml");
    for part in [
        "match = { where = { toolName = 'mcp__git__.*' } }",
        "command = \"./a.sh 'x y'\"\ndialect = 'claude'",
        "on_failure = \"block\"\nmatch = { tool = 'Bash' }",
        "match = { where = { source = '^(startup|resume)$' } }",
        "name = 'claude-a-2'",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    import(&Sandbox::new(), &["gemini"])
        .exits(2)
        .says("no settings of gemini here");
    import(&Sandbox::new(), &["make"]).exits(2).says("lefthook");
    let mut many = "a0: &a0 [x, x]\n".to_string();
    for level in 1..40 {
        many.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1));
    }
    let bomb = Sandbox::new().file("lefthook.yml", &many);
    import(&bomb, &["lefthook"])
        .exits(2)
        .says("aliases make more than");
    let broken = Sandbox::new().file("lefthook.yml", "pre-commit: [");
    import(&broken, &["lefthook"])
        .exits(2)
        .says("`lefthook.yml`: ");
    let other = |text: &str| {
        import(
            &Sandbox::new().file("x.json", text),
            &["claude", "x.json", "--dry-run"],
        )
    };
    other("{\"hooks\":").exits(2).says("`x.json`: is no JSON");
    let toml = Sandbox::new().file(".codex/config.toml", "[hooks\n");
    import(&toml, &["codex"])
        .exits(2)
        .says("`.codex/config.toml`: ");
    import(&toml, &["codex", "no.json"])
        .exits(2)
        .says("`no.json` is not there");
    let pipe = Sandbox::new().file(".claude/x", "");
    pipe.hookrun_by_shell("mkfifo .claude/settings.json", b"")
        .exits(0);
    import(&pipe, &["claude"])
        .exits(2)
        .says("cannot read `.claude/settings.json`: it is not a file");
    pipe.hookrun(&["init", "--dry-run"], b"")
        .exits(0)
        .prints("`hookrun import claude`");
    other("{\"hooks\": [1]}").says("x.json:1:11: `hooks` takes a table, not a list");
}

#[test]
fn what_is_no_toml_is_not_added_to() {
    let settings =
        json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "it's $(x)" }] }] } });
    for there in ["alias ll='ls -l'\n", "hook = []\n"] {
        let sandbox = Sandbox::new().file(".claude/settings.json", &settings.to_string());
        let sandbox = sandbox.file("hookrun.toml", there);
        import(&sandbox, &["claude"])
            .exits(2)
            .says("nothing was written");
        assert_eq!(sandbox.read("hookrun.toml"), there);
    }
}

#[test]
fn only_whole_words_of_a_line_become_paths_of_the_project() {
    for (line, becomes) in [
        (
            "python3 /opt/x.py && python3 x.py",
            r#"python3 /opt/x.py && python3 "$HOOKRUN_PROJECT_DIR"/x.py"#,
        ),
        (
            r#"python3 "x.py" y"#,
            r#"python3 "$HOOKRUN_PROJECT_DIR/x.py" y"#,
        ),
    ] {
        let hook = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": line }] }] } });
        let sandbox = Sandbox::new().file(".claude/settings.json", &hook.to_string());
        import(&sandbox, &["claude", "--dry-run"]).prints(&format!("command = '{becomes}'"));
    }
}

#[test]
fn an_agent_cannot_make_hooks_trusted_by_importing_them() {
    let settings = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "true" }] }] } });
    let sandbox = || {
        let sandbox = Sandbox::new().without_trust().file("event", "");
        sandbox.file(".claude/settings.json", &settings.to_string())
    };
    let alone = sandbox();
    import(&alone, &["claude"])
        .exits(0)
        .prints("  to do: `hookrun trust`");
    alone.run_shell("ls").blocks_saying("hookrun trust");
    // A terminal can be made: somebody has to answer.
    let unanswered = sandbox();
    at_terminal(&unanswered, &["import", "claude"], &[at(QUESTION, "\r")]).exits(0);
    unanswered.run_shell("ls").blocks_saying("hookrun trust");
    let attended = sandbox();
    at_terminal(&attended, &["import", "claude"], &[at(QUESTION, "y\r")]).exits(0);
    attended.run_shell("ls").allows();
}

/// A repository in which these files are staged.
fn repository(sandbox: &Sandbox, staged: &str) {
    let git = format!("git init -q . 2>/dev/null; git add {staged}");
    sandbox.hookrun_by_shell(&git, b"").exits(0);
}

/// What git asks; the hooks find this hookrun in PATH.
fn asked(sandbox: &Sandbox, words: &str) -> Ran {
    let own = Path::new(env!("CARGO_BIN_EXE_hookrun"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    let line = format!("PATH=\"{own}:$PATH\" exec \"$0\" run --host git {words}");
    sandbox.hookrun_by_shell(&line, b"")
}

const PRE_COMMIT: &str = r"
repos:
- repo: local
  hooks:
  - id: count
    entry: sh -c 'echo ran >>ran'
    language: system
    pass_filenames: no
    stages: [commit, commit-msg, manual]
  - { id: typed, entry: ./t, language: system, types: [python] }
  - { id: none, language: system, pass_filenames: false }
- repo: https://example.com/black
  rev: v1
  hooks: [{ id: black }]
";

#[test]
fn local_hooks_of_pre_commit_run_by_themselves_and_others_by_pre_commit() {
    let program = "#!/bin/sh\necho \"$@\" >>called\n";
    let sandbox = Sandbox::new()
        .file(".pre-commit-config.yaml", PRE_COMMIT)
        .script("bin/pre-commit", program)
        .file("good.py", "x");
    let path = format!(
        "{}:/usr/local/bin:/usr/bin:/bin",
        sandbox.at("bin").display()
    );
    let sandbox = sandbox.variable("PATH", &path);
    let ran = import(&sandbox, &["pre-commit"]);
    ran.exits(0)
        .prints("4 hooks imported")
        .prints("`hookrun install git` makes them run");
    ran.prints("count at manual: `manual` is no hook of git");
    ran.prints("none at pre-commit: it has no command");
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    repository(&sandbox, "good.py");
    asked(&sandbox, "pre-commit").exits(0);
    assert_eq!(sandbox.read("ran"), "ran\n");
    let called = "run typed --hook-stage pre-commit\nrun black --hook-stage pre-commit\n";
    assert_eq!(sandbox.read("called"), called);
}

const LEFTHOOK: &str = r#"
pre-commit:
  parallel: true
  commands:
    lint:
      glob: "*.js"
      run: ./lint.sh --strict
    files: { run: "x {staged_files}" }
    fix: { run: x, stage_fixed: true }
    deep: { run: x, glob: "web/*.js" }
    none: { run: "" }
  jobs:
    - { name: plain, run: "test -e a.txt" }
commit-msg:
  scripts:
    "subject.sh": { runner: sh }
assert:
  commands: { x: { run: y } }
"#;

#[test]
fn commands_jobs_and_scripts_of_lefthook_run_for_the_same_files() {
    let sandbox = Sandbox::new()
        .file("lefthook.yml", LEFTHOOK)
        .script("lint.sh", "#!/bin/sh\necho \"$*\" >>linted\n")
        .file(
            ".lefthook/commit-msg/subject.sh",
            "grep -q '^fix: ' \"$1\"\n",
        )
        .file("a.js", "good")
        .file("a.txt", "bad");
    let ran = import(&sandbox, &["lefthook"]);
    ran.exits(0)
        .prints("3 hooks imported")
        .prints("fix: `stage_fixed` has no key in hookrun")
        .prints("deep: its `glob` means other files in hookrun");
    ran.prints("lefthook.yml, pre-commit.none: it has no command");
    ran.prints("placeholders that only lefthook replaces")
        .prints("assert: it is not a git hook");
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    assert!(sandbox.read("hookrun.toml").contains("parallel = true"));
    repository(&sandbox, "a.txt");
    asked(&sandbox, "pre-commit").exits(0);
    sandbox.has_no_file("linted");
    repository(&sandbox, "a.js");
    asked(&sandbox, "pre-commit").exits(0);
    assert_eq!(sandbox.read("linted"), "--strict\n");
    let sandbox = sandbox.file("message", "wip\n");
    asked(&sandbox, "commit-msg -- message").exits(1);
    let sandbox = sandbox.file("message", "fix: it\n");
    asked(&sandbox, "commit-msg -- message").exits(0);
}

#[test]
fn scripts_of_husky_run_as_husky_runs_them() {
    let sandbox = Sandbox::new()
        .file(".husky/pre-commit", "lint-all\n")
        .file(".husky/commit-msg", "grep -q '^fix: ' \"$1\"\n")
        .file(".husky/pre-push", "while read ref; do :; done\n")
        .file(".husky/post-checkout", "echo \"$1\"\n")
        .file(".husky/_/husky.sh", "")
        .script("node_modules/.bin/lint-all", "#!/bin/sh\n[ ! -e bad ]\n")
        .file("message", "wip\n");
    let ran = import(&sandbox, &["husky"]);
    ran.exits(0)
        .prints("2 hooks imported")
        .prints(".husky/pre-push: it reads git's input");
    ran.prints(".husky/post-checkout: it reads arguments, but hooks of checkout.post get JSON");
    repository(&sandbox, "message");
    asked(&sandbox, "pre-commit").exits(0);
    asked(&sandbox, "commit-msg -- message").exits(1);
    let sandbox = sandbox.file("bad", "").file("message", "fix: it\n");
    repository(&sandbox, "bad");
    asked(&sandbox, "pre-commit").exits(1);
    asked(&sandbox, "commit-msg -- message").exits(0);
    let ran = sandbox.hookrun(&["init", "--guard", "none", "--dry-run"], b"");
    ran.exits(0)
        .prints(".husky/commit-msg, .husky/pre-commit has hooks: `hookrun import husky`");
}
