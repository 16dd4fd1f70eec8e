//! `--watch`: what a change touches is run again.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::{case, guarded};
use crate::nasty::running::{NOT_HUNG, end, wait_until};
use crate::sandbox::Sandbox;

/// hookrun that watches, and what it says.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(sandbox: &Sandbox) -> Watching {
        let mut command: Command = sandbox.command(&["test", "--suite", "--watch"]);
        let mut child = command.spawn().unwrap();
        let (said, lines) = channel();
        let streams: [Box<dyn std::io::Read + Send>; 2] = [
            Box::new(child.stdout.take().unwrap()),
            Box::new(child.stderr.take().unwrap()),
        ];
        for stream in streams {
            let said = said.clone();
            thread::spawn(move || {
                BufReader::new(stream)
                    .lines()
                    .map_while(Result::ok)
                    .try_for_each(|line| said.send(line).ok())
            });
        }
        Watching { child, lines }
    }

    /// Waits until all of this was said, on either stream.
    #[track_caller]
    fn says(&self, all: &[&str]) {
        let mut seen: Vec<String> = Vec::new();
        let has = |seen: &[String], words: &&str| seen.iter().any(|line| line.contains(words));
        while !all.iter().all(|words| has(&seen, words)) {
            match self.lines.recv_timeout(NOT_HUNG) {
                Ok(line) => seen.push(line),
                Err(error) => panic!("{error}: {all:?} are not all in {seen:#?}"),
            }
        }
    }

    /// Ends it by SIGINT.
    fn stop(mut self) {
        end(i32::try_from(self.child.id()).unwrap(), "INT");
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let sandbox = guarded(&case("guarded", "bad", "decision = 'block'"));
    let mut child = sandbox
        .command(&["test", "--suite", "--watch"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    wait_until("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_a_change_touches_is_run_again() {
    let sandbox = guarded(&case("guarded", "bad", "decision = 'block'"))
        .hook_for("session.end", "bye.sh", "true")
        .file(
            "hooks.d/tests/end.toml",
            "[[case]]\nname = 'end'\nevent = 'session.end'\nexpect = { decision = 'allow' }\n",
        );
    let watching = Watching::start(&sandbox);
    watching.says(&["ok: 2 cases", "watching"]);

    // A hook: the cases that may ask it.
    let hook = sandbox.at("hooks.d/tool.pre/10-guard.sh");
    fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    watching.says(&[
        "changed: hooks.d/tool.pre/10-guard.sh",
        "FAILED: 1 case, 1 failed",
        "watching",
    ]);

    // A file of cases: its own.
    let cases = case("guarded", "bad", "decision = 'allow'") + "# changed";
    fs::write(sandbox.at("hooks.d/tests/guard.toml"), cases).unwrap();
    watching.says(&["ok: 1 case in", "watching"]);

    // One that is broken is told, and mended again.
    fs::write(sandbox.at("hooks.d/tests/end.toml"), "[[case]\n").unwrap();
    watching.says(&["not valid TOML", "watching"]);
    fs::write(
        sandbox.at("hooks.d/tests/end.toml"),
        "[[case]]\nname = 'other'\nevent = 'session.end'\nexpect = { decision = 'allow' }\n",
    )
    .unwrap();
    watching.says(&["ok: 1 case in", "watching"]);

    // What all hooks share: every case.
    fs::write(sandbox.at("hookrun.toml"), "").unwrap();
    watching.says(&["ok: 2 cases", "watching"]);
    watching.stop();
}

/// A file of cases with one case of its own.
fn one_case(sandbox: &Sandbox, file: &str, command: &str) {
    let place = sandbox.at(&format!("hooks.d/tests/{file}.toml"));
    fs::write(place, case(file, command, "decision = 'block'")).unwrap();
}

#[test]
fn what_was_changed_while_a_file_was_broken_is_played_when_it_is_mended() {
    let sandbox = guarded(&case("guarded", "bad", "decision = 'block'"));
    one_case(&sandbox, "other", "bad");
    let watching = Watching::start(&sandbox);
    watching.says(&["ok: 2 cases", "watching"]);

    fs::write(sandbox.at("hooks.d/tests/guard.toml"), "[[case]\n").unwrap();
    watching.says(&["not valid TOML", "watching"]);
    one_case(&sandbox, "other", "good");
    watching.says(&[
        "changed: hooks.d/tests/other.toml",
        "not valid TOML",
        "watching",
    ]);
    let cases = case("guarded", "bad", "decision = 'block'") + "# mended";
    fs::write(sandbox.at("hooks.d/tests/guard.toml"), cases).unwrap();
    watching.says(&["FAILED: 2 cases, 1 failed", "watching"]);
    watching.stop();
}

#[test]
fn a_case_that_is_not_as_expected_is_played_again_until_it_is() {
    let sandbox = guarded(&case("guarded", "good", "decision = 'block'"));
    one_case(&sandbox, "other", "bad");
    let watching = Watching::start(&sandbox);
    watching.says(&["FAILED: 2 cases, 1 failed", "watching"]);

    one_case(&sandbox, "other", "bad bad");
    watching.says(&["FAILED: 2 cases, 1 failed", "watching"]);
    one_case(&sandbox, "guard", "bad");
    watching.says(&["ok: 1 case in", "watching"]);
    one_case(&sandbox, "other", "bad");
    watching.says(&["ok: 1 case in", "watching"]);
    watching.stop();
}

#[test]
fn rounds_are_for_people() {
    let sandbox = guarded(&case("guarded", "bad", "decision = 'block'"));
    for format in ["json", "junit", "tap", "github"] {
        let ran = sandbox.hookrun(&["test", "--suite", "--watch", "--format", format], b"");
        ran.exits(2)
            .says(&format!("cannot be --format {format}"))
            .says("drop one of them");
        assert_eq!(ran.stdout, "");
    }
}
