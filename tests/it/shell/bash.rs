//! What is read, held against what bash itself runs.
//!
//! Command lines are made at random; bash runs each in an empty folder, with a `PATH` of programs
//! that only note how they were called. Every call must be among the commands that were read, or
//! the line in doubt. `HOOKRUN_CASES=20000 cargo test --release --test it shell::bash --
//! --nocapture` tries as many lines as that.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hookrun::internals::shell::{self, CommandLine, ShellWord};
use tempfile::TempDir;

use super::lines::Lines;

/// Lines that an ordinary run of the tests tries.
const CASES: usize = 1_000;

/// Programs that note their calls.
pub(super) const PROGRAMS: &[&str] = &[
    "rm", "git", "ls", "cp", "curl", "npm", "docker", "tee", "make", "p1",
];

/// Programs that are what they are.
const REAL: &[&str] = &[
    "bash", "cat", "env", "find", "flock", "nice", "nohup", "setsid", "sh", "sort", "stdbuf",
    "timeout", "xargs",
];

/// Runs what follows its options.
const SUDO: &str = "#!/bin/sh\nwhile :; do case $1 in -u) shift 2;; -*) shift;; *=*) shift;; *) break;; esac; done\nexec \"$@\"\n";

/// One call in one write, so that those of a pipeline do not mix.
const STUB: &str = "#!/bin/sh\nline=$(printf '%s\\036' \"${0##*/}\" \"$@\"; printf '\\035')\nprintf '%s' \"$line\" >>\"$LOG\"\n";

/// What the lines of a run come to.
#[derive(Default)]
struct Tally {
    calls: AtomicUsize,
    uncertain: AtomicUsize,
    silent: AtomicUsize,
    invalid: AtomicUsize,
    misses: Mutex<Vec<String>>,
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder with the programs that a line may call.
fn programs(folder: &Path) -> PathBuf {
    let bin = folder.join("bin");
    fs::create_dir(&bin).unwrap();
    for name in PROGRAMS {
        write_program(&bin.join(name), STUB);
    }
    write_program(&bin.join("sudo"), SUDO);
    for name in REAL {
        let folders = ["/usr/bin", "/bin", "/opt/homebrew/bin", "/usr/local/bin"].map(Path::new);
        if let Some(real) = folders
            .iter()
            .map(|dir| dir.join(name))
            .find(|path| path.exists())
        {
            symlink(real, bin.join(name)).unwrap();
        }
    }
    bin
}

/// The hook that runs a line: whatever the line starts ends with it, and after 5 s at the latest.
const HOOK: &str = "#!/bin/sh\nexec bash -c \"$LINE\" </dev/null >/dev/null 2>&1\n";

/// What bash calls when it runs a line, each call as its words.
fn calls(text: &str, bin: &Path, folder: &Path) -> Vec<Vec<String>> {
    let (work, log) = (folder.join("work"), folder.join("log"));
    let hooks = folder.join("hooks.d");
    for folder in [&work, &hooks.join("tool.pre")] {
        fs::create_dir_all(folder).unwrap();
    }
    write_program(&hooks.join("tool.pre/line.sh"), HOOK);
    let event = folder.join("event.json");
    fs::write(&event, r#"{"toolName":"line"}"#).unwrap();
    Command::new(env!("CARGO_BIN_EXE_hookrun"))
        .args(["run", "tool.pre", "--hooks"])
        .arg(&hooks)
        .env_clear()
        .env("PATH", bin)
        .env("LOG", &log)
        .env("LINE", text)
        .env("HOME", &work)
        .env("HOOKRUN_DECISIONS", "off")
        .current_dir(&work)
        .stdin(fs::File::open(event).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    // What is left in the background is missed at worst, and never counted for another line.
    let record = fs::read(&log).unwrap_or_default();
    fs::remove_dir_all(&work).unwrap_or_default();
    let record = String::from_utf8_lossy(&record).into_owned();
    let words = |call: &str| {
        let words = call.strip_suffix('\u{1e}').unwrap_or(call);
        words.split('\u{1e}').map(str::to_string).collect()
    };
    record
        .split('\u{1d}')
        .filter(|call| !call.is_empty())
        .map(words)
        .collect()
}

/// Whether the words of a call may be what these have become.
fn may_be(words: &[ShellWord], call: &[String]) -> bool {
    let Some((word, rest)) = words.split_first() else {
        return call.is_empty();
    };
    let is_open = word.known().is_none_or(|text| text.starts_with('~'));
    match call.split_first() {
        Some((first, others)) if word.text.as_ref() == Some(first) && may_be(rest, others) => true,
        _ => is_open && (0..=call.len()).any(|taken| may_be(rest, &call[taken..])),
    }
}

fn is_among(call: &[String], line: &CommandLine) -> bool {
    line.commands.iter().any(|command| match command.name() {
        None => true,
        Some(name) => name == call[0] && may_be(&command.args, &call[1..]),
    })
}

fn hold(text: &str, bin: &Path, folder: &Path, tally: &Tally) {
    let line = shell::read(text);
    if line.doubt.is_some() {
        // Nothing of a text runs that bash itself cannot read.
        let read = Command::new("bash")
            .args(["-n", "-c", text])
            .stderr(Stdio::null())
            .status();
        if !read.unwrap().success() {
            tally.invalid.fetch_add(1, Ordering::Relaxed);
            return;
        }
        tally.uncertain.fetch_add(1, Ordering::Relaxed);
        return;
    }
    let calls = calls(text, bin, folder);
    tally.calls.fetch_add(calls.len(), Ordering::Relaxed);
    tally
        .silent
        .fetch_add(usize::from(calls.is_empty()), Ordering::Relaxed);
    for call in calls.iter().filter(|call| !is_among(call, &line)) {
        let missed = format!("{call:?} of\n{text}\n{}\n", super::shown(text));
        tally.misses.lock().unwrap().push(missed);
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how many lines are tried is told by it"
)]
fn every_call_of_bash_is_read_or_in_doubt() {
    if Command::new("bash").args(["-c", ":"]).status().is_err() {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (cases, seed) = (
        number("HOOKRUN_CASES").unwrap_or(CASES),
        number("HOOKRUN_SEED"),
    );
    let folder = TempDir::with_prefix("hookrun-it").unwrap();
    let bin = programs(folder.path());
    let (tally, next) = (Tally::default(), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |count| count.get().min(4)) {
            threads.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases {
                        return;
                    }
                    let text = Lines::new(seed.unwrap_or(1) as u64, number as u64).line();
                    let work = folder.path().join(number.to_string());
                    fs::create_dir(&work).unwrap();
                    hold(&text, &bin, &work, &tally);
                    fs::remove_dir_all(&work).unwrap_or_default();
                }
            });
        }
    });
    let misses = tally.misses.into_inner().unwrap();
    let (uncertain, calls) = (tally.uncertain.into_inner(), tally.calls.into_inner());
    println!(
        "{cases} lines, {calls} calls of bash, {} missed; {uncertain} uncertain ({:.1} %), {} without a call, {} that bash cannot read",
        misses.len(),
        100.0 * uncertain as f64 / cases as f64,
        tally.silent.into_inner(),
        tally.invalid.into_inner()
    );
    assert!(
        misses.is_empty(),
        "{}",
        misses[..misses.len().min(10)].join("\n")
    );
    assert!(
        uncertain * 20 <= cases,
        "{uncertain} of {cases} lines are uncertain"
    );
    assert!(calls >= cases, "bash hardly called anything");
}
