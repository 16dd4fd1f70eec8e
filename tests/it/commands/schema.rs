//! `hookrun schema`: of events, of files and of reports. What is checked here is checked of every report
//! that any test reads as JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hookrun::internals::SCHEMAS;
use regex::Regex;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::sandbox::Sandbox;

/// What of `value` does not conform to `schema`; the words of JSON Schema that hookrun uses.
fn misses(schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    // `true` is a schema too.
    for (word, rule) in schema.as_object().into_iter().flatten() {
        let fits = match word.as_str() {
            "type" if rule.is_array() => {
                let one = |rule: &Value| misses(&json!({ "type": rule }), value, path).is_empty();
                rule.as_array().unwrap().iter().any(one)
            }
            "type" => match rule.as_str().unwrap() {
                "null" => value.is_null(),
                "string" => value.is_string(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "object" => value.is_object(),
                "array" => value.is_array(),
                other => panic!("unknown type {other}"),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "required" => rule
                .as_array()
                .unwrap()
                .iter()
                .all(|key| value.get(key.as_str().unwrap()).is_some()),
            "properties" => {
                for (key, schema) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        found.extend(misses(schema, value, &format!("{path}.{key}")));
                    }
                }
                true
            }
            "items" => {
                for (at, value) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(misses(rule, value, &format!("{path}.{at}")));
                }
                true
            }
            "additionalProperties" if *rule == false => unknown(schema, value).is_empty(),
            "additionalProperties" => {
                for key in unknown(schema, value) {
                    found.extend(misses(rule, &value[&key], &format!("{path}.{key}")));
                }
                true
            }
            "anyOf" | "oneOf" => {
                let mut all = rule.as_array().unwrap().iter();
                all.any(|rule| misses(rule, value, path).is_empty())
            }
            "pattern" => {
                let pattern = Regex::new(rule.as_str().unwrap()).unwrap();
                value.as_str().is_some_and(|text| pattern.is_match(text))
            }
            "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "examples"
            | "format" | "minimum" | "maximum" => true,
            other => panic!("{path}: a word that this checker does not know: {other}"),
        };
        if !fits {
            found.push(format!("{path}: {word} {rule}: {value}"));
        }
    }
    found
}

/// The keys of a table that its schema does not name.
fn unknown(schema: &Value, value: &Value) -> Vec<String> {
    let keys = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone());
    keys.filter(|key| schema["properties"].get(key).is_none())
        .collect()
}

/// Notes the places of a report, and finds keys that its schema does not name.
fn places(schema: &Value, value: &Value, place: &str, seen: &mut BTreeSet<String>) -> Vec<String> {
    seen.insert(place.to_string());
    if let Some(values) = value.as_array() {
        let all = values.iter();
        return all
            .flat_map(|one| places(&schema["items"], one, &format!("{place}[]"), seen))
            .collect();
    }
    if schema.get("properties").is_none() && schema.get("additionalProperties").is_none() {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let below = |key: &str| format!("{place}.{key}");
        match (
            schema["properties"].get(key),
            schema.get("additionalProperties"),
        ) {
            (Some(schema), _) => wrong.extend(places(schema, value, &below(key), seen)),
            (None, Some(each)) => wrong.extend(places(each, value, &below("*"), seen)),
            (None, None) => wrong.push(format!("{}: no such key in the schema", below(key))),
        }
    }
    wrong
}

/// All places that a schema names.
fn all_places(schema: &Value, place: &str, all: &mut BTreeSet<String>) {
    all.insert(place.to_string());
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        all_places(schema, &format!("{place}.{key}"), all);
    }
    for (word, sign) in [("items", "[]"), ("additionalProperties", ".*")] {
        if let Some(schema) = schema.get(word) {
            all_places(schema, &format!("{place}{sign}"), all);
        }
    }
}

/// The schema of what a command printed as JSON.
fn name_of(arguments: &[&str], value: &Value) -> Option<&'static str> {
    let has = |words: &[&str]| arguments.iter().any(|word| words.contains(word));
    Some(match *arguments.first()? {
        "run" if has(&["json"]) => "decision-report",
        "test" if value.get("files").is_some() => "validate-report",
        "test" if value.get("cases").is_some() => "suite-report",
        "test" => "decision-report",
        "why" if has(&["--stats"]) => "stats-report",
        "why" => "why-report",
        "replay" if has(&["--summary"]) => "stats-report",
        "replay" => "replay-report",
        "list" => "list-report",
        "explain" => "explain-report",
        "validate" | "doctor" => "validate-report",
        _ => return None,
    })
}

