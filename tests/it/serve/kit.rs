//! The programs of `examples/embedding`, which ask as any program can.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases;
use crate::sandbox::{Ran, Sandbox};

/// What the hooks of [`cases`] and one that asks make of these commands.
const SAID: &str = "runs: ls\nblocked: no rm, \"never\"\nruns: new\nmessage: hello\nruns: dialog\n";

fn sandbox() -> Sandbox {
    let own = env!("CARGO_BIN_EXE_hookrun");
    let body = format!(
        "case $(cat) in *dialog*) {own} ui confirm Sure? || exit 1; {own} send hello ;; esac"
    );
    cases().hook("20-ask.sh", &body)
}

/// The program is not there in every place where the tests run.
#[expect(clippy::disallowed_methods, reason = "interpreters are where this process finds them")]
fn finds(program: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH").into_iter().flat_map(|path| {
        std::env::split_paths(&path).map(|folder| folder.join(program)).collect::<Vec<_>>()
    });
    let found = found.into_iter().find(|file| file.is_file());
    if found.is_none() {
        crate::bounds::skip(&format!("there is no {program} here"));
    }
    found
}

fn run(sandbox: &Sandbox, interpreter: &Path, file: &Path) -> Ran {
    let by = |command: &mut Command| {
        let own = sandbox.command(&[]);
        *command = Command::new(interpreter);
        command.arg(file).arg(env!("CARGO_BIN_EXE_hookrun"));
        command.args(["ls", "rm x", "old", "dialog"]).current_dir(sandbox.path()).env_clear();
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    };
    sandbox.hookrun_as(by, &[], b"")
}

#[test]
fn the_program_in_python_asks() {
    let Some(python) = finds("python3") else { return };
    let sandbox = sandbox();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embedding/host.py");
    let ran = run(&sandbox, &python, &file);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, SAID), "{}", ran.stderr);
}

#[test]
fn the_program_in_typescript_asks() {
    let Some(node) = finds("node") else { return };
    let sandbox = sandbox();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embedding/host.ts");
    // It has no types, so that every version of node runs it under another name.
    let module = sandbox.at("host.mjs");
    std::fs::copy(file, &module).unwrap();
    let ran = run(&sandbox, &node, &module);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, SAID), "{}", ran.stderr);
}
