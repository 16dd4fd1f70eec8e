//! A crash is a failure and no decision, and what only looks like one is a decision.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use hookrun::hosts;
use hookrun::internals::answer::judge;
use hookrun::internals::event::catalog;
use hookrun::internals::hook::Permit;
use hookrun::internals::hook::{Handler, Hook};
use hookrun::internals::outcome::Decision;
use hookrun::internals::run::{CapturedStream, Ending, Exit};

use super::Speaker;
use crate::sandbox::Sandbox;

fn ended(handler: Handler, status: i32, stderr: &str) -> Ending {
    let spec = catalog::find("tool.pre").unwrap();
    let hook = Hook::new("guard", "tool.pre", handler);
    let permit = Permit {
        spec,
        hook: &hook,
        part: None,
        about: None,
    };
    let stderr = CapturedStream {
        head: stderr.as_bytes().to_vec(),
        tail: Vec::new(),
        total_bytes: stderr.len() as u64,
    };
    judge(
        Exit::Status(status),
        &CapturedStream::default(),
        &stderr,
        permit,
    )
    .0
}

fn file(name: &str) -> Handler {
    Handler::File(format!("/p/hooks.d/tool.pre/{name}").into())
}

const NODE: &str = "/p/hooks.d/tool.pre/a.js:3\nthrow new TypeError(\"x is no list\");\n^\n\n\
    TypeError: x is no list\n    at Object.<anonymous> (/p/hooks.d/tool.pre/a.js:3:7)\n    \
    at node:internal/main/run_main_module:36:49\n\nNode.js v22.3.0\n";

const NODE_MODULE: &str = "node:internal/modules/cjs/loader:1148\n  throw err;\n  ^\n\n\
    Error: Cannot find module './jsn'\nRequire stack:\n- /p/hooks.d/tool.pre/a.js\n    \
    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)\n    \
    at Object.<anonymous> (/p/hooks.d/tool.pre/a.js:1:13) {\n  code: 'MODULE_NOT_FOUND',\n  \
    requireStack: [ '/p/hooks.d/tool.pre/a.js' ]\n}\n\nNode.js v20.11.1\n";

const PYTHON: &str = "Traceback (most recent call last):\n  File \"/p/hooks.d/tool.pre/a.py\", line \
    2, in <module>\n    import jsn\nModuleNotFoundError: No module named 'jsn'\n";

#[test]
fn the_last_words_of_every_interpreter_tell_a_crash() {
    for (name, status, stderr, words) in [
        (
            "a.py",
            1,
            PYTHON,
            "ModuleNotFoundError: No module named 'jsn' (a.py:2)",
        ),
        (
            "a.py",
            1,
            "log\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    \
            json.load(sys.stdin)\n  File \"/usr/lib/python3.11/json/__init__.py\", line 293, in load\n    \
            return loads(\n           ^^^^^^\njson.decoder.JSONDecodeError: Expecting value: line 1\n",
            "json.decoder.JSONDecodeError: Expecting value: line 1 (a.py:3)",
        ),
        (
            "a.py",
            1,
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError\n\n\
            During handling of the above exception, another exception occurred:\n\n\
            Traceback (most recent call last):\n  File \"a.py\", line 4, in <module>\n    raise X\n__main__.X: no",
            "__main__.X: no (a.py:4)",
        ),
        (
            "a.py",
            1,
            "  File \"/p/hooks.d/tool.pre/a.py\", line 3\n    x = (\n        ^\nSyntaxError: '(' was never closed",
            "SyntaxError: '(' was never closed (a.py:3)",
        ),
        ("a.js", 1, NODE, "TypeError: x is no list (a.js:3)"),
        (
            "a.js",
            1,
            NODE_MODULE,
            "Error: Cannot find module './jsn' (a.js:1)",
        ),
        (
            "a.sh",
            127,
            "/p/hooks.d/tool.pre/a.sh: line 3: jqq: command not found",
            "jqq: command not found (a.sh:3)",
        ),
        (
            "a.sh",
            1,
            "a.sh: 2: jqq: not found",
            "jqq: not found (a.sh:2)",
        ),
        (
            "a.sh",
            1,
            "a.sh:4: command not found: jqq",
            "command not found: jqq (a.sh:4)",
        ),
        (
            "a.sh",
            1,
            "a.sh[4]: jqq: not found",
            "jqq: not found (a.sh:4)",
        ),
        (
            "a.sh",
            2,
            "a.sh: line 3: syntax error near unexpected token `fi'\na.sh: line 3: `fi'",
            "syntax error near unexpected token `fi' (a.sh:3)",
        ),
        (
            "a.sh",
            2,
            "a.sh: 3: Syntax error: \"fi\" unexpected",
            "Syntax error: \"fi\" unexpected (a.sh:3)",
        ),
        (
            "a.sh",
            1,
            "a.sh: line 2: POLICY: unbound variable",
            "POLICY: unbound variable (a.sh:2)",
        ),
        (
            "a.sh",
            127,
            "env: 'pyhton3': No such file or directory",
            "env: 'pyhton3': No such file or directory (status 127)",
        ),
        ("a.sh", 127, "", "a command was not found (status 127)"),
        (
            "a.sh",
            126,
            "",
            "a command was found, but could not be executed (status 126)",
        ),
    ] {
        let ending = ended(file(name), status, stderr);
        assert_eq!(
            ending,
            Ending::Crashed {
                problem: words.to_string()
            },
            "{stderr}"
        );
    }
}

