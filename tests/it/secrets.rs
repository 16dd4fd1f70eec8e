//! One table of secrets: redaction, the shipped hooks and the gate for commits agree on
//! `fixtures/secrets.txt`. That the scripts hold the table itself is in `generated`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use hookrun::internals::audit::Redactor;
use hookrun::internals::audit::redact::RULES;
use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A text, what it is redacted to, and who must see its secrets.
#[derive(Debug)]
struct Case {
    scope: String,
    kind: String,
    text: String,
    redacted: String,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../../fixtures/secrets.txt").lines();
    let times = Regex::new(r"\{([^{}*]+)\*(\d+)\}").unwrap();
    let secret = Regex::new("«([^»]*)»").unwrap();
    let read = |line: &str| {
        let (head, text) = line.split_once(" | ").expect("SCOPE KIND | TEXT");
        let (scope, kind) = head.split_once(' ').unwrap_or((head, ""));
        let repeat = |found: &Captures<'_>| found[1].repeat(found[2].parse().unwrap());
        let text = times.replace_all(text, repeat).into_owned();
        Case {
            redacted: secret.replace_all(&text, format!("[redacted:{kind}]")).into_owned(),
            text: text.replace(['«', '»'], ""),
            scope: scope.to_string(),
            kind: kind.to_string(),
        }
    };
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(read).collect()
}

#[test]
fn redaction_finds_every_secret_and_nothing_else() {
    let redactor = Redactor::default();
    for case in cases() {
        assert_eq!(redactor.text(&case.text), case.redacted, "{case:?}");
        assert_eq!(redactor.text(&case.redacted), case.redacted, "what is redacted stays so");
        for before in ["", "\n", "\u{1b}", "é"] {
            let document = json!({ "a": [1, { "b": format!("{before}{}", case.text) }], "c": 1.5 });
            let mut out = String::new();
            redactor.json(&document.to_string(), &mut out);
            let found: Value = serde_json::from_str(&out).unwrap();
            assert_eq!(found["a"][1]["b"], format!("{before}{}", case.redacted), "{case:?}");
            assert_eq!(found["c"], 1.5);
        }
    }
}

#[test]
fn every_rule_has_a_case_and_the_words_that_it_says() {
    let cases = cases();
    for rule in RULES {
        let regex = Regex::new(&rule.pattern()).unwrap();
        let matching: Vec<&Case> =
            cases.iter().filter(|it| it.kind == rule.kind && regex.is_match(&it.text)).collect();
        assert!(!matching.is_empty(), "no case for {rule:?}");
        for case in matching {
            let text = case.text.to_lowercase();
            let has_one = rule.words().iter().any(|word| text.contains(&word.to_lowercase()));
            assert!(has_one, "{rule:?}: {case:?}");
        }
    }
}

/// What a shipped script answers.
fn ask(script: &str, folder: &Path, event: &Value) -> Value {
    let mut child = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(script))
        .env("HOOKRUN_EVENT", "tool.post")
        .env("HOOKRUN_COMMITS_ALLOW", "subject sign-off")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

#[test]
fn the_shipped_hook_finds_the_same_but_for_what_only_a_log_is_rid_of() {
    let (cases, sandbox) = (cases(), Sandbox::new());
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let script = "hooks.d/tool.post/10-redact-secrets.py";
    let answer = ask(script, sandbox.path(), &json!({ "event": "tool.post", "result": texts }));
    for (case, found) in cases.iter().zip(answer["update"]["result"].as_array().unwrap()) {
        let wanted = match case.scope.as_str() {
            "everywhere" | "messages" => {
                case.redacted.replace(&format!("[redacted:{}]", case.kind), "[REDACTED]")
            }
            _ => case.text.clone(),
        };
        assert_eq!(*found, wanted, "{case:?}");
    }
}

