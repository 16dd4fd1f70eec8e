//! Hooks with `warm = "fork"`: they do what they do cold, once, and sooner.
//!
//! A worker (a process of this program that keeps interpreters, as `hookrun serve` does) decides
//! events for a test, and says how each hook started and ended.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::{fs, thread};

use hookrun::internals::exec::{OwnProgram, Subreaper};
use hookrun::internals::hook::Warm;
use hookrun::internals::run::{ColdReason, Fate, ProcessStart, Trace};
use hookrun::{Event, Hook, Registry, Runner, Surroundings};
use serde_json::{Value, json};

use crate::bounds::skip;
use crate::nasty::running::{Cookie, NOT_HUNG, words_of};
use crate::sandbox::Sandbox;

mod attacks;
mod basics;
mod differences;
mod imports;
#[cfg(target_os = "linux")]
mod soak;

/// What precedes an answer of a worker, among what the test harness says.
const ANSWER: &str = "> ";

/// A worker, from outside.
struct Warmer {
    child: Child,
    cookie: Cookie,
    lines: Receiver<Value>,
}

/// What became of one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Report {
    /// `warm`, a reason to start cold, or nothing if it may only start cold.
    start: String,
    /// `allow`, `ask` or `block`, of the whole event.
    decision: String,
    reason: String,
    ending: String,
    exit: String,
    stdout: String,
    stderr: String,
    /// What the user is told about a warm start.
    note: String,
}

impl Warmer {
    /// A worker in the sandbox, with exactly these variables beside `PATH`, `HOME` and `LANG`.
    fn start(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Warmer {
        Warmer::start_as("decides_for_a_test", sandbox, variables)
    }

    fn start_as(test: &str, sandbox: &Sandbox, variables: &[(&str, &str)]) -> Warmer {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("warm::{test}"), "--ignored"]);
        command.current_dir(sandbox.path()).env_clear();
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C");
        command
            .env("HOME", sandbox.at("home"))
            .envs(variables.iter().copied());
        let cookie = Cookie::new();
        cookie
            .mark(&mut command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if let Some((_, line)) = line.split_once(ANSWER) {
                    let _ = sender.send(serde_json::from_str(line).unwrap());
                }
            }
        });
        Warmer {
            child,
            cookie,
            lines,
        }
    }

    /// Decides one event by these hooks; see [`hook_of`] for what a hook is.
    #[track_caller]
    fn decides(&mut self, hooks: &Value) -> Vec<Report> {
        self.sends(hooks);
        self.answers()
    }

    fn sends(&mut self, hooks: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{hooks}").unwrap();
    }

    #[track_caller]
    fn answers(&self) -> Vec<Report> {
        let answer = self.lines.recv_timeout(NOT_HUNG).expect("an answer");
        let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_string();
        let report = |one: &Value| Report {
            start: text(one, "start"),
            decision: text(one, "decision"),
            reason: text(one, "reason"),
            ending: text(one, "ending"),
            exit: text(one, "exit"),
            stdout: text(one, "stdout"),
            stderr: text(one, "stderr"),
            note: text(one, "note"),
        };
        answer.as_array().unwrap().iter().map(report).collect()
    }

    /// What becomes of one warm hook, which is a command.
    #[track_caller]
    fn runs(&mut self, words: &[&str]) -> Report {
        self.decides(&json!([{ "words": words }])).remove(0)
    }

    /// The same for a hook that starts cold.
    #[track_caller]
    fn runs_cold(&mut self, words: &[&str]) -> Report {
        self.decides(&json!([{ "words": words, "cold": true }]))
            .remove(0)
    }

    /// The same as [`Warmer::runs`], once an interpreter waits.
    #[track_caller]
    fn runs_warm(&mut self, words: &[&str]) -> Report {
        self.starts_warm(&json!([{ "words": words }]), |_| ())
    }

    /// Decides by one hook until it starts warm, and does this to it while it runs.
    #[track_caller]
    fn starts_warm(&mut self, hooks: &Value, mut during: impl FnMut(&Warmer)) -> Report {
        let until = std::time::Instant::now() + NOT_HUNG;
        loop {
            self.sends(hooks);
            during(self);
            let report = self.answers().remove(0);
            if report.start == "warm" {
                return report;
            }
            assert_eq!(report.start, "not-ready", "{report:?}");
            assert!(std::time::Instant::now() < until, "{report:?}");
        }
    }

    /// The processes that it keeps: interpreters, and what they have forked.
    fn kept(&self) -> Vec<i32> {
        self.running("'hookrun'")
    }

    /// The processes below it with this in their command line.
    fn running(&self, text: &str) -> Vec<i32> {
        let is_meant = |pid: &i32| words_of(*pid).iter().any(|word| word.contains(text));
        self.cookie.holders().into_iter().filter(is_meant).collect()
    }

    /// Ends it, and looks whether anything is left.
    #[track_caller]
    fn ends(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        self.cookie.has_nobody();
    }
}

/// Hooks that are decided together.
fn hook_of(spec: &Value) -> Hook {
    let words: Vec<String> = serde_json::from_value(spec["words"].clone()).unwrap();
    let mut hook = Hook::command("hook", "tool.pre", words);
    if spec["cold"].is_null() {
        hook.warm = Some(Warm::Fork);
        hook.warm_imports = serde_json::from_value(spec["imports"].clone()).unwrap_or_default();
    }
    hook.parallel = Some(true);
    hook.limits.files = spec["files"].as_u64();
    hook.limits.output_bytes = spec["output_bytes"].as_u64();
    // Five seconds can be too few on a busy machine.
    let timeout = spec["timeout_ms"].as_u64().unwrap_or(60_000);
    hook.limits.timeout = Some(std::time::Duration::from_millis(timeout));
    if let Some(variables) = spec["variables"].as_object() {
        let variables = variables
            .iter()
            .map(|(name, value)| (name, value.as_str().unwrap()));
        hook.variables = variables
            .map(|(name, value)| (name.clone(), value.into()))
            .collect();
    }
    hook
}