#[test]
fn what_only_looks_like_a_crash_is_a_decision() {
    for (name, status, stderr) in [
        ("a.py", 1, "no force push"),
        ("a.py", 2, PYTHON),
        // A check that failed, and its output.
        ("a.sh", 1, PYTHON),
        ("a.sh", 1, NODE),
        ("b.py", 1, PYTHON),
        ("a.sh", 1, "lint.sh: line 3: jqq: command not found"),
        (
            "a.sh",
            1,
            "a.sh: line 3: jqq: command not found\n3 problems",
        ),
        ("a.sh", 1, "test.sh: 3: Syntax error: \"fi\" unexpected"),
        ("a.sh", 1, "error: image not found"),
        ("a.sh", 1, "a.sh: line 3: POLICY: no force push"),
        // It looked at the error and decided.
        (
            "a.py",
            1,
            "Traceback (most recent call last):\n  File \"a.py\", line 2, in <module>\n    \
            check()\nValueError: x\nno force push",
        ),
        ("a.py", 1, "ValueError: x"),
        ("a.js", 1, "Error: no force push"),
    ] {
        let ending = ended(file(name), status, stderr);
        let verdict = ending
            .verdict()
            .unwrap_or_else(|| panic!("{stderr}: {ending:?}"));
        let reason = stderr.trim().to_string();
        assert_eq!(verdict.decision, Decision::Block { reason });
    }
}

/// A crash that an event holds, for a hook that quotes the event when it refuses.
const QUOTED: &[(&str, &str)] = &[
    ("a.sh", "done\na.sh: line 9: x: command not found"),
    ("a.sh", "/p/hooks.d/tool.pre/a.sh: 9: x: not found"),
    ("a.py", PYTHON),
    (
        "a.py",
        "  File \"a.py\", line 3\n    x = (\n        ^\nSyntaxError: '(' was never closed",
    ),
    ("a.js", NODE),
];

#[test]
fn a_hook_that_quotes_its_event_decides() {
    let spec = catalog::find("tool.pre").unwrap();
    let ended = |name: &str, text: &str, stderr: &str| {
        let input = serde_json::json!({ "toolName": "bash", "toolInput": { "command": text } });
        let context = hookrun::internals::event::Context::parse(input.to_string()).unwrap();
        let event =
            hookrun::internals::event::Event::new(spec.clone().into(), "native", context).unwrap();
        let hook = Hook::new("guard", "tool.pre", file(name));
        let permit = Permit {
            spec,
            hook: &hook,
            part: None,
            about: Some(&event),
        };
        let stderr = CapturedStream {
            head: stderr.as_bytes().to_vec(),
            tail: Vec::new(),
            total_bytes: stderr.len() as u64,
        };
        judge(Exit::Status(1), &CapturedStream::default(), &stderr, permit).0
    };
    for (name, crash) in QUOTED {
        for text in [
            (*crash).to_string(),
            format!("echo\n{crash}\n\n"),
            format!("x {crash}"),
        ] {
            for stderr in [
                text.clone(),
                format!("refused:\n{text}"),
                format!("refused: {text}\n"),
            ] {
                let ending = ended(name, &text, &stderr);
                assert!(ending.verdict().is_some(), "{stderr}: {ending:?}");
            }
        }
        // It has crashed itself, whatever words of it are in the event.
        let last = crash.trim_end().lines().last().unwrap();
        let word = last.split(' ').next_back().unwrap();
        for text in [
            "ls",
            word,
            name,
            "a.sh: line",
            "Traceback (most recent call last):",
        ] {
            let ending = ended(name, text, crash);
            assert!(
                matches!(ending, Ending::Crashed { .. }),
                "{text}: {crash}: {ending:?}"
            );
        }
    }
}

