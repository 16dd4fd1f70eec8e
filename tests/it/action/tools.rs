//! What a tool is about to do, whatever its host calls it and its keys.

use std::collections::HashSet;

use hookrun::internals::event::Event;
use hookrun::internals::event::action::TOOLS;
use hookrun::{Action, ActionKind, Complaint, Context};
use serde_json::{Value, json};

fn derive(tool: &str, input: &Value) -> Action {
    let context = json!({ "toolName": tool, "toolInput": input }).to_string();
    Action::derive(&Context::parse(context).unwrap())
        .unwrap()
        .unwrap()
}

fn of_text(context: &str) -> Result<Option<Action>, Complaint> {
    Action::derive(&Context::parse(context).unwrap())
}

#[test]
fn no_shell_command_is_invisible() {
    let words = json!(["rm", "-rf", "a b"]);
    for (tool, input, command) in [
        ("Bash", json!("rm x"), "rm x"),
        ("Shell", json!({"command": "rm x"}), "rm x"),
        ("run_shell_command", json!({"line": "rm x"}), "rm x"),
        (
            "exec_command",
            json!({"command": "", "cmd": "rm x"}),
            "rm x",
        ),
        ("bash", json!({"command": "ls", "cmd": "rm x"}), "ls\nrm x"),
        ("shell", json!({"command": ["bash", "-lc", "rm x"]}), "rm x"),
        ("shell", json!({ "command": words }), "rm -rf 'a b'"),
        (
            "shell",
            json!({"command": [], "x": words}),
            "\nrm -rf 'a b'",
        ),
        (
            "write_bash",
            json!({"sessionId": "1", "input": "rm x{enter}"}),
            "rm x{enter}",
        ),
    ] {
        let action = derive(tool, &input);
        let command = Some(command.to_string());
        assert_eq!(
            (action.kind, action.command),
            (ActionKind::Shell, command),
            "{input}"
        );
    }
    let half = r#"{"toolName":"bash","toolInput":{"\ud800":1,"command":"rm\u0020x"}}"#;
    assert_eq!(
        of_text(half).unwrap().unwrap().command.as_deref(),
        Some("rm x")
    );
    let twice = r#"{"toolName":"bash","toolInput":{"command":"rm x","command":"ls"}}"#;
    let error = of_text(twice).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the key `toolInput.command` appears twice in the event"
    );
    assert_eq!(ActionKind::of_tool("mcp__github__push"), ActionKind::Mcp);
    assert_eq!(ActionKind::of_tool("my_tool"), ActionKind::Other);
}

