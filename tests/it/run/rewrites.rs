//! Hooks that change the event: who sees the change, and what the host is told.

use hookrun::internals::event::Merge;
use hookrun::internals::outcome::merge::rewrite;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A hook that sets the tool's command.
fn sets(command: &str) -> String {
    let answer = json!({ "update": { "toolInput": { "command": command } } });
    format!("# hookrun: rewrite\necho '{answer}'")
}

#[test]
fn a_rewrite_reaches_the_host() {
    let sandbox = Sandbox::new().hook("hook", &sets("ls -l"));
    let update = json!({ "update": { "toolInput": { "command": "ls -l" } } });
    sandbox.run_shell("ls").allows_with(update);
}

#[test]
fn later_hooks_see_what_earlier_ones_left() {
    let sandbox = Sandbox::new().hook("10-set", &sets("safe-rm x")).hook(
        "20-see",
        "cat > seen; printf %s \"$HOOKRUN_ACTION_COMMAND\" > variable",
    );
    sandbox.run_shell("rm x").exits(0);
    let seen: serde_json::Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    assert_eq!(seen["toolInput"], json!({ "command": "safe-rm x" }));
    assert_eq!(seen["action"]["command"], "safe-rm x");
    assert_eq!(sandbox.read("variable"), "safe-rm x");
}

#[test]
fn later_matchers_see_what_earlier_hooks_left() {
    let guard = "# hookrun: command='^rm '\necho \"no $HOOKRUN_ACTION_COMMAND\" >&2; exit 1";
    let made_worse = Sandbox::new()
        .hook("10-set", &sets("rm -rf /"))
        .hook("20-guard", guard);
    made_worse.run_shell("ls").blocks("no rm -rf /");
    let made_better = Sandbox::new()
        .hook("10-set", &sets("ls"))
        .hook("20-guard", guard);
    made_better
        .run_shell("rm x")
        .allows_with(json!({ "update": { "toolInput": { "command": "ls" } } }));
}

#[test]
fn rewrites_follow_one_another_and_the_last_value_is_the_hosts() {
    let add = "# hookrun: rewrite\n\
               printf '{\"update\":{\"toolInput\":{\"command\":\"%s+\"}}}' \"$HOOKRUN_ACTION_COMMAND\"";
    let sandbox = Sandbox::new()
        .hook("10", add)
        .hook("20", add)
        .hook("30", add);
    sandbox
        .run_shell("x")
        .allows_with(json!({ "update": { "toolInput": { "command": "x+++" } } }));
}

#[test]
fn every_rewrite_is_reported_with_its_old_and_its_new_value() {
    let sandbox = Sandbox::new().hook("10", &sets("b")).hook("20", &sets("c"));
    let context = r#"{"toolName":"bash","toolInput":{"command":"a","timeout":7}}"#;
    let report = sandbox.report("tool.pre", context);
    let row = |hook: &str, old: serde_json::Value, new: &str| json!({ "hook": hook, "field": "toolInput", "old": old, "new": { "command": new } });
    let mut again = row("10", json!({ "command": "c" }), "b");
    again["rejected"] =
        "this was the hook's second run for the event, and a hook can rewrite an event only once"
            .into();
    let expected = json!([
        row("10", json!({ "command": "a", "timeout": 7 }), "b"),
        row("20", json!({ "command": "b" }), "c"),
        again,
    ]);
    assert_eq!(report["rewrites"], expected);
}

#[test]
fn a_block_takes_back_every_rewrite() {
    let sandbox = Sandbox::new()
        .hook("10-set", &sets("ls"))
        .hook("20-deny", "echo no >&2; exit 1");
    sandbox.run_shell("rm").blocks("no");
}

#[test]
fn a_hook_that_blocks_rewrites_nothing() {
    let answer = r#"{"continue":false,"reason":"no","update":{"toolInput":{"command":"ls"}}}"#;
    let body = format!("# hookrun: rewrite\necho '{answer}'");
    Sandbox::new()
        .hook("hook", &body)
        .run_shell("rm")
        .blocks("no");
}

#[test]
fn the_first_value_stands_where_the_event_says_so() {
    let sets = |folder: &str| {
        format!("# hookrun: rewrite\necho '{{\"update\":{{\"summary\":\"{folder}\"}}}}'")
    };
    let sandbox = Sandbox::new()
        .hook_for("session.tree.pre", "10", &sets("/first"))
        .hook_for("session.tree.pre", "20", &sets("/second"));
    sandbox
        .run("session.tree.pre")
        .allows_with(json!({ "update": { "summary": "/first" } }));
    let report = sandbox.report("session.tree.pre", "{}");
    assert!(report["rewrites"][1]["rejected"].is_string(), "{report}");
}

#[test]
fn rewrites_follow_the_rule_of_their_field() {
    let (user, model) = (json!({"role": "user"}), json!({"role": "assistant"}));
    let more = json!({"role": "user", "content": "x"});
    for (rule, old, new, wanted) in [
        (Merge::Chain, json!(1), json!(2), Some(json!(2))),
        (Merge::First, json!(1), json!(2), None),
        (
            Merge::Append,
            json!([1]),
            json!([2, 3]),
            Some(json!([1, 2, 3])),
        ),
        (Merge::Append, Value::Null, json!("x"), Some(json!(["x"]))),
        (Merge::Append, json!("text"), json!("x"), None),
        (Merge::SameRole, user.clone(), model, None),
        (Merge::SameRole, user, more.clone(), Some(more)),
        (Merge::Claim, json!(true), json!(true), None),
    ] {
        assert_eq!(
            rewrite(rule, &old, &new, true).ok(),
            wanted,
            "{rule:?} {old} {new}"
        );
    }
}