#[test]
fn a_quoted_crash_is_no_failure_where_failures_are_let_through() {
    let stop = "last=$(sed 's/.*\"done.n//; s/\".*//'); echo \"you said: $last\" >&2; exit 1";
    let said = r#"{"lastAssistantMessage":"done\na.sh: line 9: x: command not found"}"#;
    let sandbox = Sandbox::new().script("hooks.d/agent.stop/a.sh", &format!("#!/bin/sh\n{stop}\n"));
    sandbox
        .hookrun(&["run", "agent.stop"], said.as_bytes())
        .blocks_saying("you said: a.sh: line 9");
    let tool = "# hookrun: on_failure=allow\necho \"refused: $HOOKRUN_ACTION_COMMAND\" >&2; exit 1";
    let said = r#"{"toolName":"bash","toolInput":{"command":"echo\na.sh: 9: x: not found"}}"#;
    let sandbox = Sandbox::new().hook("a.sh", tool);
    sandbox
        .hookrun(&["run", "tool.pre"], said.as_bytes())
        .blocks_saying("refused: echo");
}

#[test]
fn a_command_line_names_its_own_files() {
    let words = |line: &str| Handler::Words {
        words: line.split(' ').map(str::to_string).collect(),
        base: "/p".into(),
    };
    for (handler, is_crash) in [
        (words("python3 hooks/a.py --strict"), true),
        (Handler::Shell("cd x && python3 'hooks/a.py'".into()), true),
        (words("python3 hooks/b.py"), false),
        (Handler::Shell("make test".into()), false),
    ] {
        let ending = ended(handler.clone(), 1, PYTHON);
        assert_eq!(
            matches!(ending, Ending::Crashed { .. }),
            is_crash,
            "{handler:?}"
        );
    }
    let shell = Handler::Shell("jqq .".into());
    let ending = ended(shell, 1, "sh: 1: jqq: not found");
    assert_eq!(ending.failure().unwrap(), "crashed: jqq: not found (sh:1)");
}

/// What the interpreters that are here print themselves.
#[test]
fn real_interpreters_crash_in_these_words() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, words) in [
        (
            "a.py",
            "#!/usr/bin/env python3\nimport jsn\n",
            "ModuleNotFoundError: No module named 'jsn' (a.py:2)",
        ),
        (
            "b.py",
            "#!/usr/bin/env python3\nx = {}\nx['y']\n",
            "KeyError: 'y' (b.py:3)",
        ),
        ("c.py", "#!/usr/bin/env python3\nx = (\n", "SyntaxError: "),
        (
            "a.sh",
            "#!/bin/sh\nno-such-program-here x\n",
            "not found (a.sh:2)",
        ),
        (
            "b.sh",
            "#!/bin/sh\nset -e\nx=$(no-such-program-here)\n",
            "not found (b.sh:3)",
        ),
        ("c.sh", "#!/bin/sh\nif true; then\nfi fi\n", "yntax error"),
        (
            "d.sh",
            "#!/bin/sh\nset -u\necho \"$NO_SUCH_VARIABLE_HERE\"\n",
            "NO_SUCH_VARIABLE_HERE",
        ),
        (
            "a.bash",
            "#!/usr/bin/env bash\nno-such-program-here x\n",
            "command not found (a.bash:2)",
        ),
        (
            "b.bash",
            "#!/usr/bin/env bash\nif [ x ; then\n",
            "syntax error",
        ),
        (
            "a.js",
            "#!/usr/bin/env node\nrequire('./jsn');\n",
            "Error: Cannot find module './jsn'",
        ),
    ] {
        let path = folder.path().join(name);
        let mut script = std::fs::File::create(&path).unwrap();
        script.write_all(text.as_bytes()).unwrap();
        script
            .set_permissions(std::fs::Permissions::from_mode(0o755))
            .unwrap();
        drop(script);
        let interpreter = text
            .lines()
            .next()
            .unwrap()
            .rsplit(['/', ' '])
            .next()
            .unwrap();
        let asked = Command::new(interpreter)
            .arg(&path)
            .stdin(Stdio::null())
            .output();
        // What is not installed here is in the tables above.
        let Ok(ran) = asked else { continue };
        let stderr = String::from_utf8_lossy(&ran.stderr);
        let ending = ended(Handler::File(path), ran.status.code().unwrap(), &stderr);
        let Ending::Crashed { problem } = &ending else {
            panic!("{name}: {stderr}: {ending:?}")
        };
        assert!(problem.contains(words), "{name}: {problem}");
    }
}

