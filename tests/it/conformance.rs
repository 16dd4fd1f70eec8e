//! `hookrun test --conformance`: the vectors that hold hookrun, and any other runner.

mod made;
mod three;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hookrun::hosts;
use hookrun::internals::conformance::{Got, PLACEHOLDERS, Vector, misses};
use serde_json::Value;

use crate::sandbox::{Ran, Sandbox};

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
    "refuse-by-json-in-a-string",
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
    "refuse-by-json-in-a-string-of-hook-of-gemini",
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

impl Sandbox {
    /// `hookrun test --conformance vectors`, with these arguments.
    fn conformance(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["test", "--conformance", "vectors"];
        all.extend(arguments);
        self.hookrun(&all, b"")
    }
}

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
                let vectors = super::root().join(stringify!($host));
                let arguments = ["test", "--conformance", vectors.to_str().unwrap()];
                let ran = super::Sandbox::new().hookrun(&arguments, b"");
                assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
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
fn what_is_refused_is_refused_by_the_same_file_everywhere() {
    let guards: Vec<_> = HOSTS
        .iter()
        .map(|host| vectors(host)["refuse-rm-rf"].hooks.clone())
        .collect();
    assert!(guards.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn every_event_is_told_and_what_can_be_refused_is_refused() {
    for host in hosts() {
        let known = vectors(host);
        for row in hosts::find(host).unwrap().events {
            let of_row = || known.iter().filter(|(_, vector)| vector.event == row.name);
            let is_told = of_row().any(|(name, _)| name.starts_with("payload-"));
            assert!(is_told, "{host}: no payload of {}", row.name);
            let is_refused = of_row().any(|(name, vector)| {
                let expect = &vector.steps[0].expect;
                name.contains("refuse") && (expect.status != 0 || expect.stdout.is_some())
            });
            assert_eq!(row.blocks, is_refused, "{host}: a refusal of {}", row.name);
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
fn a_runner_that_lets_everything_pass_is_found_out() {
    let sandbox = Sandbox::new();
    let root = root();
    let arguments = [
        "test",
        "--conformance",
        root.to_str().unwrap(),
        "--filter",
        "^(claude|codex|gemini|cursor|copilot)/refuse-by-exit-1.json$",
    ];
    let runner = ["--command", "sh -c 'cat > /dev/null; exit 0'"];
    let ran = sandbox.hookrun(&[&arguments[..], &runner].concat(), b"");
    ran.exits(1).prints("FAILED: 5 of 5 cases");
    ran.prints("claude/refuse-by-exit-1.json: Exit status 1 with words on stderr refuses");
    ran.prints("step 1: status: expected 2, got 0");
    ran.prints("step 1: stderr: expected \"not here\\n\", got nothing");
    ran.prints("step 1: stdout: expected {\"permission\":\"deny\"");
}

#[test]
fn a_runner_gets_what_its_command_says() {
    let vector = PASSES.replace("\"stdin\": {", "\"arguments\": [\"a b\"], \"stdin\": {");
    let vector = vector.replace("\"host\"", "\"env\": {\"COLOR\": \"red\"}, \"host\"");
    let vector = vector.replace("{\"status\": 0}", r#"{"status": 3, "stderr": {"contains": ["claude PreToolUse a b.", "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\"}", "red exit 0"]}}"#);
    let runner = "#!/bin/sh\necho \"$1 $2 $4.$5$COLOR $(tail -n 1 \"$3/tool.pre/10-guard\")\" >&2\n\
                  cat >&2\nexit 3\n";
    let sandbox = Sandbox::new()
        .file("vectors/a.json", &vector)
        .script("runner", runner);
    for command in [
        "./runner {host} {event} {hooks} {arguments}",
        "./runner {host} {event} {hooks}",
    ] {
        sandbox.conformance(&["--command", command]).exits(0);
    }
}

#[test]
fn what_a_runner_leaves_behind_is_named_and_ended() {
    let vector = PASSES.replace("\"hooks\"", "\"leavesNoProcess\": true, \"hooks\"");
    let sandbox = Sandbox::new().file("vectors/a.json", &vector);
    let ran = sandbox.conformance(&["--command", "sh -c 'sleep 611 > /dev/null 2>&1 & exit 0'"]);
    ran.exits(1).prints("processes are left: sleep (pid ");
    let pid = ran
        .stdout
        .split("(pid ")
        .nth(1)
        .and_then(|rest| rest.split(')').next())
        .unwrap();
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(!state.contains("(sleep) S"), "{state}");
}

#[test]
fn several_steps_share_a_home() {
    let step = r#"{"stdin": {}, "expect": {"status": 0}}"#;
    let vector = PASSES.replace(r#""steps": ["#, &format!(r#""steps": [{step}, "#));
    let sandbox = Sandbox::new().file("vectors/a.json", &vector);
    let runner = "sh -c 'test -e ~/seen && exit 7; touch ~/seen'";
    let ran = sandbox.conformance(&["--command", runner]);
    ran.exits(1).prints("  step 2: status: expected 0, got 7");
    assert!(!ran.stdout.contains("step 1"), "{ran:?}");
}

#[test]
fn a_broken_vector_is_named_with_its_line() {
    let sandbox = Sandbox::new()
        .file("vectors/b/fine.json", PASSES)
        .file(
            "vectors/a.json",
            &PASSES.replace("\"event\": \"PreToolUse\"", "\"evnt\": \"x\""),
        )
        .file("vectors/c.json", "{")
        .file("vectors/notes.txt", "no vector");
    let ran = sandbox.conformance(&[]);
    ran.exits(2)
        .says("vectors are broken")
        .says("vectors/a.json:5:")
        .says("vectors/c.json:1:");
    ran.says("unknown field `evnt`");
    assert_eq!(ran.stdout, "");
}

#[test]
fn what_cannot_be_tried_is_said() {
    let sandbox = Sandbox::new()
        .file("vectors/a.json", PASSES)
        .file("empty/notes.txt", "");
    sandbox
        .conformance(&["--command", "run {hosts}"])
        .exits(2)
        .says("`{hosts}` is none of");
    sandbox
        .conformance(&["--command", ""])
        .exits(2)
        .says("is empty");
    sandbox
        .conformance(&["--command", "a 'b"])
        .exits(2)
        .says("not closed");
    sandbox
        .conformance(&["--command", "a x{arguments}"])
        .exits(2)
        .says("separate word");
    sandbox
        .conformance(&["--command", "./nobody"])
        .exits(2)
        .says("cannot be started");
    sandbox
        .conformance(&["--filter", "zzz"])
        .exits(2)
        .says("leaves no vector");
    let ran = sandbox.hookrun(&["test", "--conformance", "empty"], b"");
    ran.exits(2).says("there is no vector in `empty`");
    sandbox
        .hookrun(&["test", "--conformance", "nowhere"], b"")
        .exits(2)
        .says("cannot be read");
    sandbox
        .hookrun(&["test", "tool.pre", "--format", "tap"], b"")
        .exits(2)
        .says("one event is no list");
    sandbox.hookrun(&["test"], b"").exits(2);
    let setup = PASSES.replace(
        "\"hooks\"",
        r#""setup": ["echo gone >&2; exit 4"], "hooks""#,
    );
    let sandbox = Sandbox::new().file("vectors/a.json", &setup);
    sandbox
        .conformance(&[])
        .exits(1)
        .prints("setup: it failed: gone");
}

#[test]
fn an_interrupted_trial_says_how_far_it_was() {
    let vectors = ["a", "b", "c"].map(|name| format!("vectors/{name}.json"));
    let sandbox = vectors
        .iter()
        .fold(Sandbox::new(), |sandbox, file| sandbox.file(file, PASSES));
    let mark = sandbox.at("mark").display().to_string();
    let runner = format!(
        "#!/bin/sh\n[ ! -e {mark} ] || {{ kill -INT $PPID; exec sleep 611; }}\ntouch {mark}\n"
    );
    let sandbox = sandbox.script("runner", &runner);
    let ran = sandbox.conformance(&["--command", "./runner", "--jobs", "1"]);
    ran.exits(130)
        .says("interrupted: 1 of 3 cases done, 0 failed");
    assert_eq!(ran.stdout, "");
}

#[test]
fn machines_read_the_cases_in_the_order_of_their_files() {
    let wrong = PASSES.replace("\"status\": 0", "\"status\": 2");
    let sandbox = Sandbox::new()
        .file("vectors/b.json", PASSES)
        .file("vectors/a/x.json", &wrong);
    let tap = sandbox.conformance(&["--format", "tap", "--jobs", "2"]);
    tap.exits(1)
        .prints("1..2\nnot ok 1 - a/x.json\n  # step 1: status: expected 2, got 0\n");
    tap.prints("ok 2 - b.json\n");
    sandbox
        .conformance(&["--format", "junit"])
        .exits(1)
        .prints("failures=\"1\"");
    let github = sandbox.conformance(&["--format", "github"]);
    let error = "::error title=a/x.json::It passes.%0Astep 1: status: expected 2, got 0\n";
    github
        .exits(1)
        .prints(error)
        .prints("FAILED: 1 of 2 cases\n");
    let report = sandbox.json(&["test", "--conformance", "vectors", "--format", "json"]);
    assert_eq!(report["ok"], false);
    assert_eq!(
        report["cases"][0]["misses"][0],
        "step 1: status: expected 2, got 0"
    );
    assert_eq!(report["cases"][1]["about"], "It passes.");
}

#[test]
fn the_page_says_everything_and_its_example_holds() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = fs::read_to_string(docs.join("conformance.md")).unwrap();
    let example = page
        .split("```json\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let example = example.unwrap();
    Sandbox::new()
        .file("vectors/a.json", example)
        .conformance(&[])
        .exits(0);
    for (name, about) in PLACEHOLDERS {
        assert!(page.contains(&format!("| `{name}` | {about}")), "{name}");
    }
    let schema = fs::read_to_string(docs.join("conformance.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    for place in [
        "/properties",
        "/$defs/hook/properties",
        "/$defs/step/properties",
    ] {
        let keys = schema.pointer(place).unwrap().as_object().unwrap().keys();
        for key in keys.filter(|key| !matches!(key.as_str(), "$schema" | "expect")) {
            assert!(page.contains(&format!("`{key}`")), "{key}");
        }
    }
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
fn the_schema_has_the_keys_that_are_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    for (place, with_unknown) in [
        ("", PASSES.replacen('{', "{\"unknown\": 1, ", 1)),
        (
            "/$defs/hook",
            PASSES.replace("{\"name\"", "{\"unknown\": 1, \"name\""),
        ),
        (
            "/$defs/step",
            PASSES.replace("{\"stdin\"", "{\"unknown\": 1, \"stdin\""),
        ),
        (
            "/$defs/expect",
            PASSES.replace("{\"status\"", "{\"unknown\": 1, \"status\""),
        ),
    ] {
        let properties = schema.pointer(&format!("{place}/properties")).unwrap();
        let known: BTreeSet<String> = properties.as_object().unwrap().keys().cloned().collect();
        assert_eq!(known, keys_read(&with_unknown), "{place}");
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
        stderr.contains("step 1: `(` is no regular expression"),
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
