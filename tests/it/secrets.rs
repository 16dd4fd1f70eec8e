//! One table of secrets: redaction, the shipped hooks and the gate for commits agree on
//! `fixtures/secrets.txt`. That the scripts hold the table itself is in `generated`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use hookrun::internals::log::Redactor;
use hookrun::internals::log::redact::rules;
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

/// `{a1*18}` is a1, 18 times.
fn repeated(text: &str) -> String {
    let times = Regex::new(r"\{([^{}*]+)\*(\d+)\}").unwrap();
    let repeat = |found: &Captures<'_>| found[1].repeat(found[2].parse().unwrap());
    times.replace_all(text, repeat).into_owned()
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../../fixtures/secrets.txt").lines();
    let secret = Regex::new("«([^»]*)»").unwrap();
    let read = |line: &str| {
        let (head, text) = line.split_once(" | ").expect("SCOPE KIND | TEXT");
        let (scope, kind) = head.split_once(' ').unwrap_or((head, ""));
        let text = repeated(text);
        Case {
            redacted: secret
                .replace_all(&text, format!("[redacted:{kind}]"))
                .into_owned(),
            text: text.replace(['«', '»'], ""),
            scope: scope.to_string(),
            kind: kind.to_string(),
        }
    };
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(read)
        .collect()
}

#[test]
fn redaction_finds_every_secret_and_nothing_else() {
    let redactor = Redactor::default();
    for case in cases() {
        assert_eq!(redactor.text(&case.text), case.redacted, "{case:?}");
        assert_eq!(
            redactor.text(&case.redacted),
            case.redacted,
            "what is redacted stays so"
        );
        for before in ["", "\n", "\u{1b}", "é"] {
            let document = json!({ "a": [1, { "b": format!("{before}{}", case.text) }], "c": 1.5 });
            let mut out = String::new();
            redactor.json(&document.to_string(), &mut out);
            let found: Value = serde_json::from_str(&out).unwrap();
            assert_eq!(
                found["a"][1]["b"],
                format!("{before}{}", case.redacted),
                "{case:?}"
            );
            assert_eq!(found["c"], 1.5);
        }
    }
}

/// Whether `_` before it makes it another word: those of `service-token` and JWTs.
fn is_weak(text: &str) -> bool {
    ["eyJ", "hvs.", "gsk_", "dop_", "gls", "glc"]
        .iter()
        .any(|it| text.starts_with(it))
}

/// What touches a secret and is no part of it: no letters for a terminal, a shell or an address.
const ESCAPES: &[&str] = &[
    "_",
    "\\n",
    "\\\\n",
    "\\t",
    "\\012",
    "\\x0a",
    "\\u000a",
    "\\U0000000a",
    "%0a",
    "%0A",
    "\u{1b}[32m",
    "\u{1b}[1;31m",
    "\u{1b}[m",
    "\u{1b}[K",
    "\\e[0m",
    "\\033[32m",
    "\\x1b[m",
    "\\u001b[0m",
];

/// Letters and digits that touch it.
const LETTERS: &[&str] = &["x", "MY", "my_", "X7", "9", "Zm9v", "\\u000A"];

