//! `hookrun validate`, in every format.

use serde_json::json;

use crate::sandbox::{Ran, Sandbox};

/// One hook that is in order, and one table with a mistake.
fn broken() -> Sandbox {
    let text = "[[hook]]\nname = \"100%, sure\"\nevent = \"tool.pre\"\ncommand = \"true\"\ntimout = \"1s\"\n";
    Sandbox::new()
        .without_trust()
        .hook("good.sh", "")
        .file("hookrun.toml", text)
        .trusted()
}

fn validate(sandbox: &Sandbox, format: &str) -> Ran {
    sandbox.hookrun(&["validate", "--format", format], b"")
}

#[test]
fn people_read_what_is_wrong_and_what_to_do() {
    let ran = validate(&broken(), "human");
    ran.exits(1);
    assert_eq!(
        ran.stdout,
        "error: hookrun.toml:5:1: unknown key `timout`\n  help: did you mean `timeout`?\n\
         1 error: 2 files, 1 hook\n"
    );
    assert_eq!(ran.stderr, "");
}

#[test]
fn what_is_in_order_is_said_to_be() {
    let sandbox = Sandbox::new()
        .without_trust()
        .hook("a.sh", "")
        .hook("b.sh", "")
        .trusted();
    let ran = validate(&sandbox, "human");
    ran.exits(0);
    assert_eq!(ran.stdout, "ok: 2 files, 2 hooks\n");
    validate(&Sandbox::new().without_trust(), "human")
        .exits(0)
        .prints("ok, 1 warning: 0 files, 0 hooks");
    // A folder is no file: that it is not trusted yet changes no count.
    let mut sandbox = Sandbox::new().without_trust().hook("a.sh", "");
    validate(&sandbox, "human")
        .exits(0)
        .prints("ok, 1 warning: 1 file, 1 hook");
    sandbox = sandbox.trusted();
    validate(&sandbox, "human")
        .exits(0)
        .prints("ok: 1 file, 1 hook");
    let misnamed = sandbox.hook_for("tool.pree", "b.sh", "");
    validate(&misnamed, "human")
        .exits(1)
        .prints("1 error, 1 warning: 1 file, 1 hook");
}

#[test]
fn programs_get_json() {
    assert_eq!(
        broken().json(&["validate", "--format", "json"]),
        json!({
            "version": 1,
            "ok": false,
            "files": [
                {
                    "file": "hookrun.toml", "hooks": 0, "ok": false,
                    "problems": [{
                        "severity": "error", "cause": "unknown key `timout`",
                        "line": 5, "column": 1, "cure": "did you mean `timeout`?",
                    }],
                },
                { "file": "hooks.d/tool.pre/good.sh", "hooks": 1, "ok": true, "problems": [] },
            ],
        })
    );
}

#[test]
fn github_gets_annotations_with_everything_escaped() {
    let sandbox = Sandbox::new()
        .hook("a,b:c%.sh", "# hookrun: 100%=1")
        .file("hookrun.toml", "[[hook]]\nname = \"x\"\n");
    let ran = validate(&sandbox, "github");
    ran.exits(1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "::error file=hookrun.toml,line=1,col=1::the hook has no `command`%0Ahelp: add `command = …`"
    );
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("::error file=hooks.d/tool.pre/a%2Cb%3Ac%25.sh,line=2,col=12::unknown setting `100%25`%0Ahelp: "),
        "{last}"
    );
    assert!(
        lines.iter().all(|line| line.starts_with("::error file=")),
        "{ran:?}"
    );
}

#[test]
fn junit_is_well_formed_with_a_case_of_its_own_name_for_every_file() {
    let sandbox = broken()
        .hook("<&\"'>.sh", "# hookrun: <oh>=1")
        .hook("a\u{1b}[31m.sh", "")
        .hook("a\nb.sh", "")
        .hook("a b.sh", "")
        .trusted();
    let ran = validate(&sandbox, "junit");
    ran.exits(1);

    let names = case_names(&ran.stdout);

    assert_eq!(names.len(), 6, "{names:?}");
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 6, "{names:?}");
    assert!(ran.stdout.contains("tests=\"6\""), "{ran:?}");
    assert!(ran.stdout.contains("failures=\"2\""), "{ran:?}");
}

