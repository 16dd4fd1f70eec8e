//! What a program uses of the library by itself: verdicts that come together, the registry,
//! reminders, interceptors, and variables that it gives.

use std::time::Duration;

use hookrun::interceptor::{
    After, CallChange, InterceptedCall, Interceptors, ToolCall, ToolResult,
};
use hookrun::internals::event::EventSpec;
use hookrun::internals::event::catalog::{Catalog, find};
use hookrun::internals::exec::Heartbeat;
use hookrun::internals::outcome::NoticeKind;
use hookrun::{Hook, Outcome, Registry, Reminders, Runner, Surroundings, Verdict};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq};
use serde_json::json;

use super::{call, event, shell, surroundings};
use crate::sandbox::Sandbox;

/// A hook that says nothing (0), asks (1), blocks (2) or fails (3).
fn of_kind(place: usize, kind: u8, event: &str) -> Hook {
    Hook::function(&format!("h{place}"), event, move |_| match kind {
        0 => Ok(Verdict::allow().with_output("out")),
        1 => Ok(Verdict::ask("?")),
        2 => Ok(Verdict::block("no")),
        _ => Err("died"),
    })
}

fn decided(kinds: &[u8], name: &str) -> Outcome {
    let hooks = kinds
        .iter()
        .enumerate()
        .map(|(place, kind)| of_kind(place, *kind, name));
    let runner = Runner::new(Registry::new(hooks).unwrap(), surroundings("/".as_ref()));
    runner
        .handle(&event(name, &json!({ "toolName": "note" })))
        .outcome
}

proptest::proptest! {
    #[test]
    fn a_gate_is_blocked_exactly_when_somebody_blocks_or_fails(kinds in vec(0..4u8, 0..8)) {
        let merged = decided(&kinds, "tool.pre");
        let first = kinds.iter().position(|kind| *kind >= 2);
        let by = merged.block().and_then(|block| block.hook.clone());
        prop_assert_eq!(by, first.map(|place| format!("h{place}")));
        prop_assert!(first.is_none() || merged.texts.is_empty());
        if first.is_none() {
            prop_assert_eq!(merged.is_allowed(), !kinds.contains(&1));
            prop_assert!(merged.clone().answered(true, "").is_allowed());
            let declined = merged.answered(false, "no terminal");
            let asked = kinds.contains(&1).then_some("person");
            prop_assert_eq!(declined.block().map(|block| block.cause.name()), asked);
        }
    }

    #[test]
    fn what_cannot_be_blocked_goes_on_and_says_so(kinds in vec(0..4u8, 0..8)) {
        let merged = decided(&kinds, "turn.start");
        prop_assert!(merged.is_allowed());
        let notices: Vec<NoticeKind> = merged.notices.iter().map(|notice| notice.kind).collect();
        let says = [NoticeKind::Question, NoticeKind::Block, NoticeKind::Failure];
        let wanted = kinds.iter().filter_map(|kind| says.get(usize::from(*kind).wrapping_sub(1)));
        prop_assert_eq!(notices, wanted.copied().collect::<Vec<_>>());
    }
}

#[test]
fn hooks_come_and_go_and_equal_ones_keep_their_order() {
    let hook = |name: &str, priority: i64| Hook {
        priority,
        ..shell(name, "true")
    };
    let names = |registry: &Registry| -> Vec<String> {
        registry
            .bound("tool.pre")
            .iter()
            .map(|hook| hook.name.clone())
            .collect()
    };
    let registry = Registry::new([hook("b", 100), hook("late", 200)]).unwrap();
    let shared = registry.clone();
    for (name, priority) in [("a", 100), ("first", 1), ("c", 100), ("b", 100)] {
        shared.register(hook(name, priority)).unwrap();
    }
    assert_eq!(names(&registry), ["first", "b", "a", "c", "b", "late"]);
    let before = registry.bound("tool.pre");
    assert_eq!((registry.remove("b"), registry.remove("b")), (2, 0));
    assert_eq!(names(&shared), ["first", "a", "c", "late"]);
    assert_eq!(before.len(), 6, "what is being decided keeps its hooks");
    registry.retain(|_| false);
    assert!(!registry.has("tool.pre") && registry.hooks().is_empty());
}

#[test]
fn a_hook_for_an_event_that_does_not_exist_is_an_error_and_a_hosts_name_is_ours() {
    let hook = |event: &str| Hook::shell("x", event, "true");
    let own = EventSpec {
        name: "deploy.pre".into(),
        ..find("tool.pre").unwrap().clone()
    };
    let registry = Registry::loaded([], Catalog::with(vec![own]));
    for (name, meant) in [
        ("tool.pre", "tool.pre"),
        ("PreToolUse", "tool.pre"),
        ("Deploy.Pre", "deploy.pre"),
    ] {
        registry.register(hook(name)).unwrap();
        assert_eq!(registry.bound(meant).last().unwrap().event, meant, "{name}");
    }
    for slip in ["tool.per", "", "deploy"] {
        assert_eq!(registry.register(hook(slip)).unwrap_err().name, slip);
    }
    assert_eq!(
        Registry::new([hook("tool.per")])
            .unwrap_err()
            .nearest
            .unwrap(),
        "tool.pre"
    );
    assert!(
        Registry::new([hook("deploy.pre")]).is_err(),
        "nothing declares it here"
    );
    assert_eq!(registry.hooks().len(), 3);
}

