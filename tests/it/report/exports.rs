//! `--format jsonl`: what other programs read, and the recipes of docs/exports.md.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::{line, report, report_to, some};
use crate::nasty::running::{skipped, wait_until};
use crate::sandbox::Sandbox;

/// The lines of `--format jsonl` of a log.
fn exported(log: &str) -> String {
    let sandbox = Sandbox::new().file("log.jsonl", log);
    let ran = report(&sandbox, &["--format", "jsonl", "--file", "log.jsonl"]);
    ran.exits(0);
    ran.stdout
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
    let arguments = ["report", "--format", "jsonl", "--file", "/dev/stdin"];
    assert_eq!(
        left_after(1, &arguments, &sandbox, &some(2_000)),
        (0, String::new())
    );
    // How many have changed is not known then.
    assert_eq!(
        left_after(0, &["replay", "-"], &sandbox, ""),
        (2, String::new())
    );
}

#[test]
fn flat_lines_all_have_the_same_columns() {
    let made = exported(&some(50));
    let rows: Vec<Value> = made
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
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

/// The recipes on the page in this language.
fn recipes(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/exports.md"));
    let page = page.unwrap();
    let fence = format!("```{language}\n");
    page.split(&fence)
        .skip(1)
        .map(|part| part.split("```").next().unwrap().to_string())
        .collect()
}

/// Whether this program is here.
fn has(program: &str) -> bool {
    let is_there = super::browser::program("", &[program]).is_some();
    if !is_there {
        skipped(&format!("there is no {program}"));
    }
    is_there
}

#[test]
fn the_recipe_for_jq_works() {
    if !has("jq") {
        return;
    }
    let recipes = recipes("sh");
    let recipe = recipes.iter().find(|recipe| recipe.contains("jq")).unwrap();
    let sandbox = Sandbox::new().file("log.jsonl", &some(240));
    let line = recipe.replacen("hookrun report", "\"$0\" report --file log.jsonl", 1);
    let ran = sandbox.hookrun_by_shell(&line, b"");
    ran.exits(0)
        .prints("20\t10-guard.sh\t`git push --force origin main` is not for agents\n");
}

/// Python with DuckDB: `HOOKRUN_PYTHON`, or `python3`.
pub(crate) fn python() -> Option<PathBuf> {
    let python = super::browser::program("HOOKRUN_PYTHON", &["python3"])?;
    let mut imports = Command::new(&python);
    let output = imports.args(["-c", "import duckdb"]).output().ok()?;
    output.status.success().then_some(python)
}

#[test]
fn the_recipe_for_duckdb_works() {
    let Some(python) = python() else {
        skipped("no Python with duckdb; HOOKRUN_PYTHON can name one");
        return;
    };
    let recipes = recipes("python");
    let [recipe] = &recipes[..] else {
        panic!("{recipes:?}");
    };
    let sandbox = Sandbox::new().file("log.jsonl", &some(240));
    let made = ["--format", "jsonl", "--file", "log.jsonl"];
    report_to("decisions.jsonl", &sandbox, &made).exits(0);
    let mut command = Command::new(&python);
    command.args(["-c", recipe]).current_dir(sandbox.path());
    let ran = command.output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    assert!(text.contains("10-guard.sh"), "{text}");
}

#[test]
fn the_recipe_for_a_collector_reads_fields_that_the_log_has() {
    let recipes = recipes("yaml");
    let [recipe] = &recipes[..] else {
        panic!("{recipes:?}");
    };
    let decision: Value = serde_json::from_str(&line(1, "ls", &[("a.sh", 1.0, "block")])).unwrap();
    let mut fields = 0;
    for rest in recipe.split("attributes.").skip(1) {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        let path = &rest[..end.unwrap_or(rest.len())];
        let pointer = format!("/{}", path.replace('.', "/"));
        assert!(decision.pointer(&pointer).is_some(), "no `{path}`");
        fields += 1;
    }
    assert!(fields >= 3, "{recipe}");
    if !has("python3") {
        return;
    }
    let script = "import sys\ntry: import yaml\nexcept ImportError: sys.exit(9)\n\
                  receiver = yaml.safe_load(sys.argv[1])['receivers']['filelog']\n\
                  assert receiver['include'] and receiver['operators'][0]['type'] == 'json_parser'\n";
    let ran = Command::new("python3")
        .args(["-c", script, recipe])
        .output()
        .unwrap();
    if ran.status.code() == Some(9) {
        skipped("no PyYAML");
        return;
    }
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn the_recipe_for_rsyslog_follows_the_log_through_a_rotation() {
    let Some(rsyslogd) = super::browser::program("", &["rsyslogd"]) else {
        skipped("there is no rsyslogd");
        return;
    };
    let recipes = recipes("conf");
    let [recipe] = &recipes[..] else {
        panic!("{recipes:?}");
    };
    let sandbox = Sandbox::new().hook("10-guard.sh", "exit 0");
    let folder = sandbox.path().display();
    let recipe = recipe
        .replace("/home/you", &format!("{folder}/home"))
        .replace("/var/spool/rsyslog", &folder.to_string())
        .replace("/var/log", &folder.to_string());
    let sandbox = sandbox.file("rsyslog.conf", &recipe);
    let mut command = Command::new(rsyslogd);
    command
        .args(["-n", "-i", "rsyslog.pid", "-f", "rsyslog.conf"])
        .current_dir(sandbox.path())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let log = sandbox.at("home/.local/state/hookrun/log");
    for _ in 0..2 {
        for number in 0..5 {
            sandbox.run_shell(&format!("echo {number}")).allows();
        }
        let _ = std::fs::rename(log.join("decisions.jsonl"), log.join("decisions.1.jsonl"));
        sandbox.run_shell("true").allows();
        let seen = || std::fs::read_to_string(sandbox.at("hookrun.jsonl")).unwrap_or_default();
        let logged = std::fs::read_to_string(log.join("decisions.1.jsonl")).unwrap();
        wait_until("every line of the full file is there", || {
            let seen = seen();
            logged.lines().all(|line| seen.matches(line).count() == 1)
        });
    }
    child.kill().unwrap();
    child.wait().unwrap();
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
    report(&sandbox, &["--format", "jsonl", "--file", "log.jsonl"]).exits(0);
    report(&sandbox, &["--file", "log.jsonl"]).exits(0);
    sandbox
        .hookrun(&["why", "--stats", "--file", "log.jsonl"], b"")
        .exits(0);
}

#[test]
fn nothing_is_hidden_in_a_file_either() {
    let mut one: Value = serde_json::from_str(&line(5, "make", &[("a", 3.0, "block")])).unwrap();
    for at in ["/session", "/host", "/run/reason", "/run/hooks/0/name"] {
        *one.pointer_mut(at).unwrap() = "\u{9b}31m\u{202e}x\u{1b}]0;\u{7}".into();
    }
    let made = exported(&format!("{one}\n"));
    let is_hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!made.contains(is_hidden), "{made}");
}
