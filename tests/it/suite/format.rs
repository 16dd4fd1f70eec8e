//! Each key of a test case file.

use hookrun::internals::scenario::CaseFolders;
use serde_json::json;

use super::{HEAD, outcome, outcome_in, report, suite};
use crate::sandbox::Sandbox;

const BLOCK: &str = "echo no >&2; exit 1";

#[track_caller]
fn meets(hook: &str, rest: &str) {
    assert_eq!(
        outcome(hook, &format!("{HEAD}{rest}")),
        "expected",
        "{rest}"
    );
}

#[track_caller]
fn misses(hook: &str, rest: &str, keys: &str) {
    assert_eq!(outcome(hook, &format!("{HEAD}{rest}")), keys, "{rest}");
}

#[test]
fn the_decision_is_held_against_what_comes_out() {
    meets("true", "expect.decision = 'allow'");
    meets(BLOCK, "expect.decision = 'block'");
    meets("echo '{\"ask\":\"really?\"}'", "expect.decision = 'ask'");
    misses("true", "expect.decision = 'block'", "decision");
    misses(BLOCK, "expect.decision = 'allow'", "decision");
}

#[test]
fn a_reason_or_a_question_is_matched() {
    meets(BLOCK, "expect = { decision = 'block', reason = '^no$' }");
    misses(
        BLOCK,
        "expect = { decision = 'block', reason = '^yes' }",
        "reason",
    );
    meets(
        "echo '{\"ask\":\"really?\"}'",
        "expect = { decision = 'ask', reason = 'really' }",
    );
}

#[test]
fn who_decided_and_who_was_asked_is_told_by_name() {
    let sandbox = Sandbox::new()
        .hook("10-a", "true")
        .hook("20-b", BLOCK)
        .hook("30-c", "true");
    let of = |expect: &str| outcome_in(&sandbox, &format!("{HEAD}expect = {{ {expect} }}"));
    assert_eq!(
        of("decision = 'block', by = '20-b', asked = ['10-a', '20-b']"),
        "expected"
    );
    assert_eq!(of("decision = 'block', by = '10-a'"), "by");
    assert_eq!(of("decision = 'block', asked = ['10-a']"), "asked");
}

#[test]
fn only_the_hooks_that_a_case_names_are_asked() {
    let sandbox = Sandbox::new().hook("10-a", BLOCK).hook("20-b", "true");
    let rest = "hook = '20-b'\nexpect = { decision = 'allow', asked = ['20-b'] }";
    assert_eq!(outcome_in(&sandbox, &format!("{HEAD}{rest}")), "expected");
}

#[test]
fn a_block_by_failure_is_no_proof_of_a_policy() {
    misses("kill -SEGV $$", "expect.decision = 'block'", "failed");
    meets(
        "kill -SEGV $$",
        "expect = { decision = 'block', failed = 'hook', reason = 'SIGSEGV' }",
    );
    misses(
        BLOCK,
        "expect = { decision = 'block', failed = 'hook' }",
        "failed",
    );
}

#[test]
fn outputs_and_contexts_that_a_case_does_not_name_must_not_be_there() {
    meets(
        "echo hello",
        "expect = { decision = 'allow', output = '^hello' }",
    );
    misses("echo hello", "expect = { decision = 'allow' }", "output");
    misses(
        "true",
        "expect = { decision = 'allow', output = 'hello' }",
        "output",
    );
    let context = "echo '{\"additionalContext\":\"a hint\"}'";
    meets(context, "expect = { decision = 'allow', context = 'hint' }");
    misses(context, "expect = { decision = 'allow' }", "context");
}

#[test]
fn rewrites_are_compared_as_json() {
    let hook = "# hookrun: rewrite\necho '{\"update\":{\"toolInput\":{\"command\":\"ls\"}}}'";
    let sent = "context = { toolName = 'bash', toolInput = { command = 'rm' } }\n";
    meets(
        hook,
        &format!(
            "{sent}expect = {{ decision = 'allow', rewrites = {{ toolInput = {{ command = 'ls' }} }} }}"
        ),
    );
    misses(
        hook,
        &format!("{sent}expect = {{ decision = 'allow' }}"),
        "rewrites",
    );
}

#[test]
fn what_decides_nothing_is_a_notice() {
    let sandbox = Sandbox::new().hook_for("session.end", "hook", BLOCK);
    let of = |expect: &str| {
        outcome_in(
            &sandbox,
            &format!("event = 'session.end'\nexpect = {{ decision = 'allow'{expect} }}"),
        )
    };
    assert_eq!(of(", notice = 'no'"), "expected");
    assert_eq!(of(""), "notice");
}

