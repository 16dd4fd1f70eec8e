//! Findings: places in files that hooks point at. They decide nothing and are not lost.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const GITHUB: &[&str] = &["run", "tool.pre", "--format", "github"];

const FINDINGS: &str = r#"[{"path":"a.tf","line":3,"message":"open to all"},{"path":"b,c:d","level":"warning","message":"100%\nsure"}]"#;

/// A hook that prints these findings and exits with `status`.
fn finder(status: i32) -> Sandbox {
    Sandbox::new().hook(
        "guard",
        &format!(
            "printf '%s\\n' '{{\"findings\":{}}}'; exit {status}",
            FINDINGS.replace('\n', "")
        ),
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
    finder(0)
        .run("tool.pre")
        .allows_with(json!({ "findings": findings }));
}

#[test]
fn findings_stay_when_an_exit_status_blocks() {
    let ran = finder(3).run("tool.pre");
    assert_eq!(ran.status, 2);
    let reply = json_of(&ran.stdout);
    assert_eq!(reply["continue"], false);
    assert_eq!(reply["findings"].as_array().map(Vec::len), Some(2));
}

#[test]
fn findings_of_an_earlier_hook_stay_when_a_later_one_blocks() {
    let sandbox = finder(0).hook("later", "echo no >&2; exit 1");
    let ran = sandbox.hookrun(&["run", "tool.pre", "--format", "json"], b"{}");
    let report = json_of(&ran.stdout);
    assert_eq!(
        (&report["decision"], &report["decidedBy"]),
        (&json!("block"), &json!("later"))
    );
    assert_eq!(report["findings"][0]["hook"], "guard");
    assert_eq!(report["findings"][0]["path"], "a.tf");
}

#[test]
fn annotations_name_the_line_and_the_reason() {
    let ran = finder(1).hookrun(GITHUB, b"{}");
    assert_eq!(ran.status, 2);
    assert_eq!(
        ran.stdout,
        "::error file=a.tf,line=3,title=guard::open to all\n\
         ::warning file=b%2Cc%3Ad,title=guard::100%25%0Asure\n\
         ::error title=guard blocked tool.pre::hook `guard` exited with status 1 and gave no reason\n\
         hookrun: tool.pre is blocked\n"
    );
}

#[test]
fn a_block_of_hookrun_itself_is_an_annotation_too() {
    let ran = Sandbox::new().hookrun(GITHUB, b"not JSON");
    assert_eq!(ran.status, 2);
    assert!(
        ran.stdout
            .starts_with("::error title=hookrun blocked tool.pre::"),
        "{}",
        ran.stdout
    );
}

#[test]
fn findings_that_cannot_be_read_are_malformed_and_never_undo_a_block() {
    let bad = r#"printf '%s\n' '{"findings":[{"path":"a"}]}'"#;
    let ran = Sandbox::new().hook("guard", bad).run("tool.pre");
    ran.blocks_saying("line 1: `findings.0`: missing field `message`");
    let ran = Sandbox::new()
        .hook("guard", &format!("{bad}; exit 1"))
        .run("tool.pre");
    ran.blocks("hook `guard` exited with status 1 and gave no reason");
}

#[test]
fn test_shows_where() {
    let ran = finder(0).hookrun(&["test", "tool.pre"], b"{}");
    assert!(
        ran.stdout.contains("found    a.tf:3: error: open to all"),
        "{}",
        ran.stdout
    );
}

#[test]
fn annotations_tell_which_findings_are_not_used() {
    let list =
        r#"[{"path":"a","message":"seen"},{"path":"b"},{"path":"c","message":"m","code":"R1"}]"#;
    let print = format!("printf '%s\\n' '{{\"findings\":{list}}}'; exit 1");
    let ran = Sandbox::new().hook("guard", &print).hookrun(GITHUB, b"{}");
    ran.exits(2);
    assert_eq!(
        ran.stdout,
        "::error file=a,title=guard::seen\n\
         ::error file=c,title=guard::m\n\
         ::warning title=guard::ignored a finding: `findings.1`: missing field `message`\n\
         ::warning title=guard::ignored the unknown key `findings.*.code`\n\
         ::error title=guard blocked tool.pre::hook `guard` exited with status 1 and gave no reason\n\
         hookrun: tool.pre is blocked\n"
    );
}

#[test]
fn the_keys_of_a_finding_are_read_as_those_of_an_answer() {
    for (finding, problem) in [
        (
            r#""line":"3""#,
            "`findings.0`: invalid type: string \"3\", expected u64",
        ),
        (
            r#""line":0"#,
            "`findings.0`: `line` is 0, but lines are numbered from 1",
        ),
    ] {
        let print = format!(
            "printf '%s\\n' '{{\"findings\":[{{\"path\":\"a\",\"message\":\"m\",{finding}}}]}}'"
        );
        Sandbox::new()
            .hook("guard", &print)
            .run("tool.pre")
            .blocks_saying("line 1: `findings.0`: ");
        // A status refuses as it is, and the note says what became of the finding.
        let sandbox = Sandbox::new().hook("guard", &format!("{print}; exit 1"));
        let report = sandbox.report("tool.pre", "{}");
        assert_eq!(
            report["hooks"][0]["notes"][0],
            format!("ignored a finding: {problem}")
        );
    }
    let print =
        r#"printf '%s\n' '{"findings":[{"path":"a","message":"m","column":1,"line":null}]}'"#;
    let report = Sandbox::new().hook("guard", print).report("tool.pre", "{}");
    let note = "ignored the unknown key `findings.*.column`";
    assert_eq!(report["hooks"][0]["notes"], json!([note]));
    assert_eq!(report["findings"][0]["path"], "a");
}
