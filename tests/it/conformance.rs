//! The vectors in `fixtures/conformance`: what each host must get, played against hookrun.

mod made;
mod player;
mod three;
mod vector;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hookrun::hosts;
use serde_json::Value;

use vector::{Got, Vector, misses};

const HOSTS: &[&str] = &["claude", "codex", "gemini", "cursor", "copilot"];

/// Every agent host with vectors.
fn hosts() -> Vec<&'static str> {
    HOSTS.iter().copied().chain(made::hosts()).collect()
}

/// What is shown for every host, whatever it calls the event.
const IN_EVERY_HOST: &[&str] = &[
    "action-shell",
    "allow-child-holds-the-pipe",
    "allow-exit-1-of-hook-of-claude",
    "allow-unread-stdin",
    "allow-without-hooks",
    "allow-without-output",
    "context-before-a-tool",
    "output-before-a-tool",
    "refuse-11-mib-of-stdout",
    "refuse-after-rewrite",
    "refuse-bom-and-crlf-on-stdin",
    "refuse-broken-json",
    "refuse-broken-stdin",
    "refuse-by-exit-1",
    "refuse-by-exit-1-beside-consent",
    "refuse-by-exit-1-beside-empty-object",
    "refuse-by-exit-2-without-words",
    "refuse-by-hook-of-claude",
    "refuse-by-json",
    "refuse-by-json-after-noise",
    "refuse-by-json-before-noise",
    "refuse-by-json-on-stderr-of-hook-of-gemini",
    "refuse-by-json-with-bom",
    "refuse-by-json-with-crlf",
    "refuse-by-json-without-reason",
    "refuse-by-second-of-two-documents",
    "refuse-child-holds-the-pipe",
    "refuse-death-by-signal",
    "refuse-empty-stdin",
    "refuse-exit-127",
    "refuse-for-unknown-key",
    "refuse-for-words-that-look-like-json",
    "refuse-hang",
    "refuse-hang-that-ignores-sigterm",
    "refuse-hook-missing",
    "refuse-hook-not-executable",
    "refuse-invalid-utf8-on-stderr",
    "refuse-invalid-utf8-on-stdin",
    "refuse-invalid-utf8-on-stdout",
    "refuse-missing-interpreter",
    "refuse-rm-rf",
    "refuse-two-documents",
    "refuse-unread-stdin",
    "refuse-while-stdin-stays-open",
    "rewrite-input",
    "rewrite-input-twice",
    "same-call-twice",
    "session-end-objection",
    "session-end-told",
    "session-start-context",
    "stop-allowed-by-hang",
    "stop-refused",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance")
}

/// The vectors of one host, by name without the ending.
fn vectors(host: &str) -> BTreeMap<String, Vector> {
    let files = fs::read_dir(root().join(host))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let read = |file: PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_string();
        let vector = Vector::parse(&fs::read_to_string(&file).unwrap());
        (
            name,
            vector.unwrap_or_else(|error| panic!("{}:{error}", file.display())),
        )
    };
    files.map(read).collect()
}

/// A vector that a runner must let pass.
const PASSES: &str = r#"{
  "about": "It passes.",
  "source": "a test",
  "host": "claude",
  "event": "PreToolUse",
  "hooks": [{"name": "10-guard", "event": "tool.pre", "script": ["exit 0"]}],
  "steps": [{"stdin": {"hook_event_name": "PreToolUse", "tool_name": "Read"}, "expect": {"status": 0}}]
}
"#;

/// One test for each folder of vectors, so that they are played at once.
macro_rules! hookrun_answers_as_the_vectors_say_of {
    ($($host:ident)*) => {
        #[test]
        fn every_folder_of_vectors_is_played() {
            let folders = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name());
            let folders: BTreeSet<_> = folders.map(|name| name.into_string().unwrap()).collect();
            assert_eq!(folders, [$(stringify!($host).to_string()),*].into());
        }

        mod hookrun_answers_as_the_vectors_say_of {$(
            #[test]
            fn $host() {
                let wrong = super::player::play_all(super::vectors(stringify!($host)));
                assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            }
        )*}
    };
}

hookrun_answers_as_the_vectors_say_of! {
    agy claude cline codex copilot crush cursor devin factory gemini git goose grok kimi kiro qwen vscode windsurf
}

