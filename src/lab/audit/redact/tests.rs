//! Documents, keys and own rules. What each rule finds is in `tests/it/secrets.rs`.

use super::*;
use serde_json::json;

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
fn an_ordinary_line_needs_no_expression() {
    let redactor = Redactor::default();
    let line = json!({
        "event": "tool.pre", "sessionId": "2f6e", "toolName": "Bash", "cwd": "/home/me/src",
        "toolInput": {"command": "cargo test --test it why:: -- --nocapture", "timeout": 120_000},
        "transcriptPath": "/home/me/.agent/x.jsonl", "usage": {"totalTokens": 5},
        "text": "see https://docs.rs/regex and mail me@example.org\n\tdisk-usage task-list \u{1b}[0m",
    });
    let mut out = String::new();
    redactor.json(&line.to_string(), &mut out);
    assert_eq!(out, line.to_string());
    assert!(redactor.built.lock().unwrap().is_empty());
}

#[test]
fn a_beginning_of_a_document_is_cleaned_too() {
    let redactor = Redactor::default();
    let mut out = String::new();
    redactor.json(r#"{"a":"password=hunter2 and mo"#, &mut out);
    assert!(!out.contains("hunter2"), "{out}");
}