#[test]
fn what_is_found_in_files_can_be_held_to_its_lines() {
    let hook = r#"cat << 'end'
{"findings": [{"path": "a.tf", "line": 7, "message": "open"},
              {"path": "b.tf", "level": "notice", "message": "new"}]}
end"#;
    let expecting =
        |findings: &str| format!("expect = {{ decision = 'allow', findings = '{findings}' }}");
    meets(hook, &expecting(r"^error a\.tf:7 open\nnotice b\.tf new$"));
    meets(hook, "expect = { decision = 'allow' }");
    misses(hook, &expecting("a.tf:8"), "findings");
    misses(hook, &expecting("^$"), "findings");
    meets("true", &expecting("^$"));
}

#[test]
fn a_host_asks_in_its_words_and_gets_its_reply() {
    let rest = r#"
event = "PreToolUse"
host = "claude"
context = { tool_name = "Bash", tool_input = { command = "ls" } }
[case.expect]
decision = "ask"
[case.expect.reply]
status = 0
[case.expect.reply.stdout.hookSpecificOutput]
hookEventName = "PreToolUse"
permissionDecision = "ask"
permissionDecisionReason = "really?"
"#;
    assert_eq!(outcome("echo '{\"ask\":\"really?\"}'", rest), "expected");
    let native = "expect = { decision = 'block', reply = { status = 2, stderr = '^no\\n$', stdout = '\"continue\":false' } }";
    meets(BLOCK, native);
    misses(
        BLOCK,
        "expect = { decision = 'block', reply = { status = 0, stderr = 'x', stdout = { a = 1 } } }",
        "reply.status reply.stdout reply.stderr",
    );
}

#[test]
fn a_context_is_a_table_or_json_or_a_file_or_bytes() {
    let hook = "cat > got";
    meets(
        hook,
        "context = { toolName = 'x', n = 1, list = [true, 2.5], a = { b = 'c' } }\nexpect = { decision = 'allow', files = { got = '\"n\":1,\"list\":\\[true,2.5\\],\"a\":\\{\"b\":\"c\"\\}' } }",
    );
    meets(
        hook,
        "context = '{\"toolName\":\"x\", \"z\":null, \"a\" :1}'\nexpect = { decision = 'allow', files = { got = '\"z\":null' } }",
    );
    let sandbox = Sandbox::new().hook("hook", hook).file(
        "hooks.d/tests/events/x.json",
        r#"{"toolName":"x","k":"from a file"}"#,
    );
    let rest = "context_file = 'events/x.json'\nexpect = { decision = 'allow', files = { got = 'from a file' } }";
    assert_eq!(outcome_in(&sandbox, &format!("{HEAD}{rest}")), "expected");
    meets(
        hook,
        "stdin = 'no json'\nexpect = { decision = 'block', failed = 'hookrun', reason = 'JSON' }",
    );
}

#[test]
fn files_are_laid_out_and_looked_at() {
    let sandbox = Sandbox::new()
        .hook(
            "hook",
            "cat a/b.txt copied > both; [ -x run ] && touch ran; rm a/b.txt",
        )
        .file("hooks.d/tests/source", "source\n");
    let rest = r#"
files = { "a/b.txt" = "text\n", copied = { copy = "source" }, run = "" }
setup = "chmod +x run"
expect = { decision = "allow", files = { both = "^text\nsource\n$", ran = true, "a/b.txt" = false } }
"#;
    assert_eq!(outcome_in(&sandbox, &format!("{HEAD}{rest}")), "expected");
    let rest = "expect = { decision = 'allow', files = { ran = true, a = 'x' } }";
    assert_eq!(
        outcome_in(&sandbox, &format!("{HEAD}{rest}")),
        "decision failed output files.ran files.a".replace("decision failed output ", "decision ")
    );
}

#[test]
fn setup_prepares_and_a_setup_that_fails_is_no_miss() {
    meets(
        "cat made",
        "setup = 'echo made by $0 > made'\nexpect = { decision = 'allow', output = 'made by /bin/sh' }",
    );
    let found = outcome(
        "true",
        &format!(
            "{HEAD}setup = 'echo why >&2; false; touch never'\nexpect = {{ decision = 'allow' }}"
        ),
    );
    assert_eq!(found, "could not: its `setup` failed (exit status: 1): why");
}

#[test]
fn variables_and_folders_are_the_case_s_own() {
    let hook = "echo \"$A|$HOME|$PWD|$TMPDIR|$LANG|$SECRET|${HOOKRUN_LOG-none}\"";
    let sandbox = Sandbox::new()
        .hook("hook", hook)
        .variable("SECRET", "leaked")
        .variable("HOOKRUN_LOG", "off");
    let rest = "env = { A = '{case.folder}/a' }\nexpect = { decision = 'allow', output = '^{case.folder}/a\\|{case.home}\\|{case.folder}\\|[^|]+\\|C.UTF-8\\|\\|none$' }";
    assert_eq!(outcome_in(&sandbox, &format!("{HEAD}{rest}")), "expected");
    sandbox.has_no_file("leaked");
}