/// Panics if a report of a command is not what its schema says.
#[track_caller]
pub(crate) fn hold(arguments: &[&str], report: &Value) {
    let Some(name) = name_of(arguments, report) else {
        return;
    };
    let schema = SCHEMAS
        .iter()
        .find(|named| named.name == name)
        .unwrap()
        .schema();
    let wrong = misses(&schema, report, name);
    let unknown = places(&schema, report, name, &mut BTreeSet::new());
    assert!(
        wrong.is_empty() && unknown.is_empty(),
        "{arguments:?}: {wrong:#?} {unknown:#?}"
    );
}

fn schema(sandbox: &Sandbox, event: &str) -> Value {
    sandbox.json(&["schema", event])
}

#[test]
fn what_a_hook_is_told_about_a_command_conforms_to_the_schema() {
    let sandbox = Sandbox::new().hook("see", "cat > seen");
    sandbox
        .run_shell("X=1 $Y | sudo rm \"$x\" *.o > log")
        .allows();
    let seen: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    let schema = schema(&sandbox, "tool.pre");
    assert_eq!(misses(&schema, &seen, "tool.pre"), Vec::<String>::new());
    let known = &schema["properties"]["action"]["properties"];
    let command = &known["commands"]["items"]["properties"];
    let are_known = |value: &Value, known: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .all(|key| known.get(key).is_some())
    };
    assert!(are_known(&seen["action"], known), "{seen}");
    assert!(
        seen["action"]["commands"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| are_known(one, command))
    );
}

#[test]
fn the_sample_of_every_event_conforms_to_its_schema_and_names_every_key() {
    let sandbox = Sandbox::new();
    let all = sandbox.json(&["events", "--format", "json"]);
    for event in all["events"].as_array().unwrap() {
        let name = event["name"].as_str().unwrap();
        let schema = schema(&sandbox, name);
        assert_eq!(
            misses(&schema, &event["sample"], name),
            Vec::<String>::new()
        );
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert_eq!(schema["title"], name);
        for key in event["context"].as_array().unwrap() {
            let key = key["name"].as_str().unwrap();
            assert!(
                schema["properties"][key]["description"].is_string(),
                "{name}: {key}"
            );
        }
        for rewrite in event["rewrites"].as_array().unwrap() {
            let field = rewrite["field"].as_str().unwrap();
            let update = &schema["$defs"]["result"]["properties"]["update"]["properties"];
            assert!(update[field].is_object(), "{name}: {field}");
        }
    }
}

#[test]
fn another_context_does_not_conform() {
    let schema = schema(&Sandbox::new(), "tool.pre");
    let context = json!({ "event": "tool.post", "toolName": 3, "toolInput": [], "turnIndex": 1.5 });
    assert_eq!(misses(&schema, &context, "").len(), 4);
    assert_eq!(
        misses(&schema, &json!({}), "").len(),
        1,
        "event is required"
    );
}

#[test]
fn what_a_hook_really_gets_conforms_too() {
    let sandbox = Sandbox::new().hook("x.sh", "cat > got");
    let context = json!({
        "toolName": "Bash", "toolInput": { "command": "ls" }, "sessionId": "s", "turnIndex": 3,
        "cwd": sandbox.path().display().to_string(), "ofTheHostsOwn": { "kept": true },
    });
    sandbox
        .hookrun(&["run", "tool.pre"], context.to_string().as_bytes())
        .allows();

    let got: Value = serde_json::from_str(&sandbox.read("got")).unwrap();

    assert_eq!(
        misses(&schema(&sandbox, "tool.pre"), &got, ""),
        Vec::<String>::new()
    );
    assert_eq!(got["ofTheHostsOwn"], json!({ "kept": true }));
}

#[test]
fn the_schema_of_a_result_has_the_keys_of_the_contract() {
    let schema = schema(&Sandbox::new(), "tool.pre");
    let result = &schema["$defs"]["result"];
    let properties = result["properties"].as_object().unwrap();
    let keys: Vec<&String> = properties.keys().collect();
    for key in [
        "continue",
        "reason",
        "ask",
        "output",
        "additionalContext",
        "update",
        "findings",
    ] {
        assert!(properties[key]["description"].is_string(), "{key}");
    }
    assert_eq!(keys.len(), 7, "{keys:?}");
    let good = json!({ "continue": false, "reason": "no", "update": { "toolInput": {} } });
    assert_eq!(misses(result, &good, ""), Vec::<String>::new());
    let bad = json!({ "continue": "no", "ask": true, "update": { "cwd": "/" } });
    assert_eq!(misses(result, &bad, "").len(), 3);
}

