//! Each rule with what it finds and what it must leave alone.

use super::*;
use serde_json::json;

/// A rule's kind, texts with a secret and what stays of them, and near misses.
type Case = (&'static str, Vec<(String, &'static str)>, Vec<String>);

/// Secrets are put together here, so that no scanner takes this file for a leak.
#[expect(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    let r = |text: &str, times: usize| text.repeat(times);
    vec![
        (
            "private-key",
            vec![
                (
                    format!(
                        "a -----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY----- b",
                        r("ab", 20)
                    ),
                    "a [redacted:private-key] b",
                ),
                (
                    format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}", r("ab", 20)),
                    "[redacted:private-key]",
                ),
            ],
            vec!["-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----".into()],
        ),
        (
            "aws-key",
            vec![
                (format!("id AKIA{} x", r("Q2", 8)), "id [redacted:aws-key] x"),
                (format!("\nASIA{}", r("Q2", 8)), "\n[redacted:aws-key]"),
            ],
            vec![format!("AKIA{}", r("q", 16)), format!("XAKIA{}", r("Q2", 8)), "AKIAN".into()],
        ),
        (
            "github-token",
            vec![
                (format!("x=ghp_{}", r("a1", 18)), "x=[redacted:github-token]"),
                (format!("(github_pat_{})", r("a1", 18)), "([redacted:github-token])"),
            ],
            vec!["ghp_short".into(), format!("highp_{}", r("a1", 18))],
        ),
        (
            "gitlab-token",
            vec![(format!("glpat-{}", r("a1", 10)), "[redacted:gitlab-token]")],
            vec!["glpat-short".into()],
        ),
        (
            "slack-token",
            vec![
                (format!("xoxb-{}", r("1a-", 8)), "[redacted:slack-token]"),
                (format!("xapp-1-{}", r("a1-", 8)), "[redacted:slack-token]"),
                (
                    format!("https://hooks.slack.com/services/{}", r("T0/", 10)),
                    "https://[redacted:slack-token]",
                ),
            ],
            vec!["xoxo-hugs-and-kisses".into(), "https://hooks.slack.com/docs".into()],
        ),
        (
            "google-key",
            vec![(format!("AIza{}", r("a1-x_", 7)), "[redacted:google-key]")],
            vec!["AIzawa".into()],
        ),
        (
            "npm-token",
            vec![(format!("npm_{}", r("a1", 18)), "[redacted:npm-token]")],
            vec!["npm_config_registry".into()],
        ),
        (
            "huggingface-token",
            vec![(format!("hf_{}", r("a1", 17)), "[redacted:huggingface-token]")],
            vec!["hf_transfer".into(), format!("hf_{}", r("ab", 17))],
        ),
        (
            "sendgrid-key",
            vec![(format!("SG.{0}.{0}", r("a1-_", 5)), "[redacted:sendgrid-key]")],
            vec!["SG.x".into(), "MSG.a".into()],
        ),
        (
            "stripe-key",
            vec![(format!("sk_live_{}", r("a1", 10)), "[redacted:stripe-key]")],
            vec!["sk_live_x".into()],
        ),
        (
            "api-key",
            vec![(format!("sk-ant-{}", r("a1", 10)), "[redacted:api-key]")],
            vec!["sk-learn-compatible-estimators".into(), "a task-1234567890123456789".into()],
        ),
        (
            "jwt",
            vec![(format!("eyJ{0}.eyJ{0}.{0}", r("a1", 8)), "[redacted:jwt]")],
            vec!["eyJust a name".into(), "eyJhbGciOiJI.x".into()],
        ),
        (
            "authorization",
            vec![
                (
                    "-H 'Authorization: Basic dXNlcjpwYXNz'".into(),
                    "-H 'Authorization: Basic [redacted:authorization]'",
                ),
                (format!("Bearer {}", r("a1", 10)), "Bearer [redacted:authorization]"),
                (
                    "authorization: token abcdefgh".into(),
                    "authorization: token [redacted:authorization]",
                ),
            ],
            vec![
                "the bearer of these wonderful news".into(),
                "Authorization: Basic $AUTH".into(),
                "Bearer instruments-and-such".into(),
            ],
        ),
        (
            "address-password",
            vec![
                (
                    "git clone https://me:hunter2@host/x".into(),
                    "git clone https://me:[redacted:address-password]@host/x",
                ),
                (
                    format!("https://{}@github.com/x", r("t0", 12)),
                    "https://[redacted:address-password]@github.com/x",
                ),
                ("postgres://u:p@db".into(), "postgres://u:[redacted:address-password]@db"),
            ],
            vec![
                "ssh://git@host:22/x".into(),
                "https://host/@scope/name".into(),
                "http://localhost:8080/a@b".into(),
            ],
        ),
        (
            "secret",
            vec![
                ("export GH_TOKEN=abc123".into(), "export GH_TOKEN=[redacted:secret]"),
                ("DB_PASSWORD=\"two words\" x".into(), "DB_PASSWORD=[redacted:secret] x"),
                (
                    "https://h/?access_token=abc&page=2".into(),
                    "https://h/?access_token=[redacted:secret]&page=2",
                ),
                ("password=hunter2".into(), "password=[redacted:secret]"),
                ("export DB_PASS='hun ter2' x".into(), "export DB_PASS=[redacted:secret] x"),
                ("PASS=hunter2".into(), "PASS=[redacted:secret]"),
                (
                    "aws_secret_access_key = wJalr0XUtnFEMI/K7MDENG".into(),
                    "aws_secret_access_key = [redacted:secret]",
                ),
                (
                    r#"{"client_secret": "abcdefgh", "n": 1}"#.into(),
                    r#"{"client_secret": "[redacted:secret]", "n": 1}"#,
                ),
                (
                    r#"{\"password\": \"abcdefgh\"}"#.into(),
                    r#"{\"password\": \"[redacted:secret]\"}"#,
                ),
                ("password: hunter2hunter".into(), "password: [redacted:secret]"),
                ("mysql --password hunter2 -h x".into(), "mysql --password [redacted:secret] -h x"),
                ("x --api-key=abc".into(), "x --api-key=[redacted:secret]"),
                ("gh auth --with-token abc".into(), "gh auth --with-token [redacted:secret]"),
                (
                    "curl -s -u me:hunter2 https://h".into(),
                    "curl -s -u me:[redacted:secret] https://h",
                ),
            ],
            vec![
                "TOKEN=$GH_TOKEN".into(),
                "PASSWORD=".into(),
                "MAX_TOKENS=4096".into(),
                "BYPASS=1 COMPASS=north".into(),
                "let token = next_token2(input);".into(),
                "if password == expected_1234".into(),
                "password: string".into(),
                "a password is asked for".into(),
                "x --password --force".into(),
                "x --token $T".into(),
                "curl -u me https://h".into(),
                "keyboard=us monkey=2".into(),
                r#"{"totalTokens":512,"token":3}"#.into(),
            ],
        ),
    ]
}