#[test]
fn the_gate_for_commits_finds_what_its_form_alone_tells() {
    let git = |sandbox: &Sandbox, arguments: &[&str]| {
        let name = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
        let mut command = Command::new("git");
        command.args(name).args(arguments).current_dir(sandbox.path());
        assert!(command.output().unwrap().status.success(), "git {arguments:?}");
    };
    // An answer has at most 50 findings.
    for cases in cases().chunks(40) {
        let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
        let sandbox = Sandbox::new().file("data", &texts.join("\n"));
        git(&sandbox, &["init", "-q", "-b", "main"]);
        git(&sandbox, &["commit", "-q", "--allow-empty", "-m", "first"]);
        git(&sandbox, &["switch", "-qc", "work"]);
        git(&sandbox, &["add", "data"]);
        git(&sandbox, &["commit", "-qm", "second"]);
        let script = "gates/hooks.d/commits.pre/10-commit-range.py";
        let answer = ask(script, sandbox.path(), &json!({ "base": "main" }));
        let none = Vec::new();
        let findings = answer["findings"].as_array().unwrap_or(&none);
        for (line, case) in (1..).zip(cases) {
            let found: Vec<&str> = findings
                .iter()
                .filter(|it| it["line"] == line)
                .map(|it| it["message"].as_str().unwrap())
                .collect();
            let abouts = RULES.iter().filter(|it| it.kind == case.kind).map(|it| it.about);
            let is_found = abouts.into_iter().any(|it| found.iter().any(|said| said.contains(it)));
            assert_eq!(is_found, case.scope == "everywhere", "{case:?}: {found:?}");
            assert!(is_found || found.is_empty(), "{case:?}: {found:?}");
        }
    }
}

#[test]
fn what_stands_under_a_telling_key_goes_whatever_it_looks_like() {
    let redactor = Redactor::default();
    let of = |raw: &str| {
        let mut out = String::new();
        redactor.json(raw, &mut out);
        out
    };
    assert_eq!(
        of(r#"{"password" : "a b", "user":"me"}"#),
        r#"{"password" : "[redacted:secret]", "user":"me"}"#
    );
    assert_eq!(of(r#"{"x-api-key":"ab"}"#), r#"{"x-api-key":"[redacted:secret]"}"#);
    assert_eq!(
        of(r#"{"password": 1234567, "token":3,"pin":[1234567],"accessToken":12345}"#),
        r#"{"password": "[redacted:secret]", "token":3,"pin":[1234567],"accessToken":"[redacted:secret]"}"#
    );
    assert_eq!(
        of(r#"{"passwordHint":"ab","password":{"type":"string"}}"#),
        r#"{"passwordHint":"ab","password":{"type":"string"}}"#
    );
    assert_eq!(
        of(r#"{"password":"$SECRET","passwords":["a"]}"#),
        r#"{"password":"$SECRET","passwords":["a"]}"#
    );
}

#[test]
fn a_secret_behind_escapes_is_found_and_the_rest_stays_byte_for_byte() {
    let redactor = Redactor::default();
    let secret = format!("ghp_{}", "a1".repeat(18));
    let raw =
        format!(r#"{{"half":"\ud800","n":1e400,"a":"\u0067{}","b":"caf\u00e9"}}"#, &secret[1..]);
    let mut out = String::new();
    redactor.json(&raw, &mut out);
    assert_eq!(out, r#"{"half":"\ud800","n":1e400,"a":"[redacted:github-token]","b":"caf\u00e9"}"#);
}

#[test]
fn a_users_own_rules_are_added() {
    let redactor = Redactor::new(["TICKET-[0-9]+", r"(?P<keep>pin )\d{4}", "(?i)maiden"]).unwrap();
    let text = "TICKET-12 and pin 1234 and MAIDEN";
    assert_eq!(redactor.text(text), "[redacted:own] and pin [redacted:own] and [redacted:own]");
    let mut out = String::new();
    redactor.json(r#"{"a":"TICKET-7"}"#, &mut out);
    assert_eq!(out, r#"{"a":"[redacted:own]"}"#);
    assert!(Redactor::new(["(unclosed"]).is_err());
}

#[test]
fn a_beginning_of_a_document_is_cleaned_too() {
    let redactor = Redactor::default();
    let mut out = String::new();
    redactor.json(r#"{"a":"password=hunter2 and mo"#, &mut out);
    assert!(!out.contains("hunter2"), "{out}");
}
