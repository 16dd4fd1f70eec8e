//! Whatever the shape of a tool's input, matchers see what the tool is about to do.

use serde_json::{Value, json};

use hookrun::internals::event::Access;
use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::hook::{Matcher, PathBase};
use hookrun::{Context, Event};

fn wants(matcher: &Matcher, tool: &str, input: &Value) -> bool {
    let spec = Catalog::default().find("tool.pre").unwrap();
    let context = json!({"toolName": tool, "toolInput": input}).to_string();
    let event = Event::new(spec, "native", Context::parse(context).unwrap()).unwrap();
    let place = PathBase {
        cwd: "/p".into(),
        project: "/p".into(),
    };
    matcher.decide(&event, &place).is_ok()
}

fn command() -> Matcher {
    Matcher::default()
        .tool("bash")
        .unwrap()
        .command("rm -rf")
        .unwrap()
}

fn path(glob: &str) -> Matcher {
    Matcher::default().path(glob).unwrap()
}

#[test]
fn what_a_tool_may_run_is_seen_in_every_shape() {
    let shapes = [
        json!({"command": "rm -rf x"}),
        json!({"CommandLine": "rm -rf x"}),
        json!({"command_line": "rm -rf x"}),
        json!({"command": "ls", "Command": "rm -rf x"}),
        json!({"command": "rm", "args": ["-rf", "/"]}),
        json!({"args": ["-rf", "/"], "cmd": "rm"}),
        json!({"command": "rm", "arguments": "-rf /"}),
        json!({"command": ["rm"], "argv": ["-rf"]}),
        json!({"program": "rm", "args": ["-rf"]}),
        json!({"argv": ["rm", "-rf", "/"]}),
        json!({"command": "ls", "commands": ["ls", "rm -rf x"]}),
        json!({"commands": [{"command": "ls"}, {"command": "rm", "args": ["-rf"]}]}),
        json!({"commands": [["ls"], {"args": ["-rf"], "cmd": "rm"}]}),
        json!({"args": {"command": "rm -rf x"}}),
        json!({"a": [{"b": {"Cmd": ["rm", "-rf", "x"]}}]}),
        json!({"arguments": "{\"command\": \"rm\\u0020-rf x\"}"}),
        json!("{\"cmd\": \"rm\\u0020-rf x\"}"),
    ];
    let tools = ["Bash", "exec_command", "mcp__a__run", "frobnicate"];
    for (tool, input) in tools
        .iter()
        .flat_map(|tool| shapes.iter().map(move |one| (tool, one)))
    {
        assert!(wants(&command(), tool, input), "{tool} {input}");
    }
    for (tool, input) in [
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "rm -rf x\n"}),
        ),
        ("run_command", json!({"CommandLine": "rm -rf x"})),
        ("mcp__py__exec", json!({"code": "os.system('rm -rf x')"})),
        ("Bash", json!({"command": "ls", "stdin": "rm -rf x"})),
        ("Bash", json!({"command": "sh", "env": {"X": "rm -rf x"}})),
    ] {
        assert!(wants(&command(), tool, &input), "{tool} {input}");
    }
    for (tool, input) in [
        (
            "Bash",
            json!({"command": "ls", "description": "no rm -rf here", "workdir": "rm -rf"}),
        ),
        ("mcp__a__b", json!({"text": "rm -rf x"})),
        (
            "Write",
            json!({"file_path": "a", "content": "{\"command\": \"rm -rf x\"}"}),
        ),
    ] {
        assert!(!wants(&command(), tool, &input), "{tool} {input}");
    }
    let shell = Matcher::default().tool("bash").unwrap();
    assert!(!wants(
        &shell,
        "mcp__geo__find",
        &json!({"code": "DE", "city": "Rm"})
    ));
}

#[test]
fn calls_of_other_tools_are_seen_in_every_shape() {
    let write = Matcher::default()
        .tool("write")
        .unwrap()
        .path(".env")
        .unwrap();
    let call = |tool: &str, input: Value| {
        [
            json!({"tool_calls": [{"tool": tool, "parameters": input}]}),
            json!({"tool_uses": [
                {"recipient_name": format!("functions.{tool}"), "parameters": input}]}),
            json!({"invocations": [{"name": "read", "input": {}}, {"name": tool, "input": input}]}),
            json!({"calls": [{"toolName": tool, "arguments": input.to_string()}]}),
            json!({"tool_calls": [{"tool": "batch", "parameters": {
                "tool_calls": [{"tool": tool, "parameters": input}]}}]}),
            json!({"name": tool, "args": input}),
            json!([{"tool": tool, "input": input}]),
        ]
    };
    for outer in ["batch", "multi_tool_use.parallel"] {
        for input in call("exec_command", json!({"cmd": "rm -rf x"})) {
            assert!(wants(&command(), outer, &input), "{outer} {input}");
            assert!(
                wants(&command(), outer, &input.to_string().into()),
                "{outer} {input}"
            );
        }
        for input in call("write", json!({"file_path": ".env", "content": "x"})) {
            assert!(wants(&write, outer, &input), "{outer} {input}");
        }
    }
    let beside = json!({"tool_calls": [{"tool": "edit", "parameters": {"path": "a"}}],
        "x": {"command": "rm -rf x"}});
    assert!(wants(&command(), "batch", &beside));
    let people = json!({"list": [{"name": "Write"}, {"name": "Ann"}]});
    assert!(!wants(
        &Matcher::default().tool("write").unwrap(),
        "frobnicate",
        &people
    ));
}