#[test]
fn steps_come_one_after_the_other_in_one_folder() {
    let rest = r#"
event = "tool.pre"
[[case.step]]
expect = { decision = "allow", files = { count = "^x\n$" } }
[[case.step]]
setup = "echo y >> count"
expect = { decision = "allow", files = { count = "^x\ny\nx\n$" } }
[[case.step]]
event = "session.start"
expect = { decision = "allow", asked = [] }
"#;
    assert_eq!(outcome("echo x >> count", rest), "expected");
}

#[test]
fn a_step_that_differs_is_named() {
    let sandbox = Sandbox::new().hook("hook", "true").file(
        "hooks.d/tests/x.toml",
        "[[case]]\nname = 'x'\nevent = 'tool.pre'\n[[case.step]]\nexpect = { decision = 'allow' }\n[[case.step]]\nexpect = { decision = 'block' }\n",
    );
    let miss = &report(&sandbox, &[])["cases"][0]["misses"][0];
    assert_eq!((&miss["step"], &miss["line"]), (&2.into(), &7.into()));
}

#[test]
fn a_case_that_is_skipped_is_told_with_its_reason() {
    let sandbox = super::guarded(
        "[[case]]\nname = 'later'\nskip = 'not yet'\nevent = 'tool.pre'\nexpect = { decision = 'block' }\n",
    );
    suite(&sandbox, &[])
        .exits(0)
        .prints("1 skipped")
        .prints("skip   later: not yet");
}

#[test]
fn each_row_makes_a_case() {
    let sandbox = super::guarded(
        r#"
[[case]]
name = "{command} is refused"
event = "tool.pre"
context = { toolName = "bash", toolInput = { command = "{command}", n = "{number}" } }
expect = { decision = "block", reason = "{reason}" }

[[case.with]]
command = "bad"
number = 1
reason = "^no bad"

[[case.with]]
command = { text = "very bad ", times = 3 }
number = 2
reason = "commands$"

[[case]]
name = "unnamed"
event = "tool.pre"
context = { toolName = "bash", toolInput = { command = "{x}" } }
expect = { decision = "allow" }
with = [{ x = "a" }, { x = "{{x}}" }]
"#,
    );
    let report = report(&sandbox, &[]);
    let names: Vec<&str> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let wanted = [
        "bad is refused",
        "very bad very bad very bad is refused",
        "unnamed (row 1)",
        "unnamed (row 2)",
    ];
    assert_eq!(names, wanted);
    assert_eq!(report["ok"], true, "{report:#}");
    assert_eq!(report["cases"][0]["line"], 8);
}

#[test]
fn defaults_are_what_every_case_has() {
    let rest = "[defaults]\nevent = 'tool.pre'\nenv = { A = 'a', B = 'b' }\nfiles = { f = 'f' }\n[[case]]\nname = 'x'\nenv = { B = 'own' }\nexpect = { decision = 'allow', output = '^a own f' }\n";
    let sandbox = Sandbox::new()
        .hook("hook", "echo $A $B $(cat f)")
        .file("hooks.d/tests/x.toml", rest);
    suite(&sandbox, &[]).exits(0);
}

#[test]
fn values_are_written_where_their_names_stand() {
    let hook = r#"[ "$HOOKRUN_ACTION_COMMAND" = 'a b, {x}, ${x}, {2,}, {X}, {' ]"#;
    let input = "{ toolName = 'bash', toolInput.command = '{x}, {{x}}, ${x}, {2,}, {X}, {' }";
    meets(
        hook,
        &format!("context = {input}\nexpect.decision = 'allow'\nwith = [{{ x = 'a b' }}]"),
    );
}

#[test]
fn folders_stand_in_texts_and_mean_themselves_in_patterns() {
    let folders = CaseFolders {
        work: "/t/a.b".into(),
        home: "/t/home".into(),
        suite: "/s".into(),
    };
    assert_eq!(
        folders.fill("{case.folder}/x {case.home}"),
        "/t/a.b/x /t/home"
    );
    assert_eq!(folders.fill_pattern("^{case.folder}$"), "^/t/a\\.b$");
    assert_eq!(
        folders.unfill("/t/a.b/x: /t/home"),
        "{case.folder}/x: {case.home}"
    );
    let value = json!({ "{suite.folder}": ["{case.home}", 1] });
    assert_eq!(folders.fill_value(&value), json!({ "/s": ["/t/home", 1] }));
}