#[test]
fn a_path_is_seen_under_every_key_at_every_depth() {
    let shapes = [
        r#"{"KEY":VALUE}"#,
        r#"{"x":{"y":{"KEY":VALUE}}}"#,
        r#"{"files":[{"n":1,"KEY":VALUE}]}"#,
        r#"{"a\"b":"\\","\udc00":1,"list":[[{"KEY":[VALUE]}]],"content":"x"}"#,
    ];
    let values = [
        r#"".env""#,
        r#""\u002eenv""#,
        r#""file:///.env""#,
        r#""file://localhost/%2Eenv""#,
    ];
    for key in [
        "path",
        "file_path",
        "filePath",
        "AbsolutePath",
        "notebook-path",
        "uri",
        "to",
    ] {
        for (shape, value) in shapes
            .iter()
            .flat_map(|one| values.map(|value| (one, value)))
        {
            for tool in ["Write", "edit", "mcp__fs__copy", "frobnicate"] {
                let input = shape.replace("KEY", key).replace("VALUE", value);
                let context = format!(r#"{{"toolName":"{tool}","toolInput":{input}}}"#);
                let paths = of_text(&context).unwrap().unwrap().paths;
                let is_found = paths
                    .iter()
                    .any(|path| path.trim_start_matches('/') == ".env");
                assert!(is_found, "{tool} {input}: {paths:?}");
            }
        }
    }
    for (tool, input, kind) in [
        (
            "multiedit",
            json!({"edits": [{"filePath": ".env"}]}),
            ActionKind::Edit,
        ),
        (
            "EditNotebook",
            json!({"target_notebook": ".env"}),
            ActionKind::Edit,
        ),
        (
            "Glob",
            json!({"target_directory": ".env"}),
            ActionKind::Search,
        ),
        (
            "read_many_files",
            json!({"include": [".env"]}),
            ActionKind::Read,
        ),
    ] {
        let action = derive(tool, &input);
        assert_eq!(
            (action.kind, action.paths),
            (kind, vec![".env".into()]),
            "{tool}: {input}"
        );
    }
    assert_eq!(
        derive("grep", &json!({"path": "a", "include": "*.ts"})).paths,
        ["a"]
    );
}

#[test]
fn the_paths_of_every_patch_are_seen_in_every_input() {
    let codex = "*** Begin Patch\n*** Update File: a\n*** Move to: .env\n+x\n*** End Patch";
    let diff = "--- a/.env\t2026\n+++ b/.env\n@@\n-x\n+y";
    let renamed = "diff --git a/x b/.env\nrename from x\nrename to .env";
    for patch in [codex, diff, renamed] {
        for command in [
            format!("apply_patch <<'EOF'\n{patch}\nEOF"),
            format!("cd sub && git apply << EOF\n{patch}\nEOF\nls"),
            format!("apply_patch \"\n{patch}\""),
        ] {
            for input in [
                json!({ "command": command }),
                json!({"cmd": ["sh", "-c", command]}),
            ] {
                let action = derive("Bash", &input);
                assert_eq!(action.command.as_deref(), Some(command.as_str()));
                assert!(
                    action.paths.contains(&".env".to_string()),
                    "{command}: {action:?}"
                );
            }
        }
        for (tool, key) in [
            ("apply_patch", "input"),
            ("apply_patch", "patchText"),
            ("mcp__fs__patch", "diff"),
            ("ApplyPatch", "patch"),
        ] {
            let action = derive(tool, &json!({ key: patch }));
            assert!(action.paths.contains(&".env".to_string()), "{tool} {patch}");
            assert!(
                action.kind != ActionKind::Edit || action.command.is_none(),
                "{tool}"
            );
        }
    }
    assert_eq!(derive("ApplyPatch", &json!(codex)).paths, ["a", ".env"]);
    let escaped = json!({"command": "printf '*** Add File: .env\\n+x' | apply_patch"});
    assert_eq!(derive("Bash", &escaped).paths, [".env"]);
    for command in [
        "cat <<x\n+*** Add File: .env\nx",
        "ls --- a\n+++",
        "git diff",
    ] {
        assert!(
            derive("Bash", &json!({ "command": command }))
                .paths
                .is_empty(),
            "{command}"
        );
    }
}

#[test]
fn a_batch_is_what_the_gravest_of_its_calls_is() {
    let batch = |calls: Value| derive("batch", &json!({ "tool_calls": calls }));
    let action = batch(json!([
        {"tool": "read", "parameters": {"filePath": "a"}},
        {"tool": "bash", "parameters": {"command": "rm x"}},
        {"tool": "bash", "parameters": {"command": "ls"}},
        {"tool": "edit", "parameters": {"filePath": ".env"}},
    ]));
    assert_eq!(action.kind, ActionKind::Shell);
    assert_eq!(action.command.as_deref(), Some("rm x\nls"));
    assert_eq!(action.paths, ["a", "x", ".env"]);
    assert_eq!(
        batch(json!([{"tool": "read"}, {"tool": "write"}])).kind,
        ActionKind::Write
    );
    let twice = r#"{"toolName":"batch","toolInput":{"tool_calls":[
        {"tool":"bash","parameters":{"command":"ls","command":"rm x"}}]}}"#;
    assert!(of_text(twice).is_err());
}

#[test]
fn a_text_without_a_key_is_no_path_of_a_shell() {
    for input in [
        json!(".env"),
        json!({"where": ".env"}),
        json!({"a": [{"b": "src/x.rs"}, 7]}),
    ] {
        assert_eq!(
            derive("Bash", &input).paths,
            Vec::<String>::new(),
            "{input}"
        );
    }
}

#[test]
fn no_name_is_in_two_rows() {
    let mut seen = HashSet::new();
    for class in TOOLS {
        for name in class.names.iter().chain([&class.word]) {
            assert!(
                seen.insert(name.to_ascii_lowercase()),
                "{name} appears twice"
            );
        }
    }
}

