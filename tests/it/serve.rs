//! `hookrun serve`: every door gives the decision that `hookrun run` gives.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

mod disk;
mod http;
mod kit;
mod mcp;
mod sessions;
mod stdio;

/// How long an answer may take before the test gives up: only a fault takes so long.
const FAR: Duration = Duration::from_secs(60);

/// How long nothing may happen until nothing more will.
const QUIET: Duration = Duration::from_millis(500);

/// Longer than a hook runs before the keeper watches it.
const KEPT: Duration = Duration::from_millis(1000);

/// A program that has started `hookrun serve`, and speaks to it by lines.
pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Client {
    pub(super) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Client {
        let whole: Vec<&str> = ["serve"].iter().chain(arguments).copied().collect();
        Client::start_by(sandbox.command(&whole))
    }

    pub(super) fn start_by(mut command: Command) -> Client {
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines() {
                let value = serde_json::from_str(&line.unwrap()).expect("only JSON on stdout");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Client {
            stdin: child.stdin.take(),
            child,
            lines,
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn write(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes());
    }

    pub(super) fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id: Value = id.into();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The next message from the server.
    #[track_caller]
    pub(super) fn next(&self) -> Value {
        self.lines.recv_timeout(FAR).expect("an answer")
    }

    /// What a request is answered with.
    #[track_caller]
    pub(super) fn call(&mut self, method: &str, params: Value) -> Value {
        self.request(1, method, params);
        self.next()
    }

    /// `hookrun/decide`: the reply as `run` prints it.
    #[track_caller]
    pub(super) fn decide(&mut self, params: Value) -> Value {
        let answer = self.call("hookrun/decide", params);
        answer
            .get("result")
            .unwrap_or_else(|| panic!("{answer}"))
            .clone()
    }

    /// Asks until the answer has this status: what was read of the configuration counts for a while.
    #[track_caller]
    pub(super) fn decides_in_the_end(&mut self, params: &Value, status: i32) -> Value {
        let until = Instant::now() + FAR;
        loop {
            let reply = self.decide(params.clone());
            if reply["status"] == status {
                return reply;
            }
            assert!(Instant::now() < until, "{reply}");
        }
    }

    /// Closes stdin, and waits for the end. Nothing more was said.
    #[track_caller]
    pub(super) fn end(mut self) -> ExitStatus {
        drop(self.stdin.take());
        let left = self.lines.recv_timeout(FAR);
        assert!(left.is_err(), "{left:?}");
        self.child.wait().unwrap()
    }

    /// Closes stdin, and waits for the end. What was said on stderr.
    #[track_caller]
    pub(super) fn end_saying(mut self) -> String {
        drop(self.stdin.take());
        let said = std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        assert!(self.child.wait().unwrap().success(), "{said}");
        said
    }

    /// Waits for the end, without closing stdin.
    pub(super) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// A case that every door decides as `run` does: host, event, context.
pub(super) struct DoorCase {
    pub(super) name: &'static str,
    pub(super) host: &'static str,
    pub(super) event: &'static str,
    pub(super) context: &'static str,
}

const fn case(
    name: &'static str,
    host: &'static str,
    event: &'static str,
    context: &'static str,
) -> DoorCase {
    DoorCase {
        name,
        host,
        event,
        context,
    }
}

pub(super) const CASES: &[DoorCase] = &[
    case(
        "allowed",
        "native",
        "tool.pre",
        r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#,
    ),
    case(
        "blocked",
        "native",
        "tool.pre",
        r#"{"toolName":"bash","toolInput":{"command":"rm x"}}"#,
    ),
    case(
        "rewritten",
        "native",
        "tool.pre",
        r#"{"toolName":"bash","toolInput":{"command":"old"}}"#,
    ),
    case(
        "asked",
        "native",
        "tool.pre",
        r#"{"toolName":"bash","toolInput":{"command":"ask"}}"#,
    ),
    case(
        "failed",
        "native",
        "tool.pre",
        r#"{"toolName":"bash","toolInput":{"command":"crash"}}"#,
    ),
    case(
        "taught",
        "native",
        "prompt.submit",
        r#"{"prompt":"hello","sessionId":"s"}"#,
    ),
    case(
        "observed",
        "native",
        "session.start",
        r#"{"sessionId":"s"}"#,
    ),
    case(
        "without a hook",
        "native",
        "turn.end",
        r#"{"sessionId":"s"}"#,
    ),
    case(
        "unknown event",
        "native",
        "tool.prae",
        r#"{"toolName":"bash"}"#,
    ),
    case("malformed key", "native", "tool.pre", r#"{"toolName":7}"#),
    case(
        "another host's keys",
        "native",
        "tool.pre",
        r#"{"tool_name":"Bash","session_id":"s"}"#,
    ),
    case(
        "claude, blocked",
        "claude",
        "PreToolUse",
        r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm x"}}"#,
    ),
    case(
        "claude, rewritten",
        "claude",
        "PreToolUse",
        r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"old"}}"#,
    ),
    case(
        "claude, new event",
        "claude",
        "Sunrise",
        r#"{"hook_event_name":"Sunrise"}"#,
    ),
    case(
        "copilot, blocked",
        "copilot",
        "preToolUse",
        r#"{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":"{\"command\":\"rm x\"}"}"#,
    ),
];

/// Hooks for [`CASES`].
pub(super) fn cases() -> Sandbox {
    Sandbox::new()
        .script(
            "hooks.d/tool.pre/10-guard.sh",
            r#"#!/bin/sh
# hookrun: rewrite=true
case $(cat) in
*'rm x'*) echo "no rm, \"never\"" >&2; exit 1 ;;
*old*) echo '{"update":{"toolInput":{"command":"new"}}}' ;;
*ask*) echo '{"ask":"really?"}' ;;
*crash*) kill -SEGV $$ ;;
esac
"#,
        )
        .hook_for("prompt.submit", "20-teach.sh", "echo mind the gap")
        .hook_for("session.start", "20-note.sh", "echo started")
}

/// Waits until a hook has written something into this file.
#[track_caller]
pub(super) fn wait_for(sandbox: &Sandbox, file: &str) {
    wait_for_bytes(sandbox, file, 1);
}

/// Waits until hooks have written so many bytes into this file.
#[track_caller]
pub(super) fn wait_for_bytes(sandbox: &Sandbox, file: &str, count: usize) {
    let until = Instant::now() + FAR;
    while std::fs::read(sandbox.at(file)).unwrap_or_default().len() < count {
        assert!(Instant::now() < until, "nobody writes {file}");
        thread::yield_now();
    }
}

/// Waits until nobody writes into a pipe any more, from which nothing is read.
#[track_caller]
pub(super) fn wait_until_full(pipe: &ChildStdout) {
    let until = Instant::now() + FAR;
    let mut before = 0;
    loop {
        thread::sleep(QUIET);
        let now = rustix::io::ioctl_fionread(pipe).unwrap();
        if now > 0 && now == before {
            return;
        }
        before = now;
        assert!(Instant::now() < until, "the pipe does not fill");
    }
}

/// What `run` prints for a case, as `hookrun/decide` says it.
pub(super) fn by_run(sandbox: &Sandbox, case: &DoorCase) -> Value {
    let words = ["run", case.event, "--host", case.host];
    let ran = sandbox.hookrun(&words, case.context.as_bytes());
    json!({ "status": ran.status, "stdout": ran.stdout, "stderr": ran.stderr })
}