#[test]
fn what_a_tool_may_touch_is_seen_in_every_shape() {
    let many: Vec<String> = (0..4200).map(|n| format!("t{n}")).collect();
    let dots = format!("{}.env", "./".repeat(600));
    let long = format!("{}.env", "./".repeat(9000));
    for input in [
        json!({"path": "a", "output": ".env"}),
        json!({"files": ["a"], "outputPath": ".env"}),
        json!({"path": "a", "x": {"y": [".env"]}}),
        json!({"path": "a", "x": "my dir/.env"}),
        json!({"directory": "/p", "name": ".env"}),
        json!({"output_file": ".env"}),
        json!({"path": "a", "b": "c", "d": ".env"}),
        json!({"pad": many, "where": ".env"}),
        json!({"where": dots}),
        json!({"where": long}),
        json!({"url": "file:///p/.env"}),
        json!({"path": "a", "url": "FILE:/p/.env?x#y"}),
        json!("{\"path\": \".env\"}"),
    ] {
        for tool in ["mcp__x__y", "frobnicate"] {
            assert!(
                wants(&path(".env"), tool, &input),
                "{tool} {}",
                input.to_string().len()
            );
        }
    }
    for (tool, input, glob) in [
        (
            "Write",
            json!({"file_path": "/tmp/a://../../srv/prod/x"}),
            "/srv/prod/**",
        ),
        (
            "Write",
            json!({"file_path": "a://../.git/hooks/pre-commit"}),
            ".git/hooks/**",
        ),
        (
            "Write",
            json!({"file_path": "https://../.git/hooks/x"}),
            ".git/hooks/**",
        ),
        (
            "mcp__fs__write",
            json!({"path": "ab://../.git/hooks/x"}),
            ".git/hooks/**",
        ),
        (
            "mcp__fs__write",
            json!({"workdir": "/p/secrets", "path": "x"}),
            "secrets/**",
        ),
        (
            "mcp__fs__write",
            json!({"root": "/srv/prod", "name": "x"}),
            "/srv/prod/**",
        ),
        (
            "Grep",
            json!({"pattern": "x", "path": ".", "glob": ".env"}),
            ".env",
        ),
        ("Glob", json!({"pattern": "**/.env"}), ".env"),
        ("WebFetch", json!({"url": "file:///p/.env"}), ".env"),
    ] {
        assert!(wants(&path(glob), tool, &input), "{tool} {input}");
    }
}

#[test]
fn what_a_command_writes_or_removes_is_a_path() {
    for (glob, command) in [
        (".env", "echo x > .env"),
        (".env", "true && sudo rm -f ./.env"),
        (".env", "bash -c 'cat < .env'"),
        (".env", "mv .env old"),
        (".env", "sed -i s/a/b/ .env"),
        ("*.pem", "rm *.pem"),
        ("secrets/**", "cd secrets && rm x"),
        ("secrets/**", "git -C secrets rm x"),
        ("secrets/**", "cp \"$x\" secrets/"),
        // What cannot be read may do anything.
        (".env", "rm 'x"),
    ] {
        for (tool, key) in [
            ("Bash", "command"),
            ("exec_command", "cmd"),
            ("frobnicate", "command"),
        ] {
            let is_seen = wants(&path(glob), tool, &json!({ key: command }));
            assert!(
                is_seen || tool == "frobnicate" && command == "rm 'x",
                "{tool} {command}"
            );
        }
    }
    assert!(wants(
        &path("secrets/**"),
        "Bash",
        &json!({"command": "rm x", "cwd": "secrets"})
    ));
    let calls = json!({"calls": [{"tool": "bash", "input": {"command": "rm .env"}}]});
    assert!(wants(&path(".env"), "batch", &calls));
    for command in [
        "cat .env",
        "cp .env x",
        "echo .env",
        "rm \"$f\"",
        "rm x # .env",
        "ls > /dev/null",
    ] {
        assert!(
            !wants(
                &path("{.env,null}").access(Access::Write),
                "Bash",
                &json!({ "command": command })
            ),
            "{command}"
        );
    }
}

