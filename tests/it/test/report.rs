//! `hookrun test --format json`.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The report of a test, without what differs from run to run.
fn report(sandbox: &Sandbox, event: &str, context: &str) -> Value {
    let ran = sandbox.hookrun(&["test", event, "--format", "json"], context.as_bytes());
    let mut report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    drop_times(&mut report);
    report
}

fn drop_times(value: &mut Value) {
    if let Value::Object(fields) = value {
        for key in ["tookMs", "afterMs"] {
            if let Some(time) = fields.remove(key) {
                assert!(time.as_f64().unwrap() >= 0.0);
            }
        }
        fields.values_mut().for_each(drop_times);
    } else if let Value::Array(list) = value {
        list.iter_mut().for_each(drop_times);
    }
}

#[test]
fn the_report_of_a_block_has_everything() {
    let sandbox = Sandbox::new()
        .hook("10-allow.sh", "echo checked; echo detail >&2")
        .hook("20-write.sh", "# hookrun: tool=write\nexit 1")
        .hook("30-off.sh", "# hookrun: enabled=false")
        .hook(
            "40-block.sh",
            "# hookrun: on_failure=allow\necho 'no force push' >&2; exit 3",
        )
        .hook("50-late.sh", "");
    let stream = |text: &str| json!({ "text": text, "bytes": text.len() });
    let hook = |name: &str, wants: &str, on_failure: &str| {
        json!({
            "name": name, "file": format!("hooks.d/tool.pre/{name}"), "layer": "project",
            "wants": wants, "onFailure": on_failure,
        })
    };
    let with = |mut value: Value, more: Value| {
        value
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        value
    };

    let report = report(
        &sandbox,
        "tool.pre",
        r#"{"toolName":"bash","toolInput":{"command":"x"}}"#,
    );

    assert_eq!(
        report,
        json!({
            "version": 1,
            "event": "tool.pre",
            "host": "native",
            "decision": "block",
            "reason": "no force push",
            "decidedBy": "40-block.sh",
            "cause": "policy",
            "questions": [],
            "update": {},
            "rewrites": [],
            "findings": [],
            "notices": [],
            "reminders": [{
                "kind": "blocked",
                "hook": "40-block.sh",
                "text": "<system-reminder>\nHook \"40-block.sh\" blocked the action: no force push. \
                         Adjust your approach; do not retry the exact same call.\n</system-reminder>",
            }],
            "hooks": [
                with(hook("10-allow.sh", "every event", "block"), json!({
                    "fate": "ran", "ending": "answered", "timeoutMs": 5000.0,
                    "status": 0,
                    "stdout": stream("checked\n"), "stderr": stream("detail\n"),
                    "verdict": { "decision": "allow", "rule": "text", "output": "checked" },
                    "notes": [],
                })),
                with(hook("20-write.sh", "tool write", "block"), json!({
                    "fate": "unwanted", "why": "its `tool` is `write`; the event's tool is `bash`",
                })),
                with(hook("30-off.sh", "every event", "block"), json!({ "fate": "disabled" })),
                with(hook("40-block.sh", "every event", "allow"), json!({
                    "fate": "ran", "ending": "answered", "timeoutMs": 5000.0,
                    "status": 3,
                    "stdout": stream(""), "stderr": stream("no force push\n"),
                    "verdict": { "decision": "block", "rule": "non-zero-exit", "reason": "no force push" },
                    "notes": [],
                })),
                with(hook("50-late.sh", "every event", "block"), json!({ "fate": "unreached" })),
            ],
            "reply": {
                "stdout": "{\"continue\":false,\"reason\":\"no force push\"}\n",
                "stderr": "no force push\n",
                "status": 2,
            },
        })
    );
}

#[test]
fn reminders_have_the_three_forms_that_models_know() {
    let both = r#"{"output":" formatted \n","additionalContext":"main is frozen"}"#;
    let sandbox = Sandbox::new()
        .hook_for("tool.post", "a", &format!("printf %s '{both}'"))
        .hook_for("tool.post", "b", "echo done");

    let report = report(&sandbox, "tool.post", "{}");

    let reminders = report["reminders"].as_array().unwrap().iter();
    let texts: Vec<&str> = reminders.map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "<system-reminder>\nHook \"a\" completed.\n\nformatted\n</system-reminder>",
            "<system-reminder>\nAdditional context from hook \"a\":\n\nmain is frozen\n</system-reminder>",
            "<system-reminder>\nHook \"b\" completed.\n\ndone\n</system-reminder>",
        ]
    );
}

