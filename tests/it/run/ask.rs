//! A question to a person: on a terminal it is asked, without one it refuses.

use std::process::Command;

use serde_json::json;

use crate::sandbox::{Ran, Sandbox, TOOL};

/// Runs the words after the first three arguments on a terminal of their own, with stdin from the
/// file `event`, types the third argument at the prompt that ends like the second one, and writes
/// what hookrun said to stdout into the first. Prints what stood on the terminal.
const ON_TERMINAL: &str = r#"
import os, pty, sys
stdout, prompt, answer = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
pid, terminal = pty.fork()
if pid == 0:
    os.dup2(os.open("event", os.O_RDONLY), 0)
    os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT), 1)
    os.execv(sys.argv[4], sys.argv[4:])
screen = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        more = b""
    if not more:
        break
    screen += more
    if answer and prompt in screen:
        os.write(terminal, answer)
        answer = b""
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(screen)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// `hookrun run tool.pre` on a terminal at which somebody types `answer`.
fn asked(sandbox: &Sandbox, answer: &str, arguments: &[&str]) -> Ran {
    let output = Command::new("python3")
        .args(["-c", ON_TERMINAL, "stdout", "[y/N] ", answer])
        .args([env!("CARGO_BIN_EXE_hookrun"), "run", "tool.pre"])
        .args(arguments)
        .current_dir(sandbox.path())
        .env("XDG_STATE_HOME", sandbox.at("state"))
        .env_remove("XDG_CONFIG_HOME")
        .env("HOME", sandbox.at("home"))
        .output()
        .unwrap();
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: sandbox.read("stdout"),
        stderr: screen + &String::from_utf8_lossy(&output.stderr),
    }
}

fn asking() -> Sandbox {
    Sandbox::new()
        .hook(
            "10-ask.sh",
            r#"echo '{"ask":"Push to main?","output":"noted"}'"#,
        )
        .file("event", TOOL)
}

#[test]
fn a_yes_at_the_terminal_allows() {
    let ran = asked(&asking(), "y\n", &[]);
    ran.allows_with(json!({ "output": "noted" }))
        .says("hook 10-ask.sh asks: Push to main? [y/N] ");
}

#[test]
fn anything_but_yes_blocks() {
    for answer in ["n\n", "\n", "maybe\n"] {
        asked(&asking(), answer, &[]).blocks_saying("Push to main? (answered no)");
    }
}

#[test]
fn nobody_at_the_terminal_blocks_when_the_budget_ends() {
    asked(&asking(), "", &["--budget", "500ms"]).blocks_saying("Push to main? (no answer)");
}

#[test]
fn a_block_asks_nobody() {
    let sandbox = asking().hook("20-no.sh", "echo no >&2; exit 1");
    let ran = asked(&sandbox, "y\n", &[]);
    ran.exits(2);
    assert!(!ran.stderr.contains("Push to main?"), "{ran:?}");
}

#[test]
fn all_questions_are_stated_where_nobody_can_be_asked() {
    let sandbox = asking().hook("20-ask.sh", r#"echo '{"ask":"Really?"}'"#);
    sandbox
        .run("tool.pre")
        .blocks("Push to main?\nReally? (cannot ask: no terminal)");
}