/// Walks an XML document, and returns the names of its test cases. Panics where it is not well
/// formed: tags that do not close each other, quotes, bare `<` and `&`, control characters.
fn case_names(xml: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let forbidden = |c: char| c.is_control() && !"\n\t\r".contains(c);
    assert!(!xml.contains(forbidden), "{xml:?}");
    let mut rest = xml
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        .unwrap();
    while let Some((text, after)) = rest.split_once('<') {
        entities_are_known(text);
        // A `>` may stand in an attribute, but this writer escapes it.
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "{xml}");
            continue;
        }
        let body = tag.trim_end_matches('/');
        let (name, mut attributes) = body.split_once(' ').unwrap_or((body, ""));
        if !tag.ends_with('/') {
            open.push(name.to_string());
        }
        while let Some((key, value)) = attributes.split_once("=\"") {
            let (value, after) = value.split_once('"').unwrap();
            entities_are_known(value);
            if name == "testcase" && key.trim() == "name" {
                names.push(value.to_string());
            }
            attributes = after;
        }
        assert_eq!(attributes.trim(), "", "{tag}");
    }
    assert_eq!(rest.trim(), "");
    assert_eq!(open, Vec::<String>::new());
    names
}

fn entities_are_known(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#"];
        assert!(
            known.iter().any(|one| text[at..].starts_with(one)),
            "{text}"
        );
    }
}

#[test]
fn every_format_has_the_same_exit_status() {
    let warned = Sandbox::new().hook("x.sh", "# hookrun: tool=bsah");
    for format in ["human", "json", "junit", "github"] {
        validate(&broken(), format).exits(1);
        validate(&warned, format).exits(0);
        validate(&Sandbox::new(), format).exits(0);
    }
}

#[test]
fn syntax_errors_are_found_without_running_a_hook() {
    let scripts = [
        (
            "dash.sh",
            "/bin/sh",
            "touch ran\nif true; then\n  echo 'x\nfi\n",
        ),
        (
            "bash.sh",
            "/bin/bash",
            "touch ran\nif true; then\n  echo x\n",
        ),
        // bash says so and exits with 0: as a hook it would allow everything.
        ("quiet.sh", "/bin/bash", "touch ran\nif [[ ; then\n"),
        ("env.sh", "/usr/bin/env -S bash -e", "touch ran\necho \"x\n"),
        (
            "python.py",
            "/usr/bin/env python3",
            "open('ran', 'w')\ndef f(:\n  pass\n",
        ),
    ];
    for (name, interpreter, body) in scripts {
        if name == "python.py" && !has_python() {
            continue;
        }
        let sandbox = Sandbox::new().script(
            &format!("hooks.d/tool.pre/{name}"),
            &format!("#!{interpreter}\n{body}"),
        );
        let problems = sandbox.problems(&[]);
        assert_eq!(problems.len(), 1, "{name}: {problems:?}");
        let start = format!("error hooks.d/tool.pre/{name}:");
        assert!(problems[0].starts_with(&start), "{problems:?}");
        let line = problems[0][start.len()..].split(':').next().unwrap();
        assert!(
            (3..=6).contains(&line.parse::<usize>().unwrap()),
            "{problems:?}"
        );
        assert!(
            problems[0].contains(&format!("`{name}` does not parse: ")),
            "{problems:?}"
        );
        sandbox.has_no_file("ran");
        sandbox.has_no_file("hooks.d/tool.pre/__pycache__");
    }
}

fn has_python() -> bool {
    let path = "/usr/local/bin:/usr/bin:/bin";
    let mut command = std::process::Command::new("env");
    let ran = command
        .args(["python3", "-c", ""])
        .env_clear()
        .env("PATH", path)
        .output();
    ran.is_ok_and(|output| output.status.success())
}

#[test]
fn good_scripts_are_not_run_either() {
    let sandbox = Sandbox::new()
        .script("hooks.d/tool.pre/a.sh", "#!/bin/sh\ntouch ran\n")
        .script("hooks.d/tool.pre/b.sh", "#!/bin/bash\ntouch ran\n")
        .script(
            "hooks.d/tool.pre/c.pl",
            "#!/usr/bin/perl\nBEGIN { open F, '>', 'ran' }\n",
        );
    assert_eq!(
        sandbox
            .problems(&[])
            .iter()
            .filter(|one| !one.contains("perl"))
            .count(),
        0,
        "{:?}",
        sandbox.problems(&[])
    );
    sandbox.has_no_file("ran");
}

