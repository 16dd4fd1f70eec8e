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
fn specs_of_loom_become_hooks_of_its_dialect() {
    let specs = json!({ "hooks": {
        "tool.pre": [
            { "type": "command", "name": "policy", "command": "./check.sh | cat", "timeoutMs": 1500 },
            { "type": "approve", "name": "person" },
        ],
        "tool.per": [{ "name": "typo", "command": "true" }],
    }});
    let sandbox = Sandbox::new()
        .file("agent.json", &specs.to_string())
        .script(
            "check.sh",
            "#!/bin/sh\necho '{\"continue\": false, \"reason\": \"not that\"}'\n",
        );
    import(&sandbox, &["loom"])
        .exits(0)
        .prints("1 hook imported")
        .prints("person: only loom can run a spec of type `approve`")
        .prints("typo: loom has no event `tool.per`");
    let list = sandbox.json(&["list", "--format", "json"]);
    assert_eq!(list["hooks"][0]["dialect"], "loom");
    assert_eq!(list["hooks"][0]["rules"][0]["timeoutMs"], 1500);
    sandbox.run("tool.pre").blocks_saying("not that");
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
            .prints("2 hooks would be imported");
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
            .prints("already exists");
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
        ("PreToolUse[3].hooks[0]", "this hook runs in the background"),
        (
            "PreToolUse[4].hooks[0]",
            "`if: Bash(git *)` cannot be imported",
        ),
        ("PreToolUse[5].hooks[0]", "this hook already runs hookrun"),
        (
            "Stop[4].hooks[0]",
            "hookrun cannot convert the relative paths in this command",
        ),
    ] {
        ran.prints(&format!("  x/settings.json, hooks.{place}: {why}"));
    }
    for problem in [
        "hookrun does not run a hook of type `prompt`",
        "unknown claude event `Brandnew`",
        "`PostToolUse` takes a list of hooks, not an object",
        "the group has no `hooks`",
        "`hooks` takes a list of hooks, not an object",
        "`timeout` takes a number of seconds greater than 0, not -1",
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
        .says("no gemini settings found here");
    import(&Sandbox::new(), &["make"]).exits(2).says("lefthook");
    let mut many = "a0: &a0 [x, x]\n".to_string();
    for level in 1..40 {
        many.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1));
    }
    let bomb = Sandbox::new().file("lefthook.yml", &many);
    import(&bomb, &["lefthook"])
        .exits(2)
        .says("aliases expand to more than");
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
    other("{\"hooks\":")
        .exits(2)
        .says("x.json:1:9: not valid JSON");
    let toml = Sandbox::new().file(".codex/config.toml", "[hooks\n");
    import(&toml, &["codex"])
        .exits(2)
        .says("no hook in `.codex/config.toml` can be read");
    import(&toml, &["codex", "no.json"])
        .exits(2)
        .says("no such file: `no.json`");
    let pipe = Sandbox::new().file(".claude/x", "");
    pipe.hookrun_by_shell("mkfifo .claude/settings.json", b"")
        .exits(0);
    import(&pipe, &["claude"])
        .exits(2)
        .says("cannot read `.claude/settings.json`: it is not a regular file");
    other("{\"hooks\": [1]}").says("x.json:1:11: `hooks` takes an object, not a list");
}

