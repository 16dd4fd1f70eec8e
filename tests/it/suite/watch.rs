//! `--watch`: every change plays the cases again.

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
fn every_change_plays_the_cases_again() {
    let sandbox = guarded(&case("guarded", "bad", "decision = 'block'"))
        .hook_for("session.end", "bye.sh", "true")
        .file(
            "hooks.d/tests/end.toml",
            "[[case]]\nname = 'end'\nevent = 'session.end'\nexpect = { decision = 'allow' }\n",
        );
    let watching = Watching::start(&sandbox);
    watching.says(&["ok: 2 cases", "watching"]);

    // A hook.
    let hook = sandbox.at("hooks.d/tool.pre/10-guard.sh");
    fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    watching.says(&[
        "changed: hooks.d/tool.pre/10-guard.sh",
        "FAILED: 2 cases, 1 failed",
        "watching",
    ]);

    // A file of cases.
    let cases = case("guarded", "bad", "decision = 'allow'") + "# changed";
    fs::write(sandbox.at("hooks.d/tests/guard.toml"), cases).unwrap();
    watching.says(&[
        "changed: hooks.d/tests/guard.toml",
        "ok: 2 cases",
        "watching",
    ]);

    // One that is broken, and then corrected.
    fs::write(sandbox.at("hooks.d/tests/end.toml"), "[[case]\n").unwrap();
    watching.says(&["not valid TOML", "watching"]);
    fs::write(
        sandbox.at("hooks.d/tests/end.toml"),
        "[[case]]\nname = 'other'\nevent = 'session.end'\nexpect = { decision = 'allow' }\n",
    )
    .unwrap();
    watching.says(&["ok: 2 cases", "watching"]);

    // A new file of cases, and a new file of configuration.
    let more = case("more", "good", "decision = 'allow'");
    fs::write(sandbox.at("hooks.d/tests/more.toml"), more).unwrap();
    watching.says(&["ok: 3 cases", "watching"]);
    fs::write(sandbox.at("hookrun.toml"), "").unwrap();
    watching.says(&["changed: hookrun.toml", "ok: 3 cases", "watching"]);
    watching.stop();
}

#[test]
fn rounds_are_for_people() {
    let sandbox = guarded(&case("guarded", "bad", "decision = 'block'"));
    for format in ["json", "junit", "tap", "github"] {
        let ran = sandbox.hookrun(&["test", "--suite", "--watch", "--format", format], b"");
        ran.exits(2)
            .says(&format!("cannot be used with --format {format}"))
            .says("remove one of them");
        assert_eq!(ran.stdout, "");
    }
}
