//! Findings: places in files that hooks point at. They decide nothing and are not lost.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const FINDINGS: &str = r#"[{"path":"a.tf","line":3,"message":"open to all"},{"path":"b,c:d","level":"warning","message":"100%\nsure"}]"#;

/// A hook that prints these findings and exits with `status`.
fn finder(status: i32) -> Sandbox {
    Sandbox::new().hook(
        "guard",
        &format!("printf '%s\\n' '{{\"findings\":{}}}'; exit {status}", FINDINGS.replace('\n', "")),
    )
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn findings_of_a_hook_that_allows_are_in_the_reply() {
    let findings = json!([
        {"path": "a.tf", "line": 3, "level": "error", "message": "open to all"},
        {"path": "b,c:d", "level": "warning", "message": "100%\nsure"},
    ]);
    finder(0).run("tool.pre").allows_with(json!({ "findings": findings }));
}

#[test]
fn findings_stay_when_an_exit_status_refuses() {
    let ran = finder(3).run("tool.pre");
    assert_eq!(ran.status, 2);
    let reply = json_of(&ran.stdout);
    assert_eq!(reply["continue"], false);
    assert_eq!(reply["findings"].as_array().map(Vec::len), Some(2));
}

#[test]
fn findings_of_an_earlier_hook_stay_when_a_later_one_refuses() {
    let sandbox = finder(0).hook("later", "echo no >&2; exit 1");
    let ran = sandbox.hookrun(&["run", "tool.pre", "--format", "json"], b"{}");
    let report = json_of(&ran.stdout);
    assert_eq!((&report["decision"], &report["decidedBy"]), (&json!("block"), &json!("later")));
    assert_eq!(report["findings"][0]["hook"], "guard");
    assert_eq!(report["findings"][0]["path"], "a.tf");
}

#[test]
fn annotations_name_the_line_and_the_reason() {
    let ran = finder(1).hookrun(&["run", "tool.pre", "--format", "github"], b"{}");
    assert_eq!(ran.status, 2);
    assert_eq!(
        ran.stdout,
        "::error file=a.tf,line=3,title=guard::open to all\n\
         ::warning file=b%2Cc%3Ad,title=guard::100%25%0Asure\n\
         ::error title=guard refused tool.pre::exited with status 1\n"
    );
    let silent = Sandbox::new().hookrun(&["run", "tool.pre", "--format", "github"], b"{}");
    assert_eq!((silent.status, silent.stdout.as_str()), (0, ""));
}

#[test]
fn a_refusal_of_hookrun_itself_is_an_annotation_too() {
    let ran = Sandbox::new().hookrun(&["run", "tool.pre", "--format", "github"], b"not JSON");
    assert_eq!(ran.status, 2);
    assert!(ran.stdout.starts_with("::error title=hookrun refused tool.pre::"), "{}", ran.stdout);
}

#[test]
fn findings_that_cannot_be_read_are_malformed_and_never_undo_a_refusal() {
    let bad = r#"printf '%s\n' '{"findings":[{"path":"a"}]}'"#;
    let ran = Sandbox::new().hook("guard", bad).run("tool.pre");
    ran.blocks_saying("`findings.0.message` must be a text that is not empty");
    let ran = Sandbox::new().hook("guard", &format!("{bad}; exit 1")).run("tool.pre");
    ran.blocks("exited with status 1");
}

#[test]
fn test_shows_where() {
    let ran = finder(0).hookrun(&["test", "tool.pre"], b"{}");
    assert!(ran.stdout.contains("found    a.tf:3: error: open to all"), "{}", ran.stdout);
}