#[test]
fn reminders_are_drained_once_in_order() {
    let reminders = Reminders::default();
    let says = |name: &str, output: &'static str, context: &'static str| {
        Hook::function(name, "tool.pre", move |_| {
            Verdict::allow().with_output(output).with_context(context)
        })
    };
    let asks = || Hook::function("q", "tool.pre", |_| Verdict::ask("ok?"));
    let blocks = || Hook::function("c", "tool.pre", |_| Verdict::block("no"));
    let decide = |hooks: Vec<Hook>| {
        let runner = Runner::new(Registry::new(hooks).unwrap(), surroundings("/".as_ref()));
        runner
            .reminders(reminders.clone())
            .handle(&call("ls"))
            .outcome
    };
    let drained = || -> Vec<String> {
        let texts = reminders.drain().into_iter().map(|one| one.text);
        let inner = texts.map(|text| text.lines().filter(|line| !line.starts_with('<')).collect());
        inner.collect()
    };
    decide(vec![says("a", " ran \n", "\n  ctx "), says("b", "", "  ")]);
    decide(vec![blocks()]);
    decide(vec![]);
    let blocked = "Hook \"c\" blocked the action: no. Adjust your approach; do not retry the exact \
                   same call.";
    let context = "Additional context from hook \"a\":ctx";
    let output = ["Hook \"a\" completed.ran", context, "Hook \"b\" completed."];
    assert_eq!(drained(), [&output[..], &[blocked]].concat());
    assert_eq!(drained(), [""; 0]);

    // An open question reminds of nothing until it is answered.
    let asked = decide(vec![says("a", "", "ctx"), asks()]);
    assert_eq!(drained(), [""; 0]);
    reminders.collect(&asked.clone().answered(false, ""));
    assert!(drained()[0].starts_with("Hook \"q\" blocked"));
    reminders.collect(&asked.answered(true, ""));
    assert_eq!(drained().len(), 2);
}

fn reads(path: &str) -> ToolCall {
    ToolCall {
        tool: "read".into(),
        input: json!({ "path": path }),
    }
}

#[test]
fn each_interceptor_sees_what_the_earlier_ones_made_and_a_veto_or_a_panic_ends_it() {
    let appends = |text: &'static str| {
        move |call: &ToolCall| {
            let path = call.input["path"].as_str().unwrap_or_default();
            CallChange::Rewrite(json!({ "path": format!("{path}{text}") }))
        }
    };
    let mut all = Interceptors::default();
    all.before("b", appends("b"));
    all.before("pass", |call| {
        assert_eq!(call.input["path"], "ab");
        CallChange::Pass
    });
    all.before("c", appends("c"));
    let rewritten_by = vec!["b".to_string(), "c".to_string()];
    let runs = InterceptedCall::Runs {
        call: reads("abc"),
        rewritten_by,
    };
    assert_eq!(all.run_before(reads("a")), runs);

    all.before("no", |_| CallChange::Veto("no".into()));
    all.before("never", |_| panic!("a veto came before"));
    let vetoed = |by: &str, reason: &str| {
        let (by, reason) = (by.to_string(), reason.to_string());
        InterceptedCall::Vetoed { by, reason }
    };
    assert_eq!(all.run_before(reads("a")), vetoed("no", "no"));
    assert_eq!((all.remove("no"), all.remove("no")), (1, 0));
    let reason = "interceptor `never` failed: panicked: a veto came before (fail closed)";
    assert_eq!(all.run_before(reads("a")), vetoed("never", reason));
}

#[test]
fn a_panic_of_an_interceptor_after_a_call_leaves_the_result_and_a_notice() {
    let mut all = Interceptors::default();
    let result = |text: &str| ToolResult {
        value: json!(text),
        is_error: false,
    };
    all.after("strips", |_, result| {
        let text = result
            .value
            .as_str()
            .unwrap_or_default()
            .replace("secret", "***");
        After::Rewrite(ToolResult {
            value: json!(text),
            ..result.clone()
        })
    });
    all.after("broken", |_, _| panic!("broken"));
    all.after("counts", |_, result| {
        assert_eq!(result.value, "a ***");
        After::Pass
    });
    let finished = all.run_after(&reads("a"), result("a secret"));
    assert_eq!(
        (finished.result, finished.rewritten_by),
        (result("a ***"), vec!["strips".into()])
    );
    assert_eq!(
        finished.notices,
        ["interceptor `broken` failed: panicked: broken"]
    );
}

#[test]
fn of_several_variables_of_one_name_the_last_counts_and_a_hooks_own_before_the_given() {
    let sandbox = Sandbox::new();
    let given = [
        ("A", "first"),
        ("A", "1"),
        ("AB", "2"),
        ("C", "x=y\nz"),
        ("D", ""),
    ];
    let given = given
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec();
    let surroundings = Surroundings {
        variables: Some(given),
        ..surroundings(sandbox.path())
    };
    let line = "echo \"$A/$AB/$C/${D-none}/${HOME-none}\"; env | grep -c ^A=";
    let own = ["first", "own"].map(|value| ("A".to_string(), value.to_string()));
    let hook = Hook {
        variables: own.to_vec(),
        ..shell("hook", line)
    };
    let run = Runner::new(Registry::new([hook]).unwrap(), surroundings).handle(&call("ls"));
    assert_eq!(
        run.outcome.output().as_deref(),
        Some("own/2/x=y\nz//none\n1"),
        "{run:?}"
    );
}

#[test]
fn a_promise_is_renewed_and_the_answer_is_claimed_once() {
    let heartbeat = Heartbeat::new(Duration::from_secs(60));
    assert!(heartbeat.left().unwrap() > Duration::from_secs(60));
    heartbeat.clone().expect_within(Duration::MAX);
    assert!(heartbeat.left().unwrap() > Duration::from_secs(3600));
    assert!(heartbeat.claim() && !heartbeat.clone().claim());
    assert_eq!(heartbeat.answer(), None);
    heartbeat.answered(2);
    assert_eq!(heartbeat.clone().answer(), Some(2));
}
