//! Parts of a recording, compressed recordings, and the recipes of docs/replay.md: wherever lines are
//! decided, their sum is that of one replay.

use std::fs;
use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;

use super::{GUARD, OTHER_GUARD, recorded};
use crate::nasty::running::skipped;
use crate::report::browser::program;
use crate::report::exports::python;
use crate::sandbox::{Ran, Sandbox};

/// 60 events, of which 40 are decided otherwise today.
fn changed() -> Sandbox {
    let sandbox = recorded(GUARD, &["ls", "rm x", "cat y"]).hook("10-guard.sh", OTHER_GUARD);
    let events = sandbox.read("events.jsonl").repeat(20);
    sandbox.file("events.jsonl", &events)
}

fn run(sandbox: &Sandbox, arguments: &[&str], stdin: &[u8]) -> Ran {
    sandbox.hookrun(arguments, stdin)
}

/// The sum of files of events, or of lines of replays.
#[track_caller]
fn sum(sandbox: &Sandbox, files: &[&str]) -> Value {
    let ran = run(sandbox, &[&["replay", "--summary"], files].concat(), b"");
    serde_json::from_str(&ran.exits(1).stdout).unwrap()
}

/// Lines without their places in files.
fn unplaced(text: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("file");
        line.as_object_mut().unwrap().remove("line");
        lines.push(line);
    }
    lines
}

#[test]
fn only_other_decisions_have_a_line_and_the_sum_is_on_stderr() {
    let sandbox = changed();
    let ran = run(&sandbox, &["replay", "events.jsonl"], b"");
    ran.exits(1)
        .says("60 events: 20 as recorded, 40 changed, 0 undecided; 0 unreadable")
        .says("allow → block: 20");
    let lines = unplaced(&ran.stdout);
    assert_eq!(lines.len(), 40);
    let (first, second) = (&lines[0], &lines[1]);
    assert_eq!(first["about"], "bash: rm x");
    assert_eq!(first["was"]["decision"], "block");
    assert_eq!(first["was"]["reason"], "no rm");
    assert_eq!(first["is"]["decision"], "allow");
    assert_eq!(second["is"]["hook"], "10-guard.sh");
    assert_ne!(first["id"], second["id"]);

    let span = sandbox.read("events.jsonl");
    let recorded: Value = serde_json::from_str(span.lines().nth(1).unwrap()).unwrap();
    assert_eq!(first["id"], recorded["trace"]["span"]);
}

#[test]
fn an_event_without_a_span_has_the_same_id_in_every_replay() {
    let sandbox = Sandbox::new();
    super::record(&sandbox, "ls");
    super::record(&sandbox, "pwd");
    let events = sandbox.read("events.jsonl");
    assert!(!events.contains("\"span\""));
    let whole = run(&sandbox, &["replay", "--all", "events.jsonl"], b"");
    let piped = run(&sandbox, &["replay", "--all"], events.as_bytes());
    let whole = unplaced(&whole.exits(0).stdout);
    assert_eq!(whole, unplaced(&piped.exits(0).stdout));
    assert_eq!(whole[0]["id"].as_str().unwrap().len(), 16);
    assert_ne!(whole[0]["id"], whole[1]["id"]);
}

#[test]
fn lines_of_parts_come_to_the_sum_of_the_whole() {
    let sandbox = changed();
    let events = sandbox.read("events.jsonl");
    let lines: Vec<&str> = events.lines().collect();
    let mut all = String::new();
    for (number, part) in lines.chunks(7).enumerate() {
        let ran = run(&sandbox, &["replay", "--all"], part.join("\n").as_bytes());
        all.push_str(&ran.stdout);
        fs::write(sandbox.at(&format!("part-{number}")), &ran.stdout).unwrap();
    }
    let names: Vec<String> = (0..9).map(|number| format!("part-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let whole = run(&sandbox, &["replay", "--all", "events.jsonl"], b"");
    assert_eq!(unplaced(&all), unplaced(&whole.stdout));
    let sum = sum(&sandbox, &["events.jsonl"]);
    assert_eq!(sum["decisions"], 60);
    assert_eq!(sum["blocked"], 20);
    assert_eq!(sum["replayed"]["changed"], 40);
    assert_eq!(self::sum(&sandbox, &names), sum);
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

#[test]
fn compressed_recordings_are_read_as_they_were() {
    let sandbox = changed();
    let events = sandbox.read("events.jsonl");
    let (one, other) = events.split_at(events.len() / 3);
    let sum = sum(&sandbox, &["events.jsonl"]);
    for compress in [gzip, zstd] {
        // As by `cat a.gz b.gz`, cut in the middle of a line.
        let both = [compress(one), compress(other)].concat();
        fs::write(sandbox.at("events.packed"), &both).unwrap();
        assert_eq!(self::sum(&sandbox, &["events.packed"]), sum);
        let ran = run(&sandbox, &["replay", "--summary"], &both);
        assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), sum);
        run(
            &sandbox,
            &["why", "--all", "--brief", "--file", "events.packed"],
            b"",
        )
        .exits(0);

        let cut = &both[..both.len() - 20];
        let ran = run(&sandbox, &["replay"], cut);
        ran.exits(2)
            .prints(r#""result":"unreadable""#)
            .says("1 unreadable");
    }
}

/// The recipes of docs/replay.md in this language.
fn recipes(language: &str) -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/replay.md");
    let page = fs::read_to_string(page).unwrap();
    let mut recipes = Vec::new();
    for part in page.split(&format!("\n```{language}\n")).skip(1) {
        recipes.push(part.split("```").next().unwrap().to_string());
    }
    recipes
}

/// Does a recipe of the page, which leaves `replayed.jsonl`.
#[track_caller]
fn play(sandbox: &Sandbox, word: &str) {
    let recipes = recipes("sh");
    let recipe = recipes.iter().find(|recipe| recipe.contains(word)).unwrap();
    assert_eq!(recipe.matches("hookrun replay").count(), 1, "{recipe}");
    let recipe = recipe.replace("hookrun replay", "\"$0\" replay");
    sandbox.hookrun_by_shell(&recipe, b"");
}

#[test]
fn the_recipes_of_the_page_come_to_one_sum() {
    let sandbox = changed();
    let sum = sum(&sandbox, &["events.jsonl"]);
    let whole = run(&sandbox, &["replay", "--all", "events.jsonl"], b"");
    for word in ["split", "parallel"] {
        if program("", &[word]).is_none() {
            skipped(&format!("there is no {word}"));
            continue;
        }
        play(&sandbox, word);
        let lines = sandbox.read("replayed.jsonl");
        assert_eq!(unplaced(&lines), unplaced(&whole.stdout), "{word}");
        assert_eq!(self::sum(&sandbox, &["replayed.jsonl"]), sum, "{word}");
    }
    let Some(python) = python() else {
        skipped("no Python with duckdb; HOOKRUN_PYTHON can name one");
        return;
    };
    let recipes = recipes("sql");
    let script = "import duckdb, sys; print(duckdb.sql(sys.argv[1]).fetchall())";
    let mut command = Command::new(python);
    command.args(["-c", script, &recipes[0]]);
    let ran = command.current_dir(sandbox.path()).output().unwrap();
    let rows = String::from_utf8_lossy(&ran.stdout);
    for row in [
        "('changed', 'allow', 'block', '10-guard.sh', 20)",
        "('changed', 'block', 'allow', None, 20)",
        "('same', 'allow', 'allow', None, 20)",
    ] {
        assert!(rows.contains(row), "{ran:?}");
    }
}