#[test]
fn what_could_not_start_is_found_before_it_has_to() {
    for (text, cause) in [
        ("#!/no/such/interpreter\n", "the interpreter of "),
        (
            "#!/usr/bin/env no-such-program\n",
            "its first line names `no-such-program`, which is not in PATH",
        ),
        ("#!/bin/sh\r\nexit 0\r\n", "ends in CR LF"),
        (
            "echo no first line\n",
            "neither a program for this system nor a script",
        ),
        ("", "neither a program for this system nor a script"),
    ] {
        let sandbox = Sandbox::new().script("hooks.d/tool.pre/x", text);
        let problems = sandbox.problems(&[]);
        assert_eq!(problems.len(), 1, "{text:?}: {problems:?}");
        assert!(
            problems[0].contains("`x` cannot start: "),
            "{text:?}: {problems:?}"
        );
        assert!(problems[0].contains(cause), "{text:?}: {problems:?}");
        validate(&sandbox, "human").exits(1);
    }
}

#[test]
fn a_first_line_is_offered_by_the_ending_and_by_what_is_there() {
    for (name, line) in [
        ("x.py", "python3"),
        ("x.rb", "ruby"),
        ("x.mjs", "node"),
        ("x.php", "php"),
    ] {
        let problems = Sandbox::new()
            .script(&format!("hooks.d/tool.pre/{name}"), "x\n")
            .problems(&[]);
        assert!(
            problems[0].contains(&format!("`#!/usr/bin/env {line}`")),
            "{problems:?}"
        );
    }
    let sandbox = Sandbox::new().script("bin/zork3", "#!/bin/sh\n");
    let sandbox = sandbox.script("hooks.d/tool.pre/env", "#!/usr/bin/env zork\n");
    let path = format!("{}:/usr/bin:/bin", sandbox.at("bin").display());
    let ran = sandbox.variable("PATH", &path).hookrun(&["validate"], b"");
    ran.exits(1)
        .prints("names `zork`, which is not in PATH\n  help: `zork3` exists: use it in");
    let sandbox = Sandbox::new().script("bin/zork", "#!/bin/sh\n");
    let line = format!("#!{}\n", sandbox.at("bin/zork2").display());
    let ran = sandbox
        .script("hooks.d/tool.pre/whole", &line)
        .hookrun(&["validate"], b"");
    ran.exits(1)
        .prints("bin/zork` exists: use it in the first line");
}

#[test]
fn a_hook_that_everyone_may_write_is_an_error_with_its_cure() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new().hook("x.sh", "");
    let file = sandbox.at("hooks.d/tool.pre/x.sh");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o777)).unwrap();
    let problems = sandbox.problems(&[]);
    assert!(problems[0].contains("is world-writable"), "{problems:?}");
    assert!(problems[0].contains("chmod o-w"), "{problems:?}");
}

#[test]
fn a_tool_that_is_nearly_one_is_a_warning() {
    let sandbox = Sandbox::new().hook("x.sh", "# hookrun: tool='bsah|wirte|deploy|mcp__git*|Edit'");
    assert_eq!(
        sandbox.problems(&[]),
        [
            "warning hooks.d/tool.pre/x.sh:2:1: no known agent has a tool `bsah` \
             [did you mean `bash`?]",
            "warning hooks.d/tool.pre/x.sh:2:1: no known agent has a tool `wirte` \
             [did you mean `write`?]",
        ]
    );
}

#[test]
fn a_hook_that_can_never_match_is_a_warning() {
    let sandbox = Sandbox::new().hook_for("turn.start", "x.sh", "# hookrun: tool=bash");
    let problems = sandbox.problems(&[]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("`x.sh` matches an action, but `turn.start` has none, so"));
    validate(&sandbox, "human")
        .exits(0)
        .prints("ok, 1 warning: 2 files, 1 hook");
}

#[test]
fn a_hidden_script_of_another_layer_is_named_by_its_path() {
    let sandbox = Sandbox::new().file("home/.config/hookrun/hooks.d/tool.pre/x.sh", "#!/bin/sh\n");
    validate(&sandbox, "human")
        .exits(1)
        .prints("error: home/.config/hookrun/hooks.d/tool.pre/x.sh: `x.sh` cannot start");
}
