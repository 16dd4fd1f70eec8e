//! What other programs read: each form as its readers want it, made twice with the same bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::{line, report, some};
use crate::nasty::running::{skipped, wait_until};
use crate::sandbox::Sandbox;

fn exported(format: &str, log: &str) -> String {
    let sandbox = Sandbox::new().file("log.jsonl", log);
    let option = format!("--{format}");
    report(&sandbox, &[&option, "made", "--file", "log.jsonl"]).exits(0);
    let made = sandbox.read("made");
    let again = report(&sandbox, &[&option, "-", "--file", "log.jsonl"]);
    assert!(
        again.stdout == made,
        "{format}: stdout got other bytes than the file"
    );
    made
}

fn lines(format: &str, log: &str) -> Vec<Value> {
    let made = exported(format, log);
    made.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// hookrun with these arguments, whose stdin stays open after `input`, and whose reader leaves after
/// so many lines: its status, and what it says.
fn left_after(lines: usize, arguments: &[&str], sandbox: &Sandbox, input: &str) -> (i32, String) {
    let mut command = sandbox.command(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let input = input.to_string();
    let writing = thread::spawn(move || {
        // It may end before it has read all.
        let _ = stdin.write_all(input.as_bytes());
        stdin
    });
    for _ in 0..lines {
        assert!(
            reader.read_line(&mut String::new()).unwrap() > 0,
            "{arguments:?}"
        );
    }
    drop(reader);
    wait_until("it ends", || child.try_wait().unwrap().is_some());
    let ended = child.wait_with_output().unwrap();
    drop(writing.join().unwrap());
    (
        ended.status.code().unwrap(),
        String::from_utf8(ended.stderr).unwrap(),
    )
}

#[test]
fn a_reader_that_leaves_ends_what_is_only_for_it_though_there_is_more_to_read() {
    let sandbox = Sandbox::new();
    for form in ["--flat", "--opa"] {
        let arguments = ["report", form, "-", "--file", "/dev/stdin"];
        let lines = usize::from(form == "--flat");
        assert_eq!(
            left_after(lines, &arguments, &sandbox, &some(2_000)),
            (0, String::new())
        );
    }
    // How many have changed is not known then.
    assert_eq!(
        left_after(0, &["replay", "-"], &sandbox, ""),
        (2, String::new())
    );
    // What is written to a file is written to its end.
    let sandbox = Sandbox::new().file("log.jsonl", &some(2_000));
    let line = "\"$0\" report page.html --flat - --file log.jsonl | head -n 1 >first";
    sandbox.hookrun_by_shell(line, b"").exits(0);
    assert!(sandbox.read("page.html").contains("</html>"));
    assert_eq!(sandbox.read("first").lines().count(), 1);
}

/// Two hooks of one step, at the same time.
fn parallel() -> String {
    let one = line(
        100,
        "make",
        &[("a.sh", 30.0, "allow"), ("b.sh", 20.0, "allow")],
    );
    let mut one: Value = serde_json::from_str(&one).unwrap();
    one["run"]["hooks"][1]["afterMs"] = 0.1.into();
    one["run"]["tookMs"] = 30.5.into();
    format!("{one}\n")
}

#[test]
fn a_chrome_trace_has_complete_slices_that_nest() {
    let log = format!("{}{}", some(300), parallel());
    let trace: Value = serde_json::from_str(&exported("chrome-trace", &log)).unwrap();
    let keys: Vec<&String> = trace.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["traceEvents", "displayTimeUnit"]);
    let mut named = BTreeSet::new();
    let mut lanes: HashMap<(u64, u64), Vec<(u64, u64)>> = HashMap::new();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        let number = |key: &str| {
            event[key]
                .as_u64()
                .unwrap_or_else(|| panic!("{key}: {event}"))
        };
        let pid = number("pid");
        match event["ph"].as_str().unwrap() {
            "M" => {
                assert_eq!(event["name"], "process_name");
                assert!(
                    event["args"]["name"]
                        .as_str()
                        .unwrap()
                        .starts_with("claude s-")
                );
                assert!(named.insert(pid), "{pid} has two names");
            }
            "X" => {
                assert!(named.contains(&pid) && !event["name"].as_str().unwrap().is_empty());
                let category = event["cat"].as_str().unwrap();
                *counts
                    .entry(if category == "hook" {
                        "hooks"
                    } else {
                        category
                    })
                    .or_default() += 1;
                let (start, tid) = (number("ts"), number("tid"));
                lanes
                    .entry((pid, tid))
                    .or_default()
                    .push((start, start + number("dur")));
            }
            other => panic!("{other}: {event}"),
        }
    }
    assert_eq!(
        counts,
        BTreeMap::from([("event", 301), ("hooks", 300 + 250 + 2)])
    );
    for (lane, mut slices) in lanes {
        slices.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        let mut open: Vec<u64> = Vec::new();
        for (start, end) in slices {
            open.retain(|until| *until > start);
            let fits = open.last().is_none_or(|until| end <= *until);
            assert!(
                fits,
                "in lane {lane:?} a slice at {start} leaves the one around it"
            );
            open.push(end);
        }
    }
}