#[test]
fn an_event_of_ones_own_has_a_schema() {
    let sandbox = Sandbox::new().file(
        "hookrun.toml",
        "[event.deploy]\nsummary = \"a deployment is near\"\ncontext = { at = \"integer\", x = \"any\" }\n",
    );
    let schema = schema(&sandbox, "deploy");
    assert_eq!(
        misses(
            &schema,
            &json!({ "event": "deploy", "at": 3, "x": null }),
            ""
        ),
        [""; 0]
    );
    assert_eq!(
        misses(&schema, &json!({ "event": "deploy", "at": "3" }), "").len(),
        1
    );
}

#[test]
fn an_unknown_event_is_rejected_with_the_nearest_one() {
    let ran = Sandbox::new().hookrun(&["schema", "tool.per"], b"");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "error: unknown event `tool.per`\n  help: did you mean `tool.pre`?\n"
    );
}

#[test]
fn without_a_name_all_schemas_are_listed_and_each_is_there() {
    let sandbox = Sandbox::new();
    let list = sandbox.hookrun(&["schema"], b"");
    list.exits(0);
    for named in SCHEMAS {
        assert!(
            list.stdout.contains(&format!("{} ", named.name)),
            "{}",
            named.name
        );
        let schema = schema(&sandbox, named.name);
        assert_eq!(schema["$id"], format!("hookrun:{}", named.name));
        assert_eq!(schema["type"], "object", "{}", named.name);
    }
}

/// The JSON of a TOML document, as an editor checks it.
fn json_of(text: &str, file: &Path) -> Value {
    let document = DeTable::parse(text);
    let document = document.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    json_of_table(document.get_ref())
}

fn json_of_table(table: &DeTable<'_>) -> Value {
    let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        (key.get_ref().to_string(), json_of_value(value.get_ref()))
    };
    table.iter().map(entry).collect()
}

fn json_of_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => number.as_str().parse::<i64>().unwrap().into(),
        DeValue::Float(number) => number.as_str().parse::<f64>().unwrap().into(),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(values) => values
            .iter()
            .map(|one| json_of_value(one.get_ref()))
            .collect(),
        DeValue::Table(table) => json_of_table(table),
    }
}

#[test]
fn every_configuration_and_every_case_of_this_repository_has_its_schema() {
    let sandbox = Sandbox::new();
    let (manifest, suite) = (
        schema(&sandbox, "hookrun.toml"),
        schema(&sandbox, "hookrun-suite"),
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["hooks.d", "gates", "fixtures", "examples"] {
        walk_all(&root.join(folder), &mut files);
    }
    let mut counts = [0, 0];
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "toml"))
    {
        let text = fs::read_to_string(file).unwrap();
        let (number, schema) = match () {
            () if file.file_name().is_some_and(|name| name == "hookrun.toml") => (0, &manifest),
            () if text.contains("[[case]]") && !file.starts_with(root.join("fixtures")) => {
                (1, &suite)
            }
            () => continue,
        };
        counts[number] += 1;
        let misses = misses(schema, &json_of(&text, file), "");
        assert!(misses.is_empty(), "{}: {misses:#?}", file.display());
    }
    assert!(counts[0] >= 4 && counts[1] >= 20, "{counts:?}");
}

