//! Plays vectors: writes their files, calls hookrun as the host does, and compares the answers.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use super::vector::{Got, HookFile, Vector, VectorStep, misses};
use crate::sandbox::{Sandbox, write_from_outside};

/// How long hookrun may take for one answer, and a vector to prepare its folder.
const LIMIT: Duration = Duration::from_secs(30);

/// How long stdout and stderr may stay open after the exit: hosts wait for their end.
const STREAMS_CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// How long processes that are left may take to end by themselves.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

const JOBS: usize = 4;

/// Plays all vectors, some at once. Returns what differs, each line with the name of its vector.
pub(super) fn play_all(vectors: impl IntoIterator<Item = (String, Vector)>) -> Vec<String> {
    let waiting = Mutex::new(vectors.into_iter().collect::<Vec<_>>().into_iter());
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                loop {
                    let Some((name, vector)) = waiting.lock().unwrap().next() else {
                        return;
                    };
                    let found = play(&vector);
                    let lines = found.iter().map(|miss| format!("{name}: {miss}"));
                    wrong.lock().unwrap().extend(lines);
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// Plays one vector. Returns what differs.
pub(super) fn play(vector: &Vector) -> Vec<String> {
    let sandbox = lay_out(vector);
    let mut wrong = steps(vector, &sandbox);
    if vector.leaves_no_process {
        let names = names_of_processes_left(&sandbox.at("home"));
        if !names.is_empty() {
            wrong.push(format!("processes are left: {names}"));
        }
    }
    wrong
}

/// Writes a vector's files: `home`, `tmp`, `work` and `hooks.d`.
fn lay_out(vector: &Vector) -> Sandbox {
    let mut sandbox = Sandbox::new().without_trust();
    for name in ["tmp", "work", "hooks.d"] {
        fs::create_dir(sandbox.at(name)).unwrap();
    }
    for (path, text) in &vector.files {
        sandbox = sandbox.file(&format!("work/{path}"), &text.0);
    }
    for hook in &vector.hooks {
        write_hook(hook, &sandbox.at("hooks.d"));
    }
    sandbox
}

fn write_hook(hook: &HookFile, hooks: &Path) {
    let folder = hooks.join(&hook.event);
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(&hook.name);
    if hook.missing {
        symlink(folder.join("nowhere").join(&hook.name), file).unwrap();
        return;
    }
    write_from_outside(&file, hook.text().as_bytes());
    fs::set_permissions(&file, fs::Permissions::from_mode(hook.mode)).unwrap();
}

fn steps(vector: &Vector, sandbox: &Sandbox) -> Vec<String> {
    if !vector.setup.0.is_empty() {
        let mut command = Command::new("/bin/sh");
        command.args(["-ec", &vector.setup.0]);
        match talk(command, vector, sandbox, None) {
            Ok(got) if got.status == 0 => {}
            Ok(got) => return vec![format!("setup: {}", String::from_utf8_lossy(&got.stderr))],
            Err(why) => return vec![format!("setup: {why}")],
        }
    }
    let mut wrong = Vec::new();
    for (number, step) in (1..).zip(&vector.steps) {
        let command = command_of(step, vector, sandbox);
        let found = match talk(command, vector, sandbox, Some(step)) {
            Ok(got) => misses(&step.expect, &got),
            Err(why) => vec![why],
        };
        wrong.extend(found.iter().map(|miss| format!("step {number}: {miss}")));
    }
    wrong
}

/// How a host calls hookrun: as `install` writes it. Copilot CLI, Antigravity and git do not send
/// the event's name.
fn command_of(step: &VectorStep, vector: &Vector, sandbox: &Sandbox) -> Command {
    let host = step.host.as_ref().unwrap_or(&vector.host);
    let event = step.event.as_ref().unwrap_or(&vector.event);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookrun"));
    command.arg("run");
    if ["copilot", "agy", "git"].contains(&host.as_str()) {
        command.arg(event);
    }
    command.args(["--host", host, "--hooks"]);
    command.arg(sandbox.at("hooks.d"));
    if host == "git" {
        command.arg("--").args(&step.arguments);
    }
    command
}

/// Runs `command` in the vector's folder and environment. The error says why there is no answer.
fn talk(
    mut command: Command,
    vector: &Vector,
    sandbox: &Sandbox,
    step: Option<&VectorStep>,
) -> Result<Got, String> {
    command.current_dir(sandbox.at("work")).env_clear();
    command
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LANG", "C")
        .env("TMPDIR", sandbox.at("tmp"))
        .envs(&vector.env)
        .env("HOME", sandbox.at("home"));
    let input = step.map(VectorStep::input).unwrap_or_default();
    let keeps_stdin_open = step.is_some_and(|step| step.keeps_stdin_open);
    let has_stdin = keeps_stdin_open || !input.is_empty();
    let stdin = if has_stdin {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().unwrap();
    let pipe = child.stdin.take();
    let (keeper, kept) = channel();
    thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        // hookrun may answer before it has read everything.
        let _ = pipe.write_all(&input);
        if keeps_stdin_open {
            let _ = keeper.send(pipe);
        }
    });
    let stdout = read(child.stdout.take().unwrap());
    let stderr = read(child.stderr.take().unwrap());
    let Some(status) = child.wait_timeout(LIMIT).unwrap() else {
        child.kill().unwrap();
        child.wait().unwrap();
        return Err(format!("no answer within {LIMIT:?}"));
    };
    let held =
        |_| format!("stdout or stderr was still open {STREAMS_CLOSE_WITHIN:?} after the exit");
    let stdout = stdout.recv_timeout(STREAMS_CLOSE_WITHIN).map_err(held)?;
    let stderr = stderr.recv_timeout(STREAMS_CLOSE_WITHIN).map_err(held)?;
    drop(kept);
    let by_signal = -status.signal().unwrap_or(1);
    Ok(Got {
        status: status.code().unwrap_or(by_signal),
        stdout,
        stderr,
    })
}

fn read(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// The processes with this home that are left after they had time to end; none without `/proc`.
fn names_of_processes_left(home: &Path) -> String {
    let mark = format!("HOME={}\0", home.display());
    let started = Instant::now();
    loop {
        let mut names = Vec::new();
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environ = fs::read(process.path().join("environ")).unwrap_or_default();
            if environ
                .windows(mark.len())
                .any(|part| part == mark.as_bytes())
            {
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                names.push(name.trim_end().to_string());
            }
        }
        if names.is_empty() || started.elapsed() > ENDS_WITHIN {
            return names.join(", ");
        }
        thread::sleep(Duration::from_millis(10));
    }
}