/// Tokens that letters may touch on both sides: nothing else begins so. As long as real ones.
const TOKENS: &[&str] = &[
    "AKIA{Q2*8}",
    "ASIA{Q2*8}",
    "ghp_{a1*18}",
    "gho_{a1*18}",
    "ghu_{a1*18}",
    "ghs_{a1*18}",
    "ghr_{a1*18}",
    "github_pat_{a1*41}",
    "glpat-{a1*10}",
    "glptt-{a1*20}",
    "glcbt-{a1*10}",
    "glimt-{a1*10}",
    "glsoat-{a1*10}",
    "gloas-{a1*20}",
    "glffct-{a1*10}",
    "xoxb-{12*6}-{a1*12}",
    "xapp-1-A{0B*5}-{12*6}-{a1*32}",
    "hooks.slack.com/services/{T0/*10}",
    "AIzaSy{a1-*11}",
    "GOCSPX-{a1-x*7}",
    "ya29.{a1-_*40}",
    "npm_{a1*18}",
    "SG.{a1*11}.{a1-*14}b",
    "sk_live_{a1*12}",
    "rk_live_{a1*12}",
    "whsec_{a1*16}",
    "sk_test_{a1*12}",
    "rk_test_{a1*12}",
    "sk-ant-api03-{a1*40}",
    "sk-proj-{a1_*20}T3Blbk{FJ*1}{a1*10}",
    "sk-or-v1-{a1*32}",
    "hvs.{a1*12}",
    "hvb.{a1*12}",
    "pypi-AgE{a1*40}",
    "gsk_{a1*26}",
    "xai-{a1*40}",
    "pplx-{a1*24}",
    "nvapi-{a1-_*16}",
    "dop_v1_{a1*32}",
    "doo_v1_{a1*32}",
    "shpat_{a1*16}",
    "shpss_{a1*16}",
    "lin_api_{a1*20}",
    "figd_{a1-x*11}",
    "glsa_{a1*16}_{a1*4}",
    "glc_{a1*40}",
    "dckr_pat_{a1-*9}",
    "dckr_oat_{a1*16}",
    "rubygems_{a1*24}",
    "PMAK-{a1*12}-{a1*17}",
    "sntrys_{a1*40}",
    "sntryu_{a1*32}",
    "xkeysib-{a1*32}-{a1*8}",
    "tskey-auth-{a1*8}-{a1*16}",
    "ATATT3{a1-_*40}",
    "pul-{a1*20}",
    "dp.pt.{a1*21}",
    "sq0atp-{a1-_*6}",
    "AGE-SECRET-KEY-1{A1*29}",
    "ntn_{a1*23}",
    "phc_{a1*21}",
    "cfut_{a1*20}",
    "CCIPAT_{a1*10}_{a1*20}",
    "eyJhbGci{a1*8}.eyJ{a1*8}.{a1*20}",
];

#[test]
fn nothing_that_touches_a_secret_hides_it() {
    let redactor = Redactor::default();
    let check = |text: &str, wanted: &str| {
        let mut out = String::new();
        redactor.json(&json!([text]).to_string(), &mut out);
        assert_eq!(out, json!([wanted]).to_string(), "{text}");
        assert_eq!(redactor.text(text), wanted, "{text}");
    };
    for case in cases() {
        let is_token = case.redacted.starts_with("[redacted:");
        for before in ESCAPES {
            // `_` is a letter of what is behind some names and commands.
            if !before.ends_with('_') || is_token && !is_weak(&case.text) {
                check(
                    &format!("{before}{}", case.text),
                    &format!("{before}{}", case.redacted),
                );
            }
        }
    }
    for token in TOKENS {
        let token = repeated(token);
        // The last letters are what is secret.
        let end = &token[token.len() - 6..];
        for before in ESCAPES.iter().chain(LETTERS) {
            for after in ["", "_y", "x", "7", "\\n", "\u{1b}[0m", "\\u000a", "%0a"] {
                let text = format!("a {before}{token}{after} b");
                let clean = redactor.text(&text);
                assert!(
                    !clean.contains(end) && clean.contains("[redacted:"),
                    "{text}: {clean}"
                );
                check(&text, &clean);
            }
        }
    }
}

#[test]
fn ordinary_texts_stay_whatever_touches_them() {
    let redactor = Redactor::default();
    for case in cases().into_iter().filter(|case| case.scope == "none") {
        for before in ["\\n", "%0a", "\u{1b}[32m", "\\u000a"] {
            let text = format!("{before}{}", case.text);
            assert_eq!(redactor.text(&text), text);
        }
    }
    // Pictures, hashes and the like, of which any letters may follow each other.
    let alphabets: [&[u8]; 4] = [
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        b"0123456789abcdef",
        b"ACGT",
    ];
    let mut state = 20_261_123_u64;
    for alphabet in alphabets {
        let letter = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(alphabet[(state >> 33) as usize % alphabet.len()])
        };
        let text: String = (0..200_000).map(letter).collect();
        assert!(redactor.text(&text) == text, "{}", redactor.text(&text));
    }
}