#[test]
fn a_crash_is_a_failure_in_every_dialect() {
    for (name, event) in [
        ("wolli", "tool_call"),
        ("loom", "tool.pre"),
        ("gemini", "BeforeTool"),
        ("cursor", "preToolUse"),
    ] {
        let binding = hosts::find(name).unwrap().called(event)[0];
        let speaker = Speaker {
            name,
            binding: Some(binding),
        };
        for (status, stderr) in [
            (127, ""),
            (2, "guard.py: 3: Syntax error: \"fi\" unexpected"),
        ] {
            let ending = speaker.ends(status, b"", stderr);
            let words = ending
                .failure()
                .unwrap_or_else(|| panic!("{name}: {ending:?}"));
            assert!(words.starts_with("crashed: "), "{name}: {words}");
        }
    }
}

#[test]
fn a_crash_closes_a_gate_in_its_last_words_and_opens_what_fails_open() {
    let crash = "echo one >&2; no-such-program-here";
    let sandbox = Sandbox::new().hook("a.sh", crash);
    let ran = sandbox.run("tool.pre");
    ran.blocks_saying("hook `a.sh` crashed: no-such-program-here")
        .says("(fail closed)");
    assert!(!ran.stdout.contains("one"), "{ran:?}");
    let report = sandbox.report("tool.pre", "{}");
    assert_eq!(report["hooks"][0]["ending"], "crashed");
    assert_eq!(report["cause"], "failure", "{report}");
    let open = Sandbox::new().hook("a.sh", &format!("# hookrun: on_failure=allow\n{crash}"));
    open.run("tool.pre").allows().says("(fail open)");
}

#[test]
fn a_crash_never_counts_as_a_policy_that_blocked() {
    let sandbox = Sandbox::new()
        .hook("a.sh", "no-such-program-here; exit 1")
        .file(
            "hooks.d/tests/a.toml",
            "[[case]]\nname = \"blocks\"\nevent = \"tool.pre\"\ncontext = { toolName = \"note\" }\n\
             expect = { decision = \"block\" }\n",
        );
    let ran = sandbox.hookrun(&["test", "--suite"], b"");
    ran.exits(1)
        .prints("crashed: ")
        .prints("no-such-program-here");
    let junit = sandbox.hookrun(&["test", "--suite", "--format", "junit"], b"");
    junit.exits(1).prints("crashed: ");
    sandbox.run("tool.pre").exits(2);
    sandbox
        .hookrun(&["why", "--failed"], b"")
        .exits(0)
        .prints("crashed: ");
}

#[test]
fn a_block_that_was_whole_before_a_failure_blocks_where_failures_are_let_through() {
    let said = r#"echo '{"continue":false,"reason":"no"}'"#;
    for then in [
        "kill -SEGV $$",
        "sleep 60",
        "head -c 2000000 /dev/zero",
        "no-such-program-here",
        "printf '\\n{\"continue\":tr'",
    ] {
        let hook = format!("# hookrun: on_failure=allow timeout=300ms\n{said}\n{then}");
        Sandbox::new()
            .hook("a.sh", &hook)
            .run("tool.pre")
            .blocks("no");
    }
    // What is itself cut is not whole.
    let cut = "# hookrun: on_failure=allow timeout=300ms\nprintf '{\"continue\":false,'; sleep 60";
    Sandbox::new()
        .hook("a.sh", cut)
        .run("tool.pre")
        .allows()
        .says("timed out");
}
