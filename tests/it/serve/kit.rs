//! The programs of `examples/embedding`, which ask as any program can.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases;
use crate::sandbox::{Ran, Sandbox};

/// What the hooks of [`cases`] and one that asks make of these commands.
const SAID: &str =
    "runs: ls\nblocked: no rm, \"never\"\nruns: new\nmessage for s-1: hello\nruns: dialog\n";

/// The same of a program that shows no dialogs.
const SAID_ALONE: &str =
    "runs: ls\nblocked: no rm, \"never\"\nruns: new\nblocked: hook `20-ask.sh`";

fn sandbox() -> Sandbox {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let body = format!(
        "case $(cat) in *dialog*) {own} hook ui confirm Sure? || exit 1; {own} hook send hello ;; esac"
    );
    cases().hook("20-ask.sh", &body)
}

/// The program is not there in every place where the tests run.
#[expect(
    clippy::disallowed_methods,
    reason = "interpreters are where this process finds them"
)]
pub(super) fn finds(program: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH").into_iter().flat_map(|path| {
        std::env::split_paths(&path)
            .map(|folder| folder.join(program))
            .collect::<Vec<_>>()
    });
    let found = found.into_iter().find(|file| file.is_file());
    if found.is_none() {
        crate::bounds::skip(&format!("there is no {program} here"));
    }
    found
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/embedding")
        .join(name)
}

fn run(sandbox: &Sandbox, interpreter: &Path, file: &Path, hookrun: &str) -> Ran {
    let by = |command: &mut Command| {
        let own = sandbox.command(&[]);
        *command = Command::new(interpreter);
        command.arg(file).arg(hookrun);
        command
            .args(["ls", "rm x", "old", "dialog"])
            .current_dir(sandbox.path())
            .env_clear();
        command.envs(
            own.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command.stdin(std::process::Stdio::null());
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
    };
    sandbox.hookrun_as(by, &[], b"")
}

/// Runs a program as a host, as a client with dialogs, and where hookrun only fails.
fn asks(interpreter: &str, host: &str, client: &str, as_file: &str) {
    let Some(interpreter) = finds(interpreter) else {
        return;
    };
    let sandbox = sandbox();
    let run = |name: &str, hookrun: &str| {
        // It has no types, so that every version of node runs it under another name.
        let file = sandbox.at(as_file);
        std::fs::copy(example(name), &file).unwrap();
        run(&sandbox, &interpreter, &file, hookrun)
    };
    let ran = run(client, env!("CARGO_BIN_EXE_hookrun"));
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, SAID),
        "{}",
        ran.stderr
    );
    let ran = run(host, env!("CARGO_BIN_EXE_hookrun"));
    assert!(
        ran.status == 0 && ran.stdout.starts_with(SAID_ALONE),
        "{ran:?}"
    );
    let ran = run(host, "/bin/false");
    assert_eq!(
        ran.stdout
            .matches("blocked: hookrun did not decide")
            .count(),
        4,
        "{ran:?}"
    );
    assert_eq!(ran.stdout.lines().count(), 4, "{ran:?}");
}

#[test]
fn the_programs_in_python_ask() {
    asks("python3", "host.py", "client.py", "asks.py");
}

#[test]
fn the_programs_in_typescript_ask() {
    asks("node", "host.ts", "client.ts", "asks.mjs");
}

#[test]
fn a_host_is_forty_lines_and_a_client_with_dialogs_a_hundred() {
    for (name, most) in [
        ("host.py", 40),
        ("host.ts", 40),
        ("client.py", 100),
        ("client.ts", 100),
    ] {
        let lines = std::fs::read_to_string(example(name))
            .unwrap()
            .lines()
            .count();
        assert!(lines <= most, "{name} has {lines} lines");
    }
}