#[test]
fn every_rule_has_a_case_and_the_words_that_it_says() {
    let cases = cases();
    for rule in rules() {
        let ascii = rule.pattern().replace(r"\w", "0-9A-Za-z_");
        let regex = Regex::new(&ascii).unwrap();
        let matching: Vec<&Case> = cases
            .iter()
            .filter(|it| it.kind == rule.kind && regex.is_match(&it.text))
            .collect();
        assert!(!matching.is_empty(), "no case for {rule:?}");
        for case in matching {
            let text = case.text.to_lowercase();
            let has_one = rule.words().any(|word| text.contains(&word.to_lowercase()));
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
    child
        .stdin
        .take()
        .unwrap()
        .write_all(event.to_string().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

#[test]
fn the_shipped_hook_finds_the_same_but_for_what_only_a_log_is_rid_of() {
    let (cases, sandbox) = (cases(), Sandbox::new());
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let script = "hooks.d/tool.post/10-redact-secrets.py";
    let answer = ask(
        script,
        sandbox.path(),
        &json!({ "event": "tool.post", "result": texts }),
    );
    for (case, found) in cases
        .iter()
        .zip(answer["update"]["result"].as_array().unwrap())
    {
        let wanted = match case.scope.as_str() {
            "everywhere" | "messages" => case
                .redacted
                .replace(&format!("[redacted:{}]", case.kind), "[REDACTED]"),
            _ => case.text.clone(),
        };
        assert_eq!(*found, wanted, "{case:?}");
    }
}

#[test]
fn the_shipped_hook_finds_what_anything_touches_too() {
    let (redactor, sandbox) = (Redactor::default(), Sandbox::new());
    let texts: Vec<String> = TOKENS
        .iter()
        .flat_map(|token| {
            ESCAPES
                .iter()
                .chain(LETTERS)
                .map(move |before| (before, token))
        })
        .map(|(before, token)| format!("a {before}{}_y b", repeated(token)))
        .collect();
    let script = "hooks.d/tool.post/10-redact-secrets.py";
    let answer = ask(
        script,
        sandbox.path(),
        &json!({ "event": "tool.post", "result": texts }),
    );
    let kinds = Regex::new(r"\[redacted:[a-z-]*\]").unwrap();
    for (text, found) in texts
        .iter()
        .zip(answer["update"]["result"].as_array().unwrap())
    {
        assert_eq!(
            *found,
            *kinds.replace_all(&redactor.text(text), "[REDACTED]"),
            "{text}"
        );
    }
}

#[test]
fn the_gate_for_commits_finds_what_its_form_alone_tells() {
    let git = |sandbox: &Sandbox, arguments: &[&str]| {
        let name = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
        let mut command = Command::new("git");
        command
            .args(name)
            .args(arguments)
            .current_dir(sandbox.path());
        assert!(
            command.output().unwrap().status.success(),
            "git {arguments:?}"
        );
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
            let abouts = rules()
                .into_iter()
                .filter(|it| it.kind == case.kind)
                .map(|it| it.about);
            let is_found = abouts
                .into_iter()
                .any(|it| found.iter().any(|said| said.contains(it)));
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
    assert_eq!(
        of(r#"{"x-api-key":"ab"}"#),
        r#"{"x-api-key":"[redacted:secret]"}"#
    );
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
    let raw = format!(
        r#"{{"half":"\ud800","n":1e400,"a":"\u0067{}","b":"caf\u00e9"}}"#,
        &secret[1..]
    );
    let mut out = String::new();
    redactor.json(&raw, &mut out);
    assert_eq!(
        out,
        r#"{"half":"\ud800","n":1e400,"a":"[redacted:github-token]","b":"caf\u00e9"}"#
    );
}

#[test]
fn an_address_is_found_where_json_escapes_its_slashes() {
    let redactor = Redactor::default();
    let raw = format!(
        r#"{{"a":"https:\/\/hooks.slack.com\/services\/{}"}}"#,
        "T0/".repeat(10)
    );
    let mut out = String::new();
    redactor.json(&raw.replace("T0/", r"T0\/"), &mut out);
    assert_eq!(out, r#"{"a":"https://[redacted:slack-token]"}"#);
}

#[test]
fn a_users_own_rules_are_added() {
    let redactor = Redactor::new(["TICKET-[0-9]+", r"(?P<keep>pin )\d{4}", "(?i)maiden"]).unwrap();
    let text = "TICKET-12 and pin 1234 and MAIDEN";
    assert_eq!(
        redactor.text(text),
        "[redacted:own] and pin [redacted:own] and [redacted:own]"
    );
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