#[test]
fn permissions_of_a_host_stay_there_and_are_named() {
    let settings = json!({
        "permissions": { "allow": ["Read"], "deny": ["Bash(rm *)", "Read(.env)"], "ask": ["Write"] },
        "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "true" }] }] },
    });
    let sandbox = Sandbox::new().file(".claude/settings.json", &settings.to_string());
    import(&sandbox, &["claude"])
        .exits(0)
        .prints("1 hook imported\nnot imported\n")
        .prints("settings.json, permissions.deny: Claude Code still applies the 2 rules there\n")
        .prints("settings.json, permissions.ask: Claude Code still applies the 1 rule there\n");
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
        .prints("  to do: run `hookrun trust`");
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
exclude: ^vendor/
fail_fast: true
repos:
- repo: local
  hooks:
  - id: count
    entry: sh -c 'echo ran >>ran'
    language: system
    pass_filenames: false
    always_run: true
    stages: [commit, commit-msg, manual]
  - { id: lint, entry: ./lint.sh, args: [--strict], language: script, files: '\.py$', require_serial: true }
  - { id: trim, entry: sed -i 's/x/y/', language: system, files: '\.js$', types: [text] }
  - { id: odd, entry: ./t, language: system, files: '^a.*b$' }
  - { id: none, language: system, pass_filenames: false }
- repo: https://example.com/black
  rev: v1
  hooks: [{ id: black }]
";

#[test]
fn local_hooks_of_pre_commit_run_by_themselves_and_others_by_pre_commit() {
    let sandbox = Sandbox::new()
        .file(".pre-commit-config.yaml", PRE_COMMIT)
        .script(
            "bin/pre-commit",
            "#!/bin/sh\necho \"$@\" >>\"$TOP/called\"\n",
        )
        .script(
            "lint.sh",
            "#!/bin/sh\necho \"$@\" >>\"$TOP/linted\"\nshift\n! grep -l BAD \"$@\"\n",
        )
        .file("good.py", "x")
        .file("vendor/other.py", "BAD");
    let path = format!(
        "{}:/usr/local/bin:/usr/bin:/bin",
        sandbox.at("bin").display()
    );
    let top = sandbox.path().display().to_string();
    let sandbox = sandbox.variable("PATH", &path).variable("TOP", &top);
    let ran = import(&sandbox, &["pre-commit"]);
    ran.exits(0)
        .prints("6 hooks imported")
        .prints("`hookrun install git` makes them run");
    ran.prints("count (manual): `manual` is not a git hook");
    ran.prints("none (pre-commit): this hook has no command");
    ran.prints("fail_fast: add `stop = \"first\"`");
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    let written = sandbox.read("hookrun.toml");
    for part in [
        "command = './lint.sh --strict {files}'",
        "fixes = 'block'\nbatch = 1000000\nmatch = { path = '**/*.py', not = 'vendor/**' }",
        "match = { path = '**/*.js', not = 'vendor/**', type = 'text' }",
        "command = 'pre-commit run odd --hook-stage pre-commit'",
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
    repository(&sandbox, "good.py vendor lint.sh");
    asked(&sandbox, "pre-commit").exits(0);
    assert_eq!(sandbox.read("ran"), "ran\n");
    assert_eq!(sandbox.read("linted"), "--strict good.py\n");
    let mut called: Vec<String> = sandbox.read("called").lines().map(String::from).collect();
    called.sort();
    assert_eq!(
        called,
        [
            "run black --hook-stage pre-commit",
            "run odd --hook-stage pre-commit"
        ]
    );
    // What is staged counts, not what is on the disk.
    let sandbox = sandbox.file("good.py", "BAD");
    repository(&sandbox, "good.py");
    let sandbox = sandbox.file("good.py", "good");
    asked(&sandbox, "pre-commit").exits(1).says("lint");
    repository(&sandbox, "good.py");
    let sandbox = sandbox.file("good.py", "BAD");
    asked(&sandbox, "pre-commit").exits(0);
    // A hook that would change its files blocks, as in pre-commit.
    let sandbox = sandbox.file("a.js", "x");
    repository(&sandbox, "a.js");
    asked(&sandbox, "pre-commit")
        .exits(1)
        .says("would change a.js");
    assert_eq!(sandbox.read("a.js"), "x");
}

const LEFTHOOK: &str = r#"
min_version: 1.0.0
extends: [more.yml]
templates: { say: "echo said" }
pre-commit:
  skip: [merge, rebase]
  follow: true
  commands:
    lint:
      glob: "*.js"
      run: ./lint.sh $HOW {staged_files}
      env: { HOW: --strict }
    fix: { run: "sed -i s/x/y/ {staged_files}", glob: "*.js", stage_fixed: true }
    deep: { run: "false '{staged_files}'", glob: "web/*.ts" }
    root: { run: "./x.sh {staged_files}", root: web/ }
    all: { run: "x {all_files}" }
    none: { run: "" }
    only: { run: x, only: [{ run: z }] }
    ref: { run: x, skip: [merge, { ref: main }] }
    add: { run: "x {staged_files} && git add {staged_files}" }
  jobs:
    - { name: plain, run: "test -e a.txt && echo said >>said" }
    - { name: later, run: "echo ${LATER:-later} >>said" }
    - { name: say, run: "{say} >>said" }
    - { name: both, group: { jobs: [{ run: x }] } }
commit-msg:
  piped: true
  parallel: true
  scripts:
    "subject.sh": { runner: sh }
  commands:
    first: { run: "grep -q it {1}" }
pre-push:
  commands:
    sent: { run: "x {push_files}", glob: "*.js" }
    staged: { run: "x {staged_files}" }
    named: { run: "x {push_files} {1}" }
assert:
  commands: { x: { run: y } }
"#;

#[test]
fn commands_and_jobs_of_lefthook_run_for_the_same_files_and_the_rest_is_named() {
    let sandbox = Sandbox::new()
        .file("lefthook.yml", LEFTHOOK)
        .file(
            "lefthook-local.yml",
            "pre-commit:\n  commands: { lint: { run: x } }\n",
        )
        .script("lint.sh", "#!/bin/sh\necho \"$*\" >>\"$TOP/linted\"\n")
        .file("a.js", "x\n")
        .file("a.txt", "bad");
    let top = sandbox.path().display().to_string();
    let sandbox = sandbox.variable("TOP", &top);
    let ran = import(&sandbox, &["lefthook"]);
    ran.exits(0).prints("7 hooks imported");
    for left in [
        "extends: `hookrun import` does not convert it",
        "templates: `hookrun import` does not convert it",
        "pre-commit.follow: `hookrun import` does not convert it",
        "pre-commit.root: `hookrun import` does not convert `root`",
        "pre-commit.all: `hookrun import` does not convert `{all_files}`",
        "pre-commit.none: this job has no command",
        "pre-commit.only: `hookrun import` does not convert `only`",
        "pre-commit.ref: `hookrun import` does not convert `skip: {\"ref\":\"main\"}`",
        "pre-commit.add: it stages files itself",
        "pre-commit.say: `hookrun import` does not convert `{say}`",
        "pre-commit.both: `hookrun import` does not convert `group`",
        "commit-msg.piped: `hookrun import` does not convert it",
        "commit-msg.scripts: `hookrun import` does not convert it",
        "pre-push.staged: `hookrun import` does not convert `{staged_files}`",
        "pre-push.named: `hookrun import` does not convert `{1}`",
        "assert: `assert` is not a git hook",
    ] {
        ran.prints(&format!("lefthook.yml, {left}"));
    }
    ran.prints("  lefthook-local.yml: `hookrun import` does not convert it");
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    let written = sandbox.read("hookrun.toml");
    for part in [
        "unless = { where = { state = '^(merge|rebase)$' } }",
        "match = { path = 'web/**/*.ts' }",
        "fixes = 'stage'",
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
    repository(&sandbox, "a.txt");
    asked(&sandbox, "pre-commit").exits(0);
    sandbox.has_no_file("linted");
    assert_eq!(sandbox.read("said"), "said\nlater\n");
    repository(&sandbox, "a.js");
    asked(&sandbox, "pre-commit").exits(0);
    assert_eq!(sandbox.read("linted"), "--strict a.js\n");
    // The fix is staged, and is on the disk.
    assert_eq!(sandbox.read("a.js"), "y\n");
    sandbox
        .hookrun_by_shell("git show :a.js", b"")
        .prints("y\n");
    let sandbox = sandbox.file("web/b.ts", "b");
    repository(&sandbox, "web");
    asked(&sandbox, "pre-commit").exits(1).says("deep");
    let sandbox = sandbox.file("message", "wip\n");
    asked(&sandbox, "commit-msg -- message")
        .exits(1)
        .says("first");
    let sandbox = sandbox.file("message", "fix: it\n");
    asked(&sandbox, "commit-msg -- message").exits(0);
}

#[test]
fn usual_expressions_of_files_become_globs_and_others_stay_with_pre_commit() {
    let imported = |files: &str, part: &str| {
        let hook = format!("{{ id: x, entry: x, language: system, files: '{files}' }}");
        let config = format!("repos:\n- repo: local\n  hooks: [{hook}]\n");
        let sandbox = Sandbox::new().file(".pre-commit-config.yaml", &config);
        import(&sandbox, &["pre-commit", "--dry-run"])
            .exits(0)
            .prints(part);
    };
    for (files, path) in [
        (r"\.py$", "**/*.py"),
        (r".*\.py$", "**/*.py"),
        (r"\.(js|ts)$", "**/*.{js,ts}"),
        (r"^src/", "src/**"),
        (r"^(docs|web)/", "{docs,web}/**"),
        (r"^src/.*\.py$", "src/**/*.py"),
        (r"^setup\.cfg$", "setup.cfg"),
    ] {
        imported(files, &format!("match = {{ path = '{path}' }}"));
    }
    for files in [
        r"^src/.*/a$",
        r"(?i)\.py$",
        r"a\b",
        r"(",
        r"[^a]x",
        r"^a.*b$",
        "a|b",
        "vendor",
        "/migrations/",
    ] {
        imported(files, "'pre-commit run x --hook-stage pre-commit'");
    }
}

#[test]
fn a_table_of_lint_staged_becomes_a_hook_for_each_glob() {
    let package = json!({ "lint-staged": {
        "*.js": ["sed -i s/x/y/", "lint"],
        "docs/*.md": "false",
    }});
    let sandbox = Sandbox::new()
        .file("package.json", &package.to_string())
        .script(
            "node_modules/.bin/lint",
            "#!/bin/sh\n! grep -l BAD \"$@\"\n",
        )
        .file(".gitignore", "node_modules\n")
        .file("a.js", "x\n1\n2\n3\n")
        .file("docs/a.txt", "");
    import(&sandbox, &["lint-staged"])
        .exits(0)
        .prints("2 hooks imported");
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    repository(&sandbox, "a.js docs");
    let sandbox = sandbox.file("a.js", "x\n1\n2\n3\nmore\n");
    asked(&sandbox, "pre-commit").exits(0);
    sandbox
        .hookrun_by_shell("git show :a.js", b"")
        .prints("y\n1\n2\n3\n");
    assert_eq!(sandbox.read("a.js"), "y\n1\n2\n3\nmore\n");
    let sandbox = sandbox.file("a.js", "BAD\n");
    repository(&sandbox, "a.js");
    asked(&sandbox, "pre-commit").exits(1);
}

#[test]
fn scripts_of_husky_run_as_husky_runs_them() {
    let sandbox = Sandbox::new()
        .file(".husky/pre-commit", "lint-all\n")
        .file(".husky/commit-msg", "grep -q '^fix: ' \"$1\"\n")
        .file(
            ".husky/pre-push",
            "read ref && [ \"$1 $ref\" = 'origin a b c d' ]\n",
        )
        .file(".husky/_/husky.sh", "")
        .script("node_modules/.bin/lint-all", "#!/bin/sh\n[ ! -e bad ]\n")
        .file("message", "wip\n");
    let ran = import(&sandbox, &["husky"]);
    ran.exits(0).prints("3 hooks imported");
    repository(&sandbox, "message");
    asked(&sandbox, "pre-commit").exits(0);
    asked(&sandbox, "commit-msg -- message").exits(1);
    let sandbox = sandbox.file("bad", "").file("message", "fix: it\n");
    repository(&sandbox, "bad");
    asked(&sandbox, "pre-commit").exits(1);
    asked(&sandbox, "commit-msg -- message").exits(0);
    let push = json!({
        "remote": "origin",
        "refs": [{ "localRef": "a", "newSha": "b", "ref": "c", "oldSha": "d" }],
    });
    let push = push.to_string();
    sandbox
        .hookrun(&["run", "push.pre"], push.as_bytes())
        .exits(0);
    let other = push.replace("origin", "other");
    sandbox
        .hookrun(&["run", "push.pre"], other.as_bytes())
        .exits(2);
}

/// What people write into such files besides: globs of odd forms, a file of prek's, and an id that is
/// there twice.
#[test]
fn files_as_people_write_them_keep_their_meaning() {
    let lefthook = r#"
pre-commit:
  parallel: true
  commands:
    old: { run: "fmt {staged_files}", glob: "*/a.js" }
    twice: { run: "test {staged_files} = {staged_files}" }
    inside: { run: "x {staged_files}", glob: "lib*.py" }
    above: { run: "x {staged_files}", glob: "src*/x.py" }
"#;
    let sandbox = Sandbox::new().file("lefthook.yml", lefthook);
    let ran = import(&sandbox, &["lefthook"]);
    ran.exits(0).prints("2 hooks imported\n");
    ran.prints("inside: in the glob `lib*.py`, lefthook's `*` also matches `/`");
    ran.prints("above: in the glob `src*/x.py`, lefthook's `*` also matches `/`");
    let written = sandbox.read("hookrun.toml");
    for part in [
        "command = 'fmt \"$@\"'\ntimeout = \"10m\"\nshell = true\nfiles = true\nmatch = { path = '*/**/a.js' }\n",
        "command = 'test \"$@\" = \"$@\"'\n",
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
    let globs = r#"{ "!(*test).js": "x", "*.@(ts|tsx)": "x", "!*.css": "x", "*.{ts,tsx}": "x" }"#;
    let sandbox = Sandbox::new().file(".lintstagedrc.json", globs);
    import(&sandbox, &["lint-staged"])
        .exits(0)
        .prints("1 hook imported\n")
        .prints("!(*test).js: hookrun does not support the glob")
        .prints("*.@(ts|tsx): hookrun does not support the glob")
        .prints("!*.css: hookrun does not support the glob");
    let prek = r#"
default_install_hook_types: [pre-commit, pre-push]
repos:
  - repo: builtin
    hooks: [{ id: check-yaml }, { id: check-yaml, args: [x] }, { id: check-yaml, alias: other }]
  - repo: local
    hooks:
      - { id: own, entry: own, language: system, types: [rust] }
      - { id: own, entry: own, language: system, types: [python] }
      - { id: some, entry: own, language: system, files: { glob: "*.x" } }
"#;
    let sandbox = Sandbox::new().file(".pre-commit-config.yaml", prek);
    import(&sandbox, &["pre-commit"])
        .exits(0)
        .prints("5 hooks imported\n")
        .prints("default_install_hook_types: hooks without `stages`");
    let written = sandbox.read("hookrun.toml");
    for part in [
        "'prek run check-yaml --hook-stage pre-commit'",
        "'prek run other --hook-stage pre-commit'",
        "'prek run some --hook-stage pre-commit'",
        "match = { type = 'rust' }",
        "match = { type = 'python' }",
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
}