#[test]
fn an_editor_and_hookrun_complain_about_the_same() {
    for (text, part) in [
        (
            "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = 'true'\n",
            "",
        ),
        (
            "[[hook]]\nname = 'a'\nevent = ['tool.pre']\ncommand = 'true'\nsandbox = true\n",
            "",
        ),
        (
            "[[rule]]\nruns = 'a b'\ndeny = 'no'\nexcept = { path = ['x'] }\n",
            "",
        ),
        (
            "[event.'deploy.pre']\nsummary = 'x'\ncontext = { at = 'integer' }\n",
            "",
        ),
        (
            "[[hook]]\nevent = 'tool.pre'\ncommand = 'true'\n",
            "has no `name`",
        ),
        (
            "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = 'true'\ntime = '5s'\n",
            "unknown key",
        ),
        (
            "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = 'true'\nparallel = 'yes'\n",
            "takes true or false",
        ),
        (
            "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = 'true'\nsandbox = 'all'\n",
            "takes true or false or a table",
        ),
        (
            "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = 'true'\non_failure = 'open'\n",
            "takes one of",
        ),
        (
            "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = 'true'\nmatch = { tol = 'a' }\n",
            "unknown key",
        ),
        ("[hook]\nname = 'a'\n", "not a list"),
        ("[event.'deploy.pre']\nblocks = true\n", ""),
        ("[rules]\ndoubt = 'ask'\n", ""),
        ("[rules]\ndoubt = 'maybe'\n", "takes one of"),
        ("[event.'commit.pre']\nstop = 'first'\ntimeout = '1m'\n", ""),
        ("[event.'commit.pre']\nstop = 'last'\n", "takes one of"),
        (
            "[[hook]]\nname = 'a'\nevent = 'commit.pre'\ncommand = 'true'\nunless = { path = 'x' }\n",
            "",
        ),
        (
            "[event.'deploy.pre']\nsummary = 'x'\ncontext = { at = 'int' }\n",
            "`context.at` cannot be ",
        ),
        ("[log]\nenable = false\n", "unknown key"),
        ("[sets.a]\ngit = 3\nrev = 'v1'\n", "takes a string"),
    ] {
        let sandbox = Sandbox::new().file("hookrun.toml", text);
        let misses = misses(
            &schema(&sandbox, "hookrun.toml"),
            &json_of(text, Path::new(text)),
            "",
        );
        assert_eq!(misses.is_empty(), part.is_empty(), "{text}: {misses:?}");
        let said = sandbox.hookrun(&["validate"], b"").stdout;
        assert!(said.contains(part), "{text}: {said}");
    }
}

fn walk_all(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk_all(&path, files)
        } else {
            files.push(path)
        }
    }
}

/// Places of reports that need what a test of a few commands does not have: shared sets, signals,
/// several hosts, interrupted runs. Other tests read reports with these, and `hold` checks them.
#[rustfmt::skip]
const RARE: &[&str] = &[
    "decision-report.hooks[].function",
    "decision-report.hooks[].notes[]",
    "decision-report.hooks[].set",
    "decision-report.hooks[].start",
    "decision-report.hooks[].stderr.cut",
    "decision-report.hooks[].stdout.cut",
    "list-report.hooks[].containment",
    "list-report.hooks[].cwd",
    "list-report.hooks[].idle",
    "list-report.hooks[].fixes",
    "list-report.hooks[].link",
    "list-report.hooks[].link[]",
    "list-report.hooks[].problem",
    "list-report.hooks[].sandbox.write[]",
    "list-report.hooks[].sees",
    "list-report.hooks[].set",
    "replay-report.session",
    "suite-report.cases[].misses[].step",
    "suite-report.coverage.least",
    "why-report.door",
    "why-report.session",
    "why-report.trace.parent",
    "why-report.truncated",
    "why-report.truncated[]",
];

const SHARED: &[(&str, &str)] = &[
    ("suite-report.cases[].steps[]", "decision-report"),
    ("why-report.run", "decision-report"),
    ("replay-report.is", "replay-report.was"),
];

/// The words that hooks of [`busy`] print.
const SAYS: &str = r#"{"output":"o","additionalContext":"c","update":{"toolInput":{"command":"ls"}},"findings":[{"path":"a","line":1,"level":"notice","message":"m","rule":"r"}]}"#;

const MANIFEST: &str = r#"
[[rule]]
name = "no"
runs = "git push"
deny = "no"

[[rule]]
name = "sure"
runs = "ls"
ask = "sure?"

[[hook]]
name = "slow"
event = "tool.post"
command = "sleep 9"
timeout = "10ms"
description = "x"
limits = { memory = "1G", cpu = "1s", files = 64, output = "1M" }
sandbox = { read = ["/"] }

[[hook]]
name = "handed"
event = "commit.pre"
command = "true {files}"
batch = 9
reads = "none"
"#;

const LOST: &str = "[sets.lost]\ngit = 'https://git.invalid/x'\nrev = 'v1'\n[log]\nenable = true\n";

const CASES: &str = r#"
[defaults]
event = "tool.pre"
[[case]]
name = "passes"
context = { toolName = "bash", toolInput = { command = "git push" } }
expect = { decision = "block" }
[[case]]
name = "skipped"
skip = "why"
expect = { decision = "block" }
"#;

