//! The pictures of the report in the documentation: a day of decisions that real hooks made, in
//! `docs/pictures/report.png` and, for readers in the dark, `report-dark.png`.
//!
//! `report.txt` beside them is the text of the same page, as its script draws it. When that changes,
//! or a picture is missing, `UPDATE_GOLDEN=1 cargo test --test it pictures` draws with Chromium.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::browser::{Browser, chromium};
use super::{drawn, humantime, report_to};
use crate::generated::{is_updating, settle, shell};
use crate::sandbox::Sandbox;

/// The pictures, and which of them is dark.
const PICTURES: [(&str, bool); 2] = [("report.png", false), ("report-dark.png", true)];

/// Of the page, in its pixels, and how many pixels of a picture they become.
const WIDTH: u32 = 1000;
const SCALE: f64 = 1.5;

/// What Claude Code runs, once in so many times; the first that applies.
const COMMANDS: &[(&str, u64)] = &[
    ("make deploy", 97),
    ("git reset --hard", 61),
    ("rm -rf build ../shared", 43),
    ("cat .env", 37),
    ("terraform apply", 29),
    ("git push --force origin main", 23),
    ("npm publish", 17),
    ("git diff", 3),
    ("cargo test", 1),
];

const DECISIONS: u64 = 480;

/// 2026-11-22T09:00:00Z.
const MORNING: u64 = 1_795_338_000;

/// A hook that crashes at a deployment.
const BUDGET: &str = r#"#!/usr/bin/env python3
# hookrun: tool=bash
import json, sys
if "deploy" in json.load(sys.stdin)["toolInput"]["command"]:
    raise ConnectionError("no answer from the budget service")
"#;

#[test]
fn the_pictures_of_the_report_show_what_it_says() {
    let sandbox = Sandbox::new().file("log.jsonl", &day());
    report_to("report.html", &sandbox, &["--file", "log.jsonl"]).exits(0);
    let Some(page) = drawn(&sandbox, "report.html", &[]) else {
        return;
    };
    let (figures, _list) = page.split_once("\n Decisions\n").unwrap();
    let lines = figures
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    let kept = fs::read_to_string(folder().join("report.txt")).unwrap_or_default();
    let is_drawn = PICTURES
        .iter()
        .all(|(name, _)| folder().join(name).exists());
    if is_updating() && !(is_drawn && kept == text) {
        draw(&sandbox);
    }
    settle("docs/pictures/report.txt", &kept, &text);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures")
}

/// The log of a day: what the program decided once about each command, at many times.
fn day() -> String {
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/40-budget.py", BUDGET);
    let mut script = "chmod +x hooks.d/tool.pre/*; \
         hookrun add guard-destructive ask-first no-secret-files >/dev/null\n"
        .to_string();
    for (command, _) in COMMANDS {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s-1", "tool_name": "Bash",
            "tool_input": { "command": command },
        });
        writeln!(
            script,
            "echo '{event}' | hookrun run --host claude >/dev/null 2>&1"
        )
        .unwrap();
    }
    script.push_str("hookrun why --all --format json");
    let printed = shell(&script, &sandbox, sandbox.path());
    let mut decisions = Vec::new();
    for line in printed.lines() {
        let mut decision: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        // The page has no hooks that did not run, and there are many.
        let hooks = decision["run"]["hooks"].as_array_mut().unwrap();
        hooks.retain(|hook| hook["fate"] == "ran");
        decisions.push(decision);
    }
    assert_eq!(decisions.len(), COMMANDS.len());
    let mut second = MORNING;
    let mut log = String::new();
    for number in 1..=DECISIONS {
        // Some hours are busier than others.
        let pause = if number / 60 % 2 == 0 { 30 } else { 100 };
        second += 5 + number * 37 % pause;
        let applies = COMMANDS.iter().position(|(_, every)| number % every == 0);
        let mut decision = decisions[applies.unwrap()].clone();
        decision["time"] = humantime(UNIX_EPOCH + Duration::from_secs(second)).into();
        let mut took_ms = 0.4;
        for hook in decision["run"]["hooks"].as_array_mut().unwrap() {
            let is_program = hook["name"].as_str().unwrap().ends_with(".py");
            let hook_ms = if is_program {
                21.0 + (number * 7 % 13) as f64
            } else {
                0.02
            };
            hook["tookMs"] = hook_ms.into();
            took_ms += hook_ms;
        }
        decision["run"]["tookMs"] = took_ms.into();
        writeln!(log, "{decision}").unwrap();
    }
    log
}

/// Draws the page down to the list of decisions, which has no end that a picture could show.
fn draw(sandbox: &Sandbox) {
    let program = chromium().expect("Chromium draws the pictures; HOOKRUN_CHROMIUM can name one");
    let mut browser = Browser::start(&program, sandbox.path());
    for (name, is_dark) in PICTURES {
        browser.open(&sandbox.at("report.html"), WIDTH, is_dark);
        let list = browser.value("document.getElementById('list').getBoundingClientRect().top");
        let area = json!({ "x": 0, "y": 0, "width": WIDTH, "height": list.as_f64().unwrap() - 16.0, "scale": SCALE });
        let mut decoder = Command::new("base64");
        decoder
            .arg("-d")
            .stdin(Stdio::piped())
            .stdout(fs::File::create(folder().join(name)).unwrap());
        let mut decoder = decoder.spawn().unwrap();
        let mut base64 = decoder.stdin.take().unwrap();
        base64.write_all(browser.picture(&area).as_bytes()).unwrap();
        drop(base64);
        assert!(decoder.wait().unwrap().success());
    }
}
