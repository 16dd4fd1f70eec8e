//! What such a hook is asked and may answer, where it starts for one event.

use serde_json::{Value, json};

use super::{bash, example, served};
use crate::sandbox::Sandbox;

fn guard(body: &str) -> Sandbox {
    Sandbox::new().script("hooks.d/tool.pre/guard.py", &served(body))
}

#[test]
fn the_examples_of_the_documentation_decide() {
    let document = std::fs::read_to_string("docs/warm.md").unwrap();
    for (name, file) in [("guard.py", "guard.py"), ("freeze.sh", "freeze.sh")] {
        let text = example(file);
        assert!(document.contains(&text), "docs/warm.md has another {file}");
        let sandbox = Sandbox::new().script(&format!("hooks.d/tool.pre/{name}"), &text);
        sandbox
            .ask("native", "tool.pre", &bash("git push"))
            .allows();
        let sandbox = sandbox.file("FREEZE", "");
        let blocked = sandbox.ask("native", "tool.pre", &bash("git push --force"));
        let reason = match name {
            "guard.py" => "push without --force",
            _ => "nothing changes while FREEZE is here",
        };
        blocked.blocks(reason);
    }
}

#[test]
fn a_request_has_the_context_of_any_other_hook() {
    let sandbox = guard("open('request.json', 'w').write(line)");
    let sandbox = sandbox.hook("cold.sh", "cat >context.json");
    sandbox.ask("native", "tool.pre", &bash("ls  -l")).allows();
    let request = sandbox.read_json("request.json");
    let id = request["id"].as_str().unwrap();
    assert_eq!(id.len(), 32);
    let expected = json!({
        "id": id, "event": "tool.pre", "context": sandbox.read_json("context.json"),
    });
    assert_eq!(request, expected);
}

#[test]
fn an_answer_of_the_contract_asks_rewrites_and_adds_context() {
    let answer = |value: &str| {
        let rewrites = "#!/usr/bin/env python3\n# hookrun: rewrite=true\n";
        let text = served(&format!("keys = {value}"));
        let text = text.replacen("#!/usr/bin/env python3\n", rewrites, 1);
        let sandbox = Sandbox::new().script("hooks.d/tool.pre/guard.py", &text);
        sandbox.ask("native", "tool.pre", &bash("ls"))
    };
    let rewritten = answer("{'update': {'toolInput': {'command': 'ls -l'}}}");
    rewritten.allows_with(json!({ "update": { "toolInput": { "command": "ls -l" } } }));
    answer("{'continue': False, 'reason': 'no'}").blocks("no");
    answer("{'ask': 'really?'}").blocks_saying("really?");
    // The contract is closed at a gate.
    answer("{'continu': False}").blocks_saying("continu");
}