#[test]
fn what_changes_paths_writes_them() {
    let of = |json: &str| {
        let event = Event::from_json("commit.pre", json)?;
        Ok::<_, Complaint>(event.action().cloned())
    };
    let action = of(r#"{"changes":[{"path":".env","status":"D"},"a"]}"#)
        .unwrap()
        .unwrap();
    let paths = vec![".env".into(), "a".into()];
    assert_eq!((action.kind, action.paths), (ActionKind::Write, paths));
    assert_eq!(of("{}").unwrap(), None);
    assert!(of(r#"{"changes":".env"}"#).is_err() && of(r#"{"changes":[{}]}"#).is_err());
}

#[test]
fn a_given_action_must_have_its_shape() {
    assert!(Action::read(r#"{"kind":"shell","command":"ls","paths":["a"]}"#).is_ok());
    for wrong in [
        "7",
        "{}",
        r#"{"kind":"shall"}"#,
        r#"{"kind":"read","paths":"a"}"#,
    ] {
        assert!(Action::read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_program_may_work_in_every_folder_that_is_entered() {
    for (command, files) in [
        (
            "rm x; cd a; cd ../b",
            &["x", "a/x", "../b/x", "a/../b/x"][..],
        ),
        ("rm x; pushd /a; cd $x; cd -", &["x", "/a/x"]),
        (
            "rm x; git -C a apply --directory=b; patch -d c; tar -xC d",
            &[
                "x",
                ".",
                "a/x",
                "a/.",
                "b/x",
                "b/.",
                "a/b/x",
                "a/b/.",
                "c/x",
                "c/.",
                "a/b/c/x",
                "a/b/c/.",
                "d/x",
                "d/.",
                "a/b/c/d/x",
                "a/b/c/d/.",
            ],
        ),
        ("rm x; cd", &["x", "~/x"]),
        ("sudo A=b -D a rm -D c b", &["c", "b", "a/c", "a/b"]),
        (
            "sudo -u x -D a rm b; env -C c sh -c 'rm d; rm e'",
            &[
                "b", "d", "e", "a/b", "a/d", "a/e", "c/b", "c/d", "c/e", "a/c/b", "a/c/d", "a/c/e",
            ],
        ),
    ] {
        let action = derive("Bash", &json!({ "command": command }));
        assert_eq!(action.paths, files, "{command}");
    }
    let many = format!("rm x; {}", "cd x;".repeat(1000));
    let action = derive("Bash", &json!({ "command": many }));
    assert!(action.paths.len() <= 18);
}

#[test]
fn what_a_program_writes_or_removes_is_a_path() {
    for (command, files) in [
        ("rm -rf 'a b' *.pem -- -x", &["a b", "*.pem", "-x"][..]),
        ("sudo rm .env; echo .env; cat .env", &[".env"]),
        ("rm \"$f\" b", &["b"]),
        ("mv a secrets/", &["a", "secrets/a"]),
        ("cp -r a/.env b", &["b"]),
        ("cp a/.env b c", &["c/.env", "c/b"]),
        ("cp \"$x\" ../.env ..", &["../*", "../.env"]),
        ("cp --target-dir d x/a", &["d/a"]),
        ("ln -sf /etc/passwd link", &["link"]),
        ("install -m 600 a /etc/b", &["/etc/b"]),
        ("install -d a b", &["a", "b"]),
        ("rsync -a --exclude x src/ out", &["out"]),
        ("rsync -a .env host:/srv; scp host:/a/.env .", &["./.env"]),
        ("echo x | sudo tee -a /etc/hosts -", &["/etc/hosts"]),
        (
            "touch -t 2001 a; truncate -s 0 b; mkdir -m 700 -p c",
            &["a", "b", "c"],
        ),
        (
            "chmod 600 a; chmod -x b; chmod --ref r c; chmod -777 e; chown -R u:g d",
            &["a", "b", "c", "e", "d"],
        ),
        ("dd if=/dev/zero of=/dev/sda bs=1M", &["/dev/sda"]),
        (
            "sed s/a/b/ x; sed -n -i.bak s/a/b/ y; sed -i -e s/a/b/ z",
            &["y", "z"],
        ),
        ("perl -pi -e s/a/b/ x; perl -MList::Util -e 1 y", &["x"]),
        ("patch -p1 a < b; sort -o c d", &["b", "a", "c"]),
        (
            "git rm -r a; git checkout main -- b; git checkout c",
            &["a", "b"],
        ),
        ("git -C d rm a", &["a", "d/a"]),
        (
            "git restore -s HEAD a; git clean -fd b; git mv c d",
            &["a", "b", "c", "d"],
        ),
        (
            "curl -so a https://x.y/b; curl -O https://x.y/c?d; curl https://x.y/e",
            &["a", "./c"],
        ),
        (
            "wget -q https://x.y/a -P b; wget -O- https://x.y/c; wget -Od x",
            &["b/a", "d"],
        ),
        (
            "ls > a 2>&1 2>> b &> c >| d <> e < f",
            &["a", "b", "c", "d", "e", "f"],
        ),
        (
            "ls > /dev/null 2>/dev/stderr > /dev/tty > /dev/fd/3 >&2 2>&-",
            &[],
        ),
        ("(ls; { rm a; } > b) > c", &["a", "b", "c"]),
    ] {
        let action = derive("Bash", &json!({ "command": command }));
        assert_eq!(action.paths, files, "{command}");
    }
}

#[test]
fn a_text_that_looks_like_a_path_is_one_where_no_key_names_any() {
    for (input, paths) in [
        (json!(".env"), &[".env"][..]),
        (json!({"where": ".env", "x": "two words"}), &[".env"]),
        (json!({"a": [{"b": "src/x.rs"}, 7]}), &["src/x.rs"]),
        (json!({"a": "Makefile"}), &[]),
        (json!({"a": "https://x.y/z"}), &[]),
        (json!({"a": "line\nline/x"}), &[]),
        (json!({"path": "a", "b": "c/d"}), &["a"]),
    ] {
        for tool in ["Write", "mcp__a__b", "frobnicate"] {
            assert_eq!(derive(tool, &input).paths, paths, "{tool} {input}");
        }
    }
}
