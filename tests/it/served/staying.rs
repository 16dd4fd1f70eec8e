//! Programs that stay up, in `hookrun serve`: which process answers which event.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{bash, example, served};
use crate::nasty::running::{Cookie, NOT_HUNG, end, wait_until};
use crate::sandbox::Sandbox;
use crate::serve::Client;

/// A server whose hook is watched from outside.
pub(super) struct Server {
    pub(super) sandbox: Sandbox,
    pub(super) client: Client,
    cookie: Cookie,
}

/// One event's decision.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) status: i64,
    /// The additional context, or why it is blocked.
    pub(super) text: String,
}

impl Server {
    /// With this hook for `tool.pre`, whose timeout is short.
    pub(super) fn start(hook: &str) -> Server {
        Server::start_in(Sandbox::new().script("hooks.d/tool.pre/hook", hook))
    }

    fn start_in(sandbox: Sandbox) -> Server {
        let cookie = Cookie::new();
        let mut command = sandbox.command(&["serve", "--stdio"]);
        cookie.mark(&mut command);
        Server {
            client: Client::start_by(command),
            sandbox,
            cookie,
        }
    }

    pub(super) fn decide(&mut self, command: &str) -> Decided {
        let reply = self
            .client
            .decide(json!({ "event": "tool.pre", "context": bash(command) }));
        decided(&reply)
    }

    /// Closes its input, and looks whether anything is left.
    pub(super) fn ends(self) {
        assert!(self.client.end().success());
        self.cookie.has_nobody();
    }
}

fn decided(reply: &Value) -> Decided {
    let stdout = reply["stdout"].as_str().unwrap();
    let said: Value = serde_json::from_str(stdout).unwrap_or_default();
    let text = ["additionalContext", "reason"]
        .iter()
        .find_map(|key| said[key].as_str());
    Decided {
        status: reply["status"].as_i64().unwrap(),
        text: text.unwrap_or_default().to_string(),
    }
}

/// A hook that says which process it is, and which command it was asked about, after `body`.
pub(super) fn says_who(body: &str) -> String {
    let says = "who = '%d %s' % (os.getpid(), event['toolInput']['command'])\n\
                keys = {'additionalContext': who}\n";
    served(&format!("{says}{body}")).replacen("\n", "\n# hookrun: timeout=2s\n", 1)
}

/// The process that answered, by what it said.
#[track_caller]
pub(super) fn process_of(decided: &Decided) -> i32 {
    assert_eq!(decided.status, 0, "{decided:?}");
    decided.text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn one_process_answers_all_events_and_ends_with_the_server() {
    let mut server = Server::start(&says_who(""));
    let first = process_of(&server.decide("0"));
    for number in 1..50 {
        let decided = server.decide(&number.to_string());
        assert_eq!(decided.text, format!("{first} {number}"));
    }
    let log = server
        .sandbox
        .read("home/.local/state/hookrun/log/decisions.jsonl");
    assert_eq!(log.matches("\"start\":\"warm\"").count(), 49);
    assert_eq!(log.matches("\"start\":\"not-ready\"").count(), 1);
    server.ends();
}

#[test]
fn it_decides_as_it_does_when_it_starts_for_one_event() {
    for (name, blocked) in [("guard.py", "git push --force"), ("freeze.sh", "any")] {
        let mut server = Server::start(&example(name));
        for command in ["git push", blocked] {
            if (name, command) == ("freeze.sh", blocked) {
                fs::write(server.sandbox.at("FREEZE"), "").unwrap();
            }
            let warm = server
                .client
                .decide(json!({ "event": "tool.pre", "context": bash(command) }));
            let cold = server.sandbox.ask("native", "tool.pre", &bash(command));
            let cold =
                json!({ "status": cold.status, "stdout": cold.stdout, "stderr": cold.stderr });
            assert_eq!(warm, cold, "{name}: {command}");
        }
        server.ends();
    }
}

#[test]
fn a_changed_file_starts_it_anew() {
    let mut server = Server::start(&says_who(""));
    let first = process_of(&server.decide("a"));
    fs::write(server.sandbox.at("hooks.d/tool.pre/hook"), says_who("pass")).unwrap();
    let until = Instant::now() + NOT_HUNG;
    while process_of(&server.decide("b")) == first {
        assert!(Instant::now() < until);
    }
    // So does a file that it may have read, once the folder is looked at again.
    let second = process_of(&server.decide("c"));
    fs::write(server.sandbox.at("hooks.d/tool.pre/.words"), "").unwrap();
    while process_of(&server.decide("d")) == second {
        assert!(Instant::now() < until);
    }
    server.ends();
}

#[test]
fn another_folder_or_environment_has_a_process_of_its_own() {
    let sandbox = Sandbox::new()
        .script("hooks.d/tool.pre/hook", &says_who("who += os.getcwd()"))
        .file("sub/file", "");
    let mut server = Server::start_in(sandbox);
    let first = process_of(&server.decide("a"));
    let mut context = bash("a");
    context["cwd"] = server.sandbox.at("sub").display().to_string().into();
    let inside = decided(
        &server
            .client
            .decide(json!({ "event": "tool.pre", "context": context })),
    );
    assert_ne!(process_of(&inside), first);
    assert_eq!(process_of(&server.decide("b")), first);
    server.ends();
}

#[test]
fn events_at_once_are_answered_by_several_processes_and_never_mixed_up() {
    let mut server = Server::start(&says_who("time.sleep(0.2)"));
    let mut processes = BTreeSet::new();
    for _ in 0..3 {
        for number in 0..6 {
            let context = bash(&format!("command {number}"));
            let params = json!({ "event": "tool.pre", "context": context });
            server.client.request(number, "hookrun/decide", params);
        }
        let started = Instant::now();
        for _ in 0..6 {
            let answer = server.client.next();
            let decided = decided(&answer["result"]);
            let wanted = format!("command {}", answer["id"]);
            assert!(decided.text.ends_with(&wanted), "{answer}");
            processes.insert(process_of(&decided));
        }
        assert!(started.elapsed() < Duration::from_secs(60));
    }
    wait_until("at most four processes wait for more events", || {
        let there = |pid: &&i32| Path::new(&format!("/proc/{pid}")).exists();
        processes.iter().filter(there).count() <= 4
    });
    server.ends();
}

#[test]
fn it_ends_when_the_server_is_killed() {
    let mut server = Server::start(&says_who(""));
    let pid = process_of(&server.decide("a"));
    assert!(fs::exists(format!("/proc/{pid}")).unwrap());
    server.client.kill();
    server.cookie.has_nobody();
    // One that does not look at its input does so too.
    let mut server = Server::start(&says_who(
        "answer(request['id'], keys)\nos.dup2(os.open('/dev/zero', 0), 0); time.sleep(1000)",
    ));
    server.decide("a");
    server.client.kill();
    server.cookie.has_nobody();
}

#[test]
fn one_that_is_killed_while_it_waits_is_started_anew() {
    let mut server = Server::start(&says_who(""));
    let mut before = 0;
    for _ in 0..5 {
        let pid = process_of(&server.decide("a"));
        assert_ne!(pid, before);
        end(pid, "KILL");
        while fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z"))
        {}
        before = pid;
    }
    server.ends();
}
