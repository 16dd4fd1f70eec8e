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
fn a_request_is_of_the_protocol_and_has_the_context_of_any_other_hook() {
    let sandbox = guard("open('asked.json', 'w').write(line)");
    let sandbox = sandbox.hook("cold.sh", "cat >context.json");
    sandbox.ask("native", "tool.pre", &bash("ls  -l")).allows();
    let asked = sandbox.read_json("asked.json");
    let event = &asked["params"]["event"];
    assert_eq!(
        (&asked["jsonrpc"], &asked["method"]),
        (&json!("2.0"), &json!("hooks/intercept"))
    );
    assert_eq!(asked["params"]["protocolVersion"], "draft");
    assert_eq!(asked["id"], event["id"]);
    assert_eq!(asked["id"].as_str().unwrap().len(), 32);
    assert_eq!(event["type"], "tool.before");
    assert_eq!(event["session"]["id"], "s-1");
    assert!(event["time"].as_str().unwrap().ends_with('Z'), "{event}");
    let tool = json!({ "name": "bash", "input": { "command": "ls  -l" }, "kind": "shell",
        "origin": "native" });
    assert_eq!(event["tool"], tool);
    assert_eq!(event["native"]["eventName"], "tool.pre");
    assert_eq!(
        event["native"]["payload"],
        sandbox.read_json("context.json")
    );
    let effects = &asked["params"]["capabilities"]["effects"];
    assert_eq!(*effects, json!(["deny", "dev.hookrun.answer"]));
}

#[test]
fn an_event_that_the_protocol_does_not_have_has_a_name_of_ours() {
    let hook = served(
        "effects = [{'type': 'dev.hookrun.answer', 'value': {'additionalContext': request['params']['event']['type']}}]",
    );
    let sandbox = Sandbox::new().script("hooks.d/session.start/teach.py", &hook);
    let context = json!({ "sessionId": "s", "model": "m" });
    let ran = sandbox.ask("native", "session.start", &context);
    ran.allows_with(json!({ "additionalContext": "dev.hookrun.session.start" }));
}

