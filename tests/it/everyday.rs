//! The guards of `hookrun init` measured on everyday work: the command lines in
//! `fixtures/everyday/commands.txt`, each with what a careful colleague would say.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use serde_json::json;

use crate::sandbox::Sandbox;

/// How many ordinary lines may be stopped.
const MOST_STOPPED: usize = 4;

/// The files of the project, as the head of the fixture describes it.
const COMMITTED: &[(&str, &str)] = &[
    (
        ".gitignore",
        "node_modules/\ndist/\nbuild/\ntarget/\ncoverage/\n.venv/\n__pycache__/\n*.log\n.cache/\n.env\n",
    ),
    (
        "package.json",
        "{\"name\": \"shop\", \"version\": \"1.0.0\"}\n",
    ),
    (".env.example", "API_KEY=\n"),
    ("src/index.ts", "export {};\n"),
    ("src/user.ts", "export {};\n"),
    ("tests/user.test.ts", "export {};\n"),
    ("infra/main.tf", "\n"),
    ("docs/notes.md", "# Notes\n"),
];

struct Line {
    says: &'static str,
    command: String,
}

fn lines() -> Vec<Line> {
    include_str!("../../fixtures/everyday/commands.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (says, command) = line.split_once('\t').expect(line);
            assert!(["allow", "ask", "block"].contains(&says), "{line}");
            Line {
                says,
                command: command.replace("\\n", "\n"),
            }
        })
        .collect()
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}");
}

/// A project in which `hookrun init` has written its first set of guards.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    for (path, text) in COMMITTED {
        sandbox = sandbox.file(path, text);
    }
    git(sandbox.path(), &["init", "-q", "-b", "main"]);
    git(sandbox.path(), &["add", "-A", "."]);
    git(sandbox.path(), &["commit", "-q", "-m", "a shop"]);
    fs::write(sandbox.at(".env"), "API_KEY=abc\n").unwrap();
    fs::create_dir_all(sandbox.at("node_modules/x")).unwrap();
    sandbox
        .hookrun(&["init", "--yes", "--host", "claude"], b"")
        .exits(0);
    sandbox
}

/// The lines on which the guards and the colleague disagree.
fn disagreements(sandbox: &Sandbox, lines: &[Line]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let event = json!({
                        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
                        "cwd": sandbox.path(), "tool_input": { "command": line.command },
                    });
                    let ran = sandbox.ask("claude", "PreToolUse", &event);
                    let is_stopped = ran.status != 0 || ran.stdout.contains("\"ask\"");
                    if is_stopped == (line.says == "allow") {
                        let why = ran.stderr.lines().next().unwrap_or("it passed").to_string();
                        let text = format!("{}\t{}\n\t\t{why}", line.says, line.command);
                        wrong.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}

#[test]
fn everyday_commands_pass_and_destructive_ones_are_stopped() {
    let lines = lines();
    assert!(lines.len() >= 200, "only {} lines", lines.len());
    let ordinary = lines.iter().filter(|line| line.says == "allow").count();
    let wrong = disagreements(&project(), &lines);
    let (stopped, passed): (Vec<_>, Vec<_>) =
        wrong.iter().partition(|text| text.starts_with("allow"));
    let report = format!(
        "{:>7}  of {ordinary} ordinary commands stopped (at most {MOST_STOPPED})\n\
         {:>7}  of {} others passed (goal 0)\n",
        stopped.len(),
        passed.len(),
        lines.len() - ordinary,
    );
    // Past the capture of the test runner: the score is for people.
    std::io::stderr().write_all(report.as_bytes()).unwrap();
    assert!(
        stopped.len() <= MOST_STOPPED && passed.is_empty(),
        "{}",
        wrong.join("\n")
    );
}