#[test]
fn folded_stacks_have_the_time_of_everything_once() {
    let made = exported("folded", &parallel().replace("b.sh", "b;c.sh"));
    assert_eq!(made, "s-0;tool.pre;a.sh 30000\ns-0;tool.pre;b:c.sh 20000\n");
    let sum: u64 = exported("folded", &some(10))
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
        .sum();
    let took: f64 = lines("flat", &some(10))
        .iter()
        .map(|row| row["took_ms"].as_f64().unwrap())
        .sum();
    assert_eq!(sum, (took * 1000.0).round() as u64);
}

fn is_hex(value: &Value, length: usize) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Holds what the JSON form of OTLP wants of every value.
fn check_otlp(value: &Value, key: &str) {
    match value {
        Value::Null => panic!("{key} is null"),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| check_otlp(value, key)),
        Value::Array(list) => list.iter().for_each(|value| check_otlp(value, key)),
        Value::String(text) if key == "intValue" || key.ends_with("UnixNano") => {
            assert!(text.parse::<i64>().is_ok(), "{key}: {text}");
        }
        Value::Number(_) => {
            let known = ["severityNumber", "kind", "code", "doubleValue"];
            assert!(known.contains(&key), "{key} is a number");
        }
        Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn otlp_logs_have_a_record_for_each_decision() {
    let all = lines("otlp-logs", &some(200));
    assert_eq!(all.len(), 200);
    let mut severities = BTreeMap::new();
    let mut traces = BTreeSet::new();
    for one in &all {
        check_otlp(one, "");
        let record = &one["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        assert!(
            is_hex(&record["traceId"], 32) && is_hex(&record["spanId"], 16),
            "{record}"
        );
        assert_eq!(record["eventName"], "hookrun.decision");
        *severities
            .entry(record["severityText"].as_str().unwrap())
            .or_insert(0) += 1;
        traces.insert(record["traceId"].as_str().unwrap());
    }
    assert_eq!(
        severities,
        BTreeMap::from([("INFO", 164), ("WARN", 34), ("ERROR", 2)])
    );
    assert_eq!(traces.len(), 3, "a session is one trace");
}

#[test]
fn otlp_traces_have_a_span_for_each_decision_and_its_hooks() {
    let all = lines("otlp-traces", &some(100));
    let mut ids = BTreeSet::new();
    for one in &all {
        check_otlp(one, "");
        let spans = one["resourceSpans"][0]["scopeSpans"][0]["spans"]
            .as_array()
            .unwrap();
        let own = &spans[0];
        for span in spans {
            assert!(is_hex(&span["spanId"], 16) && span["traceId"] == own["traceId"]);
            assert!(
                ids.insert(span["spanId"].as_str().unwrap()),
                "{span} has the id of another"
            );
            let time = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
            assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        }
        assert!(
            spans[1..]
                .iter()
                .all(|span| span["parentSpanId"] == own["spanId"]),
            "{one}"
        );
    }
}

#[test]
fn opa_lines_are_decision_logs_of_open_policy_agent() {
    let mut cut: Value = serde_json::from_str(&line(1, "ls", &[("a.sh", 1.0, "block")])).unwrap();
    cut["truncated"] = serde_json::json!(["context.toolInput.command", "run.hooks"]);
    for one in lines("opa", &format!("{}{cut}\n", some(20))) {
        let id = one["decision_id"].as_str().unwrap();
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        assert_eq!(
            (&one["path"], &one["requested_by"]),
            (&"hookrun/tool/pre".into(), &"claude".into())
        );
        assert_eq!(one["result"]["allow"], one["result"]["decision"] == "allow");
        assert!(one["metrics"]["timer_server_handler_ns"].as_u64().unwrap() > 0);
        assert_eq!(one["input"]["toolName"], "Bash");
        if one["input"]["toolInput"]["command"] == "ls" {
            assert_eq!(
                one["erased"],
                serde_json::json!(["/input/toolInput/command"])
            );
        }
    }
}

#[test]
fn flat_lines_all_have_the_same_columns() {
    let rows = lines("flat", &some(50));
    let columns = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let first = columns(&rows[0]);
    assert_eq!((rows.len(), first.len()), (50, 21));
    for row in &rows {
        assert_eq!(columns(row), first);
        assert!(
            row.as_object()
                .unwrap()
                .values()
                .all(|cell| !cell.is_object() && !cell.is_array())
        );
    }
}

/// Python with DuckDB and Polars: `HOOKRUN_PYTHON`, or `python3`.
fn python() -> Option<PathBuf> {
    let python = super::browser::program("HOOKRUN_PYTHON", &["python3"])?;
    let has_both = Command::new(&python)
        .args(["-c", "import duckdb, polars"])
        .output()
        .ok()?;
    has_both.status.success().then_some(python)
}

#[test]
fn the_recipes_for_duckdb_and_polars_work() {
    let Some(python) = python() else {
        skipped("no Python with duckdb and polars; HOOKRUN_PYTHON can name one");
        return;
    };
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/exports.md"));
    let page = page.unwrap();
    let recipes: Vec<&str> = page
        .split("```python\n")
        .skip(1)
        .map(|part| part.split("```").next().unwrap())
        .collect();
    assert_eq!(recipes.len(), 2, "one for DuckDB, one for Polars");
    let sandbox = Sandbox::new().file("log.jsonl", &some(240));
    report(
        &sandbox,
        &["--flat", "decisions.jsonl", "--file", "log.jsonl"],
    )
    .exits(0);
    for recipe in recipes {
        let ran = Command::new(&python)
            .args(["-c", recipe])
            .current_dir(sandbox.path())
            .output();
        let ran = ran.unwrap();
        let (text, errors) = (
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr),
        );
        assert!(
            ran.status.success() && errors.is_empty(),
            "{recipe}\n{text}\n{errors}"
        );
        assert!(
            text.contains("10-guard.sh") && text.contains("20"),
            "{recipe}\n{text}"
        );
    }
}