/// A project with hooks that do much of what a report can say.
fn busy() -> Sandbox {
    let see = format!("# hookrun: rewrite=true runs=pwd\nprintf '%s' '{SAYS}'");
    Sandbox::new()
        .hook("10-see.sh", &see)
        .hook("30-other.sh", "# hookrun: tool=read\nexit 1")
        .hook("40-off.sh", "# hookrun: enabled=false\nexit 1")
        .file("hookrun.toml", MANIFEST)
        .file("hooks.d/tests/no.toml", CASES)
}

#[test]
fn every_key_of_a_report_is_in_some_report() {
    let sandbox = busy();
    let mut seen = BTreeSet::new();
    let mut see = |arguments: &[&str], stdin: &str| {
        let ran = sandbox.hookrun(arguments, stdin.as_bytes());
        for document in serde_json::Deserializer::from_str(&ran.stdout).into_iter::<Value>() {
            let document =
                document.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {ran:?}"));
            hold(arguments, &document);
            let name = name_of(arguments, &document).unwrap();
            let schema = SCHEMAS
                .iter()
                .find(|named| named.name == name)
                .unwrap()
                .schema();
            places(&schema, &document, name, &mut seen);
        }
    };
    let command =
        |line: &str| json!({ "toolName": "bash", "toolInput": { "command": line } }).to_string();
    see(&["test", "tool.pre", "--format", "json"], &command("pwd"));
    see(
        &["test", "tool.pre", "--format", "json"],
        &command("git push"),
    );
    see(
        &["test", "tool.post", "--format", "json"],
        &command("git push"),
    );
    for line in ["pwd", "git push"] {
        sandbox.hookrun(
            &["run", "tool.pre", "--record", "log.jsonl"],
            command(line).as_bytes(),
        );
    }
    see(
        &["run", "tool.pre", "--format", "json"],
        &command("git push"),
    );
    see(
        &["why", "--file", "log.jsonl", "--all", "--format", "json"],
        "",
    );
    see(
        &["why", "--file", "log.jsonl", "--stats", "--format", "json"],
        "",
    );
    see(&["test", "--format", "json"], "");
    see(&["test", "--coverage", "--format", "json"], "");
    fs::write(
        sandbox.at("hooks.d/tests/no.toml"),
        CASES.replace("block", "allow"),
    )
    .unwrap();
    see(&["test", "--format", "json"], "");
    fs::write(
        sandbox.at("hooks.d/tool.pre/30-other.sh"),
        "#!/bin/sh\necho n >&2; exit 1",
    )
    .unwrap();
    fs::write(sandbox.at("broken.jsonl"), "x").unwrap();
    see(&["replay", "log.jsonl", "broken.jsonl", "--all"], "");
    see(&["replay", "log.jsonl", "broken.jsonl", "--summary"], "");
    let both =
        "[[rule]]\nruns = \"git push\"\ndeny = \"no\"\n[event.\"tool.pre\"]\nstop = \"never\"\n";
    fs::write(sandbox.at("hookrun.toml"), format!("{MANIFEST}\n{both}")).unwrap();
    see(
        &["run", "tool.pre", "--format", "json"],
        &command("git push"),
    );
    see(&["list", "--format", "json"], "");
    for name in ["slow", "sure"] {
        see(&["list", name, "--format", "json"], "");
    }
    see(&["explain", "git push; ls", "--format", "json"], "");
    see(&["validate", "--format", "json"], "");
    fs::write(sandbox.at("hookrun.toml"), LOST).unwrap();
    see(&["validate", "--format", "json"], "");
    let mut all = BTreeSet::new();
    for named in SCHEMAS
        .iter()
        .filter(|named| named.name.ends_with("-report"))
    {
        all_places(&named.schema(), named.name, &mut all);
    }
    // What several reports share must be in one of them.
    let shared = |place: &String| {
        SHARED.iter().fold(place.clone(), |place, (one, other)| {
            place.replace(one, other)
        })
    };
    let seen: BTreeSet<String> = seen.iter().map(shared).collect();
    let unseen: BTreeSet<String> = all
        .iter()
        .map(shared)
        .filter(|one| !seen.contains(one))
        .collect();
    let rare: BTreeSet<String> = RARE.iter().map(|place| (*place).to_string()).collect();
    assert_eq!(unseen, rare);
}

#[test]
fn a_name_that_is_neither_a_schema_nor_an_event_is_an_error() {
    let sandbox = Sandbox::new();
    let ran = sandbox.hookrun(&["schema", "nothing-like-it"], b"");
    ran.exits(2).says("nothing-like-it");
    sandbox
        .hookrun(&["schema", "tool.per"], b"")
        .exits(2)
        .says("tool.pre");
}
