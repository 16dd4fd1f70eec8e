//! `hookrun why --follow`: a line for each decision as it is made, also when the log begins a new file.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use hookrun::internals::log::DecisionLog;
use serde_json::Value;

use crate::report::line;
use crate::sandbox::Sandbox;

const FOLDER: &str = "home/.local/state/hookrun/log";

/// `hookrun why --follow`, and what it prints.
struct Tail {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Tail {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Tail {
        let all: Vec<&str> = ["why", "--follow"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let mut child = sandbox.command(&all).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Tail { child, lines }
    }

    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn decisions_appear_as_they_are_made() {
    let sandbox = Sandbox::new().hook("10-guard.sh", "echo 'not here' >&2; exit 1");
    sandbox.run_shell("first");
    let mut tail = Tail::start(&sandbox, &[]);
    assert!(
        tail.line()
            .contains("BLOCK  tool.pre  bash: first  10-guard.sh: not here")
    );
    sandbox.run_shell("second");
    assert!(tail.line().contains("BLOCK"));
}

#[test]
fn it_waits_for_a_log_that_is_not_there_yet_and_takes_filters() {
    let sandbox = Sandbox::new().hook("10-guard.sh", "exit 1");
    let mut tail = Tail::start(&sandbox, &["--format", "json", "--session", "s-9"]);
    let context = |session| format!(r#"{{"toolName":"x","sessionId":"{session}"}}"#);
    for session in ["s-1", "s-9"] {
        sandbox
            .hookrun(&["run", "tool.pre"], context(session).as_bytes())
            .exits(2);
    }
    let line: Value = serde_json::from_str(&tail.line()).unwrap();
    assert_eq!(
        (&line["session"], &line["hookrun"]),
        (&"s-9".into(), &1.into())
    );
}

#[test]
fn no_line_is_lost_when_the_log_begins_new_files() {
    let sandbox = Sandbox::new();
    let log = DecisionLog::in_folder(sandbox.at(FOLDER)).file_size(4000);
    let add = |number: u64| {
        let text = line(number, &format!("make {number}"), &[("a.sh", 1.0, "allow")]);
        log.append(&format!("{text}\n")).unwrap();
    };
    add(0);
    let arguments = ["--everywhere", "--format", "json"];
    let mut tail = Tail::start(&sandbox, &arguments);
    for number in 0..60 {
        let line: Value = serde_json::from_str(&tail.line()).unwrap();
        let command = &line["context"]["toolInput"]["command"];
        assert_eq!(*command, format!("make {number}"));
        // Three lines begin one new file at most.
        if number % 3 == 0 {
            (1..=3).for_each(|step| add(number + step));
        }
    }
    assert_eq!(log.files().len(), 5);
}

#[test]
fn only_the_newest_of_the_past_are_shown_and_a_line_without_its_end_waits() {
    let past: String = (0..30)
        .map(|n| line(n, &format!("make {n}"), &[("a.sh", 1.0, "allow")]) + "\n")
        .collect();
    let half = line(40, "late", &[("a.sh", 1.0, "allow")]);
    let sandbox = Sandbox::new().file("log.jsonl", &format!("{past}not JSON\n{}", &half[..100]));
    let arguments = ["--file", "log.jsonl", "-n", "2", "--format", "json"];
    let mut tail = Tail::start(&sandbox, &arguments);
    assert!(tail.line().contains("make 28") && tail.line().contains("make 29"));
    let mut whole = fs::OpenOptions::new()
        .append(true)
        .open(sandbox.at("log.jsonl"))
        .unwrap();
    std::io::Write::write_all(&mut whole, format!("{}\n", &half[100..]).as_bytes()).unwrap();
    assert!(tail.line().contains("late"));
}

#[test]
fn it_ends_with_its_reader_and_by_a_signal() {
    let log = line(0, "ls", &[("a.sh", 1.0, "allow")]);
    let sandbox = Sandbox::new().file("log.jsonl", &format!("{log}\n"));
    let line = r#""$0" why --follow --file log.jsonl | head -n 1"#;
    sandbox.hookrun_by_shell(line, b"").exits(0).prints("allow");
    let mut tail = Tail::start(&sandbox, &["--file", "log.jsonl"]);
    assert!(tail.line().contains("allow"));
    let pid = tail.child.id().to_string();
    // Not SIGINT: where the tests run in the background, everything they start ignores it.
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(tail.child.wait().unwrap().signal(), Some(15));
    sandbox
        .hookrun(&["why", "--follow", "--file", "none"], b"")
        .exits(2)
        .says("cannot read none");
}