#[test]
fn every_host_is_shown_everything_that_can_go_wrong() {
    for host in HOSTS {
        let known = vectors(host);
        assert!(known.len() >= 45, "{host}: {}", known.len());
        for name in IN_EVERY_HOST {
            assert!(known.contains_key(*name), "{host} lacks {name}");
        }
        let asks = ["ask", "refuse-ask"]
            .iter()
            .filter(|name| known.contains_key(**name))
            .count();
        assert_eq!(asks, 1, "{host}: a question is asked, or refuses");
        for (name, vector) in &known {
            assert_eq!(vector.host, *host, "{name}");
        }
    }
    assert!(vectors("git").len() >= 10);
}

#[test]
fn what_is_blocked_is_blocked_by_the_same_file_everywhere() {
    let guards: Vec<_> = HOSTS
        .iter()
        .map(|host| vectors(host)["refuse-rm-rf"].hooks.clone())
        .collect();
    assert!(guards.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn every_event_is_told_and_what_can_be_blocked_is_blocked() {
    for host in hosts() {
        let known = vectors(host);
        for row in hosts::find(host).unwrap().events {
            let of_row = || known.iter().filter(|(_, vector)| vector.event == row.name);
            let is_told = of_row().any(|(name, _)| name.starts_with("payload-"));
            assert!(is_told, "{host}: no payload of {}", row.name);
            let is_blocked = of_row().any(|(name, vector)| {
                let expect = &vector.steps[0].expect;
                name.contains("refuse") && (expect.status != 0 || expect.stdout.is_some())
            });
            assert_eq!(row.blocks, is_blocked, "{host}: a refusal of {}", row.name);
        }
    }
}

#[test]
fn everything_that_real_clients_sent_is_in_a_vector() {
    for host in ["claude", "codex", "gemini"] {
        let steps = vectors(host).into_values().flat_map(|vector| vector.steps);
        let sent: Vec<Value> = steps.filter_map(|step| step.stdin).collect();
        let folder = root().join("../payloads").join(host);
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let payload: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            assert!(sent.contains(&payload), "{}", file.display());
        }
    }
}

#[test]
fn every_fact_stands_once() {
    for host in hosts().into_iter().chain(["git"]) {
        let mut facts = BTreeSet::new();
        for (name, vector) in vectors(host) {
            assert!(
                vector.about.ends_with('.') && !vector.source.is_empty(),
                "{host}/{name}"
            );
            assert!(facts.insert((vector.about, vector.event)), "{host}/{name}");
        }
    }
}

#[test]
fn a_wrong_answer_is_found() {
    let wrong = PASSES.replace("\"status\": 0", "\"status\": 2, \"stderr\": \"no\\n\"");
    let found = player::play(&Vector::parse(&wrong).unwrap());
    assert_eq!(
        found,
        [
            "step 1: status: expected 2, got 0",
            "step 1: stderr: expected \"no\\n\", got nothing"
        ]
    );
}

#[test]
fn a_process_that_is_left_is_found() {
    let more = r#""leavesNoProcess": true, "setup": ["sleep 5 > /dev/null 2>&1 &"], "hooks""#;
    let vector = PASSES.replace("\"hooks\"", more);
    let found = player::play(&Vector::parse(&vector).unwrap());
    assert_eq!(found, ["processes are left: sleep"]);
}

/// The keys that are read where `document` has an unknown one.
fn keys_read(document: &str) -> BTreeSet<String> {
    let error = Vector::parse(document).unwrap_err().to_string();
    let (_, listed) = error.split_once("expected one of ").expect(&error);
    listed
        .split(", ")
        .map(|key| key.trim_matches('`').to_string())
        .collect()
}

#[test]
fn the_page_names_every_key_and_its_example_holds() {
    let page = root().with_extension("md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let found = player::play(&Vector::parse(example).unwrap());
    assert_eq!(found, [""; 0]);
    for (from, to) in [
        ("{", "{\"unknown\": 1, "),
        ("{\"name\"", "{\"unknown\": 1, \"name\""),
        ("{\"stdin\"", "{\"unknown\": 1, \"stdin\""),
    ] {
        for key in keys_read(&PASSES.replacen(from, to, 1)) {
            let is_named = key == "expect" || page.contains(&format!("`{key}`"));
            assert!(is_named, "{key}");
        }
    }
    for key in keys_read(&PASSES.replace("{\"status\"", "{\"unknown\": 1, \"status\"")) {
        assert!(page.contains(&format!("`expect.{key}`")), "{key}");
    }
}

const LEAST: &str = r#"{"about":"a","source":"s","host":"h","event":"e","hooks":[],"steps":[{"stdin":{"a":1},"expect":{"status":0}}]}"#;

#[test]
fn a_mistake_has_a_line_and_a_column() {
    let broken = |from: &str, to: &str| {
        Vector::parse(&LEAST.replace(from, to))
            .unwrap_err()
            .to_string()
    };
    assert!(
        broken("\"host\"", "\n\"hots\"").starts_with("2:"),
        "{}",
        broken("host", "hots")
    );
    assert!(broken("host", "hots").contains("unknown field `hots`"));
    assert!(broken("\"source\":\"s\",", "").contains("missing field `source`"));
    assert!(broken("[{", "[,{").contains("1:"));
    assert!(broken(r#"[{"stdin":{"a":1},"expect":{"status":0}}]"#, "[]").contains("empty"));
    let both = broken("\"expect\"", "\"stdinText\":\"\",\"expect\"");
    assert_eq!(
        both,
        "1:1: step 1: give one of `stdin`, `stdinText` and `stdinBytes`"
    );
    let host = broken("\"stdin\"", "\"host\":\"x\",\"stdin\"");
    assert_eq!(host, "1:1: step 1: `host` and `event` go together");
    let hook = |hook: &str| broken("[]", &format!("[{hook}]"));
    assert!(hook(r#"{"name":"a","event":"e"}"#).contains("needs a `script`"));
    assert!(hook(r#"{"name":"../a","event":"e","missing":true}"#).contains("below a folder"));
    assert!(hook(r#"{"name":"a","event":"e","mode":"9"}"#).contains("no mode"));
    let stderr = broken(
        "\"status\":0",
        "\"status\":0,\"stderr\":{\"matches\":\"(\"}",
    );
    assert!(
        stderr.contains("step 1: `(` is not a regular expression"),
        "{stderr}"
    );
}

/// What misses of an answer, held against an expectation.
fn compared(expect: &str, status: i32, stdout: &str, stderr: &str) -> Vec<String> {
    let least = LEAST.replace(r#"{"status":0}"#, expect);
    let expect = &Vector::parse(&least).unwrap().steps[0].expect;
    misses(
        expect,
        &Got {
            status,
            stdout: stdout.into(),
            stderr: stderr.into(),
        },
    )
}

#[test]
fn nothing_means_nothing_at_all() {
    assert!(compared(r#"{"status":0}"#, 0, "", "").is_empty());
    assert_eq!(
        compared(r#"{"status":0}"#, 2, "\n", "no\n"),
        [
            "status: expected 0, got 2",
            "stdout: expected nothing at all, got \n",
            "stderr: expected nothing at all, got \"no\\n\"",
        ]
    );
}

#[test]
fn json_is_compared_as_json_and_differences_have_a_place() {
    let expect = r#"{"status":0,"stdout":{"a":{"b":1,"c":2}}}"#;
    assert!(compared(expect, 0, " {\"a\": {\"c\": 2, \"b\": 1}}\n", "").is_empty());
    assert_eq!(
        compared(expect, 0, r#"{"a":{"b":2,"d":3}}"#, ""),
        [
            "stdout.a.b: expected 1, got 2",
            "stdout.a.c: expected 2, got nothing",
            "stdout.a.d: expected nothing, got 3",
        ]
    );
    for stdout in ["", "{", "{} {}", "hi\n{}"] {
        assert!(compared(expect, 0, stdout, "")[0].contains("not one JSON document"));
    }
}

#[test]
fn words_may_be_left_open() {
    let expect =
        r#"{"status":2,"stdout":{"r":{"$contains":["a","b"]}},"stderr":{"matches":"^x+\n$"}}"#;
    assert!(compared(expect, 2, r#"{"r":"b a"}"#, "xx\n").is_empty());
    assert_eq!(
        compared(expect, 2, r#"{"r":"a"}"#, "y"),
        [
            "stdout.r: expected \"b\" in it, got \"a\"",
            "stderr: expected what matches /^x+\n$/, got \"y\"",
        ]
    );
}