#[test]
fn what_is_written_or_said_is_no_path() {
    let prose = format!("{} .env and a/.env too", "words ".repeat(300));
    let blob = "ab/cd+".repeat(2000);
    for (tool, input, glob) in [
        (
            "Write",
            json!({"file_path": ".gitignore", "content": ".env"}),
            ".env",
        ),
        (
            "Edit",
            json!({"file_path": "a", "old_string": ".env", "new_string": "b"}),
            ".env",
        ),
        (
            "mcp__fs__write",
            json!({"path": ".gitignore", "content": ".env"}),
            ".env",
        ),
        (
            "mcp__gh__issue",
            json!({"title": "About .env", "body": prose}),
            ".env",
        ),
        (
            "mcp__gh__issue",
            json!({"path": "a", "note": prose}),
            ".env",
        ),
        (
            "mcp__a__b",
            json!({"path": "a", "see": "https://x.y/.env"}),
            ".env",
        ),
        ("mcp__a__b", json!({"blob": blob}), "ab/**"),
        ("Grep", json!({"pattern": ".env", "path": "src"}), ".env"),
        ("WebFetch", json!({"url": "https://x.y/.env"}), ".env"),
        ("Bash", json!({"command": "ls", "cwd": "/p/.env"}), ".env"),
        (
            "mcp__a__b",
            json!({"profile": ".env", "path": "a", "title": "b"}),
            "a/**",
        ),
    ] {
        assert!(!wants(&path(glob), tool, &input), "{tool} {glob}");
    }
}

#[test]
fn a_patch_in_a_command_is_seen_from_every_folder_it_may_be_in() {
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: x\n*** End Patch\nEOF";
    let diff = "<<'EOF'\n--- a/x\n+++ b/x\n@@\n-a\n+b\nEOF";
    for input in [
        json!({"cmd": patch, "workdir": "/p/secrets"}),
        json!({"cmd": patch, "cwd": "secrets"}),
        json!({"cmd": format!("cd secrets && {patch}")}),
        json!({"cmd": format!("cd 'secrets';{patch}")}),
        json!({"cmd": format!("cd a; cd ../secrets && {patch}")}),
        json!({"cmd": format!("git apply --directory=secrets {diff}")}),
        json!({"cmd": format!("git -C secrets apply {diff}")}),
        json!({"cmd": format!("patch -p1 -d secrets {diff}")}),
        json!({"cmd": ["bash", "-lc", format!("cd /p/secrets && {patch}")]}),
    ] {
        for tool in ["Bash", "exec_command"] {
            assert!(wants(&path("secrets/**"), tool, &input), "{tool} {input}");
        }
    }
    assert!(!wants(
        &path("secrets/**"),
        "Bash",
        &json!({"command": patch})
    ));
}