#[test]
fn each_rule_finds_its_secrets_and_leaves_what_only_looks_like_one() {
    let redactor = Redactor::default();
    for (kind, secrets, misses) in cases() {
        assert!(RULES.iter().any(|rule| rule.kind == kind), "{kind}");
        for (text, wanted) in secrets {
            assert_eq!(redactor.text(&text), wanted, "{kind}");
            assert_eq!(redactor.text(wanted), wanted, "{kind}: what is redacted stays so");
        }
        for text in misses {
            assert_eq!(redactor.text(&text), text, "{kind}");
        }
    }
}

#[test]
fn every_kind_has_cases() {
    let kinds: Vec<&str> = cases().iter().map(|(kind, ..)| *kind).collect();
    assert!(RULES.iter().all(|rule| kinds.contains(&rule.kind)));
}

#[test]
fn a_document_says_the_same_as_its_texts() {
    let redactor = Redactor::default();
    for (kind, secrets, misses) in cases() {
        let all = secrets.iter().map(|(text, wanted)| (text.as_str(), *wanted));
        for (text, wanted) in all.chain(misses.iter().map(|text| (text.as_str(), text.as_str()))) {
            for before in ["", "\n", "\u{1b}", "é"] {
                let document = json!({ "a": [1, { "b": format!("{before}{text}") }], "c": 1.50 });
                let mut out = String::new();
                redactor.json(&document.to_string(), &mut out);
                let found: serde_json::Value = serde_json::from_str(&out).unwrap();
                assert_eq!(found["a"][1]["b"], format!("{before}{wanted}"), "{kind}: {text}");
                assert_eq!(found["c"], 1.5);
            }
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