#[test]
fn times_that_no_clock_has_break_no_format() {
    let mut log = String::new();
    for at in [
        "/run/tookMs",
        "/run/hooks/0/tookMs",
        "/run/hooks/0/afterMs",
        "/run/hooks/0/timeoutMs",
    ] {
        for number in [-1.0, 1.8e16, 1.9e19, -1e300, 1e300] {
            let mut one: Value =
                serde_json::from_str(&line(5, "make", &[("a", 3.0, "allow")])).unwrap();
            *one.pointer_mut(at).unwrap() = number.into();
            log.push_str(&format!("{one}\n").repeat(2));
        }
    }
    let sandbox = Sandbox::new().file("log.jsonl", &log);
    for format in [
        "chrome-trace",
        "folded",
        "flat",
        "otlp-logs",
        "otlp-traces",
        "opa",
    ] {
        report(
            &sandbox,
            &[&format!("--{format}"), "made", "--file", "log.jsonl"],
        )
        .exits(0);
    }
    report(&sandbox, &["page.html", "--file", "log.jsonl"]).exits(0);
}

#[test]
fn neither_the_log_nor_another_output_is_written_over() {
    let sandbox = Sandbox::new().file("log.jsonl", &some(3));
    let twice = report(
        &sandbox,
        &["--flat", "made", "--opa", "made", "--file", "log.jsonl"],
    );
    twice.exits(2).says("`made` appears twice");
    sandbox.has_no_file("made");
    for file in ["log.jsonl", "./log.jsonl"] {
        let over = report(&sandbox, &["--flat", file, "--file", "log.jsonl"]);
        over.exits(2).says("has the decisions");
    }
    assert_eq!(sandbox.read("log.jsonl"), some(3));
    let sandbox = sandbox.hook("a.sh", "exit 0");
    sandbox.run("tool.pre").allows();
    let log = "home/.local/state/hookrun/log/decisions.jsonl";
    let kept = sandbox.read(log);
    report(&sandbox, &["--flat", log])
        .exits(2)
        .says("has the decisions");
    report(&sandbox, &["--flat", log, "--file", "log.jsonl"]).exits(2);
    assert_eq!(sandbox.read(log), kept);
}

#[test]
fn nothing_is_hidden_in_a_file_either() {
    for format in [
        "chrome-trace",
        "folded",
        "flat",
        "otlp-logs",
        "otlp-traces",
        "opa",
    ] {
        let mut one: Value =
            serde_json::from_str(&line(5, "make", &[("a", 3.0, "block")])).unwrap();
        for at in ["/session", "/host", "/run/reason", "/run/hooks/0/name"] {
            *one.pointer_mut(at).unwrap() = "\u{9b}31m\u{202e}x\u{1b}]0;\u{7}".into();
        }
        let made = exported(format, &format!("{one}\n"));
        let is_hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!made.contains(is_hidden), "{format}: {made}");
    }
}