#[test]
fn a_command_touches_what_is_below_the_folders_that_it_is_about() {
    let infra = path("infra/**").access(Access::Write);
    for command in [
        "rm -rf infra",
        "rm -rf infra/",
        "rm -rf ./infra/modules",
        "rm -rf .",
        "rm -rf *",
        "rm -r in*",
        "mv infra x",
        "mv a.tf infra",
        "cp a.tf infra",
        "cp -r a infra",
        "rsync -a a/ infra",
        "tar xf a.tar -C infra",
        "tar -xzf a.tgz --directory=infra",
        "unzip a.zip -d infra",
        "git rm -r infra",
        "git mv infra x",
        "ln -sf a infra",
        "git apply x.patch",
        "git clean -fd",
        "git checkout -- infra",
        "git checkout .",
        "find infra -delete",
        "for d in infra src; do rm -rf $d; done",
        "for f in infra/*; do rm \"$f\"; done",
        "find infra -name '*.tf' -delete",
        "find . -name main.tf -exec rm {} +",
        "fd . infra -X rm",
        "fd -e tf -x rm {}",
        "cp -a evil/infra .",
        "cp -r a/. infra",
        "cp -r a infra2 infra",
        "mv evil/infra .",
        "rsync -a evil/infra .",
        "rsync -a --delete a/ .",
        "rsync -a --delete-after a .",
        "7z x a.7z -oinfra",
        "7z e -y -aoa -oinfra a.7z",
        "wget -P infra https://example.com",
        "wget -P infra https://example.com/main.tf",
        "curl --output-dir infra -O https://example.com/main.tf",
        "gzip infra/main.tf",
        "gio trash infra",
        "git checkout infra",
        "git checkout HEAD~1 infra",
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git restore -SW infra",
        "git apply --stat --apply x.patch",
        "chmod -R 777 infra",
        "sed -i s/a/b/ infra/*.tf",
        "rm \"$PWD/infra/main.tf\"",
        "rm ${PWD}/infra/main.tf",
        "rm \"$(pwd)/infra/main.tf\"",
        "rm $(git rev-parse --show-toplevel)/infra/main.tf",
        "rm -rf \"$X/infra/main.tf\"",
        "rm ~+/infra/a.tf",
        "echo x > ~-/infra/a.tf",
        "cd infra && rm -rf *",
        "sudo rm -rf infra",
    ] {
        assert!(
            wants(&infra, "Bash", &json!({ "command": command })),
            "{command}"
        );
    }
    for command in [
        "ls -R infra",
        "cat infra/main.tf",
        "cp -r infra /tmp/x",
        "tar cf a.tar infra",
        "rm -rf build",
        "rm -rf infra2",
        "cd build && rm -rf *",
        "tar xf a.tar",
        "unzip a.zip",
        "7z l a.7z",
        "7z a a.7z infra",
        "rsync -a a/ .",
        "rsync -a --delete a/ build",
        "cp -r a/. .",
        "gzip -c infra/main.tf",
        "wget -P build https://example.com/main.tf",
        "git clean -n",
        "git clean --dry-run -d",
        "git apply --check x.patch",
        "git apply --stat x.patch",
        "git restore --staged infra",
        "git stash",
        "git stash pop",
        "git reset HEAD~1",
        "fd . build -X rm",
        "rm \"$X/main.tf\"",
        "rm -rf \"$X\"",
        "git checkout main",
        "grep -rn x infra",
        "find infra -name '*.tf'",
        "sed -n 1p infra/main.tf",
    ] {
        assert!(
            !wants(&infra, "Bash", &json!({ "command": command })),
            "{command}"
        );
    }
    let workflows = path(".github/workflows/**").access(Access::Write);
    for (command, wanted) in [
        ("cp -a evil/.github .", true),
        ("cp -r w .github", true),
        ("mv w .github", true),
        ("rsync -a evil/.github .", true),
        ("rsync -a w/ .github/", true),
        ("tar xf a -C .github", true),
        ("tar xf a", false),
        ("cp -r w .github/ISSUE_TEMPLATE", false),
        ("mv CODEOWNERS.new .github", false),
    ] {
        assert_eq!(
            wants(&workflows, "Bash", &json!({ "command": command })),
            wanted,
            "{command}"
        );
    }
    for (glob, command) in [
        ("infra/main.tf", "tar xf a -C infra"),
        ("infra/main.tf", "unzip -d infra x.zip"),
        ("infra/main.tf", "cp -r a/. infra"),
        ("/p/infra/**", "rm -rf ."),
        ("infra", "git apply x.patch"),
        ("infra", "git checkout HEAD infra"),
        ("infra", "git reset --hard"),
    ] {
        let glob = path(glob).access(Access::Write);
        assert!(
            wants(&glob, "Bash", &json!({ "command": command })),
            "{command}"
        );
    }
    let env = path(".env").access(Access::Write);
    for (command, wanted) in [
        ("echo A=1 >> \"$PWD/.env\"", true),
        ("echo A=1 >> \"$X/.env\"", true),
        ("sed -i s/a/b/ .env*", true),
        ("for f in .env .env.local; do echo x >> $f; done", true),
        ("rm .env*", true),
        ("rm @(.env)", true),
        ("rm .@(env|envrc)", true),
        ("rm .!(git)", true),
        ("echo x > ?(.)env", true),
        ("rm @('.env'|b)", true),
        ("rm ?(x)'.env'", true),
        ("rm src/@(a|b)", false),
        ("rm -rf build/!(keep)", false),
        ("rm -rf build/[!a]*", false),
        ("rm *.@(js|ts)", false),
        ("find . -name .env -exec sed -i s/a/b/ {} +", true),
        ("rm *", false),
        ("rm -rf build", false),
        ("cp .env x", false),
        ("git clean -fd", false),
        ("rm -rf .", true),
    ] {
        assert_eq!(
            wants(&env, "Bash", &json!({ "command": command })),
            wanted,
            "{command}"
        );
    }
    let read = path(".env").access(Access::Read);
    for (command, wanted) in [
        ("cat .env", true),
        ("cp .env x", true),
        ("grep KEY .env", true),
        ("echo x > .env", false),
    ] {
        assert_eq!(
            wants(&read, "Bash", &json!({ "command": command })),
            wanted,
            "{command}"
        );
    }
}

#[test]
fn an_expression_sees_each_command_by_itself() {
    let rm = Matcher::default().command("^rm ").unwrap();
    for (command, wanted) in [
        ("ls; rm x", true),
        ("cd a && sudo rm x", true),
        ("bash -c 'ls && rm x'", true),
        ("echo 'rm x'", false),
    ] {
        assert_eq!(
            wants(&rm, "Bash", &json!({ "command": command })),
            wanted,
            "{command}"
        );
    }
}
