//! Hooks that are given less than hookrun itself has: limits, sandboxes.

mod confined;
mod limits;
#[cfg(target_os = "linux")]
mod sandbox;

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::nasty::running::{Ended, Running};
use crate::sandbox::{Ran, Sandbox};

/// A gate with one hook, a shell script with these settings in its comment.
fn gate(settings: &str, body: &str) -> Sandbox {
    Sandbox::new().hook("hook", &format!("# hookrun: {settings}\n{body}"))
}

/// Asks such a gate, and sees to it that nothing is left.
#[track_caller]
fn asked(settings: &str, body: &str) -> Ran {
    let sandbox = gate(settings, body);
    let Ended { ran, .. } = Running::start(&sandbox, &["run", "tool.pre"])
        .feed(b"{}")
        .ended();
    ran
}

/// What such a gate says on stdout when it allows.
#[track_caller]
fn output(settings: &str, body: &str) -> String {
    said(&gate(settings, body))
}

/// What a gate says when it allows.
#[track_caller]
fn said(sandbox: &Sandbox) -> String {
    let report = sandbox.report("tool.pre", "{}");
    assert_eq!(report["decision"], "allow", "{report:#}");
    report["output"].as_str().unwrap_or_default().to_string()
}

/// The notes of a hook, by its place.
fn notes(report: &Value, place: usize) -> Vec<String> {
    let notes = report["hooks"][place]["notes"]
        .as_array()
        .into_iter()
        .flatten();
    notes
        .map(|note| note.as_str().unwrap().to_string())
        .collect()
}

/// Tells why a test proves nothing on this machine.
#[expect(clippy::print_stderr, reason = "for who reads the test's output")]
pub(crate) fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

pub(crate) fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

pub(crate) fn works(words: &[&str], more: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(more).stdin(Stdio::null());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
