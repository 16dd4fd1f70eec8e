//! Hooks that are given less than hookrun itself has: limits, sandboxes, namespaces.

mod confined;
#[cfg(target_os = "linux")]
mod containment;
mod limits;
#[cfg(target_os = "linux")]
mod sandbox;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::nasty::running::{Ended, Running};
use crate::sandbox::{Ran, Sandbox};

/// Who has no privileges anywhere.
const NOBODY: &str = "65534";

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

/// VariableValue why a test proves nothing on this machine.
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

/// What starts a program without privileges: nothing for who has none, `None` where a program of
/// this build cannot be reached without them.
fn without_privileges() -> Option<Vec<&'static str>> {
    if !is_root() {
        return Some(Vec::new());
    }
    let words = [
        "setpriv",
        "--reuid",
        NOBODY,
        "--regid",
        NOBODY,
        "--clear-groups",
    ];
    works(&words, &[env!("CARGO_BIN_EXE_hookrun"), "--version"]).then(|| words.to_vec())
}

/// Lets everyone in, so that hookrun without privileges finds its hooks.
fn open_to_read(sandbox: &Sandbox) {
    fs::set_permissions(sandbox.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

/// `hookrun run tool.pre` without privileges, as `words` arrange it.
#[track_caller]
fn ran_without_privileges(sandbox: &Sandbox, words: &[&str]) -> Ran {
    open_to_read(sandbox);
    let line = format!("exec {} \"$@\"", words.join(" "));
    Running::start_by(sandbox, &line, &["run", "tool.pre"])
        .feed(b"{}")
        .ended()
        .ran
}

/// Whether hookrun can make process namespaces as who runs the tests.
fn has_namespaces() -> bool {
    works(
        &["unshare"],
        if is_root() {
            &["-pf", "true"]
        } else {
            &["-Upf", "true"]
        },
    )
}