#[test]
fn an_answer_of_the_contract_asks_rewrites_and_adds_context() {
    let answer = |value: &str| {
        let effect = format!("{{'type': 'dev.hookrun.answer', 'value': {value}}}");
        let rewrites = "#!/usr/bin/env python3\n# hookrun: rewrite=true\n";
        let text = served(&format!("effects = [{effect}]"));
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
        (
            "effects = [{'type': 'dev.hookrun.answer', 'value': {}}] * 2",
            "more than one effect",
        ),
        (
            "effects = [{'type': 'allow'}]",
            "`allow` is no effect that was offered",
        ),
        (
            "effects = [{'type': 'dev.hookrun.answer', 'value': True}]",
            "an object as its `value`",
        ),
        (
            "effects = [{'type': 'dev.hookrun.answer', 'value': {}, 'code': 'deny'}]",
            "`dev.hookrun.answer` is no effect that was offered",
        ),
        (
            "request['id'] = 'e1'",
            "`e1` is the id of no event that waits",
        ),
        ("print('Welcome', flush=True)", "more than one line"),
        (
            "print('Welcome', flush=True); break",
            "`Welcome` is no answer on one line",
        ),
        ("break", "it answered nothing"),
        ("print(); break", "it answered nothing"),
        ("answer(request['id'], [])", "more than one line"),
        (
            "print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'error': {'code': 1, 'message': 'sorry'}})); break",
            "it answered with an error: sorry (1)",
        ),
        (
            "answer(request['id'], []); sys.exit(3)",
            "exited with status 3",
        ),
        ("{}['x']", "KeyError"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        (
            "effects = [{'type': 'deny', 'reason': 'x' * 2000000}]",
            "more than 1 MiB",
        ),
    ];
    for (body, said) in answers {
        let sandbox = guard(body);
        sandbox
            .ask("native", "tool.pre", &bash("ls"))
            .blocks_saying(said);
    }
}

#[test]
fn a_denial_is_never_lost() {
    let deny = "answer(request['id'], [{'type': 'deny', 'reason': 'no rm'}])";
    for after in [
        "sys.exit(1)",
        "answer(request['id'], [])",
        "os.kill(os.getpid(), 9)",
        "break",
    ] {
        let sandbox = guard(&format!("{deny}\n{after}"));
        sandbox
            .ask("native", "tool.pre", &bash("rm x"))
            .blocks("no rm");
    }
    // No value may hide the one before it.
    let twice = r#"print('{"jsonrpc":"2.0","id":"%s","result":{"protocolVersion":"draft","effects":[{"type":"dev.hookrun.answer","value":{"continue":false,"continue":true}}]}}' % request["id"]); break"#;
    guard(twice)
        .ask("native", "tool.pre", &bash("rm x"))
        .exits(2);
}

/// Denials in shapes that are no answers.
const ODD_DENIALS: &[&str] = &[
    "effects = [{'type': 'Deny', 'reason': 'no'}]",
    "effects = [{'type': ' block ', 'reason': 'no'}]",
    "effects = [{'type': ['deny'], 'reason': 'no'}]",
    "effects = [{'type': 'deny', 'message': 'no'}]",
    "effects = [{'type': 'deny', 'reason': 3}]",
    "effects = [{'type': 'deny', 'reason': 'no', 'level': 'high'}]",
    "effects = [[{'type': 'deny', 'reason': 'no'}]]",
    "effects = ['deny']",
    "effects = 'deny'",
    "effects = {'type': 'deny', 'reason': 'no'}",
    "effects = [{'type': 'dev.hookrun.answer', 'value': {}}, {'type': 'deny'}]",
    "effects = [{'type': 'deny', 'reason': 'no'}] * 2",
    "effects = [{'type': 'dev.hookrun.answer', 'value': 'deny'}]",
    "effects = [{'type': 'dev.hookrun.answer', 'value': False}]",
    "effects = [{'type': 'dev.hookrun.answer', 'value': '{\"continue\": false}'}]",
    "effects = [{'type': 'dev.hookrun.answer', 'value': {}, 'extensions': {'deny': 'no'}}]",
    "effects = [{'type': 'deny', 'extensions': {'deny': 'no'}}]",
    r#"line('ID,"result":{"protocolVersion":"draft","effects":[],"extensions":{"decision":"deny"}}'); break"#,
    r#"line('ID,"result":{"protocolVersion":"draft","effects":[{"type":"deny"}],"effects":[]}'); break"#,
    r#"line('ID,"result":{"protocolVersion":"draft","effects":[{"type":"deny","type":"dev.hookrun.answer","value":{}}]}'); break"#,
    r#"line('ID,"result":{"effects":[{"type":"deny"}]}'); break"#,
    r#"line('ID,"effects":[{"type":"deny"}]'); break"#,
    r#"line('ID,"continue":false'); break"#,
    "print(json.dumps([{'type': 'deny'}])); break",
    "print(json.dumps({'id': request['id'], 'effects': [{'type': 'deny'}]}, indent=1)); break",
    "print('{\"decision\": \"block\"} and more'); break",
    "print('no rm', file=sys.stderr); sys.exit(2)",
];

#[test]
fn a_denial_in_another_shape_blocks_also_where_failures_are_let_through() {
    let line = "line = lambda rest: print('{\"jsonrpc\":\"2.0\",' + rest.replace('ID', '\"id\":\"' + request['id'] + '\"') + '}')";
    for body in ODD_DENIALS {
        let text = served(&format!("{line}\n{body}"));
        let open = text.replacen('\n', "\n# hookrun: on_failure=allow\n", 1);
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
    sandbox.hookrun(&["show", "guard.py"], b"").prints("serve");
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
            "`dialect` and `warm = \"serve\"` exclude each other",
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
    let sandbox = Sandbox::new().file("hookrun.toml", "[warm]\npython = \"serve\"\n");
    sandbox.hookrun(&["validate"], b"").prints("off");
}