#[test]
fn whatever_is_no_answer_is_a_failure_that_blocks_a_gate() {
    let answers: &[(&str, &str)] = &[
        ("request = {'id': 7}", "`7` is not the `id` of the event"),
        (
            "print('{}'); break",
            "does not contain the event's `id` exactly once",
        ),
        (
            "print('{\"id\": 1, \"id\": 2}'); break",
            "does not contain the event's `id` exactly once",
        ),
        ("request['id'] = 'e1'", "`e1` is not the `id` of the event"),
        ("print('Welcome', flush=True)", "more than one line"),
        (
            "print('Welcome', flush=True); break",
            "`Welcome` is not a JSON object",
        ),
        ("break", "stdout is empty"),
        ("print(); break", "stdout is empty"),
        ("answer(request['id'], {})", "more than one line"),
        (
            "answer(request['id'], {}); sys.exit(3)",
            "exited with status 3",
        ),
        ("{}['x']", "KeyError"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("keys = {'output': 'x' * 2000000}", "longer than 1 MiB"),
    ];
    for (body, said) in answers {
        let sandbox = guard(body);
        sandbox
            .ask("native", "tool.pre", &bash("ls"))
            .blocks_saying(said);
    }
}

#[test]
fn a_block_is_never_lost() {
    let block = "answer(request['id'], {'continue': False, 'reason': 'no rm'})";
    for after in [
        "sys.exit(1)",
        "answer(request['id'], {})",
        "os.kill(os.getpid(), 9)",
        "break",
    ] {
        let sandbox = guard(&format!("{block}\n{after}"));
        sandbox
            .ask("native", "tool.pre", &bash("rm x"))
            .blocks("no rm");
    }
    // No value may hide the one before it.
    let twice = r#"print('{"id":"%s","continue":false,"continue":true}' % request["id"]); break"#;
    guard(twice)
        .ask("native", "tool.pre", &bash("rm x"))
        .exits(2);
}

/// Blocks in lines that are no answers.
const ODD_BLOCKS: &[&str] = &[
    "print(json.dumps({'continue': False, 'reason': 'no'})); break",
    "print(json.dumps({'id': request['id'], 'continue': False}, indent=1)); break",
    "print('Welcome'); keys = {'continue': False, 'reason': 'no'}",
    "print(json.dumps({'continue': False})); print(json.dumps({'id': request['id']})); break",
    "keys = {'continue': False, 'reason': 'no'}; answer(request['id'], keys)",
    "keys = {'continue': False, 'reason': 'no', 'level': 'high'}",
    "answer(request['id'], {'continue': False}); {}['x']",
    "print('no rm', file=sys.stderr); sys.exit(2)",
];

#[test]
fn a_block_in_another_shape_counts_also_where_failures_are_let_through() {
    for body in ODD_BLOCKS {
        let open = served(body).replacen('\n', "\n# hookrun: on_failure=allow\n", 1);
        let sandbox = Sandbox::new().script("hooks.d/tool.pre/guard.py", &open);
        let ran = sandbox.ask("native", "tool.pre", &bash("rm x"));
        assert_eq!(ran.status, 2, "{body}: {ran:?}");
    }
}

#[test]
fn its_environment_says_nothing_of_one_event() {
    let sandbox = guard("json.dump(dict(os.environ), open('environment.json', 'w'))");
    sandbox.ask("native", "tool.pre", &bash("ls")).allows();
    let environment = sandbox.read_json("environment.json");
    let is_set = |name: &str| environment.get(name).is_some();
    for name in [
        "HOOKRUN_EVENT",
        "HOOKRUN_HOOK",
        "HOOKRUN_PROJECT_DIR",
        "HOOKRUN_HOOK_DIR",
    ] {
        assert!(is_set(name), "{name}");
    }
    for name in [
        "HOOKRUN_TOOL_NAME",
        "HOOKRUN_SESSION_ID",
        "HOOKRUN_STATE_DIR",
        "HOOKRUN_SOCKET",
    ] {
        assert!(!is_set(name), "{name}");
    }
    assert_eq!(environment["HOOKRUN_HAS_UI"], "0");
}

#[test]
fn a_suite_plays_it_and_lists_show_it() {
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/guard.py", &example("guard.py")).file(
        "hooks.d/tests/guard.toml",
        "[[case]]\nname = \"no forced push\"\nevent = \"tool.pre\"\ncontext = { toolName = \"bash\", toolInput = { command = \"git push --force\" } }\nexpect = { decision = \"block\", reason = \"push without --force\" }\n",
    );
    let ran = sandbox.hookrun(&["test"], b"");
    ran.exits(0).prints("1 case");
    let listed: Value = sandbox.json(&["list", "--format", "json"]);
    assert!(listed.to_string().contains(r#""warm":"serve""#), "{listed}");
    sandbox.hookrun(&["list", "guard.py"], b"").prints("serve");
    sandbox
        .hookrun(&["explain", "git push"], b"")
        .exits(0)
        .prints("guard.py");
}

#[test]
fn what_excludes_it_is_an_error() {
    for (directive, said) in [
        (
            "warm=serve dialect=claude",
            "`dialect` cannot be used with `warm = \"serve\"`",
        ),
        ("warm=serve lives=session", "needs an answer"),
    ] {
        let text = format!("#!/bin/sh\n# hookrun: {directive}\n");
        let event = if directive.contains("claude") {
            "PreToolUse"
        } else {
            "tool.pre"
        };
        let sandbox = Sandbox::new().script(&format!("hooks.d/{event}/guard.sh"), &text);
        sandbox.hookrun(&["validate"], b"").prints(said);
    }
}