fn described(start: Option<ProcessStart>, trace: &Trace, decision: &str, reason: &str) -> Value {
    json!({
        "start": start.map(ProcessStart::name),
        "decision": decision,
        "reason": reason,
        "ending": format!("{:?}", trace.ending),
        "exit": format!("{:?}", trace.exit),
        "stdout": trace.stdout.text(),
        "stderr": trace.stderr.text(),
        "note": trace.notes.iter().find(|note| note.starts_with("warm start: ")),
    })
}

/// Decides what the lines on stdin say, until they end.
fn work(subreaper: Option<Subreaper>) {
    let place = std::env::current_dir().unwrap();
    let surroundings = || Surroundings {
        search: Some("/usr/local/bin:/usr/bin:/bin".into()),
        cwd: place.clone(),
        project: place.clone(),
        state: place.join("state"),
        run_id: "warm-tests".to_string(),
        ..Surroundings::default()
    };
    let path = env!("CARGO_BIN_EXE_hookrun").into();
    let own = OwnProgram {
        path,
        mark: "warm-tests".to_string(),
    };
    let base = Runner::new(Registry::new([]).unwrap(), surroundings());
    let base = Arc::new(base.program(Some(own)).subreaper(subreaper));
    for line in std::io::stdin().lines() {
        let specs: Vec<Value> = serde_json::from_str(&line.unwrap()).unwrap();
        let hooks = specs.iter().enumerate().map(|(number, spec)| {
            let mut hook = hook_of(spec);
            hook.name = format!("hook-{number}");
            hook
        });
        let registry = Registry::new(hooks.collect::<Vec<_>>()).unwrap();
        let runner = Runner::new(registry, surroundings()).beside(&base);
        let event = Event::tool_pre("bash", json!({ "command": "grüße\u{fffd}\r\n漢" }));
        let run = runner.handle(&event.unwrap());
        let decision = run.outcome.settled.word();
        let reason = run
            .outcome
            .block()
            .map_or("", |block| block.reason.as_str());
        let reports = run.hooks.iter().map(|hook| match &hook.fate {
            Fate::Ran(trace) => described(trace.start, trace, decision, reason),
            other @ (Fate::Disabled
            | Fate::Idle(_)
            | Fate::Unwanted(_)
            | Fate::Unreached
            | Fate::Detached) => {
                json!({ "ending": format!("{other:?}"), "decision": decision })
            }
        });
        let answer = Value::from(reports.collect::<Vec<_>>());
        let mut stdout = std::io::stdout();
        writeln!(stdout, "\n{ANSWER}{answer}").unwrap();
    }
}

/// Whether this process was started by [`Warmer::start_as`].
fn is_worker() -> bool {
    !std::io::IsTerminal::is_terminal(&std::io::stdin()) && Path::new("home").is_dir()
}

#[test]
#[ignore = "runs in a process of its own"]
fn decides_for_a_test() {
    if is_worker() {
        work(Subreaper::take());
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn decides_without_a_subreaper() {
    if is_worker() {
        work(None);
    }
}

/// Interpreters on this machine that can be kept, of different versions, the oldest first.
fn pythons() -> Vec<PathBuf> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    let asks = "import sys; print('%s %03d %s' % (sys.implementation.name, sys.version_info[1], sys.executable))";
    for candidate in candidates() {
        let output = Command::new(&candidate)
            .args(["-c", asks])
            .stderr(Stdio::null())
            .output();
        let Ok(output) = output else { continue };
        let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
        let words: Vec<&str> = text.splitn(3, ' ').collect();
        let [name, version, file] = words[..] else {
            continue;
        };
        let is_known = found.iter().any(|(known, _)| known == version);
        if name == "cpython" && version >= "008" && !is_known && is_program(Path::new(file)) {
            found.push((version.to_string(), file.into()));
        }
    }
    found.sort();
    found.into_iter().map(|(_, file)| file).collect()
}

fn is_program(file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "interpreters are where this process finds them"
)]
fn candidates() -> Vec<PathBuf> {
    let mut candidates = vec![PathBuf::from("python3")];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&folders) {
        candidates.push(folder.join("python3"));
        candidates.extend((8..20).map(|minor| folder.join(format!("python3.{minor}"))));
    }
    if let Ok(output) = Command::new("pyenv").arg("root").output() {
        let root = String::from_utf8_lossy(&output.stdout).trim().to_string();
        let versions = fs::read_dir(Path::new(&root).join("versions"))
            .into_iter()
            .flatten();
        candidates.extend(
            versions
                .flatten()
                .map(|version| version.path().join("bin/python3")),
        );
    }
    candidates
}

/// The newest interpreter here.
fn python() -> Option<String> {
    let found = pythons().pop();
    if found.is_none() {
        skip("there is no CPython 3.8 or later here");
    }
    found.map(|file| file.display().to_string())
}

/// A sandbox with a script `hook.py`.
fn with_script(text: &str) -> Sandbox {
    Sandbox::new().file("hook.py", text)
}