#[test]
fn a_failure_says_how_it_ended() {
    for (body, ending, failure) in [
        ("kill -SEGV $$", "killed", "killed by SIGSEGV"),
        (
            "# hookrun: timeout=100ms\nsleep 30",
            "timed-out",
            "timed out after 100ms",
        ),
        ("echo '{\"continue\": fals'", "malformed", ""),
    ] {
        let report = report(&Sandbox::new().hook("x", body), "tool.pre", "{}");
        assert_eq!(report["decision"], "block", "{report:#}");
        assert_eq!(report["cause"], "failure", "{report:#}");
        assert_eq!(report["hooks"][0]["fate"], "ran", "{report:#}");
        assert_eq!(report["hooks"][0]["ending"], ending, "{report:#}");
        let said = report["hooks"][0]["failure"].as_str().unwrap();
        assert!(said.contains(failure), "{said}");
        let reason = report["reason"].as_str().unwrap();
        assert!(reason.starts_with("hook `x` failed: "), "{reason}");
        assert!(reason.ends_with("(fail closed)"), "{reason}");
    }
}

#[test]
fn a_question_and_a_rewrite_are_in_the_report() {
    let ask = Sandbox::new().hook("x", r#"echo '{"ask":"really?"}'"#);
    let report_of_ask = report(&ask, "tool.pre", "{}");
    assert_eq!(report_of_ask["decision"], "ask");
    assert_eq!(
        report_of_ask["questions"],
        json!([{ "hook": "x", "question": "really?" }])
    );

    let rewrite = Sandbox::new().hook(
        "x",
        "# hookrun: rewrite\necho '{\"update\":{\"toolInput\":{\"command\":\"ls -l\"}}}'",
    );
    let context = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let report = report(&rewrite, "tool.pre", context);
    assert_eq!(
        report["rewrites"],
        json!([{
            "hook": "x", "field": "toolInput",
            "old": { "command": "ls" }, "new": { "command": "ls -l" },
        }])
    );
    assert_eq!(
        report["update"],
        json!({ "toolInput": { "command": "ls -l" } })
    );
}

#[test]
fn the_report_of_test_is_the_report_of_run() {
    let sandbox = Sandbox::new().hook("x", "echo no >&2; exit 1");
    let mut of_run = sandbox.report("tool.pre", "{}");
    drop_times(&mut of_run);
    assert_eq!(of_run, report(&sandbox, "tool.pre", "{}"));
}

#[test]
fn the_report_is_exact_whatever_a_hook_prints() {
    let odd = "a\u{1b}[31mb\u{7f}\u{9b}c\u{0}d";
    let sandbox = Sandbox::new().hook("x", "printf 'a\\033[31mb\\177\\302\\233c\\000d'");

    let report = report(&sandbox, "tool.pre", "{}");

    assert_eq!(report["hooks"][0]["stdout"]["text"], odd);
    assert_eq!(report["output"], odd);
}

/// Lists and tables are always there, what there is none of is left out, and nothing is null.
#[test]
fn reports_have_one_rule_for_what_there_is_none_of() {
    fn no_null(value: &Value, at: &str) {
        match value {
            Value::Null => panic!("{at} is null"),
            Value::Array(all) => all.iter().for_each(|one| no_null(one, at)),
            Value::Object(all) => {
                // A sample is an event's, with values of its own.
                let ours = all.iter().filter(|(key, _)| *key != "sample");
                ours.for_each(|(key, one)| no_null(one, &format!("{at}.{key}")));
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let sandbox = Sandbox::new()
        .hook("a", "")
        .hook("b", "exit 1")
        .hook_for("turn.end", "c", "");
    for arguments in [
        &["test", "tool.pre"][..],
        &["test", "turn.end"],
        &["run", "tool.pre"],
        &["run", "turn.end"],
        &["list"],
        &["list", "a"],
        &["events"],
        &["events", "tool.pre"],
        &["validate"],
        &["doctor"],
    ] {
        let arguments = [arguments, &["--format", "json"]].concat();
        let ran = sandbox.hookrun(&arguments, b"{}");
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        no_null(&report, &arguments.join(" "));
        if ["test", "run"].contains(&arguments[0]) {
            for list in [
                "questions",
                "rewrites",
                "findings",
                "notices",
                "reminders",
                "hooks",
            ] {
                assert!(report[list].is_array(), "{arguments:?}: {list}");
            }
            assert!(report["update"].is_object(), "{arguments:?}");
        }
    }
}
